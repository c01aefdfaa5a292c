"""Wrong running sums are told what they add up; computed here by loops over plain lists."""

from collections.abc import Callable

import numpy as np
import pytest
from sampling import few

from course_lib.curriculum import EXERCISES
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.number_patterns import idea_behind
from course_lib.problems.problem import Geometry
from course_lib.problems.scan import RUN, run_sums
from course_lib.problems.table import problem_of
from course_lib.registry.exercise import WrongIdea

POISON = -7.25e3
X = np.random.default_rng(0).uniform(-2, 2, 4 * RUN).astype(np.float32)


def each_run(change: Callable[[list[float]], list[float]]) -> list[float]:
    """Every run changed on its own."""
    return [value for start in range(0, len(X), RUN) for value in change(list(X[start:][:RUN]))]


def prefix(run: list[float]) -> list[float]:
    return [sum(run[: i + 1]) for i in range(RUN)]


def with_strides(*strides: int) -> Callable[[list[float]], list[float]]:
    def scan(run: list[float]) -> list[float]:
        for stride in strides:
            run = [run[t] + (run[t - stride] if t >= stride else 0) for t in range(RUN)]
        return run

    return scan


def with_warps(
    *strides: int, guard: int = 0, ahead: bool = False, lane: int = 31
) -> Callable[[list[float]], list[float]]:
    """Two warps scan by shuffles; the second one adds what a lane of the first one has."""

    def scan(run: list[float]) -> list[float]:
        warps = [run[:32], run[32:]]
        for stride in strides:
            far = stride if ahead else -stride
            warps = [
                [
                    own + (warp[t + far] if t + far < 32 else own) * (t >= stride + guard)
                    for t, own in enumerate(warp)
                ]
                for warp in warps
            ]
        return warps[0] + [value + warps[0][lane] for value in warps[1]]

    return scan


def with_tree(
    up: int = 6, down: int = 6, clears: bool = True, last: int = 63
) -> Callable[[list[float]], list[float]]:
    """Blelloch's tree, an element at a time; on the way down up to the element `last`."""

    def scan(run: list[float]) -> list[float]:
        tree = list(run)
        for stride in (1 << level for level in range(up)):
            for right in range(2 * stride - 1, RUN, 2 * stride):
                tree[right] += tree[right - stride]
        if clears:
            tree[-1] = 0
        for stride in (1 << level for level in reversed(range(down))):
            for right in range(2 * stride - 1, last + 1, 2 * stride):
                tree[right - stride], tree[right] = tree[right], tree[right] + tree[right - stride]
        return [tree[t] + own for t, own in enumerate(run)]

    return scan


WARP_STRIDES = (1, 2, 4, 8, 16)


def diagnosed(got: list[float] | np.ndarray) -> WrongIdea | None:
    tolerance = 4e-6 * run_sums(np.abs(X).astype(np.float64))
    expected = run_sums(X.astype(np.float64))
    sizes = Geometry(1, RUN)
    wrong = np.asarray(got, np.float32)
    outcome = Outcome((X,), expected, wrong, tolerance, sizes, POISON, "y", ("x",))
    return idea_behind([*problem_of(EXERCISES["block_scan"]).wrong_ideas()], outcome, [])


def test_the_sums_start_again_with_every_run() -> None:
    assert np.allclose(run_sums(X), each_run(prefix), atol=1e-5)
    assert run_sums(np.ones(70))[62:67].tolist() == [63, 64, 1, 2, 3]


@pytest.mark.parametrize(
    "scan", [with_warps(*WARP_STRIDES), with_tree(), with_strides(1, 2, 4, 8, 16, 32)]
)
def test_every_way_without_a_slip_is_right(scan: Callable[[list[float]], list[float]]) -> None:
    assert np.allclose(each_run(scan), run_sums(X), atol=1e-5)
    assert diagnosed(each_run(scan)) is None


