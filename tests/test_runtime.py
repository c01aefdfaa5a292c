"""One notebook for every machine: start(), launches, refusals, and arguments from anywhere."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from child import python
from sampling import few

pytest.importorskip("numba")
from numba import cuda

import course_lib
from course_lib.host import probe, runtime
from course_lib.host.arguments import HostArguments
from course_lib.wording.errors import PlainError

BANNER = (
    "Emulator: no NVIDIA GPU here. Kernels run on the CPU, counts are exact, "
    "times are not measured."
)


class NoGpu(probe.ThisMachine):
    """This machine, as if it had no NVIDIA driver (so that these tests also hold on one)."""

    def on_colab(self) -> bool:
        return False

    def system(self) -> str:
        return "Linux"

    def device(self, cuda):
        raise ImportError("CUDA driver library cannot be found.")


@pytest.fixture(autouse=True)
def emulator(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins before `start()`, on a machine without a GPU."""
    started = runtime._session.verdict is not None
    runtime.stop()
    monkeypatch.setattr(probe, "ThisMachine", NoGpu)
    yield
    runtime.stop()
    monkeypatch.undo()
    if started:
        runtime.verdict()


@cuda.jit
def add(a, b, c):
    x, y = cuda.grid(2)
    if x < c.shape[1] and y < c.shape[0]:
        c[y, x] = a[y, x] + b[y, x]


@cuda.jit
def shift_without_barrier(x):
    tile = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    x[i] = tile[63 - i]


def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * factor


def pair() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a = np.arange(35, dtype=np.float32).reshape(5, 7)
    return a, 2 * a, np.zeros((5, 7), np.float32)


def test_start_prints_one_line_and_may_be_called_again(capsys) -> None:
    course_lib.start()
    course_lib.start()
    assert capsys.readouterr().out == f"{BANNER}\n{BANNER}\n"
    assert runtime.backend() == runtime.device_name() == "emulator"
    assert not runtime.on_gpu() and runtime.is_emulated(add)


def test_numba_can_be_borrowed_untouched() -> None:
    to_device = cuda.to_device
    course_lib.start()
    ours = cuda.to_device
    with runtime.untouched_numba():
        assert cuda.to_device is to_device
    assert cuda.to_device is not to_device
    assert cuda.to_device.__module__ == ours.__module__


def test_without_numba_plain_functions_are_still_emulated(monkeypatch, capsys) -> None:
    class NoNumba(NoGpu):
        def load_cuda(self):
            raise ModuleNotFoundError("No module named 'numba'", name="numba")

    monkeypatch.setattr(probe, "ThisMachine", NoNumba)
    course_lib.start()
    assert "Numba is not installed. Install it" in capsys.readouterr().out
    x = np.ones(40, np.float32)
    course_lib.emulate(scale)[2, 32](x, np.float32(3))
    assert (x == 3).all()


def test_on_a_gpu_nothing_but_warnings_is_touched(monkeypatch, capsys) -> None:
    class Gpu(NoGpu):
        def device(self, cuda):
            return "Tesla T4", (7, 5)

        def canary(self, cuda):
            return True

    monkeypatch.setattr(probe, "ThisMachine", Gpu)
    before = dict(vars(cuda)), dict(vars(type(add)))
    course_lib.start()
    assert capsys.readouterr().out.startswith("GPU: Tesla T4, compute capability 7.5.")
    assert (dict(vars(cuda)), dict(vars(type(add)))) == before
    assert runtime.on_gpu()
    assert not runtime.is_emulated(add)
    assert runtime.is_emulated(course_lib.emulate(add))
    a, b, c = pair()
    course_lib.emulate(add)[(1, 1), (16, 16)](a, b, c)
    assert np.array_equal(c, a + b)


def test_a_launch_leaves_its_profile_and_shows_a_race(capsys):
    course_lib.start()
    capsys.readouterr()
    a, b, c = pair()
    add[(1, 1), (16, 16)](a, b, c)
    assert np.array_equal(c, a + b)
    assert capsys.readouterr().out == ""
    profile = course_lib.last_profile()
    counted = (profile.kernel_name, profile.flops, profile.global_load_bytes)
    assert counted == ("add", c.size, 2 * c.nbytes)
    shift_without_barrier[1, 64](np.zeros(64, np.float32))
    printed = capsys.readouterr().out
    line = shift_without_barrier.py_func.__code__.co_firstlineno + 5
    assert printed.startswith(f"shift_without_barrier, line {line}: ")
    assert len(printed.splitlines()) <= runtime.FINDINGS_SHOWN + 1


def test_run_launches_plain_functions_kernels_and_emulations() -> None:
    with pytest.raises(PlainError, match=r"course_lib\.emulate\(kernel\)"):
        course_lib.last_profile()
    x = np.ones(32, np.float32)
    for kernel in (scale, cuda.jit(scale), course_lib.emulate(scale)):
        profile = runtime.run(kernel, 1, 32, x, np.float32(2))
        assert profile is not None and profile.flops == 32
    assert (x == 8).all()


class GpuArray:
    """Looks like Numba's device array."""

    def __init__(self, host: np.ndarray) -> None:
        self.memory = host.copy()

    def copy_to_host(self) -> np.ndarray:
        return self.memory.copy()

    def copy_to_device(self, host: np.ndarray) -> None:
        self.memory[...] = host


