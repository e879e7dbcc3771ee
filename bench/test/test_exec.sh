#!/bin/sh
# tandem-bench under gfxsim exec: devices that it simulates are counted, never timed, and their paths stand side by side.
# Usage: test_exec.sh GFXSIM TANDEM-BENCH DEVICE CHIP [SAME]
# SAME: another device of the same backend and chip, whose counts must be equal: hip:0 runs what sim:gfx942 runs.
set -eu
gfxsim=$1 bench=$2 device=$3 chip=$4 same=${5-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
here=$PWD
case $gfxsim in /*) ;; *) gfxsim=$here/$gfxsim ;; esac
case $bench in /*) ;; *) bench=$here/$bench ;; esac
cd "$folder"
complain() {
  echo "test_exec: $1"
  exit 1
}
run() { "$gfxsim" exec --chip "$chip" --no-check all "$bench" "$@"; }

run add 64x512 --device "$device,host${same:+,$same}" --min-time 0.01 --json add.json --csv add.csv --markdown add.md --wide >add.txt ||
  complain "add: $(cat add.txt)"
python3 - "$device" "$chip" "$same" <<'PYTHON'
import csv, json, sys

device, chip, same = sys.argv[1:]
run = json.load(open("add.json"))
rows = {row["device"]: row for row in run["rows"]}
counted, bytes = rows[device], 3 * 64 * 512 * 4
assert "seconds" in rows["host"] and "launches" not in rows["host"] and rows["host"]["seconds"]["samples"] > 0
assert "seconds" not in counted and counted["outcome"] == "ok" and counted["chip"] == chip, counted
assert counted["hbm_bytes"] == bytes and counted["checked"] == "every element", counted
[launch] = counted["launches"]
assert launch["chip"] == chip and launch["load"]["asked"] == bytes // 3 * 2 and launch["store"]["asked"] == bytes // 3
assert launch["occupancy"]["vgprs"] > 0 and counted["clocks_at_least"] > 0
assert [c["device"] for c in run["ceilings"]] == ["host"], run["ceilings"]
if same:
    assert rows[same]["launches"] == counted["launches"], (rows[same]["launches"], counted["launches"])
head, *lines = csv.reader(open("add.csv"))
assert all(len(line) == len(head) for line in lines)
[line] = [dict(zip(head, line)) for line in lines if line[1] == device]
assert line["median_s"] == "" and line["chip"] == chip and int(line["vgprs"]) > 0 and float(line["HBM_clocks"]) > 0
PYTHON
grep -q "^$device: counted by gfxsim on cold caches, its checks as gfxsim exec has them" add.txt || complain 'no word on how it is counted'
grep -q "^add f32 64x512  *$device $chip " add.txt || complain 'no row of counts with the chip'
! grep -q '(null)' add.txt || complain 'a ceiling without a name'
grep -q "^add f32 64x512  *host  *tandem  *[0-9]" add.txt || complain 'no time of the host'
if [ "$same" != "" ]; then
  grep -q "^The paths on $chip side by side" add.txt || complain 'no paths side by side'
  grep -q '1\.000$' add.txt || complain 'no share of the first path'
  grep -q "^| add f32 64x512 | $same | .* | 1\.000 |\$" add.md || complain 'no paths side by side in the Markdown'
  run tune add 8x8 --device "$device" >tune.txt || [ $? = 77 ] || complain "tune: $(cat tune.txt)" # 77: no entry for a table
  grep -q 'at least .* clocks' tune.txt || complain 'tune takes times from a simulator'
else
  ! grep -q 'side by side:' add.txt || complain 'one path is beside itself'
fi

refuses() {
  want=$1
  shift
  run "$@" >/dev/null 2>said && complain "$*: must be refused"
  grep -q -- "$want" said || complain "$*: said '$(cat said)', not '$want'"
}
refuses "--repeats = '5': is about times, and $device has counts alone" add 8x8 --device "$device" --repeats 5
refuses '--checks: is for sim: devices' add 8x8 --device "$device" --checks
refuses "and $device has no time" gemm 8x8x8 --device "$device" --peer openblas
