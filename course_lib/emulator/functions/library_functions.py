"""Functions of libraries in a kernel: NumPy's, `numba.cuda.random`, libdevice, `cuda.fp16`.

Numba takes the first loop of NumPy's ufunc into which all arguments fit safely, where integers
beside floats fit into any float; it has no loop for float16 and long doubles. Functions that Numba
lacks in kernels (np.sqrt, np.floor, …) are not here. With an array for the result, as in
`np.sin(a, out)`, every thread runs a loop over all elements of that array: `written_out` is the
loop in the kernel language.

Each random number advances the state that its thread names; the numbers are those that Numba draws,
bit for bit (Blackman and Vigna, "Scrambled linear pseudorandom number generators").
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from course_lib.emulator.functions.arrays import function_in_one_line
from course_lib.emulator.functions.math_functions import elementwise
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Arguments,
    Intrinsic,
    Keywords,
    Typed,
    need,
    scalars,
    supported,
)
from course_lib.emulator.language.operators import power
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import Value
from course_lib.wording.sentences import say

# --- NumPy's functions ---------------------------------------------------------------------------


_CHARACTERS = "?bBhHiIlLqQfdFD"  # of the types that Numba has loops for


def _loop(function: np.ufunc, kinds: list[np.dtype]) -> tuple[list[np.dtype], np.dtype]:
    """The types to which a ufunc converts its arguments, and the type of its result.

    Raises TypingError if there is no loop for them.
    """
    need(T.FLOAT16 not in kinds, "does not take float16")
    mixed = any(kind.kind in "fc" for kind in kinds)
    for loop in function.types:
        inputs, _, output = loop.partition("->")
        if all(character in _CHARACTERS for character in inputs + output):
            types = [np.dtype(array) for array in inputs]
            if all(_fits(*pair, mixed) for pair in zip(kinds, types, strict=True)):
                return types, np.dtype(output)
    named = ", ".join(map(str, kinds))
    raise T.TypingError(say("does not exist for {types}", types=named))


def _fits(kind: np.dtype, into: np.dtype, mixed: bool) -> bool:
    beside_floats = mixed and kind.kind in "iu" and into.kind in "fc"
    return beside_floats or np.can_cast(kind, into)


def _intrinsic(ufunc: np.ufunc, flops: int) -> Intrinsic:
    def result(kinds: list[np.dtype]) -> np.dtype:
        return _loop(ufunc, kinds)[1]

    def operands(kinds: list[np.dtype]) -> np.dtype:
        return np.result_type(*_loop(ufunc, kinds)[0])

    chooses = ufunc in (np.minimum, np.maximum, np.fmin, np.fmax)
    of_numbers = elementwise(ufunc, result, operands, ufunc.nin, None, flops, chooses, True)

    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        single = any(isinstance(e.type, T.ArrayType) and not e.type.ndim for e in arguments)
        supported(not single, "takes numbers here", "a[()] is the number in an array without axes.")
        return of_numbers.typing(arguments, keywords)

    return Intrinsic(typing, of_numbers.run)


UFUNCS: dict[str, np.ufunc] = {}


_COMPUTING = """arccos arccosh arcsin arcsinh arctan arctan2 arctanh cos cosh deg2rad degrees divide
    hypot log log10 log2 rad2deg radians sin sinh tan tanh true_divide""".split()
_OTHERS = """bitwise_and bitwise_or bitwise_xor conj conjugate equal fmax fmin greater greater_equal
    invert isnan left_shift less less_equal logical_and logical_not logical_or logical_xor maximum
    minimum not_equal right_shift""".split()
# The names that newer NumPys have for the same functions.
_ALSO = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "bitwise_invert": "invert", "bitwise_not": "invert",
    "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift",
}  # fmt: skip

for _name in (*_COMPUTING, *_OTHERS):
    UFUNCS[f"numpy.{_name}"] = getattr(np, _name)
    INTRINSICS[f"numpy.{_name}"] = _intrinsic(getattr(np, _name), int(_name in _COMPUTING))
for _name, _same in _ALSO.items():
    UFUNCS[f"numpy.{_name}"] = UFUNCS[f"numpy.{_same}"]
    INTRINSICS[f"numpy.{_name}"] = INTRINSICS[f"numpy.{_same}"]


def check_arrays(function: np.ufunc, inputs: Sequence[T.Type], out: T.ArrayType) -> None:
    """Refuse arrays that a ufunc does not take as operands, or not for this result.

    Raises TypingError with what Numba refuses, or NotEmulated with what it computes wrongly.
    """
    kinds = [array.dtype if isinstance(array, T.ArrayType) else array for array in inputs]
    fits = all(isinstance(kind, np.dtype) and not kind.names for kind in kinds)
    need(fits, "needs numbers and arrays of numbers")
    supported(
        T.FLOAT16 not in kinds, "does not take float16 here", "float32 holds the same numbers."
    )
    result = _loop(function, kinds)[1]  # type: ignore[arg-type]
    fits = out.writable and not out.dtype.names and np.can_cast(result, out.dtype, "same_kind")
    need(fits, say("cannot put {result} into {out}", result=result, out=out))
    axes = max((array.ndim for array in inputs if isinstance(array, T.ArrayType)), default=0)
    hint = "No operand may have more axes than the result."
    supported(axes <= out.ndim, "does not take an array with more axes than the result", hint)


def written_out(inputs: Sequence[T.Type], out: T.ArrayType, line: int) -> ast.FunctionDef:
    """The loop that fills `out` from `function` of the inputs, as if it stood in one line.

    An axis of length 1 stands for one of any length, and so do axes that are not there.
    """
    places = [f"i{axis}" for axis in range(out.ndim)]
    operands = []
    for number, kind in enumerate(inputs):
        operand = f"x{number}"
        if isinstance(kind, T.ArrayType):
            own = enumerate(places[out.ndim - kind.ndim :])
            index = [f"{i} if {operand}.shape[{axis}] > 1 else 0" for axis, i in own]
            operand = f"{operand}[{', '.join(index) or '()'}]"
        operands.append(operand)
    layouts = [array.layout for array in inputs if isinstance(array, T.ArrayType)]
    by_columns = layouts.count("F") > layouts.count("C")  # the order that Numba then takes
    axes = range(out.ndim)[:: -1 if by_columns else 1]
    heads = [f"for i{axis} in range(out.shape[{axis}]):" for axis in axes]
    names = ", ".join(f"x{number}" for number in range(len(inputs)))
    lines = [f"def ufunc({names}, out):"]
    lines += [f"{' ' * depth}{head}" for depth, head in enumerate(heads, 1)]
    element = f"out[{', '.join(places) or '()'}] = function({', '.join(operands)})"
    lines += [" " * (1 + out.ndim) + element, " return out"]
    return function_in_one_line("\n".join(lines), line)


def _part(name: str) -> Intrinsic:
    """`np.real` and `np.imag`."""

    def result(kinds: list[np.dtype]) -> np.dtype:
        need(kinds[0] != T.BOOL, "does not take a bool")
        return T.part_type(kinds[0])

    return elementwise(getattr(np, name), result, lambda kinds: kinds[0], complex_too=True)


INTRINSICS["numpy.real"], INTRINSICS["numpy.imag"] = _part("real"), _part("imag")


def _of_angle(kinds: list[np.dtype]) -> np.dtype:
    need(kinds[0] != T.BOOL, "does not take a bool")
    return T.FLOAT64


INTRINSICS["numpy.angle"] = elementwise(
    np.angle,
    _of_angle,
    lambda kinds: np.result_type(kinds[0], T.FLOAT64),
    flops=1,
    complex_too=True,
)


# --- Random numbers: one xoroshiro128+ generator for every state ---------------------------------


# The two words of a generator's state, as numba.cuda.random lays them out.
STATE = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
_BITS = 64
_TO_UNIT = 1.0 / (1 << 53)


def _rotated(word: np.ndarray, by: int) -> np.ndarray:
    return (word << np.uint64(by)) | (word >> np.uint64(_BITS - by))


def advance(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The states one step on, and the 64 random bits of that step."""
    s0, s1 = states["s0"], states["s1"]
    drawn = s0 + s1
    s1 = s1 ^ s0
    after = np.empty(np.shape(states), STATE)
    after["s0"] = _rotated(s0, 55) ^ s1 ^ (s1 << np.uint64(14))
    after["s1"] = _rotated(s1, 36)
    return after, drawn


