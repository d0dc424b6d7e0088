# Another process has the file mapped and writes to it while it is loaded, which
# neither its size nor its times tell.  No row gets into a partition that its key does not
# belong to, and none is lost: the load fails, or is what the file was at one time.
#
# The load stands still between scan and load, because somebody has a lock on a partition;
# or at a gate in a condition or a CHECK.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use File::Temp;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {}, "fast_copy.memory = '8MB'", "fast_copy.chunk_size = '16kB'");
gates($node);

# Maps the file, then writes what it is told to: "offset bytes".
my $writer = write_bytes('writer.py', <<'PYTHON');
import mmap, sys
f = open(sys.argv[1], 'r+b')
m = mmap.mmap(f.fileno(), 0)
print('mapped', flush=True)
for line in sys.stdin:
    at, new = line.rstrip('\n').split(' ', 1)
    new = new.encode().replace(b'\\n', b'\n')
    m[int(at):int(at) + len(new)] = new
PYTHON

my $directory = File::Temp->newdir('fast_copy_XXXXXX', TMPDIR => 1);
chmod 0755, "$directory";

sub write_file
{
	open(my $out, '>:raw', "$directory/changing.csv") or die $!;
	print $out @_;
	close $out;
	return "$directory/changing.csv";
}

sub start_writer
{
	my ($file) = @_;
	my %writer = (in => '', out => '');

	$writer{run} = IPC::Run::start([ 'python3', $writer, $file ], '<', \$writer{in}, '>', \$writer{out}, IPC::Run::timeout(60));
	$writer{run}->pump until $writer{out} =~ /mapped/;
	return \%writer;
}

sub finish_writer
{
	my ($w, @changes) = @_;

	$w->{in} .= join('', map { "$_\n" } @changes);
	$w->{run}->finish;
}

# Rows in partitions that their keys do not belong to.
sub misplaced
{
	return $node->safe_psql('postgres', 'SELECT ' . join(' + ', map { "(SELECT count(*) FROM $_->[0] WHERE NOT ($_->[1]))" }
		  map { [ split /\|/ ] } split /\n/, $node->safe_psql('postgres',
			"SELECT inhrelid::regclass, coalesce(pg_get_partition_constraintdef(inhrelid), 'true') FROM pg_inherits WHERE inhparent = 't'::regclass")));
}

# Rows in the order of their keys if the case is sorted.  Row 5 has the key that
# changes, or a value that stands so many bytes from it; returns the file and
# where the key stands.
my $count = 3000;

