"""A folder of submissions as a list of entries: links are not followed, and nothing can hang."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from course_lib.grading.intake.layout import JUNK
from course_lib.grading.intake.reading import Unreadable
from course_lib.grading.intake.zips import MAX_ARCHIVE_BYTES, FileEntry, empty_folder

MAX_ENTRIES = 5_000  # looked at in one student's folder
MAX_DEPTH = 12


def entries_of(path: Path) -> Iterator[FileEntry]:
    """Everything in a folder; of each folder in it, a bounded number of entries."""
    with os.scandir(path) as items:
        names = sorted(items, key=lambda item: item.name)
    for item in names:
        if not _is_folder(item):
            yield _file(item, (item.name,))
            continue
        for count, entry in enumerate(_below(item.path, (item.name,), 1), 1):
            if count > MAX_ENTRIES:
                problem = f"The folder holds more than {MAX_ENTRIES:,} files."
                yield _unusable((item.name, "…"), problem)
                break
            yield entry


def entry_of(path: Path) -> FileEntry:
    """A single file, which the instructor has named."""
    return FileEntry((path.name,), path.stat().st_size, partial(_read_file, str(path.resolve())))


def _below(path: str, parts: tuple[str, ...], depth: int) -> Iterator[FileEntry]:
    """The files below a folder: its own first, all in the order of their names."""
    if depth > MAX_DEPTH:
        yield _unusable((*parts, "…"), f"Its folders are nested more than {MAX_DEPTH} deep.")
        return
    try:
        with os.scandir(path) as items:
            some = list(islice(items, MAX_ENTRIES + 1))
    except OSError as error:
        yield _unusable((*parts, "…"), f"The folder cannot be opened ({error.strerror}).")
        return
    if len(some) > MAX_ENTRIES:
        yield _unusable((*parts, "…"), f"The folder holds more than {MAX_ENTRIES:,} files.")
        return
    seen = [item for item in some if not (_is_hidden(item.name) and _is_folder(item))]
    if not seen:
        yield empty_folder(parts)
    for item in sorted(seen, key=lambda item: (_is_folder(item), item.name)):
        here = (*parts, item.name)
        if _is_folder(item):
            yield from _below(item.path, here, depth + 1)
        else:
            yield _file(item, here)


def _is_hidden(folder: str) -> bool:
    return folder.startswith(".") or folder.lower() in JUNK


def _is_folder(item: os.DirEntry[str]) -> bool:
    try:
        return item.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _file(item: os.DirEntry[str], parts: tuple[str, ...]) -> FileEntry:
    try:
        status = item.stat(follow_symlinks=False)
    except OSError as error:
        return _unusable(parts, f"The file cannot be opened ({error.strerror}).")
    if stat.S_ISLNK(status.st_mode):
        return _unusable(parts, "It is a link, and links are not followed: hand in the file.")
    if not stat.S_ISREG(status.st_mode):
        return _unusable(parts, "It is a pipe, a device or a socket, not a file.")
    return FileEntry(parts, status.st_size, partial(_read_file, item.path))


def _unusable(parts: tuple[str, ...], problem: str) -> FileEntry:
    return FileEntry(parts, 0, lambda: b"", problem)


def _read_file(path: str) -> bytes:
    """The bytes of a regular file; what became something else since it was listed is refused."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):  # where the system has it
        flags |= getattr(os, name, 0)
    try:
        with os.fdopen(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Unreadable("It is not a file.")
            return file.read(MAX_ARCHIVE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Unreadable(f"The file cannot be opened ({reason}).") from None
