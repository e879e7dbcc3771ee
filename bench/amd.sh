#!/bin/sh
# An hour on an MI300X or MI355X: times, checks, counters and predictions of this library, in one folder to send back.
# docs/benchmarking.md says what is in it, and what a rehearsal without a GPU can't show.
# Use: sh bench/amd.sh OUT [OPTION...]       as in: sh bench/amd.sh mi300x; the same command again goes on where it was
#   --minutes N       nothing is started after N minutes; default 55
#   --retry           steps that failed or were stopped are done again
#   --device hip:N    the GPU; default hip:0
#   --build DIR       a build that is there (HIP path, gfxsim); default: build-amd-CHIP is made
#   --omp-build DIR   the same with -Domp_offload; default: build-amd-omp-CHIP is made, unless --build is given
#   --cases FILE      what is timed and predicted, a file of shapes; default bench/record/amd-cases.txt
#   --counted FILE    what counters are collected of, small cases; default bench/record/amd-counted.txt
#   --ops 'OP...'     ops that tandem-check checks; default: all
#   --every N         only each N-th of its cases; default 1
#   --patience N      a program that brings nothing for N seconds is stopped; default 90
# RUNNER in the environment: a command that starts the programs; ROCM_PATH: default /opt/rocm. Exit status: 0 all that could be run passed, 1
# something failed or was stopped, 2 bad usage, or something that a build needs is missing, 77 no GPU of this library's was found, or it does not
# run anything.
set -u
cd "$(dirname "$0")/.." || exit 2
source=$(pwd)
complain() {
  echo "amd.sh: $1" >&2
  exit "${2-2}"
}
out='' minutes=55 retry=no device=hip:0 build='' omp_build='' cases=bench/record/amd-cases.txt counted=bench/record/amd-counted.txt every=1 patience=90
ops=$(sed -n 's/^TDM_OP([A-Z_]*, \([a-z_]*\),.*/\1/p' src/ops.def)
while [ $# -gt 0 ]; do
  case $1 in
    --minutes | --device | --build | --omp-build | --cases | --counted | --ops | --every | --patience)
      [ $# -ge 2 ] || complain "$1: needs a value after it"
      case $1 in
        --minutes) minutes=$2 ;;
        --device) device=$2 ;;
        --build) build=$2 ;;
        --omp-build) omp_build=$2 ;;
        --cases) cases=$2 ;;
        --counted) counted=$2 ;;
        --ops) ops=$2 ;;
        --every) every=$2 ;;
        --patience) patience=$2 ;;
      esac
      shift 2
      ;;
    --retry)
      retry=yes
      shift
      ;;
    -*) complain "'$1': must be --minutes, --retry, --device, --build, --omp-build, --cases, --counted, --ops, --every or --patience" ;;
    *)
      [ "$out" = '' ] || complain "'$1': there is already the folder $out"
      out=$1
      shift
      ;;
  esac
done
[ "$out" != '' ] || complain "OUT: must be given, a folder for the results, as in: sh bench/amd.sh mi300x"
case $minutes in '' | *[!0-9]*) complain "--minutes = '$minutes': must be a whole number" ;; esac
for number in "$every" "$patience"; do
  case $number in '' | 0 | *[!0-9]*) complain "'$number': --every and --patience must be whole numbers from 1 on" ;; esac
done
case ${device#hip:} in '' | *[!0-9]*) complain "--device = '$device': must be hip:0, hip:1 and so on" ;; esac
case $device in hip:*) ;; *) complain "--device = '$device': must be hip:0, hip:1 and so on" ;; esac
for file in "$cases" "$counted"; do [ -r "$file" ] || complain "'$file': can't be read"; done

# shellcheck source=bench/record/amd-limits.sh
. "$source/bench/record/amd-limits.sh"
# shellcheck source=bench/record/amd-machine.sh
. "$source/bench/record/amd-machine.sh"
chip=$(find_chip)
[ "$chip" != '' ] || complain "no AMD GPU: neither rocm_agent_enumerator, rocminfo nor $kfd names one" 77
case $chip in
  gfx942 | gfx950) ;;
  *) complain "the GPU is $chip: there are kernels for gfx942 (MI300X) and gfx950 (MI355X)" 77 ;;
esac
# shellcheck source=bench/record/amd-steps.sh
. "$source/bench/record/amd-steps.sh"
# shellcheck source=bench/record/amd-folder.sh
. "$source/bench/record/amd-folder.sh"
# Before the clock runs: what a build needs.
if [ "$build" = '' ]; then
  lacking=$(check_tools)
  [ "$lacking" = '' ] || complain "a build needs (or give a build that is there: --build):
$lacking"
fi

# ---- The folder ----

find_device
mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd) || exit 2
state=$out/state log=$out/logs
mkdir -p "$state" "$log" "$out/trace" "$out/clocks" "$out/counters" "$out/counts" || exit 2
[ "$retry" = no ] || retry_failed
rm -f "$state"/*.open
for pair in "chip=$chip" "xcds=$xcds"; do
  file=$out/${pair%%=*} now=${pair#*=}
  [ ! -s "$file" ] || [ "$(cat "$file")" = "$now" ] || complain "'$out': has results of ${pair%%=*} $(cat "$file"), and the GPU has $now: name another folder"
  echo "$now" >"$file"
done
grep -v '^ *\(#.*\)\{0,1\}$' "$cases" | sed 's/ *#.*//' >"$out/cases.txt"
grep -v '^ *\(#.*\)\{0,1\}$' "$counted" | sed 's/ *#.*//' >"$out/counted.txt"
describe_machine >"$out/environment.txt"
cat "$out/environment.txt"
predictions='' child='' watcher='' sampler='' gpu=alive bench=''
exec 5>&1 6>&2
interrupted() {
  trap '' INT TERM
  exec >&5 2>&6 # not into the log of what was interrupted
  # shellcheck disable=SC2086 # numbers
  [ "$predictions$child$watcher" = '' ] || kill $predictions $child $watcher 2>/dev/null
  echo 'amd.sh: interrupted; the same command goes on where it was'
  write_folder
  exit 130
}
trap interrupted INT TERM

