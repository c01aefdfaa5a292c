"""Let a reader change a launch, and see which of the four limits of occupancy binds."""

from functools import cache
from typing import Any

from course_lib.devices import DEVICES, Device, device, occupancy
from course_lib.devices.occupancy import Occupancy
from course_lib.figures.hierarchy import sm_budget
from course_lib.figures.interactive import Changes, Control, Grid, Interactive, Scene, layers_over
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
_SLOTS = Grid(14.0, 352.0, (2, 32), 21.6, 24.0)


def explore_occupancy(
    gpu: str | Device = "A6000", threads: int = 1024, registers: int = 37, shared_bytes: int = 8192
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
    gpus = [DEVICES[name] for name in _GPUS]
    offered: dict[str, list[Any]] = {
        "gpu": gpus if start in gpus else [start, *gpus],
        "threads": sorted({*_THREADS, threads}),
        "registers": sorted({*_REGISTERS, registers}),
        "shared": sorted({*(1024 * kib for kib in _KIB), shared_bytes}),
    }
    keys = tuple(offered)
    layer, found = layers_over(offered), cache(occupancy)
    g, t, r, s = (values[0] for values in offered.values())  # where a limit does not depend on it
    layers = [
        layer(("gpu", "threads"), lambda gpu, threads: _limit(0, found(gpu, threads, r, s))),
        layer(("threads", "registers"), lambda *both: _limit(1, found(g, *both, s))),
        layer(("gpu", "shared"), lambda gpu, shared: _limit(2, found(gpu, t, r, shared))),
        layer(("gpu",), lambda gpu: _gpu_state(found(gpu, t, r, s))),
        layer(keys, lambda *launch: _result_state(found(*launch))),
    ]
    words = (
        layer(keys, lambda *launch: _result_words(found(*launch))),
        layer(keys, lambda *launch: _limiter_words(found(*launch))),
        layer(("threads", "registers"), lambda *both: found(g, *both, s).why_not),
        layer(("gpu", "shared"), lambda gpu, shared: found(gpu, t, r, shared).why_not),
        layer((), lambda: _CAUTION),
    )
    gpu_names = [f"{row.name} (cc {row.cc})" for row in offered["gpu"]]
    sizes = [f"{n // 1024} KiB" if n % 1024 == 0 else f"{n:,} B" for n in offered["shared"]]
    controls = (
        Control("gpu", "GPU", gpu_names, offered["gpu"].index(start), "choice"),
        _choice("threads", "threads per block", offered["threads"], threads),
        _choice("registers", "registers per thread", offered["registers"], registers),
        Control("shared", "shared memory per block", sizes, offered["shared"].index(shared_bytes)),
    )
    return Interactive(
        "Occupancy: how many blocks does one SM hold?",
        _draw(), controls, layers, words,
        "Four bars say how many blocks fit by warp slots, registers, shared memory and the cap on "
        "blocks; a frame and an arrow mark the smallest. Below, the SM's warp slots, filled block "
        "by block.",
        draw_still=lambda: _still(start, threads, registers, shared_bytes),
    )  # fmt: skip


def _choice(key: str, label: str, counts: list[int], start: int) -> Control:
    return Control(key, label, list(map(str, counts)), counts.index(start))


_CAUTION = (
    "This is theoretical occupancy: the most that can be resident. It is only a means: a kernel "
    "with lower occupancy can be the faster one."
)


# --- What is drawn once ---------------------------------------------------------------------------


def _draw() -> Scene:
    scene = Scene(720, 402)
    scene.text(10, 18, "Blocks that each limit would allow; the smallest one counts", css="bold")
    for number, (limit, head) in enumerate(zip(_LIMITS, _HEADS, strict=True)):
        _draw_limit(scene, _FIRST + _ROW * number, limit, head)
    y = _FIRST + _ROW * len(_LIMITS) + 14
    scene.text(10, y, "", css="large bold", name="result")
    scene.text(10, y + 21, "", css="small muted", name="slots head")
    for slot in range(64):
        x, y = _SLOTS.corner(*divmod(slot, 32))
        scene.rect(x, y, _SLOTS.wide, 18, css="cell", name=f"slot {slot}")
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


# --- What depends on the controls -----------------------------------------------------------------


def _limit(number: int, found: Occupancy) -> Changes:
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


def _gpu_state(found: Occupancy) -> Changes:
    state = _limit(3, found)
    for slot in range(64):
        state[f"slot {slot}"] = {"hidden": slot >= found.max_warps}
    state["slots head"] = {
        "text": f"The {found.max_warps} warp slots of one SM; each brick is a resident block"
    }
    return state


def _result_words(found: Occupancy) -> str:
    if not found.blocks:
        return "The launch fails: not even one block gets what it needs."
    return (
        f"One SM holds {counted(found.blocks, 'block')}, which is {found.warps} of "
        f"{found.max_warps} warps: an occupancy of {found.share:.1%}."
    )


def _limiter_words(found: Occupancy) -> str:
    if not found.blocks:
        return ""
    names = [_HEADS[_LIMITS.index(limit)] for limit in found.limiters]
    return f"Limited by {joined(names)}."


def _result_state(found: Occupancy) -> Changes:
    return _result(found.limiters, found.blocks, found.warps_per_block, found.max_warps)


@cache
def _result(limiters: tuple[str, ...], blocks: int, warps: int, most: int) -> Changes:
    """Thousands of launches share a few hundred of these."""
    text = "✗ The launch fails."
    if blocks:
        told = f"{blocks * warps} of {most} warps: {blocks * warps / most:.1%}"
        text = f"{counted(blocks, 'block')} × {counted(warps, 'warp')} = {told}"
    return {
        "result": {"text": text},
        "resident": {"d": _bricks(blocks, warps), "hidden": not blocks},
        **{f"{limit} binds": {"hidden": limit not in limiters} for limit in _LIMITS},
    }


def _bricks(blocks: int, warps: int) -> str:
    """An outline for each resident block, over the slots that its warps take."""
    pieces = []
    for block in range(blocks):
        first, end = block * warps, (block + 1) * warps
        while first < end:
            stop = min(end, (first // 32 + 1) * 32)
            x, y = _SLOTS.corner(*divmod(first, 32))
            width = _SLOTS.wide * (stop - first) - 3
            pieces.append(f"M{x + 1.5:g} {y - 1.5:g}h{width:g}v21h-{width:g}z")
            first = stop
    return "".join(pieces) or "M0 0"


def _two_lines(arithmetic: str) -> tuple[str, str]:
    """The arithmetic cut where a new step begins, so that it fits the picture."""
    first, *rest = arithmetic.split("; ")
    return first, "; ".join(rest)


def _still(row: Device, threads: int, registers: int, shared_bytes: int) -> Picture:
    """The reader's launch, and what fewer threads or fewer registers would change."""
    launches = {
        f"{threads} threads, {registers} registers": (threads, registers, shared_bytes),
        f"256 threads, {registers} registers": (256, registers, shared_bytes),
        f"{threads} threads, 32 registers": (threads, 32, shared_bytes),
    }
    return sm_budget(row, launches)
