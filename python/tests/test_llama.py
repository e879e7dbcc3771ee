"""patch(): random Llamas, against the same model in float64."""

import copy

import pytest
import tandem

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from tandem.torch import patch, unpatch  # noqa: E402

EPSILON = {torch.float32: 2.0**-23, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}
CONFIGS = [
    dict(num_attention_heads=4, num_key_value_heads=4),
    dict(num_attention_heads=4, num_key_value_heads=2, attention_bias=True),
    dict(num_attention_heads=6, num_key_value_heads=1, head_dim=32, hidden_size=72, mlp_bias=True),
    dict(num_attention_heads=8, num_key_value_heads=2, tie_word_embeddings=True, rope=dict(rope_type="linear", factor=2.0)),
    dict(num_attention_heads=4, num_key_value_heads=2,
         rope=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)),
]  # fmt: skip


def llama(seed=0, rope=None, **changes):
    torch.manual_seed(seed)
    fields = dict(hidden_size=128, intermediate_size=176, num_hidden_layers=2, vocab_size=211, max_position_embeddings=256)
    fields.update(changes)
    if rope is not None:
        name = "rope_parameters" if int(transformers.__version__.split(".")[0]) >= 5 else "rope_scaling"
        fields[name] = {"rope_theta": 1e4, **rope}
    config = transformers.LlamaConfig(**fields)
    model = transformers.LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():  # so that logits differ by more than noise
            parameter.copy_(
                torch.randn_like(parameter) * (0.1 if parameter.dim() == 2 else 0.2) + (1.0 if "norm" in name else 0.0)
            )
    return model


def logits(model, ids):
    with torch.no_grad():
        return model(ids).logits.double()


def compare(result, eager, expected, dtype):
    """No further from float64 than eager PyTorch, but for a factor of 2; and the divergence that such errors can make."""
    error, of_eager = (result - expected).abs().max(), (eager - expected).abs().max()
    assert error <= 2 * of_eager + 4 * EPSILON[dtype] * expected.abs().max(), f"{error:.3g}, eager {of_eager:.3g}"
    p = torch.log_softmax(expected, -1)
    divergence = (p.exp() * (p - torch.log_softmax(result, -1))).sum(-1).max()
    assert divergence <= error**2 + 1e-12, f"KL {divergence:.3g}"


@pytest.mark.parametrize("dtype", list(EPSILON), ids=["f32", "f16", "bf16"])
@pytest.mark.parametrize("number", range(len(CONFIGS)))
def test_logits(number, dtype):
    model = llama(number, **CONFIGS[number])
    ids = torch.randint(211, (3, 23))
    model.to(dtype)
    eager = logits(model, ids)
    reference = llama(number, **CONFIGS[number])
    reference.load_state_dict(model.state_dict())
    expected = logits(reference.double(), ids)
    counts = patch(model)
    biased = CONFIGS[number].get("mlp_bias", False)
    layers = {"rmsnorm": 5, "rope": 2, "attention": 2, "linear": 11 + 4 * biased, "silu_mul" if biased else "swiglu": 2}
    assert counts == layers
    compare(logits(model, ids), eager, expected, dtype)
    unpatch(model)
    assert torch.equal(logits(model, ids), eager)


