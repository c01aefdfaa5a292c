"""Draw the banks of shared memory as columns and wavefronts as rows, with lanes in the cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from course_lib.devices import BANK_WIDTH_BYTES, SHARED_MEMORY_BANKS, WARP_SIZE
from course_lib.figures.bank_passes import Phase
from course_lib.figures.interactive.layers import Patch
from course_lib.figures.interactive.scene import Scene
from course_lib.words import counted

WIDTH = 730
_EXTRA = "trouble-soft dashed"  # dashed: the second sign beside the colour
_LEFT, _COLUMN, _ROW = 46, 21, 13
MOST_PASSES = 32
_MOST_PHASES = 4


def board_height(rows: int = MOST_PASSES) -> float:
    """Of a board with so many rows, and its key."""
    return 46 + rows * _ROW


def draw_board(
    scene: Scene, top: float, width: int = BANK_WIDTH_BYTES, rows: int = MOST_PASSES
) -> None:
    """The empty board: a key, the banks' numbers, a row for each wavefront, and 32 lanes."""
    _draw_key(scene, top)
    scene.text(_LEFT - 6, top + 36, "bank", "small muted", "end")
    for bank in range(SHARED_MEMORY_BANKS):
        scene.text(_LEFT + (bank + 0.5) * _COLUMN, top + 36, str(bank), "small muted", "middle")
    first = top + 42
    board = _COLUMN * SHARED_MEMORY_BANKS
    scene.rect(_LEFT, first, board, rows * _ROW, "cell")
    for bank in range(4, SHARED_MEMORY_BANKS, 4):
        x = _LEFT + bank * _COLUMN
        scene.line(x, first, x, first + rows * _ROW, "faint")
    for number in range(rows):
        scene.text(
            _LEFT - 6, first + (number + 1) * _ROW - 1.5, str(number + 1), "small muted", "end",
            name=f"pass{number}",
        )  # fmt: skip
    # Lane 0 last, so that it lies on top where lanes share a word.
    for lane in reversed(range(WARP_SIZE)):
        # Two groups, since few columns and few rows take less room than many places.
        with scene.group(f"lane{lane}"), scene.group(f"down{lane}"):
            scene.rect(0.5, 0.5, _wide(width), _ROW - 1, "a-soft", name=f"box{lane}")
            scene.text(
                (_wide(width) + 1) / 2, _ROW - 1.5, str(lane), "small", "middle",
                name=f"label{lane}",
            )  # fmt: skip
    for number in range(1, _MOST_PHASES):
        with scene.group(f"phase{number}"):
            scene.line(_LEFT - 30, first, _LEFT + board, first, "thick")


def _wide(width: int) -> float:
    return max(1, width // BANK_WIDTH_BYTES) * _COLUMN - 1


def _draw_key(scene: Scene, top: float) -> None:
    x = float(_LEFT)
    entries = (
        ("a-soft", "lane 7", "7"),
        ("a-soft", "lane 7 and others: the same word", "7+"),
        (_EXTRA, "an extra wavefront: bank conflict", "7"),
    )
    for css, words, label in entries:
        scene.rect(x + 0.5, top + 0.5, _COLUMN - 1, _ROW + 1, css)
        scene.text(x + _COLUMN / 2, top + 12, label, "small", "middle")
        scene.text(x + _COLUMN + 5, top + 12, words, "small muted")
        x += _COLUMN + 20 + 6.6 * len(words)
    scene.line(x, top + 7, x + _COLUMN, top + 7, "thick")
    scene.text(x + _COLUMN + 5, top + 12, "next phase", "small muted")


def width_patch(width: int) -> Patch:
    """What the board looks like for lanes of so many bytes."""
    patch: dict[str, dict[str, str | float]] = {}
    for lane in range(WARP_SIZE):
        patch[f"box{lane}"] = {"width": _wide(width)}
        patch[f"label{lane}"] = {"x": (_wide(width) + 1) / 2}
    return patch


def board_patch(top: float, phases: Sequence[Phase]) -> Patch:
    """Where a request's lanes stand: each in its bank and in the wavefront that serves it."""
    first = top + 42
    patch: dict[str, dict[str, str | bool]] = {}
    starts = [0, *accumulate(phase.passes for phase in phases)]
    for phase, start in zip(phases, starts, strict=False):
        for each in phase.served:
            x, y = _LEFT + each.bank * _COLUMN, first + (start + each.turn) * _ROW
            leader = each.lanes[0]
            # The others lie hidden below their leader, which is drawn last.
            for lane in each.lanes:
                patch[f"lane{lane}"] = {"transform": f"translate({x})"}
                patch[f"down{lane}"] = {"transform": f"translate(0 {y})"}
            patch[f"box{leader}"] = {"class": _EXTRA if each.turn else "a-soft"}
            if len(each.lanes) > 1:
                patch[f"label{leader}"] = {"text": f"{leader}+"}
    for number in range(1, _MOST_PHASES):
        here = number < len(phases)
        move = f"translate(0 {starts[number] * _ROW})" if here else "translate(0 0)"
        patch[f"phase{number}"] = {"transform": move, "hidden": not here}
    for number in range(starts[-1]):
        patch[f"pass{number}"] = {"class": "small bold"}
    return patch


def hide_others(phases: Sequence[Phase]) -> Patch:
    """Hides the lanes that take no part."""
    active = {lane for phase in phases for each in phase.served for lane in each.lanes}
    return {f"lane{lane}": {"hidden": lane not in active} for lane in range(WARP_SIZE)}


def passes_of(phases: Sequence[Phase]) -> int:
    """Wavefronts of the whole request."""
    return sum(phase.passes for phase in phases)


def degree_of(phases: Sequence[Phase]) -> int:
    """The most different words that one bank is asked for in a phase."""
    return max((phase.passes for phase in phases), default=0)


def verdict(phases: Sequence[Phase], width: int) -> str:
    """What the board shows, in one or two sentences."""
    passes, needed = passes_of(phases), len(phases)
    count = counted(passes, "wavefront")
    if width > BANK_WIDTH_BYTES:
        lanes = phases[0].last_lane + 1 - phases[0].first_lane
        served = f"{counted(needed, 'phase')} of {lanes} lanes"
        count = f"{width} bytes a lane are served in {served}: {count}"
    if passes == needed:
        return f"{count}. No bank is asked for two different words: no conflict."
    degree = degree_of(phases)
    inside = "" if needed == 1 else " in one phase"
    return (
        f"{count} where {needed} would do. The busiest bank is asked for {degree} different "
        f"words{inside}: {_article(degree)} {degree}-way bank conflict."
    )


def _article(number: int) -> str:
    return "an" if number in (8, 11, 18) else "a"


def headline(phases: Sequence[Phase]) -> Patch:
    """The two big numbers beside the title; for texts called "number" and "detail"."""
    passes, needed, degree = passes_of(phases), len(phases), degree_of(phases)
    bad = passes > needed
    return {
        "number": {
            "text": counted(passes, "wavefront") + (" ⚠" if bad else " ✓"),
            "class": "huge bold trouble" if bad else "huge bold",
        },
        "detail": {
            "text": f"degree {degree} · at least {needed} needed",
            "class": "trouble" if bad else "muted",
        },
    }