def _uniform(machine: Machine, values: list[Any], dtype: np.dtype) -> Value:
    """Numbers from 0 to below 1, one for each active lane."""
    states, index = values
    bits = machine.unit.replace(states, [index], advance, machine.active, machine.line)
    return ((bits >> np.uint64(11)) * np.float64(_TO_UNIT)).astype(dtype)


def _normal(machine: Machine, values: list[Any], dtype: np.dtype) -> Value:
    """Normally distributed numbers, by Box and Muller's transform of two uniform ones.

    Numba draws the two as float32, also for a float64 result.
    """
    first, second = (_uniform(machine, values, T.FLOAT32) for _ in range(2))
    radius = np.sqrt(dtype.type(-2.0) * np.log(first))
    result: Value = (radius * np.cos(dtype.type(2 * np.pi) * second)).astype(dtype)
    return result


def _generator(draw: Callable[[Any, list[Any], np.dtype], Value], dtype: np.dtype) -> Intrinsic:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        need(len(arguments) == 2, "takes the states and an index")
        states, index = arguments[0].type, arguments[1].type
        is_state = isinstance(states, T.ArrayType) and states.dtype == STATE and states.ndim == 1
        need(is_state, "needs states made by create_xoroshiro128p_states")
        need(T.is_integer(index), "needs an integer as its index")
        return Typed(dtype)

    def run(machine: Machine, node: ast.Call, values: list[Any]) -> Value:
        return draw(machine, values, dtype)

    return Intrinsic(typing, run)


