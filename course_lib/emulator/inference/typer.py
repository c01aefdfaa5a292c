"""The base of all typers: what they share, what is refused, which argument is which parameter."""

from __future__ import annotations

import ast
import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from course_lib.emulator.budget import MAX_DEPTH, MAX_LEAVES, MAX_TYPED_EXPRESSIONS
from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.inference.unknown_names import ENUM_HINT, shown
from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.intrinsics import Typed
from course_lib.emulator.language.kernel import Kernel, names_with
from course_lib.emulator.language.names import DeviceArray, OwnModule, Reference
from course_lib.emulator.language.typings import Slot, Slots, Typing
from course_lib.wording.sentences import say


@dataclass
class Common:
    """What the typings of a kernel and of all functions that it calls have in common."""

    # those of device functions, by function and types of the arguments, unless the function itself
    # remembers them
    typings: dict[ast.AST, dict[tuple[T.Type, ...], Typing]] = field(default_factory=dict)
    # whether decorated functions remember their types from one kernel to the next
    remembers: bool = False
    left: int = MAX_TYPED_EXPRESSIONS  # how much may still be looked at
    depth: int = 0  # how deeply statements, expressions and calls lie in each other at this moment
    # the functions in which Numba has values that are perhaps None, and the emulator asks the types
    # of the arguments instead
    without_optional: set[ast.AST] = field(default_factory=set)

    def typings_of(self, kernel: Kernel) -> dict[tuple[T.Type, ...], Typing]:
        """The typings of a function, one for each combination of argument types."""
        if self.remembers and kernel.compiled is not None:
            return kernel.compiled
        return self.typings.setdefault(kernel.tree, {})

    def spend(self, amount: int, node: ast.AST) -> None:
        """Use up some of what may be looked at. Raises KernelRejected when nothing is left."""
        self.left -= amount
        if self.left < 0:
            message = (
                "There are too many types to work out, because functions or loops keep adding more."
            )
            hint = "How many calls and loops lead to this line?"
            raise rejection("timeout", message, node, hint)

    def enter(self, levels: int, node: ast.AST) -> None:
        """Go so many levels deeper. Raises KernelRejected if that is too deep."""
        self.depth += levels
        if self.depth > MAX_DEPTH:
            message = "Expressions, blocks and calls are nested too deeply here."
            raise rejection("not-allowed", message, node)


class RefusedForNoLiteral(KernelRejected):
    """A refusal that a literal would avoid; an argument may be one where the function is called."""

    def __init__(self, refusal: KernelRejected) -> None:
        super().__init__(refusal.findings)


class NotKnownYet(Exception):
    """A function calls itself, and no other path has told yet which type it returns."""


