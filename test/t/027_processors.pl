# By default a load takes as many workers as there are processors that the server
# may use, be it by its affinity or by the quota of its control group.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use IPC::Run;
use Test::More;

# our own control groups, with the files that $2 makes there
my @apart = ('unshare', '--map-root-user', '--mount', 'sh', '-c',
	'mount -t tmpfs tmpfs /sys/fs/cgroup && cd /sys/fs/cgroup && eval "$1" && cd / && shift && exec unshare --user --map-user=' . "$> " . '"$@"', 'sh');

chomp(my $processors = `nproc`);
plan skip_all => 'one processor' if $processors < 2;

my $node = new_node('main', {}, 'max_worker_processes = 16');
my $rows = write_rows('rows.csv', 120000);

# Starts the server by a command; returns how many workers a load takes
sub workers
{
	my (@by) = @_;

	is(system(@by, 'pg_ctl', '-w', '-s', '-D', $node->data_dir, '-l', $node->logfile, 'start'), 0, 'started');
	$node->_update_pid(1);
	events($node, 't');
	my $said = $node->safe_psql('postgres', "SELECT fast_copy('t', '$rows'); SELECT choice FROM fast_copy_report() WHERE phase = 'total'");
	$node->stop;
	return $said =~ /^(\d+) of (\d+) workers/m ? "$1 of $2" : $said;
}

$node->stop;
my $all = $processors < 8 ? $processors : 8;
is(workers('env'), "$all of $all", 'as many as there are processors, or max_parallel_workers');
is(workers('taskset', '-c', substr(`taskset -cp $$` =~ s/.*: //sr, 0, 1)), '1 of 1', 'an affinity');
SKIP:
{
	skip 'no mounts of our own here', 6
	  unless IPC::Run::run([ @apart, 'true', 'true' ], '<', '/dev/null', '>', '/dev/null', '2>', '/dev/null');
	is(workers(@apart, 'echo 50000 100000 >cpu.max'), '1 of 1', 'half a processor');
	is(workers(@apart, 'echo max 100000 >cpu.max'), "$all of $all", 'no quota');
	is(workers(@apart, 'for g in cpu cpu,cpuacct; do mkdir $g; echo 100000 >$g/cpu.cfs_quota_us; echo 100000 >$g/cpu.cfs_period_us; done; cut -d: -f2 /proc/self/cgroup | grep -qw cpu || echo 100000 100000 >cpu.max'),
		'1 of 1', 'a quota of version 1');
}
done_testing();
