"""Runs any kernel that a student likes, with any arrays, in every order of its warps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator import (
    Budget,
    Kernel,
    Profile,
    Program,
    copies_of,
    emulate,
    load_program,
    names_around,
)
from course_lib.emulator.language.definitions import unknown_decorators
from course_lib.tab.arrays import made
from course_lib.tab.checks import IMPORTS
from course_lib.tab.fields import Fields, Refused, text
from course_lib.wording.findings import Finding, by_importance
from course_lib.wording.words import joined

# For somebody who waits: seconds, whatever the kernel does with them, in a browser, too.
BUDGET = Budget(
    steps=50_000,
    bytes=96 << 20,
    printed_lines=200,
    lanes_per_step=2048,
    lanes_at_once=8192,
    access_steps=6,
)
# The order of the warps, and the seed of a random one.
SCHEDULES = (("lockstep", 0), ("warps", 0), ("shuffled", 1), ("shuffled", 2))
MOST_ARRAYS = 16
NO_KERNEL = "There is no kernel here. Define one with `def` below `@cuda.jit`."

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Wanted:
    """A launch that was asked for.

    Attributes:
        text: the whole text.
        kernel: the one of its kernels that is launched.
        grid, block: as the page sent them; the emulator has its say about them.
        arguments: by the names of the parameters, as they are before the launch.
        shared_bytes: of dynamic shared memory.
    """

    text: str
    kernel: Kernel
    grid: Any
    block: Any
    arguments: Arguments
    shared_bytes: int = 0

    def run(self, schedule: str, seed: int, budget: Budget, trace: bool = False) -> Ran:
        """One launch, with arrays of its own."""
        copies = dict(zip(self.arguments, copies_of([*self.arguments.values()]), strict=True))
        launch = emulate(
            self.kernel, schedule=schedule, seed=seed, budget=budget, trace=trace,
            counters=schedule == "lockstep", costs=True,
        )[self.grid, self.block, 0, self.shared_bytes]  # fmt: skip
        return Ran(launch(*copies.values()), copies)


@dataclass(frozen=True)
class Ran:
    """What came of one launch: the emulator's profile, and the arguments as they are afterwards."""

    profile: Profile
    arguments: Arguments


@dataclass(frozen=True)
class Played:
    """A launch in every order of the warps.

    Attributes:
        wanted: what was launched.
        runs: one for each of `SCHEDULES`, as far as they end.
    """

    wanted: Wanted
    runs: Sequence[Ran]

    @property
    def first(self) -> Ran:
        """The run with all warps in step, whose counters are shown."""
        return self.runs[0]

    @property
    def is_finished(self) -> bool:
        """Have all of them ended?"""
        return all(run.profile.finished for run in self.runs)

    @property
    def findings(self) -> list[Finding]:
        """What was found in any of the runs, each once."""
        found: dict[Any, Finding] = {}
        for run in self.runs:
            for finding in run.profile.findings:
                key = (finding.code, finding.line, finding.other_line, finding.cell.split("[")[0])
                found.setdefault(key, finding)
        return by_importance(found.values())

    def differing(self) -> list[str]:
        """The arrays that did not end the same in every order."""
        return [
            name
            for name, array in self.first.arguments.items()
            if isinstance(array, np.ndarray)
            and any(array.tobytes() != run.arguments[name].tobytes() for run in self.runs[1:])
        ]


def play(
    wanted: Wanted, budget: Budget = BUDGET, schedules: Sequence[tuple[str, int]] = SCHEDULES
) -> Played:
    """Launch in these orders of the warps, as far as they end.

    One that is only too long for the steps, as warps one by one take more of them than all in step,
    is left out, and so are those behind it.

    Raises:
        KernelRejected: if no GPU would run it, or the emulator cannot.
    """
    runs: list[Ran] = []
    for schedule, seed in schedules:
        run = wanted.run(schedule, seed, budget)
        if runs and not run.profile.finished and _is_only_long(run.profile):
            break
        runs.append(run)
        if not runs[-1].profile.finished:
            break
    return Played(wanted, runs)


def _is_only_long(profile: Profile) -> bool:
    """Would it have ended some day, for all that is known?"""
    return profile.stopped_in is None or profile.stopped_in.ends


def wanted_launch(fields: Fields) -> Wanted:
    """The launch that a page asks for.

    Raises:
        Refused: with a sentence, if a field of the request cannot be read.
        KernelRejected: if the text cannot.
    """
    typed = text(fields, "text")
    program = load_program(typed, surroundings=names_around(IMPORTS))
    kernel = _kernel_in(program, text(fields, "kernel", ""))
    return Wanted(
        typed,
        kernel,
        _sizes(fields.get("grid")),
        _sizes(fields.get("block")),
        _arguments(kernel, fields.get("arrays"), program.constants),
    )


def _kernel_in(program: Program, name: str) -> Kernel:
    kernels = [function for function in program.functions.values() if not function.is_device]
    decorated = [function for function in kernels if function.is_decorated] or kernels
    chosen = [function for function in decorated if not name or function.name == name]
    if not chosen:
        raise Refused(NO_KERNEL.replace("kernel", f"kernel called {name}", bool(name)))
    kernel = chosen[-1]
    for decorator, _ in unknown_decorators(kernel):
        raise Refused(f"What the decorator in line {decorator.lineno} does is not known here.")
    return kernel


def _sizes(given: Any) -> Any:
    return tuple(given) if isinstance(given, list) else given


def _arguments(kernel: Kernel, given: Any, constants: Mapping[str, Any]) -> Arguments:
    """The arguments, in the order of the kernel's parameters."""
    lines = given if isinstance(given, list) else []
    if not all(isinstance(line, dict) for line in lines) or len(lines) > MOST_ARRAYS:
        raise Refused(f"arrays is a list of at most {MOST_ARRAYS} names with a line of NumPy each.")
    by_name = {text(line, "name"): text(line, "made") for line in lines}
    missing = [name for name in kernel.parameters if name not in by_name]
    if missing:
        raise Refused(f"{kernel.name} takes {joined(missing)}: say what to pass.")
    surplus = [name for name in by_name if name not in kernel.parameters]
    if surplus:
        raise Refused(f"{kernel.name} has no parameter called {' or '.join(surplus)}.")
    numbers = {
        name: constant for name, constant in constants.items() if isinstance(constant, (int, float))
    }
    return {name: _made(name, by_name[name], numbers) for name in kernel.parameters}


def _made(name: str, line: str, numbers: Mapping[str, Any]) -> Any:
    try:
        return made(line, numbers)
    except Refused as refused:
        raise Refused(f"{name}: {refused}") from None
