"""Let a reader step through time: tiles pass through one to three buffers, or a ring of stages.

Both are models in ticks, not measurements: a load takes longer than a multiplication.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from course_lib.curriculum import TASKS
from course_lib.figures.interactive import (
    Changes,
    Control,
    Examples,
    Interactive,
    Layer,
    Scene,
)
from course_lib.figures.interactive.scene import Box

Kind = Literal["load", "wait", "multiply"]

_LEFT, _TOP, _WIDE, _HIGH = 63.0, 44.0, 640.0, 34.0
_CSS: dict[Kind, str] = {"load": "hatch-a", "wait": "a-soft", "multiply": "c-soft"}
_STATES: dict[Kind, str] = {"load": "filling", "wait": "full", "multiply": "in use"}


@dataclass(frozen=True)
class Span:
    """A stretch of time in which a row is busy with a tile."""

    kind: Kind
    tile: int
    row: int
    begin: int
    end: int
    words: str = ""

    def covers(self, tick: int) -> bool:
        return self.begin <= tick < self.end


Plan = Sequence[Span]


def end_of(plan: Plan) -> int:
    return max(span.end for span in plan)


def rows_of(plan: Plan) -> int:
    return 1 + max(span.row for span in plan)


def state_at(plan: Plan, row: int, tick: int) -> str:
    """ "empty", "filling", "full" or "in use"."""
    return next(
        (_STATES[span.kind] for span in plan if span.row == row and span.covers(tick)), "empty"
    )


@dataclass(frozen=True)
class Schedules:
    """Several plans for the same work, one of them shown, and a line that says how far it is."""

    plans: dict[str, Plan]  # by their names; what each tile does when, and in which row
    row: str  # what a row is
    pitch: float  # from one row to the next
    tells_states: bool = False  # whether each row says what it is doing

    @property
    def length(self) -> int:
        return max(map(end_of, self.plans.values()))

    def figure(
        self, title: str, alt: str, controls: tuple[Control, Control],
        say: Callable[[Plan, int], str], model: str, key: str, shown: Sequence[str], note: str,
    ) -> Interactive:  # fmt: skip
        """Choose a plan, and step through time; of the plans, the still shows those `shown`."""
        plans = list(self.plans.values())
        keys = [control.key for control in controls]
        layers = [Layer(keys[:1], self._shown), Layer(keys, self._moment)]
        words = (Layer(keys, lambda at, tick: say(plans[at], tick)), Layer((), lambda: model))
        states = {
            name: {keys[0]: at, keys[1]: end_of(plan)}
            for at, (name, plan) in enumerate(self.plans.items())
            if name in shown
        }
        shows = Examples(states, "{total}", self._part, key=key, note=f"{model} {note}")
        return Interactive(title, self._draw(), controls, layers, words, alt, shows)

    def _part(self, name: str) -> Box:
        """The rows of a plan."""
        return 0, 12, 720, _TOP + self.pitch * (rows_of(self.plans[name]) - 1) + _HIGH - 8

    def _x(self, tick: float) -> float:
        return _LEFT + _WIDE / self.length * tick

    def _spans(self) -> Iterator[tuple[int, str, Span]]:
        """The number of the plan of each span, and the span's name in the scene."""
        for number, plan in enumerate(self.plans.values()):
            for at, span in enumerate(plan):
                yield number, f"{number}.{at}", span

    def _draw(self) -> Scene:
        rows = max(map(rows_of, self.plans.values()))
        bottom = _TOP + self.pitch * rows
        scene = Scene(720, bottom + 42)
        for tick in range(0, self.length + 1, 5):
            scene.text(self._x(tick), 26, str(tick), "small muted", "middle")
        for row in range(rows):
            y = _TOP + self.pitch * row
            scene.text(6, y + 14, f"{self.row} {row}", "small bold", name=f"row {row}")
            scene.text(6, y + 29, "", "small", name=f"state {row}")
        for _, name, span in self._spans():
            x, y = self._x(span.begin), _TOP + self.pitch * span.row
            scene.rect(x, y, self._x(span.end) - x, _HIGH, _CSS[span.kind], name)
        scene.line(_LEFT, 32, _LEFT, bottom, "stroke ink thick", "now")
        for _, name, span in self._spans():
            x, y = self._x((span.begin + span.end) / 2), _TOP + self.pitch * span.row + 22
            scene.text(x, y, span.words, "small bold halo", "middle", f"words {name}")
        scene.text(6, bottom + 28, "", "bold", name="total")
        return scene

    def _shown(self, chosen: int) -> Changes:
        plan = list(self.plans.values())[chosen]
        state: Changes = {}
        for number, name, _ in self._spans():
            state[name] = state[f"words {name}"] = {"hidden": number != chosen}
        for row in range(max(map(rows_of, self.plans.values()))):
            state[f"row {row}"] = {"hidden": row >= rows_of(plan)}
        used = [span for span in plan if span.kind == "multiply"]
        busy = sum(span.end - span.begin for span in used)
        told = f"{len(used)} tiles in {end_of(plan)} ticks; multiplying in {busy} of them"
        return state | {"total": {"text": told}}

    def _moment(self, chosen: int, tick: int) -> Changes:
        plan, x = list(self.plans.values())[chosen], self._x(tick)
        state: Changes = {"now": {"x1": x, "x2": x}}
        if self.tells_states:
            for row in range(rows_of(plan)):
                state[f"state {row}"] = {"text": state_at(plan, row, tick)}
        for number, name, span in self._spans():
            if number == chosen and span.kind == "multiply" and span.covers(tick):
                state[name] = {"class": "lit"}
        return state


