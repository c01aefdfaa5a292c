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
SECTOR_BYTES = 32
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
        """By one of COSTS: a count, or cycles of an SM where what takes part in the name binds."""
        issue = self.instructions / ISSUED
        memory = self.wavefronts / WAVEFRONTS + self.sectors / L1_SECTORS
        return {
            "instructions": self.instructions,
            "wavefronts": self.wavefronts,
            "sectors": self.sectors,
            "all that is full, one after the other": issue + memory,
            "the fullest part": max(issue, memory),
        }[by]


COSTS = (
    "sectors",
    "wavefronts",
    "instructions",
    "the fullest part",
    "all that is full, one after the other",
)


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value from 1 on; equal values share the mean of their places."""
    order = sorted(values)
    return [(2 * order.index(value) + 1 + order.count(value)) / 2 for value in values]


def rank_correlation(some: Sequence[float], others: Sequence[float]) -> float:
    """Spearman's: the correlation of the ranks, 1 where both rank alike."""
    return statistics.correlation(ranks(some), ranks(others))


def misplaced_pairs(some: Sequence[float], others: Sequence[float]) -> tuple[int, int]:
    """Of all pairs, those that the two order differently, and how many pairs there are."""
    wrong = pairs = 0
    for first in range(len(some)):
        for second in range(first):
            pairs += 1
            wrong += (some[first] - some[second]) * (others[first] - others[second]) < 0
    return wrong, pairs


class CountedCosts(NamedTuple):
    """What was measured in one run.

    Attributes:
        label: GPU and date.
        size: rows and columns of the square matrices.
        kernels: those that were counted and timed, in the order of the ladder.
    """

    label: str
    size: int
    kernels: tuple[CountedKernel, ...]

    def correlation(self, by: str) -> float:
        """How alike a cost and the time rank the kernels."""
        return rank_correlation(
            [kernel.cost(by) for kernel in self.kernels],
            [kernel.median_ms for kernel in self.kernels],
        )


def counted(row: Mapping[str, Any], size: int) -> CountedKernel:
    """A row of the file as a kernel's cost in a product of `size`.

    The row has the counts of two launches with the same result and two lengths of the sum; between
    them and beyond, each count grows by the same amount with every step of k.
    """
    short, long = row["steps"]
    found: dict[str, float] = {}
    for name, (at_short, at_long) in row["counts"].items():
        of_a_step = (at_long - at_short) / (long - short)
        found[name] = (at_short + of_a_step * (size - short)) * (size / row["side"]) ** 2
    return CountedKernel(row["name"], **found, samples_ms=tuple(row.get("samples_ms", ())))


def load(device: str = "H200") -> CountedCosts:
    """What was stored for a device, by its short name.

    Raises:
        KeyError: if nothing was measured on it.
    """
    plain = content_of(FOLDER, device, "no counted costs were held against times on")
    kernels = (counted(row, plain["size"]) for row in plain["rows"])
    timed = tuple(kernel for kernel in kernels if kernel.samples_ms)
    return CountedCosts(f"{plain['device']}, {plain['date']}", plain["size"], timed)
