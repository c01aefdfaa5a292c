"""One line of progress that is written over on a screen: of a command, and in place of pip's many.

Standard library only: see front_door.py.
"""

from __future__ import annotations

import collections
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

WIDTH = 20  # of a bar


def show(text: str) -> None:
    """Write over the last line of progress, if there is a screen; what is printed next takes its
    place."""
    if sys.stdout.isatty():
        _write_over(text, sys.stdout)


def clear() -> None:
    """Leave an empty line for what comes next."""
    show("")


def _write_over(line: str, screen: TextIO) -> None:
    import shutil  # the front door has to be quick

    width = shutil.get_terminal_size().columns - 1
    print(line[:width].ljust(width), end="\r", file=screen, flush=True)


def bar(share: float) -> str:
    """How far something is, from 0 to 1."""
    done = round(WIDTH * share)
    return f"[{'#' * done}{'.' * (WIDTH - done)}]"


def duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


# --- In place of pip's many lines -----------------------------------------------------------------


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class PipProgress:
    """Turns pip's output into one line: how far, what now, and how long pip has been silent.

    Args:
        lock: the requirements that pip was given.
        packages: the folder that it installs into.
    """

    SILENCE = 5  # seconds without a line of pip's, after which the line says how many

    def __init__(self, lock: Path, packages: Path) -> None:
        text = lock.read_text(encoding="utf-8")
        self.group = lock.stem
        self.packages = packages
        self.total = len(re.findall(r"^[A-Za-z0-9]", text, re.MULTILINE))
        self.seen = 0
        self.now = ""
        self.size = ""
        self.to_install = 0
        self.before: set[str] = set()
        self.heard = time.monotonic()

    @property
    def installing(self) -> bool:
        return self.to_install > 0

    def describe(self, line: str) -> str:
        """What to show after this line; with "", while pip is silent."""
        if line:
            self.heard = time.monotonic()
            self.read(line)
        if self.installing:
            done = min(len(self.there() - self.before), self.to_install)
            return f"Installing packages ({self.group}): {done} of {self.to_install}"
        if not self.seen and not self.now:  # pip first drops what is not for this system
            return f"Fetching packages ({self.group}): pip reads the list"
        silent = time.monotonic() - self.heard
        still = f", still working after {silent:.0f} s" if silent >= self.SILENCE else ""
        now = f"{self.now}{self.size}{still}"
        return f"Fetching packages ({self.group}): {self.seen} of {self.total} {now}"

    def read(self, line: str) -> None:
        line = line.strip()
        words = line.split()
        if line.startswith("Ignoring "):  # not for this system
            self.total -= 1
        elif line.startswith(("Collecting ", "Processing ", "Requirement already satisfied: ")):
            self.seen = min(self.seen + 1, self.total)
            what = line.split(": ")[-1] if line.startswith("Requirement") else words[1]
            if line.startswith("Processing "):  # a file that is here already
                what = re.split(r"[\\/]", what)[-1].split("-")[0]
            self.now, self.size = re.split("[=<>~! (]", what)[0], ""
        elif line.startswith(("Downloading ", "Using cached ")) and words[-1].endswith(")"):
            self.size = " " + " ".join(words[-2:])
        elif line.startswith("Installing collected packages: "):
            self.to_install = line.count(",") + 1
            self.before = self.there()
        elif "Retrying" in line:
            self.now, self.size = "no answer from the package index, trying again", ""

    def done(self) -> str:
        """What has been done, when pip has ended well."""
        if not self.installing:
            return f"Found all {self.total} packages ({self.group}) installed"
        return f"Installed {self.to_install} package{'s'[: self.to_install != 1]} ({self.group})"

    def there(self) -> set[str]:
        """The packages whose list of files, which pip writes last, is written."""
        return {str(path) for path in self.packages.glob("*.dist-info/RECORD")}


def run_quietly(command: list[str], describe: Callable[[str], str]) -> tuple[int, list[str]]:
    """Run a command with a line of progress; return its exit status and its last lines.

    describe is called with each line that the command prints, and now and then with "" while it
    prints none; it returns what to show.
    """
    import queue
    import subprocess
    import threading

    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PIP_USER": "0", "PIP_QUIET": "0"}
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
        close_fds=False,
    )
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in process.stdout or ():
            lines.put(line.rstrip())
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    output: collections.deque[str] = collections.deque(maxlen=400)
    ticker = Ticker(describe(""))
    try:
        while True:
            try:
                line = lines.get(timeout=0.25)
            except queue.Empty:
                ticker.text = describe("")
                ticker.show()
                continue
            if line is None:
                break
            if line and not line.startswith("WARNING: Location"):
                output.append(line)
            ticker.text = describe(line)
            ticker.show()
        return process.wait(), list(output)
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        ticker.clear()


class Ticker:
    """One line that is written over on a screen; in a log, a line every ten seconds."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.started = time.monotonic()
        self.screen = sys.stderr.isatty()
        self.next = self.started if self.screen else self.started + 2

    def show(self) -> None:
        now = time.monotonic()
        if now < self.next:
            return
        self.next = now + (0.2 if self.screen else 10)
        line = f"{self.text} ({now - self.started:.0f} s)"
        if self.screen:
            _write_over(line, sys.stderr)
        else:
            say(line)

    def clear(self) -> None:
        if self.screen:
            _write_over("", sys.stderr)
