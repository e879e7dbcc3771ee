#!/usr/bin/env python3
"""--own and --predict, and the trained model of words/.

The kernels of the exercises llama-gemm and llama-attention give the text of the library's. A kernel that is wrong gives another one. Options
that can't be are refused with one line. The words of the trained model are words.

Use: test_own.py PROGRAM HIP-COMPILER EXERCISES
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WORDS = HERE.parent / "words"
program, compiler, exercises = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
bad = 0


def run(*options, status=0):
    global bad
    result = subprocess.run([program, *options], capture_output=True, text=True, timeout=120)
    if result.returncode != status:
        bad += 1
        print(f"{' '.join(options)}: exit {result.returncode}, must be {status}; it said:\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def expect(text, *patterns):
    global bad
    for pattern in patterns:
        if not re.search(pattern, text, re.M):
            bad += 1
            print(f"must match '{pattern}':\n{text}")


def build(source, name):
    """A code object of a file; its TILE and __launch_bounds__ as --own has them."""
    text = source.read_text() if isinstance(source, pathlib.Path) else source
    (folder / f"{name}.hip").write_text(text)
    subprocess.run([compiler, "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib", "-std=c++17", "-O3",
                    "--offload-arch=gfx950", "-include", str(exercises / "hip.h"), str(folder / f"{name}.hip"), "-o",
                    str(folder / f"{name}.hsaco")], check=True)
    tile = re.search(r"^TILE\((\d+), (\d+)\)", text, re.M)
    block = re.search(r"__launch_bounds__\((\d+)\)", text)
    return f"{folder / name}.hsaco:tile={tile[1]}x{tile[2]}:block={block[1]}"


def words_of(text):
    return re.findall(r"[A-Za-z]+", text)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    gemm = (exercises / "llama-gemm" / "solution.hip").read_text()
    own = {"gemm": build(gemm, "gemm"), "attention": build(exercises / "llama-attention" / "solution.hip", "attention")}
    both = ",".join(f"{op}={file}" for op, file in own.items())
    text = ["--model", str(WORDS), "--dtype", "f16", "--device", "sim:gfx950", "--ids", "54,72,320,81,3", "--generate", "6"]
    library = run(*text).splitlines()[0]
    made = run(*text, "--own", both, "--predict")
    layers = 3
    expect(made, f"^{library}$", rf"^own +gemm: {(4 + 3 * 5) * layers} launches; the library's: head \(its result is not f16\)$",
           rf"^own +attention: {6 * layers} launches$", r"^predicted +prefill 5 tokens in [0-9.]+ us, \d+ launches, of them your 15 take",
           r"^predicted +decode \d+ tokens/s, [0-9.]+ us a token in [0-9.]+ launches, of them your 12.0 take")
    wrong = build(gemm.replace("c[at * n + j] = sum", "c[at * n + j] = n == 96 && j == 5 ? 3 : sum"), "wrong")
    if run(*text, "--own", f"gemm={wrong}").splitlines()[0] == library:
        bad += 1
        print("a wrong product gives the same text")

    tiny = ["--preset", "tiny", "--ids", "1,2", "--generate", "2"]
    sim = [*tiny, "--dtype", "f16", "--device", "sim:gfx950"]
    for options, words in (([*sim, "--own", "gemm=none.hsaco:tile=1x1:block=64"], "none.hsaco: .*No such file"),
                           ([*sim, "--own", f"gemm={folder}/gemm.hip:tile=1x1:block=64"], "the code object"),
                           ([*sim, "--own", f"attention={own['gemm']}"], "must have the op's name"),
                           ([*sim, "--own", f"softmax={own['gemm']}"], "must be gemm=FILE"),
                           ([*sim, "--own", f"gemm={folder}/gemm.hsaco:tile=16x16:block=2000"], "block=1..1024"),
                           ([*sim, "--own", f"gemm={folder}/gemm.hsaco:tile=0x16:block=64"], "must be gemm=FILE"),
                           ([*sim, "--own", f"{both},gemm={own['gemm']}"], "more than 2 kernels|two kernels"),
                           ([*tiny, "--device", "host", "--own", both], "the device is host: must be sim:"),
                           ([*tiny, "--device", "host", "--predict"], "must be simulated"),
                           (["--device", "sim:gfx950", "--predict"], "needs --generate")):
        expect(run(*options, status=2 if "predict" in words or "--own" in options or "needs" in words else 1), words)
    expect(run(*tiny, "--device", "sim:gfx950", "--own", f"gemm={own['gemm']}", status=1), "ran in no step: its type is not f16")

    # 60 tokens: nearly all words are words of the text that it was trained on.
    known = set()
    for path in HERE.parents[2].glob("docs/**/*.md"):
        known.update(word.lower() for word in words_of(path.read_text()))
    written = run("--model", str(WORDS), "--device", "host", "--ids", "54,72,320,81,3", "--generate", "60").splitlines()[0]
    vocabulary = {i: token for token, i in __import__("json").loads((WORDS / "tokenizer.json").read_text())["model"]["vocab"].items()}
    words = words_of("".join(vocabulary[int(i)] for i in written.split()).replace("\u0120", " ").replace("\u010a", "\n"))[1:-1]
    share = sum(word.lower() in known for word in words) / max(1, len(words))
    if len(words) < 15 or share < 0.8:
        bad += 1
        print(f"{len(words)} words, of them {share:.0%} known: {' '.join(words)}")

print(f"{bad} mistakes")
sys.exit(bad > 0)
