"""Powers of 2 and their logarithm as the hardware has them: one instruction, two last digits off.

A multiprocessor has units for 2 ** x and log2(x) (MUFU), 16 results a clock, and none for e ** x:
`math.exp` is a multiplication and a power of 2. Where many powers have a factor in common, it goes
into that factor. Numbers too small for a normal float32 count as 0. `larger` is the maximum of two
numbers in one instruction.

PTX ISA, "ex2" and "lg2" (.approx.ftz: relative error below 2 ** -22), "max".
"""

from __future__ import annotations

from typing import Any

from course_lib.intrinsics.lowering import Refused, device_function, ir, types


@device_function
def power_of_2(context: Any, exponent: Any) -> Any:
    """`y = power_of_2(x)`: 2 ** x for a float32; 0 for minus infinity."""
    return _arithmetic("power_of_2", "ex2.approx.ftz.f32 $0, $1;", exponent)


@device_function
def log_2(context: Any, number: Any) -> Any:
    """`y = log_2(x)`: the logarithm to base 2 of a positive float32."""
    return _arithmetic("log_2", "lg2.approx.ftz.f32 $0, $1;", number)


@device_function
def larger(context: Any, first: Any, second: Any) -> Any:
    """`z = larger(x, y)`: the larger of two float32; a NaN counts for nothing."""
    return _arithmetic("larger", "max.f32 $0, $1, $2;", first, second)


def _arithmetic(name: str, text: str, *given: Any) -> Any:
    """A result that follows from the arguments alone, so the compiler may move it."""
    if any(argument_type != types.float32 for argument_type in given):
        raise Refused(
            f"{name} takes float32, not {', '.join(str(argument_type) for argument_type in given)}"
        )
    constraints = ",".join(["=f"] + ["f"] * len(given))

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = ir.FunctionType(ir.FloatType(), [ir.FloatType()] * len(given))
        return builder.call(ir.InlineAsm(code, text, constraints), list(arguments))

    return types.float32(*given), generate
