"""What kernels of public projects do and students' rarely: reductions of our own, one of each.

Which of them Numba's compiler takes was tried with numba-cuda 0.30.
"""

import textwrap
import types

import numpy as np
import pytest
from emulator_helpers import as_program, codes, rejection_codes, run, run_clean
from every_case import every_case
from numba import cuda

from course_lib.emulator import KernelRejected, emulate


def _of_one_name(*functions: str, **values: object) -> types.ModuleType:
    """A module that somebody has beside the kernel."""
    made = types.ModuleType("helpers")
    vars(made).update(values)
    return made


@cuda.jit(device=True)
def _doubled(x):  # type: ignore[no-untyped-def]
    return 2 * x


def _undecorated(x):  # type: ignore[no-untyped-def]
    return x


deeper = _of_one_name(TILE=4, kind=np.float32)
helpers = _of_one_name(
    TILE=4, LIMIT=0.5, TABLE=np.array([3.0, 4.0]), doubled=_doubled, plain=_undecorated,
    deeper=deeper, PAIR=(5, 6),
)  # fmt: skip


@cuda.jit
def uses_a_module(out):  # type: ignore[no-untyped-def]
    shared = cuda.shared.array(helpers.TILE, helpers.deeper.kind)
    i = cuda.threadIdx.x
    shared[i] = helpers.doubled(i) + helpers.LIMIT
    out[i] = shared[i] + helpers.TABLE[1] + helpers.PAIR[0] + helpers.deeper.TILE


def test_functions_and_constants_of_a_module_of_ones_own() -> None:
    out = np.zeros(4)
    profile = emulate(uses_a_module)[1, 4](out)
    assert not profile.findings
    assert out.tolist() == [2 * i + 0.5 + 4 + 5 + 4 for i in range(4)]


@cuda.jit
def lacks_a_name(out):  # type: ignore[no-untyped-def]
    out[0] = helpers.nothing


@cuda.jit
def calls_what_is_plain(out):  # type: ignore[no-untyped-def]
    out[0] = helpers.plain(1)


@every_case("kernel", [lacks_a_name, calls_what_is_plain])
def test_what_a_module_of_ones_own_does_not_have(kernel: object) -> None:
    with pytest.raises(KernelRejected) as refused:
        emulate(kernel)[1, 1](np.zeros(1))
    assert [each.code for each in refused.value.findings] == ["compile-error"]


def test_pythons_own_modules_stay_out() -> None:
    import os

    def kernel(out):  # type: ignore[no-untyped-def]
        out[0] = os.getpid()

    with pytest.raises(KernelRejected) as refused:
        emulate(cuda.jit(kernel))[1, 1](np.zeros(1))
    assert [each.code for each in refused.value.findings] == ["not-allowed"]


UNPACKED = {
    "a row": ("x, y = a[i]", [[1, 2], [3, 4], [5, 6], [7, 8]], [2, 12, 30, 56]),
    "in a loop": (
        "y = 1\nfor u, v in a:\n    y += u * v\nx = i", [[1, 2], [3, 4]], [0, 15, 30, 45]
    ),
    "rows": ("u, v = a\nx, y = u[i], v[i]", [[1, 2, 3, 4], [5, 6, 7, 8]], [5, 12, 21, 32]),
    "flat": ("x, y, u, v = a.flat", [[1, 2], [3, 4]], [2] * 4),
    "local": ("s = cuda.local.array(2, int64)\ns[0], s[1] = i, 5\nx, y = s", [[0]], [0, 5, 10, 15]),
    "swapped": (
        "s = cuda.local.array(2, int64)\ns[0], s[1] = i, 5\ns[1], s[0] = s\nx, y = s[0], s[1] + 1",
        [[0]], [5, 10, 15, 20],
    ),
}  # fmt: skip


