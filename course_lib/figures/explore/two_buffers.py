"""Let a reader watch tiles pass through one, two or three buffers, in time."""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.figures import style
from course_lib.figures.interactive import Control, Interactive, Layer, Scene
from course_lib.figures.pen import Pen, tinted
from course_lib.figures.picture import Picture

# A model in ticks, not a measurement: a load takes a little longer than a multiplication.
_LOAD, _MULTIPLY, _TILES = 3, 2, 4
_WAYS = ("one buffer", "two buffers", "three buffers")
_TICK, _LEFT, _TOP, _ROW = 32.0, 64.0, 46.0, 62.0


@dataclass(frozen=True)
class _Job:
    """A tile is loaded into a buffer, or multiplied there."""

    verb: str  # "load" or "multiply"
    tile: int
    buffer: int
    begin: int
    end: int

    @property
    def name(self) -> str:
        return f"{self.verb} {self.tile}"


def _jobs(buffers: int) -> list[_Job]:
    """All loads start as early as a free buffer allows; tiles are multiplied in their order."""
    jobs: list[_Job] = []
    multiplied = [0] * _TILES  # when a tile's multiplication ends
    begun = [0] * _TILES
    for tile in range(_TILES):
        ahead = tile - max(1, buffers - 1)  # whose multiplication starts when this load may start
        start = 0 if ahead < 0 else multiplied[ahead] if buffers == 1 else begun[ahead]
        ready = start + _LOAD
        begun[tile] = max(ready, multiplied[tile - 1] if tile else 0)
        multiplied[tile] = begun[tile] + _MULTIPLY
        jobs.append(_Job("load", tile, tile % buffers, start, ready))
        jobs.append(_Job("multiply", tile, tile % buffers, begun[tile], multiplied[tile]))
    return jobs


_PLANS = {way: _jobs(number) for number, way in enumerate(_WAYS, 1)}
_LENGTH = max(job.end for jobs in _PLANS.values() for job in jobs)


def explore_double_buffer() -> Interactive:
    """Choose the number of buffers, and step through time: what is loaded, what multiplied."""
    controls = (
        Control("way", "in shared memory", _WAYS, 1, "choice"),
        Control("tick", "time, in ticks", tuple(str(t) for t in range(_LENGTH + 1)), 4, "steps"),
    )
    layers = [
        Layer(("way",), lambda way: _shown(way)),
        Layer(("way", "tick"), lambda way, tick: _moment(way, tick)),
    ]
    words = (
        Layer(("way", "tick"), lambda way, tick: _sentence(_WAYS[way], tick)),
        Layer((), lambda: "Ticks are a model, not measured: a load takes 3, a multiplication 2."),
    )
    return Interactive(
        "Tiles in time: one, two or three buffers",
        _draw(),
        controls,
        layers,
        words,
        draw_still=_still,
        alt="Time runs to the right. Each row is a buffer in shared memory: hatched while a tile "
        "is on its way to it, filled while it is multiplied.",
    )


def _draw() -> Scene:
    scene = Scene(720, 286)
    for number in range(3):
        y = _TOP + _ROW * number
        scene.text(8, y + 28, f"buffer {number}", css="small", name=f"row {number}")
    for tick in range(0, _LENGTH + 1, 5):
        scene.text(_LEFT + _TICK * tick, 26, str(tick), css="small muted", anchor="middle")
    jobs = [(number, job) for number, way in enumerate(_WAYS) for job in _PLANS[way]]
    for number, job in jobs:
        x, y = _LEFT + _TICK * job.begin, _TOP + _ROW * job.buffer
        wide, high, down = _TICK * (job.end - job.begin), 44, 2
        if job.verb == "multiply":
            high, down = 36, 6
        looks = "hatch-a" if job.verb == "load" else "c-soft"
        scene.rect(x, y + down, wide, high, css=looks, name=f"{number} {job.name}")
    scene.line(_LEFT, 32, _LEFT, 222, css="stroke ink thick", name="now")
    for number, job in jobs:
        x, y = _LEFT + _TICK * (job.begin + job.end) / 2, _TOP + _ROW * job.buffer + 28
        name = f"{number} {job.name} words"
        scene.text(x, y, _label(job), css="small bold halo", anchor="middle", name=name)
    scene.text(8, 266, "", css="bold", name="total")
    return scene


