# Servers of other versions commit what they were sent with this one, or none of
# them does, whatever crashes.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;
use There;

my $main = new_node('main', { allows_streaming => 1 }, 'max_prepared_transactions = 20', 'session_preload_libraries = fast_copy');
my @there = There::all();
my $last = $there[-1];
my $n = @there;
my $file = write_bytes('rows.csv', join('', map { my $k = $_; map { "$k,$_\n" } 1 .. 100 } 0 .. $n));
my $ALL = join(' ', (100) x ($n + 1));
my $NONE = join(' ', (0) x ($n + 1));

note(sprintf('with: coordinator of %s, nodes of %s', $main->pg_version->major, join(', ', map { $_->major } @there)));
on_main("CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster; CREATE TABLE t (k int, v text) PARTITION BY LIST (k); CREATE TABLE t_here PARTITION OF t FOR VALUES IN ($n)");
foreach my $k (0 .. $#there)
{
	$there[$k]->safe_psql('postgres', "DROP DATABASE IF EXISTS commits WITH (FORCE);\nCREATE DATABASE commits");
	$there[$k]->safe_psql('commits', "CREATE TABLE r (k int, v text); " . refusing_sql());
	on_main($there[$k]->server('commits') . "CREATE FOREIGN TABLE t_$k PARTITION OF t FOR VALUES IN ($k) SERVER " . $there[$k]->name . " OPTIONS (schema_name 'public', table_name 'r')");
}

subtest 'a commit that nothing disturbs' => \&undisturbed;
subtest 'a crash before the decision' => \&crash_before_the_decision;
subtest 'a crash after the decision' => \&crash_after_the_decision;
subtest 'a crash of each of the others' => \&crash_of_another;
subtest 'one that refuses to prepare' => \&refused_prepare;
subtest 'savepoints' => \&savepoints;
$_->safe_psql('postgres', "ALTER SYSTEM RESET synchronous_standby_names;\nDROP DATABASE commits WITH (FORCE)") foreach @there;
$main->stop;
subtest 'the recipe of docs/cluster.md' => \&the_recipe;
done_testing();

sub on_main { my ($sql) = @_; return $main->safe_psql('postgres', $sql) }

sub load
{
	my ($commit) = @_;

	return "SELECT fast_copy('t', '$file', options => '{\"remote_commit\": \"$commit\"}', log_verbosity => 'silent');";
}

sub clear
{
	$_->safe_psql('commits', 'TRUNCATE r, refuses') foreach @there;
	on_main('TRUNCATE t_here');
}

# Rows on each, and here
sub counts { return join(' ', (map { $_->safe_psql('commits', 'SELECT count(*) FROM r') } @there), on_main('SELECT count(*) FROM t_here')) }
sub prepared { return join(' ', map { $_->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts') } @there) }
sub each_of { my ($what) = @_; return join(', ', map { $_->name . " $what" } @there) }
sub outcomes { my ($from) = @_; return on_main("SELECT string_agg(server_name || ' ' || outcome, ', ' ORDER BY server_name) FROM $from") }

sub undisturbed
{
	foreach my $commit ('auto', 'two_phase', 'one_phase')
	{
		clear();
		is(on_main(load($commit)), 100 * ($n + 1), $commit);
		is(counts(), $ALL, 'all rows are there');
		is(prepared(), join(' ', (0) x $n), 'nothing is left prepared');
		is(outcomes('fast_copy_in_doubt'), '', 'nor in doubt');
	}
	clear();
	on_main('BEGIN; ' . load('two_phase') . ' ROLLBACK');
	is(counts(), $NONE, 'rolled back');
}

sub crash_before_the_decision
{
	clear();
	hold($last);
	my $load = start_load($main, load('two_phase'));
	ok(holds($last), 'the last one waits while it prepares');
	is(outcomes('fast_copy_in_doubt'), each_of('in progress'), 'the load is in progress');
	$main->stop('immediate');
	finish_load($load);
	$main->start;
	release($last);
	is(counts(), $NONE, 'no rows can be seen');
	is(outcomes('fast_copy_in_doubt'), each_of('to be rolled back'), 'they are in doubt');
	is(outcomes('fast_copy_resolve()'), each_of('rolled back'), 'fast_copy_resolve()');
	is(prepared(), join(' ', (0) x $n), 'nothing is left prepared');
	is(counts(), $NONE, 'none of the rows is there');
}

# Loads until all have prepared and this server waits to write its decision
sub load_until_decided
{
	clear();
	hold($main);
	my $load = start_load($main, load('two_phase'));
	ok(holds($main), 'the server waits with its decision');
	is(prepared(), join(' ', (1) x $n), 'all others are prepared');
	return $load;
}

sub crash_after_the_decision
{
	my $load = load_until_decided();

	$main->stop('immediate');
	finish_load($load);
	$main->start;
	release($main);
	is(outcomes('fast_copy_in_doubt'), each_of('to be committed'), 'they are in doubt');
	is(outcomes('fast_copy_resolve()'), each_of('committed'), 'fast_copy_resolve()');
	is(prepared(), join(' ', (0) x $n), 'nothing is left prepared');
	is(counts(), $ALL, 'all rows are there');
}

# The process that has prepared is killed, and its server starts again
sub crash_of_another
{
	foreach my $there (@there)
	{
		my $load = load_until_decided();
		my $start = $there->safe_psql('postgres', "SELECT min(backend_start) FROM pg_stat_activity WHERE backend_type = 'checkpointer'");

		$there->psql('postgres', "DO \$\$ BEGIN EXECUTE format('COPY (SELECT 1) TO PROGRAM ''kill -KILL %s''', (SELECT pid FROM pg_stat_activity WHERE application_name = 'fast_copy')); END \$\$");
		ok(wait_until($there, "SELECT min(backend_start) > '$start' FROM pg_stat_activity WHERE backend_type = 'checkpointer'"), $there->name . ' has crashed and come back');
		release($main);
		my ($out, $err) = finish_load($load);
		my $name = $there->name;
		is($out, 100 * ($n + 1), "$name: the load is committed");
		like($err, qr/WARNING:  could not commit the prepared transaction "fast_copy_\w+" on server "$name"/, "$name: with a WARNING");
		is(outcomes('fast_copy_resolve()'), "$name committed", "$name: fast_copy_resolve()");
		is(counts(), $ALL, "$name: all rows are there");
	}
}

sub refused_prepare
{
	foreach my $there (@there)
	{
		clear();
		$there->safe_psql('commits', 'INSERT INTO refuses VALUES (1)');
		my ($rc, $out, $err) = $main->psql('postgres', load('two_phase'));
		like($err, qr/ERROR:  refused at the end\nCONTEXT:  .*\nremote SQL command on server "@{[ $there->name ]}": PREPARE TRANSACTION/, $there->name . ' refuses');
		unlike($err, qr/WARNING/, 'all others are known to have rolled back');
		is(counts(), $NONE, 'no rows are there');
		is(prepared(), join(' ', (0) x $n), 'nothing is left prepared');
	}
}

sub savepoints
{
	clear();
	on_main('BEGIN; ' . load('two_phase') . ' SAVEPOINT a; ' . load('two_phase') . ' ROLLBACK TO a; SAVEPOINT b; ' . load('two_phase') . ' RELEASE b; COMMIT');
	is(counts(), join(' ', (200) x ($n + 1)), 'rolled back between two that stay');
}

# Each server and the next one, or one of this version; they keep nothing of it
sub the_recipe
{
	my $coordinator = new_node('coordinator', {});
	my @nodes = (@there, $n == 1 ? new_node('own', {}, 'max_prepared_transactions = 10') : ());

	$_->safe_psql('postgres', 'DROP EXTENSION fast_copy CASCADE') foreach $coordinator, $n == 1 ? $nodes[1] : ();
	foreach my $first (0 .. $#nodes - 1)
	{
		my @two = @nodes[ $first, $first + 1 ];
		my $said = recipe($coordinator, @two);

		like($said, qr/^4000\|7\|2013-01-01 00:30:00\+00\|2013-01-02 19:30:00\+00$/m, join(' and ', map { $_->name } @two));
		$coordinator->safe_psql('postgres', 'SET client_min_messages = warning; DROP TABLE readings, visits; DROP EXTENSION postgres_fdw CASCADE; DROP EXTENSION fast_copy CASCADE');
		$_->safe_psql('postgres', 'DROP OWNED BY loader; DROP ROLE loader') foreach @two;
	}
	$_->stop foreach $coordinator, $n == 1 ? $nodes[1] : ();
}
