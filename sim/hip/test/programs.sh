#!/bin/sh
# Builds small HIP programs, as users do but without ROCm, and runs them under `gfxsim exec`.
# Use: sh programs.sh [--only NAMES] [--preload FILE] [--sanitize NAME] GFXSIM LIBRARY_FOLDER SOURCE_FOLDER BUILD_TOOLS COMPILER...
# The first compiler that can build such programs is used; exit status 77, skipped, where none can. FILE: a sanitizer's runtime,
# which has to be loaded first. NAME: the programs' own host code is built with -fsanitize=NAME.
# Programs that need ROCm's device libraries are left out, and counted, where these are not: `sh tools/setup.sh --offload gfx942`.
set -u
only='' preload='' sanitize=''
while [ "${1#--}" != "$1" ]; do
  case $1 in
    --only) only=$2 ;;
    --preload) preload=$2 ;;
    --sanitize) sanitize=-fsanitize=$2 ;;
    *) exit 2 ;;
  esac
  shift 2
done
gfxsim=$1 library=$2 source=$3 tools=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

can_build() {
  command -v "$1" >/dev/null && "$1" -x hip -nogpuinc -nogpulib --offload-arch=gfx942 -w -c "$source/add.hip" -o "$work/probe.o" 2>"$work/why"
}
compiler=
: >"$work/why"
for name; do
  [ -n "$compiler" ] || ! can_build "$name" || compiler=$name
done
if [ -z "$compiler" ]; then
  echo "skipped: none of $* builds a HIP program (clang-19 needs lld-19, clang-tools-19 and llvm-19): $(head -n 1 "$work/why")"
  exit 77
fi
device=
for folder in "$tools/rocm/usr/lib/llvm-17/lib/clang/17/amdgcn/bitcode" /usr/lib/llvm-17/lib/clang/17/amdgcn/bitcode \
  /opt/rocm/amdgcn/bitcode; do
  [ -n "$device" ] || [ ! -e "$folder/ockl.bc" ] || device=$folder
done

passed=0 failed=0 left_out=0
fail() {
  failed=$((failed + 1))
  echo "$*"
}
# build NAME SOURCE FLAGS...; false also for a program that --only does not name
build() {
  name=$1 file=$2
  shift 2
  case " ${only:-$name} " in *" $name "*) ;; *) return 1 ;; esac
  if "$compiler" -x hip -nogpuinc -g -O2 -w ${sanitize:+-Xarch_host "$sanitize"} "$@" -c "$source/$file.hip" -o "$work/$name.o" >"$work/log" 2>&1 &&
    "$compiler" ${sanitize:+"$sanitize"} "$work/$name.o" -o "$work/$name" "-L$library" -Wl,--unresolved-symbols=ignore-in-shared-libs -lamdhip64 >>"$work/log" 2>&1; then
    return 0
  fi
  fail "$name: $compiler failed: $(head -n 3 "$work/log")"
  return 1
}
options='' # of gfxsim exec
# check NAME STATUS PATTERN [ARGUMENT...]: the program ends with the status, and what is printed has the pattern.
check() {
  name=$1 want=$2 pattern=$3
  shift 3
  # Meson has malloc fill every block, which makes a launch three times as expensive.
  unfilled=
  [ "$name" != launches ] || unfilled='-u MALLOC_PERTURB_'
  # shellcheck disable=SC2086 # lists of words
  timeout 600 "$gfxsim" exec $options env $unfilled ${preload:+LD_PRELOAD="$preload"} "$work/$name" "$@" >"$work/log" 2>&1
  got=$?
  if [ $got -eq "$want" ] && grep -q -- "$pattern" "$work/log"; then
    passed=$((passed + 1))
  else
    fail "$name $*: exit status $got, expected $want, and a line with: $pattern"
    sed 's/^/  /' "$work/log"
  fi
}
plain="--offload-arch=gfx942 -nogpulib"

# shellcheck disable=SC2086 # lists of words
{
  for name in add symbols streams memory cooperative launches; do
    ! build $name $name $plain || check $name 0 ' 0 findings, 0 suppressed, 0 calls not served'
  done
  # Once more where kernels may use all memory. A sanitizer's own memory lies where a device's does.
  if [ -z "$preload" ] && [ -x "$work/memory" ]; then
    export HSA_XNACK=1
    check memory 0 ' 0 findings, 0 suppressed, 0 calls not served'
    unset HSA_XNACK
  fi
  options='--time'
  [ ! -x "$work/add" ] || check add 0 'predicted clocks: [1-9][0-9]*, '
  [ ! -x "$work/cooperative" ] || check cooperative 0 'predicted clocks: [1-9][0-9]*, '
  options='--threads 8'
  ! build last_block last_block $plain || check last_block 0 ' 400 launches, 0 findings, 0 suppressed'
  options=''
  ! build devices devices $plain || {
    export GFXSIM_DEVICES=2
    check devices 0 ' 0 findings'
    check devices 1 "of device 0's memory, to which this device has no access" unasked
    unset GFXSIM_DEVICES
  }
  ! build fault fault $plain || check fault 1 'out of bounds: writes 4 bytes that start 256 bytes into an allocation of 256 bytes'
  ! build host_pointer host_pointer $plain || check host_pointer 1 'of host memory that was not mapped for this device'
  ! build refused refused $plain || check refused 0 'not served: hipGraphCreate: 1 times'
  ! build fork fork $plain || check fork 0 'a forked child can not use the devices'
  ! build leave leave $plain || {
    check leave 5 ' 2 launches, 0 findings'
    check leave 6 ' 2 launches, 0 findings' callback
  }
  # Containers: several chips, compressed, and none for this chip.
  ! build several add $plain --offload-arch=gfx90a || check several 0 ' 1 launches, 0 findings'
  ! build packed add $plain --offload-compress || check packed 0 ' 1 launches, 0 findings'
  ! build other add --offload-arch=gfx90a -nogpulib || check other 3 'no code for gfx942 (--offload-arch=gfx942): it has gfx90a'
  "$compiler" -x hip -nogpuinc -O2 -w $plain --cuda-device-only --no-gpu-bundle-output "$source/module.hip" -o "$work/shift.hsaco"
  ! build module module $plain || check module 0 ' 3 launches, 0 findings' "$work/shift.hsaco"
  ! build thread add $plain -fgpu-default-stream=per-thread || check thread 0 ' 1 launches, 0 findings'
  # The library under the names of ROCm 5 and 7.
  for major in 5 7; do
    [ -z "$only" ] || continue
    sed "s/libamdhip64\.so\.6/libamdhip64.so.$major/g" "$work/add" >"$work/add$major"
    chmod +x "$work/add$major"
    check add$major 0 ' 1 launches, 0 findings'
  done
  if [ -n "$device" ]; then
    ! build grid_sync grid_sync --offload-arch=gfx942 "--rocm-device-lib-path=$device" ||
      check grid_sync 0 ' 2 launches, 0 findings, 0 suppressed'
    for kind in hostcall buffered; do
      ! build printf printf --offload-arch=gfx942 "--rocm-device-lib-path=$device" -mprintf-kind=$kind ||
        check printf 0 'hello wave from 1 of 64:  1.50 b 123456789abc -1  |%'
    done
  elif [ -z "$only" ] || [ "$only" = printf ]; then
    left_out=3
    echo "left out: grid_sync, printf with hostcall and buffered: no ockl.bc"
  fi
}
echo "$passed passed, $failed failed, $left_out left out"
[ $failed -eq 0 ]
