"""Explore sectors of global memory: 32 lanes, and below them the memory lines that they ask for.

The addresses follow a pattern, or the requests are those of one's own kernel.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from course_lib.devices import CACHE_LINE_BYTES, SECTOR_BYTES, WARP_SIZE
from course_lib.figures.explore.own_requests import (
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
    Interactive,
    Scene,
    layers_over,
    painted,
)
from course_lib.figures.picture import Picture
from course_lib.figures.requests import Footprint, Request, footprint_of
from course_lib.wording.words import counted, stretches

WIDTH = 720
_LANE = 21
_OFFSET = 62  # room for the byte offset of a line
_ROW = 21
_PER_LINE = CACHE_LINE_BYTES // SECTOR_BYTES
_FEW, _SOME = 8, 22  # up to so many lines stand in one column, in two
_LARGEST = 2.2  # how far few lines are magnified, so that they fill the room of many


class SectorMap(Chart[Footprint]):
    """The layout of the map: few lines in one column, many in two or three."""

    def __init__(self, top: float, most_lines: int) -> None:
        self.top, self.most_lines = top, most_lines
        self._columns = 1 if most_lines <= _FEW else 2 if most_lines <= _SOME else 3
        self._rows = -(-most_lines // self._columns)
        self._sector = (WIDTH / self._columns - _OFFSET - 6) / _PER_LINE
        self._first = top + 76
        self.height = 76 + _ROW * max(3, self._rows)
        self.bottom = top + self.height + 2

    def draw(self, scene: Scene) -> None:
        """The lanes, the lines, and the sectors and marks that a state puts into place."""
        self._draw_lanes(scene)
        self._draw_key(scene)
        with scene.group("map"):
            self._draw_map(scene)

    def _draw_map(self, scene: Scene) -> None:
        for number in range(self.most_lines):
            x, y = self._corner(number)
            with scene.group(f"line{number}"):
                scene.text(x - 6, y + 14, "", "small muted", "end", f"offset{number}")
                for part in range(_PER_LINE):
                    scene.rect(x + part * self._sector, y, self._sector, _ROW - 4, "cell")
        for number in range(WARP_SIZE):
            # Two groups, since few columns and few rows take less room than many places.
            with scene.group(f"sector{number}"), scene.group(f"down{number}"):
                scene.rect(0, 0, self._sector, _ROW - 4, "a-soft")
                scene.text(self._sector / 2, 11, "", "small", "middle", f"who{number}")
        for lane in range(WARP_SIZE):
            scene.rect(0, 0, 4, 4, "a bare", name=f"mark{lane}")

    def _draw_lanes(self, scene: Scene) -> None:
        scene.text(0, self.top + 15, "lane", "small muted")
        for lane in range(WARP_SIZE):
            x = 40 + lane * _LANE
            scene.cell(x, self.top + 2, _LANE, 18, str(lane), "a-soft", name=f"lane{lane}")

    def _draw_key(self, scene: Scene) -> None:
        y = self.top + 36
        entries = (
            ("cell", f"sector of {SECTOR_BYTES} bytes that is not moved"),
            ("a-soft", "moved for these lanes"),
            ("", "bytes that a lane uses"),
        )
        x = 0.5
        for css, words in entries:
            scene.rect(x, y, 34, 17, css or "a-soft")
            if css == "a-soft":
                scene.text(x + 17, y + 11, "0–7", "small", "middle")
            if not css:
                scene.rect(x, y + 13, 17, 4, "a bare")
            scene.text(x + 40, y + 13, words, "small muted")
            x += 62 + 6.5 * len(words)
        scene.text(_OFFSET - 6, self.top + 70, "byte", "small muted", "end")
        words = f"each row is a line of {CACHE_LINE_BYTES} bytes"
        scene.text(_OFFSET, self.top + 70, words, "small muted")

    def _corner(self, number: int) -> tuple[float, float]:
        column, row = divmod(number, self._rows)
        return column * WIDTH / self._columns + _OFFSET, self._first + row * _ROW

    def _place(self, touched: Footprint, address: int) -> tuple[float, float]:
        """Where a byte lies on the map."""
        x, y = self._corner(touched.lines.index(address // CACHE_LINE_BYTES))
        return x + address % CACHE_LINE_BYTES / SECTOR_BYTES * self._sector, y

    def patch(self, touched: Footprint) -> Changes:
        """The map of one request."""
        scale = self._scale(len(touched.lines))
        shift = self._first * (1 - scale)
        patch: Changes = {"map": {"transform": f"translate(0 {shift:.4g}) scale({scale:.4g})"}}
        for number in range(self.most_lines):
            shown = number < len(touched.lines)
            patch[f"line{number}"] = {"hidden": not shown}
            if shown:
                offset = (touched.lines[number] - touched.lines[0]) * CACHE_LINE_BYTES
                patch[f"offset{number}"] = {"text": f"+{offset:,}"}
        for number in range(WARP_SIZE):
            patch[f"sector{number}"] = {"hidden": number >= len(touched.sectors)}
        for number, sector in enumerate(touched.sectors):
            x, y = self._place(touched, sector * SECTOR_BYTES)
            patch[f"sector{number}"] = {"transform": f"translate({x:g})"}
            patch[f"down{number}"] = {"transform": f"translate(0 {y:g})"}
            patch[f"who{number}"] = {"text": _who(touched, sector)}
        for lane, address in zip(touched.lanes, touched.addresses, strict=True):
            x, y = self._place(touched, address)
            patch[f"mark{lane}"] = {"x": x, "y": y + _ROW - 8}
        for lane in set(range(WARP_SIZE)) - set(touched.lanes):
            patch |= painted(f"lane{lane}", "cell", "small muted dim")
            patch[f"mark{lane}"] = {"hidden": True}
        return patch

    def _scale(self, lines: int) -> float:
        """How far so many lines can be magnified within the room of the most."""
        columns = max(1, -(-lines // self._rows))
        room = self.height - 76
        wide, high = self._columns / columns, room / (_ROW * max(1, min(lines, self._rows)))
        return max(1.0, min(_LARGEST, wide, high))

    def width_patch(self, width: int) -> Changes:
        """How wide a lane's bytes are."""
        wide = width / SECTOR_BYTES * self._sector
        return {f"mark{lane}": {"width": wide - min(1, wide / 4)} for lane in range(WARP_SIZE)}

    def headline(self, touched: Footprint) -> Changes:
        sectors = len(touched.sectors)
        told = f"{touched.percent} of {touched.moved_bytes:,} bytes used"
        return headline(counted(sectors, "sector"), told, sectors > touched.fewest_sectors)

    def cost(self, touched: Footprint) -> int:
        return len(touched.sectors)

    def verdict(self, touched: Footprint) -> str:
        """How many sectors and lines, how many bytes of them count, and why."""
        sectors, lines = len(touched.sectors), len(touched.lines)
        count = (
            f"{counted(sectors, 'sector')} in {counted(lines, 'line')} of "
            f"{CACHE_LINE_BYTES} bytes: {touched.moved_bytes:,} bytes are moved and "
            f"{touched.used_bytes} of them used, {touched.percent}."
        )
        if len(touched.lanes) > 1 and len(set(touched.addresses)) == 1:
            told = "All lanes want one element (a broadcast), so one sector serves them all."
            return f"{count} {told}"
        fewest = touched.fewest_sectors
        if sectors > fewest:
            return f"{count} Side by side, the same bytes would fit into {fewest}."
        return f"{count} Fewer sectors could not hold so many different bytes."


