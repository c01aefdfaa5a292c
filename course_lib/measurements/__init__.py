"""Read what `bench` measured: one JSON file per device, with its date, clocks and versions.

Owns: the stored numbers with their device, date and versions.
May import: nothing of the course.
Start with: this file; README.md here says which file holds what.

`latest()` is the newest file of this folder, `load("H200")` that of a device. A file holds samples,
and what follows from them (medians, speeds, shares) is worked out here, so the two cannot disagree.
docs/bench.md describes the format. Numbers come from `python3 course.py bench --store` on a GPU and
from nowhere else.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from course_lib.measurements import files

FOLDER = Path(__file__).resolve().parent
SCHEMA = 1

Precision = Literal["float32", "tf32", "float16", "bfloat16"]
Kind = Literal["rung", "tuned", "twin", "cuBLAS"]


class UnreadableMeasurements(ValueError):
    """A file that `bench` did not write, or another version of it."""


@dataclass(frozen=True)
class Cell:
    """One contestant at one size: either samples, or the reason why there are none.

    Attributes:
        size: edge of the square matrices.
        samples_ms: milliseconds for one product, one value for each round.
        launches: products in a sample, one after the other.
        error: largest difference from float64, as a share of the root mean square of the result;
            the inputs are taken as the contestant gets them.
        accuracy: norm of the difference from the float64 product of the unrounded float32 inputs,
            as a share of that product's norm: what the precision costs.
        sm_clock_mhz: lowest, median and highest SM clock seen during the samples; or empty.
        host_us: microseconds that a launch takes the host, while the GPU is held; None if unknown.
        launch_bound: the GPU waited for the host, so this is no kernel time.
        problem: why there are no samples; "" where there are.
    """

    size: int
    samples_ms: tuple[float, ...] = ()
    launches: int = 1
    error: float | None = None
    accuracy: float | None = None
    sm_clock_mhz: tuple[int, ...] = ()
    host_us: float | None = None
    launch_bound: bool = False
    problem: str = ""

    @property
    def median_ms(self) -> float:
        return statistics.median(self.samples_ms)

    @property
    def quartiles_ms(self) -> tuple[float, float]:
        """A quarter of the samples was faster than the first, a quarter slower than the second."""
        if len(self.samples_ms) == 1:
            return self.samples_ms[0], self.samples_ms[0]
        low, _, high = statistics.quantiles(self.samples_ms, n=4, method="inclusive")
        return low, high

    @property
    def gflops(self) -> float:
        """GFLOP/s at the median: a product of n x n matrices is 2 n^3 FLOP."""
        return 2 * self.size**3 / (self.median_ms * 1e-3) / 1e9


@dataclass(frozen=True)
class Entry:
    """One contestant: a rung in Python (tuned, or as it is), its twin in C++, or cuBLAS.

    Attributes:
        name: of the rung ("tiled"), or "cuBLAS float32".
        kind: which of these.
        precision: of the inputs as they are multiplied.
        cells: one for each size, smallest first.
        tile: rows and columns of C for a block, and the steps along K; empty where unknown, or
            where every size has its own.
        ceiling: the share of its precision's peak that is possible at most; None where nobody
            can say.
        binds: what stops it there.
        source: the fingerprint of the kernel's code (bench/fingerprints.py).
        result: how C is stored: float32, or 16 bits as the inputs.
        sustained: what becomes of the speed after a while of nothing else: "seconds", "size", "ms"
            for a product, "sm_clock_mhz", "watts", "watts_allowed", and "at_power_limit", 1 where
            the driver holds the clock down; empty where it was not tried.
    """

    name: str
    kind: Kind
    precision: Precision
    cells: tuple[Cell, ...] = ()
    tile: tuple[int, ...] = ()
    ceiling: float | None = None
    binds: str = ""
    source: str = ""
    result: str = "float32"
    sustained: Mapping[str, float] = field(default_factory=dict)

    @property
    def sustained_tflops(self) -> float:
        """The speed after seconds of load."""
        return 2 * self.sustained["size"] ** 3 / self.sustained["ms"] / 1e9

    @property
    def at_power_limit(self) -> bool:
        """Did the GPU lower its clock to stay below the power limit?"""
        return bool(self.sustained.get("at_power_limit"))

    def cell(self, size: int) -> Cell | None:
        """What was measured at a size; None if nothing was."""
        found = [cell for cell in self.cells if cell.size == size and cell.samples_ms]
        return found[0] if found else None


@dataclass(frozen=True)
class Measurements:
    """All that one run of `bench` found out.

    Attributes:
        device: as the driver names it.
        short_name: as the course's data sheet names it; the file's name.
        facts: compute capability, SMs, bytes of L2 and memory, driver.
        date: when the run began, UTC.
        commit: of the course; "" where Git could not tell.
        versions: of Python, Numba, CuPy, cuBLAS and so on.
        method: how it was measured.
        peaks_gflops: the data sheet's, by precision.
        measured_roofs: what can be reached there, "fp32_gflops" and "dram_gb_per_s".
        entries: the contestants.
        complete: False if the run was stopped before its end.
    """

    device: str
    short_name: str
    date: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    commit: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    method: Mapping[str, Any] = field(default_factory=dict)
    peaks_gflops: Mapping[str, float] = field(default_factory=dict)
    measured_roofs: Mapping[str, float] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    complete: bool = True

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes at which something was measured."""
        return tuple(
            sorted({cell.size for entry in self.entries for cell in entry.cells if cell.samples_ms})
        )

    @property
    def label(self) -> str:
        """What has to be shown beside each of these numbers: "NVIDIA H200, 2026-11-20"."""
        return f"{self.device}, {self.date[:10]}"

    def entry(self, name: str, kind: Kind = "rung") -> Entry | None:
        """The contestant of a name; None if it did not take part."""
        found = [entry for entry in self.entries if (entry.name, entry.kind) == (name, kind)]
        return found[0] if found else None

    def cublas(self, precision: str, size: int, result: str | None = None) -> Cell | None:
        """The fastest of cuBLAS's products in this precision; with `result`, of those stored so."""
        cells = self._cells("cuBLAS", size, precision, result)
        return min(cells, key=lambda cell: cell.median_ms, default=None)

    def share_of_cublas(self, entry: Entry, size: int) -> float | None:
        """How much of cuBLAS's speed in the same precision an entry reaches."""
        ours, theirs = entry.cell(size), self.cublas(entry.precision, size)
        return theirs.median_ms / ours.median_ms if ours and theirs else None

    def share_of_same_result(self, entry: Entry, size: int) -> float | None:
        """The same against those of cuBLAS's products that store C as the entry does."""
        ours, theirs = entry.cell(size), self.cublas(entry.precision, size, entry.result)
        return theirs.median_ms / ours.median_ms if ours and theirs else None

    def share_of_peak(self, entry: Entry, size: int) -> float | None:
        """How much of the data sheet's peak for its precision an entry reaches."""
        ours, peak = entry.cell(size), self.peaks_gflops.get(entry.precision)
        return ours.gflops / peak if ours and peak else None

    def share_of_ceiling(self, entry: Entry, size: int) -> float | None:
        """How much of its own ceiling an entry reaches."""
        share = self.share_of_peak(entry, size)
        return share / entry.ceiling if share and entry.ceiling else None

    def share_of_twin(self, entry: Entry, size: int) -> float | None:
        """How much of the speed of the same kernel in C++ a rung reaches.

        Both ways of writing a rung, "tiled" and "tiled_while", have one twin.
        """
        twin = self.entry(entry.name.removesuffix("_while"), "twin")
        ours, theirs = entry.cell(size), twin and twin.cell(size)
        return theirs.median_ms / ours.median_ms if ours and theirs else None

    def speeds(self, size: int = 4096, precisions: Iterable[str] = ("float32",)) -> Speeds:
        """The rungs' speeds at one size, with the label that they must keep."""
        wanted = set(precisions)
        rungs = [
            entry for entry in self.entries if entry.kind == "rung" and entry.precision in wanted
        ]
        return Speeds(
            label=f"{self.label}, {size} x {size} x {size}",
            origin="measured",
            gflops={entry.name: cell.gflops for entry in rungs if (cell := entry.cell(size))},
            of_cublas={
                entry.name: share for entry in rungs if (share := self.share_of_cublas(entry, size))
            },
        )

    def _cells(
        self, kind: Kind, size: int, precision: str, result: str | None = None
    ) -> Iterator[Cell]:
        for entry in self.entries:
            cell = entry.cell(size)
            if (entry.kind, entry.precision) == (kind, precision) and cell:
                if result in (None, entry.result):
                    yield cell

    def as_json(self) -> str:
        """The text of the file; `parse` reads it."""
        plain = {"schema": SCHEMA, **asdict(self)}
        # Where nobody looked there is nothing to write.
        plain["entries"] = [
            {name: value for name, value in entry.items() if value != {}}
            for entry in plain["entries"]
        ]
        return files.as_text(plain)


