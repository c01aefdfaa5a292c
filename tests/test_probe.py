"""Every failure that a machine is known for: it is named with its mend, and nothing breaks."""

from types import ModuleType, SimpleNamespace

import pytest
from every_case import every_case

from course_lib.host import probe
from course_lib.host.probe import ThisMachine, look


class Cuda(ModuleType):
    """Stands in for numba.cuda; the fake machines below never look inside."""

    def __init__(self) -> None:
        super().__init__("numba.cuda")
        self.to_device = look  # any function that is not the simulator's


class SimulatedCuda(Cuda):
    """Stands in for numba.cuda where Numba's simulator took its place."""

    def to_device(self):
        """Only its home matters."""

    to_device.__module__ = "numba.cuda.simulator.cudadrv.devicearray"

    def __init__(self) -> None:
        super().__init__()
        self.to_device = SimulatedCuda.to_device


class FakeMachine(ThisMachine):
    """A machine whose answers are chosen by a test: a value, or an exception to raise."""

    def __init__(
        self, cuda=None, device=None, canary=True, system="Linux", colab=False, simulator=False
    ) -> None:
        self.answers = {"cuda": cuda or Cuda(), "canary": canary}
        self.answers["device"] = device or ("Tesla T4", (7, 5))
        self._system, self._colab, self._simulator = system, colab, simulator

    def _answer(self, name):
        answer = self.answers[name]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def system(self):
        return self._system

    def on_colab(self):
        return self._colab

    def simulator_wanted(self):
        return self._simulator

    def load_cuda(self):
        return self._answer("cuda")

    def device(self, cuda):
        return self._answer("device")

    def canary(self, cuda):
        return self._answer("canary")


class CudaSupportError(ImportError):
    """Numba's has this name and this parent."""


class LinkerError(RuntimeError):
    """Numba's has this name and this parent."""


NO_LIBRARY = CudaSupportError("Error at driver init: CUDA driver library cannot be found.")
OLD_PTX = LinkerError(
    "[222] Call to cuLinkAddData results in CUDA_ERROR_UNSUPPORTED_PTX_VERSION\n"
    "ptxas application ptx input, line 9; fatal : Unsupported .version 8.5"
)
NO_NUMBA = ModuleNotFoundError("No module named 'numba'", name="numba")
NO_CUDA_PART = ModuleNotFoundError("No module named 'numba.cuda'", name="numba.cuda")
NO_BINDINGS = ImportError("NVIDIA CUDA Python bindings not found.")
NEW_NUMPY = AttributeError("module 'numpy' has no attribute 'row_stack'")
NO_NVVM = ImportError("libNVVM cannot be found. Do `conda install cudatoolkit`")

NO_DEVICE = CudaSupportError("Error at driver init: CUDA_ERROR_NO_DEVICE (100)")
OLD_DRIVER = CudaSupportError("Call to cuInit: CUDA_ERROR_INSUFFICIENT_DRIVER")
CRASH = RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS\nmore")
NUMPYS, NUMBAS = "pip install 'numpy<2.5'", "pip install 'numba-cuda[cu12]'"
Here = FakeMachine
BROKEN = {
    "no driver": (Here(device=NO_LIBRARY), "no-driver", "no NVIDIA GPU here"),
    "no GPU": (Here(device=NO_DEVICE), "no-device", "`nvidia-smi` lists what the driver sees"),
    "an old driver": (Here(device=OLD_DRIVER), "old-driver", "Update the driver"),
    "a new toolkit": (Here(canary=OLD_PTX), "old-driver", "VERSION). Update the driver, or inst"),
    "kernels do nothing": (Here(canary=False), "silent-kernels", "start but do nothing"),
    "NumPy too new, seen late": (Here(canary=NEW_NUMPY), "numpy-too-new", NUMPYS),
    "NVVM missing": (Here(canary=NO_NVVM), "no-nvvm", NUMBAS),
    "Colab": (Here(device=NO_LIBRARY, colab=True), "colab-cpu", "Change runtime type > T4 GPU"),
    "macOS": (Here(device=NO_LIBRARY, system="Darwin"), "macos", "macOS has no CUDA"),
    "Windows": (Here(device=NO_LIBRARY, system="Windows"), "no-driver", "no NVIDIA GPU here"),
    "Windows without numba-cuda": (Here(cuda=NO_CUDA_PART, system="Windows"), "no-numba-cuda",
        "this Numba has no CUDA part. Nothing is lost without a GPU"),
    "no bindings": (Here(cuda=NO_BINDINGS, system="Darwin"), "no-numba-cuda", NUMBAS),
    "no Numba": (Here(cuda=NO_NUMBA), "no-numba", "pip install numba,"),
    "NumPy too new": (Here(cuda=NEW_NUMPY), "numpy-too-new", NUMPYS),
    "Numba's simulator": (Here(cuda=SimulatedCuda()), "simulator",
        "The simulator is not used. For a GPU, unset that variable"),
    "unknown": (Here(canary=CRASH), "gpu-failed", "(RuntimeError: CUDA_ERROR_ILLEGAL_ADDRESS)"),
}  # fmt: skip


@every_case("name", BROKEN)
def test_each_failure_is_named_with_its_mend_in_one_line(name: str) -> None:
    machine, failure, sentence = BROKEN[name]
    verdict = look(machine)
    assert (verdict.backend, verdict.failure) == ("emulator", failure)
    assert sentence in verdict.banner and "\n" not in verdict.banner
    heads = ("Emulator: ", "Emulator, although there is a GPU (Tesla T4): ")
    assert verdict.banner.startswith(heads)
    assert verdict.banner.endswith("counts are exact, times are not measured.")


def test_every_known_failure_is_simulated_above() -> None:
    assert {failure for _, failure, _ in BROKEN.values()} == set(probe.FAILURES)


def test_a_working_gpu_is_named_and_its_name_may_be_bytes() -> None:
    verdict = look(FakeMachine())
    assert verdict.banner == "GPU: Tesla T4, compute capability 7.5. Kernels run on it."
    assert (verdict.backend, verdict.device, verdict.failure) == ("gpu", "Tesla T4", "")
    device = SimpleNamespace(name=b"Tesla T4", compute_capability=(7, 5))
    cuda = SimpleNamespace(get_current_device=lambda: device)
    assert ThisMachine().device(cuda) == ("Tesla T4", (7, 5))


@every_case("answers", [{}, {"device": NO_LIBRARY}])
def test_a_wish_for_the_simulator_is_answered(answers) -> None:
    verdict = look(FakeMachine(simulator=True, **answers))
    assert verdict.banner.endswith("Numba's simulator (NUMBA_ENABLE_CUDASIM) is not used.")


class Launcher:
    """`cuda.jit` of a fake GPU: `works` says whether its kernels do anything."""

    def __init__(self, works: bool) -> None:
        self.works = works
        self.index = 0

    def namespace(self) -> SimpleNamespace:
        return SimpleNamespace(jit=self.jit, grid=lambda _: self.index, synchronize=lambda: None)

    def jit(self, function):
        self.function = function
        return self

    def __getitem__(self, configuration):
        return self.run

    def run(self, *arrays) -> None:
        for index in range(128 if self.works else 0):
            self.index = index
            self.function(*arrays)


@pytest.mark.parametrize("works", [True, False])
def test_the_canary_notices_kernels_that_do_nothing(works: bool) -> None:
    assert ThisMachine().canary(Launcher(works).namespace()) is works
