"""The tables of a folder that bench/amd.sh made, as Markdown on standard output. Usage: amd_report.py FOLDER

Figures that a step did not leave are printed as "-", and counted at the end of a table.
"""
import collections
import csv
import glob
import json
import math
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "guide"))
import rocm_names  # noqa: E402

USUAL = {"--dtype": "f32", "--layout": "nn", "--epilogue": "none"}


def key(line):
    """A case's line, in whichever order its words are, and without those that say what is usual."""
    words, options, settings, shape = line.split(), {}, set(), ""
    at = 1
    while at < len(words):
        if words[at] == "--set":
            settings |= set(words[at + 1].split(","))
        elif words[at].startswith("--"):
            options[words[at]] = words[at + 1]
        else:
            shape, at = words[at], at - 1
        at += 2
    options = {name: value for name, value in options.items() if USUAL.get(name) != value and (name, value) != ("--seed", "0")}
    return words[0], shape, tuple(sorted(options.items())), tuple(sorted(settings - {"fill=real"}))


def lines(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip()]


def rows(folder, pattern):
    """The rows of runs, finished or not, by their cases."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, pattern))):
        with open(path, encoding="utf-8") as file:
            for row in json.load(file)["rows"]:
                found[key(row["case"])] = row
    for path in sorted(glob.glob(os.path.join(folder, pattern + ".part"))):
        with open(path, encoding="utf-8") as file:
            for line in file:
                try:
                    row = json.loads(line)
                except ValueError:  # what a killed program had begun to write
                    continue
                if "case" in row:
                    found[key(row["case"])] = row
    return found


def table_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def xcds(folder):
    """Of the device: GRBM_GUI_ACTIVE is the sum of theirs. In the mode SPX both chips have 8."""
    return int(lines(folder, "xcds")[0])


def kernel_of(line):
    return line.get("Kernel_Name", "").strip('"').removesuffix(".kd")


def kernels_of(path):
    """A run's launches by a trace, without a prediction that names them: every kernel of ours, and those that ran n times as often as the
    rarest n times. Copies and fills of the runtime have names of its own."""
    counts = collections.Counter(kernel_of(line) for line in table_of(path))
    ours = {kernel: count for kernel, count in counts.items() if not kernel.startswith("__amd_rocclr")}
    return [kernel for kernel, count in ours.items() for _ in range(round(count / min(ours.values())))]


def by_launch(kernels, values):
    """The sum over a run's launches of the median of their kernels' values; None: one of them has none."""
    if not kernels or any(not values.get(kernel) for kernel in kernels):
        return None
    return sum(statistics.median(values[kernel]) for kernel in kernels)


def traced(path, kernels):
    """Microseconds that the GPU took for a run."""
    values = {}
    for line in table_of(path):
        values.setdefault(kernel_of(line), []).append((int(line["End_Timestamp"]) - int(line["Start_Timestamp"])) / 1e3)
    return by_launch(kernels, values)


def counted(path, name, kernel):
    """A counter's values of a kernel's launches, in their order."""
    return [float(line["Counter_Value"]) for line in table_of(path) if line["Counter_Name"] == name and kernel_of(line) == kernel]


def clocks(path, kernels, parts):
    found = by_launch(kernels, {kernel: counted(path, "GRBM_GUI_ACTIVE", kernel) for kernel in kernels})
    return None if found is None else found / parts


def number(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def median_us(row):
    seconds = (row or {}).get("seconds", {}).get("median", 0)
    return 1e6 * seconds if row and row.get("outcome") == "ok" and seconds > 0 else None


def quotients(title, found):
    if not found:
        return f"- {title}: none"
    mean = math.exp(statistics.fmean(math.log(x) for x in found))
    off = sorted(100 * abs(x - 1) for x in found)
    return f"- {title}: {len(found)} cases, geometric mean {mean:.2f}, median {statistics.median(off):.1f} % off, worst {off[-1]:.1f} %"


def show_times(folder, cases):
    measured, predicted, omp = (rows(folder, pattern) for pattern in ("measured.json", "predicted-*.json", "omp.json"))
    peers = {peer: rows(folder, f"{peer}.json") for peer in ("pytorch", "hipblaslt", "rocblas")}
    parts = xcds(folder)
    print("## Measured beside predicted\n\nMeasured: a call and a synchronise; the GPU alone, by rocprofv3; its clocks, by `GRBM_GUI_ACTIVE` "
          f"over {parts} XCDs, and clocks by time as MHz (of two runs). "
          "Predicted: by gfxsim's model of time, with a warm memory-side cache, of the same code object. Peers: their time of the same call.\n")
    print("| case | kernel | call us | GPU us | predicted us | GPU/predicted | GPU clocks | MHz | predicted | measured/predicted | ideal/measured "
          "| PyTorch us | hipBLASLt us | rocBLAS us | OpenMP us |")
    print("|---|---|" + "---:|" * 13)
    times, ratios, paths, rates, missing = [], [], [], [], 0
    for index, line in enumerate(cases, 1):
        case = key(line)
        own, guess = measured.get(case), predicted.get(case)
        trace, clock = (os.path.join(folder, name, f"{index:03}.csv") for name in ("trace", "clocks"))
        kernels = [launch["kernel"] for launch in (guess or {}).get("launches", [])] or kernels_of(trace) or kernels_of(clock)
        call, gpu, ran = median_us(own), traced(trace, kernels), clocks(clock, kernels, parts)
        rate = ran / gpu if ran and gpu else None
        us = 1e6 * guess["seconds_predicted"] if guess and guess.get("seconds_predicted") else None
        least = guess["clocks_predicted"] if guess and guess.get("clocks_predicted") else None
        other = median_us(omp.get(case))
        cells = [call, gpu, us, gpu / us if gpu and us else None, ran, rate, least, ran / least if ran and least else None,
                 guess["ideal_clocks"] / ran if ran and least else None]
        cells += [median_us((peers[peer].get(case) or {}).get("peer")) for peer in peers] + [other]
        missing += sum(cell is None for cell in cells)
        times += [gpu / us] if gpu and us else []
        ratios += [ran / least] if ran and least else []
        paths += [other / call] if other and call else []
        rates += [rate] if rate else []
        digits = [1, 1, 1, 2, 0, 0, 0, 2, 2, 1, 1, 1, 1]
        outcome = "" if not own or own["outcome"] == "ok" else f" ({own['outcome'].upper()}: {own['reason'][:80]})"
        print(f"| {line}{outcome} | {(own or guess or {}).get('kernel', '-')} | " + " | ".join(map(number, cells, digits)) + " |")
    print(f"\n{missing} figures are missing.\n")
    print(quotients("the GPU's time over the predicted", times))
    print(quotients("the GPU's clocks over the predicted", ratios))
    if rates:
        print(f"- the GPU's clock: median {statistics.median(rates):.0f} MHz, {min(rates):.0f} to {max(rates):.0f}; `gpu.csv` has its power")
    if paths:
        print(f"- HIP is {math.exp(statistics.fmean(map(math.log, paths))):.1f} times as fast as OpenMP, geometric mean of {len(paths)} cases")


# gfxsim's names in rocm_names.rows, and what rocprofv3 has for them: counters that are added, and a factor.
COUNTERS = {name: ((name,), 1) for name in (
    "SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_MFMA", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_VMEM", "SQ_INSTS_LDS", "SQ_INSTS_BRANCH",
    "SQ_VALU_MFMA_BUSY_CYCLES", "SQ_LDS_IDX_ACTIVE", "SQ_LDS_BANK_CONFLICT", "TCP_TOTAL_CACHE_ACCESSES_sum", "TCP_TCC_READ_REQ_sum")}
COUNTERS["SQ_INSTS_VALU_MFMA_MOPS_* x 512"] = (tuple(f"SQ_INSTS_VALU_MFMA_MOPS_{kind}" for kind in ("BF16", "F16", "F32")), 512)
COUNTERS["FETCH_SIZE x 1024"] = (("FETCH_SIZE",), 1024)
COUNTERS["WRITE_SIZE x 1024"] = (("WRITE_SIZE",), 1024)
# Bytes read by requests of each size: what FETCH_SIZE should be, and is not in every version of rocprofv3. Requests of 128 bytes are
# TCC_BUBBLE on gfx942, and on gfx950 have a counter of their own.
READS = "TCC_EA0_RDREQ"
LONG_READS = {"gfx942": "TCC_BUBBLE_sum", "gfx950": "TCC_EA0_RDREQ_128B_sum"}


def collected(folder, index, names, kernel):
    """The first launch's, whose caches are the coldest; and whether later ones differ."""
    values = []
    for name in names:
        found = [x for path in sorted(glob.glob(os.path.join(folder, "counters", f"{index:03}-*.csv"))) for x in counted(path, name, kernel)]
        if not found:
            return None, False
        values.append(found)
    return sum(x[0] for x in values), any(len(set(x)) > 1 for x in values)


