"""Draw the whole climb on one page: each rung, why it is faster, and what holds it back then."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course_lib import curriculum, measurements
from course_lib.figures import style
from course_lib.figures.pen import Pen
from course_lib.figures.picture import Picture
from course_lib.measurements import Entry, Measurements

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

_ROW, _TOP = 0.48, 0.98
# Where the columns begin; the first one also ends.
_NAMES, _WHY, _BINDS = (0.2, 1.86), 2.06, 5.1


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


@style.drawn
def climb() -> Picture:
    """The ladder as a page to teach from: speeds as measured on an H200, reasons, limits."""
    measured = measurements.load("H200")
    rungs = steps(measured, SIZE)
    pen = Pen.card(
        _TOP + _ROW * len(rungs) + 0.3,
        "The climb on one page",
        f"{measured.label}, {SIZE}³: TFLOP/s, and the share of cuBLAS in the same format.",
    )
    for x, words in ((_WHY, "why it is faster"), (_BINDS, "what holds it back then")):
        pen.write(x, _TOP - 0.16, words, colour=style.GREY, bold=True)
    bottom = _TOP + _ROW * len(rungs)
    for place, rung in enumerate(rungs):
        y = bottom - _ROW * (place + 0.5)
        _draw_rung(pen, y, rung)
        if place:
            _draw_gain(pen, y + _ROW / 2, rung.tflops / rungs[place - 1].tflops)
    note = "Orange: float32 on CUDA cores. Purple: bfloat16 on tensor cores. Measured by bench."
    pen.footnote(note)
    return pen.picture(_words(measured.label, rungs))


def _gflops(entry: Entry, size: int) -> float:
    cell = entry.cell(size)
    return cell.gflops if cell else 0.0


def _draw_rung(pen: Pen, y: float, rung: Step) -> None:
    left, right = _NAMES
    colour = style.ORANGE if rung.precision == "float32" else style.PURPLE
    pen.box(left, y - 0.175, right - left, 0.35, colour=colour)
    middle = (left + right) / 2
    pen.write(middle, y - 0.08, rung.name, ha="center", mono=True, bold=True)
    pen.write(middle, y + 0.095, f"{_number(rung.tflops)}  ({rung.share:.1%})", ha="center")
    for x, words, letters in ((_WHY, rung.why, 43), (_BINDS, rung.binds.replace("`", ""), 33)):
        pen.write(x, y, textwrap.fill(words, letters), linespacing=1.1)
    pen.line((_WHY, y + _ROW / 2), (7.44, y + _ROW / 2), colour=style.FAINT, line=0.8)


def _draw_gain(pen: Pen, y: float, gain: float) -> None:
    pen.arrow((0.72, y + 0.075), (0.72, y - 0.075), colour=style.GREY)
    pen.write(0.82, y, f"× {gain:.2f}", colour=style.GREY)


def _number(tflops: float) -> str:
    return f"{tflops:.3g}" if tflops < 100 else f"{tflops:,.0f}"


def _words(label: str, rungs: Sequence[Step]) -> str:
    told = " ".join(
        f"{rung.name} {_number(rung.tflops)}: {rung.why} {rung.binds}" for rung in rungs
    )
    return f"The climb, {label}: TFLOP/s, why faster, what holds it back then. {told}"
