"""A folder or a ZIP archive as a list of entries: nothing is unpacked, nothing hangs.

Each entry is read only when asked for. Archives are hostile until proven otherwise: whatever they
declare is bounded before it is used, and their names are only ever text. Links are not followed.
"""

import io
import os
import re
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from typing import BinaryIO

from course_lib.grading.intake.reading import MAX_FILE_BYTES, Unreadable

MAX_ARCHIVE_BYTES = 50_000_000  # of an archive that a student hands in
MAX_STUDENT_ENTRIES = 5_000
MOST_LISTED = 100_000  # of the archive that the learning platform makes
_BYTES_PER_ENTRY = 320  # of the list of entries, names included
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_CHUNK = 1 << 16
_LISTED = b"PK\x01\x02"
_LIST_ENTRY = 46  # bytes, before the name
_PAIR, _SIZES, _OFFSET = struct.Struct("<HH"), struct.Struct("<IIHHH"), struct.Struct("<I")
_NEWEST = 63  # version 6.3 of the format
_IS_UTF8 = 0x800
_DRIVE = re.compile(r"[A-Za-z]:")


@dataclass(frozen=True)
class FileEntry:
    """Something in a folder or an archive that may be a notebook.

    An empty folder is an entry, too, as whoever it belongs to gets a row: see `empty_folder`.
    """

    parts: tuple[str, ...]  # its path, folder by folder; text that is never used as a path
    size: int  # in bytes, as declared
    read: Callable[[], bytes]  # gives its bytes, or raises Unreadable
    problem: str | None = None  # one sentence if it cannot be read at all
    is_trick: bool = False  # its path is none that an honest program writes

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def is_empty_folder(self) -> bool:
        return self.name == ""


def empty_folder(parts: tuple[str, ...], problem: str = "The folder is empty.") -> FileEntry:
    """An entry without a name, which represents an empty folder."""
    return FileEntry((*parts, ""), 0, lambda: b"", problem)


def entries_of_archive(
    file: BinaryIO, max_entries: int, max_bytes: int = MAX_FILE_BYTES
) -> list[FileEntry]:
    """The files in an archive in the order of its list, and then its empty folders.

    Raises Unreadable if it is no archive that can be read, or its list is too long.
    """
    bounded = _Bounded(file, max_entries * _BYTES_PER_ENTRY)
    try:
        archive = zipfile.ZipFile(bounded)
        bounded.is_open = True
        infos = archive.infolist()
    except Unreadable:
        raise
    except Exception:  # zipfile raises a dozen kinds for what is not in order
        raise Unreadable("The ZIP archive is damaged or incomplete: pack it again.") from None
    if len(infos) > max_entries:
        raise Unreadable(_too_many(max_entries))
    shared = _overlapping(infos)
    files = [
        _entry(archive, info, shared, max_bytes) for info in infos if not _lists_a_folder(info)
    ]
    return files + _empty_folders(files, [_name(info) for info in infos if _lists_a_folder(info)])


def _empty_folders(files: list[FileEntry], folders: list[str]) -> list[FileEntry]:
    """The empty folders that an archive lists; tricks are left out."""
    named = {parts for parts, problem in map(parts_of, folders) if problem is None}
    named -= {entry.parts for entry in files}
    # What lies in a folder comes right after it; so hostile depths cost nothing.
    ordered = sorted({*named, *(entry.parts for entry in files)})
    return [
        empty_folder(path)
        for path, following in pairwise([*ordered, ()])
        if path in named and following[: len(path)] != path
    ]


def parts_of(name: str) -> tuple[tuple[str, ...], str | None]:
    """The folders and the name in an entry's path, and one sentence if the path is a trick.

    Some programs write backslashes; a leading "./" is harmless. A trick is one part, whatever it
    says: it cannot choose in whose folder it lies.
    """
    pieces = [array for array in re.split(r"[/\\]", name) if array not in ("", ".")]
    problem = None
    if "\0" in name:
        problem = "Its name contains a null character."
    elif ".." in pieces:
        problem = "Its path leads out of the archive (`..`)."
    elif name.startswith(("/", "\\")) or _DRIVE.match(name):
        problem = "Its path is absolute, as if it could choose its place on the disk."
    elif len(name) > 1000:
        problem = f"Its path has {len(name):,} characters."
    elif not pieces:
        problem = "It has no name."
    return (tuple(pieces), None) if problem is None else ((name,), problem)