sub rows_file
{
	my ($case) = @_;
	my $d = ($case->{args} // '') =~ /format => 'text'/ ? "\t" : ',';
	my @rows = map {
		my $x = $_ * 7919 % $count;
		join($d, $_ + 100, $_ == 5 ? $case->{from} : $case->{key}->($x), "row $_") . "\n"
	} 1 .. $count;

	return (write_file(@rows), length(join('', @rows[0 .. 3])) + length("105$d"));
}

# An existing partition, in which some of the rows are, and which is locked.
sub table
{
	my ($case) = @_;

	$node->safe_psql('postgres', "DROP TABLE IF EXISTS t; CREATE TABLE t (n int, k $case->{type}, v text"
		  . ($case->{check} // '') . ') PARTITION BY RANGE (k); '
		  . "CREATE TABLE t_here PARTITION OF t $case->{here};");
}

sub load_sql
{
	my ($case, $file, $workers) = @_;

	return "\\set VERBOSITY verbose\nSET TimeZone = 'UTC'; " . ($case->{set} // '')
	  . "SELECT fast_copy('t', '$file', workers => $workers"
	  . ($case->{interval} ? ", partition_interval => '$case->{interval}'" : '')
	  . ($case->{args} ? ", $case->{args}" : '') . ");\n";
}

sub fails_as_changed
{
	my ($what, $err) = @_;

	like($err, qr/ERROR:  55000: file "\S*changing.csv" changed while it was being loaded/, "$what: refused")
	  or diag('misplaced rows: ' . misplaced());
	like($err, qr/DETAIL:  The second time it was read, byte \d+ began a/, "$what: says why");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), 0, "$what: no row left");
}

# A key changes between scan and load.
sub changes
{
	my ($name, $workers, $case) = @_;
	my $what = "$name, $workers workers";
	my ($file, $at) = rows_file($case);

	close_gate();
	table($case);
	my $writer = start_writer($file);
	my $lock = start_load($node, 'BEGIN; LOCK TABLE t_here IN SHARE MODE; SELECT gate(7); COMMIT');
	ok(at_gate($node), "$what: locked");
	my $load = start_load($node, load_sql($case, $file, $workers));
	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE relation = 't_here'::regclass AND NOT granted"),
		"$what: scanned");
	finish_writer($writer, $at + ($case->{shift} // 0) . " $case->{to}");
	open_gate();
	finish_load($lock);
	my ($out, $err) = finish_load($load);
	return fails_as_changed($what, $err) unless $case->{copied};
	is($out, $count, "$what: loaded as it was");
	is(misplaced(), 0, "$what: all rows are where they belong");
}

my $int = sub { 1000000 + $_[0] * 300 };
my $time = sub { sprintf '2013-01-%02d %02d:%02d:%02d', $_[0] % 5 + 1, $_[0] % 24, $_[0] % 60, $_[0] % 59 };
my $day = sub { sprintf '2013-01-%02d', $_[0] % 5 + 1 };
my $pattern = sub { sprintf '%02d.01.2013 %02d:%02d', $_[0] % 5 + 1, $_[0] % 24, $_[0] % 60 };
my %ints = (type => 'int', key => $int, interval => 100000, here => 'FOR VALUES FROM (1000000) TO (1500000)', from => '1000777', to => '9499990');
my %times = (type => 'timestamp', key => $time, here => "FOR VALUES FROM ('2013-01-02') TO ('2013-01-03')",
	from => '2013-01-02 11:22:33', to => '2013-03-05 11:22:33');
my %zoned = (%times, type => 'timestamptz', args => "time_zone => 'Europe/Berlin'");

my @cases = (
	[ 'integers', { %ints } ],
	[ 'bigints', { %ints, type => 'bigint' } ],
	[ 'smallints', { %ints, type => 'smallint', key => sub { 10000 + $_[0] }, here => 'FOR VALUES FROM (10000) TO (11000)', from => '10077', to => '30077' } ],
	[ 'into the existing partition', { %ints, from => '1700777', to => '1200777' } ],
	[ 'within a partition', { %ints, from => '1000777', to => '1000778' } ],
	[ 'rows of the default partition', { %ints, here => 'DEFAULT', interval => undef, args => "missing_partitions => 'default'" } ],
	[ 'timestamps', { %times } ],
	[ 'timestamps with time zone', { %times, type => 'timestamptz' } ],
	[ 'dates', { %times, type => 'date', key => $day, from => '2013-01-02', to => '2013-03-05' } ],
	[ 'a time zone', { %zoned } ],
	[ 'a change in the night of a clock change', { %zoned, from => '2013-10-27 02:30:00', to => '2013-10-27 03:30:00' } ],
	[ 'a pattern', { %times, key => $pattern, args => "timestamp_format => 'DD.MM.YYYY HH24:MI'", from => '02.01.2013 11:22', to => '02.03.2013 11:22' } ],
	[ 'FORCE NOT NULL', { %times, args => "force_not_null => '{k}'" } ],
	[ 'FORCE NULL', { %times, args => "force_null => '{k}'" } ],
	[ 'NULL that becomes a key', { %ints, here => 'DEFAULT', interval => undef, args => "null_string => '1000777', missing_partitions => 'default'" } ],
	[ 'a key that becomes NULL', { %ints, here => 'DEFAULT', interval => undef, args => "null_string => '9499990', missing_partitions => 'default'" } ],
	[ 'text', { %ints, args => "format => 'text'" } ],
	[ 'quoted keys', { %ints, from => '"1000777"', to => '"9499990"' } ],
	[ 'another encoding', { %ints, args => "encoding => 'LATIN1'" } ],
	[ 'a generated column', { %ints, check => ', more text GENERATED ALWAYS AS (v) STORED', args => "columns => '{n,k,v}'" } ],
	[ 'another order', { %ints, args => "order_by => '{v}'" } ],
	[ 'bad records left out', { %ints, args => "on_error => 'ignore'" } ],
	[ 'bad keys made NULL', { %ints, args => "on_error => 'set_null'" } ],
	[ 'an index', { %ints, check => ', UNIQUE (n, k)' } ],
	[ 'a column that a condition looks at', { %ints, args => "where_clause => 'n > 9'", to => '  5', shift => -4 } ],
	[ 'a column that a condition looks at, bad records left out', { %ints, args => "where_clause => 'n > 9', on_error => 'ignore'", to => '  5', shift => -4 } ],
	[ 'rows that were copied', { %ints, set => 'SET fast_copy.spill = rows; ', copied => 1 } ]);

foreach my $i (0 .. $#cases)
{
	my ($name, $case) = @{ $cases[$i] };
	my $set = $case->{set} // 'SET fast_copy.spill = offsets; ';

	# both ways to read, with and without workers: by turns, and all for the first
	subtest "$name: what changes after the scan puts no row into a wrong partition" => sub {
		foreach my $way (0 .. 3)
		{
			my $method = $way % 2 ? 'sync' : 'io_uring';

			changes("$name, $method", $way < 2 ? 0 : 2, { %$case, set => "$set SET fast_copy.io_method = $method; " })
			  if $i == 0 || $i % 4 == $way;
		}
	};
}

# Long rows, of which a process has read a part when it stands at the gate.
sub long_rows
{
	my ($sorted) = @_;

	return write_file(map {
		sprintf "7,%d,\"row %05d%s\"\n", $int->($sorted ? $_ : $_ * 7919 % $count), $_, ' long' x 50
	} 1 .. $count);
}

sub changes_at_gate
{
	my ($what, $workers, $sql, $file, @changes) = @_;

	close_gate();
	my $writer = start_writer($file);
	my $load = start_load($node, "\\set VERBOSITY verbose\nSET fast_copy.memory = '1MB'; "
		  . ($sql =~ s/FILE/'$file', workers => $workers/r) . ";\n");
	ok(at_gate($node), "$what: at the gate");
	finish_writer($writer, @changes);
	open_gate();
	return finish_load($load);
}

# Where a row's key stands, which has seven digits
sub key_of
{
	my ($file, $row) = @_;

	return index(slurp_file($file), sprintf('"row %05d', $row)) - 8;
}

# It becomes one record with the row before, that has a line end in quotes
sub joined
{
	my ($file, $row) = @_;
	my $key = key_of($file, $row);

	return ($key - 4 . ' x', $key + 8 . ' x');
}

my %tables = (
	'a file that is scanned' => [ "PARTITION BY RANGE (k)", "partition_interval => '100000', where_clause => 'gate(n)'", 0 ],
	'a file in key order' => [ ", CHECK (as_index(n) = n)) PARTITION BY RANGE (k", "partition_interval => '100000'", 1 ],
	'a file without a key' => [ ", CHECK (gate(n))", '', 0 ]);

foreach my $name (sort keys %tables)
{
	my ($table, $args, $sorted) = @{ $tables{$name} };

	subtest "$name that gets fewer records is refused" => sub {
		foreach my $workers (0, 2)
		{
			my $file = long_rows($sorted);
			my $what = "fewer records in $name, $workers workers";

			$node->safe_psql('postgres', 'DROP TABLE t; CREATE TABLE t (n int, k int, v text' . ($table =~ /^,/ ? "$table)" : ") $table"));
			my ($out, $err) = changes_at_gate($what, $workers,
				"SELECT fast_copy('t', FILE" . ($args && ", $args") . ')', $file, joined($file, 2990));
			if ($workers == 0)
			{
				# the leader alone reads it once, as COPY does
				is($out, $count - 1, "$what: loaded as they are when they are read") or diag($err);
				next;
			}
			fails_as_changed($what, $err);
		}
	};
}

# A file in key order is read once: a key that changes before is the row's key.
subtest 'a file in key order is loaded as it is when it is read' => sub {
	foreach my $to (1000001, int($int->($count)) . '', 9499990)
	{
		my $file = long_rows(1);
		my $what = "a key that becomes $to in a file in key order";

		$node->safe_psql('postgres', 'DROP TABLE t; CREATE TABLE t (n int, k int, v text, CHECK (as_index(n) = n)) PARTITION BY RANGE (k)');
		my ($out, $err) = changes_at_gate($what, 0, "SELECT fast_copy('t', FILE, partition_interval => '100000')",
			$file, key_of($file, 2990) . " $to");
		is($out, $count, "$what: loaded") or diag($err);
		is($node->safe_psql('postgres', "SELECT k FROM t WHERE v LIKE 'row 02990%'"), $to, "$what: as it is");
		is(misplaced(), 0, "$what: all rows are where they belong");
	}
};

# Rows that are spilled have the keys that they were spilled by, even where a
# condition looks at the whole row once more.
subtest 'rows that are spilled keep the keys that they were spilled by' => sub {
	my $file = long_rows(0);
	my $what = 'a key that changes under a condition';

	$node->safe_psql('postgres', 'DROP TABLE t; CREATE TABLE t (n int, k int, v text) PARTITION BY RANGE (k)');
	my ($out, $err) = changes_at_gate($what, 0,
		"SET fast_copy.spill = rows; SELECT fast_copy('t', FILE, partition_interval => '100000', where_clause => 'gate(n)')",
		$file, key_of($file, 5) . ' 9499990');
	is($out, $count, "$what: loaded") or diag($err);
	is(misplaced(), 0, "$what: all rows are where they belong");
};

# A default that a field stands for, and that is not what its label says
subtest 'a default of the key that changes is refused' => sub {
	foreach my $spill (qw(offsets rows))
	{
		my $file = write_file(map { "$_,dflt,row\n" } 1 .. 3);

		$node->safe_psql('postgres', q{DROP TABLE t; DROP FUNCTION IF EXISTS steps; DROP SEQUENCE IF EXISTS s; CREATE SEQUENCE s;
			CREATE FUNCTION steps() RETURNS int STABLE LANGUAGE sql AS $$ SELECT (nextval('s') * 100000)::int $$;
			CREATE TABLE t (n int, k int DEFAULT steps(), v text) PARTITION BY RANGE (k)});
		my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET fast_copy.spill = $spill;
			SELECT fast_copy('t', '$file', partition_interval => '100000', default_string => 'dflt')");
		like($err, qr/ERROR:  42P13: default of the key changed while the file was being loaded/, "a default that changes, $spill: refused");
		is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), 0, "a default that changes, $spill: no row left");
	}
};

$node->stop;
done_testing();
