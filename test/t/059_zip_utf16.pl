# Files as Windows writes them: zip, UTF-16, and UTF-16 in zip.  The same rows
# in a plain file, loaded by COPY, say what must come of them, and zip and
# Python's module make the archives.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Encode;
use FastCopy qw(:DEFAULT query failure);
use IO::Compress::Gzip ();
use IO::Compress::Zip qw(zip :constants);
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{FC_SEED} // 51;
srand($seed =~ /\D/ ? hex($seed) : $seed);
note("FC_SEED=$seed");

my $node = new_node('main', {}, "session_preload_libraries = 'fast_copy'");
my $dir = FastCopy::directory();
my @CHARACTERS = map { chr } 0x61 .. 0x7a, 0xe4, 0xdf, 0x2122, 0x4e2d, 0x0d41, 0x220a, 0x2c22, 0x1f600, 0x10ffff, 0xfeff;

query(<<'SQL');
CREATE TABLE c (n int, ts timestamp, v text);
CREATE TABLE heap (LIKE c);
CREATE TABLE parts (LIKE c) PARTITION BY RANGE (ts);
SQL

sub rows
{
	my ($n, $end) = @_;

	return join('', map {
		my $v = join('', map { rand() < 0.1 ? ('""', ',', "\n", "\r\n", '""')[ rand 5 ] : $CHARACTERS[ rand @CHARACTERS ] } 1 .. rand 20);

		sprintf("%d,2024-%02d-%02d %02d:00:00,\"%s\"$end", $_, 1 + rand 12, 1 + rand 28, rand 24, $v)
	} 1 .. $n);
}

