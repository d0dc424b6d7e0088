# The source: what cannot be read is refused clearly; what others do to a file
# while it is loaded is of no account, as long as its records stay the same, and
# an error, never a short load, if they do not; and a file that does not tell its
# size is read to its end.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use IO::Handle;
use IPC::Run;
use POSIX qw(mkfifo);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

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

# What a table has
sub sum
{
	my ($table) = @_;

	return $node->safe_psql('postgres', "SELECT count(*), sum(hashtext(x::text)::bigint) FROM (SELECT n, ts, v FROM $table) x");
}

$node->safe_psql('postgres', "CREATE TABLE whole (n int, ts timestamp, v text); COPY whole FROM '$file' (FORMAT csv)");
my $sum = sum('whole');

events($node, 't');

subtest 'what cannot be read is refused, and the error says why' => sub {
	mkfifo("$dir/fifo", 0644) or die;
	# whoever waits to write to it goes on waiting
	my $writer = IPC::Run::start([ 'sh', '-c', "exec cat '$file' >'$dir/fifo'" ]);
	refused('FIFO', "$dir/fifo", '42809', qr/fifo" is not a regular file.*HINT:  .*'cat .*fifo'/si);
	is($node->safe_psql('postgres', "CREATE TABLE piped (LIKE t); SELECT fast_copy('piped', 'timeout 20 cat $dir/fifo', program => true)"), 20000, 'as the hint says');
	$writer->finish;
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

# The file is cut while the load stands at a gate.  What a process has read by
# then is read.
gates($node);
my %cut = (
	'truncated to nothing' => sub { truncate($_[0], 0) or die },
	'truncated in the middle' => sub { truncate($_[0], (-s $_[0]) / 2) or die },
	'truncated within a record' => sub { truncate($_[0], (-s $_[0]) - 5) or die },
	'truncated by one byte' => sub { truncate($_[0], (-s $_[0]) - 1) or die });

foreach my $name (sort keys %cut)
{
	foreach my $workers (0, 2)
	{
		subtest "$name, $workers workers: an error, and nothing is left" => sub {
			my $source = write_bytes('changing.csv', $rows);

			close_gate();
			events($node, 't', ', CHECK (gate(n))');
			my $load = start_load($node, "SET fast_copy.io_method = sync; SET fast_copy.spill = offsets;
				SELECT fast_copy('t', '$source', workers => $workers);\n");
			ok(at_gate($node), 'at the gate');
			$cut{$name}->($source);
			open_gate();
			my ($out, $err) = finish_load($load);
			if ($out eq '20000')
			{
				is(sum('t'), $sum, 'all rows, as they were');
				return;
			}
			like($err, qr/ERROR:  file "\S*changing.csv" changed while it was being loaded/, 'an error')
			  or diag("rows: $out");
			is_clean($node, 't', $name);
		};
	}
}

# ---- what others do to a file -----------------------------------------------

my %harmless = (
	'touched' => sub { utime(1, 1, $_[0]) or die },
	'appended to' => sub { open(my $f, '>>', $_[0]) or die; print $f "1,2013-01-01,late\n2,2013"; close $f },
	'linked to' => sub { link($_[0], "$dir/link.csv") or die; unlink("$dir/link.csv") },
	'overwritten with the same' => sub { open(my $f, '+<', $_[0]) or die; print $f $rows; close $f },
	'closed to everybody' => sub { chmod(0, $_[0]) or die },
	'closed to everybody and moved' => sub { chmod(0, $_[0]) or die; rename($_[0], "$dir/moved.csv") or die },
	'replaced' => sub { rename(write_bytes('new.csv', "x\n"), $_[0]) or die },
	'moved' => sub { rename($_[0], "$dir/moved.csv") or die },
	'removed' => sub { unlink($_[0]) or die });

# A load that waits in its scan, so that the processes that load open the file
# after the change.
sub loads_as_it_was
{
	my ($what, $source, $change, $workers, $sql) = @_;

	close_gate();
	events($node, 't');
	my $load = start_load($node, ($sql =~ s/SOURCE/$source, workers => $workers/r)
		  . "; SELECT coalesce(max(processes), 0) FROM fast_copy_report() WHERE phase = 'load' AND processes > 0;\n");
	ok(at_gate($node), "$what: at the gate");
	$change->();
	open_gate();
	my ($out, $err) = finish_load($load);
	my ($loaded, $processes) = split(/\n/, $out);
	is($loaded, 20000, "$what: loaded") or diag($err);
	is(sum('t'), $sum, "$what: as it was");
	return $processes;
}

subtest 'what others do to a file does not matter' => sub {
	foreach my $name (sort keys %harmless)
	{
		foreach my $workers (0, 2)
		{
			my $source = write_bytes('changing.csv', $rows);
			my $processes = loads_as_it_was("$name, $workers workers", "'$source'", sub { $harmless{$name}->($source) },
				$workers, "SELECT fast_copy('t', SOURCE, where_clause => 'gate(n)')");

			# only root may read it, or who has it open
			is($processes, $name =~ /closed/ && $> != 0 || $workers == 0 ? 1 : 2, "$name, $workers workers: by so many processes");
			chmod(0644, $source, "$dir/moved.csv");
		}
	}
};

subtest 'several files may go, too, while they are loaded' => sub {
	my @rows = $rows =~ /(.*\n)/g;
	my $n = 0;
	my @parts = map { write_bytes("part$_.csv", join('', grep { $n++ >= 0 } @rows[ $_ * 5000 .. $_ * 5000 + 4999 ])) } 0 .. 3;
	my $all = "ARRAY['" . join("', '", @parts) . "']";
	my $change = sub { unlink($parts[1]); rename(write_bytes('new.csv', "x\n"), $parts[2]); chmod(0, $parts[3]) };

	loads_as_it_was("several, $_ workers", $all, $change, $_, "SELECT fast_copy('t', SOURCE, where_clause => 'gate(n)')"), restore(@parts)
	  foreach 0, 2;
	system("gzip -f -k $parts[1]");
	loads_as_it_was("one of them packed, $_ workers", $all =~ s/part1.csv/part1.csv.gz/r, $change, $_, "SELECT fast_copy('t', SOURCE, where_clause => 'gate(n)')"), restore(@parts)
	  foreach 0, 2;
};

sub restore
{
	my @rows = $rows =~ /(.*\n)/g;

	chmod(0644, @_);
	write_bytes("part$_.csv", join('', @rows[ $_ * 5000 .. $_ * 5000 + 4999 ])) foreach 0 .. 3;
}

# Somebody appends, touches, links and replaces all the time, so that it hits
# every step of a COPY.
subtest 'an accelerated COPY does not notice it either' => sub {
	my $source = write_bytes('changing.csv', $rows);
	my $busy = IPC::Run::start([ 'perl', '-MTime::HiRes=usleep', '-e', <<'PERL', $source ], '>', \my $said);
		my ($file) = @ARGV;
		open(my $in, '<', $file); my $rows = join('', <$in>);
		for (my $i = 0; $i < 100000; $i++)
		{
			open(my $new, '>', "$file.new"); print $new $rows; close $new;
			rename("$file.new", $file);
			open(my $log, '>>', $file); print $log "1,2013-01-01,late\n"; close $log;
			utime(1, $i, $file);
			link($file, "$file.link"); unlink("$file.link");
			usleep(1000);
		}
PERL

	$node->safe_psql('postgres', 'DROP TABLE IF EXISTS plain; CREATE TABLE plain (n int, ts timestamp, v text)');
	my ($rc, $out, $err) = $node->psql('postgres', "LOAD 'fast_copy'; SET fast_copy.accelerate_copy = on; SET fast_copy.accelerate_min_size = 0;
		SET fast_copy.workers = 2; SET fast_copy.chunk_size = '64kB';\n" . join('', map { <<"SQL" } 1 .. 20));
		TRUNCATE plain; COPY plain FROM '$source' (FORMAT csv);
		SELECT count(DISTINCT n), (SELECT processes FROM fast_copy_report() WHERE phase = 'load') FROM plain;
SQL
	$busy->kill_kill;
	is($err, '', 'no error');
	is($out, join("\n", ('20000|2') x 20), 'all rows, by two workers');
};

# Somebody closes the file and opens it again all the time, so that some workers
# can open it and others cannot: what those have left must all be found.
subtest 'which of the workers can open the file does not matter' => sub {
	plan skip_all => 'root opens what is closed' if $> == 0;
	my $source = write_bytes('closing.csv', join('', map { "$_,2013-01-01,v\n" . ($_ % 1000 == 0 ? "x,2013-01-01,v\n" : '') } 1 .. 20000));
	my $busy = IPC::Run::start([ 'perl', '-MTime::HiRes=usleep', '-e', 'while (getppid() > 1) { chmod(0, $ARGV[0]); usleep(2000); chmod(0644, $ARGV[0]); usleep(1000) }', $source ]);
	my ($loads, $fewer) = (0, 0);

	$node->safe_psql('postgres', "SELECT fast_copy_create_reject_table('out_rejects')");
	for (my $i = 0; $i < 100 && $loads < 12; $i++)
	{
		my ($rc, $out, $err) = $node->psql('postgres', "DROP TABLE IF EXISTS t; TRUNCATE out_rejects; CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY RANGE (n);
			SET fast_copy.chunk_size = '16kB'; SELECT fast_copy('t', '$source', workers => 4, partition_interval => '5000', on_error => 'ignore', reject_table => 'out_rejects');
			SELECT count(*), sum(n), (SELECT count(*) FROM out_rejects) FROM t; SELECT min(processes) < 4 FROM fast_copy_report() WHERE phase IN ('scan', 'load')");

		next if $err =~ /could not open file "\S*closing.csv" for reading: Permission denied/;
		$loads++;
		like($out, qr/^20000\n20000\|200010000\|20\n/, "load $loads") or diag($err);
		$fewer++ if $out =~ /\nt$/;
	}
	$busy->kill_kill;
	ok($fewer > 0, 'not all workers could open it');
	events($node, 't');
};

subtest 'beyond the files that stay open, one that is gone is an error' => sub {
	my @rows = $rows =~ /(.*\n)/g;
	my @many = map { write_bytes("many$_.csv", join('', @rows[ $_ * 160 .. $_ * 160 + 159 ])) } 0 .. 124;
	my $all = "ARRAY['" . join("', '", @many) . "']";

	loads_as_it_was('the first of many', $all, sub { unlink($many[0]) }, 2, "SELECT fast_copy('t', SOURCE, where_clause => 'gate(n)')");
	write_bytes('many0.csv', join('', @rows[ 0 .. 159 ]));
	close_gate();
	events($node, 't');
	my $load = start_load($node, "SET fast_copy.spill = offsets; SELECT fast_copy('t', $all, workers => 2, where_clause => 'gate(n)');\n");
	ok(at_gate($node), 'at the gate');
	rename(write_bytes('new.csv', "x\n"), $many[-1]);
	open_gate();
	my ($out, $err) = finish_load($load);
	like($err, qr/ERROR:  file "\S*many124.csv" changed while it was being loaded\nDETAIL:  Its path leads to another file now/, 'an error');
	is_clean($node, 't', 'many');
};

# ---- files that do not tell their size ---------------------------------------

# /proc says 0, and /sys often 4096.
my @unsized = grep { -r $_ && !-d $_ } qw(/proc/filesystems /proc/version /proc/devices /sys/kernel/mm/transparent_hugepage/enabled
  /sys/kernel/mm/transparent_hugepage/defrag /sys/class/net/lo/mtu /sys/devices/system/cpu/online);
my $lines = "(FORMAT text, DELIMITER E'\\x01')";

subtest 'a file that does not tell its size is loaded as COPY loads it' => sub {
	ok((grep { m{^/proc} } @unsized) > 1, 'there are such files');
	$node->safe_psql('postgres', 'CREATE TABLE copied (line text); CREATE TABLE loaded (LIKE copied); CREATE TABLE quick (LIKE copied)');
	foreach my $file (@unsized)
	{
		my $out = $node->safe_psql('postgres', "TRUNCATE copied, loaded, quick; COPY copied FROM '$file' $lines;
			SET fast_copy.chunk_size = '64B'; SELECT fast_copy('loaded', '$file', format => 'text', delimiter => E'\\x01', workers => 2) = (SELECT count(*) FROM copied);
			SET fast_copy.accelerate_copy = on; SET fast_copy.accelerate_min_size = 0; COPY quick FROM '$file' $lines;
			SELECT count(*) > 0 FROM copied; SELECT array_agg(line) = (SELECT array_agg(line) FROM loaded) AND array_agg(line) = (SELECT array_agg(line) FROM quick) FROM copied;
			SELECT choice FROM fast_copy_report() LIMIT 1");
		like($out, qr/^t\nt\nt\ncore's COPY/, $file);
	}
};

subtest 'several of them, with others, by workers' => sub {
	my $plain = write_bytes('lines.txt', "one\ntwo\n");
	my @files = ($plain, @unsized);
	my $all = "ARRAY['" . join("', '", @files) . "']";

	$node->safe_psql('postgres', 'TRUNCATE copied, loaded; ' . join('; ', map { "COPY copied FROM '$_' $lines" } @files));
	is($node->safe_psql('postgres', "SET fast_copy.chunk_size = '64B'; SELECT fast_copy('loaded', $all, format => 'text', delimiter => E'\\x01', workers => 2) = (SELECT count(*) FROM copied);
		SELECT array_agg(line) = (SELECT array_agg(line) FROM loaded) FROM copied"), "t\nt", 'in their order');
	like(failure("SELECT fast_copy('loaded', ARRAY['/proc/version', '/proc/version'])"), qr/22023: file "\/proc\/version" is named more than once/, 'named twice');
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_ls_tmpdir()"), 0, 'no temporary file is left');
};

# Of the command line of a process its bytes are known: the arguments, with a
# zero after each.  This one stands still at its first error, because nobody reads
# the pipe that it is for.
my $unread;

sub as_unsized
{
	my ($data) = @_;

	pipe($unread, my $write) or die;
	$write->blocking(0);
	1 while syswrite($write, 'x' x 4096);
	$write->blocking(1);
	my $pid = fork() // die;
	if ($pid == 0)
	{
		open(STDERR, '>&', $write) or die;
		exec { '/bin/cat' } split(/\0/, $data =~ s/\0\z//r, -1) or die;
	}
	for (my $i = 0; $i < 1000 && slurp_file("/proc/$pid/cmdline") ne $data; $i++) { usleep(10000) }
	return $pid;
}

subtest 'a packed one is unpacked' => sub {
	my $file = write_bytes('small.csv', substr($rows, 0, 1 + rindex($rows, "\n", 30000)));
	my $data = qx(gzip -n -c $file);
	my $pid = as_unsized($data);

	ok(slurp_file("/proc/$pid/cmdline") eq $data, 'the file');
	foreach my $workers (0, 2)
	{
		events($node, 't');
		is($node->safe_psql('postgres', "SELECT fast_copy('t', '/proc/$pid/cmdline', workers => $workers)"), slurp_file($file) =~ tr/\n//, "$workers workers");
	}
	like($node->safe_psql('postgres', "SELECT string_agg(s, ' ') FROM fast_copy_sniff('/proc/$pid/cmdline') s"), qr/CREATE TABLE/, 'fast_copy_sniff');
	kill('KILL', $pid);
	waitpid($pid, 0);
};

subtest 'the sniffer and the analysis read it' => sub {
	like($node->safe_psql('postgres', "SELECT string_agg(s, ' ') FROM fast_copy_sniff('/proc/filesystems') s"), qr/CREATE TABLE/, 'fast_copy_sniff');
	unlike($node->safe_psql('postgres', "SELECT string_agg(a::text, ' ') FROM fast_copy_analyze('loaded', '/proc/filesystems', format => 'text', delimiter => E'\\x01') a"),
		qr/empty/, 'fast_copy_analyze');
	like(failure("SELECT fast_copy_sniff('" . write_bytes('empty.csv', '') . "')"), qr/empty.csv" is empty/, 'an empty file is still empty');
};

# a load that meets what is not there any more ends with an error
unlike(slurp_file($node->logfile), qr/terminated by signal/, 'no process died');

$node->stop;
done_testing();
