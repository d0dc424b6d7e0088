# wal_level = minimal: partitions made by the load are not WAL-logged, synced
# at commit instead, and there after a crash.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $rows = 40000;
my $file = write_rows('rows.csv', $rows);
my $sum = $rows * ($rows + 1) / 2;

# Bytes of WAL that a load writes into partitions it makes.
sub wal_of
{
	my ($node, $sql) = @_;
	my $before = $node->safe_psql('postgres', 'SELECT pg_current_wal_insert_lsn()');

	$node->safe_psql('postgres', $sql);
	return $node->safe_psql('postgres', "SELECT pg_current_wal_insert_lsn() - '$before'::pg_lsn");
}

my $node = new_node('main', {}, 'wal_level = minimal', 'max_wal_senders = 0', 'wal_skip_threshold = 0');

foreach my $workers (0, 2)
{
	subtest "$workers workers: rows are not in the WAL, and survive a crash right after commit" => sub {
		events($node, 't');
		$node->safe_psql('postgres', 'CREATE INDEX ON t (n)');
		my $wal = wal_of($node, "SELECT fast_copy('t', '$file', workers => $workers)");
		my $size = $node->safe_psql('postgres', "SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 't'::regclass");
		cmp_ok($wal, '<', $size / 5, "no WAL for $size bytes of partitions");
		$node->stop('immediate');
		$node->start;
		is($node->safe_psql('postgres', 'SELECT count(*), sum(n) FROM t'), "$rows|$sum",
			'rows survive');
		is($node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM t WHERE n > 0'), $rows,
			'the index survives');

		# the same for a table truncated in the transaction, and for small
		# relations, which commit writes to the WAL as a whole
		foreach my $threshold ('0', '1GB')
		{
			$node->safe_psql('postgres', "BEGIN; SET LOCAL wal_skip_threshold = '$threshold'; TRUNCATE t;
				SAVEPOINT s; SELECT fast_copy('t', '$file', workers => $workers); ROLLBACK TO s;
				SELECT fast_copy('t', '$file', workers => $workers); COMMIT");
			$node->stop('immediate');
			$node->start;
			is($node->safe_psql('postgres', 'SELECT count(*), sum(n) FROM t'), "$rows|$sum",
				"threshold $threshold: after TRUNCATE and ROLLBACK TO");
		}
	};

	subtest "$workers workers: ROLLBACK leaves neither a row nor a file" => sub {
		events($node, 't');
		$node->safe_psql('postgres', 'CHECKPOINT');
		my $files = files_of($node);
		$node->safe_psql('postgres', "BEGIN; SELECT fast_copy('t', '$file', workers => $workers); ROLLBACK; CHECKPOINT");
		is($node->safe_psql('postgres', 'SELECT count(*) FROM t'), 0, 'no row');
		is(files_of($node), $files, 'no file');
	};
}

# Files with the name of a relation in the database's directory.
sub files_of
{
	my ($node) = @_;

	return $node->safe_psql('postgres', "SELECT count(*) FROM pg_ls_dir('base/' || (SELECT oid FROM pg_database WHERE datname = 'postgres')) f WHERE f ~ '^[0-9]+\$'");
}

subtest 'with full WAL the same load is logged' => sub {
	$node->stop;
	$node->append_conf('postgresql.conf', 'wal_level = replica');
	$node->start;
	events($node, 't');
	my $wal = wal_of($node, "SELECT fast_copy('t', '$file', workers => 2)");
	cmp_ok($wal, '>', 0.7 * -s $file, 'WAL for the rows');
};

$node->stop;
done_testing();
