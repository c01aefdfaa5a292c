"""One line of progress that is written over on a screen, and left out where there is none."""

from __future__ import annotations

import shutil
import sys


def show(text: str) -> None:
    """Write over the last line of progress; the next thing printed takes its place."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(text[:width].ljust(width), end="\r", flush=True)


def clear() -> None:
    """Leave an empty line for what comes next."""
    show("")
