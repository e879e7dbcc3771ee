# What goals.sh and rows.sh share; they source it, from the top folder.

# needs SCRIPT BUILD CHIP: exits with 2 if the build has no bench and simulator, or there is no such chip.
needs() {
  for program in "$2/bench/tandem-bench" "$2/sim/gfxsim"; do
    [ -x "$program" ] || {
      echo "$1: $program: not there: meson setup $2 -Dtdm_backend=hip -Dsim=enabled && ninja -C $2" >&2
      exit 2
    }
  done
  case $3 in gfx942 | gfx950) ;; *)
    echo "$1: CHIP = '$3': must be gfx942 or gfx950" >&2
    exit 2
    ;;
  esac
}

# write_part NAME BUILD CHIP: the part NAME-CHIP of the pages in bench/results, which NAME.py prints.
write_part() {
  part=$(mktemp)
  trap 'rm -f "$part"' EXIT
  {
    printf '### %s\n\n`sh bench/record/%s.sh build %s` made this part, with the kernels of commit %s.\n\n' "$3" "$1" "$3" \
      "$(git log -1 --format=%h -- include src hip)"
    python3 "bench/record/$1.py" "$2" "$3"
  } >"$part"
  sh bench/record/put_part.sh "$1-$3" "$1.sh" <"$part"
}
