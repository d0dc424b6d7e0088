# docs/nightly_job.md, word for word, for thirty nights: a file of each day, late
# rows, two days that are sent anew, one file that is broken for two nights, and a
# crash.  In the end the table has the rows of all files as they were sent last,
# and nothing else; the job has mailed on the nights on which it should have.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {}, 'restart_after_crash = on', "timezone = 'UTC'", 'fsync = off');
my $dir = FastCopy::directory();
my $page = slurp_file("$FindBin::Bin/../../docs/nightly_job.md");
my %content;

gates($node);
open_gate();
local $ENV{PGHOST} = $node->host;
local $ENV{PGPORT} = $node->port;

# What the page says to set up, with our directory and database
my ($tables) = $page =~ /^## Set it up\n.*?^```sql\n(.*?)^```$/ms;
my ($script) = $page =~ /^## The script\n(.*?)^## /ms;
my @blocks = map { s{/data/}{$dir/}gr =~ s/-d mydb/-d postgres/r } $script =~ /^```sh\n(.*?)^```$/gms;

is(@blocks, 2, 'the page has the statements and the job');
$node->safe_psql('postgres', $tables);
$node->safe_psql('postgres', 'ALTER TABLE events ADD CHECK (gate(device))');
system('bash', '-e', '-c', $_) == 0 or die "$_: $?" foreach @blocks;
mkdir "$dir/in" or die "$dir/in: $!";
chmod 0755, "$dir/in";

