"""Turns a kernel's source, or a text that holds one, into syntax trees; executes nothing."""

from __future__ import annotations

import ast
import enum
import inspect
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np

from course_lib.emulator.budget import (
    MAX_NESTING,
    MAX_SOURCE_CHARACTERS,
    MAX_STATEMENTS,
    Budget,
)
from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.language.constants import (
    NotConstant,
    constant_of_reference,
    evaluate_constant,
)
from course_lib.emulator.language.names import (
    KNOWN_MODULES,
    Reference,
    Unusable,
    canonical_path,
    describe,
    names_of_module,
)
from course_lib.sentences import say

FORBIDDEN_BUILTINS = frozenset(
    (
        "open eval exec compile __import__ input globals locals vars getattr setattr delattr "
        "breakpoint exit quit memoryview"
    ).split()
)


@dataclass(frozen=True, eq=False, repr=False)
class Kernel:
    """A function that runs on the device, as a syntax tree.

    Attributes:
        name: the function's name.
        parameters: the names of its parameters.
        tree: its definition; line numbers are those of the cell, file or text that holds it.
        source: that cell, file or text, or as much of it as there is.
        first_line: the line number of the first line of `source`.
        namespace: what the names outside the function stand for.
        is_device: whether it is decorated as a device function.
        is_decorated: whether it is decorated with cuda.jit at all.
        is_for_cpu: whether it is compiled for the processor instead, by numba.jit or numba.njit.
        is_debugged: whether it is compiled with `debug=True`, so that exceptions are reported.
        is_unrolled: whether its loops over `unroll` are written out, by `@unrolled`.
        compiled: its types, for arguments of each kind that it was called with. A decorated
            function remembers them as Numba remembers what it compiled, with the values that
            global names had then; elsewhere None.
    """

    name: str
    parameters: tuple[str, ...]
    tree: ast.FunctionDef | ast.Lambda
    source: str
    first_line: int
    namespace: Mapping[str, Any]
    is_device: bool = False
    is_decorated: bool = True
    is_debugged: bool = False
    is_unrolled: bool = False
    is_for_cpu: bool = False
    # Not handed on to copies, whose names may stand for something else.
    compiled: dict[tuple[Any, ...], Any] | None = field(default=None, init=False)

    def __repr__(self) -> str:
        # It stands in messages, which have to be the same in every run.
        return f"the function {self.name}"

    @property
    def body(self) -> list[ast.stmt]:
        """The statements of the function."""
        if isinstance(self.tree, ast.Lambda):
            return [ast.copy_location(ast.Return(self.tree.body), self.tree)]
        return self.tree.body

    @property
    def lines(self) -> dict[int, str]:
        """The source, line by line."""
        return dict(enumerate(self.source.splitlines(), self.first_line))


MOST_CALLS_FOLLOWED = 100  # of functions that make kernels, in one text


@dataclass
class Program:
    """A text with one or more kernels, read but not executed.

    Attributes:
        source: the text.
        constants: module-level numbers and tuples, by name.
        functions: every function defined in the text, by name; the last definition counts.
        names: all of these and the imports, and what `surroundings` adds.
        calls_left: how many calls of functions that make functions are still followed.
    """

    source: str
    constants: dict[str, Any] = field(default_factory=dict)
    functions: dict[str, Kernel] = field(default_factory=dict)
    names: dict[str, Any] = field(default_factory=dict)
    calls_left: list[int] = field(default_factory=lambda: [MOST_CALLS_FOLLOWED])

    def kernel(self, name: str) -> Kernel:
        """The function called `name`.

        Raises:
            KernelRejected: with `missing-answer` if there is none.
        """
        if name in self.functions:
            return self.functions[name]
        others = ", ".join(sorted(self.functions)) or "none"
        raise rejection(
            "missing-answer",
            say(
                "There is no function called {name} (functions here: {others}).",
                name=name,
                others=others,
            ),
            None,
            say(
                "Define it with `def {name}(…):`; a kernel, below the line `@cuda.jit`.", name=name
            ),
        )

    def call(self, name: str, *arguments: Any, budget: Budget | None = None) -> Any:
        """What the plain function `name` returns: interpreted by Python's rules, not executed.

        See `emulator.plain` for what it may use, and what an argument may be.

        Raises:
            KernelRejected: if there is no such function, or it cannot be followed to its end.
        """
        from course_lib.emulator.plain import interpreter  # it reads kernels, too

        return interpreter.call(self.kernel(name), arguments, budget)


