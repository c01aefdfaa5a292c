"""Draw which tiles a block needs: of queries and keys in attention, of A and B in a product."""

import numpy as np

from course_lib.figures import style
from course_lib.figures.pen import LIT, Looks, Pen, tinted
from course_lib.figures.picture import Picture

# In inches: the square of the scores, the width of a narrow matrix, and where all that begins.
_SIDE, _NARROW, _LEFT, _TOP = 2.4, 0.42, 1.5, 1.95
_K_TOP, _V_TOP = _TOP - 1.06, _TOP - 0.53
_O_LEFT = _LEFT + _SIDE + 0.75


# Rows of Q, K, V and O; of a block and of a tile; and which ones stand out, counted from 0.
_TOKENS, _QUERIES, _KEYS, _BLOCK, _TILE = 128, 16, 32, 2, 2


@style.drawn
def attention_tiles() -> Picture:
    """The matrix of scores, which never exists as a whole, and the piece of it in a block."""
    pen = Pen.card(
        _TOP + _SIDE + 0.45,
        "Attention, tile by tile",
        f"One block: {_QUERIES} queries stay, tiles of {_KEYS} keys and values come and go",
    )
    high, wide = _SIDE * _QUERIES / _TOKENS, _SIDE * _KEYS / _TOKENS
    y, x = _TOP + _BLOCK * high, _LEFT + _TILE * wide
    _draw_narrow(pen, high, wide, x, y)
    _draw_scores(pen, high, wide, x, y)
    _tell(pen)
    pen.footnote(f"{_TOKENS} tokens. K and V are drawn sideways, so the keys run across.")
    return pen.picture(
        f"The matrix of scores of {_TOKENS} tokens is an empty square, {_TOKENS} by {_TOKENS}, "
        f"because it is never stored. Q is to its left, K and V are above it, and O is to its "
        f"right. A block owns {_QUERIES} rows of Q and O. It holds only {_QUERIES} by {_KEYS} "
        f"scores at a time, for the tile of K and V that is in shared memory. The scores of the "
        f"{_TILE} tiles before it are discarded, and {_TOKENS // _KEYS - _TILE - 1} more will "
        "follow. The maximum and the sum of each row are kept."
    )


def _draw_narrow(pen: Pen, high: float, wide: float, x: float, y: float) -> None:
    """Q and O with the rows of the block, K and V with the tile."""
    q_left = _LEFT - 0.2 - _NARROW
    tall, flat = (_NARROW, _SIDE), (_SIDE, _NARROW)
    own, now = (_NARROW, high), (wide, _NARROW)
    for name, (left, top), size, part, colour in (
        ("Q", (q_left, _TOP), tall, (q_left, y, *own), style.BLUE),
        ("O", (_O_LEFT, _TOP), tall, (_O_LEFT, y, *own), style.GREEN),
        ("K", (_LEFT, _K_TOP), flat, (x, _K_TOP, *now), style.ORANGE),
        ("V", (_LEFT, _V_TOP), flat, (x, _V_TOP, *now), style.ORANGE),
    ):
        pen.rectangle(left, top, *size, face=style.tint(colour, 0.12), edge=colour, line=1)
        strong = style.tint(colour, 0.7)
        marked = pen.rectangle(*part, face=strong, edge=style.INK, line=1.4, z=3)
        marked.set_gid(f"part of {name}")
        across = name in "KV"
        place = (left - 0.12, top + _NARROW / 2) if across else (left + _NARROW / 2, top - 0.12)
        pen.write(*place, name, ha="right" if across else "center", bold=True, size=style.LARGE)


