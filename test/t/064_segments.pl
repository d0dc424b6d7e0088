# A table's file ends with 1 GB, and what comes after it is in another: rows that a load
# appends go over that end, by both writers and in a table of the same transaction, and a
# crash takes none of them away.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', {});
my $segment = $node->safe_psql('postgres', "SELECT setting::bigint FROM pg_settings WHERE name = 'segment_size'");
my $page = $node->safe_psql('postgres', 'SHOW block_size');
my $file = write_rows('rows.csv', 20000);
my @loads = map { my $writer = $_; map { [ "t_${writer}_$_", $writer, $_ ] } 0, 2 } qw(page multi_insert);

$node->safe_psql('postgres', "CREATE TABLE c (n int, ts timestamp, v text); COPY c FROM '$file' (FORMAT csv)");
my %path = map { $_ => $node->data_dir . '/' . $node->safe_psql('postgres', "CREATE TABLE $_ (LIKE c); INSERT INTO $_ VALUES (0); SELECT pg_relation_filepath('$_')") } map { $_->[0] } @loads;
$node->stop;

# two pages are left to the end; those before, but the first, are new ones, without a byte on disk
foreach my $path (values %path) { truncate($path, ($segment - 2) * $page) or die "$path: $!" }
$node->start;
foreach my $load (@loads)
{
	my ($t, $writer, $workers) = @$load;

	$node->safe_psql('postgres', "SET fast_copy.writer = $writer; SELECT fast_copy('$t', '$file', workers => $workers)");
	cmp_ok(-s "$path{$t}.1", '>', 50 * $page, "$writer, $workers workers: there are pages beyond the first file");
	is(rows($t), '0|0', '... with the rows of COPY');
}
# the load makes a file of its own for such a table, the last one: what it evaluates makes that longer
$node->safe_psql('postgres', "CREATE FUNCTION grows(n int) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN
	IF n = 1 THEN
		EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', (SELECT format('cat >/dev/null; truncate -s @{[ ($segment - 2) * $page ]} \"%s/%s/%s\"', current_setting('data_directory'), folder, max(file::bigint))
			FROM (SELECT substring(pg_relation_filepath('t_new') FROM '.*/')) AS f (folder), pg_ls_dir(folder) AS file WHERE file ~ '^[0-9]+\$' GROUP BY folder));
	END IF;
	RETURN true;
	END \$\$;
	BEGIN; CREATE TABLE t_new (LIKE c, CHECK (grows(n))); SET fast_copy.writer = page; SELECT fast_copy('t_new', '$file', workers => 0); COMMIT");
push @loads, [ 't_new', 'a new table', 0 ];
is(rows('t_new'), '0|0', 'a new table: the rows of COPY');
cmp_ok($node->safe_psql('postgres', "SELECT pg_relation_size('t_new')"), '>', ($segment + 50) * $page, '... on both sides of the end');
$node->stop('immediate');
$node->start;
is(rows($_->[0]), '0|0', "$_->[1], $_->[2] workers: after a crash, too") foreach @loads;
$node->stop;
done_testing();

# How many rows are too many, and missing, on the first page and from the end of the first file on
sub rows
{
	my ($t) = @_;
	my $got = "(SELECT * FROM $t WHERE ctid < '(1,0)' AND n > 0 UNION ALL SELECT * FROM $t WHERE ctid >= '(@{[ $segment - 3 ]},0)')";

	return $node->safe_psql('postgres', "SELECT (SELECT count(*) FROM ($got EXCEPT ALL TABLE c) s), (SELECT count(*) FROM (TABLE c EXCEPT ALL $got) s)");
}
