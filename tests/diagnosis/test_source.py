"""The line to blame is found in the syntax tree, whatever style the kernel is written in."""

from __future__ import annotations

import ast

from course_lib.diagnosis.source.source import Source, bound_line, loop_start_line
from course_lib.diagnosis.source.tree import indices_of

TILED = """
def kernel(A, B, C):
    sA = cuda.shared.array((16, 16), float32)
    col, row = cuda.grid(2)
    M, K = A.shape
    acc = float32(0)
    for t in range(K // 16):
        k0 = t * 16 + cuda.threadIdx.x
        if row < M and k0 < K:
            sA[cuda.threadIdx.y, cuda.threadIdx.x] = A[row, k0]
        for k in range(16):
            acc += sA[cuda.threadIdx.y, k] * B[k, col]
    if col >= C.shape[1]:
        return
    C[row, col] += acc
"""


def source(text: str = TILED) -> Source:
    return Source((ast.parse(text).body[0],), ("A", "B", "C"))  # type: ignore[arg-type]


def test_accesses_are_found_by_array_and_direction() -> None:
    found = source()
    assert [each.lineno for each in found.accesses("A", store=False)] == [10]
    assert [each.lineno for each in found.accesses("sA", store=True)] == [10]
    assert [each.lineno for each in found.accesses("sA", store=False)] == [12]


def test_an_augmented_assignment_reads_and_writes() -> None:
    found = source()
    assert [each.lineno for each in found.accesses("C", store=False)] == [15]
    assert [each.lineno for each in found.accesses("C", store=True)] == [15]


def test_guards_are_tests_against_a_size_and_early_returns() -> None:
    found = source()
    load = found.accesses("A", store=False)[0]
    store = found.accesses("C", store=True)[0]
    assert [line for _, line in found.guards(load)] == [9]
    assert [line for _, line in found.guards(store)] == [13]


def test_a_test_of_thread_numbers_is_no_guard() -> None:
    text = "def kernel(C):\n    if cuda.threadIdx.x == 0:\n        C[0, 0] = 1\n"
    store = source(text).accesses("C", store=True)[0]
    assert source(text).guards(store) == []


def test_a_named_test_is_a_guard() -> None:
    text = (
        "def kernel(C):\n    i = cuda.grid(1)\n    inside = i < C.shape[0]\n"
        "    if inside:\n        C[i] = 1\n"
    )
    found = source(text)
    store = found.accesses("C", store=True)[0]
    assert [line for _, line in found.guards(store)] == [3]  # where the test is made


def test_a_conditional_expression_is_a_guard() -> None:
    text = "def kernel(A, C):\n    i = 3\n    C[i] = A[i] if i < len(A) else 0\n"
    found = source(text)
    assert [line for _, line in found.guards(found.accesses("A", store=False)[0])] == [3]


def test_origins_follow_variables_set_in_one_place() -> None:
    found = source()
    index = indices_of(found.accesses("A", store=False)[0])[1]
    assert {"t", "threadIdx", "x"} <= found.origins(index)


def test_loop_variables_of_while_loops() -> None:
    text = "def kernel(A, C):\n    k = 0\n    while k < 5:\n        C[0] = A[k]\n        k += 1\n"
    found = source(text)
    load = found.accesses("A", store=False)[0]
    assert found.loop_variables(load) == {"k"}


def test_the_sum_and_its_start() -> None:
    found = source()
    assert found.additions()[0].lineno == 12
    assert found.sums()[0] == "acc"
    assert [each.lineno for each in found.starts("acc")] == [6]


def test_staged_arrays_are_known_by_what_is_put_into_them() -> None:
    assert source().staged("A") == {"sA"}
    assert source().staged("B") == set()


GUARDED = """
def kernel(A, B, C):
    left, top = cuda.blockIdx.x * 16, cuda.blockIdx.y * 16
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, N = C.shape
    if top + ty >= M:
        return
    if left + tx >= N:
        return
    for v in range(4):
        row, col = top + ty, left + tx + v * 4
        C[row, col] = A[row, v]
"""


def test_a_guard_is_about_the_index_that_it_shares_variables_with() -> None:
    found = source(GUARDED)
    store = found.accesses("C", store=True)[0]
    load = found.accesses("A", store=False)[0]
    assert [[line for _, line in found.guards_of(store, axis)] for axis in (0, 1)] == [[6], [8]]
    assert found.guards_of(load, 1) == [], "no test is about the step"


def test_of_two_indices_the_nearer_one_is_tested() -> None:
    text = (
        "def kernel(A, B, C):\n    t = cuda.threadIdx.x\n    y, x = t // 8, t % 8\n"
        "    if y < C.shape[0]:\n        C[y, x] = 1\n"
    )
    found = source(text)
    store = found.accesses("C", store=True)[0]
    assert [len(found.guards_of(store, axis)) for axis in (0, 1)] == [1, 0]


def test_a_loop_starts_and_ends_at_its_own_numbers() -> None:
    text = (
        "def kernel(A, B, C):\n    first = A.shape[0] // 4\n    last = A.shape[0] - 1\n"
        "    for k in range(first, last):\n        C[0, 0] += A[0, k]\n"
    )
    found = source(text)
    (loop,) = found.loops()
    assert (loop_start_line(found, loop), bound_line(found, loop)) == (2, 3)


def test_the_parameters_of_a_device_function_are_indices() -> None:
    text = (
        "def kernel(A, B, C):\n    C[0, 0] = get(A, 1, 2)\n"
        "def get(A, r, c):\n    if r < A.shape[0]:\n        return A[r, c]\n"
    )
    found = Source(tuple(ast.parse(text).body), ("A", "B", "C"))  # type: ignore[arg-type]
    load = found.accesses("A", store=False)[0]
    assert [len(found.guards_of(load, axis)) for axis in (0, 1)] == [1, 0]


def test_a_step_that_all_threads_share_does_not_make_a_test_one_of_this_index() -> None:
    text = (
        "def kernel(A, B, C):\n    x, y = cuda.threadIdx.x, cuda.threadIdx.y\n"
        "    for t in range(9):\n        if t * 16 + y < A.shape[1]:\n"
        "            C[y, x] = A[y, t * 16 + x]\n"
    )
    found = source(text)
    load = found.accesses("A", store=False)[0]
    assert [len(found.guards_of(load, axis)) for axis in (0, 1)] == [1, 0]
