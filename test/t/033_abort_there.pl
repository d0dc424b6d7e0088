# A load that ends before its time ends there, too: what it keeps others from on
# a node is free again within a second or two, whatever the node is at.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;
use Time::HiRes qw(time);

my @conf = ('max_prepared_transactions = 20', 'restart_after_crash = on', 'session_preload_libraries = fast_copy');
my $main = new_node('main', {}, @conf);
needs($main, 'postgres_fdw');
my $there = new_node('there', {}, @conf);
my $small = write_bytes('small.csv', "1,x\n2,sleep\n3,x\n");
my $large = write_bytes('large.csv', "1,x\n2,sleep\n" . join('', map { "$_," . 'x' x 100 . "\n" } 3 .. 200_000));
my $good = write_bytes('good.csv', "1,x\n2,x\n");
my $OURS = "application_name = 'fast_copy'";

# A row of it sleeps
$there->safe_psql('postgres', "CREATE TABLE r (n int, v text); CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END \$\$;
	CREATE TRIGGER sleep BEFORE INSERT ON r FOR EACH ROW WHEN (NEW.v = 'sleep') EXECUTE FUNCTION sleep()");
$main->safe_psql('postgres', "CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster;" . server_sql('there', $there) . "
	CREATE FOREIGN TABLE t (n int, v text) SERVER there OPTIONS (schema_name 'public', table_name 'r')");

subtest 'a load that is cancelled, or whose process goes' => \&ends;
subtest 'a savepoint' => \&savepoint;
subtest 'a node that does not even answer that' => \&silent;
$_->stop foreach $main, $there;
done_testing();

sub load { my ($path) = @_; return "SELECT fast_copy('t', '$path', log_verbosity => 'silent')" }

# Seconds until nothing of a load is left there
sub until_gone
{
	my $start = time;

	ok(wait_until($there, "SELECT count(*) = 0 FROM pg_stat_activity WHERE $OURS"), 'it is gone');
	return time - $start;
}

sub ends
{
	my $leader = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT fast_copy(%' AND pid <> pg_backend_pid()";
	my %ways = (
		cancel => sub { $main->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM ($leader) x") },
		terminate => sub { $main->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM ($leader) x") },
		kill => sub { kill_hard($main->safe_psql('postgres', $leader)) });

	foreach my $way (sort keys %ways)
	{
		foreach my $at ('a lock', 'a trigger')
		{
			foreach my $path ($small, $large)
			{
				my $name = "$way, $at, " . ($path eq $small ? 'a small file' : 'a large file');
				my $lock = $at eq 'a lock' ? start_load($there, 'BEGIN; LOCK r; SELECT pg_sleep(600)') : undef;

				wait_until($there, "SELECT count(*) > 0 FROM pg_locks WHERE relation = 'r'::regclass AND mode = 'AccessExclusiveLock'") if $lock;
				my $load = start_load($main, load($path));
				ok(wait_until($there, "SELECT count(*) > 0 FROM pg_stat_activity WHERE $OURS AND wait_event IN ('relation', 'PgSleep')"), "$name: it waits");
				$ways{$way}->();
				my $start = time;
				my (undef, $err) = finish_load($load);
				cmp_ok(time - $start, '<', 3, "$name: the load has ended");
				like($err, $way eq 'cancel' ? qr/canceling statement due to user request/ : qr/terminating connection|server closed the connection/, "$name: and said so");
				cmp_ok(until_gone(), '<', 2.5, "$name: soon");
				$there->safe_psql('postgres', 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE \'%pg_sleep(600)\' AND pid <> pg_backend_pid()');
				$lock->{run}->finish if $lock;
				wait_until($main, 'SELECT true');
			}
		}
	}
	is($there->safe_psql('postgres', 'SELECT count(*) FROM r'), 0, 'no rows are there');
}

# What was sent before stays, and the session there goes on
sub savepoint
{
	foreach my $path ($small, $large)
	{
		my $start = time;
		my ($rc, $out, $err) = $main->psql('postgres', 'BEGIN; ' . load($good) . "; SAVEPOINT a; SET LOCAL statement_timeout = '1s'; " . load($path) . ";\nROLLBACK TO a;\n" . load($good) . ";\nCOMMIT", on_error_stop => 0);

		like($err, qr/^\S+ ERROR:  canceling statement due to statement timeout(\nCONTEXT: .*)?$/, 'a timeout');
		cmp_ok(time - $start, '<', 5, 'it does not take long');
		is($there->safe_psql('postgres', 'SELECT count(*) FROM r'), 4, 'the rows before it and after it are there');
		$there->safe_psql('postgres', 'TRUNCATE r');
		until_gone();
	}
}

# Stopped, all of it: the wait has an end
sub silent
{
	my $load = start_load($main, load($small));

	ok(wait_until($there, "SELECT count(*) > 0 FROM pg_stat_activity WHERE $OURS AND wait_event = 'PgSleep'"), 'it waits');
	my @pids = ($there->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $OURS"), (split /\n/, PostgreSQL::Test::Utils::slurp_file($there->data_dir . '/postmaster.pid'))[0]);
	kill 'STOP', @pids;
	$main->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'SELECT fast_copy(%' AND pid <> pg_backend_pid()");
	my $start = time;
	my (undef, $err) = finish_load($load);
	cmp_ok(time - $start, '<', 5, 'the load has ended');
	like($err, qr/canceling statement due to user request/, 'and said so');
	kill 'CONT', @pids;
	cmp_ok(until_gone(), '<', 2.5, 'the node is told once it goes on');
}
