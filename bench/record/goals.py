"""Predicted clocks of the HIP kernels, held against goals. goals.sh runs it, and its head explains the goals.
Use: goals.py BUILD CHIP [GOAL [CASE ...]]"""
import concurrent.futures
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from predict import RATES, one_xcd, predict, share_text

LAYOUTS = ["nt", "nn", "tn", "tt"]
MULTIPLE = 128  # of the next divided size: the lines of the tiles that such products take
# Prefill on one XCD: a workgroup of 256 queries for each of its compute units
PREFILL = {"gfx950": "4x8x1x1024x1024x", "gfx942": "1x38x2x1024x1024x"}
CASES = {
    "layouts": ["1024x1024x1024", "1024x1024x2048", "1536x1536x1536", "2048x512x1024", "1024x4096x1024"],
    "sizes": ["1000x1000x1000", "1500x1100x3000", "2000x2000x2000"],
    "between_dwords": ["128x128x128", "512x512x512", "1024x1024x1024", "1000x1400x1200", "2048x2048x2048", "1x160x4096"],
    "odd_rows": ["512x512x512", "1024x1024x1024", "1500x1100x3000", "2048x2048x2048"],
    "gemm_decode": [f"{m}x{weights}" for weights in ("14336x4096", "4096x14336", "4096x4096") for m in (1, 16, 128)],
    "attention_decode": ["8x64x8x1x4096x128", "2x32x32x1x4096x128", "8x48x6x1x4096x96", "64x71x1x1x8192x64", "64x71x1x1x4096x64"],
    "head_dims": ["64", "72", "80", "96", "104", "136", "160", "192", "200", "256"],
}
FORM = {"attention_decode": r"\d+(x\d+){5}", "head_dims": r"\d+"}  # the others: MxNxK


class Predictor:
    """Predicts each case once, several at a time."""

    def __init__(self, build, chip):
        self.build, self.chip = build, chip
        self.pool, self.futures = concurrent.futures.ThreadPoolExecutor(os.cpu_count()), {}

    def start(self, op, shape, options="", device=None):
        key = device or f"sim:{self.chip}", op, shape, "--dtype", "bf16", *options.split()
        if key not in self.futures:
            self.futures[key] = self.pool.submit(predict, self.build, *key)
        return self.futures[key]


def gemm(predictor, shape, layout, more=""):
    return predictor.start("gemm", shape, f"--layout {layout} {more}".strip())


def sizes_of(shape):
    return [int(n) for n in shape.split("x")]


def text_of(row):
    """The clocks of the case's launches: what each takes, if there are several."""
    return " + ".join(f"{launch['time']['clocks']:.0f}" for launch in row["launches"])


def clocks(future):
    return future.result()["clocks_predicted"]


class Table:
    """A goal's table: a case is a row of figures, of which those that miss the goal are bold."""

    def __init__(self, columns):
        self.met, self.all = 0, 0
        print("| case | " + " | ".join(columns) + " |")
        print("|---|" + "---:|" * len(columns))

    def judge(self, figure, meets):
        self.met, self.all = self.met + meets, self.all + 1
        return figure if meets else f"**{figure}**"

    def at_least(self, value, goal):
        return self.judge(share_text(value, goal), value >= goal)

    def at_most(self, percent, goal):
        return self.judge(f"{percent:.1f} %", percent <= goal)

    def row(self, case, *figures):
        print(f"| {case} | " + " | ".join(figures) + " |", flush=True)

    def end(self, goal):
        print(f"\n{self.met} of {self.all} figures meet the goal: {goal}.\n", flush=True)


def layouts(p, cases):
    """The layouts of the operands: nn, tn and tt beside nt."""
    runs = {case: [gemm(p, case, layout) for layout in LAYOUTS] for case in cases}
    table = Table(LAYOUTS + [f"{layout} takes more" for layout in LAYOUTS[1:]])
    for case, of_case in runs.items():
        nt, *others = map(clocks, of_case)
        table.row(case, *(text_of(run.result()) for run in of_case), *(table.at_most(100 * (other / nt - 1), 5) for other in others))
    table.end("at most 5 % more than nt")


def sizes(p, cases):
    """Sizes that no tile divides."""
    runs = {case: (gemm(p, case.split()[0], case.split()[1]), gemm(p, divided(case.split()[0]), case.split()[1]))
            for case in [f"{case} {layout}" for case in cases for layout in LAYOUTS]}
    table = Table(["clocks", "divided", "clocks", "takes more"])
    for case, (own, other) in runs.items():
        table.row(case, text_of(own.result()), divided(case.split()[0]), text_of(other.result()),
                  table.at_most(100 * (clocks(own) / clocks(other) - 1), 10))
    table.end("at most 10 % more than the next divided size")


