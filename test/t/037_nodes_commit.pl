# Missing partitions on other servers: what docs/cluster_commit.md promises of their
# commit, word for word, with everything stopped at each point where it may stop.
#
# A server whose synchronous_standby_names names nobody waits, for as long as the
# test wants, after it has written PREPARE, COMMIT or COMMIT PREPARED.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my @conf = ('restart_after_crash = on', 'max_connections = 50');
my $main = new_node('main', { allows_streaming => 1 }, @conf, 'session_preload_libraries = fast_copy', 'max_prepared_transactions = 5');
needs($main, 'postgres_fdw');
# one lacks fast_copy
my ($one, $two) = map { new_node($_, { allows_streaming => 1 }, @conf, 'log_statement = all', 'max_prepared_transactions = 20') } 'one', 'two';
my @there = ($one, $two);
$one->safe_psql('postgres', 'DROP EXTENSION fast_copy');
# days in turn on one and two, and one that two has already
my $file = write_bytes('rows.csv', join('', map { "$_,2013-01-0" . (1 + $_ % 4) . "\n" } 1 .. 40));
my $old = write_bytes('old.csv', join('', map { "$_,2012-01-01\n" } 1 .. 10));
my $both = write_bytes('both.csv', join('', map { PostgreSQL::Test::Utils::slurp_file($_) } $file, $old));
my $NONE = '0 0 0';
my $ALL = '2 2 4';

on_main('CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster');
foreach my $node (@there)
{
	on_main(server_sql($node->name, $node));
	$node->safe_psql('postgres', 'CREATE SCHEMA s; CREATE TABLE refused (n int)');
}
on_main('CREATE SCHEMA s');

subtest 'a commit that nothing disturbs' => \&undisturbed;
subtest 'a crash before the decision' => \&crash_before;
subtest 'a cancel before the decision' => \&cancel_before;
subtest 'a crash after the decision' => \&crash_after;
subtest 'readers while nodes commit' => \&readers_wait;
subtest 'a commit that fails here' => \&failed_commit;
subtest 'a connection that is lost' => \&lost_connection;
subtest 'two that resolve at once' => \&two_resolvers;
subtest 'a standby, and a log that is rewritten' => \&elsewhere;
subtest 'servers that write lazily' => \&lazy_servers;
subtest 'readers while a load waits' => \&readers;
subtest 'without the extension' => \&without_extension;
subtest 'servers that prepare too few' => \&too_few;
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

