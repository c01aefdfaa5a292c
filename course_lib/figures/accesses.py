"""Draw what one warp asks of memory: 32 addresses, the sectors they fall into, the bytes moved."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.devices import CACHE_LINE_BYTES, SECTOR_BYTES
from course_lib.figures import style
from course_lib.figures.pen import Looks, Pen
from course_lib.figures.picture import Picture
from course_lib.figures.requests import Footprint, Request
from course_lib.wording.words import counted, stretches


@style.drawn
def warp_access(*requests: Request, itemsize: int = 4) -> Picture:
    """One or two requests side by side: lines, the sectors that are moved, the items that are used.

    Raises:
        ValueError: if there are not one or two requests.
    """
    if len(requests) not in (1, 2):
        raise ValueError(f"One or two requests fit a picture, not {len(requests)}.")
    prints = [request.footprint(itemsize) for request in requests]
    most_lines = max(len(each.lines) for each in prints)
    tall = min(3.1, 0.28 * most_lines)
    figure = style.card(
        2.42 + tall,
        "What one warp asks for",
        f"Each row is a cache line of {CACHE_LINE_BYTES} bytes: "
        f"{CACHE_LINE_BYTES // SECTOR_BYTES} sectors of {SECTOR_BYTES}",
    )
    pen = Pen.on(figure)
    pitch = 7.3 / len(requests)
    for place, (request, found) in enumerate(zip(requests, prints, strict=True)):
        _draw_request(pen, 0.16 + place * pitch, pitch, request, found, tall)
    _draw_key(pen, figure.get_size_inches()[1] - 0.24, itemsize)
    return Picture(figure, _words(requests, prints))


def _draw_request(
    pen: Pen, left: float, pitch: float, request: Request, found: Footprint, tall: float
) -> None:
    colour = style.MATRIX_COLOUR.get(request.array, style.BLUE)
    pen.write(left, 0.84, request.title, bold=True, size=style.NORMAL)
    ink = style.VERMILION if len(found.sectors) > 8 else style.INK
    pen.write(left, 1.12, _sectors(found), colour=ink, bold=True, size=style.LARGE)
    pen.write(left, 1.36, f"{found.moved_bytes:,} bytes moved, {found.percent} of them used")
    width, row_height = pitch - 1.35, min(0.28, tall / len(found.lines))
    lines = pen.at(left + 0.68, 1.78, 1, row_height)
    for place, line in enumerate(found.lines):
        _draw_line(lines.at(0, place, width / CACHE_LINE_BYTES, 0.86), line, found, colour)
    _draw_margins(lines, width, found)


def _sectors(found: Footprint) -> str:
    return f"{counted(len(found.sectors), 'sector')} per request"


def _draw_line(pen: Pen, line: int, found: Footprint, colour: str) -> None:
    """One cache line, a cell to a byte: its four sectors, and the items asked for."""
    for part in range(CACHE_LINE_BYTES // SECTOR_BYTES):
        looks: Looks = {"face": style.PAPER, "edge": style.FAINT, "z": 1}
        if line * CACHE_LINE_BYTES // SECTOR_BYTES + part in found.sectors:
            looks = {"face": style.tint(colour, 0.22), "edge": style.GREY, "z": 2}
        pen.rectangle(part * SECTOR_BYTES, 0, SECTOR_BYTES, 1, line=0.7, **looks)
    for address in sorted(set(found.addresses)):
        if address // CACHE_LINE_BYTES == line:
            looks = {"face": colour, "edge": style.PAPER, "line": 0.6, "z": 3}
            pen.rectangle(address % CACHE_LINE_BYTES, 0, found.width, 1, **looks)


def _draw_margins(pen: Pen, width: float, found: Footprint) -> None:
    """Byte offsets on the left, the lanes that a line serves on the right; every 4th if tight."""
    step, last = 1 if pen.high > 0.15 else 4, len(found.lines) - 1
    above, right = -0.14 / pen.high, width + 0.06
    pen.write(-0.06, above, "byte", ha="right", colour=style.GREY)
    pen.write(right, above, "lane")
    for place, line in enumerate(found.lines):
        if place % step and (place != last or place % step < 2):
            continue
        offset = (line - found.lines[0]) * CACHE_LINE_BYTES
        pen.write(-0.06, place + 0.43, f"+{offset:,}", ha="right", colour=style.GREY)
        pen.write(right, place + 0.43, _span(found.lanes_in_line(line)), ha="left")


def _span(lanes: Sequence[int]) -> str:
    told = stretches(lanes)
    return f"{len(lanes)} of them" if "," in told else told


def _draw_key(pen: Pen, y: float, itemsize: int) -> None:
    entries = (
        (1.0, f"asked for ({itemsize} bytes)"),
        (0.22, f"moved with it ({SECTOR_BYTES}-byte sector)"),
        (0.0, "not moved"),
    )
    x = 0.2
    for strength, words in entries:
        face = style.tint(style.BLUE, strength)
        pen.rectangle(x, y - 0.08, 0.18, 0.16, face=face, edge=style.GREY, line=0.7)
        pen.write(x + 0.26, y, words)
        x += 0.55 + 0.078 * len(words)


def _words(requests: Sequence[Request], prints: Sequence[Footprint]) -> str:
    told = "; ".join(
        f"{request.title}: {_sectors(found)} in "
        f"{counted(len(found.lines), 'cache line')}, "
        f"{found.percent} of the bytes moved are used"
        for request, found in zip(requests, prints, strict=True)
    )
    return f"What one warp asks of memory. {told}."
