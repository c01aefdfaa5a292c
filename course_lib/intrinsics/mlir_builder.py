"""numba-cuda-mlir's compiler under llvmlite's names: types, builder and context of code generators.

The functions of this package say in llvmlite's words which code they are. numba-cuda-mlir has no
llvmlite; what it compiles is MLIR, whose dialect "llvm" has the same instructions. So each word
that the generators use is said again here, and a function has one definition, not two.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from numba_cuda_mlir import lowering_utilities as utilities
from numba_cuda_mlir._mlir import ir as mlir
from numba_cuda_mlir._mlir.dialects import arith, llvm
from numba_cuda_mlir.extending import intrinsic, refresh_registries
from numba_cuda_mlir.numba_cuda import types
from numba_cuda_mlir.numba_cuda.core.errors import TypingError

__all__ = [
    "Constant", "FloatType", "FunctionType", "InlineAsm", "IntType", "LiteralStructType",
    "PointerType", "TypingError", "Undefined", "VectorType", "VoidType", "device_function", "types",
]  # fmt: skip

Undefined = object()
PREDICATES = {"!=": arith.CmpIPredicate.ne, "==": arith.CmpIPredicate.eq}


# --- Types -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VoidType:
    """No result."""

    def mlir(self) -> Any:
        return None


@dataclass(frozen=True)
class IntType:
    """A word of so many bits, with or without a sign."""

    bits: int

    def mlir(self) -> Any:
        return mlir.IntegerType.get_signless(self.bits)


@dataclass(frozen=True)
class FloatType:
    """A float32; MLIR's name for others is given."""

    name: str = "f32"

    def mlir(self) -> Any:
        return mlir.Type.parse(self.name)


@dataclass(frozen=True)
class PointerType:
    """An address of something, in one of LLVM's address spaces."""

    pointee: Any
    addrspace: int = 0

    def mlir(self) -> Any:
        return llvm.PointerType.get(self.addrspace)


@dataclass(frozen=True)
class _Vector:
    """Several numbers side by side."""

    element: Any
    count: int

    def mlir(self) -> Any:
        return mlir.VectorType.get([self.count], self.element.mlir())


VectorType = _Vector


@dataclass(frozen=True)
class LiteralStructType:
    """A tuple, or the several results of a piece of PTX."""

    elements: Sequence[Any]

    def mlir(self) -> Any:
        return llvm.StructType.get_literal([element_type.mlir() for element_type in self.elements])


@dataclass(frozen=True)
class FunctionType:
    """What a piece of PTX returns and takes."""

    returns: Any
    arguments: Sequence[Any]


# --- Values ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Value:
    """A value of MLIR's with its type here; a tuple of Numba's is a Python tuple of values."""

    held: Any
    type: Any


def Constant(kind: Any, value: Any) -> Value:  # llvmlite's name
    """A number known to the compiler; `Undefined` for one that is yet to be filled in."""
    if value is Undefined:
        return Value(llvm.mlir_undef(kind.mlir()), kind)
    return Value(arith.constant(kind.mlir(), value), kind)


@dataclass(frozen=True)
class InlineAsm:
    """A piece of PTX that can be called."""

    kind: FunctionType
    text: str
    constraints: str
    side_effect: bool = False


class MlirBuilder:
    """The instructions that the code generators use."""

    def gep(self, pointer: Value, indices: list[Value], inbounds: bool = False) -> Value:
        (index,) = indices
        kind = pointer.type
        place = llvm.getelementptr(
            kind.mlir(), pointer.held, [index.held], [utilities.GEP_DYNAMIC_INDEX],
            kind.pointee.mlir(), None,
        )  # fmt: skip
        return Value(place, kind)

    def addrspacecast(self, pointer: Value, kind: PointerType) -> Value:
        return Value(llvm.addrspacecast(kind.mlir(), pointer.held), kind)

    def ptrtoint(self, pointer: Value, kind: IntType) -> Value:
        return Value(llvm.ptrtoint(kind.mlir(), pointer.held), kind)

    def bitcast(self, value: Value, kind: Any) -> Value:
        if isinstance(kind, PointerType):  # MLIR's pointers do not say what they point at
            return Value(value.held, kind)
        return Value(llvm.bitcast(kind.mlir(), value.held), kind)

    def load(self, pointer: Value, align: int | None = None) -> Value:
        kind = pointer.type.pointee
        return Value(llvm.load(kind.mlir(), pointer.held, alignment=align), kind)

    def store(self, value: Value, pointer: Value, align: int | None = None) -> None:
        llvm.store(value.held, pointer.held, alignment=align)

    def extract_element(self, vector: Value, lane: Value) -> Value:
        return Value(llvm.extractelement(vector.held, lane.held), vector.type.element)

    def insert_element(self, vector: Value, value: Value, lane: Value) -> Value:
        return Value(llvm.insertelement(vector.held, value.held, lane.held), vector.type)

    def extract_value(self, whole: Value, i: int) -> Value:
        kind = whole.type.elements[i]
        if isinstance(whole.held, tuple):
            return Value(whole.held[i], kind)
        return Value(llvm.extractvalue(kind.mlir(), whole.held, [i]), kind)

    def and_(self, left: Value, right: Value) -> Value:
        return Value(arith.andi(left.held, right.held), left.type)

    def or_(self, left: Value, right: Value) -> Value:
        return Value(arith.ori(left.held, right.held), left.type)

    def lshr(self, left: Value, right: Value) -> Value:
        return Value(arith.shrui(left.held, right.held), left.type)

    def icmp_unsigned(self, which: str, left: Value, right: Value) -> Value:
        return Value(arith.cmpi(PREDICATES[which], left.held, right.held), IntType(1))

    def select(self, condition: Value, left: Value, right: Value) -> Value:
        return Value(arith.select(condition.held, left.held, right.held), left.type)

    def call(self, code: InlineAsm, arguments: list[Value]) -> Value:
        returns = code.kind.returns
        made = llvm.inline_asm(
            returns.mlir(), [argument.held for argument in arguments], code.text, code.constraints,
            has_side_effects=code.side_effect,
        )  # fmt: skip
        return Value(made, returns)


