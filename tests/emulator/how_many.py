"""How many random programs a test draws: some for `--all`, many for `--long` and every night."""

import os
from typing import Any

import pytest


def some_or_many(some: int, many: int, few: int = 0) -> list[Any]:
    """The values of a test's parameter `count`, with the marks of the sets that they belong to."""
    if os.environ.get("HYPOTHESIS_PROFILE") == "nightly":
        some = many
    marked = [
        pytest.param(some, marks=pytest.mark.slow),
        pytest.param(many, marks=pytest.mark.long),
    ]
    return [few, *marked] if few else marked
