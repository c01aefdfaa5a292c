"""Draw how often each element of global memory is accessed in a launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.figures import style
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture
from course_lib.figures.requests import traced


@style.drawn
def matrix_reads(
    counts: Any, arrays: Sequence[str] | None = None, *, kind: str = "load"
) -> Picture:
    """Heat maps of how often each element is accessed in global memory.

    Args:
        counts: a traced profile, or a mapping from names to matrices of counts.
        arrays: which of them to draw; all that are accessed, unless given.
    """
    found = counts if isinstance(counts, Mapping) else element_counts(counts, kind, arrays or ())
    names = list(found) if arrays is None else list(arrays)
    maps = {name: np.atleast_2d(np.asarray(found[name])) for name in names}
    verb = {"load": "loaded", "store": "stored"}.get(kind, "accessed")
    width = (7.6 - 0.2 - 0.25 * len(names)) / len(names)
    cells = [
        min((width - 0.45) / each.shape[1], 2.6 / each.shape[0], 0.46) for each in maps.values()
    ]
    most = max(1, *(int(each.max()) for each in maps.values()))
    tall = max(cell * each.shape[0] for cell, each in zip(cells, maps.values(), strict=True))
    figure = style.card(
        1.75 + tall, f"How often each element is {verb}", "Global memory, one launch, all threads"
    )
    pen = Pen.on(figure)
    for place, (name, cell) in enumerate(zip(names, cells, strict=True)):
        corner = (0.35 + place * (width + 0.25), 1.05)
        _draw_counts(pen.at(*corner, cell), name, maps[name], most)
        below = corner[1] + cell * maps[name].shape[0] + 0.14
        pen.write(corner[0], below, _how_often(maps[name], verb), va="top", linespacing=1.3)
    return Picture(figure, _count_words(maps, verb))


def element_counts(
    profile: Any, kind: str = "load", names: Sequence[str] = ()
) -> dict[str, np.ndarray]:
    """How often each element of each global array was accessed, from a trace.

    Only arrays that were accessed are in the result, and those in `names`.
    """
    counts = {name: np.zeros(profile.arrays[name].shape, dtype=np.int64) for name in names}
    for access in traced(profile):
        if access.kind != kind or access.space != "global":
            continue
        if access.array not in counts:
            counts[access.array] = np.zeros(profile.arrays[access.array].shape, dtype=np.int64)
        np.add.at(counts[access.array], tuple(np.asarray(access.indices).T), 1)
    return counts


def _draw_counts(pen: Pen, name: str, counts: np.ndarray, most: int) -> None:
    colour = style.MATRIX_COLOUR.get(name, style.PURPLE)
    (rows, columns), cell = counts.shape, pen.wide
    title = f"{name}  ({rows} × {columns})"
    pen.write(0, -0.17 / cell, title, bold=True, size=style.NORMAL)
    shades = np.array(
        [[style.tint(colour, 0.08 + 0.8 * count / most if count else 0) for count in row]
         for row in counts]
    )  # fmt: skip
    # One mesh rather than thousands of rectangles; a large picture is drawn in no time.
    pen.axes.pcolormesh(
        pen.x + cell * np.arange(columns + 1), pen.y + cell * np.arange(rows + 1), shades,
        edgecolors=style.PAPER if cell > 0.1 else "none", linewidth=0.7,
    )  # fmt: skip
    pen.rectangle(0, 0, columns, rows, edge=style.FAINT, line=1)
    if cell >= 0.24:
        for (row, column), count in np.ndenumerate(counts):
            ink = style.readable_on(tuple(shades[row, column]))
            pen.centred(row, column, str(int(count)), colour=ink)


def _how_often(counts: np.ndarray, verb: str) -> str:
    low, high, total = int(counts.min()), int(counts.max()), int(counts.sum())
    times = f"{verb} {low} to {high} times" if low < high else f"each {verb} {low} times"
    if low == high == 1:
        times = f"each {verb} once"
    return f"{times}\n{total:,} {verb} in all"


def _count_words(maps: Mapping[str, np.ndarray], verb: str) -> str:
    told = "; ".join(
        f"{name}, {each.shape[0]} by {each.shape[1]}: " + _how_often(each, verb).replace("\n", ", ")
        for name, each in maps.items()
    )
    return f"How often each element is {verb} in global memory. {told}."
