# Nodes that speak other languages: the line of the file is found in what they
# say, or they say it in English where the role there may have that.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use FastCopy;
use Test::More;

# Messages here, and how words are put: the line after the table and COPY, in
# front of it, or in a way that is not known
my %LANGUAGES = (de => 'de_DE.UTF-8', ja => 'ja_JP.UTF-8', ko => 'ko_KR.UTF-8');
my $locales = PostgreSQL::Test::Utils::tempdir();
my $main = new_node('main', {});
my $version = $main->pg_version->major;
my ($share) = map { chomp; $_ } `pg_config --localedir`;
my @there = grep { -f "$share/$_/LC_MESSAGES/postgres-$version.mo" && system("localedef -i @{[ $LANGUAGES{$_} =~ s/\..*//r ]} -f UTF-8 $locales/$LANGUAGES{$_} >/dev/null 2>&1") == 0 } sort keys %LANGUAGES;

if (!@there || $main->safe_psql('postgres', "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'") eq '0')
{
	$main->stop;
	plan skip_all => 'neither locales nor postgres_fdw are installed';
}
my $node = do { local $ENV{LOCPATH} = $locales; new_node('there', {}) };
my $file = write_bytes('rows.csv', "1,x\n2,\"x\ny\"\n-3,x\n4,x\n-5,x\n");
my $other = write_bytes('other.csv', "1,x\n2,nothing\n");

$node->safe_psql('postgres', "CREATE TABLE r (n int CHECK (n > 0), v text);
	CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN RAISE EXCEPTION 'nothing'; END \$\$;
	CREATE TRIGGER f AFTER INSERT ON r FOR EACH ROW WHEN (NEW.v = 'nothing') EXECUTE FUNCTION f()");
$main->safe_psql('postgres', 'CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster');
foreach my $language (@there)
{
	foreach my $kind ('plain', 'granted', 'super')
	{
		my $name = "${language}_$kind";

		$node->safe_psql('postgres', "CREATE ROLE $name LOGIN" . ($kind eq 'super' ? ' SUPERUSER' : '') . "; GRANT ALL ON r TO $name; ALTER ROLE $name SET lc_messages = '$LANGUAGES{$language}'" .
			($kind eq 'granted' && $version >= 15 ? "; GRANT SET ON PARAMETER lc_messages TO $name" : ''));
		$main->safe_psql('postgres', server_sql($name, $node, $name) . "
			CREATE FOREIGN TABLE t_$name (n int, v text) SERVER $name OPTIONS (schema_name 'public', table_name 'r')");
	}
}
foreach my $language (@there)
{
	subtest $language => sub { speaks($language) };
}
$_->stop foreach $main, $node;
done_testing();

sub error
{
	my ($name, $path) = @_;
	my ($rc, $out, $err) = $main->psql('postgres', "SELECT fast_copy('t_$name', '$path')");

	return $err;
}

sub speaks
{
	my ($language) = @_;
	my $english = qr/ERROR:  new row for relation "r" violates check constraint "r_n_check"/;
	# in Korean the translation of 15 has other words
	my $known = $language ne 'ko' || $version > 16;

	foreach my $kind ('plain', 'granted', 'super')
	{
		my $name = "${language}_$kind";
		my $err = error($name, $file);

		if ($kind eq 'plain')
		{
			like($err, qr/ERROR:  .*r_n_check/, "$kind: the words of the node");
			unlike($err, $english, "$kind: in its language");
		}
		else
		{
			like($err, $english, "$kind: in English");
		}
		like($err, qr/foreign table "t_$name" on server "$name"/, "$kind: which server");
		if ($kind ne 'plain' || $known)
		{
			like($err, qr/fast_copy t_$name, file "[^"]*rows.csv", line 4: "-3,x"/, "$kind: the line of the file");
			unlike($err, qr/lc_messages/, "$kind: no hint");
		}
		else
		{
			unlike($err, qr/file "[^"]*rows.csv", line/, "$kind: no line of the file");
			like($err, qr/HINT:  The line of the file is not known\. It would be if lc_messages were C for the role there\./, "$kind: a hint");
		}
		like(error($name, $other), qr/ERROR:  nothing\n(HINT: .*\n)?CONTEXT: .*f\(\).*\n/, "$kind: an error of a trigger");
	}
}
