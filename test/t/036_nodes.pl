# Missing partitions on other servers, which the option nodes names: the rows are
# those that COPY puts into a table of partitions that are here, the tables there
# are what they would be here, and what docs/cluster.md promises of their commit.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use POSIX ();
use Test::More;

my @conf = ('restart_after_crash = on', 'max_connections = 100');
my $main = new_node('main', { allows_streaming => 1 }, @conf, 'session_preload_libraries = fast_copy', 'max_prepared_transactions = 50', "datestyle = 'ISO, DMY'", "timezone = 'UTC'");
needs($main, 'postgres_fdw');
# one lacks fast_copy; both read dates and times in another way by themselves
my ($one, $two) = map { new_node($_, { allows_streaming => 1 }, @conf, "datestyle = 'SQL, DMY'", "timezone = 'Asia/Tokyo'", 'log_statement = all',
		'max_prepared_transactions = 50') } 'one', 'two';
my @there = ($one, $two);
$one->safe_psql('postgres', 'DROP EXTENSION fast_copy');
my $DAYS = 36;

on_main('CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster');
on_main(server_sql($_->name, $_)) foreach @there;

# A key of each type: its column, the N-th value, bounds, and an option
my %KEYS = (
	timestamptz => [ sub { POSIX::strftime('%Y-%m-%d %H:%M:%S+00', gmtime(1357000000 + $_[0] * 8641)) } ],
	timestamp => [ sub { POSIX::strftime('%d/%m/%Y %H:%M:%S', gmtime(1357000000 + $_[0] * 8641)) } ],
	date => [ sub { POSIX::strftime('%Y-%m-%d', gmtime(1357000000 + $_[0] * 8641)) } ],
	bigint => [ sub { $_[0] * 10 - 1000 }, ", partition_interval => '100'" ],
);

sub on_main { my ($sql) = @_; return $main->safe_psql('postgres', $sql) }

# All tables are in a schema of this name, on all servers
sub clear
{
	$_->safe_psql('postgres', 'SET client_min_messages = warning; DROP SCHEMA IF EXISTS s CASCADE; CREATE SCHEMA s') foreach $main, @there;
}

