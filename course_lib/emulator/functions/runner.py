"""What a function of the kernel language may ask of the machine that runs the kernel.

The machine knows these functions from the kernel's types; they know the machine as a `Runner`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np

from course_lib.emulator.language import types as T
from course_lib.emulator.state.lanes import LaneSpace, Mask, Value
from course_lib.emulator.state.memory import ArrayView, Memory


class Types(Protocol):
    """What is known of the function that is running."""

    @property
    def types(self) -> Mapping[ast.AST, T.Type]: ...


class RunningFunction(Protocol):
    """A function that is running: the lanes that have not returned from it, and who called it."""

    live: Mask

    @property
    def parent(self) -> RunningFunction | None: ...


class Events(Protocol):
    """What a function has to tell."""

    def raised(self, what: str, mask: Mask, line: int) -> None: ...
    def flops(self, line: int, mask: Mask, count: int, is_float64: bool, is_data: bool) -> None: ...
    def broken_warp(self, name: str, mask: Mask, line: int) -> None: ...
    def unnamed(self, name: str, lanes: np.ndarray, line: int) -> None: ...
    def left_out(self, name: str, active: np.ndarray, absent: np.ndarray, line: int) -> None: ...


class WideAccesses(Protocol):
    """Several neighbouring elements at once; `interval` counts the barriers passed."""

    interval: int

    def load_wide(
        self, view: ArrayView, index: Value, elements: int, active: Mask, line: int
    ) -> np.ndarray: ...
    def store_wide(
        self, view: ArrayView, index: Value, values: Sequence[Value], active: Mask, line: int
    ) -> None: ...


class Copies(Protocol):
    """Copies that go on while the lanes do something else."""

    def start(
        self,
        target: tuple[ArrayView, Value],
        source: tuple[ArrayView, Value],
        elements: int,
        valid: Value,
        active: Mask,
        line: int,
    ) -> None: ...
    def commit(self, active: Mask) -> None: ...
    def wait(self, groups: int, active: Mask) -> None: ...


class Runner(Protocol):
    """The machine, as a function of the kernel language sees it; see `Machine` for each method."""

    space: LaneSpace
    memory: Memory
    active: Mask
    line: int

    @property
    def typing(self) -> Types: ...
    @property
    def frame(self) -> RunningFunction: ...
    @property
    def observers(self) -> Events: ...
    @property
    def unit(self) -> WideAccesses: ...
    @property
    def copies(self) -> Copies: ...

    def convert(self, value: Any, dtype: T.Type) -> Any: ...
    def truth(self, value: Value) -> Value: ...
    def count_flops(self, node: ast.AST, dtype: np.dtype, each_lane: int) -> None: ...
    def meet_limit(
        self, kind: Literal["choice"], node: ast.expr, left: Value, right: Value
    ) -> None: ...
    def end(self, lanes: Mask) -> None: ...
    def load(self, view: ArrayView, indices: Sequence[Value]) -> Value: ...
    def store(self, view: ArrayView, indices: Sequence[Value], value: Value) -> None: ...
    def array_item(self, view: ArrayView, place: int) -> Any: ...
    def make_array(self, space: str, node: ast.Call) -> ArrayView: ...
    def atomic(
        self,
        node: ast.Call,
        view: ArrayView,
        index: Value | tuple[Any, ...],
        operands: Sequence[Value],
        combine: Callable[[Any, Any], Any],
    ) -> Value: ...
    def advance_random(
        self,
        states: ArrayView,
        index: Value,
        step: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    ) -> Value: ...
    def syncwarp(self, node: ast.Call) -> None: ...
    def print(self, node: ast.Call, values: Sequence[Any]) -> None: ...
