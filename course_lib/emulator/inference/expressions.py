"""Gives one expression of a kernel its type, and refuses what Numba's compiler would refuse."""

from __future__ import annotations

import ast
import cmath
import difflib
import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from course_lib.emulator.budget import (
    MAX_ARGUMENTS,
    MAX_DEPTH,
    MAX_LEAVES,
    MAX_TYPED_EXPRESSIONS,
)
from course_lib.emulator.errors import KernelRejected, rejection
from course_lib.emulator.functions import (
    random_functions,  # noqa: F401  (joins INTRINSICS)
    tensor_cores,  # noqa: F401  (joins INTRINSICS)
    warp_functions,  # noqa: F401  (joins INTRINSICS)
    wide_functions,  # noqa: F401  (joins INTRINSICS)
)
from course_lib.emulator.functions.intrinsics import ATTRIBUTES, INTRINSICS, Cast, Typed
from course_lib.emulator.functions.unrolling import UNROLL
from course_lib.emulator.inference.typings import Closure, Environment, Typing, Variable
from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import (
    NotConstant,
    constant_of_reference,
    evaluate_constant,
)
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.names import (
    FORBIDDEN_BUILTINS,
    REGISTERS_WITH_AXES,
    Reference,
    Unusable,
    belongs_to_cuda,
)
from course_lib.emulator.language.signatures import Signature, declared_signatures
from course_lib.sentences import Sentence, say

MAX_CALL_DEPTH = 40
MOST_SHOWN = 160  # characters of a value in a sentence


@dataclass
class Common:
    """What the typings of a kernel and of all functions that it calls have in common.

    Attributes:
        typings: those of device functions, by function and types of the arguments, unless the
            function itself remembers them.
        left: how much may still be looked at.
        remembers: whether decorated functions remember their types from one kernel to the next.
        depth: how deeply statements, expressions and calls lie in each other at this moment.
    """

    typings: dict[ast.AST, dict[tuple[T.Type, ...], Typing]] = field(default_factory=dict)
    remembers: bool = False
    left: int = MAX_TYPED_EXPRESSIONS
    depth: int = 0

    def typings_of(self, kernel: Kernel) -> dict[tuple[T.Type, ...], Typing]:
        """What is known of a function: its types, for arguments of each kind."""
        if self.remembers and kernel.compiled is not None:
            return kernel.compiled
        return self.typings.setdefault(kernel.tree, {})

    def spend(self, amount: int, node: ast.AST) -> None:
        """Use up some of what may be looked at.

        Raises:
            KernelRejected: when nothing is left.
        """
        self.left -= amount
        if self.left < 0:
            message = "There are too many types to work out: functions, or loops, call for more."
            hint = "How often does this line come to be looked at, call by call and loop by loop?"
            raise rejection("timeout", message, node, hint)

    def enter(self, levels: int, node: ast.AST) -> None:
        """Go so many levels deeper.

        Raises:
            KernelRejected: if that is too deep.
        """
        self.depth += levels
        if self.depth > MAX_DEPTH:
            message = "Expressions, blocks and calls are nested too deeply here."
            raise rejection("not-allowed", message, node)


class _LiteralNeeded(KernelRejected):
    """A refusal that a literal would spare: an argument may be one where the function is called."""

    def __init__(self, refusal: KernelRejected) -> None:
        super().__init__(refusal.findings)


