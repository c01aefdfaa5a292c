"""The race: which read goes wrong in which order of the warps, and what becomes of C."""

import pytest
from kernels_to_watch import EMPTY, LITERAL, PLAIN, TILED, kernel

from course_lib.curriculum import TASKS
from course_lib.figures import watch_race
from course_lib.figures.interactive import Interactive
from course_lib.figures.watch import NothingToDraw

IN_STEP, ONE_BY_ONE = 0, 1
BOTH, NO_FIRST, NO_SECOND, NONE = range(4)


@pytest.fixture(scope="module")
def ours() -> Interactive:
    return watch_race()


def told(figure: Interactive, barriers: int, order: int) -> list[str]:
    last = len(figure.controls[2].values)
    return [figure.sentence(barriers=barriers, order=order, at=at) for at in range(last)]


def test_with_both_barriers_no_order_goes_wrong(ours: Interactive) -> None:
    for order in range(4):
        everything = " ".join(told(ours, BOTH, order))
        assert "✗" not in everything and "every element of C is right" in everything
        assert "finds no race" in everything


def test_without_the_first_a_warp_reads_what_another_has_not_written(ours: Interactive) -> None:
    second = told(ours, NO_FIRST, ONE_BY_ONE)[2]
    assert second.startswith("Warp 0 multiplies")
    assert "thread (0, 0) of warp 0 reads sB[4, 0]" in second
    assert "nothing defined (NaN) instead of" in second
    assert "thread (0, 4) of warp 1 writes that cell only later" in second
    assert (
        "32 of 64 elements of C are wrong, 32 of them NaN" in told(ours, NO_FIRST, ONE_BY_ONE)[-1]
    )
    state = ours.state(barriers=NO_FIRST, order=ONE_BY_ONE, at=2)
    assert state["tbox1.0"]["text"] == "✗ mult" and state["whytext"]["text"] == "written too late"


def test_in_step_the_numbers_are_right_and_it_is_a_race_all_the_same(ours: Interactive) -> None:
    for barriers in (NO_FIRST, NO_SECOND, NONE):
        sentences = told(ours, barriers, IN_STEP)
        assert not any("✗" in each for each in sentences)
        assert "right. But only this time. In every order the emulator reports" in sentences[-1]


def test_the_still_shows_both_races_and_the_file_is_small(ours: Interactive) -> None:
    assert "before it is written" in ours.still.alt and "after it was over" in ours.still.alt
    assert ours.size_bytes < 100_000


OWN_CELLS = """
@cuda.jit
def matmul(A, B, C):
    s = cuda.shared.array((TILE, TILE), float32)
    col, row = cuda.grid(2)
    total = float32(0)
    for k in range(A.shape[1]):
        total += A[row, k] * B[k, col]
    s[cuda.threadIdx.y, cuda.threadIdx.x] = total
    cuda.syncthreads()
    C[row, col] = s[cuda.threadIdx.y, cuda.threadIdx.x]
"""


def test_a_barrier_that_nothing_needs_is_told_in_a_sentence() -> None:
    assert "there is still no race" in watch_race(kernel(OWN_CELLS)).still.alt


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kernel": kernel(EMPTY)}, "still empty"),
        ({"kernel": kernel(PLAIN)}, "no shared array"),
        ({"kernel": kernel(LITERAL)}, "TILE = 16"),
        ({"kernel": kernel(TILED, ("+= sA", "-= sA"))}, "another mistake than a race"),
        ({"tile": 4}, "two to four warps"),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(given: dict, words: str) -> None:
    with pytest.raises(NothingToDraw, match=words):
        watch_race(**given)


def test_a_task_of_one_block_can_be_watched_as_it_stands():
    """Both barriers of the answer can be taken out; the given kernel has none, and races."""
    task = TASKS["place_the_barriers"]
    solved = watch_race(kernel(task.answer), task=task.id)
    assert "without the first" in solved.still.alt and "32 of 64 elements are wrong" in (
        solved.still.alt
    )
    assert "u use" in solved.html() and "y in the end" in solved.html()
    given = watch_race(kernel(task.given), task=task.id)
    assert "as it is" in given.still.alt
    with pytest.raises(NothingToDraw, match="has another mistake than a race"):
        wrong = task.answer.replace("63 - i", "i")
        watch_race(kernel(wrong), task=task.id)
