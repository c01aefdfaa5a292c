"""What one of the thirty kernels is launched on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    """One kernel with its launch.

    Attributes:
        launch: grid and block.
        arguments: makes its arguments anew, the same ones at each call.
        turns: what stands behind the arguments in one launch after another, where the host loops.
    """

    kernel: Callable[..., None]
    launch: tuple[Any, Any]
    arguments: Callable[[], tuple[Any, ...]]
    turns: Sequence[tuple[Any, ...]] = ((),)


def ceil_div(a: int, b: int) -> int:
    """How many parts of size b it takes to hold a."""
    return -(-a // b)
