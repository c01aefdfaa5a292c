"""The book with live cells on a plain file server that can be taken away.

Pyodide's own files come from npm; NumPy's wheel for it lies beside the checkout, or where
MATMUL_LADDER_NUMPY_WHEEL says. With MATMUL_LADDER_CDN=1 the site fetches both from the CDN, as the
published one does. Where they are missing, only what needs no Python can be tried.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import tarfile
import threading
from pathlib import Path

from course_lib.book.tab_files import hold_pyodide
from course_lib.tab import pyodide

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "executed" / "book"
FROM_NPM = ROOT / "executed" / "npm"
BELOW = "somebody/ladder"  # as a project's site lies on GitHub Pages
BY_CDN = os.environ.get("MATMUL_LADDER_CDN") == "1"
_WHEEL = "numpy-*wasm32.whl"


class NotHere(Exception):
    """What a test needs and this machine lacks, as a sentence."""


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


def numpy_wheel() -> Path:
    """NumPy's wheel for Pyodide.

    Raises:
        NotHere: if there is none.
    """
    named = os.environ.get("MATMUL_LADDER_NUMPY_WHEEL")
    found = [Path(named)] if named else sorted((ROOT.parent / "shared" / "wasm").glob(_WHEEL))
    if not found:
        raise NotHere("NumPy's wheel for Pyodide is not here: MATMUL_LADDER_NUMPY_WHEEL names it")
    return found[0]


def from_npm(name: str, version: str) -> Path:
    """The folder of an npm package, fetched once.

    Raises:
        NotHere: if there is no npm, or no network.
    """
    folder = FROM_NPM / f"{name}-{version}"
    if not folder.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise NotHere(f"npm is not here, which would fetch {name} {version}")
        FROM_NPM.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(
            [npm, "pack", "--silent", f"{name}@{version}"], cwd=FROM_NPM, capture_output=True
        )
        if packed.returncode:
            raise NotHere(f"npm cannot fetch {name} {version} here")
        with tarfile.open(FROM_NPM / f"{name}-{version}.tgz") as archive:
            archive.extractall(folder, filter="data")
    return folder / "package"
