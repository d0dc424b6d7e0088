# Whose pg_partman it is, and what it looks like.
#
# The extension is made by hand, as anybody may make one of version 5.2 and
# later: a row of pg_extension, whose owner then adds what belongs to it.

use strict;
use warnings;
use FastCopy;
use Test::More;

my $node = new_node('main', {}, "timezone = 'UTC'", "statement_timeout = '60s'");
my $days = write_bytes('days.csv', join('', map { sprintf "%d,2013-01-%02d,v%d\n", $_, $_ % 3 + 1, $_ } 1 .. 300));
my $uninstall = q{SET allow_system_table_mods = on; DELETE FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND refobjid = 99999;
	DELETE FROM pg_extension WHERE oid = 99999; DROP SCHEMA IF EXISTS fake CASCADE; DROP SCHEMA IF EXISTS "it's ""odd"" \\" CASCADE; ALTER ROLE mallory NOSUPERUSER; };

query("CREATE ROLE mallory; CREATE ROLE alice; CREATE ROLE deputy IN ROLE alice; GRANT pg_read_server_files TO alice, deputy;
	GRANT CREATE ON SCHEMA public TO alice, mallory; GRANT CREATE ON DATABASE postgres TO mallory, alice, deputy");

subtest 'a pg_partman of a role that may not act for the table is passed over' => \&another_role_owns_it;
they_may_own_it();
subtest 'its functions need privileges of the owner, which a hint names' => \&the_owner_may_not_read;
subtest 'a superuser loads where the table or its schema is odd' => \&a_superuser_loads;
subtest 'a part of pg_partman that is another role\'s is not run' => \&one_part_is_anothers;
others_have_a_hand_in_it();
it_looks_otherwise();
subtest 'what the template of the owner holds runs as the owner' => \&the_template_of_the_owner;
subtest 'the real pg_partman is held to the same' => \&the_real_one;
$node->stop;
done_testing();

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# Standard output and error of all commands, even if one fails
sub outcome
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql", on_error_stop => 0);

	return ($out, $err);
}

