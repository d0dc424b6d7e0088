# Those who load, for bench/compare, and some for bench/again.  Sourced after
# bench/lib.sh.
#
# A contender NAME has up to five functions:
#   setup_NAME    once; says with "unavailable REASON" that it cannot run
#   before_NAME   before each load, not measured
#   load_NAME     the load, measured; ends when the data is committed
#   after_NAME    sizes and checks what it loaded, sets ROW; then cleans up
#   about_NAME    sets VERSION, DURABLE, SETTINGS and HANDICAP
# They know the case by WORKLOAD ORDER ROWS FILES PATTERN FORMAT KEY INTERVAL WAL
# TARGET and, fast_copy only, by the settings of the variant in VARIANT.

CONTENDERS="fast_copy fast_copy_alone fast_copy_files fast_copy_packed fast_copy_one_packed copy copy_packed copy_one_packed copy_parallel copy_cluster copy_stage copy_freeze file_fdw copy_then_index
  duckdb duckdb_sorted clickhouse questdb"
ACCELERATE_CONTENDERS="accelerated copy accelerated_stdin copy_stdin accelerated_binary copy_binary accelerated_restore copy_restore"
POSTGRES_CONTENDERS="fast_copy fast_copy_alone fast_copy_files fast_copy_packed fast_copy_one_packed copy copy_packed copy_one_packed copy_parallel copy_cluster copy_stage copy_freeze file_fdw copy_then_index"
QUESTDB_VERSION=${QUESTDB_VERSION:-9.3.4}
QUESTDB_PORT=

declare -A VARIANT ROW
EXTRA=
QUESTDB_PID=

unavailable()
{
  UNAVAILABLE=$*
}

# meets NAME: whether it takes part in this case at all
meets()
{
  case $1 in
    fast_copy_files | copy_then_index) [ "$WORKLOAD" = objects ] ;;
    *_packed) [ "$WORKLOAD" = events ] && [ "$TARGET" = new ] ;;
    copy) true ;;
    fast_copy | fast_copy_alone) [ "$TARGET" != plain ] ;;
    *_restore) [ "$TARGET" = plain ] ;;
    accelerated* | copy_stdin | copy_binary) [ "$TARGET" != new ] ;;
    *) [ "$TARGET" = new ] ;;
  esac
}

sql() { "$FC_TOP/bench/sql" "$WORKLOAD" "$1" "$2" "$ROWS" "${DAYS:-1}" "${PARTITIONS:-30}"; }

# ---- PostgreSQL: the same server and the same table for all

pg_version() { VERSION=$(value 'SHOW server_version' | cut -d' ' -f1); VERSION="PostgreSQL $VERSION"; }

# What a load leaves that keeps the order of the file
file_order()
{
  case $ORDER in
    sorted | time) echo 'file order' ;;
    *) echo 'file order, not sorted' ;;
  esac
}

pg_about()
{
  pg_version
  DURABLE="yes (fsync, wal_level = $WAL)"
  SETTINGS="shared_buffers 1GB"
  HANDICAP=${1:-none}
}

# The table, and its partitions where they exist before
pg_before()
{
  {
    echo 'SET client_min_messages = warning; DROP TABLE IF EXISTS target, stage, wanted;
      DROP FOREIGN TABLE IF EXISTS stage_file;'
    echo "CREATE TABLE target ($(sql postgres columns))"
    [ "$TARGET" = plain ] || echo "PARTITION BY RANGE ($KEY)"
    echo ';'
    [[ "$TARGET" = @(new|plain) ]] || cat "$FC_TMP/partitions.sql"
    [ "$WORKLOAD" != objects ] || [ "${1:-}" = plain ] || echo "ALTER TABLE target ADD PRIMARY KEY ($KEY);"
    [ "$TARGET" != indexed ] || [ "$WORKLOAD" = objects ] || echo "CREATE INDEX ON target ($KEY);"
    echo 'CHECKPOINT;'
  } | fc_psql -o /dev/null -f -
}

# pg_run: runs standard input in one transaction, but where fast_copy exchanges the
# files of empty partitions, which it does not in a transaction block
pg_run()
{
  { [ "${TARGET:-}" = indexed ] || echo 'BEGIN;'; cat; [ "${TARGET:-}" = indexed ] || echo 'COMMIT;'; } | fc_psql -o "$FC_TMP/log/output" -f - 2>>"$FC_TMP/log/error"
}

