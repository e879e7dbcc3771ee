"""Sphinx's settings for the web edition, which tools/site.sh builds of the repository's own Markdown files."""
import pathlib
import re

project = "Tandem"
html_title = "Tandem"
extensions = ["myst_parser"]
root_doc = "README"
source_suffix = {".md": "markdown"}
# The pages: tools/site.sh copies the whole tree, so that links to sources find them.
include_patterns = ["README.md", "**/README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "docs/guide/*.md", "bench/*.md",
                    "bench/results/*.md", "learn/exercises/*/task.md"]

myst_heading_anchors = 4  # as GitHub names them
myst_enable_extensions = []
# Fences may name no language ("floors"), or have words after it ("sh long").
suppress_warnings = ["misc.highlighting_failure", "myst.header", "toc.not_included", "myst.xref_ambiguous"]
highlight_language = "none"
smartquotes = False

html_theme = "furo"
html_theme_options = {"navigation_with_keys": True}
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
# Summaries of search results are fetched, which browsers refuse for file://.
html_show_search_summary = False
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("movable.js", {"defer": "defer"})]


def sections(root):
    """The table of contents: captions with their pages, in the order in which to read them."""
    guide = sorted(p.stem for p in (root / "docs/guide").glob("[0-9]*.md"))
    exercises = sorted(p.parent.name for p in (root / "learn/exercises").glob("*/task.md"))
    rest = sorted(p.stem for p in (root / "docs").glob("*.md"))
    first = ["building", "glossary", "api", "benchmarking", "checking", "tuning"]
    results = sorted(f"bench/results/{p.stem}" for p in (root / "bench/results").glob("*.md"))
    lessons = ["learn/README", "docs/ladder", "ladder/README", "examples/README", "examples/tiny-llama/README"]
    others = sorted(str(p.relative_to(root).with_suffix("")) for p in root.glob("*/**/README.md"))
    return [
        ("Guide", ["docs/guide/" + p for p in guide]),
        ("Lessons", [p if p != "ladder/README" else f"The steps of the ladders <{p}>" for p in lessons]),
        ("Exercises", [f"learn/exercises/{e}/task" for e in exercises]),
        ("Reference", ["docs/" + p for p in first + [p for p in rest if p not in first and p != "ladder"]]),
        ("Results", ["bench/RESULTS"] + results + ["bench/TIMING"]),
        ("Project", ["CONTRIBUTING", "CHANGELOG"] + [p for p in others if p not in lessons]),
    ]


def prepare(app, name, source):
    """Folders have no page: their names stay as texts. The first page gets the contents."""
    folder = (pathlib.Path(app.srcdir) / name).parent

    def text_of(link):
        target = folder / link[2]
        return link[1] if "://" not in link[2] and target.is_dir() else link[0]

    source[0] = re.sub(r"(?<!!)\[([^]]*)\]\(([^)#]+)\)", text_of, source[0])
    if name != root_doc:
        return
    for caption, pages in sections(pathlib.Path(app.srcdir)):
        source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"


def setup(app):
    app.connect("source-read", prepare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
