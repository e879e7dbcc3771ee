"""What a type checker must accept (tools/python.sh runs mypy --strict on it). Lines with an ignore must be refused."""

import numpy as np
import numpy.typing as npt
import tandem
import tandem.sim

a: npt.NDArray[np.float32] = np.ones((2, 3), np.float32)
b: npt.NDArray[np.float32] = tandem.add(a, a)
c, d = tandem.rmsnorm(a, a[0], residual=a)
e: npt.NDArray[np.float32] = tandem.attention(a, a, a)
f, g = tandem.attention(a, a, a, lse=True)
text: str = tandem.explain(tandem.gemm, a, a)
tandem.gemm(a, a, epilogue=["bias", ("scale", 2.0)], out=b)
tandem.linear(a, a, activation="silu")
tandem.linear(a, a, activation="tanh")  # type: ignore[arg-type]
tandem.add(a, 3)  # type: ignore[arg-type]
tandem.softmax(a, causal=None)  # type: ignore[arg-type]

result = tandem.sim.run("kernel.hsaco", grid=(4, 2), block=256, args=[a, b, 3, None, {0: a, 8: 1.5}], time=True, trace="trace.json")
kinds: list[str] = [finding.kind for finding in result.findings]
names: list[str] = [argument.name for kernel in tandem.sim.kernels(b"") for argument in kernel.args]
tandem.sim.run("kernel.hsaco", block=256)  # type: ignore[call-arg]
tandem.sim.run("kernel.hsaco", grid=1.5, block=256)  # type: ignore[arg-type]
