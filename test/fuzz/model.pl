# What is compared with where COPY of the server's version cannot do it.

use strict;
use warnings;
use utf8;

our %SERVER;
our @TYPES;

# Takes out of a case what the server or fast_copy does not know.
sub adapt
{
	my ($c) = @_;
	my $o = $c->{options};

	foreach my $option (qw(force_not_null force_null default_string where_clause on_error reject_limit log_verbosity freeze))
	{
		delete $o->{$option} unless $SERVER{arguments}{$option};
	}
	delete $o->{reject_limit} unless $o->{on_error};
	adapt_columns($c);
	delete $o->{timestamp_column} if defined $c->{key} && !grep { $_ eq $c->{key} } @{ $c->{file_columns} };
	return $c;
}

sub adapt_columns
{
	my ($c) = @_;

	foreach my $col (@{ $c->{columns} })
	{
		next unless $col->{type} =~ /^(citext|hstore|ltree|xml)$/ && !$SERVER{types}{$1};
		$col->{type} = 'text';
	}
}

# The specification with what stands in for COPY.
sub model
{
	my ($c, $spec, $bytes, $path) = @_;

	return $spec;
}

1;
