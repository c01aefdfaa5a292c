"""What Numba leaves out since it knows a test beforehand is not typed; what it compiles, is."""

from contextlib import nullcontext

import numpy as np
import pytest
from every_case import every_case

from course_lib.emulator import KernelRejected, emulate, load_program

LEFT_OUT = (
    "if a.ndim == 3:\n        r[0] = a[0, 0, 0]",
    "if DEBUG:\n        r[0] = PAIR[5]",
    "if SIZE > 3 and n:\n        r[0] = nothing",
    "if not DEBUG:\n        r[0] = 1\n    else:\n        r[0] = PAIR[5]",
    "while DEBUG:\n        r[0] = PAIR[5]",
    "if 'x' is None:\n        r[0] = PAIR[5]",
    "m = 0\n    if m:\n        r[0] = PAIR[5]",
    "r[0] = PAIR[5] if DEBUG else 1",
    "if NOTHING != None:\n        r[0] = NOTHING(1)",
    "if NOTHING is not None:\n        r[0] = NOTHING(1)",
    "if half == None:\n        r[0] = PAIR[5]\n    else:\n        r[0] = half(n)",
)
COMPILED = (
    "if len(PAIR) > 2:\n        r[0] = PAIR[2]",
    "if n is None:\n        r[0] = PAIR[5]",
    "if n > 9:\n        r[0] = PAIR[5]",
    "if SIZE + 1 > 3:\n        r[0] = PAIR[5]",
    "if PAIR[0] == 2:\n        r[0] = PAIR[5]",
    "if len(a.shape) == 3:\n        r[0] = PAIR[5]",
    "m = 0\n    m = m + 1\n    if m > 1:\n        r[0] = PAIR[5]",
)
AROUND = "from numba import cuda\nDEBUG = False\nSIZE = 2\nPAIR = (1, 2)\nNOTHING = None\n"
AROUND += "@cuda.jit(device=True)\ndef half(x):\n    return x / 2\n"


def launch(body: str) -> np.ndarray:
    text = f"{AROUND}@cuda.jit\ndef k(r, a, n):\n    {body}\n"
    result = np.zeros(2)
    emulate(load_program(text).functions["k"])[1, 1](result, np.ones((2, 3)), 4)
    return result


def test_what_is_left_out_is_not_typed_and_what_is_compiled_is_refused() -> None:
    for body in LEFT_OUT:
        launch(body)
    for body in COMPILED:
        with pytest.raises(KernelRejected, match="there is no item"):
            launch(body)


# Of a device function, as Numba's compiler has it: what it is given, and whether that is compiled.
ASKED_FOR_NONE = {"2": False, "n": True, "None": True, "2.5": True, "r": True}


@every_case("given", ASKED_FOR_NONE)
def test_a_function_asks_for_none(given: str) -> None:
    """Numba compiles the branch unless the argument is a literal; None alone takes it."""
    asks = "if x is None:\n        r[0] = PAIR[5]"
    text = (
        f"{AROUND}@cuda.jit(device=True)\ndef asks(r, x):\n    {asks}\n"
        f"@cuda.jit\ndef k(r, n):\n    asks(r, {given})\n"
    )
    start = emulate(load_program(text).functions["k"])[1, 1]
    with pytest.raises(KernelRejected) if ASKED_FOR_NONE[given] else nullcontext():
        start(np.zeros(2), 4)


def test_what_may_be_none_is_told_by_its_type_where_numba_has_an_optional() -> None:
    """The emulator has no values that are perhaps None, and needs none here."""
    body = "part = cuda.local.array(2, float64) if x is not None else None\n    "
    body += "if part is not None:\n        part[0] = x\n        r[0] = part[0]"
    text = (
        f"{AROUND}from numba import float64\n@cuda.jit(device=True)\ndef asks(r, x):\n    {body}\n"
        "@cuda.jit\ndef k(r, n):\n    asks(r, n)\n    asks(r, None)\n"
    )
    asked = f"{AROUND}from numba import float64\n@cuda.jit\ndef k(r, x):\n    {body}\n"
    for each in (text, asked):
        result = np.zeros(2)
        emulate(load_program(each).functions["k"])[1, 1](result, 4)
        assert result[0] == 4


def test_a_parameter_that_is_changed_is_not_taken_for_its_new_value() -> None:
    assert launch("if n > 2:\n        n = 0.5\n    r[0] = n")[0] == 0.5


def test_loads_and_stores_with_cache_hints_move_the_same_values() -> None:
    text = (
        "from numba import cuda\n@cuda.jit\ndef copy(out, given):\n    i = cuda.grid(1)\n"
        "    cuda.stcs(out, i, cuda.ldcg(given, (i, 1)))\n"
    )
    copy = load_program(text).functions["copy"]
    result, given = np.zeros(4, np.float32), np.arange(8, dtype=np.float32).reshape(4, 2)
    assert not emulate(copy)[1, 4](result, given).findings
    assert result.tolist() == [1, 3, 5, 7]


# Under debug=True, and whether a division by zero ends the thread then, as Numba compiles it.
DIVIDED = {
    ("", "1 / x[0]"): True,
    ("", "x[0] // np.float32(0)"): True,
    (", fastmath=True", "np.float32(1) / np.float32(x[0])"): False,
    (", fastmath=True", "1 / x[0]"): True,
}


@every_case(("options", "division"), DIVIDED)
def test_under_debug_a_division_by_zero_ends_the_thread(options: str, division: str) -> None:
    text = (
        f"import numpy as np\nfrom numba import cuda\n@cuda.jit(debug=True{options})\n"
        f"def k(r, x):\n    r[0] = {division}\n    r[1] = 1\n"
    )
    result = np.zeros(2)
    profile = emulate(load_program(text).functions["k"])[1, 1](result, np.zeros(1))
    ends = DIVIDED[options, division]
    assert [each.code for each in profile.findings] == ["raised-exception"] * ends
    assert result[1] == (not ends)


def test_a_function_under_overload_is_unsupported() -> None:
    text = (
        "from numba import cuda\nfrom numba.cuda.extending import overload\n"
        "def f(x):\n    pass\n@overload(f)\ndef of(x):\n    def impl(x):\n        return 1\n"
        "    return impl\n@cuda.jit\ndef k(r):\n    r[0] = f(1)\n"
    )
    with pytest.raises(KernelRejected) as refused:
        emulate(load_program(text).functions["k"])[1, 1](np.zeros(1))
    assert refused.value.findings[0].code == "unsupported"
