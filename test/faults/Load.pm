# A random load: the table before it, its file, its statement, and what the
# table may hold afterwards.  Some load nothing, but move rows to new partitions;
# some commit each part of a file.
#
# Contents are compared by a count and a sum of hashes, which add up: COPY says
# what those of a file are, once.

package Load;

use strict;
use warnings;
use Machine;

# The condition of delete marks
my $MARK = 'n % 5 = 2';

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

# With "plainly" each row of the file becomes one of the table, at once.
sub draw
{
	my ($class, %limit) = @_;
	my $self = bless {
		layout => pick(qw(range range range range plain keyed hash list values tree)),
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
	$self->draw_way(pick(qw(move marks cut), ('') x 5)) unless $limit{plainly};
	$self->{wrap} = 'block' if $self->{source} eq 'stdin' && $self->{wrap} eq 'function';
	$self->{ending} = 'COMMIT' if $self->{wrap} eq 'auto' || $self->{wrap} eq 'function';
	return $self;
}

sub draw_options
{
	my ($self) = @_;
	my $routed = $self->{layout} =~ /hash|list|values|tree/;

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
	$self->{index} = 'btree' if $self->{index} =~ /unique|several/ && $self->{layout} =~ /list|values|tree/;
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

# One that moves rows, that deletes some by marks, or that commits each part
sub draw_way
{
	my ($self, $way) = @_;

	return if $way eq '';
	@$self{qw(replace merge freeze truncate checkpoint tolerant unlogged)} = (0) x 7;
	return $self->draw_move if $way eq 'move';
	return $self->draw_marks if $way eq 'marks';
	$self->{cut} = between(2, 8);
	@$self{qw(ledger source wrap)} = (1, 'file', 'auto');
}

# Rows of a default partition, or of days that are cut anew
sub draw_move
{
	my ($self) = @_;

	$self->{move} = pick(qw(drain drain drop detach));
	$self->{width} = pick('1 day', '12 hours', '2 days', '1 month');
	$self->{bounded} = chance(0.4);
	$self->{parts} = $self->{move} eq 'drain' ? pick(qw(new some)) : pick(qw(some all));
	@$self{qw(layout source ledger order_by)} = ('range', 'file', 0, 0);
}

# Marks among the file's rows, of which the table has some, older or newer ones
sub draw_marks
{
	my ($self) = @_;

	$self->{marks} = pick(qw(merge merge update));
	$self->{layout} = 'range' if $self->{layout} !~ ($self->{marks} eq 'merge' ? qr/range|keyed/ : qr/range|keyed|hash|plain/);
	$self->{parts} = $self->{layout} eq 'range' ? pick(qw(some all)) : 'all';
	$self->{index} = pick(qw(unique several)) if $self->{marks} eq 'update';
	$self->{order_by} = 0;
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
	$self->prepare_move($server) if $self->{move};
	$self->prepare_marks($server) if $self->{marks};
	$self->{before} = sum_of($server, 'faults.t');
	$self->{other} = sum_of($server, 'faults.other');
	$self->pack;
}

sub table_sql
{
	my ($self) = @_;
	my $by = { range => 'PARTITION BY RANGE (ts)', hash => 'PARTITION BY HASH (n)',
		map { $_ => 'PARTITION BY LIST ((n % 3))' } qw(list values tree) }->{ $self->{layout} } // '';
	my $unlogged = $self->{unlogged} ? 'UNLOGGED' : '';
	my $check = $self->{check} ? ', CHECK (n > -1000000)' : '';	# without one the load looks at no row again
	my @sql = ("CREATE $unlogged TABLE t (n int, ts timestamp, v text, w text$check) $by", $self->partitions_sql);

	push @sql, checkpoint_sql() if $self->{first_row_checkpoint};
	push @sql, 'CREATE INDEX ON t (ts)' if $self->{index} =~ /btree|several/;
	push @sql, $self->{layout} eq 'hash' ? 'CREATE UNIQUE INDEX ON t (n)' : 'CREATE UNIQUE INDEX ON t (n, ts)' if $self->{index} =~ /unique|several/;
	push @sql, 'CREATE INDEX ON t USING brin (ts)', 'CREATE INDEX ON t USING hash (v)' if $self->{index} eq 'several';
	push @sql, "INSERT INTO t SELECT -n, '2013-01-01'::timestamp + n % 5 * interval '1 day', 'before', repeat('b', n % 2000)
		FROM generate_series(1, 4000) n" . ($self->{layout} =~ /values|tree/ ? ' WHERE n % 15 = 6' : '') if $self->{filled} && $self->{parts} eq 'all';
	push @sql, misplaced_sql();
	return @sql;
}

# A function that tells of leaves with rows that belong elsewhere; the planner must
# not believe that there are none.
sub misplaced_sql
{
	return "CREATE FUNCTION misplaced() RETURNS SETOF text LANGUAGE plpgsql SET constraint_exclusion = off AS 'DECLARE l regclass; found bigint;
		BEGIN
			FOR l IN SELECT relid FROM pg_partition_tree(''faults.t'') WHERE isleaf AND parentrelid IS NOT NULL LOOP
				EXECUTE format(''SELECT count(*) FROM ONLY %s WHERE (%s) IS NOT TRUE'', l, coalesce(pg_get_partition_constraintdef(l), ''true'')) INTO found;
				IF found > 0 THEN RETURN NEXT format(''%s rows of %s belong elsewhere'', found, l); END IF;
			END LOOP;
		END'";
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
	return 'CREATE TABLE t_l0 PARTITION OF t FOR VALUES IN (0)' if $layout eq 'values';
	return ('CREATE TABLE t_l0 PARTITION OF t FOR VALUES IN (0) PARTITION BY RANGE (ts)',
		"CREATE TABLE t_l0_p20130102 PARTITION OF t_l0 FOR VALUES FROM ('2013-01-02') TO ('2013-01-03')") if $layout eq 'tree';
	return () if $layout ne 'range';
	return ($self->{move} ? 'CREATE TABLE t_rest PARTITION OF t DEFAULT' : (), map { day_sql($_) } $self->days);
}

# Days that have a partition
sub days
{
	my ($self) = @_;

	return { new => [], some => [ 2, 3 ], all => [ 1 .. 5 ] }->{ $self->{parts} }->@*;
}

sub day_sql
{
	my ($day) = @_;

	return "CREATE TABLE t_p2013010$day PARTITION OF t FOR VALUES FROM ('2013-01-0$day') TO ('2013-01-0@{[ $day + 1 ]}')";
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
	push @later, $self->{marks} eq 'merge' ? [ existing_rows => 'merge' ] : [ on_conflict => 'update' ],
	  [ dedup_keys => $self->{layout} eq 'hash' ? '{n}' : '{n,ts}' ], [ dedup_order => '{v}' ], [ delete_where => $MARK ] if $self->{marks};
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

	return $self->move_statement if $self->{move};
	return "CALL fast_copy_files('faults.t', '$path', 'faults.ledger', cut_files => true, batch_size => '" . int((-s $path) / $self->{cut}) . "'"
	  . named(@args) . ");\n" if $self->{cut};
	return "LOAD 'fast_copy';\n\\copy faults.t from '$path' with (format csv, fast_copy" . join('', map { ", $_->[0] " . copy_value($_->[1]) } @args, $self->later(1)) . ")\n"
	  if $self->{source} eq 'stdin';
	my $source = { packed => "$path.gz", program => "cat $path" }->{ $self->{source} } // $path;
	unshift @args, [ program => 'true' ] if $self->{source} eq 'program';
	push @args, $self->later(0);
	return "SELECT fast_copy('faults.t', '$source'" . named(@args) . ");\n";
}

sub move_statement
{
	my ($self) = @_;
	my @range = $self->range;
	my @args = ($self->arguments, [ partition_interval => "'$self->{width}'" ], @range ? ([ replace_from => "'$range[0]'" ], [ replace_to => "'$range[1]'" ]) : ());

	return $self->{move} eq 'drain' ? "SELECT fast_copy_drain('faults.t'" . named(@args) . ");\n"
	  : "SELECT fast_copy_repartition('faults.t', '$self->{move}'" . named(@args) . ");\n";
}

sub named { return join('', map { ", $_->[0] => $_->[1]" } @_) }

# The load once more, into an empty table: rows that are moved must be there first,
# and may be in partitions now that reach out of the range.
sub again
{
	my ($self) = @_;

	local $self->{bounded} = 0;
	return ($self->{move} ? "COPY faults.t FROM '$self->{file}{good}' (FORMAT csv);\n" : '') . $self->statement(freeze => 1);
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

# The file's rows in a table of their own
sub file_sql
{
	my ($self) = @_;

	return "CREATE TEMP TABLE f (n int, ts timestamp, v text, w text, line serial); COPY f (n, ts, v, w) FROM '$self->{file}{good}' (FORMAT csv)";
}

# What of the file the load brings into an empty table; of it, some lines
sub sum_of_file
{
	my ($self, $server, $lines) = @_;
	my $where = $self->{marks} ? "NOT $MARK" : 'line <= ' . ($lines // '1e9');
	my $sum = sub { return [ split(/ /, $server->sql($self->file_sql . "; SELECT $SUM FROM (SELECT n, ts, v, w FROM f WHERE $where) t")) ] };

	return defined $lines ? $sum->() : ($self->{file}{$where} //= $sum->());
}

# The table with the file's rows in it, which are of each partition that has some
sub after
{
	my ($self) = @_;
	my @before = $self->{truncate} || $self->{replace} ? (0, 0) : @{ $self->{before} };

	return $self->{before} if $self->{move};
	return $self->{merged} if $self->{marks};
	return [ map { $before[$_] + $self->{of_file}[$_] } 0, 1 ];
}

# Before the load or after it, or is it either, by what the session had come to say?
sub where
{
	my ($self, $said) = @_;

	return 'after' if $said =~ /^committed$/m;
	return 'before' if $self->{ending} eq 'ROLLBACK' || $said !~ /^loading$/m || $said !~ /^ending$/m && $self->{wrap} !~ /auto|function/;
	return 'either';
}

# Sums that the table may have then.  Unlogged tables are empty after a crash.
sub may_be
{
	my ($self, $said, $crashed, $server) = @_;
	my $where = $self->where($said);
	my @may = $where eq 'either' && $self->{cut} ? $self->parts($server) : (($self->{before}) x ($where ne 'after'), ($self->after) x ($where ne 'before'));

	push @may, [ 0, 0 ] if $self->{unlogged} && $crashed;
	return map { "$_->[0] $_->[1]" } @may;
}

# With the parts that the ledger knows
sub parts
{
	my ($self, $server) = @_;
	my $part = $self->sum_of_file($server, $server->sql('SELECT coalesce(max(rows), 0) FROM faults.ledger'));

	return [ map { $self->{before}[$_] + $part->[$_] } 0, 1 ];
}

# Bytes of the file's first lines
sub bytes
{
	my ($self, $lines) = @_;
	my $text = read_text($self->path);
	my $end = 0;

	$end = index($text, "\n", $end) + 1 foreach 1 .. $lines;
	return $end;
}

# ---- delete marks -----------------------------------------------------------

# Of each two rows of two days the table has one that is equal; what stays is the
# newest of each, unless that is a mark.
sub prepare_marks
{
	my ($self, $server) = @_;

	$server->sql($self->file_sql . "; INSERT INTO faults.t SELECT n, ts, CASE n % 3 WHEN 0 THEN 'an older row' ELSE 'the newest row' END, w
		FROM f WHERE n % 2 = 0 AND ts >= '2013-01-02' AND ts < '2013-01-04'");
	$self->{merged} = [ split(/ /, $server->sql($self->file_sql . "; SELECT $SUM FROM (SELECT n, ts, v, w FROM (
		SELECT DISTINCT ON (n, ts) * FROM (SELECT *, false AS mark, 0 AS source FROM faults.t UNION ALL SELECT n, ts, v, w, $MARK, 1 FROM f) x
		ORDER BY n, ts, v DESC, source DESC) newest WHERE NOT mark) t")) ];
}

# ---- rows that are moved ----------------------------------------------------

sub range
{
	my ($self) = @_;

	return $self->{bounded} ? $self->{move} eq 'drain' ? ('2013-01-04', '2013-01-06') : ('2013-01-02', '2013-01-04') : ();
}

# Partitions that are cut anew
sub old_days
{
	my ($self) = @_;

	return map { "faults.t_p2013010$_" } $self->{move} eq 'drain' ? () : $self->{bounded} ? (2, 3) : $self->days;
}

sub prepare_move
{
	my ($self, $server) = @_;

	$server->sql("COPY faults.t FROM '$self->{file}{good}' (FORMAT csv)");
	$self->{was} = { old => join(', ', map { $server->sql("SELECT '$_'::regclass::oid") } $self->old_days, 'faults.t_rest'),
		places => places($server), detached => $self->sum_detached($server) };
}

# Each partition and how many rows it has
sub places
{
	my ($server) = @_;

	return $server->sql("SELECT string_agg(format('%s: %s', inhrelid::regclass, (SELECT count(*) FROM faults.t WHERE tableoid = inhrelid)), ', ' ORDER BY inhrelid)
		FROM pg_inherits WHERE inhparent = 'faults.t'::regclass");
}

sub sum_detached
{
	my ($self, $server) = @_;

	return $self->{move} eq 'detach' ? join(' ', @{ sum_of($server, '(' . join(' UNION ALL ', map { "TABLE $_" } $self->old_days) . ')') }) : '';
}

# Partitions are as they were, or no row is left in those that are cut anew, and
# these have gone.
sub wrong_places
{
	my ($self, $server, $said) = @_;
	my ($was, $where) = ($self->{was}, $self->where($said));
	my @range = $self->range;
	my $is = places($server);

	return if $where ne 'after' && $is eq $was->{places};
	my $left = $server->sql("SELECT (SELECT count(*) FROM faults.t WHERE tableoid IN ($was->{old})" . (@range ? " AND ts >= '$range[0]' AND ts < '$range[1]'" : '') . ")
		+ (SELECT count(*) FROM pg_inherits WHERE inhrelid IN ($was->{old}) AND inhrelid <> 'faults.t_rest'::regclass)");
	return if $where ne 'before' && $left == 0 && $self->sum_detached($server) eq $was->{detached};
	return "$left rows and partitions are not moved: $is, and before $was->{places}";
}

1;
