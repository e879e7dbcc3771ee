#!/bin/sh
# Runs what the pages of the guide tell the reader to type, and compares what is printed with what the page shows.
# Use: sh tools/pages.sh [--build DIR] [--limit SECONDS] [--long] [--times FILE] [PAGE...]
#                                             without PAGE: docs/guide/*.md, and the pages of README.md, docs/ and learn/ that have ```sh
#      sh tools/pages.sh --update [PAGE...]    writes what is printed into the pages, and draws the pictures again
#      sh tools/pages.sh --fresh [PAGE...]     in a fresh clone of the last commit, where the page has to install and build by itself
#                                             (without git's folder, as in a system of tools/fresh.sh: in a copy of the tree)
# --times FILE writes how long the commands of each page took, as a table: seconds, and seconds of processors in them and their children.
#
#   ```sh        is run in a scratch copy of the tree, from its top folder; a command that fails, in a pipe too, fails the page
#   ```text      after it: the output, compared by its form (tools/pages.awk): numbers may differ, lines and columns not;
#                a line `...` stands for any number of lines. The last line counts the lines that have other numbers
#   ```sh build  installs or builds: run by --fresh alone
#   ```sh long   takes minutes, or wants a quiet machine: run with --long, which also lifts the limit of time to 20 minutes
#   ```c         a part of a source file
#   ```console   needs a GPU: not run, and counted in the last line; command lines of our own programs are tried, and must
#                get as far as looking for the GPU
set -eu
cd "$(dirname "$0")/.."
build=build limit=100 update='' fresh='' long='' times=''

usage() {
  echo "pages: $*; use: sh tools/pages.sh [--update | --fresh] [--long] [--build DIR] [--limit SECONDS] [--times FILE] [PAGE...]" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    --update) update=1 ;;
    --fresh) fresh=1 limit=1800 ;;
    --long) long=1 limit=1200 ;;
    --build | --limit | --times)
      [ $# -gt 1 ] || usage "$1: no value"
      case $1 in --build) build=$2 ;; --limit) limit=$2 ;; --times) times=$2 ;; esac
      shift
      ;;
    -*) usage "$1: unknown" ;;
    *) break ;;
  esac
  shift