# The partitions, in the same transaction as the load that needs them: with
# wal_level = minimal that is what saves the WAL.
pg_partitions()
{
  [ "$TARGET" != new ] || cat "$FC_TMP/partitions.sql"
}

# copy_into TABLE [OPTION]: a COPY for each file
copy_into()
{
  local file
  for file in "${FILES[@]}"; do
    echo "COPY $1 FROM '$file' WITH (FORMAT $FORMAT${2:+, $2});"
  done
}

# pg_after [TABLE]
pg_after()
{
  local table=${1:-target} out
  out=$(value "SELECT sum(pg_table_size(relid)), sum(pg_indexes_size(relid)) FROM pg_partition_tree('$table')") || return 1
  [[ "$table" = target && "$TARGET" != plain ]] || out=$(value "SELECT pg_table_size('$table'), pg_indexes_size('$table')")
  ROW[heap]=${out%|*} ROW[index]=${out#*|}
  out=$(value "SELECT $(sql postgres check), sum(hash_record_extended($table.*, 0)) FROM $table") || return 1
  out=${out//|/ }
  ROW[hash]=${out##* } ROW[check]=${out% *}
  [ "$table" != target ] || [ "$TARGET" != new ] || pg_queries
  fc_psql -c 'SET client_min_messages = warning' -c 'DROP TABLE IF EXISTS target, stage, wanted'
}

# What the order is good for: queries after the load, each once to warm up
pg_queries()
{
  local name q
  [ -f "$FC_TOP/bench/$WORKLOAD.queries" ] || return 0
  fc_psql -c 'ANALYZE target'
  while IFS=$'\t' read -r name q; do
    q=${q//ROWS/$ROWS}
    if [ "$name" = - ]; then fc_psql -c "$q"; else EXTRA+="$name=$(timed "$q" "$q") "; fi
  done <"$FC_TOP/bench/$WORKLOAD.queries"
}

# ---- fast_copy; VARIANT holds what differs from the options' settings

setup_fast_copy()
{
  local name
  for name in spill writer; do
    [ -z "${VARIANT[$name]:-}" ] ||
      [ "$(fc_psql -A -t -c "LOAD 'fast_copy'" -c "SELECT count(*) FROM pg_settings WHERE name = 'fast_copy.$name'")" = 1 ] ||
      unavailable "this fast_copy has no setting fast_copy.$name"
  done
}
before_fast_copy() { pg_before; }
load_fast_copy() { fast_copy_of "$PATTERN" | pg_run; }
after_fast_copy() { pg_after; }
about_fast_copy()
{
  pg_about 'none'
  SETTINGS="$SETTINGS; $(fast_copy_settings)"
}

fast_copy_settings()
{
  echo "workers ${VARIANT[workers]:-$WORKERS}, fast_copy.memory ${VARIANT[memory]:-$MEMORY}, spill ${VARIANT[spill]:-auto}," \
    "io ${VARIANT[io]:-auto}, writer ${VARIANT[writer]:-auto}"
}

# The leader without workers: one process, as COPY is
before_fast_copy_alone() { pg_before; }
load_fast_copy_alone() { VARIANT[workers]=0; load_fast_copy; }
after_fast_copy_alone() { pg_after; }
about_fast_copy_alone() { VARIANT[workers]=0; about_fast_copy; }

# Prints the statements that load the files named
fast_copy_of()
{
  local file setting settings=${VARIANT[set]:-}
  echo "SET LOCAL fast_copy.memory = '${VARIANT[memory]:-$MEMORY}';"
  echo 'SET LOCAL fast_copy.max_partitions = 1000000;'
  [ -z "${VARIANT[spill]:-}" ] || echo "SET LOCAL fast_copy.spill = '${VARIANT[spill]}';"
  [ -z "${VARIANT[writer]:-}" ] || echo "SET LOCAL fast_copy.writer = '${VARIANT[writer]}';"
  [ -z "${VARIANT[io]:-}" ] || echo "SET LOCAL fast_copy.io_method = '${VARIANT[io]}';"
  for setting in ${settings//,/ }; do echo "SET LOCAL fast_copy.${setting%%=*} = '${setting#*=}';"; done
  [ -z "${VARIANT[ledger]:-}" ] || echo "SELECT fast_copy_create_ledger_table('pg_temp.ledger');"
  for file in "$@"; do
    echo "SELECT fast_copy('target', '$file', workers => ${VARIANT[workers]:-$WORKERS}, format => '$FORMAT', partition_interval => '$INTERVAL'${VARIANT[ledger]:+, options => '{\"ledger\": \"pg_temp.ledger\"}'});"
  done
  echo 'SELECT phase, processes, round(seconds::numeric, 2) AS seconds, reads, choice FROM fast_copy_report() WHERE partition IS NULL;'
}

# One call for each file, in one transaction
before_fast_copy_files() { pg_before; }
load_fast_copy_files() { fast_copy_of "${FILES[@]}" | pg_run; }
after_fast_copy_files() { pg_after; }
about_fast_copy_files() { about_fast_copy; HANDICAP="a call for each of the ${#FILES[@]} files; the others' fast_copy reads them joined in one"; }

# The same lines in eight files, packed by gzip
pack()
{
  local dir=$PATTERN.packed
  [ ! -d "$dir" ] || return 0
  mkdir "$dir" && split -n l/8 "$PATTERN" "$dir/part" && gzip -1 "$dir"/part* && own "$dir"
}

before_fast_copy_packed() { pack && pg_before; }
load_fast_copy_packed() { fast_copy_of "$PATTERN.packed/*" | pg_run; }
after_fast_copy_packed() { pg_after; }
about_fast_copy_packed() { about_fast_copy; HANDICAP="reads eight files packed by gzip"; }

before_copy_packed() { pack && pg_before; }
load_copy_packed()
{
  local file
  {
    pg_partitions
    for file in "$PATTERN".packed/*; do echo "COPY target FROM PROGRAM 'gzip -dc $file' WITH (FORMAT $FORMAT);"; done
  } | pg_run
}
after_copy_packed() { pg_after; }
about_copy_packed() { pg_about "$(file_order); reads eight files packed by gzip"; }

# ... and in one, by a tool that packs them in one piece or in many: members of
# gzip, frames of zstd and lz4, streams of bzip2 and xz
pack_one()
{
  local packer=${VARIANT[packer]:-gzip} file
  packed_file
  [ ! -e "$file" ] || return 0
  case $packer in
    gzip | zstd | lz4 | bzip2) "$packer" -1 -c <"$PATTERN" >"$file" ;;
    xz) xz -0 -c <"$PATTERN" >"$file" ;;
    bgzip) bgzip -l 1 -c <"$PATTERN" >"$file" ;;
    pzstd) pzstd -q -1 -c <"$PATTERN" >"$file" ;;
    pbzip2) pbzip2 -1 -c <"$PATTERN" >"$file" ;;
    lz4_frames) split -b 4M --filter='lz4 -1 -q -c' "$PATTERN" >"$file" ;;
    xz_streams) split -b 4M --filter='xz -0 -c' "$PATTERN" >"$file" ;;
    *) fc_die "no packer $packer" ;;
  esac && own "$file"
}

setup_fast_copy_one_packed()
{
  local packer=${VARIANT[packer]:-gzip}
  try_packages $(fc_libraries 6) tabix pbzip2
  command -v "${packer%_*}" >/dev/null || unavailable "there is no ${packer%_*} here"
}

packed_file() { file=$PATTERN.${VARIANT[packer]:-gzip}; }

before_fast_copy_one_packed() { pack_one && pg_before; }
load_fast_copy_one_packed() { local file; packed_file; fast_copy_of "$file" | pg_run; }
after_fast_copy_one_packed()
{
  local start=$EPOCHREALTIME file
  if [ "${VARIANT[packer]:-gzip}" = gzip ]; then
    packed_file
    gzip -dc <"$file" >/dev/null
    EXTRA+="seconds_of_gzip_-dc_alone=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }') "
  fi
  pg_after
}
about_fast_copy_one_packed() { about_fast_copy; HANDICAP="reads one file packed by ${VARIANT[packer]:-gzip}"; }

before_copy_one_packed() { pack_one && pg_before; }
load_copy_one_packed()
{
  local file
  packed_file
  { pg_partitions; echo "COPY target FROM PROGRAM 'gzip -dc <$file' WITH (FORMAT $FORMAT);"; } | pg_run
}
after_copy_one_packed() { pg_after; }
about_copy_one_packed() { pg_about "$(file_order); reads one file packed by gzip"; }

# ---- COPY as it is

before_copy() { pg_before; }
load_copy() { { pg_partitions; copy_into target; } | pg_run; }
after_copy() { pg_after; }
about_copy() { pg_about "$(file_order)"; }

# ---- The same COPY with fast_copy.accelerate_copy off and on

# In the session that loads
accelerate()
{
  echo "LOAD 'fast_copy'; SET fast_copy.accelerate_copy = on; SET fast_copy.memory = '$MEMORY'; SET fast_copy.workers = $WORKERS;"
}
about_accelerated()
{
  pg_about "$(file_order)"
  SETTINGS="$SETTINGS; fast_copy.accelerate_copy, workers $WORKERS, fast_copy.memory $MEMORY"
}

before_accelerated() { pg_before; }
load_accelerated() { { accelerate; copy_into target; } | pg_run; }
after_accelerated() { pg_after; }

# The data stand in the script that psql runs
inline()
{
  echo "COPY target FROM STDIN WITH (FORMAT $FORMAT);"
  cat "${FILES[@]}"
  echo '\.'
}

before_copy_stdin() { pg_before; }
load_copy_stdin() { inline | pg_run; }
after_copy_stdin() { pg_after; }
about_copy_stdin() { pg_about "$(file_order); the data are in the script"; }

before_accelerated_stdin() { pg_before; }
load_accelerated_stdin() { { accelerate; inline; } | pg_run; }
after_accelerated_stdin() { pg_after; }
about_accelerated_stdin() { about_accelerated; HANDICAP+='; the data are in the script'; }

# The rows in binary, and as a dump with its own compression
keep_rows()
{
  [ ! -f "$PATTERN.dump" ] || return 0
  {
    echo "CREATE TABLE target ($(sql postgres columns));"
    copy_into target
    echo "COPY target TO '$PATTERN.binary' (FORMAT binary);"
  } | fc_psql -f - &&
    fc_as pg_dump -Fc --data-only -t target -f "$PATTERN.dump" && fc_psql -c 'DROP TABLE target'
}

before_copy_binary() { fc_psql -c 'DROP TABLE IF EXISTS target' && keep_rows && pg_before && bench_cache "$PATTERN.binary"; }
load_copy_binary() { echo "COPY target FROM '$PATTERN.binary' (FORMAT binary);" | pg_run; }
after_copy_binary() { pg_after; }
about_copy_binary() { pg_about "$(file_order); reads binary data"; }

before_accelerated_binary() { before_copy_binary; }
load_accelerated_binary() { { accelerate; echo "COPY target FROM '$PATTERN.binary' (FORMAT binary);"; } | pg_run; }
after_accelerated_binary() { pg_after; }
about_accelerated_binary() { about_accelerated; HANDICAP+='; reads binary data'; }

# restore [OPTION...]: pg_restore of the table's data, with these settings
restore()
{
  PGOPTIONS="$*" fc_as pg_restore --exit-on-error -d "${PGDATABASE:-postgres}" "$PATTERN.dump" 2>>"$FC_TMP/log/error"
}

before_copy_restore() { before_copy_binary && bench_cache "$PATTERN.dump"; }
load_copy_restore() { restore; }
after_copy_restore() { pg_after; }
about_copy_restore() { pg_about "$(file_order); pg_restore unpacks and sends the rows"; }

before_accelerated_restore() { before_copy_restore; }
load_accelerated_restore()
{
  restore -c session_preload_libraries=fast_copy -c fast_copy.accelerate_copy=on -c "fast_copy.memory=$MEMORY" -c "fast_copy.workers=$WORKERS"
}
after_accelerated_restore() { pg_after; }
about_accelerated_restore() { about_accelerated; HANDICAP+='; pg_restore unpacks and sends the rows'; }

# As many sessions as workers, each reading its part of the file's lines
before_copy_parallel() { pg_before; }
load_copy_parallel()
{
  local i pids=() rc=0
  pg_partitions | fc_psql -f - || return 1
  for i in $(seq "$WORKERS"); do
    for file in "${FILES[@]}"; do
      echo "COPY target FROM PROGRAM 'split -n l/$i/$WORKERS $file' WITH (FORMAT $FORMAT);"
    done | fc_psql -o /dev/null -f - 2>>"$FC_TMP/log/error" &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i" || rc=1; done
  return $rc
}
after_copy_parallel() { pg_after; }
about_copy_parallel()
{
  pg_about "$WORKERS transactions, not one; not sorted; cannot read newlines in fields"
  SETTINGS="$SETTINGS; $WORKERS sessions"
}

# COPY, and then the order that fast_copy makes, by an index that is made for it or
# by the primary key
before_copy_cluster() { pg_before plain; }
load_copy_cluster()
{
  load_copy || return 1
  {
    echo "SET maintenance_work_mem = '$MEMORY';"
    if [ "$WORKLOAD" = objects ]; then
      echo "ALTER TABLE target ADD PRIMARY KEY ($KEY); CLUSTER target USING target_pkey;"
    else
      echo "CREATE INDEX target_order ON target ($KEY); CLUSTER target USING target_order; DROP INDEX target_order;"
    fi
  } | fc_psql -o "$FC_TMP/log/output" -f - 2>>"$FC_TMP/log/error"
}
after_copy_cluster() { pg_after; }
about_copy_cluster() { pg_about 'sorted, as fast_copy; several transactions; CLUSTER keeps readers out'; SETTINGS="$SETTINGS; maintenance_work_mem $MEMORY"; }

before_copy_stage() { pg_before; }
load_copy_stage()
{
  {
    pg_partitions
    echo 'CREATE UNLOGGED TABLE stage (LIKE target);'
    copy_into stage
    echo "SET LOCAL work_mem = '$MEMORY'; INSERT INTO target SELECT * FROM stage ORDER BY $KEY; DROP TABLE stage;"
  } | pg_run
}
after_copy_stage() { pg_after; }
about_copy_stage() { pg_about 'sorted, as fast_copy'; SETTINGS="$SETTINGS; work_mem $MEMORY; the stage is unlogged"; }

before_copy_freeze() { pg_before; }
load_copy_freeze() { { echo 'CREATE TABLE stage (LIKE target);'; copy_into stage FREEZE; } | pg_run; }
after_copy_freeze() { pg_after stage; }
about_copy_freeze() { pg_about "$(file_order); one flat table: COPY FREEZE takes no partitioned table"; }

setup_file_fdw()
{
  fc_psql -c 'SET client_min_messages = warning' -c 'CREATE EXTENSION IF NOT EXISTS file_fdw' \
    -c 'CREATE SERVER IF NOT EXISTS bench FOREIGN DATA WRAPPER file_fdw' 2>"$FC_TMP/log/error" ||
    unavailable "$(head -n 1 "$FC_TMP/log/error")"
}
before_file_fdw()
{
  pg_before &&
    fc_psql -c "CREATE FOREIGN TABLE stage_file ($(sql postgres columns)) SERVER bench OPTIONS (filename '$PATTERN', format '$FORMAT')"
}
load_file_fdw()
{
  {
    pg_partitions
    echo "SET LOCAL work_mem = '$MEMORY'; INSERT INTO target SELECT * FROM stage_file ORDER BY $KEY;"
  } | pg_run
}
after_file_fdw() { fc_psql -c 'DROP FOREIGN TABLE stage_file' && pg_after; }
about_file_fdw() { pg_about 'sorted, as fast_copy'; SETTINGS="$SETTINGS; work_mem $MEMORY"; }

# The primary key is added once the rows are there
before_copy_then_index() { pg_before plain; }
load_copy_then_index()
{
  {
    pg_partitions
    copy_into target
    echo "SET LOCAL maintenance_work_mem = '$MEMORY'; ALTER TABLE target ADD PRIMARY KEY ($KEY);"
  } | pg_run
}
after_copy_then_index() { pg_after; }
about_copy_then_index() { pg_about "$(file_order)"; SETTINGS="$SETTINGS; maintenance_work_mem $MEMORY"; }

# ---- Embedded engines, from a Python environment of our own

setup_python()
{
  local log=$FC_TMP/log/pip.log python=/usr/bin/python3
  mkdir -p "$FC_TMP/embedded" && own "$FC_TMP/embedded"
  [ ! -x "$FC_TMP/python/bin/pip" ] || return 0
  try_packages python3 python3-venv || return 1
  "$python" -m venv "$FC_TMP/python" >"$log" 2>&1
}

# setup_embedded PACKAGE
setup_embedded()
{
  setup_python || { unavailable 'no Python environment could be made'; return; }
  "$FC_TMP/python/bin/pip" install -q --disable-pip-version-check "$1" >"$FC_TMP/log/pip.log" 2>&1 ||
    { unavailable "pip could not install $1: $(tail -n 1 "$FC_TMP/log/pip.log")"; return; }
  "$FC_TMP/python/bin/python" "$FC_TOP/bench/engine" "$2" version >"$FC_TMP/embedded/$2" 2>"$FC_TMP/log/error" ||
    unavailable "it does not run: $(tail -n 1 "$FC_TMP/log/error")"
}

# engine NAME SORT WHAT: runs it with the case's description
engine()
{
  local pattern=$PATTERN
  [ ${#FILES[@]} = 1 ] || pattern="$(dirname "${FILES[0]}")/*"
  FILES=$pattern FORMAT=$FORMAT KEY=$KEY SORT=$2 THREADS=$WORKERS COLUMNS=$(sql "$1" columns) \
    TYPES=$([ "$1" != duckdb ] || sql "$1" types) STORAGE=$([ "$1" != clickhouse ] || sql "$1" storage) \
    CHECK=$(sql "$1" check) fc_as "$FC_TMP/python/bin/python" "$FC_TOP/bench/engine" "$1" "$3" "$FC_TMP/embedded/data"
}

embedded_before() { rm -rf "$FC_TMP/embedded/data" && mkdir "$FC_TMP/embedded/data" && own "$FC_TMP/embedded/data"; }

# embedded_load NAME SORT [WHAT]: by its own clock, as starting Python is no part of
# the load
embedded_load() { engine "$1" "$2" "${3:-load}" >"$FC_TMP/log/clock" 2>>"$FC_TMP/log/error"; }

embedded_after()
{
  ROW[heap]=$(du -s -B 1 "$FC_TMP/embedded/data" | cut -f1) ROW[index]=- ROW[wal]=- ROW[hash]=-
  ROW[check]=$(engine "$1" no check) || return 1
  read -r ROW[s] ROW[cpu] <"$FC_TMP/log/clock"
  rm -rf "$FC_TMP/embedded/data"
}

setup_duckdb() { setup_embedded duckdb duckdb; }
before_duckdb() { embedded_before; }
load_duckdb() { embedded_load duckdb no; }
after_duckdb() { embedded_after duckdb; }
about_duckdb()
{
  VERSION=$(cat "$FC_TMP/embedded/duckdb") DURABLE='yes (CHECKPOINT)' SETTINGS="threads $WORKERS"
  HANDICAP='a column store, compressed; no partitions; not sorted; in process'
}
setup_duckdb_sorted() { setup_duckdb; }
before_duckdb_sorted() { embedded_before; }
load_duckdb_sorted() { embedded_load duckdb yes; }
after_duckdb_sorted() { embedded_after duckdb; }
about_duckdb_sorted() { about_duckdb; HANDICAP='a column store, compressed; no partitions; sorted; in process'; }

setup_clickhouse() { setup_embedded chdb-core clickhouse; }
before_clickhouse() { embedded_before; }
load_clickhouse() { embedded_load clickhouse no; }
after_clickhouse() { embedded_after clickhouse; }
about_clickhouse()
{
  VERSION=$(cat "$FC_TMP/embedded/clickhouse") DURABLE='yes (fsync_after_insert, fsync_part_directory)'
  SETTINGS="MergeTree, $(sql clickhouse storage); max_threads and max_insert_threads $WORKERS"
  HANDICAP='a column store, compressed; sorted in each part, parts not merged yet; no transaction; in process'
}

# ---- QuestDB, a server that we start and stop

free_port()
{
  perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1)->sockport'
}

# questdb COMMAND...: runs what uses psql
questdb() { PGHOST=127.0.0.1 PGPORT=$QUESTDB_PORT PGUSER=admin PGPASSWORD=quest PGDATABASE=qdb "$@"; }
questdb_psql() { questdb fc_psql -A -t "$@"; }

setup_questdb()
{
  local log=$FC_TMP/log/maven.log root=$FC_TMP/questdb
  [ "$WORKLOAD" != objects ] || { unavailable 'it partitions by time only'; return; }
  [ ! -d "$root" ] || return 0
  { command -v java >/dev/null || try_packages default-jre-headless; } && { command -v mvn >/dev/null || try_packages maven; } ||
    { unavailable 'no Java and Maven could be installed'; return; }
  mvn -q -B dependency:copy -Dartifact="org.questdb:questdb:$QUESTDB_VERSION" -DoutputDirectory="$FC_TMP/java" >"$log" 2>&1 ||
    { unavailable "Maven could not get it: $(grep -m 1 ERROR "$log")"; return; }
  QUESTDB_PORT=$(free_port)
  mkdir -p "$root/conf"
  cat >"$root/conf/formats.json" <<'END'
{"date": [], "timestamp": [{"format": "yyyy-MM-dd HH:mm:ss.SSSUUU"}, {"format": "yyyy-MM-dd HH:mm:ss.SSS"},
  {"format": "yyyy-MM-dd HH:mm:ss"}, {"format": "yyyy-MM-dd"}]}
END
  # its importer uses two threads less than it is given
  cat >"$root/conf/server.conf" <<END
http.enabled=false
http.min.enabled=false
line.tcp.enabled=false
telemetry.enabled=false
pg.net.bind.to=127.0.0.1:$QUESTDB_PORT
cairo.sql.copy.root=$FC_TMP/files
cairo.sql.copy.work.root=$root/work
cairo.sql.copy.formats.file=/formats.json
shared.worker.count=$WORKERS
shared.write.worker.count=$((WORKERS + 2))
END
  own "$root"
}

# Runs for the time of its loads only
start_questdb()
{
  local i
  rm -rf "$FC_TMP/questdb/db" "$FC_TMP/questdb/work"
  fc_as java --add-exports java.base/jdk.internal.math=io.questdb -p "$FC_TMP/java" \
    -m io.questdb/io.questdb.ServerMain -d "$FC_TMP/questdb" >"$FC_TMP/log/questdb.log" 2>&1 &
  QUESTDB_PID=$!
  for i in $(seq 150); do
    ! questdb_psql -c 'SELECT 1' >/dev/null 2>&1 || break
    sleep 0.2
  done
}

# questdb_table NAME KIND
questdb_table()
{
  questdb_psql -o /dev/null -c "CREATE TABLE $1 ($(sql questdb columns)) TIMESTAMP($KEY) PARTITION BY $(sql questdb storage) $2"
}

# questdb_copy TABLE: its COPY returns at once; the log tells when it is done
questdb_copy()
{
  local id status=
  id=$(questdb_psql -c "COPY $1 FROM '$(basename "$PATTERN")' WITH HEADER false TIMESTAMP '$KEY'
    FORMAT '$(sql questdb format)' ON ERROR ABORT") || return 1
  until [ -n "$status" ]; do
    sleep 0.02
    status=$(questdb_psql -c "SELECT status, message FROM sys.text_import_log WHERE id = '$id' AND phase IS NULL AND status <> 'started'" 2>>"$FC_TMP/log/error") || return 1
  done
  [ "${status%%|*}" = finished ] || { echo "$status" >>"$FC_TMP/log/error"; return 1; }
}

before_questdb() { start_questdb && questdb_table target 'BYPASS WAL'; }
load_questdb() { questdb_copy target; }

after_questdb()
{
  ROW[heap]=$(du -s -B 1 "$FC_TMP"/questdb/db/target* | awk '{ s += $1 } END { print s }') ROW[index]=- ROW[wal]=- ROW[hash]=-
  ROW[check]=$(questdb_psql -F ' ' -c "SELECT $(sql questdb check) FROM target")
  stop_questdb
}

# ... and all that it writes when it ends is written
stop_questdb()
{
  local all i
  [ -n "$QUESTDB_PID" ] || return 0
  all=$(family "$QUESTDB_PID")
  kill $all
  wait "$QUESTDB_PID"
  for i in $(seq 100); do
    kill -0 $all || break
    sleep 0.1
  done
  QUESTDB_PID=
} 2>/dev/null

about_questdb()
{
  VERSION="QuestDB $QUESTDB_VERSION" DURABLE='no (its COPY does not fsync)'
  SETTINGS="PARTITION BY $(sql questdb storage); $WORKERS import threads"
  HANDICAP="a column store; sorted; the table must be empty; $(java -version 2>&1 | head -n 1)"
}
