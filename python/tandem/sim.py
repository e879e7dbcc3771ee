"""gfxsim on arrays: runs a kernel of an AMD code object on this processor, checks it, counts it, and predicts its clocks.

    import tandem.sim
    result = tandem.sim.run("add.hsaco", grid=4, block=256, args=[a, b, c, 1000])
    print(result.counters["bounds"])

docs/python.md says more about arguments, results and errors.
"""

import ctypes
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tandem import ArgumentError, Error, UnsupportedError

try:
    import tandem._sim as _sim
except ModuleNotFoundError as missing:
    if missing.name != "tandem._sim":
        raise
    _sim = None  # type: ignore[assignment]

__all__ = ["Argument", "Finding", "FindingsError", "Kernel", "Result", "available", "compile_hip", "kernels", "run"]


class Argument(NamedTuple):
    """An argument of a kernel, as the code object describes it. name is "" unless the kernel was compiled with
    -fno-discard-value-names, as compile_hip does."""

    name: str
    offset: int
    size: int
    kind: str


@dataclass(frozen=True)
class Kernel:
    """A kernel of a code object: its arguments, and what it needs of a compute unit."""

    name: str
    args: list[Argument]
    sgprs: int
    vgprs: int
    agprs: int
    sgpr_spills: int
    vgpr_spills: int
    lds_bytes: int
    scratch_bytes: int
    max_workgroup: int


@dataclass(frozen=True)
class Finding:
    """Something that a kernel did wrong, where it was first seen, and how often it was seen there (count).

    kind is "LDS race", "out of bounds" and so on; fatal: it ended the launch. A race or a missing wait has the instruction that this
    one collides with (other_instruction). Sources are "file:line", and need -g. access, space, writes and bytes describe a bad access,
    and argument is the read-only array that the kernel writes.
    """

    kind: str
    message: str
    kernel: str
    instruction: str
    source: str
    pc: int
    function: str
    other_instruction: str
    other_source: str
    other_pc: int
    other_function: str
    workgroup: tuple[int, int, int]
    wave: int
    lane: int | None
    address: int | None
    count: int
    fatal: bool
    space: str
    access: str
    writes: bool
    bytes: int
    argument: str | None

    def __str__(self) -> str:
        lines = [f"{self.kind}: {self.message}", f"  instruction pc {self.pc:#x}: {self.instruction}"]
        if self.source:
            lines.append(f"    at {self.source}")
        if self.other_instruction:
            lines.append(f"  other access pc {self.other_pc:#x}: {self.other_instruction}")
        if self.other_source:
            lines.append(f"    at {self.other_source}")
        where = f"  workgroup {','.join(map(str, self.workgroup))}, wave {self.wave}"
        lines.append(where + ("" if self.lane is None else f", lane {self.lane}") + f"; {self.count} times")
        return "\n".join(lines)


@dataclass(frozen=True)
class Result:
    """What a launch did. counters and time are dictionaries by the names of gfxsim's JSON (docs/gfxsim-profile.md, gfxsim-time.md).

    counters is None if counters=False was given or something was found, time is None unless time=True was given. complete: the launch
    ended by itself, so that the arrays hold what the kernel wrote.
    """

    kernel: Kernel
    chip: str
    counters: dict[str, Any] | None
    time: dict[str, Any] | None
    findings: list[Finding]
    complete: bool


class FindingsError(Error, RuntimeError):
    """The kernel did something wrong. findings has what, result the rest of what the launch left."""

    def __init__(self, text: str, result: Result) -> None:
        super().__init__(text)
        self.result = result
        self.findings = result.findings


# ---- Arguments of run ----

_Path = str | os.PathLike[str]
_Image = _Path | bytes | bytearray | memoryview
_Size = int | Sequence[int]


def available() -> bool:
    """Whether this build of the package has gfxsim."""
    return _sim is not None


def _need(function: str) -> None:
    if _sim is None:
        raise UnsupportedError(f"{function}: this build has no gfxsim: install with pip install . -Csetup-args=-Dsim=enabled")


