"""Tests the web edition in a headless Chromium: every page at two widths, every link and anchor, the search, the texts of pictures, and
the pictures that move, whose every element is compared with what the C code says.

Usage: test_site.py SITE TANDEM-DRAW CHROMIUM     SEED in the environment: of the settings that are tried; default: the time
The last line counts: N passed, N failed, 0 skipped
"""
import concurrent.futures
import contextlib
import html.parser
import io
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import urllib.parse

from playwright.sync_api import Error, sync_playwright

SETTINGS = 20
PATIENCE = 30000  # milliseconds; a machine may be busy
WIDTHS = {"phone": (390, 844, "dark"), "desktop": (1280, 800, "light")}
PAGES = {"banks": "docs/guide/05-lds-banks.html", "lanes": "docs/guide/06-mfma-lanes.html", "order": "docs/guide/09-chiplets.html",
         "roofline": "docs/guide/03-roofline.html"}


class Count:
    """Passed and failed checks of one browser."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, right, what):
        self.passed += bool(right)
        self.failed += not right
        if not right:
            print(f"site: {what}", flush=True)


# ---- Links: read from the files, without a browser ----

class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.ids, self.loaded, self.silent = [], set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.ids.update(v for k, v in a.items() if k in ("id", "name") and v)
        if tag == "img" and not a.get("alt"):
            self.silent.append(a.get("src"))
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
        for key in ("src", "href"):
            is_loaded = tag in ("script", "img", "link", "iframe", "source") and a.get("rel") not in ("search", "author", "index")
            if a.get(key) and is_loaded:
                self.loaded.append(a[key])


def check_links(check, site, pages):
    parsed = {p: Page(p) for p in pages}
    for path, page in parsed.items():
        outside = [u for u in page.loaded if "://" in u or u.startswith("//")]
        check(not outside and not page.silent, f"{path.name}: loads {outside}, pictures without a text {page.silent}")
        broken = []
        for link in page.links + page.loaded:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc or link.startswith("data:"):
                continue
            target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            anchor = urllib.parse.unquote(url.fragment)
            if not target.exists() or (anchor and target in parsed and anchor not in parsed[target].ids):
                broken.append(link)
        check(not broken, f"{path.relative_to(site)}: broken links {broken[:5]}")


# ---- Pages ----

def watch(page, trouble):
    page.on("console", lambda m: m.type in ("error", "warning") and trouble.append(f"{m.type}: {m.text}"))
    page.on("pageerror", lambda e: trouble.append(f"exception: {e}"))
    page.on("requestfailed", lambda r: trouble.append(f"not loaded: {r.url}"))
    page.on("request", lambda r: r.url.startswith(("file:", "data:", "blob:")) or trouble.append(f"outside request: {r.url}"))


def visit(page, path, query=""):
    page.goto(path.as_uri() + query, wait_until="load")


def check_pages(check, page, trouble, site, pages, width):
    for path in pages:
        trouble.clear()
        visit(page, path)
        try:
            if path.name == "index.html":
                page.wait_for_url("**/README.html", timeout=PATIENCE)
            page.wait_for_function("document.documentElement.dataset.movable === 'ready'", timeout=PATIENCE)
        except Error as error:
            trouble.append(str(error).splitlines()[0])
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number)")
        if (sum(ground) < 3 * 128) != dark and "planted" not in page.title():
            trouble.append(f"a background of {ground} where {'dark' if dark else 'light'} is asked for")
        check(not trouble and wide <= 1, f"{path.relative_to(site)} at {width}: {trouble[:3]}, {wide} pixels too wide")


def check_search(check, page, trouble, site):
    trouble.clear()
    visit(page, site / "search.html", "?q=swizzle")
    page.wait_for_selector("#search-results li a", timeout=PATIENCE)
    found = page.eval_on_selector_all("#search-results li a", "list => list.map(a => a.getAttribute('href'))")
    check(any("05-lds-banks" in f for f in found) and not trouble, f"search for 'swizzle': {found[:5]} {trouble[:3]}")


# ---- Texts of pictures, with the browser's fonts ----

BOXES = """() => { const v = document.documentElement.viewBox.baseVal;
  return {w: v.width, h: v.height, title: document.querySelector('title')?.textContent ?? '',
    texts: [...document.querySelectorAll('text')].map(t => {
    const b = t.getBBox(), s = parseFloat(t.getAttribute('font-size'));
    return [b.x, +t.getAttribute('y') - 0.75 * s, b.x + b.width, +t.getAttribute('y') + 0.05 * s, t.textContent]; })}; }"""


def check_texts(check, page, pictures):
    for path in pictures:
        visit(page, path)
        p = page.evaluate(BOXES)
        outside = [t[4] for t in p["texts"] if t[0] < 0 or t[1] < 0 or t[2] > p["w"] + 0.5 or t[3] > p["h"]]
        over = [(a[4], b[4]) for a, b in itertools.combinations(p["texts"], 2)
                if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]]
        check(not outside and not over and len(p["title"]) > 4, f"{path.name}: outside {outside[:3]}, over each other {over[:3]}")


# ---- Pictures that move: what should be there, from tandem-draw, beside what is there ----

def boxes_of(data, at):
    rule = data["chips"][at["chip"]]["rules"][at["rule"]]
    boxes = [[n, *lane] for n, phase in enumerate(rule["phases"]) for lane in phase["lanes"]]
    return rule["text"], boxes + [["clocks", n, phase["clocks"]] for n, phase in enumerate(rule["phases"])]


def lanes_of(data, at):
    s, cells = data["shapes"][at["shape"]], []
    for n, lane in enumerate(s["operand"]):
        row, chunk = divmod(n, s["chunks"])
        cells += [["A", chunk, row, lane, lane == at["lane"]], ["B", row, chunk, lane, lane == at["lane"]]]
    for n, (lane, register) in enumerate(s["result"]):
        rows, column = divmod(n, s["side"])
        cells.append(["D", column, rows, lane, lane == at["lane"]])
        if column == 0:
            cells.append([f"rows {4 * rows}-{4 * rows + 3}: registers {register}-{register + 3}"])
    return s["texts"][at["lane"]], cells


def order_of(data, at):
    c = data["cases"][(at["xcds"] * len(data["windows"]) + at["window"]) * len(data["chunks"]) + at["chunk"]]
    xcds = data["xcds"][at["xcds"]]
    return c["text"], [[i, *divmod(t, data["side"]), data["colours"][i % xcds], i < at["first"]] for i, t in enumerate(c["tiles"])]


def roofline_of(data, at):
    roof = data["roofs"][at["roof"]]
    c = roof["cases"][at["size"] * len(data["m"]) + at["m"]]
    return c["text"], [c["at"], [x for p in roof["roof"] for x in p]]


EXPECTED = {"banks": boxes_of, "lanes": lanes_of, "order": order_of, "roofline": roofline_of}
# The same of the page, by where shapes stand and by what is written in them.
SHOWN = {
    "banks": """f => { const n = (e, a) => +e.getAttribute(a), floors = [...f.querySelectorAll('line')];
        return [...f.querySelectorAll('[data-phase]')].map(g => { const r = g.querySelector('rect'), floor = floors[+g.dataset.phase];
          return [+g.dataset.phase, +g.textContent, (n(r, 'x') - n(floor, 'x1')) / 34, (n(floor, 'y1') - n(r, 'y')) / 17 - 1]; })
        .concat([...f.querySelectorAll('[data-clocks]')].map(t => ['clocks', +t.dataset.clocks, parseInt(t.textContent.split(': ')[1])])); }""",
    "lanes": """f => { const n = (e, a) => +e.getAttribute(a), cells = [...f.querySelectorAll('[data-what]')];
        const least = (what, a) => Math.min(...cells.filter(g => g.dataset.what === what).map(g => n(g.firstChild, a)));
        const from = {}; for (const w of 'ABD') from[w] = [least(w, 'x'), least(w, 'y')];
        return cells.map(g => { const r = g.firstChild, w = g.dataset.what;
          return [w, (n(r, 'x') - from[w][0]) / n(r, 'width'), (n(r, 'y') - from[w][1]) / n(r, 'height'), +g.textContent,
                  r.getAttribute('fill') === '#c0203a']; })
        .concat([...f.querySelectorAll('text.movable-ink')].map(t => [t.textContent]).filter(t => t[0].startsWith('rows'))); }""",
    "order": """f => [...f.querySelectorAll('[data-framed]')].map(g => { const r = g.firstChild, n = a => (+r.getAttribute(a) - 9) / 32;
        return [+g.textContent, n('y'), n('x'), r.getAttribute('fill'), r.getAttribute('stroke') !== 'none']; })""",
    "roofline": """f => [['cx', 'cy'].map(a => +f.querySelector('circle').getAttribute(a)),
        f.querySelector('polyline').getAttribute('points').split(/[ ,]/).map(Number)]""",
}
SET = """(f, at) => { for (const [name, value] of Object.entries(at)) { const i = f.querySelector(`[data-control=${name}]`);
    i.value = value; i.dispatchEvent(new Event('input', {bubbles: true})); } }"""


def normal(elements):
    return sorted(repr([round(float(x), 3) if isinstance(x, (int, float)) else x for x in e]) for e in elements)


def compare(figure, name, data, at):
    text, elements = EXPECTED[name](data, at)
    label = figure.locator("svg").evaluate(
        "s => [s.getAttribute('role'), document.getElementById(s.getAttribute('aria-labelledby')).textContent]")
    return label == ["img", text] and normal(figure.evaluate(SHOWN[name])) == normal(elements)


def check_movable(check, page, trouble, site, name, data, width, dice):
    trouble.clear()
    visit(page, site / PAGES[name])
    figure = page.locator(f"#movable-{name}")
    figure.wait_for(timeout=PATIENCE)
    inputs = figure.locator("input")
    sizes = {i.get_attribute("data-control"): int(i.get_attribute("max")) + 1 for i in inputs.all()}
    for key, end in (("Home", 0), ("End", -1)):  # both ends, with the keyboard
        for control in inputs.all():
            control.focus()
            page.keyboard.press(key)
        at = {n: (0 if end == 0 else s - 1) for n, s in sizes.items()}
        check(compare(figure, name, data, at), f"{name} at {width}, {key}: not what tandem-draw says of {at}")
    page.keyboard.press("ArrowLeft")
    at[list(sizes)[-1]] -= 1
    check(compare(figure, name, data, at), f"{name} at {width}, after an arrow key: not what tandem-draw says of {at}")
    for _ in range(SETTINGS):
        at = {n: dice.randrange(s) for n, s in sizes.items()}
        figure.evaluate(SET, at)
        check(compare(figure, name, data, at), f"{name} at {width}: not what tandem-draw says of {at}")
    labels = figure.evaluate(
        "f => [...f.querySelectorAll('input')].every(i => i.labels.length === 1 && i.getAttribute('aria-valuetext'))")
    check(labels and not trouble, f"{name} at {width}: labels {labels}, {trouble[:3]}")
    # The comparison itself: a number that is changed in the page has to be noticed.
    figure.evaluate("f => f.querySelector('circle, g rect').setAttribute(f.querySelector('circle') ? 'cx' : 'x', -900)")
    check(not compare(figure, name, data, at), f"{name}: a changed number goes unnoticed")


PLANTED = {  # each has one mistake
    "link": '<a href="nowhere.html">x</a>', "anchor": '<a href="#nowhere">x</a>',
    "outside": '<script src="https://example.org/x.js"></script>',
    "error": "<script>throw new Error('planted')</script>", "console": "<script>console.error('planted')</script>",
    "silent": '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">', "wide": '<div style="width: 3000px">x</div>',
    "over": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 40"><title>planted</title><text x="2" y="20" font-size="10">one text</text>'
            '<text x="9" y="20" font-size="10">another</text></svg>'}


def check_checks(check, page, trouble):
    """Pages with a mistake each: one that goes unnoticed is a check that can't fail."""
    ready = "<script>document.documentElement.dataset.movable = 'ready'</script>"
    with tempfile.TemporaryDirectory() as folder:
        for name, body in PLANTED.items():
            path, count = pathlib.Path(folder) / (name + (".svg" if name == "over" else ".html")), Count()
            path.write_text(body if name == "over" else f"<!doctype html><html><title>planted</title>{ready}{body}</html>")
            with contextlib.redirect_stdout(io.StringIO()):
                if name == "over":
                    check_texts(count, page, [path])
                else:
                    check_links(count, path.parent, [path])
                    check_pages(count, page, trouble, path.parent, [path], "desktop")
            check(count.failed > 0, f"a planted mistake goes unnoticed: {name}")


