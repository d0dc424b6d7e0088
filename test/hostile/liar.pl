# Servers that lie: any answer at any step of a load into a foreign table.  A load
# ends at once, or when its time is over, the session's process does not grow and
# goes on, and rows are on both sides or on none.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t", $FindBin::Bin;
use FastCopy;
use Liar;
use Test::More;

# Seconds that a load may take; of those that only their time ends, statement_timeout
my ($SECONDS, $SHORT) = (10, 1);
# kB that all loads of a session may add to the most that it has had
my $GROWTH = 16 * 1024;

my $main = new_node('main', { extra => [ '--encoding=UTF8' ] }, 'shared_buffers = 4MB', 'max_connections = 60', 'session_preload_libraries = fast_copy');
needs($main, 'postgres_fdw');
my $there = new_node('there', {}, 'max_prepared_transactions = 200', 'max_connections = 200');
my $small = write_bytes('small.csv', join('', map { $_ % 2 . ",$_\n" } 1 .. 10));
my $large = write_bytes('large.csv', join('', map { $_ % 2 . ',' . 'x' x 100 . "\n" } 1 .. 60_000));

# --- What a server says ---

my $welcome = Liar::message('R', pack('N', 0));
my $error = Liar::report('E', S => 'ERROR', V => 'ERROR', C => '22000', M => 'a lie');
my $notice = Liar::report('N', S => 'NOTICE', V => 'NOTICE', C => '00000', M => 'a lie');
my $columns = Liar::columns('a', 'b', 'c', 'd');
my $row = Liar::row('1', '1', 't', 'r');
my ($copy_in, $copy_out, $copy_both) = map { Liar::message($_, "\0\0\0") } 'G', 'H', 'W';
my %behaviours = (
	'silence' => [],
	'a closed connection' => [ 'close' ],
	'a FATAL error' => [ Liar::report('E', S => 'FATAL', V => 'FATAL', C => '57P01', M => 'a lie'), 'close' ],
	'COPY IN' => [ $copy_in ],
	'COPY OUT' => [ $copy_out ],
	'COPY OUT with data' => [ $copy_out, 'for ever', Liar::message('d', 'x' x 100) ],
	'COPY BOTH' => [ $copy_both ],
	'an error and COPY IN' => [ "$error$copy_in" ],
	'an error and COPY OUT' => [ "$error$copy_out" ],
	'an empty query' => [ Liar::message('I', '') . Liar::ready() ],
	'nothing but the end' => [ Liar::ready() ],
	'rows' => [ $columns, 'for ever', $row ],
	'rows without columns' => [ 'for ever', $row ],
	'results' => [ 'for ever', $columns . $row . Liar::tag('SELECT 1') ],
	'tags' => [ 'for ever', Liar::tag('SELECT 1') ],
	'errors' => [ 'for ever', $error ],
	'notices' => [ 'for ever', $notice ],
	'notices, slowly' => [ 'slowly', $notice ],
	'notifications' => [ 'for ever', Liar::message('A', pack('N', 1) . 'channel' . "\0" . 'x' x 100 . "\0") ],
	'parameters' => [ join('', map { Liar::message('S', "p$_\0v\0") } 1 .. 10_000), 'for ever', Liar::message('S', "a\0b\0") ],
	'unknown messages' => [ 'for ever', Liar::message('?', 'x') ],
	'a huge row' => [ $columns . 'D' . pack('N', 1 << 30), 'for ever', 'x' x 1000 ],
	'a huge error' => [ 'E' . pack('N', 1 << 30) . 'M', 'for ever', 'x' x 1000 ],
	'a huge notice' => [ 'N' . pack('N', 1 << 30) . 'M', 'for ever', 'x' x 1000 ],
	'the promise of a huge row' => [ $columns . 'D' . pack('N', 1 << 30) . 'x' ],
	'large rows' => [ $columns, 'for ever', Liar::row('x' x 3_000_000, '', '', '') ],
	'no rows' => [ $columns . Liar::tag('SELECT 0') . Liar::ready() ],
	'one column' => [ Liar::columns('a') . Liar::row('1') . Liar::tag('SELECT 1') . Liar::ready() ],
	'nine columns' => [ Liar::columns(1 .. 9) . Liar::row(1 .. 9) . Liar::tag('SELECT 1') . Liar::ready() ],
	'no columns' => [ Liar::columns() . Liar::row() . Liar::tag('SELECT 1') . Liar::ready() ],
	'a row of NULL' => [ map { join('', Liar::columns(1 .. $_), Liar::row((undef) x $_), Liar::tag('SELECT 1'), Liar::ready()) } 4 ],
	'thanks' => [ Liar::tag('THANKS') . Liar::ready() ],
	'too many rows' => [ Liar::tag('COPY 99999999999999999999') . Liar::ready() ],
	'fewer than no rows' => [ Liar::tag('COPY -5') . Liar::ready() ],
	'bad bytes' => [ Liar::report('E', S => 'ERROR', V => 'ERROR', C => '22000', M => "\xff\xfe", D => "\xc3", H => "\xe2\x82", W => "\xf0COPY r, line 1: \xff") . Liar::ready() ],
	'a short SQLSTATE' => [ Liar::report('E', S => 'ERROR', V => 'ERROR', C => '4', M => 'a lie') . Liar::ready() ],
	'an odd SQLSTATE' => [ Liar::report('E', S => 'ERROR', V => 'ERROR', C => "\x01\xff\x80 z", M => 'a lie') . Liar::ready() ],
	'another language' => [ Liar::report('E', S => 'ERROR', V => 'ERROR', C => '22000', M => "\xd0\x9d\xd0\xb5\xd1\x82", D => "\xe2\x86\x92") . Liar::ready() ],
	'another tag' => [ Liar::tag('INSERT 0 5') . Liar::ready() ],
	'a cancelled command' => [ Liar::report('E', S => 'ERROR', V => 'ERROR', C => '57014', M => 'a lie') . Liar::ready() ],
	'an error without fields' => [ Liar::message('E', "\0") . Liar::ready() ],
	'passwords' => [ 'for ever', Liar::message('R', pack('N', 5) . 'salt') ]);

