# Loads with on_conflict beside sessions that write the same keys, in each isolation
# level, before crashes, and on a standby.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', { allows_streaming => 1 }, 'wal_level = logical', 'restart_after_crash = on', 'max_prepared_transactions = 5', "deadlock_timeout = '100ms'");
my @days = map { sprintf '2013-01-%02d', $_ } 1 .. 4;
# each key comes twice; the second row is the better one
my $file = write_bytes('rows.csv', join('', map { my $better = $_; map { sprintf "%d,%s,%s %d\n", $_, $days[ $_ % 4 ], $better, $_ } 1 .. 400 } 'first', 'last'));
my $verbose = "\\set VERBOSITY verbose\n";
my $schemas = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'fast_copy %'";

$node->safe_psql('postgres', 'CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility');
gates($node);

# Tables of three kinds, each with rows 1, 2 and 8 of other sessions
my %LAYOUTS = (
	plain => [ '', '' ],
	existing => [ 'PARTITION BY RANGE (ts)', join('', map { my $next = sprintf '2013-01-%02d', $_ + 1; sprintf "CREATE TABLE t_p201301%02d PARTITION OF t FOR VALUES FROM ('2013-01-%02d') TO ('%s');", $_, $_, $next } 1 .. 4) ],
	some => [ 'PARTITION BY RANGE (ts)', "CREATE TABLE t_p20130101 PARTITION OF t FOR VALUES FROM ('2013-01-01') TO ('2013-01-02'); CREATE TABLE t_p20130102 PARTITION OF t FOR VALUES FROM ('2013-01-02') TO ('2013-01-03');
		CREATE TABLE t_p20130103 PARTITION OF t FOR VALUES FROM ('2013-01-03') TO ('2013-01-04')" ]);

sub prepare
{
	my ($layout) = @_;

	open_gate();
	$node->safe_psql('postgres', "DROP TABLE IF EXISTS t; CREATE TABLE t (n int, ts timestamp, v text, PRIMARY KEY (n, ts), CONSTRAINT gate CHECK (gate(n))) $LAYOUTS{$layout}[0]; $LAYOUTS{$layout}[1]");
	$node->safe_psql('postgres', "INSERT INTO t VALUES (1, '$days[1]', 'old 1'), (2, '$days[2]', 'old 2'), (8, '$days[0]', 'old 8')");
}

sub load_sql
{
	my ($action, $more) = @_;

	return "SELECT fast_copy('t', '$file', workers => 2, options => '{\"on_conflict\": \"$action\", \"dedup_keys\": [\"ts\", \"n\"]" . ($more // '') . "}')";
}

# Rows: all, of the file's last rows, of its first rows, of others; and no schema
sub is_there
{
	my ($wanted, $what) = @_;

	is($node->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE v ~ '^last'), count(*) FILTER (WHERE v ~ '^first'), count(*) FILTER (WHERE v !~ '^(first|last)') FROM t; $schemas"), "$wanted\n0", "$what: rows, and no schema");
}

sub waits { return wait_until($node, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'fast_copy'") }

sub session
{
	my $session = $node->background_psql('postgres', on_error_stop => 0);

	$session->query_safe($_) foreach 'SET client_min_messages = warning', @_;
	return $session;
}

# ---- others write the same keys ------------------------------------------------

foreach my $layout (sort keys %LAYOUTS)
{
	foreach my $action (qw(nothing update))
	{
		foreach my $end (qw(COMMIT ROLLBACK))
		{
			subtest "$layout, $action: the load waits for a row of another session, then $end" => sub {
				prepare($layout);
				my $other = session('BEGIN', "INSERT INTO t VALUES (4, '$days[0]', 'theirs')");
				my $load = start_load($node, load_sql($action) . ";\n");
				ok(waits(), 'the load waits');
				is($node->safe_psql('postgres', $schemas), 0, 'nobody sees its schema');
				is($node->safe_psql('postgres', 'SELECT phase FROM fast_copy_progress'), 'replace', 'others see what it is at');
				is($node->safe_psql('postgres', "SELECT count(*) FROM t"), 3, 'and none of its rows');
				$other->query_safe($end);
				$other->quit;
				my ($out, $err) = finish_load($load);
				my $theirs = $end eq 'COMMIT';
				is($out, $action eq 'update' ? 400 : 397 - $theirs, 'the load is done') or diag($err);
				is_there($action eq 'update' ? '400|400|0|0' : sprintf('400|0|%d|%d', 397 - $theirs, 3 + $theirs), 'afterwards');
				is_sound($node, 'afterwards');
			};
		}
	}
}

# What another session does, and commits, while the load stands at the gate
foreach my $layout ('plain', 'existing')
{
	foreach my $case (
		[ 'inserts a row', "INSERT INTO t VALUES (5, '$days[1]', 'theirs')", '400|400|0|0', 400, '400|0|396|4', 396 ],
		[ 'updates a row', "UPDATE t SET v = 'theirs' WHERE n = 1", '400|400|0|0', 400, '400|0|397|3', 397 ],
		[ 'deletes a row', 'DELETE FROM t WHERE n = 1', '400|400|0|0', 400, '400|0|398|2', 398 ],
		[ 'moves a row away', "UPDATE t SET n = 1001 WHERE n = 1", '401|400|0|1', 400, '401|0|398|3', 398 ])
	{
		my ($what, $sql, $updated, $of_update, $nothing, $of_nothing) = @$case;

		foreach my $action (qw(nothing update))
		{
			subtest "$layout, $action: another session $what, read committed" => sub {
				prepare($layout);
				close_gate();
				my $load = start_load($node, load_sql($action) . ";\n");
				ok(at_gate($node), 'at the gate');
				$node->safe_psql('postgres', $sql);
				open_gate();
				my ($out, $err) = finish_load($load);
				is($out, $action eq 'update' ? $of_update : $of_nothing, 'the load is done') or diag($err);
				is_there($action eq 'update' ? $updated : $nothing, 'afterwards');
			};
			foreach my $isolation ('REPEATABLE READ', 'SERIALIZABLE')
			{
				# a row that is in the way of DO NOTHING, and that the snapshot has, may change
				next if $action eq 'nothing' && $what ne 'inserts a row';
				subtest "$layout, $action: another session $what, $isolation" => sub {
					prepare($layout);
					close_gate();
					my $load = start_load($node, $verbose . "BEGIN ISOLATION LEVEL $isolation; SELECT count(*) FROM t;\n" . load_sql($action) . ";\nCOMMIT;\n");
					ok(at_gate($node), 'at the gate');
					$node->safe_psql('postgres', $sql);
					open_gate();
					my ($out, $err) = finish_load($load);
					# as in core, where a row that is gone is in nobody's way
					if ($what =~ /deletes|moves/)
					{
						is($out, "3\n$of_update", 'the load is done') or diag($err);
						is_there($updated, 'afterwards');
						return;
					}
					like($err, qr/ERROR:  40001: could not serialize access/, 'it cannot be serialized');
					is_there($what eq 'inserts a row' ? '4|0|0|4' : '3|0|0|3', 'nothing is loaded');
				};
			}
		}
	}
}

# ---- loads side by side ----------------------------------------------------------

foreach my $layout (sort keys %LAYOUTS)
{
	subtest "$layout: two loads of the same file" => sub {
		prepare($layout);
		my $first = session('BEGIN');
		is($first->query_safe(load_sql('update')), 400, 'the first');
		my $second = start_load($node, load_sql('nothing') . ";\n");
		my $third = start_load($node, load_sql('update') . ";\n");
		my $late = start_load($node, $verbose . "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t;\n" . load_sql('update') . ";\nCOMMIT;\n");
		ok(wait_until($node, "SELECT count(*) = 3 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'fast_copy'"), 'the others wait');
		$first->query_safe('COMMIT');
		$first->quit;
		my ($out, $err) = finish_load($second);
		is($out, 0, 'the second finds all rows') or diag($err);
		($out, $err) = finish_load($third);
		is($out, 400, 'the third updates them') or diag($err);
		($out, $err) = finish_load($late);
		like($err, qr/ERROR:  40001/, 'one that cannot see them fails');
		is_there('400|400|0|0', 'afterwards');
		is_sound($node, 'afterwards');
	};

	subtest "$layout: the first of two is rolled back" => sub {
		prepare($layout);
		my $first = session('BEGIN');
		is($first->query_safe(load_sql('update')), 400, 'the first');
		my $second = start_load($node, load_sql('nothing') . ";\n");
		ok(waits(), 'the second waits');
		$first->query_safe('ROLLBACK');
		$first->quit;
		my ($out, $err) = finish_load($second);
		is($out, 397, 'the second loads') or diag($err);
		is_there('400|0|397|3', 'afterwards');
	};

	subtest "$layout: many at once" => sub {
		prepare($layout);
		my @loads = map { start_load($node, load_sql($_ % 2 ? 'update' : 'nothing') . ";\n" x 3) } 1 .. 4;
		foreach my $load (@loads)
		{
			my ($out, $err) = finish_load($load);
			is(unsaid($err), '', 'none fails');
		}
		is_there('400|400|0|0', 'afterwards');
	};
}

# ---- partitions come while the file is scanned -------------------------------------

subtest 'a partition comes with rows of the same keys' => sub {
	prepare('some');
	close_gate();
	my $load = start_load($node, "SELECT fast_copy('t', '$file', workers => 2, where_clause => 'gate(n)', options => '{\"on_conflict\": \"nothing\"}');\n");
	ok(at_gate($node), 'in the scan');
	$node->safe_psql('postgres', "CREATE TABLE t_p20130104 (LIKE t INCLUDING ALL); ALTER TABLE t ATTACH PARTITION t_p20130104 FOR VALUES FROM ('2013-01-04') TO ('2013-01-05'); INSERT INTO t VALUES (11, '2013-01-04', 'theirs')");
	open_gate();
	my ($out, $err) = finish_load($load);
	is($out, 396, 'the load is done') or diag($err);
	is_there('400|0|396|4', 'afterwards');
};

# ---- the load ends before its end -----------------------------------------------

foreach my $layout ('plain', 'some')
{
	foreach my $how ('cancel', 'terminate', 'kill')
	{
		foreach my $where ('at the gate', 'in the INSERT')
		{
			subtest "$layout, $how $where" => sub {
				prepare($layout);
				close_gate() if $where eq 'at the gate';
				my $other = session('BEGIN', "INSERT INTO t VALUES (4, '$days[0]', 'theirs')") if $where ne 'at the gate';
				my $load = start_load($node, "SET application_name = 'load';\n" . load_sql('update') . ";\n");
				ok($where eq 'at the gate' ? at_gate($node) : waits(), $where);
				my $pid = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name = 'load'");
				$how eq 'kill' ? kill_hard($pid) : $node->safe_psql('postgres', "SELECT pg_${how}_backend($pid)");
				my ($out, $err) = finish_load($load);
				isnt($err, '', 'it fails');
				ok(wait_until($node, 'SELECT true'), 'the server is there');
				$other->{run}->finish if $other && $how eq 'kill';
				$other->quit if $other && $how ne 'kill';
				open_gate();
				is_there('3|0|0|3', 'afterwards');
				is($node->safe_psql('postgres', load_sql('update')), 400, 'and again');
				is_there('400|400|0|0', 'then');
			};
		}
	}

	subtest "$layout: a crash after the commit, transactions, savepoints" => sub {
		prepare($layout);
		is($node->safe_psql('postgres', load_sql('update')), 400, 'loaded');
		$node->stop('immediate');
		$node->start;
		is_there('400|400|0|0', 'after a crash');
		is_sound($node, 'after a crash');
		prepare($layout);
		is($node->safe_psql('postgres', 'BEGIN; ' . load_sql('nothing') . '; SAVEPOINT s; ' . load_sql('update') . "; $schemas; ROLLBACK TO s; $schemas; COMMIT"), "397\n400\n0\n0", 'the second is rolled back');
		is_there('400|0|397|3', 'afterwards');
		prepare($layout);
		$node->safe_psql('postgres', 'BEGIN; ' . load_sql('update') . "; PREPARE TRANSACTION 'p'");
		is_there('3|0|0|3', 'prepared');
		$node->stop('immediate');
		$node->start;
		$node->safe_psql('postgres', "COMMIT PREPARED 'p'");
		is_there('400|400|0|0', 'after COMMIT PREPARED');
		is_sound($node, 'after COMMIT PREPARED');
	};
}

# ---- who reads the WAL -------------------------------------------------------------

subtest 'a logical slot is shown the rows of the table alone' => sub {
	prepare('some');
	$node->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('s', 'test_decoding')");
	is($node->safe_psql('postgres', load_sql('update')), 400, 'loaded');
	is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE data ~ '^table public.t.*: INSERT'), count(*) FILTER (WHERE data ~ '^table public.t.*: UPDATE'), count(*) FILTER (WHERE data ~ '^table' AND data !~ '^table public.t')
		FROM pg_logical_slot_get_changes('s', NULL, NULL)"), '397|3|0', 'each row once');
	$node->safe_psql('postgres', "SELECT pg_drop_replication_slot('s')");
};

subtest 'a table that publishes updates needs an identity' => sub {
	prepare('plain');
	$node->safe_psql('postgres', 'ALTER TABLE t REPLICA IDENTITY NOTHING; CREATE PUBLICATION p FOR TABLE t');
	like(($node->psql('postgres', $verbose . load_sql('update')))[2], qr/ERROR:  55000: cannot update table "t" because it does not have a replica identity and publishes updates/, 'as for an UPDATE');
	is_there('3|0|0|3', 'nothing is loaded');
	is($node->safe_psql('postgres', load_sql('nothing')), 397, 'inserts need none');
	$node->safe_psql('postgres', 'DROP PUBLICATION p');
};

subtest 'a standby has the rows, and nothing else' => sub {
	my $standby = new_standby($node);
	prepare('some');
	is($node->safe_psql('postgres', load_sql('update')), 400, 'loaded');
	$node->wait_for_catchup($standby);
	is($standby->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE v ~ '^last') FROM t; $schemas"), "400|400\n0", 'there');
	$standby->stop;
};

# ---- where an error stands ------------------------------------------------------------

foreach my $layout ('plain', 'existing')
{
	subtest "$layout: a row that the INSERT refuses, of what the client sends" => sub {
		prepare($layout);
		$node->safe_psql('postgres', 'ALTER TABLE t DROP CONSTRAINT gate; CREATE INDEX refuses ON t' . ($layout eq 'plain' ? '' : '_p20130101') . ' ((1 / (n - 39000)))');
		# some megabytes, so that the beginning is gone where it is not kept
		my $rows = join('', map { "$_,$days[0],\"two\nlines $_\"\n" } 20001 .. 40000) . join('', map { "$_,$days[0]," . 'x' x 900 . "\n" } 1 .. 20000);
		foreach my $set ('fast_copy.workers = 0', 'fast_copy.workers = 2')
		{
			my (undef, $out, $err) = $node->psql('postgres', "LOAD 'fast_copy'; SET fast_copy.memory = '8MB'; SET $set;\nCOPY t (n, ts, v) FROM STDIN WITH (fast_copy, FORMAT csv, on_conflict nothing);\n$rows\\.\n");
			like($err, qr/ERROR:  division by zero\nCONTEXT:  fast_copy t, file "stdin", line 37999: "39000,$days[0],"two\nlines 39000""/, $set);
		}
	};
}

# ---- many files --------------------------------------------------------------------

subtest 'fast_copy_files loads each file by on_conflict' => sub {
	prepare('some');
	my @files = map { my $i = $_; write_bytes("night_$i.csv", join('', map { sprintf "%d,%s,night %d\n", $_, $days[ $_ % 4 ], $i } 10 * $i .. 10 * $i + 19)) } 1 .. 5;
	my $call = sprintf "CALL fast_copy_files('t', ARRAY[%s], 'led', batch_files => 2, options => '{\"on_conflict\": \"update\"}')", join(', ', map { "'$_'" } @files);
	$node->safe_psql('postgres', "SELECT fast_copy_create_ledger_table('led')");
	$node->safe_psql('postgres', $call);
	is($node->safe_psql('postgres', "SELECT v, count(*) FROM t WHERE v ~ 'night' GROUP BY v ORDER BY v"), "night 1|10\nnight 2|10\nnight 3|10\nnight 4|10\nnight 5|20", 'the later ones are the better');
	is($node->safe_psql('postgres', "SELECT count(*) FROM led WHERE state = 'loaded'; $call; SELECT count(*) FROM t WHERE v ~ 'night'; $schemas"), "5\n60\n0", 'and once more nothing');
};

# ---- delete marks --------------------------------------------------------------------

# Rows 1, 2 and 8 of others are "old ...", which is less than "w..." and greater than "a..."
my $marked = write_bytes('marks.csv', join('', map { my ($n, $op, $v) = @$_; sprintf "%s,%d,%s,%s\n", $op, $n, $days[ $n % 4 ], $v } [ 1, 'D', 'w' ], [ 2, 'D', 'a' ], [ 5, 'I', 'x' ], [ 6, 'D', 'w' ]));

sub marks_sql
{
	my ($more) = @_;

	return "SELECT fast_copy('t', '$marked', workers => 2, columns => '{op,n,ts,v}', on_conflict => 'update', dedup_keys => '{ts,n}', delete_where => 'op = ''D'''" . ($more // '') . ")";
}

sub left
{
	return $node->safe_psql('postgres', "SELECT string_agg(n || v, ',' ORDER BY n) FROM t; $schemas");
}

foreach my $layout (sort keys %LAYOUTS)
{
	foreach my $case (
		# what another session does to the row that the mark is for; what is left then, in this order of the rows and in the file's
		[ 'makes the row newer', "UPDATE t SET v = 'x' WHERE n = 1", '1x,2old 2,5x,8old 8', '5x,8old 8' ],
		[ 'makes the row older', "UPDATE t SET v = 'b' WHERE n = 1", '2old 2,5x,8old 8', '5x,8old 8' ],
		# the command that deletes has not seen it as old: as if the load had come first
		[ 'makes another row older', "UPDATE t SET v = 'A' WHERE n = 2", '2A,5x,8old 8', '5x,8old 8' ],
		[ 'deletes the row', "DELETE FROM t WHERE n = 1", '2old 2,5x,8old 8', '5x,8old 8' ],
		[ 'inserts a row that a mark is for', "INSERT INTO t VALUES (6, '$days[2]', 'b')", '2old 2,5x,6b,8old 8', '5x,6b,8old 8' ])
	{
		my ($what, $sql, $newest, $any) = @$case;

		foreach my $order ('', ", dedup_order => '{v}'")
		{
			my $wanted = $order eq '' ? $any : $newest;

			subtest "$layout, marks$order: another session $what, and commits while the load waits" => sub {
				prepare($layout);
				$node->safe_psql('postgres', 'ALTER TABLE t ALTER v TYPE text COLLATE "C"');
				my $other = session('BEGIN', $sql);
				my $load = start_load($node, marks_sql($order) . ";\n");
				my ($out, $err);
				my $in_the_way = !($what =~ /inserts/ || $what =~ /another/ && $order ne '');
				($out, $err) = finish_load($load) if !$in_the_way;
				ok(!$in_the_way || waits(), 'the load waits, if the row is in its way');
				$other->query_safe('COMMIT');
				$other->quit;
				($out, $err) = finish_load($load) if $in_the_way;
				is($out, 1, 'the load is done') or diag($err);
				is(left(), "$wanted\n0", 'what is left');
			};
		}
	}

	subtest "$layout, marks: another session updates a row, REPEATABLE READ" => sub {
		prepare($layout);
		my $other = session('BEGIN', "UPDATE t SET v = 'x' WHERE n = 1");
		my $load = start_load($node, $verbose . "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t;\n" . marks_sql() . ";\nCOMMIT;\n");
		ok(waits(), 'the load waits');
		$other->query_safe('COMMIT');
		$other->quit;
		my ($out, $err) = finish_load($load);
		like($err, qr/ERROR:  40001: could not serialize access/, 'it cannot be serialized');
		is(left(), "1x,2old 2,8old 8\n0", 'nothing is done');
	};
}

subtest 'a logical slot is shown what marks delete' => sub {
	prepare('some');
	$node->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('s', 'test_decoding')");
	is($node->safe_psql('postgres', marks_sql()), 1, 'loaded');
	is($node->safe_psql('postgres', "SELECT regexp_replace(data, '^table public.t[^:]*: (\\w+): n.integer.:(\\d+).*', '\\1 \\2') FROM pg_logical_slot_get_changes('s', NULL, NULL) WHERE data ~ '^table' ORDER BY 1"), "DELETE 1\nDELETE 2\nINSERT 5", 'and no row of the stage');
	$node->safe_psql('postgres', "SELECT pg_drop_replication_slot('s')");
};

subtest 'a ledger counts no marks, and fast_copy_files passes them on' => sub {
	prepare('some');
	my @files = map { my $i = $_; write_bytes("changes_$i.csv", join('', map { sprintf "%s,%d,%s,night %d\n", $_ % 5 == $i ? 'D' : 'U', $_, $days[ $_ % 4 ], $i } 1 .. 20)) } 1 .. 3;
	my $call = sprintf "CALL fast_copy_files('t', ARRAY[%s], 'marks', batch_files => 1, options => '{\"on_conflict\": \"update\", \"columns\": [\"op\", \"n\", \"ts\", \"v\"], \"dedup_keys\": [\"ts\", \"n\"], \"delete_where\": \"op = ''D''\"}')", join(', ', map { "'$_'" } @files);
	$node->safe_psql('postgres', "SELECT fast_copy_create_ledger_table('marks')");
	$node->safe_psql('postgres', $call);
	is($node->safe_psql('postgres', "SELECT v, count(*) FROM t GROUP BY v; SELECT count(*) FROM t WHERE n % 5 = 3"), "night 3|16\n0", 'the last file says what there is');
	is($node->safe_psql('postgres', "SELECT sum(rows) FROM marks WHERE state = 'loaded'"), 48, 'rows');
	# all files in one load: which of them had a mark is not known
	prepare('some');
	$node->safe_psql('postgres', 'TRUNCATE marks; ' . $call =~ s/batch_files => 1, //r);
	is($node->safe_psql('postgres', "SELECT v, count(*) FROM t GROUP BY v; SELECT count(*), count(rows) FROM marks WHERE state = 'loaded'"), "night 3|16\n3|0", 'of several files in one load the ledger tells no rows');
};

$node->stop;
done_testing();
