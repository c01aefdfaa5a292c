"""The code around an answer to a task: what it may call, what calls it, and what that call is.

A device function that a task asks for is launched through a kernel of ours, the caller. So a
finding may lie in the caller or in another cell; here it is brought back to the answer.
"""

from __future__ import annotations

import ast
import copy
import re
import sys
from collections import ChainMap, Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from zlib import crc32

from course_lib.curriculum import TASKS, Exercise, Task
from course_lib.emulator import Kernel, kernel_from, load_program, names_around
from course_lib.emulator.language.operators import BINARY
from course_lib.registry.kinds import TileKind
from course_lib.wording.findings import Finding
from course_lib.wording.sentences import Capital, Line, facts_of, say

Place = tuple[int, ...]


def called_with_numbers(task: Task, block: Place, thread: Place) -> str:
    """A call of a task's device function by one thread of its caller, with its numbers: "f(3, 8)".

    Empty if there are several calls, or if a number hangs on more than the thread and fixed sizes.
    """
    tree = ast.parse(task.caller)
    ours = _calls(tree, [task.id])
    if len(ours) != 1:
        return ""
    numbers = _Numbers(task, tree, {"blockIdx": block, "threadIdx": thread})
    arguments = [numbers.visit(copy.deepcopy(argument)) for argument in ours[0].args]
    if not all(isinstance(argument, ast.Constant) for argument in arguments):
        return ""
    return f"{task.id}({', '.join(map(ast.unparse, arguments))})"