def _who(touched: Footprint, sector: int) -> str:
    """The lanes that want bytes of a sector: "0–7", "3, 19"; scattered ones by number."""
    ends = [(address, address + touched.width - 1) for address in touched.addresses]
    lanes = [
        lane
        for lane, (first, last) in zip(touched.lanes, ends, strict=True)
        if first // SECTOR_BYTES <= sector <= last // SECTOR_BYTES
    ]
    told = stretches(lanes)
    return told if len(told) <= 7 else f"{len(lanes)} lanes"


# --- The figure to play with ----------------------------------------------------------------------


MATRIX_WIDTH = 64  # elements in a row of the matrix that some patterns walk through


def _strided(stride: int) -> Callable[[int], int]:
    return lambda lane: stride * lane


def _tile_rows(width: int) -> Callable[[int], int]:
    return lambda lane: lane // width * MATRIX_WIDTH + lane % width


# What is shown -> the element that lane i asks for.
PATTERNS: dict[str, Callable[[int], int]] = {
    "neighbours: x[i]": _strided(1),
    "stride 2: x[2·i]": _strided(2),
    "stride 3: x[3·i]": _strided(3),
    "stride 4: x[4·i]": _strided(4),
    "stride 8: x[8·i]": _strided(8),
    "stride 32: x[32·i]": _strided(32),
    f"a column, rows of {MATRIX_WIDTH}: X[i, 0]": _strided(MATRIX_WIDTH),
    "all the same: x[0]": _strided(0),
    "reversed: x[31 - i]": lambda lane: WARP_SIZE - 1 - lane,
    "rows of 16: X[i // 16, i % 16]": _tile_rows(16),
    "rows of 8: X[i // 8, i % 8]": _tile_rows(8),
    "rows of 4: X[i // 4, i % 4]": _tile_rows(4),
}
WIDTHS = {4: "4 bytes (float32)", 8: "8 bytes (float64)", 16: "16 bytes (float4)"}
OFFSETS = tuple(range(8))


