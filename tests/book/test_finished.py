"""The finished site: its policy, what works offline, live cells, and links that lead."""

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from course_lib.book import live_cells
from course_lib.book.finished import finish, links_out, problems, whole, with_policy
from course_lib.commands import book
from course_lib.tab import pyodide

HEAD = '<html><head><meta charset="utf-8" />{}</head><body>{}</body></html>'


def hash_of(script: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@pytest.mark.parametrize(("body", "script", "allowed"), [
    ("<script>let a = 1;</script>", "let a = 1;", True),
    ('<script data-x="1">\n f("<");\n</script>', '\n f("<");\n', True),
    ('<script type="application/json">{"a": 1}</script>', '{"a": 1}', False),
    ('<script src="a.js"></script>', "", False),
    ("<p>let a = 1;</p>", "let a = 1;", False),
])  # fmt: skip
def test_a_page_may_run_what_stands_in_it(body: str, script: str, allowed: bool) -> None:
    policy = with_policy(HEAD.format("", body))
    assert (hash_of(script) in policy) == allowed
    assert "'unsafe-inline'" not in policy.split("style-src")[0]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    live = tmp_path / "_static" / "live-0123456789"
    live.mkdir(parents=True)
    (live / "live.js").write_text("1", encoding="utf-8")
    (tmp_path / "_static" / "a.css").write_text("b { src: url(font.woff2) }", encoding="utf-8")
    (tmp_path / "_static" / "font.woff2").write_bytes(b"font")
    (tmp_path / "_static" / "unused.png").write_bytes(b"unused")
    (tmp_path / "searchindex.js").write_text("1", encoding="utf-8")
    (tmp_path / "notebooks").mkdir()
    page = HEAD.format(
        '<link rel="stylesheet" href="../_static/a.css?v=1" />',
        '<table><th class="head"></th><th>words</th></table><img src="data:image/png;base64,AA" />',
    )
    (tmp_path / "notebooks" / "00.html").write_text(page, encoding="utf-8")
    return tmp_path


def test_what_pages_ask_for_works_offline_under_the_name_that_they_use(site: Path) -> None:
    listed = whole(site)
    assert listed["files"] == [
        "./", "_static/a.css?v=1", "_static/font.woff2", "_static/live-0123456789/live.js",
        "notebooks/00.html", "searchindex.js",
    ]  # fmt: skip
    (site / "_static" / "font.woff2").write_bytes(b"another")
    assert whole(site)["version"] != listed["version"]


def test_an_empty_heading_of_a_table_is_none(site: Path) -> None:
    finish(site)
    text = (site / "notebooks" / "00.html").read_text(encoding="utf-8")
    assert "<td></td><th>words</th>" in text
    assert (site / "offline.json").exists()


@pytest.fixture
def tab_site(tmp_path: Path, monkeypatch) -> tuple[Path, Path]:
    """The site's root, and the folder of the live cells in it."""
    monkeypatch.setattr(live_cells.bundle, "write", lambda path: path.write_bytes(b"tar"))
    (tmp_path / "_static").mkdir()
    folder = live_cells.write_tab(tmp_path / "_static", tmp_path)
    return tmp_path, tmp_path / "_static" / folder


def told(root: Path) -> dict:
    worker = (root / "service-worker.js").read_text()
    return json.loads(re.search(r"^const SITE = (\{.*\});", worker, re.MULTILINE)[1])


def test_every_asset_lies_in_the_folder_and_asks_nobody(tab_site):
    root, folder = tab_site
    names = {each.name for each in folder.iterdir()}
    assets = {each.name for each in live_cells.ASSETS.iterdir()} - {"service-worker.js"}
    assert names == assets | {"course.tar.gz", "site.js", "site.json"}
    assert told(root)["version"] == folder.name.removeprefix("live-")
    assert "--ml-paper" in (folder / "live.css").read_text(), "the theme's colours are in it"
    _, folder = tab_site
    for path in folder.glob("*.js"):
        if path.name not in ("codemirror.js", "site.js"):
            assert re.findall(r"https?://[^\s/\"'`;]+", path.read_text()) in (
                [],
                ["http://localhost:8000."],
            ), path.name


def test_the_folder_s_name_changes_with_what_is_in_it(tab_site, monkeypatch, tmp_path) -> None:
    root, folder = tab_site
    again = tmp_path / "again"
    again.mkdir()
    assert live_cells.write_tab(again, root) == folder.name
    monkeypatch.setattr(live_cells.bundle, "write", lambda path: path.write_bytes(b"rat"))
    other = tmp_path / "other"
    other.mkdir()
    assert live_cells.write_tab(other, root) != folder.name


def test_a_site_can_hold_pyodide_itself(tab_site, tmp_path) -> None:
    root, folder = tab_site
    known = json.loads((folder / "site.json").read_text())
    assert (known["pyodide"], known["numpy"]) == (pyodide.CDN, None)
    core = tmp_path / "core"
    core.mkdir()
    for name in pyodide.CORE:
        (core / name).write_text(name)
    wheel = tmp_path / "numpy-0-wasm32.whl"
    wheel.write_text("wheel")
    live_cells.hold_pyodide(root, core, wheel)
    known = json.loads((folder / "site.json").read_text())
    assert f"export default {json.dumps(known)};\n" == (folder / "site.js").read_text()
    assert (folder / known["pyodide"] / "pyodide.mjs").read_text() == "pyodide.mjs"
    assert (folder / known["numpy"]).read_text() == "wheel"
    assert (root / told(root)["pyodide"] / "pyodide.mjs").exists()
    assert told(root)["version"] == known["version"] != folder.name.removeprefix("live-")


GOOD = {
    "index.html": '<h1 id="top">x</h1><a href="b/two.html#part">b</a><a href="#top">up</a>'
    '<img src="p.png"><img src="data:image/png;base64,AA"><a href="b/">folder</a>'
    '<link rel="stylesheet" href="s.css?v=1"><a href="https://example.org/">out</a>',
    "b/two.html": '<a name="part"></a><a href="../index.html">home</a><a href="two.html">me</a>',
    "b/index.html": "<p>empty</p>",
    "p.png": "picture",
    "s.css": "a { background: url(data:image/png;base64,AA) }",
    "_static/template.html": '<script src="{{ nowhere }}"></script>',
}


def linked_site(folder: Path, **changes: str) -> Path:
    for name, text in {**GOOD, **{k.replace("__", "."): v for k, v in changes.items()}}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_sound_site_has_no_problem(tmp_path: Path) -> None:
    assert problems(linked_site(tmp_path)) == []
    assert links_out(tmp_path) == {"https://example.org/"}


@pytest.mark.parametrize(("page", "said"), [
    ('<a href="gone.html">x</a>', "extra.html links to gone.html: there is no such file."),
    ('<a href="b/two.html#nope">x</a>',
     "extra.html links to b/two.html#nope: there is no such place on that page."),
    ('<a href="#nope">x</a>', "extra.html links to #nope: there is no such place on that page."),
    ('<a href="../../etc/passwd">x</a>',
     "extra.html links to ../../etc/passwd: that lies outside the site."),
    ('<img src="gone.png">', "extra.html fetches gone.png: there is no such file."),
    ('<script src="https://cdn.example/x.js"></script>',
     "extra.html fetches https://cdn.example/x.js, which lies outside the site."),
    ('<link rel="preconnect stylesheet" href="//fonts.example/f">',
     "extra.html fetches //fonts.example/f, which lies outside the site."),
    ("<style>@import 'https://cdn.example/a.css'; b { color: red }</style>",
     "extra.html fetches https://cdn.example/a.css, which lies outside the site."),
    ('<p style="background: url(https://cdn.example/a.png)">x</p>',
     "extra.html fetches https://cdn.example/a.png, which lies outside the site."),
    ('<img srcset="p.png 1x, https://cdn.example/2x.png 2x">',
     "extra.html fetches https://cdn.example/2x.png, which lies outside the site."),
])  # fmt: skip
def test_what_is_wrong_is_named(tmp_path: Path, page: str, said: str) -> None:
    assert problems(linked_site(tmp_path, extra__html=page)) == [said]


def test_a_style_sheet_that_fetches_elsewhere_is_named(tmp_path: Path) -> None:
    css = "@font-face { src: url('https://fonts.example/a.woff2') }"
    assert problems(linked_site(tmp_path, s__css=css)) == [
        "s.css fetches https://fonts.example/a.woff2, which lies outside the site."
    ]


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path, capsys) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    assert book.main(["--out", str(tmp_path)]) == 2
    assert "contains other files; name an empty folder" in capsys.readouterr().err
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
