# The fixtures of the differential suite, read from fixtures/, a file for each
# topic: files to be loaded as Perl strings, so that every line end, NUL and stray
# byte can be read there.
#
# fixture NAME => keys:
#   data       the file's bytes
#   columns    column definitions; default "n int, ts timestamp, v text", where
#              n counts the file's rows (so that ties can be seen in order)
#   key        the key column; default ts
#   options    fast_copy's arguments, which COPY gets as its options
#   layouts    which tables (see test/differential); default plain key day
#              partial missing
#   days       days that have a partition (default 2013-01-01 .. -05); for
#              integer keys ranges => [[lo, hi], ...] and interval
#   setup      SQL run on the empty table before the load, in both schemas
#   rows       rows that must be there afterwards (with those of setup), or
#   error      SQLSTATE that must come, and line => where it must come from
#   error18    the same from version 18 on, with line18
#   copy_data  other bytes for COPY, where its dialect is known to differ
#              (COPY gets "data" itself from the version on that has
#              default_string, HEADER n, or reads "\." as we do)
#   copy_rows  rows that COPY makes of "data" before version 18
#   since      the version that first has COPY's option
#   chunks     chunk sizes instead of the usual ones
#   settings   SET before both loads
#   whole_lines  an index of a new partition is what refuses a row: the fixture
#              is cut into files at line ends only
#   unordered  the rows do not lie in key order: that of the file, or that of
#              workers without a key

use strict;
use warnings;
use File::Basename qw(dirname);
use File::Spec;

our @FIXTURES;
my %names;

sub fixture
{
	my ($name, %f) = @_;

	die "two fixtures are named $name\n" if $names{$name}++;
	push @FIXTURES, { name => $name, columns => 'n int, ts timestamp, v text',
		key => 'ts', layouts => [qw(plain key day partial missing)],
		days => [ map { sprintf '2013-01-%02d', $_ } 1 .. 5 ],
		options => {}, %f };
}

# Rows "n,ts,v": the n-th value on the n-th of the given days.
sub lines
{
	my ($end, @days) = @_;
	my $n = 0;

	return join('', map { $n++; "$n,2013-01-0$_ 0$_:00:00,v$n$end" } @days);
}

my $dir = File::Spec->rel2abs(dirname(__FILE__)) . '/fixtures';

opendir(my $files, $dir) or die "$dir: $!\n";
require "$dir/$_" foreach sort grep { /\.pl$/ } readdir($files);

1;
