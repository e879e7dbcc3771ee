#!/bin/sh
# A device that gives a workgroup less LDS than its chip has, as a driver may: a row whose fewest stages don't fit refuses with the bytes
# (tandem-check skips it), and the dispatcher takes another one. Use: test_little_lds.sh TANDEM_CHECK CHIP
check=$1 chip=$2
passed=0 failed=0
# expect STATUS WORDS LDS ARGUMENTS...: of gemm; of_op, of the op that comes first
expect() {
  status=$1 words=$2 lds=$3
  shift 3
  of_op "$status" "$words" "$lds" gemm --layout nt "$@"
}
of_op() {
  status=$1 words=$2 lds=$3
  shift 3
  said=$("$check" "$@" --dtype bf16 --device "sim:$chip,lds_bytes=$lds" 2>&1) && got=0 || got=$?
  case $got:$said in
    "$status":*"$words"*) passed=$((passed + 1)) ;;
    *)
      failed=$((failed + 1))
      printf 'LDS of %s bytes: tandem-check %s\n  returned %s, must be %s with "%s"\n%s\n' "$lds" "$*" "$got" "$status" "$words" "$said"
      ;;
  esac
}
expect 77 'depth = 3: ' 8192 64x64x64 --kernel hip_tile_16x64
expect 77 'bytes of LDS, a workgroup of' 8192 64x64x64 --kernel hip_tile_16x64
expect 77 'depth = 2: ' 8192 300x300x300 --kernel hip_tile_256x128
expect 77 'depth = 3: ' 16384 64x64x64 --kernel hip_tile_32x128:depth=3
expect 0 '' 65536 300x300x300
expect 0 '' 65536 37x130x70
# gfx950's driver may give 64 KiB of its 160: rows that are laid out for more refuse, and the choice leaves them out.
wide=0 says=
[ "$chip" != gfx950 ] || wide=77 says='bytes of LDS: a workgroup of this gfx950 may have 65536'
expect $wide "$says" 65536 256x256x64 --kernel hip_256x256
of_op $wide "$says" 65536 swiglu 64x64x64 --kernel hip_256x128
of_op $wide "$says" 65536 attention 1x2x2x64x64x64 --kernel hip_flash64
of_op $wide "$says" 65536 attention 1x2x2x64x64x128 --kernel hip_flash128
of_op $wide "$says" 65536 attention 1x2x2x1x64x128 --kernel hip_decode128
of_op 0 '' 65536 swiglu 64x64x64
of_op 0 '' 65536 attention 1x2x2x64x64x128
printf '%s passed, %s failed, 0 skipped\n' $passed $failed
[ $failed = 0 ]
