# A random load: the table before it, its file, its statement, and what the
# table may hold afterwards.
#
# Contents are compared by a count and a sum of hashes, which add up: COPY says
# what those of a file are, once.

package Load;

use strict;
use warnings;
use Machine;

our $SUM = "count(*) || ' ' || coalesce(sum(hashtext(t::text)::bigint), 0)";

my %file;

# ---- the file ---------------------------------------------------------------

# Rows "n,ts,v,w" over five days, in random order or in that of time; some are
# long, some cannot be read.  A file is made once.
sub file
{
	my (%what) = @_;
	my $name = join('-', 'rows', @what{qw(rows order)}, $what{long} ? 'long' : (), $what{bad} ? 'bad' : ());
	my $path = "$Machine::DIR/$name.csv";

	return $file{$name} if $file{$name};
	my @rows = map { row($_, %what) } 1 .. $what{rows};
	@rows = sort { $a->[0] <=> $b->[0] } @rows if $what{order} eq 'time';
	my @good = map { $_->[1] } @rows;
	my @all = $what{bad} ? map { $_ % 997 == 500 ? ($good[$_], "x$_,2013-01-01,bad,\n") : $good[$_] } 0 .. $#good : @good;
	write_text($path, join('', @all));
	write_text("$path.good", join('', @good));
	return $file{$name} = { path => $path, good => "$path.good", bad => @all - @good };
}

sub row
{
	my ($n, %what) = @_;
	my $second = $n * 7919 % 104729 * 4;
	my $long = $what{long} && $n % 40 == 0 ? join('', map { chr(97 + ($n * $_ * $_ + $_ * 31) % 26) } 1 .. 3000) x 2 : $n % 5;

	return [ $second, sprintf("%d,2013-01-%02d %02d:%02d:%02d,some text of row %d,%s\n",
			$n, $second / 86400 + 1, $second / 3600 % 24, $second / 60 % 60, $second % 60, $n, $long) ];
}

# ---- what is drawn ----------------------------------------------------------

