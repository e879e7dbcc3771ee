#!/bin/sh
# Builds the HIP programs of HeCBench for gfx942 as their Makefiles say, and runs each under `gfxsim exec`.
# Use: sh sim/suites/hecbench.sh FOLDER [OPTION...] [NAME...]
#   FOLDER        a copy of github.com/zjin-lcf/HeCBench; nothing is written there
#   NAME          a folder below FOLDER/src, or a pattern ('s*-hip'); default: *-hip
#   --count N     a random sample of N programs, which is printed;  --seed S  another sample, 1 to 2147483646, default 1
#   --repeat N    the last argument of a program becomes N where it is a number above N: in most, that is how often it repeats its kernel
#   --size N      every other argument that is a whole number above N is halved until it is N or less, or odd
#   -j N          so many programs at once, default 1
#   --limit N     seconds of CPU time for each program, default 60; by the clock it may take ten times as long, and a minute
#   --out FOLDER  keeps results.tsv and each program's output, default build-hecbench. A program is not run again for the same gfxsim
#   --gfxsim FILE the program to use, default build/sim/gfxsim
#   --headers FOLDER  the folder with hip/hip_runtime.h; default: build-tools/hip/usr/include, /usr/include, /opt/rocm/include
#   --flags FLAGS further flags of clang, after all others
#   --tools FOLDER  where `sh tools/setup.sh --offload gfx942` has put ROCm's device libraries, default build-tools
# Programs that need a library of ROCm, MPI or absent data are left out by a rule that is printed. Each of the others is one of:
#   passed            its own verdict (PASS, success, ...), exit status 0, and a kernel was launched
#   no verdict        the same, but it prints none
#   failed            its own verdict (FAIL, mismatch, ...), or another exit status
#   refused           failed, after a call that gfxsim does not serve
#   without a launch  exit status 0, but no kernel was launched
#   time limit        it did not end
#   not built         clang 19 or the Makefile does not build it with these headers
# Programs with findings are one of these, and counted once more. Their Makefiles run commands of their own: use a copy that you trust.
# Exit status: 0; 1 when a program failed; 77 without clang 19, make, HIP's headers or the device libraries.

# shellcheck source=sim/suites/suite.sh
. "$(dirname "$0")/suite.sh"
tab=$(printf '\t')
classes='passed,no verdict,failed,refused,without a launch,time limit,not built'

# ---- The Makefiles' hipcc ----

# As ROCm's: all but .c files and objects are HIP, what is linked gets the runtime.
hipcc() {
  link=yes sources=no relocatable=no language=no
  for argument; do
    shift
    case $argument in
      -c | -S | -E | -M | -MM) link=no ;;
      -fgpu-rdc) relocatable=yes ;;
      -x | -x?*) language=yes ;;
    esac
    case $language$argument in
      no-*) ;;
      no*.cu | no*.hip | no*.cpp | no*.cc | no*.cxx | no*.C)
        sources=yes
        set -- "$@" -x hip "$argument" -x none
        continue
        ;;
      no*.c)
        set -- "$@" -x c "$argument" -x none
        continue
        ;;
    esac
    set -- "$@" "$argument"
  done
  for argument in "-I$HEC_OPENMP/include" "-L$HEC_OPENMP/lib" "-Wl,-rpath,$HEC_OPENMP/lib"; do
    [ -z "$HEC_OPENMP" ] || set -- "$@" "$argument"
  done
  if [ $link = yes ]; then
    set -- "$@" "-L$HEC_ROCM/lib" -Wl,--unresolved-symbols=ignore-in-shared-libs -lamdhip64
    [ $relocatable$sources != yesno ] || set -- "$@" --hip-link
  fi
  # shellcheck disable=SC2086 # lists of words
  exec clang++-19 --offload-arch=gfx942 "--rocm-path=$HEC_ROCM" "-idirafter$HEC_ROCM/include" -D__HIP_PLATFORM_AMD__ \
    -D__HIP_PLATFORM_HCC__ "$@" -gline-tables-only -w $HEC_FLAGS
}

