#!/bin/sh
# A device that gives a workgroup less LDS than its chip has, as a driver may: a row whose fewest stages don't fit refuses with the bytes
# (tandem-check skips it), and the dispatcher takes another one. Use: test_little_lds.sh TANDEM_CHECK CHIP
check=$1 chip=$2
passed=0 failed=0
# expect STATUS WORDS LDS ARGUMENTS...
expect() {
  status=$1 words=$2 lds=$3
  shift 3
  said=$("$check" gemm --dtype bf16 --layout nt --device "sim:$chip,lds_bytes=$lds" "$@" 2>&1) && got=0 || got=$?
  case $got:$said in
    "$status":*"$words"*) passed=$((passed + 1)) ;;
    *)
      failed=$((failed + 1))
      printf 'LDS of %s bytes: tandem-check gemm %s\n  returned %s, must be %s with "%s"\n%s\n' "$lds" "$*" "$got" "$status" "$words" "$said"
      ;;
  esac
}
expect 77 'depth = 3: ' 8192 64x64x64 --kernel hip_tile_16x64
expect 77 'bytes of LDS, a workgroup of' 8192 64x64x64 --kernel hip_tile_16x64
expect 77 'depth = 2: ' 8192 300x300x300 --kernel hip_tile_256x128
expect 77 'depth = 3: ' 16384 64x64x64 --kernel hip_tile_32x128:depth=3
expect 0 '' 65536 300x300x300
expect 0 '' 65536 37x130x70
printf '%s passed, %s failed, 0 skipped\n' $passed $failed
[ $failed = 0 ]
