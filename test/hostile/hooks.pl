# Other people's hooks: each sees a load as a COPY, once, with its rows, in
# whichever order the libraries are loaded; what it forbids is forbidden.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {}, 'compute_query_id = on', "pg_stat_statements.track = 'top'",
	"pgaudit.log = 'read, write, function'", "pgaudit.role = 'auditor'");
my $file = write_bytes('rows.csv', "1,a\n2,b\n3,c\n");

# Is the library installed?
sub has
{
	my ($rc, $out, $err) = $node->psql('postgres', "LOAD '$_[0]'");

	return 1 unless $err =~ /could not access file/;
	SKIP: { skip "the library $_[0] is not installed", 1 }
	return 0;
}

my %has = map { $_ => has($_) } 'pgaudit', 'pg_stat_statements';

# Output and notices of a session; what it has logged as audit
sub session
{
	my ($sql) = @_;
	my $from = -s $node->logfile;
	my ($rc, $out, $err) = $node->psql('postgres', "SET fc_watch.tell = on; $sql");
	my $log = slurp_file($node->logfile, $from);
	# the load itself reads catalogs, too
	my @audit = grep { !/FROM pg_extension/ } map { s/,<not logged>$//r } $log =~ /AUDIT: (\w+,\d+,\d+,.*)/g;

	s/^psql:<stdin>:\d+: //mg foreach $err;
	chomp($err = unsaid($err));
	return ($out, $err, map { s/^(\w+),\d+,\d+,/$1,/r } @audit);
}

sub starts_with
{
	my ($shared, $session) = @_;
	my $list = join(', ', grep { $has{$_} // 1 } split(/ /, $shared));

	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$list'\nsession_preload_libraries = '$session'\n");
	$node->restart;
}

$node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements') if $has{pg_stat_statements};
$node->safe_psql('postgres', q{
	CREATE TABLE t (n int, v text) PARTITION BY RANGE (n);
	CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (0) TO (2);
	CREATE TABLE t_2 PARTITION OF t FOR VALUES FROM (2) TO (20000);
	CREATE TABLE seen (n int, v text);
	CREATE ROLE auditor; CREATE ROLE loader; CREATE ROLE poor;
	GRANT INSERT ON seen TO auditor;
	GRANT INSERT ON t, seen TO loader, poor;
	GRANT SELECT (n) ON t TO loader;
	GRANT pg_read_server_files, pg_execute_server_program TO loader;
	SELECT fast_copy_create_reject_table('wrong');
	GRANT INSERT ON wrong TO loader});

my @orders = (
	[ 'pgaudit pg_stat_statements fc_watch fast_copy', '' ],
	[ 'fast_copy fc_watch pg_stat_statements pgaudit', '' ],
	[ 'pgaudit pg_stat_statements fc_watch', 'fast_copy' ],
	[ 'fc_watch pgaudit fast_copy pg_stat_statements', '' ],
	[ 'pg_stat_statements pgaudit', 'fast_copy, fc_watch' ]);

foreach my $order (@orders)
{
	my $name = join(' | ', @$order);
	my @tells = ("NOTICE:  sees COPY t from $file, 2 options", 'NOTICE:  saw COPY 3');

	starts_with(@$order);
	$node->safe_psql('postgres', 'SELECT pg_stat_statements_reset()') if $has{pg_stat_statements};

	foreach my $role ('postgres', 'loader')
	{
		subtest "$name: what $role loads is seen as a COPY, and audited once" => sub {
			my $set = $role eq 'loader' ? 'SET ROLE loader;' : '';
			my $with = 'WITH (FORMAT csv, fast_copy)';
			my ($out, $err, @audit) = session("$set COPY t FROM '$file' $with");

			is($err, join("\n", @tells), "$name: $role: COPY is seen, with its rows");
			SKIP:
			{
				skip 'pgaudit is not installed', 1 unless $has{pgaudit};
				is(join("\n", @audit), "SESSION,WRITE,COPY,,,\"COPY t FROM '$file' $with\"", "$name: $role: COPY is audited, once");
			}
			($out, $err, @audit) = session("$set SELECT fast_copy('t', '$file')");
			is("$out\n$err", "3\n" . join("\n", @tells) =~ s/2 options/1 options/r, "$name: $role: the function is seen as a COPY");
			SKIP:
			{
				skip 'pgaudit is not installed', 1 unless $has{pgaudit};
				is(join("\n", grep { /,WRITE,/ } @audit), "SESSION,WRITE,COPY,,,COPY public.t FROM '$file' WITH (fast_copy)", "$name: $role: the function is audited as a write");
				is(scalar(grep { /^SESSION,FUNCTION,EXECUTE,FUNCTION,public\.fast_copy,/ } @audit), 1, "$name: $role: ... and as a function");
			}
		};
	}
	subtest "$name: rows and calls are counted once" => sub {
		is($node->safe_psql('postgres', 'SELECT count(*) FROM t; TRUNCATE t'), 12, "$name: all rows are there, once");

		SKIP:
		{
			skip 'pg_stat_statements is not installed', 1 unless $has{pg_stat_statements};
			is($node->safe_psql('postgres', "SELECT sum(calls), sum(rows) FROM pg_stat_statements WHERE query LIKE '%COPY t FROM%'"), '2|6', "$name: calls and rows are counted");
			is($node->safe_psql('postgres', "SELECT sum(calls), sum(rows) FROM pg_stat_statements WHERE query LIKE '%SELECT fast_copy(\$1, \$2)%'"), '2|2', "$name: ... and those of the function");
		}
	};

	# a table of the auditor's, options, the client, several files
	subtest "$name: each way to load is seen, and audited by its object" => sub {
		my ($out, $err, @audit) = session("SET ROLE loader; COPY seen (n, v) FROM '$file' WITH (FORMAT csv, fast_copy, workers 2)");
		is($err, "NOTICE:  sees COPY seen from $file, 3 options\nNOTICE:  saw COPY 3", "$name: with workers");
		is(scalar(grep { /^OBJECT,WRITE,(INSERT|COPY),TABLE,public\.seen,/ } @audit), 1, "$name: audited by its object") if $has{pgaudit};
		($out, $err, @audit) = session("SET ROLE loader; SELECT fast_copy('seen', ARRAY['$file', '$file.gz'], columns => '{n,v}')") if system("gzip -kf '$file'") == 0;
		is("$out\n$err", "6\nNOTICE:  sees COPY seen from $file, $file.gz, 1 options\nNOTICE:  saw COPY 6", "$name: several files");
		is(scalar(grep { /^OBJECT,WRITE,(INSERT|COPY),TABLE,public\.seen,/ } @audit), 1, "$name: ... audited by their object") if $has{pgaudit};
		($out, $err) = session("SET ROLE loader; COPY t FROM STDIN WITH (fast_copy) WHERE n > 5;\n1\ta\n7\tb\n\\.\n");
		is($err, "NOTICE:  sees COPY t from the client where, 1 options\nNOTICE:  saw COPY 1", "$name: from the client, with a condition");
	};

	subtest "$name: rejects are audited as writes, and an analysis as none" => sub {
		my ($out, $err, @audit) = session("SET client_min_messages = warning; SELECT fast_copy('t', '" . write_bytes('bad.csv', "30000,a\nx,b\n") . "', partition_interval => '10000', on_error => 'ignore', reject_table => 'wrong')");
		is($out, 1, "$name: with rejects");
		is(join("\n", grep { /,WRITE,/ } @audit) =~ s/,,,.*/,,,/gr, "SESSION,WRITE,COPY,,,\nSESSION,WRITE,INSERT,,,", "$name: rejects are audited as writes, too") if $has{pgaudit};
		$node->safe_psql('postgres', "TRUNCATE wrong; DROP TABLE t_p30000");
		($out, $err, @audit) = session("SET ROLE loader; SELECT count(*) > 3 FROM fast_copy_analyze('t', '$file')");
		is("$out|$err", 't|', "$name: an analysis is no COPY");
		is(join("\n", map { s/"?SELECT count.*//sr } @audit), "SESSION,READ,SELECT,,,\nSESSION,FUNCTION,EXECUTE,FUNCTION,public.fast_copy_analyze,", "$name: ... and no write") if $has{pgaudit};
		like((session("SET ROLE poor; SELECT fast_copy_analyze('wrong', '$file')"))[1], qr/permission denied/, "$name: ... but needs the same privileges");
	};

	subtest "$name: what a hook forbids is not run" => sub {
		foreach my $load ('COPY t (n) FROM PROGRAM \'echo 1\' (fast_copy)', 'SELECT fast_copy(\'t\', \'echo 1\', columns => \'{n}\', program => true)')
		{
			like((session("SET fc_watch.forbid = on; $load"))[1], qr/^NOTICE:  sees COPY t from program echo 1, 1 options\nERROR:  programs are forbidden/, "$name: what is forbidden is not run: $load");
			like((session("SET ROLE loader; $load"))[1], qr/^NOTICE:  sees COPY t from program echo 1, 1 options\nNOTICE:  saw COPY 1$/, '... but for that it is');
		}
	};

	subtest "$name: errors go through the hooks, and the session goes on" => sub {
		my ($out, $err) = session("\\set ON_ERROR_STOP off\n;COPY t FROM PROGRAM 'echo 1; echo x' (fast_copy, workers 0);\n SELECT fast_copy('t', '$file', format => 'text');\n COPY t FROM '$file' (FORMAT csv, fast_copy); SELECT 'goes on'");
		is($out, 'goes on', "$name: after errors the session goes on");
		like($err, qr/ERROR:  missing data.*ERROR:  invalid input syntax.*NOTICE:  saw COPY 3$/s, '... with the next load');
	};

	subtest "$name: a COPY is seen, audited and counted alike with accelerate_copy off and on" => sub {
		foreach my $copy ("t FROM '$file' (FORMAT csv)", "seen FROM PROGRAM 'cat $file' (FORMAT csv) WHERE n > 1",
			"t (n, v) FROM STDIN;\n1\ta\n7\tb\n\\.\n", "t FROM '$file' (FORMAT csv, FREEZE)", "t FROM '$file'")
		{
			foreach my $role ('loader', 'poor')
			{
				my @seen = map {
					$node->safe_psql('postgres', 'SELECT pg_stat_statements_reset()') if $has{pg_stat_statements};
					my ($out, @told) = session("SET fast_copy.accelerate_copy = $_; SET fast_copy.accelerate_min_size = 0; SET ROLE $role; COPY $copy");
					push @told, $node->safe_psql('postgres', "SELECT query, calls, rows FROM pg_stat_statements WHERE query LIKE 'COPY%'") if $has{pg_stat_statements};
					join("\n", @told);
				} 'off', 'on';

				is($seen[1], $seen[0], "$name: $role: COPY $copy");
			}
		}
		like((session("SET fast_copy.accelerate_copy = on; SET fast_copy.accelerate_min_size = 0; COPY t FROM '$file' (FORMAT csv); SELECT 'as ' || phase FROM fast_copy_report()"))[0], qr/^as load$/m, "$name: it is accelerated");
	};

	# pgaudit keeps what a hook has shown it to the end of the command
	SKIP:
	{
		skip 'pgaudit is not installed', 1 unless $has{pgaudit};
		my ($out) = session("SET pgaudit.log_rows = on; SET pgaudit.log_relation = on; SET ROLE loader; SELECT fast_copy('seen', '$file') FROM generate_series(1, 2); SELECT fast_copy_analyze('seen', '$file') LIMIT 0; COPY seen FROM '$file' (FORMAT csv, fast_copy)");
		is($out, "3\n3", "$name: with the rows in the audit");
	}
	$node->safe_psql('postgres', 'TRUNCATE t, seen');
}

$node->safe_psql('postgres', q{
	CREATE TABLE private (n int);
	CREATE FUNCTION as_owner() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
	BEGIN
		EXECUTE 'SHOW fast_copy.workers';
		RETURN (SELECT count(*) FROM pg_settings);
	END $$});

foreach my $order ('fast_copy fc_watch', 'fc_watch fast_copy')
{
	my $inside = $order =~ /^fc_watch/;

	starts_with($order, '');
	subtest "$order: a load that a hook keeps for itself is an error" => sub { it_keeps($order, $inside) };
	subtest "$order: a hook that looks at a copy of the command lets no program run unseen" => sub { it_looks_at_a_copy($inside) };
	subtest "$order: a hook that runs more than the command takes no row away and adds none" => sub { it_does_more($order) };
}

subtest 'rows of a table of another access method are counted before they are replaced' => sub {
	my $ten = write_bytes('ten.csv', join('', map { "$_,new\n" } 1 .. 10));
	my $load = "SELECT fast_copy('others', '$ten', workers => %d, options => '{\"existing_rows\": \"replace\"%s}')";

	$node->safe_psql('postgres', "CREATE FUNCTION fc_watch_heap(internal) RETURNS table_am_handler AS 'fc_watch' LANGUAGE C;
		CREATE ACCESS METHOD other TYPE TABLE HANDLER fc_watch_heap;
		CREATE TABLE others (n int, v text) PARTITION BY RANGE (n);
		CREATE TABLE others_1 PARTITION OF others FOR VALUES FROM (0) TO (20000) USING other");
	foreach my $workers (0, 2)
	{
		my $sql = "TRUNCATE others; INSERT INTO others SELECT i, 'old' FROM generate_series(1, %d) i";
		my $what = "$workers workers";

		$node->safe_psql('postgres', sprintf($sql, 21));
		like((session(sprintf($load, $workers, '')))[1], qr/ERROR:  partition "others_1" of at least 21 rows would be replaced by 10 rows/, "$what: ten rows do not replace 21");
		like((session(sprintf($load, $workers, ', "on_error": "ignore"')))[1], qr/ERROR:  partition "others_1" of at least 21 rows would be replaced by 10 rows/, "$what: nor where some may be left out");
		is($node->safe_psql('postgres', 'SELECT count(*), min(v) FROM others'), '21|old', "$what: which stay");
		is((session("SELECT detail FROM fast_copy_analyze('others', '$ten', options => '{\"existing_rows\": \"replace\"}') WHERE item = 'partition'"))[0], 'exists, 21 rows are replaced', "$what: an analysis tells how many there are");
		$node->safe_psql('postgres', sprintf($sql, 20));
		is((session(sprintf($load, $workers, '')))[0], 10, "$what: but 20");
		is($node->safe_psql('postgres', 'SELECT count(*), min(v) FROM others'), '10|new', "$what: which are gone");
	}
};

$node->stop;
is(scalar(() = slurp_file($node->logfile) =~ /terminated by signal/g), 0, 'nothing has crashed');
done_testing();

sub it_keeps
{
	my ($order, $inside) = @_;

	like((session("SET fc_watch.keep = on; SELECT fast_copy('t', '$file')"))[1], qr/ERROR:  another extension has taken the load/, "$order: a load that is not passed on is an error");
	is($node->safe_psql('postgres', "SET fc_watch.keep = on; COPY t FROM '$file' (FORMAT csv, fast_copy); SELECT count(*) FROM t"), 0, "$order: ... and a COPY is its own");
	return if !$inside;
	like((session("SET fc_watch.keep = on; SET fc_watch.copy = on; $_"))[1], qr/ERROR:  another extension has not passed the load on/, "$order: ... but not one that it did not see: $_")
	  foreach "SELECT fast_copy('t', '$file')", "COPY t FROM '$file' (FORMAT csv, fast_copy)";
}

sub it_looks_at_a_copy
{
	my ($inside) = @_;
	my @loads = ('COPY t (n) FROM PROGRAM \'echo 1\' (fast_copy)', 'SELECT fast_copy(\'t\', \'echo 1\', columns => \'{n}\', program => true)');

	if ($inside)
	{
		is((session("SET fc_watch.copy = on; SELECT fast_copy('t', '$file')"))[0], 3, 'a hook that is asked before ours does not see the load');
		like((session("SET fc_watch.copy = on; $_"))[1], qr/ERROR:  cannot run a program together with another extension/, "and so no program is run: $_") foreach @loads;
	}
	else
	{
		like((session("SET fc_watch.copy = on; SET fc_watch.forbid = on; $loads[0]"))[1], qr/ERROR:  programs are forbidden/, 'one that comes before ours sees it');
	}
}

# It runs SQL of its own before the command, the command twice, or fails after it.
# What must not be loaded in any other way is in the options, which only the call
# knows.
sub it_does_more
{
	my ($order) = @_;
	my $load = "SELECT fast_copy('t', '$file')";
	my $copy = "COPY t FROM '$file' (FORMAT csv, fast_copy)";
	my $counts = 'SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM seen)';

	$node->safe_psql('postgres', 'TRUNCATE t, seen');
	foreach my $before ("SELECT fast_copy(''seen'', ''$file'')", "COPY seen FROM ''$file'' (FORMAT csv, fast_copy)")
	{
		is($node->safe_psql('postgres', "SET fc_watch.before = '$before'; $load; $copy; $counts; TRUNCATE t, seen"), "3\n6|6", "$order: a hook that loads before: $before");
	}
	is($node->safe_psql('postgres', "SET fc_watch.before = 'SELECT * FROM pg_settings'; $load; $copy; $counts; TRUNCATE t"), "3\n6|0", "$order: one that asks for settings");
	is(($node->psql('postgres', "SET fc_watch.print = on; $load; $copy; $counts; TRUNCATE t"))[1], "3\n6|0", "$order: one that prints the command");
	like((session("SET fc_watch.twice = on; $load"))[1], qr/ERROR:  (another extension has run the load more than once|option "fast_copy" not recognized)/, "$order: a load that is run twice is an error");
	like((session("SET fc_watch.fail = on; $_"))[1], qr/ERROR:  failed behind the command/, "$order: a hook that fails behind it: $_") foreach $load, $copy;
	is($node->safe_psql('postgres', $counts), '0|0', "$order: ... takes the rows with it");
	my ($out) = session("\\set ON_ERROR_STOP off\n;SET fc_watch.before = 'SELECT 1/0';\n$load;\n$copy;\nRESET fc_watch.before;\n$load; $copy; $counts; TRUNCATE t");
	is($out, "3\n6|0", "$order: after a hook that fails before, the next loads run");

	# nobody's code can run the load of somebody else
	like(($node->psql('postgres', "SET ROLE poor; SET fc_watch.copy = $_; SET fc_watch.before = 'SELECT as_owner()'; COPY private FROM STDIN (fast_copy);\n1\n\\.\n"))[2],
		qr/ERROR:  permission denied for table private/, "$order: code that is run before runs no load (copy $_)") foreach 'off', 'on';

	# what core would say of the command is said of it
	like(($node->psql('postgres', "BEGIN READ ONLY; $copy"))[2], qr/ERROR:  cannot execute COPY FROM in a read-only transaction/, "$order: COPY in a transaction that is read-only");
	like(($node->psql('postgres', "BEGIN READ ONLY; $load"))[2], qr/ERROR:  cannot execute fast_copy\(\) in a read-only transaction/, "$order: ... and the function");
}
