# A job that runs every night, for thirty nights: files of days, late rows, files
# that are sent again with the same content or with another one, crashes in the
# middle, readers and writers all the while.  In the end the table is what SQL
# says.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = new_node('main', {}, 'restart_after_crash = on', "timezone = 'UTC'", 'fsync = off');
my $dir = FastCopy::directory() . '/in';
my %content;    # of each file, as it was sent last
my %day;        # the file that the rows of a day come from, and late ones

mkdir $dir or die "$dir: $!";
chmod 0755, $dir;
$node->safe_psql('postgres', "
	CREATE TABLE events (at timestamp NOT NULL, device int, reading float8) PARTITION BY RANGE (at);
	CREATE TABLE events_2023 PARTITION OF events FOR VALUES FROM ('2023-12-01') TO ('2023-12-02');
	CREATE INDEX ON events (device);
	SELECT fast_copy_create_ledger_table('ledger');
	CREATE TABLE seen (day date PRIMARY KEY)");

# Of day 1 to 30 of January, from the device on
sub rows
{
	my ($day, $device, $n, $reading) = @_;

	return join('', map { sprintf "2024-01-%02d %02d:%02d:%02d,%d,%s\n", $day, $_ * 7 % 24, $_ * 13 % 60, $_ % 60, $device + $_, $reading } 1 .. $n);
}

sub send_file
{
	my ($name, $rows) = @_;

	write_bytes('next', $rows);
	rename(FastCopy::directory() . '/next', "$dir/$name") or die "$name: $!";
	$content{$name} = $rows;
}

# What one night brings
sub evening
{
	my ($night) = @_;

	send_file(sprintf('day-%02d.csv', $night), rows($night, 0, 600, $night));
	# rows of three days ago; a file that is only copied anew; one with other rows
	send_file(sprintf('late-%02d.csv', $night), rows($night - 3, 10_000, 50, 'NaN')) if $night % 4 == 0;
	send_file(sprintf('day-%02d.csv', $night - 1), $content{ sprintf('day-%02d.csv', $night - 1) }) if $night % 5 == 0;
	send_file(sprintf('day-%02d.csv', $night - 2), rows($night - 2, 20_000, 700, 0.5)) if $night % 6 == 5;
}

my $call = "CALL fast_copy_files('events', '$dir/*.csv', 'ledger', batch_files => 2, on_failure => 'skip');\n";

# Files that have changed take the place of what they gave
my $changed = q(SELECT format($$SELECT fast_copy('events', %L, options => '{"ledger": "ledger", "changed_files": "load", "existing_rows": "replace"}')$$, path)
	FROM ledger WHERE sqlstate = '55000' ORDER BY path \gexec
);

# The job; on some nights it is killed, and started again
sub night
{
	my ($night) = @_;

	if ($night % 7 == 3)
	{
		my $job = start_load($node, $call . $changed);

		usleep(20_000 + $night * 3_000);
		my $pid = ($node->psql('postgres', "SELECT pid FROM pg_stat_activity WHERE query LIKE 'CALL%' OR query LIKE 'SELECT fast_copy(%'"))[1];
		kill 'KILL', $pid if $pid;
		finish_load($job);
		$node->poll_query_until('postgres', 'SELECT true') or die 'the server does not come back';
	}
	my ($out, $err) = finish_load(start_load($node, $call . $changed));

	unlike($err, qr/ERROR|FATAL/, "night $night") or diag($err);
	$node->safe_psql('postgres', sprintf("INSERT INTO seen VALUES ('2024-01-%02d')", $night));
}

# Readers, who find each day that was there full; and a writer of another day
my $reader = write_bytes('reader.sql', "SELECT day FROM seen ORDER BY random() LIMIT 1 \\gset\nSELECT 1 / (count(*) / 600) FROM events WHERE at >= :'day'::date AND at < :'day'::date + 1;\n");
my $writer = write_bytes('writer.sql', "INSERT INTO events VALUES ('2023-12-01', 1, 1);\n");
my ($readers, $writers, $answers) = (0, 0, 0);

sub watch
{
	my @said = map { my $said = ''; [ IPC::Run::start([ 'pgbench', '-n', '-M', $_->[1], '-c', 2, '-T', 600, '-f', $_->[0], $node->connstr('postgres') ], '>', \$said, '2>&1'), \$said ] }
	  ([ $reader, 'prepared' ], [ $reader, 'simple' ], [ $writer, 'simple' ]);

	return @said;
}

# Ends them; returns what was wrong with what they saw
sub unwatch
{
	my @said = @_;

	return join('', map {
		$_->[0]->signal('TERM');
		eval { $_->[0]->finish };
		grep { /division by zero|could not read|unexpected/ } split(/^/, ${ $_->[1] })
	} @said);
}

evening($_), night($_) foreach 1, 2;
my @watchers = watch();
my $wrong = '';
foreach my $night (3 .. 30)
{
	evening($night);
	night($night);
	# a crash ends all sessions
	$wrong .= unwatch(@watchers), @watchers = watch() if $night % 7 == 3;
}
$wrong .= unwatch(@watchers);
is($wrong, '', 'readers find each day full');

# By SQL: the files as they were sent last, but a late one whose day was replaced after it
my %replaced = map { $_ - 2 => $_ } grep { $_ % 6 == 5 } 1 .. 30;
my @shall = grep { !/late-(\d+)/ || ($replaced{ $1 - 3 } // 0) <= $1 } sort keys %content;
$node->safe_psql('postgres', "CREATE TABLE shall (LIKE events); INSERT INTO shall SELECT * FROM events WHERE at < '2024-01-01'");
$node->safe_psql('postgres', join(';', map { "COPY shall FROM '$dir/$_' (FORMAT csv)" } @shall));
is($node->safe_psql('postgres', 'SELECT count(*) FROM ((TABLE events EXCEPT ALL TABLE shall) UNION ALL (TABLE shall EXCEPT ALL TABLE events)) AS d'), 0, 'the table is what SQL says');
is($node->safe_psql('postgres', "SELECT count(*) > 0 FROM events WHERE at < '2024-01-01'"), 't', 'the writer has written');
is($node->safe_psql('postgres', 'SELECT state, count(*), count(sqlstate) FROM ledger GROUP BY state'), 'loaded|' . keys(%content) . '|0', 'each file has its line');
is($node->safe_psql('postgres', 'SELECT count(*) FROM events'), $node->safe_psql('postgres', 'SELECT count(*) FROM events WHERE device >= 0'), 'by the index, too');
my ($out, $err) = finish_load(start_load($node, $call));
like($err, qr/: 0 loaded, @{[ scalar keys %content ]} loaded before, 0 failed/, 'nothing is left to do');

$node->stop;
done_testing();
