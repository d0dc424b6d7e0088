# Tables of Citus, whose records go to their shards: the same rows in the same
# shards as by Citus' own COPY, or the reason why not.
#
# It is in no package, and is tested where it is installed (docs/contributing.md).

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my @conf = ('max_prepared_transactions = 100', 'restart_after_crash = on', 'max_connections = 150',
	"citus.node_conninfo = 'sslmode=prefer'", 'session_preload_libraries = fast_copy');
my $probe = new_node('probe', {});
needs($probe, 'citus');
$probe->stop;
my ($main, $one, $two) = map { new_node($_, { allows_streaming => 1 }, 'shared_preload_libraries = citus', @conf) } 'main', 'one', 'two';
my $COLUMNS = 'k bigint NOT NULL, t text, u uuid, d date, n numeric, j jsonb';
my $PARTITIONED = "CREATE TABLE a ($COLUMNS) PARTITION BY RANGE (d); CREATE TABLE a1 PARTITION OF a FOR VALUES FROM ('2013-01-01') TO ('2013-01-15'); CREATE TABLE a2 PARTITION OF a FOR VALUES FROM ('2013-01-15') TO ('2013-02-01')";

foreach my $node ($main, $one, $two)
{
	$node->safe_psql('postgres', "CREATE EXTENSION citus; CREATE EXTENSION fast_copy_cluster; ALTER SYSTEM SET citus.local_hostname = '" . $node->host . "';\nSELECT pg_reload_conf()");
}
on_main('SELECT citus_set_coordinator_host(' . place($main) . ')');
on_main('SELECT citus_add_node(' . place($_) . ')') foreach $one, $two;
on_main("ALTER SYSTEM SET citus.shard_count = 8;\nSELECT pg_reload_conf()");

# rows with all that may stand in a field
my $file = write_bytes('rows.csv', join('', map { row($_) } 1 .. 3000));
my $text = write_bytes('rows.txt', join('', map { "$_\tback\\\\slash, tab\\t and line\\n$_\t\\N\t2013-01-02\t" . $_ / 4 . "\t[]\n" } 1 .. 300));

subtest 'the rows of Citus\' own COPY in the same shards' => \&same_rows;
subtest 'in every entry' => \&entries;
subtest 'tables of one shard' => \&one_shard;
subtest 'more shards than streams, and shards that were split' => \&many_shards;
subtest 'tables with partitions' => \&partitioned;
subtest 'keys, types and columns' => \&kinds;
subtest 'the first bad line' => \&errors;
subtest 'transactions' => \&transactions;
subtest 'what cannot be sent' => \&refused;
subtest 'who may' => \&privileges;
subtest 'passwords' => \&passwords;
subtest 'from another node' => \&from_another_node;
subtest 'shards that are moved' => \&moved_shards;
subtest 'a crash before the decision, and one after it' => \&crashes;
$_->stop foreach $main, $one, $two;
done_testing();

sub on_main { my ($sql) = @_; return $main->safe_psql('postgres', $sql) }
sub place { my ($node) = @_; return "'" . $node->host . "', " . $node->port }

sub row
{
	my ($n) = @_;
	my $v = $n % 7 == 0 ? '' : $n % 5 == 0 ? "\"a \"\"quoted\"\", field\nof two lines $n\"" : "text $n";

	return sprintf("%d,%s,%08x-0000-4000-8000-%012x,2013-01-%02d,%d.5,\"{\"\"n\"\": %d}\"\n",
		$n * 7919 % 104729 - 50000, $v, $n * 2654435761 % 2**32, $n, $n % 28 + 1, $n % 97, $n);
}

# A table, and another one with the same rows by Citus' COPY
sub make
{
	my ($how, $columns) = @_;

	on_main("DROP TABLE IF EXISTS a, b; CREATE TABLE a (@{[ $columns // $COLUMNS ]}); CREATE TABLE b (LIKE a INCLUDING GENERATED)");
	foreach my $table ('a', 'b')
	{
		on_main($how =~ s/%s/$table/gr);
	}
}

