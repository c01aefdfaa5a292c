"""With which constants, block and tile an answer is launched.

`Exercise.launch` in `registry/exercise.py` works out grid and block from these. A name alone
changes nothing: an integer BLOCK, or a TILE that the kernel never looks at, is the student's own.
Where constants lie around that the kernel does not use, what they ask for is a guess; an answer
that fails on one guess is tried on the next, so that none is refused for a name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt

import numpy as np

from course_lib.curriculum import Exercise
from course_lib.diagnosis.source.source import Source
from course_lib.emulator.language.constants import ConstantList

MOST_THREADS = 1024  # of a block
_CONSTANT = (int, float, np.generic, tuple, str)  # what stands for itself in a kernel


@dataclass(frozen=True)
class LaunchConfiguration:
    """One way to launch an answer.

    Attributes:
        constants: of the answer, that replace the exercise's.
        adopts: whether the size of the tile is read off the shared arrays.
    """

    constants: Mapping[str, object] = field(default_factory=dict)
    adopts: bool = False


@dataclass(frozen=True)
class Launched:
    """How an answer was launched where that is not the usual way, or not as it may have meant.

    Attributes:
        block: threads per block, x first.
        constants: of the answer, that made it so, as pairs.
        tile: the side of the tile that was read off the shared arrays; 0 if it was not.
        passed_over: a BLOCK of the answer that is no block of this exercise, as sizes.
    """

    block: tuple[int, ...]
    constants: tuple[tuple[str, object], ...] = ()
    tile: int = 0
    passed_over: tuple[int, ...] = ()

    def __str__(self) -> str:
        sizes = " x ".join(map(str, self.block))
        said = f"Launched in blocks of {sizes} threads"
        if self.tile:
            return f"{said}, as the tiles in shared memory are {self.tile} x {self.tile}."
        if self.constants:
            return f"{said} ({', '.join(f'{name} = {value}' for name, value in self.constants)})."
        if self.passed_over:
            return f"{said}: BLOCK = {self.passed_over} has not as many sizes as these blocks."
        return f"{said}, as asked for."


def choices(
    exercise: Exercise, source: Source, names: Mapping[str, object], block: Sequence[int] | None
) -> list[LaunchConfiguration]:
    """The ways to launch an answer, the most likely first.

    Args:
        exercise: what is asked.
        source: the kernel and its device functions.
        names: what the names outside the kernel stand for.
        block: the caller's own choice of a block, which comes before BLOCK.
    """
    used = names_used(source)
    sizes = {name: value for name, value in _offered(exercise, names) if name in used}
    unused = {name: value for name, value in _offered(exercise, names) if name not in used}
    shape = {} if block is not None else _block_of(exercise, names)
    adopts = _may_adopt(exercise, block) and "TILE" not in sizes
    found = [LaunchConfiguration({**sizes, **shape}, adopts)]
    if shape and "BLOCK" not in used:  # it may be left over from another attempt
        found.append(LaunchConfiguration(sizes, adopts))
    if adopts:
        found.append(LaunchConfiguration(sizes))
    if unused:  # the kernel may use what was worked out from them
        found.append(LaunchConfiguration({**sizes, **unused, **shape}))
    return found


def block_passed_over(
    exercise: Exercise, source: Source, names: Mapping[str, object]
) -> tuple[int, ...]:
    """A BLOCK that the kernel uses as if it were a block of this exercise; () if there is none."""
    value = names.get("BLOCK")
    if not isinstance(value, tuple) or not exercise.block_axes or _block_of(exercise, names):
        return ()
    return tuple(value) if "BLOCK" in names_used(source) else ()


def names_used(source: Source) -> set[str]:
    """The names from outside that a kernel and its device functions look at."""
    used: set[str] = set()
    for function in source.functions:
        loaded: set[str] = set()
        own: set[str] = set()
        for node in ast.walk(function):
            if isinstance(node, ast.Name):
                (loaded if isinstance(node.ctx, ast.Load) else own).add(node.id)
            elif isinstance(node, ast.arg):
                own.add(node.arg)
        used |= loaded - own
    return used


def _offered(exercise: Exercise, names: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The sizes that the exercise lets an answer choose, and that this answer does choose."""
    for name in exercise.constants:
        value = names.get(name)
        if isinstance(value, _CONSTANT):
            yield name, value


def _block_of(exercise: Exercise, names: Mapping[str, object]) -> dict[str, object]:
    """BLOCK, where it is a tuple with as many sizes as the exercise offers."""
    value = names.get("BLOCK")
    if not isinstance(value, tuple) or isinstance(value, ConstantList):
        return {}
    return {"BLOCK": value} if len(value) in exercise.block_axes else {}


# --- Tiles under a name of the student's own ---------------------------------------------------


def _may_adopt(exercise: Exercise, block: Sequence[int] | None) -> bool:
    """Is the tile the one size that an answer chooses?"""
    return block is None and set(exercise.constants) == {"TILE"}


def tile_of(shapes: Sequence[tuple[int, ...]]) -> int | None:
    """The side of the square tiles that shared arrays of these shapes hold, padded or not."""
    sides = {_side(shape) for shape in shapes}
    side = sides.pop() if len(sides) == 1 else None
    return side if side and side**2 <= MOST_THREADS else None


def _side(shape: tuple[int, ...]) -> int | None:
    if len(shape) == 1:
        side = isqrt(shape[0])
        return side if shape[0] in (side * side, side * (side + 1)) else None
    high, wide = shape[-2:]  # several tiles may lie in one array
    return min(high, wide) if abs(high - wide) <= 1 else None