class Typer:
    """Types the expressions of one function, with a handler for each kind of expression.

    `outer` are the variables around a closure; `callers` are being called, outermost first.
    """

    handlers: ClassVar[dict[type, Callable[[Any, Any, Environment], Typed]]]
    # the types of a function that this one calls, with the variables around it, the arguments, and
    # what it is declared to return
    function_typing: Callable[[Kernel, Environment, Sequence[Typed], T.Type | None], Typing]

    def __init__(
        self,
        kernel: Kernel,
        outer: Environment,
        callers: tuple[Kernel, ...] = (),
        common: Common | None = None,
    ) -> None:
        self.kernel = kernel
        self.outer = outer
        self.callers = (*callers, kernel)
        self.common = common or Common()
        self.typing = Typing(kernel)
        self.locals = assigned_names(kernel)
        self.typing.own = self.locals | frozenset(kernel.parameters)
        self.arguments: Sequence[Typed] = ()
        self.entered = self.common.depth
        # What the function returns where it calls itself, as far as that is known.
        self.own_result: T.Type | None = None
        self.given: dict[str, T.Type] = {}  # the types of the parameters
        self.literals_decide = False  # whether literal arguments would leave out a branch
        self.loop_heads: set[ast.AST] = set()
        self.called: set[ast.AST] = set()
        self.members: dict[ast.AST, enum.Enum] = {}  # the members of enumerations that are named
        self.whole_members: set[ast.AST] = set()  # expressions that are members of an IntEnum
        # Of each call of an array's method: the loop that does it, and what that is given.
        self.loops_of_methods: dict[ast.AST, tuple[Kernel, list[ast.expr]]] = {}

    def unified(self, left: T.Type, right: T.Type, node: ast.AST, what: str) -> T.Type:
        try:
            return T.unify(left, right)
        except T.TypingError:
            raise self.without_common_type(left, right, node, what) from None

    def without_common_type(
        self, left: T.Type, right: T.Type, node: ast.AST, what: str
    ) -> KernelRejected:
        """The refusal of two types without a common one; Numba has one for None and for texts."""
        facts = {"what": what, "left": left, "right": right}
        if T.Static(None) in (left, right):
            message = (
                "The {what} are {left} or {right}. Numba makes that an optional number, which "
                "the emulator does not support."
            )
            hint = 'Use a number that means "nothing", such as -1, instead of None.'
            return rejection("unsupported", message, node, hint, **facts)
        message = "The {what} have no common type: {left} and {right}."
        values = [operand.value for operand in (left, right) if isinstance(operand, T.Static)]
        if len(values) == 2 and all(isinstance(value, str) for value in values):
            return rejection("unsupported", message, node, "Use numbers instead.", **facts)
        return rejection("compile-error", message, node, **facts)

    def expression(self, node: ast.expr, env: Environment) -> Typed:
        handler = self.handlers.get(type(node))
        if handler is None:
            code, message = _REFUSED_EXPRESSIONS.get(
                type(node),
                (
                    "unsupported",
                    say("The emulator does not support {kind}.", kind=type(node).__name__),
                ),
            )
            raise rejection(code, message, node)
        self.common.spend(1, node)
        self.common.enter(1, node)
        typed = handler(self, node, env)
        self.common.depth -= 1
        self.typing.types[node] = typed.type
        if typed.members is not None:
            self.whole_members.add(node)
        return typed

    def condition(self, node: ast.expr, env: Environment) -> None:
        kind = self.expression(node, env).type
        self.refuse_member(node)
        if T.is_scalar(kind):
            return
        text = isinstance(kind, T.Static) and (kind.value is None or isinstance(kind.value, str))
        if text or isinstance(kind, T.TupleType | T.FlatType):
            message = say("The emulator cannot use {kind} as a condition.", kind=kind)
            hint = "Write the comparison that you mean, such as `len(t) > 0` or `x is not None`."
            raise rejection("unsupported", message, node, hint)
        raise rejection("compile-error", say("{kind} is neither true nor false.", kind=kind), node)

    def known(self, node: ast.expr, value: Any) -> Typed:
        """The type of a value that is known now; it is kept for the machine."""
        static = str | Reference | Kernel | OwnModule | np.dtype | enum.EnumMeta
        if value is None or isinstance(value, static):
            return Typed(T.Static(value))
        if isinstance(value, enum.Enum):
            self.members[node] = value
            if not isinstance(value, int):
                self.typing.constants[node] = T.place_of_member(value)
                return Typed(T.EnumType(type(value)))
        kind = T.type_of_scalar(value)
        if kind is not None:
            self.typing.constants[node] = kind.type(value)
            # Only Python's own integers count as literals in Numba: np.int64(4) does not.
            literal = value if type(value) is int else None
            return Typed(kind, literal, type(value) if isinstance(value, enum.Enum) else None)
        if isinstance(value, tuple):
            return self.known_tuple(node, value)
        if isinstance(value, np.ndarray) and T.type_of_array(value) is not None:
            if node not in self.typing.constants:  # its contents are frozen, as in Numba
                self.typing.constants[node] = value.copy()
            return Typed(T.ArrayType(value.dtype, value.ndim, writable=False))
        if isinstance(value, DeviceArray):
            return self.device_array(node, value)
        if value is Ellipsis:
            message = "This `...` marks code that has not been written yet."
            raise rejection("missing-answer", message, node, "What should this line do?")
        strange = isinstance(value, np.ndarray) and value.dtype.kind in "SUMmV"
        if isinstance(value, complex | bytes) or strange:
            message = say(
                "The emulator does not support values such as {value}.", value=shown(value)
            )
            hint = "It supports whole numbers, floats and truth values, and tuples of these."
            raise rejection("unsupported", message, node, hint)
        raise rejection(
            "compile-error", say("Numba has no type for {value}.", value=shown(value)), node
        )

    def device_array(self, node: ast.expr, value: DeviceArray) -> Typed:
        """The type of a device's array from outside; unlike NumPy's, it is no constant."""
        known = self.typing.constants.get(node, value)
        array = known.fetch()
        kind = T.type_of_array(array) if isinstance(array, np.ndarray) else None
        if kind is None:
            message = say(
                "{name} is an array of {dtype}, which the emulator does not support.",
                name=ast.unparse(node),
                dtype=value.owner.dtype,
            )
            raise rejection(
                "unsupported", message, node, "It supports arrays of numbers, and records."
            )
        self.typing.constants[node] = known
        return Typed(kind)

    def refuse_member(self, node: ast.expr) -> None:
        """Numba computes with a member of an IntEnum, but takes it for no number elsewhere."""
        if node in self.members or node in self.whole_members:
            message = "Numba does not accept a member of an enumeration here."
            raise rejection("compile-error", message, node, ENUM_HINT)

    def refuse_member_as_element(self, node: ast.expr, place: T.Type) -> None:
        """Refuse a member of an IntEnum where it would become anything but an integer."""
        element = place.dtype if isinstance(place, T.ArrayType) else place
        if not T.is_integer(element):
            self.refuse_member(node)

    def refuse_members_beside_floats(self, *operands: ast.expr) -> None:
        """Numba treats a member of an IntEnum as an integer, and compiles none beside a float."""
        kinds = [self.typing.types[expression] for expression in operands]
        if any(T.is_float(kind) or T.is_complex(kind) for kind in kinds):
            for expression in operands:
                self.refuse_member(expression)

    def member_of(self, node: ast.expr, members: enum.EnumMeta, name: str) -> Typed:
        """The member of an enumeration that has this name."""
        if name in members.__members__:
            return self.known(node, members.__members__[name])
        message = say("{members} has no member {name}.", members=members.__name__, name=name)
        raise rejection("compile-error", message, node)

    def known_tuple(self, node: ast.expr, value: tuple[Any, ...]) -> Typed:
        kind, numbers = self.tuple_from_outside(node, value)
        self.typing.constants[node] = numbers
        literal = value if all(type(item) is int for item in value) else None
        return Typed(kind, literal)

    def tuple_from_outside(
        self, node: ast.expr, value: tuple[Any, ...]
    ) -> tuple[T.TupleType, tuple[Any, ...]]:
        """The type of a tuple of numbers and of such tuples, and what the machine has for it."""
        kinds: list[T.Type] = []
        numbers: list[Any] = []
        for item in value:
            kind: T.Type | None = T.type_of_scalar(item)
            if isinstance(kind, np.dtype):
                numbers.append(kind.type(item))
            elif isinstance(item, tuple):
                kind, inner = self.tuple_from_outside(node, item)
                numbers.append(inner)
            else:
                message = "Only tuples of numbers can come from outside."
                hint = "Give each array of the tuple its own name."
                raise rejection("unsupported", message, node, hint)
            kinds.append(kind)
        fields = getattr(type(value), "_fields", ())
        return T.TupleType(tuple(kinds), fields), tuple(numbers)

    def bounded_tuple(self, items: tuple[T.Type, ...], node: ast.AST) -> T.TupleType:
        kind = T.TupleType(items)
        if kind.leaves > MAX_LEAVES:
            raise rejection("not-allowed", "This tuple has too many items.", node)
        return kind

    def note_purity(self, node: ast.expr) -> None:
        """Remember expressions without memory access or calls: lanes need no mask for them."""
        if not any(isinstance(e, ast.Subscript | ast.Call | ast.NamedExpr) for e in ast.walk(node)):
            self.typing.pure.add(node)


