"""Play with the bytes of a matmul: requested, through L1 and from DRAM, without tiles and with."""

from __future__ import annotations

import math
from typing import Any

from course_lib.devices import device
from course_lib.emulator.profile.cache import ASSUMPTIONS
from course_lib.figures.explore.dram_model import (
    ASSUMED,
    ONE_OUTPUT,
    SIZES,
    TILES,
    UNTILED,
    dram_bytes,
)
from course_lib.figures.explore.matmul_bytes import (
    UNTILED_KERNELS,
    Counted,
    OwnKernel,
    compulsory_loads,
    own_kernel,
    tiled_kernel,
    untiled_kernel,
    why_no_matmul,
)
from course_lib.figures.explore.notes import note
from course_lib.figures.explore.stills import bytes_by_tile
from course_lib.figures.interactive.controls import Control
from course_lib.figures.interactive.layers import Layer, Patch
from course_lib.figures.interactive.player import Interactive
from course_lib.figures.interactive.scene import Scene
from course_lib.figures.style import kib, short_bytes

GPUS = ("T4", "A6000", "L4", "A100-80", "H100", "4090")


def explore_bytes(
    gpu: str = "T4",
    *,
    size: int = 4096,
    tile: int = 32,
    untiled: str = "coalesced",
    profile: Any = None,
) -> Interactive:
    """How many bytes a matmul asks for, moves through L1, and (by a model) loads from DRAM.

    Args:
        gpu: whose caches, where the figure starts.
        size: N of the N x N matrices at the start: 512, 1024, 2048, 4096 or 8192.
        tile: side of a block's tile of C at the start: 8, 16, 32, 64 or 128.
        untiled: what is compared with: "coalesced" or "naive".
        profile: a launch of one's own kernel with small matrices A, B and C; a tile more to choose.
    """
    if size not in SIZES or tile not in TILES or untiled not in UNTILED_KERNELS:
        raise ValueError(
            f"Choose a size of {SIZES}, a tile of {TILES} and one of {tuple(UNTILED_KERNELS)}; "
            f"not {size}, {tile}, {untiled!r}."
        )
    own = None
    if profile is not None:
        why = why_no_matmul(profile)
        if why:
            return note(_TITLE, why)
        own = own_kernel(profile)
    gpus = GPUS if device(gpu).name in GPUS else (*GPUS, device(gpu).name)
    return _figure(gpus, device(gpu).name, size, tile, untiled, own)


# -- the picture ---------------------------------------------------------------------------------

_TITLE = "Bytes as you tile: the threads', L1's and DRAM's"
_LEFT, _DECADE = 96, 64
_LOWEST, _HIGHEST = 6, 14  # powers of ten
_GROUPS = {
    "requested": ("requested by the threads", "counted"),
    "l1": ("through L1: sectors × 32 bytes", "counted"),
    "dram": ("from DRAM", "a model, not a count"),
}
_TOP, _PITCH, _BAR = 62, 84, 22


def _x(amount: float) -> float:
    """Where an amount of bytes stands on the scale."""
    return _LEFT + _DECADE * (math.log10(amount) - _LOWEST)


def _scene() -> Scene:
    bottom = _TOP + _PITCH * len(_GROUPS)
    scene = Scene(720, bottom + 42)
    scene.text(0, 18, "", "bold", name="matrices")
    scene.text(0, 38, "", "muted", name="caches")
    scene.rect(0, _TOP + 2 * _PITCH - 6, 720, _PITCH, "wash bare")
    for power in range(_LOWEST, _HIGHEST + 1):
        x = _x(10**power)
        scene.line(x, _TOP + 14, x, bottom, "faint")
        if power < _HIGHEST - 1:
            scene.text(x, bottom + 16, short_bytes(10**power), "small muted", "middle")
    for number, (key, (name, kind)) in enumerate(_GROUPS.items()):
        y = _TOP + number * _PITCH
        scene.text(0, y + 10, name, "bold halo")
        scene.text(712, y + 10, kind, "small muted halo", "end")
        for row, which in enumerate(("untiled", "tiled")):
            top = y + 18 + row * (_BAR + 3)
            label = "no tiles" if which == "untiled" else ""
            scene.text(_LEFT - 8, top + 16, label, "small", "end", f"{key} {which} label")
            css = ("d-soft" if row == 0 else "a") + (" dashed" if key == "dram" else "")
            scene.rect(_LEFT, top, 0, _BAR, css, f"{key} {which}")
            scene.text(_LEFT, top + 16, "", "halo", name=f"{key} {which} bytes")
        scene.text(712, y + 18 + _BAR + 19, "", "large bold halo", "end", f"{key} ratio")
    scene.text(712, bottom + 16, "each line: ten times the last", "small muted", "end")
    scene.line(0, _TOP + 14, 0, bottom, "dashed thick c curve", "compulsory")
    scene.text(0, bottom + 36, "", "c small bold", "middle", "compulsory bytes")
    return scene


