# The whole life of a table of 40 days in two levels, by tenant and by day, a fifth
# of whose rows came before their partitions: it is drained, cut from days to months
# and back, and fed with files of changes for ten nights, beside readers and a writer.
# At the end it is what SQL says.  Ten nights with FC_ALL in the environment, else four.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use IPC::Run;
use Test::More;

my $node = new_node('main', {}, 'max_locks_per_transaction = 512', 'fast_copy.workers = 2');
my @tenants = qw(north south);
my $model = 'model';
my $nights = $ENV{FC_ALL} ? 10 : 4;

sub sql { return $node->safe_psql('postgres', "SET client_min_messages = warning; SET timezone = 'UTC'; $_[0]") }

# Rows of a table that the writer has not made
sub rows_of { return "SELECT tenant, at, id, v, changed FROM $_[0] WHERE id >= 0" }

sub is_as_said
{
	my ($what) = @_;

	is(sql("SELECT count(*) FROM ((" . rows_of('t') . ' EXCEPT ALL ' . rows_of($model) . ') UNION ALL (' . rows_of($model) . ' EXCEPT ALL ' . rows_of('t') . ')) AS d'), 0, "$what: the rows");
}

sql('CREATE EXTENSION IF NOT EXISTS amcheck');
sql(q{CREATE TABLE t (tenant text, at timestamp, id int, v text, changed timestamp, PRIMARY KEY (tenant, at, id)) PARTITION BY LIST (tenant);
	CREATE INDEX ON t (id);
	SELECT fast_copy_create_ledger_table('nights')});
