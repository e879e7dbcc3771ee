# The numbers of a JSON text, by their path: line by line, as strings do not go over several. `key` and `depth` are where it stands.
# A number of an array's elements has one path: json has the last, json_sum their sum.
function read_json(text,   c, path, word, place) {
  while (text != "") {
    c = substr(text, 1, 1)
    if (c == "\"") {
      match(text, /^"([^"\\]|\\.)*"/)
      word = substr(text, 2, RLENGTH - 2)
      text = substr(text, RLENGTH + 1)
      if (match(text, /^[ \t\n]*:/)) {
        key[depth] = word
        text = substr(text, RLENGTH + 1)
      }
    } else if (c == "{" || c == "[") {
      key[++depth] = "[]"
      text = substr(text, 2)
    } else if (c == "}" || c == "]") {
      depth--
      text = substr(text, 2)
    } else if (match(text, /^[-+0-9.eE]+/)) {
      path = ""
      for (place = 1; place <= depth; place++) path = path (place > 1 ? "." : "") key[place]
      json[path] = substr(text, 1, RLENGTH)
      json_sum[path] += json[path]
      text = substr(text, RLENGTH + 1)
    } else
      text = substr(text, 2)
  }
}
