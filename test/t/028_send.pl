# Partitions on other servers get the records of a file as they stand there:
# the rows are those that one local table gets, the errors are those of the
# first bad line of the file.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', {}, 'fast_copy.workers = 2', 'session_preload_libraries = fast_copy');
needs($node, 'postgres_fdw');
# the other servers read dates, times and bytes in another way by themselves
my @there = map { new_node($_, { extra => [ $_ eq 'one' ? '--encoding=UTF8' : '--encoding=SQL_ASCII' ] },
		"datestyle = 'SQL, DMY'", "timezone = 'Asia/Tokyo'", "intervalstyle = 'sql_standard'", "timezone_abbreviations = 'Australia'", 'log_statement = all') } 'one', 'two';
query('CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster; SET client_min_messages = warning');
query(server_sql($_->name, $_)) foreach @there;

my $COLUMNS = 'n int, ts timestamptz, v text, d date, i interval, x numeric(8,2)';
my %KINDS = (
	range => [ 'RANGE (ts)', "FROM ('2012-12-31') TO ('2013-01-02')", "FROM ('2013-01-02') TO ('2013-01-04')", "FROM ('2013-01-04') TO ('2013-01-09')" ],
	'range of two' => [ 'RANGE (n, ts)', "FROM (MINVALUE, MINVALUE) TO (70, '2013-01-01')", "FROM (70, '2013-01-01') TO (200, MINVALUE)", "FROM (200, MINVALUE) TO (MAXVALUE, MAXVALUE)" ],
	list => [ 'LIST (v)', "IN ('a', 'b', NULL)", "IN ('c, d', 'é', 'e\"f')", "DEFAULT" ],
	hash => [ 'HASH (n)', map { "WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2 ],
	'hash of two' => [ 'HASH (v, n)', map { "WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2 ],
);

# Two of three partitions are there; the third is there, too, or here
sub table
{
	my ($kind, $here) = @_;
	my ($key, @bounds) = @{ $KINDS{$kind} };

	query("DROP TABLE IF EXISTS t; CREATE TABLE t ($COLUMNS) PARTITION BY $key");
	foreach my $i (0 .. 2)
	{
		my $there = $there[ $i % 2 ];
		my $for = $bounds[$i] eq 'DEFAULT' ? 'DEFAULT' : "FOR VALUES $bounds[$i]";

		$there->safe_psql('postgres', "CREATE SCHEMA IF NOT EXISTS \"S\"; DROP TABLE IF EXISTS \"S\".\"R $i\"; CREATE TABLE \"S\".\"R $i\" (" . ($COLUMNS =~ s/v text/id serial, "V" text/r) . ')');
		query($here && $i == 2 ? "CREATE TABLE t_$i PARTITION OF t $for" :
			"CREATE FOREIGN TABLE t_$i (d date, i interval, x numeric(8,2), v text OPTIONS (column_name 'V'), ts timestamptz, n int)
				SERVER " . $there->name . " OPTIONS (schema_name 'S', table_name 'R $i');
			ALTER TABLE t ATTACH PARTITION t_$i $for");
	}
}

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# Rows of the table by the leaf they are in
sub rows { return query("SELECT tableoid::regclass, t.* FROM t ORDER BY 1, 2, 3, 4, 5") }

# All records have commas, quotes, newlines and NULLs somewhere
sub record
{
	my ($n) = @_;
	my @v = ('a', 'b', '"c, d"', 'é', '"e""f"', '', "\"two\nlines\"", '\\.', '"\\."', "\"a\n\\.\nb\"");

	return sprintf("%d,2013-01-0%d %02d:00:00%s,%s,%s,%s,%s", $n, 1 + $n % 7, $n % 24, $n % 9 ? '+01' : ' EST', $v[ $n % @v ],
		$n % 11 ? '01/02/2013' : '', $n % 3 ? '1 day 02:03:04' : 'P1Y2M', $n % 5 ? $n / 3 : '');
}

my $file = write_bytes('rows.csv', join('', map { record($_) . "\n" } 1 .. 500));

# The referee: what COPY puts into a table of partitions that are all here
sub referee
{
	my ($kind, $path, $options) = @_;
	my ($key, @bounds) = @{ $KINDS{$kind} };

	query("DROP TABLE IF EXISTS t; CREATE TABLE t ($COLUMNS) PARTITION BY $key;" .
		join(';', map { "CREATE TABLE t_$_ PARTITION OF t " . ($bounds[$_] eq 'DEFAULT' ? 'DEFAULT' : "FOR VALUES $bounds[$_]") } 0 .. 2) .
		"; COPY t FROM '$path' WITH ($options)");
	return rows();
}

subtest 'the rows of one local table' => \&the_rows_of_one_local_table;
subtest 'files of all kinds' => \&files_of_all_kinds;
subtest 'partitions of partitions' => \&partitions_of_partitions;
subtest 'a foreign table as the target' => \&a_foreign_table_as_the_target;
subtest 'more partitions than streams' => \&more_partitions_than_streams;
subtest 'what core loads' => \&what_core_loads;
subtest 'what the report says' => \&what_the_report_says;
subtest 'the first bad line of the file' => \&the_first_bad_line_of_the_file;
foreach my $here (0, 1)
{
	subtest 'rows on other servers are not replaced' . ($here ? ', nor beside those that are here' : '') => sub {
		table('range', $here);
		query("SELECT fast_copy('t', '$file')");
		my $before = rows();
		foreach my $range ('', ', "replace_from": "2013-01-01", "replace_to": "2013-01-09"')
		{
			foreach my $workers (0, 2)
			{
				like(($node->psql('postgres', "\\set VERBOSITY verbose\nSELECT fast_copy('t', '$file', workers => $workers, options => '{\"existing_rows\": \"replace\", \"min_replace_ratio\": 0$range}')"))[2],
					qr/0A000: cannot replace rows of table "t(_\d)?"/, "$workers workers" . ($range ? ', of a range' : ''));
			}
		}
		is(rows(), $before, 'all are as before');
	};
}

$_->stop foreach $node, @there;
done_testing();

sub was_sent
{
	my ($report) = @_;

	return $report =~ /sent to server "one"/ && $report =~ /sent to server "two"/ && $report !~ /core/;
}

sub the_rows_of_one_local_table
{
	foreach my $kind (sort keys %KINDS)
	{
		my $wanted = referee($kind, $file, 'FORMAT csv');

		foreach my $here (0, 1)
		{
			foreach my $workers (0, 1, 2, 4)
			{
				table($kind, $here);
				my ($rc, $out, $err) = $node->psql('postgres', "SET fast_copy.chunk_size = 100; SELECT fast_copy('t', '$file', workers => $workers, missing_partitions => 'default');
					SELECT choice FROM fast_copy_report()");
				my $name = "$kind, " . ($here ? 'one here' : 'all there') . ", $workers workers";
				is($rc, 0, $name) or diag($err);
				ok(was_sent($out), "$name: sent") or diag($out . $err);
				is(rows(), $wanted, "$name: rows");
			}
		}
	}
}

# Loads with the options and compares with COPY of the same bytes
sub is_as_copy
{
	my ($name, $kind, $bytes, $options, $copy) = @_;
	my $path = write_bytes('kind.csv', $bytes);
	my $wanted = referee($kind, $path, $copy);

	foreach my $here (0, 1)
	{
		table($kind, $here);
		my ($rc, $out, $err) = $node->psql('postgres', "SET fast_copy.chunk_size = 16; SELECT fast_copy('t', '$path', missing_partitions => 'default', workers => 2$options)");
		is($rc, 0, "$name, $here here") or diag($err);
		is(rows(), $wanted, "$name, $here here: rows");
		unlike($err, qr/one by one/, "$name, $here here: sent");
	}
}

sub files_of_all_kinds
{
	my $row = '5,2013-01-05,a,2013-01-05,1 day,5';
	my $rows = join("\n", map { $row =~ s/5/$_/gr } 2 .. 8);
	my $text = join('', map { join("\t", $_, '2013-01-03', ($_ % 2 ? 'a' : 'c, d'), ($_ % 3 ? '\\N' : '01/02/2013'), '1 mon', $_) . "\n" } 1 .. 50);

	is_as_copy('empty', 'hash', '', '', 'FORMAT csv');
	is_as_copy('one row', 'hash', "$row\n", '', 'FORMAT csv');
	is_as_copy('no line end', 'hash', $row, '', 'FORMAT csv');
	is_as_copy('no last line end', 'range', $rows, '', 'FORMAT csv');
	is_as_copy('CRLF', 'range', $rows =~ s/\n/\r\n/gr, '', 'FORMAT csv');
	is_as_copy('CR', 'range', $rows =~ s/\n/\r/gr, '', 'FORMAT csv');
	is_as_copy('header', 'hash', "n,ts,v,d,i,x\n$rows\n", ", header => 'true'", 'FORMAT csv, HEADER');
	is_as_copy('text', 'list', $text, ", format => 'text'", 'FORMAT text');
	is_as_copy('text with escapes', 'list', ($text =~ s/\ta\t/\t\\x61\t/gr =~ s{/02}{\\/02}gr) . "\\.\nwhat follows", ", format => 'text'", 'FORMAT text');
	is_as_copy('other marks', 'list', join('', map { "$_;2013-01-03;" . ($_ % 2 ? "'c, d'" : "'a'") . ";nix;'1 day';$_\n" } 1 .. 50),
		", delimiter => ';', quote => '''', escape => '\\', null_string => 'nix'", "FORMAT csv, DELIMITER ';', QUOTE '''', ESCAPE '\\', NULL 'nix'");

	# several files, whose lines end in several ways
	my @files = (write_bytes('many_1.csv', $rows =~ s/\n/\r\n/gr), write_bytes('many_2.csv', ($rows =~ s/^\d/9/gmr) . "\n"), write_bytes('many_3.csv', ''),
		write_bytes('many_4.csv', $rows =~ s/\n/\r/gr));
	foreach my $here (0, 1)
	{
		table('range', $here);
		my ($rc, $out, $err) = $node->psql('postgres', "SET fast_copy.chunk_size = 16; SELECT fast_copy('t', '" . ($files[0] =~ s/_1\.csv/_*.csv/r) . "', workers => 2, missing_partitions => 'default')");
		is($out, 21, "several files, $here here") or diag($err);
		unlike($err, qr/one by one/, "several files, $here here: sent");
		is(query('SELECT count(*), sum(n) FROM t'), '21|133', "several files, $here here: rows");
	}
}

# By LIST, and below that by HASH and by RANGE; every $here-th leaf is here
sub table_of_tables
{
	my ($here) = @_;
	my $i = 0;

	query("DROP TABLE IF EXISTS t; CREATE TABLE t ($COLUMNS) PARTITION BY LIST (v);
		CREATE TABLE t_a PARTITION OF t FOR VALUES IN ('a', 'b', NULL) PARTITION BY HASH (n);
		CREATE TABLE t_b (x numeric(8,2), i interval, d date, v text, ts timestamptz, n int) PARTITION BY RANGE (ts);
		ALTER TABLE t ATTACH PARTITION t_b DEFAULT");
	foreach my $part ('t_a FOR VALUES WITH (MODULUS 2, REMAINDER 0)', 't_a FOR VALUES WITH (MODULUS 2, REMAINDER 1)',
		"t_b FOR VALUES FROM ('2012-12-31') TO ('2013-01-03')", 't_b DEFAULT')
	{
		my $there = $there[ $i % 2 ];

		$there->safe_psql('postgres', "DROP TABLE IF EXISTS r_$i; CREATE TABLE r_$i ($COLUMNS)");
		query(++$i % $here ? "CREATE FOREIGN TABLE t_$i PARTITION OF $part SERVER " . $there->name . " OPTIONS (table_name 'r_" . ($i - 1) . "')" :
			"CREATE TABLE t_$i PARTITION OF $part");
	}
}

sub partitions_of_partitions
{
	table_of_tables(1);
	query("COPY t FROM '$file' WITH (FORMAT csv)");
	my $wanted = rows();

	foreach my $here (3, 5)
	{
		foreach my $workers (0, 2)
		{
			table_of_tables($here);
			my ($rc, $out, $err) = $node->psql('postgres', "SET fast_copy.chunk_size = 100; SELECT fast_copy('t', '$file', workers => $workers, missing_partitions => 'default')");
			is($out, 500, "every ${here}th here, $workers workers") or diag($err);
			unlike($err, qr/one by one/, "every ${here}th here, $workers workers: sent");
			is(rows(), $wanted, "every ${here}th here, $workers workers: rows");
		}
	}
}

sub a_foreign_table_as_the_target
{
	table('hash', 0);
	query('ALTER TABLE t DETACH PARTITION t_0');
	foreach my $way ("COPY t_0 (n, ts, v, d, i, x) FROM '$file' WITH (FORMAT csv)", map { "SELECT fast_copy('t_0', '$file', workers => $_, columns => '{n,ts,v,d,i,x}')" } 0, 2)
	{
		$there[0]->safe_psql('postgres', 'TRUNCATE "S"."R 0"');
		my ($rc, $out, $err) = $node->psql('postgres', $way);
		is($rc, 0, $way) or diag($err);
		unlike($err, qr/one by one/, "$way: sent");
		is(query('SELECT count(*), sum(n), sum(x), count(DISTINCT v), count(d) FROM t_0'), '500|125250|33333.33|8|455', "$way: rows");
	}
	query('DROP FOREIGN TABLE t_0');
}

# 40 of them, with rows in the order of the key and in none
sub more_partitions_than_streams
{
	my %orders = ('in order' => join('', map { my $n = $_; map { "$n,v$_\n" } 1 .. 30 } 0 .. 39),
		'in none' => join('', map { my $v = $_; map { "$_,v$v\n" } 0 .. 39 } 1 .. 30));

	query('DROP TABLE IF EXISTS t; CREATE TABLE t (n int, v text) PARTITION BY LIST (n)');
	$_->safe_psql('postgres', 'CREATE TABLE m (n int, v text)') foreach @there;
	query(join(';', map { "CREATE FOREIGN TABLE t_$_ PARTITION OF t FOR VALUES IN ($_) SERVER " . $there[ $_ % 2 ]->name . " OPTIONS (table_name 'm')" } 0 .. 39));
	foreach my $order (sort keys %orders)
	{
		foreach my $here (0, 1)
		{
			my $path = write_bytes('many.csv', $orders{$order});

			query('CREATE TABLE t_here PARTITION OF t FOR VALUES IN (99)') if $here;
			$_->safe_psql('postgres', 'TRUNCATE m') foreach @there;
			my ($rc, $out, $err) = $node->psql('postgres', "SET fast_copy.chunk_size = 64; SELECT fast_copy('t', '$path', workers => 2)");
			is($out, 1200, "$order, $here here") or diag($err);
			unlike($err, qr/one by one/, "$order, $here here: sent");
			is($_->safe_psql('postgres', 'SELECT count(*), count(DISTINCT (n, v)), count(DISTINCT n) FROM m'), '600|600|20', "$order, $here here: " . $_->name) foreach @there;
			query('DROP TABLE t_here') if $here;
		}
	}
	$_->safe_psql('postgres', 'DROP TABLE m') foreach @there;
}

# Where a record's bytes would mean something else there, or something is done
# with rows here
sub what_core_loads
{
	my @rows = map { "$_,2013-01-02,a,2013-01-01,1 day,$_" } 1 .. 20;
	my $path = write_bytes('core.csv', join("\n", @rows) . "\n");
	my $short = write_bytes('short.csv', join("\n", map { s/,[^,]*$//r } @rows) . "\n");
	my $bad = write_bytes('bad.csv', join("\n", @rows, 'x,y,z,,,') . "\n");
	my $latin = write_bytes('latin.csv', join("\n", map { s/,a,/,\xe9,/r } @rows) . "\n");
	my %cases = (
		'on_error' => [ $bad, "on_error => 'ignore'", 'on_error goes on after bad records' ],
		'condition' => [ $path, "where_clause => 'n < 11'", 'there is a condition', 10 ],
		'columns' => [ $short, "columns => '{n,ts,v,d,i}'", 'a column is not in the file' ],
		'encoding' => [ $latin, "encoding => 'LATIN1'", 'the file is in another encoding than the database' ],
		'pattern' => [ $path, "timestamp_format => '{\"ts\": \"YYYY-MM-DD\"}'", 'a field of the file is read in a way of its own' ],
		'null' => [ $path, "null_string => '\\.'", 'NULL is written as the end of the data' ],
		'zone' => [ $path, "time_zone => 'Asia/Tokyo'", 'times are in another time zone' ],
		'trigger' => [ $path, '', 'it has triggers', 20, 'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$; CREATE TRIGGER g BEFORE INSERT ON t_1 FOR EACH ROW EXECUTE FUNCTION f()' ],
	);

	foreach my $name (sort keys %cases)
	{
		my ($file, $option, $why, $wanted, $before) = @{ $cases{$name} };

		table('hash', 0);
		query($before) if $before;
		my ($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('t', '$file'" . ($option && ", $option") . "); SELECT choice FROM fast_copy_report() WHERE phase = 'copy'");
		is((split(/\n/, $out))[0], $wanted // 20, "$name: rows") or diag($err);
		like($err, qr/NOTICE:  rows are loaded one by one, as COPY does: a partition is a foreign table: \Q$why\E/, "$name: the reason");
		like($out, qr/\Q$why\E/, "$name: the report");
		is(query('SELECT count(*), count(DISTINCT n) FROM t'), join('|', ($wanted // 20) x 2), "$name: rows there");
		query('DROP FUNCTION f CASCADE') if $before;
		($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('t', '$file'" . ($option && ", $option") . ", options => '{\"remote_commit\": \"two_phase\"}')");
		like($err, qr/ERROR:  rows of foreign table "t_\d" cannot be committed in two phases/, "$name: not in two phases") unless $before;
	}

	# COPY itself, accelerated, must be able to see its rows
	table('hash', 0);
	is(query("SET fast_copy.accelerate_copy = on; SET fast_copy.workers = 2; BEGIN; COPY t FROM '$path' WITH (FORMAT csv); SELECT count(*) FROM t; COMMIT"), 20, 'COPY is left to core');
}

sub what_the_report_says
{
	table('range', 1);
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('t', '$file', missing_partitions => 'default'); SELECT partition, rows > 20, bytes > 500, choice FROM fast_copy_report() WHERE partition IS NOT NULL ORDER BY 1;
		SELECT rows FROM fast_copy_report() WHERE phase = 'total'");
	like($err, qr/NOTICE:  fast_copy: 500 rows/, 'the notice counts all rows');
	is($out, "500\nt_0|t|t|sent to server \"one\"\nt_1|t|t|sent to server \"two\"\nt_2|t|t|1 slice\n500", 'a row for each leaf');
}

# SQLSTATE, message, and place in the file; what a constraint's message names
# has another name on the other server
sub error
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql");

	return "no error: $err" unless $err =~ /ERROR:  (\w+): (.*)/;
	my ($state, $message) = ($1, $2);
	my ($line, $column) = $err =~ /, line (\d+)(, column \w+: .*)?/;
	return "$state, " . ($state =~ /^23/ ? '' : "$message, ") . "line $line" . ($column // '');
}

# Bad lines on both servers and here; of two in a file the first counts
sub the_first_bad_line_of_the_file
{
	my %bad = (
		date => sub { $_[0] =~ s/,a,[^,]*/,a,31.31.2013/r },
		missing => sub { $_[0] =~ s/,a.*/,a/r },
		extra => sub { $_[0] =~ s/$/,more/r },
		key => sub { $_[0] =~ s/^/x/r },
		check => sub { $_[0] =~ s/,[^,]*$/,-7/r },
		bytes => sub { $_[0] =~ s/,a,/,\xff,/r },
	);
	my @lines = map { "$_,2013-01-02,a,,\"1 day\",$_" } 1 .. 300;
	my @names = sort keys %bad;
	my @places = (1, 2, 3, 4, 5, 6, 149, 150, 298, 299, 300);
	my $check = 'CHECK (x >= 0)';

	foreach my $i (0 .. 2 * @names - 1)
	{
		my $at = $places[ ($i * 5) % @places ];
		my $then = $at + 1 + $i % 3;
		my @copy = @lines;

		$copy[ $at - 1 ] = $bad{ $names[ $i % @names ] }->($copy[ $at - 1 ]);
		$copy[ $then - 1 ] = $bad{ $names[ ($i + 1 + $i / @names) % @names ] }->($copy[ $then - 1 ]) if $then <= 300;
		# records of several lines before
		$copy[$_] =~ s/1 day/1\nday/ foreach grep { $_ % 7 == 0 } 0 .. 299;
		my $path = write_bytes('bad.csv', join("\n", @copy) . "\n");

		query("DROP TABLE IF EXISTS t; CREATE TABLE t ($COLUMNS) PARTITION BY HASH (n);" .
			join(';', map { "CREATE TABLE t_$_ PARTITION OF t ($check) FOR VALUES WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2));
		my $wanted = error("COPY t FROM '$path' WITH (FORMAT csv)");
		foreach my $here (0, 1)
		{
			foreach my $workers (0, 2)
			{
				my $name = "$names[$i % @names] on $at, another on $then, $here here, $workers workers";

				table('hash', $here);
				$there[ $_ % 2 ]->safe_psql('postgres', "ALTER TABLE \"S\".\"R $_\" ADD $check") foreach 0 .. 2;
				query("ALTER TABLE t_2 ADD $check") if $here;
				is(error("SET fast_copy.chunk_size = 100; SELECT fast_copy('t', '$path', workers => $workers)"), $wanted, $name);
				is(query('SELECT count(*) FROM t'), 0, "$name: nothing is left");
			}
		}
	}
	# one that ends before its key
	my $path = write_bytes('bad.csv', join("\n", map { $_ == 150 ? $_ : "$_,2013-01-02,a,,1 day,1" } 1 .. 300) . "\n");

	foreach my $workers (0, 2)
	{
		table('range', 0);
		is(error("SET fast_copy.chunk_size = 100; SELECT fast_copy('t', '$path', workers => $workers)"), '22P04, missing data for column "ts", line 150', "a record without its key, $workers workers");
		is(query('SELECT count(*) FROM t'), 0, '... nothing is left');
	}
}
