"""Draw 32 lanes above, and below them the memory lines that they ask for, sector by sector."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.devices import CACHE_LINE_BYTES, SECTOR_BYTES, WARP_SIZE
from course_lib.figures.footprint import Footprint
from course_lib.figures.interactive.layers import Patch
from course_lib.figures.interactive.scene import Scene
from course_lib.words import counted, stretches

WIDTH = 720
_LANE = 21
_OFFSET = 62  # room for the byte offset of a line
_ROW = 21
_PER_LINE = CACHE_LINE_BYTES // SECTOR_BYTES
_FEW, _SOME = 8, 22  # up to so many lines stand in one column, in two
_LARGEST = 2.2  # how far few lines are magnified, so that they fill the room of many


class SectorMap:
    """Where things stand on the map: few lines in one column, many in two or three."""

    def __init__(self, top: float, most_lines: int) -> None:
        self.top, self.most_lines = top, most_lines
        self._columns = 1 if most_lines <= _FEW else 2 if most_lines <= _SOME else 3
        self._rows = -(-most_lines // self._columns)
        self._sector = (WIDTH / self._columns - _OFFSET - 6) / _PER_LINE
        self._first = top + 76
        self.height = 76 + _ROW * max(3, self._rows)

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
            scene.rect(x, self.top + 2, _LANE, 18, "a-soft", f"lane{lane}")
            scene.text(x + _LANE / 2, self.top + 15, str(lane), "small", "middle", f"number{lane}")

    def _draw_key(self, scene: Scene) -> None:
        y = self.top + 36
        entries = (
            ("cell", f"sector of {SECTOR_BYTES} bytes, stays in memory"),
            ("a-soft", "moved, for these lanes"),
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

    def patch(self, touched: Footprint) -> Patch:
        """The map of one request."""
        scale = self._scale(len(touched.lines))
        shift = self._first * (1 - scale)
        patch: dict[str, dict[str, str | float | bool]] = {
            "map": {"transform": f"translate(0 {shift:.4g}) scale({scale:.4g})"}
        }
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
        return patch

    def _scale(self, lines: int) -> float:
        """How far so many lines can be magnified within the room of the most."""
        columns = max(1, -(-lines // self._rows))
        room = self.height - 76
        wide, high = self._columns / columns, room / (_ROW * max(1, min(lines, self._rows)))
        return max(1.0, min(_LARGEST, wide, high))

    def width_patch(self, width: int) -> Patch:
        """How wide a lane's bytes are."""
        wide = width / SECTOR_BYTES * self._sector
        return {f"mark{lane}": {"width": wide - min(1, wide / 4)} for lane in range(WARP_SIZE)}

    def active_patch(self, lanes: Sequence[int]) -> Patch:
        """Pales the lanes that take no part."""
        patch: dict[str, dict[str, str | bool]] = {}
        for lane in set(range(WARP_SIZE)) - set(lanes):
            patch[f"lane{lane}"] = {"class": "cell"}
            patch[f"number{lane}"] = {"class": "small muted dim"}
            patch[f"mark{lane}"] = {"hidden": True}
        return patch


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


def verdict(touched: Footprint) -> str:
    """What the map shows, in one or two sentences."""
    sectors, lines = len(touched.sectors), len(touched.lines)
    count = (
        f"{counted(sectors, 'sector')} in {counted(lines, 'line')} of "
        f"{CACHE_LINE_BYTES} bytes: {touched.moved_bytes:,} bytes are moved and "
        f"{touched.used_bytes} of them used, {touched.percent}."
    )
    if len(touched.lanes) > 1 and len(set(touched.addresses)) == 1:
        return f"{count} All want one element (a broadcast), so one sector serves all."
    fewest = touched.fewest_sectors
    if sectors > fewest:
        return f"{count} Side by side, the same bytes would fit into {fewest}."
    return f"{count} Fewer sectors could not hold so many different bytes."


def headline(touched: Footprint) -> Patch:
    """The two big numbers beside the title; for texts called "number" and "detail"."""
    sectors, fewest = len(touched.sectors), touched.fewest_sectors
    bad = sectors > fewest
    return {
        "number": {
            "text": counted(sectors, "sector") + (" ⚠" if bad else " ✓"),
            "class": "huge bold trouble" if bad else "huge bold",
        },
        "detail": {
            "text": f"{touched.percent} of {touched.moved_bytes:,} bytes used",
            "class": "trouble" if bad else "muted",
        },
    }
