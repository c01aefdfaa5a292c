"""Draw the memories of a GPU, what fits into shared memory, and an SM's budgets for its blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes

from course_lib.devices import (
    DEFAULT_SHARED_KIB,
    REGISTERS_PER_SM,
    Capability,
    Device,
    device,
    occupancy,
)
from course_lib.figures import style
from course_lib.figures.pen import Looks, Pen, tinted
from course_lib.figures.picture import Picture
from course_lib.figures.plots import beside
from course_lib.wording.words import counted, joined


@dataclass(frozen=True)
class _Station:
    name: str
    hardware: str
    amount: tuple[str, ...]
    speed: tuple[str, ...]
    colour: str


def _stations(gpu: Device) -> tuple[_Station, ...]:
    capability = gpu.capability

    def star(field: str, row: Device | Capability = gpu) -> str:
        return " *" if field in row.unconfirmed else ""

    on_sm = f"{capability.l1_and_shared_kib} KiB per SM{star('l1_and_shared_kib', capability)}"
    of_shared = f"{gpu.shared_tb_per_s:.1f} TB/s{star('shared_bytes_per_clock')}"
    return (
        _Station(
            "DRAM", "global memory,\nbeside the chip", ("gigabytes", "holds every array"),
            (f"{gpu.dram_gb_per_s:,.0f} GB/s{star('dram_gb_per_s')}",), style.BLUE,
        ),
        _Station(
            "L2", "a cache for\nthe whole chip",
            (f"{gpu.l2_mib:g} MiB{star('l2_mib')}", "fills itself"), (), style.SKY,
        ),
        _Station(
            "L1 and shared", "a cache and a\nscratchpad",
            (on_sm, f"shared: up to {capability.shared_per_sm_kib}"),
            (of_shared, f"({gpu.sms} SMs together)"), style.ORANGE,
        ),
        _Station(
            "Registers", "a thread's\nown numbers",
            (f"{gpu.registers_kib_per_sm} KiB per SM", "≤ 255 per thread"), (), style.GREEN,
        ),
    )  # fmt: skip


_WIDTH, _GAP, _LEFT = 1.58, 0.32, 0.2


@style.drawn
def memory_places(gpu: str | Device = "T4") -> Picture:
    """The four places for a number on a GPU, with capacity, bandwidth, and who shares each."""
    row = device(gpu)
    ratio = row.shared_tb_per_s * 1000 / row.dram_gb_per_s
    pen = Pen.card(
        4.35,
        f"Where numbers live: {row.product}",
        "From DRAM to the registers: nearer, faster, and shared by fewer",
    )
    stations = _stations(row)
    top, height = 0.78, 2.5
    lefts, y = [_LEFT + place * (_WIDTH + _GAP) for place in range(4)], top + 1.13
    for x, station in zip(lefts, stations, strict=True):
        _draw_station(pen, x, top, height, station)
    for x in lefts[1:]:
        pen.arrow((x - _GAP + 0.03, y), (x - 0.03, y), line=2)
    dram, l2, l1, registers = (x + _WIDTH / 2 for x in lefts)
    _crates(pen, dram, y, 12, 4, style.BLUE)
    _crates(pen, l2, y, 7, 3, style.SKY)
    _draw_l1(pen, l1, y)
    for place in (-1, 0, 1):
        _crates(pen, registers + 0.26 * place, y, 1, 1, style.GREEN)
    _draw_brackets(pen, top + height)
    pen.footnote(
        f"Shared memory moves {ratio:.0f} times as many bytes per second as DRAM."
        + ("     * second-hand or unconfirmed" if _has_star(stations) else "")
    )
    return pen.picture(_words(row, stations, ratio))


def _has_star(stations: Sequence[_Station]) -> bool:
    return any(
        line.endswith("*") for station in stations for line in station.amount + station.speed
    )


def _draw_station(pen: Pen, x: float, y: float, height: float, station: _Station) -> None:
    pen.box(x, y, _WIDTH, height, colour=station.colour, fill=0.12, line=1.6)
    middle = x + _WIDTH / 2
    pen.write(middle, y + 0.22, station.name, ha="center", bold=True, size=style.LARGE)
    pen.write(middle, y + 0.57, station.hardware, ha="center", colour=style.GREY, linespacing=1.15)
    pen.write(middle, y + 1.5, "\n".join(station.amount), va="top", ha="center", linespacing=1.4)
    speed: dict[str, Any] = {"va": "top", "bold": True, "linespacing": 1.4}
    pen.write(middle, y + 1.97, "\n".join(station.speed), ha="center", **speed)


def _crates(pen: Pen, x: float, y: float, columns: int, rows: int, colour: str) -> None:
    """A stack of crates around a middle."""
    size, face = 0.105, style.tint(colour, 0.6)
    crates = pen.at(x - columns / 2 * size, y - rows / 2 * size, size)
    for row in range(rows):
        for column in range(columns):
            crates.cell(row, column, face=face, edge=style.PAPER, line=0.8, z=1)


def _draw_l1(pen: Pen, x: float, y: float) -> None:
    """One array, two parts: one fills itself, the other is filled by the kernel."""
    face = style.tint(style.ORANGE, 0.5)
    over = {"facecolor": face, "edgecolor": "none", "pad": 0.5}
    for left, name, hatch in ((x - 0.7, "L1", "....."), (x, "shared", None)):
        pen.rectangle(left, y - 0.13, 0.7, 0.26, face=face, edge=style.ORANGE, hatch=hatch)
        pen.write(left + 0.35, y, name, ha="center", bbox=over)


def _draw_brackets(pen: Pen, y: float) -> None:
    spans = (
        (0, 2, "shared by the whole GPU"),
        (2, 3, "its SM's blocks divide it"),
        (3, 4, "one thread's own"),
    )
    for first, last, words in spans:
        left = _LEFT + first * (_WIDTH + _GAP)
        right = _LEFT + last * (_WIDTH + _GAP) - _GAP
        high, low = y + 0.08, y + 0.17
        bracket = ((left, high), (left, low), (right, low), (right, high))
        pen.line(*bracket, colour=style.GREY, line=1.2)
        pen.write((left + right) / 2, y + 0.22, words, va="top", ha="center")


def _words(gpu: Device, stations: Sequence[_Station], ratio: float) -> str:
    told = "; ".join(
        f"{station.name} ({station.hardware.replace(chr(10), ' ')}): "
        + ", ".join(station.amount + station.speed).replace(", (", " (")
        for station in stations
    )
    return (
        f"Where numbers live on the {gpu.product}. {told}. The whole GPU shares DRAM and L2, the "
        "blocks on an SM divide its L1 and shared memory, registers are one thread's own. "
        f"Shared memory moves {ratio:.0f} times as many bytes per second as DRAM."
    )


_HEIGHTS, _K, _TILE = (4, 32), 4096, 32  # of A's strips; their length; the edge of the tiles
_GPUS = ("T4", "A6000", "A100-80", "H100")


@style.drawn
def strips_fit() -> Picture:
    """Whole strips of A and B against the shared memory that a block can get, and a pair of tiles.

    B's strip is as wide as A's is high, so a pair takes twice that many rows of K floats.
    """
    loads = [(f"two tiles, {_TILE} × {_TILE}", 2 * _TILE * _TILE * 4 / 1024)]
    loads += [(f"both strips, BM = {each}", 2 * each * _K * 4 / 1024) for each in _HEIGHTS]
    limits = [("default", float(DEFAULT_SHARED_KIB))]
    limits += [(name, float(device(name).capability.shared_per_block_kib)) for name in _GPUS]
    figure = style.card(
        1.95 + 0.5 * len(loads),
        "What fits in shared memory? (float32)",
        f"Strips run over all of K = {_K}; dashed: the most shared memory that one block can get; "
        "arrow: off the scale",
    )
    axes = style.area(figure, 2.05, 0.6, 0.45, 1.3)
    _draw_loads(axes, loads, limits)
    _draw_limits(axes, limits)
    return Picture(figure, _fit_words(loads, limits))


def _draw_loads(
    axes: Axes, loads: Sequence[tuple[str, float]], limits: Sequence[tuple[str, float]]
) -> None:
    """Bars from zero to scale; what is far beyond every limit runs out of the picture."""
    most = max(limit for _, limit in limits)
    least = min(limit for _, limit in limits)
    end = most * 1.14
    axes.set_xlim(0, end)
    pen = Pen(axes)
    for place, (_, amount) in enumerate(loads):
        colour = (
            style.VERMILION if amount > most else style.ORANGE if amount > least else style.GREEN
        )
        hatch = "////" if amount > most else None
        pen.bar(0, place, min(amount, end), 0.5, hatch=hatch, **tinted(colour, 0.55, 1.0))
        inside = amount > least  # left of the first limit, so that no dashed line crosses it
        if amount > end:
            axes.annotate(
                "", (end, place), xytext=(end * 0.93, place), zorder=4, annotation_clip=False,
                arrowprops={"arrowstyle": "-|>", "color": style.INK, "linewidth": 1.8},
            )  # fmt: skip
        x = end * 0.012 + (0 if inside else amount)
        over = {"facecolor": style.PAPER, "edgecolor": "none", "pad": 1.0, "alpha": 0.85}
        pen.write(x, place, style.kib(amount), bold=True, z=5, bbox=over)
    axes.set_yticks(range(len(loads)), [name for name, _ in loads])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(loads) - 0.4, -0.6)
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= end])
    axes.set_xlabel("KiB", loc="right")


def _draw_limits(axes: Axes, limits: Sequence[tuple[str, float]]) -> None:
    for place, (name, limit) in enumerate(sorted(limits, key=lambda each: each[1])):
        axes.axvline(limit, color=style.INK, linewidth=1.1, linestyle=(0, (4, 3)), zorder=3)
        # Neighbours may be close, so their names take turns in height.
        offset = 0, 4 + 12 * (place % 3)
        beside(axes, f"{name} {limit:g}", (limit, -0.6), offset, ha="center", va="bottom")


def _fit_words(loads: Sequence[tuple[str, float]], limits: Sequence[tuple[str, float]]) -> str:
    told = []
    for name, amount in loads:
        fits = [where for where, limit in limits if amount <= limit]
        verdict = "fit everywhere" if len(fits) == len(limits) else f"fit {', '.join(fits)}"
        told.append(f"{name}, {style.kib(amount)}: {verdict if fits else 'fit nowhere'}")
    bounds = ", ".join(f"{name} {limit:g}" for name, limit in limits)
    return f"Shared memory that one block can get, in KiB: {bounds}. {'; '.join(told)}."


# --- An SM as four budgets, and the one that runs out first ---------------------------------------


Launch = tuple[int, int, int]  # threads per block, registers per thread, shared bytes per block

_BUDGET_LEFT, _FULL = 1.42, 3.5  # where the bars begin, and how long a whole budget is
_OVER = 0.55  # how far a block that does not fit may stick out
_ROW, _BAR, _HEAD, _BUDGET_GAP = 0.3, 0.22, 0.31, 0.16
_MOST = 3  # launches in one picture


@dataclass(frozen=True)
class _Budget:
    """One budget of the SM: what a block takes of it, and how many times that fits."""

    name: str
    need: int  # of one block
    whole: int
    fits: int  # blocks, roundings included
    binds: bool


@style.drawn
def sm_budget(gpu: str | Device, launches: Launch | Mapping[str, Launch]) -> Picture:
    """The four budgets of one SM, filled with the blocks of a launch; the binding one is lit.

    Args:
        gpu: a name of the data sheet, or its row.
        launches: threads per block, registers per thread and shared bytes per block; up to three
            of them by name to compare.

    Raises:
        ValueError: if there are none, or too many for a page.
    """
    row = device(gpu)
    named = dict(launches) if isinstance(launches, Mapping) else {_title(launches): launches}
    if not 1 <= len(named) <= _MOST:
        raise ValueError(f"One to {_MOST} launches fit, not {len(named)}.")
    height = 0.98 + len(named) * (_HEAD + 4 * _ROW + _BUDGET_GAP) + 0.05
    pen = Pen.card(
        height,
        f"What the blocks of one SM share: {row.product}",
        "Each bar is one budget of the SM. A block goes in whole or not at all.",
    )
    y, told = 0.72, []
    for name, launch in named.items():
        told.append(_draw_launch(pen, y, name, row, launch))
        y += _HEAD + 4 * _ROW + _BUDGET_GAP
    pen.footnote("Hatched: the next block, which no longer fits. White: room left over.")
    return pen.picture(f"The four budgets of one SM of {row.product}. {' '.join(told)}")


def _title(launch: Launch) -> str:
    threads, registers, shared = launch
    return f"{threads} threads, {registers} registers, {shared:,} B of shared memory"


def _draw_launch(pen: Pen, y: float, name: str, row: Device, launch: Launch) -> str:
    found = occupancy(row, *launch)
    share = f"{100 * found.share:.3g} %"
    verdict = f"{counted(found.blocks, 'block')}, {found.warps} of {found.max_warps} warps: {share}"
    if not found.launches:
        verdict = "the launch fails"
    pen.write(0.16, y + 0.13, name, size=style.NORMAL, bold=True)
    pen.write(7.44, y + 0.13, verdict, ha="right", size=style.NORMAL)
    y += _HEAD
    budgets = _budgets(found)
    for budget in budgets:
        _draw_budget(pen, y, budget, found.blocks)
        y += _ROW
    limits = ", ".join(f"{each.name} {each.fits}" for each in budgets)
    binding = joined(found.limiters, none="nothing")
    return f"{name}: {verdict}; blocks that fit by {limits}; binding: {binding}."


def _budgets(found: Any) -> list[_Budget]:
    needs = {
        "warps": (found.warps_per_block, found.max_warps),
        "registers": (found.warps_per_block * found.registers_per_warp, REGISTERS_PER_SM),
        "shared memory": (found.shared_per_block, found.sm.shared_per_sm_bytes),
        "blocks": (1, found.sm.blocks_per_sm),
    }
    return [
        _Budget(name, need, whole, found.limits[name], name in found.limiters)
        for name, (need, whole) in needs.items()
    ]


def _draw_budget(pen: Pen, y: float, budget: _Budget, resident: int) -> None:
    colour = style.ORANGE if budget.binds else style.BLUE
    size = _FULL * budget.need / budget.whole
    pen.write(_BUDGET_LEFT - 0.1, y + _BAR / 2, budget.name, ha="right", bold=budget.binds)
    for place in range(resident):
        _draw_block(pen, _BUDGET_LEFT + place * size, y, size, colour, str(place + 1))
    if budget.binds:
        start = resident * size
        width = min(size, _FULL + _OVER - start)
        looks: Looks = {"face": style.PAPER, "edge": style.VERMILION, "hatch": "////"}
        pen.rectangle(_BUDGET_LEFT + start, y, width, _BAR, line=1, z=1, **looks)
    pen.rectangle(_BUDGET_LEFT, y, _FULL, _BAR, edge=style.INK, line=1.3, z=4)
    used = _of(resident * budget.need, budget)
    pen.write(_BUDGET_LEFT + _FULL + _OVER + 0.1, y + _BAR / 2, used, bold=budget.binds)
    fits = f"fits {budget.fits}" + ("  ◀" if budget.binds else "")
    pen.write(6.92, y + _BAR / 2, fits, bold=budget.binds)


def _draw_block(pen: Pen, x: float, y: float, size: float, colour: str, label: str) -> None:
    words = label if size > 0.16 else ""
    pen.at(x, y, size, _BAR).cell(0, 0, words, **tinted(colour, 0.35, 0.9))


def _of(used: int, budget: _Budget) -> str:
    if budget.name == "shared memory":
        return f"{used / 1024:g} of {budget.whole / 1024:g} KiB"
    return f"{used:,} of {budget.whole:,}"
