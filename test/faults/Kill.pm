# Processes killed at a random moment of a random load: by signals, by SQL, by
# stopping the server, and once more while it recovers.

package Kill;

use strict;
use warnings;
use Time::HiRes qw(sleep);
use Check;
use Load;
use Machine;
use Server;
use Trace;

# What a process that is killed may leave in shared memory, where no start of the
# server takes it away: about what core's parallel queries leave
my $MOST_LEFT = 256 * 1024;

# How, and does it end the whole server?
my %FAULT = (
	'kill' => 1,
	'terminate' => 0,
	'cancel' => 0,
	'stop immediate' => 1,
	'stop fast' => 0,
	'recovery' => 1);
my %VICTIM = (
	leader => qr/\[local\] (?!idle)/,
	worker => qr/parallel worker/,
	checkpointer => qr/checkpointer/,
	walwriter => qr/walwriter/,
	'background writer' => qr/background writer/);

my %server;
my ($orphans, $struck, $late) = (0, 0, 0);
my $usual = 0.5;

# A server with full WAL, and one that skips that of new tables
sub server
{
	my ($level) = @_;
	my @conf = $level eq 'minimal' ? ('wal_level = minimal', 'max_wal_senders = 0') : ('wal_level = replica');

	return $server{$level} if $server{$level};
	return $server{$level} = Server->new(conf => [ @conf, 'fsync = off' ])->start->extend;
}

# A server that could not be asked any more is not used again.
sub forget
{
	%server = ();
}

sub round
{
	my $level = pick(qw(replica replica minimal));
	my $fault = pick('kill', 'kill', 'kill', sort keys %FAULT);
	my $victim = pick(qw(leader worker worker postmaster checkpointer walwriter), 'background writer');
	my $moment = rand(0.9);
	my $load = Load->draw;
	my $server = server($level);

	$victim = pick(qw(leader worker)) if $fault =~ /terminate|cancel/;
	$victim = 'leader' if $victim eq 'worker' && $load->{workers} == 0;
	$load->prepare($server);
	my $had = $FAULT{$fault} ? 0 : orphans($server);
	$server->mark_log;
	my $said = under_fault($server, $load, $fault, $victim, $moment * $usual);
	my @wrong = wrong_after($server, $load, $said, crashed => $FAULT{$fault});
	push @wrong, new_orphans($server, $fault, $had);
	return ("$fault" . ($fault =~ /stop|recovery/ ? '' : " $victim") . ", $level, " . $load->describe, @wrong);
}

# Files left by those that had time to remove them are wrong; others are counted.
sub new_orphans
{
	my ($server, $fault, $had) = @_;
	my $have = orphans($server);

	$orphans = $have > $orphans ? $have : $orphans if $FAULT{$fault};
	return !$FAULT{$fault} && $have > $had ? ($have - $had) . ' files are left that belong to no table' : ();
}

# What the session had said when it ended; the server is back.
sub under_fault
{
	my ($server, $load, $fault, $victim, $moment) = @_;
	my $session = $server->start_script($load->script);

	wait_for(30, sub { read_text($session->{out}) =~ /^loading$/m });
	sleep($moment);
	strike($server, $fault, $victim);
	my ($status, $said) = finish_command($session, 120);
	die "the session hangs\n" . $server->log_tail if $status < 0;
	$said =~ /^committed$/m ? $late++ : $struck++;
	$usual = 0.8 * $usual + 0.2 * $session->{seconds} if $said =~ /^committed$/m;
	$server->come_back;
	return $said;
}

sub strike
{
	my ($server, $fault, $victim) = @_;

	return $server->stop($1) if $fault =~ /^stop (\w+)/;
	return strike_twice($server) if $fault eq 'recovery';
	my $pid;
	wait_for(0.5, sub { defined($pid = find($server, $victim)) }) or return;
	kill({ 'kill' => 'KILL', terminate => 'TERM', cancel => 'INT' }->{$fault}, $pid);
}

# All at once, and again when recovery has begun.
sub strike_twice
{
	my ($server) = @_;

	$server->crash;
	my $start = start_command($server->programs('pg_ctl', '-D', $server->{data}, '-l', $server->{log}, '-w', '-s', 'start'));
	wait_for(20, sub { ($server->{postmaster} = $server->postmaster) && -d "/proc/$server->{postmaster}" });
	sleep(rand(0.3));
	$server->crash;
	finish_command($start, 60);
}

sub find
{
	my ($server, $victim) = @_;
	my %title = children($server->{postmaster});

	return $server->{postmaster} if $victim eq 'postmaster';
	my @found = grep { $title{$_} =~ $VICTIM{$victim} } sort keys %title;
	return @found ? pick(@found) : undef;
}

# ---- while shared memory is made ---------------------------------------------

sub fixed
{
	my $name = 'kill, a process that has just got shared memory leaves little of it';
	my $why_not = Trace::why_not();

	return [ $name, $why_not ? { why_not => $why_not } : map { left_in_memory($_) } '', ', fast_copy' ];
}

# Kills a load once for each segment that it makes, when it has the memory of it
# and may not have written it down yet.
sub left_in_memory
{
	my ($option) = @_;
	my $load = Load->draw(least => 40, most => 40, plainly => 1);
	my $server = server('replica');
	my @left;

	@$load{qw(layout index source wrap unlogged freeze tolerant long ending)} = (qw(plain none file auto), (0) x 4, 'COMMIT');
	$load->prepare($server);
	$server->mark_log;
	foreach my $number (1 .. 20)
	{
		my $session = $server->start_script(gate() . "LOAD 'fast_copy'; SET fast_copy.accelerate_copy = on; SET fast_copy.accelerate_min_size = 0;\n"
			  . "SET fast_copy.workers = 2;\n\\copy faults.t from '" . $load->path . "' with (format csv$option)\n");
		my $leader = at_gate($session);
		my $trace = trace("fallocate:delay_exit=100000000:when=$number", $leader);

		open_gate();
		my ($file, $size) = segment_made($session, $number);
		kill 'KILL', $leader if defined $file;
		end_trace($trace);
		finish_command($session, 60);
		$server->come_back;
		last unless defined $file;
		my $left = memory_of($file);
		push @left, "csv$option: segment $number leaves $left of $size bytes" if $left > $MOST_LEFT;
		unlink $file;
	}
	return @left;
}

# File and bytes of the segment of this number, when it has all of them; nothing if
# the session ends before.
sub segment_made
{
	my ($session, $number) = @_;
	my @made;

	wait_for(60, sub { (@made = traced() =~ m{fallocate\(\d+<(/dev/shm/[^>]+)>, 0, 0, (\d+)}g) >= 2 * $number || gone($session->{pid}) });
	return () if @made < 2 * $number;
	wait_for(60, sub { memory_of($made[-2]) >= $made[-1] }) or die "no memory for $made[-2]\n";
	return @made[ -2, -1 ];
}

sub memory_of
{
	my ($file) = @_;
	my @stat = stat($file);

	return @stat ? 512 * $stat[12] : 0;
}

sub summary
{
	return "$struck faults came before the end of a load, $late later; at most $orphans files of no table after crashes, as core leaves them";
}

1;
