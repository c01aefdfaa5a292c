"""One line of progress that is written over on a screen, and left out where there is none."""

from __future__ import annotations

import shutil
import sys


def show(text: str) -> None:
    """Write over the last line of progress."""
    if sys.stdout.isatty():
        width = shutil.get_terminal_size().columns - 1
        print(f"\r{text[:width]}\x1b[K", end="", flush=True)


def clear() -> None:
    """Leave an empty line for what comes next."""
    show("")
