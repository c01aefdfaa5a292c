"""Ask NVIDIA's management library for clock, power and the driver's version, without a package."""

from __future__ import annotations

import contextlib
import ctypes
import os

_SM_CLOCK = 1
_POWER_CAP = 0x4  # nvmlClocksEventReasonSwPowerCap: the clock is held below what was asked for


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

    def watts(self) -> float | None:
        """What the board draws, on average over the last second or less."""
        return self._milliwatts("nvmlDeviceGetPowerUsage")

    def watts_allowed(self) -> float | None:
        """The limit that is enforced."""
        return self._milliwatts("nvmlDeviceGetEnforcedPowerLimit")

    def at_power_limit(self) -> bool | None:
        """Does the driver hold the clock down to stay below the limit of power?"""
        reasons = ctypes.c_ulonglong(0)
        asked = self._ask("nvmlDeviceGetCurrentClocksThrottleReasons", reasons)
        return bool(reasons.value & _POWER_CAP) if asked else None

    def _milliwatts(self, function: str) -> float | None:
        found = ctypes.c_uint(0)
        return found.value / 1000 if self._ask(function, found) else None

    def _ask(self, function: str, answer: ctypes.c_uint | ctypes.c_ulonglong) -> bool:
        """Call a function that fills in one number; False if it can't."""
        if self._library is None or not hasattr(self._library, function):
            return False
        called = getattr(self._library, function)
        return bool(called(self._gpu, ctypes.byref(answer)) == 0)

    def driver_version(self) -> str:
        """ "580.159.04"."""
        if self._library is None:
            return ""
        text = ctypes.create_string_buffer(96)
        status = self._library.nvmlSystemGetDriverVersion(text, len(text))
        return text.value.decode() if status == 0 else ""
