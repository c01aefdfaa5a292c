"""Draw the ladder: every rung with its speed, published or measured, and where we stand lit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib import curriculum
from course_lib.figures import style
from course_lib.figures.pen import Pen, tinted
from course_lib.figures.picture import Picture
from course_lib.measurements import Speeds

_ROW = 0.44
_FIRST_BAR, _FULL_BAR = 2.42, 3.2  # where bars begin, and how long 100 % of cuBLAS is
_RAILS = (0.32, 1.82)


@dataclass(frozen=True)
class _Step:
    """One bar: the share of cuBLAS is its length."""

    name: str
    gflops: float
    share: float


@style.drawn
def ladder(current: str | None = None, *, speeds: Speeds | None = None) -> Picture:
    """The rungs from the bottom up; `current` is the one that is lit.

    With `speeds` (from `course_lib.bench.speeds()`) they are those, with their device and date;
    without, the published ones. Raises ValueError if no rung has that name.
    """
    if speeds is not None and speeds.origin == "measured":
        steps = [
            _Step(name, gflops, speeds.of_cublas[name])
            for name, gflops in speeds.gflops.items()
            if name in speeds.of_cublas
        ]
        return _draw(steps, current, speeds.label, speeds.caption, "measured", "cuBLAS")
    cublas = curriculum.PUBLISHED_CUBLAS_GFLOPS
    steps = [
        _Step(each.name, each.published_gflops, each.published_gflops / cublas)
        for each in curriculum.RUNGS
    ]
    note = f"Published by {curriculum.PUBLISHED_BY}, not measured by us."
    opponent = f"cuBLAS {cublas:,.0f}"
    return _draw(steps, current, curriculum.PUBLISHED_ON, note, "published", opponent)


def _draw(
    steps: Sequence[_Step], current: str | None, where: str, note: str, origin: str, opponent: str
) -> Picture:
    names = [step.name for step in steps]
    if current is not None and current not in names:
        raise ValueError(f"No rung {current!r} on the ladder; there are {', '.join(names)}.")
    here = names.index(current) if current is not None else len(steps)

    height = 1.32 + _ROW * len(steps)
    pen = Pen.card(height, "The ladder", f"{where}: GFLOP/s, and the share of cuBLAS")
    bottom = height - 0.55
    for x in _RAILS:
        ends = (x, bottom + 0.12), (x, bottom - _ROW * len(steps) - 0.1)
        pen.line(*ends, colour=style.GREY, line=4, solid_capstyle="round", z=1)
    _draw_cublas(pen, bottom, len(steps), opponent)
    for place, step in enumerate(steps):
        y = bottom - _ROW * (place + 0.5)
        _draw_rung(pen, y, step, place - here)
        if place:
            gain = step.gflops / steps[place - 1].gflops
            pen.write(2.12, y + _ROW / 2, f"×{gain:.1f}", ha="center", colour=style.GREY)
    pen.footnote(note)
    return pen.picture(_words(steps, current, where, origin, opponent))


def _draw_cublas(pen: Pen, bottom: float, count: int, opponent: str) -> None:
    x = _FIRST_BAR + _FULL_BAR
    top = bottom - _ROW * count
    pen.line((x, bottom), (x, top), colour=style.INK, line=1, linestyle=(0, (4, 3)), z=0)
    pen.write(x, top - 0.05, opponent, va="bottom", ha="center")


def _draw_rung(pen: Pen, y: float, step: _Step, steps_from_here: int) -> None:
    lit, climbed = steps_from_here == 0, steps_from_here < 0
    colour = style.ORANGE if lit else style.BLUE
    strength = 1.0 if lit else 0.75 if climbed else 0.16
    left, right = _RAILS
    edge = colour if lit or climbed else style.GREY
    fill, line = (0.9, 2) if lit else (0.14, 1.2)
    box = left - 0.07, y - 0.13, right - left + 0.14, 0.26
    pen.box(*box, colour=edge, fill=fill, line=line, z=2)
    name: dict[str, Any] = {"mono": True, "bold": lit, "size": style.NORMAL, "z": 3}
    pen.write((left + right) / 2, y, step.name, ha="center", **name)
    length, hatch = _FULL_BAR * step.share, None if lit or climbed else "////"
    looks = {**tinted(colour, strength, 1), "z": 1, "hatch": hatch}
    pen.bar(_FIRST_BAR, y, length, 0.24, label=step.name, **looks)
    label = f"{style.whole(step.gflops)}  ({step.share:.1%})" + ("  ◀ here" if lit else "")
    # A number beside a long bar would sit on cuBLAS's line, so it moves behind it.
    end = max(_FULL_BAR, length) if step.share > 0.6 else length
    pen.write(_FIRST_BAR + end + 0.08, y, label, bold=lit)


def _words(
    steps: Sequence[_Step], current: str | None, where: str, origin: str, opponent: str
) -> str:
    told = ", ".join(f"{step.name} {style.whole(step.gflops)} ({step.share:.1%})" for step in steps)
    against = opponent.removeprefix("cuBLAS").strip()
    cublas = f"cuBLAS ({against})" if against else "cuBLAS"
    here = f" You are on the rung {current}." if current else ""
    return (
        f"The ladder of kernels from slow to fast, {origin} GFLOP/s on {where} and share of "
        f"{cublas}: {told}.{here}"
    )
