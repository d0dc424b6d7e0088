# A database with the extension, dumped, restored and upgraded by pg_upgrade:
# the extension is made anew from the server's own script, settings of a
# database come with it, and tables and partitions are tables like any other.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {});
my $rows = write_rows('rows.csv', 4000);
my $bin = `pg_config --bindir` =~ s/\n//r;
my $sum = "SELECT md5(string_agg(t::text, '|' ORDER BY n)) FROM t";
my $objects = "SELECT string_agg(pg_describe_object(classid, objid, 0), ',' ORDER BY pg_describe_object(classid, objid, 0)) FROM pg_depend
	WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'fast_copy') AND deptype = 'e'";

$node->safe_psql('postgres', 'CREATE DATABASE shop');
query('shop', "CREATE EXTENSION fast_copy; CREATE TABLE t (n int, ts timestamp, v text) PARTITION BY RANGE (ts); CREATE INDEX ON t (v);
	SELECT fast_copy_create_reject_table('bad'); CREATE ROLE loader; GRANT INSERT ON bad TO loader");
query('shop', "SELECT fast_copy('t', '$rows', reject_table => 'bad', on_error => 'ignore');
	CREATE VIEW loads AS SELECT * FROM fast_copy_progress;
	CREATE FUNCTION again(text) RETURNS bigint LANGUAGE sql AS \$\$SELECT fast_copy('t', \$1, header => true)\$\$");
$node->safe_psql('postgres', "LOAD 'fast_copy'; ALTER DATABASE shop SET session_preload_libraries = 'fast_copy'; ALTER DATABASE shop SET fast_copy.workers = 1;
	ALTER ROLE loader SET fast_copy.root_directory = '/data'; ALTER DATABASE shop SET fast_copy.max_rate = '1GB'");
# names of files may be any bytes: what is told of them is text
my $named = PostgreSQL::Test::Utils::tempdir();
foreach my $name ("bad\xff.csv", 'good.csv')
{
	open(my $out, '>', "$named/$name") or die "$name: $!";
	print $out "n,ts,v\nx,2013-01-01,a\n";
	close($out);
}
query('shop', "SET client_encoding = LATIN1; SELECT fast_copy_create_history_table('past'); SET fast_copy.history = 'past';
	SELECT fast_copy('t', '$named/*.csv', header => true, reject_table => 'bad', on_error => 'ignore')");
my $before = query('shop', $sum);
my $made = query('shop', $objects);

subtest 'a dump has the extension in one line' => \&a_dump;
subtest 'restored into another database' => \&restored;
subtest 'restored with its settings' => \&restored_with_settings;
subtest 'upgraded by pg_upgrade' => \&upgraded;
done_testing();

sub query { my ($database, $sql) = @_; return $node->safe_psql($database, $sql) }

sub dump_of
{
	my (@options) = @_;
	my $out = PostgreSQL::Test::Utils::tempdir() . '/dump';

	$node->command_ok([ 'pg_dump', @options, '-f', $out, '-d', $node->connstr('shop') ], "pg_dump @options");
	return $out;
}

sub a_dump
{
	my $dump = slurp_file(dump_of());

	is(scalar(() = $dump =~ /^CREATE EXTENSION IF NOT EXISTS fast_copy WITH SCHEMA public;$/mg), 1, 'CREATE EXTENSION');
	unlike($dump, qr/CREATE (FUNCTION|TYPE|CAST) \S*fast_copy/, 'no function, type or cast of it');
	unlike($dump, qr/session_preload_libraries/, 'no setting of the database, without --create');
	like(slurp_file(dump_of('--create')), qr/^ALTER DATABASE shop SET session_preload_libraries TO 'fast_copy';\n.*^ALTER DATABASE shop SET "fast_copy\.max_rate" TO /ms, 'they are there with it');
}

# What was there before, and a load
sub is_whole
{
	my ($where, $database) = @_;
	my $at = sub { return $where->safe_psql($database, $_[0]) };

	is($at->($sum), $before, 'rows are there');
	is($at->("SELECT filename ~ 'bad\\\\xff\\.csv' FROM bad ORDER BY 1"), "f\nt", 'and rejects of a file whose name is no text');
	is($at->($objects), $made, 'all of the extension is there');
	is($at->("SELECT again('$rows'); SELECT count(*) FROM t; SELECT count(*) FROM loads"), "3999\n7999\n0", 'functions and views that use it work');
	is($at->('SELECT count(*) FROM pg_inherits WHERE inhparent = \'t\'::regclass'), 5, 'partitions are its partitions');
}

sub restored
{
	query('postgres', 'CREATE DATABASE other');
	$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('other'), dump_of('-Fc') ], 'pg_restore');
	is_whole($node, 'other');
}

sub restored_with_settings
{
	my $new = PostgreSQL::Test::Cluster->new('new');

	$new->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
	$new->start;
	my $globals = PostgreSQL::Test::Utils::tempdir() . '/globals';
	$node->command_ok([ 'pg_dumpall', '--globals-only', '-f', $globals, '-d', $node->connstr('postgres') ], 'pg_dumpall --globals-only');
	$new->psql('postgres', slurp_file($globals), on_error_stop => 0);
	$new->command_ok([ 'pg_restore', '--exit-on-error', '--create', '-d', $new->connstr('postgres'), dump_of('-Fc', '--create') ], 'pg_restore --create');
	is($new->safe_psql('shop', 'SHOW fast_copy.workers; SHOW fast_copy.max_rate'), "1\n1GB", 'settings of the database');
	is($new->safe_psql('shop', "SELECT setconfig FROM pg_db_role_setting WHERE setrole = 'loader'::regrole"), '{fast_copy.root_directory=/data}', 'and of a role');
	is_whole($new, 'shop');
	$new->stop;
}

sub upgraded
{
	my $new = PostgreSQL::Test::Cluster->new('upgraded');

  SKIP:
	{
		skip 'no pg_upgrade', 1 unless -x "$bin/pg_upgrade";
		$new->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
		$node->stop;
		chdir PostgreSQL::Test::Utils::tempdir();
		command_ok([ 'pg_upgrade', '--no-sync', '-d', $node->data_dir, '-D', $new->data_dir, '-b', $bin, '-B', $bin, '-s', $new->host, '-p', $node->port, '-P', $new->port ], 'pg_upgrade');
		$new->start;
		is($new->safe_psql('shop', 'SHOW fast_copy.workers'), 1, 'settings');
		is_whole($new, 'shop');
		is($new->safe_psql('shop', 'ALTER EXTENSION fast_copy UPDATE; SELECT count(*) FROM bad'), 2, 'ALTER EXTENSION UPDATE, and the reject table');
		$new->stop;
	}
}
