# Empty partitions with indexes, which get the files of tables that were filled for
# them, beside other sessions: what these see, and what the load does if they are
# faster.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', { allows_streaming => 1 }, 'wal_consistency_checking = all');
my $long = join('', map { ('a' .. 'z')[ $_ * 7919 % 26 ] . $_ } 1 .. 2500);
# over five days, the first of them short, each with one long value
my $file = write_bytes('rows.csv', join('', map { sprintf "%d,2013-01-%02d %02d:%02d:00,%s\n", $_, $_ % 5 + 1, $_ % 24, $_ % 60, $_ <= 10 && $_ > 5 ? $long : "row $_" } 6 .. 3005));
my $paged = "SET fast_copy.writer = 'page'; ";
my $call = "SELECT fast_copy('t', '$file', workers => 2)";
my $how = "SELECT string_agg(choice, '; ' ORDER BY choice) FROM fast_copy_report() WHERE phase = 'replace'";
my $files = "SELECT string_agg(relfilenode::text, ' ' ORDER BY relname) FROM pg_class WHERE relname ~ '^t_p[0-9]'";
my $day = "ts >= '2013-01-03' AND ts < '2013-01-04'";

$node->safe_psql('postgres', 'CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility; CREATE EXTENSION pageinspect');
gates($node);