def _bar(key: str, amount: float | None) -> Patch:
    if amount is None:
        return {key: {"width": 0}, f"{key} bytes": {"text": "not worked out", "x": _LEFT + 7}}
    end = _x(amount)
    told = _short(amount, 3 if key.startswith("dram") else 4)
    return {key: {"width": end - _LEFT}, f"{key} bytes": {"text": told, "x": end + 7}}


def _short(amount: float, digits: int) -> str:
    """Bytes with so many digits: few for a model, which is not exact."""
    return short_bytes(float(f"{amount:.{digits}g}"))


def _ratio(before: float, after: float | None) -> str:
    """ "÷ 32", "× 3.12" or "the same"."""
    if after is None:
        return ""
    if 0.97 < before / after < 1.03:
        return "the same" if before == after else "about the same"
    return f"÷ {before / after:.3g}" if before > after else f"× {after / before:.3g}"


def _figure(
    gpus: tuple[str, ...], gpu: str, size: int, tile: int, untiled: str, own: OwnKernel | None
) -> Interactive:
    figure = _Numbers(gpus, own)
    controls = (
        Control("size", "matrix size N", [str(each) for each in SIZES], SIZES.index(size)),
        Control("tile", "tile T", figure.tile_names,
                len(TILES) if own else TILES.index(tile)),
        Control("gpu", "GPU", [_with_l2(each) for each in gpus], gpus.index(gpu), "choice"),
        Control("untiled", "without tiles", tuple(UNTILED_KERNELS.values()),
                list(UNTILED_KERNELS).index(untiled), "choice"),
    )  # fmt: skip
    return Interactive(
        _TITLE, _scene(), controls, figure.layers(), figure.words(),
        lambda: bytes_by_tile(4096, gpus),
        "Pairs of bars on a scale of powers of ten: bytes requested by the threads, bytes through "
        "L1, and DRAM bytes by a model, each without tiles and with; a dashed line marks the bytes "
        "of A and B.",
    )  # fmt: skip


def _with_l2(gpu: str) -> str:
    return f"{gpu}, L2 {kib(device(gpu).l2_mib * 1024)}"


