"""Statements and kinds of values together: slices, loops and calls of records and the like."""

import enum

import numpy as np
import pytest
from emulator_helpers import run_clean
from every_case import every_case

from course_lib.emulator import KernelRejected, emulate

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
        "for each, k in zip(r, v): each.n = k + 7\nout[0], out[1] = r.n[0], r.n[1]",
        [7, 8, 0, 0],
    ),
    "step of complex": ("out[0] = z[::-2].sum().imag", [4, 0, 0, 0]),
    "step of a field": ("r.x[::-1][0] = 6\nout[0] = r[1::2].x[0]", [6, 0, 0, 0]),
    "operator": ("out[0] = operator.mul(z[1], 2j).real", [-2, 0, 0, 0]),
}


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
    "out[i] = later(by=later(i, 1), v=i)",
    "out[i] = operator.add(later(i, 1), i - 1)",
    "out[i] = later(*(later(i, 1), i - 1))",
    "assert later(i, 1) == i + 1\nout[i] = 2 * i",
)


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


def beside_complex(out, r):
    out[0] = Size.large * 1j


def equal_to_complex(out, r):
    out[0] = Size.large == out[1]


def part_of_a_member(out, r):
    out[0] = Size.large.real


def into_a_field(out, r):
    r[0].x = Size.large


# Numba's compiler refuses all of these.
@every_case("kernel", [beside_complex, equal_to_complex, part_of_a_member, into_a_field])
def test_members_are_no_numbers_beside_other_values(kernel: object) -> None:
    with pytest.raises(KernelRejected) as refused:
        emulate(kernel)[1, 1](np.ones(2, np.complex128), np.zeros(1, RECORD))
    assert [each.code for each in refused.value.findings] == ["compile-error"]
