#!/bin/sh
# Removes from the files of a folder what names a machine or its user: paths, home folders, the host's, its domain's and its users' names,
# addresses, the kernel's own suffix, numbers of GPUs and of network cards. Then it looks for these names again: exit status 1 and the
# files, if one is left. Code objects (*.hsaco) are only looked through, for paths.
# Use: sh bench/record/scrub.sh FOLDER [PATH=WORD...]       as in: sh bench/record/scrub.sh mi300x "$PWD=SOURCE"
set -eu
[ -d "${1-}" ] || {
  echo "scrub.sh: needs a FOLDER: '${1-}'" >&2
  exit 2
}
here=$(dirname "$0")
folder=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
quoted() { printf %s "$1" | sed 's,[].*^$|/\\[],\\&,g'; }
touch "$work/paths" "$work/names" "$work/words"

# ---- What names it ----

# Under sudo the user is another one than id says.
users=$(printf '%s\n' "$(id -un)" "${SUDO_USER-}" "${USER-}" "${LOGNAME-}" "$(stat -c %U "$folder")" | grep -vxE '|root|UNKNOWN' | sort -u) || users=''
homes=$(for user in $users; do getent passwd "$user" | cut -d : -f 6; done) || homes=''
hosts=$(printf '%s\n' "$(uname -n)" "$(hostname -f 2>/dev/null)" "$(uname -n | cut -d . -f 1)" | grep -vxE '|localhost' | sort -u) || hosts=''
domains=$({ hostname -d && sed -n 's/^\(search\|domain\) //p' /etc/resolv.conf | tr '[:blank:]' '\n'; } 2>/dev/null | grep -F . | sort -u) || domains=''
# A path comes before those that it begins with.
for pair in "$@" $(for home in $homes "${HOME:-/}"; do echo "$home=HOME"; done) "${TMPDIR:-/tmp}=TMP"; do
  case ${pair%=*} in /?*)
    printf '%s\n' "${pair%=*}" >>"$work/names"
    echo "s|$(quoted "${pair%=*}")|${pair##*=}|g" >>"$work/paths"
    ;;
  esac
done
echo 's|/home/[^]/[:space:]"'"'"':,;)(]\{1,\}|HOME|g' >>"$work/paths" # of anybody
for host in $hosts; do
  printf '%s\n' "$host" >>"$work/words"
  printf 's/\\b%s\\(\\.[A-Za-z0-9-]*[A-Za-z0-9]\\)*\\b/HOST/g\n' "$(quoted "$host")" >>"$work/paths"
done
for domain in $domains; do
  printf '%s\n' "$domain" >>"$work/words"
  printf 's/\\([A-Za-z0-9-]*\\.\\)*\\b%s\\b/HOST/g\n' "$(quoted "$domain")" >>"$work/paths"
done
kernel=$(uname -r)
[ "${kernel%%-*}" = "$kernel" ] || printf 's/%s/%s/g\n' "$(quoted "$kernel")" "${kernel%%-*}" >>"$work/paths"
# Names of other hosts, addresses of both kinds, and numbers.
cat >>"$work/paths" <<'END_OF_LIST'
s/\b\([A-Za-z0-9-]\{1,\}\.\)\{2,\}\(com\|net\|org\|edu\|gov\|io\|ai\|cloud\|local\|internal\|lan\)\b/HOST/g
s/\b\([0-9]\{1,3\}\.\)\{3\}[0-9]\{1,3\}\b/ADDRESS/g
s/\b\([0-9a-fA-F]\{2\}:\)\{5\}[0-9a-fA-F]\{2\}\b/ADDRESS/g
s/\b\([0-9a-fA-F]\{1,4\}:\)\{4,7\}:\{0,1\}[0-9a-fA-F]\{1,4\}\b/ADDRESS/g
s/\b\(fe80\|f[cd][0-9a-f]\{2\}\|2[0-9a-f]\{3\}\):[0-9a-f:]*:[0-9a-f:]*[0-9a-f]\b/ADDRESS/g
s/GPU-[0-9a-f]\{8,\}/GPU-NUMBER/g
END_OF_LIST
cp "$work/paths" "$work/texts"
# In JSON and CSV a user's name can be one of our own words, as "kernel"; there it only stands in paths.
for user in $users; do
  name=$(quoted "$user")
  printf 's/\\b%s\\b/USER/g\n' "$name" >>"$work/texts"
  if grep -rqwF -- "$user" "$here/../report" "$here/../shapes" "$here/../../src/ops.def" "$here/amd_report.py"; then
    printf 's,/%s\\b,/USER,g\n' "$name" >>"$work/paths"
  else
    printf 's/\\b%s\\b/USER/g\n' "$name" >>"$work/paths"
    printf '%s\n' "$user" >>"$work/words"
  fi
done

# ---- Replaced, and looked for again ----

scrub() {
  find "$folder" -type f ! -name '*.hsaco' \( -name '*.json' -o -name '*.csv' -o -name '*.part' \) -exec sed -i -f "$work/paths" {} +
  find "$folder" -type f ! -name '*.hsaco' ! -name '*.json' ! -name '*.csv' ! -name '*.part' -exec sed -i -f "$work/texts" {} +
}
sums() { find "$folder" -type f -exec cksum {} + | sort; }
scrub
sums >"$work/once"
scrub
left=0
sums | diff "$work/once" - || left=1 # what a second time finds, the first one left
if [ -s "$work/names" ] && grep -rlF -f "$work/names" "$folder"; then left=1; fi
if [ -s "$work/words" ] && grep -rlwF --exclude='*.hsaco' -f "$work/words" "$folder"; then left=1; fi
[ $left = 0 ] || echo "scrub.sh: the files above still name this machine" >&2
exit $left
