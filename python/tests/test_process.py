"""Threads, forks, the end of the interpreter, the processor, environments."""

import os
import platform
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
import tandem


def python(code, check=True, **environment):
    """Runs code in a new interpreter. Its exit status must be 0: not a signal's, and not ASan's."""
    result = subprocess.run(
        [sys.executable, "-c", "import numpy as np\n" + code], capture_output=True, text=True,
        env={**os.environ, **environment}, timeout=120, cwd=os.path.dirname(__file__),
    )  # fmt: skip
    if check:
        assert result.returncode == 0, result.stderr
    return result


def test_two_threads():
    """Several threads with plans of their own and shared ones, while another one empties the cache."""
    rng, errors = np.random.default_rng(0), []
    done = threading.Event()
    shared = rng.standard_normal((64, 64)).astype(np.float32)

    def work(number):
        mine = np.random.default_rng(number).standard_normal((16 + number, 64)).astype(np.float32)
        for _ in range(200):
            if not np.allclose(tandem.gemm(mine, shared), mine @ shared, atol=1e-3):
                errors.append(number)
            out = np.empty_like(shared)
            if not np.array_equal(tandem.add(shared, shared, out=out), shared + shared):
                errors.append(number)

    def clear():
        while not done.is_set():
            tandem.cache_clear()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    other = threading.Thread(target=clear)
    for thread in [*threads, other]:
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    other.join()
    assert errors == []


def test_the_gil_is_released():
    """While one thread computes, another one goes on."""
    big = np.ones((700, 700), np.float32)
    tandem.gemm(big, big)
    ticks, done = 0, threading.Event()

    def compute():
        for _ in range(3):
            tandem.gemm(big, big)
        done.set()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # nobody is asked to give the GIL away
    try:
        thread = threading.Thread(target=compute)
        thread.start()
        while not done.wait(0.0005):
            ticks += 1
        thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert ticks >= 2


def test_fork():
    """libgomp can't run in the child's first thread: an exception. LLVM's libomp can. A new thread of the child always can."""
    code = """
import os, threading, tandem
a = np.ones((2000, 2000), np.float32)
tandem.add(a, a)
child = os.fork()
if child == 0:
    try:
        assert (tandem.add(a, a) == 2).all()
        print('runs', flush=True)
    except tandem.UnsupportedError as error:
        assert 'fork' in str(error), error
        print('refused', flush=True)
    found = []
    thread = threading.Thread(target=lambda: found.append((tandem.add(a, a) == 2).all()))
    thread.start()
    thread.join()
    os._exit(0 if found == [True] else 1)
assert os.waitpid(child, 0)[1] == 0
assert (tandem.add(a, a) == 2).all()
"""
    assert python(code, OMP_NUM_THREADS="2").stdout.strip() in ("runs", "refused")


def test_fork_between_open_and_run():
    code = """
import os, tandem
a = np.ones((2000, 2000), np.float32)
tandem.explain(tandem.add, a, a)  # opens the host and makes the plan
child = os.fork()
if child == 0:
    os._exit(0 if (tandem.add(a, a) == 2).all() else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    python(code, OMP_NUM_THREADS="2")


def test_shutdown_with_everything_alive():
    code = """
import standin, tandem, threading, atexit
a = np.ones((300, 300), np.float32)
p = standin.Producer(a)
kept = [np.from_dlpack(tandem.add(p, a)), tandem.add(p, a), tandem.add(p, a).__dlpack__()]
class Late:
    def __del__(self, add=tandem.add, a=a): add(a, a)
late = Late()
atexit.register(lambda: tandem.gemm(a, a))
def forever():
    while True: tandem.gemm(a, a)
threading.Thread(target=forever, daemon=True).start()
import sys; sys.kept = kept, late
"""
    python(code)


def test_imported_again():
    python("import sys, tandem\nfor m in [m for m in sys.modules if m.startswith('tandem')]: del sys.modules[m]\n"
           "import tandem\na = np.ones((2, 2), np.float32)\nassert (tandem.add(a, a) == 2).all()")  # fmt: skip


def test_without_numpy():
    """NumPy is not needed to import it."""
    result = subprocess.run(
        [sys.executable, "-c", "import sys, tandem; assert 'numpy' not in sys.modules; print(tandem.devices())"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0 and "host" in result.stdout, result.stderr


def test_older_processor():
    """The test stands in for it: the list of what is missing is not empty."""
    code = """
import importlib.util, pathlib, sys
spec = importlib.util.find_spec('tandem')
import types
fake = types.ModuleType('tandem._cpu'); fake.missing = lambda: ['avx2', 'fma']; fake.host_cpu = 'x86-64-v3'
sys.modules['tandem._cpu'] = fake
try:
    import tandem
except ImportError as error:
    assert 'avx2, fma' in str(error) and 'x86-64-v3' in str(error), error
    assert 'tandem._tandem' not in sys.modules
    assert 'libtandem' not in open('/proc/self/maps').read()
else:
    raise SystemExit('imported')
"""
    python(code)
    emulator = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
    if (
        emulator is not None
        and tandem._cpu.missing() == []
        and platform.machine() == "x86_64"
        and "asan" not in os.environ.get("LD_PRELOAD", "")
    ):
        real = subprocess.run(
            [emulator, "-cpu", "Nehalem", sys.executable, "-c", "import tandem"], capture_output=True, text=True
        )
        assert real.returncode == 1 and "ImportError: tandem: this processor lacks" in real.stderr, real.stderr


@pytest.mark.parametrize("name, word", [("TANDEM_VERIFY", "verify"), ("TANDEM_CPU", "TANDEM_CPU")])
def test_environment(name, word):
    code = "import tandem; a = np.ones((20, 20), np.float32); print(tandem.gemm(a, a)[0, 0], tandem.explain(tandem.gemm, a, a))"
    text = python(code, **{name: "avx2" if name == "TANDEM_CPU" else "1"}).stdout
    assert text.startswith("20.0")
    with open("/proc/cpuinfo") as file:
        wide = " avx512f " in file.read()  # a set to leave out; a build for the processor's own sets has no others
    if name != "TANDEM_CPU" or (wide and len(tandem.kernels("gemm")) > 2):
        assert word in text


def test_signals():
    """Ctrl-C between runs is an exception as ever."""
    code = """
import signal, tandem, threading, _thread
a = np.ones((200, 200), np.float32)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
threading.Timer(0.2, lambda: signal.raise_signal(signal.SIGINT)).start()
try:
    while True: tandem.gemm(a, a)
except KeyboardInterrupt:
    print('interrupted')
"""
    assert "interrupted" in python(code).stdout
