# Code of a table that reads, fills or changes the table while it is loaded, or
# the partitions that the load has made and not attached yet: no row gets lost,
# and nothing is left in shared buffers that is not what the files have.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use PostgreSQL::Test::Cluster;
use Test::More;

my $rows = 150000;
my $sum = $rows * ($rows + 1) / 2;
my @lines = map {
	sprintf "%d,2013-01-%02d 00:00:%02d,%s\n", $_, $_ * 7919 % 2 + 1, $_ % 60, 'some text of this row ' x 5
} 1 .. $rows;
my $file = write_bytes('rows.csv', join('', @lines));

# Enough for pages, but less than what fits into shared buffers
my $some = 50000;
my $part = write_bytes('part.csv', join('', @lines[ 0 .. $some - 1 ]));
my $table = 'CREATE TABLE t (n int, ts timestamp, v text, CHECK (own(n)))';
my $parent = "$table PARTITION BY RANGE (ts)";
my $pages = "SELECT string_agg(DISTINCT choice, ';') FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL";
my $there = 'SELECT count(*), sum(n) FROM t WHERE n > 0';
my $node;

# What the CHECK calls: for each thousandth row it reads the ends of the heaps
# that pg_class knows of, sometimes all of them; what writes is not parallel safe.
# Rows that it writes have negative numbers.
sub code
{
	$node->safe_psql('postgres', q{
		CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility;
		CREATE FUNCTION heaps() RETURNS SETOF regclass LANGUAGE sql PARALLEL SAFE AS
			$$ SELECT oid::regclass FROM pg_class WHERE relkind = 'r' AND relname ~ '^t(_p|$)' $$;
		CREATE FUNCTION own_reads(n int) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS $$
		DECLARE
			heap regclass;
			blocks int;
		BEGIN
			IF n % 1000 <> 0 THEN
				RETURN true;
			END IF;
			FOR heap IN SELECT * FROM heaps() LOOP
				blocks := pg_relation_size(heap) / 8192;
				EXECUTE format('SELECT count(*) FROM %s WHERE ctid >= %L', heap, format('(%s,0)', greatest(blocks - 200, 0)));
				IF n % 50000 = 0 THEN
					EXECUTE format('SELECT count(*) FROM %s', heap);
				END IF;
			END LOOP;
			RETURN true;
		END $$;
		CREATE FUNCTION own_writes(n int) RETURNS boolean LANGUAGE plpgsql AS $$
		DECLARE
			heap regclass;
		BEGIN
			IF n > 0 AND n % 1500 = 0 THEN
				FOR heap IN SELECT * FROM heaps() h WHERE h::text IN ('t', 't_p20130101') LOOP
					EXECUTE format('INSERT INTO %s VALUES (-%s, %L, repeat(%L, 60))', heap, n, '2013-01-01', 'z');
				END LOOP;
			END IF;
			RETURN own_reads(n);
		END $$;
		CREATE FUNCTION own_commands(n int) RETURNS boolean LANGUAGE plpgsql AS $$
		DECLARE
			heap regclass;
		BEGIN
			IF n = current_setting('own.row')::int THEN
				FOR heap IN SELECT * FROM heaps() LOOP
					EXECUTE format(current_setting('own.command'), heap);
				END LOOP;
			END IF;
			RETURN true;
		END $$});
}

# Which of these it is to call
sub own
{
	my ($what, $label) = @_;

	$node->safe_psql('postgres', "CREATE OR REPLACE FUNCTION own(n int) RETURNS boolean LANGUAGE plpgsql $label AS 'BEGIN RETURN own_$what(n); END'");
}

# After a load with such code: also after a VACUUM, more rows and a crash.
sub stays
{
	my ($written, $what) = @_;
	my ($rows_there, $written_there) = split /\n/, $node->safe_psql('postgres', "$there; SELECT count(DISTINCT n) FROM t WHERE n < 0");

	is($rows_there, "$rows|$sum", "$what: all rows are there");
	is($written_there, $written, "$what: so are those of the code");
	is_sound($node, $what);
	$node->safe_psql('postgres', "VACUUM t; INSERT INTO t SELECT -$rows - i, timestamp '2013-01-02', repeat('i', 50) FROM generate_series(1, 2000) i");
	$node->stop('immediate');
	$node->start;
	is($node->safe_psql('postgres', $there), "$rows|$sum", "$what: all are there after VACUUM, more rows and a crash");
	is_sound($node, "$what, after a crash");
}

