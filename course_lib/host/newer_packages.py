"""What newer packages break, each with its mend: one table, and the mends that are code.

`python3 course.py test --upstream` tries the newest packages of the day and names from this table
what it meets; docs/upstream.md says the same to people.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Breakage:
    """One thing that no longer works as it did.

    Attributes:
        packages: which versions of which packages do it.
        sign: what stands in the error that it ends in.
        mend: what we did about it, and where; or what a person has to do.
    """

    packages: str
    sign: str
    mend: str


BREAKAGES = (
    Breakage(
        packages="numba-cuda up to 0.30.4 with NumPy 2.5 or newer",
        sign="has no attribute 'row_stack'",
        mend="newer_packages.numpy_of_numba_cuda gives the name back while numba-cuda is imported; "
        "without the course: numpy<2.5.",
    ),
)


def named(text: str) -> list[Breakage]:
    """The breakages that this output of a program shows."""
    return [breakage for breakage in BREAKAGES if breakage.sign in text]


@contextlib.contextmanager
def numpy_of_numba_cuda() -> Iterator[None]:
    """NumPy as numba-cuda expects it: with `row_stack`, which NumPy 2.5 no longer has.

    numba-cuda up to 0.30.4 names it once, while it is imported, to say how it compiles it; no
    kernel uses it. Where NumPy has it, nothing is done.
    """
    import numpy as np  # the table has to do without packages, for `course.py test --help`

    if hasattr(np, "row_stack"):
        yield
        return

    def row_stack(*arrays: Any, **options: Any) -> Any:
        return np.vstack(*arrays, **options)

    vars(np)["row_stack"] = row_stack
    try:
        yield
    finally:
        del vars(np)["row_stack"]


def load_numba_cudas_compiler() -> None:
    """Import the part of numba-cuda that would fail at the first kernel that is compiled.

    What else may be missing there is left for the first kernel to say.
    """
    with numpy_of_numba_cuda(), contextlib.suppress(ImportError):
        importlib.import_module("numba.cuda.np.arrayobj")
