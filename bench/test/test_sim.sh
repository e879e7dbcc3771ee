#!/bin/sh
# tandem-bench on simulated devices: counts that follow from the shape alone, never a time, samples, and what is refused.
# Usage: test_sim.sh TANDEM-BENCH CHIP
set -eu
bench=$1 chip=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
complain() {
  echo "test_sim: $1"
  exit 1
}

"$bench" gemm 512x512x256 --dtype bf16 --layout nt --kernel hip_256x256 --device "sim:$chip" --json gemm.json --csv gemm.csv --markdown gemm.md --wide >gemm.txt
"$bench" add 64x512 --device "host,sim:$chip" --min-time 0.01 --json add.json --csv add.csv >add.txt
for fill in real rising; do
  "$bench" attention 1x1x1x256x512x64 --dtype f16 --kernel hip_flash64 --set "scale=0.34657,fill=$fill" --device "sim:$chip,xcds=1,cus_per_xcd=1" --time --json "$fill.json" --list >"$fill.txt"
done
"$bench" add 1024x4096 --device "sim:$chip" --workgroups 8 --json part.json --wide >part.txt
"$bench" add 1024x4096 --device "sim:$chip" --workgroups 8 --check-time 0.001 --json rows.json >rows.txt
"$bench" gemm 64x64x1024 --dtype bf16 --layout nt --kernel hip_128x128:split=4 --device "sim:$chip" --workgroups 2 >split.txt
"$bench" gemm 640x640x1024 --dtype bf16 --layout nt --kernel hip_tile_64x128:split=4 --device "sim:$chip" --workgroups 2 >last.txt
"$bench" attention 1x8x2x1x640x64 --dtype bf16 --device "sim:$chip" --workgroups 1 >last.txt
# Both workgroups of such a sample have no tile, so twice as many run.
"$bench" gemm 16x1280x900 --dtype bf16 --layout nt --kernel hip_tile_16x64:split=6 --device "sim:$chip" --workgroups 2 --json idle.json >idle.txt
"$bench" gemm 128x128x256 --dtype bf16 --kernel hip_tile_32x128 --device "sim:$chip" --time --timeline timed.svg --json timed.json --list >timed.txt
"$bench" add 1024x4096 --device "sim:$chip" --workgroups 8 --time --rounds 1 --json sampled.json --list >sampled.txt
python3 - "$chip" <<'PYTHON'
import csv, json, sys

chip = sys.argv[1]
rows = lambda name: json.load(open(name))["rows"]

[gemm] = rows("gemm.json")
[launch] = gemm["launches"]
flops = 2 * 512 * 512 * 256
assert gemm["outcome"] == "ok" and not gemm["sampled"] and "seconds" not in gemm, gemm
assert launch["workgroups_run"] == launch["workgroups"] and launch["mfma"]["flops"] == flops, launch["mfma"]
# The wide bf16 MFMA: 2048 or 4096 FLOP a clock and CU, of four SIMDs.
assert launch["mfma"]["clocks"] == flops // {"gfx942": 512, "gfx950": 1024}[chip], launch["mfma"]
assert launch["loop"]["instructions"]["MFMA"] > 0 and launch["occupancy"]["scratch_bytes"] == 0
assert gemm["hbm_bytes"] == launch["caches"]["hbm_read"] + launch["caches"]["hbm_written"]
assert 1 <= gemm["hbm_bytes_over_bytes"] < 1.2, gemm["hbm_bytes_over_bytes"]
assert gemm["checked"] == "every element", gemm["checked"]

[timed] = rows("timed.json")
predicted = [launch["time"] for launch in timed["launches"]]
assert "predicted" in predicted[0]["what"] and timed["clocks_predicted"] == sum(t["clocks"] for t in predicted)
assert all(t["clocks"] > launch["bounds"]["clocks"][launch["bounds"]["floor"]] for t, launch in zip(predicted, timed["launches"]))
assert 0 < predicted[0]["loop"]["mfma_share"] < 1, predicted[0]["loop"]
assert timed["seconds_predicted"] > 0 and 0 < timed["mfma_share_predicted"] < 1
[real], [rising] = rows("real.json"), rows("rising.json") # maxima that grow repeat tiles, for which their arithmetic has to run
assert "fill=rising" in json.dumps(rising) and "fill=rising" not in json.dumps(real)
assert rising["launches"][0]["time"]["skip_mfma"] is False and real["launches"][0]["time"]["skip_mfma"] is True
assert rising["clocks_predicted"] > 1.05 * real["clocks_predicted"], (real["clocks_predicted"], rising["clocks_predicted"])
[sampled] = rows("sampled.json") # a sample is counted, and the whole launch is predicted
assert sampled["sampled"] and sampled["clocks_predicted"] > 5000 and "predicted" in sampled["launches"][0]["time"]["what"]
assert "clocks_predicted" not in gemm