done
[ -z "$update" ] || [ -z "$fresh" ] || usage "--update and --fresh: not both"
# shellcheck disable=SC2046 # names without spaces
[ $# -gt 0 ] || set -- docs/guide/[0-9]*.md $(grep -l '^```sh$' README.md docs/*.md learn/*.md)
for page; do [ -f "$page" ] || usage "$page: no such page"; done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
state=$scratch/state # what the commands before have exported, as in a reader's shell

if [ -n "$fresh" ]; then
  if [ -e .git ]; then
    git clone -q . "$scratch/tandem"
  else
    mkdir "$scratch/tandem"
    tar -c --exclude='./build*' . | tar -x -C "$scratch/tandem"
  fi
else
  [ -f "$build/build.ninja" ] || usage "--build = $build: there is no build"
  build=$(cd "$build" && pwd)
  meson devenv -C "$build" --dump >"$state"
fi

# The tree as it is, without builds; the build is a link in it.
copy_tree() {
  rm -rf "$scratch/tandem"
  mkdir "$scratch/tandem"
  tar -c --exclude=./.git --exclude='./build*' . | tar -x -C "$scratch/tandem"
  ln -s "$build" "$scratch/tandem/build"
}

# Sets wall and cpu, in seconds: now, and what all ended children have used. (In a subshell `times` would know of no children.)
clock() {
  wall=$(date +%s)
  times >"$scratch/times"
  cpu=$(awk 'NR == 2 {split($1, user, /[ms]/); split($2, kernel, /[ms]/); print 60 * (user[1] + kernel[1]) + user[2] + kernel[2]}' "$scratch/times")
}
# row WHAT COMMANDS: a row of --times, since $from_wall and $from_cpu, less $less_wall and $less_cpu.
row() {
  awk -v what="$1" -v n="$2" -v wall="$((wall - from_wall - less_wall))" -v cpu="$cpu" -v from="$from_cpu" -v less="$less_cpu" \
    'BEGIN {printf "| %s | %d | %d | %.0f |\n", what, n, wall, cpu - from - less}' >>"$times"
}

# The block's output into $1.out.
run_block() {
  # shellcheck disable=SC2016 # expanded by bash
  (cd "$scratch/tandem" &&
    TMPDIR=$scratch OMP_WAIT_POLICY=passive timeout -k 5 "$limit" bash -c '
      set -eo pipefail
      [ ! -f "$0" ] || . "$0"
      trap "export -p >\"$0\"" EXIT
      . "$1"' "$state" "$1.sh") </dev/null >"$1.out" 2>&1
}

# Commands of our own in a console block, one per line. Without a GPU they must get as far as looking for one.
reaches_gpu() {
  grep -E '^(tandem-|tiny-llama)' "$block.sh" >"$block.own" || return 0
  while read -r command; do
    echo "$command" >"$block-own.sh"
    run_block "$block-own" || grep -Eq "device = '(hip|omp):" "$block-own.out" || {
      echo "$page:$line: $command:"
      tail -n 20 "$block-own.out" | sed 's/^/  /'
      return 1
    }
  done <"$block.own"
}

# One page; prints its result as the last line.
run_page() {
  page=$1 blocks=$scratch/blocks ran=0 bad=0 left=0 built=0 longer=0 figures=0
  rm -rf "$blocks"
  mkdir "$blocks"
  [ -n "$fresh" ] || copy_tree
  clock
  from_wall=$wall from_cpu=$cpu less_wall=0 less_cpu=0 builds=0
  awk -v mode=extract -v dir="$blocks" -f tools/pages.awk "$page" || return 1
  touch "$blocks/list"
  while read -r n kind line; do
    block=$blocks/$n
    case $kind in
      console)
        left=$((left + 1))
        reaches_gpu || bad=$((bad + 1))
        continue
        ;;
      long) [ -n "$long" ] || { longer=$((longer + 1)) && continue; } ;;
      build) [ -n "$fresh" ] || { built=$((built + 1)) && continue; } ;;
    esac
    ran=$((ran + 1)) status=0
    [ "$kind" != build ] || { clock && build_wall=$wall && build_cpu=$cpu; }
    run_block "$block" || status=$?
    if [ "$kind" = build ]; then
      clock
      builds=$((builds + 1)) less_wall=$((less_wall + wall - build_wall))
      less_cpu=$(awk -v sum="$less_cpu" -v cpu="$cpu" -v from="$build_cpu" 'BEGIN {print sum + cpu - from}')
    fi
    if [ $status != 0 ]; then
      bad=$((bad + 1))
      [ $status != 124 ] || echo "$page:$line: not done after $limit s"
      echo "$page:$line: exit status $status:"
      sed 's/^/    /' "$block.sh"
      tail -n 20 "$block.out" | sed 's/^/  /'
    elif [ -f "$block.want" ]; then
      if found=$(awk -v mode=compare ${update:+-v new="$block.new"} -f tools/pages.awk "$block.want" "$block.out"); then
        [ -n "$update" ] || figures=$((figures + found))
      else
        bad=$((bad + 1))
        echo "$page:$line: what is printed has another form than the page:"
        echo "$found"
      fi
    fi
  done <"$blocks/list"
  if [ -n "$times" ]; then
    clock
    row "$page" $((ran - builds))
    from_wall=$((wall - less_wall)) from_cpu=$(awk -v cpu="$cpu" -v less="$less_cpu" 'BEGIN {print cpu - less}') less_wall=0 less_cpu=0
    [ $builds = 0 ] || row "$page: what it installs and builds" $builds
  fi
  if [ -n "$update" ]; then
    awk -v mode=replace -v dir="$blocks" -f tools/pages.awk "$page" >"$scratch/page"
    cmp -s "$scratch/page" "$page" || cp "$scratch/page" "$page"
  fi
  [ $((ran + left)) != 0 ] || { echo "$page: has no command" && bad=1; }
  # Every file that the page links to exists.
  grep -o '](\([^)#]*\)' "$page" | sed 's/^](//' | grep -v ':' >"$scratch/links" || true
  while read -r link; do
    [ -e "$(dirname "$page")/$link" ] || { echo "$page: links to $link, which is not there" && bad=$((bad + 1)); }
  done <"$scratch/links"
  echo "$page: $ran commands run, $bad failed; other figures than the page in $figures lines;" \
    "not run: $left need a GPU, $built build, $longer long"
  [ $bad = 0 ]
}

[ -z "$update" ] || {
  sh docs/pictures/make.sh "$build/docs/tandem-draw" docs/pictures
  sh docs/pictures/make.sh --results "$build/docs/tandem-draw" bench/results
}
[ -z "$times" ] || printf '| page | blocks of commands | seconds | processor seconds |\n|---|---:|---:|---:|\n' >"$times"
failed=0
for page; do run_page "$page" || failed=1; done
exit $failed
