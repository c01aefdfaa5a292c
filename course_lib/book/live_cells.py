"""Live cells of the book: an answer and its check as one cell, and the files that these cells need.

A page holds the given code, which anybody can read; course_lib/tab/assets/live.js puts the editor
in its place. The cell of the check is left out, as the live cell has a button for it.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from course_lib.book.playground import filled
from course_lib.building.notebook import BuildError, Cell, markdown, source, tags
from course_lib.building.placed import ANSWER, CHECK
from course_lib.curriculum import EXERCISES, TASKS, Exercise
from course_lib.tab import bundle, pyodide
from course_lib.web import read_beside

EXERCISE, CHECKED = "exercise", {CHECK, "check"}
_HEADING = re.compile(r"^#+ .*\n+")
_MARKER = re.compile(r"# (?:TASK|EXERCISE) ([A-Za-z_]\w*)\n")


def alive(cells: Sequence[Cell]) -> list[Cell]:
    """The cells of a page, with live ones where a student answers."""
    made = []
    for cell in cells:
        answered = _answered(cell)
        if answered is not None:
            made.append(markdown(holder(answered, source(cell)), id=cell["id"]))
        elif not CHECKED & set(tags(cell)):
            made.append(cell)
    return made


def first_asked(cells: Sequence[Cell]) -> str:
    """The words before a lesson's first task and its live cell, in Markdown; "" without a task."""
    words = ""
    for cell in cells:
        if (answered := _answered(cell)) is not None:
            return f"{words}\n\n{holder(answered, source(cell))}"
        if cell["cell_type"] == "markdown":
            words = _HEADING.sub("", source(cell))
    return ""


def _answered(cell: Cell) -> Exercise | None:
    """The task or exercise whose answer a cell holds, by its first line."""
    found = _MARKER.match(source(cell)) if cell["cell_type"] == "code" else None
    if found is None or not {EXERCISE, ANSWER} & set(tags(cell)):
        return None
    return {**TASKS, **EXERCISES}[found[1]]


def holder(exercise: Exercise, text: str) -> str:
    """The place of a live cell, in Markdown, with the given code to read.

    A task's first line, which names it for a notebook, is left out. An exercise keeps it: whoever
    hands the answer in as a notebook needs it there.
    """
    given = text if exercise.id in EXERCISES else _MARKER.sub("", text)
    return filled("live_cell.md", exercise=exercise, given=given.strip("\n"))


# --- The files: scripts, the course in one file, and where Pyodide comes from ---------------------
# All of it lies in one folder whose name changes with what is in it, so that a browser may keep it
# for ever. Only the service worker has to lie above the pages that it serves.


ASSETS = files("course_lib.tab").joinpath("assets")
SERVICE_WORKER = "service-worker.js"
_FILLED_IN = re.compile(r"^const SITE = \{.*?\};", re.MULTILINE)


def write_tab(static: Path, root: Path) -> str:
    """Write the folder of the live cells, and the service worker for the site's root.

    Returns:
        the folder's name.
    """
    making = static / "live"
    making.mkdir()
    for asset in ASSETS.iterdir():
        if asset.name not in (SERVICE_WORKER, "live.css"):
            (making / asset.name).write_bytes(asset.read_bytes())
    theme = read_beside("course_lib.web", "theme.css")
    style = theme + ASSETS.joinpath("live.css").read_text(encoding="utf-8")
    (making / "live.css").write_text(style, encoding="utf-8")
    packed = bundle.write(making / bundle.NAME)
    folder = f"live-{_fingerprint(making)}"
    making.rename(static / folder)
    root.mkdir(exist_ok=True)
    known = {
        "version": folder.removeprefix("live-"),
        "pyodide": pyodide.CDN,
        "numpy": None,
        "course": bundle.NAME,
        "bytes": {**pyodide.BYTES, "course": packed},
    }
    _say_where(known, static / folder, root)
    return folder


def numpy_wheel(release: Path) -> Path:
    """NumPy's wheel in an unpacked release of Pyodide, for a site that fetches nothing elsewhere.

    Raises:
        BuildError: if the folder is no release, another one, or lacks a file that a tab needs.
    """
    missing = [name for name in pyodide.CORE if not (release / name).is_file()]
    if missing:
        raise BuildError(f"{release} is not a release of Pyodide: it lacks {', '.join(missing)}")
    if f'"{pyodide.VERSION}"' not in (release / "pyodide.mjs").read_text(encoding="utf-8"):
        raise BuildError(
            f"{release} is not Pyodide {pyodide.VERSION}, for which the live cells are made"
        )
    lock = json.loads((release / "pyodide-lock.json").read_text(encoding="utf-8"))
    tag = "cp" + "".join(lock["info"]["python"].split(".")[:2])
    wheels = sorted(release.glob(f"numpy-*-{tag}-*_wasm32.whl"))
    if not wheels:
        raise BuildError(
            f"{release} lacks NumPy, a file numpy-…-{tag}-…_wasm32.whl: the full release of "
            f"Pyodide {pyodide.VERSION} contains it, but the core release does not"
        )
    return wheels[-1]


def hold_pyodide(site: Path, core: Path, numpy: Path) -> None:
    """Make a finished site self-contained: Pyodide and NumPy come from the site itself.

    Args:
        site: the site's root.
        core: a folder with Pyodide's own files, such as npm's `pyodide`.
        numpy: NumPy's wheel for it.
    """
    own = site / pyodide.OWN
    own.mkdir(parents=True, exist_ok=True)
    for name in pyodide.CORE:
        shutil.copy(core / name, own)
    shutil.copy(numpy, own)
    [folder] = (site / "_static").glob("live-*")
    known = json.loads((folder / "site.json").read_text(encoding="utf-8"))
    known |= {
        "version": f"{known['version']}-own",
        "pyodide": f"../../{pyodide.OWN}",
        "numpy": f"../../{pyodide.OWN}{numpy.name}",
    }
    _say_where(known, folder, site)


def _say_where(known: dict[str, Any], folder: Path, root: Path) -> None:
    """Tell the scripts and the service worker where everything is.

    Addresses are relative to the folder for the scripts, to the site's root for the worker.
    """
    text = json.dumps(known)
    (folder / "site.json").write_text(text, encoding="utf-8")
    (folder / "site.js").write_text(f"export default {text};\n", encoding="utf-8")
    told = {
        "version": known["version"],
        "pyodide": known["pyodide"].removeprefix("../../"),
        "pyodideVersion": pyodide.VERSION,
    }
    worker = ASSETS.joinpath(SERVICE_WORKER).read_text(encoding="utf-8")
    filled, count = _FILLED_IN.subn(lambda _: f"const SITE = {json.dumps(told)};", worker)
    assert count == 1, "the service worker has no place for what it is told"
    (root / SERVICE_WORKER).write_text(filled, encoding="utf-8")


def _fingerprint(folder: Path) -> str:
    """Ten digits that change with any of the files."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(f"{path.name} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:10]
