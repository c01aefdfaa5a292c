"""Loops written out: the same result, the same lines, and refusals with their line."""

import inspect
import subprocess
import sys

import pytest

from course_lib.intrinsics import unroll, unrolled

N = 3


def test_same_result_with_the_numbers_in_place():
    @unrolled
    def pairs():
        found = []
        for i in unroll(N):
            for j in unroll(2):
                found.append((i, j))
        return found

    assert pairs() == [(i, j) for i in range(3) for j in range(2)]
    assert "for i in unroll(N)" in inspect.getsource(pairs)  # what the emulator reads
    assert pairs.__code__.co_consts.count("i") == 0 and "i" not in pairs.__code__.co_varnames


def test_constants_of_an_outer_function():
    def around(count, step):
        @unrolled
        def total(values):
            found = 0
            for i in unroll(count):
                found += values[i] * step
            return found

        return total

    assert around(2, 10)([1, 2, 3]) == 30
    assert around(3, 1)([1, 2, 3]) == 6


def test_other_loops_stay():
    @unrolled
    def total():
        found = 0
        for i in range(4):
            found += i
        return found

    assert total() == 6 and "i" in total.__code__.co_varnames


def leaves_early():
    for i in unroll(3):
        if i:
            break


def changes_the_counter():
    for i in unroll(3):
        i += 1


def counts_unknown(n):
    for _ in unroll(n):
        pass


@pytest.mark.parametrize(("function", "reason", "line"), [
    (leaves_early, "can't be left early", 3),
    (changes_the_counter, "can't be changed", 2),
    (counts_unknown, "a literal or a constant", 1),
])  # fmt: skip
def test_refused_with_the_line(function, reason, line):
    with pytest.raises(SyntaxError, match=reason) as refusal:
        unrolled(function)
    assert refusal.value.lineno == function.__code__.co_firstlineno + line


def test_above_cuda_jit_is_refused():
    with pytest.raises(TypeError, match="belongs between"):
        unrolled(object())


def test_the_names_are_there_without_numba_cuda():
    code = """
import sys
class Without:
    def find_spec(self, name, *rest):
        if name.startswith(("numba.cuda", "numba_cuda_mlir")):
            raise ImportError(name)
sys.meta_path.insert(0, Without())
import course_lib.intrinsics as names
assert all(hasattr(names, each) for each in names.__all__)
try:
    names.load4(None, 0)
except RuntimeError as reason:
    assert "inside a kernel" in str(reason)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)
