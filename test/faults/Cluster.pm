# Loads into partitions on three servers, of which one is killed, stopped or
# left without its sessions at a random moment; often while one of them waits
# with what it has to write, so that the moment is one of those that matter.
# In half of the rounds partitions are missing, and made on two of the servers.

package Cluster;

use strict;
use warnings;
use Time::HiRes qw(sleep);
use Machine;
use Server;

my @NAMES = qw(main one two);
my $EACH = 5000;
# missing partitions, which begin behind those that are there
my $NEW = 6;
my $FROM = @NAMES * $EACH;
my $TO = $FROM + $NEW * $EACH;

my %server;
my ($struck, $late) = (0, 0);
my %usual = (old => 0.3, new => 0.5, both => 0.6);

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
	$server{main}->sql('CREATE EXTENSION fast_copy; CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster; CREATE TABLE t (n int, v text) PARTITION BY RANGE (n)');
	foreach my $name (@NAMES)
	{
		my $range = 'FOR VALUES FROM (' . $next++ * $EACH . ') TO (' . $next * $EACH . ')';

		$server{$name}->sql('CREATE TABLE r (n int, v text)');
		$server{main}->sql($name eq 'main' ? "ALTER TABLE t ATTACH PARTITION r $range" :
			"CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$server{$name}{socket}', dbname 'postgres');
			CREATE USER MAPPING FOR PUBLIC SERVER $name OPTIONS (user 'postgres');
			CREATE FOREIGN TABLE t_$name PARTITION OF t $range SERVER $name OPTIONS (schema_name 'public', table_name 'r')");
	}
	# one is sent COPY, and two loads with fast_copy
	$server{two}->sql('CREATE EXTENSION fast_copy');
	my @old = map { $_ * 7919 % $FROM } 1 .. $FROM;
	my @new = map { $FROM + $_ * 7919 % ($NEW * $EACH) } 1 .. $NEW * $EACH;
	my %files = (old => \@old, new => \@new, both => [ map { ($old[ $_ % @old ]) x ($_ < @old), $new[$_] } 0 .. $#new ]);
	write_text("$Machine::DIR/cluster_$_.csv", join('', map { "$_,some text of a row\n" } @{ $files{$_} })) foreach keys %files;
}

# A load of the old partitions, of new ones or of both
sub load
{
	my ($which, $commit) = @_;

	return "SELECT fast_copy('t', '$Machine::DIR/cluster_$which.csv', workers => 1, options => '{\"remote_commit\": \"$commit\"" .
	  ($which eq 'old' ? '' : ', "nodes": ["one", "two"]') . "}'" . ($which eq 'old' ? '' : ", partition_interval => '$EACH'") . ');';
}

sub round
{
	my $commit = pick(qw(two_phase two_phase two_phase auto one_phase));
	my $holding = pick('nobody', 'nobody', @NAMES);
	my $fault = pick('kill', 'kill', 'terminate', 'cancel', 'crash', 'crash', 'stop immediate', 'stop fast');
	my $which = pick('old', 'old', 'new', 'both');
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
	my $session = start_load($which, $commit, $waits ? $holding : undef, $moment);
	my $said = under_fault($session, $fault, $victim, $holding);
	$usual{$which} = 0.8 * $usual{$which} + 0.2 * $session->{seconds} if $said =~ /^committed$/m && $holding eq 'nobody';
	return ("$fault $victim, $which, $commit, " . ($holding eq 'nobody' ? 'nobody waits' : "$holding waits"), wrong($which, $commit, $said));
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

# A load that has come to where a server waits, or has gone on for a while
sub start_load
{
	my ($which, $commit, $holding, $moment) = @_;
	my $session = $server{main}->start_script("\\echo loading\n" . load($which, $commit) . "\n\\echo committed\n");

	wait_for(30, sub { read_text($session->{out}) =~ /^loading$/m });
	if (defined $holding)
	{
		wait_for(5, sub { ($server{$holding}->sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")) > 0 });
	}
	else
	{
		sleep($moment * $usual{$which});
	}
	return $session;
}

# What the session said; all servers are back, and what was left is resolved
sub under_fault
{
	my ($session, $fault, $victim, $holding) = @_;

	strike($fault, $server{$victim}, $victim);
	sleep(0.1);
	$server{$_}->come_back foreach grep { $_ ne 'main' || $victim ne 'main' || $fault =~ /stop|crash|kill/ } @NAMES;
	hold($holding, '');
	my ($status, $said) = finish_command($session, 120);
	die "the session hangs\n" . $server{main}->log_tail if $status < 0;
	$server{$_}->come_back foreach @NAMES;
	$said =~ /^committed$/m ? $late++ : $struck++;
	# what others still do for a session that is gone
	foreach my $name (@NAMES)
	{
		wait_for(10, sub { $server{$name}->sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'fast_copy'") == 0 });
	}
	# several at once must not be in each other's way
	my @others = map { $server{main}->start_script('SELECT * FROM fast_copy_resolve()') } 1 .. between(0, 2);
	$server{main}->sql('SELECT * FROM fast_copy_resolve()');
	finish_command($_, 60) foreach @others;
	$server{main}->sql('SELECT * FROM fast_copy_resolve()') if @others;
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

# All rows or none on all servers; in one phase on each, and in all new partitions
sub wrong
{
	my ($which, $commit, $said) = @_;
	my $old = $which eq 'new' ? 0 : $EACH;
	my %rows = map { $_ => $server{$_}->sql('SELECT count(*) FROM r') } @NAMES;
	my $new = $which eq 'old' ? 0 : $server{main}->sql("SELECT count(*) FROM t WHERE n >= $FROM");
	my %ends = map { $_ => 1 } ($which eq 'new' ? () : map { $_ > 0 } values %rows), $which eq 'old' ? () : $new > 0;
	my $rows = join(', ', (map { "$_ $rows{$_}" } @NAMES), "new $new");
	my @wrong;

	push @wrong, "rows: $rows" if ($commit ne 'one_phase' && keys %ends > 1) || grep { $_ != 0 && $_ != $old } values %rows;
	push @wrong, "rows: $rows" if $new != 0 && $new != $NEW * $EACH;
	push @wrong, "rows: $rows, and the commit was told" if $said =~ /^committed$/m && ((grep { $_ != $old } values %rows) || ($which ne 'old' && $new == 0));
	push @wrong, wrong_tables($commit);
	foreach my $name (@NAMES)
	{
		push @wrong, "$name has prepared transactions" if $server{$name}->sql('SELECT count(*) FROM pg_prepared_xacts');
		push @wrong, map { "in the log of $name: $_" } $server{$name}->errors_in_log;
	}
	push @wrong, 'decisions are left' if $server{main}->sql('SELECT count(*) FROM fast_copy_transactions WHERE server <> 0');
	$server{$_}->sql('TRUNCATE r') foreach @NAMES;
	drop_new();
	my ($status, $text) = finish_command($server{main}->start_script(load($which, 'two_phase')), 60);
	push @wrong, "the next load ends with $text" if $status != 0;
	$rows = $server{main}->sql('SELECT count(*) FROM t');
	push @wrong, "the next load has $rows rows" if $rows != @NAMES * $old + ($which eq 'old' ? 0 : $NEW * $EACH);
	drop_new();
	return @wrong, @wrong ? "the session said: $said" : ();
}

# New partitions are here what is there; in one phase tables may be left that
# nobody reads
sub wrong_tables
{
	my ($commit) = @_;
	my $here = $server{main}->sql("SELECT string_agg(s.srvname || ' ' || split_part(o.o, '=', 2), E'\\n' ORDER BY 1) FROM pg_foreign_table f JOIN pg_foreign_server s ON s.oid = ftserver,
		unnest(ftoptions) o(o) WHERE o LIKE 'table\\_name=t%'");
	my $there = join("\n", sort map { my $name = $_; map { "$name $_" } split(/\n/, $server{$name}->sql(tables())) } 'one', 'two');
	my %here = map { $_ => 1 } split(/\n/, $here);

	$there = join("\n", grep { $here{$_} } split(/\n/, $there)) if $commit eq 'one_phase';
	$here = join("\n", sort keys %here);
	return $here ne $there ? "foreign tables:\n$here\nand tables there:\n$there" : ();
}

# New tables of a server
sub tables { return "SELECT relname FROM pg_class WHERE relname LIKE 't\\_p%' AND relkind = 'r'" }

sub drop_new
{
	my $drop = sub { return "DO \$\$ DECLARE n name; BEGIN FOR n IN $_[0] LOOP EXECUTE 'DROP $_[1] ' || n; END LOOP; END \$\$" };

	$server{main}->sql($drop->("SELECT relname FROM pg_class WHERE relname LIKE 't\\_p%' AND relkind = 'f'", 'FOREIGN TABLE'));
	$server{$_}->sql($drop->(tables(), 'TABLE')) foreach 'one', 'two';
}

sub summary
{
	return "$struck faults came before the end of a load, $late later";
}

1;