# The kinds of values that stand for themselves in a kernel.
_CONSTANT = (int, float, np.generic, tuple, str)


def load_program(text: str, surroundings: dict[str, Any] | None = None) -> Program:
    """Read a whole small file: imports, constants, functions. Nothing is executed.

    Args:
        text: the file.
        surroundings: names that the text may use, see `names_around`; the text's own names join
            them, as all cells of a notebook share one set of names.

    Raises:
        KernelRejected: for text that is no Python, is too large or too deeply nested, or
            imports what an answer may not.
    """
    tree = parse_text(text, "<answer>")
    program = Program(text, names={} if surroundings is None else surroundings)
    for statement in tree.body:
        read_statement(statement, program)
    return program


def kernel_from(source: object) -> Kernel:
    """The Kernel behind a `@cuda.jit` function, a plain function, or a Kernel.

    Plain functions that it calls are out of reach, as they are for Numba; see `plain_from`.

    Raises:
        KernelRejected: if the source text cannot be found.
    """
    if isinstance(source, Kernel):
        return source
    function = getattr(source, "py_func", source)
    if not isinstance(function, FunctionType):
        raise rejection(
            "unsupported",
            say("{source} is not a kernel.", source=repr(source)),
            None,
            "Pass a function that is decorated with @cuda.jit.",
        )
    if function is not source and hasattr(source, "__dict__"):
        if _REMEMBERED not in source.__dict__:
            kernel = source.__dict__[_REMEMBERED] = _read(function, source)
            object.__setattr__(kernel, "compiled", {})
        result: Kernel = source.__dict__[_REMEMBERED]
        return result
    return _read(function, source)


# Where a decorated function keeps its Kernel.
_REMEMBERED = "_course_kernel"


def _read(function: FunctionType, source: object) -> Kernel:
    # @unrolled keeps the function as it is written, with all the names that occur there.
    function = getattr(function, "written_as", function)
    return _kernel_of_function(function, source, _LiveNames(function))


def plain_from(source: object) -> Kernel:
    """The Kernel behind a plain function that is not one, for `plain.call`.

    Raises:
        KernelRejected: if the source text cannot be found.
    """
    if isinstance(source, Kernel):
        return source
    function = getattr(source, "py_func", source)
    if not isinstance(function, FunctionType):
        raise rejection(
            "missing-answer", say("{source} is not a function.", source=repr(source)), None
        )
    return _kernel_of_function(function, source, _PlainNames(function))


def _kernel_of_function(
    function: FunctionType, decorated: object, names: Mapping[str, Any]
) -> Kernel:
    try:
        lines, first_line = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise rejection(
            "unsupported",
            say(
                "The source text of {function} cannot be found, so it cannot be emulated.",
                function=function.__name__,
            ),
            None,
            "Define the kernel in a notebook cell or in a file.",
        ) from None
    source = textwrap.dedent("".join(lines))
    tree = parse_text(source, function.__code__.co_filename)
    ast.increment_lineno(tree, first_line - 1)
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise rejection("unsupported", "A kernel is written with `def`.", first_line)
    options = getattr(decorated, "targetoptions", {}) or {}
    return Kernel(
        name=function.__name__,
        parameters=_parameters(definition.args, definition),
        tree=definition,
        source=source,
        first_line=first_line,
        namespace=names,
        is_device=bool(options.get("device", False)),
        is_decorated=hasattr(decorated, "py_func"),
        is_for_cpu=type(decorated).__module__.startswith("numba.core"),
        is_debugged=bool(options.get("debug", False)),
        is_unrolled=hasattr(getattr(decorated, "py_func", decorated), "written_as"),
    )


# Modules that come with Python; what math and operator have is known by name.
_OF_PYTHON = sys.stdlib_module_names - {"builtins", "math", "operator", "_operator", "__main__"}


