# Binary files that are cut after each of their bytes, and such of which one bit
# is another, against COPY: rows, errors and their lines and columns, in each way
# that a load can go.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use Test::More;

my $node = new_node('main', {}, "timezone = 'UTC'");
my $path = FastCopy::directory() . '/t.bin';

# Every load is COPY's of the same table, and its outcome all that there is to see
$node->safe_psql('postgres', q{
	CREATE TABLE t (ts timestamp(3), n int, v varchar(9), m numeric(6,2), b bool, i interval, a int[], l text);
	CREATE FUNCTION outcome(stmt text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		state text;
		message text;
		detail text;
		context text;
	BEGIN
		EXECUTE stmt;
		RETURN (SELECT concat(count(*), ' ', md5(string_agg(t::text, ',' ORDER BY ts, n, t::text))) FROM t);
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
		RETURN concat_ws('|', state, message, detail, substring(context FROM 'line \d+(?:, column \w+)?(?=\n)'));
	END $$;
	-- the bytes, written to the file
	CREATE FUNCTION put(bytes bytea, path text) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		lo oid := lo_from_bytea(0, bytes);
	BEGIN
		PERFORM lo_export(lo, path), lo_unlink(lo);
	END $$;
	-- what is different, where the bytes are loaded in any of these ways
	CREATE FUNCTION differs(bytes bytea, path text, ways text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
	DECLARE
		expected text;
		got text;
		way text;
	BEGIN
		PERFORM put(bytes, path);
		TRUNCATE t;
		SET LOCAL fast_copy.accelerate_copy = off;
		expected := outcome(format('COPY t FROM %L (FORMAT binary)', path));
		SET LOCAL fast_copy.accelerate_copy = on;
		FOREACH way IN ARRAY ways LOOP
			TRUNCATE t;
			got := outcome(replace(way, 'FILE', path));
			IF got <> expected THEN
				RETURN NEXT format('%s: %s instead of %s', way, got, expected);
			END IF;
		END LOOP;
	END $$;
});
my $setup = "LOAD 'fast_copy'; SET client_min_messages = warning; SET fast_copy.accelerate_min_size = 0; SET fast_copy.workers = 0;";
my @ALONE = ("SELECT fast_copy('t', 'FILE', format => 'binary')", "SELECT fast_copy('t', 'FILE', 'ts', format => 'binary')",
	"COPY t FROM 'FILE' (FORMAT binary)");
my @WORKERS = ("COPY t FROM PROGRAM 'cat FILE' (FORMAT binary)",
	map { s/'binary'/'binary', workers => 2/r } @ALONE[ 0, 1 ], "SELECT fast_copy('t', 'cat FILE', program => true, format => 'binary')");

$node->safe_psql('postgres', "INSERT INTO t SELECT timestamp '2013-01-05' - i * interval '7 h', nullif(i, 2), 'v' || i, i / 3.0, i > 2, make_interval(hours => i), ARRAY[i, NULL, 7], repeat('l', i) FROM generate_series(1, 4) i; COPY t TO '$path.whole' (FORMAT binary)");

# Bytes that are damaged, as an expression of the whole ones and of i; and the
# ways to load them
my %damages = (
	'cut' => 'substr(bytes, 1, i)',
	'one bit is another' => 'set_byte(bytes, i, get_byte(bytes, i) # (1 << (i * 5 % 8)))',
	'the lowest bit is another' => 'set_byte(bytes, i, get_byte(bytes, i) # 1)',
	'a byte is gone' => "substr(bytes, 1, i) || substr(bytes, i + 2)",
	'a byte is twice there' => 'substr(bytes, 1, i) || substr(bytes, i)');
foreach my $damage (sort keys %damages)
{
	subtest "$damage: the error is COPY's" => sub {
		my %steps = (1 => 11, 50 => 2, 1000 => 11);

		is(differences($damage, $_, $steps{$_}, @ALONE), '', "chunks of $_ bytes") foreach sort keys %steps;
		is(differences($damage, 64, 41, @WORKERS), '', 'with workers');
	};
}

sub differences
{
	my ($damage, $chunk, $step, @ways) = @_;
	my $ways = 'ARRAY[' . join(', ', map { "'" . s/'/''/gr . "'" } @ways) . ']';

	return $node->safe_psql('postgres', "$setup SET fast_copy.chunk_size = '${chunk}B';
		SELECT string_agg(i || ': ' || d, E'\\n') FROM (SELECT pg_read_binary_file('$path.whole') AS bytes) b, generate_series(1, length(bytes) - 1, $step) i, differs($damages{$damage}, '$path', $ways) d");
}

done_testing();
