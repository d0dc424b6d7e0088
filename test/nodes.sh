# Servers of other versions than the one that is tested, for the suite versions.
#
# Sourced by test/run after lib.sh and chroot.sh.  Each server is a test/node, of
# this system or in one of chroot.sh.  All of them read from one pipe, which we
# hold open: they end when we do.  Their directories are beside $FC_TMP, because
# they belong to other users, and the processes in a system are not those that
# have their numbers here.
#
# Settings:  FC_NODE_VERSIONS  the versions (default: those of 15, 17, 18 and 19
#                              that are here, or have a system already)
#            FC_NODES          the file with their lines, if they run already

FC_NODES=${FC_NODES:-}
FC_NODES_DIR=
FC_NODES_PIPE=
FC_NODES_PIDS=()

# Starts them, and sets FC_NODES.  Without any that is not set.
fc_nodes_begin()
{
  local version log
  [ -z "$FC_NODES" ] && [ -z "${FC_IN_CHROOT:-}" ] || return 0
  FC_NODES_DIR=$(mktemp -d "${TMPDIR:-/tmp}/fast_copy.nodes.XXXXXX") || return
  chmod 755 "$FC_NODES_DIR"
  mkfifo "$FC_NODES_DIR/pipe" && exec {FC_NODES_PIPE}<>"$FC_NODES_DIR/pipe" || return
  for version in $(fc_nodes_versions); do
    mkdir -m 1777 "$FC_NODES_DIR/$version"
    fc_nodes_start "$version" "$FC_NODES_DIR/$version" &
    FC_NODES_PIDS+=($!)
  done
  fc_nodes_wait
}

# The versions but our own
fc_nodes_versions()
{
  local version cache=${FC_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/fast_copy}
  for version in ${FC_NODE_VERSIONS:-15 17 18 19}; do
    [ "$version" != "$FC_MAJOR" ] || continue
    [ -n "${FC_NODE_VERSIONS:-}" ] || [ -x "/usr/lib/postgresql/$version/bin/postgres" ] ||
      [ -f "$cache/pg$version/etc/fast_copy" ] || continue
    echo "$version"
  done
}

# fc_nodes_start VERSION DIRECTORY: in the place of this process
fc_nodes_start()
{
  local pipe=$FC_NODES_PIPE
  exec <"$FC_NODES_DIR/pipe" >"$2/log" 2>&1 {pipe}>&-
  FC_MAJOR=$1
  if fc_is_here "$1"; then
    TMPDIR=$2 exec "$FC_TOP/test/node" "$1" "$2/line"
  fi
  fc_chroot_ready && fc_chroot_enter "$2" /mnt/test/node "$1" /tmp/line
}

# Waits until each is there or has failed, and gathers the lines.
fc_nodes_wait()
{
  local i=0 version
  for version in $(fc_nodes_versions); do
    while [ ! -s "$FC_NODES_DIR/$version/line" ] && fc_kill -0 "${FC_NODES_PIDS[i]}"; do sleep 0.1; done
    [ -s "$FC_NODES_DIR/$version/line" ] || fc_nodes_miss "$version"
    i=$((i + 1))
  done
  (umask 077 && cat "$FC_NODES_DIR"/*/line >"$FC_NODES_DIR/lines" 2>/dev/null)
  [ ! -s "$FC_NODES_DIR/lines" ] || FC_NODES=$FC_NODES_DIR/lines
}

fc_nodes_miss()
{
  sed "s/^/node of $1: /" "$FC_NODES_DIR/$1/log" >&2
  echo "*** versions: A NODE OF $1 IS NOT TESTED, it cannot be had here" >&2
}

# Ends them.  A cluster stops when its pipe does; what does not is killed.
fc_nodes_end()
{
  local tries pid
  [ -n "$FC_NODES_DIR" ] || return 0
  # a line each, in case somebody that we have started holds the pipe open
  for pid in "${FC_NODES_PIDS[@]}"; do echo >&$FC_NODES_PIPE; done
  [ -z "$FC_NODES_PIPE" ] || exec {FC_NODES_PIPE}>&-
  for pid in "${FC_NODES_PIDS[@]}"; do
    for tries in {1..100}; do
      fc_kill -0 "$pid" || continue 2
      sleep 0.1
    done
    fc_kill -KILL "$pid"
  done
  [ -n "${FC_KEEP:-}" ] && echo "kept: $FC_NODES_DIR" >&2 || fc_root rm -rf "$FC_NODES_DIR"
}
