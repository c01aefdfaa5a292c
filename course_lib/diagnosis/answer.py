"""An answer before it is launched: its kernel, slips that its text shows, and how to launch it.

The slips are those that Python and Numba let pass, or refuse in words of their own: each is told at
its line, in the words of this course.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isqrt

import numpy as np

from course_lib.curriculum import Exercise
from course_lib.diagnosis.source.source import Source
from course_lib.diagnosis.source.tree import (
    has,
    names_bound,
    names_in,
    names_read,
    nodes_in,
    root_name,
    variables_in,
)
from course_lib.diagnosis.words import tell
from course_lib.emulator import Kernel, kernel_from
from course_lib.emulator.language.constants import ConstantList
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Capital

BARRIERS = ("syncthreads", "syncwarp")
REFUSED = {"@", "dot"}  # Numba has no code of them for a GPU; of the others, versions differ
# What NumPy's arrays do as a whole; in a kernel each thread would call it.
WHOLE = frozenset(
    """all any argmax argmin argsort choose clip compress conj copy cumprod cumsum diagonal dot fill
    max mean min nonzero partition prod ptp put repeat round searchsorted sort squeeze std sum
    swapaxes take tolist trace var""".split()
)


def seen_at_once(exercise: Exercise, kernel: Kernel, source: Source) -> list[Finding]:
    """Errors that leave nothing to launch."""
    if not isinstance(kernel.tree, ast.FunctionDef):
        return []
    return [
        *_not_for_the_gpu(kernel),
        *_values_returned(kernel.tree, exercise),
        *_output_never_written(exercise, kernel, source),
        *_whole_arrays(kernel, source),
    ]


def _not_for_the_gpu(kernel: Kernel) -> Iterator[Finding]:
    """A function that no GPU can launch."""
    if kernel.is_device:
        yield tell("device function", kernel.tree.lineno, name=kernel.name)
    elif kernel.is_for_cpu:
        yield tell("for the processor", kernel.tree.lineno, name=kernel.name)
    elif not kernel.is_decorated:
        yield tell("plain function", kernel.tree.lineno, name=kernel.name)


def _values_returned(tree: ast.FunctionDef, exercise: Exercise) -> Iterator[Finding]:
    for node in _own_nodes(tree):
        if isinstance(node, ast.Return) and not _is_nothing(node.value):
            output = tree.args.args[-1].arg if tree.args.args else exercise.output
            yield tell("value returned", node.lineno, output=output)
            return


def _is_nothing(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _own_nodes(tree: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions in it, from top to bottom."""
    waiting: list[ast.AST] = list(reversed(tree.body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            waiting += reversed(list(ast.iter_child_nodes(node)))


def _output_never_written(exercise: Exercise, kernel: Kernel, source: Source) -> Iterator[Finding]:
    output = kernel.parameters[-1] if kernel.parameters else ""
    rebound = output_rebound(output, source)
    if rebound and not source.accesses(output, store=True):
        yield rebound
    elif exercise.starts_from and _is_only_measured(output, kernel.tree):  # as it was given
        yield tell("no store", kernel.tree.lineno, kernel=kernel.name, output=output)


def _is_only_measured(array: str, tree: ast.AST) -> bool:
    """Is an array used only for `C.shape` and similar questions?"""
    named = {node for node in nodes_in(tree, ast.Name) if node.id == array}
    measured = {node.value for node in nodes_in(tree, ast.Attribute)}
    return named <= measured


def output_rebound(output: str, source: Source) -> Finding | None:
    """`C = …` for `C[…] = …`: the name then means a number, and the array is unchanged."""
    for statement in source.assignments(output):
        in_kernel = source.kernel in source.ancestors(statement)
        if in_kernel and (statement.value is None or root_name(statement.value) != output):
            return tell("output rebound", statement.lineno, output=output)
    return None


def _whole_arrays(kernel: Kernel, source: Source) -> Iterator[Finding]:
    """`A.sum()`, `C.fill(0)`, `A @ B`: no thread has a whole array to itself."""
    told: set[int] = set()
    for node in _own_nodes(source.kernel):
        said, operation = _whole_operation(node, kernel.parameters)
        if said and node.lineno not in told:  # type: ignore[attr-defined]
            told.add(node.lineno)  # type: ignore[attr-defined]
            kind = "whole arrays, refused" if operation in REFUSED else "whole arrays"
            yield tell(kind, node.lineno, said=said)  # type: ignore[attr-defined]


def _whole_operation(node: ast.AST, arrays: Sequence[str]) -> tuple[str, str]:
    """An operation on whole arrays, as it is written and by its name; empty for anything else."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            if name in arrays and method in WHOLE:
                return f"{name}.{method}()", method
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            return f"{ast.unparse(left)} @ {ast.unparse(right)}", "@"
    return "", ""


def uncalled_barriers(source: Source) -> list[int]:
    """The lines of statements that name a barrier and do not call it."""
    return [
        node.lineno
        for node in source.all(ast.Expr)
        if isinstance(node.value, ast.Attribute | ast.Name) and names_in(node.value) & {*BARRIERS}
    ]


def told_of_barriers(findings: list[Finding], source: Source) -> list[Finding]:
    """Findings with what an uncalled barrier has to do with them: it is why there are races."""
    lines = uncalled_barriers(source)
    if not lines:
        return findings
    name = ast.unparse(source.at_line(lines[0]) or source.kernel)
    races = [finding for finding in findings if finding.code.startswith("race-")]
    if not races:
        return [*findings, tell("needless barrier not called", lines[0], name=name)]
    seen = replace(races[0], other_line=None)
    message = Capital(seen.message)
    cause = tell.again("barrier not called", seen, lines[0], name=name, seen=message)
    return [cause, *(finding for finding in findings if finding not in races)]


# --- The answer, and whether there is one yet -----------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """A kernel, with the code around it.

    Attributes:
        kernel: its syntax tree.
        native: the object to launch on a real GPU, if the answer came as one and there is one.
        run_native: launches it: run_native(kernel, grid, block, *arrays).
    """

    kernel: Kernel
    native: object = None
    run_native: Callable[..., object] | None = None


def source_of(kernel: Kernel) -> Source:
    """The kernel's syntax tree with those of the device functions that it calls."""
    functions, waiting, constants = [], [kernel], {}
    while waiting:
        function = waiting.pop(0)
        if not isinstance(function.tree, ast.FunctionDef) or function.tree in functions:
            continue
        functions.append(function.tree)
        names = variables_in(function.tree)
        for name in sorted(names & function.namespace.keys()):
            called = function.namespace[name]
            if isinstance(called, (int, float, np.number)):
                constants[name] = called
            if isinstance(called, Kernel):
                waiting.append(called)
            elif hasattr(called, "py_func"):
                waiting.append(kernel_from(called))
    return Source(tuple(functions), kernel.parameters, constants)


def _is_empty(kernel: Kernel) -> bool:
    """Does it neither write an element nor call anything that might?"""
    for node in ast.walk(kernel.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            return False
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return False
    return not has(kernel.tree, ast.For, ast.While)


def _nothing_written(kernel: Kernel, output: str) -> Finding:
    """The finding for a kernel that writes no element."""
    for node in ast.walk(kernel.tree):
        if isinstance(node, ast.Return) and not _is_nothing(node.value):
            return tell("returned", node.lineno, output=output)
        if isinstance(node, ast.Name) and node.id == output and isinstance(node.ctx, ast.Store):
            return tell("rebound", node.lineno, output=output)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Compare):
            return tell("compared", node.lineno)
    if kernel.is_empty:
        return tell("empty", kernel.tree.lineno, kernel=kernel.name)
    made = nodes_in(kernel.tree, ast.Assign, ast.AugAssign)
    for one in sorted(made, key=lambda one: -one.lineno):
        if names_bound(one) and "cuda" not in names_read(one):  # else the place of a thread
            name = min(names_bound(one))
            return tell("only a variable", one.lineno, name=name, output=output)
    return tell("no store", kernel.tree.lineno, kernel=kernel.name, output=output)


def missing(exercise: Exercise, kernel: Kernel) -> Finding | None:
    """The finding for an answer that is not there yet."""
    wanted = exercise.parameters
    fits = len(kernel.parameters) == len(wanted)
    if _is_empty(kernel) and (fits or kernel.is_empty):
        output = (kernel.parameters or exercise.parameters)[-1]
        return _nothing_written(kernel, output)
    if not fits:
        own, line = ", ".join(kernel.parameters), kernel.tree.lineno
        words = {"kernel": kernel.name, "own_parameters": own, "signature": exercise.signature}
        return tell("other parameters", line, **words)
    return None


# --- With which constants, block and tile an answer is launched -----------------------------------
# `Exercise.launch` in `registry/exercise.py` works out grid and block from these. A name alone
# changes nothing: an integer BLOCK, or a TILE that the kernel never looks at, is the student's own.
# Where constants lie around that the kernel does not use, what they ask for is a guess; an answer
# that fails on one guess is tried on the next, so that none is refused for a name.


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
