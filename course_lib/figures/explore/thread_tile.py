"""Let a reader shape a thread's tile of C and watch loads per multiply-add fall."""

from math import gcd

from course_lib.devices import (
    CACHE_LINE_BYTES,
    DEVICES,
    MAX_REGISTERS_PER_THREAD,
    WARP_SIZE,
    Device,
)
from course_lib.figures.interactive import (
    Changes,
    Control,
    Examples,
    Grid,
    Interactive,
    Layer,
    Scene,
    layers_over,
)
from course_lib.wording.words import counted

_SIZES = (1, 2, 4, 8, 16)
_GPUS = ("T4", "A100-40", "A6000", "H100")
_STEPS = ("nothing yet", "A is loaded", "B is loaded", "all multiplied")

# Where things lie, in units of the scene.
_CELL, _CORNER_X, _CORNER_Y = 15.0, 84.0, 88.0
_PANEL, _BAR = 372.0, 300.0
_NAIVE_LOADS = 2.0  # per multiply-add, where a thread owns one output


def explore_register_tile() -> Interactive:
    """Choose TM and TN; see the outer product of one step, its loads and its multiply-adds."""
    controls = (
        Control("tm", "TM, rows", list(map(str, _SIZES)), 3),
        Control("tn", "TN, columns", list(map(str, _SIZES)), 0),
        Control("step", "one step of k", _STEPS, 3, "steps"),
        Control("gpu", "GPU", _GPUS, 2, "choice"),
    )
    gpus = [DEVICES[name] for name in _GPUS]
    steps = range(len(_STEPS))
    layer = layers_over({"tm": _SIZES, "tn": _SIZES, "step": steps, "gpu": gpus})
    size = ("tm", "tn")
    layers = [
        layer(size, _shape_state),
        layer((*size, "step"), _step_state),
        layer((*size, "gpu"), _gpu_state),
    ]
    words = (
        layer(size, _ratio_words),
        layer((*size, "gpu"), _gpu_words),
        Layer((), lambda: _CAUTION),
    )
    return Interactive(
        "A thread's tile: how many loads for each multiply-add?",
        _draw(), controls, layers, words,
        "A column of A next to a grid of running totals, and a row of B above the grid. Each "
        "total gets the product of its row's value of A and its column's value of B. Bars "
        "compare loads per multiply-add with a thread that owns one output.",
        Examples(
            {f"{tm} × {tn} outputs": {"tm": _SIZES.index(tm), "tn": _SIZES.index(tn)}
             for tm, tn in ((1, 1), (8, 1), (8, 8))},
            "{ratio value} loads each", lambda _: (30, 50, 240, 165), 3,
            "Each value of A meets each value of B in a running total that stays in a register",
            _CAUTION,
        ),
    )  # fmt: skip


_CAUTION = (
    "Counted as on paper, with one load for each value and no bank conflicts. A compiler may use "
    "wider loads."
)


# --- The arithmetic -------------------------------------------------------------------------------


def _loads(rows: int, columns: int) -> int:
    """Values that a thread fetches from shared memory for one step of k."""
    return rows + columns


def _ratio(rows: int, columns: int) -> float:
    return _loads(rows, columns) / (rows * columns)


def _most_share(rows: int, columns: int, row: Device) -> float:
    """Share of FP32 peak that shared memory allows if each load of a warp is one wavefront."""
    multiply_adds = row.fp32_lanes / WARP_SIZE  # of a whole warp, in one clock of one SM
    wavefronts = row.shared_bytes_per_clock / CACHE_LINE_BYTES
    return min(1.0, wavefronts / (multiply_adds * _ratio(rows, columns)))


def _fits(rows: int, columns: int) -> bool:
    return rows * columns + _loads(rows, columns) < MAX_REGISTERS_PER_THREAD


# --- What is drawn once ---------------------------------------------------------------------------


def _draw() -> Scene:
    scene = Scene(720, 352)
    scene.text(_CORNER_X, 22, "", css="b bold", name="B head")
    scene.text(12, _CORNER_Y - 12, "", css="a bold", name="A head")
    scene.path("M0 0", css="hatch-b", name="B wait")
    scene.path("M0 0", css="b", name="B cells")
    scene.path("M0 0", css="hatch-a", name="A wait")
    scene.path("M0 0", css="a", name="A cells")
    scene.path("M0 0", css="cell", name="C wait")
    scene.path("M0 0", css="c-soft", name="C cells")
    scene.text(_CORNER_X, 0, "", css="small", name="C head")
    heads = ("loads from shared memory, in this step of k", "multiply-adds, in this step of k")
    for number, (name, head) in enumerate(zip(("loads", "products"), heads, strict=True)):
        scene.text(_PANEL, 40 + 44 * number, head, css="small muted")
        scene.text(_PANEL, 60 + 44 * number, "", css="bold", name=name)
    _draw_bar(scene, 128, "ratio", "loads per multiply-add", "2: one output per thread")
    _draw_bar(scene, 204, "share", "", "peak")
    scene.text(_PANEL, 290, "registers for totals and values", css="small muted")
    scene.text(_PANEL, 310, "", css="bold", name="registers")
    return scene


