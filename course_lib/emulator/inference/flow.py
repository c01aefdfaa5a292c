"""Types along the flow of control: assignments, branches and loops, and where paths meet.

Where paths meet, a variable gets the type that holds the values of all of them.
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.builtin_functions import UNROLL, check_unrolled, item_type
from course_lib.emulator.inference.typer import Environment, NotKnownYet, Variable
from course_lib.emulator.inference.unknown_names import lacking
from course_lib.emulator.inference.values import ExpressionTyper
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import INTRINSICS, Typed
from course_lib.wording.sentences import say


class AssignmentTyper(ExpressionTyper):
    """Types the assignments of one function."""

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
            message = say("Only a tuple can be unpacked, not {type}.", type=value.type)
            raise rejection("compile-error", message, node, lacking(value.type))
        if len(value.type.items) != len(items):
            message = "{names} names on the left, but {values} values on the right."
            raise rejection(
                "compile-error", message, node, names=len(items), values=len(value.type.items)
            )
        literals = value.literal if isinstance(value.literal, tuple) else [None] * len(items)
        return [Typed(kind, lit) for kind, lit in zip(value.type.items, literals, strict=True)]

    def item_type(self, iterated: Typed, node: ast.AST) -> Typed:
        if isinstance(iterated.type, T.ZipType) and not isinstance(node, ast.Call):
            message = "The emulator supports zip and enumerate only directly in a `for` line."
            raise rejection("unsupported", message, node, "Write the call itself there.")
        try:
            return Typed(item_type(iterated.type))
        except T.NotEmulated as error:
            message = say("The loop {said}.", said=error.said)
            raise rejection("unsupported", message, node, error.hint) from None
        except T.TypingError as error:
            message = say("Numba {said}.", said=error.said)
            raise rejection("compile-error", message, node) from None

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
            message = "Numba cannot store a complex number in an element of {type}."
            hint = (
                "The parts of a complex number z are z.real and z.imag, and abs(z) is its length."
            )
            raise rejection("compile-error", message, target, hint, type=element)
        if isinstance(place, T.ArrayType) and not T.is_scalar(value.type):
            self.store_part(target, place, value)
        elif not T.is_scalar(value.type):
            is_text = isinstance(value.type, T.Static) and isinstance(value.type.value, str)
            hint = "A number is written without quotes." if is_text else lacking(value.type)
            message = "Cannot store {type} in an element of {place}."
            raise rejection("compile-error", message, target, hint, type=value.type, place=place)
        if isinstance(place, T.ArrayType):
            self.typing.parts.add(target)

    def store_part(self, target: ast.Subscript, place: T.ArrayType, value: Typed) -> None:
        """Refuse everything but numbers and tuples, as Numba writes nothing else into a part of an
        array.
        """
        if isinstance(value.type, T.ArrayType):
            message = "Numba cannot copy a whole array to another one inside a kernel."
            hint = "Which loop, or which thread, should copy each element?"
            raise rejection("compile-error", message, target, hint)
        items = value.type.items if isinstance(value.type, T.TupleType) else ()
        fits = items and value.type.is_uniform and T.is_scalar(items[0])  # type: ignore[union-attr]
        if not fits or place.ndim != 1:
            message = "Cannot store {type} in a part of an array, {place}."
            raise rejection("compile-error", message, target, type=value.type, place=place)

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


# --- Paths and where they meet --------------------------------------------------------------------


MAX_LOOP_PASSES = 8


@dataclass
class _Loop:
    """The environments at the `break` and `continue` statements of one loop."""

    breaks: list[Environment] = field(default_factory=list)
    continues: list[Environment] = field(default_factory=list)


class FlowTyper(AssignmentTyper):
    """Types the statements of one function along its paths, with a handler for each kind."""

    statements: ClassVar[dict[type, Callable[[Any, Any, Environment], Environment | None]]]

    def __init__(self, *context: Any) -> None:
        super().__init__(*context)
        self.loops: list[_Loop] = []
        self.settled_loops: dict[ast.AST, tuple[Environment, Environment, _Loop]] = {}

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
        handler = self.statements.get(type(node))
        if handler is None:
            code, message = _REFUSED_STATEMENTS.get(
                type(node),
                (
                    "unsupported",
                    say("The emulator does not support `{keyword}`.", keyword=_keyword(node)),
                ),
            )
            raise rejection(code, message, node)
        self.common.spend(1, node)
        self.common.enter(2, node)
        after = handler(self, node, env)
        self.common.depth -= 2
        return after

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
        raise rejection(
            "unsupported", "The types of the variables in this loop never settle.", node, hint
        )

    def break_statement(self, node: ast.Break, env: Environment) -> None:
        self.around(node).breaks.append(env)

    def continue_statement(self, node: ast.Continue, env: Environment) -> None:
        self.around(node).continues.append(env)

    def around(self, node: ast.Break | ast.Continue) -> _Loop:
        """The innermost loop, to which a `break` or `continue` belongs."""
        if not self.loops:
            message = say("`{word}` is outside of any loop.", word=_keyword(node))
            hint = "An `if` around the other lines keeps a thread away from them."
            raise rejection("compile-error", message, node, hint)
        return self.loops[-1]

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
        certain = len(known) == len(paths) and all(variable.certain for variable in known)
        return Variable(typed, certain)


def _joined(left: T.Type, right: T.Type) -> T.Type:
    """The type of a variable where paths meet; only its use is refused if there is none."""
    try:
        return right if isinstance(right, T.Mixed) else T.unify(left, right)
    except T.TypingError:
        return T.Mixed(left, right)


def _keyword(node: ast.stmt) -> str:
    return type(node).__name__.lower()


_REFUSED_STATEMENTS: dict[type, tuple[str, str]] = {
    ast.Try: ("compile-error", "Numba cannot compile try/except in a kernel."),
    ast.With: ("compile-error", "Numba cannot compile `with` in a kernel."),
    ast.Import: ("compile-error", "Numba cannot compile an import inside a kernel."),
    ast.ImportFrom: ("compile-error", "Numba cannot compile an import inside a kernel."),
    ast.Nonlocal: ("unsupported", "The emulator does not support `nonlocal`."),
    ast.ClassDef: ("compile-error", "Numba cannot compile a class inside a kernel."),
    ast.Delete: ("compile-error", "Numba cannot compile `del`."),
}
