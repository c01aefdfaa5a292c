"""Explore banks of shared memory: a column each, a row for each wavefront, lanes in the cells.

The tile is a made-up one, or the requests are those of one's own kernel.
"""

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Any

from course_lib.devices import BANK_WIDTH_BYTES, SHARED_MEMORY_BANKS, WARP_SIZE
from course_lib.figures.explore.own_requests import (
    WIDTH,
    Chart,
    draw_headline,
    headline,
    panel_of,
    step_through,
)
from course_lib.figures.interactive import (
    Changes,
    Control,
    Examples,
    Grid,
    Interactive,
    Scene,
    layers_over,
)
from course_lib.figures.picture import Picture
from course_lib.figures.requests import Phase, Request, phases_of
from course_lib.wording.words import counted

_EXTRA = "trouble-soft dashed"  # dashed: the second sign beside the colour
_LEFT, _COLUMN, _ROW = 46, 21, 13
MOST_PASSES = 32
_MOST_PHASES = 4


class BankBoard(Chart[Sequence[Phase]]):
    """A column for each bank and a row for each wavefront, with lanes in the cells."""

    def __init__(
        self, top: float, rows: int = MOST_PASSES, width: int = BANK_WIDTH_BYTES
    ) -> None:  # fmt: skip
        self.top, self.rows, self.width = top, rows, width
        self.grid = Grid(_LEFT, top + 42, (rows, SHARED_MEMORY_BANKS), _COLUMN, _ROW)
        self.bottom = self.grid.bottom + 8

    def draw(self, scene: Scene) -> None:
        """The empty board: a key, the banks' numbers, a row for each wavefront, and 32 lanes."""
        self._draw_key(scene)
        grid, above = self.grid, self.top + 36
        scene.text(_LEFT - 6, above, "bank", "small muted", "end")
        for bank in range(SHARED_MEMORY_BANKS):
            x = grid.corner(0, bank + 0.5)[0]
            scene.text(x, above, str(bank), "small muted", "middle")
        scene.path(grid.outline(), "cell")
        for bank in range(4, SHARED_MEMORY_BANKS, 4):
            scene.line(*grid.corner(0, bank), *grid.corner(self.rows, bank), "faint")
        for number in range(self.rows):
            y = grid.corner(number + 1, 0)[1] - 1.5
            words = str(number + 1)
            scene.text(_LEFT - 6, y, words, "small muted", "end", name=f"pass{number}")
        # Lane 0 last, so that it lies on top where lanes share a word.
        for lane in reversed(range(WARP_SIZE)):
            # Two groups, since few columns and few rows take less room than many places.
            with scene.group(f"lane{lane}"), scene.group(f"down{lane}"):
                box = (0.5, 0.5, _wide(self.width), _ROW - 1)
                scene.cell(*box, str(lane), "a-soft", name=f"box{lane}")
        for number in range(1, _MOST_PHASES):
            with scene.group(f"phase{number}"):
                scene.line(_LEFT - 30, grid.y, grid.right, grid.y, "thick")

    def _draw_key(self, scene: Scene) -> None:
        x, top = float(_LEFT), self.top
        entries = (
            ("a-soft", "lane 7", "7"),
            ("a-soft", "lane 7 and others: the same word", "7+"),
            (_EXTRA, "an extra wavefront: bank conflict", "7"),
        )
        for css, words, label in entries:
            scene.cell(x + 0.5, top + 0.5, _COLUMN - 1, _ROW + 1, label, css)
            scene.text(x + _COLUMN + 5, top + 12, words, "small muted")
            x += _COLUMN + 20 + 6.6 * len(words)
        scene.line(x, top + 7, x + _COLUMN, top + 7, "thick")
        scene.text(x + _COLUMN + 5, top + 12, "next phase", "small muted")

    def width_patch(self, width: int) -> Changes:
        boxes = {f"box{lane}": {"width": _wide(width)} for lane in range(WARP_SIZE)}
        return boxes | {f"tbox{lane}": {"x": (_wide(width) + 1) / 2} for lane in range(WARP_SIZE)}

    def patch(self, phases: Sequence[Phase]) -> Changes:
        """Each lane in its bank and in the wavefront that serves it."""
        patch: Changes = {f"lane{lane}": {"hidden": True} for lane in range(WARP_SIZE)}
        starts = [0, *accumulate(phase.passes for phase in phases)]
        for phase, start in zip(phases, starts, strict=False):
            for served in phase.served:
                x, y = self.grid.corner(start + served.turn, served.bank)
                leader = served.lanes[0]
                # The others lie hidden below their leader, which is drawn last.
                for lane in served.lanes:
                    patch[f"lane{lane}"] = {"transform": f"translate({x})"}
                    patch[f"down{lane}"] = {"transform": f"translate(0 {y})"}
                patch[f"box{leader}"] = {"class": _EXTRA if served.turn else "a-soft"}
                if len(served.lanes) > 1:
                    patch[f"tbox{leader}"] = {"text": f"{leader}+"}
        for number in range(1, _MOST_PHASES):
            here = number < len(phases)
            move = f"translate(0 {starts[number] * _ROW})" if here else "translate(0 0)"
            patch[f"phase{number}"] = {"transform": move, "hidden": not here}
        return patch | {f"pass{number}": {"class": "small bold"} for number in range(starts[-1])}

    def headline(self, phases: Sequence[Phase]) -> Changes:
        passes, needed = passes_of(phases), len(phases)
        degree = max((phase.passes for phase in phases), default=0)
        told = f"degree {degree} · at least {needed} needed"
        return headline(counted(passes, "wavefront"), told, passes > needed)

    def cost(self, phases: Sequence[Phase]) -> int:
        return passes_of(phases)

    def verdict(self, phases: Sequence[Phase]) -> str:
        """How many wavefronts, in how many phases, and why."""
        passes, needed = passes_of(phases), len(phases)
        count = counted(passes, "wavefront")
        width = BANK_WIDTH_BYTES * phases[0].served[0].banks
        if width > BANK_WIDTH_BYTES:
            lanes = phases[0].last_lane + 1 - phases[0].first_lane
            served = f"{counted(needed, 'phase')} of {lanes} lanes"
            count = f"{width} bytes a lane are served in {served}: {count}"
        if passes == needed:
            return f"{count}. No bank is asked for two different words: no conflict."
        degree = max(phase.passes for phase in phases)
        inside = "" if needed == 1 else " in one phase"
        article = "an" if degree in (8, 11, 18) else "a"
        return (
            f"{count} where {needed} would do. The busiest bank is asked for {degree} different "
            f"words{inside}: {article} {degree}-way bank conflict."
        )


