"""What Numba fixes, takes and leaves out when it compiles: names, signatures, known tests."""

from collections import namedtuple
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from emulator_helpers import as_program, kernel_of, launch, refusal, rejection_codes
from every_case import every_case
from numba import cuda

from course_lib.emulator import KernelRejected, emulate, kernel_from, load_program
from course_lib.host import runtime

pytest.importorskip("numba.cuda")


LATER = False


def without_source() -> Any:
    names: dict[str, Any] = {"cuda": cuda}
    exec("@cuda.jit(device=True)\ndef lost(x):\n    return x\n", names)
    return names["lost"]


AROUND: dict[str, Callable[[], object] | None] = {
    "no value": None,
    "a function without source": without_source,
    "an object": object,
    "a module": lambda: np,
}


def kernel_beside(value: Callable[[], object] | None) -> Any:
    """A kernel within a function that has a variable `beside`, without a value if that is None."""

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if LATER:  # Numba leaves out a branch that a constant rules out
            out[i] = beside
        total = np.float32(0)
        for k in range(32):
            if i + k < x.size:
                total += x[i + k]
        if i < out.size:
            out[i] = total

    if value is not None:
        beside = value()
    return kernel


@every_case("name", AROUND)
def test_the_names_around_a_kernel_are_those_with_a_value(name: str) -> None:
    names = kernel_from(kernel_beside(AROUND[name])).namespace
    assert ("beside" in list(names)) == ("beside" in names) == (AROUND[name] is not None)
    assert len(names) == len(list(names))


def test_a_variable_without_a_value_is_refused_where_it_is_used() -> None:
    @cuda.jit
    def kernel(out):
        out[0] = beside

    if LATER:
        beside = 1
    assert "beside" in refusal(kernel, np.zeros(1)).message


def test_a_function_in_another_language_is_refused_as_such() -> None:
    doubled = cuda.declare_device("doubled", "float32(float32)")

    @cuda.jit
    def kernel(out):
        out[0] = doubled(out[0])

    found = refusal(kernel, np.zeros(1, np.float32))
    assert (found.code, found.message) == (
        "unsupported",
        "doubled is declared here, and written in another language.",
    )
    assert "device=True" in found.hint


SHAPES = {
    "cuda.local.array(TILE, np.float32)[0]": "TILE",
    "cuda.shared.array((NUMBER, TILE), np.float32)[0, 0]": "TILE",
    "cuda.shared.array(size, np.float32)[0]": "",
}


@every_case("array", SHAPES)
def test_a_shape_from_numpy_is_called_so(array: str) -> None:
    """Numba takes no NumPy number for a constant where it needs one."""
    kernel = kernel_of(f"size = out.size\nout[0] = {array}", "out", TILE=np.int64(4), NUMBER=4)
    found = refusal(kernel, np.zeros(1, np.float32))
    assert found.code == "compile-error" and "needs a shape that is constant" in found.message
    name = SHAPES[array]
    is_numpys = f"{name} is a NumPy number, but Numba needs a Python number here. Write int({name})"
    assert found.hint.startswith(is_numpys) if name else not found.hint


HEADER = (
    "import numpy as np\nfrom numba import cuda, float64, void\nRATE = 1\nTABLE = np.array([1.0])\n"
)
PLAIN = "def k(out):\n    out[0] = RATE\n"
HELPER = "{eager}\ndef rate():\n    return RATE\n"
VOID = 'cuda.jit("void(float64[:])")'

