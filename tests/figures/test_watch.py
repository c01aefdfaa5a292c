"""Figures that show a run: every number comes from it, right or wrong, in every order of warps."""

import numpy as np
import pytest
from kernels_to_watch import EMPTY, ENDLESS, LITERAL, PLAIN, TILED, flat, kernel

from course_lib.curriculum import TASKS
from course_lib.figures import step_through_k, watch_race, who_owns_what
from course_lib.figures.interactive import Interactive
from course_lib.figures.watch import NothingToDraw

TOY_A = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
TOY_B = np.array([[1, 2, 0, 1], [1, 0, 2, 3], [1, 2, 0, 1], [1, 0, 2, 3]], dtype=np.float32)


def text_of(figure: Interactive, name: str, at: int) -> object:
    return figure.state(at=at)[name]["text"]


def positions(figure: Interactive) -> range:
    return range(len(figure.controls[0].values))


def lit_chips(figure: Interactive) -> list[str]:
    chips = ("load", "barrier1", "multiply", "barrier2", "store")
    states = [figure.state(at=at) for at in positions(figure)]
    lit = [[chip for chip in chips if each.get(chip, {}).get("class") == "lit"] for each in states]
    return [each[0] if each else "start" for each in lit]


def test_the_toy_of_lesson_04_number_by_number() -> None:
    figure = step_through_k(tile=(4, 4, 2), matrices=(TOY_A, TOY_B))
    one_tile = ["load", "barrier1", "multiply", "multiply", "barrier2"]
    assert lit_chips(figure) == ["start", *one_tile, *one_tile, "store"]
    totals = [text_of(figure, "tr0.0", at) for at in (4, 9, 11)]
    assert totals == ["3", "10", "10"]
    assert text_of(figure, "sum", 8) == "thread (0, 0), C[0, 0]: 3 + 3·1 = 6"
    assert "C[0, 0]: 0 + 1·1 = 1; " in figure.still.alt and "6 + 4·1 = 10" in figure.still.alt
    assert [text_of(figure, f"ts0-0.{k}", 1) for k in (0, 1)] == ["1", "2"]
    assert [text_of(figure, f"ts0-0.{k}", 6) for k in (0, 1)] == ["3", "4"]  # overwritten
    assert text_of(figure, "tC0.0", 10) == "·" and text_of(figure, "tC0.0", 11) == "10"


def test_a_missing_barrier_is_seen_and_said() -> None:
    figure = step_through_k(kernel(TILED, ("cuda.syncthreads()  # second", "pass")))
    assert "barrier2" not in lit_chips(figure)
    drawn = figure.html()
    assert "no barrier" in drawn and "⚠ The emulator reports: race" in drawn
    assert "No barrier follows" in figure.sentence(at=4)


def test_wrong_totals_are_marked_where_they_are() -> None:
    again = ("        sA[ty, tx]", "        total = float32(0)\n        sA[ty, tx]")
    figure = step_through_k(kernel(TILED, ("    total = float32(0)\n", ""), again))
    last = positions(figure)[-1]
    assert str(text_of(figure, "tC0.0", last)).startswith("✗")
    assert "Not as in A @ B: 4 elements" in figure.sentence(at=last)
    assert "strip" not in figure.still.alt and "K" not in figure.still.alt.split(".")[0]


def test_tiles_past_the_edge_show_zeros_or_what_was_there() -> None:
    ours = step_through_k(shape=(3, 3, 3), block=(1, 1))
    assert text_of(ours, "ts0-0.1", 6) == "0"
    unguarded = step_through_k(kernel(), shape=(3, 3, 3), block=(1, 1))
    assert text_of(unguarded, "ts0-0.1", 6) == "?"
    assert "outside an array" in unguarded.html()


IN_STEP, ONE_BY_ONE = 0, 1
BOTH, NO_FIRST, NO_SECOND, NONE = range(4)


@pytest.fixture(scope="module")
def ours() -> Interactive:
    return watch_race()


def told(figure: Interactive, barriers: int, order: int) -> list[str]:
    last = len(figure.controls[2].values)
    return [figure.sentence(barriers=barriers, order=order, at=at) for at in range(last)]


