"""Complex numbers, records, vector types, NumPy's functions, float16: values and counts."""

import enum
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from emulator_helpers import (
    as_program,
    kernel_of,
    line_of,
    on_numbas_simulator,
    refusal,
    run,
    run_clean,
)
from every_case import every_case
from value_kinds_programs import PROGRAMS

from course_lib.emulator import emulate, load_program
from course_lib.emulator.launch import SCHEDULES


@pytest.fixture(scope="module")
def simulated() -> list[list[Any]]:
    """What the arguments hold after Numba's simulator has run."""
    return on_numbas_simulator([
        (each.text, "kernel", each.grid, each.block, [*each.arguments().values()])
        for each in PROGRAMS.values()
    ])  # fmt: skip


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_same_as_the_simulator(simulated: list[list[Any]], schedule: str) -> None:
    for (name, program), theirs in zip(PROGRAMS.items(), simulated, strict=True):
        arguments = program.arguments()
        kernel = load_program(program.text).kernel("kernel")
        profile = emulate(kernel, schedule=schedule)[program.grid, program.block](
            *arguments.values()
        )
        assert not [each for each in profile.findings if each.severity == "error"], name
        for (key, found), expected in zip(arguments.items(), theirs, strict=True):
            assert close(found, expected), (name, key, found, expected)


def close(found: Any, expected: Any) -> bool:
    """Nearly equal: exponentials differ in last digits; of records, field by field."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype.names:
        return all(close(found[name], expected[name]) for name in found.dtype.names)
    return bool(np.allclose(found, expected, rtol=1e-5, atol=1e-7, equal_nan=True))


COPY = """
    s = cuda.shared.array(32, KIND)
    t = cuda.threadIdx.x
    if t < a.size:
        s[t] = a[t]
    cuda.syncthreads()
    if t < b.size:
        b[t] = s[a.size - 1 - t]
        if t % 2:
            b[t].p = a[0].p
"""


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_records_are_copied_whole(schedule: str, align: bool) -> None:
    inner = np.dtype([("m", np.int8), ("c", np.complex128, (2,))], align=align)
    kind = np.dtype([("x", np.float32), ("p", inner), ("many", inner, (2, 2))], align=align)
    rng = np.random.default_rng(3)
    a, b = np.zeros(19, kind), np.zeros(23, kind)[:19]
    a["x"], a["p"]["m"] = rng.normal(size=19), rng.integers(-9, 9, 19)
    a["p"]["c"] = rng.normal(size=(19, 2)) * 1j
    a["many"]["m"] = rng.integers(-9, 9, (19, 2, 2))
    kernel = kernel_of(COPY, "a, b", KIND=kind)
    profile = emulate(kernel, schedule=schedule)[1, 32](a, b)
    assert not profile.findings
    expected = a[::-1].copy()
    expected["p"][1::2] = a["p"][0]
    assert close(b, expected)


def test_a_field_is_counted_at_its_own_bytes() -> None:
    """Records of 20 bytes: 32 lanes' x lie in 20 sectors, at 4 bytes a lane."""
    kind = np.dtype([("w", np.float32), ("x", np.float32), ("v", np.float32, (3,))])
    kernel = kernel_of("i = cuda.grid(1)\nout[i] = a[i].x\na[i].v[2] = 1", "a, out")
    a = np.zeros(32, kind)
    profile = emulate(kernel, trace=True)[1, 32](a, np.zeros(32, np.float32))
    first = profile.trace[0]
    assert (first.addresses - first.addresses[0]).tolist() == [20 * lane for lane in range(32)]
    assert first.addresses[0] % 256 == 4
    assert profile.global_load_requests == 1 and profile.global_load_bytes == 128
    assert profile.global_load_sectors == 20
    assert profile.arrays["a"].distinct_elements_loaded == 32
    assert np.all(a["v"] == [0, 0, 1])


RACING = {
    "one field of one record": ("s[0].x = t", True),
    "two fields of one record": ("if t == 0:\n    s[0].x = 1\nelse:\n    s[0].y = 2",
        False),
    "a field and the whole": ("if t == 0:\n    s[0].x = 1\nelse:\n    s[0] = a[t]",
        True),
    "elements of one field": ("s[0].v[t] = 1", False),
    "one element of one field": ("s[0].v[t // 2] = t", True),
    "a record each": ("s[t] = a[t]", False),
    "real and imaginary parts": ("z.real[0] = 1\nz.imag[0] = 2", True),
}  # fmt: skip


