# Records go to servers of other versions as they stand: what these make of them
# is what COPY makes of them here, and so are their errors, but where the versions
# read values in different ways.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use MIME::Base64;
use Test::More;
use There;

my $main = new_node('main', {}, 'max_prepared_transactions = 20', 'session_preload_libraries = fast_copy', 'fast_copy.workers = 2');
my @there = There::all();
my $here = $main->pg_version->major;
my %SET = (UTF8 => 'copy', LATIN1 => 'latin', SQL_ASCII => 'bytes');

# Values of each type that it takes, and some that it does not
my %VALUES = (
	'smallint' => [ '-32768', ' 7 ' ],
	'bigint' => [ '9223372036854775807', '+5' ],
	'real' => [ '1e-30', 'NaN', '-Infinity', '0.1' ],
	'double precision' => [ '1.7976931348623157e308', 'inf', '0.30000000000000004' ],
	'numeric' => [ '1e-500', 'NaN', 'Infinity', '-0.0' ],
	'numeric(6,2)' => [ '1234.565', '-0.005' ],
	'boolean' => [ 'on', 'f', 'YES', 'tru' ],
	'text' => [ '', ' ', 'é', '\\.', '\\N', 'NULL' ],
	'char(4)' => [ 'a', 'éé' ],
	'varchar(3)' => [ 'abc   ', 'x' ],
	'"char"' => [ 'x', '\\101' ],
	'name' => [ 'pg_class', 'x' x 70 ],
	'bytea' => [ '\\x00ff', '\\000a', 'plain' ],
	'date' => [ '2013-02-01', '01/02/2013', 'infinity', '4713-01-01 BC', 'epoch' ],
	'time' => [ '23:59:60', '04:05 PM' ],
	'timetz' => [ '04:05:06-08', 'allballs' ],
	'timestamp' => [ '2013-02-01 04:05:06.789', '-infinity', '1 Feb 2013' ],
	'timestamptz' => [ '2013-02-01 04:05:06+03:30', '2013-06-01 04:05', '2013-03-31 02:30 Europe/Berlin', 'epoch' ],
	'interval' => [ '1 year 2 mons -3 days 04:05:06', 'P1Y2M3DT4H', '@ 1 hour ago', '-1-2 +3 -4:05:06' ],
	'interval day to second' => [ '3 04:05:06' ],
	'uuid' => [ '{A0EEBC99-9C0B4EF8-BB6D6BB9-BD380A11}' ],
	'json' => [ '{"a": 1, "a" : [null, "\\u00e9"]}' ],
	'jsonb' => [ '{"b": 1.50, "a" : "x", "b": 1e3}' ],
	'jsonpath' => [ '$.a[*] ? (@ > 1)' ],
	'inet' => [ '::1/64', '10.1.2.3' ],
	'cidr' => [ '10.1.0.0/16' ],
	'macaddr' => [ '08002b:010203' ],
	'bit(4)' => [ '1010', 'xf' ],
	'varbit' => [ '', '10101' ],
	'int[]' => [ '{1,NULL,3}', '[0:1]={4,5}', '{{1,2},{3,4}}' ],
	'text[]' => [ '{a,"b,c",NULL,"NULL","\\""}' ],
	'timestamptz[]' => [ '{"01/02/2013 04:05","2013-02-01 04:05+00"}' ],
	'int4range' => [ '[1,5]', 'empty', '(,)' ],
	'tstzrange' => [ '["2013-01-01","2013-01-02")' ],
	'int8multirange' => [ '{[1,3),[2,7]}' ],
	'tsvector' => [ "'b':2A a:1 'it''s'" ],
	'tsquery' => [ 'a & !b <-> c' ],
	'point' => [ '(1,2)' ],
	'box' => [ '1,2,3,4' ],
	'path' => [ '[(1,2),(3,4)]' ],
	'circle' => [ '<(1,2),3>' ],
	'pg_lsn' => [ '16/B374D848' ],
	'xid8' => [ '18446744073709551615' ],
	'oid' => [ '4294967295' ],
	'tid' => [ '(1,2)' ],
);
my %BAD = (
	int => [ 'x', '99999999999', '1.5', ' ', '1 2' ],
	smallint => [ '40000' ],
	bigint => [ '9223372036854775808' ],
	'numeric(6,2)' => [ '12345', '1e', 'infinity' ],
	'double precision' => [ '1e400', '1x' ],
	boolean => [ 'maybe' ],
	date => [ '2013-02-30', '31/31/2013', 'x', '99999999-01-01' ],
	timestamptz => [ '2013-01-01 04:05 Nowhere/Land', '2013-01-01 25:00', '999999-01-01' ],
	interval => [ '1 parsec', '99999999999 years' ],
	time => [ '25:00' ],
	'varchar(3)' => [ 'abcd' ],
	'char(2)' => [ 'abc' ],
	'bit(4)' => [ '101', '2' ],
	bytea => [ '\\x0', '\\xzz', '\\9' ],
	uuid => [ 'a0eebc99' ],
	json => [ '{"a": 1,', '{"a" 1}', '"\\u00"' ],
	jsonb => [ '{"a": "\\u0000"}', '[1,,2]' ],
	jsonpath => [ '$..' ],
	inet => [ '1.2.3.4.5' ],
	cidr => [ '10.1.2.3/8' ],
	macaddr => [ '08:00' ],
	'int[]' => [ '{1,2', '{1,x}', '{{1},{2,3}}', '1' ],
	int4range => [ '[5,1]', '[1', '[1,x]' ],
	tsvector => [ "'a" ],
	tsquery => [ 'a &' ],
	point => [ '(1' ],
	oid => [ '-x' ],
	xid8 => [ 'y' ],
	pg_lsn => [ '16' ],
	text => [ "\xff", "a\0b" ],
);

