#!/bin/sh
# Unpacks one package of any Debian or Ubuntu release into a folder. The system is not changed. apt checks signature and checksums.
# Use: sh tools/unpack.sh 'deb URI RELEASE COMPONENT...' PACKAGE FOLDER
set -eu
[ $# = 3 ] || {
  echo "unpack: needs three arguments: 'deb URI RELEASE COMPONENT...' PACKAGE FOLDER" >&2
  exit 2
}
source=$1 package=$2 folder=$3
part=$folder.part
rm -rf "$part"
mkdir -p "$part/lists/partial" "$part/cache/archives/partial" "$part/root"
trap 'rm -rf "$part"' EXIT
trap 'exit 130' HUP INT TERM
part=$(cd "$part" && pwd)
echo "$source" >"$part/sources.list"
apt() {
  apt-get -q -o Dir::Etc::SourceList="$part/sources.list" -o Dir::Etc::SourceParts=- -o Dir::State::Lists="$part/lists" \
    -o Dir::Cache="$part/cache" -o APT::Sandbox::User=root "$@"
}
(apt update && cd "$part" && apt download "$package") >"$part/log" 2>&1 || {
  echo "unpack: $package of '$source': $(grep -m 1 '^[EW]:' "$part/log" || tail -n 1 "$part/log")" >&2
  exit 1
}
dpkg-deb -x "$part/$package"_*.deb "$part/root"
rm -rf "$folder"
mv "$part/root" "$folder"
