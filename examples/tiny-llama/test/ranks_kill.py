#!/usr/bin/env python3
"""Kills ranks of tiny-llama at random points, and tests that all processes have ended soon.

Use: ranks_kill.py [--device DEV] [--count N] [--ranks 2,4] [--seed S] [--beside N] PROGRAM MPIRUN [MOVE...]
MOVE: as in --move; default mpi. Half of the ranks are stopped for a while before they are killed, so that the others wait for them in an
exchange. Some launchers are told to leave the survivors alone. The seed is printed.
"""
import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

LIMIT = 10  # seconds in which all must end
# One thread each, because ranks share cores. Open MPI refuses root and more processes than cores unless it is told.
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_hwloc_base_binding_policy="none",
                   PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe", PRTE_MCA_hwloc_default_binding_policy="none",
                   OMPI_MCA_mpi_yield_when_idle="1")


def tolerance(mpirun):
    """What makes a launcher leave the other ranks alone when one has ended."""
    version = subprocess.run([mpirun, "--version"], capture_output=True, text=True).stdout
    if "Open MPI" not in version:
        return ["-disable-auto-cleanup"]
    return ["--mca", "orte_enable_recovery", "1"] if ") 4." in version or ") 3." in version else ["--enable-recovery"]


def said(text):
    return [line for line in text.splitlines() if line.startswith("tiny-llama:")]


def children(program, process):
    """The ranks below mpirun, which MPICH starts through a process of its own."""
    parents, ranks = {}, []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit():
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if (entry / "exe").resolve().name == pathlib.Path(program).name:
                    ranks.append(int(entry.name))
        except OSError:
            continue

    def below(rank):
        while rank in parents and rank != process:
            rank = parents[rank]
        return rank == process
    return [rank for rank in ranks if below(rank)]


def watches(process):
    """How many processes does it watch?"""
    try:
        return sum(os.readlink(entry) == "anon_inode:[pidfd]" for entry in pathlib.Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return 0


def alive(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def kill_one(program, mpirun, device, moves, counts, seed, number, tolerant):
    """(name, seconds until all had ended, what is wrong or None)"""
    generator = random.Random(seed * 7919 + number)
    gpu = device != "host"
    ranks, delay, move = generator.choice(counts), generator.uniform(0, 3 if gpu else 1.2), generator.choice(moves)
    # An exchange that waits for ever, of the stand-in; a rank for which the others wait.
    silent, held = generator.random() < 0.5, number % 2 == 1
    recovering = number % 4 == 3
    # Either goes on for long after the kill.
    work = ["--preset", "train", *generator.choice((["--input", "4x256", "--repeats", 10000], ["--input", "2x8", "--generate", 2000]))]
    command = [mpirun, *(tolerant if recovering else []), "-n", str(ranks), program, "--ranks", f"tp={ranks}", "--device", device, *map(str, work), "--move", move]
    environment = dict(ENVIRONMENT, **({"TANDEM_STANDIN_SILENT": "1"} if silent else {}))
    name = (f"kill {number}: {ranks} ranks, {move[:4]}, {work[4][2:]}, {delay:.2f} s{', stopped before' if held else ''}"
            f"{', launcher tolerates' if recovering else ''}{', silent' if silent else ''}")
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        end = time.monotonic() + 30
        while len(found := children(program, process.pid)) < ranks and time.monotonic() < end:
            time.sleep(0.02)
        # Before a watch begins, in MPI_Init, only the launcher can end a rank that waits for another; Open MPI 4.1's mpirun then
        # waits for ever itself, once in sixty kills, although all ranks have ended.
        while not all(watches(rank) >= ranks - 1 for rank in found) and time.monotonic() < end:
            time.sleep(0.02)
        if len(found) < ranks or process.poll() is not None:
            process.kill()
            process.wait()
            errors.seek(0)
            return name, 0, f"only {len(found)} ranks began: {errors.read()[-500:]}"
        time.sleep(delay)
        over = process.poll() is not None
        victim = generator.choice(found)
        try:
            if held:
                os.kill(victim, signal.SIGSTOP)
                time.sleep(0.3)
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            over = True
        start = time.monotonic()
        while (any(map(alive, found)) or process.poll() is None) and time.monotonic() < start + LIMIT + 5:
            time.sleep(0.02)
        seconds = time.monotonic() - start
        left = [rank for rank in found if alive(rank)] + ([process.pid] if process.poll() is None else [])
        for rank in left:
            os.kill(rank, signal.SIGKILL)
        process.wait()
        errors.seek(0)
        lines = said(errors.read())
    if over:
        return name, 0, f"had ended before the kill: {lines}"
    if left or seconds > LIMIT or (process.returncode == 0 and not recovering) or len(lines) > ranks - 1:
        return name, seconds, f"{seconds:.1f} s, {len(left)} left, exit {process.returncode}, {lines}"
    return name, seconds, None


def check_kills(program, mpirun, device, moves, counts, seed, count, beside, failures, verbose=False):
    tolerant = tolerance(mpirun)
    with ThreadPoolExecutor(beside) as pool:
        results = list(pool.map(lambda i: kill_one(program, mpirun, device, moves, counts, seed, i, tolerant), range(count)))
    for name, seconds, wrong in results:
        if verbose:
            print(f"{name}: {wrong or f'all ended within {seconds:.1f} s'}")
        if wrong is not None:
            failures.append(f"{name}: {wrong}")
    good = [seconds for _, seconds, wrong in results if wrong is None]
    print(f"{len(good)} of {count} kills: all ended within {max(good, default=0):.1f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="host")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    parser.add_argument("--beside", type=int, default=3)
    parser.add_argument("program")
    parser.add_argument("mpirun")
    parser.add_argument("moves", nargs="*", default=["mpi"])
    arguments = parser.parse_args()
    failures = []
    print(f"seed {arguments.seed}")
    check_kills(arguments.program, arguments.mpirun, arguments.device, arguments.moves or ["mpi"], [int(n) for n in arguments.ranks.split(",")],
                arguments.seed, arguments.count, arguments.beside, failures, True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
