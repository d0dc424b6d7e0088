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

subtest 'where a partition is pending DETACH none is made, which is said before the load' => sub {
	$node->safe_psql('postgres', "DROP TABLE t; CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY RANGE (ts);
		CREATE TABLE t1 PARTITION OF t FOR VALUES FROM ('2013-01-01') TO ('2013-01-02');
		CREATE TABLE t3 PARTITION OF t FOR VALUES FROM ('2013-01-03') TO ('2013-01-04')");
	my $reader = start_load($node, "BEGIN; SELECT count(*) FROM t; SELECT pg_sleep(300);\n");
	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"), 'a session reads the table');
	like(($node->psql('postgres', "SET statement_timeout = '500ms'; ALTER TABLE t DETACH PARTITION t3 CONCURRENTLY"))[2],
		qr/due to statement timeout/, 'DETACH waits for it, and is cancelled');
	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
	finish_load($reader);

	my %file = (taken => write_bytes('taken.csv', "1,2013-01-01,a\n2,2013-01-02,b\n3,2013-01-03,c\n"),
		beside => write_bytes('beside.csv', "1,2013-01-01,a\n2,2013-01-02,b\n4,2013-01-04,d\n"),
		only => write_bytes('only.csv', "1,2013-01-01,a\n3,2013-01-03,c\n"));
	my @loads = map { my $call = $_; map { [ $_, sprintf($call, $_) ] } 0, 2 } "SELECT fast_copy('t', '%%s', workers => %d)",
	  "COPY t FROM '%%s' (FORMAT csv, fast_copy, workers %d)";
	foreach my $load (@loads)
	{
		my ($workers, $call) = @$load;
		my $sql = "LOAD 'fast_copy'; SET fast_copy.chunk_size = 4096; " . sprintf($call, $file{taken});

		like(($node->psql('postgres', "\\set VERBOSITY verbose\n$sql"))[2],
			qr/55000: cannot create a partition of table "t" in place of one that is pending detach\nDETAIL:  .*2013-01-03 00:00:00, which partition "t3" would overlap.\nHINT:  .*ALTER TABLE public.t DETACH PARTITION public.t3 FINALIZE/,
			"$call: refused");
	}
	like($node->safe_psql('postgres', "SELECT detail FROM fast_copy_analyze('t', '$file{taken}') WHERE name = 'pending detach'"),
		qr/^cannot create a partition of table "t" in place/, 'an analysis tells');
	my $copy = ($node->psql('postgres', "COPY t FROM '$file{only}' (FORMAT csv)"))[2];
	like($copy, qr/no partition of relation "t" found for row/, 'COPY finds no partition');
	is(($node->psql('postgres', "LOAD 'fast_copy'; SET fast_copy.accelerate_copy = on; SET fast_copy.accelerate_min_size = 0; COPY t FROM '$file{only}' (FORMAT csv)"))[2],
		$copy, '... accelerated too');
	like(($node->psql('postgres', "SELECT fast_copy('t', '$file{only}', missing_partitions => 'error')"))[2],
		qr/no partition of relation "t" found for row/, '... and a load that makes none');
	is($node->safe_psql('postgres', "SELECT fast_copy('t', '$file{beside}', workers => 2); SELECT string_agg(tableoid::regclass || ' ' || n, ',' ORDER BY n) FROM t"),
		"3\nt1 1,t_p20130102 2,t_p20130104 4", 'rows of other days are loaded');
	$node->safe_psql('postgres', 'ALTER TABLE t DETACH PARTITION t3 FINALIZE');
	is($node->safe_psql('postgres', "SELECT fast_copy('t', '$file{taken}')"), 3, 'when it is finished, all are loaded');
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
