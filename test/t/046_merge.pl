# Rows that are merged beside readers and writers, before crashes and standbys.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use IPC::Run;
use Test::More;

my $node = new_node('main', { allows_streaming => 1 }, 'wal_level = logical', 'restart_after_crash = on', 'wal_consistency_checking = all', 'max_prepared_transactions = 5');
my $file = write_bytes('rows.csv', join('', map { sprintf "%d,2013-01-%02d %02d:%02d:00,row %d\n", $_, $_ % 5 + 1, $_ % 24, $_ % 60, $_ } 1 .. 3000));
# of the third day, 200 of whose rows have the same time and number
my $again = write_bytes('again.csv', join('', map { sprintf "%d,2013-01-03 %02d:%02d:00,again %d\n", $_, $_ % 24, $_ % 60, $_ } 1 .. 1000));
my $day = "ts >= '2013-01-03' AND ts < '2013-01-04'";
my $merge = "SELECT fast_copy('t', '$again', workers => 2, options => '{\"existing_rows\": \"merge\", \"dedup_keys\": [\"ts\", \"n\"]}')";
my $add = $merge =~ s/, "dedup_keys.*?\]//r;
my $how = "SELECT count(*) FILTER (WHERE choice ~ '^1 exchanged'), count(*) FILTER (WHERE choice ~ 'inserted meanwhile') FROM fast_copy_report() WHERE phase = 'replace'";

$node->safe_psql('postgres', 'CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility');
gates($node);

# A fresh table: 600 rows a day, and an index
sub prepare
{
	open_gate();
	events($node, 't', ', CHECK (gate(n))');
	$node->safe_psql('postgres', "CREATE INDEX ON t (n); SELECT fast_copy('t', '$file'); VACUUM ANALYZE t");
	close_gate();
}

# Rows: all, of the day, of the file; times at which a key has two
sub counts { return $_[0]->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE $day), count(*) FILTER (WHERE v LIKE 'again%'), count(*) - count(DISTINCT (ts, n)) FROM t") }