for _name, _draw in {"uniform": _uniform, "normal": _normal}.items():
    for _dtype in (T.FLOAT32, T.FLOAT64):
        INTRINSICS[f"numba.cuda.random.xoroshiro128p_{_name}_{_dtype}"] = _generator(_draw, _dtype)


# --- libdevice: Numba converts the arguments to fixed types ---------------------------------------
# `libdevice.sinf` takes float32, `libdevice.sin` float64, `fp16.hsin` float16. NumPy's last digits
# differ from those of a GPU, whose fast functions round more coarsely.


PATH = "numba.cuda.libdevice."
HALF = "numba.cuda.fp16."


def _add(
    name: str,
    compute: Callable[..., Any],
    takes: Sequence[np.dtype],
    gives: T.Type,
    flops: int = 0,
    path: str = PATH,
) -> None:
    """Enter a function of so many numbers, which returns one number or a tuple of them."""

    def run(machine: Machine, node: ast.Call, given: list[Any]) -> Any:
        kind = gives.items[0] if isinstance(gives, T.TupleType) else gives
        machine.count_flops(node, kind, flops)  # type: ignore[arg-type]
        return machine.convert(compute(*given), gives)

    _add_run(path + name, run, takes, gives)


def _add_as(name: str, path: str, takes: Sequence[np.dtype]) -> None:
    """Enter a function that the emulator has under another name."""
    _add_run(PATH + name, lambda *call: INTRINSICS[path].run(*call), takes, takes[0])


def _add_run(name: str, run: Callable[..., Any], takes: Sequence[np.dtype], gives: T.Type) -> None:
    def typing(arguments: Arguments, keywords: Keywords) -> Typed:
        need(not keywords, "takes no keyword arguments")
        scalars(arguments, len(takes))
        return Typed(gives)

    def converted(machine: Machine, node: ast.Call, values: list[Any]) -> Any:
        pairs = zip(values, takes, strict=True)
        return run(machine, node, [machine.convert(value, kind) for value, kind in pairs])

    INTRINSICS[name] = Intrinsic(typing, converted)


