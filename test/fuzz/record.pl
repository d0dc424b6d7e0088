# Files as COPY reads them: where records end, and on which line; the file that
# COPY gets where its version reads one differently; and one file cut into many.
#
# A line of the second file is that line and $FILE, of the third that and twice
# $FILE: so lines of several files compare as those of one.

use strict;
use warnings;

our %SERVER;
our $FILE = 1000000;

# Lines before the data
sub header_lines
{
	my ($c) = @_;
	my $header = $c->{options}{header} // '';

	return $header =~ /^\d+$/ ? $header : $header =~ /^(match|map|true|on)$/i ? 1 : 0;
}

sub data_records { my ($c, $bytes) = @_; return split_records($c, $bytes) - header_lines($c) }

# The bytes of the files that the case's one is cut into, each with the header.
# "Anywhere" is where bytes are those of the case itself, else between records.
sub files_of
{
	my ($c, $bytes) = @_;
	my $f = $c->{files} // return ($bytes);
	my @records = split_records($c, $bytes);
	my $header = join('', map { $_->[0] } splice(@records, 0, header_lines($c)));
	my @pieces = $f->{anywhere} && twin($c) == $c ? split(//, substr($bytes, length($header))) : map { $_->[0] } @records;
	my @cuts = map { int($_ * (@pieces + 1)) } @{ $f->{at} };
	my $from = 0;

	return map { my $piece = join('', @pieces[ $from .. $_ - 1 ]); $from = $_; $header . $piece } @cuts, scalar @pieces;
}

# The names of the files in the order they are loaded
sub file_names { my ($c, $path) = @_; return $c->{files} ? map { "$path.$_" } @{ $c->{files}{names} } : ($path) }

# What COPY gets for all of them, and by how many lines each is shorter
sub copy_files
{
	my ($c) = @_;
	my $cut = 0;
	my @files;

	foreach my $bytes (files_of($c, twin($c)->{bytes}))
	{
		my $one = { %$c, bytes => $bytes };

		(my $copy, $cut) = copy_file($one);
		$c->{backslash_dot} = 1 if $one->{backslash_dot};
		push @files, $copy;
	}
	return (\@files, $cut);
}

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

# The files up to the record that ends on a line.
sub files_up_to
{
	my ($c, $files, $line) = @_;
	my $last = $line < 0 ? 0 : int($line / $FILE);

	return [ @$files[ 0 .. $last - 1 ], map { join('', map { $_->[0] } grep { $_->[1] <= $line - $last * $FILE } split_records($c, $_)) } $files->[$last] // () ];
}

1;
