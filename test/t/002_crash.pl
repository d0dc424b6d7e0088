# A worker or the leader killed in the middle of a load: after recovery there
# is nothing of it, and the load works.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', {}, 'restart_after_crash = on');
my $file = write_rows('rows.csv', 20000);

gates($node);
foreach my $case (
	[ 'load', 'parallel worker', ', CHECK (gate(7))', '' ],
	[ 'load', 'client backend', ', CHECK (gate(7))', '' ],
	[ 'index', 'parallel worker', '', 'CREATE INDEX ON t (as_index(n * 0 + 7))' ])
{
	my ($phase, $type, $check, $index) = @$case;

	subtest "$type killed in phase $phase: the server comes back, with nothing of the load" => sub {
		close_gate();
		events($node, 't', $check);
		$node->safe_psql('postgres', $index) if $index;
		my $load = start_load($node, "SET application_name = 'load'; SELECT fast_copy('t', '$file', workers => 2);\n");
		ok(at_gate($node), 'at the gate');
		my $pid = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity
			WHERE backend_type = '$type' AND application_name = 'load'
			ORDER BY wait_event = 'PgSleep' DESC LIMIT 1");
		cmp_ok($pid, '>', 0, 'found it');
		kill_hard($pid);
		my (undef, $err) = finish_load($load);
		like($err, qr/crash of another server process|server closed|terminat/, 'the session is gone');
		ok(wait_until($node, 'SELECT true'), 'the server is back');
		is_clean($node, 't', 'killed');
		open_gate();
		is($node->safe_psql('postgres', "SELECT fast_copy('t', '$file', workers => 2)"), 20000, 'the load works');
	};
}

subtest 'a server that stops in the middle of a load comes back with nothing of it' => sub {
	close_gate();
	events($node, 't', ', CHECK (gate(7))');
	my $load = start_load($node, "SELECT fast_copy('t', '$file', workers => 2);\n");
	ok(at_gate($node), 'at the gate');
	$node->stop('immediate');
	finish_load($load);
	$node->start;
	is_clean($node, 't', 'immediate stop');
	open_gate();
	is($node->safe_psql('postgres', "SELECT fast_copy('t', '$file', workers => 2)"), 20000, 'the load works');
};

subtest 'a server that crashes right after commit comes back with every row' => sub {
	$node->stop('immediate');
	$node->start;
	is($node->safe_psql('postgres', 'SELECT count(*), sum(n) FROM t'), '20000|200010000', 'all rows');
};

# Numbers of a sequence that a committed row has are not given again: neither
# those of a load that ended, nor those taken while one was under way.
sub numbers
{
	return $node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id), (SELECT last_value FROM t_id_seq) >= max(id) FROM t');
}

my $columns = "columns => '{n,ts,v}'";

subtest 'numbers of rows are not given again after a crash' => sub {
	events($node, 't', ', id serial');
	is($node->safe_psql('postgres', "CHECKPOINT; SELECT fast_copy('t', '$file', $columns, workers => 2)"), 20000, 'loaded');
	is(numbers(), '20000|20000|t', 'one for each row');
	$node->stop('immediate');
	$node->start;
	is(numbers(), '20000|20000|t', 'the sequence is where it was');
	$node->safe_psql('postgres', "INSERT INTO t (n, ts) VALUES (0, '2013-01-01')");
	is(numbers(), '20001|20001|t', 'nextval goes on');
};

subtest 'numbers that others took during a load that dies stay taken' => sub {
	close_gate();
	$node->safe_psql('postgres', "CHECKPOINT; ALTER TABLE t ADD CHECK (gate(n)) NOT VALID");
	my $load = start_load($node, "SELECT fast_copy('t', '$file', $columns, workers => 2);\n");
	ok(at_gate($node), 'at the gate');
	is($node->safe_psql('postgres', "INSERT INTO t (n, ts) VALUES (0, '2013-01-01') RETURNING id > 40000"), 't',
		'others go on after them');
	$node->stop('immediate');
	finish_load($load);
	$node->start;
	is(numbers(), '20002|20002|t', 'those of others stay taken');
	open_gate();
	is($node->safe_psql('postgres', "SELECT fast_copy('t', '$file', $columns, workers => 2)"), 20000, 'the next load');
	is(numbers(), '40002|40002|t', 'none is given twice');
};

$node->stop;
done_testing();
