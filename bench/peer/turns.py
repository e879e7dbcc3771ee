"""The turns of a peer with tandem-bench --shapes --turns (bench/shapes/run.c): a line of JSON from the bench after each case, an answer
from the peer. A bench that ends early is started again: it keeps its results, and tries the case that ended it once more."""
import json
import subprocess
import sys

MOST_STARTS, MOST_EMPTY_STARTS = 40, 8  # of the bench; those that brought no result, one after the other


def show(turn, answer):
    row = turn["row"]
    ours = f"{1e6 * row['seconds']['median']:.1f} us" if row["outcome"] == "ok" else f"{row['outcome']}: {row['reason']}"
    theirs = f"{1e6 * answer['seconds']['median']:.1f} us by {answer['way']}" if "seconds" in answer else answer["reason"]
    wrong = f"   WRONG: {answer['reason']}" if answer["outcome"] == "failed" else ""
    print(f"[{turn['number']}/{turn['of']}] {row['case']}: {ours}; peer: {theirs}{wrong}", file=sys.stderr, flush=True)


def run_bench(command, answer_of):
    """Answers one bench until it ends: (its exit status, did it come to its end, how many cases it had)."""
    rows, finished = 0, False
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            if not line.startswith("{"):  # of a command that starts the bench
                print(line, end="", file=sys.stderr)
                continue
            turn = json.loads(line)
            if "end" in turn:
                finished = True
                break
            answer = answer_of(turn)
            show(turn, answer)
            rows += 1
            try:
                child.stdin.write(json.dumps(answer) + "\n")
                child.stdin.flush()
            except BrokenPipeError:  # it ended while the peer was measured
                break
    return child.returncode, finished, rows


def take_turns(name, command, answer_of):
    """Runs the bench to its end; returns the exit status of the peer's program, whose name it is."""
    empty = 0
    for start in range(1, MOST_STARTS + 1):
        status, finished, rows = run_bench([*command, "--turns"], answer_of)
        if finished or status == 2:  # bad usage
            return status
        empty = empty + 1 if rows == 0 else 0
        print(f"{name}: the bench ended early, with status {status}, at start {start}", file=sys.stderr)
        if empty == MOST_EMPTY_STARTS:
            break
    print(f"{name}: the bench ended early too often", file=sys.stderr)
    return 1
