"""patch(): random Llamas, against the same model in float64."""

import copy
import os
import random
import time

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


SEED = int(os.environ.get("TANDEM_SEED", time.time_ns() % 10**6))


@pytest.mark.parametrize("number", range(int(os.environ.get("TANDEM_LLAMAS", 4))))
def test_random_models(number):
    """Other sizes, heads, scalings and types in every run: TANDEM_SEED repeats one, and TANDEM_LLAMAS=100 runs as many."""
    seed = SEED + number
    print("TANDEM_SEED =", seed)
    pick = random.Random(seed)
    groups, heads_kv, head_dim = pick.choice([1, 2, 3, 4, 8]), pick.choice([1, 2, 3]), pick.choice([16, 24, 32, 64, 80, 128])
    fields = dict(
        num_attention_heads=groups * heads_kv, num_key_value_heads=heads_kv, head_dim=head_dim,
        hidden_size=groups * heads_kv * pick.choice([4, 6, 12, 20]), intermediate_size=pick.choice([16, 33, 100, 256]),
        vocab_size=pick.choice([37, 128, 501]), num_hidden_layers=pick.choice([1, 2, 3]),
        attention_bias=pick.random() < 0.5, mlp_bias=pick.random() < 0.3, tie_word_embeddings=pick.random() < 0.3,
        rms_norm_eps=pick.choice([1e-6, 1e-5, 1e-2]),
        rope=pick.choice([
            None, dict(rope_type="default", rope_theta=pick.choice([1e3, 5e5])), dict(rope_type="linear", factor=pick.choice([1.5, 4.0])),
            dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                 original_max_position_embeddings=pick.choice([32, 8192])),
        ]),
    )  # fmt: skip
    dtype = pick.choice(list(EPSILON))
    ids = torch.randint(fields["vocab_size"], (pick.choice([1, 2, 3, 5]), pick.choice([2, 7, 17, 40])))
    first = max(1, ids.shape[1] - pick.randrange(1, 5))
    model = llama(seed, **fields).to(dtype)
    eager = logits(model, ids)
    reference = llama(seed, **fields)
    reference.load_state_dict(model.state_dict())
    expected = logits(reference.double(), ids)
    counts = patch(model)
    assert counts["attention"] == counts["rope"] == fields["num_hidden_layers"]
    compare(logits(model, ids), eager, expected, dtype)
    with torch.no_grad():  # a prompt, and the rest of it with the cache
        begin = model(ids[:, :first], use_cache=True)
        cache = getattr(begin, "cache", None) or begin.past_key_values
        rest = [model(ids[:, i : i + 1], past_key_values=cache).logits for i in range(first, ids.shape[1])]
    compare(torch.cat([begin.logits, *rest], 1).double(), eager, expected, dtype)
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


def same(model, call):
    """call(model) before and after patch(): numbers alike, tokens equal."""
    with torch.no_grad():
        expected = call(model)
        patch(model)
        result = call(model)
    unpatch(model)
    assert result.shape == expected.shape
    if result.dtype == torch.long:
        assert torch.equal(result, expected)
    else:
        assert (result - expected).abs().max() <= 1e-4 * expected.abs().max()


def test_other_calls():
    """Ways to call a model that reach its layers with other shapes, masks and caches."""
    ids = torch.randint(1, 211, (2, 9), generator=torch.Generator().manual_seed(5))
    options = dict(max_new_tokens=8, do_sample=False, pad_token_id=0)

    def sample(model):
        torch.manual_seed(3)
        return model.generate(ids, **{**options, "do_sample": True}, temperature=0.8, top_k=20, num_return_sequences=2)

    def twice(model):
        cache = transformers.DynamicCache()
        model(ids, past_key_values=cache)
        return model(ids, past_key_values=cache, attention_mask=torch.ones(2, 18)).logits

    def embedded(model):
        x = model.model.embed_tokens(ids)
        return model(inputs_embeds=x.transpose(0, 1).contiguous().transpose(0, 1)).logits

    for call in (
        lambda m: m(ids, logits_to_keep=3).logits,
        lambda m: m(ids, attention_mask=torch.ones(2, 12, dtype=torch.bool)).logits,
        lambda m: torch.stack(m(ids, output_hidden_states=True).hidden_states),
        lambda m: m(ids, labels=ids).loss,
        embedded,
        twice,
        sample,
        lambda m: m.generate(ids, **options, num_beams=3),
        lambda m: m.generate(ids[:1], **options, prompt_lookup_num_tokens=3),
    ):
        same(llama(5, **CONFIGS[1]), call)
    for cls in transformers.LlamaForSequenceClassification, transformers.LlamaForQuestionAnswering:
        config = llama(5, **CONFIGS[1]).config
        config.pad_token_id = 0
        same(cls(config).eval(), lambda m: m(ids)[0])


