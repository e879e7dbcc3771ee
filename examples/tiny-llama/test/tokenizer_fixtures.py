#!/usr/bin/env python3
"""Makes the fixtures of the tokenizer's test with PyPI's `tokenizers`: small vocabularies of the kinds that Llama models have,
trained on generated text, and the ids and texts that the library computes for awkward inputs.

Use: python3 -m venv venv && venv/bin/pip install tokenizers && venv/bin/python examples/tiny-llama/test/tokenizer_fixtures.py
Each folder of test/tokenizers holds tokenizer.json and cases.json: a list of {text, ids, decoded} (no decoded: it is the text), and
of {text, times, count, fnv}: the text `times` times, the number of its ids and FNV-1a over them as 32-bit little-endian values.
All ids are with the post-processor's.
"""
import json
import pathlib
import random
import struct

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

FOLDER = pathlib.Path(__file__).parent / "tokenizers"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")
WORDS = ("the of and to in is that it for was on are as with his they at be this from have or by one had not but what all were when "
         "we there can an your which their said if do will each about how up out them then she many some so these would other into "
         "has more her two like him see time could no make than first been its who now people my made over did down only way find "
         "don't it's we'll I'm they've you're he'd naïve café über straße Привет мир дом вода שלום עולם مرحبا بالعالم नमस्ते दुनिया "
         "你好 世界 東京 大学 안녕하세요 세계 สวัสดี 2024 100 3.14 int return static const void for(i=0;i<n;i++) {\n } \n\n \t ... -- !=").split(" ")

TEXTS = [
    "", " ", "  ", "   ", "\n", "\t", "\r\n", "a", " a", "  a", "a ", "a  ", "Hello, world!", "Hello  world   with    spaces",
    "hello\nworld", "a\r\nb\r\n\r\nc\r\r\n\n", "\n\n\n  \n x", "  \n", " \n ", "\n ", "x \n y", "tab\t\ttabs\t x", " \t \t ",
    "don't DON'T we'll WE'LL i'm I'M they've you're he'd it's 'S 'sat 'tis x's's", "it\u2019s", "'\u017f \u212a '\u017fx",
    "1 12 123 1234 12345 123456 1234567890", "3.14159, 1,000,000; 0x1F \u00b2\u00b3 \u00bd \u2167 \u0663\u0664\u0665 \u0e51\u0e52\u0e53\u0e54",
    "\u4e00\u4e8c\u4e09 \u3007 \u2460\u2461", "naive cafe\u0301 na\u00efve caf\u00e9 A\u030a \u1e69 s\u0323\u0307", "\u0301\u0302 \u0301a",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd \u2764\ufe0f",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd \u0645\u0631\u062d\u0628\u0627 \u200f\u202babc\u202c \u064e\u064f",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002\u6771\u4eac\u5927\u5b66 \u3053\u3093\u306b\u3061\u306f \U00020000\U0002a6d6",
    "\uc548\ub155\ud558\uc138\uc694 \u1112\u1161\u11ab\u1100\u1173\u11af \u3131", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35 \u0928\u092e\u0938\u094d\u0924\u0947",
    "\u00a0x\u00a0\u00a0y \u2003z\u3000w \u2028\u2029 \u0085 \u180e \u180ex \u200b \ufeff x", "\x1c\x1d\x1e\x1f \x0b\x0c \x7f \x01",
    "a\x00b\x00\x00 \x00", "\ud7ff\ue000\ufffd\uffff\U00010000\U0010ffff", "\u2581a \u2581 \u2581\u2581b", " \u2581", "<0x41><0x00>",
    "x<s>y", "<s>", "</s> <s>a</s>", "<unk>", "<s", "<<s>>", "<s><s>", " <s> a", "a<s> b </s>  c",
    "<|begin_of_text|>", "a<|end|>b", "<|end|><|end_of|>", "<|end", "<|end_of|", " <|end|> x", "<|end|>\n\n", "12<|end|>345", "x<plain>y <plain>",
    "int main(void) {\n\treturn a[i] != b->c ? 0 : 1;\n}\n", "https://example.org/a_b?c=d&e=%20#f", "!!!???...---___***", " !  !! \n!\r\n",
    "\u01c5\u02b0\u00aa\u2c7c\U0001d400\U00010400 \u0186", "\u20ac100 $5 \u00a37 +1 -1 <=> \u2211\u222b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "The Quick BROWN fox", "\u0130\u0131 \ufb01 \u1e9e \u03a3\u03c3\u03c2", "e\u200d\u0301 \u20dd x\u20dd", "\U000e0041\U000f0000 \ufdd0",
]
LONG = [("the quick brown fox jumps over the lazy dog, 12345 times; ", 1700), (" ", 100000), ("\u4f60\u597d", 16000), ("a", 100000),
        ("\r\n", 20000), ("x1 \U0001f600\n", 10000), ("<|end|><s>", 5000), ("  \t", 9000), (" \nx", 9000)]


