#!/usr/bin/perl
#
# test/rooms.pl [--unreached DIRECTORY] TREE...
#
# What ran in trees of the same source that were built with --coverage, by room: lines, those that ran,
# branches, those that were taken.  A file that was built several times, as unit does,
# is reached where one of them is.  gcov reads the counts, because gcovr takes no file
# that differs from build to build.
# test/coverage.list says what is not counted, and why what stays unreached does.
# Prints a line for each room, and for those of point %BAR the branches that no test
# reaches and that have no reason there, and the reasons that nothing needs any more.
#
# --unreached writes a file for each room: functions that never ran, and each line or
# branch that was not reached, with its reason if it has one.

use strict;
use warnings;
use Cwd qw(abs_path);
use File::Find qw(find);
use File::Path qw(make_path);
use File::Spec;
use FindBin;
use Getopt::Long;
use JSON::PP ();

# Branches that must be reached, in percent
my %BAR = map { $_ => 95 } qw(grammar convert sort key row heap partition/exchange load/ledger);
my $unreached;

GetOptions('unreached=s' => \$unreached) && @ARGV or die "usage: test/rooms.pl [--unreached DIRECTORY] TREE...\n";
my ($top, @others) = map { abs_path($_) // die "$_: $!\n" } @ARGV;
my ($not_counted, $reasons) = read_list("$FindBin::Bin/coverage.list");
my %files;
foreach my $tree ($top, @others)
{
	find({ wanted => sub { take($tree, $_) if /\.gcno$/ }, no_chdir => 1 }, $tree);
}
my (%rooms, %open);
look($_, $files{$_}) foreach sort keys %files;
printf "%-20s %7s %7s %6s  %8s %7s %6s  %8s %10s\n", qw(room lines run % branches taken % explained unexplained);
print_room($_) foreach (sort grep { $_ ne 'all' } keys %rooms), 'all';
write_unreached($unreached) if defined $unreached;
foreach my $room (sort grep { $BAR{$_} } keys %open)
{
	my @left = grep { $_->{branches} && !defined $_->{reason} } @{ $open{$room} };

	print "\n$room, without a reason:\n", map { shown($_) } @left if @left;
}
print "\nnothing needs this line of test/coverage.list: $_->{file} $_->{pattern}\n" foreach grep { !$_->{used} && $files{"src/$_->{file}"} } @$reasons;

# ---- what was counted ---------------------------------------------------------

# What an object says of the files that it was made from
sub take
{
	my ($tree, $path) = @_;
	my $counts = $path =~ s/\.gcno$/.gcda/r;
	my $said = qx{gcov -b -j -t '@{[ -e $counts ? $counts : $path ]}' 2>/dev/null};
	my $found = JSON::PP->new->decode($said =~ /\S/ ? $said : die "gcov: $path\n");

	foreach my $file (@{ $found->{files} })
	{
		my $name = abs_path(File::Spec->rel2abs($file->{file}, $found->{current_working_directory})) // next;

		next unless $name =~ s{^\Q$tree\E/((?:cluster/)?src/)}{$1};
		my $all = $files{$name} //= { lines => {}, functions => {} };
		$all->{functions}{ $_->{start_line} }{ $_->{name} } += $_->{execution_count} foreach @{ $file->{functions} };
		merge($all->{lines}{ $_->{line_number} } //= { count => 0, taken => [] }, $_) foreach @{ $file->{lines} };
	}
}

sub merge
{
	my ($all, $line) = @_;
	my @branches = grep { !$_->{throw} } @{ $line->{branches} };

	$all->{count} += $line->{count};
	$all->{taken}[$_] += $branches[$_]{count} foreach 0 .. $#branches;
}

# Adds up a file
sub look
{
	my ($file, $found) = @_;
	my @source = ('', map { "$_\n" } split /\n/, slurp("$top/$file"));
	my $room = room($file);
	my $in = '';

	foreach my $n (sort { $a <=> $b } keys %{ $found->{lines} })
	{
		my $line = $found->{lines}{$n};
		my @taken = @{ $line->{taken} };
		my ($what, $text) = left_out($n, \@source);

		next if $what eq 'line';
		@taken = () if $what eq 'branches';
		$in = join(', ', keys %{ $found->{functions}{$n} }) if $found->{functions}{$n};
		foreach my $sum (@rooms{ $room, 'all' } = map { $rooms{$_} // { } } $room, 'all')
		{
			$sum->{lines}++;
			$sum->{run}++ if $line->{count};
			$sum->{branches} += @taken;
			$sum->{taken} += grep { $_ } @taken;
		}
		my $missed = grep { !$_ } @taken;
		next if $line->{count} && !$missed;
		my $reason = reason($file, $text);
		$rooms{$_}{ defined $reason ? 'explained' : 'unexplained' } += $missed foreach $room, 'all';
		push @{ $open{$room} }, { file => $file, n => $n, text => $text, run => $line->{count}, branches => $missed, of => scalar(@taken), reason => $reason, function => $in };
	}
	foreach my $n (sort { $a <=> $b } keys %{ $found->{functions} })
	{
		my @names = grep { !$found->{functions}{$n}{$_} } keys %{ $found->{functions}{$n} };
		push @{ $rooms{$room}{never} }, map { "$file:$n: $_" } @names;
	}
}

# The room of a file; two parts are looked at by themselves
sub room
{
	my ($file) = @_;

	return 'cluster' if $file =~ m{^cluster/};
	return 'partition/exchange' if $file =~ m{partition/exchange\.c$};
	return 'load/ledger' if $file =~ m{load/ledger[^/]*$};
	return $file =~ m{^src/([^/]+)/} ? $1 : 'src';
}

# ---- the list -----------------------------------------------------------------

sub read_list
{
	my ($path) = @_;
	my (@out, @why);

	foreach (split /\n/, slurp($path))
	{
		next if /^#|^$/;
		my ($where, $pattern, $reason) = split /\t+/;
		die "$path: not a line of it: $_\n" unless defined $reason;
		push @{ $where =~ /^(?:line|branches)$/ ? \@out : \@why }, { file => $where, pattern => $pattern, re => qr/$pattern/, reason => $reason };
	}
	return (\@out, \@why);
}

# What is left out of a line: "line", "branches" or nothing; and its text, on one line
sub left_out
{
	my ($n, $source) = @_;
	my $statement = $source->[$n];

	# a condition, and what it decides on
	for (my $next = $n + 1; $statement !~ /[;{}]\s*$/ && $next <= $#$source && $next < $n + 8; $next++) { $statement .= $source->[$next]; }
	foreach my $rule (@$not_counted)
	{
		return ($rule->{file}, '') if ($rule->{file} eq 'line' ? $statement : $source->[$n]) =~ $rule->{re};
	}
	return ('', $source->[$n] =~ s/^\s+|\s+$//gr);
}

sub reason
{
	my ($file, $text) = @_;

	foreach my $rule (@$reasons)
	{
		next unless "src/$rule->{file}" eq $file && $text =~ $rule->{re};
		$rule->{used}++;
		return $rule->{reason};
	}
	return;
}

# ---- what is said -------------------------------------------------------------

sub print_room
{
	my ($room) = @_;
	my %sum = (lines => 0, run => 0, branches => 0, taken => 0, explained => 0, unexplained => 0, %{ $rooms{$room} });

	printf "%-20s %7d %7d %6s  %8d %7d %6s  %8d %10d%s\n", $room, @sum{qw(lines run)}, percent(@sum{qw(run lines)}), @sum{qw(branches taken)},
	  percent(@sum{qw(taken branches)}), @sum{qw(explained unexplained)},
	  $BAR{$room} && 100 * $sum{taken} < $BAR{$room} * $sum{branches} ? "  below $BAR{$room}" : '';
}

sub percent { my ($part, $all) = @_; return $all ? sprintf('%.1f', 100 * $part / $all) : '-' }

sub shown
{
	my ($one) = @_;

	return sprintf("  %s:%d: %s  %s\n", @$one{qw(file n)}, $one->{run} ? "$one->{branches} of $one->{of}" : 'never', $one->{text});
}

sub write_unreached
{
	my ($directory) = @_;

	make_path($directory);
	foreach my $room (grep { $_ ne 'all' } keys %rooms)
	{
		my $path = "$directory/" . ($room =~ s{/}{.}gr) . '.txt';
		my ($function, $file) = ('', '');

		open(my $out, '>', $path) or die "$path: $!\n";
		print $out "functions that never ran:\n", map { "  $_\n" } @{ $rooms{$room}{never} // [] };
		print $out "\nlines that never ran, and branches that were not taken:\n";
		foreach my $one (@{ $open{$room} // [] })
		{
			print $out "\n$one->{file}\n" if $file ne $one->{file};
			$file = $one->{file};
			print $out " in $one->{function}\n" if $function ne $one->{function};
			$function = $one->{function};
			print $out shown($one), defined $one->{reason} ? "      because: $one->{reason}\n" : ();
		}
		close($out) or die "$path: $!\n";
	}
}

sub slurp
{
	my ($path) = @_;

	open(my $in, '<', $path) or die "$path: $!\n";
	local $/;
	return <$in>;
}
