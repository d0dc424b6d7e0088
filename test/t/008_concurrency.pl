# What other sessions may and may not do to the target while a load is under
# way: nothing that would take rows from it before it commits.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', {});
my $rows = 3000;
my $file = write_rows('rows.csv', $rows);

gates($node);

# Tries a statement that must wait for the load.
sub must_wait
{
	my ($sql, $what) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET lock_timeout = '100ms'; $sql");

	like($err, qr/canceling statement due to lock timeout/, $what);
}

foreach my $workers (0, 2)
{
	subtest "$workers workers, core routes: others can add partitions, but neither take them away nor empty them" => sub {
		my $load = paused("CREATE TABLE t (n int, ts timestamp, v text, CHECK (gate(n))) PARTITION BY LIST ((n % 2));
			CREATE TABLE t0 PARTITION OF t FOR VALUES IN (0);
			CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1);
			CREATE TABLE late (LIKE t INCLUDING ALL)", $workers);

		ok(at_gate($node), 'at the gate');
		is(($node->psql('postgres', "SET lock_timeout = '100ms'; ALTER TABLE t ATTACH PARTITION late FOR VALUES IN (2)"))[0], 0,
			'ATTACH does not wait, as it does not beside COPY');
		must_wait('ALTER TABLE t DETACH PARTITION t0', 'DETACH waits');
		must_wait('TRUNCATE t1', 'TRUNCATE of a partition waits');
		must_wait('ALTER TABLE t0 ADD CHECK (n < 5)', 'a new constraint waits');
		is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), 0, 'reading does not wait');
		ends($load);
	};
}

foreach my $workers (0, 2)
{
	subtest "$workers workers, by day: others can neither fill a hole nor take partitions away" => sub {
		my $load = paused("CREATE TABLE t (n int, ts timestamp, v text, CHECK (gate(n))) PARTITION BY RANGE (ts);
			CREATE TABLE t3 PARTITION OF t FOR VALUES FROM ('2013-01-03') TO ('2013-01-04');
			CREATE TABLE late (LIKE t INCLUDING ALL)", $workers);

		ok(at_gate($node), 'at the gate');
		must_wait("ALTER TABLE t ATTACH PARTITION late FOR VALUES FROM ('2013-01-02') TO ('2013-01-03')", 'ATTACH in a hole waits');
		must_wait('TRUNCATE t3', 'TRUNCATE of a partition waits');
		must_wait('DROP TABLE t3', 'DROP of a partition waits');
		is($node->safe_psql('postgres', "INSERT INTO t VALUES (0, '2013-01-03', 'other'); DELETE FROM t WHERE n = 0; SELECT count(*) FROM t"),
			0, 'others write to a partition that exists');
		ends($load);
	};
}

subtest 'of two loads that make the same partitions the second waits, then appends' => sub {
	my $first = paused('CREATE TABLE t (n int, ts timestamp, v text, CHECK (gate(n))) PARTITION BY RANGE (ts)', 1);

	ok(at_gate($node), 'the first is at the gate');
	my $second = start_load($node, "SELECT fast_copy('t', '$file', workers => 1);\n");
	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE relation = 't'::regclass AND NOT granted"),
		'the second waits');
	open_gate();
	is((finish_load($first))[0], $rows, 'the first is done');
	my ($out, $err) = finish_load($second);
	is($out, $rows, 'the second is done') or diag($err);
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), 2 * $rows, 'all rows');
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_inherits WHERE inhparent = 't'::regclass"), 5, 'each day once');
};

$node->stop;
done_testing();

# A load of the file that stands at the gate.
sub paused
{
	my ($tables, $workers) = @_;

	close_gate();
	$node->safe_psql('postgres', "DROP TABLE IF EXISTS t, late; $tables");
	return start_load($node, "SET fast_copy.chunk_size = 4096; SELECT fast_copy('t', '$file', workers => $workers);\n");
}

sub ends
{
	my ($load) = @_;

	open_gate();
	my ($out, $err) = finish_load($load);
	is($out, $rows, 'loaded') or diag($err);
	is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT n) FROM t'), "$rows|$rows", 'every row is there');
}
