# What others do in a transaction that has sent rows to another server: loads that
# begin while it commits, and descriptors that nobody has left.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use Test::More;

my $node = new_node('main', {}, 'max_prepared_transactions = 10', 'max_files_per_process = 64');
needs($node, 'postgres_fdw');
my $file = write_bytes('rows.csv', join('', map { "$_,x\n" } 1 .. 10));
my $there = "host '" . $node->host . "', port '" . $node->port . "', dbname 'there'";

$node->safe_psql('postgres', 'CREATE DATABASE there');
$node->safe_psql('there', 'CREATE TABLE r (n int, v text); CREATE TABLE once (n int, v text, UNIQUE (n) DEFERRABLE INITIALLY DEFERRED)');
$node->safe_psql('postgres', "CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster; CREATE TABLE here (n int);
	CREATE SERVER there FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($there); CREATE USER MAPPING FOR CURRENT_USER SERVER there;
	CREATE FOREIGN TABLE t (n int, v text) SERVER there OPTIONS (table_name 'r');
	CREATE FOREIGN TABLE once (n int, v text) SERVER there OPTIONS (table_name 'once')");

my $REFUSED = qr/ERROR:  25000: cannot send rows to other servers while the transaction commits\nDETAIL:  The servers have been told to commit what came before\./;

# The callback that was registered last is called first
subtest 'a load before a commit, once ours are told to' => \&after_ours;
subtest 'a load before a commit, before ours are told to' => \&before_ours;
subtest 'a load before a commit, of which we are not told' => \&not_told;
subtest 'a load before PREPARE TRANSACTION' => \&prepared;
subtest 'a savepoint without descriptors' => \&descriptors;
$node->stop;
done_testing();

sub load { my ($table) = @_; return "SELECT fast_copy('$table', '$file', log_verbosity => 'silent'); " }

# A transaction before whose commit the other extension runs this.  It is one command,
# because core's assertions do not let a subtransaction be rolled back within COMMIT.
sub commits_with
{
	my ($sql, $first) = @_;

	$first = ($first // '') =~ s/SELECT/PERFORM/gr;
	return "DO \$do\$ BEGIN INSERT INTO here VALUES (1); $first PERFORM set_config('fc_watch.commit', \$\$$sql\$\$, true); END \$do\$; ";
}

# Messages of a session
sub session
{
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n@_", on_error_stop => 0);

	return $err =~ s/^psql:<stdin>:\d+: //mgr =~ s/^LOCATION:[^\n]*\n?//mgr;
}

# Rows here and there, which are none from then on
sub rows
{
	my $here = $node->safe_psql('postgres', 'SELECT count(*) FROM here; TRUNCATE here');

	return "$here, " . $node->safe_psql('there', 'SELECT (SELECT count(*) FROM r) + (SELECT count(*) FROM once); TRUNCATE r, once');
}

sub after_ours
{
	like(session("LOAD 'fc_watch';", load('t'), commits_with(load('t'))), $REFUSED, 'refused');
	is(rows(), '0, 10', '... and nothing is committed but what was before');
	like(session("LOAD 'fc_watch';", load('t'), commits_with(load('t'), load('t'))), $REFUSED, 'refused where rows were sent before');
	is(rows(), '0, 10', '... and these are rolled back');
	like(session("LOAD 'fc_watch'; LOAD 'fast_copy_cluster';", commits_with(load('t'))), $REFUSED, 'refused as the first load of a session');
	is(rows(), '0, 0', '... and nothing is committed');
	like(session("LOAD 'fc_watch';", load('t'), commits_with(load('t')), load('t')), $REFUSED, 'the session goes on');
	is(rows(), '0, 20', '... and sends rows');
}

sub before_ours
{
	is(session(load('t'), "LOAD 'fc_watch';", commits_with(load('t'))), '', 'taken');
	is(rows(), '1, 20', '... and committed');
	is(session("LOAD 'fast_copy_cluster'; LOAD 'fc_watch';", commits_with(load('t'))), '', 'taken as the first load of a session');
	is(rows(), '1, 10', '... and committed');
}

sub not_told
{
	is(session("LOAD 'fc_watch';", commits_with(load('t') x 2), load('t')), '', 'taken');
	is(rows(), '1, 30', '... and committed');
	is(session("LOAD 'fc_watch';", commits_with(load('once') x 2)), "WARNING:  08006: could not commit what was sent to server \"there\"\nDETAIL:  It was sent when the end of the transaction had begun.\n", 'a WARNING if the server does not commit');
	is(rows(), '1, 0', '... and its rows are not there');
}

sub prepared
{
	my $prepares = 'BEGIN; INSERT INTO here VALUES (1); SET LOCAL fc_watch.commit = $$' . load('t') . "\$\$; PREPARE TRANSACTION 'x'; ";

  SKIP:
	{
		skip 'core asserts that this is not done', 1 if $node->safe_psql('postgres', 'SHOW debug_assertions') eq 'on';
		like(session("LOAD 'fc_watch';", load('t'), $prepares), $REFUSED, 'refused, once ours was called');
	}
	like(session(load('t'), "LOAD 'fc_watch';", $prepares), qr/ERROR:  0A000: cannot PREPARE a transaction that has sent rows to other servers/, 'refused, before ours is');
	like(rows(), qr/^0, [12]0$/, '... and nothing is committed');
	is(session("LOAD 'fc_watch';", $prepares, load('t'), "COMMIT PREPARED 'x';"), "WARNING:  08006: could not commit what was sent to server \"there\"\nDETAIL:  It was sent when the end of the transaction had begun.\n", 'a WARNING if ours is not called');
	is(rows(), '1, 10', '... and the next transaction is one of its own');
}

sub descriptors
{
	$node->safe_psql('postgres', "CREATE FUNCTION fc_watch_take_descriptors() RETURNS int AS 'fc_watch' LANGUAGE C");
	my ($rc, $out, $err) = $node->psql('postgres', 'BEGIN; INSERT INTO here VALUES (1);' . load('t') . 'SAVEPOINT s;' . load('t') . "
		SELECT 'taken: ' || (fc_watch_take_descriptors() > 0); ROLLBACK TO s; SELECT 'goes on'; COMMIT");

	like($out, qr/^taken: true$/m, 'no descriptor is left');
	like($out, qr/^goes on$/m, 'the savepoint is rolled back');
	like($err, qr/ERROR:  cannot commit what was sent to server "there"/, '... and the transaction is, at its end');
	is(rows(), '0, 0', 'nothing is committed');
}
