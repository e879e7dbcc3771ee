"""The package's hip variant on a stand-in of ROCm's runtime (test/hip/fake.c): what it calls, in which order, on which stream.
No kernel runs, and nothing of this was tried with ROCm. Run by `meson test hip-python`; it needs neither NumPy nor PyTorch.
LD_LIBRARY_PATH has the stand-in, PYTHONPATH the package, FAKE_HIP names two GPUs."""

import ctypes
import sys
import types

i32, i64, u64, pointer, text = ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_char_p
ROCM, HOST = 10, 1


class Attributes(ctypes.Structure):
    _fields_ = [("type", i32), ("device", i32), ("on_device", pointer), ("on_host", pointer), ("managed", i32), ("flags", i32)]


class State(ctypes.Structure):
    """fake_hip of fake.h."""

    _fields_ = [
        *[(name, i32) for name in ("calls", "fail_at", "fail_forever", "error", "release")], ("failed", text),
        *[(name, i32) for name in ("memory", "streams", "events", "modules", "launches", "launches_before", "strays", "device")],
        ("devices_used", i32 * 4), ("capturing", i32), ("capture", pointer), ("forbidden", text), ("captured_launches", i32),
        ("launched_on", pointer), ("captured_events", i32), ("records", i32), ("special", pointer), ("unknown", i32),
        ("attributes", Attributes),
        *[(name, i32) for name in ("compute_units", "reads_host", "borrowed", "returned", "no_pools", "xcds", "logged")],
        ("log", text * 64),
    ]  # fmt: skip


runtime = ctypes.CDLL("libamdhip64.so.6")
fake = State.in_dll(runtime, "fake_hip")
PASSIVE = {"hipGetDevice", "hipSetDevice", "hipPointerGetAttributes", "hipStreamGetDevice", "hipStreamIsCapturing"}


def calls(function):
    """The calls that a function makes, without those that only ask."""
    fake.logged = 0
    result = function()
    return result, [name for name in (name.decode() for name in fake.log[: fake.logged]) if name not in PASSIVE]


def on(gpu, function, *args):
    before = fake.device
    runtime.hipSetDevice(gpu)
    assert function(*args) == 0
    runtime.hipSetDevice(before)


def memory(gpu):
    made = pointer()
    on(gpu, runtime.hipMalloc, ctypes.byref(made), ctypes.c_size_t(4096))
    return made.value


def stream(gpu):
    made = pointer()
    on(gpu, runtime.hipStreamCreateWithFlags, ctypes.byref(made), 0)
    return made.value


def refused(function, kind, message):
    try:
        function()
    except kind as error:
        assert message in str(error), error
    else:
        raise AssertionError(f"not refused: {message}")


