"""Draw as a still what a missing barrier does: the warps in time, without one barrier each."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.emulator.state.lanes import WARP_SIZE
from course_lib.figures import style
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture
from course_lib.figures.watch.hazard import Showing, WrongRead
from course_lib.figures.watch.race_scene import key_of
from course_lib.wording.words import element

_LEFT, _RIGHT = 0.95, 7.4
_LANE = 0.52
_WORD = 0.62  # how wide a box is that holds a word
_COLOUR = {"load": style.BLUE, "multiply": style.GREEN, "use": style.GREEN, "store": style.PURPLE}


@style.drawn
def races_in_time(runs: Sequence[tuple[str, Showing]], warps: int) -> Picture:
    """Runs of one block, one under the other, each with its wrong reads.

    Args:
        runs: (title, run) for each.
        warps: how many warps the block has.
    """
    panel = 0.75 + warps * _LANE
    narrow = any((_RIGHT - _LEFT) / len(run.beats) <= _WORD for _, run in runs)
    key = key_of(run for _, run in runs) if narrow else ""
    figure = style.card(
        0.75 + panel * len(runs),
        "What a missing barrier does",
        f"One block, one warp after the other; time runs to the right{key}",
    )
    pen = Pen.on(figure)
    for number, (title, run) in enumerate(runs):
        top = 0.8 + panel * number
        pen.write(0.2, top, f"barriers: {title}", bold=True, size=style.NORMAL)
        _draw_run(pen, top + 0.42, run, warps)
    return Picture(figure, " ".join(_words(title, run) for title, run in runs))


def _draw_run(pen: Pen, top: float, run: Showing, warps: int) -> None:
    column = (_RIGHT - _LEFT) / len(run.beats)
    for warp in range(warps):
        y = top + warp * _LANE
        pen.line((_LEFT, y), (_RIGHT, y), colour=style.FAINT, line=1.5, z=0)
        pen.write(_LEFT - 0.12, y, f"warp {warp}", ha="right")
    for number, beat in enumerate(run.beats):
        for warp in beat.warps:
            bad = any(each.lane // WARP_SIZE == warp for each in beat.wrong)
            x, y = _LEFT + number * column, top + warp * _LANE
            colour = style.VERMILION if bad else _COLOUR[beat.kind]
            pen.box(x + 0.03, y - 0.15, column - 0.06, 0.3, colour=colour, fill=0.2)
            word = beat.kind if column > _WORD else beat.kind[0]
            words = ("✗ " if bad else "") + (word[:4] if bad else word)
            pen.write(x + column / 2, y, words, ha="center", z=4)
    for after, _ in run.openings:
        x = _LEFT + after * column
        ends = (x, top - 0.24), (x, top + (warps - 1) * _LANE + 0.24)
        pen.line(*ends, colour=style.INK, line=3, solid_capstyle="butt", z=5)
    wrong = _first_between_warps(run)
    if wrong is not None:
        _draw_why(pen, top, column, wrong)


def _draw_why(pen: Pen, top: float, column: float, wrong: WrongRead) -> None:
    """An arrow from a wrong read to the write that was late or early."""
    assert wrong.culprit is not None
    reader, writer = wrong.lane // WARP_SIZE, wrong.culprit.lane // WARP_SIZE
    way = 1 if writer > reader else -1
    start = (_LEFT + (wrong.read.beat + 0.5) * column, top + reader * _LANE + way * 0.15)
    end = (_LEFT + (wrong.culprit.beat + 0.5) * column, top + writer * _LANE - way * 0.16)
    pen.arrow(start, end, colour=style.VERMILION)
    words = "written too late" if wrong.late else "overwritten too early"
    x = max(start[0], end[0]) + 0.1
    over = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 1.5}
    y = (start[1] + end[1]) / 2
    pen.write(x, y, words, colour=style.VERMILION, z=6, bbox=over)


def _first_between_warps(run: Showing) -> WrongRead | None:
    """The first wrong read whose cause lies in another warp."""
    for beat in run.beats:
        for wrong in beat.wrong:
            if wrong.culprit and wrong.culprit.lane // WARP_SIZE != wrong.lane // WARP_SIZE:
                return wrong
    return None


def _words(title: str, run: Showing) -> str:
    wrong = int(run.wrong.sum())
    told = f"The kernel {title.split(':')[0]}, one warp after the other:"
    first = _first_between_warps(run)
    if first is not None:
        array, cell = first.read.place
        name = element(array, cell)
        what = "before it is written" if first.late else "after it was overwritten"
        told += f" warp {first.lane // WARP_SIZE} reads {name} {what} by another warp;"
    return f"{told} {wrong} of {run.wrong.size} elements are wrong, {run.nan} of them NaN."
