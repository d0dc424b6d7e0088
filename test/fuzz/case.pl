# One case of the fuzzer from a seed and a number: a table, a file, options.
#
# A case is plain data (a hash), so that it can be changed and run again:
#   columns   [{ name, type, default, notnull, generated, serial, check }], in
#             table order; dropped columns too
#   layout    plain key range list hash sub multi expr
#   key       the key column's name; unit and slots: the partitions' bounds
#   have      which slots have a partition in fast_copy's table
#   setup     SQL on both tables before the load
#   options   fast_copy's arguments; settings: SET before both loads
#   records   the file before it was damaged; bytes: the file
#   tuning    workers and settings that must not change anything
#   packed    how fast_copy's file is packed, or given by a program
#
# Chance is drawn in the same order whatever the server can do.

use strict;
use warnings;
use utf8;
use Encode ();

require "$FindBin::Bin/types.pl";
require "$FindBin::Bin/features.pl";
require "$FindBin::Bin/pack.pl";
our @TYPES;
our %SERVER;

my @WEIGHTED = map { my $t = $_; ($t) x ($t->{weight} // 1) } @TYPES;
my %TYPE = map { $_->{sql} => $_ } @TYPES;

my @KEYS = (
	{ type => 'timestamp', unit => 'day' }, { type => 'timestamp', unit => 'day' },
	{ type => 'timestamptz', unit => 'day' }, { type => 'date', unit => 'day' },
	{ type => 'timestamp', unit => 'month' }, { type => 'date', unit => 'month' },
	{ type => 'timestamptz', unit => 'month' },
	{ type => 'timestamp', unit => 'hour' }, { type => 'timestamptz', unit => 'hour' },
	{ type => 'int', unit => 'hundred' }, { type => 'bigint', unit => 'hundred' },
	{ type => 'smallint', unit => 'hundred' });

sub make_case
{
	my ($seed, $number) = @_;
	my $c = { seed => $seed, number => $number, settings => {}, options => {}, tuning => {}, setup => [], features => {} };

	srand($seed * 1000003 + $number);
	rand() foreach 1 .. 3;
	make_table($c);
	make_options($c);
	make_settings($c);
	make_tuning($c);
	make_file($c);
	make_features($c);
	return $c;
}

# ---- the table --------------------------------------------------------------

sub make_table
{
	my ($c) = @_;
	my $n = chance(0.05) ? 20 + rnd(40) : 1 + rnd(6);

	$c->{layout} = pick(('plain') x 5, ('key') x 3, ('range') x 9, 'list', 'hash', 'sub', 'multi', 'expr');
	my @columns = map { make_column($c, $_) } 1 .. $n;
	if ($c->{layout} ne 'plain')
	{
		my $k = $c->{layout} =~ /^(list|hash|expr)$/ ? { type => pick('int', 'bigint', 'int'), unit => 'hundred' } : pick(@KEYS);

		$c->{keytype} = $k->{type};
		$c->{unit} = $k->{unit};
		$c->{key} = pick('k', 'k', 'ts', 'Key', 'a b', '}qé');
		splice(@columns, rnd(@columns + 1), 0, { name => $c->{key}, type => $k->{type}, key => 1, notnull => chance(0.2) });
	}
	$c->{columns} = \@columns;
	$c->{multi_column} = (grep { $_->{type} eq 'int' && !$_->{dropped} && !$_->{serial} && !$_->{key} } @columns)[0];
	$c->{layout} = 'range' if $c->{layout} eq 'multi' && !$c->{multi_column};
	make_slots($c);
	make_generated($c);
	make_constraints($c);
	make_indexes($c);
	make_triggers($c);
	$c->{foreign} = chance(0.04);
	$c->{reordered} = $c->{layout} =~ /^(range|list|hash|multi)$/ && !$c->{triggers} && chance(0.15);
	# what is in the default partition of ours is in another one of COPY's
	$c->{rows_before} = chance(0.15) && !($c->{default_partition} && $c->{missing} eq 'create') ? 1 + rnd(3) : 0;
	$c->{unlogged} = chance(0.05);
	$c->{temporary} = !$c->{unlogged} && $c->{layout} =~ /^(plain|key)$/ && chance(0.03);
}

sub make_column
{
	my ($c, $i) = @_;
	my $type = pick(@WEIGHTED);
	my %col = (name => pick("c$i", "c$i", "c$i", "C $i", "é$i", "c${i}\"q"), type => $type->{sql});

	$col{dropped} = chance(0.07);
	$col{notnull} = chance(0.1);
	if (chance(0.25))
	{
		$col{constant} = $type->{good}->();
		$col{default} = literal($col{constant});
	}
	$col{default} = pick('current_setting(\'port\')', "'a' || 'b'", 'session_user', 'lower(\'AB\')', 'pg_backend_pid()::text || \'x\' = \'\' || NULL'), delete $col{constant}
	  if $type->{sql} eq 'text' && chance(0.2);
	$col{default} = pick('now()', 'localtimestamp', "'2013-01-02'::timestamp + '1 day'"), delete $col{constant} if $type->{sql} =~ /^timestamp/ && chance(0.2);
	$col{default} = pick('plus(1, 2)', 'slow_plus(3, 4)', '1 + 1', 'length(current_user)', '1 / 0'), delete $col{constant} if $type->{sql} eq 'int' && chance(0.2);
	if ($type->{sql} =~ /^(int|bigint)$/ && chance(0.06))
	{
		$col{serial} = pick('serial', 'identity', 'always');
		delete @col{qw(default constant)};
	}
	return \%col;
}

# Six slots of the key's domain, one of which never has a partition of ours.
sub make_slots
{
	my ($c) = @_;

	return unless $c->{key};
	$c->{missing} = pick(('create') x 7, 'error', 'default');
	# the partitions of these are compared with SQL, test/pgtap/list.sql
	$c->{missing} = 'default' if $c->{missing} eq 'create' && $c->{layout} =~ /^(list|expr|sub)$/;
	$c->{default_partition} = $c->{layout} eq 'range' && ($c->{missing} eq 'default' || $c->{missing} eq 'create' && chance(0.1));
	$c->{gap} = 1 + rnd(4);
	my $p = pick(0, 0, 0.5, 1);
	$c->{have} = [ map { chance($p) ? 1 : 0 } 0 .. 5 ];
	$c->{have}[0] = 1 if $c->{layout} eq 'sub';
	$c->{interval_given} = chance(0.3);
}

sub make_generated
{
	my ($c) = @_;
	my @plain = grep { !$_->{dropped} && !$_->{serial} } @{ $c->{columns} };
	my ($int) = grep { $_->{type} eq 'int' } @plain;
	my ($text) = grep { $_->{type} eq 'text' } @plain;
	my @made;

	push @made, { type => 'int', generated => pick('%s * 2', '10 / %s', 'plus(%s, 1)', 'slow_plus(%s, 1)'), of => $int->{name} } if $int && chance(0.15);
	push @made, { type => 'text', generated => pick('upper(%s)', '%s || %1$s', 'left(%s, 3)'), of => $text->{name} } if $text && chance(0.15);
	foreach my $g (@made)
	{
		$g->{name} = 'g' . rnd(1000);
		splice(@{ $c->{columns} }, rnd(@{ $c->{columns} } + 1), 0, $g);
	}
}

sub make_constraints
{
	my ($c) = @_;

	foreach my $col (grep { !$_->{dropped} && !$_->{generated} } @{ $c->{columns} })
	{
		my $kind = $TYPE{ $col->{type} }{kind} // '';

		next unless chance(0.12);
		$col->{check} = pick('%s > -50', '%s %% 7 <> 3', '%s IS NOT NULL', 'seventh(%s)') if $col->{type} eq 'int';
		$col->{check} = pick('length(%s) < 30', 'short_enough(%s)', "%s <> 'b'") if $col->{type} eq 'text';
		$col->{check} = '%s < 1000' if $kind eq 'float';
	}
}

sub make_indexes
{
	my ($c) = @_;
	my @cols = grep { !$_->{dropped} && ($TYPE{ $_->{type} // '' }{kind} // '') =~ /^(int|text|float)$/ } @{ $c->{columns} };
	my $key = $c->{layout} =~ /^(range|sub|list|hash)$/ ? $c->{key} : undef;

	return unless @cols && chance(0.35);
	foreach (1 .. 1 + rnd(2))
	{
		my $col = pick(@cols);
		my $q = quoted($col->{name});
		my $kq = $key && $key ne $col->{name} ? ', ' . quoted($key) : '';
		my $unique = $c->{layout} !~ /^(multi|expr)$/;
		my @kinds = ("CREATE INDEX ON t ($q)", "CREATE INDEX ON t USING hash ($q)", "CREATE INDEX ON t USING brin ($q)",
			"CREATE INDEX ON t ($q DESC NULLS LAST) WHERE $q IS NOT NULL");
		push @kinds, ("CREATE UNIQUE INDEX t_uni ON t ($q$kq)") x 3, "CREATE UNIQUE INDEX t_uni ON t ($q$kq) NULLS NOT DISTINCT",
		  "ALTER TABLE t ADD PRIMARY KEY ($q$kq)", "ALTER TABLE t ADD UNIQUE ($q$kq) DEFERRABLE INITIALLY IMMEDIATE" if $unique;
		push @kinds, "CREATE INDEX ON t ((10 / $q))", "CREATE INDEX ON t (slow_plus($q, 1))" if $col->{type} eq 'int';
		push @kinds, "CREATE INDEX ON t (lower($q))" if $col->{type} eq 'text';
		push @kinds, "ALTER TABLE t ADD EXCLUDE USING btree ($q WITH =)", "ALTER TABLE t ADD EXCLUDE USING gist (int4range($q, $q, '[]') WITH &&)" if $col->{type} eq 'int' && $c->{layout} =~ /^(plain|key)$/;
		push @{ $c->{setup} }, pick(@kinds);
	}
}

sub make_triggers
{
	my ($c) = @_;
	my @kinds = qw(before after statement transition skip replica fails);

	return unless chance(0.08);
	$c->{triggers} = { map { pick(@kinds) => 1 } 1 .. 1 + rnd(2) };
	$c->{trigger_on_leaf} = chance(0.2);
}

# ---- options ----------------------------------------------------------------

sub make_options
{
	my ($c) = @_;
	my $o = $c->{options};
	my @file = grep { !$_->{dropped} && !$_->{generated} } @{ $c->{columns} };

	@file = $c->{columns}[0] = make_column($c, 99), delete $file[0]{dropped} if !@file;
	$o->{format} = chance(0.3) && $SERVER{text} ? 'text' : 'csv';
	@file = shuffled(@file) if $c->{given} = chance(0.3);
	my @some = grep { $_->{key} && chance(0.9) || chance(0.8) } @file;
	@file = @some if $c->{given} && @some;
	$c->{file_columns} = [ map { $_->{name} } @file ];
	$o->{delimiter} = pick("\t", ';', '|', ' ', ',', ':', 'x', '~', "\x01") if chance(0.35);
	$o->{null_string} = pick('NULL', 'NA', '\\N', '', 'null', ' ', '-', 'é', '""', "''") if chance(0.3);
	$o->{quote} = pick("'", '"', '`', '~', '\\', 'q') if chance(0.2);
	$o->{escape} = pick('\\', '\\', "'", '"', '!', '`', 'e') if chance(0.2);
	$o->{header} = pick('true', 'true', 'match', 'match', 1, 2, 3, 0, 'on', 'TRUE', 'wrong') if chance(0.3);
	$o->{encoding} = pick('UTF8', 'LATIN1', 'LATIN1', 'WIN1252', 'SJIS', 'GBK', 'BIG5', 'EUC_JP', 'GB18030', 'UHC', 'JOHAB', 'LATIN9', 'KOI8R', 'SQL_ASCII', 'EUC_KR', 'SHIFT_JIS_2004', 'nonsense') if chance(0.25);
	# lines are cut off for COPY without regard to trail bytes that look like quotes
	$o->{header} = 'true' if ($o->{header} // '') =~ /^[2-9]/ && ($o->{encoding} // '') =~ /SJIS|SHIFT|GBK|BIG5|GB18030|UHC|JOHAB/;
	$o->{header} = 'map' if chance(0.06) && can_map($c);
	# of two wrong ones COPY names the one it looks at first
	delete $o->{encoding} if ($o->{encoding} // '') eq 'nonsense' && ($o->{header} // '') eq 'wrong';
	make_column_options($c, $o);
	make_other_options($c, $o);
	$o->{timestamp_column} = $c->{key} if $c->{layout} eq 'key' || $c->{layout} eq 'range' && chance(0.3);
	$o->{missing_partitions} = $c->{missing} if $c->{missing};
	$o->{partition_interval} = { day => '1 day', month => '1 month', hour => '1 hour', hundred => '100' }->{ $c->{unit} }
	  if $c->{layout} eq 'range' && $c->{missing} eq 'create' && needs_interval($c) && $c->{key_in_file};
}

# A column that the header does not name must have a default.
sub can_map
{
	my ($c) = @_;
	my %in_file = map { $_ => 1 } @{ $c->{file_columns} };

	# names that the file's encoding has not are lost in it
	return 0 if !$SERVER{arguments}{ignore_extra_columns} || $c->{options}{encoding};
	return !grep { !$_->{dropped} && !$_->{generated} && !$_->{serial} && !defined $_->{default} && !$in_file{ $_->{name} } } @{ $c->{columns} };
}

# Without partitions the default is a day.
sub needs_interval
{
	my ($c) = @_;

	$c->{key_in_file} = grep { $_ eq $c->{key} } @{ $c->{file_columns} };
	return $c->{interval_given} || $c->{unit} ne 'day' && !grep { $_ } @{ $c->{have} }[ grep { $_ != $c->{gap} } 0 .. 5 ];
}

sub make_column_options
{
	my ($c, $o) = @_;
	my @names = @{ $c->{file_columns} };
	my $names = sub { chance(0.3) ? ['*'] : [ grep { chance(0.4) } @names ] };

	foreach my $option (qw(force_not_null force_null))
	{
		my $list = $names->();

		$o->{$option} = $list if chance(0.12) && @$list;
	}
}

sub make_other_options
{
	my ($c, $o) = @_;
	my @plain = grep { !$_->{dropped} && !$_->{generated} } @{ $c->{columns} };
	my ($int) = grep { $_->{type} eq 'int' } @plain;
	my ($text) = grep { $_->{type} eq 'text' } @plain;
	my @conditions = ('true', 'false', 'NULL', "current_setting('port') IS NOT NULL", '1 / 1 = 1');

	push @conditions, map { sprintf $_, quoted($int->{name}) } '%s > 5', '%s %% 2 = 0', '10 / %s > 1', '%s IS NOT NULL', 'slow_plus(%s, 1) < 50' if $int;
	push @conditions, map { sprintf $_, quoted($text->{name}) } "%s LIKE '%%a%%'", 'length(%s) < 10', 'short_enough(%s)', '%s IS NULL' if $text;
	push @conditions, quoted($c->{key}) . ' IS NOT NULL' if $c->{key};
	$o->{where_clause} = pick(@conditions) if chance(0.15);
	$o->{default_string} = pick('DEFAULT', '\\D', '--', 'D') if chance(0.08);
	if (chance(0.15))
	{
		$o->{on_error} = 'ignore';
		$o->{reject_limit} = 1 + rnd(4) if chance(0.3);
	}
	$o->{log_verbosity} = pick('default', 'verbose', 'silent') if chance(0.03);
}

sub make_settings
{
	my ($c) = @_;
	my $s = $c->{settings};

	$s->{datestyle} = pick('ISO, DMY', 'SQL, MDY', 'German', 'Postgres, YMD', 'ISO, YMD') if chance(0.15);
	$s->{intervalstyle} = pick('sql_standard', 'postgres_verbose', 'iso_8601') if chance(0.05);
	$s->{extra_float_digits} = pick(-15, 0, 3) if chance(0.05);
	$s->{bytea_output} = 'escape' if chance(0.05);
	my $client = pick('LATIN1', 'SJIS', 'WIN1252', 'EUC_JP', 'SQL_ASCII');
	$s->{client_encoding} = $client if chance(0.05) && ($c->{options}{header} // '') ne 'map';
	$s->{xmloption} = 'document' if chance(0.05);
	$c->{timezone} = chance(0.3) ? pick('Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/New_York', 'Pacific/Apia') : 'UTC';
}

sub make_tuning
{
	my ($c) = @_;
	my $t = $c->{tuning};

	$t->{workers} = pick(0, 0, 1, 2, 2, 3, 4);
	$t->{chunk_size} = pick(1, 2, 3, 5, 7, 11, 16, 32, 64, 100, 256, 1000, 4096, 65536, undef, undef);
	$t->{memory} = pick('1MB', '1MB', '2MB', undef);
	$t->{io_method} = pick('sync', 'io_uring', undef);
	$t->{io_depth} = pick(1, 2, 8, undef);
	$t->{spill} = ('rows', 'offsets', undef)[ ($t->{chunk_size} // 0) % 3 ];
	$t->{writer} = ('multi_insert', undef, 'page')[ ($t->{chunk_size} // 0) % 3 ];
}

# ---- the file ---------------------------------------------------------------

sub make_file
{
	my ($c) = @_;
	my $n = chance(0.15) ? rnd(3) : chance(0.92) ? 2 + rnd(25) : chance(0.8) ? 100 + rnd(500) : 1000 + rnd(3000);
	my $bad = chance(0.65) ? 0 : chance(0.6) ? 0.7 / ($n * @{ $c->{file_columns} } + 1) : 0.03;
	my %by = map { $_->{name} => $_ } @{ $c->{columns} };
	my @columns = map { $by{$_} } @{ $c->{file_columns} };

	if ($n > 60 && @columns > 8)
	{
		$n = 60;
	}
	$c->{nulls} = pick(0, 0.02, 0.1, 0.3);
	$c->{eol} = pick("\n", "\n", "\n", "\n", "\r\n", "\r\n", "\r");
	$c->{quoting} = pick(0, 0, 0.2, 1);
	$c->{domain} = pick('random', 'random', 'sorted', 'one', 'reverse');
	$c->{outside} = pick(0, 0, 0.02, 0.2);
	my $order = 0;
	my @records = map { my $i = $_; [ map { field($c, $_, $bad, $i, $n) } @columns ] } 1 .. $n;
	lengthen($c, \@records, \@columns) if chance(0.02);
	duplicate(\@records) if chance(0.1);
	$c->{before} = [ map { chance(0.5) && @records ? pick(@records) : [ map { field($c, $_, 0, 1, 1) } @columns ] } 1 .. $c->{rows_before} ];
	$c->{records} = \@records;
	$c->{header_records} = [ header_records($c) ];
	$c->{bytes} = encoded($c, render($c));
	damage($c);
	# before 18 COPY cannot say it in another way
	$c->{bytes} =~ s/(?:\A|(?<=[\r\n]))\\\.(?=[\r\n])//g if ($c->{options}{quote} // '') eq '\\';
}

# One value, or undef for NULL, or \'' for the default marker.
sub field
{
	my ($c, $col, $bad, $i, $n) = @_;
	my $type = $TYPE{ $col->{type} };

	return \'default' if defined $c->{options}{default_string} && chance(defined $col->{default} ? 0.3 : 0.01);
	return undef if chance($col->{key} ? $c->{nulls} / 20 : $c->{nulls}) && (!$col->{notnull} && !$type->{filled} || chance(0.02));
	return pick(@{ $type->{bad} }) if @{ $type->{bad} } && chance($bad);
	return key_value($c, $i, $n) if $col->{key};
	return $type->{good}->();
}

# Long values: up to a few hundred kilobytes, where the type takes them.
sub lengthen
{
	my ($c, $records, $columns) = @_;

	foreach my $i (grep { $columns->[$_]{type} =~ /^(text|varchar|json|bytea)$/ } 0 .. $#$columns)
	{
		foreach (1 .. 1 + rnd(3))
		{
			my $r = pick(@$records) // return;
			my $piece = $columns->[$i]{type} eq 'text' ? pick('a', 'ab"c', "x\ny", 'é', join('', map { chr(97 + rnd(26)) } 1 .. 500), "\r\n", '\\', '日本') : '7';

			$r->[$i] = $piece x (1 + rnd(pick(500, 10000, 300000) / length($piece) + 1));
		}
	}
}

sub duplicate
{
	my ($records) = @_;

	return unless @$records;
	splice(@$records, rnd(@$records + 1), 0, [ @{ pick(@$records) } ]) foreach 1 .. 1 + rnd(3);
}

# A key in one of the six slots, mostly.
sub key_value
{
	my ($c, $i, $n) = @_;
	my $slot = $c->{domain} eq 'one' ? 2 : $c->{domain} eq 'sorted' ? int(6 * ($i - 1) / $n)
	  : $c->{domain} eq 'reverse' ? 5 - int(6 * ($i - 1) / $n) : rnd(6);

	return outside_value($c) if chance($c->{outside});
	if ($c->{unit} eq 'hundred')
	{
		my $v = ($slot - 2) * 100 + (chance(0.1) ? pick(0, 99) : rnd(100));

		return $c->{layout} =~ /^(list|hash|expr)$/ && chance(0.7) ? rnd(12) : $v;
	}
	my $date = $c->{unit} eq 'month' ? sprintf('2013-%02d-%02d', $slot + 1, pick(1, 28, 1 + rnd(28))) : sprintf('2013-01-%02d', $c->{unit} eq 'day' ? $slot + 1 : 2);
	return $date if $c->{keytype} eq 'date' || $c->{unit} ne 'hour' && chance(0.1);
	my $time = $c->{unit} eq 'hour' ? sprintf('%02d:%02d:%02d', $slot + 10, rnd(60), rnd(60))
	  : pick('00:00:00', '23:59:59.999999', '12:00', sprintf('%02d:%02d:%02d', rnd(24), rnd(60), rnd(60)), sprintf('%02d:%02d:%02d.%03d', rnd(24), rnd(60), rnd(60), rnd(1000)));
	$time = sprintf('%02d:00:00', $slot + 10) if $c->{unit} eq 'hour' && chance(0.1);
	return "$date $time" . ($c->{keytype} eq 'timestamptz' && chance(0.1) ? zone_part() : '');
}

sub outside_value
{
	my ($c) = @_;

	return pick('infinity', '-infinity', '2014-05-06 07:08', '1999-12-31 23:59:59', '2013-01-09', '2012-12-31', '0044-03-15 BC', '294276-12-31 12:00', '4714-11-24 BC', '5874897-12-31', '1970-01-01', '2013-03-31 02:30')
	  if $c->{unit} ne 'hundred';
	return pick(-1000, 5000, 450, -201, 32767, -32768, 2147483647, '9223372036854775807', '-9223372036854775808', 400, -200);
}

# ---- characters to bytes ----------------------------------------------------

my %PERL_NAME = (UTF8 => 'UTF-8', LATIN1 => 'iso-8859-1', WIN1252 => 'cp1252', SJIS => 'cp932', GBK => 'cp936', BIG5 => 'cp950',
	EUC_JP => 'euc-jp', GB18030 => 'cp936', UHC => 'cp949', JOHAB => 'johab', LATIN9 => 'iso-8859-15', KOI8R => 'koi8-r',
	EUC_KR => 'euc-kr', SHIFT_JIS_2004 => 'cp932');

sub encoded
{
	my ($c, $text) = @_;
	my $name = $PERL_NAME{ $c->{options}{encoding} // $c->{settings}{client_encoding} // 'UTF8' } // 'UTF-8';

	return Encode::encode($name, $text, sub { '?' });
}

sub delimiter_of { return $_[0]{options}{delimiter} // ($_[0]{options}{format} eq 'csv' ? ',' : "\t") }
sub null_of { return $_[0]{options}{null_string} // ($_[0]{options}{format} eq 'csv' ? '' : '\\N') }

sub render
{
	my ($c) = @_;
	my $format = $c->{options}{format} eq 'csv' ? \&csv_field : \&text_field;
	my $delimiter = delimiter_of($c);
	my $out = '';

	$c->{rendered} = [ map { [ map { $format->($c, $_) } @$_ ] } @{ $c->{header_records} }, @{ $c->{records} } ];
	$out .= join($delimiter, @$_) . $c->{eol} foreach @{ $c->{rendered} };

	$c->{unended} = chance(0.15);
	$out =~ s/\Q$c->{eol}\E\z// if $c->{unended};
	return $out;
}

sub header_records
{
	my ($c) = @_;
	my $header = $c->{options}{header} // return ();
	my @names = @{ $c->{file_columns} };

	@names = shuffled(@names) if $header eq 'match' && chance(0.05);
	return map { [ map { text_value() } 1 .. rnd(4) ] } 1 .. $header if $header =~ /^\d/;
	return $header =~ /^(match|map|true|on)$/i ? \@names : ();
}

sub csv_field
{
	my ($c, $value) = @_;
	my $o = $c->{options};
	my $q = $o->{quote} // '"';
	my $e = $o->{escape} // $q;

	return null_of($c) unless defined $value;
	return $o->{default_string} if ref $value;
	my $must = $value =~ /[\r\n]/ || index($value, delimiter_of($c)) >= 0 || index($value, $q) >= 0 || $value eq null_of($c) || $value eq ($o->{default_string} // "\0");
	return $value unless $must && ($c->{damaged} || defined $o->{default_string} || !chance(0.01)) || chance($c->{quoting});
	$value =~ s/([\Q$q$e\E])/$e$1/g;
	return "$q$value$q";
}

sub text_field
{
	my ($c, $value) = @_;
	my $d = delimiter_of($c);

	return null_of($c) unless defined $value;
	return $c->{options}{default_string} if ref $value;
	return $value if !$c->{damaged} && chance(0.02) && !defined $c->{options}{default_string};
	$value =~ s/\\/\\\\/g;
	$value =~ s/\Q$d\E/\\$d/g if $d =~ /[^a-z0-9]/;
	$value =~ s/([\x01-\x1f])/text_escape($1)/ge;
	$value =~ s/([a-z])/sprintf(chance(0.5) ? '\\x%02x' : '\\%03o', ord $1)/e if chance(0.05);
	return $value eq ($c->{options}{default_string} // "\0") ? "\\$value" : $value;
}

sub text_escape
{
	my ($char) = @_;
	my %letter = ("\n" => 'n', "\r" => 'r', "\t" => 't', "\x08" => 'b', "\x0b" => 'v', "\x0c" => 'f');

	return '\\' . $char if $char =~ /[\n\r]/ && chance(0.2);
	return $letter{$char} ? "\\$letter{$char}" : $char;
}

# ---- damage -----------------------------------------------------------------

sub damage
{
	my ($c) = @_;

	return if chance(0.65);
	mark_damaged($c);
	damage_once($c) foreach 1 .. (chance(0.7) ? 1 : 1 + rnd(6));
}

# From here on its bytes are not those of its records.
sub mark_damaged
{
	my ($c) = @_;

	$c->{damaged} = 1;
	# COPY's file would hide what is wrong with the lines it has not
	$c->{options}{header} = 'true' if ($c->{options}{header} // '') =~ /^[2-9]/;
	$c->{given} = 1, $c->{options}{header} = 'true' if ($c->{options}{header} // '') eq 'map';
	delete $c->{records};
}

sub damage_once
{
	my ($c) = @_;
	my $o = $c->{options};
	my $len = length($c->{bytes});
	my $at = rnd($len + 1);
	my $some = rnd(chance(0.7) ? 8 : 200);
	my $eol = $c->{eol};
	my $how = rnd(9);

	if ($how == 0)
	{
		substr($c->{bytes}, $at, 1) = chr(ord(substr($c->{bytes}, $at, 1)) ^ (1 << rnd(8))) if $at < $len;
	}
	elsif ($how == 1) { $c->{bytes} = substr($c->{bytes}, 0, $at) }
	elsif ($how == 2) { substr($c->{bytes}, $at, $some) = '' if $at < $len }
	elsif ($how == 3) { substr($c->{bytes}, $at, 0) = substr($c->{bytes}, rnd($len + 1), $some) }
	elsif ($how == 4 || $how == 5)
	{
		substr($c->{bytes}, $at, 0) = pick($o->{quote} // '"', $o->{escape} // '"', '"', '\\', ',', "\t", "\n", "\r", "\r\n", "\0", "\xff", "\xe6\x97", "\xc3", "\xed\xa0\x80", "\xf0\x9f", "\x81", '\\.', "\\\n", '\\x', '\\N', "\xef\xbb\xbf", ' ');
	}
	elsif ($how == 6)
	{
		# at a line's start
		my @ends = (0);

		push @ends, pos($c->{bytes}) while $c->{bytes} =~ /[\r\n]/g;
		substr($c->{bytes}, pick(@ends), 0) = pick("\\.$eol", "\\.", "\\.\n", $eol, "\n", "\r", "x$eol", '"', "\\.x$eol", "\\\\.$eol", delimiter_of($c) . $eol, "$eol$eol");
	}
	elsif ($how == 7) { damage_line_count($c) }
	else { $c->{bytes} .= pick("\\.", "\\.$eol", "\\.${eol}x$eol", $eol, "\r", "\0", '"', "\xc3", delimiter_of($c), '\\') }
}

# One line gets a field too many or too few.
sub damage_line_count
{
	my ($c) = @_;
	my $d = delimiter_of($c);
	my @lines = split /(?<=\n)/, $c->{bytes};
	my $i = rnd(scalar @lines);

	return unless @lines;
	if (chance(0.5)) { $lines[$i] =~ s/\Q$d\E[^\Q$d\E]*?(?=[\r\n]*\z)//s }
	else { $lines[$i] =~ s/([\r\n]*)\z/$d$1/s }
	$c->{bytes} = join('', @lines);
}

1;
