# What an extension of ours is in a database, for test/package and test/release.pl: its
# versions with scripts, updates from one to the other, and all that belongs to it, as
# text that can be compared.
#
# The caller has sql(), which runs statements in a database that may be filled, and
# try_sql(), which returns what psql says of statements that may fail.

use strict;
use warnings;
use File::Basename;

# Versions with a script of their own, oldest first, and those updated to.
sub scripts
{
	my ($where, $extension) = @_;
	my (@full, %step);

	foreach my $file (map { basename($_, '.sql') } glob("$where/$extension--*.sql"))
	{
		my (undef, $from, $to) = split(/--/, $file);

		if (defined $to) { $step{$to} = 1 }
		else { push @full, $from }
	}
	return ([ sort { order($a) cmp order($b) } @full ], sort keys %step);
}

sub order { return join('.', map { sprintf '%06d', $_ } split(/\D+/, $_[0])) }

# What a version makes from nothing
sub state_of
{
	my ($extension, $version) = @_;

	sql('DROP EXTENSION IF EXISTS fast_copy CASCADE', "CREATE EXTENSION $extension VERSION '$version' CASCADE");
	return state_now($extension);
}

# What is there after an update, and what the server said.
sub updated
{
	my ($extension, $from, $to) = @_;
	my $notice = try_sql("DROP EXTENSION IF EXISTS fast_copy CASCADE; CREATE EXTENSION $extension VERSION '$from' CASCADE; ALTER EXTENSION $extension UPDATE TO '$to'");

	return (state_now($extension), $notice);
}

# All that belongs to the extension, each with its text, rights and comment.
sub state_now
{
	my ($extension) = @_;
	my $state = sql(<<"SQL");
SELECT string_agg(line, E'\\n' ORDER BY line) FROM (
	SELECT concat_ws(' | ', pg_describe_object(d.classid, d.objid, 0), p.proacl, p.proowner::regrole,
		CASE WHEN p.prokind IN ('f', 'p') THEN pg_get_functiondef(p.oid) END,
		c.relacl, c.relkind, CASE WHEN c.relkind = 'v' THEN pg_get_viewdef(c.oid) END,
		CASE WHEN c.oid IS NOT NULL THEN (SELECT string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid),
				col_description(c.oid, attnum)), ', ' ORDER BY attnum)
			FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) END,
		(SELECT string_agg(conname || ' ' || pg_get_constraintdef(oid), ', ' ORDER BY conname) FROM pg_constraint WHERE conrelid = c.oid),
		(SELECT string_agg(pg_get_indexdef(indexrelid), ', ' ORDER BY indexrelid::regclass::text) FROM pg_index WHERE indrelid = c.oid),
		c.oid = ANY (e.extconfig), obj_description(d.objid, (SELECT relname FROM pg_class WHERE oid = d.classid))) AS line
	FROM pg_extension AS e JOIN pg_depend AS d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
		LEFT JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
		LEFT JOIN pg_class AS c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
	WHERE e.extname = '$extension'
	UNION ALL SELECT 'version ' || extversion FROM pg_extension WHERE extname = '$extension') AS s
SQL

	die "the extension $extension has no function\n" unless $state =~ /^function fast_copy\w*\(/m;
	return $state;
}

1;
