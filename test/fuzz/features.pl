# What fast_copy has beyond COPY, or before COPY of the server's version had it:
# put on top of a case that is made, so that all others stay what they were.
#
#   classes    on_error_classes, with reject_limit and reject_table
#   set_null   on_error => 'set_null', with classes or without
#   zone       time_zone
#   pattern    timestamp_format: epochs and patterns
#   binary     a binary file, written by COPY TO
#   freeze     rows frozen in a table made in the same transaction
#   analyze    fast_copy_analyze() before the load: with any of them
#   order      order_by: with any of them
#   files      the file cut into some, which are loaded together
#   packed     each file packed, or some of them, or given by a program; some of
#              the cases get more records, or a marker (see pack.pl)
#
# The last ones are drawn last, so that seeds mean the same as without.
#
# A case whose table or file does not suit its feature goes without.

use strict;
use warnings;
use utf8;
use POSIX ();

our %SERVER;
our $FEATURE;    # only this one, or any, but not none

my @CLASSES = qw(conversion missing_columns extra_columns encoding check not_null no_partition unique);
my %MAKE = (classes => \&make_classes, set_null => \&make_set_null, zone => \&make_zone, pattern => \&make_pattern,
	binary => \&make_binary, freeze => \&make_freeze);

sub make_features
{
	my ($c) = @_;
	my $feature = pick(('none') x 8, qw(classes classes set_null set_null zone pattern pattern binary freeze));

	$feature = $FEATURE eq 'any' ? pick(sort keys %MAKE) : $FEATURE if defined $FEATURE;
	$c->{analyze} = 1 if chance(0.15) || $feature eq 'analyze';
	$c->{feature} = $feature if $MAKE{$feature} && $SERVER{arguments}{reject_table} && $MAKE{$feature}->($c);
	make_order($c) if $feature eq 'order' || chance(0.2);
	make_files($c) if chance(0.25) || $feature eq 'files';
	make_packed($c) if (chance(0.2) || $feature eq 'packed') && $SERVER{arguments}{program};
}

