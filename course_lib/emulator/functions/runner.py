"""What atomic functions do to cells: as if the lanes did so one after the other."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from course_lib.emulator.budget import Budget, StepCounter
from course_lib.emulator.language import types as T
from course_lib.emulator.state.lanes import LaneSpace, Mask, Value
from course_lib.emulator.state.memory import ArrayView, Memory


@dataclass(frozen=True, eq=False)
class AtomicUpdate:
    """What an atomic function does to a cell.

    Attributes:
        operands: its values, one or two.
        combine: from the old value and the operands to the new one.
        returns_old: whether the kernel uses the value that each lane found.
    """

    operands: Sequence[Value]
    combine: Callable[[Any, Any], Any]
    returns_old: bool

    @property
    def one_by_one(self) -> bool:
        """Whether the lanes take turns: NumPy does many at once, but tells no old values."""
        return self.returns_old or not isinstance(self.combine, np.ufunc)

    def carry_out(
        self, storage: np.ndarray, place: np.ndarray, operands: Sequence[np.ndarray]
    ) -> np.ndarray:
        """Update cells; the value that each lane found, or zeros if nobody asks."""
        old = np.zeros(len(place), storage.dtype)
        if isinstance(self.combine, np.ufunc) and not self.returns_old:
            self.combine.at(storage, place, operands[0])
            return old
        for lane, cell in enumerate(place):
            old[lane] = storage[cell]
            operand = operands[0][lane] if len(operands) == 1 else tuple(v[lane] for v in operands)
            storage[cell] = self.combine(storage[cell], operand)
        return old


# --- What a function of the kernel language may ask of the machine that runs the kernel -----------
# The machine knows these functions from the kernel's types; they know the machine as a `Runner`.


class Types(Protocol):
    """What is known of the function that is running."""

    @property
    def types(self) -> Mapping[ast.AST, T.Type]: ...
    @property
    def layouts(self) -> Mapping[ast.Call, tuple[int, ...]]: ...


class RunningFunction(Protocol):
    """A function that is running: the lanes that have not returned from it, and who called it."""

    live: Mask

    @property
    def parent(self) -> RunningFunction | None: ...


class Events(Protocol):
    """What a function has to tell."""

    def raised(self, what: str, mask: Mask, line: int) -> None: ...
    def flops(self, line: int, mask: Mask, count: int, is_float64: bool, is_data: bool) -> None: ...
    def multiplied(self, a: np.ndarray, b: np.ndarray) -> None: ...
    def printed(self, texts: Sequence[str], more: int) -> None: ...
    def syncwarp(self, mask: Mask) -> None: ...
    def broken_warp(self, name: str, mask: Mask, line: int) -> None: ...
    def no_such_lane(
        self, name: str, lanes: np.ndarray, wanted: np.ndarray, active: np.ndarray, line: int
    ) -> None: ...
    def unnamed(self, name: str, lanes: np.ndarray, line: int) -> None: ...
    def left_out(self, name: str, active: np.ndarray, absent: np.ndarray, line: int) -> None: ...


class Accesses(Protocol):
    """Accesses to memory beside loads and stores; `interval` counts the barriers passed."""

    interval: int

    def load_wide(
        self, view: ArrayView, index: Value, elements: int, active: Mask, line: int
    ) -> np.ndarray: ...
    def store_wide(
        self, view: ArrayView, index: Value, values: Sequence[Value], active: Mask, line: int
    ) -> None: ...
    def atomic(
        self,
        view: ArrayView,
        indices: Sequence[Value],
        update: AtomicUpdate,
        active: Mask,
        line: int,
    ) -> Value: ...
    def replace(
        self,
        view: ArrayView,
        indices: Sequence[Value],
        step: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
        active: Mask,
        line: int,
    ) -> Value: ...


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


class Substitutes(Protocol):
    """Values for what nobody gave, in a launch that tries out whether they matter."""

    def value(self, name: str, line: int, dtype: np.dtype, space: LaneSpace) -> Value | None: ...


class Runner(Protocol):
    """The machine, as a function of the kernel language sees it; see `Machine` for each method."""

    space: LaneSpace
    memory: Memory
    active: Mask
    line: int
    statement: ast.stmt | None
    steps: StepCounter
    budget: Budget
    dynamic_shared_bytes: int

    @property
    def typing(self) -> Types: ...
    @property
    def instead(self) -> Substitutes | None: ...
    @property
    def frame(self) -> RunningFunction: ...
    @property
    def observers(self) -> Events: ...
    @property
    def unit(self) -> Accesses: ...
    @property
    def copies(self) -> Copies: ...

    def evaluate(self, node: ast.expr) -> Any: ...
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
