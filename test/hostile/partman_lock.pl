# pg_partman's advisory lock, which any role can take: a load that waits for it
# says who has it, and gives up when it is told to.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {}, "timezone = 'UTC'", "statement_timeout = '60s'", 'max_prepared_transactions = 2', 'session_preload_libraries = fast_copy');
needs($node, 'pg_partman');
my $KEY = "hashtext('pg_partman run_maintenance')";

query('CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman; CREATE ROLE mallory LOGIN');
gates($node);
query("CREATE FUNCTION wait_there() RETURNS boolean LANGUAGE sql SECURITY DEFINER AS 'SELECT gate(7)'");
my ($type, $width) = query("SELECT extversion LIKE '4.%' FROM pg_extension WHERE extname = 'pg_partman'") eq 't' ? ('native', 'daily') : ('range', '1 day');
query("CREATE TABLE t (n int, ts timestamptz NOT NULL, v text) PARTITION BY RANGE (ts);
	SELECT partman.create_parent(p_parent_table => 'public.t', p_control => 'ts', p_type => '$type', p_interval => '$width', p_premake => 3)");
# pg_partman makes partitions around the day it is called on
my $file = write_bytes('rows.csv', query("SELECT current_date - 9") . ",x\n");

subtest 'a load that waits tells for whom, and gives up when it is told to' => \&it_gives_up;
subtest 'a load that waits goes on when the lock is free' => \&it_goes_on;
subtest 'a load tells of an idle session that holds the lock' => \&an_idle_session;
subtest 'a load tells of a prepared transaction that holds the lock' => \&a_prepared_transaction;
subtest 'a role that sees nobody else is told, too' => \&hardened_catalogs;
$node->stop;
done_testing();

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

sub load { my ($more) = @_; return "SELECT fast_copy('t', '$file', columns => '{ts,v}'" . ($more // '') . ')' }

# mallory holds the lock until the gate is opened
sub hold
{
	close_gate();
	my $held = start_load($node, "\\connect - mallory\nSELECT pg_advisory_lock($KEY); SELECT wait_there();\n");

	ok(at_gate($node), 'somebody holds the lock');
	my $pid = query("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted");
	return ($held, $pid);
}

sub it_gives_up
{
	my ($held, $pid) = hold();
	my $who = "process $pid of role \"mallory\"";
	my %way = (
		'lock_timeout' => [ "SET lock_timeout = '100ms';", qr/ERROR:  canceling statement due to lock timeout/ ],
		'statement_timeout' => [ "SET statement_timeout = '500ms';", qr/ERROR:  canceling statement due to statement timeout/ ]);

	foreach my $name (sort keys %way)
	{
		my ($set, $error) = @{ $way{$name} };
		my %sql = ('a load' => load(), 'with workers' => load(', workers => 2'), 'COPY' => "COPY t (ts, v) FROM '$file' WITH (FORMAT csv, fast_copy)");
		# all of them wait at the same time
		my %load = map { $_ => start_load($node, "$set $sql{$_};\n") } sort keys %sql;

		foreach my $what (sort keys %load)
		{
			my (undef, $err) = finish_load($load{$what});

			like($err, qr/NOTICE:  fast_copy waits for the maintenance of pg_partman\nDETAIL:  Its lock is held by $who\./, "$name, $what: told at once");
			like($err, qr/$error\nCONTEXT:  (?:waiting for ShareLock on advisory lock .*\n)?waiting for the lock of pg_partman's maintenance, which $who held/, "$name, $what: and in the error");
		}
	}

	# the server's log says it where core says that somebody waits
	my $from = -s $node->logfile;
	$node->psql('postgres', "SET log_lock_waits = on; SET deadlock_timeout = '10ms'; SET lock_timeout = '200ms'; " . load());
	my $log = slurp_file($node->logfile, $from);
	like($log, qr/still waiting for ShareLock on advisory lock.*?\n.*?Process holding the lock: $pid\..*?\n.*CONTEXT:  (?:waiting for ShareLock on advisory lock .*\n\s*)?waiting for the lock of pg_partman's maintenance, which $who held/, 'log_lock_waits');

	# and what does not make partitions does not ask for it
	is(query("INSERT INTO t VALUES (1, current_date, 'x'); SELECT fast_copy('t', '" . write_bytes('now.csv', query('SELECT current_date') . ",x\n") . "', columns => '{ts,v}')"), 1, 'no partition is missing');
	query('DELETE FROM t');
	open_gate();
	finish_load($held);
}

sub it_goes_on
{
	my ($held, $pid) = hold();
	my $load = start_load($node, load() . ";\n");

	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"), 'the load waits');
	open_gate();
	my ($out, $err) = finish_load($load);
	is($out, 1, 'and goes on');
	like(unsaid($err), qr/\A(\S+ )?NOTICE:  fast_copy waits for the maintenance of pg_partman\nDETAIL:  Its lock is held by process $pid of role "mallory"\.\n\z/, 'it has told why');
	finish_load($held);
	query("DELETE FROM t; DROP TABLE " . query("SELECT inhrelid::regclass FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
		WHERE pg_get_expr(relpartbound, c.oid) LIKE '%FROM (''' || current_date - 9 || '%'"));
}

# A session that does nothing has no transaction, and the lock all the same.
sub an_idle_session
{
	my $idle = $node->background_psql('postgres');

	$idle->query_safe("SET application_name = 'idle'; SELECT pg_advisory_lock($KEY)");
	my $pid = query("SELECT pid FROM pg_stat_activity WHERE application_name = 'idle'");
	my ($rc, $out, $err) = $node->psql('postgres', "SET lock_timeout = '100ms'; " . load());
	like($err, qr/DETAIL:  Its lock is held by process $pid of role "postgres"\..*canceling statement due to lock timeout\nCONTEXT:  .*which process $pid /s, 'an idle session');
	$idle->quit;
}

# Nobody is there who could be asked.
sub a_prepared_transaction
{
	query("BEGIN; SELECT pg_advisory_xact_lock($KEY); PREPARE TRANSACTION 'kept'");
	my ($rc, $out, $err) = $node->psql('postgres', "SET lock_timeout = '100ms'; " . load());
	like($err, qr/DETAIL:  Its lock is held by a prepared transaction\..*canceling statement due to lock timeout\nCONTEXT:  .*which a prepared transaction held/s, 'a prepared transaction');
	query("ROLLBACK PREPARED 'kept'");
}

# Functions and views that PUBLIC has lost are not asked.  pg_partman 5 wants the
# template's owner.
sub hardened_catalogs
{
	query("REVOKE ALL ON pg_locks, pg_stat_activity FROM PUBLIC;
		REVOKE ALL ON FUNCTION pg_try_advisory_xact_lock_shared(bigint), pg_advisory_xact_lock_shared(bigint), pg_lock_status() FROM PUBLIC;
		CREATE ROLE keeper; GRANT pg_read_server_files TO keeper; GRANT CREATE ON SCHEMA public TO keeper; ALTER TABLE t OWNER TO keeper;
		ALTER TABLE partman.template_public_t OWNER TO keeper;
		GRANT USAGE ON SCHEMA partman TO keeper; GRANT ALL ON ALL TABLES IN SCHEMA partman TO keeper");
	my ($held, $pid) = hold();
	my ($rc, $out, $err) = $node->psql('postgres', "SET ROLE keeper; SET lock_timeout = '100ms'; " . load());
	like($err, qr/DETAIL:  Its lock is held by process $pid of role .*canceling statement due to lock timeout/s, 'a role that sees nobody else');
	open_gate();
	finish_load($held);
	is(query('SET ROLE keeper; ' . load()), 1, 'it loads');
}
