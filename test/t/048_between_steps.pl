# Code of users that runs while a load is at work, and changes a table that the load
# has decided from: each kind of code, at each step that runs it, each command, each
# object, each kind of load.
#
# The product of all is large: attacks that are known are tried each time, and besides
# them cases that are drawn.  FC_BETWEEN_SEED and FC_BETWEEN_CASES choose others, or
# more, FC_BETWEEN_LOADS, with commas, some kinds of load alone; FC_BETWEEN_ONLY names those
# to be run alone, as k3 (a known one) or 17.
#
# A load may fail, with an error that is no internal one, and then all is as before; or
# it succeeds, and the table has what it would have after such commands and COPY.  The
# server lives, and nothing is left over.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{FC_BETWEEN_SEED} // 1;
my $ncases = $ENV{FC_BETWEEN_CASES} // 300;
my %only = map { $_ => 1 } split ' ', $ENV{FC_BETWEEN_ONLY} // '';
my %alone = map { $_ => 1 } split /,/, $ENV{FC_BETWEEN_LOADS} // '';
my $node = new_node('main', {}, 'restart_after_crash = on', 'log_error_verbosity = verbose', "timezone = 'UTC'", 'max_parallel_workers = 4',
	"statement_timeout = '60s'", "lock_timeout = '20s'");
needs($node, 'dblink');
my $partman = $node->safe_psql('postgres', "SELECT default_version FROM pg_available_extensions WHERE name = 'pg_partman'");

# ---- what is loaded ---------------------------------------------------------

# Days 1 to 3 have partitions, of 20 rows each, and the file has rows of days 1, 2 and
# maybe 4; x is NULL in some of its rows, and in none of the old ones.
sub day { return sprintf '2013-01-%02d', $_[0] }
my $long = join '', map { chr(97 + $_ * 7 % 26) } 1 .. 3000;
my @OLD = map { { n => $_, ts => day(int(($_ + 19) / 20)) . ' 00:00:00', v => $_ % 7 ? "old $_" : "old $_ $long", x => $_ } } 1 .. 60;

sub new_rows
{
	my (@days) = @_;

	return map { my $d = $_; map { { n => 100 * $d + $_, ts => day($d) . ' 12:00:00', v => $_ % 9 ? "new $_" : "new $_ $long", x => $_ % 2 ? 257 * $_ : '' } } 1 .. 20 } @days;
}

my %FILES = (
	days => [ new_rows(1, 2) ],
	more => [ new_rows(1, 2, 4) ],
	again => [ (map { { %{ $OLD[ $_ - 1 ] }, v => "again $_", x => '' } } 1 .. 3), new_rows(1, 2) ],
	both => [ (map { { %{ $OLD[ $_ - 1 ] }, v => "again $_", x => '' } } 1 .. 3), new_rows(1, 2, 4) ]);
my %PATHS = map { $_ => write_bytes("$_.csv", join('', map { "$_->{n},$_->{ts},$_->{v},$_->{x}\n" } @{ $FILES{$_} }) . "bad,,,\n") } keys %FILES;

# Kinds of load: file, options, which old rows stay, and the steps that are taken, which are
# phases of fast_copy_progress.  Those that move rows have no file, and code of indexes,
# events and the history alone runs; of drains day 3 has a partition, and the others are in
# the default partition
my $key = '"dedup_keys": ["ts", "n"]';
my %LOADS = (
	append => { file => 'days', options => '', stays => sub { 1 }, steps => 'setup load analyze' },
	new => { file => 'more', options => '', stays => sub { 1 }, steps => 'setup scan partitions load index attach analyze' },
	replace => { file => 'days', options => '"existing_rows": "replace"', stays => sub { $_[0] > 40 }, steps => 'setup scan partitions load index replace analyze', exchanges => 1 },
	'replace and new' => { file => 'more', options => '"existing_rows": "replace"', stays => sub { $_[0] > 40 }, steps => 'setup scan partitions load index attach replace analyze', exchanges => 1 },
	range => { file => 'days', options => '"existing_rows": "replace", "replace_from": "2013-01-01", "replace_to": "2013-01-04"', stays => sub { 0 }, steps => 'setup partitions load index replace analyze', exchanges => 1 },
	merge => { file => 'both', options => "\"existing_rows\": \"merge\", $key", stays => sub { $_[0] > 3 }, steps => 'setup scan partitions load index attach replace analyze', exchanges => 1 },
	upsert => { file => 'both', options => "\"on_conflict\": \"update\", $key", stays => sub { $_[0] > 3 }, steps => 'setup scan load index attach replace analyze', unique => 1 },
	nothing => { file => 'again', options => "\"on_conflict\": \"nothing\", $key", stays => sub { 1 }, steps => 'setup load replace analyze', unique => 1, keeps => 1 },
	plain => { file => 'days', options => '"existing_rows": "replace"', stays => sub { 0 }, steps => 'setup load index replace analyze', exchanges => 1, plain => 1 },
	grow => { file => 'more', options => '', stays => sub { 1 }, steps => 'scan partitions load analyze', list => 1 },
	drain => { move => 'fast_copy_drain(%s)', stays => sub { 1 }, steps => 'partitions index attach replace analyze', leaves => [ 'DEFAULT', 3 ] },
	'drain of a range' => { move => "fast_copy_drain(%s, replace_from => '2013-01-01', replace_to => '2013-01-02')", stays => sub { 1 }, steps => 'partitions index attach replace analyze',
		leaves => [ 'DEFAULT', 3 ] },
	repartition => { move => "fast_copy_repartition(%s, old_partitions => 'drop', partition_interval => '2 days')", stays => sub { 1 }, steps => 'partitions index attach replace analyze' });

