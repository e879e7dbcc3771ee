#!/bin/sh
# Runs the README's commands on a fresh system: a minimal root of it, made with mmdebstrap, with nothing installed but apt and what it needs.
# Use: sh tools/fresh.sh debian12|debian13|ubuntu2404              as a user with sudo: setup.sh and demo.sh; in a second root, as root: test.sh
#      sh tools/fresh.sh debian12|debian13|ubuntu2404 'COMMAND'    only COMMAND, as root
#      sh tools/fresh.sh debian12|debian13 --pages [PAGE...]       as a user with sudo: the commands of the guide's pages (or of PAGE...),
#                                                                  from installing on; a table of their times: build-fresh/SYSTEM/pages.md
#      sh tools/fresh.sh SYSTEM --pages --built DIR [PAGE...]      the same without building: with this tree's build in DIR, which was made
#                                                                  on the same system, and is mounted where it is
# Each runs in a copy of the last commit. Needs root, 20 GB below TMPDIR (or /var/tmp), and 40 minutes or more for test.sh on two cores.
# Logs go to build-fresh/SYSTEM/; exit status: 0 all passed, 1 something failed, 2 bad usage.
#
# Packages come from the mirror that this system's own package sources name (tools/mirror.sh). Where they name none for the wanted
# distribution (on Debian, for Ubuntu), packages come from its public address, which is in the table below.
# shellcheck disable=SC2317 # functions called by their names
set -eu
cd "$(dirname "$0")/.."

say() { printf 'fresh: %s\n' "$*"; }
fail() {
  say "$*" >&2
  exit 1
}
usage() {
  say "$*; use: sh tools/fresh.sh debian12|debian13|ubuntu2404 [COMMAND | --pages [PAGE...]]" >&2
  exit 2
}

work=
if [ "${1-}" = --inside ]; then # called by this script itself, in new namespaces: see the end
  work=$2
  shift 2
fi
[ $# -ge 1 ] || usage "no system named"
[ $# -le 2 ] || [ "$2" = --pages ] || usage "'$3': one argument too many; put COMMAND into quotes"
[ "${2-} ${3-}" != "--pages --built" ] || [ -f "${4-}/build.ninja" ] || usage "--built '${4-}': there is no build"
[ "${2-x}" != "" ] || usage "COMMAND is empty"
system=$1
case $system in
  debian12) distribution=debian release=bookworm ;;
  debian13) distribution=debian release=trixie ;;
  ubuntu2404) distribution=ubuntu release=noble ;;
  *) usage "'$system': unknown system" ;;
esac
case $distribution in
  debian) public=http://deb.debian.org/debian public_security=http://deb.debian.org/debian-security components=main ;;
  ubuntu) public=http://archive.ubuntu.com/ubuntu public_security=$public components="main universe" ;;
esac
logs=build-fresh/$system

# ---- Package sources, keys, and how this system reaches the network ----

