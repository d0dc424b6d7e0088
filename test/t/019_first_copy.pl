# The recipe of docs/restores.md for the first copy of a subscription, as
# it stands there: rows that are written while it runs come once, and its loads
# are accelerated.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 150000;
my $publisher = new_node('publisher', { allows_streaming => 'logical' });
my $subscriber = new_node('subscriber', {}, "session_preload_libraries = 'fast_copy'",
	'fast_copy.log_min_duration = 0', 'fast_copy.workers = 2', 'max_logical_replication_workers = 4');

foreach my $node ($publisher, $subscriber)
{
	$node->safe_psql('postgres', 'CREATE TABLE customers (id int PRIMARY KEY, name text);
		CREATE TABLE orders (id int PRIMARY KEY, customer int REFERENCES customers, item text)');
}
$publisher->safe_psql('postgres', "INSERT INTO customers SELECT n, 'Customer ' || n FROM generate_series(1, 100) n;
	INSERT INTO orders SELECT n, n % 100 + 1, repeat(md5(n::text), 3) FROM generate_series(1, $rows) n;
	CREATE PUBLICATION shop FOR TABLE orders, customers");

# Another session writes all the time.
my $writer = IPC::Run::start([ 'psql', '-X', '-q', '-d', $publisher->connstr('postgres'), '-c',
	"DO \$\$ BEGIN
		FOR n IN 1 .. 100000 LOOP
			EXIT WHEN EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming');
			INSERT INTO orders VALUES (-n, 1, 'meanwhile');
			UPDATE orders SET item = 'changed' WHERE id = n;
			DELETE FROM orders WHERE id = $rows - n;
			COMMIT;
			PERFORM pg_sleep(0.002);
		END LOOP;
	END \$\$" ]);
my $out;
my $ran = IPC::Run::run([ 'bash', '-eu', '-c', recipe() ], '>&', \$out);
ok($ran, 'the recipe runs') or diag($out);
$writer->finish;
my $sum = 'SELECT count(*), sum(id), count(*) FILTER (WHERE id < 0), sum(hashtext(o::text)::bigint) FROM orders o';
my $want = $publisher->safe_psql('postgres', $sum);
$publisher->wait_for_catchup('shop');
is($subscriber->safe_psql('postgres', $sum), $want, 'the subscriber has what the publisher has');
cmp_ok((split /\|/, $want)[2], '>', 0, 'others have written meanwhile');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM customers'), 100, 'small tables came as well');
like(slurp_file($subscriber->logfile), qr/LOG:  fast_copy of public.orders from "stdin"/, 'the first copy was accelerated');
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION shop');
done_testing();

# The document's commands, for our nodes and directory
sub recipe
{
	my ($text) = slurp_file("$FindBin::Bin/../../docs/restores.md") =~
	  /^```sh not run: test\/t\/019_first_copy\.pl runs it\n(.*?)^```$/ms or die "no recipe\n";
	my $dir = PostgreSQL::Test::Utils::tempdir();

	$text =~ s{host=publisher dbname=shop}{$publisher->connstr('postgres') =~ tr/'//dr}ge;
	$text =~ s{host=subscriber dbname=shop}{$subscriber->connstr('postgres') =~ tr/'//dr}ge;
	return $text =~ s{/data\b}{$dir}gr;
}
