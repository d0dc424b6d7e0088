# Rows that are merged beside readers and writers, before crashes and standbys.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Beside;
use FastCopy;
use Test::More;

my $how = "SELECT count(*) FILTER (WHERE choice ~ '^1 table exchanged'), count(*) FILTER (WHERE choice ~ 'inserted meanwhile') FROM fast_copy_report() WHERE phase = 'replace'";
# counts times, too, at which a key has two rows
my $merge = begin('"existing_rows": "merge", "dedup_keys": ["ts", "n"]', $how, "1000\n1|0", "1000\n1|1", ', count(*) - count(DISTINCT (ts, n))');
my $add = $merge =~ s/, "dedup_keys.*?\]//r;

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

# 600 rows before, 1400 after
readers('find no day empty, half, or twice', "SELECT 1 / (count(*) IN (600, 1400))::int FROM t WHERE $day;\nSELECT 1 / (of_day() IN (600, 1400))::int;\nSELECT 1 / (count(*) = 600)::int FROM t WHERE ts >= '2013-01-04' AND ts < '2013-01-05';\n", 6, '3800|1400|1000|0');

others(
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
	[ 'moves a row to another day', "UPDATE t SET ts = '2013-01-04' WHERE n = (SELECT max(n) FROM t WHERE $day)", '40001', '3000|599|0|0' ]);

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
		ready();
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
	ready();
	my ($rc, $out, $err) = $node->psql('postgres', $verbose . "BEGIN ISOLATION LEVEL SERIALIZABLE; $merge");
	like($err, qr/0A000: cannot merge rows into table "t_p20130103"\nDETAIL:  Its rows cannot be written anew: the transaction is serializable/, 'it fails');
	is(counts($node), '3000|600|0|0', 'nothing is merged');
};

subtest 'a table of which a logical slot reads is refused' => sub {
	ready();
	$node->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('s', 'test_decoding')");
	my ($rc, $out, $err) = $node->psql('postgres', $verbose . $merge);
	like($err, qr/0A000: cannot merge rows into table "t_p20130103"\nDETAIL:  Its rows cannot be written anew: a logical replication slot reads its changes/, 'it fails');
	is(counts($node), '3000|600|0|0', 'nothing is merged');
	$node->safe_psql('postgres', "SELECT pg_drop_replication_slot('s')");
	is($node->safe_psql('postgres', "$merge; $how"), $done, 'and done without one');
};

session_at_work('3801|1401|1000|0');

snapshot(1400);

lock_timeout('3000|600|0|0');

subtest 'of two that merge the same day the second waits for the first' => sub {
	foreach my $case ([ $merge, '3800|1400|1000|0' ], [ $add, '5000|2600|2000|1200' ])
	{
		prepare();
		my $first = start_load($node, "$case->[0];\n");
		ok(at_gate($node), 'the first is at the gate');
		my $second = start_load($node, "$case->[0];\n");
		waits('the second waits', 'ShareUpdateExclusiveLock');
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
		kill_hard($pid);
		finish_load($load);
		ok(wait_until($node, 'SELECT true'), 'the server is back');
		is(counts($node), '3000|600|0|0', 'the old rows');
		is_sound($node, 'after the crash');
		open_gate();
		is($node->safe_psql('postgres', $merge), 1000, 'once more');
		is(counts($node), '3800|1400|1000|0', 'all rows');
	}
};

at_each_wal_level(once => '3800|1400|1000|0', changes => "DELETE FROM t WHERE $day AND n % 2 = 0; UPDATE t SET v = 'mine' WHERE $day AND n % 4 = 1", of_day => 1201, twice => '3601|1201|1000|0',
	undone => $add, prepared => "DELETE FROM t WHERE n = 7000; $merge", at_last => '3600|1200|1000|0', more => sub {
		$node->safe_psql('postgres', "BEGIN; CREATE TABLE u (LIKE t); INSERT INTO u SELECT * FROM t; SELECT fast_copy('u', '$again', options => '{\"timestamp_column\": \"ts\", \"existing_rows\": \"merge\"}'); COMMIT");
		$node->stop('immediate');
		$node->start;
		is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT (ts, n)) FROM u; DROP TABLE u'), '4600|3600', 'a table of the same transaction, after a crash');
	});

standby('3800|1400|1000|0', 1400, 'SELECT count(*) FROM t WHERE n = 7', sub {
	my ($standby) = @_;

	$standby->promote;
	is($standby->safe_psql('postgres', $add), 1000, 'and merges, when it is the primary');
	is(counts($standby), '4800|2400|2000|1000', 'the rows there');
});

$node->stop;
done_testing();