# The Makefiles' $(LAUNCHER), with --repeat and --size; 0: without.
launch() { # REPEAT SIZE PROGRAM ARGUMENT...
  repeat=$1 size=$2 program=$3
  shift 3
  count=$#
  for argument; do
    shift
    count=$((count - 1))
    case $argument in
      '' | *[!0-9]* | ???????????*) ;;
      *)
        if [ $count -eq 0 ] && [ "$repeat" -gt 0 ]; then
          [ "$argument" -le "$repeat" ] || argument=$repeat
        elif [ "$size" -gt 0 ]; then
          argument=$(echo "$argument" | sed 's/^0*\(.\)/\1/') # a leading 0 would make it octal
          while [ "$argument" -gt "$size" ] && [ $((argument % 2)) -eq 0 ]; do argument=$((argument / 2)); done
        fi
        ;;
    esac
    set -- "$@" "$argument"
  done
  exec "$program" "$@"
}

case ${1-} in
  --hipcc)
    shift
    hipcc "$@"
    ;;
  --launch)
    shift
    launch "$@"
    ;;
esac

# ---- Data ----

# Prints FOLDER FILE for each word of the command of a Makefile's target run that may be a file.
run_files() { # FOLDER...
  for folder; do
    awk -v folder="$folder" '
      /^run *:/ { inside = 1; next }
      !/^[ \t]*(#.*)?$/ && !/^\t/ { inside = 0 }
      inside { command = command " " $0 }
      END {
        if (command ~ /[ \t;&]cd[ \t]/) exit # its files are somewhere else
        n = split(command, word, /[ \t"\047;|&<>()=@]+/)
        for (i = 1; i <= n; i++)
          if (word[i] ~ /^[A-Za-z0-9_.][A-Za-z0-9_.+\/-]*$/ && word[i] ~ /[.\/]/ && word[i] !~ /^[0-9.]*$/) print folder, word[i]
      }' "$folder/Makefile"
  done
}

# Below the folder src: prints what supplies a file that a folder's program names: the file itself, the one of the same name in the
# program's folder of another language, or either of them packed. Nothing where there is none.
supplier() { # FOLDER FILE
  case $2 in
    ../*) path=${2#../} ;;
    *) path=$1/${2#./} ;;
  esac
  case $path in
    ../* | */../* | */) return ;;
    */*) ;;
    *) return ;;
  esac
  base=${path%%/*}
  for other in "$base" "${base%-*}-cuda" "${base%-*}-hip" "${base%-*}-omp" "${base%-*}-sycl"; do
    for end in '' .gz .bz2 .xz .tgz .tar.gz .tar.bz2 .tar.xz; do
      if [ -e "$other/${path#*/}$end" ]; then
        echo "$other/${path#*/}$end"
        return
      fi
    done
  done
}

# In a program's own copy: puts every file that its command names where it looks for it.
supply() {
  (cd "$HEC_SUITE/src" && run_files "$name" | while read -r folder file; do
    [ -e "$folder/$file" ] || echo "$file $(supplier "$folder" "$file")"
  done) | while read -r file from; do
    [ -n "$from" ] || continue
    to=$tree/src/$name/$file from=$HEC_SUITE/src/$from
    mkdir -p "$(dirname "$to")" || exit 1
    case $from in
      *"${file##*/}") cp -r "$from" "$to" ;;
      *.tgz | *.tar.gz | *.tar.bz2 | *.tar.xz) tar xf "$from" -C "$(dirname "$to")" ;;
      *.gz) gzip -dc "$from" >"$to" ;;
      *.bz2) bzip2 -dc "$from" >"$to" ;;
      *.xz) xz -dc "$from" >"$to" ;;
    esac || exit 1
  done
}

# ---- One program, in a process of its own ----

row() { # CLASS LAUNCHES FINDINGS CAUSE
  cause=$(printf '%s' "$4" | tr '\t\r\n' '   ' | tr -d '\000-\037' | cut -c 1-200)
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$key" "$1" "$2" "$3" "$cause" >>"$HEC_OUT/results.tsv"
  printf '%s: %s%s%s\n' "$name" "$1" "$([ "$3" -eq 0 ] || echo ", $3 findings")" "${cause:+: $cause}"
}

