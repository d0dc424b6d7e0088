# Files larger than a batch, by cut_files: whole records, each once, whoever dies;
# and the ledger says which bytes are in.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy qw(:DEFAULT query failure);
use IO::Compress::Gzip qw(gzip);
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{FC_SEED} // 1;
my $node = new_node('main', {}, 'restart_after_crash = on', "timezone = 'UTC'");

diag("seed $seed");
srand($seed =~ /\D/ ? hex($seed) : $seed);
gates($node);
query("CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'");

sub pick { return $_[ int(rand(@_)) ] }
sub path { my ($name) = @_; return FastCopy::directory() . "/$name" }
sub said { return ($node->psql('postgres', $_[0]))[2] }

sub prepare
{
	my ($more) = @_;

	open_gate();
	events($node, 't', $more);
	query("DROP TABLE IF EXISTS led; SELECT fast_copy_create_ledger_table('led')");
}

# What the ledger has of its only file
sub line { return query("SELECT state, coalesce(done_bytes, -1), coalesce(done_lines, -1), rows FROM led") }

# A file of random records that COPY reads by "options"; their texts have all that makes
# an end of line none.  Returns its bytes, the options, and for each record where
# it ends and how many lines are before that.
sub random_file
{
	my $text = pick(0, 0, 1);
	my $eol = pick("\n", "\n", "\r\n", "\r");
	my $escape = $text ? '' : pick('"', '"', '\\');
	my $lines = pick(0, 1, 2, 'map', 'match');
	my @options = ($text ? "format => 'text'" : "escape => '$escape'", "header => '$lines'");
	my $count = $lines =~ /\d/ ? $lines : 1;
	my $delimiter = $text ? "\t" : ',';
	my $bytes = join('', map { join($delimiter, qw(n ts v)) . $eol } 1 .. $count);
	my $at = $count;
	my $kinds = pick(1, 5, 5);
	my @ends;

	foreach my $n (1 .. 20 + int(rand(60)))
	{
		my $v = ('x' x int(rand(30)), $text ? "a\\${eol}b" : "\"a${eol}b\"", $text ? 'x\\ty' : "\"$escape\"$eol$eol$escape\"\"", $text ? '\\\\' : '"\\."', 'x' x int(rand(400)))[ int(rand($kinds)) ];
		$v = 'x' if $text && $eol eq "\r\n" && $v =~ /\r/;
		my $record = join($delimiter, $n, sprintf('2013-01-%02d', $n % 5 + 1), $v);

		$bytes .= $record . $eol;
		# an escaped end of line in text is none; of \r\n in quotes COPY counts one
		my $inside = $text ? 0 : scalar(() = $record =~ /\Q$eol\E/g);
		$at += 1 + $inside;
		push @ends, [ length($bytes), $at ];
	}
	if (pick(0, 0, 1))
	{
		$bytes = substr($bytes, 0, length($bytes) - length($eol));
		$ends[-1][0] = length($bytes);
	}
	return ($bytes, join(', ', @options), $ends[0][0], @ends);
}

