"""Refuses an answer whose text says that it cannot be judged: not written, unknown, redefined."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

from course_lib.curriculum import Exercise, Task
from course_lib.emulator import Kernel, Program
from course_lib.emulator.errors import rejection
from course_lib.emulator.language.definitions import unknown_decorators
from course_lib.emulator.language.names import Unusable, did_you_mean
from course_lib.emulator.language.signatures import refuse_decoration
from course_lib.wording.sentences import say


def function_in(exercise: Exercise, program: Program) -> Kernel:
    """The function of a text that has the exercise's name.

    Raises:
        KernelRejected: if there is none, or a decorator makes something else of it.
    """
    if exercise.id not in program.functions:
        refuse_unknown_form(exercise.id, program)
    function = program.kernel(exercise.id)
    refuse_decorators(exercise, function)
    refuse_given(exercise, function)
    return function


def refuse_given(exercise: Exercise, function: Kernel) -> None:
    """Say so if the answer to a task is still the code that the task gives.

    Raises:
        KernelRejected: with `missing-answer`.
    """
    if not isinstance(exercise, Task) or not isinstance(function.tree, ast.FunctionDef):
        return
    given = next(
        statement
        for statement in ast.parse(exercise.given).body
        if isinstance(statement, ast.FunctionDef) and statement.name == exercise.id
    )
    if list(map(ast.dump, given.body)) == list(map(ast.dump, function.tree.body)):
        said = say(
            "{function} is still as it was given: it waits for your lines.", function=function.name
        )
        raise rejection("missing-answer", said, function.tree.lineno)


def refuse_unknown_form(name: str, program: Program) -> None:
    """Say that an answer is there, if only in a form that cannot be followed without running it.

    Raises:
        KernelRejected: with `unsupported` if the text gives the name a function in some way, and
            with `missing-answer` if what it gives is none.
    """
    statements = list(_statements(ast.parse(program.source)))
    bindings = [statement for statement in statements if name in _names_bound(statement)]
    if not bindings:
        return
    last = bindings[-1]
    is_defined = any(isinstance(statement, ast.FunctionDef) for statement in bindings)
    code = "unsupported"
    hint = say(
        "Define it with `def {name}(…):` at the left margin. If it is a kernel, write "
        "`@cuda.jit` above it.",
        name=name,
    )
    value = program.names.get(name)
    if isinstance(last, ast.FunctionDef) and isinstance(value, Unusable) and last in statements:
        raise rejection(value.code, value.reason, last, value.hint)
    if isinstance(last, ast.Delete):
        said = say("{name} is deleted here, so there is nothing to check.", name=name)
    elif isinstance(last, ast.FunctionDef) or _calls_a_function(last, statements):
        said = say(
            "{name} is defined here, but in a form that cannot be judged without running it.",
            name=name,
        )
    elif is_defined:
        said = say("{name} is redefined here, and is no longer the function above.", name=name)
    elif isinstance(last, ast.AsyncFunctionDef):
        said = say("{name} is defined with `async def` here, so it is no kernel.", name=name)
        code = "missing-answer"
    else:  # a value, a class, somebody else's function
        said = say("{name} is not a function written with `def` here.", name=name)
        code = "missing-answer"
    raise rejection(code, said, last.lineno, hint)


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements that a text runs, in their order; what stands in a function is its own."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt):
            yield node
        if isinstance(node, (ast.If, ast.Try, ast.With, ast.ExceptHandler)):
            yield from _statements(node)


def _names_bound(statement: ast.stmt) -> set[str]:
    """The names that a statement itself gives a meaning, or takes it from."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {name.asname or name.name.split(".")[0] for name in statement.names}
    if isinstance(statement, ast.AnnAssign) and statement.value is None:
        return set()
    if isinstance(statement, (ast.If, ast.Try, ast.With)):
        return set()
    nodes = ast.walk(statement)
    return {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}


def _calls_a_function(statement: ast.stmt, statements: Sequence[ast.stmt]) -> bool:
    """Is it an assignment of a call that has to do with a function of the text?"""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    functions = {
        definition.name for definition in statements if isinstance(definition, ast.FunctionDef)
    }
    used = {node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name)}
    return bool(used & functions)


def refuse_decorators(exercise: Exercise, function: Kernel, is_object: bool = False) -> None:
    """Refuse what a decorator makes of a function where that is no answer, or nobody knows it.

    Raises:
        KernelRejected: for a decorator that is not known, or a plain function that is compiled.
    """
    for decorator, path in unknown_decorators(function):
        said = ast.unparse(decorator)
        if path.startswith("builtins.") and not hasattr(builtins, path.split(".")[1]):
            if is_object:  # it was there when the function was made
                continue
            name = path.split(".")[1]
            raise rejection(
                "compile-error",
                say("The name {name} is not defined.", name=name),
                decorator,
                did_you_mean(name, function.namespace)
                or "Is the name mistyped, or is an import missing?",
            )
        owner, _, last = path.rpartition(".")
        meant = did_you_mean(last, ("jit", "njit"), f"{owner.removeprefix('numba.')}.")
        raise rejection(
            "unsupported",
            say(
                "The result of applying @{said} to {function} cannot be judged without running it.",
                said=said,
                function=function.name,
            ),
            decorator,
            (path and meant) or "Does the answer work without it?",
        )
    refuse_decoration(function)
    if not exercise.kind.is_launched and function.is_decorated:
        raise rejection(
            "compile-error",
            say(
                "{function} is a plain Python function, which the check calls on the processor: "
                "nothing of it runs on a GPU. Write it without a decorator.",
                function=function.name,
            ),
            function.tree,
            say("What should be in the line above `def {function}`?", function=function.name),
        )
