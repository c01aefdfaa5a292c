"""A call that a task's own kernel makes, with the numbers that one thread hands on: "f(3, 8)"."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Mapping

from course_lib.curriculum import Task
from course_lib.emulator.language.python_operators import BINARY

Place = tuple[int, ...]


def called_with_numbers(task: Task, block: Place, thread: Place) -> str:
    """The call of a task's device function by a thread of its caller.

    Empty if there are several calls, or if a number hangs on more than the thread and fixed sizes.
    """
    tree = ast.parse(task.caller)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    ours = [each for each in calls if isinstance(each.func, ast.Name) and each.func.id == task.id]
    if len(ours) != 1:
        return ""
    numbers = _Numbers(task, tree, {"blockIdx": block, "threadIdx": thread})
    arguments = [numbers.visit(copy.deepcopy(each)) for each in ours[0].args]
    if not all(isinstance(each, ast.Constant) for each in arguments):
        return ""
    return f"{task.id}({', '.join(map(ast.unparse, arguments))})"


class _Numbers(ast.NodeTransformer):
    """Puts numbers for what is known of a thread, and of arrays whose sizes are fixed."""

    def __init__(self, task: Task, caller: ast.AST, indices: Mapping[str, Place]) -> None:
        self.sizes = dict(zip(task.parameters, task.shapes, strict=True))
        self.indices = indices
        sets = [
            (ast.unparse(each.targets[0]), each.value)
            for each in ast.walk(caller)
            if isinstance(each, ast.Assign)
        ]
        times = Counter(name for name, _ in sets)
        self.set_once = {name: value for name, value in sets if times[name] == 1}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        behind = self.set_once.get(node.id)
        return self.visit(copy.deepcopy(behind)) if behind else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        index = self.indices.get(getattr(node.value, "attr", ""))
        return ast.Constant(index["xyz".index(node.attr)]) if index else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        match node:
            case ast.Subscript(ast.Attribute(ast.Name(name), "shape"), ast.Constant(int(axis))):
                size = self.sizes[name].split(",")[axis]
                return ast.Constant(int(size)) if size.isdecimal() else node
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        match self.visit(node.left), self.visit(node.right):
            case ast.Constant(int(one)), ast.Constant(int(other)):
                return ast.Constant(BINARY[type(node.op)](one, other))
        return node
