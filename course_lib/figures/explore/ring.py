"""Let a reader step through a ring of stages: a producer fills them, consumers empty them."""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.curriculum import TASKS
from course_lib.figures import style
from course_lib.figures.interactive import Control, Interactive, Layer, Scene
from course_lib.figures.pen import Pen, tinted
from course_lib.figures.picture import Picture

# A model in ticks, not a measurement: what the task `ring_end` computes.
_COPY, _MULTIPLY, _TILES = 6, 2, 8
_STAGES = (1, 2, 3, 4)
_START = 1
_TICK, _LEFT, _TOP, _ROW = 10.0, 62.0, 44.0, 42.0


@dataclass(frozen=True)
class _Turn:
    """One tile in its stage: when its copy begins, when its product begins, when that ends."""

    tile: int
    stage: int
    asked: int
    begins: int
    ends: int

    @property
    def full(self) -> int:
        return self.asked + _COPY

    def state_at(self, tick: int) -> str:
        """What its stage is for this tile's sake; "" where it has none to say."""
        if self.asked <= tick < self.full:
            return "filling"
        if self.full <= tick < self.begins:
            return "full"
        return "in use" if self.begins <= tick < self.ends else ""


def turns_of(stages: int) -> list[_Turn]:
    """Every tile's turn, from the task's own recurrence."""
    end_of = TASKS["ring_end"].reference
    assert end_of is not None
    ends = [end_of(tile + 1, stages, _COPY, _MULTIPLY) for tile in range(_TILES)]
    asked = [ends[tile - stages] if tile >= stages else 0 for tile in range(_TILES)]
    return [
        _Turn(tile, tile % stages, asked[tile], ends[tile] - _MULTIPLY, ends[tile])
        for tile in range(_TILES)
    ]


_PLANS = [turns_of(stages) for stages in _STAGES]
_LENGTH = max(plan[-1].ends for plan in _PLANS)


def explore_ring() -> Interactive:
    """Choose the number of stages, and step through time: who waits for which barrier."""
    controls = (
        Control("stages", "stages", [str(each) for each in _STAGES], _START, "choice"),
        Control("tick", "time, in ticks", [str(t) for t in range(_LENGTH + 1)], 8, "steps"),
    )
    layers = [
        Layer(("stages",), _shown),
        Layer(("stages", "tick"), _moment),
    ]
    words = (
        Layer(("stages", "tick"), lambda chosen, tick: sentence(_STAGES[chosen], tick)),
        Layer((), lambda: f"A model: a copy takes {_COPY} ticks, a product {_MULTIPLY}."),
    )
    return Interactive(
        "A ring of stages: a producer, its consumers, and two barriers for each stage",
        _draw(),
        controls,
        layers,
        words,
        draw_still=_still,
        alt="Time runs to the right. Each row is a stage: hatched while a tile is on its way to "
        "it, light while it is full and waits, filled while it is multiplied.",
    )


def _draw() -> Scene:
    scene = Scene(720, 254)
    for tick in range(0, _LENGTH + 1, 5):
        x = _LEFT + _TICK * tick
        scene.text(x, 26, str(tick), css="small muted", anchor="middle")
    for row in range(_STAGES[-1]):
        y = _TOP + _ROW * row
        scene.text(6, y + 14, f"stage {row}", css="small bold", name=f"row {row}")
        scene.text(6, y + 29, "", css="small", name=f"state {row}")
    for number, plan in enumerate(_PLANS):
        for turn in plan:
            _draw_turn(scene, number, turn)
    scene.line(_LEFT, 32, _LEFT, _TOP + _ROW * 4, css="stroke ink thick", name="now")
    scene.text(6, 240, "", css="bold", name="total")
    return scene


def _draw_turn(scene: Scene, number: int, turn: _Turn) -> None:
    y = _TOP + _ROW * turn.stage
    for part, begin, end, css in (
        ("copy", turn.asked, turn.full, "hatch-a"),
        ("wait", turn.full, turn.begins, "a-soft"),
        ("product", turn.begins, turn.ends, "c-soft"),
    ):
        name = f"{number} {part} {turn.tile}"
        scene.rect(_LEFT + _TICK * begin, y, _TICK * (end - begin), 34, css=css, name=name)
    x = _LEFT + _TICK * (turn.asked + turn.full) / 2
    name = f"{number} words {turn.tile}"
    scene.text(x, y + 22, f"tile {turn.tile}", css="small bold halo", anchor="middle", name=name)


