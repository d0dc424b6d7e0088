# A client that speaks PostgreSQL's protocol itself: it sends messages ahead of
# their answers, cuts COPY's data as it likes, and sees each field of an error.

use strict;
use warnings;
use IO::Select;
use IO::Socket::UNIX;

my $SECONDS = 90;    # after which a server that says nothing hangs

sub message { my ($type, $body) = @_; return $type . pack('N', length($body // '') + 4) . ($body // '') }
sub query_message { my ($bytes) = @_; return message('Q', "$bytes\0") }

# Parse, Bind, Describe and Execute of one command
sub extended_messages
{
	my ($bytes) = @_;

	return message('P', "\0$bytes\0\0\0") . message('B', "\0\0" . pack('n3', 0, 0, 0)) . message('D', "P\0") . message('E', "\0" . pack('N', 0));
}

sub wire_connect
{
	my ($database) = @_;
	my $path = ($ENV{PGHOST} // '/var/run/postgresql') . '/.s.PGSQL.' . ($ENV{PGPORT} // 5432);
	my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $path) or die "$path: $!\n";
	my $start = pack('N', 196608) . join("\0", 'user', $ENV{PGUSER} // scalar(getpwuid($>)), 'database', $database) . "\0\0";

	my ($said) = wire_exchange($socket, pack('N', length($start) + 4) . $start, sub { $_[0] =~ /^[ZE]/ });
	die "connection refused: @$said\n" unless @$said && $said->[-1] =~ /^Z/;
	return $socket;
}

# Sends bytes, and reads messages until "last" is true of one.  Returns them as
# lines of text, and "gone" or "silent" if the last one never came.
sub wire_exchange
{
	my ($socket, $bytes, $last) = @_;
	my $select = IO::Select->new($socket);
	my ($in, $from, @said) = ('', 0);

	$socket->blocking(0);
	local $SIG{PIPE} = 'IGNORE';
	while (1)
	{
		my ($readable, $writable) = IO::Select->select($select, length($bytes) ? $select : undef, undef, $SECONDS);

		return (\@said, 'silent') unless defined $readable;
		if (@$writable)
		{
			my $n = syswrite($socket, $bytes, 65536);
			substr($bytes, 0, $n) = '' if $n;
		}
		next unless @$readable;
		my $n = sysread($socket, $in, 65536, length($in));
		return (\@said, 'gone') if defined $n ? $n == 0 : !$!{EAGAIN};
		while (length($in) - $from >= 5)
		{
			my ($type, $len) = unpack('aN', substr($in, $from, 5));

			last if length($in) - $from < $len + 1;
			push @said, wire_text($type, substr($in, $from + 5, $len - 4));
			$from += $len + 1;
			return (\@said) if @said && $last->($said[-1]);
		}
		$in = substr($in, $from), $from = 0 if $from;
	}
}

# A message as text; of an error all but where in the source it was thrown
sub wire_text
{
	my ($type, $body) = @_;

	return () if $type =~ /[SKR]/;
	return $type if $type eq 'T';
	return join("\n  ", $type, grep { !/^[FLR]/ } split(/\0/, $body)) if $type =~ /[EN]/;
	return "D " . join(' | ', map { $_ // 'NULL' } row_values($body)) if $type eq 'D';
	return "$type " . ($type =~ /[CZ]/ ? $body =~ s/\0//r : unpack('H*', $body));
}

sub row_values
{
	my ($body) = @_;
	my $at = 2;

	return map {
		my $len = unpack('l>', substr($body, $at, 4));
		my $value = $len < 0 ? undef : substr($body, $at + 4, $len);
		$at += 4 + ($len < 0 ? 0 : $len);
		$value
	} 1 .. unpack('n', $body);
}

1;
