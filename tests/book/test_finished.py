"""The finished site: a page's policy, its repairs, and the list of what works offline."""

import base64
import hashlib
from pathlib import Path

import pytest

from course_lib.book.finished import finish, whole, with_policy

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