foreach my $tenant (@tenants)
{
	sql("CREATE TABLE t_$tenant PARTITION OF t FOR VALUES IN ('$tenant') PARTITION BY RANGE (at);
		CREATE TABLE t_${tenant}_rest PARTITION OF t_$tenant DEFAULT");
	sql("CREATE TABLE t_${tenant}_p" . sql("SELECT to_char(date '2024-01-01' + $_, 'YYYYMMDD')") . " PARTITION OF t_$tenant FOR VALUES FROM ('2024-01-01'::timestamp + interval '$_ days') TO ('2024-01-02'::timestamp + interval '$_ days')") foreach 0 .. 31;
}
my $made = "SELECT CASE g % 2 WHEN 0 THEN 'north' ELSE 'south' END AS tenant, timestamp '2024-01-01' + g * 37 % 57600 * interval '1 min' AS at, g AS id, 'row ' || g AS v, timestamp '2024-03-01' AS changed
	FROM generate_series(1, 8000) AS g";
sql("INSERT INTO t $made; CREATE TABLE $model AS $made; ALTER TABLE $model ADD PRIMARY KEY (tenant, at, id)");
like(sql("SELECT round(100.0 * count(*) / 8000) FROM t WHERE tableoid::regclass::text ~ 'rest'"), qr/^(19|20|21)$/, 'a fifth is in default partitions');

# Readers of rows that no file changes, and a writer of rows below 0, some of which come
# to default partitions
my $script = write_bytes('readers.sql', "SELECT 1 / (count(*) = 800)::int FROM t WHERE id % 10 = 0 AND id > 0;
SELECT 1 / (count(*) = 20)::int FROM t_north WHERE id % 10 = 0 AND id > 0 AND at >= '2024-02-05' AND at < '2024-02-07';\n");
my $writes = write_bytes('writer.sql', "\\set n random(1, 1000000000)\n\\set d random(0, 70)
INSERT INTO t VALUES (CASE :d % 2 WHEN 0 THEN 'north' ELSE 'south' END, timestamp '2024-01-01' + interval '1 day' * :d, -:n, 'mine', NULL) ON CONFLICT DO NOTHING;\n");
my $of_day = sql("SELECT count(*) FROM t_north WHERE id % 10 = 0 AND id > 0 AND at >= '2024-02-05' AND at < '2024-02-07'");
$script = write_bytes('readers.sql', "SELECT 1 / (count(*) = 800)::int FROM t WHERE id % 10 = 0 AND id > 0;
SELECT 1 / (count(*) = $of_day)::int FROM t_north WHERE id % 10 = 0 AND id > 0 AND at >= '2024-02-05' AND at < '2024-02-07';\n");
my ($read, $written, $read_err, $written_err) = ('', '', '', '');
my $readers = IPC::Run::start([ 'pgbench', '-n', '-c', 2, '-R', 60, '-T', 900, '-f', $script, $node->connstr('postgres') ], '>', \$read, '2>', \$read_err);
my $writer = IPC::Run::start([ 'pgbench', '-n', '-c', 1, '-R', 50, '-T', 900, '-f', $writes, $node->connstr('postgres') ], '>', \$written, '2>', \$written_err);

ok(wait_until($node, 'SELECT count(*) > 0 FROM t WHERE id < 0'), 'they are at work');

# A night's file: changes of rows that readers do not look at, new ones, and deletions; a
# row may be there more than once, and older than what the table has
sub night
{
	my ($n) = @_;
	my $file = write_bytes("night$n.csv", '');
	my $columns = 'op, tenant, at, id, v, changed';

	sql("DROP TABLE IF EXISTS news; CREATE TABLE news AS
		SELECT CASE WHEN h % 7 = 0 THEN 'D' WHEN h % 3 = 0 THEN 'I' ELSE 'U' END AS op, row_number() OVER () AS lsn, m.tenant, m.at, m.id, 'night $n, ' || g AS v, timestamp '2024-03-01' + ($n + h % 3 - 1) * interval '1 day' + g * interval '1 s' AS changed
		FROM (SELECT g, (hashtext('$n/' || g) & 1048575) AS h FROM generate_series(1, 400) AS g) AS g
		JOIN (SELECT DISTINCT tenant, at, id FROM ($made) AS made UNION SELECT 'north', timestamp '2024-01-01' + i % 40 * interval '1 day', 10001 + 10 * i FROM generate_series(1, 200) AS i) AS m ON m.id = CASE WHEN h % 5 = 0 THEN 10001 + 10 * (h % 200 + 1) ELSE h % 8000 / 10 * 10 + 1 + h % 9 END");
	sql("COPY (SELECT $columns FROM news ORDER BY lsn) TO '$file' (FORMAT csv)");
	sql("SELECT fast_copy('t', '$file', columns => '{op, tenant, at, id, v, changed}', missing_partitions => 'default', on_conflict => 'update', dedup_order => '{changed}', delete_where => 'op = ''D''', ledger => 'nights')");
	# a second time it is in the ledger
	is(sql("SELECT fast_copy('t', '$file', columns => '{op, tenant, at, id, v, changed}', missing_partitions => 'default', on_conflict => 'update', dedup_order => '{changed}', delete_where => 'op = ''D''', ledger => 'nights')"), 0, "night $n: each file once");
	sql("CREATE TABLE newest AS SELECT DISTINCT ON (tenant, at, id) * FROM news ORDER BY tenant, at, id, changed DESC, lsn DESC;
		DELETE FROM $model AS m USING newest AS n WHERE (m.tenant, m.at, m.id) = (n.tenant, n.at, n.id) AND n.changed >= m.changed;
		INSERT INTO $model SELECT tenant, at, id, v, changed FROM newest AS n WHERE op <> 'D' AND NOT EXISTS (SELECT FROM $model AS m WHERE (m.tenant, m.at, m.id) = (n.tenant, n.at, n.id));
		DROP TABLE newest");
}

# What moves rows begins again if the writer was faster
sub moved
{
	my ($call) = @_;

	foreach (1 .. 20)
	{
		my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET client_min_messages = warning; $call");
		return $out if $rc == 0;
		return diag($err) && -1 unless $err =~ /40001/;
	}
	return -1;
}

foreach my $n (1 .. $nights)
{
	night($n);
	is_as_said("night $n");
	foreach my $tenant (@tenants)
	{
		cmp_ok(moved("SELECT fast_copy_drain('t_$tenant', partition_interval => '1 day')"), '>', $n == 1 ? 700 : -1, "night $n: $tenant is drained");
		cmp_ok(moved("SELECT fast_copy_repartition('t_$tenant', 'drop', partition_interval => '1 month')"), '>', 3000, "night $n: $tenant has months") if $n % 3 == 1;
		cmp_ok(moved("SELECT fast_copy_repartition('t_$tenant', 'drop', partition_interval => '1 day')"), '>', 3000, "night $n: $tenant has days") if $n % 3 == 2;
	}
	is_as_said("after night $n");
}
$_->signal('TERM') foreach $readers, $writer;
$_->finish foreach $readers, $writer;
unlike($read_err, qr/division by zero|ERROR/, 'no reader has missed a row, or met one twice');
unlike($written_err, qr/ERROR/, 'the writer has written');
is_as_said('at last');
is(sql("SELECT count(*) FROM nights WHERE state = 'loaded'"), $nights, 'the ledger has each file once');
is(sql("SELECT count(*) - count(DISTINCT (tenant, at, id)) FROM t"), 0, 'no row is there twice');
cmp_ok(sql('SELECT count(*) FROM t WHERE id < 0'), '>', 100, 'the rows of the writer');
is(sql('SELECT count(*) FROM t WHERE id < 0'), sql("SELECT (SELECT count(*) FROM t_north WHERE id < 0) + (SELECT count(*) FROM t_south WHERE id < 0)"), 'by each way');
is(sql("SELECT sum((SELECT count(*) FROM verify_heapam(oid))) FROM pg_class WHERE relkind = 'r' AND relname ~ '^t_'"), 0, 'heaps are sound');
is(sql("SELECT count(bt_index_check(c.oid, true)) > 0 FROM pg_class AS c JOIN pg_index AS i ON i.indexrelid = c.oid JOIN pg_class AS h ON h.oid = i.indrelid WHERE h.relname ~ '^t_' AND c.relkind = 'i'"), 't', 'and so are indexes');
is(sql("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'fast_copy %'"), 0, 'nothing is left behind');

done_testing();
