# Servers of other versions, which test/run has started (test/nodes.sh), as nodes
# of the TAP tests: all that needs no process or directory of theirs works.

package There;

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @ISA = ('PostgreSQL::Test::Cluster');

# All there are, by version.  Their names are "of15" and so on.
sub all
{
	my @nodes;

	foreach (sort split /\n/, slurp_file($ENV{FC_NODES} // die "FC_NODES: which file has the servers' lines?\n"))
	{
		my ($version, $port, $password) = split;
		my $file = PostgreSQL::Test::Utils::tempdir() . '/password';
		my $self = bless { _host => '127.0.0.1', _port => $port, _name => "of$version", major => $version, password => $password, file => $file };

		append_to_file($file, "*:*:*:*:$password\n");
		chmod 0600, $file;
		$self->{_pgversion} = PostgreSQL::Version->new($self->safe_psql('postgres', 'SHOW server_version') =~ s/ .*//r);
		push @nodes, $self;
	}
	return @nodes;
}

sub major { my ($self) = @_; return $self->{major} }
sub password { my ($self) = @_; return $self->{password} }
sub connstr { my ($self, $database) = @_; return $self->SUPER::connstr($database) . ' user=postgres' }

# Only psql knows the password: servers that are started here must not
sub psql
{
	my $self = shift;

	local $ENV{PGPASSFILE} = $self->{file};
	return $self->SUPER::psql(@_);
}

# The server's definition on the coordinator, with a mapping for everybody
sub server
{
	my ($self, $database) = @_;
	my ($name, $port, $password) = ($self->name, $self->port, $self->password);

	return "CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '$port', dbname '$database');
		CREATE USER MAPPING FOR PUBLIC SERVER $name OPTIONS (user 'postgres', password '$password');";
}

1;
