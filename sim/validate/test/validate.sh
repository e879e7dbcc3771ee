#!/bin/sh
# sim/validate.sh with rows of our own, a stand-in for gfxsim, and gfxsim itself. Usage: validate.sh GFXSIM
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
result=$folder/TIMING.md predictions=$folder/results/timing.txt
mkdir -p "$folder/sources/us/kernels/src" "$folder/sources/built" "$folder/build/sim"
# The target as LLVM after 22 writes it.
sed '1i\
.amdgcn_target "amdgpu9.50-amd-amdhsa-unknown-gfx950"' "$root/sim/test/program/assembly.s" >"$folder/sources/us/kernels/src/axpy.s"
echo 'v_never_heard_of v0' >"$folder/sources/us/kernels/src/bad.amdgcn"
echo any >"$folder/sources/built/whole.co"
cp "$here/stand_in.sh" "$folder/build/sim/gfxsim"
chmod +x "$folder/build/sim/gfxsim"

fail() {
  echo "validate test: $*" >&2
  exit 1
}
validate() { sh "$root/sim/validate.sh" "$@" 2>"$folder/error"; }
stand_in() {
  validate "$folder/sources" --build "$folder/build" --rows "$here/table.rows" --predictions "$predictions" --out "$result" --limit 2 "$@"
}
has() { grep -qxF -- "$1" "$2" || fail "$2 lacks: $1"; }

# ---- Predictions and the result ----
stand_in --predict
[ ! -e "$result" ] || fail '--predict wrote a result'
has 'fast mfma_share 0.55' "$predictions"
has 'fast tflops 110' "$predictions"
grep -q '^fast object us/kernels, working tree; gfxsim of .' "$predictions" || fail 'no origin of fast'
has 'wrong mfma_share 0.19' "$predictions"
grep -q '^whole object built/whole.co, compiled by the user; gfxsim of .' "$predictions" || fail 'no origin of whole'
has 'whole loop_clocks missing gfxsim does not model it here' "$predictions"
has 'whole gbs 32' "$predictions"
has 'reads issue_interval:ds_read_b128 16' "$predictions"
has 'no-checkout tflops missing no checkout of them/kernels' "$predictions"
has 'no-file tflops missing us/kernels has no src/absent.co at -' "$predictions"
has 'no-object clocks missing no built/absent.co' "$predictions"
has 'broken mfma_share missing gfxsim time: kernel broken: not found, lds 512' "$predictions"
has 'late mfma_share missing no end after 2 s' "$predictions"
has 'unpublished tflops missing its kernel was never published' "$predictions"
grep -q "^bad-assembly mfma_share missing clang can't assemble it: .*error: " "$predictions" || fail 'no reason for bad assembly'

stand_in --compare >/dev/null
# The baseline: shares of the roofline are 100 / 500, 55 / 500 and twice 10 / 500, whose median is 0.065.
has '| P | clocks | 6 | 3 | 3 | 20.0 % | 36.7 % | 10 %, 25 %: missed by those predicted |  |' "$result"
has '| P | TFLOPS | 5 | 2 | 3 | 15.0 % | 20.0 % | 15 %, 35 %, below the baseline: met by those predicted | 54.2 %, 67.5 % |' "$result"
has '| F | clocks | 4 | 2 | 2 | 8.3 % | 10.0 % |  |  |' "$result"
has '| F | frequency | 1 | 1 | 0 | 6.2 % | 6.2 % |  |  |' "$result"
has '| variants | MFMA share of the loop | 12 | 2 | 1 | 9 |' "$result"
has '- slow and wrong, MFMA share of the loop: published 0.25 and 0.3, predicted 0.2 and 0.19' "$result"
has '| fast | TFLOPS | 100 | 110 | +10.0 % | -67.5 % |' "$result"
has '| whole | microseconds | 20 | 25 | +25.0 % | +0.0 % |' "$result"
has '| no-object | none |  | made up |' "$result"
has '- late, MFMA share of the loop: no end after 2 s' "$result"

# A part is predicted again: the other rows stay.
sed 's/^slow mfma_share .*/slow mfma_share 0.24/' "$predictions" >"$folder/old" && cp "$folder/old" "$predictions"
stand_in --only fast --set P --option --warm >/dev/null
grep -q '^fast object us/kernels, working tree; --warm; gfxsim of .' "$predictions" || fail 'no option of fast'
has 'slow mfma_share 0.24' "$predictions"
[ "$(grep -c '^fast mfma_share' "$predictions")" = 1 ] || fail 'a row was kept twice'
has '| P | clocks | 1 | 1 | 0 | 10.0 % | 10.0 % | 10 %, 25 %: met |  |' "$result"
grep -v '^fast' "$predictions" >"$folder/old" && cp "$folder/old" "$predictions"
stand_in --compare --only fast >/dev/null
has '- fast, TFLOPS: not predicted' "$result"

# ---- A commit of the checkout; gfxsim itself ----
if command -v git >/dev/null; then
  git -C "$folder/sources/us/kernels" init -q
  git -C "$folder/sources/us/kernels" add src
  git -C "$folder/sources/us/kernels" -c user.name=us -c user.email=us@localhost commit -qm all
  commit=$(git -C "$folder/sources/us/kernels" rev-parse --short=8 HEAD)
  rm "$folder/sources/us/kernels/src/axpy.s"
else
  commit=-
