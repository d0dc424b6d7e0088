# Rows that are moved to new partitions beside readers and writers, before crashes and
# on standbys: out of the default partition, and where partitions are cut anew.
#
# No CHECK is evaluated for them, so that the gate is an index, which each new
# partition gets.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Beside;
use FastCopy;
use IPC::Run;
use Test::More;

my $how = "SELECT string_agg(choice, '; ' ORDER BY choice) FROM fast_copy_report() WHERE phase = 'replace' AND choice ~ 'exchanged|meanwhile'";
# rows in the default partition, and those that are there twice
my $counted = ", count(*) FILTER (WHERE tableoid = 't_d'::regclass), count(*) - count(DISTINCT n)";
my $drain = "SELECT fast_copy_drain('t', partition_interval => '1 day', workers => 2)";
my $some = "SELECT fast_copy_drain('t', partition_interval => '1 day', replace_from => '2013-01-03', replace_to => '2013-01-04', workers => 2)";
my $drop = "SELECT fast_copy_repartition('t', 'drop', partition_interval => '1 month', workers => 2)";
my $detach = $drop =~ s/drop/detach/r;
my $long = "(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 400) i)";

begin('', $how, '', '', $counted);

# Three days of 600 rows in the default partition, two in their own, and one row each
# that has no key, and one that no partition can have
sub full_default
{
	events($node, 't');
	$node->safe_psql('postgres', "CREATE TABLE t_d PARTITION OF t DEFAULT;
		CREATE TABLE t_p20130101 PARTITION OF t FOR VALUES FROM ('2013-01-01') TO ('2013-01-02');
		CREATE TABLE t_p20130102 PARTITION OF t FOR VALUES FROM ('2013-01-02') TO ('2013-01-03')");
	rest();
}

# ... all in their own
sub full_days
{
	events($node, 't');
	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS t_p20130101, t_p20130102, t_p20130103, t_p20130104, t_p20130105; CREATE TABLE t_d PARTITION OF t DEFAULT;' .
		join('', map { "CREATE TABLE t_p2013010$_ PARTITION OF t FOR VALUES FROM ('2013-01-0$_') TO ('2013-01-0" . ($_ + 1) . "');" } 1 .. 5));
	rest();
}

