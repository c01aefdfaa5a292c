"""What tests stand on: many cases in one, bounds on work, and answers stored as edits of others."""

import threading

import pytest
from counted_work import counted_calls
from every_case import every_case
from sampling import few, marks
from stored_answers import UnreadableAnswers, read, wrong_answers


def test_each_case_that_fails_is_named_and_the_others_run() -> None:
    seen = []

    @every_case(("number", "square"), [(1, 1), (2, 5), (3, 9), (4, None)])
    def check(number: int, square: int) -> None:
        seen.append(number)
        assert number**2 == square + 0

    with pytest.raises(AssertionError) as told:
        check()
    assert seen == [1, 2, 3, 4]
    said = str(told.value)
    assert said.startswith("2 of 4 cases fail")
    assert "2, 5: AssertionError" in said and "4, None: TypeError" in said and "3, 9" not in said


def test_a_sample_is_spread_over_three_sets() -> None:
    names = [[each.name for each in marks(number, fast=4, slow=2)] for number in range(5)]
    assert names == [[], ["long"], ["slow"], ["long"], []]
    assert [each.name for each in marks(0)] == ["long"]
    first, *others = few("abcd", slow=2)
    assert (first, [each.marks[0].name for each in others]) == ("a", ["slow", "slow", "long"])


def work(turns: int) -> None:
    for number in range(turns):
        abs(number)


def test_calls_are_counted_in_all_threads_and_held_to_their_bound():
    with counted_calls(10**6) as calls:
        thread = threading.Thread(target=work, args=(1000,))
        thread.start()
        thread.join()
    assert 1000 <= calls.count <= 1200
    with pytest.raises(AssertionError, match="calls, where 50 are allowed"), counted_calls(50):
        work(100)


BASE = """\
Whatever stands above the first head is for people.

=== _right
first = 1
again = 2  # <- wrong-index

if first:
    again = 2
"""


@every_case(("edit", "why"), [
    ("-second = 1", "stand 0 times"), ("+pass", "stand 6 times"), ("first = 1", "none of ~"),
    ("~ again => once", "stands 2 times"), ("~3 again => once", "stands 2 times"),
    ("~ second => once", "stands 0 times"), ("~", "says nothing"),
])  # fmt: skip
def test_an_edit_that_does_not_fit_is_refused_by_name(edit: str, why: str) -> None:
    with pytest.raises(UnreadableAnswers, match=f"other: .*{why}"):
        read(f"{BASE}\n=== other: _right\n{edit}\n")


def test_a_base_stands_above_and_a_name_once():
    with pytest.raises(UnreadableAnswers, match="other changes _wrong, which does not stand above"):
        read(f"{BASE}\n=== other: _wrong\n-first = 1\n")
    with pytest.raises(UnreadableAnswers, match="_right stands there twice"):
        read(f"{BASE}\n=== _right\n\nfirst = 1\n")
    assert not [name for _, name in wrong_answers() if name.startswith("_")]
