#!/bin/sh
# An hour on an MI300X or MI355X: checks, times, counters and predictions of this library, in one folder to send back.
# docs/benchmarking.md says what is in it, and what a rehearsal without a GPU can't show.
# Use: sh bench/amd.sh OUT [OPTION...]       as in: sh bench/amd.sh mi300x; the same command again goes on where it was
#   --minutes N       nothing is started after N minutes; default 55
#   --build DIR       a build that is there (HIP path, gfxsim, -Dtests=true); default: build-amd-CHIP is made
#   --omp-build DIR   the same with -Domp_offload; default: build-amd-omp-CHIP is made, unless --build is given
#   --cases FILE      what is timed and predicted, a file of shapes; default bench/record/amd-cases.txt
#   --counted FILE    what counters are collected of, small cases; default bench/record/amd-counted.txt
#   --check 'WORD...' arguments of tandem-check, for a part of its cases; default: all of them
# RUNNER in the environment: a command that starts the programs. Exit status: 0 all that could be run passed, 1 something failed, 2 bad
# usage, 77 no GPU of this library's was found.
set -u
cd "$(dirname "$0")/.." || exit 2
source=$(pwd)
complain() {
  echo "amd.sh: $1" >&2
  exit "${2-2}"
}
out='' minutes=55 build='' omp_build='' cases=bench/record/amd-cases.txt counted=bench/record/amd-counted.txt check=''
while [ $# -gt 0 ]; do
  case $1 in
    --minutes | --build | --omp-build | --cases | --counted | --check)
      [ $# -ge 2 ] || complain "$1: needs a value after it"
      case $1 in
        --minutes) minutes=$2 ;;
        --build) build=$2 ;;
        --omp-build) omp_build=$2 ;;
        --cases) cases=$2 ;;
        --counted) counted=$2 ;;
        --check) check=$2 ;;
      esac
      shift 2
      ;;
    -*) complain "'$1': must be --minutes, --build, --omp-build, --cases, --counted or --check" ;;
    *)
      [ "$out" = '' ] || complain "'$1': there is already the folder $out"
      out=$1
      shift
      ;;
  esac
done
[ "$out" != '' ] || complain "OUT: must be given, a folder for the results, as in: sh bench/amd.sh mi300x"
case $minutes in '' | *[!0-9]*) complain "--minutes = '$minutes': must be a whole number" ;; esac
for file in "$cases" "$counted"; do [ -r "$file" ] || complain "'$file': can't be read"; done

# ---- The clock, and what became of each step ----

began=$(date +%s)
left() { echo $((60 * minutes - $(date +%s) + began)); }
# limited COMMAND...: for as long as there is time. The shell waits for it as for a job, because it handles no signal otherwise.
limited() {
  seconds=$(left)
  [ "$seconds" -gt 0 ] || return 124
  timeout -k 10 "$seconds" "$@" &
  child=$!
  wait $child
  code=$? child=''
  return $code
}
# put FILE STATUS SECONDS WHAT REASON
put() { printf '%s\t%s\t%s\t%s\n' "$2" "$3" "$4" "$5" >"$state/$1"; }
missing() { # NAME WHAT REASON
  put "$1.open" missing 0 "$2" "$3"
  echo "amd.sh: $1: missing: $3"
}
# step NAME SECONDS WHAT COMMAND...: runs COMMAND, and writes down how it ended and how long it took. It is skipped if an
# earlier run finished it, or if fewer than SECONDS are left. COMMAND may set `reason` to a line about how it ended.
step() {
  name=$1 least=$2 what=$3
  shift 3
  if [ -s "$state/$name" ]; then
    echo "amd.sh: $name: $(cut -f 1 "$state/$name") before"
    return
  fi
  if [ "$(left)" -lt "$least" ]; then
    put "$name.open" 'not started' 0 "$what" 'the time was over'
    echo "amd.sh: $name: not started: the time is over"
    return
  fi
  echo "amd.sh: $name: $what ($(left) s are left)"
  start=$(date +%s) reason=''
  put "$name.open" interrupted 0 "$what" 'the same command goes on with it'
  "$@" && status=0 || status=$?
  rm -f "$state/$name.open"
  took=$(($(date +%s) - start))
  case $status in
    0) put "$name" passed $took "$what" "$reason" ;;
    77) put "$name" 'nothing run' $took "$what" "$reason" ;;
    124 | 137) put "$name.open" stopped $took "$what" "the time was over${reason:+; $reason}" ;;
    *) put "$name" failed $took "$what" "exit status $status${reason:+; $reason}" ;;
  esac
  echo "amd.sh: $name: $(cut -f 1,4 "$state/$name" "$state/$name.open" 2>/dev/null | tr '\t' ' ')"
}

