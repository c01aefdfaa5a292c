"""Draw who needs which numbers: one value and its users, one block and its tiles."""

from __future__ import annotations

import numpy as np

from course_lib.figures import style
from course_lib.figures.pen import LIT, Looks, Pen, tinted
from course_lib.figures.picture import Picture

_LARGEST = 16
_TOP = 0.85  # where B begins, in inches from the top of the card


@style.drawn
def sharing(
    shape: tuple[int, int, int] = (4, 4, 4),
) -> Picture:
    """The first value of A feeds a whole row of C.

    Args:
        shape: (M, N, K): C is M x N, A is M x K, B is K x N.

    Raises:
        ValueError: if a side is too long to draw.
    """
    rows, columns, depth = shape
    if max(shape) > _LARGEST:
        raise ValueError(f"A side of {max(shape)} is too long to draw; at most {_LARGEST}.")
    row = {
        (0, j) for j in range(columns)
    }  # of B, what the value is multiplied with; of C, its users
    lit = {"A": {(0, 0)}, "B": row, "C": row}
    cell = min(3.75 / (depth + columns), 1.9 / max(rows, depth), 0.36)
    lower = _TOP + depth * cell + 0.32
    figure = style.card(
        lower + rows * cell + 0.55,
        f"A[0][0] has {columns} users",
        "B stands above C and A to its left, so that each product's row and column meet",
    )
    pen = Pen.on(figure)
    left, right = 0.75, 0.75 + depth * cell + 0.32
    corners = {"A": (left, lower), "B": (right, _TOP), "C": (right, lower)}
    sizes = {"A": (rows, depth), "B": (depth, columns), "C": (rows, columns)}
    for name, corner in corners.items():
        source = (0, 0) if name == "A" else None
        _draw_matrix(pen.at(*corner, cell), sizes[name], name, lit[name], source)
    sums = [f"C[0][{j}] += A[0][0] · B[0][{j}]" for j in range(columns)]
    shown = "\n".join(sums if columns <= 6 else [*sums[:4], "…", sums[-1]])
    x = right + columns * cell + 0.35
    pen.write(x, lower, shown, va="top", mono=True, linespacing=1.5)
    return Picture(
        figure,
        f"Matrices A ({rows} by {depth}), B ({depth} by {columns}) and C ({rows} by {columns}). "
        f"The single value A[0][0] is needed by all {columns} outputs in row 0 of C.",
    )


def _draw_matrix(
    pen: Pen,
    size: tuple[int, int],
    name: str,
    lit: set[tuple[int, int]],
    source: tuple[int, int] | None,
) -> None:
    colour = style.MATRIX_COLOUR[name]
    _draw_name(pen, size, name)
    for row, column in np.ndindex(size):
        on = (row, column) in lit
        looks = {**tinted(colour, 0.55 if on else 0.1), "edge": style.tint(colour, 0.6)}
        words = f"{row},{column}" if on and pen.wide > 0.29 else ""
        pen.cell(row, column, words, **(LIT if (row, column) == source else looks))


def _draw_name(pen: Pen, size: tuple[int, int], name: str) -> None:
    looks: Looks = {"bold": True, "size": style.LARGE, "colour": style.MATRIX_COLOUR[name]}
    pen.write(-0.1 / pen.wide, size[0] / 2, name, ha="right", **looks)


@style.drawn
def block_tiles(
    shape: tuple[int, int, int],
    tile: int | tuple[int, int, int],
    *,
    block: tuple[int, int] = (0, 0),
    step: int | None = None,
) -> Picture:
    """One block's tile of C, with the row of tiles of A and the column of tiles of B that it needs.

    Args:
        shape: (M, N, K).
        tile: T for square tiles, or (BM, BN, BK).
        block: (x, y): x counts tile columns of C, y tile rows.
        step: the pair of tiles that is in shared memory in this step; None lights the whole walk.
    """
    rows, columns, depth = shape
    high, wide, deep = (tile, tile, tile) if isinstance(tile, int) else tile
    steps = -(-depth // deep)
    scale = min(4.6 / (depth + columns), 3.0 / (rows + depth))
    lower = _TOP + depth * scale + 0.3
    figure = style.card(
        lower + rows * scale + 0.6,
        f"Block ({block[0]}, {block[1]}): one tile of C, {steps} pairs of tiles",
        f"M, N, K = {rows}, {columns}, {depth}; tiles {high} × {deep} of A, {deep} × {wide} of B, "
        f"{high} × {wide} of C",
    )
    pen = Pen.on(figure)
    left, right = 0.7, 0.7 + depth * scale + 0.3
    of_a = {(block[1], each): step in (None, each) for each in range(steps)}
    of_b = {(each, block[0]): step in (None, each) for each in range(steps)}
    of_c = {(block[1], block[0]): True}
    at_a, at_b, at_c = ((left, lower), (right, _TOP), (right, lower))
    _draw_tiled(pen.at(*at_a, scale), (rows, depth), (high, deep), "A", of_a, axis=1)
    _draw_tiled(pen.at(*at_b, scale), (depth, columns), (deep, wide), "B", of_b, axis=0)
    _draw_tiled(pen.at(*at_c, scale), (rows, columns), (high, wide), "C", of_c, axis=None)
    words = [
        f"each value of A's tile: {wide} uses",
        f"each value of B's tile: {high} uses",
        f"K is walked in {steps} steps of {deep}",
    ]
    if step is not None:
        words.append(f"now in shared memory: pair {step}")
    pen.write(right + columns * scale + 0.3, lower, "\n".join(words), va="top", linespacing=1.6)
    return Picture(
        figure,
        f"Block ({block[0]}, {block[1]}) computes one {high} by {wide} tile of C. It needs {steps} "
        f"tiles from one row of tiles of A and {steps} from one column of tiles of B; each value "
        f"of a tile of A is used {wide} times, each of B {high} times."
        + (f" Step {step} is lit." if step is not None else ""),
    )


def _draw_tiled(
    pen: Pen,
    size: tuple[int, int],
    tile: tuple[int, int],
    name: str,
    needed: dict[tuple[int, int], bool],
    axis: int | None,
) -> None:
    """A matrix cut into tiles; the needed ones are numbered along `axis`, the direction of k.

    Those whose value in `needed` is True are lit.
    """
    colour = style.MATRIX_COLOUR[name]
    _draw_name(pen, size, name)
    for at in np.ndindex(-(-size[0] // tile[0]), -(-size[1] // tile[1])):
        y, x = at[0] * tile[0], at[1] * tile[1]
        high, wide = min(tile[0], size[0] - y), min(tile[1], size[1] - x)
        if needed.get(at, False):
            looks = {**tinted(colour, 0.6, 1.6), "z": 3}
        else:
            looks = tinted(colour, 0.25 if at in needed else 0.08)
            looks["edge"] = style.tint(colour, 0.45)
        pen.rectangle(x, y, wide, high, **looks)
        if at in needed and axis is not None and min(wide, high) * pen.wide > 0.16:
            pen.write(x + wide / 2, y + high / 2, f"{at[axis]}", ha="center", z=4)
