"""Keeps what somebody wrote into the files of an earlier run, before a new run replaces them.

A log holds a checksum of everything that a run is about to write. A file that is none of these was
changed: points that were entered, a comment on a page.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

FOLDER = "changed_by_hand"
_DIGITS = 32


class Written:
    """What the runs into a folder have written."""

    def __init__(self, out: Path, log: Path) -> None:
        self._out, self._log = out, log

    def add(self, path: Path, data: bytes) -> None:
        """Note what is about to be written; a killed run has noted more than it wrote."""
        with self._log.open("a", encoding="utf-8") as file:
            file.write(f"{_checksum(data)} {path.relative_to(self._out).as_posix()}\n")

    def keep_changed(self) -> list[str]:
        """Copy the files that are no longer as a run wrote them; their names, and their copies'."""
        kept = []
        for name, checksums in self._noted().items():
            path = self._out / name
            if not path.is_file() or path.is_symlink():
                continue
            if _checksum(path.read_bytes()) not in checksums:
                copy = _unused(self._out / FOLDER, path)
                copy.parent.mkdir(exist_ok=True)
                shutil.copy2(path, copy)
                kept.append(f"{name} (now {copy.relative_to(self._out).as_posix()})")
        return kept

    def _noted(self) -> dict[str, set[str]]:
        noted: dict[str, set[str]] = {}
        lines = self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []
        for line in lines:
            checksum, _, name = line.partition(" ")
            noted.setdefault(name, set()).add(checksum)
        return noted


def _unused(folder: Path, path: Path) -> Path:
    number = 1
    while (copy := folder / f"{path.stem}-{number}{path.suffix}").exists():
        number += 1
    return copy


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]
