"""Read which tile of a rung was the fastest at which size: one JSON file per device.

`python3 course.py bench --tune --store` writes it on a GPU. As in the files of `bench`, what is
stored are samples; which tile is the best is worked out here. docs/bench.md describes the format.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from course_lib.measurements import files

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class TileTiming:
    """One tile of a rung at one size.

    Attributes:
        constants: what differs from the rung's file, {"WARPS_DOWN": 4}; nothing for its own tile.
        tile: rows and columns of C that a block computes, and the steps of K that it takes at once.
        threads: of a block.
        size: edge of the square matrices.
        samples_ms: milliseconds for one product, one value for each round.
        error: largest difference from float64, as a share of the result's root mean square.
    """

    constants: Mapping[str, int]
    tile: tuple[int, ...]
    threads: int
    size: int
    samples_ms: tuple[float, ...]
    error: float | None = None

    @property
    def median_ms(self) -> float:
        return statistics.median(self.samples_ms)

    @property
    def gflops(self) -> float:
        """GFLOP/s at the median."""
        return 2 * self.size**3 / (self.median_ms * 1e-3) / 1e9


@dataclass(frozen=True)
class Tuning:
    """All that one run of `bench --tune` found out.

    Attributes:
        device: as the driver names it.
        short_name: as the course's data sheet names it; the file's name.
        date: when the run began, UTC.
        versions: of Python, Numba, CuPy, cuBLAS and so on.
        method: how it was measured.
        sources: the fingerprint of each rung's code, by its name.
        tried: what was tried, by the rung's name.
        cublas_ms: the median of the fastest of cuBLAS's products in the rung's precision, by the
            rung's name and the size (as text, since JSON has no other keys).
    """

    device: str
    short_name: str
    date: str
    versions: Mapping[str, str] = field(default_factory=dict)
    method: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    tried: Mapping[str, tuple[TileTiming, ...]] = field(default_factory=dict)
    cublas_ms: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What has to stand beside every one of these numbers: "NVIDIA H200, 2026-11-20"."""
        return f"{self.device}, {self.date[:10]}"

    def sizes(self, rung: str) -> tuple[int, ...]:
        """The sizes at which a rung was tuned, smallest first."""
        return tuple(sorted({timing.size for timing in self.tried.get(rung, ())}))

    def at(self, rung: str, size: int) -> tuple[TileTiming, ...]:
        """What was tried at a size, the fastest first."""
        there = (timing for timing in self.tried.get(rung, ()) if timing.size == size)
        return tuple(sorted(there, key=lambda timing: timing.median_ms))

    def for_product(self, rung: str, M: int, N: int) -> tuple[TileTiming, ...]:
        """What was tried at the size that has most nearly as many outputs, the fastest first.

        The number of outputs says how many blocks there are for the SMs to share; K only says how
        long each works.
        """
        sizes = self.sizes(rung)
        if not sizes:
            return ()
        return self.at(rung, min(sizes, key=lambda siz: abs(math.log(M * N / siz**2))))

    def share_of_cublas(self, rung: str, tried: TileTiming) -> float | None:
        """How much of cuBLAS's speed at this size a tile reaches, in the same run."""
        theirs = self.cublas_ms.get(rung, {}).get(str(tried.size))
        return theirs / tried.median_ms if theirs else None

    def as_json(self) -> str:
        """The text of the file; `parse` reads it."""
        return files.as_text(asdict(self))


def devices(folder: Path = FOLDER) -> tuple[str, ...]:
    """The short names of the devices that rungs were tuned on."""
    return files.devices(folder)


@cache
def load(short_name: str, folder: Path = FOLDER) -> Tuning:
    """What was found on a device: "H200".

    Raises:
        KeyError: with the devices that there are.
    """
    return parse(files.text_of(folder, short_name, "nothing was tuned on"))


def of_device(name: str, folder: Path = FOLDER) -> Tuning | None:
    """What was found on the device that the driver names so, "NVIDIA H200"; None if nothing was."""
    found = (load(device, folder) for device in devices(folder))
    return next((tuning for tuning in found if tuning.device == name), None)


def store(tuning: Tuning, folder: Path = FOLDER) -> Path:
    """Write it to the file of its device."""
    path = files.replace_file(folder / f"{tuning.short_name}.json", tuning.as_json())
    load.cache_clear()
    return path


def parse(text: str) -> Tuning:
    """What a file says."""
    plain = json.loads(text)
    tried = {
        rung: tuple(
            TileTiming(
                **{
                    **timing,
                    "tile": tuple(timing["tile"]),
                    "samples_ms": tuple(timing["samples_ms"]),
                }
            )
            for timing in timings
        )
        for rung, timings in plain.pop("tried").items()
    }
    return Tuning(**plain, tried=tried)
