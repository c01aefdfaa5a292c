"""Device functions that call themselves: what they return, and what bounds them.

Numba's compiler was asked about each of them (numba-cuda 0.30): it compiles those that run here.
"""

import numpy as np
import pytest
from emulator_helpers import as_program, launch, run, run_clean
from every_case import every_case

from course_lib.emulator import KernelRejected
from course_lib.emulator.launch import SCHEDULES

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


REFUSED = {
    "without end": ("return f(n - 1)", "compile-error"),
    "a growing tuple": ("if n < 1:\n    return (n,)\nreturn (n, f(n - 1)[0])", "compile-error"),
    "other types": ("if n < 1:\n    return 1.0\nreturn f(n / 2)", "unsupported"),
    "another function between": ("return 0 if n < 1 else g(n - 1)", "unsupported"),
    "a local array": (
        "s = cuda.local.array(4, float32)\nif n < 1:\n    return s[0]\nreturn f(n - 1)",
        "unsupported",
    ),
    "too deep": ("if n < 1:\n    return n\nreturn f(n - 1)", "unsupported"),
}


@every_case("body, code", REFUSED.values(), ids=REFUSED)
def test_what_is_refused(body: str, code: str) -> None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    before = f"@cuda.jit(device=True)\ndef f(n):\n{lines}"
    before += "@cuda.jit(device=True)\ndef g(n):\n    return f(n)\n"
    with pytest.raises(KernelRejected) as refused:
        launch(as_program("out[0] = f(900)", before=before), 1, 1, np.zeros(1))
    (found,) = refused.value.findings
    assert (found.code, found.line is not None) == (code, True), found
