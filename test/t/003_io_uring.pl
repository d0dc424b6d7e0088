# io_uring refused in every way a kernel or container refuses it: the load
# goes on with preadv, and one NOTICE names the cause.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {});
my $file = write_rows('rows.csv', 20000);
my $methods = "SELECT string_agg(DISTINCT io_method, ',') FROM fast_copy_report() WHERE io_method IS NOT NULL";
my $ring = uring_works();

# What this machine grants to an ordinary process.
sub uring_works
{
	my $params = "\0" x 120;

	return syscall(425, 8, $params) >= 0;
}

# Loads in a fresh session: rows and checksum, methods used, and what was said.
sub load
{
	my ($what, $settings) = @_;

	events($node, 't');
	my $load = start_load($node, "SET fast_copy.spill = offsets; $settings SELECT fast_copy('t', '$file', workers => 2);
		SET client_min_messages = warning;
		SELECT fast_copy('t', '$file', workers => 2, missing_partitions => 'error'); $methods;\n");
	my ($out, $err) = finish_load($load);
	my @lines = split /\n/, $out;
	is("@lines[0, 1]", '20000 20000', "$what: rows loaded");
	is($node->safe_psql('postgres', 'SELECT count(*), sum(n) FROM t'), '40000|400020000', "$what: rows there");
	return ($lines[2], unsaid($err));
}

subtest 'io_uring is used where it is granted' => sub {
	SKIP:
	{
		skip 'no io_uring here', 4 unless $ring;
		my ($method, $err) = load('granted', "SET fast_copy.io_method = 'io_uring';");
		is($method, 'io_uring', 'used');
		is($err, '', 'nothing said');
	}
};

subtest 'preadv is used where it is asked for' => sub {
	my ($method, $err) = load('sync', "SET fast_copy.io_method = 'sync';");
	is($method, 'sync', 'used');
	is($err, '', 'nothing said');
};

$node->stop;

my %cause = (
	EPERM => qr/io_uring_disabled|not permitted|seccomp/i,
	ENOSYS => qr/not implemented|kernel/i,
	ENOMEM => qr/memory|memlock/i,
	EMFILE => qr/files open/i);

foreach my $errno (sort keys %cause)
{
	subtest "$errno: preadv is used instead, and a NOTICE says why" => sub {
		PostgreSQL::Test::Utils::system_or_bail($^X, "$FindBin::Bin/refuse", $errno,
			'pg_ctl', '-w', '-s', '-D', $node->data_dir, '-l', $node->logfile, 'start');
		$node->_update_pid(1);
		my ($method, $err) = load($errno, "SET fast_copy.io_method = 'io_uring';");
		is($method, 'sync', 'preadv instead');
		is(() = $err =~ /NOTICE/g, 1, 'one NOTICE') or diag($err);
		like($err, $cause{$errno}, 'it names the cause');

		($method, $err) = load('auto', '');
		is($method, 'sync', 'auto: not io_uring');
		is(() = $err =~ /NOTICE/g, 1, 'auto: a NOTICE, too') or diag($err);
		$node->stop;
	};
}
done_testing();