# Kinds of code: what the table has (column, more), what is done before the load, what
# the call has, the steps that run it, and the loads, if these are not all but those that
# move rows (moves: these, too), and those that make partitions by list (effects), where
# rows would be evaluated twice
my $trigger = 'EXECUTE FUNCTION public.act_trigger()';
my %INDEX = (moves => 1, carries => 1, steps => 'load index index replace replace replace replace analyze any');
my %FOLDED = (moves => 1, carries => 1, steps => 'setup partitions index replace replace replace attach attach any any');
my %ROW = (rows => 1, steps => 'load any any');
my %TRIGGER = (steps => 'replace any any');
my %DDL = (moves => 1, steps => 'partitions attach any', loads => 'new,replace and new,merge,upsert,grow,drain,drain of a range,repartition');
my %CODES = (
	'index expression' => { %INDEX, before => 'CREATE INDEX t_act ON t (as_index(n))', weight => 6 },
	'index predicate' => { %INDEX, before => 'CREATE INDEX t_act ON t (v) WHERE as_condition(n)', weight => 3 },
	'operator class' => { %INDEX, carries => 0, locks => 1, before => 'CREATE INDEX t_act ON t (x act_bigint)', weight => 2 },
	'hash operator class' => { %INDEX, carries => 0, locks => 1, before => 'CREATE INDEX t_act ON t USING hash (x act_hash_ops)' },
	'folded index expression' => { %FOLDED, before => 'CREATE INDEX t_act ON t ((n + as_index(1)))', weight => 3 },
	'folded index predicate' => { %FOLDED, before => 'CREATE INDEX t_act ON t (v) WHERE as_condition(1) OR n > 0', weight => 2 },
	'folded CHECK' => { %FOLDED, more => ', CHECK (as_condition(1) AND n > 0)', weight => 2 },
	CHECK => { %ROW, effects => 1, more => ', CHECK (does(n))', weight => 3 },
	default => { %ROW, column => ', d int DEFAULT as_default()' },
	'generated column' => { %ROW, column => ', d int GENERATED ALWAYS AS (as_index(n)) STORED', weight => 2 },
	domain => { %ROW, effects => 1, type => 'act_domain' },
	'range type' => { %ROW, column => ', d act_range', options => q{"transform": "d = '[1,' || n || ']'"} },
	transform => { rows => 1, steps => 'scan load any', options => '"transform": "x = as_text(x)"' },
	cast => { %ROW, options => '"transform": "x = (x::act_pair).x"' },
	where_clause => { rows => 1, effects => 1, steps => 'scan load any', argument => ", where_clause => 'public.does(n)'" },
	'row trigger before' => { %TRIGGER, before => "CREATE TRIGGER tr BEFORE INSERT OR DELETE ON t FOR EACH ROW $trigger", weight => 2 },
	'row trigger after' => { %TRIGGER, before => "CREATE TRIGGER tr AFTER INSERT OR DELETE ON t FOR EACH ROW $trigger", weight => 2 },
	'statement trigger' => { %TRIGGER, before => "CREATE TRIGGER tr AFTER INSERT OR UPDATE OR DELETE ON t FOR EACH STATEMENT $trigger" },
	'trigger of UPDATE' => { %TRIGGER, before => "CREATE TRIGGER tr AFTER UPDATE ON t FOR EACH ROW $trigger", loads => 'upsert' },
	'event trigger at start' => { %DDL, event => 'ddl_command_start', weight => 2 },
	'event trigger at end' => { %DDL, event => 'ddl_command_end', weight => 2 },
	'event trigger on drop' => { %DDL, event => 'sql_drop' },
	'trigger of rejects' => { before => "CREATE TRIGGER tr BEFORE INSERT ON rejects FOR EACH ROW $trigger", steps => 'any', late => 1 },
	'CHECK of the ledger' => { before => 'ALTER TABLE led ADD CHECK (does(1))', steps => 'any', late => 1 },
	'default of the history' => { moves => 1, before => 'ALTER TABLE hist ADD d int DEFAULT as_default()', steps => 'any', late => 1 },
	'template of pg_partman' => { partman => 1, before => 'CREATE INDEX ON partman.template_public_t (as_index(n))', steps => 'load any', loads => 'new,replace and new,merge' },
	'event trigger beside pg_partman' => { partman => 1, event => 'ddl_command_end', steps => 'partitions attach any', loads => 'new,merge' });

# ---- what the code does -----------------------------------------------------

# Queries for the names of objects.  What they are of: r tables, i indexes, n schemas
my $exchange = "nspname LIKE 'fast_copy exchange %'";
my $of_day = "(SELECT inhrelid FROM pg_catalog.pg_inherits JOIN pg_catalog.pg_class ON oid = inhrelid WHERE inhparent = 'public.t'::regclass AND pg_catalog.pg_get_expr(relpartbound, oid) ~ '(FROM|IN) ..2013-01-0%d|DEFAULT'
	ORDER BY pg_catalog.pg_get_expr(relpartbound, oid) DESC LIMIT 1)";
# that of day 4; of those that move rows it begins with day 1 or 2
my $made = "(SELECT oid FROM pg_catalog.pg_class WHERE relkind = 'r' AND relname ~ '^t_p_?2013_?01_?0[124]' ORDER BY relname DESC LIMIT 1)";
my $substitute = "(SELECT c.oid FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace m ON m.oid = relnamespace WHERE $exchange AND relkind = 'r' AND relname = '%s' LIMIT 1)";
my $index = "(SELECT indexrelid FROM pg_catalog.pg_index WHERE indrelid = %s ORDER BY indexrelid DESC LIMIT 1)";
my %OBJECTS = (
	target => [ 'r', "'public.t'::regclass", 3 ],
	'leaf with late rows' => [ 'r', sprintf($of_day, 1), 3 ],
	'another leaf' => [ 'r', sprintf($of_day, 2), 5 ],
	'a leaf without rows of the file' => [ 'r', sprintf($of_day, 3), 1 ],
	'new partition' => [ 'r', $made, 3, { made => 1 } ],
	'substitute of the first' => [ 'r', sprintf($substitute, 't_1'), 2, { exchanges => 1 } ],
	'substitute of another' => [ 'r', sprintf($substitute, 't_2'), 3, { exchanges => 1 } ],
	'substitute of the table, or stage' => [ 'r', sprintf($substitute, 't'), 2, { whole => 1 } ],
	'substitute of the default' => [ 'r', sprintf($substitute, 't_rest'), 5, { rest => 1 } ],
	'index of the target' => [ 'i', sprintf($index, "'public.t'::regclass"), 1 ],
	'index of the leaf with late rows' => [ 'i', sprintf($index, sprintf($of_day, 1)), 1 ],
	'index of another leaf' => [ 'i', sprintf($index, sprintf($of_day, 2)), 3 ],
	'index of the new partition' => [ 'i', sprintf($index, $made), 1, { made => 1 } ],
	'index of a substitute' => [ 'i', sprintf($index, sprintf($substitute, 't_2')), 2, { exchanges => 1 } ],
	'index of the substitute of the default' => [ 'i', sprintf($index, sprintf($substitute, 't_rest')), 2, { rest => 1 } ],
	'schema of substitutes' => [ 'n', "(SELECT oid FROM pg_catalog.pg_namespace WHERE $exchange LIMIT 1)", 2, { schema => 1 } ],
	rejects => [ 'r', "'public.rejects'::regclass", 1, { beside => 1, file => 1 } ],
	ledger => [ 'r', "'public.led'::regclass", 1, { beside => 1, file => 1 } ],
	history => [ 'r', "'public.hist'::regclass", 1, { beside => 1 } ]);

