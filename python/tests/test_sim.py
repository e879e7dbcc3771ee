"""tandem.sim: launches in gfxsim on arrays. It needs a build with gfxsim, and a HIP compiler."""

import ctypes
import gc
import json
import sys
import threading

import ml_dtypes
import numpy as np
import pytest
import standin
import tandem
from tandem import sim

pytestmark = pytest.mark.skipif(not sim.available(), reason="this build has no gfxsim")

SOURCE = """
#define KERNEL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))
static inline __attribute__((device)) int lane() { return __builtin_amdgcn_workitem_id_x(); }
static inline __attribute__((device)) int item() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + lane();
}
KERNEL void add(const float *a, const float *b, float *c, int n) {
  if (item() < n) c[item()] = a[item()] + b[item()];
}
KERNEL void mixed(double *out, char small, short half_width, int word, long wide, float single, double twice, _Float16 half) {
  double values[7] = {(double)small, (double)half_width, (double)word, (double)wide, single, twice, (double)half};
  if (lane() == 0) for (int i = 0; i < 7; i++) out[i] = values[i];
}
struct pack { const float *from; float *to; int n; float factor; long offset; };
KERNEL void by_value(struct pack p) {
  if (lane() < p.n) p.to[lane()] = p.from[lane() + p.offset] * p.factor;
}
KERNEL void turn(float *x, int with_barrier) {
  SHARED float tile[128];
  tile[lane()] = x[lane()];
  if (with_barrier) __builtin_amdgcn_s_barrier();
  x[lane()] = tile[lane() ^ 64];
}
KERNEL void two_groups(float *x) { x[lane()] = item(); }
KERNEL void dynamic(float *x) {
  extern SHARED float more[];
  more[lane()] = x[lane()];
  x[lane()] = 2 * more[lane()];
}
KERNEL void copy(const char *from, char *to, int bytes) {
  for (int i = item(); i < bytes; i += 64) to[i] = from[i];
}
KERNEL void null(float *x, const float *y) { if (lane() == 0) x[0] = y == nullptr; }
KERNEL void endless(int *x) { while (__atomic_load_n(x, __ATOMIC_RELAXED) == 0) {} }
"""
CHIPS = ["gfx942", "gfx950"]
BAD = tandem.ArgumentError


@pytest.fixture(scope="module")
def code():
    return sim.compile_hip(SOURCE)


@pytest.fixture(scope="module")
def run(code):
    def launch(kernel, *args, grid=1, block=64, **options):
        return sim.run(code, kernel=kernel, grid=grid, block=block, args=list(args), **options)

    return launch


def floats(count, seed=0):
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


# ---- What works ----


@pytest.mark.parametrize("chip", CHIPS)
def test_results_counters_and_time(chip, tmp_path):
    code, trace = sim.compile_hip(SOURCE, chip), tmp_path / "trace.json"
    a, b, c = floats(1000), floats(1000, 1), np.zeros(1000, np.float32)
    result = sim.run(code, kernel="add", grid=4, block=256, args=[a, b, c, 1000], time=True, trace=trace)
    assert (c == a + b).all() and result.complete and result.findings == [] and result.chip == chip
    counters, time = result.counters, result.time
    assert counters["load"]["asked"] == 8000 and counters["store"]["asked"] == 4000 and counters["waves"] == 16
    assert len(counters["caches"]["l2"]) == 8 and counters["bounds"]["floor"] in counters["bounds"]["clocks"]
    assert sum(row["count"] for row in counters["mnemonics"]) == sum(counters["classes"].values())
    assert len(counters["instructions"]) == len(time["instructions"])
    assert any("store" in row["text"] and row["source"] for row in counters["instructions"])
    assert time["clocks"] > time["launch_clocks"] > 0 and time["wave_clocks"]["vmcnt"] > 0 and len(time["waves"]) == 16
    events = json.loads(trace.read_text())["traceEvents"]
    assert {event["ph"] for event in events} == {"X", "b", "e", "M"}


