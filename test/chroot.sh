# Runs the tests in a system of another distribution's suite, for a PostgreSQL
# that the machine's own distribution does not have.
#
# Sourced by test/run after lib.sh.  fc_chroot_find asks the machine's own
# mirror which of the suites has the version (by apt, with its keyring, in a
# state directory of ours).  fc_chroot_make builds a minimal system of that
# suite once and keeps it.  fc_chroot_run runs test/run in it, which installs
# what it needs there, as on any machine; test/nodes.sh starts servers in it.
#
# All mounts are made in a mount namespace of their own, and all processes run
# in a process namespace.  So none of them is left however they end, by a signal
# or because the power fails, and the rest of the machine never sees one.  The
# tree is mounted read-only, and /tmp is a directory below $FC_TMP, which the
# caller removes.
#
# Settings:  FC_CACHE   where the systems are kept (default: fast_copy below
#                       $XDG_CACHE_HOME, or ~/.cache)
#            FC_SUITES  the suites to look into, the first that has it wins
#
# Debian's experimental is no whole system: what it has is installed into one of
# unstable, PostgreSQL and its extensions alone.
#
# A version that cannot be had is no failure of the tests, but no success
# either: these functions then print why, and return 77.

FC_NOT_HERE=77
FC_SUITES=${FC_SUITES:-oldstable stable testing unstable experimental}

# Says loudly why a version is not tested.
fc_not_here()
{
  printf '%s\n' \
    "*********************************************************************" \
    "*** PostgreSQL $FC_MAJOR IS NOT TESTED: $*" \
    "*********************************************************************" >&2
  return $FC_NOT_HERE
}

# Is the version to be tested on this system itself?
fc_is_here()
{
  [ -z "${FC_IN_CHROOT:-}" ] || return 0
  [ ! -x "/usr/lib/postgresql/$1/bin/postgres" ] || return 0
  [ "$(fc_default_major)" = "$1" ]
}

# Runs the tests in a system for the version.  That is in the background, because
# bash runs a trap only when no command is in the foreground.
fc_chroot_run()
{
  local child rc
  fc_chroot_ready || return
  echo "PostgreSQL $FC_MAJOR: in $FC_ROOT, $(cat "$FC_ROOT/etc/fast_copy")"
  mkdir -m 1777 "$FC_TMP/tmp"
  if [ -n "${FC_NODES:-}" ]; then
    cp "$FC_NODES" "$FC_TMP/tmp/nodes" && FC_NODES=/tmp/nodes
  fi
  set -m
  fc_chroot_enter "$FC_TMP/tmp" /mnt/test/run --pg "$FC_MAJOR" "$@" </dev/null &
  child=$!
  set +m
  fc_group $child
  fc_watch fc_end
  wait $child
  rc=$?
  rm "$FC_TMP/groups/$child"
  return $rc
}

# Sets FC_ROOT, a system for the version, which is made if it is not there: the one
# that tests run in, or another that was made in the same way and has a name of its own.
fc_chroot_ready()
{
  FC_CACHE=${FC_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/fast_copy}
  FC_ROOT=$FC_CACHE/${1:-pg}$FC_MAJOR
  fc_chroot_check || return
  [ -f "$FC_ROOT/etc/fast_copy" ] || fc_chroot_locked
}

# May we make namespaces and mount?
fc_chroot_check()
{
  command -v apt-get >/dev/null || fc_not_here "its system is made by apt, and there is none" || return
  fc_root true 2>/dev/null || fc_not_here "a system for it is made and entered by root only" || return
  fc_root unshare --mount --pid --fork mount -t proc proc /proc 2>/dev/null ||
    fc_not_here "no permission to mount" || return
}

