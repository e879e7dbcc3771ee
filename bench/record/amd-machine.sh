# shellcheck shell=sh disable=SC2034,SC2154 # bench/amd.sh, which reads this file, sets and uses names
# What bench/amd.sh finds out about the machine: the GPU, its partitions, clocks and power, ROCm, and what a build lacks.

rocm=${ROCM_PATH:-/opt/rocm}
PATH=$PATH:$rocm/bin:$rocm/llvm/bin
# The library is opened by dlopen, and installers don't tell the loader of ROCm's folder.
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$rocm/lib
export PATH LD_LIBRARY_PATH
kfd=${KFD-/sys/class/kfd/kfd/topology/nodes} drm=${DRM-/sys/class/drm}

# Asks ROCm's tools for the chip, or the kernel driver where there are none. The driver writes gfx942 as 90402.
find_chip() {
  {
    rocm_agent_enumerator 2>/dev/null
    rocminfo 2>/dev/null | sed -n 's/^ *Name: *\(gfx[0-9a-f]*\).*/\1/p'
    cat "$kfd"/*/properties 2>/dev/null |
      awk '$1 == "gfx_target_version" && $2 > 0 { printf "gfx%d%x%x\n", $2 / 10000, $2 / 100 % 100, $2 % 100 }'
  } | awk '/^gfx9(42|50)$/ { print; found = 1; exit } $0 != "gfx000" && other == "" { other = $0 } END { if (!found) print other }'
}

# ---- The device among the machine's GPUs ----

# The driver's node of the device: HIP counts the nodes that are GPUs, in their order; a list of visible ones renumbers them.
find_node() {
  at=${device#hip:} node=''
  for visible in "${HIP_VISIBLE_DEVICES-${CUDA_VISIBLE_DEVICES-}}" "${ROCR_VISIBLE_DEVICES-}"; do
    [ "$visible" = '' ] || at=$(echo "$visible" | cut -d , -f $((at + 1)))
    case $at in '' | *[!0-9]*) return ;; esac # an identifier, not a number
  done
  # shellcheck disable=SC2012 # numbers
  for folder in $(ls "$kfd" 2>/dev/null | sort -n); do
    grep -q '^gfx_target_version [1-9]' "$kfd/$folder/properties" 2>/dev/null || continue
    [ "$at" -gt 0 ] || { node=$kfd/$folder && return; }
    at=$((at - 1))
  done
}
# property NAME: of the node
property() { [ "$node" = '' ] || awk -v name="$1" '$1 == name { print $2 }' "$node/properties" 2>/dev/null; }
# partition WORD: compute or memory; empty where the driver does not say
partition() { cat "$card/current_$1_partition" 2>/dev/null; }
# How many XCDs the device has: GRBM_GUI_ACTIVE is the sum of theirs. 8 of one device are the mode SPX.
find_device() {
  find_node
  minor=$(property drm_render_minor)
  card=$drm/renderD${minor:-none}/device
  xcds=$(property num_xcc)
  case $xcds,$(partition compute) in
    [1-9]*,*) xcds_from='by the driver' ;;
    ,SPX) xcds=8 xcds_from='by the mode SPX' ;;
    ,DPX) xcds=4 xcds_from='by the mode DPX' ;;
    ,QPX) xcds=2 xcds_from='by the mode QPX' ;;
    ,CPX) xcds=1 xcds_from='by the mode CPX' ;;
    *) xcds=8 xcds_from='assumed: the driver does not say' ;;
  esac
  simulated=sim:$chip
  [ "$xcds" = 8 ] || simulated=sim:$chip,xcds=$xcds
}

# ---- Clocks and power ----

# reading FILE DIVISOR: of the card's sensors; '-' where it has none
reading() {
  for file in "$card"/hwmon/hwmon*/"$1"; do
    value=$(cat "$file" 2>/dev/null) && echo $((value / $2)) && return
  done
  echo -
}
# The sensor's name depends on the driver.
power() { if [ "$(reading power1_input 1)" != - ]; then reading power1_input 1000000; else reading power1_average 1000000; fi; }
# Each 5 s until it is killed: one line, with the step that runs.
sample_gpu() {
  [ -s "$out/gpu.csv" ] || echo 'step,seconds,gpu_mhz,memory_mhz,watt,watt_cap,junction_celsius,busy_percent'
  while [ -d "$state" ]; do
    printf '%s,%s,%s,%s,%s,%s,%s,%s\n' "$(cat "$state/now" 2>/dev/null)" $(($(date +%s) - began)) "$(reading freq1_input 1000000)" \
      "$(reading freq2_input 1000000)" "$(power)" "$(reading power1_cap 1000000)" "$(reading temp2_input 1000)" \
      "$(cat "$card/gpu_busy_percent" 2>/dev/null || echo -)"
    sleep 5
  done
}

# ---- What is written down ----

# The commit, without asking git where it refuses a folder of another user, as under sudo.
commit() {
  hash=$(git -c safe.directory="$source" rev-parse HEAD 2>/dev/null) || {
    hash=$(cat .git/HEAD 2>/dev/null)
    case $hash in 'ref: '*) hash=$(cat ".git/${hash#ref: }" 2>/dev/null || sed -n "s|^\([0-9a-f]*\) ${hash#ref: }\$|\1|p" .git/packed-refs 2>/dev/null) ;; esac
  }
  changes=$(git -c safe.directory="$source" status --porcelain --untracked-files=no 2>/dev/null) || changes=unknown
  case $changes in '') changes='' ;; unknown) changes=', changes unknown' ;; *) changes=', changed' ;; esac
  echo "$(echo "${hash:-unknown}" | cut -c 1-12)$changes"
}
describe_machine() {
  echo "chip: $chip"
  rocminfo 2>/dev/null | awk '/Marketing Name/ { name = $0 } /Compute Unit/ && name ~ /Instinct|MI3/ { sub(/.*: */, "", name); print "GPU: " name; sub(/.*: */, ""); print "compute units: " $0; exit }'
  echo "device: $device, of $(cat "$kfd"/*/properties 2>/dev/null | grep -c '^gfx_target_version [1-9]') GPUs that the driver shows"
  echo "XCDs: $xcds ($xcds_from)"
  echo "compute partition: $(partition compute | grep . || echo unknown), memory partition: $(partition memory | grep . || echo unknown)"
  echo "power cap: $(reading power1_cap 1000000) W, its highest: $(reading power1_cap_max 1000000) W"
  echo "clocks of the GPU, MHz: $(awk '{ sub(/Mhz/, "", $2); printf "%s%s%s", sep, $2, $3; sep = " " }' "$card/pp_dpm_sclk" 2>/dev/null | grep . || echo unknown)"
  echo "performance level: $(cat "$card/power_dpm_force_performance_level" 2>/dev/null || echo unknown); busy before the run: $(cat "$card/gpu_busy_percent" 2>/dev/null || echo unknown) %"
  echo "ROCm: $(cat "$rocm/.info/version" 2>/dev/null || echo 'not found')"
  echo "rocprofv3: $(timeout 20 rocprofv3 --version 2>/dev/null | grep -i -m 1 version | tr -s ' ' | grep . || echo unknown)"
  echo "amdgpu driver: $(cat /sys/module/amdgpu/version 2>/dev/null || echo 'version not found')"
  echo "system: $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release 2>/dev/null), Linux $(uname -r | cut -d - -f 1), load $(cut -d ' ' -f 1 /proc/loadavg), $(getconf _NPROCESSORS_ONLN) processors"
  echo "source: commit $(commit)"
  [ "${RUNNER-}" = '' ] || echo 'a command started the programs (RUNNER): a rehearsal, if it is gfxsim exec'
  [ "$xcds" = 8 ] || echo "WARNING: the device is a part of the GPU, $xcds of its 8 XCDs: clocks are divided by $xcds, predictions are for $xcds XCDs at the whole GPU's memory rate. SPX is what this library was tuned for"
}

