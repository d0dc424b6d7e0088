# Other sessions beside a load that stands still at a gate: DDL on the target,
# its partitions, indexes and schema, by its owner while another role loads.
# Whoever comes second waits, or does not; then all rows are there, where the
# load says so, and no session hangs.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use Test::More;

my $node = new_node('main', {}, 'max_parallel_workers = 8', 'deadlock_timeout = 200ms', 'restart_after_crash = off');
my $file = write_rows('rows.csv', 3000);
my $COUNT = 'SELECT count(*), sum(n) FROM';
my $ALL = '3000|4501500';

# What the owner does
my @DDL = (
	'ALTER TABLE app.t RENAME TO u',
	'ALTER SCHEMA app RENAME TO app2',
	'ALTER TABLE app.t RENAME COLUMN v TO w',
	'ALTER TABLE app.t ALTER v TYPE varchar(100)',
	'ALTER TABLE app.t ALTER n TYPE bigint',
	'ALTER TABLE app.t ADD x int DEFAULT 7',
	'ALTER TABLE app.t ADD CHECK (n > 0)',
	'ALTER TABLE app.t ENABLE ROW LEVEL SECURITY',
	'REVOKE INSERT ON app.t FROM loader',
	'DROP INDEX app.t_n_idx',
	'CREATE INDEX ON app.t (v)',
	'CREATE INDEX CONCURRENTLY ON app.t_p20130102 (v)',
	'REINDEX TABLE CONCURRENTLY app.t_p20130102',
	'VACUUM FULL app.t_p20130102',
	'CLUSTER app.t_p20130102 USING t_p20130102_n_idx',
	'VACUUM app.t_p20130102',
	'ANALYZE app.t',
	"ALTER TABLE app.t_p20130102 SET (fillfactor = 50)",
	'CREATE TRIGGER tr BEFORE INSERT ON app.t FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()');
# The same, after which the rows are gone, or elsewhere
my @GONE = (
	'TRUNCATE app.t' => '0|',
	'DROP TABLE app.t_p20130102' => undef,
	'ALTER TABLE app.t DETACH PARTITION app.t_p20130102' => undef,
	'ALTER TABLE app.t DETACH PARTITION app.t_p20130102 CONCURRENTLY' => undef);

gates($node);
$node->safe_psql('postgres', 'CREATE EXTENSION amcheck; CREATE ROLE owner LOGIN; CREATE ROLE loader LOGIN; GRANT pg_read_server_files TO loader;
	GRANT pg_read_server_files TO owner; GRANT CREATE ON DATABASE postgres TO owner;
	GRANT EXECUTE ON FUNCTION pg_stat_file(text, boolean) TO owner, loader');
beside($_, 1, $ALL) foreach @DDL;
beside($_, 0, $ALL) foreach @DDL[ 0, 1, 3, 9, 12 ];
for (my $i = 0; $i < @GONE; $i += 2) { beside($GONE[$i], $i % 4 == 0, $GONE[ $i + 1 ]) }
ok($node->psql('postgres', 'SELECT 1') == 0, 'the server was never restarted');
$node->stop;
done_testing();

sub tables
{
	my (@days) = @_;

	close_gate();
	$node->safe_psql('postgres', "SET client_min_messages = error; DROP SCHEMA IF EXISTS app CASCADE; DROP SCHEMA IF EXISTS app2 CASCADE;
		CREATE SCHEMA app AUTHORIZATION owner; GRANT USAGE ON SCHEMA app TO loader; GRANT EXECUTE ON FUNCTION gate(int) TO owner; SET ROLE owner;
		CREATE TABLE app.t (n int, ts timestamp, v text, CHECK (public.gate(n))) PARTITION BY RANGE (ts); CREATE INDEX ON app.t (n);"
		. join('', map { "CREATE TABLE app.t_p2013010$_ PARTITION OF app.t FOR VALUES FROM ('2013-01-0$_') TO ('2013-01-0@{[ $_ + 1 ]}');" } @days)
		. 'GRANT INSERT, SELECT ON app.t TO loader');
}

# The loader may fill partitions; where some are missing it is the owner who loads.
sub beside
{
	my ($ddl, $whole, $want) = @_;
	my $role = $whole ? 'loader' : 'owner';
	my $what = "$ddl, $role loads";

	subtest "$what: nobody hangs, and no row is lost" => sub {
		tables($whole ? (1 .. 5) : (1, 2));
		my $load = start_load($node, "SET ROLE $role; SET lock_timeout = '20s'; SELECT fast_copy('app.t', '$file', workers => 2);\n");
		ok(at_gate($node), "$what: at the gate");
		my $other = start_load($node, "SET ROLE owner; SET lock_timeout = '60s'; $ddl;\n");
		settled($other);
		open_gate();
		my ($out, $err) = finish_load($load);
		my (undef, $trouble) = finish_load($other);
		is_right($what, $ddl, $out, $err, $trouble, $want);
	};
}

# Until the other session has ended, or waits for a lock.
sub settled
{
	my ($other) = @_;

	foreach (1 .. 600)
	{
		return if !$other->{run}->pumpable;
		return if $node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
			AND query !~ 'fast_copy'") > 0;
		$other->{run}->pump_nb;
	}
}

# Rows are all there if the load says so, and none if it ended with an error.
sub is_right
{
	my ($what, $ddl, $out, $err, $trouble, $want) = @_;
	my $table = $node->safe_psql('postgres', "SELECT coalesce(to_regclass('app.t'), to_regclass('app.u'), to_regclass('app2.t'))");
	my $there = $node->safe_psql('postgres', "$COUNT $table");

	unlike($err . $trouble, qr/deadlock|lock timeout|server closed|XX000|cache lookup/, "$what: nobody is in trouble");
	if ($err =~ /ERROR/)
	{
		is($there, '0|', "$what: refused, and no row is there") or diag($err);
	}
	else
	{
		is($out, 3000, "$what: the load says so") or diag($err);
		is($there, $want // $there, "$what: and they are there") or diag($trouble);
		is($node->safe_psql('postgres', "$COUNT (TABLE $table UNION ALL TABLE app.t_p20130102) x"), $ALL, "$what: and elsewhere")
		  if !defined $want && $ddl =~ /DETACH/ && $trouble eq '';
	}
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class c, LATERAL verify_heapam(c.oid) WHERE c.relkind = 'r' AND c.relname LIKE 't\\_p%'"), 0,
		"$what: heaps are sound");
}