# Makes the system, unless it is there; other runs that want it wait.
fc_chroot_locked()
{
  local rc
  fc_root mkdir -p "$FC_CACHE" || return
  fc_root touch "$FC_ROOT.lock" && fc_root chmod 666 "$FC_ROOT.lock"
  exec 9>"$FC_ROOT.lock"
  flock 9
  [ -f "$FC_ROOT/etc/fast_copy" ] || { fc_chroot_find && fc_chroot_make; }
  rc=$?
  exec 9>&-
  return $rc
}

# Sets FC_MIRROR, FC_KEYS, FC_SUITE, and FC_BASE, the suite of the system itself.
fc_chroot_find()
{
  local suite
  fc_mirror || return
  mkdir -p "$FC_TMP"/apt/{lists,cache,parts}
  for suite in $FC_SUITES; do
    echo "deb [signed-by=$FC_KEYS] $FC_MIRROR $suite main"
  done >"$FC_TMP/apt/sources.list"
  fc_look update >"$FC_LOG" 2>&1 ||
    fc_not_here "the mirror gave no package lists: $(tail -n 3 "$FC_LOG")" || return
  FC_SUITE=$(printf '%s\n' $FC_SUITES | grep -m 1 -xF "$(fc_look madison "postgresql-server-dev-$FC_MAJOR" |
    sed -n 's,.* \([^ /]*\)/main .*,\1,p')")
  [ -n "$FC_SUITE" ] ||
    fc_not_here "no package of it in ${FC_SUITES// /, }" || return
  FC_BASE=unstable
  [ "$FC_SUITE" != experimental ] || return 0
  FC_SUITE=$(sed -n 's/^Codename: *//p' "$FC_TMP"/apt/lists/*_dists_"${FC_SUITE}"_*Release | head -n 1)
  FC_BASE=$FC_SUITE
}

# apt with lists of our own
fc_look()
{
  local tool=${FC_LOOK_TOOL:-apt-cache}
  [ "$1" != update ] || tool=apt-get
  $tool -q -o Dir::Etc::SourceList="$FC_TMP/apt/sources.list" -o Dir::Etc::SourceParts="$FC_TMP/apt/parts" \
    -o Dir::State::Lists="$FC_TMP/apt/lists" -o Dir::Cache="$FC_TMP/apt/cache" -o APT::Sandbox::User= \
    -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false \
    -o APT::Update::Error-Mode=any "$@"
}

# The mirror and the keyring that the machine has for its own distribution
fc_mirror()
{
  local line file
  line=$(apt-get indextargets 'Created-By: Packages' --format '$(RELEASE) $(REPO_URI) $(SOURCESENTRY)' 2>/dev/null |
    grep "^$(. /etc/os-release && echo "${VERSION_CODENAME:-}") " | head -n 1)
  [ -n "$line" ] || fc_not_here "apt's sources name no mirror of this machine's distribution" || return
  read -r _ FC_MIRROR file <<<"$line"
  FC_KEYS=$(sed -n -e 's/^[Ss]igned-[Bb]y: *//p' -e 's/.*signed-by=\([^] ]*\).*/\1/p' "${file%:*}" 2>/dev/null | head -n 1)
  [ -f "$FC_KEYS" ] || FC_KEYS=/usr/share/keyrings/debian-archive-keyring.gpg
  [ -f "$FC_KEYS" ] || fc_not_here "no keyring for its packages: $FC_KEYS" || return
}

# Makes the system under another name and renames it, so that a system which has
# its name is whole.
fc_chroot_make()
{
  local new=$FC_ROOT.new start=$SECONDS
  echo "PostgreSQL $FC_MAJOR: making a system of $FC_SUITE in $FC_ROOT"
  fc_packages debootstrap
  fc_root rm -rf --one-file-system "$new" "$FC_ROOT" || return
  if ! fc_debootstrap "$new" >>"$FC_LOG" 2>&1; then
    tail -n 20 "$FC_LOG" >&2
    fc_root rm -rf --one-file-system "$new"
    return 1
  fi
  fc_settings "$new" && fc_root mv "$new" "$FC_ROOT" &&
    echo "PostgreSQL $FC_MAJOR: made in $((SECONDS - start)) s"
}