$behaviours{"welcome, and $_"} = [ $welcome, @{ $behaviours{$_} } ] foreach keys %behaviours;

my @broken = ('a closed connection', 'a FATAL error');
my @states = ('COPY IN', 'COPY OUT', 'COPY OUT with data', 'COPY BOTH', 'an error and COPY IN', 'an error and COPY OUT', 'an empty query', 'nothing but the end');
my @endless = ('rows', 'rows without columns', 'results', 'tags', 'errors', 'notices', 'notifications', 'parameters', 'unknown messages', 'a huge row', 'a huge error', 'a huge notice', 'the promise of a huge row', 'large rows');
my @shapes = ('no rows', 'one column', 'nine columns', 'no columns', 'thanks');
my @errors = ('bad bytes', 'another language', 'a short SQLSTATE', 'an odd SQLSTATE', 'a cancelled command', 'an error without fields');
my @timed = ('silence', 'notices, slowly');
my @few = ('a closed connection', 'COPY OUT', 'COPY BOTH', 'an error and COPY IN', 'notices', 'a huge row', 'silence');

# --- When it says so ---

sub query { my ($is) = @_; return sub { $_[0] eq 'Q' && $_[1] =~ $is } }

my %steps = (
	'connection' => [ [ 1, sub { $_[0] eq '' }, 0 ] ],
	'settings' => [ [ 1, query(qr/^SET search_path/), 0 ] ],
	'abilities' => [ [ 1, query(qr/system_identifier/), 0 ] ],
	'extension' => [ [ 1, query(qr/pg_extension/), 0 ] ],
	'what is left' => [ [ 2, query(qr/pg_prepared_xacts/), 0 ] ],
	'transaction' => [ [ 1, query(qr/^START/), 0 ] ],
	'columns' => [ [ 1, query(qr/format_type/), 0 ] ],
	'COPY' => [ [ 1, query(qr/^COPY/), 0 ] ],
	'data' => [ [ 1, sub { $_[0] eq 'd' }, 0 ] ],
	'end of data' => [ [ 1, sub { $_[0] eq 'c' }, 0 ] ],
	'prepare' => [ [ 1, query(qr/^PREPARE/), 0 ] ],
	'prepared' => [ [ 1, query(qr/^PREPARE/), 1 ] ],
	'commit' => [ [ 1, query(qr/^COMMIT PREPARED/), 0 ] ],
	'committed' => [ [ 1, query(qr/^COMMIT PREPARED/), 1 ] ],
	'cancel' => [ [ 1, sub { $_[0] eq 'c' }, 0, 'silence' ], [ 2, query(qr/pg_cancel_backend/), 0 ] ]);