class _Numbers(ast.NodeTransformer):
    """Puts numbers for what is known of a thread, and of arrays whose sizes are fixed."""

    def __init__(self, task: Task, caller: ast.AST, indices: Mapping[str, Place]) -> None:
        self.sizes = dict(zip(task.parameters, task.shapes, strict=True))
        self.indices = indices
        sets = [
            (ast.unparse(node.targets[0]), node.value)
            for node in ast.walk(caller)
            if isinstance(node, ast.Assign)
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


# --- The caller, the functions of other cells, and findings brought back to the answer ------------
# A task may call what an earlier task has defined (`Task.uses`), and a device function is judged
# in a kernel that calls it (`Task.caller`). Neither is the student's text: their lines have no
# numbers.


HEAD = "import math\nimport numpy as np\nfrom numba import cuda, float32\n"
MOST_CALLS = 8  # of functions that call others, from the answer on
CALLER = "caller"  # the name of a kernel that calls


TILE_HEAD = "import math\nimport numpy as np\nfrom course_lib.tiles import ct, tl, triton\n"


def used_by(exercise: Exercise) -> str:
    """What an answer may name without importing it: functions of tile languages, or the course's
    answers to the tasks whose functions it may call, as one text.
    """
    if isinstance(exercise.kind, TileKind):
        return TILE_HEAD
    uses = exercise.uses if isinstance(exercise, Task) else ()
    return "\n".join([HEAD, *(TASKS[name].answer for name in uses)]) if uses else ""


def our_kernel(task: Task) -> Kernel:
    """The course's answer to a task, as a kernel that can be launched."""
    around = names_around(used_by(task))
    return as_launched(task, load_program(HEAD + task.answer, surroundings=around).kernel(task.id))


def as_launched(exercise: Exercise, answer: Kernel) -> Kernel:
    """The kernel to launch for an answer: the answer, or the one that calls the device function."""
    if not isinstance(exercise, Task):
        return answer
    if exercise.caller:
        names = names_around(HEAD + exercise.caller)
        names |= {
            name: answer.namespace[name] for name in exercise.uses if name in answer.namespace
        }
        names[exercise.id] = answer
        caller: Kernel = names[CALLER]
        return caller
    found = {name: answer.namespace[name] for name in exercise.uses if name in answer.namespace}
    moved = {name: _elsewhere(kernel_from(function)) for name, function in found.items()}
    above = ChainMap(moved, answer.namespace)  # type: ignore[arg-type]
    return replace(answer, namespace=above) if moved else answer


def with_others_apart(launched: Kernel, answer: Kernel) -> Kernel:
    """The kernel to launch for an answer, with the functions of other cells and files that it
    calls: their lines are moved out of the way, so that nobody takes them for the answer's."""
    return _apart(launched, [answer.file], {})


def _apart(function: Kernel, files: list[str], known: dict[str, Kernel]) -> Kernel:
    moved = {}
    for name in sorted(_names_in(function.tree) & function.namespace.keys()):
        called = function.namespace[name]
        if not isinstance(called, Kernel) or not called.file or called.name in known:
            continue
        if called.file not in files:
            files.append(called.file)
        known[called.name] = called
        moved[name] = _elsewhere(_apart(called, files, known), files.index(called.file))
    names = ChainMap(moved, function.namespace)  # type: ignore[arg-type]
    return replace(function, namespace=names) if moved else function


def _names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def in_another_cell(answer: Kernel, found: Finding) -> Finding:
    """A finding on a line of a function in another cell, moved to the line that calls it."""
    if found.line is None or found.line < Line.FIRST_AROUND:
        return found
    calls = [node for node in ast.walk(answer.tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda node: -node.lineno):
        called = answer.namespace.get(getattr(call.func, "id", ""))
        inner = _function_with(called, found.line, 0) if isinstance(called, Kernel) else None
        if inner is not None:
            message = say(
                "In {function}, which is defined in {place} and called here: {seen}",
                function=inner.name,
                place=_place_of(inner.file),
                seen=found.message,
            )
            return replace(found, line=call.lineno, message=message)
    return found


def _function_with(function: Kernel, line: int, depth: int) -> Kernel | None:
    """The function with a line: this one, or one that it calls."""
    if _has(function.tree, line):
        return function
    for name in sorted(_names_in(function.tree) & function.namespace.keys()):
        called = function.namespace[name]
        if isinstance(called, Kernel) and called is not function and depth < MOST_CALLS:
            found = _function_with(called, line, depth + 1)
            if found is not None:
                return found
    return None


def _place_of(file: str) -> str:
    """A cell by the number that the notebook shows, if it is known, or a file."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    numbers = getattr(getattr(shell, "compile", None), "_filename_map", {})
    named = re.match(r"<ipython-input-(\d+)-", file)
    number = numbers.get(file) or (named[1] if named else None)
    if number:
        return f"cell [{number}]"
    return Path(file).name if Path(file).is_file() and "ipykernel" not in file else "another cell"


def at_the_call(exercise: Exercise, launched: Kernel, answer: Kernel, found: Finding) -> Finding:
    """A finding on a line of a function that the student has not written (an earlier task's or a
    given one), moved to the line that calls it, if a single function of the student's does.

    Of several calls the last of those that may have led there.
    """
    around = {**answer.namespace, **launched.namespace}
    given = given_to(exercise, around)
    names = {name for name in given if (tree := _tree(around, name)) and _has(tree, found.line)}
    own = [_tree(around, name) for name in _names_in(answer.tree) - given] if names else []
    calling = [
        calls for tree in (answer.tree, *filter(None, own)) if (calls := _calls(tree, names))
    ]
    if len(calling) != 1:
        return found
    array, [calls] = found.cell.split("[")[0], calling
    calls = [call for call in calls if _led_to(found.order, call, answer.tree)] or calls
    calls = [call for call in calls if array in _names_in(call)] or calls
    call = max(calls, key=lambda call: call.lineno)
    if found.line is not None and found.line < Line.FIRST_AROUND:  # the reader can look there
        message = say(
            "{seen} {line} is in {function}, which is called here.",
            seen=found.message,
            line=Capital(Line(found.line)),
            function=ast.unparse(call.func),
        )
        found = replace(found, message=message)
    return _called_too_far(answer, call, replace(found, line=call.lineno))


def _led_to(order: Place, call: ast.Call, function: ast.AST) -> bool:
    """Did this call lead to a place in the program's order: first the loops around it, each by the
    line at which it begins and its turn, then its own line?"""
    loops = [
        node.body[0].lineno
        for node in ast.walk(function)
        if isinstance(node, ast.For | ast.While)
        if any(call is inner for part in node.body for inner in ast.walk(part))
    ]
    led = [*order[: 2 * len(loops) : 2], *order[2 * len(loops) :][:1]]
    return led == [*loops, call.lineno]


def _calls(function: ast.AST, names: Collection[str]) -> list[ast.Call]:
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Call))
    return [node for node in nodes if getattr(node.func, "id", "") in names]


def _tree(names: Mapping[str, object], name: str) -> ast.FunctionDef | None:
    tree = getattr(names.get(name), "tree", None)
    return tree if isinstance(tree, ast.FunctionDef) else None


def _has(function: ast.FunctionDef | ast.Lambda, line: int | None) -> bool:
    return line in range(function.lineno, (function.end_lineno or function.lineno) + 1)


def _called_too_far(answer: Kernel, call: ast.Call, found: Finding) -> Finding:
    """A finding at a call: of an array that is left, with what the call counts along a loop."""
    if not found.code.startswith("out-of-bounds"):
        return found
    counters = {
        loop.target.id
        for loop in ast.walk(answer.tree)
        if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name)
        if any(node is call for node in ast.walk(loop))
    }
    for argument in call.args:
        names = {node.id for node in ast.walk(argument) if isinstance(node, ast.Name)}
        if isinstance(argument, ast.BinOp) and names & counters:
            hint = say(
                "What is {index} in the last iteration of the loop? What is left there for {name}?",
                index=ast.unparse(argument),
                name=ast.unparse(call.func),
            )
            return replace(found, hint=hint)
    return found


def _is_used(task: Task) -> bool:
    """Whether the task's caller uses what the function returns."""
    tree = ast.parse(task.caller)
    dropped = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    return any(call not in dropped for call in _calls(tree, [task.id]))


def given_to(exercise: Exercise, names: Mapping[str, object]) -> set[str]:
    """The functions that the student has not written: those of earlier tasks, and of those given
    beside the one to write all that are unchanged, and may stay so."""
    gives = exercise.gives
    if isinstance(exercise, Task):
        kept = fingerprints(exercise.answer).items() & fingerprints(exercise.given).items()
        gives = {name: number for name, number in kept if name != exercise.id}
    trees = {name: _tree(names, name) for name in gives}
    found = {name for name, tree in trees.items() if tree and fingerprint(tree) == gives[name]}
    return found | {*(exercise.uses if isinstance(exercise, Task) else ())}


def fingerprints(text: str) -> dict[str, int]:
    """Of all functions of a text, by their names."""
    functions = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    return {node.name: fingerprint(node) for node in functions}


def fingerprint(function: ast.FunctionDef) -> int:
    """Of what a function does: its docstring and comments count for nothing."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return crc32("\n".join(map(ast.unparse, [function.args, *body])).encode())


def within_answer(task: Task, answer: Kernel, found: Finding) -> Finding:
    """A finding with a line of the device function: it stored or returned what its caller met."""
    if found.line is not None and found.line < Line.FIRST_AROUND:
        return found
    nodes = list(ast.walk(answer.tree))
    gives = any(isinstance(node, ast.Return) and node.value for node in nodes)
    if found.code == "compile-error" and not gives and _is_used(task):
        message = say(
            "{name} returns nothing, but the line that calls it needs a result.",
            name=task.id,
        )
        hint = "Which line hands the result back to the caller?"
        return replace(found, message=message, hint=hint, line=answer.tree.lineno)
    if found.code == "compile-error" and gives and _is_used(task):
        message = say(
            "The kernel that calls {name} cannot use its result: {seen}",
            name=task.id,
            seen=found.message,
        )
        hint = found.hint or say("What should {name} return, and how many values?", name=task.id)
        found = replace(found, message=message, hint=hint)
        fractions = [division.lineno for division in map(_division, nodes) if division]
        if fractions and str(facts_of(found.message).get("type")).startswith("float"):
            return replace(found, line=fractions[0])
    if found.code == "race-write-after-write" and gives and _is_used(task):
        found = replace(found, hint=_same_place(task, found))
    if found.code.startswith("out-of-bounds") and gives and _is_used(task):
        found = replace(found, hint=_outside(task, found))
    returns = [node.lineno for node in nodes if isinstance(node, ast.Return)]
    lines = _filled_for_the_caller(answer.tree) or returns
    return replace(found, line=min(lines, default=answer.tree.lineno))


def _same_place(task: Task, found: Finding) -> str:
    """What to ask where two threads store at the place that a function returned to both."""
    blocks = found.blocks or [_block(found)] * len(found.threads)
    places = zip(blocks, found.threads, strict=True)
    calls = [call for place in places if (call := called_with_numbers(task, *place))]
    if len(calls) == 2:
        one, other = calls
        return say(
            "{one} and {other} return the same place. Work out both by hand.", one=one, other=other
        )
    return say("For which two calls does {name} return the same place?", name=task.id)


def _outside(task: Task, found: Finding) -> str:
    """What to ask where a function returned an index that is outside."""
    call = found.threads and called_with_numbers(task, _block(found), found.threads[0])
    if call:
        return say("{call} returns this index. Work it out by hand, step by step.", call=call)
    return say(
        "This index is what {name} returns here. Work out by hand what goes into it: from which "
        "call on is it too large?",
        name=task.id,
    )


def _block(found: Finding) -> tuple[int, ...]:
    """The block that a finding names; the only one, if it names none."""
    block = facts_of(found.message).get("block_at")
    return block if isinstance(block, tuple) else (0, 0, 0)


def _filled_for_the_caller(function: ast.FunctionDef | ast.Lambda) -> list[int]:
    """Where a function stores in an array that it was given; else where it hands one on to a
    function that may, and returns nothing."""
    given = {argument.arg for argument in function.args.args}
    stores, handed_on = [], []
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            stores += [node.lineno] * (ast.unparse(node.value) in given)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            names = {argument.id for argument in node.value.args if isinstance(argument, ast.Name)}
            handed_on += [node.lineno] * bool(names & given)
    return stores or handed_on


def _division(node: ast.AST) -> ast.BinOp | ast.AugAssign | None:
    """A node with a `/`."""
    divides = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div)
    return node if divides else None  # type: ignore[return-value]


def _elsewhere(function: Kernel, number: int = 1) -> Kernel:
    """A function of another cell, whose lines must not be mistaken for lines of the answer.

    Each such cell has a number of its own; that of the answer is 0.
    """
    if function.tree.lineno >= Line.FIRST_AROUND or not number:
        return function
    tree = copy.deepcopy(function.tree)
    ast.increment_lineno(tree, number * Line.FIRST_AROUND)
    return replace(function, tree=tree)
