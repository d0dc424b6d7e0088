# COPY as it is, loaded by fast_copy: what of it others can see, and when core
# loads after all.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', {}, "session_preload_libraries = 'fast_copy'", 'fast_copy.accelerate_min_size = 0', 'max_prepared_transactions = 1');
my $rows = 20000;
my $file = write_rows('rows.csv', $rows);
my $choice = "SELECT choice FROM fast_copy_report() WHERE phase IN ('load', 'copy')";

gates($node);

# A session with the setting on or off
sub session
{
	my ($on, $sql) = @_;

	return $node->safe_psql('postgres', "SET fast_copy.accelerate_copy = $on; SET fast_copy.workers = 2; SET fast_copy.chunk_size = '16kB'; $sql");
}

# What both ways of the same SQL say, in a new table each
sub answers
{
	my ($setup, $sql) = @_;
	my @answers;

	foreach my $on ('off', 'on')
	{
		$node->safe_psql('postgres', "DROP TABLE IF EXISTS t CASCADE; $setup");
		push @answers, session($on, $sql);
	}
	return @answers;
}

sub both
{
	my ($setup, $sql, $name) = @_;
	my ($off, $on) = answers($setup, $sql);

	is($on, $off, $name);
	return $on;
}

# From 16 on core adds up to 64 empty pages at a time, we only what rows need
sub are_sizes
{
	my ($setup, $sql, $name) = @_;

	return both($setup, $sql, $name) if $node->pg_version < 16;
	my @sizes = map { [ /(\d+)$/mg ] } answers($setup, $sql);
	my @larger = grep { $sizes[1][$_] > $sizes[0][$_] } 0 .. $#{ $sizes[0] };
	is("@larger", '', "$name, or smaller ones");
}

