"""Find out what this machine can do: a GPU that really computes, or the emulator and why.

The only proof of a working GPU is a kernel that ran and got its sum right: a driver that is
older than the CUDA toolkit can make kernels do nothing without an error. Each failure that is
known gets a sentence that says what to do about it; an unknown one is quoted.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import platform
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

import numpy as np

from course_lib.host import newer_packages, successor
from course_lib.wording.errors import PIP_INSTALL

EMULATED = "Kernels run on the CPU, counts are exact, times are not measured."

SIMULATOR_IGNORED = "Numba's simulator (NUMBA_ENABLE_CUDASIM) is not used."

# What each failure is, and its mend. Colab's and the simulator's are not defects of a machine.
FAILURES: dict[str, tuple[str, str]] = {
    "no-driver": ("no NVIDIA GPU here", ""),
    "no-device": (
        "there is an NVIDIA driver but no GPU that it can use",
        "`nvidia-smi` lists what the driver sees; a container needs to be started with its GPU "
        "(Docker: --gpus all).",
    ),
    "colab-cpu": (
        "this Colab runtime has no GPU",
        "For one, choose Runtime > Change runtime type > T4 GPU, and run this cell again.",
    ),
    "macos": ("macOS has no CUDA", ""),
    "old-driver": (
        "the NVIDIA driver is older than the CUDA toolkit, so the GPU refuses Numba's kernels "
        "(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)",
        "Update the driver, or install {package} with a toolkit of the driver's CUDA version: "
        "`nvidia-smi` names it, e.g. " + PIP_INSTALL + " '{package}[cu12]'.",
    ),
    "silent-kernels": (
        "kernels start but do nothing, as happens when the driver is older than the CUDA toolkit",
        "Update the driver, or install {package} with a toolkit of the driver's CUDA version: "
        "`nvidia-smi` names it, e.g. " + PIP_INSTALL + " '{package}[cu12]'.",
    ),
    "no-nvvm": (
        "Numba's compiler library NVVM was not found",
        "Install the GPU packages: " + PIP_INSTALL + " '{package}[cu12]' (or [cu13] for a CUDA 13 "
        "driver), then restart the notebook's kernel.",
    ),
    "no-numba-cuda": (
        "this Numba has no CUDA part",
        f"Nothing is lost without a GPU; with one, {PIP_INSTALL} 'numba-cuda[cu12]' and restart "
        "the notebook's kernel.",
    ),
    "no-numba": (
        "Numba is not installed",
        f"Install it with {PIP_INSTALL} numba, then restart the notebook's kernel; "
        "until then `from numba import cuda` fails.",
    ),
    "numpy-too-new": (
        "this numba-cuda does not fit NumPy " + np.__version__,
        f"Install an older NumPy with {PIP_INSTALL} 'numpy<2.5' and restart the notebook's kernel.",
    ),
    "simulator": (
        "Numba came up as its own simulator (NUMBA_ENABLE_CUDASIM is set), which hides any GPU",
        "The simulator is not used. For a GPU, unset that variable and restart the notebook's "
        "kernel.",
    ),
    "gpu-failed": (
        "a first small kernel failed",
        "`nvidia-smi` should list the GPU; restart the notebook's kernel and try again.",
    ),
}


@dataclass(frozen=True)
class BackendChoice:
    """What runs kernels here.

    Attributes:
        backend: "gpu" or "emulator".
        device: the GPU's name, or "emulator".
        banner: the one line that `start()` prints.
        failure: why there is no GPU, a key of `FAILURES`; "" with one.
        mend: what to do about it; "" where nothing is broken.
        cuda: the module numba.cuda, numba-cuda-mlir's where that alone is installed, or None where
            neither can be imported.
    """

    backend: Literal["gpu", "emulator"]
    device: str
    banner: str
    failure: str = ""
    mend: str = ""
    cuda: ModuleType | None = None


class ThisMachine:
    """The questions that are put to this machine. Tests answer them differently."""

    def system(self) -> str:
        """ "Linux", "Darwin", "Windows" …"""
        return platform.system()

    def on_colab(self) -> bool:
        """Is this a Colab runtime?"""
        return "COLAB_RELEASE_TAG" in os.environ or "google.colab" in sys.modules

    def simulator_wanted(self) -> bool:
        """Does the environment ask for Numba's own simulator?"""
        return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")

    def load_cuda(self) -> ModuleType:
        """The module numba.cuda, or its successor's where that alone is installed."""
        try:
            return self.load_numba_cuda()
        except ModuleNotFoundError as missing:
            if missing.name not in ("numba", "numba.cuda") or not successor.is_installed():
                raise
            return successor.load()

    def load_numba_cuda(self) -> ModuleType:
        """The module numba.cuda: the real one, if it is not loaded as a simulator yet."""
        numba = importlib.import_module("numba")
        if self.simulator_wanted() and "numba.cuda" not in sys.modules:
            os.environ["NUMBA_ENABLE_CUDASIM"] = "0"
            numba.config.ENABLE_CUDASIM = 0
        return importlib.import_module("numba.cuda")

    def load_compiler(self) -> ModuleType:
        """The module numba.cuda, able to compile with a NumPy that is newer than it knows."""
        cuda = self.load_cuda()
        if not successor.made(cuda):
            newer_packages.load_numba_cudas_compiler()
        return cuda

    def device(self, cuda: ModuleType) -> tuple[str, tuple[int, int]]:
        """Name and compute capability of the current GPU; raises where there is none."""
        device = cuda.get_current_device()
        name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
        return name, tuple(device.compute_capability)[:2]

    def canary(self, cuda: ModuleType) -> bool:
        """Add two small arrays on the GPU: is the sum right?"""
        if not successor.made(cuda):
            newer_packages.load_numba_cudas_compiler()

        def add(x, y, out):  # type: ignore[no-untyped-def]
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[i] + y[i]

        x = np.arange(100, dtype=np.float32)
        out = np.full(100, -1, dtype=np.float32)
        cuda.jit(add)[4, 32](x, 2 * x, out)
        cuda.synchronize()
        return bool(np.array_equal(out, 3 * x))


