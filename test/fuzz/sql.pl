# From a case to the SQL that runs it: tables for COPY and for fast_copy, the
# two loads, and what COPY gets instead of what its version cannot do.

use strict;
use warnings;
use utf8;

our %SERVER;    # version, arguments of fast_copy

# ---- words ------------------------------------------------------------------

sub literal
{
	my ($text) = @_;

	$text =~ s/'/''/g;
	return "'$text'" unless $text =~ /\\/;
	$text =~ s/\\/\\\\/g;
	return "E'$text'";
}

sub quoted
{
	my ($name) = @_;

	$name =~ s/"/""/g;
	return "\"$name\"";
}

sub name_list { return join(', ', map { quoted($_) } @_) }

# ---- the table --------------------------------------------------------------

sub column_sql
{
	my ($col, $child) = @_;
	my $sql = quoted($col->{name}) . ' ';

	return $sql . generated_sql($col) if $col->{generated};
	if ($col->{serial} && !$child)
	{
		$sql .= $col->{serial} eq 'serial' ? ($col->{type} eq 'int' ? 'serial' : 'bigserial')
		  : "$col->{type} GENERATED " . ($col->{serial} eq 'always' ? 'ALWAYS' : 'BY DEFAULT') . ' AS IDENTITY';
		return $sql;
	}
	$sql .= $col->{type};
	$sql .= " DEFAULT $col->{default}" if defined $col->{default};
	$sql .= ' NOT NULL' if $col->{notnull} || $col->{serial};
	$sql .= ' CONSTRAINT ' . quoted("chk_$col->{name}") . ' CHECK (' . sprintf($col->{check}, quoted($col->{name})) . ')' . ($SERVER{version} >= 18 && one_of($col, 4) ? ' NOT ENFORCED' : '') if $col->{check};
	return $sql;
}

