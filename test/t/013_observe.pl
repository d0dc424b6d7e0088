# Lines for people while a load runs, its line in the log, and what it waits for.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

# minimal would skip the WAL of new tables
my $node = new_node('main', {}, 'wal_level = replica');
my $rows = 20000;
my $file = write_rows('rows.csv', $rows);
my $bytes = -s $file;
my $named = $node->safe_psql('postgres', "SELECT current_setting('server_version_num')::int >= 170000") eq 't';

gates($node);
subtest 'lines come while workers load' => \&lines_at_the_gate;
subtest 'a leader that loads alone tells of it itself' => \&lines_of_the_leader;
subtest 'a step longer than the interval is followed by a line' => \&lines_between_steps;
subtest 'a load of many partitions moves, and its bars stand still' => \&lines_of_many_partitions;
subtest 'many small partitions are warned of' => \&warning_of_small_partitions;
subtest 'no line is wider than the terminal' => \&narrow_lines;
subtest 'each load inside other SQL has one last line' => \&lines_inside_other_sql;
subtest 'the log has a line for each load that took long enough' => \&logged_loads;
subtest 'the log has a line for each load that failed, with its phase' => \&failed_loads;
subtest 'superusers say what is logged, all how wide lines are' => \&who_may_set_it;
subtest 'DEBUG1 says what the report says of the way of a load' => \&choices;
subtest 'EXPLAIN and the report count what workers wrote' => \&usage;
$node->stop;
done_testing();

# Reads what psql has printed so far, until it matches or a while has passed.
sub seen
{
	my ($load, $pattern) = @_;

	foreach (1 .. 1500)
	{
		$load->{run}->pump_nb;
		return 1 if $load->{err} =~ $pattern;
		select(undef, undef, undef, 0.02);
	}
	return 0;
}

