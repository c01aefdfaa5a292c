"""Draw the ladder: every rung with its speed, the student's own, and the climb on one page."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course_lib import curriculum, measurements
from course_lib.curriculum import EXERCISES, TASKS
from course_lib.figures import style
from course_lib.figures.interactive import Scene
from course_lib.figures.interactive.still import draw_scene
from course_lib.figures.picture import Picture
from course_lib.measurements import Entry, Measurements, Speeds
from course_lib.own_ladder import LADDERS, Ladder, OwnRung, whole_ladder
from course_lib.wording.words import joined

_RAIL, _BOX = 31.0, 158.0  # where the left rail is, and how wide a rung


def _draw_rails(scene: Scene, top: float, bottom: float) -> None:
    for x in (_RAIL, _RAIL + _BOX - 14):
        scene.line(x, top, x, bottom, "thick")


def _draw_rung(scene: Scene, x: float, y: float, wide: float, name: str, css: str) -> None:
    """A rung with its name, its middle at the height y."""
    scene.rect(x, y - 13, wide, 26, css, rx=5)
    scene.text(x + wide / 2, y + 4.5, name, f"mono {'on-a bold' if css == 'a' else ''}", "middle")


# --- All rungs with their speeds, published or measured, and where we stand lit -------------------


_ROW, _BAR, _FULL = 42.0, 228.0, 307.0  # of the bars: where they begin, and 100 % of cuBLAS


@dataclass(frozen=True)
class _Step:
    """One bar: the share of cuBLAS is its length."""

    name: str
    gflops: float
    share: float


def ladder(current: str | None = None, *, speeds: Speeds | None = None) -> Picture:
    """The rungs from the bottom up; `current` is the one that is lit.

    With `speeds` (from `course_lib.bench.speeds()`) they are those, with their device and date;
    without, the published ones. Raises ValueError if no rung has that name.
    """
    if speeds is not None and speeds.origin == "measured":
        steps = [
            _Step(name, gflops, speeds.of_cublas[name])
            for name, gflops in speeds.gflops.items()
            if name in speeds.of_cublas
        ]
        return _draw(steps, current, speeds.label, speeds.caption, "measured", "cuBLAS")
    cublas = curriculum.PUBLISHED_CUBLAS_GFLOPS
    steps = [
        _Step(rung.name, rung.published_gflops, rung.published_gflops / cublas)
        for rung in curriculum.RUNGS
    ]
    note = f"Published by {curriculum.PUBLISHED_BY}, not measured by us."
    opponent = f"cuBLAS {cublas:,.0f}"
    return _draw(steps, current, curriculum.PUBLISHED_ON, note, "published", opponent)


def _draw(
    steps: Sequence[_Step], current: str | None, where: str, note: str, origin: str, opponent: str
) -> Picture:
    names = [step.name for step in steps]
    if current is not None and current not in names:
        raise ValueError(f"No rung {current!r} on the ladder; there are {', '.join(names)}.")
    here = names.index(current) if current is not None else len(steps)

    top, bottom = 24.0, 24 + _ROW * len(steps)
    scene = Scene(720, bottom + 14)
    _draw_rails(scene, top - 10, bottom + 12)
    scene.line(_BAR + _FULL, top, _BAR + _FULL, bottom, "ink dashed")
    scene.text(_BAR + _FULL, top - 6, opponent, "small", "middle")
    for place, step in enumerate(steps):
        y = bottom - _ROW * (place + 0.5)
        css = "b" if place == here else "a" if place < here else "hatch-a"
        _draw_rung(scene, _RAIL - 7, y, _BOX, step.name, "wash" if place > here else f"{css}-soft")
        scene.rect(_BAR, y - 12, _FULL * step.share, 23, css, step.name)
        label = f"{style.whole(step.gflops)}  ({step.share:.1%})" + "  ◀ here" * (place == here)
        # A number beside a long bar would sit on cuBLAS's line, so it moves behind it.
        end = _FULL * (max(1, step.share) if step.share > 0.6 else step.share)
        scene.text(_BAR + end + 8, y + 4, label, "small bold" if place == here else "small")
        if place:
            gain = step.gflops / steps[place - 1].gflops
            scene.text(203, y + _ROW / 2 + 4, f"×{gain:.1f}", "small muted", "middle")
    title = f"{where}: GFLOP/s, and the share of cuBLAS"
    return draw_scene(
        scene, "The ladder", _words(steps, current, where, origin, opponent), title, note
    )


def _words(
    steps: Sequence[_Step], current: str | None, where: str, origin: str, opponent: str
) -> str:
    told = ", ".join(f"{step.name} {style.whole(step.gflops)} ({step.share:.1%})" for step in steps)
    against = opponent.removeprefix("cuBLAS").strip()
    cublas = f"cuBLAS ({against})" if against else "cuBLAS"
    here = f" You are on the rung {current}." if current else ""
    return (
        f"The ladder of kernels from slow to fast, {origin} GFLOP/s on {where} and share of "
        f"{cublas}: {told}.{here}"
    )


# --- The student's own rungs: what their kernels load, beside the course's -----------------------


_COUNTER = "global_load_sectors"
_LEAST, _MOST = 256, 262_144  # sectors at the ends of a bar; a product of this size has these
_OWN_ROW, _OWN_BAR, _OWN_FULL = 54.0, 197.0, 307.0
_IN_A_ROW = 5  # of small rungs


def my_ladder(steps: Sequence[OwnRung] | None = None, of: str = "product") -> Picture:
    """Your own ladder, from the bottom up: sectors loaded by your kernels, beside ours.

    Args:
        steps: the rungs; if None, those of the student whose progress is kept here.
        of: which ladder: "product", or "row softmax" of lesson 10c.
    """
    ladder = LADDERS[of]
    steps = whole_ladder(of=of) if steps is None else steps
    passed = sum(step.passed for step in steps)
    if not passed:
        return _nothing_climbed(steps)
    top, bottom = 10.0, 10 + _OWN_ROW * len(steps)
    scene = Scene(720, bottom + 10)
    _draw_rails(scene, top - 6, bottom)
    if ladder.least_sectors:
        x = _OWN_BAR + _length(ladder.least_sectors)
        scene.line(x, top - 4, x, bottom, "dashed")
        scene.text(x + 6, top + 4, f"at least {ladder.least_sectors:,}", "small muted")
    for place, step in enumerate(steps):
        _draw_step(scene, bottom - _OWN_ROW * (place + 0.5), step)
    return draw_scene(
        scene,
        "Your ladder",
        _own_words(steps, passed, ladder),
        f"{passed} of {len(steps)} rungs climbed. Sectors of global memory that {ladder.phrase} "
        "loads",
        f"Fewer is better; each doubling adds the same length.{_times(steps, ladder)}",
    )


def _nothing_climbed(steps: Sequence[OwnRung]) -> Picture:
    """All rungs side by side, small: there is nothing to count yet."""
    first = (
        f"None of {len(steps)} rungs is climbed yet; the first is in lesson {_lesson(steps[0])}."
    )
    wide = 700 / min(len(steps), _IN_A_ROW)
    scene = Scene(720, 34 * -(-len(steps) // _IN_A_ROW) + 8)
    for place, step in enumerate(steps):
        down, across = divmod(place, _IN_A_ROW)
        _draw_rung(scene, 12 + across * wide, 14 + 34 * down, wide - 12, step.rung, "wash dashed")
    words = f"Your own ladder. {first} The rungs: {_listed(steps)}."
    return draw_scene(scene, "Your ladder", words, first)


def _listed(steps: Sequence[OwnRung]) -> str:
    return ", ".join(f"{step.rung} (lesson {_lesson(step)})" for step in steps)


def _lesson(step: OwnRung) -> str:
    return {**TASKS, **EXERCISES}[step.title].lesson


def _times(steps: Sequence[OwnRung], ladder: Ladder) -> str:
    """Where the times are from, if there are any."""
    gpus = {step.gpu: None for step in steps if step.time}
    return f" Times: {ladder.timed_size}, {joined(gpus)}." if gpus else ""


def _draw_step(scene: Scene, y: float, step: OwnRung) -> None:
    _draw_rung(scene, _RAIL - 7, y, _BOX, step.rung, "a" if step.passed else "wash dashed")
    if not step.passed:
        words = f"not yet: {step.title}, lesson {_lesson(step)}"
        scene.text(_OWN_BAR, y + 4, words, "small muted halo")
        return
    scene.text(714, y - 6, step.time, "small", "end")
    for whose, counts, css, ink, middle, thick in (
        ("you", step.yours, "a", "small bold", y - 10, 19),
        ("ours", step.ours, "hatch", "small", y + 12, 12),
    ):  # fmt: skip
        sectors = counts.get(_COUNTER)
        scene.rect(_OWN_BAR, middle - thick / 2, _length(sectors), thick, css)
        label = f"{whose} {_number(sectors)}"
        scene.text(_OWN_BAR + _length(sectors) + 8, middle + 4, label, ink)


def _length(sectors: int | None) -> float:
    """How long a bar is: a step for each doubling."""
    if not sectors:
        return 0.0
    share = math.log2(max(sectors, _LEAST) / _LEAST) / math.log2(_MOST / _LEAST)
    return _OWN_FULL * min(share, 1.0)


def _number(sectors: int | None) -> str:
    return "not counted" if sectors is None else f"{sectors:,}"


def _own_words(steps: Sequence[OwnRung], passed: int, ladder: Ladder) -> str:
    told = "; ".join(_step_in_words(step) for step in steps)
    least = f" Any kernel loads at least {ladder.least_sectors:,}." if ladder.least_sectors else ""
    return (
        f"Your own ladder, {passed} of {len(steps)} rungs climbed, from the bottom up, with the "
        f"sectors that {ladder.phrase} loads: {told}.{least}{_times(steps, ladder)}"
    )


def _step_in_words(step: OwnRung) -> str:
    if not step.passed:
        return f"{step.rung} not yet"
    yours, ours = (_number(counts.get(_COUNTER)) for counts in (step.yours, step.ours))
    time = f", {step.time}" if step.time else ""
    return f"{step.rung} you {yours}, ours {ours}{time}"


# --- The whole climb on one page: why each rung is faster, and what holds it back then -----------


# What lies above the rungs of the curriculum: the reason, and what an H200's profiler saw then.
UPPER: Mapping[str, tuple[str, str]] = {
    "double_buffered": (
        "The next tile is on its way while this one is multiplied.",
        "Issue slots, most of which go to multiply-adds.",
    ),
    "cp_async": (
        "Copies run by themselves, and need neither registers nor stores.",
        "Issue slots and multiply units, as for cuBLAS.",
    ),
    "tensor_core_bf16": (
        "One instruction of a warp multiplies two small matrices, of 16-bit numbers.",
        "L2, and the rate of `mma` itself.",
    ),
    "wgmma": (
        "Four warps multiply straight from shared memory, in the background.",
        "Tensor cores, and the power that they draw.",
    ),
    "tma": (
        "A copy engine fills shared memory, and blocks stay for tile after tile.",
        "Tensor cores and power, as for cuBLAS.",
    ),
}
SIZE = 4096

_PAGE_ROW = 46.0
_NAMES, _WHY, _BINDS = 12.0, 192.0, 484.0  # where the columns begin


@dataclass(frozen=True)
class Step:
    """One line of the page."""

    name: str  # the rung
    tflops: float  # TFLOP/s as measured; the faster one where a rung is written in two ways
    share: float  # of the fastest cuBLAS product in the same precision
    precision: str  # of the numbers that are multiplied
    why: str  # why it is faster than the one below
    binds: str  # what holds it back then


def steps(measured: Measurements, size: int = SIZE) -> tuple[Step, ...]:
    """The rungs that have a reason on this page and were measured, from the bottom up."""
    words = {rung.name: (rung.why, rung.binds) for rung in curriculum.RUNGS} | dict(UPPER)
    found = []
    for name, (why, binds) in words.items():
        entries = [measured.entry(name + way) for way in ("", "_while", "_bf16")]
        timed = [entry for entry in entries if entry and entry.cell(size)]
        if timed:
            best = max(timed, key=lambda entry: _gflops(entry, size))
            share = measured.share_of_cublas(best, size) or 0.0
            tflops = _gflops(best, size) / 1000
            found.append(Step(name, tflops, share, best.precision, why, binds))
    return tuple(found)


def climb() -> Picture:
    """The ladder as a page to teach from: speeds as measured on an H200, reasons, limits."""
    measured = measurements.load("H200")
    rungs = steps(measured, SIZE)
    bottom = 26 + _PAGE_ROW * len(rungs)
    scene = Scene(720, bottom + 10)
    for x, words in ((_WHY, "why it is faster"), (_BINDS, "what holds it back then")):
        scene.text(x, 16, words, "small muted bold")
    for place, rung in enumerate(rungs):
        y = bottom - _PAGE_ROW * (place + 0.5)
        _draw_line(scene, y, rung)
        if place:
            scene.arrow(62, y + _PAGE_ROW / 2 + 7, 62, y + _PAGE_ROW / 2 - 7)
            gain = f"× {rung.tflops / rungs[place - 1].tflops:.2f}"
            scene.text(72, y + _PAGE_ROW / 2 + 4, gain, "small muted")
    return draw_scene(
        scene,
        "The climb on one page",
        _page_words(measured.label, rungs),
        f"{measured.label}, {SIZE}³: TFLOP/s, and the share of cuBLAS in the same format.",
        "Orange: float32 on CUDA cores. Purple: bfloat16 on tensor cores. Measured by bench.",
    )


def _gflops(entry: Entry, size: int) -> float:
    cell = entry.cell(size)
    return cell.gflops if cell else 0.0


def _draw_line(scene: Scene, y: float, rung: Step) -> None:
    css = "b-soft" if rung.precision == "float32" else "d-soft"
    scene.rect(_NAMES, y - 16, 162, 33, css, rx=5)
    speed = f"{_tflops(rung.tflops)}  ({rung.share:.1%})"
    scene.text(_NAMES + 81, y - 3, rung.name, "small mono bold", "middle")
    scene.text(_NAMES + 81, y + 12, speed, "small", "middle")
    for x, words, letters in ((_WHY, rung.why, 43), (_BINDS, rung.binds.replace("`", ""), 33)):
        lines = textwrap.wrap(words, letters)
        scene.lines(x, y + 12 - 8 * len(lines), lines, pitch=16)
    scene.line(_WHY, y + _PAGE_ROW / 2, 714, y + _PAGE_ROW / 2, "faint")


def _tflops(tflops: float) -> str:
    return f"{tflops:.3g}" if tflops < 100 else f"{tflops:,.0f}"


def _page_words(label: str, rungs: Sequence[Step]) -> str:
    told = " ".join(
        f"{rung.name} {_tflops(rung.tflops)}: {rung.why} {rung.binds}" for rung in rungs
    )
    return f"The climb, {label}: TFLOP/s, why faster, what holds it back then. {told}"
