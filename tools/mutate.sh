#!/bin/sh
# Changes one token, constant, condition or statement of a kernel at a time, and checks whether a test fails: docs/checking.md.
# Use: sh tools/mutate.sh [--files FILE...] [--count N] [--seed S] [--ci-only] [--table] [-j N]     all options: --help
# It continues where it was interrupted: build-mutate/results.tsv has a line for each mutant that was judged.
set -eu
cd "$(dirname "$0")/.."
case " $* " in *' --help '* | *' -h '* | *' --table '*) ;; *)
  [ -f build-coverage/lines.tsv ] || sh tools/coverage.sh
  ;;
esac
exec python3 tools/mutate/mutate.py "$@"