@every_case("name", UNPACKED)
def test_arrays_are_unpacked(name: str) -> None:
    body, rows, expected = UNPACKED[name]
    out = np.zeros(4, np.int64)
    body = f"i = cuda.threadIdx.x\n{body}\nout[i] = x * y"
    run_clean(body, 1, 4, np.array(rows), out, parameters="a, out")
    assert out.tolist() == expected


def test_an_array_of_another_length_is_a_value_error() -> None:
    out = np.zeros(4)
    body = "i = cuda.threadIdx.x\nx, y = a[: 1 + i]\nout[i] = x + y"
    profile = run(body, 1, 4, np.arange(4.0), out, parameters="a, out")
    assert codes(profile) == ["raised-exception"]
    assert out.tolist() == [0, 1, 0, 0]


def test_what_numba_unpacks_and_the_emulator_does_not() -> None:
    assert rejection_codes(as_program("x, y = range(2)\nout[0] = x"), np.zeros(1)) == [
        "unsupported"
    ]


NONE = {
    "asked": "out[0] = 0 if flag is None else 1",
    "a branch": "if flag is None:\n    out[0] = 2\nelse:\n    out[0] = 3 * flag",
    "an array or nothing": (
        "part = cuda.local.array(2, float64) if flag is not None else None\n"
        "if part is not None:\n    part[0] = 7\n    out[0] = part[0]\nelse:\n    out[0] = 8"
    ),
    "asked by a name": (
        "given = flag is not None\n"
        "part = cuda.local.array(2, float64) if given else None\nout[0] = 5"
    ),
}
WITHOUT, WITH_TWO = [0, 2, 8, 5], [1, 6, 7, 5]


@every_case(("name", "nothing", "two"), list(zip(NONE, WITHOUT, WITH_TWO, strict=True)))
def test_none_as_an_argument_of_a_function(name: str, nothing: int, two: int) -> None:
    """Of a kernel it is none: Numba has no way to hand it over."""
    body = textwrap.indent(NONE[name], "    ")
    for flag, expected in ((None, nothing), (2, two)):
        out = np.zeros(1)
        before = f"@cuda.jit(device=True)\ndef work(flag, out):\n{body}\n"
        run_clean(f"work({flag}, out)", 1, 1, out, before=before)
        assert out[0] == expected
    assert rejection_codes(as_program("pass", "flag"), None) == ["invalid-launch"]


def test_a_name_that_is_set_on_some_paths_decides_nothing() -> None:
    body = "i = cuda.threadIdx.x\non = False\nif i > 1:\n    on = True\nout[i] = 1 if on else 2"
    out = np.zeros(4)
    run_clean(body, 1, 4, out)
    assert out.tolist() == [2, 2, 1, 1]


RETURNED = {
    "the argument": ("return a", True),
    "on two paths": ("if a[0] > 9:\n        return a\n    return a", True),
    "a row": ("return a[0:1]", False), "another name": ("b = a\n    return b", False),
    "set anew": ("a = a[0:1]\n    return a", False), "turned": ("return a.T", False),
    "of its own": ("b = cuda.local.array(2, float64)\n    b[0] = 3\n    return b", False),
    "one of two": ("return a if a[0] > 9 else a", False),
    "in a tuple": ("return a[0:1], 5", True),
}  # fmt: skip


@every_case("name", RETURNED)
@every_case("options", ["device=True", "device=True, inline=True"])
def test_which_arrays_a_function_returns(name: str, options: str) -> None:
    """As Numba has it; a function that is written out where it is called returns any."""
    text, returned = RETURNED[name]
    taken = "b, c = part(out)" if name == "in a tuple" else "b = part(out)"
    program = as_program(
        f"{taken}\nout[1] = b[0]", "out", f"@cuda.jit({options})\ndef part(a):\n    {text}\n"
    )
    expected = [] if returned or "inline" in options else ["compile-error"]
    assert rejection_codes(program, np.array([1.0, 2.0]), block=1) == expected
