# fast_copy.max_rate bounds what a load reads and logs in a second, whatever way
# it goes, and fast_copy.max_replica_lag makes it wait for standbys.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = new_node('main', { allows_streaming => 'logical' }, 'max_connections = 30', 'max_parallel_workers = 16');
my $rows = 8000;
my $file = write_rows('rows.csv', $rows);
my $bytes = -s $file;
my $rate = 1024 * 1024;
my $waits = "wait_event IN ('FastCopyRate', 'FastCopyReplica', 'Extension')";
my $limit = "LOAD 'fast_copy'; SET fast_copy.max_rate = '1MB'; SET fast_copy.chunk_size = '16kB'; SET fast_copy.accelerate_min_size = 0;";
my @workers = (0, 1, 4);

open(my $in, '<', $file) or die;
my @lines = <$in>;
my $sorted = write_bytes('sorted.csv', join('', sort { (split /,/, $a)[1] cmp (split /,/, $b)[1] } @lines));
my @packed = map { write_bytes("packed$_.csv", join('', @lines[ $_ * $rows / 2 .. ($_ + 1) * $rows / 2 - 1 ])) } 0, 1;
system_or_bail('gzip', '-f', @packed);
my $packed = join(', ', map { "'$_.gz'" } @packed);

my $plain = sub { "CREATE TABLE $_[0] (n int, ts timestamp, v text)" };
my $partitioned = sub { $plain->(@_) . ' PARTITION BY RANGE (ts)' };

# How the file is loaded into a table by so many workers, and how often it is
# read for that; once less if whoever reads it finds the records as it goes
my @ways = (
	[ 'by offsets', 3, $partitioned, sub { "SET fast_copy.spill = 'offsets'; SELECT fast_copy('$_[0]', '$file', workers => $_[1])" } ],
	[ 'by rows', 3, $partitioned, sub { "SET fast_copy.spill = 'rows'; SELECT fast_copy('$_[0]', '$file', workers => $_[1])" } ],
	[ 'in key order', 2, $partitioned, sub { "SELECT fast_copy('$_[0]', '$sorted', workers => $_[1])" } ],
	[ 'in file order', 2, $plain, sub { "SELECT fast_copy('$_[0]', '$file', workers => $_[1])" } ],
	[ 'in file order with a ledger', 3, $plain, sub { "SELECT fast_copy('$_[0]', '$file', workers => $_[1], options => '{\"ledger\": \"ledger\"}')" } ],
	[ 'accelerated', 2, $plain, sub { "SET fast_copy.accelerate_copy = on; SET fast_copy.workers = $_[1]; COPY $_[0] FROM '$file' (FORMAT csv); SELECT $rows" } ],
	[ 'from the client', 1, $plain, sub { "SET fast_copy.workers = $_[1]; COPY $_[0] FROM STDIN (FORMAT csv, fast_copy);\n" . join('', @lines) . "\\.\nSELECT $rows" } ],
	[ 'packed', 2, $plain, sub { "SELECT fast_copy('$_[0]', ARRAY[$packed], workers => $_[1])" } ],
	[ "core's COPY", 1, sub { $plain->(@_) . "; CREATE TRIGGER x BEFORE INSERT ON $_[0] FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()" =~ s/suppress_\w+/same/r },
		sub { "SET client_min_messages = warning; SELECT fast_copy('$_[0]', '$file', workers => $_[1])" } ],
	[ 'looked at', 2, $plain, sub { "SELECT rows FROM fast_copy_analyze('$_[0]', '$file', workers => $_[1]) WHERE item = 'rows' AND name = 'accepted'" } ]);

