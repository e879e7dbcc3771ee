#!/bin/sh
# tandem-bench beside rocBLAS and hipBLASLt, by a stand-in that computes (fake_blas.c) on a stand-in device (fake.c). There
# tandem's own kernels do nothing, so its row fails and the peer's must be right: each line of the output is looked at.
# Use: test_peers.sh TANDEM_BENCH FAKE_HIP FAKE_BLAS CHIP
bench=$1 hip=$(realpath "$2") blas=$(realpath "$3") chip=$4
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
ln -s "$hip" "$folder/libamdhip64.so.6" && mkdir "$folder/blas" && ln -s "$blas" "$folder/blas/librocblas.so.4" &&
  ln -s "$blas" "$folder/blas/libhipblaslt.so.0" || exit 1
unset TANDEM_STRICT TANDEM_BACKEND TANDEM_DEVICE TANDEM_KERNEL TANDEM_VERIFY
passed=0 failed=0

# expect PATH PEER PATTERN ARGUMENTS...
expect() {
  path=$1 peer=$2 pattern=$3
  shift 3
  said=$(LD_LIBRARY_PATH=$path FAKE_HIP=$chip "$bench" gemm --device hip:0 --peer "$peer" --repeats 1 --hot --wide --csv "$folder/out.csv" "$@" 2>&1
    cat "$folder/out.csv")
  if printf '%s\n' "$said" | grep -q "$pattern"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'tandem-bench gemm --peer %s %s: no line with "%s"\n%s\n' "$peer" "$*" "$pattern" "$said"
  fi
}

for peer in rocblas hipblaslt; do
  if ! ldconfig -p | grep -q "lib$peer"; then
    expect "$folder" "$peer" "no lib$peer.so.* could be loaded" 9x8x7
  fi
  right="hip:0 *$peer *[0-9]"
  for case in '--layout nn 9x8x7' '--layout nt --dtype bf16 33x17x20' '--layout tn --dtype f16 12x31x5' \
    '--layout tt --set lda=11,ldb=23,ldc=40 9x37x21' '--dtype f16 --set out=f32,alpha=0.5 16x24x33' \
    '--set beta=2 5x6x7' '--layout nt --set batch=3,broadcast_b=1,stride_a=200 9x8x7'; do
    # shellcheck disable=SC2086
    expect "$folder:$folder/blas" "$peer" "$right" $case
  done
  expect "$folder:$folder/blas" "$peer" 'is asked for no epilogue' --epilogue relu 9x8x7
done
# A file of cases beside a peer: its answer is in the row, as that of a peer with --turns.
printf 'gemm --layout nt --dtype bf16 33x17x20\nadd 8x8\n' >"$folder/shapes.txt"
for peer in rocblas hipblaslt; do
  LD_LIBRARY_PATH=$folder:$folder/blas FAKE_HIP=$chip "$bench" --shapes "$folder/shapes.txt" --device hip:0 --peer "$peer" --repeats 1 \
    --json "$folder/$peer.json" >"$folder/said" 2>&1
  if python3 - "$folder/$peer.json" "$peer" <<'PYTHON'; then
import json, sys

gemm, add = (row["peer"] for row in json.load(open(sys.argv[1]))["rows"])
assert gemm["outcome"] == "ok" and gemm["way"] == sys.argv[2] and gemm["seconds"]["median"] > 0 and gemm["checked"].startswith("8 rows"), gemm
assert add["outcome"] == "unsupported" and add["reason"], add
PYTHON
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    cat "$folder/said"
  fi
done
expect "$folder:$folder/blas" hipblaslt 'finds no algorithm' 9x13x7
# No simulator is behind it, so it is timed; ceilings of hip: devices are not measured.
expect "$folder:$folder/blas" rocblas '^ceilings of hip:0: not measured$' 9x8x7
expect "$folder:$folder/blas" rocblas '^times are medians' 9x8x7
printf '%s passed, %s failed, 0 skipped\n' $passed $failed
[ $failed = 0 ]
