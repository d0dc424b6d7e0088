# Streams: packed files, programs, and what the client sends.  The real tools
# pack the files; COPY FROM PROGRAM with them says what must come of it.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Digest::MD5 qw(md5_hex);
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my %PACK = (
	gzip => [ 'gzip -nc', 'zcat' ],
	zstd => [ 'zstd -qc', 'zstd -qdc' ],
	lz4 => [ 'lz4 -qc', 'lz4 -qdc' ],
	bzip2 => [ 'bzip2 -c', 'bzcat' ],
	xz => [ 'xz -c', 'xzcat' ]);
my @FORMATS = sort keys %PACK;

my $node = new_node('main', {}, "session_preload_libraries = 'fast_copy'");
my $dir = FastCopy::directory();

sub file
{
	my ($name, $bytes) = @_;

	if ($name =~ m{^(.*)/})
	{
		mkdir "$dir/$1";
		chmod 0755, "$dir/$1";
	}
	return write_bytes($name, $bytes);
}

sub slurp
{
	open(my $in, '<:raw', $_[0]) or die "$_[0]: $!";
	local $/;
	return scalar <$in>;
}

# Bytes as a tool packs them
sub pack_bytes
{
	my ($format, $bytes) = @_;
	my $plain = file('to_pack', $bytes);
	my $packed = `$PACK{$format}[0] <'$plain'`;

	die "$format: $?" if $? || $packed eq '';
	return $packed;
}

sub packed { return file($_[0], pack_bytes($_[1], $_[2])) }

sub query
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '60s'; $sql");

	return $rc == 0 ? $out : "ERROR $err";
}

# The error of a statement as "SQLSTATE: text"; nothing may be left of it
sub failure
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '60s';\n\\set VERBOSITY verbose\n$sql");

	return $rc == 0 ? "no error: $out" : join("\n", grep { !/^LOCATION/ } split(/\n/, $err));
}

sub is_left_clean
{
	my ($what) = @_;

	is(join(' ', spill_files($node)), '', "$what: no temporary file");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM p'), 0, "$what: no row");
}

sub array { return 'ARRAY[' . join(', ', map { "'$_'" } @_) . ']' }

