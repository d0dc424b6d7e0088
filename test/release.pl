#!/usr/bin/perl
#
# test/release.pl TREE [PART...]
#
# Is a tree ready to be released?  Walks the list of docs/contributing.md, point by
# point (or these parts of it alone: versions changelog publisher scripts updates docs
# repository), and prints TAP.  "updates" and "docs" ask the server that libpq's
# variables name, where the tree is installed, in a database of their own.

use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename;
use File::Temp;
use FindBin;
use JSON::PP ();

my $tree = abs_path(shift // die "usage: test/release.pl TREE [PART...]\n");
my %parts = (versions => \&versions, changelog => \&changelog, publisher => \&publisher, scripts => \&kept_scripts,
	updates => \&updates, docs => \&documents, repository => \&repository);
my @parts = @ARGV ? @ARGV : qw(versions changelog publisher scripts updates docs repository);
my $config = $ENV{PG_CONFIG} // 'pg_config';
my $database = 'fast_copy_release';
my ($n, $failures) = (0, 0);

require "$FindBin::Bin/extension.pl";
my ($version) = slurp('fast_copy.control') =~ /^default_version = '(.*)'/m or die "$tree: fast_copy.control has no version\n";
my %wing = (fast_copy => 'sql', fast_copy_cluster => 'cluster');
($parts{$_} // die "test/release.pl: there is no part $_\n")->() foreach @parts;
print "1..$n\n";
exit($failures > 0);

# ---- what can be read ------------------------------------------------------------

# All that tells the version tells the same one.
sub versions
{
	my $meta = JSON::PP->new->decode(slurp('META.json'));
	my %told = map { $_->[0] => slurp($_->[0]) =~ $_->[1] ? $1 : 'none' } (
		[ 'cluster/fast_copy_cluster.control', qr/^default_version = '(.*)'/m ],
		[ 'debian/changelog', qr/\A\S+ \((.*)-\d/ ],
		[ 'packaging/fast_copy.spec', qr/^Version:\s+(\S+)/m ],
		[ 'CHANGELOG.md', qr/^## (\S+)/m ]);

	$told{'the last entry of packaging/fast_copy.spec'} = slurp('packaging/fast_copy.spec') =~ /^%changelog\n\* .* - (\S+)-\d+$/m ? $1 : 'none';
	$told{'META.json'} = $meta->{version};
	$told{"META.json, $_"} = $meta->{provides}{$_}{version} foreach keys %{ $meta->{provides} };
	report("all tell version $version", map { "$_ tells $told{$_}" } grep { $told{$_} ne $version } sort keys %told);
	report('META.json names files that are there', grep { !-f "$tree/$_" } map { @$_{qw(file docfile)} } values %{ $meta->{provides} });
	report('META.json calls it stable', $meta->{release_status} eq 'stable' ? () : $meta->{release_status});
}

# The day of the release, as all three changelogs have it, and what has changed
sub changelog
{
	my ($day, $entry) = slurp('CHANGELOG.md') =~ /^## \Q$version\E \((\d{4}-\d\d-\d\d)\)\n(.*?)(?=^## |\z)/ms;
	my @found = slurp('debian/changelog') =~ /\A\S+ \(\S+\) UNRELEASED;/ ? 'debian/changelog: UNRELEASED' : ();
	my %days = ('debian/changelog' => slurp('debian/changelog') =~ /^ -- .*>  (.*)$/m ? $1 : 'none',
		'packaging/fast_copy.spec' => slurp('packaging/fast_copy.spec') =~ /^%changelog\n\* (\w+ \w+ +\d+ \d+) /m ? $1 : 'none');

	report('CHANGELOG.md has an entry for it, with the day', defined $day ? () : "no \"## $version (YYYY-MM-DD)\"",
		!defined $day || $entry =~ /^- \S/m ? () : 'it says nothing of what has changed');
	foreach my $file (sort keys %days)
	{
		my $theirs = `date -u -d '$days{$file}' +%F 2>/dev/null`;

		chomp $theirs;
		push @found, "$file: $days{$file}" if $theirs ne ($day // '');
	}
	report('and so have the packages', @found);
}

# Who publishes it has a name, and no page says that there is no release yet.
sub publisher
{
	my @files = map { s{^\Q$tree/}{}r } glob("$tree/*.md $tree/*.json $tree/docs/*.md $tree/debian/* $tree/packaging/* $tree/.github/ISSUE_TEMPLATE/*");

	report('the addresses are a publisher\'s', map { "$_ names example.org" }
		grep { slurp($_) =~ m{https://example\.org/fast_copy|fast-copy\@example\.org} } grep { -f "$tree/$_" } @files);
	report('no page says that there is no release, or no public address', map { my $file = $_; map { "$file: $_" }
		slurp($file) =~ /([Tt]here is no public (?!address)[^.:;]*|not released yet|No release is published)/g } grep { /\.md$/ } @files);
}

# Each version has the script that makes it, and those of released ones are as they were.
sub kept_scripts
{
	my @found;

	foreach my $extension (sort keys %wing)
	{
		my $path = "$wing{$extension}/$extension--$version.sql";

		push @found, "$path is not kept" if git('ls-files', $path) eq '';
	}
	report("the scripts of $version are kept", @found);
	# the recipe, without its file
	my ($recipe) = `make -n -C '$tree' PG_CONFIG='$config' -W sql/fast_copy.sql.in 'sql/fast_copy--$version.sql'` =~ /^(.* sql\/fast_copy\.sql\.in) >\S+$/m;
	my $made = $recipe ? `cd '$tree' && $recipe` : '';
	report('that of fast_copy is what is made now', $made ne '' && $made eq slurp("sql/fast_copy--$version.sql") ? () : 'another one is made of sql/fast_copy.sql.in');
	report('those of released versions have not changed', map { my $tag = $_;
		map { "$_ differs from $tag" } split /\n/, git('diff', '--name-only', '--diff-filter=MD', $tag, '--', 'sql/fast_copy--*.sql', 'cluster/*.sql') }
		split /\n/, git('tag', '-l', 'v*'));
}

# ---- what a server says ---------------------------------------------------------

# Every version that has a script becomes this one, and is then as if made anew.
sub updates
{
	psql('postgres', "DROP DATABASE IF EXISTS $database", "CREATE DATABASE $database");
	foreach my $extension (sort keys %wing)
	{
		my ($full, @reached) = scripts("$tree/$wing{$extension}", $extension);

		# who has only the scripts that update has no older version to begin with
		foreach my $old (grep { $_ ne $version } @$full)
		{
			my $anew = eval { state_of($extension, $version) } // '';
			my ($state, $notice) = eval { updated($extension, $old, $version) };

			report("$extension $old, updated to $version, is what $version makes from nothing",
				defined $state && $state eq $anew ? () : (split(/\n/, $notice // $@), differing($anew, $state // '')));
		}
		my @lost = grep { try_sql("SELECT 'there is a way' FROM pg_extension_update_paths('$extension') WHERE source = '$_' AND target = '$version' AND path IS NOT NULL") !~ /there is a way/ }
		  grep { $_ ne $version } @$full, @reached;
		report("a way leads from each version of $extension to $version", map { "none from $_" } @lost);
	}
	psql('postgres', "DROP DATABASE $database");
}

# Lines that only one of two texts has
sub differing
{
	my %in = map { $_ => 1 } split /\n/, $_[0];
	my %there = map { $_ => 1 } split /\n/, $_[1];

	return ((map { "- $_" } grep { !$there{$_} } sort keys %in), map { "+ $_" } grep { !$in{$_} } sort keys %there);
}

# "make docs" would change nothing.
sub documents
{
	my $copy = File::Temp->newdir;

	psql('postgres', "DROP DATABASE IF EXISTS $database", "CREATE DATABASE $database");
	run("cd '$tree' && cp -R --parents README.md docs test/docs bench '$copy'");
	local $ENV{PGDATABASE} = $database;
	my $said = `cd '$copy' && { test/docs/reference && bench/chart README.md docs/benchmark.svg; } 2>&1`;
	my @found = $? ? (split(/\n/, $said))[ 0 .. 4 ] : map { /^Files \S+ and (\S+)/ ? $1 : $_ } split /\n/, `diff -rq '$copy/docs' '$tree/docs'`;
	psql('postgres', "DROP DATABASE $database");
	report('"make docs" changes nothing', @found);
}

# ---- the repository --------------------------------------------------------------

sub repository
{
	report('all is committed', split /\n/, git('status', '--porcelain'));
	my $tagged = git('rev-list', '-n', '1', "v$version");
	report("the tag v$version is not set, or on this commit", $tagged eq '' || $tagged eq git('rev-parse', 'HEAD') ? () : "it is on $tagged");
}

# ---- tools -----------------------------------------------------------------------

sub report
{
	my ($name, @found) = @_;

	$n++;
	$failures++ if @found;
	print @found ? 'not ok' : 'ok', " $n - $name\n";
	print "# $_\n" foreach grep { defined } @found;
}

sub git
{
	my $out = qx(git -C '$tree' @{[ map { "'$_'" } @_ ]} 2>/dev/null);

	chomp $out;
	return $out;
}

sub run
{
	my ($command) = @_;
	my $out = `($command) 2>&1 </dev/null`;

	die "$command\n$out\n" if $?;
	return $out;
}

sub psql
{
	my ($where, @commands) = @_;
	my $out = run("psql -X -q -A -t -v ON_ERROR_STOP=1 -d $where " . join(' ', map { "-c '" . s/'/'\\''/gr . "'" } 'SET client_min_messages = error', @commands));

	chomp $out;
	return $out;
}

sub sql { return psql($database, @_) }

sub try_sql
{
	my ($sql) = @_;

	return `psql -X -q -A -t -d $database @{[ map { "-c '" . s/'/'\\''/gr . "'" } split /;\s*/, $sql ]} 2>&1 </dev/null`;
}

# A file of the tree
sub slurp
{
	open(my $in, '<:raw', "$tree/$_[0]") or return '';
	local $/;
	return scalar <$in>;
}
