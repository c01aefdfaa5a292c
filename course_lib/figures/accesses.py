"""Draw accesses to memory: a warp's sectors, how often each element is accessed, swizzled rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from course_lib.figures import style
from course_lib.figures.interactive import Grid, Scene
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture
from course_lib.figures.requests import traced
from course_lib.wording.words import counted


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
    pen = Pen.card(
        1.75 + tall, f"How often each element is {verb}", "Global memory, one launch, all threads"
    )
    for place, (name, cell) in enumerate(zip(names, cells, strict=True)):
        corner = (0.35 + place * (width + 0.25), 1.05)
        _draw_counts(pen.at(*corner, cell), name, maps[name], most)
        below = corner[1] + cell * maps[name].shape[0] + 0.14
        pen.write(corner[0], below, _how_often(maps[name], verb), va="top", linespacing=1.3)
    return pen.picture(_count_words(maps, verb))


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
    return f"How often each element of global memory is {verb}. {told}."


# --- Eight rows of pieces after a swizzle, and their banks ----------------------------------------


_ROWS = _PIECES = 8
_NUMBERS = 64  # of 16 bits, in a row of 128 bytes
_OF_A_PIECE = 8
_PICKED = 2  # the piece that is followed down the rows


def swizzled_rows(piece_at: Callable[[int, int], int]) -> Picture:
    """Eight rows of eight pieces, each piece where `piece_at` puts it.

    Args:
        piece_at: of a row and a piece the index of its first number, in a tile with rows of 64
            numbers of 16 bits: a plain function, or a device function of Numba.

    Raises:
        ValueError: if two pieces share a place, or one lies outside these eight rows.
    """
    places = places_of(getattr(piece_at, "py_func", piece_at))
    grid = Grid(70, 48, (_ROWS, _PIECES), 60, 26)
    scene = Scene(720, grid.bottom + 8)
    for place in range(_PIECES):
        x = grid.corner(0, place + 0.5)[0]
        scene.text(x, 22, f"place {place}", "small muted", "middle")
        scene.text(x, 40, f"{4 * place}–{4 * place + 3}", "small muted", "middle")
    for (_, piece), at in places.items():
        x, y = grid.corner(*at)
        css = ("lit", "small lit") if piece == _PICKED else ("a-soft bare", "small")
        scene.cell(x + 1, y + 1, 58, 24, str(piece), *css)
    for row in range(_ROWS):
        scene.text(60, grid.corner(row + 0.5, 0)[1] + 4.5, f"row {row}", "small muted", "end")
    met = {place for (_, piece), (_, place) in places.items() if piece == _PICKED}
    told = f"Piece {_PICKED} of the eight rows is in {counted(len(met), 'different place')}"
    passes = _ROWS // len(met) if _ROWS % len(met) == 0 else _ROWS
    passes_words = "one wavefront" if passes == 1 else f"{passes} wavefronts"
    words = f"{told}, so ldmatrix fetches it in {passes_words}."
    return scene.still(
        "Eight rows of 128 bytes: where each piece lies",
        f"A grid of eight rows and eight places of 16 bytes. {words}",
        "Columns: where in the row, and in which banks. Numbers: which piece lies there", words,
    )  # fmt: skip


def places_of(piece_at: Callable[[int, int], int]) -> dict[tuple[int, int], tuple[int, int]]:
    """Row and place of every (row, piece).

    Raises ValueError if two pieces share a place, or one lies outside.
    """
    found = {
        (row, piece): divmod(int(piece_at(row, piece)), _NUMBERS)
        for row in range(_ROWS)
        for piece in range(_PIECES)
    }
    places = {key: (row, start // _OF_A_PIECE) for key, (row, start) in found.items()}
    if len(set(places.values())) < len(places):
        raise ValueError("Two pieces share a place.")
    if any(not 0 <= row < _ROWS for row, _ in places.values()):
        raise ValueError("A piece lies outside the eight rows.")
    return places
