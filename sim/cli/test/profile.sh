#!/bin/sh
# What gfxsim profile prints, and that its JSON is JSON with the same counts.
# Usage: profile.sh GFXSIM FILE.hsaco WITH_LINES.hsaco: the first has a kernel vector_add, the second was compiled with -g from
# out_of_bounds.hip
set -e
arguments="--kernel vector_add --grid 8 --block 128 --arg zeros:4000 --arg zeros:4000 --arg zeros:4000 --arg 1000"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" profile "$2" $arguments >"$folder/text"
for line in 'kernel vector_add' 'occupancy: ' 'v_add_f32' ' 4000 B asked' 'not a time' 'which this is'; do
  grep -q -- "$line" "$folder/text" || { echo "profile: no '$line' in the text"; exit 1; }
done
"$1" profile "$2" $arguments --workgroups 4 | grep -q '4 of them ran; every count is theirs times 2'
"$1" profile "$2" $arguments --json "$folder/json"
python3 - "$folder/json" <<'PYTHON'
import json, sys
counted = json.load(open(sys.argv[1]))
assert counted["workgroups"] == 8 and counted["waves"] == 16
assert counted["load"]["asked"] == 8000 and counted["store"]["asked"] == 4000
assert sum(row["count"] for row in counted["mnemonics"]) == sum(counted["classes"].values())
assert counted["bounds"]["clocks"][counted["bounds"]["floor"]] == max(v or 0 for v in counted["bounds"]["clocks"].values())
PYTHON
if "$1" run "$2" $arguments --json "$folder/no" 2>/dev/null; then echo 'profile: run must refuse --json'; exit 1; fi
if "$1" profile "$2" $arguments --json "$folder/no/no" 2>/dev/null; then echo 'profile: no error for a bad file'; exit 1; fi
"$1" profile "$3" --grid 1 --block 64 --arg zeros:16384 --arg zeros:16384 --arg zeros:16384 --arg 1 >"$folder/lines"
grep -A 9 'by source line' "$folder/lines" | grep -q '[0-9]  out_of_bounds.hip:[0-9]' || { echo 'profile: no source lines'; exit 1; }
