# What a record's evaluation shows or does, it does once, in the order of the
# file, and for a record that is left out as COPY does it: NOTICEs, rows written by
# code of users, numbers of sequences.  COPY is asked where it has on_error.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = new_node('main', {}, "timezone = 'UTC'");
my $version = int($node->safe_psql('postgres', 'SHOW server_version_num') / 10000);
my $copy_tolerates = $version >= 17;

# COPY of 18 evaluates the defaults of a record that it leaves out
my $takes_all = $version >= 18;

$node->safe_psql('postgres', q{
	CREATE TABLE log (i text, id int GENERATED ALWAYS AS IDENTITY);
	CREATE FUNCTION noisy(i text) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		RAISE NOTICE 'sees %', i;
		INSERT INTO log (i) VALUES (i);
		IF i = 'wrong' THEN
			RAISE 'wrong' USING ERRCODE = 'internal_error';
		END IF;
		RETURN true;
	END $$;
	CREATE DOMAIN noisy AS int CHECK (noisy(VALUE::text));
	CREATE DOMAIN noisy_text AS text CHECK (noisy(VALUE));
	CREATE TABLE p (k int PRIMARY KEY);
	INSERT INTO p SELECT generate_series(0, 100);
	CREATE FUNCTION stops() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF NEW.k = 99 THEN
			RAISE 'a trigger stops here';
		END IF;
		RETURN NEW;
	END $$;
	CREATE FUNCTION goes_on() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO under VALUES (NEW.id, NEW.k, NEW.n);
		RETURN NEW;
	END $$;
	CREATE TABLE under (id int, k int, n int);
	CREATE SEQUENCE seq;
});

# Each way to load: the table, and what else it needs
my %ways = (
	'a deferrable key' => 'CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY, k int UNIQUE DEFERRABLE, n N)',
	'a trigger' => 'CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY, k int, n N);
		CREATE TRIGGER stops BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION stops()',
	'a view' => "CREATE VIEW t AS SELECT * FROM under; ALTER VIEW t ALTER id SET DEFAULT nextval('seq');
		CREATE TRIGGER goes_on INSTEAD OF INSERT ON t FOR EACH ROW EXECUTE FUNCTION goes_on()",
	'partitions with a trigger' => "CREATE TABLE t (id int DEFAULT nextval('seq'), k int, n N) PARTITION BY RANGE (k);
		CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (0) TO (1000);
		CREATE TRIGGER stops BEFORE INSERT ON t_1 FOR EACH ROW EXECUTE FUNCTION stops()",
	'a plain table' => 'CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY, k int, n N)',
	'new partitions' => "CREATE TABLE t (id int DEFAULT nextval('seq'), k int, n N) PARTITION BY RANGE (k)",
	'a hash' => "CREATE TABLE t (id int DEFAULT nextval('seq'), k int, n N) PARTITION BY HASH (k);
		CREATE TABLE t_1 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE t_2 PARTITION OF t FOR VALUES WITH (MODULUS 2, REMAINDER 1)",
	'a leader with two columns of a sequence' => "CREATE TABLE t (id int DEFAULT nextval('seq'), k int, n N, again int DEFAULT nextval('seq'))");
my %new = ('new partitions' => "partition_interval => '10', ");

