# Reads a COPY ... FROM statement and says it again: as COPY from a file, and
# as a call of fast_copy with the same options.

package Copy;

use strict;
use warnings;

# COPY's options and fast_copy's arguments.
my %ARGUMENT = (
	format => 'format', delimiter => 'delimiter', null => 'null_string',
	default => 'default_string', header => 'header', quote => 'quote',
	escape => 'escape', encoding => 'encoding', freeze => 'freeze',
	force_not_null => 'force_not_null', force_null => 'force_null',
	on_error => 'on_error', reject_limit => 'reject_limit',
	log_verbosity => 'log_verbosity');
my %IS_LIST = map { $_ => 1 } qw(force_not_null force_null);
my %IS_FLAG = map { $_ => 1 } qw(header freeze);

# The parsed statement, or nothing if it is not a COPY ... FROM.  "apart" says
# why no call of a function can be made of it.
sub parse
{
	my ($class, $text) = @_;
	my $self = bless { text => $text, tokens => tokens($text), n => 0, options => [] }, $class;

	return unless $self->word('copy');
	return $self->query if $self->is_next('(');
	push @{ $self->{options} }, [ 'format', 'binary' ]
	  if $self->is_next('binary') && !$self->is_next('.', 1) && !$self->is_next('from', 1) && $self->word('binary');
	$self->{table} = $self->relation or return;
	$self->{columns} = $self->names if $self->is_next('(');
	return unless $self->word('from');
	$self->source or return;
	$self->all_options;
	return $self;
}

# A query has no FROM; COPY's grammar says so.
sub query
{
	my ($self) = @_;

	return unless $self->{text} =~ /\bfrom\s+stdin\s*;?\s*$/i;
	$self->{apart} = 'not in the grammar of COPY';
	return $self;
}

sub is_stdin { return $_[0]{stdin} }
sub table { return $_[0]{table} }
sub apart { return $_[0]{apart} }
sub option_names { return map { $_->[0] } @{ $_[0]{options} } }

# The statement with another source.
sub copy_sql
{
	my ($self, $file) = @_;
	my $text = $self->{text};

	return $text unless $self->{stdin} && defined $file;
	substr($text, $self->{span}[0], $self->{span}[1] - $self->{span}[0]) = literal($file);
	return $text;
}

# The call that means the same, without a semicolon.
sub call_sql
{
	my ($self, $file, $workers) = @_;
	my $path = $self->{stdin} ? literal($file) : $self->{source};
	my @args = (literal($self->{table}), $path);
	my %seen = map { $_->[0] => 1 } @{ $self->{options} };

	push @args, 'columns => ' . name_array(@{ $self->{columns} }) if $self->{columns};
	push @args, "format => 'text'" unless $seen{format};
	foreach my $option (@{ $self->{options} })
	{
		push @args, "$ARGUMENT{$option->[0]} => " . value_sql(@$option);
	}
	push @args, 'where_clause => ' . literal($self->{where}) if defined $self->{where};
	return 'SELECT external.fast_copy('
	  . join(', ', @args, "missing_partitions => 'error'", "workers => $workers") . ')';
}

