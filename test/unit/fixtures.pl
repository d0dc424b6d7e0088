# Prints the fixtures of the differential suite as an array in C, for split.c: files of
# csv and text with what tells how they are cut, but the longest ones.

use strict;
use warnings;
use FindBin;
require "$FindBin::Bin/../fixtures.pl";
our @FIXTURES;

my $LONGEST = 20_000;

print "/* made by fixtures.pl */\n";
print "typedef struct Fixture\n{\n\tconst char *name;\n\tFcMode\t\tmode;\n\tchar\t\tquote;\n\tchar\t\tescape;\n\tconst char *data;\n\tsize_t\t\tlen;\n} Fixture;\n\n";
print "static const Fixture fixtures[] = {\n";
foreach my $f (@FIXTURES)
{
	my %o = %{ $f->{options} };
	my $format = $o{format} // 'csv';
	my $quote = $o{quote} // '"';

	next if $format eq 'binary' || length($f->{data}) > $LONGEST;
	printf "\t{\"%s\", FC_MODE_%s, %d, %d,\n\t\t%s, %d},\n", $f->{name}, uc $format, ord($quote), ord($o{escape} // $quote), literal($f->{data}), length($f->{data});
}
print "};\n";

sub literal
{
	my ($bytes) = @_;

	return join("\n\t\t", map { '"' . s/([^ -~]|["\\?])/sprintf '\\%03o', ord($1)/ger . '"' } $bytes eq '' ? '' : $bytes =~ /(.{1,60})/gs);
}