# Loads as COPY would, whatever the size of a batch
subtest 'random files' => sub {
	foreach my $case (1 .. $ENV{FC_CUT_FILES_CASES} // 25)
	{
		my ($bytes, $options, $least, @ends) = random_file();
		my $file = write_bytes('random.csv', $bytes);
		my $size = pick($least, 1, 50, 300, 1000, 5000);
		my $trigger = pick(0, 0, 0, 1);
		my $stop = pick(0, 1 + int(rand(@ends)));
		my $call = "CALL fast_copy_files('t', '$file', 'led', batch_size => '$size bytes', cut_files => true, workers => " . pick(0, 0, 2) . ", $options)";
		my $what = "case $case: $call" . ($trigger ? ', by core' : '') . ", stopped at $stop";

		prepare($stop ? ", CHECK (n <> $stop)" : '');
		query("CREATE TABLE want (LIKE t); SELECT fast_copy('want', '$file', $options)");
		query('CREATE TABLE t_rest PARTITION OF t DEFAULT; CREATE TRIGGER same BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION same()') if $trigger;
		my $whole = $stop ? said("SELECT fast_copy('t', '$file', workers => 0, $options)") : '';
		my $err = said($call);
		if ($stop)
		{
			like($err, qr/violates check constraint/, "$what: the error");
			my ($state, $done, $lines, $rows) = split /\|/, line();
			$rows = $done < 0 ? 0 : $rows;
			is($state, 'failed', "$what: has failed");
			is(query('SELECT count(*), coalesce(max(n), 0) FROM t'), "$rows|$rows", "$what: the rows that the ledger has");
			cmp_ok($rows, '<', $stop, "$what: before the error");
			is($done, $rows == 0 ? -1 : $ends[$rows - 1][0], "$what: the bytes of these");
			# COPY counts in another way in a first record that tells how lines end
			is($lines, $rows == 0 ? -1 : $ends[$rows - 1][1], "$what: their lines") if $options !~ /header => '0'/;
			is(join(' ', $err =~ /, line (\d+)/g), join(' ', $whole =~ /, line (\d+)/g), "$what: the line of the error");
			query('ALTER TABLE t DROP CONSTRAINT t_n_check');
			$err = said($call);
		}
		like($err, qr/: 1 loaded, 0 loaded before, 0 failed/, "$what: loaded");
		is(query('SELECT count(*) FROM ((TABLE t EXCEPT ALL TABLE want) UNION ALL (TABLE want EXCEPT ALL TABLE t)) x'), 0, "$what: as COPY loads it") or diag($bytes =~ s/\r/\\r/gr);
		is(line(), 'loaded|-1|-1|' . scalar(@ends), "$what: its line");
		cmp_ok(query('SELECT count(DISTINCT xmin::text) FROM t'), '>', 1, "$what: in several transactions") if $size < length($bytes) / 3 && $least * 2 < length($bytes);
		my $checksum = query('SELECT checksum, first_key, last_key FROM led');
		query("TRUNCATE led, t; SELECT fast_copy('t', '$file', ledger => 'led', $options)");
		is($checksum, query("SELECT checksum" . ($trigger ? ", NULL, NULL" : ', first_key, last_key') . ' FROM led'), "$what: its checksum and keys");
		query('DROP TABLE want');
	}
};

# So many records "n,day,v" of 30 bytes each, after those that are there
sub records
{
	my ($from, $to, $v) = @_;

	return join('', map { sprintf "%06d,2013-01-%02d,%-11s\n", $_, $_ % 5 + 1, $v // "v$_" } $from .. $to);
}

sub call
{
	my ($file, $more) = @_;

	return "CALL fast_copy_files('t', '$file', 'led', batch_size => '300 bytes', cut_files => true" . ($more // '') . ')';
}

subtest 'what is not asked for, or cannot be' => sub {
	my $file = write_bytes('plain.csv', records(1, 100));
	my $call = call($file);
	my $binary = path('binary');
	my $packed = path('packed.csv.gz');

	prepare();
	query($call =~ s/cut_files => true/cut_files => false/r);
	is(query('SELECT count(DISTINCT xmin::text), count(*) FROM t'), '1|100', 'off by default');
	prepare();
	query("COPY (SELECT n, '2013-01-01'::timestamp, 'v' FROM generate_series(1, 100) n) TO '$binary' (FORMAT binary)");
	gzip($file => $packed);
	write_bytes('sjis.csv', records(1, 100));
	like(said(call($packed)), qr/: 1 loaded, 0 loaded before, 0 failed/, 'a packed file');
	like(said(call($binary, ", format => 'binary'")), qr/: 1 loaded, 0 loaded before, 0 failed/, 'a binary one');
	like(said(call(path('sjis.csv'), ", encoding => 'SJIS'")), qr/: 1 loaded, 0 loaded before, 0 failed/, 'one that is converted before');
	is(query('SELECT count(DISTINCT xmin::text), count(*) FROM t'), '3|300', 'are loaded whole');
	is(query('SELECT count(*) FROM led WHERE state = $$loaded$$ AND rows = 100 AND done_bytes IS NULL'), 3, 'as the ledger says');
	like(failure(call($file) =~ s/true/NULL/r), qr/22004: argument "cut_files" must not be null/, 'NULL');
	# what was begun in one encoding is not gone on with in another
	prepare(', CHECK (n <> 50)');
	like(failure($call), qr/23514.*plain\.csv", line 50/s, 'it is begun');
	like(failure(call($file, ", encoding => 'SJIS'")), qr/55000: cannot go on with file ".*plain\.csv" at byte 1200\n.*With these options its text is not read in the encoding of its bytes/, 'another encoding');
	like(failure(call($file, ", format => 'binary'")), qr/55000: cannot go on with file|22P04: COPY file signature not recognized/, 'another format');
	like(failure(call($file, ", transform => 'v = \$row::text'")), qr/55000: cannot go on with file/, 'records that are counted from the first one');
	is(line(), 'failed|1200|40|40', 'nothing has changed');
	prepare();
	query(call($file, ", transform => 'v = \$line || \$\$ \$\$ || \$byte_offset'"));
	is(query("SELECT count(DISTINCT xmin::text) > 3, count(*), count(*) FILTER (WHERE v = n || ' ' || (n - 1) * 30) FROM t"), 't|100|100', 'lines and places are those of the file');
	prepare();
	query(call($file, ", transform => 'v = \$row::text'"));
	is(query('SELECT count(DISTINCT xmin::text), count(*) FILTER (WHERE v = n::text) FROM t'), '1|100', 'a file whose records are counted is not cut');
};

subtest 'files with a marker' => sub {
	foreach my $before (0, 9, 10, 11, 55, 100)
	{
		my $text = join('', map { tr/,/\t/r } records(1, $before)) . "\\.\n" . records(900, 1000);
		my $file = write_bytes('marker.txt', $text);

		prepare();
		like(said(call($file, ", format => 'text'")), qr/: 1 loaded, 0 loaded before, 0 failed/, "$before rows before it");
		is(query('SELECT count(*), max(n) FROM t'), $before ? "$before|$before" : '0|', '... are loaded');
		is(line(), "loaded|-1|-1|$before", '... as the ledger says');
	}
};

# Core shows such a record as if it had read those before
subtest 'a first record of a part that is bad' => sub {
	foreach my $bad ("\"a\n\nb\xff\"", "\"a\nb", "\"a\nb\",x", 'x' . "\r" . 'y', "\"a\nb\"\"")
	{
		foreach my $header (0, 1)
		{
			my $file = write_bytes('first.csv', ($header ? "n,ts,v\n" : '') . records(1, 10) . "11,2013-01-01,$bad\n" . records(12, 40));
			my ($whole, $err);

			foreach my $core (0, 1)
			{
				prepare();
				query('CREATE TABLE t_rest PARTITION OF t DEFAULT; CREATE TRIGGER same BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION same()') if $core;
				$whole = said("SELECT fast_copy('t', '$file', header => $header)") unless $core;
				$err = said(call($file, ", header => $header"));
				my ($want, $got) = map { join('|', /ERROR:  (.*)/, /, (line .*)/) } $whole, $err;
				is($got, $want, ($core ? 'by core: ' : '') . "header $header: $want");
				is(line(), 'failed|' . (300 + 7 * $header) . '|' . (10 + $header) . '|10', '... after the first part');
			}
		}
	}
};

subtest 'files that change between batches' => sub {
	my $file = write_bytes('change.csv', records(1, 100));

	prepare(', CHECK (v <> $$bad$$)');
	write_bytes('change.csv', records(1, 54) . records(55, 55, 'bad') . records(56, 100));
	query('ALTER TABLE t DROP CONSTRAINT t_v_check; ALTER TABLE t ADD CHECK (btrim(v) <> $$bad$$)');
	like(failure(call($file)), qr/23514.*change\.csv", line 55/s, 'a bad record');
	is(line(), 'failed|1500|50|50', 'those before it are in');
	is(query('SELECT sqlstate, line FROM led'), '23514|55', 'why, and where');
	# the part that is in has changed
	write_bytes('change.csv', records(1, 49) . records(50, 50, 'other') . records(51, 100));
	foreach my $changed ('error', 'skip')
	{
		like(failure(call($file, ", changed_files => '$changed'")), qr/55000: file ".*change\.csv" has changed since its first 1500 bytes were loaded\n.*changed_files => 'load' loads all of it/s, "changed_files '$changed'");
		is(line(), 'failed|1500|50|50', 'nothing has changed');
	}
	write_bytes('change.csv', records(1, 49));
	like(failure(call($file)), qr/55000: file ".*change\.csv" has changed since its first 1500 bytes/, 'it was cut off before');
	# only the rest is mended, and is longer now
	write_bytes('change.csv', records(1, 54) . "55,2013-01-01,this is longer\n" . records(56, 130));
	like(said(call($file)), qr/: 1 loaded, 0 loaded before, 0 failed/, 'mended');
	is(query('SELECT count(*), count(DISTINCT n), count(*) FILTER (WHERE v = $$this is longer$$) FROM t'), '130|130|1', 'each row once');
	is(query('SELECT state, rows, size, done_bytes IS NULL, message IS NULL FROM led'), 'loaded|130|' . (-s $file) . '|t|t', 'its line');
	like(said(call($file)), qr/: 0 loaded, 1 loaded before/, 'once more');
	utime(1_400_000_000, 1_400_000_000, $file);
	like(said(call($file)), qr/: 0 loaded, 1 loaded before/, 'touched');
	append_to_file($file, records(131, 131));
	like(failure(call($file)), qr/55000: file ".*change\.csv" has changed since it was loaded/, 'changed when all of it was in');
	like(said(call($file, ", changed_files => 'skip'")), qr/: 0 loaded, 1 loaded before/, 'skipped');
	like(said(call($file, ", changed_files => 'load'")), qr/: 1 loaded, 0 loaded before/, 'loaded again, cut');
	is(query('SELECT count(*), count(DISTINCT n) FROM t'), '261|131', 'all of it');
	is(line(), 'loaded|-1|-1|131', 'its line');
	# a part is loaded again, too
	prepare(', CHECK (btrim(v) <> $$bad$$)');
	write_bytes('change.csv', records(1, 54) . records(55, 55, 'bad') . records(56, 100));
	like(failure(call($file)), qr/23514/, 'a bad record');
	write_bytes('change.csv', records(1001, 1100));
	like(said(call($file, ", changed_files => 'load'")), qr/: 1 loaded, 0 loaded before/, 'all is another');
	is(query('SELECT count(*), count(*) FILTER (WHERE n <= 50) FROM t'), '150|50', 'beside the rows that it gave before');
	is(query('SELECT rows, first_key FROM led'), '100|2013-01-01 00:00:00', 'its line');
};

subtest 'a file that grows when all of it is in' => sub {
	foreach my $changed ('error', 'load')
	{
		my $file = write_bytes('grows.csv', records(1, 100));

		prepare();
		query("DROP FUNCTION IF EXISTS append CASCADE; CREATE FUNCTION append() RETURNS trigger LANGUAGE plpgsql AS
			\$\$ BEGIN COPY (SELECT 101, '2013-01-01', 'late') TO PROGRAM 'cat >>$file' (FORMAT csv); RETURN NULL; END \$\$;
			CREATE CONSTRAINT TRIGGER late AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.n = 100) EXECUTE FUNCTION append();
			CREATE TABLE t_rest PARTITION OF t DEFAULT");
		like(said(call($file, ", changed_files => '$changed'")), qr/: 1 loaded, 0 loaded before, 0 failed/, "changed_files '$changed': one call");
		is(query('SELECT count(*) FROM t'), 100, '... loads it once');
		is(line(), 'loaded|-1|-1|100', '... as the ledger says');
		like(failure(call($file)), qr/55000: file ".*grows\.csv" has changed since it was loaded/, '... and the next one sees that it has changed');
	}
};

subtest 'other loads of a file in part' => sub {
	my $file = write_bytes('part.csv', records(1, 100));
	my $replace = "SELECT fast_copy('t', '$file', ledger => 'led', existing_rows => 'replace')";

	foreach my $other ("SELECT fast_copy('t', '$file', ledger => 'led')", "LOAD 'fast_copy'; COPY t FROM '$file' WITH (fast_copy, FORMAT csv, ledger 'led')",
		"CALL fast_copy_files('t', '" . path('pa*.csv') . "', 'led')", $replace)
	{
		prepare(', CHECK (n <> 55)');
		said(call($file));
		is(line(), 'failed|1500|50|50', 'a part is loaded');
		query('ALTER TABLE t DROP CONSTRAINT t_n_check');
		write_bytes('pa2.csv', records(201, 260));
		like(failure("SELECT fast_copy('t', '" . path('pa2.csv') . "', ledger => 'led', existing_rows => 'replace')"), qr/55000: rows of 1 other file would be replaced\n.*part\.csv/, 'its rows are not replaced by another file');
		query($other);
		is(query('SELECT count(*), count(DISTINCT n) FROM t WHERE n <= 100'), '100|100', "$other: each row once");
		is(query("SELECT state, rows, done_bytes IS NULL FROM led WHERE path = '$file'"), 'loaded|100|t', '... and its line');
		unlink path('pa2.csv');
	}
};

subtest 'rejects' => sub {
	my $file = write_bytes('reject.csv', "n,ts,v\n" . join('', map { $_ % 10 == 3 ? "x$_,2013-01-01,\"a\nb\"\n" : $_ % 10 == 4 ? "\n" : records($_, $_) } 1 .. 100));

	prepare();
	query("SELECT fast_copy_create_reject_table('bad')");
	my $options = ", header => true, on_error => 'ignore', reject_table => 'bad', skip_empty_lines => true, where_clause => 'n % 10 <> 5'";
	query("SELECT fast_copy('t', '$file'$options); ALTER TABLE bad RENAME TO whole; TRUNCATE t; SELECT fast_copy_create_reject_table('bad')");
	query(call($file, $options));
	is(query("SELECT state, rows, rejected, filtered, done_bytes FROM led"), 'loaded|70|10|20|', 'counts are those of the file');
	is(query('SELECT count(DISTINCT job) > 3, count(*) FROM bad'), 't|10', 'as a job for each batch');
	is(query('SELECT count(*) FROM (SELECT lineno, byte_offset, line FROM bad EXCEPT SELECT lineno, byte_offset, line FROM whole) x'), 0, 'lines and places are those of the file');
	query('DROP TABLE whole');
};

subtest 'two sessions' => sub {
	my $file = write_bytes('two.csv', records(1, 400));

	prepare(', CHECK (gate(n))');
	close_gate();
	my @loads = map { start_load($node, call($file)) } 1, 2;
	ok(at_gate($node), 'one is at the gate');
	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event IN ('transactionid', 'tuple') OR query LIKE 'CALL%' AND wait_event_type = 'Lock'"), 'the other one waits');
	open_gate();
	like((finish_load($_))[1], qr/: \d loaded, \d loaded before, 0 failed/, 'it ends') foreach @loads;
	is(query('SELECT count(*), count(DISTINCT n), count(DISTINCT xmin::text) FROM t'), '400|400|40', 'each row once');
	is(line(), 'loaded|-1|-1|400', 'its line');
};

# Kills the session, or the server, at any moment: what is committed is what the ledger says
subtest 'kills' => sub {
	my $file = write_bytes('kill.csv', records(1, 4000));
	my $least = 0;

	prepare();
	foreach my $round (1 .. 200)
	{
		my $load = start_load($node, call($file));
		select(undef, undef, undef, rand(0.12));
		if ($round % 4 == 0)
		{
			$node->stop('immediate');
			finish_load($load);
			$node->start;
		}
		elsif ($round % 4 == 1)
		{
			my $pid = query("SELECT max(pid) FROM pg_stat_activity WHERE query LIKE 'CALL%'");
			my $before = slurp_log($node);
			kill_hard($pid) if $pid;
			eval { finish_load($load) };
			ok(wait_until($node, 'SELECT true'), 'the server is there');
		}
		else
		{
			query("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE query LIKE 'CALL%'");
			finish_load($load);
		}
		my ($state, $done, $lines, $rows) = split /\|/, line() || 'none|-1|-1|0';
		$rows = $state eq 'loaded' ? 4000 : $done < 0 ? 0 : $rows;
		is(query('SELECT count(*), count(DISTINCT n), coalesce(max(n), 0) FROM t'), "$rows|$rows|$rows", "round $round: the rows that the ledger has, $rows");
		is("$done|$lines", $rows > 0 && $state eq 'waiting' ? $rows * 30 . "|$rows" : '-1|-1', "round $round: bytes and lines");
		cmp_ok($rows, '>=', $least, "round $round: none is lost");
		$least = $rows;
		last if $state eq 'loaded';
	}
	query(call($file));
	is(query('SELECT count(*), count(DISTINCT n) FROM t'), '4000|4000', 'each row once');
	is(line(), 'loaded|-1|-1|4000', 'its line');
};

done_testing();
