"""Watch an online softmax: what is kept of a row shrinks with each larger score."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from course_lib.figures.interactive import (
    Changes,
    Control,
    Examples,
    Interactive,
    Layer,
    Scene,
)

_PHASES = ("its scores", "shrink", "add")
_LEFT, _WIDE, _RIGHT = 44.0, 470.0, 545.0
_SCORES, _WEIGHTS, _HIGH = 34.0, 182.0, 104.0  # where the two panels begin, and how high each is
_ROWS = ("top", "factor", "total", "mixed", "mixed / total")
_MOST_TILES = 8


@dataclass(frozen=True)
class _Kept:
    """What a thread has kept of a row after a tile."""

    # top, total: the largest score so far, and the sum of the weights
    top: float
    total: float
    mixed: float  # one column of the output, not yet divided
    factor: float  # by which all that was kept before has shrunk


@dataclass(frozen=True)
class _Row:
    """The scores of one query, in tiles, and what was kept after each tile."""

    scores: tuple[float, ...]
    tile: int
    kept: tuple[_Kept, ...]

    def seen(self, tile: int) -> int:
        """How many scores the tiles up to this one have."""
        return (tile + 1) * self.tile


def watch_online_softmax(
    scores: Sequence[float] | np.ndarray, kept: np.ndarray, mixed: np.ndarray
) -> Interactive:
    """Step through the tiles of one row: its scores, its weights, and what is kept of both.

    Nothing is computed anew: sums and mixtures are those of the kernels that were run.

    Args:
        scores: of one query, float32, as many as the tiles have together.
        kept: after each score the sum of the weights and the largest score, scores x 2, as the task
            `one_pass` stores them.
        mixed: after each tile the weighted sum of the values, tiles x columns, as `mix_tiles`
            stores it; the first column is shown.

    Raises:
        ValueError: if the arrays do not belong together.
    """
    row = _row(np.asarray(scores), np.asarray(kept), np.asarray(mixed))
    moments = [f"tile {tile}: {what}" for tile in range(len(row.kept)) for what in _PHASES]
    return Interactive(
        "One query, tile by tile",
        _draw(row),
        (Control("at", "moment", moments, start=len(_PHASES) - 1, kind="steps"),),
        [Layer(("at",), partial(_moment, row))],
        Layer(("at",), partial(_sentence, row)),
        "Above, the scores of one query as dots, tile by tile, and a line at the largest "
        "so far. Below, their weights as bars. When a tile has a larger score, all older "
        "bars shrink by one factor.",
        Examples(
            {f"tile {tile}": {"at": len(_PHASES) * (tile + 1) - 1}
             for tile in range(len(row.kept))},
            "top {top}, factor {factor}, total {total}, mixed {mixed}",
            lambda _: (_LEFT - 4, _WEIGHTS - 4, _WIDE + 8, _HIGH + 8), 2,
            "Bars: the weights exp(score − top) so far. A larger score makes all older ones shrink",
            "Sums and mixtures as the kernels stored them.",
        ),
    )  # fmt: skip


def _row(scores: np.ndarray, kept: np.ndarray, mixed: np.ndarray) -> _Row:
    tiles = len(mixed)
    fits = scores.ndim == 1 and mixed.ndim == 2 and kept.shape == (len(scores), 2)
    if not fits or not 0 < tiles <= _MOST_TILES or len(scores) % tiles:
        raise ValueError(
            f"{scores.shape} scores, {kept.shape} sums and maxima and {mixed.shape} mixtures do "
            f"not make up to {_MOST_TILES} tiles of one row."
        )
    size, before, found = len(scores) // tiles, -math.inf, []
    for tile in range(tiles):
        total, top = (float(number) for number in kept[(tile + 1) * size - 1])
        found.append(_Kept(top, total, float(mixed[tile, 0]), math.exp(before - top)))
        before = top
    return _Row(tuple(float(score) for score in scores), size, tuple(found))


# --- The figure to play with ----------------------------------------------------------------------


def _draw(row: _Row) -> Scene:
    scene = Scene(720, 300)
    wide = _WIDE / len(row.scores)
    scene.rect(_LEFT, 16, wide * row.tile, 276, css="wash bare", name="tile")
    scene.text(_LEFT, 12, "scores", css="small muted")
    scene.text(_LEFT, _WEIGHTS - 10, "weights exp(score − top)", css="small muted")
    for number, score in enumerate(row.scores):
        x = _LEFT + wide * number
        scene.rect(x + 1, _WEIGHTS, wide - 2, 1, css="a moves", name=f"weight {number}")
        scene.circle(x + wide / 2, _height(row, score), 3.5, css="a", name=f"score {number}")
    scene.line(_LEFT, _SCORES, _LEFT + _WIDE, _SCORES, css="trouble dashed", name="line")
    scene.text(_LEFT - 4, _SCORES, "top", css="small trouble", anchor="end", name="line words")
    scene.line(_LEFT, _WEIGHTS + _HIGH, _LEFT + _WIDE, _WEIGHTS + _HIGH)
    for number, name in enumerate(_ROWS):
        y = 70 + 44 * number
        scene.text(_RIGHT, y, name, css="small muted")
        scene.text(_RIGHT, y + 20, "", css="large bold", name=name)
    return scene


def _height(row: _Row, score: float) -> float:
    """The height of a score in the upper panel."""
    low, high = min(row.scores), max(row.scores)
    return _SCORES + _HIGH * (high - score) / ((high - low) or 1.0)


def _moment(row: _Row, at: int) -> Changes:
    tile, phase = divmod(at, len(_PHASES))
    before = row.kept[tile - 1] if tile else _Kept(-math.inf, 0.0, 0.0, 0.0)
    now = row.kept[tile]
    shrunk = now.factor if phase else 1.0
    told = now if phase == 2 else _Kept(now.top, before.total * shrunk, before.mixed * shrunk, 0.0)
    state: Changes = {"tile": {"x": _LEFT + _WIDE * tile * row.tile / len(row.scores)}}
    level = _height(row, now.top)
    state["line"] = {"y1": level, "y2": level}
    state["line words"] = {"y": level + 4}
    for number, score in enumerate(row.scores):
        is_old, is_new = number < tile * row.tile, number < row.seen(tile)
        state[f"score {number}"] = {"hidden": not is_new, "class": "a" if is_old else "b"}
        drawn = is_old or (is_new and phase == 2)
        compared = before.top if is_old and not phase else now.top
        high = _HIGH * math.exp(score - compared) if drawn else 0.0
        state[f"weight {number}"] = {
            "y": _WEIGHTS + _HIGH - high,
            "height": high,
            "hidden": not drawn,
            "class": "a moves" if is_old else "b moves",
        }
    texts = (
        _told(now.top),
        _told(now.factor) if phase else "",
        _told(told.total),
        _told(told.mixed),
        _told(told.mixed / told.total) if told.total else "",
    )
    state |= {name: {"text": text} for name, text in zip(_ROWS, texts, strict=True)}
    return state


def _told(number: float) -> str:
    return f"{number:.3f}".replace("-", "−")


def _sentence(row: _Row, at: int) -> str:
    tile, phase = divmod(at, len(_PHASES))
    now = row.kept[tile]
    before = row.kept[tile - 1] if tile else None
    if phase == 2:
        return (
            f"The {row.tile} weights of tile {tile} are added, and its values mixed in. Both sums "
            f"belong to top = {_told(now.top)}."
        )
    if before is None:
        words = ("Nothing has been kept yet.", "There is nothing to shrink: exp(−∞) is 0.")
        return words[phase]
    if now.top > before.top:
        words = (
            f"Tile {tile} has a larger score: top grows from {_told(before.top)} to "
            f"{_told(now.top)}.",
            f"All that was kept shrinks by exp({_told(before.top)} − {_told(now.top)}) = "
            f"{_told(now.factor)}, the bars, their sum and the mixture alike.",
        )
        return words[phase]
    words = (
        f"Tile {tile} has no larger score: top stays {_told(now.top)}.",
        "The factor is exp(0) = 1: nothing shrinks.",
    )
    return words[phase]
