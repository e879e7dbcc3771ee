#!/bin/sh
# Measures the shape of an 8 B Llama on N GPUs of this host, in turns: tiny-llama on one and on N, Hugging Face's Llama on one and,
# by its own tensor-parallel plan, on N, and the work of one rank alone, from which docs/scale.md predicts. With N above 1 also how
# the GPUs are linked, how long exchanges take, N ranks' logits beside one's, and killed ranks. A part that fails, or takes too long,
# is told at the end; the others go on.
# Writes FOLDER/NAME-ranks-N.json after each part, NAME-ranks-N-curve.txt and NAME-ranks-N-log.txt.
# Use: sh bench/record/ranks.sh BUILD DEVICE NAME N     as in: sh bench/record/ranks.sh build-sm_90 omp:0 h200 2
# In the environment: FOLDER (default bench/results), ROUNDS (default 2), LIMIT (seconds for all, default 3600), PYTHON (default
# python3, with PyTorch and Transformers; N above 1: torchrun and accelerate too), MODEL (a folder for its weights, 17 GB; default a
# temporary one), MOVE (as in --move), RUNNER, a command that starts tiny-llama, and SHAPE (default 8b; small: a trial on any device).
set -eu
cd "$(dirname "$0")/../.."
[ $# = 4 ] || {
  echo "ranks.sh: needs BUILD DEVICE NAME N, as in: sh bench/record/ranks.sh build-sm_90 omp:0 h200 2" >&2
  exit 2
}
program=$1/examples/tiny-llama/tiny-llama device=$2 count=$4
results=${FOLDER-bench/results}/$3-ranks-$4 command="ROUNDS=${ROUNDS-2} sh bench/record/ranks.sh BUILD $2 $3 $4"
python=${PYTHON-python3} shape=${SHAPE-8b}
case $shape in
  8b) own=8b other=benchmark dtype=bf16 prefill='1x8192 4x2048' batches='1 32' context=1024 tokens=17 logits=1x1024 kills=8 ;;
  small) own=tiny other=tiny dtype=f32 prefill='1x64 2x32' batches='1 4' context=32 tokens=17 logits=1x32 kills=3 ;;
  *) echo "ranks.sh: SHAPE = $shape: must be 8b or small" >&2 && exit 2 ;;
esac
case $count in '' | 0 | *[!0-9]*) echo "ranks.sh: N = $count: must be a number of GPUs" >&2 && exit 2 ;; esac
[ -x "$program" ] || {
  echo "ranks.sh: $program: not there: ninja -C BUILD" >&2
  exit 2
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
model=${MODEL-$folder/model} log=$results-log.txt failed='' began=$(date +%s)
: >"$folder/rows"
: >"$log"

# within SECONDS COMMAND...: a part, with an end of its own. Its output is in $folder/said and in the log.
within() {
  most=$1 now=$(($(date +%s) - began))
  shift
  left=$((${LIMIT-3600} - now))
  [ $left -ge "$most" ] || most=$left
  echo "== $now s: $(printf %s "$*" | head -n 1)" >>"$log"
  code=124
  [ "$most" -lt 5 ] || { timeout -k 5 "$most" "$@" >"$folder/said" 2>"$folder/errors" && code=0 || code=$?; }
  cat "$folder/said" "$folder/errors" >>"$log"
  [ $code = 0 ] || {
    echo "failed after $(($(date +%s) - began)) s: exit $code of: $(printf %s "$*" | head -n 1)" | tee -a "$log" >&2
    tail -n 3 "$folder/errors" >&2
    failed="$failed $code"
    return 1
  }
}

# As JSON, whole after each part.
write_rows() {
  {
    printf '{"command": "%s", "rows": [\n' "$command"
    sed '$!s/$/,/' "$folder/rows"
    printf ']}\n'
  } | sh bench/record/replace.sh "$results.json"
}

# What tiny-llama says of its cases, as lines of JSON.
rows_of() { # BY RANKS
  awk -v by="$1" -v ranks="$2" '
    function row(what, tokens, ms, bound) {
      printf "{\"by\": \"%s\", \"ranks\": %d, \"what\": \"%s\", \"input\": \"%s\", ", by, ranks, what, input
      if (chunks > 1) printf "\"chunks\": %d, ", chunks
      printf "\"ms\": %s, \"tokens_per_second\": %.1f%s}\n", ms, 1e3 * tokens / ms, (bound > 0) ? ", \"bound_ms\": " bound : ""
    }
    $1 == "case" {
      split($2, parts, "/")
      chunks = parts[2] + 0
      split(parts[1], parts, "+")
      input = parts[1]
      split(input, size, "x")
    }
    $1 == "time" {row("prefill", size[1] * size[2], $2, 0)}
    $1 == "decode" {for (i = 2; i < NF; i++) if ($i == "ms" && $(i + 1) == "a") ms = $(i - 1)}
    $1 == "bound" {row("decode", size[1], ms, $2 + 0)}' "$folder/said" | tee -a "$folder/rows"
  write_rows
}

# tiny_llama RANKS OPTION...: RANKS is a number of processes, or alone=N
tiny_llama() {
  start=''
  case $1 in
    1) ranks='' ;;
    alone=*) ranks="--ranks $1" ;;
    *) ranks="--ranks tp=$1" start="mpirun -n $1 --bind-to none" ;;
  esac
  [ "$start" = '' ] || [ "${MOVE-}" = '' ] || ranks="$ranks --move $MOVE"
  shift
  # shellcheck disable=SC2086 # these may be several words, or none
  within 90 ${RUNNER-} $start "$program" --device "$device" $ranks "$@"
}
ours() { # BY RANKS CHUNKS [FILE of logits]
  by=$1 many=$2 cases=''
  for chunks in $3; do
    for input in $prefill; do cases="$cases,$input/$chunks"; done
  done
  for batch in $batches; do cases="$cases,${batch}x$context+$tokens"; done
  if [ "${4-}" = '' ]; then set --; else
    cases=$cases,$logits
    set -- --logits "$4"
  fi
  if [ -f "$model/config.json" ]; then set -- --model "$model" "$@"; else set -- --preset "$own" "$@"; fi
  if tiny_llama "$many" "$@" --dtype "$dtype" --cases "${cases#,}"; then rows_of "$by" "${many#*=}"; fi
}
theirs() { # RANKS
  # shellcheck disable=SC2086 # words
  set -- "$1" bench/peer/pytorch_ranks.py --shape $shape --dtype $dtype --context $context --prefill $prefill --decode $batches
  ranks=$1
  shift
  if [ "$ranks" = 1 ]; then
    within 150 "$python" "$@" || return 0
  else
    [ -f "$model/config.json" ] || return 0
    within 150 "$python" -m torch.distributed.run --nproc-per-node "$ranks" "$@" --model "$model" || return 0
  fi
  sed -n "s/^{/{\"by\": \"PyTorch\", \"ranks\": $ranks, /p" "$folder/said" | tee -a "$folder/rows"
  write_rows
}

