# What a server says of a record that it refuses is laid at the door of that
# record, whatever else its context speaks of; rows that it leaves out are
# noticed; binary files are core's.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', {}, 'fast_copy.workers = 2', 'session_preload_libraries = fast_copy');
needs($node, 'postgres_fdw');
my $one = new_node('one', {});
sub query { return $node->safe_psql('postgres', $_[0]) }
query('CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster');
query(server_sql('one', $one));

# A table there, a foreign table for it and one that is here
sub setup
{
	my ($columns, $name) = @_;
	$one->safe_psql('postgres', "DROP TABLE IF EXISTS \"$name\"; CREATE TABLE \"$name\" ($columns)");
	query("DROP TABLE IF EXISTS t, l; CREATE TABLE l ($columns); CREATE TABLE t ($columns) PARTITION BY RANGE (n);
		CREATE FOREIGN TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (1000) SERVER one OPTIONS (schema_name 'public', table_name '$name')");
}

# Message and line of the error
sub place
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $sql);

	return join(' / ', $err =~ /(ERROR:  .*)/, $err =~ /^(?:CONTEXT:  )?(?:fast_copy t|COPY l)\b.*?, line (\d+)/m);
}

foreach my $type ('json', 'jsonb')
{
	setup("n int, j $type", 'r');
	my $p = write_bytes("$type.csv", join('', map { $_ . ',' . ($_ == 7 ? '{x' : '"{""a"":1}"') . "\n" } 1 .. 20));
	is(place("SELECT fast_copy('t', '$p')"), place("COPY l FROM '$p' WITH (FORMAT csv)"), "$type, one bad record");
	$p = write_bytes("${type}2.csv", join('', map { $_ . ',' . ($_ == 7 ? '{x' : '"{""a"":1}"') . ($_ == 4 ? ',more' : '') . "\n" } 1 .. 20));
	is(place("SELECT fast_copy('t', '$p')"), place("COPY l FROM '$p' WITH (FORMAT csv)"), "$type, an earlier one");
	$p = write_bytes("${type}3.csv", join('', map { $_ . ",\"{\n\"\"a\"\":\n" . ($_ == 7 ? 'x' : '1') . "}\"\n" } 1 .. 20));
	is(place("SELECT fast_copy('t', '$p')"), place("COPY l FROM '$p' WITH (FORMAT csv)"), "$type, on the third line of a field");
}
setup('n int, v date', 'odd, line 3');
my $p = write_bytes('odd.csv', join('', map { "$_," . ($_ == 7 ? 'x' : '2013-01-01') . "\n" } 1 .. 20));
is(place("SELECT fast_copy('t', '$p')"), place("COPY l FROM '$p' WITH (FORMAT csv)"), 'a table named so');

# two nodes' leaves: an earlier bad record elsewhere counts
setup('n int, j json', 'r');
query("CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (1000) TO (2000)");
my $q = write_bytes('two.csv', join('', map { ($_ == 4 ? '1004' : $_) . ',' . ($_ == 7 || $_ == 4 ? '{x' : '1') . "\n" } 1 .. 20));
is(place("SELECT fast_copy('t', '$q', workers => $_)"), place("COPY l FROM '$q' WITH (FORMAT csv)"), "one here, $_ workers") foreach 0, 2;
# conservation
setup('n int, v text', 'r');
$one->safe_psql('postgres', 'CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN IF NEW.n = 3 THEN RETURN NULL; END IF; RETURN NEW; END$$; CREATE TRIGGER skip BEFORE INSERT ON r FOR EACH ROW EXECUTE FUNCTION skip()');
$p = write_bytes('c.csv', join('', map { "$_,a\n" } 1 .. 20));
like(place("SELECT fast_copy('t', '$p')"), qr/took 19 of 20 rows/, 'rows that are left out');
is($one->safe_psql('postgres', 'SELECT count(*) FROM r'), 0, 'none is left');

# binary
setup('n int, v text', 'r');
my $b = $p =~ s/c\.csv/b.bin/r;
query("INSERT INTO l SELECT i, 'x' || i FROM generate_series(1, 20) i; COPY l TO '$b' WITH (FORMAT binary)");
my ($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('t', '$b', format => 'binary')");
is($out, 20, 'binary') or diag($err);
like($err, qr/one by one.*the file is binary/, 'binary: the reason');
is(query('SELECT count(*) FROM (TABLE t EXCEPT ALL TABLE l) a'), 0, 'binary: rows');
$_->stop foreach $node, $one;
done_testing();
