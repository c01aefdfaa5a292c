"""Let a reader change a launch and watch which of the four limits of occupancy binds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from course_lib.devices import DEVICES, Device, device, occupancy
from course_lib.devices.occupancy import Occupancy
from course_lib.figures.hierarchy import sm_budget
from course_lib.figures.interactive import Control, Interactive, Layer, Scene
from course_lib.figures.picture import Picture
from course_lib.wording.words import counted, joined

# One GPU for each compute capability: limits do not depend on more.
_GPUS = ("T4", "V100", "A100-40", "A6000", "L4", "H100", "B200", "5090")
_THREADS = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
_REGISTERS = (24, 32, 40, 48, 64, 65, 80, 96, 128, 168, 255)
_KIB = (0, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192)

_LIMITS = ("warps", "registers", "shared memory", "blocks")
_HEADS = ("warp slots", "registers", "shared memory", "blocks per SM")

# Where things lie, in units of the scene.
_BARS, _BLOCK, _MOST = 136.0, 10.5, 32  # left edge, width of one block, blocks that fit
_ROW, _FIRST = 66.0, 30.0
_SLOTS, _SLOT, _SLOT_ROW = 14.0, 21.6, 352.0


def explore_occupancy(
    gpu: str | Device = "A6000",
    threads: int = 1024,
    registers: int = 37,
    shared_bytes: int = 8192,
) -> Interactive:
    """Change threads, registers, shared memory and GPU; see four limits and the one that binds.

    Args:
        gpu: where the figure starts.
        threads: per block, of your own launch; the figure starts with it.
        registers: per thread, as `course_lib.compile_report` says.
        shared_bytes: per block, static and dynamic together.
    """
    start = device(gpu)
    occupancy(start, threads, registers, shared_bytes)  # refuses what no launch can have
    offered = _Offered(start, threads, registers, shared_bytes)
    return Interactive(
        "Occupancy: how many blocks does one SM hold?",
        _draw(),
        offered.controls(),
        offered.layers(),
        offered.words(),
        draw_still=lambda: _still(start, threads, registers, shared_bytes),
        alt=(
            "Four bars say how many blocks fit by warp slots, registers, shared memory and the cap "
            "on blocks; a frame and an arrow mark the smallest. Below, the SM's warp slots, filled "
            "block by block."
        ),
    )


class _Offered:
    """The launches to choose from, and what follows from each."""

    def __init__(self, start: Device, threads: int, registers: int, shared_bytes: int) -> None:
        self.start = start, threads, registers, shared_bytes
        gpus = [DEVICES[name] for name in _GPUS]
        self.gpus = gpus if start in gpus else [start, *gpus]
        self.threads = sorted({*_THREADS, threads})
        self.registers = sorted({*_REGISTERS, registers})
        self.bytes = sorted({*(1024 * kib for kib in _KIB), shared_bytes})
        self.found = cache(self._found)
        self.result = cache(lambda *at: _result_of(self.found(*at)))

    def _found(self, gpu: int, threads: int, registers: int, shared: int) -> Occupancy:
        return occupancy(
            self.gpus[gpu], self.threads[threads], self.registers[registers], self.bytes[shared]
        )

    def controls(self) -> tuple[Control, ...]:
        start, threads, registers, shared = self.start
        gpus = [f"{row.name} (cc {row.cc})" for row in self.gpus]
        counts = [_bytes(count) for count in self.bytes]
        return (
            Control("gpu", "GPU", gpus, self.gpus.index(start), "choice"),
            _choice("threads", "threads per block", self.threads, threads),
            _choice("registers", "registers per thread", self.registers, registers),
            Control("shared", "shared memory per block", counts, self.bytes.index(shared)),
        )

    def layers(self) -> list[Layer]:
        found = self.found
        return [
            Layer(("gpu", "threads"), lambda g, t: _limit_state(0, found(g, t, 0, 0))),
            Layer(("threads", "registers"), lambda t, r: _limit_state(1, found(0, t, r, 0))),
            Layer(("gpu", "shared"), lambda g, s: _limit_state(2, found(g, 0, 0, s))),
            Layer(("gpu",), lambda g: _gpu_state(found(g, 0, 0, 0))),
            Layer(_EVERYTHING, lambda *at: _result_state(self.result(*at))),
        ]

    def words(self) -> tuple[Layer, ...]:
        return (
            Layer(_EVERYTHING, lambda *at: _result_words(self.result(*at))),
            Layer(_EVERYTHING, lambda *at: _limiter_words(self.result(*at))),
            Layer(("threads", "registers"), lambda t, r: self.found(0, t, r, 0).why_not),
            Layer(("gpu", "shared"), lambda g, s: self.found(g, 0, 0, s).why_not),
            Layer((), lambda: _CAUTION),
        )


def _choice(key: str, label: str, counts: list[int], start: int) -> Control:
    return Control(key, label, list(map(str, counts)), counts.index(start))


_EVERYTHING = ("gpu", "threads", "registers", "shared")
_CAUTION = (
    "This is theoretical occupancy: the most that can be resident. It is a means; a kernel with "
    "less of it can be the faster one."
)


# --- what is drawn once ---------------------------------------------------------------------------


def _draw() -> Scene:
    scene = Scene(720, 402)
    scene.text(10, 18, "Blocks that each limit would allow; the smallest one counts", css="bold")
    for number, (limit, head) in enumerate(zip(_LIMITS, _HEADS, strict=True)):
        _draw_limit(scene, _FIRST + _ROW * number, limit, head)
    y = _FIRST + _ROW * len(_LIMITS) + 14
    scene.text(10, y, "", css="large bold", name="result")
    scene.text(10, y + 21, "", css="small muted", name="slots head")
    for slot in range(64):
        x, y = _slot(slot)
        scene.rect(x, y, _SLOT, 18, css="cell", name=f"slot {slot}")
    scene.path("M0 0", css="a-soft", name="resident")
    return scene


def _draw_limit(scene: Scene, y: float, limit: str, head: str) -> None:
    scene.text(10, y + 19, head, css="bold")
    scene.rect(_BARS, y + 5, _BLOCK * _MOST, 19, css="wash")
    scene.rect(_BARS, y + 5, 0, 19, css="a moves", name=f"{limit} bar")
    for block in range(1, _MOST):
        x = _BARS + _BLOCK * block
        scene.line(x, y + 5, x, y + 24, css="faint")
    scene.text(_BARS + _BLOCK * _MOST + 10, y + 19, "", css="bold", name=f"{limit} number")
    scene.text(10, y + 43, "", css="small muted", name=f"{limit} sum 0")
    scene.text(10, y + 58, "", css="small muted", name=f"{limit} sum 1")
    with scene.group(f"{limit} binds"):
        scene.rect(_BARS - 4, y + 1, _BLOCK * _MOST + 8, 27, css="outline", rx=3)
        scene.text(_BARS + _BLOCK * _MOST + 92, y + 19, "◀ sets the limit", css="bold")


def _slot(number: int) -> tuple[float, float]:
    row, column = divmod(number, 32)
    return _SLOTS + _SLOT * column, _SLOT_ROW + 24 * row


# --- what depends on the controls -----------------------------------------------------------------


def _limit_state(number: int, found: Occupancy) -> dict[str, dict[str, object]]:
    """One limit: its bar, its number, and the arithmetic in at most two lines."""
    limit = _LIMITS[number]
    blocks = found.limits[limit]
    lines = _two_lines(found.arithmetic[limit])
    return {
        f"{limit} bar": {"width": _BLOCK * min(blocks, _MOST)},
        f"{limit} number": {"text": counted(blocks, "block") + (" ▸" if blocks > _MOST else "")},
        f"{limit} sum 0": {"text": lines[0]},
        f"{limit} sum 1": {"text": lines[1]},
    }


def _gpu_state(found: Occupancy) -> dict[str, dict[str, object]]:
    state = _limit_state(3, found)
    for slot in range(64):
        state[f"slot {slot}"] = {"hidden": slot >= found.max_warps}
    state["slots head"] = {
        "text": f"The {found.max_warps} warp slots of one SM; each brick is a resident block"
    }
    return state


@dataclass(frozen=True)
class _Result:
    """What follows from the four limits; thousands of launches share a few hundred of these."""

    limiters: tuple[str, ...]
    blocks: int
    warps_per_block: int
    most_warps: int

    @property
    def warps(self) -> int:
        return self.blocks * self.warps_per_block

    @property
    def share(self) -> str:
        return f"{self.warps / self.most_warps:.1%}"


def _result_of(found: Occupancy) -> _Result:
    limits = found.limits
    blocks = min(limits.values())
    limiters = tuple(name for name, limit in limits.items() if limit == blocks)
    return _Result(limiters, blocks, found.warps_per_block, found.max_warps)


def _result_words(result: _Result) -> str:
    if not result.blocks:
        return "The launch fails: not even one block gets what it needs."
    return (
        f"One SM holds {counted(result.blocks, 'block')}, which is {result.warps} of "
        f"{result.most_warps} warps: an occupancy of {result.share}."
    )


def _limiter_words(result: _Result) -> str:
    if not result.blocks:
        return ""
    names = [_HEADS[_LIMITS.index(limit)] for limit in result.limiters]
    return f"Limited by {joined(names)}."


@cache
def _result_state(result: _Result) -> dict[str, dict[str, object]]:
    text = "✗ The launch fails."
    if result.blocks:
        text = (
            f"{counted(result.blocks, 'block')} × {counted(result.warps_per_block, 'warp')} = "
            f"{result.warps} of {result.most_warps} warps: {result.share}"
        )
    return {
        "result": {"text": text},
        "resident": {
            "d": _bricks(result.blocks, result.warps_per_block),
            "hidden": not result.blocks,
        },
        **{f"{limit} binds": {"hidden": limit not in result.limiters} for limit in _LIMITS},
    }


@cache
def _bricks(blocks: int, warps: int) -> str:
    """An outline for each resident block, over the slots that its warps take."""
    pieces = []
    for block in range(blocks):
        first, end = block * warps, (block + 1) * warps
        while first < end:
            stop = min(end, (first // 32 + 1) * 32)
            x, y = _slot(first)
            width = _SLOT * (stop - first) - 3
            pieces.append(f"M{x + 1.5:g} {y - 1.5:g}h{width:g}v21h-{width:g}z")
            first = stop
    return "".join(pieces) or "M0 0"


def _two_lines(arithmetic: str) -> tuple[str, str]:
    """The arithmetic cut where a new step begins, so that it fits the picture."""
    first, *rest = arithmetic.split("; ")
    return first, "; ".join(rest)


def _bytes(number: int) -> str:
    return f"{number // 1024} KiB" if number % 1024 == 0 else f"{number:,} B"


def _still(row: Device, threads: int, registers: int, shared_bytes: int) -> Picture:
    """The reader's launch, and what fewer threads or fewer registers would change."""
    launches = {
        f"{threads} threads, {registers} registers": (threads, registers, shared_bytes),
        f"256 threads, {registers} registers": (256, registers, shared_bytes),
        f"{threads} threads, 32 registers": (threads, 32, shared_bytes),
    }
    return sm_budget(row, launches)
