# The page writer: what it leaves is what heap_multi_insert leaves, on disk, in
# the WAL, on a standby, after a crash and with checksums.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 40000;
my $file = write_rows('rows.csv', $rows);
my $sum = $rows * ($rows + 1) / 2;

# There are too few rows for pages by themselves.
my $by_pages = 'fast_copy.writer = page';

# Rows with what makes pages differ: NULLs, values of any length up to what
# just fits a page, long ones that do not compress, and some that do.
my $mixed = write_bytes('mixed.csv', join('', map {
	my $length = $_ * 7919 % 2100;
	my $text = $_ % 5 == 0 ? '' : $_ % 50 == 7 ? noise($_, 5000) : $_ % 50 == 11 ? 'x' x 6000 : 'y' x $length;
	sprintf "%d,2013-01-%02d 00:00:00,%s\n", $_, $_ % 5 + 1, $text
} 1 .. 4000));

my $everything = 'SELECT tableoid::regclass, count(*), md5(string_agg(t::text, \'|\' ORDER BY ctid)) FROM t GROUP BY 1 ORDER BY 1::text';
my $pages = "SELECT string_agg(DISTINCT choice, ';') FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL";

sub noise
{
	my ($seed, $length) = @_;

	return join('', map { $seed = ($seed * 1103515245 + 12345) % 2147483648; chr(97 + ($seed >> 16) % 26) } 1 .. $length);
}

# A standby that compares each page it replays, and checksums.
my $primary = new_node('primary', { allows_streaming => 1, extra => ['--data-checksums'] },
	'wal_consistency_checking = all', 'wal_keep_size = 4GB', 'log_checkpoints = on', $by_pages);
$primary->safe_psql('postgres', 'CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility');
my $standby = new_standby($primary);