sub paused
{
	my $load = start_load($node, ($_[0] // '') . "$merge;\n$how;\n");

	ok(at_gate($node), 'the load is at the gate');
	return $load;
}

# The load goes on; it must end so
sub ends
{
	my ($load, $wanted, $counts) = @_;

	open_gate();
	my ($out, $err) = finish_load($load);
	is($out, $wanted, 'the load is done') if $wanted !~ /40001|55P03/;
	like($err, qr/$wanted/, 'the load fails') if $wanted =~ /40001|55P03/;
	is(counts($node), $counts, 'rows: all, of the day, of the file, equal ones');
	is_sound($node, 'afterwards');
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'fast_copy %'"), 0, 'nothing is left');
}

my $done = "1000\n1|0";
my $carried = "1000\n1|1";
my $verbose = "\\set VERBOSITY verbose\n";

subtest 'others read the old rows until the commit' => sub {
	prepare();
	my $load = paused();
	is($node->safe_psql('postgres', "SET lock_timeout = '1s'; SELECT count(*) FROM t WHERE $day"), 600, 'at the gate');
	like(($node->psql('postgres', "SET lock_timeout = '100ms'; VACUUM t_p20130103"))[2], qr/lock timeout/, 'VACUUM waits');
	ends($load, $done, '3800|1400|1000|0');
	ok(wait_until($node, "SELECT n_live_tup = 1400 AND n_dead_tup = 0 FROM pg_stat_user_tables WHERE relname = 't_p20130103'"), 'statistics tell of new rows');
	is($node->safe_psql('postgres', "SELECT reltuples FROM pg_class WHERE relname = 't_p20130103'"), 1400, 'and so does pg_class');
	is($node->safe_psql('postgres', "SELECT count(*) FROM (SELECT ts < lag(ts) OVER (ORDER BY ctid) AS wrong FROM t_p20130103) AS s WHERE wrong"), 0, 'in the order of the key');
};

foreach my $protocol (qw(simple extended prepared))
{
	subtest "readers by the $protocol protocol find no day empty, half, or twice" => sub {
		prepare();
		open_gate();
		$node->safe_psql('postgres', "CREATE OR REPLACE FUNCTION of_day() RETURNS bigint LANGUAGE sql STABLE AS \$\$SELECT count(*) FROM t WHERE $day\$\$");
		# 600 rows before, 1400 after
		my $script = write_bytes('readers.sql', "SELECT 1 / (count(*) IN (600, 1400))::int FROM t WHERE $day;\nSELECT 1 / (of_day() IN (600, 1400))::int;\nSELECT 1 / (count(*) = 600)::int FROM t WHERE ts >= '2013-01-04' AND ts < '2013-01-05';\n");
		my ($out, $err) = ('', '');
		my $readers = IPC::Run::start([ 'pgbench', '-n', '-M', $protocol, '-c', 4, '-T', 3, '-f', $script, $node->connstr('postgres') ], '>', \$out, '2>', \$err);

		ok(wait_until($node, "SELECT count(*) >= 4 FROM pg_stat_activity WHERE query ~ '1 / ' AND pid <> pg_backend_pid()"), 'they read');
		$node->safe_psql('postgres', "SET plan_cache_mode = force_generic_plan; $merge; $merge") foreach 1 .. 6;
		ok($readers->finish, 'none has failed') or diag($err);
		cmp_ok($out =~ /transactions actually processed: (\d+)/ ? $1 : 0, '>', 100, 'they have read often');
		is(counts($node), '3800|1400|1000|0', 'the rows');
	};
}

# What another session does while the load stands at the gate.  Rows of number 7
# would wait there, too.
foreach my $case (
	[ 'inserts a row', "INSERT INTO t VALUES (7000, '2013-01-03 12:00', (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 400) i))", $carried, '3801|1401|1000|0' ],
	[ 'inserts a row with the key of another', "INSERT INTO t VALUES (8, '2013-01-03 08:08', 'mine')", $carried, '3801|1401|1000|1' ],
	[ 'inserts rows and takes them away', "INSERT INTO t SELECT 8000 + i, '2013-01-03 12:00' FROM generate_series(1, 10) i; DELETE FROM t WHERE n BETWEEN 8001 AND 8005;
		UPDATE t SET n = 9000 WHERE n = 8006", $carried, '3805|1405|1000|0' ],
	[ 'inserts and rolls back', "BEGIN; INSERT INTO t VALUES (7001, '2013-01-03'); ROLLBACK", $done, '3800|1400|1000|0' ],
	[ 'locks rows', "BEGIN; SELECT count(*) FROM (SELECT FROM t WHERE $day FOR UPDATE) AS s; COMMIT", $done, '3800|1400|1000|0' ],
	[ 'writes to another day', "UPDATE t SET v = 'x' WHERE ts < '2013-01-02'; DELETE FROM t WHERE ts >= '2013-01-05'", $done, '3200|1400|1000|0' ],
	[ 'updates a row that stays', "UPDATE t SET v = 'mine' WHERE n = (SELECT max(n) FROM t WHERE $day)", '40001: could not (replace|merge).*"t_p20130103" because its rows were changed while it was being loaded', '3000|600|0|0' ],
	[ 'updates a row that another takes the place of', "UPDATE t SET v = 'mine' WHERE n = 12", '40001', '3000|600|0|0' ],
	[ 'deletes a row', "DELETE FROM t WHERE n = (SELECT max(n) FROM t WHERE $day)", '40001: .*\nDETAIL:  1 of its rows', '2999|599|0|0' ],
	[ 'moves a row to another day', "UPDATE t SET ts = '2013-01-04' WHERE n = (SELECT max(n) FROM t WHERE $day)", '40001', '3000|599|0|0' ])
{
	my ($what, $sql, $wanted, $counts) = @$case;

	foreach my $isolation ('read committed', 'repeatable read')
	{
		subtest "another session $what, $isolation" => sub {
			prepare();
			my $load = paused($verbose . "SET default_transaction_isolation = '$isolation';\n");
			$node->safe_psql('postgres', $sql);
			ends($load, $wanted, $counts);
		};
	}
}

# A unique index has the row that is there, and the one of the file, once more
foreach my $case (
	[ 'updates a row', "UPDATE t SET v = 'mine' WHERE n = (SELECT max(n) FROM t WHERE $day)", '40001: could not merge "t_p20130103" because its rows were changed', '3000|600|0|0' ],
	[ 'inserts a row of the file', "INSERT INTO t VALUES (1, '2013-01-03 01:01', 'mine')", '40001: could not merge "t_p20130103" because equal rows were inserted .*\nDETAIL:  Key \(ts, n\)=\(2013-01-03 01:01:00, 1\) already exists', '3001|601|0|0' ])
{
	my ($what, $sql, $wanted, $counts) = @$case;

	subtest "another session $what, beside a unique index" => sub {
		prepare();
		$node->safe_psql('postgres', 'CREATE UNIQUE INDEX ON t (ts, n)');
		my $load = paused($verbose);
		$node->safe_psql('postgres', $sql);
		ends($load, $wanted, $counts);
	};
}

# ... and before the load comes to the rows, but after its transaction has begun
subtest 'rows that a transaction does not see yet' => sub {
	foreach my $case ([ "INSERT INTO t VALUES (7000, '2013-01-03 12:00', 'late')", qr/^1000/, '3801|1401|1000|0' ], [ "UPDATE t SET v = 'mine' WHERE n = 12", qr/because its rows were changed|because other sessions have changed it/, '3000|600|0|0' ])
	{
		prepare();
		open_gate();
		my $late = $node->background_psql('postgres', on_error_stop => 0);
		$late->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
		$late->query_safe('SELECT count(*) FROM pg_class WHERE false');
		$node->safe_psql('postgres', $case->[0]);
		like($late->query($merge) . $late->{stderr}, $case->[1], 'it ends so');
		$late->query('COMMIT');
		$late->quit;
		is(counts($node), $case->[2], 'the rows');
		is_sound($node, 'afterwards');
	}
};

subtest 'a serializable transaction is refused' => sub {
	prepare();
	open_gate();
	my ($rc, $out, $err) = $node->psql('postgres', $verbose . "BEGIN ISOLATION LEVEL SERIALIZABLE; $merge");
	like($err, qr/0A000: cannot merge rows into table "t_p20130103"\nDETAIL:  Its rows cannot be written anew: the transaction is serializable/, 'it fails');
	is(counts($node), '3000|600|0|0', 'nothing is merged');
};

subtest 'a table of which a logical slot reads is refused' => sub {
	prepare();
	open_gate();
	$node->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('s', 'test_decoding')");
	my ($rc, $out, $err) = $node->psql('postgres', $verbose . $merge);
	like($err, qr/0A000: cannot merge rows into table "t_p20130103"\nDETAIL:  Its rows cannot be written anew: a logical replication slot reads its changes/, 'it fails');
	is(counts($node), '3000|600|0|0', 'nothing is merged');
	$node->safe_psql('postgres', "SELECT pg_drop_replication_slot('s')");
	is($node->safe_psql('postgres', "$merge; $how"), $done, 'and done without one');
};

subtest 'the load waits for a session at work, and lets others read' => sub {
	prepare();
	open_gate();
	my $writer = $node->background_psql('postgres');
	$writer->query_safe('BEGIN');
	$writer->query_safe("INSERT INTO t VALUES (7000, '2013-01-03 12:00', 'late')");
	my $load = start_load($node, "$merge;\n$how;\n");
	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE relation = 't_p20130103'::regclass AND NOT granted"), 'the load waits');
	is($node->safe_psql('postgres', "SET lock_timeout = '10s'; SELECT count(*) FROM t WHERE $day"), 600, 'others read in between');
	$writer->query_safe('COMMIT');
	$writer->quit;
	ends($load, $carried, '3801|1401|1000|0');
};

subtest 'a transaction with an older snapshot reads the new rows, and not none' => sub {
	prepare();
	open_gate();
	my $reader = $node->background_psql('postgres');
	$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
	is($reader->query_safe('SELECT count(*) FROM pg_class WHERE false'), 0, 'a snapshot');
	is($node->safe_psql('postgres', $merge), 1000, 'rows are merged');
	is($reader->query_safe("SELECT count(*) FROM t WHERE $day"), 1400, 'all rows');
	$reader->query_safe('COMMIT');
	$reader->quit;
};

subtest 'lock_timeout ends the wait' => sub {
	prepare();
	open_gate();
	my $reader = $node->background_psql('postgres');
	$reader->query_safe('BEGIN');
	is($reader->query_safe("SELECT count(*) FROM t WHERE $day"), 600, 'a transaction has read');
	my ($rc, $out, $err) = $node->psql('postgres', $verbose . "SET lock_timeout = '300ms'; $merge");
	like($err, qr/55P03: canceling statement due to lock timeout/, 'the load fails');
	is($reader->query_safe("SELECT count(*) FROM t WHERE $day"), 600, 'with the old rows');
	$reader->quit;
	is(counts($node), '3000|600|0|0', 'nothing is merged');
	is(scalar(spill_files($node)), 0, 'no spill file is left');
};

subtest 'of two that merge the same day the second waits for the first' => sub {
	foreach my $case ([ $merge, '3800|1400|1000|0' ], [ $add, '5000|2600|2000|1200' ])
	{
		prepare();
		my $first = start_load($node, "$case->[0];\n");
		ok(at_gate($node), 'the first is at the gate');
		my $second = start_load($node, "$case->[0];\n");
		ok(wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE relation = 't_p20130103'::regclass AND mode = 'ShareUpdateExclusiveLock' AND NOT granted"), 'the second waits');
		# a row that comes before the second one has looked
		$node->safe_psql('postgres', "INSERT INTO t VALUES (1, '2013-01-03 01:01', 'mine')") if $case->[0] eq $merge;
		open_gate();
		is((finish_load($first))[0], 1000, 'the first is done');
		my ($out, $err) = finish_load($second);
		is($out, 1000, 'the second is done') or diag($err);
		is(counts($node), $case->[1], 'as after one another');
		is_sound($node, 'afterwards');
	}
};

subtest 'killed, it has merged nothing' => sub {
	foreach my $victim ("backend_type = 'client backend' AND application_name = 'load'", "wait_event = 'PgSleep'")
	{
		prepare();
		my $load = start_load($node, "SET application_name = 'load'; $merge;\n");
		ok(at_gate($node), 'at the gate');
		my $pid = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $victim LIMIT 1");
		kill 'KILL', $pid;
		finish_load($load);
		ok(wait_until($node, 'SELECT true'), 'the server is back');
		is(counts($node), '3000|600|0|0', 'the old rows');
		is_sound($node, 'after the crash');
		open_gate();
		is($node->safe_psql('postgres', $merge), 1000, 'once more');
		is(counts($node), '3800|1400|1000|0', 'all rows');
	}
};

foreach my $level (qw(logical minimal))
{
	subtest "wal_level = $level: crashes, transactions and savepoints" => sub {
		$node->append_conf('postgresql.conf', "wal_level = $level\nmax_wal_senders = " . ($level eq 'minimal' ? 0 : 5));
		$node->restart;
		prepare();
		open_gate();
		is($node->safe_psql('postgres', "$merge; $how"), $done, 'merged');
		$node->stop('immediate');
		$node->start;
		is(counts($node), '3800|1400|1000|0', 'after a crash');
		is_sound($node, 'after a crash');
		is($node->safe_psql('postgres', "BEGIN; DELETE FROM t WHERE $day AND n % 2 = 0; UPDATE t SET v = 'mine' WHERE $day AND n % 4 = 1; $merge; SAVEPOINT s; DELETE FROM t WHERE n > 500 AND $day; $merge; ROLLBACK TO s;
			INSERT INTO t VALUES (7000, '2013-01-03'); SELECT count(*) FROM t WHERE $day; COMMIT"), "1000\n1000\n1201", 'two in a transaction, of which one is rolled back');
		$node->stop('immediate');
		$node->start;
		is(counts($node), '3601|1201|1000|0', 'after a crash');
		is_sound($node, 'after a crash');
		$node->safe_psql('postgres', "BEGIN; $add; ROLLBACK");
		is(counts($node), '3601|1201|1000|0', 'after ROLLBACK');
		$node->safe_psql('postgres', "BEGIN; DELETE FROM t WHERE n = 7000; $merge; PREPARE TRANSACTION 'p'");
		$node->stop('immediate');
		$node->start;
		$node->safe_psql('postgres', "COMMIT PREPARED 'p'");
		is(counts($node), '3600|1200|1000|0', 'after COMMIT PREPARED');
		is_sound($node, 'after COMMIT PREPARED');
		$node->safe_psql('postgres', "BEGIN; CREATE TABLE u (LIKE t); INSERT INTO u SELECT * FROM t; SELECT fast_copy('u', '$again', options => '{\"timestamp_column\": \"ts\", \"existing_rows\": \"merge\"}'); COMMIT");
		$node->stop('immediate');
		$node->start;
		is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT (ts, n)) FROM u; DROP TABLE u'), '4600|3600', 'a table of the same transaction, after a crash');
	};
}

subtest 'a standby has the merged rows, and nothing else' => sub {
	$node->append_conf('postgresql.conf', "wal_level = logical\nmax_wal_senders = 5");
	$node->restart;
	prepare();
	open_gate();
	my $standby = new_standby($node);
	$node->wait_for_catchup($standby);
	my $reader = $standby->background_psql('postgres');
	$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
	is($reader->query_safe("SELECT count(*) FROM t WHERE ts < '2013-01-02'"), 600, 'a reader there');
	is($node->safe_psql('postgres', "$merge; $how"), $done, 'merged');
	$node->wait_for_catchup($standby);
	is($reader->query_safe("SELECT count(*) FROM t WHERE $day"), 1400, 'it sees the new rows, and not none');
	$reader->quit;
	is(counts($standby), '3800|1400|1000|0', 'and others do');
	is($standby->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM t WHERE n = 7'), 1, 'by an index, too');
	$standby->promote;
	is($standby->safe_psql('postgres', $add), 1000, 'and merges, when it is the primary');
	is(counts($standby), '4800|2400|2000|1000', 'the rows there');
	$standby->stop;
};

$node->stop;
done_testing();
