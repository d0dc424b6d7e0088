# Files as COPY reads them: where records end, and on which line; and the file
# that COPY gets where its version reads one differently.

use strict;
use warnings;

our %SERVER;

# The records of a file: [bytes with line end, line of the last byte].  Ends
# that are not the file's own stay within a record.
sub split_records
{
	my ($c, $bytes) = @_;
	my $csv = $c->{options}{format} eq 'csv';
	my $q = $c->{options}{quote} // '"';
	my $e = $c->{options}{escape} // $q;
	$e = '' if $e eq $q;
	my ($eol, $line, $start, $inside, $escaped, $embedded) = (undef, 0, 0, 0, 0, 0);
	my @records;

	while ($bytes =~ /\G([^\r\n\\\Q$q$e\E]*)(\r\n|.)/gcs)
	{
		my ($run, $char) = ($1, $2);
		my $one = substr($char, 0, 1);

		if (!$csv && $one eq '\\')
		{
			pos($bytes)++ if pos($bytes) < length($bytes);
			next;
		}
		if (length($char) == 2 && ($csv && $inside || ($eol // '') eq "\r"))
		{
			pos($bytes)--;
			$char = $one;
		}
		if ($csv)
		{
			$escaped = 0 if $run ne '';
			if ($inside && $one eq $e) { $escaped = !$escaped }
			if ($one eq $q && !$escaped) { $inside = !$inside }
			if ($one ne $e) { $escaped = 0 }
			$embedded++ if $inside && $one eq (($eol // '') eq "\n" ? "\n" : "\r");
		}
		next if $inside || $char !~ /^[\r\n]/ || defined $eol && $char ne $eol;
		$eol //= $char;
		$line += 1 + $embedded;
		$embedded = 0;
		push @records, [ substr($bytes, $start, pos($bytes) - $start), $line ];
		$start = pos($bytes);
	}
	push @records, [ substr($bytes, $start), $line + 1 + $embedded ] if $start < length($bytes);
	return @records;
}

# What COPY gets for its file, and by how many lines it is shorter.
sub copy_file
{
	my ($c) = @_;
	my $bytes = $c->{bytes};
	my $cut = 0;
	my $header = $c->{options}{header} // '';

	if ($header =~ /^\d+$/ && $header > 1)
	{
		my @records = split_records($c, $bytes);
		my @skipped = splice(@records, 0, $header);

		# newlines in the first record would be counted in another way
		$cut = @skipped ? $skipped[-1][1] - 1 : 0;
		$bytes = join('', @skipped ? "x$c->{eol}" : '', map { $_->[0] } @records);
	}
	return ($bytes, $cut) unless $SERVER{version} < 18 && $c->{options}{format} eq 'csv' && $bytes =~ /(?:\A|[\r\n])\\\.[\r\n]/;
	$c->{backslash_dot} = 1;
	return (join('', map { quote_end_marker($c, $_->[0]) } split_records($c, $bytes)), $cut);
}

# Quoted, "\." is data before 18 too.
sub quote_end_marker
{
	my ($c, $record) = @_;
	my $q = $c->{options}{quote} // '"';
	my $e = $c->{options}{escape} // $q;

	return $record unless $record =~ /^\\\.([\r\n].*)\z/s;
	return $q . ($e eq '\\' ? '\\' : '') . "\\.$q$1";
}

# The file up to the record that ends on a line.
sub file_up_to
{
	my ($c, $bytes, $line) = @_;

	return join('', map { $_->[0] } grep { $_->[1] <= $line } split_records($c, $bytes));
}

1;
