"""In a process of its own: one file of Numba's tests, compiled by Numba and run by the emulator.

Numba types and lowers each kernel for the types of its launch, and says so if it refuses; where it
would start the GPU, the emulator runs the kernel. The test's own assertions judge both: what the
emulator computed, and what the compiler wrote (PTX, LLVM), which is the real one here. No GPU.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import os
import sys
import textwrap
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import launches as shared
import numpy as np
from numba import cuda
from numba.cuda import api, dispatcher
from numba.cuda.core import config
from numba.cuda.cudadrv import devices

CAPABILITY = (8, 0)
SECONDS_PER_TEST = 60


class NotRun(Exception):
    """The emulator refused a launch, so the test has nothing to judge."""


class DeviceArray(np.ndarray):
    """What `cuda.to_device` gives where there is no device: an array with the two copies."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.__array_interface__ | {"version": 3}

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        if ary is None:
            return np.array(self)
        ary[...] = self
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        self[...] = ary


def to_device(value: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
    given = np.asarray(value)
    if to is not None:
        to[...] = given
        return to
    return given.copy(order="K").view(DeviceArray)


def device_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C",
                 stream: Any = 0) -> Any:  # fmt: skip
    return np.zeros(shape, dtype, order).view(DeviceArray)


def device_array_like(value: Any, stream: Any = 0) -> Any:
    return np.zeros_like(value).view(DeviceArray)


def without_a_device() -> None:
    """Answer what tests and compiler ask of a device; nothing is started."""
    device = SimpleNamespace(
        compute_capability=CAPABILITY, name=b"none", WARP_SIZE=32, MULTIPROCESSOR_COUNT=1,
        MAX_SHARED_MEMORY_PER_BLOCK=49152, id=0, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO=2,
        MAX_THREADS_PER_BLOCK=1024,
    )  # fmt: skip
    for module in (dispatcher, api, devices, cuda, sys.modules["numba.cuda.compiler"]):
        if hasattr(module, "get_current_device"):
            module.get_current_device = lambda: device
    devices.get_context = lambda *_: SimpleNamespace(device=device)
    for each in (to_device, device_array, device_array_like):
        setattr(cuda, each.__name__, each)
    for name in ("pinned_array", "mapped_array", "managed_array"):
        setattr(cuda, name, device_array)
    cuda.synchronize = lambda: None
    cuda.is_available = lambda: True
    stream = SimpleNamespace(synchronize=lambda: None, auto_synchronize=nullcontext)
    cuda.stream = cuda.default_stream = lambda: stream


def types_of(kernel: Any) -> str:
    return ", ".join(map(str, kernel.argument_types))


def as_typed(kernel: Any, arguments: Any) -> list[Any]:
    """Numbers in the types that the kernel was compiled for."""
    given = []
    for kind, value in zip(kernel.argument_types, arguments, strict=True):
        number = isinstance(value, int | float | complex | np.number)
        kind = getattr(np, str(kind), None) if number and not isinstance(value, bool) else None
        given.append(kind(value) if kind else value)
    return given


def plain(value: Any) -> Any:
    if isinstance(value, cuda.args.ArgHint):
        return plain(value.value)
    if type(value) is tuple:
        return tuple(map(plain, value))
    return np.asarray(value) if isinstance(value, DeviceArray) else value


class Launches:
    """What every launch came to, and the compiler's word on it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.call = dispatcher.CUDADispatcher.call
        self.seen: dict[str, int] = {}

    def note(self, says: str, ran: dict[str, Any]) -> None:
        name, sha = shared.name_of(self.of.py_func, self.file)
        about = {"kernel": name, "sha": sha, "rest": shared.uses_of(self.of.py_func)}
        shared.launches.append(about | {"compiler": says, "test": ""} | ran)

    def emulate(self, of: Any, arguments: Any, grid: Any, block: Any, bytes_: int) -> Any:
        fake = SimpleNamespace(grid_dim=grid, block_dim=block, dynshared_size=bytes_)
        return shared.on_the_emulator(fake, arguments, of)

    def compiled(self, of: Any, arguments: Any, launch: Any) -> None:
        """In the dispatcher's place: compile, or note that the compiler refuses."""
        if of.extensions:
            raise NotRun
        self.of, self.started_one = of, False
        os.environ["NUMBA_CUDA_ENABLE_NRT"] = str(int(bool(config.CUDA_ENABLE_NRT)))
        try:
            self.call(of, arguments, launch)
        except (NotRun, TimeoutError):
            raise
        except Exception as refused:
            if self.started_one:
                raise
            said = f"refuses: {type(refused).__name__}: {refused}"[:300]
            given = [plain(each) for each in arguments]
            ran = self.emulate(of, given, launch.griddim, launch.blockdim, launch.sharedmem)
            self.note(said, ran)
            raise

    def started(self, kernel: Any, arguments: Any, grid: Any, block: Any, stream: Any = 0,
                bytes_: int = 0) -> None:  # fmt: skip
        """In the GPU's place, once the compiler is content."""
        self.started_one = True
        given = as_typed(kernel, [plain(each) for each in arguments])
        ran = self.emulate(self.of, given, grid, block, bytes_)
        self.note(f"compiles ({types_of(kernel)})", ran)
        if ran["emulator"] != "ran":
            raise NotRun(ran["said"])
        if kernel.debug and ran["raised"]:
            raise self.exception(ran)

    def exception(self, ran: dict[str, Any]) -> BaseException:
        """What Numba raises after a launch in which a thread did, under debug=True."""
        line, thread, code = ran["raised"]
        function = self.of.py_func
        where = f"In function '{function.__name__}', file {function.__code__.co_filename}, "
        where += f"line {line}, tid={list(thread[::-1])} ctaid=[0, 0, 0]"
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and node.lineno == line:
                call = node.exc if isinstance(node.exc, ast.Call) else ast.Call(node.exc, [], [])
                names = vars(builtins) | function.__globals__
                given = [str(ast.literal_eval(each)) for each in call.args]
                kind: type[BaseException] = names[ast.unparse(call.func)]
                return kind(": ".join([where, *given]))
        if code == "out-of-bounds-read":
            return IndexError(f"{where}: tuple index out of range")
        return ZeroDivisionError(where)


def put_in_place(file: str) -> None:
    kept = Launches(file)
    shared.keep_apart(dispatcher.CUDADispatcher)
    dispatcher.CUDADispatcher.call = lambda self, args, config: kept.compiled(self, args, config)
    dispatcher._Kernel.launch = lambda self, *args, **named: kept.started(self, *args, **named)
    dispatcher._Kernel.bind = lambda self: None
    dispatcher._Kernel.initialize_once = lambda self, module: None


def main(path: str, kept_in: str) -> None:
    shared.stubs(simulator=False)
    without_a_device()
    put_in_place(Path(path).stem)
    shared.SECONDS_PER_TEST = SECONDS_PER_TEST
    shared.run_tests(path, kept_in)


if __name__ == "__main__":
    main(*sys.argv[1:])
