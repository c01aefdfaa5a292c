"""One line of progress that is written over on a screen, and left out where there is none."""

from __future__ import annotations

import shutil
import sys

WIDTH = 20  # of a bar


def show(text: str) -> None:
    """Write over the last line of progress; the next thing printed takes its place."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(text[:width].ljust(width), end="\r", flush=True)


def clear() -> None:
    """Leave an empty line for what comes next."""
    show("")


def bar(share: float) -> str:
    """How far something is, from 0 to 1."""
    done = round(WIDTH * share)
    return f"[{'#' * done}{'.' * (WIDTH - done)}]"


def duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
