"""Stands in for a GPU and its tools in the rehearsal of bench/amd.sh (test_amd.sh): amd_stub.py run PROGRAM ARGUMENT..., and
amd_stub.py rocprofv3 ARGUMENT...

The programs run through gfxsim's entry libraries: `run` starts them with `gfxsim exec`, so that every call of HIP is executed. What no
simulator has is made up here: times (the predicted ones times 1.2), the peer's times, and what rocprofv3 writes (times and clocks from
predictions, counters from gfxsim's counts, SQ_INSTS_SALU one more). In the environment: STUB_GFXSIM, STUB_BUILD; STUB_CHIP, as sim: has it;
STUB_XCDS: 8 unless given; STUB_FAIL: tandem-check fails; STUB_FATAL: texts with | between them, of which one in a case's line ends the program by
SIGABRT, as a fault of the GPU does, or lets it hang with STUB_WAY=hang; STUB_DEAD: a file that a fault makes, with which each later program hangs; STUB_SLEEP: rocprofv3 sleeps.
"""
import csv
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(SOURCE, "bench", "record"))
import amd_report  # noqa: E402

CHIP = os.environ["STUB_CHIP"]
FATAL = [text for text in os.environ.get("STUB_FATAL", "").split("|") if text]


def seconds_of(median):
    return {"best": median, "p10": median, "median": median, "p90": median, "samples": 5, "runs_per_sample": 1}


def real(program):
    """The program of the build; what bench/amd.sh was given may be another that has no simulator."""
    folder, name = os.path.split(program)
    return os.path.join(os.environ["STUB_BUILD"], os.path.basename(folder), name)


def is_fatal(case):
    return any(text in case for text in FATAL)


def meet_fault(child=None):
    """What the first wrong access of a GPU does to the process, and what a kernel without an end does."""
    sys.stdout.flush()
    if os.environ.get("STUB_DEAD"):
        with open(os.environ["STUB_DEAD"], "w", encoding="utf-8"):
            pass
    if child:
        os.killpg(child.pid, signal.SIGABRT)
        child.wait()
    if os.environ.get("STUB_WAY") == "hang":
        time.sleep(600)
    print("Memory access fault by GPU node-1", file=sys.stderr, flush=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), signal.SIGABRT)


def check_to_fault(command):
    """Runs the checker up to the fatal case, which it prints before its launch."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True) as child:
        for line in child.stdout:
            print(line, end="")
            if is_fatal(line):
                meet_fault(child)
    return child.returncode


def lines_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()
    except FileNotFoundError:  # not yet, or no longer
        return []


def time_to_fault(command):
    """Runs the bench until it begins the fatal case, which must take seconds."""
    part = command[command.index("--json") + 1] + ".part"
    before = lines_of(part)
    with subprocess.Popen(command, start_new_session=True) as child:
        while child.poll() is None:
            time.sleep(0.02)
            lines = lines_of(part)
            if len(lines) > len(before) and lines[-1].startswith('{"start"') and is_fatal(lines[-1]):
                meet_fault(child)
    return child.returncode


def run(program, *arguments):
    arguments, peer = list(arguments), None
    if program.endswith("tandem-check") and os.environ.get("STUB_FAIL"):
        print("1 passed, 1 failed, 0 skipped")
        return 1
    if os.path.exists(os.environ.get("STUB_DEAD", "")):
        time.sleep(600)
    if "--peer" in arguments:
        at = arguments.index("--peer")
        peer = arguments[at + 1]
        del arguments[at:at + 2]
    command = [os.environ["STUB_GFXSIM"], "exec", "--chip", CHIP, "--no-check", "all", real(program), *arguments]
    if FATAL and program.endswith("tandem-check"):
        code = check_to_fault(command)
    elif FATAL and "--shapes" in arguments:
        code = time_to_fault(command)
    else:
        code = subprocess.run(command, check=False).returncode
    if "--shapes" not in arguments:
        return code
    path = arguments[arguments.index("--json") + 1]
    with open(path, encoding="utf-8") as file:
        run_of = json.load(file)
    for row in run_of["rows"]:
        if "seconds_predicted" not in row:  # it ended the program
            continue
        row["seconds"] = seconds_of(1.2 * row.pop("seconds_predicted"))
        if peer:
            row["peer"] = {"name": "a stand-in", "way": peer, "outcome": "ok", "reason": "", "seconds": seconds_of(1.5 * row["seconds"]["median"])}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(run_of, file)
    return code


def counters_of(launch):
    found = {"GRBM_GUI_ACTIVE": 1.05 * int(os.environ.get("STUB_XCDS", "8")) * launch["time"]["clocks"]}
    for name, count in amd_report.rocm_names.rows(launch):
        if name in amd_report.COUNTERS:
            names, factor = amd_report.COUNTERS[name]
            found |= {other: 0 for other in names}
            found[names[0]] = count / factor if isinstance(count, (int, float)) else 0
    found["SQ_INSTS_SALU"] += 1
    # All reads are requests of 128 bytes, which an old rocprofv3 counts as 64 in FETCH_SIZE.
    fetched = 1024 * found["FETCH_SIZE"]
    found |= {"FETCH_SIZE": found["FETCH_SIZE"] / 2, amd_report.READS + "_sum": fetched / 128, amd_report.READS + "_32B_sum": 0}
    return found | {name: fetched / 128 for name in amd_report.LONG_READS.values()}


def profile(*arguments):
    if "--" not in arguments:  # --version
        print("version: 1.0.0 of a stand-in")
        return 0
    print("rocprofv3 of", os.getcwd(), "on", socket.gethostname(), "GPU-0123456789abcdef", os.environ.get("HOME"), flush=True)
    if os.environ.get("STUB_SLEEP"):
        time.sleep(60)
    at = arguments.index("--")
    options, command = arguments[:at], arguments[at + 1:]
    program = next(i for i, word in enumerate(command) if word.endswith("tandem-bench"))
    words = command[program + 1:command.index("--device")]
    if is_fatal(" ".join(words)):
        meet_fault()
    with tempfile.NamedTemporaryFile() as file:
        subprocess.run([real(command[program]), *words, "--device", f"sim:{CHIP}", "--time", "--warm", "--workgroups", "1000000", "--json", file.name],
                       check=True, stdout=subprocess.DEVNULL)
        with open(file.name, encoding="utf-8") as text:
            launches = json.load(text)["rows"][0]["launches"]
    lines = []
    for turn in range(3):
        lines.append({"Kernel_Name": "__amd_rocclr_copyBuffer.kd", "Start_Timestamp": 1000, "End_Timestamp": 9000})
        if "--pmc" in options:
            lines[-1] |= {"Counter_Name": options[options.index("--pmc") + 1], "Counter_Value": 7}
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
