# Packed sources: what stands in for the plain file that COPY gets.
#
#   each      for each of the case's files how it is packed and how it is read:
#     tool, args, stdin   by which tool, from its standard input or by name
#     at        where members end, as parts of the plain bytes; none: one member
#     skip      frames that hold no data, behind members; pad: zeros at the end
#     program   the command that gives it, if sources are commands
#   program   are they?
#   cut       one of the files and where it ends too early, as part of its last
#             member
#
# A file without a tool stays plain.  A tool that is not there is replaced by
# gzip (see adapt_tools).

use strict;
use warnings;
use utf8;
use List::Util qw(min);

our %SERVER;
our $FEATURE;

my $NUMBER = '7777777';
my @TOOLS = qw(gzip gzip zstd zstd lz4 lz4 bzip2 xz);
my %ARGUMENTS = (
	gzip => [ '', '-1', '-9' ],
	zstd => [ '', '-1', '-19', '--no-check', '--fast=5' ],
	lz4 => [ '', '-9', '-BD', '-B4', '-BX', '--no-frame-crc', '--content-size' ],
	bzip2 => [ '', '-1' ],
	xz => [ '-0', '-1', '--check=none', '--check=crc32', '--check=sha256', '--block-size=100' ]);
my %ALWAYS = (gzip => '-nc', zstd => '-qc', lz4 => '-qc', bzip2 => '-qc', xz => '-qc');
my %UNPACK = (gzip => 'zcat', zstd => 'zstd -qdc', lz4 => 'lz4 -qdc', bzip2 => 'bzcat', xz => 'xzcat');

# ---- drawing ----------------------------------------------------------------