note(sprintf('with: coordinator of %s, nodes of %s', $here, join(', ', map { $_->major } @there)));
# Runs a command, and tells how it ended
my $TRIED = q{CREATE FUNCTION tried(command text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		words text;
		detail text;
		context text;
	BEGIN
		EXECUTE command;
		RETURN 'loaded';
	EXCEPTION WHEN OTHERS THEN
		GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
		words := SQLSTATE || ' ' || SQLERRM || CASE WHEN detail <> '' THEN ' (' || detail || ')' ELSE '' END;
		RETURN replace(words, E'\n', ' / ') || E'\t' || replace(context, E'\n', ' / ');
	END $$};

$main->safe_psql('postgres', "CREATE DATABASE $SET{$_} TEMPLATE template0 ENCODING '$_' LC_COLLATE 'C' LC_CTYPE 'C'") foreach sort keys %SET;
foreach my $there (@there)
{
	$there->safe_psql('postgres', "DROP DATABASE IF EXISTS copy WITH (FORCE);\nCREATE DATABASE copy");
	$there->safe_psql('copy', $TRIED);
	query($_, 'CREATE EXTENSION IF NOT EXISTS fast_copy; CREATE EXTENSION IF NOT EXISTS fast_copy_cluster; CREATE EXTENSION IF NOT EXISTS postgres_fdw;' . $there->server('copy')) foreach values %SET;
}

query('copy', $TRIED);
subtest 'values of all types' => \&values_of_all_types;
subtest 'files of all kinds' => \&files_of_all_kinds;
subtest 'encodings' => \&encodings;
subtest 'settings of the session' => \&settings;
subtest 'the first bad line of the file' => \&the_first_bad_line;
subtest 'errors of all kinds' => \&errors_of_all_kinds;
subtest 'numbers that some versions take' => \&numbers;
$_->safe_psql('postgres', 'DROP DATABASE copy WITH (FORCE)') foreach @there;
$main->stop;
done_testing();

sub query { my ($database, $sql) = @_; return $main->safe_psql($database, "SET client_min_messages = warning;\n$sql") }

# Tables of these columns: here, and one with a partition on each server, and
# one here beside them.  A column in front says which.
sub tables
{
	my ($columns, $database) = @_;
	my $n = @there;

	query($database // 'copy', "DROP TABLE IF EXISTS t, local; CREATE TABLE local (k int, $columns); CREATE TABLE t (k int, $columns) PARTITION BY LIST (k);
		CREATE TABLE t_here PARTITION OF t FOR VALUES IN ($n);" .
		join(';', map { "CREATE FOREIGN TABLE t_$_ PARTITION OF t FOR VALUES IN ($_) SERVER " . $there[$_]->name . " OPTIONS (table_name 'r')" } 0 .. $#there));
	$_->safe_psql('copy', "SET client_min_messages = warning;\nDROP TABLE IF EXISTS r;\nCREATE TABLE r (k int, $columns)") foreach @there;
}

# Lines for each server, and for here
sub lines
{
	my ($delimiter, @rows) = @_;

	return map { my $row = $_; map { "$_$delimiter$row" } 0 .. @there } @rows;
}

# Rows that a load puts into t, and those that COPY puts into a table here
sub is_as_copy
{
	my ($name, $bytes, $options, $copy, $set, $database) = @_;
	my $path = write_bytes('rows', $bytes);

	$database //= 'copy';
	$set //= '';
	query($database, "$set; TRUNCATE local; COPY local FROM '$path' WITH ($copy)");
	my ($rc, $out, $err) = $main->psql($database, "$set; SELECT fast_copy('t', '$path', $options); SELECT choice FROM fast_copy_report() WHERE partition IS NOT NULL");
	is($rc, 0, $name) or diag($err);
	is(scalar(() = $out =~ /sent to server/g), scalar(@there), "$name: sent to all") or diag($out . $err);
	is(query($database, 'SELECT t::text FROM t ORDER BY 1'), query($database, 'SELECT local::text FROM local ORDER BY 1'), "$name: rows");
	$_->safe_psql('copy', 'TRUNCATE r') foreach @there;
	query($database, 'TRUNCATE t_here');
}

sub values_of_all_types
{
	my @types = sort keys %VALUES;
	my $most = 0;
	my (@csv, @text);

	foreach (values %VALUES) { $most = @$_ if @$_ > $most }
	foreach my $i (0 .. $most)
	{
		# the last row has none but NULLs
		my @row = map { $i == $most ? undef : $VALUES{$_}[ $i % @{ $VALUES{$_} } ] } @types;

		push @csv, join(',', map { defined($_) ? '"' . s/"/""/gr . '"' : '' } @row);
		push @text, join("\t", map { defined($_) ? s/\\/\\\\/gr : '\\N' } @row);
	}
	tables(join(', ', map { "c$_ $types[$_]" } 0 .. $#types));
	my $csv = join("\n", lines(',', @csv)) . "\n";

	is_as_copy('csv', $csv, "log_verbosity => 'silent'", 'FORMAT csv');
	is_as_copy('text', join("\n", lines("\t", @text)) . "\n", "format => 'text'", 'FORMAT text');
	is_as_copy('with settings of the session', $csv, "workers => 0", 'FORMAT csv', "SET datestyle = 'SQL, MDY'; SET timezone = 'America/New_York'; SET intervalstyle = iso_8601; SET extra_float_digits = 0; SET bytea_output = escape");
}

# 028's, with all that csv has
sub files_of_all_kinds
{
	my @v = ('a', 'b', '"c, d"', 'é', '"e""f"', '', '""', "\"two\nlines\"", '\\.', '"\\."', "\"a\n\\.\nb\"", "\"a\r\n\\.\r\nb\"", '\\N', '\\.x', 'x\\.');
	my $rows = join("\n", lines(',', map { "$_,$v[$_ % @v]" } 0 .. 199));
	my $text = join("\n", lines("\t", map { "$_\t" . ('a', '\\N', 'x\\ty', '\\x41\\101', '\\\\.', 'a\\\\N', "b\\\nc", '')[ $_ % 8 ] } 0 .. 199));

	tables('n int, v text');
	is_as_copy('csv', "$rows\n", 'workers => 2', 'FORMAT csv');
	is_as_copy('no last line end', $rows, 'workers => 2', 'FORMAT csv');
	is_as_copy('header', "k,n,v\n$rows\n", "header => 'true'", 'FORMAT csv, HEADER');
	is_as_copy('CRLF', join("\r\n", grep { !/\n/ } split /\n/, $rows =~ s/"[^"]*\n[^"]*\n?[^"]*"//gr) . "\r\n", 'workers => 2', 'FORMAT csv');
	is_as_copy('CR', join("\r", split /\n/, $rows =~ s/"[^"]*\n[^"]*\n?[^"]*"//gr) . "\r", 'workers => 2', 'FORMAT csv');
	is_as_copy('other marks', join("\n", lines(';', map { "$_;" . ("'x;y'", 'nix', "'it\\'s'", '\\.', '"')[ $_ % 5 ] } 0 .. 99)) . "\n",
		"delimiter => ';', quote => '''', escape => '\\', null_string => 'nix'", "FORMAT csv, DELIMITER ';', QUOTE '''', ESCAPE '\\', NULL 'nix'");
	is_as_copy('text', "$text\n", "format => 'text'", 'FORMAT text');
	is_as_copy('text with an end', "$text\n\\.\nwhat follows", "format => 'text'", 'FORMAT text');
	is_as_copy('text with CRLF', join("\r\n", lines("\t", map { "$_\tx" } 0 .. 99)) . "\r\n", "format => 'text'", 'FORMAT text');

	# one column, so that the end of the data is a record
	foreach my $there (@there)
	{
		my $path = write_bytes('one', join("\n", 'a', '\\.', '"\\."', '', '""', '\\.', 'b') . "\n");

		$there->safe_psql('copy', 'CREATE TABLE IF NOT EXISTS lone (v text)');
		my ($rc, $out, $err) = $main->psql('copy', "CREATE FOREIGN TABLE lone (v text) SERVER " . $there->name . "; SELECT fast_copy('lone', '$path');
			SELECT v, count(*) FROM lone GROUP BY v ORDER BY v; DROP FOREIGN TABLE lone");
		is($out, "7\n|1\n\\.|3\na|1\nb|1\n|1", 'the end of the data alone in a line of csv, to ' . $there->name) or diag($err);
	}
}

sub encodings
{
	foreach my $encoding (sort keys %SET)
	{
		my $word = $encoding eq 'LATIN1' ? "\xe9\xdf" : "\xc3\xa9\xc3\x9f";

		tables('n int, v text', $SET{$encoding});
		is_as_copy($encoding, join("\n", lines(',', map { "$_,$word $_" } 0 .. 99)) . "\n", 'workers => 2', 'FORMAT csv', '', $SET{$encoding});
	}
}

# What a node has set by itself counts for nothing, what is set here for all
sub settings
{
	my $rows = join("\n", lines(',', '01/02/2013,01/02/2013 04:05,1-2,"{NULL}"')) . "\n";

	tables('d date, at timestamptz, i interval, a text[]');
	foreach my $set ("datestyle = 'ISO, DMY'", "datestyle = 'German, MDY'", "timezone = 'Europe/Berlin'", "timezone = '<+0230>-2:30'", 'intervalstyle = sql_standard',
		'array_nulls = off', "timezone_abbreviations = 'Australia'")
	{
		is_as_copy($set, $rows, "log_verbosity => 'silent'", 'FORMAT csv', "SET $set");
	}
}

# What commands say, all in one session: SQLSTATE, message and detail of their
# errors, or "loaded"; and the place in the file
sub said
{
	my ($node, @commands) = @_;
	my $sql = join(' UNION ALL ', map { my $c = $commands[$_] =~ s/'/''/gr; "SELECT $_ AS n, tried('$c')" } 0 .. $#commands);

	return map {
		my ($words, $context) = split /\t/;
		my ($line, $column) = ($context // '') =~ m{(?:COPY \w+|fast_copy t, file "[^"]*"), line (\d+)(?:, column (\w+))?};

		$column //= $1 if ($context // '') =~ m{foreign table "\w+" on server "\w+", column (\w+)};

		{ words => $words, place => 'line ' . ($line // 'unknown') . ($column ? ", column $column" : ''), context => $context };
	} split /\n/, $node->safe_psql('copy', "SELECT tried FROM ($sql) t ORDER BY n");
}

# COPY of bytes on the server itself
sub copy_of
{
	my ($bytes, $with) = @_;

	return "COPY r FROM PROGRAM 'echo " . encode_base64($bytes, '') . " | base64 -d' WITH ($with, ENCODING 'UTF8')";
}

# Each case: its name, lines for t, the bad one, what is good before it, and the
# options of both.  Loads must end at the place that COPY names here, with the
# words of COPY on the server that must take the line.
sub are_errors_of_copy
{
	my ($there, @cases) = @_;
	my @files = map { write_bytes("bad$_", join("\n", @{ $cases[$_]{lines} }) . "\n") } 0 .. $#cases;
	my @words = said($there, map { copy_of("$_->{good}\n$_->{bad}\n", $_->{with}) } @cases);
	my @local = said($main, map { "COPY local FROM '$files[$_]' WITH ($cases[$_]{with})" } 0 .. $#cases);
	my @got = said($main, map { "SELECT fast_copy('t', '$files[$_]', log_verbosity => 'silent', $cases[$_]{options})" } 0 .. $#cases);

	foreach my $i (0 .. $#cases)
	{
		my $name = $there->name . ": $cases[$i]{name}";

		is($got[$i]{words}, $words[$i]{words}, "$name: words");
		# one version takes what another one refuses
		next if $words[$i]{words} eq 'loaded';
		my ($line) = grep { $cases[$i]{lines}[$_] eq $cases[$i]{bad} } 0 .. $#{ $cases[$i]{lines} };
		my $wanted = $local[$i]{words} ne 'loaded' ? $local[$i]{place} : $words[$i]{place} =~ s/line \d+/'line ' . ($line + 1)/er;
		is($got[$i]{place}, $wanted, "$name: place") or diag($got[$i]{context});
	}
}

sub the_first_bad_line
{
	my @good = lines(',', map { "$_,x" } 1 .. 150);
	my $n = @there + 1;

	tables('n int, v text');
	foreach my $i (0 .. $#there)
	{
		my @cases;

		foreach my $at (0, 1, 75, 149)
		{
			my @lines = @good;

			$lines[ $at * $n + $i ] = "$i,bad,x";
			# all meet one that comes later
			$lines[$_] =~ s/,.*/,worse,x/ foreach grep { $_ <= $#lines } ($at + 3) * $n .. ($at + 4) * $n - 1;
			push @cases, { name => "row $at", lines => \@lines, good => "$i,1,x", bad => "$i,bad,x", with => 'FORMAT csv', options => 'workers => ' . ($at % 2 * 2) };
		}
		are_errors_of_copy($there[$i], @cases);
	}
	is(query('copy', 'SELECT count(*) FROM t'), 0, 'nothing is left');
}

sub errors_of_all_kinds
{
	foreach my $type (sort keys %BAD)
	{
		tables("v $type");
		foreach my $i (0 .. $#there)
		{
			my @cases;

			# csv and text in turn
			foreach my $j (0 .. $#{ $BAD{$type} })
			{
				my $value = $BAD{$type}[$j];
				my $csv = "$i,\"" . ($value =~ s/"/""/gr) . '"';
				my $text = "$i\t" . ($value =~ s/\\/\\\\/gr);

				push @cases, ($i + $j) % 2 ?
					{ name => "text, $type $value", lines => [ ("$i\t\\N") x 9, $text, "$i\t\\N" ], good => "$i\t\\N", bad => $text, with => 'FORMAT text', options => "format => 'text'" } :
					{ name => "csv, $type $value", lines => [ ("$i,") x 9, $csv, "$i," ], good => "$i,", bad => $csv, with => 'FORMAT csv', options => 'workers => 2' };
			}
			are_errors_of_copy($there[$i], @cases);
		}
	}
	tables('n int NOT NULL CHECK (n < 100), v text');
	query('copy', 'ALTER TABLE local ADD UNIQUE (n)');
	foreach my $i (0 .. $#there)
	{
		$there[$i]->safe_psql('copy', 'ALTER TABLE r ADD UNIQUE (n)');
		are_errors_of_copy($there[$i], map { { name => "csv, $_", lines => [ (map { "$i,$_,x" } 1 .. 9), $_, "$i,11,x" ], good => "$i,1,x", bad => $_, with => 'FORMAT csv', options => 'workers => 2' } }
			"$i,,x", "$i,100,x", "$i,1", "$i,1,x,y", "$i,1,z", "$i,1,\"x", "$i,1,a\rb", "$i,10,a\"b");
	}
}

# What 16 and later take for numbers, and 17 for intervals: each node decides for
# itself
sub numbers
{
	my @values = ('0x10', '0b11', '0o17', '1_000', '1_', 'infinity', '+infinity', '-infinity', '1e5', '1.');
	my %taken;

	foreach my $type ('int', 'bigint', 'numeric', 'double precision', 'int[]', 'interval', 'timestamptz')
	{
		my @written = map { $type eq 'int[]' ? "{$_}" : $_ } @values;

		tables("v $type");
		foreach my $i (0 .. $#there)
		{
			my $there = $there[$i];
			my @files = map { write_bytes("number$_", "$i,\n$i,\n$i,$written[$_]\n") } 0 .. $#written;
			my @wanted = said($there, map { copy_of("$i,\n$i,\n$i,$_\n", 'FORMAT csv') } @written);
			my $rows = $there->safe_psql('copy', 'SELECT v FROM r ORDER BY v');

			$there->safe_psql('copy', 'TRUNCATE r');
			my @got = said($main, map { "SELECT fast_copy('t', '$_', log_verbosity => 'silent')" } @files);
			is("$got[$_]{words}, $got[$_]{place}", "$wanted[$_]{words}, $wanted[$_]{place}", $there->name . ", $type $values[$_]") or diag($got[$_]{context}) foreach 0 .. $#values;
			is($there->safe_psql('copy', 'SELECT v FROM r ORDER BY v'), $rows, $there->name . ", $type: rows");
			$taken{ $there->name } .= join('', map { $_->{words} eq 'loaded' ? 1 : 0 } @wanted);
		}
	}
	note(join("\n", map { "$_ takes $taken{$_}" } sort keys %taken));

	# the number of a partition is read here
	tables('v text');
	my ($got) = said($main, "SELECT fast_copy('t', '" . write_bytes('key', "0,x\n0x0,y\n") . "', log_verbosity => 'silent')");
	my $refused = $here < 16 || $there[0]->major < 16;
	is($got->{words}, $refused ? '22P02 invalid input syntax for type integer: "0x0"' : 'loaded', 'a key that one of them refuses');
	is($got->{place}, 'line 2, column k', 'and its place') if $refused;
}