def test_arguments_by_name_and_none(code, run):
    a, b, c = floats(64), floats(64, 1), np.zeros(64, np.float32)
    sim.run(code, kernel="add", grid=1, block=64, args={"n": 64, "c": c, "b": b, "a": a})
    assert (c == a + b).all()
    run("null", c, None)
    assert c[0] == 1
    before = c.copy()
    sim.run(code, kernel="add", grid=1, block=64, args={"c": c})  # n is 0
    assert (c == before).all()


def test_values(run):
    out, expected = np.zeros(7), [-3, -300, -70000, 1 << 40, 0.5, 0.1, 1.5]
    run("mixed", out, *expected)
    assert (out == expected).all()
    run("mixed", out, np.int8(-3), np.int16(-300), ctypes.c_int(-70000), (1 << 40).to_bytes(8, "little"), np.float32(0.5), 0.1,
        np.float16(1.5))  # fmt: skip
    assert (out == expected).all()
    run("mixed", out, True, 0xFFFF, 0xFFFFFFFF, 2**64 - 1, float("inf"), 1e300, 1.0)
    assert (out == [1, -1, -1, -1, np.inf, 1e300, 1]).all()


def test_structures(run):
    x, y = floats(128), np.zeros(64, np.float32)
    run("by_value", {0: x, 8: y, 16: 60, 20: 3.0, 24: np.int64(5)})
    assert (y[:60] == x[5:65] * np.float32(3)).all() and (y[60:] == 0).all()


def test_every_kind_of_array(run):
    def copied(x):
        to = np.zeros(x.nbytes, np.uint8)
        run("copy", x, to, x.nbytes)
        return (to == np.frombuffer(x.tobytes(), np.uint8)).all()

    for dtype in np.int8, np.uint16, np.int64, np.float16, np.float64, np.complex64, bool, "V12", [("a", "i4"), ("b", "f8")]:
        assert copied(np.ones((3, 5), dtype)), dtype
    assert copied(floats(6).astype(ml_dtypes.bfloat16)) and copied(floats(6).astype(ml_dtypes.float8_e4m3fn))
    x, y = floats(64), np.zeros(64, np.float32)
    a, b = standin.Producer(x, read_only=True), standin.Producer(y)
    run("copy", a, b, 256)
    assert (x == y).all() and a.alive == 0 and b.alive == 0

    class Interface:
        __array_interface__ = x.__array_interface__

    y[:] = 0
    run("copy", Interface(), y, 256)
    assert (x == y).all()


def test_an_array_twice_and_empty(run):
    a = floats(64)
    twice = 2 * a
    run("add", a, a, a, 64)
    assert (a == twice).all()
    view = a.view()
    view.flags.writeable = False
    run("add", view, a, a, 64)  # the same memory, which one of them may write
    assert (a == 2 * twice).all()
    run("add", np.zeros(0, np.float32), np.zeros((3, 0), np.float32), a, 0)


def test_lds_seeds_and_samples(run, code):
    x = floats(64)
    twice = 2 * x
    run("dynamic", x, lds=256, threads=1, turn=3, seed=7)
    assert (x == twice).all()
    y = np.zeros(64 * 16, np.float32)
    result = run("add", np.ones_like(y), y, y, y.size, grid=16, workgroups="2-3", no_check="all")
    assert result.counters["workgroups_run"] == 2 and (np.flatnonzero(y) == np.arange(128, 256)).all()
    assert run("dynamic", x, lds=256, counters=False).counters is None
    assert sim.run(code, kernel="dynamic", grid=1, block=64, args=[x], lds=256, chip="gfx942,xcds=4").counters["caches"]["l2"][4:] == []


def test_matrix_results_are_kept_where_they_are_wrong(run):
    x = np.ones(64, np.float32)
    assert run("dynamic", x, lds=256, time=True, skip_mfma=True, warm=True).time["skip_mfma"] is True
    assert (x == 1).all()


def test_path_and_kernels(code, tmp_path):
    file = tmp_path / "kernels.hsaco"
    file.write_bytes(code)
    found = {kernel.name: kernel for kernel in sim.kernels(file)}
    assert [a.name for a in found["add"].args] == ["a", "b", "c", "n"] and found["add"].args[3] == ("n", 24, 4, "by_value")
    assert found["turn"].lds_bytes == 512 and found["by_value"].args[0].size == 32
    x = np.zeros(64, np.float32)
    for image in str(file), file, bytearray(code), memoryview(code):
        sim.run(image, kernel="two_groups", grid=1, block=64, args=[x])
    assert (x == np.arange(64)).all()