host, add = rows("add.json")
bytes = 3 * 64 * 512 * 4
assert "launches" not in host and host["seconds"]["samples"] > 0
assert add["hbm_bytes"] == bytes and add["hbm_bytes_over_bytes"] == 1 and "seconds" not in add, add
[launch] = add["launches"]
assert launch["load"]["asked"] == bytes // 3 * 2 and launch["store"]["asked"] == bytes // 3
assert add["clocks_at_least"] >= max(clocks for clocks in launch["bounds"]["clocks"].values() if clocks is not None)

[part] = rows("part.json")
[launch] = part["launches"]
assert part["outcome"] == "ok" and part["sampled"] and launch["workgroups_run"] == 8 < launch["workgroups"]
assert part["checked"] == "every element that was written", part["checked"]
[rows8] = rows("rows.json")
assert rows8["checked"] == "8 rows of what was written", rows8["checked"]
assert part["hbm_bytes"] is None and part["hbm_bytes_over_bytes"] is None and launch["bounds"]["clocks"]["HBM"] is None

head, timed, counted = list(csv.reader(open("add.csv")))
assert len(head) == len(timed) == len(counted), (len(head), len(timed), len(counted))
value = dict(zip(head, counted))
assert value["median_s"] == "" and value["samples"] == "" and dict(zip(head, timed))["floor"] == ""
assert int(value["hbm_read"]) + int(value["hbm_written"]) == bytes and float(value["HBM_clocks"]) > 0
PYTHON
grep -q '^predicted clocks  *[1-9]' timed.txt || complain 'no predicted clocks'
grep -q '<title>Waves of a workgroup' timed.svg || complain 'no picture of the waves'
grep -q '^predicted clocks  *[1-9]' sampled.txt || complain 'no predicted clocks of a launch whose sample was counted'
for text in 'clocks are lower bounds of a pipe, not times' "sim:$chip  gemm_" '1 measured, 0 failed, 0 unsupported'; do
  grep -q -- "$text" gemm.txt || complain "no '$text' in the table"
done
! grep -q 'times are medians' gemm.txt || complain 'a table without times speaks of times'
grep -q '^| gemm bf16 nt 512x512x256 | sim:' gemm.md || complain 'no row in the Markdown'
grep -q 'a bound, not a time' add.txt || complain 'no comparison'
grep -q 'output not checked: a launch reads' split.txt || complain 'a sample of parts does not say that nothing was checked'
grep -q 'output not checked: a workgroup adds' last.txt || complain 'a sample of parts in one launch does not say that nothing was checked'
grep -q 'output not checked: a workgroup adds' last.txt || complain 'a sample of what a last workgroup adds does not say so'
grep -q 'checked: 8 rows of what was written' rows.txt || complain 'a check of 8 rows does not say so'
! grep -q 'checked:' gemm.txt part.txt || complain 'what can be checked is not'
grep -q '8 of .*not modelled' part.txt || complain 'a sample says nothing of its caches'

# Without --wide no line is wider than the terminal; the first table is the one that compares. (The machine's name is one word.)
COLUMNS=80 "$bench" gemm 64x64x64 --device "host,sim:$chip" --peer openblas --min-time 0.01 >narrow.txt
COLUMNS=80 "$bench" add 1024x4096 --device "sim:$chip" --workgroups 8 >>narrow.txt
awk 'length > 80 {print; wide = 1} END {exit wide}' narrow.txt || complain 'lines of more than 80 characters'
[ "$(grep -n 'Side by side' narrow.txt | cut -d: -f1)" -lt "$(grep -n '^case' narrow.txt | head -n 1 | cut -d: -f1)" ] ||
  complain 'the table that compares is not the first one'
! grep -q 'not modelled.*not modelled' narrow.txt || complain 'a row repeats what is not modelled'

# The picture of a chip without times has its bounds and its peak.
"$bench" gemm 64x64x64 --device "sim:$chip" --plot chip.svg >/dev/null
grep -q "$chip, simulated: bounds by counts, not times" chip.svg || complain 'no points of the chip in the picture'
grep -q "$chip, simulated, data sheet, f16 and bf16: .* PFLOP/s" chip.svg || complain 'no roof of the chip in the picture'
grep -q '<circle cx="[0-9.]*" cy="[0-9.]*" r="4.0" fill="#ffffff"' chip.svg || complain 'no mark of the chip in the picture'


