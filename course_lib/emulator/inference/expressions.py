"""Gives one expression of a kernel its type, and refuses what Numba's compiler would refuse."""

from __future__ import annotations

import ast
from typing import ClassVar

from course_lib.emulator.functions import (
    arrays,  # noqa: F401  (joins INTRINSICS)
    atomics,  # noqa: F401  (joins INTRINSICS)
    barriers,  # noqa: F401  (joins INTRINSICS)
    builtin_functions,  # noqa: F401  (joins INTRINSICS)
    cache_hints,  # noqa: F401  (joins INTRINSICS)
    complex_functions,  # noqa: F401  (joins INTRINSICS)
    iteration,  # noqa: F401  (joins INTRINSICS)
    libdevice,  # noqa: F401  (joins INTRINSICS)
    math_functions,  # noqa: F401  (joins INTRINSICS)
    random_functions,  # noqa: F401  (joins INTRINSICS)
    registers,  # noqa: F401  (joins INTRINSICS)
    tensor_cores,  # noqa: F401  (joins INTRINSICS)
    ufuncs,  # noqa: F401  (joins INTRINSICS)
    vector_types,  # noqa: F401  (joins INTRINSICS)
    warp_functions,  # noqa: F401  (joins INTRINSICS)
    wide_functions,  # noqa: F401  (joins INTRINSICS)
)
from course_lib.emulator.inference.attributes import AttributeTyper
from course_lib.emulator.inference.calls import CallTyper
from course_lib.emulator.inference.comparisons import ComparisonTyper
from course_lib.emulator.inference.operators import OperatorTyper
from course_lib.emulator.inference.subscripts import SubscriptTyper
from course_lib.emulator.inference.values import ValueTyper


class ExpressionTyper(
    AttributeTyper, CallTyper, ComparisonTyper, OperatorTyper, SubscriptTyper, ValueTyper
):
    """Types the expressions of one function; `infer.py` adds the flow of control."""

    handlers: ClassVar = {
        ast.Constant: ValueTyper.constant,
        ast.Name: ValueTyper.name,
        ast.Attribute: AttributeTyper.attribute,
        ast.BinOp: OperatorTyper.binary,
        ast.UnaryOp: OperatorTyper.unary,
        ast.BoolOp: OperatorTyper.boolean,
        ast.Compare: ComparisonTyper.compare,
        ast.IfExp: ValueTyper.conditional,
        ast.Tuple: ValueTyper.tuple_expression,
        ast.List: ValueTyper.list_expression,
        ast.Subscript: SubscriptTyper.subscript,
        ast.Call: CallTyper.call,
        ast.Starred: CallTyper.starred,
        ast.Lambda: CallTyper.lambda_expression,
        ast.NamedExpr: ValueTyper.named_expression,
    }
