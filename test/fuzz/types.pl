# The fuzzer's types: how values of each look in a file, good and bad ones.
#
# type NAME => { sql, good => sub, bad => [...], kind }.  What a good value
# means may depend on settings; some are refused under some of them, which is
# as good.  Values are Perl strings of characters.

use strict;
use warnings;
use utf8;

our @TYPES;

# ---- chance -----------------------------------------------------------------

sub rnd { return int(rand($_[0])) }
sub pick { return $_[ rnd(scalar @_) ] }
sub chance { return rand() < $_[0] }

sub shuffled
{
	my @in = @_;
	my @out;

	push @out, splice(@in, rnd(scalar @in), 1) while @in;
	return @out;
}

# ---- pieces of values -------------------------------------------------------

my @WORDS = ('a', 'b', 'c', 'ab', 'x y', ' x', 'y ', 'NULL', 'null', 'NA', '\\N', '\\.', 'raise', 'é', 'ß', '日本', '€', '😀', '表', 'ソ',
	'"', '""', "'", ',', ';', '|', "\t", "\n", "\r", "\r\n", '\\', '\\\\', '\\n', '\\x41', '\\101', '{', '}', '#', '%', '@', '0', '1', '-', '.', '\\t', "\x{301}", "\x01", "\x7f", "\x{a0}");

sub text_value
{
	return join('', map { pick(@WORDS) } 1 .. 1 + rnd(4)) if chance(0.4);
	return pick('a' .. 'z') x (1 + rnd(6)) if chance(0.7);
	return pick('', ' ', 'abcdefghij', 'DEFAULT', '\\D', 'NA', 'NULL', 'x' x 40, 'été' x 20);
}

sub digits { return join('', map { rnd(10) } 1 .. $_[0]) }

sub int_value
{
	my ($top) = @_;
	my $n = chance(0.5) ? rnd(10) : chance(0.5) ? rnd(100) : rnd($top);

	$n = -$n if chance(0.3);
	return pick(" $n", "$n ", "+" . abs($n), sprintf('%03d', $n)) if chance(0.1);
	return $n;
}

sub float_value
{
	return int_value(1000) if chance(0.2);
	return (chance(0.3) ? '-' : '') . rnd(1000) . '.' . digits(1 + rnd(8)) if chance(0.5);
	return rnd(10) . '.' . digits(1 + rnd(20)) . pick('e', 'E') . pick('', '+', '-') . rnd(30) if chance(0.6);
	return pick('NaN', 'nan', 'Infinity', '-inf', '-0', '0', '1e-40', '.5', '5.', '0x1p3', ' 1.5 ', '1e', '3.4028235e38', '1.17549435e-38', '0.1', '123456789012345678901234567890', '2.2250738585072011e-308', '9007199254740993', '16777217');
}

sub numeric_value
{
	return int_value(100000) if chance(0.3);
	return (chance(0.3) ? '-' : '') . digits(1 + rnd(6)) . '.' . digits(rnd(7)) if chance(0.6);
	return pick('NaN', 'Infinity', '-Infinity', '1e5', '1.5E-3', '.5', '5.', '0.000', '000.100', ' 7 ', digits(40), digits(30) . '.' . digits(30), '-0.0', '1e-10', '99999.995', '1_000', '0x1F');
}

sub date_part
{
	my $y = chance(0.8) ? 2013 : pick(1, 44, 1000, 1969, 1970, 1999, 2000, 2004, 2024, 2100, 9999, 10000, 294276);
	my $m = 1 + rnd(12);
	my $d = 1 + rnd(chance(0.9) ? 28 : 31);

	return sprintf('%04d-%02d-%02d', $y, $m, $d) if chance(0.8);
	return pick(sprintf('%04d%02d%02d', $y, $m, $d), sprintf('%d/%d/%04d', $m, $d, $y), sprintf('%d.%d.%04d', $d, $m, $y),
		sprintf('%s %d, %04d', pick(qw(Jan Feb March april MAY)), $d, $y), sprintf('%d-%s-%d', $d, pick(qw(Jan Feb Mar)), $y),
		sprintf('%04d-%02d-%02d BC', $y, $m, $d), sprintf('%04d.%03d', $y, 1 + rnd(366)), 'J245118' . rnd(10), sprintf('%02d-%02d-%02d', $m, $d, $y % 100),
		sprintf('%d-%d-%d', $y, $m, $d), sprintf(' %04d-%02d-%02d ', $y, $m, $d));
}

