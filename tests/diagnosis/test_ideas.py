"""Slips in attention and in scans are told apart by the numbers that they leave."""

from collections.abc import Callable

import numpy as np
import pytest
from every_case import every_case
from passing import passes
from sampling import few
from stored_answers import right_answers_to

from course_lib.curriculum import EXERCISES
from course_lib.devices.number_formats import rounded
from course_lib.diagnosis.launches.outcome import Outcome
from course_lib.diagnosis.number_patterns import idea_behind
from course_lib.problems.attention_ideas import online as tile_by_tile
from course_lib.problems.attention_ideas import scores_of, softmax
from course_lib.problems.inputs import make_inputs
from course_lib.problems.problem import Case, Geometry, make_cases
from course_lib.problems.scan import RUN, run_sums
from course_lib.problems.table import problem_of
from course_lib.registry.exercise import WrongIdea

ATTENTION = problem_of(EXERCISES["attention"])
IDEAS = [*ATTENTION.wrong_ideas()]
SHAPE = (20, 96, 1)
Q, K, V = ATTENTION.operands(SHAPE, np.random.default_rng(5))
SCORES = scores_of(Q, K)


def outcome(got: np.ndarray, inputs: tuple[np.ndarray, ...] = (Q, K, V)) -> Outcome:
    expected, tolerance = ATTENTION.answer(*inputs)
    sizes = ATTENTION.geometry((16, 1))
    return Outcome(inputs, expected, got.astype(np.float32), tolerance, sizes, -1.0, "O")


def test_an_online_softmax_without_slip_is_the_softmax() -> None:
    for tile in (1, 7, 32, 96):
        assert np.allclose(tile_by_tile(tile, Q, K, V), softmax(SCORES) @ V)


def test_right_numbers_have_no_slip() -> None:
    assert idea_behind(IDEAS, outcome(softmax(SCORES) @ V), []) is None


def test_float32_stays_within_the_tolerance() -> None:
    for factor in (1, 60):
        shape = (20, 96, factor)
        inputs = ATTENTION.operands(shape, np.random.default_rng(6))
        expected, tolerance = ATTENTION.answer(*inputs)
        scores = (inputs[0] @ inputs[1].T) / np.float32(np.sqrt(32))
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        got = weights @ inputs[2] / weights.sum(axis=1, keepdims=True)
        assert got.dtype == np.float32
        assert (np.abs(got - expected) <= tolerance).all()


ON_TENSOR_CORES = problem_of(EXERCISES["attention_mma"])


def rounded_weights(inputs: tuple[np.ndarray, ...], bits: Callable[..., np.ndarray]) -> np.ndarray:
    """Attention whose weights are rounded before they mix the values, as `mma` wants them."""
    scores = scores_of(*inputs[:2])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return bits(weights) @ inputs[2] / weights.sum(axis=1, keepdims=True)


@every_case(("factor", "most"), [(1, 2e-4), (60, 0.03)])
def test_weights_in_bfloat16_stay_within_the_tolerance(factor: int, most: float) -> None:
    """A small one, where the weights are powers of two: nothing but them is told from rounding."""
    inputs = make_inputs(ON_TENSOR_CORES, Case((70, 33, factor), draw=1), seed=4)
    expected, tolerance = ON_TENSOR_CORES.answer(*inputs)
    got = rounded_weights(inputs, lambda weights: rounded(weights.astype(np.float32), "bfloat16"))
    assert (np.abs(got - expected) <= tolerance).all()
    assert tolerance.max() < most


def test_every_idea_for_tensor_cores_computes_an_output() -> None:
    inputs = make_inputs(ON_TENSOR_CORES, Case((70, 33, 1), draw=1), seed=4)
    with np.errstate(all="ignore"):
        for idea in ON_TENSOR_CORES.wrong_ideas():
            computed = np.asarray(idea.computes(*(each.astype(np.float64) for each in inputs)))
            assert computed.shape == (70, 64), idea.says


@every_case(("got", "code", "words"), [
    (tile_by_tile(32, Q, K, V, out=0), "missing-rescale", "output collected so far"),
    (tile_by_tile(16, Q, K, V, total=0), "missing-rescale", "sum of the weights"),
    (softmax(SCORES / np.sqrt(32)) @ V, "wrong-formula", "divided by 32"),
    (softmax(SCORES, 0) @ V, "wrong-formula", "over the queries"),
    (np.exp(SCORES) @ V, "wrong-formula", "never divided"),
    (tile_by_tile(32, Q, K, V, divides_each=True, again=True), "wrong-formula", "again at the end"),
])  # fmt: skip
def test_the_slip_behind_wrong_numbers(got: np.ndarray, code: str, words: str) -> None:
    idea = idea_behind(IDEAS, outcome(got), [])
    assert idea is not None
    assert idea.code == code
    assert words in idea.says


# --- rows, lanes and queries that are mixed up ----------------------------------------------------

BLOCKS = (32, 96, 1)
BLOCK_INPUTS = ATTENTION.operands(BLOCKS, np.random.default_rng(7))


