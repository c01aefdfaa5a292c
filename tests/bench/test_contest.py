"""On a GPU of paper: who is timed, what holds one back, and which tile wins."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from canned import measurements as canned

from course_lib import measurements
from course_lib.bench import contestants, fingerprints, gpu, held_back, tuner
from course_lib.bench.contest import Contest, Sample
from course_lib.bench.contestants import Contestant
from course_lib.bench.nvml import Nvml
from course_lib.commands import bench, bench_runs
from course_lib.host import runtime
from course_lib.kernels import RUNG_KERNELS, InputsRefused
from course_lib.kernels.tuning import Tuned, tuned
from course_lib.measurements import Entry, tuning
from course_lib.measurements.tuning import TileTiming, Tuning


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
        clock = 1900 + len(self.samples) % 3
        return Sample(ms, host_us=4.0, launch_bound=name == "starved", sm_clock_mhz=clock)

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


@pytest.fixture
def fake() -> FakeGpu:
    return FakeGpu()


def contest(fake: FakeGpu, *contestants, **options) -> Contest:
    return Contest(contestants, fake.problem, fake, **{"rounds": 6, **options})


def by_name(found: Contest) -> dict[str, Entry]:
    return {each.name: each for each in found.entries()}


def test_who_is_wrong_gets_no_time_and_who_fails_is_named(fake):
    running = contest(
        fake,
        fake.contestant("odd", error=lambda shape: 1e-6 if shape[0] == 1024 else 0.5),
        fake.contestant("large", error=lambda shape: 0.5 if shape[0] == 2048 else 1e-6),
        fake.contestant("unwritten", error=lambda shape: math.nan),
        fake.contestant("right"),
    )
    running.run([1024, 2048])
    found = by_name(running)
    problem = found["odd"].cells[0].problem
    assert "Wrong: the error is 0.5" in problem and problem.endswith("(M, N, K = 1, 1, 1)")
    assert found["odd"].cell(1024) is None and found["odd"].cell(2048) is None
    assert found["large"].cell(1024) and "Wrong" in found["large"].cells[1].problem
    assert "Wrong" in found["unwritten"].cells[0].problem
    assert found["right"].cell(1024) and found["right"].cell(2048)
    assert not running.stopped
    running = contest(
        fake,
        fake.contestant("refuses", fails=lambda shape: ValueError("no multiple of 8.\nsecond")),
        fake.contestant("right"),
    )
    running.run([1024])
    assert by_name(running)["refuses"].cells[0].problem.startswith("It failed: no multiple of 8. (")
    assert by_name(running)["right"].cell(1024)


def test_a_gpu_that_is_gone_ends_the_run_with_the_name(fake):
    def crash(shape):
        if shape[0] == 2048:
            fake.broken = True
            return RuntimeError("an illegal memory access was encountered")
        return None

    running = contest(fake, fake.contestant("right"), fake.contestant("wild", fails=crash))
    running.run([1024, 2048])
    assert running.stopped and "wild" in running.notes[0] and "--rungs" in running.notes[0]
    assert by_name(running)["right"].cell(1024)


def test_a_budget_bounds_what_a_slow_one_takes(fake):
    slow, quick = fake.contestant("slow", ms=400.0), fake.contestant("quick")
    running = contest(fake, slow, quick, rounds=12, budget_seconds=2.0)
    running.run([1024, 2048])
    cells = by_name(running)["slow"].cells
    assert len(cells[0].samples_ms) == 5  # of 0.4 s each
    assert not cells[1].samples_ms
    assert "about 3 s, which is more than the budget of 2 s" in cells[1].problem
    assert len(by_name(running)["quick"].cells[1].samples_ms) == 12
    assert ("slow", 2048, 1) not in fake.samples  # not even for the check
    # Its five samples are spread over the twelve rounds.
    measured = [name for name, size, _ in fake.samples if size == 1024][2:]
    places = [place for place, name in enumerate(measured) if name == "slow"]
    assert max(b - a for a, b in itertools.pairwise(places)) <= 5


def test_ctrl_c_keeps_what_is_measured(fake):
    kept = []
    running = contest(
        fake, fake.contestant("a"), fake.contestant("b"), after_size=lambda: kept.append(1)
    )

    def press_ctrl_c() -> None:
        if sum(size == 2048 for _, size, _ in fake.samples) == 5:
            raise KeyboardInterrupt

    fake.before_sample = press_ctrl_c
    running.run([1024, 2048, 4096])
    cells = by_name(running)["a"].cells
    assert running.stopped and kept == [1]
    assert len(cells[0].samples_ms) == 6 and 1 <= len(cells[1].samples_ms) <= 2
    assert [cell.size for cell in cells] == [1024, 2048]


SEEN = {"seconds": 2.0, "ms": 0.25, "sm_clock_mhz": 1500.0, "watts": 699.6, "at_power_limit": 1.0}


class Hot(FakeGpu):
    """Runs for seconds, and fails where it is told to."""

    def __init__(self, fails: str = "") -> None:
        super().__init__()
        self.fails, self.asked = fails, []

    def sustain(self, launch, ms, seconds):
        launch()
        name = self.running[0]
        self.asked.append((name, ms, seconds))
        if name == self.fails:
            raise RuntimeError("the GPU is gone")
        return dict(SEEN)


def look(device: Hot, seconds: float = 2.0):
    """At five entries of 4096: one that is slow, one that is a twin."""
    measured = canned()
    people = [device.contestant(each.name, kind=each.kind) for each in measured.entries]
    quiet = lambda text, left: None  # noqa: E731
    return held_back.look(measured, people, device.problem, device, seconds, quiet)


def test_the_fast_ones_run_alone_at_one_size_and_a_failure_costs_nothing():
    device = Hot()
    found, notes = look(device)
    ours = [each for each in found.entries if each.kind != "twin"]
    fast = {each.name for each in ours if each.cell(4096).median_ms <= held_back.MOST_MS}
    assert fast and {name for name, _, _ in device.asked} == fast and not notes
    assert {seconds for _, _, seconds in device.asked} == {2.0}
    held = found.entry("tensor_core_bf16")
    assert held.sustained == {"size": 4096, **SEEN} and held.at_power_limit
    assert not found.entry("naive").sustained and not found.entry("tiled", "twin").sustained
    read = measurements.parse(found.as_json()).entry("tensor_core_bf16")
    assert read.sustained == held.sustained and read.at_power_limit
    device = Hot()
    assert look(device, seconds=0) == (canned(), []) and not device.asked
    found, notes = look(Hot(fails="tensor_core_bf16"))
    assert notes == ["tensor_core_bf16 could not be kept running: the GPU is gone"]
    assert [each.cells for each in found.entries] == [each.cells for each in canned().entries]


def an_nvml(**answers: int) -> Nvml:
    """The management library where these functions fill in these numbers."""

    def fill(number):
        def function(_, pointer):
            pointer._obj.value = number
            return 0

        return function

    made = Nvml.__new__(Nvml)
    made._gpu = None
    made._library = SimpleNamespace(**{name: fill(number) for name, number in answers.items()})
    return made


def test_the_last_quarter_is_timed():
    launched, events = [], []

    class Event:
        def record(self):
            events.append(len(launched))

        def query(self):
            return True

        def synchronize(self):
            pass

        def elapsed_time(self, end):
            return 10.0 * (events[-1] - events[-2])

    clock = gpu.EventClock.__new__(gpu.EventClock)
    clock._cuda = SimpleNamespace(synchronize=lambda: None)
    clock._nvml = an_nvml(nvmlDeviceGetPowerUsage=500_000)
    clock._nvml.sm_clock_mhz = lambda: 1980
    clock._start, clock._end = Event(), Event()
    found = clock.sustain(lambda: launched.append(1), 10.0, 2.0)
    assert found == {"seconds": 2.0, "ms": 10.0, "sm_clock_mhz": 1980.0, "watts": 500.0}
    assert len(launched) == 200 and events == [150, 200]


@pytest.mark.parametrize(("reasons", "held"), [(0x4, True), (0x84, True), (0x1, False), (0, False)])
def test_the_driver_says_why_it_holds_the_clock_down(reasons, held):
    nvml = an_nvml(
        nvmlDeviceGetPowerUsage=699_600,
        nvmlDeviceGetEnforcedPowerLimit=700_000,
        nvmlDeviceGetCurrentClocksThrottleReasons=reasons,
    )
    assert (nvml.watts(), nvml.watts_allowed(), nvml.at_power_limit()) == (699.6, 700.0, held)


SMALL = {"WARPS_DOWN": 2, "WARPS_ACROSS": 2, "A_GROUPS": 1, "B_GROUPS": 2}
BLANK = Tuning("NVIDIA Example 1", "Example-1", "2026-11-23T10:00:00+00:00")


def tried(size: int, ms: float, constants: dict[str, int] | None = None) -> TileTiming:
    tile = (64, 64, 8) if constants else (128, 256, 8)
    return TileTiming(constants or {}, tile, 128 if constants else 256, size, (ms, ms, ms))


def found() -> Tuning:
    """The small tile is the faster one at 1024, the rung's own at 4096."""
    some = (tried(1024, 0.2), tried(1024, 0.1, SMALL), tried(4096, 2.0), tried(4096, 3.0, SMALL))
    sources = {"cp_async": fingerprints.of_python(RUNG_KERNELS["cp_async"].source)}
    more = {"sources": sources, "tried": {"cp_async": some}}
    return replace(BLANK, **more, cublas_ms={"cp_async": {"1024": 0.08}})


