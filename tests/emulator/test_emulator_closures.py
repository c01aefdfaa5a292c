"""Functions inside a kernel see the variables around their definition, and no others."""

import numpy as np
from emulator_helpers import as_program, codes, rejection_codes, run, run_clean
from every_case import every_case

USE = "N = 7\n@cuda.jit(device=True)\ndef use(f, x, {own}):\n    return f(x) + 0 * {own}\n"

# What stands before the call of `use`, with what it gives; None is refused. Numba takes literals.
AROUND = {
    "y = 10": 13, "y = 2.5": 5.5, "y = -(2 + 3)": -2, "y = 10\nz = y": 13,
    "y = cuda.threadIdx.x": None, "y = 10\nif out[0] > 5:\n    y = 11": None,
}  # fmt: skip
INNER = "def f(x):\n    return x + y\n"


@every_case("before", AROUND)
def test_a_function_that_is_handed_on_takes_constants_with_it(before: str) -> None:
    out = np.zeros(1)
    body, use = f"{before}\n{INNER}out[0] = use(f, 3, 5)", USE.format(own="other")
    if AROUND[before] is None:
        assert rejection_codes(as_program(body, before=use), out) == ["unsupported"]
    else:
        run_clean(body, 1, 1, out, before=use)
        assert out[0] == AROUND[before]


# One name for two variables: it was silently taken for that of the function that calls.
TWO_MEANINGS = {
    "another function inside": "y = 2\n" + INNER + "def g(y):\n    return f(1) * y\nout[0] = g(5)",
    "a device function": "N = 2\ndef f(x):\n    return x + N\nout[0] = use(f, 1, 5)",
    "a global name": "def f(x):\n    return x + N\nout[0] = use(f, 1, 5)",
}


@every_case("body", TWO_MEANINGS)
def test_a_name_of_the_caller_is_not_taken_for_another_one(body: str) -> None:
    text = as_program(TWO_MEANINGS[body], before=USE.format(own="N"))
    assert rejection_codes(text, np.zeros(1)) == ["unsupported"]


def test_a_name_without_a_value_is_not_taken_from_the_caller() -> None:
    """Each function has variables of its own; one that is not set is an uninitialised read."""
    ways = ("if x > 100:\n        z = 1", "for i in range(x - 5):\n        z = 1")
    for way in ways:
        out = np.zeros(1)
        before = f"@cuda.jit(device=True)\ndef f(x):\n    {way}\n    return z\n"
        text = "z = cuda.threadIdx.x + 3\nout[0] = f(5) + 0 * z"
        assert codes(run(text, 1, 1, out, before=before)) == ["uninitialised-read"]
