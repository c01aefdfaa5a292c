"""Draw a race: two threads or blocks, one cell, what may happen and what helps."""

import ast
import contextlib
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.devices import WARP_SIZE
from course_lib.figures.interactive import Scene
from course_lib.figures.interactive.still import draw_scene
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
    scene = Scene(720, 360)
    _draw_trouble(scene, 12, story)
    _draw_remedy(scene, 196, story)
    return draw_scene(
        scene,
        f"A race on {finding.cell or 'one cell'}",
        _words(finding, story),
        f"Time runs to the right; between the dashed lines nothing orders the two {who}",
    )


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


_LEFT, _RIGHT = 126.0, 708.0
_EARLY, _LATE, _WIDE = _LEFT + 12, _LEFT + 320, 250.0


def _draw_trouble(scene: Scene, top: float, story: _Story) -> None:
    """The order that nothing forbids: the second before the first."""
    scene.text(12, top, "in this kernel, this may happen", "bold trouble")
    first, second = _draw_lanes(scene, top, story)
    for x, words, side in ((_LEFT, story.begin, "start"), (_RIGHT, story.end, "end")):
        scene.line(x, top + 16, x, second + 26, "ink dashed")
        scene.text(x, second + 42, words, "small muted", side)
    _draw_event(scene, _EARLY, second, story.needed_second, "trouble-soft")
    _draw_event(scene, _LATE, first, story.needed_first, "wash")
    if story.needed_first.verb != story.needed_second.verb:
        scene.text(_LATE + 5, first + 33, "too late", "small muted")
    middle = (_LEFT + _RIGHT) / 2
    scene.text(middle, second + 42, f"✗ {story.trouble}", "small trouble", "middle")


def _draw_remedy(scene: Scene, top: float, story: _Story) -> None:
    """The order that is needed, and what keeps it; or two cells where no order helps."""
    scene.text(12, top, story.remedy.title, "bold")
    first, second = _draw_lanes(scene, top, story)
    _draw_event(scene, _EARLY, first, story.needed_first, "c-soft")
    _draw_event(scene, _LATE, second, story.needed_second, "c-soft")
    bar = story.remedy.bar
    if bar:
        x = (_EARLY + _WIDE + _LATE) / 2
        scene.line(x, top + 18, x, second + 24, "a thick")
        scene.text(x, second + 40, bar, "small a" + " mono" * bar.endswith(")"), "middle")
    for x, y in ((_EARLY, first), (_LATE, second)) if not bar else ():
        scene.text(x + 5, y + 34, "into its own cell", "small c")


def _draw_lanes(scene: Scene, top: float, story: _Story) -> tuple[float, float]:
    """A lane for each of the two; returns their heights."""
    heights = top + 42, top + 96
    for event, y in zip((story.needed_first, story.needed_second), heights, strict=True):
        scene.line(_LEFT, y, _RIGHT, y, "faint")
        lines = [event.who, *([f"warp {event.warp}"] if event.warp is not None else [])]
        scene.lines(_LEFT - 10, y + 12 - 8 * len(lines), lines, pitch=16, anchor="end")
    return heights


def _draw_event(scene: Scene, x: float, y: float, event: _Event, css: str) -> None:
    scene.rect(x, y - 20, _WIDE, 40, css, rx=5)
    where = f"{event.verb}, line {event.line}" if event.line is not None else event.verb
    code = shortened(event.code, int((_WIDE - 12) / 7.27))
    scene.text(x + 8, y - 4 if code else y + 4, where, "small")
    if code:
        scene.text(x + 8, y + 14, code, "small mono")


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
