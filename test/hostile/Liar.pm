# A server that lies.  It stands before an honest one, passes on what both sides
# say, and once a client has come to a certain step it answers by itself.
#
# The name of the client's application says what it does: "step, behaviour".  A
# step is known by a message of the client's:
#
#   step => [ which connection of that name: 1, 2, ..., what the message is,
#             is the message passed on, whose answer nobody gets then? ]
#
# A behaviour is a list of bytes and words: bytes are sent; "for ever" sends what
# comes after it again and again, "slowly" does so twenty times a second,
# "close" closes the connection.  After the list it says nothing more, and reads
# what comes; but a whole answer is given to each query that follows.

package Liar;

use strict;
use warnings;
use IO::Select;
use IO::Socket::UNIX;
use Time::HiRes qw(time);

use constant CHUNK => 65536;

# A message of the protocol
sub message { my ($type, $body) = @_; return $type . pack('N', length($body) + 4) . $body }
sub ready { return message('Z', 'I') }
sub tag { my ($tag) = @_; return message('C', "$tag\0") }

# An error or a notice
sub report
{
	my ($type, %fields) = @_;

	return message($type, join('', map { "$_$fields{$_}\0" } sort keys %fields) . "\0");
}

# Columns of the names, and a row; undef is NULL
sub columns { return message('T', pack('n', scalar @_) . join('', map { "$_\0" . pack('NnNnNn', 0, 0, 25, 65535, 4294967295, 0) } @_)) }
sub row { return message('D', pack('n', scalar @_) . join('', map { defined $_ ? pack('N', length $_) . $_ : pack('N', 4294967295) } @_)) }

# A test that dies must not leave it behind
my %serving;
END { my $rc = $?; kill 'KILL', grep { $serving{$_} == $$ } keys %serving; $? = $rc }

# Serves until it is killed, or until the test ends: returns the process
sub serve
{
	my ($path, $honest, $steps, $behaviours) = @_;
	my $listen = IO::Socket::UNIX->new(Type => SOCK_STREAM, Local => $path, Listen => 100) or die "listen: $!";
	my $pid = fork() // die "fork: $!";

	if ($pid > 0)
	{
		$serving{$pid} = $$;
		return $pid;
	}
	$SIG{PIPE} = 'IGNORE';
	my $self = { listen => $listen, honest => $honest, steps => $steps, behaviours => $behaviours, at => {}, seen => {} };
	round($self) while 1;
}

sub round
{
	my ($self) = @_;
	my (%seen, @read, @write);

	foreach my $session (grep { !$seen{$_}++ } values %{ $self->{at} })
	{
		push(@read, grep { defined } @{$session}{ 'client', 'server' });
		push(@write, $session->{client}) if length $session->{to_client} || $session->{again} || $session->{closes};
		push(@write, $session->{server}) if $session->{server} && length $session->{to_server};
	}
	my $write = IO::Select->new(@write);
	my ($can_read, $can_write) = IO::Select->select(IO::Select->new($self->{listen}, @read), $write, undef, 0.05);

	foreach my $socket (@{ $can_read // [] })
	{
		$socket == $self->{listen} ? arrive($self) : take($self, $socket);
	}
	foreach my $session (grep { !$seen{"$_ slow"}++ } values %{ $self->{at} })
	{
		next unless $session->{slowly} && time > $session->{next};
		$session->{to_client} .= $session->{slowly};
		$session->{next} = time + 0.05;
	}
	give($self, $_) foreach @{ $can_write // [] };
}

sub arrive
{
	my ($self) = @_;
	my $client = $self->{listen}->accept or return;

	$client->blocking(0);
	$self->{at}{$client} = { client => $client, from_client => '', to_client => '', to_server => '' };
}

sub leave
{
	my ($self, $session) = @_;

	foreach my $socket (grep { defined } @{$session}{ 'client', 'server' })
	{
		delete $self->{at}{$socket};
		close $socket;
	}
}

# What one side says
sub take
{
	my ($self, $socket) = @_;
	my $session = $self->{at}{$socket} or return;
	my $n = sysread($socket, my $bytes, CHUNK);

	return if !defined $n && $!{EAGAIN};
	return leave($self, $session) unless $n;
	if ($socket == $session->{client})
	{
		$session->{from_client} .= $bytes;
		listen_to($self, $session);
	}
	elsif (!$session->{lies})
	{
		$session->{to_client} .= $bytes;
	}
}

# Goes through the messages of a client
sub listen_to
{
	my ($self, $session) = @_;
	my $bytes = \$session->{from_client};

	while (length $$bytes >= 5)
	{
		my ($type, $len) = $session->{name} ? unpack('aN', $$bytes) : ('', unpack('N', $$bytes) - 1);

		last if length $$bytes < $len + 1;
		my $message = substr($$bytes, 0, $len + 1, '');
		$session->{name} //= meet($self, $session, $message);
		my $passed = step($self, $session, $type, substr($message, 5));
		$session->{server} //= connect_honest($self, $session) if $passed;
		$session->{to_server} .= $message if $passed;
	}
}

# The name in a message that begins a connection; a request to cancel has none
sub meet
{
	my ($self, $session, $message) = @_;
	my $name = $message =~ /\0application_name\0([^\0]*)\0/ ? $1 : 'cancel';

	$session->{count} = ++$self->{seen}{$name};
	return $name;
}

sub connect_honest
{
	my ($self, $session) = @_;
	my $server = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $self->{honest}) or die "connect: $!";

	$server->blocking(0);
	$self->{at}{$server} = $session;
	return $server;
}

# Lies from here on, if this is the step.  Is the message passed on?
sub step
{
	my ($self, $session, $type, $body) = @_;
	my ($step, $behaviour) = $session->{name} =~ /^([^,]+), (.+)$/ or return 1;

	if ($session->{lies})
	{
		$session->{to_client} .= $session->{answer} if $session->{answer} && $type eq 'Q';
		return 0;
	}
	foreach my $point (@{ $self->{steps}{$step} // die "no step $step" })
	{
		my ($count, $is, $passed, $as) = @$point;

		next unless $session->{count} == $count && $is->($type, $body);
		$session->{lies} = 1;
		lie($session, @{ $self->{behaviours}{ $as // $behaviour } // die "no behaviour $behaviour" });
		return $passed;
	}
	return 1;
}

sub lie
{
	my ($session, @list) = @_;

	$session->{answer} = $list[-1] if @list && $list[-1] =~ /\Q@{[ready()]}\E\z/;
	while (defined(my $what = shift @list))
	{
		if ($what eq 'for ever') { $session->{again} = shift @list }
		elsif ($what eq 'slowly') { $session->{slowly} = shift @list; $session->{next} = 0 }
		elsif ($what eq 'close') { $session->{closes} = 1 }
		else { $session->{to_client} .= $what }
	}
	$session->{again} = $session->{again} x (1 + int(CHUNK / length $session->{again})) if $session->{again};
}

sub give
{
	my ($self, $socket) = @_;
	my $session = $self->{at}{$socket} or return;
	my $bytes = $socket == $session->{client} ? \$session->{to_client} : \$session->{to_server};

	$$bytes = $session->{again} if $$bytes eq '' && $socket == $session->{client} && $session->{again};
	my $n = $$bytes eq '' ? 0 : syswrite($socket, $$bytes, CHUNK);
	return leave($self, $session) if !defined $n && !$!{EAGAIN};
	substr($$bytes, 0, $n // 0) = '';
	leave($self, $session) if $session->{closes} && $socket == $session->{client} && $$bytes eq '';
}

1;
