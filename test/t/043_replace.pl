# Rows that are replaced beside readers and writers, before crashes and standbys.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Beside;
use FastCopy;
use IPC::Run;
use Test::More;

my $how = "SELECT string_agg(choice, '; ') FROM fast_copy_report() WHERE phase = 'replace'";
my $replace = begin('"existing_rows": "replace"', $how, "1000\n1 table exchanged", "1000\n1 table exchanged, with rows that were inserted meanwhile", '');
my $horizon = "SELECT relfrozenxid, relminmxid FROM pg_class WHERE relname = 't_p20130103'";

subtest 'others read the old rows until the commit' => sub {
	prepare();
	my @old = split(/\|/, $node->safe_psql('postgres', $horizon));
	$node->safe_psql('postgres', "CREATE TABLE held AS SELECT 1 AS n; BEGIN; SELECT FROM held FOR SHARE; SAVEPOINT s; UPDATE held SET n = 2; COMMIT");
	my $load = paused();
	is($node->safe_psql('postgres', "SET lock_timeout = '1s'; SELECT count(*) FROM t WHERE $day"), 600, 'at the gate');
	like(($node->psql('postgres', "SET lock_timeout = '100ms'; VACUUM t_p20130103"))[2], qr/lock timeout/, 'VACUUM waits');
	like(($node->psql('postgres', "SET lock_timeout = '100ms'; ALTER TABLE t_p20130103 ADD x int"))[2], qr/lock timeout/, 'ALTER TABLE waits');
	ends($load, $done, '3400|1000|1000');
	my @new = split(/\|/, $node->safe_psql('postgres', $horizon));
	cmp_ok($new[$_], '>', $old[$_], 'VACUUM need not freeze what is new') foreach 0, 1;
	is($node->safe_psql('postgres', "SELECT relallvisible > 0 AND relallvisible = relpages AND reltuples = 1000 FROM pg_class WHERE relname = 't_p20130103'"), 't', 'pg_class tells of new rows');
	ok(wait_until($node, "SELECT n_live_tup = 1000 AND n_dead_tup = 0 FROM pg_stat_user_tables WHERE relname = 't_p20130103'"), 'and so do statistics');
};

snapshot(1000);

readers('never find a day empty', "SELECT 1 / count(*) FROM t WHERE $day;\nSELECT 1 / of_day();\n", 8, '3400|1000|1000');

