"""Files that only their owner reads: sealed by a checksum, and sets replaced all at once or not.

A sealed file holds a value as JSON, and its checksum. It is on the disk before it takes its place,
so a power cut leaves the old one or the new one; a byte that was changed since is noticed.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from course_lib.grading.records import CannotGrade

PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
_DIGITS = 32


class Damaged(ValueError):
    """A file that is not as it was written."""


def checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def sealed(value: object) -> bytes:
    """A value as a sealed file holds it; equal values are equal bytes."""
    text = json.dumps(value)
    return f'{{"checksum": "{checksum(text.encode("ascii"))}", "holds": {text}}}\n'.encode("ascii")


def unsealed(data: bytes) -> Any:
    """The value in a sealed file. Raises Damaged if a single byte was changed."""
    try:
        value = json.loads(data.decode("ascii"))["holds"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Damaged from None
    if sealed(value) != data:
        raise Damaged
    return value


def write_sealed(path: Path, value: object) -> None:
    """Replace a sealed file in one step."""
    fresh = path.with_suffix(".part")
    write_whole(fresh, sealed(value))
    os.replace(fresh, path)
    sync_folder(path.parent)


def write_whole(path: Path, data: bytes, mode: int = PRIVATE) -> None:
    """Write a file that is on the disk when this returns."""
    with path.open("wb") as file:
        file.write(data)
        settle(file, mode)


def settle(file: IO[bytes], mode: int = PRIVATE) -> None:
    """Make sure that an open file is on the disk, with the right readers whatever the umask is."""
    file.flush()
    os.fsync(file.fileno())
    os.chmod(file.name, mode)


def private_folder(path: Path) -> None:
    """Make a folder that only its owner looks into."""
    path.mkdir(parents=True, exist_ok=True)
    os.chmod(path, PRIVATE_FOLDER)


def sync_folder(path: Path) -> None:
    """Make sure that a folder's list is on the disk; Windows has no such thing."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# --- Sets of files, replaced as a whole or not at all, whatever ends the run in between -----------
# New files are written into a folder of their own. Then what they will replace is copied, and only
# then do they take their places, one rename after another. If one of these fails, the copies go
# back; if the run is killed, the next one begins by putting them back. A file that somebody has
# changed by hand is kept beside the set before it is replaced.


CHANGED_BY_HAND = "changed_by_hand"
PRIVATE_PLACES = ("feedback", CHANGED_BY_HAND)
NEW, COPYING, BEFORE, DONE = "new", "copying", "before", "done"
LISTED = "list.json"
Known = Mapping[str, Sequence[str]]  # name -> the checksums that runs have written there


