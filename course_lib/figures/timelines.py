"""Draw a race: two threads, one cell, the order that may happen and the order that is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from course_lib.devices import WARP_SIZE
from course_lib.figures import style
from course_lib.figures.picture import Picture
from course_lib.findings import Finding


@dataclass(frozen=True)
class _Event:
    """One thread's access to the cell."""

    verb: str  # "reads" or "writes"
    thread: tuple[int, ...]
    line: int | None
    code: str
    warp: int | None


@dataclass(frozen=True)
class _Story:
    """How the two events should be ordered, and what happens otherwise."""

    needed_first: _Event
    needed_second: _Event
    trouble: str
    rule: str


_TOLD = {
    "race-read-after-write": (
        "the reader gets what was there before",
        "stocked before anyone uses it",
    ),
    "race-write-after-read": (
        "the reader gets the next tile's value",
        "everyone done before restocking",
    ),
    "race-write-after-write": (
        "whoever writes last wins",
        "one after the other, or one writer only",
    ),
}


@style.drawn
def barrier_timeline(finding: Finding, profile: Any = None) -> Picture:
    """The two threads of a race as swim lanes: without a barrier, and with one.

    Args:
        finding: a race found by the emulator; it names lines, threads and the cell.
        profile: the launch it was found in; with it, the picture shows code and warps.

    Raises:
        ValueError: if the finding is not a race between two threads.
    """
    if finding.code not in _TOLD or len(finding.threads) < 2:
        raise ValueError(f"{finding.code} is not a race between two threads.")
    story = _story(finding, profile)
    figure = style.card(
        4.35,
        f"A race on {finding.cell or 'one cell'}",
        "Time runs to the right; nothing orders the two threads except a barrier",
    )
    axes = style.canvas(figure)
    _draw_panel(axes, 0.84, story, with_barrier=False)
    _draw_panel(axes, 2.6, story, with_barrier=True)
    return Picture(figure, _words(finding, story))


def _story(finding: Finding, profile: Any) -> _Story:
    """Who has to come first: a finding lists the threads in the order of the program.

    Its line is where the second of them is, its other line where the first is.
    """
    first_verb, second_verb = {
        "race-read-after-write": ("writes", "reads"),
        "race-write-after-read": ("reads", "writes"),
        "race-write-after-write": ("writes", "writes"),
    }[finding.code]
    first, second = finding.threads[:2]
    trouble, rule = _TOLD[finding.code]
    return _Story(
        _event(first_verb, first, finding.other_line, profile),
        _event(second_verb, second, finding.line, profile),
        trouble,
        rule,
    )


def _event(verb: str, thread: tuple[int, ...], line: int | None, profile: Any) -> _Event:
    """An access, with its code and its warp where the launch is known."""
    if profile is None:
        return _Event(verb, thread, line, "", None)
    lines = profile.source.split("\n")
    offset = -1 if line is None else line - profile.first_line
    code = lines[offset].strip() if 0 <= offset < len(lines) else ""
    x, y, z = (*thread, 0, 0)[:3]
    size_x, size_y = (*profile.block, 1, 1)[:2]
    return _Event(verb, thread, line, code, (x + size_x * (y + size_y * z)) // WARP_SIZE)


_LEFT, _RIGHT = 1.35, 7.4
_LANE = 0.52


def _draw_panel(axes: Axes, top: float, story: _Story, *, with_barrier: bool) -> None:
    title = (
        f"with the barrier: {story.rule}" if with_barrier else "without a barrier, this may happen"
    )
    style.write(
        axes,
        0.2,
        top + 0.05,
        title,
        fontweight="bold",
        color=style.INK if with_barrier else style.VERMILION,
        fontsize=style.NORMAL,
    )
    y = {id(story.needed_first): top + 0.5, id(story.needed_second): top + 0.5 + _LANE}
    for event in (story.needed_first, story.needed_second):
        lane = y[id(event)]
        axes.plot([_LEFT, _RIGHT], [lane, lane], color=style.FAINT, linewidth=2, zorder=0)
        warp = f"\nwarp {event.warp}" if event.warp is not None else ""
        style.write(
            axes,
            _LEFT - 0.12,
            lane,
            f"thread {_tuple(event.thread)}{warp}",
            ha="right",
            linespacing=1.15,
        )
    early, late = (_LEFT + 0.1, 2.6), (_LEFT + 3.35, 2.6)
    if with_barrier:
        _draw_event(axes, early, y[id(story.needed_first)], story.needed_first, style.GREEN)
        _draw_event(axes, late, y[id(story.needed_second)], story.needed_second, style.GREEN)
        _draw_barrier(axes, _LEFT + 3.02, top + 0.26, top + 0.76 + _LANE)
    else:
        _draw_event(axes, early, y[id(story.needed_second)], story.needed_second, style.VERMILION)
        _draw_event(axes, late, y[id(story.needed_first)], story.needed_first, style.GREY)
        style.write(
            axes,
            _LEFT + 0.15,
            top + 0.8 + _LANE,
            f"✗ {story.trouble}",
            va="top",
            color=style.VERMILION,
            fontweight="bold",
        )
        style.write(axes, _LEFT + 3.4, top + 0.28 + _LANE, "too late", color=style.GREY)


def _draw_event(
    axes: Axes, span: tuple[float, float], y: float, event: _Event, colour: str
) -> None:
    x, width = span
    style.box(axes, x, y - 0.2, width, 0.4, colour=colour, fill=0.16, zorder=3)
    where = f"line {event.line}" if event.line is not None else ""
    room = int((width - 0.12) / 0.0757)
    code = event.code if len(event.code) <= room else event.code[: room - 1] + "…"
    if code:
        style.write(axes, x + 0.08, y - 0.085, f"{event.verb}, {where}", zorder=4)
        style.write(axes, x + 0.08, y + 0.09, code, fontfamily=style.MONO, zorder=4)
    else:
        style.write(axes, x + 0.08, y, f"{event.verb}, {where}".rstrip(", "), zorder=4)


def _draw_barrier(axes: Axes, x: float, top: float, bottom: float) -> None:
    axes.plot([x, x], [top, bottom], color=style.BLUE, linewidth=5, solid_capstyle="butt", zorder=5)
    style.write(
        axes,
        x,
        bottom + 0.03,
        "cuda.syncthreads()",
        va="top",
        ha="center",
        fontfamily=style.MONO,
        color=style.BLUE,
    )


def _tuple(thread: Sequence[int]) -> str:
    """(x, y) of a thread; z only where it is not 0."""
    shown = tuple(thread[:2]) if len(thread) < 3 or thread[2] == 0 else tuple(thread)
    return str(shown)


def _words(finding: Finding, story: _Story) -> str:
    first, second = story.needed_first, story.needed_second
    return (
        f"A race on {finding.cell or 'one cell'}. Without a barrier, thread "
        f"{_tuple(second.thread)} {second.verb} it at line {second.line} before thread "
        f"{_tuple(first.thread)} {first.verb} it at line {first.line}: {story.trouble}. "
        f"With cuda.syncthreads() between them, thread {_tuple(first.thread)} comes first: "
        f"{story.rule}."
    )
