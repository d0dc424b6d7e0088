# Partitions by list, and of several levels, that are made beside other sessions:
# what these attach, take away or make in the same moment.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', {});
my $file = write_bytes('keys.csv', join('', map { sprintf "%s,%d\n", qw(a b c)[ $_ % 3 ], $_ } 1 .. 300));
my $tree = "DROP TABLE IF EXISTS t, other, t_a_0 CASCADE; CREATE TABLE t (k text, n int) PARTITION BY LIST (k);
	CREATE TABLE t_a PARTITION OF t FOR VALUES IN ('a') PARTITION BY RANGE (n);
	CREATE TABLE t_a_0 PARTITION OF t_a FOR VALUES FROM (0) TO (100)";
my $leaves = "SELECT string_agg(format('%s %s', tableoid::regclass, n), ' ' ORDER BY tableoid::regclass::text) FROM (SELECT tableoid, count(*) AS n FROM t GROUP BY 1) x";

gates($node);

sub query { return $node->safe_psql('postgres', $_[0]) }

# Loads while another session, which is in a transaction and has done something,
# waits; then that goes on.  Returns what the load says and where rows are.
sub beside
{
	my ($before, $after, $workers, $more) = @_;

	query("$tree; " . ($more // ''));
	close_gate();
	my $other = start_load($node, "BEGIN; $before; SELECT gate(7); $after; COMMIT;\n");
	ok(at_gate($node), 'another session is in a transaction');
	my $load = start_load($node, "SELECT fast_copy('t', '$file', workers => $workers);\n");
	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE mode = 'ShareUpdateExclusiveLock' AND NOT granted"), 'the load waits for it');
	open_gate();
	my ($said, $failed) = finish_load($other);
	is($failed, '', 'the other goes on');
	my ($out, $err) = finish_load($load);
	return ($err =~ /ERROR: +(.*)/ ? $1 : $out, query($leaves));
}

foreach my $workers (0, 2)
{
	subtest "$workers workers: what another session attaches is not made again" => sub {
		is_deeply([ beside("CREATE TABLE other (k text, n int); ALTER TABLE t ATTACH PARTITION other FOR VALUES IN ('b')", 'SELECT', $workers) ],
			[ 300, 'other 100 t_a_0 33 t_a_p100 33 t_a_p200 33 t_a_p300 1 t_p_c 100' ], 'a value: others are like it now, the newest');
		is_deeply([ beside('CREATE TABLE other (k text, n int); ALTER TABLE t_a ATTACH PARTITION other FOR VALUES FROM (100) TO (1000)', 'SELECT', $workers) ],
			[ 300, 'other 67 t_a_0 33 t_p_b_0 33 t_p_b_other 67 t_p_c_0 33 t_p_c_other 67' ], 'a range of one below it');
		# rows of the same interval that it does not take need partitions, too
		is_deeply([ beside('CREATE TABLE other (k text, n int); ALTER TABLE t_a ATTACH PARTITION other FOR VALUES FROM (150) TO (180)', 'SELECT', $workers) ],
			[ 300, 'other 10 t_a_0 33 t_a_p100 6 t_a_p120 10 t_a_p180 10 t_a_p210 10 t_a_p240 10 t_a_p270 10 t_a_p300 1 t_p_b_0 33 t_p_b_other 10 t_p_b_p100 7 t_p_b_p120 10 t_p_b_p180 10 t_p_b_p210 10 t_p_b_p240 10 t_p_b_p270 10 t_p_c_0 33 t_p_c_other 10 t_p_c_p100 7 t_p_c_p120 10 t_p_c_p180 10 t_p_c_p210 10 t_p_c_p240 10 t_p_c_p270 10' ], 'a part of such a range');
		is_deeply([ beside("CREATE TABLE other (k text, n int); ALTER TABLE t ATTACH PARTITION other FOR VALUES IN ('b', 'c')", 'ROLLBACK; BEGIN', $workers) ],
			[ 300, 't_a_0 33 t_a_p100 33 t_a_p200 33 t_a_p300 1 t_p_b_0 33 t_p_b_p100 34 t_p_b_p200 33 t_p_c_0 33 t_p_c_p100 33 t_p_c_p200 34' ], '... unless it is rolled back');
	};

	subtest "$workers workers: what another session takes away is made" => sub {
		is_deeply([ beside('LOCK TABLE t IN SHARE UPDATE EXCLUSIVE MODE', 'ALTER TABLE t_a DETACH PARTITION t_a_0', $workers,
			'CREATE TABLE t_a_1 PARTITION OF t_a FOR VALUES FROM (100) TO (200)') ],
			[ 300, 't_a_1 33 t_a_p0 33 t_a_p200 33 t_a_p300 1 t_p_b_1 34 t_p_b_p0 33 t_p_b_p200 33 t_p_c_1 33 t_p_c_p0 33 t_p_c_p200 34' ], 'a range of the newest partition');
	};
}

subtest 'of two loads that make the same partitions the second waits, and then makes none' => sub {
	query($tree);
	close_gate();
	my $first = start_load($node, "BEGIN; SELECT fast_copy('t', '$file'); SELECT gate(7); COMMIT;\n");
	ok(at_gate($node), 'the first is done, but has not committed');
	my $second = start_load($node, "SELECT fast_copy('t', '$file', workers => 2);\n");
	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE relation = 't'::regclass AND NOT granted"), 'the second waits');
	is(query('SELECT count(*) FROM t'), 0, 'nobody who reads waits');
	is(query("INSERT INTO t VALUES ('a', 1); SELECT count(*) FROM t"), 1, '... or writes to what there is');
	open_gate();
	finish_load($first);
	my ($out, $err) = finish_load($second);
	is($out, 300, 'the second is done') or diag($err);
	unlike($err, qr/new partition/, '... and has made none');
	is(query('SELECT count(*) FROM t'), 601, 'all rows');
};

subtest 'loads into a table and into one of its partitions lock in the same order' => sub {
	my $deep = write_bytes('deep.csv', "a,1\na,150\n");
	query("$tree; DROP TABLE t_a_0; CREATE TABLE t_a_0 PARTITION OF t_a FOR VALUES FROM (0) TO (100) PARTITION BY LIST ((n % 2)); CREATE TABLE t_a_0_0 PARTITION OF t_a_0 FOR VALUES IN (0)");
	close_gate();
	my $other = start_load($node, "BEGIN; LOCK TABLE ONLY t_a IN SHARE UPDATE EXCLUSIVE MODE; SELECT gate(7); COMMIT;\n");
	ok(at_gate($node), 'another session has the partition');
	my @loads;
	foreach my $table ('t_a', 't')
	{
		push @loads, start_load($node, "SELECT fast_copy('$table', '$deep');\n");
		ok(wait_until($node, "SELECT count(*) = " . @loads . " FROM pg_locks WHERE relation = 't_a'::regclass AND NOT granted"), "a load of $table waits");
	}
	open_gate();
	finish_load($other);
	foreach my $load (@loads)
	{
		my ($out, $err) = finish_load($load);
		is($out, 2, 'it goes on') or diag($err);
	}
};

subtest 'nobody waits for long behind a load that waits for a default partition' => sub {
	query("$tree; CREATE TABLE t_rest PARTITION OF t DEFAULT");
	close_gate();
	my $other = start_load($node, "BEGIN; SELECT FROM t_rest; SELECT gate(7); COMMIT;\n");
	ok(at_gate($node), 'another session reads it');
	my $load = start_load($node, "SELECT fast_copy('t', '$file');\n");
	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE relation = 't_rest'::regclass AND NOT granted"), 'the load waits');
	is(query("SET statement_timeout = '30s'; SELECT count(*) FROM t"), 0, 'a third one does not');
	open_gate();
	finish_load($other);
	is((finish_load($load))[0], 300, 'the load goes on');
};

subtest 'a partition that is being detached is in the way' => sub {
	query("$tree; UPDATE pg_inherits SET inhdetachpending = true WHERE inhrelid = 't_a'::regclass");
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('t', '$file')");
	like($err, qr/partition "t_p_a" would overlap partition "t_a"\n.*HINT:  The latter is pending detach\. Wait until its DETACH is over, or finish it with/s, 'how to get it out of there');
};

subtest 'new partitions are in the tablespace of the table' => sub {
	query("SET allow_in_place_tablespaces = on;\nCREATE TABLESPACE elsewhere LOCATION ''");
	query("$tree; ALTER TABLE t SET TABLESPACE elsewhere");
	is(query("SELECT fast_copy('t', '$file'); SELECT string_agg(DISTINCT coalesce(spcname, 'none'), ' ') FROM pg_class LEFT JOIN pg_tablespace s ON s.oid = reltablespace WHERE relname ~ '^t_p_'"),
		"300\nelsewhere", 'at any depth');
};

subtest 'event triggers see what is made' => sub {
	query("$tree; CREATE TABLE seen (tag text, what text);
		CREATE FUNCTION sees() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.seen SELECT command_tag, object_identity FROM pg_event_trigger_ddl_commands(); END';
		CREATE EVENT TRIGGER sees ON ddl_command_end EXECUTE FUNCTION sees()");
	is(query("SELECT fast_copy('t', '$file'); SELECT string_agg(format('%s %s', tag, what), ', ') FROM seen WHERE what ~ 't_p_b'; SELECT count(*) FROM seen WHERE tag = 'ALTER TABLE'"),
		"300\nCREATE TABLE public.t_p_b, CREATE TABLE public.t_p_b_0, CREATE TABLE public.t_p_b_p100, CREATE TABLE public.t_p_b_p200\n5", 'each command');
	query("$tree; CREATE OR REPLACE FUNCTION sees() RETURNS event_trigger LANGUAGE plpgsql AS
		'BEGIN IF tg_tag = ''CREATE TABLE'' AND to_regclass(''public.t_p_b'') IS NOT NULL THEN ALTER TABLE public.t_p_b RENAME TO renamed; END IF; END'");
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('t', '$file')");
	like($err, qr/could not find the table "t_p_b" just created/, 'a table that an event trigger renames');
	query("CREATE OR REPLACE FUNCTION sees() RETURNS event_trigger LANGUAGE plpgsql AS
		'BEGIN IF tg_tag = ''ALTER TABLE'' AND to_regclass(''public.t_p_b'') IS NOT NULL THEN INSERT INTO public.t VALUES (''b'', 1); END IF; END'");
	($rc, $out, $err) = $node->psql('postgres', "SELECT fast_copy('t', '$file')");
	is($out . '|' . query($leaves), '300|t_a_0 33 t_a_p100 33 t_a_p200 33 t_a_p300 1 t_p_b_0 38 t_p_b_p100 34 t_p_b_p200 33 t_p_c_0 33 t_p_c_p100 33 t_p_c_p200 34', 'one that writes to the table meanwhile') or diag($err);
	query('DROP EVENT TRIGGER sees');
};

done_testing();
