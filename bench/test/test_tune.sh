#!/bin/sh
# tandem-bench tune: candidates of a simulated chip and of the host, the table that it writes, and what is refused.
# Usage: test_tune.sh TANDEM-BENCH CHIP
set -eu
bench=$1 chip=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset TANDEM_TUNED
complain() {
  echo "test_tune: $1"
  exit 1
}
# refused WORDS ARGUMENTS...: exit status 2 and one line
refused() {
  words=$1
  shift
  said=$("$bench" tune "$@" 2>&1) && got=0 || got=$?
  case $got:$(printf '%s\n' "$said" | wc -l):$said in
    2:1:*"$words"*) ;;
    *) complain "tune $*: returned $got with '$said', must be 2 with '$words'" ;;
  esac
}

"$bench" tune gemm 64x64x64 33x65x300 --dtype bf16 --layout nt --device "sim:$chip" --out made.tuned >tune.txt
for text in 'none was measured' 'hip_small_k .*at least' 'hip_128x128 .*at least' 'hip_small_k .*refused: .*k = 300' 'window=4 ' 'predicted ' 'best: hip_'; do
  grep -q -- "$text" tune.txt || complain "no '$text' in what it prints"
done
grep -q '^# made by: tandem-bench tune gemm 64x64x64' made.tuned || complain 'the table does not say what made it'
grep -q "^$chip gemm bf16 nt 64x64x64 near hip_" made.tuned || complain 'no entry for the first shape'
[ "$(tail -n 1 made.tuned)" = 'end 2' ] || complain 'the table has no end'
# The best candidate has the fewest predicted clocks, to 2 %; what was left out needs more at least.
awk '/^gemm/ { best = 0 } / predicted / && (best == 0 || $3 < best) { best = $3 } / left out: / && $6 < best { bad = 1 }
  / predicted / { clocks[$1] = $3 } /^  best: / && clocks[$2] > best / 0.98 { bad = 1 } END { exit bad }' tune.txt || complain 'not the best by prediction'
grep -q '^# by clocks that .* predicts: no time was measured' made.tuned || complain 'the table does not say that it is predicted'
# A run that could not end goes on where it was: what its file says is not measured again.
again() { "$bench" tune gemm 33x65x300 --dtype bf16 --layout nt --device "sim:$chip" --progress kept --out /dev/full >again.txt 2>&1; }
! again || complain 'a table was written to /dev/full'
[ -s kept ] || complain 'no progress was kept'
awk -F '\t' -v OFS='\t' '$2 == 1 && $3 == "hip_tile_64x16" { $6 = 7 } 1' kept >changed
printf 'cut off' | cat changed - >kept
! again || complain 'a table was written to /dev/full'
grep -q 'hip_tile_64x16 .*predicted *7 clocks' again.txt || complain 'progress is not read'
grep -q 'best: hip_tile_64x16$' again.txt || complain "progress does not count: $(cat again.txt)"
refused 'another command or version' gemm 8x8x8 --device "sim:$chip" --progress kept
refused 'times of two runs' softmax 8x64 --device host --progress other
TANDEM_TUNED=made.tuned "$bench" gemm 64x64x64 --dtype bf16 --layout nt --device "sim:$chip" >used.txt || complain 'its own table is refused'
head -n 3 made.tuned >cut.tuned
said=$(TANDEM_TUNED=cut.tuned "$bench" gemm 64x64x64 --device "sim:$chip" 2>&1) && complain 'a table that is cut off was taken'
case $said in *"tuned = 'cut.tuned': line 3: must be 'end 0': the file is truncated"*) ;; *) complain "a cut table: $said" ;; esac
"$bench" tune softmax 8x64 --device host --min-time 0.01 --exact >host.txt
! grep -q 'checked:' tune.txt host.txt || complain 'not every element of small cases was checked'
"$bench" tune softmax 64x2048 --device host --min-time 0.01 --check-time 0.001 >rows.txt
grep -q ' us   checked: 8 rows' rows.txt || complain 'a check of 8 rows does not say so'
"$bench" tune softmax 8x64 8x64 --device host --min-time 0.01 --out twice.tuned >twice.txt
[ "$(tail -n 1 twice.tuned)" = 'end 1' ] || complain 'two entries for the same plans'
grep -q 'no entry: the case before has it' twice.txt || complain 'prints nothing about a case that is given twice'
grep -Eq '^host softmax f32 - 8x64 exact omp(_avx512)?$' host.txt || complain 'no entry for the host'

# The cases of a file: one has no tables, and one is too large. Entries only where they gain more than the model's error.
printf 'gemm --dtype bf16 --layout nt 64x64x64\nadd 8x8\nrmsnorm 16x256\nrmsnorm 4096x4096\n' >file.txt
"$bench" tune --shapes file.txt --device "sim:$chip" --most-bytes 1000000 --gains --progress gains.progress --out gains.tuned >gains.txt
grep -q '4 cases of file.txt: 2 tuned, 1 without tables, 1 larger .* the heuristic.s choice is within' gains.txt || complain "a file: $(tail -n 1 gains.txt)"
entries=$(grep -c "^$chip " gains.tuned) || :
near=$(grep -c "no entry: the heuristic's choice, hip_.* within the model's error" gains.txt) || :
[ $((entries + near)) -eq 2 ] || complain "gains: $entries entries and $near cases without: $(cat gains.txt)"
grep -q "in $near the heuristic" gains.txt || complain 'gains: another number of cases'
"$bench" tune --shapes file.txt --every 4 --device "sim:$chip" --predict-time 0.001 >long.txt && complain 'no candidate was predicted, and it passed'
grep -q 'not predicted: would take longer than --predict-time' long.txt || complain "a long prediction: $(cat long.txt)"
refused 'OP with --shapes' gemm --shapes file.txt --device "sim:$chip"
refused '--gains: is for simulated devices' softmax 8x64 --device host --gains
refused "--every = '0'" --shapes file.txt --every 0 --device "sim:$chip"
refused 'OP: must be given' --device host
refused "OP = 'gem': must be one of" gem --device host
refused "shape = '3x4': has 2 numbers" gemm 3x4 --device host
refused 'must name one device' gemm 8x8x8
refused 'must name one device' gemm 8x8x8 --device host,host
refused "device = 'moon'" gemm 8x8x8 --device moon
refused '--kernel' gemm 8x8x8 --device host --kernel omp
refused "--min-time = 'x'" gemm 8x8x8 --device host --min-time x
refused "--workgroups = '0'" gemm 8x8x8 --device host --workgroups 0
refused "--out = '/nowhere/table': can't be" gemm 8x8x8 --device host --out /nowhere/table
