"""Expressions of a program's host part: names, attributes and operators, also of arrays."""

from __future__ import annotations

import ast
import builtins
import operator
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from course_lib.emulator import Budget, Kernel
from course_lib.emulator.language.constants import constant_of_reference
from course_lib.emulator.language.names import Reference, Unusable
from course_lib.emulator.language.operators import BINARY, COMPARE, UNARY
from course_lib.emulator.plain import values
from course_lib.emulator.plain.functions import (
    FROM_ITEMS,
    FUNCTIONS,
    Function,
    Scope,
    look_up,
    stopped,
)
from course_lib.emulator.plain.interpreter import Interpreter
from course_lib.emulator.plain.values import Items
from course_lib.host.device_array import EmulatedDeviceArray
from course_lib.tab.fields import Refused
from course_lib.tab.programs.names import Missing, NotRun
from course_lib.tab.programs.numpy_functions import (
    KINDS,
    arrays_in,
    check_size,
    owner_of,
    product_size,
)
from course_lib.tab.programs.objects import (
    Configured,
    Method,
    TellingKernel,
    element_size,
    entry_of,
    in_format,
    percent,
    text_of,
)
from course_lib.wording.errors import NoGpuHere, PlainError
from course_lib.wording.sentences import say

STEPS = 250_000  # of the host part: seconds in a browser
BYTES_PER_STEP = 4096  # of the arrays that a step makes or looks at
PRODUCTS_PER_STEP = 2048  # of numbers, where matrices are multiplied
MOST_BYTES = 256 << 20  # of all arrays that a program has at a time
OF_NUMPY = (np.ndarray, np.generic, EmulatedDeviceArray)