sub rest
{
	$node->safe_psql('postgres', "SELECT fast_copy('t', '$file', missing_partitions => 'default');
		INSERT INTO t VALUES (3001, NULL), (3002, 'infinity'); UPDATE t SET v = $long WHERE n = 33;
		CREATE INDEX ON t (n); CREATE INDEX ON t (as_index(n)); VACUUM ANALYZE t");
}

# What each of them moves, and the rows afterwards: all, of the day, of the default
# partition
my %way = (
	drain => [ $drain, 1800, 3002, 600, 2, \&full_default, 't_d' ],
	'drain of a range' => [ $some, 600, 3002, 600, 1202, \&full_default, 't_d' ],
	'repartition, drop' => [ $drop, 3000, 3002, 600, 2, \&full_days, 't_p20130103' ],
	'repartition, detach' => [ $detach, 3000, 3002, 600, 2, \&full_days, 't_p20130103' ]);

# So the rows are, if others do something: more rows, of the day, of the default
sub rows
{
	my ($name, @more) = @_;
	my (undef, undef, @rows) = @{ $way{$name} };

	return join('|', (map { $rows[$_] + ($more[$_] // 0) } 0, 1), 0, $rows[2] + ($more[2] // 0), 0);
}

# ... and so before it
sub before
{
	my ($name, @more) = @_;
	my $full = $way{$name}[5] == \&full_default;
	my $default = $full ? 1802 : 2;

	return join('|', 3002 + ($more[0] // 0), 600 + ($more[1] // 0), 0, $default + ($full ? $more[2] // 0 : 0), 0);
}

# Takes this way from now on, by which so many rows of others are moved, too, or stay
sub go
{
	my ($name, $more, $stay) = @_;
	my ($sql, $moved, undef, undef, undef, $maker, $leaf) = @{ $way{$name} };
	my $some = $name =~ /range/;
	my $choice = $some ? $more ? 'moved' : '' : '1 table exchanged';

	$choice .= ', with rows that were inserted meanwhile' if $more || ($stay && !$some);
	my $tells = join("\n", $moved + ($more // 0), $choice);

	return way($sql, $how, $tells, $tells, $counted, $maker, $leaf);
}

# Sessions that go on, or fail so, once the move has ended
sub session
{
	my ($sql) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);

	$session->query_safe($sql) if $sql;
	return $session;
}

foreach my $name (sort keys %way)
{
	my $some = $name =~ /range/;
	my ($move, $moved, $leaf) = @{ $way{$name} }[ 0, 1, 6 ];

	subtest "$name: others read the old rows until the commit" => sub {
		go($name);
		prepare();
		my $load = paused();
		is($node->safe_psql('postgres', "SET lock_timeout = '1s'; SELECT count(*) FROM t WHERE $day"), 600, 'at the gate');
		like(($node->psql('postgres', "SET lock_timeout = '100ms'; VACUUM $leaf"))[2], qr/lock timeout/, 'VACUUM waits');
		ends($load, $done, rows($name));
		is($node->safe_psql('postgres', "SELECT count(*) FROM (SELECT ts < lag(ts) OVER (ORDER BY ctid) AS wrong FROM t WHERE $day) AS s WHERE wrong"), 0, 'in the order of the key');
		is($node->safe_psql('postgres', "SELECT length(v), md5(v) = md5($long) FROM t WHERE n = 33"), '12800|t', 'a long value');
	};

	# how many rows of others are moved, or stay, and what that makes of the rows
	foreach my $case (
		[ 'inserts a row with a key of a new partition', "INSERT INTO t VALUES (7000, '2013-01-03 12:00', $long)", 1, 0, 1, 1 ],
		[ 'inserts a row without a key', 'INSERT INTO t VALUES (7000, NULL)', 0, 1, 1, 0, 1 ],
		[ 'inserts a row of which no partition is made', "INSERT INTO t VALUES (7000, '2013-02-03')", 0, 1, 1, 0, 1 ],
		[ 'inserts rows and takes them away', "INSERT INTO t SELECT 8000 + i, '2013-01-03 12:00' FROM generate_series(1, 10) i; DELETE FROM t WHERE n BETWEEN 8001 AND 8005; UPDATE t SET n = 9000 WHERE n = 8006", 5, 0, 5, 5 ],
		[ 'inserts a row, and moves it to the day', "INSERT INTO t VALUES (7000, '2013-02-03'); UPDATE t SET ts = '2013-01-03' WHERE n = 7000", 1, 0, 1, 1 ],
		[ 'inserts and rolls back', "BEGIN; INSERT INTO t VALUES (7001, '2013-01-03'); ROLLBACK", 0, 0 ],
		$some ? (
			# of the default partition the others stay
			[ 'updates a row that stays', "UPDATE t SET v = 'mine' WHERE n = 3001 OR n = 3", 0, 0 ],
			[ 'deletes a row that stays', 'DELETE FROM t WHERE n = 3', 0, 0, -1, 0, -1 ],
			[ 'moves a row that stays to the day', "UPDATE t SET ts = '2013-01-03 12:00' WHERE n = 3", 1, 0, 0, 1, -1 ]) : (
			[ 'locks rows', "BEGIN; SELECT count(*) FROM (SELECT FROM t WHERE $day FOR UPDATE) AS s; COMMIT", 0, 0 ]),
		$name !~ /repartition/ ? (
			[ 'writes to another day', "UPDATE t SET v = 'x' WHERE ts < '2013-01-02'; DELETE FROM t WHERE ts >= '2013-01-02' AND ts < '2013-01-03'", 0, 0, -600 ]) : ())
	{
		my ($what, $sql, $carries, $stay, @more) = @$case;

		go($name, $carries, $stay);
		others([ "$what, $name", $sql, $done, rows($name, @more) ]);
	}

	my $gone = '40001: could not (?:drain|repartition) "' . $leaf . '" because its rows were changed';
	foreach my $case (
		[ 'updates a row', "UPDATE t SET v = 'mine' WHERE n = 12", $gone ],
		[ 'deletes a row', 'DELETE FROM t WHERE n = 12', "$gone.*\nDETAIL:  1 of its rows", -1, -1, -1 ],
		[ 'moves a row to another day', "UPDATE t SET ts = '2013-01-02' WHERE n = 12", $gone, 0, -1, -1 ],
		# all rows of a file are moved
		$some ? () : [ 'updates a row that stays', "UPDATE t SET v = 'mine' WHERE n = 3001", $gone =~ s/"t_\w+"/"t_d"/r ])
	{
		my ($what, $sql, $wanted, @more) = @$case;

		go($name);
		others([ "$what, $name", $sql, $wanted, before($name, @more) ]);
	}

	# rows that are deleted one by one are locked until the commit
	foreach my $isolation ($some ? ('read committed', 'repeatable read') : ())
	{
		subtest "another session updates a row that is moved while that waits for the last lock, $isolation" => sub {
			go($name);
			ready();
			my $reader = $node->background_psql('postgres');
			$reader->query_safe("BEGIN; SELECT FROM t WHERE $day LIMIT 1");
			my $load = start_load($node, "$move;\n$how;\n");
			waits('it waits', '', 't');
			my $other = start_load($node, "${verbose}SET default_transaction_isolation = '$isolation'; UPDATE t SET v = 'mine' WHERE n = 12;\n");
			ok(wait_until($node, "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"), 'so does the other session');
			$reader->query_safe('COMMIT');
			$reader->quit;
			ends($load, $done, rows($name));
			like((finish_load($other))[1], qr/40P01: deadlock|40001: tuple to be updated was already moved to another partition due to concurrent update/, 'it fails, and can be done again');
		};
	}
}

# Days go from the default partition to their own, to a month, and back to the default
# partition with that, again and again
subtest 'readers by all protocols' => sub {
	# the rows that no partition can have do not count here
	go('drain');
	my $round = join('; ', $drain, $drop, "BEGIN; ALTER TABLE t DETACH PARTITION t_d; DROP TABLE t_d; ALTER TABLE t DETACH PARTITION t_p201301; ALTER TABLE t_p201301 RENAME TO t_d; ALTER TABLE t ATTACH PARTITION t_d DEFAULT; COMMIT");
	way($round, $how, '', '', $counted, sub { full_default(); $node->safe_psql('postgres', 'DELETE FROM t WHERE n > 3000; ' . $round) });
	readers('find all rows, in days and in months', "SELECT 1 / (count(*) = 3000)::int FROM t;\nSELECT 1 / (count(*) = 600)::int FROM t WHERE $day;\nSELECT 1 / (of_day() = 600)::int;\n", 6, '3000|600|0|3000|0');
	# where rows are deleted only who begins after the commit sees the new ones
	my @ranges = map { "SELECT fast_copy_drain('t', partition_interval => '1 hour', replace_from => '2013-01-0$_', replace_to => '2013-01-0$_ 12:00')" } 3 .. 5;
	way(join('; ', @ranges), $how, '', '', $counted, \&full_default);
	readers('find all rows beside drains of a range', "SELECT 1 / (count(*) = 3002)::int FROM t;\nSELECT 1 / (count(*) = 600)::int FROM t WHERE $day;\n", 2, '3002|600|0|902|0');
};

foreach my $name (sort keys %way)
{
	my ($move, $moved, $leaf) = @{ $way{$name} }[ 0, 1, 6 ];
	my $default = $leaf eq 't_d';
	my $some = $name =~ /range/;

	subtest $name => sub {
		go($name, 1);
		session_at_work(rows($name, 1, 1), 't', 't');
		# ... which locks the table, too
		session_at_work(rows($name, 1, 1), $leaf, 't');
		go($name);
		lock_timeout(before($name));
		lock_timeout(before($name), 'SHARE UPDATE EXCLUSIVE');
	};

	subtest "$name: a transaction with an older snapshot" => sub {
		# it sees rows that were deleted, but not in a query that looks only where they are now
		go($name);
		snapshot($some ? 0 : 600);
		ready();
		my $reader = session('BEGIN ISOLATION LEVEL REPEATABLE READ');
		$reader->query_safe('SELECT count(*) FROM pg_class WHERE false');
		$node->safe_psql('postgres', $move);
		is($reader->query_safe('SELECT count(*), count(DISTINCT n) FROM t'), '3002|3002', 'each row once');
		is($reader->query_safe("SET enable_seqscan = off; SELECT count(*) FROM t WHERE n = 7"), 1, 'by an index, too');
		$reader->quit;
	};

	# which has found out which tables there are, and then reads each
	subtest "$name: a dump that began before" => sub {
		go($name);
		ready();
		my $dump = session('BEGIN ISOLATION LEVEL REPEATABLE READ');
		my @tables = split /\n/, $dump->query_safe("SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 't'::regclass");
		$node->safe_psql('postgres', $move);
		is($dump->query_safe(join(' + ', map { "(SELECT count(*) FROM $_)" } @tables) =~ s/^/SELECT /r), 3002, 'has each row');
		$dump->quit;
	} if $some;

	subtest "$name: of two the second waits for the first" => sub {
		go($name);
		prepare();
		my $first = start_load($node, "$move;\n");
		ok(at_gate($node), 'the first is at the gate');
		my $second = start_load($node, "$move;\n");
		waits('the second waits', 'ShareUpdateExclusiveLock', 't');
		$node->safe_psql('postgres', "INSERT INTO t VALUES (7000, '2013-01-03 12:00')");
		open_gate();
		is((finish_load($first))[0], $moved + 1, 'the first is done');
		# ... and finds no row in the default partition, and a month to cut anew
		my ($out, $err) = finish_load($second);
		is($out, $default ? 0 : $moved + 1, 'the second is done') or diag($err);
		is(counts($node), rows($name, 1, 1), 'as after one another');
		is_sound($node, 'afterwards');
	};

	subtest "$name: killed, it has moved nothing" => sub {
		foreach my $victim ("backend_type = 'client backend' AND application_name = 'load'", "wait_event = 'PgSleep'")
		{
			go($name);
			prepare();
			my $load = start_load($node, "SET application_name = 'load'; $move;\n");
			ok(at_gate($node), 'at the gate');
			kill_hard($node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $victim LIMIT 1"));
			finish_load($load);
			ok(wait_until($node, 'SELECT true'), 'the server is back');
			is(counts($node), before($name), 'the old rows');
			# the check of an index calls its function
			open_gate();
			is_sound($node, 'after the crash');
			is($node->safe_psql('postgres', $move), $moved, 'once more');
			is(counts($node), rows($name), 'all rows');
		}
	};

	subtest "$name: what is refused" => sub {
		go($name);
		ready();
		like(($node->psql('postgres', "${verbose}BEGIN ISOLATION LEVEL SERIALIZABLE; $move"))[2],
			qr/0A000: cannot move rows of table "t"\nDETAIL:  Its rows cannot be written anew: the transaction is serializable/, 'a serializable transaction');
		$node->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('s', 'test_decoding')");
		like(($node->psql('postgres', $verbose . $move))[2],
			qr/0A000: cannot move rows of table "t_\w+"\nDETAIL:  Its rows cannot be written anew: a logical replication slot reads its changes/, 'a table of which a logical slot reads');
		$node->safe_psql('postgres', "SELECT pg_drop_replication_slot('s')");
		is(counts($node), before($name), 'nothing is moved');
		is($node->safe_psql('postgres', "$move; $how"), $done, 'and done without one');
	};
}

# Loads that put rows into the default partition, or into partitions that are there, go
# on; those that make partitions wait, and find the new ones
subtest 'loads beside a drain' => sub {
	my $more = write_bytes('more.csv', join('', map { sprintf "%d,2013-01-%02d 12:00:00,more\n", 7000 + $_, $_ } 1, 3, 5));
	my $beyond = write_bytes('beyond.csv', join('', map { sprintf "%d,2013-01-%02d 12:00:00,more\n", 8000 + $_, $_ } 1, 3, 7));

	go('drain');
	prepare();
	my $drains = start_load($node, "$drain;\n");
	ok(at_gate($node), 'the drain is at the gate');
	is($node->safe_psql('postgres', "SELECT fast_copy('t', '$more', missing_partitions => 'default')"), 3, 'into the default partition');
	my $load = start_load($node, "SELECT fast_copy('t', '$beyond');\n");
	waits('one that makes a partition waits', 'ShareUpdateExclusiveLock', 't');
	open_gate();
	is((finish_load($drains))[0], 1802, 'drained, with rows of the first');
	is((finish_load($load))[0], 3, 'and the other has loaded');
	is(counts($node), '3008|602|0|2|0', 'the rows');
	is_sound($node, 'afterwards');
	# ... and the drain waits for those that are at work
	ready();
	$load = session("SET client_min_messages = warning; BEGIN; SELECT fast_copy('t', '$beyond', missing_partitions => 'default')");
	$drains = start_load($node, "$drain;\n");
	waits('the drain waits', '', 't');
	$load->query_safe('COMMIT');
	$load->quit;
	# its row of the seventh day came after the drain had looked which days there are
	is((finish_load($drains))[0], 1801, 'drained');
	is(counts($node), '3005|601|0|3|0', 'the rows');
};

foreach my $name (sort keys %way)
{
	my $repartition = $name =~ /repartition/;

	go($name);
	subtest "$name, and crashes" => sub {
		# the day comes back to the default partition
		my $back = $repartition ? 'SELECT' : 'ALTER TABLE t DETACH PARTITION t_p20130103; INSERT INTO t SELECT * FROM t_p20130103; DROP TABLE t_p20130103';

		at_each_wal_level(levels => [qw(logical replica minimal)], once => rows($name), changes => $back, of_day => 601, twice => rows($name, 1, 1),
			between => $back, number => $repartition ? undef : 600, undone => $drop,
			prepared => "DELETE FROM t WHERE n = 7000; $drop", at_last => rows('repartition, drop'));
	};
	# a snapshot that is older than rows that were deleted does not find the new ones
	standby(rows($name), $name =~ /range/ ? 0 : 600, 'SELECT count(*) FROM t WHERE n = 7', undef, 1);
}

$node->stop;
done_testing();