def _why_unusable(name: str, value: object) -> tuple[str, str, str]:
    """Why a kernel cannot use an object from outside: the reason, its code, and a mend."""
    what = f"{name} is of type {type(value).__name__}"
    if isinstance(value, list | dict | set | bytes):
        hint = "A tuple, or a NumPy array that is passed in, holds values for a kernel."
        return say("{what}, which a kernel cannot read.", what=what), "compile-error", hint
    if hasattr(value, "copy_to_host"):
        return (
            say("{what}: the emulator takes it only as an argument.", what=what),
            "unsupported",
            "Pass it in.",
        )
    if isinstance(value, type) and hasattr(value, "_fields"):
        hint = "A plain tuple holds the same values; its items are found by index."
        return (
            say("{name} makes named tuples, which the emulator can only read.", name=name),
            "unsupported",
            hint,
        )
    hint = "Use numbers, tuples of numbers and NumPy arrays from outside."
    return (
        say("{what}, which the emulator does not know in a kernel.", what=what),
        "unsupported",
        hint,
    )


class _LiveNames(Mapping[str, Any]):
    """The global and closure names of a Python function, looked up when a kernel uses them."""

    def __init__(self, function: FunctionType) -> None:
        self._globals = function.__globals__
        self._cells = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )
        self._kernels: dict[str, tuple[object, Kernel]] = {}

    def __getitem__(self, name: str) -> Any:
        value = self._raw(name)
        if hasattr(value, "py_func") and value.py_func.__module__.startswith("numba"):
            # Numba's own device functions, such as its random generators, are known by name.
            function = value.py_func
            return Reference(canonical_path(f"{function.__module__}.{function.__name__}"))
        if hasattr(value, "py_func"):
            known = self._kernels.get(name)
            if known is None or known[0] is not value:
                known = self._kernels[name] = (value, kernel_from(value))
            return known[1]
        described = describe(value)
        if self._is_stranger(value, described):
            return _stranger(name)
        if isinstance(described, FunctionType):
            return Unusable(
                say(
                    "{name} is a plain Python function; a kernel can call it only if it is "
                    "decorated with @cuda.jit(device=True).",
                    name=name,
                ),
                "compile-error",
            )
        usable = (Reference, Kernel, int, float, str, tuple, np.generic, np.ndarray, np.dtype)
        if isinstance(described, enum.EnumMeta | enum.Enum):
            return described
        if described is None or isinstance(described, usable):
            return described
        return Unusable(*_why_unusable(name, value))

    def _is_stranger(self, value: object, described: object) -> bool:
        """Does it come from a module that no answer may use?"""
        if isinstance(described, Reference):
            return described.path.split(".")[0] not in (*KNOWN_MODULES, "builtins")
        home = getattr(value, "__module__", None)
        home = home or type(getattr(value, "__self__", None)).__module__  # of a bound method
        return callable(value) and home.split(".")[0] in _OF_PYTHON

    def _raw(self, name: str) -> object:
        if name in self._cells:
            try:
                return self._cells[name].cell_contents
            except ValueError:
                raise KeyError(name) from None
        return self._globals[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._globals, **self._cells})

    def __len__(self) -> int:
        return len({**self._globals, **self._cells})


class _PlainNames(_LiveNames):
    """The same for a function that calls plain functions, and may read whatever is plain."""

    def __getitem__(self, name: str) -> Any:
        value = self._raw(name)
        if isinstance(describe(value), FunctionType) and not hasattr(value, "__wrapped__"):
            return plain_from(value)
        return value if isinstance(value, list) else super().__getitem__(name)


