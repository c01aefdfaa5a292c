"""Enumerations and tuples from outside: what Python computes with them."""

import enum

import numba.cuda as cuda
import numpy as np
import pytest
from every_case import every_case

from course_lib.emulator import KernelRejected, emulate


class Color(enum.Enum):
    red = 1
    green = 2
    blue = 3


class Size(enum.IntEnum):
    small = 2
    large = 300


FAVOURITE = Color.blue
LARGE = Size.large
NESTED = ((1, 2.5), (3, 4.5), ((5,), 6))


@cuda.jit(device=True)
def chosen(truth):
    return Color.red if truth else Color.green


def members(out, given):
    i = cuda.threadIdx.x
    mine = chosen(i % 2 == 0)
    out[i, 0] = mine == Color.red
    out[i, 1] = mine != Color.green
    out[i, 2] = mine is Color["red"]
    out[i, 3] = given is not FAVOURITE
    out[i, 4] = FAVOURITE.value
    out[i, 5] = Color.red == Color.green


def whole_numbers(out, given):
    i = cuda.threadIdx.x
    out[i, 0] = Size.large - Size.small
    out[i, 1] = np.int16(LARGE) + i
    out[i, 2] = given > Size.small
    out[i, 3] = Size["small"].value
    out[i, 4] = -Size.small if i else LARGE


def nested_tuples(out, given):
    i = cuda.threadIdx.x
    pair = NESTED[1]
    out[i, 0] = pair[0] + pair[1] + i
    out[i, 1] = NESTED[2][0][0] + NESTED[0][1] + given


def in_python(body, given) -> np.ndarray:
    class Thread:
        x = 0

    names = {"cuda": type("FakeCuda", (), {"threadIdx": Thread})}
    copy = type(body)(body.__code__, {**globals(), **names, "chosen": chosen.py_func})
    out = np.zeros((4, 6))
    for Thread.x in range(4):
        copy(out, given)
    return out


@pytest.mark.parametrize(
    ("body", "given"),
    [
        (members, Color.green),
        (members, Color.blue),
        (whole_numbers, Size.large),
        (nested_tuples, 3),
    ],
)
def test_the_emulator_computes_what_python_computes(body, given) -> None:
    out = np.zeros((4, 6))
    emulate(body)[1, 4](out, given)
    assert out.tolist() == in_python(body, given).tolist()


def no_such_member(out):
    out[0] = Color.purple == Color.red


def different_enumerations(out, given):
    out[0] = given == Color.red


class Other(enum.Enum):
    red = 1


def test_what_is_no_member_is_refused() -> None:
    for body, rest, code in [
        (no_such_member, (), "compile-error"),
        (different_enumerations, (Other.red,), "unsupported"),
    ]:
        with pytest.raises(KernelRejected) as refused:
            emulate(body)[1, 1](np.zeros(1), *rest)
        assert refused.value.findings[0].code == code


class Mode(enum.IntEnum):
    little = 2


FIVE, TWO = 5, 2


def identities(out, one, other):
    out[0] = one is other
    out[1] = one is not other
    out[2] = one is Size.small
    out[3] = one == other
    out[4] = out.size is FIVE
    out[5] = one is TWO


@every_case(
    "one, other, expected",
    [
        (Size.small, Size.small, [1, 0, 1, 1, 0, 0]), (Size.small, Size.large, [0, 1, 1, 0, 0, 0]),
        (Size.small, Mode.little, [0, 1, 1, 1, 0, 0]), (Mode.little, 2, [0, 1, 0, 1, 0, 0]),
        (2, 2, [1, 0, 0, 1, 0, 1]), (2, np.int32(2), [0, 1, 0, 1, 0, 1]),
    ],
)  # fmt: skip
def test_identity_of_numbers_is_of_value_and_type(one, other, expected) -> None:
    """As Numba's compiler makes it: the machine code was looked at."""
    out = np.zeros(6)
    emulate(identities)[1, 1](out, one, other)
    assert out.tolist() == expected


@cuda.jit(device=True)
def the_same(one, other):
    return one is other


def in_a_function(out, one, other):
    out[0] = the_same(one, other)


def test_a_function_does_not_know_members() -> None:
    with pytest.raises(KernelRejected) as refused:
        emulate(in_a_function)[1, 1](np.zeros(1), Size.small, Mode.little)
    assert refused.value.findings[0].code == "unsupported"
