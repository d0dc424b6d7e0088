# The tables of docs/options.md beside what the server says: each argument of
# fast_copy and fast_copy_analyze, each setting, and each column of what a load
# gives, with type and default.  A row is told as "kind|name|type|default", an
# enum's value as "value|setting|value".

use strict;
use warnings;

sub tables
{
	my ($text) = @_;
	my ($rc, $out) = psql(server_rows());
	my %documented = map { $_ => 1 } documented($text);
	my %server = map { $_ => 1 } grep { /\|/ } split /\n/, $out;

	report('options.md: the server tells its options', $rc == 0 && keys %server > 100, $out);
	foreach my $kind ('argument', 'setting', 'value', 'column')
	{
		my @missing = grep { /^$kind/ && !$documented{$_} } sort keys %server;
		my @unknown = grep { /^$kind/ && !$server{$_} } sort keys %documented;

		report("options.md: each $kind, as the server has it", !@missing && !@unknown,
			join "\n", (map { "missing: $_" } @missing), (map { "unknown: $_" } @unknown));
	}
}

# The rows of the document's tables.  Those of columns stand below a heading
# that names what has them; the values of an enum are those named in its row.
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
		my (undef, $name, $type, $value, $meaning) = split /(?<!\\) *\| */;
		s/^`(.*)`$/$1/ foreach $name, $value;
		push @rows, "$kind|$name|$type|$value" if $kind =~ /^(argument|setting)$/;
		push @rows, "column of $about|$name|$type" if $kind eq 'column';
		push @rows, map { "value|$name|$_" } $meaning =~ /`(\w+)`(?=[,:;])/g if $type eq 'enum';
	}
	return @rows;
}

sub server_rows
{
	return <<'SQL';
SET client_min_messages = error;
LOAD 'fast_copy';
SELECT fast_copy_create_reject_table('fast_copy_rejects');
WITH arguments AS (
	SELECT proname, name, mode, format_type(type, NULL) AS type,
		coalesce(regexp_replace(pg_get_function_arg_default(p.oid, n::int), '::.*', ''), '') AS value
	FROM pg_proc AS p, unnest(proargnames, coalesce(proallargtypes, proargtypes::oid[]), proargmodes)
		WITH ORDINALITY AS a (name, type, mode, n)
	WHERE proname IN ('fast_copy', 'fast_copy_analyze', 'fast_copy_report'))
SELECT concat_ws('|', 'argument', name, string_agg(DISTINCT type, ' or '), string_agg(DISTINCT value, ' or '))
FROM arguments WHERE coalesce(mode, 'i') = 'i' GROUP BY name
UNION ALL
SELECT DISTINCT concat_ws('|', 'column of ' || proname, name, type) FROM arguments WHERE mode = 'o'
UNION ALL
SELECT concat_ws('|', 'column of ' || replace(relname, 'rejects', 'create_reject_table'), attname, format_type(atttypid, NULL))
FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
WHERE attnum > 0 AND relname IN ('fast_copy_progress', 'fast_copy_rejects')
UNION ALL
SELECT concat_ws('|', 'setting', name, vartype, coalesce(nullif(set_config(name, boot_val, false), ''), ''''''))
FROM pg_settings WHERE name LIKE 'fast\_copy.%'
UNION ALL
SELECT concat_ws('|', 'value', name, unnest(enumvals)) FROM pg_settings WHERE name LIKE 'fast\_copy.%';
SQL
}

1;
