#!/bin/sh
# The rehearsal of bench/amd.sh, without a GPU: the programs run through gfxsim's entry libraries, and amd_stub.py makes up what no simulator
# has. Whole runs, a GPU that runs nothing and then does, tools and a simulator that are missing, a check that fails, programs that abort and that
# hang, a part of a GPU, an interrupt, an unknown chip, no GPU; and no name of this machine in what would be sent.
# Usage: test_amd.sh GFXSIM BUILD CHIP
set -u
gfxsim=$(realpath "$1") build=$(realpath "$2") chip=$3
source=$(realpath "$(dirname "$0")/../..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
bad=0
wrong() {
  echo "test_amd: $1"
  bad=1
}
mkdir -p tools bare rocm/lib plain/bench plain/test torch/torch/nn
printf '#!/bin/sh\nprintf "gfx000\\n%s\\n"\n' "$chip" >tools/rocm_agent_enumerator
printf '#!/bin/sh\nexec python3 -S %s/bench/test/amd_stub.py rocprofv3 "$@"\n' "$source" >tools/rocprofv3
printf '#!/bin/sh\nprintf "gfx000\\ngfx90a\\n"\n' >bare/rocm_agent_enumerator
# A build without gfxsim; the stand-in runs the real one's programs.
printf '#!/bin/sh\necho "tandem-bench: no simulator here" >&2\nexit 2\n' | tee plain/bench/tandem-bench >plain/test/tandem-check
chmod +x tools/* bare/* plain/*/*
: >rocm/lib/libhipblaslt.so.0
# A PyTorch that breaks.
printf 'class version:\n    hip = "6.4"\n' >torch/torch/__init__.py
: >torch/torch/nn/__init__.py
echo 'raise RuntimeError("HIP error: invalid device function")' >torch/torch/nn/functional.py
printf 'add 8x64\ngemm --dtype bf16 --layout nt 64x64x64 # small\n' >cases
printf 'gemm --dtype bf16 --layout nt 4096x4096x4096 # seconds in the simulator, in which it is ended\nadd 8x64\n' >long
printf 'add 8x64\n' >counted
export STUB_GFXSIM="$gfxsim" STUB_BUILD="$build" STUB_CHIP="$chip" KFD=/nowhere DRM=/nowhere ROCM_PATH="$folder/rocm"
unset LD_LIBRARY_PATH TANDEM_DEVICE HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES
runner="python3 -S $source/bench/test/amd_stub.py run"
used=$build
# amd OUT OPTION...: with the tools
amd() {
  out=$1
  shift
  PATH=$folder/tools:$PATH RUNNER=$runner sh "$source/bench/amd.sh" "$folder/$out" --build "$used" --cases "$folder/cases" \
    --counted "$folder/counted" --ops add --every 40 "$@" >"$folder/said" 2>&1
}
# has FILE TEXT
has() { grep -q -- "$2" "$1" || wrong "$1: no '$2': $(cat "$1")"; }
# returns WANTED GOT
returns() { [ "$1" -eq "$2" ] || wrong "exit status $2, must be $1: $(cat "$folder/said")"; }

# What is refused.
refused() { # STATUS TEXT ARGUMENT...
  wanted=$1 text=$2
  shift 2
  sh "$source/bench/amd.sh" "$@" >"$folder/said" 2>&1
  returns "$wanted" $?
  has "$folder/said" "$text"
}
refused 2 'OUT: must be given'
refused 2 "'--hours': must be --minutes" out --hours 1
refused 2 "--minutes = 'x': must be a whole number" out --minutes x
refused 2 "'0': --every and --patience must be" out --patience 0
refused 2 "--device = 'omp:0': must be hip:0" out --device omp:0
refused 2 "'nowhere': can't be read" out --cases nowhere
refused 2 'there is already the folder out' out other
if ! command -v rocminfo >/dev/null && ! command -v rocm_agent_enumerator >/dev/null; then
  refused 77 'no AMD GPU: neither' "$folder/none"
  mkdir -p kfd/1
  echo 'gfx_target_version 90010' >kfd/1/properties
  KFD=$folder/kfd refused 77 'the GPU is gfx90a: there are kernels for gfx942 (MI300X) and gfx950' "$folder/none"
fi
PATH=$folder/bare:$PATH refused 77 'the GPU is gfx90a' "$folder/none"
# What a build lacks is said before anything is made.
printf '#!/bin/sh\necho 0.61.2\n' >tools/meson
printf '#!/bin/sh\necho 11\n' | tee tools/gcc tools/gcc-12 tools/gcc-13 >tools/gcc-14
chmod +x tools/*
CC='' PATH=$folder/tools:$PATH refused 2 "Meson 1.0 (found: 0.61.2): python3 -m pip install --user 'meson>=1.0'" "$folder/none"
rm tools/meson tools/gcc*
[ ! -e none ] || wrong 'a folder without a GPU'

# A runtime that is not found; the same command goes on when it is.
if ! ldconfig -p 2>/dev/null | grep -q libamdhip64; then
  right=$runner runner=''
  amd whole
  returns 77 $?
  has said 'hip:0 runs nothing: exit status 2: .* no libamdhip64.so.7 or .so.6 could be loaded'
  has whole/README.md '| gpu | failed | 0 | add 8x8 on hip:0'
  ! grep -q 'check-add\|measured' whole/state/* || wrong 'steps without a GPU'
  # One in ROCm's folder is found, which the loader does not know; it computes nothing.
  ln -s "$build/test/hip/libamdhip64.so.6" rocm/lib
  FAKE_HIP=$chip amd whole
  returns 77 $?
  has said 'hip:0 runs nothing: exit status 1'
  rm rocm/lib/libamdhip64.so.6
  runner=$right
fi
# A whole run.
amd whole
returns 0 $?
for text in '| check-add | passed | .* [1-9][0-9]* passed, 0 failed' '| measured | passed' '| hipblaslt | passed' '| rocblas | missing | .* no librocblas.so' \
  '| trace | passed | .* 2 cases, 0 of them failed' '| counters | passed' '| counts | passed' '| predict | passed' '| check-omp | missing' \
  '| pytorch | missing' 'a command started the programs' 'XCDs: 8 (assumed' 'rocprofv3: version: 1.0.0'; do
  has whole/README.md "$text"
done
for text in '| build |' '| gpu |' WARNING; do ! grep -q "$text" whole/README.md || wrong "whole/README.md: '$text'"; done
has said 'send back whole.tar.gz'
has whole/README.md 'This folder is of a rehearsal'
has whole/tables.md '^| gemm --dtype bf16 --layout nt 64x64x64 | hip_.* | 1.10 | .* | 1.05 |'
has whole/tables.md "the GPU's clocks over the predicted: 2 cases, geometric mean 1.05"
has whole/tables.md "the GPU's clock: median [0-9]* MHz"
has whole/tables.md '| SQ_INSTS_SALU | [0-9]* | [0-9]* | 1.0'
has whole/tables.md '| FETCH_SIZE x 1024 | [0-9]* | [0-9]* | 0.500'
has whole/tables.md '| bytes by read requests | [0-9]* | [0-9]* | 1.000'
has whole/tables.md '[1-9][0-9]* figures are equal, [1-9][0-9]* differ'
has whole/check-hip-add.txt '^tandem-check add .* --kernel hip_sums'
python3 - <<'PYTHON' || wrong 'a peer without a time'
import json
rows = json.load(open("whole/hipblaslt.json"))["rows"]
assert len(rows) == 2 and all(row["peer"]["seconds"]["median"] > row["seconds"]["median"] > 0 for row in rows), rows
PYTHON
mkdir sent && tar -C sent -xzf whole.tar.gz || wrong 'the archive'
[ -d sent/whole/trace ] && [ ! -e sent/whole/state ] || wrong 'the archive has not the folder, or its state'
cmp -s "sent/whole/code/add_f32-$chip.hsaco" "$(find "$build/hip" -name "add_f32-$chip.hsaco")" || ls sent/whole/code/*add*"$chip.hsaco" >/dev/null || wrong 'no code objects'
! tar -tvzf whole.tar.gz | grep -vq ' 0/0 ' || wrong 'the archive names the owner of the files'
for name in "$source" "$folder" "$(uname -n)" 'GPU-0123'; do
  case $name in '' | localhost) continue ;; esac
  ! grep -rwF --exclude='*.hsaco' -- "$name" sent || wrong "the archive has '$name'"
done
case ${HOME-} in /?*) ! grep -rF -- "$HOME" sent || wrong "the archive has '$HOME'" ;; esac
has sent/whole/logs/rocprofv3.txt 'rocprofv3 of .* GPU-NUMBER'

# Without gfxsim's counts rocprofv3's are shown alone.
rm sent/whole/counts/*
python3 "$source/bench/record/amd_report.py" sent/whole >alone.md || wrong 'amd_report.py'
has alone.md '^| add 8x64 | add_f32 | SQ_WAVES | [0-9]* | - | - |'

# Nothing is done twice.
amd whole
returns 0 $?
for step in check-add measured trace counters; do has said "$step: passed before"; done
printf 'gfx000\n' >whole/chip
amd whole
returns 2 $?
has said "has results of chip gfx000, and the GPU has $chip"

# Faults of the GPU in the timed cases and the checks, which end the programs; without rocprofv3, hipBLASLt and gfxsim.
mv tools/rocprofv3 rocm/lib/libhipblaslt.so.0 .
used=$folder/plain
STUB_FATAL='4096x4096|seed 10005' amd fails --cases "$folder/long"
returns 1 $?
has said 'start 1 ended early: the program ended by an abort'
has fails/README.md '| measured | failed | .* | exit status 1; 3 starts; .* 1 measured, 0 failed, 0 unsupported; 1 were in .*; 1 failed in all'
has fails/README.md '| check-add | failed | .* the program ended by an abort; the last case: tandem-check add .* --seed 10005 .*; then 7 of 9 parts passed'
has fails/README.md '| trace | missing | .* no rocprofv3'
has fails/README.md '| hipblaslt | missing'
has fails/README.md '| predict | missing | .* can be made later'
has fails/tables.md '^| gemm .* 4096x4096x4096 (FAILED: the program ended twice during this case)'
has fails/tables.md '^| add 8x64 | hip_[^|]* | [0-9]'
has fails/tables.md '[1-9][0-9]* figures are missing'
has said '2 failed'
# They stay, and are done again when that is asked for. Then the GPU does not recover, and nothing else is started on it.
amd fails --cases "$folder/long"
returns 1 $?
has said 'measured: failed before; --retry does it again'
STUB_FATAL=4096x4096 STUB_DEAD=$folder/fault amd fails --cases "$folder/long" --patience 5 --retry
returns 1 $?
has said 'check-add: again'
has fails/README.md '| measured | failed | .* the program ended by an abort'
has fails/README.md '| check-add | not started | 0 | .* hip:0 no longer answers'
mv rocprofv3 tools

# Programs that hang: each is stopped, everything else is done. A check that finds an error.
PYTHONPATH=$folder/torch STUB_FATAL=4096x4096 STUB_FAIL=1 STUB_WAY=hang amd hangs --cases "$folder/long" --counted /dev/null --patience 5
returns 1 $?
has said 'start 1 ended early: nothing came from it for 5 s'
has hangs/README.md '| measured | failed | .* 3 starts; .* 1 measured'
has hangs/README.md '| trace | failed | .* 2 cases, 1 of them failed'
has hangs/README.md '| check-add | failed | .* exit status 1; 1 passed, 1 failed'
has hangs/README.md '| pytorch | failed | .* RuntimeError: HIP error: invalid device function'
has hangs/logs/stopped.txt '4096x4096x4096: it took longer than 5 s'
# Kernels' names are the trace's, without the runtime's own.
has hangs/tables.md '^| add 8x64 | hip_[^|]* | [0-9.]* | [0-9.]* | - | - | [0-9]* | [0-9]* | - |'
used=$build

# No time. Then a part of a GPU, whose second device is taken, and an interrupt in rocprofv3, after which the same command goes on.
amd late --minutes 0
returns 77 $?
has late/README.md '| check-add | not started | 0 | .* the time was over'
rm -rf kfd late
mkdir -p kfd/0 kfd/1 kfd/2 drm/renderD129/device/hwmon/hwmon3
printf 'gfx_target_version 0\nnum_xcc 0\n' >kfd/0/properties
printf 'gfx_target_version 90402\nnum_xcc 8\ndrm_render_minor 128\n' >kfd/1/properties
printf 'gfx_target_version 90402\nnum_xcc 1\ndrm_render_minor 129\n' >kfd/2/properties
echo CPX >drm/renderD129/device/current_compute_partition
echo 750000000 >drm/renderD129/device/hwmon/hwmon3/power1_cap
printf '0: 132Mhz\n1: 2100Mhz *\n' >drm/renderD129/device/pp_dpm_sclk
export KFD="$folder/kfd" DRM="$folder/drm" HIP_VISIBLE_DEVICES=1 STUB_CHIP="$chip,xcds=1" STUB_XCDS=1
(
  trap - INT
  PATH=$folder/tools:$PATH STUB_SLEEP=1 RUNNER=$runner exec sh "$source/bench/amd.sh" "$folder/late" --build "$build" --cases "$folder/counted" --counted /dev/null \
    --ops '' >"$folder/said" 2>&1
) &
process=$!
tries=0
until grep -q 'rocprofv3 of' late/logs/rocprofv3.txt 2>/dev/null || [ $tries -ge 600 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
kill -TERM $process
wait $process
returns 130 $?
has late/README.md '| measured | passed'
has late/README.md '| trace | interrupted'
has said 'interrupted; the same command goes on'
amd late --cases "$folder/counted" --counted /dev/null --ops ''
returns 0 $?
has said 'measured: passed before'
has late/README.md '| trace | passed'
has late/README.md 'XCDs: 1 (by the driver)'
has late/README.md 'WARNING: the device is a part of the GPU, 1 of its 8 XCDs'
has late/README.md 'compute partition: CPX'
has late/README.md 'power cap: 750 W'
has late/README.md 'clocks of the GPU, MHz: 132 2100\*'
has late/gpu.csv '^[0-9a-z-]*,[0-9]*,-,-,-,750,-,-$'
has late/tables.md "the GPU's clocks over the predicted: 1 cases, geometric mean 1.05"

# Names of a user behind sudo, of home folders, hosts, addresses, and the kernel's own suffix.
mkdir names
printf '%s\n' '/home/alice/venv/lib/python3.10' 'gpu07.cluster.example.com: 10.1.2.3 fe80::1a2b:3c4d 2001:db8:0:0:1:2:3:4' "Linux $(uname -r) of alice" \
  'ROCm 6.4.43483, 12:34:56, 0000:c1:00.0' >names/log.txt
printf '{"system": "Linux %s x86_64", "reason": "/scratch/alice/x: alice has no right", "by": "tandem"}\n' "$(uname -r)" >names/run.json
SUDO_USER=alice sh "$source/bench/record/scrub.sh" names || wrong 'scrub.sh finds a name'
for name in alice gpu07 example 10.1.2.3 fe80 2001; do ! grep -r -- "$name" names || wrong "scrub.sh leaves '$name'"; done
case $(uname -r) in *-*) ! grep -rF -- "$(uname -r)" names || wrong 'scrub.sh leaves the suffix of the kernel' ;; esac
has names/log.txt '^HOME/venv/lib/python3.10$'
has names/log.txt '^ROCm 6.4.43483, 12:34:56, 0000:c1:00.0$'
has names/run.json '/scratch/USER/x: USER has no right", "by": "tandem"'
# One whose name is a word of the results keeps them.
SUDO_USER=tandem sh "$source/bench/record/scrub.sh" names || wrong 'scrub.sh finds a name'
has names/run.json '"by": "tandem"'
[ $bad = 0 ] && echo 'passed'
exit $bad