class ExpressionTyper:
    """Types the expressions of one function; `infer.py` adds the flow of control.

    Args:
        kernel: the function.
        outer: the variables around a closure.
        callers: the functions that are being called, outermost first.
        common: shared by all functions of a kernel.
    """

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
        self.locals = _assigned_names(kernel)
        self.loop_heads: set[ast.AST] = set()
        self.called: set[ast.AST] = set()

    def function_typing(
        self, kernel: Kernel, outer: Environment, arguments: Sequence[Typed]
    ) -> Typing:
        """The types of a function that this one calls."""
        raise NotImplementedError

    def unified(self, left: T.Type, right: T.Type, node: ast.AST, what: str) -> T.Type:
        try:
            return T.unify(left, right)
        except T.TypingError:
            raise self.without_common_type(left, right, node, what) from None

    def without_common_type(
        self, left: T.Type, right: T.Type, node: ast.AST, what: str
    ) -> KernelRejected:
        """The refusal of two types that nothing holds both of; Numba has it for None and texts."""
        message = say(
            "The {what} have no common type: {left} and {right}.", what=what, left=left, right=right
        )
        if T.Static(None) in (left, right):
            hint = "A number that means `nothing`, such as -1, can stand for None."
            return rejection("unsupported", message, node, hint)
        values = [each.value for each in (left, right) if isinstance(each, T.Static)]
        if len(values) == 2 and type(values[0]) is type(values[1]):
            if isinstance(values[0], str | enum.Enum):
                return rejection("unsupported", message, node, "Numbers can stand for them.")
        return rejection("compile-error", message, node)

    # -- expressions ------------------------------------------------------------------------

    def expression(self, node: ast.expr, env: Environment) -> Typed:
        handler = _EXPRESSIONS.get(type(node))
        if handler is None:
            code, message = _REFUSED_EXPRESSIONS.get(
                type(node),
                (
                    "unsupported",
                    say("The emulator does not know {kind}.", kind=type(node).__name__),
                ),
            )
            raise rejection(code, message, node)
        self.common.spend(1, node)
        self.common.enter(1, node)
        typed = handler(self, node, env)
        self.common.depth -= 1
        self.typing.types[node] = typed.type
        return typed

    def condition(self, node: ast.expr, env: Environment) -> None:
        kind = self.expression(node, env).type
        if T.is_scalar(kind):
            return
        text = isinstance(kind, T.Static) and (kind.value is None or isinstance(kind.value, str))
        if text or isinstance(kind, T.TupleType | T.FlatType):
            message = say("The emulator does not ask {kind} whether it is true.", kind=kind)
            hint = "Write the comparison that is meant, such as `len(t) > 0` or `x is not None`."
            raise rejection("unsupported", message, node, hint)
        raise rejection("compile-error", say("{kind} is neither true nor false.", kind=kind), node)

    def with_walrus(self, node: ast.expr, env: Environment) -> Environment:
        for each in ast.walk(node):
            if isinstance(each, ast.NamedExpr):
                kind = self.typing.types[each]
                env = {**env, each.target.id: Variable(Typed(kind))}
        return env

    def named_expression(self, node: ast.NamedExpr, env: Environment) -> Typed:
        return Typed(self.expression(node.value, env).type)

    def constant(self, node: ast.Constant, env: Environment) -> Typed:
        return self.known(node, node.value)

    def known(self, node: ast.expr, value: Any) -> Typed:
        """The type of a value that is known now; it is kept for the machine."""
        static = str | Reference | Kernel | np.dtype | enum.EnumMeta | enum.Enum
        if value is None or isinstance(value, static):
            return Typed(T.Static(value))
        kind = T.type_of_scalar(value)
        if kind is not None:
            self.typing.constants[node] = kind.type(value)
            # Only Python's own integers count as literals in Numba: np.int64(4) does not.
            return Typed(kind, value if type(value) is int else None)
        if isinstance(value, tuple):
            return self.known_tuple(node, value)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            if node not in self.typing.constants:  # its contents are frozen, as in Numba
                self.typing.constants[node] = value.copy()
            return Typed(T.ArrayType(value.dtype, value.ndim, writable=False))
        if isinstance(value, complex | bytes) or value is Ellipsis:
            message = say("The emulator does not know values such as {value}.", value=_shown(value))
            hint = "It has whole numbers, floats and truth values, and tuples of them."
            raise rejection("unsupported", message, node, hint)
        raise rejection(
            "compile-error", say("Numba has no type for {value}.", value=_shown(value)), node
        )

    def known_tuple(self, node: ast.expr, value: tuple[Any, ...]) -> Typed:
        kinds = [T.type_of_scalar(item) for item in value]
        if any(kind is None for kind in kinds):
            message = "Only tuples of numbers can come from outside."
            raise rejection(
                "unsupported", message, node, "Give each inner tuple a name of its own."
            )
        self.typing.constants[node] = tuple(
            kind.type(item) for kind, item in zip(kinds, value, strict=True) if kind
        )
        literal = value if all(type(item) is int for item in value) else None
        fields = getattr(type(value), "_fields", ())
        return Typed(T.TupleType(tuple(kind for kind in kinds if kind), fields), literal)

    def name(self, node: ast.Name, env: Environment) -> Typed:
        for scope in (env, self.outer):
            if node.id in scope:
                variable = scope[node.id]
                if not variable.certain:
                    self.typing.uncertain.add(node)
                mixed = variable.typed.type
                if isinstance(mixed, T.Mixed):
                    what = f"values of {node.id}"
                    raise self.without_common_type(mixed.left, mixed.right, node, what)
                return variable.typed
        if node.id in self.locals:
            message = say("{name} is used before it has a value.", name=node.id)
            if any(isinstance(n, ast.NamedExpr) for n in ast.walk(self.kernel.tree)):
                hint = "Let an assignment on a line of its own come first."
                raise rejection("unsupported", message, node, hint)
            raise rejection("compile-error", message, node)
        return self.known(node, self.global_value(node))

    def global_value(self, node: ast.Name) -> Any:
        try:
            value = self.kernel.namespace[node.id]
        except KeyError:
            return self.builtin(node)
        if isinstance(value, Unusable):
            raise rejection(value.code, value.reason, node, value.hint)
        return value

    def builtin(self, node: ast.Name) -> Any:
        if node.id in FORBIDDEN_BUILTINS:
            raise rejection("not-allowed", say("An answer may not use {name}.", name=node.id), node)
        reference = Reference(f"builtins.{node.id}")
        if reference.path in INTRINSICS or node.id in _PYTHON_NAMES:
            return reference
        raise rejection(
            "compile-error",
            say("The name {name} is not defined.", name=node.id),
            node,
            _hint_at(node.id),
        )

    def attribute(self, node: ast.Attribute, env: Environment) -> Typed:
        owner = self.expression(node.value, env)
        if isinstance(owner.type, T.ArrayType):
            return self.array_attribute(node, owner.type)
        if isinstance(owner.type, T.Static) and isinstance(owner.type.value, Reference):
            return self.reference_attribute(node, owner.type.value.attribute(node.attr))
        if isinstance(owner.type, T.TupleType) and node.attr in owner.type.fields:
            return Typed(owner.type.items[owner.type.fields.index(node.attr)])
        if isinstance(owner.type, T.Static) and isinstance(
            owner.type.value, enum.EnumMeta | enum.Enum
        ):
            return self.enum_attribute(node, owner.type.value)
        if T.is_scalar(owner.type) and node.attr in _NUMBAS_NUMBER_ATTRIBUTES:
            hint = _OF_A_NUMBER.get(node.attr, "The number itself does the same.")
            raise rejection("unsupported", _unknown_attribute("a number", node), node, hint)
        if isinstance(owner.type, T.Static) and isinstance(owner.type.value, np.dtype):
            return self.dtype_attribute(node, owner.type.value)
        raise rejection(
            "compile-error",
            say("{type} has no attribute .{attribute}.", type=owner.type, attribute=node.attr),
            node,
        )

    def dtype_attribute(self, node: ast.Attribute, dtype: np.dtype) -> Typed:
        """`C.dtype.type`, which casts; other facts about a type are Numba's alone."""
        if node.attr == "type":
            return Typed(T.Static(Reference(f"numpy.{dtype.name}")))
        if node.attr in ("kind", "itemsize"):
            hint = say("It is known beforehand: this is {dtype}.", dtype=dtype)
            raise rejection("unsupported", _unknown_attribute("a dtype", node), node, hint)
        raise rejection(
            "compile-error",
            say("{dtype} has no attribute .{attribute}.", dtype=dtype, attribute=node.attr),
            node,
        )

    def enum_attribute(self, node: ast.Attribute, owner: enum.EnumMeta | enum.Enum) -> Typed:
        """A member of an enumeration, or the number behind one."""
        if isinstance(owner, enum.EnumMeta) and node.attr in owner.__members__:
            return self.known(node, owner.__members__[node.attr])
        if isinstance(owner, enum.Enum) and node.attr == "value":
            return self.known(node, owner.value)
        raise rejection(
            "compile-error",
            say("{owner} has no attribute .{attribute}.", owner=owner, attribute=node.attr),
            node,
        )

    def array_attribute(self, node: ast.Attribute, array: T.ArrayType) -> Typed:
        match node.attr:
            case "shape" | "strides":
                return Typed(T.TupleType((T.INT64,) * array.ndim))
            case "size":
                return Typed(T.INT64)
            case "ndim":
                return self.known(node, array.ndim)
            case "dtype":
                return Typed(T.Static(array.dtype))
            case "T":
                return Typed(array.transposed)
            case "flat":
                if array.layout != "C":
                    message = "The emulator knows .flat of arrays that lie row after row."
                    hint = "An index for every axis reaches the same elements."
                    raise rejection("unsupported", message, node, hint)
                return Typed(T.FlatType(array))
            case "ctypes":
                # Numba has it; but an answer computes with elements, not with addresses.
                message = "An answer may not use the address of an array."
                raise rejection("not-allowed", message, node)
        if node.attr in _NUMBAS_ARRAY_ATTRIBUTES:
            hint = "Elements by index, .shape and loops do the same."
            raise rejection("unsupported", _unknown_attribute("an array", node), node, hint)
        # Numba knows these methods, but can compile no call of one: it would make a new array.
        named_only = node.attr in _METHODS_THAT_ALLOCATE and node not in self.called
        code, hint = ("unsupported", "Leave it out.") if named_only else ("compile-error", "")
        message = say("An array in a kernel has no attribute .{attribute}.", attribute=node.attr)
        raise rejection(code, message, node, hint or _OF_AN_ARRAY.get(node.attr, ""))

    def reference_attribute(self, node: ast.Attribute, reference: Reference) -> Typed:
        if reference.path in ATTRIBUTES:
            return Typed(ATTRIBUTES[reference.path].type)
        value = constant_of_reference(reference)
        return self.known(node, reference if value is None else value)

    def binary(self, node: ast.BinOp, env: Environment) -> Typed:
        left, right = self.expression(node.left, env), self.expression(node.right, env)
        if isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
            folded = _fold(node)
            if folded is not None:
                return self.known(node, folded)
        if isinstance(left.type, T.TupleType) and isinstance(right.type, T.TupleType):
            if isinstance(node.op, ast.Add):
                return Typed(self.bounded_tuple(left.type.items + right.type.items, node))
        return Typed(self.binary_type(node, node.op, left.type, right.type))

    def binary_type(
        self, node: ast.BinOp | ast.AugAssign, op: ast.operator, left: T.Type, right: T.Type
    ) -> np.dtype:
        if not (isinstance(left, np.dtype) and isinstance(right, np.dtype)):
            message: str = say(
                "Numba cannot compute {operator} of {left} and {right}.",
                operator=_symbol(op),
                left=left,
                right=right,
            )
            hint = ""
            named = [side.value for side in (left, right) if isinstance(side, T.Static)]
            if any(isinstance(value, enum.IntEnum) for value in named):
                message = say(
                    "The emulator cannot compute {operator} of {left} and {right}.",
                    operator=_symbol(op),
                    left=left,
                    right=right,
                )
                raise rejection("unsupported", message, node, _ENUM_HINT)
            in_place = isinstance(node, ast.AugAssign) and isinstance(op, ast.Div)
            if in_place and isinstance(left, T.ArrayType):
                message = "The emulator divides elements, and not whole arrays."
                raise rejection("unsupported", message, node, "A loop divides each element.")
            if isinstance(left, T.ArrayType) or isinstance(right, T.ArrayType):
                hint = "A thread works on elements, not on whole arrays: is an index missing?"
            hint = hint or lacking(left) or lacking(right)
            raise rejection("compile-error", message, node, hint)
        exponent = node.right if isinstance(node, ast.BinOp) else node.value
        try:
            result, operands = _operator_types(op, left, right, _literal_integer(exponent))
        except T.TypingError as error:
            raise rejection(
                "compile-error", say("Numba refuses this: {said}.", said=error.said), node
            ) from None
        self.typing.operands[node] = operands
        return result

    def unary(self, node: ast.UnaryOp, env: Environment) -> Typed:
        operand = self.expression(node.operand, env)
        kind = operand.type
        if isinstance(node.op, ast.Not) and isinstance(kind, T.TupleType | T.Static | T.FlatType):
            self.refuse_not(node, kind)
        if isinstance(kind, T.Static) and isinstance(kind.value, enum.IntEnum):
            message = say("The emulator does not compute with {kind}.", kind=kind)
            raise rejection("unsupported", message, node, _ENUM_HINT)
        if not isinstance(operand.type, np.dtype):
            raise rejection(
                "compile-error", say("Numba cannot negate {type}.", type=operand.type), node
            )
        if isinstance(node.op, ast.Not):
            return Typed(T.BOOL)
        if isinstance(node.op, ast.Invert) and T.is_float(operand.type):
            raise rejection(
                "compile-error",
                say("Numba cannot invert the bits of {type}.", type=operand.type),
                node,
            )
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return self.known(node, -node.operand.value)  # type: ignore[operator]  # a number
        if isinstance(node.op, ast.Invert) and operand.type == T.BOOL:
            result = T.BOOL
        else:
            result = T.negation_type(operand.type)
        self.typing.operands[node] = result
        return Typed(result)

    def refuse_not(self, node: ast.UnaryOp, kind: T.Type) -> None:
        """`not` of what is no number: Numba has it for tuples, None, texts and members."""
        known = None | str | enum.Enum
        if not isinstance(kind, T.Static) or isinstance(kind.value, known):
            hint = "Write the comparison that is meant, such as `len(t) == 0` or `x is None`."
            raise rejection("unsupported", "The emulator knows `not` of numbers only.", node, hint)

    def boolean(self, node: ast.BoolOp, env: Environment) -> Typed:
        result: T.Type | None = None
        for value in node.values:
            self.condition(value, env)
            kind = self.typing.types[value]
            result = kind if result is None else self.unified(result, kind, node, "operands")
            self.note_purity(value)
        assert result is not None
        return Typed(result)

    def compare(self, node: ast.Compare, env: Environment) -> Typed:
        operands = [self.expression(each, env) for each in [node.left, *node.comparators]]
        for op, left, right in zip(node.ops, operands[:-1], operands[1:], strict=True):
            self.compare_types(node, op, left.type, right.type)
        for each in node.comparators[1:]:
            self.note_purity(each)
        return Typed(T.BOOL)

    def compare_types(self, node: ast.Compare, op: ast.cmpop, left: T.Type, right: T.Type) -> None:
        identity = isinstance(op, ast.Is | ast.IsNot)
        if identity and T.Static(None) in (left, right):
            return
        if identity and isinstance(left, T.ArrayType) and isinstance(right, T.ArrayType):
            # Numba has it; but whether a check passes one array twice is no answer's business.
            message = "An answer may not ask whether two arrays are the same."
            raise rejection("not-allowed", message, node)
        if isinstance(op, ast.In | ast.NotIn):
            return self.compare_contents(node, left, right)
        if isinstance(left, T.TupleType) and isinstance(right, T.TupleType) and not identity:
            return self.compare_tuples(node, left, right)
        if self.compare_members(node, op, left, right):
            return
        if isinstance(left, np.dtype) and isinstance(right, np.dtype) and not identity:
            return
        if identity or _are_texts_or_none(op, left, right):
            hint = "`==` compares numbers, and `is None` asks for None."
            raise rejection(
                "unsupported",
                say(
                    "The emulator cannot compare {left} with {right} in this way.",
                    left=left,
                    right=right,
                ),
                node,
                hint,
            )
        raise rejection(
            "compile-error",
            say("Numba cannot compare {left} with {right} in this way.", left=left, right=right),
            node,
            lacking(left) or lacking(right),
        )

    def compare_members(
        self, node: ast.Compare, op: ast.cmpop, left: T.Type, right: T.Type
    ) -> bool:
        """Whether two members of enumerations are compared for being one; that is known now."""
        values = [each.value for each in (left, right) if isinstance(each, T.Static)]
        members = [value for value in values if isinstance(value, enum.Enum)]
        alike = len(members) == 2 and type(members[0]) is type(members[1])
        if alike and len(node.ops) == 1 and isinstance(op, ast.Eq | ast.NotEq | ast.Is):
            same = members[0] is members[1]
            self.typing.constants[node] = np.bool_(same != isinstance(op, ast.NotEq))
            return True
        whole = any(isinstance(each, enum.IntEnum) for each in members)
        if members and (whole or (alike and isinstance(op, ast.Eq | ast.NotEq | ast.IsNot))):
            message = say(
                "The emulator cannot compare {left} with {right} in this way.",
                left=left,
                right=right,
            )
            raise rejection("unsupported", message, node, _ENUM_HINT)
        return False

    def compare_contents(self, node: ast.Compare, left: T.Type, right: T.Type) -> None:
        """`in` and `not in`: Numba has them for tuples of one type, arrays, ranges and texts."""
        if isinstance(right, T.TupleType) and (not right.items or right.is_uniform):
            if not right.items or (T.is_scalar(left) and T.is_scalar(right.items[0])):
                return
            if isinstance(left, T.TupleType) and T.same(left, right.items[0]):
                raise rejection(
                    "unsupported",
                    "The emulator looks for numbers in tuples of numbers only.",
                    node,
                    "`==` compares two tuples.",
                )
        elif isinstance(right, T.ArrayType | T.FlatType | T.RangeType) or _is_text(right):
            message = say("The emulator does not look into {right} with `in`.", right=right)
            hint = "A loop, or a comparison with both bounds, finds out the same."
            raise rejection("unsupported", message, node, hint)
        raise rejection(
            "compile-error",
            say("Numba cannot look for {left} in {right}.", left=left, right=right),
            node,
        )

    def compare_tuples(self, node: ast.Compare, left: T.TupleType, right: T.TupleType) -> None:
        """Refuse tuples that cannot be compared item by item; note which are arrays' shapes."""
        if not all(map(T.is_scalar, (*left.items, *right.items))):
            message = say(
                "The emulator cannot compare {left} with {right}.", left=left, right=right
            )
            raise rejection("unsupported", message, node, "Compare their numbers one by one.")
        sides = (node.left, *node.comparators)
        self.typing.shapes.update(side for side in sides if _is_shape(side, self.kernel))

    def conditional(self, node: ast.IfExp, env: Environment) -> Typed:
        self.condition(node.test, env)
        if isinstance(node.test, ast.Constant):
            return self.expression(node.body if node.test.value else node.orelse, env)
        left, right = self.expression(node.body, env), self.expression(node.orelse, env)
        self.note_purity(node.body)
        self.note_purity(node.orelse)
        if left == right:
            return left
        return Typed(self.unified(left.type, right.type, node, "branches"))

    def note_purity(self, node: ast.expr) -> None:
        """Remember expressions without memory access or calls: lanes need no mask for them."""
        if not any(isinstance(e, ast.Subscript | ast.Call | ast.NamedExpr) for e in ast.walk(node)):
            self.typing.pure.add(node)

    def tuple_expression(self, node: ast.Tuple, env: Environment) -> Typed:
        if any(isinstance(item, ast.Starred) for item in node.elts):
            hint = "Write out the items: (t[0], t[1], x)."
            raise rejection("unsupported", "The emulator knows tuples without `*`.", node, hint)
        items = [self.expression(item, env) for item in node.elts]
        literal = tuple(item.literal for item in items)
        known = all(isinstance(value, int) for value in literal)
        kind = self.bounded_tuple(tuple(item.type for item in items), node)
        return Typed(kind, literal if known else None)

    def list_expression(self, node: ast.List, env: Environment) -> Typed:
        for item in node.elts:
            self.expression(item, env)  # what is forbidden is so in a list, too
        if node in self.harmless_lists():
            hint = "(1, 2) is a tuple."
            raise rejection("unsupported", "The emulator has no lists.", node, hint)
        message = "A kernel has no Python lists; use cuda.local.array."
        raise rejection("compile-error", message, node)

    def harmless_lists(self) -> set[ast.AST]:
        """The lists for which Numba needs no memory: in `for` and `in`, or never used."""
        nodes = [node for statement in self.kernel.body for node in ast.walk(statement)]
        read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        found: set[ast.AST] = set()
        for node in nodes:
            match node:
                case ast.For(iter=ast.List() as items):
                    found.add(items)
                case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.List() as items]):
                    found.add(items)
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() as items):
                    if name not in read:
                        found.add(items)
        return found

    def bounded_tuple(self, items: tuple[T.Type, ...], node: ast.AST) -> T.TupleType:
        kind = T.TupleType(items)
        if kind.leaves > MAX_LEAVES:
            raise rejection("not-allowed", "This tuple has too many items.", node)
        return kind

    def subscript(self, node: ast.Subscript, env: Environment) -> Typed:
        return self.subscript_type(node, env)

    def subscript_type(self, node: ast.Subscript, env: Environment) -> Typed:
        owner = self.expression(node.value, env)
        if isinstance(owner.type, T.TupleType):
            return self.tuple_item(node, owner, env)
        if isinstance(owner.type, T.FlatType):
            if self.index_axes(node.slice, env) != ["index"]:
                message = "The elements of .flat have one number as their index."
                raise rejection("compile-error", message, node)
            self.typing.special[node] = None
            return Typed(owner.type.array.dtype)
        if not isinstance(owner.type, T.ArrayType):
            named = owner.type.value if isinstance(owner.type, T.Static) else None
            if isinstance(named, str | enum.EnumMeta):
                message = say("The emulator does not look into {type} by index.", type=owner.type)
                raise rejection("unsupported", message, node, "Name what is meant, by itself.")
            hint = ""
            if owner.type == T.Static(None) and isinstance(node.value, ast.Name):
                hint = say(
                    "From which line does {name} come? A function without return gives nothing.",
                    name=node.value.id,
                )
            raise rejection(
                "compile-error", say("{type} cannot be indexed.", type=owner.type), node, hint
            )
        if owner.type.dtype.names:
            hint = "Pass every field as an array of its own."
            message = "The fields of an array's records are not emulated."
            raise rejection("unsupported", message, node, hint)
        axes = self.index_axes(node.slice, env)
        if len(axes) > owner.type.ndim:
            raise rejection(
                "compile-error",
                say(
                    "{array} has {axes}, and {given} indices stand in the brackets.",
                    array=ast.unparse(node.value),
                    axes="one axis" if owner.type.ndim == 1 else f"{owner.type.ndim} axes",
                    given=len(axes),
                ),
                node,
                say(
                    "Which numbers single out an element of {array}?", array=ast.unparse(node.value)
                ),
            )
        self.note_from_end(node)
        part = owner.type.indexed(axes)
        return Typed(part if part.ndim else part.dtype)

    def note_from_end(self, node: ast.Subscript) -> None:
        """Remember on which axes indices are negative as they stand there, on purpose."""
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        axis, negative = 0, []
        for item in items:
            known, kind = self.typing.constants.get(item), self.typing.types.get(item)
            if isinstance(known, np.integer) and known < 0:
                negative.append(axis)
            axis += len(kind.items) if isinstance(kind, T.TupleType) else 1
        if negative:
            self.typing.special[node] = tuple(negative)

    def index_axes(self, index: ast.expr, env: Environment) -> list[str]:
        """For each axis that is indexed: "index" for a number, "slice" for a slice."""
        if isinstance(index, ast.Tuple):
            kinds = [kind for item in index.elts for kind in self.index_axes(item, env)]
            self.typing.types[index] = T.TupleType(
                tuple(self.typing.types.get(item, T.Static("slice")) for item in index.elts)
            )
            return kinds
        if isinstance(index, ast.Slice):
            self.slice_types(index, env)
            return ["slice"]
        if isinstance(index, ast.Constant) and index.value is Ellipsis:
            hint = "An index or `:` for every axis says the same."
            raise rejection("unsupported", "The emulator does not know `...`.", index, hint)
        typed = self.expression(index, env)
        if isinstance(typed.type, T.TupleType) and all(map(T.is_integer, typed.type.items)):
            return ["index"] * len(typed.type.items)
        if T.is_integer(typed.type):
            return ["index"]
        if typed.type == T.Static(None):
            hint = "Leave it out, and index with one number fewer."
            message = "The emulator does not know None as an index."
            raise rejection("unsupported", message, index, hint)
        hint = "Use `//` for a whole number." if T.is_float(typed.type) else lacking(typed.type)
        raise rejection(
            "compile-error", say("{type} cannot be an index.", type=typed.type), index, hint
        )

    def slice_types(self, node: ast.Slice, env: Environment) -> None:
        if node.step is not None:
            hint = "A loop over range(start, stop, step) reaches the same elements."
            message = "The emulator knows slices without a step."
            raise rejection("unsupported", message, node, hint)
        for bound in (node.lower, node.upper):
            kind = T.INT64 if bound is None else self.expression(bound, env).type
            if T.is_scalar(kind) and not T.is_integer(kind):
                message = "The emulator knows slices with whole numbers as bounds."
                raise rejection("unsupported", message, node, "`//` gives a whole number.")
            if not T.is_integer(kind):
                raise rejection("compile-error", "The bounds of a slice must be integers.", node)

    def tuple_item(self, node: ast.Subscript, owner: Typed, env: Environment) -> Typed:
        assert isinstance(owner.type, T.TupleType)
        if isinstance(node.slice, ast.Slice):
            hint = "Name the items: (t[1], t[2])."
            raise rejection("unsupported", "The emulator does not cut tuples.", node, hint)
        index = self.expression(node.slice, env)
        if isinstance(index.literal, int):
            if not -len(owner.type.items) <= index.literal < len(owner.type.items):
                raise rejection(
                    "compile-error",
                    say(
                        "{value} has {items} item(s), so there is no item {index}.",
                        value=ast.unparse(node.value)[:40],
                        items=len(owner.type.items),
                        index=index.literal,
                    ),
                    node,
                )
            literal = owner.literal[index.literal] if isinstance(owner.literal, tuple) else None
            return Typed(owner.type.items[index.literal], literal)
        if T.is_integer(index.type) and len(set(owner.type.items)) == 1:
            return Typed(owner.type.items[0])
        raise rejection("compile-error", "A tuple's index must be a constant here.", node)

    # -- calls ------------------------------------------------------------------------------

    def call(self, node: ast.Call, env: Environment) -> Typed:
        function = self.callee(node, env)
        if len(node.args) + len(node.keywords) > MAX_ARGUMENTS:
            message = say("A call has at most {most} arguments here.", most=MAX_ARGUMENTS)
            raise rejection("not-allowed", message, node)
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            hint = "Write out the arguments one by one."
            raise rejection("unsupported", "The emulator knows plain arguments only.", node, hint)
        arguments = [self.expression(argument, env) for argument in node.args]
        keywords = {
            each.arg: self.expression(each.value, env) for each in node.keywords if each.arg
        }
        match function:
            case Closure(kernel=kernel):
                return self.call_function(node, kernel, arguments, {**self.outer, **env})
            case Kernel():
                return self.call_kernel(node, function, arguments, keywords)
            case Reference(dtype=np.dtype() as dtype):
                return self.cast(node, Cast(dtype), arguments)
            case np.dtype():
                return self.cast(node, Cast(function), arguments)
            case Reference():
                return self.call_intrinsic(node, function, arguments, keywords)
        raise rejection("compile-error", "This cannot be called.", node)

    def callee(self, node: ast.Call, env: Environment) -> object:
        if isinstance(node.func, ast.Lambda):
            return self.lambda_expression(node.func, env).type.value  # type: ignore[union-attr]
        self.called.add(node.func)
        kind = self.expression(node.func, env).type
        if isinstance(kind, T.Static):
            return kind.value
        if isinstance(kind, T.ArrayType | T.TupleType):
            hint = "What stands in it is taken out with square brackets."
        else:
            hint = "It is a number already: it needs no brackets." if T.is_scalar(kind) else ""
        raise rejection("compile-error", say("{kind} cannot be called.", kind=kind), node, hint)

    def lambda_expression(self, node: ast.Lambda, env: Environment) -> Typed:
        names = tuple(argument.arg for argument in node.args.args)
        inner = replace(self.kernel, name="<lambda>", parameters=names, tree=node)
        return Typed(T.Static(Closure(inner)))

    def cast(self, node: ast.Call, cast: Cast, arguments: list[Typed]) -> Typed:
        if len(arguments) != 1 or not T.is_scalar(arguments[0].type):
            raise rejection(
                "compile-error", say("{dtype} takes one number.", dtype=cast.dtype), node
            )
        self.typing.calls[node] = cast
        return Typed(cast.dtype)

    def call_kernel(
        self, node: ast.Call, kernel: Kernel, arguments: list[Typed], keywords: dict[str, Typed]
    ) -> Typed:
        if keywords:
            message = "The emulator does not know arguments by name here."
            hint = "Pass the arguments of a device function by place."
            raise rejection("unsupported", message, node, hint)
        if not kernel.is_decorated:
            raise rejection(
                "compile-error",
                say(
                    "{kernel} is a plain Python function; a kernel can call it only if it is "
                    "decorated with @cuda.jit(device=True).",
                    kernel=kernel.name,
                ),
                node,
            )
        return self.call_function(node, kernel, arguments, {})

    def call_function(
        self, node: ast.Call, kernel: Kernel, arguments: list[Typed], outer: Environment
    ) -> Typed:
        if any(each.tree is kernel.tree for each in self.callers):
            raise rejection(
                "unsupported",
                say("{kernel} calls itself.", kernel=kernel.name),
                node,
                "A loop does it.",
            )
        if len(self.callers) > MAX_CALL_DEPTH:
            hint = "Which of these functions could be a loop?"
            message = "Functions call each other too deeply."
            raise rejection("unsupported", message, node, hint)
        kinds, result = self.declared_types(node, kernel, [each.type for each in arguments])
        # A closure sees the variables around it, so its types may differ from call to call.
        known = None if outer else self.common.typings_of(kernel)
        typing = known.get(kinds) if known is not None else None
        if typing is None:
            self.common.enter(4, node)
            depth = self.common.depth
            try:
                typing = self.function_typing(kernel, outer, [Typed(each) for each in kinds])
            except _LiteralNeeded:
                # Numba tries again, with the arguments that are literals. Others may differ.
                self.common.depth, known = depth, None
                literal = [
                    each if type(each.literal) is int and T.same(each.type, kind) else Typed(kind)
                    for each, kind in zip(arguments, kinds, strict=True)
                ]
                typing = self.function_typing(kernel, outer, literal)
            self.common.depth -= 4
            typing.return_type = result or typing.return_type
            if known is not None:
                known[kinds] = typing
        self.typing.calls[node] = typing
        return Typed(typing.return_type)

    def declared_types(
        self, node: ast.Call, kernel: Kernel, kinds: list[T.Type]
    ) -> tuple[tuple[T.Type, ...], np.dtype | None]:
        """What a function makes of arguments of these types, and what it is declared to return."""
        decorators = getattr(kernel.tree, "decorator_list", [])
        declared = declared_signatures(decorators, kernel.namespace) if decorators else []
        exact = [each for each in declared if len(declared) > 1 and _fits(each, kinds)]
        if len(declared) > 1 and not exact:
            message = say(
                "{kernel} has several signatures, and none fits these types exactly.",
                kernel=kernel.name,
            )
            hint = "A cast such as np.float32(…) around each argument decides between them."
            raise rejection("unsupported", message, node, hint)
        if not declared:
            return tuple(kinds), None
        signature = (exact or declared)[0]
        try:
            return signature.cast(kinds), signature.result
        except T.TypingError as error:
            raise rejection(
                "compile-error", say("{kernel} {said}.", kernel=kernel.name, said=error.said), node
            ) from None

    def call_intrinsic(
        self,
        node: ast.Call,
        function: Reference,
        arguments: list[Typed],
        keywords: dict[str, Typed],
    ) -> Typed:
        intrinsic = INTRINSICS.get(function.path)
        if intrinsic is None:
            raise self.unknown_function(node, function)
        if function.path == UNROLL and node not in self.loop_heads:
            raise rejection(
                "compile-error",
                say("{name} stands in the head of a loop only.", name="unroll"),
                node,
            )
        try:
            typed = intrinsic.typing(arguments, keywords)
        except T.TypingError as error:
            raise self.refused_call(node, function, error) from None
        self.typing.calls[node] = intrinsic
        if isinstance(typed.type, T.ArrayType):
            shape = typed.literal
            self.typing.layouts[node] = shape if isinstance(shape, tuple) else (int(shape or 0),)
        return typed

    def refused_call(
        self, node: ast.Call, function: Reference, error: T.TypingError
    ) -> KernelRejected:
        name = _short(function)
        if isinstance(error, T.NotEmulated):
            return rejection(
                "unsupported", say("{name} {said}.", name=name, said=error.said), node, error.hint
            )
        kinds = [self.typing.types.get(each) for each in node.args]
        if function.path.startswith("course_lib."):  # these take arrays, and tuples
            kinds = [each for each in kinds if not isinstance(each, T.ArrayType | T.TupleType)]
        missing = (said for kind in kinds if kind if (said := lacking(kind)))
        hint = error.look_at or next(missing, "")
        refusal = rejection(
            "compile-error", say("{name}: {said}.", name=name, said=error.said), node, hint
        )
        if isinstance(error, T.LiteralNeeded):
            return _LiteralNeeded(refusal)
        if node.keywords and not function.path.startswith(_KEYWORDS_ARE_KNOWN):
            message = say("The emulator does not know the arguments of {name} by name.", name=name)
            return rejection("unsupported", message, node, "Pass them by place.")
        return refusal

    def unknown_function(self, node: ast.Call, function: Reference) -> Exception:
        name = _short(function)
        if function.path.removeprefix("numpy.") in _NUMBAS_NUMPY:
            hint = "math has most of these functions; min, max and operators do the rest."
            return rejection(
                "unsupported", say("The emulator does not know {name}.", name=name), node, hint
            )
        if function.path.startswith("numpy."):
            return rejection(
                "compile-error",
                say(
                    "{name} cannot be used inside a kernel: Numba has few NumPy functions there.",
                    name=name,
                ),
                node,
                "Kernels compute element by element; use loops, and math for functions.",
            )
        if function.path.startswith("numba.cuda.") or function.path.startswith("math."):
            last = "Which operators, or which other functions of math, do the same?"
            hint = next((h for start, h in _INSTEAD.items() if name.startswith(start)), last)
            return rejection(
                "unsupported", say("The emulator does not know {name}.", name=name), node, hint
            )
        if function.path in _NUMBAS_FUNCTIONS:
            hint = _INSTEAD.get(name, "Operators and loops over range() do the same.")
            return rejection(
                "unsupported", say("The emulator does not know {name}.", name=name), node, hint
            )
        if function.path.startswith("course_lib.intrinsics."):
            hint = "The lesson shows what it does; its counts were measured on a GPU."
            return rejection(
                "unsupported", say("{name} runs on a GPU only.", name=name), node, hint
            )
        return rejection(
            "compile-error", say("{name} cannot be called inside a kernel.", name=name), node
        )


