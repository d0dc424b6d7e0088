# fast_copy.history: who sets it is not always who loads.  Nobody gets code run
# by somebody else's load, nor reads of it, by a table that the setting names.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy qw(:DEFAULT query failure);
use Test::More;

my $node = new_node('main', {}, "timezone = 'UTC'", "statement_timeout = '60s'");
my $file = write_bytes('rows.csv', join('', map { sprintf "%d,2013-01-%02d,v%d\n", $_, $_ % 5 + 1, $_ } 1 .. 100));

gates($node);
query("CREATE ROLE mallory LOGIN; CREATE ROLE bob LOGIN; GRANT pg_read_server_files TO mallory, bob;
	ALTER DATABASE postgres OWNER TO mallory;
	CREATE SCHEMA trap AUTHORIZATION mallory; GRANT USAGE ON SCHEMA trap TO PUBLIC;
	CREATE SCHEMA log; GRANT USAGE ON SCHEMA log TO PUBLIC;
	CREATE TABLE target (n int, day date, v text); GRANT INSERT ON target TO bob, mallory;
	CREATE TABLE ran (who text, what text); GRANT INSERT ON ran TO PUBLIC;
	SET ROLE mallory;
	CREATE FUNCTION trap.run(what text) RETURNS text LANGUAGE plpgsql AS \$\$BEGIN INSERT INTO public.ran VALUES (current_user, what); RETURN what; END\$\$;
	CREATE FUNCTION trap.fire() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN PERFORM trap.run('trigger'); RETURN new; END\$\$");

subtest "the owner of a database gets no code run by a superuser's load" => \&by_the_database;
subtest 'nor does who may add triggers to a table of a superuser' => \&by_a_trigger;
subtest 'nor by a name that the search path finds' => \&by_the_search_path;
subtest 'what a function loads as its owner goes to no table of its caller' => \&by_a_function;
subtest 'nobody writes to a table, or locks it, who may not insert' => \&without_privilege;
subtest 'the table stays what it was while the load goes on' => \&meanwhile;
$node->stop;
done_testing();

sub nothing_ran
{
	my ($what) = @_;

	is(query('SELECT count(*) FROM ran'), 0, "$what: no code ran");
	is(query('SELECT count(*) FROM target'), 0, "$what: nothing was loaded");
}

sub by_the_database
{
	my %trap = (
		'its own table' => '',
		'a trigger' => 'CREATE TRIGGER t BEFORE INSERT ON trap.loads FOR EACH ROW EXECUTE FUNCTION trap.fire()',
		'a default' => "ALTER TABLE trap.loads ADD COLUMN x text DEFAULT trap.run('default')",
		'a check' => "ALTER TABLE trap.loads ADD CHECK (trap.run('check') IS NOT NULL)",
		'a rule' => "CREATE RULE r AS ON INSERT TO trap.loads DO ALSO SELECT trap.run('rule')",
		'a policy' => "CREATE POLICY p ON trap.loads WITH CHECK (trap.run('policy') IS NOT NULL); ALTER TABLE trap.loads ENABLE ROW LEVEL SECURITY; ALTER TABLE trap.loads FORCE ROW LEVEL SECURITY",
		'a view' => "ALTER TABLE trap.loads RENAME TO others; CREATE VIEW trap.loads AS TABLE trap.others; CREATE TRIGGER t INSTEAD OF INSERT ON trap.loads FOR EACH ROW EXECUTE FUNCTION trap.fire()",
	);

	foreach my $what (sort keys %trap)
	{
		query("SET ROLE mallory; SELECT fast_copy_create_history_table('trap.loads'); GRANT INSERT ON trap.loads TO PUBLIC; $trap{$what};
			ALTER DATABASE postgres SET fast_copy.history = 'trap.loads'");
		like(failure("SELECT fast_copy('target', '$file')"), qr/42501: table "loads" cannot be used as fast_copy.history\nDETAIL:  It belongs to role "mallory"\.\nHINT:  .*SET fast_copy.history = ''/, $what);
		nothing_ran($what);
		is(query("SET fast_copy.history = ''; BEGIN; SELECT fast_copy('target', '$file'); ROLLBACK"), 100, "$what: the hint helps");
		query("ALTER DATABASE postgres RESET fast_copy.history; DROP TABLE IF EXISTS trap.others CASCADE; DROP TABLE IF EXISTS trap.loads");
	}
}

sub by_a_trigger
{
	query("SELECT fast_copy_create_history_table('log.loads'); GRANT INSERT, TRIGGER ON log.loads TO PUBLIC;
		SET ROLE mallory; CREATE TRIGGER t BEFORE INSERT ON log.loads FOR EACH ROW EXECUTE FUNCTION trap.fire();
		ALTER DATABASE postgres SET fast_copy.history = 'log.loads'");
	like(failure("SELECT fast_copy('target', '$file')"), qr/55000: .*\nDETAIL:  It has triggers/, 'refused');
	nothing_ran('a trigger');
	query("ALTER DATABASE postgres RESET fast_copy.history; DROP TABLE log.loads");
}

sub by_the_search_path
{
	query("SELECT fast_copy_create_history_table('log.loads'); SET ROLE mallory; SELECT fast_copy_create_history_table('trap.loads'); GRANT INSERT ON trap.loads TO PUBLIC");
	like(failure("SET search_path = trap, log, public; SET fast_copy.history = loads; SELECT fast_copy('target', '$file')"), qr/42501: .*\nDETAIL:  It belongs to role "mallory"/, 'refused');
	nothing_ran('a name');
	is(query("SET search_path = log, trap, public; SET fast_copy.history = loads; SELECT fast_copy('target', '$file'); SELECT count(*) FROM log.loads; TRUNCATE target"), "100\n1", 'the own one');
	query('DROP TABLE log.loads, trap.loads');
}

# mallory calls a function of bob's, and sets the table
sub by_a_function
{
	query("CREATE FUNCTION load() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS \$\$SELECT public.fast_copy('public.target', '$file')\$\$;
		ALTER FUNCTION load() OWNER TO bob; SET ROLE mallory; SELECT fast_copy_create_history_table('trap.loads'); GRANT INSERT ON trap.loads TO bob");
	like(failure("SET ROLE mallory; SET fast_copy.history = 'trap.loads'; SELECT load()"), qr/42501: .*\nDETAIL:  It belongs to role "mallory"/, 'refused');
	nothing_ran('a function');
	is(query("SET ROLE mallory; SET fast_copy.history = 'trap.loads'; SELECT fast_copy('target', '$file'); SELECT loaded_by, rows FROM trap.loads; RESET ROLE; TRUNCATE target"), "100\nmallory|100", 'but to that of who loads');
	query('DROP TABLE trap.loads');
}

sub without_privilege
{
	query("SELECT fast_copy_create_history_table('log.loads')");
	my $bob = "SET ROLE bob; SET fast_copy.history = 'log.loads'";
	like(failure("$bob; SELECT fast_copy('target', '$file')"), qr/42501: permission denied for table loads/, 'without INSERT');
	my $holder = start_load($node, "BEGIN; LOCK TABLE log.loads; SELECT gate(7);\n");
	ok(at_gate($node), 'another session has a lock');
	like(failure("$bob; SET lock_timeout = '10s'; SELECT fast_copy('target', '$file')"), qr/42501: permission denied for table loads/, 'which who may not insert does not wait for');
	open_gate();
	finish_load($holder);
	close_gate();
	query('GRANT INSERT ON log.loads TO bob');
	is(query("$bob; SELECT fast_copy('target', '$file')"), 100, 'with INSERT');
	is(query('SELECT loaded_by, rows FROM log.loads'), 'bob|100', 'the row');
	like(failure("SET ROLE bob; TABLE log.loads"), qr/permission denied/, 'INSERT does not let read, not even the own rows');
	query('REVOKE USAGE ON SCHEMA log FROM PUBLIC');
	like(failure("$bob; SELECT fast_copy('target', '$file')"), qr/42501: permission denied for schema log/, 'without USAGE of the schema');
	query('GRANT USAGE ON SCHEMA log TO PUBLIC; DROP TABLE log.loads; TRUNCATE target');
}

# The owner is a superuser, who could do as much otherwise; what is shown is
# that the row goes where it was checked to go.
sub meanwhile
{
	close_gate();
	query("SELECT fast_copy_create_history_table('log.loads'); CREATE TABLE slow (n int CHECK (gate(n)), day date, v text)");
	my $load = start_load($node, "SET fast_copy.history = 'log.loads'; SELECT fast_copy('slow', '$file', workers => 0);\n");
	ok(at_gate($node), 'at the gate');
	my $refused = qr/55P03: canceling statement due to lock timeout/;
	like(failure("SET lock_timeout = '200ms'; CREATE TRIGGER t BEFORE INSERT ON log.loads FOR EACH ROW EXECUTE FUNCTION trap.fire()"), $refused, 'no trigger comes');
	like(failure("SET lock_timeout = '200ms'; ALTER TABLE log.loads ADD CHECK (rows < 1)"), $refused, 'no constraint');
	like(failure("SET lock_timeout = '200ms'; ALTER TABLE log.loads RENAME TO other"), $refused, 'no other name');
	query("ALTER SCHEMA log RENAME TO old; CREATE SCHEMA log; SELECT fast_copy_create_history_table('log.loads');
		CREATE TRIGGER t BEFORE INSERT ON log.loads FOR EACH ROW EXECUTE FUNCTION trap.fire()");
	open_gate();
	my ($out, $err) = finish_load($load);
	is($out, 100, 'loaded') or diag($err);
	is(query('SELECT count(*) FROM ran'), 0, 'no code ran');
	is(query('SELECT count(*), (SELECT count(*) FROM log.loads) FROM old.loads'), '1|0', 'the row is in the table that was checked');
}
