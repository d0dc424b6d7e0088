# A role without superuser that loads, made by the block of docs/security.md,
# one statement after the other: before each the load fails, with an error that
# names it; after the last one it loads.

use strict;
use warnings;
use FindBin;
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {}, "timezone = 'UTC'");
my $page = slurp_file("$FindBin::Bin/../../docs/security.md");
my $orders = write_bytes('orders.csv', join('', map { sprintf "%d,2024-01-%02d,v%d\n", $_, $_ % 3 + 1, $_ } 1 .. 300));
my ($dir) = $orders =~ m{^(.*)/};
my $load = "SELECT fast_copy('shop.orders', '$orders')";

# what the page takes for given
query("CREATE ROLE shop_owner; CREATE SCHEMA shop; GRANT USAGE ON SCHEMA shop TO shop_owner;
	CREATE TABLE shop.orders (id int, day date, note text) PARTITION BY RANGE (day);
	ALTER TABLE shop.orders OWNER TO shop_owner");
subtest 'the block of docs/security.md, step by step' => \&step_by_step;
subtest 'a directory in place of all files' => \&a_directory;
subtest 'what else a load may need names its GRANT' => \&more_needs;
subtest 'the client, and settings, without superuser' => \&the_client;
subtest 'a setting of superusers is not set before the library is there' => \&set_before;
subtest 'without owning the table' => \&without_owning;
subtest 'what guards the owner of a function' => \&guards;
subtest 'a table that pg_partman keeps, step by step' => \&a_kept_table;
subtest 'who sees a load that runs' => \&who_sees_it;
$node->stop;
done_testing();

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# Status, output and errors of a session of the role's own, without the last
# line of a load
sub as_loader
{
	my ($sql, @options) = @_;
	my @answer = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql", extra_params => [ '-U', 'loader' ], @options);

	$answer[2] = unsaid($answer[2]);
	return @answer;
}

# The statements of the page's block, without comments
sub statements
{
	my ($heading) = @_;
	my ($block) = $page =~ /^## \Q$heading\E\n.*?^```sql\n(.*?)^```$/ms;

	return map { s/\A\s+//r } split(/;/, ($block // '') =~ s/--.*//gr =~ s/\s+\z//r);
}

sub step_by_step
{
	my @steps = statements('A role that loads');
	# core's own, before any of our code runs
	my %named = ('CREATE ROLE' => qr/role "loader" does not exist/, 'GRANT USAGE' => qr/42501: permission denied for schema shop\n/);

	cmp_ok(scalar(@steps), '>=', 6, 'the block is found');
	foreach my $step (@steps)
	{
		my ($what) = $step =~ /^(\w+ \w+)/;
		my ($rc, $out, $err) = as_loader($load);

		isnt($rc, 0, "before $step: fails");
		like($err, $named{$what} // qr/ERROR:  42501: .*^HINT:  .*\Q$step\E[;,.]/ms, '... and says so');
		query($step);
	}
	is_deeply([ as_loader($load) ], [ 0, 300, '' ], 'after the last one it loads');
	is(query("SELECT string_agg(DISTINCT relowner::regrole::text, ',') FROM pg_class WHERE relname LIKE 'orders\\_p%'"), 'shop_owner', 'the partitions are the owner\'s');
}

sub a_directory
{
	query("REVOKE pg_read_server_files FROM loader; TRUNCATE shop.orders");
	mkdir "$dir/in";
	my $inside = write_bytes('in/orders.csv', slurp_file($orders));
	like((as_loader($load))[2], qr/permission denied to COPY from a file.*or set fast_copy\.root_directory/s, 'no file may be read');
	query("LOAD 'fast_copy'; ALTER ROLE loader SET fast_copy.root_directory = '$dir/in'");
	is_deeply([ as_loader("SELECT fast_copy('shop.orders', '$inside')") ], [ 0, 300, '' ], 'a file below the role\'s directory');
	like((as_loader($load))[2], qr/permission denied to COPY from a file.*put them below fast_copy\.root_directory, "\Q$dir\E\/in"/s, 'and none beside it');
	like((as_loader("SELECT fast_copy_report(); SET fast_copy.root_directory = '/'"))[2], qr/42501: permission denied to set parameter/, 'the role cannot have another');
	query("ALTER ROLE loader RESET ALL; GRANT pg_read_server_files TO loader");
}

sub more_needs
{
	query("REVOKE shop_owner FROM loader; TRUNCATE shop.orders; SELECT fast_copy_create_reject_table('shop.bad')");
	my $rejects = "SELECT fast_copy('shop.orders', '$orders', on_error => 'ignore', reject_table => 'shop.bad')";
	like((as_loader($rejects))[2], qr/42501: permission denied for table bad/, 'a reject table');
	query('GRANT INSERT ON shop.bad TO loader');
	is((as_loader($rejects))[1], 300, 'loads');
	my $where = "SELECT fast_copy('shop.orders', '$orders', where_clause => 'id > 200')";
	like((as_loader($where))[2], qr/42501: permission denied for table orders\nHINT:  Its owner may GRANT SELECT ON shop\.orders TO loader, for the columns of the condition\./, 'a condition');
	query('GRANT SELECT (id) ON shop.orders TO loader');
	is((as_loader($where))[1], 100, 'loads');
	my $program = "SELECT fast_copy('shop.orders', 'cat $orders', program => true)";
	like((as_loader($program))[2], qr/42501: permission denied to COPY to or from an external program.*pg_execute_server_program/s, 'a program');
	query('GRANT pg_execute_server_program TO loader');
	is((as_loader($program))[1], 300, 'loads');
	query('REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC');
	like((as_loader($load))[2], qr/42501: permission denied for function fast_copy\n/, 'the function, if it was taken from all');
	query('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO loader');
	is((as_loader($load))[1], 300, 'loads');
	query('GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO PUBLIC; REVOKE pg_execute_server_program FROM loader');
}

# The library comes with the first call, or by the superuser's setting; LOAD is
# for superusers.
sub the_client
{
	my $copy = "COPY shop.orders FROM STDIN WITH (FORMAT csv, fast_copy);\n1,2024-01-02,a\n\\.\n";

	like((as_loader("LOAD 'fast_copy'"))[2], qr/42501: access to library "fast_copy" is not allowed/, 'LOAD');
	like((as_loader($copy))[2], qr/42601: option "fast_copy" not recognized/, 'COPY knows no option');
	like((as_loader("ALTER ROLE loader SET fast_copy.workers = 1"))[2], qr/42501: permission denied to set parameter "fast_copy\.workers"/, 'nor ALTER ROLE the setting');
	is((as_loader("SELECT count(*) FROM fast_copy_report(); $copy"))[0], 0, 'after any call both are known');
	is((as_loader("SELECT count(*) FROM fast_copy_report(); ALTER ROLE loader SET fast_copy.workers = 1"))[0], 0, '... and a role may set it for itself');
	is((as_loader("$load; SHOW fast_copy.workers"))[1], "300\n1", '... for all its sessions');
	query("ALTER ROLE loader SET session_preload_libraries = 'fast_copy'");
	is((as_loader($copy))[0], 0, 'with session_preload_libraries it is known at once');
	is((as_loader('ALTER ROLE loader RESET fast_copy.workers'))[0], 0, '... and the settings are');
	query('ALTER ROLE loader RESET session_preload_libraries');
}

# A value that was set before anybody knew the setting
sub set_before
{
	query('REVOKE pg_read_server_files FROM loader');
	foreach my $set ("SET fast_copy.root_directory = '/';", "BEGIN; SET LOCAL fast_copy.root_directory = '/';", "SELECT set_config('fast_copy.root_directory', '/', false);")
	{
		my ($rc, $out, $err) = as_loader("$set $load", on_error_stop => 0);

		like($err, qr/WARNING:  42501: permission denied to set parameter "fast_copy\.root_directory".*ERROR:  42501: permission denied to COPY from a file/s, $set);
	}
	local $ENV{PGOPTIONS} = '-c fast_copy.root_directory=/';
	like((as_loader($load))[2], qr/WARNING:  42501: .*ERROR:  42501: permission denied to COPY from a file/s, 'PGOPTIONS');
	query('GRANT pg_read_server_files TO loader');
}

# The owner's function loads for those who may call it.
sub without_owning
{
	query("REVOKE ALL ON shop.orders FROM loader; REVOKE pg_read_server_files FROM loader; DROP TABLE shop.orders;
		SET ROLE shop_owner; CREATE TABLE shop.orders (id int, day date, note text) PARTITION BY RANGE (day)");
	my ($function) = $page =~ /^```sql\n([^`]*?CREATE FUNCTION shop\.load_orders[^`]*)^```$/m;
	ok($function, 'the function of docs/security.md is found');
	query($function =~ s{/data\b}{$dir}gr);
	is_deeply([ as_loader("SELECT shop.load_orders('orders.csv')") ], [ 0, 300, '' ], 'it loads and makes partitions');
	like((as_loader("SELECT shop.load_orders('../orders.csv')"))[2], qr/P0001: no file name: /, 'a path is refused');
	like((as_loader($load))[2], qr/42501: permission denied for table orders/, 'the role itself may do nothing');
	is((as_loader("SELECT count(*) FROM fast_copy_report()"))[0], 0, 'and see nothing of others');
}

# What guards the owner is not for the caller of the function to set, however he
# does it, and whether or not the library is there before.
sub guards
{
	my $call = "SELECT shop.load_orders('orders.csv')";
	my $refused = qr/42501: parameter "fast_copy\.\w+" is not the caller's to set where role "shop_owner" loads\nDETAIL:  .*role "loader"\.\nHINT:  Let the function set it/;
	my $there = 'SELECT count(*) FROM fast_copy_report();';
	my $load = sub {
		query('DROP TABLE shop.orders; SET ROLE shop_owner; CREATE TABLE shop.orders (id int, day date, note text) PARTITION BY RANGE (day)');
		return as_loader(@_);
	};

	foreach my $set ('fast_copy.max_partitions = 100000', 'fast_copy.use_partman = off', 'fast_copy.ignore_retention = on', 'fast_copy.ignore_premake = on')
	{
		like(($load->("SET $set; $call"))[2], $refused, $set);
		like(($load->("$there SET $set; $call"))[2], $refused, '... once the library is there');
		my ($name, $value) = split / = /, $set;
		like(($load->("SELECT set_config('$name', '$value', false); $call"))[2], $refused, '... by set_config()');
		like(($load->("BEGIN; SET LOCAL $set; $call"))[2], $refused, '... by SET LOCAL');
		like(($load->("$there ALTER ROLE loader SET $set; \\c\n$call"))[2], $refused, '... by ALTER ROLE');
		query('ALTER ROLE loader RESET ALL');
		local $ENV{PGOPTIONS} = "-c $name=$value";
		like(($load->($call))[2], $refused, '... by PGOPTIONS');
	}
	my $wrapper = 'CREATE FUNCTION pg_temp.f() RETURNS bigint LANGUAGE plpgsql %s AS $$ BEGIN RETURN shop.load_orders(\'orders.csv\'); END $$; SELECT pg_temp.f()';
	like(($load->($there . sprintf($wrapper, 'SET fast_copy.max_partitions = 100000')))[2], $refused, 'a function of the caller\'s');
	like(($load->($there . sprintf($wrapper, 'SECURITY DEFINER SET fast_copy.max_partitions = 100000')))[2], $refused, '... that is SECURITY DEFINER');
	like(($load->("$there SET fast_copy.max_partitions = 7; RESET fast_copy.max_partitions; $call"))[1], qr/\b300$/, 'RESET takes it back');
	like(($load->("SET fast_copy.workers = 1; SET fast_copy.memory = '2MB'; $call"))[1], qr/\b300$/, 'what is of the session may be set');

	query("LOAD 'fast_copy'; ALTER FUNCTION shop.load_orders(text) SET fast_copy.max_partitions = 2");
	like(($load->($call))[2], qr/54000: cannot create more than 2 partitions/, 'the function\'s own value counts');
	like(($load->("SET fast_copy.max_partitions = 100000; $call"))[2], qr/54000: cannot create more than 2 partitions/, '... whatever the caller has set');
	like(($load->("$there SET fast_copy.max_partitions = 100000; $call"))[2], qr/54000: cannot create more than 2 partitions/, '... and when');
	query("ALTER FUNCTION shop.load_orders(text) RESET fast_copy.max_partitions; LOAD 'fast_copy'; ALTER DATABASE postgres SET fast_copy.max_partitions = 2");
	like(($load->($call))[2], qr/54000: cannot create more than 2 partitions/, 'so does the database\'s');
	is(query("SET fast_copy.max_partitions = 3; $call"), 300, '... and a superuser\'s');
	query("ALTER DATABASE postgres RESET fast_copy.max_partitions; GRANT shop_owner TO loader");
	is(($load->("SET fast_copy.max_partitions = 4; $call"))[1], 300, 'and that of a role with the owner\'s privileges');
	is(($load->("SET fast_copy.max_partitions = 4; SET ROLE shop_owner; $call"))[1], 300, '... or that has become the owner');
	query('REVOKE shop_owner FROM loader');
}

sub a_kept_table
{
  SKIP:
	{
		skip 'pg_partman is not installed', 1 if query("SELECT count(*) FROM pg_available_extensions WHERE name = 'pg_partman'") eq '0';
		my ($four) = query("CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman; SELECT extversion LIKE '4.%' FROM pg_extension WHERE extname = 'pg_partman'");
		my ($type, $width) = $four eq 't' ? ('native', 'daily') : ('range', '1 day');
		my $kept = "SELECT fast_copy('shop.kept', '$orders')";

		query("GRANT shop_owner, pg_read_server_files TO loader; SET ROLE shop_owner; CREATE TABLE shop.kept (id int, day date NOT NULL, note text) PARTITION BY RANGE (day)");
		query("SELECT partman.create_parent(p_parent_table => 'shop.kept', p_control => 'day', p_type => '$type', p_interval => '$width')");
		foreach my $step (statements('Tables managed by pg_partman'))
		{
			like((as_loader($kept))[2], qr/ERROR:  42501: cannot create partitions of table "shop\.kept", which pg_partman manages\n.*^HINT:  \Q$step\E\. /ms, "before $step");
			query($step);
		}
		is_deeply([ as_loader($kept) ], [ 0, 300, '' ], 'after the last one it loads');
	}
}

sub who_sees_it
{
	my $look = 'SELECT count(*) FROM fast_copy_progress';

	gates($node);
	close_gate();
	query('REVOKE shop_owner FROM loader; CREATE TABLE shop.slow (id int CHECK (gate(id)), day date, note text); GRANT INSERT ON shop.slow TO PUBLIC');
	my $load = start_load($node, "SELECT fast_copy('shop.slow', '$orders');\n");
	ok(at_gate($node), 'a superuser loads');
	is((as_loader($look))[1], 0, 'a role without privileges sees no load of others');
	query('GRANT pg_read_all_stats TO loader');
	is((as_loader($look))[1], 1, 'with those of pg_read_all_stats it does');
	query('REVOKE pg_read_all_stats FROM loader');
	open_gate();
	is((finish_load($load))[0], 300, 'the load ends');
}
