"""The launches of an answer: shapes that are drawn, uneven sizes, and some far beyond the usual."""

from __future__ import annotations

import re

import numpy as np
import pytest
from every_case import every_case
from far_answers import COSTLY_BEYOND_A_SIZE, HONEST, RIGHT_UP_TO_A_SIZE
from passing import without_cause
from sampling import few, marks
from stored_answers import right_answers_to, wrong_answers_to

from course_lib.checking import examine_source
from course_lib.curriculum import EXERCISES, TASKS
from course_lib.problems.inputs import DRAWS_WITH_WHOLE_NUMBERS, make_inputs
from course_lib.problems.problem import UNIT, Case, Problem, like, make_cases
from course_lib.problems.products import NarrowProduct
from course_lib.problems.table import problem_of, problems

PROBLEMS = problems(EXERCISES)
PRODUCT = PROBLEMS["matmul_tiled"]
HEAD = "from numba import cuda, float32\n\n\n@cuda.jit\ndef matmul_naive(A, B, C):\n"
BODY = (
    "    col, row = cuda.grid(2)\n"
    "    if {test}row < C.shape[0] and col < C.shape[1]:\n"
    "        acc = float32(0)\n"
    "        for k in range(A.shape[1]):\n"
    "            acc += A[row, k] * B[k, col]\n"
    "        C[row, col] = acc\n"
)


def shapes(problem: Problem, seed: int) -> list[tuple[int, ...]]:
    return [case.shape for case in make_cases(problem, (0,), seed)]


@pytest.mark.parametrize("shape", [(33, 19, 37), (1, 33, 31), (17, 40, 5), (5, 1, 60), (2, 300, 0)])
def test_a_shape_keeps_its_kind(shape: tuple[int, ...]) -> None:
    for seed in range(50):
        drawn = like(shape, np.random.default_rng(seed))
        for size, new in zip(shape, drawn, strict=True):
            if size <= 1:
                assert new == size
            else:
                assert new > 1 and (new - 1) // UNIT == (size - 1) // UNIT
                assert new % UNIT, "a whole number of tiles would hide a missing remainder"
        for one in range(len(shape)):
            for other in range(len(shape)):
                assert (shape[one] > shape[other]) == (drawn[one] > drawn[other])


@every_case("exercise", PROBLEMS)
def test_seed_0_has_the_shapes_that_everybody_may_try(exercise: str) -> None:
    problem = PROBLEMS[exercise]
    assert shapes(problem, 0)[2 : 2 + len(problem.shapes)] == list(problem.shapes)
    assert shapes(problem, 0) == shapes(problem, 0)


@every_case("exercise", PROBLEMS)
def test_other_seeds_have_others(exercise: str) -> None:
    """Together they leave no list of shapes to learn by heart."""
    problem = PROBLEMS[exercise]
    drawn = {tuple(shapes(problem, seed)[2:]) for seed in range(1, 30)}
    assert len(drawn) > 25
    assert all(shapes(problem, seed) == shapes(problem, seed) for seed in (1, 2))
    usual = set(shapes(problem, 0)[2:])
    assert all(len(usual & set(each)) < len(usual) / 2 for each in drawn)


def test_the_exact_problem_changes_with_the_seed_and_stays_exact() -> None:
    launch = EXERCISES["matmul_tiled"].launch((64, 64))
    drawn = {PRODUCT.first(launch, (16, 16), 16, seed) for seed in range(20)}
    assert PRODUCT.first(launch, (16, 16), 16, 0) == (48, 48, 48)
    assert drawn == {(48, 48, 48), (64, 64, 64), (80, 80, 80)}


@pytest.mark.slow
def test_an_answer_that_knows_the_usual_shapes_gains_nothing() -> None:
    """Its numbers are limits that no size comes to; and other seeds have other shapes."""
    known = {(48, 48, 48), *shapes(PRODUCT, 0)[:1], *shapes(PRODUCT, 0)[2:]}
    numbers = {M * 10**6 + N * 10**3 + K for M, N, K in known}
    tests = " or ".join(f"key == {number}" for number in sorted(numbers))
    key = "    key = A.shape[0] * 10**6 + B.shape[1] * 10**3 + A.shape[1]\n"
    text = f"{HEAD}{key}    known = {tests}\n{BODY.format(test='known and ')}"
    for seed in (0, 1, 2, 3, 2026):
        report = examine_source("matmul_naive", text, seed=seed, debug=True)
        assert not report.passed
        assert not report.numbers_right
        assert report.earned["right"] == 0


