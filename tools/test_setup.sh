#!/bin/sh
# Tests tools/setup.sh, test.sh's table of skipped steps, mirror.sh, and fresh.sh's command line. apt-get and apt-cache are replaced by
# stand-ins: a copy of tools/ runs with a PATH that has all programs of this system except ninja and clang-22. Use: test_setup.sh
set -eu
cd "$(dirname "$0")/.."
top=$(mktemp -d)
trap 'rm -rf "$top"' EXIT
mkdir "$top/tools" "$top/bin" "$top/apt"
cp tools/*.sh tools/nvlink.c "$top/tools"
output=$top/output

IFS=:
for folder in $PATH; do
  for program in "$folder"/*; do
    [ -e "$top/bin/${program##*/}" ] || ln -s "$program" "$top/bin/" 2>/dev/null || true
  done
done
unset IFS
rm -f "$top/bin/ninja" "$top/bin/clang-22" "$top/bin/apt-get" "$top/bin/apt-cache" "$top/bin/sudo"
stand_in() { # NAME, its text on stdin
  rm -f "$top/bin/$1" # else the link's target, the system's own program, would be overwritten
  cat >"$top/bin/$1"
  chmod +x "$top/bin/$1"
}
# Files in $top/apt control the stand-ins: locked (how often a lock is held), dpkg (what dpkg prints, once), broken (update fails), lacks
# (packages it does not have).
stand_in apt-get <<END
#!/bin/sh
cd "$top/apt"
case " \$* " in
  *' --assume-no '*)
    printf 'Need to get 1,234 kB of archives.\nAfter this operation, 5,678 kB of additional disk space will be used.\n'
    exit 1
    ;;
  *' -s '*) exit 0 ;;
esac
echo "\$*" >>calls
if [ -s locked ]; then
  sed -i 1d locked
  echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 4242 (apt-get)"
  exit 100
fi
case " \$* " in *' install '*) if [ -s dpkg ]; then
  cat dpkg
  rm dpkg
  exit 100
fi ;; esac
case " \$* " in *' update '*) if [ -e broken ]; then
  echo "E: Failed to fetch something"
  exit 100
fi ;; esac
END
stand_in apt-cache <<END
#!/bin/sh
if grep -qx "\$2" "$top/apt/lacks" 2>/dev/null; then echo "  Candidate: (none)"; else echo "  Candidate: 1.0"; fi
END
stand_in sudo <<'END'
#!/bin/sh
exec "$@"
END

