"""numba-cuda-mlir in the place of numba.cuda: chosen where that is missing, and enough then."""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from child import python

from course_lib.host import successor
from course_lib.host.probe import ThisMachine, look
from course_lib.machine_code import CompilerMissing, front_ends
from course_lib.wording.errors import PlainError

WITHOUT_NUMBA = str(Path(__file__).parent / "without_numba" / "run.py")
INSTALLED = pytest.mark.skipif(
    find_spec(successor.PACKAGE) is None and Path(sys.prefix).name != ".venv-upstream",
    reason="numba-cuda-mlir is not installed here",
)


class Number:
    """Stands in for the class of the successor's scalar types."""


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The successor's module `cuda`; nobody looks inside."""
    names = ("", ".cuda", ".cuda.libdevice", ".types", ".tools")
    modules = {name: ModuleType(successor.PACKAGE + name) for name in names}
    vars(modules[".types"]).update(Number=Number, float32=Number(), void=object(), other=3)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, successor.PACKAGE + name, module)
    monkeypatch.setattr(successor, "label", lambda: "numba-cuda-mlir 0.6.0")
    monkeypatch.setattr(successor, "is_installed", lambda: True)
    return modules[".cuda"]


class NoNumbaHere(ThisMachine):
    """A machine with the successor alone, and no GPU."""

    def __init__(self, missing: str) -> None:
        self.missing = missing

    def load_numba_cuda(self) -> ModuleType:
        raise ModuleNotFoundError(f"No module named {self.missing!r}", name=self.missing)

    def device(self, cuda: ModuleType) -> Any:
        raise ImportError("CUDA driver library cannot be found.")

    def system(self) -> str:
        return "Linux"

    def on_colab(self) -> bool:
        return False


@pytest.mark.parametrize("missing", ["numba", "numba.cuda"])
def test_it_is_chosen_where_numba_or_its_cuda_part_is_missing(fake, missing):
    verdict = look(NoNumbaHere(missing))
    assert (verdict.backend, verdict.failure, verdict.cuda) == ("emulator", "no-driver", fake)
    assert verdict.banner.endswith(
        "Numba's CUDA part is not installed: numba-cuda-mlir 0.6.0 is the compiler."
    )


def test_a_numba_that_is_broken_is_not_passed_over_and_a_mend_names_the_package(fake):
    assert look(NoNumbaHere("llvmlite")).cuda is None

    class OldDriver(NoNumbaHere):
        def device(self, cuda: ModuleType) -> Any:
            return "Tesla T4", (7, 5)

        def canary(self, cuda: ModuleType) -> bool:
            return False

    assert "'numba-cuda-mlir[cu12]'" in look(OldDriver("numba")).banner


def test_its_names_are_numbas_until_they_are_taken_back(fake, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "numba"]:
        monkeypatch.delitem(sys.modules, name)
    undo = successor.put_in_place(fake)
    from numba import cuda, float32, vectorize
    from numba.cuda import libdevice

    assert (cuda, libdevice.__name__) == (fake, "numba_cuda_mlir.cuda.libdevice")
    assert isinstance(float32, Number)
    with pytest.raises(PlainError, match=r"numba\.vectorize needs Numba"):
        vectorize(["float32(float32)"], target="cuda")
    with pytest.raises(ImportError):
        from numba import other  # noqa: F401
    undo()
    assert not [name for name in sys.modules if name.partition(".")[0] == "numba"]


def test_the_private_variable_is_put_back_or_missed_in_a_sentence(fake):
    with (
        pytest.raises(CompilerMissing, match="asks the driver for its GPU in a way"),
        front_ends.SUCCESSOR.device_of((9, 0)),
    ):
        pass
    tools = sys.modules[f"{successor.PACKAGE}.tools"]
    tools._cached_cc = None
    with front_ends.SUCCESSOR.device_of((9, 0)):
        assert tools._cached_cc == (9, 0)
    assert tools._cached_cc is None


def test_a_launch_with_attributes_needs_numba_cuda() -> None:
    from course_lib.kernels import large_shared

    kind = type("MLIRDispatcher", (), {"__module__": "numba_cuda_mlir.descriptor"})
    kernel = kind()
    kernel.py_func = SimpleNamespace(__name__="tma")
    large_shared.allow(kernel, (), 48 * 1024)
    with pytest.raises(PlainError, match="tma needs numba-cuda to be launched"):
        large_shared.allow(kernel, (), 64 * 1024)


LESSON = """\
import course_lib
course_lib.start("02")
import numpy as np
from numba import cuda, float32, types, void, vectorize
from numba.cuda import grid, libdevice

A, B = np.arange(64, dtype=np.float32), cuda.to_device(np.zeros(64, np.float32))

@cuda.jit
def reversed_in_blocks(A, B):
    tile = cuda.shared.array(32, float32)
    tile[cuda.threadIdx.x] = A[grid(1)]
    cuda.syncthreads()
    B[grid(1)] = tile[31 - cuda.threadIdx.x] + types.float32(1) + libdevice.sqrtf(float32(4))

reversed_in_blocks[2, 32](A, B)
assert np.array_equal(B.copy_to_host(), A.reshape(2, 32)[:, ::-1].ravel() + 3)

@cuda.jit("float32(float32)", device=True)
def doubled(number):
    return 2 * number

@cuda.jit(void(float32[:], float32[:]))
def double(A, B):
    i = grid(1)
    if i < B.size:
        B[i] = doubled(A[i])

double.forall(64)(A, B)
assert np.array_equal(B.copy_to_host(), 2 * A)
C = np.zeros(64, np.float32)
double[2, 32](cuda.In(A), cuda.Out(C))
assert np.array_equal(C, 2 * A)
assert cuda.reduce(lambda a, b: a + b)(A) == A.sum()
assert course_lib.last_profile().findings == []
try:
    vectorize(["float32(float32)"], target="cuda")(doubled)
except course_lib.wording.errors.PlainError as refused:
    print(refused)
"""


@INSTALLED
def test_a_lessons_cells_run_with_it_alone(tmp_path: Path) -> None:
    lesson = tmp_path / "lesson.py"
    lesson.write_text(LESSON, encoding="utf-8")
    banner, refused = python(WITHOUT_NUMBA, lesson).stdout.splitlines()
    assert "numba-cuda-mlir" in banner and banner.endswith("is the compiler.")
    assert refused.startswith("numba.vectorize needs Numba, and here is only numba-cuda-mlir")
