"""Looks at what the grader wrote as its readers do: a browser, a spreadsheet, a reader of XML."""

import csv
import re
import zipfile
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

# Tags that could run or fetch something, or change how the rest of the page looks.
_DANGEROUS = frozenset("script img iframe object embed link base form input video audio".split())
_REFERS = ("href", "src", "action", "data", "srcset", "poster", "xlink:href")
_LOCAL = re.compile(
    r"#[\w-]+|(?:\.\./)?[\w.-]+\.html(?:#[\w-]+)?|feedback/[\w.-]+\.html(?:#[\w-]+)?"
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_ADDRESS = re.compile(r"object at 0x[0-9a-f]+")
_INSIDE = re.compile(r"\w[\w-]*/\w[\w.-]*")
_CONTROL = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


def objections_to(out: Path) -> list[str]:
    """What a file in the grader's folder would do to whoever opens it."""
    found = [each for path in out.rglob("*.zip") for each in _archive(path)]
    for path in sorted(out.rglob("*.*")):
        name = path.relative_to(out)
        if path.suffix not in (".html", ".csv", ".xml"):
            continue
        text = path.read_bytes().decode("utf-8")  # raises for half a character
        if _CONTROL.search(text):
            found.append(f"{name} holds control characters: {_around(text)!r}")
        if _ADDRESS.search(text):
            found.append(f"{name} holds an address in memory, which another run has elsewhere")
        check = {".html": _page, ".csv": _table, ".xml": _tests}[path.suffix]
        found += [f"{name}: {each}" for each in check(text)]
    return found


def _archive(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    return [f"{path.name} holds {name!r}" for name in names if not _INSIDE.fullmatch(name)]


def _around(text: str) -> str:
    at = _CONTROL.search(text)
    return text[max(0, at.start() - 40) : at.end() + 40] if at else ""


class _Page(HTMLParser):
    """Collects what is dangerous on a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag in _DANGEROUS:
            self.found.append(f"<{tag}> {attrs}")
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.found.append(f"<{tag} {name}={value!r}>")
            if name in _REFERS and not _LOCAL.fullmatch(value or ""):
                self.found.append(f"<{tag} {name}={value!r}>")


def _page(text: str) -> list[str]:
    page = _Page()
    page.feed(text)
    page.close()
    once = [tag for tag in ("html", "head", "body", "style", "title") if page.tags[tag] != 1]
    return page.found + [f"{page.tags[tag]} <{tag}>" for tag in once]


def _table(text: str) -> list[str]:
    rows = list(csv.reader(text.lstrip("\ufeff").splitlines(keepends=True)))
    widths = {len(row) for row in rows}
    found = [] if len(widths) == 1 else [f"rows of {sorted(widths)} cells"]
    for row in rows:
        cells = [cell for cell in row if cell.startswith(_FORMULA)]
        found += [f"a formula: {cell[:60]!r}" for cell in cells if not _is_number(cell)]
    return found


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", cell) is not None


def _tests(text: str) -> list[str]:
    root = ElementTree.fromstring(text)  # raises for what is no XML
    return [] if root.tag == "testsuites" else [f"the root is {root.tag}"]
