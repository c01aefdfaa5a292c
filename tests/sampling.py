"""Which tests of a kind are in the fast set, in that of `--all`, or under `--long` alone."""

from __future__ import annotations

import pytest


def marks(number: int, *, fast: int = 0, slow: int = 0) -> list[pytest.MarkDecorator]:
    """The marks of the test with this number, counted from 0.

    Args:
        number: the test's.
        fast: one in so many is in the fast set; 0 for none.
        slow: of the others, one in so many is in the set of `--all`; 0 for none.
    """
    if fast and number % fast == 0:
        return []
    return [pytest.mark.slow if slow and number % slow == 0 else pytest.mark.long]
