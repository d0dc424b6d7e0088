# pg_partman's maintenance beside loads into the sets that it keeps.
#
# Maintenance and loads share an advisory lock: one that maintenance only
# tries, and a load that makes partitions waits for.  Here each of the two
# stands still while the other one comes.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

# nobody waits for ever
my $node = new_node('main', {}, "timezone = 'UTC'", "lock_timeout = '20s'", "statement_timeout = '60s'");
needs($node, 'pg_partman');
$node->safe_psql('postgres', 'CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman');
gates($node);
my $v4 = query("SELECT extversion LIKE '4.%' FROM pg_extension WHERE extname = 'pg_partman'") eq 't';
my $LOCK = "hashtext('pg_partman run_maintenance')";
my $MAINTAIN = "SELECT partman.run_maintenance('public.t')";

subtest 'maintenance leaves at once where it meets a load' => \&maintenance_meets_a_load;
subtest 'partitions that maintenance makes during the scan are used' => \&maintenance_makes_what_a_scan_missed;
subtest 'a load waits for maintenance with nothing in hand' => \&a_load_waits_for_maintenance;
subtest 'a stream is read once by a load that begins anew' => \&a_stream_is_read_once;
subtest 'a stream that was given up fails the load that begins anew' => \&a_stream_given_up;
subtest 'maintenance drops partitions while a load waits' => \&maintenance_drops_while_a_load_waits;
subtest 'a load that gives up waiting leaves nothing' => \&a_load_gives_up;
subtest 'a load makes what maintenance that died had made' => \&maintenance_dies;
subtest 'loads keep maintenance away, but not each other' => \&loads_of_two_sets;
$node->stop;
done_testing();

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# Sets with a partition for each of the days -3 to +3, and rows in a file that
# belong to the days from ... to; n counts them.
sub keep
{
	foreach my $name (@_)
	{
		my ($type, $width) = $v4 ? ('native', 'daily') : ('range', '1 day');

		query("DROP TABLE IF EXISTS $name CASCADE; DELETE FROM partman.part_config WHERE parent_table = 'public.$name';
			CREATE TABLE $name (n int, ts timestamptz NOT NULL, v text, CHECK (gate(n))) PARTITION BY RANGE (ts);
			SELECT partman.create_parent(p_parent_table => 'public.$name', p_control => 'ts', p_type => '$type',
				p_interval => '$width', p_premake => 3);
			INSERT INTO $name SELECT 100000, current_date, 'live'");
	}
}

sub days
{
	my ($name, $from, $to, $n) = @_;

	return write_bytes($name, query("SELECT string_agg(format('%s,%s 12:00,day %s', d - ($from) + $n, current_date + d, d), E'\\n' ORDER BY d)
		FROM generate_series($from, $to) AS d") . "\n");
}

# Days that have a partition, and whether each has one of its own name and place
sub partitions
{
	my ($name) = @_;

	return query("SELECT string_agg((lo::date - current_date)::text, ' ' ORDER BY lo)
		|| CASE WHEN bool_and(relname = '$name' || to_char(lo, '" . ($v4 ? '"_p"YYYY_MM_DD' : '"_p"YYYYMMDD') . "')
			AND hi = lo + interval '1 day') THEN '' ELSE ' misnamed' END
		FROM (SELECT relname, (regexp_match(bound, 'FROM \\(''(.*?)''\\)'))[1]::timestamptz AS lo, (regexp_match(bound, 'TO \\(''(.*?)''\\)'))[1]::timestamptz AS hi
			FROM (SELECT relname, pg_get_expr(relpartbound, c.oid) AS bound FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
				WHERE inhparent = '$name'::regclass) AS x WHERE bound <> 'DEFAULT') AS y");
}

sub is_whole
{
	my ($name, $days, $rows, $what) = @_;

	is(partitions($name), $days, "$what: partitions");
	my ($all, $default, $beside, $shown) = split /\|/, query("SELECT (SELECT count(*) FROM $name), (SELECT count(*) FROM ONLY ${name}_default),
		(SELECT count(*) FROM pg_class WHERE relname LIKE '${name}\\_p%' AND NOT relispartition AND relkind = 'r'),
		(SELECT count(*) FROM partman.show_partitions('public.$name'))");
	is($all, $rows, "$what: rows");
	is($default, 0, "$what: none in the default partition");
	is($beside, 0, "$what: no table beside the set");
	is($shown, scalar(() = $days =~ /\S+/g), "$what: show_partitions()");
}

# More days ahead are wanted: what the next maintenance makes of it
sub next_maintenance
{
	my ($name, $days, $rows, $what) = @_;

	query("UPDATE partman.part_config SET premake = 5 WHERE parent_table = 'public.$name'");
	query("SELECT partman.run_maintenance('public.$name')");
	is_whole($name, $days, $rows, "$what, the next maintenance");
}

sub waits
{
	return wait_until($node, "SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
}

# A load holds the lock, while it loads: maintenance leaves at once.
sub maintenance_meets_a_load
{
	keep('t');
	my $file = days('meets.csv', -9, -4, 10);
	foreach my $call ('SELECT partman.run_maintenance()', $MAINTAIN, 'CALL partman.run_maintenance_proc()')
	{
		close_gate();
		my $load = start_load($node, "BEGIN; SELECT fast_copy('t', '$file', workers => 0); SELECT gate(7); ROLLBACK;\n");
		ok(at_gate($node), "$call: the load is at the gate");
		query('UPDATE partman.part_config SET premake = 5');
		query("SET lock_timeout = '5s'; $call");
		is(query("SELECT count(*) FROM pg_class WHERE relname LIKE 't\\_p%'"), 7, "$call: nothing is made");
		open_gate();
		my ($out, $err) = finish_load($load);
		like($out, qr/^6\n/, "$call: the load goes on") or diag($err);
		query('UPDATE partman.part_config SET premake = 3');
	}
	is(query("SELECT fast_copy('t', '$file')"), 6, 'loaded');
	is_whole('t', join(' ', -9 .. 3), 7, 'a load');
	next_maintenance('t', join(' ', -9 .. 5), 7, 'a load');
}

# It comes and goes while the load looks at its file, and makes partitions that
# the load needs.
sub maintenance_makes_what_a_scan_missed
{
	# a function that might do anything makes the load look at the partitions first
	foreach my $where ('gate(n - 3)', 'as_index(n - 3) > 0')
	{
		my $workers = $where =~ /^gate/ ? 0 : 2;
		my $what = "maintenance during the scan, $where";

		keep('t');
		my $file = days('scan.csv', -5, 3, 10);
		foreach my $d (2, 3)
		{
			query(query("SELECT 'DROP TABLE ' || inhrelid::regclass FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
				WHERE inhparent = 't'::regclass AND pg_get_expr(relpartbound, c.oid) LIKE '%FROM (''' || current_date + $d || '%'"));
		}
		close_gate();
		# the scan looks at the condition: of the first row
		my $load = start_load($node, "SET fast_copy.spill = rows; SELECT fast_copy('t', '$file', workers => $workers, where_clause => '$where');\n");
		ok(at_gate($node), "$what: at the gate");
		query($MAINTAIN);
		is(partitions('t'), join(' ', -3 .. 3), "$what: maintenance has made partitions");
		open_gate();
		my ($out, $err) = finish_load($load);
		is($out, 9, "$what: loaded") or diag($err);
		is_whole('t', join(' ', -5 .. 3), 10, $what);
		# it counts from the latest rows
		next_maintenance('t', join(' ', -5 .. 8), 10, $what);
	}
}

# Maintenance holds the lock and has made partitions, which are not committed.
sub a_load_waits_for_maintenance
{
	my %hold = (
		'run_maintenance()' => "BEGIN; $MAINTAIN; SELECT gate(7); COMMIT;\n",
		'run_maintenance_proc()' => "SELECT pg_advisory_lock($LOCK); CALL partman.run_maintenance_proc(); SELECT gate(7); SELECT pg_advisory_unlock($LOCK);\n");

	foreach my $name (sort keys %hold)
	{
		foreach my $workers (0, 2)
		{
			my $what = "a load waits for $name, $workers workers";

			keep('t');
			my $file = days('waits.csv', -6, 5, 10);
			query("UPDATE partman.part_config SET premake = 5");
			close_gate();
			my $maintenance = start_load($node, $hold{$name});
			ok(at_gate($node), "$what: maintenance is at the gate");
			my $load = start_load($node, "SET fast_copy.ignore_premake = on; SELECT fast_copy('t', '$file', workers => $workers);\n");
			ok(waits(), "$what: it waits");
			is(query('SELECT count(*) FROM fast_copy_progress'), 0, "$what: with nothing in hand");
			open_gate();
			my ($out, $err) = finish_load($load);
			is($out, 12, "$what: loaded") or diag($err);
			($out, $err) = finish_load($maintenance);
			unlike($err, qr/ERROR/, "$what: maintenance has ended well");
			is_whole('t', join(' ', -6 .. 5), 13, $what);
		}
	}
}

# What a program prints, or a client sends, is there for the load that begins anew.
sub a_stream_is_read_once
{
	my $runs = write_bytes('runs', '');
	my %load = (
		'a program' => "SELECT fast_copy('t', 'echo run >>$runs; gzip -c FILE', program => true, workers => 2);",
		'a program, scanned meanwhile' => "SELECT fast_copy('t', 'echo run >>$runs; cat FILE', program => true, workers => 2);",
		'a client' => "SELECT FROM fast_copy_report();\n\\copy t from program 'echo run >>$runs; cat FILE' with (format csv, fast_copy, workers 2)");

	chmod 0666, $runs;
	foreach my $what (sort keys %load)
	{
		keep('t');
		my $file = days('waits.csv', -6, 5, 10);
		query("UPDATE partman.part_config SET premake = 5");
		write_bytes('runs', '');
		close_gate();
		my $maintenance = start_load($node, "BEGIN; $MAINTAIN; SELECT gate(7); COMMIT;\n");
		ok(at_gate($node), "$what: maintenance is at the gate");
		my $load = start_load($node, "SET fast_copy.ignore_premake = on; " . $load{$what} =~ s/FILE/$file/r . "\n");
		ok(waits(), "$what: the load waits");
		open_gate();
		my ($out, $err) = finish_load($load);
		like(unsaid($err), qr/\A\S* ?NOTICE:  fast_copy waits for the maintenance of pg_partman\nDETAIL:  .*\n\z/, "$what: loaded") or diag($out);
		finish_load($maintenance);
		is_whole('t', join(' ', -6 .. 5), 13, $what);
		is(-s $runs, 4, "$what: read once");
	}
}

# A program's failure is told after its rows are loaded: by the load that begins
# anew, too.
sub a_stream_given_up
{
	foreach my $workers (0, 2)
	{
		my $what = "$workers workers";

		keep('t');
		my $file = days('waits.csv', -6, 5, 10);
		query("UPDATE partman.part_config SET premake = 5");
		close_gate();
		my $maintenance = start_load($node, "BEGIN; $MAINTAIN; SELECT gate(7); COMMIT;\n");
		ok(at_gate($node), "$what: maintenance is at the gate");
		my $load = start_load($node, "SET fast_copy.ignore_premake = on; SELECT fast_copy('t', 'cat $file; exit 3', program => true, workers => $workers);\n");
		ok(waits(), "$what: the load waits");
		open_gate();
		my ($out, $err) = finish_load($load);
		is($out, '', "$what: nothing is loaded");
		like($err, qr/ERROR:  program "cat .*" failed\n/, "$what: the error");
		finish_load($maintenance);
		is_whole('t', join(' ', -3 .. 5), 1, $what);
	}
}

# To drop a partition maintenance needs the whole set for itself.
sub maintenance_drops_while_a_load_waits
{
	foreach my $keeps ('false', 'true')
	{
		my $what = "maintenance drops, retention_keep_table $keeps";

		keep('t');
		my $old = days('old.csv', -30, -28, 10);
		my $file = days('drops.csv', -6, 1, 20);
		query("SELECT fast_copy('t', '$old')");
		query("UPDATE partman.part_config SET retention = '10 days', retention_keep_table = $keeps, premake = 5 WHERE parent_table = 'public.t'");
		close_gate();
		my $maintenance = start_load($node, "SET deadlock_timeout = '100ms'; BEGIN; SELECT FROM pg_advisory_xact_lock($LOCK); SELECT FROM gate(7); $MAINTAIN; COMMIT;\n");
		ok(at_gate($node), "$what: at the gate");
		my $load = start_load($node, "SET deadlock_timeout = '100ms'; SELECT fast_copy('t', '$file');\n");
		ok(waits(), "$what: the load waits");
		open_gate();
		my ($out, $err) = finish_load($load);
		is($out, 8, "$what: loaded") or diag($err);
		($out, $err) = finish_load($maintenance);
		unlike($err, qr/ERROR/, "$what: maintenance has ended well");
		query("DROP TABLE " . join(', ', split /\n/, query("SELECT oid::regclass FROM pg_class WHERE relname LIKE 't\\_p%' AND NOT relispartition"))) if $keeps eq 'true';
		is_whole('t', join(' ', -6 .. 5), 9, $what);
	}
}

# Waiting ends by a timeout or a cancel, and nothing is left.
sub a_load_gives_up
{
	my %way = (
		lock_timeout => [ "SET lock_timeout = '200ms';", qr/canceling statement due to lock timeout/ ],
		statement_timeout => [ "SET statement_timeout = '500ms';", qr/canceling statement due to statement timeout/ ],
		cancel => [ '', qr/canceling statement due to user request/ ],
		terminate => [ '', qr/terminating connection/ ]);

	keep('t');
	my $file = days('gives_up.csv', -6, -4, 10);
	close_gate();
	my $maintenance = start_load($node, "BEGIN; $MAINTAIN; SELECT gate(7); COMMIT;\n");
	ok(at_gate($node), 'maintenance is at the gate');
	foreach my $name (sort keys %way)
	{
		my ($set, $message) = @{ $way{$name} };
		my $load = start_load($node, "$set SELECT fast_copy('t', '$file', workers => 2);\n");

		if ($set eq '')
		{
			ok(waits(), "$name: the load waits");
			query("SELECT pg_${name}_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted");
		}
		my ($out, $err) = finish_load($load);
		like($err, $message, "$name: the load gives up");
		ok(wait_until($node, "SELECT count(*) = 0 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"), "$name: it does not wait any more");
		is(scalar(spill_files($node)), 0, "$name: no spill file is left");
		is(query('SELECT count(*) FROM pg_stat_progress_copy'), 0, "$name: no progress entry is left");
	}
	# as a savepoint's: the transaction goes on, without any lock on the set
	my ($rc, $out, $err) = $node->psql('postgres', "BEGIN; SET LOCAL lock_timeout = '200ms';
		DO \$\$ BEGIN PERFORM fast_copy('t', '$file'); EXCEPTION WHEN lock_not_available THEN RAISE NOTICE 'caught'; END \$\$;
		SELECT count(*) FROM pg_locks WHERE relation = 't'::regclass AND pid = pg_backend_pid() AND mode = 'RowExclusiveLock'; COMMIT");
	is($out, 0, 'caught: no lock is left');
	like($err, qr/caught/, 'caught: by who called it');
	open_gate();
	finish_load($maintenance);
	is_whole('t', join(' ', -3 .. 3), 1, 'given up');
	is(query("SELECT fast_copy('t', '$file')"), 3, 'the load is made again');
	is_whole('t', join(' ', -6 .. 3), 4, 'made again');
	next_maintenance('t', join(' ', -6 .. 5), 4, 'made again');
}

# What it had made is gone, and the load makes it itself.
sub maintenance_dies
{
	keep('t');
	my $file = days('dies.csv', -5, 5, 10);
	query("UPDATE partman.part_config SET premake = 5");
	close_gate();
	my $maintenance = start_load($node, "BEGIN; $MAINTAIN; SELECT gate(7); COMMIT;\n");
	ok(at_gate($node), 'maintenance is at the gate');
	my $load = start_load($node, "SELECT fast_copy('t', '$file');\n");
	ok(waits(), 'the load waits');
	query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'");
	my ($out, $err) = finish_load($load);
	is($out, 11, 'maintenance dies: loaded') or diag($err);
	finish_load($maintenance);
	open_gate();
	is_whole('t', join(' ', -5 .. 5), 12, 'maintenance dies');
}

# Loads keep maintenance away, but not each other.
sub loads_of_two_sets
{
	keep('t', 'u');
	my $file = days('two.csv', -5, 1, 10);
	close_gate();
	my $load = start_load($node, "BEGIN; SELECT fast_copy('t', '$file'); SELECT gate(7); COMMIT;\n");
	ok(at_gate($node), 'a load is at the gate');
	my ($rc, $out, $err) = $node->psql('postgres', "SET lock_timeout = '2s'; SELECT fast_copy('u', '$file')");
	is($out . unsaid($err), 7, 'a load of another set goes on');
	open_gate();
	finish_load($load);
	is_whole($_, join(' ', -5 .. 3), 8, "two sets, $_") foreach 't', 'u';
}
