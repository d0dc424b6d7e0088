# The extension fast_copy_cluster beside fast_copy: what there is without it,
# what each library needs of the other one, and what belongs to which.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Temp;

# Files of the installation go and come back, which others must not see: where there is
# a private one, this is a copy of it.
my $own;

BEGIN
{
	if (defined(my $stage = $ENV{FC_STAGE}))
	{
		$own = File::Temp->newdir('stage.XXXXXX', DIR => $ENV{TESTDATADIR});
		chmod 0755, $own;
		system('cp', '-a', "$stage/.", $own) == 0 or die "$stage is not copied\n";
		$ENV{PATH} =~ s/^\Q$stage\E(?=\/)/$own/ or die "$stage is not the one in PATH\n";
	}
}
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {}, 'max_prepared_transactions = 10');
my $lib = `pg_config --pkglibdir` =~ s/\n//r;
my $wing = "$lib/fast_copy_cluster.so";
my $rows = write_bytes('rows.csv', join('', map { "$_,row $_\n" } 1 .. 200));
my $LACKS = 'extension fast_copy_cluster is not created in this database';
my $HINT = 'HINT:  CREATE EXTENSION fast_copy_cluster\.';
my $MAPS = "SELECT string_agg(DISTINCT m[1], ' ' ORDER BY m[1]) FROM regexp_matches(pg_read_file('/proc/self/maps'), '(fast_copy[a-z_]*\\.so|libpq\\.so)', 'g') AS m";

