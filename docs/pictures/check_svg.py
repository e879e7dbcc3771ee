"""Checks pictures: no text over another one or outside of the picture, a title that names what is shown, and nothing that is loaded
from elsewhere. Usage: check_svg.py FILE.svg...     Widths of texts are those of files/svg.c, which are DejaVu Sans's."""
import itertools
import pathlib
import re
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
source = pathlib.Path(__file__).resolve().parents[2] / "files/svg.c"
widths = [int(n) for n in re.findall(r"\d+", re.search(r"widths\[95\] = \{(.*?)\}", source.read_text(), re.S)[1])]
assert len(widths) == 95


def box(text):
    size = float(text.get("font-size"))
    wide = sum(widths[ord(c) - 32] if " " <= c <= "~" else 100 for c in text.text or "") * size / 100
    x = float(text.get("x")) - {"start": 0, "middle": wide / 2, "end": wide}[text.get("text-anchor")]
    y = float(text.get("y"))
    return x, y - 0.75 * size, x + wide, y + 0.05 * size  # capitals and figures; descenders reach 0.2 below


def complaints(path):
    root = tree.parse(path).getroot()
    width, height = (float(n) for n in root.get("viewBox").split()[2:])
    title = root.findtext(SVG + "title") or ""
    if len(title) < 5 or "/tmp" in title or "." in title.rsplit("/")[-1][-5:] or title == "Gnuplot":
        yield f"its title is '{title}'"
    texts = [(box(t), t.text) for t in root.iter(SVG + "text") if (t.text or "").strip()]
    for (x0, y0, x1, y1), text in texts:
        if x0 < 0 or y0 < 0 or x1 > width or y1 > height:
            yield f"'{text}' is not wholly inside: {x0:.0f}-{x1:.0f} of {width:.0f}, {y0:.0f}-{y1:.0f} of {height:.0f}"
    for (a, one), (b, other) in itertools.combinations(sorted(texts, key=lambda t: t[0][1]), 2):
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]:
            yield f"'{one}' and '{other}' overlap"
    for element in root.iter():
        if any(name.endswith("href") for name in element.keys()):
            yield f"{element.tag} refers to something else"


if __name__ == "__main__":
    bad = 0
    for path in sys.argv[1:]:
        for complaint in complaints(path):
            print(f"{path}: {complaint}")
            bad = 1
    sys.exit(bad)