fail() {
  echo "setup: $*"
  cat "$output"
  exit 1
}
# gives STATUS TEXT COMMAND...: COMMAND ends with STATUS, and prints TEXT.
gives() {
  wanted=$1 text=$2 status=0
  shift 2
  PATH=$top/bin "$@" >"$output" 2>&1 || status=$?
  [ $status = "$wanted" ] || fail "$*: status $status, wanted $wanted"
  [ -z "$text" ] || grep -qF -- "$text" "$output" || fail "$*: no '$text'"
}
last() { tail -n 1 "$output" | grep -qF -- "$1" || fail "the last line has no '$1'"; }
apt() { # resets the stand-ins: LOCKED LACKS
  rm -f "$top"/apt/*
  if [ "$1" != 0 ]; then seq "$1" >"$top/apt/locked"; fi
  echo "$2" | tr ' ' '\n' >"$top/apt/lacks"
}
setup=$top/tools/setup.sh

# Every package is available.
apt 0 ""
gives 0 "(1,234 kB to download, 5,678 kB on disk)" sh "$setup" --hip
last "setup: everything is installed"
grep -q 'install.* ninja-build' "$top/apt/calls" || fail "ninja-build was not installed"
grep -q 'install.* clang-22' "$top/apt/calls" || fail "clang-22 was not installed"

# The last line names what is not available; it is a failure where it was asked for. Everything else is installed.
apt 0 "clang-22"
gives 3 "left out, because this system's package sources don't have them: clang-22" sh "$setup" --hip
last "clang-22"
! grep -q 'install.* clang-22' "$top/apt/calls" || fail "clang-22 was installed"
grep -q 'install.* ninja-build' "$top/apt/calls" || fail "ninja-build was not installed"
gives 0 "setup: " sh "$setup"
! grep -q clang-22 "$output" || fail "clang-22, which nothing asks for, is named"

# --site asks for a browser, and for nothing else that may be missing.
rm -f "$top/bin/chromium" "$top/bin/chromium-browser" "$top/bin/google-chrome"
apt 0 "chromium"
gives 3 "the web edition can't be tested" sh "$setup" --site
apt 0 "clang-22"
gives 0 "everything is installed" sh "$setup" --site
grep -q 'install.* chromium' "$top/apt/calls" || fail "chromium was not installed"
apt 0 "llvm-22-dev"
gives 0 "setup: " sh "$setup" --site

# setup.sh waits for a lock, prints that once, and gives up after a limit.
apt 2 ""
gives 0 "waiting up to 15 minutes for another package manager, which holds a lock: /var/lib/apt/lists/lock. It is held by process 4242 (apt-get)" \
  sh "$setup"
[ "$(grep -c waiting "$output")" = 1 ] || fail "prints more than once that it waits"
last "setup: everything is installed"
stand_in date <<END # 500 seconds pass with each look at the clock
#!/bin/sh
echo . >>"$top/apt/clock"
expr 500 '*' \$(grep -c . "$top/apt/clock")
END
apt 9 ""
gives 1 "Could not get lock" sh "$setup"
grep -q "setup: gave up after 15 minutes" "$output" || fail "it does not say that it gave up"
rm "$top/bin/date"
ln -s "$(command -v date)" "$top/bin/"

# dpkg has its own lock, and its own message.
apt 0 ""
echo "dpkg: error: dpkg frontend lock was locked by another process with pid 4242" >"$top/apt/dpkg"
gives 0 "waiting up to 15 minutes for another package manager, which holds a lock: dpkg frontend lock was locked by another process" \
  sh "$setup"

# The lock of a real apt-get's package lists, in a folder of its own. It is held until apt-get update has failed once.
if real=$(command -v apt-get); then
  mkdir -p "$top/real/lists/partial" "$top/real/cache/archives/partial" "$top/real/sources"
  cp "$top/bin/apt-get" "$top/stand-in"
  stand_in apt-get <<END
#!/bin/sh
case " \$* " in *' update '*)
  $real -o Dir::State::Lists="$top/real/lists" -o Dir::Cache="$top/real/cache" -o Dir::Etc::SourceList=/dev/null \\
    -o Dir::Etc::SourceParts="$top/real/sources" -o APT::Sandbox::User=root "\$@" && status=0 || status=\$?
  echo "\$status" >>"$top/real/updates"
  exit \$status
  ;;
esac
exec "$top/stand-in" "\$@"
END
  apt 0 ""
  python3 - "$top/real" <<'END' &
import fcntl, os, sys, time
lock = open(sys.argv[1] + "/lists/lock", "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
open(sys.argv[1] + "/locked", "w").close()
for _ in range(600):  # until one apt-get update has failed, at most a minute
    if os.path.exists(sys.argv[1] + "/updates"):
        break
    time.sleep(0.1)
END
  holder=$!
  for _ in 1 2 3 4 5 6 7 8 9 10; do [ -e "$top/real/locked" ] || sleep 1; done
  gives 0 "which holds a lock: $top/real/lists/lock. It is held by process $holder" sh "$setup"
  [ "$(tr '\n' ' ' <"$top/real/updates")" = "100 0 " ] || fail "apt-get update ended with: $(tr '\n' ' ' <"$top/real/updates")"
  wait $holder
  mv "$top/stand-in" "$top/bin/apt-get"
fi

# Other errors are not taken for locks.
apt 0 ""
: >"$top/apt/broken"
gives 1 "E: Failed to fetch something" sh "$setup"
last "apt-get update failed"
gives 2 "unknown" sh "$setup" --wrong
gives 2 "must be sm_NN" sh "$setup" --offload wrong

# A step that can't run fails test.sh, except where the table expects it.
apt 0 "clang-22"
# shellcheck disable=SC1091 # the system's own
case $(. /etc/os-release && echo "${ID-} ${VERSION_ID-}") in
  "ubuntu 24.04")
    gives 0 "skipped, as expected on ubuntu 24.04" sh "$top/tools/test.sh" clang-22
    last "0 passed, 0 failed, 1 skipped"
    ;;
  *)
    gives 1 "clang-22: FAILED: it can't be skipped on" sh "$top/tools/test.sh" clang-22
    last "0 passed, 1 failed, 0 skipped"
    ;;
esac
gives 2 "nothing: unknown step; the steps: format" sh "$top/tools/test.sh" nothing

# The mirror, as apt itself reads its sources: both formats, a list of mirrors, and addresses that are not mirrors of Debian.
if command -v apt-get >/dev/null; then
  ln -sf "$(command -v apt-get)" "$top/bin/apt-get"
  mkdir -p "$top/sources" "$top/lists"
  cat >"$top/apt.conf" <<END
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "$top/sources";
Dir::State::Lists "$top/lists";
Acquire::IndexTargets::deb::Packages::DefaultEnabled "true";
END
  mirror() { # WANTED, sources on stdin
    rm -f "$top"/sources/*
    case $1 in *deb822*) name=a.sources ;; *) name=a.list ;; esac
    cat >"$top/sources/$name"
    gives 0 "${1#*:}" env APT_CONFIG="$top/apt.conf" sh "$top/tools/mirror.sh" debian
  }
  mirror "deb822:http://near.example/debian http://near.example/debian-security" <<END
Types: deb
URIs: http://near.example/debian/
Suites: trixie trixie-updates
Components: main contrib

Types: deb
URIs: http://near.example/debian-security
Suites: trixie-security
Components: main
END
  mirror "lines:https://near.example/a/debian -" <<END
deb https://packages.example/tool trixie main
deb https://packages.example/debian trixie stable
deb [arch=amd64] https://near.example/a/debian bookworm main # near
END
  printf '# mirrors\nhttp://first.example/debian/\tpriority:1\nhttp://second.example/debian/\n' >"$top/debian.list"
  mirror "lines:http://first.example/debian -" <<END
deb mirror+file:$top/debian.list trixie main
END
  echo "deb https://packages.example/tool trixie main" >"$top/sources/a.list"
  gives 1 "" env APT_CONFIG="$top/apt.conf" sh "$top/tools/mirror.sh" debian
fi

gives 2 "no system named; use" sh "$top/tools/fresh.sh"
gives 2 "'fedora': unknown system; use" sh "$top/tools/fresh.sh" fedora
gives 2 "one argument too many" sh "$top/tools/fresh.sh" debian12 ls -l
gives 2 "COMMAND is empty" sh "$top/tools/fresh.sh" debian12 ""
echo "setup.sh, mirror.sh and fresh.sh work as documented"