my %table = (
	'connection' => [ @broken, 'silence', map { "welcome, and $_" } @broken, @timed, @states, @endless, 'passwords' ],
	'settings' => [ @broken, @timed, @states, @endless, @errors ],
	'abilities' => [ @few, @shapes, 'a row of NULL' ],
	'extension' => [ @few, @shapes ],
	'what is left' => [ @broken, 'silence', @states, @endless, @shapes ],
	'transaction' => [ @few, 'a cancelled command' ],
	'columns' => [ @few, @shapes, 'rows', 'notices, slowly' ],
	'COPY' => [ @broken, @timed, (grep { $_ ne 'COPY IN' } @states), @endless, @errors, @shapes ],
	'data' => [ @broken, @timed, @states, @endless, @errors ],
	'end of data' => [ @broken, @timed, @states, @endless, @errors, @shapes, 'too many rows', 'fewer than no rows', 'another tag' ],
	'prepare' => [ @broken, @timed, @states, @endless, @errors, @shapes ],
	'prepared' => [ @few ],
	'commit' => [ @broken, @timed, @states, @endless, @errors ],
	'committed' => [ @few, @errors ],
	'cancel' => [ @few, 'rows', 'a FATAL error' ]);

# --- Loads ---

my $path = PostgreSQL::Test::Utils::tempdir_short();
my $server = Liar::serve("$path/.s.PGSQL.5432", $there->host . '/.s.PGSQL.' . $there->port, \%steps, \%behaviours);
my @cases = ({ name => 'honest' });