class CupyArray(GpuArray):
    """Looks like CuPy's."""

    __cuda_array_interface__ = property(lambda self: {"version": 3})
    get = GpuArray.copy_to_host
    set = GpuArray.copy_to_device
    copy_to_host = property()  # CuPy's has none


@pytest.mark.parametrize("kind", [GpuArray, CupyArray])
def test_arrays_of_a_real_gpu_are_fetched_and_written_back(kind) -> None:
    x = kind(np.ones(32, np.float32))
    course_lib.emulate(scale)[1, 32](x, np.float32(2))
    assert (x.memory == 2).all()


def test_arguments_are_copied_as_they_say():
    x = GpuArray(np.ones(4, np.float32))
    host = HostArguments([x, x, 3])
    assert host.values[0] is host.values[1]
    assert host.values[2] == 3
    x, y, z = np.ones((3, 4), np.float32)
    host = HostArguments([cuda.In(x), cuda.Out(y), cuda.InOut(z)])
    assert not np.shares_memory(host.values[0], x)
    assert host.values[1] is y and host.values[2] is z


LAUNCH = """
import numpy as np
@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2
x = np.ones(3, np.float32)
double[1, 32](x)
print(x)
"""
OURS_FIRST = "import course_lib\ncourse_lib.start()\nfrom numba import cuda\n"
NUMBA_FIRST = "from numba import cuda\nimport course_lib\ncourse_lib.start()\n"


def printed(code: str, folder: Path, **around: str) -> list[str]:
    """What a script prints where there is no GPU, line by line."""
    script = folder / "lesson.py"
    script.write_text(code)
    return python(script, CUDA_VISIBLE_DEVICES="-1", **around).stdout.splitlines()


@pytest.mark.parametrize("imports", few([OURS_FIRST, NUMBA_FIRST], 1), ids=["ours", "numba"])
def test_import_order_does_not_matter(imports: str, tmp_path: Path) -> None:
    banner, line = printed(imports + LAUNCH, tmp_path)
    assert banner.startswith("Emulator") and line == "[2. 2. 2.]"


@pytest.mark.slow
def test_numbas_simulator_is_never_used(tmp_path: Path) -> None:
    code = NUMBA_FIRST + LAUNCH + "print(course_lib.last_profile().flops)\n"
    lines = printed(code, tmp_path, NUMBA_ENABLE_CUDASIM="1")
    assert "NUMBA_ENABLE_CUDASIM" in lines[0]
    assert "is not used." in lines[0]
    assert lines[1:] == ["[2. 2. 2.]", "3"]


HIDE_NUMBA_CUDA = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if f"{name}.".startswith(("numba.cuda.", "numba_cuda_mlir.")):  # and what takes its place
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hide())
"""


def test_without_numbas_cuda_part_lessons_still_run(tmp_path: Path) -> None:
    more = """
from numba import float32, void
y = cuda.to_device(np.ones(3, np.float32))
double[1, 32, cuda.stream()](y)
double.forall(3)(cuda.InOut(x))
declared = cuda.jit("void(float32[:])")(double.py_func)
declared[1, 32](y)
cuda.jit(void(float32[:]))(double.py_func)[1, 32](y)
SIZE = 1
@cuda.jit("int64(int64)", device=True)
def size(n):
    return n + SIZE
@cuda.jit("void(float32[:])")
def sized(x):
    x[0] = size(SIZE + 0.5)
SIZE = 9
sized[1, 1](y)
assert y.copy_to_host().tolist() == [2, 8, 8], "compiled where the signature stands"
y.copy_to_device(np.full(3, 8, np.float32))
from numba import guvectorize, vectorize
add = vectorize(["float32(float32, float32)"], target="cuda")(lambda a, b: a + b)
assert add(x, 1).tolist() == [5, 5, 5]
total = guvectorize(["(float32[:], float32[:])"], "(i)->()", target="cuda")
def summed(values, out):
    out[0] = values[0] + values[1] + values[2]
assert total(summed)(x) == 12 == cuda.reduce(lambda a, b: a + b)(x)
print(x, y.copy_to_host(), cuda.is_available(), cuda.jit(device=True)(print).py_func is print)
"""
    lines = printed(HIDE_NUMBA_CUDA + OURS_FIRST + LAUNCH + more, tmp_path)
    assert lines[0].startswith("Emulator: this Numba has no CUDA part.")
    assert lines[1:] == ["[2. 2. 2.]", "[4. 4. 4.] [8. 8. 8.] False True"]


def test_the_stand_in_leaves_nothing_behind(monkeypatch) -> None:
    class NoCudaPart(NoGpu):
        def load_cuda(self):
            raise ModuleNotFoundError("No module named 'numba.cuda'", name="numba.cuda")

    monkeypatch.setattr(probe, "ThisMachine", NoCudaPart)
    import numba

    course_lib.start()
    assert numba.cuda.implementation == "stand-in"
    assert sys.modules["numba.cuda"] is numba.cuda
    runtime.stop()
    assert numba.cuda is cuda
    assert sys.modules["numba.cuda"] is cuda


def test_importing_the_course_is_quick_and_its_names_are_there() -> None:
    code = "import sys, course_lib\nprint([m for m in ('numpy', 'numba') if m in sys.modules])"
    assert python("-c", code).stdout == "[]\n"
    promised = {"start", "emulate", "examine", "examine_source", "check", "last_profile"}
    assert promised <= set(dir(course_lib))
    assert callable(course_lib.start)
    with pytest.raises(AttributeError, match="no attribute 'unheard_of'"):
        course_lib.unheard_of  # noqa: B018
