#!/bin/sh
# Tests of files of cases: `tandem-bench shapes` draws the same cases for the same seed; `--shapes` refuses wrong lines; a run that was killed
# continues where it stopped; a peer takes its turn after each case; --all-kernels measures every kernel of each case. The peer is a small
# script. If python3 has PyTorch, peer_torch.py is run as well. Usage: test_shapes.sh TANDEM-BENCH SOURCE
set -eu
bench=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive TANDEM_DEVICE=host PYTHONDONTWRITEBYTECODE=1
# The kernels of a host without more instructions than the build needs.
for name in avx2 avx512 avx512_bf16 avx512_fp16; do
  export TANDEM_CPU=$name
  "$bench" add 1x1 --repeats 1 >/dev/null 2>&1 && break
done
bad=0
wrong() {
  echo "shapes: $*"
  bad=1
}
# refused WORDS ARGUMENTS: bad usage, said in one line.
refused() {
  words=$1
  shift
  said=$("$bench" "$@" 2>&1 >/dev/null) && status=0 || status=$?
  [ "$status" -eq 2 ] || wrong "$*: exit status $status: $said"
  case $said in *"$words"*) ;; *) wrong "$*: said no '$words': $said" ;; esac
}

# The sample: the same for the same seed, no case twice, and the file in the repository is what its first line says.
"$bench" shapes >map.txt
cmp map.txt "$source/bench/shapes/map.txt" || wrong "bench/shapes/map.txt: must be what tandem-bench shapes prints"
"$bench" shapes --seed 1 --count 480 --out same.txt
cmp map.txt same.txt || wrong "--out, or the defaults"
"$bench" shapes --seed 2 >other.txt
cases() { grep -v '^#' "$1" | sed 's/ *#.*//' | grep . | sort; }
[ "$(cases map.txt | wc -l)" -eq 480 ] || wrong "not 480 cases"
[ "$(cases map.txt | uniq -d | wc -l)" -eq 0 ] || wrong "a case is there twice"
cases map.txt >one
cases other.txt >two
[ "$(comm -12 one two | wc -l)" -lt 200 ] || wrong "another seed draws nearly the same cases"
for op in gemm swiglu attention softmax rmsnorm rope silu_mul add embedding cross_entropy; do
  for dtype in f32 bf16 f16; do grep -q "^$op --dtype $dtype" map.txt || [ "$dtype" = f16 ] || wrong "no $op in $dtype"; done
done
for m in 1 2 4 8 16 32 64 128 256 512 2048 8192; do grep -q "^gemm .* ${m}x" map.txt || wrong "no gemm of m = $m"; done
for d in 64 80 96 128 256; do grep -q "^attention .*x$d\b" map.txt || wrong "no attention of head_dim $d"; done
for s in 128 131072; do grep -q "^attention .*x${s}x" map.txt || wrong "no context of $s"; done
"$bench" shapes --count 5000 2>&1 >many.txt | grep -q "have no more than [0-9]* cases" || wrong "too few cases and not a word of it"
refused "--seed = 'x': must be a whole number" shapes --seed x
refused "--count = '0': must be a whole number from 1 to 5000" shapes --count 0
refused "'more': at most 0 arguments are allowed" shapes more

# Lines that are wrong: the number of the line, and what is allowed.
line() {
  words=$1
  shift
  printf '# a comment\n\nadd 8x8\n%s\n' "$*" >bad.txt
  refused "--shapes = 'bad.txt': line 4: $words" --shapes bad.txt
}
line "OP = 'gem': must be one of gemm|" gem 8x8x8
line "'--peer': must be --dtype, --layout, --epilogue, --set or --seed" add --peer 8x8
line "--dtype: needs a value after it" add 8x8 --dtype
line "SHAPE: must be given, as ROWSxCOLS" add --dtype bf16
line "'9x9': there is already the shape 8x8" add 8x8 9x9
line "shape = '8': has 1 numbers" add 8
line "--dtype: must be given once" add --dtype f16 --dtype f16 8x8
line "--layout = 'nt': add has no such selector" add --layout nt 8x8
line "--set fill: must be real" add --set fill=exact 8x8
line "the same case as in line 3" add 8x8 --dtype f32 --seed 0
line "has more than 32 words" "$(yes a | head -n 40 | tr '\n' ' ')"
line "is longer than 1023 characters" "$(yes a | head -n 2000 | tr -d '\n')"
printf 'attention 1x3x2x8x8x64\n' >bad.txt
refused "--shapes = 'bad.txt': line 1: attention: " --shapes bad.txt
: >bad.txt
refused "--shapes = 'bad.txt': has no cases" --shapes bad.txt
refused "--shapes = 'none.txt': " --shapes none.txt
printf 'add 8x8\nadd 8x16\nadd 8x32\nadd 8x64\nadd 8x128\n' >five.txt
refused "OP with --shapes" add --shapes five.txt
refused "--dtype with --shapes" --dtype f16 --shapes five.txt
refused "--csv with --shapes" --csv x.csv --shapes five.txt
refused "--every: belongs to --shapes FILE" add 8x8 --every 2
refused "--every = '0': must be a whole number" --shapes five.txt --every 0
refused "must be one device" --shapes five.txt --device host,host
refused "--predict-time = '5': must not be given without a simulated device" --shapes five.txt --device host --predict-time 5

