# Sessions that read and write a table while a load attaches partitions to it: which
# locks are held at each moment, who waits, and that the load gives way.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy qw(:DEFAULT query failure);
use PostgreSQL::Test::Utils;
use Test::More;

# Who waits for ever fails: nothing here takes a part of this time
my $node = new_node('main', { allows_streaming => 1 }, "timezone = 'UTC'", "deadlock_timeout = '100ms'", "statement_timeout = '60s'");

gates($node);

# Day 1 is there, with rows, and so is a default partition; the file has days 1 to 4
my $file = write_bytes('days.csv', join('', map { sprintf "%d,2013-01-%02d,new\n", $_, $_ % 4 + 1 } 0 .. 99));
my $load = "SET statement_timeout = 0; SELECT fast_copy('t', '$file', workers => 0, partition_interval => '1 day')";
my $name = "application_name = 'load'";
my @PRUNES = ("SELECT count(*) FROM t WHERE ts = '2013-01-01'", "UPDATE t SET v = 'x' WHERE ts = '2013-01-01' AND n = -1", "INSERT INTO t VALUES (-1, '2013-01-01', 'old')");
my @USES = ('SELECT count(*) FROM t WHERE n = -1', "INSERT INTO t VALUES (-1, '1999-01-01', 'old')");

sub prepare
{
	my ($more) = @_;

	open_gate();
	events($node, 't', $more);
	query("CREATE TABLE t_first PARTITION OF t FOR VALUES FROM ('2013-01-01') TO ('2013-01-02'); CREATE TABLE t_rest PARTITION OF t DEFAULT;
		INSERT INTO t SELECT -1, d, 'old' FROM unnest('{2013-01-01,1999-01-01}'::timestamp[]) d");
}

# Begins a load of that name
sub begin
{
	my ($more) = @_;

	return start_load($node, "SET $name;\n" . ($more // '') . "$load;\n");
}

# The modes in which the load has the table locked, but for that of readers; and those that it waits for
sub locks
{
	my ($table, $granted) = @_;

	return query("SELECT string_agg(DISTINCT mode, ' ' ORDER BY mode) FROM pg_locks JOIN pg_stat_activity USING (pid)
		WHERE $name AND relation = '$table'::regclass AND mode <> 'AccessShareLock' AND " . ($granted // 1 ? 'granted' : 'NOT granted'));
}

sub waits_for
{
	my ($table) = @_;

	return wait_until($node, "SELECT count(*) > 0 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE $name AND relation = '$table'::regclass AND NOT granted");
}

# All of them end, whatever the load does
sub go_on
{
	my ($what, @statements) = @_;

	is(failure("BEGIN; $_; ROLLBACK") =~ s/NOTICE.*\n//r, '', "$what: $_") foreach @statements;
}

# A session that has used a table, and is in its transaction
sub busy_with
{
	my ($sql) = @_;
	my $session = $node->background_psql('postgres');

	$session->query_safe('BEGIN');
	$session->query_safe($sql);
	return $session;
}

sub leave
{
	my ($session) = @_;

	$session->query_safe('COMMIT');
	$session->quit;
}

sub is_loaded
{
	my ($run, $what) = @_;
	my ($out, $err) = finish_load($run);

	is($out, 100, "$what: it loads") or diag($err);
	is(query("SELECT count(*) FILTER (WHERE v = 'new'), count(DISTINCT tableoid) FROM t"), '100|5', "$what: all rows");
}

subtest 'while rows are loaded' => sub {
	prepare(', CHECK (gate(n))');
	close_gate();
	my $run = begin();
	ok(at_gate($node), 'it is at the gate');
	is(locks('t'), 'RowExclusiveLock ShareUpdateExclusiveLock', 'the table');
	is(locks('t_first'), 'RowExclusiveLock', 'a partition that gets rows');
	is(locks('t_rest'), '', 'the default partition');
	is(locks($_, 0), '', "it waits for no lock of $_") foreach qw(t t_first t_rest);
	go_on('beside it', @PRUNES, @USES);
	open_gate();
	is_loaded($run, 'then');
};

# In a queue for the default partition
subtest 'while the default partition is in use' => sub {
	foreach my $sql (@USES)
	{
		prepare();
		my $busy = busy_with($sql);
		my $run = begin();
		ok(waits_for('t_rest'), "$sql: the load waits");
		is(locks('t'), 'RowExclusiveLock ShareUpdateExclusiveLock', 'the table meanwhile');
		go_on('they do not stand behind the load', @PRUNES);
		go_on('nor for long', @USES, @USES);
		ok(waits_for('t_rest'), 'the load still waits');
		is(locks('t_rest'), '', 'and has nothing of it');
		leave($busy);
		is_loaded($run, 'when it is free');
	}
};

subtest 'a lock that is not to be had' => sub {
	prepare();
	my $busy = busy_with($USES[0]);
	my ($out, $err) = finish_load(begin("\\set VERBOSITY verbose\nSET lock_timeout = '300ms';\n"));
	like($err, qr/ERROR:  55P03: canceling statement due to lock timeout\nDETAIL:  Another session has a lock on relation "t_rest"\.\nHINT:  .*Nothing was loaded/, 'lock_timeout ends it');
	is(query("SELECT count(*) FROM t WHERE v = 'new'"), 0, 'nothing is loaded');
	leave($busy);
	# who has it locked waits for the load
	prepare();
	$busy = busy_with("SET LOCAL deadlock_timeout = '60s'; $USES[0]");
	my $run = begin("\\set VERBOSITY verbose\n");
	ok(waits_for('t_rest'), 'the load waits');
	$busy->query_safe('LOCK TABLE t IN SHARE MODE');
	($out, $err) = finish_load($run);
	like($err, qr/ERROR:  40P01: (?:could not lock table "t_rest" because process \d+, which has it locked, waits for this transaction|deadlock detected)/, 'it gives way to who waits for it');
	leave($busy);
};

# All is attached, and only the commit is not there yet
subtest 'when partitions are attached' => sub {
	prepare();
	ok(hold($node), 'commits wait');
	my $run = begin();
	ok(holds($node), 'the load waits at its commit') or diag((finish_load($run))[1]);
	is(locks('t'), 'RowExclusiveLock ShareUpdateExclusiveLock', 'the table');
	is(locks('t_first'), 'RowExclusiveLock', 'a partition that has got rows');
	is(locks('t_rest'), 'AccessExclusiveLock', 'the default partition');
	go_on('they do not use it', @PRUNES);
	my @waiting = map { start_load($node, "SET application_name = 'waits';\n$_;\n") } @USES;
	ok(wait_until($node, "SELECT count(*) = 2 FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE application_name = 'waits' AND NOT granted AND relation = 't_rest'::regclass"), 'who uses it waits for it');
	ok(release($node), 'commits go on');
	is_loaded($run, 'then');
	is((finish_load($_))[1], '', 'and so do they') foreach @waiting;
};

# A file is read to its end before others have to wait: what is written to it then has no
# part in its checksum
subtest 'checksums' => sub {
	my $other = write_bytes('days.csv', join('', map { sprintf "%d,2013-01-%02d,new\n", $_, $_ % 4 + 1 } 0 .. 99));

	prepare();
	query("SELECT fast_copy_create_ledger_table('led');
		CREATE FUNCTION at_attach() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN PERFORM public.gate(7); END';
		CREATE EVENT TRIGGER at_attach ON ddl_command_start WHEN TAG IN ('ALTER TABLE') EXECUTE FUNCTION at_attach()");
	utime(1_400_000_000, 1_400_000_000, $file);
	close_gate();
	my $run = start_load($node, "SET $name;\n" . $load =~ s/workers/ledger => 'led', workers/r . ";\n");
	ok(at_gate($node), 'it attaches');
	is(locks('t_rest'), 'AccessExclusiveLock', 'and has the default partition locked');
	write_bytes('days.csv', slurp_file($file) =~ s/new/odd/gr);
	utime(1_400_000_000, 1_400_000_000, $file);
	open_gate();
	is_loaded($run, 'then');
	query('DROP EVENT TRIGGER at_attach');
	write_bytes('days.csv', slurp_file($file) =~ s/odd/new/gr);
	is(query(($load =~ s/workers/ledger => 'led', workers/r)), 0, 'the ledger has it as it was loaded');
};

done_testing();
