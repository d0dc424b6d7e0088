# Functions of a table that do more than compute: they load, set, raise, drop,
# open, notify and end things while a load calls them.  COPY is the referee: the
# same rows, side effects and error; or, where that is said, an error of ours.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {}, 'max_parallel_workers = 8', 'restart_after_crash = off');
my $file = write_rows('rows.csv', 2000);
my $small = write_rows('small.csv', 30);

# What f does at the row with n = 700, one in the middle, and what is an answer,
# too, where there are partitions to be made.
my @CASES = (
	[ 'a load of another table', "PERFORM fast_copy('other', '$small')" ],
	[ 'a load of another table that fails', "BEGIN PERFORM fast_copy('other', '$file.nothing'); EXCEPTION WHEN OTHERS THEN INSERT INTO other VALUES (0); END" ],
	[ 'savepoints', "BEGIN INSERT INTO other VALUES (1); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN INSERT INTO other VALUES (2); END" ],
	[ 'a search path', "PERFORM set_config('search_path', 'pg_temp', true)" ],
	[ 'a role', "PERFORM set_config('role', 'nobody', true)", qr/ERROR:  42501: must be owner of table t; 0\|;/ ],
	[ 'a time zone and a date style', "PERFORM set_config('timezone', 'Asia/Tokyo', true), set_config('datestyle', 'German', true)" ],
	[ 'settings of ours', "PERFORM set_config('fast_copy.memory', '1MB', true), set_config('fast_copy.writer', 'multi_insert', true), set_config('fast_copy.io_method', 'sync', true)" ],
	[ 'a replication role', "PERFORM set_config('session_replication_role', 'replica', true)" ],
	[ 'a notification', "PERFORM pg_notify('c', n::text); EXECUTE 'LISTEN c'" ],
	[ 'a cursor on the target', "DECLARE c refcursor := 'open'; BEGIN OPEN c FOR SELECT * FROM t; MOVE NEXT FROM c; END" ],
	[ 'new tables', 'CREATE TEMP TABLE made AS SELECT 1 AS x; DROP TABLE made; CREATE TABLE made AS SELECT n; INSERT INTO other SELECT * FROM made' ],
	[ 'a table that hides the target', "CREATE TEMP TABLE t (LIKE public.t); CREATE TEMP TABLE t_p20130103 (x int)" ],
	[ 'rows of another table gone', 'TRUNCATE other; DROP TABLE other; CREATE TABLE other (n int)' ],
	[ 'a truncated target', 'TRUNCATE public.t' ],
	[ 'a dropped target', 'DROP TABLE public.t' ],
	[ 'an altered target', 'ALTER TABLE public.t ADD x int' ],
	[ 'an index on the target', 'CREATE INDEX ON public.t (n)' ],
	[ 'row security on the target', 'ALTER TABLE public.t ENABLE ROW LEVEL SECURITY' ],
	[ 'its own backend cancelled', 'PERFORM pg_cancel_backend(pg_backend_pid()), pg_sleep(10)' ],
	[ 'its own backend ended', 'PERFORM pg_terminate_backend(pg_backend_pid()), pg_sleep(10)' ],
	[ 'an error', "RAISE EXCEPTION 'no 700' USING ERRCODE = 'FC700', DETAIL = 'd', HINT = 'h'" ],
	[ 'NULL in the place of an answer', 'RETURN NULL' ],
	[ 'no answer', 'RETURN false' ]);

$node->safe_psql('postgres', 'CREATE ROLE nobody; CREATE EXTENSION amcheck');
foreach my $case (@CASES)
{
	subtest "$case->[0]: ends as in COPY, or is refused" => sub { compare(@$case) };
}
subtest 'partitions that are changed under the load: all rows, or an error and none' => \&partitions_dropped;
subtest 'code in workers may not do what a worker may not' => \&parallel_code;
subtest 'event triggers take no row away' => \&event_triggers;
subtest 'the load calls nothing of the search path' => \&hijacked;
subtest 'a load in a load of the same table ends' => \&recursion;
ok($node->psql('postgres', 'SELECT 1') == 0, 'the server was never restarted');
$node->stop;
done_testing();

