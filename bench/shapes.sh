# The shapes of bench/compare --shapes: types, widths, quotes, partitions and
# options of many kinds, each loaded by COPY and by fast_copy in turn.
#
# Sourced by bench/compare.  fast_copy makes the missing partitions itself; COPY
# finds those that were made before it in its transaction.  Where COPY cannot do
# the same (bad records on PostgreSQL 15), it loads the good records alone.

# A moment of the 30 days, in random order; i is the row's number
MOMENT="timestamp '2024-01-01' + (hashint8(i)::bigint & 2147483647) % 2592000 * interval '1 s'"

# shape NAME COLUMNS VALUES [WORD=VALUE]...: a table's columns after "ts timestamp"
# and what makes those of row i.  The words:
#   by        how the table is partitioned (RANGE (ts))
#   before    statement that makes the partitions, for both
#   made      ... for COPY alone (30 days)
#   fewer     so many times fewer rows
#   copy, call     more options of COPY, more arguments of fast_copy
#   where     COPY's condition
#   stage     expressions over the columns as texts: COPY loads these into a stage, from
#             which INSERT takes the expressions; json: lines are objects, which a stage
#             of jsonb has, and jsonb_populate_record
#   bad       a condition; records of these rows get a field that is no number
#   memory    fast_copy.memory
shapes()
{
  local w wide='' values=''
  for w in {1..40}; do
    wide+="${wide:+, }c$w $( ((w % 4)) && echo int || echo text)"
    values+="${values:+, }$( ((w % 4)) && echo "i % (1000 * $w)" || echo "'word ' || i % $w")"
  done
  shape narrow 'n int' 'i'
  shape types 'a numeric(12,2), b uuid, c boolean, d date, e real, f smallint, g bytea, h timestamptz, j char(10), k varchar(20)' \
    "i % 1000000 / 100.0, md5(i::text)::uuid, i % 2 = 0, date '2020-01-01' + i % 1000, i / 7.0, i % 30000, decode(md5(i::text), 'hex'),
     timestamptz '2020-01-01 00:00+00' + i * interval '1 s', 'c' || i % 1000, 'v' || i" fewer=2
  shape core_types 'a interval, b inet, c int[], d oid' "i * interval '1 s', '10.0.0.1'::inet + i % 100000, ARRAY[i, 2, 3], i::oid" fewer=4
  shape json 'j jsonb' "jsonb_build_object('id', i, 'name', 'n' || i, 'tags', ARRAY['a', 'b'])" fewer=4
  shape wide "$wide" "$values" fewer=10
  shape quoted 'a text, b text, n int' "'he said \"' || i || '\", twice', E'two\\nlines, and a comma', i" copy='FORCE_QUOTE *' fewer=2
  shape nulls 'a int, b text, c float8, d int, e text, f numeric, g date, h int' \
    "CASE WHEN i % 5 = 0 THEN i END, CASE WHEN i % 5 = 1 THEN 'x' || i END, NULL, CASE WHEN i % 7 = 0 THEN i END, NULL, NULL, NULL, i" fewer=2
  shape not_ascii 't text, n int' "'ÄÖÜ äöü straße naïve ' || i, i" fewer=2
  shape long_rows 't text' "repeat(md5(i::text), 128)" fewer=40
  shape toast 't text' "(SELECT string_agg(md5((i * 1000 + k)::text), '') FROM generate_series(1, 400) k)" fewer=200
  shape text_format 'n int, t text' "i, 'row ' || i" copy='FORMAT text'
  shape one_partition 'n int, t text' "i, 'row ' || i" call="partition_interval => '1 year'" \
    made="CREATE TABLE target_2024 PARTITION OF target FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')"
  shape many_partitions 'n int, t text' "i, 'row ' || i" call="partition_interval => '1 hour'" fewer=2 \
    made="DO \$\$ BEGIN FOR i IN 0 .. 719 LOOP EXECUTE format('CREATE TABLE target_%s PARTITION OF target FOR VALUES FROM (%L) TO (%L)', i,
      timestamp '2024-01-01' + i * interval '1 hour', timestamp '2024-01-01' + (i + 1) * interval '1 hour'); END LOOP; END \$\$"
  shape little_memory 'n int, t text' "i, 'row ' || i" memory=4MB
  shape hash 'n int, t text' "i, 'row ' || i" by='HASH (n)' \
    before="DO \$\$ BEGIN FOR i IN 0 .. 7 LOOP EXECUTE format('CREATE TABLE target_%s PARTITION OF target FOR VALUES WITH (MODULUS 8, REMAINDER %s)', i, i); END LOOP; END \$\$"
  shape list 'k text, n int' "'k' || i % 8, i" by='LIST (k)' \
    before="DO \$\$ BEGIN FOR i IN 0 .. 7 LOOP EXECUTE format('CREATE TABLE target_%s PARTITION OF target FOR VALUES IN (%L)', i, 'k' || i); END LOOP; END \$\$"
  shape order_by 'n int, t text' "hashint4(i), 'row ' || i" call="order_by => '{n}'"
  shape arrays 'a int[], b text[], c float8[]' "ARRAY[i, 2, 3], ARRAY['a' || i, 'b c'], ARRAY[i * 0.5, i / 8.0]" fewer=2
  shape long_floats 'a float8, b float8' "sqrt(i::numeric(40, 24)), sqrt(i::numeric(40, 18))" fewer=2
  shape foreign_key 'n int REFERENCES dim, t text' "i % 10000, 'row ' || i" fewer=2 \
    before="$(partitions_sql target 2024-01-01 30)" made=SELECT
  shape where_clause 'n int, t text' "i, 'row ' || i" call="where_clause => 'n % 3 = 0'" where='n % 3 = 0'
  shape on_error 'n int, t text' "i, 'row ' || i" bad='i % 100 = 0' call="on_error => 'ignore', log_verbosity => 'silent'"
  shape reject_table 'n int, t text' "i, 'row ' || i" bad='i % 100 = 0' \
    call="on_error => 'ignore', log_verbosity => 'silent', reject_table => 'rejected'"
  shape latin1 't text, n int' "'ÄÖÜ äöü straße naïve ' || i, i" copy="ENCODING 'LATIN1'" call="encoding => 'LATIN1'" fewer=2
  shape sjis 't text, n int' "'日本語の行 ' || i, i" copy="ENCODING 'SJIS'" call="encoding => 'SJIS'" fewer=2
  shape edits 'a numeric, n int' "replace((i / 100.0)::text, '.', ','), CASE WHEN i % 10 = 0 THEN 'n/a' ELSE i::text END" \
    stage="replace(a, ',', '.')::numeric, nullif(n, 'n/a')::int" \
    call="options => '{\"number_format\": \"1234,56\", \"null_strings\": {\"n\": \"n/a\"}}'"
  shape transform 'a numeric, b boolean, n int' "'\$' || i / 100.0, substr('YN', 1 + i % 2, 1), i || ' kg'" \
    stage="substr(a, 2)::numeric, b = 'Y', split_part(n, ' ', 1)::int" \
    call="options => '{\"transform\": \"a = substr(a, 2)::numeric, b = b = ''Y'', n = split_part(n, '' '', 1)::int\"}'"
  shape ndjson 'id bigint, name text, amount numeric, flag boolean, device text, value int' \
    "i, md5(i::text), (i % 100003) / 100.0, i % 3 = 0, CASE WHEN i % 10 > 0 THEN 'device ' || i % 1000 END, i * 31 % 1000003" stage=json call="format => 'json'"
  shape ndjson_nested 'id bigint, name text, tags text[], attributes jsonb' \
    "i, 'he said \"' || i || '\"', ARRAY['a' || i % 100, 'b'], jsonb_build_object('size', i % 1000, 'colour', 'c' || i % 7, 'place', ARRAY[i, i + 1])" \
    stage=json call="format => 'json'" fewer=2
  shape huge_field 't text' "repeat('x \"y\", ', $((ROWS * 50)))" fewer="$ROWS"
}

