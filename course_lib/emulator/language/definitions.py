"""What the statements of a text define: imports, constants, functions; nothing is run.

How a function comes to its name is followed, too: cuda.jit(f), make(16), f.py_func. What a factory
does is read, statement by statement, with the arguments of the call as its constants; so a tile's
size may be an argument. What cannot be followed is None, never a guess.
"""

import ast
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.language.bindings import ANY, bindings_of
from course_lib.emulator.language.constants import (
    NotConstant,
    constant_of_reference,
    evaluate_constant,
)
from course_lib.emulator.language.kernel import Kernel, Program
from course_lib.emulator.language.names import (
    EXCEPTIONS,
    FORBIDDEN_BUILTINS,
    KNOWN_MODULES,
    Reference,
    Unusable,
    canonical_path,
    frozen,
    names_of_module,
    plain_function,
)
from course_lib.wording.sentences import say

# The kinds of values that stand for themselves in a kernel.
_CONSTANT = (int, float, np.generic, tuple, str)
# A kernel may also call functions that were compiled for the processor: are they, by this one?
_COMPILERS = {"numba.cuda.jit": False, "numba.jit": True, "numba.njit": True}
_UNROLLED = "course_lib.intrinsics.unrolled"


def parameters_of(arguments: ast.arguments, node: ast.AST) -> tuple[str, ...]:
    """The names of a function's parameters; that of `*rest` comes last.

    Raises KernelRejected for parameters that are given by name only.
    """
    if arguments.kwarg or arguments.kwonlyargs:
        hint = "Name every parameter, and let it be passed by position."
        message = "The emulator does not support keyword-only parameters or `**`."
        raise rejection("unsupported", message, node, hint)
    rest = [arguments.vararg] if arguments.vararg else []
    return tuple(argument.arg for argument in arguments.posonlyargs + arguments.args + rest)


def _is_exception(name: str, program: Program) -> bool:
    """Whether a class is one of exceptions: of Python, or of the text itself."""
    value = program.names.get(name)
    own = isinstance(value, Reference) and value.path.startswith("exception.")
    return own or (value is None and name in EXCEPTIONS)


