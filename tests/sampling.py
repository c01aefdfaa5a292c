"""Which tests of a kind are in the fast set, in that of `--all`, or under `--long` alone."""

from collections.abc import Iterable
from typing import Any

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


def one_in(count: int, names: Iterable[str], first: int = 0) -> list[Any]:
    """Cases by their names: one in so many is in the fast set, the others in that of `--all`.

    Args:
        count: how many are for one in the fast set.
        names: of the cases.
        first: the number of the first in the fast set, counted from 0.
    """
    return [
        pytest.param(name, id=name, marks=marks(number - first, fast=count, slow=1))
        for number, name in enumerate(names)
    ]


def few(cases: Iterable[Any], fast: int = 1, slow: int | None = None) -> list[Any]:
    """Cases of one kind: the first are in the fast set, the next in that of `--all`.

    Args:
        cases: as `parametrize` takes them, a tuple where there are several names.
        fast: how many are tried every time.
        slow: how many of the others are in the set of `--all`, the rest under `--long`; all of
            them where it is not given.
    """
    every = list(cases)
    last = len(every) if slow is None else fast + slow
    return [
        *every[:fast],
        *(_marked(case, pytest.mark.slow) for case in every[fast:last]),
        *(_marked(case, pytest.mark.long) for case in every[last:]),
    ]


def _marked(case: Any, mark: pytest.MarkDecorator) -> Any:
    if isinstance(case, type(pytest.param())):
        return case._replace(marks=[*case.marks, mark])
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=mark)