sub draw
{
	my ($class, %limit) = @_;
	my $self = bless {
		layout => pick(qw(range range range range plain keyed hash list)),
		order => pick(qw(random random time)),
		rows => between($limit{least} // 5, $limit{most} // 40) * 1000,
		long => chance(0.25),
		index => pick(qw(none none btree unique several)),
		check => chance(0.5),
		parts => pick(qw(new new all some)),
		filled => chance(0.5),
		source => pick(qw(file file file file packed program stdin)),
		wrap => pick(qw(auto auto block savepoint retry function)),
		ending => chance(0.08) ? 'ROLLBACK' : 'COMMIT'
	}, $class;

	$self->draw_options;
	$self->draw_settings;
	$self->{wrap} = 'block' if $self->{source} eq 'stdin' && $self->{wrap} eq 'function';
	$self->{ending} = 'COMMIT' if $self->{wrap} eq 'auto' || $self->{wrap} eq 'function';
	return $self;
}

sub draw_options
{
	my ($self) = @_;
	my $routed = $self->{layout} =~ /hash|list/;

	$self->{unlogged} = $self->{layout} =~ /plain|keyed/ && chance(0.2);
	$self->{replace} = !$routed && chance(0.25);
	$self->{ledger} = chance(0.25);
	$self->{freeze} = !$routed && !$self->{replace} && chance(0.15);
	$self->{wrap} = 'block' if $self->{freeze} && $self->{wrap} ne 'savepoint';
	$self->{truncate} = $self->{freeze} || $self->{wrap} !~ /auto|function/ && chance(0.2);
	$self->{checkpoint} = $self->{truncate} && chance(0.5);
	$self->{tolerant} = chance(0.15);
	$self->{order_by} = !$routed && chance(0.1);
	$self->{analyze} = chance(0.1);
	$self->{index} = 'btree' if $self->{index} =~ /unique|several/ && $self->{layout} eq 'list';
	@$self{qw(parts filled)} = ('all', 1) if $self->{replace} && chance(0.8);
	$self->{parts} = 'all' if $self->{layout} ne 'range';
	$self->draw_merge;
	$self->{workers} = pick(0, 1, 2, 2, 3);
}

# Some of those that replace rows merge them instead; none of them are equal
sub draw_merge
{
	my ($self) = @_;

	return unless $self->{replace} && $self->{layout} ne 'plain' && $self->{rows} % 2000;
	$self->{merge} = $self->{rows} % 3000 ? 'rows' : 'equal';
	@$self{qw(replace unlogged tolerant)} = (0) x 3;
}

sub draw_settings
{
	my ($self) = @_;
	my %setting;

	$setting{chunk_size} = pick('64kB', '256kB') if chance(0.5);
	$setting{spill} = pick(qw(rows offsets)) if chance(0.4);
	$setting{writer} = pick(qw(page multi_insert)) if chance(0.4);
	$setting{io_method} = pick(qw(io_uring sync)) if chance(0.5);
	$self->{settings} = \%setting;
}

sub describe
{
	my ($self) = @_;
	my %flat = (%$self, %{ $self->{settings} });

	return join(' ', map { "$_=$flat{$_}" } grep { !ref $flat{$_} && $flat{$_} } sort keys %flat);
}

# ---- the table before it ----------------------------------------------------

sub prepare
{
	my ($self, $server) = @_;

	$self->{file} = file(map { $_ => $self->{$_} } qw(rows order long));
	$self->{bad_file} = file((map { $_ => $self->{$_} } qw(rows order long)), bad => 1)
	  if $self->{tolerant} || $self->{wrap} eq 'retry';
	$server->sql('DROP SCHEMA IF EXISTS faults CASCADE');
	$server->sql(join(";\n", 'CREATE SCHEMA faults', 'SET search_path = faults, public', $self->table_sql,
			'CREATE TABLE other (n int PRIMARY KEY, v text)',
			"INSERT INTO other SELECT n, repeat('o', n % 100) FROM generate_series(1, 3000) n",
			q(SELECT fast_copy_create_reject_table('faults.rejects')),
			q(SELECT fast_copy_create_ledger_table('faults.ledger'))));
	$self->{of_file} = $self->sum_of_file($server);
	$self->{before} = sum_of($server, 'faults.t');
	$self->{other} = sum_of($server, 'faults.other');
	$self->pack;
}

sub table_sql
{
	my ($self) = @_;
	my $by = { range => 'PARTITION BY RANGE (ts)', hash => 'PARTITION BY HASH (n)',
		list => 'PARTITION BY LIST ((n % 3))' }->{ $self->{layout} } // '';
	my $unlogged = $self->{unlogged} ? 'UNLOGGED' : '';
	my $check = $self->{check} ? ', CHECK (n > -1000000)' : '';	# without one the load looks at no row again
	my @sql = ("CREATE $unlogged TABLE t (n int, ts timestamp, v text, w text$check) $by", $self->partitions_sql);

	push @sql, checkpoint_sql() if $self->{first_row_checkpoint};
	push @sql, 'CREATE INDEX ON t (ts)' if $self->{index} =~ /btree|several/;
	push @sql, $self->{layout} eq 'hash' ? 'CREATE UNIQUE INDEX ON t (n)' : 'CREATE UNIQUE INDEX ON t (n, ts)' if $self->{index} =~ /unique|several/;
	push @sql, 'CREATE INDEX ON t USING brin (ts)', 'CREATE INDEX ON t USING hash (v)' if $self->{index} eq 'several';
	push @sql, "INSERT INTO t SELECT -n, '2013-01-01'::timestamp + n % 5 * interval '1 day', 'before', repeat('b', n % 2000)
		FROM generate_series(1, 4000) n" if $self->{filled} && $self->{parts} eq 'all';
	return @sql;
}

# The file's first row brings a checkpoint while it is checked.
sub checkpoint_sql
{
	return ("CREATE FUNCTION checkpoint(n int) RETURNS boolean LANGUAGE plpgsql
		AS 'BEGIN IF n = 1 THEN EXECUTE ''CHECKPOINT''; END IF; RETURN true; END'", 'ALTER TABLE t ADD CHECK (checkpoint(n))');
}

sub partitions_sql
{
	my ($self) = @_;
	my $layout = $self->{layout};

	return map { "CREATE TABLE t_h$_ PARTITION OF t FOR VALUES WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2 if $layout eq 'hash';
	return map { "CREATE TABLE t_l$_ PARTITION OF t FOR VALUES IN ($_, @{[ -$_ - 3 ]}" . ($_ ? ", -$_" : '') . ')' } 0 .. 2 if $layout eq 'list';
	return () if $layout ne 'range' || $self->{parts} eq 'new';
	return map { "CREATE TABLE t_p2013010$_ PARTITION OF t FOR VALUES FROM ('2013-01-0$_') TO ('2013-01-0@{[ $_ + 1 ]}')" }
	  $self->{parts} eq 'all' ? (1 .. 5) : (2, 3);
}

sub pack
{
	my ($self) = @_;

	return if $self->{source} ne 'packed';
	foreach my $path ($self->path)
	{
		system("gzip -1 -c '$path' >'$path.gz'") == 0 or die "gzip: $?\n" unless -f "$path.gz";
	}
}

# ---- the load itself --------------------------------------------------------

sub path
{
	my ($self) = @_;

	return ($self->{tolerant} ? $self->{bad_file} : $self->{file})->{path};
}

# Arguments that both spellings have, as [ name, value in SQL ]
sub arguments
{
	my ($self, %without) = @_;
	my @args = ([ workers => $self->{workers} ]);

	push @args, [ timestamp_column => "'ts'" ] if $self->{layout} eq 'keyed';
	push @args, [ freeze => 'true' ] if $self->{freeze} && !$without{freeze};
	push @args, [ order_by => "'{v,ts DESC}'" ] if $self->{order_by};
	push @args, [ run_analyze => 'true' ] if $self->{analyze};
	push @args, [ on_error => "'ignore'" ], [ log_verbosity => "'silent'" ], [ reject_table => "'faults.rejects'" ] if $self->{tolerant};
	return @args;
}

# Options that are no arguments: those of COPY, or one argument
sub later
{
	my ($self, $copy) = @_;
	my @later;

	push @later, [ existing_rows => 'replace' ] if $self->{replace};
	push @later, [ existing_rows => 'merge' ] if $self->{merge};
	push @later, [ dedup_keys => '{n,ts}' ] if ($self->{merge} // '') eq 'equal';
	push @later, [ ledger => 'faults.ledger' ] if $self->{ledger};
	push @later, [ label => 'of faults' ] if $self->{ledger} && $self->{source} =~ /program|stdin/;
	return map { [ $_->[0] => "'$_->[1]'" ] } @later if $copy;
	return @later ? [ options => "'{" . join(', ', map { qq("$_->[0]": ) . json_value($_->[1]) } @later) . "}'" ] : ();
}

# The statement that loads; "without" leaves out what cannot be done twice.
sub statement
{
	my ($self, %without) = @_;
	my $path = $self->path;
	my @args = $self->arguments(%without);

	return "LOAD 'fast_copy';\n\\copy faults.t from '$path' with (format csv, fast_copy" . join('', map { ", $_->[0] " . copy_value($_->[1]) } @args, $self->later(1)) . ")\n"
	  if $self->{source} eq 'stdin';
	my $source = { packed => "$path.gz", program => "cat $path" }->{ $self->{source} } // $path;
	unshift @args, [ program => 'true' ] if $self->{source} eq 'program';
	push @args, $self->later(0);
	return "SELECT fast_copy('faults.t', '$source'" . join('', map { ", $_->[0] => $_->[1]" } @args) . ");\n";
}

sub json_value
{
	my ($value) = @_;

	return $value =~ /^\{(.*)\}$/ ? '[' . join(', ', map { qq("$_") } split(/,/, $1)) . ']' : qq("$value");
}

# COPY takes a list in parentheses.
sub copy_value
{
	my ($value) = @_;

	return $value =~ /^'\{(.*)\}'$/ ? '(' . join(', ', map { "'$_'" } split(/,/, $1)) . ')' : $value;
}

# The whole session: it says on stderr, which psql writes at once, how far it is.
sub script
{
	my ($self) = @_;
	my $load = $self->statement;
	my $set = join('', map { "SET fast_copy.$_ = '$self->{settings}{$_}';\n" } sort keys %{ $self->{settings} });

	return "$set\\warn loading\n${load}\\warn committed\n" if $self->{wrap} eq 'auto';
	return "$set\\warn loading\n" . in_function($load) . "\\warn committed\n" if $self->{wrap} eq 'function';
	return join('', $set, "BEGIN;\n\\warn loading\n", $self->{truncate} ? "TRUNCATE faults.t;\n" : '',
		$self->{checkpoint} ? "CHECKPOINT;\n" : '', $self->{gate} // '', $self->in_block($load),
		"\\warn ending\n$self->{ending};\n", $self->{ending} eq 'COMMIT' ? "\\warn committed\n" : '');
}

sub in_block
{
	my ($self, $load) = @_;
	my $refused = "SELECT fast_copy('faults.t', '" . ($self->{bad_file} // {})->{path} . "', workers => 2);\n" if $self->{wrap} eq 'retry';

	return $load if $self->{wrap} eq 'block';
	return "SAVEPOINT a;\nSAVEPOINT b;\n${load}RELEASE b;\nRELEASE a;\n" if $self->{wrap} eq 'savepoint';
	return "SAVEPOINT a;\n\\set ON_ERROR_STOP off\n$refused\\set ON_ERROR_STOP on\nROLLBACK TO a;\n$load";
}

sub in_function
{
	my ($load) = @_;
	my $perform = $load =~ s/^SELECT/PERFORM/r;

	return "DO \$\$ BEGIN BEGIN $perform EXCEPTION WHEN unique_violation THEN RAISE; END; END \$\$;\n";
}

# ---- what it may have done --------------------------------------------------

sub sum_of
{
	my ($server, $table) = @_;

	return [ split(/ /, $server->sql("SELECT $SUM FROM $table t")) ];
}

sub sum_of_file
{
	my ($self, $server) = @_;
	my $file = $self->{file};

	return $file->{sum} //= [ split(/ /, $server->sql("CREATE TEMP TABLE t (n int, ts timestamp, v text, w text);
		COPY t FROM '$file->{good}' (FORMAT csv); SELECT $SUM FROM t")) ];
}

# The table with the file's rows in it, which are of each partition that has some
sub after
{
	my ($self) = @_;
	my @before = $self->{truncate} || $self->{replace} ? (0, 0) : @{ $self->{before} };

	return [ map { $before[$_] + $self->{of_file}[$_] } 0, 1 ];
}

# Sums that the table may have, by what the session had come to say.  Unlogged
# tables are empty after a crash.
sub may_be
{
	my ($self, $said, $crashed) = @_;
	my @may = $said =~ /^committed$/m ? $self->after
	  : $self->{ending} eq 'ROLLBACK' || $said !~ /^loading$/m || $said !~ /^ending$/m && $self->{wrap} !~ /auto|function/ ? $self->{before}
	  : ($self->{before}, $self->after);

	push @may, [ 0, 0 ] if $self->{unlogged} && $crashed;
	return map { "$_->[0] $_->[1]" } @may;
}

1;