# Empty tables are found as such, and no more files than those of tables.
sub leaves_no_files
{
	my ($what) = @_;

	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS t; CHECKPOINT');
	is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_database d, pg_ls_dir('base/' || d.oid) f WHERE d.datname = current_database()
		AND f ~ '^[0-9]+' AND NOT EXISTS (SELECT FROM pg_class c WHERE pg_relation_filenode(c.oid) = substring(f FROM '^[0-9]+')::oid)}), 0, "$what: no file is left");
}

$node = new_node('main', { extra => ['--data-checksums'] }, 'max_wal_senders = 0', 'wal_skip_threshold = 0', 'shared_buffers = 16MB');
code();
foreach my $level ('replica', 'minimal')
{
	$node->append_conf('postgresql.conf', "wal_level = $level");
	$node->restart;
	foreach my $case (
		[ 'reads, 2 workers', 'reads', 'PARALLEL SAFE', $table, "'ts', workers => 2" ],
		[ 'reads, leader, frozen', 'reads', 'PARALLEL SAFE', $table, "'ts', workers => 0, freeze => true" ],
		[ 'reads partitions, 2 workers', 'reads', 'PARALLEL SAFE', $parent, "workers => 2, partition_interval => '1 day'" ],
		[ 'writes, frozen', 'writes', '', $table, "'ts', freeze => true" ],
		[ 'writes, as parallel safe', 'writes', 'PARALLEL SAFE', $table, "workers => 0" ],
		[ 'writes to a partition', 'writes', '', $parent, "partition_interval => '1 day'" ])
	{
		my ($what, $does, $label, $create, $options) = @$case;

		# without WAL it is pages and files that differ, and not who writes them
		next if $level eq 'minimal' && $what !~ /2 workers$|^writes, frozen/;
		$what = "wal_level = $level, $what";
		subtest "$what: no row is lost, before a crash and after it" => sub {
			$node->safe_psql('postgres', 'DROP TABLE IF EXISTS t');
			own($does, $label);
			my $answer = $node->safe_psql('postgres', "SET fast_copy.io_method = 'io_uring'; BEGIN; $create;
				SELECT fast_copy('t', '$file', $options); $pages; COMMIT");
			like($answer, qr/^$rows\n.*, page$/, "$what: loaded in pages");
			stays($does eq 'writes' ? $rows / 1500 : 0, $what);
		};
	}
	leaves_no_files("wal_level = $level");
}

# Commands that would change the tables under the load, of its own code: as COPY
# says of a table that it loads.
own('commands', '');
subtest 'what would change the table under the load is refused' => sub {
	foreach my $command ('TRUNCATE %s', 'CREATE INDEX ON %s (n)', 'ALTER TABLE %s ALTER n TYPE bigint', 'DROP TABLE %s')
	{
		foreach my $row (1, $some)
		{
			my (undef, undef, $err) = $node->psql('postgres', "SET own.row = $row; SET own.command = '$command';
				$parent; SELECT fast_copy('t', '$part', partition_interval => '1 day')", single_transaction => 1);
			like($err, qr/because it is being used by active queries in this session/, "$command at row $row");
			$node->safe_psql('postgres', 'DROP TABLE IF EXISTS t');
		}
	}
};

# The same where partitions have few rows, one after the other, and are there
# already or are not: at its end the load has nothing open but the last of them.
# What a DROP has done before it failed is still done when its error is looked for.
my $few = write_bytes('few.csv', join('', map { sprintf "%d,2013-01-%02d,few\n", $_, $_ > 50 ? 2 : 1 } 1 .. 100));
subtest 'what would change partitions of few rows is refused, too' => sub {
	foreach my $command ('TRUNCATE %s', 'CREATE INDEX ON %s (n)', 'DROP TABLE %s')
	{
		foreach my $row (1, 100)
		{
			foreach my $before ('', 'CREATE TABLE t_p20130101 PARTITION OF t DEFAULT',
				"CREATE TABLE t_p20130101 PARTITION OF t FOR VALUES FROM ('2013-01-01') TO ('2013-01-02')")
			{
				my (undef, undef, $err) = $node->psql('postgres', "BEGIN; SET own.row = $row; SET own.command = '$command'; $parent; $before;
					SELECT fast_copy('t', '$few', partition_interval => '1 day')");
				like($err, qr/because it is being used by active queries in this session${\ ($command =~ m{DROP} ? '|could not open relation' : '') }/,
					"$command at row $row of few, $before");
			}
		}
	}
	$node->safe_psql('postgres', "CREATE FUNCTION own_index(n int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN PERFORM own_commands(n); RETURN n; END'");
	my (undef, undef, $indexed) = $node->psql('postgres', "BEGIN; SET own.row = 1; SET own.command = 'TRUNCATE %s';
		CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY RANGE (ts); CREATE INDEX ON t (own_index(n));
		SELECT fast_copy('t', '$few', partition_interval => '1 day')");
	like($indexed, qr/because it is being used by active queries in this session/, 'TRUNCATE while indexes are built');
};

# Commands that do not ask who has the table open.
my %unasked = (
	'It was moved to another file' => [ 'ALTER TABLE ALL IN TABLESPACE pg_default SET TABLESPACE other', '' ],
	'It was attached to another table' => [ 'ALTER TABLE others ATTACH PARTITION t DEFAULT', '' ],
	'It got another index' => [ 'ALTER TABLE others ATTACH PARTITION t DEFAULT', 'PARTITION BY RANGE (ts)' ]);
$node->safe_psql('postgres', "SET allow_in_place_tablespaces = on; CREATE TABLESPACE other LOCATION ''");
$node->safe_psql('postgres', 'CREATE TABLE others (n int, ts timestamp, v text) PARTITION BY RANGE (ts); CREATE INDEX ON others (n)');
subtest 'a command that does not ask who has the table open fails the load' => sub {
	foreach my $change (sort keys %unasked)
	{
		my ($command, $by) = @{ $unasked{$change} };

		foreach my $load ($part, $few)
		{
			my (undef, undef, $err) = $node->psql('postgres', "BEGIN; SET own.row = 40; SET own.command = '$command'; $table $by;
				${\ ($by ? 'CREATE TABLE t_p20130101 PARTITION OF t DEFAULT' : '') };
				SELECT fast_copy('t', '$load', missing_partitions => 'default')");
			like($err, qr/ERROR:  table "t\w*" was changed while it was being loaded\nDETAIL:  (?:$change|It was attached)/, "$command $by: refused");
		}
	}
};
$node->safe_psql('postgres', 'DROP TABLE others');

# A load whose code runs another one, of the same table.
subtest 'a load whose code loads the same table loses no row of either' => sub {
	foreach my $outer ($part, $few)
	{
		foreach my $inner ($part, $few)
		{
			my ($count, $within) = map { $_ eq $few ? 100 : $some } $outer, $inner;

			is($node->safe_psql('postgres', "SET own.row = 40; BEGIN; $table;
				SET own.command = 'SET own.row = 0; SELECT fast_copy(''t'', ''$inner'')';
				SELECT fast_copy('t', '$outer'); COMMIT; SELECT count(*), sum(n) FROM t"),
				"$count\n" . ($count + $within) . '|' . ($count * ($count + 1) + $within * ($within + 1)) / 2, "a load of $count rows that runs one of $within");
			is_sound($node, "a load of $count rows that runs one of $within");
			$node->safe_psql('postgres', 'DROP TABLE IF EXISTS t');
		}
	}
};

# Cursors, savepoints.
subtest 'cursors and savepoints keep what they saw' => sub {
	own('reads', 'PARALLEL SAFE');
	is($node->safe_psql('postgres', "BEGIN; $table;
		DECLARE begun CURSOR FOR SELECT n FROM t; FETCH begun; DECLARE other CURSOR FOR SELECT n FROM t;
		SAVEPOINT a; SELECT fast_copy('t', '$file', 'ts'); ROLLBACK TO a; SELECT count(*) FROM t;
		SAVEPOINT b; SELECT fast_copy('t', '$file', 'ts'); FETCH begun; FETCH other; CLOSE ALL; RELEASE b;
		SELECT count(*) FROM t; COMMIT; $there"), "$rows\n0\n$rows\n$rows\n$rows|$sum", 'a cursor sees what it saw, a savepoint takes the rows back');
	is_sound($node, 'after a savepoint');
	leaves_no_files('after a savepoint');
};
$node->stop;
done_testing();