sub prepared { return join(' ', map { $_->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts') } @there) }
sub seen { return on_main("SET lock_timeout = '10s'; SELECT count(*) FROM s.t") }
sub decided { return on_main('SELECT count(*) FROM fast_copy_transactions WHERE server <> 0') }

# What view or function say: how many of each
sub outcomes
{
	my ($from) = @_;

	return on_main("SELECT string_agg(n || ' ' || outcome, ', ' ORDER BY outcome) FROM (SELECT outcome, count(*) AS n FROM $from GROUP BY outcome) o");
}
sub in_doubt { return outcomes('fast_copy_in_doubt') }
sub resolve { return outcomes('fast_copy_resolve()') }

# Loads until all have prepared, and two waits with what it has written
sub load_until_prepared
{
	clear();
	hold($two);
	my $load = start_load($main, load('auto'));
	ok(holds($two), 'two waits while it prepares');
	ok(wait_until($one, 'SELECT count(*) = 2 FROM pg_prepared_xacts'), 'one has prepared');
	is(seen(), 0, 'no row is seen');
	return $load;
}

# Loads until this server waits with its decision
sub load_until_decided
{
	clear(@_);
	hold($main);
	my $load = start_load($main, load('auto', @_ ? $both : $file));
	ok(holds($main), 'this server waits with what it has written');
	is(seen(), 0, 'no row is seen');
	return $load;
}

sub crash_decided
{
	my ($load) = @_;

	crash($main);
	finish_load($load);
	release($main);
}

# Ends the session of the load, and with it this server, which starts again
sub kill_load
{
	my ($load) = @_;

	kill_hard(on_main("SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT fast_copy(%' AND pid <> pg_backend_pid()"));
	my (undef, $err) = finish_load($load);
	like($err, qr/server closed the connection|terminating connection/, 'this server crashes');
	wait_until($main, 'SELECT true');
	release($two);
	wait_until($two, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'fast_copy'");
}

sub undisturbed
{
	foreach my $commit ('auto', 'two_phase', 'one_phase')
	{
		clear(1);
		my $log = length slurp_log($two);
		my ($rc, $out, $err) = $main->psql('postgres', load($commit, $both));
		is("$out$err", 50, "$commit, old and new: loaded, without a word");
		my @said = substr(slurp_log($two), $log) =~ /statement: (PREPARE TRANSACTION|COMMIT PREPARED|COMMIT)\b/g;
		is(join(' ', sort @said), $commit eq 'one_phase' ? 'COMMIT COMMIT' : 'COMMIT PREPARED COMMIT PREPARED PREPARE TRANSACTION PREPARE TRANSACTION', 'both in the same way');
		is(seen(), 50, 'all rows are seen');
		is(tables(), '3 1 4', 'in their tables');
		is(prepared() . ' ' . in_doubt(), '0 0 ', 'nothing is left');
	}
	resolve();
	is(decided(), 0, 'no decision is left');
	clear(1);
	on_main('BEGIN; ' . load('auto', $old) . load('two_phase') . load('one_phase', $both) . ' COMMIT');
	is(seen(), 100, 'three loads in a transaction');
	is(tables(), '3 1 4', 'in their tables');
	is(on_main('BEGIN; ' . load('auto') . 'SELECT count(*) FROM s.t; ROLLBACK') , "40\n100", 'remote rows are invisible to your own transaction until commit');
}

# "Whatever crashes, whenever: once all nodes are up and fast_copy_resolve has
# run, all rows are there or none."
sub crash_before
{
	foreach my $who ('fast_copy_resolve()', 'the next load')
	{
		my $load = load_until_prepared();
		is(in_doubt(), '4 in progress', 'the load is in progress');
		is(resolve(), '4 in progress', 'nobody ends it');
		kill_load($load);
		is(seen(), 0, 'no row is seen');
		is(tables() . ', ' . prepared(), '0 0 0, 2 2', 'there are no tables, but what is prepared');
		is(in_doubt(), '4 to be rolled back', 'is in doubt');
		if ($who eq 'the next load')
		{
			is(on_main(load('auto')), 40, 'the next load rolls it back');
			is(tables() . ', ' . prepared(), "$ALL, 0 0", 'and has its own tables');
			is(seen(), 40, 'and rows');
		}
		else
		{
			is(resolve(), '4 rolled back', 'fast_copy_resolve()');
			is(tables() . ', ' . prepared(), "$NONE, 0 0", 'nothing is left');
		}
	}
}

sub cancel_before
{
	my $load = load_until_prepared();
	on_main("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT fast_copy(%' AND pid <> pg_backend_pid()");
	wait_until($one, 'SELECT count(*) = 0 FROM pg_prepared_xacts');
	release($two);
	my (undef, $err) = finish_load($load);
	like($err, qr/ERROR:  canceling statement due to user request/, 'canceled');
	unlike($err, qr/WARNING/, 'without a warning');
	is(tables() . ', ' . prepared(), "$NONE, 0 0", 'nothing is left');
	is(in_doubt(), '', 'nothing is in doubt');

	# however long a server is silent, the wait ends
	$load = load_until_prepared();
	my $began = time;
	on_main("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT fast_copy(%' AND pid <> pg_backend_pid()");
	(undef, $err) = finish_load($load);
	cmp_ok(time - $began, '<', 25, 'the wait ends');
	like($err, qr/WARNING:  could not roll back the prepared transaction "fast_copy_\w+" on server "two"\nDETAIL:  The server has not answered in time.*\nHINT:  fast_copy_resolve\(\) does so/s, 'with a WARNING');
	release($two);
	wait_until($two, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'fast_copy'");
	is(prepared() . ', ' . seen(), '0 2, 0', 'what it has prepared is there, and is not seen');
	is(resolve(), '2 rolled back', 'fast_copy_resolve() ends it');
}

sub crash_after
{
	foreach my $who ('fast_copy_resolve()', 'the next load')
	{
		crash_decided(load_until_decided(1));
		is(tables() . ', ' . prepared(), '0 0 4, 3 2', 'the tables are here already, and are not there yet');
		my ($rc, $out, $err) = $main->psql('postgres', 'SELECT count(*) FROM s.t');
		like($err, qr/ERROR:  relation "s\.t_p2013\w+" does not exist/, 'who reads them gets an error of the server');
		is(on_main("SELECT count(*) FROM s.t WHERE at = '2012-01-01'"), 0, 'but not who reads others');
		is(in_doubt(), '5 to be committed', 'they are in doubt');
		is(decided(), 5, 'it is decided');
		if ($who eq 'the next load')
		{
			is(on_main(load('one_phase', write_bytes('next.csv', "1,2013-01-01\n1,2013-01-03\n1,2013-01-04\n"))), 3, 'the next load');
			is(seen(), 53, 'all rows are seen');
		}
		else
		{
			is(resolve(), '5 committed', 'fast_copy_resolve()');
			is(seen(), 50, 'all rows are seen');
		}
		is(decided(), 0, 'nothing is to be decided any more');
		is(tables() . ', ' . prepared(), '3 1 4, 0 0', 'all tables are there');
	}
}

# Who reads new partitions while the nodes are told waits, and sees all
sub readers_wait
{
	my $load = load_until_decided();
	hold($two);
	release($main);
	ok(holds($two), 'two waits while it commits');
	my $reader = start_load($main, 'SELECT count(*) FROM s.t');
	ok(wait_until($main, "SELECT count(*) = 1 FROM pg_locks WHERE NOT granted AND locktype = 'relation'"), 'a reader waits');
	release($two);
	is((finish_load($load))[0], 40, 'the load is committed');
	is(join('', finish_load($reader)), 40, 'and seen as a whole');
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
	like(substr(slurp_log($one), $log), qr/PREPARE TRANSACTION.*ROLLBACK PREPARED/s, 'after the servers have prepared');
	is(tables() . ', ' . prepared(), "$NONE, 0 0", 'nothing is left');
	resolve();
	is(decided(), 0, 'nothing is decided');
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
		is(tables() . ', ' . prepared(), "$NONE, 0 0", 'nothing is left');
	}
}

# While one is at it the other one leaves it alone
sub two_resolvers
{
	crash_decided(load_until_decided());
	hold($two);
	my $first = start_load($main, "SELECT string_agg(outcome, ', ') FROM fast_copy_resolve('two')");
	ok(holds($two), 'the first one waits');
	is(on_main("SELECT string_agg(outcome, ', ') FROM fast_copy_resolve('two')"), 'in progress, in progress', 'the second one sees that somebody is at it');
	release($two);
	is((finish_load($first))[0], 'committed, committed', 'the first one ends it');
	resolve();
	is(seen() . ', ' . decided(), '40, 0', 'all rows are there');
}

# A standby has the identifier of its primary, and shows nothing that is prepared.
# Rows of the log may be at another place when they are removed.
sub elsewhere
{
	my $standby = PostgreSQL::Test::Cluster->new('standby');
	my $to = sub { my ($node) = @_; on_main("ALTER SERVER two OPTIONS (SET host '" . $node->host . "', SET port '" . $node->port . "')") };

	$two->backup('standby');
	$standby->init_from_backup($two, 'standby', has_streaming => 1);
	$standby->start;
	resolve();
	crash_decided(load_until_decided(1));
	$two->wait_for_catchup($standby);
	$to->($standby);
	is(on_main("SELECT outcome || ': ' || detail FROM fast_copy_resolve('two')"), 'unreachable: could not connect to server "two": It is a standby.', 'a standby is not asked');
	$to->($two);
	$standby->stop;
	is(decided() . ', ' . prepared(), '5, 3 2', 'it is decided yet');

	on_main("SELECT * FROM fast_copy_resolve('one')");
	hold($two);
	my $load = start_load($main, load('auto', $old));
	ok(holds($two), 'a load waits with what is left');
	on_main("SET lock_timeout = '10s';\nVACUUM FULL fast_copy_transactions");
	release($two);
	is(join('', finish_load($load)), 10, 'and knows its rows of the log, that is rewritten meanwhile');
	resolve();
	is(decided() . ', ' . prepared() . ', ' . seen(), '0, 0 0, 60', 'all rows are there');
	is(on_main('SELECT count(*) FROM fast_copy_transactions'), 1, 'and what names this database');
}

# What they have said to have done is still so after a crash of them
sub lazy_servers
{
	$_->safe_psql('postgres', "ALTER ROLE postgres SET synchronous_commit = off;\nALTER SYSTEM SET wal_writer_delay = '10s';\nSELECT pg_reload_conf()") foreach @there;
	foreach my $commit ('two_phase', 'one_phase')
	{
		clear();
		is(on_main(load($commit)), 40, "$commit: a load");
		$_->stop('immediate') foreach @there;
		$_->start foreach @there;
		resolve();
		is(tables(), $ALL, 'all tables are there');
		is(seen(), 40, 'with all rows');
	}
	$_->safe_psql('postgres', "ALTER ROLE postgres RESET synchronous_commit;\nALTER SYSTEM RESET wal_writer_delay;\nSELECT pg_reload_conf()") foreach @there;
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
	my ($rc, $out, $err) = $main->psql('plain', "COPY s.t FROM '$file' WITH (FORMAT csv, fast_copy, nodes 'two')");
	like($err, qr/ERROR:  option "nodes" cannot be used: extension fast_copy_cluster is not created in this database\nHINT:  CREATE EXTENSION fast_copy_cluster\./, 'an error');
	is(tables(), $NONE, 'nothing is made');
}

# A server that prepares none, and one that prepares fewer than are needed
sub too_few
{
	foreach my $max (0, 1)
	{
		my $why = $max ? 'The load needs more connections to it than the 1 that its max_prepared_transactions permits' : 'The server does not prepare transactions: its max_prepared_transactions is 0';

		$one->append_conf('postgresql.conf', "max_prepared_transactions = $max");
		$one->restart;
		clear();
		my ($rc, $out, $err) = $main->psql('postgres', load('two_phase'));
		like($err, qr/ERROR:  rows on server "one" cannot be committed in two phases\nDETAIL:  $why/, "$max, two_phase: an error");
		is(tables() . ', ' . prepared(), "$NONE, 0 0", 'nothing is left');
		my $log = length slurp_log($two);
		($rc, $out, $err) = $main->psql('postgres', load('auto'));
		like($err, qr/\A\S* ?NOTICE:  rows on server "one" are committed in one phase\nDETAIL:  $why.*\n.*\n?\z/, 'auto: one NOTICE');
		unlike(substr(slurp_log($two), $log), qr/PREPARE TRANSACTION/, 'for all servers');
		is(seen(), 40, 'all rows are there');
	}
}
