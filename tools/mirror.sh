#!/bin/sh
# Prints the mirror that this system's package sources use, and where its security updates come from: "URI SECURITY-URI"; - for one
# that they don't name. Exit status 1, and nothing printed, when they name no mirror of this distribution.
# Use: sh tools/mirror.sh debian|ubuntu
set -eu
case ${1-} in debian | ubuntu) ;; *)
  echo "mirror: '${1-}': must be debian or ubuntu" >&2
  exit 2
  ;;
esac
command -v apt-get >/dev/null || exit 1

# apt itself reads its sources, in both of their formats. The origin is known once `apt-get update` has run; else the address must end
# with the distribution's name, as all of its mirrors' do. `mirror+file:LIST` stands for the first address in LIST.
# shellcheck disable=SC2016 # apt's own fields
apt-get indextargets --no-release-info --format '$(COMPONENT)|$(RELEASE)|$(ORIGIN)|$(REPO_URI)' 'Created-By: Packages' | awk -F'|' -v name="$1" '
  function known(origin) { return origin !~ /^\$/ && origin != "" }
  $1 != "main" {next}
  {
    uri = $4
    sub(/\/+$/, "", uri)
    by_path = uri ~ ("/" name "(-security)?(\\.list)?$")
    if (known($3) ? tolower($3) != name : !by_path) next
    if (sub(/^mirror\+file:/, "", uri)) {
      list = uri
      uri = ""
      while ((getline line < list) > 0)
        if (uri == "" && line ~ /^https?:/) {split(line, field, /[ \t]/); uri = field[1]}
      close(list)
      sub(/\/+$/, "", uri)
    }
    if (uri !~ /^https?:/) next
    if ($2 ~ /-security$/) {if (security == "") security = uri}
    else if (main == "") main = uri
  }
  END {
    if (main == "") exit 1
    print main, security == "" ? "-" : security
  }'
