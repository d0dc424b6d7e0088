# Dumps, restored with the setting on, must give what they give with it off.

package Restore;

use strict;
use warnings;
use Server;

# How the database "regression" is dumped; DUMP stands for the dump.
my %DUMPS = (
	custom => 'pg_dump -Fc -f DUMP regression',
	directory => 'pg_dump -Fd -j 2 -f DUMP regression',
	plain => 'pg_dump -f DUMP regression');

# How the dumps are restored into the database NEW.  Into a table that is not
# made or emptied in the same transaction, COPY itself puts rows where an earlier
# page has room for them: the last two compare rows without their order.
my @WAYS = (
	[ 'custom', 'pg_restore -d NEW -j 2 DUMP' ],
	[ 'custom', 'pg_restore -d NEW --single-transaction DUMP' ],
	[ 'plain', 'psql -X -q -d NEW -f DUMP', 1 ],
	[ 'directory', 'pg_restore -d NEW --schema-only DUMP; pg_restore -d NEW --data-only --disable-triggers -j 2 DUMP', 1 ]);

# Calls a function for each test, with a label and what is wrong.
sub all
{
	my ($server, $report) = @_;
	my $dir = $server->{dir};

	Server::command($DUMPS{$_} =~ s{DUMP}{$dir/$_}r) foreach sort keys %DUMPS;
	foreach my $way (@WAYS)
	{
		my ($dump, $command, $sorted) = @$way;
		my $label = $command =~ s/ -d NEW//gr =~ s/DUMP/$dump/gr;
		my %said;

		$command =~ s{DUMP}{$dir/$dump}g;
		$said{off} = restore($dir, $command, 'off', $sorted);
		my $before = $server->loads;
		$said{on} = restore($dir, $command, 'on', $sorted);
		my $loads = $server->loads - $before;
		$report->("$label: the same database", difference("$dir/off", "$dir/on"));
		$report->("$label: the same messages", $said{off} eq $said{on} ? '' : "off: $said{off}\non: $said{on}");
		$report->("$label: $loads loads", $loads > 50 ? '' : 'too few');
	}
	large($server, $report);
}

# Restores into a new database and dumps that into the file $setting; returns
# what was said, in an order that two at a time do not change.
sub restore
{
	my ($dir, $command, $setting, $sorted) = @_;
	my $said;

	Server::command('dropdb --if-exists restored && createdb -T template0 restored');
	{
		local $ENV{PGOPTIONS} = $setting eq 'off' ? '-c fast_copy.accelerate_copy=off' : '';
		$said = `{ @{[ $command =~ s/NEW/restored/gr ]}; } 2>&1`;
	}
	write_dump("$dir/$setting", $sorted);
	return join('', sort split /^/, $said);
}

# Writes the dump of what was restored into a file, the rows of each table in
# the order of their bytes if they are to be sorted.
sub write_dump
{
	my ($path, $sorted) = @_;
	my ($within, @rows);

	open(my $in, '-|', 'pg_dump restored') or die "pg_dump: $!\n";
	open(my $out, '>', $path) or die "$path: $!\n";
	while (my $line = <$in>)
	{
		if ($within && $line ne "\\.\n") { push @rows, $line; next }
		print $out sort splice(@rows) if $within;
		# newer ones have a random word in them
		print $out $line unless $line =~ /^\\(?:un)?restrict /;
		$within = $sorted && $line =~ /^COPY .* FROM stdin;$/;
	}
	close($in) && close($out) or die "pg_dump failed\n";
}

sub difference
{
	my ($one, $other) = @_;

	my $diff = `diff -a -U 1 '$one' '$other' | head -n 60`;

	return -s $one ? $diff : "$one is empty\n";
}

# A table of a size from which the setting acts by default
sub large
{
	my ($server, $report) = @_;
	my $dump = "$server->{dir}/large";
	my $rows = 100000;
	my (%sum, %loads);

	Server::command("createdb large && psql -X -q -d large -c \"CREATE TABLE large AS
		SELECT n AS id, timestamp '2024-01-01' + n * interval '1 minute' AS at, repeat(md5(n::text), 3) AS text
		FROM generate_series(1, $rows) n; ALTER TABLE large ADD PRIMARY KEY (id)\" && pg_dump -Fc -f '$dump' large");
	foreach my $setting ('off', 'on')
	{
		my $before = $server->loads;

		local $ENV{PGOPTIONS} = "-c fast_copy.accelerate_copy=$setting -c fast_copy.accelerate_min_size=8MB";
		Server::command("dropdb large && createdb large && pg_restore -d large '$dump'");
		$sum{$setting} = `psql -X -d large -c 'COPY large TO STDOUT' | md5sum; psql -X -A -t -d large -c 'SELECT count(*) FROM large'`;
		$loads{$setting} = $server->loads - $before;
	}
	$report->("a table of $rows rows: the same rows in the same order", $sum{off} eq $sum{on} && $sum{on} =~ /^$rows$/m ? '' : "off: $sum{off}\non: $sum{on}");
	$report->("a table of $rows rows: was accelerated", "$loads{off}, $loads{on}" eq '0, 1' ? '' : "$loads{off}, $loads{on} loads");
}

1;
