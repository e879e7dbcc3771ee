#!/bin/sh
# tools/pages.sh itself: pages that must fail, each for its own reason, and right ones. Usage: test_pages.sh BUILD
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
build=$(cd "$1" && pwd) page=$folder/page.md output=$folder/output

# The script copies the tree that it is in for every page. So it gets a small one: what these pages use.
tree=$folder/tree
mkdir -p "$tree/tools" "$tree/docs"
cp tools/pages.sh tools/pages.awk "$tree/tools"
run() { sh "$tree/tools/pages.sh" --build "$build" --limit 2 "$@" "$page" >"$output" 2>&1; }
fail() {
  echo "pages: $*"
  cat "$output"
  exit 1
}
# passes TEXT: the page on stdin passes, and TEXT is printed; fails TEXT: it fails.
passes() {
  cat >"$page"
  run || fail "must pass: $1"
  grep -qF -- "$1" "$output" || fail "no '$1'"
}
fails() {
  cat >"$page"
  ! run || fail "must fail: $1"
  grep -qF -- "$1" "$output" || fail "no '$1'"
}

# Figures may differ, the name of a kernel may not.
fails 'the page: kernel gemm_tile_32x128_3_nt_bf16' <<PAGE
\`\`\`sh
printf 'floor 12\nkernel   gemm_tile_64x128_2_nt_bf16\n'
\`\`\`
\`\`\`text
floor 13
kernel gemm_tile_32x128_3_nt_bf16
\`\`\`
PAGE

table='printf "case  ms  of copy\nadd   12.5   7 %%\n"'
passes '2 commands run, 0 failed; other figures than the page in 1 lines; not run: 1 need a GPU, 1 build, 1 long' <<PAGE
\`\`\`sh build
exit 1
\`\`\`
\`\`\`sh
$table
\`\`\`
\`\`\`text
case    ms   of copy
add   3.25  11 %
\`\`\`
\`\`\`sh
tandem-bench --help | tail -n 1 >kept
\`\`\`
\`\`\`sh long
exit 1
\`\`\`
\`\`\`text
not run, not compared
\`\`\`
\`\`\`c
int of_a_file;
\`\`\`
\`\`\`console
rocprofv3 --help
tandem-bench gemm 8x8x8 --device hip:0
\`\`\`
PAGE
passes '2 commands run, 0 failed' <<'PAGE'
```sh
where=$PWD && export where && cd docs && echo kept >../kept
```
```sh
seq 4; cat "$where/kept"
```
```text
1
...
kept
```
PAGE
# --times: how many blocks ran, and their seconds.
cat >"$page" <<'PAGE'
```sh
sleep 1
```
```sh
true
```
PAGE
run --times "$folder/times" || fail "--times must pass"
awk -F'|' -v page="$page" '$2 == " " page " " && $3 == 2 && $4 >= 1 && $5 >= 0 {found = 1} END {exit !found}' "$folder/times" ||
  fail "--times wrote: $(cat "$folder/times")"
fails 'exit status 3' <<'PAGE'
```sh
exit 3
```
PAGE
fails 'exit status 1' <<'PAGE'
```sh
false | cat
```
PAGE
fails 'not done after 2 s' <<'PAGE'
```sh
sleep 20
```
PAGE
fails 'printed:  case  ms  of copy' <<PAGE
\`\`\`sh
$table
\`\`\`
\`\`\`text
case    ms
add   3.25
\`\`\`
PAGE
fails 'printed:  add' <<PAGE
\`\`\`sh
$table
\`\`\`
\`\`\`text
case    ms   of copy
\`\`\`
PAGE
fails 'the page: total' <<'PAGE'
```sh
seq 4
```
```text
...
4
total
```
PAGE
fails "shape = '8x8'" <<'PAGE'
```console
tandem-bench gemm 8x8 --device hip:0
```
PAGE
fails 'has no command' <<'PAGE'
Words.
PAGE
fails 'follows no command' <<'PAGE'
```text
1
```
PAGE
fails "a fence of 'python'" <<'PAGE'
```python
1
```
PAGE
fails 'never closed' <<'PAGE'
```sh
true
PAGE
fails 'nowhere.md, which is not there' <<'PAGE'
[Gone](nowhere.md#part)
```sh
true
```
PAGE

# --update writes what is printed, keeps `...`, and leaves a page alone that is right. It draws the pictures, too.
mkdir "$tree/bench"
cp -r docs/pictures "$tree/docs"
cp -r bench/results "$tree/bench"
cat >"$page" <<'PAGE'
Words.
```sh
seq 8 11
```
```text
1
...
3
```
```sh
echo new
```
```text
```
```sh build
true
```
```text
kept
```
PAGE
run --update || fail "--update must pass"
cat >"$folder/want" <<'PAGE'
Words.
```sh
seq 8 11
```
```text
8
...
11
```
```sh
echo new
```
```text
new
```
```sh build
true
```
```text
kept
```
PAGE
cmp "$page" "$folder/want" || fail "--update wrote another page"
cat >"$page" <<'PAGE'
```sh
echo new
```
```text
old
...
```
PAGE
cp "$page" "$folder/want"
! run --update || fail "--update must not guess what a '...' of another form stands for"
cmp "$page" "$folder/want" || fail "--update changed a page that it can not put right"

# Every page of the guide is a test, and named in the README.
for page in docs/guide/*.md; do
  grep -q "'$(basename "$page" .md)'" docs/meson.build || fail "$page is not in docs/meson.build"
  grep -q "]($page)" README.md || fail "$page is not in README.md"
done
grep -l '^```sh$' README.md docs/*.md | while read -r page; do
  grep -q "'$(basename "$page")'" docs/meson.build || fail "$page has commands, and is not in docs/meson.build"
done
