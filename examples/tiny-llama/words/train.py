#!/usr/bin/env python3
"""Trains the small Llama of this folder on the prose of this project's own pages: config.json, tokenizer.json, model.safetensors.

Use: python3 -m venv venv && venv/bin/pip install jax tokenizers safetensors &&
     venv/bin/python examples/tiny-llama/words/train.py [--out FOLDER] [--steps N] [--seed N]
It prints the loss on text that it was trained on and on text that it was not.
"""
import argparse
import json
import math
import pathlib
import re
import time

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.numpy import save_file
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

ROOT = pathlib.Path(__file__).resolve().parents[3]
VOCAB, D, LAYERS, HEADS, KV_HEADS, HEAD_DIM, FFN, CONTEXT = 512, 96, 3, 6, 3, 16, 256, 128
EPS, THETA, BATCH = 1e-5, 10000.0, 16
# The tokenizer splits as Llama 3's does, which tiny-llama knows.
SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
         r"\s+(?!\S)|\s+")


def prose(text):
    """Paragraphs without code, tables, headings, pictures; links are their text. Of them the sentences that are words, with at most
    one short number: a small model that has seen many numbers writes nothing else."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    text = re.sub(r"^(?:\||#|!\[|    ).*$", "", text, flags=re.M)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"[*`]|^- |^\d+\. (?:\{[^}]*\} )?", "", text, flags=re.M)
    for paragraph in re.split(r"\n\s*\n", text):
        sentences = re.split(r"(?<=[.!?]) +(?=[A-Z])", " ".join(paragraph.split()))
        kept = [s for s in sentences if re.fullmatch(r"[A-Z][A-Za-z ,;:'()-]*(?:\d{1,3}[A-Za-z ,;:'()-]*)?[.!?]", s) and len(s) > 20]
        if kept:
            yield " ".join(kept)


def corpus():
    files = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/guide/*.md"), *ROOT.glob("learn/**/*.md"), ROOT / "CONTRIBUTING.md"])
    return [p for path in files for p in prose(path.read_text())]


def make_tokenizer(texts):
    t = Tokenizer(models.BPE(ignore_merges=True))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(SPLIT), "isolated"), byte_level])
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=VOCAB, show_progress=False, initial_alphabet=byte_level.alphabet()))
    return t


# ---- The model, as Transformers' LlamaForCausalLM computes it; weights are [outputs, inputs] ----

def names():
    shapes = {"model.embed_tokens.weight": (VOCAB, D), "model.norm.weight": (D,)}
    for n in range(LAYERS):
        at = f"model.layers.{n}."
        shapes |= {at + "input_layernorm.weight": (D,), at + "post_attention_layernorm.weight": (D,),
                   at + "self_attn.q_proj.weight": (HEADS * HEAD_DIM, D), at + "self_attn.k_proj.weight": (KV_HEADS * HEAD_DIM, D),
                   at + "self_attn.v_proj.weight": (KV_HEADS * HEAD_DIM, D), at + "self_attn.o_proj.weight": (D, HEADS * HEAD_DIM),
                   at + "mlp.gate_proj.weight": (FFN, D), at + "mlp.up_proj.weight": (FFN, D), at + "mlp.down_proj.weight": (D, FFN)}
    return shapes


def start(seed):
    random = np.random.default_rng(seed)
    scale = {"o_proj": 0.1 / math.sqrt(2 * LAYERS), "down_proj": 0.1 / math.sqrt(2 * LAYERS)}
    return {name: jnp.ones(shape, jnp.float32) if len(shape) == 1 else
            jnp.asarray(random.normal(0, scale.get(name.split(".")[-2], 0.1 if D < 128 else 0.08), shape), jnp.float32)
            for name, shape in names().items()}


def norm(x, w):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + EPS) * w


def rope(x):
    half, at = HEAD_DIM // 2, jnp.arange(x.shape[1], dtype=jnp.float32)
    angle = at[:, None] * THETA ** (-jnp.arange(half) / half)
    c, s = jnp.cos(angle)[None, :, None], jnp.sin(angle)[None, :, None]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * c - b * s, b * c + a * s], -1)


def logits(w, ids):
    b, t = ids.shape
    mask = jnp.tril(jnp.ones((t, t), bool))
    x = w["model.embed_tokens.weight"][ids]
    for n in range(LAYERS):
        at = f"model.layers.{n}."
        y = norm(x, w[at + "input_layernorm.weight"])
        q, k, v = ((y @ w[at + f"self_attn.{p}_proj.weight"].T).reshape(b, t, -1, HEAD_DIM) for p in "qkv")
        q, k = rope(q), rope(k)
        k, v = (jnp.repeat(z, HEADS // KV_HEADS, 2) for z in (k, v))
        score = jnp.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(HEAD_DIM)
        p = jax.nn.softmax(jnp.where(mask, score, -jnp.inf), -1)
        x = x + jnp.einsum("bhij,bjhd->bihd", p, v).reshape(b, t, -1) @ w[at + "self_attn.o_proj.weight"].T
        y = norm(x, w[at + "post_attention_layernorm.weight"])
        gate, up = (y @ w[at + f"mlp.{p}_proj.weight"].T for p in ("gate", "up"))
        x = x + (jax.nn.silu(gate) * up) @ w[at + "mlp.down_proj.weight"].T
    return norm(x, w["model.norm.weight"]) @ w["model.embed_tokens.weight"].T


def loss(w, ids):
    z = logits(w, ids[:, :-1])
    return jnp.mean(jax.nn.logsumexp(z, -1) - jnp.take_along_axis(z, ids[:, 1:, None], -1)[..., 0])


# ---- AdamW (Loshchilov and Hutter, arXiv 1711.05101), with a warm-up and a cosine ----

@jax.jit
def update(w, m, v, step, rate, ids):
    value, g = jax.value_and_grad(loss)(w, ids)
    size = jnp.sqrt(sum(jnp.sum(x * x) for x in g.values()))
    g = {k: x * jnp.minimum(1, 1 / size) for k, x in g.items()}
    m = {k: 0.9 * m[k] + 0.1 * g[k] for k in g}
    v = {k: 0.95 * v[k] + 0.05 * g[k] ** 2 for k in g}
    def moved(k):
        by = m[k] / (1 - 0.9 ** step) / (jnp.sqrt(v[k] / (1 - 0.95 ** step)) + 1e-8)
        return w[k] - rate * (by + (0.1 * w[k] if w[k].ndim > 1 else 0))
    return {k: moved(k) for k in w}, m, v, value


def train(ids, steps, seed):
    random = np.random.default_rng(seed)
    w = start(seed)
    m, v = ({k: jnp.zeros_like(x) for k, x in w.items()} for _ in range(2))
    began = time.time()
    for step in range(1, steps + 1):
        at = random.integers(0, len(ids) - CONTEXT - 1, BATCH)
        batch = jnp.asarray(np.stack([ids[i:i + CONTEXT + 1] for i in at]))
        rate = 4e-3 * min(1, step / 50) * (0.05 + 0.95 * (1 + math.cos(math.pi * step / steps)) / 2)
        w, m, v, value = update(w, m, v, step, rate, batch)
        if step % 50 == 0 or step == steps:
            print(f"step {step}: loss {float(value):.3f}, {time.time() - began:.0f} s", flush=True)
    return w


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    texts = corpus()
    kept = texts[::20]  # not trained on
    tokenizer = make_tokenizer(texts)
    train_ids, kept_ids = (np.array(tokenizer.encode("\n".join(part)).ids, np.int32)
                           for part in ([t for i, t in enumerate(texts) if i % 20], kept))
    print(f"{sum(map(len, texts))} characters, {len(train_ids)} tokens to train on, {len(kept_ids)} kept")
    w = train(train_ids, o.steps, o.seed)
    w = {k: np.asarray(x).astype(np.float16) for k, x in w.items()}
    rounded = {k: jnp.asarray(x, jnp.float32) for k, x in w.items()}
    rows = [kept_ids[i:i + CONTEXT + 1] for i in range(0, len(kept_ids) - CONTEXT - 1, CONTEXT)]
    print(f"loss on kept text {float(loss(rounded, jnp.asarray(np.stack(rows)))):.3f} a token; {sum(x.size for x in w.values())} weights")
    o.out.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(o.out / "tokenizer.json"), pretty=False)
    save_file(w, str(o.out / "model.safetensors"), metadata={"format": "pt"})
    (o.out / "config.json").write_text(json.dumps(dict(
        architectures=["LlamaForCausalLM"], model_type="llama", vocab_size=VOCAB, hidden_size=D, num_hidden_layers=LAYERS,
        num_attention_heads=HEADS, num_key_value_heads=KV_HEADS, head_dim=HEAD_DIM, intermediate_size=FFN,
        max_position_embeddings=CONTEXT, hidden_act="silu", rms_norm_eps=EPS, rope_theta=THETA, tie_word_embeddings=True,
        torch_dtype="float16"), indent=2) + "\n")


if __name__ == "__main__":
    main()