def candidate(gpu: FakeGpu, name: str, ms: float, constants: dict[str, int]) -> tuner._Candidate:
    return tuner._Candidate(constants, RUNG_KERNELS["cp_async"], gpu.contestant(name, ms))


def test_everyone_is_timed_beside_cublas_and_who_is_wrong_is_named():
    gpu = FakeGpu()
    wrong = gpu.contestant("wrong", error=lambda shape: 0.1)
    taking_part = [
        ("cp_async", candidate(gpu, "cp_async", 2.0, {})),
        ("cp_async", candidate(gpu, "cp_async small", 1.0, SMALL)),
        ("cp_async", tuner._Candidate({"STRIP": 8}, RUNG_KERNELS["cp_async"], wrong)),
    ]
    cublas = [gpu.contestant(name, ms, kind="cuBLAS") for name, ms in (("one", 0.8), ("two", 0.9))]
    paper = (gpu.problem, gpu, BLANK)
    made, said = tuner.tune(taking_part, cublas, *paper, sizes=(1024, 2048), rounds=3)
    best = made.at("cp_async", 1024)[0]
    assert best.constants == SMALL and len(best.samples_ms) == 3
    assert made.share_of_cublas("cp_async", best) == pytest.approx(0.8)
    assert made.sizes("cp_async") == (1024, 2048) and len(made.tried["cp_async"]) == 4
    assert len(said) == 1 and said[0].startswith("wrong: Wrong: the error is 0.1")
    assert made.sources == found().sources


