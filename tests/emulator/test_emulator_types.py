"""Every expression has the type and the value that Numba's compiler gives it; arguments, too."""

import ast
import cmath
import ctypes
import itertools
import math
import re
from collections import namedtuple
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from emulator_helpers import HEADER, as_program, refusal, run, run_clean
from every_case import every_case
from hypothesis import example, given, settings
from hypothesis import strategies as st

from course_lib.emulator import KernelRejected, load_program
from course_lib.emulator.arguments import as_declared
from course_lib.emulator.inference.infer import infer

GOLDEN = (Path(__file__).parent / "numba_types.txt").read_text(encoding="utf-8")


def operator_cases() -> Iterator[tuple[str, str, str, str]]:
    """Operator, left type, right type, result type."""
    columns: list[str] = []
    types: set[str] = set()
    operators: list[str] = []
    for line in GOLDEN.splitlines():
        words = line.split()
        if line.startswith("operator"):
            operators = words[1:]
        elif line.startswith(" "):
            columns = words
            types.update(columns)
        elif words and types.issuperset(lefts := words[0].split("|")):
            for operator, left in itertools.product(operators, lefts):
                for right, result in zip(columns, words[1:], strict=True):
                    yield operator, left, right, result


def expression_cases() -> Iterator[tuple[str, str, str]]:
    """Expression, types of a and b, result type."""
    for line in GOLDEN.splitlines():
        if line.startswith("expression"):
            _, written, results = re.split(" {2,}", line)
            alike = re.search(r"\{(.+)\}", written)
            names = alike[1].split(",") if alike else [""]
            expressions = [re.sub(r"\{.+\}", name, written) for name in names]
            for each in results.split("; "):
                result, types = each.split(": ")
                yield from itertools.product(expressions, types.split(" | "), [result])


def inferred(statements: str, argument_types: list[str]) -> str:
    """The type of the variable `x` after `statements`, or "refused"."""
    names = ", ".join("ab"[: len(argument_types)])
    imports = f"import cmath\nfrom numba.cuda import libdevice as ld\n{HEADER}"
    program = load_program(f"{imports}@cuda.jit\ndef kernel({names}):\n{statements}\n")
    types = [np.dtype(name) for name in argument_types]
    try:
        typing = infer(program.kernel("kernel"), types)
    except KernelRejected as refused:
        # A course's emulator may know less than Numba, but must then say so.
        return "unsupported" if refused.findings[0].code == "unsupported" else "refused"
    return next(
        str(kind).replace("literal ", "")
        for node, kind in typing.types.items()
        if isinstance(node, ast.Name) and node.id == "x" and isinstance(node.ctx, ast.Load)
    )


def test_every_operator_has_numbas_types() -> None:
    different = []
    for operator, left, right, expected in operator_cases():
        if expected == "-":
            continue  # a table that adds complex numbers to those before it
        if operator == "if-else":
            body = "    x = a\n    if b != 0:\n        x = b\n    x = x"
        else:
            body = f"    x = a {operator} b\n    y = x"
        found = inferred(body, [left, right])
        if found != expected:
            different.append(f"{left} {operator} {right}: {found}, Numba has {expected}")
    assert not different, "\n".join(different)


def test_expressions_have_numbas_types() -> None:
    """What the emulator does not know stays the exception."""
    cases = list(expression_cases())
    unsupported, different = [], []
    for expression, types, expected in cases:
        found = inferred(
            f"    x = {expression}\n    y = x", [] if types == "-" else types.split(", ")
        )
        if found == "unsupported":
            unsupported.append(expression)
        elif found != expected:
            different.append(f"{expression} of {types}: {found}, Numba has {expected}")
    assert not different, "\n".join(different)
    assert len(unsupported) <= len(cases) // 20, unsupported


