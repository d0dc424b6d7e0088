# A subscriber gets every row of loads with workers inside subtransactions, and
# none of those that were rolled back, whether transactions are streamed to it,
# spilled, or prepared first.
#
# What workers write bears the subtransaction's XID.  Decoding must know the
# transaction it belongs to before it sees such a row, or it takes the two for
# different transactions, of which one never ends.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use PostgreSQL::Test::Cluster;
use Test::More;

my $rows = 1200;
my @workers = (0, 2);

# A small decoding memory: each of these loads is more than it holds.
my $publisher = new_node('publisher', { allows_streaming => 'logical' },
	'logical_decoding_work_mem = 64kB', 'max_wal_senders = 20', 'max_replication_slots = 20',
	'max_prepared_transactions = 10', "fast_copy.chunk_size = '16kB'");
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$subscriber->append_conf('postgresql.conf', join("\n", 'max_worker_processes = 40',
	'max_logical_replication_workers = 30', 'max_sync_workers_per_subscription = 4',
	'max_replication_slots = 40', 'max_prepared_transactions = 10', 'autovacuum = off') . "\n");
$subscriber->start;
my $version = int($publisher->safe_psql('postgres', 'SHOW server_version_num') / 10000);

# Some rows are too wide for their page.
sub file
{
	my ($name, $first) = @_;

	return write_bytes("$name.csv", join('', map {
		sprintf "%d,2013-01-%02d,%s\n", $_, $_ * 7919 % 3 + 1, $_ % 100 ? "row $_" : "wide $_ " x 600
	} $first .. $first + $rows - 1));
}

my ($one, $two, $three) = map { file("part$_", $_ * $rows) } 1 .. 3;

# L1 to L3 stand for loads of these files into T.  How many rows there are then.
my @cases = (
	[ 'an INSERT, a savepoint', 1 + $rows,
		'BEGIN; INSERT INTO T VALUES (-1); SAVEPOINT a; L1; COMMIT' ],
	[ 'tried again', 2 + $rows,
		'BEGIN; INSERT INTO T VALUES (-1); SAVEPOINT a; L1; ROLLBACK TO a; L2; RELEASE a; INSERT INTO T VALUES (-2); COMMIT' ],
	[ 'an earlier subtransaction', 1 + $rows,
		'BEGIN; SAVEPOINT a; INSERT INTO T VALUES (-1); RELEASE a; SAVEPOINT b; L1; RELEASE b; COMMIT' ],
	[ 'an exception block', 1 + $rows,
		'DO $$ BEGIN INSERT INTO T VALUES (-1); BEGIN L1; EXCEPTION WHEN division_by_zero THEN RAISE; END; END $$' ],
	[ 'an exception', 2 + $rows,
		'DO $$ BEGIN INSERT INTO T VALUES (-1); BEGIN L1; PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN BEGIN L2; EXCEPTION WHEN others THEN RAISE; END; END; INSERT INTO T VALUES (-2); END $$' ],
	[ 'levels between', 1 + $rows,
		'BEGIN; INSERT INTO T VALUES (-1); SAVEPOINT a; SAVEPOINT b; SAVEPOINT c; L1; RELEASE b; COMMIT' ],
	[ 'each level loads', 1 + 3 * $rows,
		'BEGIN; INSERT INTO T VALUES (-1); SAVEPOINT a; L1; SAVEPOINT b; L2; SAVEPOINT c; L3; COMMIT' ],
	[ 'inner levels rolled back', 2 + 2 * $rows,
		'BEGIN; INSERT INTO T VALUES (-1); SAVEPOINT a; L1; SAVEPOINT b; L2; SAVEPOINT c; L3; ROLLBACK TO b; L3; INSERT INTO T VALUES (-3); RELEASE a; COMMIT' ],
	[ 'the outer level rolled back', 2,
		'BEGIN; INSERT INTO T VALUES (-1); SAVEPOINT a; L1; SAVEPOINT b; L2; RELEASE b; ROLLBACK TO a; INSERT INTO T VALUES (-2); COMMIT' ],
	[ 'an XID that nothing has used', 1 + $rows,
		'BEGIN; INSERT INTO T VALUES (-1); SAVEPOINT a; SELECT pg_current_xact_id(); L1; COMMIT' ],
	[ 'back in the outer level', 1 + 2 * $rows,
		'BEGIN; INSERT INTO T VALUES (-1); SAVEPOINT a; SAVEPOINT b; L1; RELEASE b; L2; COMMIT' ],
	[ 'more subtransactions than are cached', 71 + $rows,
		'BEGIN; INSERT INTO T VALUES (-1); ' . join('', map { "SAVEPOINT s$_; INSERT INTO T VALUES (-$_ - 1); " } 1 .. 70) . 'SAVEPOINT a; L1; COMMIT' ],
	[ 'prepared', 1 + $rows,
		"BEGIN; INSERT INTO T VALUES (-1); SAVEPOINT a; L1; PREPARE TRANSACTION 'T'; COMMIT PREPARED 'T'" ],
	[ 'prepared and rolled back', 0,
		"BEGIN; INSERT INTO T VALUES (-1); SAVEPOINT a; L1; PREPARE TRANSACTION 'T'; ROLLBACK PREPARED 'T'" ],
	[ 'rolled back', 0,
		'BEGIN; INSERT INTO T VALUES (-1); SAVEPOINT a; L1; ROLLBACK' ],
	[ 'partitions that exist', 1 + 2 * $rows,
		'BEGIN; INSERT INTO T VALUES (-1, NULL); SAVEPOINT a; L1; L2; COMMIT', 'PARTITION BY RANGE (d)', "DEFAULT", "FOR VALUES FROM ('2013-01-01') TO ('2014-01-01')" ],
	[ 'partitions to be made', 1 + 2 * $rows,
		"BEGIN; INSERT INTO T VALUES (-1, '2012-12-31'); SAVEPOINT a; L1; L2; COMMIT", 'PARTITION BY RANGE (d)', "FOR VALUES FROM ('2012-12-31') TO ('2013-01-01')" ],
	[ 'routed by core', 1 + 2 * $rows,
		'BEGIN; INSERT INTO T VALUES (-1); SAVEPOINT a; L1; L2; COMMIT', 'PARTITION BY HASH (n)', map { "FOR VALUES WITH (MODULUS 2, REMAINDER $_)" } 0, 1 ],
	[ 'a trigger', 1 + $rows,
		'BEGIN; INSERT INTO T VALUES (-1); SAVEPOINT a; L1; COMMIT; DROP TRIGGER x ON T', 'TRIGGER' ]);

