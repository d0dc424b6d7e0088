# What has to end if a script is killed, and cannot end it by itself.
#
# Sourced by test/lib.sh and test/matrix.

# fc_watch COMMAND...: runs the command when this shell has been killed.  A process
# in a group of its own waits until it has another parent; it knows the variables as
# they are now.
fc_watch()
{
  local parent=$BASHPID
  set -m
  {
    trap - EXIT
    trap '' INT TERM HUP
    while read -r _ _ _ up _ </proc/self/stat && [ "$up" = "$parent" ]; do sleep 0.5; done
    "$@"
  } </dev/null >/dev/null 2>&1 &
  FC_WATCHER=$!
  disown
  set +m
}

# Ends that: the shell does by itself what there is to do
fc_watch_end()
{
  [ -z "${FC_WATCHER:-}" ] || [ "$FC_WATCHER" = "$BASHPID" ] || kill -KILL -- "-$FC_WATCHER" 2>/dev/null
  FC_WATCHER=
}
