# Tables whose rows Citus or TimescaleDB keep elsewhere: refused in every entry.
#
# Debian has neither of them, so that their catalogs are stood in for, in the forms
# that they have and in others; where they are installed they are asked, too.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use Test::More;

my $node = new_node('main', {}, 'session_preload_libraries = fast_copy');
my $file = write_rows('rows.csv', 100);
my $COLUMNS = 'n int, ts timestamp, v text';
my $programs = 1;	# together with other hooks they may be refused for another reason
my $MODS = 'SET allow_system_table_mods = on;';
# as Citus 13 has it
my $PG_DIST_PARTITION = 'CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass NOT NULL, partmethod "char" NOT NULL,
	partkey text, colocationid int NOT NULL DEFAULT 0, repmodel "char" NOT NULL DEFAULT \'s\', autoconverted bool NOT NULL DEFAULT false)';

# a role that may load, and read nothing of anybody's catalog
query("CREATE ROLE loader LOGIN; GRANT pg_read_server_files TO loader;
	CREATE TABLE t ($COLUMNS); CREATE TABLE other ($COLUMNS); CREATE TABLE child () INHERITS (t);
	CREATE TABLE p ($COLUMNS) PARTITION BY RANGE (ts);
	CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2012-01-01') TO ('2013-01-01');
	CREATE TABLE p2 PARTITION OF p FOR VALUES FROM ('2013-01-01') TO ('2014-01-01');
	CREATE TABLE s ($COLUMNS) PARTITION BY RANGE (ts);
	CREATE TABLE s1 PARTITION OF s FOR VALUES FROM ('2013-01-01') TO ('2014-01-01') PARTITION BY LIST (n);
	CREATE TABLE s1_all PARTITION OF s1 DEFAULT;
	GRANT ALL ON ALL TABLES IN SCHEMA public TO loader");

subtest 'where neither of them is, all tables are loaded' => sub { loads($_, 'nothing is there') foreach 't', 'child', 'p', 's' };
subtest 'tables that Citus lists are refused, and others are loaded' => \&tables_of_citus;
other_forms_of_the_list();
subtest 'a list of another form, that can be read, is read' => \&columns_of_the_list;
subtest 'a role without more than a schema stops nobody' => \&what_others_name_so;
subtest 'tables that TimescaleDB lists are refused, and others are loaded' => \&tables_of_timescaledb;
beside_its_hook();
subtest 'tables of the real Citus are refused, and others are loaded' => \&real_citus;
subtest 'tables of the real TimescaleDB are refused, and others are loaded' => \&real_timescaledb;
$node->stop;
done_testing();

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# All ways to load a table, as SQL
sub entries
{
	my ($table) = @_;

	return ("SELECT fast_copy('$table', '$file')",
		"SELECT fast_copy('$table', ARRAY['$file'], 'ts', workers => 2, missing_partitions => 'error')",
		"SELECT * FROM fast_copy_analyze('$table', '$file')",
		"COPY $table FROM '$file' WITH (FORMAT csv, fast_copy)",
		"COPY $table FROM PROGRAM 'cat $file' WITH (FORMAT csv, fast_copy)",
		"\\copy $table from '$file' with (format csv, fast_copy)");
}

sub loads
{
	my ($table, $what) = @_;

	is(query("SELECT fast_copy('$table', '$file'); SELECT (SELECT count(*) FROM ONLY $table) = CASE WHEN relkind = 'p' THEN 0 ELSE 100 END
		FROM pg_class WHERE oid = '$table'::regclass; TRUNCATE $table"), "100\nt", "$what: $table is loaded");
}

sub is_refused
{
	my ($table, $error, $what) = @_;

	foreach my $role ('postgres', 'loader')
	{
		# only a superuser may run programs
		my @entries = grep { ($programs && $role eq 'postgres') || !/PROGRAM/ } entries($table);
		my ($rc, $out, $err) = $node->psql('postgres', join("\n", '\set VERBOSITY verbose', "SET ROLE $role;", map { "$_;" =~ s/^(\\.*);$/$1/r } @entries), on_error_stop => 0);

		is(scalar(() = $err =~ /ERROR:  0A000: $error.*?\nHINT:  Use COPY without the option fast_copy/gs), scalar(@entries), "$what: refused to $role in every entry") or diag($err);
	}
	is(query("SELECT count(*) FROM $table"), 0, "$what: no row in $table");
}

sub keeps
{
	my ($keeper, $table, $list, $listed) = @_;

	return qr/fast_copy cannot load table "$table", whose rows $keeper keeps elsewhere\nDETAIL:  Table "($listed)" is listed in "$list"\./;
}

sub tables_of_citus
{
	my $list = 'pg_catalog.pg_dist_partition';

	query("$MODS $PG_DIST_PARTITION; REVOKE ALL ON pg_dist_partition FROM PUBLIC");
	loads($_, 'an empty list') foreach 't', 'p';
	query("INSERT INTO pg_dist_partition VALUES (4000000000, 'h'), ('other', 'n'), ('t', 'h')");
	is_refused('t', keeps('Citus', 't', $list, 't'), 'listed');
	like(($node->psql('postgres', "SELECT fast_copy('t', '$file')"))[2], qr/sends its rows to where they belong\. Or: CREATE EXTENSION fast_copy_cluster\./, 'the hint names what could send them');
	is_refused('other', keeps('Citus', 'other', $list, 'other'), 'a reference table');
	is_refused('child', keeps('Citus', 'child', $list, 't'), 'a child of a table that is listed');
	loads($_, 'others are listed') foreach 'p', 's', 'p2';

	# the table itself, one of its leaves, a leaf two levels below
	query("TRUNCATE pg_dist_partition; INSERT INTO pg_dist_partition VALUES ('p', 'h'), ('s1_all', 'h')");
	is_refused('p', keeps('Citus', 'p', $list, 'p'), 'a partitioned table');
	is_refused('p1', keeps('Citus', 'p1', $list, 'p'), 'a partition of a table that is listed');
	is_refused('s', keeps('Citus', 's', $list, 's1_all'), 'a leaf is listed');
	query("TRUNCATE pg_dist_partition; INSERT INTO pg_dist_partition VALUES ('p1', 'h')");
	is_refused('p', keeps('Citus', 'p', $list, 'p1'), 'a leaf of a plain tree');
	loads('p2', 'a leaf beside it');

	# who loads and does not see who manages the table
	query("CREATE ROLE nobody; GRANT pg_read_server_files TO nobody");
	my ($rc, $out, $err) = $node->psql('postgres', "SET ROLE nobody; SELECT fast_copy('p', '$file')");
	like($err, qr/permission denied for table p/, 'privileges come first');

	# COPY is not ours
	query("COPY t FROM '$file' WITH (FORMAT csv)");
	is(query("COPY p FROM '$file' WITH (FORMAT csv, fast_copy false); SELECT count(*) FROM p"), 100, 'COPY without it');
	query("TRUNCATE p, t; $MODS DROP TABLE pg_catalog.pg_dist_partition");
	loads('p', 'Citus is gone');
}

# Who cannot tell does not load.
sub other_forms_of_the_list
{
	my %form = (
		'a view' => "CREATE VIEW pg_catalog.pg_dist_partition AS SELECT 't'::regclass AS logicalrelid",
		'a materialized view' => "CREATE MATERIALIZED VIEW pg_catalog.pg_dist_partition AS SELECT 't'::regclass AS logicalrelid",
		'a partitioned table' => 'CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass) PARTITION BY LIST (logicalrelid)',
		'a sequence' => 'CREATE SEQUENCE pg_catalog.pg_dist_partition',
		'a type' => 'CREATE TYPE pg_catalog.pg_dist_partition AS (logicalrelid regclass)',
		'text' => "CREATE TABLE pg_catalog.pg_dist_partition AS SELECT repeat('t', 3000) AS logicalrelid",
		'bigint' => 'CREATE TABLE pg_catalog.pg_dist_partition AS SELECT 1::bigint AS logicalrelid',
		'an array' => "CREATE TABLE pg_catalog.pg_dist_partition AS SELECT ARRAY['t'::regclass] AS logicalrelid",
		'no column' => 'CREATE TABLE pg_catalog.pg_dist_partition ()',
		'a dropped column' => 'CREATE TABLE pg_catalog.pg_dist_partition (n int, logicalrelid regclass); ALTER TABLE pg_catalog.pg_dist_partition DROP logicalrelid');

	foreach my $what (sort keys %form)
	{
		my $kind = $form{$what} =~ /CREATE (MATERIALIZED VIEW|\w+)/ ? $1 : '';

		subtest "where the list is $what, nobody can tell, and nothing is loaded" => sub {
			query("$MODS $form{$what}");
			is_refused('t', qr/cannot tell whether Citus keeps the rows of table "t"\nDETAIL:  "pg_catalog\.pg_dist_partition"/, $what);
			query("$MODS DROP $kind pg_catalog.pg_dist_partition");
		};
	}
}

# Another order of columns, one that was added, NULLs
sub columns_of_the_list
{
	query("$MODS CREATE TABLE pg_catalog.pg_dist_partition (gone text, logicalrelid regclass);
		INSERT INTO pg_dist_partition VALUES ('x', NULL), ('y', 'other');
		ALTER TABLE pg_dist_partition DROP gone; ALTER TABLE pg_dist_partition ADD later text DEFAULT 'z'");
	loads('t', 'a list with nulls');
	is_refused('other', keeps('Citus', 'other', 'pg_catalog.pg_dist_partition', 'other'), 'behind a null');
	query("$MODS DROP TABLE pg_catalog.pg_dist_partition");
}

# A role without more than a schema stops nobody.
sub what_others_name_so
{
	query("CREATE ROLE mallory; GRANT CREATE ON SCHEMA public TO mallory; GRANT CREATE ON DATABASE postgres TO mallory");
	query("SET ROLE mallory;
		CREATE TABLE public.pg_dist_partition (logicalrelid regclass); INSERT INTO public.pg_dist_partition VALUES ('t'), ('p');
		CREATE TABLE public.hypertable (schema_name name, table_name name); INSERT INTO public.hypertable VALUES ('public', 't');
		CREATE SCHEMA _timescaledb_catalog CREATE TABLE hypertable (schema_name name, table_name name)
			CREATE TABLE pg_dist_partition (logicalrelid regclass);
		INSERT INTO _timescaledb_catalog.hypertable VALUES ('public', 't'), ('public', 'p');
		INSERT INTO _timescaledb_catalog.pg_dist_partition VALUES ('t'), ('p')");
	foreach my $table ('t', 'p')
	{
		is(query("SET search_path = public, _timescaledb_catalog, pg_catalog; SELECT fast_copy('$table', '$file')"), 100, "somebody else's tables: $table is loaded");
		query("TRUNCATE $table");
	}
	query('DROP SCHEMA _timescaledb_catalog CASCADE; DROP TABLE public.pg_dist_partition, public.hypertable');
}

sub tables_of_timescaledb
{
	my $list = '_timescaledb_catalog.hypertable';

	query("CREATE SCHEMA _timescaledb_catalog; $MODS INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
		VALUES (99999, 'timescaledb', 10, '_timescaledb_catalog'::regnamespace, false, '2')");
	is_refused('t', qr/cannot tell whether TimescaleDB keeps the rows of table "t"/, 'a list that is not there');
	query("CREATE TABLE $list (id int, schema_name name, table_name name); REVOKE ALL ON $list FROM PUBLIC;
		INSERT INTO $list VALUES (1, 'public', NULL), (2, 'gone', 't'), (3, 'public', 'gone'), (4, NULL, 't')");
	loads($_, 'nothing in the list') foreach 't', 'child';
	query("INSERT INTO $list VALUES (5, 'public', 't')");
	is_refused('t', keeps('TimescaleDB', 't', $list, 't'), 'a hypertable');
	is_refused('child', keeps('TimescaleDB', 'child', $list, 't'), 'a chunk');
	loads($_, 'a hypertable is listed') foreach 'other', 'p';
	query("ALTER TABLE $list ALTER schema_name TYPE text");
	is_refused('p', qr/cannot tell whether TimescaleDB keeps the rows of table "p"/, 'another type');
	query("ALTER SCHEMA _timescaledb_catalog RENAME TO elsewhere");
	is_refused('t', qr/cannot tell whether TimescaleDB keeps the rows of table "t"/, 'a schema of another name');
	query("DROP SCHEMA elsewhere CASCADE; $MODS DELETE FROM pg_extension WHERE oid = 99999");
	is(query("SELECT fast_copy('t', '$file')"), 100, 'the extension is gone');
	query('TRUNCATE t');
}

# What keeps rows elsewhere has a hook that loads its tables itself, by options that
# it knows, and may look at a copy of each command.  It must neither spoil the refusal
# nor other tables' loads, asked before us or after us.
sub beside_its_hook
{
	query("CREATE ROLE poor; GRANT pg_read_server_files TO poor;
		CREATE TABLE h ($COLUMNS); CREATE TABLE chunk () INHERITS (h);
		GRANT ALL ON ALL TABLES IN SCHEMA public TO loader; CREATE SCHEMA hidden; CREATE TABLE hidden.far ($COLUMNS); GRANT INSERT ON hidden.far TO poor;
		CREATE SCHEMA _timescaledb_catalog; CREATE TABLE _timescaledb_catalog.hypertable AS
			SELECT 'public'::name AS schema_name, 'h'::name AS table_name UNION ALL SELECT 'hidden', 'far'");
	query("$MODS INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
		VALUES (99999, 'timescaledb', 10, '_timescaledb_catalog'::regnamespace, false, '2')");
	foreach my $order ('fc_watch, fast_copy', 'fast_copy, fc_watch')
	{
		$node->append_conf('postgresql.conf', "shared_preload_libraries = '$order'\nfc_watch.take = 'h'\n");
		$node->restart;
		foreach my $copy ('off', 'on')
		{
			my $inside = $order =~ /^fc_watch/;
			my $what = "$order, which looks at " . ($copy eq 'on' ? 'a copy' : 'the command');

			query("ALTER DATABASE postgres SET fc_watch.copy = $copy");
			subtest "$what: its table is refused or its own" => sub { its_table($what, $inside) };
			subtest "$what: other tables are loaded" => sub { other_tables($what, $inside, $copy) };
		}
	}
}

sub its_table
{
	my ($what, $inside) = @_;
	my @entries = entries('h');
	my ($rc, $out, $err) = $node->psql('postgres', join("\n", '\set VERBOSITY verbose', map { "$_;" =~ s/^(\\.*);$/$1/r } @entries), on_error_stop => 0);
	my $refused = keeps('TimescaleDB', 'h', '_timescaledb_catalog.hypertable', 'h');
	# a COPY that it is asked for before us is its own
	is(scalar(() = $err =~ /ERROR:  0A000: $refused/g), $inside ? @entries : 3, "$what: its table is refused");
	is(scalar(() = $err =~ /ERROR:  42601: option "fast_copy" not recognized/g), $inside ? 0 : @entries - 3, "$what: ... or is its own");
	like(($node->psql('postgres', "SET ROLE loader; SELECT fast_copy('h', '$file')"))[2], qr/$refused/, "$what: ... by others, too");
	like(($node->psql('postgres', "SET ROLE poor; SELECT fast_copy('public.h', '$file')"))[2],
		qr/permission denied for table h|must be superuser to COPY/, "$what: ... and to who may not write it");
	like(($node->psql('postgres', "SELECT set_config('t.far', 'hidden.far'::regclass::oid::text, false); SET ROLE poor; SELECT fast_copy(current_setting('t.far')::oid, '$file')"))[2],
		qr/permission denied for schema hidden/, "$what: ... and to who may not look into its schema");
	like(($node->psql('postgres', "COPY h FROM '$file' (FORMAT csv)"))[2], qr/NOTICE:  takes COPY h/, "$what: it loads its own table by COPY");
	like(($node->psql('postgres', "SELECT fast_copy('chunk', '$file')"))[2], qr/table "chunk", whose rows/, "$what: a table below it");
	is(query('SELECT count(*) FROM h'), 0, "$what: no row");
}

sub other_tables
{
	my ($what, $inside, $copy) = @_;

	foreach my $table ('other', 'p')
	{
		foreach my $entry (entries($table))
		{
			my ($rc, $out, $err) = $node->psql('postgres', "$entry\n; SELECT count(*) FROM $table; TRUNCATE $table", on_error_stop => 0);
			my $program = $entry =~ /PROGRAM/ && $inside && $copy eq 'on';
			if ($program) { like($err, qr/ERROR:  cannot run a program together with another extension/, "$what: $entry") }
			else { is(unsaid($err) =~ s/^NOTICE:.*\n?//mgr, '', "$what: $entry") }
			is((split /\n/, $out)[-1], $entry =~ /analyze/ || $program ? 0 : 100, '... and its rows');
		}
	}
}

# The real one, on one node that is its own worker
sub real_citus
{
SKIP:
	{
		skip 'Citus is not installed', 1 if query("SELECT count(*) FROM pg_available_extensions WHERE name = 'citus'") eq '0';
		my $main = $node;

		$programs = 0;
		$node = new_node('citus', {}, 'shared_preload_libraries = citus', 'session_preload_libraries = fast_copy');
		query("CREATE EXTENSION citus; CREATE EXTENSION fast_copy_cluster");
		query("SELECT citus_set_coordinator_host('" . $node->host . "', " . $node->port . "); SELECT citus_set_node_property('" . $node->host . "', " . $node->port . ", 'shouldhaveshards', true)");
		query("CREATE ROLE loader LOGIN; GRANT pg_read_server_files TO loader;
			CREATE TABLE d ($COLUMNS); CREATE TABLE r ($COLUMNS); CREATE TABLE l ($COLUMNS); CREATE TABLE m ($COLUMNS);
			CREATE TABLE p ($COLUMNS) PARTITION BY RANGE (ts);
			CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2013-01-01') TO ('2014-01-01');
			GRANT ALL ON ALL TABLES IN SCHEMA public TO loader");
		query("SELECT create_distributed_table('d', 'n'); SELECT create_reference_table('r'); SELECT create_distributed_table('p', 'n'); SELECT citus_add_local_table_to_metadata('m')");
		is_refused('r', keeps('Citus', 'r', 'pg_catalog.pg_dist_partition', 'r'), 'Citus itself');
		loads_through_citus($_) foreach 'd', 'p', 'm';
		loads('l', 'Citus itself, a local table');
		foreach my $table ('d', 'r', 'p', 'm')
		{
			query("COPY $table FROM '$file' WITH (FORMAT csv, fast_copy false)");
			is(query("SELECT count(*) FROM $table"), 100, "Citus itself: COPY loads $table");
		}
		$node->stop;
		$node = $main;
	}
}

# What it keeps and can be sent to it is in its shards, and not in the table
# here; its hook sees no load.
sub loads_through_citus
{
	my ($table) = @_;

	foreach my $entry (grep { !/PROGRAM|analyze|missing/ } entries($table))
	{
		my ($rc, $out, $err) = $node->psql('postgres', $entry);
		is(unsaid($err) =~ s/^NOTICE:.*\n?//mgr, '', "Citus itself: $entry");
		is(query("SELECT count(*) FROM $table"), 100, '... and its rows');
		query("TRUNCATE $table");
	}
	is_refused_with("SELECT * FROM fast_copy_analyze('$table', '$file')", qr/table "$table", whose rows Citus keeps elsewhere\n.*Rows are checked where they are loaded/, 'an analysis');
	is_refused_with("COPY $table FROM PROGRAM 'cat $file' WITH (FORMAT csv, fast_copy)", qr/cannot run a program together with another extension/, 'a program');
}

sub is_refused_with
{
	my ($sql, $error, $what) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $sql);

	like($err, qr/ERROR:  .*$error/, "Citus itself: $what is refused");
}

# From 2.23 on there is no trigger any more that would say something.
sub real_timescaledb
{
SKIP:
	{
		skip 'TimescaleDB is not installed', 1 if query("SELECT count(*) FROM pg_available_extensions WHERE name = 'timescaledb'") eq '0';
		my $main = $node;

		$node = new_node('timescaledb', {}, 'shared_preload_libraries = timescaledb', 'session_preload_libraries = fast_copy', 'timescaledb.telemetry_level = off');
		query("CREATE EXTENSION timescaledb; CREATE ROLE loader LOGIN; GRANT pg_read_server_files TO loader;
			CREATE TABLE h ($COLUMNS); CREATE TABLE l ($COLUMNS); GRANT ALL ON ALL TABLES IN SCHEMA public TO loader;
			SELECT create_hypertable('h', 'ts')");
		# it takes COPY out of our hands where it is asked before us, and does not
		# know the option
		my $refused = qr/whose rows TimescaleDB keeps elsewhere/;
		foreach my $sql ("SELECT fast_copy('h', '$file')", "SELECT * FROM fast_copy_analyze('h', '$file')")
		{
			my ($rc, $out, $err) = $node->psql('postgres', $sql);
			like($err, $refused, "TimescaleDB itself: $sql");
		}
		my ($rc, $out, $err) = $node->psql('postgres', "COPY h FROM '$file' WITH (FORMAT csv, fast_copy)");
		like($err, qr/$refused|option "fast_copy" not recognized/, 'TimescaleDB itself: COPY with the option');
		is(query("SELECT count(*) FROM h"), 0, 'TimescaleDB itself: no row');
		query("COPY h FROM '$file' WITH (FORMAT csv)");
		my $chunk = query("SELECT show_chunks('h') LIMIT 1");
		($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('$chunk', '$file')");
		like($err, $refused, 'TimescaleDB itself: a chunk');
		is(query('SELECT count(*) FROM h'), 100, 'TimescaleDB itself: rows of COPY');
		loads('l', 'TimescaleDB itself, another table');
		$node->stop;
		$node = $main;
	}
}
