# What psql says to each statement in a directory; see clients.pl.  All is one
# script, whose data come from it, from a file by \copy, or the server's file.

cd "$1" || exit

# say NAME: the next lines are about it
say() { printf '\\echo == %s\n' "$1"; }

# After each, which data it has brought
taken() { echo 'SELECT taken();'; }

script()
{
  local path name sql
  printf '%s\n' '\set QUIET off' '\set VERBOSITY verbose' '\set ON_ERROR_STOP off'
  for path in *.sql; do
    name=${path%.sql} sql=$(<"$path")
    if [ ! -e "$name.data" ]; then
      say "$name"
      echo "$sql;"
      taken
      continue
    fi
    say "$name, from a file"
    printf '\\%s\n' "$(sed "s/^COPY/copy/; s/FROM STDIN/from '$name.data'/" <<<"$sql")"
    taken
    [ "$name" = "${name#binary}" ] || continue
    say "$name, inline"
    echo "$sql;"
    cat "$name.data"
    echo '\.'
    taken
  done
  say 'in a transaction'
  printf '%s\n' 'BEGIN;' "\\copy d from 'csv.data' csv header" 'SAVEPOINT s;' \
    "\\copy d from 'csv_bad.data' csv header" 'ROLLBACK TO s;' "\\copy d from 'csv.data' csv header" 'COMMIT;'
  taken
}

printf 'driver\t%s\t\n' "$(psql --version)"
{
  script | psql -X -A -t -f -
  echo '== a client that cannot read'
  psql -X -v VERBOSITY=verbose -c 'COPY d FROM STDIN' </
} 2>&1 | sed '/LOCATION: /d; s/^psql:<stdin>:[0-9]*: //' |
  awk '/^== / { printf "%s%s\t", sep, substr($0, 4); sep = "\n"; next } { printf "%s|", $0 } END { print "" }'
