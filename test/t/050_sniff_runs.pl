# What fast_copy_sniff returns is run: both statements or none, however often, by
# psql and by drivers.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', {});
my $path = write_bytes('sales.csv', "day;shop;amount\n30.03.2024;Ulm;0,37\n31.03.2024;Bonn;1,50\n");

# How \gexec ends, and how many rows a table has then, or that there is none
sub gexec
{
	my ($arguments, $table) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n\\set ON_ERROR_STOP off\nSELECT fast_copy_sniff($arguments) \\gexec\n");
	my $there = $node->safe_psql('postgres', "SELECT to_regclass('$table') IS NOT NULL");

	return (unsaid($err), $there eq 't' ? $node->safe_psql('postgres', "SELECT count(*) FROM $table") : 'none');
}

subtest 'the same command again' => sub {
	my ($err, $rows) = gexec("'$path'", 'sales');
	is($err, '', 'the first time');
	is($rows, 2, 'loads the rows');
	($err, $rows) = gexec("'$path'", 'sales');
	like($err, qr/42P07: relation "sales" already exists/, 'the second time is an error');
	is($rows, 2, 'and no row comes twice');
};

subtest 'a table that has the name by chance' => sub {
	my $users = write_bytes('users.csv', "name,born\nAl,1990\n");

	$node->safe_psql('postgres', 'CREATE TABLE users (login text, failures int)');
	my ($err, $rows) = gexec("'$users'", 'users');
	like($err, qr/42P07: relation "users" already exists/, 'an error');
	is($rows, 0, 'no row');
	($err, $rows) = gexec("'$users', 'users'", 'users');
	is($err, '', 'if it is named');
	is($rows, 1, 'it gets them');
};

subtest 'a load that fails leaves no table' => sub {
	# a large file is looked at in 64 places of 64 kB: not at its bytes 80,000 and more
	my $large = write_bytes('large.csv', "n,t\n" . join('', map { ($_ == 5000 ? 'none' : sprintf('%06d', $_)) . ",row $_\n" } 100000 .. 104999, 5000, 105000 .. 900000));

	my ($err, $rows) = gexec("'$large', 'large', header => true", 'large');
	like($err, qr/22P02: invalid input syntax for type bigint: "none"\n.*line 5002/s, 'the value that was not seen');
	is($rows, 'none', 'the table is not there');
};

subtest 'drivers' => sub {
	my $both = $node->safe_psql('postgres', "SELECT fast_copy_sniff('$path', 'driven')");
	my $socket = connection($node);

	say_to($socket, [ 'P', "\0$both\0" . pack('n', 0) ], ['S']);
	my ($error) = map { $_->[1] } grep { $_->[0] eq 'E' } messages($socket, 'Z');
	like($error, qr/42601.*cannot insert multiple commands into a prepared statement/s, 'one that prepares takes one statement at a time');
	say_to($socket, [ 'Q', "$both\0" ]);
	is((grep { $_->[0] eq 'E' } messages($socket, 'Z')), 0, 'as a simple query both are run');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM driven'), 2, 'with their rows');
	close $socket;
};

$node->stop;
done_testing();
