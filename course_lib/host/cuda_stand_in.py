"""A `numba.cuda` for machines whose Numba has none: kernels can be declared and emulated.

Numba's CUDA part has become a package of its own, numba-cuda. Where it is missing or does not
import, `from numba import cuda` would end every lesson. This module answers instead. It declares
kernels and nothing more; host_api.py gives it the host's functions, as it does for the real one.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from contextlib import ExitStack
from types import ModuleType
from typing import Any

from course_lib.host.successor import place

NAME = "numba.cuda"

# What lessons name inside kernels. They are here for `from numba.cuda import grid`.
DEVICE_NAMES = (
    *("grid", "gridsize", "threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize"),
    *("shared", "local", "const", "atomic", "syncthreads", "syncthreads_and", "syncthreads_or"),
    *("syncthreads_count", "syncwarp", "threadfence", "threadfence_block", "threadfence_system"),
    *("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync", "activemask"),
    *("all_sync", "any_sync", "eq_sync", "ballot_sync", "match_any_sync", "match_all_sync"),
    *("fma", "popc", "brev", "clz", "ffs", "selp", "cbrt", "lanemask_lt", "nanosleep"),
)


class StandInKernel:
    """What `@cuda.jit` makes here: the function, and room for what host_api.py puts in."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        functools.update_wrapper(self, py_func)
        self.py_func = py_func

    def __call__(self, *args: object) -> None:
        raise ValueError("A launch needs its grid and its block: kernel[grid, block](…).")

    def __getitem__(self, configuration: tuple[Any, ...]) -> Any:
        return self.configure(*configuration)

    def _not_yet(self, *args: object, **options: object) -> Any:
        raise RuntimeError("course_lib.start() comes first")

    configure = forall = specialize = compile = disable_compile = _not_yet


class CopyDirection:
    """cuda.In(A), cuda.Out(A), cuda.InOut(A): which way an array is copied."""

    def __init__(self, value: Any) -> None:
        self.value = value


def jit(func_or_sig: Any = None, **options: object) -> Any:
    """`@cuda.jit` in all its spellings; options matter to a compiler only."""
    if callable(func_or_sig) and not _is_signature(func_or_sig):
        return StandInKernel(func_or_sig)
    signatures = func_or_sig if isinstance(func_or_sig, list) else [func_or_sig]

    def declare(function: Callable[..., Any]) -> StandInKernel:
        kernel = StandInKernel(function)
        for signature in signatures:
            if signature is not None:
                kernel.compile(signature)
        if func_or_sig is not None:
            kernel.disable_compile()
        return kernel

    return declare


def _is_signature(candidate: Any) -> bool:
    from numba.core import sigutils

    return bool(sigutils.is_signature(candidate))


def _device_only(name: str) -> Callable[..., Any]:
    """What a kernel's text may name, such as cuda.grid. The emulator needs the name only."""

    def inside_kernels_only(*args: object) -> Any:
        raise RuntimeError(f"cuda.{name} exists only inside a kernel")

    inside_kernels_only.__module__ = NAME
    inside_kernels_only.__name__ = inside_kernels_only.__qualname__ = name
    return inside_kernels_only


def make(host_names: dict[str, Any]) -> ModuleType:
    """The module. `host_names` are the host's functions, which a lesson calls as cuda.NAME."""
    module = ModuleType(NAME, "Stands in for Numba's CUDA part, which is missing here.")
    hints = {
        name: type(name, (CopyDirection,), {"__module__": NAME}) for name in ("In", "Out", "InOut")
    }
    vars(module).update({name: _device_only(name) for name in DEVICE_NAMES})
    vars(module).update(host_names, jit=jit, implementation="stand-in", **hints)
    return module


def put_in_place(module: ModuleType) -> Callable[[], None]:
    """Let `from numba import cuda` find the stand-in. Returns the undo."""
    import numba

    undo = ExitStack()
    undo.callback(place(sys.modules, {NAME: module}))
    undo.callback(place(vars(numba), {"cuda": module}))
    return undo.close
