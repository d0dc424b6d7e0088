# What a load must find: a manifest of its files, and limits of rejects as a part
# of all records, of all files or of each.  Both are drawn at random, and what
# comes of them is computed beside the server.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Digest::SHA qw(sha256_hex);
use FastCopy qw(:DEFAULT query failure);
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{FC_SEED} // 8;
srand($seed =~ /\D/ ? hex($seed) : $seed);
note("FC_SEED=$seed");

my $node = new_node('main', {}, "session_preload_libraries = 'fast_copy'");
my $dir = FastCopy::directory();

sub one { return $_[ rand @_ ] }

# CRC-32C, bit by bit
sub crc32c
{
	my $crc = 0xffffffff;

	foreach my $byte (unpack('C*', $_[0]))
	{
		$crc ^= $byte;
		$crc = $crc & 1 ? $crc >> 1 ^ 0x82f63b78 : $crc >> 1 foreach 1 .. 8;
	}
	return sprintf('%08x', $crc ^ 0xffffffff);
}

query(<<'SQL');
CREATE TABLE heap (n int, ts date);
CREATE TABLE parts (LIKE heap) PARTITION BY RANGE (ts);
CREATE TABLE fires (LIKE heap);
CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER same BEFORE INSERT ON fires FOR EACH ROW EXECUTE FUNCTION same();
SQL

# ---- limits of rejects ----------------------------------------------------------

