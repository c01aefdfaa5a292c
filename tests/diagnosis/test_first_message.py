"""The first thing that a beginner is told leads to the line, and to the change that it needs."""

from __future__ import annotations

import pytest
from sampling import few

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import facts_of

HEAD = "from numba import cuda, float32\n"


def first(task: str, old: str, new: str) -> tuple[Finding, str]:
    """The first finding on our answer with something changed, and the line it names."""
    text = HEAD + TASKS[task].answer.replace(old, new)
    found = examine_source(task, text).findings[0]
    return found, text.splitlines()[(found.line or 1) - 1].strip()


@pytest.mark.parametrize("end", ["A.shape[0] - 1", "15"])
def test_an_index_that_counts_back_is_not_blamed_on_a_right_test(end: str) -> None:
    found, line = first("mirror_rows", "A.shape[1] - 1 - column", f"{end} - column")
    assert found.code in ("wrong-index", "out-of-bounds-read")
    assert line[:14] == "B[row, column]"


@pytest.mark.slow
def test_a_negative_index_comes_before_the_cell_that_it_reaches() -> None:
    sums = "part[t] + part[t + 1] + part[t + 2]"
    found, _ = first("sum_of_three", sums, "part[t - 1] + part[t] + part[t + 1]")
    assert found.code == "wrong-index"


def test_the_loop_is_innocent_of_an_index_on_another_axis() -> None:
    found, line = first("one_tile_product", "sA[ty, k]", "sA[row, k]")
    assert (found.code, line[:5]) == ("wrong-index", "total")
    assert "use another name instead of `row`" in found.message


def test_a_number_must_pass_from_one_thread_to_another() -> None:
    """Shared memory in which everybody keeps to itself is not used."""
    task = TASKS["reverse_sixteen"]
    text = task.answer.replace("= x[i]", "= x[15 - i]").replace("= buffer[15 - i]", "= buffer[i]")
    assert [each.code for each in examine_source(task.id, HEAD + text).errors] == ["not-used"]
    passed_on = task.answer.replace("buffer[i] =", "buffer[15 - i] =")
    passed_on = passed_on.replace("= buffer[15 - i]", "= buffer[i]")
    assert examine_source(task.id, HEAD + passed_on).passed


def test_a_function_that_returns_nothing_is_asked_for_by_name() -> None:
    found, _ = first("one_tile_product", "    load_tile(sA", "    sA = load_tile(sA")
    assert (found.code, facts_of(found.hint)) == ("compile-error", {"name": "sA"})


def test_a_share_of_one_may_be_a_float() -> None:
    text = "def share_of_peak(passes, starts):\n    return min(1.0, 1 / passes / starts)\n"
    assert examine_source("share_of_peak", text).passed


def test_the_line_of_a_change_that_repairs_goes_with_what_the_numbers_mean() -> None:
    found, line = first("sectors", "range(32)", "range(31)")
    assert (found.code, line) == ("wrong-formula", "for lane in range(31):")


@pytest.mark.parametrize("index", ["i", "t + 64 * cuda.blockIdx.x"])
def test_a_wrong_idea_is_not_told_of_numbers_from_beyond_an_array(index: str) -> None:
    """All that block 0 stores is what the idea computes; the other blocks read past the end."""
    found, line = first("pass_it_on", "numbers[(t + 1) % 64]", f"numbers[{index}]")
    assert (found.code, line[:6]) == ("out-of-bounds-read", "y[i] =")


@pytest.mark.parametrize(
    ("old", "new"), few([("A[y + 1, k]", "A[y, k + 1]"), ("B[k, x + 1]", "B[k + 1, x]")], 1)
)
def test_of_two_accesses_in_a_line_the_one_that_reaches_further_is_blamed(
    old: str, new: str
) -> None:
    """The loop ends where the axis does: `k + 1` leaves it, and `k` beside it does not."""
    found, line = first("two_by_two", old, new)
    assert new in line
    assert "but the indices along axis" in found.message


