"""Ask NVIDIA's management library for the SM clock and the driver's version, without a package."""

from __future__ import annotations

import contextlib
import ctypes
import os

_SM_CLOCK = 1


class Nvml:
    """The management library for one GPU. Where it can't answer, it answers None or ""."""

    def __init__(self, bus_id: str) -> None:
        self._library: ctypes.CDLL | None = None
        self._gpu = ctypes.c_void_p()
        name = "nvml.dll" if os.name == "nt" else "libnvidia-ml.so.1"
        with contextlib.suppress(OSError, AttributeError):
            library = ctypes.CDLL(name)
            find = library.nvmlDeviceGetHandleByPciBusId_v2
            if library.nvmlInit_v2() == 0 and find(bus_id.encode(), ctypes.byref(self._gpu)) == 0:
                self._library = library

    def sm_clock_mhz(self) -> int | None:
        """The SM clock at this moment."""
        if self._library is None:
            return None
        clock = ctypes.c_uint(0)
        status = self._library.nvmlDeviceGetClockInfo(self._gpu, _SM_CLOCK, ctypes.byref(clock))
        return clock.value if status == 0 else None

    def driver_version(self) -> str:
        """ "580.159.04"."""
        if self._library is None:
            return ""
        text = ctypes.create_string_buffer(96)
        status = self._library.nvmlSystemGetDriverVersion(text, len(text))
        return text.value.decode() if status == 0 else ""