# A sample; the rest later, without measuring anything twice.
"$bench" --shapes five.txt --every 2 --offset 1 --json five.json --repeats 1 >out.txt
grep -q '5 cases of five.txt: 2 measured, 0 failed, 0 unsupported; 3 not in the sample' out.txt || wrong "--every: $(tail -n 1 out.txt)"
"$bench" --shapes five.txt --json five.json --repeats 1 --most-bytes 6143 >out.txt # all but 8x128, with 12288
grep -q '2 measured, 0 failed, 0 unsupported; 2 were in five.json before; 1 left out' out.txt || wrong "the rest: $(tail -n 1 out.txt)"
[ "$(grep -c '"case"' five.json)" -eq 4 ] || wrong "five.json has not 4 rows"
[ ! -e five.json.part ] || wrong "five.json.part was left"
sed 's/"device": "host"/"device": "omp:7"/' five.json >elsewhere.json
"$bench" --shapes five.txt --json elsewhere.json >/dev/null 2>said && wrong "results of another device were taken"
grep -q "has results of device omp:7, and this run is on host" said || wrong "another device: $(cat said)"
echo '{"rows": [{}]}' >broken.json
"$bench" --shapes five.txt --json broken.json >/dev/null 2>said && wrong "a broken file was taken"
grep -q "'broken.json': must be what tandem-bench --shapes --json wrote: a row has no case" said || wrong "broken: $(cat said)"

# Killed at any moment: what was measured is kept. A line that was not finished is dropped.
i=0
while [ $i -lt 20 ]; do
  i=$((i + 1))
  echo "rmsnorm ${i}x999"
done >twenty.txt
"$bench" --shapes twenty.txt --json twenty.json --min-time 0.05 >/dev/null &
child=$!
for wait in $(seq 300); do # until some are kept
  kept=$(grep -c '"outcome"' twenty.json.part 2>/dev/null) || kept=0
  if [ "$kept" -ge 3 ]; then break; fi
  sleep 0.1
done
kill -9 $child
wait $child 2>/dev/null || :
printf '{"case": "rmsnorm --dty' >>twenty.json.part
kept=$(grep -c '"outcome"' twenty.json.part) || :
"$bench" --shapes twenty.txt --json twenty.json --repeats 1 >out.txt
[ "$kept" -ge 3 ] || wrong "nothing was kept in $wait tenths of a second"
grep -q "; $kept were in twenty.json before" out.txt || wrong "after a kill, $kept kept: $(tail -n 1 out.txt)"
[ "$(grep -c '"outcome": "ok"' twenty.json)" -eq 20 ] || wrong "after a kill: not 20 rows"

# A case that ended the program twice has failed; once, it is measured again.
start() { echo '{"start":"add --dtype f32 --set fill=real --seed 0 '"$1"'","device":"host"}'; }
for shape in 8x8 8x32 8x32; do start $shape; done >twice.json.part
"$bench" --shapes five.txt --json twice.json --repeats 1 >out.txt
grep -q '4 measured, 0 failed, 0 unsupported; 1 were in twice.json before' out.txt || wrong "ended: $(tail -n 1 out.txt)"
grep -q 'the program ended twice during this case' twice.json || wrong "a case that ended the program twice: $(tail -n 1 out.txt)"
"$bench" score twice.json >out.txt 2>&1 && wrong "a failed case, and score passes"
grep -q 'add f32 8x32: the program ended twice' out.txt || wrong "score does not name the failed case"

