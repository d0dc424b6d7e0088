# COPY by psql and drivers, with fast_copy.accelerate_copy off and on: what they
# load, count and say must be the same, to the letter.
#
# test/clients/build has made the programs, in $FC_CLIENTS.  Each gets a directory
# with statements, NAME.sql, and what is to be sent for each, NAME.data, if it
# does not read a file of the server's.  It prints "CASE<tab>what the driver
# said<tab>what the table held" for these and for what is its own: records as the
# driver packs them, an end in the middle, transactions, pipelines.  It goes on
# with the same connection, so that each case shows that the one before has left
# it usable.
#
# Three databases: one that knows nothing of us, one in which each COPY is
# loaded by two workers, one with the default of the size from which that is done.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $built = $ENV{FC_CLIENTS} // die 'FC_CLIENTS: which directory did test/clients/build make?';
my $node = new_node('main', {}, "listen_addresses = '127.0.0.1'", "session_preload_libraries = 'fast_copy'",
	'fast_copy.log_min_duration = 0', "log_line_prefix = '%d: '", 'max_connections = 20', 'autovacuum = off', 'fsync = off');
my %set = (
	core => [ 'fast_copy.accelerate_copy = off' ],
	small => [ 'fast_copy.accelerate_copy = on', 'fast_copy.accelerate_min_size = 0', 'fast_copy.workers = 2' ],
	large => [ 'fast_copy.accelerate_copy = on' ]);

sub sql { return $node->safe_psql($_[0], $_[1]) }

foreach my $database (sort keys %set)
{
	sql('postgres', "CREATE DATABASE $database");
	sql('postgres', "ALTER DATABASE $database SET $_") foreach @{ $set{$database} };
	sql($database, q{
		CREATE TABLE d (n int CHECK (n <> -1000), v text, f float8);
		CREATE TABLE events (n int, at timestamptz NOT NULL, v text) PARTITION BY RANGE (at);
		CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM ('2024-01-01 00:00+00') TO ('2024-02-01 00:00+00');
		CREATE TABLE events_2 PARTITION OF events FOR VALUES FROM ('2024-02-01 00:00+00') TO ('2024-03-01 00:00+00');
		-- the table's rows, which it has no longer then
		CREATE FUNCTION taken() RETURNS text LANGUAGE plpgsql AS $$
		DECLARE
			t text;
		BEGIN
			SELECT count(*) || ' ' || coalesce(md5(string_agg(d::text, E'\n' ORDER BY n, v, f)), '') INTO t FROM d;
			TRUNCATE d;
			RETURN t;
		END $$});
}
sql('postgres', 'CREATE DATABASE source TEMPLATE core');

# ---- what is sent -----------------------------------------------------------

my $rows = "SELECT n, CASE n % 5 WHEN 0 THEN NULL WHEN 1 THEN E'tab\t, \"quote\" and \\\\ of ' || n ELSE repeat(md5(n::text), 40) END AS v, n / 8.0::float8 AS f FROM generate_series(1, %d) n";

# A statement and its data
sub case
{
	my ($dir, $name, $sql, $data) = @_;

	write_bytes("$dir/$name.sql", $sql);
	return write_bytes("$dir/$name.data", $data) if defined $data;
}

sub file_of
{
	my ($format, $number) = @_;
	my $path = write_bytes('out', '');

	sql('core', sprintf("COPY ($rows) TO '$path' (FORMAT $format)", $number));
	return slurp_file($path);
}

# In the directory "large", what is larger than the default size, among what is not
foreach my $dir ('small', 'large')
{
	my ($text, $few) = map { file_of($_, 500) } 'text', 'csv, HEADER';
	my ($csv, $binary) = map { file_of($_, $dir eq 'small' ? 500 : 12000) } 'csv, HEADER', 'binary';
	my $path = FastCopy::directory() . "/$dir";

	mkdir $path;
	chmod 0755, $path;
	case($dir, 'csv', 'COPY d FROM STDIN (FORMAT csv, HEADER)', $csv);
	case($dir, 'csv_bad', 'COPY d FROM STDIN (FORMAT csv, HEADER)', "${csv}1,a,no number\n2,b,1.5\n");
	case($dir, 'csv_check', 'COPY d FROM STDIN (FORMAT csv, HEADER)', "${few}-1000,a,1.5\n");
	case($dir, 'csv_columns', 'COPY d (v, n) FROM STDIN (FORMAT csv) WHERE n > 1', "a,1\n\"b\nc\",2\n");
	case($dir, 'csv_missing', 'COPY d FROM STDIN (FORMAT csv, HEADER)', "${few}1,a\n");
	case($dir, 'csv_quote', 'COPY d FROM STDIN (FORMAT csv, HEADER)', "${few}1,\"a\n");
	case($dir, 'text', 'COPY d FROM STDIN (FORMAT text)', $text);
	case($dir, 'text_bad', 'COPY d FROM STDIN (FORMAT text)', "${text}1\ta\t1.5\nx\tb\t1.5\n$text");
	case($dir, 'text_bytes', 'COPY d FROM STDIN (FORMAT text)', "${text}1\ta\xff\t1.5\n");
	case($dir, 'text_empty', 'COPY d FROM STDIN (FORMAT text)', '');
	case($dir, 'text_extra', 'COPY d FROM STDIN (FORMAT text)', "1\ta\t1.5\tmore\n");
	case($dir, 'binary', 'COPY d FROM STDIN (FORMAT binary)', $binary);
	case($dir, 'binary_bad', 'COPY d FROM STDIN (FORMAT binary)', substr($binary, 0, -2) . pack('n N N N a N', 3, 4, 1, 1, "\xff", 8) . "\0" x 8 . "\xff\xff");
	case($dir, 'binary_cut', 'COPY d FROM STDIN (FORMAT binary)', substr($binary, 0, -30));
	case($dir, 'binary_text', 'COPY d FROM STDIN (FORMAT binary)', $text);
	case($dir, 'file', "COPY d FROM '$path/text.data'");
	case($dir, 'file_bad', "COPY d FROM '$path/text_bad.data'");
	case($dir, 'program', "COPY d FROM PROGRAM 'cat $path/csv.data' (FORMAT csv, HEADER)");
	case($dir, 'no_table', 'COPY nowhere FROM STDIN (FORMAT csv)', $text);
	case($dir, 'no_option', 'COPY d FROM STDIN (FORMAT csv, HEADER, nothing)', $text);
}
my $events = write_bytes('events.csv', join('', "n,at,v\n", map { sprintf "%d,2024-%02d-%02d 12:00+00,\"row\n%d\"\n", $_, $_ % 2 + 1, $_ % 28 + 1, $_ } 1 .. 5000));
sql('source', "COPY events FROM '$events' (FORMAT csv, HEADER)");

