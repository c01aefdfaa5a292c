"""What Sphinx has made: its links read as a browser would, its pages finished, and what is offline.

A page that lacks something gets it here, and all that a browser keeps stands in one list.
"""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from course_lib.book.live_cells import ASSETS
from course_lib.web import read_beside, running

# --- Links that lead nowhere ----------------------------------------------------------------------
# A link inside the site has to lead to a file of it, and to an anchor that this file has. Whatever
# a page fetches by itself (scripts, styles, pictures, fonts) has to lie in the site: a page that
# asks another server for something is no page that works from a file server alone. Links that a
# reader may click and that lead out of the site are listed for whoever wants to try them; nothing
# is fetched here.


# Which attribute of which element makes a browser fetch something without being asked.
FETCHED = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
FETCHING_RELATIONS = {"stylesheet", "icon", "preload", "modulepreload", "manifest", "preconnect"}
OUTSIDE = re.compile(r"^(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_STYLE_URL = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


@dataclass
class Page:
    """What one HTML file refers to."""

    links: list[str] = field(default_factory=list)  # where a reader can click to
    fetched: list[str] = field(default_factory=list)  # what the browser fetches by itself
    # the names within the page that a link can lead to
    anchors: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    """Collects the references of one page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.page.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.page.links.append(given["href"])
        if tag == "link" and FETCHING_RELATIONS & set(given.get("rel", "").split()):
            self.page.fetched.append(given.get("href", ""))
        for name in FETCHED.get(tag, ()):
            if given.get(name):
                parts = given[name].split(",") if name == "srcset" else [given[name]]
                self.page.fetched += [part.split()[0] for part in parts if part.split()]
        self.page.fetched += urls_of_style(given.get("style", ""))
        self.in_style = tag == "style"

    def handle_data(self, data: str) -> None:
        if self.in_style:
            self.page.fetched += urls_of_style(data)

    def handle_endtag(self, tag: str) -> None:
        self.in_style = False


def read_page(text: str) -> Page:
    """The references of one page of HTML."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.page


def problems(site: Path) -> list[str]:
    """A sentence for every link that leads nowhere and everything fetched from elsewhere."""
    pages = {path: read_page(path.read_text(encoding="utf-8")) for path in pages_of(site)}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        for target in page.fetched:
            if OUTSIDE.match(target):
                found.append(f"{name} fetches {target}, which lies outside the site.")
            elif fault := _fault(site, path, target, pages):
                found.append(f"{name} fetches {target}: {fault}.")
        for target in page.links:
            if not _leads_out(target) and (fault := _fault(site, path, target, pages)):
                found.append(f"{name} links to {target}: {fault}.")
    for path in sorted(site.rglob("*.css")):
        name = path.relative_to(site).as_posix()
        for target in urls_of_style(path.read_text(encoding="utf-8")):
            if OUTSIDE.match(target):
                found.append(f"{name} fetches {target}, which lies outside the site.")
    return list(dict.fromkeys(found))


def links_out(site: Path) -> set[str]:
    """The addresses outside the site that a reader can click."""
    return {
        target
        for path in pages_of(site)
        for target in read_page(path.read_text(encoding="utf-8")).links
        if _leads_out(target)
    }


def pages_of(site: Path) -> list[Path]:
    """The pages of a site; what lies below _static are parts of the theme, templates among them."""
    return sorted(set(site.rglob("*.html")) - set((site / "_static").rglob("*.html")))


def _leads_out(target: str) -> bool:
    return bool(OUTSIDE.match(target)) or target.startswith(("mailto:", "javascript:"))


def _fault(site: Path, page: Path, target: str, pages: dict[Path, Page]) -> str | None:
    """What is wrong with a reference within the site; None if it leads somewhere."""
    parts = urlsplit(target)
    if parts.scheme in ("data", "blob", "about"):
        return None
    file = page
    if parts.path:
        file = (page.parent / unquote(parts.path)).resolve()
        if not file.is_relative_to(site.resolve()):
            return "that lies outside the site"
        file = file / "index.html" if file.is_dir() else file
        if not file.is_file():
            return "there is no such file"
    anchor = unquote(parts.fragment)
    known = {path.resolve(): known_page for path, known_page in pages.items()}.get(file.resolve())
    if anchor and known is not None and anchor not in known.anchors:
        return "there is no such place on that page"
    return None


def urls_of_style(style: str) -> list[str]:
    """What a piece of CSS fetches; data within the style itself is not fetched."""
    found = [first or second for first, second in _STYLE_URL.findall(style)]
    return [url.strip() for url in found if not url.strip().startswith(("data:", "#"))]


# --- What the pages lack, and the list of all that works offline ----------------------------------


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
    digest = hashlib.sha256(b"".join(hashlib.sha256(content).digest() for content in contents))
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
