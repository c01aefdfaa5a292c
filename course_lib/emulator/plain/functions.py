"""Functions of a plain answer: calls and scopes, Python's own functions, the lookup of names."""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NoReturn

from course_lib.emulator.errors import rejection
from course_lib.emulator.language.constants import ConstantList, constant_of_reference
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.names import FORBIDDEN_BUILTINS, Reference, Unusable, did_you_mean
from course_lib.emulator.plain.values import (
    ITEMS_PER_STEP,
    MAX_ROUNDING,
    Items,
    Number,
    Record,
    Sequence,
    Stop,
    binary,
    checked,
    collect,
    formatted,
    gather,
    is_plain,
    kind_of,
    refuse_strangers,
    truth,
)
from course_lib.wording.sentences import say
from course_lib.wording.words import plural

_SCOPES = (ast.FunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.GeneratorExp)


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the answer: its tree, and where the names outside of it are looked up."""

    name: str
    tree: ast.FunctionDef | ast.Lambda
    names: Mapping[str, Any]  # of the module
    outer: Scope | None = None  # of the function around it
    defaults: tuple[Any, ...] = ()

    @property
    def parameters(self) -> list[str]:
        arguments = self.tree.args
        return [parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)]

    @property
    def body(self) -> list[ast.stmt]:
        if isinstance(self.tree, ast.Lambda):
            return [ast.copy_location(ast.Return(self.tree.body), self.tree)]
        return self.tree.body


@dataclass(eq=False)
class Scope:
    """The variables of one call, or of one comprehension."""

    names: Mapping[str, Any]
    own: frozenset[str]  # every name that is set somewhere in here is of here, as in Python
    outer: Scope | None = None
    variables: dict[str, Any] = field(default_factory=dict)


def function_of(kernel: Kernel) -> Function:
    """The function behind a syntax tree; constant defaults are evaluated."""
    check_signature(kernel.tree, kernel.is_decorated)
    defaults = []
    for default in kernel.tree.args.defaults:
        if not isinstance(default, ast.Constant) or not is_plain(default.value):
            raise rejection("unsupported", "Only a literal can be a default value here.", default)
        defaults.append(default.value)
    return Function(kernel.name, kernel.tree, kernel.namespace, None, tuple(defaults))


def check_signature(tree: ast.FunctionDef | ast.Lambda, may_be_decorated: bool = False) -> None:
    """Refuse parameters and decorators that are not followed.

    Raises KernelRejected with what is not known.
    """
    arguments = tree.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise rejection("unsupported", "Only plain parameters are supported here.", tree)
    if getattr(tree, "decorator_list", ()) and not may_be_decorated:
        raise rejection("unsupported", "Decorators are not supported here.", tree)


def bind(
    function: Function, arguments: list[Any], by_name: dict[str, Any], node: ast.AST
) -> dict[str, Any]:
    """The parameters with their values."""
    names = function.parameters
    bound = dict(zip(names, arguments, strict=False))
    for name, value in by_name.items():
        if name in bound or name not in names:
            message = say("{function} cannot take {name}= here.", function=function.name, name=name)
            stopped(node, message)
        bound[name] = value
    optional = names[len(names) - len(function.defaults) :]
    for name, value in zip(optional, function.defaults, strict=True):
        bound.setdefault(name, value)
    if len(arguments) > len(names) or len(bound) < len(names):
        given = len(arguments) + len(by_name)
        message = say(
            "{function} has the parameters ({names}), but it is called with {given} {noun}.",
            function=function.name,
            names=", ".join(names),
            given=given,
            noun=plural("argument", given),
        )
        stopped(node, message)
    return bound


@lru_cache(maxsize=16)
def names_set_in(tree: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Every name that a function sets: its own variables, wherever in it they are set."""
    arguments = tree.args
    parameters = {parameter.arg for parameter in (*arguments.posonlyargs, *arguments.args)}
    body = tree.body if isinstance(tree, ast.FunctionDef) else [tree.body]
    return frozenset(parameters).union(*map(_names_set_by, body))


@lru_cache(maxsize=4096)
def _names_set_by(part: ast.stmt | ast.expr) -> frozenset[str]:
    """Those that a part of the body sets; a copy with one change shares all other parts."""
    names = set()
    waiting: list[ast.AST] = [part]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)
    return frozenset(names)


def stopped(node: ast.AST, message: str, hint: str = "", code: str = "wrong-formula") -> NoReturn:
    """A mistake at which Python itself would stop."""
    raise rejection(code, message, node, hint)


def not_known(what: str, node: ast.AST, hint: str = "") -> NoReturn:
    """A part of Python that is not supported here."""
    message = say("{what} is not supported in a plain function.", what=what)
    raise rejection("unsupported", message, node, hint)


# --- Python's own functions, and those of `math` --------------------------------------------------


def _sum(items: Iterator[Any], start: Any = 0) -> Any:
    total = _number(start)
    for item in items:
        total = checked(total + _number(item))
    return total


def _round(number: Any, digits: Any = None) -> Any:
    _number(number)
    if digits is None:
        return round(number)
    if not isinstance(digits, int) or abs(digits) > MAX_ROUNDING:
        message = say("Rounding goes up to {most} digits.", most=MAX_ROUNDING)
        raise Stop("not-allowed", message)
    return round(number, digits)


def _number(value: Any) -> Any:
    if not isinstance(value, Number):
        raise TypeError(f"a number is needed here, not {kind_of(value)}")
    return value


def _on_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: function(*map(_number, values))


def _cast(kind: type) -> Callable[..., Any]:
    def cast(value: Any) -> Any:
        return kind(value if isinstance(value, str) else _number(value))

    return cast


