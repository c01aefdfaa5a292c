"""`start()`, `emulate()` and launches: kernels run on the GPU, or on the emulator without one.

A lesson need not care which. `start()` decides once. With a working GPU nothing of Numba is
touched. Without one, launches and the host's side of numba.cuda go to the emulator (see
host_api.py), so that the same cell works on both. Counts come from the emulator, times from a GPU;
neither is ever made up.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from course_lib.host import host_api, probe, successor
from course_lib.host.arguments import HostArguments
from course_lib.student import front_end, unrun_cells
from course_lib.wording.errors import (
    LaunchRefused,
    LaunchStopped,
    PlainError,
    excepthook,
    interruptible,
)
from course_lib.wording.findings import Finding, by_importance
from course_lib.wording.sentences import say
from course_lib.wording.words import joined

if TYPE_CHECKING:
    from course_lib.emulator import AsCompiled, KeptLaunch, Profile
    from course_lib.emulator.launch import ConfiguredKernel

    Recount = Callable[[KeptLaunch, Profile, str], AsCompiled]

FINDINGS_SHOWN = 3
# Up to so many bytes of arrays are kept of a launch that may be counted as compiled later.
KEPT_BYTES = 64 << 20
# For kernels that are known to end, as the course's own.
PATIENT_STEPS = 20_000_000


class _Session:
    """What was decided, and what it takes to go back. There is one per Python process."""

    def __init__(self) -> None:
        self.verdict: probe.BackendChoice | None = None
        self.undo: Callable[[], None] | None = None
        self.undo_rest = contextlib.ExitStack()  # the name numba, and what a script ends in
        self.profile: Profile | None = None

    def begin(self) -> probe.BackendChoice:
        if self.verdict is None:
            self.verdict = probe.look()
            if (cuda := self.verdict.cuda) and successor.made(cuda):
                self.undo_rest.callback(successor.put_in_place(cuda))
            self.patch()
            self.speak_plainly()
            if shell := front_end.shell():
                unrun_cells.load_ipython_extension(shell)
        return self.verdict

    def speak_plainly(self) -> None:
        """A script, too, ends in our sentence alone, unless somebody else looks after that."""
        if sys.excepthook is sys.__excepthook__:
            hook = host_api.Replacement(sys, "excepthook", excepthook)
            self.undo_rest.callback(host_api.make([hook]))

    def patch(self) -> None:
        if self.verdict is None or self.verdict.failure == "no-numba":
            return
        if self.verdict.cuda is None:
            self.undo = use_stand_in(_launch)
        elif self.verdict.backend == "gpu":
            self.undo = host_api.make(host_api.quiet_warnings(self.verdict.cuda))
        else:
            self.undo = host_api.install(self.verdict.cuda, _launch)

    def unpatch(self) -> None:
        if self.undo is not None:
            self.undo()
            self.undo = None


_session = _Session()


def use_stand_in(
    launch: host_api.Launch, answers: Mapping[str, Any] = host_api.NO_ANSWERS
) -> Callable[[], None]:
    """Numba is here, its CUDA part is not. Arguments as of `host_api.install`; so is the undo."""
    from course_lib.host import cuda_stand_in as stand_in

    module = stand_in.make({**host_api.host_functions(launch), **answers})
    undo = contextlib.ExitStack()
    undo.callback(stand_in.put_in_place(module))
    undo.callback(host_api.install(module, launch, answers))
    return undo.close


def speak_plainly() -> None:
    """From now on a script that ends in a sentence of ours shows that sentence alone."""
    _session.speak_plainly()


# --- Which machine -----------------------------------------------------------------------------


def start(lesson: str = "") -> None:
    """Choose GPU or emulator, and say which in one line. Calling it again changes nothing.

    Args:
        lesson: the number of the lesson that begins, such as "02". If an earlier one has shown an
            answer, a second line asks for that task again.
    """
    print(_session.begin().banner)
    # Imported late, as all that no kernel needs.
    from course_lib.student import progress

    progress.begin(lesson)
    if owed := progress.owed(lesson):
        print(
            f"You have seen an answer to {joined(owed)}. Now write it unaided, in a cell of "
            f'your own, and run course_lib.check("{owed[0]}", {owed[0]}).'
        )


def stop() -> None:
    """Leave Numba as it was before `start()`."""
    _session.unpatch()
    _session.undo_rest.close()
    _session.verdict = None
    _session.profile = None


def verdict() -> probe.BackendChoice:
    """What this machine can do, and why not more."""
    return _session.begin()


def backend() -> Literal["gpu", "emulator"]:
    """What `kernel[grid, block](…)` runs on."""
    return _session.begin().backend


def on_gpu() -> bool:
    """Do kernels run on a GPU here?"""
    return backend() == "gpu"


def can_copy_asynchronously() -> bool:
    """Does the GPU here have asynchronous copies, as from compute capability 8.0 on?"""
    return int(compute_capability().split(".")[0]) >= 8


def compute_capability() -> str:
    """That of the GPU here, such as "7.5"; there must be one."""
    from numba import cuda

    major, minor = tuple(cuda.get_current_device().compute_capability)[:2]
    return f"{major}.{minor}"


def device_name() -> str:
    """The GPU's name, or "emulator"."""
    return _session.begin().device