class _Numbers:
    """The bytes of every state, as layers of the picture and as words."""

    def __init__(self, gpus: tuple[str, ...], own: OwnKernel | None) -> None:
        self._gpus, self._own = gpus, own
        self.tile_names = [str(each) for each in TILES] + (["yours"] if own else [])
        self._tiled = [tiled_kernel(each) for each in TILES] + ([own.counted] if own else [])
        self._untiled = [untiled_kernel(each) for each in UNTILED_KERNELS]

    def _dram(self, size: int, tile: int, gpu: int) -> int | None:
        own = self._own.tile if self._own else None
        side = TILES[tile] if tile < len(TILES) else own
        return None if side is None else dram_bytes(self._gpus[gpu], side, SIZES[size])

    def _dram_untiled(self, size: int, gpu: int) -> int:
        return dram_bytes(self._gpus[gpu], UNTILED, SIZES[size])

    def layers(self) -> tuple[Layer, ...]:
        return (
            Layer(("size",), self._show_size),
            Layer(("gpu",), lambda gpu: {"caches": {"text": self._caches(gpu)}}),
            Layer(("tile",), self._name_tile),
            Layer(("size", "untiled"), self._show_untiled),
            Layer(("size", "tile"), self._show_tiled),
            Layer(("tile", "untiled"), self._show_ratios),
            Layer(("size", "gpu"), lambda *at: _bar("dram untiled", self._dram_untiled(*at))),
            Layer(("size", "tile", "gpu"), self._show_dram),
        )

    def _show_size(self, at: int) -> Patch:
        size = SIZES[at]
        loads = compulsory_loads(size)
        x = _x(loads)
        return {
            "matrices": {"text": f"C = A · B, {size} × {size} float32: bytes loaded by one launch"},
            "compulsory": {"x1": x, "x2": x},
            "compulsory bytes": {"text": f"A and B once: {short_bytes(loads)}", "x": max(x, 90)},
        }

    def _caches(self, gpu: int) -> str:
        row = device(self._gpus[gpu])
        return f"{row.product}: {row.sms} SMs, L2 of {kib(row.l2_mib * 1024)}"

    def _name_tile(self, at: int) -> Patch:
        name = self.tile_names[at]
        label = name if name == "yours" else f"T = {name}"
        return {f"{key} tiled label": {"text": label} for key in _GROUPS}

    def _show_untiled(self, size: int, kernel: int) -> Patch:
        return self._counted("untiled", self._untiled[kernel], SIZES[size])

    def _show_tiled(self, size: int, tile: int) -> Patch:
        return self._counted("tiled", self._tiled[tile], SIZES[size])

    def _counted(self, which: str, counted: Counted, size: int) -> Patch:
        return {
            **_bar(f"requested {which}", counted.requested * size**3),
            **_bar(f"l1 {which}", counted.through_l1 * size**3),
        }

    def _show_ratios(self, tile: int, kernel: int) -> Patch:
        before, after = self._untiled[kernel], self._tiled[tile]
        return {
            "requested ratio": {"text": _ratio(before.requested, after.requested)},
            "l1 ratio": {"text": _ratio(before.through_l1, after.through_l1)},
        }

    def _show_dram(self, size: int, tile: int, gpu: int) -> Patch:
        after = self._dram(size, tile, gpu)
        ratio = _ratio(self._dram_untiled(size, gpu), after)
        return {**_bar("dram tiled", after), "dram ratio": {"text": ratio}}

    # -- in words --------------------------------------------------------------------------------

    def words(self) -> tuple[Layer, ...]:
        return (
            Layer(("tile", "untiled"), self._tell_counts),
            Layer(("size", "tile", "gpu"), self._tell_dram),
            Layer(("size",), self._tell_compulsory),
            Layer(("tile",), self._tell_tile),
            Layer((), {(): ASSUMPTIONS}),
        )

    def _tell_counts(self, tile: int, kernel: int) -> str:
        before, after = self._untiled[kernel], self._tiled[tile]
        return (
            f"Requested bytes, counted: {_told(_ratio(before.requested, after.requested))}. Bytes "
            f"through L1, counted: {_told(_ratio(before.through_l1, after.through_l1))}."
        )

    def _tell_dram(self, size: int, tile: int, gpu: int) -> str:
        before, after = self._dram_untiled(size, gpu), self._dram(size, tile, gpu)
        if after is None:
            return (
                "The model was not worked out for a block of this shape; "
                "course_lib.memory_levels.matmul_levels does it."
            )
        ratio = _ratio(before, after)
        why = "" if "same" in ratio else f" {_WHY}"
        return (
            f"DRAM bytes, by a model: {_short(before, 3)} without tiles and {_short(after, 3)} "
            f"with, {_told(ratio)}.{why}"
        )

    def _tell_compulsory(self, at: int) -> str:
        size = SIZES[at]
        return (
            f"A and B once are {short_bytes(compulsory_loads(size))}, the least that any kernel "
            f"loads; C, {short_bytes(4 * size * size)}, is written besides."
        )

    def _tell_tile(self, at: int) -> str:
        if at < len(TILES) and TILES[at] in ONE_OUTPUT:
            return ""
        if at < len(TILES):
            return (
                f"T = {TILES[at]} needs {TILES[at] ** 2:,} threads with one output each, more than "
                f"a block may have: here threads own several (a later lesson). {ASSUMED}"
            )
        return f"Yours is {self._own.name}, counted small and scaled up." if self._own else ""


_WHY = "It hangs on the piece of C whose blocks run together: if it is flat, they share little."


def _told(ratio: str) -> str:
    """A ratio in words."""
    sign, _, factor = ratio.partition(" ")
    return {"÷": f"{factor} times fewer", "×": f"{factor} times more"}.get(sign, ratio)
