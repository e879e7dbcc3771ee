# shellcheck shell=sh disable=SC2034,SC2086,SC2094,SC2154 # numbers and words; what a watcher reads; bench/amd.sh, which reads this file, sets and uses names
# What the steps of bench/amd.sh run.

# ---- Builds ----

# targets_of DIR NAME...: what the steps run: all targets, tests, ladders and pages would take most of the time
targets_of() {
  folder=$1
  shift
  for name in "$@"; do ninja -C "$folder" -t targets all | sed -n "s,^\($name\): .*,\1,p"; done
}
# make_build DIR LOG OPTION...: configures and builds; CC says by which compiler
make_build() {
  folder=$1 file=$2
  shift 2
  [ -e "$folder/build.ninja" ] || limited 600 - meson setup "$folder" "$@" >"$file" 2>&1 || {
    code=$?
    reason=$(grep -m 1 'ERROR' "$file" | cut -c 1-200)
    rm -rf "$folder"
    return $code
  }
  # shellcheck disable=SC2046 # words
  limited 1800 - ninja -C "$folder" $(targets_of "$folder" bench/tandem-bench test/tandem-check) >>"$file" 2>&1 && return 0
  code=$? reason=$(grep -m 1 -E 'error:|FAILED' "$file" | cut -c 1-200)
  return $code
}
build_hip() {
  CC=$(find_compiler)
  export CC
  make_build "$build" "$log/build.txt" -Dtdm_backend=hip -Dhip_archs="$chip" -Dladder=false
}
# gfxsim is there if its libraries are; nothing else needs it.
build_sim() {
  targets=$(targets_of "$build" sim/gfxsim 'sim/libgfxsim-hip\.so[.0-9]*')
  [ "$targets" != '' ] || {
    reason="it needs LLVM 20 or later, elfutils, msgpack-c and jansson: docs/building.md"
    return 77
  }
  limited 900 - ninja -C "$build" $targets >"$log/build-sim.txt" 2>&1 && return 0
  code=$? reason=$(grep -m 1 -E 'error:|FAILED' "$log/build-sim.txt" | cut -c 1-200)
  return $code
}
# Clangs with a device runtime of the chip: ROCm's own first.
build_omp() {
  for compiler in amdclang clang clang-22 clang-21 clang-20 clang-19; do
    command -v $compiler >/dev/null || continue
    CC=$compiler make_build "build-amd-omp-$chip" "$log/build-omp.txt" -Dsim=disabled -Domp_offload="$chip" -Dtdm_backend=hip \
      -Dhip_archs="$chip" -Dladder=false && return 0
    [ $code != 124 ] || return 124
    rm -rf "build-amd-omp-$chip" # of this compiler
  done
  reason=${reason:-no clang was found}
  return 1
}

# ---- Times ----