def test_with_both_barriers_no_order_goes_wrong_and_the_still_shows_both_races(ours):
    for order in range(4):
        everything = " ".join(told(ours, BOTH, order))
        assert "✗" not in everything and "every element of C is right" in everything
        assert "finds no race" in everything
    assert "reads sB[0, 0] at line 15, perhaps before" in ours.still.alt
    assert "overwrites sB[0, 0] at line 12, perhaps before" in ours.still.alt
    assert ours.size_bytes < 100_000


def test_without_the_first_a_warp_reads_what_another_has_not_written(ours: Interactive) -> None:
    second = told(ours, NO_FIRST, ONE_BY_ONE)[2]
    assert second.startswith("Warp 0 multiplies")
    assert "thread (0, 0) of warp 0 reads sB[4, 0]" in second
    assert "nothing defined (NaN) instead of" in second
    assert "thread (0, 4) of warp 1 writes that cell only later" in second
    end = told(ours, NO_FIRST, ONE_BY_ONE)[-1]
    assert "32 of 64 elements of C are wrong, 32 of them NaN" in end
    state = ours.state(barriers=NO_FIRST, order=ONE_BY_ONE, at=2)
    assert state["tbox1.0"]["text"] == "✗ mult" and state["whytext"]["text"] == "written too late"


def test_in_step_the_numbers_are_right_and_it_is_a_race_all_the_same(ours: Interactive) -> None:
    for barriers in (NO_FIRST, NO_SECOND, NONE):
        sentences = told(ours, barriers, IN_STEP)
        assert not any("✗" in each for each in sentences)
        assert "right. But only this time. In every order, the emulator reports" in sentences[-1]


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
    assert "the emulator finds no race" in watch_race(kernel(OWN_CELLS)).still.alt


def test_a_task_of_one_block_can_be_watched_as_it_stands():
    """Both barriers of the answer can be taken out; the given kernel has none, and races."""
    task = TASKS["place_the_barriers"]
    solved = watch_race(kernel(task.answer), task=task.id)
    assert "without the first" in solved.still.alt
    assert "32 of 64 elements of y are wrong" in solved.still.alt
    assert "u use" in solved.html() and "y in the end" in solved.html()
    given = watch_race(kernel(task.given), task=task.id)
    assert "as it is" in given.still.alt
    with pytest.raises(NothingToDraw, match="has another mistake than a race"):
        wrong = task.answer.replace("63 - i", "i")
        watch_race(kernel(wrong), task=task.id)


IN_ONE_ROW = (
    "col, row = cuda.grid(2)",
    "row, col = cuda.grid(1) // C.shape[1], cuda.grid(1) % C.shape[1]",
)


def owned(figure: Interactive, block: int, thread: int) -> object:
    return figure.state(block=block, thread=thread)["mine"]["text"]


def test_each_thread_of_a_ragged_grid_and_one_that_owns_several() -> None:
    figure = who_owns_what((20, 20), (8, 8))
    for block, (bx, by) in enumerate((x, y) for y in range(3) for x in range(3)):
        for thread in (0, 9, 63):
            row, column = by * 8 + thread // 8, bx * 8 + thread % 8
            owns = f"owns C[{row}, {column}]" if max(row, column) < 20 else "writes nothing"
            assert owned(figure, block, thread) == owns
    assert figure.state(block=8)["seat63"]["class"] == "hatch"
    assert "lane 31 of warp 0" in figure.sentence(thread=31)
    assert "176 write nothing" in figure.html()
    assert figure.size_bytes < 100_000
    pairs = kernel(PLAIN, ("        C[row, col] = total", "        C[row, col] = C[0, 0] = total"))
    figure = who_owns_what((4, 4), (2, 2), kernel=pairs)
    assert "2 elements" in figure.sentence(block=3, thread=3)


