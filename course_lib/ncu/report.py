"""Lay what Nsight Compute counted of a kernel beside what the emulator counts of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib import runtime
from course_lib.arguments import HostArguments
from course_lib.emulator import Profile
from course_lib.measurements.ncu import stored
from course_lib.ncu.kernel_file import kernel_file
from course_lib.ncu.metrics import METRICS, SEEN, NoCounters, counters_of
from course_lib.ncu.reading import find_ncu, read_metrics


@dataclass(frozen=True, repr=False)
class NcuReport:
    """Two columns of counters of one launch.

    Attributes:
        kernel: its name.
        emulated: the emulator's counters by name; empty for a report that was only stored.
        counted: the GPU's, under the same names, as far as they were read.
        seen: what only a GPU knows, as `metrics.SEEN` names it: times, hit rates, reasons to wait.
        heading: of the GPU's column: which GPU, and for a stored report whose kernel, and when.
        note: one sentence, where the GPU here could not be read; else "".
    """

    kernel: str
    emulated: Mapping[str, int]
    counted: Mapping[str, float]
    heading: str
    seen: Mapping[str, float] = field(default_factory=dict)
    note: str = ""

    def __repr__(self) -> str:
        return f"<NcuReport of {self.kernel}: {len(self.counted)} counters of {self.heading}>"

    def show(self, names: bool = False) -> None:
        """Print both columns; with `names=True` also what Nsight Compute calls each counter."""
        print(self.text(names))

    def text(self, names: bool = False) -> str:
        """The report as text."""
        rows = [name for name in METRICS if self.emulated.get(name) or self.counted.get(name)]
        lines = [self.note] if self.note else []
        if self.emulated:
            lines.append(f"{self.kernel}; GPU: {self.heading}")
            lines.append(f"  {'':28}{'emulator':>14}{'GPU':>14}")
            lines += [self._row(name) for name in rows]
        else:
            lines.append(self.heading)
            lines += [f"  {name:28}{self.counted[name]:14,.0f}" for name in rows]
        for what, value in self.seen.items():
            lines.append(f"  {what:28}{'':14}{value:14,.4g} {SEEN[what][1]}")
        if names:
            lines += ["", "What Nsight Compute calls them:"]
            lines += [f"  {name:28}{_called(name)}" for name in rows]
        return "\n".join(lines)

    def _row(self, name: str) -> str:
        ours, theirs = self.emulated.get(name), self.counted.get(name)
        left = "-" if ours is None else f"{ours:,}"
        right = "not read" if theirs is None else f"{theirs:,.0f}"
        return f"  {name:28}{left:>14}{right:>14}  {_verdict(ours, theirs)}".rstrip()


def _verdict(ours: int | None, theirs: float | None) -> str:
    """Whether both counts agree, or by which factor they do not."""
    if ours is None or theirs is None:
        return ""
    if ours == theirs:
        return "equal"
    return f"x {theirs / ours:.3g}" if ours else "differs"


def _called(name: str) -> str:
    """The metric behind a counter; of several, the one that counts most often, and how many."""
    metrics = METRICS[name]
    return next(iter(metrics)) if len(metrics) == 1 else f"{len(metrics)} metrics, {_most(metrics)}"


def _most(metrics: Mapping[str, int]) -> str:
    return f"such as {max(metrics, key=lambda metric: metrics[metric])}, twice"


def ncu_report(kernel: Any, stored: str = "") -> _Profiled:
    """`ncu_report(kernel)[grid, block](A, B)` counts one launch on the emulator and on the GPU.

    The GPU is read by Nsight Compute (`ncu`), in a process of its own, with the clocks as they
    are. Where there is no GPU, no `ncu` or no permission, the report says so in one sentence and
    shows a stored one in that place, if one is named.

    Args:
        kernel: a `@cuda.jit` kernel or a plain function. Arrays are changed as by a launch.
        stored: the name of a stored report, as `course_lib.measurements.ncu.names()` has them.

    Raises:
        PlainError: if it is no kernel, or uses what cannot be written into a file.
    """
    return _Profiled(kernel, stored)


def stored_report(name: str) -> NcuReport:
    """A stored report alone, without the emulator's column.

    Raises:
        KeyError: with the names that there are.
    """
    found = stored(name)
    return NcuReport(name, {}, found.counts, found.label, found.seen)


@dataclass(frozen=True)
class _Profiled:
    """A kernel that waits for its grid and its block."""

    kernel: Any
    stored: str

    def __getitem__(self, launch: Any) -> Callable[..., NcuReport]:
        def profile(*arguments: Any) -> NcuReport:
            before = [np.copy(each) for each in HostArguments(arguments).values]
            emulated = runtime.emulate(self.kernel)[launch](*arguments)
            try:
                find_ncu()
                text = kernel_file(self.kernel)
                metrics, after = read_metrics(text, emulated.kernel_name, launch, before)
            except NoCounters as reason:
                return self._with_stored(emulated, str(reason))
            note = _same(after, HostArguments(arguments).values)
            return NcuReport(
                emulated.kernel_name,
                _counters(emulated),
                counters_of(metrics),
                f"{runtime.device_name()}, this launch",
                {what: metrics[name] for what, (name, _) in SEEN.items() if name in metrics},
                note,
            )

        return profile

    def _with_stored(self, emulated: Profile, reason: str) -> NcuReport:
        """What can be shown where this GPU could not be read."""
        name, counters = emulated.kernel_name, _counters(emulated)
        if not self.stored:
            note = f"{reason} So the emulator's counters stand alone."
            return NcuReport(name, counters, {}, "not read", note=note)
        found = stored(self.stored)
        note = f"{reason} So the GPU's column is a stored report of the course's kernel."
        return NcuReport(name, counters, found.counts, found.label, found.seen, note)


def _counters(profile: Profile) -> dict[str, int]:
    return {name: int(getattr(profile, name)) for name in METRICS}


def _same(after: list[np.ndarray], ours: list[Any]) -> str:
    """A sentence if the GPU computed something else than the emulator; else ""."""
    same = all(
        np.allclose(theirs, mine, rtol=1e-4, atol=1e-5, equal_nan=True)
        for theirs, mine in zip(after, ours, strict=True)
    )
    if same:
        return ""
    return "The GPU's result is not the emulator's: mend that before you compare counts."
