"""What `ct`, `tl` and `triton` stand for where their packages are not installed: names alone.

A kernel is read from its text, so all that has to be there is what its `def` and its decorator
name. Where a package is installed, its own module is meant.
"""

from __future__ import annotations

import functools
import importlib
from types import FunctionType, ModuleType
from typing import Any

from course_lib.wording.errors import PlainError

# What each is called, by the short name under which everybody imports it.
PACKAGES = {"ct": "cuda.tile", "tl": "triton.language", "triton": "triton"}
# By these one tells what a kernel of Numba, of a tile language, or an array of a device is.
_ASKED_OF_OBJECTS = ("py_func", "targetoptions", "copy_to_host", "copy_to_device", "fn")
_DECORATORS = ("kernel", "function", "jit", "autotune", "heuristics")


class KeptKernel:
    """A function below `@ct.kernel` or `@triton.jit`: kept as it is written, for whoever reads it.

    Attributes:
        fn: the function.
        made_by: the decorator: ("cuda.tile", "kernel").
    """

    def __init__(self, function: FunctionType, made_by: tuple[str, str]) -> None:
        functools.update_wrapper(self, function)
        self.fn, self.made_by = function, made_by

    def __getitem__(self, grid: object) -> Any:
        raise PlainError(
            f"{self.fn.__name__} can't be launched here, since its package is not installed. "
            f"course_lib.emulate_tiles({self.fn.__name__})[…](…) carries it out."
        )

    __call__ = __getitem__


class StandInName:
    """What a language calls something: `ct.Constant`, and in brackets `ct.Constant[int]`."""

    def __init__(self, package: str, path: str) -> None:
        self._package, self._path = package, path

    def __repr__(self) -> str:
        return f"{self._package}.{self._path}"

    def __getattr__(self, name: str) -> StandInName:
        if name.startswith("_") or name in _ASKED_OF_OBJECTS:
            raise AttributeError(name)
        return StandInName(self._package, f"{self._path}.{name}")

    def __getitem__(self, item: object) -> StandInName:
        return self

    def __call__(self, *given: object, **named: object) -> Any:
        raise PlainError(
            f"{self!r} is for kernels. Here {self._package} is not installed, so nothing but the "
            "text of a kernel is looked at."
        )


class _Constexpr:
    """A number that Triton knows when it compiles: `BLOCK = tl.constexpr(64)`."""

    def __init__(self, value: Any) -> None:
        self.value = value


_Constexpr.__name__ = "constexpr"


class _StandInModule(ModuleType):
    """A module whose decorators keep a function, and whose other names are names alone."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in _ASKED_OF_OBJECTS:
            raise AttributeError(name)
        if name in _DECORATORS:
            return functools.partial(_decorated, (self.__name__, name))
        if name == "constexpr":
            return _Constexpr
        if name == "cdiv":
            return lambda x, y: -(-x // y)
        if name == "language" and self.__name__ == "triton":
            return module("tl")
        return StandInName(self.__name__, name)


def _decorated(made_by: tuple[str, str], *given: Any, **options: Any) -> Any:
    """What `@ct.kernel` makes of a function, and `@ct.kernel(…)` alike."""
    if len(given) == 1 and not options and isinstance(given[0], FunctionType):
        return KeptKernel(given[0], made_by)
    if len(given) == 1 and not options and isinstance(given[0], KeptKernel):
        return given[0]  # below `@triton.autotune(…)`
    return functools.partial(_decorated, made_by)


@functools.cache
def module(name: str) -> ModuleType:
    """What `ct`, `tl` or `triton` stands for: the package's own module, or what stands in."""
    package = PACKAGES[name]
    try:
        return importlib.import_module(package)
    except (ImportError, OSError):  # not installed, or without the libraries that it needs
        return _StandInModule(package, f"Stands in for {package}, which is not installed.")
