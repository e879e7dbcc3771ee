#!/bin/sh
# A part of a standard set, another one with each commit: part.sh TANDEM-CHECK [OP] ... --every N ...
# Which one follows from the commit's hash; without git it is part 0. TANDEM_CHECK_OFFSET=K chooses another, so that
# `TANDEM_CHECK_OFFSET=K meson test` repeats all parts of a run.
offset=${TANDEM_CHECK_OFFSET:-}
if [ -z "$offset" ]; then
  hash=$(cd "$(dirname "$0")" && git rev-parse --short=7 HEAD 2>/dev/null | cut -c 1-7)
  offset=$((0x${hash:-0}))
fi
echo "parts: TANDEM_CHECK_OFFSET=$offset"
exec "$@" --offset "$offset"