def _shown(chosen: int) -> dict[str, dict[str, object]]:
    state: dict[str, dict[str, object]] = {}
    for number, plan in enumerate(_PLANS):
        for turn in plan:
            for part in ("copy", "wait", "product", "words"):
                state[f"{number} {part} {turn.tile}"] = {"hidden": number != chosen}
    for row in range(_STAGES[-1]):
        state[f"row {row}"] = {"hidden": row >= _STAGES[chosen]}
    end = _PLANS[chosen][-1].ends
    busy = _TILES * _MULTIPLY
    state["total"] = {"text": f"{_TILES} tiles in {end} ticks; multiplying in {busy} of them"}
    return state


def _moment(chosen: int, tick: int) -> dict[str, dict[str, object]]:
    x = _LEFT + _TICK * tick
    state: dict[str, dict[str, object]] = {"now": {"x1": x, "x2": x}}
    for row in range(_STAGES[-1]):
        words = stage_at(chosen, row, tick) if row < _STAGES[chosen] else ""
        state[f"state {row}"] = {"text": words}
    for turn in _PLANS[chosen]:
        if turn.state_at(tick) == "in use":
            state[f"{chosen} product {turn.tile}"] = {"class": "lit"}
    return state


def stage_at(chosen: int, stage: int, tick: int) -> str:
    """ "empty", "filling", "full" or "in use"."""
    states = [turn.state_at(tick) for turn in _PLANS[chosen] if turn.stage == stage]
    return next(filter(None, states), "empty")


def sentence(stages: int, tick: int) -> str:
    """Who waits for what at this moment."""
    plan = _PLANS[_STAGES.index(stages)]
    if tick >= plan[-1].ends:
        return f"Tick {tick}: all is done; it was after {plan[-1].ends} ticks."
    running = next((turn for turn in plan if turn.begins <= tick < turn.ends), None)
    if running:
        consumers = f"the consumers multiply tile {running.tile}"
    else:
        wanted = next(turn for turn in plan if tick < turn.begins)
        consumers = f"the consumers wait until stage {wanted.stage} is **full**"
    waiting = next((turn for turn in plan if tick < turn.asked), None)
    if waiting is None:
        producer = "the producer has asked for every tile"
    else:
        producer = f"the producer waits until stage {waiting.stage} is **empty**"
    return f"Tick {tick}: {consumers}; {producer}.".replace("**", "")


@style.drawn
def _still() -> Picture:
    """Two and four stages below each other, on one axis of time."""
    figure = style.card(
        4.1,
        "The same eight tiles through two stages, and through four",
        "Hatched: a tile is on its way. Light: it is full, and waits. Filled: it is multiplied",
    )
    pen = Pen.on(figure)
    top = 0.86
    for stages in (2, 4):
        plan = _PLANS[_STAGES.index(stages)]
        words = f"{stages} stages: {plan[-1].ends} ticks"
        pen.write(0.16, top, words, bold=True)
        for turn in plan:
            _draw_still_turn(pen, top + 0.14 + 0.4 * turn.stage, turn)
        top += 0.42 + 0.4 * stages
    style.footnote(
        figure, f"A model in ticks, not measured: a copy takes {_COPY}, a product {_MULTIPLY}."
    )
    told = "; ".join(
        f"{stages} stages: {_PLANS[_STAGES.index(stages)][-1].ends} ticks" for stages in (2, 4)
    )
    return Picture(
        figure,
        f"Eight tiles are copied, {_COPY} ticks each, and multiplied, {_MULTIPLY} ticks each. "
        f"{told}. With two stages the consumers wait for full stages again and again; with four "
        "they wait only for the first.",
    )


def _draw_still_turn(pen: Pen, y: float, turn: _Turn) -> None:
    tick, high = 0.19, 0.34
    waiting, used = tinted(style.BLUE, 0.15, 0.9), tinted(style.GREEN, 0.4, 0.9)
    on_its_way = {**tinted(style.BLUE, 0, 0.9), "hatch": "////"}
    for begin, end, looks in (
        (turn.asked, turn.full, on_its_way),
        (turn.full, turn.begins, waiting),
        (turn.begins, turn.ends, used),
    ):
        if begin < end:
            x, wide = 0.2 + tick * begin, tick * (end - begin) - 0.02
            pen.rectangle(x, y, wide, high, **{**looks, "z": 1})
    middle = 0.2 + tick * (turn.asked + turn.full) / 2
    pen.write(middle, y + high / 2, str(turn.tile), ha="center", bold=True, paper=1.0)
