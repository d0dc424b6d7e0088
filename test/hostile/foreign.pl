# Partitions on other servers: what a COMMIT is there, and that none is made
# here for rows that belong there.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use Test::More;

my $node = new_node('main', {}, 'session_preload_libraries = fast_copy');
needs($node, 'postgres_fdw');
my $file = write_rows('rows.csv', 100);
my $COLUMNS = 'n int, ts timestamp, v text';
my $LOAD = "SELECT fast_copy('t', '$file')";

query('CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster; CREATE ROLE loader; GRANT pg_read_server_files TO loader; GRANT CREATE ON SCHEMA public TO loader');
# a table on each server, and a trigger that may refuse its rows at COMMIT
foreach my $name ('one', 'two')
{
	query("CREATE DATABASE $name");
	query("CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $node->host . "', port '" . $node->port . "', dbname '$name');
		CREATE USER MAPPING FOR PUBLIC SERVER $name OPTIONS (user 'postgres', password_required 'false')");
	$node->safe_psql($name, "CREATE TABLE r ($COLUMNS); " . refusing_sql());
}

# 1 and 2 January there, the rest, if anywhere, here
sub table
{
	my (@more) = @_;

	query("DROP TABLE IF EXISTS t; CREATE TABLE t ($COLUMNS) PARTITION BY RANGE (ts);
		CREATE FOREIGN TABLE t_one PARTITION OF t FOR VALUES FROM ('2013-01-01') TO ('2013-01-02') SERVER one OPTIONS (table_name 'r');
		CREATE FOREIGN TABLE t_two PARTITION OF t FOR VALUES FROM ('2013-01-02') TO ('2013-01-03') SERVER two OPTIONS (table_name 'r');
		ALTER TABLE t OWNER TO loader;" . join(';', @more));
	$node->safe_psql($_, 'TRUNCATE r, refuses') foreach 'one', 'two';
}

my $HERE = "CREATE TABLE t_here PARTITION OF t FOR VALUES FROM ('2013-01-03') TO ('2013-01-06')";

subtest 'each server commits for itself, as by COPY' => \&one_commit_for_each_server;
subtest 'where all partitions are foreign, none is made here' => \&none_is_made_here;
subtest 'where one partition is here, or there is none at all, they are made here' => \&where_they_may_be_made;
$node->stop;
done_testing();

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# Rows on one, on two, and here
sub counts
{
	return join(' ', (map { $node->safe_psql($_, 'SELECT count(*) FROM r') } 'one', 'two'),
		query("SELECT count(*) FROM t WHERE ts >= '2013-01-03'"));
}

# In one phase, because these servers do not prepare transactions: which of the
# two is the first is not said (test/t/029_remote_commit.pl has two phases).
sub one_commit_for_each_server
{
	my %way = (COPY => "COPY t FROM '$file' WITH (FORMAT csv)", fast_copy => $LOAD);
	my %left;

	table($HERE);
	query($LOAD);
	is(counts(), '19 20 61', 'nobody refuses');
	foreach my $way (sort keys %way)
	{
		foreach my $refusing ('one', 'two')
		{
			table($HERE);
			$node->safe_psql($refusing, 'INSERT INTO refuses VALUES (1)');
			my ($rc, $out, $err) = $node->psql('postgres', $way{$way});
			like($err, qr/ERROR:  refused at the end/, "$way: $refusing refuses");
			$left{$way} .= counts() . ', ';
		}
		like($left{$way}, qr/^(0 0 0, 19 0 0|0 20 0, 0 0 0), $/, "$way: here nothing is left, and the one that was committed first keeps its rows");

		# whoever refuses at once is in time for all
		table($HERE, "ALTER FOREIGN TABLE t_two OPTIONS (SET table_name 'none')");
		my ($rc, $out, $err) = $node->psql('postgres', $way{$way});
		like($err, qr/ERROR:  relation "public.none" does not exist/, "$way: refused before COMMIT");
		is(counts(), '0 0 0', "$way: nothing is left anywhere");
	}
}

sub is_refused
{
	my ($what) = @_;

	foreach my $role ('postgres', 'loader')
	{
		foreach my $sql ($LOAD, "SELECT fast_copy('t', '$file', workers => 2, where_clause => 'n > 0')", "COPY t FROM '$file' WITH (FORMAT csv, fast_copy)",
			"\\copy t from '$file' with (format csv, fast_copy)")
		{
			my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET ROLE $role;\n$sql");

			like($err, qr/ERROR:  55000: cannot create partitions of table "t", whose partitions are all foreign tables
DETAIL:  The rows need 3 new partitions, from values 2013-01-03 00:00:00 to 2013-01-05 00:00:00, which would lie on this server\.
HINT:  Name servers for them with the option nodes/, "$what: refused to $role: $sql");
		}
	}
	is(query("SELECT detail FROM fast_copy_analyze('t', '$file') WHERE item = 'warning' AND name = 'foreign partitions'"),
		'cannot create partitions of table "t", whose partitions are all foreign tables: The rows need 3 new partitions, from values 2013-01-03 00:00:00 to 2013-01-05 00:00:00, which would lie on this server.',
		"$what: fast_copy_analyze()");
	is(query("SELECT count(*) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 't'::regclass AND c.relkind = 'r'"), 0, "$what: no partition here");
	is(query('SELECT count(*) FROM t'), 0, "$what: no row anywhere");
}

sub none_is_made_here
{
	table();
	subtest 'refused where all partitions are foreign' => sub { is_refused('all partitions are foreign') };
	table("CREATE FOREIGN TABLE t_rest PARTITION OF t DEFAULT SERVER one OPTIONS (table_name 'r')");
	subtest 'refused where the default one is foreign, too' => sub { is_refused('and the default one') };

	# what the hint says
	is(query("SELECT fast_copy('t', '$file', missing_partitions => 'default')"), 100, 'into the default partition');
	is(counts(), '80 20 61', 'on its server');
	table();
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('t', '$file', missing_partitions => 'error')");
	like($err, qr/no partition of relation "t" found for row/, 'as COPY has it');
	is(query("SELECT fast_copy('t', '$file', where_clause => \$\$ts < '2013-01-03'\$\$)"), 39, 'nothing is missing');
	is(counts(), '19 20 0', 'rows are there');

	# a file in key order
	my $sorted = write_bytes('sorted.csv', join('', map { "$_,2013-02-0" . int($_ / 10) . ",x\n" } 10 .. 49));
	($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('t', '$sorted')");
	like($err, qr/cannot create partitions of table "t", whose partitions are all foreign tables\nDETAIL:  The rows need 4 new/, 'a file in key order');
	is(query("SELECT count(*) FROM pg_class WHERE relname LIKE 't\\_p%'"), 0, 'a file in key order: no partition');
}

# A partition here says that here is a place for them, and so does a table that
# has none.
sub where_they_may_be_made
{
	table("CREATE TABLE t_here PARTITION OF t FOR VALUES FROM ('2013-01-03') TO ('2013-01-04')");
	is(query($LOAD), 100, 'one partition is here');
	is(counts(), '19 20 61', 'the missing ones are made here');
	table('CREATE TABLE t_rest PARTITION OF t DEFAULT');
	is(query($LOAD), 100, 'the default partition is here');
	is(counts(), '19 20 61', 'they are made here');
	query("DROP TABLE t; CREATE TABLE t ($COLUMNS) PARTITION BY RANGE (ts)");
	is(query($LOAD), 100, 'there is no partition');
}
