"""How many times faster the HIP path is than the OpenMP path of the same simulated chip, by counts and by predicted clocks: a table on
stdout, and the cases' JSON in one file.
Use: sides.py OUT.json FILE.json ...    each FILE: of tandem-bench --device omp:0,hip:0 --time under gfxsim exec, as sides.sh runs it"""
import json
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replace import replacing

OPS = ["add", "embedding", "silu_mul", "rmsnorm", "softmax", "rope", "cross_entropy", "gemm", "swiglu", "attention"]


def op_of(row):
    return row["case"].split()[0]


def label(row):
    """The case without what is the same for all."""
    return row["case"].replace("--dtype ", "").replace("--set fill=real ", "").replace("fill=real,", "").replace("--seed 0 ", "")


def instructions(row):
    return sum(count for launch in row["launches"] for count in launch["classes"].values())


def pairs_of(paths):
    """The cases in the order of the files: [(OpenMP's row, HIP's row)]."""
    pairs = []
    for path in paths:
        sides = {}
        for row in json.load(open(path))["rows"]:
            if row["device"] == "host":
                continue
            if row["outcome"] != "ok":
                sys.exit(f"sides.py: {path}: {row['case']} on {row['device']}: {row['outcome']}: {row['reason']}")
            if not row.get("clocks_predicted"):
                sys.exit(f"sides.py: {path}: {row['case']} on {row['device']}: no predicted clocks: {row['reason']}")
            sides.setdefault(row["case"], {})[row["device"]] = row
        for case, both in sides.items():
            if sorted(both) != ["hip:0", "omp:0"]:
                sys.exit(f"sides.py: {path}: {case}: needs omp:0 and hip:0, has {' and '.join(sorted(both))}")
            pairs.append((both["omp:0"], both["hip:0"]))
    if not pairs:
        sys.exit("sides.py: no case")
    return pairs


def errors_of(row):
    """Of clocks, in percent: the median and the worst, of published figures that the model had not seen."""
    return row["launches"][0]["time"]["percent_off_on_set_p"]["clocks"]


def ratios(omp, hip):
    """By executed instructions, by the longest pipe's clocks, and by predicted clocks."""
    return (instructions(omp) / instructions(hip), omp["clocks_at_least"] / hip["clocks_at_least"],
            omp["clocks_predicted"] / hip["clocks_predicted"])


def verdict(times, worst):
    """A difference counts if it is above the model's worst error."""
    limit = 1 + worst / 100
    return "HIP" if times > limit else "OpenMP" if times < 1 / limit else "no difference"


def mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def main(out, paths):
    pairs = pairs_of(paths)
    missing = [op for op in OPS if op not in {op_of(omp) for omp, _ in pairs}]
    error = errors_of(pairs[0][1])
    with replacing(out) as file:
        json.dump([dict(case=omp["case"], omp=omp, hip=hip) for omp, hip in pairs], file, indent=1)
        file.write("\n")
    print("| case | OpenMP | HIP | OpenMP, predicted clocks | HIP, predicted clocks | times fewer instructions | times fewer clocks at least | "
          "times faster, predicted | ahead |")
    print("|---|---|---|---:|---:|---:|---:|---:|---|")
    for omp, hip in pairs:
        by = ratios(omp, hip)
        print(f"| {label(omp)} | {omp['kernel']} | {hip['kernel']} | {omp['clocks_predicted']:.0f} | {hip['clocks_predicted']:.0f} | "
              f"{by[0]:.2f} | {by[1]:.2f} | {by[2]:.2f} | {verdict(by[2], error['worst'])} |")
    print()
    print("Geometric means of each op:")
    print()
    print("| op | cases | times fewer instructions | times fewer clocks at least | times faster, predicted |")
    print("|---|---:|---:|---:|---:|")
    for op in OPS:
        of = [ratios(omp, hip) for omp, hip in pairs if op_of(omp) == op]
        if of:
            means = [mean([r[k] for r in of]) for k in range(3)]
            print(f"| {op} | {len(of)} | {means[0]:.2f} | {means[1]:.2f} | {means[2]:.2f} |")
    if missing:
        print(f"\nNot run: {', '.join(missing)}.")
    print(f"\nNothing here was measured. The model's clocks were off by {error['median']:.1f} % in the median and by {error['worst']:.1f} % at worst, of "
          f"{error['figures']} published figures that it had not seen, all of them of large launches. So a ratio between "
          f"{1 / (1 + error['worst'] / 100):.2f} and {1 + error['worst'] / 100:.2f} is no difference.")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
