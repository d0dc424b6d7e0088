# The parts of docs/reference.md that are made of what the server says of itself:
# by fast_copy_help() arguments, settings, functions and views, by comments the
# columns of relations.  They stand between <!-- made by "make docs": KIND --> and
# <!-- end -->; all else in the document is written by hand.  The list of contents
# is made of its headings.

use strict;
use warnings;
use Text::Wrap ();

# For what an option is; a new one needs its place here.
my @tasks = (
	[ 'What is loaded, and into what' => qw(target source program columns timestamp_column) ],
	[ 'How the file is written' => qw(format header ignore_extra_columns delimiter quote escape encoding comment skip_footer max_records skip_empty_lines missing_columns compressed) ],
	[ 'How values are read' => qw(null_string null_strings force_null force_not_null default_string trim_blanks number_format timestamp_format time_zone transform) ],
	[ 'Which rows, in which order' => qw(where_clause order_by freeze) ],
	[ 'Partitions' => qw(partition_interval missing_partitions) ],
	[ 'Bad records' => qw(on_error on_error_classes reject_limit reject_table) ],
	[ 'Rows that are there already' => qw(existing_rows replace_from replace_to min_replace_ratio replace_method on_conflict dedup_keys dedup_keep dedup_order delete_where) ],
	[ 'Each file once' => qw(ledger label manifest changed_files other_files notify_channel) ],
	[ 'Other servers' => qw(remote_commit nodes) ],
	[ 'How the load runs' => qw(workers progress log_verbosity run_analyze options fast_copy) ]);