# ---- The GPU ----

PATH=$PATH:/opt/rocm/bin:/opt/rocm/llvm/bin
# Its chip, by ROCm's tools, else by what the kernel driver says: 90402 is gfx942.
find_chip() {
  {
    rocm_agent_enumerator 2>/dev/null
    rocminfo 2>/dev/null | sed -n 's/^ *Name: *\(gfx[0-9a-f]*\).*/\1/p'
    cat "${KFD-/sys/class/kfd/kfd/topology/nodes}"/*/properties 2>/dev/null |
      awk '$1 == "gfx_target_version" && $2 > 0 { printf "gfx%d%x%x\n", $2 / 10000, $2 / 100 % 100, $2 % 100 }'
  } | awk '/^gfx9(42|50)$/ { print; found = 1; exit } $0 != "gfx000" && other == "" { other = $0 } END { if (!found) print other }'
}
chip=$(find_chip)
[ "$chip" != '' ] || complain "no AMD GPU: neither rocm_agent_enumerator, rocminfo nor /sys/class/kfd names one" 77
case $chip in
  gfx942 | gfx950) ;;
  *) complain "the GPU is $chip: there are kernels for gfx942 (MI300X) and gfx950 (MI355X)" 77 ;;
esac

mkdir -p "$out" || exit 2
out=$(cd "$out" && pwd) || exit 2
state=$out/state log=$out/logs
mkdir -p "$state" "$log" "$out/trace" "$out/clocks" "$out/counters" "$out/counts" || exit 2
rm -f "$state"/*.open
[ ! -s "$out/chip" ] || [ "$(cat "$out/chip")" = "$chip" ] || complain "'$out': has results of $(cat "$out/chip"), and the GPU is $chip: name another folder"
echo "$chip" >"$out/chip"
grep -v '^ *\(#.*\)\{0,1\}$' "$cases" | sed 's/ *#.*//' >"$out/cases.txt"
grep -v '^ *\(#.*\)\{0,1\}$' "$counted" | sed 's/ *#.*//' >"$out/counted.txt"
{
  echo "chip: $chip"
  rocminfo 2>/dev/null | awk '/Marketing Name/ { name = $0 } /Compute Unit/ && name ~ /Instinct|MI3/ { sub(/.*: */, "", name); print "GPU: " name; sub(/.*: */, ""); print "compute units: " $0; exit }'
  echo "ROCm: $(cat /opt/rocm/.info/version 2>/dev/null || echo 'not found')"
  echo "amdgpu driver: $(cat /sys/module/amdgpu/version 2>/dev/null || echo 'version not found')"
  echo "system: $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release 2>/dev/null), Linux $(uname -r | cut -d - -f 1)"
  echo "source: commit $(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)$([ "$(git status --porcelain --untracked-files=no 2>/dev/null)" = '' ] || echo ', changed')"
  [ "${RUNNER-}" = '' ] || echo 'a command started the programs (RUNNER): a rehearsal, if it is gfxsim exec'
} >"$out/environment.txt"
cat "$out/environment.txt"

# ---- Steps ----

# last_line FILE: the one with the counts, else the last
last_line() { { grep -E '^[0-9]+ (passed|cases? of)' "$1" || tail -n 1 "$1"; } 2>/dev/null | tail -n 1 | cut -c 1-200; }
# What the steps run: of all targets, tests, ladders and pages would take most of the time. gfxsim is there if its libraries are.
targets_of() { ninja -C "$1" -t targets all | sed -n 's,^\(bench/tandem-bench\|test/tandem-check\|sim/gfxsim\|sim/libgfxsim-hip\.so[.0-9]*\): .*,\1,p'; }
# make_build DIR LOG OPTION...: configures and builds; CC says by which compiler
make_build() {
  folder=$1 file=$2
  shift 2
  [ -e "$folder/build.ninja" ] || limited meson setup "$folder" -Dtests=true "$@" >"$file" 2>&1 || {
    code=$?
    reason=$(grep -m 1 'ERROR' "$file" | cut -c 1-200)
    rm -rf "$folder"
    return $code
  }
  # shellcheck disable=SC2046 # words
  limited ninja -C "$folder" $(targets_of "$folder") >>"$file" 2>&1 && return 0
  code=$? reason=$(grep -m 1 -E 'error:|FAILED' "$file" | cut -c 1-200)
  return $code
}
# Clangs with a device runtime of the chip: ROCm's own first.
build_omp() {
  for compiler in amdclang clang clang-22 clang-21 clang-20 clang-19; do
    command -v $compiler >/dev/null || continue
    CC=$compiler make_build build-amd-omp-$chip "$log/build-omp.txt" -Dsim=disabled -Domp_offload="$chip" -Dtdm_backend=hip \
      -Dhip_archs="$chip" -Dladder=false && return 0
    case $code in 124 | 137) return $code ;; esac
    rm -rf build-amd-omp-$chip # of this compiler
  done
  reason=${reason:-no clang was found}
  return 1
}
# run_check DIR DEVICE FILE
run_check() {
  # shellcheck disable=SC2086 # words
  limited ${RUNNER-} "$1/test/tandem-check" $check --device "$2" >"$out/$3" 2>&1
  code=$? reason=$(last_line "$out/$3")
  return $code
}
# time_cases JSON LOG OPTION...: the bench over the cases
time_cases() {
  json=$1 file=$2
  shift 2
  # shellcheck disable=SC2086
  limited ${RUNNER-} "$bench" --shapes "$out/cases.txt" --device hip:0 --json "$out/$json" "$@" >"$file" 2>&1
  code=$? reason=$(last_line "$file")
  return $code
}
time_beside_torch() {
  # shellcheck disable=SC2086
  limited python3 bench/peer/peer_torch.py ${RUNNER-} "$bench" --shapes "$out/cases.txt" --device hip:0 --json "$out/measured.json" \
    >"$log/measured.txt" 2>&1
  code=$? reason=$(last_line "$log/measured.txt")
  return $code
}
time_omp() {
  # shellcheck disable=SC2086
  limited ${RUNNER-} "$omp_build/bench/tandem-bench" --shapes "$out/cases.txt" --device omp:0 --most-flop 1000000000000 \
    --json "$out/omp.json" >"$log/omp.txt" 2>&1
  code=$? reason=$(last_line "$log/omp.txt")
  return $code
}
# profile FILE TABLE OPTION... -- COMMAND...: the table *TABLE.csv that rocprofv3 writes. Its own names of files have the host's name.
profile() {
  file=$1 table=$2
  shift 2
  rm -rf "$out/profile"
  limited rocprofv3 --output-format csv -d "$out/profile" -o run "$@" >>"$log/rocprofv3.txt" 2>&1
  code=$? found=$(find "$out/profile" -name "*$table.csv" | head -n 1)
  case $code in 124 | 137) found='' ;; esac # stopped by the limit: the table may be half
  [ "$found" = '' ] || cp "$found" "$file"
  [ "$found" != '' ] || [ $code -ne 0 ] || code=1
  rm -rf "$out/profile"
  return $code
}
# each_case LIST FUNCTION: FUNCTION NUMBER WORD... for each line; counts those that failed
each_case() {
  number=0 failures=0 list=$1 function=$2
  while read -r line <&3; do
    number=$((number + 1))
    [ "$(left)" -ge 5 ] || return 124
    # shellcheck disable=SC2086 # words
    $function "$(printf %03d $number)" $line || {
      code=$?
      case $code in 124 | 137) return $code ;; esac
      failures=$((failures + 1))
    }
  done 3<"$list"
  reason="$number cases, $failures of them failed"
  [ $failures -eq 0 ]
}
# What the GPU took, without the host's launch: start and end of each launch, and its clocks.
trace_case() {
  id=$1 code=0
  shift
  # shellcheck disable=SC2086
  [ -s "$out/trace/$id.csv" ] ||
    profile "$out/trace/$id.csv" kernel_trace --kernel-trace -- ${RUNNER-} "$bench" "$@" --device hip:0 --hot --repeats 20 --check-time 0.001 ||
    return $?
  # shellcheck disable=SC2086
  [ -s "$out/clocks/$id.csv" ] ||
    profile "$out/clocks/$id.csv" counter_collection --pmc GRBM_GUI_ACTIVE -- ${RUNNER-} "$bench" "$@" --device hip:0 --hot --repeats 5 \
      --check-time 0.001 || return $?
}
sets='SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_MFMA,SQ_INSTS_SALU SQ_INSTS_SMEM,SQ_INSTS_VMEM,SQ_INSTS_LDS,SQ_INSTS_BRANCH
  SQ_INSTS_VALU_MFMA_MOPS_BF16,SQ_INSTS_VALU_MFMA_MOPS_F16,SQ_INSTS_VALU_MFMA_MOPS_F32 SQ_VALU_MFMA_BUSY_CYCLES,SQ_LDS_IDX_ACTIVE,SQ_LDS_BANK_CONFLICT
  TCP_TOTAL_CACHE_ACCESSES_sum,TCP_TCC_READ_REQ_sum TCC_HIT_sum,TCC_MISS_sum FETCH_SIZE WRITE_SIZE'
