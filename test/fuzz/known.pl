# Which differences are known: each is documented in docs/compared_with_copy.md,
# has a name, and is recognized by all it shows.  What is not recognized is a bug.

use strict;
use warnings;

our (%SERVER, $FILE);

# The name of a known difference; '' where there is none; undef for a bug,
# and then the second value says what is wrong.  "confirm" runs COPY on the
# file cut behind a line, if asked to without the table's indexes, or with those
# only of a SQLSTATE; or on the whole file without the record on that line; or
# both, to compare the order.
sub judge
{
	my ($c, $answer, $cut, $confirm) = @_;
	my ($name, $wrong) = judge_answer(@_);

	# COPY's own file is cut by bytes
	return 'model: header lines of an encoding with bytes like ASCII' if !defined $name && ($c->{options}{header} // '') =~ /^[2-9]/
	  && is_converted($c);
	return ($name, $wrong);
}

# Is the file in an encoding with bytes like ASCII, and so converted as a whole?
sub is_converted
{
	my ($c) = @_;

	return ($c->{options}{encoding} // $c->{settings}{client_encoding} // '') =~ /SJIS|SHIFT_JIS|BIG5|GBK|GB18030|UHC|JOHAB/;
}

sub judge_answer
{
	my ($c, $answer, $cut, $confirm) = @_;
	my ($copy, $fast, $bad) = @{$answer}{qw(copy fast bad)};

	return (undef, 'left behind: ' . $bad->{left}) if $bad->{left};
	return judge_cut($c, $answer) if $c->{packed} && $c->{packed}{cut} && $c->{packed}{cut}{done} && !as_whole($copy, $fast);
	return 'frozen rows of a table that core routes' if $c->{options}{freeze} && $c->{layout} eq 'range' && ($fast->{message} // '') eq 'cannot perform COPY FREEZE on a partitioned table';
	return 'first row ends with a marker' if $SERVER{version} < 18 && ($fast->{message} // '') eq 'cannot tell how the lines of the file end';
	return judge_rows($c, $copy, $fast, $bad, $confirm) if exists $copy->{rows} && exists $fast->{rows};
	return judge_refusal($c, $fast) if exists $copy->{rows};
	return 'end marker where core loads' if exists $fast->{rows} && $c->{backslash_dot} && one_by_one($c) && ($copy->{val} // q()) =~ /^"?\\\./;
	return 'model: a syntax error that is soft from 16 on' if exists $fast->{rows} && $c->{options}{on_error} && $SERVER{version} < 17 && $copy->{state} eq '42601';
	return (undef, 'only COPY refuses the file') if exists $fast->{rows};
	my ($name, $wrong) = judge_errors($c, $copy, $fast, $cut, $confirm);

	($name, $wrong) = (undef, 'analysis of a file with errors') if ($name // 'x') eq '' && $answer->{analysis} && !foretold($c, $fast, $answer->{analysis});
	return ($name, $wrong);
}

# Is the error one that the plain file has, too?
sub as_whole { my ($copy, $fast) = @_; return exists $copy->{state} && exists $fast->{state} && $copy->{state} eq $fast->{state} && $copy->{message} eq $fast->{message} }

# A packed file that ends too early
sub judge_cut
{
	my ($c, $answer) = @_;
	my $fast = $answer->{fast};

	return (undef, 'a packed file that ends too early is loaded') if exists $fast->{rows};
	return 'packed file that ends too early' if $fast->{state} eq '22P04' && $fast->{message} =~ /^(?:unexpected end of|something else follows) the \w+ data of (?:file|program) "/;
	return 'packed file that ends too early' if $fast->{state} eq '38000' && $fast->{message} =~ /^program ".*" failed$/;
	return (undef, 'a packed file that ends too early is refused in other words');
}

# The line of its own file; 0: none is known
sub in_file { my ($o) = @_; return ($o->{line} // 0) % $FILE }

# The bytes of the record that ends on a line, or goes on behind it.
sub record_on
{
	my ($c, $line) = @_;
	my @files = files_of($c, $c->{bytes});
	my ($record) = grep { $_->[1] >= $line % $FILE } split_records($c, $files[ int($line / $FILE) ]);

	return $record ? $record->[0] : '';
}

# Has the look at the file found the line that ends the load?  Indexes, keys
# and triggers it does not look at.
sub foretold
{
	my ($c, $fast, $analysis) = @_;

	return 1 if $c->{source} || one_by_one($c) || $c->{options}{on_error} || !defined $fast->{line} || $fast->{state} =~ /^(235|23P|P0)/;
	return 1 if exists $analysis->{state} && $analysis->{state} eq $fast->{state};
	return 1 if in_file($fast) <= 1 && exists $analysis->{state} || grep { /INDEX/ } @{ $c->{setup} };
	return 0 if !defined $analysis->{line};
	# COPY stops at the first wrong byte, the look tells where its record ends
	return record_on($c, $analysis->{line}) eq record_on($c, $fast->{line}) if $fast->{state} =~ /^(22021|22P05)$/;
	return $analysis->{line} == $fast->{line};
}

sub judge_rows
{
	my ($c, $copy, $fast, $bad, $confirm) = @_;

	return (undef, 'different numbers of rows') if $copy->{rows} != $fast->{rows};
	foreach my $what (sort keys %$bad)
	{
		return 'a short row where a long one did not fit' if $what eq 'order' && defined $bad->{order} && may_fill_holes($c, $confirm);
		# core shows transition tables rows without what was generated, where a partition has another row type
		return 'generated columns in transition tables' if $what eq 'also' && $c->{triggers}{transition} && creates($c) && grep { $_->{generated} } @{ $c->{columns} };
		return 'model: a type of the tables\' own name' if defined $bad->{missing} && defined $bad->{extra} && own_name($bad->{missing}) eq own_name($bad->{extra});
		return (undef, "$what: " . ($bad->{$what} // '')) if defined $bad->{$what};
	}
	return '';
}

# The two tables' row types, as regtype shows them.
sub own_name { return join("\n", sort split /\n/, $_[0] =~ s/\b(?:copy|fast)\.t\b/t/gr) }

# COPY's rows, which show the order of the file here, are not quite in it: core
# puts one into the free space of a page behind which it went on.  Numbered they
# show it.
sub may_fill_holes
{
	my ($c, $confirm) = @_;
	my $numbered = $confirm->(0, 'order');

	return length($c->{bytes}) > 4000 && ($c->{options}{freeze} || exists $numbered->{order} && !defined $numbered->{order});
}

sub judge_refusal
{
	my ($c, $fast) = @_;
	my $message = $fast->{message};

	# one that is malformed ends a load, whatever else is wrong with it
	return 'model: a malformed record that cannot be converted' if $fast->{state} =~ /^(22021|22P05)$/ && defined $fast->{line} && $c->{damaged}
	  && grep { $_ eq 'encoding' } @{ $c->{options}{on_error_classes} // [] };
	return 'model: header lines that cannot be converted' if ($c->{options}{header} // '') =~ /^[2-9]/ && $fast->{state} =~ /^(22021|22P05)$/ && in_file($fast) <= $c->{cut} + 1;
	# COPY's own file has not the lines that are skipped, HEADER N would read them
	return 'model: header lines that are malformed' if ($c->{options}{header} // '') =~ /^[2-9]/ && $fast->{state} eq '22P04'
	  && $message =~ /^(?:unquoted|unterminated|literal) / && in_file($fast) <= $c->{cut} + 1;
	return 'model: a type name that the parser refuses' if $c->{options}{on_error} && $SERVER{version} < 17 && $fast->{state} eq '42601' && defined $fast->{line};
	# a case that lost its default after its header was chosen
	return 'model: a column that the header must name' if ($c->{options}{header} // '') eq 'map' && $message =~ /is missing in the header of the file/;
	return 'end marker where core loads' if $c->{backslash_dot} && $message =~ /^end-of-copy marker before the end of file/;
	return 'default partition has rows of a new one' if default_in_the_way($c, $fast);
	# COPY of 16 and later folds it before the first line, whether it is needed or not
	return 'model: a default that fails' if defined $c->{options}{default_string} && $SERVER{version} < 16 && !defined $fast->{line} && $fast->{state} =~ /^22/;
	return (undef, 'only fast_copy refuses the file');
}

sub default_in_the_way
{
	my ($c, $fast) = @_;

	return creates($c) && $c->{default_partition} && @{ $c->{before} // [] }
	  && $fast->{message} =~ /^updated partition constraint for default partition/;
}

# Names of partitions that one of the two tables has not.
sub neutral
{
	my ($text, $creates) = @_;

	return '' unless defined $text;
	# rows of the load are in other places on disk
	$text =~ s/\b(Index row references tuple) \(\d+,\d+\)/$1/;
	$text =~ s/\bt_(?:f\d|p(?:m|bc|y)?\d+(?:_\d+)*|default)/t_P/g if $creates;
	return $text;
}

sub same_error
{
	my ($c, $copy, $fast) = @_;

	foreach my $what (qw(state message detail names))
	{
		# COPY shows the row in the zone that stands in for time_zone
		next if $what eq 'detail' && $c->{copy_settings};
		return $what if neutral($copy->{$what}, creates($c)) ne neutral($fast->{$what}, creates($c));
	}
	return '';
}

sub same_place
{
	my ($copy, $fast, $cut) = @_;

	return 'line' if ($copy->{line} // -1) + (defined $copy->{line} ? $cut : 0) != ($fast->{line} // -1);
	foreach my $what (qw(col val))
	{
		return $what if defined $copy->{$what} && $copy->{$what} ne ($fast->{$what} // '');
	}
	return '';
}

sub judge_errors
{
	my ($c, $copy, $fast, $cut, $confirm) = @_;
	my $error = same_error($c, $copy, $fast);
	my $place = same_place($copy, $fast, $cut);
	my $known;

	($error, $place) = ('', '') if refused_by_pattern($c, $copy, $fast);

	return '' if $error eq '' && $place eq '';
	$known = known_place($c, $copy, $fast, $cut) if $error eq '';
	$known //= known_error($c, $copy, $fast, $cut, $confirm);
	return $known if defined $known;
	return (undef, "different $error") if $error ne '';
	return (undef, "different $place");
}

# A moment that does not match is refused by us in other words, and its twin
# by the input function.
sub refused_by_pattern
{
	my ($c, $copy, $fast) = @_;

	return $c->{moments} && defined $copy->{col} && $c->{moments}{ $copy->{col} } && ($copy->{col} eq ($fast->{col} // '')) && $copy->{line} == ($fast->{line} // 0)
	  && ($copy->{state} eq '22007' && $fast->{state} =~ /^2200[78]$/ || $copy->{state} eq $fast->{state} && $copy->{message} eq $fast->{message});
}

# The same error, but another place.
sub known_place
{
	my ($c, $copy, $fast, $cut) = @_;

	# COPY still names the column for which it has passed over a record before
	return 'column of a record passed over' if $c->{options}{on_error} && $SERVER{version} >= 17 && defined $copy->{col}
	  && !defined $fast->{col} && ($copy->{line} // -1) + $cut == ($fast->{line} // -1) && $copy->{state} =~ /^(22P04|22021|22P05|(?!22).*)$/;
	return 'line of invalid characters' if $copy->{state} =~ /^(22021|22P05)$/ && defined $fast->{line} && $fast->{line} >= ($copy->{line} // 0) + $cut;
	return 'reported: line of invalid characters in a header' if $copy->{state} =~ /^(22021|22P05)$/ && ($c->{options}{header} // 'false') !~ /^(false|0)$/ && in_file($fast) == 1;
	return 'unterminated header of map without line' if ($c->{options}{header} // '') eq 'map' && $fast->{message} eq 'unterminated CSV quoted field' && !defined $fast->{line};
	return 'index of a new partition' if $copy->{state} eq '54000' && $copy->{message} =~ /^index row size/ && !defined $fast->{line};
	return 'row too big without line' if $copy->{state} eq '54000' && $copy->{message} =~ /^row is too big/ && !defined $fast->{line};
	return 'duplicate in key order' if $copy->{state} =~ /^(23505|23P01)$/ && (reordered($c) || $c->{options}{timestamp_column});
	return 'reported: condition where core loads' if one_by_one($c) && creates($c) && defined $c->{options}{where_clause} && ($fast->{line} // 0) > ($copy->{line} // 1e9) + $cut;
	return undef;
}

# Is this what COPY says of a shorter file?
sub same_alone
{
	my ($c, $alone, $fast, $cut) = @_;

	# COPY converts what it has read ahead, whichever line that is; the bytes it names go on behind the record
	return ($alone->{state} // '') eq $fast->{state} if $fast->{state} =~ /^(22021|22P05)$/;
	# by now it is later
	($alone, $fast) = map { { %$_, detail => ($_->{detail} // '') =~ s/^(Failing row contains).*/$1/sr } } $alone, $fast
	  if grep { ($_->{default} // '') =~ /now\(|localtimestamp/ } @{ $c->{columns} };
	return 1 if exists $alone->{state} && refused_by_pattern($c, $alone, $fast);
	return exists $alone->{state} && same_error($c, $alone, $fast) eq '' && same_place($alone, $fast, $cut) eq '';
}

# Another error.
sub known_error
{
	my ($c, $copy, $fast, $cut, $confirm) = @_;
	my $unique = grep { /UNIQUE|PRIMARY|EXCLUDE/ } @{ $c->{setup} };
	my $checked_late = $unique || grep { /INDEX/ } @{ $c->{setup} };
	my $line = $fast->{line};
	my $error_is_detail = sub { return same_error(@_) eq 'detail' && same_place($copy, $fast, $cut) eq '' };

	return 'line of invalid characters' if $c->{options}{freeze} && $copy->{state} eq $fast->{state} && $fast->{state} =~ /^(22021|22P05)$/;
	# without a line there is nothing to confirm
	return 'line of invalid characters' if $c->{options}{freeze} && $copy->{state} =~ /^(22021|22P05)$/;
	return 'several errors, indexes checked late' if $c->{options}{freeze} && $checked_late;
	return 'several errors, file before FREEZE' if $c->{options}{freeze} && $copy->{message} eq 'cannot perform COPY FREEZE on a partitioned table' && ($fast->{message} =~ /header line/ || $fast->{state} =~ /^(22021|22P05)$/);
	# COPY's own file has not the lines that are skipped
	return 'model: header lines that cannot be converted' if ($c->{options}{header} // '') =~ /^[2-9]/ && $fast->{state} =~ /^(22021|22P05)$/ && in_file($fast) <= $cut + 1;
	return 'model: header lines that are malformed' if ($c->{options}{header} // '') =~ /^[2-9]/ && $fast->{state} eq '22P04'
	  && $fast->{message} =~ /^(?:unquoted|unterminated|literal) / && in_file($fast) <= $cut + 1;
	# COPY compares the names one by one, and has other words for it
	return 'model: header that names no columns' if ($c->{options}{header} // '') eq 'map' && $copy->{state} eq '22P04' && $fast->{state} =~ /^42(703|701)$/;
	return 'model: a syntax error that is soft from 16 on' if $c->{options}{on_error} && $SERVER{version} < 17 && $copy->{state} eq '42601' && defined $line
	  && $line > ($copy->{line} // 1e9) + $cut && same_error($c, $confirm->($copy->{line}, 'without record', qr/^\Q$fast->{state}\E$/), $fast) eq '';
	# the parser's own errors are not soft in COPY of 17 and later either
	return 'model: a type name that the parser refuses' if $c->{options}{on_error} && $SERVER{version} < 17 && $fast->{state} eq '42601' && defined $line;
	return 'a malformed record that cannot be converted' if $c->{damaged} && $fast->{state} =~ /^(22021|22P05)$/
	  && ($copy->{message} =~ /REJECT_LIMIT/ || defined $line && $line < ($copy->{line} // 0) + $cut && grep { $_ eq 'encoding' } @{ $c->{options}{on_error_classes} // [] });
	# COPY verifies a buffer before it looks for the marker in it
	return 'line of invalid characters' if $copy->{state} =~ /^(22021|22P05)$/ && $fast->{message} eq 'end-of-copy marker corrupt' && defined $line
	  && $line >= ($copy->{line} // 0) + $cut && record_on($c, $line) =~ /(?<!\\)(?:\\\\)*\\\.[^\r\n]/;
	# COPY of a SQL_ASCII file verifies nothing; what a record shown to core is made of is verified
	return 'characters of a file said to be SQL_ASCII' if $fast->{state} eq '22021' && ($c->{options}{encoding} // $c->{settings}{client_encoding} // '') eq 'SQL_ASCII';
	# triggers of deferrable constraints are fired partition by partition
	return 'deferrable constraint of other partitions' if one_by_one($c) && creates($c) && $copy->{state} eq '23505' && $fast->{state} eq '23505' && !defined $copy->{line};
	# a sequence has gone on when the record is looked at again
	return 'number of a record that is refused' if $error_is_detail->($c, $copy, $fast) && grep { $_->{serial} } @{ $c->{columns} };
	# a constant that is refused is refused before the first line
	return 'model: a default that fails' if defined $c->{options}{default_string} && $SERVER{version} < 16 && !defined $line && $fast->{state} =~ /^22/;
	return 'end marker where core loads' if $c->{backslash_dot} && one_by_one($c) && ($copy->{val} // '') =~ /^"?\\\./;
	return 'end marker where core loads' if $c->{backslash_dot} && one_by_one($c) && ($copy->{context} // '') =~ /line \d+: ""?\\\./;
	return 'end marker where core loads' if $c->{backslash_dot} && $fast->{message} =~ /^end-of-copy marker before the end of file/;
	return 'end marker in an error that core finds' if $c->{backslash_dot} && $fast->{message} =~ /^end-of-copy marker/ && $fast->{line} == ($copy->{line} // 0) + $cut;
	return 'default partition has rows of a new one' if default_in_the_way($c, $fast);
	return 'duplicate in key order' if $unique && reordered($c) && $copy->{state} =~ /^(23505|23P01)$/ && $copy->{state} eq $fast->{state};
	# found for all rows of a partition at once, when it is attached
	return 'foreign key of a new partition' if creates($c) && $copy->{state} eq '23503' && $fast->{state} eq '23503' && ($fast->{context} // '') =~ /ATTACH PARTITION/;
	# core checks a deferrable constraint before the end of the file is seen
	return 'end marker where core loads' if $c->{backslash_dot} && one_by_one($c) && $fast->{state} eq '23505' && !defined $line;
	return undef unless defined $line;
	# ... behind the records of all files
	return 'foreign key of a new partition' if creates($c) && $copy->{state} eq '23503' && ($copy->{part} // 0) < ($fast->{part} // 0)
	  && same_alone($c, $confirm->($line - $cut, 'without foreign key'), $fast, $cut);
	return 'unique index of a new partition' if $unique && creates($c) && $copy->{state} eq '23505'
	  && same_alone($c, $confirm->($line - $cut, 'without indexes'), $fast, $cut);
	# rows behind an error in a user's code are not indexed any more, nor those that wait to be written together,
	# which COPY writes at the end of each file
	return 'several errors, indexes checked late' if $unique && $copy->{state} =~ /^(23505|23P01)$/ && $line > ($copy->{line} // 1e9) + $cut
	  && same_alone($c, $confirm->($line - $cut, 'without indexes'), $fast, $cut);
	return 'several errors, indexes checked late' if $unique && $checked_late && $copy->{state} =~ /^(23505|23P01)$/ && $fast->{state} =~ /^22/ && !defined $fast->{col};
	# a model that loads record by record looks at indexes after each, and those of new partitions are built at the end
	return 'several errors, indexes checked late' if $checked_late && (one_by_one_needed($c) || creates($c)) && same_alone($c, $confirm->($line - $cut, 'without indexes'), $fast, $cut);
	# of the records before COPY's error two were equal, whichever is named
	return 'several errors, duplicate in key order' if $unique && reordered($c) && $fast->{state} =~ /^(23505|23P01)$/
	  && defined $copy->{line} && ($confirm->($copy->{line} - 1)->{state} // '') eq $fast->{state};
	# or two that equal each other in one way and two in another, which COPY meets first
	return 'several errors, duplicate in key order' if $unique && reordered($c) && $fast->{state} =~ /^(23505|23P01)$/ && $line < ($copy->{line} // 0) + $cut
	  && ($confirm->($copy->{line} - 1, 'only indexes of', $fast->{state})->{state} // '') eq $fast->{state};
	# of two equal rows the one that comes second by its key is before COPY's error, the other one behind it
	return 'several errors, duplicate in key order' if $unique && reordered($c) && $fast->{state} =~ /^(23505|23P01)$/
	  && $line < ($copy->{line} // 0) + $cut && same_error($c, $confirm->($copy->{line}, 'without record', qr/^(23505|23P01)$/), $fast) eq '';
	return 'reported: condition where core loads' if one_by_one($c) && creates($c) && defined $c->{options}{where_clause} && $line > ($copy->{line} // 1e9) + $cut;
	my $alone = $confirm->($line - $cut);
	my $same = same_alone($c, $alone, $fast, $cut);
	return 'several errors, indexes checked late' if $checked_late && $fast->{state} =~ /^22/ && !defined $fast->{col} && $line < ($copy->{line} // 1e9) + $cut;
	return 'several errors, indexes checked late' if $same && $checked_late && $line < ($copy->{line} // 1e9) + $cut;
	return 'line of invalid characters' if $same && $copy->{state} =~ /^(22021|22P05)$/ && $line >= ($copy->{line} // 0) + $cut;
	return undef;
}

1;
