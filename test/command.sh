#!/bin/sh
# The command line of tandem-check: what it returns, and that a bad value gets one line that names it. $1: tandem-check
check=$1
passed=0 failed=0

# expect STATUS WORDS ARGUMENTS...: the last line said holds the words; with status 2 it is the only one.
expect() {
  status=$1 words=$2
  shift 2
  said=$("$check" "$@" 2>&1) && got=0 || got=$?
  [ "$status" = 2 ] || said=$(printf '%s\n' "$said" | tail -n 1)
  case $got:$(printf '%s\n' "$said" | wc -l):$said in
    "$status":1:*"$words"*) passed=$((passed + 1)) ;;
    *)
      failed=$((failed + 1))
      printf 'tandem-check %s\n  returned %s, must be %s with "%s"\n%s\n' "$*" "$got" "$status" "$words" "$said"
      ;;
  esac
}

expect 0 '1 passed, 0 failed, 0 skipped' gemm --dtype bf16 --layout nt --epilogue bias+quick_gelu+scale:0.5 257x129x65 --seed 7
expect 0 '2 passed, 0 failed' gemm --device host,host --set fill=exact 5x7x9
expect 0 '2 passed, 0 failed' add --teams 3 --threads 2 5x7
expect 77 '0 passed, 0 failed, 0 skipped' swiglu --layout tt
expect 2 "op = 'gem': must be one of gemm|" gem
expect 2 "shape = '3x4': has 2 numbers: must be MxNxK" gemm 3x4
expect 2 "shape = '3x4x-5': must be MxNxK, each" gemm 3x4x-5
expect 2 "dtype = 'f64': must be f16, bf16 or f32" add --dtype f64 3x4
expect 2 "layout = 'xx': must be nn, nt, tn or tt" gemm --layout xx
expect 2 "'gelo' must be bias" gemm --epilogue gelo 3x4x5
expect 2 "'ldq' is no setting of gemm" gemm --set ldq=3 3x4x5
expect 2 'ldc = 1: must be 0 (packed) or at least' gemm --set ldc=1 3x4x5
expect 2 "--seed = '-1': must be a whole number" add --seed -1 3x4
expect 2 "--teams = '0': must be a whole number from 1" add --teams 0 3x4
expect 2 "device = 'moon': must be host, omp:N, hip:N or sim:CHIP" add --device moon 3x4
expect 2 "kernel = 'fast'" add --kernel fast 3x4
expect 2 "not every op takes it" --layout nt
expect 2 '--layout' add --layout nn 3x4
expect 2 '--full with --huge' --full --huge
expect 2 '--every choose from a set' --every 3 add 3x4
expect 2 'at most 2 arguments' add 3x4 5x6
expect 2 '--nothing' --nothing
expect 2 "9223372036854775807" add 9223372036854775807x9223372036854775807
TANDEM_CHECK_TRACE=7 expect 2 "TANDEM_CHECK_TRACE = '7': must be 0 or 1" add 3x4
TANDEM_CHECK_TRACE=1 expect 0 '2 passed' add 3x4
printf '%s passed, %s failed, 0 skipped\n' $passed $failed
[ $failed = 0 ]