# All shapes, of ROWS rows each, and a table of what each took
all_shapes()
{
  SHAPES=$OUT/shapes-$WAL.tsv
  printf 'shape\trows\tMB\tCOPY s\tfast_copy s\tCOPY / fast_copy\trows and sums\n' >"$SHAPES"
  printf '\n  %-16s %9s %6s %8s %11s %7s  %s\n' shape rows MB 'COPY s' 'fast_copy s' times 'rows and sums'
  shapes
}

shape()
{
  local -A S=([by]='RANGE (ts)' [before]= [made]= [fewer]=1 [copy]= [call]= [where]= [stage]= [bad]= [memory]="$MEMORY")
  local name=$1 columns=$2 values=$3 file=$FC_TMP/files/shape.csv good round who n
  while [ $# -gt 3 ]; do S[${4%%=*}]=${4#*=}; set -- "$1" "$2" "$3" "${@:5}"; done
  [ "${S[stage]}" != json ] || S[copy]="FORMAT csv, QUOTE e'\\x01', DELIMITER e'\\x02'"
  [[ "${S[by]}" != RANGE* || -n "${S[made]}" ]] || S[made]=$(partitions_sql target 2024-01-01 30)
  n=$((ROWS / S[fewer]))
  good=$file
  shape_file "$file" "$values" "$n" true
  [ -z "${S[bad]}" ] || { good=$file.good; shape_file "$good" "$values" "$n" "NOT (${S[bad]})"; shape_spoil "$file"; }
  : >"$FC_TMP/shape"
  for round in $(seq "$ROUNDS"); do
    for who in $( ((round % 2)) && echo copy fast_copy || echo fast_copy copy); do
      shape_load "$who" >>"$FC_TMP/shape" || { echo "$who of $name failed: $(cat "$FC_TMP/log/error")" >&2; FAILED=1; return; }
    done
  done
  shape_report "$name" "$n" "$(du -m "$file" | cut -f1)"
  rm -f "$file" "$file.good"
}

shape_file()
{
  local options=${S[copy]} query="SELECT $MOMENT, $2 FROM generate_series(1, $3) i WHERE $4"
  [ "${S[stage]}" != json ] || query="SELECT row_to_json(r) FROM ($query) AS r (ts, $(sed -E 's/([a-z]+) [^,]+/\1/g' <<<"$columns"))"
  [[ "$options" == *FORMAT* ]] || options="FORMAT csv${options:+, $options}"
  fc_psql -o /dev/null -c "COPY ($query) TO '$1' WITH ($options)" || fc_die 'could not make the file'
}

# Each hundredth record gets a number that is none
shape_spoil()
{
  awk -F, -v OFS=, 'NR % 100 == 0 { $2 = "bad" } { print }' "$1" >"$1.bad" && mv "$1.bad" "$1" && own "$1"
}

# Prints who, the seconds, and what was loaded
shape_load()
{
  local start end sums
  {
    echo 'SET client_min_messages = warning; DROP TABLE IF EXISTS target, rejected;'
    [[ "$columns" != *dim* ]] || echo 'DROP TABLE IF EXISTS dim; CREATE TABLE dim AS SELECT generate_series(0, 9999) AS id; ALTER TABLE dim ADD PRIMARY KEY (id);'
    echo "CREATE TABLE target (ts timestamp, $columns) PARTITION BY ${S[by]}; ${S[before]:-SELECT};"
    [[ "${S[call]}" != *rejected* ]] || echo "SELECT fast_copy_create_reject_table('rejected');"
    echo 'CHECKPOINT;'
  } | fc_psql -o /dev/null -f - 2>"$FC_TMP/log/error" || return 1
  start=$EPOCHREALTIME
  shape_statements "$1" | pg_run || return 1
  end=$EPOCHREALTIME
  sums=$(value 'SELECT count(*), sum(hash_record_extended(target.*, 0)) FROM target' 2>"$FC_TMP/log/error") || return 1
  printf '%s %s %s\n' "$1" "$(awk -v a="$start" -v b="$end" 'BEGIN { printf "%.4f", b - a }')" "$sums"
}

shape_statements()
{
  if [ "$1" = copy ]; then
    echo "${S[made]:-SELECT};"
    [ -z "${S[stage]}" ] || { shape_stage; return; }
    echo "COPY target FROM '$good' WITH ($(shape_read))${S[where]:+ WHERE ${S[where]}};"
  else
    echo "SET LOCAL fast_copy.memory = '${S[memory]}';"
    echo "SELECT fast_copy('target', '$file', workers => $WORKERS$([[ "${S[copy]}" != *text* ]] || echo ", format => 'text'")${S[call]:+, ${S[call]}});"
  fi
}

shape_stage()
{
  if [ "${S[stage]}" = json ]; then
    echo "CREATE UNLOGGED TABLE stage (line jsonb); COPY stage FROM '$good' WITH ($(shape_read));"
    echo 'INSERT INTO target SELECT r.* FROM stage, jsonb_populate_record(NULL::target, line) AS r; DROP TABLE stage;'
    return
  fi
  echo "CREATE UNLOGGED TABLE stage (ts text, $(sed -E 's/([a-z]+) [a-z0-9]+/\1 text/g' <<<"$columns"));"
  echo "COPY stage FROM '$good' WITH ($(shape_read));"
  echo "INSERT INTO target SELECT ts::timestamp, ${S[stage]} FROM stage; DROP TABLE stage;"
}

# The options of the COPY that reads what shape_file has written
shape_read()
{
  case ${S[copy]} in
    *FORMAT*) echo "${S[copy]}" ;;
    ENCODING*) echo "FORMAT csv, ${S[copy]}" ;;
    *) echo 'FORMAT csv' ;;
  esac
}

# A line for the shape, of its medians
shape_report()
{
  local copy fast same=same
  copy=$(awk '$1 == "copy" { print $2 }' "$FC_TMP/shape" | median)
  fast=$(awk '$1 == "fast_copy" { print $2 }' "$FC_TMP/shape" | median)
  [ "$(cut -d' ' -f3 "$FC_TMP/shape" | sort -u | wc -l)" = 1 ] || { same=DIFFERS; FAILED=1; }
  printf '  %-16s %9s %6s %8.2f %11.2f %7s  %s\n' "$1" "$2" "$3" "$copy" "$fast" "$(ratio "$copy" "$fast")" "$same"
  printf '%s\t' "$1" "$2" "$3" "$copy" "$fast" "$(ratio "$copy" "$fast")" >>"$SHAPES"
  echo "$same" >>"$SHAPES"
}
