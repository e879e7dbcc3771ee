# shellcheck shell=sh disable=SC2034,SC2154 # bench/amd.sh, which reads this file, sets and uses names
# How long bench/amd.sh lets a program run, and what became of each step.

began=$(date +%s)
left() { echo $((60 * minutes - $(date +%s) + began)); }
# grows PROCESS FILE: ends a process that brings nothing in the file for as long as --patience says.
grows() {
  grown=$1 quiet=0 before=''
  while sleep 1; do
    now=$(stat -c %s "$2" 2>/dev/null)
    if [ "$now" = "$before" ]; then quiet=$((quiet + 1)); else quiet=0 before=$now; fi
    [ $quiet -ge "$patience" ] || continue
    echo "$patience" >"$state/quiet"
    kill -TERM "$grown" # timeout passes it on to the program and to those that it started, and kills them after -k
    return
  done
}
# limited SECONDS FILE COMMAND...: for so long, and as long as there is time; a program that brings nothing in the FILE is ended sooner ('-': no
# file). Status 124: it was stopped, and `why` says why. The shell waits for it as for a job, because it handles no signal otherwise.
limited() {
  seconds=$1 growing=$2 rest=$(left) watcher='' why=''
  shift 2
  cause="it took longer than $seconds s"
  [ "$seconds" -le "$rest" ] || { seconds=$rest cause='the time was over'; }
  code=124
  [ "$seconds" -gt 0 ] || { why=$cause && return 124; }
  rm -f "$state/quiet"
  timeout -k 10 "$seconds" "$@" &
  child=$!
  if [ "$growing" != - ]; then
    grows $child "$growing" >/dev/null 2>&1 5>&1 6>&1 &
    watcher=$!
  fi
  wait $child
  code=$? child=''
  [ "$watcher" = '' ] || kill "$watcher" 2>/dev/null
  if [ -e "$state/quiet" ]; then
    code=124 why="nothing came from it for $(cat "$state/quiet") s"
    rm -f "$state/quiet"
  fi
  case $code in 124 | 137) code=124 why=${why:-$cause} ;; esac
  return $code
}
# ended STATUS: what a program's exit status means, for the reader
ended() {
  case $1 in
    124) echo "$why" ;;
    134 | 139) echo "the program ended by $([ "$1" = 134 ] && echo an abort || echo a segmentation fault)" ;;
    *) if [ "$1" -gt 128 ]; then echo "the program ended by signal $(($1 - 128))"; else echo "exit status $1"; fi ;;
  esac
}

# ---- Steps ----

# try_gpu: adds two small arrays. still_answers: whether that works, after a program that ended badly; nothing else is started on a GPU on which it
# does not. In a process of its own, which leaves `code` and `why` as they are.
# shellcheck disable=SC2086 # RUNNER is words
try_gpu() { limited "$patience" - ${RUNNER-} "$bench" add 8x8 --device "$device" >"$log/gpu.txt" 2>&1; }
still_answers() {
  [ $gpu = dead ] || [ ! -x "$bench" ] || [ "$(left)" -le 0 ] || (try_gpu) || gpu=dead
  [ $gpu != dead ]
}
# put FILE STATUS SECONDS WHAT REASON. Files *.open are of steps that the same command does again; the others are done.
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
  # What a build lacked may be there now, and its source may be another: it is always done again, which is quick.
  case $name in *build*) again=.open ;; *) again='' ;; esac
  if [ -s "$state/$name" ]; then
    was=$(cut -f 1 "$state/$name")
    echo "amd.sh: $name: $was before$([ "$was" = passed ] || echo '; --retry does it again')"
    return
  fi
  without=''
  [ "$(left)" -ge "$least" ] || without='the time was over'
  case $gpu,$name in dead,*build* | dead,8*) ;; dead,*) without="$device no longer answers: add 8x8 does not end well" ;; esac
  if [ "$without" != '' ]; then
    put "$name.open" 'not started' 0 "$what" "$without"
    echo "amd.sh: $name: not started: $without"
    return
  fi
  echo "amd.sh: $name: $what ($(left) s are left)"
  echo "$name" >"$state/now"
  start=$(date +%s) reason='' why=''
  put "$name.open" interrupted 0 "$what" 'the same command goes on with it'
  "$@" && status=0 || status=$?
  rm -f "$state/$name.open"
  took=$(($(date +%s) - start)) file=$name$again
  case $status in
    0) put "$file" passed $took "$what" "$reason" ;;
    77) put "$name.open" 'nothing run' $took "$what" "$reason" ;;
    124)
      [ "$why" != 'the time was over' ] || file=$name.open
      put "$file" stopped $took "$what" "$why${reason:+; $reason}"
      ;;
    *) put "$file" failed $took "$what" "$(ended "$status")${reason:+; $reason}" ;;
  esac
  [ $status = 0 ] || [ $status = 77 ] || still_answers
  echo "amd.sh: $name: $(cut -f 1,4 "$state/$name" "$state/$name.open" 2>/dev/null | tr '\t' ' ')"
}
# Steps that failed or were stopped are done again, from their beginning where a file has their cases. Those that only had no time are
# not among them: they go on.
retry_failed() {
  for file in "$state"/[0-9]*; do
    case $file in *.open) continue ;; esac
    case $(cut -f 1 "$file" 2>/dev/null) in failed | stopped) ;; *) continue ;; esac
    name=${file##*/}
    echo "amd.sh: $name: again"
    rm -f "$file" "$out/${name#*-}.json" "$out/${name#*-}.json.part"
    [ "$name" != 81-predict ] || rm -f "$out"/predicted-*.json*
  done
}
# last_line FILE: the one with the counts, else the last
last_line() { { grep -E '^[0-9]+ (passed|cases? of)' "$1" || tail -n 1 "$1"; } 2>/dev/null | tail -n 1 | cut -c 1-200; }
# each_case LIST FUNCTION: FUNCTION NUMBER WORD... for each line; counts those that failed. A case that was stopped is one of them, until three
# were, one after the other.
each_case() {
  number=0 failures=0 stops=0 list=$1 function=$2
  while read -r line <&3; do
    number=$((number + 1))
    [ "$(left)" -ge 5 ] || { why='the time was over' && return 124; }
    # shellcheck disable=SC2086 # words
    $function "$(printf %03d $number)" $line && stops=0 && continue
    code=$?
    failures=$((failures + 1))
    [ $code = 124 ] || { stops=0 && continue; }
    [ "$why" != 'the time was over' ] || return 124
    stops=$((stops + 1))
    echo "amd.sh: $line: $why" | tee -a "$log/stopped.txt"
    [ $stops -lt 3 ] || { reason="case $number was the third of these, one after the other" && return 124; }
  done 3<"$list"
  reason="$number cases, $failures of them failed"
  [ $failures -eq 0 ]
}
