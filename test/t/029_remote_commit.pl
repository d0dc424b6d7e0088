# Rows on several servers: what docs/cluster_commit.md promises of their commit,
# word for word, with everything stopped at each point where it may stop.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use IO::Select;
use IO::Socket::UNIX;
use POSIX ();
use Test::More;

my @conf = ('max_prepared_transactions = 20', 'restart_after_crash = on', 'session_preload_libraries = fast_copy');
my $main = new_node('main', { allows_streaming => 1 }, @conf);
needs($main, 'postgres_fdw');
my ($one, $two) = map { new_node($_, { allows_streaming => 1 }, @conf, 'log_statement = all') } 'one', 'two';
# of another cluster, and not a copy of the same one
my $bare = do { local $ENV{FC_INITDB}; delete $ENV{FC_INITDB}; new_node('bare', {}) };

# n from 0 on one, from 100 on two, from 200 here
my $file = write_bytes('rows.csv', join('', map { "$_,x\n" } 0 .. 299));
my $some = write_bytes('some.csv', join('', map { "$_,x\n" } 0 .. 99));
my $ALONE = "SELECT fast_copy('t_alone', '$some', log_verbosity => 'silent');";
my $ALL = '100 100 100';
my $NONE = '0 0 0';

on_main('CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster; CREATE TABLE t (n int, v text) PARTITION BY RANGE (n); CREATE TABLE t_here PARTITION OF t FOR VALUES FROM (200) TO (300)');
foreach my $node ($one, $two, $bare)
{
	$node->safe_psql('postgres', "CREATE TABLE r (n int, v text); " . refusing_sql());
	on_main(server_sql($node->name, $node));
}
on_main("CREATE FOREIGN TABLE t_one PARTITION OF t FOR VALUES FROM (0) TO (100) SERVER one OPTIONS (schema_name 'public', table_name 'r');
	CREATE FOREIGN TABLE t_two PARTITION OF t FOR VALUES FROM (100) TO (200) SERVER two OPTIONS (schema_name 'public', table_name 'r');
	CREATE FOREIGN TABLE t_alone (n int, v text) SERVER one OPTIONS (schema_name 'public', table_name 'r');
	CREATE FOREIGN TABLE t_bare (n int, v text) SERVER bare OPTIONS (schema_name 'public', table_name 'r')");

subtest 'a commit that nothing disturbs' => \&undisturbed;
subtest 'a crash before the decision' => \&crash_before_the_decision;
subtest 'a crash after the decision' => \&crash_after_the_decision;
subtest 'a crash of all during COMMIT PREPARED' => \&crash_of_all;
subtest 'a server that is gone when it should commit' => \&gone_server;
subtest 'a server that does not answer' => \&silent_server;
subtest 'a server that refuses to prepare' => \&refused_prepare;
subtest 'a connection that is lost before the commit' => \&lost_connection;
subtest 'a server that is stopped, or ended, in the stream' => \&in_the_stream;
subtest 'a connection that is cut after so many bytes' => \&cut_connection;
subtest 'an error after all are prepared' => \&error_after_prepare;
subtest 'all that may fail then' => \&late_failures;
subtest 'a decision that was about to be written lazily' => \&lazy_commit;
subtest 'savepoints' => \&savepoints;
subtest 'one phase' => \&one_phase;
subtest 'servers that cannot prepare' => \&bare_server;
subtest 'what the caller may not do' => \&not_allowed;
subtest 'what the log keeps' => \&kept;
$_->stop foreach $main, $one, $two, $bare;
done_testing();

sub on_main { my ($sql) = @_; return $main->safe_psql('postgres', $sql) }

sub load
{
	my ($commit, $path) = @_;

	return "SELECT fast_copy('t', '" . ($path // $file) . "', options => '{\"remote_commit\": \"$commit\"}', log_verbosity => 'silent');";
}

sub clear
{
	$_->safe_psql('postgres', 'TRUNCATE r, refuses') foreach $one, $two, $bare;
	on_main('TRUNCATE t_here');
}

# Rows on one, on two, and here
sub counts
{
	return join(' ', (map { $_->safe_psql('postgres', 'SELECT count(*) FROM r') } $one, $two), on_main('SELECT count(*) FROM t_here'));
}

# Transactions that are prepared on one and on two
sub prepared
{
	return join(' ', map { $_->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts') } $one, $two);
}

sub outcomes { my ($from) = @_; return on_main("SELECT string_agg(server_name || ' ' || outcome, ', ' ORDER BY server_name) FROM $from WHERE outcome <> 'unreachable'") }
sub in_doubt { return outcomes('fast_copy_in_doubt') }
sub resolve { return outcomes('fast_copy_resolve()') }

# Loads until all have prepared and this server waits to write its decision
sub load_until_decided
{
	clear();
	hold($main);
	my $load = start_load($main, load('two_phase'));
	ok(holds($main), 'the server waits with its decision');
	is(prepared(), '1 1', 'all others are prepared');
	return $load;
}

sub undisturbed
{
	foreach my $commit ('auto', 'two_phase', 'one_phase')
	{
		clear();
		is(on_main(load($commit)), 300, $commit);
		is(counts(), $ALL, 'all rows are there');
		is(prepared(), '0 0', 'nothing is left prepared');
		is(in_doubt(), '', 'nor in doubt');
	}
	clear();
	is(on_main('BEGIN; ' . load('two_phase') . ' SELECT count(*) FROM t; COMMIT'), "300\n100", 'remote rows are invisible to your own transaction until commit');
	clear();
	is(on_main('BEGIN; ' . load('two_phase') . load('two_phase', $some) . ' COMMIT'), "300\n100", 'two loads');
	is(counts(), '200 100 100', 'are committed together');
	clear();
	on_main('BEGIN; ' . load('two_phase') . ' ROLLBACK');
	is(counts(), $NONE, 'or not at all');

	# one server has all rows
	clear();
	resolve();
	my $before = slurp_log($one);
	on_main($ALONE);
	like(substr(slurp_log($one), length $before), qr/PREPARE TRANSACTION/, 'auto: in two phases, on one server, too');
	is(counts(), '100 0 0', 'its rows are there');
}

# "Whatever crashes, whenever: once all nodes are up and fast_copy_resolve has
# run, all rows are there or none."
sub crash_before_the_decision
{
	clear();
	hold($two);
	my $load = start_load($main, load('two_phase'));
	ok(holds($two), 'two waits while it prepares');
	is(prepared(), '1 1', 'and has prepared');
	is(in_doubt(), 'one in progress, two in progress', 'the load is in progress');
	is(resolve(), 'one in progress, two in progress', 'nobody ends it');
	is(prepared(), '1 1', 'it goes on');

	my ($xid) = $one->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts') =~ /^fast_copy_\d+_[0-9a-f]{32}_\d+_\d+_(\d+)_[0-9a-f]{16}_\d+$/;
	kill_hard(on_main("SELECT pid FROM pg_stat_activity WHERE wait_event = 'FastCopyNode' OR query LIKE 'SELECT fast_copy(%'"));
	my (undef, $err) = finish_load($load);
	like($err, qr/server closed the connection|terminating connection/, 'this server crashes');
	wait_until($main, 'SELECT true');
	release($two);

	# the XID is not given out again, and would decide nothing
	cmp_ok(on_main('SELECT pg_current_xact_id()'), '>', $xid, 'its XID is not given out once more');
	is(counts(), $NONE, 'no rows can be seen');
	is(in_doubt(), 'one to be rolled back, two to be rolled back', 'they are in doubt');
	is(on_main('BEGIN READ ONLY; SELECT count(*) FROM fast_copy_in_doubt; COMMIT'), 2, 'a look changes nothing');
	is(resolve(), 'one rolled back, two rolled back', 'fast_copy_resolve()');
	is(counts(), $NONE, 'none of the rows is there');
	is(prepared(), '0 0', 'no lock is held');
	is(resolve(), '', 'once is enough');
}

sub crash_after_the_decision
{
	my $load = load_until_decided();

	is(in_doubt(), 'one in progress, two in progress', 'the load is in progress');
	crash($main);
	finish_load($load);
	release($main);
	is(counts(), '0 0 100', 'until then some nodes may show theirs');
	is(in_doubt(), 'one to be committed, two to be committed', 'the others are in doubt');
	my ($rc, $out, $err) = $one->psql('postgres', "SET lock_timeout = '100ms'; BEGIN; LOCK r");
	like($err, qr/lock timeout/, 'and prepared transactions hold locks');

	# with the snapshot of a transaction that does not see the decision
	is(on_main("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;\nSELECT outcome FROM fast_copy_resolve('one'); COMMIT"), "1\ncommitted", 'fast_copy_resolve() of one server');
	is(counts(), '100 0 100', 'has its rows');
	is(resolve(), 'two committed', 'and of all');
	is(counts(), $ALL, 'all rows are there');
	is(prepared(), '0 0', 'no lock is held');
	is(on_main('SELECT count(*) FROM fast_copy_transactions WHERE server <> 0'), 0, 'the decision is not needed any more');
}

sub crash_of_all
{
	my $load = load_until_decided();

	hold($two);
	release($main);
	ok(holds($two), 'two waits while it commits');
	$_->stop('immediate') foreach $main, $one, $two;
	finish_load($load);
	$_->start foreach $main, $one, $two;
	release($two);
	resolve();
	is(counts(), $ALL, 'all rows are there');
	is(prepared(), '0 0', 'nothing is left prepared');
}

sub gone_server
{
	my $load = load_until_decided();

	$two->stop('immediate');
	release($main);
	my ($out, $err) = finish_load($load);
	is($out, 300, 'the load is committed');
	like($err, qr/WARNING:  could not commit the prepared transaction "fast_copy_\w+" on server "two"\n.*DETAIL: .*\n.*HINT:  fast_copy_resolve\(\) does so/s, 'with a WARNING');
	is(on_main("SELECT server_name || ' ' || outcome FROM fast_copy_resolve('two')"), 'two unreachable', 'the server cannot be reached');
	is(on_main("SELECT count(*) FROM fast_copy_transactions WHERE server <> 0"), 2, 'its decision is kept');
	$two->start;
	is(in_doubt(), 'two to be committed', 'it is up again');

	# each load to a server first resolves what is left there
	is(on_main(load('two_phase')), 300, 'another load');
	is(counts(), '200 200 200', 'has ended what the first one could not');
}

sub silent_server
{
	my $load = load_until_decided();

	hold($two);
	release($main);
	ok(holds($two), 'two waits while it commits');
	on_main("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT fast_copy(%' AND pid <> pg_backend_pid()");
	my ($out, $err) = finish_load($load);
	is($out, 300, 'who cancels the wait has committed');
	like($err, qr/WARNING:  could not commit the prepared transaction/, 'and is told what is not known');
	unlike($err, qr/ERROR/, 'no error after the commit');
	release($two);
	resolve();
	is(counts(), $ALL, 'all rows are there');

	# however long it is silent, the wait ends
	$load = load_until_decided();
	my $pid = $two->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE query LIKE 'PREPARE TRANSACTION%' AND pid <> pg_backend_pid()");
	kill 'STOP', $pid;
	my $began = time;
	release($main);
	($out, $err) = finish_load($load);
	cmp_ok(time - $began, '<', 25, 'the wait ends');
	like($err, qr/WARNING:  could not commit the prepared transaction.*on server "two"\nDETAIL:  The server has not answered in time/s, 'with a WARNING');
	is(counts(), '100 0 100', 'the others are committed');
	kill 'CONT', $pid;
	ok(wait_until($two, 'SELECT count(*) = 100 FROM r'), 'it commits once it goes on');
	resolve();
	is(counts(), $ALL, 'all rows are there');
}

sub refused_prepare
{
	clear();
	$two->safe_psql('postgres', 'INSERT INTO refuses VALUES (1)');
	my ($rc, $out, $err) = $main->psql('postgres', load('two_phase'));
	like($err, qr/ERROR:  refused at the end/, 'a deferred constraint trigger');
	unlike($err, qr/WARNING/, 'all others are known to have rolled back');
	is(counts(), $NONE, 'no rows are there');
	is(prepared(), '0 0', 'nothing is left prepared');
	is(on_main('SELECT count(*) FROM fast_copy_transactions WHERE server <> 0 AND gid IN (SELECT gid FROM fast_copy_in_doubt)'), 0, 'nothing is decided');

	# what PostgreSQL does not prepare
	clear();
	$two->safe_psql('postgres', "CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NOTIFY told; RETURN NULL; END'; CREATE TRIGGER tell AFTER INSERT ON r EXECUTE FUNCTION tell()");
	($rc, $out, $err) = $main->psql('postgres', load('auto'));
	like($err, qr/ERROR:  cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY/, 'a trigger there that notifies');
	is(counts() . ', ' . prepared(), "$NONE, 0 0", 'no rows are there');
	is(on_main(load('one_phase')), 300, 'one_phase: loaded');
	$two->safe_psql('postgres', 'DROP TRIGGER tell ON r');
}

sub lost_connection
{
	foreach my $commit ('two_phase', 'one_phase', 'auto')
	{
		clear();
		my ($rc, $out, $err) = $main->psql('postgres', 'BEGIN; ' . load($commit) . "\n\\! psql -X -q -d '" . $two->connstr('postgres') .
			"' -c \"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fast_copy'\"\nCOMMIT");
		like($err, qr/ERROR:  (terminating connection|server closed the connection|cannot commit|.*connection)/, "$commit: an error");
		is($two->safe_psql('postgres', 'SELECT count(*) FROM r'), 0, 'its rows are lost');
		is(counts(), $NONE, 'and so are all others') if $commit ne 'one_phase';
		is(prepared(), '0 0', 'nothing is left prepared');
	}
}

# A load whose server stops reading, or goes
sub in_the_stream
{
	my $large = write_bytes('large.csv', join('', map { $_ % 300 . ',' . 'x' x 100 . "\n" } 1 .. 200_000));
	my $wait = sub { wait_until($two, "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'COPY public.r %'") };
	my $pid = sub { $two->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE query LIKE 'COPY public.r %' AND pid <> pg_backend_pid()") };

	# a lock keeps the COPY from its end
	foreach my $how ('cancel', 'stop', 'terminate', 'kill')
	{
		clear();
		my $lock = IPC::Run::start([ 'psql', '-X', '-q', '-d', $two->connstr('postgres'), '-c', 'BEGIN', '-c', 'LOCK r', '-c', 'SELECT pg_sleep(60)' ], '<', '/dev/null', '>', '/dev/null', '2>', '/dev/null');
		wait_until($two, "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'r'::regclass AND mode = 'AccessExclusiveLock'");
		my $load = start_load($main, load('two_phase', $large));
		ok($wait->(), "$how: it waits for a server that reads nothing");
		select(undef, undef, undef, 0.3);
		my $there = $pid->();
		kill({ stop => 'STOP', terminate => 'TERM', kill => 'KILL' }->{$how}, $there) if $how ne 'cancel';
		on_main("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT fast_copy(%' AND pid <> pg_backend_pid()") if $how =~ /cancel|stop/;
		my ($out, $err) = finish_load($load);
		kill('CONT', $there) if $how eq 'stop';
		like($err, $how =~ /cancel|stop/ ? qr/ERROR:  canceling statement due to user request/ : qr/ERROR: .*(terminat|connection)/, "$how: an error");
		$two->psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'");
		$lock->finish;
		wait_until($two, "SELECT count(*) = 0 FROM pg_locks WHERE relation = 'r'::regclass");
		resolve();
		is(counts(), $NONE, "$how: no rows are there");
	}
	# a line of a node is the line of the file
	clear();
	my $bad = write_bytes('bad.csv', join('', map { ($_ == 777 ? 'x' : $_ % 300) . ",x\n" } 1 .. 100_000));
	my ($rc, $out, $err) = $main->psql('postgres', load('two_phase', $bad));
	like($err, qr/ERROR:  invalid input syntax for type integer: "x"\nCONTEXT:  .*line 777, column n: "x"/, 'a bad line');
	is(counts(), $NONE, 'no rows are there');
}

# What lies between this server and another one, and closes connections once so
# many bytes have come through from here
sub proxy
{
	my ($bytes) = @_;
	my $dir = PostgreSQL::Test::Utils::tempdir_short();
	my $listen = IO::Socket::UNIX->new(Type => IO::Socket::UNIX::SOCK_STREAM(), Local => "$dir/.s.PGSQL." . $two->port, Listen => 5) or die "listen: $!";
	my $pid = fork() // die "fork: $!";

	return ($dir, $pid, $listen) if $pid;
	$SIG{TERM} = sub { POSIX::_exit(0) };
	while (my $client = $listen->accept)
	{
		my $server = IO::Socket::UNIX->new(Type => IO::Socket::UNIX::SOCK_STREAM(), Peer => $two->host . '/.s.PGSQL.' . $two->port) or next;
		my $left = $bytes;
		my $total = 0;
		my $sockets = IO::Select->new($client, $server);

	  FORWARD:
		while (1)
		{
			foreach my $from ($sockets->can_read)
			{
				my $to = $from == $client ? $server : $client;
				my $n = sysread($from, my $buffer, $from == $client && $left < 8192 ? $left : 8192);

				last FORWARD unless $n;
				syswrite($to, $buffer) or last FORWARD;
				next if $from != $client;
				$total += $n;
				$left -= $n;
				last FORWARD if $left <= 0;
			}
		}
		close $client;
		close $server;
		write_bytes('proxied', $total);
	}
	POSIX::_exit(0);
}

sub cut_connection
{
	my $host = $two->host;
	my $through = sub {
		my ($bytes) = @_;
		my ($dir, $pid) = proxy($bytes);

		clear();
		on_main("ALTER SERVER two OPTIONS (SET host '$dir')");
		my ($rc, $out, $err) = $main->psql('postgres', load('two_phase'));
		on_main("ALTER SERVER two OPTIONS (SET host '$host')");
		kill 'TERM', $pid;
		waitpid($pid, 0);
		return ($out, $err);
	};
	my ($out, $err) = $through->(1e9);
	my $total = PostgreSQL::Test::Utils::slurp_file(FastCopy::directory() . '/proxied');
	my %ends;

	is($out, 300, 'nothing is cut');
	# close together where the transaction ends
	foreach my $bytes (map { int } (map { $total * $_ / 8 } 1 .. 7), map { $total - $_ } 500, 400, 350, 300, 250, 200, 150, 100, 50, 20, 6, 5, 1)
	{
		($out, $err) = $through->($bytes);
		wait_until($two, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'fast_copy'");
		resolve();
		my $counts = counts();
		my $said = $out eq '300' ? $ALL : $NONE;

		$ends{$counts} = 1;
		is($counts, $said, "after $bytes of $total bytes: as the load said");
		is(prepared(), '0 0', 'nothing is left prepared');
	}
	is(join(', ', sort keys %ends), "$NONE, $ALL", 'both have been seen');
}

# Serializable transactions fail here after the others have prepared
sub error_after_prepare
{
	clear();
	on_main('CREATE TABLE IF NOT EXISTS s (a int); INSERT INTO s VALUES (1)');
	my ($rc, $out, $err) = $main->psql('postgres', 'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM s; ' . load('two_phase') . " INSERT INTO s VALUES (2);\n" .
		"\\! psql -X -q -d '" . $main->connstr('postgres') . "' -c 'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM s; INSERT INTO s VALUES (3); COMMIT'\nCOMMIT");
	like($err, qr/could not serialize access/, 'it cannot be serialized');
	is(counts(), $NONE, 'no rows are there');
	is(prepared(), '0 0', 'nothing is left prepared');

	# but not because of what others load meanwhile
	clear();
	($rc, $out, $err) = $main->psql('postgres', 'BEGIN ISOLATION LEVEL SERIALIZABLE; ' . load('two_phase') . "\n" .
		"\\! psql -X -q -d '" . $main->connstr('postgres') . "' -c 'BEGIN ISOLATION LEVEL SERIALIZABLE' -c '" . (load('two_phase', $some) =~ s/'/'\\''/gr) . "' -c COMMIT\nCOMMIT");
	is($err, '', 'two serializable loads');
	is(counts(), '200 100 100', 'all of their rows are there');
}

# What docs/cluster_commit.md says can fail between what the nodes do and the
# commit here, with one node and nothing to write here: in two phases nothing is left
# there, in one phase the node has its rows.
sub late_failures
{
	my $psql = "psql -X -q -d '" . $main->connstr('postgres') . "'";
	my %cases = (
		'a callback of postgres_fdw' => [ 'BEGIN; INSERT INTO t_two VALUES (150); LOAD; COMMIT', qr/refused at the end/ ],
		'NOTIFY' => [ "SET lock_timeout = '500ms'; BEGIN; LOAD; NOTIFY late; COMMIT", qr/canceling statement due to lock timeout/ ],
		'ON COMMIT DELETE ROWS' => [ "SET lock_timeout = '500ms'; CREATE TEMP TABLE temp (n int) ON COMMIT DELETE ROWS; SELECT pg_sleep(0.01);\nBEGIN; SELECT count(*) FROM temp; LOAD;\n" .
			"SELECT relnamespace::regnamespace || '.temp' AS temp FROM pg_class WHERE oid = 'temp'::regclass \\gset\n\\setenv TEMP_TABLE :temp\n" .
			"\\! $psql -c \"BEGIN; LOCK TABLE \$TEMP_TABLE IN ACCESS SHARE MODE; SELECT pg_sleep(3)\" >/dev/null 2>&1 &\nSELECT pg_sleep(1);\nCOMMIT", qr/canceling statement due to lock timeout/ ],
		'a serializable transaction' => [ 'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM s; LOAD; INSERT INTO s VALUES (2);' .
			"\n\\! $psql -c 'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM s; INSERT INTO s VALUES (3); COMMIT'\nCOMMIT", qr/could not serialize access/ ]);

	on_main('CREATE TABLE IF NOT EXISTS s (a int)');
	foreach my $commit ('auto', 'one_phase')
	{
		my $load = $ALONE =~ s/silent'\)/silent', options => '{"remote_commit": "$commit"}')/r;

		foreach my $case (sort keys %cases)
		{
			my ($sql, $error) = @{ $cases{$case} };
			my $notify;

			clear();
			$two->safe_psql('postgres', 'INSERT INTO refuses VALUES (1)') if $case =~ /callback/;
			# another session has the lock of all that notify, and waits
			if ($case eq 'NOTIFY')
			{
				hold($main);
				$notify = start_load($main, 'BEGIN; INSERT INTO s VALUES (1); NOTIFY early; COMMIT');
				holds($main);
			}
			my ($rc, $out, $err) = $main->psql('postgres', $sql =~ s/LOAD;/$load/r);
			like($err, qr/ERROR:  .*$error/, "$case, $commit: an error");
			if ($notify)
			{
				release($main);
				finish_load($notify);
			}
			is(counts(), $commit eq 'auto' ? $NONE : '100 0 0', $commit eq 'auto' ? 'no rows are there' : 'the node has its rows');
			is(prepared(), '0 0', 'nothing is left prepared');
		}

		# a cancel while the node is waited for
		clear();
		hold($one);
		my $session = start_load($main, $load);
		holds($one);
		on_main("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT fast_copy(%' AND pid <> pg_backend_pid()");
		wait_until($main, "SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE 'SELECT fast_copy(%' AND pid <> pg_backend_pid()") if $commit eq 'one_phase';
		release($one);
		my (undef, $err) = finish_load($session);
		like($err, qr/ERROR:  canceling statement due to user request/, "a cancel, $commit: an error");
		wait_until($one, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'fast_copy'");
		is(counts(), $commit eq 'auto' ? $NONE : '100 0 0', $commit eq 'auto' ? 'no rows are there' : 'the node has its rows');
		is(prepared(), '0 0', 'nothing is left prepared');
	}
}

sub lazy_commit
{
	clear();
	is(on_main('SET synchronous_commit = off; ' . load('two_phase')), 300, 'it is committed');
	$main->stop('immediate');
	$main->start;
	resolve();
	is(counts(), $ALL, 'all rows are there');
}

sub savepoints
{
	clear();
	on_main('BEGIN; SAVEPOINT a; ' . load('two_phase') . ' ROLLBACK TO a; COMMIT');
	is(counts(), $NONE, 'rolled back');
	on_main('BEGIN; ' . load('two_phase') . ' SAVEPOINT a; ' . load('two_phase') . ' ROLLBACK TO a; ' . load('two_phase', $some) . ' COMMIT');
	is(counts(), '200 100 100', 'rolled back between two that stay');
	clear();
	on_main('BEGIN; SAVEPOINT a; ' . load('two_phase') . ' SAVEPOINT b; ' . load('two_phase') . ' RELEASE b; ROLLBACK TO a; SAVEPOINT c; ' . load('two_phase') . ' RELEASE c; COMMIT');
	is(counts(), $ALL, 'released, and rolled back around that');

	# the error of a load in a block that catches it
	my $bad = write_bytes('bad.csv', "1,x\n150,x\nbad,x\n250,x\n");
	clear();
	on_main("DO \$\$ BEGIN
		PERFORM fast_copy('t', '$some', options => '{\"remote_commit\": \"two_phase\"}', log_verbosity => 'silent');
		FOR i IN 1 .. 3 LOOP
			BEGIN
				PERFORM fast_copy('t', '$bad', options => '{\"remote_commit\": \"two_phase\"}', log_verbosity => 'silent');
			EXCEPTION WHEN invalid_text_representation THEN NULL;
			END;
		END LOOP;
		PERFORM fast_copy('t', '$some', options => '{\"remote_commit\": \"two_phase\"}', log_verbosity => 'silent');
	END \$\$");
	is(counts(), '200 0 0', 'an error that is caught takes its rows with it');
	is(prepared(), '0 0', 'nothing is left prepared');
}

# "As postgres_fdw: a failure during commit can leave some nodes loaded."
sub one_phase
{
	my %left;

	foreach my $refusing ($one, $two)
	{
		clear();
		$refusing->safe_psql('postgres', 'INSERT INTO refuses VALUES (1)');
		my ($rc, $out, $err) = $main->psql('postgres', load('one_phase'));
		like($err, qr/ERROR:  refused at the end/, $refusing->name . ' refuses');
		$left{ counts() } = 1;
	}
	is(join(', ', sort keys %left), '0 0 0, 100 0 0', 'the one that committed first is left loaded');
}

sub bare_server
{
	my $load = "SELECT fast_copy('t_bare', '$some', log_verbosity => 'silent', options => '{\"remote_commit\": \"%s\"}')";

	clear();
	my $before = slurp_log($bare);
	my ($rc, $out, $err) = $main->psql('postgres', "\\set VERBOSITY verbose\n" . sprintf($load, 'two_phase'));
	like($err, qr/ERROR:  55000: rows on server "bare" cannot be committed in two phases\nDETAIL:  The server does not prepare transactions: its max_prepared_transactions is 0\.\nHINT:  Change that, or use remote_commit => 'one_phase'/,
		'two_phase: an error');
	unlike(substr(slurp_log($bare), length $before), qr/COPY/, 'before the first byte');
	($rc, $out, $err) = $main->psql('postgres', sprintf($load, 'auto'));
	is($out, 100, 'auto: loaded');
	like($err, qr/NOTICE:  rows on server "bare" are committed in one phase/, 'and said so');
	($rc, $out, $err) = $main->psql('postgres', sprintf($load, 'one_phase'));
	is("$out $err", '100 ', 'one_phase: no word of it');
	is($bare->safe_psql('postgres', 'SELECT count(*) FROM r'), 200, 'the rows are there');
	($rc, $out, $err) = $main->psql('postgres', 'BEGIN; ' . sprintf($load, 'one_phase') . '; ' . load('two_phase') . ' COMMIT');
	like($err, qr/ERROR:  rows on server "bare" cannot be committed in two phases/, 'two phases after one: an error');

	# without the extension that sends
	on_main('CREATE DATABASE plain');
	my $plain = sub { my ($sql) = @_; return ($main->psql('plain', $sql))[ 1, 2 ] };
	$plain->("CREATE EXTENSION postgres_fdw; CREATE SERVER one FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $one->host . "', port '" . $one->port . "', dbname 'postgres');
		CREATE USER MAPPING FOR PUBLIC SERVER one OPTIONS (user 'postgres'); CREATE FOREIGN TABLE t (n int, v text) SERVER one OPTIONS (schema_name 'public', table_name 'r')");
	($out, $err) = $plain->("COPY t FROM '$some' WITH (FORMAT csv, fast_copy, remote_commit 'two_phase')");
	like($err, qr/ERROR:  option "remote_commit" cannot be used: extension fast_copy_cluster is not created in this database\nHINT:  CREATE EXTENSION fast_copy_cluster\./, 'without the extension: an error');
	($out, $err) = $plain->("COPY t FROM '$some' WITH (FORMAT csv, fast_copy)");
	like($err, qr/NOTICE:  rows are loaded one by one, as COPY does: the target is a foreign table: extension fast_copy_cluster is not created in this database\nHINT:  CREATE EXTENSION fast_copy_cluster\./, 'auto: loaded by core, and said so');
	is($one->safe_psql('postgres', 'SELECT count(*) FROM r'), 100, 'the rows are there');

	# what only core can load, postgres_fdw commits
	on_main("CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER nothing BEFORE INSERT ON t_two FOR EACH ROW EXECUTE FUNCTION nothing()");
	clear();
	($rc, $out, $err) = $main->psql('postgres', load('two_phase'));
	like($err, qr/ERROR:  rows of foreign table "t_\w+" cannot be committed in two phases\nDETAIL:  Rows would be loaded one by one, as COPY does: .*triggers/, 'two_phase where core must load: an error');
	($rc, $out, $err) = $main->psql('postgres', load('auto'));
	is($out, 300, 'auto: loaded');
	on_main('DROP TRIGGER nothing ON t_two');
}

sub not_allowed
{
	clear();
	my ($rc, $out, $err) = $main->psql('postgres', 'BEGIN; ' . load('two_phase') . " PREPARE TRANSACTION 'mine'");
	like($err, qr/ERROR:  cannot PREPARE a transaction that has sent rows to other servers\nHINT:  Use COMMIT\./, 'PREPARE TRANSACTION');
	is(counts(), $NONE, 'no rows are there');
	($rc, $out, $err) = $main->psql('postgres', "SELECT fast_copy('t', '$file', options => '{\"remote_commit\": \"twice\"}')");
	like($err, qr/ERROR:  remote_commit "twice" not recognized\nHINT:  Use remote_commit => 'auto', 'two_phase' or 'one_phase'\./, 'another word');
	($rc, $out, $err) = $main->psql('postgres', 'BEGIN READ ONLY; SELECT * FROM fast_copy_resolve()');
	like($err, qr/cannot execute fast_copy_resolve\(\) in a read-only transaction/, 'fast_copy_resolve() where nothing may be written');
	($rc, $out, $err) = $main->psql('postgres', "SELECT * FROM fast_copy_resolve('nowhere')");
	like($err, qr/server "nowhere" does not exist/, 'fast_copy_resolve() of no server');
}

sub kept
{
	clear();
	on_main(load('two_phase'));
	is(on_main('SELECT count(*) FROM fast_copy_transactions WHERE server <> 0'), 2, 'the decisions of the last load are kept');
	on_main(load('two_phase'));
	is(on_main('SELECT count(*) FROM fast_copy_transactions WHERE server <> 0'), 2, 'until the next one');
	resolve();
	is(on_main('SELECT count(*) FROM fast_copy_transactions WHERE server <> 0'), 0, 'or fast_copy_resolve()');

	# a server that points elsewhere for a while
	my $load = load_until_decided();
	crash($main);
	finish_load($load);
	release($main);
	my $port = $two->port;
	on_main("ALTER SERVER two OPTIONS (SET host '" . $bare->host . "', SET port '" . $bare->port . "')");
	is(resolve(), 'one committed', 'another cluster has prepared nothing');
	on_main("ALTER SERVER two OPTIONS (SET host '" . $two->host . "', SET port '$port')");
	is(resolve(), 'two committed', 'the decision is kept for the right one');
	is(counts(), $ALL, 'all rows are there');
}
