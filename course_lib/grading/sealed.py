"""Files that only their owner reads, and JSON that knows whether it is whole.

A sealed file holds a value and its checksum. It is on the disk before it takes its place, so a
power cut leaves the old one or the new one; a byte that was changed since is noticed.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import IO, Any

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
    """The value in a sealed file.

    Raises:
        Damaged: if a single byte is another.
    """
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
    """See that an open file is on the disk, and who may read it, whatever the umask is."""
    file.flush()
    os.fsync(file.fileno())
    os.chmod(file.name, mode)


def private_folder(path: Path) -> None:
    """Make a folder that only its owner looks into."""
    path.mkdir(parents=True, exist_ok=True)
    os.chmod(path, PRIVATE_FOLDER)


def sync_folder(path: Path) -> None:
    """See that what a folder lists is on the disk; Windows has no such thing."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
