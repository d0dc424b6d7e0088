# What faults need of the machine: commands as the server's user, chance that
# can be repeated, processes.

package Machine;

use strict;
use warnings;
use Exporter 'import';
use POSIX ();
use Time::HiRes qw(sleep time);

our @EXPORT = qw(as_user command start_command finish_command pick chance between
  wait_for children gone read_text write_text);

our ($BIN, $USER, $DIR, %MUTANT);

# The command, run as the user that the server runs as, with its programs.
sub as_user
{
	my @command = ('env', "PATH=$BIN:$ENV{PATH}", "HOME=$DIR", @_);

	return $> == 0 ? ('runuser', '-u', $USER, '--', @command) : @command;
}

# Exit status and output of a command; nothing is thrown.
sub command
{
	my $running = start_command(@_);

	return finish_command($running, 300);
}

# A command in the background, whose output goes to a file.
sub start_command
{
	my @command = @_;
	my $out = "$DIR/out." . ++our $commands;
	my $pid = fork() // die "fork: $!\n";

	if ($pid == 0)
	{
		open(STDIN, '<', '/dev/null');
		open(STDOUT, '>', $out);
		open(STDERR, '>&', \*STDOUT);
		exec { $command[0] } @command or POSIX::_exit(127);
	}
	return { pid => $pid, out => $out, since => time };
}

# Its exit status and output; one that hangs is killed, and its status is -1.
sub finish_command
{
	my ($running, $timeout) = @_;
	my $status;

	my $ended = wait_for($timeout, sub {
		my $pid = waitpid($running->{pid}, POSIX::WNOHANG);
		$status = $? if $pid == $running->{pid};
		return $pid != 0;
	});
	kill('KILL', $running->{pid}), waitpid($running->{pid}, 0), $status = -1 unless $ended;
	$running->{seconds} = time - $running->{since};
	my $text = read_text($running->{out});
	unlink $running->{out};
	return ($status // -1, $text);
}

# Polls until it is true; false if it has not become so.
sub wait_for
{
	my ($timeout, $true) = @_;
	my $end = time + $timeout;
	my $pause = 0.002;

	until ($true->())
	{
		return 0 if time > $end;
		sleep($pause);
		$pause *= 1.3 if $pause < 0.1;
	}
	return 1;
}

sub pick { return $_[ int(rand(@_)) ] }
sub chance { return rand() < $_[0] }
sub between { return $_[0] + int(rand($_[1] - $_[0] + 1)) }

# Title by process, of those that a process has started.
sub children
{
	my ($parent) = @_;
	my %title;

	foreach my $stat (glob('/proc/[0-9]*/stat'))
	{
		my ($pid) = $stat =~ m{(\d+)/stat};
		my ($state, $ppid) = read_text($stat) =~ /.*\) (\S) (\d+)/s or next;
		next if $ppid != $parent || $state eq 'Z';
		$title{$pid} = read_text("/proc/$pid/cmdline") =~ s/\0.*//sr;
	}
	return %title;
}

# Have these processes ended?
sub gone
{
	return !grep { (read_text("/proc/$_/stat") =~ /.*\) (\S)/s ? $1 : 'Z') !~ /[ZX]/ } @_;
}

# A file's content; empty if there is none.
sub read_text
{
	my ($path, $from) = @_;

	open(my $in, '<:raw', $path) or return '';
	seek($in, $from, 0) if $from;
	local $/;
	return scalar(<$in>) // '';
}

sub write_text
{
	my ($path, $text) = @_;

	open(my $out, '>:raw', $path) or die "$path: $!\n";
	print $out $text;
	close($out) or die "$path: $!\n";
	chmod 0644, $path;
	return $path;
}

1;