class FileSet:
    """The files of a run in `out`, with room in `work` for replacing them."""

    def __init__(self, out: Path, work: Path) -> None:
        """See that what is there is one set: that of the last run which came to its end.

        Raises CannotGrade if a run was killed and what it was about to replace cannot be read.
        """
        self._out, self._work = out, work
        self.new = work / NEW
        self.undo()

    def begin(self) -> Path:
        """An empty folder for the new files."""
        shutil.rmtree(self.new, ignore_errors=True)
        private_folder(self.new)
        return self.new

    def checksums(self) -> dict[str, list[str]]:
        """Those of the new files by name, without what the grader keeps for itself."""
        names = [name for name in self._fresh() if not self._is_ours_alone(name)]
        return {name: [checksum((self.new / name).read_bytes())] for name in names}

    def replace(self, known: Known, gone: Iterable[str], said: Callable[[list[str]], None]) -> None:
        """Put the new files in their places, and remove those that are `gone`.

        What is not as earlier runs have written it, `known`, was changed by hand; when all is in
        its place and may still be taken back, `said` is told the names of these files and where
        they are kept.
        """
        changing = [name for name in self._fresh() if not self._stays(name)]
        changing += [name for name in gone if (self._out / name).is_file()]
        kept = self._keep_changed(changing, known)
        changing += kept.values()
        if changing:
            self._copy(changing)
            for name in changing:
                self._put(name)
            self._settle(changing)
        said([f"{name} (now {copy})" for name, copy in kept.items()])
        if changing:
            os.replace(self._work / BEFORE, self._work / DONE)
        self._clear()

    def undo(self) -> None:
        """Put back what an unfinished run has replaced; see the class."""
        before = self._work / BEFORE
        if before.is_dir():
            try:
                listed = unsealed((before / LISTED).read_bytes())
            except (OSError, Damaged):
                raise CannotGrade(
                    f"A run was stopped while it was replacing files in {self._out}, and {before}, "
                    "which contains the old files, is damaged; choose another --out."
                ) from None
            for name, checksums in listed.items():
                self._put_back(name, checksums)
            self._settle(listed)
            os.replace(before, self._work / DONE)
        self._clear()

    # --- steps ------------------------------------------------------------------------------------

    def _fresh(self) -> list[str]:
        paths = (path for path in self.new.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.new).as_posix() for path in paths)

    def _is_ours_alone(self, name: str) -> bool:
        return name.startswith(f"{self._work.name}/")

    def _stays(self, name: str) -> bool:
        return _bytes_of(self._out / name) == (self.new / name).read_bytes()

    def _keep_changed(self, changing: Sequence[str], known: Known) -> dict[str, str]:
        """Add copies of what was changed by hand to the new files; where they will be, by name."""
        kept: dict[str, str] = {}
        for name in changing:
            data = _bytes_of(self._out / name)
            if data is None or self._is_ours_alone(name) or checksum(data) in known.get(name, ()):
                continue
            kept[name] = copy = self._unused(name, kept.values())
            (self.new / copy).parent.mkdir(exist_ok=True)
            write_whole(self.new / copy, data)
        return kept

    def _unused(self, name: str, taken: Iterable[str]) -> str:
        path, number = Path(name), 1
        while True:
            copy = f"{CHANGED_BY_HAND}/{path.stem}-{number}{path.suffix}"
            if copy not in taken and not (self._out / copy).exists():
                return copy
            number += 1

    def _copy(self, changing: Sequence[str]) -> None:
        """Copy all that is about to be replaced; from here on it can be put back."""
        copies = self._work / COPYING
        private_folder(copies)
        listed: dict[str, list[str | None]] = {}
        for number, name in enumerate(changing):
            old, new = _bytes_of(self._out / name), _bytes_of(self.new / name)
            listed[name] = [
                str(number),
                None if old is None else checksum(old),
                None if new is None else checksum(new),
            ]
            if old is not None:
                mode = (self._out / name).stat().st_mode & 0o777
                write_whole(copies / str(number), old, mode)
        write_whole(copies / LISTED, sealed(listed))
        sync_folder(copies)
        os.replace(copies, self._work / BEFORE)
        sync_folder(self._work)

    def _put(self, name: str) -> None:
        """Put a new file in its place; where there is none, remove the old one."""
        target = self._out / name
        if not (self.new / name).exists():
            target.unlink()
            return
        if target.parent.name in PRIVATE_PLACES:
            private_folder(target.parent)
        os.replace(self.new / name, target)

    def _put_back(self, name: str, listed: Sequence[str | None]) -> None:
        number, old, new = listed
        target = self._out / name
        data = _bytes_of(target)
        if data is not None and checksum(data) not in (
            old,
            new,
        ):  # changed since the run was killed
            copy = self._out / self._unused(name, ())
            private_folder(copy.parent)
            write_whole(copy, data)
        copied = self._work / BEFORE / str(number)
        if copied.exists():
            target.parent.mkdir(exist_ok=True)
            os.replace(copied, target)
        elif old is None and data is not None:
            target.unlink()

    def _settle(self, names: Iterable[str]) -> None:
        for folder in {(self._out / name).parent for name in names}:
            if folder.is_dir():
                sync_folder(folder)

    def _clear(self) -> None:
        for name in (NEW, COPYING, DONE):
            shutil.rmtree(self._work / name, ignore_errors=True)


def _bytes_of(path: Path) -> bytes | None:
    """What is in a file, and None if there is none."""
    return path.read_bytes() if path.is_file() else None
