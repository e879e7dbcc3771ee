# A figure of one prediction: of gfxsim time, or of all launches of a row of tandem-bench.
#   awk -v figure=clocks -f json.awk -f ahead.awk PREDICTION.json

{ read_json($0) }
END {
  for (path in json_sum)
    if (path == figure || path ~ ("[.]time[.]" figure "$")) all += json_sum[path]
  if (all > 0) printf "%.17g\n", all
}