# Sets mirror and security.
find_mirror() {
  if found=$(sh tools/mirror.sh "$distribution"); then
    mirror=${found% *} security=${found#* } whose="this system's own mirror"
  else
    mirror=$public security=$public_security whose="its public address, as this system's package sources name no mirror of it"
  fi
  if [ "$security" = - ]; then
    if [ "$distribution" = ubuntu ]; then security=$mirror; else security=$public_security; fi
  fi
  say "$system: packages from $mirror ($whose), security updates from $security"
}

# Sets keyring. Where the distribution's keys are not installed, the package that holds them is fetched, which this system's own keys sign.
find_keyring() {
  keyring=/usr/share/keyrings/$distribution-archive-keyring.gpg
  [ ! -e "$keyring" ] || return 0
  if [ "$distribution" = ubuntu ]; then
    package=ubuntu-keyring own=debian from="trixie main"
  else
    package=debian-archive-keyring own=ubuntu from="noble universe"
  fi
  found=$(sh tools/mirror.sh $own) || fail "no $keyring: install the package $package"
  say "fetching $package, whose keys sign the packages of $system"
  sh tools/unpack.sh "deb ${found% *} $from" $package "$work/keys" || fail "no $keyring, and $package could not be fetched"
  keyring=$work/keys$keyring
}

# apt's settings for reaching its mirrors (proxies, certificates, retries, checks of dates), as lines of an apt.conf.
network_settings() {
  apt-config dump --format '%f "%v";%n' | grep -iE '^Acquire::(https?|ftp|Check-|Retries|ForceIPv|Max-|Send-URI)' | grep -viE '(""|Auto-?Detect)' || true
  detect=''
  eval "$(apt-config shell detect Acquire::http::ProxyAutoDetect detect Acquire::http::Proxy-Auto-Detect)"
  if [ -n "$detect" ]; then # a program of this system, which prints DIRECT where none is to be used
    proxy=$("$detect" "$mirror" | head -n 1)
    case $proxy in '' | DIRECT) ;; *) printf 'Acquire::http::Proxy "%s";\n' "$proxy" ;; esac
  fi
}
# copy FILE: to the same place in the root.
copy() {
  mkdir -p "$root$(dirname "$1")"
  cp -L "$1" "$root$1"
}
# The rest of it: names of hosts, certificates, pip's settings. Sets carried, the variables that the commands get from this shell.
carry_network() {
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /usr/local/share/ca-certificates/*.crt \
    $(sed -n 's/^Acquire::https.*::\(CA[Ii]nfo\|S[Ss][Ll]Cert\|S[Ss][Ll]Key\) "\(\/.*\)";$/\2/p' "$work/apt.conf"); do
    [ ! -f "$file" ] || copy "$file"
  done
  carried='' value=''
  for name in http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY \
    PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST SSL_CERT_FILE PIP_CERT REQUESTS_CA_BUNDLE CURL_CA_BUNDLE; do
    eval "value=\${$name-}"
    case $name:$value in
      *:) continue ;;
      *_FILE:/etc/ssl/* | *_CERT:/etc/ssl/* | *_BUNDLE:/etc/ssl/*) continue ;; # the root makes its own, of the same certificates
      *_FILE:* | *_CERT:* | *_BUNDLE:*) [ ! -f "$value" ] || copy "$value" ;;
    esac
    carried="$carried $name"
  done
}

# ---- Roots ----

bootstrap() {
  network_settings >"$work/apt.conf"
  set -- "deb $mirror $release $components" "deb $mirror $release-updates $components" "deb $security $release-security $components"
  case "$mirror $security" in *https:*) include=--include=ca-certificates ;; *) include= ;; esac
  # shellcheck disable=SC2086 # nothing, or one word
  timed bootstrap mmdebstrap --mode=root --variant=apt $include --keyring="$keyring" --aptopt="$work/apt.conf" "$release" "$work/root.tar" "$@"
}

# Unpacks the root anew, with what each system has mounted. The mounts are in a namespace of their own, which ends with this script.
new_root() {
  root=$work/root
  drop_root
  mkdir "$root"
  mount --bind "$root" "$root"
  mount -o remount,bind,suid,dev,exec "$root" # sudo works wherever TMPDIR is
  tar -x -p --numeric-owner --xattrs --xattrs-include='*' -f "$work/root.tar" -C "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs -o ro sysfs "$root/sys"
  mount -t tmpfs -o mode=755,nosuid tmpfs "$root/dev"
  for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
  done
  mkdir "$root/dev/pts" "$root/dev/shm"
  mount -t devpts -o newinstance,ptmxmode=666,mode=620,gid=5 devpts "$root/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  ln -s pts/ptmx "$root/dev/ptmx"
  ln -s /proc/self/fd "$root/dev/fd"
  for stream in stdin:0 stdout:1 stderr:2; do ln -s "/proc/self/fd/${stream#*:}" "$root/dev/${stream%:*}"; done
  carry_network
}
drop_root() {
  [ -d "$work/root" ] || return 0
  umount -R "$work/root"
  rm -rf --one-file-system "$work/root"
}

# in_root USER FOLDER COMMAND...
in_root() {
  user=$1 folder=$2
  shift 2
  if [ "$user" = root ]; then home=/root; else home=/home/$user; fi
  ids=$(awk -F: -v user="$user" '$1 == user {print $3 ":" $4}' "$root/etc/passwd")
  # shellcheck disable=SC2016 # expanded in there
  set -- chroot --userspec="$ids" --groups="${ids#*:}" "$root" /bin/sh -c 'cd "$0" && exec "$@"' "$folder" "$@"
  for name in $carried; do eval "set -- \"$name=\$$name\" \"\$@\""; done
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="$home" USER="$user" LOGNAME="$user" SHELL=/bin/sh "$@"
}

# The last commit, as an archive of it: a fresh system has no git.
copy_tree() { # USER FOLDER
  mkdir -p "$root$2"
  git -c safe.directory='*' archive "$commit" | tar -x -C "$root$2"
  in_root root / chown -R "$1:" "$2"
}

# An ordinary user, who may become root without a password.
add_user() {
  in_root root / apt-get -q update && in_root root / env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends sudo passwd &&
    in_root root / useradd -m -s /bin/sh reader &&
    printf 'reader ALL=(ALL) NOPASSWD: ALL\nDefaults env_keep += "http_proxy https_proxy ftp_proxy all_proxy no_proxy"\n' >"$root/etc/sudoers.d/reader"
}

# ---- Steps ----

failures=0
# timed NAME COMMAND...: its output goes to the log and to the screen; one line of the summary.
timed() {
  name=$1 log=$logs/$1.log start=$(date +%s)
  shift
  say "$system: $name ($log)"
  { "$@" 2>&1 && echo 0 >"$work/status" || echo $? >"$work/status"; } </dev/null | tee "$log"
  status=$(cat "$work/status") seconds=$(($(date +%s) - start))
  if [ "$status" = 0 ]; then
    result=passed
  else
    result="FAILED with status $status"
    failures=$((failures + 1))
  fi
  {
    say "$system: $name: $result ($seconds s), $log ends:"
    tail -n 3 "$log" | sed 's/^/    /'
  } >>"$logs/summary"
  [ "$status" = 0 ]
}

# Keeps the logs of the tests, which have more details.
keep_test_logs() { # FOLDER
  (cd "$root$1" && find . -path './build*' -name '*.log' -o -path './build*' -name testlog.txt) 2>/dev/null | while read -r file; do
    mkdir -p "$logs/test/$(dirname "$file")"
    cp "$root$1/$file" "$logs/test/$file"
  done
}

run_all() { # [COMMAND]
  rm -rf "$logs"
  mkdir -p "$logs"
  commit=$(git -c safe.directory='*' rev-parse HEAD)
  say "$system: commit $(git -c safe.directory='*' log -1 --format='%h, %s' "$commit")"
  changed=$(git -c safe.directory='*' status --porcelain | grep -c . || true)
  [ "$changed" = 0 ] || say "files changed since, which are left out: $changed"
  find_mirror
  find_keyring
  if bootstrap; then
    if [ "${1-}" = --pages ]; then
      shift
      new_root
      if timed user add_user; then
        copy_tree reader /home/reader/tandem
        if [ "${1-}" = --built ]; then
          built=$(cd "$2" && pwd)
          shift 2
          set -- --build "$built" --limit 1800 "$@"
          mkdir -p "$root$PWD"
          mount --bind "$PWD" "$root$PWD"
          mount -o remount,bind,ro "$root$PWD"
          timed setup in_root reader /home/reader/tandem sh tools/setup.sh --hip || true
        else
          set -- --fresh --limit 7200 "$@" # a compiler beside other work can take an hour
        fi
        timed pages in_root reader /home/reader/tandem sh tools/pages.sh --times ../pages.md "$@" || true
        cp "$root/home/reader/pages.md" "$logs/pages.md" || true
      fi
    elif [ $# -gt 0 ]; then
      new_root
      copy_tree root /tandem
      timed command in_root root /tandem sh -c "$1" || keep_test_logs /tandem
    else
      new_root
      if timed user add_user; then
        copy_tree reader /home/reader/tandem
        timed setup in_root reader /home/reader/tandem sh tools/setup.sh || true
        timed demo in_root reader /home/reader/tandem sh tools/demo.sh || true
      fi
      new_root
      copy_tree root /tandem
      timed test in_root root /tandem sh tools/test.sh || true
      keep_test_logs /tandem
    fi
    drop_root
  fi
  echo
  cat "$logs/summary"
  if [ $failures = 0 ]; then say "$system: all passed"; else fail "$system: failed: $failures"; fi
}

if [ -n "$work" ]; then
  shift
  run_all "$@"
  exit
fi

# ---- Outside: what it needs, and namespaces, with which its mounts and processes end whatever happens ----

[ "$(id -u)" = 0 ] || fail "needs root, for chroot and mounts: sudo sh tools/fresh.sh $system"
if ! command -v mmdebstrap >/dev/null; then
  command -v apt-get >/dev/null || fail "needs mmdebstrap, and apt-get, which it works with"
  say "installing mmdebstrap"
  { apt-get -q update && apt-get -q -y install --no-install-recommends mmdebstrap; } >/dev/null || fail "apt-get could not install mmdebstrap"
fi
for tool in git unshare chroot tar; do command -v $tool >/dev/null || fail "needs $tool, which is not installed"; done
isolated="unshare --mount --pid --fork --kill-child --mount-proc"
$isolated true || fail "the kernel, or a container around this shell, does not let it mount: see unshare's message above"

work=$(mktemp -d "${TMPDIR:-/var/tmp}/tandem-fresh.XXXXXX")
chmod 755 "$work"
child=
# The first process in there, unshare's child, takes all others with it; unshare ends after them, so nothing writes below $work any more.
clean() {
  if [ -n "$child" ]; then
    # shellcheck disable=SC2046 # a number
    kill -KILL $(cat "/proc/$child/task/$child/children") 2>/dev/null || kill -KILL "$child" 2>/dev/null || true
    wait
  fi
  rm -rf --one-file-system "$work"
}
trap clean EXIT
trap 'exit 130' HUP INT TERM
TMPDIR=$work $isolated sh tools/fresh.sh --inside "$work" "$@" &
child=$!
status=0
wait $child || status=$?
child=
exit $status