class Context:
    """What the code generators ask of the compiler: arrays, tuples, conversions."""

    def __init__(self, compiler: Any) -> None:
        self.compiler = compiler

    def make_array(self, kind: Any) -> Callable[..., Any]:
        """As llvmlite's Numba has it: `make_array(type)(context, builder, value=array).data`."""
        pointer = PointerType(_in_memory(kind.dtype))

        def made(context: Context, builder: MlirBuilder, value: Value) -> Any:
            return SimpleNamespace(data=Value(utilities.memref_data_pointer(value.held), pointer))

        return made

    def make_tuple(self, builder: MlirBuilder, kind: Any, values: Sequence[Value]) -> Value:
        held = tuple(value.held for value in values)
        return Value(held, LiteralStructType([value.type for value in values]))

    def cast(self, builder: MlirBuilder, value: Value, given: Any, wanted: Any) -> Value:
        return self.plain(self.compiler.lower_cast(given, wanted, value.held), wanted)

    def get_dummy_value(self) -> None:
        return None

    def plain(self, held: Any, kind: Any) -> Value:
        """A value of the compiler's, of one of Numba's types, as a value here."""
        if isinstance(kind, types.BaseTuple):
            parts = [self.plain(value, of) for value, of in zip(held, kind, strict=True)]
            return self.make_tuple(MlirBuilder(), kind, parts)
        if not isinstance(kind, types.Number | types.Boolean):
            return Value(held, kind)
        word = IntType(1) if isinstance(kind, types.Boolean) else _in_memory(kind)
        return Value(utilities.convert(held, word.mlir()), word)

    def numbas(self, value: Value, kind: Any) -> Any:
        """The way back."""
        if isinstance(kind, types.BaseTuple):
            parts = zip(value.held, value.type.elements, kind, strict=True)
            return tuple(self.numbas(Value(held, of), to) for held, of, to in parts)
        return utilities.convert(value.held, self.compiler.get_mlir_type(kind))


def _in_memory(kind: Any) -> Any:
    """An element of an array of Numba's, as LLVM sees it."""
    bits = kind.bitwidth
    return FloatType(f"f{bits}") if isinstance(kind, types.Float) else IntType(bits)


# --- A definition of this package, for numba-cuda-mlir -----------------------------------------


def device_function(define: Callable[..., Any]) -> Any:
    """The function for kernels that `define(context, *types)` describes; see lowering.py."""

    @functools.wraps(define)
    def defined(context: Any, *given: Any) -> Any:
        signature, generate = define(context, *given)
        return signature, functools.partial(_lower, signature, generate)

    made = intrinsic(defined)
    # Functions may be made when kernels have been compiled already, as those of a tile's width are.
    refresh_registries(target=False, include_uninitialized_cuda=False)
    return made


def _lower(
    signature: Any, generate: Any, compiler: Any, target: Any, arguments: Any, named: Any
) -> None:
    """Put the code in place where the compiler is, its arguments as the signature wants them."""
    context, values = Context(compiler), []
    for variable, wanted in zip(arguments, signature.args, strict=True):
        held, given = compiler.load_var(variable), compiler.get_numba_type(variable.name)
        if given != wanted and not isinstance(wanted, types.Array):
            held = compiler.lower_cast(given, wanted, held)
        values.append(context.plain(held, wanted))
    made = generate(context, MlirBuilder(), signature, values)
    nothing = signature.return_type in (types.void, types.none)
    compiler.store_var(target, None if nothing else context.numbas(made, signature.return_type))
