# What is compared with where COPY of the server's version cannot do it.
#
#   default_string before 16   COPY's file has the constants themselves
#   on_error before 17         COPY loads record by record, and what it
#                              refuses while it converts a column is left out

use strict;
use warnings;
use utf8;

our (%SERVER, $FILE);

my $MOST_RECORDS = 150;    # of a file that is loaded record by record

# Takes out of a case what the server or fast_copy does not know.
sub adapt
{
	my ($c) = @_;
	my $o = $c->{options};

	foreach my $option (qw(force_not_null force_null default_string where_clause on_error reject_limit log_verbosity freeze))
	{
		delete $o->{$option} unless $SERVER{arguments}{$option};
	}
	foreach my $col (@{ $c->{columns} })
	{
		$col->{type} = 'text' if $col->{type} =~ /^(citext|hstore|ltree|xml)$/ && !$SERVER{types}{$1};
	}
	adapt_default($c) if defined $o->{default_string} && $SERVER{version} < 16;
	adapt_on_error($c) if one_by_one_needed($c);
	delete $o->{reject_limit} unless $o->{on_error} && (one_by_one_needed($c) || $SERVER{version} >= 18);
	adapt_tools($c) if $c->{packed};
	delete $o->{timestamp_column} if defined $c->{key} && !grep { $_ eq $c->{key} } @{ $c->{file_columns} };
	return $c;
}

