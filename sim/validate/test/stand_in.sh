#!/bin/sh
# Stands in for gfxsim in the test: the prediction is by the kernel's name.
shift
kernel='' json='' trace='' object='' lds=0
while [ $# -gt 0 ]; do
  case $1 in
    --kernel) kernel=$2 ;;
    --json) json=$2 ;;
    --trace) trace=$2 ;;
    --lds) lds=$2 ;;
    --grid | --block | --arg) ;;
    --warm)
      set -- '' "$@" ;;
    *)
      object=$1
      set -- '' "$@" ;;
  esac
  shift 2
done
put() { # CLOCKS LOOP SHARE GHZ MICROSECONDS
  loop=null
  [ "$2" = null ] || loop="{\"begin\": 1, \"iterations\": 3.0, \"clocks\": $2, \"mfma_share\": $3}"
  cat >"$json" <<JSON
{"what": "a \"stand-in\", {not} a model", "clocks": $1, "mfma_share": 0.01, "loop": $loop,
 "frequency_ghz": $4, "microseconds": $5, "source_lines": [{"source": "a.c:1", "clocks": {"issued": 7}}, {"clocks": 9}]}
JSON
}
[ -s "$object" ] || exit 1
case $kernel in
  fast) put 1000 550.0 0.55 null 10 ;;
  slow) put 4000 2000 0.2 null 25 ;;
  wrong) put 3000 1900 0.19 null null ;;
  whole) put 8800 null null 1.5 2.5e1 ;;
  reads)
    put 100 null null null null
    for clock in 100 104 108 124 140 156; do
      echo "{\"name\": \"ds_read_b128 v[2:5], v0\", \"cat\": \"LDS\", \"ph\": \"X\", \"ts\": $clock, \"dur\": 4, \"pid\": 0, \"tid\": 7},"
      echo "{\"name\": \"ds_read_b64 v[2:3], v0\", \"cat\": \"LDS\", \"ph\": \"X\", \"ts\": $clock, \"dur\": 4, \"pid\": 0, \"tid\": 7},"
    done >"$trace" ;;
  late) sleep 5 ;;
  *)
    echo "gfxsim: kernel $kernel: not found, lds $lds" >&2
    exit 1 ;;
esac