# A file in which RATE is 1 at first and 9 in the end; what the kernel k then writes.
TEXTS = {
    "a signature": (f"@{VOID}\n{PLAIN}RATE = 9\n", 1),
    "a type": (f"@cuda.jit(void(float64[:]))\n{PLAIN}RATE = 9\n", 1),
    "several": (f'@cuda.jit(["void(float64[:])", "void(float32[:])"])\n{PLAIN}RATE = 9\n', 1),
    "options only": (f"@cuda.jit(fastmath=True)\n{PLAIN}RATE = 9\n", 9),
    "no signature": (f"@cuda.jit\n{PLAIN}RATE = 9\n", 9),
    "a call": (f"{PLAIN}k = {VOID}(k)\nRATE = 9\n", 1),
    "a call that comes later": (f"{PLAIN}RATE = 9\nk = {VOID}(k)\n", 9),
    "the size of an array": (
        f"@{VOID}\ndef k(out):\n    a = cuda.local.array(RATE, float64)\n    out[0] = a.size\n"
        "RATE = 9\n", 1),
    "an array": (f"@{VOID}\ndef k(out):\n    out[0] = TABLE[0]\nTABLE = np.array([9.0])\n", 1),
    "a device function's name": (
        f"@cuda.jit(device=True)\ndef rate():\n    return RATE\n@{VOID}\ndef k(out):\n"
        "    out[0] = rate()\nRATE = 9\n", 1),
    "another device function": (
        f"@cuda.jit(device=True)\ndef rate():\n    return 1\n@{VOID}\ndef k(out):\n"
        "    out[0] = rate()\n@cuda.jit(device=True)\ndef rate():\n    return 9\n", 1),
    "a declared device function": (
        '@cuda.jit("float64()", device=True)\ndef rate():\n    return RATE\n@cuda.jit\n'
        "def k(out):\n    out[0] = rate()\nRATE = 9\n", 1),
    "a function that calls itself": (
        '@cuda.jit("float64(int64)", device=True)\ndef rate(n):\n    if n == 0:\n'
        "        return RATE\n    return rate(n - 1)\n@cuda.jit\ndef k(out):\n"
        "    out[0] = rate(3)\nRATE = 9\n", 1),
    "another name": (f"OTHER = 2\n@{VOID}\n{PLAIN}OTHER = 9\n", 1),
}  # fmt: skip


@every_case("name", TEXTS)
def test_in_a_text(name: str) -> None:
    text, expected = TEXTS[name]
    out = np.zeros(1)
    emulate(load_program(HEADER + text).kernel("k"))[1, 1](out)
    assert out[0] == expected


def test_what_is_defined_below_a_signature_is_missing() -> None:
    text = f"{HEADER}@{VOID}\ndef k(out):\n    out[0] = LATER\nLATER = 9\n"
    found = refusal(load_program(text).kernel("k"), np.zeros(1))
    assert found.code == "compile-error"
    assert "LATER has no value yet" in found.message
    misspelt = text.replace("LATER = 9", "LATTER = 9")
    found = refusal(load_program(misspelt).kernel("k"), np.zeros(1))
    assert "The name LATER is not defined" in found.message


@pytest.fixture
def session():
    pytest.importorskip("numba.cuda")
    runtime.start()
    yield
    runtime.stop()