# The logits of one process and of all ranks, of which both have left a file.
compare_logits() { # WHAT
  [ ! -s "$folder/logits-1" ] || [ ! -s "$folder/logits-$count" ] || within 60 "$python" -c '
import sys
import numpy
a, b = (numpy.fromfile(path, "f4") for path in sys.argv[1:3])
assert len(a) == len(b) > 0 and numpy.isfinite(a).all() and numpy.isfinite(b).all()
apart = abs(a - b).max() / abs(a).max()
print(f"logits of {sys.argv[3]} ranks and one, {sys.argv[4]}: {apart:.2e} of the largest logit apart at most")
' "$folder/logits-1" "$folder/logits-$count" "$count" "$1" && cat "$folder/said"
  rm -f "$folder/logits-1" "$folder/logits-$count"
}
turns() { # FILE of logits, before their number of ranks, or none
  ours tandem 1 1 ${1:+"${1}1"}
  [ "$count" = 1 ] || ours tandem "$count" '1 2' ${1:+"$1$count"}
  theirs 1
  [ "$count" = 1 ] || theirs "$count"
}

if [ "$count" != 1 ]; then
  if command -v nvidia-smi >/dev/null; then
    within 20 nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit --format=csv && cat "$folder/said"
    within 20 nvidia-smi topo -m && cat "$folder/said"
    within 20 nvidia-smi nvlink --status || true
  fi
  if tiny_llama "$count" --curve; then
    cat "$folder/said"
    sh bench/record/replace.sh "$results-curve.txt" <"$folder/said"
  fi
  [ -f "$model/config.json" ] ||
    within 150 "$python" bench/peer/pytorch_ranks.py --shape "$shape" --dtype "$dtype" --make "$model" || rm -rf "$model"
fi
if [ "$count" = 1 ]; then
  turns
  for others in 2 4 8; do ours 'tandem, one rank alone' alone=$others 1; done
else
  turns "$folder/logits-"
  compare_logits "$shape, $dtype, $logits"
  ours 'tandem, one rank alone' "alone=$count" 1
  for many in 1 "$count"; do
    tiny_llama "$many" --preset "$other" --dtype f32 --repeats 1 --input "$logits" --logits "$folder/logits-$many" || true
  done
  compare_logits "$other, f32, $logits"
  [ "${MOVE-}" != '' ] || MOVE=$(case $device in omp:*) echo nccl ;; hip:*) echo rccl ;; *) echo mpi ;; esac)
  # shellcheck disable=SC2086
  within 150 ${RUNNER-} "$python" examples/tiny-llama/test/ranks_kill.py --device "$device" --count "$kills" --ranks "$count" \
    "$program" mpirun "$MOVE" && cat "$folder/said"
fi
round=1
while [ $round -lt "${ROUNDS-2}" ]; do
  turns
  round=$((round + 1))
done
if [ "$count" != 1 ] && [ "$shape" = 8b ]; then
  for others in 4 8; do ours 'tandem, one rank alone' alone=$others 1; done
fi
echo "$(($(date +%s) - began)) s${failed:+; parts that failed, by their exit status:$failed}"
[ "$failed" = '' ]
