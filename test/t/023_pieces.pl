# Packed files of many members: several processes unpack one file.  The real
# tools pack the files; the same files unpacked by one process, in one piece, say
# what must come of them, and COPY FROM PROGRAM with the tool says it, too.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Digest::MD5 qw(md5_hex);
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

# How to pack members one by one, the tool that packs in many, and how to unpack
my %PACK = (
	gzip => [ 'gzip -nc', 'bgzip -c', 'zcat' ],
	zstd => [ 'zstd -qc', 'pzstd -qc -p 4', 'zstd -qdc' ],
	lz4 => [ 'lz4 -qc', undef, 'lz4 -qdc' ],
	bzip2 => [ 'bzip2 -c', 'pbzip2 -c -b1 -p2', 'bzcat' ],
	xz => [ 'xz -0 -c', 'xz -0 -c --block-size=30000', 'xzcat' ]);
my @FORMATS = sort keys %PACK;

my $node = new_node('main', {}, "session_preload_libraries = 'fast_copy'");
my $dir = FastCopy::directory();

sub tool
{
	my ($tool, $bytes) = @_;
	my $plain = write_bytes('to_pack', $bytes);
	my $packed = `$tool <'$plain'`;

	die "$tool: $?" if $? || $packed eq '';
	return $packed;
}

# The same bytes are packed once.
my %packed;
sub pack_bytes { return $packed{ $_[0] }{ $_[1] } //= tool($PACK{ $_[0] }[0], $_[1]) }

# Members of so many plain bytes, wherever that cuts
sub members
{
	my ($format, $bytes, $size) = @_;

	return join('', map { pack_bytes($format, $_) } $bytes =~ /(.{1,$size})/sg);
}

# Rows, or the error as "SQLSTATE: text", of statements
sub outcome
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '120s';\n\\set VERBOSITY verbose\n$sql");

	# two outcomes are compared often, and that of a dead server is none
	die $err if $rc == 2;
	return $rc == 0 ? $out : join("\n", grep { !/^LOCATION/ } split(/\n/, $err));
}

# What comes of a load into a table with or without a key: how many rows, and
# which; in the order that they have in the table, where that is the file's
my %INTO = (
	heap => [ 'n int, v text', '', 'ORDER BY ctid' ],
	heap_of_files => [ 'n int, v text', '', 'ORDER BY n, v' ],
	turns => [ 'n int, v text, PRIMARY KEY (n, v)', '', 'ORDER BY ctid' ],
	parts => [ 'n int, v text) PARTITION BY RANGE (n', ", partition_interval => '5000'", 'ORDER BY n, v' ],
	sorted => [ 'n int, v text', ", order_by => ARRAY['v', 'n']", 'ORDER BY n, v' ]);

