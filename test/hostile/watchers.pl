# What watches statements and DDL: auto_explain explains a load as the one
# statement that it is, pg_stat_statements counts it once whatever it tracks,
# and event triggers see the partitions that are made, and may forbid them.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {}, "fast_copy.chunk_size = '16kB'", 'compute_query_id = on');
my $rows = write_rows('rows.csv', 4000);
my $load = "SELECT fast_copy('t', '$rows', workers => 2)";

subtest 'auto_explain' => \&auto_explain;
subtest 'pg_stat_statements, tracking nested statements' => \&stat_statements;
subtest 'event triggers see what is made' => \&event_triggers;
subtest 'event triggers forbid what is made' => \&event_triggers_forbid;
$node->stop;
done_testing();

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# With all of its settings on, for whoever runs commands within the load too.
sub auto_explain
{
	my $settings = join('; ', 'log_min_duration = 0', 'log_nested_statements = on', 'log_analyze = on', 'log_buffers = on', 'log_wal = on',
		'log_verbose = on', 'log_triggers = on') =~ s/(\w+ = )/SET auto_explain.$1/gr;
  SKIP:
	{
		skip 'auto_explain is not installed', 1 if ($node->psql('postgres', "LOAD 'auto_explain'"))[0] != 0;
		foreach my $order ([ 'auto_explain', 'fast_copy' ], [ 'fast_copy', 'auto_explain' ])
		{
			events($node, 't');
			my $from = -s $node->logfile;
			is(query(join(' ', map { "LOAD '$_';" } @$order) . "$settings; $load; COPY t FROM '$rows' (FORMAT csv, fast_copy, workers 2)"), 4000, "@$order: loads");
			is(query('SELECT count(*) FROM t'), 8000, '... all rows, once');
			my @explained = slurp_file($node->logfile, $from) =~ /Query Text: (.*)/g;
			is(scalar(grep { $_ eq "$load;" } @explained), 1, 'the function is explained once');
			is(scalar(grep { /^COPY/ } @explained), 0, 'a COPY has no plan');
			like(slurp_file($node->logfile, $from), qr/Query Text: \Q$load\E.*?\n\s+WAL: records=\d{3}/s, 'with the WAL of its workers');
		}
	}
}

sub stat_statements
{
  SKIP:
	{
		skip 'pg_stat_statements is not installed', 1 if query("SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_stat_statements'") eq '0';
		$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_stat_statements'\npg_stat_statements.track = 'all'\n");
		$node->restart;
		query('CREATE EXTENSION pg_stat_statements');
		events($node, 't');
		query('SELECT pg_stat_statements_reset()');
		query("LOAD 'fast_copy'; $load; COPY t FROM '$rows' (FORMAT csv, fast_copy)");
		is(query("SELECT calls, rows FROM pg_stat_statements WHERE query LIKE 'SELECT fast_copy(%'"), '1|1', 'the call, which returns a row');
		is(query("SELECT calls, rows FROM pg_stat_statements WHERE query LIKE 'COPY t FROM%(FORMAT csv, fast_copy)'"), '1|4000', 'the COPY, with its rows');
		is(query("SELECT count(*) FROM pg_stat_statements WHERE query LIKE 'COPY public.t FROM%'"), 0, '... and nothing of the COPY that the call is for hooks');
		is(query("SELECT count(*) FROM pg_stat_statements WHERE query LIKE 'SELECT fast_copy(%' AND wal_bytes > 100000"), '1', 'the call has the WAL of all');
	}
}

# A table of tags, in the order in which they come
sub event_triggers
{
	query("CREATE TABLE seen (n serial, what text);
		CREATE FUNCTION see() RETURNS event_trigger LANGUAGE plpgsql AS \$\$ BEGIN
			IF tg_event = 'ddl_command_end' THEN
				INSERT INTO public.seen (what) SELECT tg_tag || ' ' || object_identity FROM pg_event_trigger_ddl_commands();
			ELSE INSERT INTO public.seen (what) VALUES (tg_event || ' ' || tg_tag); END IF; END \$\$");
	events($node, 't');
	query('CREATE INDEX ON t (n); CREATE EVENT TRIGGER ends ON ddl_command_end EXECUTE FUNCTION see();
		CREATE EVENT TRIGGER drops ON sql_drop EXECUTE FUNCTION see(); CREATE EVENT TRIGGER rewrites ON table_rewrite EXECUTE FUNCTION see()');
	is(query($load), 4000, 'loads');
	is(query("SELECT string_agg(what, ',' ORDER BY n) FROM seen"),
		join(',', (map { "CREATE TABLE public.t_p2013010$_" } 1 .. 5), ('ALTER TABLE public.t') x 5),
		'each new partition is a CREATE TABLE and an ALTER TABLE of the parent, and nothing else is seen');
	query('TRUNCATE seen');
	is(query("$load; SELECT count(*) FROM seen"), "4000\n0", 'a load into existing partitions is no DDL');
	query('DROP EVENT TRIGGER ends; DROP EVENT TRIGGER drops; DROP EVENT TRIGGER rewrites');
}

sub event_triggers_forbid
{
	events($node, 't');
	query("CREATE FUNCTION no() RETURNS event_trigger LANGUAGE plpgsql AS \$\$ BEGIN RAISE EXCEPTION 'no % here', tg_tag; END \$\$;
		CREATE EVENT TRIGGER no ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION no()");
	my ($rc, $out, $err) = $node->psql('postgres', $load);
	like($err, qr/ERROR:  no CREATE TABLE here/, 'the error is the trigger\'s');
	is_clean($node, 't', 'forbidden');
	query('DROP EVENT TRIGGER no');
}