# True for one of n columns, always the same ones.
sub one_of { my ($col, $n) = @_; return unpack('%32C*', join(' ', map { $_ // '' } @$col{qw(name type default of)})) % $n == 0 }

# From 18 on there are columns that are not stored: such as cannot fail when
# they are read, as the rows are compared.
sub generated_sql
{
	my ($col) = @_;
	my $sql = "$col->{type} GENERATED ALWAYS AS (" . sprintf($col->{generated}, quoted($col->{of})) . ') ';

	return "${sql}STORED" if $SERVER{version} < 18 || $col->{type} ne 'text' || one_of($col, 3);
	return $sql . 'VIRTUAL' . (one_of($col, 2) ? ' NOT NULL' : '') . (one_of($col, 5) ? " CONSTRAINT " . quoted("chk_$col->{name}") . " CHECK (left(" . quoted($col->{name}) . ", 1) <> 'l')" : '');
}

sub columns_sql
{
	my ($child, @columns) = @_;

	return join(', ', map { column_sql($_, $child) } @columns);
}

sub partition_by
{
	my ($c) = @_;
	my $k = defined $c->{key} ? quoted($c->{key}) : '';
	my %by = (range => "RANGE ($k)", list => "LIST ($k)", hash => "HASH ($k)", expr => "LIST (($k % 3))", sub => "RANGE ($k)",
		multi => $c->{multi_column} ? "RANGE ($k, " . quoted($c->{multi_column}{name}) . ')' : '');

	return $by{ $c->{layout} };
}

# Bounds and name of slot number i.
sub slot
{
	my ($c, $i) = @_;

	return (sprintf("'2013-01-%02d'", $i + 1), sprintf("'2013-01-%02d'", $i + 2), sprintf('t_p201301%02d', $i + 1)) if $c->{unit} eq 'day';
	return (sprintf("'2013-%02d-01'", $i + 1), sprintf("'2013-%02d-01'", $i + 2), sprintf('t_p2013%02d', $i + 1)) if $c->{unit} eq 'month';
	return (sprintf("'2013-01-02 %02d:00'", $i + 10), sprintf("'2013-01-02 %02d:00'", $i + 11), sprintf('t_p20130102_%02d00', $i + 10)) if $c->{unit} eq 'hour';
	my $lo = ($i - 2) * 100;
	return ($lo, $lo + 100, 't_p' . ($lo < 0 ? 'm' . -$lo : $lo));
}

sub creates { my ($c) = @_; return $c->{layout} eq 'range' && $c->{missing} eq 'create' && $c->{key_in_file} }

# [name, bounds, would fast_copy make it?] of the leaves below t, in the schema.
sub partitions
{
	my ($c, $schema) = @_;
	my @p;

	return () if $c->{layout} =~ /^(plain|key)$/;
	if ($c->{layout} eq 'list' || $c->{layout} eq 'expr')
	{
		push @p, [ 't_l0', 'IN (0, 1)' ], [ 't_l1', 'IN (2, NULL)' ];
		push @p, [ 't_l2', 'IN (3, 4, 5)' ], [ 't_l3', 'IN (6, 7, 8, 9, 10, 11)' ], [ 't_l4', 'DEFAULT' ] if $c->{layout} eq 'list';
		return @p;
	}
	return map { [ "t_h$_", "WITH (MODULUS 3, REMAINDER $_)" ] } 0 .. ($c->{have}[0] ? 1 : 2) if $c->{layout} eq 'hash';
	my ($first, $last) = ((slot($c, 0))[0], (slot($c, 5))[1]);
	if ($c->{layout} eq 'multi')
	{
		my $mid = (slot($c, 3))[0];
		return ([ 't_m0', "FROM ($first, MINVALUE) TO ($mid, 30)" ], [ 't_m1', "FROM ($mid, 30) TO ($last, 10)" ]);
	}
	foreach my $i (0 .. 5)
	{
		my ($lo, $hi, $name) = slot($c, $i);

		next if $i == $c->{gap} || !(creates($c) && $schema eq 'copy' || $c->{have}[$i]);
		push @p, [ $name, "FROM ($lo) TO ($hi)", !$c->{have}[$i] ];
	}
	push @p, fillers($c, $first, $last) if creates($c) && $schema eq 'copy';
	push @p, [ 't_default', 'DEFAULT' ] if $c->{default_partition};
	return @p;
}

# What fast_copy makes partitions for, COPY's table has all along.
sub fillers
{
	my ($c, $first, $last) = @_;
	my ($lo, $hi) = slot($c, $c->{gap});
	my ($min, $max) = $c->{unit} eq 'hundred' ? ('MINVALUE', 'MAXVALUE') : $c->{keytype} eq 'timestamptz' ? ("'4714-11-24 00:00+00 BC'", "'infinity'") : ("'4714-11-24 BC'", "'infinity'");

	return ([ 't_f0', "FROM ($min) TO ($first)", 1 ], [ 't_f1', "FROM ($lo) TO ($hi)", 1 ], [ 't_f2', "FROM ($last) TO ($max)", 1 ]);
}

sub values_of { my ($bounds) = @_; return $bounds eq 'DEFAULT' ? 'DEFAULT' : "FOR VALUES $bounds" }

sub partition_sql
{
	my ($c, $p) = @_;
	my ($name, $bounds, $made) = @$p;
	my $for = values_of($bounds);
	my @live = grep { !$_->{dropped} } @{ $c->{columns} };

	return ("CREATE TABLE $name (" . columns_sql(1, reverse @live) . ')', "ALTER TABLE t ATTACH PARTITION $name $for") if $c->{reordered} && !$made && $name =~ /[02468]\z/;
	return "CREATE TABLE $name PARTITION OF t $for" if $c->{layout} ne 'sub';
	return ("CREATE TABLE $name PARTITION OF t $for PARTITION BY HASH (" . quoted($c->{key}) . ')',
		map { "CREATE TABLE ${name}_$_ PARTITION OF $name FOR VALUES WITH (MODULUS 2, REMAINDER $_)" } 0, 1);
}

sub table_ddl
{
	my ($c, $schema) = @_;
	my $by = partition_by($c);
	my @dropped = grep { $_->{dropped} } @{ $c->{columns} };
	my @sql = ("SET LOCAL search_path = $schema, public", "SET LOCAL timezone = '$c->{timezone}'");

	push @sql, 'CREATE ' . ($c->{unlogged} && !$by ? 'UNLOGGED ' : '') . 'TABLE t (' . columns_sql(0, @{ $c->{columns} }) . ')' . ($by ? " PARTITION BY $by" : '');
	push @sql, map { 'ALTER TABLE t DROP ' . quoted($_->{name}) } @dropped unless $c->{reordered} || $c->{number} % 2;
	push @sql, map { partition_sql($c, $_) } partitions($c, $schema) unless $c->{reordered};
	push @sql, map { 'ALTER TABLE t DROP ' . quoted($_->{name}) } @dropped if $c->{reordered} || $c->{number} % 2;
	push @sql, map { partition_sql($c, $_) } partitions($c, $schema) if $c->{reordered};
	push @sql, @{ $c->{setup} }, foreign_sql($c);
	push @sql, map { before_sql($c, $_, $schema) } 0 .. $#{ $c->{before} // [] };
	push @sql, "SELECT public.fast_copy_create_reject_table('fast.rejects')" if $c->{rejects} && $schema eq 'fast';
	return [ @sql, trigger_sql($c) ];
}

# A row that is there before the load: in COPY's table only if fast_copy's took
# it, which may lack the partition.
sub before_sql
{
	my ($c, $i, $schema) = @_;
	my $insert = 'INSERT INTO t (' . name_list(@{ $c->{file_columns} }) . ') OVERRIDING SYSTEM VALUE VALUES ('
	  . join(', ', map { defined && !ref ? literal($_) : 'NULL' } @{ $c->{before}[$i] }) . ')';

	return "DO \$do\$ BEGIN $insert; PERFORM set_config('fuzz.row$i', 'taken', true); EXCEPTION WHEN OTHERS THEN NULL; END \$do\$" if $schema eq 'fast';
	return "DO \$do\$ BEGIN IF current_setting('fuzz.row$i', true) = 'taken' THEN $insert; END IF; END \$do\$";
}

sub foreign_sql
{
	my ($c) = @_;
	my ($int) = grep { $_->{type} eq 'int' && !$_->{dropped} && !$_->{generated} && !$_->{key} } @{ $c->{columns} };

	return () unless $c->{foreign} && $int;
	return ('CREATE TABLE ref (id int PRIMARY KEY)', 'INSERT INTO ref SELECT generate_series(-5, 60)',
		'ALTER TABLE t ADD CONSTRAINT t_fk FOREIGN KEY (' . quoted($int->{name}) . ') REFERENCES ref');
}

sub trigger_sql
{
	my ($c) = @_;
	my $t = $c->{triggers} // return ();
	my ($int) = grep { $_->{type} eq 'int' && !$_->{dropped} && !$_->{generated} && !$_->{key} } @{ $c->{columns} };
	my @sql = ('CREATE TABLE log (what text)',
		"CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS \$f\$ BEGIN INSERT INTO log VALUES (concat_ws(' ', tg_when, tg_level, tg_op, CASE WHEN tg_level = 'ROW' THEN new::text END)); RETURN new; END \$f\$",
		"CREATE FUNCTION note_all() RETURNS trigger LANGUAGE plpgsql AS \$f\$ BEGIN INSERT INTO log SELECT 'new ' || n::text FROM n; RETURN NULL; END \$f\$");

	push @sql, 'CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION note()' if $t->{before};
	push @sql, 'CREATE TRIGGER b AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION note()' if $t->{after};
	push @sql, 'CREATE TRIGGER c BEFORE INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION note()', 'CREATE TRIGGER d AFTER INSERT ON t FOR EACH STATEMENT EXECUTE FUNCTION note()' if $t->{statement};
	push @sql, 'CREATE TRIGGER e AFTER INSERT ON t REFERENCING NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION note_all()' if $t->{transition};
	push @sql, 'CREATE TRIGGER f BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION note()', 'ALTER TABLE t DISABLE TRIGGER f' if $t->{replica};
	return @sql unless $int;
	my $q = quoted($int->{name});
	push @sql, "CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS \$f\$ BEGIN IF new.$q % 3 = 0 THEN RETURN NULL; END IF; new.$q := new.$q + 1; RETURN new; END \$f\$",
	  'CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION skip()' if $t->{skip};
	push @sql, "CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS \$f\$ BEGIN IF new.$q = 7 THEN RAISE 'no sevens'; END IF; RETURN new; END \$f\$",
	  'CREATE TRIGGER h AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION fails()' if $t->{fails};
	return @sql;
}

# ---- the loads --------------------------------------------------------------

sub copy_sql
{
	my ($c, $file) = @_;
	my %o = %{ $c->{options} };
	my @with = ("FORMAT $o{format}");

	if (defined $o{header}) { push @with, 'HEADER ' . ($o{header} =~ /^\d+$/ ? ($o{header} ? 'true' : 'false') : literal($o{header} eq 'map' ? 'match' : $o{header})) }
	push @with, 'FREEZE ' . $o{freeze} if $o{freeze} && $c->{layout} ne 'range';
	push @with, 'DELIMITER ' . literal($o{delimiter}) if defined $o{delimiter};
	push @with, 'NULL ' . literal($o{null_string}) if defined $o{null_string};
	push @with, 'QUOTE ' . literal($o{quote}) if defined $o{quote};
	push @with, 'ESCAPE ' . literal($o{escape}) if defined $o{escape};
	push @with, 'ENCODING ' . literal($o{encoding}) if defined $o{encoding};
	foreach my $option (qw(force_not_null force_null))
	{
		my $list = $o{$option} // next;
		$list = $c->{file_columns} if $list->[0] eq '*';
		push @with, uc($option) . ' (' . name_list(@$list) . ')';
	}
	push @with, 'DEFAULT ' . literal($o{default_string}) if defined $o{default_string} && $SERVER{version} >= 16;
	push @with, "ON_ERROR $o{on_error}" if $o{on_error} && !one_by_one_needed($c);
	push @with, "REJECT_LIMIT $o{reject_limit}" if $o{reject_limit} && !one_by_one_needed($c);
	return 'COPY copy.t' . ($c->{given} || ($o{header} // '') eq 'map' ? ' (' . name_list(@{ $c->{file_columns} }) . ')' : '') . ' FROM ' . literal($file) . ' WITH (' . join(', ', @with) . ')'
	  . (defined $o{where_clause} ? " WHERE $o{where_clause}" : '');
}

sub array_sql
{
	my ($name, @list) = @_;

	return 'ARRAY[' . join(', ', map { literal($_) } @list) . ']::' . ($name =~ /^(on_error_classes|order_by)$/ ? 'text' : 'name') . '[]';
}

# The files by their names, or by a pattern, or what prints them.
sub sources_sql
{
	my ($c, $file) = @_;

	my @names = map { literal($_) } source_names($c, $file);

	return $names[0] unless $c->{files};
	return literal("$file.?") if $c->{files}{pattern} && !($c->{packed} && $c->{packed}{program});
	return 'ARRAY[' . join(', ', @names) . ']';
}

sub fast_sql
{
	my ($c, $file, $function) = @_;
	my %o = %{ $c->{options} };
	my @args = ("'fast.t'", sources_sql($c, $file));

	$o{columns} = $c->{file_columns} if $c->{given} && ($o{header} // '') ne 'map';
	$o{program} = 'true' if $c->{packed} && $c->{packed}{program};
	foreach my $name (sort keys %o)
	{
		push @args, "$name => " . (ref $o{$name} ? array_sql($name, @{ $o{$name} }) : literal($o{$name}));
	}
	return $function . '(' . join(', ', @args, "workers => $c->{tuning}{workers}") . ')';
}

# What the loaded rows are compared by.
sub row_sql
{
	my ($c) = @_;
	my @columns = grep { !$_->{dropped} && !($_->{serial} && numbered_in_key_order($c)) } @{ $c->{columns} };

	return 'ROW(' . join(', ', map { 't.' . quoted($_->{name}) } @columns) . ')';
}

# Does the table number rows itself?
sub has_serial_outside
{
	my ($c) = @_;
	my %in_file = map { $_ => 1 } @{ $c->{file_columns} };

	return scalar grep { $_->{serial} && !$_->{dropped} && !$in_file{ $_->{name} } } @{ $c->{columns} };
}

# Are rows inserted in another order than the file's?
sub reordered { my ($c) = @_; return ordering($c) eq 'key' || $c->{options}{order_by} }

# Documented: a sequence counts in the order of the key.
sub numbered_in_key_order { my ($c) = @_; return ordering($c) eq 'key' && has_serial_outside($c) }

# Rows from the case's file into a table of the same columns, and from there
# into the binary file; which is then damaged, or not.
sub source_sql
{
	my ($c, $file) = @_;
	my $columns = name_list(@{ $c->{file_columns} });
	my %source = (%$c, given => 1, options => $c->{source});
	my $how = packing_of($c, 0);
	my $tee = $how && $how->{tool} ? "tee '$file' | " . pack_command($how) . " >'$file.p'" : $c->{packed} ? "tee '$file' >'$file.p'" : "cat >'$file'";
	my $do = 'binmode STDOUT; undef $/; $_ = <STDIN>;';

	$do .= ' substr($_, int(length() * ' . $c->{flip} . '), 1) ^= chr(1 << int(8 * ' . $c->{flip} . ')) if length;' if $c->{flip};
	$do .= ' $_ = substr($_, 0, int(length() * ' . $c->{cut_off} . '));' if $c->{cut_off};
	return ('CREATE TABLE copy.source (LIKE copy.t)', copy_sql(\%source, "$file.txt") =~ s/copy\.t/copy.source/r,
		"COPY copy.source ($columns) TO PROGRAM " . literal("perl -e '$do print' | $tee") . ' (FORMAT binary)', 'DROP TABLE copy.source');
}

# A deferrable constraint has a trigger too.
sub one_by_one { my ($c) = @_; return $c->{triggers} || grep { /DEFERRABLE|FOREIGN KEY/ } @{ $c->{setup} }, foreign_sql($c) }

# Documented: numbers that not each record takes are taken in the order of the
# file.
sub keeps_order
{
	my ($c) = @_;

	return 1 if $c->{options}{on_error} && has_serial_outside($c);
	return defined $c->{options}{default_string} && grep { $_->{serial} && !$_->{dropped} } @{ $c->{columns} };
}

sub ordering
{
	my ($c) = @_;

	return 'none' if one_by_one($c) || keeps_order($c) || $c->{options}{order_by};
	return 'none' if $c->{layout} eq 'key' && (grep { $_ eq 'unique' } @{ $c->{options}{on_error_classes} // [] }) && grep { /UNIQUE|PRIMARY|EXCLUDE/ } @{ $c->{setup} };
	return 'key' if $c->{layout} =~ /^(plain|key)$/ && $c->{options}{timestamp_column};
	return 'key' if $c->{layout} eq 'range' && $c->{key_in_file};
	return 'file' if $c->{layout} =~ /^(plain|key)$/ && grep { /UNIQUE|PRIMARY|EXCLUDE/ } @{ $c->{setup} };
	return 'none';
}

# Pages of a table that is there are filled by core's code for both loads: a
# short row may come into one in which a longer one had no room, at another time.
sub may_have_holes
{
	my ($c) = @_;

	return $c->{grown} && ($c->{layout} =~ /^(plain|key)$/ || grep { $_ } @{ $c->{have} });
}

sub also_sql
{
	my ($c) = @_;
	my @sql;

	push @sql, "(SELECT count(*) FROM ((SELECT what FROM copy.log EXCEPT ALL SELECT what FROM fast.log) UNION ALL (SELECT what FROM fast.log EXCEPT ALL SELECT what FROM copy.log)) AS x)" if $c->{triggers};
	if (numbered_in_key_order($c))
	{
		push @sql, map { my $q = quoted($_->{name}); "(SELECT count(*) FROM (SELECT $q FROM copy.t EXCEPT ALL SELECT $q FROM fast.t) AS x)" } grep { $_->{serial} && !$_->{dropped} } @{ $c->{columns} };
	}
	push @sql, unsorted_sql($c) if $c->{options}{order_by} && !@{ $c->{before} // [] };
	return @sql ? 'SELECT ' . join(' + ', @sql) : undef;
}

# Rows of fast_copy's table that stand before one they should follow.
sub unsorted_sql
{
	my ($c) = @_;
	my $keys = join(', ', map { "t.$_" } @{ $c->{options}{order_by} });

	return "(SELECT count(*) FROM (SELECT n, lag(n) OVER (PARTITION BY leaf ORDER BY place) AS n0"
	  . " FROM (SELECT t.tableoid AS leaf, t.ctid AS place, dense_rank() OVER (PARTITION BY t.tableoid ORDER BY $keys) AS n FROM fast.t AS t) AS x) AS y WHERE n < n0)";
}

sub spec
{
	my ($c, $copy_file, $fast_file) = @_;
	my %spec = (
		copy_ddl => table_ddl($c, 'copy'), fast_ddl => table_ddl($c, 'fast'), settings => $c->{settings},
		copy => copy_sql($c, $copy_file), fast => fast_sql($c, $fast_file, 'SELECT fast_copy'), row => row_sql($c), ordering => may_have_holes($c) ? 'none' : ordering($c));

	$spec{copies} = [ map { copy_sql($c, $_) } file_names($c, $copy_file) ] if $c->{files};
	$spec{files} = [ source_names($c, $fast_file) ];
	$spec{key} = 't.' . quoted($c->{key}) if $spec{ordering} eq 'key';
	$spec{also} = also_sql($c) if also_sql($c);
	$spec{copy_settings} = $c->{copy_settings} if $c->{copy_settings};
	$spec{analyze} = fast_sql($c, $fast_file, 'SELECT item, name, rows, line, detail FROM fast_copy_analyze') if $c->{analyze};
	$spec{prepare} = [ source_sql($c, $fast_file) ] if $c->{source};
	$spec{creates} = creates($c) ? 1 : 0;
	$spec{triggers} = 1 if $c->{triggers};
	foreach my $name (qw(chunk_size memory io_method io_depth spill writer))
	{
		my $value = $c->{tuning}{$name} // next;
		$spec{tuning}{"fast_copy.$name"} = $name eq 'chunk_size' ? "${value}B" : $value;
	}
	return \%spec;
}

1;
