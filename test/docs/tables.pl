# The tables in docs/reference.md of the columns that functions return, beside
# what the server says: each with its type, as "column of FUNCTION|name|type".

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

	report('reference.md: the server tells its columns', $rc == 0 && keys %server > 25, $out);
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
		$about = /^## Columns of `(\w+)\(\)`/ ? $1 : '' if /^#/;
		$kind = $1 if /^\| (\w+) \|/;
		next unless $about ne '' && /^\| `/;
		my (undef, $name, $type) = split /(?<!\\) *\| */;
		$name =~ s/^`(.*)`$/$1/;
		push @rows, "column of $about|$name|$type" if $kind eq 'column';
	}
	return @rows;
}

# ... but of functions that are parts of others, which nobody calls
sub server_rows
{
	return <<'SQL';
SELECT concat_ws('|', 'column of ' || proname, name, format_type(type, NULL))
FROM pg_proc, unnest(proargnames, proallargtypes, proargmodes) AS a (name, type, mode)
WHERE proname ~ '^fast_copy_' AND mode = 'o'
	AND coalesce(obj_description(pg_proc.oid, 'pg_proc'), '') !~ '^part of the (function|view) ' GROUP BY proname, name, type;
SQL
}

1;
