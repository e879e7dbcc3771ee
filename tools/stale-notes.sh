#!/bin/sh
# Removes what dead programs left in /dev/shm: LLVM's OpenMP library writes a note there, named after the process, when a program
# starts. A program that is killed leaves its note, and one that may write no byte to a file (ulimit -f 0) leaves an empty one. The
# next program of that user that gets the same number of a process reads it, and an empty note ends it with "Bus error".
# Usage: stale-notes.sh [FOLDER]   default: /dev/shm
set -eu
folder=${1:-/dev/shm}
for note in "$folder"/__KMP_REGISTERED_LIB_*_"$(id -u)"; do
  [ -f "$note" ] || continue
  process=${note##*/__KMP_REGISTERED_LIB_}
  process=${process%_*}
  case $process in *[!0-9]* | '') continue ;; esac
  # A program that is just starting already has its process number, so its note stays.
  kill -0 "$process" 2>/dev/null || rm -f "$note"
done
