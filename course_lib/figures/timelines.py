"""Draw a race: two threads or blocks, one cell, what may happen and what helps."""

import ast
import contextlib
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.devices import WARP_SIZE
from course_lib.figures import style
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture
from course_lib.figures.requests import source_line
from course_lib.wording.findings import Finding
from course_lib.wording.words import shortened


@dataclass(frozen=True)
class _Event:
    """One thread's access to the cell; or a block's, where blocks race with each other."""

    verb: str  # "reads" or "writes"
    who: str  # "thread (3, 0)" or "block (1, 0)"
    line: int | None
    code: str
    warp: int | None


@dataclass(frozen=True)
class _Remedy:
    """What puts the race right: a line in time that both pass, or no shared cell at all."""

    title: str
    words: str  # the same for the text
    bar: str = ""  # what to write at the line that separates the two; "" where nothing can


@dataclass(frozen=True)
class _Story:
    """How the two events should be ordered, what happens otherwise, and what helps."""

    needed_first: _Event
    needed_second: _Event
    trouble: str
    remedy: _Remedy
    begin: str  # what ends the stretch of time in which nothing orders the two
    end: str


# Of each code: what the first does, and the second; the trouble, and the rule that helps.
_TOLD = {
    "race-read-after-write": (
        "writes", "reads", "the reader gets what was there before", "stocked before anyone uses it",
    ),
    "race-write-after-read": (
        "reads", "writes", "the reader gets the next tile's value",
        "everyone done before restocking",
    ),
    "race-write-after-write": (
        "writes", "writes", "whoever writes last wins", "one after the other, or one writer only",
    ),
}  # fmt: skip


@style.drawn
def barrier_timeline(finding: Finding, profile: Any = None) -> Picture:
    """The two threads of a race as swim lanes: what may happen, and what helps.

    Args:
        finding: a race found by the emulator; it names lines, threads and the cell.
        profile: the launch it was found in; with it, the picture shows code, warps and barriers.

    Raises:
        ValueError: if the finding is not a race between two threads.
    """
    if finding.code not in _TOLD or len(finding.threads) < 2:
        raise ValueError(f"{finding.code} is not a race between two threads.")
    story = _story(finding, profile)
    who = "blocks" if finding.blocks else "threads"
    pen = Pen.card(
        4.5,
        f"A race on {finding.cell or 'one cell'}",
        f"Time runs to the right; between the dashed lines nothing orders the two {who}",
    )
    _draw_trouble(pen, 0.84, story)
    _draw_remedy(pen, 2.75, story)
    return pen.picture(_words(finding, story))


def _story(finding: Finding, profile: Any) -> _Story:
    """Who has to come first: a finding lists the threads in the order of the program.

    Its line is where the second of them is, its other line where the first is.
    """
    first_verb, second_verb, trouble, rule = _TOLD[finding.code]
    if finding.blocks:
        trouble = trouble.replace("next tile's", "new")
    first = _event(first_verb, finding, 0, finding.other_line, profile)
    second = _event(second_verb, finding, 1, finding.line, profile)
    same_warp = first.warp is not None and first.warp == second.warp
    begin, end = _limits(finding, profile)
    return _Story(first, second, trouble, _remedy(finding, rule, same_warp), begin, end)


def _remedy(finding: Finding, rule: str, same_warp: bool) -> _Remedy:
    """A barrier orders the threads of a block; nothing but the end of a launch orders blocks."""
    writes = finding.code == "race-write-after-write"
    if writes and (finding.blocks or finding.line == finding.other_line):
        words = "a cell of its own for each writer, or an atomic operation"
        return _Remedy(f"what helps: {words}", words)
    if finding.blocks:
        return _Remedy(
            "what helps: two launches, as no barrier spans blocks",
            "two launches, the second of which begins when the first has ended",
            "end of the first launch",
        )
    one_warp = ", or cuda.syncwarp() as both are of one warp" if same_warp else ""
    return _Remedy(
        f"with a barrier: {rule}",
        f"cuda.syncthreads() between them{one_warp}; {rule}",
        "cuda.syncthreads()",
    )


def _limits(finding: Finding, profile: Any) -> tuple[str, str]:
    """Between what nothing orders the two: the launch for blocks, else two barriers."""
    if finding.blocks:
        return "launch", "end"
    if profile is None or finding.line is None or finding.other_line is None:
        return "", ""
    barriers = sorted(number for number, line in profile.lines.items() if line.barriers)
    lines = sorted((finding.line, finding.other_line))
    if _in_loop(profile, lines):
        # Which barrier came last depends on the round, unless there is only one.
        names = [f"barrier, line {number}" for number in barriers] or ["start of kernel", "end"]
        return (names[0], names[-1]) if len(barriers) < 2 else _OF_A_ROUND
    before = [number for number in barriers if number < lines[0]]
    after = [number for number in barriers if number > lines[1]]
    return (
        f"barrier, line {before[-1]}" if before else "start of kernel",
        f"barrier, line {after[0]}" if after else "end of kernel",
    )


_OF_A_ROUND = ("last barrier", "next barrier")


def _in_loop(profile: Any, lines: Sequence[int]) -> bool:
    """Whether one of these lines is executed again and again."""
    with contextlib.suppress(SyntaxError):
        for node in ast.walk(ast.parse(textwrap.dedent(profile.source))):
            if isinstance(node, ast.For | ast.While):
                first = node.lineno + profile.first_line - 1
                last = (node.end_lineno or node.lineno) + profile.first_line - 1
                if any(first <= line <= last for line in lines):
                    return True
    return False


