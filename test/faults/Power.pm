# The power fails: the file system that the data lie on is shut down without
# its log, the server killed, the file system mounted again.  What was not
# synced is lost then, and what was reported as committed must not be.
#
# The file system lies in a file, on a loop device.  It is mounted in a mount
# namespace of ours (test/faults/run makes it), so that nothing is left whatever
# ends us.  What the device itself has got is not lost: the cache of a disk is
# not played here.
#
# Three mutants show that data are lost indeed, and that it would be seen: a
# server that syncs nothing, a fast_copy that does not tell the checkpointer of
# the files that it writes, and one that does not log pages again that a
# checkpoint may have missed.  The moment between the WAL of pages and their write
# is too short to be met by chance: strace holds a process there.

package Power;

use strict;
use warnings;
use Time::HiRes qw(sleep);
use Check;
use Load;
use Machine;
use Server;
use Trace;

# _IOR('X', 125, __u32), that of ext4 and of XFS; no flush of the log
my $SHUTDOWN = 0x8004587D;
my $NOLOGFLUSH = 2;
my $MUTANT_ROUNDS = 3;

my %MKFS = (ext4 => [qw(mkfs.ext4 -q -F -E lazy_itable_init=1)], xfs => [qw(mkfs.xfs -q -f)]);
my @systems;
my %server;
my $usual = 1;
my $lost = 0;

$ENV{PATH} .= ':/usr/sbin:/sbin';

