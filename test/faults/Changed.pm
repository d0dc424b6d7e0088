# A source file that changes while it is loaded: at some moment, or when rows of
# it stand at a gate.  The rows are those of the file as it was, or as it is; of
# a file that is written to in place each row is one or the other, as it is with
# COPY; or there is an error.  A file that is appended to, replaced, removed or
# touched is loaded.

package Changed;

use strict;
use warnings;
use Time::HiRes qw(sleep stat utime);
use Check;
use Load;
use Machine;
use Server;

my %CHANGE = (
	'truncated' => \&truncated,
	'appended to' => \&appended,
	'values overwritten' => sub { overwritten($_[0], sub { $_[0] =~ tr/a-m/n-z/r }) },
	'keys overwritten' => sub { overwritten($_[0], sub { $_[0] =~ s/2013-01-0(\d)/'2013-01-0' . (6 - $1)/ger }) },
	'lines overwritten' => sub { overwritten($_[0], sub { $_[0] =~ tr/\n/,/r }) },
	'replaced' => \&replaced,
	'touched' => sub { utime(1, 1, $_[0]) },
	'closed' => sub { chmod(0, $_[0]) },
	'removed' => sub { unlink $_[0] });

my $server;
my $whole;    # the file, as it was
my $usual = 0.15;
my %ended = (committed => 0, refused => 0);

sub forget { undef $server }

sub round
{
	my $change = pick(sort keys %CHANGE);
	my $moment = rand(0.6);
	my $gated = chance(0.6);
	my $load = Load->draw(least => 20, most => 60, plainly => 1);
	# with it, what is appended meanwhile is an error (test/t/044_ledger.pl)
	$load->{ledger} = 0;

	$server //= Server->new(conf => ['fsync = off'])->start->extend;
	$load->{tolerant} = 0;
	$load->{wrap} = 'block' if $load->{wrap} eq 'retry';
	$load->{source} = $load->{source} eq 'packed' ? 'packed' : 'file';
	$load->prepare($server);
	my $path = own_file($load);
	close_gate() if $gated;
	$server->mark_log;
	my $said = while_changing($load, $path, $change, $gated ? undef : $moment);
	chmod(0644, $path);
	my @wrong = wrong_rows($load, $path, $said, $change);
	push @wrong, "it was an error: $said" if $gated && $change !~ /truncated|overwritten/ && $said =~ /changed while|could not open/;
	return ("$change" . ($gated ? ' at a gate, ' : ', ') . $load->describe, @wrong, wrong_with_structures($server), wrong_with_leftovers($server), $server->errors_in_log);
}

# The load's file, as one that nobody else reads
sub own_file
{
	my ($load) = @_;
	my $end = $load->{source} eq 'packed' ? '.gz' : '';
	my $path = "$Machine::DIR/changing.csv";

	$whole = $load->path;
	unlink $path, "$path.gz";
	write_text("$path$end", read_text($load->path . $end));
	$load->{file} = { %{ $load->{file} }, path => $path };
	return "$path$end";
}

sub while_changing
{
	my ($load, $path, $change, $moment) = @_;
	my $session = $server->start_script($load->script);

	wait_for(30, sub { read_text($session->{out}) =~ /^loading$/m });
	if (defined $moment) { sleep($moment * $usual) }
	else { at_gate($session) }
	$CHANGE{$change}->($path);
	write_text("$Machine::DIR/gate", '');
	my ($status, $said) = finish_command($session, 120);
	die "the session hangs\n" . $server->log_tail if $status < 0;
	$usual = 0.5 * $usual + 0.5 * $session->{seconds} if $said =~ /^committed$/m;
	$ended{ $said =~ /ERROR/ ? 'refused' : 'committed' }++;
	return $said;
}

# Some rows wait, in whichever process checks them, for a file to be there.
sub close_gate
{
	my $gate = "$Machine::DIR/gate";

	unlink $gate;
	$server->sql("CREATE FUNCTION faults.gate(n int) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS \$\$ BEGIN
			WHILE n % 5000 = 7 AND (pg_stat_file('$gate', true)).size IS NULL LOOP PERFORM pg_sleep(0.01); END LOOP;
			RETURN true; END \$\$;
		ALTER TABLE faults.t ADD CHECK (faults.gate(n)) NOT VALID");
}

sub at_gate
{
	my ($session) = @_;

	wait_for(60, sub { read_text($session->{out}) =~ /ERROR|committed/
			|| $server->sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") > 0 })
	  or die "nothing comes to the gate\n";
}

# The change may have come before the load opened the file.
sub wrong_rows
{
	my ($load, $path, $said, $change) = @_;
	my @may = $load->may_be($said, 0);
	my $is = join(' ', @{ Load::sum_of($server, 'faults.t') });

	return if grep { $_ eq $is } @may;
	my $now = sum_now($path);
	local $load->{of_file} = $now // $load->{of_file};
	return if $now && grep { $_ eq $is } $load->may_be($said, 0);
	return if $now && $change =~ /overwritten/ && is_of_both();
	return "t holds $is, not " . join(' or ', @may) . ($now ? " (@$now is in the file now)" : '');
}

# Was each row read as it was or as it is?
sub is_of_both
{
	return $server->sql("CREATE TEMP TABLE t (n int, ts timestamp, v text, w text);
		COPY t FROM '$whole' (FORMAT csv); COPY t FROM '$Machine::DIR/changed.csv' (FORMAT csv);
		SELECT count(*) FROM (SELECT n, ts, v, w FROM faults.t WHERE n > 0 EXCEPT TABLE t) x") == 0
	  && $server->sql('SELECT count(n) - count(DISTINCT n) FROM faults.t') == 0;
}

# What COPY makes of the file as it is; nothing if it refuses it.
sub sum_now
{
	my ($path) = @_;

	return unless -f $path;
	my $plain = "$Machine::DIR/changed.csv";
	return if system("gzip -dcf '$path' >'$plain' 2>/dev/null") != 0;
	my $sum = eval { $server->sql("CREATE TEMP TABLE t (n int, ts timestamp, v text, w text); COPY t FROM '$plain' (FORMAT csv);
		SELECT $Load::SUM FROM t") };
	return defined $sum ? [ split(/ /, $sum) ] : undef;
}

# ---- changes ----------------------------------------------------------------

sub truncated
{
	my ($path) = @_;

	truncate($path, int(rand(-s $path))) or die "$path: $!\n";
}

sub appended
{
	my ($path) = @_;

	open(my $out, '>>', $path) or die "$path: $!\n";
	print $out "1000001,2013-01-02 03:04:05,appended,\n" x between(1, 1000);
	close($out);
}

# A part of it, in place; the time of its last change is put back.
sub overwritten
{
	my ($path, $change) = @_;
	my ($accessed, $modified) = (stat($path))[8, 9];
	my $at = int(rand(-s $path));

	open(my $file, '+<:raw', $path) or die "$path: $!\n";
	seek($file, $at, 0);
	read($file, my $bytes, 200000);
	seek($file, $at, 0);
	print $file $change->($bytes);
	close($file);
	utime($accessed, $modified, $path) or die "$path: $!\n";
}

sub replaced
{
	my ($path) = @_;

	write_text("$path.new", read_text($path) =~ s/some text/another text/gr);
	rename("$path.new", $path) or die "$path: $!\n";
}

sub summary
{
	return "$ended{committed} loads were not disturbed, $ended{refused} ended with an error";
}

1;
