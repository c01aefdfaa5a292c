"""The student's own copies of the notebooks, in my/: made once, as never run, never written over.

The lessons themselves stay as they were published, so that an update of the course meets no change
of anybody's. A note beside the copies says what each was copied from; it is how an updated lesson
is told from one that the student has worked in.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from course_lib.commands.places import HOME, REPOSITORY
from course_lib.curriculum import PATHFINDER
from course_lib.unrun_cells import kernels_of

VENVS = (HOME / ".venv", REPOSITORY / ".venv")
FOLDERS = ("notebooks", "exercises")
NOTE = ".copied_from.json"


def make(root: Path = REPOSITORY, home: Path | None = None) -> list[str]:
    """Copy every notebook of which there is no copy yet, and name the lessons that have changed.

    Args:
        root: the course's folder.
        home: where to put my/; by default there.

    Returns:
        The paths of the copies whose lesson was updated since, such as "my/notebooks/03_….ipynb".

    Raises:
        OSError: if nothing can be written there.
    """
    mine = (home or root) / "my"
    mine.mkdir(parents=True, exist_ok=True)
    noted = _read_note(mine / NOTE)
    before = dict(noted)
    updated = []
    for name, original in _originals(root):
        text = original.read_bytes()
        print_of_it = _fingerprint(text)
        if _copied(_never_run(text), mine / name):
            noted[name] = print_of_it
        elif noted.setdefault(name, print_of_it) != print_of_it:
            updated.append(f"my/{name}")
    _lead_to_the_library(root, mine)
    if runs_in_venv():
        kernels_of(Path(sys.prefix))
    if noted != before:
        _write_note(mine / NOTE, noted)
    return updated


def runs_in_venv() -> bool:
    """Is this the course's own .venv, which nobody else uses?"""
    return Path(sys.prefix).resolve() in [each.resolve() for each in VENVS]


def told_of(updated: list[str]) -> str:
    """One line on lessons that were updated, and what to do; "" if there are none."""
    if not updated:
        return ""
    names = ", ".join(updated[:3]) + (f" and {len(updated) - 3} more" if len(updated) > 3 else "")
    return (
        f"Updated since you began: {names}. Your copies stay as they are; rename one, and the next "
        "`python3 course.py lab` puts the new lesson in its place."
    )


def _originals(root: Path) -> Iterator[tuple[str, Path]]:
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*.ipynb")):
            yield f"{folder}/{path.name}", path


def _lead_to_the_library(root: Path, mine: Path) -> None:
    """What lets a copy find the library is nobody's work, and is kept as new as the course."""
    for folder in FOLDERS:
        original, copy = root / folder / PATHFINDER, mine / folder / PATHFINDER
        if original.exists() and copy.parent.exists():
            copy.write_bytes(original.read_bytes())


def _never_run(text: bytes) -> bytes:
    """A notebook without counts and outputs: a fresh copy does not look as if it had been run."""
    with contextlib.suppress(ValueError, TypeError, KeyError):
        notebook = json.loads(text)
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                cell |= {"execution_count": None, "outputs": []}
        # As Jupyter itself writes it.
        return (json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()
    return text


def _copied(text: bytes, copy: Path) -> bool:
    """Make a copy, unless something of that name is there."""
    if os.path.lexists(copy):
        return False
    copy.parent.mkdir(exist_ok=True)
    unfinished = copy.with_name(f".{copy.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(text)
        os.replace(unfinished, copy)
    finally:
        unfinished.unlink(missing_ok=True)
    return True


def _fingerprint(text: bytes) -> str:
    """What an author changes in a notebook: its cells, and not what they have printed."""
    with contextlib.suppress(ValueError, TypeError, KeyError):
        cells = json.loads(text)["cells"]
        authored = [(each["cell_type"], "".join(each["source"])) for each in cells]
        text = json.dumps(authored).encode()
    return hashlib.sha256(text).hexdigest()[:16]


def _read_note(note: Path) -> dict[str, str]:
    """What was noted; nothing if the note is lost or damaged, which costs a reminder only."""
    try:
        found = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    known = found.items() if isinstance(found, dict) else ()
    return {name: each for name, each in known if isinstance(each, str)}


def _write_note(note: Path, noted: dict[str, str]) -> None:
    unfinished = note.with_name(f"{note.name}.{os.getpid()}")
    unfinished.write_text(json.dumps(noted, indent=1), encoding="utf-8")
    os.replace(unfinished, note)
