# Many files as one load: their order, names and headers, and what is told of
# them; more than a thousand of them with few descriptors.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use IPC::Run;
use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {}, 'max_files_per_process = 64', "timezone = 'UTC'");
my $dir = PostgreSQL::Test::Utils::tempdir();

chmod 0755, $dir;

# A file in a directory of its own test, which is made.
sub file
{
	my ($name, $bytes) = @_;
	my $path = "$dir/$name";

	if ($name =~ m{^(.*)/} && !-d "$dir/$1")
	{
		mkdir "$dir/$1" or die "$dir/$1: $!";
		chmod 0755, "$dir/$1";
	}
	open(my $out, '>:raw', $path) or die "$path: $!";
	print $out $bytes;
	close $out;
	chmod 0644, $path;
	return $path;
}

sub array { return 'ARRAY[' . join(', ', map { "'$_'" } @_) . ']' }

sub query { return $node->safe_psql('postgres', $_[0]) }

# The error of a statement with its SQLSTATE, DETAIL, HINT and CONTEXT.
sub failure
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql");

	return $rc == 0 ? "no error: $out" : $err;
}

# What fast_copy loads at once is what COPY loads file by file, in the same order.
sub agrees
{
	my ($what, $files, $source, $columns, $with, $options, $sets) = @_;

	query("DROP TABLE IF EXISTS c, f; CREATE TABLE c ($columns, id serial);
		CREATE TABLE f ($columns, id serial); " . join('', map { "COPY c (" . names($columns) . ") FROM '$_' WITH (FORMAT csv$with);" } @$files));
	my @workers = (0, 1, 2, 4);
	my $out = query("$sets;" . join('', map {
		"TRUNCATE f RESTART IDENTITY; SELECT set_config('x.n', fast_copy('f', $source, "
		  . ($options =~ /'map'/ ? '' : "columns => '{" . names($columns) . "}', ") . "workers => $_$options)::text, false) \\gset
		SELECT current_setting('x.n') = (SELECT count(*) FROM c)::text,
		(SELECT count(*) FROM (TABLE c EXCEPT ALL TABLE f) x), (SELECT count(*) FROM (TABLE f EXCEPT ALL TABLE c) x);"
	} @workers));
	my @agrees = split /\n/, $out;
	is($agrees[$_], 't|0|0', "$what: $workers[$_] workers") foreach 0 .. $#workers;
}

sub names { return join(', ', $_[0] =~ /(\w+) \w+(?:,|$)/g) }

# ---- names and their order ---------------------------------------------------

query('CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY RANGE (ts); CREATE TABLE p (n int, v text)');
my @order = map { file("order/$_->[0]", "$_->[1],$_->[0]\n") } [ 'B.csv', 1 ], [ '_.csv', 2 ], [ 'a.csv', 3 ], [ 'b.csv', 4 ], [ 'b10.csv', 5 ], [ 'b9.csv', 6 ];

subtest 'patterns and arrays name files in an order of their own' => sub {
	file('order/.hidden.csv', "7,hidden\n");
	file('order/other.txt', "8,other\n");
	agrees('byte order', \@order, "'$dir/order/*.csv'", 'n int, v text', '', '', '');
	agrees('order of the array', [ @order[ 4, 5, 1, 0, 2 ] ], array("$dir/order/b?*.csv", $order[1], "$dir/order/[Ba].csv"), 'n int, v text', '', '', '');
	file("deeper_$_/x.csv", "$_,$_\n") foreach 1 .. 3;
	agrees('a pattern for directories', [ "$dir/deeper_1/x.csv", "$dir/deeper_3/x.csv" ], "'$dir/deeper_[13]/x.c*'", 'n int, v text', '', '', '');
	agrees('a name behind a pattern', [ map { "$dir/deeper_$_/x.csv" } 1 .. 3 ], "'$dir/deeper_*/x.csv'", 'n int, v text', '', '', '');
	file('odd/a[1].csv', "1,one\n");
	file('odd/b*.csv', "3,three\n");
	agrees('a file whose name is a pattern that no other one matches', ["$dir/odd/a[1].csv"], "'$dir/odd/a[1].csv'", 'n int, v text', '', '', '');
	agrees('a pattern that this file alone matches, which has its name', ["$dir/odd/b*.csv"], "'$dir/odd/b*.csv'", 'n int, v text', '', '', '');
	file('odd/a1.csv', "2,two\n");
	agrees('a file whose name is a pattern, by brackets', [ "$dir/odd/a[1].csv", "$dir/odd/b*.csv" ], array("$dir/odd/a[[]1].csv", "$dir/odd/b[*].csv"), 'n int, v text', '', '', '');
	agrees('a pattern that no file has for its name', ["$dir/odd/a1.csv"], "'$dir/odd/a[1-1].csv'", 'n int, v text', '', '', '');
	agrees('a backslash', ["$dir/odd/b*.csv", "$dir/odd/a1.csv"], array("$dir/odd/b\\*.cs?", "$dir/odd/a1.csv"), 'n int, v text', '', '', '');
};

# A name of a file may be any bytes: what tells it is text, for each client.
subtest 'names that are no text' => sub {
	file("bytes/a.csv", "1,one\n");
	file("bytes/b\xff\xc3\xa4\xc3.csv", "2,two\nx,three\n");
	my $shown = quotemeta("$dir/bytes/b") . '\\\\xff' . "\xc3\xa4" . '\\\\xc3\.csv';

	query("CREATE TABLE texts (n int, v text); SELECT fast_copy_create_reject_table('texts_bad')");
	foreach my $encoding (qw(UTF8 LATIN1 SQL_ASCII))
	{
		my $name = $encoding eq 'LATIN1' ? $shown =~ s/\xc3\xa4/\xe4/r : $shown;
		like(failure("SET client_encoding = $encoding; SELECT fast_copy('texts', '$dir/bytes/*.csv')"), qr/22P02: .*CONTEXT:  .*$name", line 2/s, "an error, $encoding");
		like(($node->psql('postgres', "\\set SHOW_CONTEXT always\nSET client_encoding = $encoding; SELECT fast_copy('texts', '$dir/bytes/*.csv', on_error => 'ignore', options => '{\"log_verbosity\": \"verbose\"}', reject_table => 'texts_bad')"))[2], qr/NOTICE:.*$name/s, "a notice, $encoding");
	}
	like(query("SELECT DISTINCT filename FROM texts_bad"), qr/^$shown$/, 'rejects have it as text');
	is(query("SELECT count(*) FROM fast_copy_analyze('texts', '$dir/bytes/*.csv', on_error => 'ignore') WHERE detail ~ 'xff' OR name ~ 'xff'") > 0, 1, 'an analysis');
	like(query("SELECT fast_copy_sniff('$dir/bytes/*.csv')"), qr/CREATE TABLE/, 'a guess');
	is(query("SELECT fast_copy('texts', '$dir/bytes/*.csv', on_error => 'ignore', workers => 2)"), 2, 'it is loaded');
	mkdir "$dir/bytes/d\xff" or die;
	chmod 0, "$dir/bytes/d\xff";
  SKIP:
	{
		skip 'the server can read all directories', 1 if -r "$dir/bytes/d\xff";
		like(failure("SET client_encoding = LATIN1; SELECT fast_copy('texts', '$dir/bytes/*/x*')"), qr/42501: could not open directory ".*d\\xff/, 'a directory');
	}
};

# Who can make files in a directory must not choose which of the others are loaded.
subtest 'a name that is a file and a pattern of others is refused' => sub {
	foreach my $case ([ 'a[1].csv', 'a[[]1].csv' ], [ '*', '[*]' ], [ '*/x', '[*]/x' ], [ 'a?.csv', 'a[?].csv' ])
	{
		my ($name, $literally) = @$case;

		file("both/$_", "1,one\n") foreach 'a1.csv', 'b/x', $name;
		foreach my $call ("fast_copy('p', '$dir/both/$name')", "fast_copy('p', ARRAY['$dir/order/a.csv', '$dir/both/$name'])",
			"fast_copy_sniff('$dir/both/$name')", "fast_copy_analyze('p', '$dir/both/$name')")
		{
			like(failure("SELECT $call"), qr/ERROR:  22023: "\Q$dir\E\/both\/\Q$name\E" may mean the files that match, or the one of this name\nHINT:.*"\Q$dir\E\/both\/\Q$literally\E" is the one/, $call);
		}
		like(failure("LOAD 'fast_copy'; COPY p FROM '$dir/both/$name' (fast_copy, FORMAT csv)"), qr/22023: "\Q$dir\E\/both\/\Q$name\E" may mean/, "COPY of $name");
		is(query("SELECT fast_copy('p', '$dir/both/$literally')"), 1, "$literally is the file");
		query("SET fast_copy.accelerate_copy = on; COPY p FROM '$dir/both/$name' (FORMAT csv)");
		is(query('SELECT count(*) FROM p'), 2, "a COPY without the option knows no patterns");
		unlink "$dir/both/$name";
		query('TRUNCATE p');
	}
};

subtest 'names that match nothing, or a file twice, are refused' => sub {
	like(failure("SELECT fast_copy('p', '$dir/nothing*.csv')"), qr/ERROR:  58P01: no file matches ".*nothing\*\.csv"\nHINT/, 'nothing matches');
	like(failure("SELECT fast_copy('p', " . array($order[0], "$dir/nothing*") . ')'), qr/58P01: no file matches ".*nothing\*"/, 'one of several matches nothing');
	like(failure("SELECT fast_copy('p', " . array($order[0], "$dir/nothing.csv") . ')'), qr/58P01: could not open file ".*nothing\.csv" for reading: No such file/, 'a file is missing');
	like(failure("SELECT fast_copy('p', '$dir/nowhere/*')"), qr/58P01: could not open directory ".*nowhere\/"/, 'no such directory');
	like(failure("SELECT fast_copy('p', '{}'::text[])"), qr/22023: argument "source" must not be empty/, 'an empty array');
	like(failure("SELECT fast_copy('p', ARRAY['$order[0]', NULL])"), qr/22004: argument "source" must not contain nulls/, 'a null in the array');
	like(failure("SELECT fast_copy('p', NULL::text[])"), qr/22004: argument "source" must not be null/, 'a null array');
	like(failure("SELECT fast_copy('p', " . array("$dir/order/*.csv", $order[2]) . ')'),
		qr/22023: file ".*order\/a\.csv" is named more than once\nDETAIL:  ".*order\/a\.csv" is the same file\.\nHINT/, 'a file twice');
	symlink($order[2], "$dir/linked.csv") or die;
	like(failure("SELECT fast_copy('p', " . array($order[2], "$dir/linked.csv") . ')'), qr/file ".*linked\.csv" is named more than once/, 'a file and a link to it');
	file('withdir/a.csv', "1,a\n");
	mkdir "$dir/withdir/sub";
	like(failure("SELECT fast_copy('p', '$dir/withdir/*')"), qr/42809: ".*withdir\/sub" is a directory/, 'a directory matches');
	is(query('SELECT count(*) FROM p'), 0, 'nothing was loaded');
	is(query("DELETE FROM p; SELECT fast_copy(target => 'p', source => ARRAY['$order[0]'])"), 1, 'an array of one, by name');
};

# ---- headers and line ends --------------------------------------------------

my $lf = file('head/1.csv', "n,v\n1,one\n2,\"two\nlines\"\n");
my $crlf = file('head/2.csv', "n,v\r\n3,three\r\n4,\"four\r\nlines\"");
my $empty = file('head/3.csv', "n,v\n");
my $cr = file('head/4.csv', "n,v\r5,five\r6,\"six\nlines\"\r");
my @head = ($lf, $crlf, $empty, $cr);
my $bad = file('badhead.csv', "n,w\n7,seven\n");

subtest 'headers and line ends are those of each file' => sub {
	foreach my $chunk ('1B', '7B', '1MB')
	{
		agrees("chunks of $chunk", \@head, "'$dir/head/*.csv'", 'n int, v text', ', HEADER true',
			", header => '$_'", "SET fast_copy.chunk_size = '$chunk'") foreach qw(true match map);
	}
};

subtest 'headers must name the same columns' => sub {
	like(failure("SELECT fast_copy('p', " . array($lf, $bad) . ", header => 'match')"),
		qr/42P16|22P04: column name mismatch in header line field 2: got "w", expected "v"\n.*CONTEXT:  fast_copy p, file ".*badhead\.csv", line 1/s,
		'a header that does not match');
	like(failure("SELECT fast_copy('p', " . array($lf, $bad) . ", header => 'map')"),
		qr/column "w" of the file is not a column.*CONTEXT:  fast_copy p, file ".*badhead\.csv", line 1/s, 'a column that the table has not');
	my $turned = file('turned.csv', "v,n\nseven,7\n");
	query('TRUNCATE p');
	is(query("SELECT fast_copy('p', " . array($lf, $turned) . ", header => 'map'); SELECT string_agg(n || v, ' ' ORDER BY n) FROM p"), "3\n1one 2two\nlines 7seven", 'columns in another order, for map');
	query('TRUNCATE p');
	is(query("SELECT fast_copy('p', " . array($turned, file('quoted.csv', "\"v\",\"n\"\neight,8\n")) . ", header => 'map'); SELECT string_agg(n || v, ' ' ORDER BY n) FROM p"),
		"2\n7seven 8eight", 'the same columns, written in another way');
	query('TRUNCATE p');
};

# ---- errors -----------------------------------------------------------------

query('CREATE TABLE k (n int, v text) PARTITION BY RANGE (n)');
my $good = file('err/1.csv', "1,a\n2,b\n");
my $cut = file('err/2.csv', "3,c\n4,\"d\n");
my $after = file('err/3.csv', "5,\"e\"\n");
my $columns = file('err/4.csv', "6,f\n\n7,g,h\n");

subtest 'an error names its file, and a quote ends with it' => sub {
	foreach my $workers (0, 2)
	{
		foreach my $table ('p', 'k')
		{
			my $more = ", workers => $workers" . ($table eq 'k' ? ", partition_interval => '2'" : '');

			like(failure("SELECT fast_copy('$table', " . array($good, $cut, $after) . "$more)"),
				qr/22P04: unterminated CSV quoted field\nHINT:  .*\nCONTEXT:  fast_copy $table, file ".*err\/2\.csv", line 3:/, "a quote ends with its file: $table, $workers workers");
		}
		like(failure("SELECT fast_copy('p', " . array($good, $after, $columns, $cut) . ", workers => $workers)"),
			qr/22P04: missing data for column "v"\nHINT:  If empty lines .*\nCONTEXT:  fast_copy p, file ".*err\/4\.csv", line 2: ""/, "too few columns, $workers workers");
		like(failure("SELECT fast_copy('p', " . array($good, file('err/5.csv', "8,h\n9,i,j\n"), $columns) . ", workers => $workers)"),
			qr/22P04: extra data after last expected column\nCONTEXT:  fast_copy p, file ".*err\/5\.csv", line 2: "9,i,j"/, "too many columns, $workers workers");
	}
};

# ---- text, with markers -----------------------------------------------------

subtest 'a marker ends its file alone' => sub {
	my @text = (file('text/1', "1\ta\n\\.\n2\tb\n"), file('text/2', "3\tc\\\n"), file('text/3', "4\td\r\n\\.\r\n"), file('text/4', "\\.\n"), file('text/5', "5\te\n"));
	query('TRUNCATE p; DROP TABLE IF EXISTS c; CREATE TABLE c (LIKE p); ' . join('', map { "COPY c FROM '$_';" } @text));
	foreach my $workers (0, 1, 2)
	{
		foreach my $chunk ('1B', '5B', '1MB')
		{
			is(query("TRUNCATE p; SET fast_copy.chunk_size = '$chunk'; SELECT fast_copy('p', '$dir/text/*', format => 'text', workers => $workers);
				SELECT count(*) FROM (SELECT * FROM p EXCEPT ALL TABLE c) x; SELECT count(*) FROM (TABLE c EXCEPT ALL TABLE p) x"),
				"4\n0\n0", "$workers workers, chunks of $chunk");
		}
	}
};

# ---- key order, ties in file order ------------------------------------------

subtest 'equal keys stay in the order of the files' => sub {
	my $n = 0;
	my @days = map {
		my $i = $_;
		file(sprintf('days/%02d.csv', $i), join('', map { $n++; sprintf "%d,2013-01-%02d %02d:00:00,%s\n", $n, ($n * 7919) % 3 + 1, $n % 4, 'x' x ($n % 50) } 1 .. 200))
	} 1 .. 20;
	query('DROP TABLE IF EXISTS c; CREATE TABLE c (n int, ts timestamp, v text); ' . join('', map { "COPY c FROM '$_' CSV;" } @days));
	foreach my $method (qw(io_uring sync))
	{
		foreach my $spill (qw(offsets rows))
		{
			foreach my $workers (0, 2)
			{
				is(query("SET fast_copy.io_method = $method; SET fast_copy.spill = $spill; SET fast_copy.memory = '1MB';
					DROP TABLE t; CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY RANGE (ts);
					SELECT fast_copy('t', '$dir/days/*.csv', workers => $workers);
					SELECT count(*) FROM (TABLE t EXCEPT ALL TABLE c) x;
					SELECT count(*) FROM (SELECT (ts, n) < lag((ts, n)) OVER (PARTITION BY tableoid ORDER BY ctid) AS wrong FROM t) x WHERE wrong"),
					"4000\n0\n0", "$method, $spill spilled, $workers workers");
			}
		}
	}
};

# ---- files that follow each other in time -----------------------------------

subtest 'files that follow each other in time are streamed, and told of by name' => sub {
	my @months = map { my $m = $_; file("months/2013-$m.csv", join('', map { sprintf "%d,2013-%s-%02d 00:00:00,%d\n", $_, $m, $_, $_ } 1 .. 28)) } '01' .. '06';
	is(query("DROP TABLE t; CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY RANGE (ts);
		SELECT fast_copy('t', '$dir/months/*.csv', partition_interval => '1 month', workers => 2);
		SELECT count(*) FROM pg_inherits WHERE inhparent = 't'::regclass;
		SELECT count(*) FROM fast_copy_report() WHERE phase = 'scan'"), "168\n6\n0", 'files in key order are streamed');
	is(query("SELECT fast_copy('t', '$dir/months/*.csv', workers => 0);
		SELECT choice, rows, bytes FROM fast_copy_report() WHERE phase = 'split' ORDER BY choice LIMIT 3"),
		"168\n6 chunks of 6 files|168|4260\nfile \"$months[0]\"|28|710\nfile \"$months[1]\"|28|710", 'the report names the files');
	is(query("SELECT item, name, rows FROM fast_copy_analyze('t', '$dir/months/*-0[12].csv') WHERE item IN ('file', 'rows') AND rows > 0"),
		"file|$months[0]|28\nfile|$months[1]|28\nrows|accepted|56", 'the analysis names the files');
	like(query("SELECT detail FROM fast_copy_analyze('p', " . array($good, file('err/6.csv', "1,a\nx,y\n")) . ") WHERE item = 'error'"),
		qr/^file ".*err\/6\.csv": 22P02: invalid input syntax/, 'the analysis names the file of an error');
};

# ---- rejects ----------------------------------------------------------------

subtest 'rejects name their file, and their limit is one for all' => sub {
	query("SELECT fast_copy_create_reject_table('r')");
	my @reject = (file('rej/1.csv', "1,a\nx,b\n"), file('rej/2.csv', "2,c\n"), file('rej/3.csv', "3,d\n\n4,\"e\n\"\ny,f\nz,g\n"));
	foreach my $workers (0, 2)
	{
		is(query("TRUNCATE p, r; SELECT fast_copy('p', '$dir/rej/*.csv', on_error => 'ignore', on_error_classes => '{conversion,missing_columns}', reject_table => 'r', workers => $workers);
			SELECT filename, lineno, byte_offset, line FROM r ORDER BY 1, 2"),
			"4\n$reject[0]|2|4|x,b\n$reject[2]|2|4|\n$reject[2]|5|12|y,f\n$reject[2]|6|16|z,g", "rejects name their file, $workers workers");
		like(failure("SELECT fast_copy('p', '$dir/rej/*.csv', on_error => 'ignore', on_error_classes => '{conversion,missing_columns}', reject_limit => 2, workers => $workers)"),
			qr/skipped more than REJECT_LIMIT \(2\) rows\n?.*CONTEXT:  fast_copy p, file ".*rej\/3\.csv", line 5/s, "the limit is one for all files, $workers workers");
		my ($rc, $out, $err) = $node->psql('postgres', "\\set SHOW_CONTEXT always\nSELECT fast_copy('p', '$dir/rej/*.csv', on_error => 'ignore', on_error_classes => '{conversion,missing_columns}', log_verbosity => 'verbose', workers => $workers)");
		like($err, qr/at line 2 for column "n": "x"\nCONTEXT:  fast_copy p, file ".*rej\/1\.csv"/, "notices name their file, $workers workers");
	}
};

# ---- what core loads --------------------------------------------------------

subtest 'where core loads there is a COPY for each file' => sub {
	query('CREATE TABLE trig (n int, v text, seen bigint); CREATE FUNCTION sees() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.seen := (SELECT count(*) FROM trig); RETURN NEW; END $$;
		CREATE TABLE trig2 (LIKE trig)');
	query('CREATE TRIGGER s BEFORE INSERT ON trig FOR EACH ROW EXECUTE FUNCTION sees()');
	query("COPY trig (n, v) FROM '$lf' CSV HEADER; COPY trig (n, v) FROM '$crlf' CSV HEADER; COPY trig (n, v) FROM '$empty' CSV HEADER; COPY trig (n, v) FROM '$cr' CSV HEADER; INSERT INTO trig2 TABLE trig; TRUNCATE trig");
	foreach my $more ('', ", on_error => 'ignore'")
	{
		is(query("SET client_min_messages = error; TRUNCATE trig; SELECT fast_copy('trig', '$dir/head/*.csv', columns => '{n,v}', header => 'true'$more);
			SELECT count(*) FROM (TABLE trig EXCEPT ALL TABLE trig2) x; SELECT count(*) FROM (TABLE trig2 EXCEPT ALL TABLE trig) x"), "6\n0\n0", "a COPY for each file where core loads$more");
	}
	like(failure("SELECT fast_copy('trig', " . array($good, $cut, $after) . ", columns => '{n,v}')"),
		qr/22P04: unterminated CSV quoted field\nCONTEXT:  fast_copy trig, file ".*err\/2\.csv", line 3/, 'an error there');
	like(failure("SELECT fast_copy('trig', " . array($lf, $bad) . ", header => 'match', columns => '{n,v}')"),
		qr/column name mismatch.*file ".*badhead\.csv", line 1/s, 'an error of a header there');
};

subtest 'binary files are one load' => sub {
	query("COPY (SELECT i, 'b' || i FROM generate_series(1, 3) i) TO '$dir/1.bin' (FORMAT binary); COPY (SELECT i, 'b' || i FROM generate_series(4, 5) i) TO '$dir/2.bin' (FORMAT binary)");
	is(query("TRUNCATE p; SELECT fast_copy('p', '$dir/?.bin', format => 'binary'); SELECT string_agg(v, ',' ORDER BY n) FROM p"), "5\nb1,b2,b3,b4,b5", 'binary files');
	query("DROP TABLE t; CREATE TABLE t (n int, v text) PARTITION BY RANGE (n)");
	is(query("SELECT fast_copy('t', '$dir/?.bin', format => 'binary', partition_interval => '2'); SELECT count(*) FROM t; SELECT count(*) FROM pg_inherits WHERE inhparent = 't'::regclass"),
		"5\n5\n3", 'binary files into new partitions');
	file('3.bin', "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\0\2\0");
	like(failure("SELECT fast_copy('p', '$dir/?.bin', format => 'binary')"), qr/unexpected EOF in COPY data\n.*file ".*3\.bin", line 1/s, 'a binary file that is too short');
};

# ---- files that are converted as a whole ------------------------------------

subtest 'files that are converted as a whole are one load, and errors name them' => sub {
	my @sjis = (file('sjis/1.csv', "1,\"\x83\x5c\"\n2,\x83\x5c\n"), file('sjis/2.csv', ''), file('sjis/3.csv', "3,\x95\x5c\n4,\"a\n\x95\x5c\"\n"));
	agrees('SJIS', \@sjis, "'$dir/sjis/?.csv'", 'n int, v text', ", ENCODING 'SJIS'", ", encoding => 'SJIS'", "SET fast_copy.chunk_size = '3B'");
	file('sjis/4.csv', "5,a\nx,\x83\x5c\n");
	like(failure("SELECT fast_copy('p', '$dir/sjis/*.csv', encoding => 'SJIS', workers => 2)"), qr/22P02: .*"x"\nCONTEXT:  fast_copy p, file ".*sjis\/4\.csv", line 2, column n: "x"/, 'SJIS: an error names its file');
	file('sjis/4.csv', "5,a\n6,\x83\x20\n");
	like(failure("SELECT fast_copy('p', '$dir/sjis/*.csv', encoding => 'SJIS', workers => 2)"), qr/22021: invalid byte sequence.*file ".*sjis\/4\.csv", line 2/s, 'SJIS: so does a bad character');
};

# ---- privileges -------------------------------------------------------------

subtest 'who may not read files may read those below root_directory' => sub {
	query('CREATE ROLE reader LOGIN; GRANT SELECT, INSERT ON p TO reader; GRANT USAGE ON SCHEMA public TO reader');
	my $outside = file('outside/secret.csv', "1,secret\n");
	file('root/1.csv', "1,a\n");
	file('root/2.csv', "2,b\n");
	query("LOAD 'fast_copy'; ALTER DATABASE postgres SET fast_copy.root_directory = '$dir/root'");
	is(query("TRUNCATE p; SET ROLE reader; SELECT fast_copy('p', '$dir/root/*.csv')"), 2, 'a pattern below root_directory');
	is(query("TRUNCATE p; SET ROLE reader; SELECT fast_copy('p', " . array("$dir/root/2.csv", "$dir/root/1.csv") . ')'), 2, 'files below root_directory');
	foreach my $source ("$dir/outside/*.csv", "$dir/outside/nothing*", "$dir/r[o]ot/*.csv", "$dir/root/../outside/*", "$dir/nowhere/*")
	{
		like(failure("SET ROLE reader; SELECT fast_copy('p', '$source')"), qr/42501: permission denied to COPY from a file/, "refused: $source" =~ s/\Q$dir\E//r);
	}
	like(failure("SET ROLE reader; SELECT fast_copy('p', " . array("$dir/root/1.csv", $outside) . ')'), qr/42501: permission denied to COPY from a file/, 'one file outside');
	symlink("$dir/outside", "$dir/root/way") or die;
	like(failure("SET ROLE reader; SELECT fast_copy('p', '$dir/root/w*/$_')"), qr/42501: permission denied to COPY from a file/, "a link leads out: $_")
	  foreach 's*.csv', 'none*', 'secret.csv', 'none.csv';
	symlink($outside, "$dir/root/3.csv") or die;
	like(failure("SET ROLE reader; SELECT fast_copy('p', '$dir/root/*.csv')"), qr/42501: permission denied to COPY from a file/, 'a linked file matches');
	query("LOAD 'fast_copy'; ALTER DATABASE postgres RESET fast_copy.root_directory");
};

# A directory and a link that leads out change places all the time.  The loads
# look for what is in the one, and what is and what is not in the other: no answer
# may depend on that.
subtest 'who can rename there learns nothing of other paths' => sub {
	my %number = (x86_64 => 316, aarch64 => 276);    # of renameat2()
	my $number = $number{ (POSIX::uname())[4] };

	plan skip_all => 'the number of renameat2() is not known' unless $number;
	mkdir("$dir/$_") && chmod(0755, "$dir/$_") or die foreach qw(race race/root);
	file("race/root/in/$_.csv", "1,inside\n") foreach qw(both one);
	file('race/outside/both.csv', "2,outside\n");
	symlink('../outside', "$dir/race/root/out") or die;
	query("LOAD 'fast_copy'; ALTER DATABASE postgres SET fast_copy.root_directory = '$dir/race/root'");
	my $exchange = IPC::Run::start([ 'perl', '-e', 'my ($n, $a, $b) = @ARGV; print "begun\n"; $| = 1;
		syscall($n + 0, -100, $a, -100, $b, 2) == 0 or die $! while getppid() != 1', $number, "$dir/race/root/in", "$dir/race/root/out" ], '>', \my $begun);
	my $answers = query("CREATE TEMP TABLE raced (n int, v text); GRANT ALL ON raced TO reader; SET ROLE reader; SET client_min_messages = error;
		CREATE TEMP TABLE answers (path text, answer text);
		DO \$\$ DECLARE path text; BEGIN
			FOR i IN 1 .. 2000 LOOP
				FOREACH path IN ARRAY '{in/both.csv,in/one.csv,in/on*.csv,in/b*.csv}'::text[] LOOP
					BEGIN
						PERFORM fast_copy('raced', '$dir/race/root/' || path, workers => 0);
						INSERT INTO answers VALUES (path, 'loaded');
					EXCEPTION WHEN OTHERS THEN
						INSERT INTO answers VALUES (path, SQLERRM);
					END;
				END LOOP;
			END LOOP;
		END \$\$;
		SELECT path, string_agg(DISTINCT answer, '; ') FROM answers GROUP BY path ORDER BY path;
		SELECT count(*) FROM raced WHERE v <> 'inside'");
	$exchange->kill_kill;
	unlike($answers, qr/No such file|no file matches/, 'what is not outside is not told of');
	like($answers, qr/^0$/m, 'nothing of what is outside is loaded');
	is(scalar(grep { !/loaded/ || !/permission denied/ } split(/\n/, $answers)), 1, 'each is loaded or refused') or diag($answers);
	query("LOAD 'fast_copy'; ALTER DATABASE postgres RESET fast_copy.root_directory");
};

# ---- files that change ------------------------------------------------------

gates($node);
my %change = (
	'cut' => sub { truncate($_[0], 5) or die },
	'appended to' => sub { open(my $f, '>>', $_[0]) or die; print $f "1,2013-01-01,late\n"; close $f },
	'replaced' => sub { rename(file('new.csv', "1,2013-01-01,new\n"), $_[0]) or die },
	'removed' => sub { unlink($_[0]) or die });
# so long that no process reads all at once
my $long = 'v' x 2000;
foreach my $name (sort keys %change)
{
	foreach my $workers (0, 2)
	{
		subtest "$name, $workers workers: only what is not there any more is an error" => sub {
			my @files = map { my $i = $_; file("changing/$i.csv", join('', map { sprintf "%d,2013-01-%02d,$long\n", $_ == 1 ? 7 : $i * 1000 + $_, $_ % 5 + 1 } 1 .. 500)) } 1 .. 9;
			my $what = "$name, $workers workers";

			query("DROP TABLE IF EXISTS t; CREATE TABLE t (n int, ts timestamp, v text, CHECK (gate(n))) PARTITION BY RANGE (ts)");
			close_gate();
			my $load = start_load($node, "SET fast_copy.memory = '1MB'; SET fast_copy.spill = offsets; SELECT fast_copy('t', '$dir/changing/*.csv', workers => $workers);\n");
			ok(at_gate($node), 'at the gate');
			$change{$name}->($files[5]);
			open_gate();
			my ($out, $err) = finish_load($load);
			if ($name eq 'cut')
			{
				like($err, qr/ERROR:  file ".*changing\/6\.csv" changed/, 'an error that names the file') or diag($out);
				is_clean($node, 't', $what);
			}
			else
			{
				is($out, 4500, 'all is loaded') or diag($err);
				is(query("SELECT count(DISTINCT n) FROM t WHERE v = '$long'"), 4492, 'as it was');
			}
			unlink @files;
		};
	}
}

# ---- more than a thousand files ---------------------------------------------

# Descriptors that a process has for our files, and for anything.
sub descriptors
{
	my ($pid) = @_;
	my @all = map { readlink($_) // '' } glob("/proc/$pid/fd/*");

	return (scalar(grep { /\/thousands\// } @all), scalar(@all));
}

my $files = 1500;
foreach my $i (1 .. $files)
{
	file(sprintf('thousands/%04d.csv', $i), "n,ts,v\n" . join('', map { sprintf "%d,2013-01-%02d %02d:00:00,file %d\n", $i * 10 + $_, ($i * 31 + $_ * 17) % 28 + 1, $_, $i } 1 .. 5) . ($i == 1000 ? "7,2013-01-01,gate\n" : ''));
}
query("DROP TABLE IF EXISTS c; CREATE TABLE c (n int, ts timestamp, v text)");
query(join('', map { sprintf "COPY c FROM '$dir/thousands/%04d.csv' CSV HEADER;", $_ } 1 .. $files));
foreach my $workers (0, 2)
{
	foreach my $method (qw(io_uring sync))
	{
		subtest "$workers workers, $method: more files than a process may open are loaded" => sub {
			query("DROP TABLE IF EXISTS t; CREATE TABLE t (n int, ts timestamp, v text, CHECK (gate(n))) PARTITION BY RANGE (ts)");
			close_gate();
			my $load = start_load($node, "SET fast_copy.spill = offsets; SET fast_copy.io_method = $method; SELECT fast_copy('t', '$dir/thousands/*.csv', header => 'match', workers => $workers);\n");
			ok(at_gate($node), 'at the gate');
			foreach my $pid (split /\n/, query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'parallel worker' OR (query LIKE '%thousands%' AND pid <> pg_backend_pid())"))
			{
				my ($ours, $all) = descriptors($pid);
				cmp_ok($ours, '<', 64, "$ours descriptors for files");
				cmp_ok($all, '<', 120, "$all descriptors in all");
			}
			open_gate();
			my ($out, $err) = finish_load($load);
			is($out, 5 * $files + 1, 'loaded') or diag($err);
			is(query("SELECT count(*) FROM (TABLE t EXCEPT ALL TABLE c) x; SELECT (SELECT count(*) FROM c) - count(*) FROM t;
				SELECT count(*) FROM (SELECT (ts, v) < lag((ts, v)) OVER (PARTITION BY tableoid ORDER BY ctid) AS wrong FROM (SELECT tableoid, ctid, ts, (n - 1) / 10 AS v FROM t WHERE n > 7) x) x WHERE wrong"),
				"0\n0\n0", 'COPY\'s rows, in order');
		};
	}
}

subtest 'as many files without a key are loaded' => sub {
	open_gate();
	query('CREATE TABLE u (n int, ts timestamp, v text)');
	is(query("SELECT fast_copy('u', '$dir/thousands/*.csv', header => 'map', workers => $_); SELECT count(*) FROM (TABLE u EXCEPT ALL TABLE c) x; TRUNCATE u"),
		5 * $files + 1 . "\n0", "$_ workers") foreach 0, 2;
};

# Rows of several lines, of which a chunk may begin in any
subtest 'a large file is split by workers, a small one by the leader' => sub {
	my $lines = "1,\"first\nsecond \"\"line\"\"\nthird\"\r\n2,\"a,b\"\r\n" x 1000;

	query('CREATE TABLE large (n int, v text); CREATE TABLE large_c (n int, v text)');
	foreach my $case ([ 'small.csv', 700, 1 ], [ 'large.csv', 900, 2 ])
	{
		my ($name, $times, $processes) = @$case;
		my $path = file($name, $lines x $times);

		is(query("TRUNCATE large, large_c; COPY large_c FROM '$path' CSV; SELECT fast_copy('large', '$path', workers => 2);
			SELECT (SELECT (count(*), sum(n), sum(hashtext(v))) FROM large) = (SELECT (count(*), sum(n), sum(hashtext(v))) FROM large_c);
			SELECT processes FROM fast_copy_report() WHERE phase = 'split' AND choice LIKE '%chunks'"),
			2000 * $times . "\nt\n$processes", $name);
		unlink $path;
	}
};

$node->stop;
done_testing();
