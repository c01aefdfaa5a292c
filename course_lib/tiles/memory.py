"""The arrays of a launch: who reads and writes which cell, what leaves them, and what that moves.

Programs (cuTile's blocks) have no order among them. So a cell that one writes and another touches
is a race, and there is no barrier that could mend it: it is another launch that has to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.tiles.values import Array, DType, TileValue, dtype_of
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import Line, say

NOBODY, SEVERAL = -1, -2


@dataclass(eq=False)
class ArrayArgument:
    """An array of the launch.

    Attributes:
        name: of the kernel's parameter.
        data: the caller's array.
        writer, reader: for each cell, in the order of memory, the program that touched it.
        written_at: the line that wrote it last.
    """

    name: str
    data: Array
    writer: Array = field(init=False)
    reader: Array = field(init=False)
    written_at: Array = field(init=False)
    is_read: bool = False

    def __post_init__(self) -> None:
        size = self.data.size
        self.writer, self.reader = (np.full(size, NOBODY, np.int32) for _ in range(2))
        self.written_at = np.zeros(size, np.int32)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.data.shape)

    @property
    def dtype(self) -> DType:
        return dtype_of(self.data)

    def cell(self, flat: int) -> str:
        """A cell as a student writes it: "C[2, 3]"."""
        place = np.unravel_index(flat, self.data.shape)
        return f"{self.name}[{', '.join(str(int(index)) for index in place)}]"


@dataclass
class TileCounts:
    """What a launch moved and computed.

    Attributes:
        global_load_bytes, global_store_bytes: of elements inside the arrays.
        flops: floating-point operations; a product of tiles has two for each pair.
        peak_tile_bytes: the most that the tiles of one program's variables took at a time.
    """

    global_load_bytes: int = 0
    global_store_bytes: int = 0
    flops: int = 0
    peak_tile_bytes: int = 0


class TileMemory:
    """All arrays of one launch, and what is noted of them."""

    def __init__(self, name_of: Callable[[int], str]) -> None:
        self.name_of = name_of  # a program's name from its number
        self.arrays: dict[str, ArrayArgument] = {}
        self.counts = TileCounts()
        self.findings: dict[tuple[str, int | None, str], Finding] = {}

    def argument(self, name: str, data: Array) -> ArrayArgument:
        self.arrays[name] = ArrayArgument(name, data)
        return self.arrays[name]

    def note(self, found: Finding) -> None:
        """Keep a finding, once for each code, line and array."""
        self.findings.setdefault((found.code, found.line, found.cell.split("[")[0]), found)

    def load(self, array: ArrayArgument, cells: Array, program: int, line: int) -> Array:
        """The values of cells, by their place in memory; all of them are inside."""
        flat = cells.ravel()
        array.is_read = True
        self.counts.global_load_bytes += flat.size * array.dtype.nbytes
        others = (array.writer[flat] != NOBODY) & (array.writer[flat] != program)
        if others.any():
            self._race(array, int(flat[np.argmax(others)]), program, line, "read-after-write")
        before = array.reader[flat]
        array.reader[flat] = np.where((before == NOBODY) | (before == program), program, SEVERAL)
        return array.data.reshape(-1)[cells]

    def store(
        self, array: ArrayArgument, cells: Array, tile: TileValue, program: int, line: int
    ) -> None:
        """Write values into cells; where one has none, that is told."""
        flat, values = cells.ravel(), tile.data.ravel()
        self.counts.global_store_bytes += flat.size * array.dtype.nbytes
        if tile.unknown is not None and tile.unknown.mask.any():
            self._unknown(array, int(flat[np.argmax(tile.unknown.mask.ravel())]), tile, line)
        writers, readers = array.writer[flat], array.reader[flat]
        others = (writers != NOBODY) & (writers != program)
        read = (readers != NOBODY) & (readers != program)
        if others.any():
            self._race(array, int(flat[np.argmax(others)]), program, line, "write-after-write")
        elif read.any():
            self._race(array, int(flat[np.argmax(read)]), program, line, "write-after-read")
        array.writer[flat], array.written_at[flat] = program, line
        array.data.reshape(-1)[flat] = values

    def add(self, array: ArrayArgument, cells: Array, values: Array, program: int) -> None:
        """Add to cells, each as one step that no other program divides."""
        flat = cells.ravel()
        self.counts.global_load_bytes += flat.size * array.dtype.nbytes
        self.counts.global_store_bytes += flat.size * array.dtype.nbytes
        array.writer[flat] = np.where(array.writer[flat] == NOBODY, program, array.writer[flat])
        np.add.at(array.data.reshape(-1), flat, values.ravel().astype(array.data.dtype))

    def outside(self, array: ArrayArgument, kind: str, index: str, program: int, line: int) -> None:
        """A program touches what is not in the array."""
        doing = say("reads") if kind == "read" else say("writes")
        message = say(
            "{program} {doing} outside {array}, at {index}; {array} is {shape}.",
            program=self.name_of(program),
            doing=doing,
            array=array.name,
            index=index,
            shape=" x ".join(map(str, array.shape)),
        )
        hint = (
            "Which programs have a tile that goes past the edge? What keeps their accesses inside?"
        )
        self.note(finding(f"out-of-bounds-{kind}", message, line, hint, cell=array.name))

    def unwritten(self, array: ArrayArgument, line: int) -> None:
        """Of an output, cells that no program wrote."""
        missing = array.writer == NOBODY
        message = say(
            "{missing} of the {all} elements of {array} were never written, the first of them "
            "{cell}.",
            missing=f"{int(missing.sum()):,}",
            all=f"{missing.size:,}",
            array=array.name,
            cell=array.cell(int(np.argmax(missing))),
        )
        hint = "Which program should write these elements?"
        self.note(finding("incomplete-output", message, line, hint, cell=array.name))

    def _unknown(self, array: ArrayArgument, flat: int, tile: TileValue, line: int) -> None:
        assert tile.unknown is not None
        message = say(
            "What is loaded past the edge of {source} has no value that you can rely on, but it "
            "gets into {cell} at {line}.",
            source=tile.unknown.array,
            cell=array.cell(flat),
            line=Line(line),
        )
        hint = "Which value should be used there instead?"
        found = finding(
            "missing-mask", message, tile.unknown.line, hint, other_line=line, cell=array.name
        )
        self.note(found)

    def _race(self, array: ArrayArgument, flat: int, program: int, line: int, code: str) -> None:
        facts: dict[str, Any] = {
            "program": self.name_of(program),
            "cell": array.cell(flat),
            "line": Line(line),
        }
        if code == "write-after-read":
            other = int(array.reader[flat])
            first = self.name_of(other) if other >= 0 else say("several programs")
            message = say(
                "{first} and {program} access {cell}. One of them reads it, and {program} "
                "writes it at {line}. Programs run in no fixed order.",
                first=first,
                **facts,
            )
            hint = "Could the kernel store its result in another array, one that no program reads?"
            self.note(finding(f"race-{code}", message, line, hint, cell=array.cell(flat)))
            return
        facts |= {
            "first": self.name_of(int(array.writer[flat])),
            "first_line": Line(int(array.written_at[flat])),
        }
        if code == "write-after-write":
            message = say(
                "{first} and {program} both write {cell}, at {first_line} and {line}. Either may "
                "come last.",
                **facts,
            )
            hint = "Which index should differ from program to program?"
        else:
            message = say(
                "{program} reads {cell} at {line}, and {first} writes it at {first_line}. "
                "Programs run in no fixed order.",
                **facts,
            )
            hint = "Does this need the result of another program? Then it takes a second launch."
        written = int(array.written_at[flat])
        cell = array.cell(flat)
        self.note(finding(f"race-{code}", message, line, hint, other_line=written, cell=cell))
