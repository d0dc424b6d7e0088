# docs/from_other_loaders.md: each line of its tables, "their option | ours", is
# run by cases in loaders.cases, which stand there below the line's own text:
#
#	## HEADING			of the document
#	| CELLS				a line of the table, but for its last cell
#	case				begins another case of the same line, with the same table,
#						statements and, unless it has some, files
#	table TEXT			"CREATE TABLE t TEXT"; below a heading of all its cases that
#						do not say otherwise
#	sql STATEMENT		executed before
#	file NAME			below /data; the lines after it that begin with a tab are
#						its lines
#	bytes NAME			the same, with escapes \n, \r, \t, \0, \\ and \xHH, and
#						without other line ends
#	source TEXT			instead of the first file, or pattern
#	with ARGUMENTS		of the call, beside those of the line
#	+ ARGUMENTS			what the line is about
#	call LINE			of what psql reads, instead of SELECT fast_copy(...)
#	show QUERY			instead of all rows of t
#	= LINE				of what the call and the query print; "..." is anything
#
# Each of a case's "+" is left out in turn: it must print something else then.
# Without any, the line is about what happens by itself.
#
# A line without a case fails, and a case without a line.  What the last cell of
# a line gives as an argument must stand in its cases to the letter, and each
# option and function that it names must be in one.  No case is needed where the
# cell begins with "none".

use strict;
use warnings;