subtest 'reject_limit as a number or a part, of all files or of each' => sub {
	foreach my $round (1 .. 60)
	{
		my (@files, @n, @bad);

		foreach my $i (0 .. int rand 4)
		{
			my @lines = map { my $bad = rand() < 0.05 * $i; $bad[$i] += $bad; ($bad ? 'x' : $_) . ',2024-01-0' . (1 + $_ % 9) . "\n" } 1 .. 1 + rand 300;

			$n[$i] = @lines;
			$bad[$i] //= 0;
			push @files, write_bytes("rejects.$i", join('', @lines));
		}
		my $each = rand() < 0.5;
		my $percent = rand() < 0.6;
		my $limit = $percent ? one(0.5, 1, 2.5, 5, 10, 100) : 1 + int rand 20;
		my ($n, $bad) = (0, 0);

		$n += $_ foreach @n;
		$bad += $_ foreach @bad;
		my $too_many = $each ? (grep { $percent ? $bad[$_] * 100 > $limit * $n[$_] : $bad[$_] > $limit } 0 .. $#n)[0] : ($percent ? $bad * 100 > $limit * $n : $bad > $limit) ? 0 : undef;
		my $said = "$limit" . ($percent ? '%' : '') . ($each ? ' per file' : '');
		my $table = one('heap', 'parts', 'fires');
		my $workers = one(0, 1, 3);
		my $sources = 'ARRAY[' . join(', ', map { "'$_'" } @files) . ']';
		my $call = "SELECT fast_copy('$table', $sources, on_error => 'ignore', reject_limit => '$said', workers => $workers)";
		my $what = "$table, $workers workers, '$said', @bad of @n";

		if (defined $too_many)
		{
			my $error = failure("SET client_min_messages = error; SET fast_copy.chunk_size = '200B'; $call");
			my $detail = $each ? "$bad[$too_many] of $n[$too_many] records of file \".*rejects\\.$too_many\" were rejected" : "$bad of $n records were rejected";

			like($error, !$percent ? qr/22P02: skipped more than REJECT_LIMIT \($limit\) rows.*@{[ $each ? "DETAIL:  In file \".*rejects\\.$too_many\"" : '' ]}/s :
				qr/22P02: skipped more than REJECT_LIMIT \(\Q$said\E\) of the rows\nDETAIL:  $detail\./, "$what: refused");
		}
		else
		{
			is(query("SET client_min_messages = error; SET fast_copy.chunk_size = '200B'; $call"), $n - $bad, "$what: loaded");
		}
		is(query("SELECT count(*) FROM $table"), defined $too_many ? 0 : $n - $bad, '... and no other row');
		query('TRUNCATE heap, parts, fires');
	}
};

subtest 'reject_limit in words' => sub {
	my $path = write_bytes('words', "x,2024-01-01\n1,2024-01-01\n");
	my $with = "on_error => 'ignore'";

	like(failure("SELECT fast_copy('heap', '$path', $with, reject_limit => '$_')"), qr/22023: reject_limit "\Q$_\E" not recognized\nHINT:  Use reject_limit => 100, '1%', '100 per file' or '1% per file'\./, $_)
	  foreach '', '%', 'inf', 'nan', '0x10', '10 %', '10% per row', '10 percent', '101%', '1 per file please';
	like(failure("SELECT fast_copy('heap', '$path', $with, reject_limit => '$_')"), qr/22023: REJECT_LIMIT \(\Q$_\E\) must be greater than zero/, $_) foreach '0', '-1', '0%', '0 per file';
	like(failure("SELECT fast_copy('heap', '$path', $with, reject_limit => '1.5')"), qr/22P02: invalid input syntax for type bigint: "1.5"/, 'half a record');
	like(failure("SELECT fast_copy('heap', '$path', reject_limit => '1%')"), qr/22023: COPY REJECT_LIMIT requires ON_ERROR to be set to IGNORE/, 'without on_error');
	is(query("SET client_min_messages = error; COPY heap FROM '$path' (fast_copy, FORMAT csv, on_error ignore, reject_limit $_)"), '', "COPY: $_") foreach 1, "'50%'", "'1 per file'";
	is(query("SET client_min_messages = error; SELECT fast_copy('heap', '$path', $with, reject_limit => $_)"), '1', $_) foreach 1, "'50% PER FILE'";
	is(query("SET client_min_messages = error; SELECT fast_copy('heap', '$path', $with, options => '{\"reject_limit\": $_}')"), '1', "JSON: $_") foreach 1, '"50%"';
	like(failure("COPY heap FROM '$path' (fast_copy, FORMAT csv, on_error ignore, reject_limit '49%')"), qr/22P02: skipped more than REJECT_LIMIT \(49%\) of the rows\nDETAIL:  1 of 2 records were rejected/, 'COPY: too many');
	query('TRUNCATE heap');
};

# ---- a manifest -----------------------------------------------------------------

sub entry
{
	my ($path, $bytes, @has) = @_;
	my %of = (bytes => length $bytes, sha256 => '"' . sha256_hex($bytes) . '"', crc32c => '"' . uc(crc32c($bytes)) . '"');

	return "{\"file\": \"$path\"" . join('', map { ", \"$_\": $of{$_}" } @has) . '}';
}

sub outcome
{
	my ($sources, $manifest, $more) = @_;
	my $call = "SELECT fast_copy('heap', ARRAY[" . join(', ', map { "'$_'" } @$sources) . "], manifest => '$manifest'" . ($more // '') . ')';
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET client_min_messages = error; $call");

	return $rc == 0 ? $out : join("\n", grep { !/^LOCATION/ } split(/\n/, $err =~ s/^psql:<stdin>:\d+: //r));
}

subtest 'each file must be as the manifest says' => sub {
	foreach my $round (1 .. 60)
	{
		my $faulty = rand() < 0.6;
		my (@files, @entries, $expected);
		my $rows = 0;

		foreach my $i (0 .. int rand 4)
		{
			my $n = int rand 50;
			my $bytes = join('', map { "$_,2024-01-01\n" } 1 .. $n);

			$rows += $n;
			$bytes = `printf '@{[ $bytes =~ s/\n/\\n/gr ]}' | gzip` if rand() < 0.3;
			push @files, write_bytes("listed.$i", $bytes);
			push @entries, entry(one($files[-1], "listed.$i"), $bytes, grep { rand() < 0.5 } qw(bytes sha256 crc32c));
		}
		my $i = int rand @entries;
		my $fault = $faulty ? int rand 6 : -1;

		if ($fault == 0) { splice(@entries, $i, 1); $expected = qr/22P04: file ".*listed\.$i" is not in the manifest/ }
		if ($fault == 1) { push @entries, '{"file": "other.csv"}'; $expected = qr/22P04: file "other.csv" of the manifest is not among those to be loaded/ }
		if ($fault == 2) { push @entries, "{\"file\": \"listed.$i\"}"; $expected = qr/22P04: the manifest has file ".*listed\.$i" more than once/ }
		if ($fault == 3) { $entries[$i] = "{\"file\": \"listed.$i\", \"bytes\": @{[ 1 + -s $files[$i] ]}}"; $expected = qr/22P04: file ".*listed\.$i" is not as the manifest says\nDETAIL:  Its size is @{[ -s $files[$i] ]}, and not/ }
		if ($fault == 4) { $entries[$i] = "{\"file\": \"listed.$i\", \"sha256\": \"" . sha256_hex('x') . '"}'; $expected = qr/22P04: file ".*listed\.$i" is not as the manifest says\nDETAIL:  Its SHA-256 is @{[ sha256_hex(slurp_file($files[$i])) ]}, and not/ }
		if ($fault == 5) { $entries[$i] = "{\"file\": \"listed.$i\", \"crc32c\": \"01234567\"}"; $expected = qr/22P04: file ".*listed\.$i" is not as the manifest says\nDETAIL:  Its CRC-32C is @{[ crc32c(slurp_file($files[$i])) ]}, and not 01234567/ }
		@entries = sort { rand() <=> 0.5 } @entries;
		my $outcome = outcome(\@files, '[' . join(', ', @entries) . ']', ', workers => ' . one(0, 2));

		$faulty ? like($outcome, $expected, "fault $fault") : is($outcome, $rows, 'all is well');
		is(query('SELECT count(*) FROM heap'), $faulty ? 0 : $rows, '... and no other row');
		query('TRUNCATE heap');
	}
};

subtest 'a table is one, too' => sub {
	my $path = write_bytes('listed', "1,2024-01-01\n");
	my $call = "SELECT fast_copy('heap', '$path', manifest => 'm')";

	query("CREATE SCHEMA s; CREATE TABLE s.\"My \"\"m\" (file text, bytes bigint, sha256 text, note int); INSERT INTO s.\"My \"\"m\" VALUES ('listed', 13, '" . sha256_hex("1,2024-01-01\n") . "')");
	is(query("SELECT fast_copy('heap', '$path', manifest => 's.\"My \"\"m\"')"), '1', 'a quoted name');
	is(query("SELECT fast_copy('heap', '$path', manifest => 's.\"My \"\"m\"'::regclass)"), '1', 'a regclass');
	is(query("COPY heap FROM '$path' (fast_copy, FORMAT csv, manifest 's.\"My \"\"m\"')"), '', 'in COPY');
	query('CREATE TABLE m (LIKE s."My ""m"); INSERT INTO m SELECT file, 12 FROM s."My ""m"');
	like(failure($call), qr/22P04: file ".*listed" is not as the manifest says\nDETAIL:  Its size is 13, and not 12/, 'another size');
	query('TRUNCATE m');
	like(failure($call), qr/22P04: file ".*listed" is not in the manifest/, 'an empty one');
	query('CREATE VIEW v AS SELECT file, bytes FROM s."My ""m"');
	is(query("SELECT fast_copy('heap', '$path', manifest => 'v')"), '1', 'a view');
	like(failure("SELECT fast_copy('heap', '$path', manifest => 'nothing')"), qr/42P01: relation "nothing" does not exist/, 'no table');
	like(failure("SELECT fast_copy('heap', '$path', manifest => 'heap')"), qr/22023: manifest "heap" has no column "file" of type text/, 'another table');
	query('CREATE TABLE odd (file text, bytes text)');
	like(failure("SELECT fast_copy('heap', '$path', manifest => 'odd')"), qr/22023: manifest "odd" has no column "bytes" of type bigint/, 'another type');

	# read as the caller, who finds no other objects of these names
	query("CREATE ROLE loader; GRANT pg_read_server_files TO loader; GRANT ALL ON heap TO loader; GRANT USAGE ON SCHEMA public TO loader");
	like(failure("SET ROLE loader; $call"), qr/42501: permission denied for table m/, 'a table that the caller may not read');
	query("CREATE SCHEMA trap; GRANT ALL ON SCHEMA trap TO public; CREATE FUNCTION trap.jsonb_agg(jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT ''[]''::jsonb'; GRANT SELECT ON s.\"My \"\"m\" TO loader; GRANT USAGE ON SCHEMA s TO loader");
	is(query("SET ROLE loader; SET search_path = trap, pg_catalog, public; SELECT fast_copy('heap', '$path', manifest => 's.\"My \"\"m\"')"), '1', 'with search_path pinned');
	query('ALTER TABLE s."My ""m" ENABLE ROW LEVEL SECURITY');
	like(failure("SET ROLE loader; SELECT fast_copy('heap', '$path', manifest => 's.\"My \"\"m\"')"), qr/22P04: file ".*listed" is not in the manifest/, 'rows that the caller may not see');
};

subtest 'what is no manifest' => sub {
	my $path = write_bytes('listed', "1,2024-01-01\n");

	like(outcome([$path], $_), qr/22023: manifest has something other than files/, $_)
	  foreach '{"file": "listed"}', '["listed"]', '[1]', '[{}]', '[{"file": 1}]', '[{"file": ""}]', '[{"file": "listed", "sha": "x"}]', '[{"file": "listed", "sha256": "xyz"}]', '[{"file": "listed", "crc32c": "0123456z"}]',
	  '[{"file": "listed", "bytes": "13"}]', '[[{"file": "listed"}]]';
	like(outcome([$path], '[{"file": "listed", "bytes": 1.5}]'), qr/22P02: invalid input syntax for type bigint: "1.5"/, 'half a byte');
	like(outcome([$path], '[{'), qr/22P02: invalid input syntax for type json/, 'broken');
	like(failure("SELECT fast_copy('heap', 'cat $path', program => true, manifest => '[]')"), qr/22023: manifest cannot be used for data that are no files/, 'of a program');
	like(failure("\\copy heap from '$path' (fast_copy, format csv, manifest '[]')"), qr/22023: manifest cannot be used for data that are no files/, 'of the client');
	mkdir "$dir/a$_" foreach 1, 2;
	my @same = map { write_bytes("a$_/same", "1,2024-01-01\n") } 1, 2;
	chmod 0755, "$dir/a1", "$dir/a2";
	like(outcome(\@same, '[{"file": "same"}]'), qr/22P04: several files have the name "same" of the manifest/, 'a name of two files');
	query('TRUNCATE heap');
	is(outcome(\@same, '[' . join(',', map { "{\"file\": \"$_\"}" } reverse @same) . ']'), '2', 'but not their paths');
	is(query("SELECT count(*) FROM fast_copy_analyze('heap', '$path', manifest => '[{\"file\": \"listed\"}]') WHERE item = 'file'"), '1', 'an analysis looks at it');
	like(failure("SELECT * FROM fast_copy_analyze('heap', '$path', manifest => '[]')"), qr/22P04: .* is not in the manifest/, '... too');
};

subtest 'a file that changes after it was compared' => sub {
	my $path = write_bytes('changed', join('', map { "$_,2024-01-01\n" } 100 .. 999));
	my $sha = sha256_hex(slurp_file($path));

	chmod 0666, $path;
	foreach my $how (
		[ "echo 1,2024-01-01 >>$path", 'something is appended' ],
		[ "printf 9 | dd of=$path conv=notrunc status=none; touch -d 2024-01-01 $path", 'a byte is another, with another time' ],
		[ "t=\$(stat -c %y $path); printf 8 | dd of=$path conv=notrunc status=none; touch -d \"\$t\" $path", 'a byte is another, at the same time' ])
	{
		write_bytes('changed', join('', map { "$_,2024-01-01\n" } 100 .. 999));
		chmod 0666, $path;
		query("DROP TABLE IF EXISTS late; CREATE TABLE late (n int, ts date);
			CREATE OR REPLACE FUNCTION meddle(n int) RETURNS bool LANGUAGE plpgsql AS \$\$BEGIN
				IF n = 500 THEN COPY (SELECT) TO PROGRAM '$how->[0]; cat >/dev/null'; END IF;
				RETURN true;
			END\$\$;
			ALTER TABLE late ADD CHECK (meddle(n))");
		like(failure("SELECT fast_copy('late', '$path', workers => $_, manifest => '[{\"file\": \"changed\", \"sha256\": \"$sha\"}]')"), qr/55000: file ".*changed" changed while it was being loaded/, "$how->[1]: $_ workers") foreach 0;
		is(query('SELECT count(*) FROM late'), '0', 'no row');
	}
};

subtest 'the ledger records it' => sub {
	my @paths = map { write_bytes("kept.$_", "$_,2024-01-01\n") } 1 .. 3;
	my $list = sub { return '[' . join(', ', map { entry("kept.$_", "$_,2024-01-01\n", $_ == 1 ? 'sha256' : $_ == 2 ? 'crc32c' : 'bytes') } @_) . ']' };

	query("SELECT fast_copy_create_ledger_table('loads'); TRUNCATE heap");
	is(outcome([ @paths[ 0, 1 ] ], $list->(1, 2), ", ledger => 'loads'"), '2', 'two files');
	like(outcome(\@paths, $list->(1, 3), ", ledger => 'loads'"), qr/22P04: file ".*kept\.2" is not in the manifest/, 'also files that the ledger passes over must be in it');
	is(outcome(\@paths, $list->(3, 2, 1), ", ledger => 'loads'"), '1', 'the third');
	is(query("SELECT substring(path FROM '[^/]*\$'), expected_size, expected_hash FROM loads ORDER BY path"),
		"kept.1|13|sha256:" . sha256_hex("1,2024-01-01\n") . "\nkept.2|13|crc32c:" . uc(crc32c("2,2024-01-01\n")) . "\nkept.3|13|", 'what it said');
};

$node->stop;
done_testing();