# Can this machine do it?  Tries all that a round needs.
sub why_not
{
	return 'only root can mount' if $> != 0;
	return 'no mount namespace of our own' if ($ENV{FC_MOUNTS} // '') ne 'private';
	my @why;
	foreach my $type (sort keys %MKFS)
	{
		my $why = eval {
			my $disk = new_disk($type);
			cut($disk);
			mount($disk);
			unmount($disk);
			unlink $disk->{image};
			1;
		} ? undef : $@;
		push @systems, $type unless $why;
		push @why, "$type: $why" if $why;
	}
	chomp @why;
	return @systems ? undef : join('; ', @why);
}

# ---- the disk ---------------------------------------------------------------

sub must
{
	my ($status, $text) = command(@_);

	die "@_: $text\n" if $status != 0;
}

sub new_disk
{
	my ($type) = @_;
	my $name = "$Machine::DIR/disk" . ++our $disks;
	my $disk = { type => $type, image => "$name.image", at => $name };

	open(my $image, '>', $disk->{image}) or die "$disk->{image}: $!\n";
	truncate($image, 4 << 30) or die "$disk->{image}: $!\n";
	close($image);
	must(@{ $MKFS{$type} }, $disk->{image});
	mkdir $name or die "$name: $!\n";
	mount($disk);
	return $disk;
}

sub mount
{
	my ($disk) = @_;

	must('mount', '-t', $disk->{type}, '-o', 'loop', $disk->{image}, $disk->{at});
}

sub unmount
{
	my ($disk) = @_;

	wait_for(30, sub { (command('umount', $disk->{at}))[0] == 0 }) or must('umount', $disk->{at});
}

# Nothing that the file system has not yet written will ever be.
sub cut
{
	my ($disk) = @_;

	open(my $root, '<', $disk->{at}) or die "$disk->{at}: $!\n";
	ioctl($root, $SHUTDOWN, my $flags = pack('L', $NOLOGFLUSH)) or die "no shutdown of $disk->{type}: $!\n";
	close($root);
	unmount($disk) unless $disk->{used};
}

# ---- servers on it ----------------------------------------------------------

sub server
{
	my ($level, $type, $mutant) = @_;
	my $name = join(' ', $level, $type, $mutant // '');
	my @conf = $level eq 'minimal' ? ('wal_level = minimal', 'max_wal_senders = 0') : ('wal_level = replica');

	return $server{$name} if $server{$name};
	my $disk = new_disk($type);
	push @conf, 'fsync = off' if ($mutant // '') eq 'fsync';
	my $server = Server->new(at => $disk->{at}, disk => $disk, conf => \@conf,
		$Machine::MUTANT{ $mutant // '' } ? (bin => $Machine::MUTANT{$mutant}) : ())->start->extend;
	$disk->{used} = 1;
	$server->sql('CHECKPOINT');
	must('sync', '-f', $disk->{at});
	return $server{$name} = $server;
}

sub forget
{
	foreach my $server (values %server)
	{
		eval { $server->crash };
		eval { unmount($server->{disk}) };
		unlink $server->{disk}{image};
	}
	%server = ();
}

# The power fails, and comes back.
sub fail
{
	my ($server) = @_;

	cut($server->{disk});
	$server->crash;
	$server->mark_log;
	unmount($server->{disk});
	mount($server->{disk});
	$server->forget_postmaster;
	$server->start;
}

# ---- rounds -----------------------------------------------------------------

sub round
{
	my %plan = (level => pick(qw(replica replica minimal)), type => pick(@systems),
		when => pick(qw(running running ready ready)), checkpoint => chance(0.6), moment => rand(1.2));
	my $load = Load->draw(least => 5, most => 60);
	my $server = server(@plan{qw(level type)});

	return (describe($load, %plan), play($server, $load, %plan));
}

sub describe
{
	my ($load, %plan) = @_;

	return join(', ', $plan{when} eq 'ready' ? 'after the load' : 'in the load', $plan{checkpoint} ? 'checkpoint' : (),
		@plan{qw(level type)}, $load->describe);
}

# Loads, lets the power fail, and returns what is wrong.
sub play
{
	my ($server, $load, %plan) = @_;

	$load->prepare($server);
	my $session = $server->start_script($load->script);
	my $said;
	$said = ended($session) if $plan{when} eq 'ready';
	$said = held($server, $session) if $plan{when} eq 'held';
	$server->sql('CHECKPOINT') if $plan{when} eq 'ready' && $plan{checkpoint};
	sleep_through($server, $session, %plan) unless $said;
	my $broken = eval { fail($server); 1 } ? undef : $@;
	$said //= ended($session);
	return $broken if $broken;
	my @wrong = eval { wrong_after($server, $load, $said, crashed => 1, may_panic => 0) };
	return ($@ ? $@ : (), @wrong);
}

sub ended
{
	my ($session) = @_;
	my ($status, $said) = finish_command($session, 120);

	$usual = 0.8 * $usual + 0.2 * $session->{seconds} if $said =~ /^committed$/m;
	return $said;
}

# The load's process is held when it has logged its first pages and not yet
# written them, until a checkpoint is over.
sub held
{
	my ($server, $session) = @_;
	my $trace = trace('pwrite64:delay_enter=100000000:when=1', at_gate($session));

	open_gate();
	wait_for(30, sub { traced() =~ m{pwrite64\(\d+<[^>]*/base/} }) or die 'no page is written: ' . traced();
	$server->sql('CHECKPOINT');
	die "the process was not held\n" if traced() =~ /DELAYED/;
	end_trace($trace);
	return ended($session);
}

# The moment comes while the load is under way, or a checkpoint, or both.
sub sleep_through
{
	my ($server, $session, %plan) = @_;
	my $seconds = $plan{moment} * $usual;

	wait_for(30, sub { read_text($session->{out}) =~ /^loading$/m });
	sleep($seconds / 2);
	my $checkpoint = start_command($server->psql('-c', 'CHECKPOINT')) if $plan{checkpoint};
	sleep($seconds / 2);
}

# ---- what must fail ---------------------------------------------------------

# Points of what all these builds must do, and of what a mutant must not: its name,
# and what is wrong.
sub fixed
{
	my $why_not = Trace::why_not();
	my @points = ([ 'power, with all syncs: the loads that show a mutant', map { play_plainly(undef, 'ready') } 1 .. 2 ],
		[ 'power, mutant: a server that syncs nothing is noticed', unnoticed('fsync', 'ready') ],
		[ 'power, mutant: files that no checkpoint knows are noticed', unnoticed('request', 'ready') ]);

	return (@points, [ 'power, a process held before its write', { why_not => $why_not } ]) if $why_not;
	return (@points, [ 'power, a process held before its write', map { play_plainly(undef, 'held') } 1 .. 2 ],
		[ 'power, mutant: pages that a checkpoint has missed are noticed each time', map { unnoticed('again', 'held', 1) } 1 .. 2 ]);
}

sub unnoticed
{
	my ($mutant, $when, $rounds) = @_;

	$rounds //= $MUTANT_ROUNDS;
	return 'there is no such build' if $mutant ne 'fsync' && !defined $Machine::MUTANT{$mutant};
	foreach my $round (1 .. $rounds)
	{
		my @wrong = play_plainly($mutant, $when);
		my ($notice) = $mutant eq 'fsync' ? @wrong : grep { /^t holds/ } @wrong;

		next unless defined $notice;
		print "# noticed in round $round: ", $notice =~ s/\n.*//sr, "\n";
		return;
	}
	return "not noticed in $rounds rounds";
}

# A new file, which one checkpoint sees before anything is written to it, and
# the next one when all is: only our own request makes that one sync it.  The
# file's first row, which is in no page on the disk yet, asks for the first of
# them.  Where a process is held, the only checkpoint comes then.
sub play_plainly
{
	my ($mutant, $when) = @_;
	my $load = Load->draw(least => 20, most => 40, plainly => 1);
	my $server = server('replica', $systems[0], $mutant);

	@$load{qw(layout order parts index wrap ending source)} = qw(plain random all none block COMMIT file);
	@$load{qw(unlogged freeze tolerant analyze order_by checkpoint workers ledger replace merge)} = (0) x 10;
	@$load{qw(truncate first_row_checkpoint)} = (1, $when eq 'ready');
	@{ $load->{settings} }{qw(writer io_method)} = qw(page sync);
	$load->{gate} = gate() if $when eq 'held';
	my @wrong = play($server, $load, when => $when, checkpoint => 1);
	forget() if @wrong;
	return @wrong;
}

1;
