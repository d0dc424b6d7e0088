# fast_copy.accelerate_copy: nothing but the time can be told from core's COPY,
# which is asked with the setting off.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

my $node = new_node('main', {}, "session_preload_libraries = 'fast_copy'", 'fast_copy.accelerate_min_size = 0');
my $socket = connection($node);

my @end = ('c');    # how the client ends its data

# What is said to a command, and to the data where the server asks for them:
# errors and notices in full, rows, and the command's tag
sub said
{
	my ($sql, $data, $cut) = @_;
	my $said = '';

	say_to($socket, [ 'Q', "$sql\0" ]);
	my @messages = messages($socket, 'G', 'Z');
	if ($messages[-1][0] eq 'G')
	{
		say_to($socket, (map { [ 'd', $_ ] } $data =~ /(.{1,$cut})/sg), \@end);
		@messages = messages($socket, 'Z');
	}
	foreach (@messages)
	{
		my ($type, $body) = @$_;

		$said .= join(' ', $type, $body =~ /\0([CMDHW][^\0]*)/g) . "\n" if $type =~ /[EN]/;
		$said .= "$body\n" =~ s/\0//r if $type eq 'C';
		$said .= substr($body, 6) . "\n" if $type eq 'D';
	}
	return $said;
}

# What a COPY says, and the rows it leaves, in their order
sub copied
{
	my ($copy, $data, $cut, @settings) = @_;

	said("SET $_") foreach @settings;
	said('TRUNCATE t');
	return said($copy, $data, $cut) . said("SELECT string_agg(t::text, ' ') FROM t");
}