# A folder with the program, where it may write: copies of it and of the folders that its Makefile names, links to all others.
copy_tree() {
  rm -rf "$tree"
  mkdir -p "$tree/src" || exit 1
  ln -s "$HEC_SUITE"/* "$tree" 2>/dev/null # but src, which is there
  ln -s "$HEC_SUITE"/src/* "$tree/src"
  for folder in "$name" $(grep -o '\.\./[A-Za-z0-9_.+-]*' "$HEC_SUITE/src/$name/Makefile" | sed 's,^\.\./,,' | sort -u); do
    case $folder in
      '' | . | ..) continue ;;
    esac
    [ -d "$HEC_SUITE/src/$folder" ] || continue
    rm "$tree/src/$folder"
    cp -r "$HEC_SUITE/src/$folder" "$tree/src/" || exit 1
  done
  supply
}

# The first error of a build, without the path.
build_error() {
  error=$(sed -n -e 's/.*error: //p' -e 's/.*\(undefined reference .*\)/\1/p' "$out/build.log" | grep -v '^linker command' | head -n 1)
  [ -n "$error" ] || error=$(grep -m 1 'No such file\|not found\|Error: ' "$out/build.log") || error=$(grep -m 1 '^make.*\*\*\*' "$out/build.log")
  echo "${error:-make ended without an error line}"
}

# What the program says of itself. Not gfxsim's lines; not counts of nothing ("0 failures", "mismatches: 0").
word() { # PATTERN: the first line with it as a word
  grep -h -v '^gfxsim: ' "$out/run.out" "$out/run.err" |
    sed -E 's/(^|[^0-9.])0+ +(number of +)?(fail[a-z]*|mismatch[a-z]*|errors?)//gI; s/(fail[a-z]*|mismatch[a-z]*) *[:=] *0+([^0-9.]|$)//gI; s/no +(fail[a-z]*|mismatch[a-z]*)//gI' |
    grep -a -E -m 1 "(^|[^[:alnum:]])($1)([^[:alnum:]]|\$)"
}
bad='FAIL|FAILS|FAILED|FAILURE|[Ff]ail|[Ff]ails|[Ff]ailed|[Ff]ailure|[Ff]ailures|INCORRECT|[Ii]ncorrect|MISMATCH|[Mm]ismatch|[Mm]ismatch(es|ed)|[Uu]nsuccessful|[Nn]ot +correct|[Ww]rong'
good='PASS|PASSES|PASSED|[Pp]assed|Pass|SUCCESS|[Ss]uccess|[Ss]ucceeded|[Ss]uccessful|[Ss]uccessfully|CORRECT|[Cc]orrect|VERIFIED|[Vv]erified'

run_program() { # sets status
  launcher=''
  [ "$HEC_REPEAT$HEC_SIZE" = 00 ] || launcher="sh $HEC_SCRIPT --launch $HEC_REPEAT $HEC_SIZE"
  rm -f "$out/status"
  # gfxsim's status is 1 when there were findings: the program's own is kept in a file.
  # shellcheck disable=SC3045,SC2016 # dash, bash and busybox have both; expanded by that sh
  (cd "$tree/src/$name" && ulimit -c 0 && ulimit -S -t "$HEC_LIMIT" &&
    timeout -k 5 $((60 + 10 * HEC_LIMIT)) "$HEC_GFXSIM" exec sh -c 'make -s run "LAUNCHER=$1"; echo $? >"$2"' sh "$launcher" "$out/status") \
    </dev/null >"$out/run.out" 2>"$out/run.err"
  status=$?
}

judge() {
  name=$1
  out=$HEC_OUT/$name tree=$HEC_OUT/$name/tree
  key=$HEC_KEY-$(checksum_of "$name")
  mkdir -p "$out" || exit 1
  copy_tree
  PATH=$HEC_OUT/bin:$PATH
  if ! timeout -k 5 900 make -C "$tree/src/$name" </dev/null >"$out/build.log" 2>&1; then
    row 'not built' 0 0 "$(build_error)"
    return
  fi
  run_program
  summary=$(sed -n 's/^gfxsim: gfx942: \([0-9]*\) launches, \([0-9]*\) findings, [0-9]* suppressed, \([0-9]*\) calls.*/\1 \2 \3/p' "$out/run.err" | tail -n 1)
  launches=0 findings=0 unserved=0
  # shellcheck disable=SC2086 # three words
  if [ -n "$summary" ]; then
    set -- $summary
    launches=$1 findings=$2 unserved=$3
    [ ! -s "$out/status" ] || status=$(cat "$out/status")
  fi
  # A finding's first line: the kind and what happened.
  finding=''
  [ "$findings" -eq 0 ] || finding=$(sed -n '/^[a-z][A-Za-z ]*: /p' "$out/run.err" | grep -v '^gfxsim: \|^make' | head -n 1)
  # What make says of a program that failed: its status, or its signal.
  ended=$(sed -n 's/^make[^*]*\*\*\* \[[^]]*\] \(.*\)/\1/p' "$out/run.err" | head -n 1)
  says=$(word "$bad")
  case $status:$ended in
    152:* | *:'CPU time limit'*) class='time limit' cause="$HEC_LIMIT s of CPU time, $launches launches" ;;
    124:* | 137:*) class='time limit' cause="$((60 + 10 * HEC_LIMIT)) s by the clock" ;;
    0:)
      cause=$says
      if [ -n "$says" ]; then
        class=failed
      elif [ "$launches" -eq 0 ]; then
        class='without a launch' cause=$(sed -n 's/^gfxsim: \(no .*\)/\1/p' "$out/run.err" | head -n 1)
      else
        class='no verdict'
        [ -z "$(word "$good")" ] || class=passed
      fi
      ;;
    *)
      class=failed
      cause=$(echo "$ended" | sed 's/^Error /exit status /')
      cause="${cause:-exit status $status}${says:+: $says}"
      ;;
  esac
  if [ "$class" = failed ] && [ "$unserved" -gt 0 ]; then
    class=refused cause="not served: $(sed -n 's/^gfxsim: not served: \([^:]*\).*/\1/p' "$out/run.err" | tr '\n' ' '); $cause"
  elif [ "$class" = failed ] && [ -z "$says$finding" ]; then
    last=$(grep -h -v '^make\|^gfxsim: ' "$out/run.out" "$out/run.err" | tail -n 1)
    cause=$cause${last:+: $last}
  fi
  row "$class" "$launches" "$findings" "$cause${finding:+${cause:+; }$finding}"
}

