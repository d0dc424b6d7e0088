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
	my $what = "$type killed in phase $phase";

	close_gate();
	events($node, 't', $check);
	$node->safe_psql('postgres', $index) if $index;
	my $load = start_load($node, "SET application_name = 'load'; SELECT fast_copy('t', '$file', workers => 2);\n");
	ok(at_gate($node), "$what: at the gate");
	my $pid = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity
		WHERE backend_type = '$type' AND application_name = 'load'
		ORDER BY wait_event = 'PgSleep' DESC LIMIT 1");
	cmp_ok($pid, '>', 0, "$what: found it");
	kill 'KILL', $pid;
	my (undef, $err) = finish_load($load);
	like($err, qr/crash of another server process|server closed|terminat/, "$what: the session is gone");
	ok(wait_until($node, 'SELECT true'), "$what: the server is back");
	is_clean($node, 't', $what);
	open_gate();
	is($node->safe_psql('postgres', "SELECT fast_copy('t', '$file', workers => 2)"), 20000, "$what: the load works");
}

# The whole server stopped at once in the middle of a load.
close_gate();
events($node, 't', ', CHECK (gate(7))');
my $load = start_load($node, "SELECT fast_copy('t', '$file', workers => 2);\n");
ok(at_gate($node), 'immediate stop: at the gate');
$node->stop('immediate');
finish_load($load);
$node->start;
is_clean($node, 't', 'immediate stop');
open_gate();
is($node->safe_psql('postgres', "SELECT fast_copy('t', '$file', workers => 2)"), 20000, 'immediate stop: the load works');

# And right after commit: every row is there.
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', 'SELECT count(*), sum(n) FROM t'), '20000|200010000', 'rows survive a crash after commit');

# Numbers of a sequence that a committed row has are not given again: neither
# those of a load that ended, nor those taken while one was under way.
sub numbers
{
	return $node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id), (SELECT last_value FROM t_id_seq) >= max(id) FROM t');
}

events($node, 't', ', id serial');
my $columns = "columns => '{n,ts,v}'";
is($node->safe_psql('postgres', "CHECKPOINT; SELECT fast_copy('t', '$file', $columns, workers => 2)"), 20000, 'numbers: loaded');
is(numbers(), '20000|20000|t', 'numbers: one for each row');
$node->stop('immediate');
$node->start;
is(numbers(), '20000|20000|t', 'numbers: the sequence is where it was');
$node->safe_psql('postgres', "INSERT INTO t (n, ts) VALUES (0, '2013-01-01')");
is(numbers(), '20001|20001|t', 'numbers: nextval goes on');

close_gate();
$node->safe_psql('postgres', "CHECKPOINT; ALTER TABLE t ADD CHECK (gate(n)) NOT VALID");
$load = start_load($node, "SELECT fast_copy('t', '$file', $columns, workers => 2);\n");
ok(at_gate($node), 'numbers of a load that dies: at the gate');
is($node->safe_psql('postgres', "INSERT INTO t (n, ts) VALUES (0, '2013-01-01') RETURNING id > 40000"), 't',
	'numbers of a load that dies: others go on behind them');
$node->stop('immediate');
finish_load($load);
$node->start;
is(numbers(), '20002|20002|t', 'numbers of a load that dies: those of others stay taken');
open_gate();
is($node->safe_psql('postgres', "SELECT fast_copy('t', '$file', $columns, workers => 2)"), 20000, 'numbers of a load that dies: the next one');
is(numbers(), '40002|40002|t', 'numbers of a load that dies: none given twice');

$node->stop;
done_testing();
