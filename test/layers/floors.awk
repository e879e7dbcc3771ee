# Reads the floors of docs/design.md: lines of the block that begins with ```floors. Each has a number, the rooms of that floor, two
# spaces, and text that is not read. A room is a folder, a file, or FOLDER/*, which makes each folder in FOLDER a room of its own.
# Then reads lines "FROM TO WHAT" and prints those that look up, or into another room of the same floor.
FILENAME == design {
  if ($0 ~ /^```floors/) inside = 1
  else if ($0 ~ /^```/) inside = 0
  else if (inside && match($0, /^ *[0-9]+ +/)) {
    number = $1 + 0
    rest = substr($0, RLENGTH + 1)
    sub(/  .*/, "", rest)
    count = split(rest, words, " ")
    for (i = 1; i <= count; i++) floor[words[i]] = number
    floors++
  }
  next
}
function room_of(path, folder, parent) {
  folder = path
  while (1) {
    if (folder in floor) return folder
    if (!match(folder, /\/[^\/]*$/)) return ""
    parent = substr(folder, 1, RSTART - 1)
    if (path != folder && (parent "/*") in floor) {
      floor[folder] = floor[parent "/*"]
      return folder
    }
    folder = parent
  }
}
{
  from = room_of($1)
  to = room_of($2)
  checked++
  if (from == "") print $1 ": stands in no room of docs/design.md"
  else if (to == "") print $2 ": stands in no room of docs/design.md, and " $1 " uses it"
  else if (floor[to] > floor[from]) print $1 " (" from ", floor " floor[from] ") looks up to " $2 " (" to ", floor " floor[to] "): " $3
  else if (floor[to] == floor[from] && from != to) print $1 " looks into another room of its floor, " $2 ": " $3
}
END {
  if (floors < 5) print "docs/design.md: its list of floors was not found"
  if (checked < 50) print "only " checked + 0 " uses were found: the test reads the wrong files"
}