# ---- What a kernel does wrong ----


def test_findings_raise(run):
    a, b, c = floats(64), floats(64, 1), np.zeros(60, np.float32)
    with pytest.raises(sim.FindingsError, match=r"after the end of array args\[2\] \(c\) of 240 bytes") as raised:
        run("add", a, b, c, 64)
    (finding,) = raised.value.findings
    assert finding.fatal and finding.writes and finding.bytes == 4 and finding.space == "global" and finding.access == "beyond"
    assert finding.lane == 60 and finding.workgroup == (0, 0, 0) and "store" in finding.instruction and finding.source
    assert (c == 0).all() and not raised.value.result.complete and raised.value.result.counters is None
    assert isinstance(raised.value, tandem.Error)


def test_findings_can_be_returned(run):
    x = floats(128)
    result = run("turn", x, 0, block=128, strict=False, no_check=["uninitialised"])
    assert result.complete and {f.kind for f in result.findings} == {"LDS race"} and result.counters is None
    assert result.findings[0].other_instruction.startswith("ds_") and str(result.findings[0]).count("pc 0x") == 2
    y = np.zeros(64, np.float32)
    with pytest.raises(sim.FindingsError, match="race"):
        run("two_groups", y, grid=2)
    assert run("two_groups", y, grid=2, no_check=["race"]).findings == []


def test_read_only_array(run):
    a, c = floats(64), np.zeros(64, np.float32)
    c.flags.writeable = False
    with pytest.raises(BAD, match=r"args\[2\] \(c\) is read-only, and the kernel writes it"):
        run("add", a, a, c, 64)
    a.flags.writeable = False
    with pytest.raises(BAD, match=r"args\[0\] \(x\) is read-only"):
        run("turn", np.frombuffer(bytes(512), np.float32), 1, block=128)
    assert (c == 0).all()


def test_endless(run):
    with pytest.raises(sim.FindingsError, match="budget|endless|blocks"):
        run("endless", np.zeros(1, np.int32), budget=10000)


# ---- What a caller does wrong ----

