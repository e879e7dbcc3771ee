#!/bin/sh
# The steps of tools/test.sh: its list, what it runs, and the jobs of the GitHub workflow are the same. Steps that share a build folder
# configure it with the same options: with others each would delete what the step before has built. Use: test_steps.sh
set -eu
cd "$(dirname "$0")/.."
workflow=.github/workflows/test.yml
listed=$(sh tools/test.sh --list)
# Steps stand as `step NAME ...` or `skip NAME ...`; what a system may lack is not a step.
run=$(sed -n 's/^ *\(step\|skip\) \([a-z0-9_-]*\) .*/\2/p' tools/test.sh | grep -vx -e gfxsim -e hip | sort -u)
jobs=$(sed -n 's/^ *step: \[\(.*\)\]$/\1/p' $workflow | sed 's/, */\n/g')
status=0
if [ "$(echo "$listed" | sort)" != "$run" ]; then
  echo "steps: tools/test.sh --list prints: $(echo "$listed" | sort | tr '\n' ' ')"
  echo "steps: tools/test.sh runs:          $(echo "$run" | tr '\n' ' ')"
  status=1
fi
if [ "$listed" != "$jobs" ]; then
  echo "steps: tools/test.sh --list prints: $(echo "$listed" | tr '\n' ' ')"
  echo "steps: the jobs of $workflow: $(echo "$jobs" | tr '\n' ' ')"
  status=1
fi
for name in $(sed -n 's/^\(more\|halves\)="\(.*\)"$/\2/p' tools/test.sh | tr ',' ' '); do
  echo "$listed" | grep -q -x "$name" || {
    echo "steps: tools/test.sh leaves $name to --full or to other commits: there is no such step"
    status=1
  }
done
folders=$(sed -n 's/.*\(build-[a-z0-9_-]*\) \(gcc\|clang-[0-9]*\) \([^&|#]*\).*/\1 \2 \3/p' tools/test.sh | sed 's/ -Dtests=true//; s/ *$//' | sort -u)
twice=$(echo "$folders" | cut -d ' ' -f 1 | uniq -d)
if [ -n "$twice" ]; then
  echo "steps: tools/test.sh configures a folder with different options:"
  echo "$folders" | grep -F -w "$twice"
  status=1
fi
[ $status != 0 ] || echo "steps: $(echo "$listed" | grep -c .), in tools/test.sh and in $workflow"
exit $status
