#!/bin/sh
# The main job in one command: installs what is missing, builds both paths in build/, and compares them op by op on a small
# standard set: the host's times with this machine's ceilings and OpenBLAS, beside what gfxsim counts of the HIP kernels on an
# MI355X. Tables here, and a picture. Then both paths of one simulated MI300X side by side, in a build of its own that takes minutes.
# Use: sh tools/demo.sh     CC=clang-19 sh tools/demo.sh builds with another compiler
set -eu
cd "$(dirname "$0")/.."
say() { printf 'demo: %s\n' "$*"; }
[ $# = 0 ] || {
  echo "demo: '$1': takes no arguments" >&2
  exit 2
}

sh tools/setup.sh --hip || [ $? = 3 ] # 3: LLVM 22 is not available here, so only the host is shown
backend=omp
if command -v clang-22 >/dev/null && command -v llvm-config-22 >/dev/null; then backend=hip; fi
mkdir -p build
if [ -f build/build.ninja ]; then
  say "build/ is configured already${CC:+: it keeps its compiler, CC = $CC is for a new one}"
else
  say "configuring build/"
  CC=${CC:-gcc} meson setup build -Dtdm_backend=$backend >build/demo.log 2>&1 || {
    cat build/demo.log >&2
    exit 1
  }
fi
say "building in build/"
ninja -C build -j "$(nproc)" >build/demo.log 2>&1 || {
  tail -n 40 build/demo.log >&2
  exit 1
}
bench=build/bench/tandem-bench devices=host
if $bench add 8x8 --device sim:gfx950 >build/demo.log 2>&1; then
  devices=host,sim:gfx950
else
  say "the host alone, without the HIP path: $(tail -n 1 build/demo.log)"
fi
say "comparing each op of the standard set: $bench --device $devices --peer openblas"
$bench --device $devices --peer openblas --min-time 0.2 --plot build/roofline.svg
say "the picture is build/roofline.svg"

# Both paths of one chip: a program with the OpenMP path's image for gfx942 and the HIP kernels, under gfxsim exec.
gpu=build-gfx942
if [ $devices = host ]; then
  say "gfxsim is not here: the two paths of an MI300X are not compared"
  exit 0
fi
sh tools/setup.sh --offload gfx942 || {
  say "the two paths of an MI300X are not compared: what the OpenMP path needs for gfx942 is not here, see above"
  exit 0
}
[ -f $gpu/build.ninja ] || CC=clang-19 meson setup $gpu -Dsim=disabled -Domp_offload=gfx942 -Dtdm_backend=hip -Dhip_archs=gfx942 -Dladder=false >build/demo.log 2>&1 || {
  cat build/demo.log >&2
  exit 1
}
say "building both paths for gfx942 in $gpu/: some minutes, most of them for one link of the OpenMP path"
ninja -C $gpu -j "$(nproc)" bench/tandem-bench >build/demo.log 2>&1 || {
  tail -n 40 build/demo.log >&2
  exit 1
}
sides() {
  say "both paths of an MI300X: gfxsim exec --no-check all $gpu/bench/tandem-bench $* --device host,omp:0,hip:0"
  build/sim/gfxsim exec --no-check all $gpu/bench/tandem-bench "$@" --device host,omp:0,hip:0 --min-time 0.2
}
sides rmsnorm 64x1024 --dtype bf16
sides softmax 64x1024 --dtype bf16
sides gemm 64x64x64 --peer openblas
