#!/bin/sh
# Installs the library into a temporary folder and uses it as others would: the example through pkg-config with each compiler,
# shared and static, dlopen, and every public header alone in C and C++.
# Use: test_install.sh BUILD SOURCE OFFLOAD CHIPS COMPILER...     OFFLOAD: omp_offload of the build; CHIPS: that it can simulate, "" or
#      "gfx942 gfx950"; COMPILER: the one that built it
set -eu
build=$1 source=$2 offload=$3 chips=$4
shift 4
compiler=$*
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "install: $*" >&2
  exit 1
}
have() { command -v "$1" >/dev/null; }

meson install -C "$build" --no-rebuild --quiet --destdir "$folder/root" >"$folder/log" 2>&1 || {
  cat "$folder/log"
  fail "meson install failed"
}
pc=$(find "$folder/root" -name tandem.pc)
[ -n "$pc" ] || fail "no tandem.pc was installed"
export PKG_CONFIG_PATH="${pc%/*}"
prefix=$(pkg-config --variable=prefix tandem)
# Not PKG_CONFIG_SYSROOT_DIR: it would move the compiler's own folders too.
flags() { pkg-config --define-variable=prefix="$folder/root$prefix" "$@" tandem; }
library=${pc%/pkgconfig/*}
for tool in tandem-check tandem-bench tandem-run; do
  path=$(find "$folder/root" -type f -name $tool -perm -u+x)
  [ -n "$path" ] || fail "$tool was not installed"
  "$path" --help >"$folder/printed" || fail "$tool --help: exit status $?"
done
# The installed tools find the library beside them, and that one the simulator.
for chip in $chips; do
  for tool in 'tandem-check add 9x65' 'tandem-bench add 9x65'; do
    # shellcheck disable=SC2086 # a list of words
    "$folder/root$prefix/bin/"$tool --device "sim:$chip" >"$folder/printed" 2>&1 ||
      fail "$tool --device sim:$chip: $(tail -n 1 "$folder/printed")"
    echo "$tool on sim:$chip: ok"
  done
done
for header in "$source"/include/tandem/*.h; do
  find "$folder/root" -path "*/include/tandem/${header##*/}" | grep -q . || fail "${header##*/} was not installed"
done

# ---- The example ----

# Python: x / 2 * (1 + math.erf(x / math.sqrt(2))) of x W^T + b
printf '0.1497 0.3457\n0.8413 1.9545\n' >"$folder/expected"
runs() { # WHAT COMMAND...
  what=$1
  shift
  "$@" >"$folder/printed" || fail "$what: exit status $?"
  cmp -s "$folder/printed" "$folder/expected" || fail "$what: printed $(cat "$folder/printed")"
  echo "$what: ok"
}
export LD_LIBRARY_PATH="$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
for c in cc gcc clang-19 clang-22; do
  have $c || continue
  # shellcheck disable=SC2046 # a list of words
  $c "$source/examples/minimal.c" $(flags --cflags --libs) -o "$folder/minimal"
  runs "example, $c, shared" "$folder/minimal"
done
# A static library needs the OpenMP runtime, and the offload flags, of the compiler that built it.
# shellcheck disable=SC2046 # a list of words
$compiler "$source/examples/minimal.c" $(flags --cflags) "$library/libtandem.a" \
  $(flags --static --libs | sed 's/-ltandem//') -o "$folder/minimal"
runs "example, $compiler, static, omp_offload = $offload" env -u LD_LIBRARY_PATH "$folder/minimal"

# ---- dlopen ----

# shellcheck disable=SC2046 # a list of words
cc "$source/test/api/load.c" $(flags --cflags) -ldl -o "$folder/load"
printf '3 5 7\n' >"$folder/expected"
runs "dlopen" "$folder/load" "$library/libtandem.so.0"

# ---- Each header alone ----

for c in "gcc -std=c17" "clang-19 -std=c17" "clang-22 -std=c17" "g++ -std=c++11 -x c++" "clang++-19 -std=c++11 -x c++"; do
  have "${c%% *}" || continue
  for header in "$source"/include/tandem/*.h; do
    echo "#include <tandem/${header##*/}>" >"$folder/alone.c"
    # shellcheck disable=SC2046,SC2086 # lists of words
    $c -fsyntax-only -Wall -Wextra -Wpedantic -Werror $(flags --cflags) "$folder/alone.c" || fail "${header##*/} alone: $c"
  done
  echo "headers alone, $c: ok"
done