# Each way to read the data, by core and accelerated: chunks of any size, and
# processes that look for records in them
sub agrees
{
	my ($name, $data, $options, $columns, @sources) = @_;
	my $path = write_bytes('data.csv', $data);
	my @wrong;

	foreach my $source (@sources ? @sources : ("'$path'", "PROGRAM 'cat $path'", 'STDIN'))
	{
		my $copy = 'COPY t ' . ($columns // '') . " FROM $source (FORMAT csv" . ($options // '') . ')';
		my $cut = $end[0] eq 'f' ? cut_for($node, 100) : 100;
		my $cores = copied($copy, $data, $cut, 'fast_copy.accelerate_copy = off');

		foreach my $workers (0, 2)
		{
			foreach my $chunk (1, 2, 3, 7, 30000)
			{
				my $ours = copied($copy, $data, $chunk, 'fast_copy.accelerate_copy = on',
					"fast_copy.workers = $workers", "fast_copy.chunk_size = '${chunk}B'");

				$ours .= said("SELECT choice FROM fast_copy_report() WHERE choice LIKE 'core%' AND choice NOT LIKE '%cannot be converted'") if $ours =~ /^COPY/;
				push(@wrong, "$source, $workers workers, chunks of $chunk:\n$ours" . "core:\n$cores") if $ours =~ s/SELECT 0\n$//r ne $cores;
			}
		}
	}
	is(join("\n", @wrong), '', $name);
}

$node->safe_psql('postgres', 'CREATE TABLE t (v text, n int)');

subtest 'the record "\." ends CSV before 18, and is data since' => sub {
	agrees('last', "a,1\nb,2\n\\.\n");
	agrees('in the middle', "a,1\nb,2\n\\.\nc,3\nd,4\n");
	agrees('first', "\\.\na,1\n");
	agrees('alone', "\\.\n");
	agrees('twice', "a,1\n\\.\n\\.\nb,2\n");
	agrees('after a line that is empty', "a,1\n\n\\.\n", '', '(v)');
	agrees('CR NL', "a,1\r\n\\.\r\nb,2\r\n");
	agrees('CR', "a,1\r\\.\rb,2\r");
	agrees('first, and then another style', "\\.\r\na,1\n");
	agrees('what follows is not looked at', "a,1\n\\.\nx,y,z\xff\n\r\\.x\n\"\n");
	agrees('an error before it', "a,1\nb,x\n\\.\nc,3\n");
	agrees('many rows', join('', map { "row $_,$_\n" } 1 .. 100) . "\\.\n" . "c,3\n" x 100);
	agrees('another encoding', "\xe9,1\n\\.\n\xe9,2\n", ", ENCODING 'latin1'");
	agrees('an encoding that is converted first', "\x82\xa0,1\n\\.\n\x82\xa0,2\n", ", ENCODING 'sjis'");
	agrees('what follows cannot be converted', "\x82\xa0,1\n\\.\n\x82,2\n", ", ENCODING 'sjis'");
	agrees('where it has quote and escape in it', "a,1\n\\.\nb,2\n", ", QUOTE '.', ESCAPE '\\'");
	agrees('where it begins with a quote', "a,1\n\\.\nb,2\n", ", QUOTE '\\'");
	agrees('where it begins with a delimiter', "a\\1\n\\.\nb\\2\n", ", DELIMITER '\\'");
};

subtest 'what is not the record "\." is data' => sub {
	agrees('more after it', "\\.x,1\n\\.,2\n\\. ,3\n");
	agrees('more before it', "a\\.\n\\\\.\n \\.\n.\n", '', '(v)');
	agrees('backslashes', "\\\n\\\\\n\\,\n\\", '', '(v)');
	agrees('without a line end', "a\n\\.", '', '(v)');
	agrees('without a line end, alone', '\.', '', '(v)');
	agrees('quoted', "\"\\.\"\nb\n", '', '(v)');
	agrees('in quotes', "\"a\n\\.\n\",1\nb,2\n");
	agrees('after such data', "\\.x,1\n\"a\n\\.\n\",2\n\\.,3\n\\.\nb,4\n");
	agrees('after such data, CR NL', "\\.x,1\r\n\"a\r\n\\.\r\n\",2\r\n\\.,3\r\n\\.\r\nb,4\r\n");
	agrees('a quote in the marker', "\\.\n.,1\n\\.\nb,2\n", ", QUOTE '.'");
	agrees('the same, CR NL', "a,1\r\n\\.\n.,1\r\n\\.\r\nb,2\r\n", ", QUOTE '.'");
};

subtest 'a line end of another style after "\."' => sub {
	agrees('CR in an NL file', "a,1\n\\.\rb,2\n");
	agrees('CR NL in an NL file', "a,1\n\\.\r\nb,2\n");
	agrees('NL in a CR file', "a,1\r\\.\nb,2\r");
	agrees('NL in a CR NL file', "a,1\r\n\\.\nb,2\r\n");
	agrees('CR CR in a CR NL file', "a,1\r\n\\.\r\rb,2\r\n");
	agrees('CR in a CR NL file', "a,1\r\n\\.\rb,2\r\n");
	agrees('CR at the end of a CR NL file', "a,1\r\n\\.\r");
	agrees('after many rows', join('', map { "row $_,$_\n" } 1 .. 100) . "\\.\r\nc,3\n");
};

subtest 'headers and "\."' => sub {
	agrees('after the header', "v,n\n\\.\na,1\n", ', HEADER');
	agrees('after the header, and nothing else', "v,n\n\\.\n", ', HEADER match');
	agrees('as the header', "\\.\na,1\n", ', HEADER');
	agrees('as the header that is to match', "\\.\na,1\n", ', HEADER match');
	agrees('another style after the header', "v,n\n\\.\r\na,1\n", ', HEADER');
	agrees('a header that begins so', "\\.,n\na,1\n\\.\nb,2\n", ', HEADER');
	agrees('after rows', "v,n\na,1\n\\.\nb,2\n", ', HEADER match');
	agrees('no header', '', ', HEADER');
};

subtest 'the client gives up' => sub {
	@end = ('f', "no more\0");
	foreach my $data ("v,n\r", "v,n\ra,1\r", "v,n\r\na,1\r", "v,n\r\na,1\r\n", "v,n\na,1\n", "v,n\n", 'v,n', "v,n\na,1", "v,n\ra,1\r\\.\rb,2\r", "\\.\r\n", "v,n\n\\.\n", '')
	{
		my $name = $data =~ s/\r/CR /gr =~ s/\n/NL /gr;

		agrees("after $name", $data, ', HEADER', undef, 'STDIN');
		agrees("after a record of $name", $data =~ s/n/7/r, '', undef, 'STDIN');
	}
	# not a string, and not one in the client's encoding
	foreach ([ 'f', 'no more' ], [ 'f', '' ], [ 'f', "no \xff\0" ])
	{
		@end = @$_;
		agrees("after a record and '$end[1]'" =~ s/[^ -~]/?/gr, $_, '', undef, 'STDIN') foreach "v,1\na,1\n", "v,1\na,x\n";
	}
	@end = ('c');
};

# Before 18 "\." ends what a client sends wherever it stands, and core reads the
# data of a load that it does itself as those of a file.
subtest 'text that the client ends within a line' => sub {
	foreach my $data ("a,1\\.\nb,2\n", "a,1\nb,2\\.\nc,3\n", "a,1\r\nb,2\\.\r\nc,3\r\n", "a,1\rb,2\\.\rc,3\r", "a,1\\.\r\nb,2\r\n", "a,1\\.\rb,2\r",
		"a,1\n\\.\nb,2\n", "\\.\nb,2\n", "a,1\nb\\\\.,2\nc\\\\\\.\nd\n", "a,1\nb\\\n,2\\.\nc,3\n", "a,1\nb,2\\.x\nc,3\n", "a,1\nb,2\\.\r\nc,3\n", "a,1\r\nb,2\\.\nc,3\n",
		"a,1\nb,2\\.", "a,1\nb,2\\", "a,1\nb,2\\.\n", "\x83\\.,1\n\x83\\\\.\nc,3\n")
	{
		my $name = $data =~ s/\r/CR /gr =~ s/\n/NL /gr =~ s/[^ -~]/?/gr;
		my $copy = 'COPY t FROM STDIN (DELIMITER \',\'' . ($data =~ /\x83/ ? ', ENCODING \'sjis\')' : ')');
		my $cores = copied($copy, $data, 100, 'fast_copy.accelerate_copy = off');

		foreach my $cut (1, 2, 3, 100)
		{
			foreach my $least (0, 64)
			{
				is(copied($copy, $data, $cut, 'fast_copy.accelerate_copy = on', 'fast_copy.workers = 2', "fast_copy.accelerate_min_size = $least", "fast_copy.chunk_size = '3B'"),
					$cores, "$name, in pieces of $cut, by " . ($least ? 'core' : 'a load'));
			}
		}
	}
	said('RESET fast_copy.accelerate_min_size');
};

subtest 'a program that prints on after "\."' => sub {
	my $path = write_bytes('data.csv', "a,1\n" x 1000 . "\\.\n");
	my $trigger = 'CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$; CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()';

	said("SET statement_timeout = '20s'");
	foreach my $by ('', $trigger)
	{
		said($by);
		foreach my $after ('yes', 'exit 3', 'yes; exit 3')
		{
			foreach my $format ("text, DELIMITER ','", $node->pg_version < 18 ? 'csv' : ())
			{
				my $copy = "COPY t FROM PROGRAM 'cat $path; $after' (FORMAT $format)";
				my $cores = copied($copy, '', 1, 'fast_copy.accelerate_copy = off');

				is(copied($copy, '', 1, 'fast_copy.accelerate_copy = on', "fast_copy.workers = $_", "fast_copy.chunk_size = '1kB'"),
					$cores, "$after, $_ workers, $format" . ($by ? ', by core' : '')) foreach -1, 2;
			}
		}
	}
	said('DROP TRIGGER g ON t');
};

subtest 'the bytes of a bad character at the end of a line' => sub {
	agrees('the next line begins with it', "a,1\nb\xe9\n22,c\n");
	agrees('in the last field', "1,a\nb\xe9\n22,3\n", '', '(v)');
	agrees('NL', "a\nb\xe9\n22\n", '', '(v)');
	agrees('CR NL', "a\r\nb\xe9\r\n22\r\n", '', '(v)');
	agrees('in quotes', "a\n\"b\xe9\"\n22\n", '', '(v)');
	agrees('the file ends behind it', "a\nb\xe9\n2", '', '(v)');
	agrees('the file ends', "a\nb\xe9", '', '(v)');
	agrees('the next line is bad, too', "a\nb\xe9\n\xe9\n", '', '(v)');
	agrees('only the next line is bad', "a\nb,x\n\xe9\xe9\n");
	agrees('of another encoding', "a\nb\xe9\n22\n", ", ENCODING 'euc_jp'", '(v)');
};

# The numbers of a sequence are taken for many rows at once.
subtest 'the first error, where a sequence has too few numbers for all rows' => sub {
	my $rows = join('', map { "r,$_\n" } 1 .. 40);

	said("ALTER TABLE t ADD id serial CHECK (id <> 0), ADD CONSTRAINT odd CHECK (n <> 19)");
	foreach my $most (18, 19, 25, 100)
	{
		said("ALTER SEQUENCE t_id_seq MAXVALUE $most RESTART");
		foreach my $workers (0, 2)
		{
			my @said = map {
				copied("COPY t (v, n) FROM PROGRAM 'cat " . write_bytes('data.csv', $rows) . "' (FORMAT csv)", '', 1,
					"fast_copy.accelerate_copy = $_", "fast_copy.workers = $workers", "fast_copy.chunk_size = '50B'") .
				  said('ALTER SEQUENCE t_id_seq RESTART')
			} qw(off on);

			is($said[1], $said[0], "$most numbers, $workers workers");
			like($said[1], $most < 19 ? qr/2200H.*line 19\b|2200H/ : qr/C23514/, 'the error');
		}
	}
	said('ALTER TABLE t DROP id, DROP CONSTRAINT odd');
};

subtest 'what a function says of a row is said once, also before an error' => sub {
	my $path = write_bytes('data.csv', join('', map { "r,$_,$_\n" } 1 .. 30));
	my $seen = sub { return join(' ', $_[0] =~ /Msee (\d+)/g) };

	said(q{CREATE FUNCTION see(n int) RETURNS bool IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS
		$$BEGIN RAISE NOTICE 'see %', n; IF n = 25 THEN RAISE 'no' USING ERRCODE = '22000'; END IF; RETURN n <> 20; END$$});
	# a value that is converted, or computed, before the check says so once, too
	said('CREATE DOMAIN seen AS int CHECK (see(VALUE + 1000)); ALTER TABLE t ADD s seen');
	foreach my $check ('see(n)', 'see(n) OR n = 20')
	{
		said("ALTER TABLE t ADD CONSTRAINT seen CHECK ($check)");
		my ($off, $on) = map { copied("COPY t FROM '$path' (FORMAT csv)", '', 1, "fast_copy.accelerate_copy = $_", 'fast_copy.workers = 0',
				"fast_copy.chunk_size = '50B'") } qw(off on);

		is($seen->($on), $seen->($off), "once: $check");
		like($on, $check =~ /OR/ ? qr/C22000 .*line 25/s : qr/C23514 .*line 20/s, 'the error');
		said('ALTER TABLE t DROP CONSTRAINT seen');
	}
	said('ALTER TABLE t DROP s');
};

# Core names the line to which it has read when it inserts
subtest 'the line of a row that is too big' => sub {
	my $big = sub { return "r,1\n" x $_[0] . 'a' x 9000 . ",2\n" . "r,1\n" x $_[1] };

	said('ALTER TABLE t ALTER v SET STORAGE PLAIN');
	foreach my $index ('', 'CREATE INDEX i ON t (n)')
	{
		said($index);
		foreach my $data ($big->(50, 3000), $big->(2500, 1), $big->(10, 5), $big->(1999, 0), ("b" x 3000 . ",1\n") x 30 . $big->(1, 50))
		{
			my $path = write_bytes('data.csv', $data);
			my $off = copied("COPY t FROM '$path' (FORMAT csv)", '', 1, 'fast_copy.accelerate_copy = off');

			is(copied("COPY t FROM '$path' (FORMAT csv)", '', 1, 'fast_copy.accelerate_copy = on', "fast_copy.workers = $_",
					"fast_copy.chunk_size = '5kB'"), $off, "$_ workers") foreach 0, 2;
			unlike(copied("COPY t FROM PROGRAM 'cat $path' (FORMAT csv)", '', 1), qr/parallel worker/, 'a worker is not named');
		}
	}
	said('DROP INDEX i; ALTER TABLE t ALTER v SET STORAGE EXTENDED');
};

done_testing();
