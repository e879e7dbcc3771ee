"""patch(model): Tandem's kernels in a Llama of Hugging Face's transformers."""

import copy
import importlib
import operator
import types
from collections import Counter

import torch

import tandem


class _Positions:
    """What the patched rotary embedding returns in place of cosines and sines: the position of the first token."""

    def __init__(self, offset):
        self.offset = offset


def _refuse(text):
    raise tandem.UnsupportedError(f"patch: {text}")


class _Patched:
    """One patched model: what it was before, and what ran."""

    def __init__(self, model):
        self.ran = set()  # (op, module): filled by the first run alone
        self.probing = False
        self.before = []
        self.config = model.config
        self.attention = model.config._attn_implementation

    def call(self, op, where, *args, **keywords):
        result = getattr(tandem, op)(*args, **keywords)
        if self.probing:
            self.ran.add((op, where))
        return result

    def __deepcopy__(self, memo):
        other = memo[id(self)] = object.__new__(_Patched)
        other.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()})
        return other

    def __reduce_ex__(self, protocol):  # the functions of patch() would be missing when it is loaded
        _refuse("a patched model can't be pickled: save model.state_dict(), or call unpatch(model) before")

    def replace(self, module, forward):
        self.before.append((module, module.__dict__.get("forward")))
        module.forward = forward


def _rope_arguments(config):
    """The keywords of tandem.rope for a config, of transformers 5 or 4."""
    parameters = dict(getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {})
    kind = parameters.get("rope_type", parameters.get("type", "default"))
    theta = parameters.get("rope_theta", getattr(config, "rope_theta", 10000.0))
    if parameters.get("partial_rotary_factor", 1.0) != 1.0:
        _refuse(f"partial_rotary_factor = {parameters['partial_rotary_factor']}: must be 1")
    arguments = {"theta": float(theta), "style": "half"}
    if kind == "linear":
        arguments["factor"] = float(parameters["factor"])
    elif kind == "llama3":
        arguments["factor"] = float(parameters["factor"])
        arguments["trained"] = int(parameters["original_max_position_embeddings"])
        arguments["low"], arguments["high"] = float(parameters["low_freq_factor"]), float(parameters["high_freq_factor"])
    elif kind != "default":
        _refuse(f"rope_type = {kind}: must be default, linear or llama3")
    return arguments


# What the layers of transformers 5.17 to 5.24 are called with, beside the hidden states. Later versions may add an argument
# that changes results (5.24 renamed past_key_values), so a value of an argument that is not listed here is refused.
_CACHES = ("cache", "past_key_values", "past_key_value")
_WITHOUT_EFFECT = {"attention_mask", "position_ids", "use_cache", "cache_position", "output_attentions", "output_hidden_states",
                   "return_dict", "num_items_in_batch"}  # fmt: skip


def _cache_of(keywords):
    return next((keywords[name] for name in _CACHES if keywords.get(name) is not None), None)


def _check_keywords(keywords):
    for name, value in keywords.items():
        if name not in _CACHES and name not in _WITHOUT_EFFECT and value is not None and value is not False:
            version = importlib.import_module("transformers").__version__
            _refuse(f"{name} is given to the layers, by transformers {version}: must not be (tested with 5.17 to 5.24)")


def _check_forward(name, module):
    if "forward" in module.__dict__:
        _refuse(f"{name} has a forward of its own, which would not be called: remove it")


def _check_hooks(name, module):
    """Of a module that the kernels pass by. transformers' own hooks collect attention weights, which each call refuses."""
    for hook in (*module._forward_pre_hooks.values(), *module._forward_hooks.values()):
        if not (getattr(hook, "__module__", None) or "").startswith("transformers."):
            _refuse(f"{name} has a forward hook, which would not be called: remove it")


def _check_layers(model, base):
    """Other classes may compute something else. What hangs on modules that the kernels pass by has no effect."""
    llama, linear = importlib.import_module("transformers.models.llama.modeling_llama"), torch.nn.Linear
    inner = {"input_layernorm": llama.LlamaRMSNorm, "self_attn": llama.LlamaAttention, "mlp": llama.LlamaMLP,
             "post_attention_layernorm": llama.LlamaRMSNorm, "self_attn.q_proj": linear, "self_attn.k_proj": linear,
             "self_attn.v_proj": linear, "self_attn.o_proj": linear, "mlp.gate_proj": linear, "mlp.up_proj": linear,
             "mlp.down_proj": linear}  # fmt: skip
    names = {module: name for name, module in model.named_modules()}

    def check(module, wanted, path):
        name = names.get(module, path)
        if type(module) is not wanted:
            must = "torch.nn.Linear" if wanted is linear else wanted.__name__
            _refuse(f"{name} is a {type(module).__name__}: must be {must}")
        return name

    _check_forward(check(base, llama.LlamaModel, "model") or "the model", base)
    for path, wanted in ("norm", llama.LlamaRMSNorm), ("rotary_emb", llama.LlamaRotaryEmbedding):
        _check_forward(check(getattr(base, path), wanted, path), getattr(base, path))
    if hasattr(model, "lm_head"):
        _check_forward(check(model.lm_head, linear, "lm_head"), model.lm_head)
    for number, layer in enumerate(base.layers):
        _check_forward(check(layer, llama.LlamaDecoderLayer, f"layers.{number}"), layer)
        for path, wanted in inner.items():
            module = operator.attrgetter(path)(layer)
            name = check(module, wanted, f"layers.{number}.{path}")
            _check_forward(name, module)
            _check_hooks(name, module)
        if not layer.self_attn.is_causal:
            _refuse(f"{names[layer.self_attn]}.is_causal = False: must be True")