WRONG = {
    "exclusive": (lambda: np.subtract(each_run(prefix), X), "wrong-formula", "exclusive"),
    "whole array": (lambda: np.cumsum(X), "wrong-loop-bound", "all of x"),
    "from the end": (lambda: each_run(lambda r: prefix(r[::-1])[::-1]), "wrong-index", "the end"),
    "total": (lambda: each_run(lambda r: [sum(r)] * RUN), "wrong-formula", "whole run"),
    "copy": (lambda: X, "accumulator-error", "y equals x"),
    "largest": (lambda: each_run(lambda r: [max(r[: i + 1]) for i in range(RUN)]), "wrong-formula",
        "running largest"),
    "warps alone": (lambda: each_run(lambda r: [*prefix(r)[:32], *np.cumsum(r[32:])]),
        "accumulator-error", "start again after 32"),
    "no 32": (lambda: each_run(with_strides(1, 2, 4, 8, 16)), "wrong-loop-bound",
        "last stride is 16"),
    "no 1": (lambda: each_run(with_strides(2, 4, 8, 16, 32)), "wrong-loop-bound", "start at 2"),
    "1 2 3": (lambda: each_run(with_strides(1, 2, 3)), "wrong-loop-bound", "1, 2, 3, … 3"),
    "even": (lambda: each_run(with_strides(*range(0, 12, 2))), "wrong-loop-bound", "4, 6, … 10"),
    "squares": (lambda: each_run(with_strides(1, 4, 9, 16, 25, 36)), "wrong-loop-bound",
        "1, 4, 9, 16, 25, 36"),
    "warps up to 8": (lambda: each_run(with_warps(1, 2, 4, 8)), "wrong-loop-bound",
        "a warp the last stride is 8"),
    "warps from 2": (lambda: each_run(with_warps(2, 4, 8, 16)), "wrong-loop-bound",
        "the strides start at 2"),
    "lanes above": (lambda: each_run(with_warps(*WARP_STRIDES, guard=1)), "wrong-bounds-check",
        "the first element of a run is missing"),
    "lanes after": (lambda: each_run(with_warps(*WARP_STRIDES, ahead=True)), "wrong-index",
        "places after"),
    "lane 30": (lambda: each_run(with_warps(*WARP_STRIDES, lane=30)), "wrong-index", "lane 30"),
    "root kept": (lambda: each_run(with_tree(clears=False)), "accumulator-error",
        "the root starts with the sum"),
    "root left out": (lambda: each_run(with_tree(last=62)), "wrong-bounds-check",
        "the root takes no part"),
    "tree up to 16": (lambda: each_run(with_tree(up=5, down=5)), "wrong-loop-bound",
        "down the tree the first stride is 16"),
    "tree up to 8": (lambda: each_run(with_tree(up=4)), "wrong-loop-bound",
        "up the tree the last stride is 8"),
    "tree to 4 and back": (lambda: each_run(with_tree(up=3, down=3)), "wrong-loop-bound",
        "go up to 4 instead of 32"),
    "warps with even strides": (lambda: each_run(with_warps(0, 2, 4, 6, 8)), "wrong-loop-bound",
        "0, 2, 4, 6, … 8"),
    "tree from 8 down": (lambda: each_run(with_tree(down=4)), "wrong-loop-bound",
        "the first stride is 8"),
    "stays 1": (lambda: each_run(with_strides(*[1] * 6)), "wrong-loop-bound", "stays 1 in all 6"),
}  # fmt: skip


@pytest.mark.parametrize("name", few(WRONG, 4))
def test_wrong_sums_are_told_their_slip(name: str) -> None:
    wrong, code, words = WRONG[name]
    idea = diagnosed(wrong())
    assert idea is not None
    assert (idea.code, words in idea.says) == (code, True), idea


def test_nonsense_is_not_explained() -> None:
    assert diagnosed(np.sqrt(np.abs(X))) is None
