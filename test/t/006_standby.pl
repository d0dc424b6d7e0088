# A streaming standby has what the primary has, and no page differs from what
# its WAL says.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $primary = new_node('primary', { allows_streaming => 1 }, 'wal_consistency_checking = all',
	'wal_keep_size = 4GB');
my $file = write_rows('rows.csv', 4000);

my $standby = new_standby($primary);

$primary->safe_psql('postgres', 'CREATE EXTENSION amcheck');
events($primary, 't');
$primary->safe_psql('postgres', "CREATE UNIQUE INDEX ON t (n, ts); CREATE INDEX ON t USING brin (ts);
	CREATE INDEX ON t USING hash (v)");

my $everything = "SELECT tableoid::regclass, count(*), md5(string_agg(t::text, '|' ORDER BY ctid)) FROM t GROUP BY 1 ORDER BY 1::text";
my $big = write_bytes('big.csv', join('', map {
	"$_,2013-01-0" . ($_ % 5 + 1) . ',' . join('', map { chr(33 + ($_ * 7919 + $_ * $_) % 10) } 1 .. 200) . ('x' . $_) x 3000 . "\n" } 30001 .. 30040));

foreach my $step (
	[ 'new partitions', "SELECT fast_copy('t', '$file', workers => 2)" ],
	[ 'existing partitions', "UPDATE t SET n = n + 100000; SELECT fast_copy('t', '$file', workers => 2)" ],
	[ 'long rows', "SELECT fast_copy('t', '$big', workers => 2)" ],
	[ 'freeze', "BEGIN; TRUNCATE t; SELECT fast_copy('t', '$file', workers => 2, freeze => true); COMMIT" ],
	[ 'rolled back', "BEGIN; SELECT fast_copy('t', '$big', workers => 2); ROLLBACK" ])
{
	my ($what, $sql) = @$step;

	subtest "$what: the standby is equal and sound" => sub {
		$primary->safe_psql('postgres', $sql);
		$primary->wait_for_catchup($standby);
		my $there = $primary->safe_psql('postgres', $everything);
		isnt($there, '', 'rows on the primary');
		is($standby->safe_psql('postgres', $everything), $there, 'standby is equal');
		foreach my $node ($primary, $standby)
		{
			is($node->safe_psql('postgres', "SELECT count(*) FROM (SELECT bt_index_check(c.oid, true)
					FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'btree' AND c.relkind = 'i'
					AND c.relname LIKE 't\\_p%') x"), 5, 'indexes are sound on ' . $node->name);
			toast_indexes_are_sound($node, 5, $what);
		}
		is($primary->safe_psql('postgres', "SELECT count(*) FROM pg_class c CROSS JOIN LATERAL verify_heapam(c.oid, check_toast => true)
				WHERE c.relname LIKE 't\\_p%' AND c.relkind = 'r'"), 0, 'heaps are sound');
	};
}

subtest 'the standby itself cannot be loaded' => sub {
	my ($rc, $out, $err) = $standby->psql('postgres', "SELECT fast_copy('t', '$file')");
	like($err, qr/ERROR:  cannot execute fast_copy\(\) during recovery\nHINT:  This server is a standby: load on its primary\. fast_copy_analyze\(\) works here\.$/, 'no load');
	foreach my $option ('', ', fast_copy')
	{
		like(($standby->psql('postgres', "LOAD 'fast_copy'; COPY t FROM '$file' (FORMAT csv$option)"))[2], qr/ERROR:  cannot execute COPY during recovery/, "no COPY (FORMAT csv$option)");
	}
};

subtest 'a look at a file needs no primary' => sub {
	foreach my $workers (0, 2)
	{
		is($standby->safe_psql('postgres', "SET fast_copy.chunk_size = '16kB'; SELECT string_agg(coalesce(name, '') || ' ' || rows, ',' ORDER BY name)
				FROM fast_copy_analyze('t', '$file', workers => $workers) WHERE item IN ('rows', 'key')"), 'accepted 4000,bad 0,filtered 0,ts 4000', "fast_copy_analyze, $workers workers");
	}
	# its ledger is not asked, which would be a lock
	$primary->safe_psql('postgres', "SELECT fast_copy_create_ledger_table('led')");
	$primary->wait_for_catchup($standby);
	is($standby->safe_psql('postgres', "SELECT rows FROM fast_copy_analyze('t', '$file', options => '{\"ledger\": \"led\", \"existing_rows\": \"replace\"}') WHERE item = 'rows' AND name = 'accepted'"), 4000, 'with a ledger');
	is($standby->safe_psql('postgres', 'SELECT count(*) FROM fast_copy_progress'), 0, 'fast_copy_progress');
};

$standby->stop;
$primary->stop;
done_testing();
