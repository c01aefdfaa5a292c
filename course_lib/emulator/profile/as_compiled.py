"""Counts of a launch's machine code beside those of its source: what is kept, and the table.

The emulator counts what a source asks for. Who follows the machine code is elsewhere
(`course_lib.compiled_counts`); here is what it is given, what it returns, and how that is shown.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.emulator.profile import annotate
from course_lib.emulator.profile.counters import Counters, LineCounters

if TYPE_CHECKING:
    from course_lib.emulator.profile.profile import Profile


@dataclass(frozen=True, eq=False)
class KeptLaunch:
    """A launch as it was given, to be looked at again."""

    kernel: Any  # the `@cuda.jit` kernel or plain function
    # grid, block: as (x, y, z)
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared_bytes: int  # of a block
    # as they were before the launch: NumPy arrays and numbers; None if the arrays were too large to
    # keep
    arguments: tuple[Any, ...] | None
    bytes: int = 0  # how large the arrays are together


def copies_of(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments of a launch with their arrays copied; one that is given twice stays one."""
    made: dict[int, Any] = {}

    def copied(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(copied, value))
        if not isinstance(value, np.ndarray):
            return value
        return made.setdefault(id(value), value.copy(order="K"))

    return tuple(map(copied, arguments))


@dataclass
class AsCompiled(Counters):
    """What a launch costs as machine code; the counters are totals, as a GPU's own counters show.

    `executed` counts machine instructions of warps, not statements.
    """

    profile: Profile | None = None  # the same launch as written
    cc: str = ""  # for which compute capability
    versions: str = ""  # who compiled
    lines: dict[int, LineCounters] = field(default_factory=dict)  # the counters of each source line

    def show(self) -> None:
        """Show the source with both counts of each line; in a notebook as a table."""
        annotate.display(as_html(self), as_text(self))

    def _repr_html_(self) -> str:
        return as_html(self)

    def __repr__(self) -> str:
        name = self.profile.kernel_name if self.profile else "?"
        return f"<AsCompiled of {name} for {self.cc}: {self.shared_load_wavefronts} wavefronts>"


COLUMNS = (
    annotate.CounterColumn(
        "sectors loaded", "ld sectors", "sectors loaded", ("global_load_sectors",),
        "pieces of 32 bytes that a warp's loads touch",
    ),
    annotate.CounterColumn(
        "sectors stored", "st sectors", "sectors stored", ("global_store_sectors",),
        "pieces of 32 bytes that a warp's stores touch",
    ),
    annotate.CounterColumn(
        "shared loads", "sh loads", "shared loads", ("shared_load_requests",),
        "load instructions of a warp, of 1 to 16 bytes a lane",
    ),
    annotate.CounterColumn(
        "wavefronts of loads", "ld waves", "wavefronts of shared loads",
        ("shared_load_wavefronts",), "passes through shared memory that these loads take",
    ),
    annotate.CounterColumn(
        "wavefronts of stores", "st waves", "wavefronts of shared stores",
        ("shared_store_wavefronts",), "passes that stores take",
    ),
    annotate.CounterColumn(
        "bank conflicts", "conflicts", "bank conflicts",
        ("shared_load_bank_conflicts", "shared_store_bank_conflicts"),
        "wavefronts beyond what the width needs; a GPU counts a few more when data arrive from "
        "global memory at the same time",
        ("shared_load_wavefronts", "shared_store_wavefronts"),
    ),
    annotate.CounterColumn(
        "FLOP", "FLOP", "FLOP", ("flops",),
        "as compiled: additions, products and multiply–adds (2) of floats, as a GPU counts them",
    ),
)  # fmt: skip


def heading(found: AsCompiled) -> str:
    """What was launched, and what the two numbers of a cell are."""
    assert found.profile is not None
    return (
        f"{annotate.heading(found.profile)}. As written → as compiled for {found.cc} "
        f"({found.versions}); one number where both agree"
    )


def _shown(found: AsCompiled) -> list[annotate.CounterColumn]:
    """The columns with which the kernel has anything to do, either way."""
    sides: list[Counters] = [found] if found.profile is None else [found, found.profile]
    return [column for column in COLUMNS if any(column.worth_showing(side) for side in sides)]


def _cell(column: annotate.CounterColumn, written: Counters, compiled: Counters) -> str:
    ours, theirs = column.of(written), column.of(compiled)
    if ours == theirs:
        return f"{ours:,}" if ours else ""
    return f"{ours:,} → {theirs:,}"


_Row = tuple[Sequence[str], str, str]


def _rows(found: AsCompiled) -> list[_Row]:
    """Cells, number and text of each source line, of what has no line of its own, and the sum."""
    profile, columns = found.profile, _shown(found)
    assert profile is not None
    rows: list[_Row] = []
    rest = Counters()
    rest.add(found)
    for line in annotate.lines_of(profile):
        written = line.counters or Counters()
        compiled = found.lines.get(line.number, LineCounters())
        for column in columns:
            for name in column.counters:
                setattr(rest, name, getattr(rest, name) - getattr(compiled, name))
        cells = [_cell(column, written, compiled) for column in columns]
        rows.append((cells, str(line.number), line.text))
    if any(column.of(rest) for column in columns):
        cells = [_cell(column, Counters(), rest) for column in columns]
        rows.append((cells, "", "(on other lines)"))
    rows.append(([_cell(column, profile, found) for column in columns], "all", ""))
    return rows


def as_text(found: AsCompiled) -> str:
    """The table in columns, and their legend."""
    columns, rows = _shown(found), _rows(found)
    widths = [
        max([len(column.short), *(len(cells[at]) for cells, _, _ in rows)])
        for at, column in enumerate(columns)
    ]
    titles = " ".join(
        f"{column.short:>{width}}" for column, width in zip(columns, widths, strict=True)
    )
    lines = [heading(found), f"{titles}   line"]
    for cells, number, text in rows:
        numbers = " ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        lines.append(f"{numbers}  {number:>5}  {text}".rstrip())
    lines += ["", *(f"{column.short:>10}: {column.meaning}" for column in columns)]
    return "\n".join(lines)


def as_html(found: AsCompiled) -> str:
    """The same as a table that can be read on any background, and read aloud."""
    columns = _shown(found)
    title = html.escape(heading(found))
    number, code = annotate.NUMBER, annotate.CODE
    rows = "".join(
        '<tr style="background:none;">'
        + "".join(f'<td style="{number}">{cell}</td>' for cell in cells)
        + f'<th scope="row" style="{number}font-weight:normal;">{name}</th>'
        + f'<td style="{code}">{html.escape(text)}</td></tr>'
        for cells, name, text in _rows(found)
    )
    return annotate.table_of(title, title, columns, f"<tbody>{rows}</tbody>") + "</div>"
