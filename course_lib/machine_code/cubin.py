"""Read constants and tables out of compiled machine code, which is an ELF file."""

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


def tables(cubin: bytes) -> tuple[bytes, dict[int, int]]:
    """The compiler's own tables in global memory, and where bank 4 is to have their addresses.

    Returns:
        The tables' bytes; by the place in bank 4, where in these bytes a table begins.
    """
    sections = list(_sections(cubin))
    content = dict(sections)
    held, symbols = content.get(".nv.global.init", b""), content.get(".symtab", b"")
    found: dict[int, int] = {}
    for place, symbol, more in _moved(content, ".nv.constant4"):
        _, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", symbols, 24 * symbol)
        if section < len(sections) and sections[section][0] == ".nv.global.init":
            found[place] = value + more
    return held, found


def _moved(content: dict[str, bytes], name: str) -> Iterator[tuple[int, int, int]]:
    """The relocations of a section: where, whose address (a symbol's number), and what is added."""
    for place, info, more in struct.iter_unpack("<QQq", content.get(f".rela{name}", b"")):
        yield place, info >> 32, more
    for place, info in struct.iter_unpack("<QQ", content.get(f".rel{name}", b"")):
        yield place, info >> 32, struct.unpack_from("<q", content[name], place)[0]


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
        # 8 is a section without content.
        yield text, b"" if kind == 8 else elf[offset : offset + length]
