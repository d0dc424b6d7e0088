# What a load leaves in the statistics of its tables is what COPY leaves there:
# rows inserted, alive and dead, by which autovacuum decides.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Digest::MD5 'md5_hex';
use FastCopy;
use PostgreSQL::Test::Cluster;
use Test::More;

my $rows = 15000;
# some texts are too long for a page, however they are compressed
my @lines = map { sprintf "%d,2024-%02d-15,%s\n", $_, $_ % 3 + 1, $_ % 500 ? "row $_ with " . "x" x 60 : join('', map { md5_hex($_) } $_ .. $_ + 200) } 1 .. $rows;
my $file = write_bytes('rows.csv', join('', @lines));
my $bad = write_bytes('bad.csv', join('', @lines, "-1,2024-01-15,no\n"));
my $node = new_node('statistics', {});

$node->safe_psql('postgres', 'CREATE EXTENSION pgstattuple');

# Core routes rows to partitions of a list, and keys to those of ranges.
my $columns = 'n int, d date, v text';
my %tables = (
	'one table' => "CREATE TABLE t ($columns)",
	'indexes' => "CREATE TABLE t ($columns, UNIQUE (n))",
	'a check of the whole row' => "CREATE TABLE t ($columns); CREATE FUNCTION fine(t) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT (\$1).n IS NOT NULL'; ALTER TABLE t ADD CHECK (fine(t))",
	'a list of partitions' => "CREATE TABLE t ($columns) PARTITION BY LIST (d); CREATE TABLE t_1 PARTITION OF t FOR VALUES IN ('2024-01-15'); CREATE TABLE t_2 PARTITION OF t DEFAULT",
	'ranges of partitions' => "CREATE TABLE t ($columns) PARTITION BY RANGE (d); CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM ('2024-01-01') TO ('2024-02-01'); CREATE TABLE t_2 PARTITION OF t FOR VALUES FROM ('2024-02-01') TO ('2024-05-01')",
);

# What may be around a load
my %around = (
	'a commit' => 'LOAD',
	'a rollback' => 'BEGIN; LOAD; ROLLBACK',
	'a rollback to a savepoint' => 'BEGIN; SAVEPOINT s; LOAD; ROLLBACK TO s; COMMIT',
	'a savepoint' => 'BEGIN; SAVEPOINT s; LOAD; RELEASE s; COMMIT',
	'TRUNCATE' => "INSERT INTO t SELECT -i, '2024-01-15', 'x' FROM generate_series(1, 10) i; BEGIN; TRUNCATE t; LOAD; COMMIT",
	'TRUNCATE and a rollback' => "INSERT INTO t SELECT -i, '2024-01-15', 'x' FROM generate_series(1, 10) i; BEGIN; TRUNCATE t; LOAD; ROLLBACK",
	'TRUNCATE and a rollback to a savepoint' => "BEGIN; TRUNCATE t; SAVEPOINT s; LOAD; ROLLBACK TO s; COMMIT",
);

my $settings = "LOAD 'fast_copy'; SET fast_copy.accelerate_min_size = 0; SET fast_copy.chunk_size = '64kB'";
my $leaves = "SELECT c.oid, c.relname, reltoastrelid FROM pg_class c WHERE relkind = 'r' AND relname ~ '^t(_|\$)'";
my $statistics = "SELECT relname, 'heap', n_tup_ins, n_live_tup, n_dead_tup, n_mod_since_analyze, n_ins_since_vacuum
		FROM ($leaves) l JOIN pg_stat_all_tables s USING (relname)
	UNION ALL SELECT l.relname, 'toast', n_tup_ins, n_live_tup, n_dead_tup, n_mod_since_analyze, n_ins_since_vacuum
		FROM ($leaves) l JOIN pg_stat_all_tables s ON s.relid = l.reltoastrelid ORDER BY 1, 2";
my $where = 'n > 0 AND t IS NOT NULL';

sub load
{
	my ($how, $from, $condition) = @_;

	return "COPY t FROM '$from' (FORMAT csv)" . ($condition ? " WHERE $condition" : '') if $how ne 'fast_copy';
	return "SELECT FROM fast_copy('t', '$from', missing_partitions => 'default'" . ($condition ? ", where_clause => '$condition'" : '') . ')';
}

