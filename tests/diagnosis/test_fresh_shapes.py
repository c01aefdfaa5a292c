"""What is drawn for an answer: with a seed other than 0 shapes that nobody has seen; zeros."""

import numpy as np
import pytest
from every_case import every_case

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
