# The suites of test/run and test/quick, and what runs them side by side.
#
# Of some suites a part can be chosen: FC_UNIT (bin/record ...), FC_REGRESS (names),
# FC_FIXTURES and FC_DOCS (names), FC_MUTANTS (numbers), FC_DEBIAN (versions), FC_PGTAP_FILES, FC_TAP_FILES and
# FC_HOSTILE_FILES (paths); of tap, hostile and differential with FC_PART=I/N every Nth
# file, from number I on; with FC_ASSERTED=1 all of tap but what a run of 15+assert has.
#
# Sourced by bash after lib.sh; fc_suites wants a tree that is built and
# installed.  It runs FC_JOBS suites at a time (default: as many as there are
# processors), where they do not disturb each other, each in a process group of its
# own and on a cluster of its own.  Of these suites half as many files more run at a
# time, because tests wait for each other about a third of their time: test/tap takes
# a slot for each, a locked file in FC_SLOTS.  What a suite says is
# printed when it has ended, so that the lines of two are never mixed; its counts are
# added to PASSED and FAILED.

SUITES="style unit libfuzzer regress pgtap convert differential fuzz external accelerate docs tap hostile clients versions valgrind mutants cost faults bench package debian"
# Who starts first when all are to run: the one that waits most, so that there is always
# one that works beside it, then those of one long file
FC_ORDER='style tap package clients bench accelerate docs libfuzzer unit'
# Crash, sources, WAL, concurrent loads, and what the log and the views tell
FC_QUICK_TAP='test/t/002_crash.pl test/t/004_source.pl test/t/005_wal.pl test/t/008_concurrency.pl test/t/013_observe.pl'

# Replacing, and users' code between a load's steps: what most others get in a load's way
FC_ASSERT_TAP='test/t/043_replace.pl test/t/048_between_steps.pl'
FC_TAP_LEFT=${FC_ASSERTED:+$FC_ASSERT_TAP}

FC_JOBS=${FC_JOBS:-$(nproc)}
# Those that take longest begin, so that none of them is the last to run
FC_LONG_PGTAP='test/pgtap/on_conflict.sql test/pgtap/merge.sql test/pgtap/memory.sql test/pgtap/guess.sql test/pgtap/course.sql'
FC_LONG_TAP='test/t/028_send.pl test/t/029_remote_commit.pl test/t/023_pieces.pl test/t/043_replace.pl test/t/048_between_steps.pl test/t/036_nodes.pl
  test/t/011_pages.pl test/t/014_streams.pl test/t/012_append.pl test/t/035_send_keys.pl'
FC_NOTHING=                 # suites of which all was skipped
FC_LOGS=                    # where suites leave their logs
PASSED=0
FAILED=0
TOLD=0                      # when we last said how far it is, in seconds

declare -A RUNNING=()       # process: suite
declare -A STARTED=()       # suite: seconds

# What a suite needs for itself while it runs: "server", the cluster that test/quick
# keeps, because its workers and roles are there only once; "alone", the machine,
# because it fills disks.
fc_suite_wants()
{
  case $1 in
    regress|pgtap|differential) [ ! -d "$FC_TMP/data" ] || echo server ;;
    faults) echo alone ;;
  esac
}

