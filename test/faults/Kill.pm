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

sub summary
{
	return "$struck faults came before the end of a load, $late later; at most $orphans files of no table after crashes, as core leaves them";
}

1;
