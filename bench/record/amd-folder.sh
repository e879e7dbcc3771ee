# shellcheck shell=sh disable=SC2034,SC2154 # bench/amd.sh, which reads this file, sets and uses names
# The folder that bench/amd.sh sends back.

summary() {
  for file in "$state"/[0-9]*; do
    case $file in *'*') continue ;; esac
    name=${file##*/} name=${name%.open}
    awk -F '\t' -v name="${name#*-}" '{ printf "| %s | %s | %s | %s | %s |\n", name, $1, $2, $3, $4 }' "$file"
  done
}
# What a program printed of this machine, for the archive: rocm-smi is asked for nothing that names it.
write_rocm_smi() {
  command -v rocm-smi >/dev/null || return 0
  timeout -k 5 30 rocm-smi --showclocks --showpower --showmaxpower --showperflevel --showuse --showtemp >"$log/rocm-smi-$1.txt" 2>&1
}
# The code objects that ran: predictions and counts can be made of them later.
copy_code() {
  mkdir -p "$out/code"
  cp "$build"/hip/*-"$chip".hsaco "$out/code/" 2>/dev/null || rmdir "$out/code" 2>/dev/null
}
write_readme() {
  counts=$(cat "$state"/[0-9]* 2>/dev/null | cut -f 1 | sort | uniq -c | awk '{ n = $1; $1 = ""; printf "%s%d%s", sep, n, $0; sep = ", " }')
  {
    # shellcheck disable=SC2016 # Markdown
    printf '# Tandem on a %s\n\n`sh bench/amd.sh` made this folder. Steps: %s.\n\n' "$chip" "$counts"
    sed 's/^/- /' "$out/environment.txt"
    printf '\n| step | | seconds | what | |\n|---|---|---:|---|---|\n'
    summary
    cat bench/record/amd-readme.md
    [ "${RUNNER-}" = '' ] || cat bench/record/amd-rehearsal.md
  } >"$out/README.md"
}
write_folder() {
  [ "$sampler" = '' ] || kill "$sampler" 2>/dev/null
  sampler=''
  rm -rf "$out/profile" "$state/now"
  copy_code
  if command -v python3 >/dev/null; then
    python3 bench/record/amd_report.py "$out" >"$out/tables.md" 2>"$log/report.txt" || echo "amd.sh: the tables failed: $(last_line "$log/report.txt")"
  else
    echo 'amd.sh: no tables: python3 was not found'
  fi
  write_readme
  # Nothing in it may name the machine or its user.
  mv "$state" "$out.state"
  sh bench/record/scrub.sh "$out" "$out=OUT" "$source=SOURCE" && clean=yes || clean=no
  mv "$out.state" "$state"
  if [ "$clean" = yes ]; then
    tar -C "$(dirname "$out")" --owner=0 --group=0 --numeric-owner --exclude=state -czf "$out.tar.gz" "$(basename "$out")" && echo "amd.sh: send back $(basename "$out").tar.gz"
  else
    rm -f "$out.tar.gz"
    echo "amd.sh: there is no archive" >&2
    return 1
  fi
  echo "amd.sh: $counts"
  # What the GPU ran decides: predictions and counts are the host's.
  for file in "$state"/[0-9]*; do
    case ${file##*/} in *build* | 80-* | 81-*) awk -F '\t' '{ print($1 == "passed" ? "host" : $1) }' "$file" ;; *) cut -f 1 "$file" ;; esac
  done | awk '/^(failed|stopped|interrupted)$/ { bad = 1 } $0 == "passed" { good = 1 } END { exit bad ? 1 : good ? 0 : 77 }'
}
