# A load that strace is at: it gives processes errors in the place of system
# calls, or holds them before one.

package Trace;

use strict;
use warnings;
use Exporter 'import';
use Machine;

our @EXPORT = qw(gate at_gate open_gate trace end_trace traced);

my $GATE = 'gate';

# Can this machine do it?
sub why_not
{
	my ($status, $text) = command('strace', '-f', '-q', '-o', "$Machine::DIR/strace", 'true');

	return undef if $status == 0;
	return $status == 127 << 8 ? 'there is no strace' : "strace may not trace here: $text";
}

# A piece of a script, at which the session says who it is, and waits.
sub gate
{
	unlink "$Machine::DIR/$GATE";
	return "SELECT 'leader ' || pg_backend_pid() AS pid \\gset\n\\warn :pid\n\\! while [ ! -e '$Machine::DIR/$GATE' ]; do sleep 0.01; done\n";
}

# The session's process, when it is there
sub at_gate
{
	my ($session) = @_;

	wait_for(60, sub { read_text($session->{out}) =~ /^leader \d+$/m }) or die "no session\n";
	return read_text($session->{out}) =~ /^leader (\d+)$/m ? $1 : die "no session\n";
}

sub open_gate { write_text("$Machine::DIR/$GATE", '') }

# strace at these processes and at all that they start
sub trace
{
	my ($inject, @pids) = @_;
	my ($call) = $inject =~ /^(\w+)/;
	my $trace = start_command('strace', '-f', '-y', '-o', "$Machine::DIR/strace", '-e', "trace=$call", '-e', "inject=$inject",
		map { ('-p', $_) } @pids);

	wait_for(30, sub { (() = read_text($trace->{out}) =~ /attached/g) >= @pids }) or die 'strace: ' . read_text($trace->{out});
	return $trace;
}

# What it held goes on.
sub end_trace
{
	my ($trace) = @_;

	kill 'TERM', $trace->{pid};
	finish_command($trace, 20);
}

# What it has seen up to now
sub traced { return read_text("$Machine::DIR/strace") }

1;
