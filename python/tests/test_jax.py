"""JAX's arrays of the CPU: they can't be written, so results are new ones."""

import ml_dtypes
import numpy as np
import pytest
import tandem

jax = pytest.importorskip("jax")
jnp = jax.numpy


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16], ids=["f32", "f16", "bf16"])
def test_results(dtype):
    a = jnp.arange(1200.0, dtype=dtype).reshape(30, 40) / 64
    result = tandem.add(a, a)
    assert isinstance(result, jax.Array) and result.dtype == dtype
    assert np.array_equal(np.asarray(result).view(np.uint16), np.asarray(a + a).view(np.uint16))
    q = jnp.ones((2, 4, 5, 32), dtype)
    out, lse = tandem.attention(q, q, q, causal=True, lse=True)
    assert isinstance(out, jax.Array) and out.dtype == dtype and lse.dtype == jnp.float32 and lse.shape == (2, 4, 5)
    assert jnp.allclose(out.astype(jnp.float32), 1, atol=1e-2)
    assert tandem.embedding(a, jnp.array([3, 1], jnp.int32)).shape == (2, 40)


def test_results_live_on():
    a = jnp.ones((1000, 1000), jnp.float32)
    kept = [tandem.add(a, a) for _ in range(5)]
    tandem.cache_clear()
    assert all(float(k.sum()) == 2e6 for k in kept)
    assert float((kept[0] @ kept[1])[0, 0]) == 4000


def test_out_is_refused():
    a = jnp.ones((3, 4), jnp.float32)
    with pytest.raises(tandem.ArgumentError, match="add: out is read-only"):
        tandem.add(a, a, out=a)
    with pytest.raises(tandem.ArgumentError, match="add: out"):
        tandem.add(np.ones((3, 4), np.float32), a, out=a)


def test_tracers_are_refused():
    """Inside of jax.jit there is no memory."""
    with pytest.raises((TypeError, tandem.ArgumentError), match="add: a"):
        jax.jit(lambda x: tandem.add(x, x))(jnp.ones((3, 4), jnp.float32))