# A map: each case's predicted clocks beside the ideal ones. It goes on where it was, and a prediction that takes too long is named.
cat >map.txt <<'EOF'
gemm --dtype bf16 --layout nt 128x256x512
attention --dtype bf16 --set causal=1 1x2x1x128x128x64
rmsnorm --dtype bf16 64x4096
EOF
"$bench" --shapes map.txt --every 2 --device "sim:$chip" --json map.json >map1.txt
"$bench" --shapes map.txt --device "sim:$chip" --json map.json >map2.txt
grep -q '3 cases of map.txt: 1 measured, 0 failed, 0 unsupported; 2 were in map.json before' map2.txt || complain "a map: $(tail -n 1 map2.txt)"
tr -s '\n ' ' ' <map2.txt | grep -q 'none was measured, and no result was checked' || complain 'a map does not say that it is predicted'
"$bench" --shapes map.txt --device "sim:$chip" --predict-time 0.001 --json long.json >long.txt
grep -q 'not predicted: would take about' long.txt || complain "a prediction that takes too long: $(cat long.txt)"
"$bench" score long.json >score.txt || [ $? = 77 ] || complain "score: $(cat score.txt)" # nothing is scored
grep -q 'gemm bf16 nt 128x256x512: not predicted: would take about' score.txt || complain "score of what is not predicted: $(cat score.txt)"
"$bench" --shapes map.txt --device "sim:$chip" --all-kernels --json kernels.json >kernels.txt
"$bench" score kernels.json >choice.txt || [ $? = 1 ] || complain "score of kernels: $(cat choice.txt)" # 1: the goal is missed
grep -Eq 'the chosen kernel is within [0-9.]+ % of the best one in [0-3] of [0-3] cases' choice.txt || complain "score of kernels: $(cat choice.txt)"
estimates=$(dirname "$bench")/tandem-estimates
"$estimates" check kernels.json >estimates.txt || [ $? = 1 ] || complain "tandem-estimates check: $(cat estimates.txt)"
grep -Eq '^now: the chosen kernel is within [0-9.]+ % of the best in [0-3] of [1-3] cases' estimates.txt || complain "tandem-estimates: $(cat estimates.txt)"
# The library's own choices are those of the bench.
[ "$(sed -n 's/.* of the best in \([0-9]*\) of.*/\1/p' estimates.txt)" = "$(sed -n 's/.* of the best one in \([0-9]*\) of.*/\1/p' choice.txt)" ] ||
  complain "tandem-estimates judges otherwise than score: $(cat estimates.txt choice.txt)"
! "$estimates" check absent.json >estimates.txt 2>&1 && grep -q "'absent.json': can't be read: No such file" estimates.txt ||
  complain "tandem-estimates of no file: $(cat estimates.txt)"
# Each case's chosen kernel has its predicted clocks and, where it has one, its estimate beside them.
"$estimates" list kernels.json >estimates.txt || complain "tandem-estimates list: $(cat estimates.txt)"
[ "$(grep -c '^  chosen hip_' estimates.txt)" = 3 ] &&
  grep -Eq '^  chosen hip_[0-9a-z_]+ +[0-9]{4,} +[0-9]{4,} +[0-9]\.[0-9]{2}$' estimates.txt &&
  grep -Eq '^  chosen hip_registers +[0-9]{4,} no estimate$' estimates.txt || complain "tandem-estimates list: $(cat estimates.txt)"
"$estimates" fit kernels.json >estimates.txt || complain "tandem-estimates fit: $(cat estimates.txt)"
awk '/geometric mean/ { sub(/.*geometric mean /, ""); if ($1 + 0 < last) bad = 1; last = $1 + 0; n++ } END { exit bad || n != 2 }' estimates.txt ||
  complain "tandem-estimates fit made the choices worse: $(cat estimates.txt)"
"$estimates" fit map.json >estimates.txt 2>&1 && complain 'tandem-estimates takes a file without kernels'
grep -q 'no case has several kernels' estimates.txt || complain "tandem-estimates without kernels: $(cat estimates.txt)"
"$bench" score map.json --svg map.svg --markdown map.md >score.txt
grep -q "^3 cases on sim:$chip: ideal clocks .* none was measured" map.md || complain "score of a map: $(cat map.md)"
grep -q 'where the clocks of one launch belong to the ideal ones' score.txt || complain 'no second list of the worst'
grep -q 'Ideal clocks over predicted ones' map.svg || complain 'no picture of a map'
python3 - "$chip" <<'PYTHON'
import json, sys

chip = sys.argv[1]
rows = json.load(open("map.json"))["rows"]
rates = {"gfx942": (2048 * 304, 5300e3 / 2100), "gfx950": (4096 * 256, 8000e3 / 2400)}[chip]
assert len(rows) == 3
for row in rows:
    mfma, hbm = row["flop"] / rates[0], row["bytes"] / rates[1]
    assert abs(row["ideal_clocks"] - max(mfma, hbm)) < 1e-9 * row["ideal_clocks"] and row["ideal_floor"] == ("mfma" if mfma > hbm else "hbm"), row
    assert row["clocks_predicted"] == sum(launch["time"]["clocks"] for launch in row["launches"]) > row["ideal_clocks"], row
    assert row["checked"] is None and "seconds" not in row and "CUs" in row["causes"] and "waves: " in row["causes"], row