# Returns the document with its made parts as the server has them.
sub with_reference
{
	my ($text) = @_;
	my @topics = topics();
	my %options = map { ($_->{name} => $_) } grep { $_->{kind} =~ /^(argument|option of COPY)$/ } @topics;
	my %made = (
		options => join('', map { "### $_->[0]\n\n" . forms(@options{ @$_[ 1 .. $#$_ ] }) } placed(keys %options)),
		arguments => join('', map { entry($_) } map { @options{ @$_[ 1 .. $#$_ ] } } @tasks),
		settings => join('', map { entry($_) } grep { $_->{kind} eq 'setting' } @topics),
		functions => join('', map { object($_) } grep { $_->{kind} =~ /^(function|procedure)$/ } @topics),
		views => join('', map { object($_) } grep { $_->{kind} =~ /^(view|table)$/ } @topics));

	$text =~ s/(<!-- made by "make docs": (?:columns of )?((?!contents)\w+) -->\n).*?(<!-- end -->)/"$1\n" . ($made{$2} || columns_of($2)) . $3/gse;
	$text =~ s/(<!-- made by "make docs": contents -->\n).*?(<!-- end -->)/"$1\n" . contents($text) . $2/se;
	return $text;
}

# The tasks, after a look whether they have each of these options once
sub placed
{
	my %left = map { ($_ => 1) } @_;

	foreach (map { @$_[ 1 .. $#$_ ] } @tasks)
	{
		delete $left{$_} or die "test/docs/reference.pl: there is no option $_, or its place is told twice\n";
	}
	die 'test/docs/reference.pl: for which task are ', join(', ', sort keys %left), "?\n" if %left;
	return @tasks;
}

# What there is, with links: the parts, and the tasks of the options
sub contents
{
	my ($text) = @_;
	my ($list, $part) = ('', '');

	foreach (prose($text) =~ /^(##+ .*)$/mg)
	{
		my ($level, $heading) = /^(#+) (.*)$/;

		$part = $heading if $level eq '##';
		$list .= ($level eq '##' ? '' : '  ') . "- [$heading](#" . anchor($heading) . ")\n" if $level eq '##' || $part eq 'Options by task';
	}
	return "$list\n";
}

# The document is what would be made of it now.
sub reference
{
	my ($text) = @_;
	my $made = with_reference($text);
	my @is = split /\n/, $text;
	my @shall = split /\n/, $made;
	my $line = 0;

	$line++ while $line < @is && $line < @shall && $is[$line] eq $shall[$line];
	report('reference.md is what "make docs" makes of it', $text eq $made,
		"line " . ($line + 1) . "\nis:    " . ($is[$line] // '') . "\nshall: " . ($shall[$line] // ''));
	report('reference.md: most of it is made', (() = $made =~ /^### /mg) > 50);
}

# All that fast_copy_help() tells of, each once, as a hash of kind, name,
# labels, text and example.
sub topics
{
	my ($rc, $out) = psql(<<'SQL');
SELECT fast_copy_help(option) FROM fast_copy_help();
SELECT fast_copy_help(name) FROM (SELECT name FROM pg_settings WHERE name LIKE 'fast\_copy.%' ORDER BY name COLLATE "C") AS s;
SELECT fast_copy_help(name) FROM (
	SELECT coalesce(proname, relname)::text COLLATE "C" AS name FROM pg_depend AS d
		JOIN pg_extension AS e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
		LEFT JOIN pg_proc AS p ON p.oid = d.objid AND d.classid = 'pg_proc'::regclass
		LEFT JOIN pg_class AS c ON c.oid = d.objid AND d.classid = 'pg_class'::regclass
	WHERE extname IN ('fast_copy', 'fast_copy_cluster') AND coalesce(proname, relname) !~ '^fast_copy_value' GROUP BY 1 ORDER BY 1) AS o;
SQL
	my ($rc_meanings, $meanings) = psql("SELECT option || E'\\t' || replace(meaning, E'\\n', ' ') FROM fast_copy_help();\n");
	my %meanings = map { split /\t/ } split(/\n/, $meanings);
	my (%seen, @topics);

	die $out if $rc != 0;
	die $meanings if $rc_meanings != 0;
	foreach (split /^(?=[a-z])/m, $out)
	{
		my ($kind, $name, $body) = /^([^\n]*) (\S+)\n(.*)\z/s or die "no topic: $_\n";
		my %topic = (kind => $kind, name => $name, labels => {}, text => '', example => '', meaning => $meanings{$name} // '');

		next if $seen{$_}++;
		$body =~ s/^ {13}(\S)/\x01$1/mg;
		$body =~ s/\n\x01/ /g;
		$topic{labels}{$1} = $2 while $body =~ /^  (\w[\w ]*): +(.*)$/mg && pos($body) <= (index("$body\n\n", "\n\n") + 1);
		$topic{example} = join "\n", $body =~ /^    (.*)$/mg;
		my ($paragraph) = "\n$body\n" =~ /\A.*?\n\n(.*?)\n\n/s;
		$topic{text} = join ' ', $paragraph =~ /^  (\S.*)$/mg;
		next if $topic{text} =~ /^part of the (function|view) /;
		push @topics, \%topic;
	}
	return @topics;
}

# Options, a line each: how they are written, the default, and a phrase
sub forms
{
	my $rows = '';

	foreach my $topic (@_)
	{
		my %labels = %{ $topic->{labels} };
		my ($call, $json, $copy) = map { written($_) } @labels{ 'In a call', 'In JSON', 'In COPY' };

		$call = $call eq '' ? "[`$topic->{name}`](#$topic->{name})" : "[$call](#$topic->{name})";
		$rows .= '| ' . join(' | ', $call, $json, $copy, (map { defined $_ && $_ ne 'NULL' ? "`$_`" : '' } $labels{Default}), marked($topic->{meaning})) . " |\n";
	}
	return "| in a call | as a key of `options` | in `COPY` | default | what it is |\n|---|---|---|---|---|\n$rows\n";
}

sub written
{
	my ($ways) = @_;

	return '' if !defined $ways || $ways eq 'none';
	return join(' or ', map { "`$_`" } split(/, or /, $ways =~ s/, only with the option fast_copy$//r));
}

# The table of a relation's columns.  Some relations are made by a function.
sub columns_of
{
	my ($relation) = @_;
	my %makers = (fast_copy_rejects => 'fast_copy_create_reject_table', fast_copy_history => 'fast_copy_create_history_table',
		fast_copy_ledger => 'fast_copy_create_ledger_table');
	my $made = $makers{$relation} ? "SELECT $makers{$relation}('$relation');" : '';
	my ($rc, $out) = psql(<<SQL);
BEGIN;
$made
SELECT concat_ws(' | ', '| `' || attname || '`', format_type(atttypid, atttypmod), col_description(attrelid, attnum) || ' |')
FROM pg_attribute WHERE attrelid = '$relation'::regclass AND attnum > 0 ORDER BY attnum;
ROLLBACK;
SQL

	die $out if $rc != 0;
	return "| column | type | meaning |\n|---|---|---|\n" . join('', map { s/(?<=\|)([^|]*)(?= \|$)/marked($1)/er . "\n" } $out =~ /^(\|.*)$/mg) . "\n";
}

sub entry
{
	my ($topic) = @_;
	my %labels = %{ $topic->{labels} };
	my @facts = "Type: `$labels{Type}`";

	push @facts, "Default: `$labels{Default}`" if defined $labels{Default};
	push @facts, "Set by: $labels{'Set by'}" if defined $labels{'Set by'};
	return "### $topic->{name}\n\n" . join('. ', @facts) . ".\n\n"
	  . (defined $labels{Values} ? wrapped('Values: ' . values_of(%labels) . '.') . "\n" : '')
	  . wrapped(marked($topic->{text})) . "\n"
	  . ($topic->{example} eq '' ? '' : "```sql\n$topic->{example}\n```\n\n");
}

sub values_of
{
	my (%labels) = @_;

	# words alone are values, too
	return $labels{Values} =~ s/\b(?!and\b)(\w+)/`$1`/gr if $labels{Values} =~ /^\w+(, \w+)+( and \w+)?$/;
	return marked($labels{Values});
}

# A function, with its arguments if they are few, or a view
sub object
{
	my ($topic) = @_;
	my $arguments = $topic->{labels}{Arguments} // '';
	my $call = '';

	$arguments =~ s/,? *OUT .*//;
	$arguments =~ s/^(\S+ \S+, [^,]+),.*$/$1, .../ if length $arguments > 200;
	$call = "($arguments) returns $topic->{labels}{Returns}" if $topic->{kind} eq 'function';
	$call = "($arguments), a procedure" if $topic->{kind} eq 'procedure';
	return "### `$topic->{name}$call`\n\n" . wrapped(marked(ucfirst $topic->{text}) . '.') . "\n";
}

# What is code in a sentence
sub marked
{
	my ($text) = @_;

	$text =~ s/\boption fast_copy\b/option `fast_copy`/g;
	$text =~ s/(`[^`]*`(*SKIP)(*FAIL)|\b(?:pg_partman|io_uring|fast_copy)\b(?![.(_])(*SKIP)(*FAIL)|\b\w+ => (?:'[^']*'|\w+)|(?<!\w)'[^']*'|\{"column"[^}]*\}|\b[a-z]+(?:_[a-z0-9]+)+\b(?:\.\w+)?(?:\(\))?|\b(?:COPY \.\.\. FROM(?: PROGRAM| STDIN)?|COPY FROM|VACUUM FREEZE|FROM PROGRAM|ORDER BY|COPY|NULL|FROM|ANALYZE|DEFAULT|NOTICE)\b|\\N)/`$1`/g;
	return $text;
}

sub wrapped
{
	local $Text::Wrap::columns = 150;
	local $Text::Wrap::huge = 'overflow';
	local $Text::Wrap::unexpand = 0;

	return Text::Wrap::wrap('', '', $_[0]) . "\n";
}

1;