def _draw_scores(pen: Pen, high: float, wide: float, x: float, y: float) -> None:
    pen.rectangle(_LEFT, _TOP, _SIDE, _SIDE, edge=style.GREY, linestyle=(0, (4, 3)))
    pen.rectangle(_LEFT, y, x - _LEFT, high, face=style.FAINT, edge="none", z=1)
    pen.rectangle(x, y, wide, high, face=style.YELLOW, edge=style.INK, line=1.4).set_gid("scores")
    end = _LEFT + _SIDE
    pen.arrow((x + wide + 0.05, y + high / 2), (end - 0.03, y + high / 2))
    pen.rectangle(
        end + 0.3, y, 0.14, high, face=style.tint(style.PURPLE, 0.6), edge=style.INK, line=1.4
    ).set_gid("kept")
    middle = _LEFT + _SIDE / 2
    pen.write(middle, _TOP + _SIDE - 0.45, "all scores: never stored", ha="center")


def _tell(pen: Pen) -> None:
    """The meaning of each colour, at the right."""
    left = _O_LEFT + _NARROW + 0.3
    rows = (
        (style.tint(style.BLUE, 0.7), f"{_QUERIES} queries, fetched once"),
        (style.tint(style.ORANGE, 0.7), f"{_KEYS} keys and values,\nin shared memory"),
        (style.YELLOW, f"{_QUERIES} × {_KEYS} scores, then weights"),
        (style.FAINT, "scores that are forgotten"),
        (style.tint(style.PURPLE, 0.6), "maximum and sum so far"),
        (style.tint(style.GREEN, 0.7), "output so far"),
    )
    y = _TOP + 0.1
    for colour, words in rows:
        pen.key(left, y, words, face=colour, edge=style.INK, line=None)
        y += 0.3 if "\n" not in words else 0.4


# --- One value of A and its users, one block and its tiles ----------------------------------------


_LARGEST = 16
_TOP_OF_REUSE = 0.85  # where B begins, in inches from the top of the card


@style.drawn
def sharing(shape: tuple[int, int, int] = (4, 4, 4)) -> Picture:
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
    lower = _TOP_OF_REUSE + depth * cell + 0.32
    pen = Pen.card(
        lower + rows * cell + 0.55,
        f"A[0][0] has {columns} users",
        "B is above C and A is to its left, so the row and the column of each product meet",
    )
    left, right = 0.75, 0.75 + depth * cell + 0.32
    corners = {"A": (left, lower), "B": (right, _TOP_OF_REUSE), "C": (right, lower)}
    sizes = {"A": (rows, depth), "B": (depth, columns), "C": (rows, columns)}
    for name, corner in corners.items():
        source = (0, 0) if name == "A" else None
        _draw_matrix(pen.at(*corner, cell), sizes[name], name, lit[name], source)
    sums = [f"C[0][{j}] += A[0][0] · B[0][{j}]" for j in range(columns)]
    shown = "\n".join(sums if columns <= 6 else [*sums[:4], "…", sums[-1]])
    x = right + columns * cell + 0.35
    pen.write(x, lower, shown, va="top", mono=True, linespacing=1.5)
    return pen.picture(
        f"Matrices A ({rows} by {depth}), B ({depth} by {columns}) and C ({rows} by {columns}). "
        f"The single value A[0][0] is needed by all {columns} outputs in row 0 of C."
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
    lower = _TOP_OF_REUSE + depth * scale + 0.3
    pen = Pen.card(
        lower + rows * scale + 0.6,
        f"Block ({block[0]}, {block[1]}): one tile of C, {steps} pairs of tiles",
        f"M, N, K = {rows}, {columns}, {depth}; tiles {high} × {deep} of A, {deep} × {wide} of B, "
        f"{high} × {wide} of C",
    )
    left, right = 0.7, 0.7 + depth * scale + 0.3
    of_a = {(block[1], each): step in (None, each) for each in range(steps)}
    of_b = {(each, block[0]): step in (None, each) for each in range(steps)}
    of_c = {(block[1], block[0]): True}
    at_a, at_b, at_c = ((left, lower), (right, _TOP_OF_REUSE), (right, lower))
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
    return pen.picture(
        f"Block ({block[0]}, {block[1]}) computes one {high} by {wide} tile of C. It needs {steps} "
        f"tiles from one row of tiles of A and {steps} from one column of tiles of B; each value "
        f"of a tile of A is used {wide} times, and each value of a tile of B {high} times."
        + (f" Step {step} is highlighted." if step is not None else "")
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