@pytest.mark.slow
def test_elements_that_no_thread_writes_are_told_apart_from_wrong_ones() -> None:
    found, line = first("two_by_two", "C[y + i, x + j]", "C[y, x]")
    assert (found.code, line[:7]) == ("wrong-index", "C[y, x]")
    assert facts_of(found.message)["read"] == "C[1, 1]"


@pytest.mark.slow
def test_a_tree_is_not_one_thread_that_adds_everything() -> None:
    text = """from numba import cuda, float32


@cuda.jit
def tree_sum(x, y):
    sums = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    sums[t] = x[t]
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for i in range(1024):
            total += sums[i]
        y[0] = total
"""
    [found] = examine_source("tree_sum", text).errors
    assert (found.code, found.line) == ("serial-work", 13)


@pytest.mark.slow
def test_what_is_read_and_not_used_is_no_part_of_the_result() -> None:
    _, line = first("column_totals", "y[j] = total", "y[j] = A[0, j]")
    assert line == "y[j] = A[0, j]"


@pytest.mark.slow
@pytest.mark.parametrize(("task", "old", "new"), [
    ("double_matrix", "= 2 * A[row, column]", "*= 2"),
    ("column_totals", "total += A[k, j]", "y[j] = total + A[k, j]"),
])  # fmt: skip
def test_a_zero_that_is_stored_is_not_called_nothing(task: str, old: str, new: str) -> None:
    text = HEAD + TASKS[task].answer
    text = text.replace("y, x", "row, column").replace("x, y =", "column, row =")
    text = text.replace("y < A", "row < A").replace("x < A", "column < A").replace(old, new)
    found = examine_source(task, text).findings[0]
    assert found.code == "wrong-formula"
    assert "does not depend on any element of A." in found.message


@pytest.mark.parametrize(("task", "old", "new", "hint"), few([
    ("squared_lengths", "384 * cuda.blockIdx.x", "0", "Which elements belong to block 0"),
    ("fetch_and_add", "        if warp == 1 and",
     "        cuda.syncthreads()\n        if warp == 1 and",
     "Which buffer can be written while the other one is read?"),
]))  # fmt: skip
def test_the_question_fits_what_was_written(task: str, old: str, new: str, hint: str) -> None:
    found, _ = first(task, old, new)
    assert found.hint.startswith(hint)


def test_what_no_two_threads_need_is_fetched_by_one_for_another() -> None:
    text = HEAD + TASKS["squared_lengths"].given.replace("x * x + y * y", "y * y + x * x")
    found = examine_source("squared_lengths", text, debug=True).errors[0]
    assert found.hint.startswith("Which thread could fetch a number for another thread")


def test_blocks_that_run_the_wrong_way_are_told_by_the_output_s_rows() -> None:
    found, line = first("turn_directly", "column, row = cuda.grid(2)", "row, column = cuda.grid(2)")
    assert (found.code, line[:11]) == ("wrong-index", "row, column")


@pytest.mark.slow
def test_exchanged_indices_blame_neither_a_test_nor_a_size() -> None:
    found, line = first("squared_lengths", "p[f // 3, f % 3]", "p[f % 3, f // 3]")
    assert (found.code, line) == ("wrong-index", "numbers[at] = p[f % 3, f // 3]")
    assert "test" not in str(found.message)


@pytest.mark.slow
def test_a_sum_that_nothing_reaches_is_told_at_one_of_the_tests_that_contradict_each_other() -> (
    None
):
    _, line = first("fetch_and_add", "    if warp == 1:\n", "    if warp == 0:\n")
    assert line in ("if warp == 1 and s > 0:", "if warp == 0:")


def test_a_long_number_is_shown_by_its_bits() -> None:
    found, _ = first("descriptor", " | 1 << 62", "")
    assert facts_of(found.message)["wanted"] == "0x4000_0040_0000_0000"


def test_right_in_one_call_by_chance_is_no_rule() -> None:
    text = TASKS["ring_end"].answer.replace("max(empty + copy, before)", "empty + copy * before")
    found = examine_source("ring_end", text, debug=True).errors[0]
    assert facts_of(found.message).keys() <= {"call", "value", "wanted", "compared", "worked"}
