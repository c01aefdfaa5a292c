"""Draw rooflines: how fast kernels may be for their FLOP per byte, and the measured ladder.

A point always says which bytes it counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.lines import Line2D

from course_lib import devices
from course_lib.devices import Ceilings, Device, ceilings_of
from course_lib.figures import style
from course_lib.figures.picture import Picture
from course_lib.figures.plots import beside, dot, hollow, log_scales
from course_lib.measurements import Entry, Measurements
from course_lib.roofline import BYTES_KINDS, BytesKind, Point, roof, tile_intensity

_MARKER: dict[BytesKind, str] = {"requested": "o", "through L1": "s", "DRAM": "D"}
_COLOUR: dict[BytesKind, str] = {
    "requested": style.VERMILION,
    "through L1": style.PURPLE,
    "DRAM": style.GREEN,
}
# Of the ridge's label, in points: below the roof on the right, or above it where a dot is there.
_BESIDE_RIDGE = ((6.0, -6.0), (-8.0, 5.0))


@style.drawn
def roofline_plot(
    gpu: str | Device | Ceilings, points: Sequence[Point] = (), *, ceilings: Ceilings | None = None
) -> Picture:
    """The FP32 roof and the DRAM roof of a GPU, with kernels as points.

    A point without a speed is drawn hollow, on the roof: at most so fast. Points of requested
    bytes may stand above the roof; the caches served the difference.
    """
    roofs = ceilings or ceilings_of(gpu)
    note = (
        "; a dot above the roof: caches have answered, not DRAM alone"
        if any(_is_above(point, roofs) for point in points)
        else ""
    )
    figure = style.card(4.3, f"Roofline: {roofs.name}", f"Both axes are logarithmic{note}")
    axes = style.area(figure, 0.85, 1.0, 0.3, 0.72)
    low, high = _range(roofs, points)
    _scales(axes, roofs, points, low, high)
    _draw_roofs(axes, roofs, low, high)
    labels = _Labels(axes, roofs, points, _name_dram_roof(axes, roofs, points, low))
    if legend := _legend(axes, points):
        labels.keep_box_clear(legend.get_window_extent().extents)
    ridge = roofs.ridge, roofs.fp32_gflops
    labels.write(ridge, f"ridge {roofs.ridge:.1f} FLOP/B", _BESIDE_RIDGE)
    for alike in _same_kernels(points):
        _draw_kernel(axes, alike, roofs, labels)
    style.footnote(figure, _sources(roofs, points))
    return Picture(figure, _words(roofs, points))


def _range(roofs: Ceilings, points: Sequence[Point]) -> tuple[float, float]:
    intensities = [point.intensity for point in points] + [0.25, roofs.ridge]
    return min(intensities) / (4.5 if points else 2.5), max(max(intensities) * 6, roofs.ridge * 12)


def _draw_roofs(axes: Axes, roofs: Ceilings, low: float, high: float) -> None:
    ridge, peak = roofs.ridge, roofs.fp32_gflops
    at_low = low * roofs.dram_gb_per_s
    axes.fill_between([low, ridge, high], [at_low, peak, peak], 1e-3, color=style.WASH, zorder=0)
    axes.plot([low, ridge], [at_low, peak], color=style.BLUE, linewidth=2.4, zorder=2)
    axes.plot([ridge, high], [peak, peak], color=style.INK, linewidth=2.4, zorder=2)
    axes.plot([ridge, ridge], [1e-3, peak], color=style.GREY, linewidth=1, linestyle=":", zorder=1)
    axes.plot([ridge], [peak], marker="o", markersize=6, color=style.INK, zorder=3)
    words = f"FP32 roof {peak / 1000:.1f} TFLOP/s"
    beside(axes, words, (high, peak), (-4, 5), ha="right", va="bottom")


def _dot(point: Point, roofs: Ceilings) -> tuple[float, float]:
    return point.intensity, _height(point, roofs)


def _name_dram_roof(
    axes: Axes, roofs: Ceilings, points: Sequence[Point], low: float
) -> list[tuple[float, float]]:
    """Write along the slanted roof where it is farthest from the dots; where that is, in pixels."""
    ridge, bandwidth = roofs.ridge, roofs.dram_gb_per_s
    to_pixels = axes.transData.transform
    start, end = to_pixels([(low, low * bandwidth), (ridge, ridge * bandwidth)])
    dots = [to_pixels((point.intensity, _height(point, roofs))) for point in points]

    def room(share: float) -> float:
        here = start + share * (end - start)
        return min((float(np.hypot(*(dot - here))) for dot in dots), default=0.0)

    share = max((0.5, 0.4, 0.6, 0.3, 0.7, 0.8), key=room)
    x = low * (ridge / low) ** share
    along = (end - start) / np.hypot(*(end - start))
    across = np.array([-along[1], along[0]])
    beside(
        axes, f"DRAM roof {bandwidth:,.0f} GB/s", (x, x * bandwidth), tuple(across * 5),
        ha="center", va="bottom", color=style.BLUE,
        rotation=np.degrees(np.arctan2(along[1], along[0])), rotation_mode="anchor",
    )  # fmt: skip
    middle = start + share * (end - start) + across * 14
    return [tuple(middle + along * step) for step in range(-75, 76, 6)]


def _same_kernels(points: Sequence[Point]) -> list[list[Point]]:
    """Points with the same name and speed: one kernel, with its bytes counted in two ways."""
    kernels: dict[tuple[str, float | None, str], list[Point]] = {}
    for point in points:
        apart = point.bytes_kind if point.gflops is None else ""  # hollow ones differ in height
        kernels.setdefault((point.label, point.gflops, apart), []).append(point)
    return list(kernels.values())


def _draw_kernel(axes: Axes, points: Sequence[Point], roofs: Ceilings, labels: _Labels) -> None:
    """The dots of one kernel, a thin line between them, and its name once."""
    for point in points:
        dot(
            axes, point, _height(point, roofs), _COLOUR[point.bytes_kind], _MARKER[point.bytes_kind]
        )
    ends = [_dot(point, roofs) for point in points]
    if len(points) > 1:
        across, up = zip(*sorted(ends), strict=True)
        axes.plot(across, up, color=style.GREY, linewidth=1, linestyle=(0, (1, 2)), zorder=4)
    hollow = points[0].gflops is None
    text = f"{points[0].label}\n{'≤ ' if hollow else ''}{style.whole(ends[0][1])} GFLOP/s"
    labels.write(max(ends), text)  # the rightmost: farthest from the slanted roof's name


def _height(point: Point, roofs: Ceilings) -> float:
    return roof(point.intensity, roofs) if point.gflops is None else point.gflops


def _reach(points: Sequence[Point]) -> tuple[float, float]:
    """From the leftmost to the rightmost of some points."""
    along = [point.intensity for point in points]
    return min(along), max(along)


class _Labels:
    """Find a free corner beside each point for its two lines of text."""

    # In points, by preference: beside the dot first, then further up or down.
    _OFFSETS = tuple(
        (side * 9.0, height)
        for heights in ((-2.0, 2.0), (-14.0, 14.0), (-27.0, 27.0), (-40.0, 40.0), (-53.0, 53.0))
        for height in heights
        for side in (1, -1)
    )

    def __init__(
        self,
        axes: Axes,
        roofs: Ceilings,
        points: Sequence[Point],
        pixels_in_use: list[tuple[float, float]],
    ) -> None:
        self._axes, self._to_pixels, self._window = axes, axes.transData, axes.bbox
        along = np.geomspace(*axes.get_xlim(), 120)
        line = [(x, roof(x, roofs)) for x in along]
        dots = [_dot(point, roofs) for point in points]
        between = [
            (x, point.gflops)
            for alike in _same_kernels(points)
            for point in alike[:1]
            if len(alike) > 1 and point.gflops is not None
            for low, high in [_reach(alike)]
            for x in np.geomspace(float(low), float(high), 60)
        ]
        ridge = [(roofs.ridge, y) for y in np.geomspace(*axes.get_ylim(), 90)]
        # A dot counts most; what is written already, and the line below the ridge, count several
        # times: words across either are hard to read.
        drawn = self._to_pixels.transform(line + between + ridge * 6 + dots * 30)
        self._obstacles = np.vstack([drawn, pixels_in_use * 3])
        self._taken: list[tuple[float, ...]] = []

    def write(
        self, where: tuple[float, float], text: str, offsets: Sequence[tuple[float, float]] = ()
    ) -> None:
        """Write beside a point, at the offset with the least in its way."""
        pixel, offsets = self._to_pixels.transform(where), offsets or self._OFFSETS
        boxes = [self._box(pixel, offset, text) for offset in offsets]
        costs = [self._cost(box) for box in boxes]
        best = costs.index(min(costs))
        self._taken.append(boxes[best])
        dx, dy = offsets[best]
        sides = {"ha": "left" if dx > 0 else "right", "va": "bottom" if dy > 0 else "top"}
        beside(self._axes, text, where, (dx, dy), **sides, zorder=6, linespacing=1.1)

    def keep_box_clear(self, box: Sequence[float]) -> None:
        """Something is drawn there, from left and bottom to right and top, in pixels."""
        self._taken.append(tuple(box))

    def _box(
        self, pixel: np.ndarray, offset: tuple[float, float], text: str
    ) -> tuple[float, float, float, float]:
        scale = style.DPI / 72
        lines = text.split("\n")
        width = max(map(len, lines)) * style.SMALL * 0.58 * scale
        height = len(lines) * style.SMALL * 1.25 * scale
        left = pixel[0] + offset[0] * scale - (0 if offset[0] > 0 else width)
        bottom = pixel[1] + offset[1] * scale - (0 if offset[1] > 0 else height)
        return left, bottom, left + width, bottom + height

    def _cost(self, box: tuple[float, float, float, float]) -> float:
        left, bottom, right, top = box
        x, y = self._obstacles.T
        hits = np.count_nonzero((x > left) & (x < right) & (y > bottom) & (y < top))
        window = self._window
        outside = left < window.x0 or right > window.x1 or bottom < window.y0 or top > window.y1
        overlaps = sum(
            left < other[2] and other[0] < right and bottom < other[3] and other[1] < top
            for other in self._taken
        )
        return float(hits + 40 * overlaps + 200 * outside)


def _scales(axes: Axes, roofs: Ceilings, points: Sequence[Point], low: float, high: float) -> None:
    speeds = [point.gflops for point in points if point.gflops] + [low * roofs.dram_gb_per_s]
    ticks = [2.0**power for power in range(int(np.ceil(np.log2(low))), int(np.log2(high)) + 1)]
    heights = min(speeds) / 2.2, max(max(speeds), roofs.fp32_gflops) * 2.2
    log_scales(axes, ticks, (low, high), heights)
    kinds = {point.bytes_kind for point in points}
    which = _per(kinds.pop()) if len(kinds) == 1 else "byte (which byte: see the marker)"
    axes.set_xlabel(f"FLOP per {which}")
    axes.set_ylabel("GFLOP/s")


def _legend(axes: Axes, points: Sequence[Point]) -> Legend | None:
    used = [kind for kind in BYTES_KINDS if any(point.bytes_kind == kind for point in points)]
    handles = [
        Line2D(
            [], [], marker=_MARKER[kind], color=_COLOUR[kind], linestyle="none", markersize=8,
            label=f"per {_per(kind)}",
        )
        for kind in used
    ]  # fmt: skip
    if any(point.gflops is None for point in points):
        handles.append(hollow(style.GREY, "hollow: at most, if every byte came from DRAM"))
    if not handles:
        return None
    return axes.legend(
        handles=handles, loc="lower right", handletextpad=0.4,
        frameon=True, facecolor=style.WASH, edgecolor="none", framealpha=1,
    )  # fmt: skip


def _per(kind: BytesKind) -> str:
    return "byte through L1" if kind == "through L1" else f"{kind} byte"


def _sources(roofs: Ceilings, points: Sequence[Point]) -> str:
    if roofs.fp32_source == roofs.dram_source:
        text = f"Both roofs: {_origin(roofs.fp32_source)}."
    else:
        text = f"FP32 roof: {_origin(roofs.fp32_source)}; DRAM roof: {_origin(roofs.dram_source)}."
    named = sorted({point.source for point in points if point.source})
    return text + (f"\nSpeeds: {'; '.join(named)}." if named else "")


def _is_above(point: Point, roofs: Ceilings) -> bool:
    """Faster than DRAM could deliver: no mistake where the bytes are not DRAM's."""
    return point.gflops is not None and point.gflops > roof(point.intensity, roofs)