@pytest.mark.parametrize("cache", ["dynamic", "static"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("number", range(len(CONFIGS)))
def test_generate(number, dtype, cache):
    """The logits of each token that generate() chose with a cache, against float64 on the whole sequence at once."""
    model = llama(number, **CONFIGS[number])
    ids = torch.randint(1, 211, (3, 7))
    model.to(dtype)
    reference = llama(number, **CONFIGS[number])
    reference.load_state_dict(model.state_dict())
    patch(model)
    tandem.cache_clear()
    made = model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False, pad_token_id=0, eos_token_id=None,
        cache_implementation=cache, disable_compile=True, return_dict_in_generate=True, output_logits=True,
    )  # fmt: skip
    assert tandem.cache_info()["hits"] > 12 * 2 * 9  # 9 calls of each of the 2 layers, or more
    unpatch(model)
    assert "create_masks_for_generate" not in model.__dict__
    assert made.sequences.shape == (3, 19) and torch.equal(made.sequences[:, :7], ids)
    result = torch.stack(made.logits, 1).double()
    assert torch.equal(result.argmax(-1), made.sequences[:, 7:])
    compare(result, logits(model, made.sequences)[:, 6:-1], logits(reference.double(), made.sequences)[:, 6:-1], dtype)


def test_generate_refuses_padding():
    model = llama(1, **CONFIGS[1])
    ids = torch.randint(1, 211, (2, 7))
    mask = torch.ones_like(ids)
    mask[0, :3] = 0
    patch(model)
    for cache in "dynamic", "static":
        with pytest.raises(tandem.UnsupportedError, match="attention_mask has zeros: padding masks"):
            model.generate(ids, attention_mask=mask, max_new_tokens=3, do_sample=False, pad_token_id=0,
                           cache_implementation=cache, disable_compile=True)  # fmt: skip


def test_static_cache():
    model = llama(2, **CONFIGS[1])
    ids = torch.randint(211, (2, 20))
    whole = logits(model, ids)
    patch(model)
    cache = transformers.StaticCache(config=model.config, max_cache_len=64)
    with torch.no_grad():
        parts = [model(ids[:, a:b], past_key_values=cache, use_cache=True).logits for a, b in ((0, 9), (9, 10), (10, 20))]
    assert (torch.cat(parts, 1).double() - whole).abs().max() <= 1e-4 * whole.abs().max()


def test_chunked_prefill():
    model = llama(2, **CONFIGS[1])
    ids = torch.randint(211, (2, 20))
    whole = logits(model, ids)
    patch(model)
    with torch.no_grad():
        first = model(ids[:, :13], use_cache=True)
        second = model(ids[:, 13:], past_key_values=first.past_key_values, use_cache=True)
    result = torch.cat([first.logits, second.logits], 1).double()
    assert (result - whole).abs().max() <= 1e-4 * whole.abs().max()


def test_copies_and_compile():
    """A copy of a patched model has its own weights, and torch.compile leaves the kernels as they are."""
    model = llama(3, **CONFIGS[1])
    ids = torch.randint(211, (2, 9))
    patch(model)
    expected = logits(model, ids)
    other = copy.deepcopy(model)
    assert torch.equal(logits(other, ids), expected)
    with torch.no_grad():
        other.model.layers[0].mlp.up_proj.weight.zero_()
        other.lm_head.weight.mul_(2)
    assert torch.equal(logits(model, ids), expected) and not torch.allclose(logits(other, ids), expected)
    assert torch.equal(logits(torch.compile(model, backend="aot_eager"), ids), expected)
    unpatch(other)
    unpatch(model)


def test_inner_model():
    model = llama(3, **CONFIGS[1]).model
    ids = torch.randint(211, (2, 9))
    with torch.no_grad():
        expected = model(ids).last_hidden_state
        assert patch(model) == {"rmsnorm": 5, "rope": 2, "attention": 2, "linear": 10, "swiglu": 2}
        assert torch.allclose(model(ids).last_hidden_state, expected, atol=1e-4)


def test_refused():
    model = llama(0, **CONFIGS[0])
    ids = torch.randint(211, (2, 6))
    patch(model)
    with torch.no_grad():
        mask = torch.ones(2, 6, dtype=torch.long)
        assert model(ids, attention_mask=mask).logits.shape == (2, 6, 211)
        mask[0, :2] = 0
        with pytest.raises(tandem.UnsupportedError, match="attention_mask has zeros: padding masks"):
            model(ids, attention_mask=mask)
        with pytest.raises(tandem.UnsupportedError, match=r"attention_mask has the shape \[2, 1, 6, 6\]: must be"):
            model(ids, attention_mask=torch.zeros(2, 1, 6, 6))
        with pytest.raises(tandem.UnsupportedError, match="position_ids are not consecutive"):
            model(ids, position_ids=torch.tensor([[0, 1, 2, 4, 5, 6]]))
        with pytest.raises(tandem.UnsupportedError, match="position_ids are not consecutive"):
            model(ids, position_ids=torch.arange(6)[None] + torch.tensor([[0], [3]]))
        assert model(ids, position_ids=torch.arange(5, 11)[None]).logits.shape == (2, 6, 211)
    with pytest.raises(tandem.ArgumentError, match="needs a gradient"):
        model(ids)
    with pytest.raises(tandem.UnsupportedError, match="patched already"):
        patch(model)
    unpatch(model)
    with pytest.raises(tandem.ArgumentError, match="not patched"):
        unpatch(model)


def test_models_that_are_refused():
    for bad in "llama", torch.nn.Linear(3, 3), None:
        with pytest.raises(tandem.UnsupportedError, match="model is a .*: must be a LlamaForCausalLM"):
            patch(bad)
    with pytest.raises(tandem.UnsupportedError, match="meta device"):
        patch(llama(0).to("meta"))
    with pytest.raises(tandem.UnsupportedError, match="hidden_act = gelu: must be silu"):
        patch(llama(0, hidden_act="gelu"))
    with pytest.raises(tandem.UnsupportedError, match="rope_type = dynamic: must be"):
        patch(llama(0, rope=dict(rope_type="dynamic", factor=2.0)))
    model = llama(0)
    model.model.layers[1].mlp.up_proj = torch.nn.Sequential(model.model.layers[1].mlp.up_proj)
    with pytest.raises(tandem.UnsupportedError, match=r"model.layers.1.mlp.up_proj is a Sequential: must be torch.nn.Linear"):
        patch(model)
    model = llama(0, attention_dropout=0.1).train()
    with pytest.raises(tandem.UnsupportedError, match="attention_dropout = 0.1"):
        patch(model)
    small = llama(0, head_dim=8)
    before = logits(small, torch.tensor([[1, 2]]))
    with pytest.raises(tandem.ArgumentError, match="head_dim = 8"):
        patch(small)
    assert torch.equal(logits(small, torch.tensor([[1, 2]])), before)
