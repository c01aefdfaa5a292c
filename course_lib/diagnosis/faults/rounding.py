"""Does an answer depend on how each product is rounded? A GPU may fuse a product with a sum."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import numpy as np

from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.trial import Trial, counts_of, exact_of
from course_lib.emulator.functions.intrinsics import Cast
from course_lib.emulator.inference.typings import Typing
from course_lib.emulator.inference.whole_kernel import all_typings
from course_lib.findings import Finding, finding

TESTS = (ast.If, ast.IfExp, ast.While, ast.Assert)


def depends_on_rounding(
    launcher: Launcher, trials: Sequence[Trial], unsteady: Trial | None
) -> Finding | None:
    """An answer that is right, or cheap, only where every product is rounded by itself.

    `unsteady`: a launch that went wrong, and is right with products rounded to the nearest number.
    """
    exact = exact_of(trials)
    if exact is None or not all(trial.right for trial in trials):
        return None
    lines = _lines_that_test_numbers(launcher)
    seen = unsteady or (launcher.run(exact.case, either_rounding=True) if lines else exact)
    if seen.right and counts_of(seen.profile) == counts_of(exact.profile):
        return None
    message = (
        "What comes out, or what it costs, depends on how products are rounded: a GPU may add to a "
        "product first and round once."
    )
    hint = "Does a test ask whether two numbers are equal, where rounding alone parts them?"
    found = finding("wrong-result", message, min(lines, default=None), hint, "error")
    return launcher.seen_in(seen, found, is_told=False)


def _lines_that_test_numbers(launcher: Launcher) -> set[int]:
    """The lines on which a number that is no integer decides what happens next."""
    typings = [each for one in launcher.typings.values() for each in all_typings(one, set())]
    return {
        node.lineno
        for typing in typings
        for node in ast.walk(typing.kernel.tree)
        if isinstance(node, ast.expr | ast.stmt)
        if any(_is_float(typing, each) for each in _decides(typing, node))
    }


def _decides(typing: Typing, node: ast.AST) -> Iterator[ast.expr]:
    """What a comparison, a test or a cast to an integer looks at."""
    if isinstance(node, ast.Compare):
        yield from (node.left, *node.comparators)
    elif isinstance(node, TESTS):
        yield node.test
    elif isinstance(node, ast.BoolOp):
        yield from node.values
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Call) and isinstance(typing.calls.get(node), Cast):
        result = typing.types.get(node)
        yield from node.args if isinstance(result, np.dtype) and result.kind in "iub" else ()


def _is_float(typing: Typing, node: ast.expr) -> bool:
    kind = typing.types.get(node)
    return isinstance(kind, np.dtype) and kind.kind == "f"