# The Debian packages of a suite, installed before the first one runs: apt
# works for one at a time, and what is installed later is not in our copy of
# PostgreSQL's installation.
fc_suite_packages()
{
  case $1 in
    unit) echo libcsv-dev ;;
    libfuzzer) echo clang libclang-rt-dev ;;
    pgtap) echo "libtap-parser-sourcehandler-pgtap-perl postgresql-$FC_MAJOR-pgtap postgresql-$FC_MAJOR-partman" ;;
    external) echo bzip2 xz-utils dpkg-dev unzip python3-pip ;;
    accelerate) echo bzip2 xz-utils dpkg-dev libipc-run-perl ;;
    differential|fuzz) echo $(fc_libraries 6) zip ;;
    docs) echo $(fc_libraries 6) zip curl python3-pip python3-psycopg ;;
    tap) echo "$(fc_libraries 6) tabix pbzip2 zip locales libipc-run-perl postgresql-$FC_MAJOR-partman" ;;
    hostile) echo "libipc-run-perl pgbouncer python3-psycopg python3-pg8000 postgresql-$FC_MAJOR-partman postgresql-$FC_MAJOR-pgaudit postgresql-$FC_MAJOR-cron" ;;
    versions) echo libipc-run-perl ;;
    clients)
      echo libipc-run-perl python3-psycopg python3-pg8000 python3-asyncpg python3-psycopg2 python3-pandas python3-sqlalchemy pgcopydb libpostgresql-jdbc-java librust-tokio-postgres-dev
      command -v javac >/dev/null || echo default-jdk-headless
      command -v cargo >/dev/null || echo cargo
      ;;
    valgrind) echo valgrind ;;
    faults) echo $(fc_libraries 6) zip strace e2fsprogs ;;
    package) echo git unzip binutils build-essential dpkg-dev debhelper lintian pgxnclient rpm mkdocs weasyprint poppler-utils postgresql-server-dev-all ;;
  esac
}