def _check(model):
    config = getattr(model, "config", None)
    if not isinstance(model, torch.nn.Module) or config is None:
        _refuse(f"model is a {type(model).__name__}: must be a LlamaForCausalLM or LlamaModel of transformers")
    if any(parameter.is_meta for parameter in model.parameters()):
        _refuse("the model is on the meta device: must have its weights")
    if getattr(config, "model_type", None) != "llama":
        _refuse(f"model_type = {getattr(config, 'model_type', None)}: must be llama")
    if config.hidden_act not in ("silu", "swish"):
        _refuse(f"hidden_act = {config.hidden_act}: must be silu")
    if not getattr(config, "is_causal", True):
        _refuse("is_causal = False: must be True")
    if model.training and config.attention_dropout:
        _refuse(f"attention_dropout = {config.attention_dropout} in training: call model.eval()")
    base = getattr(model, "base_model", model)
    _check_layers(model, base)
    return base


def _rotary(x, position_ids):
    """Positions have to be p, p + 1, ... in every row, because tandem.rope computes them."""
    rows = position_ids.reshape(-1, position_ids.shape[-1]).cpu()
    offset = int(rows[0, 0]) if rows.numel() else 0
    if not torch.equal(rows, (torch.arange(rows.shape[1]) + offset).expand(rows.shape)):
        _refuse("position_ids are not consecutive, or not the same in every row of the batch")
    return _Positions(offset)


def _mask(attention_mask, keys):
    if not isinstance(attention_mask, torch.Tensor) or attention_mask.dim() != 2:
        shape = f"the shape {list(attention_mask.shape)}" if isinstance(attention_mask, torch.Tensor) else "a form of its own"
        _refuse(f"attention_mask has {shape}: must be None, or [batch, keys] of ones")
    if attention_mask.shape[1] < keys:
        _refuse(f"attention_mask has the shape {list(attention_mask.shape)}: must have a column for each of the {keys} keys")
    if not bool(attention_mask.all()):
        _refuse("attention_mask has zeros: padding masks are not supported")


def _keep_mask(*, attention_mask=None, **keywords):
    """In place of create_masks_for_generate, with which generate() makes [batch, 1, rows, keys] for static caches: the mask of
    tokens stays as it is, so that what the kernels can't do is seen in it."""
    return attention_mask


def _patch_layer(state, layer, name, rope):
    """All modules come from the layer that runs, so that a copy of the model has its own weights."""
    call = state.call

    def check(module, where):  # hooks that came after patch()
        if module._forward_hooks or module._forward_pre_hooks:
            _check_hooks(f"{name}.{where}", module)

    def linear(module, where, x, **keywords):
        check(module, where)
        return call("linear", f"{name}.{where}", x, module.weight, module.bias, **keywords)

    def norm(module, where, x):
        check(module, where)
        return call("rmsnorm", f"{name}.{where}", x, module.weight, eps=module.variance_epsilon)

    def attend(attn, x, residual, positions, cache):
        check(attn, "self_attn")
        batch, rows, _ = x.shape
        heads = (batch, rows, -1, attn.head_dim)
        q = linear(attn.q_proj, "self_attn.q_proj", x).view(heads)
        k = linear(attn.k_proj, "self_attn.k_proj", x).view(heads)
        v = linear(attn.v_proj, "self_attn.v_proj", x).view(heads).transpose(1, 2)
        call("rope", name, q, offset=positions.offset, out=q, **rope)
        call("rope", name, k, offset=positions.offset, out=k, **rope)
        k, keys = k.transpose(1, 2), rows
        if cache is not None:
            keys += int(cache.get_seq_length(attn.layer_idx))
            k, v = cache.update(k, v, attn.layer_idx)
            if k.shape[2] < keys:
                _refuse(f"past_key_values is a {type(cache).__name__} that keeps {k.shape[2]} of {keys} keys: must keep all")
            k, v = k[:, :, :keys], v[:, :, :keys]  # a static cache is longer
        out = torch.empty(batch, rows, q.shape[2], attn.head_dim, dtype=x.dtype, device=x.device)
        call("attention", name, q.transpose(1, 2), k, v, causal=True, scale=attn.scaling, out=out.transpose(1, 2))
        return linear(attn.o_proj, "self_attn.o_proj", out.view(batch, rows, -1), residual=residual)

    def feed(mlp, x, residual):
        check(mlp, "mlp")
        check(mlp.gate_proj, "mlp.gate_proj")
        check(mlp.up_proj, "mlp.up_proj")
        if mlp.gate_proj.bias is None and mlp.up_proj.bias is None:
            h = call("swiglu", name, x, mlp.gate_proj.weight, mlp.up_proj.weight)
        else:
            h = call("silu_mul", name, linear(mlp.gate_proj, "mlp.gate_proj", x), linear(mlp.up_proj, "mlp.up_proj", x))
        return linear(mlp.down_proj, "mlp.down_proj", h, residual=residual)

    def forward(self, hidden_states, position_embeddings=None, **keywords):
        _check_keywords(keywords)
        cache = _cache_of(keywords)
        x = norm(self.input_layernorm, "input_layernorm", hidden_states)
        hidden_states = attend(self.self_attn, x, hidden_states, position_embeddings, cache)
        x = norm(self.post_attention_layernorm, "post_attention_layernorm", hidden_states)
        return feed(self.mlp, x, hidden_states)

    state.replace(layer, types.MethodType(forward, layer))


