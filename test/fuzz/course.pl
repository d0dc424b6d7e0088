# One load that is drawn: what it is of, by what, from what, and what is there before.
#
# A case is a hash of features, each with a value that chance has drawn for it alone, so
# that one of them can be made simple without another one changing.  From the features
# come the rows, the files, both tables, the call, and what course.sql is to be told.

use strict;
use warnings;
use Digest::MD5 ();

sub pick { return $_[rand @_]; }
sub chance { return rand() < $_[0]; }
sub quoted { my ($s) = @_; $s =~ s/"/""/g; return "\"$s\""; }
sub literal { my ($s) = @_; $s =~ s/'/''/g; return $s =~ /\\/ ? 'E' . "'" . $s =~ s/\\/\\\\/gr . "'" : "'$s'"; }
sub json_text { my ($s) = @_; $s =~ s/(["\\])/\\$1/g; $s =~ s/\n/\\n/g; return "\"$s\""; }

# Values of column x that meet each other often; some are equal, and look different
our %TYPES = (
	int => [ 1, 2, 3 ], bigint => [ 0, -1, '9223372036854775807' ], smallint => [ 7, 8 ], boolean => [qw(t f true)],
	'double precision' => [qw(0 -0 NaN 1.5 Infinity)], real => [qw(0 -0 NaN 2)], numeric => [qw(1 1.0 1.00 NaN -2)],
	text => [ '', 'a', 'A', 'a ', 'quo"te' ], 'text COLLATE either_case' => [qw(Some sOme some other OTHER)], 'varchar(9)' => [qw(a b)], 'char(4)' => [ 'a', 'a ', 'b' ],
	bytea => [ '\\x', '\\x00', '\\x0000' ], uuid => [ 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{a0eebc999c0b4ef8bb6d6bb9bd380a12}' ],
	date => [qw(2024-01-01 2024-01-02 infinity)], timestamptz => [ '2024-01-01 00:00+00', '2024-01-01 01:00+01', '2024-01-02 00:00+00' ], interval => [ '1 day', '24:00', '1 mon', '30 days' ],
	jsonb => [ '{}', '{"a": 1, "b": 2.0}', '{"b": 2, "a": 1.00}', 'null' ], money => [ 1, 2, -1 ], tsvector => [ 'a b', 'b a', '' ], 'bit(2)' => [qw(01 10 11)],
	'int[]' => [ '{}', '{1}', '{1,NULL}' ], 'money[]' => [ '{1}', '{1,2}', '{}' ], pair => [ '(1,a)', '(1,)', '(,)' ], numrange => [ '[1,2)', '[1.0,2.0)', 'empty' ], inet => [qw(10.0.0.1 10.0.0.1/24)]);

# Name, and the values it may have, some of them more often; the first one is the simplest
our @FEATURES = (
	[ target => 'plain', qw(plain plain plain range range range range range other two list hash listrange rangehash rangelist expr foreign foreignleaf view partition subtree) ],
	[ persistence => '', ('') x 6, 'TEMP', 'UNLOGGED' ],
	[ keytype => 'int', qw(timestamp timestamp timestamptz date int bigint smallint text uuid) ],
	[ type => '', ('') x 24, sort keys %TYPES ],
	[ few => 0, 0, 0, 0, 1 ],
	[ keyed => 0, 0, 1, 1 ],
	[ default => 0, 0, 0, 1 ],
	[ have => 'all', qw(all all some none) ],
	[ leaves => 'same', qw(same same other) ],
	[ gone => 0, 0, 0, 1 ],
	[ index => 'none', qw(none none btree brin expression partial unique unique unique nullsequal nullsequal primary primary uniqueexpression exclude deferrable leafunique) ],
	[ extra => '', ('') x 5, qw(default serial identity generated domain unsafe) ],
	[ constraint => '', '', '', 'check', 'not_null' ],
	[ trigger => '', ('') x 16, qw(before after statement references leaf) ],
	[ columns => 'table', qw(table list) ],
	[ lacks => '', '', '', '', '', 't', 'v' ],
	[ junk => 0, 0, 1 ],
	[ where => 'none', ('none') x 4, qw(some volatile key nothing leader) ],
	[ transform => 'none', ('none') x 5, qw(text group number key unsafe leader) ],
	[ edit => 'none', ('none') x 5, qw(trim_blanks null_strings number_format skip_empty_lines missing_columns) ],
	[ on_error => 'stop', qw(stop stop ignore ignore set_null) ],
	[ classes => 'conversion', qw(conversion conversion record rows all unique) ],
	[ bad => 'none', ('none') x 5, qw(conversion conversion key fields encoding checked checked partition quote) ],
	[ reject_table => 0, 0, 1 ],
	[ reject_limit => 0, 0, 0, 0, 3, 1000 ],
	[ existing => 'keep', ('keep') x 7, qw(replace replace range range range merge merge merge merge conflict conflict conflict) ],
	[ method => 'auto', qw(auto auto auto delete) ],
	[ ratio => 0, 0, 0, 0, 0.5 ],
	[ dedup => 0, 0, 1 ],
	[ keep => '', '', 'first', 'last' ],
	[ action => 'update', qw(update nothing) ],
	[ there => 'none', ('none') x 5, ('some') x 9, ('equal') x 5, 'many' ],
	[ churn => 0, 0, 0, 1 ],
	[ late => 0, 0, 0, 1 ],
	[ missing => 'create', qw(create create create error default) ],
	[ interval => 0, 0, 1 ],
	[ order_by => '', ('') x 8, 'n DESC', 't, n' ],
	[ freeze => 0, (0) x 12, 1 ],
	[ analyze => 0, (0) x 12, 1 ],
	[ header => '', ('') x 3, qw(true 2 match map) ],
	[ foretell => 0, 0, 0, 0, 1 ],
	[ eol => "\n", ("\n") x 6, "\r\n", "\r" ],
	[ wing => 0, 0, 1 ],
	[ format => 'csv', qw(csv csv csv text binary) ],
	[ delimiter => '', '', '', ';', '|' ],
	[ null => '', '', '', '', 'NA' ],
	[ quote => '', '', '', '', "'" ],
	[ force => '', ('') x 6, 'force_null', 'force_not_null' ],
	[ marker => '', ('') x 8, '\\D' ],
	[ encoding => '', ('') x 6, 'LATIN1', 'UTF8', 'SJIS' ],
	[ format_of_time => '', ('') x 6, 'epoch_s', 'zone' ],
	[ source => 'file', qw(file file files files pattern program copy copy copyprogram stdin stdin accelerated accelerated acceleratedstdin) ],
	[ packed => '', ('') x 6, 'gzip', 'zstd', 'pieces' ],
	[ ledger => 0, (0) x 10, 1 ],
	[ rows => 1, 0, 0, 0, 1, 1, 1, (5) x 3, (30) x 6, (100) x 6, (300) x 6, (1200) x 3, 6000 ],
	[ order => 'sorted', qw(sorted random random reverse) ],
	[ twice => 0, 0, 0, 1 ],
	[ nulls => 0, 0, 0, 0, 1 ],
	[ outside => 0, 0, 0, 0, 1, 'infinite' ],
	[ long => 0, 0, 0, 0, 1 ],
	[ workers => 0, 0, 0, 1, 2, 2, 4 ],
	[ chunk => 0, 0, 1, 7, 64, 64, 700, 700, 3000 ],
	[ memory => 0, 0, 0, 1 ],
	[ spill => 'auto', qw(auto auto rows offsets) ],
	[ writer => 'auto', qw(auto auto page multi_insert) ],
	[ transaction => '', ('') x 4, 'begin', 'savepoint', 'repeatable', 'serializable', 'rollback' ]);

# How chance goes on for this feature of this case
sub begin_chance
{
	my ($c, $name) = @_;

	srand(unpack('N', Digest::MD5::md5("$c->{seed}/$c->{number}/$name")));
	rand() foreach 1 .. 3;
}

# Has the server postgres_fdw?
our $servers = 1;

# "simple": a hash of the features that have their simplest value
sub draw
{
	my ($seed, $number, $simple) = @_;
	my $c = { seed => $seed, number => $number };
	my %f;

	foreach my $feature (@FEATURES)
	{
		my ($name, $simplest, @values) = @$feature;

		begin_chance($c, $name);
		$f{$name} = pick(@values);
		$f{$name} = $simplest if $simple->{$name} || !$servers && $f{$name} =~ /^foreign/;
	}
	begin_chance($c, 'wild');
	$c->{wild} = chance(0.06);
	$c->{f} = \%f;
	adapt($c);
	return $c;
}

# The features that are not as simple as can be
sub telling
{
	my ($c) = @_;

	return map { s/\r/\\r/gr =~ s/\n/\\n/gr } map { "$_->[0] $c->{f}{ $_->[0] }" } grep { $c->{f}{ $_->[0] } ne $_->[1] } @FEATURES;
}

# ---- what goes together -----------------------------------------------------

sub is_single { my ($f) = @_; return $f->{target} =~ /^(range|foreignleaf|subtree)$/ && $f->{keytype} !~ /text|uuid/; }
sub is_partitioned { my ($f) = @_; return $f->{target} !~ /^(plain|foreign|view|partition)$/; }
sub is_key { my ($f) = @_; return $f->{keytype} !~ /text|uuid/ && $f->{keyed} || is_single($f); }
sub base_of { my ($f) = @_; return $f->{target} eq 'view' ? 'got_base' : 'got'; }
sub is_accelerated { my ($f) = @_; return $f->{source} =~ /^accelerated/; }
sub is_cores { my ($f) = @_; return $f->{trigger} ne '' || $f->{index} eq 'deferrable' || $f->{target} =~ /foreign|view/; }
# By ranges of g, and not by those of k that are replaced
sub is_other { my ($f) = @_; return $f->{target} eq 'other' && !$f->{keyed}; }
sub creates { my ($f) = @_; return (is_single($f) || is_other($f)) && $f->{missing} eq 'create' && !is_accelerated($f); }

# Is there what must be evaluated in the order of the file?
sub is_volatile { my ($f) = @_; return $f->{where} eq 'volatile' || $f->{extra} eq 'unsafe' || $f->{transform} eq 'unsafe' || $f->{extra} =~ /serial|identity/ && ($f->{on_error} ne 'stop' || $f->{edit} eq 'skip_empty_lines'); }
sub tells_equal { my ($f) = @_; return $f->{index} =~ /^(unique|nullsequal|primary)$/; }

sub key_columns
{
	my ($f) = @_;
	my %of = (range => ['k'], subtree => ['k'], foreignleaf => ['k'], other => ['g'], two => [ 'k', 'g' ], list => ['g'], hash => ['n'], listrange => [ 'g', 'k' ], rangehash => [ 'k', 'n' ], rangelist => [ 'k', 'g' ]);

	return @{ $of{ $f->{target} } // [] };
}

# Changes what makes no sense with something else
sub adapt
{
	my ($c) = @_;
	my $f = $c->{f};

	fit_existing($f) unless $c->{wild};
	adapt_table($f);
	adapt_file($f);
	adapt_source($f);
	return if $c->{wild};
	adapt_existing($f);
	adapt_errors($f);
	adapt_rest($f);
}

# What is done with rows that are there asks for a table and a source for which it can be
sub fit_existing
{
	my ($f) = @_;
	my $e = $f->{existing};

	return if $e eq 'keep';
	$f->{target} = pick('range', 'range', 'plain', 'other') if $f->{target} =~ /foreign|view/ || $e =~ /replace|merge/ && $f->{target} !~ /^(plain|range|other|partition|subtree)$/;
	$f->{source} =~ s/^accelerated/copy/ if chance(0.7);
	$f->{source} = 'stdin' if $f->{source} eq 'copystdin';
	return if $e =~ /replace|conflict/ && $f->{target} =~ /^(plain|partition)$/;
	$f->{keytype} = pick(qw(timestamp timestamptz date bigint smallint)) if $f->{keytype} =~ /text|uuid/ && $e ne 'conflict';
	$f->{keyed} = 1 if $e eq 'range' || $e eq 'merge' && $f->{target} =~ /^(plain|partition)$/;
	$f->{target} = 'range' if $f->{target} eq 'other' && $e eq 'range' && chance(0.5);
	return if $e ne 'merge' || chance(0.2);
	# files that can be exchanged, and rows that need not keep their order
	@$f{qw(persistence trigger)} = ('', '');
	$f->{index} = pick('unique', 'btree', 'none', 'primary') if $f->{index} =~ /exclude|deferrable|leafunique/;
	$f->{transaction} = 'repeatable' if $f->{transaction} eq 'serializable';
	$f->{where} = 'some' if $f->{where} eq 'volatile';
	$f->{transform} = 'text' if $f->{transform} eq 'unsafe';
	$f->{extra} = 'default' if $f->{extra} eq 'unsafe' || $f->{extra} =~ /serial|identity/ && $f->{on_error} ne 'stop';
}

sub adapt_table
{
	my ($f) = @_;

	$f->{index} = 'none' if $f->{target} =~ /^(foreign|foreignleaf|view)$/;
	$f->{index} = 'none' if $f->{target} eq 'expr' && $f->{index} =~ /unique|nulls|primary|exclude|deferrable/;
	$f->{index} = 'unique' if $f->{index} eq 'exclude' && is_partitioned($f);
	$f->{index} = 'unique' if $f->{index} eq 'uniqueexpression' && is_partitioned($f);
	$f->{index} = 'none' if $f->{index} eq 'leafunique' && (!is_partitioned($f) || $f->{target} =~ /listrange|rangehash|rangelist/ || $f->{have} eq 'none');
	$f->{default} = 0 if $f->{target} =~ /^(plain|hash|foreign|view|listrange|foreignleaf|partition)$/;
	$f->{have} = 'all' if $f->{target} =~ /^(two|list|hash|listrange|rangelist|expr|other|rangehash)$/ && $f->{have} eq 'none' || $f->{target} eq 'foreignleaf';
	$f->{extra} = '' if $f->{target} =~ /foreign|view/;
	$f->{constraint} = '' if $f->{target} =~ /foreign|view/;
	$f->{trigger} = '' if $f->{target} =~ /foreign|view/ || $f->{trigger} eq 'references' && $f->{persistence};
	$f->{trigger} = 'before' if $f->{trigger} eq 'leaf' && ($f->{target} !~ /^(range|subtree|other|two|list|hash|expr)$/ || $f->{have} eq 'none');
	$f->{leaves} = 'same' if $f->{target} eq 'foreignleaf';
	$f->{persistence} = '' if $f->{target} =~ /foreign|view|partition|subtree/;
	$f->{extra} = 'default' if $f->{extra} eq 'identity' && $f->{target} =~ /partition|subtree/;
	$f->{late} = 0 if $f->{target} =~ /foreign|view|partition|subtree/ || $f->{columns} eq 'table';
	$f->{type} = '' if $f->{target} =~ /foreign/;
	$f->{wing} = 0 if $f->{target} !~ /^foreign/;
	$f->{nulls} = 0 if $f->{index} eq 'primary';
	$f->{have} = 'some' if $f->{target} eq 'other' && $f->{have} eq 'none';
	$f->{interval} = 1 if $f->{keytype} =~ /int/ && is_single($f) && $f->{have} eq 'none';
	$f->{interval} = 0 if !is_single($f) || $f->{missing} ne 'create';
	$f->{keyed} = 0 if $f->{keytype} =~ /text|uuid/ || $f->{target} =~ /foreign$|view/;
	$f->{freeze} = 0 if $f->{target} =~ /foreign|view/;
	@$f{qw(transaction there)} = qw(begin none) if $f->{freeze};
	$f->{there} = 'none' if $f->{there} ne 'none' && $f->{target} eq 'foreign';
	# numbers of the file's rows are not compared, but those that are there must stay
	$f->{columns} = 'list' if $f->{extra} =~ /default|serial|identity|unsafe/;
}

sub adapt_file
{
	my ($f) = @_;

	if ($f->{format} eq 'binary')
	{
		@$f{qw(header delimiter null quote force marker encoding format_of_time)} = ('') x 8;
		@$f{qw(transform edit on_error bad)} = qw(none none stop none);
	}
	@$f{qw(quote force)} = ('', '') if $f->{format} ne 'csv';
	$f->{header} = '' if $f->{header} && $f->{format} eq 'text' && is_accelerated($f);
	$f->{columns} = 'list' if $f->{header} eq 'map';
	$f->{junk} = 0 if $f->{header} ne 'map';
	$f->{eol} = "\n" if $f->{format} eq 'binary';
	$f->{encoding} = '' if $f->{bad} eq 'encoding' && $f->{encoding} eq 'LATIN1' || ($f->{delimiter} eq '|' && $f->{encoding} eq 'SJIS');
	$f->{format_of_time} = '' if $f->{keytype} !~ /^timestamp/ || $f->{format_of_time} eq 'zone' && $f->{keytype} ne 'timestamptz' || $f->{transform} eq 'key';
	$f->{format_of_time} = '' if $f->{bad} eq 'key';
	$f->{outside} = 1 if $f->{outside} eq 'infinite' && $f->{format_of_time} eq 'epoch_s';
	$f->{marker} = '' if $f->{target} eq 'view' || $f->{extra} =~ /serial|identity/ || $f->{transform} ne 'none';
	$f->{type} = '' if $f->{type} =~ /int$|double|real|numeric/ && $f->{edit} eq 'number_format' || $f->{edit} eq 'trim_blanks';
	$f->{edit} = 'none' if $f->{edit} eq 'trim_blanks' && $f->{format} eq 'text' || $f->{edit} eq 'number_format' && $f->{transform} eq 'number';
	$f->{bad} = 'conversion' if $f->{bad} eq 'fields' && $f->{edit} eq 'missing_columns';
	$f->{bad} = 'conversion' if $f->{bad} eq 'key' && $f->{keytype} eq 'text';
	# what cannot be computed is NULL, and not computed of NULL
	$f->{transform} = 'text' if $f->{transform} eq 'number' && $f->{on_error} eq 'set_null';
	$f->{bad} = 'none' if $f->{bad} eq 'quote' && $f->{format} ne 'csv';
	$f->{bad} = 'none' if $f->{bad} eq 'checked' && $f->{constraint} eq '' && $f->{trigger} ne 'references';
	$f->{outside} = 1 if $f->{bad} eq 'partition';
	$f->{lacks} = '' if $f->{columns} eq 'table' || $f->{transform} ne 'none' || $f->{force} || $f->{marker} || $f->{edit} eq 'null_strings' || $f->{lacks} eq 'v' && ($f->{constraint} || $f->{bad} eq 'conversion') || $f->{lacks} eq 't' && $f->{bad} eq 'encoding';
	# only values that a type refuses may be NULL
	$f->{classes} = 'conversion' if $f->{on_error} eq 'set_null';
}

sub adapt_source
{
	my ($f) = @_;

	if (is_accelerated($f))
	{
		$f->{header} = 'true' if $f->{header} && $f->{header} ne 'match';
		@$f{qw(transform edit on_error existing)} = qw(none none stop keep);
		@$f{qw(order_by marker format_of_time)} = ('', '', '');
		@$f{qw(analyze ledger keyed interval junk)} = (0) x 5;
		$f->{missing} = 'default';
		$f->{packed} = '';
		$f->{freeze} = 0 if is_partitioned($f);
	}
	$f->{ledger} = 0 if $f->{source} eq 'stdin';
	$f->{foretell} = 0 if $f->{source} !~ /^(file|files|pattern|program)$/;
	# an empty file is not a packed one of no pieces
	$f->{packed} = 'gzip' if $f->{packed} eq 'pieces' && $f->{rows} == 0;
}

# What is done with rows that are there
sub adapt_existing
{
	my ($f) = @_;
	my $e = $f->{existing};

	$e = 'keep' if $e ne 'keep' && $f->{target} =~ /foreign|view/;
	$f->{keyed} = 0 if $f->{target} eq 'other' && $e ne 'range';
	$e = 'keep' if $e eq 'range' && !is_key($f);
	$e = is_key($f) ? 'range' : 'keep' if $e =~ /replace|merge/ && is_partitioned($f) && !is_single($f) && !is_other($f);
	$e = 'keep' if $e eq 'merge' && (!is_key($f) && !is_other($f) || $f->{persistence} || $f->{index} =~ /exclude|deferrable/ || $f->{trigger} || $f->{transaction} eq 'serializable' || $f->{where} eq 'volatile' || $f->{transform} eq 'unsafe'
		|| $f->{extra} =~ /unsafe/);
	$f->{index} = is_partitioned($f) ? 'unique' : 'primary' if $e eq 'conflict' && !tells_equal($f) && $f->{target} ne 'expr';
	$e = 'keep' if $e eq 'conflict' && $f->{target} eq 'expr';
	$f->{nulls} = 0 if $f->{index} eq 'primary';
	if ($e eq 'conflict')
	{
		$f->{order_by} = '';
		$f->{classes} = 'record' if $f->{classes} =~ /rows|all|unique/;
		$f->{where} = 'some' if $f->{where} eq 'volatile';
		$f->{transform} = 'text' if $f->{transform} eq 'unsafe';
	}
	$f->{default} = 0 if $e eq 'merge' && $f->{dedup} && $f->{missing} ne 'create';
	$f->{freeze} = 0 if $e ne 'keep';
	$f->{existing} = $e;
	$f->{classes} = 'rows' if $e eq 'merge' && $f->{dedup} && $f->{classes} =~ /all|unique/;
}

sub adapt_errors
{
	my ($f) = @_;

	$f->{classes} = 'record' if is_cores($f) && $f->{classes} =~ /rows|all|unique/;
	$f->{order_by} = '' if is_cores($f) || $f->{classes} =~ /unique|all/ && $f->{on_error} ne 'stop';
	$f->{default} = 0 if is_cores($f) && $f->{missing} eq 'error';
	# of the loads that end with an error of the file there are enough
	$f->{bad} = 'none' if $f->{bad} ne 'none' && $f->{on_error} eq 'stop' && chance(0.7);
	$f->{nulls} = 0 if is_partitioned($f) && (!$f->{default} || $f->{existing} eq 'range' || $f->{missing} eq 'error') && $f->{on_error} eq 'stop' && chance(0.8);
	$f->{outside} = 0 if $f->{on_error} eq 'stop' && $f->{bad} ne 'partition' && !$f->{default} && chance(creates($f) && $f->{existing} ne 'range' ? 0.2 : 0.8);
	$f->{have} = 'all' if $f->{on_error} eq 'stop' && $f->{have} ne 'all' && !$f->{default} && !creates($f) && chance(0.8);
	$f->{there} = 'some' if $f->{there} eq 'equal' && $f->{existing} eq 'keep' && $f->{on_error} eq 'stop' && chance(0.8);
	$f->{twice} = 0 if $f->{twice} && $f->{existing} =~ /keep|replace|range/ && $f->{on_error} eq 'stop' && $f->{index} =~ /unique|primary|nulls|exclude|deferrable/ && chance(0.8);
}

sub adapt_rest
{
	my ($f) = @_;

	$f->{ledger} = 0 if $f->{target} =~ /foreign|view/ || $f->{persistence};
	$f->{freeze} = 0 if is_partitioned($f) && !is_single($f) && !is_other($f) || is_cores($f) || is_volatile($f);
	# the other server's rows are seen when they are committed
	$f->{transaction} = 'begin' if $f->{transaction} eq 'rollback' && $f->{wing};
	$f->{analyze} = 0 if $f->{target} =~ /foreign|view/;
	$f->{order_by} = '' if $f->{target} =~ /foreign/;
	$f->{missing} = 'default' if $f->{missing} eq 'error' && $f->{default} && $f->{target} =~ /^(two|list|rangelist|rangehash|expr)$/;
	# the partitions of these are compared with SQL, test/pgtap/list.sql
	$f->{missing} = 'default' if $f->{missing} eq 'create' && $f->{target} =~ /^(list|listrange|rangelist|rangehash|expr)$/;
}

# ---- values -----------------------------------------------------------------

# The i-th key, of which ten are a slot
sub key_value
{
	my ($type, $i) = @_;

	return sprintf '2024-01-%02d %02d:00:00', 1 + $i / 10, 2 * ($i % 10) if $type eq 'timestamp';
	return sprintf '2024-01-%02d %02d:00:00+00', 1 + $i / 10, 2 * ($i % 10) if $type eq 'timestamptz';
	return sprintf '2024-01-%02d', 1 + $i / 10 if $type eq 'date';
	return sprintf 'k%02d', $i if $type eq 'text';
	return sprintf '00000000-0000-0000-0000-0000000000%02d', $i if $type eq 'uuid';
	return $i;
}

sub bound
{
	my ($f, $slot) = @_;

	return literal($slot < 0 ? ($f->{keytype} =~ /int/ ? 10 * $slot : sprintf '2023-12-%02d', 32 + $slot) : key_value($f->{keytype}, 10 * $slot) =~ s/ 00:00:00//r);
}

my @WORDS = ('', 'a', 'A ', ' b', 'some words and more', "quo\"te's", "back\\slash", "new\nline", "tab\there", 'NA', 'n/a', ',;|', "\xc3\xa4\xc3\xb6", 'x', '7');

# The records: { k, g, n, t, v }, and of those that are damaged, how
sub make_records
{
	my ($c) = @_;
	my $f = $c->{f};
	my $n = $f->{rows};
	my @records;

	begin_chance($c, 'records');
	foreach my $i (1 .. $n)
	{
		my $key = $f->{order} eq 'sorted' ? int(($i - 1) * 40 / $n) : $f->{order} eq 'reverse' ? 39 - int(($i - 1) * 40 / $n) : int(rand 40);
		my %r = (n => $f->{few} ? 1 + int rand 4 : $i, g => int(rand 4), t => pick(@WORDS), v => pick(qw(0 1.5 100000.25 -3 77 2500)));
		my ($outside, $null, $twice, $long, $nothing) = map { rand() } 1 .. 5;

		$key = 50 + $i % 10 if $f->{outside} && $outside < 0.06;
		$r{k} = $f->{nulls} && $null < 0.04 ? undef : key_value($f->{keytype}, $key);
		$r{k} = $i % 2 ? 'infinity' : '-infinity' if $f->{outside} eq 'infinite' && $outside < 0.03 && $f->{keytype} =~ /^(date|timestamp)/;
		$r{g} = 9 if $f->{trigger} eq 'references' && $f->{bad} eq 'checked' && $null < 0.01;
		$r{g} = undef if $f->{nulls} && $null > 0.98;
		$r{v} = undef if $nothing < 0.1;
		$r{t} = join('', map { chr(97 + rand 26) } 1 .. 100 + rand 3000) if $f->{long} && $long < 0.1;
		$r{t} = undef if $nothing > 0.95;
		$r{x} = pick(@{ $TYPES{ $f->{type} } }) if $f->{type} && ($f->{index} eq 'primary' || $nothing < 0.9);
		%r = (%{ $records[ rand @records ] }, t => 'twice') if $f->{twice} && $twice < 0.08 && @records;
		push @records, \%r;
	}
	damage($c, @records);
	return @records;
}

# Damages some of the records, or lets them break a constraint
sub damage
{
	my ($c, @records) = @_;
	my $f = $c->{f};

	begin_chance($c, 'damage');
	foreach my $r (@records)
	{
		next unless chance(0.05);
		$r->{v} = 666 if $f->{bad} eq 'checked' && $f->{constraint} eq 'check';
		$r->{v} = undef if $f->{bad} eq 'checked' && $f->{constraint} eq 'not_null';
		$r->{bad} = pick('missing_columns', 'extra_columns') if $f->{bad} eq 'fields';
		$r->{bad} = $f->{bad} if $f->{bad} =~ /^(conversion|key|encoding)$/;
	}
	# by chance NULL
	foreach my $r ($f->{constraint} eq 'not_null' && $f->{bad} ne 'checked' ? @records : ())
	{
		$r->{v} //= 5;
	}
	$records[-1]{bad} = 'quote' if $f->{bad} eq 'quote' && @records;
}

# ---- files ------------------------------------------------------------------

sub delimiter_of { my ($f) = @_; return $f->{delimiter} || ($f->{format} eq 'csv' ? ',' : "\t"); }
sub null_of { my ($f) = @_; return $f->{null} || ($f->{format} eq 'csv' ? '' : '\\N'); }

# The column's value as the file has it
sub notation
{
	my ($c, $name, $value) = @_;
	my $f = $c->{f};

	return undef if !defined $value;
	if ($name eq 'k' && $f->{format_of_time})
	{
		my ($day, $hour) = $value =~ /^2024-01-(\d\d) (\d\d)/ or return $value;

		return 1704067200 + 86400 * ($day - 1) + 3600 * $hour if $f->{format_of_time} eq 'epoch_s';
		return sprintf '2024-01-%02d %02d:00:00', $day, $hour;
	}
	if ($name eq 'v' && $f->{edit} eq 'number_format')
	{
		return $value unless $value =~ /^(-?)(\d+)(?:\.(\d+))?$/;
		my ($sign, $whole, $part) = ($1, $2, $3);

		$whole =~ s/(\d)(?=(?:\d{3})+$)/$1./g;
		return "$sign$whole" . (defined $part ? ",$part" : '');
	}
	return $value;
}

sub csv_field
{
	my ($c, $name, $value) = @_;
	my $f = $c->{f};
	my $null = $f->{null};
	my $quote = $f->{quote} || '"';
	my $marker = $f->{marker};
	my $delimiter = quotemeta(delimiter_of($f));
	my $blank = '';

	return 'n/a' if !defined $value && $f->{edit} eq 'null_strings' && $name eq 'v';
	return $null if !defined $value;
	$value = notation($c, $name, $value);
	$blank = pick(' ', "\t", '') if $f->{edit} eq 'trim_blanks' && $name =~ /^[gvn]$/;
	return "$blank$value$blank" if $name ne 't' && $value ne $null && $value !~ /$delimiter|$quote|[\n\r]/ && !chance(0.05);
	$value =~ s/$quote/$quote$quote/g;
	return $value if $value =~ /^[a-z0-9A-Z]+\z/ && $value ne $null && !($f->{force} eq 'force_null') && chance(0.5);
	return "$quote$value$quote";
}

sub text_field
{
	my ($c, $name, $value) = @_;
	my $f = $c->{f};
	my $delimiter = delimiter_of($f);

	return 'n/a' if !defined $value && $f->{edit} eq 'null_strings' && $name eq 'v';
	return null_of($f) if !defined $value;
	$value = notation($c, $name, $value);
	$value =~ s/\\/\\\\/g;
	$value =~ s/\n/\\n/g;
	$value =~ s/\t/\\t/g;
	$value =~ s/(\Q$delimiter\E)/\\$1/g if $delimiter ne "\t";
	# one that looks like NULL
	return $value eq $f->{null} && $f->{null} ? '\\' . $value : $value;
}

sub field { my ($c, @what) = @_; return $c->{f}{format} eq 'text' ? text_field($c, @what) : csv_field($c, @what); }

# A record as it is in the file, and as COPY is to read it: undef, if it cannot
sub record_text
{
	my ($c, $r) = @_;
	my $f = $c->{f};
	my @names = @{ $c->{fields} };
	my %r = %$r;
	my $bad = $r->{bad} // '';

	# what cannot be told from NULL, or is not NULL where that is forced
	$r{t} = 'other' if defined $r{t} && ($f->{force} eq 'force_null' && $r{t} eq $f->{null} || $f->{format} eq 'text' && $f->{edit} eq 'trim_blanks');
	$r{t} = '' if !defined $r{t} && $f->{force} eq 'force_not_null' && $f->{null} eq '';
	$r{t} = 'was NULL' if !defined $r{t} && $f->{force} eq 'force_not_null' && $f->{null} ne '';
	my %shown = (%r, junk => 'more');
	$shown{v} = 'bad' if $bad eq 'conversion';
	my @fields = map { field($c, $_, $shown{$_}) } @names;
	foreach my $i (0 .. $#names)
	{
		$fields[$i] = 'nokey' if $bad eq 'key' && $names[$i] eq 'k';
		$fields[$i] = $f->{format} eq 'csv' ? ($f->{quote} || '"') . "\xff" . ($f->{quote} || '"') : "\xff" if $bad eq 'encoding' && $names[$i] eq 't';
		if ($f->{marker} && $names[$i] eq 't' && chance(0.2) && !$bad)
		{
			$fields[$i] = $f->{marker};
			$r{t} = 'deflt';
		}
	}
	pop @fields if $bad eq 'missing_columns';
	if ($f->{edit} eq 'missing_columns' && $bad eq '' && $names[-1] =~ /^[vt]$/ && chance(0.2))
	{
		pop @fields;
		$r{ $names[-1] } = undef;
		$r{v} //= 5, push @fields, 5 if $names[-1] eq 'v' && $f->{constraint} eq 'not_null';
	}
	push @fields, 'more' if $bad eq 'extra_columns';
	my $text = join(delimiter_of($f), @fields);
	$text .= delimiter_of($f) . ($f->{quote} || '"') . 'open' if $bad eq 'quote';
	return ($text, \%r);
}

sub encode_for
{
	my ($f, $bytes) = @_;
	my %names = (LATIN1 => 'iso-8859-1', SJIS => 'cp932');

	return $bytes unless $names{ $f->{encoding} };
	require Encode;
	# what is no character is none in SJIS
	return join("\xff", map { Encode::encode($names{ $f->{encoding} }, Encode::decode('UTF-8', $_)) } split(/\xff/, $bytes, -1));
}

# Writes the files of a load, and one that COPY reads for SQL.  Sets what is known of them
sub write_files
{
	my ($c, $name) = @_;
	my $f = $c->{f};
	my @records = make_records($c);
	my $files = $f->{source} =~ /^(files|pattern)$/ ? 1 + $c->{number} % 3 : 1;
	my (@good, $line, @classes);

	@{$c}{qw(rejects problems filtered names)} = ([], [], 0, []);
	begin_chance($c, 'texts');
	@classes = classes_of($f);
	foreach my $i (1 .. $files)
	{
		my @part = @records[ int(@records * ($i - 1) / $files) .. int(@records * $i / $files) - 1 ];
		my $file = source_name($c, $name, $i);
		my $bytes = header_text($c);

		$line = () = $bytes =~ /$f->{eol}/g;
		foreach my $r (@part)
		{
			my ($text, $good) = record_text($c, $r);

			# SJIS has no such letters
			$text =~ s/\xc3[\xa4\xb6]/\xe3\x81\x82/g, $good->{t} = defined $good->{t} ? $good->{t} =~ s/\xc3[\xa4\xb6]/\xe3\x81\x82/gr : undef if $f->{encoding} eq 'SJIS';
			if ($f->{edit} eq 'skip_empty_lines' && chance(0.05))
			{
				$bytes .= $f->{eol};
				$line++;
				$c->{filtered}++;
			}
			# as COPY counts, before it knows how lines end
			$line += 1 + ($bytes eq '' || $f->{eol} ne "\n" ? 0 : $text =~ tr/\n//);
			$bytes .= $text . $f->{eol};
			push @good, note_record($c, $r, $good, "$file|$line", @classes);
		}
		# an end without a line end
		$bytes =~ s/$f->{eol}\z// if $bytes =~ /[^\r\n]$f->{eol}\z/ && chance(0.1);
		write_file("$name.$i", encode_for($f, $bytes));
		pack_file($f, "$name.$i") if $f->{format} ne 'binary';
		push @{ $c->{names} }, $file;
	}
	write_file("$name.good", join('', @good));
}

# What became of a record: it is rejected, a problem, or good: then for COPY as a line
sub note_record
{
	my ($c, $r, $good, $place, @classes) = @_;
	my $f = $c->{f};
	my %state = (conversion => '22P02', key => $f->{keytype} =~ /int|uuid/ ? '22P02' : '22007', missing_columns => '22P04', extra_columns => '22P04', encoding => '22021', quote => '22P04');
	my $bad = $r->{bad};

	$c->{good_lines}++;
	if (defined $bad && $bad eq 'conversion' && $f->{on_error} eq 'set_null')
	{
		$good->{v} = undef;
	}
	elsif (defined $bad && $bad eq 'key' && $f->{on_error} eq 'set_null')
	{
		$good->{k} = undef;
	}
	elsif (defined $bad)
	{
		my $class = $bad eq 'key' ? 'conversion' : $bad;

		if ($f->{on_error} ne 'stop' && grep { $_ eq $class } @classes) { push @{ $c->{rejects} }, "$place|$class" }
		else { push @{ $c->{problems} }, $state{$bad} }
		return ();
	}
	return join(',', $c->{good_lines}, map { defined $_ ? '"' . s/"/""/gr . '"' : '' } $place, @$good{qw(k g n t v x)}) . "\n";
}

sub classes_of
{
	my ($f) = @_;
	my %of = (conversion => ['conversion'], record => [qw(conversion missing_columns extra_columns encoding)], rows => [qw(conversion check not_null no_partition)],
		unique => ['unique', 'conversion'], all => [qw(conversion missing_columns extra_columns encoding check not_null no_partition unique)]);

	return $f->{on_error} eq 'stop' ? () : @{ $of{ $f->{classes} } };
}

sub header_text
{
	my ($c) = @_;
	my $f = $c->{f};

	return '' if $f->{header} eq '';
	return "one$f->{eol}two$f->{eol}" if $f->{header} eq '2';
	return join(delimiter_of($f), @{ $c->{fields} }) . $f->{eol};
}

# How the load names the i-th source
sub source_name
{
	my ($c, $name, $i) = @_;
	my $f = $c->{f};
	my $file = "$name.$i" . ({ gzip => '.gz', zstd => '.zst', pieces => '.gz' }->{ $f->{packed} } // '');

	return $file unless $f->{source} =~ /program/;
	return { gzip => 'gzip -dc ', zstd => 'zstd -dqc ', pieces => 'gzip -dc ', '' => 'cat ' }->{ $f->{packed} } . $file if $c->{number} % 2;
	return "cat $file";
}

# The command that packs what it reads
sub pack_command
{
	my ($f, $file) = @_;

	return "gzip -nc >$file.gz" if $f->{packed} eq 'gzip';
	return "zstd -qc >$file.zst" if $f->{packed} eq 'zstd';
	# several members
	return "split -b 997 --filter='gzip -nc' >$file.gz" if $f->{packed} eq 'pieces';
	return "cat >$file";
}

sub pack_file
{
	my ($f, $file) = @_;

	return if $f->{packed} eq '';
	system(pack_command($f, $file) . " <$file") == 0 or die "$file: cannot be packed\n";
	unlink $file;
}

sub write_file
{
	my ($name, $bytes) = @_;

	open(my $fh, '>:raw', $name) or die "$name: $!\n";
	print $fh $bytes;
	close $fh or die "$name: $!\n";
	chmod 0644, $name;
}

# ---- the tables -------------------------------------------------------------

# [name, definition], in the order of the table
sub table_columns
{
	my ($c) = @_;
	my $f = $c->{f};
	my %extra = (default => [ 'd', 'int DEFAULT 7' ], serial => [ 'd', "bigint DEFAULT nextval('course_seq')" ], identity => [ 'd', 'bigint GENERATED BY DEFAULT AS IDENTITY' ],
		generated => [ 'd', "int GENERATED ALWAYS AS (coalesce(length(t), 0) + n) STORED" ], unsafe => [ 'd', 'int DEFAULT unsafe(3)' ]);
	my @columns = ($f->{type} ? [ 'x', $f->{type} ] : (), [ 'k', $f->{keytype} ], [ 'g', 'int' ], [ 'n', $f->{extra} eq 'domain' ? 'few' : 'int' ], [ 't', 'text' . ($f->{marker} ? " DEFAULT 'deflt'" : '') ],
		[ 'v', 'numeric' . ($f->{constraint} eq 'check' ? ' CONSTRAINT odd CHECK (v <> 666)' : $f->{constraint} eq 'not_null' ? ' NOT NULL' : '') ]);

	begin_chance($c, 'order of columns');
	push @columns, $extra{ $f->{extra} } if $extra{ $f->{extra} };
	return map { $_->[1] } sort { $a->[0] <=> $b->[0] } map { [ rand(), $_ ] } @columns;
}

sub columns_sql { return join(', ', map { "$_->[0] $_->[1]" } @_); }

# Slots that have a leaf
sub slots
{
	my ($f, $whole) = @_;

	return $f->{target} eq 'other' ? (0 .. 3) : (-2 .. 9) if $whole && creates($f);
	return ({ all => [ 0 .. 3 ], some => [ 0, 2 ], none => [] })->{ $f->{have} }->@*;
}

# [name, bounds, what it is partitioned by, its partitions]
sub partitions
{
	my ($f, $whole) = @_;
	my $of_slot = sub { my ($i) = @_; return 'FROM (' . bound($f, $i) . ') TO (' . bound($f, $i + 1) . ')' };
	my @p;

	return () unless is_partitioned($f);
	foreach my $i ($f->{target} =~ /^(range|subtree|foreignleaf|rangehash|rangelist|two)$/ ? slots($f, $whole) : ())
	{
		push @p, [ $i < 0 ? 'm' . -$i : $i, $f->{target} eq 'two' ? 'FROM (' . bound($f, $i) . ', 2) TO (' . bound($f, $i + 1) . ', 2)' : $of_slot->($i),
			$f->{target} eq 'rangehash' ? ('HASH (n)', map { [ $_, "WITH (MODULUS 2, REMAINDER $_)" ] } 0, 1) : $f->{target} eq 'rangelist' && $i < 2 ? ('LIST (g)', [ 'a', 'IN (0, 2)' ], [ 'b', 'DEFAULT' ]) : () ];
	}
	push @p, map { [ $_, "FROM ($_) TO (" . ($_ + 1) . ')' ] } slots($f, $whole) if $f->{target} eq 'other';
	push @p, map { [ $_, "IN ($_)" ] } slots($f, 0) if $f->{target} eq 'list';
	push @p, map { [ $_, "WITH (MODULUS 3, REMAINDER $_)" ] } $f->{have} eq 'some' ? (0, 1) : (0 .. 2) if $f->{target} eq 'hash';
	push @p, map { [ $_, "IN ($_)" ] } $f->{have} eq 'some' ? (0, 1) : (0 .. 2) if $f->{target} eq 'expr';
	push @p, [ 'a', 'IN (0, 1)' ], [ 'b', 'IN (2, 3)', 'RANGE (k)', map { [ $_, $of_slot->($_) ] } slots($f, 0) ] if $f->{target} eq 'listrange';
	push @p, [ 'rest', 'DEFAULT' ] if $f->{default};
	return @p;
}

sub values_of { my ($bounds) = @_; return $bounds eq 'DEFAULT' ? $bounds : "FOR VALUES $bounds"; }

# A partitioned table has no rows to be logged
sub create_table
{
	my ($f, $remote, $by) = @_;

	return 'CREATE ' . ($remote && $f->{persistence} && !($by && $f->{persistence} eq 'UNLOGGED') ? "$f->{persistence} " : '') . 'TABLE';
}

# "remote": leaves may be on another server
sub partition_sql
{
	my ($c, $parent, $p, $remote) = @_;
	my ($name, $bounds, $by, @below) = @$p;
	my $f = $c->{f};
	my $for = values_of($bounds);
	my $table = "${parent}_$name";

	return ("CREATE FOREIGN TABLE $table PARTITION OF $parent $for SERVER loopback OPTIONS (table_name 'got_remote')") if $f->{target} eq 'foreignleaf' && $remote && $name eq '1';
	my $create = create_table($f, $remote, $by);

	if ($f->{leaves} eq 'other' && !defined $by && $name =~ /^[02]$/)
	{
		my @columns = map { [ $_->[0], $_->[1] =~ s/GENERATED BY DEFAULT AS IDENTITY/NOT NULL/r ] } reverse table_columns($c);

		return ("$create $table (zz int, " . columns_sql(@columns) . ')', "ALTER TABLE $table DROP zz", "ALTER TABLE $parent ATTACH PARTITION $table $for");
	}
	return ("$create $table PARTITION OF $parent $for" . (defined $by ? " PARTITION BY $by" : ''), map { partition_sql($c, $table, $_, $remote) } @below);
}

sub index_sql
{
	my ($c, $name) = @_;
	my $f = $c->{f};
	my $columns = join(', ', unique_columns($f));
	my %sql = (btree => "CREATE INDEX ON $name (k, v)", brin => "CREATE INDEX ON $name USING brin (k)", expression => "CREATE INDEX ON $name (lower(t), plus(n))", partial => "CREATE INDEX ON $name (g) WHERE plus(n) > 5",
		unique => "CREATE UNIQUE INDEX ON $name ($columns)", nullsequal => "CREATE UNIQUE INDEX ON $name ($columns) NULLS NOT DISTINCT", primary => "ALTER TABLE $name ADD PRIMARY KEY ($columns)",
		uniqueexpression => "CREATE UNIQUE INDEX ON $name (plus(n), k)", exclude => "ALTER TABLE $name ADD EXCLUDE (n WITH =, k WITH =)", deferrable => "ALTER TABLE $name ADD UNIQUE ($columns) DEFERRABLE",
		leafunique => "CREATE UNIQUE INDEX ON ${name}_0 (n, k, g)");

	return $sql{ $f->{index} } // ();
}

# What a unique index is over: all keys of partitions, and the key of the load
sub unique_columns
{
	my ($f) = @_;
	my %seen;

	return grep { !$seen{$_}++ } key_columns($f), $f->{keyed} || $f->{existing} eq 'merge' ? 'k' : (), 'n', $f->{type} ? 'x' : ();
}

sub table_sql
{
	my ($c, $name) = @_;
	my $f = $c->{f};
	my $whole = $name eq 'wanted';
	my $remote = !$whole;
	my @columns = table_columns($c);
	my %by = (range => 'RANGE (k)', subtree => 'RANGE (k)', foreignleaf => 'RANGE (k)', other => 'RANGE (g)', two => 'RANGE (k, g)', list => 'LIST (g)', hash => 'HASH (n)', listrange => 'LIST (g)', rangehash => 'RANGE (k)', rangelist => 'RANGE (k)', expr => 'LIST ((g % 3))');
	my $gone = $f->{gone} ? 'gone int, ' : '';
	my @sql;

	return ("CREATE TABLE got_remote (" . columns_sql(@columns) . ')', "CREATE FOREIGN TABLE got (" . columns_sql(@columns) . ") SERVER loopback OPTIONS (table_name 'got_remote')") if $f->{target} eq 'foreign' && $remote;
	if ($f->{target} eq 'view' && $remote)
	{
		return ("CREATE TABLE got_base (" . columns_sql(@columns) . ')', 'CREATE VIEW got AS TABLE got_base', 'CREATE TRIGGER into_base INSTEAD OF INSERT ON got FOR EACH ROW EXECUTE FUNCTION into_base()');
	}
	push @sql, 'CREATE TABLE got_remote (' . columns_sql(@columns) . ')' if $f->{target} eq 'foreignleaf' && $remote;
	push @sql, create_table($f, $remote, $by{ $f->{target} }) . " $name ($gone" . columns_sql(@columns) . ')' . ($by{ $f->{target} } ? " PARTITION BY $by{ $f->{target} }" : '');
	push @sql, "ALTER TABLE $name DROP gone" if $gone;
	push @sql, map { partition_sql($c, $name, $_, $remote) } partitions($f, $whole);
	return (@sql, index_sql($c, $name), trigger_sql($f, $name), above_sql($f, $name));
}

# Some targets are partitions themselves
sub above_sql
{
	my ($f, $name) = @_;
	my ($by, $bounds) = $f->{target} eq 'partition' ? ('RANGE (k)', 'FROM (' . bound($f, 0) . ') TO (' . bound($f, 4) . ')') : $f->{target} eq 'subtree' ? ('LIST (g)', 'IN (0, 1, 2, 3)') : return ();

	return ("CREATE TABLE above_$name (LIKE $name INCLUDING GENERATED INCLUDING CONSTRAINTS) PARTITION BY $by", "ALTER TABLE above_$name ATTACH PARTITION $name FOR VALUES $bounds");
}

sub trigger_sql
{
	my ($f, $name) = @_;

	return ("ALTER TABLE $name ADD FOREIGN KEY (g) REFERENCES ref") if $f->{trigger} eq 'references';
	return () if $f->{trigger} eq '' || $name eq 'wanted';
	return ("CREATE TRIGGER same BEFORE INSERT ON ${name}_0 FOR EACH ROW EXECUTE FUNCTION same()") if $f->{trigger} eq 'leaf';
	return "CREATE TRIGGER same " . { before => 'BEFORE INSERT', after => 'AFTER INSERT', statement => 'AFTER INSERT' }->{ $f->{trigger} } . " ON $name FOR EACH " . ($f->{trigger} eq 'statement' ? 'STATEMENT' : 'ROW') . ' EXECUTE FUNCTION same()';
}

# Rows that are there: of slots that have a leaf, or none, which stay in the default
# partition; "equal": some are those of the file
sub old_rows_sql
{
	my ($c, @names) = @_;
	my $f = $c->{f};
	my $columns = 'k, g, n, t, v';
	my %has = map { $_ => 1 } slots($f, 0);
	my @values;

	my $x = $f->{type} ? ', x' : '';

	return () if $f->{there} eq 'none';
	begin_chance($c, 'there');
	foreach my $i (1 .. ($f->{there} eq 'many' ? 3000 : pick(1, 20, 60)))
	{
		my $key = pick(0 .. 39);
		my $g = int rand 4;

		next if creates($f) && !$has{ $f->{target} eq 'other' ? $g : int($key / 10) };
		push @values, sprintf('(%s, %d, %d, %s, %s, %s)', literal(key_value($f->{keytype}, $key)), $g, $f->{few} ? 1 + $i % 4 : -$i, literal("old $i"), pick(1, 2.5, -7), $f->{type} ? literal(pick(@{ $TYPES{ $f->{type} } })) : 'NULL');
	}
	return (
		(@values ? put_sql($f, "SELECT k, g, n, t, v$x FROM (VALUES " . join(', ', @values) . ') AS v (k, g, n, t, v, x)') : ()),
		($f->{there} eq 'equal' ? put_sql($f, "SELECT k, g, n, 'old ' || n AS t, 3 AS v" . ($f->{type} ? ', x::text' : '') . " FROM typed WHERE line_ % 3 = 0" . (creates($f) ? ' AND ' . slots_sql($f) : '')) : ()));
}

sub slots_sql
{
	my ($f) = @_;

	return 'g IN (' . join(', ', slots($f, 0), 'NULL') . ')' if $f->{target} eq 'other';
	return '(' . join(' OR ', 'false', map { "k >= " . bound($f, $_) . " AND k < " . bound($f, $_ + 1) } slots($f, 0)) . ')';
}

sub put_sql { my ($f, $query) = @_; return 'CALL put_olds(' . literal(base_of($f)) . ', ' . literal($query) . ')'; }

# ---- the load ---------------------------------------------------------------

my %WHERE = (some => 'n % 3 > 0', volatile => 'often(n)', key => "k IS NOT NULL AND n % 5 > 0", nothing => 'n < 0', leader => 'n > least_n()');
my %TRANSFORM = (text => [ 't', "upper(t) || coalesce(g, '')" ], group => [ 'g', '(g::int + 1) % 4' ], number => [ 'v', "coalesce(v, '1')::numeric * 2" ], key => [ 'k', "k || ''" ], unsafe => [ 't', "unsafe(n::int)::text" ], leader => [ 'g', 'g::int * sign(least_n())::int' ]);

sub range_of
{
	my ($c) = @_;

	begin_chance($c, 'range');
	# all keys, or not quite
	return chance(0.8) ? (0, 60) : (5, 35);
}

# The options, by their names
sub options
{
	my ($c) = @_;
	my $f = $c->{f};
	my %o = (format => $f->{format});
	my @direction = direction($f);

	$o{timestamp_column} = 'k' if $f->{keyed};
	$o{header} = $f->{header} if $f->{header};
	$o{delimiter} = $f->{delimiter} if $f->{delimiter};
	$o{null_string} = $f->{null} if $f->{null};
	$o{quote} = $f->{quote} if $f->{quote};
	$o{ $f->{force} } = ['t'] if $f->{force};
	$o{default_string} = $f->{marker} if $f->{marker};
	$o{encoding} = $f->{encoding} if $f->{encoding};
	$o{where_clause} = $WHERE{ $f->{where} } if $f->{where} ne 'none';
	$o{timestamp_format} = $f->{keyed} || is_single($f) ? 'epoch_s' : '{"k": "epoch_s"}' if $f->{format_of_time} eq 'epoch_s';
	$o{time_zone} = 'Asia/Kolkata' if $f->{format_of_time} eq 'zone';
	$o{transform} = "$TRANSFORM{ $f->{transform} }[0] = $TRANSFORM{ $f->{transform} }[1]" if $f->{transform} ne 'none';
	$o{ $f->{edit} } = { trim_blanks => 'unquoted', null_strings => '{"v": ["n/a"]}', number_format => '1.234,56', skip_empty_lines => 'true', missing_columns => 'null' }->{ $f->{edit} } if $f->{edit} ne 'none';
	if ($f->{on_error} ne 'stop')
	{
		$o{on_error} = $f->{on_error};
		$o{on_error_classes} = [ classes_of($f) ] if $f->{classes} ne 'conversion' || $c->{number} % 2;
		$o{log_verbosity} = 'silent';
		$o{reject_table} = 'rejects' if $f->{reject_table} && $f->{on_error} eq 'ignore';
		$o{reject_limit} = $f->{reject_limit} if $f->{reject_limit};
	}
	$o{missing_partitions} = $f->{missing} if !is_accelerated($f) && ($f->{missing} ne 'create' || $c->{number} % 2);
	$o{partition_interval} = $f->{keytype} =~ /int/ ? '10' : '1 day' if $f->{interval};
	$o{order_by} = [ split /, /, $f->{order_by} ] if $f->{order_by};
	$o{freeze} = 'true' if $f->{freeze};
	$o{run_analyze} = 'true' if $f->{analyze};
	$o{workers} = $f->{workers} unless is_accelerated($f);
	if ($f->{existing} eq 'conflict')
	{
		$o{on_conflict} = $f->{action};
		$o{dedup_keys} = [ unique_columns($f) ] if $f->{index} ne 'primary' || $f->{dedup};
	}
	elsif ($f->{existing} ne 'keep')
	{
		$o{existing_rows} = $f->{existing} eq 'range' ? 'replace' : $f->{existing};
		$o{dedup_keys} = [ merge_keys($f) ] if $f->{existing} eq 'merge' && $f->{dedup};
	}
	$o{dedup_keep} = $f->{keep} if ($o{dedup_keys} || $o{on_conflict}) && $f->{keep};
	if ($f->{existing} =~ /^(range|replace)$/)
	{
		$o{replace_method} = 'delete' if $f->{method} eq 'delete';
		$o{min_replace_ratio} = $f->{ratio} if $f->{existing} eq 'replace';
	}
	if ($f->{existing} eq 'range')
	{
		my ($from, $to) = map { key_value($f->{keytype}, $_) } range_of($c);

		s/\+00$// foreach $f->{format_of_time} eq 'zone' ? ($from, $to) : ();
		@o{qw(replace_from replace_to)} = ($from, $to);
	}
	$o{ledger} = 'loads' if $f->{ledger};
	$o{label} = "case $c->{number}" if $f->{ledger} && $f->{source} =~ /program|stdin/;
	$o{program} = 'true' if $f->{source} eq 'program';
	$o{ignore_extra_columns} = 'true' if $f->{junk};
	$o{columns} = $c->{file} if $f->{columns} eq 'list' && $f->{header} ne 'map';
	return %o;
}

sub merge_keys { my ($f) = @_; return ($f->{target} eq 'other' ? 'g' : 'k', 'n', $f->{type} ? 'x' : ()); }

# Of equal rows the last one, or the first
sub direction
{
	my ($f) = @_;
	my $first = $f->{keep} ? $f->{keep} eq 'first' : $f->{existing} eq 'conflict' && $f->{action} eq 'nothing';

	return $first ? 'ASC' : 'DESC';
}

my %ARGUMENT = map { $_ => 1 } qw(timestamp_column columns format header ignore_extra_columns delimiter null_string quote escape force_not_null force_null default_string encoding where_clause timestamp_format time_zone partition_interval missing_partitions order_by freeze
  on_error on_error_classes reject_limit reject_table log_verbosity run_analyze progress workers program);

sub json_value
{
	my ($name, $value) = @_;

	return '[' . join(', ', map { json_text($_) } @$value) . ']' if ref $value;
	return $value if $value =~ /^(true|false|-?[0-9.]+)$/ && $name !~ /replace_from|replace_to|partition_interval|null_string|number_format|label/;
	return $value if $name eq 'null_strings';
	return json_text($value);
}

sub call_sql
{
	my ($c) = @_;
	my $f = $c->{f};
	my %o = options($c);
	my @names = map { literal($_) } @{ $c->{names} };
	my $source = $f->{source} eq 'pattern' ? literal($c->{names}[0] =~ s/\.\d(\.gz|\.zst|)$/.[1-9]$1/r) : @names > 1 ? 'ARRAY[' . join(', ', @names) . ']' : $names[0];
	my (@args, @later);

	begin_chance($c, 'call');
	foreach my $name (sort keys %o)
	{
		my $value = $o{$name};

		if ($ARGUMENT{$name} && chance(0.7)) { push @args, "$name => " . (ref $value ? literal('{' . join(',', map { "\"$_\"" } @$value) . '}') : $value =~ /^(true|\d+)$/ && $name !~ /partition_interval|null_string/ ? $value : literal($value)) }
		else { push @later, "\"$name\": " . json_value($name, $value) }
	}
	push @args, 'options => ' . literal('{' . join(', ', @later) . '}') if @later;
	return "fast_copy('got', " . join(', ', $source, @args) . ')';
}

# As COPY
sub copy_sql
{
	my ($c) = @_;
	my $f = $c->{f};
	my %o = options($c);
	my $columns = delete $o{columns};
	my $where = delete $o{where_clause};
	my $label = $o{label};
	my @with = is_accelerated($f) ? () : ('fast_copy');
	my %known = (null_string => 'NULL', default_string => 'DEFAULT');

	push @with, 'compressed' if $f->{source} eq 'stdin' && $f->{packed};
	foreach my $name (sort keys %o)
	{
		my $value = $o{$name};
		my $list = $name =~ /order_by|classes/ ? sub { literal($_[0]) } : sub { quoted($_[0]) };

		push @with, ($known{$name} // $name) . ' ' . (ref $value ? '(' . join(', ', map { $list->($_) } @$value) . ')' : $value =~ /^\d+$/ ? $value : literal($value));
	}
	my $from = ($f->{source} =~ /stdin/ ? 'STDIN' : $f->{source} =~ /program/ ? 'PROGRAM ' . literal($c->{names}[0]) : literal($c->{names}[0]));
	return 'COPY got' . ($columns ? ' (' . join(', ', @$columns) . ')' : '') . " FROM $from WITH (" . join(', ', @with) . ')' . ($where ? " WHERE $where" : '');
}

sub is_call { my ($c) = @_; return $c->{f}{source} =~ /^(file|files|pattern|program)$/; }

# ---- the script -------------------------------------------------------------

# The order in which rows of leaves that were empty are to lie; undef: none is promised
sub order_of
{
	my ($f) = @_;

	return undef if is_cores($f) || $f->{existing} eq 'conflict' ;
	# a short row may come where a long one had no room
	return undef if $f->{long} || $f->{freeze} || $f->{twice} || $f->{few} || $f->{there} ne 'none' && $f->{existing} ne 'keep';
	return $f->{order_by} if $f->{order_by} && $f->{order_by} !~ /^t/;
	return undef if $f->{order_by} || $f->{packed} && $f->{source} =~ /files|pattern/;
	return undef if is_volatile($f);
	return $f->{source} =~ /files|pattern/ ? undef : 'n' if is_accelerated($f);
	return 'k, n' if is_single($f) || $f->{keyed} && $f->{target} =~ /^(plain|partition)$/ && $f->{classes} !~ /unique|all/;
	return undef if $f->{keyed} && $f->{target} =~ /^(plain|partition)$/;
	return 'g, n' if is_other($f);
	return undef if is_partitioned($f) && $f->{keyed} && !is_single($f);
	return 'n' if $f->{source} !~ /files|pattern/;
	return undef;
}

sub spec
{
	my ($c) = @_;
	my $f = $c->{f};
	my @columns = sort keys %{ $c->{typed} };
	my @compared = (qw(k g n t v), $f->{type} ? 'x' : ());
	my %unique = map { $_ => 1 } unique_columns($f);
	my %spec = (columns => join(', ', @columns), mode => $f->{existing} eq 'merge' && (grep { $_ eq 'unique' } classes_of($f)) ? 'keep' : $f->{existing}, missing => $f->{missing}, problems => $c->{problems}, rejects => $c->{rejects}, classes => [ grep { !/conversion|columns|encoding/ } classes_of($f) ], limit => $f->{reject_limit} || 1000000,
		filtered => $c->{filtered}, ratio => $f->{ratio}, direction => direction($f), base => base_of($f));

	push @compared, 'late' if $f->{late};
	push @compared, 'd' if $f->{extra} =~ /default|generated|unsafe/;
	$spec{compared} = join(', ', @compared);
	$spec{keys} = $f->{existing} eq 'merge' ? join(', ', $f->{dedup} ? merge_keys($f) : ()) : join(', ', unique_columns($f));
	$spec{nulls} = $f->{index} eq 'unique' ? join(' OR ', '', map { "$_ IS NOT DISTINCT FROM NULL" } unique_columns($f)) : '';
	my @sets = grep { !$unique{$_} } @columns;
	$spec{action} = $f->{action} eq 'nothing' || !@sets ? 'NOTHING' : 'UPDATE SET ' . join(', ', map { "$_ = excluded.$_" } @sets);
	$spec{range} = sprintf 'k >= %s AND k < %s', map { literal(key_value($f->{keytype}, $_)) . zone_sql($f) } range_of($c);
	$spec{order} = order_of($f) if defined order_of($f);
	$spec{by} = $f->{target} eq 'other' ? 'g' : 'k';
	$spec{shown} = join(', ', @columns);
	# many rows of one key are sorted, and lie in another order then
	$spec{misplaced} = 1 if $f->{order_by} || $f->{dedup} || is_volatile($f);
	$spec{silent} = 1 if is_accelerated($f) || $f->{ledger};
	$spec{kept} = 1 if $f->{reject_table} && $f->{on_error} eq 'ignore';
	$spec{unnamed} = 1 if $f->{source} eq 'stdin';
	return \%spec;
}

# Moments of the range are written in the zone of the load
sub zone_sql
{
	my ($f) = @_;

	return $f->{format_of_time} eq 'zone' ? "::timestamp AT TIME ZONE 'Asia/Kolkata'" : '';
}

sub spec_json
{
	my ($spec) = @_;

	return '{' . join(', ', map { my $v = $spec->{$_}; json_text($_) . ': ' . (ref $v ? '[' . join(', ', map { json_text($_) } @$v) . ']' : json_text($v)) } sort keys %$spec) . '}';
}

# Makes the files, and what the case is to be told in SQL
sub prepare_case
{
	my ($c, $name) = @_;
	my $f = $c->{f};
	my @all = map { $_->[0] } grep { $_->[0] =~ /^[kgntvx]$/ } table_columns($c);
	my ($set, $expression) = @{ $TRANSFORM{ $f->{transform} } // ['', ''] };

	begin_chance($c, 'columns of the file');
	$c->{file} = $f->{columns} eq 'table' ? \@all : [ map { $_->[1] } sort { $a->[0] <=> $b->[0] } map { [ rand(), $_ ] } grep { $_ ne $f->{lacks} } @all ];
	$c->{fields} = [ @{ $c->{file} } ];
	splice(@{ $c->{fields} }, rand @{ $c->{fields} }, 0, 'junk') if $f->{junk};
	write_files($c, $name);
	foreach (grep { $_ ne $f->{lacks} } @all)
	{
		my $type = { k => $f->{keytype}, g => 'int', n => $f->{extra} eq 'domain' ? 'few' : 'int', t => 'text', v => 'numeric', x => $f->{type} }->{$_};

		$c->{typed}{$_} = 'CAST((' . ($set eq $_ ? $expression : $_) . ')' . ($_ eq 'k' ? zone_sql($f) : '') . ' AS ' . ($type =~ s/ (COLLATE .*)/) $1/ ? $type : "$type)");
	}
	$c->{spec} = literal(spec_json(spec($c)));
}

# Tables, and what there is in them
sub before_sql
{
	my ($c, $name) = @_;
	my $f = $c->{f};
	my %typed = %{ $c->{typed} };
	my @sql = ('CALL clean()', $f->{target} =~ /^foreign/ ? "CALL put_wing($f->{wing} = 1)" : (), table_sql($c, 'got'), table_sql($c, 'wanted'));

	push @sql, 'CREATE TABLE stage (line_ int PRIMARY KEY, place_ text, k text, g text, n text, t text, v text, x text)', 'COPY stage FROM ' . literal("$name.good") . ' (FORMAT csv)';
	push @sql, "SELECT fast_copy_create_reject_table('rejects')" if $f->{reject_table};
	push @sql, "SELECT fast_copy_create_ledger_table('loads')" if $f->{ledger};
	push @sql, 'CREATE TABLE typed AS SELECT *, true AS fits_, (' . ($WHERE{ $f->{where} } // 'true') . ') IS TRUE AS passes_ FROM (SELECT line_, place_, ' . join(', ', map { "$typed{$_} AS $_" } sort keys %typed) . ' FROM stage ORDER BY line_) AS s', 'ALTER TABLE typed ADD PRIMARY KEY (line_)';
	push @sql, old_rows_sql($c), $f->{churn} ? map({ sprintf $_, base_of($f) } 'DELETE FROM %s WHERE g = 1', "UPDATE %s SET t = t || 'u' WHERE n %% 3 = 0") : ();
	push @sql, map { "ALTER TABLE $_ ADD late text DEFAULT '" . join('', map { chr(97 + $_ * 7 % 26) } 1 .. $c->{number} % 3 * 1500 + 4) . "', ADD later int" } $f->{late} ? ('got', 'wanted') : ();
	return (@sql, 'CALL share_olds(' . literal(base_of($f)) . ')', $f->{format} eq 'binary' ? binary_sql($c, $name) : ());
}

# Binary files have the rows that COPY has read
sub binary_sql
{
	my ($c, $name) = @_;
	my $rows = $c->{f}{rows};
	my $n = @{ $c->{names} };

	return map {
		my ($from, $to) = map { int($rows * $_ / $n) } $_ - 1, $_;
		'COPY (SELECT ' . join(', ', @{ $c->{file} }) . " FROM typed WHERE line_ > $from AND line_ <= $to ORDER BY line_) TO PROGRAM " . literal("umask 022; rm -f $name.$_; " . pack_command($c->{f}, "$name.$_")) . ' (FORMAT binary)';
	} 1 .. $n;
}

sub settings_sql
{
	my ($f) = @_;
	my %set = (chunk_size => $f->{chunk} || 16777216, memory => $f->{memory} ? '1MB' : '64MB', spill => $f->{spill}, writer => $f->{writer}, accelerate_copy => is_accelerated($f) ? 'on' : 'off', accelerate_min_size => 0, workers => is_accelerated($f) ? $f->{workers} : -1);

	return map { "SET fast_copy.$_ = '$set{$_}'" } sort keys %set;
}

sub begin_sql
{
	my ($f) = @_;
	my %begin = (begin => ['BEGIN'], savepoint => [ 'BEGIN', 'SAVEPOINT a' ], repeatable => ['BEGIN ISOLATION LEVEL REPEATABLE READ'], serializable => ['BEGIN ISOLATION LEVEL SERIALIZABLE'], rollback => ['BEGIN']);

	return (@{ $begin{ $f->{transaction} } // [] }, $f->{freeze} ? 'TRUNCATE got' : ());
}

sub load_sql { my ($c) = @_; return is_call($c) ? 'SELECT ' . call_sql($c) : copy_sql($c); }

1;