class _Bounded(io.RawIOBase):
    """A file that refuses to hand out much at a time, so that no declared size can fill memory.

    Until it `is_open`, it also mends the list of entries, so that one of them cannot make the
    others unreadable.
    """

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file, self._most = file, max(most, 1 << 17)
        self.is_open = False
        self._size = file.seek(0, io.SEEK_END)
        file.seek(0)

    def read(self, size: int | None = -1) -> bytes:
        left = max(self._size - self._file.tell(), 0)
        wanted = left if size is None or size < 0 else min(size, left)
        if wanted > self._most:
            raise Unreadable(_too_many(self._most // _BYTES_PER_ENTRY))
        data = self._file.read(wanted)
        is_list = not self.is_open and data.startswith(_LISTED)
        return _mended(data) if is_list else data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


def _mended(listing: bytes) -> bytes:
    """The list of entries, without what makes `zipfile` refuse all of them because of one.

    That is a name that says it is UTF-8 and is not, a version of the future, and an extra field
    that is wrong; one is needed only where a size does not fit into its own field.
    """
    data, place = bytearray(listing), 0
    while data[place : place + 4] == _LISTED and place + _LIST_ENTRY <= len(data):
        version, flags = _PAIR.unpack_from(data, place + 6)
        packed, size, name, extra, comment = _SIZES.unpack_from(data, place + 20)
        (offset,) = _OFFSET.unpack_from(data, place + 42)
        begin = place + _LIST_ENTRY
        if flags & _IS_UTF8 and not _is_utf8(data[begin : begin + name]):
            flags &= ~_IS_UTF8
        _PAIR.pack_into(data, place + 6, min(version & 0xFF, _NEWEST), flags)
        if 0xFFFFFFFF not in (packed, size, offset) and extra + comment <= 0xFFFF:
            _PAIR.pack_into(data, place + 30, 0, extra + comment)  # now it is a comment
        place = begin + name + extra + comment
    return bytes(data)


def _is_utf8(name: bytes | bytearray) -> bool:
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _too_many(entries: int) -> str:
    return f"The ZIP archive lists more than {entries:,} files, but only the notebooks are needed."


def _lists_a_folder(info: zipfile.ZipInfo) -> bool:
    return info.orig_filename.endswith(("/", "\\")) and not info.file_size


def _overlapping(infos: list[zipfile.ZipInfo]) -> set[int]:
    """The entries (by id) that share bytes with another one, as only those of a bomb do."""
    found: set[int] = set()
    ordered = sorted(infos, key=lambda info: info.header_offset)
    reach, owner = -1, None
    for info in ordered:
        if owner is not None and info.header_offset < reach:
            found |= {id(info), id(owner)}
        # 30 bytes are the least that a local header takes.
        end = info.header_offset + 30 + info.compress_size
        if end > reach:
            reach, owner = end, info
    return found


def _entry(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, shared: set[int], max_bytes: int
) -> FileEntry:
    parts, problem = parts_of(_name(info))
    is_trick = problem is not None
    mode = info.external_attr >> 16
    if problem is None and id(info) in shared:
        problem = "It shares its bytes with another entry of the archive, as in a ZIP bomb."
    elif problem is None and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        problem = "It is a link or a device in the archive, not a file."
    elif problem is None and info.flag_bits & 1:
        problem = "It is encrypted: pack it again without a password."
    elif problem is None and info.compress_type not in _METHODS:
        problem = (
            "It is compressed in a way that the grader cannot read: pack it as an ordinary ZIP."
        )
    read = partial(_read, archive, info, max_bytes)
    return FileEntry(parts, info.file_size, read, problem, is_trick)


def _name(info: zipfile.ZipInfo) -> str:
    """The name as it was meant: macOS writes UTF-8 without saying so."""
    if not info.flag_bits & _IS_UTF8 and not info.orig_filename.isascii():
        try:
            return info.orig_filename.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return info.orig_filename


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, max_bytes: int) -> bytes:
    if info.file_size > max_bytes:
        raise Unreadable(too_large(info.file_size, max_bytes))
    chunks, size = [], 0
    try:
        with archive.open(info) as file:
            while chunk := file.read(_CHUNK):
                chunks.append(chunk)
                size += len(chunk)
                if size > max_bytes:
                    raise Unreadable(too_large(size, max_bytes))
    except Unreadable:
        raise
    except Exception:  # see entries_of
        raise Unreadable("It is damaged inside the ZIP archive: pack it again.") from None
    if size != info.file_size:
        raise Unreadable("It is cut off inside the ZIP archive: pack it again.")
    return b"".join(chunks)


def too_large(size: int, most: int) -> str:
    return (
        f"The file has {size:,} bytes, but at most {most:,} are read: clear the outputs of all "
        "cells, and save again."
    )


# --- Folders --------------------------------------------------------------------------------------


JUNK = frozenset(
    (
        ".ds_store .git .ipynb_checkpoints __macosx __pycache__ desktop.ini node_modules "
        "site-packages thumbs.db index.html"
    ).split()
)
MAX_ENTRIES = 5_000  # looked at in one student's folder
MAX_DEPTH = 12


def entries_of_folder(path: Path) -> Iterator[FileEntry]:
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