count_case() {
  id=$1 bad=0
  shift
  for set in $sets; do
    file=$out/counters/$id-${set%%,*}.csv
    [ ! -s "$file" ] || continue
    # shellcheck disable=SC2046,SC2086
    profile "$file" counter_collection --pmc $(echo "$set" | tr , ' ') -- ${RUNNER-} "$bench" "$@" --device hip:0 --hot --repeats 1 \
      --check-time 0.001 || {
      code=$?
      case $code in 124 | 137) return $code ;; esac
      bad=1
    }
  done
  return $bad
}
simulate_case() {
  id=$1
  shift
  [ -s "$out/counts/$id.json" ] || limited "$bench" "$@" --device "sim:$chip" --workgroups 100000000 --json "$out/counts/$id.json" \
    >>"$log/counts.txt" 2>&1
}
# The predictions need the host alone: they run beside everything else, on a quarter of its processors.
start_predictions() {
  shards=$(cat "$state/shards" 2>/dev/null || echo $((($(getconf _NPROCESSORS_ONLN) + 3) / 4)))
  [ "$shards" -le 16 ] || shards=16
  echo "$shards" >"$state/shards"
  shard=0
  while [ $shard -lt "$shards" ]; do
    timeout -k 10 "$(left)" nice -n 19 "$bench" --shapes "$out/cases.txt" --device "sim:$chip" --warm --every "$shards" --offset $shard \
      --predict-time 600 --json "$out/predicted-$shard.json" >"$log/predicted-$shard.txt" 2>&1 &
    predictions="$predictions $!"
    shard=$((shard + 1))
  done
}
await_predictions() {
  worst=0
  for process in $predictions; do
    wait "$process"
    code=$?
    [ $code -ne 77 ] || code=0 # a shard without a case
    [ $code -le $worst ] || worst=$code
  done
  predictions=''
  reason="$(cat "$log"/predicted-*.txt | grep -cE '^[0-9]+ cases? of') of $shards parts"
  return $worst
}

