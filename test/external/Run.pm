# Runs the items of a script by psql, in one of several ways, and returns what
# each of them did.

package Run;

use strict;
use warnings;
use Copy;

my $DATABASE = 'fast_copy_external';
my $TEMPLATE = 'fast_copy_external_template';
my %roles;

# Output of a query that must not fail.
sub sql
{
	my ($sql, $database) = @_;
	my $out = `psql -X -q -A -t -v ON_ERROR_STOP=1 -d @{[ $database // 'postgres' ]} -c "$sql" 2>&1`;

	die "$sql: $out" if $?;
	chomp $out;
	return $out;
}

sub lines
{
	open(my $in, '<:raw', $_[0]) or die "$_[0]: $!\n";
	return <$in>;
}

# A template with our tools; "full" has the tables of test_setup as well.
sub prepare
{
	my ($tree, $work, $full) = @_;

	%ENV = (%ENV, PGTZ => 'PST8PDT', PGDATESTYLE => 'Postgres, MDY',
		PG_LIBDIR => '', PG_DLSUFFIX => '.so', PG_ABS_BUILDDIR => $work);
	$roles{$_} = 1 foreach split /\n/, sql('SELECT rolname FROM pg_roles');
	clean();
	sql("CREATE DATABASE $TEMPLATE TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
	sql("CREATE SCHEMA external; GRANT USAGE ON SCHEMA external TO PUBLIC;
		CREATE EXTENSION fast_copy SCHEMA external;
		CREATE FUNCTION external.rows(name text, OUT r text) RETURNS SETOF text LANGUAGE plpgsql AS '
		BEGIN
			RETURN QUERY EXECUTE ''SELECT t.tableoid::regclass || t::text FROM '' || name || '' t'';
		EXCEPTION WHEN undefined_column THEN
			RETURN QUERY EXECUTE ''SELECT t::text FROM '' || name || '' t'';
		WHEN OTHERS THEN
			r := sqlerrm; RETURN NEXT;
		END'", $TEMPLATE);
	return unless $full;
	$ENV{PG_ABS_SRCDIR} = "$tree/src/test/regress";
	system("psql -X -q -d $TEMPLATE -f '$tree/src/test/regress/sql/test_setup.sql' >/dev/null 2>&1");
}

# Removes databases and roles that are ours, once prepare has been called.
sub clean
{
	return unless %roles;
	sql("DROP DATABASE IF EXISTS $_ WITH (FORCE)") foreach $DATABASE, $TEMPLATE;
	clean_roles();
}

sub clean_roles
{
	foreach my $role (grep { !$roles{$_} } split /\n/, sql('SELECT rolname FROM pg_roles'))
	{
		sql(qq{DROP ROLE \\"$role\\"});
	}
}

sub new
{
	my ($class, $path, $work, $recorded, $items) = @_;
	my ($source, $name) = $path =~ m{^(.*)/sql/([^/]+)\.sql$};
	my $self = bless { path => $path, source => $source, name => $name, work => $work,
		recorded => $recorded, items => $items }, $class;

	foreach my $n (grep { $items->[$_]{copy} } 0 .. $#$items)
	{
		open(my $out, '>:raw', $self->data_file($n)) or die $self->data_file($n) . ": $!\n";
		print $out $items->[$n]{data} // '';
		close($out);
		chmod 0644, $self->data_file($n);
	}
	return $self;
}

sub data_file
{
	my ($self, $n) = @_;

	return "$self->{work}/$self->{name}.$self->{items}[$n]{first}" . ($n > 0
		  && $self->{items}[$n]{first} == $self->{items}[ $n - 1 ]{first} ? ".$n" : '');
}

# Runs all items in a new database; with workers given, loads by fast_copy.
sub run
{
	my ($self, $workers, $chunk) = @_;
	my $base = "$self->{work}/$self->{name}";

	sql("CREATE DATABASE $DATABASE TEMPLATE $TEMPLATE");
	open(my $out, '>:raw', "$base.psql") or die "$base.psql: $!\n";
	print $out "\\pset pager off\n", map { $self->item_sql($_, $workers) } 0 .. $#{ $self->{items} };
	close($out);
	local $ENV{PG_ABS_SRCDIR} = $self->{source};
	local $ENV{PGOPTIONS} = '-c intervalstyle=postgres_verbose -c statement_timeout=60s'
	  . ($chunk ? " -c fast_copy.chunk_size=${chunk}B" : '');
	system("psql -X -q -d $DATABASE <'$base.psql' >'$base.out' 2>'$base.err'");
	my $results = $self->results("$base.out", "$base.err");
	sql("DROP DATABASE $DATABASE WITH (FORCE)");
	clean_roles();
	return $results;
}

# One item between marks on both of psql's outputs.
sub item_sql
{
	my ($self, $n, $workers) = @_;
	my $item = $self->{items}[$n];
	my $copy = $item->{copy};
	my $rows = ':ROW_COUNT';
	my $text = $item->{text};

	# the more an error tells, the more there is to compare
	return '' if !$self->{recorded} && $text =~ /^\\set VERBOSITY/;
	# a default that is still volatile, but the same for both
	$text =~ s/\bDEFAULT\s+random\(\)/DEFAULT (0 * random())/gi;
	# psql might wait for data
	return '' if $copy && !defined $copy->table;
	if ($copy && !$copy->apart && defined $workers)
	{
		$text = $copy->call_sql($self->data_file($n), $workers) . ' \gset external_';
		$rows = ':external_fast_copy';
	}
	elsif ($copy) { $text = $copy->copy_sql($self->data_file($n)) }
	$text = "\\qecho '\@\@$n'\n\\warn '\@\@$n'\n$text\n";
	$text .= "\\warn '\@\@state' :ERROR :SQLSTATE $rows\n";
	# what anybody may load from psql is a file on the server here
	$text .= "\\warn '\@\@end'\nGRANT pg_read_server_files TO $1;\n"
	  if $item->{text} =~ /^create\s+(?:role|user|group)\s+(\w+)/i;
	$text .= "\\qecho '\@\@rows'\n\\warn '\@\@rows'\nSELECT external.rows("
	  . Copy::literal($copy->table) . ");\n" if $copy && !$copy->apart && !$self->{recorded};
	return $text;
}

# By item: { state, error, rows, notices, out, table }.
sub results
{
	my ($self, $out, $err) = @_;
	my ($outs, $errs) = (parts($out), parts($err));
	my @results;

	foreach my $n (0 .. $#{ $self->{items} })
	{
		next unless defined $errs->{$n};
		my %r = messages($errs->{$n});

		$r{out} = sorted($outs->{$n});
		$r{table} = sorted($outs->{"$n rows"}) if defined $outs->{"$n rows"};
		if ($errs->{$n} =~ /^\@\@state (\S+) (\S+) (\S*)$/m)
		{
			$r{state} = $2;
			$r{rows} = $3 if $self->{items}[$n]{copy} && $1 eq 'false';
		}
		$results[$n] = \%r;
	}
	return \@results;
}

# What the tree has on record, as results() has it.  The record has each line
# of the script, but for data, and after the line that ends an item what came of
# it.  Where the next lines stand in it shows where that ends.  Empty lines are
# there or not, as psql has it.
sub recorded
{
	my ($self) = @_;
	my ($path) = grep { -f } map { "$self->{source}/$_/$self->{name}.out" } qw(expected output);
	my @record = grep { $_ ne '' } map { s/\r?\n//r } lines($path // die "$self->{name}: nothing on record\n");
	my %data = map { map { $_ => 1 } @{ $_->{data_lines} // [] } } @{ $self->{items} };
	my @script = map { s/\r?\n//r } lines($self->{path});
	my @echoed = grep { !$data{ $_ + 1 } && $script[$_] !~ /^(?:\\\.)?$/ } 0 .. $#script;
	my ($at, @results) = (0);

	for (my $n = 0; $n < @{ $self->{items} }; $n++)
	{
		my $last = $self->{items}[$n]{last};

		while (@echoed && $echoed[0] < $last)
		{
			my $line = shift @echoed;
			die "$self->{name}:" . ($line + 1) . ": not where it should be on record\n"
			  if $script[$line] ne ($record[ $at++ ] // '');
		}
		next if $n < $#{ $self->{items} } && $self->{items}[ $n + 1 ]{last} == $last;
		my ($next) = map { $self->{items}[$_]{last} } grep { $_ <= $#{ $self->{items} } } $n + 1;
		my $end = end_of_output(\@record, $at, [ map { $script[$_] } grep { $_ < ($next // @script) } @echoed ]);
		$results[$n] = record_result(@record[ $at .. $end - 1 ]);
		$at = $end;
	}
	return \@results;
}

# Where these lines follow in the record, from a place on.
sub end_of_output
{
	my ($record, $at, $lines) = @_;

	foreach my $end ($at .. @$record)
	{
		return $end unless grep { $lines->[$_] ne ($record->[ $end + $_ ] // "\0") } 0 .. $#$lines;
	}
	die "the record has no \"$lines->[-1]\"\n";
}

sub record_result
{
	my @lines = @_;
	my ($said, $out, $in_message) = ('', '', 0);

	foreach my $line (@lines)
	{
		my $is_notice = $line =~ /^(?:NOTICE|INFO|WARNING):/;

		next if $line =~ /^ *\^$/;
		$in_message = 1 if $line =~ /^(?:ERROR|DETAIL|HINT|CONTEXT|QUERY|LINE \d+):/;
		if ($in_message || $is_notice) { $said .= "$line\n" }
		else { $out .= "$line\n" }
		$in_message = 0 if $is_notice;
	}
	return { messages($said), out => sorted($out) };
}

# A file's text by mark.
sub parts
{
	my ($path) = @_;
	my (%part, $n, $key);

	foreach my $line (lines($path))
	{
		if ($line =~ /^\@\@(\d+)$/) { $key = $n = $1; $part{$key} = '' }
		elsif ($line =~ /^\@\@end$/) { undef $key }
		elsif ($line =~ /^\@\@rows$/) { $key = "$n rows"; $part{$key} = '' }
		elsif (defined $key) { $part{$key} .= $line }
	}
	return \%part;
}

# No order is promised of rows, and a record lacks empty lines.
sub sorted
{
	my ($text) = @_;

	return join('', sort grep { /./ } split(/^/, $text // ''));
}

# What the server said: the error, and the notices, but for the one that each
# load of ours ends with.  Where in the statement it was differs by nature, and
# so does the name before "line N".
sub messages
{
	my ($text) = @_;
	my (@errors, @notices, $last);

	foreach my $line (split /\n/, $text)
	{
		next if $line =~ /^\@\@state |^NOTICE:  fast_copy: \d/;
		if ($line =~ /^(?:ERROR|FATAL|PANIC):/) { push @errors, $line; $last = \$errors[-1] }
		elsif ($line =~ /^(?:LINE \d+|QUERY):/ || $line =~ /^ *\^$/) { next }
		elsif ($line =~ /^(?:NOTICE|INFO|WARNING|LOG):/) { push @notices, $line; $last = \$notices[-1] }
		elsif ($last) { $$last .= "\n$line" }
	}
	foreach (@errors, @notices)
	{
		s/^(CONTEXT:  |)(?:COPY|fast_copy) .*?, (?=line \d)/$1/mg;
		s/\n(?:CONTEXT:  )?(?:(?:COPY|fast_copy) \S+|fast_copy [^\n]*, file "[^\n]*")(?=\n|\z)//;
	}
	return (error => join("\n", @errors), notices => \@notices);
}

1;
