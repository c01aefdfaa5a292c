"""The slow kernels of lesson 08b: each is right, and one line of its report alone stands out."""

import numpy as np
import pytest

from course_lib import quiz
from course_lib.building.placed import in_markdown
from course_lib.questions import predictions
from course_lib.questions.prediction_card import html_of
from course_lib.questions.runs import run
from course_lib.questions.slow_kernels import KERNELS, source, symptoms

RIGHT = (
    lambda A: A.sum(axis=1),
    lambda x: x.reshape(-1, 16).sum(axis=1),
    lambda x: np.convolve(x, np.ones(32) / 32, "valid"),
)


@pytest.mark.parametrize("number", (1, 2, 3))
def test_it_is_right_and_without_findings_of_order_or_memory(number: int) -> None:
    kernel = KERNELS[number - 1]
    given = np.random.default_rng(number).random(kernel.reads, np.float32)
    out = np.zeros(kernel.writes, np.float32)
    profile = run(source(number), kernel.grid, kernel.block, given, out)
    assert np.allclose(out, RIGHT[number - 1](given.astype(np.float64)), rtol=1e-5)
    assert not [each for each in profile.findings if each.severity == "error"]


def test_each_report_has_one_line_that_stands_out() -> None:
    first, second, third = map(symptoms, (1, 2, 3))
    assert (first.load_sectors, first.times_loaded, first.wavefronts) == (32, 1, 0)
    assert (second.load_sectors, second.times_loaded, second.wavefronts) == (4, 1, 16)
    assert third.times_loaded == pytest.approx(32, rel=1e-2)  # those at the ends fewer times
    assert third.wavefronts == 0 and third.load_sectors < 5
    for each in (first, second, third):
        assert (each.store_sectors, each.branch_efficiency) == (4, 1)


def test_rows_of_17_words_leave_no_queue() -> None:
    kernel = KERNELS[1]
    mended = source(2).replace("(128, 16)", "(128, 17)")
    given, out = np.ones(kernel.reads, np.float32), np.zeros(kernel.writes, np.float32)
    profile = run(mended, kernel.grid, kernel.block, given, out)
    assert profile.shared_load_bank_conflicts == 0


@pytest.mark.parametrize("number, name", [*enumerate(("first", "second", "third"), 1)])
def test_its_source_comes_only_with_the_answer(
    number: int, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[object] = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    asked, listing = f"08b-{name}-unknown", source(number).strip()
    question = predictions("08b")[asked]
    quiz.predict(asked, ...)
    assert not shown and listing not in capsys.readouterr().out + in_markdown(question)
    quiz.predict(asked, "d")
    assert listing in repr(shown[0])
    card = html_of(question)
    assert card.index('<details class="fold">') < card.index(listing.splitlines()[-1].strip())