def bytes_read(folder, index, chip, kernel):
    """By the requests: 128, 32, and else 64 bytes each."""
    found = [collected(folder, index, (name,), kernel) for name in (READS + "_sum", READS + "_32B_sum", LONG_READS[chip])]
    if any(value is None for value, _ in found):
        return None, False
    (every, _), (short, _), (long, _) = found
    return 64 * every - 32 * short + 64 * long, any(varied for _, varied in found)


def counter_rows(folder, index, chip, launch):
    """Name, what rocprofv3 counted, whether that varies, and gfxsim's count."""
    for name, count in rocm_names.rows(launch):
        if name not in COUNTERS:
            continue
        names, factor = COUNTERS[name]
        real, varied = collected(folder, index, names, launch["kernel"])
        yield name, None if real is None else real * factor, varied, count
        if name.startswith("FETCH_SIZE"):
            yield ("bytes by read requests", *bytes_read(folder, index, chip, launch["kernel"]), count)


def show_raw(folder, index, line):
    """The counters alone: gfxsim counted nothing."""
    shown = 0
    for path in sorted(glob.glob(os.path.join(folder, "counters", f"{index:03}-*.csv"))):
        first = {}
        for entry in table_of(path):
            first.setdefault((kernel_of(entry), entry["Counter_Name"]), entry["Counter_Value"])
        for (kernel, name), value in first.items():
            if not kernel.startswith("__amd_rocclr"):
                print(f"| {line} | {kernel} | {name} | {float(value):.0f} | - | - |")
                shown += 1
    return shown


