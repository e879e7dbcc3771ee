"""The first use of a term of docs/glossary.md in the guide links to its part of the glossary.

Usage: glossary_links.py [--update]   without --update: exit status 1 and a line for each first use that is no link
"""
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent
# Parts whose terms a reader of the guide has to learn; and words of theirs that are used in their plain sense, too.
PARTS = ("Memory", "Execution", "Tiles and products", "Simulator")
PLAIN = {"buffer", "host", "device", "kernel", "chip", "stage", "fence", "issue", "wait", "before", "after", "stream", "team", "thread",
         "grid", "panel", "pack", "part", "chunk", "window", "operand", "sample", "counter", "bound", "served", "undefined", "lock",
         "uninitialised", "finding", "latency", "reduction", "angle", "frequency", "tile", "launch", "race", "pipe", "lane", "atomic",
         "synchronous", "asynchronous", "outstanding", "out of bounds", "undefined", "floor", "fragment", "decode", "scratch"}
# Of these the guide has the word in bold where it is explained.
BOLD = {"lane", "floor", "race"}


def terms():
    """(term, anchor of its part)"""
    part = ""
    for line in (DOCS / "glossary.md").read_text().splitlines():
        if line.startswith("## "):
            part = line[3:]
        elif line.startswith("| ") and part in PARTS and not line.startswith("| term"):
            for term in line.split("|")[1].split(","):
                term = term.strip()
                if term and (term not in PLAIN or term in BOLD):
                    yield term, part.lower().replace(" ", "-")


def prose(text):
    """Begin and end of what is neither code, heading, link, picture nor table."""
    skip = [m.span() for m in re.finditer(r"^```.*?^```|^#.*?$|^\|.*?$|`[^`\n]*`|!?\[[^\]]*\]\([^)]*\)", text, re.S | re.M)]
    at = 0
    for begin, end in skip + [(len(text), len(text))]:
        if begin > at:
            yield at, begin
        at = max(at, end)


def pattern(term):
    return r"\s+".join(map(re.escape, term.split())) + "s?"


def first_use(text, term):
    word = rf"\*\*{pattern(term)}\*\*" if term in BOLD else rf"\*\*{pattern(term)}\*\*|(?<![\w-]){pattern(term)}(?![\w-])"
    for begin, end in prose(text):
        found = re.compile(word).search(text, begin, end)
        if found:
            return found
    return None


def main():
    update = sys.argv[1:] == ["--update"]
    pages = sorted((DOCS / "guide").glob("[0-9]*.md"))
    missing = 0
    for term, anchor in terms():
        link = re.compile(rf"\[(?:\*\*)?{pattern(term)}(?:\*\*)?\]\(\.\./glossary\.md#{anchor}\)")
        for page in pages:
            text = page.read_text()
            use, linked = first_use(text, term), link.search(text)
            if linked and (use is None or linked.start() < use.start()):
                break
            if use is None:
                continue
            if update:
                page.write_text(text[: use.start()] + f"[{use.group()}](../glossary.md#{anchor})" + text[use.end() :])
            else:
                missing += 1
                print(f"{page.name}: the first use of '{term}' must link to glossary.md#{anchor}: glossary_links.py --update")
            break
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
