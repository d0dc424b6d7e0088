# Files as others write them, where one option meets another: rows are drawn, and
# written in a form that is drawn, into files that are drawn.  What must come of them
# is known when they are written, and COPY loads that from a plain file; the tables are
# compared both ways.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Encode;
use FastCopy qw(:DEFAULT query failure);
use File::Path qw(make_path);
use IO::Compress::Gzip ();
use IO::Compress::Zip ();
use JSON::PP;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{FC_SEED} // 61;
my $rounds = $ENV{FC_CASES} // 60;
srand($seed =~ /\D/ ? hex($seed) : $seed);
note("FC_SEED=$seed");

my $node = new_node('main', {}, "session_preload_libraries = 'fast_copy'");
my $dir = FastCopy::directory();
my $json = JSON::PP->new->canonical->ascii;

# What a table has of each row: its values, and where it came from
query(<<'SQL');
CREATE TABLE want (id int, at timestamp, v varchar(6), n numeric, src text, line bigint, place bigint, day date);
CREATE TABLE heap (LIKE want);
CREATE TABLE keyed (LIKE want, PRIMARY KEY (id));
CREATE TABLE parts (LIKE want) PARTITION BY RANGE (at);
CREATE INDEX ON parts (n);
CREATE TABLE merged (LIKE want, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
CREATE TABLE days (LIKE want) PARTITION BY RANGE (day);
CREATE TABLE listed (LIKE want) PARTITION BY LIST (n);
CREATE TABLE listed_low PARTITION OF listed FOR VALUES IN (1, 2, 3, NULL);
CREATE TABLE listed_rest PARTITION OF listed DEFAULT;
CREATE TABLE fires (LIKE want);
CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER same BEFORE INSERT ON fires FOR EACH ROW EXECUTE FUNCTION same();
CREATE TABLE made (LIKE want, pair text GENERATED ALWAYS AS (id || ':' || coalesce(v, '-')) STORED, CHECK (id > 0));
CREATE TABLE upserted (LIKE want, UNIQUE (id));
CREATE TABLE levels (LIKE want) PARTITION BY LIST (v);
CREATE TABLE levels_rest PARTITION OF levels DEFAULT PARTITION BY RANGE (at);
SELECT fast_copy_create_reject_table('rejected');
SQL

sub one { return $_[ rand @_ ] }

# A form in which files are written.  Some choices exclude each other.
sub form
{
	my %f = (format => one(qw(csv csv csv raw text bare json)), eol => one("\n", "\n", "\r\n"), header => one('', 'skip', 'map', 'map'),
		encoding => one(qw(UTF-8 UTF-8 UTF-8 LATIN1 UTF-16)), packed => one('', '', '', 'gzip', 'zip', 'program', 'client'), comment => rand() < 0.3, footer => rand() < 0.3,
		extra => rand() < 0.3, bad => rand() < 0.4, mended => rand() < 0.4, origin => rand() < 0.6, hive => rand() < 0.4, most => rand() < 0.2, nulls => one('', 'NA'));

	$f{delimiter} = one($f{format} eq 'text' || $f{format} eq 'bare' ? "\t" : ',', '|', '|~|', '||', "\x01\x02", $f{encoding} eq 'LATIN1' ? ';;' : "\x{a6}");
	$f{header} = '', $f{delimiter} = "\t" if $f{format} eq 'json';
	$f{footer} = 0 if $f{packed} eq 'client' && $f{format} eq 'text';
	# a footer or a comment of the client's is one of the server's
	$f{hive} = 0 if $f{packed} =~ /program|client/;
	$f{origin} = 0 if $f{packed} eq 'client';
	return \%f;
}

# A value, as a field of the form; undef is NULL
sub field
{
	my ($f, $value) = @_;

	return $f->{nulls} ne '' ? $f->{nulls} : $f->{format} =~ /text|bare/ ? '\N' : '' unless defined $value;
	return $f->{format} eq 'text' ? $value =~ s/\\/\\\\/gr =~ s/\n/\\n/gr =~ s/\r/\\r/gr : $value unless $f->{format} eq 'csv';
	return $value =~ /["\n\r#]|\Q$f->{delimiter}\E|^$|^\s|\s$/ || rand() < 0.2 ? '"' . $value =~ s/"/""/gr . '"' : $value;
}

# A text that the form can have, of so many characters at most
sub text
{
	my ($f, $most) = @_;
	my @characters = ('a' .. 'f', ' ', '0', "\x{e4}", $f->{format} =~ /csv|json/ ? ('"', ',', $f->{eol} eq "\n" ? "\n" : 'x', '\\') : $f->{format} =~ /raw|bare/ ? ('"', '\\', "'") : ('\\', "\n", '"'),
		$f->{encoding} eq 'LATIN1' ? () : "\x{1f600}");
	my $text;

	do { $text = join('', map { one(@characters) } 1 .. 1 + rand $most) } while $text =~ /\Q$f->{delimiter}\E/ || $text =~ /^[\s#]|^NA$|\s$/ || $text =~ /^\\/ && $f->{format} =~ /text|bare/;
	return $text;
}

# One record with these values; names has the columns in the order of the file
sub record
{
	my ($f, $names, $values) = @_;

	if ($f->{format} eq 'json')
	{
		my @pairs = map { [ $_, $values->{$_} ] } grep { defined $values->{$_} || rand() < 0.5 } @$names;
		@pairs = sort { rand() <=> 0.5 } @pairs if rand() < 0.2;
		push @pairs, [ 'other', { list => [ 1, 'x' ] } ] if $f->{extra};
		my $json = rand() < 0.5 ? $json : JSON::PP->new;
		my $body = join(', ', map { $json->encode([ $_->[0] ]) =~ s/^\[|\]$//gr . ':' . ($_->[0] =~ /^(id|n)$/ && defined $_->[1] && $_->[1] =~ /^\d+$/ ? $_->[1] : $json->encode([ $_->[1] ]) =~ s/^\[|\]$//gr) } @pairs);
		return "{$body}" . one('', '', ' ');
	}
	my @fields = map { $_ eq 'spare' ? field($f, 'more') : field($f, $values->{$_}) } @$names;
	push @fields, '' if $f->{extra} && $f->{header} ne 'map';
	return join($f->{delimiter}, @fields);
}

# Writes file number $i of a call: its path, and adds the rows that it has to @$rows
sub file
{
	my ($f, $i, $id, $rows) = @_;
	my @names = qw(id at v n);
	my $day = $f->{hive} ? sprintf('2024-03-%02d', 1 + rand 5) : undef;
	my $path = $f->{hive} ? "day=$day/" : '';
	my ($text, $line, $row) = ('', 0, 0);
	my $add = sub {
		my $body = $_[0] . $f->{eol};
		# as COPY counts: in the first record those in quotes do not, as it does not know yet what ends lines
		my $ends = () = $body =~ /\n/g;
		$ends = 1 if $text eq '';
		$text .= $body;
		$line += $ends;
	};
	# among records a comment has a number, too
	my $comment = sub { $row++, $add->('# ' . one('a comment', 'x,y', '1|2')) if $f->{comment} && rand() < $_[0] };

	if ($f->{header} eq 'map')
	{
		@names = sort { rand() <=> 0.5 } @names, $f->{extra} ? 'spare' : ();
		# n may lack
		@names = grep { $_ ne 'n' } @names if rand() < 0.3;
	}
	$comment->(0.5);
	$row = 0, $add->(join($f->{delimiter}, @names)) if $f->{header};
	foreach (1 .. rand(rand() < 0.2 ? 800 : 30))
	{
		my %v = (id => $$id++, at => sprintf('2024-%02d-%02d 1%d:00:00', 1 + rand 3, 1 + rand 28, rand 10), v => rand() < 0.1 ? undef : text($f, $f->{mended} ? 12 : 6), n => rand() < 0.1 ? undef : int(rand 1000));
		my $bad = $f->{bad} && rand() < 0.1;

		$v{id} = 'x' if $bad;
		$comment->(0.05);
		my $place = length(encode('UTF-8', $text));
		$place = length(encode('LATIN1', $text)) if $f->{encoding} eq 'LATIN1';
		$add->(record($f, \@names, \%v));
		$row++;
		$v{v} = substr($v{v}, 0, 6) if $f->{mended} && defined $v{v};
		$v{n} = undef unless grep { $_ eq 'n' } @names;
		push @$rows, { %v, bad => $bad, src => undef, line => $line, place => $place, day => $day, file => $i, row => $row };
	}
	$comment->(0.2);
	$add->("TOTAL " . $row) if $f->{footer};
	my $bytes = encode($f->{encoding} eq 'UTF-16' ? 'UTF-16LE' : $f->{encoding}, $f->{encoding} eq 'UTF-16' ? "\x{feff}$text" : $text);
	my $packed = $bytes;
	IO::Compress::Gzip::gzip(\$bytes => \$packed) if $f->{packed} eq 'gzip';
	IO::Compress::Zip::zip(\$bytes => \$packed, Name => 'part.csv') if $f->{packed} eq 'zip';
	make_path("$dir/$path") if $path;
	my $full = write_bytes("${path}file.$i", $packed);
	$_->{src} = $f->{packed} eq 'program' ? "cat $full" : $full foreach grep { $_->{file} == $i } @$rows;
	return $full;
}

# The options of the call, as JSON has them
sub options
{
	my ($f) = @_;
	my %o = (format => $f->{format} =~ /csv|raw/ ? 'csv' : $f->{format} eq 'bare' ? 'text' : $f->{format}, workers => one(0, 1, 2, 4), log_verbosity => 'silent');
	my @sets;

	$o{quote} = 'none' if $f->{format} eq 'raw';
	$o{escape} = 'none' if $f->{format} eq 'bare';
	$o{delimiter} = $f->{delimiter} unless $f->{format} eq 'json';
	$o{header} = $f->{header} eq 'map' ? 'map' : JSON::PP::true if $f->{header};
	# the header names them
	$o{columns} = [qw(id at v n)] unless $f->{header} eq 'map';
	$o{encoding} = $f->{encoding} =~ s/-//gr if $f->{encoding} ne 'UTF-8';
	$o{comment} = '#' if $f->{comment};
	$o{skip_footer} = one('^TOTAL', '1') if $f->{footer};
	$o{ignore_extra_columns} = JSON::PP::true if $f->{extra};
	$o{null_strings} = 'NA' if $f->{nulls} && $f->{format} ne 'json';
	if ($f->{bad} || $f->{mended})
	{
		$o{on_error} = 'ignore';
		$o{on_error_classes} = [ 'conversion', $f->{mended} ? 'cut_long' : () ];
		$o{reject_table} = 'rejected';
		$o{reject_limit} = one('100%', '1000000') if rand() < 0.5;
	}
	push @sets, 'src = $file', 'line = $line', 'place = $byte_offset' if $f->{origin};
	push @sets, 'day = $path.day' if $f->{hive};
	$o{transform} = join(', ', @sets) if @sets;
	return \%o;
}

sub csv { return join(',', map { defined $_ ? '"' . s/"/""/gr . '"' : '' } @_) . "\n" }

sub literal { return "'" . encode('UTF-8', $_[0]) =~ s/'/''/gr . "'" }

my $columns = 'id, at, v, n, src, line, place, day';

subtest 'drawn' => sub {
	foreach my $round (1 .. $rounds)
	{
		my $f = form();
		my $id = 1;
		my @rows;
		my $nfiles = $f->{packed} eq 'client' ? 1 : one(1, 1, 2, 4);
		my @files = map { file($f, $_, \$id, \@rows) } 1 .. $nfiles;
		my $options = options($f);
		my @targets = (qw(heap keyed parts merged fires made upserted listed levels), $f->{hive} ? 'days' : ());
		my $target = one(@targets);
		my $chunk = one(64, 1000, 65536);
		my $spill = one(qw(auto rows offsets));

		if ($f->{most})
		{
			$options->{max_records} = 1 + int(rand(@rows * 1.2));
			splice(@rows, $options->{max_records}) if $options->{max_records} < @rows;
		}
		if ($f->{origin} && rand() < 0.4)
		{
			$options->{where_clause} = '$row % 3 > 0';
			@rows = grep { $_->{bad} || $_->{row} % 3 > 0 } @rows;
		}
		if ($target eq 'merged')
		{
			$options->{existing_rows} = 'merge';
			$options->{dedup_keys} = [ 'id', 'at' ];
		}
		if ($target eq 'upserted')
		{
			$options->{on_conflict} = one('update', 'nothing');
			$options->{dedup_keys} = ['id'];
		}
		# the rows of a second load are the same ones
		my $twice = $target =~ /merged|upserted/ && rand() < 0.5;
		my @good = grep { !$_->{bad} } @rows;
		my $bad = @rows - @good;
		# what is made UTF-8 first has no places
		my $plain = write_bytes('plain', encode('UTF-8', join('', map { csv(@$_{qw(id at v n)}, $f->{origin} ? (@$_{qw(src line)}, $f->{encoding} eq 'UTF-16' ? undef : $_->{place}) : (undef) x 3, $_->{day}) } @good)));
		my $load;
		if ($f->{packed} eq 'client')
		{
			my %copy = %$options;
			my $columns = delete $copy{columns};
			my $with = join(', ', 'fast_copy', map {
				my ($name, $value) = ($_, $copy{$_});
				$name . ' ' . (ref $value eq 'ARRAY' ? '(' . join(', ', map { literal($_) } @$value) . ')' : ref $value ? 'true' : $name =~ /^(workers|max_records)$/ ? $value : literal($value))
			} sort keys %copy);
			$load = '\copy ' . $target . ($columns ? ' (' . join(', ', @$columns) . ')' : '') . " from '$files[0]' with ($with)";
		}
		else
		{
			$options->{program} = JSON::PP::true if $f->{packed} eq 'program';
			my $sources = join(', ', map { literal($f->{packed} eq 'program' ? "cat $_" : $_) } @files);
			$load = "SELECT FROM fast_copy('$target', ARRAY[$sources], options => " . literal($json->encode($options)) . ');';
			my $accepted = @good;
			# what an analysis says before is what the load does
			$load = "SELECT 'accepted ' || rows FROM fast_copy_analyze('$target', ARRAY[$sources], options => " . literal($json->encode($options)) . ") WHERE item = 'rows' AND name = 'accepted' AND rows <> $accepted;\n$load" if rand() < 0.3;
			$load .= "\nDELETE FROM rejected; $load" if $twice;
		}
		my $said = eval { query("SET client_min_messages = warning; TRUNCATE want, $target, rejected;
COPY want FROM '$plain' (FORMAT csv);
SET fast_copy.chunk_size = '${chunk}B'; SET fast_copy.spill = '$spill';
$load
SELECT '-' || x::text FROM (TABLE want EXCEPT ALL SELECT $columns FROM $target) AS x LIMIT 3;
SELECT '+' || x::text FROM (SELECT $columns FROM $target EXCEPT ALL TABLE want) AS x LIMIT 3;
SELECT count(*) || ' rejected' FROM rejected HAVING count(*) <> $bad;") } // $@ =~ s/while running.*//sr;

		is($said, '', "seed $seed, round $round: $target, $nfiles $f->{packed} files, chunks of $chunk, spill $spill: " . $json->encode($options) . ' ' . $json->encode($f)) or last;
	}
};

$node->stop;
done_testing();