def corpus():
    random.seed(1)
    return [" ".join(random.choice(WORDS[: random.choice((20, 60, len(WORDS)))]) for _ in range(40)) for _ in range(1500)]


def llama3(pre_tokenizer, ignore_merges):
    t = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    t.pre_tokenizer = pre_tokenizer
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=600, show_progress=False,
                                                        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    t.add_special_tokens([AddedToken(name, special=True, normalized=False) for name in ("<|begin_of_text|>", "<|end|>", "<|end_of|>")])
    t.add_tokens([AddedToken("<plain>", normalized=False), AddedToken("\u00e9t\u00e9 x", normalized=True)])
    template = processors.TemplateProcessing(single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", 600)])
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True), template])
    return json.loads(t.to_str())


def llama2(metaspace, normalized):
    """Trained with words cut at spaces; used as Llama 2 is: the whole text is one piece."""
    t = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")
    first = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)]
    t.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=700, show_progress=False, special_tokens=first, limit_alphabet=90))
    tokenizer = json.loads(t.to_str())
    tokenizer["added_tokens"] = [dict(token, normalized=normalized) for token in tokenizer["added_tokens"][:3]]
    tokenizer["added_tokens"].append(dict(id=len(tokenizer["model"]["vocab"]), content="<plain>", single_word=False, lstrip=False,
                                          rstrip=False, normalized=False, special=False))
    t = Tokenizer.from_str(json.dumps(tokenizer))
    t.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme=metaspace, split=False) if metaspace else None
    t.normalizer = None if metaspace else normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    end = " </s>" if metaspace else ""
    t.post_processor = processors.TemplateProcessing(single="<s> $A" + end, special_tokens=[("<s>", 1), ("</s>", 2)])
    tokenizer = json.loads(t.to_str())
    if not metaspace:  # as files before tokenizers 0.20 have them
        tokenizer["model"]["merges"] = [" ".join(merge) for merge in tokenizer["model"]["merges"]]
    return tokenizer


def fnv(ids):
    value = 0xCBF29CE484222325
    for byte in struct.pack(f"<{len(ids)}i", *ids):
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def case(t, text, times=1):
    encoding = t.encode(text * times)
    if times > 1:
        return {"text": text, "times": times, "count": len(encoding.ids), "fnv": fnv(encoding.ids)}
    # Without special tokens by hand: the library (0.23.3) shows those that are normalized.
    special = {i for i, token in t.get_added_tokens_decoder().items() if token.special}
    decoded = t.decode([i for i in encoding.ids if i not in special])
    return {"text": text, "ids": encoding.ids, **({} if decoded == text else {"decoded": decoded})}


def awkward():
    """Seeded texts of all planes, and of characters that meet in words."""
    random.seed(2)
    pools = ["abcXYZ  '\n\r\t0123456789.,!?", "aé\u0301ß\u00a0 \u3000\n你안\U0001f600\u200d's7\u0663",
             [chr(i) for i in range(0x3000) if not chr(i).isspace() or i < 33]]
    return ["".join(random.choice(pool) for _ in range(random.randint(3, 40))) for pool in pools for _ in range(24)]


def write(name, tokenizer):
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    t = Tokenizer.from_str(json.dumps(tokenizer))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")) + "\n")
    cases = [case(t, text) for text in TEXTS + awkward()] + [case(t, *long) for long in LONG]
    (folder / "cases.json").write_text("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
    print(name, len(cases), sum(path.stat().st_size for path in folder.iterdir()))


if __name__ == "__main__":
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    write("llama3", llama3(pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"), byte_level]), True))
    write("gpt2", llama3(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                                  pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]), False))
    write("llama2", llama2(None, False))
    write("llama1", llama2(None, True))
    write("metaspace", llama2("first", False))
