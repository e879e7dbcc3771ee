#!/bin/sh
# Measures the standard set of every op on the host, with OpenBLAS beside it, and writes host.json, .csv and .svg in bench/results,
# and the part host of its pages. Wants a machine without other work: the head of the tables says when there was some.
# Use: sh bench/record/host.sh [BUILD] [OPTION...]     BUILD: default build; OPTION: of tandem-bench, as in --min-time 2
set -eu
cd "$(dirname "$0")/../.."
case ${1-} in '' | -*) build=build ;; *)
  build=$1
  shift
  ;;
esac
bench=$build/bench/tandem-bench
results=bench/results
[ -x "$bench" ] || {
  echo "host.sh: $bench: not there: meson setup $build && ninja -C $build" >&2
  exit 2
}
mkdir -p $results
part=$(mktemp) tables=$results/host-tables.md
trap 'rm -f "$part" "$tables"' EXIT

"$bench" --peer openblas --json $results/host.json --csv $results/host.csv --plot $results/host.svg --markdown "$tables" "$@"

# The texts of a CSV row are between quotes, its numbers after the last one.
goals() {
  awk -F '"' '
    function goal(what, figure, least) {
      printf "| %s | %.2f | %.2f | %s |\n", what, figure, least, (figure >= least ? "met" : "missed")
    }
    NR > 1 && $4 == "host" && $6 == "tandem" && $10 == "ok" {
      split($13, n, ",")
      words = split($2, w, " ")
      name = w[1] " " w[3] " " w[words] ($2 ~ /residual=1/ ? " with residual" : "") ($2 ~ /epilogue/ ? " with epilogue" : "")
      order[++count] = name; flops[name] = n[9]; copy[name] = n[10] / n[12]; read[name] = n[10] / n[13]; peer[name] = n[15]
    }
    END {
      print "| goal | figure | at least | |\n|---|---:|---:|---|"
      split("1024x1024x1024 2048x2048x2048", cubes, " ")
      for (i = 1; i <= 2; i++) goal("gemm f32 " cubes[i] " over OpenBLAS", peer["gemm f32 " cubes[i]], 0.8)
      for (i = 1; i <= 2; i++) {
        goal("gemm f16 " cubes[i] " over f32", flops["gemm f16 " cubes[i]] / flops["gemm f32 " cubes[i]], 0.6)
        goal("gemm bf16 " cubes[i] " over f32", flops["gemm bf16 " cubes[i]] / flops["gemm f32 " cubes[i]], 0.6)
      }
      for (i = 1; i <= count; i++) # products of one row, and attention of one query, only read
        if (order[i] ~ /^gemm [a-z0-9]+ 1x|^attention [a-z0-9]+ [0-9]+x[0-9]+x[0-9]+x1x/) goal(order[i] " over the read rate", read[order[i]], 0.85)
        else if (order[i] ~ /^(rmsnorm|add|silu_mul|rope|embedding|softmax) /) goal(order[i] " over the copy rate", copy[order[i]], 0.9)
      attention = "attention f32 1x16x16x1024x1024x64"
      goal(attention " causal over gemm f32 1024x1024x1024", flops[attention] / flops["gemm f32 1024x1024x1024"], 0.5)
    }' $results/host.csv
}

{
  printf '## Host\n\n%s\n\n' "\`sh bench/record/host.sh\` made this part; all of its figures are in [host.json](host.json)."
  goals
  printf '\n![Roofline of the host](host.svg)\n\n'
  cat "$tables"
} >"$part"
sh bench/record/put_part.sh host host.sh <"$part"
sed -n '/^| goal/,/^$/p' "$part"
