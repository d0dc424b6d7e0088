# Who may send rows to which server, as whom, and what of it others get to see.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t", $FindBin::Bin;
use FastCopy;
use Liar;
use IO::Socket::UNIX;
use POSIX ();
use Test::More;

my $node = new_node('main', {}, 'max_prepared_transactions = 10', 'session_preload_libraries = fast_copy', 'log_statement = none');
needs($node, 'postgres_fdw');
my $there = new_node('there', { allows_streaming => 1 }, 'max_prepared_transactions = 10', 'log_connections = on', 'log_statement = all');
my $SECRET = 'open sesame';
my $file = write_bytes('rows.csv', join('', map { "$_,x\n" } 1 .. 10));
my $OURS = "WHERE server = (SELECT oid FROM pg_foreign_server WHERE srvname = 'there')";
# the socket's directory and the process of a server that lies
my ($liar, $lies) = (PostgreSQL::Test::Utils::tempdir_short());
my $LOAD = "SELECT fast_copy('t', '$file', log_verbosity => 'silent')";

# asked, who must give a password, and trusted, who need not
$there->safe_psql('postgres', "CREATE ROLE asked LOGIN PASSWORD '$SECRET'; CREATE ROLE trusted LOGIN;
	CREATE TABLE r (n int, v text, who text DEFAULT current_user); GRANT ALL ON r TO PUBLIC");
my $hba = $there->data_dir . '/pg_hba.conf';
my $rules = PostgreSQL::Test::Utils::slurp_file($hba);
open(my $out, '>', $hba) or die "$hba: $!";
print $out "local all asked scram-sha-256\n$rules";
close $out;
$there->reload;

query("CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster; CREATE ROLE loader; CREATE ROLE other; CREATE ROLE boss SUPERUSER; GRANT pg_read_server_files TO loader, other;
	CREATE SERVER there FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $there->host . "', port '" . $there->port . "', dbname 'postgres');
	CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $node->host . "', port '" . $node->port . "', dbname 'postgres');
	GRANT USAGE ON FOREIGN SERVER there, here TO PUBLIC;
	CREATE FOREIGN TABLE t (n int, v text) SERVER there OPTIONS (schema_name 'public', table_name 'r');
	CREATE TABLE mine (n int, v text);
	CREATE FOREIGN TABLE loop (n int, v text) SERVER here OPTIONS (schema_name 'public', table_name 'mine');
	GRANT INSERT ON t, loop TO loader, other");

subtest 'users and passwords' => \&passwords;
subtest 'as whom' => \&as_whom;
subtest 'privileges' => \&privileges;
subtest 'names' => \&names;
subtest 'which wrapper, which options' => \&which;
subtest 'decisions of others' => \&decisions;
subtest 'who owns a database there' => \&owner;
subtest 'servers of strangers' => \&strangers;
subtest 'Citus without its library' => \&unloaded_citus;
subtest 'what a server says it has prepared' => \&invented;
subtest 'a server that does not answer' => \&silent;
subtest 'tables that are made there' => \&made;
subtest 'locks that the same transaction holds there' => \&locks;
unlike(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/sesame/, 'no password in the log');
$_->stop foreach $node, $there;
done_testing();

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

sub mapping
{
	my ($role, $options, $server) = @_;

	$server //= 'there';
	query("DROP USER MAPPING IF EXISTS FOR $role SERVER $server");
	query("CREATE USER MAPPING FOR $role SERVER $server OPTIONS ($options)") if defined $options;
}

# What a load by a role says, with SQLSTATE
sub loaded_by
{
	my ($role, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nSET ROLE $role;\n" . ($sql // $LOAD));

	return "$out$err";
}

# Roles there of the rows, which are forgotten then
sub who
{
	my $who = $there->safe_psql('postgres', "SELECT string_agg(DISTINCT who || ' ' || n, ', ') FROM (SELECT who, count(*) AS n FROM r GROUP BY who) x");

	$there->safe_psql('postgres', "SET lock_timeout = '20s'; TRUNCATE r");
	return $who;
}

# Connections there since the last call
my $seen = '';
sub connections
{
	my $log = PostgreSQL::Test::Utils::slurp_file($there->logfile);
	my $new = substr($log, length $seen);

	$seen = $log;
	return scalar(() = $new =~ /connection authorized: .*application_name=fast_copy/g);
}

sub passwords
{
	mapping('loader', "user 'asked', password '$SECRET'");
	is(loaded_by('loader'), 10, 'a password that is asked for');
	is(who(), 'asked 10', 'its rows');

	connections();
	mapping('loader', "user 'trusted'");
	like(loaded_by('loader'), qr/ERROR:  2F003: password is required\n(LOCATION.*\n)?DETAIL:  Non-superusers must provide a password in the user mapping\./, 'none in the mapping');
	mapping('loader', "user 'trusted', password ''");
	like(loaded_by('loader'), qr/ERROR:  2F003: password is required\n(LOCATION.*\n)?DETAIL:  Non-superusers must provide/, 'an empty one');
	is(connections(), 0, 'nobody connects for that');
	mapping('loader', "user 'trusted', password '$SECRET'");
	like(loaded_by('loader'), qr/ERROR:  2F003: password is required\n(LOCATION.*\n)?DETAIL:  Non-superuser cannot connect if the server does not request a password\./, 'one that is not asked for');
	mapping('loader', "user 'asked', password 'close sesame'");
	my $said = loaded_by('loader');
	like($said, qr/ERROR:  08001: could not connect to server "there"\n(LOCATION.*\n)?DETAIL:  .*password authentication failed for user "asked"/, 'a wrong one');
	unlike($said, qr/sesame/, 'which is not told');
	is(who(), '', 'no rows');

	mapping('loader', "user 'trusted', password_required 'false'");
	is(loaded_by('loader'), 10, 'none, by a word of a superuser');
	is(who(), 'trusted 10', 'its rows');
	mapping('loader');
	like(loaded_by('loader'), qr/ERROR:  42704: user mapping not found for (user )?"loader"/, 'no mapping');
	mapping('boss', "user 'trusted'");
	is(loaded_by('boss'), 10, 'a superuser needs none');
	is(who(), 'trusted 10', 'its rows');

	# this server lets in whoever comes from this machine
	mapping('loader', "user 'postgres'", 'here');
	like(loaded_by('loader', $LOAD =~ s/'t'/'loop'/r), qr/ERROR:  2F003: password is required/, 'this server itself');
	mapping('loader', "user 'postgres', password '$SECRET'", 'here');
	like(loaded_by('loader', $LOAD =~ s/'t'/'loop'/r), qr/ERROR:  2F003: password is required/, 'with a password, too');
	is(query('SELECT count(*) FROM mine'), 0, 'no rows');
}

sub as_whom
{
	mapping('loader', "user 'asked', password '$SECRET'");
	mapping('other', "user 'trusted', password_required 'false'");
	loaded_by('loader');
	is(who(), 'asked 10', 'SET ROLE');
	query("CREATE FUNCTION as_other() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public AS \$\$ $LOAD \$\$; ALTER FUNCTION as_other OWNER TO other");
	is(loaded_by('loader', 'SELECT as_other()'), 10, 'a SECURITY DEFINER function');
	is(who(), 'trusted 10', 'is its owner');
	is(loaded_by('loader', "BEGIN; $LOAD; SELECT as_other(); RESET ROLE; SET ROLE other; $LOAD; COMMIT") =~ s/\n/ /gr, '10 10 10', 'both in one transaction');
	is(who(), 'asked 10, trusted 20', 'each is itself');
	is(query('SELECT string_agg(DISTINCT loaded_by::regrole::text, \', \') FROM fast_copy_transactions WHERE server <> 0'), 'loader, other', 'and so is what the log says');
}

sub privileges
{
	query('REVOKE INSERT ON t FROM loader');
	like(loaded_by('loader'), qr/ERROR:  42501: permission denied for foreign table t/, 'no INSERT');
	is(who(), '', 'no rows');
	query('GRANT INSERT (n) ON t TO loader');
	like(loaded_by('loader'), qr/ERROR:  42501: permission denied/, 'INSERT of another column');

	# whoever may insert into the partitioned table may insert into its partitions
	query("CREATE TABLE p (n int, v text) PARTITION BY RANGE (n); ALTER TABLE p ATTACH PARTITION t FOR VALUES FROM (0) TO (100); GRANT INSERT ON p TO loader");
	is(loaded_by('loader', $LOAD =~ s/'t'/'p'/r), 10, 'INSERT on the partitioned table');
	is(who(), 'asked 10', 'its rows');
	query('ALTER TABLE p DETACH PARTITION t; DROP TABLE p; GRANT INSERT ON t TO loader');
	$there->safe_psql('postgres', 'REVOKE INSERT ON r FROM PUBLIC');
	like(loaded_by('loader'), qr/ERROR:  42501: permission denied for table r/, 'no INSERT there');
	$there->safe_psql('postgres', 'GRANT INSERT ON r TO PUBLIC');
}

sub names
{
	$there->safe_psql('postgres', q{CREATE SCHEMA "S""; DROP TABLE r; --"; CREATE TABLE "S""; DROP TABLE r; --"."t 'x\y"" (" (n int, "v"") FROM STDIN; --" text); GRANT ALL ON SCHEMA "S""; DROP TABLE r; --" TO PUBLIC;
		GRANT ALL ON ALL TABLES IN SCHEMA "S""; DROP TABLE r; --" TO PUBLIC});
	query(q{CREATE FOREIGN TABLE odd (n int, v text OPTIONS (column_name 'v") FROM STDIN; --')) SERVER there OPTIONS (schema_name 'S"; DROP TABLE r; --', table_name 't ''x\y" ('); GRANT INSERT ON odd TO loader});
	is(loaded_by('loader', $LOAD =~ s/'t'/'odd'/r), 10, 'of schema, table and column');
	is($there->safe_psql('postgres', q{SELECT count("v"") FROM STDIN; --") FROM "S""; DROP TABLE r; --"."t 'x\y"" ("}), 10, 'are quoted');
}

# The way and the reason of a load
sub way
{
	my ($table) = @_;

	return query("SET client_min_messages = warning; SELECT fast_copy('$table', '$file'); SELECT way || ': ' || coalesce(reason, '') FROM fast_copy_report() WHERE phase = 'total'") =~ s/^10\n//r;
}

sub which
{
	mapping('PUBLIC', "user 'trusted', password_required 'false'");
	unlike(way('t'), qr/^copy/, 'postgres_fdw: sent');
	query("CREATE FOREIGN DATA WRAPPER another HANDLER postgres_fdw_handler VALIDATOR postgres_fdw_validator;
		CREATE SERVER by_another FOREIGN DATA WRAPPER another OPTIONS (host '" . $there->host . "', port '" . $there->port . "', dbname 'postgres');
		CREATE USER MAPPING FOR PUBLIC SERVER by_another OPTIONS (user 'trusted', password_required 'false');
		CREATE FOREIGN TABLE ta (n int, v text) SERVER by_another OPTIONS (schema_name 'public', table_name 'r')");
	unlike(way('ta'), qr/^copy/, 'by another name: sent');

	# options that have not been checked
	query("CREATE FOREIGN DATA WRAPPER unchecked HANDLER postgres_fdw_handler;
		CREATE SERVER by_unchecked FOREIGN DATA WRAPPER unchecked OPTIONS (host '" . $there->host . "', port '" . $there->port . "', dbname 'postgres');
		CREATE USER MAPPING FOR PUBLIC SERVER by_unchecked OPTIONS (user 'trusted', password_required 'false');
		CREATE FOREIGN TABLE tu (n int, v text) SERVER by_unchecked OPTIONS (schema_name 'public', table_name 'r')");
	like(way('tu'), qr/^copy.*not kept by postgres_fdw/, 'without the validator: core');
	query("CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER nothing BEFORE INSERT ON ta FOR EACH ROW EXECUTE FUNCTION nothing()");
	like(way('ta'), qr/^copy.*triggers/, 'a trigger: core');
	my %values = (regclass => 'pg_class', money => '1', mood => 'x', positive => '1', 'int[]' => '"{1}"', 'mood[]' => '{x}');
	my $types = "CREATE TYPE mood AS ENUM ('x'); CREATE DOMAIN positive AS int CHECK (VALUE > 0)";
	query($types);
	$there->safe_psql('postgres', $types);
	foreach my $type (sort keys %values)
	{
		my $values = write_bytes('values.csv', "$values{$type}\n");

		$there->safe_psql('postgres', "DROP TABLE IF EXISTS ty; CREATE TABLE ty (o $type); GRANT ALL ON ty TO PUBLIC");
		query("DROP FOREIGN TABLE IF EXISTS ty; CREATE FOREIGN TABLE ty (o $type) SERVER there OPTIONS (schema_name 'public')");
		my $way = query("SET client_min_messages = warning; SELECT fast_copy('ty', '$values'); SELECT way || ': ' || coalesce(reason, '') FROM fast_copy_report() WHERE phase = 'total'");
		like($way, $type eq 'int[]' ? qr/^1\nsend/ : qr/^1\ncopy.*has a type that may be another one there/, "a column of type $type");
	}
  SKIP:
	{
		skip('no such option before 16', 1) if $node->pg_version < 16;
		query("ALTER SERVER there OPTIONS (ADD gssdelegation '0')");
		like(way('t'), qr/^copy.*option/, 'delegation of credentials: core');
		query('ALTER SERVER there OPTIONS (DROP gssdelegation)');
	}
  SKIP:
	{
		skip('no such option before 18', 1) if $node->pg_version < 18;
		query("ALTER SERVER there OPTIONS (ADD use_scram_passthrough 'true')");
		like(way('t'), qr/^copy.*option/, 'pass-through of secrets: core');
		query('ALTER SERVER there OPTIONS (DROP use_scram_passthrough)');
	}
	# what the other server has is another table
	$there->safe_psql('postgres', 'CREATE TABLE wide (n numeric, v text); GRANT ALL ON wide TO PUBLIC; CREATE TABLE ruled (n int, v text); CREATE RULE rule AS ON INSERT TO ruled DO INSTEAD NOTHING; GRANT ALL ON ruled TO PUBLIC');
	query("CREATE FOREIGN TABLE $_ (n int, v text) SERVER there OPTIONS (schema_name 'public')") foreach 'wide', 'ruled';
	like(loaded_by('postgres', $LOAD =~ s/'t'/'wide'/r), qr/ERROR:  42804: foreign table "wide" is not what server "there" has\n(LOCATION.*\n)?DETAIL:  Column "n" is of type numeric there, and integer here\./, 'another type');
	like(loaded_by('postgres', $LOAD =~ s/'t'/'ruled'/r), qr/DETAIL:  The table there has rules, which COPY would not follow\./, 'rules');
	query('DROP USER MAPPING FOR PUBLIC SERVER there');
	who();
}

sub decisions
{
	my $two = "SELECT fast_copy('t', '$file', log_verbosity => 'silent', options => '{\"remote_commit\": \"two_phase\"}')";

	mapping('loader', "user 'asked', password '$SECRET'");
	is(loaded_by('loader', $two), 10, 'a role without any privilege for the log commits by it');
	is(who(), 'asked 10', 'its rows');
	foreach my $sql ('SELECT * FROM fast_copy_transactions', "INSERT INTO fast_copy_transactions VALUES ('x', 1, 1, 1, now())",
		'DELETE FROM fast_copy_transactions', 'TRUNCATE fast_copy_transactions', 'BEGIN; LOCK fast_copy_transactions', 'CREATE TRIGGER x AFTER INSERT ON fast_copy_transactions EXECUTE FUNCTION nothing()')
	{
		like(loaded_by('loader', $sql), qr/ERROR:  42501: (permission denied|must be owner)/, "it may not $sql");
	}

	# transactions there under names that a load could have, of others, and one
	# that a load has given up
	my $prefix = query("SELECT gid FROM fast_copy_transactions $OURS LIMIT 1") =~ s/_\d+_[0-9a-f]{16}_\d+$//r;
	my %gids = (postgres => "${prefix}_1_0123456789abcdef_1", asked => "${prefix}_2_0123456789abcde0_1");
	$there->safe_psql('postgres', "SET SESSION AUTHORIZATION $_; BEGIN; INSERT INTO r VALUES (1); PREPARE TRANSACTION '$gids{$_}'") foreach sort keys %gids;
	$there->safe_psql('postgres', "BEGIN; INSERT INTO r VALUES (1); PREPARE TRANSACTION 'not ours'");
	$there->safe_psql('postgres', "BEGIN; INSERT INTO r VALUES (1); PREPARE TRANSACTION '${prefix}_no number'");
	is(loaded_by('loader', 'SELECT gid, outcome, detail FROM fast_copy_in_doubt WHERE server_name = \'there\' ORDER BY gid COLLATE "C"'),
		"$gids{postgres}|left|It is of role \"postgres\".\n$gids{asked}|to be rolled back|\n${prefix}_no number|left|It is of role \"postgres\".", 'who may end what');
	is(loaded_by('loader', 'SELECT gid, outcome FROM fast_copy_resolve(\'there\') WHERE outcome <> \'left\''), "$gids{asked}|rolled back", 'ends its own');
	is($there->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts'), 3, 'and no others');
	is(loaded_by('other', 'SELECT count(*) FROM fast_copy_resolve(\'there\') WHERE outcome <> \'left\''), 0, 'another role ends nothing');
	is(loaded_by('loader', $two), 10, 'the next load is not disturbed');
	$there->safe_psql('postgres', "ROLLBACK PREPARED '$_'") foreach $gids{postgres}, 'not ours', "${prefix}_no number";
	who();

	# a decision stays as long as somebody else must carry it out
	is(loaded_by('loader', $two), 10, 'a load');
	my $gid = query("SELECT gid FROM fast_copy_transactions $OURS");
	$there->safe_psql('postgres', "BEGIN; INSERT INTO r VALUES (1); PREPARE TRANSACTION '$gid'");
	loaded_by('loader', 'SELECT * FROM fast_copy_resolve()');
	is(query("SELECT gid FROM fast_copy_transactions $OURS"), $gid, 'a decision that the role there may not carry out stays');
	mapping('boss', "user 'postgres'");
	is(loaded_by('boss', "SELECT outcome FROM fast_copy_resolve('there') WHERE outcome <> 'left'"), 'committed', 'a superuser resolves with all mappings');
	is(query("SELECT count(*) FROM fast_copy_transactions $OURS"), 0, 'it has been carried out');
	who();

	# locks of users are not in the way
	is(loaded_by('loader', "SELECT pg_advisory_lock_shared(n) FROM generate_series(1, 3) n; $two") =~ s/^\n+//r, 10, 'advisory locks');
	who();
}

# A role that may use postgres_fdw makes servers, and mappings for everybody and
# for superusers.  A superuser looks what there is.
sub strangers
{
	my $far = "host '" . $there->host . "', port '" . $there->port . "', dbname 'postgres'";
	my $passfile = write_bytes('passfile', "*:*:*:*:$SECRET\n");
	my $is_superuser = sub { return query("SELECT rolsuper FROM pg_roles WHERE rolname = 'stranger'") };
	my $named = sub { return query("SELECT string_agg(outcome || ' ' || coalesce(detail, ''), ', ') FROM fast_copy_resolve('$_[0]')") };
	my $all = sub { return join(' ', map { query("SELECT count(*) FROM $_ WHERE server_name IN ('trap', 'far')") } 'fast_copy_resolve()', 'fast_copy_in_doubt') };

	chmod 0600, $passfile;
	query('DROP SERVER IF EXISTS by_another, by_unchecked CASCADE');
	mapping($_) foreach 'PUBLIC', 'loader', 'other', 'boss';
	query("CREATE ROLE stranger LOGIN; GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO stranger; CREATE SCHEMA m; GRANT ALL ON SCHEMA m TO stranger");
	loaded_by('stranger', "CREATE FUNCTION m.eq(text, text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN ALTER ROLE stranger SUPERUSER; RETURN true; END';
		CREATE OPERATOR m.= (LEFTARG = text, RIGHTARG = text, FUNCTION = m.eq);
		CREATE SERVER trap FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $node->host . "', port '" . $node->port . "', dbname 'postgres', options '-c search_path=m,pg_catalog');
		CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS ($far, passfile '$passfile')");
	foreach my $for ('PUBLIC', 'postgres')
	{
		loaded_by('stranger', "CREATE USER MAPPING FOR $for SERVER trap OPTIONS (user 'postgres'); CREATE USER MAPPING FOR $for SERVER far OPTIONS (user 'asked')");
		connections();
		is($all->(), '0 0', "a mapping for $for: a superuser who looks at all servers does not see these");
		is(connections(), 0, 'and connects to none of them');
		like($named->($_), qr/^unreachable password is required/, "$_: nor without a password if it is named") foreach 'trap', 'far';
		is(connections(), 0, 'a file of passwords is not used');
		is($is_superuser->(), 'f', 'the stranger is no superuser');
		loaded_by('stranger', "ALTER USER MAPPING FOR $for SERVER trap OPTIONS (ADD password '$SECRET')");
		like($named->('trap'), qr/^unreachable password is required: Non-superuser cannot connect if the server does not request/, 'a password that is not asked for');
		is($is_superuser->(), 'f', 'the stranger is no superuser');
		loaded_by('stranger', "DROP USER MAPPING FOR $for SERVER trap; DROP USER MAPPING FOR $for SERVER far");
	}

	# with a password, for who has named it, and for the stranger
	loaded_by('stranger', "CREATE USER MAPPING FOR PUBLIC SERVER far OPTIONS (user 'asked', password '$SECRET')");
	connections();
	is($named->('far'), '', 'a password that is asked for');
	is(connections(), 1, 'with it the named server is asked');
	unlike(loaded_by('stranger', 'SELECT outcome FROM fast_copy_resolve()'), qr/ERROR/, 'the stranger looks at all');
	is(connections(), 1, 'and so at that of his own');
	loaded_by('other', 'SELECT outcome FROM fast_copy_resolve()');
	is(connections(), 0, 'others do not, unless they name it');
	loaded_by('other', "SELECT outcome FROM fast_copy_resolve('far')");
	is(connections(), 1, 'as this one');

	# what users put into mappings of their own, for a superuser's server
	query("ALTER SERVER there OPTIONS (ADD passfile '$passfile')");
	query('GRANT USAGE ON FOREIGN SERVER there TO stranger');
	loaded_by('stranger', "CREATE USER MAPPING FOR stranger SERVER there OPTIONS (user 'asked')");
	connections();
	is(query("SELECT detail FROM fast_copy_resolve() WHERE server_name = 'there'"), 'password is required: Non-superusers must provide a password in the user mapping.', "a user's mapping needs a password");
	is(connections(), 0, 'nobody connects for that');
	query("DROP USER MAPPING FOR stranger SERVER there; ALTER SERVER there OPTIONS (DROP passfile)");
	mapping('boss', "user 'trusted'");
	is(query("SELECT count(*) FROM fast_copy_resolve() WHERE server_name = 'there'"), 0, "a superuser's does not");
	is(connections(), 1, 'and is used');
	query('DROP SERVER trap, far CASCADE');
}

# Citus is created here, but its library not loaded: anybody can define settings of
# its names, which say how to connect.  Its catalogs are stood in for.
sub unloaded_citus
{
	query("SET allow_system_table_mods = on; INSERT INTO pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion) VALUES (99999, 'citus', 10, 11, false, '13');
		CREATE TABLE pg_catalog.pg_dist_node (nodeid int, groupid int, nodename text, nodeport int, isactive bool, noderole text, nodecluster name);
		CREATE TABLE pg_catalog.pg_dist_authinfo (nodeid int, rolename name, authinfo text); CREATE ROLE tenant;
		INSERT INTO pg_dist_node VALUES (1, 1, '" . $node->host . "', " . $node->port . ", true, 'primary', 'default');
		INSERT INTO pg_depend VALUES ('pg_class'::regclass, 'pg_dist_node'::regclass, 0, 'pg_extension'::regclass, 99999, 0, 'e'),
			('pg_class'::regclass, 'pg_dist_authinfo'::regclass, 0, 'pg_extension'::regclass, 99999, 0, 'e')");
	connections();
	is(loaded_by('tenant', "SET citus.enable_manual_changes_to_shards = on; SET citus.node_conninfo = 'host=" . $there->host . ' port=' . $there->port . " passfile=x';
		SELECT outcome, detail FROM fast_copy_resolve()"), '', 'a library of Citus that is not loaded');
	query("SET allow_system_table_mods = on; DELETE FROM pg_depend WHERE refobjid = 99999 AND refclassid = 'pg_extension'::regclass; DELETE FROM pg_extension WHERE oid = 99999;
		DROP TABLE pg_catalog.pg_dist_node, pg_catalog.pg_dist_authinfo; DROP ROLE tenant");
}

# A server that answers each command by what a function returns: messages of the
# protocol, or nothing
# A test that dies must not leave it behind: it holds the test's output open
END { my $rc = $?; kill 'KILL', $lies if $lies; $? = $rc }

sub start_liar
{
	my ($answer) = @_;

	unlink "$liar/.s.PGSQL.5432";
	my $listen = IO::Socket::UNIX->new(Type => IO::Socket::UNIX::SOCK_STREAM(), Local => "$liar/.s.PGSQL.5432", Listen => 5) or die "listen: $!";
	$lies = fork() // die "fork: $!";
	if ($lies)
	{
		close $listen;
		return;
	}
	while (my $client = $listen->accept)
	{
		sysread($client, my $start, 10000);
		syswrite($client, "R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I");
		while (sysread($client, my $query, 10000))
		{
			my $messages = $answer->($query) // next;
			print $client $messages . Liar::ready();
			$client->flush;
		}
	}
	POSIX::_exit(0);
}

sub stop_liar
{
	kill 'KILL', $lies;
	waitpid($lies, 0);
	$lies = 0;
}

# Rows of so many columns
sub rows
{
	my ($columns, @rows) = @_;

	return Liar::columns(1 .. $columns) . join('', map { Liar::row(@$_) } @rows) . Liar::tag('SELECT ' . @rows);
}

# Names that look like ours, as many as it likes, and values that are none
sub invented
{
	my $say = sub {
		my ($n, $prepared, $why) = @_;

		start_liar(sub {
			return rows(3, map { [ "${1}1_" . sprintf('%016x', $_) . '_1', $prepared, $why ] } 1 .. $n) if $_[0] =~ /starts_with\(gid, '(\w+)'\)/;
			return Liar::tag('ROLLBACK PREPARED') if $_[0] =~ /ROLLBACK PREPARED/;
			return $_[0] =~ /gid = / ? rows(0, []) : $_[0] =~ /system_identifier/ ? rows(4, [ '0', '0', 't', 'f' ]) : $_[0] =~ /pg_extension/ ? rows(1) : rows(1, ['']);
		});
	};
	my $resolve = "SET statement_timeout = '30s'; BEGIN; SELECT count(*), min(outcome), max(outcome) FROM fast_copy_resolve('liar'); SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid(); COMMIT";

	query("CREATE SERVER liar FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$liar', port '5432', sslmode 'disable'); CREATE USER MAPPING FOR postgres SERVER liar;
		INSERT INTO fast_copy_transactions SELECT 'a decision', oid, 0, 10, now() FROM pg_foreign_server WHERE srvname = 'liar'");
	my $decided = sub { return query("SELECT count(*) FROM fast_copy_transactions WHERE gid = 'a decision'") };

	$say->(300, '2013-01-01 00:00:00+00', 'It is of somebody else.');
	is(query($resolve), "200|left|left\n1", 'so many in a call');
	is($decided->(), 1, 'what has not been asked for is not forgotten');
	stop_liar();
	$say->(20, '2013-01-01 00:00:00+00', '');
	is(query($resolve), "20|rolled back|rolled back\n1", 'no lock is kept but that of a decision here');
	is($decided->(), 0, 'all that it has is known');
	stop_liar();
	$say->(1, '2013-01-01 00:00:00+00', "It is \xff\xfe");
	is(query($resolve), "1|left|left\n0", 'bytes that are no text');
	stop_liar();
	$say->(1, 'yesteryear', '');
	is(query($resolve), "1|unreachable|unreachable\n0", 'a time that is none');
	stop_liar();

	# its own cancel is not ours
	start_liar(sub { return Liar::report('E', S => 'ERROR', C => '57014', M => 'canceling statement due to statement timeout') });
	mapping('boss', "user 'trusted'");
	connections();
	is(query("SELECT string_agg(server_name || ' ' || outcome || ' ' || detail, ', ') FROM fast_copy_resolve() WHERE server_name IN ('liar', 'there')"), 'liar unreachable canceling statement due to statement timeout', 'a cancel there');
	is(connections(), 1, 'the next server gets its turn');
	stop_liar();
	start_liar(sub { return undef });
	my ($rc, $out, $err) = $node->psql('postgres', "SET statement_timeout = '300ms'; SELECT * FROM fast_copy_resolve('liar')");
	like($err, qr/ERROR:  canceling statement due to statement timeout/, 'a cancel here');
	stop_liar();

	# one that is dropped while it is asked
	start_liar(sub {
		$node->psql('postgres', 'DROP SERVER liar CASCADE') if $_[0] =~ /system_identifier/;
		return Liar::report('E', S => 'ERROR', C => '22000', M => 'a lie') if $_[0] =~ /starts_with/;
		return $_[0] =~ /system_identifier/ ? rows(4, [ '0', '0', 't', 'f' ]) : $_[0] =~ /pg_extension/ ? rows(1) : rows(1, ['']);
	});
	connections();
	is(query("SELECT count(*) FROM fast_copy_resolve() WHERE server_name <> 'here'"), 0, 'a server that is dropped meanwhile is passed over');
	is(connections(), 1, 'and the next one gets its turn');
	stop_liar();
}

# One says nothing from the beginning, and one waits with what it is told to do.
# A server has ten seconds.
sub silent
{
	my $timeout = "SET statement_timeout = '25s'";
	my $prefix = query("SELECT 'fast_copy_' || system_identifier || '_' || (SELECT gid FROM fast_copy_transactions WHERE server = 0) || '_' || (SELECT oid FROM pg_database WHERE datname = 'postgres') || '_' ||
		(SELECT oid FROM pg_foreign_server WHERE srvname = 'there') || '_' FROM pg_control_system()");

	start_liar(sub { return undef });
	query("CREATE SERVER liar FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$liar', port '5432', sslmode 'disable'); CREATE USER MAPPING FOR postgres SERVER liar");
	mapping('PUBLIC', "user 'trusted', password_required 'false'");
	mapping('boss');
	$there->safe_psql('postgres', "SET SESSION AUTHORIZATION trusted; BEGIN; INSERT INTO r VALUES (1); PREPARE TRANSACTION '${prefix}1_000000000000000${_}_1'") foreach 1, 2;
	hold($there);
	my $began = time;
	my $resolve = start_load($node, "$timeout; SELECT server_name, outcome, detail FROM fast_copy_resolve() WHERE server_name <> 'here' ORDER BY 1, 3");
	ok(holds($there), 'it waits with what it is told to do');
	my $load = start_load($node, "$timeout; $LOAD");
	ok(wait_until($there, "SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"), 'so does a load');
	# not before: whoever looks at a transaction holds its lock for a moment, and a
	# load that passes it over would wait for its own, without a timeout
	my $look = start_load($node, "$timeout; SELECT outcome FROM fast_copy_in_doubt WHERE server_name = 'liar'");
	my ($out, $err) = finish_load($resolve);
	is("$out$err", "liar|unreachable|The server has not answered in time.\nthere|failed|The server has not answered in time.\nthere|failed|There was no time left for it.", 'fast_copy_resolve()');
	is(join('', finish_load($look)), 'unreachable', 'fast_copy_in_doubt');
	($out, $err) = finish_load($load);
	like($err, qr/ERROR:  The server has not answered in time\..*remote SQL command on server "there"/s, 'a load');
	cmp_ok(time - $began, '<', 24, 'each server has had ten seconds');
	release($there);
	wait_until($there, "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'fast_copy'");
	is(loaded_by('postgres'), 10, 'the next load');
	is($there->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts'), 0, 'ends what is left');
	stop_liar();
	query('DROP SERVER liar CASCADE; DROP USER MAPPING FOR PUBLIC SERVER there');
	mapping('boss', "user 'trusted'");
	who();
}

# An owner of a database there, who is no superuser any more, puts operators of
# his own on the path that sessions begin with, and a function into an extension
# of his.  None of it runs as the role that rows are sent as.
sub owner
{
	my @types = ('text', 'name', 'oid', 'bigint', 'int', 'bool');
	my $count = 'SELECT count(*) FROM m.spied';

	$there->safe_psql('postgres', 'CREATE ROLE landlord LOGIN SUPERUSER');
	$there->safe_psql('postgres', 'CREATE DATABASE theirs OWNER landlord');
	$there->safe_psql('theirs', "CREATE TABLE r (n int, v text); GRANT ALL ON r TO asked; SET ROLE landlord; CREATE EXTENSION fast_copy; CREATE SCHEMA m; GRANT ALL ON SCHEMA m TO PUBLIC;
		CREATE TABLE m.spied (what text); GRANT ALL ON m.spied TO PUBLIC;
		ALTER EXTENSION fast_copy DROP FUNCTION fast_copy_report(); RESET ROLE; ALTER ROLE landlord NOSUPERUSER; SET ROLE landlord;
		CREATE FUNCTION m.fast_copy_report() RETURNS SETOF int LANGUAGE sql AS 'INSERT INTO m.spied VALUES (''report''); SELECT 1'; ALTER EXTENSION fast_copy ADD FUNCTION m.fast_copy_report();
		CREATE FUNCTION m.starts_with(text, text) RETURNS boolean LANGUAGE sql AS 'INSERT INTO m.spied VALUES (''starts_with''); SELECT false';" .
		join('', map { my $type = $_; ("CREATE FUNCTION m.spy($type, $type) RETURNS boolean LANGUAGE sql AS 'INSERT INTO m.spied VALUES (''$type''); SELECT false';",
			map { "CREATE OPERATOR m.$_ (LEFTARG = $type, RIGHTARG = $type, FUNCTION = m.spy);" } '=', '<>', '~*', '~~', '||', '#') } @types) .
		'ALTER DATABASE theirs SET search_path = m, pg_catalog');
	is($there->safe_psql('theirs', "SELECT 'a'::text = 'a'; SET search_path = pg_catalog; $count; DELETE FROM m.spied"), "f\n1", 'a trap');

	query("CREATE SERVER theirs FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '" . $there->host . "', port '" . $there->port . "', dbname 'theirs'); GRANT USAGE ON FOREIGN SERVER theirs TO PUBLIC;
		CREATE FOREIGN TABLE tt (n int, v text) SERVER theirs OPTIONS (schema_name 'public', table_name 'r'); GRANT INSERT ON tt TO loader");
	mapping('loader', "user 'asked', password '$SECRET'", 'theirs');
	foreach my $commit ('two_phase', 'auto', 'one_phase')
	{
		is(loaded_by('loader', "SELECT fast_copy('tt', '$file', log_verbosity => 'silent', options => '{\"remote_commit\": \"$commit\"}')"), 10, "$commit: rows are sent");
	}
	is(loaded_by('loader', "SELECT count(*) FROM fast_copy_resolve('theirs')"), 0, 'nothing is left');
	is($there->safe_psql('theirs', "SET search_path = pg_catalog; $count; SELECT count(*) FROM public.r"), "0\n30", 'and nothing of his has run');
	query('DROP SERVER theirs CASCADE');
	$there->safe_psql('postgres', 'DROP DATABASE theirs');
}

# A role that is a member of the table's owner loads, and names a server for new
# partitions.  Functions of one name are here, the owner's, and there, another's.
sub made
{
	my $path = write_bytes('made.csv', "1,2013-01-01,x\n2,2013-01-02,x\n");
	my $new = "SELECT fast_copy('h.p', '$path', log_verbosity => 'silent', options => '{\"nodes\": \"there\"}')";
	my $spy = "CREATE TABLE h.spied (who text); GRANT ALL ON h.spied TO PUBLIC;
		CREATE FUNCTION h.spy(n int) RETURNS int LANGUAGE plpgsql AS \$\$ BEGIN INSERT INTO h.spied VALUES (current_user); RETURN n; END \$\$;
		CREATE FUNCTION h.same(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN PERFORM h.spy(n); RETURN n; END \$\$";
	my $owners = sub {
		my ($at, $kind) = @_;
		return $at->safe_psql('postgres', "SELECT string_agg(DISTINCT pg_get_userbyid(relowner) || ' ' || coalesce(relacl::text, 'alone'), ', ') FROM pg_class WHERE relkind = '$kind' AND relname LIKE 'p\\_p%'");
	};
	my $table = sub {
		my ($more) = @_;
		query('DROP TABLE IF EXISTS h.p; SET ROLE owner; CREATE TABLE h.p (n int, at date, v text' . ($more // '') . ') PARTITION BY RANGE (at); GRANT INSERT ON h.p TO loader, other');
		$there->safe_psql('postgres', "DO \$\$ DECLARE t regclass; BEGIN FOR t IN SELECT oid FROM pg_class WHERE relname LIKE 'p\\_p%' AND relkind = 'r' LOOP EXECUTE 'DROP TABLE ' || t; END LOOP; END \$\$");
	};

	mapping('loader', "user 'asked', password '$SECRET'");
	mapping('other', "user 'trusted', password_required 'false'");
	query("CREATE ROLE owner; GRANT owner TO loader; CREATE SCHEMA h; GRANT ALL ON SCHEMA h TO owner; GRANT USAGE ON SCHEMA h TO loader, other; SET ROLE owner; $spy");
	$there->safe_psql('postgres', "CREATE SCHEMA h; GRANT ALL ON SCHEMA h TO asked, trusted; SET ROLE trusted; $spy");

	$table->();
	is(loaded_by('loader', $new), 2, 'by a member of the owner');
	is($owners->($node, 'f'), 'owner alone', 'here they are the owner\'s');
	is($owners->($there, 'r'), 'asked alone', 'there they are the role\'s in the mapping of who loads');
	like(loaded_by('other', $new), qr/ERROR:  42501: permission denied for table p_p20130101/, 'which nobody else may load there');
	$table->();
	like(loaded_by('other', $new), qr/ERROR:  42501: must be owner of table p/, 'by another role');
	is($owners->($there, 'r'), '', 'makes nothing');
	is(loaded_by('boss', $new), 2, 'by a superuser');
	is($owners->($node, 'f'), 'owner alone', 'here they are the owner\'s');

	# a password, as for all that is sent
	$table->();
	mapping('loader', "user 'trusted'");
	connections();
	like(loaded_by('loader', $new), qr/ERROR:  2F003: password is required/, 'no password in the mapping');
	is(connections(), 0, 'nobody connects for that');
	mapping('loader', "user 'trusted', password '$SECRET'");
	like(loaded_by('loader', $new), qr/ERROR:  2F003: password is required/, 'one that is not asked for');
	is($owners->($there, 'r') . $owners->($node, 'f'), '', 'nothing is made');
	mapping('loader', "user 'asked', password '$SECRET'");

	# a function that runs as its owner
	query("CREATE FUNCTION h.as_owner() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public AS \$\$ $new \$\$; ALTER FUNCTION h.as_owner OWNER TO owner; GRANT pg_read_server_files TO owner");
	mapping('owner', "user 'trusted', password_required 'false'");
	is(loaded_by('other', 'SELECT h.as_owner()'), 2, 'by a SECURITY DEFINER function');
	is($owners->($there, 'r') . ', ' . $owners->($node, 'f'), 'trusted alone, owner alone', 'all is its owner\'s');

	# whose code runs as whom
	$table->(', w int DEFAULT h.spy(1), CHECK (h.spy(n) > 0)');
	query('SET ROLE owner; CREATE INDEX ON h.p (h.same(n)); CREATE INDEX ON h.p (v) WHERE h.same(n) > 0');
	my $four = write_bytes('four.csv', "1,2013-01-01,x,1\n2,2013-01-02,x,2\n");
	is(loaded_by('loader', $new =~ s/\Q$path\E/$four/r), 2, 'with functions of others');
	is(query("SELECT string_agg(DISTINCT who, ', ') FROM h.spied"), '', 'those of the owner do not run here');
	is($there->safe_psql('postgres', "SELECT string_agg(DISTINCT who, ', ') FROM h.spied"), 'asked', 'those of their names there run as the role in the mapping');

	# names of all kinds
	$there->safe_psql('postgres', q{CREATE SCHEMA "S'""; DROP TABLE r; --"; GRANT ALL ON SCHEMA "S'""; DROP TABLE r; --" TO asked});
	query(q{CREATE SCHEMA "S'""; DROP TABLE r; --"; GRANT ALL ON SCHEMA "S'""; DROP TABLE r; --" TO owner; GRANT USAGE ON SCHEMA "S'""; DROP TABLE r; --" TO loader; SET ROLE owner;
		CREATE TABLE "S'""; DROP TABLE r; --"."t'""; DROP TABLE r; --\\" (n int, "a'""; DROP TABLE r; --" date, "v'"") FROM STDIN; --" text DEFAULT '''; DROP TABLE r; --',
			CONSTRAINT "c'""; DROP TABLE r; --" CHECK ("v'"") FROM STDIN; --" <> '''; DROP TABLE r; --')) PARTITION BY RANGE ("a'""; DROP TABLE r; --");
		CREATE INDEX "i'""; DROP TABLE r; --" ON "S'""; DROP TABLE r; --"."t'""; DROP TABLE r; --\\" ("v'"") FROM STDIN; --", (n + 1)) WHERE "v'"") FROM STDIN; --" <> 'x\\'';'});
	my $odd = q{'"S''""; DROP TABLE r; --"."t''""; DROP TABLE r; --\\"'};
	is(loaded_by('loader', $new =~ s/'h\.p'/$odd/r), 2, 'names of all kinds');
	is($there->safe_psql('postgres', q{SELECT count(*) FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'S''"; DROP TABLE r; --' AND relkind = 'r' AND relname LIKE 't''"; DROP TABLE r; --%'}), 2, 'are quoted');
	is($there->safe_psql('postgres', 'SELECT count(*) FROM r'), 0, 'nothing else is dropped');
	query('DROP TABLE h.p');
}

sub locks
{
	mapping('loader', "user 'asked', password '$SECRET'");
	query('GRANT TRUNCATE ON t TO loader');
	$there->safe_psql('postgres', 'GRANT TRUNCATE ON r TO PUBLIC');
	like(loaded_by('loader', "BEGIN; SET lock_timeout = '300ms'; TRUNCATE t; $LOAD; COMMIT"), qr/ERROR:  55P03: canceling statement due to lock timeout/, 'do not make it wait for ever');
	is(who(), '', 'no rows');
}