def _text(value: Any) -> str:
    return formatted(value, "")


def _longest(items: Any) -> int:
    if not isinstance(items, (*Sequence, set)):
        raise TypeError(f"{kind_of(items)} has no length")
    return len(items)


def _range(*bounds: Any) -> range:
    return range(*bounds)


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(*values: Any) -> Any:
        if len(values) == 1 and not isinstance(values[0], Iterator):
            raise TypeError(f"{kind_of(values[0])} is no sequence")
        for value in values if len(values) > 1 else ():
            refuse_strangers(value)
        return function(*values)

    return extreme


# Functions of values. What stands in FROM_ITEMS is handed iterators in place of sequences.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "builtins.abs": _on_numbers(abs),
    "builtins.bool": lambda value=False: truth(value),
    "builtins.divmod": _on_numbers(divmod),
    "builtins.float": _cast(float),
    "builtins.int": _cast(int),
    "builtins.len": _longest,
    "builtins.pow": lambda left, right: binary(ast.Pow(), _number(left), _number(right)),
    "builtins.print": lambda *values: None,
    "builtins.range": _range,
    "builtins.round": _round,
    "builtins.str": _text,
}
_MATH = (
    "ceil floor trunc sqrt isqrt gcd lcm exp log log2 log10 pow fabs fmod hypot copysign "
    "sin cos tan asin acos atan atan2 sinh cosh tanh degrees radians isfinite isinf isnan"
)
FUNCTIONS |= {f"math.{name}": _on_numbers(getattr(math, name)) for name in _MATH.split()}
# A lesson imports NumPy, so its names are at hand; there, whole numbers come as floats.
FUNCTIONS["numpy.ceil"] = _on_numbers(lambda number: float(math.ceil(number)))
FUNCTIONS["numpy.floor"] = _on_numbers(lambda number: float(math.floor(number)))
FUNCTIONS["numpy.gcd"] = FUNCTIONS["math.gcd"]
FROM_ITEMS: dict[str, Callable[..., Any]] = {
    "builtins.all": lambda items: all(map(truth, items)),
    "builtins.any": lambda items: any(map(truth, items)),
    "builtins.enumerate": lambda items, start=0: Items(enumerate(items, start)),
    "builtins.list": lambda items=(): collect(items),
    "builtins.max": _extreme(max),
    "builtins.min": _extreme(min),
    "builtins.reversed": lambda items: Items(reversed(collect(items))),
    "builtins.set": lambda items=(): gather(iter(items)),
    "builtins.sorted": lambda items: sorted(collect(items)),
    "builtins.sum": _sum,
    "builtins.tuple": lambda items=(): tuple(collect(items)),
    "builtins.zip": lambda *items: Items(zip(*items, strict=False)),
}


# --- What a name or an attribute stands for -------------------------------------------------------


def look_up(name: str, node: ast.AST, scope: Scope, spend: Callable[[int, ast.AST], None]) -> Any:
    """A variable of this scope or of those around it, a name of the module, or Python's."""
    here: Scope | None = scope
    while here is not None:
        if name in here.variables:
            return here.variables[name]
        if name in here.own:
            message = say("{name} is used here before it has a value.", name=name)
            stopped(node, message, code="uninitialised-read")
        here = here.outer
    if name in scope.names:
        value = scope.names[name]
        if isinstance(value, tuple):
            spend(len(value) // ITEMS_PER_STEP, node)
        return _of_module(name, value, node)
    return _of_python(name, node, scope)


def _of_module(name: str, value: Any, node: ast.AST) -> Any:
    if isinstance(value, Kernel):
        return function_of(value)
    if isinstance(value, Unusable):
        code = "not-allowed" if value.code == "not-allowed" else "unsupported"
        raise rejection(code, say("This cannot be used here: {reason}", reason=value.reason), node)
    if isinstance(value, Reference) or is_plain(value):
        return value
    what = f"a {type(value).__name__}"
    if isinstance(value, (list, ConstantList)):
        what = "a list outside of the function, where a tuple would do"
    message = say("{name} cannot be used here: it is {what}.", name=name, what=what)
    raise rejection("unsupported", message, node)


def _of_python(name: str, node: ast.AST, scope: Scope) -> Any:
    path = f"builtins.{name}"
    if path in FUNCTIONS or path in FROM_ITEMS:
        return Reference(path)
    if name in FORBIDDEN_BUILTINS or name.startswith("__"):
        raise rejection("not-allowed", say("An answer may not use {name}.", name=name), node)
    if hasattr(builtins, name):
        not_known(name, node)
    known = [
        *scope.variables,
        *(known_name for known_name in scope.names if not known_name.startswith("_")),
    ]
    hint = did_you_mean(name, known, alike=0.6) or "Is the name mistyped, or is an import missing?"
    stopped(node, say("Nothing is called {name} here.", name=name), hint, code="uninitialised-read")


def attribute(owner: Any, name: str, node: ast.Attribute) -> Any:
    """`owner.name`: a field of a record, or a name of a module."""
    if name.startswith("_"):
        raise rejection("not-allowed", say("An answer may not look at {name}.", name=name), node)
    if isinstance(owner, Record):
        if name in owner.values:
            return owner.values[name]
        fields = say("It has {fields}.", fields=", ".join(owner.values))
        hint = did_you_mean(name, owner.values, alike=0.5) or fields
        stopped(node, say("{owner} has no attribute {name}.", owner=owner.name, name=name), hint)
    if isinstance(owner, Reference):
        reference = owner.attribute(name)
        constant = constant_of_reference(reference)
        return reference if constant is None else constant
    raise rejection(
        "unsupported", say("The attribute {name} is not supported here.", name=name), node
    )
