# What the TAP tests share: nodes, files, loads that wait at a gate.
#
# A gate is a file that a CHECK constraint or an expression index waits for,
# in whichever process evaluates it: the load stands still in a known phase
# until the test opens the gate.

package FastCopy;

use strict;
use warnings;
use Exporter 'import';
use Fcntl ':flock';
use File::Basename;
use File::Find;
use IO::Socket::UNIX;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

our @EXPORT = qw(new_node new_standby needs server_sql refusing_sql write_rows write_bytes events gates open_gate close_gate
  start_load finish_load unsaid wait_until at_gate is_clean is_sound toast_indexes_are_sound
  survives_crash spill_files connection say_to cut_for messages hold release holds crash slurp_log
  page_blocks recipe kill_hard);
our @EXPORT_OK = qw(query failure);

my $loads = 0;
my $standbys = 0;
my ($directory, $first);

# The framework sends to its log what a test dies of; who reads the test's output
# must see it, too.
$SIG{__DIE__} = sub { diag("died: $_[0]") if defined $^S && !$^S };

# Names of tests tell commands, whose files are in another directory each time.
{
	no warnings 'redefine';
	my $ok = \&Test::Builder::ok;

	*Test::Builder::ok = sub {
		@_ = (@_[ 0, 1 ], $_[2] =~ s/\Q$directory\E\///gr) if defined $directory && defined $_[2];
		goto &$ok;
	};
}

# Where FC_INITDB is a directory, initdb runs once for each list of its options,
# there, and each new cluster is a copy of what it has made.  Other files may want the
# same one at that moment.
{
	no warnings 'redefine';
	my $system = \&PostgreSQL::Test::Utils::system_or_bail;

	*PostgreSQL::Test::Utils::system_or_bail = sub {
		my ($program, @options) = @_;
		my ($at) = grep { $options[$_] =~ /^(-D|--pgdata)$/ } 0 .. $#options;

		goto &$system if $program ne 'initdb' || !defined $at || !defined $ENV{FC_INITDB};
		my (undef, $new) = splice(@options, $at, 2);
		my $made = "$ENV{FC_INITDB}/" . join('_', map { s/\W//gr } @options);

		mkdir $ENV{FC_INITDB};
		open(my $lock, '>', "$made.lock") or die "$made.lock: $!";
		flock($lock, LOCK_EX) or die "$made.lock: $!";
		$system->('initdb', @options, '-D', "$made.new"), rename("$made.new", $made) unless -d $made;
		close $lock;
		$system->('cp', '-a', $made, $new);
	};
}

# One directory for all files; known only once the test runs.
sub directory
{
	return $directory //= PostgreSQL::Test::Utils::tempdir();
}

sub gate { return directory() . '/gate' }

# A running node with the extension; more lines for postgresql.conf follow.  Its
# encoding is not that of whoever runs the tests.
sub new_node
{
	my ($name, $init, @conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(%$init, extra => [ '--encoding=UTF8', '--locale=C', @{ $init->{extra} // [] } ]);
	$node->append_conf('postgresql.conf', join("\n",
		'max_worker_processes = 16', 'max_parallel_workers = 8',
		'autovacuum = off', @conf) . "\n");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION fast_copy');
	$first //= $node;
	return $node;
}

# What SQL returns on the first node, and how it fails there
sub query { return $first->safe_psql('postgres', $_[0]) }
sub failure { return ($first->psql('postgres', "\\set VERBOSITY verbose\n$_[0]"))[2] }

# A standby that runs and streams from a node
sub new_standby
{
	my ($node) = @_;
	my $number = $standbys++ || '';
	my $standby = PostgreSQL::Test::Cluster->new("standby$number");

	$node->backup("base$number");
	$standby->init_from_backup($node, "base$number", has_streaming => 1);
	$standby->start;
	return $standby;
}

# Leaves out all tests of a file where an extension is not installed
sub needs
{
	my ($node, $extension) = @_;

	return if $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = '$extension'") ne '0';
	$node->stop;
	plan skip_all => "$extension is not installed";
}

# Makes a server of postgres_fdw for another node, to which all go as one role
sub server_sql
{
	my ($name, $node, $user) = @_;

	return "CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $node->host . "', port '" . $node->port . "', dbname 'postgres');
		CREATE USER MAPPING FOR PUBLIC SERVER $name OPTIONS (user '" . ($user // 'postgres') . "', password_required 'false');";
}

# Makes a trigger of table r that refuses its rows at the end of a transaction,
# as long as there is a row in table refuses
sub refusing_sql
{
	return "CREATE TABLE refuses (n int);
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
			IF EXISTS (SELECT FROM public.refuses) THEN RAISE EXCEPTION 'refused at the end'; END IF;
			RETURN NULL;
		END \$\$;
		CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON r DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()";
}

sub write_bytes
{
	my ($name, $bytes) = @_;
	my $path = directory() . "/$name";

	open(my $out, '>:raw', $path) or die "$path: $!";
	print $out $bytes;
	close $out;
	chmod 0644, $path;
	return $path;
}

# Rows "n,ts,v" over five days, n counting them, days in no order.
sub write_rows
{
	my ($name, $rows) = @_;

	return write_bytes($name, join('', map {
		my $x = $_ * 7919 % 104729;
		sprintf "%d,2013-01-%02d %02d:%02d:%02d,some text of row %d\n",
		  $_, $x % 5 + 1, $x % 24, $x % 60, $x % 59, $_
	} 1 .. $rows));
}

# The table for those rows.
sub events
{
	my ($node, $name, $more) = @_;

	$node->safe_psql('postgres', "DROP TABLE IF EXISTS $name;
		CREATE TABLE $name (n int, ts timestamp, v text " . ($more // '') . ")
		PARTITION BY RANGE (ts)");
}

# The heaps of t and its partitions, their TOAST tables, indexes and visibility
# maps; for nodes with amcheck and pg_visibility.  An index that is not sound is
# an error of psql's, which ends the test.
sub is_sound
{
	my ($node, $what) = @_;
	my $heaps = "SELECT oid FROM pg_class WHERE relkind = 'r' AND relname ~ '^t(_p|\$)'";
	my $toasts = "SELECT reltoastrelid AS oid FROM pg_class WHERE relkind = 'r' AND relname ~ '^t(_p|\$)' AND reltoastrelid <> 0";
	my ($unsound, $visible, $frozen) = split /\n/, $node->safe_psql('postgres', "
		SELECT count(*) FROM ($heaps UNION ALL $toasts) c CROSS JOIN LATERAL verify_heapam(c.oid, check_toast => true);
		SELECT count(*) FROM ($heaps) c CROSS JOIN LATERAL pg_check_visible(c.oid);
		SELECT count(*) FROM ($heaps) c CROSS JOIN LATERAL pg_check_frozen(c.oid);
		SELECT bt_index_check(i.indexrelid, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
		WHERE c.relam = (SELECT oid FROM pg_am WHERE amname = 'btree') AND i.indrelid IN ($heaps UNION ALL $toasts)");

	is($unsound, 0, "$what: heaps are sound");
	is($visible, 0, "$what: what is marked visible is visible");
	is($frozen, 0, "$what: what is marked frozen is frozen");
}

# The indexes of the TOAST tables of t's partitions, for nodes with amcheck;
# also those that have never had an entry.
sub toast_indexes_are_sound
{
	my ($node, $number, $what) = @_;

	is($node->safe_psql('postgres', "SELECT count(*) FROM (SELECT bt_index_check(i.indexrelid, true) FROM pg_class c JOIN pg_index i ON i.indrelid = c.reltoastrelid
		WHERE c.relkind = 'r' AND c.relname LIKE 't\\_p%') x"), $number, "$what: indexes of TOAST tables are sound on " . $node->name);
}

# gate(n) waits where n = 7; as_index(n) is the same for an index.
sub gates
{
	my ($node) = @_;
	my $gate = gate();

	$node->safe_psql('postgres', qq{
		CREATE FUNCTION gate(n int) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS \$\$
		BEGIN
			IF n = 7 THEN
				WHILE (pg_stat_file('$gate', true)).size IS NULL LOOP
					PERFORM pg_sleep(0.01);
				END LOOP;
			END IF;
			RETURN true;
		END \$\$;
		CREATE FUNCTION as_index(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS \$\$
		BEGIN
			PERFORM public.gate(n);
			RETURN n;
		END \$\$});
}

sub open_gate
{
	open(my $f, '>', gate()) or die 'gate: ' . $!;
	close $f;
}

sub close_gate { unlink gate() }

# Runs SQL in a session of its own.
sub start_load
{
	my ($node, $sql) = @_;
	my %load = (out => '', err => '');
	my $script = write_bytes('load' . ++$loads . '.sql', $sql);

	$load{run} = IPC::Run::start(
		[ 'psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1',
		  '-d', $node->connstr('postgres'), '-f', $script ],
		'<', '/dev/null', '>', \$load{out}, '2>', \$load{err},
		IPC::Run::timeout(120));
	return \%load;
}

# Its output and errors, once it has ended.
sub finish_load
{
	my ($load) = @_;

	$load->{run}->finish;
	chomp $load->{out};
	return ($load->{out}, $load->{err});
}

# What psql said, without the lines that loads end with.
sub unsaid
{
	my ($err) = @_;

	return $err =~ s/^.*NOTICE:  (?:00000: )?fast_copy: \d.*(?:\nLOCATION: .*)?(?:\n|\z)//mgr;
}

# Polls a boolean query; false after a while.  What is waited for here comes in
# a few milliseconds, and core's poll_query_until() sleeps for 100.
sub wait_until
{
	my ($node, $sql) = @_;
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;

	while (time < $end)
	{
		# a server that starts lets psql end before it has read: a broken pipe
		my ($rc, $out, $err) = eval { $node->psql('postgres', $sql) };

		return 1 if defined $rc && $rc == 0 && $out eq 't' && $err eq '';
		usleep(10_000);
	}
	diag("it has not become true: $sql");
	return 0;
}

sub at_gate
{
	my ($node) = @_;

	return wait_until($node, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
}

# A load of t, whose checks wait at the gate, has a checkpoint in its middle and
# a crash right after its commit: what it said of its way, and what is there
sub survives_crash
{
	my ($node, $sql, $there, $what) = @_;

	close_gate();
	my $load = start_load($node, "$sql;\n");
	ok(at_gate($node), 'at the gate');
	$node->safe_psql('postgres', 'CHECKPOINT');
	open_gate();
	my ($choice, $err) = finish_load($load);
	is($choice . unsaid($err), 'in key order, page', 'loaded');
	$node->stop('immediate');
	$node->start;
	is($node->safe_psql('postgres', 'SELECT count(*), sum(n) FROM t'), $there, 'all rows survive');
	is_sound($node, $what);
}

# From now on a server waits, as long as a test wants, after it has written
# PREPARE, COMMIT or COMMIT PREPARED: for a standby that there is not.
sub hold
{
	my ($node, $names) = @_;

	$names //= 'nobody';
	$node->safe_psql('postgres', "ALTER SYSTEM SET synchronous_standby_names = '$names';\nSELECT pg_reload_conf()");
	return wait_until($node, "SELECT current_setting('synchronous_standby_names') = '$names'");
}

sub release { my ($node) = @_; return hold($node, '') }
sub holds { my ($node) = @_; return wait_until($node, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'SyncRep'") }

# The commands under a heading of a page in docs/, as pairs: what the block's
# first line says, and its commands
sub page_blocks
{
	my ($page, $heading) = @_;
	my ($part) = slurp_file(dirname(__FILE__) . "/../../docs/$page") =~ /^#+ \Q$heading\E\n(.*?)(?:^#|\z)/ms;

	return $part =~ /^```sql not run: ([^\n]*)\n(.*?)^```$/gms;
}

# The recipes of docs/cluster.md, word for word: only hosts, ports and files are
# others; and a server without fast_copy gets its days by hand.  Returns what was
# printed on the coordinator.
sub recipe
{
	my ($main, @nodes) = @_;
	my %files = (
		readings => write_bytes('readings.csv', join('', map { sprintf("%d,2013-01-0%d %02d:30:00+00,%s\n", $_ % 7, 1 + $_ % 2, $_ % 20, $_ / 4) } 1 .. 4000)),
		visits => write_bytes('visits.csv', join('', map { sprintf("2013-01-0%d %02d:30:00+00,%d,%s\n", 1 + $_ % 2, $_ % 20, $_ % 7, $_ / 4) } 1 .. 4000)));
	my @blocks = (page_blocks('cluster.md', 'From empty servers to a loaded cluster'), page_blocks('cluster.md', 'Spread days over the nodes'));
	my $said = '';

	is(@blocks / 2, 4, 'the blocks of the recipes');
	while (my ($where, $block) = splice(@blocks, 0, 2))
	{
		foreach my $i (0 .. $#nodes)
		{
			my ($host, $port, $number) = ($nodes[$i]->host, $nodes[$i]->port, $i + 1);

			$block =~ s/host 'node$number\.example', port '5432'/host '$host', port '$port'/;
		}
		$block =~ s{/data/(\w+)\.csv}{$files{$1}};
		foreach my $node ($where =~ /node/ ? @nodes : $main)
		{
			my $sql = $block;

			$sql =~ s/CREATE EXTENSION fast_copy;// and $sql .= join('', map { "CREATE TABLE readings_$_ PARTITION OF readings FOR VALUES FROM ('2013-01-0$_') TO ('2013-01-0" . ($_ + 1) . "');" } 1, 2)
				if $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'fast_copy'") eq '0';
			my ($rc, $out, $err) = $node->psql('postgres', "SET timezone = 'UTC';\n$sql", on_error_stop => 1);

			is($rc, 0, 'a block on ' . $node->name) or diag($err);
			$said .= "$out\n" if $node == $main;
		}
	}
	return $said;
}

# Temporary files of the server, those of shared file sets included.
sub spill_files
{
	my ($node) = @_;
	my $dir = $node->data_dir . '/base/pgsql_tmp';
	my @files;

	find(sub { push @files, $File::Find::name if -f $_ }, $dir) if -d $dir;
	return @files;
}

# After a load of "name" failed: nothing of it is left.
sub is_clean
{
	my ($node, $name, $what) = @_;

	ok(wait_until($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'"),
		"$what: no worker left");
	is(scalar(spill_files($node)), 0, "$what: no spill file left");
	# the leader ends after its workers
	ok(wait_until($node, 'SELECT count(*) = 0 FROM pg_stat_progress_copy'), "$what: no progress entry left");
	my ($partitions, $rows) = split /\|/, $node->safe_psql('postgres', "SELECT (SELECT count(*) FROM pg_class WHERE relname LIKE '$name\\_p%'),
		(SELECT count(*) FROM $name)");
	is($partitions, 0, "$what: no partition left");
	is($rows, 0, "$what: no row left");
}

# Kills processes of a server, whose PIDs are words; returns once its postmaster
# knows, which from then on accepts no session before it has started again.
sub kill_hard
{
	my @pids = map { split } @_;

	kill 'KILL', @pids;
	foreach my $pid (@pids)
	{
		for (my $i = 0; $i < 6000 && -d "/proc/$pid"; $i++) { usleep(10_000) }
	}
}

# Kills the process that waits, and with it the server, which starts again
sub crash
{
	my ($node) = @_;
	my ($pid, $start) = split /\|/, $node->safe_psql('postgres', "SELECT max(pid), pg_postmaster_start_time() FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
	my $before = slurp_log($node);

	kill_hard($pid);
	my $end = time + 60;
	select(undef, undef, undef, 0.05) until substr(slurp_log($node), length $before) =~ /database system is ready/ || time > $end;
}

sub slurp_log { my ($node) = @_; return slurp_file($node->logfile) }

# The protocol itself.  Messages are [ type, body ].
sub connection
{
	my ($node) = @_;
	my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $node->host . '/.s.PGSQL.' . $node->port) or die "socket: $!";
	my $start = pack('N', 196608) . join("\0", 'user', scalar(getpwuid($>)), 'database', 'postgres') . "\0\0";

	syswrite($socket, pack('N', length($start) + 4) . $start);
	messages($socket, 'Z');
	return $socket;
}

sub say_to
{
	my ($socket, @messages) = @_;
	my $bytes = join('', map { $_->[0] . pack('N', length($_->[1] // '') + 4) . ($_->[1] // '') } @messages);

	while (length($bytes) > 0)
	{
		my $n = syswrite($socket, $bytes);
		die "write: $!" unless $n;
		substr($bytes, 0, $n) = '';
	}
}

# How many bytes are in a message of a client that gives up in the end.  From 19
# on COPY reads a message ahead where a line begins with fewer bytes than it
# looks through at once, so that the line that it is in depends on where
# messages end.  With a byte in each it is the line of the last byte, as it is
# before 19 with messages of any size.
sub cut_for
{
	my ($node, $size) = @_;

	return $node->pg_version->major < 19 ? $size : 1;
}

sub read_from
{
	my ($socket, $len) = @_;
	my $bytes = '';

	while (length($bytes) < $len)
	{
		local $SIG{ALRM} = sub { die "the server says nothing\n" };
		alarm 60;
		sysread($socket, $bytes, $len - length($bytes), length($bytes)) or die "read: connection closed\n";
		alarm 0;
	}
	return $bytes;
}

# Messages up to one of these types, without those about the session
sub messages
{
	my ($socket, @end) = @_;
	my @messages;

	do
	{
		my ($type, $len) = unpack('aN', read_from($socket, 5));

		push(@messages, [ $type, $len > 4 ? read_from($socket, $len - 4) : '' ]);
	} until grep { $_ eq $messages[-1][0] } @end;
	return grep { $_->[0] !~ /[SRK]/ } @messages;
}

1;
