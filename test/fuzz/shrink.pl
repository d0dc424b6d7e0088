# Makes a case smaller while it differs in the same way.

use strict;
use warnings;
use Storable ();

# "try" gives (name, wrong, answer) of a case, as a verdict does.
sub shrink
{
	my ($c, $wrong, $try) = @_;
	my $kind = kind_of($wrong);
	my ($best, $answer, $now) = ($c);
	my $tries = 0;
	my $attempt = sub {
		my ($change) = @_;
		my $smaller = Storable::dclone($best);

		return 0 if ++$tries > 250 || !$change->($smaller);
		my ($name, $what, $a) = $try->($smaller);
		return 0 if defined $name || kind_of($what) ne $kind;
		($best, $answer, $now) = ($smaller, $a, $what);
		return 1;
	};

	return unless $attempt->(sub { 1 });
	shrink_table($attempt, \$best);
	shrink_file($attempt, \$best);
	shrink_table($attempt, \$best);
	return ($best, $answer, $now);
}

sub kind_of { my ($wrong) = @_; return ($wrong // '') =~ /^([^:\n]*)/ ? $1 : '' }

sub shrink_table
{
	my ($attempt, $best) = @_;

	foreach my $name (sort keys %{ $$best->{options} })
	{
		next if $name =~ /^(format|timestamp_column|partition_interval|missing_partitions)$/;
		$attempt->(sub { delete $_[0]{options}{$name}; 1 });
	}
	foreach my $name (sort keys %{ $$best->{settings} })
	{
		$attempt->(sub { delete $_[0]{settings}{$name}; 1 });
	}
	foreach my $name (qw(memory io_method io_depth spill writer chunk_size))
	{
		$attempt->(sub { defined $_[0]{tuning}{$name} or return 0; delete $_[0]{tuning}{$name}; 1 });
	}
	$attempt->(sub { $_[0]{tuning}{workers} or return 0; $_[0]{tuning}{workers} = $_; 1 }) foreach 0, 1;
	foreach my $name (qw(triggers foreign reordered unlogged))
	{
		$attempt->(sub { $_[0]{$name} or return 0; delete $_[0]{$name}; 1 });
	}
	$attempt->(sub { $_[0]{files} or return 0; delete $_[0]{files}; 1 });
	foreach my $i ($$best->{files} ? reverse 0 .. $#{ $$best->{files}{at} } : ())
	{
		$attempt->(sub { my $f = $_[0]{files}; splice(@{ $f->{at} }, $i, 1); $f->{names} = [ 1 .. @{ $f->{at} } + 1 ]; 1 });
	}
	shrink_packed($attempt, $best);
	$attempt->(sub { @{ $_[0]{before} // [] } or return 0; $_[0]{before} = []; 1 });
	foreach my $i (reverse 0 .. $#{ $$best->{setup} })
	{
		$attempt->(sub { splice(@{ $_[0]{setup} }, $i, 1); 1 });
	}
	shrink_columns($attempt, $best);
}

sub shrink_packed
{
	my ($attempt, $best) = @_;

	$attempt->(sub { $_[0]{packed} or return 0; delete $_[0]{packed}; 1 });
	return unless $$best->{packed};
	$attempt->(sub { delete $_[0]{packed}{cut} });
	$attempt->(sub { delete $_[0]{packed}{program} });
	$attempt->(sub { @$_{qw(tool args at skip pad)} = ('gzip', '', [], [], 0) foreach @{ $_[0]{packed}{each} }; 1 });
	foreach my $what (qw(at skip))
	{
		$attempt->(sub { $_->{$what} = [] foreach @{ $_[0]{packed}{each} }; 1 });
	}
}

sub shrink_columns
{
	my ($attempt, $best) = @_;
	my %in_file = map { $_ => 1 } @{ $$best->{file_columns} };

	foreach my $i (reverse 0 .. $#{ $$best->{columns} })
	{
		my $col = $$best->{columns}[$i];

		foreach my $what (qw(check notnull default))
		{
			$attempt->(sub { defined $_[0]{columns}[$i]{$what} or return 0; delete $_[0]{columns}[$i]{$what}; 1 });
		}
		$attempt->(sub { splice(@{ $_[0]{columns} }, $i, 1); 1 }) if $col->{dropped} || $col->{generated} || !$in_file{ $col->{name} };
	}
	foreach my $i (reverse 0 .. $#{ $$best->{file_columns} })
	{
		$attempt->(sub { without_field($_[0], $i) });
	}
}

# Takes a column out of the file and the table.
sub without_field
{
	my ($c, $i) = @_;
	my $name = $c->{file_columns}[$i];
	my ($col) = grep { $_->{name} eq $name } @{ $c->{columns} };

	return 0 if !$c->{records} || $col->{key};
	splice(@$_, $i, 1) foreach @{ $c->{records} }, @{ $c->{before} // [] };
	splice(@{ $c->{file_columns} }, $i, 1);
	$c->{columns} = [ grep { $_->{name} ne $name } @{ $c->{columns} } ];
	srand(1);
	$c->{bytes} = encoded($c, render($c));
	return 1;
}

# Drops ever smaller pieces: of records where they are known, else of lines,
# and then of bytes.
sub shrink_file
{
	my ($attempt, $best) = @_;

	shrink_list($attempt, sub { $_[0]{records} ? @{ $_[0]{records} } : () }, sub { my ($c, @r) = @_; $c->{records} = \@r; srand(1); $c->{bytes} = encoded($c, render($c)) }, $best) if $$best->{records};
	shrink_list($attempt, sub { $_[0]{bytes} =~ /\G[^\n\r]*(?:\r\n|\n|\r|\z)/gs }, \&set_bytes, $best);
	shrink_list($attempt, sub { split //, $_[0]{bytes} }, \&set_bytes, $best) if length($$best->{bytes}) < 400;
}

sub set_bytes { my ($c, @pieces) = @_; $c->{bytes} = join('', @pieces); delete $c->{records} }

sub shrink_list
{
	my ($attempt, $get, $set, $best) = @_;
	my $size = int((() = $get->($$best)) / 2) || 1;

	while (1)
	{
		my $n = () = $get->($$best);
		my $cut = 0;

		for (my $at = 0; $at < $n;)
		{
			my $gone = $attempt->(sub {
				my @list = $get->($_[0]);
				return 0 if $at >= @list;
				splice(@list, $at, $size);
				$set->($_[0], @list);
				return 1;
			});

			if ($gone) { $n -= $size; $cut = 1 }
			else { $at += $size }
		}
		last if $size == 1 && !$cut;
		$size = int($size / 2) || 1;
	}
}

1;
