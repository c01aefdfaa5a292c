"""Wrong running sums are told what they add up; computed here by loops over plain lists."""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np
import pytest
from every_case import every_case

from course_lib.diagnosis.families.locate import locate
from course_lib.diagnosis.families.scan.sums import diagnose_scan
from course_lib.diagnosis.launches.outcome import Geometry, Outcome
from course_lib.diagnosis.launches.trail import Trail
from course_lib.diagnosis.problems.scan import RUN, run_sums
from course_lib.diagnosis.slip import Slip
from course_lib.diagnosis.source.source import Source

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


def only_above_zero(run: list[float]) -> list[float]:
    for stride in (1, 2, 4, 8, 16, 32):
        run = [run[t] + (max(run[t - stride], 0) if t >= stride else 0) for t in range(RUN)]
    return run


WARP_STRIDES = (1, 2, 4, 8, 16)


def diagnosed(got: list[float] | np.ndarray) -> Slip | None:
    tolerance = 4e-6 * run_sums(np.abs(X).astype(np.float64))
    expected = run_sums(X.astype(np.float64))
    sizes = Geometry(1, RUN)
    wrong = np.asarray(got, np.float32)
    return diagnose_scan(Outcome((X,), expected, wrong, tolerance, sizes, POISON, "y", "x"))


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
    "even": (lambda: each_run(with_strides(*range(0, 12, 2))), "wrong-loop-bound", "0, 2, 4, … 10"),
    "squares": (
        lambda: each_run(with_strides(1, 4, 9, 16, 25, 36)),
        "wrong-loop-bound",
        "1, 4, 9, 16, 25, 36",
    ),
    "above zero": (lambda: each_run(only_above_zero), "wrong-formula", "above zero"),
    "warps up to 8": (
        lambda: each_run(with_warps(1, 2, 4, 8)),
        "wrong-loop-bound",
        "a warp the last stride is 8",
    ),
    "warps from 2": (
        lambda: each_run(with_warps(2, 4, 8, 16)),
        "wrong-loop-bound",
        "the strides start at 2",
    ),
    "lanes above": (
        lambda: each_run(with_warps(*WARP_STRIDES, guard=1)),
        "wrong-bounds-check",
        "lacks the first",
    ),
    "lanes after": (
        lambda: each_run(with_warps(*WARP_STRIDES, ahead=True)),
        "wrong-index",
        "places after it",
    ),
    "lane 30": (lambda: each_run(with_warps(*WARP_STRIDES, lane=30)), "wrong-index", "lane 30"),
    "root kept": (lambda: each_run(with_tree(clears=False)), "accumulator-error", "the root holds"),
    "root left out": (
        lambda: each_run(with_tree(last=62)),
        "wrong-bounds-check",
        "the root takes no part",
    ),
    "tree up to 16": (
        lambda: each_run(with_tree(up=5, down=5)),
        "wrong-loop-bound",
        "down the tree, the first stride is 16",
    ),
    "tree up to 8": (
        lambda: each_run(with_tree(up=4)),
        "wrong-loop-bound",
        "up the tree, the last stride is 8",
    ),
    "tree to 4 and back": (
        lambda: each_run(with_tree(up=3, down=3)),
        "wrong-loop-bound",
        "go up to 4, and not to 32, on both ways",
    ),
    "warps with even strides": (
        lambda: each_run(with_warps(0, 2, 4, 6, 8)),
        "wrong-loop-bound",
        "0, 2, 4, … 8",
    ),
    "tree from 8 down": (
        lambda: each_run(with_tree(down=4)),
        "wrong-loop-bound",
        "the first stride is 8",
    ),
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


NO_TRAIL = Trail({}, {}, {}, {}, {}, np.zeros(0))
SOURCES = {
    "stride": (
        """
    for p in range(6):
        d = 2 * p
        cuda.syncthreads()
        if t >= d:
            two[1 - src, t] = two[src, t] + two[src, t - d]
        src = 1 - src
""",
        ("stride", "change"),
        "d = 2 * p",
    ),
    "test of a lane": (
        """
    while d < 32:
        up = cuda.shfl_up_sync(ALL, v, d)
        if lane > d:
            v += up
        d *= 2
""",
        ("adds",),
        "if lane > d:",
    ),
    "lane with the total": (
        """
    if lane == 30:
        two[warp] = v
    cuda.syncthreads()
    v += two[0]
""",
        ("adds", "total"),
        "if lane == 30:",
    ),
    "test in an expression": (
        """
    while d < 32:
        before = two[t - d] if lane > d else float32(0)
        cuda.syncwarp()
        two[t] += before
        d *= 2
""",
        ("adds",),
        "before = two[t - d] if lane > d else float32(0)",
    ),
    "where the way down starts": (
        """
    while d < 32:
        if k < 64:
            two[k] += two[k - d]
        d *= 2
    while d > 1:
        d //= 2
        two[k - d] = two[k]
""",
        ("tree", "start"),
        "while d < 32:",
    ),
    "its own start": (
        """
    while d < 64:
        two[k] += two[k - d]
        d *= 2
    d = 16
    while d > 0:
        two[k - d] = two[k]
        d //= 2
""",
        ("tree", "start"),
        "d = 16",
    ),
    "way down": (
        """
    while d < 64:
        if k < 64:
            two[k] += two[k - d]
        d *= 2
    while d > 1:
        d //= 2
        if k < 63:
            left = two[k - d]
            two[k - d] = two[k]
            two[k] += left
""",
        ("tree", "down"),
        "while d > 1:",
    ),
    "its test": (
        """
    for d in range(6):
        two[k] += two[k - d]
    for d in range(6):
        if k < 63:
            two[k - d] = two[k]
""",
        ("tree", "test"),
        "if k < 63:",
    ),
    "where sums are lost": (
        """
    for d in range(6):
        two[k] += two[k - d]
    for d in range(6):
        two[k - d] = two[k]
        two[k] += two[k - d]
""",
        ("copied",),
        "two[k] += two[k - d]",
    ),
}


@every_case("name", SOURCES)
def test_the_line_of_a_slip(name: str) -> None:
    body, place, to_blame = SOURCES[name]
    text = f"def block_scan(x, y):\n    two = cuda.shared.array((2, 64), float32)\n{body[1:]}"
    source = Source((ast.parse(text).body[0],), ("x", "y"))  # type: ignore[arg-type]
    slip = Slip("wrong-index", "", "", place)
    line = locate(slip, source, NO_TRAIL, ("x", "y"), ("x", "y")).line
    assert line is not None
    assert text.splitlines()[line - 1].strip() == to_blame
