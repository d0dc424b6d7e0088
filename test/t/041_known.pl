# When a session knows the settings, to SHOW and to what completes their names:
# PostgreSQL asks the library, so that it must be there.  docs/reference.md says
# each way.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main');
my $known = q(SELECT count(*) > 10 FROM pg_settings WHERE name LIKE 'fast\_copy.%');

$node->safe_psql('postgres', 'CREATE DATABASE other; CREATE DATABASE preloaded; CREATE ROLE somebody LOGIN');
is(shown('other', "CREATE EXTENSION fast_copy; $known"), 't', 'the session that creates the extension knows its settings');
is(shown('other', $known), 'f', 'another one does not');
like(shown('other', 'SHOW fast_copy.memory'), qr/unrecognized configuration parameter "fast_copy.memory"/, 'nor can it show them');
is(shown('other', "LOAD 'fast_copy'; SHOW fast_copy.memory"), '-1', '... before the library is loaded');
is(shown('other', "SET ROLE somebody; SELECT count(*) > 0 FROM fast_copy_help(); $known; SHOW fast_copy.memory"), "t\nt\n-1",
	'by any function, of any role');

is(shown('other', "SET fast_copy.memory = '1GB'; SELECT count(*) > 0 FROM fast_copy_help(); SHOW fast_copy.memory"), "t\n1GB",
	'what was set before then counts');
like(shown('other', "SET fast_copy.memory = 'much'; SELECT count(*) > 0 FROM fast_copy_help(); SHOW fast_copy.memory"),
	qr/WARNING:  invalid value for parameter "fast_copy.memory": "much".*^t\n-1/ms, 'if it is valid');
like(shown('other', "SET fast_copy.memroy = '1GB'; SELECT count(*) > 0 FROM fast_copy_help()"),
	qr/WARNING:  invalid configuration parameter name "fast_copy.memroy"/, 'if there is such a setting');

$node->safe_psql('postgres', "ALTER DATABASE preloaded SET session_preload_libraries = 'fast_copy'");
is(shown('preloaded', $known), 't', 'all sessions of a database, by session_preload_libraries');
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'fast_copy'");
$node->restart;
is(shown('postgres', $known), 't', 'all sessions of the server, by shared_preload_libraries');
like(shown('postgres', 'SET fast_copy.memroy = 1'), qr/invalid configuration parameter name "fast_copy.memroy"/, 'which refuse a wrong name at once');
$node->stop;
done_testing();

# What a new session prints, errors and warnings first
sub shown
{
	my ($database, $sql) = @_;
	my ($rc, $out, $err) = $node->psql($database, $sql);

	return join("\n", grep { $_ ne '' } $err, $out);
}