def _wide(width: int) -> float:
    return max(1, width // BANK_WIDTH_BYTES) * _COLUMN - 1


def passes_of(phases: Sequence[Phase]) -> int:
    """The wavefronts of the whole request."""
    return sum(phase.passes for phase in phases)


# --- The figure to play with ----------------------------------------------------------------------


WIDTHS = {4: "4 bytes (float32)", 8: "8 bytes (float64)", 16: "16 bytes (float4)"}
ROW_LENGTHS = (1, 2, 3, 4, 8, 16, 24, 31, 32, 33, 64)
CURES = ("none", "+1 column", "XOR row & 7", "XOR row & 15", "XOR row & 31")
WALKS = (
    "tile[i, 0]: down a column",
    "tile[i // L, i % L]: along the rows",
    "tile[0, 0]: all the same",
    "tile[i // 16, 0]: one per half warp",
)


def explore_banks(kernel_or_profile: Any = None, *, block: Sequence[int] = (0, 0)) -> Interactive:
    """Which bank of shared memory serves which lane, and how many wavefronts a request takes.

    Args:
        kernel_or_profile: a launch with `emulate(kernel, trace=True)`, to step through its shared
            accesses; without it a tile whose rows, padding and swizzle can be set.
        block: which block of the launch, as (x, y).
    """
    if kernel_or_profile is None:
        return _of_a_tile()
    return step_through(
        kernel_or_profile,
        block,
        "shared",
        "Your kernel's shared memory: which lane is served in which wavefront?",
        "The lines of {} that use shared memory, and a board of 32 banks: each lane is shown "
        "in the bank that holds its word and in the wavefront that serves it.",
        phases_of,
        lambda top, found: BankBoard(top, max(8, *map(passes_of, found))),
    )


def lane_to_bank(request: Request, *, itemsize: int = 4) -> Picture:
    """Which bank of shared memory each lane's word lies in, and how many wavefronts that takes."""
    from course_lib.figures.interactive.still import draw_still  # late: it needs matplotlib

    phases = phases_of(request.addresses, request.active, itemsize)
    board = BankBoard(56, passes_of(phases), itemsize)
    return draw_still(
        "Lane, bank, wavefront",
        [panel_of(request, itemsize, board, phases)],
        f"Which banks the lanes of a warp ask. {request.title}: {board.verdict(phases)}",
        subtitle=f"Word n of shared memory is in bank n mod {SHARED_MEMORY_BANKS}; a bank delivers "
        "one word per wavefront",
        below=board.verdict(phases),
    )


# -- a made-up tile ------------------------------------------------------------------------------


def tile_elements(walk: int, row_length: int, cure: str) -> list[int]:
    """The element that each lane asks for, counted along the rows of the tile as stored."""
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
    return phases_of([width * element for element in elements], range(WARP_SIZE), width)


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

    board = BankBoard(_TILE_TOP)
    scene = Scene(WIDTH, board.bottom)
    scene.text(0, 20, "So lane i reads the element at place", "muted")
    scene.text(0, 44, "", "mono large", name="formula")
    scene.text(0, 62, "bank = (byte address / 4) mod 32", "small muted")
    draw_headline(scene)
    board.draw(scene)

    def place(*at: Any) -> Changes:
        found = tile_phases(*at)
        return board.patch(found) | board.headline(found)

    keys = ("walk", "length", "cure", "width")
    layers = (
        layer(keys, place),
        layer(("width",), board.width_patch),
        layer(keys[:3], lambda *at: {"formula": {"text": _formula(*at)}}),
    )
    words = (
        layer(("walk",), lambda walk: f"Lane i reads {WALKS[walk]}."),
        layer(("length", "cure"), _layout),
        layer(keys, lambda *at: board.verdict(tile_phases(*at))),
    )
    return Interactive(
        "32 banks: which lane is served in which wavefront?",
        scene, controls, layers, words,
        "A board of 32 columns, the banks of shared memory, and a row for each wavefront. "
        "Each of the 32 lanes is shown in the bank that holds its word and in the wavefront "
        "that serves it.",
        Examples(
            {name: {"walk": walk, "length": ROW_LENGTHS.index(length), "cure": CURES.index(cure)}
             for name, (walk, length, cure) in _EXAMPLES.items()},
            "{number}", lambda _: (board.grid.x - 2, board.grid.y - 2, 676, 420), 3,
            "32 banks, wavefronts downwards, a box for each lane; dashed: bank conflicts",
        ),
    )  # fmt: skip


# By their names the walk, the row length and the cure.
_EXAMPLES = {
    "along a row": (1, 32, "none"),
    "down a column of 32 × 32": (0, 32, "none"),
    "the same, +1 column": (0, 32, "+1 column"),
    "the same, XOR row & 7": (0, 32, "XOR row & 7"),
    "the same, XOR row & 31": (0, 32, "XOR row & 31"),
    "one word for each half": (3, 16, "none"),
}


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
