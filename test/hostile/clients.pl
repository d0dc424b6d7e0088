# Other people's clients: what COPY loads through them, COPY with the option
# fast_copy loads as well, with the same count and the same errors.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t";
use FastCopy;
use IPC::Run;
use Test::More;

my $node = new_node('main', {}, "session_preload_libraries = 'fast_copy'");
my @psql = ('psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1');

sub sql { return $node->safe_psql($_[0], $_[1]) }

# What a command prints that reads a script: exit code, output, errors
sub run
{
	my ($input, @command) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run(\@command, '<', \$input, '>', \$out, '2>', \$err, IPC::Run::timeout(120));
	chomp($out, $err);
	return ($? >> 8, $out, $err);
}

sub psql { return map { unsaid($_) } run($_[1], @psql, '-d', $node->connstr($_[0])) }

# ---- a script with its data -------------------------------------------------

sql('postgres', "CREATE DATABASE $_") foreach 'source', 'target';
sql('source', q{
	CREATE TABLE plain (n int PRIMARY KEY, v text, b bytea, j jsonb);
	INSERT INTO plain SELECT n, CASE n % 4 WHEN 0 THEN NULL WHEN 1 THEN E'\\\\.' WHEN 2 THEN E'a\tb\\\\nc\r\n' || n ELSE '' END, decode(md5(n::text), 'hex'), '{"a": "\""}' FROM generate_series(1, 3000) n;
	CREATE TABLE events (n serial, at timestamp NOT NULL, v text) PARTITION BY RANGE (at);
	CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM ('2024-01-01') TO ('2024-02-01');
	CREATE TABLE events_2 PARTITION OF events FOR VALUES FROM ('2024-02-01') TO ('2024-03-01');
	INSERT INTO events (at, v) SELECT timestamp '2024-01-01' + n * interval '20 minutes', 'row ' || n FROM generate_series(0, 4000) n;
	CREATE TABLE empty (a int);
	CREATE TABLE child (n int REFERENCES plain, g int GENERATED ALWAYS AS (n * 2) STORED);
	INSERT INTO child SELECT n FROM generate_series(1, 3000) n});

sub dump_of
{
	my ($database, @options) = @_;
	my ($rc, $out, $err) = run('', 'pg_dump', @options, '-d', $node->connstr($database));

	die $err if $rc;
	return $out =~ s/^\\(un)?restrict .*\n//mgr;
}

my $dump = dump_of('source');
my $script = $dump =~ s/FROM stdin;/FROM stdin WITH (fast_copy);/gr;
my $tables = () = $script =~ /WITH \(fast_copy\)/g;

subtest 'a dump that fast_copy loads is the database that was dumped' => sub {
	is($tables, 5, 'all tables of the script are loaded by fast_copy');
	is(join('|', psql('target', $script)), "0|\n4001|", 'pg_dump | sed | psql ends well');
	ok(dump_of('target') eq $dump, 'the restored database is the dumped one');
};

# ---- inline data ------------------------------------------------------------

sql('postgres', 'CREATE TABLE t (n int, v text)');
subtest 'inline data are loaded' => sub {
	my %rows = (text => "1\ta\n2\t\\N\n", csv => "1,a\n2,\n");

	foreach my $format (sort keys %rows)
	{
		foreach my $workers (0, 2)
		{
			my $with = "(FORMAT $format, fast_copy, workers $workers)";

			my ($rc, $out, $err) = psql('postgres', "\\set QUIET off\nCOPY t FROM STDIN $with;\n$rows{$format}\\.\nSELECT count(*) FROM t; TRUNCATE t;\n\\copy t from stdin $with\n$rows{$format}\\.\nSELECT n, coalesce(v, 'NULL') FROM t ORDER BY n;\nTRUNCATE t;");

			is(join('|', $rc, $out, unsaid($err)), "0|COPY 2\n2\nTRUNCATE TABLE\nCOPY 2\n1|a\n2|NULL\nTRUNCATE TABLE|", "inline, $format, $workers workers");
		}
	}
};
subtest 'bad inline data are refused, and the script goes on' => sub {
	my ($rc, $out, $err) = run("COPY t FROM STDIN (fast_copy);\n1\ta\nx\tb\n\\.\nSELECT 'goes on';\n", 'psql', '-X', '-q', '-A', '-t', '-d', $node->connstr('postgres'));
	is($out, 'goes on', 'after bad inline data the script goes on');
	like($err, qr/invalid input syntax for type integer: "x".*line 2, column n: "x"/s, '... and says what was wrong');
	is(sql('postgres', 'SELECT count(*) FROM t'), 0, '... and nothing was loaded');
};

# ---- drivers ----------------------------------------------------------------