def _event(verb: str, finding: Finding, place: int, line: int | None, profile: Any) -> _Event:
    """An access, with its code and its warp where the launch is known."""
    thread = finding.threads[place]
    who = f"block {_tuple(finding.blocks[place])}" if finding.blocks else f"thread {_tuple(thread)}"
    if profile is None:
        return _Event(verb, who, line, "", None)
    code = "" if line is None else source_line(profile, line)
    x, y, z = (*thread, 0, 0)[:3]
    size_x, size_y = (*profile.block, 1, 1)[:2]
    warp = None if finding.blocks else (x + size_x * (y + size_y * z)) // WARP_SIZE
    return _Event(verb, who, line, code, warp)


_LEFT, _RIGHT = 1.35, 7.4
_LANE = 0.56


_EARLY, _LATE, _WIDE = _LEFT + 0.12, _LEFT + 3.33, 2.6


def _draw_trouble(pen: Pen, top: float, story: _Story) -> None:
    """The order that nothing forbids: the second before the first."""
    _draw_title(pen, top, "in this kernel, this may happen", style.VERMILION)
    first, second = _draw_lanes(pen, top, story)
    for x, words, side in ((_LEFT, story.begin, "left"), (_RIGHT, story.end, "right")):
        ends = (x, top + 0.24), (x, second + 0.26)
        pen.line(*ends, colour=style.INK, line=1.2, linestyle=(0, (3, 2)))
        pen.write(x, second + 0.38, words, ha=side, colour=style.GREY)
    _draw_event(pen, (_EARLY, _WIDE), second, story.needed_second, style.VERMILION)
    _draw_event(pen, (_LATE, _WIDE), first, story.needed_first, style.GREY)
    if story.needed_first.verb != story.needed_second.verb:
        pen.write(_LATE + 0.05, first + 0.29, "too late", colour=style.GREY)
    middle, words = (_LEFT + _RIGHT) / 2, f"✗ {story.trouble}"
    pen.write(middle, second + 0.38, words, ha="center", colour=style.VERMILION, bold=True)


def _draw_remedy(pen: Pen, top: float, story: _Story) -> None:
    """The order that is needed, and what keeps it; or two cells where no order helps."""
    _draw_title(pen, top, story.remedy.title, style.INK)
    first, second = _draw_lanes(pen, top, story)
    _draw_event(pen, (_EARLY, _WIDE), first, story.needed_first, style.GREEN)
    _draw_event(pen, (_LATE, _WIDE), second, story.needed_second, style.GREEN)
    if story.remedy.bar:
        _draw_bar(pen, (_EARLY + _WIDE + _LATE) / 2, top + 0.26, second + 0.24, story.remedy.bar)
    else:
        for x, y in ((_EARLY, first), (_LATE, second)):
            pen.write(x + 0.05, y + 0.32, "into its own cell", colour=style.GREEN)


def _draw_title(pen: Pen, top: float, words: str, colour: str) -> None:
    pen.write(0.2, top + 0.05, words, bold=True, colour=colour, size=style.NORMAL)


def _draw_lanes(pen: Pen, top: float, story: _Story) -> tuple[float, float]:
    """A lane for each of the two; returns their heights."""
    heights = top + 0.5, top + 0.5 + _LANE
    for event, y in zip((story.needed_first, story.needed_second), heights, strict=True):
        pen.line((_LEFT, y), (_RIGHT, y), colour=style.FAINT, line=2, z=0)
        warp = f"\nwarp {event.warp}" if event.warp is not None else ""
        pen.write(_LEFT - 0.12, y, event.who + warp, ha="right", linespacing=1.15)
    return heights


def _draw_event(pen: Pen, span: tuple[float, float], y: float, event: _Event, colour: str) -> None:
    x, width = span
    pen.box(x, y - 0.2, width, 0.4, colour=colour, fill=0.16, z=3)
    where = f"line {event.line}" if event.line is not None else ""
    room = int((width - 0.12) / 0.0757)
    code = shortened(event.code, room)
    if code:
        pen.write(x + 0.08, y - 0.085, f"{event.verb}, {where}", z=4)
        pen.write(x + 0.08, y + 0.09, code, mono=True, z=4)
    else:
        pen.write(x + 0.08, y, f"{event.verb}, {where}".rstrip(", "), z=4)


def _draw_bar(pen: Pen, x: float, top: float, bottom: float, words: str) -> None:
    pen.line((x, top), (x, bottom), colour=style.BLUE, line=5, solid_capstyle="butt", z=5)
    code = words.endswith(")")
    pen.write(x, bottom + 0.03, words, va="top", ha="center", colour=style.BLUE, mono=code)


def _tuple(thread: Sequence[int]) -> str:
    """(x, y) of a thread; z only where it is not 0."""
    shown = tuple(thread[:2]) if len(thread) < 3 or thread[2] == 0 else tuple(thread)
    return str(shown)


def _words(finding: Finding, story: _Story) -> str:
    first, second = story.needed_first, story.needed_second
    return (
        f"A race on {finding.cell or 'one cell'}. It may happen that {second.who} "
        f"{second.verb} it at line {second.line} before {first.who} {first.verb} it at "
        f"line {first.line}: {story.trouble}. What helps: {story.remedy.words}."
    )