@pytest.mark.parametrize("where", ["shared", "global"])
def test_races_are_found_field_by_field(where: str) -> None:
    kind = np.dtype([("x", np.float32), ("y", np.int8), ("v", np.int16, (2,))])
    for name, (body, races) in RACING.items():
        start = "t = cuda.threadIdx.x\nz = cuda.shared.array(2, np.complex64)\n"
        start += "s = cuda.shared.array(2, KIND)\n" if where == "shared" else "s = g\n"
        kernel = kernel_of(start + body, "a, g", KIND=kind)
        profile = emulate(kernel)[1, 2](np.zeros(2, kind), np.zeros(2, kind))
        found = [each.code for each in profile.findings if each.code.startswith("race")]
        assert bool(found) == races, (name, profile.findings)


def test_outside_and_unwritten_fields_are_named() -> None:
    kind = np.dtype([("x", np.float32), ("v", np.int16, (2,))])
    body = "s = cuda.shared.array(2, KIND)\ns[0].x = 1\ns[0].v[0] = 1\n"
    body += "a[0].v[1] = s[0].v[1]\na[3].x = s[0].x\na[0].v[2] = 1\na[4].v[1] = 1"
    a = np.zeros(3, kind)
    profile = emulate(kernel_of(body, "a", KIND=kind))[1, 1](a)
    first = line_of(as_program(body, "a"), "s[0].v[0] = 1")
    found = [(each.line - first, each.code) for each in profile.findings if each.line]
    # the last is of the record that is looked up there
    codes = "uninitialised-read", *["out-of-bounds-write"] * 2, "out-of-bounds-read"
    assert sorted(found) == [*enumerate(codes, 1)]
    assert any("s[0].v[1]" in each.message for each in profile.findings)
    assert a["v"].tolist()[1:] == [[0, 0], [0, 0]]


def test_a_division_by_a_complex_zero_ends_the_thread() -> None:
    """Numba raises there, where floats give infinity; under debug=True it is told."""
    kernel = kernel_of("i = cuda.grid(1)\nz = 1 / a[i]\nout[i] = 1 + z.real", "a, out")
    a, out = np.array([1, 0, 2j]), np.zeros(3)
    assert not emulate(kernel)[1, 3](a, out).findings
    assert out.tolist() == [2, 0, 1]


LIBDEVICE = """
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        out[0, i] = libdevice.sinf(v) + libdevice.rsqrt(v)
        out[1, i] = libdevice.fmaxf(v, 1.5) - libdevice.fdim(v, 1)
        out[2, i] = libdevice.float_as_int(v) >> 23
        out[3, i] = libdevice.powi(v, 3) + libdevice.round(2.5) + libdevice.erf(v)
        out[4, i] = libdevice.fmaf(v, v, v) + libdevice.saturatef(v) + libdevice.isnanf(v)
        sine, cosine = libdevice.sincos(v)
        part, power = libdevice.frexp(v)
        rest, whole = libdevice.modff(v)
        out[5, i] = sine + 2 * cosine + libdevice.sincospi(0.25)[1]
        out[6, i] = part + 2 * power + rest + 4 * whole
        out[7, i] = libdevice.sad(i, 20, 3) + libdevice.usad(-1, i, 0) + libdevice.popc(i)
"""


def test_libdevice_computes_what_its_names_say() -> None:
    x = np.linspace(0.25, 3, 40, dtype=np.float32)
    out = np.zeros((8, 40))
    kernel = kernel_of(LIBDEVICE, "x, out", "from numba.cuda import libdevice")
    profile = emulate(kernel)[2, 32](x, out)
    assert not profile.findings
    wide = x.astype(np.float64)
    parts, rests = [math.frexp(v) for v in wide], [math.modf(v) for v in wide]
    expected = [
        np.sin(x) + 1 / np.sqrt(wide), np.maximum(x, np.float32(1.5)) - np.maximum(wide - 1, 0),
        x.view(np.int32) >> 23, wide**3 + 3 + np.array([math.erf(each) for each in wide]),
        x * x + x + np.minimum(x, 1), np.sin(wide) + 2 * np.cos(wide) + math.sqrt(0.5),
        [m + 2 * e + r + 4 * w for (m, e), (r, w) in zip(parts, rests, strict=True)],
        [abs(i - 20) + 3 - 1 - i + i.bit_count() for i in range(40)],
    ]  # fmt: skip
    for row, right in zip(out, expected, strict=True):
        np.testing.assert_allclose(row, right, rtol=1e-6)


