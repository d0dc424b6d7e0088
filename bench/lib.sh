# Shared by the commands in bench/; sourced after test/lib.sh.

# Settings of the cluster: it is durable, has full WAL (wal_level = replica is
# the default) and room for the WAL segments of two rounds.
BENCH_SETTINGS=(
  'shared_buffers = 1GB' 'max_wal_size = 8GB' 'min_wal_size = 4GB'
  'checkpoint_timeout = 30min' 'autovacuum = off'
  'max_worker_processes = 16' 'max_parallel_workers = 8' 'max_locks_per_transaction = 1024'
)

# Makes a cluster with the extension.  FC_INSTALLED names an installation that
# has fast_copy, as test/run has one; else this builds and installs it.
bench_cluster()
{
  fc_say 'looking for the packages that this needs'
  fc_begin
  if [ -n "${FC_INSTALLED:-}" ]; then
    FC_STAGE=$FC_INSTALLED FC_BIN=$FC_INSTALLED$("$PG_CONFIG" --bindir)
  else
    fc_say "building fast_copy for PostgreSQL $FC_MAJOR, which can take minutes"
    { fc_build && fc_install; } >"$FC_TMP/log/build.log" 2>&1 || fc_die "$(cat "$FC_TMP/log/build.log")"
  fi
  fc_say 'making a cluster'
  fc_start "${BENCH_SETTINGS[@]}" 'client_min_messages = warning' || fc_die "the cluster did not start: $(tail "$FC_TMP/log/server.log")"
  fc_psql -c 'CREATE EXTENSION fast_copy'
  gcc -O2 -o "$FC_TMP/generate" "$FC_TOP/bench/generate.c" || fc_die 'the generator does not compile'
}

# Makes a standby beside the cluster, on the same socket, and starts it
bench_standby()
{
  STANDBY_PORT=5433
  {
    fc_as pg_basebackup -h "$PGHOST" -D "$FC_TMP/standby" -R -X stream -c fast --no-sync &&
      printf '%s\n' "port = $STANDBY_PORT" 'shared_buffers = 256MB' | fc_as tee -a "$FC_TMP/standby/postgresql.conf" &&
      fc_as pg_ctl -D "$FC_TMP/standby" -l "$FC_TMP/log/standby.log" -w -s start
  } >>"$FC_LOG" 2>&1 || fc_die "no standby: $(tail -n 3 "$FC_LOG")"
}

# bench_wal LEVEL: restarts the server with that wal_level.
bench_wal()
{
  [ "$(value 'SHOW wal_level')" != "$1" ] || return 0
  {
    echo "wal_level = $1"
    [ "$1" != minimal ] || echo 'max_wal_senders = 0'
  } | fc_as tee -a "$FC_TMP/data/postgresql.conf" >/dev/null
  fc_as pg_ctl -D "$FC_TMP/data" -l "$FC_TMP/log/server.log" -w -s restart || fc_die "no server with wal_level = $1"
}

# Gives files to the user as whom the servers run.
own()
{
  [ -z "$FC_USER" ] || chown -R "$FC_USER" "$@"
}

# Like fc_packages, but returns false, and prints nothing, where that fails.
try_packages()
{
  (fc_packages "$@") >/dev/null 2>&1
}

postmaster() { head -n 1 "$FC_TMP/data/postmaster.pid"; }

# Prints the clock ticks that a process and all below it have used, with those
# of children that have ended; with "kernel" those that it has spent in the kernel.
ticks_of()
{
  family "$1" | while read -r p; do
    cat "/proc/$p/stat"
  done 2>/dev/null | sed 's/.*) //' | awk -v kernel="${2:-}" '{ t += $13 + $15 + (kernel ? 0 : $12 + $14) } END { print t + 0 }'
}

family()
{
  local p
  echo "$1"
  for p in $(cat "/proc/$1/task/"*/children 2>/dev/null); do
    family "$p"
  done
}

# Prints what a reader must know before the first figure.
bench_conditions()
{
  local commit
  if commit=$(git -C "$FC_TOP" rev-parse --short HEAD 2>/dev/null); then
    git -C "$FC_TOP" diff --quiet HEAD || commit="$commit, changed"
  else
    commit='no commit'
  fi
  echo "fast_copy $commit; $("$PG_CONFIG" --version); $(nproc) cores, $(awk '/MemTotal/ {printf "%.0f GB", $2 / 1048576}' /proc/meminfo); Linux $(uname -r)"
  (IFS=';' && echo "settings: ${BENCH_SETTINGS[*]}") | sed 's/;/; /g'
}

# timed SQL [SQL...]: runs the statements, prints the last one's milliseconds.
timed()
{
  local args=() sql
  for sql in "$@"; do args+=(-c "$sql"); done
  fc_psql -o /dev/null -c '\timing on' "${args[@]}" | awk '$1 == "Time:" { t = $2 } END { print t }'
}

# Prints the answer to a query, without decoration.
value()
{
  fc_psql -A -t -c "$1"
}

# Those named, the first of them last
turn() { echo "${@:2} $1"; }

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
sum() { awk -v a="$1" -v b="$2" 'BEGIN { print a + b }'; }
seconds() { awk -v a="$1" 'BEGIN { printf "%.2f", a / 1000 }'; }
median() { sort -n | awk '{ a[NR] = $1 } END { print a[1] == "-" ? "-" : NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'; }

# partitions_sql NAME FIRST DAYS: makes by hand what fast_copy would make.
partitions_sql()
{
  echo "DO \$\$ BEGIN
    FOR i IN 0 .. $3 - 1 LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
        '$1_p' || to_char(date '$2' + i, 'YYYYMMDD'), '$1', date '$2' + i, date '$2' + i + 1);
    END LOOP; END \$\$"
}

# weather_table NAME: for the year of test/data, without a partition
weather_table()
{
  fc_psql -c "CREATE TABLE $1 (origin text, year int, month int, day int, hour int, temp float8,
    dewp float8, humid float8, wind_dir int, wind_speed float8, wind_gust float8, precip float8,
    pressure float8, visib float8, time_hour timestamptz NOT NULL) PARTITION BY RANGE (time_hour)"
}

count_partitions()
{
  value "SELECT count(*) FROM pg_inherits WHERE inhparent = '$1'::regclass"
}

# Prints a column's correlation, the plain mean over all partitions.
correlation()
{
  value "SELECT round(avg(s.correlation)::numeric, 3) FROM pg_stats s
    JOIN pg_class c ON c.relname = s.tablename JOIN pg_inherits i ON i.inhrelid = c.oid
    WHERE i.inhparent = '$1'::regclass AND s.attname = '$2'"
}