@pytest.mark.parametrize(("shape", "tile"), [
    ((1024, 1024, 1024), (64, 64)),
    ((512, 2048, 64), (64, 64)),  # as many outputs
    ((1900, 1900, 64), (64, 64)),
    ((2100, 2100, 64), (128, 256)),
    ((8192, 8192, 64), (128, 256)),
    ((64, 10**6, 4), (64, 64)),  # has no room for the tile that would be faster
])  # fmt: skip
def test_the_tile_follows_the_number_of_outputs(shape, tile):
    chosen = Tuned(RUNG_KERNELS["cp_async"], found()).for_size(*shape)
    assert chosen.tile[:2] == tile


def test_a_launch_takes_the_tile_that_was_tried_or_its_own_and_refuses_as_the_rung_does():
    assert tuned("cp_async").for_size(1024, 1024, 1024) is RUNG_KERNELS["cp_async"]
    assert tuned("cp_async", "NVIDIA Example 2").found is None
    with pytest.raises(KeyError):
        tuned("tiled")
    random = np.random.default_rng(5)
    A, B = (random.random(shape, np.float32) for shape in ((66, 8), (8, 68)))
    C = np.full((66, 68), np.nan, np.float32)
    Tuned(RUNG_KERNELS["cp_async"], found()).launch(A, B, C)
    assert np.allclose(C, A @ B, atol=1e-5)
    with pytest.raises(InputsRefused, match="M = 66 is less than a tile's 128"):
        tuned("cp_async").launch(A, B, C)
    with pytest.raises(InputsRefused, match="A is no array, but of type list"):
        tuned("cp_async").launch(A.tolist(), B, C)