query('CREATE TABLE p (n int, v text); CREATE TABLE c (n int, v text);
	CREATE TABLE k (n int, v text) PARTITION BY RANGE (n)');
my $rows = join('', map { sprintf "%d,%s of row %d\n", $_, 'x' x ($_ * 31 % 70), $_ } 1 .. 20000);
my $plain = file('plain.csv', $rows);

# ---- formats ----------------------------------------------------------------

my %file = map { $_ => packed("rows.$_", $_, $rows) } @FORMATS;
foreach my $format (@FORMATS)
{
	subtest "$format: the rows are those that COPY gets from the tool" => sub {
		is(query("TRUNCATE c; COPY c FROM PROGRAM '$PACK{$format}[1] $file{$format}' CSV; SELECT count(*) FROM c"), 20000, 'COPY reads it');
		foreach my $workers (0, 2)
		{
			is(query("TRUNCATE p; SELECT fast_copy('p', '$file{$format}', workers => $workers);
				SELECT count(*) FROM (TABLE p EXCEPT ALL TABLE c) x; SELECT (SELECT count(*) FROM c) - count(*) FROM p"),
				"20000\n0\n0", "$workers workers");
		}
		is(query("SELECT choice, bytes, spill_bytes FROM fast_copy_report()"), '', 'another session has no report');
		is(query("DROP TABLE k; CREATE TABLE k (n int, v text) PARTITION BY RANGE (n);
			SELECT fast_copy('k', '$file{$format}', partition_interval => '5000', workers => 2);
			SELECT count(*) FROM (TABLE k EXCEPT ALL TABLE c) x; SELECT (SELECT count(*) FROM c) - count(*) FROM k;
			SELECT count(*) FROM fast_copy_report() WHERE phase = 'scan';
			SELECT choice, bytes, spill_bytes FROM fast_copy_report() WHERE phase = 'unpack'"),
			"20000\n0\n0\n1\n1 of 1 files (1 $format) unpacked to temporary files, scanned meanwhile|" . (-s $file{$format}) . '|' . length($rows), 'into partitions, scanned meanwhile');
		is(query("SET fast_copy.spill = rows; SET fast_copy.io_method = sync; TRUNCATE k; SELECT fast_copy('k', '$file{$format}', workers => 2)"), 20000, 'rows spilled');
	};
}

subtest 'the first bytes tell what is packed' => sub {
	my $twice = packed('twice.gz', 'gzip', pack_bytes('gzip', "1,a\n"));
	like(failure("TRUNCATE p; SELECT fast_copy('p', '$twice')"), qr/0A000: cannot load file ".*twice\.gz": its gzip data unpack to data in gzip format\nHINT:  .*'gzip -dc .*twice\.gz'/, 'packed twice is refused');
	is(query("SELECT fast_copy('p', 'gzip -dc $twice', program => true)"), 1, '... and loaded as the hint says');
	is(query("TRUNCATE p; SELECT fast_copy('p', '" . packed('empty.gz', 'gzip', '') . "')"), 0, 'an empty file, packed');
	is(query("SELECT fast_copy('p', '" . file('nothing.gz', '') . "')"), 0, 'an empty file is an empty file');
	is(query("SELECT fast_copy('p', '" . file('bz.csv', "1,BZh9\n") . "'); TRUNCATE p"), 1, 'text that only looks like it');
	is(query("COPY (SELECT 1, 'b') TO PROGRAM 'gzip >$dir/bin.gz' (FORMAT binary); SELECT fast_copy('p', '$dir/bin.gz', format => 'binary'); TABLE p; TRUNCATE p"), "1\n1|b", 'binary format, packed');
	is(query("SELECT fast_copy('p', '" . packed('sjis.gz', 'gzip', "1,\x83\x5c\n") . "', encoding => 'SJIS'); SELECT n, v = U&'\\30BD' FROM p; TRUNCATE p"), "1\n1|t", 'converted as a whole, packed');
};

# ---- several members --------------------------------------------------------

foreach my $format (@FORMATS)
{
	subtest "$format: members follow each other, and nothing else does" => sub {
		my @parts = map { pack_bytes($format, $_) } "1,a\n2,\"b\n", "c\"\n", '', "3,d\n";

		is(query("TRUNCATE p; SELECT fast_copy('p', '" . file("members.$format", join('', @parts)) . "'); SELECT string_agg(n || v, ' ' ORDER BY n) FROM p"),
			"3\n1a 2b\nc 3d", 'several members');
		foreach my $garbage ('x', "rows\n", $parts[0] . 'junk behind it', $parts[0] . "\0x")
		{
			like(failure("TRUNCATE p; SELECT fast_copy('p', '" . file('garbage', $parts[0] . $garbage) . "')"),
				qr/22P04: something else follows the $format data of file ".*garbage"\nDETAIL:  At byte \d+, after their end/, "garbage of " . length($garbage) . ' bytes');
		}
	};
}

subtest 'padding and frames to be skipped are no data' => sub {
	is(query("TRUNCATE p; SELECT fast_copy('p', '" . file('zeros.gz', pack_bytes('gzip', "1,a\n") . "\0" x 10000) . "')"), 1, 'gzip: zeros after the data');
	like(failure("TRUNCATE p; SELECT fast_copy('p', '" . file('zeros.gz', pack_bytes('gzip', "1,a\n") . "\0" x 5 . pack_bytes('gzip', "1,a\n")) . "')"), qr/22P04: something else follows/, 'gzip: but nothing after those');
	my $xz = pack_bytes('xz', "1,a\n");
	is(query("TRUNCATE p; SELECT fast_copy('p', '" . file('pad.xz', "$xz\0\0\0\0$xz\0\0\0\0\0\0\0\0") . "'); TRUNCATE p"), 2, 'xz: padding between and after streams');
	like(failure("SELECT fast_copy('p', '" . file('pad.xz', "$xz\0\0\0") . "')"), qr/22P04: something else follows the xz data/, 'xz: padding of a wrong size');
	foreach my $format ('zstd', 'lz4')
	{
		my $skip = "\x50\x2a\x4d\x18" . pack('V', 3000) . 'x' x 3000;
		my $data = pack_bytes($format, "1,a\n");

		is(query("SELECT fast_copy('p', '" . file('skip', "$skip$skip$data$skip$data") . "'); TRUNCATE p"), 2, "$format: frames to be skipped");
	}
};

# ---- cut and corrupt --------------------------------------------------------

foreach my $format (@FORMATS)
{
	subtest "$format: an error names the file that is cut or corrupt" => sub {
		my $whole = slurp($file{$format});

		foreach my $at (4, 12, int(length($whole) / 3), length($whole) - 1)
		{
			like(failure("SELECT fast_copy('p', '" . file('cut', substr($whole, 0, $at)) . "')"),
				$format eq 'bzip2' && $at < 10 ? qr/22P0[24]: / : qr/22P04: unexpected end of the $format data of file ".*cut"\nDETAIL:  They end at byte $at\./, "cut at $at");
		}
		foreach my $at (int(length($whole) / 3), int(length($whole) / 2), length($whole) - 6)
		{
			my $bad = $whole;

			substr($bad, $at, 3) = substr($bad, $at, 3) ^ "\x55\xaa\x55";
			my $file = file('bad', $bad);
			foreach my $workers (0, 2)
			{
				like(failure("SELECT fast_copy('p', " . array($plain, $file, $file{$format}) . ", workers => $workers)"),
					qr/22P04: (corrupt $format data in|unexpected end of the $format data of|something else follows the $format data of) file ".*bad"/, "corrupt at $at, $workers workers");
			}
		}
		is_left_clean('corrupt');
	};
}

subtest 'the first bad file in the order of the load is told, whoever meets it' => sub {
	my @bad = map { my $b = slurp($file{gzip}); substr($b, 5000, 1) ^= "\xff" foreach 1; file("five/$_.gz", $_ == 1 || $_ == 2 ? $b : pack_bytes('gzip', "$_,a\n")) } 1 .. 5;
	like(failure("SELECT fast_copy('p', '$dir/five/*.gz', workers => 2)"), qr/file ".*five\/1\.gz"/, "try $_") foreach 1 .. 3;
};

# ---- what cannot be loaded --------------------------------------------------

subtest 'archives are refused' => sub {
	system("cd '$dir' && tar -cf rows.tar plain.csv && tar -czf rows.tgz plain.csv") == 0 or die;
	chmod 0644, map { "$dir/rows.$_" } qw(tar tgz);
	like(failure("SELECT fast_copy('p', '$dir/rows.tar')"), qr/0A000: cannot load file ".*rows\.tar": it is in tar format\nHINT:  .*tar -xO/, 'tar');
	like(failure("SELECT fast_copy('p', '$dir/rows.tgz')"), qr/0A000: cannot load file ".*rows\.tgz": it is in tar format/, 'tar, packed');
	like(failure("SELECT fast_copy('p', '" . file('rows.Z', "\x1f\x9d\x90xxx") . "')"), qr/0A000: .*compress format/, 'compress');
	like(failure("SELECT fast_copy('p', '" . file('dictionary.zst', "\x28\xb5\x2f\xfd\x23\x01\0\0\0\x02\x11\0\0x\n") . "')"),
		qr/0A000: cannot load file ".*dictionary\.zst": its zstd data were packed with a dictionary\nHINT:  .*'zstd -dc -D DICTIONARY .*dictionary\.zst'/, 'a dictionary');
	like(failure("SELECT fast_copy('p', 'cat $dir/rows.tar', program => true)"), qr/0A000: cannot load program "cat .*rows\.tar": it is in tar format/, 'tar from a program');
};

subtest 'a format may take as much memory as fast_copy.memory' => sub {
	my $frame = "\x28\xb5\x2f\xfd\x00\xa0" . "\x01\0\0";    # a window of 1 GB
	like(failure("SET fast_copy.memory = '64MB'; SELECT fast_copy('p', '" . file('window.zst', $frame) . "')"),
		qr/54000: zstd data of file ".*window\.zst" need more memory than fast_copy\.memory.*HINT:  Increase fast_copy\.memory/s, 'a window that is too large');
	like(failure("SET fast_copy.memory = '1MB'; SELECT fast_copy('p', '" . file('big.xz', scalar `xz -9 -c '$plain'`) . "')"),
		qr/54000: xz data of file ".*big\.xz" need more memory/, 'xz needs more');
	is(query("SET fast_copy.memory = '70MB'; SELECT fast_copy('p', " . array(map { file("big$_.xz", slurp("$dir/big.xz")) } 1 .. 4) . ", workers => 4); TRUNCATE p"), 80000, 'who needs much waits for the others');
};

# ---- many files -------------------------------------------------------------

subtest 'all formats are loaded at once' => sub {
	my @mixed = ($plain, map { $file{$_} } @FORMATS);
	foreach my $workers (0, 3)
	{
		foreach my $method (qw(io_uring sync))
		{
			is(query("SET fast_copy.spill = offsets; SET fast_copy.io_method = $method; DROP TABLE k; CREATE TABLE k (n int, v text) PARTITION BY RANGE (n);
				SELECT fast_copy('k', " . array(@mixed) . ", partition_interval => '3000', workers => $workers);
				SELECT count(*) FROM (SELECT * FROM k EXCEPT ALL SELECT c.* FROM c, generate_series(1, 6)) x;
				SELECT choice FROM fast_copy_report() WHERE phase = 'unpack'"),
				"120000\n0\n5 of 6 files (1 gzip, 1 zstd, 1 lz4, 1 bzip2, 1 xz) unpacked to temporary files", "$workers workers, $method");
		}
	}
};

subtest 'more packed files than a process may open are one load' => sub {
	my $many = 1200;
	foreach my $i (1 .. $many)
	{
		file(sprintf('many/%04d.csv', $i), "n,v\n" . join('', map { sprintf "%d,\"file %d\nrow %d\"\n", ($i * 7 + $_ * 31) % 100, $i, $_ } 1 .. 5));
	}
	system("cd '$dir/many' && gzip *.csv && chmod 644 *") == 0 or die;
	foreach my $workers (0, 2)
	{
		is(query("DROP TABLE k; CREATE TABLE k (n int, v text) PARTITION BY RANGE (n);
			SELECT fast_copy('k', '$dir/many/*.gz', header => 'match', partition_interval => '10', workers => $workers);
			SELECT count(*), count(DISTINCT v) FROM k; SELECT choice FROM fast_copy_report() WHERE phase = 'unpack'"),
			5 * $many . "\n" . 5 * $many . '|' . 5 * $many . "\n$many of $many files ($many gzip) unpacked to temporary files", "$workers workers");
	}
	is(query("SELECT item, name, rows, bytes FROM fast_copy_analyze('p', '$dir/many/000[12].csv.gz', header => 'true') WHERE item = 'file'"),
		"file|$dir/many/0001.csv.gz|5|93\nfile|$dir/many/0002.csv.gz|5|93", 'the analysis names them');
};

# ---- scanned while they are unpacked ----------------------------------------

# Rows in no order, some of them over several lines
my $shuffled = join('', map { my $n = $_ * 7919 % 40009; sprintf "%d,\"%s\nof %d\"\n", $n, 'y' x ($n % 90), $n } 1 .. 40000);
my $loose = file('shuffled.csv', $shuffled);
my @halves = (substr($shuffled, 0, index($shuffled, "\"\n", 1000000) + 2), substr($shuffled, index($shuffled, "\"\n", 1000000) + 2));

query("CREATE TABLE s (n int, v text); COPY s FROM '$loose' CSV");

# Loads into partitions: rows, differences to COPY's table, choices
sub flows
{
	my ($source, $args, $settings) = @_;

	return query('DROP TABLE k; CREATE TABLE k (n int, v text) PARTITION BY RANGE (n); ' . ($settings // '') . "
		SELECT fast_copy('k', $source, partition_interval => '5000', $args);
		SELECT count(*) FROM (TABLE k EXCEPT ALL TABLE s) x; SELECT (SELECT count(*) FROM s) - count(*) FROM k;
		SELECT phase || ': ' || choice FROM fast_copy_report() WHERE phase IN ('unpack', 'receive', 'scan')");
}

my $one = packed('shuffled.zst', 'zstd', $shuffled);
my @two = (packed('half1.gz', 'gzip', $halves[0]), packed('half2.xz', 'xz', $halves[1]));
my $beside = 'unpacked to temporary files, scanned meanwhile';
my $scan = 'scan: rows spilled: the data are not all there yet';
my $whole = 'scan: rows spilled: offsets read N times the file, which stays in the page cache';

subtest 'files are scanned while they are unpacked, as far as there are workers' => sub {
	is(flows("'$one'", 'workers => 2'), "40000\n0\n0\nunpack: 1 of 1 files (1 zstd) $beside\n$scan", 'one packed file, two workers');
	is(flows(array(@two), 'workers => 4'), "40000\n0\n0\nunpack: 2 of 2 files (1 gzip, 1 xz) $beside\n$scan", 'two packed files, four workers');
	is(flows(array(@two), 'workers => 2') =~ s/, scanned meanwhile//r =~ s/read [\d.]+/read N/r, "40000\n0\n0\nunpack: 2 of 2 files (1 gzip, 1 xz) unpacked to temporary files\n$whole", 'two packed files, two workers');
	is(flows(array($two[0], file('half2.csv', $halves[1])), 'workers => 4') =~ s/read [\d.]+/read N/r, "40000\n0\n0\nunpack: 1 of 2 files (1 gzip) unpacked to temporary files\n$whole", 'a packed file and a plain one');
	is(flows("'$one'", 'workers => 2', "SET max_parallel_workers = $_;"), "40000\n0\n0\nunpack: 1 of 1 files (1 zstd) $beside\n$scan", "$_ of two workers to be had") foreach 0, 1;
	is(flows("'cat $one'", 'workers => 2, program => true', "SET max_parallel_workers = $_;") =~ s/, scanned meanwhile//r, "40000\n0\n0\nreceive: 1 program\n$scan", "$_ of two workers to be had beside a program") foreach 0, 1;
	foreach my $chunk (1, 7, 100, 4096)
	{
		like(flows("'$one'", 'workers => 3', "SET fast_copy.chunk_size = '${chunk}B';"), qr/^40000\n0\n0\n/, "chunks of $chunk bytes");
		is(flows(array(@two), 'workers => 4', "SET fast_copy.chunk_size = '${chunk}B'; SET fast_copy.spill = rows;") =~ s/\nunpack.*//sr, "40000\n0\n0", "chunks of $chunk bytes, two files, rows spilled");
	}
};

subtest 'rows are sorted and numbered as those of a plain file' => sub {
	like(flows("'$one'", "workers => 2, order_by => ARRAY['v', 'n DESC']"), qr/^40000\n0\n0\nunpack: .*meanwhile\nscan: /, 'sorted');
	is(query("CREATE TABLE num (n int, v text, i int GENERATED ALWAYS AS IDENTITY) PARTITION BY RANGE (n);
		SELECT fast_copy('num', '$one', partition_interval => '5000', columns => '{n,v}', workers => 2);
		CREATE TABLE num2 (n int, v text, i int GENERATED ALWAYS AS IDENTITY); COPY num2 (n, v) FROM '$loose' CSV;
		SELECT count(*) FROM (TABLE num EXCEPT ALL TABLE num2) x; DROP TABLE num, num2") , "40000\n0", 'numbers of a sequence') if $node->pg_version >= 17;
};

subtest 'a packed header decides how the rows are loaded' => sub {
	is(flows("'" . packed('map.gz', 'gzip', "v,n\n" . join('', map { "z,$_\n" } 1 .. 9)) . "'", "header => 'map', workers => 2") =~ s/.*\nunpack/unpack/sr,
		"unpack: 1 of 1 files (1 gzip) $beside\n$scan", 'columns by a packed header');
	is(query("CREATE FUNCTION mark() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.v := NEW.v || NEW.n; RETURN NEW; END';
		CREATE TABLE tr (n int, v text) PARTITION BY RANGE (n); CREATE TABLE tr1 PARTITION OF tr FOR VALUES FROM (0) TO (5);
		CREATE TRIGGER t BEFORE INSERT ON tr FOR EACH ROW EXECUTE FUNCTION mark();
		SELECT fast_copy('tr', '$dir/map.gz', header => 'map', workers => 2); SELECT tableoid::regclass, string_agg(v, ' ') FROM tr GROUP BY 1 ORDER BY 1;
		SELECT choice FROM fast_copy_report() WHERE phase = 'unpack'"),
		"9\ntr1|z1 z2 z3 z4\ntr_p5|z5 z6 z7 z8 z9\n1 of 1 files (1 gzip) unpacked to temporary files", 'known from the header: a table with triggers');
	is(query("TRUNCATE tr; SELECT fast_copy('tr', 'zcat $dir/map.gz', program => true, header => 'map', workers => 2); SELECT string_agg(v, ' ' ORDER BY n) FROM tr;
		SELECT choice FROM fast_copy_report() WHERE phase = 'receive'"), "9\nz1 z2 z3 z4 z5 z6 z7 z8 z9\n1 program", 'known from the header of a program: the same');
};

subtest 'a large window and a long first row are no obstacle' => sub {
	my $wide = file('wide.zst', scalar `zstd -q --long=26 -c '$loose'`);

	like(failure("SET fast_copy.memory = '64MB'; SELECT fast_copy('k', '" . file('window2.zst', "\x28\xb5\x2f\xfd\x00\xa0\x01\0\0") . "', workers => 2)"),
		qr/54000: zstd data of file ".*window2\.zst" need more memory/, 'a window that is too large');
	like(flows("'$wide'", 'workers => 2', "SET fast_copy.memory = '100MB';"), qr/^40000\n0\n0\nunpack: /, 'one that only a process alone may have');
	is(flows("'" . file('long.gz', pack_bytes('gzip', "1,\"" . 'x' x 700000 . "\"\n2,b\n")) . "'", 'workers => 2') =~ s/\n.*//sr, 2, 'a first row that is longer than the head');
};

# data are at fault, and the file is, too: it is unpacked first
subtest 'of a file that is cut and bad data in it the file is told' => sub {
	my $faulty = slurp(packed('faulty', 'gzip', "x,bad\n$shuffled"));
	like(failure("SELECT fast_copy('k', '" . file('faulty', $faulty) . "', workers => 2)"), qr/22P02: invalid input syntax for type integer: "x"\nHINT:.*\nCONTEXT:.*line 1, column n/s, 'bad data');
	like(failure("SELECT fast_copy('k', '" . file('faulty', substr($faulty, 0, -9)) . "', workers => 2)"), qr/22P04: unexpected end of the gzip data/, 'bad data, and cut');
	like(failure("SELECT fast_copy('k', " . array($one, "$dir/faulty", $two[1]) . ', workers => 4)'), qr/22P04: unexpected end of the gzip data of file ".*faulty"/, 'one of several files');
	is_left_clean('at fault');
};

# rows are loaded meanwhile where they need not be sorted
my $loaded = 'unpacked to temporary files, loaded meanwhile';

# The rows in the order of the file, for loads into a table of some shape
my $order = md5_hex(join(' ', $shuffled =~ /^(\d+),"/mg));

sub flows_as
{
	my ($columns, $source, $args) = @_;

	return query("DROP TABLE IF EXISTS u; CREATE TABLE u ($columns); SELECT fast_copy('u', $source, workers => 3$args);
		SELECT count(*) FROM (SELECT n, v FROM u EXCEPT ALL TABLE s) x; SELECT (SELECT count(*) FROM s) - count(*) FROM u;
		SELECT md5(string_agg(n::text, ' ' ORDER BY ctid)) = '$order' FROM u;
		SELECT phase || ': ' || choice FROM fast_copy_report() WHERE phase IN ('unpack', 'receive')");
}

subtest 'rows that need no order are loaded while they are unpacked' => sub {
	like(flows_as('n int, v text', "'$one'", ''), qr/^40000\n0\n0\n[tf]\nunpack: 1 of 1 files \(1 zstd\) $loaded$/, 'one file');
	like(flows_as('n int, v text', array(@two), ''), qr/^40000\n0\n0\n[tf]\nunpack: 2 of 2 files \(1 gzip, 1 xz\) $loaded$/, 'two files');
	like(flows_as('n int, v text', "'cat $loose'", ', program => true'), qr/^40000\n0\n0\n[tf]\nreceive: 1 program, loaded meanwhile$/, 'a program');
};

subtest 'rows whose order counts are loaded in turn, or later' => sub {
	is(flows_as('n int PRIMARY KEY, v text', "'$one'", ''), "40000\n0\n0\nt\nunpack: 1 of 1 files (1 zstd) $loaded", 'with a key');
	is(flows_as('n int PRIMARY KEY, v text', array(@two), ''), "40000\n0\n0\nt\nunpack: 2 of 2 files (1 gzip, 1 xz) unpacked to temporary files", 'with a key, from two files');
	is(flows_as('n int, v text, i int GENERATED ALWAYS AS IDENTITY', "'$one'", ", columns => '{n,v}'") =~ s/\n[tf]\n/\n/r, "40000\n0\n0\nunpack: 1 of 1 files (1 zstd) unpacked to temporary files", 'with numbers of a sequence');
	is(query("SELECT md5(string_agg(n::text, ' ' ORDER BY i)) = '$order' FROM u"), 't', 'they are as COPY gives them');
	like(flows_as('n int, v text', "'$one'", ", order_by => ARRAY['v', 'n']"), qr/^40000\n0\n0\nf\nunpack: 1 of 1 files \(1 zstd\) unpacked to temporary files$/, 'sorted');
};

subtest 'of equal keys the second is at fault, on the line that COPY counts' => sub {
	like(failure("TRUNCATE u; SELECT fast_copy('u', '" . packed('twice.zst', 'zstd', "$shuffled-1,\"a\n\"\n-2,b\n-1,c\n") . "', workers => 2)") =~ s/fast_copy u, file "[^"]*"/COPY u/r,
		qr/no error/, 'no key, no error');
	query('TRUNCATE u; CREATE UNIQUE INDEX ON u (n)');
	like(failure("SELECT fast_copy('u', '$dir/twice.zst', workers => 2)"), qr/23505: duplicate key .*\nDETAIL:  Key \(n\)=\(-1\) already exists\.\nCONTEXT:  fast_copy u, file ".*twice\.zst", line 80003/s, 'a unique index');
};

subtest 'rows of partitions are loaded meanwhile, unless one has a trigger' => sub {
	is(query("CREATE TABLE l (n int, v text) PARTITION BY LIST (v); CREATE TABLE l1 PARTITION OF l DEFAULT; CREATE TRIGGER t BEFORE INSERT ON l1 FOR EACH ROW EXECUTE FUNCTION mark();
		SELECT fast_copy('l', '$one', workers => 2, missing_partitions => 'default'); SELECT count(*) FROM (SELECT n, v || n FROM s EXCEPT ALL TABLE l) x;
		SELECT choice FROM fast_copy_report() WHERE phase = 'unpack'"), "40000\n0\n1 of 1 files (1 zstd) unpacked to temporary files", 'a partition with a trigger');
	is(query("TRUNCATE l; SELECT fast_copy('l', 'zstd -qdc $one', program => true, workers => 2, missing_partitions => 'default'); SELECT count(*) FROM (SELECT n, v || n FROM s EXCEPT ALL TABLE l) x;
		SELECT choice FROM fast_copy_report() WHERE phase = 'receive'"), "40000\n0\n1 program", 'from a program, for whose rows there was a ring');
	is(query("DROP TABLE l; CREATE TABLE l (n int, v text) PARTITION BY HASH (n); CREATE TABLE l1 PARTITION OF l FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE l2 PARTITION OF l FOR VALUES WITH (MODULUS 2, REMAINDER 1);
		SELECT fast_copy('l', '$one', workers => 3); SELECT count(*) FROM (TABLE s EXCEPT ALL TABLE l) x;
		SELECT choice FROM fast_copy_report() WHERE phase = 'unpack'"), "40000\n0\n1 of 1 files (1 zstd) $loaded", 'partitions by hash');
};

subtest 'rows are scanned and loaded before their program has ended' => sub {
	gates($node);
	my $slow = start_load($node, "SELECT fast_copy('k', 'cat $loose; while [ ! -e $dir/go ]; do sleep 0.05; done; cat $loose', program => true,
		where_clause => 'gate(n)', workers => 2, partition_interval => '5000')");
	ok(at_gate($node), 'they are scanned');
	file('go', '');
	open_gate();
	is((finish_load($slow))[0], 80000, 'the rest comes after the end');
	unlink "$dir/go";
	close_gate();
	$slow = start_load($node, "CREATE TABLE gated (n int, v text, CHECK (gate(n)));
		SELECT fast_copy('gated', 'cat $loose; while [ ! -e $dir/go ]; do sleep 0.05; done; cat $loose', program => true, workers => 2)");
	ok(at_gate($node), 'they are loaded');
	file('go', '');
	open_gate();
	is((finish_load($slow))[0], 80000, 'the rest comes after the end');
};

subtest 'an error is told although the program never ends' => sub {
	foreach my $into ('k', 'u')
	{
		my $start = time;

		like(failure("SELECT fast_copy('$into', 'echo x,bad; yes 1,a', program => true, workers => 2, partition_interval => '5000')" =~ s/, partition_interval.*'(?=\))/$into eq 'u' ? '' : $&/er),
			qr/22P02: invalid input syntax for type integer: "x"\nHINT:.*\nCONTEXT:.*line 1, column n/s, "into $into: an error in the first row");
		cmp_ok(time - $start, '<', 30, 'it is told soon');
	}
	is_left_clean('never ends');
	close_gate();
};

subtest 'once all is there its size and the rate are known' => sub {
	query('CREATE TABLE sized (n int, v text, CHECK (gate(n))) PARTITION BY RANGE (n)');
	foreach my $source ("'cat $loose', program => true", "'$one'")
	{
		my $load = start_load($node, "SELECT fast_copy('sized', $source, workers => 2, progress => '1ms', partition_interval => '5000')");

		ok(at_gate($node), 'at the gate');
		is(query('SELECT phase, bytes_total FROM fast_copy_progress'), 'load|' . -s $loose, "the size is known: $source" =~ s/\Q$dir\E//gr);
		open_gate();
		my ($out, $err) = finish_load($load);
		is($out, 40000, 'all of it is loaded');
		is(join(' ', grep { $_ > 100000 } $err =~ /([\d.]+) MB\/s/g), '', 'the rate is credible');
		close_gate();
		query('TRUNCATE sized');
	}
	query('DROP TABLE sized');
};

subtest 'a partition that is attached while the program runs gets its rows' => sub {
	my $connstr = $node->connstr('postgres');
	file('attach.sh', "head -c 1000000 $loose\npsql -Xq -d \"$connstr\" -c 'ALTER TABLE k ATTACH PARTITION late FOR VALUES FROM (5000) TO (15000)' >&2\ntail -c +1000001 $loose\n");
	query("CREATE TABLE few (n int); CREATE FUNCTION looks(int) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS 'BEGIN RETURN \$1 >= 0 OR EXISTS (SELECT FROM few); END'");
	foreach my $workers (0, 2)
	{
		query('CREATE TABLE late (n int, v text)');
		is(flows("'sh $dir/attach.sh'", "workers => 2, program => true, where_clause => 'looks(n)'", "SET max_parallel_workers = $workers;") =~ s/\nreceive.*//sr,
			"40000\n0\n0", "$workers workers");
		is(query('SELECT count(*), min(n), max(n) FROM late; DROP TABLE late'), query('SELECT count(*), min(n), max(n) FROM s WHERE n >= 5000 AND n < 15000'), 'the partition has its rows');
	}
	query('DROP FUNCTION looks; DROP TABLE few');
};

# ---- errors and rejects inside ----------------------------------------------

subtest 'errors in packed files and of programs are COPY\'s' => sub {
	my @wrong = ("1,a\n2,b\nx,c\n", "1,a\n\"2\n", "1,a\n2\n", "1,\"b\nb\"\n2,b,c\n", "1,\xff\n");
	foreach my $i (0 .. $#wrong)
	{
		my $format = $FORMATS[$i];
		my $file = packed("wrong$i", $format, "0,first\n$wrong[$i]3,d\n");
		my $copy = failure("COPY p FROM PROGRAM '$PACK{$format}[1] $file' CSV");

		foreach my $workers (0, 2)
		{
			my $ours = failure("SELECT fast_copy('p', '$file', workers => $workers)") =~ s/^HINT:  (?:If|The record) .*\n//mr;
			is($ours =~ s/fast_copy p, file "[^"]*"/COPY p/r, $copy, "$format: a file, $workers workers");
			$ours = failure("SELECT fast_copy('p', '$PACK{$format}[1] $file', program => true, workers => $workers)") =~ s/^HINT:  (?:If|The record) .*\n//mr;
			is($ours =~ s/fast_copy p, program "[^"]*"/COPY p/r, $copy, "$format: a program, $workers workers");
		}
	}
};

# Rows wait leaf by leaf, so that the second of two bad ones may be met first.  What
# was received before their chunk is not kept.
subtest 'the first bad row is told, whatever its leaf' => sub {
	my $rows = 'seq -f %.0f,some_words_that_are_of_no_interest 1 400000';
	query("CREATE TABLE leaves (n int, v text) PARTITION BY LIST ((n % 2));
		CREATE TABLE even PARTITION OF leaves FOR VALUES IN (0); CREATE TABLE odd PARTITION OF leaves FOR VALUES IN (1)");
	foreach my $parallel ('SAFE', 'UNSAFE')
	{
		foreach my $bad (300000, 300001)
		{
			query("CREATE FUNCTION entry(int) RETURNS int IMMUTABLE PARALLEL $parallel LANGUAGE plpgsql
				AS 'BEGIN IF \$1 IN ($bad, $bad + 1) THEN RAISE ''no %'', \$1; END IF; RETURN \$1; END'; CREATE INDEX ON even (entry(n)); CREATE INDEX ON odd (entry(n))");
			like(failure("SELECT fast_copy('leaves', '$rows', program => true, workers => $_)"),
				qr/P0001: no $bad\n(?:.*\n)*fast_copy leaves, program ".*", line $bad\b/, "row $bad, $_ workers, $parallel") foreach 0, 1, 2;
			query('DROP FUNCTION entry CASCADE');
		}
	}
	query('DROP TABLE leaves');
};

subtest 'rejects have their offsets in the unpacked file' => sub {
	query("SELECT fast_copy_create_reject_table('r')");
	my @rejects = (packed('rej1.gz', 'gzip', "1,a\nx,b\n2,c\n"), file('rej2.csv', "y,d\n"), packed('rej3.zst', 'zstd', "n,v\n"));
	is(query("SELECT fast_copy('p', " . array(@rejects) . ", on_error => 'ignore', reject_table => 'r', workers => $_);
		SELECT filename, lineno, byte_offset, line FROM r ORDER BY 1, 2; TRUNCATE p, r"),
		"2\n$rejects[0]|2|4|x,b\n$rejects[1]|1|0|y,d\n$rejects[2]|1|0|n,v", "$_ workers") foreach 0, 2;
};

# ---- limits and cancels -----------------------------------------------------

subtest 'temp_file_limit and cancels end the unpacking at once' => sub {
	system("head -c 30000000 /dev/zero | gzip -1 >'$dir/bomb'") == 0 or die;
	file('bomb.gz', slurp("$dir/bomb") x 200);
	like(failure("SET temp_file_limit = '20MB'; SELECT fast_copy('p', '$dir/bomb.gz')"), qr/53400: temporary file size exceeds "?temp_file_limit/, 'temp_file_limit');
	is_left_clean('temp_file_limit');
	foreach my $source ("'$dir/bomb.gz'", "ARRAY['$dir/bomb.gz', '$file{gzip}'], workers => 2", "'cat $dir/bomb.gz', program => true", "'cat $dir/bomb.gz; sleep 100', program => true", "'sleep 100', program => true")
	{
		my $start = time;

		like(failure("SET statement_timeout = '300ms'; SELECT fast_copy('p', $source)"), qr/57014: canceling statement due to statement timeout/, "cancelled: $source" =~ s/\Q$dir\E//gr);
		cmp_ok(time - $start, '<', 15, 'at once');
		is_left_clean('cancelled');
	}
	unlink "$dir/bomb.gz";
};

# ---- programs ---------------------------------------------------------------

subtest 'a program is loaded as the file that it prints' => sub {
	is(query("SELECT fast_copy('p', 'cat $plain', program => true); SELECT count(*) FROM (TABLE c EXCEPT ALL TABLE p) x; TRUNCATE p"), "20000\n0", 'a program');
	is(query("SELECT fast_copy('p', 'cat $file{xz}', program => true); SELECT count(*) FROM (TABLE c EXCEPT ALL TABLE p) x; TRUNCATE p"), "20000\n0", 'a program whose output is packed');
	is(query("SELECT fast_copy('p', ARRAY['echo n,v; echo 1,a', 'echo n,v', 'true', '(echo n,v; echo 2,b) | gzip'], program => true, header => 'true'); SELECT string_agg(n || v, ' ' ORDER BY n) FROM p;
		SELECT choice FROM fast_copy_report() WHERE phase IN ('receive', 'split') AND choice !~ '^program'; TRUNCATE p"),
		"2\n1a 2b\n4 programs\n2 chunks of 4 programs", 'several of them, with headers');
	is(query("SELECT fast_copy('p', 'true', program => true); SELECT fast_copy('p', 'echo 1,*', program => true); TRUNCATE p"), "0\n1", 'no pattern, and no output');
	is(query("SELECT item, name, rows FROM fast_copy_analyze('p', 'cat $plain', program => true) WHERE item = 'file'"), "file|cat $plain|20000", 'the analysis runs it');
};

subtest 'a program that fails fails the load, as in COPY' => sub {
	foreach my $command ('echo 1,a; exit 3', 'kill -9 $$', 'kill -13 $$', 'no_such_command_at_all 2>/dev/null', "head -c 100 $file{gzip}; exit 1")
	{
		my $quoted = "'" . $command =~ s/'/''/gr . "'";
		my $copy = failure("COPY p FROM PROGRAM $quoted CSV") =~ s/^CONTEXT.*//mr;

		like($copy, qr/38000: program/, "COPY: $command") unless $command =~ /^head/;
		is(failure("SELECT fast_copy('p', $quoted, program => true)") =~ s/\nHINT:  The server runs it on host .*//r, $copy, "as COPY: $command") unless $command =~ /^head/;
		like(failure("SELECT fast_copy('p', $quoted, program => true)"), qr/38000: program ".*" failed\nDETAIL:  child process exited with exit code 1/, 'a program whose output is cut is told of') if $command =~ /^head/;
		like(failure("SELECT fast_copy('p', 'exit 3', program => true, header => 'map')"), qr/38000: program "exit 3" failed\n/, 'a program that prints no header is told of') if $command =~ /^kill -9/;
	}
	like(failure("SELECT fast_copy('p', 'echo x,a; exit 1', program => true)"), qr/22P02: invalid input syntax for type integer: "x"/, 'a bad row comes before the failure');
	is_left_clean('programs that fail');
};

subtest 'what a program complains of is in the server\'s log' => sub {
	is(query("SELECT fast_copy('p', 'echo complaint >&2; echo 1,a', program => true); TRUNCATE p"), 1, 'loaded');
	like(slurp($node->logfile), qr/^complaint$/m, 'logged');
};

subtest 'the right to run programs is needed, and gives none to read files' => sub {
	query('CREATE ROLE nobody; CREATE ROLE runner; GRANT pg_execute_server_program TO runner; GRANT SELECT, INSERT, TRUNCATE ON p TO nobody, runner; GRANT USAGE ON SCHEMA public TO nobody, runner');
	like(failure("SET ROLE nobody; SELECT fast_copy('p', 'echo 1,a', program => true)"), qr/42501: permission denied to COPY to or from an external program\nDETAIL:  Only roles with privileges of the "pg_execute_server_program" role/, 'a role that may not run programs');
	is(query("SET ROLE runner; SELECT fast_copy('p', 'echo 1,a', program => true); TRUNCATE p"), 1, 'a role that may');
	like(failure("SET ROLE runner; SELECT fast_copy('p', '$plain')"), qr/42501: permission denied to COPY from a file/, 'it may not read files');
};

# ---- from the client, by COPY -----------------------------------------------

# psql's output for commands, with a file as its input
sub client
{
	my ($input, @commands) = @_;
	my ($out, $err);
	my $run = IPC::Run::run([ 'psql', '-X', '-A', '-t', '-q', '-v', 'VERBOSITY=verbose', '-d', $node->connstr('postgres'), map { ('-c', $_) } @commands ],
		'<', $input, '>', \$out, '2>', \$err);

	return join('', map { unsaid(s/^LOCATION.*\n//mgr) } $out, $err) =~ s/\n+$//r;
}

my $with = "WITH (FORMAT csv, fast_copy, workers 2)";

subtest 'files are loaded from the client as bytes, packed or not' => sub {
	foreach my $file ($plain, map { $file{$_} } @FORMATS)
	{
		my $name = $file =~ s{.*/}{}r;
		my $with = $with =~ s/\)/, compressed)/r;

		is(client($file, "COPY p FROM STDIN $with", 'SELECT count(*) FROM (TABLE c EXCEPT ALL TABLE p) x', 'TRUNCATE p'), 0, "COPY FROM STDIN: $name");
		is(client('/dev/null', "\\copy p from '$file' $with", 'SELECT count(*) FROM (TABLE c EXCEPT ALL TABLE p) x', 'TRUNCATE p'), 0, "\\copy: $name");
	}
};

subtest 'packed data that COPY has not asked for are refused' => sub {
	foreach my $format (@FORMATS)
	{
		like(client('/dev/null', "\\copy p from '$file{$format}' $with", 'SELECT 11'),
			qr/^11\n.*22P04: $format data from the client without the option "compressed"\nHINT:  .*"compressed"/s, $format);
	}
	like(client('/dev/null', "\\copy p from '" . file('rows.7z', "7z\xbc\xaf\x27\x1c0004\n") . "' $with"), qr/0A000: cannot load file "stdin": it is in 7z format/, 'what is not loaded at all needs no option');
	is_left_clean('packed data that nobody has asked for');
};

subtest 'COPY from the client keeps its options and its transactions' => sub {
	is(client($plain, "COPY p FROM STDIN $with", 'SELECT count(*) FROM (TABLE c EXCEPT ALL TABLE p) x', 'TRUNCATE p'), 0, 'rows that are not packed need none');
	is(client($plain, 'BEGIN', "COPY p (n, v) FROM STDIN $with WHERE n > 10 AND v LIKE 'x%'", 'SELECT count(*) FROM p', 'ROLLBACK', 'SELECT count(*) FROM p'),
		query("SELECT count(*) FROM c WHERE n > 10 AND v LIKE 'x%'") . "\n0", 'in a transaction, with a condition');
	is(client($plain, 'BEGIN', "COPY p FROM STDIN $with", 'COMMIT', 'SELECT count(*) FROM p', 'TRUNCATE p'), 20000, 'in a transaction of several commands');
	is(client('/dev/null', "\\copy p from program 'zcat $file{gzip}' with (format csv, fast_copy, order_by (v, 'n DESC'))", "SELECT n FROM p LIMIT 1", 'TRUNCATE p'),
		query('SELECT n FROM c ORDER BY v, n DESC LIMIT 1'), '\copy from program, sorted');
	is(client('/dev/null', "COPY p FROM '$file{zstd}' $with", "COPY p FROM PROGRAM 'cat $file{lz4}' $with", 'SELECT count(*) FROM p', 'TRUNCATE p'), 40000, 'COPY of files and programs');
	is(client(file('text', "1\ta\\tb\n2\t\\N\n"), 'COPY p FROM STDIN (fast_copy)', 'SELECT * FROM p ORDER BY 1', 'TRUNCATE p'), "1|a\tb\n2|", 'the text format is the default, as for COPY');
	is(client($plain, "COPY p FROM STDIN (FORMAT csv, fast_copy false)", 'SELECT count(*) FROM p', 'TRUNCATE p'), 20000, 'fast_copy false: COPY itself');
};

subtest 'an error leaves the session usable, and nothing in the table' => sub {
	like(client($plain, "COPY p FROM STDIN (FORMAT csv, fast_copy, colour 'red')", 'SELECT 1'), qr/42601: option "colour" not recognized.*^1$|^1\n.*42601: option "colour" not recognized/ms, 'an unknown option');
	like(client($plain, "COPY p FROM STDIN (FORMAT csv, fast_copy, workers 1, workers 2)", 'SELECT 1'), qr/42601: conflicting or redundant options/, 'an option that is given twice');
	like(client(file('b.csv', "1,a\nx,b\n"), "COPY p FROM STDIN $with", 'SELECT 12'), qr/^12\n.*22P02: invalid input syntax for type integer: "x"\nCONTEXT:  fast_copy p, file "stdin", line 2, column n: "x"/s, 'an error in the data');
	like(client(file('b.gz', substr(slurp($file{gzip}), 0, 9000) . 'x' x 1000000), 'COPY p FROM STDIN ' . $with =~ s/\)/, compressed)/r, 'SELECT 13'), qr/^13\n.*22P04: .*gzip data/s, 'an error in packed data, long before their end');
	like(client('/dev/null', "\\copy p from program 'echo 1,a; exit 1' $with", 'SELECT 14'), qr/14/, 'a program of the client');
	query('TRUNCATE p');
	like(client($plain, "DO 'BEGIN COPY p FROM STDIN $with; END'"), qr/0A000: cannot COPY to\/from client in PL\/pgSQL/, 'not in a function');
	like(client($plain, "SET temp_file_limit = '100kB'", "COPY p FROM STDIN $with", 'SELECT 16'), qr/^16\n.*53400: temporary file size exceeds/s, 'temp_file_limit');
	is_left_clean('from psql');
};

subtest 'INSERT is the privilege that is needed' => sub {
	is(client($plain, 'SET ROLE nobody', "COPY p FROM STDIN $with", 'SELECT count(*) FROM p', 'TRUNCATE p'), 20000, 'INSERT is enough');
	like(client($plain, 'CREATE ROLE poor', 'SET ROLE poor', "COPY p FROM STDIN $with", 'SELECT 15'), qr/^15\n.*42501: permission denied for table p/s, 'without it the load is refused');
};

# ---- from the client, message by message ------------------------------------

# Messages up to one of a type: their types, and errors by SQLSTATE and text
sub until_type
{
	my ($socket, @end) = @_;
	my $seen = '';

	foreach my $message (messages($socket, @end))
	{
		my ($type, $body) = @$message;

		# the line that a load ends with
		next if $type eq 'N' && $body =~ /\0Mfast_copy: \d/;
		$seen .= $type;
		$seen .= "($1 $2)" if $type =~ /[EN]/ && $body =~ /\0C([^\0]*).*?\0M([^\0]*)/s;
		$seen .= '(' . $body =~ s/\0.*//sr . ')' if $type eq 'C';
		$seen .= '(' . unpack('H*', $body) . ')' if $type eq 'G';
	}
	return $seen;
}

sub extended
{
	my ($sql) = @_;

	return ([ 'P', "\0$sql\0\0\0" ], [ 'B', "\0\0" . pack('n3', 0, 0, 0) ], [ 'D', "P\0" ], [ 'E', "\0" . pack('N', 0) ], ['S']);
}

my $call = 'COPY p FROM STDIN (FORMAT csv, fast_copy, compressed, workers 0)';
my $asks = 'G(0100010001)';
my $s = connection($node);

subtest 'the client is told of the data what core tells it' => sub {
	foreach my $what ('p FROM STDIN (', 'p FROM STDIN (FORMAT csv, ', 'p FROM STDIN (FORMAT binary, ', 'p (v) FROM STDIN (', 'p (v, n) FROM STDIN (FORMAT csv, HEADER, ', 'dropped FROM STDIN (FORMAT binary, ')
	{
		query('CREATE TABLE dropped (a int, b int, c int, d int GENERATED ALWAYS AS (a) STORED); ALTER TABLE dropped DROP b') if $what =~ /^dropped/;
		my @said = map {
			say_to($s, [ 'Q', "COPY $what$_\0" ]);
			my $said = until_type($s, 'G', 'Z');
			say_to($s, [ 'f', "no\0" ]);
			until_type($s, 'Z');
			$said
		} 'NULL \'\')' =~ s/NULL ''/$what =~ m{binary} ? 'FREEZE false' : $&/er, 'fast_copy)';

		is($said[1], $said[0], $what);
	}
	say_to($s, [ 'Q', "COPY dropped FROM STDIN (FORMAT csv, HEADER map, fast_copy)\0" ]);
	is(until_type($s, 'G', 'Z'), 'G(00000200000000)', 'the columns of the table, where the header is to say which');
	say_to($s, [ 'd', "c,a\n1,2\n" ], ['c']);
	is(until_type($s, 'Z'), 'C(COPY 1)Z', 'those that the header names are loaded');
};

my $marker = $node->pg_version < 18;

subtest 'the line that psql before 18 ends CSV data with may come in pieces' => sub {
	foreach my $end ("\\.\n", "\\.\r\n")
	{
		my $eol = substr($end, 2);

		foreach my $cut (1 .. length($end) + 3)
		{
			my @messages = map { [ 'd', $_ ] } "1,a${eol}2,b$eol$end" =~ /(.{1,$cut})/sg;

			say_to($s, [ 'Q', "COPY p FROM STDIN (FORMAT csv, fast_copy)\0" ], @messages, ['c']);
			is(until_type($s, 'Z') =~ s/^G\(0000020{8}\)//r, $marker ? 'C(COPY 2)Z' : 'E(22P02 invalid input syntax for type integer: "\.")Z', 'pieces of ' . $cut);
		}
	}
};

subtest 'a line that only looks like the end is data, as in core' => sub {
	foreach my $text ("\\.", "\\.x\n", "\"\\.\n\"\n", "a\n\\.\nb\n", "\\.\n\n", "a\\.\n", "\\.\n\\.\n")
	{
		my @rows = map {
			say_to($s, [ 'Q', "CREATE TEMP TABLE IF NOT EXISTS one (v text)\0" ], [ 'Q', "TRUNCATE one\0" ], [ 'Q', "COPY one FROM STDIN (FORMAT csv$_)\0" ]);
			my $said = join('', map { until_type($s, 'Z') } 1, 2);
			$said = until_type($s, 'G');
			say_to($s, (map { [ 'd', $_ ] } split(//, $text)), ['c']);
			$said = until_type($s, 'Z');
			say_to($s, [ 'Q', "DO 'BEGIN RAISE NOTICE ''%'', (SELECT string_agg(v, ''|'') FROM one); END'\0" ]);
			"$said " . until_type($s, 'Z')
		} '', ', fast_copy';

		# before 18 core drops what follows the first of them
		@rows = map { s/^C\(COPY \d\)//r } @rows, $text =~ s/\n/\\n/gr;
		is($rows[1], $rows[0], $rows[2]) unless $marker && $text =~ /\n\\\.\nb|^\\\.\n\n?\\?/;
	}
	say_to($s, [ 'Q', "TRUNCATE one; COPY one FROM STDIN (FORMAT csv, fast_copy)\0" ], [ 'd', "a\n\\.\nb\n" ], ['c']);
	is(until_type($s, 'Z'), 'C(TRUNCATE TABLE)G(00000100000000)' =~ s/00000000/0000/r . 'C(COPY 3)Z', 'a line of that kind with others after it is a row, as in the newest version');
	say_to($s, [ 'Q', "COPY p FROM STDIN (fast_copy)\0" ], [ 'd', "1\ta\n\\.\nnever looked at\n" ], ['c']);
	is(until_type($s, 'Z') =~ s/^G\([0-9a-f]*\)//r, 'C(COPY 1)Z', 'text after the marker is passed over, as in core');
	say_to($s, [ 'Q', "COPY p FROM STDIN (fast_copy)\0" ], [ 'd', "1\ta\n\\.\n" ], [ 'f', "after all\0" ]);
	is(until_type($s, 'Z') =~ s/^G\([0-9a-f]*\)//r, 'E(57014 COPY from stdin failed: after all)Z', 'the client may still give up after it');
	query('TRUNCATE p');
};

subtest 'the client is asked for bytes, in both protocols' => sub {
	foreach my $file ($plain, $file{gzip}, $file{lz4})
	{
		my $bytes = slurp($file);

		say_to($s, [ 'Q', "$call\0" ]);
		is(until_type($s, 'G', 'Z'), $asks, 'COPY asks');
		say_to($s, (map { [ 'd', $_ ] } $bytes =~ /(.{1,1000})/sg), ['H'], ['S'], [ 'd', '' ], ['c']);
		is(until_type($s, 'Z'), 'C(COPY 20000)Z', 'COPY loads them');
	}
	say_to($s, extended($call));
	is(until_type($s, 'G', 'Z'), "12n$asks", 'in the extended protocol');
	say_to($s, [ 'd', "1,a\n" ], ['c'], ['S']);
	is(until_type($s, 'Z'), 'C(COPY 1)Z', 'they are loaded');
	say_to($s, [ 'Q', "SELECT 1; $call; SELECT 2\0" ]);
	is(until_type($s, 'G', 'Z'), "TDC(SELECT 1)$asks", 'among other commands');
	say_to($s, ['c']);
	is(until_type($s, 'Z'), 'C(COPY 0)TDC(SELECT 1)Z', 'no data at all');
	query('TRUNCATE p');
};

subtest 'what the client has not ended when it gives up is no record, as in core' => sub {
	foreach my $text ('1', "1,a\n2", "1,a\n2,\"b\n", "1,a\n\xc3", "1,a\r2,b\r", "1,a\r\n2\r")
	{
		foreach my $workers (0, 2)
		{
			say_to($s, [ 'Q', "COPY p FROM STDIN (FORMAT csv, fast_copy, workers $workers)\0" ], [ 'd', $text ], [ 'f', "no more\0" ]);
			is(until_type($s, 'Z') =~ s/^G\([0-9a-f]*\)//r, 'E(57014 COPY from stdin failed: no more)Z', "workers $workers: " . ($text =~ s/([^ -~])/sprintf '\x%02x', ord $1/ger));
		}
	}
	say_to($s, [ 'Q', "COPY p FROM STDIN (FORMAT csv, HEADER match, fast_copy)\0" ], [ 'd', 'a' ], [ 'f', "no more\0" ]);
	is(until_type($s, 'Z') =~ s/^G\([0-9a-f]*\)//r, 'E(57014 COPY from stdin failed: no more)Z', 'a header');
};

subtest 'FREEZE is refused before the data are read, as in core' => sub {
	query('CREATE TABLE unfrozen (a int)');
	my @said = map {
		my @sets = ("SET fast_copy.accelerate_copy = $_", 'SET fast_copy.accelerate_min_size = 0');

		say_to($s, (map { [ 'Q', "$_\0" ] } @sets), extended('COPY unfrozen FROM STDIN (HEADER match, FREEZE)'), [ 'd', "wrong\n" ], ['c'], ['S']);
		join('', map { until_type($s, 'Z') } 1 .. 4)
	} 'off', 'on';
	is($said[1], $said[0], 'a Sync ahead of the data is not taken for one among them');
	say_to($s, [ 'Q', "RESET fast_copy.accelerate_copy\0" ]);
	until_type($s, 'Z');
	query('DROP TABLE unfrozen');
};

my %wrong = (
	'the client gives up' => [ 'E(57014 COPY from stdin failed: no more)', [ 'd', "1,a\n" ], [ 'f', "no more\0" ] ],
	'bad data' => [ 'E(22P02 invalid input syntax for type integer: "x")', [ 'd', "x,a\n" ], ['c'] ],
	'cut data' => [ 'E(22P04 unexpected end of the gzip data of file "stdin")', [ 'd', substr(slurp($file{gzip}), 0, 100) ], ['c'] ],
	'corrupt data' => [ 'E(22P04 corrupt zstd data in file "stdin")', (map { [ 'd', "\x28\xb5\x2f\xfd" . 'xxxxxxxx' x 4096 ] } 1 .. 200), ['c'] ]);
foreach my $name (sort keys %wrong)
{
	my ($error, @messages) = @{ $wrong{$name} };

	subtest "$name: the session goes on, in both protocols" => sub {
		say_to($s, [ 'Q', "$call\0" ]);
		until_type($s, 'G');
		say_to($s, @messages);
		is(until_type($s, 'Z'), "${error}Z", 'simple');
		say_to($s, [ 'Q', "SELECT 1\0" ]);
		is(until_type($s, 'Z'), 'TDC(SELECT 1)Z', 'simple: the next command');
		say_to($s, extended($call));
		until_type($s, 'G');
		say_to($s, @messages, ['S']);
		is(until_type($s, 'Z'), "${error}Z", 'extended');
		say_to($s, extended('SELECT 1'));
		is(until_type($s, 'Z'), '12TDC(SELECT 1)Z', 'extended: the next command');
	};
}

subtest 'a cancel is heard although the client says nothing' => sub {
	say_to($s, [ 'Q', "$call\0" ]);
	until_type($s, 'G');
	say_to($s, [ 'd', "1,a\n" ]);
	my $waits = "FROM pg_stat_activity WHERE query LIKE 'COPY p FROM STDIN%' AND wait_event = 'ClientRead' AND state = 'active'";
	ok(wait_until($node, "SELECT count(*) = 1 $waits"), 'waits for the client');
	is(query('SELECT phase, bytes_total FROM fast_copy_progress'), 'receive|0', 'progress tells');
	query("SELECT pg_cancel_backend(pid) $waits");
	is(until_type($s, 'Z'), 'E(57014 canceling statement due to user request)Z', 'cancelled');
	say_to($s, [ 'd', "2,a\n" ], ['c'], [ 'Q', "SELECT 1\0" ]);
	is(until_type($s, 'Z'), 'TDC(SELECT 1)Z', 'what came later is passed over');
};

subtest 'a client that disappears leaves nothing' => sub {
	say_to($s, [ 'Q', "$call\0" ]);
	until_type($s, 'G');
	say_to($s, [ 'd', "1,a\n" ]);
	close $s;
	ok(wait_until($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE query LIKE 'COPY p FROM STDIN%'"), 'the client has gone');
	like(slurp($node->logfile), qr/unexpected EOF on client connection with an open transaction/, 'logged as for COPY');
	is_left_clean('message by message');
};

# ---- files that change ------------------------------------------------------

subtest 'a packed file that goes while it is loaded is loaded' => sub {
	my $packed = slurp($file{gzip});
	my %change = (
		'written anew' => sub { write_bytes($file{gzip} =~ s{^\Q$dir\E/}{}r, $packed) },
		'removed' => sub { unlink($file{gzip}) });

	foreach my $name (sort keys %change)
	{
		foreach my $source ("'$file{gzip}'", array($file{gzip}, $plain))
		{
			query('DROP TABLE IF EXISTS t; CREATE TABLE t (n int, v text, CHECK (gate(n)))');
			close_gate();
			my $load = start_load($node, "SELECT fast_copy('t', $source, workers => 0);\n");
			ok(at_gate($node), 'at the gate');
			$change{$name}->();
			open_gate();
			my ($out, $err) = finish_load($load);
			is($err =~ s/^.*NOTICE.*\n//r, '', "$name: no error");
			is($out, query('SELECT count(*) FROM t'), "$name: loaded");
			write_bytes($file{gzip} =~ s{^\Q$dir\E/}{}r, $packed);
		}
	}
};

$node->stop;
done_testing();
