"""Draw the banks of shared memory as columns and wavefronts as rows, with lanes in the cells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any

from course_lib.devices import BANK_WIDTH_BYTES, SHARED_MEMORY_BANKS, WARP_SIZE
from course_lib.figures.explore.own_requests import (
    AccessLine,
    OwnSteps,
    costliest,
    note,
    own_controls,
    own_requests,
    why_nothing,
)
from course_lib.figures.interactive.layers import Control, Layer, Patch, layers_over
from course_lib.figures.interactive.player import Interactive
from course_lib.figures.interactive.scene import Scene
from course_lib.figures.picture import Picture
from course_lib.figures.requests import Phase, phases_of
from course_lib.wording.words import counted

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


# --- Play with the banks of shared memory: a made-up tile, or the requests of one's own kernel ----


WIDTHS = {4: "4 bytes (float32)", 8: "8 bytes (float64)", 16: "16 bytes (float4)"}
ROW_LENGTHS = (1, 2, 3, 4, 8, 16, 24, 31, 32, 33, 64)
CURES = ("none", "+1 column", "XOR row & 7", "XOR row & 15", "XOR row & 31")
WALKS = (
    "tile[i, 0]: down a column",
    "tile[i // L, i % L]: along the rows",
    "tile[0, 0]: all the same",
    "tile[i // 16, 0]: one per half warp",
)


def explore_banks(
    kernel_or_profile: Any = None,
    *,
    block: Sequence[int] = (0, 0),
) -> Interactive:
    """Which bank of shared memory serves which lane, and how many wavefronts a request takes.

    Args:
        kernel_or_profile: a launch with `emulate(kernel, trace=True)`, to step through its shared
            accesses; without it a tile whose rows, padding and swizzle can be set.
        block: which block of the launch, as (x, y).
    """
    if kernel_or_profile is None:
        return _of_a_tile()
    return _of_a_launch(kernel_or_profile, block)


# -- a made-up tile ------------------------------------------------------------------------------


def tile_elements(walk: int, row_length: int, cure: str) -> list[int]:
    """The element that each lane asks for, counted along the rows of the tile as it is stored."""
    pitch = row_length + (cure == "+1 column")
    mask = _mask(cure, row_length)
    cells = {
        0: [(lane, 0) for lane in range(WARP_SIZE)],
        1: [(lane // row_length, lane % row_length) for lane in range(WARP_SIZE)],
        2: [(0, 0)] * WARP_SIZE,
        3: [(lane // 16, 0) for lane in range(WARP_SIZE)],
    }[walk]
    return [row * pitch + (column ^ (row & mask)) for row, column in cells]


def _mask(cure: str, row_length: int) -> int:
    """The bits of the row that are mixed into the column; 0 where they would leave the row."""
    mask = int(cure.rsplit(" ", 1)[1]) if cure.startswith("XOR") else 0
    return mask if row_length % (mask + 1) == 0 else 0


@cache
def tile_phases(walk: int, row_length: int, cure: str, width: int) -> tuple[Phase, ...]:
    """How the banks serve the 32 lanes."""
    elements = tile_elements(walk, row_length, cure)
    return phases_of([width * each for each in elements], range(WARP_SIZE), width)


_TILE_TOP = 74


def _of_a_tile() -> Interactive:
    controls = (
        Control("walk", "lane i reads", WALKS, kind="choice"),
        Control("length", "row length L (stride)", list(map(str, ROW_LENGTHS)),
                ROW_LENGTHS.index(32)),
        Control("cure", "against conflicts", CURES, kind="choice"),
        Control("width", "a lane takes", tuple(WIDTHS.values()), kind="choice"),
    )  # fmt: skip

    layer = layers_over(
        {"walk": range(len(WALKS)), "length": ROW_LENGTHS, "cure": CURES, "width": tuple(WIDTHS)}
    )

    def place(*at: Any) -> Patch:
        found = tile_phases(*at)
        return {**board_patch(_TILE_TOP, found), **headline(found)}

    def formula(walk: int, length: int, cure: str) -> Patch:
        return {"formula": {"text": _formula(walk, length, cure)}}

    keys = ("walk", "length", "cure", "width")
    layers = (
        layer(keys, place),
        layer(("width",), width_patch),
        layer(("walk", "length", "cure"), formula),
    )
    words = (
        layer(("walk",), lambda walk: f"Lane i reads {WALKS[walk]}."),
        layer(("length", "cure"), _layout),
        layer(keys, lambda *at: verdict(tile_phases(*at), at[3])),
    )
    return Interactive(
        "32 banks: which lane is served in which wavefront?",
        _tile_scene(), controls, layers, words, _tile_still,
        "A board of 32 columns, the banks of shared memory, and a row for each wavefront. Each of "
        "the 32 lanes stands in the bank that holds its word and in the wavefront that serves it.",
    )  # fmt: skip


def _tile_scene() -> Scene:
    scene = Scene(WIDTH, _TILE_TOP + board_height() + 4)
    scene.text(0, 20, "So lane i reads the element at place", "muted")
    scene.text(0, 44, "", "mono large", name="formula")
    scene.text(0, 62, "bank = (byte address / 4) mod 32", "small muted")
    scene.text(720, 24, "", "huge bold", "end", name="number")
    scene.text(720, 46, "", "muted", "end", name="detail")
    draw_board(scene, _TILE_TOP)
    return scene


def _tile_still() -> Picture:
    from course_lib.figures.stills import bank_examples  # late: it needs matplotlib

    examples = (
        ("along a row", 1, 32, "none"),
        ("down a column of 32 × 32", 0, 32, "none"),
        ("the same, +1 column", 0, 32, "+1 column"),
        ("the same, XOR row & 7", 0, 32, "XOR row & 7"),
        ("the same, XOR row & 31", 0, 32, "XOR row & 31"),
        ("one word for each half", 3, 16, "none"),
    )
    return bank_examples(
        [(name, tile_elements(walk, length, cure)) for name, walk, length, cure in examples]
    )


def _formula(walk: int, row_length: int, cure: str) -> str:
    """Where lane i's element lies, counted in elements from the start of the tile."""
    pitch, mask = row_length + (cure == "+1 column"), _mask(cure, row_length)
    if walk == 2:
        return "0"
    row = {0: "i", 1: f"i // {row_length}", 3: "i // 16"}[walk]
    column = f"i % {row_length}" if walk == 1 else "0"
    if walk == 1 and row_length >= WARP_SIZE:
        return "i"
    product = f"{row} × {pitch}" if row == "i" else f"({row}) × {pitch}"
    if mask:
        mixed = f"({row}) & {mask}" if "/" in row else f"{row} & {mask}"
        return (
            f"{product} + ({mixed})" if column == "0" else f"{product} + (({column}) ^ ({mixed}))"
        )
    return product if column == "0" else f"{product} + {column}"


