"""A signature has Numba compile a function where it stands; what changes later changes nothing."""

import numpy as np
import pytest
from every_case import every_case

from course_lib.emulator import KernelRejected, emulate, load_program
from course_lib.host import runtime

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
    "several": (
        f'@cuda.jit(["void(float64[:])", "void(float32[:])"])\n{PLAIN}RATE = 9\n', 1),
    "options only": (f"@cuda.jit(fastmath=True)\n{PLAIN}RATE = 9\n", 9),
    "no signature": (f"@cuda.jit\n{PLAIN}RATE = 9\n", 9),
    "a call": (f"{PLAIN}k = {VOID}(k)\nRATE = 9\n", 1),
    "a call that comes later": (f"{PLAIN}RATE = 9\nk = {VOID}(k)\n", 9),
    "the size of an array": (
        f"@{VOID}\ndef k(out):\n    a = cuda.local.array(RATE, float64)\n    out[0] = a.size\n"
        "RATE = 9\n", 1),
    "an array": (
        f"@{VOID}\ndef k(out):\n    out[0] = TABLE[0]\nTABLE = np.array([9.0])\n", 1),
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
    with pytest.raises(KernelRejected) as refused:
        emulate(load_program(text).kernel("k"))[1, 1](np.zeros(1))
    (found,) = refused.value.findings
    assert found.code == "compile-error"
    assert "LATER has no value yet" in found.message
    misspelt = text.replace("LATER = 9", "LATTER = 9")
    with pytest.raises(KernelRejected) as refused:
        emulate(load_program(misspelt).kernel("k"))[1, 1](np.zeros(1))
    (found,) = refused.value.findings
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
