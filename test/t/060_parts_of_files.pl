# Parts of files: max_records, skip_footer and comment.  Files have comments,
# footers and empty lines; COPY loads the same records from files without them.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Encode;
use FastCopy qw(:DEFAULT query failure);
use IO::Compress::Gzip ();
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{FC_SEED} // 7;
srand($seed =~ /\D/ ? hex($seed) : $seed);
note("FC_SEED=$seed");

my $node = new_node('main', {}, "session_preload_libraries = 'fast_copy'");
my $dir = FastCopy::directory();

query(<<'SQL');
CREATE TABLE c (n int, ts timestamp, v text);
CREATE TABLE heap (LIKE c);
CREATE TABLE keyed (LIKE c, PRIMARY KEY (n, ts));
CREATE TABLE parts (LIKE c) PARTITION BY RANGE (ts);
CREATE TABLE fires (LIKE c);
CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER same BEFORE INSERT ON fires FOR EACH ROW EXECUTE FUNCTION same();
CREATE TABLE lines (v text);
SQL

sub one { return $_[ rand @_ ] }

# A field's text as the format has it
sub field
{
	my ($csv, $eol) = @_;
	my $v = join('', map { one('a' .. 'z', '#', "\x{e4}", 'TOTAL', $csv ? (',', '""', $eol, "$eol#", "${eol}TOTAL,1") : ('\t', '\\\\', '\n')) } 1 .. rand 12);

	return $csv ? "\"$v\"" : $v;
}

# Records, and a file of them with what is none; "$$n" counts their rows
sub file
{
	my ($o, $n) = @_;
	my $d = $o->{csv} ? ',' : "\t";
	my $comment = sub { return $o->{comment} && rand() < $_[0] ? '#' . one('', ' a comment', "1${d}2024-01-01${d}x", $o->{csv} ? '"a",""' : 'x\t') . $o->{eol} : '' };
	my $empty = sub { return $o->{empty} && rand() < 0.1 ? $o->{eol} : '' };
	my @records = map { join($d, $$n++, sprintf('2024-%02d-%02d', 1 + rand 12, 1 + rand 28), field($o->{csv}, $o->{eol})) . $o->{eol} } 1 .. rand(rand() < 0.3 ? 2000 : 40);
	my $text = '';

	# lines of the last value that look like a footer would end the load
	$records[-1] = join($d, $$n - 1, '2024-01-01', 'last') . $o->{eol} if @records && $o->{regex};
	$text .= $comment->(0.5) x 2 . ($o->{map} ? "n${d}ts${d}v" : 'any "line"') . $o->{eol} if $o->{header};
	$text .= $comment->(0.1) . $empty->() . $_ foreach @records;
	$text .= $comment->(0.3);
	foreach my $i (1 .. $o->{footer})
	{
		$text .= $o->{regex} || rand() < 0.7 ? "TOTAL$d$i\"" : one('#x', '"', "9${d}2024-01-01${d}x");
		$text .= $o->{eol} unless $i == $o->{footer} && rand() < 0.2;
	}
	$text .= one('', '', $o->{eol}, $o->{eol} x 3) if $o->{footer} > 0 && $text =~ /\Q$o->{eol}\E\z/;
	return ($text, @records);
}

sub packed
{
	my ($bytes, $how) = @_;
	my $to;

	IO::Compress::Gzip::gzip(\$bytes, \$to) if $how eq 'gzip';
	return $how eq 'gzip' ? $to : $bytes;
}

