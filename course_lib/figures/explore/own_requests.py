"""Step through the memory requests of one's own kernel: line by line, warp by warp."""

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from course_lib.figures.interactive import Changes, Control, Examples, Interactive, Layer, Scene
from course_lib.figures.interactive.scene import Panel
from course_lib.figures.requests import Lanes, Request, lanes_by_warp, source_line, touches_memory
from course_lib.wording.words import counted, element, joined, nth, shortened


def note(title: str, sentence: str) -> Interactive:
    """A figure that says why there is nothing to play with, and what to do about it."""
    lines = textwrap.wrap(sentence, 92)
    scene = Scene(720, 16 + 20 * len(lines))
    for number, line in enumerate(lines):
        scene.text(8, 22 + 20 * number, line)
    everything = Examples(part=lambda _: (0, 0, scene.width, scene.height))
    return Interactive(title, scene, (), (), Layer((), {(): sentence}), sentence, everything)


# --- Requests of a traced launch by line, warp and visit (each time a warp comes by) --------------


MOST_PLACES = 8
MOST_WARPS = 8
MOST_VISITS = 16
MOST_STATES = 256


@dataclass(frozen=True, eq=False)
class Asked:
    """One request of one warp: what its active lanes ask for."""

    lanes: np.ndarray
    addresses: np.ndarray
    indices: np.ndarray  # of the elements, shape (lanes, axes)

    def cells(self, array: str) -> str:
        """The first different elements: "A[0, 0], A[1, 0], A[2, 0] and so on"."""
        different = list(dict.fromkeys(map(tuple, self.indices.tolist())))
        named = [element(array, fromkey) for fromkey in different[:3]]
        if len(different) == 1 < len(self.indices):
            return f"one element, {named[0]}"
        return ", ".join(named) + (" and so on" if len(different) > len(named) else "")


@dataclass(frozen=True, eq=False)
class AccessLine:
    """A line of the kernel that loads from, or stores to, one array; with all its requests."""

    line: int
    kind: str
    array: str
    space: str
    itemsize: int
    source: str
    warps: tuple[tuple[Asked | None, ...], ...]  # warp -> visits

    @property
    def name(self) -> str:
        """ "line 12, load of sA"."""
        return f"line {self.line}, {self.kind} of {self.array}"

    def asked(self, warp: int, visit: int) -> Asked | None:
        """The request, or None where this warp has no such one."""
        requests = self.warps[warp] if warp < len(self.warps) else ()
        return requests[visit] if visit < len(requests) else None

    def request(self, warp: int, visit: int) -> tuple[np.ndarray, np.ndarray, int]:
        """Addresses, lanes, and the bytes of a lane; none where this warp has no such request."""
        asked, nothing = self.asked(warp, visit), np.empty(0, np.int64)
        addresses, lanes = (asked.addresses, asked.lanes) if asked else (nothing, nothing)
        return addresses, lanes, self.itemsize


@dataclass(frozen=True, eq=False)
class OwnRequests:
    """The requests that a figure can step through, and a sentence on those that it leaves out."""

    places: tuple[AccessLine, ...]
    warps: int
    visits: int
    left_out: str

    def positions(self) -> Iterator[tuple[int, int, int]]:
        """Every place, warp and visit."""
        return product(range(len(self.places)), range(self.warps), range(self.visits))


def own_requests(
    profile: Any, space: Literal["global", "shared"], block: Sequence[int] = (0, 0)
) -> OwnRequests:
    """The loads and stores of one block of a traced launch, as many as a figure can hold."""
    found = _by_place(profile, space, block)
    places = [_place(profile, space, key, requests) for key, requests in found.items()]
    places.sort(key=lambda place: (place.line, place.kind, place.array))
    kept = tuple(places[:MOST_PLACES])
    most_warps = max((len(place.warps) for place in kept), default=0)
    most = max((len(requests) for place in kept for requests in place.warps), default=0)
    warps = min(most_warps, MOST_WARPS)
    room = MOST_STATES // max(1, len(kept) * warps)
    visits = min(most, MOST_VISITS, room)
    shown = (
        (len(kept), len(places), "lines"),
        (warps, most_warps, "warps"),
        (visits, most, "visits of a warp"),
    )
    left_out = [f"the first {few} of {many} {what}" for few, many, what in shown if few < many]
    return OwnRequests(kept, warps, visits, joined(left_out))


def why_nothing(profile: Any, space: str, block: Sequence[int] = (0, 0)) -> str:
    """A sentence if this is no launch to step through; nothing if it is."""
    launch = "course_lib.emulate(kernel, trace=True)[grid, block](...)"
    if not hasattr(profile, "kernel_name"):
        return (
            "This is no launch: one draws the accesses of a run, not of a kernel. Launch it with "
            f"profile = {launch} and give the profile."
        )
    name = profile.kernel_name
    if not profile.trace and (
        not profile.counted or (profile.executed and touches_memory(profile))
    ):
        return f"This launch of {name} was not traced. Launch it with {launch}."
    accesses = [access for access in profile.trace if access.space == space]
    if not accesses:
        if not profile.trace:
            return f"{name} touches no memory yet. Write it, run this cell again, and look."
        return f"{name} neither loads from nor stores to {space} memory: nothing to draw."
    if not _by_place(profile, space, block):
        x, y, z = profile.grid
        return (
            f"Block {tuple(block)} of {name} loads and stores nothing in {space} memory. "
            f"The grid has {x} × {y} × {z} blocks, numbered from 0."
        )
    return ""


