"""Draw the memories of a GPU, what fits into shared memory, and an SM's budgets for its blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from course_lib.devices import (
    DEFAULT_SHARED_KIB,
    REGISTERS_PER_SM,
    Capability,
    Device,
    device,
    occupancy,
)
from course_lib.figures import style
from course_lib.figures.interactive import Grid, Scene
from course_lib.figures.interactive.still import draw_scene
from course_lib.figures.picture import Picture
from course_lib.wording.words import counted, joined


@dataclass(frozen=True)
class _Station:
    name: str
    hardware: str
    amount: tuple[str, ...]
    speed: tuple[str, ...]
    css: str


def _stations(gpu: Device) -> tuple[_Station, ...]:
    capability = gpu.capability

    def star(field: str, row: Device | Capability = gpu) -> str:
        return " *" if field in row.unconfirmed else ""

    on_sm = f"{capability.l1_and_shared_kib} KiB per SM{star('l1_and_shared_kib', capability)}"
    of_shared = f"{gpu.shared_tb_per_s:.1f} TB/s{star('shared_bytes_per_clock')}"
    return (
        _Station(
            "DRAM", "global memory,\nbeside the chip", ("gigabytes", "holds every array"),
            (f"{gpu.dram_gb_per_s:,.0f} GB/s{star('dram_gb_per_s')}",), "a",
        ),
        _Station(
            "L2", "a cache for\nthe whole chip",
            (f"{gpu.l2_mib:g} MiB{star('l2_mib')}", "fills itself"), (), "a",
        ),
        _Station(
            "L1 and shared", "a cache and a\nscratchpad",
            (on_sm, f"shared: up to {capability.shared_per_sm_kib}"),
            (of_shared, f"({gpu.sms} SMs together)"), "b",
        ),
        _Station(
            "Registers", "a thread's\nown numbers",
            (f"{gpu.registers_kib_per_sm} KiB per SM", "≤ 255 per thread"), (), "c",
        ),
    )  # fmt: skip


_WIDTH, _GAP, _LEFT = 152.0, 30.0, 10.0


def memory_places(gpu: str | Device = "T4") -> Picture:
    """The four places for a number on a GPU, with capacity, bandwidth, and who shares each."""
    row = device(gpu)
    ratio = row.shared_tb_per_s * 1000 / row.dram_gb_per_s
    stations = _stations(row)
    scene = Scene(720, 290)
    y = 120.0  # of what is in a place
    for place, (station, crates) in enumerate(zip(stations, _CRATES, strict=True)):
        x = _LEFT + place * (_WIDTH + _GAP)
        middle = x + _WIDTH / 2
        scene.rect(x, 6, _WIDTH, 244, f"{station.css}-soft", rx=6)
        scene.text(middle, 32, station.name, "large bold", "middle")
        for top, words, css in (
            (56, station.hardware.split("\n"), "small muted"),
            (162, station.amount, "small"),
            (208, station.speed, "small bold"),
        ):
            scene.lines(middle, top, words, css, 18, "middle")
        if place:
            scene.arrow(x - _GAP + 3, y, x - 3, y)
        for off, columns, rows in crates:
            stack = Grid(middle + off - 5 * columns, y - 5 * rows, (rows, columns), 10)
            scene.path(stack.outline(), station.css)
            scene.path(stack.lattice(), "lattice")
    # One array, two parts: one fills itself, the other is filled by the kernel.
    middle = _LEFT + 2 * (_WIDTH + _GAP) + _WIDTH / 2
    for x, name, css in ((middle - 67, "L1", "dots"), (middle, "shared", "b")):
        scene.cell(x, y - 13, 67, 26, name, css, "small halo" if css == "dots" else "small on-b")
    for first, last, told in (
        (0, 2, "shared by the whole GPU"),
        (2, 3, "its SM's blocks divide it"),
        (3, 4, "one thread's own"),
    ):
        left = _LEFT + first * (_WIDTH + _GAP)
        right = _LEFT + last * (_WIDTH + _GAP) - _GAP
        scene.path(f"M{left} 258 V266 H{right} V258", "arrow")
        scene.text((left + right) / 2, 284, told, "small", "middle")
    has_star = any(
        line.endswith("*") for station in stations for line in station.amount + station.speed
    )
    return draw_scene(
        scene,
        f"Where numbers live: {row.product}",
        _words(row, stations, ratio),
        "From DRAM to the registers: nearer, faster, and shared by fewer",
        f"Shared memory moves {ratio:.0f} times as many bytes per second as DRAM."
        + ("     * second-hand or unconfirmed" if has_star else ""),
    )


# In each place stacks of crates: how far right of its middle, how many wide, how many high.
_CRATES = (((0, 12, 4),), ((0, 7, 3),), (), ((-25, 1, 1), (0, 1, 1), (25, 1, 1)))


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


def strips_fit() -> Picture:
    """Whole strips of A and B against the shared memory that a block can get, and a pair of tiles.

    B's strip is as wide as A's is high, so a pair takes twice that many rows of K floats.
    """
    loads = [(f"two tiles, {_TILE} × {_TILE}", 2 * _TILE * _TILE * 4 / 1024)]
    loads += [(f"both strips, BM = {height}", 2 * height * _K * 4 / 1024) for height in _HEIGHTS]
    limits = [("default", float(DEFAULT_SHARED_KIB))]
    limits += [(name, float(device(name).capability.shared_per_block_kib)) for name in _GPUS]
    most, least = (extreme(limit for _, limit in limits) for extreme in (max, min))
    end, bottom = most * 1.14, 52 + 44.0 * len(loads)
    scene, left, unit = Scene(720, bottom + 36), 196.0, 490 / end
    for place, (name, amount) in enumerate(loads):
        y, css = 72 + 44 * place, "c-soft"
        if amount > least:
            css = "hatch-trouble" if amount > most else "b-soft"
        scene.text(left - 10, y + 4, name, "small", "end")
        scene.rect(left, y - 12, min(amount, end) * unit, 24, css)
        if amount > end:
            scene.arrow(left + 450, y, left + 489, y)
    for place, (name, limit) in enumerate(sorted(limits, key=lambda named_limit: named_limit[1])):
        x = left + limit * unit
        scene.line(x, 46, x, bottom, "ink dashed")
        # Neighbours may be close, so their names take turns in height.
        scene.text(x, 40 - 15 * (place % 3), f"{name} {limit:g}", "small", "middle")
    for place, (_, amount) in enumerate(loads):  # left of the first limit where there is room
        x = left + 7 + (0 if amount > least else amount * unit)
        scene.text(x, 76 + 44 * place, style.kib(amount), "small bold halo")
    scene.line(left, bottom, left + end * unit, bottom)
    for tick in range(0, int(end) + 1, 50):
        scene.text(left + tick * unit, bottom + 15, str(tick), "small muted", "middle")
    scene.text(left + end * unit, bottom + 31, "KiB", "small", "end")
    return draw_scene(
        scene,
        "What fits in shared memory? (float32)",
        _fit_words(loads, limits),
        f"Strips run over all of K = {_K}; dashed: the most shared memory that one block can get; "
        "arrow: off the scale",
    )


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

_BAR, _FULL = 134.0, 336.0  # where the bars begin, and how long a whole budget is
_OVER = 53.0  # how far a block that does not fit may stick out
_ROW, _HEAD = 29.0, 30.0
_MOST = 3  # launches in one picture


@dataclass(frozen=True)
class _Budget:
    """One budget of the SM: what a block takes of it, and how many times that fits."""

    name: str
    need: int  # of one block
    whole: int
    fits: int  # blocks, roundings included
    binds: bool


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
    scene, told = Scene(720, len(named) * (_HEAD + 4 * _ROW + 14)), []
    for place, (name, launch) in enumerate(named.items()):
        top = place * (_HEAD + 4 * _ROW + 14)
        told.append(_draw_launch(scene, top, name, row, launch))
    return draw_scene(
        scene,
        f"What the blocks of one SM share: {row.product}",
        f"The four budgets of one SM of {row.product}. {' '.join(told)}",
        "Each bar is one budget of the SM. A block goes in whole or not at all.",
        "Hatched: the next block, which no longer fits. White: room left over.",
    )


def _title(launch: Launch) -> str:
    threads, registers, shared = launch
    return f"{threads} threads, {registers} registers, {shared:,} B of shared memory"


def _draw_launch(scene: Scene, y: float, name: str, row: Device, launch: Launch) -> str:
    found = occupancy(row, *launch)
    share = f"{100 * found.share:.3g} %"
    verdict = f"{counted(found.blocks, 'block')}, {found.warps} of {found.max_warps} warps: {share}"
    if not found.launches:
        verdict = "the launch fails"
    scene.text(10, y + 16, name, "bold")
    scene.text(714, y + 16, verdict, "", "end")
    budgets = _budgets(found)
    for place, budget in enumerate(budgets):
        _draw_budget(scene, y + _HEAD + place * _ROW, budget, found.blocks)
    limits = ", ".join(f"{budget.name} {budget.fits}" for budget in budgets)
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


def _draw_budget(scene: Scene, y: float, budget: _Budget, resident: int) -> None:
    css, bold = ("b-soft", "small bold") if budget.binds else ("a-soft", "small")
    size = _FULL * budget.need / budget.whole
    scene.text(_BAR - 10, y + 15, budget.name, bold, "end")
    for place in range(resident):
        label = str(place + 1) if size > 16 else ""
        scene.cell(_BAR + place * size, y, size, 21, label, css)
    if budget.binds:
        start = resident * size
        scene.rect(_BAR + start, y, min(size, _FULL + _OVER - start), 21, "hatch-trouble")
    scene.rect(_BAR, y, _FULL, 21, "outline thin")
    scene.text(_BAR + _FULL + _OVER + 8, y + 15, _of(resident * budget.need, budget), bold)
    scene.text(650, y + 15, f"fits {budget.fits}" + "  ◀" * budget.binds, bold)


def _of(used: int, budget: _Budget) -> str:
    if budget.name == "shared memory":
        return f"{used / 1024:g} of {budget.whole / 1024:g} KiB"
    return f"{used:,} of {budget.whole:,}"


# --- The funnel: what each level of memory delivers, and what the arithmetic could take -----------


_TALLEST = 182.0  # of the last station
_WIDE, _WIDENING = 115.0, 88.0


@dataclass(frozen=True)
class _Level:
    name: str
    tb_per_s: float
    css: str


def stations(gpu: Device) -> tuple[_Level, ...]:
    """What DRAM and shared memory deliver, and what the float32 units take in without any reuse.

    Each multiply-add is two FLOP and wants two numbers of 4 bytes, so every FLOP wants 4 bytes.
    """
    return (
        _Level("DRAM", gpu.dram_gb_per_s / 1000, "a"),
        _Level("shared memory", gpu.shared_tb_per_s, "b"),
        _Level("float32 units", 4 * gpu.fp32_tflops, "c"),
    )


def funnel() -> Picture:
    """The way of a number to the multiply units, each station as wide as what goes through it."""
    row = device("H200")
    levels = stations(row)
    scene = Scene(720, 236)
    middle, unit = 104.0, _TALLEST / levels[-1].tb_per_s
    before = None
    for place, level in enumerate(levels):
        x, half = 50 + place * (_WIDE + _WIDENING), max(level.tb_per_s * unit / 2, 1)
        box = f"M{x} {middle - half} H{x + _WIDE} V{middle + half} H{x} z"
        scene.path(box, f"{level.css}-soft")
        y = middle - 4 if half > 30 else middle - half - 28
        words = (level.name, f"{level.tb_per_s:,.3g} TB/s")
        scene.lines(x + _WIDE / 2, y, words, "small bold", 17, "middle")
        if before:  # the widening in front of a station, and what closes it
            left, low = x - _WIDENING, before.tb_per_s * unit / 2
            widening = f"M{left} {middle - low} L{x} {middle - half} V{middle + half}"
            scene.path(f"{widening} L{left} {middle + low} z", "wash")
            told = ("each number", f"used {level.tb_per_s / before.tb_per_s:.0f} times")
            scene.lines(left + _WIDENING / 2, 212, told, "small", 16, "middle")
        before = level
    tensor = 2 * row.fp16_tflops
    factor = f"{tensor / levels[-1].tb_per_s:.1f} times"
    beyond = ("tensor cores,", "16 bits:", f"{tensor:,.0f} TB/s,", factor, "as tall again")
    scene.lines(50 + 3 * _WIDE + 2 * _WIDENING + 16, middle - 36, beyond, pitch=18)
    return draw_scene(
        scene,
        f"The funnel: {row.product}",
        _funnel_words(row, levels, tensor),
        "Drawn to scale: TB/s that each level delivers, and that the units could take in",
        "Data sheets. Without reuse: every multiply–add would fetch its own two numbers.",
    )


def _funnel_words(row: Device, levels: Sequence[_Level], tensor: float) -> str:
    told = ", ".join(f"{level.name} {level.tb_per_s:,.3g} TB/s" for level in levels)
    factors = joined(
        f"{after.tb_per_s / before.tb_per_s:.0f}" for before, after in pairwise(levels)
    )
    return (
        f"A funnel from DRAM to the units of an {row.product}: {told}. Between them each number "
        f"has to be used {factors} times. Tensor cores could take in {tensor:,.0f} TB/s."
    )
