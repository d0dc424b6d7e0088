# Which suites could see what differs from a revision.
#
# Sourced by test/run.  Each room of src is above those that know it (src/README):
# what is deep below a server and its loads is seen by all of their tests, and what
# stands at their edge by some.  What is not listed here is seen by all suites.

# What loads files, in whatever way
FC_SINCE_LOADS='unit regress pgtap differential fuzz external accelerate docs tap hostile clients versions cost'

# fc_since REV: prints the suites, in the order of SUITES
fc_since()
{
  local changed suite path found=
  changed=$(git -C "$FC_TOP" diff --name-only "$1" -- && git -C "$FC_TOP" ls-files --others --exclude-standard) || fc_die "no revision $1"
  while read -r path; do
    [ -z "$path" ] || found+=" $(fc_since_of "$path")"
  done <<<"$changed"
  for suite in $SUITES; do
    [[ " $found " != *" $suite "* ]] || echo "$suite"
  done
}

# fc_since_of PATH: the suites that could see a file
fc_since_of()
{
  case $1 in
    # tests themselves
    sql/*.sql | expected/* | test/modules/*) echo style regress ;;
    test/pgtap/*) echo style pgtap ;;
    test/t/FastCopy.pm | test/t/*.pm) echo style tap hostile clients versions ;;
    test/t/*) echo style tap ;;
    test/hostile/*) echo style hostile ;;
    test/unit/*) echo style unit ;;
    test/fixtures* | test/differential*) echo style unit differential ;;
    test/fuzz/libfuzzer/*) echo style unit libfuzzer ;;
    test/fuzz/convert/* | test/fuzz/run-convert) echo style convert libfuzzer ;;
    test/fuzz/*) echo style fuzz ;;
    test/docs/* | docs/* | README.md | SECURITY.md | CONTRIBUTING.md | mkdocs.yml) echo style docs package ;;
    debian/* | packaging/extension.Dockerfile) echo style package debian ;;
    test/debian) echo style debian ;;
    CHANGELOG.md | LICENSE | META.json | packaging/*) echo style package ;;
    test/package | test/release* | test/extension.pl) echo style package ;;
    bench/*.md) echo style ;;
    bench/* | test/bench) echo style bench ;;
    test/external/*) echo style external accelerate ;;
    test/accelerate/*) echo style accelerate ;;
    test/clients/*) echo style clients ;;
    test/versions/* | test/node | test/nodes.sh) echo style versions ;;
    test/valgrind*) echo style valgrind ;;
    test/faults/*) echo style faults ;;
    test/mutants/*) echo style mutants ;;
    test/cost/*) echo style cost ;;
    .github/* | .ci/* | .gitignore | .gitattributes | .editorconfig | .git-blame-ignore-revs | test/matrix | test/quick | test/coverage* | test/rooms.pl | test/counted.pl | test/report | test/results/* | test/indent) echo style ;;
    src/README) echo style ;;

    # rooms
    src/sniff/*) echo style regress pgtap external docs hostile ;;
    src/help.c | src/options/help*) echo style regress pgtap docs package ;;
    src/grammar/*) echo style libfuzzer $FC_SINCE_LOADS valgrind ;;
    src/convert/*) echo style libfuzzer convert $FC_SINCE_LOADS valgrind ;;
    src/rejects/* | src/errors/*) echo style $FC_SINCE_LOADS valgrind ;;
    src/report/*) echo style unit regress pgtap docs tap hostile external bench ;;
    src/elsewhere/* | cluster/*) echo style regress pgtap docs tap hostile clients versions bench package ;;
    src/accelerate.c | src/copy_statement.c) echo style regress pgtap fuzz external accelerate docs tap hostile clients ;;
    src/analyze.c) echo style regress pgtap docs tap hostile ;;

    # what all loads go through, the scripts of the extension, makefiles, this
    *) echo $SUITES ;;
  esac
}