def assigned_names(kernel: Kernel) -> frozenset[str]:
    """The names that are local because the function assigns them."""
    return frozenset(names_with(kernel.nodes))


_REFUSED_EXPRESSIONS: dict[type, tuple[str, str]] = {
    ast.ListComp: ("compile-error", "A kernel has no Python lists. Use a loop instead."),
    ast.SetComp: ("compile-error", "A kernel has no Python sets."),
    ast.DictComp: ("compile-error", "A kernel has no Python dictionaries."),
    ast.GeneratorExp: ("compile-error", "A kernel has no generators. Use a loop instead."),
    ast.Dict: ("compile-error", "A kernel has no Python dictionaries."),
    ast.Set: ("compile-error", "A kernel has no Python sets."),
    ast.JoinedStr: ("compile-error", "A kernel has no formatted strings."),
    ast.Yield: ("compile-error", "A kernel cannot yield."),
    ast.Await: ("compile-error", "A kernel cannot wait."),
}


# --- Arguments and parameters: by place, by name, by default, and with `*` ------------------------


def bound(
    kernel: Kernel, node: ast.Call, arguments: Sequence[Typed], keywords: Mapping[str, Typed]
) -> tuple[list[Typed], Slots | None]:
    """What a function's parameters are given, and by which argument; None if it is simply by place.

    Raises KernelRejected for names that are no parameters, and defaults that are not known now.
    """
    given = kernel.tree.args
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    fits = len(arguments) == len(kernel.parameters)
    if fits and not (starred or keywords or given.vararg):
        return list(arguments), None
    given_there = places(node, arguments)
    names = kernel.parameters[: -1 if given.vararg else None]
    filled = dict(zip(names, given_there, strict=False))
    for number, (name, typed) in enumerate(keywords.items(), len(arguments)):
        if name in filled or name not in names:
            message = say("{kernel} does not take {name} here.", kernel=kernel.name, name=name)
            raise rejection("compile-error", message, node)
        filled[name] = (typed, Slot(number))
    for name, default in zip(
        names[len(names) - len(given.defaults) :], given.defaults, strict=True
    ):
        if name not in filled:
            filled[name] = _default(kernel, default, node)
    rest = given_there[len(names) :]
    if len(filled) != len(names) or (rest and not given.vararg):
        message = say(
            "{kernel} takes {wanted} arguments, not {given}.",
            kernel=kernel.name,
            wanted=len(names),
            given=len(given_there) + len(keywords),
        )
        hint = say(
            "It is defined as {kernel}({names}).", kernel=kernel.name, names=", ".join(names)
        )
        raise rejection("compile-error", message, node, hint)
    kinds = [filled[name][0] for name in names]
    slots: list[Slot | tuple[Slot, ...]] = [filled[name][1] for name in names]
    if given.vararg:
        kinds.append(Typed(T.TupleType(tuple(argument.type for argument, _ in rest))))
        slots.append(tuple(slot for _, slot in rest))
    return kinds, tuple(slots)


