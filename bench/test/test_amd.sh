#!/bin/sh
# The rehearsal of bench/amd.sh, without a GPU: the programs run through gfxsim's entry libraries, and amd_stub.py makes up what no simulator
# has. Whole runs, tools that are missing, a check that fails, an interrupt, an unknown chip, no GPU; and no name of this machine in
# what would be sent.
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
mkdir tools bare libraries
printf '#!/bin/sh\nprintf "gfx000\\n%s\\n"\n' "$chip" >tools/rocm_agent_enumerator
printf '#!/bin/sh\nexec python3 %s/bench/test/amd_stub.py rocprofv3 "$@"\n' "$source" >tools/rocprofv3
printf '#!/bin/sh\nprintf "gfx000\\ngfx90a\\n"\n' >bare/rocm_agent_enumerator
chmod +x tools/* bare/*
: >libraries/libhipblaslt.so.0
printf 'add 8x64\ngemm --dtype bf16 --layout nt 64x64x64 # small\n' >cases
printf 'add 8x64\n' >counted
export STUB_GFXSIM="$gfxsim" STUB_CHIP="$chip" KFD=/nowhere
unset LD_LIBRARY_PATH TANDEM_DEVICE
runner="python3 $source/bench/test/amd_stub.py run"
# amd OUT OPTION...: with the tools
amd() {
  out=$1
  shift
  PATH=$folder/tools:$PATH LD_LIBRARY_PATH=$folder/libraries RUNNER=$runner sh "$source/bench/amd.sh" "$folder/$out" --build "$build" --cases "$folder/cases" \
    --counted "$folder/counted" --check 'add 8x8' "$@" >"$folder/said" 2>&1
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
refused 2 "'nowhere': can't be read" out --cases nowhere
refused 2 'there is already the folder out' out other
if ! command -v rocminfo >/dev/null && ! command -v rocm_agent_enumerator >/dev/null; then
  refused 77 'no AMD GPU: neither' "$folder/none"
  mkdir -p kfd/1
  echo 'gfx_target_version 90010' >kfd/1/properties
  KFD=$folder/kfd refused 77 'the GPU is gfx90a: there are kernels for gfx942 (MI300X) and gfx950' "$folder/none"
fi
PATH=$folder/bare:$PATH refused 77 'the GPU is gfx90a' "$folder/none"
[ ! -e none ] || wrong 'a folder without a GPU'

# A whole run.
amd whole
returns 0 $?
for text in '| build |' '| check-hip | passed | .* 2 passed, 0 failed' '| measured | passed' '| hipblaslt | passed' '| rocblas | missing | .* no librocblas.so' \
  '| trace | passed | .* 2 cases, 0 of them failed' '| counters | passed' '| counts | passed' '| predict | passed' '| check-omp | missing' \
  '| pytorch | missing' 'a command started the programs'; do
  case $text in '| build |') ! grep -q "$text" whole/README.md || wrong 'a build that was given was made' ;; *) has whole/README.md "$text" ;; esac
done
has said 'send back whole.tar.gz'
has whole/README.md 'This folder is of a rehearsal'
has whole/tables.md '^| gemm --dtype bf16 --layout nt 64x64x64 | hip_.* | 1.10 | .* | 1.05 |'
has whole/tables.md "the GPU's clocks over the predicted: 2 cases, geometric mean 1.05"
has whole/tables.md '| SQ_INSTS_SALU | [0-9]* | [0-9]* | 1.0'
has whole/tables.md '[1-9][0-9]* figures are equal, [1-9][0-9]* differ'
python3 - <<'PYTHON' || wrong 'a peer without a time'
import json
rows = json.load(open("whole/hipblaslt.json"))["rows"]
assert len(rows) == 2 and all(row["peer"]["seconds"]["median"] > row["seconds"]["median"] > 0 for row in rows), rows
PYTHON
mkdir sent && tar -C sent -xzf whole.tar.gz || wrong 'the archive'
[ -d sent/whole/trace ] && [ ! -e sent/whole/state ] || wrong 'the archive has not the folder, or its state'
for name in "$source" "$folder" "$(uname -n)" 'GPU-0123'; do
  case $name in '' | localhost) continue ;; esac
  ! grep -rwF -- "$name" sent || wrong "the archive has '$name'"
done
case ${HOME-} in /?*) ! grep -rF -- "$HOME" sent || wrong "the archive has '$HOME'" ;; esac
has sent/whole/logs/rocprofv3.txt 'rocprofv3 of .* GPU-NUMBER'

# Nothing is done twice.
amd whole
returns 0 $?
for step in check-hip measured trace counters predict; do
  [ $step = predict ] || has said "$step: passed before"
done
printf 'gfx000\n' >chip
echo gfx000 >whole/chip
amd whole
returns 2 $?
has said "has results of gfx000, and the GPU is $chip"

# A check that fails, without rocprofv3 and hipBLASLt.
mv tools/rocprofv3 libraries/libhipblaslt.so.0 .
STUB_FAIL=1 amd fails
returns 1 $?
has fails/README.md '| check-hip | failed | .* exit status 1; 1 passed, 1 failed'
has fails/README.md '| trace | missing | .* no rocprofv3'
has fails/README.md '| hipblaslt | missing'
has fails/README.md '| measured | passed'
has fails/tables.md '[1-9][0-9]* figures are missing'
has said '1 failed'
mv rocprofv3 tools
mv libhipblaslt.so.0 libraries

# No time, and an interrupt in rocprofv3, after which the same command goes on.
amd late --minutes 0
returns 77 $?
has late/README.md '| check-hip | not started | 0 | .* the time was over'
(
  trap - INT
  PATH=$folder/tools:$PATH STUB_SLEEP=1 RUNNER=$runner exec sh "$source/bench/amd.sh" "$folder/late" --build "$build" --cases "$folder/cases" --counted "$folder/counted" \
    --check 'add 8x8' >"$folder/said" 2>&1
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
has late/README.md '| check-hip | passed'
has late/README.md '| trace | interrupted'
has said 'interrupted; the same command goes on'
amd late
returns 0 $?
has said 'check-hip: passed before'
has late/README.md '| trace | passed'
[ $bad = 0 ] && echo 'passed'
exit $bad
