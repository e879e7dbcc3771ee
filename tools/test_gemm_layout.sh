#!/bin/sh
# The pictures of docs/gemm.md are those that tools/gemm-layout.sh prints. Use: test_gemm_layout.sh
set -eu
cd "$(dirname "$0")/.."
printed=$(sh tools/gemm-layout.sh)
status=0 lines=0
while read -r line; do
  [ -n "$line" ] || continue
  lines=$((lines + 1))
  sed 's/^ *//; s/ *$//' docs/gemm.md | grep -qxF -- "$line" || {
    echo "gemm-layout: prints a line that docs/gemm.md does not have: $line"
    status=1
  }
done <<END
$printed
END
[ $lines -gt 40 ] || { echo "gemm-layout: printed $lines lines, must be more than 40" && status=1; }
exit $status