_Key = tuple[int, str, str, int]
_ByWarp = dict[int, list[Asked | None]]


def _by_place(profile: Any, space: str, block: Sequence[int]) -> dict[_Key, _ByWarp]:
    """(line, kind, array, elements a lane) -> warp -> its requests in order.

    None stands for those that nobody will see.
    """
    found: dict[_Key, _ByWarp] = {}
    whose: dict[bytes, Lanes] = {}  # a launch traces the same threads again and again
    for access in profile.trace:
        if access.space != space or access.kind == "atomic":
            continue
        kind = "load" if access.kind == "load" else "store"
        key = access.threads.tobytes()
        if key not in whose:
            whose[key] = lanes_by_warp(access.threads, profile.block, block)
        by_warp = found.setdefault((access.line, kind, access.array, access.elements), {})
        for warp, (chosen, lanes) in whose[key].items():
            visits = by_warp.setdefault(warp, [])
            seen = len(visits) < MOST_VISITS
            visits.append(
                Asked(lanes, access.addresses[chosen], access.indices[chosen]) if seen else None
            )
    return {key: by_warp for key, by_warp in found.items() if by_warp}


def _place(profile: Any, space: str, key: _Key, requests: _ByWarp) -> AccessLine:
    line, kind, array, elements = key
    warps = tuple(tuple(requests.get(warp, ())) for warp in range(max(requests) + 1))
    size = elements * _itemsize(profile, array)  # a wide access is one of a wide element
    return AccessLine(line, kind, array, space, size, source_line(profile, line), warps)


def _itemsize(profile: Any, array: str) -> int:
    if array in profile.arrays:
        return int(profile.arrays[array].dtype.itemsize)
    sizes = [use.dtype.itemsize for use in profile.shared_arrays if use.name == array]
    return int(sizes[0]) if sizes else 4


# --- The steps, each on a chart -------------------------------------------------------------------


WIDTH = 730
_LINE = 20
_MOST_LETTERS = 50


Found = TypeVar("Found")


class Chart(ABC, Generic[Found]):
    """Draws a request of a warp, once its banks or its sectors are known."""

    bottom: float

    @abstractmethod
    def draw(self, scene: Scene) -> None:
        """What every request needs."""

    @abstractmethod
    def patch(self, found: Found) -> Changes:
        """The request, and the lanes that take part."""

    @abstractmethod
    def width_patch(self, width: int) -> Changes:
        """How wide the bytes of a lane are."""

    @abstractmethod
    def headline(self, found: Found) -> Changes:
        """The two large numbers."""

    @abstractmethod
    def verdict(self, found: Found) -> str:
        """What the chart shows, in one or two sentences."""

    @abstractmethod
    def cost(self, found: Found) -> int:
        """How much the request asks of memory."""


def panel_of(request: Request, width: int, chart: Chart[Found], found: Found) -> Panel:
    """The chart of a single request, with `width` bytes a lane, for a picture."""
    scene = Scene(WIDTH, chart.bottom)
    scene.text(0, 24, request.title, "bold")
    draw_headline(scene)
    chart.draw(scene)
    changes = chart.patch(found) | chart.headline(found)
    for name, wide in chart.width_patch(width).items():
        changes[name] = {**changes.get(name, {}), **wide}
    return Panel(scene, changes)


def draw_headline(scene: Scene) -> None:
    """Room for two numbers at the right."""
    scene.text(720, 24, "", "huge bold", "end", name="number")
    scene.text(720, 46, "", "muted", "end", name="detail")


def headline(number: str, detail: str, bad: bool) -> Changes:
    """A number with its sign, and what it means."""
    return {
        "number": {"text": f"{number} {'⚠' if bad else '✓'}", "class": _HUGE[bad]},
        "detail": {"text": detail, "class": "trouble" if bad else "muted"},
    }


_HUGE = ("huge bold", "huge bold trouble")


