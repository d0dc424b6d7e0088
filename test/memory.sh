# Has the first run of test/matrix keep its files in memory, where there is room.
# Sourced by .ci/run and .ci/nightly.

room=$(df --output=avail -B1M /dev/shm 2>/dev/null | tail -n 1)
free=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo 2>/dev/null)
if [ "${room:-0}" -ge 8192 ] && [ "${free:-0}" -ge 16384 ] && ! findmnt -n -o OPTIONS -T /dev/shm | grep -q noexec; then
  export FC_FIRST_TMPDIR=/dev/shm
fi
