# The library in $libdir/plugins, from where any user may load it: it gives no
# privilege, is one library with that of the functions, and serves COPY where
# the extension is not even made.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use File::Copy;
use Test::More;

my $node = new_node('main', {}, 'fast_copy.accelerate_min_size = 0', "fast_copy.chunk_size = '16kB'");
my $lib = `pg_config --pkglibdir` =~ s/\n//r;
my $made = '';

my $rows = write_rows('rows.csv', 4000);
my $load = '$libdir/plugins/fast_copy';

$node->safe_psql('postgres', "CREATE ROLE someone LOGIN; CREATE DATABASE bare; GRANT CREATE ON SCHEMA public TO someone; GRANT pg_read_server_files TO someone");
$node->safe_psql('bare', "CREATE TABLE t (n int, ts timestamp, v text); GRANT INSERT, SELECT, TRUNCATE ON t TO someone");
$node->safe_psql('postgres', "CREATE TABLE t (n int, ts timestamp, v text); GRANT INSERT, SELECT, TRUNCATE ON t TO someone");

SKIP:
{
	skip "$lib is not ours to write to", 1 unless -w $lib || -w "$lib/plugins";
	install(sub { symlink('../fast_copy.so', $_[0]) });
	subtest 'any user loads it, in any database' => \&anybody_loads_it;
	subtest 'it gives no privilege' => \&no_privilege;
	subtest 'it is the library of the functions and of the workers' => \&one_library;
	subtest 'a copy of it is refused' => \&a_copy_is_refused;
}
$node->stop;
done_testing();

END { unlink $made if $made ne '' }

# Puts it there; a link that somebody else has made stays as it is.
sub install
{
	my ($make) = @_;

	mkdir "$lib/plugins";
	return if -l "$lib/plugins/fast_copy.so";
	$made = "$lib/plugins/fast_copy.so";
	$make->($made) or die "$made: $!\n";
}

# Status, output and errors of a session of the role's own, without the last
# line of a load
sub as_someone
{
	my ($database, $sql) = @_;
	my @answer = $node->psql($database, "\\set VERBOSITY verbose\n$sql", extra_params => [ '-U', 'someone' ], on_error_stop => 0);

	$answer[2] = unsaid($answer[2]);
	return @answer;
}

sub anybody_loads_it
{
	my $copy = "COPY t FROM '$rows' (FORMAT csv, fast_copy, workers 2)";

	like((as_someone('bare', $copy))[2], qr/option "fast_copy" not recognized/, 'before, COPY knows no option');
	is((as_someone('bare', "LOAD '$load'; $copy; SELECT count(*) FROM t"))[1], 4000, 'LOAD by a user without superuser');
	is((as_someone('bare', "ALTER ROLE someone SET local_preload_libraries = 'fast_copy'"))[2], '', 'for all sessions of a user, by himself');
	is((as_someone('bare', "SHOW fast_copy.workers; TRUNCATE t; $copy; SELECT count(*) FROM t"))[1], "-1\n4000", 'settings and option are known at once');
	is((as_someone('bare', "ALTER ROLE someone SET fast_copy.workers = 1"))[2], '', '... and he may set for himself');
	is((as_someone('bare', 'SHOW fast_copy.workers; ALTER ROLE someone RESET fast_copy.workers; ALTER ROLE someone RESET local_preload_libraries'))[1], 1, '... what all may');
	local $ENV{PGOPTIONS} = '-c local_preload_libraries=fast_copy -c fast_copy.accelerate_copy=on -c fast_copy.workers=2';
	my ($rc, $out, $err) = as_someone('postgres', "TRUNCATE t; COPY t FROM '$rows' (FORMAT csv); SELECT max(processes) > 1 FROM fast_copy_report()");
	is("$out$err", 't', 'COPY is accelerated by PGOPTIONS alone');
}

sub no_privilege
{
	my $secret = write_bytes('secret.csv', "1,2013-01-01,x\n");
	my $copy = "COPY t FROM '$secret' (FORMAT csv, fast_copy)";
	my $denied = qr/ERROR:  42501: permission denied to COPY from a file/;

	$node->safe_psql('postgres', 'REVOKE pg_read_server_files FROM someone');
	like((as_someone('bare', "LOAD '$load'; $copy"))[2], $denied, 'no file of the server');
	like((as_someone('bare', "LOAD '$load'; SET fast_copy.root_directory = '/'"))[2], qr/42501: permission denied to set parameter/, 'root_directory stays with superusers');
	like((as_someone('bare', "SET fast_copy.root_directory = '/'; LOAD '$load'; $copy"))[2], $denied, '... if it was set before');
	like((as_someone('bare', "LOAD '$load'; SET fast_copy.log_min_duration = 0"))[2], qr/42501: permission denied to set parameter/, 'so does log_min_duration');
	like((as_someone('bare', "LOAD '$load'; COPY t FROM PROGRAM 'true' (FORMAT csv, fast_copy)"))[2], qr/ERROR:  42501: permission denied to COPY to or from an external program/, 'no program');
	$node->safe_psql('bare', 'REVOKE INSERT ON t FROM someone');
	like((as_someone('bare', "LOAD '$load'; COPY t FROM STDIN (FORMAT csv, fast_copy);\n1,2013-01-01,x\n\\.\n"))[2], qr/ERROR:  42501: permission denied for table t/, 'no table');
	like((as_someone('bare', "LOAD '$load'; SELECT fast_copy('t', '$secret')"))[2], qr/42883: function fast_copy\(unknown, unknown\) does not exist/, 'no function');
	$node->safe_psql('bare', 'GRANT INSERT ON t TO someone');
	$node->safe_psql('postgres', 'GRANT pg_read_server_files TO someone');
}

sub one_library
{
	my $call = "TRUNCATE t; SELECT fast_copy('t', '$rows', workers => 2); SELECT max(processes) > 1 FROM fast_copy_report()";

	foreach my $first ("LOAD '$load'; $call", "$call; LOAD '$load'")
	{
		my ($rc, $out, $err) = as_someone('postgres', $first);

		is("$out$err", "4000\nt", 'both in one session: ' . ($first =~ /^LOAD/ ? 'plugin first' : 'function first'));
	}
}

sub a_copy_is_refused
{
  SKIP:
	{
		skip 'the link is not ours', 2 if $made eq '';
		unlink $made;
		copy("$lib/fast_copy.so", $made) or die "$made: $!\n";
		chmod 0755, $made;
		my ($rc, $out, $err) = as_someone('postgres', "LOAD '$load'; SELECT fast_copy('t', '$rows'); SELECT 'alive'");
		like($err, qr/ERROR:  .*attempt to redefine parameter/, 'by the functions');
		is($out, 'alive', '... and the session goes on');
	}
}
