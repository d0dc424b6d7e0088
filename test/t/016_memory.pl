# The share of fast_copy.memory that a process has, from little to much: rows are
# read back many at a time, and no process takes more than its share.  And what a
# stranger's file says does not multiply what it takes to read it.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $nrows = 400000;
my $nhours = 1200;
my $row_bytes = 48;
my $node = new_node('main', {}, 'max_worker_processes = 80', 'max_parallel_workers = 64', 'max_connections = 20',
	'max_locks_per_transaction = 1024', "log_min_messages = log");

$node->safe_psql('postgres', "CREATE TABLE source AS
	SELECT timestamp '2024-05-01' + (g::bigint * 104729 % ($nhours * 3600)) * interval '1 s' AS k, g AS n, g * 7 AS m FROM generate_series(1, $nrows) AS g;
	COPY source TO '" . FastCopy::directory() . "/rows.csv' (FORMAT csv)");

# A process tells what it takes whenever it loads such a row
$node->safe_psql('postgres', q{CREATE FUNCTION tell(n int) RETURNS boolean IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS $$
	BEGIN
		IF n % 500 = 0 THEN
			RAISE LOG 'anonymous memory: %', substring(pg_read_file('/proc/self/status') FROM 'RssAnon:\s+(\d+)');
		END IF;
		RETURN true;
	END $$});

# Loads by so many workers, in so many MB, by default if they are 0; returns how
# many rows were read at a time, and the most kB that one process has told of
sub load
{
	my ($workers, $mb, $tells, $spill, $interval) = @_;
	my $at = -s $node->logfile;
	my $rows = $node->safe_psql('postgres', "SET fast_copy.memory = " . ($mb ? "'${mb}MB'" : 'DEFAULT') . "; SET fast_copy.spill = '" . ($spill // 'rows') . "'; SET client_min_messages = error;
		SET fast_copy.chunk_size = '64kB';
		DROP TABLE IF EXISTS part; CREATE TABLE part (LIKE source" . ($tells ? ', CHECK (tell(n))' : '') . ") PARTITION BY RANGE (k);
		SELECT fast_copy('part', '" . FastCopy::directory() . "/rows.csv', partition_interval => '" . ($interval // '1 hour') . "', workers => $workers);
		SELECT CASE WHEN EXISTS (TABLE part EXCEPT ALL TABLE source) THEN 'other rows' END;
		SELECT rows / reads FROM fast_copy_report() WHERE phase = 'load' AND partition IS NULL");
	my ($loaded, $other, $a_read) = split /\n/, $rows;

	is("$loaded$other", $nrows, "$workers workers, $mb MB: rows");
	return $a_read, sort { $a <=> $b } slurp_file($node->logfile, $at) =~ /anonymous memory: (\d+)/g;
}

# Each process has rows of each hour.  A block of them is at least a quarter of the
# hour's part of the share, or has half of those that the process would find.
foreach my $case ([ 1, 1 ], [ 1, 8 ], [ 8, 64 ], [ 64, 256 ])
{
	my ($workers, $mb) = @$case;
	my $found = $nrows / $nhours / $workers / 2;
	my $share = $mb * 1024 * 1024 / $workers / $nhours / 4 / $row_bytes;
	my ($a_read) = load($workers, $mb);

	cmp_ok($a_read, '>=', int($found < $share ? $found : $share), "$workers workers, $mb MB: rows in a read");
}

# the default grows with workers; a process has some megabytes before it loads.
# Of offsets of a file in random order a cell is as large as the share lets it be.
foreach my $case ([ 1, 8, 8 ], [ 64, 0, 16 ], [ 1, 8, 8, 'offsets', '1 year' ], [ 2, 64, 32, 'offsets', '1 year' ])
{
	my ($workers, $mb, $share, @how) = @$case;
	my ($a_read, @kb) = load($workers, $mb, 1, @how);

	cmp_ok(scalar @kb, '>=', $nrows / 1000, '... it tells of its memory');
	cmp_ok($kb[-1], '<', ($share + 8) * 1024, "$workers workers, $mb MB: memory of a process");
}

# Runs a statement in a session of its own; returns what it says, and how many MB
# its backend had at most
sub peak
{
	my ($statement) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$statement;\nSELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\\s+(\\d+)')",
		on_error_stop => 0);

	return $err, ($out =~ /(\d+)\z/)[0] / 1024;
}

# Files of one long line each, in MB, and a row
my $megabytes = 40;
my $many = $megabytes * 1024 * 1024;
my %files = (commas => write_bytes('commas.csv', ',' x $many . "\n1,1,1\n"), word => write_bytes('word.csv', 'x' x $many . "\n1,1,1\n"),
	wide => write_bytes('wide.csv', 'A,' x 65535 . "n\n" . '1,' x 65535 . "7\n"), wider => write_bytes('wider.csv', 'A,' x 65536 . "n\n"));

$node->safe_psql('postgres', 'CREATE TABLE wide (n int, b int, c int); CREATE TABLE ranged (n int, k timestamp) PARTITION BY RANGE (k)');
my $before = (peak('SELECT'))[1];
my $long = qr/54000: header is too long for header "map"\nDETAIL:  .*at most 65536 fields, and 16777216 bytes/;
my $extra = qr/22P04: extra data after last expected column/;
my $wrong = qr/22P04: wrong number of fields in header line: got @{[ $many + 1 ]}, expected 3$/m;
my $transform = q(options => '{"transform": {"b": "1"}}');

# What COPY takes for its own errors, which it finds by pointers to all fields
my ($said, $copy) = peak("COPY wide FROM '$files{commas}' (FORMAT csv)");
like($said, $extra, 'COPY finds too many fields');
like((peak("COPY wide FROM '$files{commas}' (FORMAT csv, HEADER match)"))[0], $wrong, '... in a header, too');
foreach my $case (
	[ 'commas', "header => 'map'", $long ], [ 'commas', "header => 'map', ignore_extra_columns => true", $long ], [ 'word', "header => 'map'", $long ],
	[ 'wider', "header => 'map', ignore_extra_columns => true", $long ], [ 'wider', "header => 'map', encoding => 'LATIN1'", $long ],
	[ 'wide', "header => 'map'", qr/42703: column "A" of the file/ ], [ 'commas', "header => 'map', $transform", $long ],
	[ 'commas', "header => 'match', $transform", $wrong ], [ 'commas', "header => 'match'", $wrong, $copy ],
	[ 'commas', '', $extra, $copy ], [ 'commas', 'workers => 1', $extra, $copy, 'ranged' ],
	[ 'commas', "header => true, on_error => 'ignore', workers => 0", qr/NOTICE:  00000: fast_copy: 1 row/ ],
	[ 'commas', "on_error => 'ignore', options => '{\"on_error_classes\": [\"extra_columns\"]}'", qr/1 rejected/, $copy ])
{
	my ($file, $options, $error, $most, $table) = @$case;
	my ($said, $mb) = peak("SELECT fast_copy('" . ($table // 'wide') . "', '$files{$file}'" . ($options ? ", $options" : '') . ')');

	like($said, $error, "$file, $options: what is said");
	cmp_ok($mb, '<', ($most // $before) + 2.5 * $megabytes, '... with little more memory than for the line, or than COPY takes');
}
is($node->safe_psql('postgres', "TRUNCATE wide; SELECT fast_copy('wide', '$files{wide}', header => 'map', ignore_extra_columns => true); SELECT n FROM wide"), "1\n7", 'a header as long as may be');
foreach my $file (sort keys %files)
{
	cmp_ok((peak("SELECT fast_copy_sniff('$files{$file}')"))[1], '<', $before + $megabytes, "$file: a look at it takes little");
}
done_testing();
