# A file that room could only be taken for in part: it gets all rows, and has
# pages of rows alone.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 100000;
my $file = write_rows('rows.csv', $rows);
my $node = new_node('full', {});
my $params = "\0" x 120;
my $ring = syscall(425, 8, $params) >= 0;

$node->safe_psql('postgres', 'CREATE EXTENSION amcheck; CREATE EXTENSION pg_visibility');
$node->stop;
{
	local $ENV{LD_PRELOAD} = $node->config_data('--pkglibdir') . '/fc_fallocate.so';
	$node->start;
}
foreach my $workers (0, 2)
{
	foreach my $options ('', ', freeze => true')
	{
		my $what = "$workers workers" . ($options ? ', frozen' : '');

		subtest "$what: a file without enough room" => sub {
			my $log = -s $node->logfile;

			events($node, 't');
			$node->safe_psql('postgres', "SET fast_copy.io_method = 'io_uring';
				SELECT FROM fast_copy('t', '$file', partition_interval => '1 month', workers => $workers$options)");
			SKIP:
			{
				skip 'no io_uring here', 1 unless $ring;
				like(slurp_file($node->logfile, $log), qr/no room for fallocate/, 'the disk was full');
			}
			is($node->safe_psql('postgres', 'SELECT count(*), sum(n) FROM t'), "$rows|5000050000", 'all rows are there');
			is($node->safe_psql('postgres', "SELECT (SELECT sum(pg_relation_size(oid))::bigint FROM pg_class WHERE relname ~ '^t_p' AND relkind = 'r') / 8192 - count(DISTINCT split_part(ctid::text, ',', 1)) FROM t"),
				0, 'there is no page without rows');
			is_sound($node, $what);
		};
	}
}
$node->stop;
done_testing();
