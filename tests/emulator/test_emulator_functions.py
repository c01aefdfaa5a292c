"""Functions that a kernel calls: arguments, closures, recursion, `operator`, declarations."""

import operator

import numpy as np
import pytest
from emulator_helpers import as_program, codes, refusal, rejection_codes, run, run_clean
from every_case import every_case

from course_lib.emulator import KernelRejected, emulate, load_program
from course_lib.emulator.launch import SCHEDULES

BEFORE = """
STEP = 10
def f(a, b=2, c=STEP):
    return 100 * a + 10 * b + c

def many(first, *rest):
    total = first
    for each in rest:
        total += each
    return total * len(rest)

def three(a, b, c):
    return a - b - c

def maybe(a, b=None):
    if b is None:
        b_or_a = a
    else:
        b_or_a = b + a
    return b_or_a if b is not None else 7 * b_or_a
"""
INNER = "def inner(a, b=3):\n    return a * b\n"
DEVICE = BEFORE.replace("def ", "@cuda.jit(device=True)\ndef ")
CALLS = """inner(4) inner(4,b=2) f(1) f(1,3) f(1,3,4) f(b=5,a=1) f(1,c=7) f(c=1,b=1,a=1)
    many(1,2) many(1,2,3,4)
    three(*(9,2,3)) three(9,*(2,3)) many(*(1,2),*(3,)) f(*(1,2)) maybe(3) maybe(3,4) maybe(3,None)
    f(*x.shape,3) three(c=1,*(5,2)) (lambda*a:a[1])(1,2) (lambda*a:len(a))(1,2)""".split()


@every_case("call", CALLS)
def test_a_call_binds_as_in_python(call: str) -> None:
    out, x = np.zeros(1, np.int64), np.zeros((2, 1))
    body = f"{INNER}out[0] = {call}"
    run_clean(body, 1, 1, out, x, parameters="out, x", before=DEVICE)
    names: dict[str, object] = {"x": x}
    exec(BEFORE + INNER, names)
    assert out[0] == eval(call, names)


def test_a_kernel_takes_the_rest_as_a_tuple() -> None:
    out, x, y = np.zeros(3, np.int64), np.arange(3), np.arange(3) + 5
    body = "i = cuda.threadIdx.x\nfor each in rest:\n    out[i] += each[i]"
    run_clean(body, 1, 3, out, x, y, parameters="out, *rest")
    assert out.tolist() == (x + y).tolist()


USE = "N = 7\n@cuda.jit(device=True)\ndef use(f, x, {own}):\n    return f(x) + 0 * {own}\n"

# What stands before the call of `use`, with what it gives; None is refused. Numba takes literals.
AROUND = {
    "y = 10": 13, "y = 2.5": 5.5, "y = -(2 + 3)": -2, "y = 10\nz = y": 13,
    "y = cuda.threadIdx.x": None, "y = 10\nif out[0] > 5:\n    y = 11": None,
}  # fmt: skip
INNER_CLOSURES = "def f(x):\n    return x + y\n"


@every_case("before", AROUND)
def test_a_function_that_is_handed_on_takes_constants_with_it(before: str) -> None:
    out = np.zeros(1)
    body, use = f"{before}\n{INNER_CLOSURES}out[0] = use(f, 3, 5)", USE.format(own="other")
    if AROUND[before] is None:
        assert rejection_codes(as_program(body, before=use), out) == ["unsupported"]
    else:
        run_clean(body, 1, 1, out, before=use)
        assert out[0] == AROUND[before]


def test_a_name_without_a_value_is_not_taken_from_the_caller() -> None:
    """Each function has variables of its own; one that is not set is an uninitialised read."""
    ways = ("if x > 100:\n        z = 1", "for i in range(x - 5):\n        z = 1")
    for way in ways:
        out = np.zeros(1)
        before = f"@cuda.jit(device=True)\ndef f(x):\n    {way}\n    return z\n"
        text = "z = cuda.threadIdx.x + 3\nout[0] = f(5) + 0 * z"
        assert codes(run(text, 1, 1, out, before=before)) == ["uninitialised-read"]


FUNCTIONS = """
@cuda.jit(device=True)
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)

@cuda.jit("int64(int64)", device=True)
def declared(n):
    if n < 1:
        return 1
    return 2 * declared(n - 1)

@cuda.jit(device=True)
def factorial(n):
    return 1 if n < 1 else n * factorial(n - 1)

@cuda.jit(device=True)
def the_end_stands_last(n):
    if n > 1:
        below = the_end_stands_last(n - 1)
        return below + 1
    return 0

@cuda.jit(device=True)
def halved(n):
    if n < 1:
        return 1
    return halved(n - 1) * 0.5

@cuda.jit(device=True)
def marks(a, first, last):
    if first < last:
        middle = (first + last) // 2
        a[middle] += middle
        marks(a, first, middle)
        marks(a, middle + 1, last)
"""