@dataclass(frozen=True)
class Speeds:
    """Speeds of rungs at one size, and what must be said beside them.

    Attributes:
        label: the device, the date, the size; for published speeds who published them.
        origin: "measured" (by `bench`) or "published" (by others).
        gflops: GFLOP/s by rung, from the bottom up.
        of_cublas: the share of cuBLAS in the same precision, by rung.
    """

    label: str
    origin: Literal["measured", "published"]
    gflops: Mapping[str, float]
    of_cublas: Mapping[str, float]

    @property
    def caption(self) -> str:
        """One sentence that says where the numbers are from."""
        if self.origin == "published":
            return f"Published: {self.label}. Not measured by us."
        return f"Measured by `course.py bench` on {self.label}."

    def __str__(self) -> str:
        width = max((len(name) for name in self.gflops), default=0)
        rows = [self.caption]
        for name, gflops in self.gflops.items():
            share = self.of_cublas.get(name)
            of_cublas = f"  {share:6.1%} of cuBLAS" if share else ""
            rows.append(f"  {name:<{width}}  {gflops:>9,.0f} GFLOP/s{of_cublas}")
        return "\n".join(rows)


# --- Files -------------------------------------------------------------------------------------


def devices(folder: Path = FOLDER) -> tuple[str, ...]:
    """The short names of the devices that there are measurements of."""
    return files.devices(folder)