def is_emulated(kernel: object) -> bool:
    """Would a launch of this kernel run on the emulator?"""
    return isinstance(kernel, Emulated) or not on_gpu()


@contextlib.contextmanager
def untouched_numba() -> Iterator[None]:
    """Numba's own functions for a while, for code that needs its compiler rather than launches."""
    patched = _session.undo is not None
    _session.unpatch()
    try:
        yield
    finally:
        if patched:
            _session.patch()


# --- Running kernels ---------------------------------------------------------------------------


class Emulated:
    """A kernel that runs on the emulator, whatever the machine: `emulate(kernel)`."""

    # Counts a launch as compiled; where there is one, a launch is kept for it.
    recount: Recount | None = None
    # How somebody allows a launch more steps.
    more_steps = "course_lib.emulate({kernel}, steps={steps:_})[grid, block](…)"

    def __init__(self, kernel: Any, options: dict[str, Any]) -> None:
        self.kernel = kernel
        self.options = options
        self.name = _name(kernel)

    def __getitem__(self, configuration: Any) -> Callable[..., Profile]:
        def launch(*args: Any, **named: Any) -> Profile:
            host_api.must_be_by_position(named)
            profile = self.run(configuration, args)
            show_output(profile)
            if not profile.finished:
                _show_errors(profile, most=1)
            return profile

        return launch

    def __call__(self, *args: Any, **named: Any) -> Profile:
        launch = f"course_lib.emulate({self.name})[grid, block](…)"
        raise PlainError(f"A launch needs its grid and its block: {launch}.")

    def run(self, configuration: Any, args: tuple[Any, ...]) -> Profile:
        """Launch, and print nothing."""
        # Imported late: most of what this module does needs no emulator.
        from course_lib.emulator import KernelRejected
        from course_lib.emulator import emulate as emulate_on_numpy

        _session.speak_plainly()
        host = HostArguments(args)
        try:
            emulation = emulate_on_numpy(self.kernel, **self.options)
            launch = emulation[configuration]
            kept = _kept(self.kernel, launch, host.values) if self.recount else None
            with interruptible(f"{self.name} did not end, and its arrays may be half written."):
                profile = launch(*host.values)
        except KernelRejected as rejected:
            raise LaunchRefused(self.name, rejected.findings) from None
        host.write_back()
        steps = 10 * self.options["budget"].steps
        _say_how_to_allow_more(profile, self.more_steps.format(kernel=self.name, steps=steps))
        if kept is not None and self.recount is not None:
            profile.recount = partial(self.recount, kept)
        _session.profile = profile
        return profile


def _kept(kernel: Any, launch: ConfiguredKernel, values: Sequence[Any]) -> KeptLaunch:
    """The launch with copies of its arrays, if they are not too large."""
    from course_lib.emulator import KeptLaunch, copies_of

    size = sum(value.nbytes for value in values if isinstance(value, np.ndarray))
    arguments = copies_of(values) if size <= KEPT_BYTES else None
    shared = launch.dynamic_shared_bytes
    return KeptLaunch(kernel, launch.grid, launch.block, shared, arguments, size)


