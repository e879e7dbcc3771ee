#!/bin/sh
# Holds the list of floors in docs/design.md against the code: every #include "..." and every symbol that one object of the library or
# of gfxsim uses of another (nm) must lead to the same room or to a lower floor. The one exception is what src/built_in.c defines: the
# dispatcher finds ops, rows and backends there.
# Use: test_layers.sh SOURCE_ROOT BUILD_ROOT
set -eu
root=$1 build=$2 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"
here=test/layers

# ---- Includes ----

# All headers and sources of the rooms, without tests, ladders' steps and lessons, which may look anywhere.
find include src offload hip ladder sim files case bench run -name '*.[ch]' -o -name '*.hip' -o -name '*.def' | grep -v '/test/' | sort >"$work/files"
awk 'NR == FNR {known[$1] = 1; next}
  function clean(path) { # without "x/../" and "./"
    while (sub(/[^\/]+\/\.\.\//, "", path)) {}
    gsub(/\/\.\//, "/", path)
    return path
  }
  /^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    folder = FILENAME
    sub(/\/[^\/]*$/, "/", folder)
    near = clean(folder part[2])
    if (near in known) to = near
    else if (part[2] in known) to = part[2]
    else if (("include/" part[2]) in known) to = "include/" part[2]
    else { # by an include folder of its build
      to = ""
      for (f in known) if (substr(f, length(f) - length(part[2])) == "/" part[2]) to = to == "" ? f : "?"
      if (to == "" || to == "?") next
    }
    print FILENAME, to, "#include"
  }' "$work/files" $(cat "$work/files") >"$work/includes"

# ---- Symbols ----

# "OBJECT SOURCE" of the library and of gfxsim.
awk -F '"' '/^ *"file":/ {file = $4} /^ *"output":/ {print $4, file}' "$build/compile_commands.json" |
  grep -E '^(src/libtandem\.so|src/libtarget_regions\.a|sim/libgfxsim\.so)' | sed 's| \.\./| |' >"$work/objects"
(cd "$build" && awk '$2 ~ /[.]c$/ {print $1}' "$work/objects" | xargs ls 2>/dev/null | xargs nm -A) >"$work/nm" || true
awk 'NR == FNR {source[$1] = $2; next}
  {sub(/:.*/, "", $1)}
  $(NF - 1) == "U" {print "use", source[$1], $NF}
  $(NF - 1) ~ /^[TDBRCVW]$/ {print "has", source[$1], $NF}' "$work/objects" "$work/nm" >"$work/symbols"
awk '$1 == "has" {where[$3] = $2; next}
  {uses[$2 " " $3] = 1}
  END {for (u in uses) {split(u, part, " "); to = where[part[2]]
    if (to != "" && part[2] !~ /^tdm_built_in_/) print part[1], to, part[2]}}' "$work/symbols" | sort >"$work/uses"
[ "$(wc -l <"$work/uses")" -ge 200 ] || echo "only $(wc -l <"$work/uses") uses of symbols were found in $build" >"$work/few"

# ---- Both against the floors ----

awk -v design=docs/design.md -f $here/floors.awk docs/design.md "$work/includes" >"$work/wrong"
awk -v design=docs/design.md -f $here/floors.awk docs/design.md "$work/uses" >>"$work/wrong"
cat "$work/few" >>"$work/wrong" 2>/dev/null || true
sort -u "$work/wrong"
echo "$(wc -l <"$work/includes") includes and $(wc -l <"$work/uses") uses of symbols: $(sort -u "$work/wrong" | grep -c . || true) are wrong"
[ ! -s "$work/wrong" ]