def _draw_bar(scene: Scene, y: float, name: str, head: str, end: str) -> None:
    scene.text(_PANEL, y, head, css="small muted", name=f"{name} head")
    scene.rect(_PANEL, y + 8, _BAR, 16, css="wash")
    scene.rect(_PANEL, y + 8, 0, 16, css="a moves", name=f"{name} bar")
    scene.text(_PANEL + _BAR, y, end, css="small muted", anchor="end")
    scene.text(_PANEL, y + 42, "", css="bold", name=f"{name} value")


# --- What depends on the controls -----------------------------------------------------------------


def _shape_state(rows: int, columns: int) -> Changes:
    grids = (
        Grid(_CORNER_X - _CELL - 10, _CORNER_Y, (rows, 1), _CELL),
        Grid(_CORNER_X, _CORNER_Y - _CELL - 10, (1, columns), _CELL),
        Grid(_CORNER_X, _CORNER_Y, (rows, columns), _CELL),
    )
    a, b, c = ({"d": grid.outline() + grid.lattice()} for grid in grids)
    ratio = _ratio(rows, columns)
    registers = rows * columns + _loads(rows, columns)
    fits = "✓ can stay" if _fits(rows, columns) else "✗ too many"
    return {
        "A wait": a, "A cells": a, "B wait": b, "B cells": b, "C wait": c, "C cells": c,
        "A head": {"text": f"A: {rows}"},
        "B head": {"text": f"B: {columns}"},
        "C head": {
            "y": _CORNER_Y + _CELL * rows + 18,
            "text": f"C: {rows} × {columns} = {rows * columns} running totals",
        },
        "ratio bar": {"width": _BAR * ratio / _NAIVE_LOADS},
        "ratio value": {"text": f"({rows} + {columns}) / ({rows}·{columns}) = {ratio:.4g}"},
        "registers": {
            "text": f"{rows}·{columns} + {rows} + {columns} = {registers} of "
            f"{MAX_REGISTERS_PER_THREAD}: {fits}"
        },
    }  # fmt: skip


def _step_state(rows: int, columns: int, step: int) -> Changes:
    loads = (0, rows, rows + columns, rows + columns)[step]
    products = rows * columns if step == 3 else 0
    return {
        "A cells": {"hidden": step < 1},
        "B cells": {"hidden": step < 2},
        "C cells": {"hidden": step < 3},
        "loads": {"text": f"{loads} of {rows + columns} ({rows} + {columns})"},
        "products": {"text": f"{products} of {rows * columns} ({rows} × {columns})"},
    }


def _gpu_state(rows: int, columns: int, row: Device) -> Changes:
    share = _most_share(rows, columns, row)
    return {
        "share head": {"text": f"shared memory alone allows, {row.name}"},
        "share bar": {"width": _BAR * share},
        "share value": {"text": f"{share:.1%}"},
    }


def _ratio_words(rows: int, columns: int) -> str:
    loads, products = _loads(rows, columns), rows * columns
    common = gcd(loads, products)
    shorter = f" = {loads // common}:{products // common}" if common > 1 else ""
    if not _fits(rows, columns):
        return (
            f"{products} totals and {loads} values need more than the "
            f"{MAX_REGISTERS_PER_THREAD} registers of a thread, so some would be in slow memory."
        )
    return (
        f"In one step of k a thread with {rows} × {columns} outputs loads {rows} + {columns} = "
        f"{loads} values for {_products(rows, columns)}: {loads}:{products}{shorter}."
    )


def _gpu_words(rows: int, columns: int, row: Device) -> str:
    share = _most_share(rows, columns, row)
    if not _fits(rows, columns):
        return ""
    if share == 1:
        return (
            f"Shared memory alone would let the {row.name} reach its peak, but other instructions "
            "still take time."
        )
    return f"Shared memory alone limits the {row.name} to {share:.1%} of its peak."


def _products(rows: int, columns: int) -> str:
    return counted(rows * columns, "multiply-add")
