"""Step through the requests of one's own kernel: its lines to choose from, warp and occurrence."""

from __future__ import annotations

from typing import Any

from course_lib.figures.explore.own_requests import OwnRequests
from course_lib.figures.interactive.controls import Control
from course_lib.figures.interactive.layers import Layer, Patch
from course_lib.figures.interactive.scene import Scene
from course_lib.words import counted, joined, nth, shortened

_LINE = 20
_MOST_LETTERS = 50


def own_controls(own: OwnRequests) -> tuple[Control, ...]:
    """Which line, which warp, and the how-manieth visit."""
    return (
        Control("place", "access", [each.name for each in own.places], kind="choice"),
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
        """The lines, what is asked for, and room for two numbers at the right."""
        for number, place in enumerate(self._own.places):
            y = number * _LINE
            scene.rect(0, y, 500, _LINE - 2, "cell", name=f"place{number}", label=place.name)
            text = f"{place.line:4} {place.source}"
            short = shortened(text, _MOST_LETTERS)
            scene.text(4, y + 14, short, "mono small", name=f"code{number}")
            scene.text(494, y + 14, f"{place.kind} {place.array}", "small", "end", f"what{number}")
        scene.text(720, 24, "", "huge bold", "end", name="number")
        scene.text(720, 46, "", "muted", "end", name="detail")
        scene.text(0, self.bottom - 10, "", name="asked")

    def layers(self) -> tuple[Layer, ...]:
        """The lit line, and the elements asked for."""
        return (
            Layer(("place",), self._light),
            Layer(("place", "warp", "visit"), lambda *at: {"asked": {"text": self.asked(*at)}}),
        )

    def _light(self, place: int) -> Patch:
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
            return f"Warp {warp} does not come to this access a {nth(visit + 1)} time."
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
            each.array
            for each in self._own.places
            if (each.line, each.kind) == (where.line, where.kind)
        ]
        together = f" for {joined(alike)} together" if len(alike) > 1 else ""
        return (
            f"Counted over the whole launch{together}: line {where.line} made "
            f"{counted(requests, f'{space} {where.kind} request')}, {counted(amount, unit)}."
        )

    def clicks(self) -> dict[str, tuple[str, int]]:
        """A click on a line chooses it."""
        return {f"place{number}": ("place", number) for number in range(len(self._own.places))}
