# The figures of one row from what gfxsim time wrote: `NAME FIGURE VALUE`, or `NAME FIGURE missing REASON`.
#   awk -v name=NAME -v trace=FILE -f json.awk -f figures.awk NAME.row PREDICTION.json

BEGIN { MOST_GAPS = 512 }

# The clocks from one issue of an instruction to the next in the same wave: the median of each wave's later half, where queues are
# full. `trace` has one event a line.
function issue_interval(instruction,   line, ts, tid, n, i, gap, j, last, gaps, count, sorted) {
  while ((getline line < trace) > 0) {
    if (index(line, "{\"name\": \"" instruction " ") != 1 || index(line, "\"ph\": \"X\"") == 0) continue
    match(line, /"tid": [0-9]+/)
    tid = substr(line, RSTART + 7, RLENGTH - 7)
    match(line, /"ts": [0-9]+/)
    ts = substr(line, RSTART + 6, RLENGTH - 6)
    if (tid in last && count[tid] < MOST_GAPS) gaps[tid, count[tid]++] = ts - last[tid]
    last[tid] = ts
  }
  close(trace)
  for (tid in count) {
    for (i = int(count[tid] / 2); i < count[tid]; i++) {
      gap = gaps[tid, i]
      for (j = n++; j > 0 && sorted[j - 1] > gap; j--) sorted[j] = sorted[j - 1]
      sorted[j] = gap
    }
  }
  return n == 0 ? "" : n % 2 ? sorted[(n - 1) / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2
}

function put(figure, value) {
  if (value == "") print name, figure, "missing gfxsim does not model it here"
  else printf "%s %s %.6g\n", name, figure, value
}

FILENAME ~ /\.row$/ {
  if ($1 == "figure") wanted[++figures] = $2
  if ($1 == "flops") flops = $2
  if ($1 == "bytes") bytes = $2
  next
}
{ read_json($0) }
END {
  us = json["microseconds"]
  for (f = 1; f <= figures; f++) {
    figure = wanted[f]
    if (figure == "clocks") put(figure, json["clocks"])
    else if (figure == "loop_clocks") put(figure, json["loop.clocks"])
    else if (figure == "mfma_share") put(figure, json["loop.mfma_share"])
    else if (figure == "frequency") put(figure, json["frequency_ghz"])
    else if (figure == "microseconds") put(figure, us)
    else if (figure == "tflops") put(figure, us == "" ? "" : flops / us / 1e6)
    else if (figure == "gbs") put(figure, us == "" ? "" : bytes / us / 1e3)
    else put(figure, issue_interval(substr(figure, 16)))
  }
}