# Makes the tables, loads, and returns what is known of them then
sub counted
{
	my ($table, $how, $workers, $commands, $query) = @_;
	my $accelerate = $how eq 'accelerated' ? 'on' : 'off';

	my ($rc, $out) = $node->psql('postgres', "DROP TABLE IF EXISTS t CASCADE; $table; $settings; SET fast_copy.workers = $workers; SET fast_copy.accelerate_copy = $accelerate;
		$commands;
		SELECT FROM pg_stat_force_next_flush();
		$query", on_error_stop => 0);
	return $out;
}

foreach my $name (sort keys %tables)
{
	subtest $name => sub {
		foreach my $around (sort keys %around)
		{
			my @conditions = $around eq 'a rollback' ? ('', $where) : ('');

			foreach my $condition (@conditions)
			{
				my $copy = counted($tables{$name}, 'copy', 0, $around{$around} =~ s/LOAD/load('copy', $file, $condition)/er, $statistics);

				foreach my $how ('accelerated', 'fast_copy')
				{
					foreach my $workers (0, 2)
					{
						is(counted($tables{$name}, $how, $workers, $around{$around} =~ s/LOAD/load($how, $file, $condition)/er, $statistics),
							$copy, "$around, $how, $workers workers" . ($condition ? ", $condition" : ''));
					}
				}
			}
		}
	};
}
# A load that fails: what is dead is known, and is in the file
my $dead = "SELECT relname, pg_stat_get_dead_tuples(oid) = (pgstattuple(oid)).dead_tuple_count, pg_stat_get_dead_tuples(oid) = pg_stat_get_tuples_inserted(oid)
	FROM (SELECT oid, relname FROM ($leaves) l UNION ALL SELECT reltoastrelid, relname || ' toast' FROM ($leaves) l) x ORDER BY 1;
	SELECT sum(pg_stat_get_dead_tuples(oid)) > 0 FROM ($leaves) l";
foreach my $name (sort keys %tables)
{
	subtest "$name: a load that fails" => sub {
		my $check = "$tables{$name}; ALTER TABLE t ADD CHECK (n > 0)";
		my $all = join('', map { "$_|t|t\n$_ toast|t|t\n" } $name =~ /partitions/ ? ('t_1', 't_2') : 't') . 't';

		foreach my $how ('copy', 'accelerated', 'fast_copy')
		{
			foreach my $workers ($how eq 'copy' ? 0 : (0, 2))
			{
				foreach my $around ('LOAD', 'BEGIN; SAVEPOINT s; LOAD; ROLLBACK TO s; COMMIT')
				{
					# an empty table with an index would have got new files only at the end
					my $apart = $name eq 'indexes' && $how eq 'fast_copy' && $around eq 'LOAD';
					is(counted($check, $how, $workers, $around =~ s/LOAD/load($how, $bad)/er, $dead), $apart ? $all =~ s/t\z/f/r : $all, "$around, $how, $workers workers");
				}
			}
		}
	};
}

subtest 'TRUNCATE before a load that fails: all is as before' => sub {
	my $commands = $around{'TRUNCATE and a rollback'};

	foreach my $how ('copy', 'accelerated', 'fast_copy')
	{
		is(counted("$tables{indexes}; ALTER TABLE t ADD CHECK (n <> -1 OR d IS NULL)", $how, $how eq 'copy' ? 0 : 2, $commands =~ s/LOAD/load($how, $bad)/er =~ s/-i/-9 - i/r, $statistics) =~ s/\n.*//sr,
			't|heap|10|10|0|10|10', $how);
	}
};

# Dead rows are known as well if the session is ended, or its workers, while it
# waits for the last row.
$node->safe_psql('postgres', 'CREATE FUNCTION waits(n int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN IF n < 0 THEN PERFORM pg_sleep(100); END IF; RETURN true; END $$');
foreach my $name ('one table', 'a list of partitions')
{
	foreach my $who ('client backend', 'parallel worker')
	{
		subtest "$name: a $who that is ended" => sub {
			$node->safe_psql('postgres', "DROP TABLE t CASCADE; $tables{$name}; ALTER TABLE t ADD CHECK (waits(n))");
			my $load = start_load($node, "$settings; SET fast_copy.workers = 2; " . load('fast_copy', $bad));
			ok(at_gate($node), 'it waits');
			$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = '$who' AND pid <> pg_backend_pid()");
			like((finish_load($load))[1], qr/terminating (connection|background worker)/, 'it is ended');
			wait_until($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE '%fast_copy(''t''%' AND pid <> pg_backend_pid()");
			unlike($node->safe_psql('postgres', $dead), qr/f/, 'dead rows are known');
		};
	}
}

foreach my $writer ('multi_insert', 'page')
{
	subtest "TRUNCATE before a load by $writer that is cancelled: all is as before" => sub {
		my $begin = "INSERT INTO t VALUES (1, '2024-01-15', NULL); BEGIN; TRUNCATE t; SET LOCAL fast_copy.writer = $writer";

		$node->safe_psql('postgres', "DROP TABLE t CASCADE; $tables{'ranges of partitions'}; ALTER TABLE t ADD CHECK (waits(n))");
		my $load = start_load($node, "$settings; SET fast_copy.workers = 2; $begin; " . load('fast_copy', $bad));
		ok(at_gate($node), 'it waits');
		$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
		like((finish_load($load))[1], qr/canceling statement/, 'it is cancelled');
		wait_until($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE '%fast_copy(''t''%' AND pid <> pg_backend_pid()");
		like($node->safe_psql('postgres', $statistics), qr/^t_1\|heap\|1\|1\|0\|1\|1\n/, 'one row is alive');
	};
}
done_testing();