def _origin(source: str) -> str:
    return "data sheet (boost clock)" if source == "data sheet" else source


def _words(roofs: Ceilings, points: Sequence[Point]) -> str:
    told = [
        f"{point.label}: {point.intensity:.4g} FLOP per {_per(point.bytes_kind)}, "
        + (
            f"at most {style.whole(_height(point, roofs))} GFLOP/s if every byte came from DRAM"
            if point.gflops is None
            else f"{style.whole(point.gflops)} GFLOP/s"
        )
        for point in points
    ]
    kernels = (" Kernels: " + "; ".join(told) + ".") if told else ""
    return (
        f"Roofline of {roofs.name}: the DRAM roof rises with {roofs.dram_gb_per_s:,.0f} GB/s and "
        f"meets the FP32 roof of {roofs.fp32_gflops:,.0f} GFLOP/s at the ridge, "
        f"{roofs.ridge:.1f} FLOP per byte.{kernels}"
    )


# --- The measured ladder on the roofline of its GPU -----------------------------------------------


def measured_roofline(
    measured: Measurements, size: int = 4096, rungs: Sequence[str] | None = None
) -> Picture:
    """The float32 rungs over the bytes that they request, under the roofs reached on that GPU.

    Rungs whose blocks share the same tile of C request the same bytes, so they stand one above the
    other; of these the fastest is shown (and the slowest where nothing is shared), unless `rungs`
    names the ones wanted. Raises ValueError if nothing was measured at this size.
    """
    shown = [entry for entry in _entries(measured, size) if rungs is None or entry.name in rungs]
    # The fastest first: where dots are close, the first finds room for its label on the right.
    shown.sort(key=lambda entry: -_gflops(entry, size))
    if not shown:
        raise ValueError(f"No float32 rung was measured at {size} on {measured.label}.")
    points = [
        Point(
            label=point.name,
            intensity=tile_intensity(*_shared_tile(point)),
            gflops=_gflops(point, size),
            bytes_kind="requested",
            source=f"measured on {measured.label}, {size} x {size} x {size}",
        )
        for point in (_typical(shown) if rungs is None else shown)
    ]
    return roofline_plot(measured.short_name, points, ceilings=_roofs(measured))


