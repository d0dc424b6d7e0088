# A node that has fast_copy itself loads by it what it is sent: into a table that
# is partitioned there it makes the partitions that are missing; elsewhere it is
# COPY, accelerated.  Rows, errors and commit are those of COPY.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', {}, 'fast_copy.workers = 2', 'session_preload_libraries = fast_copy');
needs($node, 'postgres_fdw');
my @there = map { new_node($_, {}, 'max_prepared_transactions = 10', 'fast_copy.workers = 2', 'fast_copy.accelerate_min_size = 0',
		'max_parallel_workers = 4', 'fast_copy.log_min_duration = 0') } 'one', 'two';
sub query { return $node->safe_psql('postgres', $_[0]) }
sub on { my ($i, $sql) = @_; return $there[$i]->safe_psql('postgres', $sql) }

query('CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster');
foreach my $there (@there)
{
	$there->safe_psql('postgres', 'CREATE ROLE loader LOGIN');
	query(server_sql($there->name, $there));
}

my $COLUMNS = 'device int, at timestamptz, v text';

# By device over the nodes, by time there: with the partitions that are given
sub setup
{
	my ($by, @days) = @_;

	query("DROP TABLE IF EXISTS t, l; CREATE TABLE l ($COLUMNS); CREATE TABLE t ($COLUMNS) PARTITION BY HASH (device)");
	foreach my $i (0, 1)
	{
		on($i, "DROP TABLE IF EXISTS r; CREATE TABLE r ($COLUMNS) $by");
		on($i, "CREATE TABLE r_$_ PARTITION OF r FOR VALUES FROM ('2013-01-0$_ 00:00+00') TO ('2013-01-0" . ($_ + 1) . " 00:00+00')") foreach @days;
		query("CREATE FOREIGN TABLE t_$i PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER $i) SERVER " . $there[$i]->name . " OPTIONS (schema_name 'public', table_name 'r')");
	}
}

my $TIME = 'PARTITION BY RANGE (at)';