def parse_text(text: str, filename: str) -> ast.Module:
    """The syntax tree of a text.

    Raises:
        KernelRejected: for text that is no Python, is too large or too deeply nested.
    """
    if len(text) > MAX_SOURCE_CHARACTERS:
        raise rejection(
            "not-allowed",
            say(
                "The text has more than {most} characters.",
                most=MAX_SOURCE_CHARACTERS,
            ),
            None,
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in strings, which mean nothing here
            tree = ast.parse(text, filename)
    except SyntaxError as error:
        said, hint = error.msg, ""
        if said.startswith("cannot assign to function call"):  # and it advises `==`
            said = "nothing can be stored in a call"
            hint = "An element of an array stands in square brackets."
        message = say("This is no valid Python: {said}.", said=said)
        raise rejection("compile-error", message, error.lineno, hint) from None
    except (ValueError, MemoryError, RecursionError) as error:
        reason = str(error) or "it is nested too deeply"
        raise rejection(
            "not-allowed", say("The text cannot be read: {reason}.", reason=reason), None
        ) from None
    _refuse_much(tree)
    return tree


def _refuse_much(tree: ast.Module) -> None:
    """Refuse what is nested too deeply, and too many statements."""
    level: list[ast.AST] = [tree]
    statements = 0
    for _ in range(2 * MAX_NESTING):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        statements += sum(isinstance(node, ast.stmt) for node in level)
        if statements > MAX_STATEMENTS:
            message = say("The text has more than {most} statements.", most=MAX_STATEMENTS)
            raise rejection("not-allowed", message, None, "A loop says the same in fewer lines.")
        if not level:
            return
    line = next((node.lineno for node in level if hasattr(node, "lineno")), None)
    raise rejection("not-allowed", "Expressions or blocks are nested too deeply here.", line)


def _parameters(arguments: ast.arguments, node: ast.AST) -> tuple[str, ...]:
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        hint = "Name every parameter, without `*`."
        raise rejection("unsupported", "The emulator knows plain parameters only.", node, hint)
    return tuple(argument.arg for argument in arguments.posonlyargs + arguments.args)


def read_statement(statement: ast.stmt, program: Program) -> None:
    """Take note of what a statement at the top level defines.

    Raises:
        KernelRejected: if an answer may not say so.
    """
    match statement:
        case ast.Import() | ast.ImportFrom():
            _read_import(statement, program)
        case ast.FunctionDef():
            _read_function(statement, program)
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                _read_assignment(target, value, program)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            _read_assignment(target, value, program)
        case ast.AugAssign(target=ast.Name(id=name)):
            _bind(
                program, name, Unusable(say("{name} is changed after its definition.", name=name))
            )
        case ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
            _bind(
                program,
                name,
                Unusable(say("{name} is not a function that a kernel can use.", name=name)),
            )
        case ast.Delete(targets=targets):
            for target in targets:
                if isinstance(target, ast.Name):
                    _bind(program, target.id, Unusable(say("{name} is deleted.", name=target.id)))
        case ast.Expr() | ast.Pass():
            pass  # nothing that a kernel could use
        case _:
            _read_branch(statement, program)


def _read_branch(statement: ast.stmt, program: Program) -> None:
    """Take note of what runs of an `if` or `try`; whatever else binds a name makes it unknown."""
    from course_lib.emulator.language.followed import branch_of  # it reads statements, too

    branch = branch_of(statement, program.names)
    for each in branch or ():
        read_statement(each, program)
    if branch is None:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                _bind(
                    program, node.id, Unusable(say("{name} is not a plain constant.", name=node.id))
                )
            elif isinstance(node, ast.FunctionDef):
                _bind(
                    program,
                    node.name,
                    Unusable(say("{name} is defined in another block.", name=node.name)),
                )


def _why_not(value: ast.expr, name: str, reason: object) -> Unusable:
    """Why a value is not worked out; some of what an answer may not use is told by its name."""
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and node.id in FORBIDDEN_BUILTINS:
            return Unusable(say("An answer may not use {name}.", name=node.id), "not-allowed")
    return Unusable(say("{name} is no constant: {reason}.", name=name, reason=reason))


def _read_import(statement: ast.Import | ast.ImportFrom, program: Program) -> None:
    beside = isinstance(statement, ast.ImportFrom) and statement.level > 0
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            module, path = alias.name, alias.name if alias.asname else alias.name.split(".")[0]
            name = alias.asname or path
        else:
            module = statement.module or ""
            path, name = f"{module}.{alias.name}", alias.asname or alias.name
        if beside or module.split(".")[0] not in KNOWN_MODULES:
            # Nothing is imported here, so it does no harm as long as no kernel uses it.
            _bind(program, name, _stranger(name))
        elif alias.name == "*":
            for known in names_of_module(module):
                _bind(program, known, _import_value(Reference(canonical_path(f"{module}.{known}"))))
        else:
            _bind(program, name, _import_value(Reference(canonical_path(path))))


def _stranger(name: str) -> Unusable:
    """A name that comes from a module of which a kernel has nothing."""
    reason = say(
        "An answer may not use {name}: kernels need numba, numpy and math only.", name=name
    )
    return Unusable(reason, "not-allowed")


def _import_value(reference: Reference) -> Any:
    value = constant_of_reference(reference)
    return reference if value is None else value


# A kernel may also call functions that were compiled for the processor.
_COMPILED = ("numba.cuda.jit", "numba.jit", "numba.njit")
_UNROLLED = "course_lib.intrinsics.unrolled"


def _read_function(definition: ast.FunctionDef, program: Program) -> None:
    decorators = [_decorator_path(each, program.names) for each in definition.decorator_list]
    calls = [each for each in definition.decorator_list if isinstance(each, ast.Call)]
    try:
        parameters = _parameters(definition.args, definition)
    except KernelRejected as refused:  # perhaps no kernel calls it
        found = refused.findings[0]
        _bind(program, definition.name, Unusable(found.message, found.code))
        return
    kernel = Kernel(
        name=definition.name,
        parameters=parameters,
        tree=definition,
        source=program.source,
        first_line=1,
        namespace=program.names,
        is_device=any(is_switched_on("device", each) for each in calls),
        is_debugged=any(is_switched_on("debug", each) for each in calls),
        is_decorated=any(path in _COMPILED for path in decorators),
        is_for_cpu=any(path in _COMPILED[1:] for path in decorators),
        # It stands next to `def`: it changes the source that @cuda.jit compiles.
        is_unrolled=decorators[-1:] == [_UNROLLED],
    )
    program.functions[definition.name] = kernel
    program.constants.pop(definition.name, None)
    program.names[definition.name] = kernel


def _decorator_path(decorator: ast.expr, names: Mapping[str, Any]) -> str | None:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    try:
        value = evaluate_constant(target, names)
    except NotConstant:
        return None
    return value.path if isinstance(value, Reference) else None


def is_switched_on(option: str, call: ast.Call) -> bool:
    """Whether a call says `option=True`."""
    return any(
        keyword.arg == option
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value is True
        for keyword in call.keywords
    )


def unknown_decorators(kernel: Kernel) -> list[tuple[ast.expr, str]]:
    """The decorators of which nobody knows what they make of a function, with what they stand for.

    That is a dotted name, or "" for what is no module's.
    """
    decorators = getattr(kernel.tree, "decorator_list", ())
    paths = [_decorator_path(each, kernel.namespace) or "" for each in decorators]
    pairs = zip(decorators, paths, strict=True)
    return [pair for pair in pairs if pair[1] not in (*_COMPILED, _UNROLLED)]


def _read_assignment(target: ast.expr, value: ast.expr, program: Program) -> None:
    try:
        constant = evaluate_constant(value, program.names)
    except NotConstant as reason:
        # It reads statements, too.
        from course_lib.emulator.language.followed import function_behind

        function = function_behind(value, program) if isinstance(target, ast.Name) else None
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                known = function or _why_not(value, node.id, reason.said)
                _bind(program, node.id, known)
        return
    if isinstance(target, ast.Name):
        _bind(program, target.id, constant)
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(constant, tuple):
        if len(target.elts) != len(constant):
            raise rejection("compile-error", "The two sides have different lengths.", target)
        for item, part in zip(target.elts, constant, strict=True):
            if isinstance(item, ast.Name):
                _bind(program, item.id, part)


def _bind(program: Program, name: str, value: Any) -> None:
    program.names[name] = value
    program.functions.pop(name, None)
    program.constants.pop(name, None)
    if isinstance(value, _CONSTANT):
        program.constants[name] = value
    elif isinstance(value, Kernel):
        program.functions[name] = value


__all__ = ["Kernel", "KernelRejected", "Program", "kernel_from", "load_program"]
