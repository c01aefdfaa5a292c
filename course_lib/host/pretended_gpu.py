"""A GPU for programs that ask for one first: what `emulated()` lets numba.cuda answer.

A lesson is told honestly that there is no GPU (absent_gpu.py). A project's tests ask in order to
skip themselves, or to choose a grid; so here one A100 answers, by its data sheet.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

from course_lib.devices import device, occupancy
from course_lib.host.absent_gpu import OF_EVERY_GPU, AbsentContext, AbsentGpu, Gpus
from course_lib.host.device_array import EmulatedDeviceArray
from course_lib.host.host_api import Replacement
from course_lib.wording.errors import NoGpuHere, PlainError

SHEET = device("A100-40")
MEMORY = 40 << 30
CUDA_VERSION = (12, 0)
MOST_REGISTERS = 255  # of a thread

# The driver's names for what the data sheet and the CUDA Programming Guide say of an A100.
ATTRIBUTES: dict[str, int] = {
    **OF_EVERY_GPU,
    "COMPUTE_CAPABILITY_MAJOR": int(SHEET.cc.split(".")[0]),
    "COMPUTE_CAPABILITY_MINOR": int(SHEET.cc.split(".")[1]),
    "MULTIPROCESSOR_COUNT": SHEET.sms,
    "MULTI_PROCESSOR_COUNT": SHEET.sms,
    "CLOCK_RATE": SHEET.clock_mhz * 1000,
    "L2_CACHE_SIZE": int(SHEET.l2_mib * (1 << 20)),
    "MAX_THREADS_PER_MULTI_PROCESSOR": SHEET.capability.threads_per_sm,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": SHEET.capability.blocks_per_sm,
    "MAX_REGISTERS_PER_BLOCK": SHEET.sm.registers_per_sm,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": SHEET.sm.registers_per_sm,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": SHEET.sm.shared_per_sm_bytes,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": SHEET.sm.shared_per_block_bytes,
    "TOTAL_CONSTANT_MEMORY": 64 * 1024,
    "UNIFIED_ADDRESSING": 1,
    "MANAGED_MEMORY": 1,
    "CONCURRENT_MANAGED_ACCESS": 1,
    "CAN_MAP_HOST_MEMORY": 1,
    "COOPERATIVE_LAUNCH": 1,
    "CONCURRENT_KERNELS": 1,
    "INTEGRATED": 0,
    "ECC_ENABLED": 1,
}


class MemoryInfo(NamedTuple):
    """What `context.get_memory_info()` gives, in bytes."""

    free: int
    total: int


class Deallocations:
    """What waits to be freed: nothing."""

    def clear(self) -> None:
        """Nothing waits."""

    def __len__(self) -> int:
        return 0


class PretendedGpu(AbsentGpu):
    """What `cuda.get_current_device()` and `cuda.gpus[0]` give: an A100, by its data sheet."""

    lock = None
    supports_float16 = True
    uuid = "GPU-00000000-0000-0000-0000-000000000000"
    compute_capability = (
        ATTRIBUTES["COMPUTE_CAPABILITY_MAJOR"], ATTRIBUTES["COMPUTE_CAPABILITY_MINOR"],
    )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        if name in ATTRIBUTES:
            return ATTRIBUTES[name]
        if name.isupper():  # an attribute of the driver's that no data sheet tells
            raise NoGpuHere(f"The {name} of a device")
        raise AttributeError(name)

    def get_primary_context(self) -> PretendedContext:
        """The one context."""
        return PretendedContext()

    def max_cooperative_grid_blocks(self, threads: int, shared_bytes: int) -> int:
        """So many blocks are there at the same time, with as many registers as they can have."""
        registers = min(MOST_REGISTERS, SHEET.sm.registers_per_sm // threads // 8 * 8)
        held = occupancy(SHEET, threads, registers, shared_bytes)
        return SHEET.sms * max(held.blocks, 1)

    def __enter__(self) -> PretendedContext:
        return PretendedContext()

    def __exit__(self, *raised: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PretendedGpu)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "<the emulator in the place of GPU 0>"


class PretendedContext(AbsentContext):
    """What `cuda.current_context()` gives."""

    device = PretendedGpu()
    deallocations = Deallocations()

    def get_memory_info(self) -> MemoryInfo:
        """As of an A100 on which nothing lies."""
        return MemoryInfo(MEMORY, MEMORY)

    def push(self) -> None:
        """There is one context."""

    def pop(self) -> None:
        """There is one context."""


def _select_device(device_id: int) -> PretendedGpu:
    if device_id != 0:
        raise PlainError(
            f"cuda.select_device({device_id}) asks for another GPU than the one that is here: the "
            "emulator, in the place of GPU 0."
        )
    return PretendedGpu()


def _detect() -> bool:
    print("Found 1 CUDA device: the course's emulator, which answers as an A100 would.")
    return True


def answers() -> dict[str, Any]:
    """What functions of numba.cuda answer where there is taken to be a GPU."""
    return {
        "is_available": lambda: True,
        "cuda_error": lambda: None,
        "detect": _detect,
        "gpus": Gpus(PretendedGpu()),
        "list_devices": lambda: Gpus(PretendedGpu()),
        "get_current_device": PretendedGpu,
        "select_device": _select_device,
        "current_context": lambda devnum=None: PretendedContext(),
        "is_supported_version": lambda: True,
        "require_context": lambda function: function,
    }


def _for_the_gpu(compiled: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles for the GPU that answers, as Numba does for any that it is told of."""
    return functools.partial(compiled, cc=PretendedGpu.compute_capability)


def deeper(cuda: ModuleType) -> list[Replacement]:
    """What programs ask of modules and objects inside numba.cuda, as far as these are there."""
    runtime = getattr(cuda, "runtime", None)
    driver = getattr(cuda, "cudadrv", None)
    devices, arrays = getattr(driver, "devices", None), getattr(driver, "devicearray", None)
    compilers = [name for name in ("compile", "compile_ptx") if hasattr(cuda, name)]
    return [
        Replacement(cuda, "is_bfloat16_supported", lambda: True),
        *(
            Replacement(cuda, f"{name}_for_current_device", _for_the_gpu(getattr(cuda, name)))
            for name in compilers
        ),
        Replacement(devices, "gpus", Gpus(PretendedGpu())),
        Replacement(devices, "get_context", lambda devnum=None: PretendedContext()),
        Replacement(runtime, "get_version", lambda: CUDA_VERSION),
        Replacement(runtime, "is_supported_version", lambda: True),
        *(
            Replacement(arrays, name, EmulatedDeviceArray)
            for name in ("DeviceNDArray", "DeviceNDArrayBase")
        ),
    ]
