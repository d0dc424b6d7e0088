# Rejected records: what others see of them, their memory, and loads whose
# partitions must be attached before the rows come.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', {}, 'wal_level = logical', 'shared_buffers = 2MB');
my $on_error = "on_error => 'ignore', log_verbosity => 'silent'";

# tuples_skipped and tuples_excluded move; they are shown from time to time, and
# row 8 takes long enough for that
gates($node);
foreach my $workers (0, 2)
{
	subtest "$workers workers: others see how many records are skipped and excluded" => sub {
		my $file = write_bytes('skipped.csv', join('', map { "$_,$_\n" } 1 .. 6, 'a' .. 'z', 20 .. 29, 8) .
			join('', map { "x$_,1\n" } 1 .. 20000) . "7,7\n");

		close_gate();
		$node->safe_psql('postgres', 'DROP TABLE IF EXISTS skipped;
			CREATE TABLE skipped (n int, m text, CHECK (n <> 8 OR pg_sleep(0.2) IS NOT NULL), CHECK (gate(n)))');
		my $load = start_load($node, "SELECT fast_copy('skipped', '$file', $on_error, where_clause => 'n < 10', workers => $workers);\n");
		ok(at_gate($node), 'at the gate');
		ok(wait_until($node, 'SELECT tuples_skipped > 0 AND tuples_excluded = 10 FROM fast_copy_progress'),
			'fast_copy_progress');
		SKIP:
		{
			skip 'no tuples_skipped before 17', 1
			  if $node->safe_psql('postgres', 'SHOW server_version_num') < 170000;
			ok(wait_until($node, 'SELECT tuples_skipped > 0 AND tuples_excluded = 10 FROM pg_stat_progress_copy'),
				'pg_stat_progress_copy');
		}
		open_gate();
		my ($out, $err) = finish_load($load);
		is($out, 8, 'loaded');
	};
}

# A backend's peak, in kB: fifty times the rejects take no more of it.
sub peak
{
	my ($rows) = @_;
	my $file = write_bytes('many.csv', join('', map { "x$_,some text\n" } 1 .. $rows));

	my ($n, $peak) = split /\|/, $node->safe_psql('postgres', qq{SET client_min_messages = error;
		SET fast_copy.memory = '1MB'; SET fast_copy.workers = 0; TRUNCATE rej;
		DO \$\$ BEGIN PERFORM fast_copy('many', '$file', $on_error, timestamp_column => 'n', reject_table => 'rej'); END \$\$;
		SELECT (SELECT count(*) FROM rej), substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s+(\\d+)')});
	is($n, $rows, "$rows rejects");
	return $peak;
}

$node->safe_psql('postgres', "CREATE TABLE many (n int, t text); SELECT fast_copy_create_reject_table('rej')");

subtest 'memory does not grow with the rejects' => sub {
	SKIP:
	{
		skip 'no /proc', 6 unless -r '/proc/self/status';
		my $few = peak(2000);
		my $many = peak(100000);
		cmp_ok($many - $few, '<', 4 * 1024, 'where fast_copy loads');
		$node->safe_psql('postgres', "CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
			CREATE TRIGGER pass BEFORE INSERT ON many FOR EACH ROW EXECUTE FUNCTION pass()");
		$few = peak(2000);
		$many = peak(100000);
		cmp_ok($many - $few, '<', 4 * 1024, 'where core loads');
	}
};

$node->safe_psql('postgres', 'CREATE TABLE pairs (k int PRIMARY KEY)');
foreach my $end ('COMMIT', 'ROLLBACK')
{
	subtest "$end: an equal row of another transaction is waited for" => sub {
		my $pairs = write_bytes('pairs.csv', "1\n2\n1\n");
		my $other = $node->background_psql('postgres');

		$other->query_safe('BEGIN; INSERT INTO pairs VALUES (2)');
		my $load = start_load($node, "SELECT fast_copy('pairs', '$pairs', $on_error, on_error_classes => '{unique}', workers => 2);\n");
		ok(wait_until($node, "SELECT count(*) = 1 FROM pg_locks WHERE NOT granted"), 'it waits');
		$other->query_safe($end);
		$other->quit;
		my ($out, $err) = finish_load($load);
		is($out, $end eq 'COMMIT' ? 1 : 2, 'loaded');
		is($node->safe_psql('postgres', 'SELECT array_agg(k ORDER BY k) FROM pairs; TRUNCATE pairs'), '{1,2}', 'rows');
	};
}

subtest 'a role that may not insert does not wait for a lock, and holds none' => sub {
	my $pairs = write_bytes('pairs.csv', "1\n");
	my $other = $node->background_psql('postgres');

	$node->safe_psql('postgres', "CREATE ROLE nosy; GRANT pg_read_server_files TO nosy; GRANT CREATE ON SCHEMA public TO nosy;
		SELECT fast_copy_create_reject_table('kept'); SELECT fast_copy_create_history_table('past'); CREATE SCHEMA s;
		CREATE TABLE s.kept (LIKE kept); GRANT INSERT ON s.kept TO nosy");
	$other->query_safe('BEGIN; LOCK TABLE kept, past, s.kept');
	foreach (["reject_table => 'kept'", '', 'permission denied for table kept'], ["reject_table => 's.kept'::regclass", '', 'permission denied for schema s'], ["reject_table => " . $node->safe_psql('postgres', "SELECT 's.kept'::regclass::oid"), '', 'permission denied for schema s'],
		['log_verbosity => \'silent\'', "SET fast_copy.history = 'past';", 'permission denied for table past'])
	{
		my ($option, $set, $says) = @$_;
		my (undef, undef, $err) = $node->psql('postgres', "SET lock_timeout = '5s'; SET ROLE nosy; CREATE TABLE IF NOT EXISTS own (k int); $set
			SELECT fast_copy('own', '$pairs', on_error => 'ignore', $option)");

		like($err, qr/$says/, "$set $option");
	}
	$other->quit;
};

# A published table's new partitions are attached before the rows come, so that
# ATTACH does not check their foreign keys
subtest 'foreign keys hold for partitions that are attached before their rows come' => sub {
	my $file = write_bytes('owned.csv', "2024-01-01,5\n");
	$node->safe_psql('postgres', 'CREATE TABLE owner (k int PRIMARY KEY);
		CREATE TABLE owned (ts timestamp, k int REFERENCES owner) PARTITION BY RANGE (ts);
		CREATE PUBLICATION owned FOR TABLE owned');
	foreach my $workers (0, 2)
	{
		my (undef, undef, $err) = $node->psql('postgres', "SELECT fast_copy('owned', '$file', workers => $workers)");
		like($err, qr/violates foreign key constraint "owned_k_fkey"/, "$workers workers: nothing to refer to");
	}
	$node->safe_psql('postgres', 'INSERT INTO owner VALUES (5)');
	is($node->safe_psql('postgres', "SET client_min_messages = warning; SELECT fast_copy('owned', '$file', workers => 2)"),
		1, 'what it refers to is there');
};

$node->stop;
done_testing();
