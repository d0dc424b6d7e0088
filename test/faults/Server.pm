# One cluster that faults happen to: made, started, killed, asked.

package Server;

use strict;
use warnings;
use Machine;

my $clusters = 0;
my @all;

# A new cluster below "at", not yet started; "conf" are lines of its own.
sub new
{
	my ($class, %self) = @_;
	my $self = $class->attach(%self);

	$self->must('initdb', '-D', $self->{data}, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8',
		'--locale=C.UTF-8', '--no-sync');
	$self->configure('listen_addresses = \'\'', "unix_socket_directories = '$self->{socket}'",
		'autovacuum = off', 'max_worker_processes = 16', 'max_parallel_workers = 8',
		'max_wal_size = 512MB', 'shared_buffers = 64MB', 'restart_after_crash = on',
		"log_line_prefix = '%m [%p] %b '", @{ $self->{conf} // [] });
	return $self;
}

# A cluster whose data directory somebody else makes
sub attach
{
	my ($class, %self) = @_;
	my $number = ++$clusters;
	my $at = $self{at} // $Machine::DIR;
	my $self = bless { %self, data => "$at/data$number", socket => "$Machine::DIR/s$number",
		log => "$Machine::DIR/server$number.log" }, $class;

	mkdir $self->{socket} or die "$self->{socket}: $!\n";
	write_text($self->{log}, '');
	chown((getpwnam($Machine::USER))[2, 3], $at, $self->{socket}, $self->{log}) if $> == 0;
	push @all, $self;
	return $self;
}

sub configure
{
	my ($self, @lines) = @_;

	open(my $out, '>>', "$self->{data}/postgresql.conf") or die "$self->{data}/postgresql.conf: $!\n";
	print $out map { "$_\n" } @lines;
	close($out);
}

# One of the server's programs, which must do what it should.
sub must
{
	my ($self, @command) = @_;
	my ($status, $text) = command($self->programs(@command));

	die "@command: $text" . ($self->{log} && $command[0] eq 'pg_ctl' ? $self->log_tail : '') . "\n" if $status != 0;
	return $text;
}

# The programs of this cluster's installation: that of the mutant, or ours.
sub programs
{
	my ($self, @command) = @_;

	local $Machine::BIN = $self->{bin} // $Machine::BIN;
	return as_user(@command);
}

sub start
{
	my ($self) = @_;

	$self->must('pg_ctl', '-D', $self->{data}, '-l', $self->{log}, '-w', '-t', '120', '-s', 'start');
	$self->{postmaster} = $self->postmaster;
	return $self;
}

sub stop
{
	my ($self, $mode) = @_;

	$self->must('pg_ctl', '-D', $self->{data}, '-m', $mode, '-w', '-t', '120', '-s', 'stop');
}

sub postmaster
{
	my ($self) = @_;

	return read_text("$self->{data}/postmaster.pid") =~ /^(\d+)/ ? $1 : undef;
}

# All of it killed at once, as by the kernel.
sub crash
{
	my ($self) = @_;
	my $postmaster = $self->{postmaster} // return;
	my @pids = ($postmaster, keys %{ { children($postmaster) } });

	kill 'KILL', @pids;
	wait_for(60, sub { gone(@pids) }) or die "processes of the server do not end: @pids\n";
	$self->forget_postmaster;
}

# One that was killed may be nobody's child any more, and looks alive until the
# machine has noticed.
sub forget_postmaster
{
	my ($self) = @_;

	unlink "$self->{data}/postmaster.pid", glob("$self->{socket}/.s.PGSQL.*.lock");
}

# After a fault: the server as it comes back by itself, or is started.  A
# postmaster that was killed this moment may be a while in ending.
sub come_back
{
	my ($self) = @_;
	my $postmaster = $self->{postmaster};
	my @pids = ($postmaster, keys %{ { children($postmaster) } });
	my $started = 0;

	wait_for(120, sub {
		$started++ || $self->start_again(@pids) if gone($postmaster);
		return (command($self->psql('-c', 'SELECT 1')))[0] == 0;
	}) or die "the server did not come back\n" . $self->log_tail;
}

sub start_again
{
	my ($self, @pids) = @_;

	wait_for(60, sub { gone(@pids) }) or die "the postmaster ended, and others did not: @pids\n";
	$self->forget_postmaster;
	$self->start;
}

# What the checks call
sub extend
{
	my ($self) = @_;

	$self->sql('CREATE EXTENSION fast_copy; CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility');
	return $self;
}

# psql as a command
sub psql
{
	my ($self, @args) = @_;

	return ('env', "PGHOST=$self->{socket}", 'PGUSER=postgres', 'PGDATABASE=postgres', 'PGCONNECT_TIMEOUT=10',
		($self->{bin} // $Machine::BIN) . '/psql', qw(-X -q -A -t -v ON_ERROR_STOP=1), @args);
}

# What a script answers; an error of it is ours.
sub sql
{
	my ($self, $sql) = @_;
	my ($status, $text) = command($self->psql('-c', $sql));

	die "$sql: $text\n" if $status != 0;
	chomp $text;
	return $text;
}

# A script in a session of its own
sub start_script
{
	my ($self, $sql) = @_;
	my $path = write_text("$Machine::DIR/script." . ++our $scripts, $sql);
	return start_command($self->psql('-f', $path));
}

# From now on, errors_in_log tells what went wrong.
sub mark_log
{
	my ($self) = @_;

	$self->{mark} = -s $self->{log};
}

# What no fault of ours excuses; a PANIC only if the fault may bring one.
sub errors_in_log
{
	my ($self, $may_panic) = @_;
	my $log = without_cores_own(read_text($self->{log}, $self->{mark} // 0));
	my @lines = grep { /TRAP:|terminated by signal (?:11|7|8|4)\b|invalid page in block|could not access status|conservation|records,? \d+ expected/ } split(/\n/, $log);

	push @lines, grep { /PANIC:/ } split(/\n/, $log) unless $may_panic;
	push @lines, grep { /terminated by signal 6\b/ } split(/\n/, $log) if $log !~ /PANIC:/;
	return @lines;
}

# Did core say that it leaves a temporary file to the next start?
sub could_not_remove
{
	my ($self) = @_;

	return read_text($self->{log}, $self->{mark} // 0) =~ /could not (?:open directory|read directory|stat file|remove file|unlink file|remove directory|rmdir directory) "base\/pgsql_tmp/;
}

# What core's assertions mind of core's own, and no load has a part in.  A leader
# of any parallel query that waits for its workers to end when the postmaster
# dies exits with its transaction open; and an abort that cannot look at a file
# that it is to remove aborts again.
sub without_cores_own
{
	my ($log) = @_;

	foreach my $pid ($log =~ /\[(\d+)\].*FATAL:  postmaster exited during a parallel transaction/g)
	{
		$log =~ s/^TRAP: .*IsTransactionOrTransactionBlock.*"pgstat\.c".*PID: $pid\)?$//m;
	}
	foreach my $pid ($log =~ /\[(\d+)\].*WARNING:  AbortTransaction while in ABORT state/g)
	{
		$log =~ s/^.*\(PID $pid\) was terminated by signal 6\b.*$//m if $log =~ s/^TRAP: .*proc->xid.*"procarray\.c".*PID: $pid\)?$//m;
	}
	return $log;
}

sub log_tail
{
	my ($self) = @_;
	my @lines = split(/\n/, read_text($self->{log}, $self->{mark} // 0));

	splice(@lines, 0, @lines - 30) if @lines > 30;
	return join("\n", map { "log: $_" } @lines) . "\n";
}

# No cluster outlives us.
sub end_all
{
	foreach my $self (@all)
	{
		eval { $self->crash if $self->{postmaster} && -d "/proc/$self->{postmaster}" };
	}
	@all = ();
}

1;
