#!/usr/bin/env python3
"""--prompt and its text: a model with random weights and the vocabulary of test/tokenizers/llama2. What --prompt prints is the text
of the ids that --ids prints, and the prompt's ids are those of PyPI's `tokenizers` (cases.json). On each other device the same
prompt gives the host's text, in both ways to attend.

Use: test_prompt.py PROGRAM [DEVICE...]
"""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

TOKENIZER = pathlib.Path(__file__).parent / "tokenizers" / "llama2"
VOCAB, D = 650, 16
MADE = 12


def write_model(folder):
    random.seed(3)
    layer = "model.layers.0."
    shapes = {"model.embed_tokens.weight": [VOCAB, D], "model.norm.weight": [D], layer + "input_layernorm.weight": [D],
              layer + "post_attention_layernorm.weight": [D]}
    for name, shape in (("self_attn.q_proj", [D, D]), ("self_attn.k_proj", [D, D]), ("self_attn.v_proj", [D, D]),
                        ("self_attn.o_proj", [D, D]), ("mlp.gate_proj", [D, D]), ("mlp.up_proj", [D, D]), ("mlp.down_proj", [D, D])):
        shapes[f"{layer}{name}.weight"] = shape
    header, data = {}, b""
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        values = struct.pack(f"<{count}f", *(random.gauss(0, 0.5) for _ in range(count)))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (folder / "config.json").write_text(json.dumps(dict(
        architectures=["LlamaForCausalLM"], model_type="llama", vocab_size=VOCAB, hidden_size=D, num_hidden_layers=1,
        num_attention_heads=1, num_key_value_heads=1, intermediate_size=D, max_position_embeddings=256, hidden_act="silu",
        rms_norm_eps=1e-5, rope_theta=1e4, tie_word_embeddings=True)))
    (folder / "tokenizer.json").write_bytes((TOKENIZER / "tokenizer.json").read_bytes())


def shown(ids):
    """The text of ids: special ones none, <0xNN> its byte, U+2581 a space, the first space dropped."""
    tokenizer = json.loads((TOKENIZER / "tokenizer.json").read_text())
    names = {i: name for name, i in tokenizer["model"]["vocab"].items()}
    special = {token["id"] for token in tokenizer["added_tokens"] if token["special"]}
    names.update({token["id"]: token["content"] for token in tokenizer["added_tokens"]})
    data = b""
    for name in (names[i] for i in ids if i not in special):
        data += bytes([int(name[3:5], 16)]) if name.startswith("<0x") else name.replace("\u2581", " ").encode()
    return data.decode(errors="replace").removeprefix(" ")


def run(program, folder, *options, device="host"):
    command = [program, "--model", str(folder), "--device", device, "--generate", str(MADE), *options]
    result = subprocess.run(command, capture_output=True, timeout=60, env=dict(os.environ, OMP_WAIT_POLICY="passive"))
    if result.returncode != 0:
        sys.exit(f"{command}: exit {result.returncode}: {result.stderr.decode()}")
    return result.stdout.decode()


def main():
    program = sys.argv[1]
    cases = {case["text"]: case["ids"] for case in json.loads((TOKENIZER / "cases.json").read_text()) if "ids" in case}
    checks = wrong = 0
    with tempfile.TemporaryDirectory() as root:
        folder = pathlib.Path(root)
        write_model(folder)
        for text in ("", "Hello, world!", "  a", "x<s>y", "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u6771\u4eac\u5927\u5b66 "
                     "\u3053\u3093\u306b\u3061\u306f \U00020000\U0002a6d6"):
            ids = cases[text]
            line = run(program, folder, "--ids", ",".join(map(str, ids)), "--seed", "5", "--temperature", "2").split("\n")[0]
            made = [int(word) for word in line.split()]
            wanted = shown(ids + made) + "\n"
            found = run(program, folder, "--prompt", text, "--seed", "5", "--temperature", "2")
            checks += 1
            if len(made) != MADE or not found.startswith(wanted):
                print(f"{text!r}: wanted {wanted!r}, found {found!r}")
                wrong += 1
        for device in sys.argv[2:]:
            for version in ("1", "4"):
                options = ("--prompt", "Hello, world!", "--version", version)
                wanted, found = run(program, folder, *options).split("prefill")[0], run(program, folder, *options, device=device)
                checks += 1
                if found.split("prefill")[0] != wanted:
                    print(f"{device}, version {version}: wanted {wanted!r}, found {found!r}")
                    wrong += 1
        (folder / "config.json").write_text((folder / "config.json").read_text().replace(str(VOCAB), "100"))
        result = subprocess.run([program, "--model", root, "--prompt", "Hello"], capture_output=True, text=True, timeout=60)
        if result.returncode != 2 or "the model's are 0 to 99" not in result.stderr:
            print(f"ids outside the model: {result.returncode}, {result.stderr!r}")
            wrong += 1
    print(f"{checks + 1} checks, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
