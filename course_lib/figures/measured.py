"""Draw the measured ladder on the roofline of the GPU that it was measured on."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib import devices
from course_lib.devices import Ceilings
from course_lib.figures.picture import Picture
from course_lib.figures.rooflines import roofline_plot
from course_lib.measurements import Entry, Measurements
from course_lib.roofline import Point, tile_intensity


def measured_roofline(
    measured: Measurements, size: int = 4096, rungs: Sequence[str] | None = None
) -> Picture:
    """The float32 rungs over the bytes that they request, under the roofs reached on that GPU.

    Rungs whose blocks share the same tile of C request the same bytes, so they stand one above the
    other; of these the fastest is shown (and the slowest where nothing is shared), unless `rungs`
    names the ones wanted.

    Raises:
        ValueError: if nothing was measured at this size.
    """
    shown = [each for each in _entries(measured, size) if rungs is None or each.name in rungs]
    # The fastest first: where dots are close, the first finds room for its label on the right.
    shown.sort(key=lambda each: -_gflops(each, size))
    if not shown:
        raise ValueError(f"No float32 rung was measured at {size} on {measured.label}.")
    points = [
        Point(
            label=each.name,
            intensity=tile_intensity(*_shared_tile(each)),
            gflops=_gflops(each, size),
            bytes_kind="requested",
            source=f"measured on {measured.label}, {size} x {size} x {size}",
        )
        for each in (_typical(shown) if rungs is None else shown)
    ]
    return roofline_plot(measured.short_name, points, ceilings=_roofs(measured))


def _entries(measured: Measurements, size: int) -> list[Entry]:
    return [
        each
        for each in measured.entries
        if each.kind == "rung" and each.precision == "float32" and each.tile and each.cell(size)
    ]


def _typical(entries: Sequence[Entry]) -> list[Entry]:
    """Of entries, the fastest first: the fastest of each shared tile, the slowest that has none."""
    fastest = {_shared_tile(each): each for each in reversed(entries)}
    alone = [each for each in entries if _shared_tile(each) == (1, 1)]
    return [each for each in entries if each in alone[-1:] or each in fastest.values()]


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