def show_counters(folder, cases):
    print("\n## Counters beside gfxsim's counts\n\nThe first launch of each kernel, by rocprofv3; gfxsim counts with empty caches. "
          "`SQ_INSTS_*` and `SQ_WAVES` should be equal ([page 14 of the guide](../docs/guide/14-profiling.md)).\n")
    print("| case | kernel | counter | rocprofv3 | gfxsim | rocprofv3/gfxsim |\n|---|---|---|---:|---:|---:|")
    equal = different = missing = 0
    chip = lines(folder, "chip")[0]
    for index, line in enumerate(cases, 1):
        path = os.path.join(folder, "counts", f"{index:03}.json")
        if not os.path.exists(path):
            if not show_raw(folder, index, line):
                print(f"| {line} | - | no counters | - | - | - |")
            missing += len(COUNTERS)
            continue
        with open(path, encoding="utf-8") as file:
            launches = json.load(file)["rows"][0].get("launches", [])
        for launch in launches:
            for name, real, varied, count in counter_rows(folder, index, chip, launch):
                known = isinstance(count, (int, float))
                missing += real is None
                if real is not None and known:
                    equal, different = (equal + 1, different) if real == count else (equal, different + 1)
                ratio = f"{real / count:.3f}" if real is not None and known and count else "-"
                shown = "-" if real is None else f"{real:.0f}{' (varies)' if varied else ''}"
                print(f"| {line} | {launch['kernel']} | {name} | {shown} | {count} | {ratio} |")
    print(f"\n{equal} figures are equal, {different} differ, {missing} are missing.")


def main():
    folder = sys.argv[1]
    show_times(folder, lines(folder, "cases.txt"))
    show_counters(folder, lines(folder, "counted.txt"))


if __name__ == "__main__":
    main()