@pytest.fixture
def on_a_gpu(monkeypatch, tmp_path):
    """A GPU whose tuner finds what `found` says; where it is kept."""
    asked = SimpleNamespace(names=None, stored=tmp_path / "tuning")
    monkeypatch.setattr(runtime, "on_gpu", lambda: True)
    monkeypatch.setattr(bench_runs, "LAST_RUNS", tmp_path / "last")
    monkeypatch.setattr(bench_runs, "STORED", tmp_path)

    def here(names, sizes, rounds, say):
        asked.names, asked.sizes, asked.rounds = names, sizes, rounds
        return found(), []

    monkeypatch.setattr(tuner, "tune_here", here)
    return asked


def test_the_command_tries_and_stores(on_a_gpu, capsys):
    assert bench.main(["--tune", "--store", "--rounds", "7"]) == 0
    assert on_a_gpu.names == list(tuner.CANDIDATES) and on_a_gpu.rounds == 7
    assert tuning.load("Example-1", on_a_gpu.stored) == found()
    assert "80.0% of cuBLAS" in capsys.readouterr().out


def test_what_was_stored_is_not_lost(on_a_gpu, capsys, monkeypatch):
    bench.main(["--tune", "--store"])
    less = replace(found(), tried={"cp_async": (tried(1024, 0.2),)})
    monkeypatch.setattr(tuner, "tune_here", lambda *_: (less, []))
    bench.main(["--tune", "--store"])
    said = "Not stored: the stored file of Example-1 has cp_async at 4096"
    assert said in capsys.readouterr().out
    assert tuning.load("Example-1", on_a_gpu.stored) == found()


def test_without_a_gpu_or_a_tile_to_choose_it_says_so(capsys):
    assert bench.main(["--tune"]) == 1
    assert "can only be measured on a GPU" in capsys.readouterr().out
    assert bench.main(["--tune", "--rungs", "tiled"]) == 1
    assert "Rungs with several tiles are cp_async" in capsys.readouterr().out


@pytest.mark.parametrize("device", tuning.devices())
def test_what_is_stored_was_tried_with_these_kernels(device):
    stored = tuning.load(device)
    for rung, source in stored.sources.items():
        assert source == fingerprints.of_python(RUNG_KERNELS[rung].source), rung
    assert (tuning.FOLDER / f"{device}.json").read_text(encoding="utf-8") == stored.as_json()


def test_a_tuned_rung_takes_part_in_the_bench_where_it_was_tuned(monkeypatch):
    monkeypatch.setattr(tuning, "of_device", lambda name: found() if "1" in name else None)
    (tuned_one,) = contestants.tuned_rungs(RUNG_KERNELS, "NVIDIA Example 1")
    assert (tuned_one.name, tuned_one.kind, tuned_one.tile) == ("cp_async", "tuned", ())
    assert tuned_one.source == found().sources["cp_async"] and tuned_one.most_error == 1e-4
    assert list(contestants.tuned_rungs(RUNG_KERNELS, "NVIDIA Example 2")) == []
    assert list(contestants.tuned_rungs({}, "NVIDIA Example 1")) == []