sub load
{
	my ($path, $more, $commit) = @_;

	return "SELECT fast_copy('s.t', '$path'" . ($more // '') . ", log_verbosity => 'silent', options => '{\"nodes\": [\"one\", \"two\"], \"remote_commit\": \"" . ($commit // 'auto') . "\"}');";
}

# Tables on one and on two, and foreign tables here
sub tables
{
	return join(' ', (map { $_->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = 's'::regnamespace") } @there),
		on_main("SELECT count(*) FROM pg_class WHERE relkind = 'f' AND relnamespace = 's'::regnamespace"));
}

sub nothing_is_left
{
	my ($what) = @_;
	my $left = tables();

	is($left, '0 0 0', "$what: no table is left");
}

# Rows that t has and l has not, or the other way round, with the bounds of the
# partition that they are in
sub differences
{
	my $rows = "SELECT pg_get_expr(relpartbound, c.oid), whole::text AS r FROM s.%s whole, pg_class c WHERE c.oid = whole.tableoid";
	my ($t, $l) = map { sprintf($rows, $_) } 't', 'l';

	return on_main("(SELECT 't', * FROM ($t EXCEPT ALL $l) a ORDER BY 2, 3 LIMIT 3) UNION ALL (SELECT 'l', * FROM ($l EXCEPT ALL $t) b ORDER BY 2, 3 LIMIT 3)");
}

subtest 'the rows of one local table' => \&the_rows_of_one_local_table;
subtest 'beside partitions that are there' => \&beside_existing_partitions;
subtest 'where they are made' => \&where_they_are_made;
subtest 'what they look like' => \&what_they_look_like;
subtest 'transactions' => \&transactions;
subtest 'errors' => \&errors;
subtest 'all ways' => \&all_ways;
subtest 'refusals' => \&refusals;
$_->stop foreach $main, @there;
done_testing();

# The rows go into all partitions, with quotes, newlines and NULLs in them
sub file_of
{
	my ($name, $type, $order) = @_;
	my @v = ('a', '"c, d"', 'é', '"e""f"', '', "\"two\nlines\"", '\\.');
	my $n = 10 * $DAYS;

	return write_bytes($name, join('', map {
		my $i = $order eq 'in order' ? $_ : $_ * 7919 % $n;
		join(',', $i, $KEYS{$type}[0]->($i), $v[ $i % @v ], $i % 5 ? $i / 4 : '') . "\n" } 0 .. $n - 1));
}

# Makes the referee, s.l, with its partitions here
sub make_local
{
	my ($type, $path, $columns) = @_;
	my ($from, $step) = $type eq 'bigint' ? (-1000, 100) : ("date '2013-01-01'", 1);

	on_main("CREATE TABLE s.l ($columns) PARTITION BY RANGE (at);
		DO \$\$ BEGIN FOR i IN 0 .. $DAYS LOOP
			EXECUTE format('CREATE TABLE s.l_%s PARTITION OF s.l FOR VALUES FROM (%L) TO (%L)', i, $from + i * $step, $from + (i + 1) * $step);
		END LOOP; END \$\$;
		COPY s.l FROM '$path' WITH (FORMAT csv)");
}

sub is_as_copy
{
	my ($name, $type, $path, $workers, $commit) = @_;
	my ($rc, $out, $err) = $main->psql('postgres', "SET fast_copy.chunk_size = 100; " . load($path, ', workers => ' . $workers . ($KEYS{$type}[1] // ''), $commit));

	is($rc, 0, $name) or diag($err);
	is($err, '', "$name: nothing is said");
	is(differences(), '', "$name: rows");
}

sub the_rows_of_one_local_table
{
	foreach my $type (sort keys %KEYS)
	{
		my $columns = "n int, at $type, v text, x numeric(8,2)";

		foreach my $order ($type eq 'timestamptz' ? ('in order', 'in none') : $type eq 'date' ? 'in order' : 'in none')
		{
			my $path = file_of("$type.csv", $type, $order);

			clear();
			make_local($type, $path, $columns);
			foreach my $workers ($type eq 'timestamptz' ? ($order eq 'in none' ? (1, 4) : (0, 2)) : $order eq 'in none' ? 2 : 0)
			{
				my $name = "$type, $order, $workers workers";

				on_main("SET client_min_messages = warning; DROP TABLE IF EXISTS s.t; CREATE TABLE s.t ($columns) PARTITION BY RANGE (at)");
				is_as_copy($name, $type, $path, $workers);
			}
		}
	}
}

# A partition here, one on each other server, and a default one for NULL
sub beside_existing_partitions
{
	my $columns = 'n int, at date, v text';
	my $day = sub { '2013-01-' . sprintf('%02d', 1 + $_[0] % $_[1]) };
	my $for = sub { "FOR VALUES FROM ('2013-01-$_[0]') TO ('2013-01-" . sprintf('%02d', 1 + $_[0]) . "')" };
	my $rows = join('', map { "$_," . ($_ % 17 ? $day->($_ * 7, 12) : '') . ',' . ($_ % 5 ? "v $_" : "\"two\nlines\"") . "\n" } 1 .. 300);
	my $path = write_bytes('beside.csv', $rows);

	foreach my $default ('CREATE TABLE s.t_d PARTITION OF s.t DEFAULT', "CREATE FOREIGN TABLE s.t_d PARTITION OF s.t DEFAULT SERVER two OPTIONS (table_name 'd')")
	{
		clear();
		on_main("CREATE TABLE s.t ($columns) PARTITION BY RANGE (at); $default; CREATE TABLE s.t_1 PARTITION OF s.t " . $for->('03') .
			join('', map { "; CREATE FOREIGN TABLE s.t_$_ PARTITION OF s.t " . $for->($_ eq 'one' ? '02' : '04') . " SERVER $_ OPTIONS (table_name 'r')" } 'one', 'two'));
		$_->safe_psql('postgres', "CREATE TABLE s.r ($columns); CREATE TABLE s.d ($columns)") foreach @there;
		on_main("CREATE TABLE s.l ($columns) PARTITION BY RANGE (at); CREATE TABLE s.l_d PARTITION OF s.l DEFAULT; " .
			join('', map { my $d = sprintf('%02d', $_); "CREATE TABLE s.l_$d PARTITION OF s.l " . $for->($d) . ';' } 1 .. 12) . "COPY s.l FROM '$path' WITH (FORMAT csv)");
		my $name = $default =~ /FOREIGN/ ? 'all there' : 'some here';

		is_as_copy($name, 'date', $path, 2, 'one_phase');
		is(tables(), $default =~ /FOREIGN/ ? '7 6 12' : '7 6 11', "$name: tables");

		# nothing is missing any more: the same once more, with other lines
		my $two = write_bytes('beside_2.csv', $rows =~ s/\n/\r\n/gr);
		on_main("COPY s.l FROM '$two' WITH (FORMAT csv)");
		is_as_copy("$name, again", 'date', $two, 2, 'one_phase');

		# two files of which the second has other lines, old days and new ones
		write_bytes('files_1.csv', $rows);
		my $last = write_bytes('files_2.csv', join("\r\n", map { "$_," . $day->($_ * 5, 20) . ',w' } 1 .. 300));
		on_main(join('', map { "CREATE TABLE s.l_$_ PARTITION OF s.l " . $for->($_) . ';' } 13 .. 20) . "COPY s.l FROM '$path' WITH (FORMAT csv); COPY s.l FROM '$last' WITH (FORMAT csv)");
		is_as_copy("$name, two files", 'date', $last =~ s/_2\.csv/_*.csv/r, 1, 'one_phase');
	}
}

# Partitions on one and on two
sub where_they_are_made
{
	my $days = sub { my ($name, @days) = @_; return write_bytes($name, join('', map { "1,2013-01-$_\n" } @days)) };
	my $columns = 'n int, at date';

	clear();
	on_main("CREATE TABLE s.t ($columns) PARTITION BY RANGE (at)");
	on_main(load($days->('five.csv', '01' .. '05')));
	is(tables(), '3 2 5', 'in turn');
	is(on_main(load($days->('next.csv', '03', '06'))), 2, 'a late row and a new day');
	is(tables(), '3 3 6', 'the one with fewer has the next');
	is(on_main('SELECT count(*) FROM s.t'), 7, 'all rows are there');
	on_main(load($days->('one.csv', '07')) =~ s/, \\?"two\\?"//r);
	on_main(load($days->('one.csv', '08')) =~ s/, \\?"two\\?"//r);
	is(tables(), '5 3 8', 'the one that is named');
	on_main(load($days->('three.csv', '09', '10', '11')));
	is(tables(), '6 5 11', 'and again the one with fewer first');
	my ($rc, $out, $err) = $main->psql('postgres', load($days->('three.csv', '12')) =~ s/log_verbosity => 'silent', //r . "SELECT phase, partition, choice FROM fast_copy_report() WHERE phase IN ('partitions', 'attach') OR partition IS NOT NULL");
	is($out, "1\npartitions||1 created on other servers\nload|t_p20130112|sent to server \"two\", new\nattach||1 attached", 'the report') or diag($err);

	# where the partitions of a server are, there are the next
	$one->safe_psql('postgres', 'CREATE SCHEMA "O ""ne"; CREATE TABLE "O ""ne".r (n int, at date)');
	on_main(q{CREATE FOREIGN TABLE s.t_q PARTITION OF s.t FOR VALUES FROM ('2012-01-01') TO ('2012-01-02') SERVER one OPTIONS (schema_name 'O "ne', table_name 'r')});
	on_main("DROP TABLE s.t; CREATE TABLE s.t ($columns) PARTITION BY RANGE (at)");
	on_main(q{CREATE FOREIGN TABLE s.t_q PARTITION OF s.t FOR VALUES FROM ('2012-01-01') TO ('2012-01-02') SERVER one OPTIONS (schema_name 'O "ne', table_name 'r')});
	on_main(load($days->('three.csv', '01', '02', '03')));
	is($one->safe_psql('postgres', "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relnamespace = '\"O \"\"ne\"'::regnamespace AND relkind = 'r'") =~ s/_[0-9a-f]{8}\b/_x/gr, 'r t_p20130102_x', 'in the schema of those that are there');
	is(on_main('SELECT count(*) FROM s.t'), 3, 'all rows are there');
	$one->safe_psql('postgres', 'SET client_min_messages = warning; DROP SCHEMA "O ""ne" CASCADE');

	# one word, an array, and COPY's option
	clear();
	my $path = $days->('word.csv', '01', '02');
	foreach my $call ("SELECT fast_copy('s.t', '$path', options => '{\"nodes\": \"two\"}')", "SELECT fast_copy('s.t', '$path', options => '{\"nodes\": [\"two\", \"two\"]}')",
		"COPY s.t FROM '$path' WITH (FORMAT csv, fast_copy, nodes 'two')", "COPY s.t FROM '$path' WITH (FORMAT csv, fast_copy, nodes (two))")
	{
		clear();
		on_main("CREATE TABLE s.t ($columns) PARTITION BY RANGE (at)");
		my ($rc, $out, $err) = $main->psql('postgres', $call);
		is($rc, 0, $call) or diag($err);
		is(tables(), '0 2 2', "$call: on two");
	}
	clear();
	on_main("CREATE TABLE s.t ($columns) PARTITION BY RANGE (at); COPY s.t FROM '$path' WITH (FORMAT csv, fast_copy, nodes (two, one))");
	is(tables(), '1 1 2', 'COPY with both');
}

# The definition of a table there, with its names as they are here
sub definition
{
	my ($node, $table) = @_;

	return $node->safe_psql('postgres', "SELECT string_agg(x, E'\n') FROM (
		(SELECT format('%I %s %s %s', attname, format_type(atttypid, atttypmod), attcollation::regcollation, attnotnull) AS x FROM pg_attribute WHERE attrelid = '$table'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum)
		UNION ALL (SELECT format('%s %s', conname, pg_get_constraintdef(oid)) FROM pg_constraint WHERE conrelid = '$table'::regclass AND contype = 'c' ORDER BY 1)
		UNION ALL (SELECT regexp_replace(pg_get_indexdef(indexrelid), '^.* USING', 'USING') FROM pg_index WHERE indrelid = '$table'::regclass ORDER BY 1)) y");
}

sub what_they_look_like
{
	clear();
	on_main(q{CREATE TABLE s.t (gone int, "N ""o" int NOT NULL DEFAULT 7, "At" timestamptz NOT NULL, "select" varchar(20) COLLATE "C" DEFAULT 'it''s', u numeric(8,2)[], gone_too text, b bytea,
			CONSTRAINT "Is ""it" CHECK ("N ""o" > 0 AND "select" <> 'a;b'), CHECK (u IS NULL OR u[1] > -5)) PARTITION BY RANGE ("At");
		ALTER TABLE s.t DROP COLUMN gone, DROP COLUMN gone_too;
		CREATE INDEX ON s.t ("N ""o", "At" DESC) INCLUDE (b) WITH (fillfactor = 80); CREATE INDEX "I 2" ON s.t (lower("select") COLLATE "POSIX" text_pattern_ops) WHERE "N ""o" > 3;
		CREATE INDEX ON s.t USING brin ("At"); CREATE INDEX ON s.t USING hash ("select"); CREATE INDEX ON s.t USING gin (u);
		CREATE TABLE s.l (LIKE s.t INCLUDING CONSTRAINTS INCLUDING INDEXES)});
	my $path = write_bytes('look.csv', join('', map { "$_,2013-01-0" . (1 + $_ % 2) . ",v $_,\"{$_,NULL}\",\\x00ff\n" } 1 .. 100));

	is(on_main(load($path)), 100, 'loaded');
	my %wanted = map { $_ => definition($main, 's.l') } 'one', 'two';
	foreach my $node (@there)
	{
		my $table = $node->safe_psql('postgres', "SELECT oid::regclass FROM pg_class WHERE relkind = 'r' AND relnamespace = 's'::regnamespace");

		is(definition($node, $table), $wanted{ $node->name }, $node->name . ': the table is what it would be here');
		is($node->safe_psql('postgres', "SELECT count(*) FROM pg_index WHERE indrelid = '$table'::regclass AND indisvalid AND indisready"), 5, $node->name . ': all indexes are valid');
		is($node->safe_psql('postgres', "SET enable_seqscan = off; SELECT count(*) FROM $table WHERE \"At\" > '2013-01-01' AND \"N \"\"o\" = " . ($node->name eq 'one' ? 4 : 3)), 1, $node->name . ': and have the rows');
	}
	is(on_main(q{SELECT string_agg(attname || ' ' || pg_get_expr(adbin, adrelid), ', ' ORDER BY adnum) FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE adrelid = 's.t_p20130101'::regclass}),
		q{N "o 7, select 'it''s'::character varying}, 'defaults are here');
	is(on_main("INSERT INTO s.t (\"At\") VALUES ('2013-01-01 12:00'); SELECT count(*) FROM s.t WHERE \"N \"\"o\" = 7 AND \"select\" = 'it''s'"), 1, 'and are used');

  SKIP:
	{
		skip('partitions have no identity of their table before 17', 2) if $main->pg_version < 17;
		clear();
		on_main('CREATE TABLE s.t (n int GENERATED BY DEFAULT AS IDENTITY, at date, v text NOT NULL) PARTITION BY RANGE (at)');
		is(on_main(load(write_bytes('identity.csv', "1,2013-01-01,v\n2,2013-01-02,v\n"))), 2, 'an identity column');
		is(on_main("SELECT setval('s.t_n_seq', 10); INSERT INTO s.t (at, v) VALUES ('2013-01-01', 'v'); SELECT max(n), count(*) FROM s.t"), "10\n11|3", 'counts here');
	}

	# names as long as may be, and taken ones
	my $long = 'é' x 30;
	on_main("CREATE TABLE s.\"$long\" (n int, at date) PARTITION BY RANGE (at)");
	my $short = write_bytes('short.csv', "1,2013-01-01\n2,2013-01-02\n");
	is(on_main(load($short) =~ s/s\.t'/s."$long"'/r), 2, 'a long name');
	is(on_main("SELECT count(*) FROM s.\"$long\""), 2, 'its rows are there');
}

# SQL by a session that goes on after errors, and what it says of them
sub session
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $main->psql('postgres', $sql, on_error_stop => 0);

	return join("\n", grep { $_ ne '' } $out, $err =~ /(ERROR:  .*)/g);
}

sub transactions
{
	my $columns = 'n int, at date';
	my @days = map { write_bytes("days_$_.csv", join('', map { "$_,2013-01-" . sprintf('%02d', 1 + $_ % 4) . "\n" } 1 .. 40) . "50,2013-02-0$_\n") } 1 .. 3;
	my $bad = write_bytes('days_bad.csv', "1,2013-01-01\n1,2013-03-01\nx,2013-01-01\n1,2013-03-02\n");
	my $start = sub { clear(); on_main("CREATE TABLE s.t ($columns) PARTITION BY RANGE (at); CREATE INDEX ON s.t (n)") };
	my $sum = sub { return on_main('SELECT count(*), count(DISTINCT at) FROM s.t') };

	$start->();
	session('BEGIN; ' . load($days[0]) . ' ROLLBACK');
	nothing_is_left('ROLLBACK');
	is(session('BEGIN; ' . load($days[0]) . load($days[1]) . ' COMMIT'), "41\n41", 'two loads, the second into partitions of the first');
	is($sum->(), '82|6', 'all rows are there');
	is(tables(), '3 3 6', 'in tables that there are once');
	is(session('BEGIN; ' . load($days[0]) . load($days[2]) . ' ROLLBACK'), "41\n41", 'two more');
	is($sum->(), '82|6', 'ROLLBACK takes their rows');
	is(tables(), '3 3 6', 'and tables');

	$start->();
	is(session('BEGIN; SAVEPOINT a; ' . load($days[0]) . ' ROLLBACK TO a; COMMIT'), '41', 'ROLLBACK TO');
	nothing_is_left('ROLLBACK TO');
	is(session('BEGIN; ' . load($days[0]) . ' SAVEPOINT a; ' . load($days[1]) . ' ROLLBACK TO a; ' . load($days[2]) . ' COMMIT'), "41\n41\n41", 'ROLLBACK TO, between two that stay');
	is($sum->(), '82|6', 'their rows are there');
	is(tables(), '3 3 6', 'in their tables');
	$start->();
	is(session('BEGIN; SAVEPOINT a; ' . load($days[0]) . ' SAVEPOINT b; ' . load($days[1]) . ' RELEASE b; ROLLBACK TO a; SAVEPOINT c; ' . load($days[2]) . ' RELEASE c; COMMIT'), "41\n41\n41", 'released, and rolled back around that');
	is($sum->(), '41|5', 'its rows are there');
	is(tables(), '3 2 5', 'in their tables');

	# the error of a load in a block that catches it
	foreach my $before ('', $days[0])
	{
		$start->();
		my $perform = sub { return $_[0] eq '' ? '' : load($_[0]) =~ s/SELECT/PERFORM/r };
		is(session('DO $$ BEGIN ' . $perform->($before) . ' FOR i IN 1 .. 3 LOOP BEGIN ' . $perform->($bad) . ' EXCEPTION WHEN invalid_text_representation THEN NULL; END; END LOOP; ' .
			$perform->($days[1]) . ' END $$'), '', 'errors that are caught');
		is($sum->(), $before ? '82|6' : '41|5', 'the rows before and after them are there');
		is(tables(), $before ? '3 3 6' : '3 2 5', 'in their tables');
	}
	is($one->safe_psql('postgres', "SELECT count(*) FROM pg_index WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 's'::regnamespace)"), 3, 'each has its index');

	# a table that somebody drops here afterwards is his
	is(session('BEGIN; ' . load($days[2]) . ' DROP TABLE s.t; COMMIT'), '41', 'dropped in the same transaction');
	is(session('SELECT outcome FROM fast_copy_in_doubt'), '', 'nothing is in doubt');
	is(session('BEGIN; CREATE TABLE s.t (n int, at date) PARTITION BY RANGE (at); ' . load($days[0]) . " PREPARE TRANSACTION 'p'"), "41\nERROR:  cannot PREPARE a transaction that has sent rows to other servers", 'PREPARE TRANSACTION');
}

# Message and line of COPY's error
sub place
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $main->psql('postgres', $sql);

	return join(' / ', $err =~ /(ERROR:  .*)/, $err =~ /^(?:CONTEXT:  )?(?:fast_copy t|COPY l)\b.*?, line (\d+.*)/m);
}

sub errors
{
	my @rows = map { "$_,2013-01-" . sprintf('%02d', 1 + $_ * 7 % 40 % 31) . ",v $_" } 1 .. 200;
	my %bad = (
		value => sub { $_[0] =~ s/^/x/r }, key => sub { $_[0] =~ s/,2013/,x/r }, more => sub { "$_[0],more" }, fewer => sub { $_[0] =~ s/,v.*//r },
		bytes => sub { "$_[0]\xff" });
	my @names = sort keys %bad;

	foreach my $i (0 .. $#names)
	{
		my ($at, $then) = ((1, 2, 99, 150, 199)[$i], (200, 3, 100, 151, 200)[$i]);
		my @copy = @rows;
		$copy[$_] =~ s/v (\d+)/"v\n$1"/ foreach grep { $_ % 7 == 0 } 0 .. 199;
		$copy[ $at - 1 ] = $bad{ $names[$i] }->($copy[ $at - 1 ]);
		$copy[ $then - 1 ] = $bad{ $names[ $i - 1 ] }->($copy[ $then - 1 ]);
		my $path = write_bytes('bad.csv', join("\n", @copy) . "\n");
		clear();
		on_main('CREATE TABLE s.t (n int, at date, v text) PARTITION BY RANGE (at); CREATE TABLE s.l (n int, at date, v text)');
		is(place('SET fast_copy.chunk_size = 100; ' . load($path, ', workers => ' . ($i % 2) * 2)), place("COPY s.l FROM '$path' WITH (FORMAT csv)"), "$names[$i] on $at");
		nothing_is_left("$names[$i] on $at");
	}

	# what a constraint says
	my $path = write_bytes('bad.csv', join("\n", map { $_ eq $rows[120] ? "-1,2013-01-05,v" : $_ } @rows) . "\n");
	clear();
	on_main('CREATE TABLE s.t (n int CHECK (n > 0), at date, v text) PARTITION BY RANGE (at)');
	my ($rc, $out, $err) = $main->psql('postgres', load($path));
	like($err, qr/ERROR:  new row for relation "t_p20130105_[0-9a-f]{8}" violates check constraint "t_n_check"\nDETAIL:  Failing row contains \(-1, 2013-01-05, v\)\.\nCONTEXT:  .*fast_copy t.*, line 121\b/s, 'a CHECK');
	nothing_is_left('a CHECK');
	clear();
	on_main('CREATE TABLE s.t (n int, at date, v text NOT NULL) PARTITION BY RANGE (at)');
	$path = write_bytes('bad.csv', join("\n", map { $_ eq $rows[120] ? "-1,2013-01-05," : $_ } @rows) . "\n");
	($rc, $out, $err) = $main->psql('postgres', load($path));
	like($err, qr/ERROR:  null value in column "v" of relation "t_p20130105_[0-9a-f]{8}" violates not-null constraint.*, line 121\b/s, 'NOT NULL');
	nothing_is_left('NOT NULL');

	# an index that cannot be built, after all rows were sent
	clear();
	on_main('CREATE TABLE s.t (n int, at date, v text) PARTITION BY RANGE (at); CREATE INDEX ON s.t ((1 / (n - 77)))');
	($rc, $out, $err) = $main->psql('postgres', load(write_bytes('bad.csv', join("\n", @rows) . "\n")));
	like($err, qr/ERROR:  division by zero/, 'an index');
	nothing_is_left('an index');
}

# Refused before a row is sent, with nothing left
sub refusals
{
	my $path = write_bytes('refused.csv', "1,2013-01-01,v\n1,2013-01-02,v\n");
	my $none = write_bytes('none.csv', '');
	my $columns = 'n int, at date, v text';
	my $table = "CREATE TABLE s.t ($columns) PARTITION BY RANGE (at)";
	my $load = load($path);
	my $cannot = qr/ERROR:  cannot create partitions of table "t" on other servers/;
	my $given = qr/ERROR:  nodes given, but no partitions can be created/;
	my %cases = (
		'unique index' => [ "$table; CREATE UNIQUE INDEX ON s.t (n, at)", $load, qr/ERROR:  cannot attach foreign table "t_p20130101" as partition of partitioned table "t"\nDETAIL:  Partitioned table "t" contains unique indexes\./ ],
		'primary key' => [ "$table; ALTER TABLE s.t ADD PRIMARY KEY (n, at)", $load, qr/ERROR:  cannot attach foreign table "t_p20130101" as partition of partitioned table "t"\nDETAIL:  Partitioned table "t" contains unique indexes\./ ],
		'foreign key' => [ "CREATE TABLE s.k (n int PRIMARY KEY); INSERT INTO s.k VALUES (1); $table; ALTER TABLE s.t ADD FOREIGN KEY (n) REFERENCES s.k", $load, qr/ERROR:  .*foreign key/ ],
		'row trigger' => [ "$table; CREATE FUNCTION s.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER f BEFORE INSERT ON s.t FOR EACH ROW EXECUTE FUNCTION s.f()", $load, qr/$cannot\nDETAIL:  .*triggers/ ],
		'transition table' => [ "$table; CREATE FUNCTION s.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE TRIGGER f AFTER INSERT ON s.t REFERENCING NEW TABLE AS x EXECUTE FUNCTION s.f()", $load, $cannot ],
		'generated column' => [ 'CREATE TABLE s.t (n int, at date, v text, g int GENERATED ALWAYS AS (n + 1) STORED) PARTITION BY RANGE (at)', $load, qr/$cannot\nDETAIL:  .*generated/ ],
		'a type of its own' => [ "CREATE DOMAIN s.d AS int; CREATE TABLE s.t (n s.d, at date, v text) PARTITION BY RANGE (at)", $load, qr/$cannot\nDETAIL:  .*column "n" has a type/ ],
		'binary' => [ "CREATE TABLE s.b ($columns); INSERT INTO s.b VALUES (1, '2013-01-01', 'v'); COPY s.b TO '$path.bin' WITH (FORMAT binary); $table", load("$path.bin", ", format => 'binary'"), qr/$cannot\nDETAIL:  .*binary/ ],
		'on_error' => [ $table, load($path, ", on_error => 'ignore'"), qr/$cannot\nDETAIL:  .*on_error/ ],
		'condition' => [ $table, load($path, ", where_clause => 'n > 0'"), qr/$cannot\nDETAIL:  .*condition/ ],
		'a column fewer' => [ $table, load(write_bytes('fewer.csv', "1,2013-01-01\n"), ", columns => '{n,at}'"), qr/$cannot\nDETAIL:  .*column is not in the file/ ],
		'hash' => [ "CREATE TABLE s.t ($columns) PARTITION BY HASH (n)", $load, $given ],
		'no partitions' => [ "CREATE TABLE s.t ($columns)", $load, $given ],
		'missing_partitions' => [ $table, load($path, ", missing_partitions => 'error'"), $given ],
		'no such server' => [ $table, $load =~ s/"two"/"three"/r, qr/ERROR:  server "three" does not exist/ ],
		'another wrapper' => [ "$table; CREATE FOREIGN DATA WRAPPER w; CREATE SERVER w FOREIGN DATA WRAPPER w", $load =~ s/"two"/"w"/r, qr/ERROR:  server "w" is not one of postgres_fdw/, 'DROP FOREIGN DATA WRAPPER w CASCADE' ],
		'no schema there' => [ "$table; ALTER TABLE s.t SET SCHEMA public", $load =~ s/s\.t/t/r, qr/ERROR:  permission denied for schema public/, 'DROP TABLE t' ],
		'no servers' => [ $table, $load =~ s/\["one", "two"\]/[]/r, qr/ERROR:  option "nodes" must not be empty/ ],
		'an owner who may not use the server' => [ "$table; CREATE ROLE owner LOGIN; GRANT pg_read_server_files TO owner; GRANT ALL ON SCHEMA s TO owner; ALTER TABLE s.t OWNER TO owner", "SET ROLE owner; $load", qr/ERROR:  permission denied for foreign server one/, 'DROP TABLE s.t; DROP OWNED BY owner; DROP ROLE owner' ],
	);

	$_->safe_psql('postgres', 'REVOKE CREATE ON SCHEMA public FROM PUBLIC; CREATE ROLE loader LOGIN') foreach @there;
	foreach my $name (sort keys %cases)
	{
		my ($before, $sql, $wanted, $after) = @{ $cases{$name} };

		clear();
		on_main("SET client_min_messages = warning; ALTER USER MAPPING FOR PUBLIC SERVER $_ OPTIONS (SET user '" . ($name eq 'no schema there' ? 'loader' : 'postgres') . "')") foreach 'one', 'two';
		on_main($before);
		my $log = length PostgreSQL::Test::Utils::slurp_file($two->logfile);
		my ($rc, $out, $err) = $main->psql('postgres', $sql);
		like($err, $wanted, "$name: the error") or diag($out);
		unlike(substr(PostgreSQL::Test::Utils::slurp_file($two->logfile), $log), qr/statement: COPY/, "$name: no row is sent");
		nothing_is_left($name);
		on_main($after) if $after;
	}
	on_main("ALTER USER MAPPING FOR PUBLIC SERVER $_ OPTIONS (SET user 'postgres')") foreach 'one', 'two';

	clear();
	on_main($table);
	my ($rc, $out, $err) = $main->psql('postgres', "SET fast_copy.max_partitions = 1; $load");
	like($err, qr/ERROR:  cannot create more than 1 partition/, 'too many');
	nothing_is_left('too many');
  SKIP:
	{
		skip('pg_partman is not installed', 2) if on_main("SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_partman'") eq '0';
		clear();
		on_main('CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman');
		my ($type, $width) = on_main("SELECT extversion LIKE '4.%' FROM pg_extension WHERE extname = 'pg_partman'") eq 't' ? ('native', 'daily') : ('range', '1 day');
		on_main("CREATE TABLE s.t (n int, at date NOT NULL, v text) PARTITION BY RANGE (at); SELECT partman.create_parent(p_parent_table => 's.t', p_control => 'at', p_type => '$type', p_interval => '$width')");
		($rc, $out, $err) = $main->psql('postgres', $load);
		like($err, qr/ERROR:  option "nodes" cannot be used for table "t", which pg_partman manages\nHINT:  Leave it out, or switch fast_copy\.use_partman off\./, 'pg_partman');
		nothing_is_left('pg_partman');
	}
}

# Files that come in other ways, and loads in other surroundings
sub all_ways
{
	my $columns = 'n int, at date, v text';
	my $rows = join('', map { "$_," . ('2013-01-01', '2013-01-02', '2013-01-05', '2013-01-07')[ $_ % 4 ] . ",v $_\n" } 1 .. 400);
	my $path = write_bytes('ways.csv', $rows);
	my $empty = write_bytes('empty.csv', '');
	my $zipped = "$path.gz";
	my $copy = "COPY s.t FROM %s WITH (FORMAT csv, fast_copy, nodes (one, two))";
	my $nodes = "options => '{\"nodes\": [\"one\", \"two\"]}'";
	system('gzip', '-k', $path) == 0 or die 'gzip';
	chmod 0644, $zipped;
	my %ways = (
		'a packed file' => load($zipped), 'a packed file, no workers' => load($zipped, ', workers => 0'),
		'a program' => sprintf($copy, "PROGRAM 'cat $path'"), 'the client' => sprintf($copy, 'STDIN') . ";\n$rows\\.\n",
		'a header' => sprintf($copy, "'" . write_bytes('head.csv', "n,at,v\n$rows") . "'") =~ s/csv,/csv, HEADER,/r,
		'other columns' => load(write_bytes('columns.csv', $rows =~ s/(.*),(.*),(.*)/$3,$1,$2/gr), ", columns => '{v,n,at}'"),
		'text' => load(write_bytes('text.csv', $rows =~ tr/,/\t/r), ", format => 'text'"),
		'analyze' => load($path, ', run_analyze => true'), 'analyze later' => 'BEGIN; ' . load($path) . load($empty, ', run_analyze => true') . ' COMMIT; ANALYZE s.t',
		'serializable' => 'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM s.t; ' . load($path) . ' COMMIT',
		'repeatable read' => 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM s.t; ' . load($path) . ' COMMIT',
		'lazily' => 'SET synchronous_commit = off; ' . load($path),
	);

	clear();
	on_main("CREATE TABLE s.t ($columns) PARTITION BY RANGE (at); CREATE TABLE s.l ($columns) PARTITION BY RANGE (at); " .
		join('', map { "CREATE TABLE s.l_$_ PARTITION OF s.l FOR VALUES FROM ('2013-01-0$_') TO ('2013-01-0" . ($_ + 1) . "');" } 1, 2, 5, 7) . "COPY s.l FROM '$path' WITH (FORMAT csv)");
	foreach my $way (sort keys %ways)
	{
		on_main("DROP TABLE s.t; CREATE TABLE s.t ($columns) PARTITION BY RANGE (at)");
		my ($rc, $out, $err) = $main->psql('postgres', $ways{$way});
		is($rc, 0, $way) or diag($err);
		is(differences(), '', "$way: rows");
		unlike($err, qr/one by one|WARNING/, "$way: sent");
	}

	# nothing in it; keys that no partition has; what is only looked at
	clear();
	on_main("CREATE TABLE s.t ($columns) PARTITION BY RANGE (at); CREATE TABLE s.l ($columns) PARTITION BY RANGE (at)");
	is(on_main(load($empty)), 0, 'an empty file');
	my ($rc, $out, $err) = $main->psql('postgres', "SELECT * FROM fast_copy_analyze('s.t', '$path', $nodes)");
	is($rc, 0, 'fast_copy_analyze()') or diag($err);
	nothing_is_left('fast_copy_analyze()');
	foreach my $key ('', 'infinity', '-infinity')
	{
		my $file = write_bytes('key.csv', "1,2013-01-01,v\n2,2013-01-02,v\n3,$key,v\n");
		like(place(load($file)), qr/ERROR:  no partition of relation "t" found for row \/ 3: "3,$key,v"/, "'$key' as a key: no partition");
		nothing_is_left("'$key' as a key");
	}

	# on this server itself, and beside another load of the same days
	clear();
	on_main("CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $main->host . "', port '" . $main->port . "', dbname 'postgres'); CREATE USER MAPPING FOR PUBLIC SERVER here OPTIONS (user 'postgres');
		CREATE SCHEMA IF NOT EXISTS s; CREATE TABLE s.t ($columns) PARTITION BY RANGE (at)");
	is(on_main(load($path) =~ s/"two"/"here"/r), 400, 'this server itself');
	is(on_main("SELECT count(*) FROM s.t; SELECT count(*) FROM fast_copy_resolve(); DROP SERVER here CASCADE"), "400\n0", 'all rows are there');
	clear();
	on_main("CREATE TABLE s.t ($columns) PARTITION BY RANGE (at)");
	my @loads = map { start_load($main, load($path)) } 1 .. 3;
	my @said = map { join('', finish_load($_)) } @loads;
	is(join(' ', @said), '400 400 400', 'loads of the same days at once');
	is(on_main('SELECT count(*) FROM s.t'), 1200, 'all rows are there');
	is(tables(), '2 2 4', 'in tables that there are once');

	# a temporary table
	($rc, $out, $err) = $main->psql('postgres', "CREATE TEMP TABLE t ($columns) PARTITION BY RANGE (at); " . load($path) =~ s/s\.t/t/r);
	like($err, qr/ERROR:  option "nodes" cannot be used for temporary table "t"/, 'a temporary table');
	is(tables(), '2 2 4', 'nothing is made');
}