sub time_part
{
	my $t = sprintf('%02d:%02d', rnd(24), rnd(60));

	return $t if chance(0.2);
	$t .= sprintf(':%02d', rnd(60));
	return $t if chance(0.4);
	return $t . '.' . digits(1 + rnd(7)) if chance(0.6);
	return pick('24:00:00', '23:59:60', '00:00:00', '12:30 PM', '1:02:03', '040506', '04:05:06.7 AM', '23:59:59.9999999', '24:00:00.1', '00:00:60');
}

sub zone_part
{
	return pick('Z', '+00', '+02', '-05:30', '+0545', ' UTC', ' Europe/Berlin', ' EST', '+13:00:30', ' PST8PDT', '-15:59:59', ' zulu', '+16', ' America/St_Johns');
}

sub stamp_value
{
	my ($zones) = @_;

	return pick('infinity', '-infinity', 'epoch', 'now', 'today', 'Jan 5 2013 4:00 PM', '2013-01-05 allballs', 'Mon Jan 07 05:06:07 2013', '2013-01-01 25:00', '4714-11-24 00:00 BC', '4714-11-23 BC', '294276-12-31 23:59:59.999999', '294277-01-01')
	  if chance(0.05);
	return date_part() if chance(0.15);
	return date_part() . pick(' ', ' ', ' ', 'T', '  ') . time_part() . ($zones && chance(0.5) || chance(0.03) ? zone_part() : '');
}

sub uuid_value
{
	my $h = join('', map { pick(0 .. 9, 'a' .. 'f') } 1 .. 32);
	my $u = join('-', substr($h, 0, 8), substr($h, 8, 4), substr($h, 12, 4), substr($h, 16, 4), substr($h, 20));

	return chance(0.8) ? $u : pick($h, uc $u, "{$u}", substr($h, 0, 4) . '-' . substr($h, 4));
}

sub json_value
{
	my ($depth) = @_;

	return pick('1', '-1.50', '1e5', 'true', 'null', '""', '"a\\nb"', '"\\u00e9"', '"é"', '{}', '[]', '"\\\\"', ' 2 ', '1.10')
	  if $depth > 2 || chance(0.4);
	return '[' . join(pick(',', ', '), map { json_value($depth + 1) } 1 .. rnd(4)) . ']' if chance(0.5);
	return '{' . join(',', map { '"' . pick(qw(a b c a é)) . '": ' . json_value($depth + 1) } 1 .. rnd(4)) . '}';
}

