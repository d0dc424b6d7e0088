# Rows of a day that a load replaces or merges, or that are moved, beside readers and
# writers, before crashes and on standbys: what 043_replace.pl, 046_merge.pl and
# 053_drain.pl share.

package Beside;

use strict;
use warnings;
use Exporter 'import';
use FastCopy;
use IPC::Run;
use Test::More;

our @EXPORT = qw($node $file $again $day $done $carried $verbose begin way prepare ready counts paused waits ends crashed
  readers others snapshot session_at_work lock_timeout at_each_wal_level standby);

our ($node, $file, $again, $done, $carried);
our $day = "ts >= '2013-01-03' AND ts < '2013-01-04'";
our $verbose = "\\set VERBOSITY verbose\n";
my ($load, $how, $counted, $make);
# where the rows of the day are
my $leaf = 't_p20130103';

# Options of the load, what tells of its way, what it tells without rows of others
# and with them, and what is counted besides; returns the load
sub begin
{
	my ($options, @more) = @_;

	$node = new_node('main', { allows_streaming => 1 }, 'wal_level = logical', 'fast_copy.logical_standbys = off', 'restart_after_crash = on', 'wal_consistency_checking = all', 'max_prepared_transactions = 5');
	$file = write_bytes('rows.csv', join('', map { sprintf "%d,2013-01-%02d %02d:%02d:00,row %d\n", $_, $_ % 5 + 1, $_ % 24, $_ % 60, $_ } 1 .. 3000));
	# of the third day, 200 of whose rows have the same time and number
	$again = write_bytes('again.csv', join('', map { sprintf "%d,2013-01-03 %02d:%02d:00,again %d\n", $_, $_ % 24, $_ % 60, $_ } 1 .. 1000));
	$node->safe_psql('postgres', 'CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility');
	gates($node);
	return way("SELECT fast_copy('t', '$again', workers => 2, options => '{$options}')", @more);
}

