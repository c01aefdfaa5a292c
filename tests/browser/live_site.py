"""The book with live cells on a plain file server that can be taken away.

Its Python is what tests/pyodide_files.py finds; where that is missing, only what needs no Python
can be tried. With MATMUL_LADDER_CDN=1 the site fetches it from the CDN, as the published one does.
"""

import functools
import http.server
import os
import shutil
import threading
from pathlib import Path

from course_lib.book.live_cells import hold_pyodide
from course_lib.tab import pyodide
from tests.pyodide_files import NotHere, from_npm, numpy_wheel

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "executed" / "book"
BELOW = "somebody/ladder"  # as a project's site lies on GitHub Pages
# For a browser that is asked to spare downloads: no Python is started before somebody runs a cell.
SAVES_DATA = "Object.defineProperty(navigator, 'connection', { value: { saveData: true } })"
BY_CDN = os.environ.get("MATMUL_LADDER_CDN") == "1"


class Silent(http.server.SimpleHTTPRequestHandler):
    """A file server without a word for each file."""

    def log_message(self, format: str, *args: object) -> None:
        pass


class Site:
    """A site under a path of a server that can go away and come back at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / BELOW
        self.port = 0
        self.lacks = ""  # why no Python starts on its pages, as a sentence
        self.come()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/{BELOW}"

    @property
    def allowed(self) -> tuple[str, ...]:
        """Where addresses that a page may ask for begin."""
        return (self.address, "data:", "blob:", "about:", *[pyodide.CDN] * BY_CDN)

    def come(self) -> None:
        handler = functools.partial(Silent, directory=self.folder)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def go(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def site_with_pyodide(folder: Path) -> Site:
    """A copy of the built book that holds Pyodide and NumPy itself."""
    assert (BOOK / "index.html").exists(), "build it: python3 course.py book --out executed/book"
    shutil.copytree(BOOK, folder / BELOW)
    lacks = ""
    try:
        if not BY_CDN:
            wheel = numpy_wheel()
            hold_pyodide(folder / BELOW, from_npm("pyodide", pyodide.VERSION), wheel)
    except NotHere as missing:
        lacks = str(missing)
    site = Site(folder)
    site.lacks = lacks
    return site
