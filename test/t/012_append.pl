# Pages of a load after the rows of others, through shared buffers: what is
# there is what heap_multi_insert leaves, on a standby and after a crash too,
# with other sessions at the same tables.

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
my $mixed = write_bytes('mixed.csv', join('', map {
	my $text = $_ % 5 == 0 ? '' : $_ % 50 == 7 ? 'x' x 6000 : 'y' x ($_ * 7919 % 2100);
	sprintf "%d,2013-01-%02d 00:00:00,%s\n", $_, $_ % 5 + 1, $text
} 1 .. 4000));
my $few = write_rows('few.csv', 50);
my $everything = 'SELECT tableoid::regclass, count(*), md5(string_agg(t::text, \'|\' ORDER BY n, t::text)) FROM t GROUP BY 1 ORDER BY 1::text';
my $choice = "SELECT string_agg(DISTINCT choice, ';') FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL";
my $size = "SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree('t') WHERE isleaf";

# Partitions for the days that write_rows() has, with a row of another session in each
sub existing
{
	my ($node, $more) = @_;

	events($node, 't', $more // '');
	$node->safe_psql('postgres', "SELECT format('CREATE TABLE t_p%s PARTITION OF t FOR VALUES FROM (%L) TO (%L)', i, d, d + 1)
		FROM generate_series(0, 30) i, LATERAL (SELECT date '2013-01-01' + i AS d) x \\gexec
		INSERT INTO t (n, ts, v) SELECT 0, d, 'before' FROM generate_series(timestamp '2013-01-01', '2013-01-31', '1 day') d");
}

my $primary = new_node('primary', { allows_streaming => 1, extra => ['--data-checksums'] },
	'wal_consistency_checking = all', 'wal_keep_size = 4GB', 'autovacuum = off');
$primary->safe_psql('postgres', 'CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility');
my $standby = new_standby($primary);

# what follows has two
foreach my $workers (0, 1, 4)
{
	foreach my $case ([ 'rows', $file, '' ], [ 'mixed', $mixed, ', g int GENERATED ALWAYS AS (n + 1) STORED' ], [ 'half empty pages', $file, '', 'fillfactor = 50' ])
	{
		my ($name, $source, $columns, $storage) = @$case;
		my $what = "$name, $workers workers";

		subtest $what => sub {
			my %there;

			foreach my $writer ('multi_insert', 'page')
			{
				existing($primary, $columns);
				$primary->safe_psql('postgres', "SELECT format('ALTER TABLE %s SET ($storage)', relid) FROM pg_partition_tree('t') WHERE isleaf \\gexec") if $storage;
				is($primary->safe_psql('postgres', "SET fast_copy.writer = $writer; SET fast_copy.chunk_size = '64kB';
			SELECT FROM fast_copy('t', '$source', columns => '{n,ts,v}', workers => $workers); $choice"), "in key order, $writer", "by $writer");
				$there{$writer} = $primary->safe_psql('postgres', $everything);
			}
			is($there{page}, $there{multi_insert}, "the same rows");
			is($primary->safe_psql('postgres', 'SELECT count(*) FROM (SELECT ts, n, lag(row(ts, n)) OVER (PARTITION BY tableoid ORDER BY ctid) AS before FROM t WHERE n > 0) x WHERE row(ts, n) < before'),
				0, "in key order");
			is_sound($primary, $what);
			$primary->wait_for_catchup($standby);
			is($standby->safe_psql('postgres', $everything), $there{page}, "standby is equal");
		};
	}
}

subtest 'few rows, and free space, are for heap_multi_insert' => sub {
	my $load = sub { return $primary->safe_psql('postgres', "SELECT FROM fast_copy('t', '$_[0]', workers => 1); $choice") };

	existing($primary);
	$primary->safe_psql('postgres', "ALTER TABLE t DETACH PARTITION t_p0; DROP TABLE t; ALTER TABLE t_p0 RENAME TO t");
	is($load->($few), 'in file order, multi_insert', 'few rows: no pages of their own');
	is($load->($file), 'in file order, page', 'many rows: pages');
	$primary->safe_psql('postgres', 'DELETE FROM t WHERE n % 8 <> 0');
	$primary->safe_psql('postgres', 'VACUUM t');
	my $before = $primary->safe_psql('postgres', "SELECT pg_relation_size('t')");
	is($load->($few), 'in file order, multi_insert', 'still few rows');
	is($load->(write_rows('more.csv', 12000)), 'in file order, multi_insert', 'free space is filled');
	is($primary->safe_psql('postgres', "SELECT pg_relation_size('t')"), $before, 'the table is not longer');
	is_sound($primary, 'free space');
	$primary->safe_psql('postgres', 'DROP TABLE t');
};

subtest 'the last page is known to have room' => sub {
	existing($primary);
	$primary->safe_psql('postgres', "SET fast_copy.writer = page; SELECT FROM fast_copy('t', '$file', workers => 2)");
	my $before = $primary->safe_psql('postgres', $size);
	$primary->safe_psql('postgres', "INSERT INTO t SELECT -1, d, 'after' FROM generate_series(timestamp '2013-01-01', '2013-01-31', '1 day') d");
	is($primary->safe_psql('postgres', $size), $before, 'rows of later inserts fill the last pages');
};

subtest 'a load that is rolled back leaves dead rows, which VACUUM takes away' => sub {
	my $before = $primary->safe_psql('postgres', $size);

	is($primary->safe_psql('postgres', "SET fast_copy.writer = page; BEGIN; SELECT FROM fast_copy('t', '$file', workers => 2); ROLLBACK; SELECT count(*), sum(n) FROM t"),
		($rows + 62) . '|' . ($sum - 31), 'rolled back');
	$primary->safe_psql('postgres', 'VACUUM t');
	is($primary->safe_psql('postgres', $size), $before, 'VACUUM gives the pages back');
	is_sound($primary, 'rolled back');
};

subtest 'a serializable transaction that has read the table is told of the load' => sub {
	$primary->safe_psql('postgres', 'CREATE TABLE u (a int)');
	my ($code, $out, $err) = $primary->psql('postgres', "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM t WHERE n = 99999;
		\\! psql -X -q -d '@{[ $primary->connstr('postgres') ]}' -c \"BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM u; SET LOCAL fast_copy.writer = page; SELECT fast_copy('t', '$file', workers => 0); COMMIT\" 2>&1
		INSERT INTO u VALUES (1); COMMIT");
	like($err, qr/could not serialize access/, 'write skew is found');
};

subtest 'other sessions insert into the same partitions at the same time' => sub {
	existing($primary);
	my $insert = join('', map { "INSERT INTO t SELECT -$_, d, 'beside' FROM generate_series(timestamp '2013-01-01', '2013-01-31', '1 hour') d;\n" } 1 .. 60);
	my @beside = map { start_load($primary, $insert) } 1 .. 2;
	foreach my $n (1 .. 3)
	{
		$primary->safe_psql('postgres', "SET fast_copy.writer = page; SELECT FROM fast_copy('t', '$file', workers => 2)");
	}
	is(join('', map { (finish_load($_))[1] } @beside), '', 'they are not disturbed');
	is($primary->safe_psql('postgres', 'SELECT count(*), count(*) FILTER (WHERE n > 0), sum(n) FILTER (WHERE n > 0), sum(n) FILTER (WHERE n < 0) FROM t'),
		join('|', 31 + 3 * $rows + 2 * 60 * 721, 3 * $rows, 3 * $sum, -2 * 721 * 60 * 61 / 2), 'no row is lost');
	is_sound($primary, 'beside others');
	$primary->wait_for_catchup($standby);
	is($standby->safe_psql('postgres', $everything), $primary->safe_psql('postgres', $everything), 'standby is equal');
};

# The first record waits, so that the others' slices are there when their turn comes:
# long ones then add empty pages, and fill them when the next slice has its turn.  A
# VACUUM may find these meanwhile, and inserts of others take them.
subtest 'slices that add pages before they fill them, beside VACUUM and inserts' => sub {
	my $slow = 'CREATE FUNCTION slow(n int) RETURNS bool PARALLEL SAFE IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN IF n = 1 THEN PERFORM pg_sleep(1.5); END IF; RETURN true; END $$';
	my $many = write_bytes('many.csv', join('', map { "$_,2013-01-01," . 'y' x 400 . "\n" } 1 .. 60000));

	$primary->safe_psql('postgres', "DROP TABLE t; $slow; CREATE TABLE t (n int CHECK (slow(n)), ts timestamp, v text)");
	$primary->safe_psql('postgres', "SET fast_copy.writer = page; SELECT FROM fast_copy('t', '$many', workers => 0)");
	my $pages = $primary->safe_psql('postgres', "SELECT pg_relation_size('t') / 8192");
	$primary->safe_psql('postgres', 'TRUNCATE t');
	foreach my $beside (0, 1)
	{
		my @beside = $beside ? start_load($primary, join('', map { "INSERT INTO t SELECT -$_, NULL, repeat('x', 1900) FROM generate_series(1, 8); VACUUM t;\n" } 1 .. 200)) : ();

		$primary->safe_psql('postgres', "SET fast_copy.writer = page; SELECT FROM fast_copy('t', '$many', workers => 2)");
		is(join('', map { (finish_load($_))[1] } @beside), '', 'others are not disturbed') if $beside;
		is($primary->safe_psql('postgres', 'SELECT count(*), count(DISTINCT n), sum(n) FROM t WHERE n > 0'), join('|', 60000, 60000, 60000 * 60001 / 2), 'each row is there once');
		is($primary->safe_psql('postgres', 'SELECT count(*) FROM t WHERE n < 0'), 1600, 'and those of others') if $beside;
		cmp_ok($primary->safe_psql('postgres', "SELECT pg_relation_size('t') / 8192"), '>', $pages, 'last pages of slices stay as they are') unless $beside;
		is($primary->safe_psql('postgres', 'SELECT count(*) FROM (SELECT n, lag(n) OVER (ORDER BY ctid) AS before FROM t WHERE n > 0) x WHERE n < before'), 0, 'in the order of the file') unless $beside;
		is_sound($primary, 'pages that were added before');
		$primary->wait_for_catchup($standby);
		is($standby->safe_psql('postgres', 'SELECT count(*), sum(n) FROM t'), $primary->safe_psql('postgres', 'SELECT count(*), sum(n) FROM t'), 'standby is equal');
		$primary->safe_psql('postgres', 'TRUNCATE t');
	}
	$primary->safe_psql('postgres', 'DROP TABLE t; DROP FUNCTION slow');
	existing($primary);
};

# Rows of heap_multi_insert get their index entries in runs
my $indexes = 'CREATE INDEX ON t (ts); CREATE UNIQUE INDEX ON t (n, ts, v); CREATE INDEX ON t (v DESC) INCLUDE (n)';

foreach my $workers (0, 2)
{
	subtest "index entries in runs, $workers workers: on a standby, and after a crash" => sub {
		existing($primary);
		$primary->safe_psql('postgres', $indexes);
		# the second one between the entries of the first, and after a checkpoint
		$primary->safe_psql('postgres', "SELECT FROM fast_copy('t', '$file', workers => $workers); UPDATE t SET n = n + 1000000; DELETE FROM t WHERE n % 3 = 0");
		$primary->safe_psql('postgres', 'CHECKPOINT');
		$primary->safe_psql('postgres', "SELECT FROM fast_copy('t', '$file', workers => $workers)");
		my $there = $primary->safe_psql('postgres', $everything);
		is_sound($primary, 'indexed');
		$primary->wait_for_catchup($standby);
		is($standby->safe_psql('postgres', $everything), $there, 'standby is equal');
		is_sound($standby, 'indexed, on a standby');
		$primary->stop('immediate');
		$primary->start;
		is($primary->safe_psql('postgres', $everything), $there, 'all rows survive');
		is_sound($primary, 'indexed, after a crash');
	};
}

foreach my $end ('COMMIT', 'ROLLBACK')
{
	subtest "a key that another session has inserted: the load waits for its $end" => sub {
		existing($primary);
		$primary->safe_psql('postgres', "$indexes; CREATE UNIQUE INDEX ON t_p1 (n)");
		my $day = write_bytes('day.csv', join('', map { sprintf "%d,2013-01-02 %02d:%02d:00,\n", $_, $_ / 60, $_ % 60 } 1 .. 1200));
		my $other = $primary->background_psql('postgres');
		$other->query_safe("BEGIN; INSERT INTO t VALUES (777, '2013-01-02 23:59:59')");
		my $load = start_load($primary, "SELECT FROM fast_copy('t', '$day', 'ts', workers => 0);\n");
		ok(wait_until($primary, "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted"), 'the load waits');
		$other->query_safe($end);
		$other->quit;
		my ($out, $err) = finish_load($load);
		if ($end eq 'COMMIT')
		{
			like($err, qr/duplicate key value violates unique constraint "t_p1_n_idx".*Key \(n\)=\(777\) already exists.*line 777\b/s, 'core refuses the row');
		}
		else
		{
			is(unsaid($err), '', 'it goes on');
		}
		is($primary->safe_psql('postgres', 'SELECT count(*) FROM t WHERE n > 0'), $end eq 'COMMIT' ? 1 : 1200, 'rows');
		is_sound($primary, 'waited');
	};
}

# Loads of a table that is emptied by the same transaction; COPY's pages are all in
# the map but for the one with the row that was there
sub freeze
{
	my ($load, $before) = @_;

	return "LOAD 'fast_copy'; SET fast_copy.chunk_size = '64kB'; SET fast_copy.accelerate_min_size = 0; SET fast_copy.workers = 2; BEGIN; TRUNCATE t_f; $before; $load; COMMIT;";
}
my $unmapped = "SELECT pg_relation_size('t_f') / 8192 - all_frozen FROM pg_visibility_map_summary('t_f')";
my $insert = "INSERT INTO t_f VALUES (0, '2013-01-01', 'before')";

$primary->safe_psql('postgres', 'DROP TABLE t; CREATE TABLE t_f (n int, ts timestamp, v text)');
foreach my $case (
	[ 'COPY', "COPY t_f FROM '$file' (FORMAT csv, FREEZE)", '' ],
	[ 'accelerated', "SET LOCAL fast_copy.accelerate_copy = on; COPY t_f FROM '$file' (FORMAT csv, FREEZE)", '' ],
	[ 'COPY, after a row', "COPY t_f FROM '$file' (FORMAT csv, FREEZE)", $insert ],
	[ 'accelerated, after a row', "SET LOCAL fast_copy.accelerate_copy = on; COPY t_f FROM '$file' (FORMAT csv, FREEZE)", $insert ],
	map { [ "fast_copy() after a row, $_ workers", "SELECT FROM fast_copy('t_f', '$file', freeze => true, workers => $_)", $insert ] } 0, 2)
{
	my ($what, $load, $before) = @$case;

	subtest "$what: frozen pages are in the visibility map" => sub {
		$primary->safe_psql('postgres', freeze($load, $before));
		is($primary->safe_psql('postgres', "SELECT count(*) FROM t_f; $unmapped"),
			$before ? $rows + 1 . "\n1" : "$rows\n0", 'all of them');
		is_sound($primary, $what);
		$primary->wait_for_catchup($standby);
		is($standby->safe_psql('postgres', $unmapped), $before ? 1 : 0, 'and on a standby');
		is_sound($standby, "$what, on a standby");
	};
}

$standby->stop;
$primary->stop;
subtest 'the checksums of both servers hold' => sub {
	command_ok([ 'pg_checksums', '--check', '-D', $primary->data_dir ], 'primary');
	command_ok([ 'pg_checksums', '--check', '-D', $standby->data_dir ], 'standby');
};

# The first load has a checkpoint in its middle.
foreach my $level ('replica', 'minimal')
{
	my $node = new_node($level, {}, "wal_level = $level", 'max_wal_senders = 0', 'autovacuum = off');

	gates($node);
	$node->safe_psql('postgres', 'CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility');
	foreach my $workers (0, 2)
	{
		my $what = "wal_level = $level, $workers workers";

		subtest "$what: a crash right after commit takes no row away" => sub {
			existing($node);
			$node->safe_psql('postgres', 'ALTER TABLE t ADD CHECK (gate(n))');
			survives_crash($node, "SET fast_copy.writer = page; SELECT FROM fast_copy('t', '$file', workers => $workers); $choice", ($rows + 31) . "|$sum", $what);
		};
		subtest "$what: a crash before commit leaves none" => sub {
			close_gate();
			start_load($node, "SET fast_copy.writer = page; SELECT FROM fast_copy('t', '$file', workers => $workers);\n");
			ok(at_gate($node), 'at the gate again');
			$node->safe_psql('postgres', 'SELECT pg_switch_wal()');
			$node->stop('immediate');
			open_gate();
			$node->start;
			is($node->safe_psql('postgres', 'SELECT count(*), sum(n) FROM t'), ($rows + 31) . "|$sum", 'none of a load that crashed');
			is_sound($node, "$what, crashed");
		};
	}
	subtest "wal_level = $level: a crash takes no page from the visibility map" => sub {
		$node->safe_psql('postgres', 'CREATE TABLE t_f (n int, ts timestamp, v text)');
		$node->safe_psql('postgres', freeze("SELECT FROM fast_copy('t_f', '$file', freeze => true)", $insert));
		$node->stop('immediate');
		$node->start;
		is($node->safe_psql('postgres', "SELECT count(*) FROM t_f; $unmapped"), $rows + 1 . "\n1", 'all pages but the first');
		is_sound($node, "wal_level = $level, frozen");
	};
	$node->stop;
}
done_testing();
