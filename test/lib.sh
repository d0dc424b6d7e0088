# Shared by test/run, test/quick, test/faults/run and the commands in bench/:
# packages, build, cluster.
#
# Sourced by bash.  Everything happens in one temporary directory, $FC_TMP:
# a copy of the tree (where it is built), a private copy of PostgreSQL's
# installation (where it is installed), and a cluster on a Unix socket.
# Nothing of the machine's own installation is touched but for the Debian
# packages that are missing, several runs do not meet, and nothing is left once
# that directory is removed, on exit.  FC_KEEP=1 keeps it.
#
# PostgreSQL finds its share and lib directories relative to its binary.
# That is what makes the private copy work: real binaries, symbolic links for
# the rest, and "make install DESTDIR=" puts the extension among them.
#
# Settings:  PG_CONFIG  which PostgreSQL (default: that of the major version
#            FC_MAJOR if set, else the newest installed, else the
#            distribution's default, else the one in PATH)

set -u -o pipefail

FC_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
FC_TMP=
FC_USER=
FC_LOG=
FC_MAJOR=

. "$FC_TOP/test/watch.sh"

fc_die()
{
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# Says which code this is, for test/report: what of the tree is the engine, and its commit
fc_code()
{
  local tree commit
  tree=$(git -C "$FC_TOP" rev-parse --short=12 HEAD:src 2>/dev/null) && commit=$(git -C "$FC_TOP" rev-parse --short=12 HEAD) || return 0
  git -C "$FC_TOP" diff --quiet HEAD -- src 2>/dev/null || tree+=+
  echo "code: $tree $commit $(date -u +%F) ${FC_PROCESSOR:-$(uname -m)}${1:+ $1}"
}

# What comes next and may take long, on stderr: results go to stdout
fc_say()
{
  echo "$* ..." >&2
}

# Runs a command as root: by sudo if the caller is not root.
fc_root()
{
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# Runs a command as the user the server runs as.
fc_as()
{
  if [ -n "$FC_USER" ]; then
    runuser -u "$FC_USER" -- env HOME="$FC_TMP" PATH="$FC_BIN:$PATH" "$@"
  else
    env PATH="$FC_BIN:$PATH" "$@"
  fi
}

# Installs those of the named Debian packages that are missing.
fc_packages()
{
  local missing=() p
  command -v dpkg-query >/dev/null || return 0
  for p in "$@"; do
    dpkg-query -W -f '${Status}\n' "$p" 2>/dev/null | grep -q 'ok installed' ||
      fc_borrow "$p" || missing+=("$p")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "installing, which can take minutes: ${missing[*]}"
  fc_apt install -y --no-install-recommends "${missing[@]}" ||
    { fc_say 'asking for the lists of packages' && fc_apt update && fc_apt install -y --no-install-recommends "${missing[@]}"; } ||
    fc_die "could not install ${missing[*]}: $(tail -n 5 "$FC_LOG")"
}

# Takes an extension for a version that has no package of it yet from that of the
# newest version before, into a system of test/chroot.sh: the files of SQL alone,
# because a library would not load.  What needs its library is left out, and tests
# of it are skipped.
fc_borrow()
{
  local to=/usr/share/postgresql/$FC_MAJOR/extension from
  [[ -n "${FC_IN_CHROOT:-}" && "$1" == postgresql-$FC_MAJOR-* ]] || return 1
  [ ! -f "$to/$1.borrowed" ] || return 0
  ! apt-cache show "$1" >/dev/null 2>&1 || return 1
  from=$(apt-cache search --names-only "^postgresql-[0-9]+-${1#postgresql-*-}\$" | cut -d' ' -f1 | sort -V | tail -n 1)
  [ -n "$from" ] && mkdir "$FC_TMP/$from" &&
    (cd "$FC_TMP/$from" && apt-get -q download "$from" && dpkg-deb -x ./*.deb .) >>"$FC_LOG" 2>&1 || return 1
  grep -q '^ *module_pathname.*$libdir' "$FC_TMP/$from"/usr/share/postgresql/*/extension/*.control ||
    cp "$FC_TMP/$from"/usr/share/postgresql/*/extension/*.{control,sql} "$to/" || return 1
  echo "$from" >"$to/$1.borrowed" && echo "borrowed: $from"
}

fc_apt()
{
  fc_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" >>"$FC_LOG" 2>&1
}

# Prints the newest major version whose Debian package has this file, or nothing.
fc_newest()
{
  ls -d /usr/lib/postgresql/*/$1 2>/dev/null | cut -d/ -f5 | sort -n | tail -n 1
}

# Sets PG_CONFIG and FC_MAJOR, and installs the server and its headers.
fc_postgres()
{
  if [ -z "${PG_CONFIG:-}" ]; then
    [ -n "$FC_MAJOR" ] || FC_MAJOR=$(fc_newest bin/postgres)
    [ -n "$FC_MAJOR" ] || FC_MAJOR=$(fc_default_major)
    if [ -n "$FC_MAJOR" ]; then
      fc_server_packages
      PG_CONFIG=/usr/lib/postgresql/$FC_MAJOR/bin/pg_config
    else
      PG_CONFIG=$(command -v pg_config) || fc_die "no pg_config found"
    fi
  fi
  FC_MAJOR=$("$PG_CONFIG" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
  [ -f "$("$PG_CONFIG" --pgxs)" ] || fc_die "$PG_CONFIG: no PGXS there"
  [ -x "$("$PG_CONFIG" --bindir)/postgres" ] || fc_die "$PG_CONFIG: no server there"
}

# The distribution's own version, by its package lists.
fc_default_major()
{
  command -v apt-cache >/dev/null || return 0
  apt-cache show postgresql >/dev/null 2>&1 || { fc_say 'asking for the lists of packages' && fc_apt update; }
  apt-cache depends postgresql 2>/dev/null |
    sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1
}

# Installs a server.  Debian's package would make and start a cluster when it is
# first installed, which a setting prevents; but who installs the package later, as
# README.md says, expects one.
fc_server_packages()
{
  local conf=/etc/postgresql-common/createcluster.d/fast_copy.conf
  if [ ! -x "/usr/lib/postgresql/$FC_MAJOR/bin/postgres" ]; then
    fc_packages postgresql-common
    fc_root sh -c "mkdir -p ${conf%/*} && echo create_main_cluster = false >$conf"
  fi
  fc_packages "postgresql-$FC_MAJOR" "postgresql-server-dev-$FC_MAJOR"
  [ -f $conf ] || return 0
  fc_root rm -f $conf
  [ -n "${FC_IN_CHROOT:-}" ] || fc_root env LANG="${LANG:-C.UTF-8}" pg_createcluster "$FC_MAJOR" main >>"$FC_LOG" 2>&1
}

# Makes $FC_TMP, which the trap fc_end removes on exit.
fc_temporary()
{
  [ -z "$FC_TMP" ] || return 0
  FC_TMP=$(mktemp -d "${TMPDIR:-/tmp}/fast_copy.XXXXXX") || exit 1
  trap fc_end EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  mkdir "$FC_TMP/log" && chmod 755 "$FC_TMP"
  FC_LOG=$FC_TMP/log/setup.log
}

# fc_libraries COLUMN [ARCHITECTURE]: prints names of Debian's packages from the list in
# libraries.mk: 4, the libraries that the extension is built with; 6, the tools that
# pack what it unpacks.  ISA-L is for amd64 alone.
fc_libraries()
{
  local without=ISAL
  case ${2:-$(dpkg --print-architecture 2>/dev/null)} in amd64) without=- ;; esac
  sed -n "/^ABOUT_$without /d; s/^ABOUT_[A-Z0-9]* = //p" "$FC_TOP/libraries.mk" | awk -v column="$1" '{ print $column }' | sort -u
}

# Makes $FC_TMP, finds PostgreSQL and the user to run as.  Extra Debian
# packages by argument.
fc_begin()
{
  fc_temporary
  fc_packages gcc make libc6-dev perl $(fc_libraries 4) util-linux procps "$@"
  fc_postgres
  fc_choose_user
  [ -z "$FC_USER" ] || chown -R "$FC_USER" "$FC_TMP"
  FC_STAGE=$FC_TMP/stage
  FC_BIN=$FC_STAGE$("$PG_CONFIG" --bindir)
  FC_TREE=$FC_TMP/tree
}

# The user that servers run as, where root runs the tests
fc_choose_user()
{
  [ "$(id -u)" = 0 ] || return 0
  FC_USER=postgres
  id "$FC_USER" >/dev/null 2>&1 || FC_USER=nobody
}

# Copies the tree and builds it.  Arguments go to make.
fc_build()
{
  fc_copy "$FC_TREE" || return 1
  [ -z "$FC_USER" ] || chown -R "$FC_USER" "$FC_TREE"
  fc_make "$@"
}

# The tree, without what was built in it, as a new directory
fc_copy()
{
  mkdir "$1" &&
    tar -C "$FC_TOP" --exclude=./.git --exclude='*.o' --exclude='*.so' --exclude='*.d' \
      --exclude='*.bc' --exclude=./results --exclude=./tmp_check --exclude=./test/unit/bin -cf - . |
      tar -C "$1" -xf -
}

fc_make()
{
  fc_as make -C "$FC_TREE" -j"$(nproc)" -s PG_CONFIG="$PG_CONFIG" with_llvm=no "$@"
}

# Makes the private installation and puts the extension into it.
fc_install()
{
  fc_stage || return 1
  fc_make install DESTDIR="$FC_STAGE"
}

fc_stage()
{
  local dir name
  for dir in bindir pkglibdir sharedir; do
    name=$FC_STAGE$("$PG_CONFIG" --$dir)
    mkdir -p "$name" || return 1
    if [ $dir = bindir ]; then
      cp -aL "$("$PG_CONFIG" --$dir)/." "$name/" || return 1
    else
      cp -as "$("$PG_CONFIG" --$dir)/." "$name/" || return 1
    fi
    find "$name" -name 'fast_copy*' -prune -exec rm -rf {} +
  done
  # a server of servers.sh has a libpq of its own
  dir=$("$PG_CONFIG" --libdir)
  [[ "$dir" != "$FC_TMP"/* || -n "${FC_PROCESSOR:-}" ]] || ln -sf "$dir"/lib*.so* "$FC_STAGE$dir/" || return 1
  dir=$("$PG_CONFIG" --localedir)
  [ ! -d "$dir" ] || { mkdir -p "$FC_STAGE${dir%/*}" && ln -s "$dir" "$FC_STAGE$dir"; } || return 1
  [ -z "$FC_USER" ] || chown -R "$FC_USER" "$FC_STAGE"
}

# Builds and installs the test modules: parts of the extension that SQL can call
# one by one.  Arguments go to make.
fc_modules()
{
  local dir
  for dir in "$FC_TREE"/test/modules/*; do
    fc_as make -C "$dir" -s PG_CONFIG="$PG_CONFIG" with_llvm=no COPT=-Werror "$@" \
      install DESTDIR="$FC_STAGE" || return 1
  done
}

# Makes installations beside ours, whose fast_copy loses data: tests must notice.
# One does not tell the checkpointer of the files that it writes, and one does not
# log pages again that a checkpoint may have missed.
fc_faults_mutants()
{
  fc_faults_mutant request 's/^\t*fc_register_sync(.*;$/\t\t(void) segment;/' &&
    fc_faults_mutant again 's/^\t*GetRedoRecPtr() >= .*))$/\t\tfalse)/'
}

# fc_faults_mutant NAME SED
fc_faults_mutant()
{
  local dir=$FC_TMP/mutant.$1 source=src/heap/page_file.c
  mkdir "$dir" && cp -a "$FC_TREE" "$dir/tree" && cp -al "$FC_STAGE" "$dir/stage" || return 1
  [ -z "$FC_USER" ] || chown "$FC_USER" "$dir"
  find "$dir/stage" -name 'fast_copy*' -prune -exec rm -rf {} +
  sed -i "$2" "$dir/tree/$source"
  ! cmp -s "$dir/tree/$source" "$FC_TREE/$source" || return 1
  fc_as make -C "$dir/tree" -s PG_CONFIG="$PG_CONFIG" with_llvm=no \
    install DESTDIR="$dir/stage"
}

# fc_faults ARGUMENT...: runs test/faults/rounds on our installation; if we may,
# as root in a mount namespace of its own, so that its mounts go when it ends.
fc_faults()
{
  local dir=$FC_TMP/faults bin=stage${FC_BIN#"$FC_STAGE"} run propagation=private
  # in the system of test/chroot.sh the mounts are private already
  [ -z "${FC_IN_CHROOT:-}" ] || propagation=unchanged
  mkdir "$dir" && chmod 755 "$dir"
  [ -z "$FC_USER" ] || chown "$FC_USER" "$dir"
  run=(perl "$FC_TREE/test/faults/rounds" --bin "$FC_BIN" --dir "$dir"
    --mutant "request=$FC_TMP/mutant.request/$bin" --mutant "again=$FC_TMP/mutant.again/$bin" --user "${FC_USER:-$(id -un)}" "$@")
  if fc_root unshare --mount --propagation $propagation true 2>/dev/null; then
    run=(env FC_MOUNTS=private unshare --mount --propagation $propagation "${run[@]}")
    if [ "$(id -u)" = 0 ]; then "${run[@]}"; else sudo -n "${run[@]}"; fi
  else
    "${run[@]}"
  fi
}

# Makes the cluster and starts it.  Each argument is a line of postgresql.conf.
fc_start()
{
  local line
  fc_server_variables
  mkdir "$PGHOST" "$FC_TMP/files" || return 1
  [ -z "$FC_USER" ] || chown "$FC_USER" "$PGHOST" "$FC_TMP/files"
  fc_initdb "$FC_TMP/data" >>"$FC_LOG" 2>&1 || return 1
  {
    echo "listen_addresses = ''"
    echo "unix_socket_directories = '$PGHOST'"
    for line in "$@"; do echo "$line"; done
  } >>"$FC_TMP/data/postgresql.conf"
  fc_start_again
}

# Makes an empty cluster; where FC_INITDB_KEPT names a directory, as a copy of the one
# there, which the first makes
fc_initdb()
{
  local kept=${FC_INITDB_KEPT:-}
  set -- "$1" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync
  [ -n "$kept" ] || { fc_as initdb -D "$@"; return; }
  (
    flock 9 || exit
    [ -d "$kept/data" ] || { fc_as initdb -D "$kept/new" "${@:2}" && mv "$kept/new" "$kept/data"; }
  ) 9>"$kept/lock" && cp -a "$kept/data" "$1"
}

fc_start_again()
{
  # from where its user may be
  (cd "$FC_TMP" && fc_as pg_ctl -D "$FC_TMP/data" -l "$FC_TMP/log/server.log" -w -s start)
}

fc_server_variables()
{
  export PGHOST=$FC_TMP/socket PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
  unset PGSERVICE PGPASSWORD PGOPTIONS PGDATA PGHOSTADDR
}

# Stops our cluster, and those that an interrupted test has left; but not the
# one whose directory is named.
fc_stop()
{
  local pid
  find "$FC_TMP" -name postmaster.pid 2>/dev/null | while read -r pid; do
    [ "$(dirname "$pid")" = "${1:-}" ] || fc_as pg_ctl -D "$(dirname "$pid")" -m immediate -w -s stop
  done
}

# Notes that a process group is ours to end, whoever does it
fc_group()
{
  mkdir -p "$FC_TMP/groups" && : >"$FC_TMP/groups/$1"
}

# Ends these groups, and waits until nothing of them is left: a test that gets the
# signal first ends its servers and unmounts.
fc_end_groups()
{
  local group tries
  for group in $(ls "$FC_TMP/groups" 2>/dev/null); do
    rm -f "$FC_TMP/groups/$group"
    fc_kill -TERM -- "-$group"
    for tries in {1..100}; do
      ps -e -o pgid=,stat= | grep -qE "^ *$group [^Z]" || continue 2
      sleep 0.1
    done
    fc_kill -KILL -- "-$group"
  done
}

# kill, and again as root, because some processes of a suite may be root's
fc_kill()
{
  kill "$@" 2>/dev/null
  [ "$(id -u)" = 0 ] || fc_root kill "$@" 2>/dev/null
}

fc_psql()
{
  "$FC_BIN/psql" -X -q -v ON_ERROR_STOP=1 "$@"
}

# The trap: stops the cluster and removes all there is, whatever happened.
fc_end()
{
  local rc=$?
  trap - EXIT
  trap '' INT TERM HUP
  [ -n "$FC_TMP" ] || exit $rc
  fc_watch_end
  fc_end_groups
  fc_stop >/dev/null 2>&1
  ! declare -F fc_nodes_end >/dev/null || fc_nodes_end
  if [ -n "${FC_KEEP:-}" ]; then
    echo "kept: $FC_TMP" >&2
  else
    cd / && rm -rf "$FC_TMP"
  fi
  exit $rc
}