# Turns: a peer in Python that is twice as fast, refuses one case, differs in one, and whose bench is killed at one.
cat >peer.py <<'EOF'
import os, sys
sys.path.append(os.path.join(sys.argv[1], "bench", "peer"))
from turns import take_turns
killed = set()
def answer(turn):
    row, samples = turn["row"], turn["samples"]
    assert set(samples) == {"array", "at", "got", "value", "bound"} and samples["array"] == "c", samples
    assert len(samples["at"]) == len(samples["got"]) == len(samples["value"]) == len(samples["bound"]) > 0
    shape = row["case"].split()[-1]
    if shape == "8x16":
        return {"name": "a peer", "outcome": "unsupported", "reason": "no such sum"}
    result = {"name": "a peer", "outcome": "ok", "way": "sum", "seconds": {"median": row["seconds"]["median"] / 2}}
    if shape == "8x64":
        return result | {"outcome": "failed", "reason": "c[1] differs"}
    return result
sys.exit(take_turns("peer.py", sys.argv[2:], answer))
EOF
python3 peer.py "$source" "$bench" --shapes five.txt --json turns.json --repeats 1 2>said && wrong "a peer that differs, and it passed"
grep -q '\[4/5\] add .*WRONG: c\[1\] differs' said || wrong "turns: $(cat said)"
[ "$(grep -c '"peer": {' turns.json)" -eq 5 ] || wrong "not every row has the peer's answer"
"$bench" score turns.json >out.txt && wrong "a peer that differs, and score passes"
for text in 'beside a peer' 'add f32 8x64: c\[1\] differs' 'add f32 8x16: no such sum'; do
  grep -q "$text" out.txt || wrong "score says no '$text'"
done
# The bench dies at the third case, and is started again.
cat >dies.sh <<'EOF'
#!/bin/sh
n=$(cat starts 2>/dev/null || echo 0)
echo $((n + 1)) >starts
case $n in 0) "$@" | sed -u '/"end"/d; 3q'; exit 1 ;; *) exec "$@" ;; esac
EOF
python3 peer.py "$source" sh dies.sh "$bench" --shapes five.txt --json dies.json --repeats 1 2>said || :
[ "$(cat starts)" -ge 2 ] || wrong "a bench that ended early was not started again"
[ "$(grep -c '"case"' dies.json)" -eq 5 ] || wrong "a bench that ended early: not 5 rows: $(cat said)"
echo '{}' | "$bench" --shapes five.txt --turns >out.txt 2>said && wrong "the peer ended, and it passed"
grep -q 'standard input ended before the peer.s line about add .*8x16' said || wrong "the peer ended: $(cat said)"
echo '[]' | "$bench" --shapes five.txt --turns >out.txt 2>said && wrong "a line that is no object was taken"
grep -q "the peer's line must be an object of JSON" said || wrong "no object: $(cat said)"

# Every kernel of each case. swiglu and gemm of few rows have two kernels on a host, both with an estimate; add has one, without.
printf 'gemm --layout nt 4x256x256\nswiglu 4x64x64\nattention 1x2x2x1x256x64\nadd 8x8\ngemm 64x64x64\n' >choice.txt
"$bench" --shapes choice.txt --all-kernels --every 2 --json choice.json --min-time 0.01 >out.txt
grep -q '5 cases of choice.txt: 3 measured, 0 failed, 0 unsupported; 2 not in the sample' out.txt || wrong "--all-kernels: $(tail -n 1 out.txt)"
"$bench" --shapes choice.txt --all-kernels --json choice.json --min-time 0.01 --list >out.txt
grep -q '2 measured, 0 failed, 0 unsupported; 3 were in choice.json before' out.txt || wrong "--all-kernels, the rest: $(tail -n 1 out.txt)"
grep -q 'chosen  *omp_skinny' out.txt || wrong "--all-kernels: the table names no chosen kernel: $(cat out.txt)"
python3 - <<'EOF' || wrong "--all-kernels: choice.json"
import json
lists = {row["case"].split()[0] + " " + row["case"].split()[-1]: row["kernels"] for row in json.load(open("choice.json"))["rows"]}
names = {case: sorted(k["kernel"] for k in kernels) for case, kernels in lists.items()}
two = ["omp", "omp_skinny"]
assert names == {"gemm 4x256x256": two, "swiglu 4x64x64": two, "attention 1x2x2x1x256x64": ["omp", "omp_decode"], "add 8x8": ["omp"],
                 "gemm 64x64x64": ["omp"]}, names
for case, kernels in lists.items():
    for k in kernels:
        assert k["outcome"] == "ok" and k["checked"].startswith("8 rows") and k["seconds"]["median"] > 0, k
        assert (k["estimate_clocks"] or 0) > 0 if case[0] in "gs" else k["estimate_clocks"] is None, k
