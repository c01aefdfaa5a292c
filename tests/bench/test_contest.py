"""Who is checked, who is timed, in which order, for how long: on a fake GPU."""

import itertools
import math

import pytest
from fake_gpu import FakeGpu

from course_lib.bench.contest import Contest
from course_lib.measurements import Entry


@pytest.fixture
def gpu() -> FakeGpu:
    return FakeGpu()


def contest(gpu: FakeGpu, *contestants, **options) -> Contest:
    return Contest(contestants, gpu.problem, gpu, **{"rounds": 6, **options})


def by_name(found: Contest) -> dict[str, Entry]:
    return {each.name: each for each in found.entries()}


def test_who_is_wrong_gets_no_time_and_stops_nobody(gpu):
    running = contest(
        gpu,
        gpu.contestant("odd", error=lambda shape: 1e-6 if shape[0] == 1024 else 0.5),
        gpu.contestant("large", error=lambda shape: 0.5 if shape[0] == 2048 else 1e-6),
        gpu.contestant("unwritten", error=lambda shape: math.nan),
        gpu.contestant("right"),
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


def test_who_fails_is_named(gpu):
    running = contest(
        gpu,
        gpu.contestant("refuses", fails=lambda shape: ValueError("no multiple of 8.\nsecond line")),
        gpu.contestant("right"),
    )
    running.run([1024])
    assert by_name(running)["refuses"].cells[0].problem.startswith("It failed: no multiple of 8. (")
    assert by_name(running)["right"].cell(1024)


def test_a_gpu_that_is_gone_ends_the_run_with_the_name(gpu):
    def crash(shape):
        if shape[0] == 2048:
            gpu.broken = True
            return RuntimeError("an illegal memory access was encountered")
        return None

    running = contest(gpu, gpu.contestant("right"), gpu.contestant("wild", fails=crash))
    running.run([1024, 2048])
    assert running.stopped and "wild" in running.notes[0] and "--rungs" in running.notes[0]
    assert by_name(running)["right"].cell(1024)


def test_a_budget_bounds_what_a_slow_one_takes(gpu):
    slow, quick = gpu.contestant("slow", ms=400.0), gpu.contestant("quick")
    running = contest(gpu, slow, quick, rounds=12, budget_seconds=2.0)
    running.run([1024, 2048])
    cells = by_name(running)["slow"].cells
    assert len(cells[0].samples_ms) == 5  # of 0.4 s each
    assert (
        not cells[1].samples_ms
        and "about 3 s, which is more than the budget of 2 s" in cells[1].problem
    )
    assert len(by_name(running)["quick"].cells[1].samples_ms) == 12
    assert ("slow", 2048, 1) not in gpu.samples  # not even for the check
    # Its five samples are spread over the twelve rounds.
    measured = [name for name, size, _ in gpu.samples if size == 1024][2:]
    places = [place for place, name in enumerate(measured) if name == "slow"]
    assert max(b - a for a, b in itertools.pairwise(places)) <= 5


def test_ctrl_c_keeps_what_is_measured(gpu):
    kept = []
    running = contest(
        gpu, gpu.contestant("a"), gpu.contestant("b"), after_size=lambda: kept.append(1)
    )

    def press_ctrl_c() -> None:
        if sum(size == 2048 for _, size, _ in gpu.samples) == 5:
            raise KeyboardInterrupt

    gpu.before_sample = press_ctrl_c
    running.run([1024, 2048, 4096])
    cells = by_name(running)["a"].cells
    assert running.stopped and kept == [1]
    assert len(cells[0].samples_ms) == 6 and 1 <= len(cells[1].samples_ms) <= 2
    assert [cell.size for cell in cells] == [1024, 2048]
