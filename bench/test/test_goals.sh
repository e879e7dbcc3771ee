#!/bin/sh
# bench/record/goals.sh and rows.sh on made predictions: what meets a goal, cases of the user, and what they refuse.
# Usage: test_goals.sh SOURCE
set -eu
source=$1 folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
complain() {
  echo "goals: $1"
  exit 1
}
mkdir -p "$folder/build/bench" "$folder/build/sim"
# A stand-in for tandem-bench: tn takes 6 % more than nt, arrays between dwords twice as long, and each other case of gemm and
# attention 10,000 clocks. A byte of rows takes 0.003 clocks, and in f32 twice as long.
cat >"$folder/build/bench/tandem-bench" <<'PYTHON'
#!/usr/bin/env python3
import json, sys

words = sys.argv[1:]
if words[1] == "7x7x7":
    sys.exit("no memory")
clocks, moved = 10600 if "tn" in words else 20000 if "shift=1" in words else 10000, 0
if words[0] == "softmax":
    rows, cols = map(int, words[1].split("x"))
    moved = rows * cols * 2 * (4 if "f32" in words else 2)
    clocks = 4000 + moved * (0.006 if "f32" in words else 0.003)
launch = {"kernel": "k", "time": {"clocks": clocks, "launch_clocks": 4000}, "bounds": {"clocks": {"VALU": moved * 0.001}}}
with open(words[words.index("--json") + 1], "w") as file:
    json.dump({"rows": [{"kernel": "made", "clocks_predicted": clocks, "bytes": moved, "reason": "", "launches": [launch]}]}, file)
PYTHON
printf '#!/bin/sh\necho "hbm_share 0.79 0.79"\n' >"$folder/build/sim/gfxsim"
chmod +x "$folder/build/bench/tandem-bench" "$folder/build/sim/gfxsim"
goals() { sh "$source/bench/record/goals.sh" "$folder/build" "$@"; }
says() {
  grep -qF -- "$1" "$folder/said" || complain "no '$1' in: $(cat "$folder/said")"
}
goals gfx950 layouts 8x8x8 16x8x8 >"$folder/said"
says '| 16x8x8 | 10000 | 10000 | 10600 | 10000 | 0.0 % | **6.0 %** | 0.0 % |'
says '4 of 6 figures meet the goal: at most 5 % more than nt.'
goals gfx942 between_dwords 8x8x8 >"$folder/said"
says '| 8x8x8 nt | 10000 | `made` | 20000 | `made` | **0.50** |'
says '1 of 4 figures meet the goal'
goals gfx950 gemm_decode 1x4096x4096 >"$folder/said"
says '| 1x4096x4096 nn | `made` | 10000 | 12501 | 1.25 |' # 33.6 MB at 6442 GB/s and 2.4 GHz
goals gfx942 head_dims 64 >"$folder/said"
says '| 64 | `made` | 10000 | **0.50** |'
refuses() {
  want=$1
  shift
  ! goals "$@" >"$folder/said" 2>&1 || complain "$*: must be refused"
  says "$want"
}
refuses "CHIP = 'gfx90a': must be gfx942 or gfx950" gfx90a
refuses "GOAL = 'speed': must be one of layouts, sizes" gfx950 speed
refuses "CASE = '8x8': layouts needs MxNxK" gfx950 layouts 8x8
refuses 'no memory' gfx950 layouts 7x7x7
rows() { sh "$source/bench/record/rows.sh" "$folder/build" "$@"; }
rows gfx950 softmax bf16,f32 64,50257 >"$folder/said" # 1 / 8 GiB at 6442 / 8 GB/s and 2.4 GHz are 400028 clocks
says '| softmax | bf16 | 64 | k | 406653 | 400028 | 0.98 | 0.34 |'
says '| softmax | bf16 | 50257 | k | 406653 | 400028 | 0.98 | 0.34 |'
says '| softmax | f32 | 64 | k | 809306 | 400028 | 0.49 | 0.34 |'
! rows gfx90a >"$folder/said" 2>&1 || complain 'rows: a chip that there is not must be refused'
says "CHIP = 'gfx90a': must be gfx942 or gfx950"
! rows gfx950 softmax bf16 7x7 >"$folder/said" 2>&1 || complain 'rows: a length that is not a number must be refused'
says "LENGTH = '7x7': must be a number above 0"
! rows gfx950 gemm >"$folder/said" 2>&1 || complain 'rows: an op without rows must be refused'
says "OP = 'gemm': must be one of cross_entropy"
! sh "$source/bench/record/goals.sh" "$folder/none" gfx950 >"$folder/said" 2>&1 || complain 'a build that is not there must be refused'
says 'tandem-bench: not there: meson setup'
