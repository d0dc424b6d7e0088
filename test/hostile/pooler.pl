# pgbouncer in transaction mode, with one connection for each role: what clients
# share, what they must not rely on, and that neither a cancel nor a client that
# is lost leaves anything behind.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my ($pgbouncer) = grep { -x } map { "$_/pgbouncer" } split(/:/, $ENV{PATH}), '/usr/sbin';
plan skip_all => 'pgbouncer is not installed' if !defined $pgbouncer;
plan skip_all => 'pgbouncer does not run as root' if $> == 0;

my $node = new_node('main', {}, "session_preload_libraries = 'fast_copy'", 'fast_copy.accelerate_min_size = 0');
my $me = getpwuid($>);
my $port = PostgreSQL::Test::Cluster::get_free_port();
my $socket = PostgreSQL::Test::Utils::tempdir_short();
my $rows = write_rows('rows.csv', 4000);
my $pool = start_pgbouncer();

gates($node);
events($node, 't');
$node->safe_psql('postgres', 'CREATE ROLE other LOGIN; GRANT pg_read_server_files TO other; ALTER ROLE other SET fast_copy.workers = 3; CREATE TABLE o (n int, ts timestamp, v text); ALTER TABLE o OWNER TO other');

subtest 'one transaction is one connection' => \&one_transaction;
subtest 'what is kept in the session is shared by the clients of a role' => \&shared_sessions;
subtest 'NOTICEs come through' => \&notices;
subtest 'data of the client come through, by either kind of COPY' => \&client_data;
subtest 'a cancel reaches the load' => \&a_cancel;
subtest 'a client that is lost leaves nothing' => \&a_lost_client;
ok($pool->pumpable, 'the pooler is alive');
$pool->signal('INT');
$pool->finish;
$node->stop;
done_testing();

