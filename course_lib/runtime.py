"""Run kernels on the GPU, or on the emulator where there is none; a lesson need not care which.

`start()` decides once. With a working GPU nothing of Numba is touched. Without one, launches and
the host's side of numba.cuda go to the emulator (see host_api.py), so that the same cell works
on both. Counts come from the emulator, times from a GPU; neither is ever made up.
"""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from course_lib import host_api, probe
from course_lib.arguments import HostArguments, Mismatch, fit_to_signature
from course_lib.errors import EmulatedTimingRefused, LaunchRefused, NoGpuHere, PlainError
from course_lib.findings import by_importance, finding

if TYPE_CHECKING:
    from course_lib.emulator import Profile

__all__ = [
    "EmulatedTimingRefused",
    "LaunchRefused",
    "NoGpuHere",
    "PlainError",
    "backend",
    "device_name",
    "emulate",
    "is_emulated",
    "last_profile",
    "on_gpu",
    "run",
    "start",
    "stop",
    "untouched_numba",
    "verdict",
]

FINDINGS_SHOWN = 3


class _Session:
    """What was decided, and what it takes to go back. There is one per Python process."""

    def __init__(self) -> None:
        self.verdict: probe.Verdict | None = None
        self.undo: Callable[[], None] | None = None
        self.profile: Profile | None = None

    def begin(self) -> probe.Verdict:
        if self.verdict is None:
            self.verdict = probe.look()
            self.patch()
        return self.verdict

    def patch(self) -> None:
        if self.verdict is None or self.verdict.failure == "no-numba":
            return
        if self.verdict.backend == "gpu":
            self.undo = host_api.make(host_api.quiet_warnings())
        elif self.verdict.cuda is not None:
            self.undo = host_api.install(self.verdict.cuda, _launch)
        else:
            self.undo = _use_stand_in()

    def unpatch(self) -> None:
        if self.undo is not None:
            self.undo()
            self.undo = None


_session = _Session()


def _use_stand_in() -> Callable[[], None]:
    """Numba is here, its CUDA part is not."""
    from course_lib import stand_in

    module = stand_in.make(host_api.host_functions())
    remove = stand_in.put_in_place(module)
    undo = host_api.install(module, _launch)

    def undo_both() -> None:
        undo()
        remove()

    return undo_both


# --- which machine ----------------------------------------------------------------------------


def start() -> None:
    """Choose GPU or emulator, and say which in one line. Calling it again changes nothing."""
    print(_session.begin().banner)


def stop() -> None:
    """Leave Numba as it was before `start()`."""
    _session.unpatch()
    _session.verdict = None
    _session.profile = None


def verdict() -> probe.Verdict:
    """What this machine can do, and why not more."""
    return _session.begin()


def backend() -> Literal["gpu", "emulator"]:
    """What `kernel[grid, block](…)` runs on."""
    return _session.begin().backend


def on_gpu() -> bool:
    """Do kernels run on a GPU here?"""
    return backend() == "gpu"


def device_name() -> str:
    """The GPU's name, or "emulator"."""
    return _session.begin().device


def is_emulated(kernel: object) -> bool:
    """Would a launch of this kernel run on the emulator?"""
    return isinstance(kernel, Emulated) or not on_gpu()


@contextlib.contextmanager
def untouched_numba() -> Iterator[None]:
    """Numba's own functions for a while, for whoever needs its compiler rather than launches."""
    patched = _session.undo is not None
    _session.unpatch()
    try:
        yield
    finally:
        if patched:
            _session.patch()


# --- running kernels --------------------------------------------------------------------------