def _nearest(number: Value) -> Value:
    """Rounded to the nearest integer, halves away from zero, as C's `round` does."""
    return np.trunc(number + np.copysign(number.dtype.type(0.5), number))


def _saturated(number: Value) -> Value:
    return np.where(np.isnan(number), number.dtype.type(0), np.clip(number, 0, 1))


def _sinpi(number: Value) -> Value:
    return np.sin(np.pi * np.remainder(number, 2))


def _cospi(number: Value) -> Value:
    return np.cos(np.pi * np.remainder(number, 2))


_ONE = """acos acosh asin asinh atan atanh cbrt ceil cos cosh exp exp2 expm1 fabs floor log log10
    log1p log2 rint sin sinh sqrt tan tanh trunc""".split()
_TWO = "atan2 copysign fmax fmin fmod hypot nextafter pow".split()
_OF_FLOATS: dict[str, tuple[int, Callable[..., Any]]] = {
    **{name: (1, getattr(np, name)) for name in _ONE},
    **{name: (2, getattr(np, name)) for name in _TWO},
    "cospi": (1, _cospi),
    "exp10": (1, lambda x: np.power(x.dtype.type(10), x)),
    "fdim": (2, lambda x, y: np.where(x > y, x - y, x.dtype.type(0))),
    "nearbyint": (1, np.rint),
    "rcbrt": (1, lambda x: 1 / np.cbrt(x)),
    "round": (1, _nearest),
    "rsqrt": (1, lambda x: 1 / np.sqrt(x)),
    "sinpi": (1, _sinpi),
}
_NO_FLOPS = set("ceil copysign fabs floor fmax fmin nearbyint nextafter rint round trunc".split())
_ROUNDED: dict[str, tuple[int, Callable[..., Any]]] = {  # to the nearest; no other roundings
    "add": (2, np.add),
    "sub": (2, np.subtract),
    "mul": (2, np.multiply),
    "div": (2, np.divide),
    "sqrt": (1, np.sqrt),
    "rcp": (1, np.reciprocal),
}
for _end, _letter, _kind in (("", "d", T.FLOAT64), ("f", "f", T.FLOAT32)):
    for _name, (_count, _compute) in _OF_FLOATS.items():
        _add(_name + _end, _compute, [_kind] * _count, _kind, int(_name not in _NO_FLOPS))
    for _name, (_count, _compute) in _ROUNDED.items():
        if (_letter, _name) != ("d", "sub"):  # libdevice has none
            _add(f"{_letter}{_name}_rn", _compute, [_kind] * _count, _kind, 1)
    _pair = T.TupleType((_kind, _kind))
    _add(f"powi{_end}", power, [_kind, T.INT32], _kind, 1)
    _add(f"ldexp{_end}", np.ldexp, [_kind, T.INT32], _kind)
    _add(f"frexp{_end}", np.frexp, [_kind], T.TupleType((_kind, T.INT32)))
    _add(f"modf{_end}", np.modf, [_kind], _pair)
    _add(f"sincos{_end}", lambda x: (np.sin(x), np.cos(x)), [_kind], _pair, 2)
    _add(f"sincospi{_end}", lambda x: (_sinpi(x), _cospi(x)), [_kind], _pair, 2)
    for _name in ("erf", "erfc", "lgamma"):
        _add_as(_name + _end, f"math.{_name}", [_kind])
    _add_as(f"tgamma{_end}", "math.gamma", [_kind])
    for _name in (f"fma{_end}", f"fma{_end}_rn"):
        _add_as(_name, "numba.cuda.fma", [_kind] * 3)
for _name in "cosf expf exp10f log10f log2f logf powf sincosf sinf tanf".split():
    INTRINSICS[f"{PATH}fast_{_name}"] = INTRINSICS[PATH + _name]
