# The files of queries that a document names: each query runs as the role that
# watches; what postgres_exporter is told of are the columns of its query; the
# dashboard is JSON, and its queries have what Grafana draws.

use strict;
use warnings;
use JSON::PP;

# queries(WHERE, TOP, ROLE, FILE...)
sub queries
{
	my ($where, $top, $role, @files) = @_;

	foreach my $file (@files)
	{
		my $text = slurp("$top/docs/$file");
		my @queries = $file =~ /json$/ ? drawn($text) : exported($text);

		report("$where: $file has queries", @queries > 0);
		foreach (@queries)
		{
			my ($sql, @columns) = @$_;
			my ($rc, $out) = command("SET ROLE $role;\n$sql;\n", 'psql -X -q -A -v ON_ERROR_STOP=1 -f -');
			my ($names) = $out =~ /^(.*)$/m;

			report("$where: $file: $sql", $rc == 0 && $names eq join('|', @columns), $out);
			report("$where: $file: $sql: has rows", $out !~ /^\(0 rows\)$/m, $out) if $sql =~ /history/;
		}
	}
}

sub exported
{
	my ($text) = @_;
	my @queries;

	while ($text =~ /^  query: "(.*)"\n  metrics:\n((?:    - .*\n)+)/mg)
	{
		my ($sql, $metrics) = ($1, $2);
		push @queries, [ $sql, $metrics =~ /^    - (\w+): \{usage: (?:LABEL|GAUGE|COUNTER), description: [^,{}]+\}$/mg ];
	}
	return @queries;
}

sub drawn
{
	my ($text) = @_;
	my $dashboard = eval { decode_json($text) };
	my @queries;

	return unless $dashboard;
	foreach my $panel (@{ $dashboard->{panels} })
	{
		foreach (@{ $panel->{targets} })
		{
			my $sql = $_->{rawSql} =~ s/\$__timeFilter\((\w+)\)/$1 BETWEEN now() - interval '1 day' AND now()/gr;
			my @columns = $_->{format} eq 'time_series' ? qw(time metric value) : qw(table_name pid phase percent rows_per_second time_left);
			push @queries, [ $sql, @columns ];
		}
	}
	return @queries;
}

1;
