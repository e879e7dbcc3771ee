# What the tests of the ladders' steps share: reads TANDEM-CHECK and DEVICE, and works in a folder of its own.
set -eu
check=$1 device=$2
complain() {
  echo "test_steps: $1"
  exit 1
}

# passes STEP OP ARGS...: each must run, and pass
passes() {
  kernel=$1
  shift
  "$check" "$@" --device "$device" --kernel "$kernel" >said 2>&1 || complain "$kernel on $device: $* must pass: $(tail -n 5 said)"
  grep -q "^kernel: $kernel," said || complain "$kernel on $device: $* was run by another kernel"
}
# fails STEP WORDS OP ARGS...
fails() {
  kernel=$1 words=$2
  shift 2
  ! "$check" "$@" --device "$device" --kernel "$kernel" >said 2>&1 || complain "$kernel on $device: $* must be caught"
  tr '\n' ' ' <said | grep -q "$words" || complain "$kernel on $device: $* must be caught by '$words': $(tail -n 5 said)"
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

