"""The measure that bounds are held by counts what is done, in every thread, the same each time."""

from __future__ import annotations

import threading

import pytest
from counted_work import counted_calls


def work(turns: int) -> None:
    for number in range(turns):
        abs(number)


@pytest.mark.parametrize("turns", [10, 1000])
def test_calls_are_counted(turns: int) -> None:
    with counted_calls(10**6) as calls:
        work(turns)
    assert turns <= calls.count <= turns + 10


def test_also_those_of_other_threads() -> None:
    with counted_calls(10**6) as calls:
        thread = threading.Thread(target=work, args=(1000,))
        thread.start()
        thread.join()
    assert 1000 <= calls.count <= 1200


def test_twice_the_work_is_twice_the_count() -> None:
    counts = []
    for turns in (1000, 2000, 1000):
        with counted_calls(10**6) as calls:
            work(turns)
        counts.append(calls.count)
    assert counts[0] == counts[2]
    assert 1.9 < counts[1] / counts[0] < 2.1


def test_more_than_allowed_fails() -> None:
    with pytest.raises(AssertionError, match="calls, where 50 are allowed"), counted_calls(50):
        work(100)