# Commands.  If one is done: rows of the object may be gone (loses), columns may have
# other values (changes), the object may be elsewhere (moves), and so many rows come (adds)
my %COMMANDS = (
	r => [
		[ 'TRUNCATE %s', loses => 1 ], [ 'TRUNCATE %s', loses => 1 ],
		[ 'DROP TABLE %s', loses => 1 ], [ 'DROP TABLE %s CASCADE', loses => 1 ],
		[ 'ALTER TABLE public.t DETACH PARTITION %s', loses => 1, moves => 1 ],
		[ "ALTER TABLE public.t DETACH PARTITION %s; ALTER TABLE %s ALTER x TYPE text USING 'x'", loses => 1, moves => 1 ],
		[ "ALTER TABLE public.t DETACH PARTITION %s; ALTER TABLE public.t ATTACH PARTITION %s FOR VALUES FROM ('2013-01-21') TO ('2013-01-22')", loses => 1 ],
		[ "ALTER TABLE %s ALTER x TYPE text USING 'x'", changes => 'x' ], [ 'ALTER TABLE %s ALTER x TYPE int2 USING 1', changes => 'x' ],
		[ 'ALTER TABLE %s ALTER x SET NOT NULL' ], [ 'ALTER TABLE %s ALTER x SET NOT NULL' ], [ 'ALTER TABLE %s ADD CHECK (x IS NOT NULL)' ],
		[ 'ALTER TABLE %s ADD CHECK (n < 100)' ], [ 'ALTER TABLE %s ADD CHECK (n < 100) NOT VALID' ],
		[ 'ALTER TABLE %s ADD y int DEFAULT 5' ], [ 'ALTER TABLE %s ADD y float8 DEFAULT random()' ], [ 'ALTER TABLE %s DROP x', changes => 'x' ],
		[ 'ALTER TABLE %s ALTER x SET DEFAULT 7' ], [ 'ALTER TABLE %s RENAME x TO y', changes => 'x' ],
		[ 'CREATE INDEX ON %s (v)' ], [ 'CREATE INDEX ON %s (x)' ], [ 'CREATE UNIQUE INDEX ON %s (v, ts)' ], [ 'ALTER TABLE %s ADD PRIMARY KEY (n, ts)' ],
		[ 'REINDEX TABLE %s' ], [ 'DROP INDEX public.t_n_idx' ], [ 'DROP INDEX public.t_act' ], [ 'DROP FUNCTION public.plain(int) CASCADE' ],
		[ 'ALTER TABLE %s SET TABLESPACE other' ], [ 'ALTER TABLE ALL IN TABLESPACE pg_default SET TABLESPACE other' ],
		[ 'ALTER TABLE %s SET UNLOGGED' ], [ 'ALTER TABLE %s SET ACCESS METHOD heap2' ],
		[ 'ALTER TABLE %s RENAME TO t_moved', moves => 1 ], [ 'ALTER TABLE %s SET SCHEMA elsewhere', moves => 1 ], [ 'ALTER TABLE %s OWNER TO bob' ],
		[ 'ALTER TABLE %s ENABLE ROW LEVEL SECURITY' ], [ "CREATE TRIGGER another BEFORE INSERT ON %s FOR EACH ROW $trigger" ],
		[ 'CREATE RULE r AS ON INSERT TO %s DO ALSO NOTHING' ], [ 'ALTER TABLE %s SET (fillfactor = 20)' ],
		[ 'ALTER TABLE %s ALTER v SET STORAGE PLAIN' ], [ 'ALTER TABLE %s ALTER v SET COMPRESSION pglz' ],
		[ 'CREATE TABLE public.t_child () INHERITS (%s)', moves => 1 ], [ 'CREATE VIEW public.t_view AS SELECT * FROM %s' ],
		[ "CREATE TABLE public.t_part PARTITION OF %s FOR VALUES FROM ('2013-01-04') TO ('2013-01-05')" ],
		[ "ALTER TABLE public.t ATTACH PARTITION %s FOR VALUES FROM ('2013-01-04') TO ('2013-01-05')" ],
		[ "ALTER TABLE public.t ATTACH PARTITION %s FOR VALUES FROM ('2013-01-20') TO ('2013-01-21')" ],
		[ 'CREATE STATISTICS st ON n, x FROM %s' ], [ 'ANALYZE %s' ], [ 'LOCK TABLE %s' ], [ 'DECLARE c CURSOR FOR SELECT * FROM %s' ],
		[ 'DELETE FROM %s', loses => 1 ], [ "UPDATE %s SET v = 'mine'", changes => 'v' ], [ "UPDATE %s SET x = 7", changes => 'x' ],
		[ "INSERT INTO %s (n, ts, v, x) VALUES (8000, '2013-01-02 13:00', 'mine', 1)", adds => 1 ],
		[ "INSERT INTO %s (n, ts, v, x) VALUES (8000, '2013-01-09 13:00', 'mine', 1)", adds => 1 ],
		[ "DO \$\$ BEGIN PERFORM public.fast_copy('%s', '$PATHS{days}', columns => '{n,ts,v,x}', on_error => 'ignore'); END \$\$", adds => 2 ],
		[ "SELECT public.fast_copy_drain('public.t')" ], [ "SELECT public.fast_copy_repartition('public.t', 'drop', partition_interval => '1 week')" ] ],
	i => [
		[ 'DROP INDEX %s' ], [ 'ALTER INDEX %s SET TABLESPACE other' ], [ 'ALTER INDEX ALL IN TABLESPACE pg_default SET TABLESPACE other' ], [ 'REINDEX INDEX %s' ],
		[ 'ALTER INDEX %s RENAME TO t_moved_idx' ], [ 'ALTER INDEX %s SET (fillfactor = 50)' ], [ 'ALTER INDEX public.t_n_idx ATTACH PARTITION %s' ],
		[ 'DROP INDEX public.t_n_idx' ] ],
	n => [
		[ 'DROP SCHEMA %s CASCADE' ], [ 'ALTER SCHEMA %s RENAME TO gone' ], [ 'ALTER SCHEMA %s OWNER TO bob' ], [ 'GRANT ALL ON SCHEMA %s TO PUBLIC' ],
		[ 'CREATE TABLE %s.mine (n int)' ], [ 'CREATE TABLE %s.t_2_n_idx (n int)' ], [ 'CREATE VIEW %s.mine AS SELECT 1' ] ]);

# ---- attacks that are known -------------------------------------------------

