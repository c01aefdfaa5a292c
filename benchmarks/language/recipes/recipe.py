"""What a recipe is: how a project launches one of its kernels, in our own words.

A project's recipes are a table of parameters' names, which all its kernels share, and for each
kernel its launch and what differs. Arrays are drawn anew for every launch, from a fixed seed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SEED = 17


@dataclass(frozen=True)
class Array:
    """An argument that is drawn: how, from a generator."""

    draw: Callable[[np.random.Generator], Any]


def real(*shape: int, low: float = 0.0, high: float = 1.0, kind: str = "f8") -> Array:
    """Numbers of one floating type, or complex ones, between two bounds."""

    def draw(random: np.random.Generator) -> Any:
        numbers: Any = random.uniform(low, high, shape)
        if np.dtype(kind).kind == "c":
            numbers = numbers + 1j * random.uniform(low, high, shape)
        return numbers.astype(kind)

    return Array(draw)


def whole(*shape: int, low: int = 0, high: int, kind: str = "i8") -> Array:
    """Whole numbers from `low` to below `high`."""
    return Array(lambda random: random.integers(low, high, shape).astype(kind))


def full(*shape: int, value: Any = 0, kind: str = "f8") -> Array:
    return Array(lambda random: np.full(shape, value, kind))


def fixed(values: Any, kind: str = "f8") -> Array:
    """These values, in an array of their own for every launch."""
    return Array(lambda random: np.array(values, kind))


def rising(*shape: int, low: float = 0.0, high: float = 1.0, kind: str = "f8") -> Array:
    """Sorted numbers along the last axis."""
    return Array(lambda random: np.sort(random.uniform(low, high, shape)).astype(kind))


def states(count: int) -> Array:
    """States of Numba's generator of random numbers."""
    kind = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)

    def draw(random: np.random.Generator) -> Any:
        made = np.zeros(count, kind)
        for name in ("s0", "s1"):
            made[name] = random.integers(1, 2**63, count, dtype=np.uint64)
        return made

    return Array(draw)


def drawn(value: Any, random: np.random.Generator) -> Any:
    if isinstance(value, Array):
        return value.draw(random)
    if isinstance(value, tuple):
        return tuple(drawn(each, random) for each in value)
    return value


@dataclass(frozen=True)
class Recipe:
    """One launch: its size, its arguments by name, and names that the kernel finds around it."""

    grid: Any
    block: Any
    names: dict[str, Any]
    around: dict[str, Any] = field(default_factory=dict)
    shared: int = 0

    def arguments(self, kernel: Any) -> list[Any]:
        """The arguments in the order of the kernel's parameters. Raises `KeyError` for one
        that the recipe does not name."""
        random = np.random.default_rng(SEED)
        found: list[Any] = []
        for parameter in inspect.signature(kernel).parameters.values():
            value = drawn(self.names[parameter.name], random)
            if parameter.kind is parameter.VAR_POSITIONAL:
                found += value
            else:
                found.append(value)
        return found


@dataclass(frozen=True)
class Launch:
    """What a kernel's recipe says beside its project's table."""

    grid: Any
    block: Any
    names: dict[str, Any] = field(default_factory=dict)
    around: dict[str, Any] = field(default_factory=dict)
    shared: int = 0


def launch(grid: Any, block: Any, **names: Any) -> Launch:
    return Launch(grid, block, names)
