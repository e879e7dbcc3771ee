# bench/TIMING.md from rows and predictions.
#   awk -v dir=FOLDER_OF_ROWS -f report.awk hbm PREDICTIONS list

BEGIN { ROUNDING = 1e-9 }

function class_of(figure) {
  return figure ~ /^(clocks|loop_clocks|mfma_share|issue_interval:.*)$/ ? "clocks" : figure == "frequency" ? "frequency" : "TFLOPS"
}
function unit_of(figure) {
  if (figure == "mfma_share") return "MFMA share of the loop"
  if (figure == "loop_clocks") return "clocks of an iteration"
  if (figure == "frequency") return "GHz"
  if (figure == "tflops") return "TFLOPS"
  if (figure == "gbs") return "GB/s"
  if (sub(/^issue_interval:/, "", figure)) return "clocks from one " figure " to the next"
  return figure
}
function percent(value) { return sprintf("%+.1f %%", 100 * value) }
function size(value) { return value < 0 ? -value : value }
function shown(value) { return value ~ /^[0-9]+$/ ? value : sprintf("%.4g", value) }

# The median and the largest of values[key, 1 .. n], without their signs.
function median(values, key, n,   i, j, v, sorted) {
  for (i = 1; i <= n; i++) {
    v = size(values[key, i])
    for (j = i; j > 1 && sorted[j - 1] > v; j--) sorted[j] = sorted[j - 1]
    sorted[j] = v
  }
  return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}
function worst(values, key, n,   i, most) {
  for (i = 1; i <= n; i++) if (size(values[key, i]) > most) most = size(values[key, i])
  return most
}

function read_row(name,   line, key, value, chip) {
  rows[++row_count] = name
  while ((getline line < (dir "/" name ".row")) > 0) {
    key = value = line
    sub(/ .*/, "", key)
    sub(/^[^ ]+ /, "", value)
    if (key == "figure") {
      split(value, part, " ")
      figure[++figure_count] = part[1]
      of_row[figure_count] = name
      published[figure_count] = part[2]
    } else
      row[name, key] = value
  }
  close(dir "/" name ".row")
  chip = (name, "chip") in row ? row[name, "chip"] : "gfx950"
  if ((name, "flops") in row) least[name] = row[name, "flops"] / row[name, "peak"] / 1e6
  if ((name, "bytes") in row && chip in hbm && row[name, "bytes"] / hbm[chip] / 1e6 > least[name]) least[name] = row[name, "bytes"] / hbm[chip] / 1e6
}

# Microseconds that a published rate means.
function time_of(f,   name) {
  name = of_row[f]
  if (figure[f] == "microseconds") return published[f]
  return figure[f] == "tflops" ? row[name, "flops"] / published[f] / 1e6 : row[name, "bytes"] / published[f] / 1e3
}

FILENAME == dir "/hbm" {
  hbm[$1] = $2
  next
}
FILENAME == dir "/list" {
  read_row($1)
  next
}
/^#/ { next }
$2 == "object" {
  at = $1
  sub(/^[^ ]+ object /, "")
  origin[at] = $0
  next
}
$3 == "missing" {
  at = $1 SUBSEP $2
  sub(/^[^ ]+ [^ ]+ missing /, "")
  reason[at] = $0
  next
}
{ predicted[$1, $2] = $3 }