# Text in one of the encodings, and the option that it needs
sub encoded
{
	my ($text) = @_;

	return (
		[ 'UTF-16LE', encode('UTF-16LE', "\x{feff}$text"), '' ],
		[ 'UTF-16BE', encode('UTF-16BE', "\x{feff}$text"), '' ],
		[ 'LE', encode('UTF-16LE', $text), ", encoding => 'utf-16le'" ],
		[ 'BE', encode('UTF-16BE', $text), ", encoding => 'UTF16BE'" ],
		[ 'any', encode('UTF-16LE', $text), ", encoding => 'UTF16'" ],
		[ 'UTF-8', encode('UTF-8', $text), '' ])[ $_[1] // rand 6 ];
}

sub zipped
{
	my ($bytes, @options) = @_;
	my $to;

	zip(\$bytes, \$to, Name => 'a name.csv', @options) or die;
	return $to;
}

# A container, and how it is packed
sub packed
{
	my ($bytes, $how) = @_;
	my $to;

	return [ 'plain', $bytes ] if $how == 0;
	return [ 'deflated', zipped($bytes) ] if $how == 1;
	return [ 'as a stream', zipped($bytes, Stream => 1) ] if $how == 2;
	return [ 'stored', zipped($bytes, Method => ZIP_CM_STORE, Stream => 0) ] if $how == 3;
	return [ 'zip64', zipped($bytes, Zip64 => 1) ] if $how == 4;
	return [ 'zip64, as a stream', zipped($bytes, Zip64 => 1, Stream => 1) ] if $how == 5;
	my $members = '';
	foreach my $member ($how == 6 ? $bytes : $bytes =~ /(.{1,1001})/sg)
	{
		IO::Compress::Gzip::gzip(\$member, \$to);
		$members .= $to;
	}
	return [ $how == 6 ? 'gzip' : 'members of gzip', $members ];
}

sub differs
{
	my ($table) = @_;

	return "SELECT count(*) FROM ((TABLE c EXCEPT ALL TABLE $table) UNION ALL (TABLE $table EXCEPT ALL TABLE c)) _;";
}

# ---- the rows are those of the file -------------------------------------------

subtest 'any encoding in any container, however it is loaded' => sub {
	foreach my $round (1 .. 40)
	{
		my $rows = rows(int(rand(rand() < 0.3 ? 3000 : 60)), ("\n", "\r\n")[ $round % 2 ]);
		my ($encoding, $bytes, $option) = @{ encoded("n,ts,v\n" =~ s/\n/("\n", "\r\n")[$round % 2]/er . $rows) };
		my ($container, $file) = @{ packed($bytes, int rand 8) };
		my $path = write_bytes("rows.$round", $file);
		my $plain = write_bytes("plain.$round", encode('UTF-8', $rows));
		my $table = ('heap', 'parts')[ rand 2 ];
		my $workers = (0, 1, 2, 4)[ rand 4 ];
		my $source = rand() < 0.3 ? "'cat $path', program => true" : "'$path'";
		my $chunk = (64, 1000, 65536)[ rand 3 ];
		my $header = ("header => true", "header => 'map'", "header => 'match'")[ rand 3 ];

		is(query("SET client_min_messages = warning; TRUNCATE c, heap, parts; COPY c FROM '$plain' CSV; SET fast_copy.chunk_size = '${chunk}B';
			SELECT fast_copy('$table', $source, workers => $workers, $header$option) - (SELECT count(*) FROM c); " . differs($table)),
			"0\n0", "$encoding, $container: $source, $workers workers, $chunk, $table, $header");
	}
};

subtest 'several files, each in its own encoding' => sub {
	my $rows = rows(300, "\n");
	my $plain = write_bytes('plain', encode('UTF-8', $rows));
	my @bytes = map { encoded($rows, $_)->[1] } 0, 1, 5;
	my $files = join(',', map { "'" . write_bytes("several.$_", packed($bytes[ $_ % 3 ], $_)->[1]) . "'" } 0 .. 6);

	is(query("TRUNCATE c, heap; COPY c FROM '$plain' CSV; INSERT INTO c SELECT c.* FROM c, generate_series(1, 6);
		SELECT fast_copy('heap', ARRAY[$files], workers => $_);" . differs('heap')), "2100\n0", "$_ workers") foreach 0, 1, 3;
};

subtest 'from the client' => sub {
	my $rows = rows(300, "\n");
	my $plain = write_bytes('plain', encode('UTF-8', $rows));
	my $le = write_bytes('le', encoded($rows, 0)->[1]);
	my $zip = write_bytes('le.zip', zipped(encoded($rows, 2)->[1]));

	query("TRUNCATE c; COPY c FROM '$plain' CSV");
	is(query("TRUNCATE heap;\n\\copy heap from '$le' with (fast_copy, format csv, encoding 'UTF16')\n" . differs('heap')), '0', 'UTF-16');
	is(query("TRUNCATE heap;\n\\copy heap from '$zip' with (fast_copy, format csv, encoding 'UTF16')\n" . differs('heap')), '0', 'UTF-16 in zip');
	is(query("TRUNCATE heap;\n\\copy heap from '$zip' with (fast_copy, format csv, compressed, encoding 'UTF16LE')\n" . differs('heap')), '0', '... as packed');
	like(failure("\\copy heap from '$le' with (fast_copy, format csv)"), qr/22P04: UTF-16 data from the client without the option "encoding"\nHINT:  .*encoding 'UTF16'/, 'not asked for');
};

subtest 'to a server with another encoding' => sub {
	my $text = "1,2024-01-01,\x{e4}\n2,2024-01-01,\x{20ac}\n";
	my $path = write_bytes('euro', encode('UTF-16LE', "\x{feff}$text"));

	query("CREATE DATABASE latin9 ENCODING 'LATIN9' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
	is($node->safe_psql('latin9', "SET client_encoding = 'UTF8'; CREATE EXTENSION fast_copy; CREATE TABLE t (n int, ts timestamp, v text); SELECT fast_copy('t', '$path'); SELECT encode(v::bytea, 'hex') FROM t ORDER BY n"),
		"2\ne4\na4", 'converted twice');
	like(($node->psql('latin9', "SET client_encoding = 'UTF8'; SELECT fast_copy('t', '" . write_bytes('chinese', encode('UTF-16LE', "1,2024-01-01,x\n2,2024-01-01,\x{4e2d}\n")) . "', encoding => 'UTF16')"))[2],
		qr/character with byte sequence 0xe4 0xb8 0xad in encoding "UTF8" has no equivalent in encoding "LATIN9".*line 2/s, 'a character that it lacks');
};

subtest 'a place in what UTF-16 was made into is none in the file' => sub {
	my $text = "1,2024-01-01,a\r\nx,2024-01-01,b\r\n2,2024-01-01,c\r\n";
	my %files = map { $_->[0] => encoded($text, $_->[1])->[1] } [ 'le', 0 ], [ 'utf8', 5 ];
	my $many = $text x 20000;

	query("SELECT fast_copy_create_reject_table('rejected'); CREATE TABLE placed (n int, ts timestamp, v text, place bigint)");
	foreach my $how (0, 1, 6)
	{
		my ($le, $utf8, $long) = map { "'" . write_bytes("place.$how.$_->[0]", packed($_->[1], $how)->[1]) . "'" } [ 'le', $files{le} ], [ 'utf8', $files{utf8} ], [ 'long', encode('UTF-16LE', "\x{feff}$many") ];

		foreach my $workers (0, 2)
		{
			my $load = sub {
				my ($sources, $options) = @_;
				return query("SET client_min_messages = warning; TRUNCATE placed, rejected; SELECT FROM fast_copy('placed', $sources, columns => '{n,ts,v}', transform => 'place = \$byte_offset', on_error => 'ignore', reject_table => 'rejected', workers => $workers$options);
					SELECT left(string_agg(DISTINCT coalesce(place::text, '-'), ' '), 40) FROM placed; SELECT left(string_agg(DISTINCT coalesce(byte_offset::text, '-'), ' '), 40) FROM rejected") =~ s/\A\n//r;
			};

			is($load->($le, ''), "-\n-", "$how, $workers workers: UTF-16");
			is($load->($le =~ s/'(.*)'/'cat $1'/r, ', program => true'), "-\n-", "$how, $workers workers: from a program");
			is($load->($long, ''), "-\n-", "$how, $workers workers: a long file");
			is($load->("ARRAY[$le, $utf8]", ''), "- 0 32\n- 16", "$how, $workers workers: beside a file of UTF-8");
		}
	}
};

# ---- what is wrong ------------------------------------------------------------

sub fails
{
	my ($bytes, $expected, $name, $options) = @_;
	my $path = write_bytes('bad', $bytes);

	foreach my $source ("'$path', workers => 0", "'$path', workers => 2", "'cat $path', program => true, workers => 2")
	{
		like(failure("SET fast_copy.chunk_size = '100B'; SELECT fast_copy('heap', $source" . ($options // '') . ')'), $expected, "$name: $source");
	}
	is(query('SELECT count(*) FROM heap'), '0', 'no row');
}

query('TRUNCATE heap');

subtest 'UTF-16 that is not sound' => sub {
	my $good = join('', map { "$_,2024-01-01,x\n" } 1 .. 100);
	my $le = encode('UTF-16LE', "\x{feff}$good");

	fails($le . 'x', qr/22P04: unexpected end of the UTF-16 data of \w+ ".*"\nDETAIL:  They end at byte @{[ length($le) + 1 ]}\./, 'half a character at the end');
	fails(substr($le, 0, -4) . "\x3d\xd8\x0a\0", qr/22021: invalid byte sequence for encoding "UTF8": 0xed 0xa0 0xbd.*line 100/s, 'half a pair');
	fails($le . "1\0,\0\0\xde", qr/22021: invalid byte sequence for encoding "UTF8": 0xed 0xb8 0x80.*line 101/s, 'the other half');
	fails($le . encode('UTF-16LE', "101,2024-01-01,\0\n"), qr/22021: invalid byte sequence for encoding "UTF8": 0x00.*line 101/s, 'a zero');
	fails(zipped($le . 'x'), qr/22P04: unexpected end of the UTF-16 data of \w+ ".*"/, 'half a character at the end of a zip file');
	is(query("SELECT fast_copy('heap', '" . write_bytes('bad', $le . encode('UTF-16LE', "101,2024-01-01,") . "\x3d\xd8\x0a\0" . encode('UTF-16LE', "102,2024-01-01,y\n")) . "', on_error => 'ignore', on_error_classes => '{encoding}'); TRUNCATE heap"), '101', 'a record that is left out');
	like(failure("SET client_encoding = 'LATIN1'; SELECT fast_copy('heap', '" . write_bytes('bad', $le) . "')"), qr/HINT:  If the file is in UTF-16, add encoding => 'UTF16'\./, 'in another encoding the mark may be data');
	is(query("SET client_encoding = 'LATIN1'; SELECT fast_copy('heap', '$dir/bad', encoding => 'UTF16'); TRUNCATE heap"), '100', 'unless the call says so');
	like(failure("COPY heap FROM '$dir/bad' CSV"), qr/invalid byte sequence for encoding "UTF8": 0xff/, 'a plain COPY is COPY');
	like(failure("SELECT fast_copy('heap', '$dir/bad', encoding => 'UTF16', format => 'binary')"), qr/42601: cannot specify ENCODING UTF16 in BINARY mode/, 'binary');
	is(query("SELECT fast_copy('heap', '" . write_bytes('bad', "\xff\xfe") . "')"), '0', 'a mark alone');
	is(query("SELECT fast_copy('heap', '" . write_bytes('bad', '') . "', encoding => 'UTF16')"), '0', 'nothing at all');
};

sub archive
{
	my ($name, $python) = @_;

	unlink "$dir/$name";
	write_bytes("$name.py", "import zipfile, sys\nz = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED)\n$python\nz.close()\n");
	system('python3', "$dir/$name.py", "$dir/$name") == 0 or die;
	chmod 0644, "$dir/$name";
	return slurp_file("$dir/$name");
}

subtest 'zip files' => sub {
	my $rows = join('', map { "$_,2024-01-01,x\n" } 1 .. 100);
	my $zip = zipped($rows, Stream => 0);

	fails(archive('two.zip', "z.writestr('a.csv', '1,2024-01-01,x\\n')\nz.writestr('dir/b.csv', '1,2024-01-01,x\\n')"),
		qr/0A000: cannot load \w+ ".*": it has several members: "a\.csv", "dir\/b\.csv"\nHINT:  .*unzip -p|0A000: .*it has several members.*\nHINT:  Pack one file alone/, 'several members');
	fails(archive('many.zip', "for i in range(2000): z.writestr('name%d.csv' % i, '1,2024-01-01,x\\n')"), qr/0A000: .*it has several members: "name0\.csv", "name1\.csv", .*, \.\.\.$/m, 'many members');
	fails(archive('lzma.zip', "z.writestr('a.csv', '1,2024-01-01,x\\n', zipfile.ZIP_LZMA)"), qr/0A000: .*its data are packed by a method other than deflate/, 'another method');
	fails(archive('none.zip', ''), qr/0A000: .*it has no member/, 'no member');
	fails(archive('nested.zip', "z.write('$dir/two.zip', 'two.zip')"), qr/0A000: .*its zip data unpack to data in zip format/, 'zip in zip');
	system("cd '$dir' && rm -f secret.zip && echo 1,2024-01-01,x >secret.csv && zip -q -P word secret.zip secret.csv") == 0 or die;
	fails(slurp_file("$dir/secret.zip"), qr/0A000: .*its data are encrypted\n/, 'encrypted');
	fails(substr($zip, 0, $_ < 0 ? length($zip) + $_ : $_), qr/22P04: unexpected end of the zip data/, "cut at $_") foreach 100, -5;
	fails(substr($zip, 0, 14) . "\0\0\0\0" . substr($zip, 18), qr/22P04: corrupt zip data .*\nDETAIL:  At about byte \d+: incorrect data check\./, 'another checksum');
	fails($zip . 'x', qr/22P04: something else follows the zip data/, 'something after it');
	is(query("SELECT fast_copy('heap', '" . write_bytes('good.zip', archive('dirs.zip', "z.writestr('x/', '')\nz.writestr('x/y/', '')\nz.writestr('x/y/../../a.csv', '1,2024-01-01,x\\n')\nz.writestr('__MACOSX/x/._a.csv', 'resource')\nz.comment = b'a comment'")) . "'); TRUNCATE heap"), '1', 'directories, a path, a comment, what macOS adds');
	system("cd '$dir' && rm -f one.zip && echo 1,2024-01-01,x >one.csv && zip -q one.zip one.csv && zip -q - - <one.csv >piped.zip; chmod 0644 one.zip piped.zip") == 0 or die;
	is(query("SELECT fast_copy('heap', ARRAY['$dir/one.zip', '$dir/piped.zip']); TRUNCATE heap"), '2', 'by zip, to a file and to a pipe');
};

subtest 'a bomb costs only what temp_file_limit allows' => sub {
	write_bytes('bomb.py', "import zipfile, sys\nz = zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED)\nf = z.open('a.csv', 'w')\n[f.write(b'1' * 1000000) for i in range(200)]\nf.close()\nz.close()\n");
	system('python3', "$dir/bomb.py", "$dir/bomb.zip") == 0 or die;
	chmod 0644, "$dir/bomb.zip";
	like(failure("SET temp_file_limit = '20MB'; SELECT fast_copy('heap', '$dir/bomb.zip', workers => $_)"), qr/53400: temporary file size exceeds "?temp_file_limit/, "$_ workers") foreach 0, 2;
	is(join(' ', spill_files($node)), '', 'no temporary file is left');
};

$node->stop;
done_testing();