sub start_pgbouncer
{
	my $users = write_bytes('users.txt', qq{"$me" ""\n"other" ""\n});
	my $conf = write_bytes('pgbouncer.ini', "[databases]\npostgres = host=" . $node->host . ' port=' . $node->port . "
[pgbouncer]
listen_addr =
listen_port = $port
unix_socket_dir = $socket
auth_type = trust
auth_file = $users
admin_users = $me
pool_mode = transaction
default_pool_size = 1
");
	my $log = '';
	my $run = IPC::Run::start([ $pgbouncer, $conf ], '<', '/dev/null', '>', \$log, '2>', \$log);

	foreach (1 .. 1000)
	{
		return $run if -S "$socket/.s.PGSQL.$port";
		select(undef, undef, undef, 0.02);
		$run->pump_nb;
	}
	die "pgbouncer does not start: $log\n";
}

sub psql_command
{
	my ($role) = @_;

	return ('psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-v', 'VERBOSITY=verbose', '-h', $socket, '-p', $port, '-U', $role, '-d', 'postgres');
}

# Output and errors of a client of the pooler, without the last line of a load
sub client
{
	my ($out, $err) = told(@_);

	return ($out, unsaid($err));
}

# With it
sub told
{
	my ($sql, $role) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run([ psql_command($role // $me) ], '<', \$sql, '>', \$out, '2>', \$err, IPC::Run::timeout(60));
	chomp $out;
	return ($out, $err);
}

sub one_transaction
{
	my ($out, $err) = client("BEGIN; SET LOCAL fast_copy.workers = 0; SELECT fast_copy('t', '$rows');
		SELECT rows, processes FROM fast_copy_report() WHERE phase = 'total'; COMMIT; SHOW fast_copy.workers");
	is("$out$err", "4000\n4000|1\n-1", 'SET LOCAL, the load, its report');
	($out, $err) = client("BEGIN; SELECT fast_copy('t', '$rows'); ROLLBACK; SELECT count(*) FROM t");
	is("$out$err", "4000\n4000", 'ROLLBACK takes the load back');
}

sub shared_sessions
{
	my ($mine) = client("SELECT fast_copy('t', '$rows', where_clause => 'n <= 10')");
	my $report = "SELECT rows FROM fast_copy_report() WHERE phase = 'total'";

	is($mine, 10, 'one client loads');
	is((client($report))[0], 10, '... and the report of another tells of that load');
	is((client($report, 'other'))[0], '', '... but not that of another role');
	client('SET fast_copy.max_partitions = 7');
	is((client('SHOW fast_copy.max_partitions'))[0], 7, 'so SET is for whoever comes next');
	is((client('RESET fast_copy.max_partitions; SHOW fast_copy.max_partitions'))[0], 3660, '... until it is reset');
	is((client('SHOW fast_copy.workers', 'other'))[0], 3, 'ALTER ROLE ... SET holds for all of the role');
	is((client('SELECT count(DISTINCT pg_backend_pid()) FROM fast_copy_report(); DISCARD ALL'))[1], '', 'DISCARD ALL');
	is((client($report))[0], '', '... forgets the report');
}

sub notices
{
	my ($out, $err) = told("SELECT fast_copy('t', '$rows', progress => true)");

	like($err, qr/NOTICE:  00000: fast_copy.* 4,?000 rows/, 'the last line of progress');
	is($out, 4000, 'and the answer');
}

sub client_data
{
	my $data = slurp_file($rows);

	foreach my $options ('(FORMAT csv, fast_copy)', '(FORMAT csv)')
	{
		my ($out, $err) = client("TRUNCATE t; BEGIN; SET LOCAL fast_copy.accelerate_copy = on; COPY t FROM STDIN $options;\n$data\\.\nSELECT choice FROM fast_copy_report() WHERE choice LIKE 'core%'; COMMIT; SELECT count(*) FROM t");
		is("$out$err", 4000, "COPY FROM STDIN $options");
	}
	my ($out, $err) = client("TRUNCATE t;\n\\copy t from '$rows' with (format csv, fast_copy, workers 2)\nSELECT count(*) FROM t");
	is("$out$err", 4000, '\copy');
	($out, $err) = client("COPY t FROM STDIN (FORMAT csv, fast_copy);\n1,2013-01-01,a\nx,2013-01-01,b\n\\.\n");
	like($err, qr/ERROR:  22P02: invalid input syntax for type integer: "x".*line 2, column n/s, 'an error');
	is((client('SELECT count(*) FROM t'))[0], 4000, '... and the next client');
}

# All processes of the load wait, or may be met at work.
sub a_cancel
{
	events($node, 't', ', CHECK (gate(n))');
	close_gate();
	my ($out, $err) = ('', '');
	my $run = IPC::Run::start([ psql_command($me), '-c', "SELECT fast_copy('t', '$rows')" ], '<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(60));
	ok(at_gate($node), 'the load is at the gate');
	$run->signal('INT');
	$run->finish;
	like($err, qr/57014: canceling statement due to user request/, 'it is cancelled');
	is_clean($node, 't', 'cancelled');
	open_gate();
	is((client("SELECT fast_copy('t', '$rows')"))[0], 4000, 'the next client loads');
}

sub a_lost_client
{
	events($node, 't');
	my ($out, $err, $in) = ('', '', "COPY t FROM STDIN (FORMAT csv, fast_copy);\n" . slurp_file($rows));
	my $run = IPC::Run::start([ psql_command($me) ], '<', \$in, '>', \$out, '2>', \$err, IPC::Run::timeout(60));
	$run->pump while length $in;
	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'COPY t FROM STDIN%' AND state = 'active'"), 'data are being sent') or diag($err);
	$run->kill_kill;
	ok(wait_until($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE 'COPY t FROM STDIN%' AND state = 'active'"), 'the load ends when its client is lost');
	is_clean($node, 't', 'lost');
	is((client("SELECT fast_copy('t', '$rows')"))[0], 4000, 'the next client loads');

	# one that only waits
	events($node, 't', ', CHECK (gate(n))');
	close_gate();
	($out, $err) = ('', '');
	$run = IPC::Run::start([ psql_command($me), '-c', "SET client_connection_check_interval = '50ms'", '-c', "SELECT fast_copy('t', '$rows')" ], '<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(60));
	ok(at_gate($node), 'the load is at the gate');
	$run->kill_kill;
	is_clean($node, 't', 'lost at the gate');
	open_gate();
}
