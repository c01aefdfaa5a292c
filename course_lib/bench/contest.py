"""Check everyone, then measure everyone in turn, round after round.

In each round every contestant gives one sample, in an order that is drawn anew, so that a clock
that falls or a card that warms up hits all alike. Who is wrong gets no time. Who is slow gets fewer
samples: a budget of seconds for each contestant and size. Ctrl-C keeps what has been measured.
This module knows no GPU: problems and the clock are handed in.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from course_lib.bench.contestants import Contestant, Launch, MatmulProblem
from course_lib.measurements import Cell, Entry

# Sides that no tile divides, one by one element, K smaller and larger than the others.
ODD_SHAPES = ((1, 1, 1), (33, 65, 17), (130, 259, 77), (257, 129, 515))
SAMPLE_MS = 10.0  # a sample is about this long: short products are repeated within it
MOST_LAUNCHES = 200
STOPPED = "Stopped by Ctrl-C; what was measured before is kept."
WARM_BELOW_MS = 50.0  # a shorter product runs once, unmeasured, before each of its samples


@dataclass(frozen=True)
class Sample:
    """What the clock saw of one launch: milliseconds of the GPU, microseconds of the host."""

    ms: float
    host_us: float | None = None
    launch_bound: bool = False
    sm_clock_mhz: int | None = None


class Clock(Protocol):
    """Times launches on a GPU."""

    def sample(self, launch: Launch, launches: int, warm: bool) -> Sample:
        """Run `launches` of them, one after the other, perhaps after one that does not count."""

    def alive(self) -> bool:
        """Does the GPU still answer? After a bad access of memory it does not."""


@dataclass
class _Run:
    """One contestant at one size while the contest goes on."""

    contestant: Contestant
    size: int
    problem: str = ""
    launch: Launch | None = None
    pilot_ms: float = 0.0
    error: float | None = None
    accuracy: float | None = None
    samples: list[Sample] = field(default_factory=list)

    @property
    def launches(self) -> int:
        return max(1, min(MOST_LAUNCHES, math.ceil(SAMPLE_MS / max(self.pilot_ms, 1e-6))))

    @property
    def warm(self) -> bool:
        return self.pilot_ms < WARM_BELOW_MS

    @property
    def sample_seconds(self) -> float:
        return (self.launches + self.warm) * self.pilot_ms / 1e3

    def rounds(self, rounds: int, budget_seconds: float) -> int:
        """In how many rounds it can take part."""
        return max(1, min(rounds, int(budget_seconds / max(self.sample_seconds, 1e-9))))

    def cell(self) -> Cell:
        seen = sorted(s.sm_clock_mhz for s in self.samples if s.sm_clock_mhz)
        clocks = (seen[0], round(statistics.median(seen)), seen[-1]) if seen else ()
        bound = sum(sample.launch_bound for sample in self.samples)
        hosts = [sample.host_us for sample in self.samples if sample.host_us is not None]
        why = "" if self.samples else self.problem or "The run was stopped before its turn."
        return Cell(
            size=self.size,
            samples_ms=tuple(sample.ms for sample in self.samples),
            launches=self.launches,
            error=self.error,
            accuracy=self.accuracy,
            sm_clock_mhz=clocks,
            host_us=statistics.median(hosts) if hosts else None,
            launch_bound=2 * bound > len(self.samples) > 0,
            problem=why,
        )


class Contest:
    """All contestants at all sizes.

    Attributes:
        stopped: True once Ctrl-C was pressed, or the GPU no longer answered.
        notes: sentences about what did not go as it should.
    """

    def __init__(
        self,
        contestants: Sequence[Contestant],
        problem_of: Callable[[tuple[int, int, int]], MatmulProblem],
        clock: Clock,
        *,
        rounds: int = 20,
        budget_seconds: float = 5.0,
        seed: int = 0,
        say: Callable[[str, float | None], None] = lambda text, seconds_left: None,
        after_size: Callable[[], object] = lambda: None,
    ) -> None:
        self.contestants = list(contestants)
        self.stopped = False
        self.notes: list[str] = []
        self._problem_of = problem_of
        self._clock = clock
        self._rounds = rounds
        self._budget = budget_seconds
        self._order = random.Random(seed)
        self._say = say
        self._after_size = after_size
        self._barred: dict[tuple[str, str], str] = {}
        self._runs: list[_Run] = []

    def run(self, sizes: Sequence[int]) -> None:
        """Check and measure; returns early, with what there is, on Ctrl-C."""
        try:
            self._check_odd_shapes()
            for place, size in enumerate(sizes):
                self._measure(size, sizes[place + 1 :])
                self._after_size()
        except KeyboardInterrupt:
            self.stopped = True
            self.notes.append(STOPPED)
        except _GpuGone as gone:
            self.stopped = True
            self.notes.append(str(gone))

    def entries(self) -> tuple[Entry, ...]:
        """Every contestant with its cells."""
        return tuple(
            Entry(
                name=contestant.name,
                kind=contestant.kind,
                precision=contestant.precision,
                tile=contestant.tile,
                source=contestant.source,
                result=contestant.result,
                cells=tuple(run.cell() for run in self._runs if run.contestant is contestant),
            )
            for contestant in self.contestants
        )

    # --- right or wrong -----------------------------------------------------------------------

    def _check_odd_shapes(self) -> None:
        """Who is wrong on a small odd shape takes no part. cuBLAS is judged at the sizes alone."""
        ours = [contestant for contestant in self.contestants if contestant.kind != "cuBLAS"]
        for number, contestant in enumerate(ours, 1):
            self._say(
                f"Checking {contestant.name} ({contestant.kind}), {number} of {len(ours)}", None
            )
            for shape in ODD_SHAPES:
                with_shape = contestant.shape_like(shape)
                run = _Run(contestant, 0)
                self._try(run, self._problem_of(with_shape))
                if run.problem:
                    M, N, K = with_shape
                    self._barred[contestant.name, contestant.kind] = (
                        f"{run.problem} (M, N, K = {M}, {N}, {K})"
                    )
                    break

    def _try(self, run: _Run, problem: MatmulProblem) -> None:
        """Run it once on a poisoned output and compare with float64."""
        contestant = run.contestant
        try:
            run.launch = contestant.prepare(problem)
            problem.poison()
            run.pilot_ms = self._clock.sample(run.launch, 1, False).ms
            run.error, run.accuracy = problem.judge(contestant.precision, contestant.result)
        except Exception as failure:
            run.problem = f"It failed: {_first_line(failure)}"
            if not self._clock.alive():
                raise _GpuGone(contestant, run.problem) from failure
            return
        if not run.error <= contestant.most_error:  # NaN is wrong, too
            run.problem = (
                f"Wrong: the error is {run.error:.2g} of the result's root mean square, but "
                f"rounding explains at most {contestant.most_error:.2g}."
            )

    # --- time ---------------------------------------------------------------------------------

    def _measure(self, size: int, later: Sequence[int]) -> None:
        problem = self._problem_of((size, size, size))
        runs = []
        for contestant in self.contestants:
            self._say(f"{size}: checking {contestant.name}", None)
            run = _Run(contestant, size)
            self._runs.append(run)
            run.problem = self._barred.get(
                (contestant.name, contestant.kind), ""
            ) or self._too_slow(contestant, size)
            if not run.problem:
                self._try(run, problem)
            if not run.problem:
                runs.append(run)
        for number in range(self._rounds):
            for run in self._in_round(runs, number):
                self._say(
                    f"{size}: round {number + 1} of {self._rounds}, {run.contestant.name}",
                    self._seconds_left(runs, number, size, later),
                )
                assert run.launch is not None
                run.samples.append(self._clock.sample(run.launch, run.launches, run.warm))
        for run in self._runs:
            run.launch = None  # it holds the matrices

    def _too_slow(self, contestant: Contestant, size: int) -> str:
        """Why not even one product fits the budget, going by the last size; "" if one does."""
        earlier = [run for run in self._runs if run.contestant is contestant and run.samples]
        if not earlier:
            return ""
        seconds = earlier[-1].pilot_ms / 1e3 * (size / earlier[-1].size) ** 3
        if seconds <= self._budget:
            return ""
        return (
            f"One product would take about {seconds:.0f} s, which is more than the budget of "
            f"{self._budget:g} s."
        )

    def _in_round(self, runs: Sequence[_Run], number: int) -> Iterator[_Run]:
        """Who takes part in a round, in an order of its own; slow ones skip rounds, evenly."""
        taking_part = [
            run
            for run in runs
            if number * (share := run.rounds(self._rounds, self._budget)) % self._rounds < share
        ]
        self._order.shuffle(taking_part)
        return iter(taking_part)

    def _seconds_left(
        self, runs: Sequence[_Run], number: int, size: int, later: Sequence[int]
    ) -> float:
        def total(scale: float) -> float:
            return sum(
                min(
                    max(run.sample_seconds, run.pilot_ms / 1e3 * scale) * self._rounds, self._budget
                )
                for run in runs
            )

        now = total(1.0) * (1 - number / self._rounds)
        return now + sum(total((later_size / size) ** 3) for later_size in later)


class _GpuGone(Exception):
    """The GPU does not answer any more: nothing can be measured in this process."""

    def __init__(self, contestant: Contestant, problem: str) -> None:
        super().__init__(
            f"{contestant.name} ({contestant.kind}) crashed the GPU, so nothing more can be "
            f"measured in this run; leave it out with --rungs. {problem}"
        )


def _first_line(failure: BaseException) -> str:
    lines = str(failure).strip().splitlines()
    return lines[0] if lines else type(failure).__name__