foreach my $step (sort keys %table)
{
	push(@cases, map { { step => $step, behaviour => $_, name => "$step, $_" } } @{ $table{$step} });
}
$cases[$_]{number} = $_ foreach 0 .. $#cases;
$there->safe_psql('postgres', join('', map { "CREATE TABLE r$_->{number} (k int, v text);" } @cases));
$main->safe_psql('postgres', "CREATE EXTENSION postgres_fdw; CREATE EXTENSION fast_copy_cluster;" . join('', map { "
	CREATE SERVER s$_->{number} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$path', port '5432', dbname 'postgres', sslmode 'disable', application_name '$_->{name}');
	CREATE USER MAPPING FOR PUBLIC SERVER s$_->{number} OPTIONS (user 'postgres', password 'x', password_required 'false');
	CREATE TABLE t$_->{number} (k int, v text) PARTITION BY LIST (k);
	CREATE TABLE l$_->{number} PARTITION OF t$_->{number} FOR VALUES IN (0);
	CREATE FOREIGN TABLE f$_->{number} PARTITION OF t$_->{number} FOR VALUES IN (1) SERVER s$_->{number} OPTIONS (table_name 'r$_->{number}');" } @cases));

my $cancels = IPC::Run::start([ 'psql', '-X', '-q', '-d', $main->connstr('postgres'), '-f', write_bytes('cancels.sql',
	"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'cancel me' AND wait_event_type = 'Extension' AND clock_timestamp() - query_start > interval '${SHORT}s' \\watch 0.5\n") ],
	'<', '/dev/null', '>', '/dev/null');
my %sessions = map { $_ => session($_) } keys %table;
foreach my $step (sort keys %sessions)
{
	subtest $step => sub { judge($step, $sessions{$step}) };
}
subtest 'rows' => \&rows;
$cancels->kill_kill;
kill 'KILL', $server;
waitpid($server, 0);
$_->stop('immediate') foreach $main, $there;
done_testing();

sub is_timed { my ($case) = @_; return $case->{step} eq 'cancel' || grep { $case->{behaviour} =~ /\Q$_\E$/ } @timed }

sub load
{
	my ($case) = @_;
	my $file = ($case->{step} // '') eq 'data' ? $large : $small;

	return "SELECT fast_copy('t$case->{number}', '$file', log_verbosity => 'silent', encoding => 'UTF8', options => '{\"remote_commit\": \"two_phase\"}');\n";
}

# Runs all loads of a step in a session of its own
sub session
{
	my ($step) = @_;
	my $status = "pg_read_file('/proc/self/status')";
	my $sql = load($cases[0]) . "SET client_encoding = 'LATIN1';\n";

	foreach my $case (grep { ($_->{step} // '') eq $step } @cases)
	{
		# statement_timeout ends before the transaction is committed
		my $cancel = is_timed($case) && $step =~ /^prepare/;
		my $seconds = is_timed($case) && !$cancel ? $SHORT : 2 * $SECONDS;

		$sql .= load($case) if $step eq 'what is left';
		$sql .= "SELECT clock_timestamp() AS start, substring($status FROM 'VmHWM:\\s+(\\d+)') AS memory \\gset\n" .
			($cancel ? "SET application_name = 'cancel me';\n" : '') . "SET statement_timeout = '${seconds}s';\n\\echo begin $case->{number}\n" . load($case) .
			"RESET application_name; RESET statement_timeout;\nSELECT 'end $case->{number}', extract(epoch FROM clock_timestamp() - :'start')::numeric(9, 1), substring($status FROM 'VmHWM:\\s+(\\d+)')::int - :memory;\n";
	}
	# interrupts are held no longer than core holds them
	$sql .= "SET statement_timeout = '200ms';\nSELECT pg_sleep(5);\n";
	my %session = (said => write_bytes("$step.out", ''));
	$session{run} = IPC::Run::start([ 'psql', '-X', '-q', '-A', '-t', '-v', 'VERBOSITY=verbose', '-d', $main->connstr('postgres'), '-f', write_bytes("$step.sql", $sql) ],
		'<', '/dev/null', '>', $session{said}, '2>&1', IPC::Run::timeout(300));
	return \%session;
}

sub judge
{
	my ($step, $session) = @_;
	my $grown = 0;

	eval { $session->{run}->finish; 1 } or diag("$step: $@");
	my $all = PostgreSQL::Test::Utils::slurp_file($session->{said});
	like($all, qr/ERROR:  57014: [^\n]*statement timeout\nLOCATION: [^\n]*\n\z/, 'the session can be cancelled after all that');
	foreach my $case (grep { ($_->{step} // '') eq $step } @cases)
	{
		my ($said, $seconds, $memory) = $all =~ /^begin $case->{number}\n(.*?)^end $case->{number}\|(.*)\|(.*)$/ms;
		my $name = $case->{behaviour};

		if (!defined $said)
		{
			fail("$name: it ends") or diag(substr($all, -1000));
			next;
		}
		cmp_ok($seconds, '<', ($step =~ /^commit/ ? 2 : 1) * $SECONDS, "$name: it ends") or diag($said);
		cmp_ok($grown += $memory, '<', $GROWTH, "$name: it does not grow");
		unlike($said, qr/invalid byte sequence/, "$name: no bad byte") or diag($said);
		like($said, qr/(ERROR|WARNING):  08006: /, "$name: no such state") or diag($said) if $name =~ /SQLSTATE/;
		like($said, qr/The server has answered something else\./, "$name: it is not believed") or diag($said)
			if $step =~ /^(abilities|columns|end of data)$/ && $name =~ /^(nine|no) columns|thanks|another tag/;
		if ($step =~ /^commit/)
		{
			like($said, qr/WARNING:  08006: could not commit the prepared transaction .*\n.*^10$/ms, "$name: a warning") or diag($said);
		}
		elsif (is_timed($case))
		{
			like($said, qr/ERROR:  57014: canceling statement due to (statement timeout|user request)/, "$name: its time is over") or diag($said);
		}
		else
		{
			like($said, qr/ERROR:  \w{5}: /, "$name: an error") or diag($said);
			unlike($said, qr/statement timeout|ERROR:  0A000/, 'by itself') or diag($said);
		}
	}
}

# Once the servers are honest, and what is left has been brought to its end
sub rows
{
	$main->safe_psql('postgres', join('', map { "ALTER SERVER s$_->{number} OPTIONS (SET application_name 'honest');\n" } @cases));
	foreach my $oid (split /\n/, $there->safe_psql('postgres', "SELECT DISTINCT split_part(gid, '_', 6) FROM pg_prepared_xacts"))
	{
		$main->safe_psql('postgres', "SELECT * FROM fast_copy_resolve((SELECT srvname FROM pg_foreign_server WHERE oid = $oid))");
	}
	is($there->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts'), 0, 'nothing is left there');
	my $count = sub { my ($node, $prefix) = @_; return split /\|/, $node->safe_psql('postgres', 'SELECT ' . join(', ', map { "(SELECT count(*) FROM $prefix$_->{number})" } @cases)) };
	my @here = $count->($main, 'l');
	my @gone = $count->($there, 'r');

	is($here[$_], $gone[$_], "$cases[$_]{name}: on both sides or on none") foreach 0 .. $#cases;
}
