# The source: what cannot be read is refused clearly, and a file that changes
# while it is loaded is an error, never a short load.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use POSIX qw(mkfifo);
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {});
my $dir = PostgreSQL::Test::Utils::tempdir();
my $file = write_rows('rows.csv', 20000);
my $rows = slurp_file($file);

# The error of a load as "SQLSTATE: text".
sub failure
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '20s';\n\\set VERBOSITY verbose\n$sql");

	return $rc == 0 ? 'no error' : $err;
}

sub refused
{
	my ($name, $path, $state, $text) = @_;
	my $err = failure("SELECT fast_copy('t', '$path')");

	like($err, qr/ERROR:  $state: /, "$name: SQLSTATE");
	like($err, $text, "$name: message");
}

events($node, 't');

subtest 'what cannot be read is refused, and the error says why' => sub {
	mkfifo("$dir/fifo", 0644) or die;
	refused('FIFO', "$dir/fifo", '42809', qr/fifo" is not a regular file/i);
	refused('directory', $dir, '42809', qr/directory/);
	refused('missing file', "$dir/nothing.csv", '58P01', qr/could not open file "\S*nothing.csv" for reading: No such file/);
	refused('device', '/dev/zero', '42809', qr/not a regular file/);
	SKIP:
	{
		skip 'root reads everything', 2 if $> == 0;
		my $closed = write_bytes('closed.csv', "1,2013-01-01,a\n");
		chmod 0, $closed;
		refused('no permission', $closed, '42501', qr/could not open file "\S*closed.csv" for reading: Permission denied/);
	}
};

subtest 'a loader needs COPY\'s privileges, and the owner\'s for new partitions' => sub {
	$node->safe_psql('postgres', 'CREATE ROLE loader LOGIN; CREATE ROLE owner LOGIN;
		GRANT SELECT, INSERT ON t TO loader; GRANT USAGE, CREATE ON SCHEMA public TO owner, loader');
	like(failure("SET ROLE loader; SELECT fast_copy('t', '$file')"), qr/42501: .*pg_read_server_files|42501: permission denied/s,
		'no pg_read_server_files');
	$node->safe_psql('postgres', 'GRANT pg_read_server_files TO loader, owner');
	like(failure("SET ROLE loader; SELECT fast_copy('t', '$file')"), qr/42501: must be owner of (partitioned )?table t/,
		'new partitions need the owner');
	like(failure("SET ROLE owner; SELECT fast_copy('t', '$file')"), qr/42501: permission denied for table t/,
		'INSERT is needed');
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname LIKE 't\\_p%'"), 0, 'nothing was made');
	$node->safe_psql('postgres', 'ALTER TABLE t OWNER TO owner');
	is($node->safe_psql('postgres', "SET ROLE owner; SELECT fast_copy('t', '$file')"), 20000, 'the owner loads');
	is($node->safe_psql('postgres', "SET ROLE loader; SELECT fast_copy('t', '$file', missing_partitions => 'error')"), 20000,
		'INSERT is enough for partitions that exist');
};

# The file is changed while the load stands at a gate.
gates($node);
my %change = (
	'truncated to nothing' => sub { truncate($_[0], 0) or die },
	'truncated in the middle' => sub { truncate($_[0], (-s $_[0]) / 2) or die },
	'truncated within a record' => sub { truncate($_[0], (-s $_[0]) - 5) or die },
	'truncated by one byte' => sub { truncate($_[0], (-s $_[0]) - 1) or die },
	'appended to' => sub { open(my $f, '>>', $_[0]) or die; print $f "1,2013-01-01,late\n"; close $f },
	'overwritten in place' => sub { open(my $f, '+<', $_[0]) or die; print $f '9'; close $f },
	'replaced' => sub { rename(write_bytes('new.csv', $rows), $_[0]) or die });

foreach my $name (sort keys %change)
{
	foreach my $try ([ 0, 'mmap' ], [ 2, 'mmap' ], [ 0, 'sync' ], [ 2, 'sync' ])
	{
		my ($workers, $method) = @$try;

		subtest "$name, $workers workers, $method: an error, and nothing is left" => sub {
			my $source = write_bytes('changing.csv', $rows);

			close_gate();
			events($node, 't', ', CHECK (gate(n))');
			my $load = start_load($node, "SET fast_copy.io_method = $method; SET fast_copy.spill = offsets;
				SELECT fast_copy('t', '$source', workers => $workers);\n");
			ok(at_gate($node), 'at the gate');
			$change{$name}->($source);
			open_gate();
			my ($out, $err) = finish_load($load);
			# a file that was replaced by name is still there for those who have it
			# open; a worker that opens it anew must notice
			like($err, qr/ERROR:  .*(changed|truncated|unexpected end|end of file)/, 'an error')
			  or diag("rows: $out");
			is_clean($node, 't', $name);
		};
	}
}

# a page of a mapping that is not there any more is a signal
unlike(slurp_file($node->logfile), qr/terminated by signal/, 'no process died');

$node->stop;
done_testing();
