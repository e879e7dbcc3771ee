"""Executes a notebook's cells in order, without Jupyter: python notebook.py FILE. It must be committed without outputs."""

import json
import sys
import time


def main(name):
    with open(name, encoding="utf-8") as file:
        cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        if cell["outputs"] or cell["execution_count"] is not None:
            sys.exit(f"{name}: has outputs: must be committed without")
    begin, names = time.monotonic(), {"__name__": "__main__"}
    for number, cell in enumerate(cells, 1):
        exec(compile("".join(cell["source"]), f"{name}, cell {number}", "exec"), names)
    print(f"{name}: {len(cells)} cells in {time.monotonic() - begin:.0f} s")


main(sys.argv[1])
