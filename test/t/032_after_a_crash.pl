# What docs/cluster_commit.md says to do after a crash, command by command, and each
# outcome of its table

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my @conf = ('max_prepared_transactions = 20', 'session_preload_libraries = fast_copy');
my $main = new_node('main', { allows_streaming => 1 }, @conf);
needs($main, 'postgres_fdw');
my ($one, $two) = map { new_node($_, { allows_streaming => 1 }, @conf) } 'one', 'two';
my $file = write_bytes('rows.csv', join('', map { "$_,x\n" } 0 .. 199));

$main->safe_psql('postgres', 'CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster; CREATE TABLE t (n int, v text) PARTITION BY RANGE (n)');
foreach my $node ($one, $two)
{
	my ($name, $from) = ($node->name, $node == $one ? 0 : 100);

	$node->safe_psql('postgres', 'CREATE ROLE loader LOGIN; CREATE ROLE other LOGIN; CREATE TABLE r (n int, v text); GRANT ALL ON r TO loader, other');
	$main->safe_psql('postgres', server_sql($name, $node, 'loader') . "
		CREATE FOREIGN TABLE t_$name PARTITION OF t FOR VALUES FROM ($from) TO ($from + 100) SERVER $name OPTIONS (schema_name 'public', table_name 'r')");
}

my @blocks = page_blocks('cluster_commit.md', 'After a crash');
my ($look, $resolve) = @blocks[ 1, 3 ];
is(@blocks / 2, 2, 'the blocks of the page');
my ($part) = PostgreSQL::Test::Utils::slurp_file("$FindBin::Bin/../../docs/cluster_commit.md") =~ /^## After a crash\n(.*?)^## /ms;
my %meant = map { $_ => 1 } $part =~ /^\| `([^`]+)` \|/gm;
my %seen;
cmp_ok(keys %meant, '>=', 5, 'the outcomes of the page');

subtest 'a load that goes on, then a crash after the decision' => \&decided;
subtest 'a crash before the decision' => \&undecided;
subtest 'what somebody else has prepared' => \&of_others;
is_deeply([ sort keys %seen ], [ sort keys %meant ], 'all outcomes of the page have been seen, and no others');
$_->stop foreach $main, $one, $two;
done_testing();

# The page's first command, without the times
sub look
{
	my @rows = map { s/\|.*\|/ /r } split /\n/, $main->safe_psql('postgres', $look);

	$seen{ s/^\w+ //r } = 1 foreach @rows;
	return join(', ', sort @rows);
}

# The page's other commands: server and outcome of each row, and what they add to
# it.  Their columns are those of the view.
sub resolve
{
	my ($rc, $out, $err) = $main->psql('postgres', $resolve);
	my @columns = split /,/, $main->safe_psql('postgres', "SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'fast_copy_in_doubt'::regclass AND attnum > 0");

	is($err, '', 'the commands of the page');
	return join(', ', map {
		my %row;

		@row{@columns} = split /\|/, $_, -1;
		"$row{server_name} $row{outcome}" . ($row{detail} =~ /^(It is of role "\w+"|could not connect to server)/ ? " ($1)" : '')
	} grep { /^\w+\|/ } split /\n/, $out);
}

sub start { return start_load($main, "SELECT fast_copy('t', '$file', options => '{\"remote_commit\": \"two_phase\"}', log_verbosity => 'silent')") }
sub rows { return join(' ', map { $_->safe_psql('postgres', 'SELECT count(*) FROM r') } $one, $two) }

sub decided
{
	hold($main);
	my $load = start();
	ok(holds($main), 'a load waits with its decision');
	is(look(), 'one in progress, two in progress', 'it goes on');
	is(resolve(), 'one in progress, one in progress, two in progress', 'and nobody ends it');
	$main->stop('immediate');
	finish_load($load);
	$main->start;
	release($main);
	is(look(), 'one to be committed, two to be committed', 'a crash');
	is(rows(), '0 0', 'no rows yet');
	$two->stop;
	is(look(), 'one to be committed, two unreachable', 'a server that is down');
	is(resolve(), 'one committed, two unreachable (could not connect to server)', 'the other one is resolved');
	$two->start;
	is(look(), 'two to be committed', 'it is up again');
	is(resolve(), 'two committed', 'and is resolved');
	is(rows(), '100 100', 'all rows are there');
	is(look(), '', 'nothing is left');
}

sub undecided
{
	hold($two);
	my $load = start();
	ok(holds($two), 'a load waits for a server that prepares');
	$main->stop('immediate');
	finish_load($load);
	$main->start;
	release($two);
	is(look(), 'one to be rolled back, two to be rolled back', 'a crash');
	is(resolve(), 'one rolled back, two rolled back', 'is resolved');
	is(rows(), '100 100', 'no more rows are there');
}

sub of_others
{
	hold($two);
	my $load = start();
	ok(holds($two), 'a load waits for a server that prepares');
	my $gid = $one->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts') =~ s/\d$/9/r;
	$one->safe_psql('postgres', "SET SESSION AUTHORIZATION other; BEGIN; INSERT INTO r VALUES (1); PREPARE TRANSACTION '$gid'");
	$main->stop('immediate');
	finish_load($load);
	$main->start;
	release($two);
	is(look(), 'one left, one to be rolled back, two to be rolled back', 'another role has prepared one');
	is(resolve(), 'one rolled back, one left (It is of role "other"), one left (It is of role "other"), two rolled back', 'which is left');
	$one->safe_psql('postgres', "ROLLBACK PREPARED '$gid'");
	is(look(), '', 'until it has ended it');
	is(rows(), '100 100', 'no more rows are there');
}