sub loads
{
	my ($into, $source, $args, $settings) = @_;
	my ($columns, $more, $order) = @{ $INTO{$into} };

	return outcome("DROP TABLE IF EXISTS t; CREATE TABLE t ($columns); " . ($settings // '') . "
		SELECT fast_copy('t', $source, $args$more);
		SELECT md5(string_agg(n || v, ' ' $order)) FROM t") =~ s/^NOTICE.*\n//mgr;
}

# In one piece, by the leader
sub one_process { my ($into, $file, $args) = @_; return loads($into, "'$file'", 'workers => 0' . ($args // ''), 'SET fast_copy.chunk_size = 1000000000;') }

# In pieces of about so many bytes
sub pieces { my ($into, $file, $workers, $step, $args) = @_; return loads($into, "'$file'", "workers => $workers" . ($args // ''), "SET fast_copy.chunk_size = '${step}B';") }

sub is_same
{
	my ($file, $what, @steps) = @_;
	my $one = one_process('heap', $file);

	is(pieces('heap', $file, 3, $_), $one, "$what, steps of $_") foreach @steps;
	return $one;
}

# What comes of the rows where they stand in the order of the file
sub in_order
{
	my @rows = $_[0] =~ /(\d+,"(?:[^"]|"")*")\n/g;

	return @rows . "\n" . md5_hex(join(' ', map { s/,"(.*)"\z/$1/sr =~ s/""/"/gr } @rows));
}

sub is_left_clean
{
	my ($what) = @_;

	is(join(' ', spill_files($node)), '', "$what: no temporary file");
}

# Rows in no order, many of them over several lines
my $rows = join('', map { my $n = $_ * 7919 % 10007; sprintf "%d,\"%s\nof \"\"%d\"\",\n\"\n", $n, 'y' x ($n % 40), $n } 1 .. 10000);
my $short = substr($rows, 0, index($rows, "\"\n", 20000) + 2);
my %file = map { $_ => write_bytes("members.$_", members($_, $short, 301)) } @FORMATS;
my %many = map { $_ => write_bytes("tool.$_", $PACK{$_}[1] ? tool($PACK{$_}[1], $rows) : members($_, $rows, 20011)) } @FORMATS;

# ---- the bytes are those of the file -----------------------------------------

foreach my $format (@FORMATS)
{
	subtest "$format: rows cross borders, and all are loaded, whoever unpacks which" => sub {
		foreach my $file ($file{$format}, $many{$format})
		{
			my $in_order = in_order($file eq $file{$format} ? $short : $rows);

			foreach my $into ('heap_of_files', 'parts', 'sorted')
			{
				my $copy = outcome("DROP TABLE IF EXISTS t; CREATE TABLE t (n int, v text); COPY t FROM PROGRAM '$PACK{$format}[2] <$file' CSV;
					SELECT count(*) FROM t; SELECT md5(string_agg(n || v, ' ' $INTO{$into}[2])) FROM t");

				is(one_process($into, $file), $copy, "$into: one process");
				foreach my $workers (0, 2, 4)
				{
					is(pieces($into, $file, $workers, $_), $copy, "$into: $workers workers, steps of $_") foreach $into eq 'parts' && $workers > 0 ? (1, 300) : 300;
				}
			}
			foreach my $into ('heap', 'turns')
			{
				is(pieces($into, $file, $_, 300), $in_order, "$into: in the order of the file, $_ workers") foreach 0, 2, 4;
			}
		}
	};
}

subtest 'records are read from where they are, by each method' => sub {
	my $one = one_process('parts', $many{gzip});

	foreach my $method (qw(io_uring sync))
	{
		foreach my $spill (qw(rows offsets))
		{
			foreach my $memory ('1MB', '256MB')
			{
				is(loads('parts', "'$many{gzip}'", 'workers => 3', "SET fast_copy.chunk_size = '2kB'; SET fast_copy.io_method = $method; SET fast_copy.spill = $spill; SET fast_copy.memory = '$memory';"),
					$one, "$method, $spill, $memory");
			}
		}
	}
};

subtest 'the turn of a large member comes while it is unpacked' => sub {
	my $text = $rows x 20;
	my @text = (substr($text, 0, 3000011), substr($text, 3000011, 5000000), substr($text, 8000011));

	foreach my $format ('gzip', 'lz4')
	{
		my $file = write_bytes("turn.$format", join('', map { pack_bytes($format, $_) } @text));

		foreach my $into ('heap', 'parts')
		{
			my $one = one_process($into, $file);

			is(pieces($into, $file, $_, 1000000), $one, "$into of $format, $_ workers") foreach 2, 4;
		}
	}
};

subtest 'several files of many members, and some of one' => sub {
	my @files = ($many{gzip}, $file{zstd}, $many{xz}, write_bytes('one.bz2', pack_bytes('bzip2', $short)));
	my $source = 'ARRAY[' . join(', ', map { "'$_'" } @files) . ']';

	foreach my $into ('heap_of_files', 'parts', 'turns')
	{
		my $one = loads($into, $source, 'workers => 0', 'SET fast_copy.chunk_size = 1000000000;');

		if ($into ne 'turns') { is(loads($into, $source, "workers => $_", "SET fast_copy.chunk_size = '500B';"), $one, "$into: $_ workers") foreach 2, 3, 5, 8 }
		else { like($one, qr/23505: duplicate key/, 'the files have the same rows') }
	}
};

subtest 'headers, markers and line ends may stand anywhere' => sub {
	foreach my $size (1, 7, 40)
	{
		my $header = "n,\"v" . ' ' x 50 . "\"\n" . substr($rows, 0, 1500) =~ s/.*\n"\n\K.*//sr;
		my $text = join('', map { "$_\trow\\\nof $_\n" } 1 .. 50) . "\\.\n" . join('', map { "$_\tafter\n" } 1 .. 20);

		foreach my $format ('gzip', 'lz4')
		{
			is_same(write_bytes("header$size.$format", members($format, $header, $size)), "$format: a header", 30, 90);
			foreach my $more (", header => 'true'", ", format => 'text'")
			{
				my $file = write_bytes("more$size.$format", members($format, $more =~ /text/ ? $text : $header, $size));
				my $one = one_process('heap', $file, $more);

				is(pieces('heap', $file, 3, $_, $more), $one, "$format$more, members of $size, steps of $_") foreach 1, 60, 300;
			}
		}
	}
};

subtest 'a binary file is found its records in by one process' => sub {
	my $bytes = outcome("COPY (SELECT g, repeat('b', g % 50) FROM generate_series(1, 3000) g) TO '$dir/bin' (FORMAT binary)");
	my $file = write_bytes('bin.gz', members('gzip', slurp_file("$dir/bin"), 999));

	foreach my $into ('heap', 'parts', 'sorted')
	{
		is(pieces($into, $file, $_, 100, ", format => 'binary'"), one_process($into, $file, ", format => 'binary'"), "$into: $_ workers") foreach 0, 2, 4;
	}
};

# ---- what is wrong with a file is told as by one process ---------------------

foreach my $format (@FORMATS)
{
	subtest "$format: cut or changed anywhere" => sub {
		my $whole = members($format, substr($short, 0, 3000), 500);
		my $length = length $whole;
		my $loaded = 0;

		foreach my $i (0 .. 7)
		{
			my $at = int($length * ($i + 0.3) / 8);
			my $bad = $whole;

			is_same(write_bytes('cut', substr($whole, 0, $at)), "cut at $at", 60);
			substr($bad, $at, 1) ^= chr(1 << $i);
			$loaded += is_same(write_bytes('bad', $bad), "changed at $at", 60) !~ /ERROR/;
		}
		cmp_ok($loaded, '<', 8, 'most changes are found');
		is_left_clean('cut or changed');
	};

	subtest "$format: what stands between members, or after them" => sub {
		my @m = map { pack_bytes($format, $_) } "1,a\n2,\"b\n", "c\"\n3,d\n", "4,e\n", '';
		my %odd = (
			'empty members' => join('', @m[3, 0, 3, 3, 1, 3, 2, 3]),
			'only empty members' => join('', @m[3, 3, 3]),
			'garbage after' => join('', @m[0, 1, 2]) . 'garbage',
			'garbage between' => "$m[0]$m[1]garbage$m[2]",
			'zeros after' => join('', @m[0, 1, 2]) . "\0" x 400,
			'few zeros after' => join('', @m[0, 1, 2]) . "\0" x 3,
			'zeros between' => "$m[0]$m[1]" . "\0" x 400 . $m[2],
			'another format between' => $m[0] . $m[1] . pack_bytes($format eq 'gzip' ? 'zstd' : 'gzip', "9,x\n") . $m[2],
			'another format after' => $m[0] . $m[1] . pack_bytes($format eq 'lz4' ? 'zstd' : 'lz4', "9,x\n"));

		is_same(write_bytes('odd', $odd{$_}), $_, 1, 60) foreach sort keys %odd;
	};
}

# Data that hold what looks like members, and are none: nothing of it is loaded
subtest 'what only looks like a border is none' => sub {
	my @false = map { pack_bytes('gzip', "666,false $_\n" x 20) } 1 .. 20;
	my $true = join('', map { "$_,true\n" } 1 .. 40);
	my $extra = join('', @false);
	my $gz = pack_bytes('gzip', $true);

	substr($gz, 3, 1) = "\4";
	substr($gz, 10, 0) = pack('v', length $extra) . $extra;
	my $one = is_same(write_bytes('false.gz', $gz . pack_bytes('gzip', "41,true\n") . $gz), 'gzip', 40, 100, 333);
	like($one, qr/^81\n/, 'the rows are those of the true members');
	foreach my $format ('zstd', 'lz4')
	{
		my $false = join('', map { pack_bytes($format, "666,false $_\n" x 20) } 1 .. 20);
		my $skip = "\x50\x2a\x4d\x18" . pack('V', length $false) . $false;

		$one = is_same(write_bytes("false.$format", pack_bytes($format, $true) . $skip . pack_bytes($format, "41,true\n") . $skip . $skip), $format, 40, 100, 333);
		like($one, qr/^41\n/, 'the rows are those of the true members');
	}
	my $stored = tool('gzip -nc', $true);
	is_same(write_bytes('cut_border.gz', $gz . substr($gz, 0, 9)), 'a border at the end that is cut', 40, 100);
};

subtest 'a wrong guess ends when its turn comes, and a file after a bad one at once' => sub {
	my $giant = `head -c 2000000000 /dev/zero | zstd -1 -qc`;
	my $few = write_bytes('few.zst', pack_bytes('zstd', "2,\"b\"\n"));
	my $limit = "SET fast_copy.chunk_size = '300B'; SET temp_file_limit = '1GB';";
	my $guess = "'" . write_bytes('guess.zst', pack_bytes('zstd', $short) . "\x50\x2a\x4d\x18" . pack('V', length $giant) . $giant . pack_bytes('zstd', "1,\"a\"\n")) . "', '$few'";
	my $bad = write_bytes('bad.zst', substr(pack_bytes('zstd', $short), 0, 500) . 'garbage');
	my $after = "'$bad', '" . write_bytes('after.zst', $giant) . "'";

	is(loads('heap_of_files', "ARRAY[$guess]", 'workers => 1', $limit), loads('heap_of_files', "ARRAY[$guess]", 'workers => 0', 'SET fast_copy.chunk_size = 1000000000;'), 'a wrong guess');
	like(loads('heap_of_files', "ARRAY[$after]", "workers => $_", $limit), qr/22P04: .*file ".*bad\.zst"/, "$_ workers: the error is that of the first file") foreach 2, 4;
};

subtest 'of a file that is cut and has bad data the file is told' => sub {
	my $bad = members('gzip', "x,bad\n$short", 301);

	like(pieces($_, write_bytes('both.gz', substr($bad, 0, -9)), 2, 300), qr/22P04: unexpected end of the gzip data/, $_) foreach 'heap', 'parts', 'turns';
	like(pieces($_, write_bytes('both.gz', $bad), 2, 300), qr/22P02: invalid input syntax.*line 1, column n/s, "$_: bad data only") foreach 'heap', 'parts', 'turns';
	my $file = write_bytes('line.gz', members('gzip', "$short-1,\"a\n\"\nx,b\n", 301));
	my $copy = outcome("COPY t FROM PROGRAM 'zcat $file' CSV") =~ s/.*(line \d+).*/$1/sr;
	like(pieces($_, $file, 3, 300), qr/ $copy,/, "$_: the line is that of the unpacked file") foreach 'heap', 'parts', 'turns';
};

subtest 'the first bad file in the order of the load is told' => sub {
	my @bad = map { my $b = members('gzip', $short, 301); substr($b, 3000, 1) ^= "\xff" if $_ != 1; write_bytes("many$_.gz", $b) } 1 .. 4;
	my $source = 'ARRAY[' . join(', ', map { "'$_'" } @bad) . ']';

	foreach my $workers (2, 5, 8)
	{
		like(loads('parts', $source, "workers => $workers", "SET fast_copy.chunk_size = '500B';"), qr/file ".*many2\.gz"/, "$workers workers");
	}
};

# ---- bounds -----------------------------------------------------------------

subtest 'a hundred thousand members without a byte are passed over' => sub {
	my $empty = pack_bytes('gzip', '');
	my $file = write_bytes('empty.gz', pack_bytes('gzip', "1,a\n") . $empty x 100000 . pack_bytes('gzip', "2,b\n"));

	is(one_process('heap', $file), loads('heap', "'$file'", 'workers => 3', "SET fast_copy.chunk_size = '1B'; SET fast_copy.memory = '1MB';"), 'in little memory');
	like(outcome("SET statement_timeout = '30ms'; SELECT fast_copy('t', '" . write_bytes('empties.gz', $empty x 1000000) . "', workers => 2)"), qr/57014: canceling statement/, 'a cancel is heard');
};

subtest 'a window that is too large is told of, wherever it is' => sub {
	my $frame = "\x28\xb5\x2f\xfd\x00\xa0" . "\x01\0\0";
	my $file = write_bytes('window.zst', members('zstd', $short, 2000) . $frame);

	like(loads('heap', "'$file'", "workers => $_", "SET fast_copy.memory = '64MB'; SET fast_copy.chunk_size = '300B';"),
		qr/54000: zstd data of file ".*window\.zst" need more memory than fast_copy\.memory/, "$_ workers") foreach 0, 2, 4;
	$file = write_bytes('wide.zst', join('', map { tool('zstd -qc --long=25', $_) } $rows, $rows));
	my $one = one_process('heap', $file);
	is(loads('heap', "'$file'", 'workers => 4', "SET fast_copy.memory = '$_'; SET fast_copy.chunk_size = '5kB';"), $one, "one that only a process alone may have, of $_") foreach '40MB', '140MB';
};

subtest 'an archive is refused whatever its first member has' => sub {
	write_bytes('few.csv', substr($short, 0, 1000));
	system("cd '$dir' && tar -cf rows.tar few.csv") == 0 or die;
	my $tar = members('gzip', slurp_file("$dir/rows.tar"), 100);

	like(pieces('heap', write_bytes('rows.tgz', $tar), $_, 50), qr/0A000: cannot load file ".*rows\.tgz": it is in tar format/, "$_ workers") foreach 0, 2;
};

# ---- several processes do it --------------------------------------------------

subtest 'the report tells how many processes have unpacked' => sub {
	my $large = $rows x 30;
	my $many = write_bytes('large.bz2', tool('pbzip2 -c -b1 -p2', $large));
	my $one = write_bytes('large1.bz2', pack_bytes('bzip2', $large));

	foreach my $into ('parts', 'heap', 'sorted')
	{
		my ($columns, $more) = @{ $INTO{$into} };

		foreach ([ $many, 2 ], [ $one, 1 ])
		{
			my ($file, $processes) = @$_;

			is(outcome("DROP TABLE t; CREATE TABLE t ($columns); SELECT fast_copy('t', '$file', workers => 2$more);
				SELECT processes, bytes, spill_bytes FROM fast_copy_report() WHERE phase = 'unpack'"),
				"300000\n$processes|" . (-s $file) . '|' . length($large), "$into: $processes");
		}
	}
};

subtest 'a file that is written to meanwhile is an error' => sub {
	gates($node);
	outcome('DROP TABLE t; CREATE TABLE t (n int, v text, CHECK (gate(n)))');
	my $load = start_load($node, "SET fast_copy.chunk_size = '500B'; SELECT fast_copy('t', '$many{gzip}', workers => 2);\n");
	ok(at_gate($node), 'at the gate');
	write_bytes('tool.gzip', 'other bytes');
	open_gate();
	my ($out, $err) = finish_load($load);
	like($err, qr/ERROR:  file ".*tool\.gzip" changed while it was being loaded/, 'the error names it');
	is_left_clean('changed');
};

$node->stop;
done_testing();
