# After a crash the tables are as COPY's are: loads are drawn (what kind of table, whose
# rows are there before, whether they are replaced, new files or shared buffers, frozen or
# in a subtransaction, indexes, long values, what the load's own functions insert beside
# it), each is compared with COPY, the server is killed, and what redo makes of the log is
# compared once more, page by page with what was written (wal_consistency_checking).  With
# FC_SEED others are drawn, and with FC_CASES more of them.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use List::Util qw(shuffle);
use Test::More;

my $seed = $ENV{FC_SEED} // 63;
my $cases = $ENV{FC_CASES} // 11;
my @kinds = qw(empty created frozen truncated filled split parts replaced inserting inside);
my ($number, @loads) = 0;

srand($seed);
note("FC_SEED=$seed");

sub pick { return $_[ int(rand(@_)) ] }

# Rows "n,ts,v" of a drawn order, with NULLs, values that just fit a page, long ones that
# do not compress and some that do
sub file
{
	my ($rows, $ordered, $long) = @_;
	my @rows = map {
		my $text = $_ % 5 == 0 ? '' : $long && $_ % 50 == 7 ? join('', map { chr(97 + int(rand(26))) } 1 .. 5000) : $long && $_ % 50 == 11 ? 'x' x 6000 : 'y' x ($_ * 7919 % ($long ? 2100 : 40));
		sprintf "%d,2013-01-%02d %02d:00:00,%s\n", $_, $_ * 5 / $rows + 1, $_ % 24, $text
	} 1 .. $rows;

	return write_bytes('load' . $number . '.csv', join('', $ordered ? @rows : shuffle(@rows)));
}

# Makes tables t_pNUMBER and c_NUMBER, which COPY fills, and returns the commands of a load
sub drawn
{
	my ($kind) = @_;
	my ($t, $copied) = ('t_p' . ++$number, "c_$number");
	my %new = map { $_ => 1 } qw(created frozen truncated split);
	# pages of a new file, frozen or to which rows come by another way, need many rows and no index
	my $inside = $kind =~ /inside|frozen/;
	# a file of five rows has none of the day that others have
	my $file = file($inside ? 4000 : pick($kind eq 'replaced' ? () : 5, 800, 4000), pick(0, 1), pick(0, 1));
	my $columns = '(n int, ts timestamp, v text)';
	my $storage = pick('', '', 'WITH (fillfactor = 50)');
	my $index = pick('', '', 'CREATE INDEX ON @ (n)', 'CREATE UNIQUE INDEX ON @ (n, ts)', 'CREATE INDEX ON @ (left(v, 40) DESC, n)') =~ s/\@/$t/r;
	$index = '' if $inside;
	my @options = ('workers => ' . pick(0, 2), $kind eq 'frozen' || $new{$kind} && rand() < 0.4 ? 'freeze => true' : (), $kind eq 'split' ? "partition_interval => '" . pick('1 day', '1 month') . "'" : (), $kind eq 'replaced' ? "existing_rows => 'replace', min_replace_ratio => 0" : ());
	my $settings = "SET fast_copy.chunk_size = '64kB'; SET fast_copy.writer = " . ($inside ? 'page' : pick('page', 'page', 'multi_insert', 'auto')) . '; ' . pick('', "SET fast_copy.memory = '1MB';");
	my %make = (
		split => "CREATE TABLE $t $columns PARTITION BY RANGE (ts)",
		parts => "CREATE TABLE $t $columns PARTITION BY RANGE (ts); " . join(' ', map { "CREATE TABLE ${t}_$_ PARTITION OF $t FOR VALUES FROM ('2013-01-0$_') TO ('2013-01-0@{[ $_ + 1 ]}') $storage;" } 1 .. 6));
	$make{replaced} = $make{parts};
	my $make = $make{$kind} // "CREATE TABLE $t $columns $storage";
	my $others = "INSERT INTO $t SELECT -i, '2013-01-01 12:00', repeat('z', i) FROM generate_series(1, 300) i";
	my $load = "SELECT FROM fast_copy('$t', '$file', " . join(', ', @options) . ')';
	# what the load evaluates inserts into the table that is loaded
	$make .= "; CREATE FUNCTION beside_$number(n int) RETURNS bool LANGUAGE plpgsql AS \$\$ BEGIN IF n = 3 THEN INSERT INTO public.$t VALUES (-1); END IF; RETURN true; END \$\$;
		ALTER TABLE $t ADD CHECK (beside_$number(n))" if $kind =~ /^ins/;
	my $before = $kind eq 'truncated' ? "TRUNCATE $t" : $kind =~ /created|frozen|inside/ ? "$make; $index" : '';
	# after a row, frozen pages go through shared buffers
	$before .= "; INSERT INTO $t VALUES (0)" if $kind =~ /created|truncated/ && rand() < 0.5;
	# frozen rows can be loaded only by the transaction that made the file itself
	my ($open, $close) = grep({ /freeze/ } @options) ? ('', '') : @{ pick([ '', '' ], [ 'SAVEPOINT s;', '; RELEASE s' ], [ "SAVEPOINT s; $load; ROLLBACK TO s;", '' ]) };

	# a file that has changed hands gets one more row
	$close .= "; INSERT INTO $t VALUES (-2, '2013-01-01')" if $kind eq 'replaced';
	push @loads, [ $t, $copied ];
	return (join('; ', $kind =~ /created|frozen|inside/ ? () : ($make, $index), $kind =~ /truncated|filled|parts|replaced/ ? $others : (), "CREATE TABLE $copied $columns; COPY $copied FROM '$file' (FORMAT csv)"),
		"$settings BEGIN; $before; $open $load $close; COMMIT", "$kind: $settings $before $open $load $close $storage $index");
}

