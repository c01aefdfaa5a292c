"""cuda.fp16: every documented function, beside exact arithmetic or float64's, rounded once."""

import math
from fractions import Fraction

import numpy as np
from emulator_helpers import as_program, rejection_codes, run_clean
from every_case import every_case

EXACT = {
    "hadd(x[t], y[t])": lambda x, y, z: x + y,
    "hsub(x[t], y[t])": lambda x, y, z: x - y,
    "hmul(x[t], y[t])": lambda x, y, z: x * y,
    "hdiv(x[t], y[t])": lambda x, y, z: x / y,
    "hfma(x[t], y[t], z[t])": lambda x, y, z: x * y + z,
    "hneg(x[t])": lambda x, y, z: -x,
    "habs(x[t])": lambda x, y, z: abs(x),
    "hrcp(x[t])": lambda x, y, z: 1 / x,
    "hmax(x[t], y[t])": lambda x, y, z: max(x, y),
    "hmin(x[t], y[t])": lambda x, y, z: min(x, y),
    "hfloor(x[t])": lambda x, y, z: math.floor(x),
    "hceil(x[t])": lambda x, y, z: math.ceil(x),
    "htrunc(x[t])": lambda x, y, z: math.trunc(x),
    "hrint(x[t])": lambda x, y, z: round(x),
    # what is no float16 is converted before
    "hadd(2, y[t])": lambda x, y, z: 2 + y,
    "hmul(w, y[t])": lambda x, y, z: Fraction(float(np.float16(0.1))) * y,
}
NEAR = {
    "hsin": math.sin, "hcos": math.cos, "hlog": math.log, "hlog10": math.log10, "hlog2": math.log2,
    "hexp": math.exp, "hexp10": lambda x: 10**x, "hexp2": lambda x: 2**x, "hsqrt": math.sqrt,
    "hrsqrt": lambda x: 1 / math.sqrt(x), "htanh": math.tanh,
}  # fmt: skip
COMPARED = {
    "heq": "__eq__", "hne": "__ne__", "hgt": "__gt__", "hge": "__ge__", "hlt": "__lt__",
    "hle": "__le__",
}  # fmt: skip


def launched(call: str, dtype: type, *arrays: np.ndarray) -> np.ndarray:
    out = np.zeros(arrays[0].size, dtype)
    body = f"t = cuda.grid(1)\nout[t] = cuda.fp16.{call}"
    run_clean(body, 1, out.size, out, *arrays, np.float32(0.1), parameters="out, x, y, z, w")
    return out


def numbers(seed: int) -> np.ndarray:
    """Also such as differ by much, and such whose sums lie between two float16."""
    random = np.random.default_rng(seed)
    spread = 2.0 ** random.integers(-9, 7, 512)
    return (random.choice([-1, 1], 512) * random.uniform(1, 2, 512) * spread).astype(np.float16)


@every_case("call", EXACT)
def test_what_is_rounded_once(call: str) -> None:
    given = [numbers(seed) for seed in range(3)]
    exact = [
        EXACT[call](*(Fraction(float(each)) for each in row)) for row in zip(*given, strict=True)
    ]
    bits = launched(call, np.float16, *given)
    for found, wanted in zip(bits, exact, strict=True):
        if abs(wanted) < 65504:
            neighbours = [np.nextafter(found, np.float16(way)) for way in (-np.inf, np.inf)]
            error = abs(Fraction(float(found)) - wanted)
            others = [abs(Fraction(float(each)) - wanted) for each in neighbours]
            assert error <= min(others), (call, found, float(wanted))
        else:
            assert np.isinf(found)


@every_case("name", NEAR)
def test_what_is_computed_in_float32(name: str) -> None:
    given = np.linspace(0.1, 4, 256).astype(np.float16)
    wanted = np.array([NEAR[name](float(each)) for each in given])
    found = launched(f"{name}(x[t])", np.float16, given, given, given)
    np.testing.assert_allclose(found.astype(float), wanted, rtol=1 / 1024, atol=1e-4)


@every_case("name", COMPARED)
def test_comparisons_give_booleans(name: str) -> None:
    left = np.array([1, 2, 3, np.nan, -0.0, np.inf], np.float16)
    right = np.array([2, 2, 2, np.nan, 0.0, np.inf], np.float16)
    found = launched(f"{name}(x[t], y[t])", bool, left, right, left)
    assert found.tolist() == getattr(left, COMPARED[name])(right).tolist()


def test_the_greater_one_of_no_number() -> None:
    """As Numba documents it: `a if a > b else b`."""
    left, right = np.array([np.nan, 1], np.float16), np.array([1, np.nan], np.float16)
    found = launched("hmax(x[t], y[t])", np.float16, left, right, left)
    assert found[0] == 1 and np.isnan(found[1])


def test_a_name_that_does_not_exist_is_refused() -> None:
    program = as_program("out[0] = cuda.fp16.hsine(out[0])")
    assert rejection_codes(program, np.ones(1, np.float16)) == ["compile-error"]
