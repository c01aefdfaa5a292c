"""`course_lib.emulated()`: a program's kernels on the emulator, what they ask and end with."""

import contextlib
import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from every_case import every_case
from numba import cuda, float32, int64, void

import course_lib
from course_lib.emulator.profile.annotate import lines_of
from course_lib.host import host_api, pretended_gpu, probe, runtime
from course_lib.wording.errors import LaunchFailed, LaunchRefused, NoGpuHere, PlainError


class Unbalanced(ValueError):
    pass


class WantsTwo(Exception):
    def __init__(self, first: object, second: object, third: object) -> None:
        super().__init__(first, second, third)


@cuda.jit
def right(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += x[i]


@cuda.jit
def outside(x):
    x[cuda.grid(1)] = 1


@cuda.jit
def strided(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i * 32] + x[i * 32 + 1]


@cuda.jit
def of_a_tuple(pair, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = pair[0][i] + pair[1][0][i]


@cuda.jit
def opens(x):
    with open("file"):
        x[0] = 1


@cuda.jit(debug=True, opt=False)
def raises_own(x):
    raise Unbalanced("below zero")


@cuda.jit(debug=True, opt=False)
def raises_key(x):
    raise KeyError("no such key")


@cuda.jit(debug=True, opt=False)
def raises_strange(x):
    raise WantsTwo(1, 2, 3)


@cuda.jit(debug=True, opt=False)
def asserts(x):
    assert x[0] > 0


@pytest.fixture(autouse=True)
def _numba_as_it_comes():
    """Another test may have left `course_lib.start()` in force."""
    runtime.stop()


def zeros(size: int = 100) -> np.ndarray:
    return np.zeros(size, np.float32)


def test_a_gpu_is_there_inside_and_all_is_as_before_afterwards() -> None:
    table = host_api.replacements(cuda, lambda *launch: None, pretended_gpu.answers())
    table += [each for each in pretended_gpu.deeper(cuda) if hasattr(each.owner, each.name)]
    before = [vars(each.owner).get(each.name, "absent") for each in table]
    with course_lib.emulated() as launches:
        assert cuda.is_available() and len(cuda.gpus) == 1
        with pytest.raises(LaunchFailed):
            outside[1, 128](zeros())
    assert launches.count == launches.failed == 1
    after = [vars(each.owner).get(each.name, "absent") for each in table]
    assert all(one is other for one, other in zip(before, after, strict=True))


LAUNCHES = {
    "outside": (outside, LaunchFailed, "in outside: thread 100 writes x at index 100"),
    "refused": (opens, LaunchRefused, "opens did not run. Line"),
    "of the module": (raises_own, Unbalanced, "\nbelow zero"),
    "of Python": (raises_key, KeyError, "raises KeyError here and ends"),
    "cannot be made": (raises_strange, LaunchFailed, "raises WantsTwo here"),
    "assert": (asserts, AssertionError, "raises"),
}


@every_case("case", LAUNCHES)
def test_what_a_launch_ends_with(case: str) -> None:
    kernel, kind, words = LAUNCHES[case]
    with course_lib.emulated(), pytest.raises(kind) as raised:
        kernel[1, 128](zeros())
    assert words in str(raised.value)
    assert str(raised.value).startswith("tests/test_emulated.py:")


def test_warnings_are_gathered_once_a_line_and_chosen_by_options() -> None:
    with course_lib.emulated() as launches:
        for _ in range(3):
            strided[4, 256](zeros(33 * 1024), zeros(1024))
    assert [each.launches for each in launches.warnings] == [3]
    assert "uncoalesced-load" in str(launches.warnings[0])
    taken = launches.take()
    assert (taken.count, launches.count, launches.warnings) == (3, 0, [])
    with course_lib.emulated(costs=False) as launches:
        strided[4, 256](zeros(33 * 1024), zeros(1024))
    assert not launches.warnings
    with course_lib.emulated(warn=["out-of-bounds-write"]) as launches:
        outside[1, 128](zeros())
    assert [each.finding.severity for each in launches.warnings] == ["warning"]
    with pytest.raises(PlainError, match="No finding has the code race"):
        course_lib.emulated(warn=["race"]).__enter__()


def test_device_arrays_in_tuples_and_wrapped_ones_are_the_arrays() -> None:
    out = zeros(8)
    with course_lib.emulated():
        one, two = cuda.to_device(np.arange(8.0)), cuda.to_device(np.ones(8))
        of_a_tuple[1, 8]((one, (two,)), out)
    assert out.tolist() == list(range(1, 9))
    with course_lib.emulated():
        array = cuda.to_device(np.ones(4))
        right[1, 4](Wrapped(array))
        assert array.copy_to_host().tolist() == [2] * 4
        right[1, 4](cuda.as_cuda_array(Wrapped(array)))
        assert array.copy_to_host().tolist() == [4] * 4


def test_a_numba_without_its_cuda_part(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: probe.ThisMachine) -> None:
        raise ImportError

    monkeypatch.setattr(probe.ThisMachine, "load_cuda", none)
    with course_lib.emulated():
        from numba import cuda as stand_in

        assert stand_in.implementation == "stand-in" and stand_in.is_available()
        values = stand_in.to_device(np.ones(4))
        stand_in.jit(right.py_func)[1, 4](values)
        assert values.copy_to_host().tolist() == [2] * 4
    assert cuda.jit is not stand_in.jit


class Wrapped:
    """An array as other libraries hand theirs over."""

    def __init__(self, array: object) -> None:
        self.__cuda_array_interface__ = array.__cuda_array_interface__  # type: ignore


def test_the_gpu_that_answers() -> None:
    with course_lib.emulated():
        gpu = cuda.get_current_device()
        with pytest.raises(PlainError, match="another GPU than the one that is here"):
            cuda.select_device(1)
        assert gpu == cuda.gpus[0] == cuda.select_device(0) == next(iter(cuda.list_devices()))
        assert gpu.compute_capability == (8, 0) and gpu.MULTIPROCESSOR_COUNT == 108
        with pytest.raises(NoGpuHere):
            _ = gpu.PCI_BUS_ID
        with pytest.raises(IndexError):
            cuda.gpus[1]
        assert cuda.detect()
        assert cuda.require_context(asserts) is asserts
        compiler = getattr(cuda, "compile_ptx_for_current_device", None)
        assert compiler is None or compiler.keywords == {"cc": gpu.compute_capability}


HELPERS = """\
from numba import cuda, float32





@cuda.jit(device=True)
def helper(x, i, what):
    if what == 0:
        x[i + 100] = 1
    elif what == 1:
        x[0] += i
    elif what == 2:
        x[i % 7] = i
    elif what == 3:
        s = cuda.shared.array(64, float32)
        s[i] = x[i]
        x[i] = s[63 - i]
    elif what == 4:
        while x[0] < 1:
            i += 1
    elif what == 5:
        x[-i] = 1
    elif what == 6:
        x[0] = 5
"""
HARMLESS = 6
UNUSED = "".join(f"        x[0] = {number}\n" for number in range(24))
KERNELS = f"""\
from numba import cuda
from helpers_of_test import helper


@cuda.jit
def kernel(x, what):
    i = cuda.grid(1)
    if what == 99:
{UNUSED}    helper(x, i, what)
    if i == 0:
        x[2] = x[what]
"""


@pytest.fixture
def of_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A kernel, and in another file a function that it calls."""
    for name, text in (("helpers_of_test", HELPERS), ("kernels_of_test", KERNELS)):
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module("kernels_of_test").kernel


NEVER_RUN = range(9, 33)  # of the kernel's own lines


@every_case("what", range(7))
def test_a_line_that_two_files_have_is_that_of_the_right_file(of_two_files, what: int) -> None:
    with course_lib.emulated() as launches, contextlib.suppress(LaunchFailed):
        of_two_files[1, 64](np.zeros(64, np.float32), what)
    told = [each for each in launches.errors + launches.warnings if each.finding.line in NEVER_RUN]
    assert {Path(each.file).name for each in told} == {"helpers_of_test.py"}
    assert bool(launches.errors) != (what == HARMLESS)


def test_beside_the_lines_of_a_file_stand_its_own_counts(of_two_files) -> None:
    profile = course_lib.emulate(of_two_files)[1, 64](np.zeros(64, np.float32), 6)
    lines = {each.number: each.counters for each in lines_of(profile)}
    assert lines[8] and not any(lines[number] for number in NEVER_RUN)
    assert {each.file for each in profile.lines} > {of_two_files.py_func.__code__.co_filename}


OF_ONE, OF_BOTH = (float32[::1],), (float32[::1], int64)


def doubled(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def staged(x, n):
    tile = cuda.shared.array(8192, float32)
    tile[cuda.threadIdx.x] = n
    x[cuda.grid(1)] = tile[cuda.threadIdx.x]


def test_a_declared_kernel_has_what_it_was_declared_with() -> None:
    with course_lib.emulated():
        kernel = cuda.jit([OF_ONE])(doubled)
        assert list(kernel.overloads) == [OF_ONE]
        kernel[1, 32](np.ones(32, np.float32))
        assert list(kernel.overloads) == [OF_ONE]
        again = cuda.jit(doubled)
        assert again.compile(OF_ONE) is again.overloads[OF_ONE]


# Kernel, block, bytes of dynamic shared memory, and how many blocks an A100 holds at least: with
# 255 registers a thread, or as many as a block of this size may have.
GRIDS = [
    (doubled, OF_ONE, 32, 0, 108 * 8),
    (doubled, OF_ONE, (16, 16), 0, 108),
    (doubled, OF_ONE, 1024, 0, 108),
    (doubled, OF_ONE, 32, 40 << 10, 108 * 4),
    (staged, OF_BOTH, 32, 0, 108 * 4),  # 163 KiB of 164, and its own 32 and 1
]


@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("before_a_launch", [True, False])
def test_so_many_blocks_may_wait_for_each_other(grid, before_a_launch):
    function, types, block, dynamic, blocks = grid
    with course_lib.emulated():
        kernel = cuda.jit(function)
        if before_a_launch:
            kernel.compile(types)
        else:
            kernel[1, 32](*(np.ones(32, np.float32), 1)[: len(types)])
        compiled = kernel.overloads[types]
        assert compiled.max_cooperative_grid_blocks(block, dynamic) == blocks


def test_no_number_is_told_that_only_machine_code_or_a_gpu_has() -> None:
    kernel = cuda.jit(doubled)
    with course_lib.emulated():
        kernel[1, 32](np.ones(32, np.float32))
        for name in ("regs_per_thread", "local_mem_per_thread", "inspect_asm"):
            with pytest.raises(NoGpuHere, match=f"^kernel.overloads.*{name} needs a GPU"):
                getattr(kernel.overloads[OF_ONE], name)
    kernel = cuda.jit(doubled)
    course_lib.start()
    try:
        kernel[1, 32](np.ones(32, np.float32))
        with pytest.raises(NoGpuHere, match=r"max_cooperative_grid_blocks\(\) needs a GPU"):
            kernel.overloads[OF_ONE].max_cooperative_grid_blocks(32)
    finally:
        runtime.stop()


def test_what_a_gpu_has_compiled_before_is_there_and_tells_what_it_knows() -> None:
    kernel = cuda.jit(doubled)
    compiled = SimpleNamespace(
        signature=void(*OF_ONE), objectmode=False, regs_per_thread=12, argument_types=OF_ONE
    )
    vars(kernel)["overloads"] = {OF_ONE: compiled}  # as Numba does, with a driver
    kernel.disable_compile()
    with course_lib.emulated():
        (only,) = kernel.overloads.values()
        assert only.regs_per_thread == 12
        assert only.max_cooperative_grid_blocks(32) == 108 * 8
        with pytest.raises(LaunchRefused, match="declared"):
            kernel[1, 32](np.ones(32, np.int8))
    assert kernel.overloads == {OF_ONE: compiled}
