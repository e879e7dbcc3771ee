#!/usr/bin/env python3
"""Has the compiler of a build folder check every C file for errors and warnings, without generating code, which takes half as
long as a build at -O0. Headers that the build generates are made first. Use: syntax.py BUILD
The last line says how many files there are; the exit status is 1 if one of them has an error, or a warning with -Dwerror=true."""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

WITH_VALUE = {"-o", "-MF", "-MQ"}
ALONE = {"-c", "-MD"}


def check(entry):
    """The compiler's messages, or "" if it accepts the file."""
    words = iter(shlex.split(entry["command"]))
    command = []
    for word in words:
        if word in WITH_VALUE:
            next(words)
        elif word not in ALONE:
            command.append(word)
    done = subprocess.run([*command, "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr or f"{entry['file']}: exit status {done.returncode}\n"


def main():
    if len(sys.argv) != 2 or not os.path.isfile(os.path.join(sys.argv[1], "compile_commands.json")):
        sys.exit("syntax: use: syntax.py BUILD, a folder that Meson has set up")
    build = sys.argv[1]
    targets = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True, capture_output=True, text=True).stdout
    outputs = (line.split(": ")[0] for line in targets.splitlines() if line.endswith(": CUSTOM_COMMAND"))
    generated = [name for name in outputs if name.endswith((".h", ".def", ".inc"))]
    if generated:
        subprocess.run(["ninja", "-C", build, *generated], check=True)
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = [entry for entry in json.load(file) if entry["file"].endswith(".c")]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for said in pool.map(check, entries):
            failed += said != ""
            print(said, end="")
    print(f"syntax: {len(entries)} C files, {failed} with errors or warnings")
    return failed > 0 or not entries


if __name__ == "__main__":
    sys.exit(main())
