# Functions that fast_copy_analyze() calls: what they cannot do, what is undone,
# and what nobody can undo.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use Test::More;

my $node = new_node('main', {}, 'session_preload_libraries = fast_copy');
my $file = write_rows('rows.csv', 50);
my $left = FastCopy::directory() . '/left';

# the table's constraint does what act() does; so does a condition
query("CREATE TABLE log (n int); CREATE SEQUENCE seq;
	CREATE FUNCTION act(n int) RETURNS boolean LANGUAGE sql AS 'SELECT true';
	CREATE TABLE t (n int, ts timestamp, v text, CHECK (act(n))) PARTITION BY RANGE (ts);
	CREATE TABLE plain (n int, ts timestamp, v text)");
what_is_refused();
subtest 'what a function does to the session is undone' => \&what_is_undone;
subtest 'what nobody can undo stays' => \&what_stays;
$node->stop;
done_testing();

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

sub acts
{
	my ($statement, $parallel) = @_;

	query("CREATE OR REPLACE FUNCTION act(n int) RETURNS boolean LANGUAGE plpgsql PARALLEL " . ($parallel // 'UNSAFE') .
		" AS \$\$ BEGIN $statement; RETURN true; END \$\$");
}

sub looks
{
	return ("SELECT * FROM fast_copy_analyze('t', '$file');", "SELECT * FROM fast_copy_analyze('plain', '$file', 'ts', where_clause => 'act(n)');");
}

sub what_is_refused
{
	my %statement = (
		'INSERT INTO log VALUES (1)' => 'cannot execute INSERT in a read-only transaction',
		"PERFORM nextval('seq')" => 'cannot execute nextval\(\) in a read-only transaction',
		"PERFORM setval('seq', 7)" => 'cannot execute setval\(\) in a read-only transaction',
		'CREATE TABLE made ()' => 'cannot execute CREATE TABLE in a read-only transaction',
		"COPY log FROM PROGRAM 'echo 1'" => 'cannot execute COPY FROM in a read-only transaction',
		"PERFORM fast_copy('plain', '$file')" => 'cannot execute fast_copy\(\) in a read-only transaction',
		# it would be the end of it
		"PERFORM set_config('transaction_read_only', 'off', false); INSERT INTO log VALUES (1)" => 'transaction_read_only|cannot set transaction read-write mode|read-only transaction');

	foreach my $statement (sort keys %statement)
	{
		subtest "$statement: refused" => sub {
			foreach my $parallel ('UNSAFE', 'SAFE')
			{
				acts($statement, $parallel);
				foreach my $look (looks())
				{
					my ($rc, $out, $err) = $node->psql('postgres', "SET fast_copy.workers = 2; $look");

					like("$out$err", qr/$statement{$statement}|during a parallel operation/, "$statement, $parallel: $look");
				}
			}
		};
	}
	subtest 'what is refused leaves nothing, and the session may write afterwards' => \&nothing_is_left;
}

# Whatever the error was
sub nothing_is_left
{
	my ($rc, $out, $err) = $node->psql('postgres', join("\n", looks(), 'INSERT INTO log VALUES (2);', "DO \$\$BEGIN PERFORM * FROM fast_copy_analyze('t', '$file'); EXCEPTION WHEN OTHERS THEN INSERT INTO log VALUES (3); END\$\$;"), on_error_stop => 0);
	is(query("SELECT string_agg(n::text, ' ' ORDER BY n) FROM log; TRUNCATE log"), '2 3', 'the session goes on');
	is(query("SELECT is_called FROM seq; SELECT to_regclass('made') IS NULL; SELECT count(*) FROM plain"), "f\nt\n0", 'nothing is there');
}

sub what_is_undone
{
	acts("INSERT INTO pg_temp.here VALUES (n); PERFORM set_config('work_mem', '77kB', false); PERFORM pg_notify('hostile', 'told'); PERFORM pg_advisory_xact_lock(42)");
	foreach my $look (looks())
	{
		my ($rc, $out, $err) = $node->psql('postgres', "CREATE TEMP TABLE here (n int); LISTEN hostile;\n" . $look =~ s/\*/sum(rows) > 0/r .
			"\nSELECT count(*) FROM here; SELECT current_setting('work_mem'); SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid();");

		is($out, "t\n0\n4MB\n0", "$look: temporary rows, settings, notifications, locks of the transaction");
	}
}

# What docs/errors.md says about it
sub what_stays
{
	acts("IF n = 1 THEN PERFORM pg_advisory_lock(42); COPY (SELECT 1) TO '$left'; END IF");
	foreach my $look (looks())
	{
		unlink $left;
		is(query($look =~ s/\*/sum(rows) > 0/r . " SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted"), "t\n1", "$look: locks of the session stay");
		ok(-e $left, "$look: files stay");
	}
}