sub make_packed
{
	my ($c) = @_;
	my $p = $c->{packed} = {};
	my $plain = $c->{files} && chance(0.5) ? 0.5 : 0;

	# such as several processes look at, in many pieces
	$c->{tuning}{workers} = pick(2, 2, 3, 4) if chance(0.75);
	$c->{tuning}{chunk_size} = pick(1, 2, 3, 5, 7, 11, 16, 32, 64, 100, 256, 1000, 4096) if chance(0.75);
	suit_format($c) if chance(0.9);
	grow($c) if chance(($FEATURE // '') eq 'packed' ? 0.5 : 0.08);
	add_markers($c) if chance($c->{options}{format} eq 'text' ? 0.12 : 0.04);
	$p->{program} = 1 if chance($c->{grown} ? 0.4 : 0.15);
	$p->{each} = [ map { packing($c, $plain) } 0 .. ($c->{files} ? @{ $c->{files}{at} } : 0) ];
	$p->{each}[0] = packing($c, 0) unless $p->{program} || grep { $_->{tool} } @{ $p->{each} };
	make_cut($p) if chance(0.03);
	# rows are packed when they have been written
	$p->{each} = [ map { { %$_, at => [], skip => [], stdin => 1 } } @{ $p->{each} } ], delete $p->{cut} if $c->{source};
}

sub make_cut
{
	my ($p) = @_;

	$p->{cut} = { file => rnd(scalar @{ $p->{each} }), at => rand() };
	# what ends in front of one is whole
	$p->{each}[ $p->{cut}{file} ]{skip} = [];
}

sub packing
{
	my ($c, $plain) = @_;
	my $tool = pick(@TOOLS);
	my $members = chance(0.5) ? 0 : chance(0.7) ? 1 : 1 + rnd(4);
	my %how = (tool => $tool, args => pick(@{ $ARGUMENTS{$tool} }), stdin => chance(0.5) ? 1 : 0,
		at => [ sort { $a <=> $b } map { chance(0.1) ? rnd(2) : rand() } 1 .. $members ],
		skip => [ map { chance(0.1) ? rnd(pick(2, 30, 3000)) : undef } 0 .. $members ],
		pad => chance(0.1) ? 4 * (1 + rnd(5)) : 0,
		program => pick('cat', 'tool', 'tool', 'dd', 'slow'), size => pick(1, 3, 7, 64, 1000, 65536));

	delete $how{tool} if chance($plain);
	enlarge_packing($c, \%how) if length($c->{bytes}) > 20000;
	return \%how;
}

# Without options that another format has, or that contradict others: such a
# file is not even opened.
sub suit_format
{
	my ($c) = @_;
	my $o = $c->{options};
	my $text = $o->{format} eq 'text';
	my $q = $o->{quote} // '"';

	delete @$o{qw(quote escape force_null force_not_null)} if $text;
	return if !$c->{records} || $c->{feature} || $c->{source};
	delete $o->{encoding} if ($o->{encoding} // '') eq 'nonsense';
	$o->{header} = 'true' if ($o->{header} // '') eq 'wrong';
	delete $o->{delimiter} if $text ? delimiter_of($c) =~ /[a-z0-9.]/ : delimiter_of($c) eq $q;
	delete $o->{null_string} if index(null_of($c), delimiter_of($c)) >= 0 || !$text && index(null_of($c), $q) >= 0;
	$c->{header_records} = [ header_records($c) ];
	$c->{bytes} = encoded($c, render($c));
}

# Of a large file, too, some is there before the rest: the slow tools, or a
# program that waits somewhere.
sub enlarge_packing
{
	my ($c, $how) = @_;

	@{$how}{qw(tool args)} = chance(0.5) ? ('bzip2', '') : ('xz', '-1') if chance(0.4);
	delete $how->{tool} if $c->{packed}{program} && chance(0.7);
	@{$how}{qw(program size)} = chance(0.7) ? ('slow', 1 + rnd(length($c->{bytes}))) : ($how->{program}, 65536);
}

# Its bytes are not those of known records any more.
sub set_unknown
{
	my ($c) = @_;

	return 0 if $c->{feature} || $c->{source};
	mark_damaged($c);
	return 1;
}

# Before a record, or behind the last one
sub insert_at_record
{
	my ($c, $text) = @_;
	my @records = map { $_->[0] } split_records($c, $c->{bytes});
	my $header = header_lines($c);

	return if $header > @records;
	splice(@records, $header + rnd(@records - $header + 1), 0, $text);
	$c->{bytes} = join('', @records);
}

sub add_markers
{
	my ($c) = @_;

	# a marker that begins a quoted field COPY cannot be told before 18
	return if ($c->{options}{quote} // '') eq '\\' || !set_unknown($c);
	insert_at_record($c, pick("\\.$c->{eol}", "\\.$c->{eol}", "\\.\n", "\\.x$c->{eol}")) foreach 1 .. pick(1, 1, 2);
}

# Up to a megabyte of good records, with at most one that may be bad: more than
# what is unpacked at once.
sub grow
{
	my ($c) = @_;
	my @columns = live_columns($c);
	my $size = pick(100000, 300000, 600000, 1200000);
	my $n = 0;

	return if $c->{feature} || one_by_one($c) || chance(0.8) && grep { /UNIQUE|PRIMARY|EXCLUDE/ } @{ $c->{setup} };
	# most of them would be refused at the first row
	return if $c->{layout} !~ /^(plain|key)$/ && !creates($c) && chance(0.8);
	if (chance(0.8))
	{
		take_anything($_) foreach @{ $c->{columns} };
		@{$c}{qw(records outside nulls)} = ([], 0, $c->{nulls} / 5);
		suit_format($c);
	}
	return unless set_unknown($c);
	delete $c->{files} if chance(0.5);
	$c->{files}{anywhere} = 0 if $c->{files};
	$c->{tuning}{workers} = pick(2, 3, 4) if chance(0.9);
	$c->{tuning}{chunk_size} = pick(7, 64, 256, 1000, 4096, 4096, 20000, 65536);
	my $records = pick(4, 8, 30, 200);
	# a text is longer, so that fewer records are as many bytes; but none so short that it fits where another one did not
	$c->{filler} = pick('x', "\n", "\r\n", '\\.', ',"', "y\t\n") x pick(1, 10, 30);
	my $i = (grep { $columns[$_]{type} =~ /^(int|bigint|text)$/ && !$columns[$_]{key} } 0 .. $#columns)[0];
	my @block = map { record_text($c, \@columns, $i, 0, $_, $records) } 1 .. $records;
	my $length = length(join('', map { $_->[0] } @block));
	my $times = 1 + int(min($size / ($length || 1), 20000 / $records));
	my @all = chance(0.4) ? map { ($_) x $times } in_key_order($c, @block) : map { shuffled(@block) } 1 .. $times;

	splice(@all, rnd(scalar @all), 1, record_text($c, \@columns, $i, chance(0.5) ? 1 / @columns : 0, 1, 1)) if chance(0.3);
	$c->{bytes} .= $c->{eol} if $c->{bytes} ne '' && $c->{bytes} !~ /[\r\n]\z/;
	insert_at_record($c, encoded($c, join('', map { $n++; $_->[0] =~ s/$NUMBER/$n/r } @all)));
	$c->{grown} = 1;
}

# A column that refuses nothing, if its type may do so for some "good" values
sub take_anything
{
	my ($col) = @_;

	delete @$col{qw(check notnull)};
	return if $col->{key} || $col->{generated} || $col->{serial} || $col->{type} =~ /^(int|bigint|smallint|text|boolean|uuid|double precision)$/;
	delete @$col{qw(default constant)};
	$col->{type} = 'text';
}

# The record, and its key.  One column, if there is one, becomes the record's
# number later.
sub record_text
{
	my ($c, $columns, $numbered, $bad, $i, $n) = @_;
	my $format = $c->{options}{format} eq 'csv' ? \&csv_field : \&text_field;
	my @values = map { field($c, $_, $bad, $i, $n) } @$columns;
	my ($key) = grep { $columns->[$_]{key} } 0 .. $#$columns;

	$values[$numbered] = $NUMBER . ($columns->[$numbered]{type} eq 'text' ? $c->{filler} : '') if defined $numbered && $bad == 0;
	return [ join(delimiter_of($c), map { $format->($c, $_) } @values) . $c->{eol}, defined $key && !ref $values[$key] ? $values[$key] // '' : '' ];
}

# As far as their text tells it, and those without one last
sub in_key_order
{
	my ($c, @records) = @_;

	return sort { ($a->[1] eq '') <=> ($b->[1] eq '') || $a->[1] cmp $b->[1] } @records if ($c->{unit} // '') ne 'hundred';
	return sort { ($a->[1] eq '') <=> ($b->[1] eq '') || ($a->[1] || 0) <=> ($b->[1] || 0) } @records;
}

# The tools that this machine has
sub tools { return map { $_ => 1 } grep { my $tool = $_; grep { -x "$_/$tool" } split /:/, $ENV{PATH} } keys %ALWAYS }

sub adapt_tools
{
	my ($c) = @_;

	foreach my $how (grep { $_->{tool} && !$SERVER{tools}{ $_->{tool} } } @{ $c->{packed}{each} })
	{
		@{$how}{qw(tool args skip)} = ('gzip', '', []);
	}
}

# ---- names ------------------------------------------------------------------

sub packing_of { my ($c, $i) = @_; return $c->{packed} && $c->{packed}{each}[$i] }

# The files that fast_copy reads
sub source_paths { my ($c, $path) = @_; return file_names($c, $path . ($c->{source} && $c->{packed} ? '.p' : '')) }

# What the user calls them
sub source_names
{
	my ($c, $path) = @_;
	my @paths = source_paths($c, $path);

	return @paths unless $c->{packed} && $c->{packed}{program};
	return map { command(packing_of($c, $_), $paths[$_]) } 0 .. $#paths;
}

sub command
{
	my ($how, $path) = @_;
	my $kind = $how->{program};

	return "dd if='$path' bs=$how->{size} status=none" if $kind eq 'dd';
	return "(head -c $how->{size}; sleep 0.01; cat) <'$path'" if $kind eq 'slow';
	return "$UNPACK{ $how->{tool} } <'$path'" if $kind eq 'tool' && $how->{tool} && !@{ $how->{skip} };
	return "cat '$path'";
}

# ---- packing ----------------------------------------------------------------

# The bytes of the files that fast_copy reads
sub packed_files
{
	my ($c, $scratch, @files) = @_;
	my $cut = $c->{packed} && $c->{packed}{cut};

	$cut->{done} = 0 if $cut;
	foreach my $i ($c->{packed} ? 0 .. $#files : ())
	{
		my $how = packing_of($c, $i);
		next unless $how->{tool};
		my @members = members($how, $scratch, $files[$i]);

		$members[-1] = cut_short($cut, @members) if $cut && $cut->{file} == $i;
		$files[$i] = join('', @members);
	}
	return @files;
}

sub members
{
	my ($how, $scratch, $bytes) = @_;
	my $from = 0;
	my @members;

	foreach my $end ((map { int($_ * length($bytes)) } @{ $how->{at} }), length($bytes))
	{
		my $skip = $how->{skip}[ scalar @members ];

		push @members, pack_piece($how, $scratch, substr($bytes, $from, $end - $from)) . (defined $skip ? skipped($how, $skip) : '');
		$from = $end;
	}
	$members[-1] .= "\0" x $how->{pad} if $how->{tool} =~ /^(gzip|xz)$/;
	return @members;
}

# A frame that holds no data
sub skipped
{
	my ($how, $size) = @_;

	return $how->{tool} =~ /^(zstd|lz4)$/ ? pack('VV', 0x184D2A50 + $size % 16, $size) . ("\x28" x $size) : '';
}

sub pack_piece
{
	my ($how, $scratch, $bytes) = @_;

	write_file($scratch, $bytes);
	open(my $in, '-|:raw', pack_command($how) . ($how->{stdin} ? ' <' : ' ') . "'$scratch'") or die "$how->{tool}: $!\n";
	my $packed = do { local $/; <$in> };
	close($in) or die "$how->{tool} ended with $?\n";
	unlink $scratch;
	return $packed;
}

sub pack_command { my ($how) = @_; return "$how->{tool} $ALWAYS{ $how->{tool} } $how->{args}" }

# The last member, ended too early, but not so that it looks like none.
sub cut_short
{
	my ($cut, @members) = @_;
	my $member = $members[-1] =~ s/\0{4,}\z//r;
	my $least = @members > 1 ? 1 : 12;

	$cut->{done} = length($member) > $least + 1;
	return $members[-1] unless $cut->{done};
	return substr($member, 0, $least + int($cut->{at} * (length($member) - $least)));
}

1;