def _entries(measured: Measurements, size: int) -> list[Entry]:
    return [
        entry
        for entry in measured.entries
        if entry.kind == "rung" and entry.precision == "float32" and entry.tile and entry.cell(size)
    ]


def _typical(entries: Sequence[Entry]) -> list[Entry]:
    """Of entries, the fastest first: the fastest of each shared tile, the slowest that has none."""
    fastest = {_shared_tile(entry): entry for entry in reversed(entries)}
    alone = [entry for entry in entries if _shared_tile(entry) == (1, 1)]
    return [entry for entry in entries if entry in alone[-1:] or entry in fastest.values()]


def _shared_tile(entry: Entry) -> tuple[int, int]:
    """The tile of C whose loads a block shares; one element where it takes K step by step."""
    rows, columns, depth = entry.tile
    return (rows, columns) if depth > 1 else (1, 1)


def _gflops(entry: Entry, size: int) -> float:
    cell = entry.cell(size)
    assert cell is not None
    return cell.gflops


def _roofs(measured: Measurements) -> Ceilings:
    roofs = measured.measured_roofs
    if not roofs:
        return devices.ceilings_of(measured.short_name)
    return Ceilings(
        name=measured.label,
        fp32_gflops=roofs["fp32_gflops"],
        dram_gb_per_s=roofs["dram_gb_per_s"],
        fp32_source="measured on that GPU",
        dram_source="measured on that GPU",
    )