sub array_value
{
	my ($gen) = @_;
	my @v = map { my $v = $gen->(); $v =~ s/(["\\])/\\$1/g; chance(0.5) || $v =~ /[\s,{}"\\]|^$|^null$/i ? "\"$v\"" : $v } 1 .. rnd(4);

	push @v, 'NULL' if chance(0.2);
	return '{' . join(pick(',', ', '), @v) . '}' if chance(0.8);
	return pick('{{1,2},{3,4}}', '[2:3]={1,2}', '{}', '{1,2');
}

sub row_value
{
	my ($gen) = @_;
	my $b = $gen->();

	$b =~ s/(["\\])/$1$1/g;
	return '(' . (chance(0.2) ? '' : int_value(50)) . ',' . (chance(0.2) ? '' : chance(0.5) || $b =~ /[(),"\\\s]|^$/ ? "\"$b\"" : $b) . ')';
}

sub range_value
{
	my ($gen) = @_;
	my ($a, $b) = map { my $v = $gen->(); $v =~ s/(["\\])/\\$1/g; $v =~ /[\s,()\[\]"\\]|^$/ ? "\"$v\"" : $v } 1, 2;

	return 'empty' if chance(0.1);
	return pick('[', '(') . (chance(0.1) ? '' : $a) . ',' . (chance(0.1) ? '' : $b) . pick(']', ')');
}

sub span_value
{
	return pick('1 day', '2 mons', '1 year 2 mons 3 days 04:05:06.789', 'P1Y2M3DT4H5M6S', 'PT5M', '-3 days', '1-2', '3 4:05:06', '@ 1 minute ago', '04:05', '1.5 hours', '0', '7', 'P0001-02-03T04:05:06', '1 mon -1 day', '-1:00', '1e3 sec', rnd(100) . ' ' . pick('h', 'days', 'weeks', 'us', 'ms'));
}

# ---- the types --------------------------------------------------------------

sub type
{
	my ($sql, $good, $bad, %more) = @_;

	push @TYPES, { sql => $sql, good => $good, bad => $bad, %more };
}

my @BADINT = ('', 'x', '1x', '99999999999999999999', '-', '+', '1 2', '0x1G', '1e2', '1.5', "1\n", 'é');
my @BADTIME = ('', 'x', '2013-13-01', '2013-02-30', '2013-01-01 24:01', '99999999-01-01', '2013-01-01 10:00 Nowhere/Zone', "2013-01-01\n", '13:00', 'yesterdayish', '2013-00-01');

type('int', sub { int_value(100000) }, \@BADINT, kind => 'int', weight => 8);
type('smallint', sub { int_value(3000) }, [ @BADINT, '32768' ], kind => 'int', weight => 3);
type('bigint', sub { chance(0.1) ? pick('9223372036854775807', '-9223372036854775808') : int_value(1e12) }, \@BADINT, kind => 'int', weight => 4);
type('text', \&text_value, [], kind => 'text', weight => 12);
type('varchar', \&text_value, [], kind => 'text', weight => 2);
type('varchar(5)', sub { substr(text_value(), 0, 5) . (chance(0.1) ? '    ' : '') }, ['abcdef', 'été été'], kind => 'text', weight => 4);
type('char(4)', sub { substr(text_value(), 0, 4) . (chance(0.2) ? '   ' : '') }, ['abcde'], kind => 'text', weight => 3);
type('char', sub { pick('a', 'é', ' ', '1') }, ['ab'], kind => 'text');
type('"char"', sub { pick('a', 'é', ' ', '\\101', 'ab', '') }, []);
type('name', sub { chance(0.1) ? 'x' x 70 : text_value() }, [], kind => 'text');
type('real', \&float_value, [ '', 'x', '1e400', '1e39', '1e-50', '1,5', '--1' ], kind => 'float', weight => 3);
type('double precision', \&float_value, [ '', 'x', '1e400', '1e-400', '1.5.5' ], kind => 'float', weight => 4);
type('numeric', \&numeric_value, [ '', 'x', '1.5.5', '1e', '1e200000' ], kind => 'float', weight => 3);
type('numeric(8,3)', \&numeric_value, [ '', 'x', '999999.5' ], kind => 'float', weight => 3);
type('numeric(5,-2)', \&numeric_value, [ '', 'x', '99999999' ], kind => 'float');
type('numeric(3,5)', sub { pick('0.00123', '0', '-0.00999', '1e-3') }, ['1'], kind => 'float');
type('boolean', sub { pick(qw(t f true FALSE yes no on off 1 0 tr fal ye n), ' t ', 'y') }, [ '', 'o', '2', 'truee', 'é' ], weight => 3);
type('timestamp', sub { stamp_value(0) }, \@BADTIME, weight => 4);
type('timestamptz', sub { stamp_value(1) }, \@BADTIME, weight => 4);
type('timestamp(3)', sub { stamp_value(0) }, \@BADTIME, weight => 2);
type('timestamptz(0)', sub { stamp_value(1) }, \@BADTIME);
type('date', sub { chance(0.1) ? stamp_value(1) : date_part() }, \@BADTIME, weight => 3);
type('time', sub { time_part() }, [ '', 'x', '25:00', '12:60' ], weight => 2);
type('time(2)', sub { time_part() }, ['25:00']);
type('timetz', sub { time_part() . pick('', '+02', 'Z', '-05:30') }, [ '25:00', 'x' ]);
type('interval', \&span_value, [ '', 'x', '1 foo', '1 day 1 day' ], weight => 2);
type('interval(1)', \&span_value, ['x']);
type('interval day to second', \&span_value, ['x']);
type('uuid', \&uuid_value, [ '', 'x', '1234', '6d5f8b0a-0000-4000-8000-00000000000g' ], weight => 3);
type('bytea', sub { chance(0.6) ? '\\x' . join('', map { pick(0 .. 9, 'a' .. 'f') } 1 .. 2 * rnd(10)) : pick('abc', '\\000\\\\', '', '\\x0 0', 'é', '\\x') }, [ '\\x0', '\\xg0', '\\', '\\400' ], weight => 3);
type('json', sub { json_value(0) }, [ '', '{', "'a'", '{"a"}', '[1,]', 'nul' ], weight => 2);
type('jsonb', sub { json_value(0) }, [ '', '{', '"\\u0000"', '[1,]' ], weight => 3);
type('int[]', sub { array_value(sub { int_value(100) }) }, [ '', '{1', '{x}', '{{1},{2,3}}' ], weight => 2);
type('text[]', sub { array_value(\&text_value) }, [ '', 'a', '{"a}' ], weight => 2);
type('numeric(6,2)[]', sub { array_value(sub { numeric_value() }) }, ['{1,99999}']);
type('timestamp[]', sub { array_value(sub { stamp_value(0) }) }, ['{x}']);
type('positive', sub { 1 + rnd(50) }, [ '0', '-5', 'x', '' ], kind => 'int', weight => 2);
type('short', sub { substr(text_value(), 0, 11) }, ['abcdefghijklmnop'], kind => 'text');
type('filled', sub { int_value(50) }, ['x'], kind => 'int', filled => 1);
type('evens', sub { pick('{}', '{1,2}', '{1,2,3,4}') }, [ '{1}', '{1,2,3}', '{x}' ]);
type('narrow', sub { substr(text_value(), 0, 6) }, ['abcdefgh'], kind => 'text', filled => 1);
type('positive[]', sub { array_value(sub { 1 + rnd(5) }) }, ['{0}']);
type('mood', sub { pick('sad', 'ok', 'happy', 'a b', "it's", 'été') }, [ '', 'x', 'SAD', 'sad ' ], weight => 2);
type('pair', sub { row_value(\&text_value) }, [ '', '(1)', '(1,2,3)', '(x,y)' ], weight => 2);
type('guarded', sub { row_value(sub { numeric_value() }) }, [ '(0,1)', '(1,99999)' ]);
type('int4range', sub { range_value(sub { rnd(100) }) }, [ '', '[2,1]', '[1', '[x,y]' ]);
type('numrange', sub { range_value(sub { numeric_value() }) }, ['[2,1]']);
type('tstzrange', sub { range_value(sub { stamp_value(1) }) }, ['x']);
type('textrange', sub { range_value(\&text_value) }, ['x']);
type('int4multirange', sub { pick('{}', '{[1,3)}', '{[1,3),[5,7]}') }, [ '[1,3)', '{[3,1]}' ]);
type('inet', sub { join('.', map { rnd(256) } 1 .. 4) . pick('', '/8', '/32') }, [ '', '300.1.1.1', '1.1.1.1/33' ]);
type('cidr', sub { pick('10.0.0.0/8', '::1', '10', '192.168.1') }, ['10.0.0.1/8']);
type('macaddr', sub { pick('08:00:2b:01:02:03', '0800.2b01.0203', '08-00-2b-01-02-03') }, ['08:00']);
type('bit(3)', sub { pick('101', '000', 'xF') }, [ '10', '1012', '102' ]);
type('varbit(6)', sub { join('', map { rnd(2) } 1 .. rnd(7)) }, [ '1111111', '2' ]);
type('point', sub { '(' . float_value() . ',' . float_value() . ')' }, ['(1)'], plain => 1);
type('box', sub { pick('(1,2),(3,4)', '((0,0),(1,1))') }, ['x'], plain => 1);
type('xml', sub { pick('<a/>', '<a>é</a>', 'text', '<a b="1">x</a><b/>', '<?xml version="1.0"?><a/>') }, [ '<a>', '<a></b>' ], plain => 1);
type('tsvector', sub { pick('a b c', "'x':1A,2 'y'", 'é b:3') }, ["'a"]);
type('tsquery', sub { pick('a & b', '!x | y', 'é:*') }, [ 'a b', '&' ]);
type('oid', sub { int_value(4000) }, [ 'x', '' ], kind => 'int');
type('regclass', sub { pick('pg_class', '1259', 'pg_catalog.pg_type', '-') }, [ 'nowhere', '' ]);
type('regtype', sub { pick('int', 'text[]', 'timestamp with time zone') }, ['nothing']);
type('pg_lsn', sub { sprintf '%X/%X', rnd(1e6), rnd(1e6) }, [ 'x', '1' ]);
type('money', sub { pick('1.50', '$1,000.25', '-3') }, [ 'x', '' ]);
type('int2vector', sub { pick('1 2 3', '') }, ['x']);
type('xid8', sub { rnd(1e6) }, ['x']);
type('jsonpath', sub { pick('$.a', '$[*] ? (@ > 1)') }, [ '$[', '' ]);
type('citext', \&text_value, [], kind => 'text');
type('hstore', sub { pick('a=>1', '"a b"=>NULL, c=>"é"', '') }, [ 'a', 'a=>' ]);
type('ltree', sub { pick('a.b.c', 'x', '') }, ['a..b']);

1;
