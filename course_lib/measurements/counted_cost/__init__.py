"""Read what kernels cost as counted and as timed, and how alike the two rank them.

One file per device; benchmarks/counted_cost.py measures it and says how. The file holds counts of
small launches and samples of times; costs, medians and correlations are worked out here.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from course_lib.measurements.files import content_of

FOLDER = Path(__file__).resolve().parent
WRITTEN_BY = ("counted_cost.py",)
# What one SM of compute capability 7.0 to 9.0 does in a cycle (CUDA Programming Guide, "Compute
# Capabilities"; Nsight Compute's `l1tex` and `smsp` units): it issues 4 warp instructions, and L1
# and shared memory hand over 128 bytes: one wavefront, or 4 sectors.
ISSUED, WAVEFRONTS, L1_SECTORS = 4, 1, 4


class CountedKernel(NamedTuple):
    """One kernel: what its machine code does in a product of `size`, and how long that takes.

    Attributes:
        name: the rung, and the constants that differ from its own, "tiled TILE=16".
        instructions: that warps execute.
        wavefronts: of loads from shared memory and stores to it.
        sectors: of loads from global memory and stores to it.
        samples_ms: milliseconds of the GPU, one value for each round; none where it was not timed.
    """

    name: str
    instructions: float
    wavefronts: float
    sectors: float
    samples_ms: tuple[float, ...] = ()

    @property
    def median_ms(self) -> float:
        return statistics.median(self.samples_ms)

    def cost(self, by: str) -> float:
        """By one of COSTS: a count, or cycles of an SM."""
        issue, memory = self.instructions / ISSUED, _in_l1(self.wavefronts, self.sectors)
        return {
            "instructions": self.instructions,
            "wavefronts": self.wavefronts,
            "sectors": self.sectors,
            "L1 and shared memory": memory,
            "the fullest part": max(issue, memory),
            SUM: cost_of(self.instructions, self.wavefronts, self.sectors),
        }[by]


SUM = "both, one after the other"  # the cost by which a board ranks
COSTS = (
    "sectors", "wavefronts", "instructions", "L1 and shared memory", "the fullest part", SUM
)  # fmt: skip


def cost_of(instructions: float, wavefronts: float, sectors: float) -> float:
    """Cycles that one SM takes to issue the instructions and to serve the accesses, in turn."""
    return instructions / ISSUED + _in_l1(wavefronts, sectors)


def _in_l1(wavefronts: float, sectors: float) -> float:
    """Cycles in which L1 and shared memory, which are one unit, hand data over."""
    return wavefronts / WAVEFRONTS + sectors / L1_SECTORS


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value from 1 on; equal values share the mean of their places."""
    order = sorted(values)
    return [(2 * order.index(value) + 1 + order.count(value)) / 2 for value in values]


def rank_correlation(some: Sequence[float], others: Sequence[float]) -> float:
    """Spearman's: the correlation of the ranks, 1 where both rank alike."""
    return statistics.correlation(ranks(some), ranks(others))


class CountedCosts(NamedTuple):
    """What was measured in one run.

    Attributes:
        label: GPU and date.
        size: rows and columns of the square matrices.
        kernels: those that were counted and timed, in the order of the ladder.
        written: the same kernels with what the emulator counts of the source, which knows of no
            instructions; a compiler joins loads, and leaves some out.
    """

    label: str
    size: int
    kernels: tuple[CountedKernel, ...]
    written: tuple[CountedKernel, ...] = ()


def correlation(kernels: Sequence[CountedKernel], by: str) -> float:
    """How alike a cost and the time rank some kernels."""
    times = [kernel.median_ms for kernel in kernels]
    return rank_correlation([kernel.cost(by) for kernel in kernels], times)


def wrong_pairs(kernels: Sequence[CountedKernel], apart: float, by: str = SUM) -> tuple[int, int]:
    """Of the pairs whose costs lie at least a factor apart, those that the clock orders otherwise.

    Returns:
        How many those are, and how many pairs there are.
    """
    wrong = pairs = 0
    ordered = sorted(kernels, key=lambda kernel: kernel.cost(by))
    for place, dear in enumerate(ordered):
        for cheap in ordered[:place]:
            if dear.cost(by) >= apart * cheap.cost(by):
                pairs += 1
                wrong += cheap.median_ms > dear.median_ms
    return wrong, pairs


def faster_half(kernels: Sequence[CountedKernel]) -> list[CountedKernel]:
    """Those among which a board would decide."""
    return sorted(kernels, key=lambda kernel: kernel.median_ms)[: len(kernels) // 2]


def counted(row: Mapping[str, Any], size: int, how: str = "counts") -> CountedKernel:
    """A row of the file as a kernel's cost in a product of `size`.

    The row has the counts of two launches with the same result and two lengths of the sum; between
    them and beyond, each count grows by the same amount with every step of k. `how` is "counts" for
    those as compiled, or "written" for those of the source.
    """
    short, long = row["steps"]
    found: dict[str, float] = {"instructions": 0.0}
    for name, (at_short, at_long) in row[how].items():
        of_a_step = (at_long - at_short) / (long - short)
        found[name] = (at_short + of_a_step * (size - short)) * (size / row["side"]) ** 2
    return CountedKernel(row["name"], **found, samples_ms=tuple(row.get("samples_ms", ())))


def load(device: str = "H200") -> CountedCosts:
    """What was stored for a device, by its short name.

    Raises:
        KeyError: if nothing was measured on it.
    """
    return read(content_of(FOLDER, device, "no counted costs were held against times on"))


def read(plain: Mapping[str, Any]) -> CountedCosts:
    """What a file's content says."""
    rows = [row for row in plain["rows"] if row.get("samples_ms")]
    compiled, written = (
        tuple(counted(row, plain["size"], how) for row in rows) for how in ("counts", "written")
    )
    return CountedCosts(f"{plain['device']}, {plain['date']}", plain["size"], compiled, written)