def test_blocks_that_load_together_and_in_one_dimension() -> None:
    figure = who_owns_what((16, 16), tile=8, kernel=kernel())
    assert owned(figure, 0, 10) == "owns C[1, 2]"
    assert "loads 2 elements of A and 2 of B itself, of the 16" in figure.sentence()
    figure = who_owns_what((6, 20), 64, kernel=kernel(PLAIN, IN_ONE_ROW), grid=2)
    assert owned(figure, 1, 1) == "owns C[3, 5]"
    assert "not the mapping of cuda.grid(2)" in figure.sentence()
    with_tiles = who_owns_what((16, 16), block=64, kernel=flat(), grid=(2, 2))
    assert with_tiles.controls[1].values[-1] == "ty 0, tx 63"


def test_a_wrong_mapping_and_its_wrong_values() -> None:
    twice = kernel(PLAIN, ("C[row, col] = total", "C[row // 2, col] = total"))
    figure = who_owns_what((8, 8), (4, 4), kernel=twice)
    assert owned(figure, 0, 8) == "owns C[1, 0]"
    assert "Its value is wrong" in figure.sentence(block=0, thread=8)
    assert "⚠ 32 elements have several writers" in figure.html()
    assert "32 elements nobody writes" in figure.still.alt


def test_what_is_not_missing_is_not_counted() -> None:
    whole = who_owns_what((8, 8), (4, 4), kernel=kernel(PLAIN))
    assert "every thread writes · every element is written" in whole.html()
    # Another mapping, so that the still is the map of who wrote what.
    rows = who_owns_what((8, 8), block=16, kernel=kernel(PLAIN, IN_ONE_ROW), grid=(4, 1))
    assert "every element is written" in rows.still.alt
    for figure in (whole, rows):
        assert "0 element" not in figure.html() and "0 by" not in figure.still.alt


def test_the_largest_that_is_allowed_stays_small_enough() -> None:
    assert who_owns_what((32, 32), (32, 32)).size_bytes < 300_000
    assert np.prod((32, 48)) <= 1600 and who_owns_what((32, 48), (16, 16)).size_bytes < 200_000


NOT_FITTING = {
    step_through_k: [({"kernel": kernel(EMPTY)}, "still empty"),
        ({"kernel": kernel(PLAIN)}, "no shared array"), ({"kernel": kernel(LITERAL)}, "TILE = 16"),
        ({"kernel": kernel(ENDLESS)}, "does not end"), ({"kernel": 3}, "not a kernel"),
        ({"kernel": kernel(), "tile": (4, 4, 2)}, "16 × 16"),
        ({"kernel": kernel(TILED, ("(A, B, C)", "(A, B, C, D)"))}, "4 arguments, but"),
        ({"shape": (40, 4, 4)}, "none above 16"), ({"shape": (4, 4)}, "three whole numbers"),
        ({"tile": (2, 2, 4)}, "several"), ({"tile": "T"}, "cannot be drawn"),
        ({"block": (2, 0)}, "no block"), ({"matrices": (TOY_A, TOY_B[:3])}, "no product")],
    watch_race: [({"kernel": kernel(EMPTY)}, "still empty"),
        ({"kernel": kernel(PLAIN)}, "no shared array"),
        ({"kernel": kernel(TILED, ("+= sA", "-= sA"))}, "another mistake than a race"),
        ({"kernel": kernel(LITERAL)}, "TILE = 16"), ({"tile": 4}, "two to four warps")],
    who_owns_what: [({"kernel": kernel(EMPTY)}, "still empty"),
        ({"shape": (64, 64)}, "too many to click"), ({"shape": (4,)}, "shape is"),
        ({"block": (64, 32)}, "2048 threads"), ({"block": (2, 2, 2)}, "one or two"),
        ({"grid": 0}, "one or two"), ({"tile": 0}, "no block"),
        ({"kernel": kernel(TILED, ("(A, B, C)", "(A, B, C, D)")), "tile": 8}, "4 arguments")],
}  # fmt: skip


@pytest.mark.parametrize("draw", NOT_FITTING)
def test_what_does_not_fit_is_said_in_a_sentence(draw) -> None:
    for given, words in NOT_FITTING[draw]:
        with pytest.raises(NothingToDraw, match=words):
            draw(**given)