# The table with five empty days, and indexes
sub prepare
{
	my ($index) = @_;

	open_gate();
	events($node, 't', ', CHECK (gate(n))');
	$node->safe_psql('postgres', join('; ', $index // 'ALTER TABLE t ADD PRIMARY KEY (n, ts)', 'CREATE INDEX ON t (v text_pattern_ops) WHERE n > 100', map { sprintf "CREATE TABLE t_p%d PARTITION OF t FOR VALUES FROM ('2013-01-%02d') TO ('2013-01-%02d')", $_, $_, $_ + 1 } 1 .. 5));
}

sub paused
{
	close_gate();
	my $paused = start_load($node, "\\set VERBOSITY verbose\n$paged\n" . ($_[0] // '') . "$call;\n$how;\n");
	ok(at_gate($node), 'the load is at the gate');
	return $paused;
}

# The load goes on, says this, and the table has these rows: all, and of the third day
sub ends
{
	my ($paused, $wanted, $rows) = @_;

	open_gate();
	my ($out, $err) = finish_load($paused);
	is($out, $wanted, 'the load is done') if $wanted !~ /^\d{5}:/;
	like($err, qr/$wanted/, 'the load fails') if $wanted =~ /^\d{5}:/;
	has($rows);
}

sub has
{
	my ($rows) = @_;

	is($node->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE $day) FROM t"), $rows, 'rows: all, of the day');
	is($node->safe_psql('postgres', "SET enable_seqscan = off; SELECT count(*) FROM t WHERE n > 0"), $rows =~ s/\|.*//r, 'by the index');
	is_sound($node, 'afterwards');
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'fast_copy %'"), 0, 'nothing is left');
}

subtest 'files are exchanged' => sub {
	prepare();
	my $old = $node->background_psql('postgres');
	$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
	is($old->query_safe('SELECT count(*) FROM pg_class WHERE false'), 0, 'a snapshot');
	my $before = $node->safe_psql('postgres', $files);
	is($node->safe_psql('postgres', "$paged$call; $how"), "3000\n5 tables exchanged", 'of five days');
	is(scalar(grep { my $f = $_; grep { $_ eq $f } split / /, $before } split / /, $node->safe_psql('postgres', $files)), 0, 'no old file is left');
	has('3000|600');
	is($old->query_safe('SELECT count(*) FROM t'), 0, 'an older snapshot has no row of it');
	$old->quit;
	is($node->safe_psql('postgres', "SELECT count(*) FILTER (WHERE frozen), count(*) FILTER (WHERE visible) FROM (SELECT pg_visibility.all_frozen AS frozen, pg_visibility.all_visible AS visible FROM pg_visibility('t_p3')) AS s"), '0|0', 'no page is marked as if it were');
	is($node->safe_psql('postgres', "SELECT count(DISTINCT xmin::text), bool_and(xmin::text::bigint > 2) FROM t"), '1|t', 'all rows are of one transaction');
	is($node->safe_psql('postgres', "SELECT count(*) FROM t WHERE v = '$long'"), 5, 'long values');
	is($node->safe_psql('postgres', "$paged$call =>" =~ s/workers => 2\) =>/workers => 2, where_clause => 'n < 0')/r . "; $how"), "0\n", 'what has rows is not exchanged');
};

subtest 'and survive a crash' => sub {
	prepare();
	$node->safe_psql('postgres', 'CHECKPOINT');
	$node->safe_psql('postgres', $paged . $call);
	$node->stop('immediate');
	$node->start;
	has('3000|600');
};

subtest 'whatever makes that visible to others keeps the load from it' => sub {
	foreach my $case (
		[ 'a transaction block', "BEGIN; $paged$call; $how; COMMIT" ],
		[ 'COPY', "SET fast_copy.accelerate_copy = on; SET fast_copy.accelerate_min_size = 0; ${paged}COPY t FROM '$file' (FORMAT csv); SELECT fast_copy('t', '$file', where_clause => 'n < 0'); $how" ],
		[ 'rows that are inserted as COPY does', "SET fast_copy.writer = 'multi_insert'; $call; $how" ],
		[ 'few rows', "$call; $how" ],
		[ 'a role that does not own them', "CREATE ROLE loader; GRANT INSERT ON t TO loader; GRANT pg_read_server_files TO loader; GRANT EXECUTE ON FUNCTION pg_stat_file(text, boolean) TO loader; SET ROLE loader; $paged$call; $how; RESET ROLE; DROP OWNED BY loader; DROP ROLE loader" ],
		[ 'a serializable transaction', "SET default_transaction_isolation = serializable; $paged$call; $how" ])
	{
		my ($what, $sql) = @$case;

		prepare();
		my $before = $node->safe_psql('postgres', $files);
		like($node->safe_psql('postgres', $sql), qr/\A\d+\n\z|\A\d+\z/, "$what: the usual way");
		is($node->safe_psql('postgres', $files), $before, "$what: the same files");
		has('3000|600');
	}
};

subtest 'many rows need no setting' => sub {
	prepare();
	my $many = write_bytes('many.csv', join('', map { sprintf "%d,2013-01-%02d %02d:%02d:00,row %d\n", $_, $_ % 100 ? 3 : 2, $_ % 24, $_ % 60, $_ } 8 .. 12000));
	is($node->safe_psql('postgres', "SELECT fast_copy('t', '$many'); $how"), "11993\n1 table exchanged", 'the day that has them');
	has('11993|11873');
};

subtest 'a plain table' => sub {
	$node->safe_psql('postgres', 'DROP TABLE t; CREATE TABLE t (n int PRIMARY KEY, ts timestamp, v text)');
	is($node->safe_psql('postgres', "$paged$call; $how"), "3000\n1 table exchanged", 'is exchanged, too');
	has('3000|600');
	my $twice = write_bytes('twice.csv', join('', map { sprintf "%d,2013-01-03,twice\n", $_ % 2000 } 1 .. 3000));
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nTRUNCATE t; $paged SELECT fast_copy('t', '$twice', workers => 2)");
	like($err, qr/23505: duplicate key value violates unique constraint "t_pkey"\nDETAIL:  Key \(n\)=\(1\) already exists\.\nCONTEXT:  fast_copy t, file "\Q$twice\E", line 2001\b/, 'an error names its line');
};

# What another session does while the load is at the gate
my @moved = ("3000\n1 in use: rows inserted one by one; 4 tables exchanged", '3001|601');
foreach my $case (
	[ 'inserts a row', "INSERT INTO t VALUES (8000, '2013-01-03', 'mine')", @moved ],
	[ 'inserts a row for each day', "INSERT INTO t SELECT 8000, '2013-01-01'::timestamp + i * interval '1 day' FROM generate_series(0, 4) i", "3000\n5 in use: rows inserted one by one", '3005|601' ],
	[ 'inserts and rolls back', "BEGIN; INSERT INTO t VALUES (8000, '2013-01-03', 'mine'); ROLLBACK", $moved[0], '3000|600' ],
	[ 'inserts an equal row', "INSERT INTO t SELECT 3002, '2013-01-03 02:02:00'", '23505: duplicate key value violates unique constraint "t_p3_pkey"\nDETAIL:  Key \(n, ts\)=\(3002, 2013-01-03 02:02:00\) already exists\.\nCONTEXT:  fast_copy t, rows of a partition that other sessions have used meanwhile', '1|1' ],
	[ 'writes elsewhere', "CREATE TABLE other AS SELECT 1; DROP TABLE other", "3000\n5 tables exchanged", '3000|600' ])
{
	my ($what, $sql, $wanted, $rows) = @$case;

	subtest "another session $what" => sub {
		prepare();
		my $load = paused();
		$node->safe_psql('postgres', "SET lock_timeout = '5s'; $sql");
		ends($load, $wanted, $rows);
	};
}

subtest 'another session reads a day for long' => sub {
	prepare();
	my $reader = $node->background_psql('postgres');
	$reader->query_safe('BEGIN');
	is($reader->query_safe("SELECT count(*) FROM t WHERE $day"), 0, 'it has read');
	my $load = paused("SET lock_timeout = '1ms';\n");
	ends($load, "3000\n1 in use: rows inserted one by one; 4 tables exchanged", '3000|600');
	is($reader->query_safe("SELECT count(*) FROM t WHERE $day"), 600, 'it reads the new rows');
	$reader->quit;
};

# What it is at, beside the last locks
sub exchanging { ok(wait_until($node, "SELECT count(*) > 0 FROM fast_copy_progress WHERE phase = 'replace'"), 'the load is at its end') }

subtest 'another session inserts a row while the load waits for it' => sub {
	prepare();
	my $reader = $node->background_psql('postgres');
	$reader->query_safe('BEGIN');
	is($reader->query_safe("SELECT count(*) FROM t WHERE $day"), 0, 'it has read');
	my $load = paused();
	open_gate();
	exchanging();
	$reader->query_safe("INSERT INTO t VALUES (8000, '2013-01-03', 'mine'); COMMIT");
	$reader->quit;
	ends($load, @moved);
};

# The load stands in no queue: a session that has read one day and then wants another
# is not in a deadlock with it, and waits for a second at most
subtest 'another session reads one day after the other' => sub {
	prepare();
	my $reader = $node->background_psql('postgres');
	$reader->query_safe("BEGIN; SET LOCAL lock_timeout = '20s'");
	is($reader->query_safe('SELECT count(*) FROM t_p5'), 0, 'the last');
	my $load = paused();
	open_gate();
	exchanging();
	like($reader->query_safe('SELECT count(*) FROM t_p1'), qr/^(0|600)$/, 'the first');
	my ($out, $err) = finish_load($load);
	like($out, qr/^3000\n[12] in use: /, 'the load is done');
	has('3000|600');
	$reader->query_safe('COMMIT');
	$reader->quit;
};

subtest 'two loads, each of which has a row for the day of the other' => sub {
	prepare('ALTER TABLE t ALTER v SET NOT NULL, ADD UNIQUE (ts, n)');
	my @files = map { my $own = $_; write_bytes("own$own.csv", join('', map { "$_,2013-01-0$own 01:00,x\n" } 1000 * $own .. 1000 * $own + 900) . join('', map { "7,2013-01-0" . (5 - $own) . ",\n" } 1 .. 30)) } 2, 3;
	my @loads;
	close_gate();
	push @loads, start_load($node, "$paged SELECT fast_copy('t', '$_', workers => 1, on_error => 'ignore', on_error_classes => '{not_null,check}');\n") foreach @files;
	open_gate();
	foreach (@loads)
	{
		my ($out, $err) = finish_load($_);
		is($out, 901, 'is done');
		unlike($err, qr/deadlock/, 'without a deadlock');
	}
	has('1802|901');
};

subtest 'a lock that would outlast the load is not taken' => sub {
	foreach my $sql ("DO \$\$ BEGIN PERFORM fast_copy('t', '$file'); END \$\$", "SELECT count(*) FROM (SELECT outer_load()) AS s")
	{
		prepare();
		my $before = $node->safe_psql('postgres', $files);
		$node->safe_psql('postgres', "CREATE OR REPLACE FUNCTION outer_load() RETURNS bigint LANGUAGE plpgsql AS \$\$ BEGIN RETURN fast_copy('t', '$file'); END \$\$; $paged$sql");
		is($node->safe_psql('postgres', $files), $before, 'in code that may go on: the same files');
		has('3000|600');
	}
	prepare();
	is($node->safe_psql('postgres', "LOAD 'fast_copy'; ${paged}COPY t FROM '$file' WITH (fast_copy, FORMAT csv); $how"), '5 tables exchanged', 'by COPY with the option');
	has('3000|600');
	prepare();
	$node->safe_psql('postgres', "SELECT fast_copy_create_ledger_table('loads')");
	is($node->safe_psql('postgres', "${paged}CALL fast_copy_files('t', '$file', 'loads'); $how"), '5 tables exchanged', 'by a procedure that commits');
	has('3000|600');
};

subtest 'drivers send calls in several messages' => sub {
	foreach my $protocol (qw(extended prepared))
	{
		prepare();
		my $before = $node->safe_psql('postgres', $files);
		my $script = write_bytes('call.sql', "$call;\n");
		local $ENV{PGOPTIONS} = '-c fast_copy.writer=page';
		$node->command_ok([ 'pgbench', '-n', '-M', $protocol, '-t', 1, '-f', $script, $node->connstr('postgres') ], "by the $protocol protocol");
		isnt($node->safe_psql('postgres', $files), $before, 'other files');
		has('3000|600');
	}
};

# An index is built as its owner, and a row is inserted as whoever inserts it
subtest 'functions of indexes are called as by an INSERT' => sub {
	prepare('CREATE INDEX ON t (as_index(n))');
	my $before = $node->safe_psql('postgres', $files);
	is($node->safe_psql('postgres', "$paged$call; $how"), "3000\n", 'the usual way');
	is($node->safe_psql('postgres', $files), $before, 'the same files');
	has('3000|600');
};

subtest 'another session is changing a day' => sub {
	prepare();
	my $other = $node->background_psql('postgres');
	$other->query_safe('BEGIN; LOCK TABLE t_p3 IN SHARE UPDATE EXCLUSIVE MODE');
	my $load = paused();
	ends($load, "3000\n4 tables exchanged", '3000|600');
	$other->query_safe('COMMIT');
	$other->quit;
};

subtest 'two loads of the same days' => sub {
	prepare('CREATE INDEX ON t (n)');
	my $first = paused();
	my $second = start_load($node, "$paged\n$call;\n$how;\n");
	ok(wait_until($node, "SELECT count(DISTINCT l.pid) = 2 FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE relation = 't_p3'::regclass AND backend_type = 'client backend' AND granted"), 'both are at work');
	open_gate();
	like((finish_load($second))[0], qr/\A3000\b/, 'the second is done');
	like((finish_load($first))[0], qr/\A3000\n.*5/, 'the first is done');
	has('6000|1200');
};

subtest 'code that the load runs inserts a row' => sub {
	prepare();
	$node->safe_psql('postgres', q{CREATE FUNCTION adds(v text) RETURNS text LANGUAGE plpgsql AS $$
		BEGIN
			IF v = 'row 100' THEN
				INSERT INTO public.t VALUES (9000, '2013-01-04 04:00', 'added');
			END IF;
			RETURN v;
		END $$});
	is($node->safe_psql('postgres', "$paged$call; $how" =~ s/workers => 2/options => '{"transform": "v = adds(v)"}'/r), "3000\n", 'into one of the days, which goes the usual way');
	has('3001|600');
};

$node->stop;
done_testing();
