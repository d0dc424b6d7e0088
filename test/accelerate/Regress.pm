# The tests of a source tree: built, run against the server in PATH, and what
# came of each.

package Regress;

use strict;
use warnings;
use File::Basename;
use File::Path;

# Lines of a difference that are shown
my $SHOWN = 60;

# Builds what the schedule needs of C in a directory below $work.
sub new
{
	my ($class, $tree, $work, $major) = @_;
	my $config = $ENV{PG_CONFIG} // 'pg_config';
	my $self = bless { tree => $tree, lib => "$work/lib", out => "$work/out", major => $major }, $class;

	chomp(my $pgxs = `'$config' --pgxs`);
	$self->{test} = $pgxs =~ s{src/makefiles/pgxs\.mk$}{src/test}r;
	chomp($self->{share} = `pg_config --sharedir`);
	chomp($self->{pkglib} = `pg_config --pkglibdir`);
	mkdir $self->{lib} or die "$self->{lib}: $!\n";
	write_file("$self->{lib}/Makefile", "MODULES = regress refint autoinc\nPGXS := $pgxs\ninclude \$(PGXS)\n");
	Server::command("cd '$self->{lib}' && cp '$tree/src/test/regress/regress.c' '$tree/contrib/spi/refint.c' "
		  . "'$tree/contrib/spi/autoinc.c' . && make PG_CONFIG='$config' with_llvm=no");
	return $self;
}

# The schedule's files, on a server whose database "regression" is left behind
sub schedule
{
	my ($self, $server) = @_;
	my $source = "$self->{tree}/src/test/regress";

	return $self->files($source, '--dbname=regression', '--max-concurrent-tests=20', "--schedule=$source/parallel_schedule");
}

# The contrib modules that are installed and whose tests copy into tables
sub modules
{
	my ($self) = @_;

	return grep { $self->is_installed($_) && grep { /^\s*\\?copy\s.*\sfrom\s/im } map { slurp($_) } glob("$self->{tree}/contrib/$_/sql/*.sql") }
	  map { basename $_ } sort glob("$self->{tree}/contrib/*");
}

sub is_installed
{
	my ($self, $module) = @_;

	return -e "$self->{share}/extension/$module.control" || $module eq 'test_decoding' && -e "$self->{pkglib}/$module.so";
}

sub module
{
	my ($self, $module) = @_;
	my $source = "$self->{tree}/contrib/$module";
	my ($files) = slurp("$source/Makefile") =~ s/\\\n//gr =~ /^REGRESS\s*=\s*(.*)/m;

	return $self->files($source, '--dbname=contrib_regression', split(' ', $files));
}

# Runs pg_regress; returns what each file did, by its name: "order" in which it
# ended, "diff", which is empty if all was as expected, and "result".
sub files
{
	my ($self, $source, @arguments) = @_;
	my %files;

	push @arguments, "--expecteddir=$source" if $self->{major} >= 16;
	File::Path::remove_tree($self->{out});
	mkdir $self->{out} or die "$self->{out}: $!\n";
	my $said = `cd '$source' && '$self->{test}/regress/pg_regress' --host="\$PGHOST" --port=5432 --user=postgres --bindir="\$(dirname "\$(command -v psql)")" --dlpath='$self->{lib}' --inputdir='$source' --outputdir='$self->{out}' @arguments 2>&1`;
	my %diffs = map { m{\A\S+ .*/([^/]+)\.out\n} ? ($1 => $_) : () }
	  split /^diff (?=-)/m, slurp("$self->{out}/regression.diffs");
	# "test name ... ok 12 ms" before 16, "ok 1 - name 12 ms" from then on
	foreach my $line (split /\n/, $said)
	{
		my ($ok, $name) = $line =~ /^(ok|not ok) \d+\s+[-+] (\w+)/;
		($name, $ok) = $line =~ /^(?:test|    ) (\w+)\s+\.\.\. (ok|FAILED)/ unless $ok;

		next unless $ok;
		$files{$name} = { order => scalar(keys %files), result => slurp("$self->{out}/results/$name.out"),
			diff => $ok eq 'ok' ? '' : "$line\n" . first_lines($diffs{$name} // '') };
	}
	print map { "# $_\n" } split /\n/, $said unless %files;
	return \%files;
}

# Programs that make clusters of their own, as paths below the tree
sub programs
{
	my ($self) = @_;
	my $src = "$self->{tree}/src";

	return map { s{^\Q$src\E/}{}r } sort glob("$src/bin/pg_dump/t/*.pl $src/test/subscription/t/*.pl"),
	  grep { slurp($_) =~ /\bcopy\b.*\bfrom\b/i }
	  glob("$src/bin/psql/t/001_basic.pl $src/bin/pgbench/t/001*.pl $src/bin/pg_amcheck/t/*.pl $src/test/recovery/t/018*.pl");
}

# Runs one whose clusters have these lines in postgresql.conf; returns the end
# of what it said if it failed.
sub program
{
	my ($self, $program, @conf) = @_;
	my $dir = $self->{out};
	my $path = "$self->{tree}/src/$program";

	File::Path::remove_tree($dir);
	mkdir $dir or die "$dir: $!\n";
	write_file("$dir/conf", map { "$_\n" } @conf);
	local %ENV = (%ENV, TEMP_CONFIG => "$dir/conf", TMPDIR => $dir, TESTDIR => $dir, TESTDATADIR => $dir,
		TESTLOGDIR => "$dir/log", PG_REGRESS => "$self->{test}/regress/pg_regress", PG_TEST_TIMEOUT_DEFAULT => 180);
	delete @ENV{qw(PGHOST PGPORT PGUSER PGDATABASE)};
	my $said = `cd '$dir' && perl -I '$self->{test}/perl' -I '@{[ dirname $path ]}' '$path' 2>&1`;
	return '' unless $?;
	my @lines = grep { !/^ok / } split /^/, $said;
	return join('', "exit status $?\n", splice(@lines, @lines > $SHOWN ? -$SHOWN : 0));
}

sub first_lines
{
	my @lines = split /^/, $_[0];

	return join('', splice(@lines, 0, $SHOWN));
}

sub write_file
{
	my ($path, @text) = @_;

	open(my $out, '>', $path) or die "$path: $!\n";
	print $out @text;
	close($out);
}

# What a file holds; nothing if there is none
sub slurp
{
	open(my $in, '<:raw', $_[0]) or return '';
	local $/;
	return <$in> // '';
}

1;
