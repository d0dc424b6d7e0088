# Progress, as another session sees it while the load stands at a gate.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {});
my $rows = 20000;
my $file = write_rows('rows.csv', $rows);
my $bytes = -s $file;

gates($node);
foreach my $workers (0, 2)
{
	subtest "$workers workers: progress is seen at the gate, and gone afterwards" => sub {
		close_gate();
		# row 7 alone waits: rows of the other days go in meanwhile
		events($node, 't', ', CHECK (gate(n))');
		$node->safe_psql('postgres', 'CREATE INDEX ON t (as_index(n + 1))');
		my $load = start_load($node, "SELECT fast_copy('t', '$file', workers => $workers);\n");
		ok(at_gate($node), 'at the gate');

		my $copy = $node->safe_psql('postgres', 'SELECT relid::regclass, command, type, bytes_total FROM pg_stat_progress_copy');
		is($copy, "t|COPY FROM|FILE|$bytes", 'pg_stat_progress_copy');
		my $mine = $node->safe_psql('postgres', "SELECT phase, partitions_total, workers FROM fast_copy_progress");
		is($mine, "load|5|$workers", 'fast_copy_progress');
		is($node->safe_psql('postgres', 'SELECT percent BETWEEN 0 AND 99 FROM fast_copy_progress'), 't', 'percent');
		if ($workers > 0)
		{
			ok(wait_until($node, 'SELECT bytes_processed > 0 FROM pg_stat_progress_copy'), 'bytes move');
			ok(wait_until($node, "SELECT percent > 15 AND estimated_time_left >= '0s' FROM fast_copy_progress"), 'percent moves, and the time left is told');
			ok(wait_until($node, 'SELECT tuples_processed > 0 FROM pg_stat_progress_copy'), 'tuples move');
		}
		if ($workers > 0)
		{
			# row 7 is in the partition of one of them
			my $says = "SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND state = 'active' AND query";
			ok(wait_until($node, "$says ~ '^fast_copy: load of public\\.t, partition t_p2013\\d{4}\$'"), 'workers say which partition they load');
			$node->safe_psql('postgres', 'CREATE ROLE other_user') if $node->safe_psql('postgres', "SELECT count(*) FROM pg_roles WHERE rolname = 'other_user'") == 0;
			is($node->safe_psql('postgres', "SET ROLE other_user; SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'fast_copy: load%'"), 0, 'but not to everybody');
		}
		open_gate();
		my ($out, $err) = finish_load($load);
		is($out, $rows, 'loaded');
		is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_stat_progress_copy'), 0, 'gone afterwards');
		is($node->safe_psql('postgres', 'SELECT count(*) FROM fast_copy_progress'), 0, 'gone from fast_copy_progress');
	};
}

# What the view says of a COPY from its beginning to its end
subtest 'an accelerated COPY is shown as COPY shows itself' => sub {
	my $data = slurp_file($file);

	$node->safe_psql('postgres', q{CREATE FUNCTION watch() RETURNS text LANGUAGE plpgsql AS $$
		DECLARE
			c record;
			said text[] := '{}';
			times int := 0;
		BEGIN
			WHILE clock_timestamp() < statement_timestamp() + '20 s' LOOP
				PERFORM pg_stat_clear_snapshot();
				SELECT * INTO c FROM pg_stat_progress_copy;
				EXIT WHEN NOT FOUND AND times > 0 AND (SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE 'COPY watched%' AND state = 'active');
				IF c.type IS NOT NULL THEN
					times := times + 1;
					said := said || concat_ws('|', c.type, c.bytes_total);
				END IF;
				PERFORM pg_sleep(0.002);
			END LOOP;
			RETURN (times > 10) || ' ' || array(SELECT DISTINCT s FROM unnest(said) AS s ORDER BY 1)::text;
		END $$});
	foreach (["'$file'", "FILE|$bytes"], ["PROGRAM 'cat $file'", 'PROGRAM|0'], ['STDIN', 'PIPE|0'])
	{
		my ($source, $says) = @$_;

		foreach my $workers (0, 2)
		{
			$node->safe_psql('postgres', 'DROP TABLE IF EXISTS watched; CREATE TABLE watched (n int, ts timestamp, v text)');
			my $watch = start_load($node, "SELECT watch();\n");
			my $load = start_load($node, "LOAD 'fast_copy'; SET fast_copy.accelerate_copy = on; SET fast_copy.accelerate_min_size = 0;
				SET fast_copy.workers = $workers; SET fast_copy.chunk_size = '16kB'; SET fast_copy.max_rate = '2MB';
				COPY watched FROM $source (FORMAT csv);\n" . ($source eq 'STDIN' ? "$data\\.\n" : ''));

			finish_load($load);
			is((finish_load($watch))[0], "true {$says}", "$source, $workers workers");
		}
	}
};

subtest 'a plain COPY of another session is not ours' => sub {
	close_gate();
	my $other = start_load($node, "CREATE TABLE other (a int, CHECK (gate(a))); COPY other FROM PROGRAM 'echo 7';\n");
	ok(at_gate($node), 'at the gate');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM fast_copy_progress'), 0, 'no line of it');
	open_gate();
	finish_load($other);
};

subtest 'the report of the last load of a session adds up' => sub {
	events($node, 't');
	my $report = $node->safe_psql('postgres', "SELECT fast_copy('t', '$file', workers => 2);
		SELECT sum(rows), count(*) FROM fast_copy_report() WHERE partition IS NOT NULL");
	is($report, "$rows\n$rows|5", 'fast_copy_report() by partition');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM fast_copy_report()'), 0, 'no report without a load');
};

$node->stop;
done_testing();