def _image(function: str, hsaco: _Image) -> bytes:
    if isinstance(hsaco, (bytes, bytearray, memoryview)):
        return bytes(hsaco)
    if not isinstance(hsaco, (str, os.PathLike)):
        raise TypeError(f"{function}: hsaco is a {type(hsaco).__name__}: must be the path of a code object, or its bytes")
    try:
        with open(hsaco, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ArgumentError(f"{function}: hsaco = {os.fspath(hsaco)!r}: {reason}") from error


def _integer(name: str, value: Any, least: int, most: int) -> int:
    try:
        number = int(value.__index__())
    except AttributeError:
        raise TypeError(f"run: {name} is a {type(value).__name__}: must be an integer") from None
    if not least <= number <= most:
        raise ArgumentError(f"run: {name} = {number}: must be {least} to {most}")
    return number


def _size(name: str, value: _Size) -> tuple[int, int, int]:
    if isinstance(value, (str, bytes)) or not (isinstance(value, Sequence) or hasattr(value, "__index__")):
        raise TypeError(f"run: {name} is a {type(value).__name__}: must be an integer, or one to three of them")
    sizes = list(value) if isinstance(value, Sequence) else [value]
    if not 1 <= len(sizes) <= 3:
        raise ArgumentError(f"run: {name} has {len(sizes)} numbers: must have one to three")
    x, y, z = [_integer(name, size, 1, 2**32 - 1) for size in sizes] + [1] * (3 - len(sizes))
    return x, y, z


def _text(name: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"run: {name} is a {type(value).__name__}: must be a string")
    if value is not None and "\0" in value:
        raise ArgumentError(f"run: {name} has a character 0")
    return value


def _flags(**flags: Any) -> None:
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise TypeError(f"run: {name} is a {type(value).__name__}: must be True or False")


def _checks(name: str, value: str | Sequence[str], known: Mapping[str, int], all_of_them: bool) -> int:
    if isinstance(value, str):
        value = list(known) if value == "all" and all_of_them else [value]
    bits = 0
    for check in value:
        if check not in known:
            also = ", or all" if all_of_them else ""
            raise ArgumentError(f"run: {name} = {check!r}: must be of {', '.join(known)}{also}")
        bits |= known[check]
    return bits


# ---- Arguments of the kernel ----


class _Segment:
    """The kernel's arguments as bytes, and the arrays whose addresses belong into them."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.bytes = bytearray(max((a.offset + a.size for a in kernel.args), default=0))
        self.arrays: list[tuple[int, str, Any]] = []

    def put(self, what: str, offset: int, data: bytes) -> None:
        self.bytes[offset : offset + len(data)] = data


def _is_scalar_of_numpy(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def _array(what: str, value: Any) -> Any:
    """NumPy's array interface says nothing of the order of a type's bytes or of the flags of structures."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray):
        return value
    if value.dtype.hasobject:
        raise TypeError(f"run: {what} has the type {value.dtype}: must not have Python objects")
    if not value.dtype.isnative:
        raise ArgumentError(f"run: {what} is in the other byte order: must be in the processor's")
    return value if value.dtype.names is None else value.view(f"V{value.dtype.itemsize}")


def _has_bytes(value: Any) -> bool:
    return isinstance(value, (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Union, ctypes._SimpleCData, ctypes.Array))


def _number(what: str, value: float | int, size: int) -> bytes:
    """A Python number as an argument of so many bytes: an int is an integer, and a float is an IEEE number."""
    if isinstance(value, float):
        code = {2: "<e", 4: "<f", 8: "<d"}.get(size)
        if code is None:
            raise ArgumentError(f"run: {what} is a float: the kernel takes {size} bytes there")
        try:
            return struct.pack(code, value)
        except OverflowError:
            raise ArgumentError(f"run: {what} = {value}: must be a float of {size} bytes") from None
    if size not in (1, 2, 4, 8):
        raise ArgumentError(f"run: {what} is a number: the kernel takes {size} bytes there: give a dictionary, or bytes")
    for signed in (False, True):
        try:
            return int(value).to_bytes(size, "little", signed=signed)
        except OverflowError:
            pass
    raise ArgumentError(f"run: {what} = {value}: must be an integer of {size} bytes")


def _plain(what: str, value: Any, size: int | None) -> bytes | None:
    """The bytes of what is no array; None for an array. Without a size, a number has 4 bytes."""
    if _is_scalar_of_numpy(value):
        data: bytes = value.tobytes()
    elif _has_bytes(value):
        data = bytes(value)
    elif isinstance(value, (bool, int, float)):
        return _number(what, value, 4 if size is None else size)
    else:
        return None
    if size is not None and len(data) != size:
        kind = getattr(value, "dtype", type(value).__name__)
        raise ArgumentError(f"run: {what} is a {kind} of {len(data)} bytes: the kernel takes {size}")
    return data


def _put(segment: _Segment, what: str, argument: Argument, value: Any) -> None:
    address = argument.kind == "global_buffer"
    if value is None and argument.size == 8:
        return
    if isinstance(value, Mapping):
        if address:
            raise ArgumentError(f"run: {what} is a {type(value).__name__}: the kernel takes an address: must be an array or None")
        _put_members(segment, what, argument, value)
        return
    data = None if value is None else _plain(what, value, argument.size)
    if data is not None and address:
        raise ArgumentError(f"run: {what} is a {type(value).__name__}: the kernel takes an address: must be an array or None")
    if data is not None:
        segment.put(what, argument.offset, data)
    elif address and value is not None:
        segment.arrays.append((argument.offset, what, _array(what, value)))
    elif value is None or _is_array(value):
        raise ArgumentError(
            f"run: {what} is {'None' if value is None else 'an array'}: the kernel takes {argument.size} bytes by value: must be a number, "
            "bytes, or a dictionary of the members of a structure"
        )
    else:
        raise TypeError(f"run: {what} is a {type(value).__name__}: must be a number, bytes, or a dictionary of a structure's members")


def _is_array(value: Any) -> bool:
    return any(hasattr(value, name) for name in ("__dlpack__", "__array_struct__", "__array_interface__", "__cuda_array_interface__"))


def _put_members(segment: _Segment, what: str, argument: Argument, members: Mapping[Any, Any]) -> None:
    used: list[tuple[int, int]] = []
    for key, value in members.items():
        if isinstance(key, bool) or not hasattr(key, "__index__"):
            raise TypeError(f"run: {what} has the key {key!r}: must be offsets of the structure's members, in bytes")
        offset, member = int(key), f"{what}[{int(key)}]"
        data = bytes(8) if value is None else _plain(member, value, None)
        size = 8 if data is None else len(data)
        if offset < 0 or offset + size > argument.size:
            raise ArgumentError(f"run: {member} has {size} bytes: must lie inside of the structure's {argument.size}")
        if any(offset < end and begin < offset + size for begin, end in used):
            raise ArgumentError(f"run: {member} overlaps another member")
        used.append((offset, offset + size))
        if data is None:
            segment.arrays.append((argument.offset + offset, member, _array(member, value)))
        else:
            segment.put(member, argument.offset + offset, data)


def _segment(kernel: Kernel, args: Sequence[Any] | Mapping[str, Any]) -> _Segment:
    segment = _Segment(kernel)
    named = [f"{a.name} of {a.size} bytes" if a.name else f"{a.size} bytes" for a in kernel.args]
    if isinstance(args, Mapping):
        known = {a.name: a for a in kernel.args if a.name}
        for name, value in args.items():
            if name not in known:
                raise ArgumentError(f"run: args[{name!r}]: kernel {kernel.name} has the arguments {', '.join(named)}")
            _put(segment, f"args[{name!r}]", known[name], value)
        return segment
    if isinstance(args, (str, bytes)) or not isinstance(args, Sequence):
        raise TypeError(f"run: args is a {type(args).__name__}: must be a list of the kernel's arguments, or a dictionary by their names")
    if len(args) != len(kernel.args):
        raise ArgumentError(f"run: args has {len(args)}: kernel {kernel.name} takes {len(kernel.args)}: {', '.join(named) or 'none'}")
    for n, (argument, value) in enumerate(zip(kernel.args, args)):
        _put(segment, f"args[{n}] ({argument.name})" if argument.name else f"args[{n}]", argument, value)
    return segment


# ---- Kernels ----


def _kernels(program: "_sim.Program") -> list[Kernel]:
    # clang names an address of global memory "a.coerce".
    return [
        Kernel(**{**row, "args": [Argument(name.removesuffix(".coerce"), *rest) for name, *rest in row["args"]]})
        for row in program.kernels()
    ]


def _kernel(program: "_sim.Program", name: str | None) -> Kernel:
    found = _kernels(program)
    for kernel in found:
        if kernel.name == name or (name is None and len(found) == 1):
            return kernel
    if not found:
        raise ArgumentError("run: hsaco: the code object has no kernels")
    names = ", ".join(kernel.name for kernel in found)
    if name is None:
        raise ArgumentError(f"run: kernel must name one of {names}")
    raise ArgumentError(f"run: kernel = {name!r}: must be one of {names}")


def kernels(hsaco: _Image) -> list[Kernel]:
    """The kernels of a code object (a path, or its bytes), with their arguments."""
    _need("kernels")
    return _kernels(_sim.open(_image("kernels", hsaco), None, 0, 0, False, 0, 0, 0, 0, 0, 0))


def run(
    hsaco: _Image,
    *,
    grid: _Size,
    block: _Size,
    args: Sequence[Any] | Mapping[str, Any] = (),
    kernel: str | None = None,
    chip: str | None = None,
    lds: int = 0,
    workgroups: str | None = None,
    counters: bool = True,
    time: bool = False,
    skip_mfma: bool = False,
    warm: bool = False,
    rounds: int = 0,
    trace: _Path | None = None,
    trace_cus: str | None = None,
    strict: bool = True,
    check: str | Sequence[str] = (),
    no_check: str | Sequence[str] = (),
    loose_bounds: bool = False,
    reports: int = 20,
    threads: int = 0,
    turn: int = 0,
    seed: int = 0,
    budget: int = 0,
    stack: int = 0,
) -> Result:
    """Runs one launch of a kernel of the code object `hsaco` (a path, or its bytes) in gfxsim, and returns a Result.

    grid counts workgroups and block work-items: a number, or up to three. args are the kernel's arguments, in order or by name. An address
    is an array of the host (NumPy, or anything with DLPack or the array interface) or None. The kernel writes into the caller's arrays.
    Numbers, NumPy's scalars and bytes are values, and a structure by value is a dictionary {offset: value}.

    Where the kernel does something wrong, FindingsError is raised, or with strict=False the result lists the findings. docs/python.md
    describes all arguments; those of the same names in `gfxsim run --help`, `gfxsim profile --help` and `gfxsim time --help` mean the same.
    """
    _need("run")
    _flags(counters=counters, time=time, skip_mfma=skip_mfma, warm=warm, strict=strict, loose_bounds=loose_bounds)
    sizes = _size("grid", grid), _size("block", block)
    for name, value in ("kernel", kernel), ("chip", chip), ("workgroups", workgroups), ("trace_cus", trace_cus):
        _text(name, value)
    only_time = {"skip_mfma": skip_mfma, "warm": warm, "rounds": rounds, "trace": trace, "trace_cus": trace_cus}
    for name, given in only_time.items():
        if given and not time:
            raise ArgumentError(f"run: {name} is given: needs time=True")
    if trace_cus is not None and trace is None:
        raise ArgumentError("run: trace_cus is given: needs trace")
    if rounds and workgroups is not None:
        raise ArgumentError("run: rounds is given: not with workgroups")
    if trace is not None and not isinstance(trace, (str, os.PathLike)):
        raise TypeError(f"run: trace is a {type(trace).__name__}: must be a path")
    program = _sim.open(
        _image("run", hsaco),
        chip,
        _integer("threads", threads, 0, 1024),
        _integer("budget", budget, 0, 2**63 - 1),
        loose_bounds,
        _checks("no_check", no_check, _sim.checks, True),
        _checks("check", check, {"barrier": _sim.checks["barrier"]}, False),
        _integer("reports", reports, 1, 2**31 - 1),
        _integer("stack", stack, 0, 2**31 - 1),
        _integer("turn", turn, 0, 2**31 - 1),
        _integer("seed", seed, 0, 2**63 - 1),
    )
    chosen = _kernel(program, kernel)
    segment = _segment(chosen, args)
    left = program.run(
        chosen.name,
        *sizes,
        bytes(segment.bytes),
        segment.arrays,
        _integer("lds", lds, 0, 2**32 - 1),
        workgroups,
        counters,
        time,
        skip_mfma,
        warm,
        _integer("rounds", rounds, 0, 2**31 - 1),
        None if trace is None else os.fsencode(trace),
        trace_cus,
    )
    findings = [Finding(**row) for row in left["findings"]]
    result = Result(chosen, program.chip, left["counters"], left["time"], findings, left["ended"])
    for finding in findings:
        if finding.argument is not None:
            raise ArgumentError(f"run: {finding.argument} is read-only, and the kernel writes it: {finding.message}\n{finding}")
    if left["error"] is not None and (strict or not findings):
        head = f"run: {len(findings)} findings in kernel {chosen.name}" if len(findings) > 1 else f"run: {left['error']}"
        raise FindingsError("\n".join([head, *map(str, findings)]), result)
    return result


# ---- Compiling ----

_COMPILERS = ("amdclang++", "/opt/rocm/llvm/bin/clang++", "hipcc", "clang++-22", "clang++-21", "clang++-20")
# Without unaligned access mode, so that clang does not join 16-bit accesses at even addresses, which gfxsim reports.
_FLAGS = ("-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib", "-std=c++17", "-O2", "-g",
          "-fno-discard-value-names", "-Xclang", "-target-feature", "-Xclang", "-unaligned-access-mode")  # fmt: skip


def _compiler(wanted: str | None) -> str:
    names = _COMPILERS if wanted is None else (wanted,)
    for name in names:
        path = shutil.which(name)
        if path is not None:
            return path
    if wanted is not None:
        raise ArgumentError(f"compile_hip: compiler = {wanted!r}: no such program")
    raise UnsupportedError(
        f"compile_hip: no HIP compiler found: install clang-22 and lld-22, or ROCm, or name one with compiler= (looked for {', '.join(names)})"
    )


def compile_hip(source: str, chip: str = "gfx942", *, options: Sequence[str] = (), compiler: str | None = None) -> bytes:
    """Compiles HIP device code for a chip, and returns the code object. It needs ROCm's compiler, or clang 20 or later with its lld.

    ROCm's headers and libraries are not used: the source has __attribute__((global)) for __global__, and clang's builtins for indices.
    options follow the compiler's own, as "-O3" or "-DTILE=64". The first of amdclang++, hipcc and clang++-22 to -20 in PATH is taken.
    """
    if not isinstance(source, str):
        raise TypeError(f"compile_hip: source is a {type(source).__name__}: must be the text of a HIP program")
    program = _compiler(compiler)
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "kernel.hsaco")
        with open(os.path.join(folder, "kernel.hip"), "w", encoding="utf-8") as file:
            file.write(source)
        command = [program, *_FLAGS, f"--offload-arch={chip}", *options, "kernel.hip", "-o", image]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace")
        if ran.returncode != 0:
            raise ArgumentError(f"compile_hip: source: {os.path.basename(program)} refused it:\n{ran.stderr.strip()}")
        with open(image, "rb") as made:
            return made.read()