sub loaders
{
	my ($text) = @_;
	my @cases = loader_cases(slurp("$FindBin::Bin/loaders.cases"));
	my %lines = loader_lines($text);
	my @runs = map { loader_runs($_) } @cases;
	my @printed = loader_printed(@runs);

	foreach (0 .. $#runs)
	{
		my ($case, $without) = @{ $runs[$_] }{qw(case without)};
		my $name = "from_other_loaders.md: $case->{line} (loaders.cases:$case->{at})";

		report(defined $without ? "$name, not without $without" : $name,
			loader_as($printed[$_], @{ $case->{'='} }) == !defined $without, $printed[$_]);
	}
	loader_complete(\@cases, \%lines);
}

# The cases, each a hash
sub loader_cases
{
	my ($text) = @_;
	my ($heading, $table, $line, $at, @cases) = ('', '', '', 0);

	foreach (split /\n/, $text)
	{
		my ($key, $value) = /^(\S*)\s?(.*)/;

		$at++;
		$line = "$heading | $value" if $key eq '|';
		if ($key eq '##') { ($heading, $line) = ($value, '') }
		elsif ($key eq 'table' && $line eq '') { $table = $value }
		elsif ($key eq '|') { push @cases, loader_case({ table => $table, text => '', sql => [], inherited => {} }, $line, $at) }
		elsif ($key eq 'case') { push @cases, loader_case($cases[-1], $line, $at) }
		elsif ($key ne '#' && $_ ne '') { loader_part($cases[-1], $at, $key, $value) }
	}
	return @cases;
}

# A new one, which begins as another is
sub loader_case
{
	my ($like, $line, $at) = @_;

	return { line => $line, at => $at, text => $like->{text}, table => $like->{table}, sql => [ @{ $like->{sql} } ], inherited => $like->{files} // $like->{inherited},
		source => $like->{source}, with => [], '+' => [], call => [], '=' => [] };
}

# One line of a case
sub loader_part
{
	my ($case, $at, $key, $value) = @_;

	$case->{text} .= "$value\n" if $key ne '=';
	if ($key eq '') { $case->{files}{ $case->{file} } .= $case->{kind} eq 'bytes' ? loader_bytes($value) : "$value\n" }
	elsif ($key =~ /^(file|bytes)$/)
	{
		@$case{qw(kind file)} = ($key, $value);
		$case->{source} = "'/data/$value'" unless $case->{files};
		$case->{files}{$value} = '';
	}
	elsif ($key =~ /^(sql|with|\+|call|=)$/) { push @{ $case->{$key} }, $value }
	elsif ($key =~ /^(table|source|show)$/) { $case->{$key} = $value }
	else { die "loaders.cases:$at: what is \"$key\"?\n" }
}

sub loader_bytes
{
	my ($text) = @_;
	my %bytes = (n => "\n", r => "\r", t => "\t", 0 => "\0", '\\' => '\\');

	$text =~ s/\\(?:x(..)|([nrt0\\]))/defined $1 ? chr hex $1 : $bytes{$2}/ge;
	return $text;
}

# A case as it is, and without each of what it is about
sub loader_runs
{
	my ($case) = @_;

	return ({ case => $case }, map { { case => $case, without => $_ } } @{ $case->{'+'} });
}

# What each run prints.  All are one session of psql, which takes seconds and not
# minutes; each has a schema, and files, of its own.
sub loader_printed
{
	my $directory = Cwd::getcwd();
	my $number = 0;
	my $script = join '', map { loader_script(++$number, "$directory/$number", $_) } @_;
	my ($rc, $out) = command($script, 'PGCLIENTENCODING=UTF8 psql -X -q -A -t -v VERBOSITY=terse -f -');

	$out =~ s/^psql:\S+ //mg;
	$out =~ s{\Q$directory\E/\d+/}{/data/}g;
	my (undef, @printed) = split /^== \d+\n/m, $out, -1;
	report('from_other_loaders.md: all cases are run', $rc == 0 && @printed == @_, $out);
	return @printed;
}

sub loader_script
{
	my ($number, $data, $run) = @_;
	my ($case, $without) = @$run{qw(case without)};
	my %files = %{ $case->{files} // $case->{inherited} };
	my @arguments = (@{ $case->{with} }, grep { !defined $without || $_ ne $without } @{ $case->{'+'} });
	my @calls = @{ $case->{call} } ? @{ $case->{call} }
	  : 'SELECT fast_copy(' . join(', ', "'t'", $case->{source}, @arguments) . ') \g /dev/null';

	mkdir $data;
	chmod 0777, $data;
	spill("$data/$_", $files{$_}) foreach keys %files;
	return join("\n", 'SET client_min_messages = error; ROLLBACK; DISCARD ALL;',
		"CREATE SCHEMA run_$number; SET search_path = run_$number, public; SET client_min_messages = warning;",
		'\o /dev/null', map({ "$_;" } "CREATE TABLE t $case->{table}", @{ $case->{sql} }),
		'\o', "\\echo == $number", @calls,
		($case->{show} // 'SELECT * FROM t ORDER BY t') . ";\n") =~ s{/data\b}{$data}gr;
}

# A file, in folders that may not be there
sub spill
{
	my ($path, $bytes) = @_;
	my $at = $path =~ s{/[^/]*$}{}r;

	system('mkdir', '-p', $at) == 0 or die "$at\n";
	open(my $f, '>:raw', $path) or die "$path: $!\n";
	print $f $bytes;
	close $f;
}

# The lines of the document's tables: the last cell by the others
sub loader_lines
{
	my ($text) = @_;
	my ($heading, %lines) = ('');

	foreach (split /\n/, $text)
	{
		$heading = $1 if /^## (.*)/;
		next unless /^\| (.*) \| (.*) \|$/ && $2 ne 'fast_copy';
		my ($theirs, $ours) = ($1, $2);
		report("from_other_loaders.md: $heading: one line for $theirs", 0) if defined $lines{"$heading | $theirs"};
		$lines{"$heading | $theirs"} = $ours;
	}
	return %lines;
}

# Is it these lines?  "..." in them stands for anything.
sub loader_as
{
	my ($printed, @lines) = @_;
	my $pattern = join '', map { join('.*', map { quotemeta } split /\.\.\./, $_, -1) . "\n" } @lines;

	return !!($printed =~ /\A$pattern\z/);
}

# Lines without cases, and the other way about
sub loader_complete
{
	my ($cases, $lines) = @_;
	my ($rc, $out) = psql("SELECT 'OPTION ' || option FROM fast_copy_help();\n");
	my %options = map { $_ => 1 } $out =~ /^OPTION (\w+)$/mg;
	my %texts;

	report('from_other_loaders.md: the server tells its options', keys %options > 40, $out);
	$texts{ $_->{line} } .= $_->{text} foreach @$cases;
	report("from_other_loaders.md has no line $_", 0) foreach grep { !defined $lines->{$_} } sort keys %texts;
	foreach my $line (sort keys %$lines)
	{
		next if $lines->{$line} =~ /^none\b/;
		my @missing = grep { index($texts{$line} // '', $_) < 0 } loader_said($lines->{$line}, \%options);
		report("from_other_loaders.md: $line: has cases, of all that it says", defined $texts{$line} && !@missing,
			join("\n", map { "in no case: $_" } @missing));
	}
}

# The arguments, options and functions that a cell names
sub loader_said
{
	my ($cell, $options) = @_;
	my @code = map { split /, (?=\w+ =>)/ } map { s/\\\|/|/gr } $cell =~ /`([^`]+)`/g;

	return map { /^\w+ => / || $options->{$_} ? $_ : /^(fast_copy_\w+)\(\)$/ ? $1 : () } @code;
}

1;
