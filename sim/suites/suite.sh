# What vv.sh and hecbench.sh share. They source it; their own comments at the top are their help.
# shellcheck shell=sh disable=SC2154
set -u
export LC_ALL=C

usage() {
  echo "$(basename "$0"): $*" >&2
  sed -n 's/^# \(Use: \)/\1/p' "$0" >&2
  exit 2
}
help() {
  sed -n '2,/^$/{/^#/!d;s/^# \{0,1\}//;p;}' "$0"
  exit 0
}
skip() {
  echo "skipped: $*"
  exit 77
}
whole() { # OPTION VALUE LOWEST HIGHEST
  case $2 in
    '' | *[!0-9]* | ???????????*) usage "$1 $2: must be a number from $3 to $4" ;;
  esac
  if [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then usage "$1 $2: must be a number from $3 to $4"; fi
}
first_with() { # FILE FOLDER...
  file=$1
  shift
  for folder; do
    if [ -e "$folder/$file" ]; then
      echo "$folder"
      return
    fi
  done
}
runs_programs() { # GFXSIM
  why=$("$1" exec true 2>&1) || usage "$1: $(echo "$why" | head -n 1)"
}
device_libraries() { # TOOLS: prints the folder of ROCm's device libraries
  first_with ockl.bc "$1/rocm/usr/lib/llvm-17/lib/clang/17/amdgcn/bitcode" /usr/lib/llvm-17/lib/clang/17/amdgcn/bitcode \
    /opt/rocm/amdgcn/bitcode
}
checksum() { # FILES: of their contents, with - for stdin
  cat "$@" | cksum | tr -d ' '
}
# Sorted lines from stdin to stdout: COUNT of them, the same ones with every awk.
sample() { # COUNT SEED
  awk -v seed="$2" 'BEGIN { x = seed; for (n = 0; n < 16; n++) x = x * 16807 % 2147483647 }
    { x = x * 16807 % 2147483647; printf "%010d %s\n", x, $0 }' | sort | head -n "$1" | cut -d ' ' -f 2 | sort
}
# What follows uses the scripts' variables: work, out, count, seed, jobs.
take_sample() { # of $work/chosen, where --count asks for one
  [ "$count" -gt 0 ] || return 0
  sample "$count" "$seed" <"$work/chosen" >"$work/sample"
  mv "$work/sample" "$work/chosen"
  echo "a sample of $(wc -l <"$work/chosen") with seed $seed:"
  sed 's/^/  /' "$work/chosen"
}
results() { # the last row of each one in $work/keys, where its key is the one that is there
  awk -F '\t' 'NR == FNR { key[$1] = $2; next } key[$1] == $2 && NF == 6 { row[$1] = $0 } END { for (t in row) print row[t] }' \
    "$work/keys" "$out/results.tsv" | sort
}
judge_remaining() { # judges those of $work/chosen that have no row yet; the rows of all are in $work/rows
  results | cut -f 1 >"$work/done"
  comm -23 "$work/chosen" "$work/done" >"$work/remaining"
  [ ! -s "$work/done" ] || echo "$(wc -l <"$work/done") of them are in $out/results.tsv"
  xargs -P "$jobs" -n 1 sh "$0" --judge <"$work/remaining"
  results >"$work/rows"
}
