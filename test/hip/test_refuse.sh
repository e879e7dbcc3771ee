#!/bin/sh
# The messages where HIP can't run: no library, one that is too old, no GPU, a chip without a code object. And what auto does then.
# Use: test_refuse.sh TANDEM_CHECK FAKE FAKE_OLD CHIP     the stand-ins for libamdhip64 (fake.c), of HIP 6.3 and 5.2; a chip of the build
check=$1 fake=$(realpath "$2") old=$(realpath "$3") chip=$4
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/none" "$folder/old" "$folder/new" && ln -s "$old" "$folder/old/libamdhip64.so.5" &&
  ln -s "$fake" "$folder/new/libamdhip64.so.6" || exit 1
unset TANDEM_STRICT TANDEM_BACKEND TANDEM_DEVICE TANDEM_KERNEL
passed=0 failed=0

# expect LIBRARY FAKE_HIP STATUS WORDS ARGUMENTS...
expect() {
  library=$1 hip=$2 status=$3 words=$4
  shift 4
  said=$(LD_LIBRARY_PATH=$folder/$library FAKE_HIP=$hip "$check" "$@" 2>&1) && got=0 || got=$?
  case $got:$said in
    "$status":*"$words"*) passed=$((passed + 1)) ;;
    *)
      failed=$((failed + 1))
      printf 'with %s, FAKE_HIP=%s: tandem-check %s\n  returned %s, must be %s with "%s"\n%s\n' "$library" "$hip" "$*" "$got" \
        "$status" "$words" "$said"
      ;;
  esac
}

if ! "$check" add --device hip:0 3x4 >/dev/null 2>&1; then # a machine with a GPU has a library
  expect none '' 2 "device = 'hip:0': no libamdhip64.so.7 or .so.6 could be loaded" add --device hip:0 3x4
  expect none '' 0 "not hip:0: no libamdhip64" add 3x4
fi
expect old '' 2 "libamdhip64.so.5 is too old: it is of HIP 5.2 and lacks hipGetDevicePropertiesR0600" add --device hip:0 3x4
expect new none 2 "device = 'hip:0': libamdhip64.so.6 finds no GPU: no ROCm-capable device" add --device hip:0 3x4
expect new none 2 "device = 'hip:0': libamdhip64.so.6 finds no GPU" add --backend hip 3x4
expect new none 0 "device: host, because" add 3x4
expect new none 0 "not hip:0: libamdhip64.so.6 finds no GPU" add 3x4
expect new none 0 "not hip:0: the caller named backend omp" add --backend omp 3x4
expect new gfx90a 2 "device = 'hip:0': its chip is gfx90a, and this build has code objects for: gfx9" add --device hip:0 3x4
expect new gfx90a 0 "not hip:0: its chip is gfx90a" add 3x4
expect new "$chip" 2 "device = 'hip:7': libamdhip64.so.6 finds 1 GPU" add --device hip:7 3x4
expect new "$chip" 1 "device: hip:0, the first GPU that HIP finds" add 3x4 # its launches write nothing
expect new "$chip" 2 "backend = 'omp' with device = 'hip:0': must be hip" add --backend omp --device hip:0 3x4
export TANDEM_STRICT=1
expect new none 2 "device = auto in strict mode: only the host answers; name device 'host' to use it (not hip:0: " add 3x4
expect new none 0 "device: host, named by the caller" add --device host 3x4
printf '%s passed, %s failed, 0 skipped\n' $passed $failed
[ $failed = 0 ]
