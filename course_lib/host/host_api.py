"""Replaces the host's side of numba.cuda where there is no GPU: one table, and one undo.

`@cuda.jit` itself works without a GPU; whatever talks to the driver fails. `replacements()` lists
what fails and its replacement. Everything else of numba.cuda is left alone, also the honest False
of `cuda.is_available()`. Names that were fetched with `from numba.cuda import …` before `start()`
keep pointing at the originals; `cuda.to_device` and kernels are always ours.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, partialmethod
from types import ModuleType
from typing import Any

import numpy as np

from course_lib.host import successor
from course_lib.host.absent_gpu import (
    AbsentContext,
    AbsentGpu,
    EmulatedOverload,
    Gpu,
    Gpus,
    note_launch,
    note_types,
    overloads,
    select_device,
)
from course_lib.host.device_array import (
    EmulatedDeviceArray,
    EmulatedEvent,
    EmulatedStream,
    SharedInterface,
    must_be_contiguous,
    on_host,
    undefined,
)
from course_lib.wording.errors import NoGpuHere, PlainError

# launch(kernel, grid, block, stream, shared_bytes, args): how a kernel is run instead. Names of
# parameters may follow whose contents are undefined until the kernel writes them.
Launch = Callable[..., None]

NO_ANSWERS: Mapping[str, Any] = {}
THREADS_OF_FORALL = 256  # on a GPU the driver chooses; any choice must give the same result


@dataclass(frozen=True)
class Replacement:
    """`owner.name` is to be `substitute`; what the owner lacks stays so, unless `is_new`."""

    owner: Any
    name: str
    substitute: Any
    is_new: bool = False


def install(
    cuda: ModuleType, launch: Launch, answers: Mapping[str, Any] = NO_ANSWERS
) -> Callable[[], None]:
    """Put the stand-ins for the missing GPU in place. Returns the undo.

    `answers` are functions of the module that answer otherwise than those of `host_functions`.
    """
    return make(replacements(cuda, launch, answers))


def make(table: list[Replacement]) -> Callable[[], None]:
    """Make these replacements. Returns the undo, which leaves everything as it was."""
    undo = contextlib.ExitStack()
    for replacement in table:
        own = getattr(replacement.owner, "__dict__", {})
        if replacement.name in own:
            undo.callback(setattr, replacement.owner, replacement.name, own[replacement.name])
        elif replacement.is_new or hasattr(
            replacement.owner, replacement.name
        ):  # inherited: undoing means removing
            undo.callback(delattr, replacement.owner, replacement.name)
        else:
            continue  # versions differ in what they have
        setattr(replacement.owner, replacement.name, replacement.substitute)
    return undo.close


def replacements(
    cuda: ModuleType, launch: Launch, answers: Mapping[str, Any] = NO_ANSWERS
) -> list[Replacement]:
    """The table: everything that fails without a GPU, and what stands in for it."""
    kernel_class = _kernel_class(cuda)
    functions = {**host_functions(launch), **answers}
    table = [Replacement(cuda, name, value) for name, value in functions.items()]
    gpu = functions["get_current_device"]
    for name, value in _kernel_table(kernel_class, launch, gpu).items():
        table.append(Replacement(kernel_class, name, value))
    table.append(Replacement(kernel_class, "overloads", overloads(gpu), is_new=True))
    return table + _ufunc_table(launch) + quiet_warnings(cuda)


def _ufunc_table(launch: Launch) -> list[Replacement]:
    """What `@vectorize` and `@guvectorize` build for the target "cuda".

    They are Numba's core's; newer CUDA parts have their own as well.
    """
    with contextlib.suppress(ImportError):
        importlib.import_module("numba.cuda.np.ufunc.decorators")
    builders = {"Vectorize": _vectorize, "GUVectorize": _guvectorize}
    return [
        Replacement(
            owner,
            "target_registry",
            ChainMap({"cuda": partial(builder, launch)}, owner.target_registry),
        )
        for module in ("numba.np.ufunc.decorators", "numba.cuda.np.ufunc.decorators")
        for name, builder in builders.items()
        if (owner := getattr(sys.modules.get(module), name, None)) is not None
    ]


# Imported late: most sessions need none of them, nor the emulator before a kernel runs.
def _vectorize(*arguments: Any, **options: Any) -> Any:
    from course_lib.host.ufuncs import VectorizeBuilder

    return VectorizeBuilder(*arguments, **options)


def _guvectorize(*arguments: Any, **options: Any) -> Any:
    from course_lib.host.generalised_ufuncs import GUVectorizeBuilder

    return GUVectorizeBuilder(*arguments, **options)


def _reduce(*arguments: Any) -> Any:
    from course_lib.host.reduction import EmulatedReduce

    return EmulatedReduce(*arguments)


def quiet_warnings(cuda: ModuleType) -> list[Replacement]:
    """Lessons launch small grids on host arrays on purpose; Numba need not warn each time."""
    dispatcher = sys.modules.get(f"{successor.home(cuda)}.dispatcher")
    config = getattr(dispatcher, "config", None)
    names = ("CUDA_LOW_OCCUPANCY_WARNINGS", "CUDA_WARN_ON_IMPLICIT_COPY")
    return [Replacement(config, name, 0) for name in names if hasattr(config, name)]


def _kernel_class(cuda: ModuleType) -> type:
    """The class of what `@cuda.jit` makes: Numba's dispatcher, or its simulator's kernel."""

    def probe() -> None:
        pass

    return type(cuda.jit(probe))


# --- Functions of the module numba.cuda --------------------------------------------------------


def host_functions(launch: Launch) -> dict[str, Any]:
    """Stand-ins for what a lesson calls as `cuda.NAME`."""
    allocate = dict.fromkeys(("pinned_array", "mapped_array", "managed_array"), undefined)
    like = {f"{name}_like": _like(undefined) for name in ("pinned_array", "mapped_array")}
    streams = ("stream", "default_stream", "legacy_default_stream", "per_thread_default_stream")
    return {
        "is_available": lambda: False,
        "detect": _detect,
        "gpus": Gpus(),
        "list_devices": Gpus,
        "close": lambda: None,
        "synchronize": lambda: None,
        "to_device": _to_device,
        "device_array": _device_array,
        "device_array_like": _like(_device_array),
        **{name: _accept_options(function) for name, function in allocate.items()},
        **like,
        "as_cuda_array": _as_cuda_array,
        "is_cuda_array": _is_cuda_array,
        "pinned": _pinned,
        "mapped": _mapped,
        **dict.fromkeys(streams, EmulatedStream),
        "external_stream": lambda ptr: EmulatedStream(),
        "event": lambda timing=True: EmulatedEvent(),
        "event_elapsed_time": lambda evtstart, evtend: evtstart.elapsed_time(evtend),
        "defer_cleanup": contextlib.nullcontext,
        "profiling": contextlib.nullcontext,
        **dict.fromkeys(("reduce", "Reduce"), partial(_reduce, launch)),
        "profile_start": lambda: None,
        "profile_stop": lambda: None,
        "get_current_device": AbsentGpu,
        "current_context": lambda devnum=None: AbsentContext(),
        "select_device": select_device,
        "open_ipc_array": _refusal("cuda.open_ipc_array()"),
        "is_float16_supported": lambda: True,
        "is_supported_version": lambda: False,
    }


def _detect() -> bool:
    print("No NVIDIA GPU is used here: kernels run on the course's emulator.")
    return False


def _to_device(obj: Any, stream: object = 0, copy: bool = True, to: Any = None) -> Any:
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream)
        return to
    if isinstance(obj, EmulatedDeviceArray):
        return obj
    array = np.asarray(obj)
    must_be_contiguous(array)
    return EmulatedDeviceArray(array.copy(order="K") if copy else _like(undefined)(array))


def _device_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: Any = "C",
    stream: object = 0,
) -> EmulatedDeviceArray:
    return EmulatedDeviceArray(undefined(shape, dtype, strides, order))


def _like(allocate: Callable[..., Any]) -> Callable[..., Any]:
    """`allocate` for the shape, type and order of another array."""

    def allocate_like(ary: Any, stream: object = 0, **options: object) -> Any:
        like = np.empty_like(on_host(ary))
        return allocate(like.shape, like.dtype, like.strides)

    return allocate_like


def _accept_options(allocate: Callable[..., Any]) -> Callable[..., Any]:
    """`allocate`, ignoring what only matters to a driver (stream, portable, wc …)."""

    def with_options(
        shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", **_: object
    ) -> Any:
        return allocate(shape, dtype, strides, order)

    return with_options


def _is_cuda_array(obj: Any) -> bool:
    return isinstance(getattr(obj, "__cuda_array_interface__", None), SharedInterface)


def _as_cuda_array(obj: Any, sync: bool = True) -> EmulatedDeviceArray:
    interface = getattr(obj, "__cuda_array_interface__", None)
    if isinstance(interface, SharedInterface):
        return interface.array
    if not isinstance(obj, EmulatedDeviceArray):
        raise TypeError("this is no device array; cuda.to_device(...) makes one")
    return obj


@contextlib.contextmanager
def _pinned(*arrays: np.ndarray) -> Iterator[None]:
    yield


@contextlib.contextmanager
def _mapped(*arrays: np.ndarray, stream: object = 0) -> Iterator[Any]:
    views = [EmulatedDeviceArray(array) for array in arrays]
    yield views[0] if len(views) == 1 else views


def must_be_by_position(named: Mapping[str, Any]) -> None:
    """A launch has no named arguments, here as on a GPU."""
    if named:
        raise PlainError(
            f"A launch takes its arguments by position: {next(iter(named))} has a name."
        )


def _refusal(what: str) -> Callable[..., Any]:
    """A function that says what cannot be known here."""

    def refuse(*args: object, **options: object) -> Any:
        raise NoGpuHere(what)

    return refuse


# --- Methods of kernels ------------------------------------------------------------------------

# They answer from the compiled kernel of a GPU, and nothing is compiled here.
_FROM_COMPILED_CODE = (
    "get_regs_per_thread",
    "get_const_mem_size",
    "get_shared_mem_per_block",
    "get_max_threads_per_block",
    "get_local_mem_per_thread",
    "inspect_asm",
    "inspect_llvm",
    "inspect_lto_ptx",
    "inspect_sass",
    "inspect_sass_cfg",
)


def _kernel_table(kernel_class: type, launch: Launch, gpu: Gpu) -> dict[str, Any]:
    """Stand-ins for what a lesson does with a kernel."""
    launch = _noting(launch, gpu)
    table: dict[str, Any] = {name: _refusal(f"kernel.{name}()") for name in _FROM_COMPILED_CODE}
    table["forall"] = _forall(launch)
    table["specialize"] = lambda self, *args: self
    table["configure"] = _configure(launch)
    if not hasattr(kernel_class, "configure"):  # the simulator's kernel
        table["__getitem__"] = lambda self, launch_of: table["configure"](self, *launch_of)
    table["call"] = _call(launch)
    table["compile"] = partialmethod(_note_signature, gpu)
    table["disable_compile"] = _keep_signatures  # Numba's insists on compiled code
    if hasattr(kernel_class, "compile_device"):
        table["compile_device"] = _compile_device_if_possible(kernel_class, gpu)
    return table


def _noting(launch: Launch, gpu: Gpu) -> Launch:
    """The launch, and what types of arguments the kernel has been launched with."""

    def noted(kernel: Any, *configuration: Any) -> None:
        __tracebackhide__ = True
        if not signatures(kernel):
            note_launch(kernel, configuration[-1], gpu)
        launch(kernel, *configuration)

    return noted


def _configure(launch: Launch) -> Callable[..., Callable[..., None]]:
    """`kernel[grid, block, stream, shared_bytes]`: the launch, still without its arguments."""

    def configure(
        self: Any, griddim: Any, blockdim: Any, stream: object = 0, sharedmem: int = 0
    ) -> Callable[..., None]:
        def launch_it(*args: Any, **named: Any) -> None:
            __tracebackhide__ = True  # pytest shows the line of the launch, and not this one
            must_be_by_position(named)
            launch(self, griddim, blockdim, stream, sharedmem, args)

        return launch_it

    return configure


def _call(launch: Launch) -> Callable[..., None]:
    """For a launch that was configured before `start()`; versions hand it over differently."""

    def call(self: Any, args: tuple[Any, ...], *configuration: Any) -> None:
        if len(configuration) == 1:
            only = configuration[0]
            configuration = (only.griddim, only.blockdim, only.stream, only.sharedmem)
        grid, block, stream, shared_bytes = configuration
        launch(self, grid, block, stream, shared_bytes, args)

    return call


def _forall(launch: Launch) -> Callable[..., Callable[..., None]]:
    """`kernel.forall(n)(…)`: enough threads for n elements."""

    def forall(
        self: Any, ntasks: int, tpb: int = 0, stream: object = 0, sharedmem: int = 0
    ) -> Callable[..., None]:
        if ntasks < 0:
            raise ValueError(f"forall needs a number of elements, not {ntasks}")
        threads = tpb or THREADS_OF_FORALL
        blocks = -(-ntasks // threads)

        def run(*args: Any) -> None:
            __tracebackhide__ = True
            if ntasks:
                launch(self, blocks, threads, stream, sharedmem, args)

        return run

    return forall


# Where the emulator looks for them (`emulator/language/parse.py`).
_SIGNATURES = "_course_signatures"


def _note_signature(self: Any, gpu: Gpu, signature: Any, result: Any = None) -> EmulatedOverload:
    """An eager signature: nothing is compiled, but calls and launches must fit it."""
    argument_types, declared = _sigutils(self).normalize_signature(signature)
    self.__dict__.setdefault("_course_asked_for", []).append((argument_types, result or declared))
    return note_types(self, argument_types, gpu)


def _sigutils(kernel: Any) -> Any:
    """Each CUDA part has its own types and reader of signatures; Numba's old one has not."""
    try:
        return successor.part(kernel, "core.sigutils")
    except ModuleNotFoundError:
        return importlib.import_module("numba.core.sigutils")


def _keep_signatures(self: Any, val: bool = True) -> None:
    """All of them are noted: what is compiled from now on, somebody else asks for."""
    # Imported late: most sessions declare no signatures.
    from course_lib.emulator import freeze

    self.__dict__[_SIGNATURES] = self.__dict__.pop("_course_asked_for", [])
    freeze(self)


def signatures(kernel: Any) -> list[tuple[Any, ...]]:
    """The Numba types that a kernel was declared with, one tuple per signature."""
    return [types for types, _ in getattr(kernel, "__dict__", {}).get(_SIGNATURES, ())]


def _compile_device_if_possible(kernel_class: type, gpu: Gpu) -> Callable[..., Any]:
    """A device function's eager signature needs a GPU; compiling for a named GPU does not.

    Numba calls this method also while it compiles a kernel offline, so it must still work.
    """
    original = vars(kernel_class)["compile_device"]
    driver_error = successor.part(kernel_class, "cudadrv.error").CudaSupportError

    def compile_device(self: Any, args: Any, *return_type: Any) -> Any:
        _note_signature(self, gpu, args, *return_type)
        try:
            return original(self, args, *return_type)
        except driver_error:
            return None

    return compile_device
