#!/bin/sh
# The command line of tandem-check: what it returns, and that a bad value gets one line that names it. $1: tandem-check
check=$1
passed=0 failed=0
# The kernels of a host without more instructions than the build needs.
for name in avx2 avx512 avx512_bf16 avx512_fp16; do
  export TANDEM_CPU=$name
  "$check" add 1x1 --device host >/dev/null 2>&1 && break
done

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
expect 2 "'ldq' is not a setting of gemm" gemm --set ldq=3 3x4x5
expect 2 'ldc = 1: must be 0 (packed) or at least' gemm --set ldc=1 3x4x5
expect 2 'its size overflows 63 bits' gemm --set batch=2,pad=4611686018427387904 8x8x8
expect 2 'ldc: must be given once' gemm --set ldc=9 --set ldc=9 3x4x5
expect 0 '2 passed, 0 failed, 0 skipped' add --set pad=1 --set shift=3 5x7
expect 2 'gemm: fill = huge: its sums leave f32: must be another fill, or of f16' gemm --set fill=huge 15x2x2
expect 2 'gemm: fill = negative: its sums leave f32' gemm --dtype bf16 --set alpha=0,fill=negative 5x17x3
expect 2 'swiglu: fill = huge: its sums leave f32' swiglu --set fill=huge 5x7x3
expect 2 'attention: fill = huge: its sums leave f32' attention --set fill=huge 1x1x1x5x5x16
expect 0 '1 passed, 0 failed, 0 skipped' gemm --dtype f16 --set fill=huge 15x2x2
expect 2 'add: inplace = b: b and c must have one type' add --dtype bf16 --set sums=1,inplace=b 3x9
expect 0 '2 passed, 0 failed, 0 skipped' add --set sums=1,inplace=b 3x9
expect 2 '--dtype: must be given once' add --dtype f32 --dtype=f32 3x4
expect 2 '--cover: must be given once' add --cover --cover
expect 2 "--seed = '-1': must be a whole number" add --seed -1 3x4
expect 2 "--teams = '0': must be a whole number from 1" add --teams 0 3x4
expect 2 "device = 'moon': must be host, omp:N, hip:N or sim:CHIP" add --device moon 3x4
expect 2 "kernel = 'fast'" add --kernel fast 3x4
expect 2 "not every op takes it" --layout nt
expect 2 '--layout' add --layout nn 3x4
expect 2 '--full with --huge' --full --huge
expect 2 "--every with SHAPE = '3x4': is for a set: there must be no SHAPE beside it" --every 3 add 3x4
expect 2 '--list with SHAPE' --list add 3x4
expect 2 '--offset counts within --every' add --offset 3
expect 2 "--offset = 'x': must be a whole number" add --every 3 --offset x
expect 2 '--always is for a part of a set' add --always 3
expect 2 "--always = '0': must be" add --every 3 --always 0
# Right, but a wrong kernel would give the same results: neither passed nor failed. Where C or a bias still shows something, it passes.
expect 77 '0 passed, 0 failed, 0 skipped, 1 inconclusive' gemm --set alpha=0 20x20x7
expect 77 '0 passed, 0 failed, 0 skipped, 1 inconclusive' gemm --epilogue bias+scale:0 3x3x7
expect 77 '0 passed, 0 failed, 0 skipped, 1 inconclusive' softmax --set causal_rows=40 1x23
expect 0 '1 passed, 0 failed, 0 skipped' gemm --set alpha=0,beta=1 20x20x7
expect 0 '1 passed, 0 failed, 0 skipped' gemm --set alpha=0 --epilogue bias 20x20x7
expect 0 'passed, 0 failed, 0 skipped' add --chosen omp --dtype f16
expect 77 '0 passed, 0 failed, ' swiglu --chosen omp_skinny --dtype f32 --layout tt
expect 0 'passed, 0 failed, ' swiglu --chosen omp_skinny --dtype f32 --layout nt
expect 2 "--chosen: 'hip_block' is not a kernel of add: must be of" add --chosen omp,hip_block
expect 2 'there must be an OP and no SHAPE' add --chosen omp 3x4
expect 2 'there must be an OP and no SHAPE' --chosen omp
expect 1 ' 1 failed, ' gemm --first-failure --set ldc=1 --layout nn
expect 2 'at most 2 arguments' add 3x4 5x6
expect 2 '--nothing' --nothing
expect 2 "9223372036854775807" add 9223372036854775807x9223372036854775807
# Arrays that the host has no memory for are named, before the others are filled.
memory() { # WORDS SHAPE...
  words=$1
  shift
  case $("$check" "$@" --device host --set fill=real 2>&1) in
    *"no memory for the arrays: $words"*'1 failed'*) passed=$((passed + 1)) ;;
    *) failed=$((failed + 1)) && printf 'tandem-check %s: must say that there is %s\n' "$*" "$words" ;;
  esac
}
memory 'x: no host memory for 4000000000000000 bytes' softmax 1000000000000x1000
memory 'c: no host memory for 400000000000000 bytes' gemm 10000000x10000000x1
TANDEM_CHECK_TRACE=7 expect 2 "TANDEM_CHECK_TRACE = '7': must be 0 or 1" add 3x4
TANDEM_CHECK_TRACE=1 expect 0 '2 passed' add 3x4

# The parts of a set are the set: each case is in one of them, or in all.
same() { # WHAT ONE OTHER
  if [ "$2" = "$3" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf '%s: %s, must be %s\n' "$1" "$2" "$3"
  fi
}
list() { "$check" softmax --device host --list "$@"; }
parts=$(for k in 0 1 2 3 4 5 6; do list --every 7 --offset $k; done | sort)
always=$(printf '%s\n' "$parts" | uniq -d | grep -c .)
same 'cases of all parts' "$(printf '%s\n' "$parts" | uniq | cksum)" "$(list | sort | cksum)"
same 'cases that always run, 7 times' "$(printf '%s\n' "$parts" | grep -c .)" $(($(list | grep -c .) + 6 * always))
apart=$(for k in 0 1 2 3 4 5 6; do list --every 7 --always 7 --offset $k; done | sort)
same 'cases of all parts, each once' "$(printf '%s\n' "$apart" | cksum)" "$(list | sort | cksum)"
same 'parts beyond the last' "$(list --every 7 --offset 9)" "$(list --every 7 --offset 2)"
same 'there are cases that always run' $((always > 5)) 1

# part.sh: the part that was asked for, else the commit's.
part() { sh "$(dirname "$0")/../part.sh" "$check" add --device host --dtype f16 --every 7 | sed -n 2p; }
same 'part asked for' "$(TANDEM_CHECK_OFFSET=9 part)" 'part: --every 7 --offset 2, and the cases that always run'
same 'part without git' "$(GIT_DIR=/nowhere part)" 'part: --every 7 --offset 0, and the cases that always run'
# Without a log of its own a program gets the library's lines on stderr.
case $(TANDEM_VERBOSE=1 "$check" add --device host 3x4 2>&1 >/dev/null) in
  'tandem: add f32 3x4'*) passed=$((passed + 1)) ;;
  *) failed=$((failed + 1)) && echo 'TANDEM_VERBOSE=1: no line of the library on stderr' ;;
esac
printf '%s passed, %s failed, 0 skipped\n' $passed $failed
[ $failed = 0 ]