# A program of a driver's; skipped, with a word, where the driver is not there
sub driver
{
	my ($module, $program) = @_;
	my $script = write_bytes("by_$module.py", $program);

	subtest "$module: ends each COPY as without fast_copy" => sub {
		SKIP:
		{
			my ($rc, $out, $err) = run('', '/usr/bin/python3', '-c', "import $module");
			skip "the driver $module is not installed: $err", 1 if $rc;
			local $ENV{DSN} = $node->connstr('postgres');
			local $ENV{SOCKET} = $node->host . '/.s.PGSQL.' . $node->port;
			local $ENV{DRIVER_USER} = getpwuid($>);

			($rc, $out, $err) = run('', '/usr/bin/python3', $script);
			is($rc, 0, "$module: ends well") or diag($err);
			foreach my $line (split(/\n/, $out))
			{
				my ($what, $core, $ours) = split(/\t/, $line);

				isnt($core, '', "$module: $what");
				is($ours, $core, "$module: $what, as COPY");
			}
			cmp_ok(() = $out =~ /\n/g, '>=', 5, "$module: all of it");
		}
	};
}

driver('psycopg', <<'PY');
import os, psycopg, struct

conn = psycopg.connect(os.environ['DSN'], autocommit=True)
conn.execute('CREATE TEMP TABLE d (n int, v text)')

def binary():
    rows = b''.join(struct.pack('>hii', 2, 4, n) + struct.pack('>i', len(v)) + v for n, v in ((1, b'a'), (2, b'b\tc')))
    return b'PGCOPY\n\xff\r\n\0' + struct.pack('>ii', 0, 0) + rows + struct.pack('>h', -1)

def attempt(options, send):
    said = ''
    try:
        with conn.cursor() as cur:
            with cur.copy('COPY d FROM STDIN (' + options + ')') as copy:
                send(copy)
            said = cur.statusmessage + ' ' + str(cur.rowcount)
    except Exception as e:
        diag = getattr(e, 'diag', None)
        said = type(e).__name__ + ' ' + str(diag.message_primary if diag else e)
    rows = conn.execute('SELECT n, v FROM d ORDER BY n').fetchall()
    conn.execute('TRUNCATE d')
    return said + ' ' + repr(rows)

def compare(what, options, send):
    print(what, attempt(options, send), attempt(options + ', fast_copy', send), sep='\t')

def rows(copy):
    for i in range(1, 3000):
        copy.write_row((i, 'row\t%d' % i if i % 3 else None))

def typed(copy):
    copy.set_types(['int4', 'text'])
    rows(copy)

def fails(copy):
    copy.write('1\ta\n')
    raise ValueError('the program fails')

compare('write(str)', 'FORMAT text', lambda copy: copy.write('1\ta\n2\tb\n'))
compare('write(bytes)', 'FORMAT text', lambda copy: copy.write(b'1\ta\n2\tb\n\\.\n'))
compare('write(str), csv', 'FORMAT csv, HEADER', lambda copy: copy.write('n,v\n1,"a\nb"\n'))
compare('write_row', 'FORMAT text', rows)
compare('write_row, binary', 'FORMAT binary', typed)
compare('write(bytes), binary', 'FORMAT binary', lambda copy: copy.write(binary()))
compare('an error in the data', 'FORMAT csv', lambda copy: copy.write('1,a\nx,b\n'))
compare('an error in the program', 'FORMAT text', fails)
compare('no data', 'FORMAT text', lambda copy: None)
compare('str for binary', 'FORMAT binary', lambda copy: copy.write('1\ta\n'))
PY

driver('pg8000', <<'PY');
import io, os, pg8000, struct

try:
    from pg8000 import dbapi
except ImportError:
    dbapi = pg8000
conn = dbapi.connect(user=os.environ['DRIVER_USER'], database='postgres', unix_sock=os.environ['SOCKET'])
conn.autocommit = True
cur = conn.cursor()
cur.execute('CREATE TEMP TABLE d (n int, v text)')

def binary():
    row = struct.pack('>hii', 2, 4, 1) + struct.pack('>i', 1) + b'a'
    return b'PGCOPY\n\xff\r\n\0' + struct.pack('>ii', 0, 0) + row + struct.pack('>h', -1)

def attempt(options, data):
    try:
        cur.execute('COPY d FROM STDIN WITH (' + options + ')', stream=data())
        said = 'COPY ' + str(cur.rowcount)
    except Exception as e:
        a = e.args[0]
        said = type(e).__name__ + ' ' + str(a.get('M') if isinstance(a, dict) else e.args[3] if len(e.args) > 3 else e)
    cur.execute('SELECT n, v FROM d ORDER BY n')
    rows = [list(r) for r in cur.fetchall()]
    cur.execute('TRUNCATE d')
    return said + ' ' + repr(rows)

def compare(what, options, data):
    print(what, attempt(options, data), attempt(options + ', fast_copy', data), sep='\t')

compare('bytes', 'FORMAT text', lambda: io.BytesIO(b'1\ta\n2\tb\n'))
# old ones take no str, whatever the server says
if dbapi is not pg8000:
    compare('str', 'FORMAT text', lambda: io.StringIO('1\ta\n2\tb\n'))
compare('csv', 'FORMAT csv, HEADER', lambda: io.BytesIO(b'n,v\n1,"a\nb"\n'))
compare('binary', 'FORMAT binary', lambda: io.BytesIO(binary()))
compare('an error in the data', 'FORMAT csv', lambda: io.BytesIO(b'1,a\nx,b\n'))
compare('after it', 'FORMAT csv', lambda: io.BytesIO(b'1,a\n'))
compare('no data', 'FORMAT text', lambda: io.BytesIO(b''))
PY

$node->stop;
done_testing();
