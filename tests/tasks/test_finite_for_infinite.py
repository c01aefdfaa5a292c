"""No finite number does for -inf, in whatever softmax: the scores of one launch lie far below."""

import re

import pytest
from passing import passes
from stored_answers import right_answers_to

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS

HEAD = "from numba import cuda, float32\n\n\n"
INFINITE = re.compile(r"-math\.inf|-float\(\"inf\"\)")
FINITE = ("-1000.0", "-10000.0")
SOFTMAXES = {name: task.answer for name, task in TASKS.items() if INFINITE.search(task.answer)}


def with_finite(text: str, finite: str) -> list[str]:
    """The text once for each -inf in its code, with a finite number in its place."""
    places = [
        found for found in INFINITE.finditer(text) if text.count('"""', 0, found.start()) % 2 == 0
    ]
    return [text[: found.start()] + finite + text[found.end() :] for found in places]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "finite"), [(name, FINITE[n % 2]) for n, name in enumerate(SOFTMAXES)]
)
def test_a_task_takes_no_finite_number_for_it(name: str, finite: str) -> None:
    texts = with_finite(SOFTMAXES[name], finite)
    assert texts
    for text in texts:
        report = examine_source(name, HEAD + text)
        assert report.errors, text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("exercise", "style"), [("attention", "warp_barriers"), ("attention_mma", "textbook")]
)
def test_an_exercise_takes_no_finite_number_for_it(exercise: str, style: str) -> None:
    texts = with_finite(right_answers_to(exercise)[style], "-10000.0")
    assert texts
    assert not any(passes(exercise, text) for text in texts)


@pytest.mark.slow
@pytest.mark.parametrize("finite", ["-100.0", pytest.param("-1000.0", marks=pytest.mark.long)])
def test_a_finite_score_past_the_end_is_told_as_that(finite: str) -> None:
    """And not as a mask of wrong keys, which would show in other launches, too."""
    text = right_answers_to("attention_mma")["textbook"]
    masked = with_finite(text, finite)[-1]
    (found, *_) = examine_source("attention_mma", masked).errors
    assert found.code == "missing-mask"
    assert "keys past the end get a finite score" in found.message
    lines = text.splitlines()
    assert "inf" in lines[(found.line or 0) - 1]


@pytest.mark.slow
def test_weights_times_a_constant_are_no_weights() -> None:
    answer = TASKS["online_rows"].answer
    changed = answer.replace(
        "S[j, c] = math.exp(S[j, c] - new)", "S[j, c] = math.exp(S[j, c] - new) / 8"
    )
    assert changed != answer
    assert examine_source("online_rows", HEAD + changed).errors


@pytest.mark.slow
@pytest.mark.parametrize("name", ["attention_mma", "matmul_mma"])
def test_stores_as_fragments_lie_are_not_warned_of(name: str) -> None:
    for text in [*right_answers_to(name).values()][:2]:
        codes = {found.code for found in examine_source(name, text).findings}
        assert "uncoalesced-store" not in codes