def _is_text(kind: T.Type) -> bool:
    return isinstance(kind, T.Static) and isinstance(kind.value, str)


def _are_texts_or_none(op: ast.cmpop, left: T.Type, right: T.Type) -> bool:
    """Whether Numba has this comparison, of texts, None or dtypes."""
    if _is_text(left) and _is_text(right):
        return True
    if not isinstance(op, ast.Eq | ast.NotEq):
        return False
    dtypes = [isinstance(e, T.Static) and isinstance(e.value, np.dtype) for e in (left, right)]
    none_or_text = any(each == T.Static(None) or _is_text(each) for each in (left, right))
    return all(dtypes) or none_or_text


def _fits(signature: Signature, kinds: list[T.Type]) -> bool:
    """Whether a declared signature is for exactly these types."""
    try:
        return signature.cast(kinds) == tuple(kinds)
    except T.TypingError:
        return False


def _is_shape(node: ast.expr, kernel: Kernel) -> bool:
    """Whether an expression is an array's shape, or a name that only ever stands for one."""
    if isinstance(node, ast.Name):
        values = [
            each.value
            for each in ast.walk(kernel.tree)
            if isinstance(each, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == node.id for t in each.targets)
        ]
        return bool(values) and all(map(_is_attribute_shape, values))
    return _is_attribute_shape(node)