fc_debootstrap()
{
  local script=/usr/share/debootstrap/scripts/$FC_BASE proxy
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
  proxy=$(apt-config dump --format '%v%n' Acquire::http::Proxy)
  fc_root env ${proxy:+http_proxy="$proxy"} unshare --mount --pid --fork --kill-child \
    debootstrap --variant=minbase --keyring="$FC_KEYS" --include=ca-certificates \
    "$FC_BASE" "$1" "$FC_MIRROR" "$script"
}

# Settings of the new system: no service starts in it, no package waits for the
# disk, and apt takes the machine's proxy.  The last file says that it is whole.
fc_settings()
{
  {
    apt-config dump | grep -E '^Acquire::(https?::Proxy|Check-Valid-Until|Retries) '
    echo 'Acquire::Languages "none";'
    echo 'APT::Sandbox::User "";'
  } | fc_root tee "$1/etc/apt/apt.conf.d/01machine" >/dev/null &&
    printf "deb $FC_MIRROR %s main\n" $(printf '%s\n' "$FC_BASE" "$FC_SUITE" | uniq) |
    fc_root tee "$1/etc/apt/sources.list" >/dev/null && fc_prefer "$1" &&
    echo force-unsafe-io | fc_root tee "$1/etc/dpkg/dpkg.cfg.d/unsafe-io" >/dev/null &&
    printf '#!/bin/sh\nexit 101\n' | fc_root tee "$1/usr/sbin/policy-rc.d" >/dev/null &&
    fc_root chmod 755 "$1/usr/sbin/policy-rc.d" &&
    fc_root sh -c 'rm -f "$1"/var/cache/apt/archives/*.deb' sh "$1" &&
    echo "$FC_SUITE" | fc_root tee "$1/etc/fast_copy" >/dev/null
}

# Takes PostgreSQL and its extensions from the suite that has the version, where
# the rest comes from another one.
fc_prefer()
{
  [ "$FC_SUITE" != "$FC_BASE" ] || return 0
  printf '%s\n' "Package: src:postgresql-$FC_MAJOR postgresql-$FC_MAJOR-*" \
    "Pin: release a=$FC_SUITE" "Pin-Priority: 990" |
    fc_root tee "$1/etc/apt/preferences.d/postgresql" >/dev/null
}

# fc_root, but in place of the shell: who kills its process kills the command
fc_exec()
{
  [ "$(id -u)" != 0 ] || exec "$@"
  exec sudo -n "$@"
}

# fc_chroot_enter TMP COMMAND...: becomes the command in the system, with the
# tree in /mnt and TMP as /tmp.  When unshare is killed, so is all that runs in
# it.
fc_chroot_enter()
{
  local tmp=$1 names=() name
  shift
  for name in FC_KEEP FC_PART FC_JOBS FC_SEED FC_ALL FC_BEGUN FC_TAP_FILES FC_HOSTILE_FILES FC_PGTAP_FILES FC_FIXTURES FC_DOCS FC_ACCELERATE FC_FUZZ_SEED FC_FUZZ_CASES FC_NODES CI TERM http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || names+=("$name=${!name}")
  done
  fc_exec env --default-signal=INT unshare --mount --propagation private --pid --fork --kill-child \
    bash -c '
      root=$1 tree=$2 tmp=$3
      shift 3
      mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
        mount --bind "$tmp" "$root/tmp" && mount --bind "$tree" "$root/mnt" &&
        mount -o remount,bind,ro "$root/mnt" || exit 77
      cat /etc/resolv.conf >"$root/etc/resolv.conf" 2>/dev/null
      cat /etc/hosts >"$root/etc/hosts" 2>/dev/null
      exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root FC_IN_CHROOT=1 "$@"' \
    enter "$FC_ROOT" "$FC_TOP" "$tmp" "${names[@]}" bash "$@"
}
