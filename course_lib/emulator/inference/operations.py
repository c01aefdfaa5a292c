"""Types operators between numbers, and comparisons, as Numba's compiler does."""

import ast
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.inference.typer import Environment, Typer
from course_lib.emulator.inference.unknown_names import ENUM_HINT, lacking
from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.emulator.language.intrinsics import Typed
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.operators import BINARY, UNARY
from course_lib.wording.sentences import say


class OperatorTyper(Typer):
    """Types arithmetic, bits, signs, `not`, `and` and `or`, and comparisons."""

    def binary(self, node: ast.BinOp, env: Environment) -> Typed:
        left, right = self.expression(node.left, env), self.expression(node.right, env)
        self.refuse_members_beside_floats(node.left, node.right)
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
            in_place = isinstance(node, ast.AugAssign) and isinstance(op, ast.Div)
            if in_place and isinstance(left, T.ArrayType):
                message = "The emulator divides elements, and not whole arrays."
                raise rejection("unsupported", message, node, "A loop divides each element.")
            if isinstance(left, T.ArrayType) or isinstance(right, T.ArrayType):
                hint = "A thread works on elements, not on whole arrays. Is an index missing?"
            hint = hint or lacking(left) or lacking(right)
            raise rejection("compile-error", message, node, hint)
        exponent = node.right if isinstance(node, ast.BinOp) else node.value
        try:
            if isinstance(op, ast.MatMult):
                raise T.TypingError("has no @ inside a kernel")
            if isinstance(op, ast.Pow) and _is_integer_literal(exponent):
                right = T.INT32
            result = BINARY[type(op)].result(left, right)
        except T.TypingError as error:
            raise rejection("compile-error", say("Numba {said}.", said=error.said), node) from None
        self.typing.operands[node] = result
        return result

    def unary(self, node: ast.UnaryOp, env: Environment) -> Typed:
        operand = self.expression(node.operand, env)
        kind = operand.type
        if isinstance(node.op, ast.Not) and isinstance(
            kind, T.TupleType | T.Static | T.FlatType | T.EnumType
        ):
            self.refuse_not(node, kind)
        if not isinstance(operand.type, np.dtype):
            raise rejection(
                "compile-error", say("Numba cannot negate {type}.", type=operand.type), node
            )
        if isinstance(node.op, ast.Not):
            return Typed(T.BOOL)
        if isinstance(node.op, ast.Invert) and operand.type.kind in "fc":
            message = say("Numba cannot invert the bits of {type}.", type=operand.type)
            raise rejection("compile-error", message, node)
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            return self.known(node, -node.operand.value)  # type: ignore[operator]  # a number
        result = UNARY[type(node.op)].result(operand.type)
        self.typing.operands[node] = result
        return Typed(result)

    def refuse_not(self, node: ast.UnaryOp, kind: T.Type) -> None:
        """`not` of what is no number: Numba has it for tuples, None, texts and members."""
        known = str | None
        if not isinstance(kind, T.Static) or isinstance(kind.value, known):
            hint = "Write the comparison that you mean, such as `len(t) == 0` or `x is None`."
            raise rejection(
                "unsupported", "The emulator supports `not` only for numbers.", node, hint
            )

    def boolean(self, node: ast.BoolOp, env: Environment) -> Typed:
        result: T.Type | None = None
        for value in node.values:
            self.condition(value, env)
            kind = self.typing.types[value]
            result = kind if result is None else self.unified(result, kind, node, "operands")
            self.note_purity(value)
        assert result is not None
        return Typed(result)

    # -- comparisons: of numbers, tuples, members of enumerations, and `in` --------------------

    def compare(self, node: ast.Compare, env: Environment) -> Typed:
        sides = [node.left, *node.comparators]
        operands = [self.expression(side, env) for side in sides]
        for pair in pairwise(sides):
            self.refuse_members_beside_floats(*pair)
        for op, (left, right) in zip(node.ops, pairwise(operands), strict=True):
            whole = T.is_scalar(left.type) and T.is_scalar(right.type)
            if whole and isinstance(op, ast.Is | ast.IsNot):
                self.compare_identity(node, op, left, right)
            else:
                self.compare_types(node, op, left.type, right.type)
        for comparator in node.comparators[1:]:
            self.note_purity(comparator)
        return Typed(T.BOOL)

    def compare_identity(self, node: ast.Compare, op: ast.cmpop, left: Typed, right: Typed) -> None:
        """`is` between numbers: equal values of one type; never so of two, or of two enumerations.

        A function does not know which of its arguments were members of enumerations.
        """
        if T.same(left.type, right.type) and left.members == right.members:
            if left.type != T.INT64 or len(self.callers) == 1:
                return
        elif len(node.ops) == 1 and not any(isinstance(e, ast.Call) for e in ast.walk(node)):
            never = ast.copy_location(ast.Constant(isinstance(op, ast.IsNot)), node)
            self.expression(never, {})
            self.typing.rewritten[node] = never
            return
        message = "The emulator does not support `is` between these numbers."
        raise rejection("unsupported", message, node, "`==` compares numbers.")

    def compare_types(self, node: ast.Compare, op: ast.cmpop, left: T.Type, right: T.Type) -> None:
        identity = isinstance(op, ast.Is | ast.IsNot)
        known = isinstance(left, T.Static) and isinstance(right, T.Static)  # a function, or None
        is_equality = isinstance(op, ast.Eq | ast.NotEq) and len(node.ops) == 1
        if T.Static(None) in (left, right) and (identity or (known and is_equality)):
            if len(node.ops) == 1:
                holds = isinstance(op, ast.Is | ast.Eq)
                self.typing.constants[node] = np.bool_((left == right) == holds)
            return
        if identity and isinstance(left, T.ArrayType) and isinstance(right, T.ArrayType):
            # Numba has it; but whether a check passes one array twice is no answer's business.
            message = "An answer must not test whether two arrays are the same."
            raise rejection("not-allowed", message, node)
        if isinstance(op, ast.In | ast.NotIn):
            return self.compare_contents(node, left, right)
        if isinstance(left, T.TupleType) and isinstance(right, T.TupleType) and not identity:
            return self.compare_tuples(node, left, right)
        if self.compare_members(node, op, left, right):
            return
        if isinstance(left, np.dtype) and isinstance(right, np.dtype) and not identity:
            if not isinstance(op, ast.Eq | ast.NotEq):
                self.refuse_order(node, [left, right])
            return
        if identity or _are_texts_or_none(op, left, right):
            hint = "`==` compares numbers, and `is None` asks for None."
            message = "The emulator cannot compare {left} with {right} in this way."
            raise rejection("unsupported", message, node, hint, left=left, right=right)
        message = say(
            "Numba cannot compare {left} with {right} in this way.", left=left, right=right
        )
        raise rejection("compile-error", message, node, lacking(left) or lacking(right))

    def refuse_order(self, node: ast.Compare, kinds: Sequence[T.Type]) -> None:
        """Refuse `<` and its like of complex numbers."""
        if any(map(T.is_complex, kinds)):
            message = "Complex numbers have no order, so only == and != compare them."
            hint = "abs(z) is a length, and z.real ** 2 + z.imag ** 2 is its square."
            raise rejection("compile-error", message, node, hint)

    def compare_members(
        self, node: ast.Compare, op: ast.cmpop, left: T.Type, right: T.Type
    ) -> bool:
        """Whether two members of enumerations are compared for being one."""
        if not isinstance(left, T.EnumType) and not isinstance(right, T.EnumType):
            return False
        if isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            if left == right:
                return True
            message = "The emulator cannot compare {left} with {right} in this way."
            raise rejection("unsupported", message, node, ENUM_HINT, left=left, right=right)
        return False

    def compare_contents(self, node: ast.Compare, left: T.Type, right: T.Type) -> None:
        """`in` and `not in`: Numba has them for tuples of one type, arrays, ranges and texts."""
        if isinstance(right, T.TupleType) and (not right.items or right.is_uniform):
            if not right.items or (T.is_scalar(left) and T.is_scalar(right.items[0])):
                return
            if isinstance(left, T.TupleType) and T.same(left, right.items[0]):
                message = (
                    "With `in`, the emulator can only look for a number in a tuple of numbers."
                )
                raise rejection("unsupported", message, node, "`==` compares two tuples.")
        elif isinstance(right, T.ArrayType | T.FlatType | T.RangeType) or is_text(right):
            message = say("The emulator does not support `in` for {right}.", right=right)
            hint = "Use a loop, or compare with both bounds."
            raise rejection("unsupported", message, node, hint)
        message = say("Numba cannot look for {left} in {right}.", left=left, right=right)
        raise rejection("compile-error", message, node)

    def compare_tuples(self, node: ast.Compare, left: T.TupleType, right: T.TupleType) -> None:
        """Refuse tuples that cannot be compared item by item; note which are arrays' shapes."""
        if not all(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
            self.refuse_order(node, [*left.items, *right.items])
        if not all(map(T.is_scalar, (*left.items, *right.items))):
            message = say(
                "The emulator cannot compare {left} with {right}.", left=left, right=right
            )
            raise rejection("unsupported", message, node, "Compare their numbers one by one.")
        sides = (node.left, *node.comparators)
        self.typing.shapes.update(side for side in sides if _is_shape(side, self.kernel))


def _is_integer_literal(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _is_integer_literal(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) is int


def _fold(node: ast.BinOp) -> Any:
    """Python itself folds arithmetic on literals before Numba sees it: 2 * 16 is a literal."""
    try:
        return evaluate_constant(node, {})
    except NotConstant:
        return None


def _symbol(op: ast.operator) -> str:
    symbols = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@"}
    return f"`{symbols.get(type(op), type(op).__name__)}`"


def is_text(kind: T.Type) -> bool:
    return isinstance(kind, T.Static) and isinstance(kind.value, str)


def _are_texts_or_none(op: ast.cmpop, left: T.Type, right: T.Type) -> bool:
    """Whether Numba has this comparison, of texts, None or dtypes."""
    if is_text(left) and is_text(right):
        return True
    if not isinstance(op, ast.Eq | ast.NotEq):
        return False
    dtypes = [isinstance(e, T.Static) and isinstance(e.value, np.dtype) for e in (left, right)]
    none_or_text = any(operand == T.Static(None) or is_text(operand) for operand in (left, right))
    return all(dtypes) or none_or_text


def _is_shape(node: ast.expr, kernel: Kernel) -> bool:
    """Whether an expression is an array's shape, or a name that only ever stands for one."""
    if isinstance(node, ast.Name):
        values = [
            statement.value
            for statement in ast.walk(kernel.tree)
            if isinstance(statement, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == node.id for t in statement.targets)
        ]
        return bool(values) and all(map(_is_attribute_shape, values))
    return _is_attribute_shape(node)


def _is_attribute_shape(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "shape"
