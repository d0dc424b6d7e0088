# A large index is built by all processes together where the others would wait: as
# many take part as a load has workers, and as the server lends.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', {}, 'max_worker_processes = 16', 'max_parallel_maintenance_workers = 0', 'fsync = off');
my $file = write_rows('rows.csv', 250000);
my $partition = "PARTITION BY RANGE (ts); CREATE TABLE t_2013 PARTITION OF t FOR VALUES FROM ('2013-01-01') TO ('2014-01-01')";

# Loads by three workers.  Returns what the report says of the indexes, and how many
# processes have sorted a part for each of those that were built together.
sub helped
{
	my ($table, $call, $set) = @_;

	$node->safe_psql('postgres', "DROP TABLE IF EXISTS t; CREATE TABLE t (id int, ts timestamp NOT NULL, note text) $table");
	my ($rc, $said, $err) = $node->psql('postgres', "LOAD 'fast_copy'; $set
		SET client_min_messages = log; SET trace_sort = on;
		SELECT fast_copy('t', '$file', workers => 3$call);
		SET trace_sort = off;
		SELECT processes || ' ' || choice FROM fast_copy_report() WHERE phase = 'index'");
	my %sorted;

	is($rc, 0, 'loads') or diag($err);
	$sorted{$_}++ foreach $err =~ /performsort of worker (\d+) starting/g;
	return join(' ', (split /\n/, $said)[1], map { "$_:$sorted{$_}" } sort keys %sorted);
}

sub is_built
{
	my ($shall, $table, $call, $name, $set) = @_;

	is(helped($table, $call // '', $set // ''), $shall, $name);
	is($node->safe_psql('postgres', "SET enable_seqscan = off; SELECT count(*) FROM t WHERE id BETWEEN 1 AND 1000"), 1000, "$name: it has the rows");
}

my $all = '3 1 indexes built, 1 of them by all processes together 0:1 1:1 2:1';
is_built($all, 'PARTITION BY RANGE (ts); CREATE INDEX ON t (id)', ", partition_interval => '1 year'", 'a new partition');
is_built('3 2 indexes built, 2 of them by all processes together 0:2 1:2 2:2',
	'PARTITION BY RANGE (ts); CREATE INDEX ON t (id); CREATE INDEX ON t (note)', ", partition_interval => '1 year'", 'two indexes');
is_built($all, '; CREATE INDEX ON t (id)', '', 'an empty table');
is_built($all, "$partition; CREATE INDEX ON t (id)", '', 'an empty partition');
is_built($all, "$partition; CREATE INDEX ON t (id); INSERT INTO t SELECT -n, '2013-02-01' FROM generate_series(1, 30000) AS n",
	", existing_rows => 'replace'", 'a substitute');
is_built('2 1 indexes built, 1 of them by all processes together 0:1 1:1', 'PARTITION BY RANGE (ts); CREATE INDEX ON t (id)',
	", partition_interval => '1 year'", 'a server that lends one process', 'SET max_parallel_workers = 1;');
is_built('1 1 index built', 'PARTITION BY RANGE (ts); CREATE INDEX ON t (id)', ", partition_interval => '1 year'",
	'a server that lends none', 'SET max_parallel_workers = 0;');
$node->stop;
done_testing();
