"""What each step from rung 11 to rung 12 changes: what the host chooses, which lines run, what is
counted.

A step runs on the emulator, so none of this needs a GPU.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from course_lib.kernels import rung_12_tma, tma_steps
from course_lib.kernels.accuracy import bits_of_bf16
from course_lib.kernels.tile_plan import TilePlan, plan_for
from course_lib.kernels.tma_launch import EMULATED_GPU, TmaRung
from course_lib.kernels.tma_steps import STEPS

M, N, K = 256, 256, 64  # of the product that is counted
FILE, STEPS_FILE = rung_12_tma.__name__, tma_steps.__name__
CHOICES = ("plan", "stays", "by_tma", "result", "overlap")  # of the host, by their names in TmaRung


class RunLine(NamedTuple):
    """A line that ran: the device function that it stands in, and its text."""

    function: str
    text: str


@dataclass(frozen=True)
class StepRun:
    """A step on the emulator: C is M x N, as many steps of k as K.

    Attributes:
        loaded, stored: bytes of global memory.
        stores: requests of warps, or of TMA, to store in global memory.
        blocks: of the launch.
        lines: those of the kernel and of its device functions that ran, in the text's order.
    """

    loaded: int
    stored: int
    stores: int
    blocks: int
    lines: tuple[RunLine, ...]


@cache
def run_of(name: str) -> StepRun:
    """The run of a step, by its name in STEPS; made once.

    Raises:
        KeyError: if there is no such step.
    """
    step, generator = STEPS[name], np.random.default_rng(0)
    A, B = (
        bits_of_bf16(generator.integers(-3, 4, shape).astype(np.float32))
        for shape in ((M, K), (K, N))
    )
    profile = step.emulate(A, B, np.zeros((M, N), step.result))
    return StepRun(
        profile.global_load_bytes,
        profile.global_store_bytes,
        profile.global_store_requests,
        int(np.prod(profile.grid)),
        tuple(_lines(step.kernel_of(_plan(step)), set(profile.lines))),
    )


def counts(*names: str) -> str:
    """A table of some steps: bytes loaded and stored, requests to store, and blocks."""
    rows = [f"{'':12}{'bytes loaded':>14}{'bytes stored':>14}{'stores':>8}{'blocks':>8}"]
    for name in names:
        run = run_of(name)
        rows.append(f"{name:12}{run.loaded:14,}{run.stored:14,}{run.stores:8,}{run.blocks:8}")
    return "\n".join(rows)


def changes(name: str) -> str:
    """What a step changes in the one before it: the host's choices, then the lines that run.

    Raises:
        ValueError: if there is no such step, or none before it.
    """
    others = [*STEPS][1:]
    if name not in others:
        raise ValueError(f"{name} is no step with one before it: choose one of {', '.join(others)}")
    before = [*STEPS][others.index(name)]
    chosen = "; ".join(_choices(STEPS[before], STEPS[name]))
    lines = [*_difference(run_of(before).lines, run_of(name).lines)]
    return "\n".join([f"{name}: {chosen}", *(lines or ["  (no line of the kernel)"])])


def _choices(old: TmaRung, new: TmaRung) -> Iterator[str]:
    for choice in CHOICES:
        if getattr(old, choice) != getattr(new, choice):
            was, becomes = (_in_words(choice, step) for step in (old, new))
            yield f"{choice} = {becomes}, was {was}"


def _in_words(choice: str, step: TmaRung) -> str:
    if choice == "plan":
        plan = _plan(step)
        return f"tiles of {plan.rows} x {plan.columns} in clusters of {plan.cluster}"
    return {"uint16": "bfloat16"}.get(getattr(step, choice), str(getattr(step, choice)))


def _plan(step: TmaRung) -> TilePlan:
    return step.plan or plan_for(M, N, K, EMULATED_GPU.sms)


def _difference(old: tuple[RunLine, ...], new: tuple[RunLine, ...]) -> Iterator[str]:
    """The lines that ran in one of both, under the name of their function.

    Of a function that is gone as a whole the name is enough.
    """
    kept, heading = {line.function for line in new}, ""
    for sign, number_old, number_new in _edits(old, new):
        line = old[number_old] if sign == "-" else new[number_new]
        if line.function != heading:
            heading = line.function
            yield f"  {heading}:" if heading in kept else f"- {heading}, all of it"
        if heading in kept:
            yield f"{sign} {line.text}"


def _edits(old: tuple[RunLine, ...], new: tuple[RunLine, ...]) -> Iterator[tuple[str, int, int]]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if kind != "equal":
            yield from (("-", number, 0) for number in range(old_from, old_to))
            yield from (("+", 0, number) for number in range(new_from, new_to))


def _lines(kernel: Any, numbers: set[int]) -> Iterator[RunLine]:
    """The lines of a kernel and of what it calls, of the statements that begin with one of these
    numbers."""
    functions = {function.__code__: function for function in _functions(kernel.py_func)}
    for function in sorted(
        functions.values(), key=lambda function: function.__code__.co_firstlineno
    ):
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
        ran = {number - first + 1 for number in numbers}
        for number, length, ending in sorted({*_statements(tree, ran)}):
            for line in lines[number - 1 : number - 1 + length]:
                yield RunLine(function.__name__, line.rstrip() + ending)


def _statements(tree: ast.Module, ran: set[int]) -> Iterator[tuple[int, int, str]]:
    """The line at which each statement begins that ran, how many it has (of one with a body those
    before it), and what stands for a body that was left out.

    Of a branch that is decided when the kernel is compiled, one side is there: "if a: …", "else:".
    """
    (function,) = tree.body
    for node in ast.walk(function):
        if not isinstance(node, ast.stmt) or node is function or _is_text(node):
            continue
        body, otherwise = getattr(node, "body", None), getattr(node, "orelse", None)
        last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
        taken = any(statement.lineno in ran for statement in body or ())
        other = any(statement.lineno in ran for statement in otherwise or ())
        if node.lineno in ran and (taken or other or not isinstance(node, ast.If)):
            left_out = body and not taken
            yield node.lineno, max(1, last - node.lineno + 1), " …" if left_out else ""
        if body and other:
            yield body[-1].end_lineno + 1, 1, ""  # else:


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _functions(function: Any) -> Iterator[Any]:
    """A kernel's function, and those of the same rung that it calls."""
    found = [function]
    for reached in found:
        yield reached
        named = inspect.getclosurevars(reached)
        for called in {**named.globals, **named.nonlocals}.values():
            code = getattr(called, "py_func", None)
            if code is not None and code not in found and code.__module__ in (FILE, STEPS_FILE):
                found.append(code)
