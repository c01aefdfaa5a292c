"""Single operations give the values that a GPU gives: wrap-around, signs, rounding, casts."""

import cmath
import math

import numpy as np
import pytest
from emulator_helpers import run_clean
from every_case import every_case
from hypothesis import example, given, settings
from hypothesis import strategies as st

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
    run_clean(
        f"i = cuda.grid(1)\nout[i] = math.{name}(n[i])", 1, 4, out, numbers, parameters="out, n"
    )
    expected = [getattr(math, name)(float(number)) for number in numbers]
    np.testing.assert_allclose(out, expected, rtol=3e-7)


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("used", ["", "old[i] = "])
def test_an_atomic_extreme_leaves_out_new_nans_and_keeps_an_old_one(name: str, used: str) -> None:
    nan = np.nan
    x = np.array([3, nan, 7, nan, 1, nan], np.float32)
    out, old = np.array([5, nan], np.float32), np.zeros(6, np.float32)
    body = f"""
        i = cuda.threadIdx.x
        {used}cuda.atomic.{name}(out, 0, x[i])
        cuda.atomic.{name}(out, 1, x[i])
    """
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