# ---- as COPY ----------------------------------------------------------------

sub tables
{
	my ($body, $days, $safe) = @_;
	my $partitions = join('', map { "CREATE TABLE t_p2013010$_ PARTITION OF t FOR VALUES FROM ('2013-01-0$_') TO ('2013-01-0@{[ $_ + 1 ]}');" } @$days);

	$node->safe_psql('postgres', "SET client_min_messages = error; DROP TABLE IF EXISTS t, made; DROP TABLE IF EXISTS other;
		CREATE TABLE other (n int, ts timestamp, v text); INSERT INTO other VALUES (-1);
		CREATE OR REPLACE FUNCTION f(n int) RETURNS boolean LANGUAGE plpgsql @{[ $safe ? 'PARALLEL SAFE' : '' ]} AS \$\$ BEGIN
			IF n = 700 THEN $body; END IF; RETURN true; END \$\$;
		CREATE TABLE t (n int, ts timestamp, v text, CHECK (f(n))) PARTITION BY RANGE (ts); $partitions");
}

# The error, if any, and what is there then.
sub outcome
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql");
	my ($error) = $err =~ /((?:ERROR|FATAL): .*)/;
	my $what = $error // 'no error';

	# whatever it is that is in use
	$what =~ s/new row for relation "t\S*"/new row/;
	$what =~ s/cannot DROP (?:TABLE|INDEX) "\S+"/cannot DROP it/;
	return "$what; " . $node->safe_psql('postgres', join(';', map { "SELECT count(*), sum(hashtext(x::text)::bigint) FROM $_ x" } qw(public.t public.other))) =~ s/\n/; /r;
}

sub compare
{
	my ($name, $body, $ours) = @_;
	my @days = (1 .. 5);

	tables($body, \@days);
	my $want = outcome("COPY t FROM '$file' (FORMAT csv)");
	like($want, qr/;/, "$name: COPY") or return;
	foreach my $how ([ 'existing partitions', 1 .. 5 ], [ 'new partitions' ])
	{
		my ($which, @have) = @$how;

		tables($body, \@have);
		my $got = outcome("SELECT fast_copy('t', '$file', workers => 2)");
		next if !@have && $ours && like($got, $ours, "$name: $which, refused");
		is($got, $want, "$name: $which");
	}
}

# ---- what COPY cannot meet --------------------------------------------------

