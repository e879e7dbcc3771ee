"""Predicted clocks of the HIP kernels of rows and elements, beside what their bytes need at a published rate. rows.sh runs it.
Use: rows.py BUILD CHIP OP[,OP...] TYPE[,TYPE...] LENGTH[,LENGTH...]"""
import json
import os
import subprocess
import sys
import tempfile

# GB/s of the fastest published memory-bound kernel, its source, and GHz.
RATES = {
    "gfx950": (6442, "ROCm/gfx950-gluon-tutorials, kernels/memory_bound/gemm: f16, 32 x 65536 x 8192, cold", 2.4),
    "gfx942": (4177, "ROCm/system-acceptance-docs, MI300X: BabelStream, copy", 2.1),
}
CUS = {"gfx950": 32, "gfx942": 38}  # of an XCD
XCDS = 8  # of both chips; one is simulated, with its share of HBM
WHOLE = 1 << 30  # bytes of a launch, as in the published kernel of gfx950
FEW = 16 << 20  # bytes of the shorter of two launches of one XCD that are predicted: it writes more than the L2 keeps
HEADS = 32
# Arrays of a row: read and written
ARRAYS = {"cross_entropy": 1, "softmax": 2, "rmsnorm": 2, "embedding": 2, "rope": 2, "rope_half": 2, "silu_mul": 3, "add": 3}


def hbm_share(build, chip):
    """The share of HBM's peak that the model gives a kernel."""
    text = subprocess.run([f"{build}/sim/gfxsim", "time", "--parameters"], capture_output=True, text=True, check=True).stdout
    [line] = [line for line in text.splitlines() if line.startswith("hbm_share ")]
    return float(line.split()[1 if chip == "gfx942" else 2])


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


def predict(bench, device, op, rows, length, kind, folder, kernel=None):
    path = os.path.join(folder, "row.json")
    command = [bench, op.removesuffix("_half"), shape(op, rows, length), "--dtype", kind, "--device", device, "--time",
               "--rounds", "0", "--check-time", "0.001", "--json", path]
    if op == "rope_half":  # pairs half a head apart
        command += ["--set", "rope=half"]
    if kernel:
        command += ["--kernel", f"{op}={kernel}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"rows.py: {' '.join(command)}\n{done.stdout}{done.stderr}")
    [row] = json.load(open(path))["rows"]
    if not row.get("clocks_predicted"):
        sys.exit(f"rows.py: {' '.join(command)}: {row['reason']}")
    if row["kernel"] == "hip_parts":  # so few rows are split over workgroups; as many as a launch of 1 GiB has are not
        return predict(bench, device, op, rows, length, kind, folder, "hip_loop")
    launches = row["launches"]
    launch = sum(l["time"]["launch_clocks"] for l in launches)
    return row["clocks_predicted"] - launch, row["bytes"], launch, row["kernel"], launches[0]["kernel"], launches[0]["bounds"]


def print_row(op, kind, length, function, clocks, need, valu):
    print(f"| {op} | {kind} | {length} | {function} | {clocks:.0f} | {need:.0f} | {need / clocks:.2f} | "
          f"{valu / need:.2f} |", flush=True)


def main():
    build, chip, ops, kinds, lengths = sys.argv[1:]
    bench, (rate, source, ghz), cus = f"{build}/bench/tandem-bench", RATES[chip], CUS[chip]
    device = f"sim:{chip},xcds=1,hbm_gbs={rate / XCDS / hbm_share(build, chip):.0f}"
    print(f"{chip}: {rate} GB/s ({source})\n")
    print("| op | type | row | function | predicted clocks | clocks at that rate | share | VALU's share |")
    print("| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for op in ops.split(","):
            for kind in kinds.split(","):
                for length in map(int, lengths.split(",")):
                    if op.startswith("rope") and length > 1024:  # a head
                        continue
                    # Of few long rows more work-items share each than of those of the large launch, which is predicted itself.
                    size = length * ARRAYS[op] * (4 if kind == "f32" else 2)
                    own = WHOLE / XCDS
                    need = own / (rate * 1e9 / XCDS) * ghz * 1e9
                    if FEW / size < 16 * cus:
                        b, bytes_b, launch, _, function, bounds = predict(bench, device, op, round(own / size), length, kind,
                                                                                     folder)
                        valu = bounds["clocks"]["VALU"] / bytes_b * own
                        print_row(op, kind, length, function, b * own / bytes_b + launch, need, valu)
                        continue
                    few = rows_of(FEW, size, cus)
                    a, bytes_a, launch, kernel, function, _ = predict(bench, device, op, few, length, kind, folder)
                    b, bytes_b, _, _, _, bounds = predict(bench, device, op, 2 * few, length, kind, folder)
                    clocks = b + (b - a) / (bytes_b - bytes_a) * (own - bytes_b)
                    print_row(op, kind, length, function, clocks + launch, need, bounds["clocks"]["VALU"] / bytes_b * own)


if __name__ == "__main__":
    main()