# A role that owns the leaves has a function of an index do, for a row that came meanwhile,
# what it may not do while the load is at work: before the last lock, or under it, where the
# row is one that the function has put there itself
my $detach = 'ALTER TABLE public.t DETACH PARTITION %s';
my $elsewhere = "INSERT INTO %s (n, ts, v, x) VALUES (8000, '2013-01-09 13:00', 'mine', 1)";
my @KNOWN = map { { code => 'index expression', step => 'replace', late => 'session', workers => 0, load => 'replace', object => 'another leaf', %$_ } } (
	(map { { command => $_ } } 'TRUNCATE %s', 'DROP TABLE %s CASCADE', 'ALTER TABLE %s ALTER x SET NOT NULL', 'ALTER TABLE %s ADD CHECK (n < 100)', 'ALTER TABLE %s SET TABLESPACE other', 'CREATE INDEX ON %s (v)'),
	(map { { bait => 1, command => $_ } } $detach, "$detach; ALTER TABLE %s ALTER x TYPE text USING 'x'", "$detach; ALTER TABLE public.t ATTACH PARTITION %s FOR VALUES FROM ('2013-01-21') TO ('2013-01-22')", 'ALTER TABLE %s SET TABLESPACE other'),
	(map { { bait => 2, object => 'leaf with late rows', command => $_ } } 'TRUNCATE %s', $detach, 'ALTER TABLE %s ALTER x SET NOT NULL'),
	(map { { bait => 2, object => 'target', command => $_ } } "ALTER TABLE %s ALTER x TYPE text USING 'x'", 'ALTER TABLE %s ADD y float8 DEFAULT random()', 'DROP TABLE %s CASCADE'),
	(map { { object => 'substitute of another', command => $_ } } 'TRUNCATE %s', 'DROP TABLE %s CASCADE', 'ALTER TABLE %s ADD y float8 DEFAULT random()', 'ALTER TABLE %s SET ACCESS METHOD heap2', 'DROP INDEX public.t_n_idx', $elsewhere),
	(map { { object => 'index of a substitute', command => $_ } } 'DROP INDEX %s', 'ALTER INDEX %s SET TABLESPACE other', 'REINDEX INDEX %s'),
	{ object => 'schema of substitutes', command => 'DROP SCHEMA %s CASCADE' },
	(map { { load => $_, command => 'ALTER TABLE %s ALTER x SET NOT NULL' } } 'merge', 'range', 'replace and new'),
	(map { { load => 'merge', object => 'substitute of another', command => $_ } } 'TRUNCATE %s', $elsewhere),
	{ load => 'plain', object => 'substitute of the table, or stage', command => $elsewhere },
	{ code => 'event trigger at start', step => 'attach', late => '', load => 'upsert', object => 'substitute of the table, or stage',
		command => "ALTER TABLE public.t ATTACH PARTITION %s FOR VALUES FROM ('2013-01-04') TO ('2013-01-05')" },
	# while indexes are defined: one that is to be built is, and a table that lacks its own yet gets a row of another
	(map { { code => 'folded index predicate', step => 'any', late => '', load => $_, object => 'index of the new partition', command => 'REINDEX INDEX %s' } } 'new', 'drain'),
	{ code => 'folded index predicate', step => 'any', late => '', load => 'repartition', workers => 2, object => 'new partition', command => $elsewhere },
	# a row that this transaction inserts after others were read, and that its snapshot shows
	{ load => 'drain of a range', late => 'own', isolation => 1, step => 'index', object => 'history', command => 'ANALYZE %s' },
	{ late => 'own', command => 'ALTER TABLE %s ALTER x SET NOT NULL' }, { workers => 2, command => 'ALTER TABLE %s ALTER x SET NOT NULL' });

# ---- the database that all cases begin with ---------------------------------

# A session that hangs, and not by its timeouts, ends with the server
my $hangs;
my $psql = sub {
	my ($sql) = @_;
	my @result = $node->psql('between', $sql, on_error_stop => 1, timeout => 90, timed_out => \$hangs);

	if ($hangs) { $node->stop('immediate'); $node->start }
	return $hangs ? (3, '', 'server closed the connection: it hung') : @result;
};
my $functions = join '', map { "CREATE FUNCTION $_->[0] LANGUAGE plpgsql @{[ $_->[2] // 'IMMUTABLE' ]} PARALLEL SAFE AS \$\$ BEGIN PERFORM public.act(); RETURN $_->[1]; END \$\$;\n" } (
	[ 'as_index(n int) RETURNS int', 'n' ], [ 'as_condition(n int) RETURNS boolean', 'n IS NOT NULL' ], [ 'does(n int) RETURNS boolean', 'true', 'VOLATILE' ],
	[ 'does_value(n bigint) RETURNS boolean', 'true', 'VOLATILE' ], [ 'as_default() RETURNS int', '1', 'VOLATILE' ], [ 'as_text(x text) RETURNS text', 'x' ],
	[ 'act_cmp(a int, b int) RETURNS int', 'pg_catalog.btint4cmp(a, b)' ], [ 'act_cmp(a bigint, b bigint) RETURNS int', 'pg_catalog.btint8cmp(a, b)' ],
	[ 'act_hash(a bigint) RETURNS int', 'pg_catalog.hashint8(a)' ], [ 'to_pair(x text) RETURNS act_pair', 'ROW(x)::public.act_pair' ]);

