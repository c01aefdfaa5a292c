"""What is said where a launch can't be counted as compiled: one sentence, with what to do."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

import course_lib
from course_lib.compiled_counts import NotCounted, launch
from course_lib.compiled_counts.launch import lay_out
from course_lib.compiled_counts.operands import NotFollowed
from course_lib.emulator import EmulatorError, KeptLaunch, Profile, copies_of
from course_lib.host import runtime
from course_lib.machine_code import CompilerMissing


def double(data):
    i = cuda.threadIdx.x  # noqa: F821
    data[i] = 2 * data[i]


def launched(size: int = 32, block: int = 32) -> Any:
    from numba import cuda

    double.__globals__["cuda"] = cuda
    return course_lib.emulate(double)[1, block](np.ones(size, np.float32))


def test_without_a_compiler_the_sentence_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: Any) -> None:
        raise CompilerMissing("Compiling a kernel needs numba-cuda: pip install it.")

    monkeypatch.setattr(launch, "compile_kernel", none)
    with pytest.raises(CompilerMissing, match="pip install"):
        launched().as_compiled("9.0")


def test_without_a_disassembler_the_compiler_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    lacks = SimpleNamespace(sass=None, note="The instruction mix needs nvdisasm: pip install it.")
    monkeypatch.setattr(launch, "compile_kernel", lambda *_: {(): lacks})
    monkeypatch.setattr(launch, "find_tool", lambda name: None)
    with pytest.raises(CompilerMissing, match=r"^Counting machine code needs nvdisasm"):
        launched().as_compiled("9.0")


def test_a_launch_that_was_not_kept_says_how_to_keep_one() -> None:
    with pytest.raises(EmulatorError, match=r"course_lib\.emulate\(k\)\[grid, block\]"):
        Profile(kernel_name="k").as_compiled("9.0")


def test_large_arrays_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "KEPT_BYTES", 100)
    with pytest.raises(NotCounted, match="too large to keep"):
        launched().as_compiled("9.0")


def test_a_launch_with_errors_is_not_counted() -> None:
    with pytest.raises(NotCounted, match=r"has errors.*profile\.findings"):
        launched(size=16).as_compiled("9.0")


def test_arguments_are_kept_as_they_were_and_one_given_twice_stays_one() -> None:
    data, other = np.zeros((2, 3), order="F"), np.ones(2)
    first, second, inside, number = copies_of((data, data, (other, 5), 7))
    data[:] = 9
    assert first is second and not first.any() and first.flags.f_contiguous
    assert number == 7 and inside[1] == 5 and inside[0] is not other


def test_parameters_lie_as_numba_passes_them() -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    launch = lay_out((np.int8(-1), matrix, 5, True), (9, 0), (2, 1, 1), (32, 4, 1), {})
    bank = launch.constants[0][0x210:]
    words = np.frombuffer(bank, np.int64, 11)
    assert bank[0] == 255 and list(words[3:5]) == [6, 4]
    assert list(words[6:10]) == [2, 3, 12, 4] and words[10] == 5 and bank[88] == 1
    assert list(np.frombuffer(launch.constants[0], np.uint32, 6)) == [32, 4, 1, 2, 1, 1]
    assert np.array_equal(launch.array(1), matrix)


def test_an_array_with_gaps_is_refused() -> None:
    with pytest.raises(NotFollowed, match="one piece"):
        lay_out((np.zeros((4, 4))[:, ::2],), (9, 0), (1, 1, 1), (1, 1, 1), {})


def test_a_kept_launch_counts_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """The profile hands on its own launch, itself and the compute capability."""
    seen: list[Any] = []
    monkeypatch.setattr("course_lib.compiled_counts.count", lambda *given: seen.append(given))
    profile = launched()
    profile.as_compiled("8.6")
    kept, whose, cc = seen[0]
    assert isinstance(kept, KeptLaunch) and whose is profile and cc == "8.6"
    assert (kept.block, kept.arguments[0].sum()) == ((32, 1, 1), 32)
