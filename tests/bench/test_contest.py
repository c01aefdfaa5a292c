"""Who is checked, who is timed, in which order, for how long: on a fake GPU."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from fake_gpu import FakeGpu

from course_lib.bench.contest import ODD_SHAPES, SAMPLE_MS, Contest
from course_lib.measurements import Entry


@pytest.fixture
def gpu() -> FakeGpu:
    return FakeGpu()


def contest(gpu: FakeGpu, *contestants, **options) -> Contest:
    return Contest(contestants, gpu.problem, gpu, **{"rounds": 6, **options})


def by_name(found: Contest) -> dict[str, Entry]:
    return {each.name: each for each in found.entries()}


def test_everyone_takes_part_once_in_each_round(gpu):
    names = ["a", "b", "c", "d"]
    running = contest(gpu, *map(gpu.contestant, names))
    running.run([1024])
    checks = len(names) * (len(ODD_SHAPES) + 1)
    measured = [name for name, _, _ in gpu.samples[checks:]]
    rounds = [measured[start : start + 4] for start in range(0, len(measured), 4)]
    assert len(rounds) == 6 and all(sorted(each) == names for each in rounds)
    assert len({tuple(each) for each in rounds}) > 1  # nobody always follows the same one
    cell = by_name(running)["a"].cells[0]
    assert cell.samples_ms == (1.0,) * 6 and cell.gflops == pytest.approx(2 * 1024**3 / 1e6)
    assert cell.sm_clock_mhz[0] <= cell.sm_clock_mhz[1] <= cell.sm_clock_mhz[2]


def test_output_is_poisoned_before_every_check(gpu):
    contest(gpu, gpu.contestant("a")).run([1024])
    kinds = [kind for kind, _ in gpu.log]
    assert kinds == ["poison", "judge"] * (len(ODD_SHAPES) + 1)


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


def test_short_products_are_repeated_within_a_sample(gpu):
    contest(gpu, gpu.contestant("short", ms=0.1), gpu.contestant("long", ms=500.0)).run([1024])
    launches = {name: count for name, size, count in gpu.samples if size == 1024}
    assert launches == {"short": SAMPLE_MS / 0.1, "long": 1}


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


def test_a_sample_that_waited_for_the_host_is_marked(gpu):
    running = contest(gpu, gpu.contestant("starved"), gpu.contestant("fed"))
    running.run([1024])
    assert by_name(running)["starved"].cells[0].launch_bound
    assert not by_name(running)["fed"].cells[0].launch_bound


def test_odd_shapes_respect_what_a_rung_asks_for(gpu):
    plain = gpu.contestant("plain")
    picky = replace(plain, multiples={"N": 8, "K": 32}, least=(128, 128))
    assert picky.shape_like((33, 65, 17)) == (128, 128, 32)
    assert picky.shape_like((257, 129, 515)) == (257, 136, 544)
    assert plain.shape_like((33, 65, 17)) == (33, 65, 17)


def test_time_left_shrinks_from_round_to_round(gpu):
    told: list[float] = []

    def listen(text: str, seconds: float | None) -> None:
        if seconds is not None and text.startswith("1024"):
            told.append(seconds)

    contest(gpu, gpu.contestant("a"), say=listen).run([1024, 2048])
    steps = [a - b for a, b in itertools.pairwise(told)]
    assert len(told) == 6 and min(steps) > 0
    assert told[-1] > 6 * 0.008  # what 2048 will take at the least is in it