# ---- A producer with __dlpack__, such as CuPy for ROCm ----


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", pointer), ("type", i32), ("device", i32), ("rank", i32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(i64)), ("strides", ctypes.POINTER(i64)), ("offset", u64),
    ]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [("major", i32), ("minor", i32), ("owner", pointer), ("deleter", pointer), ("flags", u64), ("tensor", Tensor)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [pointer, text, pointer]


class Producer:
    def __init__(self, gpu, data, refuses=()):
        self.gpu, self.data, self.refuses, self.asked = gpu, data, refuses, []

    def __dlpack_device__(self):
        return (ROCM, self.gpu)

    def __dlpack__(self, stream=None, max_version=None):
        self.asked.append(stream)
        if stream in self.refuses:
            raise ValueError("stream")
        self.sizes = (i64 * 2)(8, 64)
        tensor = Tensor(self.data, ROCM, self.gpu, 2, 2, 32, 1, self.sizes, None, 0)
        self.managed = Managed(1, 0, None, None, 0, tensor)
        return new_capsule(ctypes.addressof(self.managed), b"dltensor_versioned", None)


# ---- PyTorch for ROCm, as far as the package asks it: read by methods, because it has no exchange API ----

torch = types.ModuleType("torch")
torch.float32, torch.float16, torch.bfloat16, torch.int32, torch.int64 = "f32", "f16", "bf16", "i32", "i64"


class FakeTensor:
    __torch_dispatch__ = None
    requires_grad = False
    dtype = torch.float32
    shape = (8, 64)

    def __init__(self, gpu, data):
        self.device, self.data = types.SimpleNamespace(type="cuda", index=gpu), data

    def is_neg(self):
        return False

    def stride(self):
        return (64, 1)

    def data_ptr(self):
        return self.data


current = {0: 0, 1: 0}
torch.Tensor = FakeTensor
torch.is_grad_enabled = lambda: False
torch.empty = lambda size, dtype, device: FakeTensor(device.index, memory(device.index))
torch.cuda = types.ModuleType("torch.cuda")
torch.cuda.current_stream = lambda gpu: types.SimpleNamespace(cuda_stream=current[gpu])
torch.cuda.is_current_stream_capturing = lambda: bool(fake.capturing)
torch.version = types.ModuleType("torch.version")
torch.version.hip = "7.0"
sys.modules.update({"torch": torch, "torch.cuda": torch.cuda, "torch.version": torch.version})

import tandem  # noqa: E402

assert tandem.build_options()["tdm_backend"] == "hip"
LAUNCH = ["hipModuleLaunchKernel"]


def test_torch_streams():
    """A run goes to PyTorch's stream of the array's GPU, and waits for nothing."""
    for gpu in 0, 1:
        a, b, out = (FakeTensor(gpu, memory(gpu)) for _ in range(3))
        tandem.add(a, b, out=out)
        streams = [0, *(stream(gpu) for _ in range(10))]  # more than the binding keeps
        for current[gpu] in streams + streams:
            used, launches = fake.devices_used[gpu], fake.launches
            result, made = calls(lambda: tandem.add(a, b, out=out))
            assert result is out and made == LAUNCH, made
            assert (fake.launched_on or 0) == current[gpu] and fake.devices_used[gpu] == used + 1 and fake.launches == launches + 1
        result, made = calls(lambda: tandem.add(a, b))
        assert type(result) is FakeTensor and result.device.index == gpu and made == ["hipMalloc", *LAUNCH], made
    assert fake.device == 0 and fake.strays == 0


def test_capture():
    """A run becomes part of a graph without a call that capture forbids; a new plan or device is refused before."""
    a, out = FakeTensor(0, memory(0)), FakeTensor(0, memory(0))
    current[0] = stream(0)
    tandem.softmax(a, out=out)
    fake.capture, fake.capturing = current[0], 1
    captured = fake.captured_launches
    _, made = calls(lambda: tandem.softmax(a, out=out))
    assert made == LAUNCH and fake.captured_launches == captured + 1
    refused(lambda: tandem.silu_mul(a, a, out=out), tandem.UnsupportedError, "silu_mul: gate is on a GPU whose stream is capturing")
    refused(lambda: tandem.softmax(a, out=out, kernel="hip"), tandem.UnsupportedError, "capturing a graph")
    fake.capturing = 0
    assert fake.forbidden is None and fake.strays == 0


def test_dlpack():
    """The stream of another producer is not known: the GPU is waited for before the run, and the run after it."""
    for gpu in 1, 0:
        a, b = Producer(gpu, memory(gpu)), Producer(gpu, memory(gpu))
        tandem.add(a, b)
        result, made = calls(lambda: tandem.add(a, b))
        assert made == ["hipMalloc", "hipDeviceSynchronize", *LAUNCH, "hipStreamSynchronize"], made
        assert type(result) is tandem.Array and result.__dlpack_device__() == (ROCM, gpu)
        assert a.asked == [-1, -1] and fake.launched_on is None
    old = Producer(0, memory(0), refuses=(-1,))
    tandem.add(old, old, out=old)
    assert old.asked == [-1, 0] * 3, old.asked  # 0 is ROCm's default stream, and 1 would be refused
    del result
    assert fake.device == 0 and fake.strays == 0


class Interface:
    def __init__(self, data, **more):
        self.__cuda_array_interface__ = {"shape": (8, 64), "typestr": "<f4", "data": (data, False), "version": 3, **more}


def test_cuda_array_interface():
    """Its dictionary does not say which GPU it is: the runtime does, by the pointer."""
    for gpu in 0, 1:
        used = fake.devices_used[gpu]
        result = tandem.add(Interface(memory(gpu)), Interface(memory(gpu)))
        assert result.__dlpack_device__() == (ROCM, gpu) and fake.devices_used[gpu] == used + 1
    refused(lambda: tandem.add(Interface(memory(0)), Interface(memory(1))), tandem.ArgumentError,
            "add: a is on ROCm's GPU 0, and b on ROCm's GPU 1: must be on one device")  # fmt: skip
    own = ctypes.create_string_buffer(4096)
    fake.special, fake.attributes = ctypes.addressof(own), Attributes(0, 0)
    for fake.unknown in 0, 1:
        refused(lambda: tandem.add(Interface(fake.special), Interface(memory(1))), tandem.ArgumentError, "is memory of the host")
    fake.attributes = Attributes(1, 1)  # registered by GPU 1
    assert tandem.add(Interface(fake.special), Interface(memory(1))).__dlpack_device__() == (ROCM, 1)
    fake.special, fake.unknown = None, 0


def test_memory_of_others():
    """What a producer says wrongly is found before the run."""
    launches = fake.launches
    a = Producer(0, memory(1))
    refused(lambda: tandem.add(a, a), tandem.ArgumentError, "is memory of HIP's device 1: must be of hip:0")
    own = ctypes.create_string_buffer(4096)
    fake.special, fake.attributes = ctypes.addressof(own), Attributes(0, 0)
    a = Producer(0, fake.special)
    refused(lambda: tandem.add(a, a), tandem.ArgumentError, "is memory of the host, which hip:0 can't read")
    fake.special = None
    refused(lambda: tandem.add(Producer(2, memory(0)), Producer(2, memory(0))), tandem.UnsupportedError, "hip:2")
    assert fake.launches == launches


def test_device():
    a = Producer(1, memory(1))
    assert "device: hip:1" in tandem.explain(tandem.add, a, a, device="hip:1")
    tandem.add(a, a, device="hip:1")
    refused(lambda: tandem.add(a, a, device="hip:0"), tandem.ArgumentError, "add: a is on rocm:1, and device = hip:0")
    refused(lambda: tandem.add(a, a, device="host"), tandem.ArgumentError, "add: a is on rocm:1, and device = host")
    refused(lambda: tandem.add(a, a, device="omp:0"), tandem.UnsupportedError, "add: device = omp:0: this build has no")
    refused(lambda: tandem.add(a, a, device="hip:5"), tandem.UnsupportedError, "hip:5")


def test_failures():
    """Each call of the runtime fails in turn: an exception, and the next call works."""
    a, b = Producer(0, memory(0)), FakeTensor(0, memory(0))
    current[0] = stream(0)
    for call in (lambda: tandem.add(a, a, out=a)), (lambda: tandem.add(b, b, out=b)):
        call()
        begin = fake.calls
        call()
        for at in range(fake.calls - begin):
            fake.fail_at, fake.failed = fake.calls + at, None
            refused(call, (tandem.DeviceError, MemoryError), "")
            assert fake.failed is not None
            fake.fail_at = -1
            call()
    assert fake.device == 0


for name, test in [item for item in globals().items() if item[0].startswith("test_")]:
    test()
    print(name, "passed")
