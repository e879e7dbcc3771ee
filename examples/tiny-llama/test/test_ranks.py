#!/usr/bin/env python3
"""tiny-llama --ranks: logits within the bound of ranks_reference.py, the same on every way, what is read, bad input, killed ranks.

Use: test_ranks.py PROGRAM MPIRUN STANDIN [SEED]
FAKE_HIP_FOLDER in the environment has a stand-in of HIP's runtime with one GPU: then ranks that are more than the GPUs are refused too.
"""
import array
import json
import math
import operator
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import ranks_kill
import ranks_reference as reference
from ranks_kill import LIMIT, said

ENVIRONMENT = dict(ranks_kill.ENVIRONMENT, TANDEM_DEVICE="host")
failures = []
program = mpirun = standin = ""


def fail(what, result=None):
    failures.append(what if result is None else f"{what}: exit {result.returncode}, {result.stdout!r} {result.stderr!r}")


def launch(ranks, options, each=None):
    """each: options of rank i, by number."""
    if each is None:
        return [mpirun, "-n", str(ranks), program, "--ranks", f"tp={ranks}", *map(str, options)]
    command = [mpirun]
    for rank in range(ranks):
        command += [] if rank == 0 else [":"]
        command += ["-n", "1", program, "--ranks", f"tp={ranks}", *map(str, options), *map(str, each(rank))]
    return command


def run(ranks, options, each=None, environment=None):
    command = launch(ranks, options, each) if ranks > 0 else [program, *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment or ENVIRONMENT)


# ---- Logits ----


def logits_of(ranks, options, folder):
    path = folder / "logits"
    result = run(ranks, [*options, "--logits", path])
    if result.returncode != 0 or (ranks > 0 and f"{ranks}, through" not in result.stdout):
        fail(f"{ranks} ranks, {options}", result)
        return None
    values = array.array("f")
    values.frombytes(path.read_bytes())
    path.unlink()
    return values


def within(name, got, wanted, bounds):
    worst = 0
    for a, b, bound in zip(got, wanted, bounds):
        worst = max(worst, abs(a - b) / bound if math.isfinite(a) else math.inf)
    if len(got) != len(wanted) or not worst <= 1:
        fail(f"{name}: {worst:.3g} of the bound")
    return worst


def check_config(root, seed, number):
    generator = random.Random(seed * 1000 + number)
    ranks = 4 if number % 2 == 0 else 2
    config = reference.draw(generator, ranks, number == 0)
    tensors = reference.make(config, generator)
    folder = root / f"model{number}"
    reference.save(folder, config, tensors)
    batch, seq = generator.randint(1, 3), generator.randint(2, 7)
    ids = [[generator.randrange(config["vocab"]) for _ in range(seq)] for _ in range(batch)]
    options = ["--model", folder, "--input", f"{batch}x{seq}", "--ids", ",".join(str(i) for row in ids for i in row)]
    wanted, bounds, alone, sharp = [], [], [], 0
    for row in ids:
        logits, bound = reference.forward(config, tensors, row, ranks)
        sharp = max(sharp, reference.sharper(config, tensors, row, ranks, logits, generator))
        wanted += logits
        bounds += bound
        alone += reference.forward(config, tensors, row, 0)[1]
    name = f"config {number} {config} {batch}x{seq}"
    ways = {"one": (0, ["--repeats", 1]), "ranks": (ranks, ["--repeats", 1]), "by tokens": (ranks, ["--repeats", 1, "--by-tokens", 1]), "chunks": (ranks, ["--repeats", 1, "--chunks", 2]),
            "both": (ranks, ["--repeats", 1, "--by-tokens", 1, "--chunks", 2]),
            "cached": (ranks, ["--cached", generator.randint(1, seq - 1)])}
    got = {way: logits_of(count, [*options, *more], folder) for way, (count, more) in ways.items()}
    if None in got.values():
        return
    for way, values in got.items():
        within(f"{name}, {way}, from f64", values, wanted, alone if way == "one" else bounds)
        within(f"{name}, {way}, from f64, sharper", values, wanted, [sharp] * len(wanted))
    within(f"{name}, ranks from one", got["ranks"], got["one"], [a + b for a, b in zip(alone, bounds)])
    share = within(f"{name}, ranks from one, sharper", got["ranks"], got["one"], [2 * sharp] * len(wanted))
    # Products of a half of the tokens may be other kernels', whose sums have another order: chunks have bits of their own.
    if got["by tokens"] != got["ranks"]:
        fail(f"{name}: by tokens gives other bits")
    largest = max(map(abs, wanted))
    difference = max(abs(a - b) for a, b in zip(got["ranks"], got["one"]))
    print(f"{ranks} ranks, {config['heads']}/{config['kv_heads']} heads of {config['head_dim']}, d {config['d']}, ffn {config['ffn']}, "
          f"vocab {config['vocab']}{', tied' if config['tied'] else ''}: {difference / largest:.1e} of the largest logit; the bound is "
          f"{max(map(operator.add, alone, bounds)) / largest:.1e}, the sharper one {2 * sharp / largest:.1e}, of which {share:.3f} is used")
    return folder, options, ranks, got["ranks"], got["both"]


