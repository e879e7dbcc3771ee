#!/bin/sh
# A first look in one command. Installs what is missing, builds the library and its tools in build/, and compares one or two cases of
# each op: the host's times beside OpenBLAS and this machine's ceilings, and what gfxsim counts of the HIP kernels on an MI355X. Tables
# here, and a picture. Then it builds both paths for gfx942 in build-gfx942/, which takes minutes, and compares them on a simulated
# MI300X.
# Use: sh tools/demo.sh [--wide]     --wide: all columns of the tables; otherwise those that fit the terminal
#      CC=clang-19 sh tools/demo.sh  builds with another compiler
set -eu
cd "$(dirname "$0")/.."
# As wide as the tables: the terminal, or 100 columns.
width=${COLUMNS:-$(stty size 2>/dev/null </dev/tty | cut -d ' ' -f 2)}
case $width in '' | *[!0-9]* | [0-9] | 0*) width=100 ;; esac
say() { printf 'demo: %s\n' "$*" | fold -s -w $((width - 2)) | sed '2,$s/^/  /; s/ *$//'; }
wide=
for argument; do
  case $argument in
    --wide) wide=--wide ;;
    --help | -h)
      sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"
      exit 0
      ;;
    *)
      echo "demo: '$argument': unknown argument; use: sh tools/demo.sh [--wide]" >&2
      exit 2
      ;;
  esac
done

# run WHAT COMMAND...: prints nothing unless the command fails.
run() {
  what=$1 began=$(date +%s)
  shift
  "$@" >build/demo.log 2>&1 || {
    tail -n 40 build/demo.log >&2
    say "$what failed: its last lines are above, all of them in build/demo.log" >&2
    exit 1
  }
  say "$what: $(($(date +%s) - began)) s"
}

sh tools/setup.sh --hip || [ $? = 3 ] # 3: LLVM 22 is not available on this system, so only the host is shown
backend=omp
if command -v clang-22 >/dev/null && command -v llvm-config-22 >/dev/null; then backend=hip; fi
mkdir -p build
if [ -f build/build.ninja ]; then
  say "build/ is configured already${CC:+, and keeps its compiler: CC = $CC is for a new one}"
else
  run "configuring build/" env CC="${CC:-gcc}" meson setup build -Dtdm_backend=$backend
fi
say "building in build/, which takes some minutes the first time"
run "building" ninja -C build -j "$(nproc)"

bench=build/bench/tandem-bench devices=host
if $bench add 8x8 --device sim:gfx950 >build/demo.log 2>&1; then
  devices=host,sim:gfx950
else
  say "without the HIP path only the host is shown: $(tail -n 1 build/demo.log)"
fi
say "comparing one or two cases of each op, about a minute:"
echo "  $bench --brief --device $devices --peer openblas"
# shellcheck disable=SC2086 # wide: a word or nothing
$bench --brief --device $devices --peer openblas --min-time 0.1 --check-time 1 --plot build/roofline.svg $wide
say "build/roofline.svg is the picture: the host's times and this machine's ceilings, the simulated chip's bounds and its peak"

# Both paths of one chip: a program with the OpenMP path's image for gfx942 and the HIP kernels, under gfxsim exec.
gpu=build-gfx942
if [ $devices = host ]; then
  say "the two paths of an MI300X are not compared, because gfxsim was not built"
  exit 0
fi
sh tools/setup.sh --offload gfx942 || {
  say "the two paths of an MI300X are not compared: the OpenMP path can't be built for gfx942, see the message above"
  exit 0
}
[ -f $gpu/build.ninja ] || run "configuring $gpu/" env CC=clang-19 meson setup $gpu -Dsim=disabled -Domp_offload=gfx942 \
  -Dtdm_backend=hip -Dhip_archs=gfx942 -Dladder=false
say "building both paths for gfx942 in $gpu/, which takes some minutes the first time, most of them for one link"
run "building" ninja -C $gpu -j "$(nproc)" bench/tandem-bench
sides() {
  say "both paths of an MI300X, for $*:"
  echo "  gfxsim exec --no-check all $gpu/bench/tandem-bench $* --device omp:0,hip:0" | fold -s -w "$width"
  # shellcheck disable=SC2086 # wide: a word or nothing
  build/sim/gfxsim exec --no-check all $gpu/bench/tandem-bench "$@" --device omp:0,hip:0 $wide
}
sides rmsnorm 64x1024 --dtype bf16
sides softmax 64x1024 --dtype bf16
sides gemm 64x64x64