if ($node->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name IN ('postgres_fdw', 'fast_copy_cluster')") ne '2')
{
	$node->stop;
	plan skip_all => 'postgres_fdw or fast_copy_cluster is not installed';
}
make('postgres');

subtest 'without the extension' => \&without;
subtest 'what is in the memory of a session' => \&in_memory;
subtest 'dropped while a session has its library' => \&dropped;
subtest 'whichever library is loaded first' => \&loading_order;
subtest 'it depends on fast_copy' => \&dependency;
subtest 'dumped and restored' => \&restored;
SKIP:
{
	skip "$lib is not ours to write to", 1 unless -w $lib;
	subtest 'its files are missing, or of another version' => \&other_files;
}
$node->stop;
done_testing();

# A table here, and a foreign one that stands for another
sub make
{
	my ($database) = @_;

	query($database, "CREATE EXTENSION IF NOT EXISTS fast_copy; CREATE EXTENSION postgres_fdw; CREATE TABLE here (n int, v text); CREATE TABLE there (n int, v text);
		CREATE TABLE p (n int, v text) PARTITION BY RANGE (n);
		CREATE SERVER back FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $node->host . "', port '" . $node->port . "', dbname '$database');
		CREATE USER MAPPING FOR CURRENT_USER SERVER back;
		CREATE FOREIGN TABLE f (n int, v text) SERVER back OPTIONS (table_name 'there')");
}

sub query { my ($database, $sql) = @_; return $node->safe_psql($database, $sql) }

# Output and messages, but for what each load says
sub try_in { my ($database, $sql) = @_; my ($rc, $out, $err) = $node->psql($database, $sql); return "$out\n" . unsaid($err) }
sub try_sql { return try_in('postgres', $_[0]) }

sub load
{
	my ($table, $options) = @_;

	return "SELECT fast_copy('$table', '$rows'" . ($options ? ", options => '$options'" : '') . ');';
}

sub without
{
	is(try_sql(load('here')), "200\n", 'a table here');
	is(try_sql(load('here', '{"remote_commit": "auto"}')), "200\n", 'what asks for nothing');
	like(try_sql(load('f')), qr/^200\n.*NOTICE:  rows are loaded one by one, as COPY does: the target is a foreign table: $LACKS\n$HINT\n/, 'a foreign table: core loads');
	is(query('postgres', 'SELECT count(*) FROM there'), 200, '... its rows are there');
	is(try_sql("BEGIN; CREATE FOREIGN TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100) SERVER back OPTIONS (table_name 'there'); CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (100) TO (300);
		CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER nothing BEFORE INSERT ON p2 FOR EACH ROW EXECUTE FUNCTION nothing();" . load('p') . 'ROLLBACK')
			=~ s/^psql:<stdin>:\d+: //mgr, "200\nNOTICE:  rows are loaded one by one, as COPY does: a partition has triggers\n", 'no hint where it is for another reason');
	like(try_sql(load('here', '{"remote_commit": "two_phase"}')), qr/ERROR:  option "remote_commit" cannot be used: $LACKS\n$HINT/, 'remote_commit');
	like(try_sql(load('p', '{"nodes": ["back"]}')), qr/ERROR:  option "nodes" cannot be used: $LACKS\n$HINT/, 'nodes');
	like(try_sql("LOAD 'fast_copy'; COPY here FROM '$rows' WITH (FORMAT csv, fast_copy, remote_commit 'nonsense')"), qr/ERROR:  option "remote_commit" cannot be used: $LACKS\n$HINT/, 'a value that nobody can tell');
	is(try_sql("SELECT count(*) FROM fast_copy_help() WHERE option IN ('nodes', 'remote_commit')"), "2\n", 'help knows the options');
	unlike(try_sql(load('f') . $MAPS), qr/fast_copy_cluster\.so/, 'nothing of it is loaded');
}

sub in_memory
{
	query('postgres', 'CREATE EXTENSION fast_copy_cluster');
	is(try_sql(load('here') . $MAPS), "200\nfast_copy.so\n", 'a load into a table here: neither the library nor libpq');
	is(try_sql("LOAD 'fast_copy'; COPY here FROM '$rows' WITH (FORMAT csv, fast_copy);" . $MAPS), "fast_copy.so\n", 'COPY');
	like(try_sql("LOAD 'fast_copy'; SET fast_copy.accelerate_copy = on; SET fast_copy.accelerate_min_size = 0; COPY f FROM '$rows' WITH (FORMAT csv);" . $MAPS), qr/^fast_copy\.so libpq\.so\n/, 'a plain COPY into a foreign table: libpq is postgres_fdw\'s');
	is(try_sql(load('f') . $MAPS), "200\nfast_copy.so fast_copy_cluster.so libpq.so\n", 'a foreign table: both');
	is(try_sql(load('here', '{"remote_commit": "one_phase"}') . $MAPS), "200\nfast_copy.so fast_copy_cluster.so libpq.so\n", 'an option for other servers: both');
}

sub dropped
{
	my $said = try_sql(load('f') . 'DROP EXTENSION fast_copy_cluster;' . load('f') . load('p', '{"nodes": ["back"]}'));

	like($said, qr/^200\n200\n.*NOTICE:  rows are loaded one by one.*: $LACKS\n$HINT\n.*ERROR:  option "nodes" cannot be used: $LACKS/s, 'what is dropped is not used');
	is(try_sql('CREATE EXTENSION fast_copy_cluster;' . load('f')), "200\n", 'what is created again is');
	query('postgres', 'TRUNCATE there');
	like(try_sql('BEGIN;' . load('f', '{"remote_commit": "two_phase"}') . 'DROP EXTENSION fast_copy_cluster; COMMIT'), qr/ERROR:  the table "fast_copy_transactions" of extension "fast_copy_cluster" does not exist/, 'dropped before what it decides: an error');
	is(query('postgres', "SELECT count(*), (SELECT count(*) FROM pg_extension WHERE extname = 'fast_copy_cluster') FROM there"), '0|1', '... and nothing is changed');
}

sub loading_order
{
	my $both = "fast_copy.so fast_copy_cluster.so libpq.so";

	query('postgres', 'TRUNCATE there');
	is(try_sql("SELECT count(*) FROM fast_copy_resolve(); $MAPS"), "0\nfast_copy_cluster.so libpq.so\n", 'fast_copy_resolve() needs nothing of fast_copy\'s library');
	is(try_sql('SELECT count(*) FROM fast_copy_in_doubt;' . load('f') . $MAPS), "0\n200\n$both\n", 'it first, then a load');
	is(try_sql(load('f') . 'SELECT count(*) FROM fast_copy_in_doubt;' . $MAPS), "200\n0\n$both\n", 'a load first');
	is(try_sql("LOAD 'fast_copy_cluster'; LOAD 'fast_copy';" . load('f')), "200\n", 'LOAD of both');
	query('postgres', 'CREATE ROLE someone LOGIN');
	like(try_sql("SET ROLE someone; LOAD 'fast_copy_cluster'"), qr/ERROR:  access to library "fast_copy_cluster" is not allowed/, 'LOAD by anybody');
	foreach my $libraries ('fast_copy_cluster', 'fast_copy_cluster, fast_copy', 'fast_copy, fast_copy_cluster')
	{
		$node->append_conf('postgresql.conf', "shared_preload_libraries = '$libraries'");
		$node->restart;
		is(try_sql(load('f') . load('here')), "200\n200\n", "shared_preload_libraries = '$libraries'");
		like(try_sql("SELECT fast_copy('here', '$rows', workers => 2)"), qr/^200\n/, '... with workers');
	}
	$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
	$node->restart;
	is(query('postgres', 'SELECT count(*) FROM there'), 1200, 'all rows are there');
}

sub dependency
{
	like(try_sql('DROP EXTENSION fast_copy'), qr/ERROR:  cannot drop extension fast_copy because other objects depend on it\nDETAIL:  .*extension fast_copy_cluster depends on extension fast_copy/s, 'fast_copy cannot be dropped before it');
	query('postgres', 'CREATE DATABASE cascade');
	like(try_in('cascade', 'CREATE EXTENSION fast_copy_cluster'), qr/ERROR:  required extension "fast_copy" is not installed/, 'nor be missing');
	query('cascade', 'CREATE SCHEMA a; CREATE SCHEMA b; CREATE EXTENSION fast_copy SCHEMA a; CREATE EXTENSION fast_copy_cluster SCHEMA b; DROP EXTENSION fast_copy CASCADE');
	is(query('cascade', "SELECT count(*) FROM pg_extension WHERE extname LIKE 'fast%'"), 0, 'CASCADE drops both');
	query('cascade', 'CREATE EXTENSION fast_copy_cluster CASCADE');
	is(query('cascade', "SELECT count(*) FROM pg_extension WHERE extname LIKE 'fast%'"), 2, 'and creates both');
	is(query('cascade', 'ALTER EXTENSION fast_copy UPDATE; ALTER EXTENSION fast_copy_cluster UPDATE; SELECT count(*) FROM fast_copy_in_doubt'), 0, 'there is nothing to update');
	like(try_in('cascade', 'CREATE ROLE dba CREATEROLE; GRANT CREATE ON DATABASE cascade TO dba; DROP EXTENSION fast_copy_cluster; SET ROLE dba; CREATE EXTENSION fast_copy_cluster'), qr/ERROR:  permission denied to create extension "fast_copy_cluster"/, 'only superusers create it');
	like(try_in('cascade', 'ALTER EXTENSION fast_copy_cluster SET SCHEMA pg_catalog'), qr/ERROR:/, 'it stays in its schema');
}

sub restored
{
	my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';

	query('postgres', 'CREATE DATABASE source');
	query('postgres', 'CREATE DATABASE copy');
	make('source');
	query('source', 'CREATE EXTENSION fast_copy_cluster; CREATE VIEW doubts AS SELECT gid FROM fast_copy_in_doubt');
	$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('source') ], 'pg_dump');
	is(join("\n", slurp_file($dump) =~ /^(CREATE EXTENSION IF NOT EXISTS fast\w*|CREATE \w+ \S*fast_copy\S*)/mg), "CREATE EXTENSION IF NOT EXISTS fast_copy\nCREATE EXTENSION IF NOT EXISTS fast_copy_cluster", 'both, in their order, and nothing that belongs to them');
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('copy'), '-f', $dump ], 'restored');
	is(query('copy', load('f') . 'SELECT count(*) FROM doubts'), "200\n0", 'both work');
	isnt(query('copy', 'SELECT gid FROM fast_copy_transactions WHERE server = 0'), query('source', 'SELECT gid FROM fast_copy_transactions WHERE server = 0'), 'the copy has a name of its own');
}

