"""A GPU for the contest: a virtual clock and problems whose products are numbers on paper."""

from collections.abc import Callable
from typing import Any

from course_lib.bench.contest import Sample
from course_lib.bench.contestants import Contestant


class FakeProblem:
    """Remembers whether C was poisoned and who wrote it last."""

    def __init__(self, shape: tuple[int, int, int], log: list[Any]) -> None:
        self.shape = shape
        self.log = log
        self.error = float("nan")  # of what is in C now

    def operands(self, precision: str, result: str = "float32") -> tuple[str, str, str]:
        return f"A {precision}", f"B {precision}", "C"

    def poison(self) -> None:
        self.error = float("nan")
        self.log.append(("poison", self.shape))

    def judge(self, precision: str, result: str) -> tuple[float, float]:
        self.log.append(("judge", precision))
        return self.error, self.error / 2


class FakeGpu:
    """The clock: a launch takes `ms` at 1024, and eight times as long at twice the size."""

    def __init__(self) -> None:
        self.log: list[Any] = []
        self.samples: list[tuple[str, int, int]] = []  # who, size, launches: measured ones only
        self.running: tuple[str, int, float] = ("", 0, 0.0)
        self.broken = False
        self.before_sample: Callable[[], None] = lambda: None

    def problem(self, shape: tuple[int, int, int]) -> FakeProblem:
        return FakeProblem(shape, self.log)

    def sample(self, launch: Callable[[], None], launches: int, warm: bool) -> Sample:
        self.before_sample()
        launch()
        name, size, ms = self.running
        self.samples.append((name, size, launches))
        return Sample(
            ms,
            host_us=4.0,
            launch_bound=name == "starved",
            sm_clock_mhz=1900 + len(self.samples) % 3,
        )

    def alive(self) -> bool:
        return not self.broken

    def contestant(
        self,
        name: str,
        ms: float = 1.0,
        error: Callable[[tuple[int, int, int]], float] = lambda shape: 1e-6,
        fails: Callable[[tuple[int, int, int]], Exception | None] = lambda shape: None,
        **more: Any,
    ) -> Contestant:
        """Somebody who takes this long and is this wrong."""

        def prepare(problem: Any) -> Callable[[], None]:
            if isinstance(why := fails(problem.shape), ValueError):
                raise why

            def launch() -> None:
                if why is not None:
                    raise why
                size = problem.shape[0]
                self.running = (name, size, ms * (size / 1024) ** 3)
                problem.error = error(problem.shape)

            return launch

        return Contestant(name, more.pop("kind", "rung"), "float32", prepare, **more)
