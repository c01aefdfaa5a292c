"""Draw a card of a rung just passed, to be shared: what it is, and what it counts. It names nobody.

An SVG of 1200 x 630, the shape in which links are shown elsewhere. Browsers copy it as a picture.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Sequence

from course_lib.own_ladder import COLUMNS, LADDERS, OwnRung, whole_ladder
from course_lib.web import escape

WIDTH, HEIGHT = 1200, 630
MOST_BARS = 8  # the newest of them
_LEFT, _TOP, _ROOM = 64, 300, 210  # of the bars
_LABELS = 330  # room for a rung's name
_SECTORS = "global_load_sectors"
_BARS_ARE = "Sectors of global memory that each rung loads; a doubling adds a fixed length"
_INK, _PAPER, _MUTED, _GREEN, _GREY = "#1b1f24", "#ffffff", "#59616d", "#009e73", "#c3c9d1"


def image_of(rungs: Sequence[OwnRung]) -> str:
    """The card as an `<img>`; "" where no rung of the ladder is new.

    Args:
        rungs: those that were passed, from the bottom up.
    """
    newest = next((rung for rung in rungs if rung.is_new), None)
    if newest is None:
        return ""
    data = base64.b64encode(svg_of(newest, rungs).encode()).decode()
    said = escape(f"{headline(newest, rungs)}. {gain(newest, rungs)}")
    return f'<img class="share" alt="{said}" src="data:image/svg+xml;base64,{data}">'


def svg_of(newest: OwnRung, rungs: Sequence[OwnRung]) -> str:
    """The card's text as SVG."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, DejaVu Sans, sans-serif">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{_PAPER}"/>'
        f'<rect width="16" height="{HEIGHT}" fill="{_GREEN}"/>'
        f"{''.join(_texts(newest, rungs))}{''.join(_bars(rungs))}</svg>"
    )


def headline(newest: OwnRung, rungs: Sequence[OwnRung]) -> str:
    """ "matmul_tiled: 3 of 11 rungs climbed"."""
    return f"{newest.title}: {_climbed(newest, rungs)}"


def _climbed(newest: OwnRung, rungs: Sequence[OwnRung]) -> str:
    of = next(name for name, ladder in LADDERS.items() if ladder is newest.ladder)
    return f"{len(rungs)} of {len(whole_ladder(of=of))} rungs climbed"


def gain(newest: OwnRung, rungs: Sequence[OwnRung]) -> str:
    """What the rung saves beside the one below, in the first counter that falls; "" for none."""
    place = rungs.index(newest)
    if not place:
        return ""
    below = rungs[place - 1]
    for name, counter in COLUMNS.items():
        before, now = below.yours.get(counter, 0), newest.yours.get(counter, 0)
        if 0 < now < before:
            return f"{before / now:.3g}× fewer {name} than {below.title}"
    return ""


def _texts(newest: OwnRung, rungs: Sequence[OwnRung]) -> Iterator[str]:
    yield _text(_LEFT, 76, 26, f"Matmul Ladder · {_climbed(newest, rungs)}", _MUTED)
    yield _text(_LEFT, 142, 54, newest.title, bold=True)
    yield _text(_LEFT, 190, 28, gain(newest, rungs))
    if newest.time:
        size = newest.ladder.timed_size
        yield _text(_LEFT, 228, 24, f"{newest.time} for {size} on {newest.gpu}", _MUTED)
    yield _text(_LEFT, _TOP - 28, 24, _BARS_ARE, _MUTED)
    foot = f"Judged on an emulated GPU, which counted {newest.ladder.phrase}."
    yield _text(_LEFT, HEIGHT - 44, 24, foot, _MUTED)


def _bars(rungs: Sequence[OwnRung]) -> Iterator[str]:
    """One bar for each rung, the newest on top; each doubling adds the same length."""
    shown = [rung for rung in rungs if rung.yours.get(_SECTORS)][-MOST_BARS:]
    if not shown:
        return
    lengths = [math.log2(rung.yours[_SECTORS]) for rung in shown]
    lowest = min(lengths) - 2  # so that the shortest bar is one, too
    step = _ROOM / MOST_BARS + 6
    for place, (rung, length) in enumerate(zip(reversed(shown), reversed(lengths), strict=True)):
        y = _TOP + step * place
        width = 560 * (length - lowest) / (max(lengths) - lowest)
        colour = _GREEN if rung.is_new else _GREY
        x = _LEFT + _LABELS
        yield _text(_LEFT, y + 19, 22, rung.title, bold=rung.is_new)
        yield f'<rect x="{x}" y="{y:.0f}" width="{width:.0f}" height="24" fill="{colour}"/>'
        yield _text(x + width + 12, y + 19, 22, f"{rung.yours[_SECTORS]:,}", bold=rung.is_new)


def _text(x: float, y: float, size: int, words: str, colour: str = _INK, bold: bool = False) -> str:
    weight = ' font-weight="700"' if bold else ""
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{colour}"{weight}>'
        f"{escape(words)}</text>"
    )