sub is_whole
{
	my ($what, $rows) = @_;
	my ($there, $unsound) = split /\n/, $node->safe_psql('postgres', "SELECT count(*) FROM t;
		SELECT count(*) FROM pg_class c, LATERAL verify_heapam(c.oid) WHERE c.relkind = 'r' AND c.relname LIKE 't\\_p%'");

	is($there, $rows, "$what: $rows rows");
	is($unsound, 0, "$what: heaps are sound");
}

# Partitions that the load fills, or has made
sub partitions_dropped
{
	foreach my $body ('DROP TABLE public.t_p20130103', 'TRUNCATE public.t_p20130103', 'ALTER TABLE public.t_p20130103 ADD CHECK (n > 0)',
		'ALTER TABLE public.t_p20130103 RENAME TO elsewhere', 'ALTER TABLE public.t_p20130103 SET UNLOGGED')
	{
		foreach my $days ([ 1 .. 5 ], [])
		{
			my $what = "$body, " . (@$days ? 'existing' : 'new');

			tables($body, $days);
			my ($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('t', '$file', workers => 2)");
			if ($rc == 0) { is_whole($what, 2000) }
			else
			{
				like($err, qr/is being used by active queries in this session|does not exist|changed/, "$what: refused");
				is_whole($what, 0);
			}
		}
	}
}

# Code that says it is parallel safe, and is not, in workers
sub parallel_code
{
	my %answer = (
		'BEGIN PERFORM 1; EXCEPTION WHEN OTHERS THEN NULL; END' => qr/during a parallel operation|^$/,
		'INSERT INTO other VALUES (1)' => qr/cannot execute INSERT during a parallel operation/,
		'CREATE TEMP TABLE made ()' => qr/during a parallel operation/,
		"PERFORM fast_copy('other', '$small')" => qr/parallel/,
		"PERFORM set_config('role', 'nobody', true)" => qr/during a parallel operation/,
		'PERFORM pg_terminate_backend(pg_backend_pid()), pg_sleep(10)' => qr/terminating|lost connection to parallel worker/,
		'PERFORM pg_cancel_backend(pg_backend_pid()), pg_sleep(10)' => qr/canceling statement/);

	foreach my $body (sort keys %answer)
	{
		tables($body, [ 1 .. 5 ], 1);
		my ($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('t', '$file', workers => 2)");
		like(unsaid($err), $answer{$body}, "parallel safe, it says: $body");
		is_whole($body, $rc == 0 ? 2000 : 0);
	}
}

# DDL of the load is met by event triggers, or is not; rows are not lost.
sub event_triggers
{
	tables('NULL', []);
	$node->safe_psql('postgres', "CREATE FUNCTION on_ddl() RETURNS event_trigger LANGUAGE plpgsql AS \$\$ BEGIN
			PERFORM count(*) FROM public.t; PERFORM set_config('search_path', 'pg_temp', true); END \$\$;
		CREATE EVENT TRIGGER ddl_start ON ddl_command_start EXECUTE FUNCTION on_ddl();
		CREATE EVENT TRIGGER ddl_end ON ddl_command_end EXECUTE FUNCTION on_ddl();
		CREATE EVENT TRIGGER ddl_drop ON sql_drop EXECUTE FUNCTION on_ddl()");
	is($node->safe_psql('postgres', "SELECT fast_copy('t', '$file', workers => 2)"), 2000, 'event triggers: loaded');
	is_whole('event triggers', 2000);
	$node->safe_psql('postgres', 'DROP EVENT TRIGGER ddl_start; DROP EVENT TRIGGER ddl_end; DROP EVENT TRIGGER ddl_drop');
}

# ---- names ------------------------------------------------------------------

# Everything that SQL of ours might call by name, in a schema ahead of core's: it
# tells who ran it.
sub evil
{
	my @functions = (
		'format(text, VARIADIC text[]) RETURNS text', 'quote_ident(text) RETURNS text', 'quote_literal(text) RETURNS text',
		'concat(VARIADIC text[]) RETURNS text', 'array_length(anyarray, int) RETURNS int', 'now() RETURNS timestamptz',
		'pg_get_expr(pg_node_tree, oid) RETURNS text', 'pg_relation_size(regclass) RETURNS bigint', 'lower(text) RETURNS text',
		'current_setting(text) RETURNS text', 'to_char(timestamp, text) RETURNS text', 'date_trunc(text, timestamp) RETURNS timestamp',
		'pg_advisory_xact_lock(bigint) RETURNS void', 'to_regclass(text) RETURNS regclass');
	my $sql = "CREATE SCHEMA evil; CREATE TABLE evil.log (who text); GRANT ALL ON SCHEMA evil TO PUBLIC; GRANT ALL ON evil.log TO PUBLIC;
		CREATE FUNCTION evil.noted() RETURNS text LANGUAGE sql SET search_path = pg_catalog AS 'INSERT INTO evil.log VALUES (current_user) RETURNING NULL::text';\n";

	foreach my $f (@functions)
	{
		$sql .= "CREATE FUNCTION evil.$f LANGUAGE plpgsql AS \$\$ BEGIN PERFORM evil.noted(); RETURN NULL; END \$\$;\n" =~ s/(RETURNS void.*)RETURN NULL/$1RETURN/sr;
	}
	foreach my $type (qw(int4 int8 oid text name bool timestamp timestamptz date regclass))
	{
		foreach my $op (qw(= <> < > <= >=))
		{
			my $name = "\"op$op$type\"";

			$sql .= "CREATE FUNCTION evil.$name($type, $type) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN PERFORM evil.noted(); RETURN false; END \$\$;
				CREATE OPERATOR evil.$op (LEFTARG = $type, RIGHTARG = $type, FUNCTION = evil.$name);\n";
		}
	}
	$sql .= join('', map { "CREATE VIEW evil.$_ AS SELECT evil.noted();\n" } qw(pg_class pg_inherits pg_attribute pg_namespace pg_index pg_extension pg_proc pg_settings pg_constraint));
	return $sql . "CREATE DOMAIN evil.text AS pg_catalog.text CHECK (evil.noted() IS NULL); CREATE DOMAIN evil.regclass AS pg_catalog.regclass; CREATE DOMAIN evil.oid AS pg_catalog.oid;\n";
}

# A superuser's load, with the caller's search path, by a function that runs as
# its owner or by itself
sub hijacked
{
	my $path = "SET search_path = evil, pg_temp, pg_catalog, public;";
	my @extra = ("run_analyze => true", "order_by => '{v,n}'", "on_error => 'ignore', reject_table => 'public.rejects'", "where_clause => 'true'",
		"missing_partitions => 'default'", "partition_interval => '1 day'");

	$node->safe_psql('postgres', evil());
	tables('NULL', []);
	$node->safe_psql('postgres', "SELECT fast_copy_create_reject_table('rejects'); CREATE ROLE caller;
		CREATE FUNCTION wrapped(path text) RETURNS bigint LANGUAGE sql SECURITY DEFINER AS
			\$\$ SELECT public.fast_copy('public.t'::pg_catalog.regclass, path, workers => 2) \$\$;
		ALTER TABLE t DROP CONSTRAINT t_n_check; CREATE INDEX ON t (n); CREATE INDEX ON t USING brin (ts)");
	foreach my $more ('workers => 2', 'workers => 0', @extra)
	{
		$node->safe_psql('postgres', 'TRUNCATE t');
		my ($rc, $out, $err) = $node->psql('postgres', "$path SELECT public.fast_copy('public.t'::pg_catalog.regclass, '$file', $more)");
		is($out, 2000, "names ahead of core's, $more: loaded") or diag($err);
	}
	tables('NULL', [ 1, 2 ]);
	$node->safe_psql('postgres', 'ALTER TABLE t DROP CONSTRAINT t_n_check');
	is($node->safe_psql('postgres', "SET ROLE caller; $path SELECT public.wrapped('$file')"), 2000, "names ahead of core's, as its owner: loaded");
	$node->psql('postgres', "$path SELECT count(*) FROM public.fast_copy_analyze('public.t'::pg_catalog.regclass, '$file')");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM evil.log'), 0, "names ahead of core's: nobody called them");
	isnt($node->safe_psql('postgres', "$path SELECT 1 WHERE 1 = 1; SELECT pg_catalog.count(*) FROM evil.log"), 0, 'they would have told');
}

# ---- loads in loads ---------------------------------------------------------

# The target itself, from its own CHECK, once and for ever
sub recursion
{
	tables("PERFORM fast_copy('t', '$small')", [ 1 .. 5 ]);
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('t', '$file', workers => 2)");
	if ($rc == 0) { is_whole('a load of the target itself', 2030) }
	else { like($err, qr/./, 'a load of the target itself: refused'); is_whole('a load of the target itself', 0) }
	tables("PERFORM fast_copy('t', '$file')", [ 1 .. 5 ]);
	($rc, $out, $err) = $node->psql('postgres', "SET max_stack_depth = '500kB'; SELECT fast_copy('t', '$file', workers => 2)");
	like($err, qr/stack depth limit exceeded|active|already|out of/, 'a load in a load for ever ends');
	is_whole('a load in a load for ever', 0);
}