# Files that have been there for an hour, or were written just now
sub send_file
{
	my ($name, $rows, $age) = @_;
	my $path = write_bytes("in/$name", "at,device,reading\n$rows");
	my $when = time - ($age // 3600);

	utime($when, $when, $path) or die "$path: $!";
	$content{$name} = $rows;
}

# Of a day of January
sub rows
{
	my ($day, $device, $n, $reading) = @_;

	return join('', map { sprintf "2024-01-%02d %02d:%02d,%d,%s\n", $day, $_ % 24, $_ * 7 % 60, $device + $_, $reading } 1 .. $n);
}

# Runs the job; returns its exit status and what it says
sub job
{
	my ($out, $err) = ('', '');

	IPC::Run::run([ "$dir/nightly" ], '<', '/dev/null', '>', \$out, '2>', \$err);
	return ($? >> 8, $err . $out);
}

sub is_quiet
{
	my ($what) = @_;

	is(join(': ', job()), '0: ', "$what: all is loaded, and nothing said");
}

# The table has the rows of these files
sub is_whole
{
	my ($what, @files) = @_;
	my $all = write_bytes('all.csv', join('', map { $content{$_} } @files));

	is($node->safe_psql('postgres', "CREATE TEMP TABLE shall (at timestamp, device int, reading float8); COPY shall FROM '$all' (FORMAT csv);
		SELECT (SELECT count(*) FROM shall), (SELECT count(*) FROM ((TABLE shall EXCEPT ALL TABLE events) UNION ALL (TABLE events EXCEPT ALL TABLE shall)) AS d)"),
		(() = join('', map { $content{$_} } @files) =~ /\n/g) . '|0', "$what: the rows of all files, and no others");
}

my %nights = (
	9 => sub {
		my ($name) = @_;

		# rows of two days come late, and one day of these is sent anew, with a row less
		send_file('day-2024-01-06.csv', rows(6, 100, 39, 0.25));
		is_quiet($name);
	},
	14 => sub {
		my ($name) = @_;

		# a crash in the middle, while rows are written
		close_gate();
		send_file('late-2024-01-14.csv', rows(12, 6, 1, 'NaN') . rows(13, 400, 3, 'NaN'));
		my $run = IPC::Run::start([ "$dir/nightly" ], '<', '/dev/null', '>', \my $out, '2>', \my $err);
		ok(at_gate($node), "$name: a load is at work");
		like(join(' ', job()), qr/^1 nightly: the job before this one is still at work$/, "$name: a second job does not begin");
		kill_hard($node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'"));
		$run->finish;
		is($? >> 8, 1, "$name: it fails");
		like($out, qr/not everything is loaded; psql's exit status is 2/, "$name: and says so");
		open_gate();
		ok(wait_until($node, 'SELECT true'), 'the server is back');
		is_quiet("$name, called again");
	},
	19 => sub {
		my ($name) = @_;

		# one file is broken, and one is still being written to
		send_file('day-2024-01-19.csv', rows(19, 100, 10, 1) . "2024-01-19 12:00,1,much\n");
		send_file('day-2024-01-18.csv', rows(18, 100, 41, 7.5));
		send_file('late-2024-01-19.csv', rows(17, 300, 2, 2), 0);
		my ($status, $said) = job();
		is($status, 1, "$name: it fails");
		like($said, qr/WARNING:  file ".*day-2024-01-19\.csv", line 12, was not loaded: invalid input syntax for type double precision: "much"\n.*ERROR:  1 file was not loaded\n.*psql's exit status is 3/s, "$name: it mails the file and its line");
		unlike($said, qr/day-2024-01-18|late-2024/, "$name: and nothing else");
		is_whole($name, grep { $_ !~ /(day|late)-2024-01-19/ } keys %content);
	},
	20 => sub {
		my ($name) = @_;

		is((job())[0], 1, "$name: it mails once more");
		send_file('day-2024-01-19.csv', rows(19, 100, 10, 1));
		send_file('late-2024-01-19.csv', rows(17, 300, 2, 2));
		is_quiet("$name, mended");
	},
	22 => sub {
		my ($name) = @_;
		my @sent = ('late-2024-01-20.csv', 'day-2024-01-17.csv');
		my %old = map { $_ => $content{$_} } @sent;

		# rows of a day that is sent anew were late, and these are written to just now
		send_file($sent[0], $old{$sent[0]} . rows(21, 600, 2, 4), 0);
		send_file($sent[1], rows(17, 100, 35, 4));
		my ($status, $said) = job();
		is($status, 1, "$name: it fails");
		like($said, qr/ERROR:  a file with late rows of 2024-01-17 has changed meanwhile/, "$name: it mails why");
		my %new = %content;
		%content = (%content, %old);
		is_whole("$name: meanwhile", keys %content);
		send_file($sent[0], $old{$sent[0]});
		send_file($sent[1], $new{$sent[1]});
		is_quiet("$name, when the late rows are the old ones");
		is_whole($name, keys %content);
	},
	23 => sub {
		my ($name) = @_;

		# two days at once, one of them for the second time, and rows that are late for both
		send_file('late-2024-01-23.csv', rows(6, 500, 5, 3) . rows(18, 500, 5, 3));
		send_file('day-2024-01-06.csv', rows(6, 100, 55, 0.75));
		send_file('day-2024-01-18.csv', rows(18, 100, 30, 8.5));
		is_quiet($name);
	},
	27 => sub {
		my ($name) = @_;
		my %old = map { $_ => $content{$_} } 'late-2024-01-24.csv', 'day-2024-01-21.csv';

		# late rows are sent anew, too: nobody says what becomes of the old ones
		send_file('late-2024-01-24.csv', rows(23, 200, 4, 0) . rows(21, 300, 2, 0));
		send_file('day-2024-01-21.csv', rows(21, 100, 45, 0));
		my ($status, $said) = job();
		is($status, 1, "$name: it fails");
		like($said, qr/(WARNING:  file ".*(day-2024-01-21|late-2024-01-24)\.csv" was not loaded: .* has changed since it was loaded\n(DETAIL|HINT).*){2}ERROR:  2 files were not loaded/s, "$name: it mails which files have changed");
		my %new = %content;
		%content = (%content, %old);
		is_whole("$name: meanwhile", keys %content);
		send_file('late-2024-01-24.csv', $old{'late-2024-01-24.csv'});
		send_file('day-2024-01-21.csv', $new{'day-2024-01-21.csv'});
		is_quiet("$name, when the late rows are the old ones");
		is_whole($name, keys %content);
	});

foreach my $night (1 .. 30)
{
	my $day = sprintf('2024-01-%02d', $night);

	send_file("day-$day.csv", rows($night, 100, 40, $night / 2));
	send_file("late-$day.csv", rows($night - 1, 200, 5, -$night) . rows($night - 3, 300, 3, -$night)) if $night % 4 == 0;
	($nights{$night} // sub { is_quiet(@_) })->("night $night");
	is_whole("night $night", keys %content) if $night % 5 == 4 && $night != 19 || $night == 30;
}
is($node->safe_psql('postgres', 'SELECT state, count(*), count(sqlstate) FROM loads.ledger GROUP BY state'), 'loaded|' . keys(%content) . '|0', 'each file has its line');
is_quiet('once more');
is_whole('once more', keys %content);

$node->stop;
done_testing();
