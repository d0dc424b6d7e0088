# wal_level = logical: a subscriber gets every row of a load once, whichever
# way the table is published.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $rows = 2000;
my @workers = (0, 2, 4);

# A small decoding memory: transactions are streamed, or spilled.
my $publisher = new_node('publisher', { allows_streaming => 'logical' },
	'logical_decoding_work_mem = 64kB', 'max_wal_senders = 16', 'max_replication_slots = 16', "fast_copy.chunk_size = '16kB'");
my $subscriber = new_node('subscriber', {}, 'max_logical_replication_workers = 12', 'max_sync_workers_per_subscription = 10');

# One row of ten is too wide for its page.
my $file = write_bytes('published.csv', join('', map {
	my $x = $_ * 7919 % 104729;
	sprintf "%d,2013-01-%02d %02d:%02d:%02d,%s\n", $_, $x % 5 + 1, $x % 24, $x % 60, $x % 59,
	  $_ % 10 ? "row $_" : "wide $_ " x 600
} 1 .. $rows));

# A table for each number of workers: t<w> by day, where two days exist; with
# "above" it is a partition of r<w>; or a plain table, or one by hash.
sub tree
{
	my ($schema, $shape) = @_;

	return join('', map {
		my $t = "$schema.t$_";
		my $columns = '(n int, ts timestamp, v text)';
		my $sql = $shape eq 'above'
		  ? "CREATE TABLE $schema.r$_ $columns PARTITION BY LIST ((n > 0)); "
		  . "CREATE TABLE $t PARTITION OF $schema.r$_ FOR VALUES IN (true) PARTITION BY RANGE (ts); "
		  : "CREATE TABLE $t $columns" . by($shape) . '; ';
		$sql . "ALTER TABLE $t ALTER v SET STORAGE EXTERNAL; "
		  . ($shape eq 'hash' ? join('', map { "CREATE TABLE ${t}_$_ PARTITION OF $t FOR VALUES WITH (MODULUS 2, REMAINDER $_); " } 0, 1)
			: $shape eq 'plain' ? '' : join('', map { day($t, $_) } 2, 4))
	} @workers);
}

sub by
{
	my ($shape) = @_;

	return $shape eq 'plain' ? '' : $shape eq 'hash' ? ' PARTITION BY HASH (n)' : ' PARTITION BY RANGE (ts)';
}

sub day
{
	my ($t, $day) = @_;

	return sprintf "CREATE TABLE %s_p2013010%d PARTITION OF %s FOR VALUES FROM ('2013-01-0%d') TO ('2013-01-0%d'); ",
	  $t, $day, $t, $day, $day + 1;
}

# The rows of the tables, in a form to compare.
sub rows_of
{
	my ($node, $tables, $columns, $where) = @_;

	return $node->safe_psql('postgres', join('; ', map {
		"SELECT '$_: ' || count(*), md5(string_agg(concat_ws('|', $columns), ',' ORDER BY n)) FROM $_ WHERE $where"
	} @$tables));
}

