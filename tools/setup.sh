#!/bin/sh
# Installs what Tandem needs and this machine lacks, from the system's own package sources: Debian 12, Debian 13, Ubuntu 24.04.
# Use: sh tools/setup.sh                    to build, run and measure
#      sh tools/setup.sh --test             also what tools/test.sh needs: clang, sanitizers, clang-format
#      sh tools/setup.sh --hip              also what -Dtdm_backend=hip needs: clang 22, and the simulator's libraries
#      sh tools/setup.sh --site             also what tools/site.sh and its test need: Python's venv, Chromium
#      sh tools/setup.sh --offload CHIP     also what -Domp_offload=CHIP needs: sm_NN or gfxNNN; may be given twice
# Root installs directly, other users through sudo. Files that are not packages of this system go to build-tools/.
# The last line is "everything is installed", or names what was left out. Exit status: 0 done, 1 something failed, 2 bad usage,
# 3 a package that --test, --hip or --site asks for is not available on this system; all others are installed.
set -eu
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
fail() {
  say "$*" >&2
  exit 1
}
usage() {
  say "$*" >&2
  exit 2
}

want_test=no
want_hip=no
want_site=no
nvidia=no
amd=no
while [ $# -gt 0 ]; do
  case $1 in
    --test) want_test=yes ;;
    --hip) want_hip=yes ;;
    --site) want_site=yes ;;
    --offload)
      [ $# -ge 2 ] || usage "--offload: needs a chip, sm_NN or gfxNNN"
      shift
      case $1 in
        sm_*) nvidia=yes ;;
        gfx*) amd=yes ;;
        *) usage "--offload $1: must be sm_NN (NVIDIA) or gfxNNN (AMD)" ;;
      esac
      ;;
    *) usage "$1: unknown option; use: sh tools/setup.sh [--test] [--hip] [--site] [--offload CHIP]" ;;
  esac
  shift
done

# ---- What is missing ----

missing=
# need PACKAGE COMMAND...: the package is missing when the command fails.
need() {
  package=$1
  shift
  "$@" >/dev/null 2>&1 || missing="$missing $package"
}
have() { command -v "$1"; }
library() { PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -q "$1"; }
module() { pkg-config --exists "$1"; }
file() { [ -e "$1" ]; }

need gcc have gcc
need libc6-dev file /usr/include/stdio.h
need meson have meson
need ninja-build have ninja
need pkgconf have pkg-config
need libpopt-dev module popt
need libjansson-dev module jansson
need libcmocka-dev module cmocka
need libpcre2-dev module libpcre2-8
need libopenblas0-pthread library libopenblas.so.0

llvm=/usr/lib/llvm-19
openmp=build-tools/libomp-19
if [ $want_test = yes ]; then
  need g++ have g++
  need cmake have cmake # the test of find_package
  need git have git # some tests list the files of the source tree with it
  need make have make # HeCBench's programs are built with it
  need python3-dev file "$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>&1)/Python.h"
  need python3-venv python3 -c 'import ensurepip'
  need clang-format-19 have clang-format-19
  need libclang-rt-19-dev file $llvm/lib/clang/19/lib/linux
fi
if [ $want_test = yes ] || [ $nvidia = yes ] || [ $amd = yes ]; then
  need clang-19 have clang-19
  # ThreadSanitizer asks its llvm-symbolizer for the names in test/threads/tsan.supp, and clang-offload-bundler runs its llvm-objcopy.
  need llvm-19 file $llvm/bin/llvm-symbolizer
  file $openmp$llvm/lib/clang/19/include/omp.h >/dev/null || need libomp-19-dev file $llvm/lib/clang/19/include/omp.h
fi
if [ $nvidia = yes ] || [ $amd = yes ]; then
  need clang-tools-19 file $llvm/bin/clang-linker-wrapper
  need lld-19 file $llvm/bin/ld.lld
fi
if [ $want_site = yes ]; then need python3-venv python3 -c 'import ensurepip'; fi
cuda=build-tools/cuda
if [ $nvidia = yes ] && ! file $cuda/nvidia/cuda_nvcc/bin/nvlink; then need python3-pip python3 -m pip --version; fi

# ---- Packages ----

