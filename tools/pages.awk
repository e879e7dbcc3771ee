# What tools/pages.sh needs of a page and of an output. -v mode=
#   extract   a page into -v dir=: N.sh, N.want, and a line of `list` for each fence: N kind line
#   compare   files WANT GOT: prints what differs in form and exits with 1; -v new=FILE gets the text that the page should have
#   replace   a page, with the text of fence N from dir/N.new
# The form of a line: numbers are #, runs of spaces one space, runs of dashes one dash. `...` stands for any number of lines. The numbers in
# the name of a kernel stay: the text around it is about that kernel.

function fold(s) {
  if (s ~ /^kernel +[a-z0-9_]+ *$/) return squeeze(s)
  gsub(/0x[0-9a-fA-F]+/, "#", s)
  gsub(/[-+]?[0-9]+([.,][0-9]+)*(e[-+]?[0-9]+)?/, "#", s)
  gsub(/--+/, "-", s)
  return squeeze(s)
}
function squeeze(s) {
  gsub(/[ \t]+/, " ", s)
  sub(/^ /, "", s)
  sub(/ $/, "", s)
  return s
}
function bad(text) {
  print FILENAME ":" FNR ": " text
  failed = 1
  exit 1
}

# 0: there is none, the block was not run and stays as it is.
function print_file(name,   line, state) {
  while ((state = (getline line < name)) > 0) print line
  close(name)
  return state == 0
}

# ---- extract, replace ----

mode != "compare" && /^```/ {
  if (!inside) {
    inside = 1
    kind = substr($0, 4)
    start = FNR
    answered = kind == "text" && last ~ /^sh/
    if (kind == "text" && !answered) bad("this text follows no command")
    if (kind !~ /^(sh|sh build|sh long|text|console|c)$/)
      bad("a fence of '" kind "': must be sh, sh build, sh long, text, c or console (what needs a GPU)")
    if (kind == "c") {
      if (mode == "replace") print
      next
    }
    if (kind != "text") n++
    last = kind
    file = dir "/" n (kind == "text" ? ".want" : ".sh")
    if (mode == "extract") {
      printf "" > file
      if (kind != "text") print n, kind ~ /^sh ./ ? substr(kind, 4) : kind, FNR > (dir "/list")
    }
  } else {
    inside = replaced = 0
    if (mode == "extract" && kind != "c") close(file)
  }
  if (mode == "replace") print
  if (mode == "replace" && inside && kind == "text") replaced = print_file(dir "/" n ".new")
  next
}
mode == "extract" && inside && kind != "c" { print > file }
mode == "replace" && !replaced { print }

# ---- compare ----

mode == "compare" && FILENAME == ARGV[1] { want[++wants] = $0; next }
mode == "compare" { got[++gots] = $0 }

# Do the lines from i of the page fit those from j of the output? at[i] is the line that fits line i.
function fits(i, j,   k) {
  if (i > furthest) { furthest = i; reached = j }
  if (i > wants) return j > gots
  if (want[i] == "...") {
    for (k = j; k <= gots + 1; k++)
      if (fits(i + 1, k)) return 1
    return 0
  }
  if (j > gots || fold(want[i]) != fold(got[j]) || !fits(i + 1, j + 1)) return 0
  at[i] = j
  return 1
}

END {
  if (failed) exit 1
  if (mode == "extract") {
    if (inside) { print FILENAME ":" start ": this fence is never closed"; exit 1 }
    exit 0
  }
  if (mode != "compare") exit 0
  furthest = 0
  same = fits(1, 1)
  if (new != "") {
    for (i = 1; i <= wants && !same; i++)
      if (want[i] == "...") { print "  it has '...' and another form: put it right by hand"; exit 1 }
    for (j = 1; j <= gots; j++)
      if (got[j] ~ /^```/) { print "  a line of the output begins with ```"; exit 1 }
    printf "" > new
    if (same)
      for (i = 1; i <= wants; i++) {
        line = want[i] == "..." ? "..." : got[at[i]]
        sub(/[ \t]+$/, "", line)
        print line > new
      }
    else
      for (j = 1; j <= gots; j++) {
        sub(/[ \t]+$/, "", got[j])
        print got[j] > new
      }
    exit 0
  }
  if (!same) {
    print "  the page: " (furthest > wants ? "(no line)" : want[furthest])
    print "  printed:  " (reached > gots ? "(no line)" : got[reached])
    exit 1
  }
  for (i = 1; i <= wants; i++)
    if (want[i] != "..." && squeeze(want[i]) != squeeze(got[at[i]])) other++
  print other + 0
}
