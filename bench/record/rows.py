"""Predicted clocks of the HIP kernels of rows and elements, beside what their bytes need at a published rate. rows.sh runs it.
Use: rows.py BUILD CHIP OP[,OP...] TYPE[,TYPE...] LENGTH[,LENGTH...]    a line for each
     rows.py BUILD CHIP                                                 tables of the shares of all ops"""
import concurrent.futures
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from predict import RATES, XCDS, one_xcd, predict, share_text

CUS = {"gfx950": 32, "gfx942": 38}  # of an XCD
WHOLE = 1 << 30  # bytes of a launch, as in the published kernel of gfx950
FEW = 16 << 20  # bytes of the shorter of two launches of one XCD that are predicted: it writes more than the L2 keeps
HEADS, MOST_OF_HEAD = 32, 1024  # of rope
GOAL = 0.9
# Arrays of a row: read and written
ARRAYS = {"cross_entropy": 1, "softmax": 2, "rmsnorm": 2, "embedding": 2, "rope": 2, "rope_half": 2, "silu_mul": 3, "add": 3}
TABLES = {"bf16": list(ARRAYS), "f32": ["cross_entropy", "softmax", "rmsnorm", "embedding", "rope"]}
LENGTHS = [64, 66, 85, 128, 551, 1000, 1001, 4096, 5001, 20000, 50257, 131072]


def shape(op, rows, length):
    if op == "embedding":
        return f"{rows}x{max(rows, 64)}x{length}"
    if op.startswith("rope"):  # with few heads the table of angles, which all of them share, is more than they are
        return f"1x{max(1, rows // HEADS)}x{HEADS}x{length}"
    return f"{rows}x{length}"


def rows_of(total, size, cus):
    """About `total` bytes, in whole rounds of the CUs with 16 waves, or with fewer: what a tail costs is then the tail of a long
    launch."""
    each = next(waves * cus for waves in (16, 4, 1) if waves == 1 or total / size >= waves * cus)
    return max(1, round(total / size / each)) * each


def is_row(op, length):
    """Heads of rope are pairs, and not so long."""
    return not op.startswith("rope") or (length <= MOST_OF_HEAD and length % 2 == 0)


class Case:
    """What a launch of 1 GiB on the whole chip takes, and what its bytes need."""

    def __init__(self, build, device, chip, op, kind, length):
        self.build, self.device, self.op, self.kind, self.length = build, device, op, kind, length
        rate, _, ghz = RATES[chip]
        size = length * ARRAYS[op] * (4 if kind == "f32" else 2)
        own = WHOLE / XCDS
        # Of few long rows more work-items share each than of those of the large launch, which is predicted itself.
        alone = FEW / size < 16 * CUS[chip]
        rows = round(own / size) if alone else 2 * rows_of(FEW, size, CUS[chip])
        row = self.predict(rows)
        launch, self.function = self.launch_clocks(row), row["launches"][0]["kernel"]
        clocks, moved = row["clocks_predicted"] - launch, row["bytes"]
        self.valu = row["launches"][0]["bounds"]["clocks"]["VALU"] / moved * own
        if alone:
            clocks *= own / moved
        else:
            half = self.predict(rows // 2)
            of_half = half["clocks_predicted"] - self.launch_clocks(half)
            clocks += (clocks - of_half) / (moved - half["bytes"]) * (own - moved)
        self.clocks, self.need = clocks + launch, own / (rate * 1e9 / XCDS) * ghz * 1e9
        self.share = self.need / self.clocks

    def predict(self, rows, *kernel):
        half = ["--set", "rope=half"] if self.op == "rope_half" else []  # pairs half a head apart
        row = predict(self.build, self.device, self.op.removesuffix("_half"), shape(self.op, rows, self.length), "--dtype", self.kind,
                      *half, *kernel)
        if row["kernel"] == "hip_parts":  # so few rows are split over workgroups; as many as a launch of 1 GiB has are not
            return self.predict(rows, "--kernel", f"{self.op}=hip_loop")
        return row

    def launch_clocks(self, row):
        return sum(launch["time"]["launch_clocks"] for launch in row["launches"])


def print_lines(cases):
    print("| op | type | row | function | predicted clocks | clocks at that rate | share | VALU's share |")
    print("| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |")
    for case in cases:
        c = case.result()
        print(f"| {c.op} | {c.kind} | {c.length} | {c.function} | {c.clocks:.0f} | {c.need:.0f} | {c.share:.2f} | "
              f"{c.valu / c.need:.2f} |", flush=True)


def print_table(kind, cases):
    """cases: {(op, length): future}. Shares that miss the goal are bold."""
    print(f"{kind}:\n\n| op | " + " | ".join(map(str, LENGTHS)) + " |\n|---|" + "---:|" * len(LENGTHS))
    met = 0
    for op in dict.fromkeys(op for op, _ in cases):
        figures = []
        for length in LENGTHS:
            if (op, length) not in cases:
                figures.append("")
                continue
            share = cases[op, length].result().share
            met += share >= GOAL
            text = share_text(share, GOAL)
            figures.append(text if share >= GOAL else f"**{text}**")
        print(f"| {op} | " + " | ".join(figures) + " |", flush=True)
    print(f"\n{met} of {len(cases)} figures meet the goal: {GOAL} of the rate of memory.\n", flush=True)


def main():
    build, chip, *lists = sys.argv[1:]
    for name, words, allowed in zip(("OP", "TYPE"), lists, (list(ARRAYS), ["f32", "f16", "bf16"])):
        for word in words.split(","):
            if word not in allowed:
                sys.exit(f"rows.py: {name} = '{word}': must be one of {', '.join(allowed)}")
    for word in lists[2].split(",") if lists else []:
        if not re.fullmatch("[1-9][0-9]*", word):
            sys.exit(f"rows.py: LENGTH = '{word}': must be a number above 0")
    rate, source, ghz = RATES[chip]
    print(f"{chip}: {rate} GB/s ({source}), at {ghz} GHz\n")
    device, pool = one_xcd(build, chip), concurrent.futures.ThreadPoolExecutor(os.cpu_count())

    def start(op, kind, length):
        return pool.submit(Case, build, device, chip, op, kind, length)

    try:
        if lists:
            ops, kinds, lengths = (words.split(",") for words in lists)
            print_lines([start(op, kind, int(length)) for op in ops for kind in kinds for length in lengths if is_row(op, int(length))])
        else:
            tables = {kind: {(op, length): start(op, kind, length) for op in ops for length in LENGTHS if is_row(op, length)}
                      for kind, ops in TABLES.items()}
            for kind, cases in tables.items():
                print_table(kind, cases)
    except RuntimeError as error:
        pool.shutdown(cancel_futures=True)
        sys.exit(f"rows.py: {error}")


if __name__ == "__main__":
    main()
