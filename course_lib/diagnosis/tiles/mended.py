"""Looks for the one small change with which a tile kernel is right in every launch."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from course_lib.diagnosis.repair.edit import Edit
from course_lib.diagnosis.repair.edits import edits_of
from course_lib.diagnosis.repair.ingredients import Ingredients
from course_lib.diagnosis.repair.of_tiles import of_tile_expressions
from course_lib.diagnosis.tiles.tile_launches import TileLauncher, TileTrial
from course_lib.emulator import Kernel
from course_lib.emulator.language import types as T
from course_lib.emulator.language.typings import Typing
from course_lib.tiles import EmulatedTiles
from course_lib.tiles.machine import TileMachine
from course_lib.tiles.memory import ArrayArgument
from course_lib.tiles.triton_language import Pointers
from course_lib.tiles.values import TileValue
from course_lib.wording.sentences import Line

STEPS_OF_ALL_CHANGES = 120_000  # statements
STEPS_OF_A_LAUNCH = 30  # what it costs beside its statements
MORE_STEPS = 200  # of a launch, than without a change
OF_KIND = {"bool": T.BOOL, "int": T.INT64, "float": T.FLOAT32}
Types = dict[ast.AST, T.Type]


def edit_that_repairs(
    launcher: TileLauncher, kernel: EmulatedTiles, trials: Sequence[TileTrial], suspect: int | None
) -> Edit | None:
    """The first small change with which every launch is right; the nearest to a suspected line
    come first."""
    order = sorted(trials, key=lambda trial: (trial.right, trial.size))
    seen = types_seen(launcher, kernel, order[0])
    edits = sorted(_edits(launcher, kernel, seen), key=lambda edit: _distance(edit, suspect))
    left = STEPS_OF_ALL_CHANGES
    for edit in edits:
        changed = _changed(kernel, edit)
        for trial in order:
            most = max(1, min(left, 2 * trial.steps + MORE_STEPS))
            again = launcher.run(trial.tried, changed, most)
            left -= again.steps + STEPS_OF_A_LAUNCH
            if not again.right or left <= 0:
                break
        else:
            return edit
        if left <= 0:
            return None
    return None


def _distance(edit: Edit, suspect: int | None) -> float:
    return edit.cost - (0.5 if edit.line == suspect else 0)


def _changed(kernel: EmulatedTiles, edit: Edit) -> EmulatedTiles:
    """The kernel with a change in itself, or in a function that it calls."""
    functions = {
        name: replace(each, tree=edit.changed()) if each.tree is edit.tree else each
        for name, each in kernel.program.functions.items()
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
        named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        numbers = (*numbers, *(k for k, v in program.constants.items() if type(v) is int))
        source = Kernel(function.name, function.parameters, tree, "", 1, {})
        typing = Typing(source, seen)
        constants = [name for name in numbers if name in named or name in function.parameters]
        for edit in (
            *edits_of(typing, constants, given & answer),
            *of_tile_expressions(Ingredients(typing, constants)),
        ):
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

    launcher.run(trial.tried, replace(kernel, machine=Watching), trial.steps)
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
