# System calls that fail: strace gives the processes of a load an error in the
# place of one call, or of all from one on.  The load must end with an error or
# with the right rows; a PANIC is core's answer where WAL or a sync is hit.

package Syscalls;

use strict;
use warnings;
use Check;
use Load;
use Machine;
use Server;
use Trace;

# By call: up to which one of a process, and the errors.  Of workers too, by
# tracing the postmaster; "leader" are calls that a postmaster cannot do without.
my %CALL = (
	pwrite64 => [ 150, qw(EIO ENOSPC EINTR) ], pwritev => [ 5, qw(EIO ENOSPC) ],
	pread64 => [ 40, qw(EIO EINTR) ], preadv => [ 8, qw(EIO EINTR) ],
	fallocate => [ 8, qw(ENOSPC EOPNOTSUPP EINTR EIO) ], ftruncate => [ 3, qw(EIO ENOSPC) ],
	fsync => [ 8, qw(EIO ENOSPC) ], fdatasync => [ 3, qw(EIO) ],
	io_uring_setup => [ 2, qw(EPERM ENOMEM ENOSYS) ], io_uring_enter => [ 8, qw(EAGAIN EINTR EIO) ],
	openat => [ 150, qw(EIO EMFILE ENOSPC) ]);
my %LEADER = (
	mmap => [ 10, qw(ENOMEM) ], write => [ 10, qw(EIO ENOSPC) ], read => [ 5, qw(EIO) ], lseek => [ 60, qw(EIO) ],
	newfstatat => [ 20, qw(EIO ENOENT) ], fstat => [ 2, qw(EIO) ], ftruncate => [ 4, qw(EIO) ],
	openat => [ 100, qw(EIO EMFILE ENFILE) ], mkdir => [ 1, qw(ENOSPC) ]);

my %server;
my ($met, $rounds) = (0, 0);

sub why_not { return Trace::why_not() }

sub server
{
	my ($level) = @_;
	my @conf = $level eq 'minimal' ? ('wal_level = minimal', 'max_wal_senders = 0') : ('wal_level = replica');

	return $server{$level} //= Server->new(conf => \@conf)->start->extend;
}

sub forget { %server = () }

sub round
{
	my $level = pick(qw(replica replica minimal));
	my $whose = pick(qw(all all leader));
	my $calls = $whose eq 'all' ? \%CALL : \%LEADER;
	my $call = pick(sort keys %$calls);
	my ($most, @errors) = @{ $calls->{$call} };
	my $error = pick(@errors);
	my $when = int(exp(rand(log($most + 1)))) . ($error =~ /EINTR|EAGAIN/ || chance(0.6) ? '' : '+');
	my $load = Load->draw(least => 2, most => 12);
	my $server = server($level);

	$load->prepare($server);
	$server->mark_log;
	my $said = under_errors($server, $load, $whose, "$call:error=$error:when=$when");
	return ("$call of $whose $error at $when, $level, " . $load->describe,
		wrong_after($server, $load, $said, crashed => 1, may_panic => 1,
			# core takes the kernel's word for it that a file is gone
			files_may_stay => $call eq 'newfstatat' && $error eq 'ENOENT'));
}

# What the session had said when it ended; the server is back, nobody traces it.
sub under_errors
{
	my ($server, $load, $whose, $inject) = @_;
	my $session = $server->start_script(gate() . $load->script);
	my $trace = trace($inject, at_gate($session), $whose eq 'all' ? $server->{postmaster} : ());
	open_gate();
	my ($status, $said) = finish_command($session, 120);
	end_trace($trace);
	die "the session hangs\n" . $server->log_tail if $status < 0;
	count_met();
	$server->come_back;
	return $said;
}

sub count_met
{
	$rounds++;
	$met++ if traced() =~ /INJECTED/;
}

sub summary
{
	return "$met of $rounds loads met an error";
}

1;