sub record
{
	my ($n, $v) = @_;
	return sprintf("%d,2013-01-0%d %02d:00:00+00,%s\n", $n % 13, 1 + $n % 5, $n % 24, $v // ($n % 7 ? "v$n" : "\"a\nb\""));
}

my $file = write_bytes('rows.csv', join('', map { record($_) } 1 .. 3000));

sub load
{
	my ($path, $options) = @_;
	return $node->psql('postgres', "SET timezone = 'UTC'; SELECT fast_copy('t', '$path'" . ($options // '') . ");
		SELECT string_agg(choice, '; ' ORDER BY partition) FROM fast_copy_report() WHERE partition IS NOT NULL");
}

sub same
{
	my ($path, $name) = @_;

	query("TRUNCATE l; COPY l FROM '$path' WITH (FORMAT csv)");
	is(query('SELECT count(*) FROM ((TABLE t EXCEPT ALL TABLE l) UNION ALL (TABLE l EXCEPT ALL TABLE t)) d'), 0, "$name: the rows of COPY");
}

foreach my $workers (0, 1, 2, 4)
{
	setup($TIME, $workers % 2 ? (3) : ());
	$_->append_conf('postgresql.conf', "fast_copy.workers = $workers\nfast_copy.chunk_size = 100\ntimezone = 'UTC'"), $_->reload foreach @there;
	my ($rc, $out, $err) = load($file);
	is($rc, 0, "$workers workers there") or diag($err);
	is($out, qq{3000\nsent to server "one" and its fast_copy; sent to server "two" and its fast_copy}, "$workers workers: the report");
	same($file, "$workers workers");
	is(on($_, "SELECT count(*) FROM pg_inherits WHERE inhparent = 'r'::regclass"), 5, "$workers workers: days on node $_") foreach 0, 1;
	is(query('SELECT count(*) FROM fast_copy_in_doubt'), 0, "$workers workers: nothing in doubt");
}

# a plain table there: COPY, accelerated
setup('');
my @before = map { length(slurp_log($_)) } @there;
my ($rc, $out, $err) = load($file);
is($out, qq{3000\nsent to server "one"; sent to server "two"}, 'plain tables there');
same($file, 'plain tables');
like(substr(slurp_log($there[$_]), $before[$_]), qr/fast_copy of public\.r from "stdin": rows=[1-9].* order=file/, "COPY on node $_ is accelerated") foreach 0, 1;

# what there is without a partition is treated as here
setup($TIME, 1, 2, 3, 4);
($rc, $out, $err) = load($file, q{, missing_partitions => 'error'});
isnt($rc, 0, 'error');
$node->psql('postgres', "CREATE TABLE p ($COLUMNS) $TIME; CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2013-01-01 00:00+00') TO ('2013-01-05 00:00+00'); COPY p FROM '$file' WITH (FORMAT csv)", stderr => \my $core);
my ($line) = $core =~ /, line (\d+)/;
like($err, qr/ERROR:  no partition of relation "r" found for row.*, line $line\b/s, "error: COPY's line $line");
is(query('SELECT count(*) FROM t'), 0, 'error: no row is left');
on($_, 'CREATE TABLE r_d PARTITION OF r DEFAULT') foreach 0, 1;
($rc, $out, $err) = load($file, q{, missing_partitions => 'default'});
is($rc, 0, 'default') or diag($err);
same($file, 'default');

# the first bad line of the file
foreach my $bad ([ 'a time', sub { "$_[0],2013-13-01,x\n" } ], [ 'a field more', sub { record($_[0], 'x,y') } ])
{
	my ($what, $make) = @$bad;

	setup($TIME);
	foreach my $at ([ 700, 2000 ], [ 701, 702 ], [ 1 ], [ 3000 ])
	{
		my %at = map { $_ => 1 } @$at;
		my $path = write_bytes('bad.csv', join('', map { $at{$_} ? $make->($_) : record($_) } 1 .. 3000));
		my ($text, $where) = do { $node->psql('postgres', "COPY l FROM '$path' WITH (FORMAT csv)", stderr => \my $e); $e =~ /ERROR:  (.*?)\n.*, line (\d+)/s };

		($rc, $out, $err) = load($path);
		like($err, qr/ERROR:  \Q$text\E.*CONTEXT:  .*fast_copy t, file "[^"]*", line $where\b/s, "$what, lines @$at");
		is(on($_, "SELECT count(*) FROM pg_inherits WHERE inhparent = 'r'::regclass"), 0, "$what, lines @$at: nothing stays on node $_") foreach 0, 1;
	}
}

# who may not make partitions there
setup($TIME);
on($_, 'GRANT SELECT, INSERT ON r TO loader') foreach 0, 1;
query("ALTER USER MAPPING FOR PUBLIC SERVER $_ OPTIONS (SET user 'loader')") foreach 'one', 'two';
($rc, $out, $err) = load($file);
like($err, qr/ERROR:  must be owner of table r/, 'a role that does not own the table there');
on($_, 'ALTER TABLE r OWNER TO loader; GRANT CREATE ON SCHEMA public TO loader') foreach 0, 1;
($rc, $out, $err) = load($file);
is($rc, 0, 'its owner') or diag($err);
same($file, 'its owner');

# a node whose fast_copy may not be called, or is not there
setup($TIME, 1 .. 5);
on($_, 'GRANT SELECT, INSERT ON r TO loader; REVOKE EXECUTE ON FUNCTION fast_copy_report() FROM PUBLIC') foreach 0, 1;
($rc, $out, $err) = load($file);
is($out, qq{3000\nsent to server "one"; sent to server "two"}, 'it may not be called');
on($_, 'DROP EXTENSION fast_copy') foreach 0, 1;
query('TRUNCATE l');
on($_, 'TRUNCATE r') foreach 0, 1;
($rc, $out, $err) = load($file);
is($out, qq{3000\nsent to server "one"; sent to server "two"}, 'it is not there');
same($file, 'it is not there');
$_->stop foreach $node, @there;
done_testing();
