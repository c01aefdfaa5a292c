"""Read the constant banks out of compiled machine code, which is an ELF file."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator


def constant_banks(cubin: bytes, entry: str) -> dict[int, bytes]:
    """What the constant banks of a kernel hold, by their numbers.

    Bank 0, with the parameters, is a launch's affair; bank 4 has addresses that only it knows.
    """
    found: dict[int, bytes] = {}
    for name, content in _sections(cubin):
        part = re.fullmatch(r"\.nv\.constant(\d+)(?:\.(.*))?", name)
        if part and part[1] not in ("0", "4") and part[2] in (None, entry):
            found[int(part[1])] = content
    return found


def _sections(elf: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and content of each section of a 64-bit ELF file; none for anything else."""
    if elf[:5] != b"\x7fELF\x02":
        return
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + at * size) for at in range(count)]
    names = headers[names_at][4]
    for name, kind, _, _, offset, length in headers:
        start = names + name
        text = elf[start : elf.index(b"\0", start)].decode("ascii", "replace")
        if kind != 8:  # 8 is a section without content
            yield text, elf[offset : offset + length]