fi
cat >"$folder/real.rows" <<ROWS
row axpy
  set P
  figure clocks 1000
  file us/kernels $commit src/axpy.s
  kernel axpy
  grid 2
  block 64
  args random:f32:128 random:f32:128 zeros:512 128
  source made up
row too-short
  like axpy
  figure clocks 1000
  args random:f32:128 random:f32:128 zeros:256 128
ROWS
build=$(cd "$(dirname "$1")/.." && pwd)
if validate "$folder/sources" --build "$build" --rows "$folder/real.rows" --run >"$folder/out"; then fail '--run hides a finding'; fi
has 'axpy: runs, no finding' "$folder/out"
grep -q '^too-short: .*out of bounds: writes' "$folder/out" || fail "--run does not show the finding: $(cat "$folder/out")"

# The same rows by the model. 4000 clocks are the launch's own cost; a load from HBM takes 1050, and nothing else takes long.
sed -i 's/^  figure clocks 1000/&\n  figure microseconds 2.5/' "$folder/real.rows"
validate "$folder/sources" --build "$build" --rows "$folder/real.rows" --jobs 2 --predict --predictions "$folder/real.txt" ||
  fail "gfxsim time: $(cat "$folder/error")"
awk '$1 == "axpy" && $2 == "clocks" && $3 > 5050 && $3 < 6600 { found++ }
  $1 == "axpy" && $2 == "microseconds" && $3 > 1.9 && $3 < 3 { found++ }
  END { exit found != 2 }' "$folder/real.txt" || fail "axpy is predicted wrongly: $(cat "$folder/real.txt")"
grep -q '^axpy object us/kernels' "$folder/real.txt" || fail 'no origin of axpy'
grep -q '^too-short clocks missing gfxsim time: .*out of bounds: writes' "$folder/real.txt" || fail "$(cat "$folder/real.txt")"

# ---- The errors that gfxsim time prints are those of bench/TIMING.md ----
sed -n 's/^ERROR(\(.*\))$/\1/p' "$root/sim/time/errors.def" | tr -d , | while read -r class figures median worst; do
  row=$(grep "^| P | $class |" "$root/bench/TIMING.md" | awk -F' *[|] *' '{ gsub(/ %/, ""); print $5 + 0, $7 + 0, $8 + 0 }')
  want=$(echo "$figures $median $worst" | awk '{ print $1 + 0, $2 + 0, $3 + 0 }')
  [ "$row" = "$want" ] || fail "sim/time/errors.def: $class $want: bench/TIMING.md has $row"
done

# ---- What is refused ----
refused() { # TEXT ARGUMENT...
  text=$1
  shift
  status=0
  validate "$@" >"$folder/out" || status=$?
  [ $status -eq 2 ] || fail "$*: exit status $status, must be 2"
  grep -qF -- "$text" "$folder/error" || fail "$*: no '$text' in: $(cat "$folder/error")"
}
refused 'FOLDER: must be given'
refused "FOLDER = $folder/absent: no such folder" "$folder/absent"
refused 'only one' "$folder" "$folder"
refused '--rows absent: no such file' "$folder" --rows absent
refused '--limit 0: must be' "$folder" --limit 0
refused '--jobs 0: must be' "$folder" --jobs 0
refused '--set: has no value' "$folder" --set
refused '--option two words: must be' "$folder" --option 'two words'
refused '--turbo: no such option' "$folder" --turbo
refused 'has no sim/gfxsim' "$folder" --build "$folder"
refused 'only one of' "$folder" --run --compare
refused 'no row is left' --compare --rows "$here/table.rows" --set Q
refused 'no such file: predict first' --compare --rows "$here/table.rows" --predictions "$folder/absent"

whole='row a
set P
figure clocks 1
built a
kernel k
grid 1
block 64
source s'
malformed() { # TEXT TABLE
  printf '%s\n' "$2" >"$folder/bad.rows"
  refused "$1" --compare --rows "$folder/bad.rows"
}
malformed 'bad.rows:9: colour: no such key' "$whole
colour red"
malformed 'grid: is there twice' "$whole
grid 2"
malformed 'row a: is there twice' "$whole
$whole"
malformed 'lds: has no value' "$whole
lds"
malformed 'lds: must be a number' "$whole
lds many"
malformed 'figure speed: must be' "$whole
figure speed 1"
malformed 'with a positive value' "$whole
figure microseconds -1"
malformed 'must be at most 1' "$whole
figure mfma_share 60"
malformed 'flops: must be given' "$whole
figure tflops 1"
malformed 'flops and peak' "$whole
flops 10"
malformed 'file: must be OWNER/NAME' "$whole
file kernels k.co"
malformed 'must not leave' "$whole
file us/kernels - ../k.co"
malformed 'must be an earlier row' 'row a
like b'
malformed 'like: must come first' "$whole
row b
set P
like a"
malformed 'stands before the first row' 'set P'
malformed 'row a: source: must be given' 'row a
set P
figure clocks 1
missing it'
malformed 'file, built or missing' 'row a
set P
figure clocks 1
source s'
malformed 'kernel, grid and block' 'row a
set P
figure clocks 1
built a
source s'

# The project's own tables are well formed.
echo '# nothing is predicted' >"$folder/none"
validate --compare --predictions "$folder/none" --out "$result" >/dev/null || fail "$(cat "$folder/error")"