others(
	[ 'inserts a row', "INSERT INTO t VALUES (7000, '2013-01-03 12:00', (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 400) i))", $carried, '3401|1001|1000' ],
	[ 'inserts rows and takes them away', "INSERT INTO t SELECT 8000 + i, '2013-01-03 12:00' FROM generate_series(1, 10) i; DELETE FROM t WHERE n BETWEEN 8001 AND 8005;
		UPDATE t SET n = 9000 WHERE n = 8006", $carried, '3405|1005|1000' ],
	[ 'inserts and rolls back', "BEGIN; INSERT INTO t VALUES (7001, '2013-01-03'); ROLLBACK", $done, '3400|1000|1000' ],
	[ 'locks rows', "BEGIN; SELECT count(*) FROM (SELECT FROM t WHERE $day FOR UPDATE) AS s; COMMIT", $done, '3400|1000|1000' ],
	[ 'writes to another day', "UPDATE t SET v = 'x' WHERE ts < '2013-01-02'; DELETE FROM t WHERE ts >= '2013-01-05'", $done, '2800|1000|1000' ],
	[ 'updates a row', "UPDATE t SET v = 'mine' WHERE n = (SELECT max(n) FROM t WHERE $day)", '40001: could not replace "t_p20130103" because its rows were changed while it was being loaded', '3000|600|0' ],
	[ 'updates and updates again', "UPDATE t SET v = 'mine' WHERE n = (SELECT max(n) FROM t WHERE $day); UPDATE t SET v = 'more' WHERE v = 'mine'", '40001', '3000|600|0' ],
	[ 'deletes a row', "DELETE FROM t WHERE n = (SELECT max(n) FROM t WHERE $day)", '40001: .*\nDETAIL:  1 of its rows', '2999|599|0' ],
	[ 'moves a row to another day', "UPDATE t SET ts = '2013-01-04' WHERE n = (SELECT max(n) FROM t WHERE $day)", '40001', '3000|599|0' ]);

subtest 'a row that was inserted has its index entries, and its long value' => sub {
	prepare();
	my $load = paused();
	$node->safe_psql('postgres', "INSERT INTO t VALUES (7000, '2013-01-03 12:00', (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 400) i))");
	ends($load, $carried, '3401|1001|1000');
	is($node->safe_psql('postgres', "SET enable_seqscan = off; SELECT length(v), md5(v) = md5((SELECT string_agg(md5(i::text), '') FROM generate_series(1, 400) i)) FROM t WHERE n = 7000"), '12800|t', 'both');
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class AS c JOIN pg_class AS t ON t.oid = c.reltoastrelid WHERE c.relname = 't_p20130103' AND t.relname = 'pg_toast_' || c.oid"), 1, 'in its TOAST table');
};

session_at_work('3401|1001|1000');

SKIP: {
	chomp(my $library = `pg_config --pkglibdir`);
	skip 'fc_watch is not installed', 1 unless -f "$library/fc_watch.so";
	subtest 'other extensions hear of internal changes, of whole relations' => sub {
		ready();
		my (undef, undef, $told) = $node->psql('postgres', "LOAD 'fc_watch'; SET fc_watch.objects = on; SET client_min_messages = notice; $replace");
		my %heard = map { s/_\d+/_N/r => 1 } $told =~ /alters ((?:t_p20130103|pg_toast)\S*, .*)/g;
		is_deeply([ sort keys %heard ], [ map { "$_, 0, internally" } qw(pg_toast_N pg_toast_N_index t_p20130103 t_p20130103_n_idx) ],
			'of the table, its index, and its TOAST table');
	};
}

# What was inserted is carried before the load has the last lock, and the rest under
# it: what others do before the load waits for that, begin before and end while it
# waits, and do while it waits
my $insert = "INSERT INTO t VALUES (%d, '2013-01-03 12:00', 'late')";
my $gone = '40001: could not replace "t_p20130103" because its rows were changed';
foreach my $case (
	[ 'rows are inserted at each of these times', sprintf($insert, 7000), sprintf($insert, 7001), 'COMMIT', sprintf($insert, 7002), $carried, '3403|1003|1000' ],
	[ 'an insertion is rolled back', sprintf($insert, 7000), sprintf($insert, 7001), 'ROLLBACK', '', $carried, '3401|1001|1000' ],
	[ 'a row is inserted and deleted', sprintf($insert, 7000), sprintf($insert, 7001) . '; DELETE FROM t WHERE n = 7001', 'COMMIT', '', $carried, '3401|1001|1000' ],
	[ 'an inserted row is deleted', sprintf($insert, 7000), '', 'COMMIT', 'DELETE FROM t WHERE n = 7000', $gone, '3000|600|0' ],
	[ 'an inserted row is being deleted', sprintf($insert, 7000), 'DELETE FROM t WHERE n = 7000', 'COMMIT', '', $gone, '3000|600|0' ],
	[ 'an inserted row is deleted, and that is rolled back', sprintf($insert, 7000), 'DELETE FROM t WHERE n = 7000', 'ROLLBACK', '', $carried, '3401|1001|1000' ],
	[ 'an old row is deleted', '', '', 'COMMIT', 'DELETE FROM t WHERE n = 2', $gone, '2999|599|0' ],
	[ 'an old row is being updated', '', "UPDATE t SET v = 'mine' WHERE n = 2", 'COMMIT', '', $gone, '3000|600|0' ],
	[ 'an update is rolled back', '', "UPDATE t SET v = 'mine' WHERE n = 2", 'ROLLBACK', '', $done, '3400|1000|1000' ])
{
	my ($what, $before, $within, $end, $while, $wanted, $counts) = @$case;

	subtest "$what before the last lock" => sub {
		prepare();
		my $load = paused($verbose);
		my ($reader, $writer) = map { $node->background_psql('postgres') } 1, 2;
		$reader->query_safe("BEGIN; SELECT FROM t WHERE $day LIMIT 1");
		$node->safe_psql('postgres', $before);
		$writer->query_safe("BEGIN; $within");
		open_gate();
		waits('the load waits');
		$node->safe_psql('postgres', $while);
		$writer->query_safe($end);
		$reader->query_safe('COMMIT');
		$_->quit foreach $reader, $writer;
		ends($load, $wanted, $counts);
	};
}

subtest 'who waits for the load does not keep it from its end' => sub {
	prepare();
	my $load = paused();
	my $vacuum = start_load($node, "VACUUM t_p20130103;\n");
	waits('VACUUM waits');
	ends($load, $done, '3400|1000|1000');
	is((finish_load($vacuum))[1], '', 'VACUUM is done');
};

subtest 'nor do several, each for another partition' => sub {
	my $both = write_bytes('both.csv', join('', map { sprintf "%d,2013-01-%02d %02d:%02d:00,again %d\n", $_, $_ % 2 ? 3 : 4, $_ % 24, $_ % 60, $_ } 1 .. 2000));

	prepare();
	my $load = start_load($node, $replace =~ s/\Q$again\E/$both/r . ";\n$how;\n");
	ok(at_gate($node), 'the load is at the gate');
	my @vacuums = map { start_load($node, "VACUUM t_p2013010$_;\n") } 3, 4;
	ok(wait_until($node, "SELECT count(*) = 2 FROM pg_locks WHERE relation IN ('t_p20130103'::regclass, 't_p20130104'::regclass) AND NOT granted"), 'two VACUUMs wait');
	open_gate();
	is((finish_load($load))[0], "2000\n2 tables exchanged", 'the load is done');
	is((finish_load($_))[1], '', 'and so is VACUUM') foreach @vacuums;
	is(counts($node), '3800|1000|2000', 'the rows');
	is_sound($node, 'afterwards');
};

subtest 'in a transaction with a snapshot that is older than another replacement' => sub {
	ready();
	my $late = $node->background_psql('postgres', on_error_stop => 0);
	$late->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
	is($late->query_safe('SELECT count(*) FROM pg_class WHERE false'), 0, 'a snapshot');
	is($node->safe_psql('postgres', $replace), 1000, 'another one replaces the day');
	$node->safe_psql('postgres', "INSERT INTO t VALUES (7000, '2013-01-03', 'late')");
	$late->query($replace);
	like($late->{stderr}, qr/could not replace "t_p20130103" because other sessions have changed it/, 'it is not replaced once more');
	$late->query('ROLLBACK');
	$late->quit;
	is(counts($node), '3401|1001|1000', 'so that no row is lost');
};

subtest 'new indexes are where those of the partition are' => sub {
	$node->safe_psql('postgres', "SET allow_in_place_tablespaces = on; CREATE TABLESPACE other LOCATION ''");
	ready();
	$node->safe_psql('postgres', "CREATE INDEX there ON t_p20130103 (v) TABLESPACE other; CREATE INDEX ON t (ts) TABLESPACE other");
	is($node->safe_psql('postgres', "SET default_tablespace = other; $replace; $how"), $done, 'replaced');
	is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE reltablespace = 0), count(*) FILTER (WHERE reltablespace <> 0)
		FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE indrelid = 't_p20130103'::regclass"), '1|2', 'each in its tablespace');
	is_sound($node, 'afterwards');
	$node->safe_psql('postgres', 'DROP TABLE t');
	$node->safe_psql('postgres', 'DROP TABLESPACE other');
};

