"""Where things stand in a checkout of the course, and how a file takes its place there."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
HOME_SWITCH = "MATMUL_LADDER_HOME"  # where to write; course.py sets it where this cannot be written
HOME = Path(os.environ.get(HOME_SWITCH) or REPOSITORY).expanduser().absolute()
NOTEBOOKS = REPOSITORY / "notebooks"
FIRST_LESSON = NOTEBOOKS / "00_start_here.ipynb"


def put(path: Path, content: bytes) -> None:
    """Write a file in one step, so that nobody ever meets half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(content)
        os.replace(unfinished, path)
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()
