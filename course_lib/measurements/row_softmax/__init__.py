"""Read what a row softmax takes on a GPU: the answers of lesson 10c beside PyTorch's, in one run.

One file per device; benchmarks/row_softmax.py measures it and says how. The file holds samples;
medians and speeds are worked out here.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from course_lib.measurements.files import content_of

FOLDER = Path(__file__).resolve().parent
WRITTEN_BY = ("row_softmax.py",)
PYTORCH, COPY = "torch.softmax", "copy"
FLOAT_BYTES = 4


def size_name(rows: int, columns: int) -> str:
    """ "4096 x 4096", as the file and tables have it."""
    return f"{rows} x {columns}"


def least_bytes(rows: int, columns: int) -> int:
    """What has to move whatever the kernel: each number is loaded once and stored once."""
    return 2 * FLOAT_BYTES * rows * columns


class RowSoftmaxTimes(NamedTuple):
    """What was measured in one run.

    Attributes:
        label: GPU and date.
        samples_ms: by size, then by contestant: milliseconds of the GPU, one value for each round.
    """

    label: str
    samples_ms: Mapping[str, Mapping[str, tuple[float, ...]]]

    def median_ms(self, name: str, size: str = "4096 x 4096") -> float:
        """Of a contestant: a task's id, PYTORCH, or COPY, which moves as much as must be moved."""
        return statistics.median(self.samples_ms[size][name])

    def of_pytorch(self, name: str, size: str = "4096 x 4096") -> float:
        """A contestant's speed as a share of PyTorch's."""
        return self.median_ms(PYTORCH, size) / self.median_ms(name, size)

    def gb_per_s(self, name: str, size: str = "4096 x 4096") -> float:
        """The bytes that have to move, over the time: no more than DRAM delivers, but for L2."""
        rows, columns = map(int, size.split(" x "))
        return least_bytes(rows, columns) / self.median_ms(name, size) / 1e6


def load(device: str = "H200") -> RowSoftmaxTimes:
    """What was stored for a device, by its short name.

    Raises:
        KeyError: if nothing was measured on it.
    """
    plain = content_of(FOLDER, device, "no row softmax was measured on")
    samples = {
        size: {name: tuple(row["samples_ms"]) for name, row in rows.items()}
        for size, rows in plain["rows"].items()
    }
    return RowSoftmaxTimes(f"{plain['device']}, {plain['date']}", samples)