my %tables = (
	plain => 'CREATE TABLE t (n int, ts timestamp, v text)',
	indexed => 'CREATE TABLE t (n int PRIMARY KEY, ts timestamp, v text)',
	list => 'CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY LIST ((n % 3)); CREATE TABLE t_p0 PARTITION OF t FOR VALUES IN (0);
		CREATE TABLE t_p1 PARTITION OF t FOR VALUES IN (1); CREATE TABLE t_p2 PARTITION OF t FOR VALUES IN (2); CREATE TABLE t_p3 PARTITION OF t FOR VALUES IN (3)',
	tree => 'CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY LIST ((n % 2)); CREATE TABLE t_p0 PARTITION OF t FOR VALUES IN (0) PARTITION BY LIST ((n % 3));
		CREATE TABLE t_p1 PARTITION OF t FOR VALUES IN (1); CREATE TABLE t_p2 PARTITION OF t_p0 FOR VALUES IN (0, 1); CREATE TABLE t_p3 PARTITION OF t_p0 FOR VALUES IN (2)',
	range => "CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY RANGE (ts); CREATE TABLE t_p0 PARTITION OF t FOR VALUES FROM (MINVALUE) TO ('2013-01-02');
		CREATE TABLE t_p1 PARTITION OF t DEFAULT; CREATE TABLE t_p2 (x int, v text, ts timestamp, n int); ALTER TABLE t_p2 DROP x;
		ALTER TABLE t ATTACH PARTITION t_p2 FOR VALUES FROM ('2013-01-03') TO ('2013-01-04');
		CREATE TABLE t_p3 PARTITION OF t (CHECK (n > 0)) FOR VALUES FROM ('2013-01-05') TO (MAXVALUE)",
	days => 'CREATE TABLE t (n int, ts timestamp, v text, PRIMARY KEY (n, ts)) PARTITION BY RANGE (ts);
		' . join(';', map { "CREATE TABLE t_p$_ PARTITION OF t FOR VALUES FROM ('2013-01-0$_') TO ('2013-01-0" . ($_ + 1) . "')" } 1 .. 6));

foreach my $name (sort keys %tables)
{
	subtest "$name: rows, their places and the locks are those of COPY" => sub {
		my $all = "SELECT tableoid::regclass, count(*), md5(string_agg(t::text, '|' ORDER BY ctid)) FROM t GROUP BY 1 ORDER BY 1::text";
		my $sizes = 'SELECT relid, pg_relation_size(relid) FROM pg_partition_tree(\'t\') ORDER BY relid::text';
		# core reads the parent for a default partition's bounds, unless it knows them
		my $locks = "SELECT relation::regclass, mode FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation' AND mode <> 'AccessShareLock'
			AND relation::regclass::text ~ '^t(_p|\$)' ORDER BY relation::regclass::text, mode";

		both($tables{$name}, "COPY t FROM '$file' (FORMAT csv); $all", 'all rows, in the order of the file');
		are_sizes($tables{$name}, "COPY t FROM '$file' (FORMAT csv); " . ($name eq 'plain' ? "SELECT pg_relation_size('t')" : $sizes), 'tables of the same size');
		both($tables{$name}, "BEGIN; COPY t FROM '$file' (FORMAT csv); $locks; COMMIT", 'the same locks until commit');
		like(session('on', "TRUNCATE t; COPY t FROM '$file' (FORMAT csv); $choice"), qr/^in file order/, 'it was loaded by fast_copy');
	};
}

subtest 'more partitions than one process keeps open' => sub {
	my $numbers = write_bytes('numbers.csv', join('', map { $_ * 7919 % 1500 . "\n" } 1 .. 9000));

	both("CREATE TABLE t (n int) PARTITION BY RANGE (n); DO \$\$ BEGIN FOR i IN 0 .. 1499 LOOP EXECUTE format('CREATE TABLE t_p%s PARTITION OF t FOR VALUES FROM (%s) TO (%s)', i, i, i + 1); END LOOP; END \$\$",
		"SET fast_copy.chunk_size = '16kB'; COPY t FROM '$numbers'; SELECT n, count(*) FROM t WHERE tableoid = ('t_p' || n)::regclass GROUP BY 1 ORDER BY 1", 'each row in its partition');
};

subtest 'long rows go where the page of another process has room' => sub {
	my $numbers = write_bytes('numbers.csv', join('', map { "$_\n" } 1 .. 100_000));

	both("CREATE TABLE t (n int, v text GENERATED ALWAYS AS (repeat(chr(97 + n % 26), 3000)) STORED); INSERT INTO t VALUES (0)",
		"SET fast_copy.memory = '1MB'; SET fast_copy.writer = 'page'; RESET fast_copy.chunk_size; COPY t (n) FROM '$numbers'; SELECT count(*), md5(string_agg(md5(t::text), '|' ORDER BY ctid)) FROM t",
		'all rows, in the order of the file');
};

subtest 'a caller needs what COPY needs, and gets workers with it' => sub {
	$node->safe_psql('postgres', "DROP TABLE t; $tables{list}; CREATE ROLE loader IN ROLE pg_read_server_files; GRANT INSERT ON t TO loader");
	is(session('on', "SET ROLE loader; COPY t FROM '$file' (FORMAT csv); SELECT processes, rows FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL"),
		"2|$rows", 'INSERT suffices');
	my ($rc, $out, $err) = $node->psql('postgres', "SET fast_copy.accelerate_copy = on; REVOKE INSERT ON t FROM loader; SET ROLE loader; COPY t FROM '$file' (FORMAT csv)");
	like($err, qr/ERROR:  permission denied for table t/, 'no less does');
};

subtest 'of several faults of the command the first one is told, which is that of COPY' => sub {
	foreach my $faulty ("(none) FROM '$file' WHERE nothing > 1", "(n, n) FROM '$file' WHERE 1 / 0 = 1", "(none) FROM '$file' (FORMAT none)")
	{
		my @told = map { ($node->psql('postgres', "SET fast_copy.accelerate_copy = $_; COPY t $faulty"))[2] } 'off', 'on';
		is($told[1], $told[0], $faulty =~ s/FROM '.*?'/FROM/r);
	}
};

subtest 'what is not for fast_copy is loaded by core, and the report says why' => sub {
	my $why = sub {
		my ($setup, $copy) = @_;
		$node->safe_psql('postgres', "DROP TABLE IF EXISTS t CASCADE; $setup");
		return session('on', "$copy; SELECT count(*) FROM t; $choice");
	};

	is($why->("$tables{plain}; CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'; CREATE TRIGGER f BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()",
		"COPY t FROM '$file' (FORMAT csv)"), "$rows\ncore's COPY: the target has triggers", 'a trigger');
	is($why->("$tables{list}; CREATE TRIGGER f BEFORE INSERT ON t_p1 FOR EACH ROW EXECUTE FUNCTION f()",
		"COPY t FROM '$file' (FORMAT csv)"), "$rows\ncore's COPY: a partition has triggers", 'a trigger of a partition');
	is($why->('CREATE TABLE t (n int, ts timestamp, v text, r float DEFAULT random())',
		"COPY t (n, ts, v) FROM '$file' (FORMAT csv)"), "$rows\ncore's COPY: a default or the condition may look at the rows before", 'a volatile default');
	is($why->($tables{plain}, "SET fast_copy.accelerate_min_size = '100MB'; COPY t FROM PROGRAM 'cat $file' (FORMAT csv)"),
		"$rows\ncore's COPY: the data are smaller than fast_copy.accelerate_min_size", 'few data');
};

subtest 'a partition that gets no row is neither locked nor waited for' => sub {
	$node->safe_psql('postgres', "DROP TABLE t; $tables{list}");
	my $other = start_load($node, "BEGIN; LOCK TABLE t_p3; SELECT pg_sleep(0); SELECT gate(7); COMMIT;\n");

	close_gate();
	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE relation = 't_p3'::regclass AND mode = 'AccessExclusiveLock' AND granted"), 'another session has it');
	is(session('on', "SET lock_timeout = '1s'; COPY t FROM '$file' (FORMAT csv); SELECT count(*) FROM t_p0, (SELECT 1) x; $choice"),
		int($rows / 3) . "\ncore's COPY: another session has locked a partition", 'COPY does not wait');
	open_gate();
	finish_load($other);
};

subtest 'what a program prints goes through memory, and can be looked at again after an error' => sub {
	my $long = write_bytes('long.csv', "1,2013-01-01,short\n2,2013-01-01," . 'x' x 9_000_000 . "\n" . "3,2013-01-01,short\n" x 200_000);
	my $bad = write_bytes('bad.csv', "1,2013-01-01,short\n" x 300_000 . "2,2013-13-01,bad\n" . "3,2013-01-01,short\n" x 300_000);
	my $spilled = "SELECT spill_bytes FROM fast_copy_report() WHERE phase = 'receive'";

	$node->safe_psql('postgres', "DROP TABLE t; $tables{plain}");
	cmp_ok(session('on', "RESET fast_copy.chunk_size; COPY t FROM PROGRAM 'cat $file $file $file $file $file $file $file $file' (FORMAT csv); $spilled"), '<', 1_000_000, 'little of it is in a temporary file');
	is($node->safe_psql('postgres', 'SELECT count(*), sum(n) FROM t'), 8 * $rows . '|' . 4 * $rows * ($rows + 1), 'all rows are there');
	is(session('on', "RESET fast_copy.chunk_size; TRUNCATE t; COPY t FROM PROGRAM 'cat $long' (FORMAT csv); SELECT count(*), max(length(v)) FROM t"), '200002|9000000', 'a record longer than the memory');
	my ($rc, $out, $err) = $node->psql('postgres', "SET fast_copy.accelerate_copy = on; SET fast_copy.workers = 2; COPY t FROM PROGRAM 'cat $bad' (FORMAT csv)");
	like($err, qr/ERROR:  date\/time field value out of range: "2013-13-01".*CONTEXT:  COPY t, line 300001, column ts: "2013-13-01"/s, 'the error is that of COPY');
};

subtest 'a client may give up after any byte' => sub {
	my $socket = connection($node);
	my $cut = cut_for($node, 9);
	my $said = sub {
		my ($sql, $data) = @_;

		say_to($socket, [ 'Q', "$sql\0" ]);
		my @messages = messages($socket, 'G', 'Z');
		if ($messages[-1][0] eq 'G')
		{
			say_to($socket, (map { [ 'd', $_ ] } $data =~ /(.{1,$cut})/sg), [ 'f', "no more\0" ]);
			@messages = messages($socket, 'Z');
		}
		return join('|', map { $_->[1] =~ /\0([CMW][^\0]*)/g } grep { $_->[0] eq 'E' } @messages);
	};
	my %data = (
		text => "1\ta\n2\tb\\\nc\n34\td\n\\.\n",
		csv => qq(1,a\n2,"b\nc"\n34,d\n),
		binary => "PGCOPY\n\377\r\n\0" . pack('NN', 0, 0) . join('', map { pack('nNNN/a', 2, 4, $_, "v$_") } 1 .. 2) . pack('nNNN/a', 2, 4, 3, "\xff") . pack('nNnN', 2, 2, 3, 0) . "\xff\xff");
	my %ways = ('alone' => "SET fast_copy.workers = 0; SET fast_copy.chunk_size = '1MB'",
		'with workers' => "SET fast_copy.workers = 2; SET fast_copy.chunk_size = '1kB'");

	$node->safe_psql('postgres', 'DROP TABLE t; CREATE TABLE t (n int, v text)');
	foreach my $format (sort keys %data)
	{
		my $copy = "COPY t FROM STDIN (FORMAT $format)";
		my @cuts = map { substr($data{$format}, 0, $_) } 0 .. length $data{$format};
		my $failures = sub { return join("\n", map { $said->($copy, $_) } @cuts) };

		$said->('SET fast_copy.accelerate_copy = off');
		my $expected = $failures->();
		foreach my $way (sort keys %ways)
		{
			$said->("SET fast_copy.accelerate_copy = on; $ways{$way}");
			is($failures->(), $expected, "$format, $way");
		}
	}
};

# More chunks than there are places for at a time, and bytes than the ring has
subtest 'what a program prints takes no disk, however much it is and whoever loads it' => sub {
	my $prog = "seq 1 500000 | sed 's/\$/," . 'abcdefghij' x 7 . "/'";
	my $set = "TRUNCATE t; SET temp_file_limit = '6MB'; SET fast_copy.chunk_size = '1kB'";
	my $sum = 'SELECT count(*), bool_and(n = number), sum(hashtext(v)::bigint) FROM (SELECT *, row_number() OVER () AS number FROM t) AS x';
	my $answer = sub {
		my ($on, $workers) = @_;
		my $way = "$set; SET fast_copy.workers = $workers; SET fast_copy.accelerate_copy = $on; COPY t FROM PROGRAM";
		my ($rc, $out, $err) = $node->psql('postgres', "$way \$\$$prog\$\$ (FORMAT csv); $sum");
		my ($rc2, $out2, $err2) = $node->psql('postgres', "$way \$\$$prog | sed 's/^400000,/x,/'; yes\$\$ (FORMAT csv)");

		return "$out $err2" =~ s/psql:<stdin>:\d+: //r;
	};

	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS t CASCADE; CREATE TABLE t (n int, v text)');
	my $expected = $answer->('off', 0);
	like($expected, qr/^500000\|t\|-?\d+ ERROR: .*line 400000/s, 'COPY goes to the end, and to the error');
	foreach my $workers (0, 2)
	{
		my $got = $answer->('on', $workers);

		is($got, $expected, "$workers workers");
		like($got, qr/^500000\|t\|-?\d+ ERROR: .*line 400000/s, '... to the end, and to the error');
	}
};

# A process says how many rows it has written by the columns of batches
subtest 'rows are formed by the hundred, whatever is asked of them' => sub {
	my $t = 'CREATE TABLE t (n int, ts timestamp, v text';
	my %asked = (
		'a CHECK' => [ "$t, CHECK (n >= 0))", "COPY t FROM '$file' (FORMAT csv)" ],
		'a condition' => [ "$t)", "COPY t FROM '$file' (FORMAT csv) WHERE n % 2 = 0" ],
		'a generated column' => [ "$t, twice bigint GENERATED ALWAYS AS (n * 2) STORED)", "COPY t (n, ts, v) FROM '$file' (FORMAT csv)" ],
		'a default' => [ "$t, word text DEFAULT 'w' || current_user)", "COPY t (n, ts, v) FROM '$file' (FORMAT csv)" ],
		'another encoding' => [ "$t)", "COPY t FROM '$file' (FORMAT csv, ENCODING 'EUC_JP')" ],
		'a sequence' => [ "$t, id serial)", "SELECT fast_copy('t', '$file', columns => '{n,ts,v}')" ],
		'a transform' => [ "$t)", qq{SELECT fast_copy('t', '$file', columns => '{n,ts,v}', options => '{"transform": "v = upper(v)"}')} ],
		'words for NULL' => [ "$t)", qq{SELECT fast_copy('t', '$file', options => '{"null_strings": {"n": ["-"], "v": ["n/a"]}}')} ],
		'numbers' => [ "$t)", qq{SELECT fast_copy('t', '$file', options => '{"number_format": "1.234,5"}')} ],
		'a time zone' => [ "CREATE TABLE t (n int, ts timestamptz, v text)", qq{SELECT fast_copy('t', '$file', options => '{"time_zone": "Europe/Rome"}')} ],
		'partitions' => [ $tables{days}, "COPY t FROM '$file' (FORMAT csv)" ],
		'a leaf with other columns' => [ "$t) PARTITION BY RANGE (n); CREATE TABLE t_p0 (v text, x int, n int, ts timestamp); ALTER TABLE t_p0 DROP x;
			ALTER TABLE t ATTACH PARTITION t_p0 FOR VALUES FROM (MINVALUE) TO (MAXVALUE)", "COPY t FROM '$file' (FORMAT csv)" ]);

	foreach my $name (sort keys %asked)
	{
		my ($ddl, $load) = @{ $asked{$name} };

		$node->safe_psql('postgres', "DROP TABLE IF EXISTS t CASCADE; $ddl");
		my ($rc, $out, $err) = $node->psql('postgres', "SET fast_copy.accelerate_copy = on; SET fast_copy.workers = 0; SET client_min_messages = debug2; $load");
		my ($by_columns, $all) = $err =~ /fast_copy: (\d+) of (\d+) rows by columns/;

		is($all, $rows, "$name: all rows are looked at");
		cmp_ok($by_columns // 0, '>=', $rows - 10, "$name: by columns");
	}
};

# Rows of a batch are brought together by leaf, with some left out and some odd
subtest 'rows whose leaves alternate keep their values, and the order of the file' => sub {
	my $mixed = write_bytes('mixed.csv', join('', map { join(',', $_ % 7, $_, $_ % 11 ? "text $_" : '', $_ % 97 ? $_ * 1.5 : qq{" $_"}) . "\n" } 1 .. 5000));
	my $leaves = join(' ', map { "CREATE TABLE %1\$s_$_ PARTITION OF %1\$s FOR VALUES FROM (@{[ 2 * $_ ]}) TO (@{[ 2 * $_ + 2 ]});" } 0 .. 3);

	foreach my $writer ('page', 'multi_insert')
	{
		foreach my $name ('t', 'likewise')
		{
			my $made = sprintf("DROP TABLE IF EXISTS %1\$s; CREATE TABLE %1\$s (k int, n int, v text, x numeric) PARTITION BY RANGE (k); $leaves", $name);
			my $set = $name eq 't' ? "SET fast_copy.accelerate_copy = on; SET fast_copy.workers = 0; SET fast_copy.writer = '$writer';" : '';

			my (undef, undef, $err) = $node->psql('postgres', "$made SET client_min_messages = debug2; $set COPY $name FROM '$mixed' (FORMAT csv) WHERE n % 5 <> 0");
			like($err, qr/fast_copy: [1-9]\d{3} of 5000 rows by columns/, "$writer: rows go by columns") if $name eq 't';
		}
		is($node->safe_psql('postgres', 'SELECT count(*) FROM (SELECT * FROM t EXCEPT ALL SELECT * FROM likewise) AS d'), 0, "$writer: COPY has these rows");
		is($node->safe_psql('postgres', 'SELECT count(*), (SELECT count(*) FROM likewise) FROM t'), '4000|4000', "$writer: and no others");
		is($node->safe_psql('postgres', 'SELECT count(*) FROM (SELECT n < lag(n) OVER (PARTITION BY tableoid ORDER BY ctid) AS back FROM t) AS o WHERE back'), 0,
			"$writer: in the order of the file");
	}
};

# Of texts and others, with quotes or without, NULL, odd, or nothing but blanks
subtest 'blanks around fields are left out by columns' => sub {
	my @texts = ([ '"  a""b "', '"  a""b "', '"a""b"' ], [ " plain\t", ('plain') x 2 ], [ '', '', '' ], [ '"q "', '"q "', '"q"' ], [ ' ', ('""') x 2 ]);

	foreach my $trim ('unquoted', 'all')
	{
		my $row = sub {
			my ($i, $blank, $quote, $text) = @_;
			my $n = $i % 97 ? $i : "+$i";
			my $x = $i % 7 ? "$quote$blank@{[ $i * 1.5 ]}$blank$quote" : '';

			return join(',', "$blank$n$blank", $x, "${blank}abc$blank", $text) . "\n";
		};
		my $blank = sub { (' ', "\t", '  ', '')[ $_[0] % 4 ] };
		my $raw = write_bytes('blanks.csv', join('', map { $row->($_, $blank->($_), $_ % 6 ? '' : '"', $texts[ $_ % 5 ][0]) } 1 .. 5000));
		my $bare = write_bytes('bare.csv', join('', map { $row->($_, '', '', $texts[ $_ % 5 ][ $trim eq 'all' ? 2 : 1 ]) } 1 .. 5000));

		$node->safe_psql('postgres', "DROP TABLE IF EXISTS t, likewise; CREATE TABLE t (n int, x float8, w varchar(3), v text); CREATE TABLE likewise (LIKE t); COPY likewise FROM '$bare' (FORMAT csv)");
		my (undef, undef, $err) = $node->psql('postgres', "SET client_min_messages = debug2; SELECT fast_copy('t', '$raw', workers => 0, options => '{\"trim_blanks\": \"$trim\"}')");
		like($err, qr/fast_copy: 4\d{3} of 5000 rows by columns/, "$trim: rows go by columns");
		is($node->safe_psql('postgres', 'SELECT count(*), sum((x IS NULL)::int), count(v) FROM t'), '5000|714|4000', "$trim: all of them");
		is($node->safe_psql('postgres', 'SELECT count(*) FROM ((SELECT * FROM t EXCEPT ALL SELECT * FROM likewise) UNION ALL (SELECT * FROM likewise EXCEPT ALL SELECT * FROM t)) AS d'), 0, "$trim: without blanks");
	}
};

# Another transaction has a row of the same key, and does not end
subtest 'an error that a worker meets is told as COPY tells it' => sub {
	my @answers = map {
		$node->safe_psql('postgres', "DROP TABLE IF EXISTS t CASCADE; CREATE TABLE t (n int PRIMARY KEY, ts timestamp, v text);
			BEGIN; INSERT INTO t VALUES (15000); PREPARE TRANSACTION 'other'");
		my ($rc, $out, $err) = $node->psql('postgres', "SET lock_timeout = '200ms'; SET fast_copy.accelerate_copy = $_; SET fast_copy.workers = 2;
			COPY t FROM '$file' (FORMAT csv)");

		$node->safe_psql('postgres', "ROLLBACK PREPARED 'other'");
		# from 19 on the lock is named, and who has it
		$err =~ s/psql:<stdin>:\d+: //r =~ s/waiting for ShareLock on transaction \d+\n//r;
	} 'off', 'on';

	is($answers[1], $answers[0], 'all of it');
	like($answers[1], qr/lock timeout\nCONTEXT:  while inserting index tuple .*\nCOPY t, line 15000$/, 'with the line, and without the worker');
};

# COPY asks indexes when it inserts a batch, and the row while it reads it
subtest 'a row that is refused is told before one that an index refuses' => sub {
	$node->safe_psql('postgres', "CREATE FUNCTION refuses(int, int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
		AS 'BEGIN IF \$1 = \$2 THEN RAISE ''refused %'', \$1; END IF; RETURN \$1; END'");
	foreach my $source ("'$file'", "PROGRAM 'cat $file'")
	{
		my @answers = map {
			$node->safe_psql('postgres', "DROP TABLE IF EXISTS t CASCADE; $tables{list}; ALTER TABLE t ADD CHECK (refuses(n, 15010) > 0); CREATE INDEX ON t (refuses(n, 15003))");
			my ($rc, $out, $err) = $node->psql('postgres', "SET fast_copy.accelerate_copy = $_; SET fast_copy.workers = 2; COPY t FROM $source (FORMAT csv)");

			$err =~ s/psql:<stdin>:\d+: //r;
		} 'off', 'on';

		like($answers[0], qr/ERROR:  refused 15010\n/, 'COPY tells of the row');
		is($answers[1], $answers[0], "all of it: $source" =~ s/\/[^ ']*\///gr);
	}
};

subtest 'while it runs it is a COPY to others' => sub {
	close_gate();
	$node->safe_psql('postgres', "DROP TABLE t; CREATE TABLE t (n int, ts timestamp, v text); CREATE INDEX ON t (as_index(n))");
	my $load = start_load($node, "SET fast_copy.accelerate_copy = on; SET fast_copy.workers = 2; COPY t FROM PROGRAM 'cat $file' (FORMAT csv);\n");

	ok(at_gate($node), 'at the gate');
	is($node->safe_psql('postgres', 'SELECT relid::regclass, command, type FROM pg_stat_progress_copy'), 't|COPY FROM|PROGRAM', 'in the view of core');
	open_gate();
	is((finish_load($load))[1], '', 'it ends without a word');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), $rows, 'all rows');
};

$node->stop;
done_testing();