def _layout(row_length: int, cure: str) -> str:
    rows = f"Rows of {counted(row_length, 'element')}"
    if cure == "none":
        return f"{rows}, stored one after another."
    if cure == "+1 column":
        return f"{rows} and one that stays empty: {row_length + 1} to the next row."
    if _mask(cure, row_length):
        return f"{rows}; column c of row r is stored at place c ^ (r & {cure.rsplit(' ', 1)[1]})."
    return f"{rows}: too few for {cure}, which would leave the row, so nothing is changed."


# -- the student's own kernel --------------------------------------------------------------------

_OWN_TITLE = "Your kernel's shared memory: which lane is served in which wavefront?"


def _of_a_launch(profile: Any, block: Sequence[int]) -> Interactive:
    why = why_nothing(profile, "shared", block)
    if why:
        return note(_OWN_TITLE, why)
    own = own_requests(profile, "shared", block)
    steps = OwnSteps(own, profile)
    top = steps.bottom + 8

    def phases(place: int, warp: int, visit: int) -> tuple[Phase, ...]:
        asked = own.places[place].asked(warp, visit)
        if asked is None:
            return ()
        return phases_of(asked.addresses, asked.lanes, own.places[place].itemsize)

    def show(*at: int) -> Patch:
        found = phases(*at)
        number = headline(found) if found else {"number": {"text": "–"}}
        return {**board_patch(top, found), **number}

    def say(place: int, *at: int) -> str:
        found = phases(place, *at)
        return verdict(found, own.places[place].itemsize) if found else ""

    keys = ("place", "warp", "visit")
    rows = max(8, *(passes_of(phases(*at)) for at in own.positions()))
    scene = Scene(WIDTH, top + board_height(rows) + 4)
    steps.draw(scene)
    draw_board(scene, top, own.places[0].itemsize, rows)
    layers = [
        *steps.layers(),
        Layer(keys, show),
        Layer(keys, lambda *at: hide_others(phases(*at))),
        Layer(("place",), lambda at: width_patch(own.places[at].itemsize)),
    ]
    words = [Layer(keys, steps.asked), Layer(keys, say), *steps.last_words()]
    return Interactive(
        _OWN_TITLE, scene, own_controls(own), layers, words,
        lambda: _own_still(own.places),
        f"The lines of {profile.kernel_name} that use shared memory, and a board of 32 banks: each "
        "lane stands in the bank that holds its word and in the wavefront that serves it.",
        clicks=steps.clicks(),
    )  # fmt: skip


def _own_still(places: Sequence[AccessLine]) -> Picture:
    """The costliest request of the launch, drawn with its words."""
    from course_lib.figures.lanes import lane_to_bank
    from course_lib.figures.requests import Request  # late: they need matplotlib

    place, asked = costliest(places, lambda *each: passes_of(phases_of(*each)))
    request = Request(f"the costliest: {place.name}", asked.addresses, asked.lanes, place.array)
    return lane_to_bank(request, itemsize=place.itemsize)
