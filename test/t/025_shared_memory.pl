# A server with as little in /dev/shm as a container may have: loads that need
# more say so, what there is serves all others, and nothing is left there.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $small = 'size=10m,mode=1777';
# as root of a user namespace we may mount, and as ourselves in one within it
# the server may run
my @apart = ('unshare', '--map-root-user', '--mount', 'sh', '-c',
	"small() { mount -t tmpfs -o $small tmpfs /dev/shm; }
	if [ \$1 = / ]; then small; else mount --bind \$1 /mnt && small && mkdir \$1 && mount --bind /mnt \$1; fi &&
	shift && exec unshare --user --map-user=$> \"\$@\"", 'sh',
	# which hides the files of these tests, if they are in there
	PostgreSQL::Test::Utils::tempdir() =~ m{^(/dev/shm/[^/]+)} ? $1 : '/');

plan skip_all => 'no mounts of our own here'
  unless IPC::Run::run([ @apart, 'true' ], '<', '/dev/null', '>', '/dev/null', '2>', '/dev/null');

my $node = new_node('main', {}, 'dynamic_shared_memory_type = posix');
my $rows = write_rows('rows.csv', 40000);

$node->safe_psql('postgres', 'CREATE TABLE plain (n int, ts timestamp, v text)');
$node->stop;
is(system(@apart, 'pg_ctl', '-w', '-s', '-D', $node->data_dir, '-l', $node->logfile, 'start'), 0, 'started with 10 MB of /dev/shm');
$node->_update_pid(1);

subtest 'a file is loaded' => sub {
	foreach my $workers (0, 2)
	{
		events($node, 't');
		is($node->safe_psql('postgres', "SET fast_copy.chunk_size = '64kB'; SELECT fast_copy('t', '$rows', workers => $workers)"), 40000, "$workers workers");
	}
};
subtest 'data of the client need more, and the hint says what to do' => sub {
	my $copy = "\\copy plain from '$rows' with (format csv, fast_copy, workers 4)";
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nLOAD 'fast_copy';\n$copy\n");

	like($err, qr/ERROR:  53100: could not resize shared memory segment .*\nHINT:  Shared memory lies in \/dev\/shm.*--shm-size/, 'the error');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM plain'), 0, 'nothing is loaded');
	is($node->safe_psql('postgres', "LOAD 'fast_copy'; SET fast_copy.memory = '16MB';\n$copy\nSELECT count(*) FROM plain"), 40000, 'with less of fast_copy.memory it is');
};

# What a COPY into an empty table says, which rows are in which places then, and
# how they came there
sub accelerated
{
	my ($on, $copy) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "LOAD 'fast_copy';
		SET fast_copy.accelerate_copy = $on; SET fast_copy.accelerate_min_size = 0; SET fast_copy.workers = 4;
		BEGIN; TRUNCATE plain;
		$copy
		COMMIT;
		SELECT count(*), md5(string_agg(t::text, '|' ORDER BY ctid)) FROM plain AS t;
		SELECT choice FROM fast_copy_report() WHERE '$on' = 'on' AND phase IN ('load', 'copy')");

	is($err, '', "no complaint with the setting $on");
	return split /\n/, $out;
}

# The segments that there are, the server's own among them
sub segments
{
	return $node->safe_psql('postgres', "CREATE TEMP TABLE files (name text); COPY files FROM PROGRAM 'ls /dev/shm'; SELECT count(*) FROM files WHERE name LIKE 'PostgreSQL.%'");
}

subtest 'COPY loads by itself where the accelerated one would need more' => sub {
	my $too_little = q(core's COPY: there is too little shared memory);
	my %copies = (STDIN => "\\copy plain from '$rows' with (format csv)",
		PROGRAM => "COPY plain FROM PROGRAM 'cat $rows' (FORMAT csv, FREEZE);",
		file => "COPY plain FROM '$rows' (FORMAT csv);");
	my $before = segments();

	foreach my $name (sort keys %copies)
	{
		my ($expected) = accelerated('off', $copies{$name});
		my ($got, $choice) = accelerated('on', $copies{$name});

		is($got, $expected, "$name: rows and places");
		like($choice, $name eq 'file' ? qr/^in file order/ : qr/^\Q$too_little\E$/, "$name: the reason is told");
	}
	$node->safe_psql('postgres', "COPY (SELECT) TO PROGRAM 'cat >/dev/null; cat /dev/zero 2>&1 >/dev/shm/all || true'");
	my ($expected) = accelerated('off', $copies{file});
	my ($got, $choice) = accelerated('on', $copies{file});

	is($got, $expected, 'a file, when nothing is left: rows and places');
	is($choice, $too_little, '... and the reason');
	$node->safe_psql('postgres', "COPY (SELECT) TO PROGRAM 'cat >/dev/null; rm /dev/shm/all'");
	($got, $choice) = accelerated('on', $copies{file});
	like($choice, qr/^in file order/, '... and with room again it is accelerated');
	cmp_ok(segments(), '<=', $before, 'no segment stays');
};

subtest 'few data take little, and no workers' => sub {
	my $few = write_rows('few.csv', 8000);

	foreach my $copy ("\\copy plain from '$few' with (format csv)", "COPY plain FROM PROGRAM 'cat $few' (FORMAT csv);")
	{
		is($node->safe_psql('postgres', "LOAD 'fast_copy'; SET fast_copy.accelerate_copy = on; TRUNCATE plain;
			$copy
			SELECT count(*) FROM plain; SELECT processes, choice FROM fast_copy_report() WHERE phase IN ('load', 'copy') AND partition IS NULL"),
			"8000\n1|in file order, page", $copy);
	}
};
$node->stop;

subtest 'shared memory of every kind' => sub {
	foreach my $kind ('min_dynamic_shared_memory = 64MB', 'dynamic_shared_memory_type = mmap', 'dynamic_shared_memory_type = sysv')
	{
		$node->append_conf('postgresql.conf', "min_dynamic_shared_memory = 0\n$kind\n");
		$node->start;
		events($node, 't');
		is($node->safe_psql('postgres', "SET fast_copy.chunk_size = '64kB'; SELECT fast_copy('t', '$rows', workers => 2)"), 40000, "$kind: a file");
		$node->psql('postgres', "TRUNCATE plain; LOAD 'fast_copy';\n\\copy plain from '$rows' with (format csv, fast_copy, workers 2)\n");
		is($node->safe_psql('postgres', 'SELECT count(*) FROM plain'), 40000, "$kind: data of the client");
		$node->stop;
	}
};
done_testing();
