"""Let a reader move a tile along the roofline of every GPU, in three data types."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import atan, ceil, degrees, floor, hypot, log2, log10
from typing import Literal

from course_lib.devices import DEFAULT_SHARED_KIB, DEVICES, MAX_THREADS_PER_BLOCK, Device, device
from course_lib.figures.interactive import Changes, Control, Interactive, Layer, Scene, layers_over
from course_lib.figures.picture import Picture
from course_lib.figures.plots import roofs_of_formats
from course_lib.figures.rooflines import roofline_plot
from course_lib.roofline import BytesKind, Point, roof, tile_intensity

TypeName = Literal["FP32", "TF32", "FP16/BF16"]
Tile = tuple[int, int]

_TYPES: tuple[TypeName, ...] = ("FP32", "TF32", "FP16/BF16")
_ITEMSIZE: dict[TypeName, int] = {"FP32": 4, "TF32": 4, "FP16/BF16": 2}
_TILES: tuple[Tile, ...] = (
    (1, 1), (8, 8), (16, 16), (32, 32), (64, 64), (128, 64), (128, 128), (128, 256), (256, 256),
)  # fmt: skip
_NAME_PLACES = (0.72, 0.36, *(0.72 * 2**power for power in range(1, 8)))  # FLOP per byte
_NAME_ROOM = 50.0  # units of the scene
_DEPTHS = (8, 16, 32, 64)
_MARK: dict[BytesKind, str] = {"requested": "trouble", "through L1": "d", "DRAM": "c"}
_PER: dict[BytesKind, str] = {
    "requested": "requested byte", "through L1": "byte through L1", "DRAM": "DRAM byte",
}  # fmt: skip
_MOST_POINTS = 8

# Where things lie, in units of the scene.
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 446.0, 34.0, 306.0
_PANEL = 482.0


@dataclass(frozen=True)
class _Axes:
    """Two logarithmic scales, the same for all GPUs, so that one sees the roof move."""

    low: float
    high: float
    slow: float
    fast: float

    def x(self, intensity: float) -> float:
        share = log2(intensity / self.low) / log2(self.high / self.low)
        return _LEFT + share * (_RIGHT - _LEFT)

    def y(self, gflops: float) -> float:
        share = log10(gflops / self.slow) / log10(self.fast / self.slow)
        return _BOTTOM - share * (_BOTTOM - _TOP)


def explore_roofline(
    gpu: str | Device = "T4",
    points: Sequence[Point] = (),
    *,
    tile: Tile = (32, 32),
    data_type: TypeName = "FP32",
) -> Interactive:
    """Choose tile, data type and GPU; see intensity, roof, shared memory, threads, verdict.

    Args:
        gpu: where the figure starts.
        points: kernels of your own; those with a speed are shown on that GPU only.
        tile: rows and columns of C that a block computes, at the start.
        data_type: the one at the start; with another than FP32 the still shows the roofs of all.
    """
    start = device(gpu)
    if len(points) > _MOST_POINTS:
        raise ValueError(f"At most {_MOST_POINTS} points can be told apart, not {len(points)}.")
    if min(tile) < 1:
        raise ValueError(f"A tile has at least one row and one column, not {tile}.")
    tiles = tuple(sorted({*_TILES, tile}, key=lambda shape: (tile_intensity(*shape), shape)))
    gpus = tuple(DEVICES.values()) if start.name in DEVICES else (start, *DEVICES.values())
    axes = _axes(points, tiles)
    controls = (
        Control("gpu", "GPU", [row.name for row in gpus], gpus.index(start), "choice"),
        Control("type", "data type", _TYPES, _TYPES.index(data_type), "choice"),
        Control(
            "tile", "tile of C, BM × BN", [_times(shape) for shape in tiles], tiles.index(tile)
        ),
        Control("depth", "BK", [str(depth) for depth in _DEPTHS], 2),
    )
    layer = layers_over({"gpu": gpus, "type": _TYPES, "tile": tiles, "depth": _DEPTHS})
    layers = [
        layer(("gpu", "type"), lambda row, name: _roof_state(axes, row, name, points)),
        layer(("gpu", "type", "tile"), partial(_point_state, axes)),
        layer(("type", "tile"), _intensity_state),
        layer(("gpu", "type", "tile", "depth"), _shared_state),
        layer(("gpu",), lambda row: _gpu_state(axes, row, start, points)),
    ]
    words = [
        layer(("type", "tile"), _intensity_words),
        layer(("gpu", "type"), _condition_words),
        layer(("gpu", "type", "tile"), _allowed_words),
        layer(("gpu", "type"), _peak_words),
        layer(("gpu", "type", "tile"), _side_words),
        Layer((), lambda: _CACHE_WORDS),
    ]
    return Interactive(
        "Roofline: what a tile could reach if every requested byte came from DRAM",
        _draw(axes, points), controls, layers, words,
        _ALT, draw_still=lambda: _still(start, points, tile, data_type),
    )  # fmt: skip


_ALT = (
    "A roofline with two logarithmic axes. A slanted DRAM roof meets the flat roof of the "
    "arithmetic at the ridge; a marker shows the chosen tile. Beside it: intensity, speed "
    "allowed, shared memory, threads, and the side of the ridge."
)
_CACHE_WORDS = (
    "But caches answer many requests: a kernel may run above the slanted roof, and a wider tile "
    "does not cut DRAM bytes as it cuts requested ones."
)


# --- What is drawn once ---------------------------------------------------------------------------


def _axes(points: Sequence[Point], tiles: Sequence[Tile]) -> _Axes:
    intensities = [0.125, *(point.intensity for point in points)]
    highest = max([1024.0, *(2 * tile_intensity(*tile, itemsize=2) for tile in tiles)])
    speeds = [20.0, *(point.gflops for point in points if point.gflops)]
    lowest = 2.0 ** floor(log2(min(intensities) / 1.5))
    slowest = 10.0 ** floor(log10(min(speeds) / 1.5))
    return _Axes(lowest, 2.0 ** ceil(log2(highest)), slowest, 10**6.5)


def _draw(axes: _Axes, points: Sequence[Point]) -> Scene:
    scene = Scene(720, 352 + 20 * len(points))
    _draw_axes(scene, axes, points)
    scene.path("M0 0", css="curve a", name="slope")
    scene.path("M0 0", css="curve ink", name="flat")
    scene.line(0, _TOP, 0, _BOTTOM, css="dotted", name="ridge line")
    with scene.group("slope group"):
        scene.text(0, 0, "", css="small a halo", anchor="middle", name="slope name")
    scene.text(_RIGHT - 4, 0, "", css="small halo", anchor="end", name="flat name")
    scene.text(0, _BOTTOM - 8, "", css="small halo", name="ridge name")
    for number, point in enumerate(points):
        _draw_own_point(scene, axes, number, point)
    scene.line(0, 0, 0, _BOTTOM, css="dashed trouble", name="drop")
    scene.circle(0, 0, 8, css="outline", name="ring")
    scene.circle(0, 0, 4.5, css="trouble", name="point")
    _draw_panel(scene)
    return scene


def _draw_axes(scene: Scene, axes: _Axes, points: Sequence[Point]) -> None:
    scene.rect(_LEFT, _TOP, _RIGHT - _LEFT, _BOTTOM - _TOP, css="wash")
    scene.text(_LEFT, 20, "FLOP per second (G = 10⁹, T = 10¹²)", css="small muted")
    for power in range(round(log10(axes.slow)), 7):
        y = axes.y(10.0**power)
        scene.line(_LEFT, y, _RIGHT, y, css="faint")
        label = f"{10**power} G" if power < 3 else f"{10 ** (power - 3):,} T"
        scene.text(_LEFT - 6, y + 4, label, css="small muted", anchor="end")
    for power in range(round(log2(axes.low)), round(log2(axes.high)) + 1, 2):
        x = axes.x(2.0**power)
        scene.line(x, _TOP, x, _BOTTOM, css="faint")
        label = str(2**power) if power >= 0 else f"1/{2**-power}"
        scene.text(x, _BOTTOM + 16, label, css="small muted", anchor="middle")
    middle = (_LEFT + _RIGHT) / 2
    kinds = {point.bytes_kind for point in points} - {"requested"}
    note = " (ring; points: which byte stands below)" if kinds else ""
    scene.text(middle, _BOTTOM + 34, f"FLOP per requested byte{note}", css="small", anchor="middle")


def _draw_own_point(scene: Scene, axes: _Axes, number: int, point: Point) -> None:
    letter, y = chr(ord("a") + number), 366 + 20 * number
    x, css = axes.x(point.intensity), f"{_MARK[point.bytes_kind]}-soft"
    with scene.group(f"own {number}"):
        scene.circle(x, 0, 9, css=css, name=f"dot {number}")
        scene.text(x, 0, letter, css="small bold", anchor="middle", name=f"letter {number}")
    scene.circle(_LEFT + 9, y - 4, 9, css=css)
    scene.text(_LEFT + 9, y, letter, css="small bold", anchor="middle")
    scene.text(_LEFT + 26, y, "", css="small", name=f"legend {number}")


_ROWS = ("intensity", "roof", "shared", "threads")


def _draw_panel(scene: Scene) -> None:
    scene.circle(_PANEL + 8, 25, 8, css="outline")
    scene.circle(_PANEL + 8, 25, 4.5, css="trouble")
    scene.text(_PANEL + 24, 30, "", css="bold", name="chosen")
    heads = (
        "intensity (BK is not in it)",
        "allowed by the roofs",
        "",
        "threads, if one per output",
    )
    for number, (row, head) in enumerate(zip(_ROWS, heads, strict=True)):
        y = 58 + 60 * number
        scene.text(_PANEL, y, head, css="small muted", name=f"{row} head")
        scene.text(_PANEL, y + 18, "", css="bold", name=f"{row} value")
        scene.text(_PANEL, y + 34, "", css="small", name=f"{row} note")
    scene.rect(_PANEL - 8, 300, 244, 46, name="verdict box", rx=5)
    scene.text(_PANEL + 4, 319, "", css="bold", name="verdict")
    scene.text(_PANEL + 4, 337, "", css="small", name="verdict note")


# --- What depends on the controls -----------------------------------------------------------------


def _roof_state(axes: _Axes, row: Device, name: TypeName, points: Sequence[Point]) -> Changes:
    peak, bandwidth = _peak(row, name), row.dram_gb_per_s
    # Where the slope ends: at the ridge, or at the edge of the picture.
    top = min(axes.high, axes.fast / bandwidth) if peak is None else peak / bandwidth
    foot = max(axes.low, axes.slow / bandwidth)
    x, y = axes.x(top), axes.y(top * bandwidth)
    slant = (axes.y(bandwidth * 1) - axes.y(bandwidth * 2)) / (axes.x(2) - axes.x(1))
    middle = _free_place(axes, bandwidth, foot, top, points)
    angle = -degrees(atan(slant))
    at = (
        f"translate({axes.x(middle):.1f} {axes.y(middle * bandwidth) - 13:.1f}) rotate({angle:.1f})"
    )
    right = top > (axes.low * axes.high) ** 0.5 * 4
    state: Changes = {
        "slope": {"d": f"M{axes.x(foot):.1f} {axes.y(foot * bandwidth):.1f} L{x:.1f} {y:.1f}"},
        "slope group": {"transform": at},
        "slope name": {"text": f"DRAM {bandwidth:,.0f} GB/s"},
    }
    if peak is None:
        hidden = {"hidden": True}
        state["roof head"] = {"text": "allowed"}
        return state | dict.fromkeys(("flat", "flat name", "ridge line", "ridge name"), hidden)
    return state | {
        "roof head": {"text": f"allowed, of a peak of {_tera(peak)}"},
        "flat": {"d": f"M{x:.1f} {y:.1f} L{_RIGHT} {y:.1f}"},
        "flat name": {"y": y - 7, "text": f"{name} {_tera(peak)}"},
        "ridge line": {"x1": x, "x2": x, "y1": y},
        "ridge name": {
            "x": x + (-6 if right else 6),
            "text-anchor": "end" if right else "start",
            "text": f"ridge {_three(top)}",
        },
    }


def _free_place(
    axes: _Axes, bandwidth: float, foot: float, top: float, points: Sequence[Point]
) -> float:
    """The intensity at which to write the slope's name, away from everything fixed."""
    dots = [(axes.x(point.intensity), axes.y(point.gflops or axes.slow)) for point in points]
    dots += [(axes.x(intensity), axes.y(intensity * bandwidth)) for intensity in (0.25, foot, top)]

    def room(intensity: float) -> float:
        x, y = axes.x(intensity), axes.y(intensity * bandwidth) - 14
        return min(hypot(x - there, y - height) for there, height in dots)

    places = [place for place in _NAME_PLACES if place < top / 2]
    result: float = next(
        (place for place in places if room(place) > _NAME_ROOM), max(places, key=room)
    )
    return result


