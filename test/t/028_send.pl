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
if ($node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") eq '0')
{
	$node->stop;
	plan skip_all => 'postgres_fdw is not installed';
}
# the other servers read dates, times and bytes in another way by themselves
my @there = map { new_node($_, { extra => [ $_ eq 'one' ? '--encoding=UTF8' : '--encoding=SQL_ASCII' ] },
		"datestyle = 'SQL, DMY'", "timezone = 'Asia/Tokyo'", "intervalstyle = 'sql_standard'", 'log_statement = all') } 'one', 'two';
query('CREATE EXTENSION postgres_fdw; SET client_min_messages = warning');
foreach my $there (@there)
{
	my ($name, $host, $port) = ($there->name, $there->host, $there->port);

	query("CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
		CREATE USER MAPPING FOR PUBLIC SERVER $name OPTIONS (user 'postgres', password_required 'false')");
}

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

	return sprintf("%d,2013-01-0%d %02d:00:00+01,%s,%s,%s,%s", $n, 1 + $n % 7, $n % 24, $v[ $n % @v ],
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