class HostExpressions(Interpreter):
    """The values of a program.

    Attributes:
        top: the scope of the module.
        functions: those of the host, by what the emulator has read of them.
        unknown: arrays of which nobody knows what stands in them, as a line was not run; by the
            identity of whoever holds their elements.
        bytes: of all arrays that there are.
    """

    def __init__(self, names: dict[str, Any]) -> None:
        super().__init__(Budget(steps=STEPS))
        self.top = Scope(names, frozenset(), None, names)
        self.functions: dict[Kernel, Function] = {}
        self.unknown: dict[int, tuple[np.ndarray, Missing]] = {}
        self.bytes = 0

    def size(self, value: Any) -> int:
        if isinstance(value, OF_NUMPY):
            return values.ITEMS_PER_STEP * (value.nbytes // BYTES_PER_STEP)
        return values.size(value)

    def checked(self, value: Any) -> Any:
        if isinstance(value, EmulatedDeviceArray):
            self.account(value.buffer)
        elif isinstance(value, np.ndarray):
            self.account(value)
        elif isinstance(value, (tuple, list)):
            values.count(value)
        else:
            return values.checked(value)
        return value

    def account(self, array: np.ndarray) -> None:
        """Count an array's bytes for as long as it lives."""
        if array.dtype.kind not in KINDS:
            raise Refused("only arrays of numbers are known here.")
        if array.base is not None:
            return
        self.bytes += array.nbytes
        weakref.finalize(array, self.forget, array.nbytes)
        if self.bytes > MOST_BYTES:
            most = MOST_BYTES >> 20
            raise Refused(f"all arrays together may have {most} MB here.")

    def forget(self, size: int) -> None:
        self.bytes -= size

    def guarded(self, node: ast.AST, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return super().guarded(node, function, *arguments)
        except (NotImplementedError, MemoryError, NoGpuHere) as error:
            raise NotRun(str(error) or f"{type(error).__name__}.") from None
        except (PlainError, AssertionError) as error:
            said = " ".join(str(error).split())
            code = "wrong-result" if isinstance(error, AssertionError) else "wrong-formula"
            stopped(node, say("Python stops here: {said}.", said=said[:300].rstrip(".")), code=code)
        except AttributeError as error:
            stopped(node, say("Python stops here: {said}.", said=str(error)))

    def known(self, name: str, value: Any) -> Any:
        """What a name stands for.

        Raises:
            NotRun: if nobody knows.
        """
        if isinstance(value, Missing):
            raise value.needed_as(name)
        if isinstance(value, Unusable):
            raise NotRun(value.reason)
        for array in arrays_in(value) if self.unknown else ():
            if id(owner_of(array)) in self.unknown:
                raise self.unknown[id(owner_of(array))][1].needed_as(name)
        return self.functions.get(value, value) if isinstance(value, Kernel) else value

    def evaluate(self, node: ast.expr, scope: Scope) -> Any:
        match node:
            case ast.Constant(value=value) if value is Ellipsis:
                return value
            case ast.Name(id=name):
                return self.name(name, node, scope)
            case ast.Attribute(value=owner, attr=name):
                return self.attribute(self.value(owner, scope), name)
            case ast.Dict() | ast.DictComp() | ast.NamedExpr() | ast.Await() | ast.Yield():
                what = ast.unparse(node)[:60]
                raise NotRun(say("`{what}` is not supported here.", what=what))
        return super().evaluate(node, scope)

    def name(self, name: str, node: ast.Name, scope: Scope) -> Any:
        here: Scope | None = scope
        while here is not None and name not in here.variables:
            if name in here.own:
                break
            here = here.outer
        if here is not None and name in here.variables:
            return self.known(name, here.variables[name])
        if here is None and name in self.top.names:
            return self.known(name, self.top.names[name])
        path = f"builtins.{name}"
        if hasattr(builtins, name) and path not in (*FUNCTIONS, *FROM_ITEMS):
            raise NotRun(say("{name} is not supported here.", name=name))
        return look_up(name, node, scope, self.spend)  # of Python, or nothing

    def attribute(self, owner: Any, name: str) -> Any:
        if isinstance(owner, Reference) and not name.startswith("_"):
            reference = owner.attribute(name)
            if reference.path == "numpy.newaxis":
                return None
            constant = constant_of_reference(reference)
            return reference if constant is None else constant
        entry = entry_of(owner)
        if entry and name in entry.attributes:
            return self.checked(getattr(owner, name))
        if entry and name in entry.methods:
            return Method(owner, name)
        raise NotRun(say("the attribute {name} is not supported here.", name=name))

    def refuse_names(self, *operands: Any) -> None:
        """What a module's name stands for, nobody knows here, unless it is called.

        Raises:
            NotRun: for the first of them.
        """
        for operand in operands:
            if isinstance(operand, Reference):
                raise NotRun(say("{name} is not supported here.", name=operand.path))

    def binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        self.refuse_names(left, right)
        if isinstance(left, str) and isinstance(op, ast.Mod):
            return percent(left, right)
        if not isinstance(left, OF_NUMPY) and not isinstance(right, OF_NUMPY):
            if isinstance(op, ast.Add) and isinstance(left, list) and isinstance(right, list):
                return left + right
            return values.binary(op, left, right)
        if isinstance(op, ast.MatMult):
            product_size(left, right)
            self.spend_product(left, right)
            return np.matmul(left, right)
        for operand in (left, right):
            if not isinstance(operand, (*values.Number, np.ndarray, np.generic)):
                raise TypeError(f"{type(operand).__name__} is not a number or an array of numbers")
        check_size(np.broadcast_shapes(np.shape(left), np.shape(right)))
        if isinstance(op, ast.Pow):
            return operator.pow(left, right)
        return BINARY[type(op)](left, right)

    def spend_product(self, left: Any, right: Any) -> None:
        """A product of matrices costs more than their bytes."""
        columns = np.shape(right)[-1] if np.ndim(right) > 1 else 1
        cost = int(np.size(left)) * int(columns) // PRODUCTS_PER_STEP
        if cost > self.steps.left:
            raise Refused("this matrix product takes too long here.")
        self.steps.spend(cost, 0)

    def unary(self, op: ast.unaryop, operand: Any) -> Any:
        self.refuse_names(operand)
        if isinstance(operand, OF_NUMPY):
            return not operand if isinstance(op, ast.Not) else UNARY[type(op)](operand)
        return values.unary(op, operand)

    def element(self, items: Any, index: Any) -> Any:
        self.refuse_names(items, index)
        if isinstance(items, Kernel):
            return self.configured(items, index)
        if isinstance(items, TellingKernel):
            return replace(self.configured(items.kernel, index), is_told=True)
        if isinstance(items, (np.ndarray, EmulatedDeviceArray)):
            element_size(items, index)
            return items[index]
        if isinstance(index, np.integer):
            index = int(index)
        return values.element(items, index)

    def configured(self, kernel: Kernel, index: Any) -> Configured:
        parts = index if isinstance(index, tuple) else (index,)
        if not 2 <= len(parts) <= 4:
            raise TypeError("a launch needs its grid and its block: kernel[grid, block](…)")
        shared = int(parts[3]) if len(parts) == 4 else 0
        return Configured(kernel, parts[0], parts[1], shared)

    def truth(self, node: ast.expr, value: Any) -> bool:
        """What `if value:` decides by."""
        if isinstance(value, OF_NUMPY):
            return bool(self.guarded(node, bool, value))
        return values.truth(value)

    def compared(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        if not isinstance(left, OF_NUMPY) and not isinstance(right, OF_NUMPY):
            return values.compare(op, left, right)
        if isinstance(op, ast.Is | ast.IsNot):
            return values.compare(op, left, right)
        if isinstance(op, ast.In | ast.NotIn):
            return (left in right) == isinstance(op, ast.In)
        check_size(np.broadcast_shapes(np.shape(left), np.shape(right)))
        return COMPARE[type(op)](left, right)

    def index(self, node: ast.expr, scope: Scope) -> Any:
        if isinstance(node, ast.Tuple):
            return tuple(self.index(part, scope) for part in node.elts)
        return super().index(node, scope)

    def iterate(self, items: Any, node: ast.AST) -> Iterator[Any]:
        self.refuse_names(items)
        return super().iterate(Items(iter(items)) if isinstance(items, np.ndarray) else items, node)

    def text(self, part: ast.expr, scope: Scope) -> str:
        """A part of an f-string."""
        if not isinstance(part, ast.FormattedValue):
            result: str = self.value(part, scope)
            return result
        value = self.value(part.value, scope)
        form = "" if part.format_spec is None else self.value(part.format_spec, scope)
        if part.conversion == ord("r"):
            self.guarded(part, text_of, value)
            value = repr(value)
        result = self.guarded(part, in_format, value, form)
        return result
