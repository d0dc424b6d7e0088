# The recipe of docs/cluster.md, from empty servers to a loaded cluster

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $main = new_node('coordinator', {});
needs($main, 'postgres_fdw');
$main->safe_psql('postgres', 'DROP EXTENSION fast_copy');
my @nodes = map { new_node($_, {}, 'max_prepared_transactions = 10') } 'node1', 'node2';
$_->safe_psql('postgres', 'DROP EXTENSION fast_copy') foreach @nodes;

# Nodes ask for the password, so that one that is wrong on the page is noticed
foreach my $node (@nodes)
{
	my $hba = $node->data_dir . '/pg_hba.conf';
	my $rules = slurp_file($hba);

	open(my $out, '>', $hba) or die "$hba: $!";
	print $out "local all loader scram-sha-256\nhost all loader all scram-sha-256\n$rules";
	close $out;
	$node->reload;
}

my $said = recipe($main, @nodes);
my ($shown) = slurp_file("$FindBin::Bin/../../docs/cluster.md") =~ /^## Spread days over the nodes.*?^```text\n(.*?)^```/ms;

like($said, qr/^4000\nreadings_node1\|(\d+)\|sent to server "node1" and its fast_copy\nreadings_node2\|\d+\|sent to server "node2" and its fast_copy\n/m, 'the report');
like($said, qr/^4000\|7\|2013-01-01 00:30:00\+00\|2013-01-02 19:30:00\+00$/m, 'the check');
is(join("\n", map { join('|', map { s/^ +| +$//gr } split /\|/) } grep { /visits_/ } split(/\n/, $shown)), join("\n", $said =~ /^(visits_p.*)$/mg), 'the report of days');
is($main->safe_psql('postgres', 'SELECT count(*), count(DISTINCT at::date) FROM visits'), '4000|2', 'days over the nodes');
is($_->safe_psql('postgres', "SELECT count(*) FROM pg_indexes WHERE tablename ~ '^visits_' AND indexdef ~ 'device'"), 1, 'a day on each node, with its index') foreach @nodes;
my @there = map { $_->safe_psql('postgres', 'SELECT count(*), count(DISTINCT device) FROM readings') } @nodes;
my ($rows, $devices) = (0, 0);
foreach (@there)
{
	my ($n, $d) = split /\|/;

	cmp_ok($n, '>', 0, 'rows on each node');
	$rows += $n;
	$devices += $d;
}
is("$rows $devices", '4000 7', 'each device on one node');
$_->stop foreach $main, @nodes;
done_testing();