# All that a program is made of.
checksum_of() {
  (cd "$HEC_SUITE/src/$1" && find . -type f | sort | tr '\n' '\0' | xargs -0 cksum) | cksum | tr -d ' '
}

if [ "${1-}" = --run-files ]; then
  shift
  run_files "$@"
  exit 0
fi
if [ "${1-}" = --judge ]; then
  judge "$2"
  rm -rf "$tree" "$out/status"
  exit 0
fi

# ---- Which programs ----

# Prints FOLDER LIBRARY for each library of ROCm, or MPI, that a folder's sources include or its Makefile links; FOLDER - where its
# Makefile has no target `run`; FOLDER data where DVC keeps a file that was not fetched, or the command of `run` names a file of another
# folder that nothing supplies. Sources: those in the folder, and files of other folders that the Makefile names.
needed() { # LIST OF FOLDERS
  while read -r folder; do
    if [ -f "$folder/Makefile" ]; then echo "$folder"; else echo "$folder -" >&3; fi
  done <"$1" >"$work/with_makefile"
  sed 's,$,/Makefile,' "$work/with_makefile" | xargs grep -L '^run *:' | sed 's,/Makefile$, -,' >&3
  find . -name '*.dvc' | sed 's,^\./,,' | while read -r file; do
    [ -e "${file%.dvc}" ] || echo "${file%%/*} data" >&3
  done
  tr '\n' '\0' <"$work/with_makefile" | xargs -0 sh "$HEC_SCRIPT" --run-files >"$work/run_files" || : >"$work/unread"
  while read -r folder file; do
    case $file in
      ../../*) ;;
      ../*/*) [ -n "$(supplier "$folder" "$file")" ] || echo "$folder data" >&3 ;;
    esac
  done <"$work/run_files"
  {
    sed 's,$,/,' "$work/with_makefile" | tr '\n' '\0' | xargs -0 sh -c 'find "$@" -type f' sh | grep -i '\.\([ch]\|cuh\{0,1\}\|cc\|[ch]pp\|cxx\|hip\|inl\)$\|/makefile[^/]*$' |
      sed 's,^\([^/]*\)/.*,\1 &,'
    sed 's,$,/Makefile,' "$work/with_makefile" | xargs grep -o '\.\./[A-Za-z0-9_./+-]*\.[a-z]*' /dev/null | sort -u |
      sed 's,^\([^/]*\)/[^:]*:\(.*\),\1 \1/\2,' | while read -r folder other; do
      [ ! -f "$other" ] || echo "$folder $other"
    done
  } | awk -v libraries="$libraries" '
    BEGIN { any = "(" libraries ")" }
    {
      folder = $1; file = $2; makefile = file ~ /\/[Mm]akefile[^\/]*$/
      while ((getline line <file) > 0) {
        if (line ~ "^[ \t]*#[ \t]*include[ \t]*[<\"]" any "[._/]") {
          sub(/^[^<"]*[<"]/, "", line); sub(/[._\/].*/, "", line); found[folder " " line]
        } else if (makefile && match(line, "-l" any "([ \t)]|$)")) {
          line = substr(line, RSTART + 2, RLENGTH - 2); gsub(/[^A-Za-z]/, "", line); found[folder " " line]
        }
      }
      close(file)
    }
    END { for (row in found) print row }' >&3 || : >"$work/unread"
} 3>&1
libraries='hipblas|hipblaslt|hipcub|hipdnn|hipfft|hiprand|hipsolver|hipsparse|hipsparselt|hiptensor|rocblas|rocfft|rocprim|rocrand|rocsolver|rocsparse|rocwmma|roctracer|rocprofiler|thrust|miopen|MIOpen|rccl|ck|mpi|mpicxx'