def read_statement(statement: ast.stmt, program: Program) -> None:
    """Take note of what a statement at the top level defines.

    Raises KernelRejected if an answer may not say so.
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
        case ast.ClassDef(name=name, bases=[ast.Name(id=base)]) if _is_exception(base, program):
            _bind(program, name, Reference(f"exception.{name}"))
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
        case _:
            _read_branch(statement, program)


def _read_branch(statement: ast.stmt, program: Program) -> None:
    """Take note of what runs of an `if` or `try`; whatever else binds a name makes it unknown."""
    branch = branch_of(statement, program.names)
    for nested in branch or ():
        read_statement(nested, program)
    if branch is None:
        for binding in (binding for binding in bindings_of(statement) if binding.name != ANY):
            reason = say("{name} gets its value {way}.", name=binding.name, way=binding.way)
            _bind(program, binding.name, Unusable(reason))


def _why_not(value: ast.expr, name: str, reason: object) -> Unusable:
    """Why a value is not worked out; some of what an answer may not use is told by its name."""
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and node.id in FORBIDDEN_BUILTINS:
            return Unusable(say("An answer may not use {name}.", name=node.id), "not-allowed")
    return Unusable(say("{name} is not a constant: {reason}.", name=name, reason=reason))


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
            _bind(program, name, stranger(name))
        elif alias.name == "*":
            for known in names_of_module(module):
                _bind(program, known, _import_value(Reference(canonical_path(f"{module}.{known}"))))
        else:
            _bind(program, name, _import_value(Reference(canonical_path(path))))


def stranger(name: str) -> Unusable:
    """A name that comes from a module of which a kernel has nothing."""
    reason = say(
        "An answer may not use {name}: kernels need numba, numpy and math only.", name=name
    )
    return Unusable(reason, "not-allowed")


def _import_value(reference: Reference) -> Any:
    value = constant_of_reference(reference)
    return reference if value is None else value


def _read_function(definition: ast.FunctionDef, program: Program) -> None:
    decorators = [_path_of(decorator, program.names) for decorator in definition.decorator_list]
    calls = [
        decorator for decorator in definition.decorator_list if isinstance(decorator, ast.Call)
    ]
    for call in calls:
        match call:
            case ast.Call(func=function, args=[ast.Name(id=name), *_]) if (
                ast.unparse(function).rpartition(".")[2] == "overload"
            ):
                _bind(program, name, plain_function(name, is_overloaded=True))
    try:
        parameters = parameters_of(definition.args, definition)
    except KernelRejected as refused:  # perhaps no kernel calls it
        found = refused.findings[0]
        _bind(program, definition.name, Unusable(found.message, found.code, found.hint))
        return
    kernel = Kernel(
        name=definition.name,
        parameters=parameters,
        tree=definition,
        source=program.source,
        first_line=1,
        namespace=program.names,
        **_options(calls),
        is_inlined=is_inlined(definition),
        is_decorated=any(path in _COMPILERS for path in decorators),
        is_for_cpu=any(_COMPILERS.get(path) for path in decorators if path),
        # It stands next to `def`: it changes the source that @cuda.jit compiles.
        is_unrolled=decorators[-1:] == [_UNROLLED],
    )
    declared = zip(definition.decorator_list, decorators, strict=True)
    if any(path == "numba.cuda.jit" and _has_signature(decorator) for decorator, path in declared):
        kernel = frozen(kernel)
    program.functions[definition.name] = kernel
    program.constants.pop(definition.name, None)
    program.names[definition.name] = kernel


def _has_signature(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and bool(decorator.args)


def _path_of(decorator: ast.expr, names: Mapping[str, Any]) -> str | None:
    """What a decorator is called, or a function: its dotted name, where it has one."""
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


def _options(calls: Sequence[ast.Call]) -> dict[str, Any]:
    """What the calls of a compiler say of a function, by the names that `Kernel` has for it."""
    known = {"is_device": "device", "is_debugged": "debug", "is_fast": "fastmath"}
    return {
        name: any(is_switched_on(option, call) for call in calls) for name, option in known.items()
    }


def is_inlined(definition: ast.FunctionDef) -> bool:
    """Whether a decorator says `inline=True` or `inline="always"`."""
    calls = (
        decorator for decorator in definition.decorator_list if isinstance(decorator, ast.Call)
    )
    options = (keyword for call in calls for keyword in call.keywords if keyword.arg == "inline")
    return any(ast.unparse(option.value) in ("True", "'always'") for option in options)


def unknown_decorators(kernel: Kernel) -> list[tuple[ast.expr, str]]:
    """The decorators of which nobody knows what they make of a function, with what they stand for.

    That is a dotted name, or "" for what is no module's.
    """
    decorators = getattr(kernel.tree, "decorator_list", ())
    paths = [_path_of(decorator, kernel.namespace) or "" for decorator in decorators]
    pairs = zip(decorators, paths, strict=True)
    return [pair for pair in pairs if pair[1] not in (*_COMPILERS, _UNROLLED)]


def _read_assignment(target: ast.expr, value: ast.expr, program: Program) -> None:
    try:
        constant = evaluate_constant(value, program.names)
    except NotConstant as reason:
        function = function_behind(value, program) if isinstance(target, ast.Name) else None
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                known = function or _why_not(value, node.id, reason.said)
                if function and isinstance(value, ast.Lambda):
                    known = replace(function, name=node.id)
                _bind(program, node.id, known)
        return
    if isinstance(target, ast.Name):
        _bind(program, target.id, constant)
    elif any(isinstance(node, ast.Starred) for node in ast.walk(target)):
        for binding in bindings_of(ast.Assign([target], value)):
            unread = Unusable(say("{name} gets its value by `*`.", name=binding.name))
            _bind(program, binding.name, unread)
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
    elif isinstance(value, Kernel) and isinstance(value.tree, ast.FunctionDef):
        program.functions[name] = value


# -- how a function comes to its name ----------------------------------------------------------


def function_behind(value: ast.expr, program: Program) -> Kernel | None:
    """The function that an expression at the top level stands for, as far as it can be followed."""
    match value:
        case ast.Name(id=name):
            found = program.names.get(name)
            return found if isinstance(found, Kernel) else None
        case ast.Lambda(args=arguments):
            return _of_lambda(value, arguments, program)
        case ast.Attribute(value=owner, attr="py_func"):
            found = function_behind(owner, program)
            if found is None or not found.is_decorated:
                return None
            return replace(found, is_decorated=False, is_device=False, is_for_cpu=False)
        case ast.Call(func=called, args=arguments, keywords=options):
            path = _path_of(called, program.names)
            if path in _COMPILERS:
                return _compiled(value, path, program)
            maker = function_behind(called, program)
            return _made_by(maker, arguments, options, program) if maker else None
    return None


def _of_lambda(value: ast.Lambda, arguments: ast.arguments, program: Program) -> Kernel | None:
    """`half = lambda number: number // 2`: a plain function without a name of its own."""
    try:
        parameters = parameters_of(arguments, value)
    except KernelRejected:
        return None
    return Kernel(
        "<lambda>", parameters, value, program.source, 1, program.names, is_decorated=False
    )


def _compiled(call: ast.Call, path: str, program: Program) -> Kernel | None:
    """`cuda.jit(f)`, `cuda.jit(f, fastmath=True)` or `cuda.jit(fastmath=True)(f)`."""
    if len(call.args) != 1:
        return None
    function = function_behind(call.args[0], program)
    if function is None or function.is_decorated:
        return None
    calls = [call, call.func] if isinstance(call.func, ast.Call) else [call]
    compiled = replace(
        function,
        is_decorated=True,
        **_options(calls),
        is_for_cpu=_COMPILERS[path],
        jit_call=call.func if isinstance(call.func, ast.Call) else None,
    )
    return frozen(compiled) if _has_signature(call.func) else compiled


def _made_by(
    maker: Kernel, arguments: list[ast.expr], options: list[ast.keyword], program: Program
) -> Kernel | None:
    """What a plain function returns that defines another one."""
    definition = maker.tree
    if not isinstance(definition, ast.FunctionDef) or definition.decorator_list:
        return None
    if program.calls_left[0] <= 0:
        return None
    program.calls_left[0] -= 1
    given = _arguments(maker, definition, arguments, options, program)
    if given is None:
        return None
    names: Any = ChainMap(given, maker.namespace)  # type: ignore[arg-type]
    inner = Program(program.source, names=names, calls_left=program.calls_left)
    for statement in _straight(definition.body, inner):
        match statement:
            case ast.Return(value=ast.expr() as value):
                return function_behind(value, inner)
            case ast.FunctionDef() | ast.Assign() | ast.AnnAssign() | ast.Pass():
                read_statement(statement, inner)
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                read_statement(statement, inner)
            case _:
                return None
    return None


def _arguments(
    maker: Kernel,
    definition: ast.FunctionDef,
    arguments: list[ast.expr],
    options: list[ast.keyword],
    program: Program,
) -> dict[str, Any] | None:
    """The parameters of a call with their values; None if one is no constant, or is missing."""
    names = maker.parameters
    defaults = definition.args.defaults
    texts: dict[str, tuple[ast.expr, Mapping[str, Any]]] = {
        name: (value, maker.namespace)
        for name, value in zip(names[len(names) - len(defaults) :], defaults, strict=True)
    }
    if len(arguments) > len(names) or not {keyword.arg for keyword in options} <= set(names):
        return None
    texts |= {n: (value, program.names) for n, value in zip(names, arguments, strict=False)}
    texts |= {keyword.arg: (keyword.value, program.names) for keyword in options if keyword.arg}
    if texts.keys() != set(names):
        return None
    try:
        return {name: evaluate_constant(*text) for name, text in texts.items()}
    except NotConstant:
        return None


def _straight(body: list[ast.stmt], program: Program) -> Iterator[ast.stmt]:
    """The statements that run, where every test is a constant; a test that is none comes as it is.

    A test is looked at when its turn comes: what stands above it has been read by then.
    """
    for statement in body:
        branch = branch_of(statement, program.names)
        if branch is None:
            yield statement
        else:
            yield from _straight(branch, program)


def branch_of(statement: ast.stmt, names: Mapping[str, Any]) -> list[ast.stmt] | None:
    """What runs of an `if` with a constant test, or of a `try` in which nothing fails."""
    match statement:
        case ast.If(test=test, body=body, orelse=orelse):
            try:
                return body if evaluate_constant(test, names) else orelse
            except NotConstant:
                return None
        case ast.Try(body=body, orelse=orelse, finalbody=final):
            return [*body, *orelse, *final]
    return None
