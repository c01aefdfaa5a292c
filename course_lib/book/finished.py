"""Finishes what Sphinx has made: what its pages lack, and the list of all that works offline."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from course_lib.book.links import OUTSIDE, pages_of, read_page, urls_of_style
from course_lib.book.live_cells import ASSETS
from course_lib.web import read_beside, running

OFFLINE = "offline.json"
# Styles may stand in a page: figures, diagrams and the editor have their own.
POLICY = (
    "default-src 'none'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'; "
    "form-action 'self'; base-uri 'none'"
)
_SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<text>.*?)</script>", re.DOTALL)
_NO_INLINE = re.compile(r"\bsrc=|type=\"application/json\"")
_HEAD = '<meta charset="utf-8" />'
# What the theme and Docutils leave to be said to a screen reader; see tests/browser.
REPAIRS = {
    r"<th\b[^>]*>(?:<p></p>)?</th>": "<td></td>",  # a column without a heading
    r'(search-button-field[^>]*?) aria-label="Search"': r"\1",  # its words say more
    r'(<div id="pst-primary-sidebar") ': r'\1 role="navigation" aria-label="The course" ',
}
_IN_FRAME = re.compile(r"^const INSIDE = `(.*?)`;", re.MULTILINE | re.DOTALL)


def finish(site: Path) -> None:
    """Repair each page, give it its policy, and write the list of what a browser may keep."""
    for path in pages_of(site):
        text = path.read_text(encoding="utf-8")
        for found, better in REPAIRS.items():
            text = re.sub(found, better, text)
        path.write_text(with_policy(text), encoding="utf-8")
    (site / OFFLINE).write_text(json.dumps(whole(site)), encoding="utf-8")


def with_policy(page: str) -> str:
    """A page that runs the scripts that stand in it as it was made, the site's own, and no other.

    A figure of a student's kernel has its script in a frame, which inherits the page's policy.
    """
    inline = [
        found["text"]
        for found in _SCRIPT.finditer(page)
        if not _NO_INLINE.search(found["attributes"])
    ]
    framed = _IN_FRAME.search(ASSETS.joinpath("frame.js").read_text(encoding="utf-8"))
    assert _HEAD in page and framed, "a page, or a figure's frame, has no place for its policy"
    figure = running("figure", read_beside("course_lib.figures.interactive", "player.js"))
    scripts = " ".join(dict.fromkeys(map(_digest, [*inline, figure, framed[1]])))
    policy = POLICY.format(scripts=scripts)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}" />'
    return page.replace(_HEAD, f"{_HEAD}\n    {meta}", 1)


def _digest(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{b64encode(digest).decode()}'"


def whole(site: Path) -> dict[str, object]:
    """What a browser keeps of the site, as its pages ask for it.

    Returns:
        "files", addresses relative to the site's root; "bytes" of them all, unpacked; "version",
        which changes with any of them.
    """
    files = sorted(_needed(site))
    contents = [(site / unquote(urlsplit(name).path)).read_bytes() for name in files]
    digest = hashlib.sha256(b"".join(hashlib.sha256(each).digest() for each in contents))
    return {
        "version": digest.hexdigest()[:10],
        "bytes": sum(map(len, contents)),
        "files": ["./", *files],
    }


def _needed(site: Path) -> set[str]:
    needed = {path.relative_to(site).as_posix() for path in pages_of(site)}
    [live] = site.glob("_static/live-*")
    needed |= {path.relative_to(site).as_posix() for path in live.iterdir()}
    for name in [*needed]:
        if name.endswith(".html"):
            page = read_page((site / name).read_text(encoding="utf-8"))
            needed |= set(_within(name, page.fetched))
    for name in [*needed]:
        path = urlsplit(name).path
        if path.endswith(".css"):
            style = (site / path).read_text(encoding="utf-8")
            needed |= set(_within(name, urls_of_style(style)))
    return needed | {"searchindex.js"}


def _within(name: str, targets: Iterable[str]) -> Iterator[str]:
    """Addresses as a file of the site has them, from its root; what lies elsewhere is left out."""
    for target in targets:
        if not OUTSIDE.match(target) and urlsplit(target).scheme == "":
            yield urljoin(name, target).split("#")[0]