def step_through(
    profile: Any, block: Sequence[int], space: Literal["global", "shared"], title: str, alt: str,
    read: Callable[[np.ndarray, np.ndarray, int], Found],
    chart_of: Callable[[float, list[Found]], Chart[Found]],
) -> Interactive:  # fmt: skip
    """The requests of a block of a launch, one after the other, each on a chart.

    Args:
        title, alt: of the figure; `{}` in `alt` is the kernel.
        read: what a request touches, from its addresses, its lanes and the bytes of a lane.
        chart_of: the chart, from where it begins and all that it has to show.
    """
    why = why_nothing(profile, space, block)
    if why:
        return note(title, why)
    own = own_requests(profile, space, block)
    steps = OwnSteps(own, profile)

    found = {at: read(*own.places[at[0]].request(*at[1:])) for at in own.positions()}
    chart = chart_of(steps.bottom + 8, list(found.values()))

    def show(place: int, warp: int, visit: int) -> Changes:
        here, asks = found[place, warp, visit], own.places[place].asked(warp, visit)
        return chart.patch(here) | (chart.headline(here) if asks else {"number": {"text": "–"}})

    def say(place: int, warp: int, visit: int) -> str:
        asks = own.places[place].asked(warp, visit)
        return chart.verdict(found[place, warp, visit]) if asks else ""

    made = (at for at in own.positions() if own.places[at[0]].asked(*at[1:]))
    most = max(made, key=lambda at: chart.cost(found[at]))
    scene = Scene(WIDTH, chart.bottom)
    steps.draw(scene)
    chart.draw(scene)
    keys = ("place", "warp", "visit")
    layers = [
        *steps.layers(),
        Layer(keys, show),
        Layer(keys[:1], lambda place: chart.width_patch(own.places[place].itemsize)),
    ]
    words = [Layer(keys, steps.asked), Layer(keys, say), *steps.last_words()]
    return Interactive(
        title, scene, own_controls(own), layers, words, alt.format(profile.kernel_name),
        Examples({f"Costliest: {own.places[most[0]].name}": dict(zip(keys, most, strict=True))}),
        clicks=steps.clicks(),
    )  # fmt: skip


def own_controls(own: OwnRequests) -> tuple[Control, ...]:
    """Which line, which warp, and which of its visits."""
    return (
        Control("place", "access", [place.name for place in own.places], kind="choice"),
        Control("warp", "warp", _numbers(own.warps, 0)),
        Control("visit", "visit", _numbers(own.visits, 1), kind="steps"),
    )


def _numbers(count: int, first: int) -> list[str]:
    if count == 1:
        return [f"{first} (the only one)"]
    return [str(first + number) for number in range(count)]


class OwnSteps:
    """The head of a figure: the kernel's lines, one of them lit, and what its lanes ask for."""

    def __init__(self, own: OwnRequests, profile: Any) -> None:
        self._own, self._profile = own, profile
        self.bottom = max(3, len(own.places)) * _LINE + 34

    def draw(self, scene: Scene) -> None:
        """The lines, and what is asked for."""
        for number, place in enumerate(self._own.places):
            y = number * _LINE
            scene.rect(0, y, 500, _LINE - 2, "cell", name=f"place{number}", label=place.name)
            text = f"{place.line:4} {place.source}"
            short = shortened(text, _MOST_LETTERS)
            scene.text(4, y + 14, short, "mono small", name=f"code{number}")
            scene.text(494, y + 14, f"{place.kind} {place.array}", "small", "end", f"what{number}")
        draw_headline(scene)
        scene.text(0, self.bottom - 10, "", name="asked")

    def layers(self) -> tuple[Layer, ...]:
        """The lit line, and the elements asked for."""
        return (
            Layer(("place",), self._light),
            Layer(("place", "warp", "visit"), lambda *at: {"asked": {"text": self.asked(*at)}}),
        )

    def _light(self, place: int) -> Changes:
        return {
            f"place{place}": {"class": "lit"},
            f"code{place}": {"class": "mono small bold"},
            f"what{place}": {"class": "small bold"},
        }

    def last_words(self) -> tuple[Layer, ...]:
        """What the whole launch counted, and what the figure leaves out."""
        left_out = f"Only {self._own.left_out} can be chosen here." if self._own.left_out else ""
        return (Layer(("place",), self.counters), Layer((), {(): left_out}))

    def asked(self, place: int, warp: int, visit: int) -> str:
        """ "Warp 0, visit 2 of 8: 32 lanes ask for A[0, 0], A[1, 0], …"."""
        where = self._own.places[place]
        asked = where.asked(warp, visit)
        if asked is None:
            return f"Warp {warp} does not reach this access a {nth(visit + 1)} time."
        lanes = len(asked.lanes)
        verb = {"load": "read", "store": "write"}[where.kind]
        return (
            f"Warp {warp}, visit {visit + 1} of {len(where.warps[warp])}: "
            f"{counted(lanes, 'lane')} {verb}{'s' * (lanes == 1)} "
            f"{asked.cells(where.array)}."
        )

    def counters(self, place: int) -> str:
        """What the emulator counted for this line in the whole launch."""
        where = self._own.places[place]
        line = self._profile.lines.get(where.line)
        space, unit = where.space, {"shared": "wavefront", "global": "sector"}[where.space]
        requests = getattr(line, f"{space}_{where.kind}_requests", 0)
        amount = getattr(line, f"{space}_{where.kind}_{unit}s", 0)
        if not requests:
            return ""
        alike = [
            access.array
            for access in self._own.places
            if (access.line, access.kind) == (where.line, where.kind)
        ]
        together = f" for {joined(alike)} together" if len(alike) > 1 else ""
        return (
            f"Counted over the whole launch{together}: line {where.line} made "
            f"{counted(requests, f'{space} {where.kind} request')}, {counted(amount, unit)}."
        )

    def clicks(self) -> dict[str, tuple[str, int]]:
        """A click on a line chooses it."""
        return {f"place{number}": ("place", number) for number in range(len(self._own.places))}