# ---- The folder ----

summary() {
  for file in "$state"/[0-9]*; do
    case $file in *'*') continue ;; esac
    name=${file##*/} name=${name%.open}
    awk -F '\t' -v name="${name#*-}" '{ printf "| %s | %s | %s | %s | %s |\n", name, $1, $2, $3, $4 }' "$file"
  done
}
write_folder() {
  rm -rf "$out/profile"
  if command -v python3 >/dev/null; then
    python3 bench/record/amd_report.py "$out" >"$out/tables.md" 2>"$log/report.txt" || echo "amd.sh: the tables failed: $(last_line "$log/report.txt")"
  fi
  counts=$(cat "$state"/[0-9]* 2>/dev/null | cut -f 1 | sort | uniq -c | awk '{ n = $1; $1 = ""; printf "%s%d%s", sep, n, $0; sep = ", " }')
  {
    printf '# Tandem on a %s\n\n`sh bench/amd.sh` made this folder. Steps: %s.\n\n' "$chip" "$counts"
    sed 's/^/- /' "$out/environment.txt"
    printf '\n| step | | seconds | what | |\n|---|---|---:|---|---|\n'
    summary
    cat bench/record/amd-readme.md
    [ "${RUNNER-}" = '' ] || cat bench/record/amd-rehearsal.md
  } >"$out/README.md"
  # Nothing in it may name the machine or its user.
  mv "$state" "$out.state"
  sh bench/record/scrub.sh "$out" "$out=OUT" "$source=SOURCE" && clean=yes || clean=no
  mv "$out.state" "$state"
  if [ "$clean" = yes ]; then
    tar -C "$(dirname "$out")" --exclude=state -czf "$out.tar.gz" "$(basename "$out")" && echo "amd.sh: send back $(basename "$out").tar.gz"
  else
    rm -f "$out.tar.gz"
    echo "amd.sh: there is no archive" >&2
    return 1
  fi
  echo "amd.sh: $counts"
  cat "$state"/[0-9]* | awk -F '\t' '$1 == "failed" { bad = 1 } $1 == "passed" { good = 1 } END { exit bad ? 1 : good ? 0 : 77 }'
}
predictions='' child=''
exec 5>&1 6>&2
interrupted() {
  trap '' INT TERM
  exec >&5 2>&6 # not into the log of what was interrupted
  # shellcheck disable=SC2086 # numbers
  [ "$predictions$child" = '' ] || kill $predictions $child 2>/dev/null
  echo 'amd.sh: interrupted; the same command goes on where it was'
  write_folder
  exit 130
}
trap interrupted INT TERM

