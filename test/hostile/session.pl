# What a load leaves in its session and in the server's log, and who sees it
# there: the session may be given to somebody else.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {}, 'session_preload_libraries = fast_copy');
my $file = write_rows('secret_name.csv', 100);
my $LOAD = "SELECT fast_copy('t', '$file');";
my $SEEN = 'SELECT count(*) > 0 FROM fast_copy_report();';

query("CREATE ROLE alice; CREATE ROLE bob; CREATE ROLE team; GRANT alice TO team; GRANT pg_read_server_files TO alice, bob;
	CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY RANGE (ts); ALTER TABLE t OWNER TO alice; GRANT CREATE ON SCHEMA public TO alice");
subtest 'a report is seen by who has loaded, and by superusers' => \&a_report_is_the_loaders;
subtest 'DISCARD ALL forgets a report, and nothing else does' => \&it_is_forgotten;
programs_in_the_log();
$node->stop;
done_testing();

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

sub sees
{
	my ($sql, $expected, $what) = @_;

	is(join(' ', split /\s+/, query($sql) =~ s/^100$//mgr =~ s/^\s+//r), $expected, $what);
}

sub a_report_is_the_loaders
{
	foreach my $set ('SET ROLE', 'SET SESSION AUTHORIZATION')
	{
		my $reset = $set =~ s/^SET/RESET/r;

		sees("$LOAD $set alice; $SEEN $set bob; $SEEN $reset; $SEEN", 'f f t', "$set: a superuser's report");
		sees("$set alice; $LOAD $SEEN $reset; $set bob; $SEEN $reset; $set team; $SEEN $reset; $SEEN", 't f t t', "$set: a user's report");
	}
	sees("SET ROLE alice; SELECT count(*) FROM fast_copy_analyze('t', '$file') WHERE false; SET ROLE bob; $SEEN", '0 f', 'an analysis is a report, too');
	# whose function it was
	query("CREATE FUNCTION load() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS \$\$ SELECT public.fast_copy('t', '$file') \$\$; ALTER FUNCTION load() OWNER TO alice; GRANT EXECUTE ON FUNCTION load() TO bob");
	sees("SET ROLE bob; SELECT load(); $SEEN", 'f', 'a function of another user loads');
	# the next load is the next user's
	sees("$LOAD SET ROLE alice; $LOAD $SEEN", 't', 'the last load counts');
	# somebody who is gone
	query("CREATE ROLE gone; GRANT pg_read_server_files TO gone; GRANT INSERT ON t TO gone");
	sees("SET ROLE gone; $LOAD RESET ROLE; REVOKE ALL ON t FROM gone; DROP ROLE gone; SET ROLE bob; $SEEN RESET ROLE; $SEEN", 'f t', 'a role that is gone');
}

sub it_is_forgotten
{
	sees("$LOAD\nDISCARD ALL;\n$SEEN $LOAD $SEEN", 'f t', 'DISCARD ALL');
	sees("$LOAD\nDISCARD PLANS; DISCARD TEMP; DISCARD SEQUENCES; RESET ALL;\n$SEEN", 't', 'what discards something else');
	my ($rc, $out, $err) = $node->psql('postgres', "$LOAD\nBEGIN;\nDISCARD ALL;\nROLLBACK;\n$SEEN", on_error_stop => 0);
	like($out, qr/t\z/, 'a DISCARD ALL that failed');
	like($err, qr/DISCARD ALL cannot run inside a transaction block/, 'as core has it');
	# as a driver may send it
	SKIP:
	{
		skip 'psql has no \bind', 1 if query("SELECT current_setting('server_version_num')::int < 160000") eq 't';
		sees("$LOAD\nDISCARD ALL \\bind \\g\n$SEEN", 'f', 'DISCARD ALL by the extended protocol');
	}
}

# A command may hold a password; a file's name tells what was loaded.
sub programs_in_the_log
{
	my %sql = (
		"SELECT fast_copy('t', 'PGPASSWORD=secret cat $file', program => true)" => 'a program',
		"SELECT fast_copy('t', ARRAY['PGPASSWORD=secret cat $file', 'cat $file # secret'], program => true)" => '2 programs',
		"SELECT fast_copy('t', 'PGPASSWORD=secret cat $file', program => true, where_clause => 'n / 0 > 0')" => 'a program failed',
		"COPY t FROM PROGRAM 'PGPASSWORD=secret cat $file' WITH (FORMAT csv, fast_copy)" => 'a program',
		"SELECT fast_copy('t', '$file')" => "\"$file\"",
		"SELECT fast_copy('t', ARRAY['$file', '" . write_rows('other.csv', 1) . "'])" => "\"$file\" and 1 more",
		"\\copy t from program 'PGPASSWORD=secret cat $file' with (format csv, fast_copy)" => '"stdin"');

	query('ALTER SYSTEM SET fast_copy.log_min_duration = 0');
	$node->reload;
	foreach my $sql (sort keys %sql)
	{
		subtest "$sql: the log tells from where, and no command" => sub {
			my $from = -s $node->logfile;

			$node->psql('postgres', $sql);
			my @lines = grep { /fast_copy of/ } split /^/, slurp_file($node->logfile, $from);
			is(scalar(@lines), 1, "$sql: a line");
			like($lines[0] // '', qr/LOG:  fast_copy of public\.t from \Q$sql{$sql}\E: /, "$sql: from where");
			unlike("@lines", qr/secret cat|PASSWORD/, "$sql: no command");
		};
	}
}
