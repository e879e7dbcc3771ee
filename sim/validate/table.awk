# Checks tables of published rows, and writes each row that is wanted to a file of its own.
#   awk -v dir=FOLDER -v sets=' F P ' -v only=TEXT -f table.awk TABLE...     sets, only: empty for all
# FOLDER/list has the rows' names in order, FOLDER/NAME.row one `key value` a line, FOLDER/hbm the rate of memory of each chip in TB/s.
# docs/gfxsim-validate.md explains the keys.

function bad(text) {
  print "validate: " FILENAME ":" FNR ": " text > "/dev/stderr"
  failed = 1
  exit 2
}
function number(text) { return text ~ /^[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$/ && text + 0 > 0 }

function figure(text,   part) {
  if (split(text, part, " ") != 2 || !number(part[2])) bad("figure: must be NAME VALUE, with a positive value")
  if (part[1] !~ /^(clocks|loop_clocks|mfma_share|frequency|microseconds|tflops|gbs|issue_interval:[a-z0-9_]+)$/)
    bad("figure " part[1] ": must be clocks, loop_clocks, mfma_share, issue_interval:INSTRUCTION, frequency, microseconds, tflops or gbs")
  if (part[1] == "mfma_share" && part[2] > 1) bad("figure mfma_share: must be at most 1")
  if (index(figures, "figure " part[1] " ")) bad("figure " part[1] ": is there twice")
  figures = figures "figure " text "\n"
}

function has(key) { return (name, key) in given }
function end_row(   k, n, part, text) {
  if (name == "") return
  FNR = row_line # for messages
  if (!has("set")) bad("row " name ": set: must be given")
  if (!has("source")) bad("row " name ": source: must be given")
  if (figures == "") bad("row " name ": figure: must be given")
  if (!has("missing")) {
    if (!has("file") && !has("built")) bad("row " name ": file, built or missing: one must be given")
    if (!has("kernel") || !has("grid") || !has("block")) bad("row " name ": kernel, grid and block: must be given")
    if (index(figures, "figure tflops ") && !has("flops")) bad("row " name ": flops: must be given for tflops")
    if (index(figures, "figure gbs ") && !has("bytes")) bad("row " name ": bytes: must be given for gbs")
  }
  if (has("peak") != has("flops")) bad("row " name ": flops and peak: must be given together")
  if ((sets != "" && !index(sets, " " given[name, "set"] " ")) || (only != "" && !index(name, only))) return
  text = figures
  for (k = 1; k <= key_count; k++) {
    if (!has(keys[k])) continue
    if (keys[k] !~ /^(args|options)$/) text = text keys[k] " " given[name, keys[k]] "\n"
    else for (n = 1; n <= split(given[name, keys[k]], part, " "); n++) text = text substr(keys[k], 1, length(keys[k]) - 1) " " part[n] "\n"
  }
  print name > (dir "/list")
  printf "%s", text > (dir "/" name ".row")
  close(dir "/" name ".row")
  rows++
}

BEGIN { key_count = split("set group file built missing kernel chip grid block lds args options flops peak bytes protocol source", keys, " ") }
FNR == 1 { end_row(); name = "" }
/^[ \t]*(#|$)/ { next }
{
  sub(/^[ \t]+/, "")
  sub(/[ \t]+$/, "")
  key = $1
  value = $0
  if (!sub(/^[^ \t]+[ \t]+/, "", value)) bad(key ": has no value")
}
key == "row" {
  end_row()
  if (value !~ /^[A-Za-z0-9][A-Za-z0-9._-]*$/) bad("row " value ": must be letters, digits, dots and dashes")
  if (value in seen) bad("row " value ": is there twice, first at " seen[value])
  name = value
  row_line = FNR
  seen[name] = FILENAME ":" FNR
  figures = ""
  split("", own)
  next
}
key == "hbm" {
  if (name != "") bad("hbm: must stand before the rows")
  if (split(value, part, " ") != 2 || !number(part[2])) bad("hbm: must be CHIP TB/S")
  print part[1], part[2] > (dir "/hbm")
  next
}
name == "" { bad(key ": stands before the first row") }
key == "like" {
  if (!(value in seen) || value == name) bad("like " value ": must be an earlier row")
  for (k = 1; k <= key_count; k++) {
    if ((name, keys[k]) in given) bad("like: must come first in its row")
    if ((value, keys[k]) in given) given[name, keys[k]] = given[value, keys[k]]
  }
  next
}
key == "figure" {
  figure(value)
  next
}
{
  for (k = 1; k <= key_count && keys[k] != key; k++);
  if (k > key_count) bad(key ": no such key; keys are row, like, figure, set, group, file, built, missing, kernel, chip, grid, block, lds, args, options, flops, peak, bytes, protocol, source")
  if (own[key]++) bad(key ": is there twice in row " name)
}
key == "set" && value !~ /^[A-Za-z0-9]+$/ { bad("set " value ": must be one word") }
key == "file" && value !~ /^[^ ]+\/[^ ]+ ([0-9a-f]+|-) [^ ]+$/ { bad("file: must be OWNER/NAME COMMIT PATH, with - for whatever the checkout has") }
key == "file" && value ~ /(^|[ \/])\.\.(\/|$)/ { bad("file: must not leave the checkout") }
key == "built" && value !~ /^[A-Za-z0-9._-]+$/ { bad("built: must be a file's name") }
(key == "grid" || key == "block") && value !~ /^[0-9]+(,[0-9]+)?(,[0-9]+)?$/ { bad(key ": must be X[,Y[,Z]]") }
key ~ /^(flops|bytes|peak)$/ && !number(value) { bad(key ": must be a positive number") }
key == "lds" && value !~ /^[0-9]+$/ { bad("lds: must be a number of bytes") }
{ given[name, key] = value }
END {
  if (failed) exit 2
  end_row()
  if (failed) exit 2
  if (rows == 0) {
    print "validate: no row is left: see --set and --only" > "/dev/stderr"
    exit 2
  }
}