def data_of(draw, name):
    text = subprocess.run([draw, "data", name], check=True, capture_output=True, text=True).stdout
    return json.loads(text[text.index(f"window.tandemData.{name} = ") + len(f"window.tandemData.{name} = "):].rstrip(";\n"))


def check_width(site, pages, data, chromium, width, seed):
    """One browser of one width: two of them use two cores."""
    check, trouble, dice = Count(), [], random.Random(f"{seed} {width}")
    x, y, scheme = WIDTHS[width]
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": x, "height": y}, color_scheme=scheme)
        watch(page, trouble)
        check_pages(check, page, trouble, site, pages, width)
        check_search(check, page, trouble, site)
        for name in PAGES:
            check_movable(check, page, trouble, site, name, data[name], width, dice)
        if width == "desktop":
            check_texts(check, page, sorted((site / "_images").glob("*.svg")))
        browser.close()
    return check


def check_planted(chromium):
    check, trouble = Count(), []
    with sync_playwright() as p:
        browser = p.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        watch(page, trouble)
        check_checks(check, page, trouble)
        browser.close()
    return check


def main():
    site, draw, chromium = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
    seed = int(os.environ.get("SEED") or time.time())
    print(f"site: settings of SEED={seed}", flush=True)
    pages = sorted(p for p in site.rglob("*.html") if "_downloads" not in p.parts)
    count = Count()
    count(len(pages) > 50, f"only {len(pages)} pages")
    check_links(count, site, pages)
    data = {name: data_of(draw, name) for name in PAGES}
    with concurrent.futures.ThreadPoolExecutor(len(WIDTHS)) as pool:
        runs = [pool.submit(check_width, site, pages, data, chromium, width, seed) for width in WIDTHS]
        counts = [count] + [r.result() for r in runs] + [check_planted(chromium)]
    failed = sum(c.failed for c in counts)
    print(f"{sum(c.passed for c in counts)} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
