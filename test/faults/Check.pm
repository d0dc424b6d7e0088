# What must be true of a server after any fault: the load's rows are there or
# not, nothing else has changed, every structure is sound, nothing is left.

package Check;

use strict;
use warnings;
use Exporter 'import';
use File::Find ();
use Machine;
use Load;

our @EXPORT = qw(wrong_after wrong_with_rows wrong_with_structures wrong_with_leftovers wrong_with_next_load orphans);

my $TABLES = "SELECT c.oid, c.relname FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'faults'::regnamespace";

# All of it, as a list of complaints.
sub wrong_after
{
	my ($server, $load, $said, %how) = @_;

	return (wrong_with_rows($server, $load, $said, $how{crashed}), wrong_with_structures($server),
		wrong_with_leftovers($server, $how{files_may_stay}), wrong_with_next_load($server, $load),
		map { "in the server's log: $_" } $server->errors_in_log($how{may_panic}));
}

sub wrong_with_rows
{
	my ($server, $load, $said, $crashed) = @_;
	my @may = $load->may_be($said, $crashed, $server);
	my $is = join(' ', @{ Load::sum_of($server, 'faults.t') });
	my $other = join(' ', @{ Load::sum_of($server, 'faults.other') });
	my @wrong;

	push @wrong, "t holds $is, not " . join(' or ', @may) unless grep { $_ eq $is } @may;
	push @wrong, "another table holds $other, not @{ $load->{other} }" if $other ne "@{ $load->{other} }";
	my $rejects = $server->sql('SELECT count(*) FROM faults.rejects');
	my $loaded = $is eq join(' ', @{ $load->after }) && $load->{tolerant};
	push @wrong, "$rejects rejects" if !$load->{unlogged} && $rejects != ($loaded ? $load->{bad_file}{bad} : 0);
	push @wrong, wrong_with_ledger($server, $load, $is) unless $load->{unlogged};
	push @wrong, $load->wrong_places($server, $said) if $load->{move};
	return @wrong;
}

sub wrong_with_ledger
{
	my ($server, $load, $is) = @_;
	my $lines = $server->sql("SELECT count(*) || ' ' || count(*) FILTER (WHERE state = 'loaded' AND rows = (SELECT count(*) FROM faults.t WHERE v LIKE 'some text%')) FROM faults.ledger");
	my $known = $load->{ledger} && $is eq join(' ', @{ $load->after }) ? '1 1' : '0 0';

	return $lines ne $known ? "the ledger has $lines lines, not $known" : () if !$load->{cut} || $known eq '1 1';
	my ($state, $rows, $bytes) = split(/\|/, $server->sql("SELECT coalesce(max(state), 'none'), coalesce(max(rows), 0), coalesce(max(done_bytes), 0) FROM faults.ledger"));
	my $end = $load->bytes($rows);
	return $state eq 'loaded' || $bytes != $end ? "the ledger has $rows rows and $bytes bytes of a file that is $state, not $end" : ();
}

sub wrong_with_structures
{
	my ($server) = @_;
	my $found = eval { $server->sql("SET search_path = faults, public;
		WITH heaps AS MATERIALIZED ($TABLES),
		all_heaps AS (SELECT * FROM heaps UNION ALL SELECT t.oid, h.relname || ' toast' FROM heaps h
			JOIN pg_class c ON c.oid = h.oid JOIN pg_class t ON t.oid = c.reltoastrelid)
		SELECT relname || ': ' || msg FROM all_heaps, LATERAL verify_heapam(all_heaps.oid, check_toast => true) v
		UNION ALL SELECT misplaced()
		UNION ALL SELECT relname || ': not all visible: ' || v FROM heaps, LATERAL pg_check_visible(heaps.oid) v
		UNION ALL SELECT relname || ': not all frozen: ' || v FROM heaps, LATERAL pg_check_frozen(heaps.oid) v
		LIMIT 5") } // $@;

	$found .= eval { $server->sql("SELECT count(bt_index_check(i.indexrelid, true)::text) FROM pg_index i
		JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
		WHERE a.amname = 'btree' AND c.relkind = 'i' AND i.indisvalid AND (c.relnamespace = 'faults'::regnamespace
			OR i.indrelid IN (SELECT reltoastrelid FROM pg_class WHERE relnamespace = 'faults'::regnamespace))") =~ /^\d+$/ ? '' : 'no count' } // $@;
	return $found eq '' ? () : split(/\n/, $found);
}

# Sessions, locks of them, temporary files, transactions in two phases.  Files
# may stay where the fault keeps core from removing them.
sub wrong_with_leftovers
{
	my ($server, $may_stay) = @_;
	my @wrong;

	wait_for(20, sub { $server->sql("SELECT count(*) FROM pg_stat_activity WHERE backend_type IN ('client backend', 'parallel worker')") == 1 })
	  or push @wrong, 'processes are left';
	push @wrong, 'prepared transactions are left' if $server->sql('SELECT count(*) FROM pg_prepared_xacts');
	my @files;
	my $dir = "$server->{data}/base/pgsql_tmp";
	File::Find::find(sub { push @files, $File::Find::name if -f $_ }, $dir) if -d $dir;
	push @wrong, map { "temporary file $_" } @files unless $may_stay || $server->could_not_remove;
	# the next round has its own
	unlink(@files);
	return @wrong;
}

# The same load once more, alone
sub wrong_with_next_load
{
	my ($server, $load) = @_;
	my $script = "SET lock_timeout = '10s';\nTRUNCATE faults.t, faults.rejects, faults.ledger;\n" . $load->again;
	my ($status, $text) = finish_command($server->start_script($script), 120);
	my $is = join(' ', @{ Load::sum_of($server, 'faults.t') });

	return "the next load ends with $text" if $status != 0;
	return $is eq "@{ $load->{of_file} }" ? () : "the next load brings $is, not @{ $load->{of_file} }";
}

# Files of no table; a crash leaves those of transactions it ended.
sub orphans
{
	my ($server) = @_;

	return $server->sql("CHECKPOINT; SELECT count(*) FROM pg_database d, LATERAL pg_ls_dir('base/' || d.oid) f
		WHERE d.datname = current_database() AND f ~ '^[0-9]+\$' AND pg_filenode_relation(0, f::oid) IS NULL");
}

1;
