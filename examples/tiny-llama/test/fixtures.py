#!/usr/bin/env python3
"""Makes the fixtures of tiny-llama's tests: Llama models with random weights, saved by Hugging Face Transformers, and the logits
that its LlamaForCausalLM computes in f32. Each folder holds config.json, *.safetensors, ids.txt,
logits.f32, and in generated.txt the likeliest tokens after the first sequence.

Use: python3 -m venv venv && venv/bin/pip install torch transformers && venv/bin/python examples/tiny-llama/test/fixtures.py
The weights of the f16 and bf16 folders are rounded to that type before the logits are computed in f32.
"""
import json
import pathlib
import shutil

import torch
from transformers import LlamaConfig, LlamaForCausalLM

GENERATED = 10
FOLDER = pathlib.Path(__file__).parent / "models"
# name: (config, type of the weights, size of a shard, shape of the ids)
MODELS = {
    "mha": (dict(hidden_size=48, num_attention_heads=3, num_key_value_heads=3, intermediate_size=64, vocab_size=97),
            "float32", None, (2, 13)),
    "gqa-tied": (dict(hidden_size=64, num_attention_heads=4, num_key_value_heads=2, intermediate_size=48, vocab_size=128,
                      tie_word_embeddings=True), "float32", None, (1, 32)),
    "odd": (dict(hidden_size=54, num_attention_heads=3, num_key_value_heads=1, head_dim=22, intermediate_size=61, vocab_size=101,
                 rope_theta=500000.0, rms_norm_eps=1e-5), "float32", None, (3, 17)),
    "sharded": (dict(hidden_size=32, num_attention_heads=2, num_key_value_heads=2, intermediate_size=48, vocab_size=64,
                     num_hidden_layers=3), "float32", "40KB", (2, 7)),
    "bf16": (dict(hidden_size=64, num_attention_heads=4, num_key_value_heads=1, intermediate_size=96, vocab_size=80),
             "bfloat16", None, (2, 11)),
    "f16": (dict(hidden_size=64, num_attention_heads=2, num_key_value_heads=1, intermediate_size=40, vocab_size=72,
                 tie_word_embeddings=True), "float16", None, (1, 9)),
    # Pairs of all three kinds: wavelengths of 6 (stays), 20 and 63 (mixed), 199 and above (8 times as long).
    "llama3": (dict(hidden_size=48, num_attention_heads=3, num_key_value_heads=1, intermediate_size=40, vocab_size=61,
                    rope_parameters={"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
                                     "high_freq_factor": 4.0, "original_max_position_embeddings": 64}), "float32", None, (1, 52)),
    "linear": (dict(hidden_size=32, num_attention_heads=2, num_key_value_heads=2, intermediate_size=40, vocab_size=59,
                    rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.5}), "float32", None, (1, 50)),
}


def settings(sizes):
    sizes = {"num_hidden_layers": 2, "max_position_embeddings": 64, "initializer_range": 0.2, **sizes}
    if "rope_theta" in sizes:
        sizes["rope_parameters"] = {"rope_type": "default", "rope_theta": sizes.pop("rope_theta")}
    return LlamaConfig(attn_implementation="eager", **sizes)


def write_old_config(path):
    """As Transformers 4 wrote it: rope_theta beside rope_scaling."""
    config = json.loads(path.read_text())
    scaling = config.pop("rope_parameters")
    config["rope_theta"] = scaling.pop("rope_theta")
    config["rope_scaling"] = None if scaling["rope_type"] == "default" else {"type": scaling.pop("rope_type"), **scaling}
    config["torch_dtype"] = config.pop("dtype")
    path.write_text(json.dumps(config, indent=2) + "\n")


@torch.no_grad()
def make(name, sizes, dtype, shard, shape, seed):
    torch.manual_seed(seed)
    folder = FOLDER / name
    model = LlamaForCausalLM(settings(sizes)).eval()
    for parameter in model.parameters():  # norms, which begin as ones
        if parameter.dim() == 1:
            parameter.copy_(1 + 0.3 * torch.randn_like(parameter))
    model.to(getattr(torch, dtype))
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, **({"max_shard_size": shard} if shard else {}))
    (folder / "generation_config.json").unlink(missing_ok=True)
    if name in ("mha", "linear"):
        write_old_config(folder / "config.json")
    ids = torch.randint(sizes["vocab_size"], shape)
    # Loaded again, because model.to() has also rounded the frequencies of RoPE.
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    logits = model(ids).logits.contiguous()
    (folder / "ids.txt").write_text(f"{shape[0]}x{shape[1]} " + ",".join(str(i) for i in ids.flatten().tolist()) + "\n")
    (folder / "logits.f32").write_bytes(logits.numpy().astype("<f4").tobytes())
    text = ids[:1]
    for _ in range(GENERATED):  # the likeliest token, without a cache
        text = torch.cat([text, model(text).logits[:, -1:].argmax(-1)], dim=1)
    (folder / "generated.txt").write_text(" ".join(map(str, text[0, shape[1]:].tolist())) + "\n")
    print(name, sorted(p.name for p in folder.iterdir()), float(logits.abs().max()))


if __name__ == "__main__":
    for seed, (name, (sizes, dtype, shard, shape)) in enumerate(MODELS.items()):
        make(name, sizes, dtype, shard, shape, seed)
