#!/bin/sh
# Installs the library into a temporary folder and uses it from a CMake project: find_package, a C and a C++ program, versions, and a
# prefix that was moved. Without cmake or a C++ compiler it is skipped.
# Use: test_cmake.sh BUILD SOURCE OFFLOAD COMPILER...     OFFLOAD: omp_offload of the build; COMPILER: the one that built it
set -eu
build=$1 source=$2 offload=$3
shift 3
skipped=77
for tool in cmake c++; do
  command -v $tool >/dev/null || {
    echo "cmake: no $tool"
    exit $skipped
  }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "cmake: $*" >&2
  exit 1
}
meson install -C "$build" --no-rebuild --quiet --destdir "$folder/root" >"$folder/log" 2>&1 || {
  cat "$folder/log"
  fail "meson install failed"
}
config=$(find "$folder/root" -name tandem-config.cmake)
[ -n "$config" ] || fail "no tandem-config.cmake was installed"
moved=${config%/lib*}

mkdir "$folder/build"
for header in "$source"/include/tandem/*.h; do echo "#include <tandem/${header##*/}>"; done >"$folder/build/all_headers.h"
configure() { # FOLDER WANTED OPTION...
  into=$1 wanted=$2
  shift 2
  cmake -S "$source/test/api/cmake" -B "$into" -DCMAKE_PREFIX_PATH="$moved" -DSOURCE="$source" -DWANTED="$wanted" "$@" >"$folder/log" 2>&1
}
# gcc's static library needs only gcc's runtime; clang's needs the flags and folders of clang-19 or an offload build.
static=OFF
case "$offload $*" in "none "*gcc*) static=ON ;; esac
configure "$folder/build" 0.1 -DWITH_STATIC=$static || {
  cat "$folder/log"
  fail "find_package failed"
}
cmake --build "$folder/build" >"$folder/log" 2>&1 || {
  cat "$folder/log"
  fail "a program can't be built"
}
library=$(dirname "$(find "$folder/root" -name libtandem.so)")
runs() { # PROGRAM EXPECTED
  printed=$(LD_LIBRARY_PATH="$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$folder/build/$1") || fail "$1: exit status $?"
  [ "$printed" = "$2" ] || fail "$1: printed $printed"
  echo "find_package, $1: ok"
}
minimal=$(printf '0.1497 0.3457\n0.8413 1.9545\n')
runs headers "3 5 7"
runs minimal "$minimal"
[ $static = OFF ] || runs minimal_static "$minimal"

# Versions that don't fit.
for wanted in 0.0 0.2 1.0 0.1.9; do
  if configure "$folder/other" $wanted; then fail "find_package(tandem $wanted) must not find 0.1.0"; fi
  grep -q 'considered but not accepted' "$folder/log" || {
    cat "$folder/log"
    fail "find_package(tandem $wanted): another failure"
  }
  rm -rf "$folder/other"
done
configure "$folder/other" 0.1.0 || fail "find_package(tandem 0.1.0) must find it"

# Without the shared library; and without any.
rm "$library"/libtandem.so*
if [ $static = ON ]; then
  rm -rf "$folder/build/CMakeCache.txt" "$folder/build/minimal"
  configure "$folder/build" 0.1 || fail "find_package must find the static library alone"
  cmake --build "$folder/build" --target minimal >"$folder/log" 2>&1 || {
    cat "$folder/log"
    fail "a program can't be built with the static library alone"
  }
  runs minimal "$minimal"
fi
rm "$library/libtandem.a"
rm -rf "$folder/other"
if configure "$folder/other" 0.1; then fail "find_package must not find a folder without a library"; fi
grep -q 'no libtandem.so and no libtandem.a in' "$folder/log" || {
  cat "$folder/log"
  fail "without a library: another failure"
}