# what follows has two
foreach my $workers (0, 1, 4)
{
	foreach my $case (
		[ 'rows', $file, '', "partition_interval => '1 day'" ],
		[ 'one partition, little memory', $file, '', "partition_interval => '1 month'", 'SET fast_copy.memory = 1024;' ],
		[ 'mixed', $mixed, ', g int GENERATED ALWAYS AS (n + 1) STORED', "partition_interval => '1 day'" ],
		[ 'frozen', $mixed, '', "partition_interval => '1 day', freeze => true" ])
	{
		my ($name, $source, $columns, $options, $settings) = @$case;
		my $what = "$name, $workers workers";

		subtest $what => sub {
			my (%size, %there);

			foreach my $writer ('multi_insert', 'page')
			{
				events($primary, 't', $columns);
				$primary->safe_psql('postgres', 'ALTER TABLE t ADD gone int; ALTER TABLE t DROP gone; CREATE INDEX ON t (n)');
				my $choice = $primary->safe_psql('postgres', "SET fast_copy.writer = '$writer'; " . ($settings // '') . "
					SELECT FROM fast_copy('t', '$source', columns => '{n,ts,v}', workers => $workers, $options); $pages");
				like($choice, qr/\b$writer\b/, "by $writer");
				$size{$writer} = $primary->safe_psql('postgres', "SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relname ~ '^t_p' AND relkind = 'r'");
				$there{$writer} = $primary->safe_psql('postgres', $everything);
			}
			is($there{page}, $there{multi_insert}, "the same rows in the same order");
			# each slice ends with a page that is not full, and with little memory they are small
			cmp_ok($size{page}, '<=', $size{multi_insert} * ($settings ? 1.08 : 1.03), "no larger");
			is_sound($primary, $what);
			$primary->wait_for_catchup($standby);
			is($standby->safe_psql('postgres', $everything), $there{page}, "standby is equal");
			return if $name ne 'frozen';
			is($primary->safe_psql('postgres', "SELECT bool_and(all_frozen = pg_relation_size(c.oid) / 8192 AND all_visible = all_frozen)
				FROM pg_class c CROSS JOIN LATERAL pg_visibility_map_summary(c.oid) WHERE c.relkind = 'r' AND c.relname ~ '^t_p'"),
				't', "all pages are in the visibility map");
		};
	}
}

# Slices of many partitions in turn: in time order, where a chunk has slices of
# several, and in random order; with memory for many that wait, and for hardly
# any.  No process waits for a slice that the same or another process keeps.
my $sorted = write_bytes('sorted.csv', join('', map {
	sprintf "%d,2013-01-%02d %02d:%02d:%02d,some text of row %d\n", $_, $_ / 3600 / 24 + 1, $_ / 3600 % 24, $_ / 60 % 60, $_ % 60, $_
} 1 .. $rows * 4));
foreach my $workers (2, 4)
{
	foreach my $source ($sorted, $file)
	{
		subtest "slices in turn, $workers workers, " . ($source eq $file ? 'random' : 'time') . ' order' => sub {
			my $there = "count(*), md5(string_agg(t::text, '|' ORDER BY n))";

			$primary->safe_psql('postgres', "DROP TABLE IF EXISTS copied; CREATE TABLE copied (n int, ts timestamp, v text); COPY copied FROM '$source' (FORMAT csv)");
			my $copied = $primary->safe_psql('postgres', "SELECT $there FROM copied t");
			foreach my $settings (map { my $c = $_; map { "SET fast_copy.chunk_size = '$c'; SET fast_copy.memory = '$_'" } '1MB', '16MB' } '16kB', '256kB')
			{
				events($primary, 't');
				is($primary->safe_psql('postgres', "SET statement_timeout = '60s'; $settings;
					SELECT FROM fast_copy('t', '$source', workers => $workers, partition_interval => '5 hours');
					SELECT $there, (SELECT count(*) FROM (SELECT ts < lag(ts) OVER (PARTITION BY tableoid ORDER BY ctid) AS back FROM t) x WHERE back) FROM t"),
					"$copied|0", $settings);
			}
			is_sound($primary, 'slices in turn');
		};
	}
}

# What a client sends is taken while slices wait: the receiver has room again
# only when they are inserted.
foreach my $workers (2, 4)
{
	subtest "a client's data in turn, $workers workers" => sub {
		foreach my $memory ('1MB', '4MB', '64MB')
		{
			my $there = 'count(*), sum(n)';
			my $answer = $primary->safe_psql('postgres', "LOAD 'fast_copy'; SET client_min_messages = warning; SET statement_timeout = '60s';
				SET fast_copy.memory = '$memory'; SET fast_copy.writer = 'page'; SET fast_copy.chunk_size = '16kB';
				BEGIN; DROP TABLE IF EXISTS sent; CREATE TABLE sent (n int, ts timestamp, v text);
				\\copy sent FROM '$sorted' WITH (FORMAT csv, fast_copy, workers $workers)
				COMMIT; SELECT $there, (SELECT count(*) FROM (SELECT n < lag(n) OVER (ORDER BY ctid) AS back FROM sent) x WHERE back) FROM sent");
			is($answer, $rows * 4 . '|' . $rows * 2 * ($rows * 4 + 1) . '|0', $memory);
		}
		is_sound($primary, 'sent');
	};
}

# Tables that were created or truncated before, in this transaction.
foreach my $case (
	[ 'created', 'CREATE TABLE t (n int, ts timestamp, v text) WITH (fillfactor = 40)' ],
	[ 'truncated', 'TRUNCATE t' ],
	[ 'truncated twice', 'TRUNCATE t; INSERT INTO t VALUES (1); TRUNCATE t' ])
{
	my ($what, $sql) = @$case;

	subtest "a table that was $what in the transaction" => sub {
		$primary->safe_psql('postgres', 'DROP TABLE t') if $what eq 'created';
		my $answer = $primary->safe_psql('postgres', "BEGIN; $sql; SAVEPOINT s;
			SELECT FROM fast_copy('t', '$mixed', 'ts', workers => 2); $pages; ROLLBACK TO s; SELECT count(*) FROM t;
			TRUNCATE t;
			SELECT FROM fast_copy('t', '$mixed', workers => 2); $pages; COMMIT; SELECT count(*), sum(n) FROM t;
			INSERT INTO t VALUES (0); DELETE FROM t WHERE n = 0");
		is($answer, "in key order, page\n0\nin file order, page\n4000|8002000", 'page writer, nothing left behind');
		is_sound($primary, $what);
	};
}
cmp_ok($primary->safe_psql('postgres', "SELECT pg_relation_size('t') * 0.5 > (SELECT sum(pg_column_size(t.*)) FROM t)"), 'eq', 't',
	'fillfactor is respected');

subtest 'what has an index, or is not shared, is left to heap_multi_insert' => sub {
	my %others = (
		'a temporary table' => [ 'CREATE TEMP TABLE tmp (LIKE t)', 'tmp' ],
		'a table with an index' => [ 'CREATE TABLE tmp (LIKE t); CREATE INDEX ON tmp (n)', 'tmp' ]);

	foreach my $what (sort keys %others)
	{
		my ($sql, $name) = @{ $others{$what} };
		my $choice = $primary->safe_psql('postgres', "SET fast_copy.writer = page; BEGIN; $sql;
			SELECT FROM fast_copy('$name', '$mixed', workers => 0); $pages; ROLLBACK");
		like($choice, qr/, multi_insert/, $what);
	}
};

# Files that a checkpoint must sync are known to it.  Those just created are in
# any case, so that there is a checkpoint before rows come.
subtest 'checkpoints sync the files of new partitions' => sub {
	events($primary, 't');
	$primary->safe_psql('postgres', 'ALTER TABLE t ALTER v TYPE varchar(40)');    # no TOAST tables
	$primary->safe_psql('postgres', 'ALTER SYSTEM SET fsync = on');
	$primary->reload;
	$primary->safe_psql('postgres', 'CHECKPOINT');
	my $choice = $primary->safe_psql('postgres', "BEGIN;
		SELECT format('CREATE TABLE t_p%s PARTITION OF t FOR VALUES FROM (%L) TO (%L)', i, s, s + '1 hour')
		FROM generate_series(0, 119) i, LATERAL (SELECT timestamp '2013-01-01' + i * interval '1 hour' AS s) x \\gexec
		CHECKPOINT;
		DO 'BEGIN RAISE LOG \$\$rows come\$\$; END';
		SELECT FROM fast_copy('t', '$file', workers => 2); $pages; COMMIT; CHECKPOINT");
	is($choice, 'in key order, page', 'partitions of the transaction: page writer');
	my ($log) = slurp_file($primary->logfile) =~ /LOG:  rows come(.*)/s;
	my $synced = 0;
	$synced += $_ foreach $log =~ /checkpoint complete.*sync files=(\d+)/g;
	cmp_ok($synced, '>=', 120, 'checkpoints sync the new files');
	$primary->safe_psql('postgres', 'ALTER SYSTEM RESET fsync');
};

$standby->stop;
$primary->stop;
subtest 'the checksums of both servers hold' => sub {
	command_ok([ 'pg_checksums', '--check', '-D', $primary->data_dir ], 'primary');
	command_ok([ 'pg_checksums', '--check', '-D', $standby->data_dir ], 'standby');
};

# There is a checkpoint in the middle of the load.
foreach my $level ('replica', 'minimal')
{
	my $node = new_node($level, {}, "wal_level = $level", 'max_wal_senders = 0', 'wal_skip_threshold = 0', $by_pages);

	gates($node);
	$node->safe_psql('postgres', 'CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility');
	foreach my $workers (0, 2)
	{
		my $what = "wal_level = $level, $workers workers";

		subtest "$what: a crash right after commit takes no row away" => sub {
			events($node, 't', ', CHECK (gate(n))');
			survives_crash($node, "SELECT FROM fast_copy('t', '$file', workers => $workers); $pages", "$rows|$sum", $what);
		};
	}
	$node->stop;
}

subtest 'an unlogged table is there after a clean stop, and empty after a crash' => sub {
	my $node = new_node('unlogged', {}, $by_pages);
	$node->safe_psql('postgres', 'CREATE UNLOGGED TABLE t (n int, ts timestamp, v text)');
	my $unlogged = "BEGIN; TRUNCATE t; SELECT FROM fast_copy('t', '$file', workers => 2); $pages; COMMIT";
	is($node->safe_psql('postgres', $unlogged), 'in file order, page', 'page writer');
	is($node->safe_psql('postgres', "SELECT pg_relation_size('t', 'init')"), 0, 'the init fork is empty');
	$node->restart;
	is($node->safe_psql('postgres', 'SELECT count(*), sum(n) FROM t'), "$rows|$sum", 'there after a clean stop');
	$node->stop('immediate');
	$node->start;
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), 0, 'empty after a crash');
	is($node->safe_psql('postgres', $unlogged), 'in file order, page', 'loaded again');
	$node->stop;
};
done_testing();