def test_a_sliding_cache_is_refused():
    """transformers makes one if the config names a window. The model itself would attend to what the cache still has."""
    model = llama(5, **CONFIGS[1], sliding_window=4)
    patch(model)
    with pytest.raises(tandem.UnsupportedError, match="past_key_values is a DynamicCache that keeps .* keys: must keep all"):
        model.generate(torch.tensor([[1, 2, 3, 4, 5, 6]]), max_new_tokens=6, do_sample=False, pad_token_id=0)


def test_arguments_that_patch_does_not_know(monkeypatch):
    """A later transformers may call the layers with something that changes results, as 5.24 did when it renamed the cache."""
    model = llama(5, **CONFIGS[1])
    ids = torch.tensor([[1, 2, 3]])
    patch(model)
    with torch.no_grad(), pytest.raises(tandem.UnsupportedError, match="cu_seq_lens_q is given to the layers, by transformers 5"):
        model(ids, cu_seq_lens_q=torch.tensor([0, 3]))
    unpatch(model)
    monkeypatch.setattr(tandem.llama, "_CACHES", ("past",))
    with pytest.raises(tandem.UnsupportedError, match="(cache|past_key_values) is given to the layers"):
        patch(model)
    assert "_tandem" not in model.__dict__


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
        with pytest.raises(tandem.UnsupportedError, match=r"attention_mask has the shape \[2, 4\]: must have a column for each"):
            model(ids, attention_mask=torch.ones(2, 4))
        with pytest.raises(tandem.UnsupportedError, match="output_attentions = True"):
            model(ids, output_attentions=True)
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


def test_what_the_kernels_would_pass_by():
    """Hooks and other classes inside of layers have no effect on the kernels."""
    from transformers.models.llama.modeling_llama import LlamaAttention

    derived = type("Mine", (LlamaAttention,), {})
    for change, message in (
        (lambda m: m.layers[1].self_attn.q_proj.register_forward_hook(print), "q_proj has a forward hook"),
        (lambda m: m.layers[0].mlp.register_forward_pre_hook(print), "layers.0.mlp has a forward hook"),
        (lambda m: setattr(m.layers[0].mlp, "forward", print), "layers.0.mlp has a forward of its own"),
        (lambda m: setattr(m.layers[0], "forward", print), "layers.0 has a forward of its own"),
        (lambda m: setattr(m, "forward", print), "model has a forward of its own"),
        (lambda m: setattr(m.layers[1].self_attn, "__class__", derived), "self_attn is a Mine: must be LlamaAttention"),
        (lambda m: setattr(m.layers[1].self_attn, "is_causal", False), "layers.1.self_attn.is_causal = False"),
        (lambda m: setattr(m.config, "is_causal", False), "is_causal = False: must be True"),
        (lambda m: setattr(m.config, "output_attentions", True), "output_attentions = True"),
    ):
        model = llama(0, **CONFIGS[0], attn_implementation="eager")
        change(model.model)
        with pytest.raises(tandem.UnsupportedError, match=message):
            patch(model)
        assert "_tandem" not in model.__dict__
    model, ids = llama(0, **CONFIGS[0]), torch.tensor([[1, 2, 3]])
    seen = []
    model.model.layers[0].register_forward_hook(lambda *a: seen.append(1))
    with torch.no_grad():
        model(ids, output_hidden_states=True)  # transformers hangs hooks of its own on the modules
        patch(model)
        model(ids, output_hidden_states=True)
        assert len(seen) == 3
        hook = model.model.layers[1].mlp.down_proj.register_forward_hook(print)
        with pytest.raises(tandem.UnsupportedError, match="layers.1.mlp.down_proj has a forward hook"):
            model(ids)
        hook.remove()
        assert model(ids).logits.shape == (1, 3, 211)


def test_parameters_and_files(tmp_path):
    """Weights that change after patch(): loaded, cast, replaced, frozen in part."""
    model, other, ids = llama(5, **CONFIGS[1]), llama(6, **CONFIGS[1]), torch.tensor([[1, 2, 3, 4]])
    expected = logits(model, ids)
    names = list(model.state_dict())
    patch(model)
    patch(other)
    assert list(model.state_dict()) == names
    result = logits(model, ids)
    other.load_state_dict(model.state_dict())
    assert torch.equal(logits(other, ids), result)
    assert (logits(model.to(torch.bfloat16), ids) - expected).abs().max() < 0.1 * expected.abs().max()
    other.save_pretrained(tmp_path)
    assert torch.equal(logits(transformers.LlamaForCausalLM.from_pretrained(tmp_path), ids), expected)
    with pytest.raises(tandem.UnsupportedError, match="a patched model can't be pickled: save model.state_dict"):
        torch.save(other, tmp_path / "model.pt")
    unpatch(other)
    assert torch.equal(logits(other, ids), expected)
    patch(other)
    other.model.layers[0].requires_grad_(False)
    with pytest.raises(tandem.ArgumentError, match="x needs a gradient"):  # of the embedding
        other(ids)
    other.requires_grad_(False)
    assert torch.equal(other(ids).logits.double(), result)
    other.lm_head.requires_grad_(True)
    with pytest.raises(tandem.ArgumentError, match="weight needs a gradient"):
        other(ids)


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