can_install() { have apt-get && { [ "$(id -u)" = 0 ] || have sudo; }; } >/dev/null
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' HUP INT TERM

# apt ARGUMENTS...: runs apt-get, and prints its output only if it fails. Another apt or dpkg may hold a lock; for example, a new
# machine in the cloud installs its updates first. setup.sh then waits by trying again, because apt's own DPkg::Lock::Timeout does
# not cover the lock of the package lists, which apt-get update takes.
lock_limit=900 # seconds
apt() {
  said='' until=$(($(date +%s) + lock_limit))
  until as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=0 "$@" >"$scratch/apt" 2>&1; do
    lock=$(sed -n 's/^E: Could not get lock //p; s/^dpkg: error: \(.* locked by another process.*\)/\1/p' "$scratch/apt" | head -n 1)
    if [ -z "$lock" ] || [ "$(date +%s)" -ge $until ]; then
      [ -z "$said" ] || say "gave up after $((lock_limit / 60)) minutes" >&2
      tail -n 20 "$scratch/apt" >&2
      return 1
    fi
    [ "$said" = "$lock" ] || say "waiting up to $((lock_limit / 60)) minutes for another package manager, which holds a lock: $lock"
    said=$lock
    sleep 2
  done
}

# Package lists, once.
updated=no
update() {
  [ $updated = no ] || return 0
  apt update || return 1
  updated=yes
}