def load(device: str, folder: Path = FOLDER) -> Measurements:
    """The stored measurements of a device: "H200".

    Raises:
        KeyError: with the devices that there are.
        UnreadableMeasurements: if the file is not one of bench's.
    """
    known = {name.casefold(): name for name in devices(folder)}
    found = known.get(device.casefold(), device)
    return parse(files.text_of(folder, found, "no measurements of"))


def latest(folder: Path = FOLDER) -> Measurements | None:
    """The newest measurements of any device; None while there are none."""
    return max((load(name, folder) for name in devices(folder)), key=lambda m: m.date, default=None)


def store(measured: Measurements, folder: Path = FOLDER) -> Path:
    """Write measurements to the file of their device."""
    return files.replace_file(folder / f"{measured.short_name}.json", measured.as_json())


def parse(text: str) -> Measurements:
    """Measurements from the text of a file.

    Raises:
        UnreadableMeasurements: with the reason.
    """
    try:
        plain = json.loads(text)
        schema = plain.pop("schema")
        if schema != SCHEMA:
            raise ValueError(f"schema {schema!r}, and this course reads schema {SCHEMA}")
        entries = tuple(_entry(entry) for entry in plain.pop("entries"))
        return replace(Measurements(**plain), entries=entries)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise UnreadableMeasurements(f"no file of `course.py bench`: {problem}") from problem


def _entry(plain: dict[str, Any]) -> Entry:
    cells = tuple(_cell(cell) for cell in plain.pop("cells"))
    plain.pop("busy", None)  # files from before `what_binds` had files of its own
    return Entry(**{**plain, "tile": tuple(plain.get("tile", ())), "cells": cells})


def _cell(plain: dict[str, Any]) -> Cell:
    lists = {name: tuple(plain.get(name, ())) for name in ("samples_ms", "sm_clock_mhz")}
    return Cell(**{**plain, **lists})