@every_case("name", TEXTS)
def test_in_a_running_program(session, tmp_path_factory, name: str) -> None:
    text, expected = TEXTS[name]
    if name == "an array":  # changed in place, which no text can show
        text = text.replace("TABLE = np.array([9.0])", "TABLE[0] = 9.0")
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(HEADER + text)
    names: dict[str, object] = {"__name__": "program"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    for run in (lambda out: emulate(names["k"])[1, 1](out), names["k"][1, 1]):
        out = np.zeros(1)
        run(out)
        assert out[0] == expected


def test_the_names_of_a_module_of_ones_own_are_fixed_too(session, tmp_path, monkeypatch) -> None:
    (tmp_path / "rates_of_mine.py").write_text(
        "from numba import cuda\nRATE = 1\n@cuda.jit(device=True)\ndef rate():\n    return RATE\n"
    )
    path = tmp_path / "program.py"
    path.write_text(
        f"from numba import cuda\nimport rates_of_mine\n@{VOID}\ndef k(out):\n"
        "    out[0] = rates_of_mine.RATE\n    out[1] = rates_of_mine.rate()\n"
        "rates_of_mine.RATE = 9\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    names: dict[str, object] = {"__name__": "program"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    out = np.zeros(2)
    names["k"][1, 1](out)
    assert out.tolist() == [1, 1]


TAX = 2.0
TABLE = np.array([1.0, 2.0])


@cuda.jit(device=True)
def taxed(value):
    return value * TAX


def kernels():
    """Kernels that nobody has launched yet; a decorated function is compiled once."""

    @cuda.jit
    def by_name(out):
        out[0] = TAX

    @cuda.jit
    def by_table(out):
        out[0] = TABLE[1]

    rate = TAX

    @cuda.jit
    def by_closure(out):
        out[0] = rate

    def change(value):
        nonlocal rate
        rate = value

    @cuda.jit
    def by_device_function(out):
        out[0] = taxed(1.0)

    return by_name, by_table, by_closure, by_device_function, change


def test_global_names_are_frozen_by_the_first_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    *launched, change = kernels()
    out = np.zeros(1)
    for kernel in launched:
        emulate(kernel)[1, 1](out)
        assert out[0] == 2
    monkeypatch.setitem(globals(), "TAX", 3.0)
    TABLE[1], _ = 3.0, change(3.0)
    try:
        for kernel in launched:
            emulate(kernel)[1, 1](out)
            assert out[0] == 2, "compiled once for these types"
        for kernel in launched[:3]:
            single = np.zeros(1, np.float32)
            emulate(kernel)[1, 1](single)
            assert single[0] == 3, "compiled anew for other types"
        for kernel in kernels()[:2]:
            emulate(kernel)[1, 1](out)
            assert out[0] == 3, "another kernel"
    finally:
        TABLE[1] = 2.0


class OnTheDevice:
    def copy_to_host(self):
        return np.zeros(1)


STRANGERS = {
    "an array on the device": (OnTheDevice(), "unsupported"),
    "an object": (object(), "unsupported"),
    "a class of named tuples": (namedtuple("Pair", "x y"), "unsupported"),
    "a list": ([1, 2], "compile-error"),
    "a dictionary": ({1: 2}, "compile-error"),
}


@every_case("name", STRANGERS)
def test_what_cannot_come_from_outside(name: str) -> None:
    stranger, code = STRANGERS[name]

    @cuda.jit
    def kernel(out):
        out[0] = stranger[0]

    found = refusal(kernel, np.zeros(1))
    assert found.code == code
    assert found.line and found.hint and "stranger" in found.message


def test_several_signatures_are_chosen_from_by_type() -> None:
    device = (
        '@cuda.jit(["int64(int64)", "float64(float64)"], device=True)\n'
        "def half(a):\n    return a / 2\n"
    )
    text = as_program("out[0] = half(x)\nout[1] = half(n)", "out, x, n", before=device)
    out = np.zeros(2)
    launch(text, 1, 1, out, 3.0, 3)
    assert out.tolist() == [1.5, 1]
    assert rejection_codes(text, out, np.float32(3), 3) == ["unsupported"]


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
TOP = "from numba import cuda\nDEBUG = False\nSIZE = 2\nPAIR = (1, 2)\nNOTHING = None\n"
TOP += "@cuda.jit(device=True)\ndef half(x):\n    return x / 2\n"


def pruned(body: str) -> np.ndarray:
    text = f"{TOP}@cuda.jit\ndef k(r, a, n):\n    {body}\n"
    result = np.zeros(2)
    emulate(load_program(text).functions["k"])[1, 1](result, np.ones((2, 3)), 4)
    return result


def test_what_is_left_out_is_not_typed_and_what_is_compiled_is_refused() -> None:
    for body in LEFT_OUT:
        pruned(body)
    for body in COMPILED:
        with pytest.raises(KernelRejected, match="there is no item"):
            pruned(body)


# Of a device function, as Numba's compiler has it: what it is given, and whether that is compiled.
ASKED_FOR_NONE = {"2": False, "n": True, "None": True, "2.5": True, "r": True}


@every_case("given", ASKED_FOR_NONE)
def test_a_function_asks_for_none(given: str) -> None:
    """Numba compiles the branch unless the argument is a literal; None alone takes it."""
    asks = "if x is None:\n        r[0] = PAIR[5]"
    text = (
        f"{TOP}@cuda.jit(device=True)\ndef asks(r, x):\n    {asks}\n"
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
        f"{TOP}from numba import float64\n@cuda.jit(device=True)\ndef asks(r, x):\n    {body}\n"
        "@cuda.jit\ndef k(r, n):\n    asks(r, n)\n    asks(r, None)\n"
    )
    asked = f"{TOP}from numba import float64\n@cuda.jit\ndef k(r, x):\n    {body}\n"
    for each in (text, asked):
        result = np.zeros(2)
        emulate(load_program(each).functions["k"])[1, 1](result, 4)
        assert result[0] == 4


def test_a_parameter_that_is_changed_is_not_taken_for_its_new_value() -> None:
    assert pruned("if n > 2:\n        n = 0.5\n    r[0] = n")[0] == 0.5


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
    assert refusal(load_program(text).functions["k"], np.zeros(1)).code == "unsupported"