# ---- Main ----

root=$(cd "$(dirname "$0")/../.." && pwd)
suite='' patterns='' count=0 seed=1 jobs=1 limit=60 repeat=0 size=0 out=build-hecbench gfxsim=$root/build/sim/gfxsim tools=$root/build-tools headers='' flags=''
while [ $# -gt 0 ]; do
  case $1 in
    --count | --seed | --repeat | --size | -j | --limit | --out | --gfxsim | --headers | --flags | --tools)
      [ $# -ge 2 ] || usage "$1: needs a value"
      case $1 in
        --count) whole "$1" "$2" 1 100000 && count=$2 ;;
        --seed) whole "$1" "$2" 1 2147483646 && seed=$2 ;;
        --repeat) whole "$1" "$2" 1 1000000000 && repeat=$2 ;;
        --size) whole "$1" "$2" 1 1000000000 && size=$2 ;;
        -j) whole "$1" "$2" 1 1024 && jobs=$2 ;;
        --limit) whole "$1" "$2" 1 86400 && limit=$2 ;;
        --out) out=$2 ;;
        --gfxsim) gfxsim=$2 ;;
        --headers) headers=$2 ;;
        --flags) flags=$2 ;;
        --tools) tools=$2 ;;
      esac
      shift
      ;;
    -h | --help) help ;;
    -*) usage "$1: unknown option" ;;
    *)
      if [ -z "$suite" ]; then suite=$1; else patterns="$patterns $1"; fi
      ;;
  esac
  shift
