# Streams of a fuzzer: processes that each have a database, and what they count.

use strict;
use warnings;
use Storable ();

our %count;

# Calls body(stream) in n processes; prints the plan and what all have counted,
# and exits.  all() may make a point of the counts: true if they are good, and a name
sub run_streams
{
	my ($dir, $n, $body, $all) = @_;
	my $failed = 0;
	my %pid;

	foreach my $stream (0 .. $n - 1)
	{
		$pid{$stream} = fork() // die "fork: $!\n";
		next if $pid{$stream};
		$body->($stream);
		exit 0;
	}
	foreach my $stream (sort keys %pid)
	{
		waitpid($pid{$stream}, 0);
		$failed++, print "not ok - stream $stream ended with $?\n" if $?;
		my $counts = eval { Storable::retrieve("$dir/counts.$stream") } // {};
		$count{$_} += $counts->{$_} foreach keys %$counts;
		unlink "$dir/counts.$stream";
	}
	if ($all)
	{
		my ($good, $name) = $all->();

		$count{points}++;
		$count{different}++ if !$good;
		print $good ? 'ok' : 'not ok', " - $name\n";
	}
	print '1..', ($count{points} // 0) + $failed, "\n";
	print "# $_: $count{$_}\n" foreach sort grep { $_ ne 'points' } keys %count;
	exit($failed + ($count{different} // 0) > 0);
}

# A stream: counts a point, which is printed at once, or lines would be mixed
sub end_point
{
	my ($dir, $stream, $name, @wrong) = @_;

	$count{points}++;
	print join('', @wrong ? 'not ok' : 'ok', " - $name\n", map { s/^/# /gmr } @wrong);
	Storable::store(\%count, "$dir/counts.$stream");
}

# Rows of dropped tables slow each further one down
sub vacuum_sql { return 'VACUUM pg_class, pg_attribute, pg_type, pg_depend, pg_index, pg_constraint, pg_attrdef, pg_inherits, pg_statistic' }

1;
