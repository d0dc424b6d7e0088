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

$node->stop;
done_testing();
