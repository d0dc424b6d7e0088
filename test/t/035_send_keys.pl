# Records go to the foreign partition that core would put their row into:
# whatever type the key has, however it is written, wherever it stands.  And
# where records begin is found in the pass that sends them, in files of all
# kinds.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', { extra => [ '--encoding=UTF8' ] }, 'session_preload_libraries = fast_copy', 'timezone = UTC');
needs($node, 'postgres_fdw');
my $there = new_node('there', { extra => [ '--encoding=UTF8' ] }, 'timezone = UTC');
query('CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster;' . server_sql('there', $there));
foreach my $server ($node, $there)
{
	$server->safe_psql('postgres', "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
		if $node->safe_psql('postgres', "SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu'") eq '1';
}
my $icu = $there->safe_psql('postgres', "SELECT count(*) FROM pg_collation WHERE collname = 'loose'") eq '1';

my @HASH = ('WITH (MODULUS 2, REMAINDER 0)', 'WITH (MODULUS 4, REMAINDER 1)', 'WITH (MODULUS 4, REMAINDER 3)');
my @HASH3 = map { "WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2;

subtest 'keys of all types by hash' => \&by_hash;
subtest 'keys by list and by range' => \&by_list_and_range;
subtest 'where records begin' => \&where_records_begin;
subtest 'a partition is found to be missing' => \&missing;
$_->stop foreach $node, $there;
done_testing();

sub query { my ($sql) = @_; return $node->safe_psql('postgres', $sql) }

# ---- keys -------------------------------------------------------------------

# Texts of each type: those that files are full of, and others
sub values_of
{
	my ($type) = @_;
	my @int = ((map { $_ * 37 % 101 } 1 .. 40), 0, -1, -32768, 32767, '+5', '" 7"', '"8 "', '007', '"9"');
	my @text = ((map { 'v' . $_ * 37 % 101 } 1 .. 40), 'V1', 'é', "e\xcc\x81", '"a,b"', '"q""q"', '" x"', '""', 'trail ', 'x' x 200);
	my @day = map { sprintf '2024-%02d-%02d', 1 + $_ % 12, 1 + $_ % 28 } 1 .. 40;
	my %of = (
		'int2' => \@int,
		'int4' => [ @int, -2147483648, 2147483647 ],
		'int8' => [ @int, '-9223372036854775808', '9223372036854775807', 1234567890123, 12345678 ],
		'oid' => [ grep { !/-/ } @int ],
		'float4' => [ @int, '1.5', '-0', '1e10', 'NaN', 'Infinity', '0.1' ],
		'float8' => [ @int, '1.5', '-0', '1e10', 'NaN', '-Infinity', '540.8507523755431' ],
		'numeric' => [ @int, '1.5', '1.50', '-0.0', '1e10', 'NaN', '123456789012345678901234567890' ],
		'numeric(8,2)' => [ @int, '1.5', '1.505', '1.495' ],
		'bool' => [ qw(t f true false yes off 1 0), '" t "' ],
		'date' => [ @day, 'infinity', '20240105', 'Jan 5 2024', '2024/01/05' ],
		'time' => [ map({ sprintf '%02d:%02d:00', $_ % 24, $_ } 1 .. 40), '05:06', '01:00 PM', '05:06:07.5' ],
		'timestamp' => [ map({ "$_ 10:00:00" } @day), map({ "$_ 10:00:00.123" } @day), '2024-01-05', '-infinity', '2024-01-05T10:00:00' ],
		'timestamptz' => [ map({ "$_ 10:00:00+02" } @day), map({ "$_ 10:00:00" } @day), '2024-01-05 10:00:00 Europe/Rome', 'infinity' ],
		'timestamp(0)' => [ map { "$_ 10:00:00.5" } @day ],
		'interval' => [ map({ "$_ days" } 1 .. 40), '24:00:00' ],
		'text' => \@text,
		'text COLLATE "C"' => \@text,
		'text COLLATE loose' => \@text,
		'varchar(300)' => \@text,
		'bpchar(300)' => \@text,
		'uuid' => [ map({ sprintf '%08x-0000-4000-8000-%012x', $_, $_ } 1 .. 40), 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{a0eebc999c0b4ef8bb6d6bb9bd380a11}' ],
		'bytea' => [ map({ sprintf '\\x%04x', $_ } 1 .. 40), 'abc', '\\\\', '\\001' ],
		'inet' => [ map { "10.0.0.$_" } 1 .. 40 ],
		'int4[]' => [ map { "\"{$_,2}\"" } 1 .. 40 ],
	);

	return @{ $of{$type} };
}

# Compares a load with COPY into partitions that are here: which rows went where
sub is_routed
{
	my ($name, $columns, $key, $bounds, $bytes, $options, $copy) = @_;
	my $path = write_bytes('keys.csv', $bytes);
	my @for = map { $_ eq 'DEFAULT' ? $_ : "FOR VALUES $_" } @$bounds;
	my $make = "DROP TABLE IF EXISTS t; CREATE TABLE t ($columns) PARTITION BY $key;";

	$there->safe_psql('postgres', 'DROP TABLE IF EXISTS ' . join(', ', map { "r_$_" } 0 .. $#for) . ';' . join(';', map { "CREATE TABLE r_$_ ($columns)" } 0 .. $#for));
	my ($rc, $wanted, $err) = $node->psql('postgres', $make . join(';', map { "CREATE TABLE t_$_ PARTITION OF t $for[$_]" } 0 .. $#for) . ";
		COPY t FROM '$path' WITH (" . ($copy // 'FORMAT csv') . "); SELECT tableoid::regclass, t.*::text FROM t ORDER BY 1, 2");
	is($rc, 0, "$name: COPY") or return diag($err);
	$rc = $node->psql('postgres', $make . join(';', map { "CREATE FOREIGN TABLE t_$_ PARTITION OF t $for[$_] SERVER there OPTIONS (table_name 'r_$_')" } 0 .. $#for) . ";
		SET fast_copy.chunk_size = 700; SELECT fast_copy('t', '$path', missing_partitions => 'default'" . ($options // '') . ');
		SELECT tableoid::regclass, t.*::text FROM t ORDER BY 1, 2', stdout => \my $out, stderr => \$err);
	is($rc, 0, $name) or diag($err);
	$out =~ s/^\d+\n?//;
	is($out, $wanted, "$name: rows");
	is(() = $err =~ /one by one/g, 0, "$name: sent") or diag($err);
}

# Key and number in both orders, so that the key is first and last in a record
sub is_routed_by
{
	my ($type, $by, $bounds, @values) = @_;
	my $n = 0;
	my @rows = map { [ $_, ++$n ] } @values;

	is_routed("$type by $by", "k $type, n int", "$by (k)", $bounds, join('', map { "$_->[0],$_->[1]\n" } @rows));
	is_routed("$type by $by, last", "n int, k $type", "$by (k)", $bounds, join('', map { "$_->[1],$_->[0]\n" } @rows));
}

sub by_hash
{
	foreach my $type ('int2', 'int4', 'int8', 'oid', 'float4', 'float8', 'numeric', 'numeric(8,2)', 'bool', 'date', 'time', 'timestamp',
		'timestamptz', 'timestamp(0)', 'interval', 'text', 'text COLLATE "C"', 'varchar(300)', 'bpchar(300)', 'uuid', 'bytea', 'inet', 'int4[]',
		$icu ? 'text COLLATE loose' : ())
	{
		is_routed_by($type, 'HASH', length($type) % 2 ? \@HASH : \@HASH3, values_of($type), '');
	}
	foreach my $types ([ 'int8', 'text' ], [ 'timestamptz', 'int4' ], [ 'uuid', 'numeric' ])
	{
		my ($one, $two) = map { [ values_of($_), '' ] } @$types;
		my @rows = map { "$_," . $one->[ $_ % @$one ] . ',' . $two->[ $_ * 7 % @$two ] . "\n" } 1 .. 400;

		is_routed("@$types by HASH", "n int, a $types->[0], b $types->[1]", 'HASH (b, a)', \@HASH, join('', @rows));
	}
	is_routed('text format', 'n int, k text', 'HASH (k)', \@HASH, join('', map { "$_\t" . ('a', '\\N', 'a\\tb', '\\x41', 'é', '\\303\\251')[ $_ % 6 ] . $_ % 20 . "\n" } 1 .. 200),
		", format => 'text'", 'FORMAT text');
	# a field's number would go on in the delimiter
	is_routed('a digit between fields', 'n int, k int8, f float8', 'HASH (k, f)', \@HASH, join('', map { "${_}5${_}12346785$_.24\n" } grep { !/5/ } 1 .. 60),
		", delimiter => '5'", "FORMAT csv, DELIMITER '5'");
}

sub by_list_and_range
{
	is_routed_by('int4', 'LIST', [ 'IN (1, 5, 7, NULL)', 'IN (8, 9, -1)', 'DEFAULT' ], values_of('int4'), '');
	is_routed_by('text', 'LIST', [ "IN ('v1', 'é', '')", "IN ('a,b', 'V1', NULL)", 'DEFAULT' ], values_of('text'), '');
	is_routed_by('text COLLATE loose', 'LIST', [ "IN ('v1', 'é')", "IN ('a,b', NULL)", 'DEFAULT' ], values_of('text'), '') if $icu;
	is_routed_by('bool', 'LIST', [ 'IN (true)', 'IN (false, NULL)' ], values_of('bool'), '');
	is_routed_by('int8', 'RANGE', [ 'FROM (MINVALUE) TO (10)', 'FROM (10) TO (50)', 'DEFAULT' ], values_of('int8'), '');
	is_routed_by('text', 'RANGE', [ "FROM (MINVALUE) TO ('v5')", "FROM ('v5') TO ('v9')", 'DEFAULT' ], values_of('text'), '');
	is_routed_by('numeric', 'RANGE', [ 'FROM (MINVALUE) TO (1.5)', 'FROM (1.5) TO (50)', 'DEFAULT' ], values_of('numeric'), '');
	is_routed_by('float8', 'RANGE', [ 'FROM (MINVALUE) TO (1.5)', "FROM (1.5) TO ('NaN')", 'DEFAULT' ], values_of('float8'), '');
	is_routed_by('date', 'RANGE', [ "FROM (MINVALUE) TO ('2024-03-01')", "FROM ('2024-03-01') TO ('2024-06-01')", 'DEFAULT' ], values_of('date'), '');
	is_routed_by('timestamptz', 'RANGE', [ "FROM ('2024-01-01') TO ('2024-03-01')", "FROM ('2024-03-01') TO ('2024-06-01')", 'DEFAULT' ], values_of('timestamptz'), '');
}

# ---- where records begin ----------------------------------------------------

# A table with two foreign partitions, without rows
sub new_table
{
	$there->safe_psql('postgres', 'DROP TABLE IF EXISTS r_0, r_1; CREATE TABLE r_0 (n int CHECK (n <> 99), v text); CREATE TABLE r_1 (LIKE r_0 INCLUDING ALL)');
	query('DROP TABLE IF EXISTS t; CREATE TABLE t (n int, v text) PARTITION BY RANGE (n);' .
		join(';', map { "CREATE FOREIGN TABLE t_$_ PARTITION OF t FOR VALUES FROM (" . $_ * 30 . ') TO (' . ($_ * 170 + 30) . ") SERVER there OPTIONS (table_name 'r_$_')" } 0, 1));
}

# What a load says: rows, or SQLSTATE, message and line of the error
sub said
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$sql");

	return $out if $rc == 0;
	my ($error) = $err =~ /ERROR:  (\w+: .*)/;
	my ($line) = $err =~ /, line (\d+)/;
	return ($error =~ /^23/ ? 'a constraint' : $error) . ", line $line";
}

# Headers, records longer than chunks, no line end
sub files
{
	my ($name, $bad) = @_;
	my $long = '"' . "y\n" x 400 . '"';
	my @files = (join('', map { "$_," . ($_ % 9 ? "v$_" : $_ % 2 ? $long : "\"two\nlines\"") . "\n" } 1 .. 60),
		"61,x\n62,$long", '', "63,x\r\n64,\"y\r\nz\"\r\n", "65,x\n", "66,$long\n", "67,$long\n68,$long\n69,z\n");

	$bad->(\@files) if $bad;
	return map { write_bytes("${name}_$_.csv", ($_ == 3 ? "n,v\r\n" : "n,v\n") . $files[$_]) } 0 .. $#files;
}

sub where_records_begin
{
	my $HEADER = "header => 'true', workers => 2";
	my @files = files('begin');
	my $pattern = $files[0] =~ s/_0(?=\.\w+$)/_*/r;
	my $rows = 'SELECT count(*), sum(n), sum(length(v)), min(v), max(v)';
	my $wanted = query('CREATE TABLE c (n int, v text);' . join(';', map { "COPY c FROM '$_' CSV HEADER" } @files) . "; $rows FROM c");

	foreach my $chunk (1, 7, 64, 700, 100000)
	{
		new_table();
		is(query("SET fast_copy.chunk_size = $chunk; SELECT fast_copy('t', '$pattern', $HEADER);
			SELECT string_agg(rows::text, ',' ORDER BY choice) FROM fast_copy_report() WHERE choice LIKE 'file %'"), "69\n60,2,0,2,1,1,3", "chunks of $chunk bytes: rows of each file");
		is(query("$rows FROM t"), $wanted, "chunks of $chunk bytes: rows");
	}

	# markers, with bytes after them
	my @texts = map { write_bytes("text_$_.txt", join('', map { "$_\tv\\\n" . 'w' x 30 . "\n" } $_ * 20 .. $_ * 20 + 9) . ($_ % 2 ? "\\.\nrubbish\t" . 'x' x $_ ** 6 : '')) } 0 .. 4;
	$wanted = query('TRUNCATE c;' . join(';', map { "COPY c FROM '$_'" } @texts) . "; $rows FROM c");
	foreach my $chunk (1, 7, 64, 700, 100000)
	{
		new_table();
		is(query("SET fast_copy.chunk_size = $chunk; SELECT fast_copy('t', '" . ($texts[0] =~ s/_0(?=\.\w+$)/_*/r) . "', format => 'text', workers => 2)"), 50, "text, chunks of $chunk bytes");
		is(query("$rows FROM t"), $wanted, "text, chunks of $chunk bytes: rows");
	}

	# a record without a partition, a bad value here or there, a quote that stays open
	my %bad = (route => 'a row', key => 'x1,a', check => '99,a', columns => '7,a,b', quote => '7,"a');
	foreach my $kind (sort keys %bad)
	{
		foreach my $i (0, 1, 3, 6)
		{
			my $bytes = $kind eq 'route' ? '999,a' : $bad{$kind};
			my @bad = files("$kind$i", sub { $_[0][$i] =~ s/(\r?\n)(6\d|59),/$1$bytes$1$2,/ });

			query('DROP TABLE IF EXISTS c; CREATE TABLE c (n int, v text) PARTITION BY RANGE (n); CREATE TABLE c_0 PARTITION OF c FOR VALUES FROM (0) TO (30); CREATE TABLE c_1 PARTITION OF c (CHECK (n <> 99)) FOR VALUES FROM (30) TO (200)');
			my $error = said("COPY c FROM '$bad[$i]' CSV HEADER") =~ s/relation "c"/relation "t"/r;
			new_table();
			is(said("SET fast_copy.chunk_size = $_; SELECT fast_copy('t', '" . ($bad[0] =~ s/_0(?=\.\w+$)/_*/r) . "', $HEADER, missing_partitions => 'error')"), $error, "$kind in file $i, chunks of $_ bytes") foreach 7, 700, 100000;
			is(query('SELECT count(*) FROM t'), 0, "$kind in file $i: nothing is left");
		}
	}
}

# The pass is given up, and all records are found again
sub missing
{
	my @files = files('missing', sub { $_[0][6] .= "999,a\n" });

	foreach my $chunk (7, 700, 100000)
	{
		new_table();
		my ($rc, $out, $err) = $node->psql('postgres', "SET fast_copy.chunk_size = $chunk; SELECT fast_copy('t', '" . ($files[0] =~ s/_0(?=\.\w+$)/_*/r) . "', header => 'true', workers => 2, partition_interval => '1000')");
		like($err, qr/cannot create partitions of table "t"/, "chunks of $chunk bytes");
		unlike($err, qr/core|INTERNAL|do not join/, "chunks of $chunk bytes: no other error");
		is(query('SELECT count(*) FROM t'), 0, "chunks of $chunk bytes: nothing is left");
	}
}
