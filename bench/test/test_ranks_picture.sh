#!/bin/sh
# ranks-picture: bars of the middle turn, measured beside predicted; what is no result is left out; bad files are refused in one line.
# Use: test_ranks_picture.sh PROGRAM
set -eu
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0
check() { # WHAT COMMAND...
  what=$1
  shift
  if "$@"; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "failed: $what"
  fi
}
has() { grep -q "$1" "$folder/out.svg"; }
lacks() { ! has "$1"; }
refuses() { # WORD ARGUMENT...
  word=$1
  shift
  ! "$program" "$@" 2>"$folder/said" && [ "$(wc -l <"$folder/said")" = 1 ] && grep -q "$word" "$folder/said"
}
row() { echo "{\"by\": \"$1\", \"ranks\": $2, \"what\": \"$3\", \"input\": \"$4\", \"ms\": 1, \"tokens_per_second\": $5$6}"; }
{
  echo '{"rows": ['
  row tandem 1 prefill 1x64 100 '' && echo ,
  row tandem 2 prefill 1x64 101 '' && echo ,
  row tandem 2 prefill 1x64 171 '' && echo ,
  row tandem 2 prefill 1x64 172 ', "chunks": 2' && echo ,
  row tandem 2 prefill 1x64 999 '' && echo ,
  row PyTorch 2 prefill 1x64 88 '' && echo ,
  row 'tandem, one rank alone' 2 prefill 1x64 777 '' && echo ,
  row tandem 1 decode '4x<32' 5 ''
  echo ']}'
} >"$folder/measured"
{
  echo '{"rows": ['
  row tandem 2 prefill 1x64 163 ''
  echo ']}'
} >"$folder/predicted"
check 'draws' "$program" "$folder/measured" "$folder/predicted" "$folder/out.svg" 'A <title>'
check 'the title' has 'A &lt;title'
check 'a case' has 'prefill 1x64'
check 'a case with a sign' has 'decode 4x&lt;32'
check 'one GPU' has 'tiny-llama, 1 GPU<'
check 'the middle of three' has '>171'
check 'no other turn' lacks '999'
check 'chunks' has 'tiny-llama, 2 GPUs, --chunks 2'
check 'the prediction' has '>163'
check 'the peer' has 'PyTorch, 2 GPUs'
check 'no rank alone' lacks '777'
echo '{"rows": []}' >"$folder/empty"
echo '{"rows": 1}' >"$folder/none"
echo '{' >"$folder/broken"
check 'needs four' refuses needs "$folder/measured" "$folder/predicted" "$folder/out.svg"
check 'no file' refuses 'missing' "$folder/missing" "$folder/predicted" "$folder/out.svg" t
check 'no JSON' refuses 'broken' "$folder/broken" "$folder/predicted" "$folder/out.svg" t
check 'no list' refuses 'none: has no list' "$folder/measured" "$folder/none" "$folder/out.svg" t
check 'no rows' refuses 'no rows to draw' "$folder/empty" "$folder/predicted" "$folder/out.svg" t
check 'no folder' refuses 'nowhere' "$folder/measured" "$folder/predicted" "$folder/nowhere/out.svg" t
echo "$passed passed, $failed failed"
[ $failed = 0 ]
