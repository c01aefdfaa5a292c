"""Types operators between numbers, as Numba's compiler does."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from course_lib.emulator.errors import rejection
from course_lib.emulator.functions.intrinsics import Typed
from course_lib.emulator.inference.hints import lacking
from course_lib.emulator.inference.typer import Typer
from course_lib.emulator.inference.typings import Environment
from course_lib.emulator.language import types as T
from course_lib.emulator.language.constants import NotConstant, evaluate_constant
from course_lib.sentences import say


class OperatorTyper(Typer):
    """Types arithmetic, bits, signs, `not`, `and` and `or`."""

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
        known = str | None
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
            if T.is_complex(result) and isinstance(op, ast.FloorDiv | ast.Mod):
                raise T.TypingError("complex numbers have no // and no %")
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


def _symbol(op: ast.operator) -> str:
    symbols = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.MatMult: "@"}
    return f"`{symbols.get(type(op), type(op).__name__)}`"