def _point_state(axes: _Axes, row: Device, name: TypeName, tile: Tile) -> Changes:
    peak = _peak(row, name)
    if peak is None:
        gone: dict[str, object] = {"hidden": True}
        return {
            "drop": gone, "ring": gone, "point": gone,
            "roof value": {"text": "–"},
            "roof note": {"text": f"{row.name} has no {name}"},
            "verdict box": {"class": "cell dashed"},
            "verdict": {"text": "no such roof"},
            "verdict note": {"text": f"{row.name} has no {name}"},
        }  # fmt: skip
    intensity = tile_intensity(*tile, itemsize=_ITEMSIZE[name])
    allowed = _allowed(row, name, tile, peak)
    x, y = axes.x(intensity), axes.y(allowed)
    left = _is_left(row, name, tile, peak)
    return {
        "drop": {"x1": x, "x2": x, "y1": y},
        "ring": {"cx": x, "cy": y},
        "point": {"cx": x, "cy": y},
        "roof value": {"text": f"at most {_tera(allowed)}"},
        "roof note": {"text": f"{allowed / peak:.1%} of the peak"},
        "verdict box": {"class": "a-soft" if left else "wash"},
        "verdict": {"text": "◀ left of the ridge" if left else "▶ right of the ridge"},
        "verdict note": {"text": f"{_side(left)} by this model"},
    }