# rows_of JSON: how many cases a run that has not ended has
rows_of() { if [ -e "$1.part" ]; then grep -c '"outcome"' "$1.part"; else echo 0; fi; }
# over_cases SECONDS NAME COMMAND...: a command that times the cases of a file into NAME.json. A fault of the GPU ends the process, and one
# that hangs is stopped: the same command goes on after the cases that it has (a case that ended it twice has failed), until six
# starts, one after the other, brought none.
over_cases() {
  until=$(($(date +%s) + $1)) json=$out/$2.json file=$log/$2.txt empty=0 starts=0 had=$(rows_of "$out/$2.json")
  shift 2
  : >"$file"
  while :; do
    seconds=$((until - $(date +%s)))
    limited $((seconds > 0 ? seconds : 0)) "$json.part" "$@" --json "$json" >>"$file" 2>&1
    code=$? starts=$((starts + 1)) reason=$(last_line "$file")
    if [ -s "$json" ] && [ ! -e "$json.part" ]; then break; fi # it came to its end
    if [ "$why" = 'the time was over' ] || [ "$(date +%s)" -ge $until ]; then break; fi
    echo "amd.sh: start $starts ended early: $(ended $code)" | tee -a "$file"
    if [ "$(rows_of "$json")" -gt "$had" ]; then empty=0; else empty=$((empty + 1)); fi
    had=$(rows_of "$json")
    # Where it has not begun a case it may not even start.
    if [ $empty -ge 6 ] || [ ! -e "$json.part" ] || ! still_answers; then break; fi
  done
  [ $starts = 1 ] || reason="$starts starts; $reason"
  # The run that went on does not count the case that ended the others.
  bad=$(grep -o '"outcome": *"failed"' "$json" 2>/dev/null | wc -l)
  [ $code != 0 ] || [ "$bad" = 0 ] || code=1 reason="$reason; $bad failed in all"
  return $code
}
time_cases() { # NAME OPTION...
  name_of=$1
  shift
  over_cases 600 "$name_of" ${RUNNER-} "$bench" --shapes "$out/cases.txt" --device "$device" "$@"
}
time_beside_torch() { over_cases 600 pytorch python3 bench/peer/peer_torch.py ${RUNNER-} "$bench" --shapes "$out/cases.txt" --device "$device"; }
time_omp() { over_cases 600 omp ${RUNNER-} "$omp_build/bench/tandem-bench" --shapes "$out/cases.txt" --device "omp:${device#hip:}" --most-flop 1000000000000; }

# ---- Checks ----

# check_part DIR DEVICE OP OPTION...: adds to the op's file; the counts are in `counted_as`, the case of its end in `last_case`
check_part() {
  program=$1/test/tandem-check on=$2 op=$3
  file=$out/check-${on%%:*}-$op.txt
  shift 3
  touch "$file"
  begin=$(wc -l <"$file")
  limited 400 "$file" ${RUNNER-} "$program" "$op" --trace --device "$on" "$@" >>"$file" 2>&1
  code=$?
  counted_as=$(tail -n +$((begin + 1)) "$file" | grep -E '^[0-9]+ passed' | tail -n 1)
  last_case=$(tail -n +$((begin + 1)) "$file" | grep '^tandem-check ' | tail -n 1)
  return $code
}
# check_op DIR DEVICE OP: all cases of the op, and each kernel by its name. If that ends early it is done again in parts, so that the
# case that ended it hides only an eighth of the others.
check_op() {
  rm -f "$out/check-${2%%:*}-$3.txt"
  check_part "$1" "$2" "$3" --cover --every "$every"
  whole=$?
  reason=${counted_as:-${last_case:+the last case: $last_case}}
  # It came to its end, or was stopped only because it takes long, or never began.
  case $counted_as,$last_case,$why in [1-9]* | ,,* | *,'the time was over' | *,'it took longer'*) return $whole ;; esac
  first_why=$why good=0 part=0
  while [ $part -le 8 ] && { [ "$counted_as" != '' ] || still_answers; }; do
    if [ $part = 8 ]; then set -- "$1" "$2" "$3" --cover --every 1000000 --always 1000000; else
      set -- "$1" "$2" "$3" --every $((8 * every)) --always 8 --offset $part
    fi
    check_part "$@" && good=$((good + 1))
    [ "$why" != 'the time was over' ] || return 124
    [ "$counted_as" != '' ] || echo "amd.sh: $(ended $code) at: $last_case" | tee -a "$log/stopped.txt"
    part=$((part + 1))
  done
  why=$first_why
  reason="$reason; then $good of 9 parts passed"
  return $whole
}

# ---- rocprofv3 ----

