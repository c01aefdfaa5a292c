"""Time kernels on a GPU, with their spread, and never anywhere else.

The clock is CUDA's own, read by `cupyx.profiler.benchmark`: events on the GPU before and after the
launches. What is added here is what a fair number needs: arrays are moved to the GPU once, before
the clock runs; the first launches (which compile, and warm up) don't count; short kernels are
launched many times per sample; the median and the quartiles are kept rather than the best run; the
SM clock is read under load.

Where kernels run on the emulator, timing is refused with one sentence: an emulator's speed says
nothing about a GPU's. No number is ever made up.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import math
import shutil
import statistics
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.devices import Ceilings
from course_lib.host import runtime
from course_lib.wording.errors import EmulatedTimingRefused, PlainError

_SAMPLE_SECONDS = 1e-3  # a sample is at least about this long, or the events' own cost shows
_MOST_LAUNCHES = 200
_LOAD_SECONDS = 0.3  # how long the GPU is kept busy while its clock is read
_COPY_BYTES = 256 * 1024**2


class TimingUnavailable(PlainError):
    """There is a GPU, but what the clock needs is missing or not as it should be."""


@dataclass(frozen=True)
class Timing:
    """How long one launch took, in milliseconds, over several samples.

    Attributes:
        name: the kernel.
        samples_ms: one value per sample: GPU time divided by the launches in it.
        launches: launches per sample.
        device: the GPU.
        sm_clock_mhz: the SM clock under this load; None where it cannot be read.
        launch_bound: the host took as long to launch as the GPU to run, so this is no kernel time.
    """

    name: str
    samples_ms: tuple[float, ...]
    launches: int
    device: str
    sm_clock_mhz: int | None = None
    launch_bound: bool = False

    @property
    def median_ms(self) -> float:
        return statistics.median(self.samples_ms)

    @property
    def quartiles_ms(self) -> tuple[float, float]:
        """A quarter of the samples was faster than the first, a quarter slower than the second."""
        low, high = np.percentile(self.samples_ms, (25, 75))
        return float(low), float(high)

    def gflops(self, flops: float) -> float:
        """GFLOP/s of a launch that does this much work."""
        return flops / (self.median_ms * 1e-3) / 1e9

    def __str__(self) -> str:
        low, high = self.quartiles_ms
        clock = f", SM clock {self.sm_clock_mhz} MHz" if self.sm_clock_mhz else ""
        note = (
            " This is the host's launch time, not the kernel's: take a larger problem."
            if self.launch_bound
            else ""
        )
        return (
            f"{self.name}: {self.median_ms:.4g} ms (median of {len(self.samples_ms)}, half of them "
            f"between {low:.4g} and {high:.4g}) on {self.device}{clock}.{note}"
        )


def time_kernel(
    kernel: Any,
    grid: Any,
    block: Any,
    *args: Any,
    samples: int = 20,
    max_seconds: float = 5.0,
) -> Timing:
    """Time `kernel[grid, block](*args)` on the GPU.

    NumPy arrays among the arguments are copied to the GPU once, before the clock runs.

    Raises:
        EmulatedTimingRefused: if this kernel would run on the emulator.
        TimingUnavailable: if CuPy is missing.
    """
    name = getattr(getattr(kernel, "py_func", kernel), "__name__", "the kernel")
    if runtime.is_emulated(kernel):
        raise EmulatedTimingRefused(name)
    _cupy()  # its absence is to be reported before anything is compiled
    launch = kernel[grid, block]
    on_device = tuple(_to_device(argument) for argument in args)
    return _time(name, lambda: launch(*on_device), samples, warmup=3, max_seconds=max_seconds)


# --- Ceilings ----------------------------------------------------------------------------------

_FMA_SOURCE = """
extern "C" __global__ void fused_multiply_adds(float *out, float a, float b, int rounds) {
    float x0 = threadIdx.x, x1 = x0 + 1, x2 = x0 + 2, x3 = x0 + 3;
    float x4 = x0 + 4, x5 = x0 + 5, x6 = x0 + 6, x7 = x0 + 7;
    for (int i = 0; i < rounds; ++i) {
        #pragma unroll
        for (int j = 0; j < 16; ++j) {
            x0 = fmaf(x0, a, b); x1 = fmaf(x1, a, b); x2 = fmaf(x2, a, b); x3 = fmaf(x3, a, b);
            x4 = fmaf(x4, a, b); x5 = fmaf(x5, a, b); x6 = fmaf(x6, a, b); x7 = fmaf(x7, a, b);
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7;
}
"""
_FMA_PER_ROUND = 8 * 16


def measured_ceilings() -> Ceilings:
    """This GPU's two roofs as they can be reached here, to take the place of the data sheet's.

    DRAM: copying an array that is far larger than the L2 cache (bytes read plus bytes written).
    FP32: eight independent chains of fused multiply-adds per thread, nothing else.

    Raises:
        EmulatedTimingRefused: if there is no GPU.
        TimingUnavailable: if CuPy is missing.
    """
    if not runtime.on_gpu():
        raise EmulatedTimingRefused("A ceiling")
    _cupy()
    return Ceilings(
        name=f"{runtime.device_name()}, measured here",
        fp32_gflops=_measure_fp32(),
        dram_gb_per_s=_measure_copy(),
        fp32_source="measured here",
        dram_source="measured here",
    )


def _measure_copy() -> float:
    cupy = _cupy()
    size = max(_COPY_BYTES, 8 * int(_properties()["l2CacheSize"]))
    source, target = cupy.zeros(size, cupy.uint8), cupy.zeros(size, cupy.uint8)
    timing = _time("copy", lambda: cupy.copyto(target, source), samples=10, warmup=2)
    return 2 * size / (timing.median_ms * 1e-3) / 1e9


def _measure_fp32() -> float:
    cupy = _cupy()
    threads, rounds = 256, 2000
    blocks = 16 * int(_properties()["multiProcessorCount"])
    out = cupy.zeros(blocks * threads, cupy.float32)
    kernel = cupy.RawKernel(_FMA_SOURCE, "fused_multiply_adds")
    # The factors keep the chains finite; the compiler does not know them.
    arguments = (out, np.float32(0.5), np.float32(1.0), np.int32(rounds))
    timing = _time("FMA", lambda: kernel((blocks,), (threads,), arguments), samples=10, warmup=2)
    return timing.gflops(2.0 * _FMA_PER_ROUND * rounds * blocks * threads)


# --- The clock ---------------------------------------------------------------------------------


def _time(
    name: str,
    call: Callable[[], Any],
    samples: int,
    warmup: int,
    max_seconds: float = 5.0,
) -> Timing:
    """Warm up, find out how long one launch takes, then take the samples."""
    benchmark = _benchmark()
    pilot = benchmark(call, n_repeat=1, n_warmup=max(warmup, 1), name=name).gpu_times[0][0]
    launches = min(max(1, math.ceil(_SAMPLE_SECONDS / max(float(pilot), 1e-9))), _MOST_LAUNCHES)

    def burst() -> None:
        for _ in range(launches):
            call()

    result = benchmark(burst, n_repeat=samples, n_warmup=1, name=name, max_duration=max_seconds)
    gpu, host = list(result.gpu_times[0]), list(result.cpu_times)
    per_launch_ms = tuple(float(seconds) / launches * 1e3 for seconds in gpu)
    return Timing(
        name=name,
        samples_ms=per_launch_ms,
        launches=launches,
        device=runtime.device_name(),
        sm_clock_mhz=_clock_under_load(call, statistics.median(per_launch_ms) / 1e3),
        launch_bound=statistics.median(host) > 0.9 * statistics.median(gpu),
    )


def _clock_under_load(call: Callable[[], Any], seconds_per_call: float) -> int | None:
    """The SM clock while the GPU works on more of the same."""
    if not _can_read_clock():
        return None
    cupy = _cupy()
    for _ in range(min(_MOST_LAUNCHES, math.ceil(_LOAD_SECONDS / max(seconds_per_call, 1e-6)))):
        call()
    clock = sm_clock_mhz()
    cupy.cuda.runtime.deviceSynchronize()
    return clock


def _can_read_clock() -> bool:
    return importlib.util.find_spec("pynvml") is not None or bool(shutil.which("nvidia-smi"))


def sm_clock_mhz() -> int | None:
    """The SM clock at this moment, from NVML or nvidia-smi; None where neither can tell."""
    bus_id = _bus_id()
    with contextlib.suppress(Exception):
        pynvml = importlib.import_module("pynvml")
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByPciBusId(bus_id)
        return int(pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM))
    with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
        answer = subprocess.run(
            ["nvidia-smi", f"--id={bus_id}", "--query-gpu=clocks.sm",
             "--format=csv,noheader,nounits"],
            capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
        return int(answer.stdout.strip())
    return None


# --- CuPy, imported late: most of the course does without it ------------------------------------


def _cupy() -> Any:
    try:
        return importlib.import_module("cupy")
    except ImportError as missing:
        raise TimingUnavailable(
            "Timing needs CuPy, which is not installed here: `python3 course.py lab` adds it where "
            "it finds a GPU; elsewhere `pip install cupy-cuda12x` (or cupy-cuda13x for CUDA 13)."
        ) from missing


def _benchmark() -> Callable[..., Any]:
    _cupy()
    result: Callable[..., Any] = importlib.import_module("cupyx.profiler").benchmark
    return result


def _to_device(argument: Any) -> Any:
    """An argument as Numba takes it, without a copy or a conversion at every launch."""
    from numba import cuda

    if isinstance(argument, np.ndarray):
        return cuda.to_device(argument)
    if hasattr(argument, "__cuda_array_interface__") and not hasattr(argument, "copy_to_host"):
        return cuda.as_cuda_array(argument)
    return argument


def _properties() -> dict[str, Any]:
    current = _cupy().cuda.runtime
    return dict(current.getDeviceProperties(current.getDevice()))


def _bus_id() -> str:
    current = _cupy().cuda.runtime
    return str(current.deviceGetPCIBusId(current.getDevice()))