def _is_attribute_shape(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "shape"


# NumPy's functions that Numba compiles in a kernel, at least for some arguments.
_NUMBAS_NUMPY = frozenset(
    """acos acosh all any argmax arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh
    atan atan2 atanh dtype
    bitwise_and bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift
    bitwise_xor conj conjugate cos cosh deg2rad degrees divide equal fmax fmin greater
    greater_equal hypot invert isnan left_shift less less_equal log log10 log2 logical_and
    logical_not logical_or logical_xor maximum mean minimum ndenumerate ndindex nditer not_equal
    prod rad2deg radians round right_shift sin sinh sum tan tanh true_divide""".split()
)

# The four tables below: Numba has it, or may have it on some GPU, and the emulator has not.
# Each name was tried with numba-cuda 0.30, which leaves a few open without a GPU (sum, map, max).
_NUMBAS_ARRAY_ATTRIBUTES = frozenset(
    """all any argmax argmin fill imag item itemsize max mean min nbytes prod real reshape
    std sum transpose var view""".split()
)
_NUMBAS_NUMBER_ATTRIBUTES = frozenset("bit_count conjugate imag item real view".split())
_OF_AN_ARRAY = {
    "append": "An array keeps its length. Its elements are written by index, as in out[i] = …",
    "len": "len(a) is the length of an array a; a.shape has one for each axis.",
    "length": "len(a) is the length of an array a; a.shape has one for each axis.",
}
_OF_A_NUMBER = {
    "bit_count": "cuda.popc(…) counts the bits that are set.",
    "imag": "A number that is not complex has the imaginary part 0.",
    "view": "course_lib.intrinsics.float_bits(…) gives the bits of a float.",
}
_METHODS_THAT_ALLOCATE = frozenset("astype copy dot flatten ravel sort".split())
_ENUM_HINT = "`.value` of a member is its number, such as Color.red.value."
_KEYWORDS_ARE_KNOWN = (
    *("builtins.print", "builtins.range"),
    *("numba.cuda.shared", "numba.cuda.local", "numba.cuda.atomic"),
)
_NUMBAS_BUILTINS = (
    "complex enumerate filter isinstance iter map next ord repr slice str sum tuple type zip"
).split()
_NUMBAS_OPERATORS = """add and_ contains eq floordiv ge getitem gt iadd iand ifloordiv ilshift imod
    imul invert inv ior ipow irshift is_ is_not isub itruediv ixor le lshift lt mod mul ne neg not_
    or_ pos pow rshift setitem sub truediv xor""".split()
_NUMBAS_FUNCTIONS = frozenset(
    [f"builtins.{name}" for name in _NUMBAS_BUILTINS]
    + [f"operator.{name}" for name in _NUMBAS_OPERATORS]
    + [f"cmath.{name}" for name in dir(cmath) if not name.startswith("_")]
)


def _shown(value: object) -> str:
    """A value as Python writes it, the beginning of a long one."""
    return repr(value)[:MOST_SHOWN]


def _unknown_attribute(owner: str, node: ast.Attribute) -> str:
    return say(
        "The emulator does not know .{attribute} of {owner}.", attribute=node.attr, owner=owner
    )


def _operator_types(
    op: ast.operator, left: np.dtype, right: np.dtype, exponent: int | None
) -> tuple[np.dtype, np.dtype]:
    """The type of the result, and the type to which the operands are converted."""
    match op:
        case ast.Div():
            result = T.division_type(left, right)
        case ast.BitAnd() | ast.BitOr() | ast.BitXor():
            result = T.bitwise_type(left, right)
        case ast.LShift() | ast.RShift():
            result = T.shift_type(left, right)
        case ast.Pow():
            result = T.power_type(left, right, exponent is not None)
        case ast.MatMult():
            raise T.TypingError("there is no @ inside a kernel")
        case _:
            result = T.arithmetic_type(left, right)
    return result, result


def _literal_integer(node: ast.expr) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _literal_integer(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def _fold(node: ast.BinOp) -> Any:
    """Python itself folds arithmetic on literals before Numba sees it: 2 * 16 is a literal."""
    try:
        return evaluate_constant(node, {})
    except NotConstant:
        return None


# What to do without functions that the emulator does not have.
_INSTEAD = {
    "cuda.atomic.compare_and_swap": "cuda.atomic.cas(array, index, old, new) does the same.",
    "cuda.libdevice": "math has most of these functions.",
    "cuda.cg": "Blocks cannot wait for each other here: split the kernel into two launches.",
    "enumerate": "Loop over range(len(…)), and take each item by its index.",
    "zip": "Loop over range(len(…)), and take each item by its index.",
    "cuda.fp16": "np.float16(x) converts; + - * / compute.",
}


def _short(reference: Reference) -> str:
    path = reference.path
    for long, short in (
        ("numba.cuda.", "cuda."),
        ("builtins.", ""),
        ("numpy.", "np."),
        ("course_lib.intrinsics.", ""),
    ):
        if path.startswith(long):
            return short + path[len(long) :]
    return path


def _symbol(op: ast.operator) -> str:
    symbols = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@"}
    return f"`{symbols.get(type(op), type(op).__name__)}`"


# Builtins that exist in Python, so that using them is a matter of types and not of a typing slip.
_PYTHON_NAMES = frozenset(
    (
        "sum sorted list dict set str print enumerate zip map filter any all isinstance type "
        "reversed super object id hash ord chr complex slice iter next callable format repr "
        "tuple"
    ).split()
)


def _assigned_names(kernel: Kernel) -> frozenset[str]:
    """The names that are local because the function assigns them."""
    stored = {
        node.id
        for statement in kernel.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return frozenset(stored)


_EXPRESSIONS: dict[type, Callable[[ExpressionTyper, Any, Environment], Typed]] = {
    ast.Constant: ExpressionTyper.constant,
    ast.Name: ExpressionTyper.name,
    ast.Attribute: ExpressionTyper.attribute,
    ast.BinOp: ExpressionTyper.binary,
    ast.UnaryOp: ExpressionTyper.unary,
    ast.BoolOp: ExpressionTyper.boolean,
    ast.Compare: ExpressionTyper.compare,
    ast.IfExp: ExpressionTyper.conditional,
    ast.Tuple: ExpressionTyper.tuple_expression,
    ast.List: ExpressionTyper.list_expression,
    ast.Subscript: ExpressionTyper.subscript,
    ast.Call: ExpressionTyper.call,
    ast.Lambda: ExpressionTyper.lambda_expression,
    ast.NamedExpr: ExpressionTyper.named_expression,
}

_REFUSED_EXPRESSIONS: dict[type, tuple[str, str]] = {
    ast.ListComp: ("compile-error", "A kernel has no Python lists; use a loop."),
    ast.SetComp: ("compile-error", "A kernel has no Python sets."),
    ast.DictComp: ("compile-error", "A kernel has no Python dictionaries."),
    ast.GeneratorExp: ("compile-error", "A kernel has no generators; use a loop."),
    ast.Dict: ("compile-error", "A kernel has no Python dictionaries."),
    ast.Set: ("compile-error", "A kernel has no Python sets."),
    ast.JoinedStr: ("compile-error", "A kernel has no formatted strings."),
    ast.Yield: ("compile-error", "A kernel cannot yield."),
    ast.Await: ("compile-error", "A kernel cannot wait."),
}


def _hint_at(name: str) -> str | Sentence:
    """What a student may have meant by a name that is not defined."""
    if belongs_to_cuda(name):
        return "It belongs to cuda: is `cuda.` missing before it?"
    if len(name) == 1 and name.isupper():  # the sizes of a matrix, as a text calls them
        return say("A kernel is given arrays only. Which entry of a .shape is {name}?", name=name)
    return "Is it mistyped, or is an import missing?"


def lacking(kind: T.Type) -> str:
    """What a type that is no number most likely lacks, as a hint; "" if that cannot be told."""
    if isinstance(kind, T.TupleType):
        if kind.items and all(map(T.is_float, kind.items)):
            return "These are several numbers: which of them is meant, or what takes them all?"
        return "A shape holds several numbers, one for each axis: which one is meant?"
    if isinstance(kind, T.ArrayType):
        return "An array holds many numbers: is its length meant, or one of its elements?"
    if not isinstance(kind, T.Static) or not isinstance(kind.value, Reference):
        return ""
    path = kind.value.path
    if path in REGISTERS_WITH_AXES:
        return "It has a number for each direction: .x, .y and .z."
    if path in INTRINSICS:
        return say("{name} is a function: what follows it in brackets?", name=_short(kind.value))
    known = {each.lower(): each for each in ATTRIBUTES}  # threadidx.x and threadIdx.X alike
    near = difflib.get_close_matches(path.lower(), known, n=1, cutoff=0.9)
    return say("Did you mean {near}?", near=known[near[0]].removeprefix("numba.")) if near else ""
