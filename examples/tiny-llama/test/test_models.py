#!/usr/bin/env python3
"""tiny-llama beside Hugging Face's logits (test/models, made by fixtures.py), on each device that is named: all versions, all
models, the cache, and 16-bit weights and activations.

Use: test_models.py PROGRAM DEVICE...
"""
import array
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MODELS = pathlib.Path(__file__).parent / "models"
# Largest |difference| over the largest |logit|. f32: sums in another order. 16 bits: each activation is rounded, to 8 or 11 bits.
BOUNDS = {"f32": 1e-4, "f16": 1e-2, "bf16": 6e-2}
# Threads that spin in waiting would disturb the tests beside this one.
ENVIRONMENT = dict(os.environ, OMP_WAIT_POLICY="passive")
failures = []


def read(path):
    values = array.array("f")
    values.frombytes(path.read_bytes())
    return values


def check(program, model, device, dtype, options, expected):
    with tempfile.TemporaryDirectory() as folder:
        got = pathlib.Path(folder) / "logits"
        command = [program, "--model", MODELS / model, "--device", device, "--dtype", dtype, "--repeats", "1", "--logits", got, *options]
        command = [str(word) for word in command]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
        if result.returncode != 0:
            failures.append(f"{' '.join(command)}: exit {result.returncode}: {result.stderr.strip()}")
            return 0
        got = read(got)
    if len(got) != len(expected):
        failures.append(f"{' '.join(command)}: {len(got)} logits, not {len(expected)}")
        return 0
    error = max(abs(a - b) if math.isfinite(a) else math.inf for a, b in zip(got, expected)) / max(map(abs, expected))
    if not error <= BOUNDS[dtype]:
        failures.append(f"{' '.join(command)}: error {error:.2e}, allowed {BOUNDS[dtype]:.0e}")
    return error


def check_loss(program, model, device, seq, ids, expected):
    """Windows of seq tokens of the first sequence: the mean loss, from Hugging Face's logits in f64."""
    vocab = len(expected) // seq
    total = 0
    for i in range(seq - 1):
        row = expected[i * vocab : (i + 1) * vocab]
        largest = max(row)
        total += math.log(math.fsum(math.exp(x - largest) for x in row)) + largest - row[ids[i + 1]]
    with tempfile.TemporaryDirectory() as folder:
        tokens = pathlib.Path(folder) / "tokens.txt"
        tokens.write_text(", ".join(map(str, ids)) + "\n")
        command = [program, "--model", str(MODELS / model), "--device", device, "--loss", str(tokens)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
    found = re.search(r"^loss +([0-9.]+) nats a token, perplexity ([0-9.]+), over (\d+) predictions", result.stdout, re.M)
    want = total / (seq - 1)
    good = found and abs(float(found[1]) - want) < 1e-4 and int(found[3]) == seq - 1
    if not good or abs(float(found[2]) / math.exp(want) - 1) > 1e-3:
        failures.append(f"{' '.join(command)}: wanted {want:.6f}, said {result.stdout!r} {result.stderr!r}")


def check_generation(program, model, device, ids):
    """The likeliest tokens are Hugging Face's, and drawn ones are the same for the same seed."""
    wanted = (MODELS / model / "generated.txt").read_text().split()
    said = []
    for options in (["--generate", str(len(wanted))], *([["--generate", "9", "--temperature", "1.5", "--top-p", "0.9", "--seed", "3"]] * 2)):
        command = [program, "--model", str(MODELS / model), "--device", device, "--ids", ids, *options]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
        said.append(result.stdout.split("\n")[0].split() if result.returncode == 0 else result.stderr)
    end = json.loads((MODELS / model / "config.json").read_text())["eos_token_id"]
    if str(end) in wanted:
        wanted = wanted[: wanted.index(str(end)) + 1]
    if said[0] != wanted or said[1] != said[2] or said[1] == said[0][:9]:
        failures.append(f"{model} on {device} after {ids}: wanted {wanted}, generated {said}")


def main():
    program, devices = sys.argv[1], sys.argv[2:]
    largest = {}
    for model in sorted(path.name for path in MODELS.iterdir()):
        shape, ids = (MODELS / model / "ids.txt").read_text().split()
        expected = read(MODELS / model / "logits.f32")
        batch, seq = map(int, shape.split("x"))
        vocab = len(expected) // (batch * seq)
        one = ",".join(ids.split(",")[:seq])
        for device in devices:
            check_generation(program, model, device, one)
            check_loss(program, model, device, seq, list(map(int, one.split(","))), expected[: seq * vocab])
            for version in "1234":
                def run(dtype, options, wanted):
                    error = check(program, model, device, dtype, ["--version", version, *options], wanted)
                    largest[device, dtype] = max(error, largest.get((device, dtype), 0))
                run("f32", ["--input", shape, "--ids", ids], expected)
                # A simulated chip takes a second for ten passes: a part of the rest.
                if model in ("gqa-tied", "odd") and (device == "host" or version in "14"):
                    for dtype in ("f16", "bf16"):
                        run(dtype, ["--input", shape, "--ids", ids], expected)
                if batch > 1 and version in "34" and device == "host":  # all sequences through the cache
                    run("f32", ["--input", shape, "--ids", ids, "--cached", "3"], expected)
                if model == "gqa-tied" and (device == "host" or version == "4") or model == "odd" and device == "host":  # the first sequence, 3 tokens at once and then one by one
                    run("f32", ["--ids", one, "--cached", "3"], expected[: seq * vocab])
    for (device, dtype), error in sorted(largest.items()):
        print(f"{device} {dtype}: largest error {error:.2e} of {BOUNDS[dtype]:.0e}")
    print("\n".join(failures))
    sys.exit(1 if failures or not largest else 0)


if __name__ == "__main__":
    main()