END {
  for (f = 1; f <= figure_count; f++) {
    name = of_row[f]
    set_class = row[name, "set"] SUBSEP class_of(figure[f])
    key[f] = set_class
    if (!(set_class in total)) order[++keys] = set_class
    total[set_class]++
    if ((name, figure[f]) in predicted) {
      value[f] = predicted[name, figure[f]]
      error[f] = value[f] / published[f] - 1
      errors[set_class, ++count[set_class]] = error[f]
    } else if (!((name, figure[f]) in reason))
      reason[name, figure[f]] = "not predicted"
    if (class_of(figure[f]) == "TFLOPS" && least[name] > 0) shares[set_class, ++share_count[set_class]] = least[name] / time_of(f)
  }
  # The baseline: every row runs at the same share of its roofline, the median of the published ones.
  for (k = 1; k <= keys; k++) if (share_count[order[k]] > 0) constant[order[k]] = median(shares, order[k], share_count[order[k]])
  for (f = 1; f <= figure_count; f++) {
    name = of_row[f]
    if (!(key[f] in constant) || !(least[name] > 0)) continue
    share = least[name] / time_of(f)
    baseline[f] = (figure[f] == "microseconds" ? share / constant[key[f]] : constant[key[f]] / share) - 1
    base[key[f], ++base_count[key[f]]] = baseline[f]
    # Only where there is a prediction, the two are compared.
    if (f in value) paired[key[f], ++paired_count[key[f]]] = baseline[f]
  }

  print "# Predicted and published times"
  print ""
  print "`sh sim/validate.sh FOLDER` made this page; [docs/gfxsim-validate.md](../docs/gfxsim-validate.md) explains it. Others have measured and published"
  print "these figures. The predictions are those of `gfxsim time`, a model; nothing here was measured by this project. Numbers of the model may"
  print "be fitted to set F. Set P was predicted before it was compared. A figure without a prediction counts as missing, and not as an error of 0."
  print ""
  print "## Summary"
  print ""
  print "| set | class | figures | predicted | missing | median error | worst error | goal | baseline: median, worst |"
  print "|---|---|---:|---:|---:|---:|---:|---|---:|"
  for (k = 1; k <= keys; k++) {
    split(order[k], part, SUBSEP)
    n = count[order[k]] + 0
    goal = ""
    if (part[1] != "F" && part[2] != "frequency") {
      m = part[2] == "clocks" ? 0.10 : 0.15
      w = part[2] == "clocks" ? 0.25 : 0.35
      met = n > 0 && median(errors, order[k], n) <= m + ROUNDING && worst(errors, order[k], n) <= w + ROUNDING
      if (part[2] == "TFLOPS" && paired_count[order[k]] > 0) met = met && median(errors, order[k], n) < median(paired, order[k], paired_count[order[k]])
      goal = sprintf("%.0f %%, %.0f %%%s: %s", 100 * m, 100 * w, part[2] == "TFLOPS" ? ", below the baseline" : "", n == 0 ? "no figure" : met ? "met" : "missed")
      if (n > 0 && n < total[order[k]]) goal = goal " by those predicted"
    }
    b = ""
    if (paired_count[order[k]] > 0)
      b = sprintf("%.1f %%, %.1f %%", 100 * median(paired, order[k], paired_count[order[k]]), 100 * worst(paired, order[k], paired_count[order[k]]))
    printf "| %s | %s | %d | %d | %d | %s | %s | %s | %s |\n", part[1], part[2], total[order[k]], n, total[order[k]] - n,
      n ? sprintf("%.1f %%", 100 * median(errors, order[k], n)) : "", n ? sprintf("%.1f %%", 100 * worst(errors, order[k], n)) : "", goal, b
  }
  print ""
  print "The baseline of TFLOPS says that every row runs at one share of its roofline (matrix units or HBM, at the peak clock): the median share of"
  print "the published rows of the set, which favours the baseline. Its errors here are those of the rows that have a prediction."
  print ""
  print "## Orderings"
  print ""
  print "Rows of a group are variants of one kernel. Counted are pairs whose published figures differ by more than 5 %."
  print ""
  print "| group | figure | pairs | right | wrong | without a prediction |"
  print "|---|---|---:|---:|---:|---:|"
  for (f = 1; f <= figure_count; f++) {
    group = row[of_row[f], "group"]
    if (group == "" || done[group, figure[f]]++) continue
    pairs = right = wrong = open = 0
    for (a = f; a <= figure_count; a++) {
      if (row[of_row[a], "group"] != group || figure[a] != figure[f]) continue
      for (b = a + 1; b <= figure_count; b++) {
        if (row[of_row[b], "group"] != group || figure[b] != figure[f]) continue
        gap = published[a] / published[b]
        if (gap < 1.05 && gap > 1 / 1.05) continue
        pairs++
        if (!(a in value) || !(b in value)) open++
        else if ((value[a] > value[b]) == (gap > 1) && value[a] != value[b]) right++
        else {
          wrong++
          wrongs[++wrong_count] = "- " of_row[a] " and " of_row[b] ", " unit_of(figure[a]) ": published " published[a] " and " published[b] ", predicted " shown(value[a]) " and " shown(value[b])
        }
      }
    }
    if (pairs > 0) printf "| %s | %s | %d | %d | %d | %d |\n", group, unit_of(figure[f]), pairs, right, wrong, open
  }
  if (wrong_count > 0) print "\nWrong:\n"
  for (i = 1; i <= wrong_count; i++) print wrongs[i]

  print ""
  print "## Rows"
  for (k = 1; k <= keys; k++) {
    split(order[k], part, SUBSEP)
    print ""
    print "### Set " part[1] ", " part[2]
    print ""
    print "| row | figure | published | predicted | error |" (order[k] in constant ? " baseline |" : "")
    print "|---|---|---:|---:|---:|" (order[k] in constant ? "---:|" : "")
    for (f = 1; f <= figure_count; f++) {
      if (key[f] != order[k]) continue
      printf "| %s | %s | %s | %s | %s |", of_row[f], unit_of(figure[f]), published[f], f in value ? shown(value[f]) : "missing", f in value ? percent(error[f]) : ""
      if (order[k] in constant) printf " %s |", f in baseline ? percent(baseline[f]) : ""
      printf "\n"
    }
  }

  print ""
  print "## Protocols"
  print ""
  print "| row | object | protocol | source |"
  print "|---|---|---|---|"
  for (r = 1; r <= row_count; r++)
    printf "| %s | %s | %s | %s |\n", rows[r], origin[rows[r]] == "" ? "none" : origin[rows[r]], row[rows[r], "protocol"], row[rows[r], "source"]

  print ""
  print "## Missing"
  print ""
  for (f = 1; f <= figure_count; f++)
    if (!(f in value)) {
      print "- " of_row[f] ", " unit_of(figure[f]) ": " reason[of_row[f], figure[f]]
      missing++
    }
  if (!missing) print "Nothing is missing."
}
