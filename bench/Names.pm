# What drawings call contenders, cases and machines, which have short names in the
# tables.

package Names;

use strict;
use warnings;
use Exporter 'import';
use Draw;

our @EXPORT = qw(contender_name case_name case_conditions machine);

my %contender = (
	fast_copy_alone => 'fast_copy, the leader alone',
	fast_copy_files => 'fast_copy, a call for each file',
	fast_copy_packed => 'fast_copy, eight packed files',
	fast_copy_one_packed => 'fast_copy, one packed file',
	copy => 'COPY',
	copy_packed => 'COPY, eight packed files',
	copy_one_packed => 'COPY, one packed file',
	copy_parallel => 'COPY in several sessions',
	copy_cluster => 'COPY, then CLUSTER',
	copy_stage => 'COPY to a stage, then INSERT',
	copy_freeze => 'COPY FREEZE into one table',
	copy_then_index => 'COPY, then the primary key',
	copy_stdin => "COPY in psql's script",
	copy_binary => 'COPY of a binary file',
	copy_restore => 'pg_restore',
	accelerated => 'COPY, accelerated',
	accelerated_stdin => "COPY in psql's script, accelerated",
	accelerated_binary => 'COPY of a binary file, accelerated',
	accelerated_restore => 'pg_restore, accelerated',
	file_fdw => 'INSERT from file_fdw',
);

my %order = (
	random => 'in random order',
	nearly => 'nearly in time order',
	sorted => 'in time order',
	time => 'in time order',
	counter => 'ordered by counter',
	number => 'ordered by order number',
);

my %target = (
	new => 'new partitions',
	existing => 'existing partitions',
	indexed => 'existing, indexed partitions',
	plain => 'a plain table',
);

# With what sets it off: the workers, the version, partitions and order
sub contender_name
{
	my ($line) = @_;
	my ($base, $variant) = split /:/, $line->{contender}, 2;
	my ($product) = $line->{version} =~ /^(\w+ \d+\.\d+)/;
	my ($workers) = $line->{settings} =~ /workers (\d+)/;
	my $name = $contender{$base} // $base;

	$name = $product if $product && $product !~ /^PostgreSQL/;
	$name .= ', sorted' if $base eq 'duckdb_sorted';
	$name .= ' by day' if $line->{settings} =~ /PARTITION BY (toDate|DAY)/;
	$name .= ', ' . counted_things($workers, 'worker') if $base eq 'fast_copy' && defined $workers;
	$name .= ", $1 $2" if ($variant // '') =~ /^(?!workers)(\w+)=(.*)$/;
	return $name;
}

sub counted_things
{
	my ($n, $thing) = @_;
	return counted($n) . " $thing" . ($n == 1 ? '' : 's');
}

# The title in words, or as it is: "events, random order, 5000000 rows, 351 MB;
# wal_level = replica, file cached, partitions new, ..."
sub title_parts
{
	my ($title) = @_;
	my %of;

	@of{qw(workload order rows mb wal cache target rest)} =
	  $title =~ /^(\w+), (\w+) order, (\d+) rows, (\d+) MB; wal_level = (\w+), file (\w+), partitions (\w+)(?:, (.*))?$/;
	return \%of;
}

sub case_name
{
	my ($title) = @_;
	my $of = title_parts($title);
	my $target = $target{ $of->{target} // '' } or return $title;

	my ($count) = ($of->{rest} // '') =~ /^(\d+) of them$/;
	$target = counted($count) . " $target" if $count;
	my $order = $of->{workload} eq 'objects' ? $order{ $of->{order} } =~ s/time/key/r : $order{ $of->{order} };
	return sprintf 'Seconds to load %s rows of %s (%s MB) %s into %s', counted($of->{rows}), $of->{workload}, counted($of->{mb}), $order, $target;
}

# Nothing if the title says all
sub case_conditions
{
	my ($title) = @_;
	my $of = title_parts($title);

	return () unless $of->{target};
	my @said = (
		$of->{wal} eq 'minimal' ? 'No WAL for new partitions (wal_level = minimal)' : 'Full WAL',
		$of->{cache} eq 'cold' ? 'the file is not in the page cache' : 'the file is in the page cache');
	push @said, "partitions of $1" if ($of->{rest} // '') =~ /^(\d+ days) each$/;
	push @said, $of->{rest} if ($of->{rest} // '') =~ /^memory/;
	return join(', ', @said) . '.';
}

# Without what only a package's maintainer reads, as "(Debian 15.20-0+deb12u1)"
sub machine
{
	my ($conditions) = @_;
	return $conditions =~ s/ \([^)]*\)//gr =~ s/(Linux \d+\.\d+)[^;]*/$1/r;
}

1;