def explore_sectors(kernel_or_profile: Any = None, *, block: Sequence[int] = (0, 0)) -> Interactive:
    """Which sectors of global memory a request of a warp moves, and how many of its bytes are used.

    Args:
        kernel_or_profile: a launch with `emulate(kernel, trace=True)`, to step through its global
            accesses; without it a pattern to choose.
        block: which block of the launch, as (x, y).
    """
    if kernel_or_profile is None:
        return _of_a_pattern()
    return step_through(
        kernel_or_profile,
        block,
        "global",
        "Your kernel's global memory: which sectors does a warp move?",
        "The lines of {} that load from or store to global memory; the 32 lanes of a warp, and the "
        "sectors of memory that they move.",
        footprint_of,
        lambda top, found: SectorMap(top, max(len(footprint.lines) for footprint in found)),
    )


def warp_access(*requests: Request, itemsize: int = 4) -> Picture:
    """One or two requests: the lanes, the lines, the sectors that move and the bytes that are used.

    Raises ValueError if there are not one or two requests.
    """
    from course_lib.figures.interactive.still import draw_still  # late: it needs matplotlib

    if len(requests) not in (1, 2):
        raise ValueError(f"One or two requests fit a picture, not {len(requests)}.")
    panels, told = [], []
    for request in requests:
        found = request.footprint(itemsize)
        chart = SectorMap(56, len(found.lines))
        panels.append(panel_of(request, itemsize, chart, found))
        told.append(f"{request.title}: {chart.verdict(found)}")
    words = " ".join(told)
    return draw_still("What one warp asks for", panels, f"What one warp asks of memory. {words}")


# -- a pattern -----------------------------------------------------------------------------------


@cache
def pattern_footprint(pattern: str, width: int = 4, offset: int = 0) -> Footprint:
    """What 32 lanes touch; the array begins at an address that 128 divides."""
    elements = [PATTERNS[pattern](lane) + offset for lane in range(WARP_SIZE)]
    return footprint_of([width * element for element in elements], range(WARP_SIZE), width)


_TOP = 70


def _of_a_pattern() -> Interactive:
    names = list(PATTERNS)
    controls = (
        Control("pattern", "lane i asks for", names, kind="choice"),
        Control("width", "an element has", tuple(WIDTHS.values()), kind="choice"),
        Control("offset", "shifted by", [counted(by, "element") for by in OFFSETS]),
    )

    layer = layers_over({"pattern": names, "width": tuple(WIDTHS), "offset": OFFSETS})
    chart = SectorMap(_TOP, WARP_SIZE)
    scene = Scene(WIDTH, chart.bottom)
    scene.text(0, 20, "One load of one warp. Lane i asks for", "muted")
    scene.text(0, 46, "", "mono large", name="formula")
    draw_headline(scene)
    chart.draw(scene)

    def show(*at: Any) -> Changes:
        found = pattern_footprint(*at)
        return chart.patch(found) | chart.headline(found)

    keys = ("pattern", "width", "offset")
    layers = (
        layer(keys, show),
        layer(("width",), chart.width_patch),
        layer(("pattern", "offset"), lambda *at: {"formula": {"text": formula(*at)}}),
    )
    words = (
        layer(("pattern", "offset"), lambda *at: f"Lane i asks for {formula(*at)}."),
        layer(("width",), lambda width: f"An element has {width} bytes."),
        layer(keys, lambda *at: chart.verdict(pattern_footprint(*at))),
    )
    return Interactive(
        "Sectors: what one load of a warp moves",
        scene, controls, layers, words,
        "The 32 lanes of a warp in a row; below them the lines of memory that they ask for, four "
        "sectors each, with the sectors that are moved and the bytes that are used.",
        Examples(
            {name: {"pattern": names.index(pattern), "offset": offset}
             for name, (pattern, offset) in _EXAMPLES.items()},
            "{number}, {detail}",
            lambda name: (0, _TOP + 74, WIDTH, 236 if name in _TALL else 90), 2,
            f"Each row is a line of {CACHE_LINE_BYTES} bytes. Tinted sectors are moved, marked "
            "bytes used",
        ),
    )  # fmt: skip


def formula(pattern: str, offset: int) -> str:
    """The element, as one would write it: "x[2·i + 3]"."""
    element = pattern.split(": ")[1]
    if element.endswith("0]"):
        return f"{element[:-2]}{offset}]"
    return f"{element[:-1]} + {offset}]" if offset else element


_TALL = ("four rows of 8", "a column")  # whose lines need all the room
# By their names the pattern and the shift.
_EXAMPLES = {
    "32 neighbours": ("neighbours: x[i]", 0),
    "off by one": ("neighbours: x[i]", 1),
    "stride 2": ("stride 2: x[2·i]", 0),
    "four rows of 8": ("rows of 8: X[i // 8, i % 8]", 0),
    "all the same": ("all the same: x[0]", 0),
    "a column": (f"a column, rows of {MATRIX_WIDTH}: X[i, 0]", 0),
}