# fc_suites SUITE...: runs them, in this order where they can
fc_suites()
{
  local waiting=("$@") i
  TOLD=$SECONDS
  FC_LOGS=$FC_TMP/log
  export FC_SLOTS=$FC_TMP/slots
  FC_INITDB_KEPT=$FC_TMP/initdb
  mkdir -p "$FC_INITDB_KEPT" && { [ -z "$FC_USER" ] || chown "$FC_USER" "$FC_INITDB_KEPT"; }
  mkdir -p "$FC_SLOTS" && for ((i = 1; i <= FC_JOBS * 3 / 2; i++)); do : >"$FC_SLOTS/$i"; done
  while [ $((${#waiting[@]} + ${#RUNNING[@]})) -gt 0 ]; do
    for i in "${!waiting[@]}"; do
      fc_suite_fits "${waiting[i]}" || continue
      fc_suite_start "${waiting[i]}"
      unset "waiting[i]"
    done
    fc_suite_wait
  done
}

# May the suite start beside those that run?
fc_suite_fits()
{
  local wants other
  wants=$(fc_suite_wants "$1")
  [ ${#RUNNING[@]} -lt "$FC_JOBS" ] || return 1
  [[ "$wants" != alone* ]] || [ ${#RUNNING[@]} = 0 ] || return 1
  for other in "${RUNNING[@]}"; do
    other=$(fc_suite_wants "$other")
    [[ "$other" != alone* && ( -z "$wants" || "$wants" != "$other" ) ]] || return 1
  done
}

# The group is ours to end, with all that the suite has started.
fc_suite_start()
{
  local suite=$1
  echo "$suite ..."
  STARTED[$suite]=$SECONDS
  set -m
  { cd "$FC_TREE" && "suite_$suite"; } >"$FC_TMP/log/$suite.count" 2>"$FC_TMP/log/$suite.err" </dev/null &
  set +m
  RUNNING[$!]=$suite
  fc_group $!
}

# Waits for a suite to end.  It asks for the jobs that run again and again:
# "wait -n" misses one that ended before it, and "kill -0" may meet another
# process that has the number by now.
fc_suite_wait()
{
  local pid running
  while true; do
    fc_suite_tell
    running=" $(jobs -rp | tr '\n' ' ')"
    for pid in "${!RUNNING[@]}"; do
      [[ "$running" == *" $pid "* ]] || { fc_suite_count "$pid"; return; }
    done
    sleep 0.1
  done
}

# Says every ten seconds how far those are that run
fc_suite_tell()
{
  local suite
  [ $((SECONDS - TOLD)) -ge 10 ] || return 0
  TOLD=$SECONDS
  for suite in "${RUNNING[@]}"; do
    echo "$suite: $((SECONDS - STARTED[$suite])) s, $(cat "$FC_TMP/log/$suite.now" 2>/dev/null || echo "at work")"
  done
}

# Shows what a suite said, and adds up the three counts that it has printed.
fc_suite_count()
{
  local suite=${RUNNING[$1]} passed=0 failed=0 skipped=0
  unset "RUNNING[$1]"
  rm -f "$FC_TMP/groups/$1"
  cat "$FC_TMP/log/$suite.err" >&2
  read -r passed failed skipped <"$FC_TMP/log/$suite.count"
  if [ "$((${passed:-0} + ${failed:-0} + ${skipped:-0}))" = 0 ]; then
    echo "$suite: did not run"
    passed=0 failed=1
  fi
  [ ! -f "$FC_TMP/log/$suite.tap" ] || perl "$FC_TOP/test/counted.pl" "$FC_TMP/log/$suite.tap"
  echo "$suite: $passed passed, $failed failed, ${skipped:-0} skipped, $((SECONDS - STARTED[$suite])) s"
  [ "$((passed + failed))" != 0 ] || FC_NOTHING+=" $suite"
  PASSED=$((PASSED + passed))
  FAILED=$((FAILED + failed))
}

# The ten files, or commands, that took longest
fc_slowest()
{
  echo "slowest:"
  sort -rn "$FC_TMP"/log/*.times 2>/dev/null | head -n 10 | while read -r seconds name; do
    printf '%8.1f s  %s\n' "$seconds" "$name"
  done
}

# tap NAME COMMAND... -- FILE...: a suite that speaks TAP
tap()
{
  local name=$1
  shift
  fc_as perl test/tap "$FC_LOGS/$name.tap" "$@"
}

# first LIST FILE...: the files, of which those that the list names come first
first()
{
  local list file
  list=" $(echo $1) "
  shift
  for file in $list; do printf '%s\n' "$@" | grep -xF "$file"; done
  for file in "$@"; do [[ "$list" == *" $file "* ]] || echo "$file"; done
}

# The lines that FC_PART=I/N chooses
part()
{
  awk -v part="${FC_PART:-0/1}" 'BEGIN { split(part, of, "/") } (NR - 1) % of[2] == of[1] % of[2]'
}

# slot COMMAND...: runs it while it has one of the slots that test/tap takes
slot()
{
  local path rc
  while true; do
    for path in "$FC_SLOTS"/*; do
      exec {FC_SLOT}<"$path" || return
      if flock -n "$FC_SLOT"; then
        "$@" {FC_SLOT}<&-
        rc=$?
        exec {FC_SLOT}<&-
        return $rc
      fi
      exec {FC_SLOT}<&-
    done
    sleep 0.1
  done
}

# A cluster, unless there is one
server()
{
  [ ! -d "$FC_TMP/data" ] || return 0
  fc_start 'fsync = off' 'max_worker_processes = 16' 'max_parallel_workers = 12' \
    "max_locks_per_transaction = 512" 'max_wal_size = 512MB' "log_line_prefix = '%m [%p] %b %a '" \
    'log_min_messages = notice' "$@" >&2
}

# own_server NAME SETTING...: a suite's own cluster, below which its files are from
# now on.  test/quick's is for all of its suites.
own_server()
{
  local name=$1
  shift
  if [ ! -d "$FC_TMP/data" ]; then
    FC_TMP=$FC_TMP/$name
    mkdir -p "$FC_TMP/log" || return
    [ -z "$FC_USER" ] || chown -R "$FC_USER" "$FC_TMP"
  fi
  server "$@"
}

# ... that has the library: a worker of it takes a quarter less processor time; the
# clusters of tap and hostile load it when they need it.  The other setting is of
# docs/monitoring.md: installcheck must pass on such a server, too.  qemu has no io_uring,
# of which loads would tell.
warm_server()
{
  own_server "$1" "shared_preload_libraries = 'fast_copy'" "fast_copy.log_min_duration = '1min'" \
    "${FC_PROCESSOR:+fast_copy.io_method = 'sync'}"
}

# Stops a suite's own cluster, whose files may be many
end_server()
{
  [ "$FC_TMP/log" != "$FC_LOGS" ] || return 0
  fc_stop
  [ -n "${FC_KEEP:-}" ] || rm -rf "$FC_TMP/data" "$FC_TMP/files"
}

suite_style()
{
  tap style -- test/style test/scripts
}

suite_unit()
{
  local log=$FC_TMP/log/unit.build all=${FC_UNIT:-all} dir=bin
  # whoever wants assertions wants these, too
  [[ "${FC_VERSION:-}" != *+assert ]] || all=asan-all dir=bin/asan
  if ! slot fc_as make -s -j"$FC_JOBS" -C test/unit PG_CONFIG="$PG_CONFIG" $all >"$log" 2>&1; then
    cat "$log" >&2
    return
  fi
  tap unit -- $(if [ -n "${FC_UNIT:-}" ]; then printf 'test/unit/%s ' $FC_UNIT; else find "test/unit/$dir" -maxdepth 1 -type f -perm -u+x | sort; fi)
}

# The grammar and the conversions under sanitizers
suite_libfuzzer()
{
  PG_CONFIG=$PG_CONFIG tap libfuzzer test/fuzz/run-libfuzzer --
}

# Native conversions against the types' input functions
suite_convert()
{
  warm_server convert || return
  PG_CONFIG=$PG_CONFIG tap convert test/fuzz/run-convert --
  end_server
}

# Random cases against COPY, always the same ones, but for FC_FUZZ_SEED; FC_FUZZ_CASES is
# another number of them
suite_fuzz()
{
  warm_server fuzz || return
  tap fuzz sh -c 'mkdir -m 755 "$0/${1##*/}" && case $1 in */run | */run-accelerate | */run-course) set -- "$1" -j 1 ;; esac && "$@" --seed "${FC_FUZZ_SEED:-1}" --cases "${FC_FUZZ_CASES:-400}" "$0/${1##*/}"' "$FC_TMP/files" -- \
    test/fuzz/run test/fuzz/run-accelerate test/fuzz/run-batch test/fuzz/run-conflict test/fuzz/run-transform test/fuzz/run-course
  end_server
}

# PostgreSQL's own tests of COPY, from the server's source package, files of
# other people's packages, and files that DuckDB reads, too
suite_external()
{
  warm_server external || return
  tap external sh -c "mkdir -m 755 '$FC_TMP/files/'\${0##*/} && \$0 '$FC_TMP/files/'\${0##*/}" -- test/external/run test/external/sniff test/external/duckdb
  end_server
}

# All of PostgreSQL's own tests, and restores, with every COPY accelerated, on
# clusters of their own.  FC_ACCELERATE chooses others than these.
suite_accelerate()
{
  local parts=('--workers 2 schedule restore' '--workers 2 contrib')
  [ -z "${FC_ALL:-}" ] || parts+=('--workers 0 schedule restore' '--workers 0 contrib')
  mkdir "$FC_TMP/accelerate" || return
  [ -z "$FC_USER" ] || chown "$FC_USER" "$FC_TMP/accelerate"
  [ -z "${FC_ACCELERATE:-}" ] || parts=("$FC_ACCELERATE")
  PG_CONFIG=$PG_CONFIG tap accelerate sh -c "exec test/accelerate/run '$FC_TMP/accelerate' \$0" -- "${parts[@]}"
}

# The extension's own files, then those of each test module
suite_regress()
{
  local log=$FC_LOGS/regress.log dir rc=0 passed failed
  local dirs=(. test/modules/*)
  [ -z "${FC_REGRESS:-}" ] || dirs=(.)
  warm_server regress || return
  for dir in "${dirs[@]}"; do
    slot fc_as make -s -C "$dir" PG_CONFIG="$PG_CONFIG" with_llvm=no ${FC_REGRESS:+REGRESS="$FC_REGRESS"} installcheck >>"$log" 2>&1 ||
      { rc=1; cat "$dir/regression.diffs" >&2; }
  done
  passed=$(grep -cE '^(ok [0-9]|(test| ) .*\.\.\. ok)' "$log")
  failed=$(grep -cE '^(not ok [0-9]|(test| ) .*\.\.\. FAILED)' "$log")
  [ $rc = 0 ] || [ "$failed" -gt 0 ] || failed=1
  [ "$failed" = 0 ] || cat "$log" >&2
  # "test name ... ok 12 ms" before 16, "ok 1 - name 12 ms" from then on
  sed -nE -e 's/^(test | +)([a-z_]+) +\.\.\. .* ([0-9]+) ms$/\3 regress: \2/p' \
    -e 's/^(not )?ok [0-9]+ +[-+] ([a-z_]+) +([0-9]+) ms$/\3 regress: \2/p' "$log" |
    awk '{ $1 /= 1000; print }' >"$FC_LOGS/regress.times"
  end_server
  echo "$passed $failed 0"
}

# Each file in a database of its own, a copy of one.  Those that take longest begin.
suite_pgtap()
{
  warm_server pgtap || return
  scripts_of_packages pgtap pg_partman || return
  fc_psql -c 'CREATE DATABASE pgtap' >&2
  fc_psql -d pgtap -c 'CREATE EXTENSION pgtap' -c 'CREATE EXTENSION fast_copy' >&2
  mkdir -p "$FC_TMP/files/pgtap"
  [ -z "$FC_USER" ] || chown "$FC_USER" "$FC_TMP/files/pgtap"
  tap pgtap sh -c 'name=${1##*/} && name=${name%.sql} && mkdir -p -m 755 "$0/$name" &&
      psql -X -q -c "CREATE DATABASE pgtap_$name TEMPLATE pgtap" &&
      PGDATABASE=pgtap_$name psql -X -q -A -t -v ON_ERROR_STOP=1 -v data_dir="$PWD/test/data" -v tmp_dir="$0/$name" \
        -P pager=off -P null=NULL -f "$1"; rc=$?
      psql -X -q -c "DROP DATABASE pgtap_$name" && exit $rc' "$FC_TMP/files/pgtap" -- ${FC_PGTAP_FILES:-$(first "$FC_LONG_PGTAP" test/pgtap/*.sql)}
  end_server
}

# A server that we have built gets extensions that are SQL alone from the packages of the
# distribution's server of its version
scripts_of_packages()
{
  local of=/usr/share/postgresql/$FC_MAJOR/extension to name
  to=$("$FC_BIN/pg_config" --sharedir)/extension
  for name in "$@"; do
    [ -f "$to/$name.control" ] || [ ! -f "$of/$name.control" ] ||
      fc_root cp "$of/$name".control "$of/$name"--*.sql "$to/" || return
  done
}

# Of each fixture all loads; the fixtures are cut into parts of about the same length,
# twice as many as there are jobs.
suite_differential()
{
  local parts=$((2 * FC_JOBS))
  warm_server differential || return
  tap differential sh -c "exec test/differential --part \$0 '$FC_TMP/files' ${FC_FIXTURES:-}" -- $(for ((i = 0; i < parts; i++)); do echo "$i/$parts"; done)
  end_server
}

# Programs and modules that docs/recipes.md needs, from Python's packages.  Where
# they cannot be had, what needs them is skipped.  DuckDB is where the server finds
# it; its extension is installed where it looks for it, below $HOME.
others()
{
  local python=/usr/bin/python3 got=$FC_TMP/python duckdb=1.5.5
  export PYTHONPATH=$got
  timeout 240 $python -m pip install -q --no-compile --only-binary=:all: --target "$got" \
    duckdb-cli==$duckdb duckdb-extension-excel==$duckdb pandas polars >"$FC_TMP/log/pip" 2>&1 &&
    ln -sf "$got/duckdb_cli/duckdb" "$FC_BIN/duckdb" &&
    HOME=$FC_TMP "$FC_BIN/duckdb" -c "INSTALL '$got/duckdb_extension_excel/extensions/v$duckdb/excel.duckdb_extension'" >>"$FC_TMP/log/pip" 2>&1 ||
    rm -rf "$got" "$FC_BIN/duckdb"
  [ -e "$FC_BIN/duckdb" ] ||
    echo "*** docs: DuckDB, pandas, Polars ARE NOT TESTED, they cannot be had here: $(tail -n 1 "$FC_TMP/log/pip")" >&2
}

# The commands in README.md and docs, on a cluster of their own, as it comes:
# what the library tells a session needs one that has not loaded it
suite_docs()
{
  own_server docs || return
  others
  [ -z "$FC_USER" ] || chown -R "$FC_USER" "$FC_TMP"
  tap docs test/docs/run "$FC_TMP/files" --
  end_server
}

# The benchmark's commands, on a small file
suite_bench()
{
  FC_INSTALLED=$FC_STAGE PG_CONFIG=$PG_CONFIG tap bench test/bench --
}

# Archive, installation, Debian's package, updates, on an installation of its own, into
# which it unpacks the package
suite_package()
{
  local dir=$FC_TMP/package
  mkdir "$dir" && cp -a "$FC_STAGE" "$dir/stage" || return
  FC_BIN=$dir/stage${FC_BIN#"$FC_STAGE"} FC_STAGE=$dir/stage
  warm_server package || return
  mkdir "$dir/work" && { [ -z "$FC_USER" ] || chown "$FC_USER" "$dir/work"; } || return
  PG_CONFIG=$PG_CONFIG tap package test/package "$dir/work" "$FC_STAGE" --
  end_server
}

# Debian's packages in fresh systems of the suites that have their versions
suite_debian()
{
  if [ -n "${FC_IN_CHROOT:-}" ]; then
    echo "*** debian: IS NOT TESTED, this is itself one of the systems that it would make" >&2
    echo "0 0 1"
    return
  fi
  mkdir "$FC_TMP/debian" || return
  perl test/tap "$FC_LOGS/debian.tap" test/debian "$FC_TMP/debian" -- ${FC_DEBIAN:-15 17 18 19}
}

suite_tap()
{
  perl_tests tap ${FC_TAP_FILES:-$(first "$FC_LONG_TAP" test/t/*.pl | grep -vxF "${FC_TAP_LEFT// /$'\n'}" | part)}
}

# Other people's code, hooks, clients and catalogs around a load
suite_hostile()
{
  perl_tests hostile ${FC_HOSTILE_FILES:-$(printf '%s\n' test/hostile/*.pl | part)}
}

# psql and drivers.  The drivers' programs are built first, with the compilers
# of the user who runs the tests.
suite_clients()
{
  export FC_CLIENTS=$FC_TMP/clients.made
  test/clients/build "$FC_CLIENTS" >&2 || return
  perl_tests clients test/clients/clients.pl
  sed -n 's/^# ran: /clients: /p' "$FC_TMP/log/clients.tap" >&2
  sed 's/^.*/*** clients: & IS NOT TESTED, it cannot be had here/' "$FC_CLIENTS/missing" >&2
}

# Loads into servers of other versions, test/nodes.sh
suite_versions()
{
  if [ -z "${FC_NODES:-}" ]; then
    echo "*** versions: IS NOT TESTED, there is no server of another version here" >&2
    echo "0 0 1"
    return
  fi
  export FC_NODES
  [ -z "$FC_USER" ] || chown "$FC_USER" "$FC_NODES"
  # they share servers
  FC_AT_MOST=1 perl_tests versions test/versions/*.pl
  sed -n 's/^# with: /versions: /p' "$FC_TMP/log/versions.tap" >&2
}

# Loads under valgrind, on a server that was built for it
suite_valgrind()
{
  local suppressions=$FC_TMP/server/share/valgrind.supp
  if [ ! -f "$suppressions" ]; then
    echo "*** valgrind: IS NOT TESTED, it needs a server of test/run --pg $FC_MAJOR+assert" >&2
    echo "0 0 1"
    return
  fi
  mkdir "$FC_TMP/valgrind" || return
  [ -z "$FC_USER" ] || chown "$FC_USER" "$FC_TMP/valgrind"
  PG_CONFIG=$PG_CONFIG tap valgrind test/valgrind "$FC_TMP/valgrind" "$suppressions" \
    ${FC_REGRESS:-load binary indexes} --
}

# Assertions in pairs, each tripped by a mutant, on a server that checks them
suite_mutants()
{
  if [[ "${FC_VERSION:-}" != *+assert ]]; then
    echo "*** mutants: IS NOT TESTED, it needs a server of test/run --pg $FC_MAJOR+assert" >&2
    echo "0 0 1"
    return
  fi
  apart mutants run ${FC_MUTANTS:-}
}

# How many lines loads execute for a row, on a build that counts them; with FC_EXPECT=1
# our tree gets what is counted
suite_cost()
{
  if [ "$FC_MAJOR" != 15 ] || [[ "${FC_VERSION:-}" == *+* ]]; then
    echo "*** cost: IS NOT TESTED, its numbers are those of 15" >&2
    echo "0 0 1"
    return
  fi
  apart cost run
  [ -z "${FC_EXPECT:-}" ] || cp "$FC_TMP/cost/tree/test/cost/expected" "$FC_TOP/test/cost/"
}

# apart SUITE PROGRAM [ARGUMENT...]: runs test/SUITE/PROGRAM in a copy of the tree and the
# installation, which it builds in its own way
apart()
{
  local name=$1 program=$2 dir=$FC_TMP/$1
  shift 2
  mkdir "$dir" && cp -a "$FC_TREE" "$dir/tree" && cp -a "$FC_STAGE" "$dir/stage" && mkdir "$dir/run" || return
  [ -z "$FC_USER" ] || chown -R "$FC_USER" "$dir"
  (FC_BIN=$dir/stage${FC_BIN#"$FC_STAGE"} FC_STAGE=$dir/stage PG_CONFIG=$PG_CONFIG
   export FC_STAGE PG_CONFIG
   tap "$name" "$dir/tree/test/$name/$program" "$dir/run" "$@" --)
}

# A few rounds of each kind of fault, always the same ones, and more with FC_ALL
suite_faults()
{
  fc_faults_mutants >"$FC_TMP/log/mutant.log" 2>&1 ||
    { cat "$FC_TMP/log/mutant.log" >&2; return; }
  export -f fc_faults fc_root
  export FC_TMP FC_BIN FC_STAGE FC_TREE FC_USER
  perl test/tap "$FC_TMP/log/faults.tap" bash -c 'fc_faults "$@"' faults --rounds $([ -n "${FC_ALL:-}" ] && echo 10 || echo 3) --
}

# perl_tests NAME FILE...: tests that start clusters of their own
perl_tests()
{
  local name=$1 dir=$FC_TMP/$1
  shift
  export PG_REGRESS PG_TEST_TIMEOUT_DEFAULT=30
  PG_REGRESS=$(dirname "$("$PG_CONFIG" --pgxs)")/../test/regress/pg_regress
  mkdir -p "$dir"
  [ -z "$FC_USER" ] || chown "$FC_USER" "$dir"
  TMPDIR=$dir TESTDIR=$dir TESTDATADIR=$dir TESTLOGDIR=$dir/log FC_INITDB=$dir/initdb FC_STAGE=$FC_STAGE \
    tap "$name" perl -I "$(dirname "$("$PG_CONFIG" --pgxs)")/../test/perl" -I test/t -- "$@"
}

