# What WAL says of a load: a standby that streams during it, a base backup that
# is taken during it, and recovery to a moment before, in, or after it.

package Standby;

use strict;
use warnings;
use File::Path ();
use Time::HiRes qw(sleep);
use Check;
use Kill;
use Load;
use Machine;
use Server;

my %ROUND = (stream => \&stream, backup => \&backup, recovery => \&recovery);

my ($primary, $standby);
my $archive;
my $usual = 0.5;

sub forget { undef $primary; undef $standby }

sub round
{
	my $what = pick(qw(stream stream backup recovery));
	my $load = Load->draw(least => 5, most => 30);

	start() unless $primary;
	$load->{unlogged} = 0;
	$load->prepare($primary);
	$primary->mark_log;
	my ($how, @wrong) = $ROUND{$what}->($load);
	return ("$how, " . $load->describe, @wrong, map { "in the log: $_" } $primary->errors_in_log, $standby->errors_in_log);
}

sub start
{
	$archive = "$Machine::DIR/archive" . ++our $archives;
	mkdir $archive;
	chown((getpwnam($Machine::USER))[2, 3], $archive) if $> == 0;
	$primary = Server->new(conf => [ 'wal_level = replica', 'fsync = off', 'wal_keep_size = 1GB', 'archive_mode = on',
			"archive_command = 'cp %p $archive/%f'", 'wal_receiver_status_interval = 1' ])->start->extend;
	$standby = copy_of_primary('-R')->start;
}

# A base backup of the primary as it is, not yet started
sub copy_of_primary
{
	my (@options) = @_;
	my $copy = Server->attach;

	$copy->must('pg_basebackup', '-h', $primary->{socket}, '-U', 'postgres', '-D', $copy->{data}, '-c', 'fast', '-X', 'stream', '--no-sync', @options);
	$copy->configure("unix_socket_directories = '$copy->{socket}'", 'archive_mode = off', 'restore_command = \'\'');
	return $copy;
}

sub remove
{
	my ($copy) = @_;

	$copy->crash;
	delete $copy->{postmaster};
	File::Path::remove_tree($copy->{data});
}

sub wrong_on
{
	my ($server, $load, $said) = @_;

	return map { "$server->{data}: $_" } wrong_with_rows($server, $load, $said, 0), wrong_with_structures($server);
}

# ---- a standby --------------------------------------------------------------

# Either of the two may be hit in the load; in the end they are equal.
sub stream
{
	my ($load) = @_;
	my $fault = pick('none', 'kill', 'cancel', 'stop immediate', 'standby');
	my $victim = $fault eq 'cancel' || $load->{workers} == 0 ? 'leader' : pick(qw(leader worker));
	my $session = $primary->start_script($load->script);

	wait_for(30, sub { read_text($session->{out}) =~ /^loading$/m });
	sleep(rand($usual));
	if ($fault eq 'standby') { $standby->crash; $standby->start }
	elsif ($fault ne 'none') { Kill::strike($primary, $fault, $victim) }
	my $said = ended($session);
	$primary->come_back;
	my @wrong = wrong_on($primary, $load, $said);
	catch_up();
	return ("standby, $fault", @wrong, differences($load), wrong_with_leftovers($primary), wrong_with_next_load($primary, $load));
}

sub ended
{
	my ($session) = @_;
	my ($status, $said) = finish_command($session, 120);

	die "the session hangs\n" . $primary->log_tail if $status < 0;
	$usual = 0.8 * $usual + 0.2 * $session->{seconds} if $said =~ /^committed$/m;
	return $said;
}

sub catch_up
{
	my $to = $primary->sql('SELECT pg_current_wal_flush_lsn()');

	wait_for(60, sub { $standby->sql("SELECT pg_last_wal_replay_lsn() >= '$to'") eq 't' }) or die "the standby does not catch up\n" . $standby->log_tail;
}

sub differences
{
	my ($load) = @_;
	my @wrong = map { "standby: $_" } wrong_with_structures($standby);

	foreach my $table (qw(t other rejects))
	{
		my $sums = join(' and ', map { "@{ Load::sum_of($_, qq(faults.$table)) }" } $primary, $standby);

		push @wrong, "$table: $sums on the standby" unless $sums =~ /^(.*) and \1$/;
	}
	return @wrong;
}

# ---- a backup, and recovery -------------------------------------------------

sub backup
{
	my ($load) = @_;
	my $session = $primary->start_script($load->script);

	wait_for(30, sub { read_text($session->{out}) =~ /^loading$/m });
	sleep(rand($usual));
	my $copy = copy_of_primary();
	my $said = ended($session);
	$copy->start;
	# the backup may have ended before the commit
	my @wrong = (wrong_with_structures($copy), grep { !/^\d+ rejects/ } wrong_with_rows($copy, $load, "loading\nending\n"));
	push @wrong, wrong_on($primary, $load, $said), wrong_with_next_load($copy, $load);
	remove($copy);
	return ('backup in the load', @wrong);
}

sub recovery
{
	my ($load) = @_;
	my $copy = copy_of_primary();
	my $to = pick(qw(before before after after inside));
	my $by = $to eq 'inside' ? 'lsn' : pick(qw(lsn time));
	my @lsn = (moment());
	my $said = ended($primary->start_script($load->script));
	push @lsn, moment();

	$primary->sql("CREATE TABLE faults.later (); SELECT pg_switch_wal()");
	my $target = $to eq 'inside' ? inside(@lsn) : $lsn[ $to eq 'after' ]{$by};
	wait_for(60, sub { $primary->sql("SELECT last_archived_wal >= pg_walfile_name('$lsn[1]{lsn}') FROM pg_stat_archiver") eq 't' }) or die "no archive\n";
	write_text("$copy->{data}/recovery.signal", '');
	chown((getpwnam($Machine::USER))[2, 3], "$copy->{data}/recovery.signal") if $> == 0;
	$copy->configure("restore_command = 'cp $archive/%f %p'", "recovery_target_$by = '$target'", 'recovery_target_action = promote');
	$copy->start;
	wait_for(60, sub { $copy->sql('SELECT pg_is_in_recovery()') eq 'f' }) or die "no end of recovery\n" . $copy->log_tail;
	my @wrong = (wrong_with_structures($copy),
		grep { $to ne 'inside' || !/^\d+ rejects/ } wrong_with_rows($copy, $load, { before => '', after => $said, inside => "loading\nending\n" }->{$to}));
	push @wrong, 'recovery went too far' if $copy->sql("SELECT to_regclass('faults.later') IS NOT NULL") eq 't';
	push @wrong, wrong_with_next_load($copy, $load);
	remove($copy);
	return ("recovery to $by $to the load", @wrong);
}

# Where WAL is and what time it is, between two transactions
sub moment
{
	my ($lsn, $time) = split(/\|/, $primary->sql('SELECT pg_current_wal_insert_lsn(), clock_timestamp()'));

	$primary->sql('CREATE TABLE IF NOT EXISTS faults.moment (n int); INSERT INTO faults.moment VALUES (1)');
	return { lsn => $lsn, time => $time };
}

sub inside
{
	my ($from, $to) = @_;

	return $primary->sql("SELECT '$from->{lsn}'::pg_lsn + floor(('$to->{lsn}'::pg_lsn - '$from->{lsn}'::pg_lsn) * " . rand(1) . ')');
}

1;