def emulate(kernel: Any, *, steps: int | None = None, **options: Any) -> Emulated:
    """As `course_lib.emulate` says, but for counts as compiled, which that one adds.

    Raises:
        PlainError: if it is no kernel.
    """
    from course_lib.emulator import INTERACTIVE, Kernel

    if not isinstance(kernel, Kernel) and not isinstance(
        getattr(kernel, "py_func", kernel), FunctionType
    ):
        raise PlainError(
            "course_lib.emulate takes a kernel: a function, with or without @cuda.jit. "
            f"This is no function but of type {type(kernel).__name__}."
        )
    budget = options.pop("budget", None) or INTERACTIVE
    if steps is not None:
        budget = replace(budget, steps=steps)
    return Emulated(kernel, {"costs": True, **options, "budget": budget})


def tensor_map(array: np.ndarray, box: Sequence[int]) -> np.ndarray:
    """Describe an array to TMA, for an emulated launch; `box` is what is copied at once.

    On a GPU that is `course_lib.kernels.hopper_launch.tensor_map`, and its driver refuses the same
    (CUDA Driver API, cuTensorMapEncodeTiled, with the 128-byte swizzle).

    Raises:
        PlainError: if the array cannot be described, or the box is none of its.
    """
    from course_lib.emulator import TensorMap

    if not isinstance(array, np.ndarray) or not array.flags.c_contiguous or array.ndim > 5:
        raise PlainError("tensor_map takes a C-contiguous NumPy array with 1 to 5 axes.")
    if len(box) != array.ndim or not all(0 < size <= 256 for size in box):
        raise PlainError(f"A box of {array.shape} has a size from 1 to 256 for each axis: {box}.")
    if box[-1] * array.itemsize > 128:
        raise PlainError(f"A row of the box has 128 bytes at most; {box} has more.")
    if array.ndim > 1 and array.shape[-1] * array.itemsize % 16:
        raise PlainError(
            f"Each row must begin at a multiple of 16 bytes; those of {array.shape}"
            f" of {array.dtype} do not."
        )
    return TensorMap(array, box)


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
    kernel: Any,
    grid: Any,
    block: Any,
    stream: Any,
    shared_bytes: int,
    args: tuple[Any, ...],
    outputs: Sequence[str] = (),
) -> None:
    """What `kernel[grid, block](…)` does where there is no GPU.

    What the parameters in `outputs` hold counts as undefined until the kernel has written it.
    """
    profile = emulate(kernel, outputs=outputs).run((grid, block, stream, shared_bytes), args)
    show_output(profile)
    endless = [finding for finding in profile.findings if finding.code == "timeout"]
    _show_errors(profile, besides=endless)
    if endless:  # its arrays are half written, and nobody should go on with them unawares
        raise LaunchStopped(profile.kernel_name, endless[0])


def show_output(profile: Profile) -> None:
    """What the kernel printed; as on a GPU, it shows after the launch."""
    for line in profile.output:
        print(line)
    if profile.unkept_lines:
        print(f"… and {profile.unkept_lines:,} more lines, which are not kept.")


def _show_errors(
    profile: Profile, most: int = FINDINGS_SHOWN, besides: Collection[Finding] = ()
) -> None:
    """A lesson must not overlook a race because the numbers happen to be right."""
    errors = [error for error in by_importance(profile.errors) if error not in besides]
    for error in errors[:most]:
        print(f"{profile.kernel_name}, {error} {error.hint}".rstrip())
    if len(errors) > most:
        more = len(errors) - most
        print(f"… and {more} more: course_lib.last_profile().findings")


def _say_how_to_allow_more(profile: Profile, more: str) -> None:
    """A loop that is only long needs more steps, and whoever waits for it may have them."""
    if (loop := profile.stopped_in) is not None and (loop.for_lock or loop.in_vain):
        return  # none are enough
    profile.findings = [
        replace(
            finding,
            hint=say(
                "{hint} If the launch is only long, {more} allows more.",
                hint=finding.hint,
                more=more,
            ),
        )
        if finding.code == "timeout"
        else finding
        for finding in profile.findings
    ]


def _name(kernel: Any) -> str:
    """What the student called the kernel."""
    function = getattr(kernel, "py_func", kernel)
    return getattr(function, "__name__", getattr(kernel, "name", "the kernel"))
