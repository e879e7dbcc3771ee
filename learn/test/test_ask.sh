#!/bin/sh
# test_ask.sh BUILD PAGE...: the questions of the guide's pages. An answer that nobody would give is not right; the one that the command computes is;
# and the shape of another seed has another answer.
set -u
cd "$(dirname "$0")/../.." || exit 99
out=$(mktemp) || exit 99
trap 'rm -f "$out"' EXIT
meson devenv -C "$1" --dump >"$out" || exit 99
# shellcheck disable=SC1090 # the programs of the build in PATH
. "$out"
shift
bad=0

# ask STATUS PAGE SEED ANSWER
ask() {
  status=$1 page=$2 seed=$3 answer=$4
  tandem-learn ask "$page" --seed "$seed" --answer "$answer" >"$out" 2>&1
  got=$?
  number=$(sed -n 's/^its answer: //p' "$out")
  [ $got -eq "$status" ] && [ -n "$number" ] && return 0
  echo "ask $page --seed $seed --answer $answer: exit $got, must be $status; it said:"
  cat "$out"
  bad=$((bad + 1))
}

for page; do
  ask 1 "$page" 1 1234567890
  first=$number
  if ask 1 "$page" 2 "$first"; then ask 0 "$page" 2 "$number"; fi
  grep -q "tandem-learn ask $(echo "${page%%-*}" | sed s/^0//)" "docs/guide/$page.md" || {
    echo "docs/guide/$page.md: must ask its reader with tandem-learn ask ${page%%-*}"
    bad=$((bad + 1))
  }
done
echo "$# questions, $bad mistakes"
[ $bad -eq 0 ]
