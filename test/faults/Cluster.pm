# Loads into partitions on three servers, of which one is killed, stopped or
# left without its sessions at a random moment; often while one of them waits
# with what it has to write, so that the moment is one of those that matter.

package Cluster;

use strict;
use warnings;
use Time::HiRes qw(sleep);
use Machine;
use Server;

my @NAMES = qw(main one two);
my $EACH = 5000;

my %server;
my ($struck, $late) = (0, 0);
my $usual = 0.3;

sub why_not
{
	my ($status, $text) = command($Machine::BIN . '/pg_config', '--sharedir');

	chomp $text;
	return $status == 0 && -f "$text/extension/postgres_fdw.control" ? undef : 'postgres_fdw is not installed';
}

# One that could not be asked any more is not used again.
sub forget
{
	%server = ();
}

sub start
{
	my $next = 0;

	$server{$_} = Server->new(conf => [ 'wal_level = replica', 'fsync = off', 'max_prepared_transactions = 20' ])->start foreach @NAMES;
	$server{main}->sql('CREATE EXTENSION fast_copy; CREATE EXTENSION postgres_fdw; CREATE TABLE t (n int, v text) PARTITION BY RANGE (n)');
	foreach my $name (@NAMES)
	{
		my $range = 'FOR VALUES FROM (' . $next++ * $EACH . ') TO (' . $next * $EACH . ')';

		$server{$name}->sql('CREATE TABLE r (n int, v text)');
		$server{main}->sql($name eq 'main' ? "ALTER TABLE t ATTACH PARTITION r $range" :
			"CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$server{$name}{socket}', dbname 'postgres');
			CREATE USER MAPPING FOR PUBLIC SERVER $name OPTIONS (user 'postgres');
			CREATE FOREIGN TABLE t_$name PARTITION OF t $range SERVER $name OPTIONS (schema_name 'public', table_name 'r')");
	}
	write_text("$Machine::DIR/cluster.csv", join('', map { $_ * 7919 % (@NAMES * $EACH) . ",some text of a row\n" } 1 .. @NAMES * $EACH));
}

sub round
{
	my $commit = pick(qw(two_phase two_phase two_phase auto one_phase));
	my $holding = pick('nobody', 'nobody', @NAMES);
	my $fault = pick('kill', 'kill', 'terminate', 'cancel', 'crash', 'crash', 'stop immediate', 'stop fast');
	my $victim = pick(@NAMES);
	my $moment = rand();
	my $waits = $holding ne 'nobody' && chance(0.8);

	$victim = 'main' if $fault eq 'cancel';
	start() unless %server;
	foreach my $name (@NAMES)
	{
		$server{$name}->sql('TRUNCATE r');
		$server{$name}->mark_log;
	}
	hold($holding, 'nobody');
	my $said = under_fault($commit, $fault, $victim, $holding, $waits ? undef : $moment * $usual);
	return ("$fault $victim, $commit, " . ($holding eq 'nobody' ? 'nobody waits' : "$holding waits"), wrong($commit, $said));
}

# From now on a server waits before it tells that it has written something
sub hold
{
	my ($name, $whom) = @_;

	return if $name eq 'nobody';
	$server{$name}->sql("ALTER SYSTEM SET synchronous_standby_names = '$whom'");
	$server{$name}->sql('SELECT pg_reload_conf()');
	wait_for(10, sub { $server{$name}->sql('SHOW synchronous_standby_names') eq $whom }) or die "$name does not reload\n";
}

# What the session said; all servers are back, and what was left is resolved
sub under_fault
{
	my ($commit, $fault, $victim, $holding, $moment) = @_;
	my $session = $server{main}->start_script("\\echo loading\nSELECT fast_copy('t', '$Machine::DIR/cluster.csv', workers => 1,
		options => '{\"remote_commit\": \"$commit\"}');\n\\echo committed\n");

	wait_for(30, sub { read_text($session->{out}) =~ /^loading$/m });
	if (defined $moment)
	{
		sleep($moment);
	}
	else
	{
		wait_for(5, sub { ($server{$holding}->sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")) > 0 });
	}
	strike($fault, $server{$victim}, $victim);
	sleep(0.1);
	$server{$_}->come_back foreach grep { $_ ne 'main' || $victim ne 'main' || $fault =~ /stop|crash|kill/ } @NAMES;
	hold($holding, '');
	my ($status, $said) = finish_command($session, 120);
	die "the session hangs\n" . $server{main}->log_tail if $status < 0;
	$server{$_}->come_back foreach @NAMES;
	$said =~ /^committed$/m ? $late++ : $struck++;
	$usual = 0.8 * $usual + 0.2 * $session->{seconds} if $said =~ /^committed$/m && $holding eq 'nobody';
	$server{main}->sql('SELECT * FROM fast_copy_resolve()');
	return $said;
}

# Kills a session of the load, or all of a server
sub strike
{
	my ($fault, $server, $victim) = @_;
	my %title = children($server->{postmaster});
	my @sessions = grep { $title{$_} =~ /\[local\] / } sort keys %title;

	return $server->stop($1) if $fault =~ /^stop (\w+)/;
	return $server->crash if $fault eq 'crash';
	kill({ 'kill' => 'KILL', terminate => 'TERM', cancel => 'INT' }->{$fault}, pick(@sessions)) if @sessions;
}

# All rows or none on all servers; in one phase on each
sub wrong
{
	my ($commit, $said) = @_;
	my %rows = map { $_ => $server{$_}->sql('SELECT count(*) FROM r') } @NAMES;
	my %numbers = map { $_ => 1 } values %rows;
	my $rows = join(', ', map { "$_ $rows{$_}" } @NAMES);
	my @wrong;

	push @wrong, "rows: $rows" if ($commit ne 'one_phase' && keys %numbers > 1) || grep { $_ != 0 && $_ != $EACH } values %rows;
	push @wrong, "rows: $rows, and the commit was told" if $said =~ /^committed$/m && grep { $_ != $EACH } values %rows;
	foreach my $name (@NAMES)
	{
		push @wrong, "$name has prepared transactions" if $server{$name}->sql('SELECT count(*) FROM pg_prepared_xacts');
		push @wrong, map { "in the log of $name: $_" } $server{$name}->errors_in_log;
	}
	push @wrong, 'decisions are left' if $server{main}->sql('SELECT count(*) FROM fast_copy_transactions WHERE server <> 0');
	$server{$_}->sql('TRUNCATE r') foreach @NAMES;
	my ($status, $text) = finish_command($server{main}->start_script("SELECT fast_copy('t', '$Machine::DIR/cluster.csv', options => '{\"remote_commit\": \"two_phase\"}')"), 60);
	push @wrong, "the next load ends with $text" if $status != 0;
	return @wrong, @wrong ? "the session said: $said" : ();
}

sub summary
{
	return "$struck faults came before the end of a load, $late later";
}

1;