def at(n: int, out: np.ndarray) -> None:
    values = [int(np.round(((1 + 5**0.5) / 2) ** n / 5**0.5)), 2**n]
    values += [int(np.prod(np.arange(1, n + 1))), max(n - 1, 0), 0.5**n]
    out[:] = values


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_what_they_return(schedule: str) -> None:
    body = """
    i = cuda.grid(1)
    out[i, 0] = fibonacci(i % 11)
    out[i, 1] = declared(i % 11)
    out[i, 2] = factorial(i % 11)
    out[i, 3] = the_end_stands_last(i % 11)
    out[i, 4] = halved(i % 11)
    """
    out, expected = np.zeros((64, 5)), np.zeros((64, 5))
    for i, row in enumerate(expected):
        at(i % 11, row)
    run_clean(body, 2, 32, out, before=FUNCTIONS, schedule=schedule)
    np.testing.assert_array_equal(out, expected)


def test_each_call_has_variables_of_its_own() -> None:
    before = """
    @cuda.jit(device=True)
    def f(n):
        if n > 2:
            kept = 7
        if n < 1:
            return 0
        below = f(n - 1)
        return kept if n == 2 else below
    """
    profile = run("out[0] = f(4)", 1, 1, np.zeros(1), before=before)
    assert [each.code for each in profile.findings] == ["uninitialised-read"]


HEAD = "import operator\n"
BINARY = """add and_ eq floordiv ge gt iadd iand ifloordiv ilshift imod imul ior ipow irshift isub
    ixor le lshift lt mod mul ne or_ pow rshift sub truediv itruediv xor""".split()


@every_case("name", BINARY)
def test_two_operands(name: str) -> None:
    x = np.array([7, 2, 5], np.int64)
    out = np.zeros(3)
    body = f"i = cuda.threadIdx.x\nout[i] = operator.{name}(x[i], x[1])"
    run_clean(body, 1, 3, x, out, parameters="x, out", before=HEAD)
    assert out.tolist() == [getattr(operator, name)(int(each), 2) for each in x]


@every_case("call", ["neg(x[1])", "not_(x[1])", "invert(x[1])", "pos(x[1])", "getitem(x, 2)",
                     "contains((1, 2), x[1])", "mul(operator.add(x[0], 1), x[2])"])  # fmt: skip
def test_one_operand_and_containers(call: str) -> None:
    x, out = np.array([7, 2, 5], np.int64), np.zeros(1)
    run_clean(f"out[0] = operator.{call}", 1, 1, x, out, parameters="x, out", before=HEAD)
    assert out[0] == eval(f"operator.{call}", {"operator": operator, "x": x})


TOP = "from numba import cuda, float32, float64, int64\nTYPES = 'int64(int64)'\n"

# How a device function may be declared; each makes 2 of 2.7, as Numba's compiler does.
DECLARED = {
    "a decorator": "@cuda.jit('int64(int64)', device=True)\ndef f(x):\n    return x\n",
    "a call": "def g(x):\n    return x\nf = cuda.jit('int64(int64)', device=True)(g)\n",
    "a call that keeps the name": (
        "def f(x):\n    return x\nf = cuda.jit(int64(int64), device=True)(f)\n"
    ),
    "a named signature": "def g(x):\n    return x\nf = cuda.jit(TYPES, device=True)(g)\n",
    "no result": "@cuda.jit('(int64,)', device=True)\ndef f(x):\n    return x\n",
    "types": "@cuda.jit((int64,), device=True)\ndef f(x):\n    return x\n",
    "short names": "@cuda.jit('i8(i8)', device=True)\ndef f(x):\n    return x\n",
    "a result of its own": "@cuda.jit('int32(float64)', device=True)\ndef f(x):\n    return x\n",
    "a list": "def g(x):\n    return x\nf = cuda.jit([TYPES], device=True)(g)\n",
    "made by a function": ("def made(types):\n    def g(x):\n        return x\n"
        "    return cuda.jit(types, device=True)(g)\nf = made('int64(int64)')\n"),
}  # fmt: skip