sub value_sql
{
	my ($name, $value) = @_;

	return "'{*}'" if ref $value eq 'SCALAR';
	return name_array(@$value) if ref $value;
	return $value =~ /^(?:[eE]?'|:|\$)/ ? $value : literal($value);
}

sub name_array
{
	return 'ARRAY[' . join(', ', map { literal($_) } @_) . ']::name[]';
}

sub literal
{
	my ($text) = @_;

	$text =~ s/'/''/g;
	return "'$text'";
}

sub source
{
	my ($self) = @_;
	my $token = $self->next_token or return;

	$self->{span} = [ @$token[ 1, 2 ] ];
	if ($token->[0] =~ /^std(in|out)$/i) { $self->{stdin} = 1 }
	elsif ($token->[0] =~ /^program$/i)
	{
		$self->{apart} = 'a program as source';
		$self->next_token;
	}
	else { $self->{source} = $token->[0] }
	return 1;
}

sub all_options
{
	my ($self) = @_;

	$self->old_delimiters;
	$self->word('with');
	if ($self->is_next('(')) { $self->generic_options }
	else { $self->old_options }
	if ($self->word('where'))
	{
		$self->{where} = substr($self->{text}, $self->{tokens}[ $self->{n} ][1]) =~ s/\s*;?\s*$//r;
	}
	elsif (my $token = $self->next_token)
	{
		$self->{apart} = 'not in the grammar of COPY' if $token->[0] ne ';';
	}
	$self->check_options;
}

sub old_delimiters
{
	my ($self) = @_;

	$self->word('using');
	return unless $self->word('delimiters');
	push @{ $self->{options} }, [ 'delimiter', $self->next_token->[0] ];
}

sub old_options
{
	my ($self) = @_;

	while (my $token = $self->{tokens}[ $self->{n} ])
	{
		my $name = lc $token->[0];

		last if $name !~ /^(binary|freeze|delimiter|null|csv|header|quote|escape|force|encoding)$/;
		$self->{n}++;
		push @{ $self->{options} }, [ $self->old_option($name) ];
	}
}

sub old_option
{
	my ($self, $name) = @_;

	return ('format', $name) if $name =~ /^(binary|csv)$/;
	return ($name, 'true') if $name =~ /^(freeze|header)$/;
	if ($name eq 'force')
	{
		$name = $self->word('quote') ? 'force_quote'
		  : $self->word('not') && $self->word('null') ? 'force_not_null'
		  : $self->word('null') ? 'force_null' : 'force';
		return ($name, \'*') if $self->word('*');
		return ($name, [ $self->name_list ]);
	}
	$self->word('as');
	my $token = $self->next_token;
	return ($name, $token ? $token->[0] : undef);
}

# ( name [value], ... )
sub generic_options
{
	my ($self) = @_;

	$self->next_token;
	while (my $token = $self->next_token)
	{
		push @{ $self->{options} }, [ identifier($token->[0]), $self->generic_value ];
		last unless $self->word(',');
	}
	$self->word(')') or $self->{apart} = 'not in the grammar of COPY';
}

sub generic_value
{
	my ($self) = @_;

	return undef if $self->is_next(',') || $self->is_next(')');
	return $self->names if $self->is_next('(');
	return \'*' if $self->word('*');
	my $sign = $self->word('-') ? '-' : $self->word('+') ? '' : '';
	my $token = $self->next_token or return undef;
	return $token->[0] =~ /^[a-z_"]/i && $token->[0] !~ /^e'/i ? identifier($token->[0]) : "$sign$token->[0]";
}

# What an argument of a function cannot say.
sub check_options
{
	my ($self) = @_;
	my %seen;

	foreach my $option (@{ $self->{options} })
	{
		my ($name, $value) = @$option;
		my $why
		  = $seen{$name}++ ? 'an option twice'
		  : !$ARGUMENT{$name} ? "no argument for option $name"
		  : !defined $value && !$IS_FLAG{$name} ? "option $name without its value"
		  : ref $value && !$IS_LIST{$name} ? "option $name with a list"
		  : defined $value && !ref $value && $IS_LIST{$name} ? "option $name without a list"
		  : undef;
		$self->{apart} //= $why if $why;
		$option->[1] = 'true' if !defined $value && $IS_FLAG{$name};
	}
}

# The tokens of a statement: text, start and end.
sub tokens
{
	my ($text) = @_;
	my @tokens;

	pos($text) = 0;
	while (pos($text) < length($text))
	{
		next if $text =~ /\G\s+/gc || $text =~ /\G--[^\n]*/gc || $text =~ m{\G/\*.*?\*/}gcs;
		my $start = pos($text);
		$text =~ /\Ge'(?:[^'\\]|\\.|'')*'/gcis
		  || $text =~ /\G:?'(?:[^']|'')*'/gcs
		  || $text =~ /\G:?"(?:[^"]|"")*"/gcs
		  || $text =~ /\G\$(\w*)\$.*?\$\g1\$/gcs
		  || $text =~ /\G[a-z_\x80-\xff][\w\$\x80-\xff]*/gci
		  || $text =~ /\G:[a-z_]\w*/gci
		  || $text =~ /\G\d[\d.e]*/gci
		  || $text =~ /\G./gcs;
		push @tokens, [ substr($text, $start, pos($text) - $start), $start, pos($text) ];
	}
	return \@tokens;
}

sub next_token
{
	my ($self) = @_;

	return $self->{tokens}[ $self->{n}++ ];
}

sub is_next
{
	my ($self, $word, $ahead) = @_;
	my $token = $self->{tokens}[ $self->{n} + ($ahead // 0) ];

	return $token && lc $token->[0] eq $word;
}

# Takes the next token if it is this one.
sub word
{
	my ($self, $word) = @_;

	return 0 unless $self->is_next($word);
	$self->{n}++;
	return 1;
}

# A name, perhaps qualified, as it is written.
sub relation
{
	my ($self) = @_;
	my $token = $self->next_token or return;
	my $name = $token->[0];

	while ($self->word('.'))
	{
		$name .= '.' . $self->next_token->[0];
	}
	return $name;
}

# ( name, ... )
sub names
{
	my ($self) = @_;
	my @names;

	$self->next_token;
	@names = $self->name_list;
	$self->word(')') or $self->{apart} = 'not in the grammar of COPY';
	return \@names;
}

sub name_list
{
	my ($self) = @_;
	my @names;

	do
	{
		push @names, identifier(($self->next_token // [''])->[0]);
	} while ($self->word(','));
	return @names;
}

sub identifier
{
	my ($name) = @_;

	return lc $name unless $name =~ /^"(.*)"$/s;
	return $1 =~ s/""/"/gr;
}

1;