def test_remainders_of_ieee() -> None:
    """`math.remainder` at its edges: ties, signs, subnormal and huge numbers."""
    edges = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 5e-324, 1.5e-323, 2.5e-308, 1e308, 1.7e308, math.inf]
    pairs = [(s * x, y) for x in edges for y in edges for s in (1, -1)]
    x, y = map(np.array, zip(*pairs, strict=True))
    out = np.zeros(len(pairs))
    body = "i = cuda.grid(1)\nout[i] = math.remainder(x[i], y[i])"
    run(body, 1, len(pairs), x, y, out, parameters="x, y, out")
    for (one, other), found in zip(pairs, out, strict=True):
        try:
            expected = math.remainder(one, other)
        except ValueError:
            expected = math.nan
        assert np.array_equal(found, expected, equal_nan=True), (one, other)
        assert np.signbit(found) == np.signbit(expected) or math.isnan(found), (one, other)


def test_a_race_between_elements_of_two_sizes() -> None:
    body = "i = cuda.grid(1)\ny.view(np.int32)[i] = i\ny[(4 * i + 7) % 8] = 1"
    profile = run(body, 1, 2, np.zeros(8, np.int8), parameters="y")
    assert {each.code for each in profile.findings} == {"race-write-after-write"}


def test_an_array_into_a_field_is_only_unsupported() -> None:
    """Numba may come to copy it; today it does so with the field in square brackets."""
    record = np.dtype([("x", np.float32), ("v", np.float32, (2,))])
    program = as_program("r[0].v = a", "r, a")
    found = refusal(program, np.zeros(3, record), np.zeros(2, np.float32))
    assert (found.code, found.line) == ("unsupported", line_of(program, "r[0].v")) and found.hint


RECORD = np.dtype([("x", np.float32), ("n", np.int32)])


class Size(enum.IntEnum):
    small = 1
    large = 2


STATEMENTS = {
    "0-d part": ("out[0] = v[1, ...][()]", [1, 0, 0, 0]),
    "0-d array": ("out[0] = s[...][()]", [5, 0, 0, 0]),
    "field of a part": ("out[0] = r[...].x[1]", [3, 0, 0, 0]),
    "loop over records": ("for i, each in enumerate(r): out[i] = each.n", [2, 4, 0, 0]),
    "store into items": (
        "for each, k in zip(r, v): each.n = k + 7\nout[0], out[1] = r.n[0], r.n[1]", [7, 8, 0, 0]),
    "step of complex": ("out[0] = z[::-2].sum().imag", [4, 0, 0, 0]),
    "step of a field": ("r.x[::-1][0] = 6\nout[0] = r[1::2].x[0]", [6, 0, 0, 0]),
    "operator": ("out[0] = operator.mul(z[1], 2j).real", [-2, 0, 0, 0]),
}  # fmt: skip


@every_case("body, expected", STATEMENTS.values())
def test_statements_take_every_kind_of_value(body: str, expected: list[float]) -> None:
    out, z = np.zeros(4), np.arange(4) * (1 + 1j)
    r = np.array([(1, 2), (3, 4)], RECORD)
    run_clean(
        body, 1, 1, out, np.array(5.0), np.arange(3.0), z, r,
        parameters="out, s, v, z, r", before="import operator",
    )  # fmt: skip
    assert out.tolist() == expected


WAITING = (
    "out[i] = later(by=later(i, 1), v=i)", "out[i] = operator.add(later(i, 1), i - 1)",
    "out[i] = later(*(later(i, 1), i - 1))", "assert later(i, 1) == i + 1\nout[i] = 2 * i",
)  # fmt: skip


@every_case("body", WAITING)
def test_arguments_by_name_and_operators_wait_for_a_barrier(body: str) -> None:
    out = np.zeros(4)
    before = """
        import operator
        @cuda.jit(device=True)
        def later(v, by):
            cuda.syncthreads()
            return v + by
    """
    run_clean(f"i = cuda.threadIdx.x\n{body}", 1, 4, out, before=before)
    assert out.tolist() == [2 * i + (1 if "by=" in body else 0) for i in range(4)]


# Numba's compiler refuses all of these.
@every_case("body", [
    "out[0] = Size.large * 1j", "out[0] = Size.large == out[1]", "out[0] = Size.large.real",
    "r[0].x = Size.large",
])  # fmt: skip
def test_members_are_no_numbers_beside_other_values(body: str) -> None:
    arrays = np.ones(2, np.complex128), np.zeros(1, RECORD)
    assert refusal(kernel_of(body, "out, r", Size=Size), *arrays).code == "compile-error"


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