@every_case("way", DECLARED)
def test_a_declared_device_function_casts(way: str) -> None:
    text = f"{TOP}{DECLARED[way]}@cuda.jit\ndef k(out, x):\n    out[0] = f(x)\n"
    out = np.zeros(1)
    emulate(load_program(text).functions["k"])[1, 1](out, 2.7)
    assert out[0] == 2


# Of a kernel: its signature, what it is given beside the array, and what x / 2 is then.
KERNELS = {
    "void(float64[:], float32)": (0.1, np.float64(np.float32(0.1)) / 2),
    "void(float64[::1], int32)": (2**32 + 3, 1.5),
    "(float64[:], uint8)": (-1, 127.5),
    "void(float64[:], complex64)": (0.1, np.float64(np.float32(0.1)) / 2),
}
WAYS = (
    "@cuda.jit('{types}')\ndef k(out, x):\n    {body}\n",
    "def k(out, x):\n    {body}\nk = cuda.jit('{types}')(k)\n",
)


@every_case("way", WAYS)
def test_a_declared_kernel_is_given_its_types(way: str) -> None:
    for types, (given, expected) in KERNELS.items():
        body = "out[0] = (x / 2).real" if "complex" in types else "out[0] = x / 2"
        out = np.zeros(1)
        text = TOP + way.format(types=types, body=body)
        emulate(load_program(text).functions["k"])[1, 1](out, given)
        assert out[0] == expected, types


# What is declared, what is given, and the code of what is said.
OTHERS = (
    ("void(float32[:], int64)", 3, "invalid-launch"),  # Numba would read wrong numbers
    ("void(float64[:, :], int64)", 3, "invalid-launch"),
    ("void(float64[:], int64)", 2.5, "invalid-launch"),
    ("void(float64[:])", 3, "invalid-launch"),
    ("void(float64[:], stranger)", 3, "unsupported"),
)


@every_case(("types", "given", "code"), OTHERS)
def test_what_does_not_fit_is_said(types: str, given: object, code: str) -> None:
    text = f"{TOP}@cuda.jit('{types}')\ndef k(out, x):\n    out[0] = x\n"
    assert refusal(load_program(text).functions["k"], np.zeros(1), given).code == code


# Of several signatures: what is given for x, and x / 2 for the one that Numba chooses.
SEVERAL = (
    (["float32", "float64"], 0.1, 0.05),
    (["float32", "float64"], np.float32(0.1), np.float32(0.1) / 2),
    (["float64", "int64"], 3, 1.5),
    (["int32", "float64"], np.float32(0.5), 0.25),
    (["float32", "float64"], 3, "unsupported"),
    (["int64", "int32"], 2.5, "invalid-launch"),
)


@every_case(("types", "given", "expected"), SEVERAL)
def test_the_signature_with_the_types_that_are_given(types, given, expected):
    declared = [f"void(float64[:], {each})" for each in types]
    text = f"{TOP}@cuda.jit({declared})\ndef k(out, x):\n    out[0] = x / 2\n"
    out, start = np.zeros(1), emulate(load_program(text).functions["k"])[1, 1]
    if isinstance(expected, str):
        with pytest.raises(KernelRejected) as refused:
            start(out, given)
        assert refused.value.findings[0].code == expected
    else:
        start(out, given)
        assert out[0] == expected


def test_a_signature_that_is_not_read_leaves_arrays_as_they_are() -> None:
    text = f"{TOP}@cuda.jit('void(stranger[:])')\ndef k(out):\n    out[0] = 5\n"
    out = np.zeros(1)
    emulate(load_program(text).functions["k"])[1, 1](out)
    assert out[0] == 5


def test_integers_of_one_size_are_read_as_declared() -> None:
    """A GPU is handed the address of an array, and takes what lies there for what is declared."""
    text = f"{TOP}@cuda.jit('void(uint32[:])')\ndef k(out):\n    out[1] = out[0] // 2\n"
    out = np.array([-2, 0], np.int32)
    emulate(load_program(text).functions["k"])[1, 1](out)
    assert out.tolist() == [-2, 2**31 - 1]


def test_a_declared_array_has_its_type() -> None:
    """Numba's compiler finds no version of the function for another one."""
    text = (
        f"{TOP}@cuda.jit('float32(float32[:])', device=True)\ndef f(a):\n    return a[0]\n"
        "@cuda.jit\ndef k(out, a):\n    out[0] = f(a)\n"
    )
    kernel = emulate(load_program(text).functions["k"])[1, 1]
    kernel(np.zeros(1), np.zeros(1, np.float32))
    for other in (np.zeros(1), np.zeros((1, 1), np.float32)):
        with pytest.raises(KernelRejected, match="is declared with"):
            kernel(np.zeros(1), other)
