"""Tandem's transformer kernels on arrays of NumPy, PyTorch, and everything with DLPack.

    import numpy as np, tandem
    a = np.ones((512, 512), np.float32)
    print(tandem.gemm(a, a), tandem.explain(tandem.gemm, a, a))

Each function takes arrays as they are, without a copy, and returns an array of the same library, or writes to out=.
"""

from . import _cpu

_missing = _cpu.missing()
if _missing:
    raise ImportError(
        f"tandem: this processor lacks {', '.join(_missing)}: the package was built with -Dhost_cpu={_cpu.host_cpu};"
        " build it with -Csetup-args=-Dhost_cpu=ARCH for another one"
    )

from ._tandem import (  # noqa: E402
    ArgumentError,
    Array,
    DeviceError,
    Error,
    UnsupportedError,
    VerifyError,
    __version__,
    add,
    attention,
    build_options,
    cache_clear,
    cache_info,
    cross_entropy,
    devices,
    embedding,
    explain,
    gemm,
    kernels,
    linear,
    rmsnorm,
    rope,
    silu_mul,
    softmax,
    swiglu,
)

__all__ = [
    "ArgumentError",
    "Array",
    "DeviceError",
    "Error",
    "UnsupportedError",
    "VerifyError",
    "__version__",
    "add",
    "attention",
    "build_options",
    "cache_clear",
    "cache_info",
    "cross_entropy",
    "devices",
    "embedding",
    "explain",
    "gemm",
    "kernels",
    "linear",
    "rmsnorm",
    "rope",
    "silu_mul",
    "softmax",
    "swiglu",
]
