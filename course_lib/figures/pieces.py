"""Draw what one warp owns of C: the shape of its piece, and what its first lanes own in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from course_lib.devices import WARP_SIZE
from course_lib.figures import style
from course_lib.figures.accesses import traced
from course_lib.figures.picture import Picture

_WINDOW = 128  # so much of C is drawn, in rows and in columns
_PANEL, _TOP = 1.9, 1.1
_MOST = 3


@dataclass(frozen=True)
class _Piece:
    """What warp 0 of block (0, 0) stores: one row of `at` is (row, column), `lane` its lane."""

    name: str
    at: np.ndarray
    lane: np.ndarray

    @property
    def rows(self) -> int:
        return len(np.unique(self.at[:, 0]))

    @property
    def columns(self) -> int:
        return len(np.unique(self.at[:, 1]))

    @property
    def told(self) -> tuple[str, str]:
        values = self.rows + self.columns
        return (
            f"{self.rows} × {self.columns} = {len(self.at):,} outputs",
            f"{self.rows} + {self.columns} = {values} values a step",
        )


@style.drawn
def warp_pieces(profiles: Mapping[str, Any], output: str = "C") -> Picture:
    """The outputs of warp 0, and of its lanes 0 and 1, one panel for each kernel.

    Args:
        profiles: name -> a traced launch, `emulate(kernel, trace=True)[...](...)`.
        output: the kernel's name for the matrix that it stores.

    Raises:
        ValueError: if there are more than three, or a kernel stores nothing there.
    """
    if not 1 <= len(profiles) <= _MOST:
        raise ValueError(f"One to {_MOST} kernels fit a picture, not {len(profiles)}.")
    pieces = [_piece(name, profile, output) for name, profile in profiles.items()]
    figure = style.card(
        _TOP + _PANEL + 0.98,
        f"What one warp owns of {output}",
        "Light: the outputs of warp 0. Green: those of its lane 0. Black: those of its lane 1",
    )
    axes = style.canvas(figure)
    for number, piece in enumerate(pieces):
        _draw(axes, 0.42 + (style.WIDTH - 0.34) / max(2, len(pieces)) * number, piece)
    style.footnote(
        figure,
        "Drawn from a run. Blue, orange: the rows of A, the columns of B that the warp reads. "
        f"Frame: {_WINDOW} × {_WINDOW} of {output}.",
    )
    told = "; ".join(f"{each.name}: {', '.join(each.told)}" for each in pieces)
    return Picture(figure, f"The piece of {output} that one warp owns. {told}.")


def _piece(name: str, profile: Any, output: str) -> _Piece:
    wide, high = (*profile.block, 1, 1)[:2]
    at, lane = [], []
    for access in traced(profile):
        if access.array == output and access.kind == "store":
            cells, threads = access.all_indices(profile.arrays[output].shape)
            number = threads[:, 5] + wide * (threads[:, 4] + high * threads[:, 3])
            mine = (threads[:, :3] == 0).all(axis=1) & (number < WARP_SIZE)
            at.append(cells[mine])
            lane.append(number[mine])
    if not at:
        raise ValueError(f"{name} stores nothing in {output}.")
    return _Piece(name, np.concatenate(at), np.concatenate(lane))


def _draw(axes: Axes, left: float, piece: _Piece) -> None:
    cell = _PANEL / _WINDOW
    style.write(axes, left, _TOP - 0.32, piece.name, family=style.MONO, fontweight="bold")
    image = np.ones((_WINDOW, _WINDOW, 3)) * style.tint(style.GREY, 0.08)
    inside = (piece.at < _WINDOW).all(axis=1)
    lit = style.tint(style.GREEN, 0.35)
    for lanes, looks in (
        (piece.lane >= 0, lit),
        (piece.lane == 0, to_rgb(style.GREEN)),
        (piece.lane == 1, to_rgb(style.INK)),
    ):
        rows, columns = piece.at[inside & lanes].T
        image[rows, columns] = looks
    axes.imshow(
        image, extent=(left, left + _PANEL, _TOP + _PANEL, _TOP), interpolation="nearest", zorder=1
    )
    axes.set_aspect("auto")
    style.rectangle(
        axes, (left, _TOP), _PANEL, _PANEL, fill=False, edgecolor=style.GREY, linewidth=1
    )
    # What the warp reads in one step of k: these rows of A, these columns of B.
    blue = {"facecolor": style.BLUE, "edgecolor": "none"}
    orange = {"facecolor": style.ORANGE, "edgecolor": "none"}
    for row in np.unique(piece.at[inside][:, 0]):
        style.rectangle(axes, (left - 0.1, _TOP + cell * row), 0.06, cell * 1.02, **blue)
    for column in np.unique(piece.at[inside][:, 1]):
        style.rectangle(axes, (left + cell * column, _TOP - 0.1), cell * 1.02, 0.06, **orange)
    style.write(axes, left - 0.13, _TOP + 0.08, "A", ha="right", color=style.BLUE)
    style.write(axes, left + _PANEL + 0.05, _TOP - 0.07, "B", color=style.ORANGE)
    for number, line in enumerate(piece.told):
        style.write(axes, left, _TOP + _PANEL + 0.2 + 0.2 * number, line)
