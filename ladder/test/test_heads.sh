#!/bin/sh
# steps.awk: what the head of a step's file must have, and that each mistake is named.
# Usage: test_heads.sh STEPS.AWK
set -eu
awk=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/gemm"
cd "$folder"
complain() {
  echo "test_heads: $1"
  exit 1
}

# head FILE: writes its head, with the lines of standard input after the title
head_of() {
  { printf '/* one: a title\n * of two lines.\n *\n' && sed 's/^/ * /' && echo ' */'; } >"gemm/$1"
}
good() {
  printf 'what: a "quoted" thing\nwhy: because\n  it is.\nlimit: memory\nlaunch: 4x5 of C by 64 work-items\npredict: right\npredict: loads = 1 to 2\n'
}
refuses() {
  ! awk -f "$awk" "gemm/$1" /dev/null >table 2>said || complain "$1: must be refused: $2"
  grep -q -- "$2" said || complain "$1: said '$(cat said)', not '$2'"
}

[ "$(wc -c <"$awk")" -lt 4096 ] || complain "steps.awk has 4096 bytes or more, of which mawk reads too much"
good | head_of hip_03_some_idea.hip
awk -f "$awk" gemm/hip_03_some_idea.hip /dev/null >table
for text in 'LADDER_STEP(gemm, "hip", 3, "some_idea", "hip_step03_some_idea", "ladder/gemm/hip_03_some_idea.hip", "one: a title of two lines."' \
  'a \\"quoted\\" thing' '"because it is."' 'right\\nloads = 1 to 2' 'LADDER_HIP_GEMM(tdm_gemm_hip_step03_some_idea, "hip_step03_some_idea", tdm_code_gemm_hip_03_some_idea, 4, 5, 64)' \
  'LADDER_ROW(tdm_gemm_hip_step03_some_idea)' '#undef LADDER_HIP_GEMM'; do
  grep -qF "$(printf '%b' "$text")" table || grep -qF "$text" table || complain "no '$text' in: $(cat table)"
done
awk -f "$awk" /dev/null | grep -q 'undef LADDER_STEP' || complain 'a build without steps has no table'

good | grep -v '^why' | head_of hip_01_a.hip && refuses hip_01_a.hip 'why: is missing'
good | grep -v '^predict' | head_of hip_01_a.hip && refuses hip_01_a.hip 'predict: is missing'
good | grep -v '^launch' | head_of hip_01_a.hip && refuses hip_01_a.hip 'launch: belongs to .hip files'
good | head_of hip_01_a.step && refuses hip_01_a.step 'kernel: belongs to .step files'
{ good && echo 'kernel: hip_256x256'; } | head_of hip_01_a.hip && refuses hip_01_a.hip 'kernel: belongs to .step files'
{ good && echo 'moral: none'; } | head_of hip_01_a.hip && refuses hip_01_a.hip 'moral: is none of'
{ good && echo 'why: again'; } | head_of hip_01_a.hip && refuses hip_01_a.hip 'why: given twice'
good | head_of hip_1_a.hip && refuses hip_1_a.hip 'name: must be'
echo 'int x;' >gemm/hip_01_a.hip && refuses hip_01_a.hip 'must open with a comment'
printf '/* one: title\n *\n * what: x\n' >gemm/hip_01_a.hip && refuses hip_01_a.hip 'does not end'
