"""What a task limits beside a right result: wide accesses, passes, barriers, tiles that travel."""

from __future__ import annotations

import pytest

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS

HEAD = "from numba import cuda, float32\n\n\n"


def first_error(task: str, *changes: tuple[str, str]):
    text = TASKS[task].answer
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return examine_source(task, HEAD + text, debug=True).errors[0]


def test_a_narrow_access_is_told_by_its_bytes():
    narrow = "for m in range(4):\n        target[i + m] = source[i + m]"
    found = first_error("copy_by_fours", ("store4(target, i, load4(source, i))", narrow))
    assert (found.code, "4 bytes for each lane" in found.message) == ("not-used", True)


@pytest.mark.parametrize(
    ("place", "each"),
    [
        ("t % 32 // 4, t % 4", "0.1875"),  # row by row: only A's loads are shared in pairs
        ("lane_place(t % 32)[0], t % 32 // 8", ""),  # meets in C: wrong before it is slow
    ],
)
def test_passes_are_told_for_each_multiply_add(place, each):
    found = first_error("warp_piece", ("lane_place(t % 32)", place))
    if each:
        assert found.code == "bank-conflict" and f"take {each} passes" in found.message
    else:
        assert found.code != "bank-conflict"


def test_a_tile_that_is_waited_for_at_once_is_told_both_lines():
    early = (
        "            a, b = load4(A, 32 * start + 4 * t), load4(B, 32 * start + 4 * t)\n",
        "            a, b = load4(A, 32 * start + 4 * t), load4(B, 32 * start + 4 * t)\n"
        "            store4(sA, 256 - now + 4 * t, a)\n"
        "            store4(sB, 256 - now + 4 * t, b)\n",
    )
    found = first_error("two_buffers", early)
    assert found.code == "serial-work" and "nothing is multiplied" in found.message
    commit = "            cp_async_commit()\n"
    found = first_error("async_buffers", (commit, f"{commit}            cp_async_wait(0)\n"))
    assert found.message.startswith("The copy that begins here is waited for at once")


def test_one_barrier_more_for_each_tile_is_told():
    swap = "        now = 256 - now\n"
    found = first_error("two_buffers", (swap, f"        cuda.syncthreads()\n{swap}"))
    assert (found.code, found.message) == (
        "excess-barriers", "Each block passes 7 barriers here, and 4 would do."
    )  # fmt: skip


def test_a_barrier_is_no_cure_for_the_wrong_buffer():
    found = first_error("two_buffers", ("store4(sB, now + 4 * t, b)", "store4(sB, 4 * t, b)"))
    assert found.code == "race-write-after-read" and "Which one is free?" in found.hint


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("load4(sA, 132", "load4(sA, 128", "rows of 128 elements, and a row of sA has 132"),
        ("(8, 132)", "(8, 128)", "rows of 132 elements, and a row of sA has 128"),
        ("store4(T, 128", "store4(T, 132", "rows of 132 elements, and a row of T has 128"),
    ],
)
def test_a_row_that_is_longer_than_the_index_takes_it_for(old, new, said):
    assert said in first_error("stage_a", (old, new)).message


def test_a_step_of_one_is_not_taken_for_a_row():
    found = first_error("copy_by_fours", ("4 * cuda.grid(1)", "cuda.grid(1)"))
    assert found.hint == "If one thread takes 4 neighbours, where does the next one begin?"
    found = first_error("stage_a", ("(8, 132)", "(8, 129)"), ("load4(sA, 132", "load4(sA, 129"))
    assert found.hint == "Is the length of a row a multiple of 4?"


@pytest.mark.parametrize(("can_copy", "launches"), [(True, 1), (False, 0)])
def test_a_gpu_without_asynchronous_copies_is_not_asked(monkeypatch, can_copy, launches):
    import course_lib.runtime as runtime
    from course_lib.callers import our_kernel
    from course_lib.checking import Answer, examine

    ran = []
    answer = our_kernel(TASKS["async_buffers"])
    made = Answer(answer, answer, lambda *_: ran.append(1))
    monkeypatch.setattr("course_lib.checking._answer_of_object", lambda _: made)
    monkeypatch.setattr(
        "course_lib.diagnosis.examination.try_on_gpu", lambda *given: given[4]() or []
    )
    monkeypatch.setattr(runtime, "can_copy_asynchronously", lambda: can_copy)
    assert examine("async_buffers", answer, debug=True).passed
    assert len(ran) == launches