# What differs from COPY; how many rows of others are there
sub difference
{
	my ($t, $copied) = @_;

	return "SELECT (SELECT count(*) FROM (SELECT * FROM $t WHERE n > 0 EXCEPT ALL SELECT * FROM $copied) a), (SELECT count(*) FROM (SELECT * FROM $copied EXCEPT ALL SELECT * FROM $t WHERE n > 0) b), (SELECT count(*) FROM $t WHERE n <= 0)";
}

# Rows that were counted, those of TOAST tables too; so often, and some more
sub counted
{
	my ($t, $times, $more) = @_;

	return "SELECT sum(pg_stat_get_tuples_inserted(relid)) * $times + $more, sum(pg_stat_get_tuples_inserted(reltoastrelid)) * $times FROM (SELECT relid FROM pg_partition_tree('$t') WHERE isleaf UNION SELECT '$t'::regclass) x JOIN pg_class c ON c.oid = relid";
}

sub load
{
	my ($node, $kind) = @_;
	my ($make, $load, $what) = drawn($kind);
	my ($t, $copied) = @{ $loads[-1] };

	$node->safe_psql('postgres', $make);
	my ($rc, $out, $err) = $node->psql('postgres', $load, on_error_stop => 1);
	is($rc, 0, $what) or diag($err);
	my $others = $kind =~ /truncated|filled|parts/ ? 300 : 0;
	# what is rolled back has been counted, but for partitions that are gone with it
	my ($beside, $times) = ($kind =~ /^ins|replaced/ || $load =~ /VALUES \(0\)/ ? 1 : 0, $load =~ /ROLLBACK TO/ && $kind ne 'split' ? 2 : 1);

	is($node->safe_psql('postgres', difference($t, $copied)), '0|0|' . ($kind eq 'truncated' ? $beside : $others + $beside), "$t: the rows of COPY");
	return if $kind eq 'replaced';
	# a session's counts arrive when it has ended, which psql does not wait for
	my $counts = counted($copied, $times, $others + $beside * ($kind =~ /^ins/ ? $times : 1));
	ok(wait_until($node, "SELECT (SELECT c FROM (" . counted($t, 1, 0) . ") c) IS NOT DISTINCT FROM (SELECT c FROM ($counts) c)"), "$t: as many are counted");
	# core's way may leave pages empty at the end, as COPY does from 16 on
	is($node->safe_psql('postgres', "SELECT count(*) FROM (SELECT DISTINCT tableoid, (ctid::text::point)[0]::bigint AS block FROM $t) x, pg_visibility_map(tableoid, block) WHERE NOT all_frozen"), $beside, "$t: the map has all frozen pages that have rows") if $load =~ /freeze/;
}

# All that is there: rows in their places, what the maps and the pages say, sizes
sub state
{
	my ($node) = @_;

	return join("\n", map { $node->safe_psql('postgres', "SELECT '$_', count(*), md5(string_agg(t::text, '|' ORDER BY tableoid, ctid)),
		(SELECT (sum(pg_relation_size(c.oid)), sum(all_frozen), sum(marked)) FROM pg_class c, pg_visibility_map_summary(c.oid), LATERAL (SELECT count(*) AS marked FROM pg_visibility(c.oid) WHERE pd_all_visible) p WHERE c.relkind = 'r' AND c.relname ~ '^$_(_|\$)') FROM $_ t") } map { $_->[0] } @loads);
}

my $node = new_node('node', { extra => ['--data-checksums'] }, 'wal_consistency_checking = all', 'autovacuum = off', 'wal_level = replica', 'max_wal_senders = 0');
$node->safe_psql('postgres', 'CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility');
foreach my $level ('replica', 'minimal')
{
	$node->append_conf('postgresql.conf', "wal_level = $level\nwal_skip_threshold = 0\n");
	$node->restart if $level eq 'minimal';
	# what comes before a checkpoint is not made by redo: there is one, before an early load
	my $checkpoint = int(rand(4));
	foreach my $kind ((shuffle(@kinds), map { pick(@kinds) } 1 .. $cases)[ 0 .. $cases - 1 ])
	{
		$node->safe_psql('postgres', 'CHECKPOINT') if $checkpoint-- == 0;
		load($node, $kind);
	}
	my $there = state($node);
	$node->stop('immediate');
	ok($node->start(fail_ok => 1), "wal_level = $level: redo") or BAIL_OUT('no redo');
	is(state($node), $there, "wal_level = $level: all is there after a crash");
	is_sound($node, "wal_level = $level");
	is(($node->psql('postgres', 'VACUUM (DISABLE_PAGE_SKIPPING)'))[2], '', "wal_level = $level: VACUUM finds the map to say what the pages say");
	is_sound($node, "wal_level = $level, after VACUUM");
}
$node->stop;
PostgreSQL::Test::Utils::command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'checksums');
done_testing();
