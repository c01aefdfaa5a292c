"""The calls and the loops that are running, with their variables and lanes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.state.lanes import Mask

Path = tuple[int, ...]  # the lines of the calls that led to a place


@dataclass
class RunningLoop:
    """A loop that is running: the lanes that left it, or one round of it; the turns that it has
    made, and those that it would make if no lane left it early, where that is known.
    """

    node: ast.For | ast.While
    broken: list[Mask] = field(default_factory=list)
    continued: list[Mask] = field(default_factory=list)
    turns: int = 0
    count: int = 0


@dataclass
class Frame:
    """One call of a function: its variables and the lanes that have not returned from it.

    `path` are the lines of the calls that led here. `settled` holds the values of those parts of
    the running statement that were worked out before a barrier in the midst of it (see waiting.py).
    `depth` says how deeply calls of functions by themselves lie in each other here.
    """

    typing: Typing
    variables: dict[str, Any]
    live: Mask
    parent: Frame | None = None
    result: Any = None
    loops: list[RunningLoop] = field(default_factory=list)
    assigned_under: dict[str, Mask] = field(default_factory=dict)
    defined: dict[str, Mask] = field(default_factory=dict)
    path: Path = ()
    settled: dict[ast.AST, Any] = field(default_factory=dict)
    depth: int = 0
