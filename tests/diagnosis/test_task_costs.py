"""What a task limits beside a right result: wide accesses, passes, barriers, tiles that travel."""

import pytest
from sampling import few

from course_lib.checking import examine_source
from course_lib.curriculum import TASKS
from course_lib.wording.sentences import Line, facts_of

HEAD = "from numba import cuda, float32\n\n\n"


def first_error(task: str, *changes: tuple[str, str]):
    text = TASKS[task].answer
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return examine_source(task, HEAD + text, debug=True).errors[0]


def line_of(task: str, line: str) -> int:
    """Where a line of the task's answer stands first."""
    return 1 + (HEAD + TASKS[task].answer).splitlines().index(line)


def test_a_narrow_access_is_told_by_its_bytes():
    narrow = "for m in range(4):\n        target[i + m] = source[i + m]"
    found = first_error("copy_by_fours", ("store4(target, i, load4(source, i))", narrow))
    facts = facts_of(found.message)
    assert (found.code, facts["letter"], facts["size"]) == ("not-used", "source", "4")


@pytest.mark.parametrize(("place", "each"), [
    ("t % 32 // 4, t % 4", "0.1875"),  # row by row: only A's loads are shared in pairs
    ("lane_place(t % 32)[0], t % 32 // 8", ""),  # meets in C: wrong before it is slow
])  # fmt: skip
@pytest.mark.slow
def test_passes_are_told_for_each_multiply_add(place, each):
    found = first_error("warp_piece", ("lane_place(t % 32)", place))
    if each:
        assert found.code == "bank-conflict" and facts_of(found.message)["passes"] == each
    else:
        assert found.code != "bank-conflict"


@pytest.mark.slow
def test_a_tile_that_is_waited_for_at_once_is_told_both_lines():
    early = (
        "            a, b = load4(A, 32 * start + 4 * t), load4(B, 32 * start + 4 * t)\n",
        "            a, b = load4(A, 32 * start + 4 * t), load4(B, 32 * start + 4 * t)\n"
        "            store4(sA, 256 - now + 4 * t, a)\n"
        "            store4(sB, 256 - now + 4 * t, b)\n",
    )
    found = first_error("two_buffers", early)
    asked = line_of("two_buffers", early[1].splitlines()[0])
    assert (found.code, facts_of(found.message)["line"]) == ("serial-work", Line(asked))
    commit = "            cp_async_commit()\n"
    found = first_error("async_buffers", (commit, f"{commit}            cp_async_wait(0)\n"))
    assert found.code == "serial-work" and "line" not in facts_of(found.message)  # it is this one


def test_one_barrier_more_for_each_tile_is_told():
    swap = "        now = 256 - now\n"
    found = first_error("two_buffers", (swap, f"        cuda.syncthreads()\n{swap}"))
    facts = facts_of(found.message)
    assert (found.code, facts["each"], facts["enough"]) == ("excess-barriers", "7", 4)


def test_a_barrier_is_no_cure_for_the_wrong_buffer():
    found = first_error("two_buffers", ("store4(sB, now + 4 * t, b)", "store4(sB, 4 * t, b)"))
    assert found.code == "race-write-after-read"
    assert facts_of(found.hint)["line"] == Line(found.other_line)  # that reads the buffer


@pytest.mark.parametrize(("old", "new", "taken"), few([
    ("load4(sA, 132", "load4(sA, 128", (128, "sA", 132)),
    ("(8, 132)", "(8, 128)", (132, "sA", 128)),
    ("store4(T, 128", "store4(T, 132", (132, "T", 128)),
], 1))  # fmt: skip
def test_a_row_that_is_longer_than_the_index_takes_it_for(old, new, taken):
    facts = facts_of(first_error("stage_a", (old, new)).message)
    assert (facts["taken"], facts["array"], facts["length"]) == taken


def test_a_step_of_one_is_not_taken_for_a_row():
    found = first_error("copy_by_fours", ("4 * cuda.grid(1)", "cuda.grid(1)"))
    assert found.hint == "If one thread takes 4 neighbours, where does the next thread begin?"
    found = first_error("stage_a", ("(8, 132)", "(8, 129)"), ("load4(sA, 132", "load4(sA, 129"))
    assert found.hint == "Is the length of a row a multiple of 4?"


@pytest.mark.parametrize(("can_copy", "launches"), [(True, 1), (False, 0)])
def test_a_gpu_without_asynchronous_copies_is_not_asked(monkeypatch, can_copy, launches):
    import course_lib.host.runtime as runtime
    from course_lib.answer_text.context import our_kernel
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
