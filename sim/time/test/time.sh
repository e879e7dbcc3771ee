#!/bin/sh
# What gfxsim time prints and writes, and that an independent reader takes its JSON and its trace; the same outputs and findings
# as gfxsim run.
# Usage: time.sh GFXSIM GEMM.hsaco MISSING_WAIT.hsaco PRELOADED_ARGUMENTS.hsaco
set -e
gfxsim=$1 gemm=$2 wait=$3 preload=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
wrong() {
  echo "time: $*"
  cat "$folder/error" "$folder/text" 2>/dev/null
  exit 1
}
python3 - "$folder" <<'PYTHON'
import struct, sys
header = "{'descr': '<u2', 'fortran_order': False, 'shape': (%d,), }" % (256 * 128)
header += " " * (63 - (len(header) + 10) % 64) + "\n"
with open(sys.argv[1] + "/in.npy", "wb") as file: # small integers in bf16
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(struct.pack("<%dH" % (256 * 128), *[[0, 0x3f80, 0xbf80, 0x4000][n * 7 // 3 % 4] for n in range(256 * 128)]))
PYTHON
arguments="--grid 2,2 --block 256 --arg in:$folder/in.npy --arg in:$folder/in.npy --arg out:$folder/C.npy:f32:256x256 --arg 256 --arg 128"

# ---- The same results ----
"$gfxsim" run "$gemm" $arguments --no-check all
mv "$folder/C.npy" "$folder/run.npy"
"$gfxsim" time "$gemm" $arguments --json "$folder/json" --trace "$folder/trace" --trace-cus 0,32 --no-check align
cmp "$folder/C.npy" "$folder/run.npy" || wrong 'the model changed the results'
rm "$folder/C.npy"
"$gfxsim" run "$gemm" $arguments --by-time
cmp "$folder/C.npy" "$folder/run.npy" || wrong '--by-time changed the results'
rm "$folder/C.npy"
fault="--kernel fault --grid 2 --block 128 --arg zeros:4096 --arg zeros:4096 --arg zeros:4096 --arg 64 --no-check align"
for command in run time; do
  "$gfxsim" $command "$wait" $fault >"$folder/text" 2>"$folder/error" && wrong "$command found nothing"
  grep -E '^gfxsim: kernel' "$folder/error" >"$folder/$command" || wrong "$command says nothing"
done
cmp "$folder/run" "$folder/time" || wrong 'other findings'

# ---- JSON and trace ----
python3 - "$folder" <<'PYTHON'
import collections, json, sys
p = json.load(open(sys.argv[1] + "/json"))
assert "predicted" in p["what"] and p["clocks"] > p["bound_clocks"] > 0, p["clocks"]
assert p["percent_off_on_set_p"]["TFLOPS"]["figures"] > 0, p["percent_off_on_set_p"]
assert p["loop"]["iterations"] == 4 and 0 < p["loop"]["mfma_share"] < 1, p["loop"]
assert p["wave_count"] == len(p["waves"]) == 16
for wave in p["waves"]:
    assert sum(wave["clocks"].values()) == wave["end"] - wave["begin"]
total = collections.Counter()
for row in p["source_lines"]: total.update(row["clocks"])
assert total == collections.Counter(p["wave_clocks"])
t = json.load(open(sys.argv[1] + "/trace"))["traceEvents"]
assert {e["pid"] for e in t if e["ph"] == "X"} == {0, 1 << 16}
tracks = collections.defaultdict(list)
for e in t:
    if e["ph"] == "X": tracks[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"], e["name"]))
for spans in tracks.values(): # no unit and no wave does two things at once
    spans.sort()
    assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), [(a, b) for a, b in zip(spans, spans[1:]) if a[1] > b[0]][0]
mfma = [e for e in t if e["ph"] == "X" and e["cat"] == "MFMA" and e["tid"] < 1 << 20]
count = sum(i["count"] for i in p["instructions"] if i["text"].startswith("v_mfma"))
assert len(mfma) * 2 == count, (len(mfma), count) # two of the four workgroups
named = {(e["pid"], e["tid"]) for e in t if e["name"] == "thread_name"}
assert named == set(tracks), named ^ set(tracks)
begun, ended = (collections.Counter(e["id"] for e in t if e["ph"] == which) for which in "be")
assert begun == ended and len(begun) > 100
PYTHON

# ---- The picture ----
"$gfxsim" time "$gemm" $arguments --timeline "$folder/t.svg" >"$folder/text"
rm "$folder/C.npy"
python3 - "$folder/t.svg" <<'PYTHON'
import sys, xml.etree.ElementTree as tree
words = [e.text for e in tree.parse(sys.argv[1]).iter() if e.tag.endswith("text")]
assert "wave 3" in words and "SIMD 3: matrix unit" in words and any(w.startswith("Predicted") for w in words), words
PYTHON

# ---- Text, options ----
"$gfxsim" time "$gemm" $arguments >"$folder/text"
for line in 'predicted' 'TFLOPS  median' 'bench/TIMING.md' 'hot loop' 'clocks an iteration' 'bound, from counts' 'vmcnt' 'all caches are cold'; do
  grep -q -- "$line" "$folder/text" || wrong "no '$line'"
done
rm "$folder/C.npy"
"$gfxsim" time "$gemm" $arguments --warm --skip-mfma >"$folder/text" 2>"$folder/error" || wrong '--skip-mfma fails'
grep -q 'outputs not saved' "$folder/error" || wrong '--skip-mfma is silent about outputs'
[ ! -e "$folder/C.npy" ] || wrong '--skip-mfma saves wrong outputs'
"$gfxsim" time "$gemm" $arguments --chip gfx950,xcds=1,cus_per_xcd=1,waves_per_simd=1 --rounds 1 >"$folder/text" 2>"$folder/error" ||
  wrong '--rounds fails'
grep -q 'later rounds' "$folder/text" || wrong '--rounds is silent'
"$gfxsim" time --parameters | grep -q '^barrier .*fitted' || wrong 'no parameters'
refused() {
  text=$1
  shift
  if "$gfxsim" "$@" >"$folder/text" 2>"$folder/error"; then wrong "accepted: $*"; fi
  grep -q -- "$text" "$folder/error" || wrong "no '$text': $*"
}
refused 'only time has them' run "$gemm" $arguments --warm
refused 'not with --workgroups' time "$gemm" $arguments --rounds 1 --workgroups 2
refused 'needs --rounds' time "$gemm" $arguments --spread
refused '^gfxsim: --rounds x: invalid' time "$gemm" $arguments --rounds x
refused 'not with --turn' run "$gemm" $arguments --by-time --turn 3
refused 'only run has it' time "$gemm" $arguments --by-time
refused 'must be FROM-TO' time "$gemm" $arguments --timeline "$folder/t.svg" --timeline-clocks 7
refused 'nothing ran' time "$gemm" $arguments --timeline "$folder/t.svg" --timeline-clocks 1-2
refused 'needs --trace' time "$gemm" $arguments --trace-cus 0
refused 'trace_cus' time "$gemm" $arguments --trace "$folder/trace" --trace-cus 1000
refused 'must be 1 to' time "$gemm" $arguments --chip gfx950,simds_per_cu=0
refused 'granule' time "$gemm" $arguments --chip gfx950,lds_granule=65536,lds_bytes=40000
[ ! -e /dev/full ] || refused 'No space left' time "$gemm" $arguments --trace /dev/full

# ---- Arguments in registers: what has no source is said to be not modelled, and firmware that can't preload them waits ----
arguments="--kernel vector_add --grid 4 --block 64 --arg zeros:1024 --arg zeros:1024 --arg zeros:1024 --arg 256"
"$gfxsim" time "$preload" $arguments >"$folder/text"
grep -q 'not modelled  what the first [0-9]* dwords of the argument take' "$folder/text" || wrong 'preloading is not said to be not modelled'
with=$(awk '/clocks of the launch/ { print $1 }' "$folder/text")
"$gfxsim" time "$preload" --no-preload $arguments >"$folder/text"
if grep -q 'not modelled  what the first' "$folder/text"; then wrong 'nothing is preloaded, and it says so'; fi
without=$(awk '/clocks of the launch/ { print $1 }' "$folder/text")
[ "$with" -lt "$without" ] || wrong "$with clocks with preloaded arguments, $without without"