def divided(shape):
    return "x".join(str(-(-n // MULTIPLE) * MULTIPLE) for n in sizes_of(shape))


def beside_aligned(p, cases, options_of):
    runs = {f"{case} {layout}": (gemm(p, case, layout), gemm(p, case, layout, options_of(case, layout)))
            for case in cases for layout in LAYOUTS}
    table = Table(["aligned", "kernel", "so", "kernel", "share"])
    for case, (aligned, odd) in runs.items():
        a, b = aligned.result(), odd.result()
        table.row(case, text_of(a), f"`{a['kernel']}`", text_of(b), f"`{b['kernel']}`",
                  table.at_least(a["clocks_predicted"] / b["clocks_predicted"], 0.7))
    table.end("0.7 of the aligned rate")


def between_dwords(p, cases):
    """Arrays that begin between dwords: all of them one element later (`--set shift=1`)."""
    beside_aligned(p, cases, lambda case, layout: "--set shift=1")


def one_longer(case, layout):
    m, n, k = sizes_of(case)
    return f"--set lda={(k if layout[0] == 'n' else m) + 1},ldb={(n if layout[1] == 'n' else k) + 1},ldc={n + 1}"


def odd_rows(p, cases):
    """Odd leading dimensions: each row of a, b and c is one element longer than its elements (`--set lda=,ldb=,ldc=`)."""
    beside_aligned(p, cases, one_longer)


def beside_memory(p, runs):
    rate, source, ghz = RATES[p.chip]
    print(f"The rate of memory is {rate} GB/s ({source}), at {ghz} GHz.\n")
    table = Table(["kernel", "clocks", "clocks of the bytes", "share"])
    for case, (run, size) in runs.items():
        need, row = size / rate * ghz, run.result()
        table.row(case, f"`{row['kernel']}`", text_of(row), f"{need:.0f}", table.at_least(need / row["clocks_predicted"], 0.7))
    table.end("0.7 of the rate of memory")


def gemm_decode(p, cases):
    """Decode by gemm, bytes of B alone."""
    beside_memory(p, {f"{case} {layout}": (gemm(p, case, layout), 2 * sizes_of(case)[1] * sizes_of(case)[2])
                      for case in cases for layout in ("nt", "nn")})


def attention_decode(p, cases):
    """Decode by attention, bytes of keys and values alone."""
    runs = {}
    for case in cases:
        batch, _, heads, _, keys, head_dim = sizes_of(case)
        runs[case] = p.start("attention", case), 2 * 2 * batch * heads * keys * head_dim
    beside_memory(p, runs)


def head_dims(p, cases):
    """Head_dims of a prefill, on one XCD with its share of HBM."""
    device, shape = one_xcd(p.build, p.chip), PREFILL[p.chip]
    print(f"{shape}D.\n")
    runs = {int(case): p.start("attention", shape + case, "--warm", device) for case in ["128"] + cases}
    table = Table(["kernel", "clocks", "of 128's rate"])
    for head_dim, run in runs.items():
        row = run.result()
        table.row(head_dim, f"`{row['kernel']}`", text_of(row),
                  table.at_least(clocks(runs[128]) / row["clocks_predicted"] * head_dim / 128, 0.6))
    table.end("0.6 of the FLOP rate of head_dim 128")


GOALS = {function.__name__: function
         for function in (layouts, sizes, between_dwords, odd_rows, gemm_decode, attention_decode, head_dims)}


def main():
    build, chip, *rest = sys.argv[1:]
    goal, cases = (rest[0] if rest else None), rest[1:]
    if goal and goal not in GOALS:
        sys.exit(f"goals.py: GOAL = '{goal}': must be one of {', '.join(GOALS)}")
    for case in cases:
        if not re.fullmatch(FORM.get(goal, r"\d+x\d+x\d+"), case):
            sys.exit(f"goals.py: CASE = '{case}': {goal} needs {FORM.get(goal, 'MxNxK')}")
    predictor = Predictor(build, chip)
    try:
        for name in [goal] if goal else GOALS:
            print(f"**{name}.** {GOALS[name].__doc__}\n")
            GOALS[name](predictor, cases or CASES[name])
    except RuntimeError as error:
        predictor.pool.shutdown(cancel_futures=True)
        sys.exit(f"goals.py: {error}")


if __name__ == "__main__":
    main()
