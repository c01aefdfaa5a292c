"""The measure that bounds are held by counts what is done, in every thread, the same each time."""

from __future__ import annotations

import threading

import pytest
from counted_work import counted_calls


def work(turns: int) -> None:
    for number in range(turns):
        abs(number)


def test_also_those_of_other_threads() -> None:
    with counted_calls(10**6) as calls:
        thread = threading.Thread(target=work, args=(1000,))
        thread.start()
        thread.join()
    assert 1000 <= calls.count <= 1200


def test_more_than_allowed_fails() -> None:
    with pytest.raises(AssertionError, match="calls, where 50 are allowed"), counted_calls(50):
        work(100)
