# Cuts a file of SQL into what psql would do one after the other: statements,
# its own commands, and the data that stands after COPY ... FROM STDIN.

package Script;

use strict;
use warnings;
use Copy;

# A list of { kind => 'sql' or 'meta', text, first, last (lines), copy, data,
# data_lines (their numbers) }.
# "copy" is the parsed statement of a COPY FROM; "data" the bytes after it,
# undefined where the file has none.
sub items
{
	my ($class, $path) = @_;
	my $self = bless { n => 0, items => [] }, $class;

	open(my $in, '<:raw', $path) or die "$path: $!\n";
	$self->{lines} = [<$in>];
	$self->start;
	while ($self->{n} < @{ $self->{lines} })
	{
		$self->line($self->{lines}[ $self->{n}++ ]);
	}
	return @{ $self->{items} };
}

sub start
{
	my ($self) = @_;

	@$self{qw(text depth state tag comment first)} = ('', 0, '', '', 0, 0);
}

# What each state looks for: the pattern of what stays in it, and its end.
my %WITHIN = (
	q => [ qr/[^']+|''/, qr/'/ ],
	e => [ qr/[^'\\]+|''|\\./s, qr/'/ ],
	d => [ qr/[^"]+|""/, qr/"/ ]);

# Goes through one physical line, and ends the statements that end in it.
sub line
{
	my ($self, $line) = @_;

	pos($line) = 0;
	while (pos($line) < length($line))
	{
		$self->{first} ||= $self->{n} if $line =~ /\G(?=\S)/;
		if ($WITHIN{ $self->{state} }) { $self->in_quotes(\$line) }
		elsif ($self->{state} eq 'dollar') { $self->in_dollars(\$line) }
		elsif ($self->{comment}) { $self->in_comment(\$line) }
		else { $self->outside(\$line) }
	}
}

sub keep
{
	my ($self, $part) = @_;

	$self->{text} .= $part;
}

sub in_quotes
{
	my ($self, $line) = @_;
	my ($inside, $end) = @{ $WITHIN{ $self->{state} } };

	if ($$line =~ /\G($inside)/gc) { $self->keep($1) }
	elsif ($$line =~ /\G($end)/gc) { $self->keep($1); $self->{state} = '' }
	elsif ($$line =~ /\G(.)/gcs) { $self->keep($1) }
}

sub in_dollars
{
	my ($self, $line) = @_;

	if ($$line =~ /\G(.*?\Q$self->{tag}\E)/gcs) { $self->keep($1); $self->{state} = '' }
	elsif ($$line =~ /\G(.*)/gcs) { $self->keep($1) }
}

sub in_comment
{
	my ($self, $line) = @_;

	if ($$line =~ m{\G/\*}gc) { $self->{comment}++ }
	elsif ($$line =~ m{\G\*/}gc) { $self->{comment}-- }
	else { $$line =~ /\G./gcs }
}

sub outside
{
	my ($self, $line) = @_;

	if ($$line =~ /\G--[^\n]*/gc) { $self->{first} = 0 if $self->{text} !~ /\S/ }
	elsif ($$line =~ m{\G/\*}gc) { $self->{comment} = 1 }
	elsif ($$line =~ /\G(e')/gci) { $self->keep($1); $self->{state} = 'e' }
	elsif ($$line =~ /\G(:?')/gc) { $self->keep($1); $self->{state} = 'q' }
	elsif ($$line =~ /\G(:?")/gc) { $self->keep($1); $self->{state} = 'd' }
	elsif ($$line =~ /\G(\$(?:[a-z_\x80-\xff][\w\x80-\xff]*)?\$)/gci)
	{
		$self->keep($self->{tag} = $1);
		$self->{state} = 'dollar';
	}
	elsif ($$line =~ /\G(\()/gc) { $self->keep($1); $self->{depth}++ }
	elsif ($$line =~ /\G(\))/gc) { $self->keep($1); $self->{depth}-- }
	elsif ($$line =~ /\G\\;/gc) { $self->statement(';') }
	elsif ($$line =~ /\G;/gc) { $self->semicolon }
	elsif ($$line =~ /\G(\\[^\n]*)\n?/gc) { $self->backslash($1) }
	elsif ($$line =~ /\G([a-z_\x80-\xff][\w\$\x80-\xff]*|\s+|.)/gcis) { $self->keep($1) }
}

# Within parentheses, as in CREATE RULE, and in a function's body it does not
# end the statement.
sub semicolon
{
	my ($self) = @_;

	if ($self->{depth} > 0
		|| $self->{text} =~ /^\s*create\b.*\bbegin\s+atomic\b(?!.*\bend\s*$)/is)
	{
		$self->keep(';');
		return;
	}
	$self->statement(';');
}

# A command of psql's ends the statement before it, if there is one.
sub backslash
{
	my ($self, $command) = @_;

	if ($self->{text} =~ /\S/)
	{
		$self->statement(" $command");
	}
	elsif ($command =~ /^\\copy\s+(.*?);?\s*$/i && Copy->parse("COPY $1;"))
	{
		$self->{text} = $command =~ s/^\\copy/COPY/ir =~ s/;\s*$//r;
		$self->statement(';');
	}
	else
	{
		die "line $self->{n}: an end of data without data\n" if $command =~ /^\\\.\s*$/;
		$self->add(kind => 'meta', text => $command);
		$self->start;
	}
}

sub statement
{
	my ($self, $end) = @_;
	my $text = $self->{text} =~ s/^\s+//r;

	return $self->start if $text eq '' && $end eq ';';
	my $last = $self->{n};
	my $copy = $end eq ';' ? Copy->parse("$text;") : undef;
	my $data = $copy && ($copy->is_stdin || $copy->apart) ? $self->data : undef;
	$self->add(kind => 'sql', text => "$text$end", copy => $copy, data => $data,
		last => $last, data_lines => [ $last + 1 .. $self->{n} ]);
	$self->start;
}

sub add
{
	my ($self, %item) = @_;

	push @{ $self->{items} }, { first => $self->{first}, last => $self->{n}, %item };
}

# Lines that only a script has: where one stands before the next "\.", the
# statement failed before it read anything, and has no data.
my $SQL = qr/^\s*(?:--|(?:copy|select|begin|commit|rollback|savepoint|create|drop|alter|insert|update|delete|truncate|grant|revoke|set|reset)\s|(?:begin|commit|rollback);|(?-i:\\(?:copy|pset|set|getenv|d|echo)\b))/i;

# The bytes up to "\.", which are taken from the lines.
sub data
{
	my ($self) = @_;
	my $lines = $self->{lines};
	my $n = $self->{n};
	my $data = '';

	while ($n < @$lines)
	{
		my $line = $lines->[ $n++ ];

		if ($line =~ /^\\\.\r?$/)
		{
			$self->{n} = $n;
			return $data;
		}
		return undef if $line =~ $SQL;
		$data .= $line;
	}
	return undef;
}

1;
