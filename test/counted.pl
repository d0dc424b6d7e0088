# test/counted.pl LOG...
#
# What suites have done, by the TAP that they left: a line "counted: SUITE PROGRAM SEED
# NUMBER WHAT SECONDS" for each kind of thing that a program counts, where SECONDS are
# those of the program.  LOG is one of test/tap, or what a command printed by itself;
# how long each took is read from the file NAME.times beside it.  test/report reads
# these lines.

use strict;
use warnings;

# What a line of a program counts: suite and program, pattern, what.  The pattern's
# number is added, or one for each line.
my @COUNTS = (
	[ 'fuzz', qr{^run(?:-accelerate)?$}, qr/^# all cases: (\d+)/, 'cases' ],
	[ 'fuzz', qr{^run-batch$}, qr/^ok .*- file \d+ of seed/, 'files' ],
	[ 'fuzz', qr{^run-(?:conflict|transform)$}, qr/^# (\d+) loads with/, 'loads' ],
	[ 'fuzz', qr{^run-course$}, qr/^# loads: (\d+)/, 'loads' ],
	[ 'convert', qr{^run-convert$}, qr/^# (\d+) strings/, 'values' ],
	[ 'libfuzzer', qr{^run-libfuzzer$}, qr/^# (\d+) inputs/, 'inputs' ],
	[ 'external', qr{^run$}, qr/^ok/, 'comparisons' ],
	[ 'external', qr{^sniff$}, qr/^ok .*: rows, columns and/, 'files' ],
	[ 'external', qr{^duckdb$}, qr/^ok .*: the rows that were written/, 'files' ],
	(map { [ 'faults', qr/^faults$/, qr/^ok \d+ - $_, round/, $_ ] } qw(kill power syscalls changed standby cluster)),
	[ 'faults', qr/^faults$/, qr/^# (?:kill|cluster): (\d+) faults came/, 'struck' ],
	[ 'faults', qr/^faults$/, qr/^# syscalls: (\d+) of/, 'errors' ]);

die "usage: test/counted.pl LOG...\n" unless @ARGV;
counted($_) foreach @ARGV;

sub counted
{
	my ($log) = @_;
	my ($suite) = $log =~ m{([^/.]+)[^/]*$};
	my $took = times_of($log);
	my $program = $suite;
	my (%sum, %seed, @order);

	open(my $in, '<', $log) or die "$log: $!\n";
	while (my $line = <$in>)
	{
		$program = $1 if $suite ne 'faults' && $line =~ m{^=== (?:.*[/ ])?([^/ \n]+)\n};
		$seed{$program} = $1 if $line =~ /\bseed (\d+)/;
		foreach my $count (@COUNTS)
		{
			my ($of, $name, $pattern, $what) = @$count;

			next unless $of eq $suite && $program =~ $name && $line !~ /# SKIP/;
			# without a number, a list of 1
			my ($number) = $line =~ $pattern or next;
			push @order, [ $program, $what ] unless exists $sum{$program}{$what};
			$sum{$program}{$what} += $number;
		}
	}
	printf "counted: %s %s %s %d %s %d\n", $suite, $_->[0], $seed{ $_->[0] } // '-', $sum{ $_->[0] }{ $_->[1] }, $_->[1], $took->{ $_->[0] } // 0 foreach @order;
}

# Seconds of each program
sub times_of
{
	my ($log) = @_;
	my %took;

	open(my $in, '<', $log =~ s/(\.tap)?$/.times/r) or return {};
	while (<$in>) { $took{$2} += $1 if m{^([\d.]+) (?:.*[/ ])?([^/ \n]+)$} }
	return \%took;
}