sub load
{
	my ($table, $path, $more) = @_;

	return "SELECT fast_copy('$table', '$path', log_verbosity => 'silent'" . ($more // '') . ');';
}

# The rows of each shard, as a number of them and their sum, in order of hashes
sub shards
{
	my ($table) = @_;

	return on_main("SELECT string_agg(result, ' ' ORDER BY s.shardminvalue::int, s.shardid) FROM run_command_on_shards('$table', 'SELECT count(*) || ''/'' || coalesce(sum(hashtextextended(x::text, 0)), 0) FROM %s x') r
		JOIN pg_dist_shard s USING (shardid)");
}

sub prepared { return join(' ', map { $_->safe_psql('postgres', "SELECT count(*) FROM pg_prepared_xacts WHERE gid LIKE 'fast_copy%'") } $one, $two) }

sub same_rows
{
	foreach my $key ('k', 't', 'u', 'd', 'n')
	{
		make("SELECT create_distributed_table('%s', '$key')");
		my $not_null = $key eq 't' ? write_bytes('not_null.csv', join('', grep { !/^-?\d+,,/ } map { row($_) } 1 .. 3000)) : $file;
		my $rows = on_main(load('a', $not_null));

		cmp_ok($rows, '>', 2000, "by $key: rows");
		on_main("COPY b FROM '$not_null' WITH (FORMAT csv)");
		is(on_main('SELECT count(*) FROM a'), $rows, 'all are found');
		is(shards('a'), shards('b'), 'the same rows in the same shards');
		is(on_main("SELECT count(*) FROM (SELECT $key FROM a LIMIT 1) x JOIN a USING ($key)") > 0, 1, 'a query for one finds it');
	}
	make("SELECT create_distributed_table('%s', 'k')");
	on_main("COPY a FROM '$text' WITH (fast_copy)");
	on_main("COPY b FROM '$text'");
	is(shards('a'), shards('b'), 'text format');
	like(shards('a'), qr/^\d+\/-?\d+( \d+\/-?\d+){7}$/, 'in eight shards');
	is(on_main("SELECT count(*) FROM fast_copy_transactions WHERE server <> 0") > 0, 1, 'committed in two phases');
	on_main('SELECT fast_copy_resolve()');
	is(on_main("SELECT count(*) FROM fast_copy_transactions WHERE server <> 0"), 0, 'and nothing is left to be resolved');

	# columns in another order, behind one that was dropped; a long name
	my $long = 'l' x 60;
	on_main("CREATE TABLE $long (gone int, v text, \"K k\" int); ALTER TABLE $long DROP gone; SELECT create_distributed_table('$long', 'K k'); CREATE SCHEMA \"S s\"; ALTER TABLE $long SET SCHEMA \"S s\"");
	my $swapped = write_bytes('swapped.csv', join('', map { "$_,v$_\n" } 1 .. 100));
	is(on_main("COPY \"S s\".$long (\"K k\", v) FROM '$swapped' WITH (FORMAT csv, fast_copy); SELECT count(*) FROM \"S s\".$long WHERE v = 'v' || \"K k\"; SELECT v FROM \"S s\".$long WHERE \"K k\" = 17"), "100\nv17", 'names');
}

sub entries
{
	foreach my $entry ("SELECT fast_copy('a', '$file')", "COPY a FROM '$file' WITH (FORMAT csv, fast_copy)", "\\copy a from '$file' with (format csv, fast_copy)")
	{
		on_main('TRUNCATE a');
		my ($rc, $out, $err) = $main->psql('postgres', $entry);
		is(unsaid($err), '', $entry);
		is(on_main('SELECT count(*) FROM a'), 3000, '... has all rows');
	}
	on_main('TRUNCATE a');
	is(on_main(load('a', $file) . "SELECT DISTINCT choice ~ '^sent to server \".*:\\d+\"\$', sum(rows) FROM fast_copy_report() WHERE partition LIKE 'a\\_%' GROUP BY 1"), "3000\nt|3000", 'the report has shards and their servers');
	foreach my $order ('citus,fast_copy')
	{
		$main->append_conf('postgresql.conf', "shared_preload_libraries = '$order'\n");
		$main->restart;
		on_main('TRUNCATE a');
		is(on_main(load('a', $file)), 3000, "shared_preload_libraries = $order");
		is(on_main('SELECT count(*) FROM a'), 3000, '... has all rows');
	}
	on_main("TRUNCATE a; SET fast_copy.accelerate_copy = on; COPY a FROM '$file' WITH (FORMAT csv)");
	is(on_main('SELECT count(*) FROM a'), 3000, 'a plain COPY is left to Citus');
}

sub one_shard
{
	foreach my $how ("SELECT create_distributed_table('%s', NULL, colocate_with => 'none')", "SELECT citus_add_local_table_to_metadata('%s')")
	{
		make($how);
		on_main(load('a', $file) . "COPY b FROM '$file' WITH (FORMAT csv)");
		is(on_main('SELECT count(*) FROM a'), 3000, $how);
		is(on_main('SELECT count(*) FROM (SELECT * FROM a EXCEPT SELECT * FROM b) x'), 0, '... the same rows') if $how !~ /NULL/;
		is(shards_alone('a'), shards_alone('b'), '... in its shard');
	}
	is(on_main("SET citus.enable_schema_based_sharding = on; CREATE SCHEMA tenant; CREATE TABLE tenant.a ($COLUMNS);" . load('tenant.a', $file) . 'SELECT count(*) FROM tenant.a'), "3000\n3000", 'a schema of a tenant') if on_main("SELECT current_setting('citus.enable_schema_based_sharding', true)");
}

# Partitions are the nodes' own: a shard of the parent has them, and finds them.
sub partitioned
{
	on_main("DROP TABLE IF EXISTS a, b; $PARTITIONED; SELECT create_distributed_table('a', 'k');
		" . $PARTITIONED =~ s/\ba/b/gr . "; SELECT create_distributed_table('b', 'k', colocate_with => 'a')");
	is(on_main(load('a', $file)), 3000, 'rows');
	on_main("COPY b FROM '$file' WITH (FORMAT csv)");
	is(on_main('SELECT count(*) FROM a'), 3000, 'all are found');
	is(shards("a$_"), shards("b$_"), "a$_: the same rows in the same shards") foreach 1, 2;
	is(on_main("SELECT count(*) FROM pg_inherits WHERE inhparent = 'a'::regclass"), 2, 'no partition is made');

	my $part = write_bytes('part.csv', join('', grep { /,2013-01-0\d,/ } map { row($_) } 1 .. 500));
	on_main('TRUNCATE a, b');
	on_main(load('a1', $part) . "COPY b1 FROM '$part' WITH (FORMAT csv)");
	is(shards('a1'), shards('b1'), 'a partition as the target');
	my $outside = write_bytes('outside.csv', row(1) . row(2) . "3,x,,2013-02-03,1,\n");
	like(said(load('a', $outside)), qr/ERROR:  no partition of relation "a" found for row.*line 3\b/s, 'a row without a partition') or diag(said(load('a', $outside)));
	like(said(load('a1', $outside)), qr/ERROR:  new row for relation "a1" violates partition constraint.*line 3\b/s, 'or of another one');
	is(on_main("SELECT fast_copy('a', '$part', 'd', log_verbosity => 'silent', run_analyze => true) > 0"), 't', 'a key, and statistics');
}

# What the shards look after: keys, types of users, generated columns, columns
# by columns
sub kinds
{
	make("SELECT create_distributed_table('%s', 'k')", "$COLUMNS, g bigint GENERATED ALWAYS AS (k + 1) STORED");
	on_main(load('a', $file) . "COPY b FROM '$file' WITH (FORMAT csv)");
	is(shards('a'), shards('b'), 'a generated column');

	on_main("CREATE SCHEMA types; CREATE TYPE types.mood AS ENUM ('sad', 'glad'); CREATE DOMAIN types.few AS int CHECK (VALUE < 100)");
	make("SELECT create_distributed_table('%s', 'k')", 'k int, m types.mood, f types.few, ms types.mood[]');
	my $moods = write_bytes('moods.csv', join('', map { "$_," . ('sad', 'glad')[ $_ % 2 ] . ',' . $_ % 100 . ",\"{sad,glad}\"\n" } 1 .. 300));
	on_main(load('a', $moods) . "COPY b FROM '$moods' WITH (FORMAT csv)");
	is(shards('a'), shards('b'), 'types of users');
	like(said(load('a', write_bytes('few.csv', "1,sad,5,\n2,sad,500,\n"))), qr/ERROR:  value for domain types.few violates check constraint "few_check".*line 2\b/s, 'the condition of a domain');

	on_main('DROP TABLE IF EXISTS a, b, ref; CREATE TABLE ref (m int PRIMARY KEY, v text)');
	on_main("INSERT INTO ref SELECT i FROM generate_series(1, 50) i; SELECT create_reference_table('ref'); CREATE TABLE a (k int, m int REFERENCES ref); SELECT create_distributed_table('a', 'k')");
	is(on_main(load('a', write_bytes('refers.csv', join('', map { "$_," . ($_ % 50 + 1) . "\n" } 1 .. 500))) . 'SELECT count(*) FROM a JOIN ref USING (m)'), "500\n500", 'a foreign key');
	like(said(load('a', write_bytes('lost.csv', "1,1\n2,99\n"))), qr/ERROR:  insert or update on table "a" violates foreign key constraint/, 'that a row breaks');
	is(on_main('SELECT count(*) FROM a'), 500, 'no row of it');

	return if on_main("SELECT count(*) FROM pg_extension WHERE extname = 'citus_columnar'") eq '0';
	on_main("DROP TABLE a; CREATE TABLE a ($COLUMNS) USING columnar; SELECT create_distributed_table('a', 'k')");
	is(on_main(load('a', $file) . 'SELECT count(*) FROM a'), "3000\n3000", 'columns by columns');
}

sub shards_alone { my ($table) = @_; return on_main("SELECT result FROM run_command_on_shards('$table', 'SELECT count(*) || ''/'' || sum(hashtextextended(x::text, 0)) FROM %s x')") }

sub many_shards
{
	make("SELECT create_distributed_table('%s', 'k', shard_count => 45)");
	is(on_main(load('a', $file)), 3000, '45 shards');
	on_main("COPY b FROM '$file' WITH (FORMAT csv)");
	is(shards('a'), shards('b'), 'the same rows in the same shards');
	make("SELECT create_distributed_table('%s', 'k', shard_count => 4)");
	my ($shard, $point, $group) = split /\|/, on_main("SELECT shardid, shardminvalue::int + 1000000, groupid FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) WHERE logicalrelid = 'a'::regclass ORDER BY shardminvalue::int LIMIT 1");
	my $node = on_main("SELECT nodeid FROM pg_dist_node WHERE groupid = $group");
	on_main("SELECT citus_split_shard_by_split_points($shard, ARRAY['$point'], ARRAY[$node, $node], 'block_writes')");
	is(on_main("SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = 'a'::regclass"), 5, 'one of four shards is split');
	is(on_main(load('a', $file)), 3000, 'rows');
	on_main("COPY b FROM '$file' WITH (FORMAT csv)");
	is(shards('a'), shards('b'), 'the same rows in the same shards');
}

# What COPY says of the line, by the function and by Citus
sub said
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $main->psql('postgres', $sql);

	return $err =~ s/_\d{6}\b//gr;
}

sub errors
{
	make("SELECT create_distributed_table('%s', 'k')", 'k int PRIMARY KEY, v int CHECK (v < 1000), w text NOT NULL');
	on_main('ALTER TABLE b ADD PRIMARY KEY (k)');
	my @good = map { "$_,$_,x" } 1 .. 500;
	my %bad = (
		'a value' => [ 123, '123,abc,x' ], 'the key' => [ 77, 'abc,1,x' ], 'too few fields' => [ 400, '400,1' ],
		'a condition' => [ 300, '300,5000,x' ], 'a null' => [ 200, '200,1,' ], 'no key' => [ 50, ',1,x' ]);

	foreach my $what (sort keys %bad)
	{
		my ($line, $record) = @{ $bad{$what} };
		my @lines = @good;
		$lines[ $line - 1 ] = $record;
		$lines[450] = 'xyz';
		my $path = write_bytes('bad.csv', join('', map { "$_\n" } @lines));
		my $ours = said(load('a', $path));

		like($ours, qr/ERROR:/, "$what: refused");
		like($ours, qr/line $line\b/, "$what: its line") or diag($ours);
		if ($what =~ /value|the key|fields/)
		{
			my ($message) = said("COPY a FROM '$path' WITH (FORMAT csv)") =~ /ERROR:  (.*)/;
			like($ours, qr/ERROR:  \Q$message\E/, "$what: the message of COPY");
		}
		is(on_main('SELECT count(*) FROM a'), 0, "$what: no row");
	}
	like(said(load('a', write_bytes('null.csv', "1,1,x\n,2,x\n"))), qr/ERROR:  null value in (?:distribution )?column "k".*relation "a"/, 'no key: what it is');
	my $twice = write_bytes('twice.csv', join('', map { "$_,1,x\n" } 1 .. 100, 42, 101 .. 200));
	like(said(load('a', $twice)), qr/ERROR:  duplicate key value violates unique constraint "a_pkey".*CONTEXT:  shard \d+ of table "a" on server ".*:\d+"\n.*line 101\b/s, 'a key that comes twice: its line');
	is(on_main('SELECT count(*) FROM a'), 0, 'no row');
	is(prepared(), '0 0', 'nothing is prepared');
}

sub transactions
{
	make("SELECT create_distributed_table('%s', 'k')");
	on_main('BEGIN; ' . load('a', $file) . ' ROLLBACK');
	is(on_main('SELECT count(*) FROM a'), 0, 'ROLLBACK');
	is(on_main('BEGIN; SAVEPOINT s; ' . load('a', $file) . ' ROLLBACK TO s; ' . load('a', $text, ", format => 'text'") . ' COMMIT; SELECT count(*) FROM a'), "3000\n300\n300", 'a savepoint');
	is(on_main('BEGIN; ' . load('a', $file) . ' SELECT count(*) FROM a; COMMIT; SELECT count(*) FROM a'), "3000\n300\n3300", 'rows are seen once they are committed');
	is(on_main("BEGIN; INSERT INTO b VALUES (1); " . load('a', $file) . ' COMMIT; SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)'), "3000\n6300|1", 'together with what Citus does');
	on_main("BEGIN; INSERT INTO b VALUES (2); " . load('a', $file) . ' ROLLBACK');
	is(on_main('SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)'), '6300|1', 'or not at all');
	is(on_main("SELECT fast_copy('a', '$file', log_verbosity => 'silent', options => '{\"remote_commit\": \"one_phase\"}'); SELECT count(*) FROM a"), "3000\n9300", 'one phase');
	is(on_main('BEGIN ISOLATION LEVEL SERIALIZABLE; ' . load('a', $file) . ' COMMIT; SELECT count(*) FROM a'), "3000\n12300", 'serializable');

	# a restore point is between commits of several nodes
	my $session = $main->background_psql('postgres', on_error_stop => 0);
	$session->query_safe('BEGIN; ' . load('a', $file));
	my ($rc, $out, $err) = $main->psql('postgres', "SET lock_timeout = '300ms'; SELECT citus_create_restore_point('x')");
	like($err, qr/lock timeout/, 'a restore point waits for the commit');
	$session->query_safe('COMMIT');
	$session->quit;
	($rc, $out, $err) = $main->psql('postgres', "SELECT citus_create_restore_point('x') IS NOT NULL");
	is("$out$err", 't', 'and comes then');
}

sub is_refused
{
	my ($why, $what, $more, $table) = @_;
	my ($rc, $out, $err) = $main->psql('postgres', load($table // 'a', $file, $more));

	like($err, qr/ERROR:  fast_copy cannot load table "a", whose rows Citus keeps elsewhere\n(?:psql:.*)?DETAIL:  Table "a" is listed in "pg_catalog.pg_dist_partition"\. $why\nHINT:  Use COPY without the option fast_copy: Citus/, $what);
	is(on_main('SELECT count(*) FROM a'), 0, '... no row');
}

sub refused
{
	make("SELECT create_reference_table('%s')");
	is_refused('It is a reference table, or its shards have copies on several nodes\.', 'a reference table');
	make("SET citus.shard_replication_factor = 2; SELECT create_distributed_table('%s', 'k')");
	is_refused('It is a reference table, or its shards have copies on several nodes\.', 'two copies');
	make("SELECT create_distributed_table('%s', 'k', 'append')");
	is_refused('It is distributed by range, or by appending shards\.', 'append');
	make("SELECT create_distributed_table('%s', 'k')");
	is_refused('Its rows cannot be sent to its shards: on_error goes on after bad records\.', 'on_error', ", on_error => 'ignore'");
	is_refused('Its rows cannot be sent to its shards: there is a condition\.', 'where', ", where_clause => 'k > 0'");
	on_main("INSERT INTO pg_dist_poolinfo SELECT nodeid, 'port=' || nodeport FROM pg_dist_node WHERE groupid > 0");
	is_refused('Node ".*:\d+" is reached by a connection pooler\.', 'a pooler');
	on_main('DELETE FROM pg_dist_poolinfo');
	like(said("BEGIN; CREATE TABLE fresh ($COLUMNS); SELECT create_distributed_table('fresh', 'k'); " . load('fresh', $file)), qr/Its rows cannot be sent to its shards: it was created in this transaction\./, 'a table that others do not see yet');
	like(said("SELECT * FROM fast_copy_analyze('a', '$file')"), qr/whose rows Citus keeps elsewhere\n.*Rows are checked where they are loaded\./, 'an analysis');
	make("SELECT create_distributed_table('%s', 'k')", "$COLUMNS, more int DEFAULT 5");
	is_refused('Its rows cannot be sent to its shards: a column is not in the file\.', 'a column is not in the file', ", columns => '{k,t,u,d,n,j}'");
	make("SELECT create_distributed_table('%s', 'k')", "$COLUMNS, r regclass");
	is_refused('Its rows cannot be sent to its shards: column "r" has a type that may be another one there\.', 'a type that names objects', ", columns => '{k,t,u,d,n,j,r}'");
	make("SET citus.enable_unsafe_triggers = on; CREATE OR REPLACE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN RETURN NEW; END \$\$; CREATE TRIGGER nothing BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION nothing(); SELECT create_distributed_table('%s', 'k')");
	is_refused('Its rows cannot be sent to its shards: it has triggers\.', 'triggers');
	on_main("DROP TABLE a, b; $PARTITIONED; CREATE TABLE a_rest PARTITION OF a DEFAULT; SELECT create_distributed_table('a', 'k')");
	is_refused("Its rows cannot be sent to its shards: nodes have a default partition, and do as with missing_partitions => 'default'\\.", 'a default partition');
	is_refused('Its rows cannot be sent to its shards: partitions are not created there\.', 'an interval', ", partition_interval => '1 day'");
	is_refused('Its rows cannot be sent to its shards: partitions are not created there\.', 'nodes', ", options => '{\"nodes\": [\"n\"]}'") if on_main("SET citus.enable_ddl_propagation = off; CREATE EXTENSION IF NOT EXISTS postgres_fdw; CREATE SERVER n FOREIGN DATA WRAPPER postgres_fdw; SELECT 1");
	is(on_main(load('a', $file, ", missing_partitions => 'default'") . 'SELECT count(*) FROM a'), "3000\n3000", "missing_partitions => 'default'");
	on_main('DROP TABLE a');
}

# Citus makes roles on all nodes, and gives them what they are given here.
sub privileges
{
	make("SELECT create_distributed_table('%s', 'k')");
	on_main('CREATE ROLE loader LOGIN; CREATE ROLE nobody LOGIN; GRANT pg_read_server_files TO loader, nobody; GRANT SELECT, INSERT ON a TO loader');
	is(on_main('SET ROLE loader; ' . load('a', $file) . ' SELECT count(*) FROM a'), "3000\n3000", 'who may insert');
	on_main('TRUNCATE a');
	like(said('SET ROLE nobody; ' . load('a', $file)), qr/permission denied for table a\b/, 'who may not');
	is(on_main('SET ROLE loader; BEGIN; ' . load('a', $file) . ' SELECT current_user; COMMIT'), "3000\nloader", 'nobody is another one afterwards');
	on_main('TRUNCATE a');
	on_main("CREATE FUNCTION by_owner() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS \$\$ SELECT fast_copy('a', '$file', log_verbosity => 'silent') \$\$");
	is(on_main('SET ROLE nobody; SELECT by_owner()'), 3000, 'the owner of a function');
}

sub passwords
{
	on_main("TRUNCATE a; SET password_encryption = 'scram-sha-256'; ALTER ROLE loader PASSWORD 'geheim'");
	foreach my $node ($one, $two)
	{
		my $hba = PostgreSQL::Test::Utils::slurp_file($node->data_dir . '/pg_hba.conf');
		PostgreSQL::Test::Utils::append_to_file($node->data_dir . '/pg_hba.new', "local all loader scram-sha-256\n$hba");
		rename $node->data_dir . '/pg_hba.new', $node->data_dir . '/pg_hba.conf';
		$node->reload;
	}
	my $err = said('SET ROLE loader; ' . load('a', $file));
	like($err, qr/could not connect to server ".*:\d+"/, 'a node asks for a password');
	on_main("INSERT INTO pg_dist_authinfo VALUES (0, 'loader', 'password=falsch')");
	$err = said('SET ROLE loader; ' . load('a', $file));
	like($err, qr/password authentication failed for user "loader"/, 'pg_dist_authinfo has a wrong one');
	unlike($err, qr/falsch|geheim/, 'and no message has it');
	on_main("INSERT INTO pg_dist_authinfo SELECT nodeid, 'loader', 'password=geheim' FROM pg_dist_node WHERE groupid > 0");
	is(on_main('SET ROLE loader; ' . load('a', $file)), 3000, 'and the right one for each node');
	is(on_main('SELECT count(*) FROM a'), 3000, 'all rows');
	on_main('DELETE FROM pg_dist_authinfo');
}

sub from_another_node
{
	on_main('TRUNCATE a');
	is($one->safe_psql('postgres', load('a', $file) . 'SELECT count(*) FROM a'), "3000\n3000", 'a node that has the metadata');
	is(on_main('SELECT count(*) FROM a'), 3000, 'all see it');
}

sub move_of
{
	my ($table) = @_;

	return on_main("SELECT format('SELECT citus_move_shard_placement(%s, %L, %s, %L, %s, %L)', shardid, n.nodename, n.nodeport, m.nodename, m.nodeport, 'block_writes')
		FROM pg_dist_shard JOIN pg_dist_placement p USING (shardid) JOIN pg_dist_node n USING (groupid) JOIN pg_dist_node m ON m.groupid > 0 AND m.groupid <> n.groupid
		WHERE logicalrelid = '$table'::regclass ORDER BY shardid LIMIT 1");
}

sub moved_shards
{
	make("SELECT create_distributed_table('%s', 'k', colocate_with => 'none')");
	my $session = $main->background_psql('postgres', on_error_stop => 0);
	$session->query_safe('BEGIN; ' . load('a', $file));
	my ($rc, $out, $err) = $main->psql('postgres', "SET lock_timeout = '500ms'; " . move_of('a'));
	like($err, qr/lock timeout/, 'a shard is not moved before the commit');
	$session->query_safe('COMMIT');
	is(on_main(move_of('a') . '; SELECT count(*) FROM a'), "\n3000", 'after it, it is');
	is(on_main(load('a', $file) . 'SELECT count(*) FROM a'), "3000\n6000", 'rows go where it is now');

	# a load that begins while it is moved
	$session->query_safe('BEGIN; ' . move_of('a'));
	my $load = start_load($main, load('a', $file));
	ok(wait_until($main, "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"), 'a load waits for a move');
	$session->query_safe('COMMIT');
	is(join('', finish_load($load)), '3000', 'and goes on');
	$session->quit;
	is(on_main('SELECT count(*) FROM a'), 9000, 'its rows are where the shard is now');
	on_main('CALL citus_cleanup_orphaned_resources()');
	is(on_main('SELECT count(*) FROM a'), 9000, 'and not where it was');
}

sub outcomes { my ($from) = @_; return on_main("SELECT DISTINCT outcome FROM $from WHERE outcome <> 'unreachable'") }

sub crashes
{
	make("SELECT create_distributed_table('%s', 'k')");
	on_main('SELECT fast_copy_resolve()');
	hold($two);
	my $load = start_load($main, load('a', $file));
	ok(holds($two), 'a node waits while it prepares');
	is(outcomes('fast_copy_in_doubt'), 'in progress', 'the load is in progress');
	is(outcomes('fast_copy_resolve()'), 'in progress', 'nobody ends it');
	$main->stop('immediate');
	finish_load($load);
	$main->start;
	release($two);
	is(on_main('SELECT count(*) FROM a'), 0, 'before the decision: no row can be seen');
	isnt(prepared(), '0 0', 'transactions are left prepared');
	is(outcomes('fast_copy_in_doubt'), 'to be rolled back', 'they are in doubt');
	is(outcomes('fast_copy_resolve()'), 'rolled back', 'fast_copy_resolve() rolls them back');
	is(prepared(), '0 0', 'nothing is left prepared');
	is(on_main('SELECT count(*) FROM a'), 0, 'none of the rows is there');

	hold($main);
	$load = start_load($main, load('a', $file));
	ok(holds($main), 'this server waits with its decision');
	$main->stop('immediate');
	finish_load($load);
	$main->start;
	release($main);
	is(outcomes('fast_copy_in_doubt'), 'to be committed', 'after the decision: the others are in doubt');
	is(outcomes('fast_copy_resolve()'), 'committed', 'fast_copy_resolve() commits');
	is(on_main('SELECT count(*) FROM a'), 3000, 'all rows are there');
	is(prepared(), '0 0', 'nothing is left prepared');

	# the next load does the same
	hold($main);
	$load = start_load($main, load('a', $file));
	ok(holds($main), 'once more');
	$main->stop('immediate');
	finish_load($load);
	$main->start;
	release($main);
	is(on_main(load('a', $file) . 'SELECT count(*) FROM a'), "3000\n9000", 'the next load has ended what that one could not');
}