def online(
    inputs: tuple[np.ndarray, ...],
    lanes_with_one_maximum: int = 32,
    lanes_with_one_sum: int = 32,
    factor_of: Callable[[int, int], int] = lambda row, column: row,
) -> np.ndarray:
    """Attention in tiles of 32 keys, a lane for each, number by number."""
    queries, keys, values = (each.astype(np.float64) for each in inputs)
    scores = queries @ keys.T / np.sqrt(32)
    out, total = np.zeros(queries.shape), np.zeros(queries.shape)
    top = np.full(queries.shape, -np.inf)
    for tile in range(0, len(keys), 32):
        new = top.copy()
        for row, lane in np.ndindex(*top.shape):
            first = lane // lanes_with_one_maximum * lanes_with_one_maximum + tile
            new[row, lane] = max(
                top[row, lane], *scores[row, first : first + lanes_with_one_maximum]
            )
        weights, factor = np.exp(scores[:, tile : tile + 32] - new), np.exp(top - new)
        total = total * factor + weights
        for row, column in np.ndindex(*out.shape):
            out[row, column] *= factor[factor_of(row, column), column]
        out += weights @ values[tile : tile + 32]
        top = new
    for row, column in np.ndindex(*out.shape):
        first = column // lanes_with_one_sum * lanes_with_one_sum
        sums = total[row, first : first + lanes_with_one_sum]
        out[row, column] /= sums.sum()
    return out


def of_the_lane(row: int, column: int) -> int:
    return row // 16 * 16 + column % 16


def by_lanes(score: Callable[[np.ndarray, np.ndarray, int, int], float]) -> np.ndarray:
    """Attention in which the score of a key differs between the columns of the output."""
    queries, keys, values = (each.astype(np.float64) for each in BLOCK_INPUTS)
    out = np.zeros(queries.shape)
    for row, column in np.ndindex(*out.shape):
        scores = [score(queries[row], key, column, k) for k, key in enumerate(keys)]
        weights = np.exp(np.array(scores) / np.sqrt(32))
        out[row, column] = weights @ values[:, column] / weights.sum()
    return out


def every_second_product(query: np.ndarray, key: np.ndarray, column: int, number: int) -> float:
    return query[column % 2 :: 2] @ key[column % 2 :: 2]


def one_element_of_the_query(q: np.ndarray, key: np.ndarray, column: int, number: int) -> float:
    return q[number % 32] * key.sum()


MIXED_UP = {
    "half of the warp": (lambda: online(BLOCK_INPUTS, lanes_with_one_maximum=16), "wrong-formula",
        "groups of 16 lanes"),
    "half of the sum": (lambda: online(BLOCK_INPUTS, lanes_with_one_sum=16), "accumulator-error",
        "the sum of the weights is computed within groups of 16 lanes"),
    "each lane": (lambda: online(BLOCK_INPUTS, lanes_with_one_maximum=1), "wrong-formula",
        "maximum is computed by each lane on its own"),
    "factor": (lambda: online(BLOCK_INPUTS, factor_of=of_the_lane), "wrong-index",
        "the factor of another query"),
    "products": (lambda: by_lanes(every_second_product), "wrong-loop-bound",
        "products is computed within groups of 16 lanes"),
    "lane's query": (lambda: by_lanes(one_element_of_the_query), "wrong-index",
        "of the query that it holds"),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXED_UP)
def test_what_is_mixed_up_is_told(name: str) -> None:
    wrong, code, words = MIXED_UP[name]
    idea = idea_behind(IDEAS, outcome(wrong(), BLOCK_INPUTS), [])
    assert idea is not None
    assert (idea.code, words in idea.says) == (code, True), idea


def test_nothing_mixed_up_is_right() -> None:
    assert idea_behind(IDEAS, outcome(online(BLOCK_INPUTS), BLOCK_INPUTS), []) is None


# --- keys that are equal --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 99])
def test_a_launch_has_several_keys_with_the_largest_score(seed: int) -> None:
    """In the first tile and in the last one; each as good as the other."""
    for case in make_cases(ATTENTION, ATTENTION.exact(0), seed):
        inputs = make_inputs(ATTENTION, case, seed)
        best = [np.flatnonzero(row == row.max()) for row in scores_of(*inputs[:2])]
        if case.shape[2] > 1 and len(inputs[1]) > 1:
            tied = [keys for keys in best if len(keys) > 2]
            assert len(tied) > len(best) / 8
            assert any(keys[1] < 16 and keys[-1] >= 32 for keys in tied)
            ahead = [row.max() - row[:32].max() for row in scores_of(*inputs[:2])]
            assert max(ahead) > 200  # the maximum of the first tile alone does not do


def test_a_key_that_is_lost_for_a_tie_is_told() -> None:
    shape = (20, 40, 60)
    inputs = ATTENTION.operands(shape, np.random.default_rng(8))
    scores = scores_of(*inputs[:2])
    same = np.flatnonzero((inputs[1] == inputs[1][0]).all(axis=1))
    for row in scores:
        for key in same[1:]:
            row[key] = -np.inf if row[0] == row[:key].max() else row[0]
    idea = idea_behind(IDEAS, outcome(softmax(scores) @ inputs[2], inputs), [])
    assert idea is not None
    assert "equals the largest score before it" in idea.says


@pytest.mark.slow
def test_a_maximum_over_half_a_tile_passes_with_no_seed() -> None:
    """It is wrong only where a large score lies in the other half."""
    text = right_answers_to("attention")["warp_barriers"]
    step = "            new_top = max(new_top, weights[ty, j])"
    for seed in range(5):
        half = "range(16, 32)" if seed % 2 else "range(16)"
        changed = text.replace(f"in range(TILE):\n{step}", f"in {half}:\n{step}")
        assert changed != text
        assert not passes("attention", changed, seed), seed


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
