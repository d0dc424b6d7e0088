# What those share that make tables and drawings of measurements: medians, figures,
# and the frame of a drawing, in colours for light and dark pages.

package Draw;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(median figure counted escaped shape text picture);

sub median
{
	my @sorted = sort { $a <=> $b } grep { defined && /^-?[\d.]+(e-?\d+)?$/ } @_;
	return undef unless @sorted;
	return ($sorted[ $#sorted / 2 ] + $sorted[ @sorted / 2 ]) / 2;
}

sub figure
{
	my ($value, $digits) = @_;
	return defined $value ? sprintf("%.${digits}f", $value) : '-';
}

# 5000000 as 5,000,000
sub counted
{
	my ($n) = @_;
	return reverse(reverse($n) =~ s/(\d{3})(?=\d)/$1,/gr) . '';
}

sub escaped
{
	my ($text) = @_;
	$text =~ s/&/&amp;/g;
	$text =~ s/</&lt;/g;
	return $text;
}

# An element without content; of its numbers one digit after the point is kept
sub shape
{
	my ($name, %attributes) = @_;

	s/(\d+\.\d)\d+/$1/g foreach values %attributes;
	return "<$name" . join('', map { qq{ $_="$attributes{$_}"} } sort keys %attributes) . "/>\n";
}

# A line of text; further attributes as they are written
sub text
{
	my ($x, $y, $text, $attributes) = @_;

	return sprintf qq{<text x="%.1f" y="%.1f"%s>%s</text>\n}, $x, $y, $attributes ? " $attributes" : '', escaped($text);
}

# At most so many letters a line
sub lines
{
	my ($letters, $text) = @_;
	my @lines = '';

	foreach my $word (split / /, $text)
	{
		push @lines, '' if length("$lines[-1] $word") > $letters;
		$lines[-1] .= length($lines[-1]) ? " $word" : $word;
	}
	return @lines;
}

# Writes FILE, on a page of its own, since a site's colours may not be those that
# the reader's system asks for: the title, what is drawn below it, HEIGHT high from y = 0 on, and
# below that the small print.
sub picture
{
	my ($file, $title, $width, $height, $drawn, @small) = @_;
	my @title = lines($width / 8.6, $title);
	my @print = map { lines($width / 6.5, $_) } @small;
	my $top = 14 + 18 * @title;
	my $all = $top + $height + 18 * @print + 10;

	open(my $o, '>', $file) or die "$file: $!\n";
	print $o <<"END";
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $all" width="$width" height="$all" role="img">
<title>${\escaped($title)}</title>
<style>
.page { fill: #ffffff }
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 14px }
.small { font-size: 12px; fill: #59636e }
.bar { fill: #8c959f }
.ours { fill: #0969da }
.range { stroke: #1f2328; stroke-width: 1.5 }
.axis { stroke: #d1d9e0; stroke-width: 1 }
.curve { fill: none; stroke: #8c959f; stroke-width: 2 }
.c1 { stroke: #0969da } .c2 { stroke: #bc4c00 }
.thin { stroke-width: 1.5 } .dashed { stroke-dasharray: 6 4 }
\@media (prefers-color-scheme: dark) {
.page { fill: #0d1117 }
text { fill: #e6edf3 } .small { fill: #9198a1 } .bar { fill: #6e7681 } .ours { fill: #4493f8 } .range { stroke: #e6edf3 }
.axis { stroke: #3d444d } .curve { stroke: #9198a1 } .c1 { stroke: #4493f8 } .c2 { stroke: #db6d28 }
}
</style>
END
	print $o shape('rect', class => 'page', width => $width, height => $all, rx => 6);
	print $o text(8, 20 + 18 * $_, $title[$_], 'class="title"') foreach 0 .. $#title;
	print $o qq{<g transform="translate(0 $top)">\n$drawn</g>\n};
	print $o text(8, $top + $height + 14 + 18 * $_, $print[$_], 'class="small"') foreach 0 .. $#print;
	print $o "</svg>\n";
	close($o) or die "$file: $!\n";
}

1;
