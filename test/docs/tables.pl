# The tables of columns in docs/reference.md beside what the server says: each
# column of what a load gives, with its type, as "column of WHAT|name|type".

use strict;
use warnings;

sub tables
{
	my ($text) = @_;
	my ($rc, $out) = psql(server_rows());
	my %documented = map { $_ => 1 } documented($text);
	my %server = map { $_ => 1 } grep { /\|/ } split /\n/, $out;

	my @missing = grep { !$documented{$_} } sort keys %server;
	my @unknown = grep { !$server{$_} } sort keys %documented;

	report('reference.md: the server tells its columns', $rc == 0 && keys %server > 50, $out);
	report('reference.md: each column, as the server has it', !@missing && !@unknown,
		join "\n", (map { "missing: $_" } @missing), (map { "unknown: $_" } @unknown));
}

# The rows of the document's tables, below a heading that names what has them
sub documented
{
	my ($text) = @_;
	my ($about, $kind) = ('', '');
	my @rows;

	foreach (split /\n/, $text)
	{
		$about = $1 if /^#+ .*`(\w+)(\(\))?`/;
		$kind = $1 if /^\| (\w+) \|/;
		next unless /^\| `/;
		my (undef, $name, $type) = split /(?<!\\) *\| */;
		$name =~ s/^`(.*)`$/$1/;
		push @rows, "column of $about|$name|$type" if $kind eq 'column';
	}
	return @rows;
}

sub server_rows
{
	return <<'SQL';
SET client_min_messages = error;
SELECT fast_copy_create_reject_table('fast_copy_rejects');
SELECT concat_ws('|', 'column of ' || proname, name, format_type(type, NULL))
FROM pg_proc, unnest(proargnames, proallargtypes, proargmodes) AS a (name, type, mode)
WHERE proname ~ '^fast_copy_' AND mode = 'o' GROUP BY proname, name, type
UNION ALL
SELECT concat_ws('|', 'column of ' || replace(relname, 'rejects', 'create_reject_table'), attname, format_type(atttypid, NULL))
FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
WHERE attnum > 0 AND relname IN ('fast_copy_progress', 'fast_copy_rejects');
SQL
}

1;
