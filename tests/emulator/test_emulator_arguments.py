"""What a launch may be given: numbers for declared types, tuples, named tuples, refused arrays."""

import ctypes
from collections import namedtuple
from collections.abc import Sequence

import numpy as np
import pytest
from emulator_helpers import as_program, launch, run_clean
from every_case import every_case
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.emulator import KernelRejected, load_program
from course_lib.emulator.arguments import as_declared

WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
Point = namedtuple("Point", "x y")


def handed_over(values: Sequence[object], signatures: list[str]) -> list[object]:
    """What a kernel with these signatures gets of what it is given."""
    text = f"from numba import cuda\n@cuda.jit({signatures})\ndef k(*rest):\n    pass\n"
    return list(as_declared(load_program(text).functions["k"], values))


@settings(max_examples=100, deadline=None)
@given(st.integers(-(2**70), 2**70), st.sampled_from(WHOLE))
def test_integers_beyond_their_declared_type_wrap_around(number: int, declared: str) -> None:
    (fitted,) = handed_over([number], [f"({declared},)"])
    assert fitted == getattr(ctypes, f"c_{declared}")(number).value
    assert fitted.dtype == declared


@every_case("declared", WHOLE)
@every_case("value", [1.5, np.float32(2), "x", None, 1j, (1,)])
def test_what_is_no_integer_is_no_declared_integer(declared: str, value: object) -> None:
    """As ctypes has it, through which Numba hands numbers over."""
    with pytest.raises(KernelRejected, match="Argument 2 is declared as") as refused:
        handed_over([1, value], [f"(int32, {declared})"])
    assert refused.value.findings[0].code == "invalid-launch"


@every_case(
    ("declared", "value", "expected"),
    [("float32", 1e40, np.inf), ("float32", 3, 3.0), ("float64", 0.1, 0.1), ("boolean", 5, True),
     ("float16", 2.5, 2.5), ("int32", True, 1), ("uint8", np.int64(257), 1),
     ("complex64", 0.1, np.complex64(0.1))],
)  # fmt: skip
def test_numbers_become_what_is_declared(declared: str, value: object, expected: object) -> None:
    assert handed_over([value], [f"({declared},)"]) == [expected]


def test_an_array_of_another_type_under_one_signature_or_several() -> None:
    """With one, Numba never looks and reads wrong numbers; of several, it finds none."""
    declared = "(float64[:],)"
    for signatures in ([declared], [declared] * 2):
        with pytest.raises(KernelRejected) as refused:
            handed_over([np.zeros(2, np.float32)], signatures)
        assert refused.value.findings[0].code == "invalid-launch"


REFUSED = {
    "records": (np.zeros(2, [("mass", "f4"), ("x", "S4")]), "'mass'"),
    "dates": (np.zeros(2, "M8[s]"), "datetime64"),
    "a date": (np.datetime64("2026-01-01"), "of type datetime64"),
    "in a tuple": ((1, np.zeros(2, "S3")), "A[1] is an array of |S3"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_gpu_takes_and_the_emulator_does_not(name: str) -> None:
    value, words = REFUSED[name]
    with pytest.raises(KernelRejected) as refused:
        launch(as_program("pass", "A"), 1, 1, value)
    (found,) = refused.value.findings
    assert found.code == "unsupported"
    assert words in found.message and "the emulator" in found.message
    assert found.hint


def test_the_least_and_the_greatest_item_of_a_tuple() -> None:
    out = np.zeros(4)
    body = "out[0] = min(t)\nout[1] = max(t)\nout[2] = min((out.size, 64))\nout[3] = max((2.5,))"
    run_clean(body, 1, 1, out, (3, 1, 2), parameters="out, t")
    assert out.tolist() == [1, 3, 4, 2.5]


def test_the_fields_of_a_named_tuple() -> None:
    out = np.zeros(3)
    body = "out[0] = p.x\nout[1] = p.y + p[0]\nx, y = p\nout[2] = y"
    run_clean(body, 1, 1, out, Point(1, 2.5), parameters="out, p")
    assert out.tolist() == [1, 3.5, 2.5]