sub make_database
{
	my ($host, $port) = ($node->host, $node->port);
	my $operators = join '', map { "CREATE OPERATOR CLASS act_$_ FOR TYPE $_ USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 act_cmp($_, $_);" } qw(int bigint);

	$node->safe_psql('postgres', "DROP DATABASE IF EXISTS between WITH (FORCE)");
	$node->safe_psql('postgres', 'CREATE DATABASE between');
	$node->safe_psql('between', "CREATE EXTENSION fast_copy; CREATE EXTENSION dblink; CREATE EXTENSION amcheck; CREATE SCHEMA elsewhere; ALTER DATABASE between OWNER TO alice;
		GRANT ALL ON SCHEMA public, elsewhere TO alice, bob; CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler;
		SET ROLE alice; CREATE SEQUENCE fired; CREATE SEQUENCE done; CREATE TYPE act_pair AS (x bigint); RESET ROLE");
	$node->safe_psql('between', <<"SQL");
CREATE FUNCTION other_session() RETURNS void LANGUAGE sql SECURITY DEFINER AS \$\$
	SELECT public.dblink_exec('host=$host port=$port dbname=between user=postgres options=-clock_timeout=300ms',
		'INSERT INTO public.t (n, ts, v, x) SELECT 7000, ''2013-01-01 13:00'', ''late'', 7000 WHERE NOT EXISTS (SELECT FROM public.t WHERE n = 7000)') \$\$;
SET ROLE alice;
CREATE FUNCTION act() RETURNS void LANGUAGE plpgsql PARALLEL SAFE AS \$\$
DECLARE
	bait text := coalesce(pg_catalog.current_setting('between.bait', true), '');
	command text := coalesce(pg_catalog.current_setting('between.command', true), '');
	step text;
	times int;
	object oid;
BEGIN
	IF command = '' THEN RETURN; END IF;
	SELECT last_value - 1 + is_called::int INTO times FROM public.fired;
	IF times = 1 OR times > 2 OR (times = 2 AND bait = '') THEN RETURN; END IF;
	PERFORM pg_catalog.pg_stat_clear_snapshot();
	-- ANALYZE shows its own progress, and so do commands of the load
	SELECT coalesce((SELECT phase FROM public.fast_copy_progress), (SELECT 'analyze' FROM pg_catalog.pg_stat_progress_analyze), '') INTO step;
	IF pg_catalog.current_setting('between.step') NOT IN (step, 'any') THEN RETURN; END IF;
	IF times = 0 AND bait <> '' THEN
		PERFORM pg_catalog.nextval('public.fired');
		EXECUTE bait;
		PERFORM pg_catalog.nextval('public.fired');
		RETURN;
	END IF;
	EXECUTE 'SELECT ' || pg_catalog.current_setting('between.object') INTO object;
	IF object IS NULL THEN RETURN; END IF;
	-- a worker may not
	PERFORM pg_catalog.setval('public.fired', 3);
	command := pg_catalog.replace(command, '%s', CASE WHEN pg_catalog.current_setting('between.kind') = 'n' THEN
		pg_catalog.quote_ident((SELECT nspname FROM pg_catalog.pg_namespace WHERE oid = object)) ELSE object::pg_catalog.regclass::text END);
	IF pg_catalog.current_setting('between.catches') = 'yes' THEN
		BEGIN
			EXECUTE command;
			PERFORM pg_catalog.nextval('public.done');
		EXCEPTION WHEN OTHERS THEN NULL;
		END;
	ELSE
		EXECUTE command;
		PERFORM pg_catalog.nextval('public.done');
	END IF;
END \$\$;
$functions
CREATE FUNCTION act_trigger() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN PERFORM public.act(); IF TG_OP = 'DELETE' THEN RETURN OLD; END IF; RETURN NEW; END \$\$;
CREATE FUNCTION act_event() RETURNS event_trigger LANGUAGE plpgsql AS \$\$ BEGIN PERFORM public.act(); END \$\$;
CREATE FUNCTION late(n int) RETURNS boolean LANGUAGE plpgsql PARALLEL SAFE AS \$\$
DECLARE
	how text := pg_catalog.current_setting('between.late', true);
BEGIN
	IF n = 101 AND how = 'session' THEN PERFORM public.other_session();
	ELSIF n = 101 AND how = 'own' THEN
		INSERT INTO public.t (n, ts, v, x) SELECT 7000, '2013-01-01 13:00', 'late', 7000 WHERE NOT EXISTS (SELECT FROM public.t AS t WHERE t.n = 7000);
	END IF;
	RETURN true;
END \$\$;
CREATE FUNCTION late_index(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS \$\$ BEGIN IF n = 3 THEN PERFORM public.late(101); END IF; RETURN n; END \$\$;
CREATE DOMAIN act_domain AS bigint CHECK (does_value(VALUE));
CREATE CAST (text AS act_pair) WITH FUNCTION to_pair(text);
RESET ROLE;
$operators
CREATE OPERATOR CLASS act_hash_ops FOR TYPE bigint USING hash AS OPERATOR 1 =, FUNCTION 1 act_hash(bigint);
CREATE TYPE act_range AS RANGE (SUBTYPE = int, SUBTYPE_OPCLASS = act_int);
@{[ $partman eq '' ? '' : 'CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman; GRANT USAGE ON SCHEMA partman TO alice; GRANT ALL ON ALL TABLES IN SCHEMA partman TO alice;' ]}
SQL
	$node->safe_psql('between', soundness());
}

# A function that tells what is wrong with tables and catalogs; the planner may believe
# nothing of what they say
sub soundness
{
	return <<'SQL';
CREATE FUNCTION unsound(target oid, moved boolean) RETURNS SETOF text LANGUAGE plpgsql SET constraint_exclusion = off SET search_path = public AS $$
DECLARE
	rel record;
	part record;
	wrong bigint;
BEGIN
	FOR rel IN SELECT c.oid, c.oid::regclass AS name, relispartition, relam FROM pg_class c JOIN pg_namespace m ON m.oid = relnamespace
		WHERE relkind = 'r' AND (nspname IN ('public', 'elsewhere') OR nspname LIKE 'fast_copy %') LOOP
		EXECUTE format('SELECT count(md5(r::text)) FROM ONLY %s r', rel.name) INTO wrong;
		FOR part IN SELECT attname FROM pg_attribute WHERE attrelid = rel.oid AND attnum > 0 AND attnotnull AND NOT attisdropped LOOP
			EXECUTE format('SELECT count(*) FROM ONLY %s WHERE num_nulls(%I) > 0', rel.name, part.attname) INTO wrong;
			IF wrong > 0 THEN RETURN NEXT format('%s has %s rows with NULL in %s', rel.name, wrong, part.attname); END IF;
		END LOOP;
		FOR part IN SELECT conname, pg_get_expr(conbin, conrelid) AS expr FROM pg_constraint WHERE conrelid = rel.oid AND contype = 'c' AND convalidated LOOP
			EXECUTE format('SELECT count(*) FROM ONLY %s WHERE NOT (%s)', rel.name, part.expr) INTO wrong;
			IF wrong > 0 THEN RETURN NEXT format('%s has %s rows against %s', rel.name, wrong, part.conname); END IF;
		END LOOP;
		IF rel.relispartition THEN
			EXECUTE format('SELECT count(*) FROM ONLY %s WHERE NOT (%s)', rel.name, coalesce(pg_get_partition_constraintdef(rel.oid), 'true')) INTO wrong;
			IF wrong > 0 THEN RETURN NEXT format('%s has %s rows out of its bounds', rel.name, wrong); END IF;
		ELSIF rel.oid <> target AND rel.name::text ~ '\mt(_|$)' AND NOT moved THEN
			RETURN NEXT format('%s is left', rel.name);
		END IF;
		FOR part IN SELECT adnum, attname, pg_get_expr(adbin, adrelid) AS expr FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
			WHERE adrelid = rel.oid AND attgenerated = 's' LOOP
			EXECUTE format('SELECT count(*) FROM ONLY %s WHERE %I IS DISTINCT FROM (%s)', rel.name, part.attname, part.expr) INTO wrong;
			IF wrong > 0 THEN RETURN NEXT format('%s has %s wrong values of %s', rel.name, wrong, part.attname); END IF;
		END LOOP;
		IF rel.relam = 2 THEN RETURN QUERY SELECT format('%s: %s', rel.name, msg) FROM verify_heapam(rel.oid, check_toast => true) LIMIT 3; END IF;
		FOR part IN SELECT indexrelid, relam FROM pg_index JOIN pg_class ON oid = indexrelid WHERE indrelid = rel.oid AND indisvalid LOOP
			IF part.relam = 403 THEN
				BEGIN
					PERFORM bt_index_check(part.indexrelid, true);
				EXCEPTION WHEN OTHERS THEN RETURN NEXT format('index %s: %s', part.indexrelid::regclass, sqlerrm);
				END;
			END IF;
			IF rel.relispartition AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = part.indexrelid) AND EXISTS (SELECT FROM pg_inherits JOIN pg_index p ON p.indexrelid = inhparent
				WHERE inhparent = part.indexrelid) THEN RETURN NEXT format('index %s is no partition', part.indexrelid::regclass); END IF;
		END LOOP;
	END LOOP;
	RETURN QUERY SELECT format('partition %s lacks a part of index %s', inhrelid::regclass, indexrelid::regclass) FROM pg_inherits JOIN pg_class l ON l.oid = inhrelid AND l.relkind = 'r'
		JOIN pg_index i ON i.indrelid = inhparent AND i.indisvalid
		WHERE NOT EXISTS (SELECT FROM pg_inherits x JOIN pg_index y ON y.indexrelid = x.inhrelid WHERE x.inhparent = i.indexrelid AND y.indrelid = l.oid);
	RETURN QUERY SELECT format('schema %s is left', nspname) FROM pg_namespace WHERE nspname LIKE 'fast_copy %' OR nspname IN ('gone');
	RETURN QUERY SELECT format('TOAST table %s is of nobody', relname) FROM pg_class c WHERE relkind = 't' AND c.oid >= 16384
		AND NOT EXISTS (SELECT FROM pg_class o JOIN pg_depend ON refobjid = o.oid AND refclassid = 'pg_class'::regclass WHERE o.reltoastrelid = c.oid AND objid = c.oid AND deptype = 'i'
			AND (c.relname = 'pg_toast_' || o.oid OR c.relname ~ 'toast_\d+$' AND o.relnamespace = 'pg_catalog'::regnamespace));
	RETURN QUERY SELECT format('%s has an OID of no table', what) FROM (SELECT 'pg_attribute' AS what, attrelid AS oid FROM pg_attribute UNION SELECT 'pg_index', indexrelid FROM pg_index
		UNION SELECT 'pg_index', indrelid FROM pg_index UNION SELECT 'pg_inherits', inhrelid FROM pg_inherits UNION SELECT 'pg_constraint', conrelid FROM pg_constraint WHERE conrelid <> 0
		UNION SELECT 'pg_depend', objid FROM pg_depend WHERE classid = 'pg_class'::regclass UNION SELECT 'pg_depend', refobjid FROM pg_depend WHERE refclassid = 'pg_class'::regclass) AS x
		WHERE NOT EXISTS (SELECT FROM pg_class WHERE pg_class.oid = x.oid);
END $$;
SQL
}

# ---- a case -----------------------------------------------------------------

# The tables, as they are before each load; returns the SQL
sub tables
{
	my ($case) = @_;
	my ($load, $code) = ($LOADS{ $case->{load} }, $CODES{ $case->{code} });
	my $type = $code->{type} // 'bigint';
	my $columns = "n int, ts timestamp NOT NULL, v text, x $type" . ($code->{column} // '') . ($code->{more} // '') . ($case->{late} && !$load->{move} ? ', CHECK (late(n))' : '');
	my $bound = sub {
		my ($day) = map { "'" . day($_) . "'" } @_;

		return $load->{list} ? "FOR VALUES IN ($day)" : "FOR VALUES FROM ($day) TO ('" . day($_[0] + 1) . "')";
	};
	my @leaves = map { /\d/ ? "CREATE TABLE t_$_ PARTITION OF t " . $bound->($_) . ';' : 'CREATE TABLE t_rest PARTITION OF t DEFAULT;' } @{ $load->{leaves} // [ 1 .. 3 ] };
	my $sql = "SET client_min_messages = error; SELECT setval('fired', 1, false), setval('done', 1, false);
		SET ROLE alice; CREATE OR REPLACE FUNCTION plain(n int) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT n / 2';
		CREATE TABLE t ($columns)" . ($load->{plain} ? ';' : ' PARTITION BY ' . ($load->{list} ? 'LIST ((ts::date));' : 'RANGE (ts);') . join('', @leaves));

	$sql .= "CREATE @{[ $load->{unique} ? 'UNIQUE' : '' ]} INDEX t_n_idx ON t (n, ts); CREATE INDEX t_plain ON t (plain(n));
		SELECT fast_copy_create_reject_table('rejects'), fast_copy_create_history_table('hist'), fast_copy_create_ledger_table('led');\n";
	$sql .= "RESET ROLE; SELECT partman.create_parent(p_parent_table => 'public.t', p_control => 'ts', p_type => '@{[ $partman =~ /^4/ ? 'native' : 'range' ]}', p_interval => '@{[ $partman =~ /^4/ ? 'daily' : '1 day' ]}', p_premake => 1);\n" if $code->{partman};
	$sql .= 'INSERT INTO t (n, ts, v, x) VALUES ' . join(', ', map { "($_->{n}, '$_->{ts}', '$_->{v}', $_->{x})" } @OLD) . ";\n";
	$sql .= ($code->{before} // '') . ';' . ($case->{late} && $load->{move} ? 'CREATE INDEX t_late ON t (late_index(n));' : '');
	$sql .= "RESET ROLE; CREATE EVENT TRIGGER between ON $code->{event} EXECUTE FUNCTION act_event();" if $code->{event};
	return $sql;
}

# Takes away all that a case has made
my $away = "SET client_min_messages = error; DROP EVENT TRIGGER IF EXISTS between;
	DO \$\$ DECLARE rel record; BEGIN
		FOR rel IN SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace m ON m.oid = relnamespace WHERE relkind IN ('r', 'p') AND NOT relispartition AND c.oid >= 16384 AND (nspname IN ('public', 'elsewhere') OR nspname LIKE 'fast_copy %') LOOP
			-- one that went with another has no name by now
			CONTINUE WHEN rel.name ~ '^[0-9]';
			EXECUTE 'DROP TABLE IF EXISTS ' || rel.name || ' CASCADE';
		END LOOP;
	END \$\$;" . ($partman eq '' ? '' : 'DROP TABLE IF EXISTS partman.template_public_t; DELETE FROM partman.part_config;');

# What catalogs and tables say, but for rows of other sessions
my $state = "SELECT c.oid::regclass, relkind, relowner::regrole, relispartition, relpersistence, relam, reltablespace, pg_relation_filenode(c.oid), reloptions, relrowsecurity, reltoastrelid, pg_get_expr(relpartbound, c.oid),
	(SELECT string_agg(format('%s %s %s %s %s', attname, atttypid::regtype, attnotnull, attinhcount, attstorage), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0),
	(SELECT string_agg(conname || ' ' || pg_get_constraintdef(oid), ', ' ORDER BY conname) FROM pg_constraint WHERE conrelid = c.oid),
	(SELECT string_agg(tgname, ', ' ORDER BY tgname) FROM pg_trigger WHERE tgrelid = c.oid), (SELECT indisvalid::text || indisunique FROM pg_index WHERE indexrelid = c.oid)
	FROM pg_class c JOIN pg_namespace m ON m.oid = relnamespace WHERE (nspname IN ('public', 'elsewhere', 'pg_toast') OR nspname LIKE 'fast_copy %') AND c.oid >= 16384 ORDER BY c.oid;
	SELECT tableoid::regclass, count(*), md5(string_agg(t::text, ',' ORDER BY n, t::text)) FROM t WHERE n < 7000 GROUP BY tableoid ORDER BY tableoid;
	SELECT (SELECT count(*) FROM rejects), (SELECT count(*) FROM led), (SELECT count(*) FROM hist);\n";
my $rows = "SELECT format('SELECT to_jsonb(r) ->> ''n'', replace(to_jsonb(r) ->> ''ts'', ''T'', '' ''), to_jsonb(r) ->> ''v'', to_jsonb(r) ->> ''x'' FROM %%s r', oid::regclass) FROM pg_class WHERE oid = %s \\gexec\n";

my $core = qr/CONTEXT:\ \ SQL\ statement\ "(?:ALTER\ TABLE\ \S+\ ATTACH\ PARTITION|INSERT\ INTO\ \S+\ AS\ t\ .*?\ OVERRIDING\ SYSTEM\ VALUE|DELETE\ FROM\ public\.t\b)
	# the planner of 19, of the DELETE, when a function that it folds has dropped an index
	|could\ not\ open\ relation\ with\ OID\ \d+\nCONTEXT:\ \ fast_copy\ t,\ rows\ that\ are\ replaced
	# a command that writes to an index which is not built yet, as within CREATE INDEX
	|could\ not\ read\ block\ 0\ in\ file\ [^\n]*\nCONTEXT:[\s\S]*PL\/pgSQL\ function\ act\(\)/x;

sub quoted { my ($text) = @_; return "'" . ($text =~ s/'/''/gr) . "'" }

sub load
{
	my ($case) = @_;
	my ($load, $code, $object) = ($LOADS{ $case->{load} }, $CODES{ $case->{code} }, $OBJECTS{ $case->{object} });
	# of a row that a function refuses nobody knows whether it was skipped
	my $beside = !$code->{rows} && ($case->{rejects} || $code->{late} || $object->[3]{beside});
	my $options = join(', ', grep { length } $load->{options} // '', $code->{options} // '', $beside ? '"ledger": "led"' : '');
	my %settings = (command => $case->{command}, object => $object->[1], kind => $object->[0], step => $case->{step}, catches => $case->{catches} ? 'yes' : 'no', late => $case->{late} // '',
		bait => $case->{bait} ? sprintf("INSERT INTO public.t (n, ts, v, x) VALUES (7001, '%s 14:00', 'late', 7001)", day($case->{bait})) : '');

	return "\\set VERBOSITY verbose\n" . ($case->{loader} ? '' : "SET ROLE alice;\n") . join('', map { "SET between.$_ = " . quoted($settings{$_}) . ";\n" } sort keys %settings)
	  . ($beside ? "SET fast_copy.history = 'hist';\n" : '') . ($case->{isolation} ? "SET default_transaction_isolation = 'repeatable read';\n" : '')
	  . ($load->{move} ? 'SELECT ' . sprintf($load->{move}, "target => 't', workers => $case->{workers}" . ($case->{analyze} ? ', run_analyze => true' : '')) . ";\n" :
		"SELECT fast_copy('t', '$PATHS{ $load->{file} }" . ($beside ? '.bad' : '') . "', columns => '{n,ts,v,x}', workers => $case->{workers}" . ($beside ? ", on_error => 'ignore', on_error_classes => '{conversion}', reject_table => 'rejects'" : '')
	  . ($case->{analyze} ? ', run_analyze => true' : '') . ($code->{argument} // '') . ", options => '" . ("{$options}" =~ s/'/''/gr) . "');\n");
}

# The rows that there must be, and those that may be there, by their texts, once the load has
# succeeded and the command is done or not
sub wanted
{
	my ($case, $fired, $done) = @_;
	my $load = $LOADS{ $case->{load} };
	my %command = %{ $case->{effects} };
	my (%must, %may, %drop);
	my $text = sub { my ($row) = @_; return join('|', map { $done && ($command{changes} // '') eq $_ ? '?' : $row->{$_} } qw(n ts v x)) };
	my $after = $CODES{ $case->{code} }{late} || $case->{step} eq 'analyze' || $case->{command} =~ /^DELETE/;

	my $days = sub { return { map { $_ => 1 } @_ } };

	%drop = (target => $days->(1 .. 4), 'leaf with late rows' => $days->($load->{leaves} ? (1, 2) : 1), 'another leaf' => $days->($load->{leaves} ? (1, 2) : $load->{move} ? (2, 3) : 2),
		'a leaf without rows of the file' => $days->(3), 'new partition' => $days->($load->{leaves} ? (1, 2) : $load->{move} ? (2, 3) : 4));
	my $lost = $done && $command{loses} ? $drop{ $case->{object} } // {} : {};
	my $add = sub {
		my ($row, $new) = @_;
		my ($day) = $row->{ts} =~ /^2013-01-0(\d)/;
		my $set = $lost->{ $day // 0 } && (!$new || $after) ? \%may : \%must;

		$set->{ $text->($row) }++;
	};
	$add->($_, 0) foreach grep { $load->{stays}->($_->{n}) } @OLD;
	$add->($_, 1) foreach grep { !$load->{keeps} || $_->{n} > 60 } @{ $FILES{ $load->{file} // '' } // [] };
	# those that met none
	if ($load->{keeps} && %$lost) { $may{ $text->($_) }++ foreach grep { $_->{n} <= 60 } @{ $FILES{ $load->{file} } } }
	$add->({ n => 7000, ts => day(1) . ' 13:00:00', v => 'late', x => 7000 }, 0) if $case->{late};
	$add->({ n => 7001, ts => day($case->{bait}) . ' 14:00:00', v => 'late', x => 7001 }, 0) if $fired && $case->{bait};
	if ($done && $command{adds})
	{
		my @added = $command{adds} == 1 ? map { { n => 8000, ts => day($_) . ' 13:00:00', v => 'mine', x => 1 } } $load->{plain} || $load->{leaves} ? (2, 9) : 2 : @{ $FILES{days} };
		$may{ $text->($_) }++ foreach @added;
	}
	return (\%must, \%may, $text);
}

# What is wrong with the rows
sub compared
{
	my ($case, $fired, $done, $got) = @_;
	my ($must, $may, $text) = wanted($case, $fired, $done);
	my (%there, @wrong);

	foreach (split /\n/, $got)
	{
		my %row;
		@row{qw(n ts v x)} = (split(/\|/, $_, -1))[ 0 .. 3 ];
		$there{ $text->(\%row) }++;
	}
	my $gone = $done && $case->{effects}{loses} && $case->{object} eq 'target' && $got eq '';
	foreach my $row (sort keys %$must) { push(@wrong, "lost: $row") if !$gone && ($there{$row} // 0) < $must->{$row} }
	foreach my $row (sort keys %there) { push(@wrong, "too many: $row") if $there{$row} > ($must->{$row} // 0) + ($may->{$row} // 0) }
	splice(@wrong, 3, @wrong - 3, '... ' . (@wrong - 3) . ' more') if @wrong > 4;
	return map { length > 200 ? substr($_, 0, 200) . '...' : $_ } @wrong;
}

# Runs a case; returns what is wrong with its outcome, and what became of it
sub outcome
{
	my ($case) = @_;
	my ($rc, $out, $err) = $psql->($away . tables($case) . "SELECT 'target', 't'::regclass::oid;\n$state");

	return ("could not be prepared: $err", 'nothing') if $rc != 0;
	my ($target, $before) = $out =~ /^target\|(\d+)\n(.*)/ms;
	my $log = -s $node->logfile;
	my ($failed, undef, $said) = $psql->(load($case));
	my @wrong;

	if ($said =~ /server closed the connection|terminating connection|connection to server was lost/)
	{
		push(@wrong, 'the server has gone: ' . join('; ', slurp_file($node->logfile, $log) =~ /(TRAP:.*|PANIC:.*|was terminated by signal.*)/g));
		return ("@wrong", 'crash');
	}
	my ($state_of) = $said =~ /(?:ERROR|FATAL):  (\w{5}): /;
	# within these commands it is core that meets it
	push(@wrong, "an internal error: $said") if ($state_of // '') =~ /^XX/ && $said !~ /$core/;
	my ($no, $there, $why) = $psql->("SELECT is_called FROM fired; SELECT is_called FROM done;\n" . ($failed ? $state : sprintf($rows, $target)));
	my ($fired, $done, $after) = $there =~ /^([tf])\n([tf])\n?(.*)/s;
	($fired, $done) = map { ($_ // '') eq 't' } $fired, $done;
	if ($failed)
	{
		my %same = map { $_ => 1 } split /\n/, $before;

		push(@wrong, "failed ($said), and is not as before: " . join("\n", grep { !$same{$_} } split /\n/, $after)) if $after ne $before;
	}
	else
	{
		push(@wrong, $no ? "rows cannot be read: $why" : compared($case, $fired, $done, $after));
	}
	($no, my $unsound, $why) = $psql->("SELECT * FROM unsound($target, " . ($done && $case->{effects}{moves} ? 'true' : 'false') . ')');
	push(@wrong, $no ? "cannot be looked at: $why" : split(/\n/, $unsound));
	push(@wrong, slurp_file($node->logfile, $log) =~ /((?:TRAP|PANIC):.*|(?:WARNING|FATAL):  XX.*|.*was terminated by signal.*)/);
	return (join("\n", @wrong), $failed ? $state_of // 'failed' : $done ? 'done' : $fired ? 'tried' : 'not run');
}

# ---- cases that are drawn ---------------------------------------------------

sub pick { return $_[ int(rand(@_)) ] }
sub odds { return rand() < $_[0] }

# A case that makes sense: the object is there, and the code may run at the step
sub draw
{
	my $code = $CODES{ my $name = pick(map { ($_) x ($CODES{$_}{weight} // 1) } grep { !$CODES{$_}{partman} || $partman ne '' } sort keys %CODES) };
	my %case = (code => $name, load => pick($code->{loads} ? split(/,/, $code->{loads}) : grep { ($code->{moves} || !$LOADS{$_}{move}) && !($code->{effects} && $LOADS{$_}{list}) } sort keys %LOADS));
	my $load = $LOADS{ $case{load} };
	my @objects = grep {
		my $o = $OBJECTS{$_}[3] // {};

		$o->{beside} ? !$o->{file} || $load->{file} : $load->{plain} ? /target/ || $o->{whole} || $o->{schema} : $o->{made} ? ($load->{file} // 'more') =~ /more|both/ :
			$o->{exchanges} ? $load->{exchanges} : $o->{whole} ? $load->{unique} : $o->{rest} ? $case{load} eq 'drain' :
			$o->{schema} ? $load->{exchanges} || $load->{unique} || $case{load} eq 'drain' : 1
	} sort keys %OBJECTS;
	my $object = $OBJECTS{ $case{object} = pick(map { ($_) x $OBJECTS{$_}[2] } @objects) };

	$case{step} = pick(grep { $_ eq 'any' || $load->{steps} =~ /\b$_\b/ } split ' ', $code->{steps});
	# a function of an operator class waits for ever if it reads the page that calls it, and must
	# not catch an error, which unlocks the page; core moves a table whose pages are in use,
	# which its assertions forbid
	$case{command} = pick(grep { !/TABLE ALL IN/ || $name !~ /^(index|operator|hash)/ } grep { !$code->{locks} || !/^(INSERT|UPDATE|DELETE|DO|REINDEX|ANALYZE|DECLARE)/ } map { $_->[0] } @{ $COMMANDS{ $object->[0] } });
	$case{workers} = odds(0.35) ? 2 : 0;
	$case{late} = $case{workers} || odds(0.6) ? 'session' : 'own' if !$load->{list} && odds(!$load->{exchanges} && !$load->{move} ? 0.2 : $case{step} eq 'replace' ? 0.9 : 0.4);
	$case{bait} = pick(1, 2) if $case{late} && $case{step} eq 'replace' && !$load->{plain} && $code->{carries} && odds(0.3);
	$case{catches} = 1 if !$code->{locks} && odds(0.4);
	$case{loader} = 1 if odds(0.2);
	$case{rejects} = 1 if odds(0.15);
	$case{isolation} = 1 if odds(0.1);
	$case{analyze} = 1 if $case{step} eq 'analyze' || odds(0.15);
	# ANALYZE evaluates the index by which rows come, and they would wait for the last lock
	delete @case{qw(late bait)} if $case{analyze} && $load->{move};
	return \%case;
}

sub name_of
{
	my ($case) = @_;

	return "$case->{code} at $case->{step}, on $case->{object}: $case->{command}; $case->{load}, workers $case->{workers}"
	  . join('', map { $case->{$_} ? ", $_ $case->{$_}" : '' } qw(late bait catches loader rejects isolation analyze));
}

my (%ends, %kinds);

sub try
{
	my ($case, $what) = @_;
	my ($command) = grep { $_->[0] eq $case->{command} } map { @$_ } values %COMMANDS;

	$case->{effects} = { @$command[ 1 .. $#$command ] };
	my ($wrong, $end) = outcome($case);
	ok($wrong eq '', "$what: " . name_of($case)) or diag($wrong);
	$ends{$end}++;
	$kinds{ $case->{code} }++ if $end ne 'not run';
	if ($wrong ne '')
	{
		wait_until($node, 'SELECT true') or BAIL_OUT('the server does not come back');
		make_database();
	}
	note("$what ends: $end");
}

# ---- all of it --------------------------------------------------------------

$node->safe_psql('postgres', "CREATE ROLE bob; CREATE ROLE alice IN ROLE bob, pg_read_server_files, pg_read_all_stats; SET allow_in_place_tablespaces = on; CREATE TABLESPACE other LOCATION ''; GRANT CREATE ON TABLESPACE other TO alice, bob");
foreach (keys %FILES)
{
	write_bytes("$_.csv.bad", slurp_file($PATHS{$_}));
	write_bytes("$_.csv", slurp_file($PATHS{$_}) =~ s/^bad.*\n//mr);
}
make_database();
my $start = time;
foreach my $i (0 .. $#KNOWN) { try($KNOWN[$i], "k$i") if !%only || $only{"k$i"} }
diag("FC_BETWEEN_SEED=$seed FC_BETWEEN_CASES=$ncases");
srand($seed);
foreach my $i (1 .. $ncases)
{
	my $case = draw();

	$case = draw() until !%alone || $alone{ $case->{load} };
	try($case, $i) if !%only || $only{$i};
}
diag(join(', ', map { "$ends{$_} $_" } sort keys %ends) . '; ' . (time - $start) . ' s');
diag('code that ran: ' . join(', ', map { "$_ $kinds{$_}" } sort keys %kinds));
$node->stop;
done_testing();