def _label(job: _Job) -> str:
    return f"load {job.tile}" if job.verb == "load" else f"× {job.tile}"


def _shown(chosen: int) -> dict[str, dict[str, object]]:
    state: dict[str, dict[str, object]] = {}
    for number, way in enumerate(_WAYS):
        for job in _PLANS[way]:
            for name in (f"{number} {job.name}", f"{number} {job.name} words"):
                state[name] = {"hidden": number != chosen}
    for row in range(3):
        state[f"row {row}"] = {"hidden": row > chosen}
    end = _end(_WAYS[chosen])
    busy = _MULTIPLY * _TILES
    state["total"] = {"text": f"{_TILES} tiles in {end} ticks; multiplying in {busy} of them"}
    return state


def _moment(chosen: int, tick: int) -> dict[str, dict[str, object]]:
    x = _LEFT + _TICK * tick
    state: dict[str, dict[str, object]] = {"now": {"x1": x, "x2": x}}
    for job in _PLANS[_WAYS[chosen]]:
        if job.verb == "multiply" and job.begin <= tick < job.end:
            state[f"{chosen} {job.name}"] = {"class": "lit"}
    return state


def _end(way: str) -> int:
    return max(job.end for job in _PLANS[way])


def _sentence(way: str, tick: int) -> str:
    now = [job for job in _PLANS[way] if job.begin <= tick < job.end]
    if not now:
        return f"Tick {tick}: all is done; it was after {_end(way)} ticks."
    loads = [
        f"tile {job.tile} is on its way to buffer {job.buffer}" for job in now if job.verb == "load"
    ]
    work = [f"tile {job.tile} is multiplied" for job in now if job.verb == "multiply"]
    return f"Tick {tick}: {'; '.join([*(work or ['nothing is multiplied']), *loads])}."


@style.drawn
def _still() -> Picture:
    """The three ways below each other, on one axis of time."""
    figure = style.card(
        4.75,
        "The same four tiles, with one, two and three buffers",
        "A row is a buffer. Hatched: a tile is on its way to it. Filled: it is multiplied there",
    )
    pen = Pen.on(figure)
    top = 0.78
    for number, way in enumerate(_WAYS, 1):
        pen.write(0.16, top, f"{way}: {_end(way)} ticks", bold=True)
        for job in _PLANS[way]:
            _draw_job(pen, top + 0.14 + 0.4 * job.buffer, job)
        top += 0.42 + 0.4 * number
    style.footnote(figure, "A model in ticks, not measured: a load takes 3, a multiplication 2.")
    told = "; ".join(f"{way}: {_end(way)} ticks" for way in _WAYS)
    return Picture(
        figure,
        f"Four tiles are loaded, 3 ticks each, and multiplied, 2 ticks each. {told}. With one "
        "buffer loads and multiplications take turns; with two, a load runs beside a "
        "multiplication; with three, two loads are under way at once.",
    )


def _draw_job(pen: Pen, y: float, job: _Job) -> None:
    tick, load = 0.35, job.verb == "load"
    x, wide = 0.2 + tick * job.begin, tick * (job.end - job.begin)
    looks = tinted(style.GREEN, 0.4, 0.9)
    if load:
        looks = {**tinted(style.BLUE, 0, 0.9), "hatch": "////"}
    pen.rectangle(x, y, wide - 0.02, 0.34, **{**looks, "z": 1})
    pen.write(x + wide / 2, y + 0.17, _label(job), ha="center", bold=True, paper=1.0)