for row in json.load(open("kernels.json"))["rows"]:
    chosen, *others = row["kernels"]
    best = min(k["clocks_predicted"] for k in row["kernels"] if k["clocks_predicted"])
    assert chosen["kernel"] == row["kernel"] and chosen["clocks_predicted"] > 0 and others, row
    for other in others: # what is not predicted can't be better
        assert other["clocks_predicted"] or (other["clocks_at_least"] >= best and "left out" in other["reason"]), other
PYTHON

# Ladders: a shape of one's own is counted, and the predictions about the ladder's are left alone; a step that does not run fails.
if "$bench" ladder rmsnorm --device "sim:$chip" 3x4 --json ladder.json >ladder.txt; then
  grep -q '05 row_groups .*HBM' ladder.txt || complain 'no last step in the ladder'
  grep -q "0 not held, 0 without a figure, [1-9][0-9]* about the ladder's own shape" ladder.txt || complain 'no count of predictions'
  python3 -c 'import json, sys; j = json.load(open("ladder.json")); assert len(j["results"]) == 5 and j["results"][0]["step"]["idea"] == "naive" and j["results"][0]["clocks"] > 0, j'
  ! "$bench" ladder rmsnorm --device "sim:$chip" 3x5 >ladder.txt || complain 'a ladder with a step that does not run'
  grep -q '03 wide_loads .*unsupported: .*a multiple of 4' ladder.txt || complain 'no reason for a step that does not run'
elif "$bench" ladder rmsnorm --device "sim:$chip" 3x4 2>&1 | grep -q 'built with -Dladder=false'; then
  echo 'no ladders in this build'
else
  complain "ladder: $(cat ladder.txt)"
fi

"$bench" add 0x8 --device "sim:$chip" >empty.txt && complain 'nothing was counted, and the exit status is 0'
grep -q '0 measured, 0 failed, 1 unsupported' empty.txt || complain 'an empty result must not be a failure'
refuses() {
  want=$1
  shift
  "$bench" "$@" >/dev/null 2>said && complain "$*: must be refused"
  grep -q -- "$want" said || complain "$*: said '$(cat said)', not '$want'"
}
refuses '--workgroups = .0.: must be a whole number from 1' add 8x8 --device "sim:$chip" --workgroups 0
refuses '--time: must not be given without a simulated device' add 8x8 --device host --time
refuses "--timeline = 'x.svg': needs --time, an OP with its SHAPE, and one device" add 8x8 --device "sim:$chip" --timeline x.svg
refuses '--xcds = .0.: must be a whole number from 1 to 1024' add 8x8 --device "sim:$chip" --xcds 0
refuses 'xcds = 4: must be 0 on host' add 8x8 --device host --xcds 4
refuses 'sim:gfx950x' add 8x8 --device sim:gfx950x
refuses '--brief selects cases of the standard set' add 8x8 --device "sim:$chip" --brief
refuses '--list with --wide' add 8x8 --device "sim:$chip" --list --wide
refuses "--repeats = '5': is about times, and sim:$chip has counts alone" add 8x8 --device "sim:$chip" --repeats 5
refuses '--hot: is about times' add 8x8 --device "sim:$chip" --hot
refuses "--min-time = '1': is about times" add 8x8 --device "sim:$chip" --min-time 1
refuses "--min-time = '1': is about times" tune add 8x8 --device "sim:$chip" --min-time 1
refuses "and sim:$chip has no time" gemm 8x8x8 --device "sim:$chip" --peer openblas
refuses "--turns: a peer has times" --shapes map.txt --device "sim:$chip" --turns
refuses '--workgroups with --shapes' --shapes map.txt --device "sim:$chip" --workgroups 8
refuses 'of a run without --all-kernels' --shapes map.txt --device "sim:$chip" --all-kernels --json map.json
refuses "--before = 'kernels.json' is of --all-kernels" score map.json --before kernels.json
refuses '--predict-time: is of predictions' add 8x8 --device "sim:$chip" --predict-time 5
refuses '--model: is of predictions' add 8x8 --device "sim:$chip" --model launch=4800
refuses "OP = 'gem': must be one of" ladder gem
if [ -s ladder.txt ]; then # this build has ladders
  refuses 'must be MxNxK' ladder gemm 3x4 --device "sim:$chip"
  refuses "can't be written" ladder gemm --device "sim:$chip" --json /nowhere/x
fi
