# Cancel and statement_timeout end a load at once, in every phase, and leave
# nothing behind.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $node = new_node('main', {}, 'log_min_messages = warning');
my $file = write_rows('rows.csv', 20000);
my $cancel = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE application_name = 'load'";

gates($node);

# A load that stands at a gate, ended from another session.
sub cancel_at_gate
{
	my ($workers, $phase, $end, $cut) = @_;

	subtest "$phase, $workers workers" . ($cut ? ', a cell that was cut' : '') . ": $end->{name} ends the load at once, and nothing is left" => sub {
		my $spill = $workers ? 'rows' : 'offsets';
		my $source = $cut ? "'cat $file', program => true, partition_interval => '1 year'" : "'$file'";
		my $load = start_load($node, "SET application_name = 'load'; SET fast_copy.spill = '$spill'; SET fast_copy.memory = '" . ($cut ? 1 : 64) . "MB'; $end->{before}
			SELECT fast_copy('t', $source, workers => $workers);\n");

		ok(at_gate($node), 'at the gate');
		cmp_ok(scalar(grep { m{/pgsql_tmp\d+\.\d+$} } spill_files($node)), '>', 0, 'pieces are in a file') if $cut;
		is($node->safe_psql('postgres', 'SELECT phase FROM fast_copy_progress'), $phase, 'phase');
		my $start = time;
		$node->safe_psql('postgres', $end->{sql}) if $end->{sql};
		my ($out, $err) = finish_load($load);
		cmp_ok(time - $start, '<', 10, 'at once');
		like($err, $end->{message}, 'error');
		is_clean($node, 't', $end->{name});
	};
}

my @ends = (
	{ name => 'cancel', before => '', sql => $cancel,
		message => qr/canceling statement due to user request/ },
	{ name => 'statement_timeout', before => "SET statement_timeout = '1500ms';",
		message => qr/canceling statement due to statement timeout/ },
	{ name => 'terminate', before => '', sql => $cancel =~ s/cancel/terminate/r,
		message => qr/terminating (connection|background worker "parallel worker") due to administrator command|server closed/ });

close_gate();
foreach my $workers (0, 2)
{
	foreach my $end (@ends)
	{
		events($node, 't', ', CHECK (gate(7))');
		cancel_at_gate($workers, 'load', $end);

		if ($workers)
		{
			events($node, 't', ', CHECK (gate(7))');
			cancel_at_gate($workers, 'load', $end, 1);
		}

		events($node, 't');
		$node->safe_psql('postgres', 'CREATE INDEX ON t (as_index(n * 0 + 7))');
		cancel_at_gate($workers, 'index', $end);
	}
}

# Other phases last too short for a gate: tiny chunks make split and scan
# long, and timeouts that grow hit whatever phase runs then.
subtest 'a timeout in any phase leaves nothing' => sub {
	events($node, 't');
	my $timeouts = 0;
	foreach my $ms (1, 2, 5, 10, 15, 20, 30, 40, 60, 80, 100, 150, 200, 250, 300, 400, 500)
	{
		my ($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '${ms}ms';
			SET fast_copy.chunk_size = '64B'; SET fast_copy.memory = '1MB'; SET fast_copy.spill = '${\ ($ms % 4 ? 'rows' : 'offsets') }';
			SELECT fast_copy('t', '$file', workers => 2)");

		last if $rc == 0;
		$timeouts++;
		like($err, qr/statement timeout/, "timeout after $ms ms");
		is_clean($node, 't', "timeout after $ms ms");
	}
	cmp_ok($timeouts, '>', 2, 'some loads timed out');
};

subtest 'rows beyond temp_file_limit are an error, and leave nothing' => sub {
	events($node, 't');
	my $spill = "SET temp_file_limit = '400kB'; SET fast_copy.memory = '1MB'; SET fast_copy.spill = 'rows'; SET fast_copy.chunk_size = '64kB';";
	foreach my $workers (0, 2)
	{
		my ($rc, $out, $err) = $node->psql('postgres', "$spill SELECT fast_copy('t', '$file', workers => $workers)");
		like($err, qr/temporary file size exceeds "?temp_file_limit/, "$workers workers: error");
		is_clean($node, 't', "$workers workers");
	}
	is($node->safe_psql('postgres', "$spill SET fast_copy.spill = 'offsets'; SELECT fast_copy('t', '$file', workers => 0)"),
		20000, 'offsets alone stay below it');
};

subtest 'a load that waits for a lock hears a timeout' => sub {
	events($node, 't');
	$node->safe_psql('postgres', "CREATE TABLE t_other PARTITION OF t FOR VALUES FROM ('2020-01-01') TO ('2020-01-02')");
	my $holder = start_load($node, "BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(60);\n");
	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE relation = 't'::regclass AND mode = 'AccessExclusiveLock' AND granted"),
		'table is locked');
	my ($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '300ms'; SELECT fast_copy('t', '$file')");
	like($err, qr/statement timeout/, 'timeout');
	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
	finish_load($holder);
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname LIKE 't\\_p%'"), 0,
		'no partition left');
};

# Between the load and its COMMIT the session is idle
subtest 'a transaction that is left idle loses its load' => sub {
	events($node, 't');
	my ($out, $err) = ('', '');
	my $in = "SET idle_in_transaction_session_timeout = '300ms';\nBEGIN;\nSELECT fast_copy('t', '$file', workers => 2);\n";
	my $run = IPC::Run::start([ 'psql', '-X', '-q', '-A', '-t', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out, '2>', \$err, IPC::Run::timeout(60));
	$run->pump until $out =~ /^20000$/m;
	ok(wait_until($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE state = 'idle in transaction'"), 'its session is ended');
	$in .= "COMMIT;\n";
	eval { $run->finish };
	like($err, qr/terminating connection due to idle-in-transaction timeout/, '... as such');
	is_clean($node, 't', 'idle');
};

# The server's user may have no more processes: the postmaster cannot fork
subtest 'a worker that cannot be started is an error at once' => sub {
	my $pid = (split /\n/, slurp_file($node->data_dir . '/postmaster.pid'))[0];
	my $soft = `prlimit --pid $pid --nproc --noheadings --raw -o SOFT`;

	chomp $soft;

	events($node, 't');
	my ($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '20s';
\\! prlimit --pid $pid --nproc=1:
SELECT fast_copy('t', '$file', workers => 2);
\\! prlimit --pid $pid --nproc=$soft:
", on_error_stop => 0);
	like($err, qr/ERROR: +parallel worker failed to initialize/, 'it is told');
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname LIKE 't\\_p%'"), 0, 'no partition left');
	is(scalar(spill_files($node)), 0, 'no spill file');
};

subtest 'after all this the same load works' => sub {
	events($node, 't');
	is($node->safe_psql('postgres', "SELECT fast_copy('t', '$file', workers => 2)"), 20000, 'the load works afterwards');
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname LIKE 't\\_p%'"), 5, 'its partitions');
	is(scalar(spill_files($node)), 0, 'no spill file after success');
};

$node->stop;
done_testing();
