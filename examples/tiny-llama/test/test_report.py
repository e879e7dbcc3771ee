#!/usr/bin/env python3
"""--compare and --profile of tiny-llama: launches and memory that follow from the model alone, errors, files.

Use: test_report.py PROGRAM DEVICE...
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ENVIRONMENT = dict(os.environ, OMP_WAIT_POLICY="passive")
D, FFN, HEADS, KV, LAYERS, VOCAB, BATCH, SEQ = 64, 256, 64, 32, 2, 256, 2, 16  # of the preset tiny; HEADS, KV: widths
TOKENS = BATCH * SEQ
# Steps of a layer, with two query heads in a group, and elements of activations a token.
STEPS = {1: 19, 2: 15, 3: 10, 4: 8}
ACTIVATIONS = {1: 3 * D + 2 * HEADS + 2 * KV + 2 * FFN, 2: 3 * D + HEADS + (HEADS + 2 * KV) + 2 * FFN,
               3: 3 * D + HEADS + (HEADS + 2 * KV) + FFN, 4: 2 * D + FFN}
PRODUCTS = 2 * TOKENS * (LAYERS * D * (2 * HEADS + 2 * KV + 3 * FFN) + D * VOCAB)


def run(program, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        command = [program, "--preset", "tiny", "--repeats", "2", "--json", str(path), *options]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENVIRONMENT)
        assert result.returncode == 0, (command, result.stderr)
        return json.loads(path.read_text()), result.stdout


def check_version(row, timed):
    version, steps = row["version"], row["steps"]
    assert row["launches"] == LAYERS * STEPS[version] + 3 == sum(step["launches"] for step in steps), row
    assert row["bytes"]["activations"] == 4 * TOKENS * (ACTIVATIONS[version] + 1), row["bytes"]  # and the ids
    assert row["bytes"]["scores"] == (4 * BATCH * 4 * SEQ * SEQ if version < 3 else 0), row["bytes"]
    assert row["bytes"]["logits"] == 4 * TOKENS * VOCAB
    products = sum(step["flops"] for step in steps if step["op"] in ("gemm", "swiglu") and step["name"] not in ("scores", "values"))
    assert products == PRODUCTS, (products, PRODUCTS)
    assert ("ms" in row) == timed and all(("ms" in step) == timed for step in steps), row


def main():
    program, devices = sys.argv[1], sys.argv[2:]
    assert devices
    for device in devices:
        timed = not device.startswith("sim:")
        report, text = run(program, "--device", device, "--compare")
        assert [row["version"] for row in report["versions"]] == [1, 2, 3, 4] and "launches" in text
        for row in report["versions"]:
            check_version(row, timed)
            assert 0 <= row["error"] < 1e-5, row
            assert not timed or row["bound_ms"] > 0
        claims = {claim["what"]: claim for claim in report["claims"]}
        assert len(claims) == (9 if timed else 4), claims
        assert abs(claims["launches"]["saved"] - (1 - 19 / 41)) < 1e-9, claims
        for version in "234":
            report, text = run(program, "--device", device, "--profile", "--version", version)
            check_version(report["version"], timed)
            compared = [step for step in report["version"]["steps"] if "error" in step]
            assert len(compared) >= 7 and all(0 <= step["error"] < 1e-5 for step in compared), compared
    print(f"{len(devices)} devices: reports as they must be")


if __name__ == "__main__":
    main()