# ---- programs ---------------------------------------------------------------

# What a program prints in a database, how many loads were ours meanwhile, and
# which errors the server has logged, some of which no driver tells of
sub run
{
	my ($database, $command, @arguments) = @_;
	my ($out, $err) = ('', '');
	my $logged = -s $node->logfile;
	my $at = '127.0.0.1:' . $node->port . "/$database";
	my $user = getpwuid($>);

	chdir FastCopy::directory();
	local @ENV{qw(PGHOST PGPORT PGUSER PGDATABASE)} = ('127.0.0.1', $node->port, $user, $database);
	local $ENV{DATABASE_URL} = "postgresql://$user\@$at";
	local $ENV{SOURCE_URL} = $ENV{DATABASE_URL} =~ s/\w+$/source/r;
	local $ENV{JDBC_DATABASE_URL} = "jdbc:postgresql://$at?user=$user";
	IPC::Run::run([ split(/ /, $command), @arguments ], '<', '/dev/null', '>', \$out, '2>', \$err, IPC::Run::timeout(120));
	is($?, 0, "$command: ends well, $database") or diag($err);
	my $log = slurp_file($node->logfile, $logged);
	# asyncpg gives up by CopyFail and by a cancel at once: chance says which is met, and where
	$log =~ s/(ERROR:  )(?:canceling statement due to user request|COPY from stdin failed: (?:no more|'str' object .*))\n(?:\w+: CONTEXT: .*\n(?:\t.*\n)*)?/$1given up\n/g if $command =~ /asyncpg/;
	my $loads = () = $log =~ /^$database: LOG:  fast_copy of /mg;
	return ($out, $loads, [ $log =~ /^$database: ((?!LOG: ).*(?:\n\t.*)*)/mg ]);
}

# One program in two databases
sub compare
{
	my ($name, $command, $database, $number) = @_;
	my $directory = FastCopy::directory() . "/$database";
	my ($core, $none, $core_log) = run('core', $command, $directory, $number);
	my ($ours, $loads, $our_log) = run($database, $command, $directory, $number);
	my @core = split(/\n/, $core);
	my %ours = map { /^([^\t]*)\t(.*)/ ? ($1 => $2) : () } split(/\n/, $ours);

	subtest "$name, $database: says and loads the same" => sub {
		foreach (@core)
		{
			my ($case, $said) = /^([^\t]*)\t(.*)/;
			is($ours{$case}, $said, $case);
		}
		is_deeply($our_log, $core_log, "the server's log");
		is($none, 0, 'core loads in core');
		cmp_ok($loads, '>=', $database eq 'small' ? 5 : 2, 'fast_copy has loaded');
	};
	note($core);
	return $core[0] =~ /^driver\t([^\t]*)/;
}

# The documents' program
sub document
{
	my ($name, $command) = @_;
	my $rows = "SELECT count(*), md5(string_agg(e::text, '|' ORDER BY tableoid::regclass::text, ctid)) FROM events e";
	my @seen = map {
		my ($said, $loads) = run($_, $command);
		my $seen = "$said" . sql($_, $rows);

		sql($_, 'TRUNCATE events');
		is($loads > 0, $_ eq 'small', "$name: who loads, $_");
		$seen
	} 'core', 'small';

	like($seen[0], qr/5000/, "$name: loads all");
	is($seen[1], $seen[0], "$name: the same rows");
}

my @ways = split(/\n/, slurp_file("$built/ways"));
my @missing = split(/\n/, slurp_file("$built/missing"));
my @programs = glob("$built/*.snippet");
is(@programs, @missing + (grep { /: docs\t/ } @ways), 'the programs of the documents are known');
foreach (@ways)
{
	my ($name, $command) = split(/\t/);

	if ($name =~ /: docs$/)
	{
		document($name, $command);
		next;
	}
	my ($driver) = compare($name, $command, 'small', 500);
	note("ran: $driver");
	compare($name, $command, 'large', 9000);
}
foreach (@missing)
{
	SKIP: { skip "the driver $_ cannot be had", 1 }
}
$node->stop;
is_deeply([ grep { (stat)[9] >= $^T } '/tmp/hsperfdata_' . getpwuid($<) ], [], 'Java leaves nothing in /tmp');
done_testing();