# From now on this is the load, of which begin() tells the rest.  What makes its table,
# and the table that has the day's rows, are the same as before if they are left out.
sub way
{
	($load, $how, $done, $carried, $counted, my ($maker, $table)) = @_;
	($make, $leaf) = ($maker // $make, $table // $leaf);
	return $load;
}

# A fresh table: 600 rows a day, and an index
sub prepare
{
	ready();
	close_gate();
}

# ... whose loads do not wait
sub ready
{
	open_gate();
	return $make->() if $make;
	events($node, 't', ', CHECK (gate(n))');
	$node->safe_psql('postgres', "CREATE INDEX ON t (n); SELECT fast_copy('t', '$file'); VACUUM ANALYZE t");
}

# The number that the load returns
sub number { return $done =~ s/\n.*//sr }

# Rows: all, of the day, of the file
sub counts { return $_[0]->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE $day), count(*) FILTER (WHERE v LIKE 'again%')$counted FROM t") }

sub paused
{
	my $paused = start_load($node, ($_[0] // '') . "$load;\n$how;\n");

	ok(at_gate($node), 'the load is at the gate');
	return $paused;
}

# Somebody waits for a lock on the day, or on another table
sub waits
{
	my ($what, $mode, $table) = ($_[0], $_[1] // '', $_[2] // $leaf);

	ok(wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE relation = '$table'::regclass AND mode ~ '$mode' AND NOT granted"), $what);
}

# The load goes on; it must end so
sub ends
{
	my ($paused, $wanted, $counts) = @_;

	open_gate();
	my ($out, $err) = finish_load($paused);
	is($out, $wanted, 'the load is done') if $wanted !~ /40001|55P03/;
	like($err, qr/$wanted/, 'the load fails') if $wanted =~ /40001|55P03/;
	is(counts($node), $counts, 'rows: all, of the day, of the file');
	is_sound($node, 'afterwards');
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'fast_copy %'"), 0, 'nothing is left');
}

# The server crashes, and has these rows; "sql" is done before they are counted
sub crashed
{
	my ($counts, $what, $sql) = ($_[0], $_[1] // 'after a crash', $_[2]);

	$node->stop('immediate');
	$node->start;
	$node->safe_psql('postgres', $sql) if $sql;
	is(counts($node), $counts, $what);
	is_sound($node, $what);
}

# Four of pgbench read by each protocol while the day is loaded again and again
sub readers
{
	my ($what, $script, $times, $counts) = @_;

	foreach my $protocol (qw(simple extended prepared))
	{
		subtest "readers by the $protocol protocol $what" => sub {
			ready();
			$node->safe_psql('postgres', "CREATE OR REPLACE FUNCTION of_day() RETURNS bigint LANGUAGE sql STABLE AS \$\$SELECT count(*) FROM t WHERE $day\$\$");
			my $path = write_bytes('readers.sql', $script);
			my ($out, $err) = ('', '');
			my $readers = IPC::Run::start([ 'pgbench', '-n', '-M', $protocol, '-c', 4, '-T', $times / 2, '-f', $path, $node->connstr('postgres') ], '>', \$out, '2>', \$err);

			ok(wait_until($node, "SELECT count(*) >= 4 FROM pg_stat_activity WHERE query ~ '1 / ' AND pid <> pg_backend_pid()"), 'they read');
			$node->safe_psql('postgres', "SET plan_cache_mode = force_generic_plan; $load; $load") foreach 1 .. $times;
			ok($readers->finish, 'none has failed') or diag($err);
			cmp_ok($out =~ /transactions actually processed: (\d+)/ ? $1 : 0, '>', 100, 'they have read often');
			is(counts($node), $counts, 'the rows');
		};
	}
}

# What another session does while the load stands at the gate: how the load ends, and
# the rows.  Rows of number 7 would wait there, too.
sub others
{
	foreach my $case (@_)
	{
		my ($what, $sql, $wanted, $counts) = @$case;

		foreach my $isolation ('read committed', 'repeatable read')
		{
			subtest "another session $what, $isolation" => sub {
				prepare();
				my $paused = paused($verbose . "SET default_transaction_isolation = '$isolation';\n");
				$node->safe_psql('postgres', $sql);
				ends($paused, $wanted, $counts);
			};
		}
	}
}

sub snapshot
{
	my ($of_day) = @_;

	subtest 'a transaction with an older snapshot reads the new rows, and not none' => sub {
		ready();
		my $reader = $node->background_psql('postgres');
		$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
		is($reader->query_safe('SELECT count(*) FROM pg_class WHERE false'), 0, 'a snapshot');
		is($node->safe_psql('postgres', $load), number(), 'rows are loaded');
		is($reader->query_safe("SELECT count(*) FROM t WHERE $day"), $of_day, 'new rows');
		is($reader->query_safe("SELECT count(*) FROM t WHERE ts < '2013-01-03'"), 1200, 'old rows of other days');
		$reader->query_safe('COMMIT');
		$reader->quit;
	};
}

# ... in the table, or in one of its partitions, and for which the load waits
sub session_at_work
{
	my ($counts, $table, $awaited) = ($_[0], $_[1] // 't', $_[2]);

	subtest "the load waits for a session at work in $table, and lets others read" => sub {
		ready();
		my $writer = $node->background_psql('postgres');
		$writer->query_safe('BEGIN');
		$writer->query_safe("INSERT INTO $table VALUES (7000, '2013-01-03 12:00', 'late')");
		my $waiting = start_load($node, "$load;\n$how;\n");
		waits('the load waits', '', $awaited);
		is($node->safe_psql('postgres', 'SELECT phase FROM fast_copy_progress'), 'replace', 'others see what it is at');
		is($node->safe_psql('postgres', "SET lock_timeout = '10s'; SELECT count(*) FROM t WHERE $day"), 600, 'others read in between');
		$writer->query_safe('COMMIT');
		$writer->quit;
		ends($waiting, $carried, $counts);
	};
}

# ... for the last lock, or the first, which another session has in this mode
sub lock_timeout
{
	my ($counts, $mode) = @_;

	subtest 'lock_timeout ends the wait for ' . ($mode ? 'the first lock' : 'the last one') => sub {
		ready();
		my $reader = $node->background_psql('postgres');
		$reader->query_safe('BEGIN');
		is($reader->query_safe("SELECT count(*) FROM t WHERE $day"), 600, 'a transaction has read');
		$reader->query_safe("LOCK TABLE $leaf IN $mode MODE") if $mode;
		my ($rc, $out, $err) = $node->psql('postgres', $verbose . "SET lock_timeout = '300ms'; $load");
		like($err, qr/55P03: canceling statement due to lock timeout/, 'the load fails');
		is($reader->query_safe("SELECT count(*) FROM t WHERE $day"), 600, 'with the old rows');
		$reader->quit;
		is(counts($node), $counts, 'nothing is loaded');
		is($node->safe_psql('postgres', "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'fast_copy %'"), 0, 'nothing is left');
		is(scalar(spill_files($node)), 0, 'no spill file either');
	};
}

# A load, two in a transaction of which one is rolled back, one that is rolled back
# and one that is prepared; "more" comes after them.  "between" comes before the one
# that is rolled back; "number" is what these two return.
sub at_each_wal_level
{
	my %o = @_;

	my $between = $o{between} // "DELETE FROM t WHERE n > 500 AND $day";

	foreach my $level (@{ $o{levels} // [qw(logical minimal)] })
	{
		subtest "wal_level = $level: crashes, transactions and savepoints" => sub {
			$node->append_conf('postgresql.conf', "wal_level = $level\nmax_wal_senders = " . ($level eq 'minimal' ? 0 : 5));
			$node->restart;
			ready();
			is($node->safe_psql('postgres', "$load; $how"), $done, 'loaded');
			crashed($o{once});
			is($node->safe_psql('postgres', "BEGIN; $o{changes}; $load; SAVEPOINT s; $between; $load; ROLLBACK TO s;
				INSERT INTO t VALUES (7000, '2013-01-03'); SELECT count(*) FROM t WHERE $day; COMMIT"), join("\n", (map { $o{number} // number() } 1, 2), $o{of_day}), 'two in a transaction, of which one is rolled back');
			crashed($o{twice});
			$node->safe_psql('postgres', "BEGIN; $o{undone}; ROLLBACK");
			is(counts($node), $o{twice}, 'after ROLLBACK');
			$node->safe_psql('postgres', "BEGIN; $o{prepared}; PREPARE TRANSACTION 'p'");
			crashed($o{at_last}, 'after COMMIT PREPARED', "COMMIT PREPARED 'p'");
			$o{more}->() if $o{more};
		};
	}
}

# "there" is a query by the index, and "more" what becomes of the standby.  A reader
# there has a snapshot; and read the table, unless the load locks it against all.
sub standby
{
	my ($counts, $of_day, $there, $more, $locks) = @_;

	subtest 'a standby has the new rows, and nothing else' => sub {
		$node->append_conf('postgresql.conf', "wal_level = logical\nmax_wal_senders = 5");
		$node->restart;
		ready();
		my $standby = new_standby($node);
		$node->wait_for_catchup($standby);
		my $reader = $standby->background_psql('postgres');
		$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ');
		is($reader->query_safe($locks ? 'SELECT 600 FROM pg_class LIMIT 1' : "SELECT count(*) FROM t WHERE ts < '2013-01-02'"), 600, 'a reader there');
		is($node->safe_psql('postgres', "$load; $how"), $done, 'loaded');
		$node->wait_for_catchup($standby);
		is($reader->query_safe("SELECT count(*) FROM t WHERE $day"), $of_day, 'it sees the new rows, and not none');
		$reader->quit;
		is(counts($standby), $counts, 'and others do');
		my $rows = $node->safe_psql('postgres', $there);
		cmp_ok($rows, '>', 0, 'there are some of a number');
		is($standby->safe_psql('postgres', "SET enable_seqscan = off; $there"), $rows, 'by an index, too');
		$more->($standby) if $more;
		$standby->stop;
	};
}

1;
