#!/bin/sh
# Builds small OpenMP programs for gfx942 and runs them under `gfxsim exec`.
# Use: sh openmp.sh GFXSIM SOURCE_FOLDER BUILD_TOOLS [PROGRAM...]
# Exit 77, skipped: no clang 19 with an offload runtime, or no device libraries. `sh tools/setup.sh --offload gfx942` fetches both.
set -u
gfxsim=$1 source=$2 tools=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip() {
  echo "skipped: $*"
  exit 77
}
first_with() { # FILE FOLDER...
  file=$1
  shift
  for folder; do
    if [ -e "$folder/$file" ]; then
      echo "$folder"
      return
    fi
  done
}

command -v clang-19 >/dev/null || skip "no clang-19"
llvm=$(first_with libomptarget-amdgpu-gfx942.bc "$tools/libomp-19/usr/lib/llvm-19/lib" /usr/lib/llvm-19/lib)
[ -n "$llvm" ] || skip "no libomptarget-amdgpu-gfx942.bc"
device=$(first_with ockl.bc "$tools/rocm/usr/lib/llvm-17/lib/clang/17/amdgcn/bitcode" /usr/lib/llvm-17/lib/clang/17/amdgcn/bitcode \
  /opt/rocm/amdgcn/bitcode)
[ -n "$device" ] || skip "no ockl.bc"
include=$(first_with omp.h "$llvm/clang/19/include" /usr/lib/llvm-19/lib/clang/19/include)

# The device code is optimised when it is linked: LLVM 19 crashes there at -O0.
build() {
  clang-19 -g -O2 -fopenmp --offload-arch=gfx942 -foffload-lto "--rocm-device-lib-path=$device" "-I$include" "-L$llvm" \
    "-Wl,-rpath,$llvm" "$source/$1.c" -o "$work/$1" 2>"$work/$1.build"
}

passed=0 failed=0
# check NAME STATUS PATTERN [exec's options]: the program ends with the status, or one of several, and what is printed has the
# pattern. $argument, if any, is the program's.
argument=''
check() {
  name=$1 want=$2 pattern=$3
  shift 3
  # Meson has malloc fill every block, which makes a launch three times as expensive.
  unfilled=
  [ "$name" != launches ] || unfilled='-u MALLOC_PERTURB_'
  # shellcheck disable=SC2086 # two words or none
  timeout 600 "$gfxsim" exec "$@" env $unfilled "$work/$name" ${argument:+"$argument"} >"$work/log" 2>&1
  got=$?
  case " $want " in *" $got "*)
    if grep -q -- "$pattern" "$work/log"; then
      passed=$((passed + 1))
      return
    fi
    ;;
  esac
  failed=$((failed + 1))
  echo "$name: exit status $got, expected $want, and a line with: $pattern"
  sed 's/^/  /' "$work/log"
}

for name in "${@:-all}"; do
  [ "$name" = all ] || [ -e "$source/$name.c" ] || skip "no program $name"
done
[ $# -gt 0 ] || set -- map memory reduce tasks team firstprivate devices unified host_pointer fault race leave ends fork both large launches

for name; do
  if ! build "$name"; then
    failed=$((failed + 1))
    echo "$name: clang-19 failed: $(head -n 3 "$work/$name.build")"
    continue
  fi
  case $name in
    devices)
      export GFXSIM_DEVICES=2
      check devices 0 ' 0 findings'
      export GFXSIM_DEVICES=9
      check devices 1 'GFXSIM_DEVICES = 9: must be 1 to 8'
      unset GFXSIM_DEVICES
      ;;
    host_pointer) check host_pointer 1 'did not ask for unified shared memory' ;;
    fault) check fault 1 'out of bounds: writes 4 bytes that start 256 bytes into an allocation of 256 bytes' ;;
    race) check race 1 '^LDS race: ' && grep -q 'at race.c:18' "$work/log" || failed=$((failed + 1)) ;;
    leave) check leave 5 ' 1 launches, 0 findings' ;;
    ends)
      # 139: LLVM 19's helper thread may ask for the kernel's end when the main thread has freed what it asks.
      check ends '5 139' ' 1 launches, 0 findings'
      argument=now
      check ends 5 '^gfxsim: 1 launches had not ended when the program did'
      argument=''
      ;;
    map)
      check map 0 ' 0 findings'
      check map 1 'no image for gfx950 (--offload-arch=gfx950)' --chip gfx950
      export OMP_TARGET_OFFLOAD=MANDATORY
      check map 134 'failure of target construct while offloading is mandatory' --chip gfx950
      unset OMP_TARGET_OFFLOAD
      check map 2 "chip = 'gfx90a': must be gfx942 or gfx950" --chip gfx90a
      ;;
    fork) check fork 2 'a forked child can not use the devices' ;;
    *) check "$name" 0 ' 0 findings' ;;
  esac
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