@pytest.mark.slow
def test_a_right_answer_passes_whatever_the_seed() -> None:
    text = HEAD + BODY.format(test="")
    for seed in (1, 2, 2026, 2**31, 2**40 + 1):
        assert examine_source("matmul_naive", text, seed=seed, debug=True).passed


def test_inputs_are_others_for_another_seed() -> None:
    inputs = [PRODUCT.operands((4, 4, 4), np.random.default_rng((seed, 1)))[0] for seed in (0, 1)]
    assert not np.array_equal(*inputs)


@every_case("exercise", [each for each in EXERCISES.values() if each.kind.name == "kernel"])
def test_some_launches_hold_exact_zeros(exercise: object) -> None:
    problem = problem_of(exercise)
    listed = make_cases(problem, problem.exact(64), seed=3)
    inputs = [make_inputs(problem, case, 3) for case in listed]
    for number, value in enumerate(inputs[0]):
        if np.ndim(value):  # a size that is handed over is no input of the computation
            assert any((each[number] == 0).any() for each in inputs)
    assert not any((each == 0).any() for each in inputs[1]), "the exact launch has none"


def test_a_formula_that_has_no_answer_at_zero_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(EXERCISES["mat_add"])
    monkeypatch.setattr(type(problem), "has_answer", lambda self, *inputs: False)
    inputs = make_inputs(problem, Case((9, 9, 0), draw=DRAWS_WITH_WHOLE_NUMBERS[0]), 0)
    assert not any((each == 0).any() for each in inputs)


@pytest.mark.parametrize("seed", [0, 5])
def test_every_launch_keeps_the_sizes_that_are_numbers(seed: int) -> None:
    problem = problem_of(TASKS["one_dot_product"])
    assert isinstance(problem, NarrowProduct)
    shapes = [each.shape for each in problem.cases(problem.exact(48), seed)]
    assert {(M, N) for M, N, _ in shapes} == {(1, 1)}
    assert len({K for _, _, K in shapes}) > 3
    assert problem_of(TASKS["naive_by_rows"]).exact(48) == (48, 48, 48)


SEEDS = (0, 3, 2026)
CONTEXT = "import math\nimport numpy as np\nfrom numba import cuda, float32\n"
EVEN = "A.shape[0] % TILE == 0 and A.shape[1] % TILE == 0 and B.shape[1] % TILE == 0"
STAGED = """\
import numpy as np
from numba import cuda

TILE = {tile}


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), np.float32)
    sB = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    r, c = min(row, A.shape[0] - 1), min(col, B.shape[1] - 1)
    acc = np.float32(0)
    staged = A.shape[1] // TILE{condition}
    for t in range(staged):
        sA[ty, tx] = A[r, t * TILE + tx]
        sB[ty, tx] = B[t * TILE + ty, c]
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    for k in range(staged * TILE, A.shape[1]):
        acc += A[r, k] * B[k, c]
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
"""
TURNED = """\
import numpy as np
from numba import cuda


@cuda.jit
def {name}(A, B, C):
    col, row = cuda.grid(2)
    if C.shape[0] % 16 or C.shape[1] % 16:
        row = cuda.blockIdx.y * 16 + cuda.threadIdx.x
        col = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    if row < C.shape[0] and col < C.shape[1]:
        {work}
"""
SUM = "C[row, col] = A[row, col] + B[row, col]"
PRODUCT_EDGES = """acc = np.float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc"""
TRANSPOSE = """\
from numba import cuda, float32

TILE = 32


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if A.shape[0] % TILE == 0 and A.shape[1] % TILE == 0:
        tile[ty, tx] = A[y, x]
        cuda.syncthreads()
        B[cuda.blockIdx.x * TILE + ty, cuda.blockIdx.y * TILE + tx] = tile[tx, ty]
    elif y < A.shape[0] and x < A.shape[1]:
        B[x, y] = A[y, x]
"""


@pytest.mark.parametrize("tile", few([8, 16, pytest.param(32, marks=pytest.mark.slow)], 1))
def test_tiles_on_even_sizes_alone_reuse_nothing(tile: int) -> None:
    text = STAGED.format(tile=tile, condition=f" if {EVEN} else 0")
    for seed in SEEDS:
        report = examine_source("matmul_tiled", text, seed=seed, debug=True)
        assert report.numbers_right
        [error] = report.errors
        assert (error.code, error.line) == ("excess-global-traffic", 24)
        assert "are not multiples of the tile" in error.message
        assert [name for name, points in report.earned.items() if not points] == ["reuse"]


