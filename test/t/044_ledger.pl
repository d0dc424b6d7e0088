# The ledger beside other sessions, and fast_copy_files(): each file once,
# whoever dies.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $node = new_node('main', {}, 'restart_after_crash = on', 'max_prepared_transactions = 2', "timezone = 'UTC'");
my $verbose = "\\set VERBOSITY verbose\n";

gates($node);

# Writes files of 100 rows, which are known by their numbers; returns their pattern
sub write_files
{
	my ($prefix, @numbers) = @_;
	my $path;

	foreach my $number (@numbers)
	{
		$path = write_bytes(sprintf('%s%03d.csv', $prefix, $number), join('', map {
			sprintf "%d,2013-01-%02d,file %d\n", $number * 100 + $_, $number % 5 + 1, $number
		} 0 .. 99));
	}
	return $path =~ s/\d\d\d\.csv$/*.csv/r;
}

sub path { my ($name) = @_; return FastCopy::directory() . "/$name" }

# A new table and a new ledger
sub prepare
{
	my ($more) = @_;

	open_gate();
	events($node, 't', $more);
	$node->safe_psql('postgres', "DROP TABLE IF EXISTS led; SELECT fast_copy_create_ledger_table('led')");
}

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

sub failure { my ($sql) = @_; return ($node->psql('postgres', "$verbose$sql"))[2] }

sub said { my ($sql) = @_; return ($node->psql('postgres', $sql))[2] }

# Each row of so many files once, and a line for each file
sub is_whole
{
	my ($files, $what) = @_;

	is(query('SELECT count(*), count(DISTINCT n) FROM t'), $files * 100 . '|' . $files * 100, "$what: each row once");
	is(query('SELECT state, count(*), sum(rows) FROM led GROUP BY state'), "loaded|$files|" . $files * 100, "$what: a line each");
}

subtest 'who loads the same waits' => sub {
	my $files = write_files('w', 0, 1);
	my $load = "SELECT fast_copy('t', '$files', options => '{\"ledger\": \"led\"}');\n";

	foreach my $ending (qw(COMMIT ROLLBACK))
	{
		prepare(', CHECK (gate(n))');
		close_gate();
		my $first = start_load($node, "BEGIN;\n$load$ending;\n");
		ok(at_gate($node), 'one load is at the gate');
		my $second = start_load($node, $load);
		ok(wait_until($node, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'transactionid'"), 'the other one waits');
		is(query('SELECT count(*) FROM led'), 0, 'nobody sees a file that is being loaded');
		open_gate();
		is((finish_load($first))[0], 200, 'the first one has loaded');
		is((finish_load($second))[0], $ending eq 'COMMIT' ? 0 : 200, "after $ending the second one has");
		is_whole(2, $ending);
	}
};

subtest 'a snapshot that is too old to know' => sub {
	my $files = write_files('w', 0, 1);

	prepare();
	my $old = $node->background_psql('postgres', on_error_stop => 0);
	$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
	$old->query_safe('SELECT count(*) FROM t');
	query("SELECT fast_copy('t', '$files', options => '{\"ledger\": \"led\"}')");
	$old->query("$verbose SELECT fast_copy('t', '$files', options => '{\"ledger\": \"led\"}')");
	like($old->{stderr}, qr/40001/, 'it could not be serialized');
	$old->quit;
	is_whole(2, 'afterwards');
};

subtest 'a file that is written to while it is loaded' => sub {
	write_files('w', 0, 1);
	foreach my $workers (0, 2, 'again', 'in place')
	{
		prepare(', CHECK (gate(n))');
		close_gate();
		my $load = start_load($node, "SELECT fast_copy('t', '" . path('w000.csv') . "', workers => @{[ $workers =~ /\d/ ? $workers : 2 ]}, options => '{\"ledger\": \"led\"}');\n");
		ok(at_gate($node), 'the load is at the gate');
		usleep(20_000);
		my $modified = (stat path('w000.csv'))[9];
		if ($workers eq 'in place')
		{
			open(my $out, '+<', path('w000.csv')) or die;
			print $out '9';
			close($out);
		}
		else { append_to_file(path('w000.csv'), "1,2013-01-01,more\n") }
		utime($modified, $modified, path('w000.csv')) if $workers eq 'again';
		open_gate();
		like((finish_load($load))[1], qr/w000\.csv" changed while it was being loaded.*Somebody has written to it/s, 'the load fails');
		is(query('SELECT (SELECT count(*) FROM t) + (SELECT count(*) FROM led)'), 0, 'nothing is left');
	}
};

# ... or replaced by another one, before it is loaded, while the load waits for what
# another session does with a file that comes after it
subtest 'a file that changes before it is opened' => sub {
	my ($other) = grep { -d && (stat)[0] != (stat FastCopy::directory())[0] } '/dev/shm', '/tmp', '/var/tmp';
	my %changes = (
		size => sub { append_to_file($_[0], "1,2013-01-01,more\n") },
		time => sub { utime(1000, 1000, $_[0]) },
		'another file' => sub { my @stat = stat $_[0]; rename(path('w.new'), $_[0]); utime(@stat[8, 9], $_[0]) },
		$other ? ('another file system' => sub { unlink path('w.link'); symlink("$other/fast_copy_$$.csv", path('w.link')) }) : ());

	foreach my $change (sort keys %changes)
	{
		my ($first, $last) = (path('w000.csv'), path('w001.csv'));

		write_files('w', 0, 1);
		utime(2000, 2000, $first);
		write_bytes('w.new', slurp_file($first));
		if ($change =~ /system/)
		{
			unlink path('w.link');
			symlink($first, path('w.link'));
			system("cp '$first' '$other/fast_copy_$$.csv'");
		}
		prepare(', CHECK (gate(n % 100))');
		close_gate();
		my $holds = start_load($node, "BEGIN; SELECT fast_copy('t', '$last', options => '{\"ledger\": \"led\"}'); ROLLBACK;\n");
		ok(at_gate($node), "$change: another session is loading the last file");
		my $load = start_load($node, "SELECT fast_copy('t', ARRAY['" . ($change =~ /system/ ? path('w.link') : $first) . "', '$last'], options => '{\"ledger\": \"led\"}');\n");
		ok(wait_until($node, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'transactionid'"), 'a load waits for it');
		$changes{$change}->($first);
		open_gate();
		finish_load($holds);
		like((finish_load($load))[1], qr/ERROR:  file ".*(?:w000\.csv|w\.link)" changed while it was being loaded\nDETAIL:  It changed before it was opened\./, 'the load fails');
		is(query('SELECT (SELECT count(*) FROM t) + (SELECT count(*) FROM led)'), 0, 'nothing is left');
	}
	unlink "$other/fast_copy_$$.csv" if $other;
};

subtest 'files, batch by batch' => sub {
	my $files = write_files('b', 0 .. 9);

	prepare();
	like(said("CALL fast_copy_files('t', '$files', 'led', batch_files => 4)"), qr/: 10 loaded, 0 loaded before, 0 failed, 0 too young/, 'it tells what it did');
	is_whole(10, 'all');
	is(query('SELECT count(DISTINCT xmin::text) FROM led'), 3, 'three transactions');
	is(query('SELECT count(DISTINCT t.xmin::text) FROM t JOIN led ON led.xmin = t.xmin AND v = (regexp_replace(path, $$.*b0*(\d+)\.csv$$, $$file \1$$))'), 3, 'a file and its line are of the same one');
	like(said("CALL fast_copy_files('t', '$files', 'led')"), qr/: 0 loaded, 10 loaded before/, 'once more');
	write_files('b', 10 .. 12);
	symlink(path('b010.csv'), path('b999.csv'));
	mkdir path('b998.csv');
	like(said("CALL fast_copy_files('t', '$files', 'led', batch_size => '1 bytes')"), qr/: 3 loaded, 11 loaded before/, 'new ones, one at a time, with a link and a directory');
	is_whole(13, 'all');
	is(query('SELECT count(DISTINCT xmin::text) FROM led'), 6, 'three more transactions');
	query("DROP TABLE t; CREATE TABLE t (n int, ts timestamp, v text)");
	like(said("CALL fast_copy_files('t', ARRAY['$files', '" . path('b00?.csv') . "'], 'led', options => '{\"workers\": 0}')"), qr/: 13 loaded, 1\d loaded before/, 'into a table that was made again, by two patterns');
	is(query('SELECT count(*) FROM t'), 1300, 'its rows');
	unlink path('b999.csv');
	rmdir path('b998.csv');
};

# A file, a link or a directory called like the pattern
subtest 'a name that is the pattern is one of its files' => sub {
	my $files = write_files('z', 0 .. 2);
	my $call = "CALL fast_copy_files('t', '$files', 'led', on_failure => 'skip', batch_files => 2)";

	prepare();
	write_bytes('z*.csv', join('', map { "$_,2013-01-01,file 3\n" } 300 .. 399));
	like(said($call), qr/: 4 loaded, 0 loaded before, 0 failed/, 'all are loaded');
	is_whole(4, 'all');
	write_files('z', 4);
	like(said($call), qr/: 1 loaded, 4 loaded before, 0 failed/, 'a new one beside it');
	like(failure("SELECT fast_copy('t', '$files', options => '{\"ledger\": \"led\"}')"), qr/22023: ".*z\*\.csv" may mean the files that match, or the one of this name/, 'one load refuses the name');
	unlink path('z*.csv');
	symlink(path('nothing'), path('z*.csv'));
	write_files('z', 5);
	like(said($call), qr/: 1 loaded, 4 loaded before, 0 failed/, 'a link to nothing');
	unlink path('z*.csv');
	mkdir path('z*.csv');
	write_files('z', 6);
	like(said($call), qr/: 1 loaded, 5 loaded before, 0 failed/, 'a directory');
	rmdir path('z*.csv');
	write_bytes('y[0].csv', "1,2013-01-01,x\n");
	like(said("CALL fast_copy_files('t', '" . path('y[0].csv') . "', 'led')"), qr/WARNING:  no file matches ".*y\[0\]\.csv", but one has this name.*: 0 loaded, 0 loaded before, 0 failed/s, 'a pattern that matches nothing');
	like(said("CALL fast_copy_files('t', '" . path('y[[]0].csv') . "', 'led')"), qr/: 1 loaded, 0 loaded before, 0 failed/, 'its file by brackets');
	unlink path('y[0].csv');
};

subtest 'a file that fails' => sub {
	my $files = write_files('f', 0 .. 4);

	write_bytes('f002.csv', "200,2013-01-01,x\n201,2013-01-40,y\n");
	prepare();
	like(failure("CALL fast_copy_files('t', '$files', 'led')"), qr/ERROR:  22008: date.time field value out of range.*\n(.*\n)*.*f002\.csv", line 2, column ts/, "it ends with the file's error");
	is(query('SELECT string_agg(state, $$ $$ ORDER BY path) FROM led'), 'loaded loaded failed waiting waiting', 'those before it are loaded');
	is(query('SELECT sqlstate, line, message FROM led WHERE state = $$failed$$'), '22008|2|date/time field value out of range: "2013-01-40"', 'why, and where');
	my $err = said("CALL fast_copy_files('t', '$files', 'led', on_failure => 'skip')");
	like($err, qr/WARNING:  file ".*f002\.csv", line 2, was not loaded: date.time field value/, 'a warning');
	like($err, qr/: 2 loaded, 2 loaded before, 1 failed/, 'the others are loaded');
	is(query('SELECT string_agg(state, $$ $$ ORDER BY path) FROM led'), 'loaded loaded failed loaded loaded', 'their states');
	$err = failure("CALL fast_copy_files('t', '$files', 'led', on_failure => 'finish')");
	like($err, qr/WARNING.*f002\.csv", line 2, was not loaded.*: 0 loaded, 4 loaded before, 1 failed.*ERROR:  22008: 1 file was not loaded\nDETAIL:  Files that could be loaded are committed\.\nHINT:  SELECT path, line, message FROM public\.led WHERE sqlstate IS NOT NULL\./s, 'it ends with an error, which a script can test');
	write_files('f', 5);
	like(failure("CALL fast_copy_files('t', '$files', 'led', on_failure => 'finish')"), qr/: 1 loaded, 4 loaded before, 1 failed.*ERROR/s, '... after the others');
	unlink path('f005.csv');
	query("DELETE FROM t WHERE v = 'file 5'; DELETE FROM led WHERE path = '" . path('f005.csv') . "'");
	write_files('f', 2);
	like(said("CALL fast_copy_files('t', '$files', 'led', on_failure => 'finish')"), qr/: 1 loaded, 4 loaded before, 0 failed/, 'mended');
	is_whole(5, 'all');
	is(query('SELECT count(*) FROM led WHERE sqlstate IS NOT NULL OR message IS NOT NULL OR line IS NOT NULL'), 0, 'errors are forgotten');
};

subtest 'what is passed over is said' => sub {
	my $files = write_files('p', 0 .. 2);

	prepare();
	query("SELECT fast_copy('t', '@{[ path('p000.csv') ]}', options => '{\"ledger\": \"led\"}')");
	like(said("SELECT fast_copy('t', '@{[ path('p000.csv') ]}', options => '{\"ledger\": \"led\"}')"), qr/NOTICE:  ".*p000\.csv" is skipped: ledger "led" has it as loaded/, 'a file');
	like(said("SELECT fast_copy('t', '{@{[ join(',', map { path($_) } 'p000.csv', 'p001.csv') ]}}'::text[], options => '{\"ledger\": \"led\"}')"), qr/NOTICE:  1 of 2 files are skipped: ledger "led" has them as loaded/, 'one of two');
	like(said("SELECT fast_copy('t', '$files', options => '{\"ledger\": \"led\"}')"), qr/NOTICE:  2 of 3 files are skipped/, 'two of three');
	unlike(said("SELECT fast_copy('t', '$files', log_verbosity => 'silent', options => '{\"ledger\": \"led\"}')"), qr/skipped/, 'silent');
	is_whole(3, 'all');
};

subtest 'files that have changed since' => sub {
	my $files = write_files('c', 0 .. 2);

	prepare();
	query("CALL fast_copy_files('t', '$files', 'led')");
	append_to_file(path('c001.csv'), "300,2013-01-01,more\n");
	write_files('c', 3);
	like(failure("CALL fast_copy_files('t', '$files', 'led')"), qr/55000: file ".*c001\.csv" has changed since it was loaded/, 'an error');
	is(query('SELECT string_agg(state || coalesce($$ $$ || sqlstate, $$$$), $$, $$ ORDER BY path) FROM led'), 'loaded, loaded 55000, loaded, waiting', 'it stays loaded');
	like(said("CALL fast_copy_files('t', '$files', 'led', on_failure => 'skip')"), qr/: 1 loaded, 2 loaded before, 1 failed/, 'the others are loaded');
	is(query('SELECT count(*) FROM t'), 400, 'nothing is loaded twice');
	like(said("CALL fast_copy_files('t', '$files', 'led', options => '{\"changed_files\": \"skip\"}')"), qr/: 0 loaded, 4 loaded before/, 'skipped');
	like(said("CALL fast_copy_files('t', '$files', 'led', options => '{\"changed_files\": \"load\"}')"), qr/: 1 loaded, 3 loaded before/, 'loaded');
	is(query('SELECT count(*) FROM t'), 501, 'once more with all of its rows');
	utime(1_400_000_000, 1_400_000_000, path('c000.csv'));
	like(said("CALL fast_copy_files('t', '$files', 'led')"), qr/: 0 loaded, 4 loaded before/, 'one that was only touched');
	is(query('SELECT modified FROM led WHERE path ~ $$c000$$'), '2014-05-13 16:53:20+00', 'its time is recorded');
	foreach my $time (1_400_000_000, 1_500_000_000)
	{
		append_to_file(path('c000.csv'), "300,2013-01-01,more\n");
		like(failure("CALL fast_copy_files('t', '$files', 'led')"), qr/55000: file ".*c000\.csv" has changed/, 'changed');
		write_files('c', 0);
		utime($time, $time, path('c000.csv'));
		like(said("CALL fast_copy_files('t', '$files', 'led')"), qr/: 0 loaded, 4 loaded before, 0 failed/, 'and as it was, at time ' . $time);
		is(query('SELECT count(*) FROM led WHERE sqlstate IS NOT NULL OR message IS NOT NULL'), 0, 'the error is forgotten');
	}
};

subtest 'files that are still written' => sub {
	my $files = write_files('y', 0 .. 2);

	prepare();
	utime(1_400_000_000, 1_400_000_000, path('y001.csv'));
	like(said("CALL fast_copy_files('t', '$files', 'led', min_age => '1 hour')"), qr/: 1 loaded, 0 loaded before, 0 failed, 2 too young/, 'one is old enough');
	is_whole(1, 'it');
};

subtest 'files that are written to while the call goes on' => sub {
	my $files = write_files('a', 0, 1);

	prepare(', CHECK (gate(n))');
	utime(1_400_000_000, 1_400_000_000, path("a00$_.csv")) foreach 0, 1;
	close_gate();
	my $load = start_load($node, "CALL fast_copy_files('t', '$files', 'led', batch_files => 1, min_age => '1 hour')");
	ok(at_gate($node), 'the first one is at the gate');
	append_to_file(path('a001.csv'), "1,2013-01-01,more\n");
	open_gate();
	like((finish_load($load))[1], qr/: 1 loaded, 0 loaded before, 0 failed, 1 too young/, 'the second one is too young by now');
};

subtest 'files that cannot be, and rows that are replaced' => sub {
	my $files = write_files('h', 0, 1);

	prepare();
	link(path('h000.csv'), path('h002.csv'));
	like(failure("CALL fast_copy_files('t', '$files', 'led', on_failure => 'skip')"), qr/22023: file ".*" is named more than once/, 'a file with two names');
	unlink path('h002.csv');
	write_bytes("h\xff9.csv", "1,2013-01-01,x\n");
	symlink(path('h998.csv'), path('h998.csv'));
	rename path("h\xff9.csv"), path('h997.bad');
	symlink(path('h997.bad'), path("h\xff8.csv"));
	foreach my $encoding (qw(UTF8 LATIN1 SQL_ASCII))
	{
		query('TRUNCATE t, led');
		my $err = said("SET client_encoding = $encoding; CALL fast_copy_files('t', '" . path('h*.csv') . "', 'led', on_failure => 'skip')");
		like($err, qr/WARNING:  a ledger cannot know file ".*\/h\\xff8\.csv"/, "a name that is no text, $encoding");
		like($err, qr/: 2 loaded, 0 loaded before, 1 failed/, 'the others are loaded, and a link to nothing is none');
	}
	unlink path("h\xff8.csv"), path('h998.csv'), path('h997.bad');
	like(failure("CALL fast_copy_files('t', '$files', 'led', options => '{\"existing_rows\": \"replace\"}')"), qr/22023: existing_rows "replace" cannot be used/, 'none replaces the rows of others');
	query("DELETE FROM led; TRUNCATE t; CREATE ROLE carol LOGIN IN ROLE pg_read_server_files; GRANT SELECT, INSERT, UPDATE ON led TO carol");
	like(failure("SET ROLE carol; CALL fast_copy_files('t', '$files', 'led', on_failure => 'skip')"), qr/42501: permission denied for table t/, 'a privilege that lacks is not of a file');
	is(query('SELECT state, count(*) FROM led GROUP BY 1'), 'waiting|2', 'all still wait');
	chmod 0, path('h000.csv');
  SKIP:
	{
		skip 'the server can read all files', 2 if -r path('h000.csv');
		like(said("CALL fast_copy_files('t', '$files', 'led', on_failure => 'skip')"), qr/: 1 loaded, 0 loaded before, 1 failed/, 'one that the server cannot read is');
		is(query('SELECT sqlstate FROM led WHERE path ~ $$h000$$'), '42501', 'as its line says');
	}
	query('DROP OWNED BY carol; DROP ROLE carol');
};

subtest 'what is no fault of the files' => sub {
	my $files = write_files('n', 0 .. 2);
	my $call = "CALL fast_copy_files('t', '$files', 'led', batch_files => 1, on_failure => 'skip')";

	prepare(', CHECK (gate(n))');
	close_gate();
	my $load = start_load($node, "$call;\n");
	ok(at_gate($node), 'the load is at the gate');
	query("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CALL%'");
	like((finish_load($load))[1], qr/canceling statement due to user request/, 'a cancel ends the call');
	is(query('SELECT state, count(*) FROM led GROUP BY 1'), 'waiting|3', 'all still wait');
	open_gate();
	my $locked = $node->background_psql('postgres');
	$locked->query_safe('BEGIN; LOCK TABLE t');
	like(failure("SET lock_timeout = '50ms'; $call"), qr/55P03/, 'a lock that is not to be had');
	$locked->query_safe('COMMIT');
	$locked->quit;
	is(query('SELECT state, count(*) FROM led GROUP BY 1'), 'waiting|3', 'all still wait');
	query($call);
	is_whole(3, 'all');
};

subtest 'constraints that are checked at the end' => sub {
	my $files = write_files('d', 0 .. 2);

	prepare();
	query('DROP TABLE t; CREATE TABLE keys (n int PRIMARY KEY); INSERT INTO keys SELECT generate_series(0, 199);
		CREATE TABLE t (n int REFERENCES keys DEFERRABLE INITIALLY DEFERRED, ts timestamp, v text)');
	like(said("CALL fast_copy_files('t', '$files', 'led', on_failure => 'skip')"), qr/: 2 loaded, 0 loaded before, 1 failed/, 'a file fails by one');
	is(query('SELECT state, sqlstate FROM led WHERE path ~ $$d002$$'), 'failed|23503', 'and why');
	is(query('SELECT count(*) FROM t'), 200, 'the others are loaded');
	query('DROP TABLE t, keys');
};

subtest 'where it may be called, and with what' => sub {
	my $files = write_files('p', 0 .. 2);
	my $call = "CALL fast_copy_files('t', '$files', 'led')";

	prepare();
	like(failure("BEGIN; $call"), qr/25001: CALL fast_copy_files\(\) cannot run inside a transaction block/, 'not in a transaction block');
	query("CREATE FUNCTION in_function() RETURNS void LANGUAGE plpgsql AS \$\$BEGIN $call; END\$\$");
	like(failure('SELECT in_function()'), qr/25001/, 'nor in a function');
	query("DO \$\$BEGIN $call; END\$\$");
	is_whole(3, 'in a block of its own');
	like(failure($_->[0]), $_->[1], $_->[0]) foreach (
		[ "CALL fast_copy_files('t', '$files', NULL)", qr/22004: argument "ledger" must not be null/ ],
		[ "CALL fast_copy_files('t', '$files', 'led', batch_files => 0)", qr/22023: argument "batch_files" must be positive/ ],
		[ "CALL fast_copy_files('t', '$files', 'led', batch_size => 'x')", qr/22023: invalid size: "x"/ ],
		[ "CALL fast_copy_files('t', '$files', 'led', on_failure => 'x')", qr/22023: on_failure "x" not recognized/ ],
		[ "CALL fast_copy_files('t', '$files', 'led', options => '{\"program\": true, \"label\": \"x\"}')", qr/22023: argument "program" cannot be used/ ],
		[ "CALL fast_copy_files('t', '$files', 'nope')", qr/42P01: relation "nope" does not exist.*HINT:  SELECT fast_copy_create_ledger_table\('nope'\) makes one\./s ],
		[ "CALL fast_copy_files('t', '$files', 'led', workers => 1, options => '{\"workers\": 1}')", qr/42601: conflicting or redundant options\nDETAIL:  The option "workers" is given more than once\./ ],
		[ "CALL fast_copy_files('t', '$files', 'led', options => '{\"ledger\": \"led\"}')", qr/42601: conflicting or redundant options/ ],
		[ "CALL fast_copy_files('t', '$files', 'led', options => '{\"formt\": \"csv\"}')", qr/42601: option "formt" not recognized/ ],
		[ "CALL fast_copy_files('t', '" . path('no_such.csv') . "', 'led')", qr/58P01: could not open file/ ],
		[ "CALL fast_copy_files('led', '$files', 'led')", qr/55000: table "led" cannot be used as ledger/ ]);
	like(said("CALL fast_copy_files('t', '" . path('no_such*') . "', 'led')"), qr/: 0 loaded, 0 loaded before, 0 failed/, 'a pattern that matches nothing');
	# what is proposed for one call is good for the other
	my $told = write_bytes('told.csv', "day;at;n\n 31.01.2024;30.01.2024 08:00;1.234,5\n 01.02.2024;30.01.2024 09:00;n/a\n\n");
	my $proposed = query("SELECT fast_copy_sniff('$told', 'told')");
	ok($proposed =~ s/SELECT fast_copy\('told',\s*'\Q$told\E',\s*(?=timestamp_column => 'at')/CALL fast_copy_files('told', '$told', 'led', /, 'a call for one file');
	like($proposed, qr/timestamp_format =>\s+'\{"day".*number_format => /s, 'with patterns of columns');
	query($proposed);
	is(query("SELECT count(*) FROM led WHERE path LIKE '%told.csv' AND rows = 2"), 1, 'it is one for many, too');
	is(query('SELECT day, at, n FROM told ORDER BY day'), "2024-01-31|2024-01-30 08:00:00|1234.5\n2024-02-01|2024-01-30 09:00:00|", 'and reads the same');
	query('CREATE ROLE bob LOGIN; GRANT INSERT ON t TO bob; GRANT SELECT, INSERT, UPDATE ON led TO bob');
	like(failure("SET ROLE bob; CALL fast_copy_files('t', '$files', 'led')"), qr/42501: permission denied to COPY from a file/, 'a role that may not read files');
	query('GRANT pg_read_server_files TO bob; DELETE FROM led; TRUNCATE t');
	query("SET ROLE bob; $call");
	is_whole(3, 'a role that may');
	is(query('SELECT DISTINCT loaded_by FROM led'), 'bob', 'who it was');
};

# A dump has a table that is gone by its number, which may be that of another one
# where the dump is restored.
subtest 'a ledger that is dumped and restored, or copied with its database' => sub {
	my ($file) = (path('o000.csv'), write_files('o', 0));
	my $dump = path('dump.sql');
	my $load = sub { my ($database, $table, $more) = @_; return $node->safe_psql($database, "SELECT fast_copy('$table', '$file', options => '{\"ledger\": \"led\"${\ ($more // '') }}')") };
	my $in = sub { return $node->safe_psql($_[0], $_[1]) };
	my $told = sub { return ($node->psql($_[0], "$verbose SELECT fast_copy('$_[1]', '$file', options => '{\"ledger\": \"led\"}')"))[2] };
	my $restore = sub {
		query("CREATE DATABASE $_[0] TEMPLATE template0");
		$node->command_ok([ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-o', '/dev/null', '-d', $node->connstr($_[0]) ], "restored into $_[0]");
	};
	my $number = sub { return "UPDATE led SET target = '$_[1]', target_oid = '$_[1]'::regclass WHERE target_name = 'public.$_[0]'" };

	query('CREATE DATABASE first');
	$in->('first', "CREATE EXTENSION fast_copy; SELECT fast_copy_create_ledger_table('led')");
	foreach my $table (qw(live before dead anew))
	{
		$in->('first', "CREATE TABLE $table (n int, ts timestamp, v text)");
		is($load->('first', $table), 100, "$table is loaded");
	}
	$in->('first', 'ALTER TABLE before RENAME TO renamed; DROP TABLE dead, anew; CREATE TABLE anew (n int, ts timestamp, v text); CREATE TABLE other (LIKE anew)');
	is($load->('first', $_), 0, "$_ in its own database") foreach qw(live renamed);
	$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('first') ], 'dumped');

	$restore->('second');
	is($load->('second', $_), 0, "$_ after a dump") foreach qw(live renamed);
	like($told->('second', 'anew'), qr/NOTICE:  \S+ ledger "led" has 2 rows of these files for tables that are gone: they are ignored\nHINT:  DELETE FROM public\.led/, 'rows of tables that are gone are told of');
	is($load->('second', 'anew'), 0, 'the new table has got the rows');
	$in->('second', 'VACUUM (FREEZE) led; VACUUM FULL led; REINDEX TABLE led');
	is($load->('second', $_), 0, "$_ after VACUUM FULL") foreach qw(live renamed anew);
	append_to_file($file, "9,2013-01-01,more\n");
	is($load->('second', 'renamed', ', "changed_files": "load"'), 101, 'restored and loaded again');
	is($in->('second', "SELECT target_oid = 'renamed'::regclass, target_name, count(*) OVER () FROM led WHERE target = 'renamed'::regclass"), 't|public.renamed|1', 'its row is of this database now');
	is($in->('second', "WITH gone AS (DELETE FROM led AS l WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = l.target) RETURNING 1) SELECT count(*) FROM gone"), 2, 'the hint deletes them');
	unlike($told->('second', 'renamed'), qr/are gone/, '... and none is told of any more');

	# the number is that of a table of another name: the row is not of that table
	$restore->('third');
	$in->('third', $number->('dead', 'other'));
	like($told->('third', 'other'), qr/NOTICE:  \S+ ledger "led" has 2 rows of these files for tables that are gone/, 'another name');
	is($in->('third', 'SELECT count(*) FROM other'), 101, 'is loaded');
	is($load->('third', 'other'), 0, 'once');

	# the number is that of the table that was made anew, or of one that was restored with it
	$in->('third', $number->('anew', 'anew'));
	like($told->('third', 'anew'), qr/ERROR:  55000: it is not known whether ledger "led" has ".*o000\.csv" for this table\nDETAIL:  .*HINT:  If the table has the rows of the file: UPDATE public\.led SET target_oid = 0 WHERE .* If not: DELETE FROM public\.led/s, 'the same name: nothing is guessed');
	my $call = "CALL fast_copy_files('anew', '$file', 'led', on_failure => 'skip')";
	like(($node->psql('third', $call))[2], qr/WARNING:  file ".*o000\.csv" was not loaded: it is not known whether.*: 0 loaded, 0 loaded before, 1 failed/s, 'by fast_copy_files');
	my ($update, $delete) = $told->('third', 'anew') =~ /HINT:  If the table has the rows of the file: (.*)\. If not: (.*)\.\n/;
	is($in->('third', "BEGIN; $update; SELECT fast_copy('anew', '$file', options => '{\"ledger\": \"led\", \"changed_files\": \"skip\"}'); ROLLBACK"), 0, 'by one statement it is loaded');
	is($in->('third', "BEGIN; $delete; SELECT fast_copy('anew', '$file', options => '{\"ledger\": \"led\"}'); ROLLBACK"), 101, 'by the other it is not');
	$in->('third', $delete);
	like(($node->psql('third', $call))[2], qr/: 1 loaded, 0 loaded before, 0 failed/, 'by fast_copy_files');

	# rows that were copied as they are, as by pg_upgrade
	query('CREATE DATABASE fourth TEMPLATE first');
	$in->('fourth', 'VACUUM (FREEZE) led; VACUUM FULL led');
	is($load->('fourth', $_, ', "changed_files": "skip"'), 0, "$_ in a copy") foreach qw(live renamed);
	is($load->('fourth', 'anew'), 101, 'anew in a copy');
	query("DROP DATABASE $_") foreach qw(first second third fourth);
};

# Who listens is told what to ask, and nothing about files
subtest 'notifications' => sub {
	my $files = write_files('v', 0 .. 4);
	my $load = "SELECT fast_copy('t', '$files', ledger => 'led', notify_channel => 'A b')";
	my $told = sub { return [ query("LISTEN \"A b\"; $_[0]") =~ /Asynchronous notification "A b" with payload "(.*)" received/g ] };

	prepare();
	is_deeply($told->("BEGIN; $load; ROLLBACK"), [], 'not after a rollback');
	is_deeply($told->("$load"), ['{"ledger": "public.led", "table": "public.t"}'], 'names of ledger and table, once for all files');
	is_deeply($told->("$load"), [], 'not if nothing was loaded');
	is_deeply($told->("DELETE FROM led; " . $load =~ s/, notify_channel => 'A b'//r), [], 'nor if it is not asked for');
	is_deeply($told->("DELETE FROM led;\nCALL fast_copy_files('t', '$files', 'led', batch_files => 2, notify_channel => 'A b')"), [ ('{"ledger": "public.led", "table": "public.t"}') x 3 ], 'each batch');
	query("CREATE SCHEMA \"s'x\"; SELECT fast_copy_create_ledger_table('\"s''x\".\"l \"\"e\"\"d\"')");
	is_deeply($told->($load =~ s/'led'/'"s''x"."l ""e""d"'/r), [ q({"ledger": "\\"s'x\\".\\"l \\"\\"e\\"\\"d\\"", "table": "public.t"}) ], 'names that need quotes');
	query("DROP SCHEMA \"s'x\" CASCADE; DELETE FROM led");
	like(failure("BEGIN; $load; PREPARE TRANSACTION 'x'"), qr/0A000: cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY/, 'it cannot be prepared');
	like(failure($load =~ s/A b/$_/r), qr/22023: notify_channel must have between 1 and 63 bytes/, "a channel of @{[ length ]} bytes") foreach '', 'x' x 64;
	like(failure("SELECT fast_copy('t', '$files', notify_channel => 'x')"), qr/22023: notify_channel requires a ledger/, 'without a ledger');
};

# A role that may read files below a directory alone is not shown where that leads.
# Rows of a file in the given days, as (day, n); a row each
sub write_days
{
	my ($name, @rows) = @_;

	return write_bytes($name, join('', map { sprintf "%d,2013-01-%02d 12:00,%s\n", $_->[1], $_->[0], $name } @rows));
}

sub replaces
{
	my ($files, $more) = @_;

	return sprintf("SELECT fast_copy('t', ARRAY[%s], options => '{\"ledger\": \"led\", \"changed_files\": \"load\", \"existing_rows\": \"replace\", \"min_replace_ratio\": 0%s}'%s)",
		join(', ', map { "'" . path($_) . "'" } split / /, $files), $more // '', $_[2] // '');
}

# Three nights of days and late rows; then day 1 is sent anew
subtest 'a corrected day beside late rows of other files' => sub {
	my $all = "SELECT string_agg(v || n, ' ' ORDER BY v, n) FROM t";
	my $before = 'day1.csv1 day2.csv2 day3.csv4 late2.csv10 late3.csv11 late3.csv12 late3.csv13';
	my $day = ", \"replace_from\": \"2013-01-01\", \"replace_to\": \"2013-01-02\"";
	my $range = ', where_clause => $$ts >= \'2013-01-01\' AND ts < \'2013-01-02\'$$';

	prepare();
	write_days('day1.csv', [ 1, 1 ]);
	query("SELECT fast_copy('t', '" . path('day1.csv') . "', options => '{\"ledger\": \"led\"}')");
	write_days('day2.csv', [ 2, 2 ]);
	write_days('late2.csv', [ 1, 10 ]);
	query("CALL fast_copy_files('t', ARRAY['" . path('day[12].csv') . "', '" . path('late2.csv') . "'], 'led')");
	write_days('day3.csv', [ 3, 4 ]);
	write_days('late3.csv', [ 1, 11 ], [ 2, 12 ], [ 3, 13 ]);
	query("CALL fast_copy_files('t', ARRAY['" . path('day*.csv') . "', '" . path('late*.csv') . "'], 'led')");
	is(query($all), $before, 'three nights');
	write_days('day1.csv', [ 1, 5 ], [ 1, 6 ]);

	my $err = failure(replaces('day1.csv'));
	like($err, qr/ERROR:  55000: rows of 2 other files would be replaced\nDETAIL:  Ledger "led" has as loaded, with keys in the same range: ".*late2\.csv", ".*late3\.csv"\./, 'the corrected day is refused');
	like($err, qr/HINT:  Name these files, too.*use other_files => 'replace'\./, 'how to go on');
	like(said("LOAD 'fast_copy'; COPY t FROM '" . path('day1.csv') . "' WITH (fast_copy, FORMAT csv, ledger 'led', changed_files load, existing_rows replace)"), qr/use other_files 'replace'\./, 'by COPY');
	is(query($all), $before, 'nothing has changed');
	is(query('SELECT count(*) FROM led WHERE state <> $$loaded$$'), 0, 'nor has the ledger');
	like(query("SELECT detail FROM fast_copy_analyze('t', '" . path('day1.csv') . "', options => '{\"ledger\": \"led\", \"existing_rows\": \"replace\"}') WHERE item = 'warning'"),
		qr/^rows of 2 other files would be replaced: .*late2\.csv".*late3\.csv"/m, 'an analysis tells');
	like(failure(replaces('day1.csv late3.csv')), qr/rows of 3 other files would be replaced\n.*day2\.csv.*day3\.csv.*late2\.csv/, 'with files that have rows of other days their files are missed');
	like(failure(replaces('day1.csv late2.csv', $day)), qr/rows of 1 other file would be replaced\n.*late3/, 'a range, and a file that is missed');
	# with a range and a condition the other days stay as they are
	is(query(replaces('day1.csv late2.csv late3.csv', $day, $range)), 4, 'all files of the day');
	my $after = 'day1.csv5 day1.csv6 day2.csv2 day3.csv4 late2.csv10 late3.csv11 late3.csv12 late3.csv13';
	is(query($all), $after, 'all rows are there');
	is(query("SELECT rows, filtered, first_key, last_key FROM led WHERE path = '" . path('late3.csv') . "'"), '1|2|2013-01-01 12:00:00|2013-01-03 12:00:00', 'the ledger knows that the file has rows of other days, too');
	write_days('day2.csv', [ 2, 7 ]);
	like(failure(replaces('day2.csv')), qr/rows of 1 other file would be replaced\n.*late3\.csv/, 'which are not lost, either');

	write_days('day1.csv', [ 1, 8 ]);
	($err) = (said(replaces('day1.csv', ', "other_files": "replace"')));
	like($err, qr/WARNING:  rows of 2 other files are replaced\n.*late2.*late3.*NOTICE:  fast_copy: 1 row, .*, 1 table of 4 rows replaced/s, 'who says so loads, and is told');
	is(query($all), 'day1.csv8 day2.csv2 day3.csv4 late3.csv12 late3.csv13', 'the new rows stand for all');

	# one that has been deleted by hand, as a whole, may come again
	query("DELETE FROM t WHERE ts < '2013-01-02'; DELETE FROM led WHERE path ~ 'day1|late2'");
	is(query(replaces('day1.csv')), 1, 'a day without rows');
	query("DELETE FROM led WHERE path !~ 'day1'");
	is(query(replaces('day2.csv')), 1, 'whose files the ledger does not have');
};

# What others commit after the look at the ledger stays, and so is not told of
subtest 'late rows that come while their day is replaced' => sub {
	prepare(', CHECK (gate(n))');
	write_days('day1.csv', [ 1, 1 ]);
	query(replaces('day1.csv'));
	write_days('day1.csv', [ 1, 7 ]);
	write_days('late1.csv', [ 1, 2 ]);
	close_gate();
	my $load = start_load($node, replaces('day1.csv') . ";\n");
	ok(at_gate($node), 'a day is being replaced');
	is(query("SELECT fast_copy('t', '" . path('late1.csv') . "', options => '{\"ledger\": \"led\"}')"), 1, 'another session loads late rows of it');
	open_gate();
	is((finish_load($load))[0], 1, 'it is replaced');
	is(query("SELECT string_agg(v || n, ' ' ORDER BY v) FROM t"), 'day1.csv7 late1.csv2', 'with the late rows');
	write_days('day1.csv', [ 1, 8 ]);
	like(failure(replaces('day1.csv')), qr/rows of 1 other file would be replaced\n.*late1/, 'which are not lost later');
};

subtest 'files whose keys are not known, and relatives' => sub {
	prepare();
	query("CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER same BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION same();
		CREATE TABLE t1 PARTITION OF t FOR VALUES FROM ('2013-01-01') TO ('2013-01-02'); CREATE TABLE t2 PARTITION OF t FOR VALUES FROM ('2013-01-02') TO ('2013-01-03')");
	write_days('u1.csv', [ 1, 1 ]);
	write_days('u2.csv', [ 2, 2 ]);
	write_bytes('u3.csv', '');
	query("SELECT fast_copy('t', '" . path("u$_.csv") . "', options => '{\"ledger\": \"led\"}')") foreach 2, 3;
	query("DROP TRIGGER same ON t; INSERT INTO t VALUES (0, '2013-01-01')");
	like(said(replaces('u1.csv')), qr/WARNING:  rows of 1 other file may be replaced\nDETAIL:  Ledger "led" has as loaded, without telling between which keys: "\S+u2\.csv"\.\nHINT.*NOTICE/s, 'core has loaded it: a warning');
	# a partition by itself
	write_days('u4.csv', [ 1, 4 ]);
	my $part = replaces('u4.csv') =~ s/'t'/'t1'/r;
	like(said($part), qr/WARNING:  rows of 2 other files may be replaced\n.*u1.*u2/, 'files of the table whose partition is replaced');
	query("DELETE FROM led WHERE target <> 't1'::regclass; UPDATE led SET path = 'x', first_key = NULL, last_key = NULL, key_column = NULL");
	like(said(replaces('u1.csv')), qr/WARNING:  rows of 1 other file may be replaced\n.*"x"\./, 'a file of a partition');
	# whose rows are still there after the file has become empty, and was loaded again
	query("TRUNCATE t; DELETE FROM led; CREATE TRIGGER same BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION same()");
	my $again = "SELECT fast_copy('t', '" . path('u5.csv') . "', options => '{\"ledger\": \"led\", \"changed_files\": \"load\"}')";
	foreach my $days ([ [ 1, 5 ] ], [])
	{
		write_days('u5.csv', @$days);
		query($again);
	}
	query('DROP TRIGGER same ON t');
	like(said(replaces('u1.csv')), qr/WARNING:  rows of 1 other file may be replaced\n.*u5/, 'a file that was emptied after its rows had been loaded');
	# a plain table loses all
	query("DROP TABLE t; CREATE TABLE t (n int, ts timestamp, v text)");
	query(replaces('u1.csv'));
	like(failure(replaces('u2.csv')), qr/ERROR:  55000: rows of 1 other file would be replaced/, 'a plain table');
	my $range = ', "replace_from": "2013-01-02", "replace_to": "2013-01-03", "timestamp_column": "ts"';
	like(said(replaces('u2.csv', $range)), qr/WARNING:  rows of 1 other file may be replaced/, 'a range of it, and no key before');
	query('TRUNCATE t; DELETE FROM led');
	query(replaces('u1.csv', $range =~ s/-01-02/-01-01/r));
	query(replaces('u2.csv', $range));
	is(query('SELECT count(*) FROM t'), 2, 'ranges that are apart');
	like(failure(replaces('u3.csv', $range)), qr/ERROR:  55000: rows of 1 other file would be replaced\n.*u2/, 'and one that is not');
	query("ALTER TABLE t RENAME ts TO at");
	like(said(replaces('u3.csv', $range =~ s/"ts"/"at"/r)), qr/WARNING:  rows of 2 other files may be replaced/, 'a column that has another name now');
	# a range in several levels, by a column with another type in another table of the ledger
	query("DROP TABLE t; CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY LIST (v); CREATE TABLE ta PARTITION OF t DEFAULT PARTITION BY RANGE (n);
		CREATE TABLE tb PARTITION OF ta DEFAULT; CREATE TABLE o (ts int, v int) PARTITION BY RANGE (ts); CREATE TABLE oa PARTITION OF o DEFAULT; DELETE FROM led");
	write_bytes('o.csv', "5,5\n");
	query("SELECT fast_copy('o', '" . path('o.csv') . "', missing_partitions => 'default', options => '{\"ledger\": \"led\"}')");
	query(replaces('u1.csv', $range =~ s/-01-02/-01-01/r));
	query(replaces('u2.csv', $range));
	is(query('SELECT count(*) FROM t'), 2, 'several levels');
	like(failure(replaces('u3.csv', $range)), qr/rows of 1 other file would be replaced\n.*u2/, '... and a range in them');
	query("DROP TABLE o");
};

# Names of files, and keys, as a role has written them
subtest 'a ledger of many files, with odd names' => sub {
	prepare();
	write_days('m1.csv', [ 1, 1 ]);
	query(replaces('m1.csv'));
	query("INSERT INTO led (target, path, size, state, rows, first_key, last_key, key_column, target_oid, target_name, origin)
		SELECT target, i || repeat(E'\\n%s\"', 400), 1, 'loaded', 1, k, k, 'ts', target_oid, target_name, origin FROM led, generate_series(1, 20000) i, LATERAL (SELECT (timestamp '2013-01-02' + i * interval '1 min')::text) AS s(k)");
	write_days('m1.csv', [ 1, 2 ]);
	is(query(replaces('m1.csv')), 1, 'none of them has the day');
	query("UPDATE led SET first_key = '-infinity' WHERE path ~ '^1'");
	write_days('m1.csv', [ 1, 3 ]);
	my $err = failure(replaces('m1.csv'));
	like($err, qr/rows of 11,111 other files would be replaced/, 'many of them may have');
	cmp_ok(length($err), '<', 4000, 'of which a few are named');
	query(replaces('m1.csv', ', "other_files": "replace"'));
};

# By chance: what is not named is lost only by who says so
subtest 'no row of other files is lost, by chance' => sub {
	my ($refused, $loaded) = (0, 0);

	srand($ENV{FC_SEED} // 5);
	prepare();
	foreach my $round (1 .. 60)
	{
		my @files = map { 'r' . int(rand(6)) . '.csv' } 0 .. int(rand(3));
		my %named = map { $_ => 1 } @files;
		my $of_others = "SELECT coalesce(string_agg(v || ' ' || n, ',' ORDER BY v, n), '') FROM t WHERE v NOT IN ('" . join("', '", keys %named) . "')";

		write_days($_, map { my $day = 1 + int(rand(6)); [ $day, $round * 100 + $_ ] } 0 .. int(rand(3))) foreach keys %named;
		my %days = map { $_ => 1 } map { slurp_file(path($_)) =~ /2013-01-(\d\d)/g } keys %named;
		my $list = join(', ', map { "'2013-01-$_'" } keys %days);
		my $old = query($of_others);
		my $hit = query("SELECT count(*) FROM led WHERE path !~ '" . join('|', keys %named) . "' AND EXISTS (SELECT FROM t JOIN unnest(ARRAY[$list]::date[]) AS d ON ts::date = d WHERE d BETWEEN first_key::date AND last_key::date)");
		my $keep = rand() < 0.4;
		my $err = failure($keep ? replaces(join(' ', sort keys %named)) =~ s/, "existing_rows": "replace", "min_replace_ratio": 0//r : replaces(join(' ', sort keys %named)));

		is($err =~ /other files? would be replaced/ ? 1 : 0, $hit > 0 && !$keep ? 1 : 0, "round $round: it is refused if others may have rows there");
		is(query($of_others), $old, "round $round: no row of others is lost");
		$err =~ /would be/ ? $refused++ : $loaded++;
	}
	cmp_ok($refused, '>', 9, 'some were refused');
	cmp_ok($loaded, '>', 9, 'and others loaded');
};

subtest 'files below root_directory, which is a link' => sub {
	mkdir path('secret place') or die;
	symlink(path('secret place'), path('root')) or die;
	write_files('secret place/r', 0, 1);
	prepare();
	query('DROP TABLE t; CREATE TABLE t (n int, ts timestamp, v text)');
	query('CREATE ROLE below LOGIN; GRANT INSERT ON t TO below; GRANT SELECT, INSERT, UPDATE ON led TO below; CREATE ROLE reads LOGIN IN ROLE pg_read_server_files; GRANT INSERT ON t TO reads; GRANT SELECT, INSERT, UPDATE ON led TO reads');
	query("LOAD 'fast_copy'; ALTER DATABASE postgres SET fast_copy.root_directory = '" . path('root') . "//'");
	my $load = sub { my ($role, $pattern) = @_; return query("SET ROLE $role; SELECT fast_copy('t', '" . path($pattern) . "', options => '{\"ledger\": \"led\"}')") };
	is($load->('below', 'root/r000.csv'), 100, 'loaded');
	is(query('SET ROLE below; SELECT path FROM led'), path('root/r000.csv'), 'the ledger has the path that the role knows');
	is($load->('reads', 'secret place/r*.csv'), 100, 'the same file by its other path, for a role that may read all');
	like(said("SET ROLE below; CALL fast_copy_files('t', '" . path('root/r*') . "', 'led')"), qr/: 0 loaded, 2 loaded before, 0 failed/, 'all are loaded');
	is(query('SELECT string_agg(path, $$ $$ ORDER BY path) FROM led'), path('root/r000.csv') . ' ' . path('root/r001.csv'), 'both paths');
	is_whole(2, 'both');
	query("LOAD 'fast_copy'; ALTER DATABASE postgres RESET fast_copy.root_directory; DROP OWNED BY below, reads; DROP ROLE below, reads");
};

subtest 'several sessions, which are killed' => sub {
	my $kills = $ENV{FC_LEDGER_KILLS} // 12;
	my $nfiles = 60;
	my $killed = 0;
	my $files = write_files('k', 0 .. $nfiles - 1);
	my $call = "CALL fast_copy_files('t', '$files', 'led', batch_files => 3, options => '{\"workers\": 1}');\n";

	srand(7);
	while ($killed < $kills)
	{
		prepare();
		for (my $tries = 0; query('SELECT count(*) FROM led WHERE state = $$loaded$$') < $nfiles; $tries++)
		{
			my @loads = map { start_load($node, $call) } 1 .. 4;

			if ($killed < $kills && $tries < 8)
			{
				usleep(30_000 + int(rand(250_000)));
				my @pids = split /\n/, ($node->psql('postgres', "SELECT pid FROM pg_stat_activity WHERE query LIKE 'CALL%' OR backend_type = 'parallel worker'"))[1] // '';
				if (@pids)
				{
					kill_hard($pids[ rand @pids ]);
					$killed++;
				}
			}
			finish_load($_) foreach @loads;
			wait_until($node, 'SELECT true') or die 'the server does not come back';
		}
		is_whole($nfiles, "after $killed kills");
	}
	is(query("SELECT count(*) FROM led WHERE state = 'loading'"), 0, 'nothing is half done');
	ok(wait_until($node, "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'"), 'no worker is left');
	is(scalar(spill_files($node)), 0, 'no spill file is left');
};

subtest 'sessions share the files' => sub {
	my $files = write_files('s', 0 .. 39);

	prepare(', CHECK (gate(n % 2000))');
	# who makes partitions keeps others from it until the batch is committed
	query("CREATE TABLE t_all PARTITION OF t FOR VALUES FROM ('2013-01-01') TO ('2014-01-01')");
	close_gate();
	my $first = start_load($node, "CALL fast_copy_files('t', '$files', 'led', batch_files => 5)");
	ok(at_gate($node), 'one is at the gate');
	my $second = start_load($node, "CALL fast_copy_files('t', '$files', 'led', batch_files => 5, options => '{\"workers\": 0}')");
	ok(wait_until($node, "SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"), 'so is the other one, with other files');
	open_gate();
	my @told = map { (finish_load($_))[1] =~ /: (\d+) loaded, (\d+) loaded before/ ? ($1, $2) : () } $first, $second;
	is($told[0] + $told[2], 40, 'together they have loaded all');
	is($told[0] + $told[1], 40, 'one has waited for the other');
	is($told[2] + $told[3], 40, 'and so has that');
	is_whole(40, 'all');
};

$node->stop;
done_testing();
