"""Draw the student's own climb: what each rung that they passed asks for, beside the course's."""

import math
from collections.abc import Sequence
from typing import Any

from course_lib.curriculum import EXERCISES, TASKS
from course_lib.figures import style
from course_lib.figures.pen import Pen, tinted
from course_lib.figures.picture import Picture
from course_lib.own_ladder import LADDERS, Ladder, OwnRung, whole_ladder
from course_lib.wording.words import joined

_ROW = 0.56
_TOP = 0.72
_RAILS = (0.32, 1.72)
_LEFT = 0.2  # of the small rungs
_IN_A_ROW = 5  # of them
_FIRST_BAR, _FULL_BAR = 2.05, 3.2
_RIGHT = style.WIDTH - 0.2
_COUNTER = "global_load_sectors"
_LEAST, _MOST = 256, 262_144  # sectors at the ends of a bar; a product of this size has these
_THICK, _THIN = 0.2, 0.13


@style.drawn
def my_ladder(steps: Sequence[OwnRung] | None = None, of: str = "product") -> Picture:
    """Your own ladder, from the bottom up: sectors loaded by your kernels, beside ours.

    Args:
        steps: the rungs; if None, those of the student whose progress is kept here.
        of: which ladder: "product", or "row softmax" of lesson 10c.
    """
    ladder = LADDERS[of]
    steps = whole_ladder(of=of) if steps is None else steps
    passed = sum(each.passed for each in steps)
    if not passed:
        return _nothing_climbed(steps)
    height = _TOP + _ROW * len(steps) + 0.42
    subtitle = (
        f"{passed} of {len(steps)} rungs climbed. Sectors of global memory that {ladder.phrase} "
        "loads"
    )
    pen = Pen.card(height, "Your ladder", subtitle)
    for x in _RAILS:
        ends = (x, _TOP - 0.06), (x, _TOP + _ROW * len(steps))
        pen.line(*ends, colour=style.GREY, line=4, solid_capstyle="round", z=1)
    for place, each in enumerate(steps):
        _draw_step(pen, _TOP + _ROW * (len(steps) - place - 0.5), each)
    _draw_least(pen, _TOP + _ROW * len(steps), ladder)
    pen.footnote(f"Fewer is better; each doubling adds the same length.{_times(steps, ladder)}")
    return pen.picture(_words(steps, passed, ladder))


def _nothing_climbed(steps: Sequence[OwnRung]) -> Picture:
    """All rungs side by side, small: there is nothing to count yet."""
    first = (
        f"None of {len(steps)} rungs is climbed yet; the first is in lesson {_lesson(steps[0])}."
    )
    pen = Pen.card(_TOP + 0.42 * -(-len(steps) // _IN_A_ROW), "Your ladder", first)
    width = (_RIGHT - _LEFT) / min(len(steps), _IN_A_ROW)
    for place, each in enumerate(steps):
        down, across = divmod(place, _IN_A_ROW)
        y = _TOP + 0.08 + 0.42 * down
        _draw_rung(pen, _LEFT + across * width, y, width - 0.12, each)
    return pen.picture(f"Your own ladder. {first} The rungs: {_listed(steps)}.")


def _listed(steps: Sequence[OwnRung]) -> str:
    return ", ".join(f"{each.rung} (lesson {_lesson(each)})" for each in steps)


def _lesson(step: OwnRung) -> str:
    return {**TASKS, **EXERCISES}[step.title].lesson


def _times(steps: Sequence[OwnRung], ladder: Ladder) -> str:
    """Where the times are from, if there are any."""
    gpus = {each.gpu: None for each in steps if each.time}
    return f" Times: {ladder.timed_size}, {joined(gpus)}." if gpus else ""


def _draw_least(pen: Pen, bottom: float, ladder: Ladder) -> None:
    """A line across all bars where the least of any kernel ends."""
    if ladder.least_sectors:
        x = _FIRST_BAR + _length(ladder.least_sectors)
        pen.line((x, _TOP - 0.06), (x, bottom), colour=style.GREY, line=1, linestyle="dashed", z=0)
        least = f"at least {ladder.least_sectors:,}"
        pen.write(x + 0.06, _TOP - 0.02, least, colour=style.GREY)


def _draw_step(pen: Pen, y: float, step: OwnRung) -> None:
    left, right = _RAILS
    _draw_rung(pen, left - 0.07, y, right - left + 0.14, step)
    if not step.passed:
        words = f"not yet: {step.title}, lesson {_lesson(step)}"
        pen.write(_FIRST_BAR, y, words, colour=style.GREY)
        return
    yours, ours = step.yours.get(_COUNTER), step.ours.get(_COUNTER)
    pen.write(_RIGHT, y - 0.1, step.time, ha="right")
    _draw_bar(pen, y - 0.1, yours, _THICK, f"you {_number(yours)}", True)
    _draw_bar(pen, y + 0.13, ours, _THIN, f"ours {_number(ours)}", False)


def _draw_rung(pen: Pen, left: float, y: float, width: float, step: OwnRung) -> None:
    """One rung with its name; dashed where it is not climbed yet."""
    is_climbed = step.passed
    colour, fill, ink = (
        (style.BLUE, 0.9, style.PAPER) if is_climbed else (style.GREY, 0.06, style.GREY)
    )
    edge = "solid" if is_climbed else "dashed"
    pen.box(left, y - 0.14, width, 0.28, colour=colour, fill=fill, linestyle=edge, z=2)
    looks: dict[str, Any] = {"mono": True, "size": style.NORMAL, "colour": ink, "z": 3}
    pen.write(left + width / 2, y, step.rung, ha="center", **looks)


def _draw_bar(
    pen: Pen, y: float, sectors: int | None, thickness: float, label: str, yours: bool
) -> None:
    length = _length(sectors)
    colour, strength, hatch = (style.BLUE, 0.75, None) if yours else (style.GREY, 0.16, "////")
    looks = {**tinted(colour, strength, 1), "z": 1}
    pen.bar(_FIRST_BAR, y, length, thickness, hatch=hatch, **looks)
    pen.write(_FIRST_BAR + length + 0.08, y, label, bold=yours)


def _length(sectors: int | None) -> float:
    """How long a bar is: a step for each doubling."""
    if not sectors:
        return 0.0
    share = math.log2(max(sectors, _LEAST) / _LEAST) / math.log2(_MOST / _LEAST)
    return _FULL_BAR * min(share, 1.0)


def _number(sectors: int | None) -> str:
    return "not counted" if sectors is None else f"{sectors:,}"


def _words(steps: Sequence[OwnRung], passed: int, ladder: Ladder) -> str:
    told = "; ".join(_step_in_words(each) for each in steps)
    least = f" Any kernel loads at least {ladder.least_sectors:,}." if ladder.least_sectors else ""
    return (
        f"Your own ladder, {passed} of {len(steps)} rungs climbed, from the bottom up, with the "
        f"sectors that {ladder.phrase} loads: {told}.{least}{_times(steps, ladder)}"
    )


def _step_in_words(step: OwnRung) -> str:
    if not step.passed:
        return f"{step.rung} not yet"
    yours, ours = (_number(each.get(_COUNTER)) for each in (step.yours, step.ours))
    time = f", {step.time}" if step.time else ""
    return f"{step.rung} you {yours}, ours {ours}{time}"
