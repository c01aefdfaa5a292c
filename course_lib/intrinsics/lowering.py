"""How a kernel gets an instruction that Numba has no name for.

Numba asks two questions of every function that a kernel calls. Of which type is the result, given
the types of the arguments? And which code computes it? `device_function` answers both with one
Python function, that returns a signature and a code generator (Numba calls that an intrinsic).
The code is LLVM's; where LLVM has no instruction either, it is a line of PTX.

Without numba-cuda the names are still there: the emulator knows the functions by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

try:
    from llvmlite import ir
    from numba.cuda import types
    from numba.cuda.extending import intrinsic

    try:  # numba-cuda has types and errors of its own; Numba's old CUDA part borrows Numba's
        from numba.cuda.core.errors import TypingError
    except ImportError:
        from numba.core.errors import TypingError
    if not hasattr(types, "Array"):
        from numba.core import types
except ImportError:  # no numba.cuda at all, but perhaps its successor
    try:
        from course_lib.intrinsics import mlir_builder as ir
        from course_lib.intrinsics.mlir_builder import TypingError, types
        from course_lib.intrinsics.mlir_builder import device_function as intrinsic
    except ImportError:
        ir = types = intrinsic = None
        TypingError = TypeError

# The names that the modules of the instructions take from here, Numba's own among them.
__all__ = [
    "HOME",
    "Refused",
    "device_function",
    "element_pointer",
    "global_address",
    "instruction",
    "ir",
    "literal_integer",
    "need_array",
    "need_integer",
    "ptx",
    "shared_address",
    "types",
]

HOME = "course_lib.intrinsics"
SHARED_SPACE = 3  # LLVM's number for shared memory; a generic pointer has none (0)


def device_function(define: Callable[..., Any]) -> Any:
    """Make a function that kernels may call out of `define(context, *types)`.

    `define` returns (signature, generate). It may raise `Refused` with a sentence.
    """
    made = intrinsic(define) if intrinsic else _emulated_only(define)
    made.__module__ = HOME  # the emulator knows it as course_lib.intrinsics.NAME
    return made


def _emulated_only(define: Callable[..., Any]) -> Callable[..., Any]:
    def called(*arguments: object) -> Any:
        raise RuntimeError(f"{define.__name__} works inside a kernel only")

    called.__name__, called.__qualname__ = define.__name__, define.__qualname__
    called.__doc__ = define.__doc__
    return called


Refused = TypingError


# --- Checks of arguments -----------------------------------------------------------------------


def need_array(name: str, array: Any, bits: tuple[int, ...]) -> None:
    """Refuse anything but a row-major array whose elements have one of these sizes."""
    if not isinstance(array, types.Array) or array.layout != "C":
        raise Refused(f"{name} needs a C-contiguous array, not {array}")
    if getattr(array.dtype, "bitwidth", None) not in bits:
        allowed = " or ".join(str(bit) for bit in bits)
        raise Refused(f"{name} needs elements of {allowed} bits, not {array.dtype}")


def need_integer(name: str, index: Any) -> None:
    """Refuse anything but an integer; an index counts elements from the array's first."""
    if not isinstance(index, types.Integer):
        raise Refused(f"{name} needs a whole number as index, not {index}")


def literal_integer(name: str, number: Any) -> int:
    """The value of a constant: a literal, or the name of a module's constant.

    Numba asks with the plain type first, and again with the literal one where that was refused.
    """
    if not isinstance(number, types.IntegerLiteral):
        raise Refused(f"{name} needs a constant: a number, or the name of one")
    value: int = number.literal_value
    return value


# --- Parts of code generators ------------------------------------------------------------------


def element_pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """A pointer to element `index` of an array, counted from its first element.

    The index is not checked and never wraps around: `A[i]` costs a comparison with zero.
    """
    data = context.make_array(array_type)(context, builder, value=array).data
    return builder.gep(data, [index], inbounds=True)


def shared_address(builder: Any, pointer: Any) -> Any:
    """The 32-bit address within shared memory that PTX instructions for shared memory take."""
    element = pointer.type.pointee
    shared = builder.addrspacecast(pointer, ir.PointerType(element, SHARED_SPACE))
    return builder.ptrtoint(shared, ir.IntType(32))


def global_address(builder: Any, pointer: Any) -> Any:
    """The 64-bit address of something in global memory."""
    shared = builder.addrspacecast(pointer, ir.PointerType(pointer.type.pointee, 1))
    return builder.ptrtoint(shared, ir.IntType(64))


def instruction(text: str, letters: str, given: tuple[Any, ...], result: str = "") -> Any:
    """Signature and code of a function of plain numbers that is one piece of PTX.

    In `text`, $0 is the result if there is one, and the arguments follow. Each has a letter, as in
    CUDA C++'s asm: "r" is a uint32, "l" a uint64, "h" a uint16, "f" a float32. Numba converts
    what a kernel hands over, so an address that was added up in 64 bits may be given for an "r".
    """
    for argument_type in given:
        if not isinstance(argument_type, types.Number):
            raise Refused(f"this function takes plain numbers, not {argument_type}")
    kinds = {"r": types.uint32, "l": types.uint64, "h": types.uint16, "f": types.float32}
    widths = {"r": ir.IntType(32), "l": ir.IntType(64), "h": ir.IntType(16), "f": ir.FloatType()}
    constraints = ",".join([f"={result}"] * bool(result) + list(letters))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        returns = widths[result] if result else ir.VoidType()
        value = ptx(builder, returns, text, constraints, list(arguments))
        return value if result else context.get_dummy_value()

    return (kinds[result] if result else types.void)(
        *[kinds[letter] for letter in letters]
    ), generate


def ptx(builder: Any, returns: Any, text: str, constraints: str, arguments: list[Any]) -> Any:
    """One or several PTX instructions; $0, $1 … are results and arguments, in that order.

    They are kept where they stand: the compiler may neither drop nor repeat them, and moves no
    access to memory across them.
    """
    kinds = [argument.type for argument in arguments]
    code = ir.InlineAsm(
        ir.FunctionType(returns, kinds),
        text,
        ",".join(part for part in (constraints, "~{memory}") if part),
        side_effect=True,
    )
    return builder.call(code, arguments)