subtest 'only records are loaded, and only so many' => sub {
	foreach my $round (1 .. 50)
	{
		my %o = (csv => rand() < 0.7, eol => one("\n", "\n", "\r\n", "\r"), comment => rand() < 0.6, empty => rand() < 0.3, header => rand() < 0.5, footer => rand() < 0.6 ? int(rand(4)) : 0,
			regex => rand() < 0.5, encoding => one('UTF-8', 'UTF-8', 'UTF-16', 'LATIN1'));
		my $n = 1;
		my $nfiles = one(1, 1, 2, 4);
		my $table = one('heap', 'keyed', 'parts', 'fires');
		my $how = one('plain', 'plain', 'gzip', 'program');
		my (@files, @records);

		$o{header} = 0 if $o{footer} > 0 && !$o{regex} && rand() < 0.5;
		$o{map} = $o{header} && rand() < 0.5;
		foreach my $i (1 .. $nfiles)
		{
			my ($text, @of) = file(\%o, \$n);
			push @records, @of;
			push @files, write_bytes("file.$i", packed(encode($o{encoding}, $text), $how));
		}
		my $most = rand() < 0.5 ? 1 + int(rand(@records * 1.3)) : 0;
		@records = @records[ 0 .. $most - 1 ] if $most > 0 && $most < @records;
		my $plain = write_bytes('plain', encode('UTF-8', join('', @records)));
		my @arguments = ('workers => ' . one(0, 1, 2, 4), "format => '" . ($o{csv} ? 'csv' : 'text') . "'");
		my $sources = join(',', map { $how eq 'program' ? "'cat $_'" : "'$_'" } @files);

		push @arguments, 'program => true' if $how eq 'program';
		push @arguments, "encoding => '" . $o{encoding} =~ s/-//r . "'" if $o{encoding} ne 'UTF-8';
		push @arguments, "comment => '#'" if $o{comment};
		push @arguments, 'skip_empty_lines => true' if $o{empty};
		push @arguments, $o{map} ? "header => 'map'" : 'header => true' if $o{header};
		push @arguments, $o{regex} ? "skip_footer => '^TOTAL'" : "skip_footer => $o{footer}" if $o{footer} > 0 || rand() < 0.1;
		push @arguments, "max_records => $most" if $most > 0;
		push @arguments, "on_error => 'ignore'" if rand() < 0.2;
		my $chunk = one(64, 1000, 65536);
		my $call = join(', ', @arguments);

		is(query("SET client_min_messages = warning; TRUNCATE c, heap, keyed, parts, fires; COPY c FROM '$plain' (FORMAT " . ($o{csv} ? 'csv' : 'text') . "); SET fast_copy.chunk_size = '${chunk}B';
			SELECT fast_copy('$table', ARRAY[$sources], $call) - (SELECT count(*) FROM c);
			SELECT count(*) FROM ((TABLE c EXCEPT ALL TABLE $table) UNION ALL (TABLE $table EXCEPT ALL TABLE c)) _;"),
			"0\n0", "$table, $nfiles $how, $chunk: $call, " . join(' ', map { sprintf '%02x', ord } split //, $o{eol})) or last;
	}
};

# ---- what is wrong ------------------------------------------------------------

sub loads
{
	my ($text, $options, $table) = @_;
	my $path = write_bytes('one', $text);

	return query("SET client_min_messages = warning; TRUNCATE lines, heap; SELECT fast_copy('" . ($table // 'lines') . "', '$path', $options); SELECT string_agg(v, '|' ORDER BY v) FROM " . ($table // 'lines'));
}

sub fails
{
	my ($text, $options, $expected, $name, $table) = @_;

	query('TRUNCATE lines, parts, fires');
	foreach my $workers (0, 2)
	{
		foreach my $into ('lines', $table ? () : 'parts', $table ? () : 'fires')
		{
			my $text = $into eq 'lines' ? $text : $text =~ s/^(?![#"])(\w)/1,2024-01-01,$1/mgr;
			my $path = write_bytes('one', $text);

			like(failure("SET fast_copy.chunk_size = '64B'; SELECT fast_copy('$into', '$path', workers => $workers, $options)"), $expected, "$name: $workers workers, $into");
		}
	}
	is(query('SELECT (SELECT count(*) FROM lines) + (SELECT count(*) FROM parts)'), '0', 'no row');
}

query('TRUNCATE lines, heap, parts, fires');

subtest 'comments' => sub {
	my $many = "abc\n" x 100;

	fails("${many}# 5\" wide\nb\nc\"\nd\n", "comment => '#'", qr/22P04: a comment does not end on its line\nHINT:  A quote in it opens a field\..*\nCONTEXT:  .*line 10[13]/, 'a quote in a comment that another record ends');
	fails("${many}# 5\" wide\nb\nc\n", "comment => '#'", qr/22P04: a comment does not end on its line\n.*line 10/s, 'a quote in a comment that nothing ends');
	fails("# 5\" wide\nb\nc\"\n", "comment => '#', header => true", qr/22P04: a comment does not end on its line\n.*line 1/s, 'before the header');
	fails("${many}# C:\\\nb\nc\n", "comment => '#', format => 'text', delimiter => ','", qr/22P04: a comment does not end on its line\nHINT:  The backslash/, 'a backslash in the text format');
	is(loads("#\n##\n#,\"a\"\nx\n#", "comment => '#'"), "1\nx", 'nothing else is one');
	is(loads("#x\n\"#y\"\n #z\n", "comment => '#'"), "2\n #z|#y", 'in quotes, or after a blank, it is data');
	is(query("SELECT filtered, loaded FROM (SELECT max(filtered) AS filtered, max(rows) AS loaded FROM fast_copy_report()) _"), '|', 'a session of its own');
	is(query("SET client_min_messages = warning; TRUNCATE lines; SELECT fast_copy('lines', '" . write_bytes('one', "#x\na\n\n#y\nb\n") . "', comment => '#', skip_empty_lines => true); SELECT filtered FROM fast_copy_report() WHERE phase = 'load'"), "2\n3", 'they are counted as filtered');
	like(query("SELECT string_agg(item || ' ' || coalesce(name, '') || ' ' || coalesce(rows::text, ''), ',') FROM fast_copy_analyze('lines', '$dir/one', comment => '#', skip_empty_lines => true)"), qr/accepted 2/, 'an analysis counts no more');
	foreach my $into (qw(lines parts fires))
	{
		my $record = sub { return ($into eq 'lines' ? '' : "$_[0],2024-01-01,") . $_[1] . "\n" };
		my $files = join(',', map { "'" . write_bytes("part.$_", "# c\n\n" x 99 . $record->(1, "a\xff") . $record->(1, 'a')) . "'" } 1, 2);
		my $options = "comment => '#', skip_empty_lines => true, on_error => 'ignore', on_error_classes => '{conversion,encoding}', log_verbosity => 'silent'";

		foreach my $workers (0, 2)
		{
			my $name = "$into, $workers workers";

			like(failure("SELECT fast_copy('$into', ARRAY[$files], workers => $workers, $options, reject_limit => '49%')"), qr/DETAIL:  2 of 4 records were rejected/, "$name: they are no records of all");
			like(failure("SELECT fast_copy('$into', ARRAY[$files], workers => $workers, $options, reject_limit => '49% per file')"), qr/DETAIL:  1 of 2 records of file ".*part.1" were rejected/, "$name: nor of a file");
			is(query("BEGIN; SELECT fast_copy('$into', ARRAY[$files], workers => $workers, $options, where_clause => 'v IS NULL', reject_limit => '50%'); ROLLBACK"), '0', "$name: what a condition leaves out is one");
		}
	}
	like(failure("SELECT fast_copy('lines', '$dir/one', comment => '$_')"), qr/22023: comment must be one byte of ASCII/, "'$_'") foreach '', '##', "\xc3\xa4", ',', '"';
	like(failure("SELECT fast_copy('lines', '$dir/one', comment => '\\', format => 'text')"), qr/22023: comment must be one byte of ASCII/, 'a backslash');
	like(failure("SELECT fast_copy('lines', '$dir/one', comment => '-', null_string => '-')"), qr/22023: comment must be one byte of ASCII/, 'a NULL');
	like(failure("SELECT fast_copy('lines', '$dir/one', $_, format => 'binary')"), qr/42601: cannot specify @{[ s{ .*}{}r ]} in BINARY mode/, "$_: binary") foreach "comment => '#'", 'max_records => 1', 'skip_footer => 1';
	query('TRUNCATE lines, parts');
};

subtest 'footers' => sub {
	is(loads("a\nb\nT\n", 'skip_footer => 1'), "2\na|b", 'one line');
	is(loads("a\nb\nT", 'skip_footer => 1'), "2\na|b", '... without its end');
	is(loads("a\nb\nT\n\n\n", 'skip_footer => 1'), "2\na|b", '... and empty lines');
	is(loads("a\n\nb\n", "skip_footer => '^T', null_string => 'x'"), "3\n|a|b", 'none matches: all stays');
	is(loads("a\nTb\n\nT\n", "skip_footer => '^T'"), "1\na", 'several match, and empty lines between');
	is(loads("a\nT\nb\nT\n", "skip_footer => '^T'"), "3\nT|a|b", 'only at the end');
	is(loads("\n\nT\n", "skip_footer => '^T', null_string => 'x'"), "2\n|", 'after nothing but empty lines');
	is(loads("a\nb\n", 'skip_footer => 7'), "0\n", 'more than there are');
	is(loads("v\na\nb\n", 'skip_footer => 3, header => true'), "0\n", 'but not the header');
	is(loads("v\n", 'skip_footer => 1, header => true'), "0\n", 'nothing but that');
	is(loads("", 'skip_footer => 1'), "0\n", 'nothing at all');
	is(loads("a\nb\n\\.\n", "skip_footer => 1, format => 'text'"), "1\na", 'a marker is not a line of it');
	is(loads("a\nT 1\n# end\n\n", "skip_footer => '^T', comment => '#'"), "1\na", 'a comment after it');
	is(loads("{\"v\":\"a\"}\r\n{\"T\":2}\r\n\r\n", "format => 'json', skip_footer => $_"), "1\na", "JSON with carriage returns: $_") foreach 1, q('^\{"T":\d+\}$');
	is(loads("{\"v\":\"a\"}\n{\"T\":2}\n  \n", "format => 'json', skip_footer => 1"), "1\na", 'JSON with blanks');
	is(loads("a\n" . "T\n" x 100000, 'skip_footer => 100000'), "1\na", 'a long one');
	is(loads("a\n" . 'x' x 200000 . "\nT\n", "skip_footer => '^T'") =~ s/x+/x/r, "2\na|x", 'a long line before it');
	is(loads("a\n" . 'T' x 200000 . "\n", 'skip_footer => 1'), "1\na", 'a long line of it');
	is(loads("a\nTOTAL \xe4\n", "skip_footer => '^TOTAL \x{c3}\x{a4}', encoding => 'LATIN1'"), "1\na", 'in another encoding');
	is(loads("a\n\xff\n", "skip_footer => '^T', on_error => 'ignore', on_error_classes => '{encoding}'"), "1\na", 'bytes that are no text do not match');
	fails("a\n\"b\nTOTAL\n\"\n", 'skip_footer => 2', qr/22P04: unterminated CSV quoted field/, 'it begins within quotes', 1);
	fails("a\nb\\\nTOTAL\n", "skip_footer => 1, format => 'text'", qr/22P04: the footer of file ".*" begins within a record/, 'it begins after a backslash', 1);
	is(loads("a\nb\\\\\nTOTAL\n", "skip_footer => 1, format => 'text'"), "2\na|b\\", 'but not after two');
	like(failure("SELECT fast_copy('lines', '$dir/one', skip_footer => '(')"), qr/2201B: invalid regular expression/, 'an expression that is none');
	like(failure("SELECT fast_copy('lines', '/nowhere', skip_footer => '$_')"), qr/22023: skip_footer must be a number of lines/, "'$_'") foreach '', '10000000', '-1';
	write_bytes('huge', "a\n" . ('x' x 1000000 . "\n") x 40);
	like(failure("SELECT fast_copy('lines', '$dir/huge', skip_footer => 30)"), qr/54000: the footer of file ".*" has more than 4194304 bytes/, 'it is bounded');
	query('TRUNCATE lines');
};

subtest 'the first records' => sub {
	is(loads("a\nb\nc\n", 'max_records => 2'), "2\na|b", 'two');
	is(loads("a\nb\n\"c\n", 'max_records => 2'), "2\na|b", 'what comes after is not looked at');
	is(loads("x\na\n#\n\nb\nc\n", "max_records => 2, comment => '#', skip_empty_lines => true, header => true"), "2\na|b", 'lines that are none do not count');
	is(loads("1,2024-01-01,a\nx\n2,2024-01-01,b\n3,2024-01-01,c\n", "max_records => 3, on_error => 'ignore', on_error_classes => '{conversion,missing_columns}'", 'heap'), "2\na|b", 'rejected ones do');
	is(query("SET client_min_messages = warning; TRUNCATE lines; SELECT fast_copy('lines', ARRAY['" . join("','", map { write_bytes("first.$_", "$_\n$_\n") } 1 .. 4) . "'], max_records => 3); SELECT string_agg(v, '|' ORDER BY v) FROM lines"), "3\n1|1|2", 'of all files');
	is(query("\\copy lines from '$dir/first.1' with (fast_copy, max_records 1)\nTABLE lines OFFSET 3"), '1', 'from the client');
	like(failure("SELECT fast_copy('lines', '$dir/one', max_records => $_)"), qr/22023: max_records must be greater than zero/, $_) foreach 0, -1;
	query("SELECT fast_copy_create_ledger_table('loads')");
	like(failure("SELECT fast_copy('lines', '$dir/one', max_records => 1, ledger => 'loads')"), qr/22023: max_records cannot be used with a ledger/, 'with a ledger');
};

subtest 'files in which nothing quotes, and lines of JSON' => sub {
	is(loads("# 5\" x\n\"a\nb\"\nTOTAL\n", "quote => 'none', comment => '#', skip_footer => '^T'"), "2\n\"a|b\"", 'a quote opens nothing');
	is(loads("#\\\na\\\nTOTAL\n", "format => 'text', escape => 'none', comment => '#', skip_footer => 1"), "1\na\\", 'nor does a backslash hold a line end');
	like(failure("SELECT fast_copy('lines', '$dir/one', delimiter => '|#', comment => '#')"), qr/22023: comment must be one byte/, 'a byte of the delimiter');
	is(loads("# one\n{\"v\": \"a\"}\n\n{\"v\": \"b\"}\n{\"v\": \"c\"}\n{\"total\": 3}\n", "format => 'json', comment => '#', skip_footer => 'total', skip_empty_lines => true"), "3\na|b|c", 'JSON');
	is(loads("{\"v\": \"a\"}\n{\"v\": \"b\"}\n{\n", "format => 'json', max_records => 2"), "2\na|b", 'the first objects');
	like(failure("SELECT fast_copy('lines', '$dir/one', format => 'json', comment => '{')"), qr/22023: comment must be one byte/, 'what objects begin with');
};

subtest 'a ledger has the whole file' => sub {
	query("TRUNCATE lines");
	write_bytes('ledger', join('', map { "$_\n" } 1 .. 3000) . "TOTAL\n");
	is(query("SET client_min_messages = warning; SELECT fast_copy('lines', '$dir/ledger', skip_footer => '^TOTAL', ledger => 'loads'); SELECT state, size, rows FROM loads"), "3000\nloaded|13899|3000", 'loaded');
	is(query("SET client_min_messages = warning; SELECT fast_copy('lines', '$dir/ledger', skip_footer => '^TOTAL', ledger => 'loads')"), '0', 'and known');
	system("touch '$dir/ledger'");
	is(query("SET client_min_messages = warning; SELECT fast_copy('lines', '$dir/ledger', skip_footer => '^TOTAL', ledger => 'loads')"), '0', '... by its checksum');
	query('TRUNCATE lines, loads');
	query("SET client_min_messages = warning; CALL fast_copy_files('lines', '$dir/ledger', ledger => 'loads', skip_footer => '1', comment => '7', header => true, batch_size => '1kB', cut_files => true)");
	is(query("SELECT state, size, rows FROM loads; SELECT count(*), count(*) FILTER (WHERE v ~ '^T|^7|^1\$') FROM lines"), "loaded|13899|2888\n2888|0", 'in parts');
};

$node->stop;
done_testing();
