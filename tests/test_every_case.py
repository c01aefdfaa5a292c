"""A test of many cases runs all of them, and names each that fails."""

from __future__ import annotations

import pytest
from every_case import every_case
from sampling import marks


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
