# Jobs of pg_cron, run over a connection and by its background workers: they
# load as the role that owns the job, and the log tells of both.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = write_rows('rows.csv', 4000);
my $node = new_node('main', {}, "fast_copy.chunk_size = '16kB'", "timezone = 'UTC'");

plan skip_all => 'pg_cron is not installed'
  if $node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_cron'") eq '0';
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_cron'\ncron.database_name = 'postgres'\ncron.host = '" . $node->host . "'\n");
$node->restart;
$node->safe_psql('postgres', "CREATE EXTENSION pg_cron; CREATE ROLE loader LOGIN; GRANT USAGE ON SCHEMA cron TO loader; GRANT pg_read_server_files TO loader;
	GRANT CREATE ON SCHEMA public TO loader; ALTER ROLE loader SET session_preload_libraries = 'fast_copy'; ALTER ROLE loader SET fast_copy.workers = 2;
	LOAD 'fast_copy'; ALTER SYSTEM SET fast_copy.log_min_duration = 0");
$node->safe_psql('postgres', "SET ROLE loader; CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY RANGE (ts);
	CREATE TABLE once (n int, ts timestamp, v text); SELECT fast_copy_create_ledger_table('ledger');
	CREATE TABLE bad (n int, ts date); CREATE TABLE plain (n int, ts timestamp, v text); CREATE TABLE by_copy (LIKE plain)");

# \@reboot is run when the scheduler starts: nobody has to wait for a minute
$node->safe_psql('postgres', "SET ROLE loader; SELECT cron.schedule(name, '\@reboot', command) FROM (VALUES
	('load', \$\$SELECT fast_copy('t', '$rows')\$\$),
	('files', \$\$CALL fast_copy_files('once', '$rows', 'ledger', batch_files => 1)\$\$),
	('fails', \$\$SELECT fast_copy('bad', '$rows')\$\$),
	('two', \$\$SELECT fast_copy('plain', '$rows', workers => 2); SELECT fast_copy('plain', '$rows', on_error => 'ignore', reject_limit => 10)\$\$),
	('copy', \$\$COPY by_copy FROM '$rows' (FORMAT csv, fast_copy)\$\$)) AS j (name, command)");

runs('over a connection', 'cron.use_background_workers = off', 'succeeded');
runs('by background workers', 'cron.use_background_workers = on', 'failed');
# session_preload_libraries is for sessions of clients
runs('by background workers, with the library preloaded', "shared_preload_libraries = 'pg_cron, fast_copy'", 'succeeded');
$node->stop;
done_testing();

# All jobs run once, with this setting; how the COPY ends depends on it.
sub runs
{
	my ($what, $setting, $copy) = @_;

	subtest "jobs run $what" => sub {
		$node->append_conf('postgresql.conf', "$setting\n");
		$node->safe_psql('postgres', 'TRUNCATE plain, by_copy, cron.job_run_details; DROP TABLE t; SET ROLE loader; CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY RANGE (ts)');
		my $from = -s $node->logfile;
		$node->restart;
		ok(wait_until($node, "SELECT count(*) = 5 FROM cron.job_run_details WHERE status IN ('succeeded', 'failed')"), 'all have run');
		is($node->safe_psql('postgres', 'SELECT jobname, status FROM cron.job_run_details JOIN cron.job USING (jobid) ORDER BY jobname'),
			"copy|$copy\nfails|failed\nfiles|succeeded\nload|succeeded\ntwo|succeeded", 'as the table of pg_cron says');
		like($node->safe_psql('postgres', "SELECT return_message FROM cron.job_run_details JOIN cron.job USING (jobid) WHERE jobname = 'fails'"),
			qr/^ERROR: +extra data after last expected column/, '... with the error of one that fails');
		like($node->safe_psql('postgres', "SELECT return_message FROM cron.job_run_details JOIN cron.job USING (jobid) WHERE jobname = 'copy'"),
			$copy eq 'failed' ? qr/option "fast_copy" not recognized/ : qr/^COPY 4000/, '... and what COPY has said');
		is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM plain), (SELECT count(*) FROM by_copy)'),
			'4000|8000|' . ($copy eq 'failed' ? 0 : 4000), 'the rows are there, once');
		is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM once), (SELECT rows FROM ledger)'), '4000|4000', 'those of the ledger, too, however often the job runs');
		is($node->safe_psql('postgres', "SELECT string_agg(DISTINCT relowner::regrole::text, ',') FROM pg_class WHERE relname LIKE 't\\_p%'"), 'loader', 'partitions are those of the role of the job');
		my $log = slurp_file($node->logfile, $from);
		like($log, qr/LOG:  fast_copy of public\.t from "\Q$rows\E": rows=4000, .*workers=\d of 2/, 'the log tells of the load');
		like($log, qr/LOG:  fast_copy of public\.bad from "\Q$rows\E" failed: /, '... and of the one that fails');
	};
}
