"""Wrong running sums are told what they add up; computed here by loops over plain lists."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from course_lib.diagnosis.outcome import Outcome
from course_lib.diagnosis.scan import RUN, diagnose_scan, run_sums
from course_lib.diagnosis.slips import Geometry, Slip

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


def diagnosed(got: list[float] | np.ndarray) -> Slip | None:
    tolerance = 4e-6 * run_sums(np.abs(X).astype(np.float64))
    expected = run_sums(X.astype(np.float64))
    sizes = Geometry(1, len(X), 0, 1, RUN)
    wrong = np.asarray(got, np.float32)
    return diagnose_scan(Outcome((X,), expected, wrong, tolerance, sizes, POISON, "y", "x"))


def test_the_sums_start_again_with_every_run() -> None:
    assert np.allclose(run_sums(X), each_run(prefix), atol=1e-5)
    assert run_sums(np.ones(70))[62:67].tolist() == [63, 64, 1, 2, 3]


WRONG = {
    "exclusive": (lambda: np.subtract(each_run(prefix), X), "wrong-formula", "exclusive"),
    "whole array": (lambda: np.cumsum(X), "wrong-loop-bound", "all of x"),
    "from the end": (lambda: each_run(lambda r: prefix(r[::-1])[::-1]), "wrong-index", "the end"),
    "total": (lambda: each_run(lambda r: [sum(r)] * RUN), "wrong-formula", "whole run"),
    "copy": (lambda: X, "accumulator-error", "y equals x"),
    "largest": (
        lambda: each_run(lambda r: [max(r[: i + 1]) for i in range(RUN)]),
        "wrong-formula",
        "running largest",
    ),
    "warps alone": (
        lambda: each_run(lambda r: [*prefix(r)[:32], *np.cumsum(r[32:])]),
        "accumulator-error",
        "start again after 32",
    ),
    "no 32": (lambda: each_run(with_strides(1, 2, 4, 8, 16)), "wrong-loop-bound", "at most 32"),
    "no 1": (lambda: each_run(with_strides(2, 4, 8, 16, 32)), "wrong-loop-bound", "start at 2"),
    "1 2 3": (lambda: each_run(with_strides(1, 2, 3)), "wrong-loop-bound", "1, 2, 3, … 3"),
    "stays 1": (lambda: each_run(with_strides(*[1] * 6)), "wrong-loop-bound", "stays 1 in all 6"),
    "first run": (lambda: prefix(list(X[:RUN])) * 4, "wrong-index", "first one"),
    "reversed": (lambda: each_run(lambda r: prefix(r)[::-1]), "wrong-index", "stored in reverse"),
    "whole numbers": (
        lambda: each_run(lambda r: prefix([int(v) for v in r])),
        "integer-arithmetic",
        "whole numbers",
    ),
    "last is zero": (
        lambda: run_sums(np.where(np.arange(len(X)) < 255, X, 0)),
        "wrong-bounds-check",
        "the last element of x",
    ),
    "no first": (
        lambda: each_run(lambda r: [r[0], *np.cumsum(r[1:])]),
        "wrong-bounds-check",
        "lacks the first element",
    ),
    "twice": (lambda: 2 * np.array(each_run(prefix)), "accumulator-error", "2 times"),
    "from 32 on": (
        lambda: each_run(lambda r: [*prefix(r)[:32], *np.square(r[32:])]),
        "wrong-result",
        "up to its element 31",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_sums_are_told_their_slip(name: str) -> None:
    wrong, code, words = WRONG[name]
    slip = diagnosed(wrong())
    assert slip is not None
    assert (slip.code, words in slip.message) == (code, True), slip


def test_nonsense_is_not_explained() -> None:
    assert diagnosed(np.sqrt(np.abs(X))) is None
