"""The run on a student's GPU, with a stand-in for the device: NumPy arrays and plain functions."""

from types import SimpleNamespace

import numpy as np
import pytest
from sampling import marks

from course_lib.answer_text.context import our_kernel
from course_lib.checking import Answer, examine
from course_lib.curriculum import TASKS, Launch, Task
from course_lib.diagnosis import real_gpu
from course_lib.emulator import emulate
from course_lib.host import runtime
from course_lib.problems import described as described_problem
from course_lib.problems import table
from course_lib.problems.inputs import make_inputs
from course_lib.problems.problem import Case, Problem
from course_lib.problems.scan import run_sums
from course_lib.problems.table import FAMILIES

PRODUCT, SCAN, SUM, TRANSPOSE = map(FAMILIES.get, ("product", "scan", "sum", "transpose"))


class Device(np.ndarray):
    """A NumPy array that can be copied to the host."""

    def copy_to_host(self) -> np.ndarray:
        return np.array(self)


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    from numba import cuda

    monkeypatch.setattr(cuda, "to_device", lambda array: array.copy().view(Device))
    monkeypatch.setattr(type(PRODUCT), "gpu_shapes", ((40, 30, 20),))
    monkeypatch.setattr(type(SUM), "gpu_shapes", ((40, 30, 0),))
    monkeypatch.setattr(type(TRANSPOSE), "gpu_shapes", ((40, 30, 0),))
    monkeypatch.setattr(type(SCAN), "gpu_shapes", ((200,),))


def outcome(kernel: object, problem: Problem = PRODUCT) -> list[object]:
    def run(function: object, grid: object, block: object, *arrays: np.ndarray) -> None:
        function(*arrays)  # type: ignore[operator]

    launch = SimpleNamespace(grid=(3, 3), block=(16, 16))
    names = tuple(problem.letters)
    return real_gpu.try_on_gpu(kernel, problem, lambda case: launch, 0, run, names)  # type: ignore


def right(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> None:
    C[:] = A @ B


def one_wrong(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> None:
    C[:] = A @ B
    C[-1, 5] += 1


def beside(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> None:
    C[:] = A @ B
    whole = C
    while isinstance(whole.base, np.ndarray):
        whole = whole.base
    whole[real_gpu.GUARD + C.size] = 1.0


def added(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> None:
    C[:] = A + B


def turned(A: np.ndarray, B: np.ndarray) -> None:
    B[:] = A.T


def summed(x: np.ndarray, y: np.ndarray) -> None:
    y[:] = run_sums(np.asarray(x))


def test_a_right_kernel_has_no_findings() -> None:
    assert outcome(right) == []
    assert outcome(added, SUM) == []
    assert outcome(turned, TRANSPOSE) == []
    assert outcome(summed, SCAN) == []


def test_a_problem_with_one_input_names_its_own_arrays() -> None:
    (found,) = outcome(lambda A, B: None, TRANSPOSE)
    assert "B[0, 0] is" in found.message and "A of 40 x 30" in found.message  # type: ignore[attr-defined]
    (found,) = outcome(lambda x, y: None, SCAN)
    assert "y[0] is" in found.message and "n = 200" in found.message  # type: ignore[attr-defined]


def test_a_wrong_element_is_found() -> None:
    (found,) = outcome(one_wrong)
    assert found.code == "wrong-result"  # type: ignore[attr-defined]
    assert "element [39, 5]" in found.message  # type: ignore[attr-defined]


def test_a_store_beside_an_array_is_found() -> None:
    (found,) = outcome(beside)
    assert found.code == "out-of-bounds-write"  # type: ignore[attr-defined]
    assert "next to C" in found.message  # type: ignore[attr-defined]


def test_nothing_written_is_found() -> None:
    (found,) = outcome(lambda A, B, C: None)
    assert "every element is wrong" in found.message  # type: ignore[attr-defined]


LAUNCHED = [each for each in TASKS.values() if each.kind.is_launched]


@pytest.mark.parametrize(
    "task",
    [
        pytest.param(each, id=each.id, marks=marks(number, fast=4, slow=4))
        for number, each in enumerate(LAUNCHED)
    ],
)
def test_the_answer_to_a_task_is_right_there(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own sizes, and with what its output holds before; the emulator stands in."""
    small = {0: ((),), 1: ((203,),), 2: ((40, 30),), 3: ((40, 30, 20),)}
    monkeypatch.setattr(described_problem, "ON_A_GPU", small)
    problem = table.problem_of(task)
    kernel = our_kernel(task)

    def run(_: object, grid: object, block: object, *arrays: np.ndarray) -> None:
        emulate(kernel)[grid, block](*map(np.asarray, arrays))  # type: ignore[index]

    def launch(case: Case) -> Launch:
        return task.launch(problem.answer(*make_inputs(problem, case, 0))[0].shape)

    assert not real_gpu.try_on_gpu(None, problem, launch, 0, run, kernel.parameters)


@pytest.mark.parametrize(("can_copy", "launches"), [(True, 1), (False, 0)])
def test_a_gpu_without_asynchronous_copies_is_not_asked(monkeypatch, can_copy, launches):
    ran = []
    answer = our_kernel(TASKS["async_buffers"])
    made = Answer(answer, answer, lambda *_: ran.append(1))
    monkeypatch.setattr("course_lib.checking._answer_of_object", lambda _: made)
    monkeypatch.setattr(
        "course_lib.diagnosis.examination.try_on_gpu", lambda *given: given[4]() or []
    )
    monkeypatch.setattr(runtime, "can_copy_asynchronously", lambda: can_copy)
    assert examine("async_buffers", answer, debug=True).passed
    assert len(ran) == launches