def check_movers(folder, options, ranks, wanted, wanted_chunks):
    """All that move data give the same bits, of 16 bits too."""
    for move in (f"nccl={standin}", f"rccl={standin}"):
        for more, bits in (([], wanted), (["--by-tokens", 1, "--chunks", 2], wanted_chunks)):
            if logits_of(ranks, [*options, "--repeats", 1, "--move", move, *more], folder) != bits:
                fail(f"{move} {more}: other bits than mpi")
    # The stand-in's device has 4 multiprocessors.
    if logits_of(ranks, [*options, "--repeats", 1, "--move", f"nccl={standin}", "--by-tokens", 1, "--chunks", 2, "--leave", 1], folder) != wanted_chunks:
        fail("--leave 1: other bits than without")
    for dtype, bound in (("bf16", 6e-2), ("f16", 1e-2)):  # of test_models.py
        got = logits_of(ranks, [*options, "--repeats", 1, "--dtype", dtype], folder)
        error = max(abs(a - b) for a, b in zip(got, wanted)) / max(map(abs, wanted)) if got else 0
        if not error <= bound:
            fail(f"{dtype}: error {error:.2e}, allowed {bound:.0e}")


def check_texts(root, folder):
    """Batches of generated tokens, and the loss of a file, are those of one process."""
    tokens = root / "tokens.txt"
    tokens.write_text(" ".join(str(7 * i % 61) for i in range(40)))
    for more in (["--input", "3x5", "--generate", 7], ["--input", "1x5", "--generate", 7, "--temperature", 2, "--seed", 5], ["--loss", tokens], ["--input", "2x9", "--loss", tokens]):
        texts = []
        for ranks in (0, 4):
            result = run(ranks, ["--model", folder, *more])
            found = re.search(r"^loss +([0-9.]+) nats", result.stdout, re.M)
            texts.append([round(float(found[1]), 4)] if found else [line for line in result.stdout.splitlines() if re.fullmatch("[0-9 ]+", line)])
        if not texts[0] or texts[0] != texts[1]:
            fail(f"{more}: one process {texts[0]}, 4 ranks {texts[1]}", result)


def check_cases(root, folder):
    """Several shapes in one process give what each gives alone, and rank 0's bound of decode has the exchanges."""
    path = root / "cases"
    for ranks in (0, 2):
        result = run(ranks, ["--model", folder, "--repeats", 1, "--cases", "3x5+4,2x7/2,2x9", "--logits", path])
        got = path.read_bytes() if path.exists() else b""
        alone = [run(ranks, ["--model", folder, "--input", "3x5", "--generate", 4]),
                 run(ranks, ["--model", folder, "--repeats", 1, "--input", "2x9", "--logits", path])]
        ids = [re.findall(r"^[0-9 ]+$", each.stdout, re.M) for each in (result, alone[0])]
        bound = re.findall(r"^bound .* (\d+) exchanges without other work$", result.stdout, re.M)
        layers = json.loads((folder / "config.json").read_text())["num_hidden_layers"]
        if (result.returncode != 0 or re.findall(r"^case +(.*)$", result.stdout, re.M) != ["3x5+4", "2x7/2", "2x9"] or not got or got != path.read_bytes()
                or len(ids[0]) != 3 or ids[0] != ids[1] or result.stdout.count("\ntime ") != 2 or bound != ([str(2 * layers + 1)] if ranks else [])):
            fail(f"--cases, {ranks} ranks", result)
        path.unlink(missing_ok=True)


# ---- What a rank reads and keeps ----


