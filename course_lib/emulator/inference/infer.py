"""Gives every expression of a kernel its type before anything runs, as Numba's compiler does.

The walk follows the flow of control: where paths meet, a variable gets the one type that holds
the values of all of them. So `acc = 0` followed by `acc += A[i]` in a loop is float64 in the
whole loop, as it is on a GPU. What Numba's compiler would refuse is refused here, with its line.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.functions.intrinsics import INTRINSICS, Typed
from course_lib.emulator.functions.iteration import item_type
from course_lib.emulator.functions.unrolling import UNROLL, check_unrolled
from course_lib.emulator.inference.expressions import ExpressionTyper
from course_lib.emulator.inference.hints import lacking
from course_lib.emulator.inference.typer import Common, NotKnownYet, RefusedForNoLiteral
from course_lib.emulator.inference.typings import Closure, Environment, Typing, Variable
from course_lib.emulator.inference.values import OPEN
from course_lib.emulator.language import types as T
from course_lib.emulator.language.definitions import parameters_of
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.names import EXCEPTIONS, Reference
from course_lib.sentences import say

MAX_LOOP_PASSES = 8


@dataclass
class _Loop:
    """The environments at the `break` and `continue` statements of one loop."""

    breaks: list[Environment] = field(default_factory=list)
    continues: list[Environment] = field(default_factory=list)


def infer(kernel: Kernel, argument_types: Sequence[T.Type], remembers: bool = False) -> Typing:
    """The types in `kernel` when it is launched with arguments of these types.

    With `remembers`, device functions keep what they were once found to be, as in Numba.

    Raises:
        KernelRejected: with `compile-error`, `unsupported` or `not-allowed`.
    """
    arguments = [
        Typed(T.INT64, None, each.members)
        if isinstance(each, T.EnumType) and each.is_whole
        else Typed(each)
        for each in argument_types
    ]
    common = Common(remembers=remembers)
    return _Inference(kernel, {}, (), common).run(arguments)


class _Inference(ExpressionTyper):
    """Types one function for one set of argument types, statement by statement."""

    def __init__(self, *context: Any) -> None:
        super().__init__(*context)
        self.loops: list[_Loop] = []
        self.settled_loops: dict[ast.AST, tuple[Environment, Environment, _Loop]] = {}
        self.returns: list[tuple[T.Type, ast.AST]] = []

    def function_typing(
        self,
        kernel: Kernel,
        outer: Environment,
        arguments: Sequence[Typed],
        declared: T.Type | None,
    ) -> Typing:
        """Where a function calls itself, its other paths say first what it returns."""
        result, depth = declared, self.common.depth
        for _ in range(MAX_LOOP_PASSES):
            inner = _Inference(kernel, outer, self.callers, self.common)
            inner.own_result = result
            typing = inner.run(arguments)
            self.common.depth = depth
            settled = result is not None and T.same(result, typing.return_type)
            if not typing.levels or settled:
                return typing
            if declared is not None:
                message = say(
                    "{kernel} calls itself, and returns {found}, not {declared} as it is declared.",
                    kernel=kernel.name,
                    found=typing.return_type,
                    declared=declared,
                )
                hint = say("{declared}(…) converts what it returns.", declared=declared)
                raise rejection("compile-error", message, kernel.tree, hint)
            result = typing.return_type
        said = say("What {kernel} returns does not settle.", kernel=kernel.name)
        raise rejection("compile-error", said, kernel.tree)

    def run(self, arguments: Sequence[Typed]) -> Typing:
        self.arguments = arguments
        names = self.kernel.parameters
        if len(arguments) != len(names):
            raise rejection(
                "compile-error",
                say(
                    "{kernel} takes {wanted} arguments, not {given}.",
                    kernel=self.kernel.name,
                    wanted=len(names),
                    given=len(arguments),
                ),
                self.kernel.tree,
            )
        environment = {name: Variable(typed) for name, typed in zip(names, arguments, strict=True)}
        self.given = {name: variable.typed.type for name, variable in environment.items()}
        try:
            end = self.block(self.kernel.body, environment)
        except KernelRejected as refusal:
            if self.literals_decide and refusal.findings[0].code != "not-allowed":
                raise RefusedForNoLiteral(refusal) from None
            raise
        if end is not None and self.returns:
            self.returns.append((T.Static(None), self.kernel.tree))
        if self.typing.levels:
            self.check_calls_of_itself(end is None)
        self.typing.return_type = self._return_type()
        return self.typing

    def check_calls_of_itself(self, returns: bool) -> None:
        """Refuse a function that only calls itself, and one whose calls would share an array."""
        if returns and not self.returns:
            endless = say("{kernel} calls itself without end.", kernel=self.kernel.name)
            raise rejection("compile-error", endless, self.kernel.tree)
        for call in self.typing.layouts:
            if ast.unparse(call.func).endswith("local.array"):
                message = "The emulator knows no local array in a function that calls itself."
                raise rejection("unsupported", message, call, "Pass the array to the function.")

    def _return_type(self) -> T.Type:
        if not self.returns:
            return T.Static(None)
        result, _ = self.returns[0]
        for other, node in self.returns[1:]:
            result = self.unified(result, other, node, "returned values")
        return result

    # -- statements -------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt], environment: Environment) -> Environment | None:
        """The environment after `body`; None if its end cannot be reached."""
        current: Environment | None = environment
        for statement in body:
            if current is None:
                return None
            depth, loops = self.common.depth, len(self.loops)
            try:
                current = self.statement(statement, current)
            except NotKnownYet:  # this path is looked at again, when the others are known
                self.common.depth, current = depth, None
                del self.loops[loops:]
        return current

    def statement(self, node: ast.stmt, env: Environment) -> Environment | None:
        handler = _STATEMENTS.get(type(node))
        if handler is None:
            code, message = _REFUSED_STATEMENTS.get(
                type(node),
                (
                    "unsupported",
                    say("The emulator does not know `{keyword}`.", keyword=_keyword(node)),
                ),
            )
            raise rejection(code, message, node)
        self.common.spend(1, node)
        self.common.enter(2, node)
        after = handler(self, node, env)
        self.common.depth -= 2
        return after

    def assign(self, node: ast.Assign, env: Environment) -> Environment:
        value = self.expression(node.value, env)
        for target in node.targets:
            env = self.bind(target, value, env)
            if isinstance(target, ast.Subscript | ast.Attribute):
                self.refuse_member_as_element(node.value, self.typing.types[target])
        return env

    def annotated_assign(self, node: ast.AnnAssign, env: Environment) -> Environment:
        if node.value is None:
            return env
        return self.bind(node.target, self.expression(node.value, env), env)

    def bind(self, target: ast.expr, value: Typed, env: Environment) -> Environment:
        match target:
            case ast.Name(id=name):
                self.typing.types[target] = value.type
                self.common.spend(len(env) // 16, target)
                return {**env, name: Variable(value)}
            case ast.Subscript():
                self.store(target, value, env)
                return env
            case ast.Attribute():
                self.typing.types[target] = self.expression(target, env).type
                if target in self.typing.fields:
                    self.store_field(target, value)
                    return env
            case ast.Tuple(elts=items) | ast.List(elts=items):
                if any(isinstance(item, ast.Starred) for item in items):
                    raise rejection("compile-error", "Numba cannot unpack with `*`.", target)
                for item, part in zip(items, self.parts(value, items, target), strict=True):
                    env = self.bind(item, part, env)
                return env
        raise rejection("compile-error", "Numba cannot assign to this.", target)

    def parts(self, value: Typed, items: list[ast.expr], node: ast.AST) -> list[Typed]:
        if isinstance(value.type, T.ArrayType | T.FlatType):
            return [self.item_type(value, node)] * len(items)
        if isinstance(value.type, T.RangeType | T.ZipType):
            message = "The emulator unpacks tuples and arrays."
            raise rejection("unsupported", message, node, "Name its items one by one.")
        if not isinstance(value.type, T.TupleType):
            raise rejection(
                "compile-error",
                say("Only a tuple can be unpacked, not {type}.", type=value.type),
                node,
                lacking(value.type),
            )
        if len(value.type.items) != len(items):
            raise rejection(
                "compile-error",
                say(
                    "{names} names on the left, but {values} values on the right.",
                    names=len(items),
                    values=len(value.type.items),
                ),
                node,
            )
        literals = value.literal if isinstance(value.literal, tuple) else [None] * len(items)
        return [Typed(kind, lit) for kind, lit in zip(value.type.items, literals, strict=True)]

    def store(self, target: ast.Subscript, value: Typed, env: Environment) -> None:
        place = self.place_type(target, env)
        self.typing.types[target] = place
        if target in self.typing.fields or isinstance(place, T.RecordType):
            return self.store_field(target, value)
        array = self.typing.types[target.value]
        if isinstance(array, T.ArrayType) and not array.writable:
            raise rejection("compile-error", "This array is read-only.", target)
        element = place.dtype if isinstance(place, T.ArrayType) else place
        if T.is_complex(value.type) and not T.is_complex(element):
            message = say("Numba stores no complex number in an element of {type}.", type=element)
            hint = "Its parts are .real and .imag; abs(z) is its length."
            raise rejection("compile-error", message, target, hint)
        if isinstance(place, T.ArrayType) and not T.is_scalar(value.type):
            self.store_part(target, place, value)
        elif not T.is_scalar(value.type):
            is_text = isinstance(value.type, T.Static) and isinstance(value.type.value, str)
            hint = "A number stands without quotes." if is_text else lacking(value.type)
            raise rejection(
                "compile-error",
                say("Cannot store {type} in an element of {place}.", type=value.type, place=place),
                target,
                hint,
            )
        if isinstance(place, T.ArrayType):
            self.typing.parts.add(target)

    def store_part(self, target: ast.Subscript, place: T.ArrayType, value: Typed) -> None:
        """Refuse what Numba does not write into a part of an array: all but numbers and tuples."""
        if isinstance(value.type, T.ArrayType):
            raise rejection(
                "compile-error",
                "Numba cannot copy a whole array to another one inside a kernel.",
                target,
                "Which loop, or which thread, copies each element?",
            )
        items = value.type.items if isinstance(value.type, T.TupleType) else ()
        fits = items and value.type.is_uniform and T.is_scalar(items[0])  # type: ignore[union-attr]
        if not fits or place.ndim != 1:
            message = say(
                "Cannot store {type} in a part of an array, {place}.", type=value.type, place=place
            )
            raise rejection("compile-error", message, target)

    def place_type(
        self, node: ast.Subscript, env: Environment
    ) -> np.dtype | T.ArrayType | T.RecordType:
        """The type of the element, or of the part of an array, that a subscript names."""
        kind = self.subscript_type(node, env).type
        named = isinstance(kind, np.dtype | T.ArrayType | T.RecordType)
        if not named or isinstance(self.typing.types[node.value], T.TupleType):
            raise rejection("compile-error", "Numba cannot store into this.", node)
        assert isinstance(kind, np.dtype | T.ArrayType | T.RecordType)
        return kind

    def augmented_assign(self, node: ast.AugAssign, env: Environment) -> Environment:
        value = self.expression(node.value, env)
        if isinstance(node.target, ast.Subscript):
            current = Typed(self.place_type(node.target, env))
        else:
            current = self.expression(node.target, env)
        if T.is_float(current.type) or T.is_complex(current.type):
            self.refuse_member(node.value)
        result = Typed(self.binary_type(node, node.op, current.type, value.type))
        if isinstance(node.target, ast.Subscript):
            self.store(node.target, result, env)
            return env
        if isinstance(node.target, ast.Attribute) and node.target in self.typing.fields:
            self.store_field(node.target, result)
            return env
        if not isinstance(node.target, ast.Name):
            raise rejection("compile-error", "Numba cannot assign to this.", node.target)
        return {**env, node.target.id: Variable(result)}

    def if_statement(self, node: ast.If, env: Environment) -> Environment | None:
        self.condition(node.test, env)
        env = self.with_walrus(node.test, env)
        decided = self.decided(node.test)
        if decided is not None and not isinstance(node.test, ast.Constant):
            self.typing.constants[node.test] = np.bool_(decided)
            return self.block(node.body if decided else node.orelse, env)
        return self.join([self.block(node.body, env), self.block(node.orelse, env)], node)

    def while_statement(self, node: ast.While, env: Environment) -> Environment | None:
        if self.decided(node.test) is False:
            self.condition(node.test, env)
            return self.block(node.orelse, self.with_walrus(node.test, env))

        def one_pass(start: Environment) -> Environment | None:
            self.condition(node.test, start)
            return self.block(node.body, self.with_walrus(node.test, start))

        head, loop = self.loop(node, env, one_pass)
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        after = None if endless else self.block(node.orelse, self.with_walrus(node.test, head))
        return self.join([after, *loop.breaks], node)

    def for_statement(self, node: ast.For, env: Environment) -> Environment | None:
        self.loop_heads.add(node.iter)
        iterated = self.expression(node.iter, env)
        if self.typing.calls.get(node.iter) is INTRINSICS[UNROLL]:  # type: ignore[call-overload]
            check_unrolled(self.kernel, node, self.locals | set(self.kernel.parameters))
        item = self.item_type(iterated, node.iter)

        def one_pass(start: Environment) -> Environment | None:
            return self.block(node.body, self.bind(node.target, item, start))

        head, loop = self.loop(node, env, one_pass)
        return self.join([self.block(node.orelse, head), *loop.breaks], node)

    def item_type(self, iterated: Typed, node: ast.AST) -> Typed:
        if isinstance(iterated.type, T.ZipType) and not isinstance(node, ast.Call):
            message = "The emulator knows zip and enumerate in the head of a loop only."
            raise rejection("unsupported", message, node, "Write the call itself there.")
        try:
            return Typed(item_type(iterated.type))
        except T.NotEmulated as error:
            message = say("The loop {said}.", said=error.said)
            raise rejection("unsupported", message, node, error.hint) from None
        except T.TypingError as error:
            message = say("Numba refuses this: {said}.", said=error.said)
            raise rejection("compile-error", message, node) from None

    def loop(
        self,
        node: ast.For | ast.While,
        env: Environment,
        one_pass: Callable[[Environment], Environment | None],
    ) -> tuple[Environment, _Loop]:
        """Walk a loop's body until the types at its head no longer change."""
        known = self.settled_loops.get(node)
        self.common.spend(len(env) // 2, node)
        if known is not None and known[0] == env:
            # An inner loop that an outer one passes over again, with nothing new.
            return known[1], known[2]
        head = env
        for _ in range(MAX_LOOP_PASSES):
            loop = _Loop()
            self.loops.append(loop)
            end = one_pass(head)
            self.loops.pop()
            joined = self.join([env, end, *loop.continues], node)
            assert joined is not None
            if joined == head:
                self.settled_loops[node] = (env, head, loop)
                return head, loop
            head = joined
        hint = "Give each variable its final type before the loop, as in np.float64(0)."
        raise rejection("unsupported", "The types in this loop do not settle.", node, hint)

    def break_statement(self, node: ast.Break, env: Environment) -> None:
        self.around(node).breaks.append(env)

    def continue_statement(self, node: ast.Continue, env: Environment) -> None:
        self.around(node).continues.append(env)

    def around(self, node: ast.Break | ast.Continue) -> _Loop:
        """The innermost loop, which a `break` or `continue` is about."""
        if not self.loops:
            message = say("`{word}` stands outside of all loops.", word=_keyword(node))
            hint = "An `if` around the other lines keeps a thread away from them."
            raise rejection("compile-error", message, node, hint)
        return self.loops[-1]

    def return_statement(self, node: ast.Return, env: Environment) -> None:
        kind: T.Type = T.Static(None)
        if node.value is not None:
            kind = self.expression(node.value, env).type
        if kind != T.Static(None) and len(self.callers) == 1:
            hint = "Write the result into an array that is passed in."
            raise rejection("compile-error", "A kernel cannot return a value.", node, hint)
        if isinstance(kind, T.ArrayType) and not self.may_return_array(node):
            message = "Numba returns no array but one that came in as an argument, by its name."
            hint = "Let the caller index it, or pass in an array for the result."
            raise rejection("compile-error", message, node, hint)
        self.returns.append((kind, node))

    def may_return_array(self, node: ast.Return) -> bool:
        """Whether Numba lets a function return this array: where it is a function at all.

        One that stands inside another, or is decorated with `inline=True`, is written out.
        """
        if not self.kernel.is_decorated or self.kernel.is_inlined:
            return True
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        return name in self.kernel.parameters and name not in self.locals

    def expression_statement(self, node: ast.Expr, env: Environment) -> Environment:
        self.expression(node.value, env)
        return self.with_walrus(node.value, env)

    def pass_statement(self, node: ast.stmt, env: Environment) -> Environment:
        return env

    def assert_statement(self, node: ast.Assert, env: Environment) -> Environment:
        self.condition(node.test, env)
        return env

    def raise_statement(self, node: ast.Raise, env: Environment) -> None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        given = node.exc.args if isinstance(node.exc, ast.Call) else []
        named = node.exc.keywords if isinstance(node.exc, ast.Call) else []
        known = raised is None or (isinstance(raised, ast.Name) and self.is_exception(raised.id))
        whole = not named and node.cause is None
        if not (known and whole and all(map(self.is_constant_text, given))):
            if isinstance(raised, ast.Attribute):
                unknown = say("The emulator does not know {name}.", name=ast.unparse(raised)[:60])
                raise rejection("unsupported", unknown, node, "Raise one of Python's own errors.")
            message = "Numba raises exceptions with constant arguments only."
            raise rejection("compile-error", message, node)

    def is_constant_text(self, node: ast.expr) -> bool:
        """Whether what an exception says is known when the kernel is compiled."""
        if isinstance(node, ast.Tuple):
            return all(map(self.is_constant_text, node.elts))
        if isinstance(node, ast.BinOp):
            return self.is_constant_text(node.left) and self.is_constant_text(node.right)
        return self.fixed_value(node) is not OPEN

    def is_exception(self, name: str) -> bool:
        """Whether a name is that of a class of exceptions, of Python or of the answer's own."""
        value = self.kernel.namespace.get(name)
        own = isinstance(value, Reference) and value.path.startswith("exception.")
        return name in EXCEPTIONS or own

    def function_definition(self, node: ast.FunctionDef, env: Environment) -> Environment:
        if node.decorator_list:
            message = "The emulator knows only plain functions inside a kernel."
            hint = "Leave out decorators."
            raise rejection("unsupported", message, node, hint)
        names = parameters_of(node.args, node)
        inner = replace(self.kernel, name=node.name, parameters=names, tree=node)
        return {**env, node.name: Variable(Typed(T.Static(Closure(inner))))}

    def global_statement(self, node: ast.Global, env: Environment) -> None:
        if self.locals.intersection(node.names) or set(node.names) & set(self.kernel.parameters):
            raise rejection("compile-error", "A kernel cannot change global names.", node)
        hint = "Leave this line out: a kernel reads global names without it."
        raise rejection("unsupported", "The emulator does not know `global`.", node, hint)

    # -- joining paths ----------------------------------------------------------------------

    def join(self, paths: list[Environment | None], node: ast.AST) -> Environment | None:
        reached = [path for path in paths if path is not None]
        if len(reached) <= 1:
            return reached[0] if reached else None
        names = dict.fromkeys(name for path in reached for name in path)
        self.common.spend(len(names) // 4, node)
        return {name: self.join_variable(name, reached, node) for name in names}

    def join_variable(self, name: str, paths: list[Environment], node: ast.AST) -> Variable:
        known = [path[name] for path in paths if name in path]
        typed = known[0].typed
        for other in known[1:]:
            if other.typed != typed and not isinstance(typed.type, T.Mixed):
                typed = Typed(_joined(typed.type, other.typed.type))
        certain = len(known) == len(paths) and all(each.certain for each in known)
        return Variable(typed, certain)


def _joined(left: T.Type, right: T.Type) -> T.Type:
    """The type of a variable where paths meet; only its use is refused if there is none."""
    try:
        return right if isinstance(right, T.Mixed) else T.unify(left, right)
    except T.TypingError:
        return T.Mixed(left, right)


def _keyword(node: ast.stmt) -> str:
    return type(node).__name__.lower()


_STATEMENTS: dict[type, Callable[[_Inference, Any, Environment], Environment | None]] = {
    ast.Assign: _Inference.assign,
    ast.AnnAssign: _Inference.annotated_assign,
    ast.AugAssign: _Inference.augmented_assign,
    ast.If: _Inference.if_statement,
    ast.While: _Inference.while_statement,
    ast.For: _Inference.for_statement,
    ast.Break: _Inference.break_statement,
    ast.Continue: _Inference.continue_statement,
    ast.Return: _Inference.return_statement,
    ast.Expr: _Inference.expression_statement,
    ast.Pass: _Inference.pass_statement,
    ast.Assert: _Inference.assert_statement,
    ast.Raise: _Inference.raise_statement,
    ast.FunctionDef: _Inference.function_definition,
    ast.Global: _Inference.global_statement,
}

_REFUSED_STATEMENTS: dict[type, tuple[str, str]] = {
    ast.Try: ("compile-error", "Numba cannot compile try/except in a kernel."),
    ast.With: ("compile-error", "Numba cannot compile `with` in a kernel."),
    ast.Import: ("compile-error", "Numba cannot compile an import inside a kernel."),
    ast.ImportFrom: ("compile-error", "Numba cannot compile an import inside a kernel."),
    ast.Nonlocal: ("unsupported", "The emulator does not know `nonlocal`."),
    ast.ClassDef: ("compile-error", "Numba cannot compile a class inside a kernel."),
    ast.Delete: ("compile-error", "Numba cannot compile `del`."),
}
