#!/bin/sh
# bench/record/sides.py on made figures: ratios, what counts as ahead, what was not run; and what it refuses.
# Usage: test_sides.sh SOURCE
set -eu
source=$1 folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
complain() {
  echo "sides: $1"
  exit 1
}
# pair FILE CASE OMP-CLOCKS HIP-CLOCKS
pair() {
  python3 - "$@" <<'PYTHON'
import json, sys

path, case, *clocks = sys.argv[1:]
errors = {"clocks": {"figures": 10, "median": 4.0, "worst": 25.0}}
rows = [{"case": case, "device": "host", "outcome": "ok", "seconds": {}}]
for device, predicted in zip(("omp:0", "hip:0"), clocks):
    launch = {"classes": {"VALU": 300, "SALU": 100} if device == "omp:0" else {"VALU": 160, "SALU": 40}, "time": {"percent_off_on_set_p": errors}}
    rows.append({"case": case, "device": device, "outcome": "ok", "reason": "", "kernel": device[:3] + "_kernel", "launches": [launch],
                 "clocks_at_least": 900 if device == "omp:0" else 600, "clocks_predicted": float(predicted) or None})
json.dump({"rows": rows}, open(path, "w"))
PYTHON
}
sides() { python3 "$source/bench/record/sides.py" "$@"; }
pair 1.json 'add f32 8x8' 12000 4000
pair 2.json 'add f32 9x9' 4800 4000
pair 3.json 'gemm f32 8x8x8' 4000 8000
sides all.json 1.json 2.json 3.json >table
for line in '| add f32 8x8 | omp_kernel | hip_kernel | 12000 | 4000 | 2.00 | 1.50 | 3.00 | HIP |' \
  '| add f32 9x9 | omp_kernel | hip_kernel | 4800 | 4000 | 2.00 | 1.50 | 1.20 | no difference |' \
  '| gemm f32 8x8x8 | omp_kernel | hip_kernel | 4000 | 8000 | 2.00 | 1.50 | 0.50 | OpenMP |' \
  '| add | 2 | 2.00 | 1.50 | 1.90 |' 'Not run: embedding, silu_mul, rmsnorm, softmax, rope, cross_entropy, swiglu, attention.' \
  'by 4.0 % in the median and by 25.0 % at worst'; do
  grep -qF -- "$line" table || complain "no line '$line' in: $(cat table)"
done
python3 -c 'import json; assert [row["hip"]["clocks_predicted"] for row in json.load(open("all.json"))] == [4000, 4000, 8000]'

refuses() {
  want=$1
  shift
  ! sides never.json "$@" >/dev/null 2>said || complain "$*: must be refused"
  grep -qF -- "$want" said || complain "$*: said '$(cat said)', not '$want'"
  [ ! -e never.json ] || complain "$*: wrote its file"
}
pair none.json 'add f32 8x8' 12000 0
refuses 'add f32 8x8 on hip:0: no predicted clocks' none.json
sed 's/hip:0/hip:1/' 1.json >other.json
refuses 'needs omp:0 and hip:0' other.json
sed 's/"outcome": "ok", "reason": ""/"outcome": "failed", "reason": "c[0] is wrong"/' 1.json >failed.json
refuses 'failed: c[0] is wrong' failed.json
refuses 'no case'