def places(node: ast.Call, arguments: Sequence[Typed]) -> list[tuple[Typed, Slot]]:
    """The arguments by place, with the items of tuples behind a `*` one by one."""
    found: list[tuple[Typed, Slot]] = []
    for number, (written, typed) in enumerate(zip(node.args, arguments, strict=True)):
        if not isinstance(written, ast.Starred):
            found.append((typed, Slot(number)))
        elif isinstance(typed.type, T.TupleType):
            items = enumerate(typed.type.items)
            found += [(Typed(kind), Slot(number, item)) for item, kind in items]
        else:
            message = say("Only a tuple can follow a `*`, not {type}.", type=typed.type)
            raise rejection("compile-error", message, written)
    return found


def _default(kernel: Kernel, default: ast.expr, node: ast.Call) -> tuple[Typed, Slot]:
    try:
        value = evaluate_constant(default, kernel.namespace)
    except NotConstant:
        value = kernel  # no number
    if value is None:
        return Typed(T.Static(None)), Slot()
    kind = T.type_of_scalar(value)
    if kind is None:
        message = (
            "The emulator supports only numbers as default values, but {kernel} has "
            "another one here."
        )
        raise rejection("unsupported", message, node, "Pass every argument.", kernel=kernel.name)
    return Typed(kind, value if type(value) is int else None), Slot(default=kind.type(value))


@dataclass(frozen=True)
class Closure:
    """A function defined inside a kernel."""

    kernel: Kernel


@dataclass(frozen=True)
class Variable:
    """What is known of a variable at one point; not `certain` if some path does not set it."""

    typed: Typed
    certain: bool = True


Environment = dict[str, Variable]