# Nothing of the user's is removed.
install_packages() {
  options="--no-install-recommends --no-remove"
  # shellcheck disable=SC2086 # a list of words
  size=$(LC_ALL=C apt-get -q --assume-no $options -o Debug::NoLocking=1 install "$@" 2>/dev/null | sed -n '
    s/^Need to get \(.*\) of archives\.$/\1 to download/p
    s/^After this operation, \(.*\) of additional disk space will be used\.$/, \1 on disk/p' | tr -d '\n') || size=
  say "installing $*${size:+ ($size)}"
  # shellcheck disable=SC2086
  apt install $options "$@" || fail "apt-get install failed: see its error message above. Packages: $*. (Nothing may be removed for them.)"
}
# Can apt-get install it?
offered() { have apt-cache >/dev/null && apt-cache policy "$1" | grep -q 'Candidate: [^(]'; }

# The libomp-NN-dev packages of two LLVM versions can't be installed together. Where another version is installed, LLVM 19's is
# unpacked into build-tools/ instead.
unpack_openmp() {
  say "the libomp of another LLVM is installed: unpacking libomp-19-dev into $openmp"
  rm -rf $openmp $openmp.part
  mkdir -p $openmp.part/root
  (cd $openmp.part && apt-get -q -o APT::Sandbox::User=root download libomp-19-dev libomp5-19) >$openmp.part/log 2>&1 ||
    fail "libomp-19-dev: $(grep -m 1 '^[EW]:' $openmp.part/log || tail -n 1 $openmp.part/log)"
  for package in "$openmp.part"/*.deb; do dpkg-deb -x "$package" $openmp.part/root; done
  mv $openmp.part/root $openmp
  rm -rf $openmp.part
}

if [ -n "$missing" ]; then
  have apt-get >/dev/null || fail "this system has no apt-get: install these packages (Debian's names) by other means:$missing"
  can_install || fail "only root or sudo can install packages: ask an administrator to run: apt-get install$missing"
  update || fail "apt-get update failed: see its error message above. Not installed:$missing"
  case "$missing " in *' libomp-19-dev '*)
    if ! apt-get -s --no-remove install libomp-19-dev >/dev/null 2>&1; then
      missing=$(echo "$missing" | sed 's/ libomp-19-dev/ libllvm19/')
      unpack_openmp
    fi
    ;;
  esac
  # shellcheck disable=SC2086 # a list of words
  install_packages $missing
fi

# What gfxsim is built with. clang 22 compiles the kernels of its tests, and those of the HIP path. Not every system has all of these.
missing=
if [ $want_test = yes ] || [ $want_hip = yes ]; then
  need clang-22 have clang-22
  need lld-22 file /usr/lib/llvm-22/bin/ld.lld # without it clang takes any other LLVM's from PATH
fi
need llvm-22-dev have llvm-config-22
need libelf-dev module libelf
need libdw-dev module libdw
need zlib1g-dev module zlib
need libzstd-dev module libzstd
need libmsgpack-c-dev eval 'module msgpack-c || module msgpack'

# Ubuntu's package chromium-browser only refers to a snap, so there the site can't be tested.
if [ $want_site = yes ]; then need chromium eval 'have chromium || have chromium-browser || have google-chrome'; fi

# Processes of tiny-llama --ranks.
if [ $want_test = yes ]; then
  need libopenmpi-dev eval 'module ompi-c || module mpich'
  need openmpi-bin have mpirun
fi

# Are the package lists less than a day old?
recent() { ls /var/lib/apt/lists/*Release && [ -n "$(find /var/lib/apt/lists/partial -maxdepth 0 -mmin -1440)" ]; } >/dev/null 2>&1
wanted='' left_out='' why="because this system's package sources don't have them"
if [ -n "$missing" ] && ! can_install; then
  left_out=$missing why="because only root or sudo can install them, with apt-get"
elif [ -n "$missing" ]; then
  recent || update || fail "apt-get update failed: see its error message above. Not installed:$missing"
  for package in $missing; do
    [ "$package" != libmsgpack-c-dev ] || offered "$package" || package=libmsgpack-dev # its name before Debian 13
    if offered "$package"; then wanted="$wanted $package"; else left_out="$left_out $package"; fi
  done
fi
if [ -n "$wanted" ]; then
  update || fail "apt-get update failed: see its error message above. Not installed:$missing"
  # shellcheck disable=SC2086 # a list of words
  install_packages $wanted
fi

# ---- build-tools/: ptxas, libdevice and nvlink; device libraries ----

if [ $nvidia = yes ] && ! file $cuda/nvidia/cuda_nvcc/bin/nvlink; then
  say "fetching ptxas, libdevice and the device linker of CUDA 12.9 into $cuda"
  rm -rf $cuda $cuda.part
  python3 -m pip install -q --no-deps --root-user-action=ignore --target $cuda.part 'nvidia-cuda-nvcc-cu12==12.9.*' \
    'nvidia-nvjitlink-cu12==12.9.*' || fail "pip could not download them: see its error message above"
  mv $cuda.part $cuda
  # tools/nvlink.c says why clang needs it.
  gcc -O1 -DLIBRARY="\"$PWD/$cuda/nvidia/nvjitlink/lib/libnvJitLink.so.12\"" tools/nvlink.c -o $cuda/nvidia/cuda_nvcc/bin/nvlink -ldl ||
    fail "gcc could not build tools/nvlink.c: see its error message above"
fi

# clang 19 needs newer device libraries than Debian 12 has. There, Debian 13's package is unpacked into build-tools/.
rocm=build-tools/rocm
bitcode=usr/lib/llvm-17/lib/clang/17/amdgcn/bitcode
unpack_device_libraries() {
  mirror=$(sh tools/mirror.sh debian) || fail "rocm-device-libs-17 is a package of Debian 13, and this system's package sources name no Debian mirror to download it from"
  say "fetching rocm-device-libs-17 of Debian 13 into $rocm"
  mkdir -p build-tools
  sh tools/unpack.sh "deb ${mirror% *} trixie main" rocm-device-libs-17 $rocm || fail "rocm-device-libs-17 could not be downloaded: see the error message above"
}
if [ $amd = yes ] && ! file $rocm/$bitcode/ockl.bc && ! file /$bitcode/ockl.bc; then
  if offered rocm-device-libs-17; then
    update || fail "apt-get update failed: see its error message above. Not installed: rocm-device-libs-17"
    install_packages rocm-device-libs-17
  else
    unpack_device_libraries
  fi
fi

if [ -z "$left_out" ]; then
  say "everything is installed"
else
  case "$left_out " in
    ' chromium ') lost="the web edition can't be tested" site=lost ;;
    *' chromium '*) lost="gfxsim, the HIP path or tiny-llama --ranks can't be built or tested, and the web edition can't be tested" site=lost ;;
    *) lost="gfxsim, the HIP path or tiny-llama --ranks can't be built or tested" site=whole ;;
  esac
  say "left out, $why:$left_out. Without these packages $lost"
  if [ $want_test = yes ] || [ $want_hip = yes ] || [ $site = lost ]; then exit 3; fi
fi