# The table again, then a load, and what there is after it: rows, what was
# written by the way, the next number; and what was told, without its context
sub loaded
{
	my ($way, $type, $load) = @_;
	my $table = $ways{$way};

	$table =~ s/\bN\b/$type/g;
	my ($out, $err) = ('', '');
	$node->psql('postgres', "\\set SHOW_CONTEXT always
		SET client_min_messages = error;
		DO \$\$ BEGIN DROP VIEW IF EXISTS t; EXCEPTION WHEN wrong_object_type THEN DROP TABLE t; END \$\$;
		TRUNCATE log, under RESTART IDENTITY; ALTER SEQUENCE seq RESTART; $table;
		RESET client_min_messages; SET fast_copy.chunk_size = 16;
		\\o /dev/null
		$load;
		\\o
		SELECT * FROM t ORDER BY k;
		SELECT 'log', string_agg(coalesce(i, 'NULL'), ' ' ORDER BY id) FROM log", stdout => \$out, stderr => \$err, on_error_stop => 0);
	my ($rows, $log) = $out =~ /^(.*?)\n?^log\|(.*)$/ms;
	my @told = map { s/^psql:<stdin>:\d+: //r } grep { /(NOTICE|WARNING|ERROR):/ && !/rows are loaded one by one/ } split /\n/, unsaid($err);
	return { rows => $rows, log => $log, told => join("\n", @told), all => $err };
}

# --- numbers of sequences -------------------------------------------------

my $numbers = write_bytes('numbers.csv', "0,1\n1,bad\n2,3\n3,bad\n4,5\n");

sub copy_into
{
	my ($file, $options) = @_;
	return "COPY t (k, n) FROM '$file' (FORMAT csv, $options)";
}

foreach my $way (sort keys %ways)
{
	subtest "$way: rows have COPY's numbers" => sub {
		my $expected = $way =~ /two columns/ ?
		  ($takes_all ? "1|0|1|2\n5|2|3|6\n9|4|5|10" : "1|0|1|2\n3|2|3|4\n5|4|5|6") :
		  ($takes_all ? "1|0|1\n3|2|3\n5|4|5" : "1|0|1\n2|2|3\n3|4|5");

		if ($copy_tolerates && $way ne 'new partitions')
		{
			is(loaded($way, 'int', copy_into($numbers, 'ON_ERROR ignore'))->{rows}, $expected, 'COPY');
		}
		foreach my $workers (0, 1, 2, 4)
		{
			is(loaded($way, 'int', "SELECT fast_copy('t', '$numbers', columns => '{k,n}', on_error => 'ignore', " . ($new{$way} // '') . "workers => $workers)")->{rows},
				$expected, "$workers workers");
		}
	};
}

# A field that stands for a default is evaluated before the value after it.
subtest 'a marker that stands for a default takes a number before the record fails' => sub {
	SKIP:
	{
		skip 'COPY has not DEFAULT and ON_ERROR', 3 unless $copy_tolerates;
		my $file = write_bytes('markers.csv', "\\D,0,1\n\\D,1,bad\n\\D,2,3\n");
		my $copy = loaded('a trigger', 'int', "ALTER TABLE t ALTER id DROP IDENTITY, ALTER id SET DEFAULT nextval('seq');
			COPY t FROM '$file' (FORMAT csv, DEFAULT '\\D', ON_ERROR ignore)");
		is($copy->{rows}, "1|0|1\n3|2|3", 'markers by COPY');
		foreach my $way ('a trigger', 'a plain table')
		{
			is(loaded($way, 'int', "ALTER TABLE t ALTER id DROP IDENTITY, ALTER id SET DEFAULT nextval('seq');
				SELECT fast_copy('t', '$file', default_string => '\\D', on_error => 'ignore')")->{rows}, $copy->{rows}, "$way: markers");
		}
	}
};

# --- NOTICEs as they come, each once --------------------------------------

my $rows = write_bytes('rows.csv', "0,1\n1,bad\n2,3\n3,\n4,x\n99,6\n5,7\n");
my @skipped = map { "NOTICE:  skipping row due to data type incompatibility at line $_->[0] for column \"n\": \"$_->[1]\"" } [2, 'bad'], [5, 'x'];
my %seen = (
	'a deferrable key' => ['NOTICE:  sees 1', $skipped[0], map({ "NOTICE:  sees $_" } 3, '<NULL>'), $skipped[1], map({ "NOTICE:  sees $_" } 6, 7),
		'NOTICE:  2 rows were skipped due to data type incompatibility'],
	'a trigger' => ['NOTICE:  sees 1', $skipped[0], map({ "NOTICE:  sees $_" } 3, '<NULL>'), $skipped[1], 'NOTICE:  sees 6', 'ERROR:  a trigger stops here']);
foreach my $way (sort keys %seen)
{
	subtest "$way: each thing is told once, as by COPY" => sub {
		my $expected = join "\n", @{ $seen{$way} };
		my $log = $way eq 'a trigger' ? '' : '1 3 NULL 6 7';

		if ($copy_tolerates)
		{
			my $copy = loaded($way, 'noisy', copy_into($rows, 'ON_ERROR ignore, LOG_VERBOSITY verbose'));
			is($copy->{told}, $expected, 'COPY tells');
			is($copy->{log}, $log, 'COPY\'s values write');
		}
		my $fast = loaded($way, 'noisy', "SELECT fast_copy('t', '$rows', columns => '{k,n}', on_error => 'ignore', log_verbosity => 'verbose')");
		is($fast->{told}, $expected, 'fast_copy tells');
		is($fast->{log}, $log, 'values write');
		is(() = $fast->{all} =~ /^CONTEXT:  fast_copy t$/mg, 2, 'with COPY\'s context');
	};
}

# An error ends it, where core routes as elsewhere: nobody looks again
my $stops = write_bytes('stops.csv', "0,a\n1,b\n2,wrong\n3,c\n");
foreach my $way ('a hash', 'a plain table')
{
	subtest "$way: what an error ends is told once, as by COPY" => sub {
		my $copy = loaded($way, 'text CHECK (noisy(n))', "COPY t (k, n) FROM '$stops' (FORMAT csv)")->{told};

		like($copy, qr/\ANOTICE:  sees a\nNOTICE:  sees b\nNOTICE:  sees wrong\nERROR:  wrong\z/, 'COPY tells');
		foreach my $source ("'$stops'", "'cat $stops', program => true")
		{
			is(loaded($way, 'text CHECK (noisy(n))', "SELECT fast_copy('t', $source, columns => '{k,n}', workers => 2)")->{told}, $copy, "fast_copy tells");
		}
	};
}

# Values made here are the rows', of each kind of type; NULLs by set_null too
$ways{'all types'} = 'CREATE TABLE t (k int REFERENCES p, a text, b int[], c numeric, d uuid, e timestamptz, f "char", g float8, h int4range)';
my $types = write_bytes('types.csv', qq{1,"a ""b""","{1,2}",1.50,00000000-0000-0000-0000-000000000001,2024-01-01 00:00+00,x,1e10,"[1,2)"\n2,,,,,,,,\n3,é,"{1,x}",x,y,z,ab,g,h\n});
is(loaded('all types', 'int', "SELECT fast_copy('t', '$types', encoding => 'UTF8', on_error => 'set_null', time_zone => 'Asia/Tokyo')")->{rows},
	"1|a \"b\"|{1,2}|1.50|00000000-0000-0000-0000-000000000001|2024-01-01 00:00:00+00|x|10000000000|[1,2)\n2||||||||\n3|é|||||a||", 'values of all types');

# --- a scan before the load, and a load that is begun again -----------------

my $plain = write_bytes('plain.csv', "1,1\n25,2\n11,3\n");
my $binary = PostgreSQL::Test::Utils::tempdir() . '/binary';
chmod 0777, PostgreSQL::Test::Utils::tempdir();
$node->safe_psql('postgres', "COPY (VALUES (1, 1), (25, 2), (11, 3)) TO '$binary' (FORMAT binary)");
my %once = (
	'no more' => "'$plain'",
	'with a condition' => "'$plain', where_clause => 'k > 1'",
	'with a condition on it' => "'$plain', where_clause => 'n > 1'",
	'with time_zone' => "'$plain', time_zone => 'Asia/Tokyo'",
	'with on_error' => "'$plain', on_error => 'ignore'",
	'of binary format' => "'$binary', format => 'binary'",
	'of binary format, with a condition' => "'$binary', format => 'binary', where_clause => 'n > 1'");
foreach my $what (sort keys %once)
{
	subtest "new partitions, $what: values are evaluated once" => sub {
		foreach my $workers (0, 2)
		{
			my $fast = loaded('new partitions', 'noisy', "SELECT fast_copy('t', $once{$what}, columns => '{k,n}', partition_interval => '10', workers => $workers)");
			is(join(' ', sort split / /, $fast->{log}), '1 2 3', "$workers workers: values write");
			is(join(' ', sort $fast->{told} =~ /sees (\d+)/g), '1 2 3', "$workers workers: values tell");
		}
	};
}

subtest 'a condition that core evaluates, too, is evaluated once' => sub {
	foreach my $source ("'$plain'", "'$binary', format => 'binary'")
	{
		$ways{'parts with a trigger'} = 'CREATE TABLE t (id int, k int, n N) PARTITION BY RANGE (k);
			CREATE TRIGGER stops BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION stops()';
		is(loaded('parts with a trigger', 'int', "SELECT fast_copy('t', $source, columns => '{k,n}', partition_interval => '10', where_clause => 'noisy(n::text)')")->{log},
			'1 2 3', "core loads $source");
	}
};

# It looks as if it were in key order, but is not: what is loaded before that is
# known is loaded again
subtest 'rows that are loaded again are evaluated once' => sub {
	my $almost = write_bytes('almost.csv', join('', map { "$_,$_\n" } 1 .. 36000, 35000, 36001 .. 200000));
	$ways{'a CHECK'} = 'CREATE TABLE t (id int, k int, n N, CHECK (noisy(n::text))) PARTITION BY RANGE (k)';
	$ways{'a CHECK of some'} = 'CREATE TABLE t (id int, k int, n N, CHECK (n > 3 OR noisy(n::text))) PARTITION BY RANGE (k)';
	is(loaded('a CHECK of some', 'int', "SET fast_copy.chunk_size = '512kB'; SELECT fast_copy('t', '$almost', columns => '{k,n}', partition_interval => '100000')")->{log},
		'1 2 3', 'a file almost in key order');
};

subtest 'a CHECK that may be tolerated is evaluated once' => sub {
	foreach my $classes ('{check}', '{check,not_null}', '{not_null}', '{conversion}')
	{
		is(loaded('a CHECK', 'int', "SELECT fast_copy('t', '$plain', columns => '{k,n}', partition_interval => '10', on_error => 'ignore', on_error_classes => '$classes')")->{log} =~ tr/0-9//,
			3, $classes);
	}
};

# --- the null string as it stands ---------------------------------------------

$ways{'words'} = "CREATE TABLE t (k int REFERENCES p, n noisy_text)";

subtest 'a null string that the type refuses is an error, as in COPY' => sub {
	my $null = write_bytes('null.csv', "1,ok\n2,wrong\n");
	my $option = "null 'wrong', force_not_null (n)";
	like(loaded('words', 'int', copy_into($null, $option))->{all}, qr/^COPY t, line 2, column n: "wrong"$/m, 'COPY: a null string that is none');
	foreach my $more ('', ", on_error => 'ignore'", ", time_zone => 'Asia/Tokyo'")
	{
		like(loaded('words', 'int', "SELECT fast_copy('t', '$null', columns => '{k,n}', null_string => 'wrong', force_not_null => '{n}'$more)")->{all},
			qr/fast_copy t, file ".*", line 2, column n: "wrong"$/m, "a null string that is none$more");
	}
};

$node->stop;
done_testing();
