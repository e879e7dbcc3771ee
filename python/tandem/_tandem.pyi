"""The functions of Tandem, which are in C. docs/python.md has more about each."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypeVar, final, overload

class _DLPack(Protocol):
    def __dlpack__(self, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...

class _Interface(Protocol):
    @property
    def __array_struct__(self) -> Any: ...

# What a function takes, and the caller's own kind of array, which it returns.
_Any: TypeAlias = _DLPack | _Interface
_A = TypeVar("_A", bound=_DLPack | _Interface)

_Type: TypeAlias = Literal["float32", "float16", "bfloat16"]
_Activation: TypeAlias = Literal["relu", "gelu", "gelu_tanh", "quick_gelu", "silu"]
_Step: TypeAlias = (
    Literal["bias", "residual", "relu", "gelu", "gelu_tanh", "quick_gelu", "silu"]
    | tuple[Literal["leaky_relu", "scale", "divide"], float]
)

__version__: str

class Error(Exception): ...
class ArgumentError(Error, ValueError): ...
class UnsupportedError(Error, NotImplementedError): ...
class DeviceError(Error, RuntimeError): ...
class VerifyError(Error, RuntimeError): ...

@final
class Array:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

def add(a: _A, b: _Any, *, out: _A | None = None, kernel: str | None = None, device: str | None = None) -> _A: ...
@overload
def attention(
    q: _A,
    k: _Any,
    v: _Any,
    *,
    causal: bool = False,
    scale: float | None = None,
    keys: int | None = None,
    lse: Literal[False] = False,
    out: _A | None = None,
    lse_out: None = None,
    kernel: str | None = None,
    device: str | None = None,
) -> _A: ...
@overload
def attention(
    q: _A,
    k: _Any,
    v: _Any,
    *,
    causal: bool = False,
    scale: float | None = None,
    keys: int | None = None,
    lse: bool = True,
    out: _A | None = None,
    lse_out: _A | None = None,
    kernel: str | None = None,
    device: str | None = None,
) -> tuple[_A, _A]: ...
def cross_entropy(logits: _A, targets: _Any, *, ignore: int = -100, out: _A | None = None, kernel: str | None = None, device: str | None = None) -> _A: ...
def embedding(table: _A, ids: _Any, *, out: _A | None = None, kernel: str | None = None, device: str | None = None) -> _A: ...
def gemm(
    a: _A,
    b: _Any,
    *,
    bias: _Any | None = None,
    residual: _Any | None = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    epilogue: Sequence[_Step] | None = None,
    dtype: _Type | None = None,
    out: _A | None = None,
    kernel: str | None = None,
    device: str | None = None,
) -> _A: ...
def linear(
    x: _A,
    weight: _Any,
    bias: _Any | None = None,
    *,
    residual: _Any | None = None,
    activation: _Activation | None = None,
    dtype: _Type | None = None,
    out: _A | None = None,
    kernel: str | None = None,
    device: str | None = None,
) -> _A: ...
@overload
def rmsnorm(
    x: _A,
    weight: _Any,
    *,
    residual: None = None,
    eps: float = 1e-05,
    out: _A | None = None,
    sum: None = None,
    kernel: str | None = None,
    device: str | None = None,
) -> _A: ...
@overload
def rmsnorm(
    x: _A,
    weight: _Any,
    *,
    residual: _Any,
    eps: float = 1e-05,
    out: _A | None = None,
    sum: _A | None = None,
    kernel: str | None = None,
    device: str | None = None,
) -> tuple[_A, _A]: ...
def rope(
    x: _A,
    *,
    offset: int = 0,
    theta: float = 10000.0,
    style: Literal["interleaved", "half"] = "interleaved",
    factor: float = 1.0,
    trained: int = 0,
    low: float = 1.0,
    high: float = 4.0,
    out: _A | None = None,
    kernel: str | None = None,
    device: str | None = None,
) -> _A: ...
def silu_mul(gate: _A, up: _Any, *, out: _A | None = None, kernel: str | None = None, device: str | None = None) -> _A: ...
def softmax(x: _A, *, causal: bool = False, out: _A | None = None, kernel: str | None = None, device: str | None = None) -> _A: ...
def swiglu(
    x: _A, gate: _Any, up: _Any, *, dtype: _Type | None = None, out: _A | None = None, kernel: str | None = None, device: str | None = None
) -> _A: ...
def explain(function: Callable[..., Any] | str, /, *args: Any, **kwargs: Any) -> str: ...
def devices() -> list[str]: ...
def kernels(op: str, /) -> list[str]: ...
def build_options() -> dict[str, str]: ...
def cache_info() -> dict[str, int]: ...
def cache_clear() -> None: ...
