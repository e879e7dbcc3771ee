#!/bin/sh
# Builds the web edition and tests it in a headless Chromium (docs/site/test_site.py), in about a minute. SEED in the environment chooses
# the settings that are tried. Use: sh tools/test_site.sh BUILD     BUILD has docs/tandem-draw
# The last line counts: N passed, N failed, N skipped. Exit status 3: there is no Chromium (tools/setup.sh --site installs it).
set -eu
cd "$(dirname "$0")/.."
build=${1:?a build folder}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
  echo "site: no Chromium: sh tools/setup.sh --site installs Debian's"
  exit 3
}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
sh tools/site.sh "$out/site" "$build"
venv=build-tools/site
if ! cmp -s docs/site/test-requirements.txt $venv/test-requirements.txt; then
  echo "site: installing playwright from PyPI into $venv"
  $venv/bin/python -m pip install -q --disable-pip-version-check -r docs/site/test-requirements.txt
  cp docs/site/test-requirements.txt $venv/test-requirements.txt
fi
# What tools/site.sh refuses: a folder with other files, a build without tandem-draw.
mkdir "$out/other"
echo mine >"$out/other/file"
for arguments in "$out/other $build" "$out/new $out/nowhere" "--help"; do
  # shellcheck disable=SC2086 # words
  sh tools/site.sh $arguments >"$out/said" 2>&1 && status=0 || status=$?
  [ $status = 2 ] || {
    echo "site: tools/site.sh $arguments: exit status $status, wanted 2"
    exit 1
  }
done
[ "$(cat "$out/other/file")" = mine ]
$venv/bin/python docs/site/test_site.py "$out/site" "$build/docs/tandem-draw" "$browser"