def _intensity_state(name: TypeName, tile: Tile) -> Changes:
    rows, columns = tile
    size = _ITEMSIZE[name]
    intensity = _three(tile_intensity(rows, columns, size))
    threads = rows * columns
    can = threads <= MAX_THREADS_PER_BLOCK
    launch = "✓ can launch" if can else "✗ cannot launch"
    limit = f"a block has at most {MAX_THREADS_PER_BLOCK:,}"
    if not can:
        limit = f"over {MAX_THREADS_PER_BLOCK:,}: several outputs each"
    formula = f"2·{rows}·{columns} / ({size}·({rows} + {columns}))"
    return {
        "chosen": {"text": f"{_tile_name(tile)}, {name}"},
        "intensity value": {"text": f"{intensity} FLOP per requested byte"},
        "intensity note": {"text": formula},
        "threads value": {"text": f"{threads:,}: {launch}"},
        "threads note": {"text": limit},
    }


def _shared_state(row: Device, name: TypeName, tile: Tile, depth: int) -> Changes:
    rows, columns = tile
    if tile == (1, 1):
        return {
            "shared value": {"text": "none"},
            "shared note": {"text": "each thread loads for itself"},
        }
    size, most = _ITEMSIZE[name], row.capability.shared_per_block_kib
    kib = (rows + columns) * depth * size / 1024
    if kib > most:
        verdict = f"✗ more than {most} KiB"
    elif kib > DEFAULT_SHARED_KIB:
        verdict = "✓ fits, on request"
    else:
        verdict = "✓ fits"
    return {
        "shared value": {"text": f"{_three(kib)} KiB: {verdict}"},
        "shared note": {"text": f"({rows} + {columns})·{depth}·{size} B, with BK = {depth}"},
    }


