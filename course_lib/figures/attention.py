"""Draw attention as two tiled products: a block of queries walks over the tiles of keys."""

from __future__ import annotations

from course_lib.figures import style
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture

# In inches: the square of the scores, the width of a narrow matrix, and where all that begins.
_SIDE, _NARROW, _LEFT, _TOP = 2.4, 0.42, 1.5, 1.95
_K_TOP, _V_TOP = _TOP - 1.06, _TOP - 0.53
_O_LEFT = _LEFT + _SIDE + 0.75


# Rows of Q, K, V and O; of a block and of a tile; and which ones stand out, counted from 0.
_TOKENS, _QUERIES, _KEYS, _BLOCK, _TILE = 128, 16, 32, 2, 2


@style.drawn
def attention_tiles() -> Picture:
    """The matrix of scores that is never there, and the one piece of it that a block holds."""
    figure = style.card(
        _TOP + _SIDE + 0.45,
        "Attention, tile by tile",
        f"One block: {_QUERIES} queries stay, tiles of {_KEYS} keys and values come and go",
    )
    pen = Pen.on(figure)
    high, wide = _SIDE * _QUERIES / _TOKENS, _SIDE * _KEYS / _TOKENS
    y, x = _TOP + _BLOCK * high, _LEFT + _TILE * wide
    _draw_narrow(pen, high, wide, x, y)
    _draw_scores(pen, high, wide, x, y)
    _tell(pen)
    style.footnote(figure, f"{_TOKENS} tokens. K and V are drawn lying, so that keys run across.")
    return Picture(
        figure,
        f"The scores of {_TOKENS} tokens, {_TOKENS} by {_TOKENS}, as an empty square: it is never "
        f"stored. Q stands at its left, K and V lie above it, O stands at its right. A block owns "
        f"{_QUERIES} rows of Q and O. Of the scores it holds {_QUERIES} by {_KEYS}, those of the "
        f"tile of K and V that is in shared memory; {_TILE} tiles before it are forgotten, and "
        f"{_TOKENS // _KEYS - _TILE - 1} are still to come. Maximum and sum of each row are kept.",
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
    """What each colour is, at the right."""
    left = _O_LEFT + _NARROW + 0.3
    rows = (
        (style.tint(style.BLUE, 0.7), f"{_QUERIES} queries, fetched once"),
        (style.tint(style.ORANGE, 0.7), f"{_KEYS} keys and values,"),
        (None, "in shared memory"),
        (style.YELLOW, f"{_QUERIES} × {_KEYS} scores, then weights"),
        (style.FAINT, "scores that are forgotten"),
        (style.tint(style.PURPLE, 0.6), "maximum and sum so far"),
        (style.tint(style.GREEN, 0.7), "output so far"),
    )
    y = _TOP + 0.1
    for colour, words in rows:
        if colour is None:
            y -= 0.1
        else:
            pen.rectangle(left, y - 0.08, 0.16, 0.16, face=colour, edge=style.INK)
        pen.write(left + 0.26, y, words)
        y += 0.3
