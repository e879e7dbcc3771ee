# Makes ladder.def, the table of all steps, of the heads of their files (docs/ladder.md). Must be shorter than 4096 bytes: of a
# longer program Ubuntu 24.04's mawk reads what lies after it. Use: awk -f steps.awk FILE... /dev/null

function complain(what) {
  printf "%s: %s\n", path, what | "cat >&2"
  failed = 1
  exit 1
}

function quoted(text) {
  gsub(/\\/, "\\\\", text)
  gsub(/"/, "\\\"", text)
  return "\"" text "\""
}

function trimmed(text) {
  sub(/^[ \t]+/, "", text)
  sub(/[ \t]+$/, "", text)
  return text
}

function close_field() {
  if (key == "") return
  if (key == "predict")
    predictions = predictions (predictions == "" ? "" : "\\n") value
  else if (key in field)
    complain(key ": given twice")
  else
    field[key] = value
  key = ""
}

# The numbers of a text: "64x4 of C by 256 work-items" has 64, 4, 256.
function numbers_of(text) {
  gsub(/[^0-9]+/, ", ", text)
  gsub(/^, |, $/, "", text)
  return text
}

function open_file(parts, count) {
  path = FILENAME
  count = split(path, parts, "/")
  op = parts[count - 1]
  file = "ladder/" op "/" parts[count]
  if (parts[count] !~ /^(hip|omp)_[0-9][0-9]_[a-z0-9_]+\.(hip|c|step)$/) complain("name: must be PATH_NN_IDEA.hip, .c or .step")
  split(parts[count], parts, ".")
  ending = parts[2]
  name = parts[1]
  side = substr(name, 1, 3)
  number = substr(name, 5, 2) + 0
  row = side "_" (op == "small_k" ? "small_k_" : "") "step" substr(name, 5) # small_k: of gemm, which has a ladder of its own
  split("", field)
  key = predictions = title = ""
  in_head = 1
}

function close_file(needed, i, kernel) {
  if (in_head) complain("its comment does not end")
  split("what why limit", needed, " ")
  for (i = 1; i <= 3; i++)
    if (!(needed[i] in field)) complain(needed[i] ": is missing")
  if (predictions == "") complain("predict: is missing")
  if ((ending == "step") != ("kernel" in field)) complain("kernel: belongs to .step files, which have no other content")
  kernel = ending == "step" ? field["kernel"] : row
  printf "LADDER_STEP(%s, \"%s\", %d, %s, %s, %s, %s,\n  %s,\n  %s,\n  %s,\n  %s, %s, %s,\n  \"%s\")\n", op, side, number,
    quoted(substr(name, 8)), quoted(kernel), quoted(file), quoted(title), quoted(field["what"]), quoted(field["why"]),
    quoted(field["limit"]), quoted(field["epilogue"]), quoted(field["wrong"]),
    quoted(field["device"]), predictions
  if ((ending == "hip") != ("launch" in field)) complain("launch: belongs to .hip files, which need it")
  if (ending == "hip") printf "LADDER_HIP_%s(tdm_%s_%s, \"%s\", tdm_code_%s_%s, %s)\n", toupper(op), op, row, row, op, name, numbers_of(field["launch"])
  if (ending != "step") printf "LADDER_ROW(tdm_%s_%s)\n", op, row
}

# A file that includes the table defines the macros that it wants.
function put_macro(name) {
  if (name in macros) return
  macros[name] = 1
  printf "#ifndef %s\n#define %s(...)\n#endif\n", name, name
}

BEGIN {
  put_macro("LADDER_STEP")
  put_macro("LADDER_ROW")
  for (i = 1; i < ARGC; i++) {
    count = split(ARGV[i], parts, "/")
    if (ARGV[i] != "/dev/null") put_macro("LADDER_HIP_" toupper(parts[count - 1]))
  }
}

FNR == 1 {
  if (NR > 1) close_file()
  open_file()
  if ($0 !~ /^\/\* [^ ].*: /) complain("must open with a comment: /* NAME: one sentence")
  title = substr($0, 4)
  in_title = 1
  next
}

in_head {
  ends = index($0, "*/") > 0
  text = $0
  sub(/\*\/.*/, "", text)
  sub(/^ \*/, "", text)
  text = trimmed(text)
  if (in_title) {
    if (text == "") in_title = 0
    else title = title " " text
  } else if (text == "") {
    close_field()
  } else if (match(text, /^[a-z]+: /)) {
    close_field()
    key = substr(text, 1, RLENGTH - 2)
    value = substr(text, RLENGTH + 1)
    if (key !~ /^(what|why|limit|launch|kernel|epilogue|wrong|device|predict)$/) complain(key ": is none of what why limit launch kernel epilogue wrong device predict")
  } else if (key != "") {
    value = value " " text
  }
  if (ends) {
    close_field()
    in_head = 0
  }
}

END {
  if (failed) exit 1
  if (NR > 0) close_file()
  for (name in macros) printf "#undef %s\n", name
}