# Only constants can be written into the file, and only where it is known what
# its fields are.
sub adapt_default
{
	my ($c) = @_;
	my $o = $c->{options};
	my $marker = $o->{default_string};
	my %by = map { $_->{name} => $_ } @{ $c->{columns} };
	my @columns = map { $by{$_} } @{ $c->{file_columns} };
	my $known = $c->{records} && !%{ $c->{settings} } && !$o->{encoding} && $marker ne null_of($c)
	  && index($marker, delimiter_of($c)) < 0 && index($marker, $o->{quote} // '"') < 0 && ($o->{header} // '') !~ /^[2-9]/;

	foreach my $r (@{ $c->{records} // [] })
	{
		foreach my $i (0 .. $#columns) { $known = 0 if ref $r->[$i] && ($columns[$i]{constant} // "\n") =~ /[\r\n]/ }
	}
	delete $o->{default_string} unless $known;
}

sub adapt_on_error
{
	my ($c) = @_;
	my $o = $c->{options};
	my $known = !$c->{triggers} && !$c->{foreign} && !(grep { /DEFERRABLE/ } @{ $c->{setup} }) && !defined $o->{default_string}
	  && ($o->{encoding} // $c->{settings}{client_encoding} // 'UTF8') !~ /SJIS|SHIFT_JIS|BIG5|GBK|GB18030|UHC|JOHAB|nonsense/
	  && ($c->{bytes} =~ tr/\r\n//) <= $MOST_RECORDS
	  # behind a line that ends with CR, a record that begins with LF would be seen as none
	  && !($c->{bytes} =~ /\r(?!\n)/ && $c->{bytes} =~ /\r\n/);

	# a field can only be made NULL where it is known which one it is
	$known = 0 if $o->{on_error} eq 'set_null' && (split_records($c, $c->{bytes}) != @{ $c->{rendered} } || grep { may_go_on($c, $_) } map { @$_ } @{ $c->{rendered} });
	return if $known;
	delete @$o{qw(on_error on_error_classes reject_table)};
	delete $c->{rejects};
}

# May the delimiter behind a field as it was written be part of it?
sub may_go_on
{
	my ($c, $field) = @_;
	my $q = $c->{options}{quote} // '"';

	return $field =~ /(?<!\\)(?:\\\\)*\\\z/ if $c->{options}{format} eq 'text';
	return $field =~ /\Q$q/ && $field !~ /\A\Q$q\E.*\Q$q\E\z/s;
}

# The case as COPY gets it: with constants for default markers, and moments as
# core writes them.
sub twin
{
	my ($c) = @_;

	return twin_of_moments($c) if $c->{moments};
	return $c unless defined $c->{options}{default_string} && $SERVER{version} < 16;
	my %by = map { $_->{name} => $_ } @{ $c->{columns} };
	my @constants = map { $by{$_}{constant} } @{ $c->{file_columns} };
	my %twin = (%$c, options => { %{ $c->{options} } }, damaged => 1);
	my $format = $c->{options}{format} eq 'csv' ? \&csv_field : \&text_field;
	my @lines = map { [ @$_ ] } @{ $c->{rendered} };
	my $n = @{ $c->{header_records} };

	# fields that are not markers stay as they were written
	delete $twin{options}{default_string};
	foreach my $r (@{ $c->{records} })
	{
		$lines[$n][$_] = $format->(\%twin, $constants[$_]) foreach grep { ref $r->[$_] } 0 .. $#$r;
		$n++;
	}
	$twin{bytes} = encoded(\%twin, join('', map { join(delimiter_of($c), @$_) . $c->{eol} } @lines));
	# a last line that is empty is a record only if it ends
	$twin{bytes} =~ s/\Q$c->{eol}\E\z// if $c->{unended} && join('', @{ $c->{rendered}[-1] // [] }) eq '';
	return \%twin;
}

# A value that no text of the file has is bad in the twin, too.
sub twin_of_moments
{
	my ($c) = @_;
	my @meanings = map { $c->{moments}{$_} } @{ $c->{file_columns} };
	my %twin = (%$c, damaged => 1);
	my $format = $c->{options}{format} eq 'csv' ? \&csv_field : \&text_field;
	my @lines = map { [ @$_ ] } @{ $c->{rendered} };
	my $n = @{ $c->{header_records} };

	foreach my $r (@{ $c->{records} })
	{
		$lines[$n][$_] = $format->(\%twin, $meanings[$_]{ $r->[$_] } // 'bad') foreach grep { $meanings[$_] && defined $r->[$_] } 0 .. $#$r;
		$n++;
	}
	$twin{bytes} = encoded(\%twin, join('', map { join(delimiter_of($c), @$_) . $c->{eol} } @lines));
	return \%twin;
}

# What COPY of this version cannot tolerate, or does not tell of
sub one_by_one_needed
{
	my ($c) = @_;
	my $o = $c->{options};

	# several COPYs would have a limit each
	return $o->{on_error} && ($SERVER{version} < 17 || $c->{files} && $o->{reject_limit} || $o->{on_error} eq 'set_null' || $o->{on_error_classes} || $o->{reject_table}
		  || $o->{reject_limit} && $SERVER{version} < 18);
}

# The specification with what stands in for COPY.
sub model
{
	my ($c, $spec, $files, $path) = @_;
	my $same = !$c->{files} && $files->[0] eq $c->{bytes};
	my @own = $c->{files} ? files_of($c, $c->{bytes}) : ();
	my $field = $c->{records} ? scalar @{ $c->{header_records} // [] } : 0;

	return $spec unless one_by_one_needed($c);
	foreach my $i (0 .. $#$files)
	{
		my $bytes = $files->[$i];

		push @{ $spec->{records} }, model_file($c, $bytes, "$path.$i", $same || $bytes eq ($own[$i] // ''), $i * $FILE, $field);
		$field += data_records($c, $bytes);
	}
	$spec->{limit} = $c->{options}{reject_limit} if $c->{options}{reject_limit};
	$spec->{classes} = $c->{options}{on_error_classes} // ['conversion'];
	$spec->{rejects} = 1 if $c->{rejects};
	@{$spec}{qw(set_null names delimiter)} = (null_of($c), $c->{file_columns}, delimiter_of($c)) if $c->{options}{on_error} eq 'set_null';
	return $spec;
}

# One file's header and records, of which the first is that number of those
# written; "same" says that fast_copy gets these bytes.
sub model_file
{
	my ($c, $bytes, $path, $same, $before, $field) = @_;
	my %one = (%$c, options => { %{ $c->{options} }, header => 'true' });
	my @records = split_records($c, $bytes);
	my $header = $c->{options}{header} // 'false';
	my ($n, $line) = (0, 0);
	my $first = $records[0] // [ '', 0 ];
	my $eol = $first->[0] =~ /(\r\n|\r|\n)\z/ ? $1 : "\n";
	my @parts;
	my $offset = 0;

	# alone the first record shows the file's line ends to COPY, as in the file;
	# it is the header, or the options are looked at with an empty file
	shift @records if $header !~ /^(false|off|0)$/;
	write_file("$path.h", $header !~ /^(false|off|0)$/ ? $first->[0] : '');
	push @parts, { stmt => copy_sql($c, "$path.h"), line => $before + 1, header => 1 };
	if ($header !~ /^(false|off|0)$/)
	{
		($line, $offset) = ($first->[1], length($first->[0]));
		@records = () if $c->{options}{format} eq 'text' && $first->[0] =~ /^\\\.[\r\n]*\z/;
	}
	foreach my $r (@records)
	{
		my $alone = $n == 0 && $line == 0;

		$n++;
		write_file("$path.$n", ($alone ? '' : "x$eol") . $r->[0]);
		push @parts, { stmt => copy_sql($alone ? $c : \%one, "$path.$n"), line => $before + ($alone ? 1 : $line) };
		$parts[-1]{offset} = $offset if $same;
		$parts[-1]{record} = unpack('H*', $r->[0] =~ s/(?:\r\n|\r|\n)\z//r) if $same && $c->{records};
		@{ $parts[-1] }{qw(path prefix fields eol)} = ("$path.$n", $alone ? '' : "x$eol", $c->{rendered}[ $field++ ], $r->[0] =~ /(\r\n|\r|\n)\z/ ? $1 : $eol)
		  if $c->{options}{on_error} eq 'set_null';
		$offset += length($r->[0]);
		$parts[-1]{last} = $before + $r->[1];
		$line = $r->[1];
		# the end, if COPY does not refuse it
		last if $c->{options}{format} eq 'text' && $r->[0] =~ /^\\\.[\r\n]*\z/;
	}
	return @parts;
}

# A load that must not run in a function: twice alone, and if both succeed
# one after the other.
sub freeze_sql
{
	my ($label, $spec, $json) = @_;
	my $begin = "BEGIN;\nSELECT coalesce(fuzz.begin($json), '') AS refused \\gset\n";
	my $fast = $spec->{fast} =~ s/\ASELECT fast_copy/SELECT public.fast_copy/r . " AS fn";

	return join("\n", "\\set cm ''", "\\set fm ''", "\\set cn 0", "\\set fn 0",
		"$begin$spec->{copy};", '\set cs :SQLSTATE', '\if :ERROR', '\set cm :LAST_ERROR_MESSAGE', '\else', '\set cn :ROW_COUNT', '\endif', 'ROLLBACK;',
		"${begin}SET LOCAL search_path = fast, public;\n$fast \\gset", '\set fs :SQLSTATE', '\if :ERROR', '\set fm :LAST_ERROR_MESSAGE', '\endif', 'ROLLBACK;',
		"SELECT :'cs' = '00000' AND :'fs' = '00000' AS both \\gset", '\if :both',
		"$begin$spec->{copy};", "SET LOCAL search_path = fast, public;\n$fast \\gset", "SELECT '\@$label\@' || fuzz.compare_frozen($json, :cn, :fn)::text;", 'ROLLBACK;', '\else',
		# messages may have what are no characters, which psql does not quote
		'\encoding LATIN1', "SELECT set_config('fuzz.answer', fuzz.outcomes(:'refused', :'cs', :'cm', :cn, :'fs', :'fm', :fn)::text, false) IS NULL AS told \\gset",
		'\encoding UTF8', "SELECT '\@$label\@' || current_setting('fuzz.answer');", '\endif', '');
}

1;
