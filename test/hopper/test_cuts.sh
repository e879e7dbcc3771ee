#!/bin/sh
# tandem-cuts on the Hopper stand-in: it times a few cuts, and the fit of these times is not worse than the constants it began with. Files
# that are none of its own are refused. test_cuts.sh HOPPER-CUTS
set -eu
cuts=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$cuts" time --seconds 0.001 --seed 3 --flop 2e6 --out "$folder/times.json"
"$cuts" check "$folder/times.json"
"$cuts" fit "$folder/times.json" >"$folder/said"
cat "$folder/said"
awk '/^today.s:/ {before = $2} /^fitted:/ {after = $2; found = 1} END {exit !(found && after <= before)}' "$folder/said"
refused() { # what it must say, arguments
  text=$1
  shift
  "$cuts" "$@" >"$folder/out" 2>&1 && echo "must fail: $*" && exit 1
  grep -qF -- "$text" "$folder/out" || { cat "$folder/out"; echo "must say: $text"; exit 1; }
}
echo '{"processors": 1, "products": []}' >"$folder/empty.json"
echo '{"processors": 1, "products": [{"title": "none"}]}' >"$folder/wrong.json"
refused "has no products" fit "$folder/empty.json"
refused "product 0 lacks a value" fit "$folder/wrong.json"
refused "No such file" fit "$folder/none.json"
refused "needs --out" time
refused "must be --device" time --sed 4
refused "needs time, fit FILE or check FILE"