# ---- What a build lacks ----

# at_least VERSION WANTED
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }
# A compiler of the host code: $CC, else gcc from 12 on, else ROCm's clang.
find_compiler() {
  [ "${CC-}" = '' ] || { echo "$CC" && return; }
  for compiler in gcc gcc-14 gcc-13 gcc-12; do
    at_least "$($compiler -dumpversion 2>/dev/null)" 12 && echo $compiler && return
  done
  for compiler in amdclang clang-22 clang-19; do command -v $compiler >/dev/null && echo $compiler && return; done
}
# What is missing, a line each, with what installs it on Ubuntu; nothing if all is there.
check_tools() {
  at_least "$(meson --version 2>/dev/null)" 1.0 || echo "Meson 1.0 (found: $(meson --version 2>/dev/null || echo none)): python3 -m pip install --user 'meson>=1.0', and \$HOME/.local/bin in PATH"
  command -v ninja >/dev/null || echo 'ninja: apt-get install ninja-build'
  command -v pkg-config >/dev/null || echo 'pkg-config: apt-get install pkg-config'
  for module in popt jansson; do pkg-config --exists $module 2>/dev/null || echo "$module: apt-get install lib$module-dev"; done
  [ "$(find_compiler)" != '' ] || echo 'gcc 12 or later, or a clang: apt-get install gcc-12 (Ubuntu 22.04), or ROCm'"'"'s amdclang'
}