# The table of a case and a number of workers; in this order, by name.
sub table
{
	my ($case, $workers) = @_;

	return sprintf 't%02d_%d', $case, $workers;
}

my @tables = map { my $case = $_; map { table($case, $_) } @workers } 0 .. $#cases;

# All tables, as the publisher has them or with what will be made there.
sub tables
{
	my ($publishes) = @_;
	my $sql = '';

	foreach my $case (0 .. $#cases)
	{
		my ($name, $count, $load, $by, @partitions) = @{ $cases[$case] };
		my $trigger = ($by // '') eq 'TRIGGER';

		foreach my $t (map { table($case, $_) } @workers)
		{
			$sql .= "CREATE TABLE $t (n int, d date, v text) " . ($trigger ? '' : $by // '') . ";
				ALTER TABLE $t ALTER v SET STORAGE EXTERNAL; CREATE INDEX ON $t (n);";
			$sql .= "CREATE TABLE ${t}_$_ PARTITION OF $t $partitions[$_];" foreach 0 .. $#partitions;
			$sql .= "CREATE TRIGGER x BEFORE INSERT ON $t FOR EACH ROW EXECUTE FUNCTION same();" if $trigger && $publishes;
			$sql .= "CREATE TABLE ${t}_all PARTITION OF $t DEFAULT;" if !$publishes && @partitions == 1;
		}
	}
	return $sql;
}

sub rows_of
{
	my ($node, $database) = @_;

	return $node->safe_psql($database, join(' UNION ALL ', map {
		"SELECT '$_' AS t, count(*), md5(string_agg(concat_ws('|', n, d, v), ',' ORDER BY n, d)) FROM $_" } @tables) . ' ORDER BY t');
}

# Compares the tables one by one, if not all are the same.
sub same_rows
{
	my ($got, $want, $what) = @_;
	my @got = split /\n/, $got;
	my @want = split /\n/, $want;

	return pass($what) if $got eq $want;
	is($got[$_], $want[$_], "$what: $cases[$_ / @workers][0], $workers[$_ % @workers] workers") foreach 0 .. $#tables;
}

# The load of one case.
sub run_case
{
	my ($case, $workers) = @_;
	my $t = table($case, $workers);
	my $perform = $cases[$case][2] =~ /^DO/ ? 'PERFORM' : 'SELECT';
	my %file = (1 => $one, 2 => $two, 3 => $three);

	return $cases[$case][2] =~ s/L([123])/"$perform fast_copy('$t', '$file{$1}', workers => $workers)"/ger =~ s/\bT\b/$t/gr . ';';
}

$publisher->safe_psql('postgres',
	'CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN new; END $$;' . tables(1)
	  . 'CREATE PUBLICATION p FOR TABLE ' . join(', ', @tables) . ' WITH (publish_via_partition_root)');

# One database for each kind of subscription; parallel streams are new in 16.
my %kinds = map {
	my $streaming = $_;
	("plain_$streaming" => "streaming = $streaming",
	 "prepared_$streaming" => "streaming = $streaming, two_phase = true")
} 'off', 'on', $version >= 16 ? 'parallel' : ();
$kinds{local} = 'streaming = parallel, origin = none' if $version >= 16;

$subscriber->safe_psql('postgres', 'CREATE DATABASE tables');
$subscriber->safe_psql('tables', tables(0));
foreach my $kind (sort keys %kinds)
{
	$subscriber->safe_psql('postgres', "CREATE DATABASE $kind TEMPLATE tables");
	$subscriber->safe_psql($kind, "CREATE SUBSCRIPTION $kind CONNECTION '" . $publisher->connstr
		  . " dbname=postgres' PUBLICATION p WITH (copy_data = false, $kinds{$kind})");
}
subtest 'all subscriptions are there' => sub {
	foreach my $kind (sort keys %kinds)
	{
		ok(wait_until($publisher, "SELECT count(*) = 1 FROM pg_stat_replication WHERE application_name = '$kind' AND state = 'streaming'"),
			"$kind is there");
		$subscriber->poll_query_until($kind, "SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate <> 'r'") or die $kind;
		next unless $kind =~ /^prepared/;
		$subscriber->poll_query_until('postgres', "SELECT subtwophasestate = 'e' FROM pg_subscription WHERE subname = '$kind'") or die $kind;
	}
};
$publisher->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('$_', 'test_decoding')") foreach 'streamed', 'whole';

# The loads.
foreach my $case (0 .. $#cases)
{
	$publisher->safe_psql('postgres', run_case($case, $_)) foreach @workers;
}
my $want = rows_of($publisher, 'postgres');
is(join(' ', map { (split /\|/)[1] } split /\n/, $want), join(' ', map { ($_->[1]) x @workers } @cases), 'the publisher has the rows');

# Each subscriber.
foreach my $kind (sort keys %kinds)
{
	subtest "$kind: the subscriber gets each row that was committed, from more than the memory holds" => sub {
		$publisher->wait_for_catchup($kind);
		same_rows(rows_of($subscriber, $kind), $want, "$kind: the subscriber has the same");
		my $how = $kind =~ /off/ ? 'spill_txns' : 'stream_txns';
		ok(wait_until($publisher, "SELECT $how >= @{[ scalar @tables ]} / 2 FROM pg_stat_replication_slots WHERE slot_name = '$kind'"),
			"$kind: decoded beyond the memory");
	};
}

# Another decoder
subtest 'test_decoding: what is begun ends, and each row is there once' => sub {
	my $changes = $publisher->safe_psql('postgres', "SELECT data FROM pg_logical_slot_get_changes('streamed', NULL, NULL, 'stream-changes', '1')");
	my %opened = map { $_ => 1 } $changes =~ /^opening a streamed block for transaction TXN (\d+)/mg;
	delete $opened{$_} foreach $changes =~ /^(?:committing streamed transaction|aborting streamed \(sub\)transaction) TXN (\d+)/mg;
	is(join(' ', sort keys %opened), '', 'test_decoding: every streamed transaction ends');
	like($changes, qr/^committing streamed transaction/m, 'test_decoding: there are streams');
	my $total = 0;
	$total += $_->[1] * @workers foreach @cases;
	is($publisher->safe_psql('postgres', "SELECT count(*) FROM pg_logical_slot_get_changes('whole', NULL, NULL) WHERE data LIKE 'table public.t%INSERT%'"),
		$total, 'test_decoding: every row once');
};

# What a session has from another server, by its origin, is not sent to who wants
# local changes only: neither what the leader wrote nor what workers did, nor
# is a stream of it begun.  A session lets go of the origin before it ends, since
# psql does not wait for that end.
$publisher->safe_psql('postgres', "SELECT pg_replication_origin_create('elsewhere'); SELECT pg_create_logical_replication_slot('local_changes', 'test_decoding')");
$publisher->safe_psql('postgres', "SELECT pg_replication_origin_session_setup('elsewhere'); "
	  . run_case(0, $_) . "SELECT fast_copy('" . table(0, $_) . "', '$two', workers => $_); SELECT pg_replication_origin_session_reset()") foreach @workers;
subtest 'what comes from another origin goes to nobody who wants local changes only, and to all others' => sub {
	my $inserts = "count(*) FILTER (WHERE data LIKE '%INSERT%'), count(*) FILTER (WHERE data LIKE 'opening%') > 0";
	is($publisher->safe_psql('postgres', "SELECT $inserts FROM pg_logical_slot_peek_changes('local_changes', NULL, NULL, 'stream-changes', '1', 'only-local', '1')"),
		'0|f', 'test_decoding: nothing of another origin');
	is($publisher->safe_psql('postgres', "SELECT $inserts FROM pg_logical_slot_peek_changes('local_changes', NULL, NULL)"),
		@workers * (1 + 2 * $rows) . '|f', 'test_decoding: all of another origin');
	$publisher->safe_psql('postgres', 'INSERT INTO ' . table(0, 0) . ' VALUES (-9)');
	if ($version >= 16)
	{
		$publisher->wait_for_catchup('local');
		is($subscriber->safe_psql('local', "SELECT count(*) FROM " . table(0, $_)), 1 + $rows + !$_,
			"$_ workers: the subscriber has nothing of another origin") foreach @workers;
	}
	$publisher->wait_for_catchup('plain_on');
	is($subscriber->safe_psql('plain_on', "SELECT count(*) FROM " . table(0, $_)), 2 + 3 * $rows + !$_,
		"$_ workers: another subscriber has") foreach @workers;
};

$subscriber->safe_psql($_, "DROP SUBSCRIPTION $_") foreach sort keys %kinds;
$subscriber->stop;
$publisher->stop;
done_testing();
