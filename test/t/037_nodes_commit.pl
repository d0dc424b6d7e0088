# Missing partitions on other servers: what docs/cluster.md promises of their
# commit, word for word, with everything stopped at each point where it may stop.
#
# A server whose synchronous_standby_names names nobody waits, for as long as the
# test wants, after it has written COMMIT.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my @conf = ('restart_after_crash = on', 'max_connections = 50');
my $main = new_node('main', { allows_streaming => 1 }, @conf, 'session_preload_libraries = fast_copy', 'max_prepared_transactions = 5');
if ($main->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") eq '0')
{
	$main->stop;
	plan skip_all => 'postgres_fdw is not installed';
}
# one prepares no transactions and lacks fast_copy
my ($one, $two) = map { new_node($_, { allows_streaming => 1 }, @conf, 'log_statement = all', 'max_prepared_transactions = ' . ($_ eq 'one' ? 0 : 5)) } 'one', 'two';
my @there = ($one, $two);
$one->safe_psql('postgres', 'DROP EXTENSION fast_copy');
# days in turn on one and two, and one that two has already
my $file = write_bytes('rows.csv', join('', map { "$_,2013-01-0" . (1 + $_ % 4) . "\n" } 1 .. 40));
my $old = write_bytes('old.csv', join('', map { "$_,2012-01-01\n" } 1 .. 10));
my $both = write_bytes('both.csv', join('', map { PostgreSQL::Test::Utils::slurp_file($_) } $file, $old));
my $NONE = '0 0 0';
my $ALL = '2 2 4';

on_main('CREATE EXTENSION postgres_fdw');
foreach my $node (@there)
{
	on_main('CREATE SERVER ' . $node->name . " FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $node->host . "', port '" . $node->port . "', dbname 'postgres');
		CREATE USER MAPPING FOR PUBLIC SERVER " . $node->name . " OPTIONS (user 'postgres', password_required 'false')");
	$node->safe_psql('postgres', 'CREATE SCHEMA s; CREATE TABLE refused (n int)');
}
on_main('CREATE SCHEMA s');

subtest 'servers that prepare nothing' => \&without_prepare;
subtest 'a commit that nothing disturbs' => \&undisturbed;
subtest 'a crash before the commit here' => \&crash_before;
subtest 'a cancel before the commit here' => \&cancel_before;
subtest 'a crash after the commit here' => \&crash_after;
subtest 'a commit that fails here' => \&failed_commit;
subtest 'a transaction that cannot be serialized' => \&not_serializable;
subtest 'a table that is used' => \&used_table;
subtest 'a connection that is lost' => \&lost_connection;
subtest 'tables of others' => \&tables_of_others;
subtest 'two that resolve at once' => \&two_resolvers;
subtest 'a server that points elsewhere for a while' => \&elsewhere;
subtest 'servers that write lazily' => \&lazy_servers;
subtest 'a mark that comes back' => \&mark_again;
subtest 'readers' => \&readers;
subtest 'without the extension' => \&without_extension;
$_->stop foreach $main, @there;
done_testing();

sub on_main { my ($sql) = @_; return $main->safe_psql('postgres', $sql) }

# The table, empty and without partitions; or with one that two has
sub clear
{
	my ($old) = @_;

	$_->safe_psql('postgres', 'SET client_min_messages = warning; DROP SCHEMA s CASCADE; CREATE SCHEMA s; CREATE TABLE s.r (n int, at date)') foreach @there;
	on_main('DROP TABLE IF EXISTS s.t; CREATE TABLE s.t (n int, at date) PARTITION BY RANGE (at)' .
		($old ? "; CREATE FOREIGN TABLE s.t_old PARTITION OF s.t FOR VALUES FROM ('2012-01-01') TO ('2012-01-02') SERVER two OPTIONS (table_name 'r')" : ''));
}

sub load
{
	my ($commit, $path) = @_;

	return "SELECT fast_copy('s.t', '" . ($path // $file) . "', options => '{\"nodes\": [\"one\", \"two\"], \"remote_commit\": \"$commit\"}', log_verbosity => 'silent');";
}

# New tables on one and on two, and here
sub tables
{
	return join(' ', (map { $_->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 's'::regnamespace AND relname <> 'r'") } @there),
		on_main("SELECT count(*) FROM pg_class WHERE relkind = 'f' AND relnamespace = 's'::regnamespace AND relname <> 't_old'"));
}

sub marks { return join(' ', map { $_->safe_psql('postgres', "SELECT count(*) FROM pg_description WHERE description LIKE 'fast\\_copy\\_%\\_%'") } @there) }
sub seen { return on_main("SET lock_timeout = '10s'; SELECT count(*) FROM s.t") }
sub decided { return on_main('SELECT count(*) FROM fast_copy_transactions WHERE server <> 0') }

# What view or function say, with the tables that they name
sub outcomes
{
	my ($from) = @_;

	return on_main("SELECT string_agg(server_name || ' ' || outcome || coalesce(' ' || regexp_replace(detail, '_[0-9a-f]{8}\\.\$', ''), ''), E'\\n' ORDER BY server_name, detail) FROM $from");
}
sub in_doubt { return outcomes('fast_copy_in_doubt') }
sub resolve { return outcomes('fast_copy_resolve()') }

# All four tables, with an outcome each
sub each_table
{
	my ($outcome) = @_;

	return join("\n", map { ($_ % 2 ? 'one' : 'two') . " $outcome It is table s.t_p2013010$_" } 1, 3, 2, 4);
}

# Loads until one has committed, and two waits with what it has written
sub load_until_two_commits
{
	clear();
	hold($two);
	my $load = start_load($main, load('auto'));
	ok(holds($two), 'two waits while it commits');
	wait_until($one, "SELECT count(*) = 2 FROM pg_class WHERE relname LIKE 't\\_p%' AND relkind = 'r'");
	is(seen(), 0, 'no row is seen');
	return $load;
}

# Kills the session of the load, and with it this server, which starts again
sub kill_load
{
	my ($load) = @_;

	kill 'KILL', on_main("SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT fast_copy(%' AND pid <> pg_backend_pid()");
	my (undef, $err) = finish_load($load);
	like($err, qr/server closed the connection|terminating connection/, 'this server crashes');
	wait_until($main, 'SELECT true');
	release($two);
	wait_until($two, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'fast_copy'");
}

sub without_prepare
{
	foreach my $commit ('auto', 'two_phase', 'one_phase')
	{
		clear();
		my ($rc, $out, $err) = $main->psql('postgres', load($commit));
		is("$out$err", 40, "$commit: loaded, without a word");
		is(seen(), 40, 'all rows are seen');
		is(tables(), $ALL, 'in their tables');
		is(marks(), '0 0', 'without marks');
		is(in_doubt(), '', 'nothing is in doubt');
	}
	on_main(load('auto', write_bytes('more.csv', "1,2013-01-01\n1,2013-02-01\n1,2013-02-02\n")) . 'SELECT * FROM fast_copy_resolve()');
	is(decided(), 0, 'no decision is left');
	my ($rc, $out, $err) = $main->psql('postgres', load('two_phase'));
	like($err, qr/ERROR:  rows on server "one" cannot be committed in two phases/, 'what has been made once is committed as what was there');
	($rc, $out, $err) = $main->psql('postgres', load('auto'));
	like($err, qr/\A\S* ?NOTICE:  rows on server "one" are committed in one phase\n.*\n.*\n?\z/, 'with a NOTICE');
	is(seen(), 83, 'its rows are there');
}

sub undisturbed
{
	foreach my $commit ('auto', 'two_phase', 'one_phase')
	{
		clear(1);
		my $log = length slurp_log($two);
		my ($rc, $out, $err) = $main->psql('postgres', load($commit, $both));
		is("$out$err", 50, "$commit, old and new: loaded, without a word");
		my @said = substr(slurp_log($two), $log) =~ /statement: .*?(PREPARE TRANSACTION|COMMIT PREPARED|COMMENT|COMMIT)\b/g;
		is(scalar(grep { /PREPARE/ } @said), $commit eq 'one_phase' ? 0 : 2, 'the old one in the way that is wished');
		is(scalar(grep { $_ eq 'COMMENT' } @said), 2, 'the new ones in their own');
		is(seen(), 50, 'all rows are seen');
		is(tables(), '3 1 4', 'in their tables');
		is(marks() . ' ' . in_doubt(), '0 0 ', 'nothing is left');
	}
	resolve();
	is(decided(), 0, 'no decision is left');
	clear(1);
	on_main('BEGIN; ' . load('auto', $old) . load('two_phase') . load('one_phase', $both) . ' COMMIT');
	is(seen(), 100, 'three loads in a transaction');
	is(tables(), '3 1 4', 'in their tables');
	is(on_main('BEGIN; ' . load('auto') . 'SELECT count(*) FROM s.t; ROLLBACK') , "40\n100", 'remote rows are invisible to your own transaction until commit');
}

# "Readers of the coordinator's table see all or nothing, at one instant."
sub crash_before
{
	foreach my $who ('fast_copy_resolve()', 'the next load')
	{
		my $load = load_until_two_commits();
		like(in_doubt(), qr/^one in progress It is table s\.t_p20130101\none in progress It is table s\.t_p20130103/, 'the load is in progress');
		like(resolve(), qr/^one in progress/, 'nobody ends it');
		is(on_main("BEGIN; SET LOCAL lock_timeout = '5s'; CREATE FOREIGN TABLE s.f (n int, at date) SERVER two; ROLLBACK"), '', 'it is in nobody\'s way');
		kill_load($load);
		is(seen(), 0, 'no row is seen');
		is(tables(), '2 2 0', 'tables are left that nobody sees');
		is(in_doubt(), each_table('to be rolled back'), 'they are in doubt');
		is(on_main('BEGIN READ ONLY; SELECT count(*) FROM fast_copy_in_doubt; COMMIT'), 4, 'a look changes nothing');
		if ($who eq 'the next load')
		{
			is(on_main(load('auto')), 40, 'the next load');
			is(tables(), $ALL, 'drops them');
			is(seen(), 40, 'and has its own rows');
		}
		else
		{
			is(resolve(), each_table('rolled back'), 'fast_copy_resolve()');
			is(tables(), $NONE, 'drops them');
			is(resolve(), '', 'once is enough');
		}
		is(marks(), '0 0', 'no mark is left');
	}
}

sub cancel_before
{
	my $load = load_until_two_commits();
	on_main("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT fast_copy(%' AND pid <> pg_backend_pid()");
	wait_until($one, "SELECT count(*) > 0 FROM pg_stat_activity WHERE query LIKE 'DROP TABLE%' AND pid <> pg_backend_pid()");
	release($two);
	my (undef, $err) = finish_load($load);
	like($err, qr/ERROR:  canceling statement due to user request/, 'canceled');
	unlike($err, qr/WARNING/, 'without a warning');
	is(tables(), $NONE, 'its tables are dropped at once');
	is(in_doubt(), '', 'nothing is in doubt');

	# however long a server is silent, the wait ends
	$load = load_until_two_commits();
	my $began = time;
	on_main("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT fast_copy(%' AND pid <> pg_backend_pid()");
	(undef, $err) = finish_load($load);
	cmp_ok(time - $began, '<', 25, 'the wait ends');
	like($err, qr/WARNING:  could not drop the tables marked "fast_copy_\w+" on server "two"\nDETAIL:  The server has not answered in time.*\nHINT:  fast_copy_resolve\(\) does so/s, 'with a WARNING');
	release($two);
	wait_until($two, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'fast_copy'");
	is(tables(), '0 2 0', 'what it has committed is there');
	is(seen(), 0, 'and is not seen');
	resolve();
	is(tables(), $NONE, 'fast_copy_resolve() drops it');
}

sub crash_after
{
	foreach my $who ('fast_copy_resolve()', 'the next load')
	{
		clear(1);
		hold($main);
		my $load = start_load($main, load('auto', $both));
		ok(holds($main), 'this server waits with what it has written');
		is(seen(), 0, 'no row is seen');
		is(tables(), '3 1 0', 'all tables are there');
		is(marks(), '3 1', 'with marks');
		crash($main);
		finish_load($load);
		release($main);
		is(seen(), 40, 'all rows of new tables are seen');
		is(in_doubt(), join("\n", (map { "one to be committed It is table s.t_p2013010$_" } 1, 2, 4), 'two to be committed It is table s.t_p20130103', 'two to be committed'), 'their marks are in doubt');
		is(decided(), 5, 'it is decided');
		if ($who eq 'the next load')
		{
			is(on_main(load('one_phase', write_bytes('next.csv', "1,2013-01-01\n1,2013-01-03\n"))), 2, 'the next load');
			is(seen(), 52, 'all rows are seen');
		}
		else
		{
			resolve();
			is(seen(), 50, 'all rows are seen');
		}
		is(decided(), 0, 'nothing is to be decided any more');
		is(marks(), '0 0', 'no mark is left');
		is(tables(), '3 1 4', 'all tables are there');
	}
}

# postgres_fdw ends its own connections after ours if it was used first
sub failed_commit
{
	clear();
	$two->safe_psql('postgres', "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''refused at the end''; END';
		CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON refused DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()");
	on_main("CREATE FOREIGN TABLE refused (n int) SERVER two OPTIONS (schema_name 'public')");
	my $log = length slurp_log($one);
	my ($rc, $out, $err) = $main->psql('postgres', 'BEGIN; INSERT INTO refused VALUES (1); ' . load('auto') . ' COMMIT');
	like($err, qr/ERROR:  refused at the end/, 'it fails');
	like(substr(slurp_log($one), $log), qr/COMMENT.*DROP TABLE/s, 'after the servers have committed');
	is(tables(), $NONE, 'the tables are dropped');
	is(in_doubt(), '', 'nothing is in doubt');
	is(decided(), 0, 'nothing is decided');
}

# Another transaction is in the way of this one only now
sub not_serializable
{
	clear();
	on_main('CREATE TABLE IF NOT EXISTS serial (a int)');
	my $log = length slurp_log($one);
	my ($rc, $out, $err) = $main->psql('postgres', 'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM serial; ' . load('auto') . " INSERT INTO serial VALUES (2);\n" .
		"\\! psql -X -q -d '" . $main->connstr('postgres') . "' -c 'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM serial; INSERT INTO serial VALUES (3); COMMIT'\nCOMMIT");
	like($err, qr/could not serialize access/, 'it cannot be serialized');
	is(tables(), $NONE, 'the tables are dropped');
	is(in_doubt(), '', 'nothing is in doubt');
}

# What somebody there has made of a table in the meantime
sub used_table
{
	kill_load(load_until_two_commits());
	my $table = $one->safe_psql('postgres', "SELECT oid::regclass FROM pg_class WHERE relname LIKE 't\\_p20130101%'");
	$one->safe_psql('postgres', "CREATE VIEW s.v AS SELECT * FROM $table");
	is(join("\n", sort split(/\n/, resolve())), join("\n", sort "one failed cannot drop table $table because other objects depend on it", grep { !/20130101/ } split(/\n/, each_table('rolled back'))), 'what is used stays');
	is(on_main(load('auto')), 40, 'the next load is not disturbed');
	like(in_doubt(), qr/\Aone to be rolled back It is table s\.t_p20130101\z/, 'it is in doubt still');
	$one->safe_psql('postgres', 'DROP VIEW s.v');
	is(resolve(), 'one rolled back It is table s.t_p20130101', 'until it is not used any more');
	is(tables(), $ALL, 'all others are there');
}

sub lost_connection
{
	foreach my $node (@there)
	{
		clear();
		my ($rc, $out, $err) = $main->psql('postgres', 'BEGIN; ' . load('auto') . "\n\\! psql -X -q -d '" . $node->connstr('postgres') .
			"' -c \"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fast_copy'\"\nCOMMIT");
		like($err, qr/ERROR:  (terminating connection|server closed the connection|cannot commit|.*connection)/, 'an error, ' . $node->name);
		wait_until($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'fast_copy'");
		resolve();
		is(tables(), $NONE, 'no table is left');
	}
}

# Tables with a mark that could be a load's
sub tables_of_others
{
	kill_load(load_until_two_commits());
	my $gid = on_main("SELECT gid FROM fast_copy_in_doubt WHERE server_name = 'one' LIMIT 1");
	my $forged = $gid =~ s/_\d+_([0-9a-f]{16})_/_1_0123456789abcdef_/r;
	isnt($forged, $gid, 'another mark');
	$one->safe_psql('postgres', "CREATE ROLE other; CREATE TABLE mine (n int); CREATE TABLE mine_too (n int); CREATE VIEW view AS SELECT 1; CREATE TABLE named (n int);
		ALTER TABLE mine OWNER TO other; ALTER TABLE mine_too OWNER TO other; COMMENT ON TABLE mine IS '$gid'; COMMENT ON TABLE mine_too IS '$forged'; COMMENT ON VIEW view IS '$gid';
		COMMENT ON TABLE named IS '" . ($gid =~ s/_\d+_[0-9a-f]{16}_\d+$/_no number/r) . "'; COMMENT ON COLUMN refused.n IS '$gid'");
	my @left = ('one left It is table public.mine. Its owner is role "other".', 'one left It is table public.mine_too. Its owner is role "other".');
	is(join("\n", grep { /left/ } split(/\n/, in_doubt())), join("\n", @left, 'one left It is table public.named.'), 'are left');
	resolve();
	is($one->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname IN ('mine', 'mine_too', 'named', 'view', 'refused')"), 5, 'are there');
	is(tables(), $NONE, 'those of the load are dropped');
	is(on_main(load('auto')), 40, 'the next load is not disturbed');
	is($one->safe_psql('postgres', "SELECT count(*) FROM pg_description WHERE description LIKE 'fast\\_copy\\_%\\_%'"), 5, 'they keep what they have');
	resolve();
	is(decided(), 0, 'no decision is kept for them');
	$one->safe_psql('postgres', 'DROP TABLE mine, mine_too, named; DROP VIEW view; COMMENT ON COLUMN refused.n IS NULL');
}

# All of a load is committed, and its marks are left
sub load_until_marks_are_left
{
	clear();
	hold($main);
	my $load = start_load($main, load('auto'));
	ok(holds($main), 'this server waits with what it has written');
	crash($main);
	finish_load($load);
	release($main);
	is(seen(), 40, 'all rows are seen');
	is(marks(), '2 2', 'the marks are left');
}

# One is about to take the marks off when the other one looks at them, and has
# done so when that one comes to them
sub two_resolvers
{
	load_until_marks_are_left();
	my $gid = on_main("SELECT gid FROM fast_copy_in_doubt WHERE server_name = 'two' LIMIT 1");
	hold($two);
	my $first = start_load($main, "SELECT count(*) FROM fast_copy_resolve('two')");
	ok(holds($two), 'the first one waits');
	$two->safe_psql('postgres', "SET synchronous_commit = local; CREATE TABLE before (n int); COMMENT ON TABLE before IS '" . ($gid =~ s/_\d+_[0-9a-f]{16}_\d+$/_0_0123456789abcdef_1/r) . "'");
	my $locked = start_load($two, 'BEGIN; LOCK before IN ACCESS SHARE MODE; SELECT pg_sleep(60)');
	ok(wait_until($two, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"), 'something else is in the way of the second one');
	my $second = start_load($main, "SELECT string_agg(outcome, ', ') FROM fast_copy_resolve('two')");
	ok(wait_until($two, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'DROP TABLE%'"), 'which has looked, and waits');
	release($two);
	is((finish_load($first))[0], 2, 'the first one ends');
	is(on_main("SELECT count(*) FROM fast_copy_transactions WHERE server = (SELECT oid FROM pg_foreign_server WHERE srvname = 'two')"), 0, 'and removes what was decided');
	$two->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
	finish_load($locked);
	is((finish_load($second))[0], 'rolled back', 'the second one has nothing else to do');
	is(seen(), 40, 'all rows are there');
	resolve();
	is(marks(), '0 0', 'no mark is left');
}

sub elsewhere
{
	load_until_marks_are_left();
	$two->safe_psql('postgres', 'CREATE DATABASE elsewhere');
	on_main("ALTER SERVER two OPTIONS (SET dbname 'elsewhere')");
	like(resolve(), qr/\Aone committed .*\none committed .*\z/, 'another database has no marks');
	on_main("ALTER SERVER two OPTIONS (SET dbname 'postgres')");
	like(resolve(), qr/\Atwo committed .*\ntwo committed .*\z/, 'what is decided is kept for the right one');
	is(seen(), 40, 'all rows are there');
	is(decided(), 0, 'nothing is to be decided any more');
}

# What they have said to have done is still so after a crash of them
sub lazy_servers
{
	$_->safe_psql('postgres', "ALTER ROLE postgres SET synchronous_commit = off;\nALTER SYSTEM SET wal_writer_delay = '10s';\nSELECT pg_reload_conf()") foreach @there;
	foreach my $what ('new tables', 'marks that are taken off')
	{
		if ($what eq 'new tables')
		{
			clear();
			is(on_main(load('auto')), 40, 'a load');
		}
		else
		{
			load_until_marks_are_left();
			resolve();
			is(decided(), 0, 'nothing is to be decided any more');
		}
		$_->stop('immediate') foreach @there;
		$_->start foreach @there;
		is(tables(), $ALL, "$what: all tables are there");
		is(seen(), 40, 'with all rows');
		like(resolve(), qr/\A((one|two) committed .*(\n|\z))*\z/, 'nothing is rolled back');
		is(seen(), 40, 'all rows are there still');
	}
	$_->safe_psql('postgres', "ALTER ROLE postgres RESET synchronous_commit;\nALTER SYSTEM RESET wal_writer_delay;\nSELECT pg_reload_conf()") foreach @there;
}

# As if a server had come back with less than it had: but what a foreign table
# shows is not dropped
sub mark_again
{
	load_until_marks_are_left();
	my $gid = on_main("SELECT gid FROM fast_copy_in_doubt WHERE server_name = 'two' LIMIT 1");
	resolve();
	is(decided(), 0, 'nothing is to be decided any more');
	my $table = $two->safe_psql('postgres', "SELECT oid::regclass FROM pg_class WHERE relname LIKE 't\\_p%' LIMIT 1");
	$two->safe_psql('postgres', "COMMENT ON TABLE $table IS '$gid'; CREATE TABLE before (n int); COMMENT ON TABLE before IS '$gid'");
	is(resolve() =~ s/It is table \w+\.(t|before)(_p\d+)?\.?/$1/gr, "two rolled back before\ntwo committed t", 'only the other one is dropped');
	is(seen(), 40, 'all rows are there');
	is(marks(), '0 0', 'no mark is left');
}

# A load that waits for a lock on what is there already
sub readers
{
	clear(1);
	on_main(load('auto', $old));
	my $locked = start_load($two, 'BEGIN; LOCK s.r IN SHARE MODE; SELECT pg_sleep(60)');
	ok(wait_until($two, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"), 'a lock');
	my $load = start_load($main, load('auto', $both));
	ok(wait_until($two, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"), 'the load waits');
	is(seen(), 10, 'readers do not');
	is(on_main("SET lock_timeout = '10s'; SELECT count(*) FROM s.t WHERE at = '2013-01-01'"), 0, 'nor do those of new days');
	is(in_doubt(), '', 'nothing is in doubt');
	$two->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
	finish_load($locked);
	my ($out, $err) = finish_load($load);
	is("$out$err", 50, 'it goes on');
	is(seen(), 60, 'all rows are seen');
}

sub without_extension
{
	on_main('CREATE DATABASE plain');
	$main->safe_psql('plain', "CREATE EXTENSION postgres_fdw; CREATE SERVER two FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $two->host . "', port '" . $two->port . "', dbname 'postgres');
		CREATE USER MAPPING FOR PUBLIC SERVER two OPTIONS (user 'postgres'); CREATE SCHEMA s; CREATE TABLE s.t (n int, at date) PARTITION BY RANGE (at)");
	clear();
	my $log = length slurp_log($two);
	my ($rc, $out, $err) = $main->psql('plain', "COPY s.t FROM '$file' WITH (FORMAT csv, fast_copy, nodes 'two')");
	like($err, qr/ERROR:  the table "fast_copy_transactions" of extension "fast_copy" does not exist\nHINT:  CREATE EXTENSION/, 'an error');
	unlike(substr(slurp_log($two), $log), qr/CREATE TABLE|COPY/, 'before anything is done');
	is($main->safe_psql('plain', "SELECT count(*) FROM pg_class WHERE relkind = 'f'"), 0, 'no table is left here');
}