@pytest.mark.parametrize("tile", few([8, 16, 32]))
def test_clamped_indices_and_a_rest_along_k_are_honest(tile: int) -> None:
    """No tile is loaded beyond the edge; and what does not fill one is few steps."""
    for seed in SEEDS:
        report = examine_source(
            "matmul_tiled", STAGED.format(tile=tile, condition=""), seed=seed, debug=True
        )
        assert report.passed, str(report)


@pytest.mark.parametrize(("exercise", "text", "codes"), few([
    ("mat_add", TURNED.format(name="mat_add", work=SUM), {"uncoalesced-load", "uncoalesced-store"}),
    ("matmul_coalesced", TURNED.format(name="matmul_coalesced", work=PRODUCT_EDGES),
     {"uncoalesced-load"}),
    ("transpose_tiled", TRANSPOSE, {"uncoalesced-store"}),
]))  # fmt: skip
def test_neighbours_on_even_sizes_alone_are_none(exercise: str, text: str, codes: set[str]) -> None:
    for seed in SEEDS:
        report = examine_source(exercise, text, seed=seed, debug=True)
        assert report.numbers_right
        assert {each.code for each in report.errors} == codes, str(report)
        assert report.earned["coalesced"] == 0


def test_honest_kernels_touch_few_sectors_at_the_edges() -> None:
    for exercise, work in (("mat_add", SUM), ("matmul_coalesced", PRODUCT_EDGES)):
        text = TURNED.format(name=exercise, work=work).replace(
            "if C.shape[0] % 16 or", "if False and"
        )
        for seed in SEEDS:
            assert examine_source(exercise, text, seed=seed, debug=True).passed


@pytest.mark.parametrize(
    "exercise", ["mat_add", "matmul_coalesced", "matmul_column_major", "transpose_tiled"]
)
@pytest.mark.slow
def test_right_answers_are_coalesced_on_every_draw(exercise: str) -> None:
    """Also with short rows, and where a warp covers few columns."""
    for text in list(right_answers_to(exercise).values())[:2]:
        for seed in range(8):
            report = examine_source(exercise, text, seed=seed, context=CONTEXT)
            assert report.passed, (seed, str(report))


def test_room_lies_between_honest_and_naive() -> None:
    problem = PROBLEMS["matmul_tiled"]
    shape = M, N, K = 33, 19, 37
    least = problem.fetches(shape, (16, 16))
    most = problem.fetches_at_most(shape, (16, 16), 16, (1, 1))
    assert most == (48 * 32 * 2 + 48 * 5 * 32, 32 * 32 * 3 + 32 * 5 * 48)
    assert all(a < b < 0.5 * M * N * K for a, b in zip(least, most, strict=True))


@every_case("exercise", PROBLEMS)
def test_a_counted_launch_is_uneven_and_several_tiles_long(exercise: str) -> None:
    problem = PROBLEMS[exercise]
    for seed in range(20):
        counted = [case for case in make_cases(problem, (0,), seed) if case.counted]
        assert len(counted) == (problem.counted is not None)
        for case in counted:
            assert not case.exact
            assert all(size > 16 and size % 8 for size in case.shape[:2])


SEEDS_FAR = (0, 5)
LOST = {
    **{name: ("matmul_naive", text, "right") for name, text in RIGHT_UP_TO_A_SIZE.items()},
    **COSTLY_BEYOND_A_SIZE,
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=marks(number, fast=20, slow=4)) for number, name in enumerate(LOST)],
)
def test_what_is_lost_beyond_a_size_is_not_paid(name: str) -> None:
    exercise, text, lost = LOST[name]
    for seed in SEEDS_FAR:
        report = without_cause(exercise, text, seed)
        assert report.earned[lost] == 0, (seed, str(report))


@pytest.mark.parametrize("name", few(HONEST, 0))
def test_an_honest_answer_that_looks_like_them_keeps_its_points(name: str) -> None:
    exercise, text = HONEST[name]
    for seed in SEEDS_FAR:
        report = examine_source(exercise, text, seed=seed)
        assert report.points == report.max_points, (seed, str(report))


@pytest.mark.parametrize("exercise", ["mat_add", "block_scan"])
@pytest.mark.slow
def test_launches_are_as_many_from_try_to_try(exercise: str) -> None:
    right = next(iter(right_answers_to(exercise).values()))
    usual = len(examine_source(exercise, right).tried)
    for name, text in list(wrong_answers_to(exercise).items())[::25]:
        for seed in SEEDS_FAR:
            held = without_cause(exercise, text, seed).held
            told = [re.search(r"right on (?:\d+ of |all )(\d+)", words) for words in held]
            counted = [int(words[1]) for words in told if words]
            assert counted in ([], [usual]), (name, seed, held)