INTRINSICS[f"{PATH}fast_fdividef"] = INTRINSICS[f"{PATH}fdiv_rn"]
_add("saturatef", _saturated, [T.FLOAT32], T.FLOAT32)


def _unsigned(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda x, y: function(x.astype(np.uint32), y.astype(np.uint32))


def _distance(x: Any, y: Any) -> Any:
    return np.maximum(x, y) - np.minimum(x, y)


_int, _long, _float, _double = T.INT32, T.INT64, T.FLOAT32, T.FLOAT64
_add("float_as_int", lambda x: x.view(np.int32), [_float], _int)
_add("int_as_float", lambda x: x.view(np.float32), [_int], _float)
_add("double_as_longlong", lambda x: x.view(np.int64), [_double], _long)
_add("longlong_as_double", lambda x: x.view(np.float64), [_long], _double)
for _name, _whole in (("", _int), ("ll", _long)):
    _add(f"{_name}abs", np.abs, [_whole], _whole)
    _add(f"{_name}min", np.minimum, [_whole] * 2, _whole)
    _add(f"{_name}max", np.maximum, [_whole] * 2, _whole)
_add("umin", _unsigned(np.minimum), [_int] * 2, _int)
_add("umax", _unsigned(np.maximum), [_int] * 2, _int)
_add("sad", lambda x, y, z: _distance(x, y) + z, [_int] * 3, _int)
_add("usad", lambda x, y, z: _unsigned(_distance)(x, y).astype(np.int32) + z, [_int] * 3, _int)
for _name, _test in {"isnan": np.isnan, "isinf": np.isinf}.items():
    _add(f"{_name}f", _test, [_float], _int)
    _add(f"{_name}d", _test, [_double], _int)
_add("finitef", np.isfinite, [_float], _int)
_add("isfinited", np.isfinite, [_double], _int)
for _name in ("clz", "popc", "ffs", "brev"):
    _add_as(_name, f"numba.cuda.{_name}", [_int])


# --- cuda.fp16 -----------------------------------------------------------------------------------


def _fma(x: Value, y: Value, z: Value) -> Value:
    """Rounded once: float64 holds all digits of the product, and of a sum that is near a tie."""
    result: Value = x.astype(np.float64) * y + z
    return result


def _in_float32(compute: Callable[[Value], Value]) -> Callable[[Value], Value]:
    return lambda number: compute(number.astype(np.float32))


_COMPARED: dict[str, Callable[..., Any]] = {
    "heq": np.equal,
    "hne": np.not_equal,
    "hgt": np.greater,
    "hge": np.greater_equal,
    "hlt": np.less,
    "hle": np.less_equal,
}
_IN_FLOAT32 = "ceil cos exp exp10 exp2 floor log log10 log2 rint rsqrt sin sqrt tanh trunc".split()
_half = T.FLOAT16
for _name, _holds in _COMPARED.items():
    _add(_name, _holds, [_half] * 2, T.BOOL, path=HALF)
for _name in ("add", "sub", "mul", "div"):
    _add(f"h{_name}", _ROUNDED[_name][1], [_half] * 2, _half, 1, HALF)
for _name in _IN_FLOAT32:
    _compute = _in_float32(_OF_FLOATS[_name][1])
    _add(f"h{_name}", _compute, [_half], _half, int(_name not in _NO_FLOPS), HALF)
_add("hrcp", _in_float32(np.reciprocal), [_half], _half, 1, HALF)
_add("hfma", _fma, [_half] * 3, _half, 2, HALF)
_add("hneg", np.negative, [_half], _half, path=HALF)
_add("habs", np.abs, [_half], _half, path=HALF)
_add("hmax", lambda x, y: np.where(x > y, x, y), [_half] * 2, _half, path=HALF)
_add("hmin", lambda x, y: np.where(x < y, x, y), [_half] * 2, _half, path=HALF)