$node->safe_psql('postgres', 'CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$; SELECT fast_copy_create_ledger_table($$ledger$$)');
foreach my $way (@ways)
{
	my ($name, $times, $create, $load) = @$way;

	subtest "$name: the limit holds, with any number of workers" => sub {
		my @loads = map { start_timed($_, $create, $load) } @workers;

		foreach my $run (@loads)
		{
			my ($out, $err) = finish_load($run->{load});
			my $once = $name =~ /offsets|rows/ || ($run->{workers} == 0 && $name =~ /order|accelerated|packed/);
			my $least = ($times - $once) * $bytes / $rate - 0.1;
			my $seconds = $node->safe_psql('postgres', "SELECT extract(epoch FROM ended - started) FROM timed_$run->{workers}");

			is($out, $rows, "$run->{workers} workers: loaded");
			is(unsaid($err), '', '... without a word');
			cmp_ok($seconds, '>=', $least, sprintf('... not faster than %.1f s', $least));
			cmp_ok($seconds, '<', $least * 3 + 20, '... nor much slower');
		}
	};
}

# The same load in another session, which notes when it began and ended.
sub start_timed
{
	my ($workers, $create, $load) = @_;

	$node->safe_psql('postgres', "DROP TABLE IF EXISTS t$workers, timed_$workers; " . $create->("t$workers") . ";
		CREATE TABLE timed_$workers (started timestamptz, ended timestamptz)");
	return { workers => $workers, load => start_load($node, "$limit
		INSERT INTO timed_$workers VALUES (clock_timestamp());
		" . $load->("t$workers", $workers) . ";
		UPDATE timed_$workers SET ended = clock_timestamp();\n") };
}

# Rows that take more WAL than the file has bytes
foreach my $workers (0, 2)
{
	foreach my $way (
		[ 'pages', "PARTITION BY RANGE (ts)", '', 'load' ],
		[ 'rows', '', "CREATE INDEX ON w (n); CREATE INDEX ON w (v)", 'load' ],
		[ 'indexes', "PARTITION BY RANGE (ts)", "CREATE INDEX ON w (d)", 'index' ])
	{
		my ($name, $by, $more, $phase) = @$way;

		subtest "the limit is one of WAL, too: $name, $workers workers" => sub {
			$node->safe_psql('postgres', "DROP TABLE IF EXISTS w; CREATE TABLE w (n int, ts timestamp, v text,
				d text DEFAULT repeat('x', 300)) $by; $more");
			my ($out) = $node->safe_psql('postgres', "LOAD 'fast_copy'; SET fast_copy.max_rate = '3MB';
				SELECT fast_copy('w', '$file', columns => '{n,ts,v}', workers => $workers);
				SELECT seconds, wal_bytes FROM fast_copy_report() WHERE phase = '$phase' AND partition IS NULL");
			my ($seconds, $wal) = (split /\n/, $out)[1] =~ /([\d.]+)\|(\d+)/;

			cmp_ok($wal, '>', $bytes * 1.5, 'much WAL') if $phase eq 'load';
			cmp_ok($seconds, '>=', $wal / 1024 / 1024 / 3 * 0.85 - 0.2, "$wal bytes are not faster than 3 MB a second");
		};
	}
}

foreach my $workers (0, 2)
{
	subtest "$workers workers: a load that is held back is cancelled at once, and holds up nobody" => sub {
		events($node, 't');
		$node->safe_psql('postgres', 'DROP TABLE IF EXISTS p; CREATE TABLE p (n int, ts timestamp, v text); CREATE INDEX ON p (n)');
		foreach my $table ('t', 'p')
		{
			# the leader may look at the file before workers scan it
			my $waiting = $workers == 0 ? "'client backend'" : $table eq 'p' ? "'parallel worker'" : "'client backend', 'parallel worker'";
			my $load = start_load($node, "SET application_name = 'load'; SET fast_copy.chunk_size = '32kB'; SET fast_copy.max_rate = '" . ($table eq 't' ? 1 : 100) . "kB';
				SELECT fast_copy('$table', '$file', workers => $workers);\n");

			ok(wait_until($node, "SELECT count(*) > 0 FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND $waits
				AND application_name = 'load' AND backend_type IN ($waiting)"), "$table: it waits");
			if ($table eq 'p')
			{
				ok(wait_until($node, "SELECT phase = 'load' FROM fast_copy_progress"), '... in the phase load');
				is($node->safe_psql('postgres', "SET statement_timeout = '20s'; INSERT INTO p SELECT i, NULL, 'mine' FROM generate_series(1, 1000) i;
					SELECT count(*) FROM p"), 1000, '... while another session inserts into the table');
				$node->safe_psql('postgres', "SET statement_timeout = '20s'; DELETE FROM p WHERE v = 'mine'");
			}
			my $start = time;
			$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'load' AND backend_type = 'client backend'");
			my ($out, $err) = finish_load($load);
			cmp_ok(time - $start, '<', 10, 'cancelled at once');
			like($err, qr/canceling statement due to user request/, 'error');
			is_clean($node, $table, 'cancel');
		}
	};
}

# A standby that stops, and one who decodes and takes nothing
my $big = write_rows('big.csv', 40000);
my $lag = "LOAD 'fast_copy'; SET application_name = 'load'; SET fast_copy.max_replica_lag = '300kB';";

my $standby = new_standby($node);

foreach my $workers (0, 2)
{
	subtest "$workers workers: the load waits for the standby" => sub {
		events($node, 't');
		$node->wait_for_catchup($standby);
		$standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()');
		foreach my $end ('cancelled', 'resumed')
		{
			my $load = start_load($node, "$lag SELECT fast_copy('t', '$big', workers => $workers);\n");

			ok(wait_until($node, "SELECT count(*) > 0 FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND $waits
				AND application_name = 'load'"), 'it waits');
			usleep(500_000);
			is($node->safe_psql('postgres', "SELECT count(*) FROM fast_copy_progress"), 1, '... for longer');
			cmp_ok($node->safe_psql('postgres', 'SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) FROM pg_stat_replication'), '<', 3 << 20,
				'... before the standby is far behind');
			if ($end eq 'cancelled')
			{
				$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'load' AND backend_type = 'client backend'");
				like((finish_load($load))[1], qr/canceling statement due to user request/, $end);
				is_clean($node, 't', 'cancel');
				next;
			}
			$standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()');
			is(join('', map { unsaid($_) } finish_load($load)), 40000, 'it goes on with the standby');
		}
		$node->wait_for_catchup($standby);
		is($standby->safe_psql('postgres', 'SELECT count(*) FROM t'), 40000, 'the standby has the rows');
	};
}
$standby->stop;

subtest 'nobody waits for a subscriber, nor without a standby' => sub {
	my ($in, $out, $err) = ('', '', '');

	events($node, 't');
	is($node->safe_psql('postgres', "$lag SELECT fast_copy('t', '$big')"), 40000, 'no standby');
	$node->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('slot', 'test_decoding')");
	my $receiver = IPC::Run::start([ 'pg_recvlogical', '-d', $node->connstr('postgres'), '--slot', 'slot', '--start', '-f', '-', '--status-interval', '1', '--fsync-interval', '0' ],
		\$in, \$out, \$err);
	$node->safe_psql('postgres', 'CREATE TABLE decoded (a int); INSERT INTO decoded VALUES (1)');
	ok(wait_until($node, "SELECT count(*) = 1 FROM pg_stat_replication WHERE state = 'streaming' AND write_lsn IS NOT NULL"), 'one who decodes is there');
	$receiver->signal('STOP');
	events($node, 't');
	is($node->safe_psql('postgres', "SET statement_timeout = '60s'; $lag SELECT fast_copy('t', '$big')"), 40000, 'and is not waited for');
	$receiver->signal('CONT');
	$receiver->kill_kill;
	ok(wait_until($node, "SELECT NOT active FROM pg_replication_slots"), 'it has gone');
	$node->safe_psql('postgres', "SELECT pg_drop_replication_slot('slot')");
};

$node->stop;
done_testing();