if [ "$build" = '' ]; then
  step 00-build 60 'build of the HIP path and gfxsim' make_build build-amd-$chip "$log/build.txt" -Dtdm_backend=hip -Dhip_archs="$chip" -Dladder=false
  build=build-amd-$chip
fi
bench=$build/bench/tandem-bench
if [ ! -x "$bench" ] || [ ! -x "$build/test/tandem-check" ]; then
  [ -e "$state/00-build" ] || [ -e "$state/00-build.open" ] || put 00-build failed 0 'build of the HIP path and gfxsim' "no tandem-bench and tandem-check in it"
  write_folder
  exit 1
fi
has_sim=no
"$bench" add 8x8 --device "sim:$chip" >"$log/simulator.txt" 2>&1 && has_sim=yes
if [ $has_sim = yes ] && [ ! -s "$state/80-predict" ] && [ "$(left)" -gt 0 ]; then start_predictions; fi
step 10-check-hip 30 'every case of tandem-check on hip:0' run_check "$build" hip:0 check-hip.txt
if python3 -c 'import torch, sys; sys.exit(torch.version.hip is None)' 2>/dev/null; then
  step 20-measured 30 'times of the cases beside PyTorch' time_beside_torch
else
  missing 21-pytorch 'times beside PyTorch' 'python3 has no PyTorch for ROCm'
  step 20-measured 30 'times of the cases' time_cases measured.json "$log/measured.txt"
fi
# The peers are opened by dlopen.
has_library() {
  for folder in $(echo "${LD_LIBRARY_PATH-}" | tr : ' ') /opt/rocm/lib; do
    ls "$folder/lib$1.so"* >/dev/null 2>&1 && return 0
  done
  ldconfig -p 2>/dev/null | grep -q "lib$1\.so"
}
place=22
for peer in hipblaslt rocblas; do
  if has_library $peer; then
    step $place-$peer 30 "times of the products beside $peer" time_cases $peer.json "$log/$peer.txt" --peer $peer
  else
    missing $place-$peer "times of the products beside $peer" "no lib$peer.so in LD_LIBRARY_PATH, /opt/rocm/lib or the loader's folders"
  fi
  place=$((place + 1))
done
if command -v rocprofv3 >/dev/null; then
  step 30-trace 30 'the GPU'"'"'s own time and clocks of each case, by rocprofv3' each_case "$out/cases.txt" trace_case
  step 40-counters 30 'counters of small cases, by rocprofv3' each_case "$out/counted.txt" count_case
else
  missing 30-trace "the GPU's own time of each case" 'no rocprofv3 in PATH or /opt/rocm/bin'
  missing 40-counters 'counters of small cases' 'no rocprofv3 in PATH or /opt/rocm/bin'
fi
if [ $has_sim = yes ]; then
  step 41-counts 30 "gfxsim's counts of the same cases" each_case "$out/counted.txt" simulate_case
else
  missing 41-counts "gfxsim's counts" 'gfxsim was not built: docs/building.md has its libraries'
  missing 80-predict 'predictions' 'gfxsim was not built: docs/building.md has its libraries'
fi
if [ "$omp_build" = '' ] && [ "$build" != build-amd-$chip ]; then
  missing 50-build-omp 'build of the OpenMP path for the GPU' '--build was given, and no --omp-build'
elif [ "$omp_build" = '' ]; then
  step 50-build-omp 120 'build of the OpenMP path for the GPU' build_omp
  omp_build=build-amd-omp-$chip
fi
if [ "$omp_build" != '' ] && [ -x "$omp_build/test/tandem-check" ]; then
  step 60-check-omp 30 'every case of tandem-check on omp:0' run_check "$omp_build" omp:0 check-omp.txt
  step 70-omp 30 'times of the cases on omp:0' time_omp
else
  missing 60-check-omp 'tandem-check on omp:0' 'there is no build for the GPU'
  missing 70-omp 'times on omp:0' 'there is no build for the GPU'
fi
[ "$predictions" = '' ] || step 80-predict -86400 "predictions of the cases by gfxsim, of the same code objects" await_predictions
write_folder
