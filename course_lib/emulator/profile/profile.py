"""What a run of the emulator found out: counters in total and per line, findings, traffic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from course_lib.emulator.budget import OpenLoop
from course_lib.emulator.errors import EmulatorError
from course_lib.emulator.profile import annotate
from course_lib.emulator.profile.as_compiled import AsCompiled
from course_lib.emulator.profile.counters import Counters, LineCounters, LineStream
from course_lib.wording.findings import Finding, by_importance


@dataclass
class ArrayTraffic:
    """What the launch read from, and wrote to, one array that was passed in.

    Requests, sectors and bytes as in `Counters`; elements are counted per lane, distinct
    elements once each. `loaded_at` and `stored_at` are the elements of each source line.
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    load_requests: int = 0
    load_sectors: int = 0
    load_bytes: int = 0
    loaded_elements: int = 0
    distinct_elements_loaded: int = 0
    store_requests: int = 0
    store_sectors: int = 0
    store_bytes: int = 0
    stored_elements: int = 0
    distinct_elements_stored: int = 0
    loaded_at: Counter[int] = field(default_factory=Counter)
    stored_at: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True)
class SharedArrayUse:
    """A shared array that the kernel made."""

    name: str
    line: int | None
    shape: tuple[int, ...]
    dtype: np.dtype
    bytes: int


@dataclass(frozen=True)
class StaleRead:
    """A read of a shared cell that was last written in an earlier round than its neighbours.

    A hint for a diagnosis, not a finding: some kernels do so on purpose.
    """

    line: int
    array: str
    cell: str
    thread: tuple[int, int, int]
    block: tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class TracedAccess:
    """One memory operation with every lane written out; kept by `emulate(..., trace=True)`."""

    kind: str  # "load", "store", "atomic", or "copy": the store of an asynchronous copy
    space: str  # "global", "shared" or "local"
    array: str  # the array's name in the kernel
    line: int  # source line
    step: int  # 0, 1, 2, … in the order of execution
    interval: int  # how many barriers had been passed
    indices: np.ndarray  # element indices, shape (lanes, axes of the array)
    threads: np.ndarray  # block z, y, x and thread z, y, x of each lane, shape (lanes, 6)
    addresses: np.ndarray  # byte addresses, shape (lanes,)
    # how many neighbouring elements each lane accesses; the index is the first one's
    elements: int = 1

    def all_indices(self, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The index of every element of an array of that shape, and the thread that accesses it."""
        if self.elements == 1:
            return self.indices, self.threads
        first = np.ravel_multi_index(tuple(self.indices.T), shape)
        flat = (first[:, None] + np.arange(self.elements)).reshape(-1)
        indices = np.stack(np.unravel_index(flat, shape), axis=1)
        return indices, np.repeat(self.threads, self.elements, axis=0)


@dataclass
class Profile(Counters):
    """Everything about one emulated launch; the counters are totals."""

    kernel_name: str = ""  # the kernel
    source: str = ""  # the cell, file or text that holds the kernel (or as much of it as was found)
    first_line: int = 1  # the line number of the source's first line
    # grid, block: the launch, as (x, y, z)
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    schedule: str = "lockstep"  # in which order warps took turns
    lines: dict[int, LineCounters] = field(default_factory=dict)  # the counters of each line
    # races, faults, warnings; the most important first
    findings: list[Finding] = field(default_factory=list)
    # the traffic of each array that was passed in, by parameter name
    arrays: dict[str, ArrayTraffic] = field(default_factory=dict)
    # the shared arrays that the kernel made
    shared_arrays: list[SharedArrayUse] = field(default_factory=list)
    stale_reads: list[StaleRead] = field(default_factory=list)  # see StaleRead
    # the lines that the kernel printed, the first thousand of them
    output: list[str] = field(default_factory=list)
    unkept_lines: int = 0  # how many more it printed
    trace: list[TracedAccess] = field(default_factory=list)  # every access, if asked for
    # the cache lines asked for, if asked for; see `course_lib.emulator.profile.cache`
    stream: LineStream | None = None
    counted: bool = True  # whether counters were kept
    finished: bool = True  # False if the budget ended the run
    stopped_in: OpenLoop | None = None  # the loop that the budget ended, if it was in one
    steps: int = 0  # how much of the budget was used up
    # counts the launch's machine code, if it was kept; see `as_compiled`
    recount: Callable[[Profile, str], AsCompiled] | None = None

    def __post_init__(self) -> None:
        self.findings = by_importance(self.findings)

    @property
    def threads(self) -> int:
        """Threads of the whole launch."""
        return int(np.prod(self.grid)) * int(np.prod(self.block))

    @property
    def errors(self) -> list[Finding]:
        """The findings that make the kernel wrong."""
        return [finding for finding in self.findings if finding.severity == "error"]

    def as_compiled(self, cc: str = "9.0") -> AsCompiled:
        """Count the launch once more, as the machine code that Numba's compiler makes of it.

        No GPU is needed, but Numba's compiler for GPUs is. The machine code is followed
        instruction by instruction on the arguments as they were before the launch; what it leaves
        in the arrays is held against what the source leaves there.

        Wavefronts and conflicts are those of the addresses. A GPU counts some more, another number
        in each launch, where data come in from global memory meanwhile: docs/counters.md.

        Args:
            cc: the GPU's compute capability: "7.5" is a T4, "9.0" an H200.

        Raises:
            EmulatorError: if the launch was not kept, as only `course_lib.emulate` keeps it.
            PlainError: in one sentence: no compiler here, or machine code that can't be followed.
        """
        if self.recount is None:
            raise EmulatorError(
                "This launch was not recorded, so it can't be counted as compiled. Launch it with "
                f"course_lib.emulate({self.kernel_name})[grid, block](…)."
            )
        return self.recount(self, cc)

    def show(self, as_compiled: str = "") -> None:
        """Show the kernel's source with the counters of each line beside it.

        In a notebook that is a table, elsewhere text. `as_compiled="9.0"` adds a second one with
        the counts of the machine code for that compute capability; see `as_compiled`.
        """
        annotate.show(self)
        if as_compiled:
            self.as_compiled(as_compiled).show()

    def _repr_html_(self) -> str:
        """The table of `show`, where a profile is the last value of a notebook's cell."""
        return annotate.as_html(self)

    def __repr__(self) -> str:
        return (
            f"<Profile of {self.kernel_name}: {self.threads} threads, "
            f"{self.global_load_sectors} sectors loaded, {self.flops} FLOP, "
            f"{len(self.findings)} findings>"
        )
