"""No page tells a student anything about the inputs on which the answer was graded."""

import pytest
from hidden_numbers import Judged, judged, leaks
from sampling import marks as sampled
from stored_answers import wrong_answers, wrong_answers_to

from course_lib.curriculum import EXERCISES
from course_lib.problems.resident_blocks import EXAMPLES, launches

# Numbers that stand in the course for everybody to read.
OPEN = {number for _, *numbers in EXAMPLES for number in numbers}
SEEDS = (20_260_713, 731_904_553, 4_071_999_001)
QUICK = ("mat_add", "matmul_naive", "transpose_tiled", "block_scan")
SLOW_ONE_IN = 60  # of these
# The pages of these held hidden numbers once.
TELLING = (("attention", "no_maximum_subtracted"), ("matmul_naive", "skips_negative_terms"))


def _mutants() -> list[tuple[str, str, str]]:
    """Exercise, name and text of the wrong kernels of the exercises that are graded."""
    kernels = {name for name, each in EXERCISES.items() if each.kind.name == "kernel"}
    return [(*where, text) for where, text in wrong_answers().items() if where[0] in kernels]


def _cases() -> list[object]:
    """Some cheap ones with one seed each, the seeds in turn; under `long` all with all of them."""
    cases = []
    quick = [mutant for mutant in _mutants() if mutant[0] in QUICK][::SLOW_ONE_IN]
    for number, (exercise, name, text) in enumerate(quick):
        about = {"id": f"{exercise}-{name}-one-seed", "marks": pytest.mark.slow}
        cases.append(pytest.param(exercise, text, [SEEDS[number % len(SEEDS)]], **about))
    for exercise, name, text in _mutants():
        about = {"id": f"{exercise}-{name}", "marks": pytest.mark.long}
        cases.append(pytest.param(exercise, text, SEEDS, **about))
    return cases


@pytest.mark.parametrize(("exercise", "text", "seeds"), _cases())
def test_a_wrong_answers_page_tells_nothing_of_the_inputs(exercise, text, seeds):
    assert [each for seed in seeds for each in leaks(exercise, text, seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize(("exercise", "name"), TELLING)
def test_what_came_out_is_on_no_page(exercise: str, name: str) -> None:
    assert list(leaks(exercise, wrong_answers_to(exercise)[name], SEEDS[0])) == []


FUNCTIONS = wrong_answers_to("blocks_per_sm")


@pytest.mark.parametrize(("text", "seeds"), [
    pytest.param(text, seeds, id=f"{name}-{len(seeds)}", marks=marks)
    for number, (name, text) in enumerate(FUNCTIONS.items())
    for seeds, marks in (
        (SEEDS[number % len(SEEDS) :][:1], sampled(number, fast=len(FUNCTIONS), slow=8)),
        (SEEDS, pytest.mark.long),
    )
])  # fmt: skip
def test_a_wrong_functions_page_names_no_launch_that_was_drawn(text, seeds):
    at_home = judged("blocks_per_sm", text, 0).numbers
    for seed in seeds:
        drawn = launches(seed)[len(EXAMPLES) :]
        hidden = {number for _, *numbers in drawn for number in numbers}
        page = judged("blocks_per_sm", text, seed)
        told = {int(each.replace(",", "")) for each in page.numbers - at_home} & hidden - OPEN
        assert str(seed) not in page.page
        # A smaller number may be the count of launches that are right.
        assert {each for each in told if each > len(launches(seed))} == set()


# What a student could write in order to see an input: the page must not show it in any disguise.
START = """\
@cuda.jit
def {name}(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
"""
ADD = START.format(name="mat_add") + "        C[y, x] = {}\n"
CARRIERS = {
    "as the result": "A[0, 0]",
    "as what is added": "A[y, x] + B[y, x] + A[0, 0]",
    "as a factor": "(A[y, x] + B[y, x]) * B[0, 0]",
    "as a large factor": "(A[y, x] + B[y, x]) * np.float32(int(A[0, 0] * 1e6))",
    "at one element": "A[0, 1] if x == 3 and y == 3 else A[y, x] + B[y, x]",
    "as a power": "math.exp(A[0, 0] * 90) if x == 3 else A[y, x] + B[y, x]",
    "where the answer is constant": "np.float32(0.4321)",
}


@pytest.mark.parametrize("expression", [
    pytest.param(text, id=name, marks=[pytest.mark.slow] * (name != "at one element"))
    for name, text in CARRIERS.items()
])  # fmt: skip
def test_an_answer_cannot_carry_an_input_out(expression: str) -> None:
    text = ADD.format(expression)
    assert list(leaks("mat_add", text, SEEDS[0])) == []


def test_a_number_that_was_told_would_be_found() -> None:
    """What looks for leaks below finds one where there is one."""
    text = ADD.format(CARRIERS["at one element"])
    found = judged("mat_add", text, SEEDS[0])
    [value] = found.hidden[len(found.hidden) // 2 :][:1]
    for said in (f"{value:.4g}", f"{-value:.3e}"):
        assert Judged(f"<p>C[0, 3] is {said}.</p>", found.hidden).told()
    assert not Judged('<code class="source">x = 0.123</code> 0.25 19 x 33', found.hidden).told()
    assert len(found.hidden) > 10_000
