#!/bin/sh
# Builds the web edition: the README, the guide, the documentation and the results as a site of static files, which works from a server
# and from the disk (file://). It has light and dark colours, a search, and pictures that move.
# Use: sh tools/site.sh OUT [BUILD]     OUT: a folder that is not there yet or that this script made; BUILD: default build
# Sphinx with MyST and Furo makes it, from PyPI, in the versions of docs/site/requirements.txt, in a virtual environment in
# build-tools/site (PYTHON, default python3, makes it once). BUILD/docs/tandem-draw exports the numbers of the pictures that move.
set -eu
cd "$(dirname "$0")/.."
usage() {
  echo "site: $*; use: sh tools/site.sh OUT [BUILD]" >&2
  exit 2
}
if [ $# -lt 1 ] || [ $# -gt 2 ]; then usage "needs a folder OUT"; fi
case $1 in -*) usage "$1: unknown" ;; esac
out=$1 build=${2:-build}
draw=$build/docs/tandem-draw
[ -x "$draw" ] || usage "$draw: not there: meson setup $build && ninja -C $build docs/tandem-draw"
if [ -e "$out" ] && [ ! -e "$out/.tandem-site" ] && [ -n "$(ls -A "$out")" ]; then usage "$out: has other files"; fi

venv=build-tools/site
if ! cmp -s docs/site/requirements.txt $venv/requirements.txt; then
  echo "site: installing Sphinx, MyST and Furo from PyPI into $venv"
  rm -rf $venv
  "${PYTHON:-python3}" -m venv $venv && $venv/bin/python -m pip install -q --disable-pip-version-check -r docs/site/requirements.txt || {
    echo "site: pip could not install them: see its message above (Debian needs the package python3-venv)" >&2
    exit 1
  }
  cp docs/site/requirements.txt $venv/requirements.txt
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
# The tree without builds: pages link to sources, which become part of the site.
mkdir "$scratch/tree"
{ git ls-files -co --exclude-standard 2>/dev/null || find . -type f ! -path './build*' ! -path './.git/*'; } >"$scratch/files"
while read -r file; do [ ! -f "$file" ] || echo "$file"; done <"$scratch/files" | tar -cf - -T - | tar -xf - -C "$scratch/tree"
for picture in banks lanes order roofline; do
  "$draw" data $picture >"$scratch/tree/docs/site/static/$picture-data.js"
done
$venv/bin/python -m sphinx -q -W --keep-going -j auto -b html -c "$scratch/tree/docs/site" "$scratch/tree" "$scratch/html" -d "$scratch/doctrees"
rm -rf "$scratch/html/.buildinfo" "$scratch/html/objects.inv"
cat >"$scratch/html/index.html" <<'END'
<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Tandem</title><meta http-equiv="refresh" content="0; url=README.html">
<p><a href="README.html">Tandem</a></p></html>
END
: >"$scratch/html/.tandem-site"
: >"$scratch/html/.nojekyll" # folders that begin with _ are part of it, also on GitHub Pages
mkdir -p "$(dirname "$out")"
rm -rf "$out"
mv "$scratch/html" "$out"
echo "site: $(find "$out" -name '*.html' | wc -l) pages in $out: open $out/index.html"