# ---- Does anything run? ----

if [ "$build" = '' ]; then
  build=build-amd-$chip
  step 00-build 60 'build of the HIP path' build_hip
  step 01-build-sim 60 'build of gfxsim' build_sim
fi
bench=$build/bench/tandem-bench
[ ! -d "$build/sim" ] || LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$(cd "$build/sim" && pwd) # a build that was moved finds the simulator
if [ ! -x "$bench" ] || [ ! -x "$build/test/tandem-check" ]; then
  grep -qE '^(failed|stopped)' "$state/00-build.open" 2>/dev/null || put 00-build.open failed 0 'build of the HIP path' "no tandem-bench and tandem-check in $build"
  write_readme
  complain "there is no build: $out/README.md names the step that failed, and what it printed is in $log" 1
fi
if [ "$(left)" -gt 0 ] && ! try_gpu; then
  put 02-gpu.open failed 0 "add 8x8 on $device" "$(ended "$code"): $(last_line "$log/gpu.txt")"
  write_readme # and no archive: there is nothing to send back
  case $code in 1 | 2 | 77) status=77 ;; *) status=1 ;; esac # no runtime or GPU, or one that hangs or ends the program
  complain "$device runs nothing: $(ended "$code"): $(last_line "$log/gpu.txt"). The same command tries it again" $status
fi
sample_gpu >>"$out/gpu.csv" 2>/dev/null 5>&1 6>&1 &
sampler=$!
write_rocm_smi before
has_sim=no
"$bench" add 8x8 --device "$simulated" >"$log/simulator.txt" 2>&1 && has_sim=yes
if [ $has_sim = yes ] && [ ! -s "$state/81-predict" ] && [ "$(left)" -gt 0 ]; then start_predictions; fi

# ---- Times first, then checks, peers, counters and the OpenMP path ----

step 10-measured 30 'times of the cases' time_cases measured
if command -v rocprofv3 >/dev/null; then
  step 11-trace 30 'the GPU'"'"'s own time and clocks of each case, by rocprofv3' each_case "$out/cases.txt" trace_case
else
  missing 11-trace "the GPU's own time of each case" "no rocprofv3 in PATH or $rocm/bin"
fi
# check_ops SECONDS: ops that have not been checked in this run, as long as so many are left
check_ops() {
  for op in $ops; do
    case " $checked " in *" $op "*) continue ;; esac
    [ "$(left)" -ge "$1" ] || continue
    checked="$checked $op"
    step "20-check-$op" 20 "tandem-check $op on $device" check_op "$build" "$device" "$op"
  done
}
checked=''
check_ops 900 # the others after the peers and counters
# The peers are opened by dlopen.
has_library() {
  for folder in $(echo "$LD_LIBRARY_PATH" | tr : ' '); do
    ls "$folder/lib$1.so"* >/dev/null 2>&1 && return 0
  done
  ldconfig -p 2>/dev/null | grep -q "lib$1\.so"
}
place=30
for peer in hipblaslt rocblas; do
  if has_library $peer; then
    step $place-$peer 30 "times of the products beside $peer" time_cases $peer --peer $peer
  else
    missing $place-$peer "times of the products beside $peer" "no lib$peer.so in LD_LIBRARY_PATH, $rocm/lib or the loader's folders"
  fi
  place=$((place + 1))
done
if python3 -c 'import torch, sys; sys.exit(torch.version.hip is None)' 2>/dev/null; then
  step 32-pytorch 30 'times of the cases beside PyTorch' time_beside_torch
else
  missing 32-pytorch 'times beside PyTorch' 'python3 has no PyTorch for ROCm'
fi
if command -v rocprofv3 >/dev/null; then
  step 40-counters 30 'counters of small cases, by rocprofv3' each_case "$out/counted.txt" count_case
else
  missing 40-counters 'counters of small cases' "no rocprofv3 in PATH or $rocm/bin"
fi
check_ops -86400
if [ "$omp_build" = '' ] && [ "$build" != "build-amd-$chip" ]; then
  missing 50-build-omp 'build of the OpenMP path for the GPU' '--build was given, and no --omp-build'
elif [ "$omp_build" = '' ]; then
  step 50-build-omp 120 'build of the OpenMP path for the GPU' build_omp
  omp_build=build-amd-omp-$chip
fi
if [ "$omp_build" != '' ] && [ -x "$omp_build/test/tandem-check" ]; then
  step 60-omp 30 "times of the cases on omp:${device#hip:}" time_omp
  for op in $ops; do step "61-check-omp-$op" 20 "tandem-check $op on omp:${device#hip:}" check_op "$omp_build" "omp:${device#hip:}" "$op"; done
else
  missing 60-omp 'times on the OpenMP path' 'there is no build for the GPU'
  missing 61-check-omp 'tandem-check on the OpenMP path' 'there is no build for the GPU'
fi
write_rocm_smi after
if [ $has_sim = yes ]; then
  step 80-counts 30 "gfxsim's counts of the same cases" each_case "$out/counted.txt" simulate_case
  [ "$predictions" = '' ] || step 81-predict -86400 "predictions of the cases by gfxsim, of the same code objects" await_predictions
else
  missing 80-counts "gfxsim's counts" "there is no gfxsim: $(last_line "$log/simulator.txt")"
  missing 81-predict 'predictions' "there is no gfxsim: the archive has the code objects, so they can be made later"
fi
write_folder
