# A throw-away cluster of the server in PATH.

package Server;

use strict;
use warnings;
use File::Path;

my @running;

# Makes and starts one in a new directory, whose socket is in it.  Each further
# argument is a line of postgresql.conf.
sub start
{
	my ($class, $dir, @conf) = @_;
	my $self = bless { dir => $dir }, $class;

	File::Path::remove_tree($dir);
	mkdir $_ or die "$_: $!\n" foreach $dir, "$dir/socket";
	command("initdb -D '$dir/data' -U postgres -A trust -E UTF8 --no-locale --no-sync");
	open(my $out, '>>', "$dir/data/postgresql.conf") or die "$dir: $!\n";
	print $out "$_\n" foreach "listen_addresses = ''", "unix_socket_directories = '$dir/socket'",
	  'fsync = off', 'max_prepared_transactions = 2', 'max_worker_processes = 32',
	  'max_parallel_workers = 32', 'max_locks_per_transaction = 256', @conf;
	close($out);
	push @running, $self;
	# before it starts: postgres_fdw's tests connect by the server's own variables
	$self->use;
	command("pg_ctl -D '$dir/data' -l '$dir/log' -w -s start");
	return $self;
}

# Makes it the one that clients find.
sub use
{
	my ($self) = @_;

	delete $ENV{$_} foreach qw(PGSERVICE PGPASSWORD PGOPTIONS PGDATA PGHOSTADDR PGDATABASE);
	%ENV = (%ENV, PGHOST => "$self->{dir}/socket", PGPORT => 5432, PGUSER => 'postgres');
}

sub stop
{
	my ($self) = @_;

	@running = grep { $_ != $self } @running;
	system("pg_ctl -D '$self->{dir}/data' -m immediate -s stop >/dev/null 2>&1");
	File::Path::remove_tree($self->{dir});
	$running[-1]->use if @running;
}

sub stop_all
{
	$_->stop foreach @running;
}

# How many loads of fast_copy the log has
sub loads
{
	return scalar grep { /LOG:  fast_copy / } lines(@_);
}

# Why COPY was left to core, and how often
sub reasons
{
	my %reasons;

	$reasons{$_}++ foreach map { /DEBUG:  COPY is not accelerated: (.*)/ } lines(@_);
	return %reasons;
}

sub lines
{
	my ($self) = @_;

	open(my $in, '<', "$self->{dir}/log") or die "$self->{dir}/log: $!\n";
	return <$in>;
}

# Runs a shell command; dies with what it said if it fails.
sub command
{
	my ($command) = @_;
	my $out = `{ $command; } 2>&1`;

	die "$command: $out" if $?;
	return $out;
}

1;