def test_a_sum_that_starts_with_a_whole_number_is_one_of_float64() -> None:
    values, sums = np.full(10, np.float32(0.1), np.float32), {}
    for start in ("0", "0.0", "np.float32(0)", "float32(0.0)"):
        out = np.zeros(1, np.float64)
        body = f"acc = {start}\nfor i in range(values.size):\n    acc += values[i]\nout[0] = acc"
        profile = run(body, 1, 1, out, values, parameters="out, values")
        sums[start] = (out[0], profile.float64_flops > 0)
    single, double = sum(values, np.float32(0)), sum(map(float, values))
    assert sums["np.float32(0)"] == sums["float32(0.0)"] == (single, False)
    assert sums["0"] == sums["0.0"] == (double, True) and double != single


# Expressions of the integers i and j that Python computes, too.
INTEGERS = [
    "i // j", "i % j", "divmod(i, j)[0] * 1000 + divmod(i, j)[1]", "-(-i // j)", "i << 3", "i >> 1",
    "i & j", "i | j", "i ^ j", "~i", "-i", "+i", "abs(i)", "min(i, j, 1)", "max(i, j)", "i ** 2",
    "i ** 3", "int(i / j)", "int(i / 2)", "round(i / 2)", "int(i > j) + (i > 0)",
    "i if i > j else -j", "-3 < i <= j < 5", "i > 0 and j > 0 or i == j", "not (i > 0 or j > 0)",
    "(i == j) + (i != j) * 2 + (i >= j) * 4",
    "int(math.floor(i / 2)) * 100 + int(math.ceil(i / 2))",
]  # fmt: skip
# Those with types of NumPy's, and what they give in Python.
TYPED = {
    "int32(i) * int32(j)": "i * j", "int64(np.int8(i * 50))": "(i * 50 + 128) % 256 - 128",
    "int64(np.uint8(i))": "i % 256", "int64(uint32(i))": "i % 2**32",
    "int64(np.int32(uint32(i)))": "i", "uint32(i) < 5": "i % 2**32 < 5",
    "int64(uint32(i) + uint32(1))": "i % 2**32 + 1",
}  # fmt: skip


@every_case(("expression", "meaning"), [*zip(INTEGERS, INTEGERS, strict=True), *TYPED.items()])
def test_integer_expression(expression: str, meaning: str) -> None:
    side = 16
    values = [value - 7 if value < 7 else value - 6 for value in range(side)]  # no zero
    numbers = np.array(values, np.int64)
    out = np.full((side, side), -999, np.int64)
    body = f"""
        x, y = cuda.grid(2)
        i = numbers[y]
        j = numbers[x]
        out[y, x] = {expression}
    """
    run_clean(body, (1, 1), (side, side), out, numbers, parameters="out, numbers")
    reference = eval(f"lambda i, j: {meaning}", {"math": math})
    assert out.tolist() == [[int(reference(i, j)) for j in values] for i in values]


def rounded_by_numba(x: float, digits: int) -> float:
    """numba.cuda.cudaimpl.round_to_impl for one float64; int64 on the way saturates."""

    def whole(y: float) -> float:
        return float(max(-(2**63), min(round(y), 2**63 - 1)))

    if math.isinf(x) or math.isnan(x):
        return x
    second = 1e22 if digits > 22 else 1.0
    first = 10.0 ** (digits - 22 if digits > 22 else abs(digits))
    y = x * first * second if digits >= 0 else x / first
    if math.isinf(y):
        return x
    z = 2.0 * whole(y / 2.0) if abs(y - whole(y)) == 0.5 else whole(y)
    return z / second / first if digits >= 0 else z * first


@settings(max_examples=150, deadline=None)
@given(st.lists(st.floats(width=32), min_size=4, max_size=4), st.integers(-300, 300),
       st.sampled_from([np.float32, np.float64]))  # fmt: skip
@example([0.3425, 2.5, -0.125, 1e-3], 3, np.float32)
@example([0.5, 1.5, 2.675, 1e30], 0, np.float64)
@example([3.4028234663852886e38, 1e20, float("nan"), float("inf")], 300, np.float32)
def test_round_to_digits_as_numba_compiles_it(values: list, digits: int, kind: type) -> None:
    data, out = np.array(values, kind), np.zeros(4, kind)
    body = "i = cuda.threadIdx.x\nout[i] = round(data[i], n)"
    run_clean(body, 1, 4, data, np.int32(digits), out, parameters="data, n, out")
    with np.errstate(over="ignore"):
        expected = np.array([rounded_by_numba(float(each), digits) for each in data]).astype(kind)
    # NumPy's 10.0 ** 236 and Python's differ in their last bit.
    np.testing.assert_allclose(out, expected, rtol=4e-16)


