#!/bin/sh
# sim/ahead.sh: with a stand-in for gfxsim whose clocks are known, and with gfxsim itself.
# Usage: ahead.sh GFXSIM GEMM.hsaco
set -eu
gfxsim=$1 gemm=$2
root=$(cd "$(dirname "$0")/../../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "ahead test: $*" >&2
  cat "$folder/text" "$folder/error" 2>/dev/null
  exit 1
}
# ahead STATUS WORDS ARGUMENT...
ahead() {
  want=$1 words=$2 got=0
  shift 2
  sh "$root/sim/ahead.sh" "$@" >"$folder/text" 2>"$folder/error" || got=$?
  [ $got -eq "$want" ] || fail "status $got, not $want: $*"
  cat "$folder/text" "$folder/error" | grep -q -- "$words" || fail "no '$words': $*"
}

# ---- Clocks that follow from the numbers: base, and slope for each clock of `launch` above 100 ----
mkdir -p "$folder/build/sim"
stand_in=$folder/build/sim/gfxsim
cat >"$stand_in" <<'SCRIPT'
#!/bin/sh
if [ "$2" = --parameters ]; then
  echo 'parameter  gfx942 gfx950 unit           source'
  echo 'launch         50    101 clocks  fitted no row'
  echo 'issue           4      4 clocks  source a text that says fitted nothing'
  echo 'frequency_x   0.5    0.5 of it   fitted no row'
  exit
fi
shift
launch=101 base=$1 slope=$2 json=''
while [ $# -gt 0 ]; do
  case $1 in
    --model) case $2 in launch=*) launch=${2#launch=} ;; esac ;;
    --json) json=$2 ;;
    --nothing) exit 1 ;;
    --empty) base='' ;;
  esac
  shift
done
[ -n "$base" ] || { echo '{}' >"$json"; exit; }
printf '{\n "chip": "%s",\n "loop": {\n  "clocks": 7.5\n },\n "clocks": %d,\n' "${CHIP:-gfx950}" $((base + slope * launch)) >"$json"
printf ' "microseconds": 2.5,\n "waves": [{"clocks": 9}]\n}\n' >>"$json"
SCRIPT
chmod +x "$stand_in"
set -- --build "$folder/build" --error 5
ahead 0 'A is ahead by more than 5 % in all of them' "$@" "$stand_in time 1000 1" "$stand_in time 2000 1"
ahead 0 'B is ahead by more than 5 % in all of them' "$@" "$stand_in time 2000 1" "$stand_in time 1000 1"
# 101 moves to 80 and to 122: whole, and by 20 % at least.
grep -Eq '^launch +101 +80 +2080 +1080 +0.519 +B$' "$folder/text" || fail 'no row of launch = 80'
grep -Eq '^launch +101 +122 +2122 +1122 ' "$folder/text" || fail 'no row of launch = 122'
grep -Eq '^frequency_x +0.5 +0.6 ' "$folder/text" || fail 'no row of frequency_x = 0.6'
[ "$(grep -c 'issue' "$folder/text")" -eq 0 ] || fail 'a number with a source moved'
CHIP=gfx942 ahead 0 'B is ahead' "$@" "$stand_in time 2000 1" "$stand_in time 1000 1"
grep -Eq '^launch +50 +60 ' "$folder/text" || fail 'no number of gfx942'
ahead 1 'No difference: 5 % or less by the model itself' "$@" "$stand_in time 1000 1" "$stand_in time 1040 1"
# 1404 against 1500, but 1488 against 1500 where launch is 122.
ahead 1 'A is ahead by more than 5 % by the model itself, but not with launch = 122' "$@" \
  "$stand_in time 1000 4" "$stand_in time 1500 0"
ahead 0 'in all of them' "$@" --by 10 --jobs 2 "$stand_in time 900 4" "$stand_in time 1500 0"
grep -Eq '^launch +101 +90 ' "$folder/text" || fail '--by 10 does not move it to 90'
ahead 1 '0 % or less\|5 % or less' "$@" --figure microseconds "$stand_in time 1000 1" "$stand_in time 2000 1"
ahead 2 'fails' "$@" "$stand_in time 1 1 --nothing" "$stand_in time 1 1"
ahead 2 'writes no chip' "$@" "$stand_in time 1 1 --empty" "$stand_in time 1 1"
ahead 2 'needs two commands' "$@" a
ahead 2 'a third command' "$@" a b c
ahead 2 'must be clocks or microseconds' "$@" --figure tflops a b
ahead 2 'must be a number' "$@" --by x a b
ahead 2 'has no sim/gfxsim' --build "$folder" a b

# ---- Every fitted number of gfxsim changes, and it takes no other ----
first="$gfxsim time $gemm --grid 2 --block 256 --arg zeros:1048576 --arg zeros:1048576 --arg zeros:262144 --arg 256"
build=$(dirname "$(dirname "$gfxsim")")
ahead 0 'A is ahead by more than [0-9.]* % in all of them' --build "$build" "$first --arg 128" "$first --arg 512"
fitted=$("$gfxsim" time --parameters | sed 1d | grep -c ' fitted ')
rows=$(awk '$6 > 0 && $7 ~ /^(A|B|none)$/' "$folder/text" | wc -l)
[ "$rows" -eq $((2 * fitted + 1)) ] || fail "$rows rows: not every number of $fitted moved twice"
clocks=$(awk '$1 == "launch" { print $4 }' "$folder/text" | sort -u | wc -l)
[ "$clocks" -eq 2 ] || fail 'a launch takes as long with another number'
refused() { # WORDS OPTION...
  words=$1
  shift
  if $first --arg 128 "$@" >"$folder/text" 2>"$folder/error"; then fail "accepted: $*"; fi
  grep -q -- "$words" "$folder/error" || fail "no '$words': $*"
}
refused "must be NAME=VALUE with a fitted number" --model issue=5
refused "must be NAME=VALUE with a fitted number" --model nonsense=5
refused "launch=8001: must be 2000 to 8000, and whole" --model barrier=5,launch=8001
refused "launch=4000.5: must be 2000" --model launch=4000.5
refused "launch=16000: must be 2000 to 8000" --model launch=8000,launch=16000
refused "launch=: must be 2000" --model launch=
$first --arg 128 --model launch=4800 >"$folder/text" 2>"$folder/error" || fail '--model launch=4800 fails'
grep -q 'by a model with other numbers, whose errors are not known: launch=4800' "$folder/text" || fail '--model is silent'
