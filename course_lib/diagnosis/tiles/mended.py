"""Looks for the one small change with which a tile kernel is right in every launch."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from course_lib.diagnosis.repair.all_edits import edits_of
from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.ingredients import Ingredients
from course_lib.diagnosis.repair.of_tiles import TileChanges
from course_lib.diagnosis.tiles.tile_launches import STEPS, TileLauncher, TileTrial
from course_lib.emulator import Kernel
from course_lib.emulator.language import types as T
from course_lib.emulator.language.typings import Typing
from course_lib.registry import entry_checks as entries
from course_lib.tiles import EmulatedTiles
from course_lib.tiles.machine import TileMachine
from course_lib.tiles.memory import ArrayArgument
from course_lib.tiles.triton_language import Pointers
from course_lib.tiles.values import TileValue
from course_lib.wording.sentences import Line

STEPS_OF_ALL_CHANGES = 100_000  # statements
STEPS_WITH_AN_IDEA = 30_000  # where it is known what the numbers are, and a change adds the line
STEPS_OF_A_LAUNCH = 25  # what it costs beside its statements
MORE_STEPS = 500  # of one program, than all take without a change
FARTHEST = 3  # from what was written, that a change may be
OF_KIND = {"bool": T.BOOL, "int": T.INT64, "float": T.FLOAT32}
Types = dict[ast.AST, T.Type]


@dataclass
class TileSearch:
    """The changes to one tile kernel that make it right.

    Args:
        launcher: launches it.
        kernel: the kernel.
        trials: what its launches showed, one of them wrong.
        suspect: the line to which a finding points, if one does.
        steps: of the machine, that may be spent.
    """

    launcher: TileLauncher
    kernel: EmulatedTiles
    trials: Sequence[TileTrial]
    suspect: int | None
    steps: int = STEPS_OF_ALL_CHANGES

    def repair(self) -> Edit | None:
        """The smallest change with which every launch is right; None if none is found.

        One program of one launch sifts them, one of which nothing is right; then come all launches.
        """
        order = sorted(self.trials, key=lambda trial: (trial.right, trial.size))
        first, only = self.telling(order)
        seen = types_seen(self.launcher, self.kernel, first)
        edits = [edit for edit in _edits(self.launcher, self.kernel, seen) if edit.cost <= FARTHEST]
        for edit in sorted(edits, key=self.distance):
            changed = _changed(self.kernel, edit)
            if self.is_right(changed, first, only) and self.is_right_everywhere(changed, order):
                return edit
            if self.steps <= 0:
                break
        return None

    def telling(self, order: Sequence[TileTrial]) -> tuple[TileTrial, int | None]:
        """The wrong launch with which changes are sifted, and one of its programs; None for all.

        Larger launches than the smallest have more to say, and one program costs no more in them.
        """
        wrong = [trial for trial in order if not trial.right]
        usual = [trial for trial in wrong if trial.tried.case.along is None]
        wrong = usual or wrong
        for trial in sorted(wrong, key=lambda trial: trial.outcome.expected.size == 1):
            count = prod(trial.grid)
            for number in dict.fromkeys((count - 1, 0, count // 2)):
                again = self.launcher.run(trial.tried, self.kernel, only=number)
                if not again.right_as_far_as_written:
                    return trial, number
        return wrong[0], None

    def is_right(self, kernel: EmulatedTiles, trial: TileTrial, only: int | None = None) -> bool:
        """Is a launch right with a change, or a part of it as far as it is written?"""
        most = STEPS if only is None else trial.steps + MORE_STEPS
        again = self.launcher.run(trial.tried, kernel, most, only)
        self.steps -= again.steps + STEPS_OF_A_LAUNCH
        return again.right if only is None else again.right_as_far_as_written

    def is_right_everywhere(self, kernel: EmulatedTiles, order: Sequence[TileTrial]) -> bool:
        """Is every launch right, those as well that were not made after one that did not end?"""
        made = [trial.tried for trial in order]
        others = (case for case in self.launcher.cases() if case not in made)
        return all(self.is_right(kernel, trial) for trial in order) and all(
            self.launcher.run(tried, kernel).right for tried in others
        )

    def distance(self, edit: Edit) -> tuple[float, int]:
        """Of two changes that are alike the later one: a tile is to fit those before it."""
        return edit.cost - (0.5 if edit.line == self.suspect else 0), -edit.line


def _changed(kernel: EmulatedTiles, edit: Edit) -> EmulatedTiles:
    """The kernel with a change in itself, or in a function that it calls."""
    tree = edit.changed()
    assert isinstance(tree, ast.FunctionDef)
    functions = {
        name: replace(function, tree=tree) if function.tree is edit.tree else function
        for name, function in kernel.program.functions.items()
    }
    program = replace(kernel.program, functions=functions)
    return replace(kernel, program=program, function=functions[kernel.function.name])


def _edits(launcher: TileLauncher, kernel: EmulatedTiles, seen: Types) -> Iterator[Edit]:
    """The changes of the kernel, and of the functions of the text that it calls."""
    task, program = launcher.task, kernel.program
    given, answer = ({line.rstrip() for line in text.splitlines()} for text in
                     (task.given, task.answer))  # fmt: skip
    for function in program.functions.values():
        tree = function.tree
        if not any(node in seen for node in ast.walk(tree)):
            continue
        numbers = function.parameters[len(task.parameters) :] if function.is_kernel else ()
        arrays = function.parameters[: len(task.parameters)] if function.is_kernel else ()
        axes = [1 if function.language == "triton" else len(entries.axes(shape))
                for shape in task.shapes]  # fmt: skip
        named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        numbers = (*numbers, *(k for k, v in program.constants.items() if type(v) is int))
        source = Kernel(function.name, function.parameters, tree, "", 1, {})
        typing = Typing(source, seen)
        constants = [name for name in numbers if name in named or name in function.parameters]
        of_tiles = TileChanges(
            Ingredients(typing, constants),
            dict(zip(arrays, axes, strict=False)),
            has_masks=function.language == "triton",
        )
        for edit in (*edits_of(typing, constants, given & answer), *of_tiles):
            if edit.line < Line.FIRST_AROUND:
                yield edit


def types_seen(launcher: TileLauncher, kernel: EmulatedTiles, trial: TileTrial) -> Types:
    """What kind of value each expression had in a launch."""
    seen: Types = {}

    class Watching(TileMachine):
        def value(self, node: ast.expr, names: dict[str, Any]) -> Any:
            value = super().value(node, names)
            if node not in seen and (kind := _kind(value)) is not None:
                seen[node] = kind
            return value

        def _bind(self, target: ast.expr, value: Any, names: dict[str, Any]) -> None:
            super()._bind(target, value, names)
            if isinstance(target, ast.Name) and (kind := _kind(value)) is not None:
                seen.setdefault(target, kind)

    launcher.run(trial.tried, replace(kernel, machine=Watching))
    return seen


def _kind(value: Any) -> T.Type | None:
    match value:
        case TileValue():
            return OF_KIND[value.dtype.kind]
        case ArrayArgument():
            return T.ArrayType(T.FLOAT32, len(value.shape))
        case Pointers():
            return T.ArrayType(T.FLOAT32, 1)
        case bool():
            return T.BOOL
        case int():
            return T.INT64
        case float():
            return T.FLOAT32
        case range():
            return T.RangeType(T.INT64)
    return None
