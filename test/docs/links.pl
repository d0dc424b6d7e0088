# Where the documents point to: what a relative link names is there, with its
# heading; docs/README.md lists every document, and a page all its parts; a figure
# that README.md shows is one of docs/benchmarks.md, and drawn; and README.md stays
# short.

use strict;
use warnings;

my %anchors;

sub links
{
	my ($top, $files) = @_;
	my @documents = glob("$top/*.md $top/docs/*.md $top/bench/*.md $top/test/data/*.md");
	my @broken = map { broken($_) } @documents;
	my $readme = slurp("$top/README.md");
	my $figures = slurp("$top/docs/benchmarks.md");
	my $index = slurp("$top/docs/README.md");
	my @unlisted = grep { index($index, "($_)") < 0 && $_ ne 'README.md' } map { s{^.*/}{}r } glob("$top/docs/*.md");
	my $words = () = $readme =~ /\S+/g;
	my @unknown = grep { / s \|/ && index($figures, "\n$_\n") < 0 } $readme =~ /^(\|.*)$/mg;

	my @untold = map { untold($_) } grep { !/README\.md$/ } glob("$top/docs/*.md");

	my @unnamed = map { unnamed($top, @$_) } [ 'src/context/activity.c', 'reference.md' ], [ 'src/report/report.c', 'reference.md' ],
	  [ 'src/compat/wait_event.c', 'monitoring.md' ];

	report('phases, ways and wait events are explained', !@unnamed, join("\n", @unnamed));
	report('contents name all parts of a page', !@untold, join("\n", @untold));
	report('links lead somewhere', !@broken, join("\n", @broken));
	report('docs/README.md lists all of docs', !@unlisted, join("\n", @unlisted));
	report('figures of README.md are in docs/benchmarks.md', !@unknown, join("\n", @unknown));
	system("$top/bench/chart", "$top/README.md", "$files/docs_chart.svg");
	report('the drawing of README.md is what "make docs" makes of its table', slurp("$top/docs/benchmark.svg") eq slurp("$files/docs_chart.svg"));
	report('README.md has 1,200 words at most', $words <= 1200, "$words words");
}

# The links of a document that lead nowhere
sub broken
{
	my ($path) = @_;
	my ($dir) = $path =~ m{^(.*)/};
	my @broken;

	foreach my $link (prose(slurp($path)) =~ /\]\(([^)\s]+)\)/g)
	{
		my ($file, $anchor) = $link =~ /^([^#]*)#?(.*)$/;
		my $target = $file eq '' ? $path : "$dir/$file";

		next if $link =~ /^\w+:/;
		# The release archive is without them.
		next if $link =~ m{bench/results} && !-e "$dir/../bench/results";
		push @broken, "$path: $link" if !-e $target || $anchor ne '' && !anchors($target)->{$anchor};
	}
	return @broken;
}

# Of the names that a file of the code has in an array, those that a page has in
# no table
sub unnamed
{
	my ($top, $file, $page) = @_;
	my ($array) = slurp("$top/$file") =~ /static const char \*const names\[[^\]]*\] = \{(.*?)\};/s or return "$file: no names";
	my $tables = join "\n", slurp("$top/docs/$page") =~ /^(\| `.*) \|/mg;

	return map { "$page: $_, of $file" } grep { $tables !~ /`$_`/ } $array =~ /"(\w+)"/g;
}

# The parts of a page that its list of contents lacks; with up to three parts it
# needs none
sub untold
{
	my ($path) = @_;
	my $text = prose(slurp($path));
	my @parts = $text =~ /^## (.*)$/mg;

	return if @parts <= 3;
	return map { "$path: $_" } grep { my $anchor = anchor($_); $_ ne 'Contents' && $text !~ /^ *- \[[^\n]*\]\(#\Q$anchor\E\)$/m } @parts;
}

# The anchors that GitHub makes of a document's headings
sub anchors
{
	my ($path) = @_;

	return $anchors{$path} //= do
	{
		my %found;
		foreach my $heading (prose(slurp($path)) =~ /^#+ +(.*)$/mg)
		{
			my $anchor = anchor($heading);
			my $again = $found{$anchor}++;
			$found{"$anchor-$again"} = 1 if $again;
		}
		\%found;
	};
}

sub anchor
{
	my $anchor = lc $_[0];

	$anchor =~ s/[^\w\- ]//g;
	return $anchor =~ tr/ /-/r;
}

# A document without its fenced blocks
sub prose
{
	return $_[0] =~ s/^```.*?^```$//gmsr;
}

1;
