"""Stands in for a GPU and its tools in the rehearsal of bench/amd.sh (test_amd.sh): amd_stub.py run PROGRAM ARGUMENT..., and
amd_stub.py rocprofv3 ARGUMENT...

The programs run through gfxsim's entry libraries: `run` starts them with `gfxsim exec`, so that every call of HIP is executed. What no
simulator has is made up here: times (the predicted ones times 1.2), the peer's times, and what rocprofv3 writes (times and clocks from
predictions, counters from gfxsim's counts, SQ_INSTS_SALU one more). In the environment: STUB_GFXSIM, STUB_CHIP; STUB_FAIL: tandem-check fails;
STUB_SLEEP: rocprofv3 sleeps.
"""
import csv
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(SOURCE, "bench", "record"))
import amd_report  # noqa: E402

CHIP = os.environ["STUB_CHIP"]


def seconds_of(median):
    return {"best": median, "p10": median, "median": median, "p90": median, "samples": 5, "runs_per_sample": 1}


def run(program, *arguments):
    arguments, peer = list(arguments), None
    if program.endswith("tandem-check") and os.environ.get("STUB_FAIL"):
        print("1 passed, 1 failed, 0 skipped")
        return 1
    if "--peer" in arguments:
        at = arguments.index("--peer")
        peer = arguments[at + 1]
        del arguments[at:at + 2]
    command = [os.environ["STUB_GFXSIM"], "exec", "--chip", CHIP, "--no-check", "all", program, *arguments]
    code = subprocess.run(command, check=False).returncode
    if "--shapes" not in arguments:
        return code
    path = arguments[arguments.index("--json") + 1]
    with open(path, encoding="utf-8") as file:
        run_of = json.load(file)
    for row in run_of["rows"]:
        row["seconds"] = seconds_of(1.2 * row.pop("seconds_predicted"))
        if peer:
            row["peer"] = {"name": "a stand-in", "way": peer, "outcome": "ok", "reason": "", "seconds": seconds_of(1.5 * row["seconds"]["median"])}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(run_of, file)
    return code


def counters_of(launch):
    found = {"GRBM_GUI_ACTIVE": 1.05 * amd_report.XCDS * launch["time"]["clocks"]}
    for name, count in amd_report.rocm_names.rows(launch):
        if name in amd_report.COUNTERS:
            names, factor = amd_report.COUNTERS[name]
            found |= {other: 0 for other in names}
            found[names[0]] = count / factor if isinstance(count, (int, float)) else 0
    found["SQ_INSTS_SALU"] += 1
    return found


def profile(*arguments):
    print("rocprofv3 of", os.getcwd(), "on", socket.gethostname(), "GPU-0123456789abcdef", os.environ.get("HOME"))
    if os.environ.get("STUB_SLEEP"):
        time.sleep(60)
    at = arguments.index("--")
    options, command = arguments[:at], arguments[at + 1:]
    program = next(i for i, word in enumerate(command) if word.endswith("tandem-bench"))
    words = command[program + 1:command.index("--device")]
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([command[program], *words, "--device", f"sim:{CHIP}", "--time", "--warm", "--workgroups", "1000000", "--json", file.name], check=True,
                       stdout=subprocess.DEVNULL)
        with open(file.name, encoding="utf-8") as text:
            launches = json.load(text)["rows"][0]["launches"]
    lines = []
    for turn in range(3):
        for launch in launches:
            line = {"Kernel_Name": launch["kernel"] + ".kd", "Start_Timestamp": 1000, "End_Timestamp": 1000 + int(1100 * launch["time"]["microseconds"])}
            if "--pmc" not in options:
                lines.append(line)
                continue
            counters = counters_of(launch)
            names = options[options.index("--pmc") + 1:]
            lines += [line | {"Counter_Name": name, "Counter_Value": counters.get(name, turn)} for name in names]
    folder = os.path.join(options[options.index("-d") + 1], socket.gethostname())
    os.makedirs(folder)
    table = "counter_collection" if "--pmc" in options else "kernel_trace"
    with open(os.path.join(folder, f"run_{table}.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, lines[0].keys())
        writer.writeheader()
        writer.writerows(lines)
    return 0


if __name__ == "__main__":
    sys.exit({"run": run, "rocprofv3": profile}[sys.argv[1]](*sys.argv[2:]))