# Publishes, loads with each number of workers, and compares.  The tables are
# empty when the subscription is made, so that there is nothing to copy.
sub published
{
	my ($what, %case) = @_;

	subtest "$what: a subscriber gets each row once" => sub {
		my $schema = $case{schema} // 'public';
		my $shape = $case{shape} // 'day';
		my $tree = ($schema eq 'public' ? '' : "CREATE SCHEMA $schema; ") . tree($schema, $shape);
		my @tables = map { "$schema.t$_" } @workers;
		my $published = join(', ', map { $shape eq 'above' ? "$schema.r$_" : "$schema.t$_" } @workers);
		my $for = $case{for} =~ s/TABLES_HERE/$published/r =~ s/EACH\((.*)\)/join(', ', map { "$schema.t$_ $1" } @workers)/er;
		my $root = $case{root} // 1;
		my $options = $root ? 'true' : 'false';
		my $columns = $case{columns} // 'n, ts, v';
		my $where = $case{where} // 'true';

		$publisher->safe_psql('postgres', "$tree; CREATE PUBLICATION p FOR $for WITH (publish_via_partition_root = $options)");
		$subscriber->safe_psql('postgres', $tree . new_days($shape, @tables));
		$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION s CONNECTION '" . $publisher->connstr
			  . " dbname=postgres' PUBLICATION p WITH (copy_data = false, streaming = " . ($case{streaming} // 'off') . ')');
		$publisher->safe_psql('postgres', "SELECT pg_create_logical_replication_slot('d', 'pgoutput')");

		$publisher->safe_psql('postgres', join(' ', map { load_sql($tables[$_], $workers[$_], $case{savepoint}) } 0 .. $#workers));
		$publisher->wait_for_catchup('s');
		learn_partitions() unless $root;

		my $want = rows_of($publisher, \@tables, $columns, $where);
		is(scalar(() = $want =~ /: $case{rows}\|/g), @workers, 'the publisher has the rows');
		is(decoded(), $case{rows} * @workers, 'each is sent once');
		ok(wait_until($publisher, "SELECT stream_txns >= @{[ scalar @workers ]} FROM pg_stat_replication_slots WHERE slot_name = 's'"),
			'in streams') if $case{streaming};
		is(rows_of($subscriber, \@tables, $columns, 'true'), $want, 'the subscriber has the same');

		$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION s');
		$publisher->safe_psql('postgres', 'DROP PUBLICATION p');
		$_->safe_psql('postgres', "DROP TABLE $published" . ($schema eq 'public' ? '' : "; DROP SCHEMA $schema")) foreach $publisher, $subscriber;
	};
}

# What a load makes, which the subscriber has to be given: partitions that are
# published as themselves are tables like any other.
sub new_days
{
	my ($shape, @tables) = @_;

	return '' unless $shape eq 'day' || $shape eq 'above';
	return join('', map { my $t = $_; map { day($t, $_) } 1, 3, 5 } @tables);
}

sub load_sql
{
	my ($table, $workers, $savepoint) = @_;
	my $load = "SELECT fast_copy('$table', '$file', workers => $workers);";

	return $load unless $savepoint;
	return "BEGIN; INSERT INTO $table VALUES (-1, '2013-01-02', 'before');
		SAVEPOINT a; $load ROLLBACK TO a; SAVEPOINT b; $load RELEASE b;
		INSERT INTO $table VALUES (-2, '2013-01-03', 'after'); COMMIT;";
}

# A subscription has the tables there were when it was last refreshed, and
# copies what others have.
sub learn_partitions
{
	$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION s REFRESH PUBLICATION');
	wait_until($subscriber, "SELECT count(*) = 0 FROM pg_subscription_rel WHERE srsubstate NOT IN ('r', 's')");
}

# The rows that are sent to a subscriber, whatever it does with them.
sub decoded
{
	return $publisher->safe_psql('postgres',
		"SELECT count(*) FROM pg_logical_slot_get_binary_changes('d', NULL, NULL,
			'proto_version', '1', 'publication_names', 'p') WHERE get_byte(data, 0) = ascii('I');
		SELECT FROM pg_drop_replication_slot('d')");
}

foreach my $root (1, 0)
{
	my $as = $root ? 'as the root' : 'as themselves';
	my %more = (root => $root, rows => $rows);

	published("the table, $as", for => 'TABLE TABLES_HERE', %more);
	published("an ancestor, $as", for => 'TABLE TABLES_HERE', shape => 'above', %more);
	published("a schema, $as", for => 'TABLES IN SCHEMA app', schema => 'app', %more);
	published("all tables, $as", for => 'ALL TABLES', %more);
	published("the table in streams, $as", for => 'TABLE TABLES_HERE', streaming => 'on', %more);
	published("inside a savepoint, $as", for => 'TABLE TABLES_HERE', savepoint => 1, root => $root, rows => $rows + 2);
	published("inside a savepoint in streams, $as", for => 'TABLE TABLES_HERE', savepoint => 1,
		streaming => 'on', root => $root, rows => $rows + 2);
}
published("a $_ table", for => 'TABLE TABLES_HERE', shape => $_, rows => $rows) foreach qw(plain hash);
published('rows of a filter', for => 'TABLE EACH(WHERE (n > 500))', where => 'n > 500', rows => $rows - 500);
published('columns of a list', for => 'TABLE EACH((n, ts))', columns => 'n, ts', rows => $rows);

subtest 'a subscriber of a standby gets each row that is replaced, unless a setting says that there is none' => \&of_standby;

$publisher->stop;
$subscriber->stop;
done_testing();

# The primary does not know the slots of its standbys.
sub of_standby
{
	plan skip_all => 'standbys have no logical slots before 16' if $publisher->pg_version->major < 16;
	my $tables = tree('public', 'day');
	# what deletes or updates are told by; new partitions have none yet
	my $identity = "DO \$\$DECLARE r regclass; BEGIN FOR r IN SELECT relid FROM pg_partition_tree('t2') LOOP EXECUTE format('ALTER TABLE %s REPLICA IDENTITY FULL', r); END LOOP; END\$\$";
	my $more = "INSERT INTO t2 SELECT -g, '2013-01-02 12:00', 'old' FROM generate_series(1, 400) g";
	my $load = "SELECT fast_copy('t2', '$file', workers => 2, options => '{\"existing_rows\": \"%s\"}')";
	my $how = "SELECT string_agg(choice, '; ') FROM fast_copy_report() WHERE phase = 'replace'";

	$publisher->safe_psql('postgres', "$tables; $identity; CREATE PUBLICATION p FOR TABLE t2 WITH (publish_via_partition_root); SELECT pg_create_physical_replication_slot('standby')");
	$subscriber->safe_psql('postgres', $tables . new_days('day', 't2'));
	my $standby = PostgreSQL::Test::Cluster->new('standby');
	$publisher->backup('base');
	$standby->init_from_backup($publisher, 'base', has_streaming => 1);
	$standby->append_conf('postgresql.conf', "primary_slot_name = 'standby'\nhot_standby_feedback = on\nmax_standby_streaming_delay = -1\n");
	$standby->start;
	ok(wait_until($publisher, "SELECT xmin IS NOT NULL FROM pg_replication_slots WHERE slot_name = 'standby'"), 'the standby tells what it needs');
	made_there($standby, $subscriber, 's', "CREATE SUBSCRIPTION s CONNECTION '" . $standby->connstr . " dbname=postgres' PUBLICATION p WITH (copy_data = false)");
	made_there($standby, $standby, 'd', "SELECT FROM pg_create_logical_replication_slot('d', 'test_decoding')");
	$publisher->safe_psql('postgres', $more);
	my $arrived = sub {
		$publisher->wait_for_replay_catchup($standby);
		$standby->wait_for_catchup('s', 'replay', $standby->lsn('replay'));
		return rows_of($subscriber, ['t2'], 'n, ts, v', 'true');
	};
	my $here = sub { rows_of($publisher, ['t2'], 'n, ts, v', 'true') };
	is($arrived->(), $here->(), 'the old rows');

	is($publisher->safe_psql('postgres', sprintf($load, 'replace') . "; $how"),
		"$rows\ndeleted: logical replication slots of standbys may read its changes, unless fast_copy.logical_standbys is off", 'rows are replaced by DELETE, and partitions made');
	is($arrived->(), $here->(), 'the subscriber has the same');
	is($standby->safe_psql('postgres', "SELECT count(*) FILTER (WHERE data ~ ' DELETE:'), count(*) FILTER (WHERE data ~ '^table public.t2_p\\d+: INSERT:') FROM pg_logical_slot_get_changes('d', NULL, NULL)"),
		'400|' . ($rows + 400), 'another decoder shows each row');
	like(($publisher->psql('postgres', sprintf($load, 'merge')))[2], qr/ERROR:  cannot merge rows into table "t2_p2013\d+"\nDETAIL:  Its rows cannot be written anew: logical .* unless fast_copy\.logical_standbys is off\./, 'a merge is refused');
	like(($publisher->psql('postgres', "CREATE ROLE anybody; LOAD 'fast_copy'; SET ROLE anybody; SET fast_copy.logical_standbys = off"))[2], qr/permission denied to set parameter "fast_copy.logical_standbys"/, 'only a superuser turns it off');

	$publisher->safe_psql('postgres', "$identity; UPDATE t2 SET v = 'old'");
	is($arrived->(), $here->(), 'the subscriber has what has changed');
	# from 18 on a standby sends nothing more after an exchange
	my $goes_on = $publisher->pg_version->major < 18;
	$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION s') if !$goes_on;
	is($publisher->safe_psql('postgres', 'SET fast_copy.logical_standbys = off; ' . sprintf($load, 'replace') . "; $how"), "$rows\n5 tables exchanged", 'with the setting off files are exchanged');
	isnt($arrived->(), $here->(), 'which the subscriber of a standby misses') if $goes_on;
	is($publisher->safe_psql('postgres', 'SET fast_copy.logical_standbys = off; ' . sprintf($load, q(merge)) . "; $how"), "$rows\nrows of 5 tables, to be merged; 5 tables exchanged", 'and rows are merged');

	$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION s') if $goes_on;
	$standby->stop;
}

# Makes a slot of a standby, which waits until the primary tells what is running
sub made_there
{
	my ($standby, $node, $slot, $sql) = @_;
	my $made = start_load($node, "$sql;\n");

	ok(wait_until($standby, "SELECT count(*) = 1 FROM pg_replication_slots WHERE slot_name = '$slot' AND restart_lsn IS NOT NULL"), "slot $slot begins");
	$publisher->safe_psql('postgres', 'SELECT pg_log_standby_snapshot()');
	is((finish_load($made))[1] =~ s/^.*NOTICE: .*\n//mgr, '', "slot $slot is there");
}
