#!/bin/sh
# test_slow.sh TANDEM-LEARN FILE: a compiler that does not end. The verdict says so after a minute, and speaks of no errors. It sleeps, so the
# test needs no processor.
set -u
learn=$1 file=$2
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
printf '#!/bin/sh\nexec sleep 300\n' >"$work/slow-cc"
chmod 755 "$work/slow-cc"
timeout 150 "$learn" try omp-axpy "$file" --compiler "$work/slow-cc" >"$work/out" 2>&1
status=$?
cat "$work/out"
[ $status -eq 1 ] && grep -q '^verdict: compiling takes too long' "$work/out" && grep -q 'took more than 60 s' "$work/out" &&
  ! grep -q 'first error' "$work/out"