class Emulated:
    """A kernel that runs on the emulator, whatever the machine: `emulate(kernel)`."""

    def __init__(self, kernel: Any, options: dict[str, Any]) -> None:
        self.kernel = kernel
        self.options = options
        self.name = _name(kernel)

    def __getitem__(self, configuration: Any) -> Callable[..., Profile]:
        return lambda *args: self._run(configuration, args)

    def _run(self, configuration: Any, args: tuple[Any, ...]) -> Profile:
        # Imported late: most of what this module does needs no emulator.
        from course_lib.emulator import KernelRejected
        from course_lib.emulator import emulate as emulate_on_numpy

        host = HostArguments(args)
        try:
            values = fit_to_signature(host.values, host_api.signatures(self.kernel))
            emulation = emulate_on_numpy(self.kernel, **self.options)
            profile = emulation[_dimensions_as_integers(configuration)](*values)
        except KernelRejected as rejected:
            raise LaunchRefused(self.name, rejected.findings) from None
        except Mismatch as mismatch:
            raise LaunchRefused(self.name, [mismatch.finding]) from None
        host.write_back()
        _session.profile = profile
        return profile


def emulate(kernel: Any, **options: Any) -> Emulated:
    """`emulate(kernel)[grid, block](…)` runs the kernel on the emulator and returns its Profile.

    The kernel may be a `@cuda.jit` kernel or a plain function; arrays may lie anywhere and are
    changed as on a GPU. Options (`schedule`, `seed`, `counters`, `races`, `budget`, `trace`)
    are those of `course_lib.emulator.emulate`.
    """
    return Emulated(kernel, options)


def run(kernel: Any, grid: Any, block: Any, *args: Any) -> Profile | None:
    """Launch a kernel and wait for it. Returns its Profile where it was emulated."""
    if isinstance(kernel, Emulated):
        return kernel[grid, block](*args)
    if is_emulated(kernel):
        _launch(kernel, grid, block, 0, 0, args)
        return _session.profile
    from numba import cuda

    compiled = kernel if hasattr(kernel, "py_func") else cuda.jit(kernel)
    compiled[grid, block](*args)
    cuda.synchronize()
    return None


def last_profile() -> Profile:
    """The Profile of the latest emulated launch.

    Raises:
        PlainError: if there was none, as on a GPU without `emulate`.
    """
    if _session.profile is None:
        raise PlainError(
            "No kernel has run on the emulator yet, so there are no counts: "
            "course_lib.emulate(kernel)[grid, block](…) runs one, on any machine."
        )
    return _session.profile


def _launch(
    kernel: Any, grid: Any, block: Any, stream: Any, shared_bytes: int, args: tuple[Any, ...]
) -> None:
    """What `kernel[grid, block](…)` does where there is no GPU."""
    for argument in args:
        if isinstance(argument, np.ndarray):
            host_api.must_be_contiguous(argument)
    profile = emulate(kernel)[grid, block, stream, shared_bytes](*args)
    for line in profile.output:
        print(line)
    _show_errors(profile)


def _show_errors(profile: Profile) -> None:
    """A lesson must not overlook a race because the numbers happen to be right."""
    errors = [each for each in by_importance(profile.findings) if each.severity == "error"]
    for each in errors[:FINDINGS_SHOWN]:
        print(f"{profile.kernel_name}, {each} {each.hint}".rstrip())
    if len(errors) > FINDINGS_SHOWN:
        more = len(errors) - FINDINGS_SHOWN
        print(f"… and {more} more: course_lib.last_profile().findings")


def _dimensions_as_integers(configuration: Any) -> tuple[Any, ...]:
    """Grid and block as plain integers; whatever is no whole number is named."""
    from course_lib.emulator import KernelRejected

    if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
        why = "A launch needs its grid and its block: kernel[grid, block](…)."
        raise KernelRejected([finding("invalid-launch", why)])
    checked = []
    for what, dimensions in zip(("grid", "block"), configuration, strict=False):
        sizes = dimensions if isinstance(dimensions, tuple | list) else (dimensions,)
        if not all(isinstance(size, numbers.Integral) for size in sizes):
            why = f"The {what} must be whole numbers, but it is {dimensions!r}."
            hint = "The operator // divides integers; math.ceil rounds up."
            raise KernelRejected([finding("invalid-launch", why, hint=hint)])
        checked.append(tuple(int(size) for size in sizes))
    return (*checked, *configuration[2:])


def _name(kernel: Any) -> str:
    """What the student called the kernel."""
    function = getattr(kernel, "py_func", kernel)
    return getattr(function, "__name__", getattr(kernel, "name", "the kernel"))
