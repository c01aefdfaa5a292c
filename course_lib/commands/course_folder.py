"""`matmul-ladder COMMAND` of an installed package: lays the course out as a folder, and goes there.

The package holds what a checkout holds, but for the tests and the solutions. In an empty folder the
course is laid out in it, elsewhere in `matmul-ladder/` below; from there on it is a course's folder
as any other, with its own .venv, and `python3 course.py COMMAND` does the same. A newer package
brings the folder up to date and leaves alone what somebody has changed. Standard library only.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any

from course_lib.commands import front_door
from course_lib.commands.places import put
from course_lib.commands.progress import say

LIBRARY = Path(__file__).resolve().parents[1]
SHIPPED = LIBRARY / "shipped"  # setup.py puts it there; a checkout has none
NOTE = ".laid_out.json"  # a folder that holds it was laid out here
FOLDER = "matmul-ladder"
PROGRAM = "matmul-ladder"


def main(arguments: list[str]) -> int:
    """Become the command in the course's folder, which is laid out first where there is none.

    Returns:
        The command's exit status; 1 if there can be no folder, 2 if there is no such command.
    """
    status = front_door.answered(arguments, partial(version, PROGRAM), PROGRAM)
    if status is not None:
        return status
    folder = place(Path.cwd())
    try:
        _report(folder, *lay_out(folder))
    except OSError as problem:
        say(
            f"The course cannot be unpacked into {folder}: {problem.strerror}: {problem.filename}. "
            "Run this in a folder of your own."
        )
        return 1
    return front_door.become([sys.executable, str(folder / "course.py"), *arguments])


def place(here: Path) -> Path:
    """The course's folder for somebody who stands here: this one, if it is one or is empty."""
    if (here / "course.py").exists() and (here / "course_lib").is_dir():
        return here
    empty = not any(not path.name.startswith(".") for path in here.iterdir())
    return here if empty else here / FOLDER


def lay_out(folder: Path) -> tuple[int, list[str]]:
    """Write the course's files, where they are missing or older than this package.

    A checkout, which nobody laid out, stays as it is.

    Returns:
        How many files were written, and those that somebody has changed and that stay.

    Raises:
        OSError: if the folder cannot be written.
    """
    before = _read_note(folder)
    if before is None and (folder / "course.py").exists():
        return 0, []
    noted = before or {"package": "", "files": {}}
    if noted["package"] == (package := _fingerprint()):
        return 0, []
    folder.mkdir(parents=True, exist_ok=True)
    written, kept, files = 0, [], {}
    for name, original in _originals():
        text = original.read_bytes()
        copy = folder / name
        there = copy.read_bytes() if copy.is_file() else None
        files[name] = _hash(text)
        if there is not None and _hash(there) not in (files[name], noted["files"].get(name)):
            kept.append(name)
        elif there != text:
            put(copy, text)
            written += 1
    for name in noted["files"].keys() - files.keys():
        if (folder / name).is_file() and _hash((folder / name).read_bytes()) == noted["files"][
            name
        ]:
            (folder / name).unlink()
    put(folder / NOTE, json.dumps({"package": package, "files": files}, indent=1).encode())
    return written, kept


def _originals() -> Iterator[tuple[str, Path]]:
    """The files of a course's folder by their paths in it, and where the package has them."""
    for path in sorted(SHIPPED.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(SHIPPED).as_posix(), path
    for path in sorted(LIBRARY.rglob("*")):
        inside = path.relative_to(LIBRARY)
        if path.is_file() and inside.parts[0] != SHIPPED.name and "__pycache__" not in inside.parts:
            yield f"{LIBRARY.name}/{inside.as_posix()}", path


def _report(folder: Path, written: int, kept: list[str]) -> None:
    if written:
        say(f"The course is in {folder}: {written:,} files.")
    if kept:
        more = f" and {len(kept) - 3} more" if len(kept) > 3 else ""
        say(f"You have changed these files, so they stay as they are: {', '.join(kept[:3])}{more}.")


def _read_note(folder: Path) -> dict[str, Any] | None:
    """What was laid out; None if nothing was. A damaged note remembers nothing."""
    try:
        noted = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        return {"package": noted["package"], "files": dict(noted["files"])}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, LookupError):
        return {"package": "", "files": {}}


def _fingerprint() -> str:
    """Of this package: pip's list of its files, each with its hash."""
    try:
        return _hash((distribution(PROGRAM).read_text("RECORD") or "").encode())
    except PackageNotFoundError:
        return ""


def _hash(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