done
[ -n "$suite" ] || usage "needs HeCBench's folder"
[ -d "$suite/src" ] || usage "$suite: no src/: not HeCBench's folder"
suite=$(cd "$suite" && pwd)
[ -x "$gfxsim" ] || usage "$gfxsim: no such program; build it, or give --gfxsim FILE"
gfxsim=$(cd "$(dirname "$gfxsim")" && pwd)/$(basename "$gfxsim")
[ ! -d "$tools" ] || tools=$(cd "$tools" && pwd)
command -v clang++-19 >/dev/null || skip "no clang++-19"
command -v make >/dev/null || skip "no make"
[ -z "$headers" ] || [ -f "$headers/hip/hip_runtime.h" ] || usage "--headers $headers: no hip/hip_runtime.h there"
[ -n "$headers" ] || headers=$(first_with hip/hip_runtime.h "$tools/hip/usr/include" /usr/include /opt/rocm/include)
[ -n "$headers" ] || skip "no hip/hip_runtime.h: install libamdhip64-dev, or unpack it: apt-get download libamdhip64-dev && dpkg-deb -x libamdhip64-dev_*.deb build-tools/hip"
device=$(device_libraries "$tools")
[ -n "$device" ] || case " $flags " in *' -nogpulib '*) ;; *) skip "no ockl.bc: sh tools/setup.sh --offload gfx942" ;; esac
folder=$(dirname "$gfxsim")
HEC_LIBRARY=$(first_with libamdhip64.so.6 "$folder/hip" "$folder/../lib/gfxsim")
[ -n "$HEC_LIBRARY" ] || usage "$gfxsim: no libamdhip64.so.6 beside it"
runs_programs "$gfxsim"

# A row of results.tsv counts for the gfxsim, the options and the text of the program that it was made with.
mkdir -p "$out" || exit 1
HEC_OUT=$(cd "$out" && pwd)
HEC_SCRIPT=$root/sim/suites/$(basename "$0")
rm -rf "${HEC_OUT:?}/rocm" "${HEC_OUT:?}/bin"
mkdir -p "$HEC_OUT/rocm/amdgcn" "$HEC_OUT/rocm/lib" "$HEC_OUT/rocm/share/hip" "$HEC_OUT/bin" || exit 1
ln -s "$(cd "$headers" && pwd)" "$HEC_OUT/rocm/include"
[ -z "$device" ] || ln -s "$device" "$HEC_OUT/rocm/amdgcn/bitcode"
# clang looks for the version there; a program asks for the library by the name that ROCm of that version gives it.
sed -n 's/^#define \(HIP_VERSION_M[A-Z]*\|HIP_VERSION_PATCH\)[ \t][ \t]*\([0-9][0-9]*\).*/\1=\2/p' "$headers/hip/hip_version.h" >"$HEC_OUT/rocm/share/hip/version"
major=$(sed -n 's/^HIP_VERSION_MAJOR=//p' "$HEC_OUT/rocm/share/hip/version")
case ${major:-6} in
  5 | 6 | 7) ;;
  *) usage "--headers $headers: ROCm $major: must be 5, 6 or 7" ;;
esac
sed "s/libamdhip64\.so\.6/libamdhip64.so.${major:-6}/g" "$HEC_LIBRARY/libamdhip64.so.6" >"$HEC_OUT/rocm/lib/libamdhip64.so" || exit 1
# shellcheck disable=SC2016 # expanded by that sh
printf '#!/bin/sh\nexec sh "%s" --hipcc "$@"\n' "$HEC_SCRIPT" >"$HEC_OUT/bin/hipcc"
chmod +x "$HEC_OUT/bin/hipcc"
cp "$HEC_OUT/bin/hipcc" "$HEC_OUT/bin/amdclang++"
HEC_OPENMP=$(first_with lib/libomp.so "$tools/libomp-19/usr/lib/llvm-19" /usr/lib/llvm-19)
HEC_KEY=$(echo "$limit $repeat $size $flags $headers $major" |
  checksum "$gfxsim" "$HEC_LIBRARY/libamdhip64.so.6" "$HEC_LIBRARY/../libgfxsim.so.0" -)