def look(machine: ThisMachine | None = None) -> BackendChoice:
    """Ask the machine what it can do. Never raises: the emulator is always left."""
    machine = machine or ThisMachine()
    simulator = machine.simulator_wanted()
    try:
        cuda = machine.load_cuda()
    except Exception as error:  # a broken installation may fail in any way; all are named below
        return _emulator(_import_failure(error), None, simulator)
    if is_simulator(cuda):
        return _emulator("simulator", cuda)
    with _quiet():
        try:
            name, capability = machine.device(cuda)
        except Exception as error:
            return _emulator(_device_failure(error, machine), cuda, simulator, error)
        try:
            failure = "" if machine.canary(cuda) else "silent-kernels"
        except Exception as error:
            return _emulator(_canary_failure(error), cuda, simulator, error, name)
    if failure:
        return _emulator(failure, cuda, simulator, device=name)
    capability_text = ".".join(str(part) for part in capability)
    banner = f"GPU: {name}, compute capability {capability_text}. Kernels run on it."
    banner = " ".join(filter(None, (banner, _compiler(cuda), SIMULATOR_IGNORED * simulator)))
    return BackendChoice("gpu", name, banner, cuda=cuda)


def _compiler(cuda: ModuleType | None) -> str:
    """Who compiles kernels, if it is not Numba."""
    if cuda is None or not successor.made(cuda):
        return ""
    return f"Numba's CUDA part is not installed: {successor.label()} is the compiler."


def is_simulator(cuda: ModuleType) -> bool:
    """Is this numba.cuda Numba's own simulator?"""
    home = getattr(getattr(cuda, "to_device", None), "__module__", "")
    return home.startswith("numba.cuda.simulator")


def _emulator(
    failure: str,
    cuda: ModuleType | None,
    simulator: bool = False,
    error: Exception | None = None,
    device: str = "",
) -> BackendChoice:
    """The verdict "emulator", with its reason and mend in one line."""
    reason, mend = FAILURES[failure]
    mend = mend.format(package=successor.NAME if successor.made(cuda) else "numba-cuda")
    if failure == "gpu-failed" and error is not None:
        reason += f" ({_first_line(error)})"
    found = f"Emulator, although there is a GPU ({device})" if device else "Emulator"
    parts = (f"{found}: {reason}.", mend, EMULATED, _compiler(cuda), SIMULATOR_IGNORED * simulator)
    return BackendChoice("emulator", "emulator", " ".join(filter(None, parts)), failure, mend, cuda)


def _import_failure(error: Exception) -> str:
    """Why `import numba.cuda` failed."""
    if isinstance(error, ModuleNotFoundError) and error.name == "numba":
        return "no-numba"
    if "row_stack" in str(error) or "numpy" in str(error).lower():
        return "numpy-too-new"
    return "no-numba-cuda"


def _device_failure(error: Exception, machine: ThisMachine) -> str:
    """Why there is no device to compute on."""
    text = f"{type(error).__name__} {error}"
    if "INSUFFICIENT_DRIVER" in text or "SYSTEM_DRIVER_MISMATCH" in text:
        return "old-driver"
    if machine.on_colab():
        return "colab-cpu"
    if machine.system() == "Darwin":
        return "macos"
    if "NO_DEVICE" in text or isinstance(error, IndexError):
        return "no-device"
    if isinstance(error, ImportError):  # Numba's CudaSupportError is one
        return "no-driver"
    return "gpu-failed"


def _canary_failure(error: Exception) -> str:
    """Why the first kernel failed on a machine that has a GPU."""
    text = f"{type(error).__name__} {error}"
    if any(sign in text for sign in ("UNSUPPORTED_PTX", "[222]", "Unsupported .version")):
        return "old-driver"
    if "unsupported toolchain" in text or "INSUFFICIENT_DRIVER" in text:
        return "old-driver"
    if "row_stack" in text:
        return "numpy-too-new"
    if "nvvm" in text.lower() or "libdevice" in text.lower():
        return "no-nvvm"
    return "gpu-failed"


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No log lines and no warnings while we try: the banner says what came of it."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
