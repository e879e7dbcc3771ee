#!/bin/sh
# The committed pictures are those that tandem-draw makes; all of them can be read (check_svg.py); and what tandem-draw refuses. Usage: test_pictures.sh TANDEM-DRAW
set -eu
draw=$1 here=$(cd "$(dirname "$0")" && pwd)
results=$here/../../bench/results
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/guide" "$folder/results"
sh "$here/make.sh" "$draw" "$folder/guide"
sh "$here/make.sh" --results "$draw" "$folder/results"
same() { # FOLDER PICTURE...
  for picture; do
    name=$(basename "$picture")
    cmp "$made/$name" "$committed/$name" || { echo "pictures: $name is another one: sh tools/pages.sh --update"; exit 1; }
  done
}
made=$folder/guide committed=$here
same "$folder"/guide/*.svg "$here"/*.svg
made=$folder/results committed=$results
same "$folder"/results/*.svg
python3 "$here/check_svg.py" "$here"/*.svg "$results"/*.svg
# What check_svg.py is for: two texts in one place, one that leaves the picture, a path as the title.
cut='<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 40"><title>TITLE</title><text x="X" y="20" font-size="10" text-anchor="start">seven</text>'
cut="$cut<text x=\"40\" y=\"20\" font-size=\"10\" text-anchor=\"start\">eight</text></svg>"
planted() { # WORDS TITLE X
  echo "$cut" | sed "s|TITLE|$2|; s|X|$3|" >"$folder/planted.svg"
  python3 "$here/check_svg.py" "$folder/planted.svg" >"$folder/found" && [ "$1" != "" ] && echo "pictures: no complaint '$1'" && exit 1
  grep -q "$1" "$folder/found" || [ "$1" = "" ]
}
planted '' 'Two numbers' 2
planted "'eight' and 'seven' overlap\|'seven' and 'eight' overlap" 'Two numbers' 30
planted "not wholly inside" 'Two numbers' 85
planted "its title" '/tmp/tandem-plot-1.svg' 2

# The table of page 5 has these very numbers: the test of the page compares forms.
"$draw" clocks >"$folder/clocks"
while read -r line; do
  grep -qxF "$line" "$here/../guide/05-lds-banks.md" || { echo "pictures: docs/guide/05-lds-banks.md has no line '$line'"; exit 1; }
done <"$folder/clocks"

# A product of the roofline that moves, beside the bench's own count of its FLOP and bytes.
"$draw" data roofline >"$folder/roofline.js"
python3 - "$folder/roofline.js" "$here/roofline-gemm-1024.json" <<'END'
import json, sys
text = open(sys.argv[1]).read()
data = json.loads(text[text.index("roofline = ") + len("roofline = "):].rstrip(";\n"))
row = json.load(open(sys.argv[2]))["rows"][0]
roof = next(r for r in data["roofs"] if r["text"].startswith("gfx950, bf16"))
case = roof["cases"][data["sizes"].index(1024) * len(data["m"]) + data["m"].index(1024)]["text"]
wanted = "a product of 1024 x 1024 x 1024 has %.3g FLOP a byte" % (row["flop"] / row["bytes"])
assert row["case"].endswith(" 1024x1024x1024") and wanted in case, (wanted, case)
END

refused() { # WORDS STATUS ARGUMENTS...
  words=$1 status=$2
  shift 2
  said=$("$draw" "$@" 2>&1 >/dev/null) && got=0 || got=$?
  case $got:$said in "$status:"*"$words"*) ;; *) echo "pictures: $*: $got, '$said'" && exit 1 ;; esac
}
refused 'NAME: must be' 2
refused 'moon: must be' 2 moon
refused "'nowhere' must be what tandem-bench --json wrote" 1 roofline nowhere
echo '{"rows": []}' >"$folder/empty"
refused 'no row of these files' 1 roofline "$folder/empty"
echo '{"rows": [' >"$folder/cut"
refused "cut' must be what" 1 roofline "$folder/cut"
refused "'nowhere' must be what tiny-llama" 1 llama nowhere
refused "it has no times" 1 llama "$folder/empty"
# A name is for files of its device alone.
"$draw" llama '--name=omp:0=NVIDIA H200' "$results/host-llama-1x256.json" | grep -q 'on the host<' || {
  echo 'pictures: a run on the host has another name'
  exit 1
}
refused 'data moon: must be' 2 data moon
"$draw" chip >/dev/full 2>"$folder/full" && echo 'pictures: a full disk goes unnoticed' && exit 1
grep -q "standard output: can't be written: No space left" "$folder/full"