def patch(model):
    """Replaces the layers of a Llama by Tandem's kernels: linear, rmsnorm, swiglu, attention, rope.

    model is a LlamaForCausalLM or LlamaModel of transformers 5 (tested with 5.17 to 5.24). Two tokens are run once. The result
    says how many layers ran each kernel then, as {"linear": 11, "attention": 2, ...}. What can't be served raises
    UnsupportedError: here for the model, and in each call for padding masks and for positions that are not consecutive.
    Inference alone: call the model in torch.no_grad(). unpatch(model) undoes it.
    """
    if getattr(model, "_tandem", None) is not None:
        _refuse("the model is patched already")
    base = _check(model)
    rope = _rope_arguments(model.config)
    state = _Patched(model)
    for number, layer in enumerate(base.layers):
        _patch_layer(state, layer, f"layers.{number}", rope)

    def last_norm(self, x):
        return state.call("rmsnorm", "norm", x, self.weight, eps=self.variance_epsilon)

    def lm_head(self, x):
        if x.shape[-2] > 1 and not x.is_contiguous():  # logits_to_keep: a part of each row of the batch
            x = x.contiguous()
        return state.call("linear", "lm_head", x, self.weight, self.bias)

    def forward(self, input_ids=None, attention_mask=None, **keywords):
        wanted = keywords.get("output_attentions")
        if wanted or (wanted is None and getattr(self.config, "output_attentions", False)):
            _refuse("output_attentions = True: the kernels keep no attention weights")
        embeds, cache = keywords.get("inputs_embeds"), _cache_of(keywords)
        if embeds is not None:
            embeds = keywords["inputs_embeds"] = embeds.contiguous()
        if attention_mask is not None:
            rows = input_ids.shape[-1] if input_ids is not None else 0 if embeds is None else embeds.shape[-2]
            _mask(attention_mask, rows + (int(cache.get_seq_length()) if cache is not None else 0))
        # No mask: causal, which is how the kernels run.
        return type(self).forward(self, input_ids, None, **keywords)

    # torch.compile leaves them as they are, and compiles what is around them.
    state.replace(base, types.MethodType(torch.compiler.disable(forward), base))
    state.replace(base.norm, types.MethodType(last_norm, base.norm))
    state.replace(base.rotary_emb, _rotary)
    if hasattr(model, "lm_head"):
        state.replace(model.lm_head, types.MethodType(torch.compiler.disable(lm_head), model.lm_head))
    if hasattr(model, "generate"):
        model.create_masks_for_generate = _keep_mask
    model.config._attn_implementation = "sdpa"  # the others would make a mask of every score
    model._tandem = state
    try:
        state.probing = True
        with torch.no_grad():
            tokens = torch.zeros(1, 2, dtype=torch.long, device=base.embed_tokens.weight.device)
            found = _cache_of(vars(base(tokens, use_cache=True, return_dict=True)))
            if found is not None and len(base.layers) > 0 and int(found.get_seq_length()) != 2:
                version = importlib.import_module("transformers").__version__
                _refuse(f"the layers did not get the cache of transformers {version}: tested with 5.17 to 5.24")
            if hasattr(model, "lm_head"):
                model.lm_head(torch.zeros_like(model.lm_head.weight[:2])[None])
    except BaseException:
        unpatch(model)
        raise
    state.probing = False
    return dict(Counter(op for op, _ in state.ran))


def unpatch(model):
    """Undoes patch(model)."""
    state = getattr(model, "_tandem", None)
    if state is None:
        raise tandem.ArgumentError("unpatch: the model is not patched")
    for module, before in reversed(state.before):
        if before is None:
            del module.__dict__["forward"]
        else:
            module.forward = before
    state.config._attn_implementation = state.attention
    model.__dict__.pop("create_masks_for_generate", None)
    del model._tandem