# profile FILE TABLE OPTION... -- COMMAND...: the table *TABLE.csv that rocprofv3 writes. Its own names of files have the host's name.
profile() {
  file=$1 table=$2
  shift 2
  rm -rf "$out/profile"
  limited "$patience" - rocprofv3 --output-format csv -d "$out/profile" -o run "$@" >>"$log/rocprofv3.txt" 2>&1
  code=$? found=$(find "$out/profile" -name "*$table.csv" 2>/dev/null | head -n 1)
  [ $code != 124 ] || found='' # the table may be half
  [ "$found" = '' ] || cp "$found" "$file"
  [ "$found" != '' ] || [ $code -ne 0 ] || code=1
  rm -rf "$out/profile"
  return $code
}
# What the GPU took, without the host's launch: start and end of each launch, and its clocks.
trace_case() {
  id=$1
  shift
  [ -s "$out/trace/$id.csv" ] ||
    profile "$out/trace/$id.csv" kernel_trace --kernel-trace -- ${RUNNER-} "$bench" "$@" --device "$device" --hot --repeats 20 --check-time 0.001 ||
    return $?
  [ -s "$out/clocks/$id.csv" ] ||
    profile "$out/clocks/$id.csv" counter_collection --pmc GRBM_GUI_ACTIVE -- ${RUNNER-} "$bench" "$@" --device "$device" --hot --repeats 5 \
      --check-time 0.001
}
# Sets that the hardware counts in one run. What FETCH_SIZE adds up differs between versions of rocprofv3, so its parts are collected too: requests
# of 128 bytes are TCC_BUBBLE on gfx942, and have a counter on gfx950.
sets='SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_MFMA,SQ_INSTS_SALU SQ_INSTS_SMEM,SQ_INSTS_VMEM,SQ_INSTS_LDS,SQ_INSTS_BRANCH
  SQ_INSTS_VALU_MFMA_MOPS_BF16,SQ_INSTS_VALU_MFMA_MOPS_F16,SQ_INSTS_VALU_MFMA_MOPS_F32 SQ_VALU_MFMA_BUSY_CYCLES,SQ_LDS_IDX_ACTIVE,SQ_LDS_BANK_CONFLICT
  TCP_TOTAL_CACHE_ACCESSES_sum,TCP_TCC_READ_REQ_sum TCC_HIT_sum,TCC_MISS_sum FETCH_SIZE WRITE_SIZE TCC_EA0_RDREQ_sum,TCC_EA0_RDREQ_32B_sum'
case ${chip-} in
  gfx950) sets="$sets TCC_EA0_RDREQ_128B_sum,TCC_EA0_RDREQ_64B_sum" ;;
  *) sets="$sets TCC_BUBBLE_sum" ;;
esac
count_case() {
  id=$1 bad=0
  shift
  for set in $sets; do
    file=$out/counters/$id-${set%%,*}.csv
    [ ! -s "$file" ] || continue
    # shellcheck disable=SC2046 # words
    profile "$file" counter_collection --pmc $(echo "$set" | tr , ' ') -- ${RUNNER-} "$bench" "$@" --device "$device" --hot --repeats 1 \
      --check-time 0.001 && continue
    [ $code != 124 ] || return 124
    bad=1
  done
  return $bad
}

# ---- gfxsim: on the host alone ----

simulate_case() {
  id=$1
  shift
  [ -s "$out/counts/$id.json" ] || limited 600 - "$bench" "$@" --device "$simulated" --workgroups 100000000 --json "$out/counts/$id.json" \
    >>"$log/counts.txt" 2>&1
}
# Beside everything else, on a quarter of the host's processors.
start_predictions() {
  shards=$(cat "$state/shards" 2>/dev/null || echo $((($(getconf _NPROCESSORS_ONLN) + 3) / 4)))
  [ "$shards" -le 16 ] || shards=16
  echo "$shards" >"$state/shards"
  shard=0
  while [ $shard -lt "$shards" ]; do
    timeout -k 10 "$(left)" nice -n 19 "$bench" --shapes "$out/cases.txt" --device "$simulated" --warm --every "$shards" --offset $shard \
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
  case $worst in 124 | 137) worst=124 why='the time was over' ;; esac
  reason="$(cat "$log"/predicted-*.txt | grep -cE '^[0-9]+ cases? of') of $shards parts"
  return $worst
}