A, N = np.ones(64, np.float32), np.ones(8, np.float32)
ARGS = {"kernel": "add", "grid": 1, "block": 64, "args": [A, A, A, 64]}
CASES = [
    (BAD, "run: hsaco = '/nowhere.hsaco': No such file", {"hsaco": "/nowhere.hsaco"}),
    (BAD, "run: hsaco = '/': Is a directory", {"hsaco": "/"}),
    (BAD, "run: hsaco = .*null", {"hsaco": "a\0b"}),
    (TypeError, "run: hsaco is a int", {"hsaco": 3}),
    (BAD, "run: hsaco: 3 bytes: too short", {"hsaco": b"ELF"}),
    (BAD, "run: hsaco: ", {"hsaco": b"\x7fELF" + bytes(1000)}),
    (BAD, "run: hsaco: ", {"hsaco": open(sys.executable, "rb").read(1 << 16)}),
    (BAD, "run: kernel = 'ad': must be one of add, .*dynamic", {"kernel": "ad"}),
    (BAD, "run: kernel must name one of add,", {"kernel": None}),
    (TypeError, "run: kernel is a int: must be a string", {"kernel": 1}),
    (BAD, "run: kernel has a character 0", {"kernel": "add\0"}),
    (BAD, "run: grid = 0: must be 1 to", {"grid": 0}),
    (BAD, "run: grid = -1: must be", {"grid": (1, -1)}),
    (BAD, r"run: grid has 4 numbers: must have one to three", {"grid": (1, 1, 1, 1)}),
    (TypeError, "run: grid is a float: must be an integer", {"grid": 1.5}),
    (TypeError, "run: block is a str", {"block": "64"}),
    (TypeError, "run: block is a float", {"block": [64, 1.0]}),
    (BAD, r"run: grid = 1,70000,1: the second and third", {"grid": (1, 70000)}),
    (BAD, "run: .*block must be 1024 or less", {"block": 2048}),
    (BAD, "run: chip = 'gfx90a'", {"chip": "gfx90a"}),
    (BAD, "run: chip: 'colour=3'", {"chip": "gfx942,colour=3"}),
    (BAD, "run: hsaco: the code object is for gfx942: the device is gfx950", {"chip": "gfx950"}),
    (BAD, "run: lds = 70000: with the kernel's 0 bytes above the 65536", {"lds": 70000}),
    (BAD, "run: lds = -1: must be 0", {"lds": -1}),
    (TypeError, "run: lds is a str", {"lds": "1"}),
    (BAD, "run: workgroups = '5-9': must be a number from 1 to 1", {"workgroups": "5-9"}),
    (BAD, "run: stack = ", {"stack": 1 << 30}),
    (BAD, "run: threads = 2000", {"threads": 2000}),
    (BAD, "run: no_check = 'races': must be of align, .*race, .*or all", {"no_check": "races"}),
    (BAD, "run: check = 'race': must be of barrier", {"check": ["race"]}),
    (TypeError, "run: time is a int: must be True or False", {"time": 1}),
    (BAD, "run: skip_mfma is given: needs time=True", {"skip_mfma": True}),
    (BAD, "run: trace is given: needs time=True", {"trace": "x"}),
    (BAD, "run: trace_cus is given: needs trace", {"time": True, "trace_cus": "0"}),
    (BAD, "run: rounds is given: not with workgroups", {"time": True, "rounds": 1, "workgroups": "1"}),
    (TypeError, "run: trace is a int", {"time": True, "trace": 5}),
    (BAD, "run: trace = '/nowhere/x': can't be written", {"time": True, "trace": "/nowhere/x"}),
    (BAD, "run: trace_cus = 'x': must be numbers or ranges", {"time": True, "trace": "/dev/null", "trace_cus": "x"}),
    (TypeError, "run: args is a str", {"args": "abcd"}),
    (TypeError, "run: args is a int", {"args": 4}),
    (BAD, r"run: args has 3: kernel add takes 4: a of 8 bytes, b of 8 bytes", {"args": [A, A, A]}),
    (BAD, r"run: args\['d'\]: kernel add has the arguments a of 8", {"args": {"d": A}}),
    (BAD, r"run: args\[0\] \(a\) is a int: the kernel takes an address", {"args": [0, A, A, 64]}),
    (BAD, r"run: args\[0\] \(a\) is a bytes: the kernel takes an address", {"args": [bytes(8), A, A, 64]}),
    (BAD, r"run: args\[0\] \(a\) is a dict: the kernel takes an address", {"args": [{0: A}, A, A, 64]}),
    (TypeError, r"run: args\[0\] \(a\) is a list: must be an array", {"args": [[1.0], A, A, 64]}),
    (BAD, r"run: args\[1\] \(b\) is not contiguous", {"args": [A, np.ones(128, np.float32)[::2], A, 64]}),
    (BAD, r"run: args\[1\] \(b\) is not contiguous", {"args": [A, np.ones((8, 8), np.float32).T, A, 64]}),
    (BAD, r"run: args\[1\] \(b\) overlaps a part of args\[0\]", {"args": [A[:63], A[1:], N, 8]}),
    (BAD, r"run: args\[1\] \(b\) is in the other byte order", {"args": [A, A.astype(">f4"), A, 64]}),
    (BAD, r"run: args\[1\] \(b\) is in the other byte order", {"args": [A, np.zeros(9, [("x", ">i4"), ("y", "f8")]), A, 64]}),
    (TypeError, r"run: args\[1\] \(b\) has the type object: must not have", {"args": [A, np.array([None]), A, 64]}),
    (BAD, r"run: args\[1\] \(b\) is on a GPU", {"args": [A, standin.Producer(A, device=(2, 0)), A, 64]}),
    (BAD, r"run: args\[3\] \(n\) is an array: the kernel takes 4 bytes by value", {"args": [A, A, A, A]}),
    (BAD, r"run: args\[3\] \(n\) is None: the kernel takes 4 bytes by value", {"args": [A, A, A, None]}),
    (TypeError, r"run: args\[3\] \(n\) is a str", {"args": [A, A, A, "64"]}),
    (BAD, r"run: args\[3\] \(n\) = 4294967296: must be an integer of 4 bytes", {"args": [A, A, A, 2**32]}),
    (BAD, r"run: args\[3\] \(n\) = -2147483649: must be", {"args": [A, A, A, -(2**31) - 1]}),
    (BAD, r"run: args\[3\] \(n\) = 1e\+300: must be a float of 4 bytes", {"args": [A, A, A, 1e300]}),
    (BAD, r"run: args\[3\] \(n\) is a int64 of 8 bytes: the kernel takes 4", {"args": [A, A, A, np.int64(64)]}),
    (BAD, r"run: args\[3\] \(n\) is a bytes of 3 bytes: the kernel takes 4", {"args": [A, A, A, b"abc"]}),
    (BAD, r"run: args\[3\] \(n\)\[4\] has 4 bytes: must lie inside", {"args": [A, A, A, {4: 1}]}),
    (TypeError, r"run: args\[3\] \(n\) has the key 'x': must be offsets", {"args": [A, A, A, {"x": 1}]}),
    (BAD, r"run: args\[0\] is a number: the kernel takes 32 bytes", {"kernel": "by_value", "args": [5]}),
    (BAD, r"run: args\[0\]\[4\] overlaps another member", {"kernel": "by_value", "args": [{0: A, 4: 1}]}),
    (BAD, r"run: args\[0\]\[0\] is not contiguous", {"kernel": "by_value", "args": [{0: A[::2]}]}),
    (TypeError, r"run: args\[0\]\[0\] is a list: must be an array", {"kernel": "by_value", "args": [{0: [1]}]}),
    (TypeError, "unexpected keyword argument 'colour'", {"colour": 1}),
]


