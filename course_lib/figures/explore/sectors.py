"""Play with sectors: a pattern of addresses, or the requests of one's own kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from course_lib.devices import WARP_SIZE
from course_lib.figures.explore import sector_map
from course_lib.figures.explore.notes import note
from course_lib.figures.explore.own_requests import AccessLine, costliest, own_requests, why_nothing
from course_lib.figures.explore.own_steps import OwnSteps, own_controls
from course_lib.figures.explore.sector_map import SectorMap
from course_lib.figures.footprint import Footprint, footprint_of
from course_lib.figures.interactive.controls import Control
from course_lib.figures.interactive.layers import Layer, Patch, layers_over
from course_lib.figures.interactive.player import Interactive
from course_lib.figures.interactive.scene import Scene
from course_lib.figures.picture import Picture
from course_lib.words import counted

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


def explore_sectors(
    kernel_or_profile: Any = None,
    *,
    block: Sequence[int] = (0, 0),
) -> Interactive:
    """Which sectors of global memory one request of a warp moves, and how many of its bytes count.

    Args:
        kernel_or_profile: a launch with `emulate(kernel, trace=True)`, to step through its global
            accesses; without it a pattern to choose.
        block: which block of the launch, as (x, y).
    """
    if kernel_or_profile is None:
        return _of_a_pattern()
    return _of_a_launch(kernel_or_profile, block)


# -- a pattern -----------------------------------------------------------------------------------


@cache
def pattern_footprint(pattern: str, width: int = 4, offset: int = 0) -> Footprint:
    """What 32 lanes touch; the array begins at an address that 128 divides."""
    elements = [PATTERNS[pattern](lane) + offset for lane in range(WARP_SIZE)]
    return footprint_of([width * each for each in elements], range(WARP_SIZE), width)


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
    scene = Scene(sector_map.WIDTH, _TOP + chart.height + 2)
    scene.text(0, 20, "One load of one warp. Lane i asks for", "muted")
    scene.text(0, 46, "", "mono large", name="formula")
    scene.text(720, 24, "", "huge bold", "end", name="number")
    scene.text(720, 46, "", "muted", "end", name="detail")
    chart.draw(scene)

    def show(*at: Any) -> Patch:
        found = pattern_footprint(*at)
        return {**chart.patch(found), **sector_map.headline(found)}

    keys = ("pattern", "width", "offset")
    layers = (
        layer(keys, show),
        layer(("width",), chart.width_patch),
        layer(("pattern", "offset"), lambda *at: {"formula": {"text": formula(*at)}}),
    )
    words = (
        layer(("pattern", "offset"), lambda *at: f"Lane i asks for {formula(*at)}."),
        layer(("width",), lambda width: f"An element has {width} bytes."),
        layer(keys, lambda *at: sector_map.verdict(pattern_footprint(*at))),
    )
    return Interactive(
        "Sectors: what one load of a warp moves",
        scene, controls, layers, words, _pattern_still,
        "The 32 lanes of a warp in a row; below them the lines of memory that they ask for, four "
        "sectors each, with the sectors that are moved and the bytes that are used.",
    )  # fmt: skip


def formula(pattern: str, offset: int) -> str:
    """The element, as one would write it: "x[2·i + 3]"."""
    element = pattern.split(": ")[1]
    if element.endswith("0]"):
        return f"{element[:-2]}{offset}]"
    return f"{element[:-1]} + {offset}]" if offset else element


def _pattern_still() -> Picture:
    from course_lib.figures.explore.stills import sector_examples  # late: it needs matplotlib

    examples = (
        ("32 neighbours", "neighbours: x[i]", 0),
        ("off by one", "neighbours: x[i]", 1),
        ("stride 2", "stride 2: x[2·i]", 0),
        ("four rows of 8", "rows of 8: X[i // 8, i % 8]", 0),
        ("all the same", "all the same: x[0]", 0),
        ("a column", f"a column, rows of {MATRIX_WIDTH}: X[i, 0]", 0),
    )
    return sector_examples(
        [(name, pattern_footprint(pattern, 4, offset)) for name, pattern, offset in examples]
    )


# -- the student's own kernel --------------------------------------------------------------------

_OWN_TITLE = "Your kernel's global memory: which sectors does a warp move?"


def _of_a_launch(profile: Any, block: Sequence[int]) -> Interactive:
    why = why_nothing(profile, "global", block)
    if why:
        return note(_OWN_TITLE, why)
    own = own_requests(profile, "global", block)
    steps = OwnSteps(own, profile)

    def touched(place: int, warp: int, visit: int) -> Footprint | None:
        asked = own.places[place].asked(warp, visit)
        if asked is None:
            return None
        return footprint_of(asked.addresses, asked.lanes, own.places[place].itemsize)

    found: dict[tuple[int, ...], Footprint | None] = {at: touched(*at) for at in own.positions()}
    most = max(len(each.lines) for each in found.values() if each)
    chart = SectorMap(steps.bottom + 4, most)

    def show(*at: int) -> Patch:
        here = found[at]
        if here is None:
            nothing = Footprint((), (), 4, (), ())
            return {**chart.patch(nothing), **chart.active_patch(()), "number": {"text": "–"}}
        return {
            **_joined(chart.patch(here), chart.active_patch(here.lanes)),
            **sector_map.headline(here),
        }

    scene = Scene(sector_map.WIDTH, chart.top + chart.height + 2)
    steps.draw(scene)
    chart.draw(scene)
    keys = ("place", "warp", "visit")
    layers = [
        *steps.layers(),
        Layer(keys, show),
        Layer(("place",), lambda at: chart.width_patch(own.places[at].itemsize)),
    ]
    told = Layer(keys, lambda *at: sector_map.verdict(here) if (here := found[at]) else "")
    words = [Layer(keys, steps.asked), told, *steps.last_words()]
    return Interactive(
        _OWN_TITLE, scene, own_controls(own), layers, words,
        lambda: _own_still(own.places),
        f"The lines of {profile.kernel_name} that load from or store to global memory; the 32 "
        "lanes of a warp, and the sectors of memory that they move.",
        clicks=steps.clicks(),
    )  # fmt: skip


def _joined(first: Patch, second: Patch) -> Patch:
    return {name: {**first.get(name, {}), **second.get(name, {})} for name in {**first, **second}}


def _own_still(places: Sequence[AccessLine]) -> Picture:
    """The request that moves most for what it uses, drawn with its words."""
    from course_lib.figures.lanes import lane_to_sector
    from course_lib.figures.requests import Request  # late: they need matplotlib

    place, asked = costliest(places, lambda *each: len(footprint_of(*each).sectors))
    request = Request(f"the costliest: {place.name}", asked.addresses, asked.lanes, place.array)
    return lane_to_sector(request, itemsize=place.itemsize)
