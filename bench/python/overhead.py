"""What a call of the Python package costs beside the C run.

    python bench/python/overhead.py [--device cuda] [--calls 20000] [--limit 5]

An add of 8 x 64 elements, with out=, is timed as Python calls it and as C runs its plan: in one process, with the same
arrays, in turns. The overhead is the difference of the medians over the rounds; "least" is that of the smallest times. Also: an
add without out=, an op of tandem.torch, and PyTorch's own add. Ends with status 1 if an overhead is above the limit.
"""

import argparse
import ctypes
import importlib
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import tandem

ROWS, COLS = 8, 64
here = pathlib.Path(__file__).resolve().parent


def c_function():
    """The library of runs.c, against the package's own libtandem.so."""
    package = pathlib.Path(tandem.__file__).parent
    built = pathlib.Path(tempfile.mkdtemp()) / "runs.so"
    subprocess.run(
        ["cc", "-O2", "-shared", "-fPIC", f"-I{here.parents[1] / 'include'}", here / "runs.c", "-o", built,
         f"-L{package}", "-l:libtandem.so", f"-Wl,-rpath,{package}"], check=True,
    )  # fmt: skip
    function = ctypes.CDLL(built).tandem_seconds_of_add
    function.restype = ctypes.c_double
    function.argtypes = (
        [ctypes.c_void_p] * 3 + [ctypes.c_int64] * 2 + [ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_long]
    )
    return function


def seconds(call, count):
    begin = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - begin) / count


def cases(device):
    arrays = [np.ones((ROWS, COLS), np.float32) for _ in range(3)]
    if device == "cpu":
        yield "NumPy float32", arrays, 0, [a.ctypes.data for a in arrays]
        try:
            import ml_dtypes
        except ImportError:
            print("no ml_dtypes: bfloat16 is left out")
        else:
            wide = [a.astype(ml_dtypes.bfloat16) for a in arrays]
            yield "NumPy bfloat16 (ml_dtypes)", wide, 2, [a.view(np.uint16).ctypes.data for a in wide]
    try:
        import torch
    except ImportError:
        print("no torch: PyTorch's tensors are left out")
        return
    for name, dtype, number in ("float32", torch.float32, 0), ("bfloat16", torch.bfloat16, 2):
        tensors = [torch.ones(ROWS, COLS, dtype=dtype, device=device) for _ in range(3)]
        yield f"PyTorch {name}", tensors, number, [t.data_ptr() for t in tensors]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--device", default="cpu")
    options.add_argument("--calls", type=int, default=20000)
    options.add_argument("--rounds", type=int, default=9)
    options.add_argument("--limit", type=float, default=5.0)
    options = options.parse_args()
    run = c_function()
    c_device = b"host" if options.device == "cpu" else b"omp:0"
    print(f"an add of {ROWS} x {COLS}, us; {options.rounds} rounds of {options.calls} calls; Python {sys.version.split()[0]}")
    print(f"{'arrays':28} {'C run':>8} {'out=':>8} {'overhead':>9} {'least':>8} {'new':>8}")
    over, stream = False, None
    if options.device == "cuda":  # 1 is CUDA's legacy default stream, which PyTorch's 0 means
        import torch

        stream = torch.cuda.current_stream().cuda_stream or 1
    for name, (a, b, out), number, pointers in cases(options.device):
        call = lambda: tandem.add(a, b, out=out)  # noqa: E731
        new = lambda: tandem.add(a, b)  # noqa: E731
        for warm in call, new:
            seconds(warm, options.calls // 10)
        of_c, of_call, of_new = [], [], []
        for _ in range(options.rounds):
            of_c.append(run(*pointers, ROWS, COLS, number, c_device, stream, options.calls))
            of_call.append(seconds(call, options.calls))
            of_new.append(seconds(new, options.calls))
        assert min(of_c) >= 0, "a C run failed"
        empty = lambda: None  # noqa: E731
        loop = seconds(empty, options.calls)  # the loop and the call of a lambda are not the package's
        c, with_out, fresh = (statistics.median(times) * 1e6 for times in (of_c, of_call, of_new))
        overhead = with_out - c - loop * 1e6
        least = (min(of_call) - min(of_c) - loop) * 1e6
        over |= overhead > options.limit
        print(f"{name:28} {c:8.2f} {with_out:8.2f} {overhead:9.2f} {least:8.2f} {fresh:8.2f}")
        if name == "PyTorch float32":
            import torch

            own = lambda: torch.add(a, b, out=out)  # noqa: E731
            seconds(own, options.calls // 10)
            print(f"{'  torch.add with out=':28} {'':8} {seconds(own, options.calls) * 1e6:8.2f}")
            importlib.import_module("tandem.torch")
            op = lambda: torch.ops.tandem.add(a, b)  # noqa: E731
            seconds(op, options.calls // 10)
            print(f"{'  torch.ops.tandem.add':28} {'':8} {'':8} {'':9} {'':8} {seconds(op, options.calls) * 1e6:8.2f}")
    sys.exit(over)


main()