def test_stores_convert_to_the_arrays_type() -> None:
    numbers = np.array([300.75, -1.5, 2.5, 70000.0], np.float64)
    results = {
        dtype: np.zeros(4, dtype) for dtype in (np.int64, np.int32, np.float32, np.uint8, np.bool_)
    }
    for dtype, out in results.items():
        source = np.abs(numbers) % 200 if dtype is np.uint8 else numbers
        run_clean("i = cuda.grid(1)\nout[i] = n[i]", 1, 4, out, source, parameters="out, n")
        assert np.array_equal(out, source.astype(dtype)), dtype


# Expressions of the float32 a and b, and what they give with NumPy's.
FLOATS = {
    **{each: each for each in ("a * b + a", "a / b", "a - b * b", "-a", "a if a > b else b",
                               "min(a, b)", "max(a, b)")},
    "a // b": "np.float32(math.floor(float(a) / float(b)))",
    "a ** 2": "a * a",
    "math.sqrt(abs(a))": "np.sqrt(abs(a))",
    "math.fabs(a)": "abs(a)",
    "math.floor(a)": "np.floor(a)",
    "math.ceil(a)": "np.ceil(a)",
    "float32(int(a))": "np.float32(int(a))",
    "float32(a > b)": "np.float32(a > b)",
    "cuda.fma(a, b, a)": "np.float32(float(a) * float(b) + float(a))",
    "math.copysign(a, b)": "np.copysign(a, b)",
}  # fmt: skip


@every_case(("expression", "meaning"), FLOATS.items())
def test_float32_expression(expression: str, meaning: str) -> None:
    numbers = np.array([0.1, -2.75, 3.3, 1e-3, -7.5, 12.0, 0.5, -0.3], np.float32)
    out = np.zeros((8, 8), np.float32)
    body = f"""
        x, y = cuda.grid(2)
        a = n[y]
        b = n[x]
        out[y, x] = {expression}
    """
    profile = run_clean(body, (1, 1), (8, 8), out, numbers, parameters="out, n")
    reference = eval(f"lambda a, b: {meaning}", {"math": math, "np": np})
    expected = np.array([[reference(a, b) for b in numbers] for a in numbers], np.float32)
    np.testing.assert_array_equal(out, expected)
    assert profile.float64_flops == 0


@every_case(
    "name", "exp log log2 log10 sin cos tan tanh sinh cosh atan asin acos expm1 log1p".split()
)
def test_math_function(name: str) -> None:
    numbers = np.array([0.1, 0.25, 0.5, 0.9], np.float32)
    out = np.zeros(4, np.float32)
    body = f"i = cuda.grid(1)\nout[i] = math.{name}(n[i])"
    run_clean(body, 1, 4, out, numbers, parameters="out, n")
    expected = [getattr(math, name)(float(number)) for number in numbers]
    np.testing.assert_allclose(out, expected, rtol=3e-7)


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("used", ["", "old[i] = "])
def test_an_atomic_extreme_leaves_out_new_nans_and_keeps_an_old_one(name: str, used: str) -> None:
    x = np.array([3, np.nan, 7, np.nan, 1, np.nan], np.float32)
    out, old = np.array([5, np.nan], np.float32), np.zeros(6, np.float32)
    calls = (f"cuda.atomic.{name}(out, {place}, x[i])" for place in range(2))
    body = f"i = cuda.threadIdx.x\n{used}" + "\n".join(calls)
    run_clean(body, 1, 6, out, old, x, parameters="out, old, x")
    assert out[0] == {"max": 7, "min": 1}[name]
    assert np.isnan(out[1])


