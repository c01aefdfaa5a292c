"""Which number of an answer stands for a size: found by an edit that makes another size right.

A task whose arrays have one fixed size can't tell `range(12)` from `range(x.shape[0])`. So a right
answer is launched once more, on arrays that are longer along one axis; where that goes wrong, each
number in a test or in the head of a loop is changed as the size has changed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace

from course_lib.diagnosis.problems.problem import OtherSize
from course_lib.diagnosis.sizes.words import tell
from course_lib.diagnosis.source.source import Source
from course_lib.emulator import Kernel
from course_lib.wording.findings import Finding


def size_finding(
    kernel: Kernel, source: Source, size: OtherSize, part: str, is_right: Callable[[Kernel], bool]
) -> Finding:
    """The finding for an answer that is right for the usual size alone.

    Args:
        kernel: that answer.
        source: it, with the functions that it calls.
        size: what was longer.
        part: where the result is wrong then.
        is_right: whether an edited kernel is right on the longer arrays.
    """
    for node in _in_tests(source):
        assert isinstance(node.value, int)
        new, rest = divmod(node.value * size.other, size.usual)
        if rest or not is_right(_with_number(kernel, node, new)):
            continue
        kind = "size in a loop" if source.heads_a_loop(node) else "size in a test"
        return tell(kind, node.lineno, number=node.value, part=part, **asdict(size))
    return tell("size somewhere", None, part=part, **asdict(size))


def _in_tests(source: Source) -> Iterator[ast.Constant]:
    """The whole numbers in tests and in heads of loops."""
    for function in source.functions:
        for node in ast.walk(function):
            if isinstance(node, (ast.For, ast.If, ast.While, ast.IfExp)):
                head = node.iter if isinstance(node, ast.For) else node.test
                for each in ast.walk(head):
                    if isinstance(each, ast.Constant) and type(each.value) is int:
                        yield each


def _with_number(kernel: Kernel, node: ast.Constant, number: int) -> Kernel:
    """The kernel with another number in this place, in itself or in a function that it calls."""
    if any(each is node for each in ast.walk(kernel.tree)):
        new = ast.copy_location(ast.Constant(number), node)
        return replace(kernel, tree=copy.deepcopy(kernel.tree, {id(node): new}))
    called = {
        name: _with_number(each, node, number)
        for name, each in kernel.namespace.items()
        if isinstance(each, Kernel) and any(part is node for part in ast.walk(each.tree))
    }
    return replace(kernel, namespace={**kernel.namespace, **called})
