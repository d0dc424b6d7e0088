# Roles around a load: whose the new partitions are, who may lock what, and
# code of the table's owner that writes where only the loader should.

use strict;
use warnings;
use FastCopy qw(:DEFAULT query failure);
use Test::More;

my $node = new_node('main', {}, "timezone = 'UTC'", "statement_timeout = '60s'");
my $days = write_bytes('days.csv', join('', map { sprintf "%d,2013-01-%02d,v%d\n", $_, $_ % 3 + 1, $_ } 1 .. 300));
my $lists = write_bytes('lists.csv', join('', map { sprintf "%d,%d,%d\n", $_, $_ == 20 ? 2 : 1, $_ == 20 ? 2 : 1 } 1 .. 20));

gates($node);
query("CREATE ROLE mallory; CREATE ROLE bob; CREATE ROLE team; CREATE ROLE member IN ROLE team; CREATE ROLE ins;
	GRANT pg_read_server_files TO mallory, member, ins; GRANT EXECUTE ON FUNCTION pg_stat_file(text, boolean) TO PUBLIC;
	CREATE SCHEMA s AUTHORIZATION mallory; GRANT USAGE ON SCHEMA s TO PUBLIC;
	CREATE SCHEMA owned AUTHORIZATION team; GRANT USAGE ON SCHEMA public TO PUBLIC;
	ALTER DEFAULT PRIVILEGES FOR ROLE mallory, team GRANT SELECT ON TABLES TO bob;
	ALTER DEFAULT PRIVILEGES FOR ROLE postgres GRANT ALL ON TABLES TO ins");

partitions_are_the_owners();
subtest 'a member of the owning role makes partitions of that role' => \&a_member_loads;
subtest 'who loads needs an owner who may have the partitions' => \&the_owner_may_not_have_them;
subtest 'INSERT alone keeps nobody from the table' => \&who_locks_the_table;
subtest 'a partition that comes while it loads fails the load' => \&a_partition_comes;
subtest 'the OID of a table does not stand for USAGE of its schema' => \&an_oid_needs_the_schema;
subtest 'code puts no row of another range into a new partition' => \&code_writes_to_a_new_partition;
subtest 'code puts no row of another range into a partition that is not attached yet' => \&code_writes_while_partitions_are_attached;
code_changes_a_new_partition();
subtest 'the schema keeps its name while the load goes on' => \&the_schema_keeps_its_name;
$node->stop;
done_testing();

# Roles that own the partitions of a table, and all that belongs to them
sub owners
{
	my ($table) = @_;

	return query("WITH leaf AS (SELECT c.* FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = '$table'::regclass)
		SELECT string_agg(DISTINCT o::regrole::text, ',') FROM (
			SELECT relowner FROM leaf
			UNION ALL SELECT t.relowner FROM leaf JOIN pg_class t ON t.oid = leaf.reltoastrelid
			UNION ALL SELECT i.relowner FROM leaf JOIN pg_index ON indrelid = leaf.oid JOIN pg_class i ON i.oid = indexrelid
			UNION ALL SELECT typowner FROM leaf JOIN pg_type ON pg_type.oid = leaf.reltype
			UNION ALL SELECT refobjid FROM leaf JOIN pg_shdepend d ON d.objid = leaf.oid AND classid = 'pg_class'::regclass AND deptype = 'o'
				AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())) AS x (o)");
}

# A superuser loads a table of somebody else's: nothing of it is the
# superuser's, and nobody runs an index's functions as the superuser later.
sub partitions_are_the_owners
{
	foreach my $workers (0, 2)
	{
		subtest "$workers workers: what a superuser makes is the owner's" => sub {
			query("DROP TABLE IF EXISTS s.t;
				CREATE OR REPLACE FUNCTION s.mine(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS \$\$
				BEGIN
					IF current_user <> 'mallory' THEN RAISE EXCEPTION 'run as %', current_user; END IF;
					RETURN n;
				END \$\$;
				ALTER FUNCTION s.mine(int) OWNER TO mallory;
				SET ROLE mallory;
				CREATE TABLE s.t (n int, day date, v text, UNIQUE (day, n)) PARTITION BY RANGE (day);
				CREATE INDEX ON s.t (s.mine(n))");
			is(query("SELECT fast_copy('s.t', '$days', workers => $workers)"), 300, "$workers workers: a superuser loads");
			is(owners('s.t'), 'mallory', "$workers workers: all is the owner's");
			is(query("SELECT DISTINCT relacl FROM pg_class WHERE relname LIKE 't\\_p%' AND relkind = 'r'"), '{mallory=arwdDxt/mallory,bob=r/mallory}' =~ s/Dxt/query("SELECT current_setting('server_version_num')::int >= 170000") eq 't' ? 'Dxtm' : 'Dxt'/er,
				"$workers workers: by the owner's default privileges");
			query("ANALYZE s.t");
			query("SET ROLE mallory; DROP TABLE s.t");
		};
	}
}

sub a_member_loads
{
	query("SET ROLE team; CREATE TABLE owned.t (n int, day date, v text) PARTITION BY RANGE (day); CREATE INDEX ON owned.t (v)");
	is(query("SET ROLE member; SELECT fast_copy('owned.t', '$days')"), 300, 'a member of the owning role loads');
	is(owners('owned.t'), 'team', '... and the partitions are that role\'s');
}

sub the_owner_may_not_have_them
{
	query("CREATE SCHEMA closed; GRANT USAGE ON SCHEMA closed TO team; CREATE TABLE closed.t (n int, day date, v text) PARTITION BY RANGE (day);
		CREATE INDEX ON closed.t (v); ALTER TABLE closed.t OWNER TO team");
	like(failure("SET ROLE member; SELECT fast_copy('closed.t', '$days')"),
		qr/42501: permission denied for schema closed\nDETAIL:  New partitions of table "t" belong to its owner, role "team", who may not create tables there\.\nHINT:  GRANT CREATE ON SCHEMA closed TO team;/,
		'a schema in which the owner may not create');
	is(query("SELECT fast_copy('closed.t', '$days')"), 300, '... but a superuser may for the owner');
	is(owners('closed.t'), 'team', '... whose partitions they are');
	is(query("SELECT DISTINCT relowner::regrole FROM pg_class WHERE oid IN (SELECT reltoastrelid FROM pg_class WHERE relnamespace = 'closed'::regnamespace)
		OR relnamespace = 'closed'::regnamespace"), 'team', '... with all that is in them');
	is(query("SELECT DISTINCT g.grantor::regrole, g.grantee::regrole, g.privilege_type FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid, aclexplode(relacl) g
		WHERE inhparent = 'closed.t'::regclass AND g.grantee <> 'team'::regrole"), 'team|bob|SELECT', '... by the default privileges of the owner');
	is(query("SELECT string_agg(DISTINCT refobjid::regrole::text || ' ' || deptype::text, ',' ORDER BY refobjid::regrole::text || ' ' || deptype::text) FROM pg_shdepend d JOIN pg_inherits ON objid = inhrelid
		WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND inhparent = 'closed.t'::regclass"), 'bob a,team o', '... on whom the partitions depend');
	query('DROP TABLE closed.t');
	my $space = PostgreSQL::Test::Utils::tempdir_short();
	query("CREATE TABLESPACE theirs LOCATION '$space'");
	query("CREATE TABLE closed.t (n int, day date, v text) PARTITION BY RANGE (day) TABLESPACE theirs; ALTER TABLE closed.t OWNER TO team; GRANT CREATE ON SCHEMA closed TO team");
	like(failure("SET ROLE member; SELECT fast_copy('closed.t', '$days')"), qr/42501: permission denied for tablespace theirs/, 'a tablespace of others');
	is(query("SELECT fast_copy('closed.t', '$days')"), 300, '... and a superuser');
	is(owners('closed.t'), 'team', '... for its owner');
}

# Where core routes: INSERT is no reason to keep others from the table.
sub who_locks_the_table
{
	my $locks = "SELECT count(*) FROM pg_locks WHERE relation = 'l'::regclass AND mode = 'ShareUpdateExclusiveLock'";

	query("CREATE TABLE l (n int, a int, b int) PARTITION BY LIST (a); CREATE TABLE l1 PARTITION OF l FOR VALUES IN (1);
		CREATE TABLE l2 PARTITION OF l FOR VALUES IN (2); REVOKE ALL ON l, l1, l2 FROM ins; GRANT INSERT ON l TO ins");
	is(query("BEGIN; SET ROLE ins; SELECT fast_copy('l', '$lists', workers => 2); RESET ROLE; $locks; SELECT count(*) FROM l; ROLLBACK"),
		"20\n0\n20", 'with INSERT alone: no lock that LOCK TABLE would refuse');
	is(query("BEGIN; SET ROLE ins; SELECT fast_copy('l', '$lists', workers => 2, order_by => ARRAY['n DESC']); RESET ROLE; $locks; SELECT string_agg(n::text, ' ') FROM l2; ROLLBACK"),
		"20\n0\n20", '... nor for an order');
	query('GRANT DELETE ON l TO ins');
	is(query("BEGIN; SET ROLE ins; SELECT fast_copy('l', '$lists', workers => 2); RESET ROLE; $locks; ROLLBACK"),
		"20\n0", '... nor for one who may delete from it: COPY takes none');
	query('REVOKE DELETE ON l FROM ins');
}

# One that was not there when the leader looked at all of them.
sub a_partition_comes
{
	query("CREATE TABLE m (n int CHECK (gate(n)), a int, b int) PARTITION BY LIST (a); CREATE TABLE m1 PARTITION OF m FOR VALUES IN (1);
		CREATE TABLE m2 PARTITION OF m FOR VALUES IN (2) PARTITION BY LIST (b); CREATE TABLE m21 PARTITION OF m2 FOR VALUES IN (1);
		CREATE TABLE m22 (LIKE m INCLUDING CONSTRAINTS); CREATE FUNCTION fires() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.n := 0; RETURN NEW; END';
		CREATE TRIGGER fires BEFORE INSERT ON m22 FOR EACH ROW EXECUTE FUNCTION fires(); REVOKE ALL ON m FROM ins; GRANT INSERT ON m TO ins");
	close_gate();
	my $load = start_load($node, "SET ROLE ins; SELECT fast_copy('m', '$lists');\n");
	ok(at_gate($node), 'the load is at the gate');
	query('ALTER TABLE m2 ATTACH PARTITION m22 FOR VALUES IN (2)');
	open_gate();
	my ($out, $err) = finish_load($load);
	like($err, qr/partition "m22" was attached to table "m" while it was being loaded/, 'a partition that comes while it loads');
	is(query('SELECT count(*) FROM m'), 0, 'nothing was loaded');
	is(query("SET ROLE ins; SELECT fast_copy('m', '$lists')"), 20, 'loaded again');
	is(query('SELECT n FROM m22'), 0, '... by the trigger of the new one');
}

sub an_oid_needs_the_schema
{
	query("CREATE SCHEMA hidden; CREATE TABLE hidden.t (n int, day date, v text); CREATE TABLE public.plain (n int, day date, v text);
		SELECT fast_copy_create_reject_table('hidden.rejects');
		GRANT INSERT ON hidden.t, hidden.rejects, plain TO ins");
	my $t = query("SELECT 'hidden.t'::regclass::oid");
	my $rejects = query("SELECT 'hidden.rejects'::regclass::oid");
	my $denied = qr/42501: permission denied for schema hidden/;

	like(failure("SET ROLE ins; COPY hidden.t FROM '$days' (FORMAT csv)"), $denied, 'COPY');
	like(failure("SET ROLE ins; SELECT fast_copy($t, '$days')"), $denied, 'fast_copy by OID');
	like(failure("SET ROLE ins; SELECT * FROM fast_copy_analyze($t, '$days')"), $denied, 'fast_copy_analyze by OID');
	like(failure("SET ROLE ins; SELECT fast_copy('plain', '$days', on_error => 'ignore', reject_table => $rejects)"), $denied, 'a reject_table by OID');
	query('GRANT USAGE ON SCHEMA hidden TO ins');
	is(query("SET ROLE ins; SELECT fast_copy($t, '$days')"), 300, 'with USAGE');
}

# A function of constants is called when ATTACH looks at the CHECKs: the first
# finds the others with their rows, and not attached yet.
sub code_writes_while_partitions_are_attached
{
	my %where = ('a CHECK' => 'ALTER TABLE a ADD CHECK (n > 0 OR now_put(1))', 'an index' => 'CREATE INDEX ON a ((n > 0 OR now_put(1)))');

	query("CREATE FUNCTION do_put() RETURNS void LANGUAGE plpgsql AS \$\$
		BEGIN
			PERFORM set_config('test.busy', 'yes', true);
			INSERT INTO public.a_p20130103 VALUES (1000, '2020-01-01', 'put');
			PERFORM set_config('test.busy', '', true);
		END \$\$;
		CREATE FUNCTION now_put(n int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS \$\$
		BEGIN
			IF current_setting('test.busy', true) IS DISTINCT FROM 'yes'
				AND EXISTS (SELECT FROM pg_constraint WHERE conname LIKE '%fast_copy%' AND conrelid = to_regclass('public.a_p20130101')) THEN
				PERFORM public.do_put();
			END IF;
			RETURN true;
		END \$\$");
	foreach my $what (sort keys %where)
	{
		foreach my $default ('', 'CREATE TABLE a_d PARTITION OF a DEFAULT')
		{
			foreach my $workers (0, 2)
			{
				query("CREATE TABLE a (n int, day date, v text) PARTITION BY RANGE (day); $where{$what}; $default");
				my $err = failure("SELECT fast_copy('a', '$days', workers => $workers)");
				like($err, qr/23514: new row for relation "a_p20130103" violates check constraint/, "$what that writes to the next partition to be attached, $workers workers, $default")
					if $what eq 'a CHECK';
				is(query("SELECT count(*) FROM a WHERE day = '2020-01-01' OR day >= '2020-01-01' OR tableoid::regclass::text = 'a_p20130103' AND day <> '2013-01-03'"), 0, "$what that writes to the next partition to be attached, $workers workers, $default: loses");
				query('DROP TABLE a');
			}
		}
	}
}

# It may do so, but not put another in its place.
sub code_changes_a_new_partition
{
	my @changes = (
		[ 'renames it', 'ALTER TABLE c_p20130103 RENAME TO x', 'x' ],
		[ 'puts another in its place', 'ALTER TABLE c_p20130103 RENAME TO x; ALTER TABLE other RENAME TO c_p20130103', 'x' ],
		[ 'moves it', 'ALTER TABLE c_p20130103 SET SCHEMA owned', 'owned.c_p20130103' ],
		[ 'drops it', 'DROP TABLE c_p20130103', undef ]);

	query("CREATE FUNCTION change(n int) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN IF n = 299 THEN EXECUTE current_setting('test.change'); END IF; RETURN true; END \$\$");
	foreach my $change (@changes)
	{
		my ($what, $sql, $name) = @$change;

		subtest "code that $what: " . (defined $name ? 'no row is lost' : 'an error') => sub {
			# the last row of the file is one of the last partition
			query("CREATE TABLE c (n int CHECK (change(n)), day date, v text) PARTITION BY RANGE (day); CREATE TABLE other (LIKE c INCLUDING CONSTRAINTS)");
			my ($rc, $out, $err) = $node->psql('postgres', "SET client_min_messages = error; SET test.change = '$sql'; SELECT fast_copy('c', '$days', workers => 0)", on_error_stop => 0);
			if (defined $name)
			{
				is($out, 300, "code that $what") or diag($err);
				is(query("SELECT count(*), string_agg(DISTINCT tableoid::regclass::text, ',') FROM c"), "300|c_p20130101,c_p20130102,$name", '... loses no row');
			}
			else
			{
				isnt($err, '', "code that $what: an error");
				is(query('SELECT count(*) FROM c'), 0, '... and no row');
			}
			query('DROP TABLE c; DROP TABLE IF EXISTS other, c_p20130103');
		};
	}
	query("CREATE TABLE c (n int, day date, v text) PARTITION BY RANGE (day);
		CREATE FUNCTION no_more(n int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS \$\$
		BEGIN
			IF EXISTS (SELECT FROM pg_constraint WHERE conname LIKE '%fast_copy%' AND conrelid = to_regclass('public.c_p20130101')) THEN PERFORM public.no_more(); END IF;
			RETURN true;
		END \$\$;
		CREATE FUNCTION no_more() RETURNS void LANGUAGE plpgsql AS 'BEGIN DROP TABLE IF EXISTS public.c_p20130103; END';
		ALTER TABLE c ADD CHECK (n > 0 OR no_more(1))");
	like(failure("SELECT fast_copy('c', '$days', workers => 0)"), qr/55006: cannot DROP TABLE "c_p20130103" because it is being used by active queries in this session/, 'code that drops the next to be attached');
	query('DROP TABLE c');
}

# A row that code of the table puts into a partition before it is one: as if it
# were a partition already, it must be of its range.
sub code_writes_to_a_new_partition
{
	my %write = (
		'a CHECK' => "ALTER TABLE w ADD CHECK (put(n))",
		'an index' => "CREATE INDEX ON w (put_immutable(n))");

	query("CREATE FUNCTION put(n int) RETURNS boolean LANGUAGE plpgsql AS \$\$
		BEGIN
			IF n = 50 THEN
				INSERT INTO public.w_p20130101 SELECT 1000, day, 'put' FROM public.put;
			END IF;
			RETURN true;
		END \$\$;
		CREATE FUNCTION put_immutable(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN PERFORM public.put(n); RETURN n; END \$\$;
		CREATE TABLE put (day date)");
	foreach my $what (sort keys %write)
	{
		foreach my $index ('', 'CREATE INDEX ON w (v)')
		{
			query("DROP TABLE IF EXISTS w; CREATE TABLE w (n int, day date, v text) PARTITION BY RANGE (day); $write{$what}; $index; TRUNCATE put; INSERT INTO put VALUES ('2013-01-02')");
			# whatever it is refused by
			like(failure("SELECT fast_copy('w', '$days')"), qr/ERROR:/, "$what writes a row of another range, $index");
			is(query("SELECT count(*) FROM w"), 0, "$what, $index: nothing was loaded");
		}
	}
	query("DROP TABLE w; CREATE TABLE w (n int, day date, v text, CHECK (put(n))) PARTITION BY RANGE (day)");
	like(failure("SELECT fast_copy('w', '$days')"), qr/23514: .*partition constraint of relation "w_p20130101" is violated by some row/, 'in the words of ATTACH');
	query("UPDATE put SET day = '2013-01-01'");
	is(query("SELECT fast_copy('w', '$days'); SELECT count(*) FROM w; SELECT tableoid::regclass, n FROM w WHERE v = 'put'"), "300\n301\nw_p20130101|1000",
		'a row of its range is in it');
}

# Commands by name must not meet somebody else's schema of the same name.
sub the_schema_keeps_its_name
{
	query("SET ROLE mallory; CREATE TABLE s.r (n int CHECK (public.gate(n)), day date, v text) PARTITION BY RANGE (day)");
	query("GRANT CREATE ON DATABASE postgres TO mallory");
	close_gate();
	my $load = start_load($node, "SELECT fast_copy('s.r', '$days', workers => 0);\n");
	ok(at_gate($node), 'the load has made its partitions');
	like(failure("SET lock_timeout = '50ms'; SET ROLE mallory; ALTER SCHEMA s RENAME TO elsewhere"), qr/55P03: canceling statement due to lock timeout/, 'the schema keeps its name');
	is(failure('SET ROLE mallory; GRANT USAGE ON SCHEMA s TO bob'), '', '... and nothing else');
	open_gate();
	my ($out, $err) = finish_load($load);
	is($out, 300, 'the load goes on') or diag($err);
	is(failure('SET ROLE mallory; ALTER SCHEMA s RENAME TO elsewhere'), '', 'and may have another when the load is done');
}
