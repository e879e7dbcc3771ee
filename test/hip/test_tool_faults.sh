#!/bin/sh
# Each call of HIP's runtime that a tool makes fails in turn (fake.c), of tandem-bench the first ones: the tool must print the
# library's message, which names the function, and exit with 1. Use: test_tool_faults.sh FAKE CHIP TANDEM_CHECK TANDEM_RUN TANDEM_BENCH
fake=$(realpath "$1") chip=$2 check=$3 run=$4 bench=$5
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
ln -s "$fake" "$folder/libamdhip64.so.6" || exit 1
unset TANDEM_STRICT TANDEM_BACKEND TANDEM_DEVICE TANDEM_KERNEL TANDEM_VERIFY
export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" FAKE_HIP="$chip,$chip" FAKE_CALLS="$folder/calls"
passed=0 failed=0

# first_calls COUNT TOOL ARGUMENTS...: fewer, where the tool makes fewer
first_calls() {
  most=$1 at=0
  shift
  while [ "$at" -lt "$most" ]; do
    rm -f "$folder/calls"
    said=$(FAKE_FAIL=$at "$@" 2>&1) && got=0 || got=$?
    if ! read -r calls function <"$folder/calls"; then
      failed=$((failed + 1))
      printf '%s: did not come to the device\n%s\n' "$*" "$said"
      return
    fi
    [ "$function" = - ] && break
    case $got:$said in
      1:*"$function"*) passed=$((passed + 1)) ;;
      *)
        failed=$((failed + 1))
        printf 'FAKE_FAIL=%s %s\n  returned %s, must be 1 with "%s"\n%s\n' "$at" "$*" "$got" "$function" "$said"
        ;;
    esac
    at=$((at + 1))
  done
  printf '%s: each of the first %s of %s calls failed in turn\n' "$(basename "$1")" "$at" "$calls"
}

first_calls 1000 "$check" add --device hip:1 3x4
printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), }" >"$folder/a.npy"
printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >>"$folder/a.npy"
first_calls 1000 "$run" add --a "$folder/a.npy" --b "$folder/a.npy" --out "$folder/c.npy" --device hip:1
# Its measurements make hundreds of thousands of calls.
first_calls 30 "$bench" add 3x4 --device hip:1 --repeats 1 --check-time 0.001
first_calls 30 "$bench" tune add 3x4 --device hip:1 --min-time 0.001
printf '%s passed, %s failed, 0 skipped\n' $passed $failed
[ $failed = 0 ]
