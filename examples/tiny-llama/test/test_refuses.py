#!/usr/bin/env python3
"""What tiny-llama refuses: each bad input gets exit status 1 or 2 and one line that names the file, the tensor and what is wrong.

Use: test_refuses.py PROGRAM
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

MODELS = pathlib.Path(__file__).parent / "models"
ENVIRONMENT = dict(os.environ, OMP_WAIT_POLICY="passive")
failures = []
checks = 0


def refuses(program, options, status, *words):
    global checks
    checks += 1
    # Each option may be given once.
    defaults = [word for pair in (("--device", "host"), ("--repeats", "1")) if pair[0] not in options for word in pair]
    command = [str(word) for word in [program, *defaults, *options]]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, env=ENVIRONMENT, stdin=subprocess.PIPE)
    lines = result.stderr.splitlines()
    missing = [word for word in words if word not in result.stderr]
    if result.returncode != status or len(lines) != 1 or missing or result.stdout:
        failures.append(f"{' '.join(command)}: exit {result.returncode}, said {result.stderr!r}: missing {missing}")


def parse(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def build(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class Folder:
    """A copy of a model in which one thing is changed."""

    def __init__(self, root, model="mha"):
        self.path = pathlib.Path(tempfile.mkdtemp(dir=root))
        shutil.copytree(MODELS / model, self.path, dirs_exist_ok=True)
        self.file = self.path / "model.safetensors"

    def config(self, **changes):
        path = self.path / "config.json"
        config = {**json.loads(path.read_text()), **changes}
        path.write_text(json.dumps({key: value for key, value in config.items() if value != "absent"}))
        return self

    def header(self, change):
        header, data = parse(self.file)
        changed = change(header)
        self.file.write_bytes(build(header if changed is None else changed, data))
        return self

    def tensor(self, name, **changes):
        return self.header(lambda header: header[name].update(changes))


NORM, Q, EMBED = "model.norm.weight", "model.layers.1.self_attn.q_proj.weight", "model.embed_tokens.weight"


def check_files(program, root):
    def case(folder, *words):
        refuses(program, ["--model", folder.path], 1, *words)

    folder = Folder(root)
    whole = folder.file.read_bytes()
    for size, words in ((0, ["is empty"]), (5, ["not even 8"]), (100, ["truncated"]), (len(whole) - 4, ["tensor", "outside the file"])):
        folder.file.write_bytes(whole[:size])
        case(folder, "model.safetensors: ", *words)
    folder.file.write_bytes(whole + b"1234")
    case(folder, "4 bytes after the last tensor")
    folder.file.write_bytes(struct.pack("<Q", 1 << 62) + whole[8:])
    case(folder, "its header should have 4611686018427387904 bytes")
    folder.file.write_bytes(whole[:8] + b"x" + whole[9:])
    case(folder, "header, byte")
    folder.file.unlink()
    case(folder, "model.safetensors: can't be opened")
    case(Folder(root).header(lambda header: b"[1, 2]"), "header: must be an object")
    case(Folder(root).header(lambda header: b'{"a": 1, "a": 2}'), "header, byte", "duplicate")
    case(Folder(root).header(lambda header: header.update({NORM: 3})), NORM, "must be an object")
    case(Folder(root).tensor(NORM, data_offsets=[0, 1 << 40]), NORM, "outside the file")
    case(Folder(root).tensor(NORM, data_offsets=[-4, 188]), NORM, "outside the file")
    case(Folder(root).tensor(NORM, data_offsets=[192, 0]), NORM, "outside the file")
    case(Folder(root).tensor(NORM, data_offsets=[0]), NORM, "two whole numbers")
    case(Folder(root).tensor(NORM, data_offsets=[0, 192]), "begins at byte")
    case(Folder(root).tensor(NORM, shape=[47]), NORM, "ask for 188")
    case(Folder(root).tensor(NORM, shape=[-48]), NORM, "shape[0]")
    case(Folder(root).tensor(NORM, shape=[1 << 32, 1 << 32]), NORM, "shape[1]")
    case(Folder(root).tensor(NORM, shape="48"), NORM, "shape must be a list")
    case(Folder(root).tensor(NORM, dtype="F33"), NORM, "dtype 'F33' is unknown")
    case(Folder(root).tensor(NORM, dtype="I32"), "model.safetensors", NORM, "dtype I32: must be F32, F16 or BF16")
    case(Folder(root).header(lambda header: header.update({"other": header.pop(NORM)})), "model.safetensors", NORM, "is missing")
    case(Folder(root).tensor(Q, shape=[96, 24]), Q, "shape [96, 24]: config.json asks for [48, 48]")
    case(Folder(root).tensor(EMBED, shape=[97 * 48]), EMBED, "shape [4656]: config.json asks for [97, 48]")


def check_shards(program, root):
    def case(change, *words):
        folder = Folder(root, "sharded")
        path = folder.path / "model.safetensors.index.json"
        index = json.loads(path.read_text())
        path.write_text(json.dumps(change(index) or index))
        refuses(program, ["--model", folder.path], 1, "model.safetensors.index.json" if words[0] == "" else words[0], *words[1:])

    case(lambda index: {"weight_map": 3}, "", "weight_map must be an object")
    case(lambda index: index["weight_map"].pop(NORM) and None, "", NORM, "is missing")
    case(lambda index: index["weight_map"].update({NORM: "../x.safetensors"}), "", NORM, "must be in a file of this folder")
    case(lambda index: index["weight_map"].update({NORM: "x.safetensors"}), "x.safetensors: can't be opened")
    first, last = "model-00001-of-00004.safetensors", "model-00004-of-00004.safetensors"
    wrong = last if NORM in parse(MODELS / "sharded" / first)[0] else first
    case(lambda index: index["weight_map"].update({NORM: wrong}), wrong, NORM, "is missing")


def check_configs(program, root):
    def case(changes, *words):
        refuses(program, ["--model", Folder(root).config(**changes).path], 1, "config.json: ", *words)

    case({"architectures": ["MistralForCausalLM"]}, "architectures", "MistralForCausalLM", "LlamaForCausalLM")
    case({"model_type": "qwen2"}, "model_type", "qwen2")
    case({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, "rope_scaling: low_freq_factor is missing")
    llama3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 32}
    case({"rope_scaling": {**llama3, "low_freq_factor": 4}}, "rope_scaling", "low_freq_factor must be below high_freq_factor")
    case({"rope_scaling": {**llama3, "original_max_position_embeddings": 32.5}}, "config.json: original_max_position_embeddings = 32.5",
         "must be a whole number from 1 to 2147483647")
    case({"rope_scaling": {**llama3, "original_max_position_embeddings": 2**40}}, "original_max_position_embeddings = 1099511627776",
         "from 1 to 2147483647")
    case({"rope_scaling": {**llama3, "original_max_position_embeddings": 0}}, "original_max_position_embeddings = 0", "above 0")
    case({"rope_scaling": {"type": "linear", "factor": "2"}}, "factor", "above 0")
    case({"rope_scaling": {"type": "dynamic", "factor": 2.0}}, "rope_scaling", "dynamic", "'linear'")
    case({"rope_scaling": {"factor": 2.0}}, "rope_scaling", "rope_type must be a word")
    case({"rope_scaling": 2}, "rope_scaling = 2", "an object")
    case({"rope_scaling": llama3, "rope_parameters": llama3}, "rope_scaling and rope_parameters")
    case({"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4}}, "rope_parameters", "yarn")
    case({"rope_theta": -1}, "rope_theta = -1", "above 0")
    case({"attention_bias": True}, "attention_bias = true")
    case({"mlp_bias": True}, "mlp_bias = true")
    case({"hidden_act": "gelu"}, "hidden_act", "gelu", "silu")
    case({"quantization_config": {"bits": 4}}, "quantization_config")
    case({"hidden_size": "absent"}, "hidden_size is missing")
    case({"hidden_size": 48.5}, "hidden_size = 48.5", "whole number")
    case({"vocab_size": 0}, "vocab_size = 0")
    case({"num_key_value_heads": 2}, "num_attention_heads = 3", "multiple of num_key_value_heads = 2")
    case({"head_dim": 300}, "head_dim = 300", "16 to 256")
    case({"head_dim": "absent", "hidden_size": 50}, "hidden_size = 50", "multiple")
    case({"eos_token_id": 97}, "eos_token_id = 97")
    case({"eos_token_id": "x"}, "eos_token_id")
    folder = Folder(root)
    (folder.path / "config.json").write_text("{")
    refuses(program, ["--model", folder.path], 1, "config.json: line 1")
    (folder.path / "config.json").unlink()
    refuses(program, ["--model", folder.path], 1, "config.json: can't be opened")


def check_options(program):
    model = ["--model", MODELS / "mha"]  # vocab 97, context 64
    refuses(program, [*model, "--ids", "1,97"], 2, "--ids: token 1 = '97': must be 0 to 96")
    refuses(program, [*model, "--ids", "1,-1"], 2, "--ids: token 1 = '-1'")
    refuses(program, [*model, "--ids", "1,x,2"], 2, "--ids: token 1 = 'x'")
    refuses(program, ["--prompt", "a"], 2, "--prompt: needs --model")
    refuses(program, [*model, "--prompt", "a", "--ids", "1"], 2, "--prompt and --ids: name one of them")
    refuses(program, [*model, "--prompt", "a"], 2, "mha/tokenizer.json: can't be opened")
    refuses(program, [*model, "--ids", ""], 2, "--ids: token 0")
    refuses(program, [*model, "--ids", ",".join(["1"] * 65)], 2, "65 tokens", "context holds 64")
    refuses(program, [*model, "--input", "1x3", "--ids", "1,2"], 2, "2 tokens", "asks for 3")
    refuses(program, [*model, "--input", "1x65"], 2, "--input = '1x65'", "64")
    refuses(program, [*model, "--input", "2"], 2, "--input = '2'", "BATCHxSEQ")
    refuses(program, [*model, "--input", "0x2"], 2, "--input = '0x2'")
    refuses(program, [*model, "--version", "5"], 2, "--version = '5'", "1 to 4")
    refuses(program, [*model, "--dtype", "f64"], 2, "--dtype = 'f64'")
    refuses(program, [*model, "--preset", "tiny"], 2, "--preset and --model")
    refuses(program, [*model, "--repeats", "0"], 2, "--repeats = '0'")
    refuses(program, [*model, "--seed", "x"], 2, "--seed = 'x'")
    refuses(program, [*model, "--input", "1x4", "--cached", "5"], 2, "--cached = '5'")
    refuses(program, [*model, "--input", "1x4", "--cached", "0"], 2, "--cached = '0'", "must be 1 to the length of a sequence, 4")
    refuses(program, [*model, "--input", "1x4", "--cached", "1000000000"], 2, "--cached = '1000000000'")
    refuses(program, [*model, "--input", "1x4", "--generate", "100000000"], 2, "--generate = 100000000", "holds 64")
    refuses(program, [*model, "--input", "2x4", "--cached", "2", "--version", "1"], 2, "--version 1", "one sequence")
    refuses(program, [*model, "--ids", "1,2", "--generate", "63"], 2, "--generate = 63", "2 tokens", "holds 64")
    refuses(program, [*model, "--input", "2x3", "--generate", "1", "--version", "2"], 2, "--version 2", "one sequence")
    refuses(program, [*model, "--generate", "0"], 2, "--generate = '0'")
    refuses(program, [*model, "--generate", "1", "--temperature", "-1"], 2, "--temperature = '-1'", "from 0 to 100")
    refuses(program, [*model, "--generate", "1", "--temperature", "nan"], 2, "--temperature = 'nan'")
    refuses(program, [*model, "--generate", "1", "--top-p", "0"], 2, "--top-p = '0'")
    for case in ("1x0", "1x16/3", "x", "", "1x16,", "1x16+", "1x16+9999999999", "1x16/2+1", "1x65", "1x32+33"):
        refuses(program, [*model, "--cases", case], 2, "--cases: ", "must be BATCHxSEQ[+N][/CHUNKS]", "context, 64")
    refuses(program, [*model, "--cases", ",".join(["1x2"] * 65)], 2, "--cases: more than 64")
    refuses(program, [*model, "--cases", "1x2", "--input", "1x2"], 2, "--cases and --input: name one of them")
    refuses(program, [*model, "--cases", "1x2", "--generate", "2"], 2, "--cases and --generate")
    refuses(program, [*model, "--cases", "1x2", "--version", "2"], 2, "--version 2: --cases needs version 3 or 4")
    refuses(program, [*model, "--cases", "1x2,1x2+3", "--logits", "x.f32"], 2, "--cases = '1x2,1x2+3'", "--logits needs one without +N")
    refuses(program, ["--preset", "huge"], 2, "--preset = 'huge': must be one of benchmark|train|tiny")
    refuses(program, ["--preset", "tiny", "--nonsense"], 2, "--nonsense")
    refuses(program, ["--preset", "tiny", "x"], 2, "'x'")
    refuses(program, ["--preset", "tiny", "--seed", "1", "--seed", "2"], 2, "--seed: must be given once")
    refuses(program, ["--preset", "tiny", "--seed=1", "--preset=tiny"], 2, "--preset: must be given once")
    refuses(program, ["--preset", "tiny", "--device", "cuda"], 2, "cuda")
    refuses(program, ["--preset", "tiny", "--logits", "/nowhere/x"], 2, "--logits = '/nowhere/x'")
    # 2^20 sequences of 4096: far more than any machine that runs tests has.
    refuses(program, ["--preset", "benchmark", "--input", "1048576x4096", "--version", "1"], 1, "benchmark needs", "GiB", "scores")


def check_tokens(program, root):
    path = pathlib.Path(root) / "tokens.txt"
    for text, *words in (("1 2 97", "token 2 = 97: must be 0 to 96"), ("1 -1", "token 1 = -1"), ("1 x", "token 1: must be a whole number"),
                         ("1;2", "after token 0: ';'"), ("5", "has 1 tokens"), ("", "has 0 tokens")):
        path.write_text(text)
        refuses(program, ["--model", MODELS / "mha", "--loss", path], 1, "tokens.txt: ", *words)
    refuses(program, ["--model", MODELS / "mha", "--loss", "/nowhere"], 1, "/nowhere: can't be opened")


def check_pipes(program, root):
    """A pipe in the place of a file: refused at once, not waited for."""
    for name in ("config.json", "model.safetensors", "model.safetensors.index.json", "tokenizer.json"):
        folder = Folder(root)
        (folder.path / name).unlink(missing_ok=True)
        os.mkfifo(folder.path / name)
        prompt = ["--prompt", "a"] if name == "tokenizer.json" else []
        refuses(program, ["--model", folder.path, *prompt], 2 if prompt else 1, f"{name}: is a pipe: must be a regular file")
    folder = Folder(root)
    shard = {"weight_map": {NORM: "shard.safetensors"}}
    (folder.path / "model.safetensors.index.json").write_text(json.dumps(shard))
    os.mkfifo(folder.path / "shard.safetensors")
    refuses(program, ["--model", folder.path], 1, "shard.safetensors: is a pipe: must be a regular file")
    os.mkfifo(folder.path / "ids")
    refuses(program, ["--model", MODELS / "mha", "--loss", folder.path / "ids"], 1, "ids: is a pipe: must be a regular file")
    refuses(program, ["--model", MODELS / "mha", "--loss", "/dev/stdin"], 1, "/dev/stdin: is a ", ": must be a regular file")
    refuses(program, ["--model", MODELS / "mha", "--loss", MODELS], 1, "is a folder: must be a regular file")


def check_outputs(program, root):
    """What can't be written fails before the run; a full disk leaves what was there, and nothing beside it."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=root))
    (folder / "kept").write_text("kept")
    for option in ("--logits", "--json", "--plot"):
        refuses(program, ["--preset", "tiny", option, folder], 2, f"{option} = '{folder}': can't be written: Is a directory")

    def limited(signal, *more):
        words = ["sh", "-c", signal + 'ulimit -f 1; exec "$@"', "sh", program, "--preset", "tiny", "--device", "host", "--input", "1x64",
                 "--repeats", "1", *more]
        return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, env=ENVIRONMENT)

    # LLVM's libomp writes a file of its own when it starts: where the signal ends the program there, the shell ignores it.
    signal = "" if limited("").returncode == 0 else "trap '' XFSZ; "
    mode = {"--logits": [], "--json": ["--profile"]}
    for option, more in mode.items():
        result = limited(signal, option, folder / "kept", *more)
        left = sorted(path.name for path in folder.iterdir())
        if result.returncode != 1 or "File too large" not in result.stderr or left != ["kept"] or (folder / "kept").read_text() != "kept":
            failures.append(f"{option} on a full disk: exit {result.returncode}, said {result.stderr!r}, left {left}")


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as root:
        check_files(program, root)
        check_shards(program, root)
        check_configs(program, root)
        check_tokens(program, root)
        check_pipes(program, root)
        check_outputs(program, root)
    check_options(program)
    print("\n".join(failures))
    print(f"{checks} refusals, {len(failures)} wrong")
    sys.exit(1 if failures or checks == 0 else 0)


if __name__ == "__main__":
    main()
