# A job that runs every night, for thirty nights: files of days, late rows and
# corrections, devices that are new or renamed, files that are sent again with the
# same content or with another one, crashes in the middle, readers and writers all
# the while.  In the end the tables are what SQL says.

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
my $shall = ''; # what SQL does with the files of a night

mkdir $dir or die "$dir: $!";
chmod 0755, $dir;
$node->safe_psql('postgres', "
	CREATE TABLE events (at timestamp NOT NULL, device int, reading float8) PARTITION BY RANGE (at);
	CREATE TABLE events_2023 PARTITION OF events FOR VALUES FROM ('2023-12-01') TO ('2023-12-02');
	CREATE INDEX ON events (device);
	SELECT fast_copy_create_ledger_table('ledger');
	CREATE TABLE devices (device int PRIMARY KEY, name text, loads int DEFAULT 1);
	CREATE TABLE shall (LIKE events);
	CREATE TABLE shall_devices (LIKE devices INCLUDING ALL);
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

sub copy_in
{
	my ($table, $name) = @_;

	return "COPY $table FROM '$dir/$name' (FORMAT csv);\n";
}

# What one night brings, and what it means
sub evening
{
	my ($night) = @_;
	my $file = sub { return sprintf("%s-%02d.csv", @_) };

	send_file($file->('day', $night), rows($night, 0, 600, $night));
	$shall = copy_in('shall', $file->('day', $night));
	# a file that is only copied anew
	send_file($file->('day', $night - 1), $content{ $file->('day', $night - 1) }) if $night % 5 == 0;
	# one with other rows, which take the place of all that the day has
	if ($night % 6 == 5)
	{
		send_file($file->('day', $night - 2), rows($night - 2, 20_000, 700, 0.5));
		$shall .= sprintf("DELETE FROM shall WHERE at >= '2024-01-%02d' AND at < '2024-01-%02d';\n", $night - 2, $night - 1) . copy_in('shall', $file->('day', $night - 2));
	}
	# rows of three days ago: new ones, and others that correct those that are there
	if ($night % 4 == 0)
	{
		send_file($file->('late', $night), rows($night - 3, 10_000, 50, 'NaN') . rows($night - 3, 0, 30, -$night));
		$shall .= "CREATE TEMP TABLE late (LIKE events);\n" . copy_in('late', $file->('late', $night)) .
		  'DELETE FROM shall USING late WHERE (shall.at, shall.device) = (late.at, late.device); INSERT INTO shall TABLE late; DROP TABLE late;';
	}
	send_file($file->('devices', $night), join('', map { sprintf "%d,name %d of night %d\n", $_, $_ * $_, $night } $night * 3 .. $night * 5));
	$shall .= "CREATE TEMP TABLE stage (device int, name text);\n" . copy_in('stage', $file->('devices', $night)) .
	  'INSERT INTO shall_devices (device, name) TABLE stage ON CONFLICT (device) DO UPDATE SET name = excluded.name; DROP TABLE stage;';
}

my $call = "CALL fast_copy_files('events', '$dir/day-*.csv', 'ledger', batch_files => 2, on_failure => 'skip');\n";

# Files that have changed take the place of what they gave
my $changed = q(SELECT format($$SELECT fast_copy('events', %L, options => '{"ledger": "ledger", "changed_files": "load", "existing_rows": "replace", "other_files": "replace"}')$$, path)
	FROM ledger WHERE sqlstate = '55000' ORDER BY path \gexec
);

# Then come late rows, which are put in order with the others, and devices
my $more = qq(CALL fast_copy_files('events', '$dir/late-*.csv', 'ledger', options => '{"existing_rows": "merge", "dedup_keys": ["at", "device"]}');
	CALL fast_copy_files('devices', '$dir/devices-*.csv', 'ledger', options => '{"columns": ["device", "name"], "on_conflict": "update"}');
);

# The job; on some nights it is killed, and started again
sub night
{
	my ($night) = @_;

	if ($night % 7 == 3)
	{
		my $job = start_load($node, $call . $changed . $more);

		usleep(20_000 + $night * 3_000);
		my $pid = ($node->psql('postgres', "SELECT pid FROM pg_stat_activity WHERE query LIKE 'CALL%' OR query LIKE 'SELECT fast_copy(%'"))[1];
		kill_hard($pid // '');
		finish_load($job);
		ok(wait_until($node, 'SELECT true'), 'the server is back');
	}
	my ($out, $err) = finish_load(start_load($node, $call . $changed . $more));

	unlike($err, qr/ERROR|FATAL/, "night $night") or diag($err);
	$node->safe_psql('postgres', $shall);
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

$node->safe_psql('postgres', "INSERT INTO shall SELECT * FROM events WHERE at < '2024-01-01'");
foreach my $table (qw(events devices))
{
	my $other = $table eq 'events' ? 'shall' : 'shall_devices';
	is($node->safe_psql('postgres', "SELECT count(*) FROM ((TABLE $table EXCEPT ALL TABLE $other) UNION ALL (TABLE $other EXCEPT ALL TABLE $table)) AS d"), 0, "$table is what SQL says");
}
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM events WHERE reading < 0'), '>=', 150, 'rows are corrected');
is($node->safe_psql('postgres', "SELECT count(*) > 0 FROM events WHERE at < '2024-01-01'"), 't', 'the writer has written');
is($node->safe_psql('postgres', 'SELECT state, count(*), count(sqlstate) FROM ledger GROUP BY state'), 'loaded|' . keys(%content) . '|0', 'each file has its line');
is($node->safe_psql('postgres', 'SELECT count(*) FROM events'), $node->safe_psql('postgres', 'SELECT count(*) FROM events WHERE device >= 0'), 'by the index, too');
my ($out, $err) = finish_load(start_load($node, $call . $more));
is(join(' ', $err =~ /fast_copy_files: (\d+ loaded)/g), '0 loaded 0 loaded 0 loaded', 'nothing is left to do');

$node->stop;
done_testing();
