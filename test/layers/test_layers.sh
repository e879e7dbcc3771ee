#!/bin/sh
# Holds the list of floors in docs/design.md against the code: every #include "..." and every symbol that one object of the library,
# of gfxsim or of its runtimes uses of another (nm) must lead to the same room or to a lower floor. The exceptions are what
# src/built_in.c and sim/built_in.c define: the dispatcher finds ops, rows and backends there, gfxsim instructions, checks and counters.
# Use: test_layers.sh SOURCE_ROOT BUILD_ROOT
set -eu
root=$1 build=$2 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"
here=test/layers

# ---- Includes ----

# All headers and sources of the rooms, without tests, ladders' steps and lessons, which may look anywhere.
find include src offload hip ladder sim files case bench run python -name '*.[ch]' -o -name '*.hip' -o -name '*.def' | grep -v '/test/' | sort >"$work/files"
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

# "OBJECT SOURCE" of the library, of gfxsim, and of what stands on gfxsim.
awk -F '"' '/^ *"file":/ {file = $4} /^ *"output":/ {print $4, file}' "$build/compile_commands.json" |
  grep -E '^(python/tandem/_(tandem|sim)\.|src/libtandem\.so|src/lib(target_regions|cpu_[a-z0-9_]*)\.a|sim/(libgfxsim|libgfxsim-hip|hip/libamdhip64|hsa/libhsa-runtime64)\.so|sim/door/lib|sim/gfxsim\.p)' | sed 's| \.\./| |' >"$work/objects"
(cd "$build" && awk '$2 ~ /[.]c$/ {print $1}' "$work/objects" | xargs ls 2>/dev/null | xargs nm -A) >"$work/nm" || true
awk 'NR == FNR {source[$1] = $2; next}
  {sub(/:.*/, "", $1)}
  {folder = $1; sub(/\/[^\/]*$/, "", folder)}
  $(NF - 1) == "U" {print "use", source[$1], $NF, folder}
  $(NF - 1) ~ /^[TDBRCVW]$/ {print "has", source[$1], $NF, folder}' "$work/objects" "$work/nm" >"$work/symbols"
# Of a symbol that two libraries define, an object uses the one in its own library.
awk 'NR == FNR {if ($1 == "has") {where[$3] = $2; near[$4 " " $3] = $2}; next}
  $1 == "use" {to = (($4 " " $3) in near) ? near[$4 " " $3] : where[$3]
   if (to != "" && $3 !~ /^(tdm_)?built_in_/) print $2, to, $3}' "$work/symbols" "$work/symbols" | sort -u >"$work/uses"
[ "$(wc -l <"$work/uses")" -ge 200 ] || echo "only $(wc -l <"$work/uses") uses of symbols were found in $build" >"$work/few"

# ---- Circles between the files of a folder ----

# circles.txt lists the uses that stay; without them no circle may be left. tsort prints the files of each circle.
awk 'function folder(path) {sub(/\/[^\/]*$/, "", path); return path}
  FILENAME == objects {built[$2] = 1; next}
  FILENAME == list {if (NF == 2 && ($1 in built) && ($2 in built)) stay[$1 " " $2] = 1; next}
  $1 != $2 && folder($1) == folder($2) {if (($1 " " $2) in stay) used[$1 " " $2] = 1; else print $1, $2}
  END {for (s in stay) if (!(s in used)) print s ": circles.txt has this use, and there is none" > stale}' \
  objects="$work/objects" list=$here/circles.txt stale="$work/stale" "$work/objects" $here/circles.txt "$work/uses" | sort -u >"$work/edges"
tsort "$work/edges" 2>"$work/loops" >/dev/null || true
awk '/loop:$/ {if (line != "") print line; line = "a circle of files:"; next} {sub(/^tsort: */, ""); line = line " " $0}
  END {if (line != "") print line}' "$work/loops" >"$work/circles"

# ---- Both against the floors ----

awk -v design=docs/design.md -f $here/floors.awk docs/design.md "$work/includes" >"$work/wrong"
awk -v design=docs/design.md -f $here/floors.awk docs/design.md "$work/uses" >>"$work/wrong"
cat "$work/few" "$work/stale" "$work/circles" >>"$work/wrong" 2>/dev/null || true
sort -u "$work/wrong"
echo "$(wc -l <"$work/includes") includes and $(wc -l <"$work/uses") uses of symbols: $(sort -u "$work/wrong" | grep -c . || true) are wrong"
[ ! -s "$work/wrong" ]
