"""numba-cuda-mlir in the place of numba.cuda, where Numba or its CUDA part is not installed.

numba-cuda-mlir succeeds numba-cuda. It takes the same kernels, under a name of its own, and needs
no Numba. `from numba import cuda, float32` is what all lessons say; here that finds the successor.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from course_lib.wording.errors import PIP_INSTALL, PlainError

PACKAGE = "numba_cuda_mlir"
NAME = "numba-cuda-mlir"  # as the package index and people have it
# Its parts lie as those of numba-cuda do: dispatcher, core.sigutils, cudadrv.error and the rest.
PARTS = f"{PACKAGE}.numba_cuda"

# For the CPU, or not there yet in 0.6.0: only Numba itself has them.
NUMBAS_OWN = ("guvectorize", "jit", "njit", "vectorize")


def is_installed() -> bool:
    """Can it be imported? Nothing is."""
    return find_spec(PACKAGE) is not None


def load() -> ModuleType:
    """Its `cuda`, the module that stands for numba.cuda."""
    return importlib.import_module(f"{PACKAGE}.cuda")


def made(thing: object) -> bool:
    """Is this its module or class, or did its `@cuda.jit` make this kernel?"""
    if isinstance(thing, ModuleType):
        home = thing.__name__
    else:
        home = (thing if isinstance(thing, type) else type(thing)).__module__
    return home.partition(".")[0] == PACKAGE


def label() -> str:
    """Its name and version."""
    return f"{NAME} {metadata.version(NAME)}"


def home(thing: object) -> str:
    """Where the parts lie of the package that a module `cuda`, or a kernel, comes from."""
    return PARTS if made(thing) else "numba.cuda"


def part(thing: object, name: str) -> ModuleType:
    """The module `numba.cuda.NAME` of that package."""
    return importlib.import_module(f"{home(thing)}.{name}")


def put_in_place(cuda: ModuleType) -> Callable[[], None]:
    """Let `from numba import cuda, float32` find it. Returns the undo.

    Where there is a Numba, and only its CUDA part is missing, Numba keeps all other names.
    """
    types = importlib.import_module(f"{PACKAGE}.types")
    numba = sys.modules.get("numba") or _numba_without_a_cpu_part()
    modules = {
        "numba.cuda" + name.removeprefix(cuda.__name__): module
        for name, module in list(sys.modules.items())
        if f"{name}.".startswith(f"{cuda.__name__}.")
    }
    scalars = {
        name: value for name, value in vars(types).items() if isinstance(value, types.Number)
    }
    names = {**scalars, "void": types.void, "types": types, "cuda": cuda}
    undo = ExitStack()
    undo.callback(place(sys.modules, {"numba": numba, "numba.types": types, **modules}))
    undo.callback(place(vars(numba), names))
    return undo.close


def place(where: dict[str, Any], values: dict[str, Any]) -> Callable[[], None]:
    """Give names these values in a module, or among the modules. Returns the undo."""
    before = {name: where[name] for name in values if name in where}
    where.update(values)

    def undo() -> None:
        for name in values:
            del where[name]
        where.update(before)

    return undo


@cache
def _numba_without_a_cpu_part() -> ModuleType:
    numba = ModuleType("numba", f"Stands in for Numba, which is not installed: {NAME}.")
    vars(numba).update({name: _only_numba_has(name) for name in NUMBAS_OWN})
    return numba


def _only_numba_has(name: str) -> Callable[..., Any]:
    def refuse(*args: object, **options: object) -> Any:
        raise PlainError(
            f"numba.{name} needs Numba, and here is only {NAME}: {PIP_INSTALL} numba-cuda, then "
            "restart the notebook's kernel."
        )

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__ = "numba"
    return refuse
