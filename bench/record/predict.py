"""Predicted clocks of one case, by tandem-bench, and the rates of memory that they are held against. goals.py and rows.py share it."""
import json
import os
import subprocess
import tempfile

# GB/s of the fastest published memory-bound kernel, its source, and GHz.
RATES = {
    "gfx950": (6442, "ROCm/gfx950-gluon-tutorials, kernels/memory_bound/gemm: f16, 32 x 65536 x 8192, cold", 2.4),
    "gfx942": (4177, "ROCm/system-acceptance-docs, MI300X: BabelStream, copy", 2.1),
}
XCDS = 8  # of both chips


def predict(build, device, op, shape, *options):
    """The bench's row of the case, of which all rounds of workgroups are executed."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "row.json")
        command = [f"{build}/bench/tandem-bench", op, shape, *options, "--device", device, "--time", "--rounds", "0",
                   "--workgroups", "1", "--check-time", "0.001", "--json", path]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        with open(path, encoding="utf-8") as file:
            [row] = json.load(file)["rows"]
    if not row.get("clocks_predicted"):
        raise RuntimeError(f"{' '.join(command)}: no predicted clocks: {row['reason']}")
    return row


def one_xcd(build, chip):
    """The device that is one XCD of the chip and its share of memory, at the published rate: a share below 1 is the kernel's."""
    text = subprocess.run([f"{build}/sim/gfxsim", "time", "--parameters"], capture_output=True, text=True, check=True).stdout
    [line] = [line for line in text.splitlines() if line.startswith("hbm_share ")]  # what the model gives a kernel of HBM's peak
    share = float(line.split()[1 if chip == "gfx942" else 2])
    return f"sim:{chip},xcds=1,hbm_gbs={RATES[chip][0] / XCDS / share:.0f}"


def share_text(share, goal):
    """With as many digits as it takes to see on which side of the goal it is."""
    return f"{share:.2f}" if share >= goal or share < goal - 0.005 else f"{share:.3f}"