# which holding its table does not prevent
subtest 'an index that the code of another index moves after the new ones are made' => sub {
	$node->safe_psql('postgres', "SET allow_in_place_tablespaces = on; CREATE TABLESPACE other LOCATION ''");
	ready();
	$node->safe_psql('postgres', "CREATE FUNCTION act() RETURNS void LANGUAGE sql AS 'ALTER INDEX public.t_p20130103_n_idx SET TABLESPACE other';
		CREATE FUNCTION moves(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS \$\$
		BEGIN
			IF n = 1 AND current_setting('application_name') = 'moves' THEN
				PERFORM public.act();
			END IF;
			RETURN n;
		END \$\$; CREATE INDEX ON t_p20130103 (moves(n))");
	my $alone = $replace =~ s/workers => 2/workers => 0/r;
	like(($node->psql('postgres', "${verbose}SET application_name = 'moves'; $alone"))[2], qr/55006: table "t_p20130103_n_idx" was changed while it was being loaded/, 'is not exchanged');
	is(counts($node), '3000|600|0', 'nothing is replaced');
	is($node->safe_psql('postgres', "$alone; $how"), $done, 'unless it stays where it is');
	is_sound($node, 'afterwards');
	$node->safe_psql('postgres', 'DROP TABLE t; DROP FUNCTION moves, act; DROP TABLESPACE other');
};

lock_timeout('3000|600|0');

subtest 'of two that replace the same day the second has read its file too early' => sub {
	prepare();
	my $first = paused();
	my $second = start_load($node, "$verbose$replace;\n$how;\n");
	waits('the second waits', 'ShareUpdateExclusiveLock');
	open_gate();
	is((finish_load($first))[0], $done, 'the first is done');
	like((finish_load($second))[1], qr/40001: could not replace "t_p20130103" because other sessions have changed it/, 'the second fails');
	is(counts($node), '3400|1000|1000', 'as after the first');
	is($node->safe_psql('postgres', $replace), 1000, 'it is loaded again');
};

# What is committed while a load waits for its first lock, which an ordinary VACUUM
# has, comes after the load has read its file
my $range = '"existing_rows": "replace", "replace_from": "2013-01-03", "replace_to"';
foreach my $way (
	[ 'files of a partition', '"existing_rows": "replace"', '1 table exchanged, with rows that were inserted meanwhile' ],
	[ 'files of a range', "$range: \"2013-01-04\"", 'deleted; 1 table exchanged, with rows that were inserted meanwhile' ],
	[ 'rows', "$range: \"2013-01-03 23:59:30\"", 'deleted: other rows of it stay' ])
{
	my ($what, $options, $choice) = @$way;
	my $load = $replace =~ s/\{.*\}/{$options}/r;

	foreach my $case (
		[ 'inserted', "INSERT INTO t VALUES (7000, '2013-01-03 12:00', 'late')", "1000\n$choice", '3401|1001|1000' ],
		[ 'updated', "UPDATE t SET v = 'mine' WHERE n = 2", '40001: could not replace "t_p20130103" because its rows were changed', '3000|600|0' ])
	{
		my ($how_changed, $sql, $wanted, $counts) = @$case;

		subtest "$what are replaced, and a row is $how_changed while the load waits for its first lock" => sub {
			ready();
			my $vacuum = $node->background_psql('postgres');
			$vacuum->query_safe('BEGIN; LOCK TABLE t_p20130103 IN SHARE UPDATE EXCLUSIVE MODE');
			my $waiting = start_load($node, "$verbose$load;\n$how;\n");
			waits('the load waits', 'ShareUpdateExclusiveLock');
			$node->safe_psql('postgres', $sql);
			$node->safe_psql('postgres', 'SELECT pg_sleep(2)');
			$vacuum->query_safe('COMMIT');
			$vacuum->quit;
			ends($waiting, $wanted, $counts);
		};
	}
}

lock_timeout('3000|600|0', 'SHARE UPDATE EXCLUSIVE');

# Such a command waits for all who have an older snapshot, with a lock that the load
# waits for: if it were the one to end, it would leave an invalid index
foreach my $command ('CREATE INDEX CONCURRENTLY other ON t_p20130103 (v)', 'REINDEX INDEX CONCURRENTLY t_p20130103_n_idx')
{
	subtest "$command is not ended by a load that waits for it" => sub {
		ready();
		my $writer = $node->background_psql('postgres');
		$writer->query_safe("BEGIN; INSERT INTO t VALUES (7000, '2013-01-03 12:00', 'late')");
		my $build = start_load($node, "$command;\n");
		ok(wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'virtualxid' AND NOT granted"), 'it waits for a writer');
		my $waiting = start_load($node, "$verbose$replace;\n");
		waits('the load waits for it', 'ShareUpdateExclusiveLock');
		# so long that it has looked for a deadlock already
		$node->safe_psql('postgres', 'SELECT pg_sleep(1.5)');
		$writer->query_safe('COMMIT');
		$writer->quit;
		like((finish_load($waiting))[1], qr/40P01: (?:could not lock table "t_p20130103" because process \d+, which has it locked, waits for this transaction|deadlock detected)/, 'the load fails');
		is((finish_load($build))[1], '', 'the command is done');
		is($node->safe_psql('postgres', "SELECT count(*) FROM pg_index WHERE NOT indisvalid"), 0, 'each index is valid');
		is(counts($node), '3001|601|0', 'nothing is replaced');
		$node->safe_psql('postgres', 'DROP INDEX IF EXISTS other');
	};
}

subtest 'of two that replace the same plain table the second waits for the first' => sub {
	$node->safe_psql('postgres', "DROP TABLE t; CREATE TABLE t (n int PRIMARY KEY, ts timestamp, v text, CHECK (gate(n))); INSERT INTO t SELECT 10000 + i, '2013-01-03', 'old' FROM generate_series(1, 1500) i");
	close_gate();
	my $first = paused();
	my $second = start_load($node, "$replace;\n$how;\n");
	waits('the second waits', 'ShareUpdateExclusiveLock', 't');
	$node->safe_psql('postgres', "INSERT INTO t VALUES (20000, '2013-01-03', 'late')");
	open_gate();
	is((finish_load($first))[0], $carried, 'the first is done');
	my ($out, $err) = finish_load($second);
	is($out, $done, 'the second is done') or diag($err);
	is(counts($node), '1000|1000|1000', 'the late row was there before the second');
};

subtest 'killed, it has replaced nothing' => sub {
	prepare();
	my $load = start_load($node, "SET application_name = 'load'; $replace;\n");
	ok(at_gate($node), 'at the gate');
	kill_hard($node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name = 'load'"));
	finish_load($load);
	ok(wait_until($node, 'SELECT true'), 'the server is back');
	is(counts($node), '3000|600|0', 'the old rows');
	is_sound($node, 'after the crash');
};

at_each_wal_level(once => '3400|1000|1000', changes => "DELETE FROM t WHERE $day AND n % 2 = 0", of_day => 1001, twice => '3401|1001|1000',
	undone => $replace, prepared => $replace, at_last => '3400|1000|1000');

standby('3400|1000|1000', 1000, 'SELECT count(*) FROM t WHERE n = 777');

subtest 'a base backup is taken before the end, and around it' => sub {
	prepare();
	my $load = paused();
	$node->backup('before');
	my $slow = IPC::Run::start([ 'pg_basebackup', '--no-sync', '--checkpoint=fast', '--max-rate=20M', '-h', $node->host, '-p', $node->port, '-D', $node->backup_dir . '/around' ]);
	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_stat_progress_basebackup WHERE phase = 'streaming database files'"), 'a slow one is under way');
	ends($load, $done, '3400|1000|1000');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_stat_progress_basebackup'), 1, 'it still is');
	ok($slow->finish, 'it ends');
	foreach ([ 'before', '3000|600|0' ], [ 'around', '3400|1000|1000' ])
	{
		my ($name, $counts) = @$_;
		my $copy = PostgreSQL::Test::Cluster->new($name);

		$copy->init_from_backup($node, $name);
		$copy->start;
		is(counts($copy), $counts, "$name: the rows");
		is_sound($copy, $name);
		$copy->stop;
	}
};

# Days that have rows, a partition without any, and a day without a partition.  An
# older snapshot sees new rows only where files were exchanged.
my $days = write_bytes('days.csv', join('', map { sprintf "%d,2013-01-%02d %02d:%02d:00,again %d\n", $_, (3, 6, 7)[$_ % 3], $_ % 24, $_ % 60, $_ } 1001 .. 2200));
my $whole = "SELECT count(*), count(*) FILTER (WHERE $day), count(*) FILTER (WHERE v LIKE 'again%'), (SELECT count(*) FROM ledger) FROM t";

foreach my $case ([ 'delete', 'deleted: asked for by replace_method', '3000|600|0|0' ], [ 'auto', '1 table exchanged', '2800|400|400|0' ])
{
	my ($method, $said, $before) = @$case;
	my $load = $replace =~ s/\Q$again\E/$days/r =~ s/}'/, "replace_method": "$method", "ledger": "ledger"}'/r;
	my $after = '3600|400|1200|1';

	subtest "replace_method $method: what a snapshot from before the commit sees after it" => sub {
		ready_for_dump();
		my $older = $node->background_psql('postgres');
		$older->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
		my $snapshot = $older->query_safe('SELECT pg_export_snapshot()');
		is($node->safe_psql('postgres', "$load; $how"), "1200\n$said", 'loaded');
		is($older->query_safe($whole), $before, 'a query');
		is(restored(dump_of("--snapshot=$snapshot")), $before, 'a dump');
		is(restored(dump_of()), $after, 'and a dump with a snapshot from after it');
		$older->quit;
		is(counts($node) . '|1', $after, 'the rows');
		is_sound($node, 'afterwards');
	};

	subtest "replace_method $method: what a dump has that begins before the commit" => sub {
		ready_for_dump();
		my $loader = $node->background_psql('postgres');
		$loader->query_safe("SET client_min_messages = warning; BEGIN; $load");
		my $dump = dump_of();
		if ($method eq 'auto') { waits('the dump waits', 'AccessShareLock') }
		else { $dump->{run}->finish }
		$loader->query_safe('COMMIT');
		$loader->quit;
		is(restored($dump), $before, 'the rows');
	};
}

subtest 'a plain table that was empty has no rows for a snapshot from before' => sub {
	ready();
	$node->safe_psql('postgres', 'DROP TABLE t; CREATE TABLE t (n int, ts timestamp, v text)');
	my $older = $node->background_psql('postgres');
	$older->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
	is($older->query_safe('SELECT count(*) FROM pg_class WHERE false'), 0, 'a snapshot');
	is($node->safe_psql('postgres', $replace), 1000, 'loaded');
	is($older->query_safe('SELECT count(*) FROM t'), 0, 'no row');
	$older->quit;
	is(counts($node), '1000|1000|1000', 'and all afterwards');
};

sub ready_for_dump
{
	ready();
	$node->safe_psql('postgres', "CREATE TABLE t_p20130106 PARTITION OF t FOR VALUES FROM ('2013-01-06') TO ('2013-01-07');
		DROP TABLE IF EXISTS ledger; SELECT fast_copy_create_ledger_table('ledger')");
}

# pg_dump, which has begun
sub dump_of
{
	my $path = write_bytes('dump.sql', '');

	return { path => $path, run => IPC::Run::start([ 'pg_dump', @_, '-f', $path, '-d', $node->connstr('postgres') ]) };
}

# What a database has that was made of a dump
sub restored
{
	my ($dump) = @_;

	ok($dump->{run}->finish, 'the dump ends');
	$node->safe_psql('postgres', 'CREATE DATABASE restored');
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', $dump->{path} ], 'it is restored');
	my $rows = $node->safe_psql('restored', $whole);
	$node->safe_psql('postgres', 'DROP DATABASE restored');
	return $rows;
}

subtest 'a logical slot is shown rows that are deleted and inserted' => sub {
	ready();
	$node->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('s', 'test_decoding')");
	is($node->safe_psql('postgres', "$replace; $how"), "1000\ndeleted: a logical replication slot reads its changes", 'by DELETE');
	is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE data ~ 'DELETE'), count(*) FILTER (WHERE data ~ 'INSERT') FROM pg_logical_slot_get_changes('s', NULL, NULL)"), '600|1000', 'each row');
	$node->safe_psql('postgres', "SELECT pg_drop_replication_slot('s')");
	is($node->safe_psql('postgres', "$replace; $how"), $done, 'and exchanged without one');
};

subtest 'slots that show no row of this database are no reason' => sub {
	$node->safe_psql('postgres', 'CREATE DATABASE beside');
	$node->safe_psql('beside', "SELECT pg_create_logical_replication_slot('of_another', 'test_decoding')");
	$node->safe_psql('postgres', "SELECT pg_create_physical_replication_slot('physical')");
	ready();
	is($node->safe_psql('postgres', "$replace; $how"), $done, 'rows are exchanged');
	ready();
	# whatever is set, such standbys have no slots
	is($node->safe_psql('postgres', "LOAD 'fast_copy'; SET fast_copy.logical_standbys = on; $replace; $how"), $done, '... without a standby of 16') if $node->pg_version->major < 16;
	$node->safe_psql('beside', "SELECT pg_drop_replication_slot('of_another')");
	$node->safe_psql('postgres', "SELECT pg_drop_replication_slot('physical')");
	$node->safe_psql('postgres', 'DROP DATABASE beside');
};

SKIP: {
	skip 'there is no such setting from 17 on', 1 if $node->safe_psql('postgres', "SELECT count(*) FROM pg_settings WHERE name = 'old_snapshot_threshold'") == 0;
	subtest 'a snapshot that may be too old must be told so' => sub {
		$node->append_conf('postgresql.conf', 'old_snapshot_threshold = 1h');
		$node->restart;
		ready();
		is($node->safe_psql('postgres', "$replace; $how"), "1000\ndeleted: old_snapshot_threshold is set", 'by DELETE');
	};
}

$node->stop;
done_testing();