# --- One, two or three buffers --------------------------------------------------------------------


_LOAD, _MULTIPLY, _TILES = 3, 2, 4


def _through_buffers(buffers: int) -> Plan:
    """All loads start as early as a free buffer allows; tiles are multiplied in their order."""
    spans: list[Span] = []
    multiplied = [0] * _TILES  # when a tile's multiplication ends
    begun = [0] * _TILES
    for tile in range(_TILES):
        ahead = tile - max(1, buffers - 1)  # whose multiplication starts when this load may start
        start = 0 if ahead < 0 else multiplied[ahead] if buffers == 1 else begun[ahead]
        ready = start + _LOAD
        begun[tile] = max(ready, multiplied[tile - 1] if tile else 0)
        multiplied[tile] = begun[tile] + _MULTIPLY
        row, ends = tile % buffers, multiplied[tile]
        spans.append(Span("load", tile, row, start, ready, f"load {tile}"))
        spans.append(Span("multiply", tile, row, begun[tile], ends, f"× {tile}"))
    return spans


_WAYS = ("one buffer", "two buffers", "three buffers")
BUFFERS = Schedules(
    {way: _through_buffers(number) for number, way in enumerate(_WAYS, 1)}, "buffer", 62.0
)


def explore_double_buffer() -> Interactive:
    """Choose the number of buffers, and step through time: what is loaded, what multiplied."""
    ticks = list(map(str, range(BUFFERS.length + 1)))
    return BUFFERS.figure(
        "Tiles in time: one, two or three buffers",
        "Time runs to the right. Each row is a buffer in shared memory: hatched while a tile "
        "is on its way to it, filled while it is multiplied.",
        (
            Control("way", "in shared memory", _WAYS, 1, "choice"),
            Control("tick", "time, in ticks", ticks, 4, "steps"),
        ),
        _say_of_buffers,
        "Ticks are a model, not measured: a load takes 3, a multiplication 2.",
        "A row is a buffer. Hatched: a tile is on its way to it. Filled: it is multiplied there",
        _WAYS,
        "With one buffer, loads and multiplications take turns. With two, a load runs during a "
        "multiplication. With three, two loads are in flight at once.",
    )


def _say_of_buffers(plan: Plan, tick: int) -> str:
    now = [span for span in plan if span.covers(tick)]
    if not now:
        return f"Tick {tick}: all is done. It took {end_of(plan)} ticks."
    loads = [
        f"tile {span.tile} is on its way to buffer {span.row}"
        for span in now
        if span.kind == "load"
    ]
    work = [f"tile {span.tile} is multiplied" for span in now if span.kind == "multiply"]
    return f"Tick {tick}: {'; '.join([*(work or ['nothing is multiplied']), *loads])}."


# --- A ring of stages, as the task `ring_end` computes it -----------------------------------------


_COPY, _PRODUCT, _OF_RING = 6, 2, 8


def _through_ring(stages: int) -> Plan:
    """Every tile's turn in its stage, from the task's own recurrence."""
    reference = TASKS["ring_end"].reference
    assert reference is not None
    ends = [reference(tile + 1, stages, _COPY, _PRODUCT) for tile in range(_OF_RING)]
    spans: list[Span] = []
    for tile, end in enumerate(ends):
        asked = ends[tile - stages] if tile >= stages else 0
        full, row = asked + _COPY, tile % stages
        spans.append(Span("load", tile, row, asked, full, f"tile {tile}"))
        if full < end - _PRODUCT:
            spans.append(Span("wait", tile, row, full, end - _PRODUCT))
        spans.append(Span("multiply", tile, row, end - _PRODUCT, end))
    return spans


RING = Schedules(
    {f"{stages} stages": _through_ring(stages) for stages in range(1, 5)}, "stage", 42.0, True
)


def explore_ring() -> Interactive:
    """Choose the number of stages, and step through time: who waits for which barrier."""
    ticks = list(map(str, range(RING.length + 1)))
    return RING.figure(
        "A ring of stages: a producer, its consumers, and two barriers for each stage",
        "Time runs to the right. Each row is a stage: hatched while a tile is on its way to "
        "it, light while it is full and waits, filled while it is multiplied.",
        (
            Control("stages", "stages", [name.split()[0] for name in RING.plans], 1, "choice"),
            Control("tick", "time, in ticks", ticks, 8, "steps"),
        ),
        say_of_ring,
        f"A model: a copy takes {_COPY} ticks, a product {_PRODUCT}.",
        "Hatched: a tile is on its way. Light: it is full, and waits. Filled: it is multiplied",
        ("2 stages", "4 stages"),
        "With two stages the consumers wait for full stages again and again. With four, they wait "
        "only for the first tile.",
    )


def say_of_ring(plan: Plan, tick: int) -> str:
    """Who waits for what at this moment."""
    if tick >= end_of(plan):
        return f"Tick {tick}: all is done. It took {end_of(plan)} ticks."
    products = [span for span in plan if span.kind == "multiply"]
    wanted = next(span for span in products if tick < span.end)
    consumers = f"the consumers wait until stage {wanted.row} is full"
    if wanted.covers(tick):
        consumers = f"the consumers multiply tile {wanted.tile}"
    waiting = next((span for span in plan if span.kind == "load" and tick < span.begin), None)
    producer = "the producer has requested every tile"
    if waiting is not None:
        producer = f"the producer waits until stage {waiting.row} is empty"
    return f"Tick {tick}: {consumers}; {producer}."