# A pg_partman of the role's, which keeps public.kept; its function says who
# has run it, and would be more than it is.
sub install
{
	my ($owner, %part) = @_;
	my $config = $part{config} // "CREATE TABLE part_config (parent_table text, control text, partition_type text, partition_interval text,
			datetime_string text, premake int DEFAULT 4, epoch text DEFAULT 'none', inherit_privileges bool DEFAULT true, publications text[]);
		INSERT INTO part_config VALUES ('public.kept', 'day', 'range', '1 day', 'YYYYMMDD'); GRANT SELECT ON part_config TO alice";
	my $members = $part{members} // 'TABLE part_config, TABLE part_config_sub, FUNCTION check_name_length, FUNCTION apply_privileges';

	query($uninstall . "DROP TABLE IF EXISTS kept CASCADE; CREATE TABLE kept (n int, day date NOT NULL, v text) PARTITION BY RANGE (day); ALTER TABLE kept OWNER TO alice;
		CREATE SCHEMA fake; SET search_path = fake; CREATE TABLE ran (by name); GRANT INSERT ON ran TO PUBLIC; GRANT USAGE ON SCHEMA fake TO PUBLIC;
		CREATE TABLE part_config_sub (sub_parent text);
		$config;
		CREATE FUNCTION check_name_length(p_object_name text, p_suffix text DEFAULT NULL, p_table_partition boolean DEFAULT false) RETURNS text LANGUAGE plpgsql VOLATILE AS \$\$
		BEGIN
			INSERT INTO fake.ran VALUES (current_user);
			BEGIN EXECUTE 'ALTER ROLE mallory SUPERUSER'; EXCEPTION WHEN insufficient_privilege THEN NULL; END;
			RETURN p_object_name || '_p' || p_suffix;
		END \$\$;
		CREATE FUNCTION apply_privileges(text, text, text, text, bigint DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS \$\$
		BEGIN
			EXECUTE format('GRANT SELECT ON %I.%I TO PUBLIC', \$3, \$4);
		END \$\$;
		SET allow_system_table_mods = on; INSERT INTO pg_extension VALUES (99999, 'pg_partman', '$owner'::regrole, 'fake'::regnamespace, false, '5.2.4', NULL, NULL);
		ALTER SCHEMA fake OWNER TO $owner; ALTER TABLE ran OWNER TO $owner; ALTER TABLE part_config_sub OWNER TO $owner; ALTER TABLE IF EXISTS part_config OWNER TO $owner;
		ALTER FUNCTION check_name_length OWNER TO $owner; ALTER FUNCTION apply_privileges OWNER TO $owner; "
		. join('; ', map { "ALTER EXTENSION pg_partman ADD $_" } split /, /, $members) . '; ' . ($part{more} // ''));
}

sub is_no_superuser
{
	my ($what) = @_;

	is(query("SELECT rolsuper FROM pg_roles WHERE rolname = 'mallory'"), 'f', "$what: nobody has become superuser");
}

# Who has run the functions since the last time
sub ran_by { return query('WITH d AS (DELETE FROM fake.ran RETURNING by) SELECT string_agg(DISTINCT by::text, \',\') FROM d') }

sub partitions { return query("SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'kept'::regclass") }

# Passed over with a warning, and not even waited for
sub another_role_owns_it
{
	install('mallory');
	foreach my $role ('postgres', 'alice')
	{
		my ($out, $err) = outcome("SET ROLE $role; SELECT count(*) FROM fast_copy_analyze('kept', '$days')");
		like($err, qr/pg_partman is skipped for table "kept".*It belongs to role "mallory"/s, "$role: an analysis passes it over");
		($out, $err) = outcome("BEGIN; LOCK TABLE fake.part_config; SET LOCAL lock_timeout = '5s'; SET ROLE $role; SELECT fast_copy('kept', '$days'); COMMIT");
		is($out, 300, "$role: a load goes on") or diag($err);
		like($err, qr/WARNING:  01000: pg_partman is skipped for table "kept"\nDETAIL:  It belongs to role "mallory".*\nHINT:  /, "$role: it passes it over");
		is(ran_by(), '', "$role: nothing of it was run");
		is_no_superuser("$role, another's");
		query('TRUNCATE kept');
	}
	my $holder = start_load($node, "BEGIN; SET ROLE mallory; LOCK TABLE fake.part_config; SELECT pg_sleep(300);\n");
	ok(at_gate($node), 'its table is locked');
	is((outcome("SET lock_timeout = '5s'; SELECT fast_copy('kept', '$days')"))[0], 300, 'a load does not wait for it');
	query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
	finish_load($holder);
}

# Whoever owns it, and whoever loads: it runs as the owner of the table.
sub they_may_own_it
{
	foreach my $pair ('postgres postgres', 'postgres alice', 'postgres deputy', 'alice postgres', 'alice alice', 'alice deputy', 'deputy postgres', 'deputy deputy')
	{
		my ($owner, $loader) = split / /, $pair;
		my $what = "of $owner, loaded by $loader";

		subtest "pg_partman $what: partitions are the table owner's, and its functions run as the owner" => sub {
			install($owner);
			my ($out, $err) = outcome("SET ROLE $loader; SELECT fast_copy('kept', '$days'); SHOW search_path");
			is($out, "300\n\"\$user\", public", "$what: loaded") or diag($err);
			unlike($err, qr/WARNING/, "$what: no warning");
			is(partitions(), 'kept_p20130101,kept_p20130102,kept_p20130103', "$what: named by pg_partman");
			is(ran_by(), 'alice', "$what: its functions run as the owner");
			is(query("SELECT DISTINCT relowner::regrole, has_table_privilege('mallory', c.oid, 'SELECT') FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'kept'::regclass"),
				'alice|t', "$what: owned by the table's owner, and with privileges");
			is_no_superuser($what);
		};
	}
}

sub the_owner_may_not_read
{
	my $needs = sub {
		my ($grant) = @_;
		like((outcome("SELECT fast_copy('kept', '$days')"))[1], qr/42501: cannot create partitions of table "public\.kept".*\nDETAIL:  Its functions run as role "alice".*\nHINT:  \Q$grant\E; or create/, "needed: $grant");
		like((outcome("SELECT detail FROM fast_copy_analyze('kept', '$days') WHERE item = 'warning'"))[0], qr/\Q$grant\E/, '... an analysis tells');
		query($grant);
	};
	install('postgres', more => q{REVOKE USAGE ON SCHEMA fake FROM PUBLIC; REVOKE ALL ON fake.part_config FROM alice;
		CREATE OR REPLACE FUNCTION check_name_length(p_object_name text, p_suffix text DEFAULT NULL, p_table_partition boolean DEFAULT false) RETURNS text
		LANGUAGE sql AS 'SELECT p_object_name || p_suffix'});
	$needs->('GRANT USAGE ON SCHEMA fake TO alice');
	$needs->('GRANT SELECT ON fake.part_config TO alice');
	is((outcome("SELECT fast_copy('kept', '$days')"))[0], 300, 'with them it is loaded');
	query('REVOKE ALL ON fake.part_config FROM alice');
	is((outcome("SELECT fast_copy('kept', '$days')"))[0], 300, 'partitions that are there need none');
}

sub a_superuser_loads
{
	install('postgres', more => 'CREATE STATISTICS public.kept_s ON n, v FROM public.kept; REVOKE CREATE ON SCHEMA public FROM alice');
	is((outcome("SELECT fast_copy('kept', '$days')"))[0], 300, 'a superuser loads where the owner may not create');
	is(query("SELECT count(*), string_agg(DISTINCT stxowner::regrole::text, ',') FROM pg_statistic_ext WHERE stxrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'kept'::regclass)"),
		'3|alice', '... and statistics are the owner\'s');
	query('GRANT CREATE ON SCHEMA public TO alice');
	install('postgres', more => q{CREATE OR REPLACE FUNCTION check_name_length(p_object_name text, p_suffix text DEFAULT NULL, p_table_partition boolean DEFAULT false) RETURNS text
		LANGUAGE sql AS 'SELECT p_object_name || ''_odd'' || p_suffix'; ALTER SCHEMA fake RENAME TO "it's ""odd"" \\\\"});
	is((outcome("SELECT fast_copy('kept', '$days')"))[0], 300, 'an odd name of its schema');
	is(partitions(), 'kept_odd20130101,kept_odd20130102,kept_odd20130103', '... is no matter');
}

sub one_part_is_anothers
{
	install('postgres', more => 'ALTER FUNCTION fake.check_name_length(text, text, boolean) OWNER TO mallory');
	like((outcome("SELECT fast_copy('kept', '$days')"))[1], qr/55000: cannot create partitions of table "public\.kept", which pg_partman manages\nDETAIL:  The extension has no function check_name_length\(\) of its own/, 'a function of another\'s');
	is(ran_by(), '', '... is not run');
	install('postgres', more => 'ALTER EXTENSION pg_partman DROP FUNCTION fake.check_name_length');
	like((outcome("SELECT fast_copy('kept', '$days')"))[1], qr/The extension has no function check_name_length\(\) of its own/, 'a function that does not belong to it');
	install('postgres', more => "CREATE FUNCTION fake.check_name_length(text, text, boolean, int DEFAULT 1) RETURNS text LANGUAGE sql AS 'SELECT ''evil'''; ALTER FUNCTION fake.check_name_length(text, text, boolean, int) OWNER TO mallory");
	is((outcome("SELECT fast_copy('kept', '$days')"))[0], 300, 'another of the same name beside it');
	is(partitions(), 'kept_p20130101,kept_p20130102,kept_p20130103', '... is not called');
	foreach my $part ('TABLE fake.part_config', 'TABLE fake.part_config_sub', 'SCHEMA fake')
	{
		install('postgres', more => "ALTER $part OWNER TO mallory");
		my ($out, $err) = outcome("SELECT fast_copy('kept', '$days')");
		is($out, 300, "$part of another's: loaded");
		like($err, qr/WARNING:.*skipped/, "$part of another's: passed over");
		is(ran_by(), '', "$part of another's: nothing of it was run");
	}
}

# What its functions make commands of, and where they look for other functions
sub others_have_a_hand_in_it
{
	my $template = q{ALTER TABLE fake.part_config ADD template_table text DEFAULT 'fake.template'; CREATE TABLE fake.template (n int); ALTER TABLE fake.template OWNER TO alice;
		CREATE FUNCTION inherit_template_properties(text, text, text) RETURNS bool LANGUAGE sql AS 'INSERT INTO fake.ran VALUES (current_user) RETURNING true';
		ALTER EXTENSION pg_partman ADD FUNCTION inherit_template_properties; };
	my $path = 'ALTER FUNCTION check_name_length SET search_path = fake, pg_catalog, pg_temp; ';
	my $refused = 'ERROR:  42501: cannot create partitions of table "public\.kept", which pg_partman manages\nDETAIL:  ';
	my $role = 'role "mallory", which is neither';
	my @hands = (
		[ 'a template of the owner', undef, $template ],
		[ 'a template of another', qr/${refused}Its template "fake\.template" belongs to $role/, "$template ALTER TABLE fake.template OWNER TO mallory" ],
		[ 'a template of a superuser', undef, "$template ALTER TABLE fake.template OWNER TO postgres" ],
		[ 'a template of a superuser, which 5.5 does not take', qr/${refused}Its template "fake\.template" belongs to role "postgres", as which role "alice".*\nHINT:  .*: ALTER TABLE fake\.template OWNER TO alice\. /,
			"$template ALTER TABLE fake.template OWNER TO postgres; UPDATE pg_extension SET extversion = '5.5.0' WHERE oid = 99999" ],
		[ 'a template in a schema of another', undef,
			"$template CREATE SCHEMA his AUTHORIZATION mallory; ALTER TABLE fake.template SET SCHEMA his; UPDATE fake.part_config SET template_table = 'his.template'" ],
		[ 'functions with a path of their own', undef, $path ],
		[ 'who may create there', qr/${refused}Role "mallory" may create objects in schema "fake".*\nHINT:  Revoke CREATE on the schema/, "$path GRANT CREATE ON SCHEMA fake TO alice, mallory" ],
		[ 'all may create there', qr/${refused}Every role may create objects in schema "fake"/, "$path GRANT CREATE ON SCHEMA fake TO PUBLIC" ],
		[ 'who might create there once', qr/${refused}Role "mallory" owns objects in schema "fake" that.*\nHINT:  Drop these objects/, "$path CREATE FUNCTION fake.quote_ident(varchar) RETURNS text LANGUAGE sql AS 'SELECT ''evil'''; ALTER FUNCTION fake.quote_ident OWNER TO mallory" ],
		[ 'a table of another that hides a catalog', qr/${refused}Role "mallory" owns objects/, "$path CREATE TABLE fake.pg_class (n int); ALTER TABLE fake.pg_class OWNER TO mallory" ],
		[ 'things of another that hide nothing', undef, "$path CREATE TABLE fake.other (n int); ALTER TABLE fake.other OWNER TO mallory; CREATE FUNCTION fake.other() RETURNS int LANGUAGE sql AS 'SELECT 1'; ALTER FUNCTION fake.other OWNER TO mallory" ],
		[ 'the owner may create there', undef, "$path GRANT CREATE ON SCHEMA fake TO alice, deputy" ],
		[ 'functions that look nowhere else', undef, 'ALTER FUNCTION check_name_length SET search_path = pg_catalog, pg_temp; GRANT CREATE ON SCHEMA fake TO mallory' ]);

	foreach my $hand (@hands)
	{
		my ($what, $error, $more) = @$hand;

		subtest "$what: " . ($error ? 'refused, and nothing is run' : 'loaded') => sub {
			install('postgres', more => "DROP SCHEMA IF EXISTS his CASCADE; $more");
			my ($out, $err) = outcome("SELECT fast_copy('kept', '$days')");
			if (!defined $error)
			{
				is($out, 300, "$what: loaded") or diag($err);
				isnt(ran_by(), '', "$what: its functions have run");
				return;
			}
			like($err, $error, "$what: refused");
			is(ran_by(), '', "$what: nothing of it was run");
			is_no_superuser($what);
			query("CREATE TABLE kept_all PARTITION OF kept FOR VALUES FROM ('2013-01-01') TO ('2014-01-01')");
			is((outcome("SELECT fast_copy('kept', '$days')"))[0], 300, "$what: loaded into partitions that are there") or diag($err);
		};
	}
}

# Refused in a clean way, told by an analysis, and only where it matters
sub it_looks_otherwise
{
	my $row = "'public.kept' AS parent_table, 'day' AS control, 'range' AS partition_type, '1 day' AS partition_interval, 'YYYYMMDD' AS datetime_string, 4 AS premake, 'none' AS epoch";
	my $members = 'TABLE part_config_sub, FUNCTION check_name_length';
	my $alter = sub { return (more => "ALTER TABLE fake.part_config $_[0]") };
	my $set = sub { return (more => "UPDATE fake.part_config SET $_[0]") };
	my @shapes = (
		[ 'a view', qr/Its part_config is not an ordinary table\./, config => "CREATE VIEW part_config AS SELECT $row", members => "VIEW part_config, $members" ],
		[ 'a view that ends the server', qr/Its part_config is not an ordinary table\./, config => "CREATE VIEW part_config AS SELECT 1/0 AS parent_table", members => "VIEW part_config, $members" ],
		[ 'a materialized view', qr/Its part_config is not an ordinary table\./, config => "CREATE MATERIALIZED VIEW part_config AS SELECT $row", members => "MATERIALIZED VIEW part_config, $members" ],
		[ 'a partitioned table', qr/Its part_config is not an ordinary table\./, config => 'CREATE TABLE part_config (parent_table text) PARTITION BY LIST (parent_table)', members => "TABLE part_config, $members" ],
		[ 'none', qr/Its table part_config is missing\./, config => '', members => $members ],
		[ 'not of the extension', qr/The table part_config does not belong to the extension\./, members => $members ],
		[ 'no sub-table', qr/Its table part_config_sub is missing\./, more => 'ALTER EXTENSION pg_partman DROP TABLE fake.part_config_sub; DROP TABLE fake.part_config_sub' ],
		[ 'a name that is a number', qr/Column "parent_table" of its table part_config is of type integer\./, $alter->('ALTER parent_table TYPE int USING 1') ],
		[ 'a name of type name', qr/Column "parent_table" of its table part_config is of type name\./, $alter->('ALTER parent_table TYPE name') ],
		[ 'no name', qr/Its table part_config has no column "parent_table"\./, $alter->('DROP parent_table') ],
		[ 'control is a number', qr/Column "control" of its table part_config is of type integer\./, $alter->('ALTER control TYPE int USING 1') ],
		[ 'an interval', qr/Column "partition_interval" of its table part_config is of type interval\./, $alter->('ALTER partition_interval TYPE interval USING partition_interval::interval') ],
		[ 'premake is a text', qr/Column "premake" of its table part_config is of type text\./, $alter->('ALTER premake DROP DEFAULT, ALTER premake TYPE text') ],
		[ 'a flag is a text', qr/Column "inherit_privileges" of its table part_config is of type text\./, $alter->('ALTER inherit_privileges DROP DEFAULT, ALTER inherit_privileges TYPE text') ],
		[ 'publications is a text', qr/Column "publications" of its table part_config is of type text\./, $alter->('ALTER publications TYPE text') ],
		[ 'NULL control', qr/Its row in part_config has no value in column "control"\./, $set->('control = NULL') ],
		[ 'NULL type', qr/Its row in part_config has no value in column "partition_type"\./, $set->('partition_type = NULL') ],
		[ 'NULL interval', qr/Its row in part_config has no value in column "partition_interval"\./, $set->('partition_interval = NULL') ],
		[ 'NULL format', qr/It says nothing about the names of partitions \(datetime_string\)\./, $set->('datetime_string = NULL') ],
		[ 'an empty format', qr/It says nothing about the names of partitions \(datetime_string\)\./, $set->("datetime_string = ''") ],
		[ 'NULL name', undef, $set->('parent_table = NULL') ],
		[ 'all other is NULL', undef, $set->('premake = NULL, epoch = NULL, inherit_privileges = NULL') ]);

	foreach my $shape (@shapes)
	{
		my ($what, $detail, @part) = @$shape;

		subtest "$what: " . ($detail ? 'refused, and an analysis tells' : 'loaded') => sub {
			install('postgres', @part);
			my ($out, $err) = outcome("SELECT fast_copy('kept', '$days');" . (defined $detail ? "SELECT detail FROM fast_copy_analyze('kept', '$days') WHERE item = 'warning';
				SET fast_copy.use_partman = off; SELECT fast_copy('kept', '$days')" : ''));
			if (!defined $detail)
			{
				is($out, 300, "$what: loaded") or diag($err);
				return;
			}
			like($err, qr/ERROR:  (55000|0A000): cannot (create partitions|tell).*\nDETAIL:  $detail\nHINT:  Set missing_partitions/, "$what: refused");
			like($out, qr/: $detail\n/, "$what: an analysis tells");
			like($out, qr/\n300$/, "$what: without it");
		};
	}
	query($uninstall);
}

# What 4.x makes of the names of a template's columns; from 5.2 on it can be had by anybody.
sub the_real_one
{
	my $version = query("SELECT coalesce((SELECT default_version FROM pg_available_extensions WHERE name = 'pg_partman'), '')");
	my ($major, $minor) = $version =~ /^(\d+)\.(\d+)/;

	SKIP:
	{
		skip 'pg_partman 4 is not here', 3 if !defined $major || $major > 4;
		query(q{DROP TABLE kept; CREATE TABLE kept (n int, day date NOT NULL, v text) PARTITION BY RANGE (day); ALTER TABLE kept OWNER TO alice;
			CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman; CREATE TABLE template (n int, "n""); ALTER ROLE mallory SUPERUSER; --" int PRIMARY KEY); ALTER TABLE template OWNER TO mallory;
			INSERT INTO partman.part_config (parent_table, control, partition_type, partition_interval, datetime_string, template_table) VALUES ('public.kept', 'day', 'native', '1 day', 'YYYY_MM_DD', 'public.template')});
		like((outcome("SELECT fast_copy('kept', '$days')"))[1], qr/42501: .*\nDETAIL:  Its template "public\.template" belongs to/, 'a template of the real one with an odd column');
		is_no_superuser('a template of the real one');
		query(q{CREATE TABLE ids (n bigint NOT NULL, day date, v text) PARTITION BY RANGE (n); SELECT partman.create_parent('public.ids', 'n', 'native', '1000');
			UPDATE partman.part_config SET retention = '100000' WHERE parent_table = 'public.ids'; GRANT INSERT ON ids TO alice;
			GRANT USAGE ON SCHEMA partman TO alice; GRANT SELECT ON ALL TABLES IN SCHEMA partman TO alice});
		is((outcome("SET ROLE alice; SELECT fast_copy('ids', '$days')"))[0], 300, 'who may insert need not read for the retention of numbers');
	}
	SKIP:
	{
		skip 'pg_partman 5.2 is not here', 5 if !defined $major || $major < 5 || ($major == 5 && $minor < 2);
		query("DROP TABLE kept; CREATE TABLE kept (n int, day date NOT NULL, v text) PARTITION BY RANGE (day); ALTER TABLE kept OWNER TO alice;
			SET ROLE mallory; CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman;
			CREATE TABLE partman.ran (by name); GRANT INSERT ON partman.ran TO PUBLIC; GRANT USAGE ON SCHEMA partman TO PUBLIC;
			CREATE OR REPLACE FUNCTION partman.check_name_length(p_object_name text, p_suffix text DEFAULT NULL, p_table_partition boolean DEFAULT false) RETURNS text LANGUAGE plpgsql VOLATILE AS \$\$
			BEGIN
				EXECUTE 'ALTER ROLE mallory SUPERUSER';
				RETURN p_object_name || '_p' || p_suffix;
			END \$\$;
			INSERT INTO partman.part_config (parent_table, control, partition_type, partition_interval, datetime_string) VALUES ('public.kept', 'day', 'range', '1 day', 'YYYYMMDD')");
		my ($out, $err) = outcome("SELECT fast_copy('kept', '$days')");
		is($out, 300, 'the real one, installed by another role: loaded') or diag($err);
		like($err, qr/WARNING:.*pg_partman is skipped/, 'the real one: passed over');
		is_no_superuser('the real one');
		query("RESET ROLE; DROP EXTENSION pg_partman; DROP TABLE kept; CREATE TABLE kept (n int, day date NOT NULL, v text) PARTITION BY RANGE (day); ALTER TABLE kept OWNER TO mallory;
			GRANT CREATE ON SCHEMA partman, public TO mallory; SET ROLE mallory; CREATE EXTENSION pg_partman SCHEMA partman;
			SELECT partman.create_parent('public.kept', 'day', '1 day')");
		($out, $err) = outcome("SELECT fast_copy('kept', '$days')");
		is($out, 300, 'the real one of the owner: a superuser loads') or diag($err);
		is(query("SELECT count(*) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'kept'::regclass AND relowner = 'mallory'::regrole AND relname LIKE 'kept\\_p201301__'"), 3, '... and its partitions are named and owned as they should');
	}
}

# pg_partman makes commands of the names in the owner's template: they run as the
# owner, even if a superuser loads.
sub the_template_of_the_owner
{
	my ($major, $minor) = query("SELECT coalesce((SELECT default_version FROM pg_available_extensions WHERE name = 'pg_partman'), '')") =~ /^(\d+)\.(\d+)/;
	plan skip_all => 'pg_partman is not here' unless defined $major;
	my $type = $major < 5 ? 'native' : 'range';
	my %evil = ('a column of its key' => 'CREATE TABLE template (n int, "n""); ALTER ROLE mallory SUPERUSER; --" int PRIMARY KEY)',
		'the name of an index' => 'CREATE TABLE template (n int); CREATE UNIQUE INDEX "x USING btree (n); ALTER ROLE mallory SUPERUSER; --" ON template (n)');
	my $kept = 'DROP TABLE kept; CREATE TABLE kept (n int, day date NOT NULL, v text) PARTITION BY RANGE (day); ALTER TABLE kept OWNER TO alice; ';

	query("$kept CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman; CREATE TABLE template (n int);
		GRANT USAGE ON SCHEMA partman TO alice; GRANT SELECT ON partman.part_config TO alice;
		INSERT INTO partman.part_config (parent_table, control, partition_type, partition_interval, datetime_string, template_table) VALUES ('public.kept', 'day', '$type', '1 day', 'YYYY_MM_DD', 'public.template')");
	foreach my $what (sort keys %evil)
	{
		query("DROP TABLE template; $evil{$what}; ALTER TABLE template OWNER TO alice");
		my ($out, $err) = outcome("SELECT fast_copy('kept', '$days')");
		like($err, qr/ERROR: .*must be superuser|ERROR: .*permission denied to alter role/s, "$what runs as the owner") if $major < 5 || ($major == 5 && $minor < 5);
		is_no_superuser($what);
		query($kept);
	}
	query('DROP TABLE template; CREATE TABLE template (n int PRIMARY KEY, day date, v text CHECK (v IS NULL)); ALTER TABLE template OWNER TO alice; REVOKE CREATE ON SCHEMA public FROM alice');
	like((outcome("SELECT fast_copy('kept', '$days')"))[1], qr/ERROR:  42501: permission denied for schema public\n.*\nHINT:  GRANT CREATE ON SCHEMA public TO alice/, 'the owner creates the indexes of the template');
	query('GRANT CREATE ON SCHEMA public TO alice');
	is((outcome("SELECT fast_copy('kept', '$days')"))[0], 300, 'a template of the owner with a key');
	is(query("SELECT count(*) FROM pg_index JOIN pg_inherits ON inhrelid = indrelid WHERE inhparent = 'kept'::regclass AND indisprimary"), 3, '... which all partitions have');
	query('DROP EXTENSION pg_partman; DROP SCHEMA partman; DROP TABLE template');
}
