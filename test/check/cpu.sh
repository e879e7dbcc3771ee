#!/bin/sh
# A check with the instruction sets up to a name: cpu.sh NAME TANDEM-CHECK [ARGUMENT...]. Skipped where the machine lacks them, or where
# the build needs more.
TANDEM_CPU=$1
export TANDEM_CPU
shift
refused=$("$1" add 1x1 --device host 2>&1 >/dev/null) || case $refused in
*"TANDEM_CPU = "*)
  echo "skipped: $refused"
  exit 77
  ;;
esac
exec sh "$(dirname "$0")/part.sh" "$@"