# The load stands still: what is seen then was sent at once.
sub lines_at_the_gate
{
	close_gate();
	events($node, 't', ', CHECK (gate(n))');
	$node->safe_psql('postgres', 'CREATE INDEX ON t (as_index(n + 1))');
	my $load = start_load($node, "SET fast_copy.progress_width = 100;
		SELECT fast_copy('t', '$file', workers => 2, progress => '100ms');\n");
	ok(at_gate($node), 'at the gate');
	ok(seen($load, qr/NOTICE:  fast_copy t: load +\[#*-+\] +\d+%, /), 'a line while workers load');
	ok(seen($load, qr/(load .*){3}/s), 'more of them');
	unlike($load->{err}, qr/fast_copy: /, 'before the load is done');
	my $event = $named ? 'FastCopyWorkers' : 'Extension';
	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Extension' AND wait_event = '$event'"),
		"the leader waits for $event");
	open_gate();
	my ($out, $err) = finish_load($load);
	is($out, $rows, 'loaded');
	like($err, qr/NOTICE:  fast_copy t: (defining|index) /, 'a line for the phase of indexes');
	like($err, qr/NOTICE:  fast_copy t: attach/, 'a line for attaching');
	like($err, qr/NOTICE:  fast_copy: 20,000 rows, \d+ kB in \S+ m?s \(\d+ \w+\/s\), 5 new partitions\n\z/, 'the last line');
	my @bars = $err =~ /^.*?NOTICE:  (.*\[.*)$/mg;
	is(scalar(grep { length("NOTICE:  $_") > 100 } @bars), 0, 'no line is wider than the terminal');
}

# Here the process that loads is the one that tells.
sub lines_of_the_leader
{
	foreach my $way ([ 'load', '' ], [ 'copy', "CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
		CREATE TRIGGER same BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION same();" ])
	{
		my ($phase, $sql) = @$way;

		close_gate();
		events($node, 't', ', CHECK (gate(n))');
		$node->safe_psql('postgres', $sql) if $sql;
		my $load = start_load($node, "SET fast_copy.progress_width = 0; SELECT fast_copy('t', '$file', workers => 0, progress => '100ms');\n");
		ok(at_gate($node), "$phase: at the gate");
		select(undef, undef, undef, 0.2);
		open_gate();
		my ($out, $err) = finish_load($load);
		is($out, $rows, "$phase: loaded");
		like($err, qr/NOTICE:  fast_copy t: $phase +\d+%, .*(elapsed|left)/, "$phase: a line");
		unlike($err, qr/\[#|CONTEXT/, "$phase: neither a bar without a width nor a context");
	}
}

# Of phases that go from one thing to the next, in which nobody tells anything
# before the one is done: it takes longer here than the interval.
sub lines_between_steps
{
	my $load = "SELECT fast_copy('t', '$file', workers => 0, run_analyze => true, progress => '100ms')";
	my $view = "SELECT phase, steps_done, steps_total, percent, estimated_time_left >= '0s' FROM fast_copy_progress";

	close_gate();
	events($node, 't');
	$node->safe_psql('postgres', 'CREATE INDEX ON t (as_index(n)); CREATE INDEX ON t (n)');
	my $run = start_load($node, "$load;\n");
	ok(at_gate($node), 'index: at the gate');
	my ($phase, $done, $total, $percent, $left) = split /\|/, $node->safe_psql('postgres', $view);
	is("$phase of $total", 'index of 10', 'index: fast_copy_progress');
	cmp_ok($percent, '>=', 20, 'index: percent of the whole load') and cmp_ok($percent, '<', 100);
	is($left, 't', 'index: the time left of it');
	select(undef, undef, undef, 0.2);
	open_gate();
	my ($out, $err) = finish_load($run);
	my $next = $done + 1;
	like($err, qr/NOTICE:  fast_copy t: index +\[#+-+\] +\d+%, $next of 10( indexes)?, .*left/, 'index: a line after the one that took long');
	like($err, qr/NOTICE:  fast_copy t: attach +\[#+-+\] +\d+%, 0 of 5, .*left/, 'attach: a line') or diag($err);
	like($err, qr/NOTICE:  fast_copy t: analyze/, 'analyze: a line');
	my @percent = $err =~ /(\d+)%/g;
	is_deeply(\@percent, [ sort { $a <=> $b } @percent ], 'percent of the whole load never goes back');
	cmp_ok($percent[-1], '<', 100, 'and is not 100 before the end');
	my ($index) = $err =~ /fast_copy t: index .*? (\d+)%/;
	cmp_ok($index, '>=', 20, 'what was done before the indexes counts');

	# ANALYZE waits for the second of the partitions
	my $second = $node->safe_psql('postgres', "SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 't'::regclass ORDER BY inhrelid LIMIT 1 OFFSET 1");
	$node->safe_psql('postgres', 'DELETE FROM t; DROP INDEX t_as_index_idx');
	close_gate();
	my $other = start_load($node, "BEGIN; LOCK TABLE $second IN SHARE UPDATE EXCLUSIVE MODE; SELECT gate(7); COMMIT;\n");
	ok(at_gate($node), 'analyze: somebody has a lock');
	$run = start_load($node, "$load;\n");
	ok(wait_until($node, "SELECT count(*) = 1 FROM fast_copy_progress WHERE phase = 'analyze' AND steps_done = 2 AND steps_total = 6"),
		'analyze: fast_copy_progress');
	select(undef, undef, undef, 0.2);
	open_gate();
	finish_load($other);
	($out, $err) = finish_load($run);
	like($err, qr/NOTICE:  fast_copy t: analyze +\[#+-+\] +\d+%, 3 of 6 tables, .*left/, 'analyze: a line after the one that took long');
}

# What a load of many small partitions does is to make them, and their indexes.
sub lines_of_many_partitions
{
	my $days = write_bytes('days.csv', join('', map { "$_," . (2000 + int($_ / 300)) . sprintf('-%02d-%02d', 1 + int($_ % 300 / 25), 1 + $_ % 25) . ",x\n" } 0 .. 899));

	events($node, 't');
	$node->safe_psql('postgres', 'CREATE INDEX ON t (n)');
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('t', '$days', workers => 0, progress => '1us')");
	is($out, 900, 'loaded');
	my @bars = $err =~ /fast_copy t: (.*?\[[#-]*\]) /g;
	my %long = map { length($_) => 1 } @bars;
	cmp_ok(scalar(@bars), '>', 5, 'lines with bars');
	is(scalar(keys %long), 1, 'all bars have one width, at one place') or diag($err);
	like($err, qr/fast_copy t: defining +\[#*-*\] +\d+%, [1-9]\d* of 900, /, 'while it defines the indexes, it counts these') or diag($err);
	like($err, qr/defining .*fast_copy t: index +\[#*-*\] +\d+%, \d+ of 900, /s, 'then those that are built');
	foreach my $phase ('partitions', '(?:defining|index)', 'attach')
	{
		my @percent = $err =~ /fast_copy t: $phase +\[.*\] +(\d+)%/g;
		cmp_ok($percent[-1] - $percent[0], '>=', 5, "percent moves in phase $phase") or diag($err);
	}
}

# What is said of so many days, a row each, before their partitions are made
sub said_of_days
{
	my ($days, %with) = @_;
	my $csv = "$PostgreSQL::Test::Utils::tmp_check/small.csv";
	my $load = $with{load} // "SELECT fast_copy('small', '$csv', partition_interval => @{[ $with{width} // 'NULL' ]}, log_verbosity => '@{[ $with{verbosity} // 'default' ]}')";
	my ($rc, $out, $err) = $node->psql('postgres', "LOAD 'fast_copy'; DROP TABLE IF EXISTS small; CREATE TABLE small (at @{[ $with{type} // 'timestamp' ]}, pad text) PARTITION BY RANGE (at);
		@{[ $with{sql} // '' ]};
		COPY (SELECT @{[ $with{key} // q{timestamp '2021-01-01' + n * interval '1 day'} ]}, 'x' FROM generate_series(1, $days) AS n) TO '$csv' (FORMAT csv);
		$load;");
	is($rc, 0, 'loaded') or diag($err);
	return join("\n", map { s/^psql:\S+ //r } grep { !/NOTICE/ } split /\n/, $err);
}

sub warning_of_small_partitions
{
	my $csv = "$PostgreSQL::Test::Utils::tmp_check/small.csv";
	my $detail = 'DETAIL:  Each has files of its own, which checkpoints and backups go through, and later loads create partitions of the same width.';
	my $warning = 'WARNING:  1,095 new partitions of table "small" get 22 bytes of the source each';

	is(said_of_days(1095), "$warning\n$detail\nHINT:  Load with partition_interval => '1 year', to have about 4 instead.", 'three years, a row a day');
	like(said_of_days(401, load => "COPY small FROM '$csv' (FORMAT csv, fast_copy)"), qr/^WARNING:  401 .*Load with partition_interval '1 year', to have about 3 instead\.$/s, 'as COPY');
	like(said_of_days(401, sql => 'CREATE TABLE small_d PARTITION OF small DEFAULT'), qr/^WARNING:  401 /, 'a default partition has no width');
	like(said_of_days(401, type => 'bigint', key => 'n * 10', width => "'10'"), qr/^WARNING:  401 new .*HINT:  Load with partition_interval => '1000', to have about 5 instead\.$/s, 'integers');
	is(said_of_days(401, verbosity => 'silent'), '', 'silent');
	is(said_of_days(401, width => "'1 week'"), '', 'wide enough');
	is(said_of_days(400), '', 'not too many');
	is(said_of_days(401, sql => q{CREATE TABLE small_1 PARTITION OF small FOR VALUES FROM ('2020-01-01') TO ('2020-01-02')}), '', 'the width is there already');
	is(said_of_days(401, key => q{timestamp '1600-01-01' + n * interval '1 year'}), '', 'no width would do');
	is(said_of_days(401, load => "SELECT FROM fast_copy_analyze('small', '$csv')"), '', 'an analysis says it in no message');
	is($node->safe_psql('postgres', "DROP TABLE small; CREATE TABLE small (at timestamp, pad text) PARTITION BY RANGE (at);
		SELECT name || ' ' || detail FROM fast_copy_analyze('small', '$csv') WHERE item = 'warning'; DROP TABLE small"),
		qq{partition_interval 401 new partitions of table "small" get 22 bytes of the source each: Load with partition_interval => '1 year', to have about 3 instead.}, 'but in a row of its own');
}

# Line by line, as psql shows them.  A table's name may be long, wide, or have a
# line break in it.
sub narrow_lines
{
	foreach my $name ('a' x 63, "\x{e6}\x{bc}\x{a2}" x 21, "a\nb" . 'c' x 40)
	{
		foreach my $width ('0', '80', '132')
		{
			my ($rc, $out, $err) = $node->psql('postgres', "CREATE TABLE \"$name\" (n int, ts timestamp, v text) PARTITION BY RANGE (ts);
				CREATE INDEX ON \"$name\" (n);
				SET fast_copy.progress_width = $width;
				SELECT fast_copy('\"$name\"', '$file', workers => 0, run_analyze => true, progress => '1us');
				DROP TABLE \"$name\"");
			my @lines = map { s/^psql:\S+ //r } split /\n/, $err;
			my $wide = grep { columns($_) > ($width || 80) } @lines;

			is($rc, 0, 'loaded') or diag($err);
			cmp_ok(scalar(grep { /%, / } @lines), '>', 5, 'many lines');
			is($wide, 0, "none of them is wider than the terminal, $width") or diag($err);
			is(scalar(grep { !/^NOTICE:  fast_copy/ } @lines), 0, 'each line is one') or diag($err);
		}
	}
}

# The columns of a line; a character of three bytes takes two
sub columns
{
	my ($line) = @_;

	return length($line =~ s/[\xe0-\xef]..?/xx/gr);
}

sub lines_inside_other_sql
{
	my $load = start_load($node, "CREATE TABLE plain (n int, ts timestamp, v text);
		CREATE FUNCTION nested() RETURNS bigint LANGUAGE plpgsql AS \$\$
		BEGIN
			RETURN (SELECT sum(fast_copy('plain', '$file', progress => '1us')) FROM generate_series(1, 2));
		EXCEPTION WHEN check_violation THEN
			RETURN -1;
		END \$\$;
		WITH x AS (SELECT nested() AS n) SELECT n FROM x;
		SET client_min_messages = warning;
		SELECT nested();\n");
	my ($out, $err) = finish_load($load);

	is($out, 2 * $rows . "\n" . 2 * $rows, 'inside a function');
	is(scalar(() = $err =~ /NOTICE:  fast_copy: 20,000 rows, /g), 2, 'one last line for each load, none where NOTICEs are not wanted');
}

# What the server's log has got since the last time.
my $read = 0;
sub logged
{
	my $log = slurp_file($node->logfile, $read);

	$read = -s $node->logfile;
	return join('', grep { /fast_copy of/ } split /^/, $log);
}

sub logged_loads
{
	my $load = "SELECT fast_copy('t', '$file', workers => 2)";

	events($node, 't');
	logged();
	$node->safe_psql('postgres', $load);
	is(logged(), '', 'no load is logged by default');
	$node->safe_psql('postgres', "SET fast_copy.log_min_duration = '1h'; TRUNCATE t; $load");
	is(logged(), '', 'no load is logged that is quick');
	my ($rc, $out, $err) = $node->psql('postgres', "SET fast_copy.log_min_duration = 0; DROP TABLE t;
		CREATE SCHEMA \"A b\"; CREATE TABLE \"A b\".t (n int, ts timestamp, v text) PARTITION BY RANGE (ts);
		CREATE INDEX ON \"A b\".t (n); SET search_path = \"A b\", public; $load");
	my $line = logged();
	is(scalar(() = $line =~ /\n/g), 1, 'one line for a load');
	like($line, qr/LOG:  fast_copy of "A b".t from "\Q$file\E": rows=$rows, rejected=0, filtered=0, nulled=0, mended=0, bytes=$bytes, seconds=[\d.]+, rate=\d+ rows\/s and [\d.]+ MB\/s, /, 'what was loaded, and how fast');
	like($line, qr/workers=[0-2] of 2, spill=(rows|offsets), spill_bytes=[1-9]\d+, writer=(page|multi_insert), order=key, partitions=5, replaced=0, duplicates=0, updated=0, deleted=0, unmatched=0, indexes=5, wal_bytes=[1-9]\d+; (split|scan)=/, 'what was chosen');
	unlike($err, qr/fast_copy of/, 'the client does not see it');
	unlike($line, qr/some text/, 'nobody sees the file');

	my $bad = write_bytes('bad.csv', "1,2013-01-01,secret\nx,2013-01-01,secret\n");
	$node->safe_psql('postgres', "SET fast_copy.log_min_duration = 0; CREATE TABLE plain2 (n int, ts timestamp, v text);
		SELECT fast_copy('plain2', '$bad', on_error => 'ignore', where_clause => 'n > 1')");
	$line = logged();
	like($line, qr/rows=0, rejected=1, filtered=1, .*spill=none, spill_bytes=0, writer=none, order=file/, 'what was left out');
	unlike($line, qr/secret/, 'but not what it was');
}

sub failed_loads
{
	my %phase = (
		"SELECT fast_copy('plain2', '/nowhere/secret.csv')" => 'setup, sqlstate=58P01',
		"SELECT fast_copy('plain2', '" . write_bytes('load.csv', "1,2013-01-01,a\nsecret,2013-01-01,a\n") . "')" => 'load, sqlstate=22P02',
		"SELECT fast_copy('uniq', '" . write_bytes('index.csv', "1,2013-01-01,a\n2,2013-01-01,b\n1,2013-01-01,a\n") . "')" => 'index, sqlstate=23505',
	);

	$node->safe_psql('postgres', 'CREATE TABLE uniq (n int, ts timestamp, v text, UNIQUE (n, ts)) PARTITION BY RANGE (ts)');
	foreach my $sql (sort keys %phase)
	{
		$node->psql('postgres', "SET fast_copy.log_min_duration = 0; $sql");
		my $line = logged();

		is(scalar(() = $line =~ /\n/g), 1, 'one line for a load that failed');
		like($line, qr/" failed: phase=$phase{$sql}, seconds=/, "in phase $phase{$sql}");
	}

	# a load that was caught is logged, too, and the transaction goes on
	my ($rc, $out) = $node->psql('postgres', "SET fast_copy.log_min_duration = 0;
		DO \$\$BEGIN PERFORM fast_copy('plain2', '/nowhere'); EXCEPTION WHEN OTHERS THEN NULL; END\$\$; SELECT 'on'");
	is("$rc $out", '0 on', 'the caller goes on');
	like(logged(), qr/failed: phase=setup/, 'a load that was caught is logged');
}

sub who_may_set_it
{
	$node->safe_psql('postgres', 'CREATE ROLE joe LOGIN');
	my ($rc, $out, $err) = $node->psql('postgres', "LOAD 'fast_copy'; SET ROLE joe; SET fast_copy.log_min_duration = 0");
	like($err, qr/permission denied to set parameter "fast_copy.log_min_duration"/, 'log_min_duration is for superusers');
	($rc) = $node->psql('postgres', "LOAD 'fast_copy'; SET ROLE joe; SET fast_copy.progress_width = 80");
	is($rc, 0, 'progress_width is for all');
}

sub choices
{
	foreach my $spill ('rows', 'offsets')
	{
		events($node, 'd');
		my ($rc, $out, $err) = $node->psql('postgres', "LOAD 'fast_copy'; SET fast_copy.spill = $spill; SET client_min_messages = debug1;
			SELECT FROM fast_copy('d', '$file', workers => 2);
			SELECT choice FROM fast_copy_report() WHERE phase IN ('scan', 'load') AND partition IS NULL");
		my @choices = grep { $_ } split /\n/, $out;

		is(scalar @choices, 2, "$spill: a choice for the scan and one for the load");
		like($choices[0], qr/^$spill spilled/, "$spill: what is spilled");
		like($err, qr/^.*DEBUG:  fast_copy: \Q$_\E$/m, "$spill: $_") foreach @choices;
	}
}

# What workers write is the statement's: as for any parallel statement.
sub usage
{
	foreach my $writer ('multi_insert', 'page')
	{
		usage_of("$_ workers, $writer", "SET fast_copy.writer = $writer", "fast_copy('w', '$file', workers => $_)") foreach 0, 2;
	}
}

# How many bytes of WAL rows make is up to the writer: the server knows.  What
# it counts has the heads of WAL's pages in it, too.
sub usage_of
{
	my ($what, $set, $load) = @_;
	my $wrote = "pg_current_wal_insert_lsn() - '0/0' - :before";

	events($node, 'w');
	my $plan = $node->safe_psql('postgres', "$set; EXPLAIN (ANALYZE, WAL, BUFFERS, COSTS OFF, TIMING OFF) SELECT $load");
	my ($wal) = $plan =~ /WAL:.*? bytes=(\d+)/;
	my $report = $node->safe_psql('postgres', "$set; DROP TABLE w; CREATE TABLE w (n int, ts timestamp, v text) PARTITION BY RANGE (ts);
		SELECT pg_current_wal_insert_lsn() - '0/0' AS before \\gset
		SELECT FROM $load;
		SELECT $wrote AS wrote \\gset
		SELECT $wal > 0.95 * :wrote, total.wal_bytes BETWEEN 0.95 * :wrote AND :wrote,
			(SELECT wal_bytes FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL) > total.wal_bytes * 0.7,
			total.wal_bytes >= (SELECT sum(wal_bytes) FROM fast_copy_report() WHERE phase <> 'total'),
			total.rows, total.bytes, total.spill_bytes = (SELECT spill_bytes FROM fast_copy_report() WHERE phase = 'scan'),
			total.rows_per_second > 0, total.bytes_per_second > total.rows_per_second,
			total.seconds >= (SELECT sum(seconds) FROM fast_copy_report() WHERE phase <> 'total' AND partition IS NULL)
		FROM fast_copy_report() AS total WHERE phase = 'total'");
	$report =~ s/^\s+//;
	is($report, "t|t|t|t|$rows|$bytes|t|t|t|t", "$what: EXPLAIN, and the report's total");
}