EOF
"$bench" score choice.json >out.txt && status=0 || status=$? # times of a busy host may miss the goal
[ "$status" -le 1 ] || wrong "score of --all-kernels: exit status $status"
grep -Eq 'within 10 % of the best one in [0-3] of 3 cases' out.txt || wrong "score of --all-kernels: $(cat out.txt)"
grep -q '^all  *3 .*  2 *$' out.txt || wrong "score of --all-kernels: not 3 cases with a choice and 2 without: $(cat out.txt)"
refused "has results of a run with --all-kernels, and this one is without it: name another file" --shapes choice.txt --json choice.json
refused "has results of a run without --all-kernels, and this one is with it" --shapes five.txt --json five.json --all-kernels
refused "--all-kernels: belongs to --shapes FILE" add 8x8 --all-kernels
refused "--peer with --turns: must be one of them" --shapes choice.txt --peer openblas --turns
refused "--turns with --all-kernels: must be one of them" --shapes choice.txt --all-kernels --turns
refused "--kernel = 'gemm=omp' with --all-kernels" --shapes choice.txt --all-kernels --kernel gemm=omp
refused "--svg = 'x.svg': draws speeds over a peer's" score choice.json --svg x.svg
sed 's/"median": [0-9.e-]*/"median": 0/' choice.json >zero.json
refused "kernels[0]: seconds.median = 0: must be above 0" score zero.json
# After the program ended twice during a case, the case has failed, and has no kernels.
for shape in 8x8 8x8; do start $shape; done >ended.json.part
"$bench" --shapes choice.txt --all-kernels --json ended.json --min-time 0.01 >out.txt
grep -q '4 measured, 0 failed, 0 unsupported; 1 were in ended.json before' out.txt || wrong "--all-kernels, ended: $(tail -n 1 out.txt)"
"$bench" score ended.json >out.txt && wrong "--all-kernels: a case that ended the program, and score passes"
grep -q 'add f32 8x8: the program ended twice' out.txt || wrong "--all-kernels, ended: $(cat out.txt)"

# A full disk.
full() {
  words=$1
  shift
  # shellcheck disable=SC2016 # the inner shell's $@
  said=$(sh -c 'trap "" XFSZ; ulimit -f 0; "$@"' sh "$@" 2>&1 >/dev/null </dev/null) && status=0 || status=$?
  [ "$status" -eq 1 ] || wrong "$*: exit status $status on a full disk: $said"
  case $said in *"$words: can't be written: File too large"*) ;; *) wrong "$*: said no '$words': $said" ;; esac
}
full "'full.json.part'" "$bench" --shapes five.txt --json full.json --repeats 1
full "'full.json.part'" "$bench" --shapes choice.txt --all-kernels --json full.json --repeats 1
full "'full.txt'" "$bench" shapes --count 5 --out full.txt
cp "$source/bench/test/score.json" .
sed -i '/"rope\|"embedding/d' score.json # those that failed
full "'full.svg'" "$bench" score score.json --svg full.svg
full "'full.md'" "$bench" score score.json --markdown full.md
"$bench" score score.json --before score.json >out.txt || wrong "score --before: exit status $?"
awk '/^all / {same = $3 == $5 && $4 == $6} END {exit !same}' out.txt || wrong "score --before itself: not the same figures: $(cat out.txt)"
refused "--before = 'choice.json' is of --all-kernels, and 'score.json' is not" score score.json --before choice.json
refused "--before = 'nowhere.json'" score score.json --before nowhere.json
refused "--svg = '/nowhere/x.svg'" score score.json --svg /nowhere/x.svg
refused "FILE: must be given" score
refused "--worst = '-1'" score score.json --worst -1
if [ -e full.json ] || [ -e full.txt ] || [ -e full.svg ] || [ -e full.md ]; then wrong "a full disk left a file"; fi

if python3 -c 'import torch' 2>/dev/null; then
  cat >torch.txt <<'EOF'
gemm --dtype bf16 --layout nt --epilogue bias+gelu 33x65x129
attention --dtype f32 --set causal=1 1x4x2x40x40x64
embedding --dtype f16 30x100x64
EOF
  python3 "$source/bench/peer/peer_torch.py" "$bench" --shapes torch.txt --device host --json torch.json 2>said ||
    wrong "PyTorch: $(cat said)"
else
  echo "shapes: python3 has no PyTorch: peer_torch.py was not run"
fi
sh "$source/tools/stale-notes.sh" # of programs that could write no byte, where LLVM's libomp was theirs
exit $bad