@pytest.mark.parametrize("error, text, change", CASES, ids=[f"{text[5:40]}" for _, text, _ in CASES])
def test_bad_calls(code, error, text, change):
    options = {**ARGS, "hsaco": code, **change}
    before = A.copy()
    with pytest.raises(error, match=text):
        sim.run(options.pop("hsaco"), **options)
    assert (A == before).all()


def test_a_trace_that_fails_leaves_the_old_file(code, tmp_path):
    file = tmp_path / "trace.json"
    file.write_text("old")
    with pytest.raises(sim.FindingsError):
        sim.run(code, kernel="add", grid=1, block=64, args=[A, A, N.copy(), 64], time=True, trace=file, no_check=())
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]


def test_compile(tmp_path):
    with pytest.raises(BAD, match="compile_hip: source: .* refused it:\n.*error: "):
        sim.compile_hip("this is no program")
    with pytest.raises(BAD, match="compile_hip: compiler = 'no-such-compiler'"):
        sim.compile_hip(SOURCE, compiler="no-such-compiler")
    with pytest.raises(TypeError, match="compile_hip: source is a bytes"):
        sim.compile_hip(b"")


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sim, "_COMPILERS", ("clang++-22",))
    with pytest.raises(tandem.UnsupportedError, match="no HIP compiler found: install clang-22"):
        sim.compile_hip(SOURCE)


# ---- Processes ----


def test_threads_and_the_gil(code):
    """Launches of two threads go on at once, and Python runs beside them."""
    ticks, done, failures = [], threading.Event(), []

    def work(seed):
        x, y = floats(4096, seed), np.zeros(4096, np.float32)
        try:
            for _ in range(5):
                sim.run(code, kernel="add", grid=16, block=256, args=[x, x, y, x.size], threads=1)
                assert (y == 2 * x).all()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        ticks.append(done.wait(0.001))
    assert not failures and len(ticks) > 2


def test_references_are_given_back(code):
    x, bad = floats(64), floats(8)

    def calls():
        sim.run(code, kernel="add", grid=1, block=64, args=[x, x, x, 64], time=True)
        for array in bad, x[::2]:
            with pytest.raises((sim.FindingsError, tandem.ArgumentError)):
                sim.run(code, kernel="add", grid=1, block=64, args=[x, x, array, 64])
        gc.collect()

    calls()
    counts = [sys.getrefcount(o) for o in (x, bad, code, None)]
    for _ in range(5):
        calls()
    after = [sys.getrefcount(o) for o in (x, bad, code, None)]
    assert after[:3] == counts[:3] and abs(after[3] - counts[3]) < 20