def test_polar_coordinates_at_the_edges() -> None:
    """As Python has them; an angle without a direction leaves nothing of a length of zero."""
    edges = [0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan]
    pairs = [(r, phi) for r in edges for phi in edges if not math.isinf(phi) or r == 0]
    given, out = np.array(pairs), np.zeros(len(pairs), np.complex128)
    body = "i = cuda.threadIdx.x\nout[i] = cmath.rect(given[i, 0], given[i, 1])"
    run_clean(body, 1, len(pairs), out, given, parameters="out, given", before="import cmath")
    np.testing.assert_allclose(out, [cmath.rect(*pair) for pair in pairs], atol=1e-15)


WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
Point = namedtuple("Point", "x y")


def handed_over(values: Sequence[object], signatures: list[str]) -> list[object]:
    """What a kernel with these signatures gets of what it is given."""
    text = f"from numba import cuda\n@cuda.jit({signatures})\ndef k(*rest):\n    pass\n"
    return list(as_declared(load_program(text).functions["k"], values))


@settings(max_examples=100, deadline=None)
@given(st.integers(-(2**70), 2**70), st.sampled_from(WHOLE))
def test_integers_beyond_their_declared_type_wrap_around(number: int, declared: str) -> None:
    (fitted,) = handed_over([number], [f"({declared},)"])
    assert fitted == getattr(ctypes, f"c_{declared}")(number).value
    assert fitted.dtype == declared


@every_case("declared", WHOLE)
@every_case("value", [1.5, np.float32(2), "x", None, 1j, (1,)])
def test_what_is_no_integer_is_no_declared_integer(declared: str, value: object) -> None:
    """As ctypes has it, through which Numba hands numbers over."""
    with pytest.raises(KernelRejected, match="Argument 2 is declared as") as refused:
        handed_over([1, value], [f"(int32, {declared})"])
    assert refused.value.findings[0].code == "invalid-launch"


@every_case(
    ("declared", "value", "expected"),
    [("float32", 1e40, np.inf), ("float32", 3, 3.0), ("float64", 0.1, 0.1), ("boolean", 5, True),
     ("float16", 2.5, 2.5), ("int32", True, 1), ("uint8", np.int64(257), 1),
     ("complex64", 0.1, np.complex64(0.1))],
)  # fmt: skip
def test_numbers_become_what_is_declared(declared: str, value: object, expected: object) -> None:
    assert handed_over([value], [f"({declared},)"]) == [expected]


def test_an_array_of_another_type_under_one_signature_or_several() -> None:
    """With one, Numba never looks and reads wrong numbers; of several, it finds none."""
    declared = "(float64[:],)"
    for signatures in ([declared], [declared] * 2):
        with pytest.raises(KernelRejected) as refused:
            handed_over([np.zeros(2, np.float32)], signatures)
        assert refused.value.findings[0].code == "invalid-launch"


REFUSED = {
    "records": (np.zeros(2, [("mass", "f4"), ("x", "S4")]), "'mass'"),
    "dates": (np.zeros(2, "M8[s]"), "datetime64"),
    "a date": (np.datetime64("2026-01-01"), "of type datetime64"),
    "in a tuple": ((1, np.zeros(2, "S3")), "A[1] is an array of |S3"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_gpu_takes_and_the_emulator_does_not(name: str) -> None:
    value, words = REFUSED[name]
    found = refusal(as_program("pass", "A"), value)
    assert found.code == "unsupported"
    assert words in found.message and "the emulator" in found.message
    assert found.hint


def test_items_and_fields_of_tuples() -> None:
    out = np.zeros(7)
    body = "out[0] = min(t)\nout[1] = max(t)\nout[2] = min((t[0], 64))\nout[3] = max((2.5,))\n"
    body += "out[4] = p.x\nout[5] = p.y + p[0]\nx, y = p\nout[6] = y"
    run_clean(body, 1, 1, out, (3, 1, 2), Point(1, 2.5), parameters="out, t, p")
    assert out.tolist() == [1, 3, 3, 2.5, 1, 3.5, 2.5]
