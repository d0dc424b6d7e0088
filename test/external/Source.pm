# The server's source package: found by the machine's own package lists, read
# into a directory of ours.  Nothing of the machine's package state changes.

package Source;

use strict;
use warnings;

# The unpacked tree of the version that is installed as $version, which is
# fetched into $dir.  Dies with the reason if there is none.
sub fetch
{
	my ($class, $dir, $major) = @_;

	mkdir $_ or die "$_: $!\n" foreach "$dir/apt", map { "$dir/apt/$_" } qw(lists cache parts get);
	write_list("$dir/apt/sources.list", "$dir/apt/parts");
	my @options = ('-o', "Dir::Etc::SourceList=$dir/apt/sources.list",
		'-o', "Dir::Etc::SourceParts=$dir/apt/parts", '-o', "Dir::State::Lists=$dir/apt/lists",
		'-o', "Dir::Cache=$dir/apt/cache", '-o', 'APT::Sandbox::User=');
	command($dir, 'apt-get', '-q', @options, 'update');
	my $tar = download("$dir/apt/get", \@options, installed($major));
	command($dir, 'tar', '-xf', $tar);
	my ($tree) = glob("$dir/postgresql-*/src/test/regress");
	die "no regression tests in $tar\n" unless $tree;
	return $tree =~ s{/src/test/regress$}{}r;
}

# Source lines for each line the machine has for its packages.
sub write_list
{
	my ($list, $parts) = @_;
	my $n = 0;

	open(my $out, '>', $list) or die "$list: $!\n";
	foreach my $file (grep { -r } '/etc/apt/sources.list', glob('/etc/apt/sources.list.d/*.list'))
	{
		print $out map { s/^\s*deb\s/deb-src /r } grep { /^\s*deb\s/ } slurp($file);
	}
	close($out);
	foreach my $file (glob('/etc/apt/sources.list.d/*.sources'))
	{
		open(my $part, '>', "$parts/" . $n++ . '.sources') or die "$parts: $!\n";
		print $part map { s/^Types:.*/Types: deb-src/ir } slurp($file);
		close($part);
	}
}

# Source package and version of the server that is installed.
sub installed
{
	my ($major) = @_;
	my $line = `dpkg-query -W -f '\${source:Package} \${source:Version}' postgresql-$major 2>/dev/null`;

	return split(' ', $line) if $line =~ /\S/;
	return ("postgresql-$major", undef);
}

# The archive of the installed version; where the mirror has lost it, of the
# newest one that it has.
sub download
{
	my ($dir, $options, $package, $version) = @_;
	my $list = command($dir, 'apt-cache', @$options, 'showsrc', '--only-source', $package);
	my @versions = sort { order($b) cmp order($a) } $list =~ /^Version: (\S+)/mg;
	my $why;

	@versions = ((grep { $_ eq $version } @versions), (grep { $_ ne $version } @versions)) if $version;
	foreach my $try (@versions)
	{
		eval {
			command($dir, 'apt-get', '-q', @$options, '--download-only', '--only-source',
				'source', "$package=$try");
		};
		$why //= $@;
		my ($tar) = glob("$dir/*.orig.tar.*");
		return $tar if $tar && !$@;
	}
	die $why // "the package lists have no source of $package\n";
}

# Versions in an order that strings have.
sub order { return $_[0] =~ s/(\d+)/sprintf '%09d', $1/ger }

# Runs a command in a directory and returns its output.
sub command
{
	my ($dir, @command) = @_;
	my $quoted = join(' ', map { "'" . s/'/'\\''/gr . "'" } @command);
	my $out = `cd '$dir' && $quoted 2>&1`;

	my @lines = split(/\n/, $out);

	die "$command[0] failed: " . join("\n", splice(@lines, @lines > 8 ? -8 : 0)) . "\n" if $?;
	return $out;
}

sub slurp
{
	open(my $in, '<', $_[0]) or return;
	return <$in>;
}

1;
