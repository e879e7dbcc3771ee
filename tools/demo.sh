#!/bin/sh
# The main job in one command: installs what is missing, builds in build/, and compares the ops with this machine's ceilings and
# with OpenBLAS on a small standard set: a table here, and a picture.
# Use: sh tools/demo.sh     CC=clang-19 sh tools/demo.sh builds with another compiler
set -eu
cd "$(dirname "$0")/.."
say() { printf 'demo: %s\n' "$*"; }

sh tools/setup.sh
mkdir -p build
if [ ! -f build/build.ninja ]; then
  say "configuring build/"
  CC=${CC:-gcc} meson setup build >build/demo.log 2>&1 || {
    cat build/demo.log >&2
    exit 1
  }
fi
say "building in build/"
ninja -C build -j "$(nproc)" >build/demo.log 2>&1 || {
  tail -n 40 build/demo.log >&2
  exit 1
}
say "measuring each op of the standard set: build/bench/tandem-bench --peer openblas"
build/bench/tandem-bench --peer openblas --min-time 0.2 --plot build/roofline.svg
say "the picture is build/roofline.svg"
