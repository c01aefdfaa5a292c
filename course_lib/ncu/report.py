"""Lay what Nsight Compute counted of a kernel beside its counts as written and as compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.compiled_counts import emulate as profiles
from course_lib.emulator import Counters, Profile
from course_lib.host import runtime
from course_lib.host.arguments import HostArguments
from course_lib.machine_code import CompilerMissing
from course_lib.measurements.ncu import stored
from course_lib.ncu.kernel_file import kernel_file
from course_lib.ncu.reading import METRICS, SEEN, NoCounters, counters_of, find_ncu, read_metrics
from course_lib.wording.errors import PlainError

STORED_FOR = "9.0"  # the H200, whose reports are stored
# A GPU's few passes more than the machine code's pattern has are other traffic's.
NEARLY = 0.02


@dataclass(frozen=True, repr=False)
class NcuReport:
    """Up to three columns of counters of one launch.

    Attributes:
        kernel: its name.
        emulated: the emulator's counters by name.
        counted: the GPU's, under the same names, as far as they were read.
        heading: of the GPU's column: which GPU, and for a stored report whose kernel, and when.
        seen: what only a GPU knows, as `metrics.SEEN` names it: times, hit rates, reasons to wait.
        note: one or more sentences, where a column could not be had; else "".
        compiled: the machine code's counters, where a compiler is at hand or they were stored.
    """

    kernel: str
    emulated: Mapping[str, int]
    counted: Mapping[str, float]
    heading: str
    seen: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    compiled: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<NcuReport of {self.kernel}: {len(self.counted)} counters of {self.heading}>"

    def show(self, names: bool = False) -> None:
        """Print the columns; with `names=True` also what Nsight Compute calls each counter."""
        print(self.text(names))

    def text(self, names: bool = False) -> str:
        """The report as text."""
        columns = self._columns()
        rows = [name for name in METRICS if any(column.get(name) for _, column in columns)]
        lines = [self.note] if self.note else []
        lines.append(f"{self.kernel}; GPU: {self.heading}")
        lines.append(f"  {'':28}{''.join(f'{title:>14}' for title, _ in columns)}")
        lines += [self._row(name, columns) for name in rows]
        for what, value in self.seen.items():
            lines.append(f"  {what:28}{'':{14 * len(columns) - 14}}{value:14,.4g} {SEEN[what][1]}")
        if names:
            lines += ["", "What Nsight Compute calls them:"]
            lines += [f"  {name:28}{_called(name)}" for name in rows]
        return "\n".join(lines)

    def _columns(self) -> list[tuple[str, Mapping[str, float]]]:
        """Title and counters of the columns that there are; the GPU's is always there."""
        compiled = [("as compiled", self.compiled)] if self.compiled else []
        return [("emulator", self.emulated), *compiled, ("GPU", self.counted)]

    def _row(self, name: str, columns: Sequence[tuple[str, Mapping[str, float]]]) -> str:
        numbers = (
            f"{counts[name]:,.0f}" if name in counts else ("not read" if title == "GPU" else "-")
            for title, counts in columns
        )
        verdict = _verdict(self.emulated.get(name), self.compiled.get(name), self.counted.get(name))
        return f"  {name:28}{''.join(f'{number:>14}' for number in numbers)}  {verdict}".rstrip()


def _verdict(written: int | None, compiled: int | None, counted: float | None) -> str:
    """Whose count the GPU's is, or what it has beyond the nearest one, or by which factor."""
    if counted is None or written is None:
        return ""
    if counted == written:
        return "equal"
    if counted == compiled:
        return "as compiled"
    ours = written if compiled is None else compiled
    if 0 < counted - ours <= NEARLY * ours or not ours:
        return f"+ {counted - ours:,.0f}"
    return f"x {counted / ours:.3g}"


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
    shows a stored one in that place, if one is named. Where Numba's compiler is at hand, the
    counts of the machine code stand between both: for this GPU, or without one for an H200.

    Args:
        kernel: a `@cuda.jit` kernel or a plain function. Arrays are changed as by a launch.
        stored: the name of a stored report, as `course_lib.measurements.ncu.names()` has them.

    Raises:
        PlainError: if it is no kernel, or uses what cannot be written into a file.
    """
    return _Profiled(kernel, stored)


def stored_report(name: str) -> NcuReport:
    """A stored report, with the columns that were stored.

    Raises:
        KeyError: with the names that there are.
    """
    found = stored(name)
    label = found.label.removeprefix(f"{name}, ")
    return NcuReport(name, found.written, found.counts, label, found.seen, "", found.compiled)


@dataclass(frozen=True)
class _Profiled:
    """A kernel that waits for its grid and its block."""

    kernel: Any
    stored: str

    def __getitem__(self, launch: Any) -> Callable[..., NcuReport]:
        def profile(*arguments: Any) -> NcuReport:
            before = [np.copy(value) for value in HostArguments(arguments).values]
            emulated = profiles.emulate(self.kernel)[launch](*arguments)
            try:
                find_ncu()
                text = kernel_file(self.kernel)
                metrics, after = read_metrics(text, emulated.kernel_name, launch, before)
            except NoCounters as reason:
                return self._with_stored(emulated, str(reason))
            compiled, why = _as_compiled(emulated, runtime.compute_capability())
            notes = [_same(after, HostArguments(arguments).values), why]
            return NcuReport(
                emulated.kernel_name,
                _counters(emulated),
                counters_of(metrics),
                f"{runtime.device_name()}, this launch",
                {what: metrics[name] for what, (name, _) in SEEN.items() if name in metrics},
                " ".join(filter(None, notes)),
                compiled,
            )

        return profile

    def _with_stored(self, emulated: Profile, reason: str) -> NcuReport:
        """What can be shown where this GPU could not be read."""
        name, counters = emulated.kernel_name, _counters(emulated)
        compiled, why = _as_compiled(emulated, STORED_FOR)
        if not self.stored:
            alone = "the emulator's counters stand alone"
            if compiled:
                alone = "only the emulator's counters and those as compiled stand here"
            note = " ".join(filter(None, (reason, f"So {alone}.", why)))
            return NcuReport(name, counters, {}, "not read", note=note, compiled=compiled)
        found = stored(self.stored)
        whose = "the GPU's column is a stored report"
        if not compiled and not why and found.compiled:
            compiled, whose = found.compiled, "the columns beside the emulator's are stored ones"
        note = " ".join(filter(None, (reason, f"So {whose} of the course's kernel.", why)))
        return NcuReport(name, counters, found.counts, found.label, found.seen, note, compiled)


def _as_compiled(emulated: Profile, cc: str) -> tuple[Mapping[str, int], str]:
    """The counters of the machine code, or why there are none; "" where only a compiler lacks."""
    try:
        return _counters(emulated.as_compiled(cc)), ""
    except CompilerMissing:
        return {}, ""
    except PlainError as reason:
        return {}, str(reason)


def _counters(profile: Counters) -> dict[str, int]:
    return {name: int(getattr(profile, name)) for name in METRICS}


def _same(after: list[np.ndarray], ours: list[Any]) -> str:
    """A sentence if the GPU computed something else than the emulator; else ""."""
    same = all(
        np.allclose(theirs, mine, rtol=1e-4, atol=1e-5, equal_nan=True)
        for theirs, mine in zip(after, ours, strict=True)
    )
    if same:
        return ""
    return "The GPU's result differs from the emulator's: fix that before you compare counts."