export HEC_KEY HEC_OUT HEC_LIBRARY HEC_OPENMP HEC_SCRIPT HEC_ROCM="$HEC_OUT/rocm" HEC_SUITE="$suite" HEC_LIMIT="$limit" \
  HEC_REPEAT="$repeat" HEC_SIZE="$size" HEC_GFXSIM="$gfxsim" HEC_FLAGS="$flags"
touch "$HEC_OUT/results.tsv" || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '__attribute__((device)) int one() { return 1; }' >"$work/probe.hip"
clang++-19 -x hip -nogpuinc -nogpulib --offload-arch=gfx942 -w -c "$work/probe.hip" -o "$work/probe.o" 2>"$work/why" ||
  skip "clang++-19 builds no HIP program (it needs lld-19, clang-tools-19 and llvm-19): $(head -n 1 "$work/why")"
set -f
for pattern in ${patterns:-*-hip}; do
  set +f
  # shellcheck disable=SC2086 # a pattern
  (cd "$suite/src" && ls -d -- $pattern) >"$work/found" 2>/dev/null
  [ -s "$work/found" ] || usage "$pattern: no folder below $suite/src"
  cat "$work/found"
done | sort -u >"$work/all"
[ -s "$work/all" ] || exit 2
(cd "$suite/src" && needed "$work/all") | sort -u >"$work/needed"
[ ! -e "$work/unread" ] || usage "$suite/src: a source can't be read"
join "$work/all" "$work/needed" >"$work/needs"
cut -d ' ' -f 1 "$work/needs" | uniq | comm -23 "$work/all" - >"$work/chosen"
without_run=$(grep -c ' -$' "$work/needs") without_data=$(grep -c ' data$' "$work/needs")
echo "$(wc -l <"$work/all") folders. The rule: a Makefile with a target run; no data that DVC has not fetched, and every file of another folder that its command names is there, in a sibling's folder or packed; and neither the Makefile nor the sources that are in the folder or that the Makefile names use a library of ROCm or MPI."
echo "left out: $without_run without the target run; $without_data whose data are not there; by library: $(grep -v ' -$\| data$' "$work/needs" |
  cut -d ' ' -f 2 | sort | uniq -c | awk '{ printf "%s%s %d", (NR > 1 ? ", " : ""), $2, $1 } END { if (NR == 0) printf "none" }')"
echo "chosen: $(wc -l <"$work/chosen")"
[ -s "$work/chosen" ] || usage "no program was chosen"
take_sample
[ "$repeat" -eq 0 ] || echo "the last argument of each program, where it is a number above $repeat, becomes $repeat"
[ "$size" -eq 0 ] || echo "every other argument that is a whole number above $size is halved until it is $size or less, or odd"

# What was judged before is not run again. Keys are of this gfxsim and of the program's files as they are now.
while read -r name; do
  echo "$name$tab$HEC_KEY-$(checksum_of "$name")"
done <"$work/chosen" >"$work/keys"
judge_remaining
echo
awk -F '\t' -v classes="$classes" '
  { n[$3]++; what[$3] = what[$3] sprintf("  %s%s%s\n", $1, ($5 > 0 ? ", " $5 " findings" : ""), ($6 != "" ? ": " $6 : "")) }
  END { count = split(classes, class, ",")
        for (c = 1; c <= count; c++) if (n[class[c]] > 0) printf "%s: %d\n%s", class[c], n[class[c]], what[class[c]] }' "$work/rows"
echo
missing=$(($(wc -l <"$work/chosen") - $(wc -l <"$work/rows")))
[ "$missing" -eq 0 ] || echo "$missing programs have no result"
awk -F '\t' -v missing="$missing" -v classes="$classes" '{ n[$3]++; if ($5 > 0) findings++ }
  END { count = split(classes, class, ",")
        for (c = 1; c <= count; c++) printf "%d %s, ", n[class[c]], class[c]
        printf "%d with findings, of %d\n", findings, NR
        exit n["failed"] > 0 || missing > 0 }' "$work/rows"
