"""Draw attention as two tiled products: a block of queries walks over the tiles of keys."""

from __future__ import annotations

from matplotlib.axes import Axes

from course_lib.figures import style
from course_lib.figures.picture import Picture

# In inches: the square of the scores, the width of a narrow matrix, and where all that begins.
_SIDE, _NARROW, _LEFT, _TOP = 2.4, 0.42, 1.5, 1.95
_K_TOP, _V_TOP = _TOP - 1.06, _TOP - 0.53
_O_LEFT = _LEFT + _SIDE + 0.75


@style.drawn
def attention_tiles(
    tokens: int = 128, *, queries: int = 16, keys: int = 32, block: int = 2, tile: int = 2
) -> Picture:
    """The matrix of scores that is never there, and the one piece of it that a block holds.

    Args:
        tokens: rows of Q, K, V and O.
        queries: of a block.
        keys: of a tile.
        block, tile: which ones stand out, counted from 0.

    Raises:
        ValueError: if there is no such block or tile.
    """
    if not (0 <= block < tokens // queries and 0 <= tile < tokens // keys):
        raise ValueError(f"{tokens} tokens have no block {block} of {queries} and tile {tile}.")
    figure = style.card(
        _TOP + _SIDE + 0.45,
        "Attention, tile by tile",
        f"One block: {queries} queries stay, tiles of {keys} keys and values come and go",
    )
    axes = style.canvas(figure)
    high, wide = _SIDE * queries / tokens, _SIDE * keys / tokens
    y, x = _TOP + block * high, _LEFT + tile * wide
    _draw_narrow(axes, high, wide, x, y)
    _draw_scores(axes, high, wide, x, y)
    _tell(axes, tile, queries, keys)
    style.footnote(figure, f"{tokens} tokens. K and V are drawn lying, so that keys run across.")
    return Picture(
        figure,
        f"The scores of {tokens} tokens, {tokens} by {tokens}, as an empty square: it is never "
        f"stored. Q stands at its left, K and V lie above it, O stands at its right. A block owns "
        f"{queries} rows of Q and O. Of the scores it holds {queries} by {keys}, those of the tile "
        f"of K and V that is in shared memory; {tile} tiles before it are forgotten, and "
        f"{tokens // keys - tile - 1} are still to come. Maximum and sum of each row are kept.",
    )


def _draw_narrow(axes: Axes, high: float, wide: float, x: float, y: float) -> None:
    """Q and O with the rows of the block, K and V with the tile."""
    q_left = _LEFT - 0.2 - _NARROW
    for name, corner, size, part, part_size, colour in (
        ("Q", (q_left, _TOP), (_NARROW, _SIDE), (q_left, y), (_NARROW, high), style.BLUE),
        ("O", (_O_LEFT, _TOP), (_NARROW, _SIDE), (_O_LEFT, y), (_NARROW, high), style.GREEN),
        ("K", (_LEFT, _K_TOP), (_SIDE, _NARROW), (x, _K_TOP), (wide, _NARROW), style.ORANGE),
        ("V", (_LEFT, _V_TOP), (_SIDE, _NARROW), (x, _V_TOP), (wide, _NARROW), style.ORANGE),
    ):
        style.rectangle(
            axes, corner, *size, facecolor=style.tint(colour, 0.12), edgecolor=colour, linewidth=1
        )
        style.rectangle(
            axes,
            part,
            *part_size,
            facecolor=style.tint(colour, 0.7),
            edgecolor=style.INK,
            linewidth=1.4,
            zorder=3,
        ).set_gid(f"part of {name}")
        across = name in "KV"
        place = (corner[0] - 0.12, corner[1] + _NARROW / 2)
        if not across:
            place = (corner[0] + _NARROW / 2, corner[1] - 0.12)
        style.write(
            axes,
            *place,
            name,
            ha="right" if across else "center",
            fontweight="bold",
            fontsize=style.LARGE,
        )


def _draw_scores(axes: Axes, high: float, wide: float, x: float, y: float) -> None:
    style.rectangle(
        axes,
        (_LEFT, _TOP),
        _SIDE,
        _SIDE,
        facecolor="none",
        edgecolor=style.GREY,
        linestyle=(0, (4, 3)),
    )
    style.rectangle(
        axes, (_LEFT, y), x - _LEFT, high, facecolor=style.FAINT, edgecolor="none", zorder=1
    )
    style.rectangle(
        axes, (x, y), wide, high, facecolor=style.YELLOW, edgecolor=style.INK, linewidth=1.4
    ).set_gid("scores")
    end = _LEFT + _SIDE
    if x + wide < end - 0.1:
        style.arrow(axes, (x + wide + 0.05, y + high / 2), (end - 0.03, y + high / 2))
    style.rectangle(
        axes,
        (end + 0.3, y),
        0.14,
        high,
        facecolor=style.tint(style.PURPLE, 0.6),
        edgecolor=style.INK,
        linewidth=1.4,
    ).set_gid("kept")
    middle = _LEFT + _SIDE / 2
    style.write(axes, middle, _TOP + _SIDE - 0.45, "all scores: never stored", ha="center")


def _tell(axes: Axes, tile: int, queries: int, keys: int) -> None:
    """What each colour is, at the right."""
    left = _O_LEFT + _NARROW + 0.3
    rows = (
        (style.tint(style.BLUE, 0.7), f"{queries} queries, fetched once"),
        (style.tint(style.ORANGE, 0.7), f"{keys} keys and values,"),
        (None, "in shared memory"),
        (style.YELLOW, f"{queries} × {keys} scores, then weights"),
        (style.FAINT, "scores that are forgotten"),
        (style.tint(style.PURPLE, 0.6), "maximum and sum so far"),
        (style.tint(style.GREEN, 0.7), "output so far"),
    )
    y = _TOP + 0.1
    for colour, words in rows:
        if colour is None:
            y -= 0.1
        elif colour == style.FAINT and not tile:
            continue
        else:
            style.rectangle(
                axes, (left, y - 0.08), 0.16, 0.16, facecolor=colour, edgecolor=style.INK
            )
        style.write(axes, left + 0.26, y, words)
        y += 0.3
