# Where the documents point to: what a relative link names is there, with its
# heading; docs/README.md lists every document; a figure that README.md shows is
# one of docs/benchmarks.md; and README.md stays short.

use strict;
use warnings;

my %anchors;

sub links
{
	my ($top) = @_;
	my @documents = glob("$top/*.md $top/docs/*.md $top/bench/*.md $top/test/data/*.md");
	my @broken = map { broken($_) } @documents;
	my $readme = slurp("$top/README.md");
	my $figures = slurp("$top/docs/benchmarks.md");
	my $index = slurp("$top/docs/README.md");
	my @unlisted = grep { index($index, "($_)") < 0 && $_ ne 'README.md' } map { s{^.*/}{}r } glob("$top/docs/*.md");
	my $words = () = $readme =~ /\S+/g;
	my @unknown = grep { / s \|/ && index($figures, "\n$_\n") < 0 } $readme =~ /^(\|.*)$/mg;

	report('links lead somewhere', !@broken, join("\n", @broken));
	report('docs/README.md lists all of docs', !@unlisted, join("\n", @unlisted));
	report('figures of README.md are in docs/benchmarks.md', !@unknown, join("\n", @unknown));
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

# The anchors that GitHub makes of a document's headings
sub anchors
{
	my ($path) = @_;

	return $anchors{$path} //= do
	{
		my %found;
		foreach my $heading (prose(slurp($path)) =~ /^#+ +(.*)$/mg)
		{
			my $anchor = lc $heading;
			$anchor =~ s/[^\w\- ]//g;
			$anchor =~ tr/ /-/;
			my $again = $found{$anchor}++;
			$found{"$anchor-$again"} = 1 if $again;
		}
		\%found;
	};
}

# A document without its fenced blocks
sub prose
{
	return $_[0] =~ s/^```.*?^```$//gmsr;
}

1;
