# Shared by bench/demo and bench/load; sourced after test/lib.sh.

# Settings of the cluster: full WAL, durable, room for two rounds of segments.
BENCH_SETTINGS=(
  'shared_buffers = 1GB' 'max_wal_size = 8GB' 'min_wal_size = 4GB'
  'checkpoint_timeout = 30min' 'wal_level = replica' 'autovacuum = off'
  'max_worker_processes = 16' 'max_parallel_workers = 8'
)

bench_cluster()
{
  fc_begin
  { fc_build && fc_install; } >"$FC_TMP/log/build.log" 2>&1 || fc_die "$(cat "$FC_TMP/log/build.log")"
  fc_start "${BENCH_SETTINGS[@]}" || fc_die "the cluster did not start: $(tail "$FC_TMP/log/server.log")"
  fc_psql -c 'CREATE EXTENSION fast_copy'
}

# What a reader of the figures must know before the first of them.
bench_conditions()
{
  local commit
  commit=$(git -C "$FC_TOP" rev-parse --short HEAD 2>/dev/null || echo 'no commit')
  git -C "$FC_TOP" diff --quiet HEAD 2>/dev/null || commit="$commit, changed"
  echo "fast_copy $commit; $("$PG_CONFIG" --version); $(nproc) cores, $(awk '/MemTotal/ {printf "%.0f GB", $2 / 1048576}' /proc/meminfo); Linux $(uname -r)"
  printf 'settings:'
  printf ' %s;' "${BENCH_SETTINGS[@]}"
  echo
}

# timed SQL [SQL...]: runs the statements, prints the last one's milliseconds.
timed()
{
  local args=() sql
  for sql in "$@"; do args+=(-c "$sql"); done
  fc_psql -o /dev/null -c '\timing on' "${args[@]}" | awk '$1 == "Time:" { t = $2 } END { print t }'
}

# Like psql's own answer, without decoration.
value()
{
  fc_psql -A -t -c "$1"
}

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
sum() { awk -v a="$1" -v b="$2" 'BEGIN { print a + b }'; }
seconds() { awk -v a="$1" 'BEGIN { printf "%.2f", a / 1000 }'; }
median() { sort -n | awk '{ a[NR] = $1 } END { print NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }

# generate FILE ROWS random|time: the test file, the same on every machine.
generate()
{
  local order=''
  [ "$3" = random ] || order='ORDER BY 1'
  fc_psql -c 'SELECT setseed(0.2013)' -o /dev/null -c "COPY (
      SELECT timestamp '2024-01-01' + floor(random() * 2592000000) * interval '1 millisecond',
             floor(random() * 1e12)::bigint, random() * 1000, floor(random() * 1e6)::int,
             'row ' || i
      FROM generate_series(1, $2) i $order) TO '$1' WITH (FORMAT csv)"
}

# table NAME [yes]: the target of that file; "yes" makes its 30 partitions.
table()
{
  fc_psql -c "SET client_min_messages = warning" -c "DROP TABLE IF EXISTS $1" -c "
    CREATE TABLE $1 (ts timestamp NOT NULL, id bigint, value double precision, kind int, note text)
      PARTITION BY RANGE (ts)"
  [ "${2:-}" != yes ] || fc_psql -c "$(partitions_sql "$1" 2024-01-01 30)"
}

# partitions_sql NAME FIRST DAYS: makes by hand what fast_copy would make.
partitions_sql()
{
  echo "DO \$\$ BEGIN
    FOR i IN 0 .. $3 - 1 LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
        '$1_p' || to_char(date '$2' + i, 'YYYYMMDD'), '$1', date '$2' + i, date '$2' + i + 1);
    END LOOP; END \$\$"
}

count_partitions()
{
  value "SELECT count(*) FROM pg_inherits WHERE inhparent = '$1'::regclass"
}

# The mean over the partitions, weighted by nothing: each is one table.
correlation()
{
  value "SELECT round(avg(s.correlation)::numeric, 3) FROM pg_stats s
    JOIN pg_class c ON c.relname = s.tablename JOIN pg_inherits i ON i.inhrelid = c.oid
    WHERE i.inhparent = '$1'::regclass AND s.attname = '$2'"
}
