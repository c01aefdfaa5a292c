"""The GPU at hand: its clock for the contest, its name, its facts, and the package versions.

Timing a launch of a few microseconds from Python measures Python. So before each sample the GPU
is held: a kernel that only sleeps keeps it busy until every launch of the sample is in its queue.
Between the two events the GPU then never waits for the host, and it is checked that it did not.
"""

from __future__ import annotations

import importlib.metadata
import platform
import time
from typing import Any

import numpy as np

from course_lib.bench.contest import Sample
from course_lib.bench.contestants import Launch
from course_lib.bench.nvml import Nvml
from course_lib.host import newer_packages

_NAP_NS = np.uint32(1000)
_TRIES = 3
_BATCH_MS = 50.0  # between two looks at whether the GPU still keeps up
# The host may have kept the GPU waiting for this share of a sample, and it still counts.
_SHARE_THAT_SHOWS = 0.01


class EventClock:
    """Times launches with CUDA events; a `Clock` (see contest.py)."""

    def __init__(self, nvml: Nvml) -> None:
        from numba import cuda

        self._cuda = cuda
        self._nvml = nvml
        self._start, self._end = cuda.event(), cuda.event()
        self._nap = _nap_kernel()
        self._naps_per_second = self._calibrate()
        self._host_seconds = 50e-6  # for one launch; learnt as we go

    def sample(self, launch: Launch, launches: int, warm: bool) -> Sample:
        for attempt in range(_TRIES):
            ahead, ms, host, clock = self._burst(launch, launches, warm, 2.0**attempt)
            if ahead:
                break
        return Sample(ms / launches, 1e6 * host / launches, not ahead, clock)

    def sustain(self, launch: Launch, ms: float, seconds: float) -> dict[str, float]:
        """Launch again and again for some seconds, and look at the last quarter of them.

        Returns what `measurements.Entry.sustained` holds, but for the size.
        """
        batch = max(1, round(_BATCH_MS / ms))
        batches = max(4, round(1000 * seconds / (batch * ms)))
        last = batches // 4
        for _ in range(batches - last):
            for _ in range(batch):
                launch()
            self._cuda.synchronize()
        self._start.record()
        for _ in range(last * batch):
            launch()
        self._end.record()
        while not self._start.query():
            pass
        seen = {
            "sm_clock_mhz": self._nvml.sm_clock_mhz(),
            "watts": self._nvml.watts(),
            "watts_allowed": self._nvml.watts_allowed(),
            "at_power_limit": self._nvml.at_power_limit(),
        }
        self._end.synchronize()
        took = float(self._start.elapsed_time(self._end)) / (last * batch)
        known = {name: float(value) for name, value in seen.items() if value is not None}
        return {"seconds": seconds, "ms": took, **known}

    def alive(self) -> bool:
        try:
            self._cuda.synchronize()
        except Exception:
            return False
        return True

    def _burst(
        self, launch: Launch, launches: int, warm: bool, patience: float
    ) -> tuple[bool, float, float, int | None]:
        """Hold the GPU, queue everything, let it go.

        Returns whether the host was always ahead, the GPU's milliseconds, the host's seconds, and
        the clock in MHz.
        """
        self._hold(patience * (100e-6 + 1.5 * (launches + warm) * self._host_seconds))
        if warm:
            launch()
        self._start.record()
        began = time.perf_counter()
        for _ in range(launches):
            launch()
        host = time.perf_counter() - began
        self._end.record()
        ahead = not self._start.query()
        while not self._start.query():
            pass
        clock = self._nvml.sm_clock_mhz()  # of a GPU at work
        self._end.synchronize()
        ms = float(self._start.elapsed_time(self._end))
        self._host_seconds = min(host / launches, 1e-3)  # a first launch compiles
        return ahead or host * 1e3 < _SHARE_THAT_SHOWS * ms, ms, host, clock

    def _hold(self, seconds: float) -> None:
        self._nap[1, 1](np.int64(min(seconds, 0.2) * self._naps_per_second))

    def _calibrate(self) -> float:
        naps = 2000
        for _ in range(2):  # the first launch compiles
            self._start.record()
            self._nap[1, 1](np.int64(naps))
            self._end.record()
            self._end.synchronize()
        return naps / (float(self._start.elapsed_time(self._end)) / 1e3)


def _nap_kernel() -> Any:
    from numba import cuda

    @cuda.jit("void(int64)")
    def nap(times):  # type: ignore[no-untyped-def]
        for _ in range(times):
            cuda.nanosleep(_NAP_NS)

    return nap


# --- Name, facts and versions ------------------------------------------------------------------


def device() -> tuple[str, tuple[int, int], str]:
    """Name, compute capability and PCI bus id of the current GPU, for which kernels now compile."""
    from numba import cuda

    newer_packages.load_numba_cudas_compiler()  # in programs that begin no session of the course
    current = cuda.get_current_device()
    name = current.name.decode() if isinstance(current.name, bytes) else str(current.name)
    identity = current.get_device_identity()
    bus = "{pci_domain_id:08X}:{pci_bus_id:02X}:{pci_device_id:02X}.0".format(**identity)
    major, minor = tuple(current.compute_capability)[:2]
    return name, (int(major), int(minor)), bus


def facts(nvml: Nvml) -> dict[str, Any]:
    """What a reader needs to know of the GPU beside its name."""
    from numba import cuda

    current = cuda.get_current_device()
    _, (major, minor), _ = device()
    return {
        "compute_capability": f"{major}.{minor}",
        "sms": int(current.MULTIPROCESSOR_COUNT),
        "l2_bytes": int(current.L2_CACHE_SIZE),
        "memory_bytes": int(cuda.current_context().get_memory_info()[1]),
        "driver": nvml.driver_version(),
    }


_PACKAGES = (
    "numpy", "numba", "numba-cuda", "llvmlite", "cuda-bindings", "cupy-cuda12x", "cupy-cuda13x",
)  # fmt: skip


def versions() -> dict[str, str]:
    """The versions of Python, and of the packages that make the machine code and the launches."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