def _gpu_state(axes: _Axes, row: Device, start: Device, points: Sequence[Point]) -> Changes:
    most = row.capability.shared_per_block_kib
    state: Changes = {"shared head": {"text": f"shared memory, {most} KiB at most"}}
    for number, point in enumerate(points):
        speed = roof(point.intensity, row) if point.gflops is None else point.gflops
        elsewhere = point.gflops is not None and row != start
        y = axes.y(max(speed, axes.slow))
        state[f"own {number}"] = {"hidden": elsewhere}
        state[f"dot {number}"] = {"cy": y}
        state[f"letter {number}"] = {"y": y + 4}
        note = (
            f" (on {start.name} only)" if elsewhere else f" ({point.source})" * bool(point.source)
        )
        at_most = "at most " if point.gflops is None else ""
        state[f"legend {number}"] = {
            "text": f"{point.label}: {_three(point.intensity)} FLOP per {_PER[point.bytes_kind]}, "
            f"{at_most}{_tera(speed)}{note}"
        }
    return state


def _intensity_words(name: TypeName, tile: Tile) -> str:
    intensity = tile_intensity(*tile, itemsize=_ITEMSIZE[name])
    units = "" if name == "FP32" else ", on tensor cores"
    return f"{_tile_name(tile)} in {name}{units}: {_three(intensity)} FLOP per requested byte."