sub other_files
{
	rename($wing, "$wing.away") or die "$wing: $!";
	like(try_sql(load('f')), qr/^200\n.*NOTICE:  rows are loaded one by one, as COPY does: the target is a foreign table: the library of extension fast_copy_cluster is not installed\n/, 'without its library core loads');
	like(try_sql(load('here') . load('here', '{"remote_commit": "two_phase"}')), qr/^200\n.*ERROR:  option "remote_commit" cannot be used: the library of extension fast_copy_cluster is not installed\nHINT:  Install/s, '... and its options are refused');
	like(try_sql('SELECT * FROM fast_copy_resolve()'), qr/ERROR:  could not access file "(\$libdir\/)?fast_copy_cluster"/, '... and its functions');

	my $bytes = slurp_binary("$wing.away");
	my $patched = $bytes =~ s/\x01\0{7}(?=((?:[\x08-\xf8]\0|[\0-\xf8][\x01-\x03])\0{6}){2})/\x02\0\0\0\0\0\0\0/gr;
	isnt($patched, $bytes, 'a library of another version');
	write_binary($wing, $patched);
	like(try_sql(load('here') . load('f')), qr/^200\n.*ERROR:  library "fast_copy_cluster" is not of the version that library "fast_copy" is of\nHINT:  Connect again/, '... is refused');
	write_binary($wing, slurp_binary("$lib/plpgsql.so"));
	like(try_sql(load('f')), qr/ERROR:  could not find function "fc_cluster_functions"/, 'so is one that is something else');
	unlink $wing;
	SKIP:
	{
		my $folder = PostgreSQL::Test::Utils::tempdir_short();
		my $path = "SET dynamic_library_path = '$folder:\$libdir';";

		skip 'extensions have their libraries in one folder', 1 if query('postgres', 'SHOW server_version_num') < 180000;
		chmod 0755, $folder;
		write_binary("$folder/fast_copy_cluster.so", $bytes);
		is(try_sql($path . load('f') . 'SELECT count(*) FROM fast_copy_in_doubt'), "200\n0\n", 'found where core finds it');
	}
	rename("$wing.away", $wing) or die "$wing: $!";
	is(try_sql(load('f')), "200\n", 'as it was');
}

sub slurp_binary
{
	my ($path) = @_;

	open(my $in, '<:raw', $path) or die "$path: $!";
	local $/;
	return <$in>;
}

# Anew: the old file may be mapped
sub write_binary
{
	my ($path, $bytes) = @_;

	unlink $path;
	open(my $out, '>:raw', $path) or die "$path: $!";
	print $out $bytes;
	close $out;
	chmod 0755, $path;
}