# Where the file is cut, as parts of it, so that it stays so if the file gets
# smaller; and how the files are named to the load.
sub make_files
{
	my ($c) = @_;
	my $n = rnd(6);

	return if $c->{source} || $c->{options}{freeze};
	$c->{files} = { at => [ sort { $a <=> $b } map { rand() } 1 .. $n ], anywhere => chance(0.3), pattern => chance(0.4), names => [ shuffled(1 .. $n + 1) ] };
	$c->{files}{names} = [ 1 .. $n + 1 ] if $c->{files}{pattern};
	# which field becomes NULL must be known
	$c->{files}{anywhere} = 0 if ($c->{options}{on_error} // '') eq 'set_null';
}

# Columns that rows are to be sorted by; the rows themselves stay the same.
sub make_order
{
	my ($c) = @_;
	my @columns = grep { !$_->{dropped} && $_->{type} !~ /^(json|jsonpath|xml|point|circle|box|lseg|path|polygon|line)$/ && !($_->{generated} && $SERVER{version} >= 18) } @{ $c->{columns} };

	return if !@columns || !$SERVER{arguments}{order_by} || one_by_one($c);
	# which of two equal rows stays is the file's business
	return if grep { $_ eq 'unique' } @{ $c->{options}{on_error_classes} // [] };
	$c->{options}{order_by} = [ map { quoted(pick(@columns)->{name}) . pick('', '', ' ASC', ' DESC') . pick('', '', ' NULLS FIRST', ' NULLS LAST') } 1 .. pick(1, 1, 2, 3) ];
}

# Are there fields that stand for a default?
sub has_markers { my ($c) = @_; return scalar grep { ref } map { @$_ } @{ $c->{records} // [] } }

sub live_columns
{
	my ($c) = @_;
	my %by = map { $_->{name} => $_ } @{ $c->{columns} };

	return map { $by{$_} } @{ $c->{file_columns} };
}

# ---- rejects ----------------------------------------------------------------

# The file must be one that can be cut into records, and loaded one by one.
sub make_rejects
{
	my ($c) = @_;
	my $o = $c->{options};

	return 0 if one_by_one($c) || has_markers($c);
	delete @$o{qw(default_string encoding reject_limit)};
	delete $c->{settings}{client_encoding};
	$o->{header} = 'true' if ($o->{header} // '') =~ /^[2-9]/;
	if ($c->{records})
	{
		$c->{header_records} = [ header_records($c) ];
		$c->{bytes} = encoded($c, render($c));
	}
	$o->{on_error_classes} = [ grep { chance(0.6) } @CLASSES ] if chance(0.8);
	delete $o->{on_error_classes} unless @{ $o->{on_error_classes} // [] };
	# what COPY uses up of a sequence for a record it refuses, we do not
	delete $o->{on_error_classes} if grep { $_->{serial} && !$_->{dropped} } @{ $c->{columns} };
	$o->{reject_limit} = 1 + rnd(6) if chance(0.3);
	$c->{rejects} = chance(0.6);
	$o->{reject_table} = 'fast.rejects' if $c->{rejects};
	return 1;
}

sub make_classes
{
	my ($c) = @_;

	return 0 unless make_rejects($c);
	$c->{options}{on_error} = 'ignore';
	if (chance(0.6))
	{
		$c->{damaged} = 1;
		delete $c->{records};
		$c->{given} = 1, $c->{options}{header} = 'true' if ($c->{options}{header} // '') eq 'map';
		damage_record($c) foreach 1 .. 1 + rnd(5);
	}
	return 1;
}

# One line gets a fault that a class is about.
sub damage_record
{
	my ($c) = @_;
	my @lines = split /(?<=\n)/, $c->{bytes};
	my $i = rnd(scalar @lines);

	return damage_line_count($c) if !@lines || chance(0.5);
	substr($lines[$i], rnd(length($lines[$i])), 0) = pick("\xff", "\xc3", "\xed\xa0\x80", 'x', '-');
	$c->{bytes} = join('', @lines);
}

sub make_set_null
{
	my ($c) = @_;

	return 0 if !$c->{records} || !make_rejects($c);
	delete $c->{options}{force_not_null};
	push @{ $c->{options}{on_error_classes} }, 'conversion' if $c->{options}{on_error_classes};
	spoil($c, 1 + rnd(4));
	$c->{options}{on_error} = 'set_null';
	return 1;
}

# Values that their types refuse.
sub spoil
{
	my ($c, $n) = @_;
	my @columns = live_columns($c);
	my %bad = map { $_->{sql} => $_->{bad} } our @TYPES;

	foreach (1 .. $n)
	{
		my $r = @{ $c->{records} } ? pick(@{ $c->{records} }) : return;
		my $i = rnd(scalar @columns);

		$r->[$i] = pick(@{ $bad{ $columns[$i]{type} } }) if @{ $bad{ $columns[$i]{type} } };
	}
	$c->{bytes} = encoded($c, render($c));
}

# ---- moments ----------------------------------------------------------------

my @ZONES = ('Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/New_York', 'Pacific/Apia', 'UTC');

# The referee gets the zone as its own.
sub make_zone
{
	my ($c) = @_;

	return 0 if $c->{triggers} || has_markers($c);
	foreach my $col (@{ $c->{columns} })
	{
		delete @$col{qw(default constant)} if ($col->{default} // '') =~ /localtimestamp|now\(|::timestamp/;
	}
	delete $c->{options}{default_string};
	$c->{copy_settings}{timezone} = $c->{options}{time_zone} = pick(@ZONES);
	return 1;
}

# [pattern, how a moment looks, how exact it is, does it say where]
my @PATTERNS = (
	[ 'yyyy-MM-dd HH:mm:ss', '%Y-%m-%d %H:%M:%S', 0 ],
	[ 'yyyy-MM-ddTHH:mm:ss.SSSUUU', '%Y-%m-%dT%H:%M:%S.%U', 6 ],
	[ "yyyy-MM-dd'T'HH:mm:ss.SSS", '%Y-%m-%dT%H:%M:%S.%L', 3 ],
	[ 'yyyy-MM-ddTHH:mm:ss.SSSUUUZ', '%Y-%m-%dT%H:%M:%S.%UZ', 6, 'zulu' ],
	[ 'dd/MM/yyyy HH:mm', '%d/%m/%Y %H:%M', -60 ],
	[ 'yyyyMMddHHmmss', '%Y%m%d%H%M%S', 0 ],
	[ 'dd.MM.yyyy', '%d.%m.%Y', -86400 ],
	[ 'MMM d, yyyy h:mm:ss a', '%b %e, %Y %I:%M:%S %p', 0 ],
	[ 'yyyy-MM-dd HH:mm:ssX', '%Y-%m-%d %H:%M:%S+02', 0, '+02' ],
	[ 'YYYY-MM-DD HH24:MI:SS', '%Y-%m-%d %H:%M:%S', 0 ],
	[ 'YYYY-MM-DD"T"HH24:MI:SS.US', '%Y-%m-%dT%H:%M:%S.%U', 6 ],
	[ 'DD.MM.YYYY HH24:MI:SS.MS', '%d.%m.%Y %H:%M:%S.%L', 3 ],
	[ 'YYYYMMDD', '%Y%m%d', -86400 ],
	[ 'YYYY-DDD HH24:MI', '%Y-%j %H:%M', -60 ],
	[ 'YYYY-MM-DD HH24:MI:SS TZH:TZM', '%Y-%m-%d %H:%M:%S -05:30', 0, '-05:30' ],
	[ 'DD Mon YYYY HH12:MI:SS AM', '%d %b %Y %I:%M:%S %p', 0 ],
	[ 'epoch_s', '%s', 0, 'epoch' ],
	[ 'epoch_s', '%s.%U', 6, 'epoch' ],
	[ 'epoch_ms', '%s%L', 3, 'epoch' ],
	[ 'epoch_us', '%s%U', 6, 'epoch' ],
	[ 'epoch_ns', '%s%U000', 6, 'epoch' ]);

# A moment as a pattern has it, and as core reads it: of the value of a column
# that is no moment nothing is known.
sub moment
{
	my ($value, $pattern, $zone, $type) = @_;
	my ($text, $look, $exact, $where) = @$pattern;
	my ($y, $mo, $d, $h, $mi, $s, $f) = $value =~ /^(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?)?/ or return;

	return if $y < 1970 || $y > 2100 || ($h // 0) > 23 || $mo < 1 || $mo > 12 || $d < 1 || $d > 28;
	$_ //= 0 foreach $h, $mi, $s, $f;
	$f = substr($f . '000000', 0, 6);
	$f = '000000' if $exact <= 0;
	substr($f, 3) = '000' if $exact == 3;
	$s = 0 if $exact < 0;
	$h = $mi = 0 if $exact == -86400;
	local $ENV{TZ} = 'UTC';
	POSIX::tzset();
	my $seconds = 0 + POSIX::mktime($s, $mi, $h, $d, $mo - 1, $y - 1900);
	my @parts = gmtime($seconds);
	# a second of 60 may have gone on to the next day
	my $shown = $look =~ s/%U/$f/r =~ s/%L/substr($f, 0, 3)/er =~ s/%e/$parts[3]/r =~ s/%s/$seconds/r;
	$shown = POSIX::strftime($shown, @parts);
	return ($shown, core_moment($seconds, $f, $where, $zone, $type));
}

# What the value means: an instant, which a timestamp or a date sees on the
# clock of the zone, or what stands there.
sub core_moment
{
	my ($seconds, $f, $where, $zone, $type) = @_;

	$seconds -= $where =~ /^([-+])(\d\d)(?::(\d\d))?$/ ? ($1 eq '-' ? -1 : 1) * ($2 * 3600 + ($3 // 0) * 60) : 0 if defined $where;
	return POSIX::strftime('%Y-%m-%d %H:%M:%S', gmtime($seconds)) . ".$f" . ($type =~ /^timestamptz/ ? '+00' : '') if defined $where && $type =~ /^timestamptz/;
	return POSIX::strftime('%Y-%m-%d %H:%M:%S', gmtime($seconds)) . ".$f" unless defined $where;
	local $ENV{TZ} = $zone;
	POSIX::tzset();
	return POSIX::strftime('%Y-%m-%d %H:%M:%S', localtime($seconds)) . ".$f";
}

# Without what makes a file's characters mean something else
sub plain_options
{
	my ($c) = @_;
	my $o = $c->{options};

	delete @$o{qw(default_string encoding null_string)};
	delete @{ $c->{settings} }{qw(client_encoding datestyle)};
	$o->{header} = 'true' if ($o->{header} // '') =~ /^([2-9]|wrong)/;
	$c->{header_records} = [ header_records($c) ];
}

sub make_pattern
{
	my ($c) = @_;
	my @columns = live_columns($c);
	my $o = $c->{options};
	my $zone = chance(0.5) ? pick(@ZONES) : undef;
	my @at = grep { $columns[$_]{type} =~ /^(?:timestamp|date)/ && $columns[$_]{type} !~ /\[/ && (!$columns[$_]{key} || chance(0.9)) } 0 .. $#columns;

	return 0 if !$c->{records} || $c->{triggers} || !@at || has_markers($c) || grep { ($_->{default} // '') =~ /localtimestamp|now\(|::timestamp/ } @{ $c->{columns} };
	plain_options($c);
	foreach my $i (@at)
	{
		my $pattern = pick(@PATTERNS);

		$c->{patterns}{ $columns[$i]{name} } = $pattern->[0];
		set_moments($c, $columns[$i], $i, $pattern, $zone // $c->{timezone});
	}
	delete @$o{qw(force_null force_not_null)};
	my ($name) = keys %{ $c->{patterns} };
	my $key = (grep { $_->{key} } @columns)[0];
	$o->{timestamp_format} = keys %{ $c->{patterns} } == 1 && $key && $key->{name} eq $name && $o->{timestamp_column} ? $c->{patterns}{$name}
	  : JSON::PP->new->canonical->encode($c->{patterns});
	$c->{copy_settings}{timezone} = $o->{time_zone} = $zone if defined $zone;
	# what must be quoted is, in both files
	$c->{damaged} = 1;
	$c->{bytes} = encoded($c, render($c));
	return 1;
}

# The column's values in all records: each text has one meaning.
sub set_moments
{
	my ($c, $col, $i, $pattern, $zone) = @_;
	my $meaning = $c->{moments}{ $col->{name} } = {};

	foreach my $r (@{ $c->{records} })
	{
		next unless defined $r->[$i];
		my ($shown, $core) = moment($r->[$i], $pattern, $zone, $col->{type});
		($shown, $core) = moment(sprintf('2013-%02d-%02d %02d:%02d:%02d.%06d', 1 + rnd(12), 1 + rnd(28), rnd(24), rnd(60), rnd(60), rnd(1000000)), $pattern, $zone, $col->{type})
		  if !defined $shown && chance(0.95) && !$col->{key};
		($shown, $core) = moment('2013-01-02 12:34:56', $pattern, $zone, $col->{type}) if !defined $shown && $col->{key} && chance(0.95);
		($shown, $core) = (pick('x', '2013-01-0x', '2013-13-01 00:00:00', 'epoch'), 'bad') if !defined $shown;
		$shown = pick(" $shown", "$shown ") if $core ne 'bad' && chance(0.03);
		die "$shown means $core and $meaning->{$shown}\n" if ($meaning->{$shown} //= $core) ne $core;
		$r->[$i] = $shown;
	}
}

# ---- binary -----------------------------------------------------------------

# The file is what COPY TO makes of the rows that the case's file has.
sub make_binary
{
	my ($c) = @_;
	my $o = $c->{options};
	my %text = %$o;

	return 0 if !$c->{records} || has_markers($c);
	return 0 if ($o->{header} // '') eq 'wrong' || ($o->{encoding} // '') eq 'nonsense';
	$c->{source} = { map { $_ => $text{$_} } grep { defined $text{$_} } qw(delimiter null_string quote escape encoding header) };
	$c->{source}{format} = $o->{format};
	$c->{source}{header} = 'true' if ($o->{header} // '') eq 'map' || ($o->{header} // '') eq 'match';
	delete @$o{qw(delimiter null_string quote escape encoding header force_null force_not_null default_string on_error reject_limit log_verbosity)};
	$c->{given} = 1 if ($text{header} // '') eq 'map';
	$o->{format} = 'binary';
	$c->{flip} = sprintf('%.3f', rand()) if chance(0.2);
	$c->{cut_off} = sprintf('%.3f', rand()) if chance(0.1);
	return 1;
}

# ---- freeze -----------------------------------------------------------------

sub make_freeze
{
	my ($c) = @_;

	return 0 if has_markers($c) || $c->{settings}{client_encoding};
	delete @{ $c->{options} }{qw(on_error reject_limit default_string log_verbosity)};
	$c->{options}{freeze} = 'true';
	return 1;
}

1;