# One sentence in four parts: each part depends on less than the whole, and is stored less often.


def _condition_words(row: Device, name: TypeName) -> str:
    if _peak(row, name) is None:
        return f"{row.name} has no {name}; choose another GPU or data type."
    return f"If DRAM had to deliver every one, {row.name} could reach at most"


def _allowed_words(row: Device, name: TypeName, tile: Tile) -> str:
    peak = _peak(row, name)
    return "" if peak is None else _tera(_allowed(row, name, tile, peak))


def _peak_words(row: Device, name: TypeName) -> str:
    peak = _peak(row, name)
    if peak is None:
        return ""
    return f"of {_tera(peak)} (ridge {_three(peak / row.dram_gb_per_s)}):"


def _side_words(row: Device, name: TypeName, tile: Tile) -> str:
    peak = _peak(row, name)
    return "" if peak is None else f"{_side(_is_left(row, name, tile, peak))} by this model."


# --- Short texts ----------------------------------------------------------------------------------


def _peak(row: Device, name: TypeName) -> float | None:
    tera = {"FP32": row.fp32_tflops, "TF32": row.tf32_tflops, "FP16/BF16": row.fp16_tflops}[name]
    return None if tera is None else tera * 1000


def _allowed(row: Device, name: TypeName, tile: Tile, peak: float) -> float:
    return min(peak, tile_intensity(*tile, itemsize=_ITEMSIZE[name]) * row.dram_gb_per_s)


def _is_left(row: Device, name: TypeName, tile: Tile, peak: float) -> bool:
    return tile_intensity(*tile, itemsize=_ITEMSIZE[name]) < peak / row.dram_gb_per_s


def _side(left: bool) -> str:
    return "memory-bound" if left else "compute-bound"


def _times(tile: Tile) -> str:
    return "1 × 1 (naive)" if tile == (1, 1) else f"{tile[0]} × {tile[1]}"


def _tile_name(tile: Tile) -> str:
    return "Naive, 1 × 1" if tile == (1, 1) else f"Tile {tile[0]} × {tile[1]}"


def _tera(gflops: float) -> str:
    """A speed with a unit that suits it."""
    number, unit = (gflops / 1000, "TFLOP/s") if gflops >= 1000 else (gflops, "GFLOP/s")
    return f"{number:,.4g} {unit}" if number >= 100 else f"{number:.3g} {unit}"


def _three(number: float) -> str:
    """Three digits, or all digits before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _still(row: Device, points: Sequence[Point], tile: Tile, name: TypeName) -> Picture:
    """The reader's own kernels; without any, the tiles that the ladder climbs, or the one tile."""
    if name != "FP32" and not points:
        intensity = tile_intensity(*tile, itemsize=_ITEMSIZE[name])
        label = f"{_tile_name(tile)} in {name}"
        return roofs_of_formats(row, [Point(label, intensity, None, "requested")])
    tiles: tuple[tuple[str, Tile], ...] = (
        ("naive", (1, 1)), ("T = 16", (16, 16)), ("T = 32", (32, 32)), ("128 × 128", (128, 128)),
    )  # fmt: skip
    return roofline_plot(
        row,
        points or [Point(name, tile_intensity(*tile), None, "requested") for name, tile in tiles],
    )
