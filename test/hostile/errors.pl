# Code of others that raises what it likes while a record is evaluated: the
# error is COPY's, about the first bad line of the file, whatever its SQLSTATE
# says, at any number of workers.  What ends the transaction itself, such as a
# cancel, ends the load at once, and still tells the line.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use Test::More;

# Of each class that the server raises by itself some, and of others one
my @STATES = qw(
  08000 08006 0A000 22012 23505 23514 25000 25P02 40001 40002 40P01 42P01 53000
  53100 53200 54001 55000 55006 55P02 55P03 55P04 57000 57014 57P01 57P05 58000
  58030 58P01 F0000 P0001 P0004 XX000 XX001 XX002);
my @WORKERS = (0, 1, 2, 4);
my %THOROUGH = map { $_ => 1 } qw(22012 55000 57014);    # with all of these
my $ROWS = 150;
my $RAISES = 101;    # lines of the files
my $BAD = 31;
my $halved = 0;

my $node = new_node('main', {}, 'dynamic_shared_memory_type = mmap', 'deadlock_timeout = 10ms');
my $dir = $node->data_dir . '/pg_dynshmem';

$node->safe_psql('postgres', q{
	CREATE FUNCTION fail(n int, state text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
	BEGIN
		IF state <> '' THEN
			RAISE EXCEPTION USING ERRCODE = state, MESSAGE = 'raised ' || state, DETAIL = 'A row says so.',
				HINT = 'Say something else.';
		END IF;
		RETURN true;
	END $$;
	CREATE FUNCTION fail_always() RETURNS int LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
	BEGIN
		RAISE EXCEPTION USING ERRCODE = current_setting('my.state'), MESSAGE = 'raised';
	END $$;
	CREATE FUNCTION fail_index(n int, state text) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
	BEGIN
		PERFORM public.fail(n, state);
		RETURN n;
	END $$;
	-- all that is told of an error, but for the name of what reads the file
	CREATE FUNCTION outcome(command text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		state text;
		message text;
		detail text;
		hint text;
		name text;
		context text;
	BEGIN
		EXECUTE command;
		RETURN 'no error';
	EXCEPTION WHEN OTHERS OR query_canceled OR assert_failure THEN
		GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
			hint = PG_EXCEPTION_HINT, name = CONSTRAINT_NAME, context = PG_EXCEPTION_CONTEXT;
		context := regexp_replace(context, E'\n(parallel worker|SQL statement "(COPY|SELECT fast)|PL/pgSQL function outcome).*', '');
		context := regexp_replace(context, E'\n?(COPY|fast_copy) ([^,"]*)(, file "[^"]*")?, ', E'\nat ');
		RETURN concat_ws('|', state, message, detail, hint, name, context);
	END $$;
	CREATE TABLE t (ts timestamp, n int, state text, CHECK (fail(n, state)));
});

# Rows "ts,n,state".  In the order of ts, the row that raises comes first and the
# bad one last; without a key whoever gets there first.
sub write_file
{
	my ($name, $state, $bad) = @_;

	return write_bytes("$name.csv", join('', map {
		sprintf "2013-01-%02d,%s,%s\n", $_ == $RAISES ? 1 : $_ == $BAD ? 9 : 2 + $_ % 5,
		  $bad && $_ == $BAD ? 'bad' : $_, $_ == $RAISES ? $state : ''
	} 1 .. $ROWS));
}

# Outcomes of commands in one session; each of several lists begins with a setup
# of its own, which is undone behind it.
sub outcomes
{
	my ($setup, @lists) = @_;
	my $quote = sub { my $s = shift; $s =~ s/'/''/g; return $s };
	my $sql = "SET fast_copy.chunk_size = 16; SET client_min_messages = error;\n$setup\n";

	foreach (@lists)
	{
		my ($begin, @commands) = ref $_ ? @$_ : ('', $_);
		my $end = $begin =~ /^BEGIN/ ? 'ROLLBACK;' : '';

		$sql .= join('', "$begin\n", map({ "SELECT outcome('" . $quote->($_) . "');\nSELECT chr(1);\n" } @commands), "$end\n");
	}
	# whatever it is that is in use
	return map { s/^\n|\n$//gr =~ s/cannot DROP (?:TABLE|INDEX) "\S+"/cannot DROP it/r } split /\x01/, $node->safe_psql('postgres', $sql);
}

# COPY and loads with these numbers of workers are to end in the same way, at
# this line: what is asked is answered in one session by same_errors.
my @asked;

sub same_error
{
	my ($what, $line, $copy, $load, $setup, @workers) = @_;

	push @asked, [ $what, $line, $setup // '', [ @workers ], $copy, map { $load =~ s/WORKERS/$_/r } @workers ];
}

# COPY has no row to show any more when an index gets its entries; we have.
sub same_errors
{
	my @answers = outcomes('', map { my (undef, undef, $setup, undef, @commands) = @$_; [ $setup, @commands ] } @asked);

	foreach (@asked)
	{
		my ($what, $line, undef, $workers) = @$_;
		my ($expected, @got) = splice(@answers, 0, 1 + @$workers);

		like($expected, qr/^at line $line\b/m, "$what: COPY's line");
		@got = map { s/^(at line \d+): .*/$1/mr } @got if $expected =~ /^at line \d+$/m;
		is($got[$_], $expected, "$what, $workers->[$_] workers") foreach 0 .. $#$workers;
	}
	@asked = ();
}

# 1. Every SQLSTATE, raised by a CHECK
subtest 'whatever a CHECK raises is reported as by COPY' => sub {
	foreach my $state (@STATES)
	{
		my @workers = $THOROUGH{$state} ? @WORKERS : (2);
		my $raised = write_file("raised$state", $state, 0);
		my $both = write_file("both$state", $state, 1);

		same_error($state, $RAISES, "COPY t FROM '$raised' (FORMAT csv)",
			"SELECT fast_copy('t', '$raised', workers => WORKERS)", '', @workers);
		same_error("$state after an earlier bad line", $BAD, "COPY t FROM '$both' (FORMAT csv)",
			"SELECT fast_copy('t', '$both', timestamp_column => 'ts', workers => WORKERS)", '', @workers);
	}
	same_errors();
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), 0, 'no row of all these');
};

# 2. Everything else that evaluates a record, and may say of the server what it
# likes
my %places = (
	'generated column' => 'CREATE TABLE NAME (ts timestamp, n int, state text, g boolean GENERATED ALWAYS AS (fail(n, state)) STORED)',
	'domain' => "CREATE DOMAIN d AS text CHECK (fail(0, VALUE)); CREATE TABLE NAME (ts timestamp, n int, state d)",
	'index' => 'CREATE TABLE NAME (ts timestamp, n int, state text); CREATE INDEX ON NAME (fail_index(n, state))',
	'predicate' => 'CREATE TABLE NAME (ts timestamp, n int, state text); CREATE INDEX ON NAME (n) WHERE fail(n, state)',
	'partition key' => 'CREATE TABLE NAME (ts timestamp, n int, state text) PARTITION BY LIST (fail(n, state));'
	  . 'CREATE TABLE NAME1 PARTITION OF NAME FOR VALUES IN (true)',
	'condition' => 'CREATE TABLE NAME (ts timestamp, n int, state text)',
	'default' => 'CREATE TABLE NAME (ts timestamp, n int, state text, x int DEFAULT fail_always())');
my @some = qw(55000 57014 53100 XX001);
subtest 'what anything else raises that evaluates a record is reported as by COPY' => sub {
	foreach my $place (sort keys %places)
	{
		my $p = 'p_' . $place =~ s/ .*//r;

		$node->safe_psql('postgres', $places{$place} =~ s/NAME/$p/gr);
		foreach my $state (@some[ 0, 1 ])
		{
			my $raised = write_file("raised$state", $state, 0);
			my $both = write_file("both$state", $state, 1);
			my ($where, $condition) = $place eq 'condition' ? ('WHERE fail(n, state)', "where_clause => 'fail(n, state)', ") : ('', '');
			my $setup = "SET my.state = '$state';";

			same_error("$state by a $place", $place eq 'default' ? 1 : $RAISES,
				"COPY $p (ts, n, state) FROM '$raised' (FORMAT csv) $where",
				"SELECT fast_copy('$p', '$raised', columns => '{ts,n,state}', ${condition}workers => WORKERS)", $setup, 0, 2);
			same_error("$state by a $place after an earlier bad line", $place eq 'default' ? 1 : $BAD,
				"COPY $p (ts, n, state) FROM '$both' (FORMAT csv) $where",
				"SELECT fast_copy('$p', '$both', columns => '{ts,n,state}', timestamp_column => 'ts', ${condition}workers => WORKERS)", $setup, 0, 2);
		}
		# the next place has the others
		@some = @some[ 2, 3, 0, 1 ];
	}
	same_errors();
};

# The index of a new partition is built when its rows are there
$node->safe_psql('postgres', q{
	CREATE TABLE made (ts timestamp, n int, state text) PARTITION BY RANGE (ts);
	CREATE TABLE days (LIKE made) PARTITION BY RANGE (ts);
	SELECT format('CREATE TABLE days_%s PARTITION OF days FOR VALUES FROM (%L) TO (%L)', d, date '2013-01-01' + d, date '2013-01-02' + d) FROM generate_series(0, 9) d \gexec
	CREATE INDEX ON made (fail_index(n, state));
	CREATE INDEX ON days (fail_index(n, state))});
subtest 'what the index of a new partition raises is reported as by COPY' => sub {
	foreach my $state (@some)
	{
		my $raised = write_file("raised$state", $state, 0);

		same_error("$state by the index of a new partition", $RAISES, "COPY days FROM '$raised' (FORMAT csv)",
			"SELECT fast_copy('made', '$raised', workers => WORKERS)", '', 0, 2);
	}
	same_errors();
};

# Core's own: a value of an enum that this transaction has added
$node->safe_psql('postgres', "CREATE TYPE e AS ENUM ('', 'old'); CREATE TABLE enums (ts timestamp, n int, state e)");
my $raised = write_file('new', 'new', 0);
my $both = write_file('both_new', 'new', 1);
my $begin = "BEGIN; ALTER TYPE e ADD VALUE 'new';";

same_error("a new value of an enum, $_", $RAISES, "COPY enums FROM '$raised' (FORMAT csv)",
	"SELECT fast_copy('enums', '$raised', ${_}workers => WORKERS)", $begin, 0, 2) foreach '', "on_error => 'ignore', ", "timestamp_column => 'ts', ";
same_error('a new value of an enum after an earlier bad line', $BAD, "COPY enums FROM '$both' (FORMAT csv)",
	"SELECT fast_copy('enums', '$both', timestamp_column => 'ts', workers => WORKERS)", $begin, 0, 2);

# The same where the scan parses whole records, and where core looks for keys
# before it loads
my $binary = FastCopy::directory() . '/new.bin';
$node->safe_psql('postgres', qq{
	CREATE TABLE labels (ts timestamp, n int, state text);
	COPY labels FROM '$raised' (FORMAT csv);
	COPY labels TO '$binary' (FORMAT binary);
	CREATE TABLE enums_made (LIKE enums) PARTITION BY RANGE (ts)});
foreach ([ $RAISES, $raised ], [ $BAD, $both ])
{
	my ($line, $file) = @$_;

	same_error("a new value of an enum in line $line, with a condition", $line, "COPY enums FROM '$file' (FORMAT csv) WHERE n > 0",
		"SELECT fast_copy('enums', '$file', timestamp_column => 'ts', where_clause => 'n > 0', workers => WORKERS)", $begin, 0, 2);
}
same_error('a new value of an enum in a binary file', $RAISES, "COPY enums FROM '$binary' (FORMAT binary)",
	"SELECT fast_copy('enums_made', '$binary', format => 'binary', workers => WORKERS)", $begin, 0);
subtest 'a value of an enum that this transaction has added is refused as by COPY' => \&same_errors;

# on_error tolerates none of what says that the server is at fault; values of
# domains are the leader's
subtest 'on_error tolerates nothing that says that the server is at fault' => sub {
	foreach my $state (qw(08006 25000 40001 53100 55000 57014 58030 XX001))
	{
		my $raised = write_file("raised$state", $state, 0);

		same_error("$state with on_error", $RAISES, "COPY p_domain FROM '$raised' (FORMAT csv)",
			"SELECT fast_copy('p_domain', '$raised', on_error => 'ignore', workers => WORKERS)", '', 2);
	}
	same_errors();
};

# A command that was half done when it failed is undone where the error of an
# earlier record is looked for, and where core is shown the record
$node->safe_psql('postgres', q{
	CREATE FUNCTION half(n int, state text) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		IF state <> '' THEN
			INSERT INTO halves VALUES (n);
			DROP FUNCTION also() CASCADE;
			EXECUTE format('DROP TABLE halved_%s', state);
		END IF;
		RETURN n IS NOT NULL;
	END $$;
	CREATE FUNCTION also() RETURNS boolean LANGUAGE sql AS 'SELECT true';
	CREATE DOMAIN half_domain AS text CHECK (half(1, VALUE));
	CREATE TABLE halves (n int)});
subtest 'a command that was half done is undone before the error is looked for' => sub {
	foreach my $place ("state text, CHECK (half(n, state))", "state text, g boolean GENERATED ALWAYS AS (half(n, state)) STORED", 'state half_domain')
	{
		my $table = 'halved_' . ++$halved;

		$node->safe_psql('postgres', qq{ALTER FUNCTION half IMMUTABLE;
			CREATE TABLE $table (ts timestamp, n int CHECK (also()), $place) PARTITION BY RANGE (ts);
			ALTER FUNCTION half VOLATILE;
			SELECT format('CREATE TABLE ${table}_%s PARTITION OF $table FOR VALUES FROM (%L) TO (%L)', d, date '2013-01-01' + d, date '2013-01-02' + d) FROM generate_series(0, 9) d \\gexec
		});
		foreach ([ $RAISES, write_file("half$halved", $halved, 0) ], [ $BAD, write_file("both_half$halved", $halved, 1) ])
		{
			my ($line, $file) = @$_;

			same_error("a half-done DROP in line $line, $place", $line, "COPY $table FROM '$file' (FORMAT csv)",
				"SELECT fast_copy('$table', '$file', workers => WORKERS)", '', 0, 2);
		}
	}
	same_errors();
	is($node->safe_psql('postgres', 'SELECT count(*), also() FROM halves'), '0|t', 'nothing of a half-done DROP is left');
};

# 3. What the server says of the transaction ends the load at once: the earlier
# bad line is not looked for, but the line is told
$node->safe_psql('postgres', q{
	CREATE FUNCTION end_it(n int, what text) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN
		CASE what
			WHEN 'cancel' THEN PERFORM pg_cancel_backend(pg_backend_pid()), pg_sleep(30);
			WHEN 'timeout' THEN PERFORM pg_sleep(30);
			WHEN 'lock' THEN PERFORM pg_advisory_lock(1);
			WHEN 'catch' THEN
				BEGIN
					PERFORM pg_cancel_backend(pg_backend_pid()), pg_sleep(30);
				EXCEPTION WHEN query_canceled THEN
					RAISE EXCEPTION USING ERRCODE = '57014', MESSAGE = 'my own';
				END;
			ELSE NULL;
		END CASE;
		RETURN true;
	END $$;
	CREATE TABLE ends (ts timestamp, n int, what text, CHECK (end_it(n, what)))});

my %ends = (
	cancel => [ '', '57014|canceling statement due to user request', 0, 2 ],
	timeout => [ "SET statement_timeout = '100ms';", '57014|canceling statement due to statement timeout', 0 ],
	lock => [ "SET lock_timeout = '10ms';", '55P03|canceling statement due to lock timeout', 0, 2 ]);
my $holder = $node->background_psql('postgres');
$holder->query_safe('SELECT pg_advisory_lock(1)');
subtest 'what ends the transaction ends the load at once, and tells the line' => sub {
	foreach my $what (sort keys %ends)
	{
		my ($setup, $error, @workers) = @{ $ends{$what} };
		my $both = write_file("both_$what", $what, 1);
		my @got = outcomes($setup, map { "SELECT fast_copy('ends', '$both', timestamp_column => 'ts', workers => $_)" } @workers);

		foreach my $i (0 .. $#workers)
		{
			my $text = $got[$i];

			like($text, qr/^\Q$error\E\|/, "$what, $workers[$i] workers: at once");
			like($text, qr/^PL\/pgSQL function end_it.*^at line $RAISES: "2013-01-01,$RAISES,$what"$/ms, "$what, $workers[$i] workers: line");
		}
	}
};

# What a function makes of a cancel is its own
my $caught = write_file('both_catch', 'catch', 1);
same_error('a cancel that is caught', $BAD, "COPY ends FROM '$caught' (FORMAT csv)",
	"SELECT fast_copy('ends', '$caught', timestamp_column => 'ts', workers => WORKERS)", '', 0);
subtest 'a cancel that a function catches is its own' => \&same_errors;

# A deadlock: the load waits for the holder, who waits for the load
$node->safe_psql('postgres', q{
	CREATE FUNCTION lock_both(n int, what text) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		IF what <> '' THEN
			PERFORM pg_advisory_xact_lock(2);
			WHILE NOT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 2 AND NOT granted) LOOP
				PERFORM pg_sleep(0.01);
			END LOOP;
			PERFORM pg_advisory_xact_lock(1);
		END IF;
		RETURN true;
	END $$;
	CREATE TABLE locks (ts timestamp, n int, what text, CHECK (lock_both(n, what)))});
my $locks = write_file('both_lock', 'lock', 1);
subtest 'a deadlock ends the load at once, and tells the line' => sub {
	my $load = start_load($node, "SET deadlock_timeout = '10ms'; SELECT fast_copy('locks', '$locks', timestamp_column => 'ts', workers => 0);\n");
	wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND objid = 2 AND granted");
	$holder->query_safe("SET deadlock_timeout = '1min'");
	$holder->query_safe('SELECT pg_advisory_lock(2)');
	my (undef, $deadlock) = finish_load($load);
	like($deadlock, qr/ERROR:  deadlock detected/, 'a deadlock ends the load at once');
	like($deadlock, qr/^fast_copy locks, file "[^"]*", line $RAISES: /m, '... and tells the line');
};
$holder->quit;

# 4. Texts of any length, whole
$node->safe_psql('postgres', q{
	CREATE FUNCTION says(n int) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN
		IF n = 101 THEN
			RAISE EXCEPTION USING MESSAGE = repeat(E'm\u00e9\u20ac', 400000), DETAIL = 'x' || repeat(E'\u00e9', 20000),
				HINT = repeat(E'\u20ac', 3000), CONSTRAINT = repeat('c', 1000);
		END IF;
		RETURN true;
	END $$;
	CREATE FUNCTION in_turn(n int, depth int) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS $$
	BEGIN
		RETURN CASE WHEN depth = 0 THEN says(n) ELSE in_turn(n, depth - 1) END;
	END $$;
	CREATE TABLE long (ts timestamp, n int, state text, CHECK (in_turn(n, 50)));
	SELECT 'CREATE TABLE wide (ts timestamp, n int NOT NULL, ' || string_agg('a_column_with_a_long_name_' || g || ' text', ', ') || ')' FROM generate_series(1, 98) g \gexec
	CREATE TABLE wide_made (LIKE wide INCLUDING ALL) PARTITION BY RANGE (ts);
	CREATE TABLE wide_1 (LIKE wide INCLUDING ALL)});
my $long = write_file('long', '', 0);
my $wide = write_bytes('wide.csv', join('', map { '2013-01-01,' . ($_ == 7 ? '' : $_) . (",\xc3\xa9" . 'x' x 47) x 98 . "\n" } 1 .. 20));

subtest 'texts of any length are reported whole' => sub {
	same_error('long texts', $RAISES, "COPY long FROM '$long' (FORMAT csv)", "SELECT fast_copy('long', '$long', workers => WORKERS)", '', @WORKERS);
	same_error('a row of 100 columns', 7, "COPY wide FROM '$wide' (FORMAT csv)", "SELECT fast_copy('wide', '$wide', workers => WORKERS)", '', @WORKERS);
	my ($shown) = outcomes('', "COPY wide FROM '$wide' (FORMAT csv)");
	cmp_ok(length($shown), '>', 5000, '... which take some place');
	same_errors();
	$node->safe_psql('postgres', "CREATE TABLE wide_made_1 PARTITION OF wide_made FOR VALUES FROM ('2013-01-01') TO ('2013-01-02')");
	same_error('a row of 100 columns in a partition', 7, "COPY wide_made FROM '$wide' (FORMAT csv)",
		"SELECT fast_copy('wide_made', '$wide', workers => WORKERS)", '', @WORKERS);
	same_errors();
};

# Nothing of them stays in shared memory; the server has some segments of its own
sub segments
{
	opendir(my $in, $dir) or die $dir;
	return scalar(my @names = readdir($in));
}

my $before = segments();
outcomes('', map { "SELECT fast_copy('long', '$long', workers => $_)" } (0, 2, 2) x 2);
cmp_ok(segments(), '<', $before + 4, 'no shared memory is left behind');

$node->stop;
done_testing();
