"""Carries out one program of a tile kernel: its statements in order, on values that are tiles.

It reads the text and never runs it. What a language names, its own module has (`cutile.py`,
`triton_language.py`); statements, arithmetic and calls are the same in all of them.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.plain import values as plain_values
from course_lib.tiles.arithmetic import TileArithmetic
from course_lib.tiles.memory import ArrayArgument
from course_lib.tiles.reading import TileFunction
from course_lib.tiles.values import DTYPES, TileValue, made
from course_lib.wording.findings import Finding, finding
from course_lib.wording.sentences import say
from course_lib.wording.words import counted, joined

DEEPEST = 32  # calls within calls
FLOPS_OF_A_STEP, BYTES_OF_A_STEP = 100_000, 2_000  # so many count as a statement more


@dataclass(frozen=True)
class Named:
    """What a name of a language stands for: "load" of cuTile."""

    language: str
    name: str


@dataclass(frozen=True)
class BoundMethod:
    """A function of a language, called on a value."""

    function: Named
    owner: Any


@dataclass
class Steps:
    """How many statements a launch may still carry out."""

    left: int

    def take(self, node: ast.AST) -> None:
        self.left -= 1
        if self.left < 0:
            message = say("The kernel is still running when its budget of steps is used up.")
            raise rejection("timeout", message, node, "Does this loop ever end?")


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


@dataclass
class TileMachine(TileArithmetic):
    """One program of a launch: its statements, and what their expressions stand for.

    Attributes:
        steps: what the whole launch may still carry out.
        depth: of calls within calls.
    """

    steps: Steps
    depth: int = 0

    # --- statements ---------------------------------------------------------------------------

    def call(self, function: TileFunction, values: Mapping[str, Any]) -> Any:
        """Carry out a function of the text; what it returns."""
        if self.depth == DEEPEST:
            raise self.refuse(say("{name} calls itself too often.", name=function.name))
        self.depth += 1
        try:
            self.block(function.tree.body, dict(values))
        except _Return as done:
            return done.value
        finally:
            self.depth -= 1
        return None

    def block(self, body: Sequence[ast.stmt], names: dict[str, Any]) -> None:
        for statement in body:
            self.node = statement
            self.steps.take(statement)
            carry_out = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if carry_out is None:
                raise self.unknown_part(statement)
            before = self.memory.counts.flops
            self._carried_out(carry_out, statement, names)
            size = sum(value.nbytes for value in names.values() if isinstance(value, TileValue))
            counts = self.memory.counts
            self.steps.left -= (counts.flops - before) // FLOPS_OF_A_STEP + size // BYTES_OF_A_STEP
            counts.peak_tile_bytes = max(counts.peak_tile_bytes, size)

    def _carried_out(
        self, carry_out: Callable[..., None], statement: ast.stmt, names: dict[str, Any]
    ) -> None:
        """Carry out a statement; where Python would stop, that is told at its line."""
        try:
            carry_out(statement, names)
        except plain_values.Stop as stop:
            raise self.refuse(stop.message, stop.code) from None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise self.refuse(say("Python stops here: {said}.", said=str(error))) from error

    def _expr(self, statement: ast.Expr, names: dict[str, Any]) -> None:
        if isinstance(statement.value, ast.Constant):
            return
        stored = self.memory.counts.global_store_bytes
        result = self.value(statement.value, names)
        held = any(result is value for value in names.values())  # as tl.multiple_of hands it back
        if isinstance(result, TileValue) and not held:
            if stored == self.memory.counts.global_store_bytes:
                self.memory.note(_dropped(statement))

    def _pass(self, statement: ast.Pass, names: dict[str, Any]) -> None:
        pass

    def _return(self, statement: ast.Return, names: dict[str, Any]) -> None:
        raise _Return(self.value(statement.value, names) if statement.value else None)

    def _break(self, statement: ast.Break, names: dict[str, Any]) -> None:
        raise _Break

    def _continue(self, statement: ast.Continue, names: dict[str, Any]) -> None:
        raise _Continue

    def _assign(self, statement: ast.Assign, names: dict[str, Any]) -> None:
        value = self.value(statement.value, names)
        for target in statement.targets:
            self._bind(target, value, names)

    def _annassign(self, statement: ast.AnnAssign, names: dict[str, Any]) -> None:
        if statement.value is not None:
            self._bind(statement.target, self.value(statement.value, names), names)

    def _augassign(self, statement: ast.AugAssign, names: dict[str, Any]) -> None:
        target = statement.target
        if not isinstance(target, ast.Name):
            raise self.no_target(target, names)
        before, value = self.value(target, names), self.value(statement.value, names)
        self._bind(target, self.arithmetic(statement.op, before, value), names)

    def _bind(self, target: ast.expr, value: Any, names: dict[str, Any]) -> None:
        if isinstance(target, ast.Name):
            names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            values = value if isinstance(value, tuple) else (value,)
            if len(target.elts) != len(values):
                raise self.refuse(
                    say("{count} names are given {values}.",
                        values=counted(len(values), "value"), count=len(target.elts))
                )  # fmt: skip
            for part, content in zip(target.elts, values, strict=True):
                self._bind(part, content, names)
        else:
            raise self.no_target(target, names)

    def no_target(self, target: ast.expr, names: dict[str, Any]) -> KernelRejected:
        """The refusal of an assignment to a part of something."""
        owner = target.value if isinstance(target, ast.Subscript) else target
        value, named = self.value(owner, names), ast.unparse(owner)
        if isinstance(value, TileValue) or not hasattr(value, "shape"):
            message = say("{named} is a value: no part of it can be assigned.", named=named)
            return self.refuse(message, hint="Which new tile has the elements that you want?")
        message = say("{named} is an array: {language} writes into it with store, not with =.",
                      named=named, language=self.languages[self.language].TITLE)  # fmt: skip
        return self.refuse(message, hint="What does store need besides the array and the tile?")

    def _if(self, statement: ast.If, names: dict[str, Any]) -> None:
        self.block(statement.body if self.truth(statement.test, names) else statement.orelse, names)

    def _while(self, statement: ast.While, names: dict[str, Any]) -> None:
        while self.truth(statement.test, names):
            if not self._once(statement, names):
                return
            if _never_ends(statement):
                message = say("This loop never ends: its condition {test} stays true.",
                              test=f"`{ast.unparse(statement.test)}`")  # fmt: skip
                raise rejection("timeout", message, statement, "Which line should make it false?")

    def _for(self, statement: ast.For, names: dict[str, Any]) -> None:
        over = self.value(statement.iter, names)
        if not isinstance(over, range | tuple):
            raise self.refuse(say("In a tile kernel, a loop has to go over a range."))
        for value in over:
            self._bind(statement.target, value, names)
            if not self._once(statement, names):
                return

    def _once(self, loop: ast.For | ast.While, names: dict[str, Any]) -> bool:
        """The body once; whether the loop goes on."""
        self.node = loop
        self.steps.take(loop)
        try:
            self.block(loop.body, names)
        except _Break:
            return False
        except _Continue:
            pass
        return True

    # --- expressions --------------------------------------------------------------------------

    def truth(self, test: ast.expr, names: dict[str, Any]) -> bool:
        """A condition: one number, not a tile of many."""
        return self._one_truth(self.value(test, names))

    def _one_truth(self, value: Any) -> bool:
        if isinstance(value, TileValue):
            if value.data.size != 1:
                message = say("A branch needs a single truth value, but this is a tile of {shape}.",
                              shape=" x ".join(map(str, value.shape)))  # fmt: skip
                raise self.refuse(message, hint="Which function chooses element by element?")
            return bool(value.data)
        return bool(value)

    def value(self, node: ast.expr, names: dict[str, Any]) -> Any:
        """What an expression stands for."""
        evaluate = getattr(self, f"_{type(node).__name__.lower()}_", None)
        if evaluate is None:
            raise self.unknown_part(node)
        return evaluate(node, names)

    def _constant_(self, node: ast.Constant, names: dict[str, Any]) -> Any:
        return node.value

    def _name_(self, node: ast.Name, names: dict[str, Any]) -> Any:
        name, program = node.id, self.program
        if name in names:
            return names[name]
        if name in program.functions:
            return program.functions[name]
        if name in program.constants:
            return program.constants[name]
        if name in program.imported:
            return self._language_name(*program.imported[name], node)
        if name in BUILTINS:
            return Named("python", name)
        message = say("{name} has no value here.", name=name)
        raise rejection("compile-error", message, node, "Which line should give the name a value?")

    def _tuple_(self, node: ast.Tuple, names: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(self.value(part, names) for part in node.elts)

    def _list_(self, node: ast.List, names: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(self.value(part, names) for part in node.elts)

    def _ifexp_(self, node: ast.IfExp, names: dict[str, Any]) -> Any:
        return self.value(node.body if self.truth(node.test, names) else node.orelse, names)

    def _boolop_(self, node: ast.BoolOp, names: dict[str, Any]) -> Any:
        every = isinstance(node.op, ast.And)
        joined: Any = None  # of tiles, where the language takes `and` for `&`
        for part in node.values:
            if self._is_joined(value := self.value(part, names)):
                truth = self.comparison(ast.NotEq(), value, 0)
                both = ast.BitAnd() if every else ast.BitOr()
                joined = truth if joined is None else self.arithmetic(both, joined, truth)
            elif self._one_truth(value) != every:
                return not every
        return every if joined is None else joined

    def _is_joined(self, value: Any) -> bool:
        """Whether `and`, `or` and `not` work on this element by element."""
        many = isinstance(value, TileValue) and value.data.size != 1
        return many and self.languages[self.language].JOINS_TILES

    def _unaryop_(self, node: ast.UnaryOp, names: dict[str, Any]) -> Any:
        value = self.value(node.operand, names)
        if isinstance(node.op, ast.Not):
            if self._is_joined(value):
                return self.comparison(ast.Eq(), value, 0)
            return not self._one_truth(value)
        if isinstance(node.op, ast.UAdd):
            return value
        if not isinstance(value, TileValue):
            return plain_values.unary(node.op, value)
        if isinstance(node.op, ast.USub):
            return self.arithmetic(ast.Sub(), 0, value)
        return made(~value.data, value.dtype, value)  # of truth values the opposite

    def _binop_(self, node: ast.BinOp, names: dict[str, Any]) -> Any:
        left, right = self.value(node.left, names), self.value(node.right, names)
        if isinstance(node.op, ast.MatMult):
            if "matmul" not in self.languages[self.language].FUNCTIONS:
                raise self.refuse(
                    say("{language} has no `@`.", language=self.languages[self.language].TITLE)
                )
            return self.languages[self.language].FUNCTIONS["matmul"](self, left, right)
        return self.arithmetic(node.op, left, right)

    def _compare_(self, node: ast.Compare, names: dict[str, Any]) -> Any:
        values = [self.value(comparator, names) for comparator in (node.left, *node.comparators)]
        found: Any = True
        for number, op in enumerate(node.ops):
            if isinstance(op, ast.Is | ast.IsNot):
                one = (values[number] is values[number + 1]) == isinstance(op, ast.Is)
            else:
                one = self.comparison(op, values[number], values[number + 1])
            found = one if number == 0 else self.arithmetic(ast.BitAnd(), found, one)
        return found

    def _subscript_(self, node: ast.Subscript, names: dict[str, Any]) -> Any:
        owner = self.value(node.value, names)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if isinstance(owner, TileValue):
            return owner.like(lambda data: data[tuple(self._axis(part) for part in parts)])
        if isinstance(owner, tuple):
            index = self.value(node.slice, names)
            if isinstance(index, int) and -len(owner) <= index < len(owner):
                return owner[index]
            raise self.refuse(say("There are only {count} values.", count=len(owner)))
        special = self.languages[self.language].subscripted(self, owner, parts)
        if special is not None:
            return special
        message = say("{what} cannot be indexed here.", what=ast.unparse(node.value))
        raise self.refuse(message, hint="Which function of the language loads from an array?")

    def _axis(self, part: ast.expr) -> Any:
        """One part of an index of a tile: all of an axis, or a new one."""
        if isinstance(part, ast.Slice) and not (part.lower or part.upper or part.step):
            return slice(None)
        if isinstance(part, ast.Constant) and part.value is None:
            return None
        message = say("You cannot take single elements out of a tile.")
        raise rejection(
            "compile-error", message, part, "What could you do with the whole tile instead?"
        )

    def _attribute_(self, node: ast.Attribute, names: dict[str, Any]) -> Any:
        text = ast.unparse(node.value)
        if text in self.program.modules and not (
            isinstance(node.value, ast.Name) and node.value.id in names
        ):
            return self._language_name(self.program.modules[text], node.attr, node)
        if text in self.program.numbers and text not in names:
            return self._number_of(self.program.numbers[text], node)
        owner = self.value(node.value, names)
        if isinstance(owner, Named) and owner.language != "python":
            return self._language_name(owner.language, f"{owner.name}.{node.attr}", node)
        if isinstance(owner, TileValue | ArrayArgument):
            if node.attr == "shape":
                return tuple(int(size) for size in owner.shape)
            if node.attr == "ndim":
                return len(owner.shape)
            if node.attr == "dtype":
                return owner.dtype
        language = self.languages[self.language]
        if isinstance(owner, TileValue) and node.attr in language.METHODS:
            return BoundMethod(Named(self.language, language.METHODS[node.attr]), owner)
        if isinstance(owner, TileValue) and node.attr == "T":
            return owner.like(np.transpose)
        message = say("{what} has no {name}.", what=text, name=node.attr)
        raise rejection("compile-error", message, node)

    def _number_of(self, module: str, node: ast.Attribute) -> Any:
        """`math.inf`, `np.pi`, `np.float32`."""
        if module == "numpy" and node.attr in DTYPES:
            return DTYPES[node.attr]
        value = getattr(math, node.attr, None)
        if isinstance(value, float):
            return value
        message = say("There is no {name} in a tile kernel.", name=ast.unparse(node))
        raise rejection("compile-error", message, node, "Which function of the language does this?")

    def _language_name(self, language: str, name: str, node: ast.AST) -> Any:
        """What `ct.NAME` or `tl.NAME` is."""
        there = self.languages[language]
        if name in there.NAMES:
            return there.NAMES[name]
        dtype = {"bool_": "bool", "int1": "bool"}.get(name, name)
        if dtype in DTYPES:
            return DTYPES[dtype]
        if name in there.FUNCTIONS or any(key.startswith(f"{name}.") for key in there.NAMES):
            return Named(language, name)
        module = name.rpartition(".")[0]
        beside = (full_name for full_name in (*there.FUNCTIONS, *there.NAMES)
                  if full_name.rpartition(".")[0] == module)  # fmt: skip
        known = joined(sorted(beside))
        message = say("The tile machine does not support {name} of {language}, but only {known}.",
                      name=name, language=there.TITLE, known=known)  # fmt: skip
        raise rejection("unsupported", message, node)

    def _call_(self, node: ast.Call, names: dict[str, Any]) -> Any:
        function = self.value(node.func, names)
        given = [self.value(argument, names) for argument in node.args]
        named = {
            keyword.arg: self.value(keyword.value, names)
            for keyword in node.keywords
            if keyword.arg
        }
        self.node = node
        if isinstance(function, TileFunction):
            if function.language != self.language:
                title = self.languages[self.language].TITLE
                message = say("{name} is not a function of {language}.", name=function.name,
                              language=title)  # fmt: skip
                raise self.refuse(message, hint="Which decorator is missing above its `def`?")
            return self.call(function, self.bound(function, given, named))
        if isinstance(function, BoundMethod):
            given, function = [function.owner, *given], function.function
        if not isinstance(function, Named):
            raise self.refuse(say("{what} is not a function.", what=ast.unparse(node.func)))
        if function.language == "python":
            return self._builtin(function.name, given)
        carry_out = self.languages[function.language].FUNCTIONS[function.name]
        try:
            return carry_out(self, *given, **named)
        except TypeError as wrong:
            if "argument" not in str(wrong):
                raise
            message = say("{what} cannot be called like this.", what=ast.unparse(node.func))
            raise self.refuse(
                message, hint="Which arguments does its documentation list?"
            ) from None

    def bound(
        self, function: TileFunction, given: Sequence[Any], named: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Arguments by the names of parameters, with the defaults of what was left out.

        Raises:
            KernelRejected: if one is missing, or there are too many.
        """
        values = dict(zip(function.parameters, given, strict=False)) | dict(named)
        arguments = function.tree.args
        positional = [*arguments.posonlyargs, *arguments.args]
        defaults = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
        defaults |= {
            parameter: value
            for parameter, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if value is not None
        }
        for parameter, default in defaults.items():
            if parameter.arg not in values:
                values[parameter.arg] = self.value(default, {})
        missing = [name for name in function.parameters if name not in values]
        surplus = [name for name in values if name not in function.parameters]
        if missing or surplus or len(given) > len(function.parameters):
            message = say(
                "{name} takes {parameters}.",
                name=function.name,
                parameters=", ".join(function.parameters),
            )
            raise self.refuse(message, "invalid-launch" if not self.depth else "compile-error")
        return values

    def _builtin(self, name: str, given: Sequence[Any]) -> Any:
        if name == "range":
            return range(*(self.whole(argument, "range") for argument in given))
        if any(isinstance(argument, TileValue) for argument in given) and name in ("min", "max"):
            function = "minimum" if name == "min" else "maximum"
            return self.languages[self.language].FUNCTIONS[function](self, *given)
        return BUILTINS[name](*given)


def _never_ends(loop: ast.While) -> bool:
    """Is a loop that has gone round once without an end, since its condition stays as it is?"""
    inside = [node for statement in loop.body for node in ast.walk(statement)]
    if any(isinstance(node, ast.Break | ast.Return) for node in inside):
        return False
    condition = [*ast.walk(loop.test)]
    if any(isinstance(node, ast.Call | ast.NamedExpr) for node in condition):
        return False
    changed = {node.id for node in inside
               if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}  # fmt: skip
    return not any(isinstance(node, ast.Name) and node.id in changed for node in condition)


def _dropped(statement: ast.Expr) -> Finding:
    message = say("{value} is on a line of its own, so the tile that it returns is lost.",
                  value=ast.unparse(statement.value))  # fmt: skip
    hint = "Which variable should hold this tile?"
    return finding("no-effect", message, statement.lineno, hint)


BUILTINS: dict[str, Callable[..., Any]] = {
    "range": range, "len": len, "min": min, "max": max, "abs": abs, "int": int, "float": float,
    "bool": bool,
}  # fmt: skip