def check_slices(root):
    config = {"heads": 8, "kv_heads": 2, "head_dim": 32, "d": 256, "ffn": 1021, "vocab": 4001, "layers": 3, "tied": False, "context": 64,
              "eps": 1e-5, "theta": 1e4}
    folder = root / "large"
    folder.mkdir()
    heads, kv, d, ffn, vocab = 256, 64, config["d"], config["ffn"], config["vocab"]
    shapes = {"model.embed_tokens": [vocab, d], "model.norm": [d], "lm_head": [vocab, d]}
    for i in range(config["layers"]):
        name = f"model.layers.{i}."
        shapes.update({name + "input_layernorm": [d], name + "post_attention_layernorm": [d], name + "self_attn.q_proj": [heads, d],
                       name + "self_attn.k_proj": [kv, d], name + "self_attn.v_proj": [kv, d], name + "self_attn.o_proj": [d, heads],
                       name + "mlp.gate_proj": [ffn, d], name + "mlp.up_proj": [ffn, d], name + "mlp.down_proj": [d, ffn]})
    reference.save(root / "small", dict(config, layers=1, d=16, ffn=16, vocab=16),
                   reference.make(dict(config, layers=1, d=16, ffn=16, vocab=16), random.Random(1)))
    shutil.copy(root / "small" / "config.json", folder)
    text = json.loads((folder / "config.json").read_text())
    text.update({"hidden_size": d, "vocab_size": vocab, "intermediate_size": ffn, "num_hidden_layers": config["layers"]})
    (folder / "config.json").write_text(json.dumps(text))
    header, at = {}, 0
    for name, shape in shapes.items():
        size = 4 * math.prod(shape)
        header[name + ".weight"] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    head = json.dumps(header).encode()
    with open(folder / "model.safetensors", "wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        file.truncate(8 + len(head) + at)
    base = facts(run(4, ["--model", root / "small", "--input", "1x4", "--repeats", 1]))
    got = facts(run(4, ["--model", folder, "--input", "1x4", "--repeats", 1]))
    if len(got) != 4 or len(base) != 4:
        return fail(f"--ranks prints no table: {got}")
    alone = facts(run(0, ["--model", folder, "--input", "1x4", "--repeats", 1, "--ranks", "alone=4"]))
    if [fact[:2] for fact in alone] != [got[0][:2]]:
        fail(f"--ranks alone=4 has read {alone}, rank 0 of 4 {got[0]}")
    result = run(0, ["--model", folder, "--input", "2x5", "--by-tokens", 4, "--generate", 3, "--ranks", "alone=4"])
    if result.returncode != 0 or "ran alone: nothing was exchanged" not in result.stdout:
        fail("--ranks alone=4 --generate 3", result)
    for rank, (read, weights, peak) in enumerate(got):
        def part(n):
            return n // 4 + (rank < n % 4)
        slices = (part(vocab) * 2 + 1) * d + config["layers"] * d * (2 + 2 * heads // 4 + 2 * kv // 2 + 3 * part(ffn))
        if not slices * 4 <= read * 2**20 <= slices * 4 + 2**16 or abs(weights * 2**20 - slices * 4) > 2**12:
            fail(f"rank {rank} of 4 has read {read} MiB for weights of {weights} MiB: its slices have {slices * 4 / 2**20:.3f}")
        if not peak - base[rank][2] < slices * 4 / 2**20 + 3:
            fail(f"rank {rank} of 4 has used {peak} MiB at most, {peak - base[rank][2]:.1f} more than with the smallest model")
    print(f"files of {at / 2**20:.1f} MiB: 4 ranks have read {', '.join(f'{read:.2f}' for read, _, _ in got)} MiB, and used "
          f"{', '.join(f'{peak - low[2]:.1f}' for (_, _, peak), low in zip(got, base))} MiB more than for the smallest model")


def facts(result):
    lines = re.findall(r"^rank \d+ +read ([0-9.]+) MiB of files; weights ([0-9.]+) MiB, .*; process ([0-9.]+) MiB at most; exchanges, waited for, [0-9.]+ ms a pass$", result.stdout, re.M)
    return [tuple(map(float, line)) for line in lines]


def check_curve():
    for move in ("mpi", f"nccl={standin}"):
        result = run(2, ["--curve", "--move", move])
        rows = re.findall(r"^ +(\d+) +([0-9.]+) +([0-9.]+) +([0-9.]+) +[0-9.]+$", result.stdout, re.M)
        if result.returncode != 0 or [int(row[0]) for row in rows] != [2**i for i in range(12, 23)] or not all(float(t) > 0 for row in rows for t in row):
            fail(f"--curve --move {move}", result)


# ---- Bad input ----


def refuses(ranks, options, words, each=None, environment=None):
    start = time.monotonic()
    result = run(ranks, options, each, environment)
    seconds, lines = time.monotonic() - start, said(result.stderr)
    if result.returncode == 0 or len(lines) != 1 or any(word not in lines[0] for word in words) or seconds > LIMIT:
        fail(f"{ranks} ranks, {options}: {seconds:.1f} s, wanted one line with {words}, got {lines}", result)


def check_refusals(root, folder):
    """Most of the time of a refusal is one process's wait for another: so several run at a time."""
    other, changed, missing = root / "other", root / "changed", root / "missing"
    results = shutil.ignore_patterns("logits*")  # other checks write and remove them meanwhile
    shutil.copytree(folder, other, ignore=results)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(dict(config, rms_norm_eps=2e-5)))
    shutil.copytree(folder, changed, ignore=results)
    data = bytearray((changed / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (changed / "model.safetensors").write_bytes(data)
    (missing / "x").mkdir(parents=True)
    small = ["--input", "1x4"]

    def instead(rank, path):
        return lambda i: ["--model", path if i == rank else folder]
    tasks = []
    with ThreadPoolExecutor(4) as pool:
        def later(*arguments, **named):
            tasks.append(pool.submit(refuses, *arguments, **named))
        later(3, [], ["--ranks tp=3", "must divide the 4 heads"])
        later(2, ["--preset", "train", "--version", 3], ["--version 3", "needs version 4"])
        later(2, ["--compare"], ["--compare", "one process"])
        later(1, ["--curve"], ["--curve", "at least two"])
        for option in (["--curve"], ["--move", "mpi"], ["--leave", 1, "--chunks", 2], ["--logits", root / "alone.f32"]):
            later(0, ["--ranks", "alone=2", *option], [option[0], "exchanges nothing"])
        later(0, ["--ranks", "alone=0"], ["--ranks = 'alone=0'", "must be tp=N or alone=N"])
        later(2, ["--bogus"], ["--bogus", "unknown option"])
        later(2, ["--model", missing], ["config.json", "can't be opened"])
        later(2, ["--move", f"nccl={missing}/none.so"], ["none.so can't be loaded", "--move nccl=FILE"])
        later(2, ["--leave", 1], ["--leave 1", "needs --chunks 2"])
        later(2, ["--leave", 1, "--chunks", 2, "--move", "mpi"], ["--leave 1", "data goes through mpi"])
        later(2, ["--leave", 4, "--cases", "1x8,2x8/2", "--move", f"nccl={standin}"], ["--leave 4", "the device has 4 multiprocessors"])
        later(2, ["--move", "bogus"], ["--move = 'bogus'", "must be mpi, nccl"])
        later(2, ["--device", "omp:7"], ["omp:7"])
        fake = os.environ.get("FAKE_HIP_FOLDER")
        if fake:
            environment = dict(ENVIRONMENT, LD_LIBRARY_PATH=fake, FAKE_HIP="gfx950")
            later(4, ["--device", "hip:0"], ["4 ranks", "up to hip:3", "hip:0"], environment=environment)
        later(4, small, ["rank 2 has another config.json than rank 0"], instead(2, other))
        later(4, small, ["rank 1 has other *.safetensors files than rank 0"], instead(1, changed))
        later(4, small, ["missing/config.json", "can't be opened"], instead(3, missing))
        later(2, [], ["rank 1 has other options than rank 0"], lambda i: ["--seed", i])
        later(2, [], ["rank 1 has other --cases than rank 0"], lambda i: ["--cases", f"1x{i + 1}"])
    for task in tasks:
        task.result()
    result = run(0, ["--leave", 1])
    if result.returncode == 0 or "--leave: needs --ranks" not in result.stderr:
        fail("--leave without --ranks", result)
    result = run(0, ["--ranks", "tp=2"])
    if result.returncode == 0 or "mpirun -n 2" not in result.stderr or len(said(result.stderr)) != 1:
        fail("--ranks tp=2 without mpirun", result)


def main():
    global program, mpirun, standin
    program, mpirun, standin = sys.argv[1:4]
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else int(os.environ.get("TANDEM_SEED", time.time_ns() % 10**6))
    print(f"seed {seed}: test_ranks.py PROGRAM MPIRUN STANDIN {seed}", flush=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        with ThreadPoolExecutor(4) as pool:
            checked = list(pool.map(lambda number: check_config(root, seed, number), range(4)))
        if checked[0] is not None:
            first = checked[0]
            with ThreadPoolExecutor(4) as pool:
                tasks = [pool.submit(check_movers, *first), pool.submit(check_texts, root, first[0]), pool.submit(check_slices, root), pool.submit(check_cases, root, first[0]),
                         pool.submit(check_curve), pool.submit(check_refusals, root, first[0])]
                for task in tasks:
                    task.result()
    print(f"{time.monotonic() - begin:.0f} s", flush=True)
    ranks_kill.check_kills(program, mpirun, "host", ["mpi", f"nccl={standin}", f"rccl={standin}"], [2, 4], seed, 20, 5, failures)
    print(f"{time.monotonic() - begin:.0f} s")
    print("\n".join(failures))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
