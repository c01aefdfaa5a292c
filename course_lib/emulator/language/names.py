"""What a name outside the kernel stands for, and at which time; what a misspelt one may mean."""

from __future__ import annotations

import ast
import builtins
import contextlib
import difflib
import enum
import math
import types as python_types
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeGuard

import numpy as np

from course_lib.emulator.errors import KernelRejected
from course_lib.emulator.language.kernel import Kernel
from course_lib.emulator.language.types import DTYPES
from course_lib.wording.sentences import Sentence, say

LONGEST_COMPARED, MOST_COMPARED = 40, 300  # characters of a name, and names
SHORT = 3  # of a name so short, one letter of three may be wrong


def did_you_mean(
    name: str, known: Iterable[str], before: str = "", alike: float | None = None
) -> Sentence | str:
    """ "Did you mean {before}{name}?" if a known name is similar; "" if none is.

    `alike` is how much of two names has to be the same; left out, that depends on their length.
    Capitals do not count. Long names are not compared, nor are very many.
    """
    least = alike or (0.66 if len(name) <= SHORT else 0.75)
    spelled = {candidate.lower(): candidate for candidate in reversed([*known][:MOST_COMPARED])}
    short = [
        candidate
        for candidate in spelled
        if len(candidate) <= LONGEST_COMPARED and spelled[candidate] != name
    ]
    near = difflib.get_close_matches(name[:LONGEST_COMPARED].lower(), short, n=1, cutoff=least)
    return say("Did you mean {near}?", near=before + spelled[near[0]]) if near else ""


# --- What a name stands for: a module, a CUDA function, a type, a constant ------------------------
# A kernel is never executed, so the emulator needs no objects, only their dotted names:
# `cuda.threadIdx.x` is the reference "numba.cuda.threadIdx.x", however the student imported it.


@dataclass(frozen=True)
class Reference:
    """A dotted name of a module or function that the emulator may know, such as `math.sqrt`."""

    path: str

    def __str__(self) -> str:
        return self.path

    def attribute(self, name: str) -> Reference:
        """The reference to an attribute of this one."""
        return Reference(canonical_path(f"{self.path}.{name}"))

    @property
    def dtype(self) -> np.dtype | None:
        """The scalar type that this name stands for (np.float32, numba.int32), if any."""
        module, _, name = self.path.rpartition(".")
        if module in ("numpy", "numba", "numba.types", "numba.core.types", "numba.cuda.types"):
            return DTYPES.get(name)
        return None


@dataclass(frozen=True, eq=False)
class OwnModule:
    """A module that somebody wrote beside the kernel, with what its names stand for in a kernel."""

    name: str
    names: Mapping[str, Any]

    def __str__(self) -> str:
        return f"module {self.name}"


@dataclass(frozen=True)
class Unusable:
    """A module-level name whose value the emulator did not work out; an error only if used."""

    reason: str  # a sentence
    code: str = "unsupported"
    hint: str = "A kernel can use a number, a tuple of numbers or a NumPy array from outside."


@dataclass(frozen=True, eq=False)
class DeviceArray:
    """A device's array outside the kernel: Numba compiles its address, so contents are shared."""

    # the object: its elements are a NumPy array of its own, as in Numba's simulator and on the
    # emulated device, or lie on a GPU
    owner: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceArray) and other.owner is self.owner

    def __hash__(self) -> int:
        return id(self.owner)

    @property
    def shared(self) -> np.ndarray | None:
        """The array that holds the elements; None if they lie on a GPU."""
        for name in ("buffer", "_ary"):
            array = vars(self.owner).get(name) if hasattr(self.owner, "__dict__") else None
            if isinstance(array, np.ndarray):
                return array
        return None

    def fetch(self) -> np.ndarray:
        """The elements for a launch: the array itself, or a copy from the GPU."""
        shared = self.shared
        result: np.ndarray = self.owner.copy_to_host() if shared is None else shared
        return result

    def give_back(self, changed: np.ndarray) -> None:
        """Copy what a launch has changed to the GPU, if the elements lie there."""
        if self.shared is None:
            self.owner.copy_to_device(changed)


def plain_function(name: str, is_overloaded: bool) -> Unusable:
    """A function that is no device function; with `@overload` Numba has another one for it."""
    if is_overloaded:
        return Unusable(
            say("{name} is defined with @overload, which works only in Numba.", name=name),
            "unsupported",
            "Write a device function instead, with @cuda.jit(device=True).",
        )
    return Unusable(
        say(
            "{name} is a plain Python function. A kernel can call it only if it is "
            "decorated with @cuda.jit(device=True).",
            name=name,
        ),
        "compile-error",
    )


FORBIDDEN_BUILTINS = frozenset(
    (
        "open eval exec compile __import__ input globals locals vars getattr setattr delattr "
        "breakpoint exit quit memoryview"
    ).split()
)
EXCEPTIONS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)
KNOWN_MODULES = ("numba", "numpy", "math", "course_lib", "numba_cuda_mlir", "operator", "cmath")

REGISTERS_WITH_AXES = tuple(
    f"numba.cuda.{name}" for name in ("threadIdx", "blockIdx", "blockDim", "gridDim")
)
_REGISTERS = ("threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize")
_COURSE_INTRINSICS = tuple(
    """bf16_bits cp_async4 cp_async4_zfill cp_async16 cp_async16_zfill cp_async_commit
    cp_async_wait float_bits grid_dependency_sync ldmatrix_x2 ldmatrix_x2_trans
    ldmatrix_x4 ldmatrix_x4_trans load4 load_words
    mma_m16n8k16_bf16 mma_m16n8k16_f16 mma_m16n8k8_f16 mma_m16n8k8_tf32
    store2 store4 store_words to_tf32 trigger_next_launch unroll unrolled""".split()
)
_CUDA_FUNCTIONS = ("syncthreads", "syncwarp", "shared", "local", "atomic")


def names_of_module(module: str) -> tuple[str, ...]:
    """The names that `from module import *` gives, if a kernel can use them."""
    if module == "math":
        return tuple(name for name in dir(math) if not name.startswith("_"))
    scalars = tuple(name for name in DTYPES if name not in ("bool", "half", "single"))
    return {
        "numba": (*scalars, "cuda", "jit", "njit", "types", "prange"),
        "numba.cuda": (*_REGISTERS, "grid", "gridsize", "jit", *_CUDA_FUNCTIONS),
        "numpy": scalars,
        "course_lib.intrinsics": _COURSE_INTRINSICS,
    }.get(module, ())


def belongs_to_cuda(name: str) -> bool:
    """Whether only `cuda.` is missing before a name, as in `threadIdx.x`."""
    return name in names_of_module("numba.cuda")


def canonical_path(path: str) -> str:
    """One spelling for names that can be reached in several ways."""
    for home, name in (("numba_cuda_mlir.numba_cuda", "numba.cuda"), ("numba_cuda_mlir", "numba")):
        if path.startswith(home):
            path = name + path[len(home) :]
    if path.startswith("numba.core.decorators."):
        return "numba." + path.rpartition(".")[2]
    for inner in ("stubs", "intrinsics", "intrinsic_wrapper", "cache_hints"):
        prefix = f"numba.cuda.{inner}"
        if path.startswith(prefix + "."):
            return "numba.cuda" + path[len(prefix) :]
    if path.startswith("course_lib.intrinsics."):
        # The package offers all of its modules' functions.
        return "course_lib.intrinsics." + path.rpartition(".")[2]
    return path


def describe(value: object) -> object:
    """The emulator's view of a Python object that a kernel refers to.

    Numbers, tuples and NumPy arrays stand for themselves; modules, functions and types become
    a `Reference`. Anything else is returned unchanged, for the caller to judge.
    """
    if isinstance(value, enum.EnumMeta):
        return value
    if isinstance(value, python_types.ModuleType):
        return Reference(canonical_path(value.__name__))
    if isinstance(value, type) and issubclass(value, BaseException):
        return Reference(f"exception.{value.__name__}")
    kind = type(value)
    if kind.__module__.split(".")[0] in ("numba", "numba_cuda_mlir") and not hasattr(
        value, "py_func"
    ):
        # Numba's own types print as their names: numba.float32 is a Float named "float32".
        name = str(value)
        if name in DTYPES or name == "bool":
            return Reference(f"numba.{name}")
        if kind.__name__ == "Record" and isinstance(getattr(value, "dtype", None), np.dtype):
            return value.dtype  # type: ignore[attr-defined]
    module = getattr(value, "__module__", None) or ""
    if module == "_operator":  # where Python keeps the functions of operator
        module = "operator"
    called = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    root = module.split(".")[0]
    if called and (root in KNOWN_MODULES or root == "builtins") and callable_or_class(value):
        if root in ("numba", "numba_cuda_mlir") and ".cuda" in module:
            return Reference(canonical_path(f"numba.cuda.{called}"))
        return Reference(canonical_path(f"{module}.{called}"))
    return value


def callable_or_class(value: object) -> bool:
    """Whether `value` is a function, a type, or one of Numba's stubs for device functions."""
    return callable(value) or isinstance(value, type) or "stubs" in type(value).__module__


# --- Names fixed at the time when Numba compiles --------------------------------------------------
# `@cuda.jit("void(float64[:])")` compiles the function there and then. Whatever becomes of a
# global name afterwards, the function keeps the value that it had.


class _Names(ChainMap[str, Any]):
    """Names with fixed values, and the others as they are; `missing` had no value at the time."""

    missing: Mapping[str, Unusable] = MappingProxyType({})

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)  # a name that nothing defines is just not defined
        return self.missing.get(name, value)


def frozen(kernel: Kernel, known: dict[Kernel, Kernel] | None = None) -> Kernel:
    """The function with the values that names outside it have now, and so for all functions it
    calls.

    `known` are functions that are fixed already, or are about to be.
    """
    known = {} if known is None else known
    values: dict[str, Any] = {}
    names = _Names(values, kernel.namespace)  # type: ignore[arg-type]
    fixed = known[kernel] = replace(kernel, namespace=names)
    used = dict.fromkeys(_names_in(kernel))
    for name in used:
        with contextlib.suppress(KeyError):
            values[name] = _value_now(name, kernel, known)
    if kernel.name in used and isinstance(values.get(kernel.name, fixed), Kernel):
        values[kernel.name] = fixed  # it calls itself
    names.missing = {name: _too_late(name, kernel) for name in used.keys() - values.keys()}
    return fixed


def _names_in(kernel: Kernel) -> Iterator[str]:
    """The names that the function, its decorators and its signatures take from outside."""
    inside = {node.arg for node in ast.walk(kernel.tree) if isinstance(node, ast.arg)}
    trees = [kernel.tree, *([kernel.jit_call] if kernel.jit_call else [])]
    found = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)]
    inside |= {node.id for node in found if not isinstance(node.ctx, ast.Load)}
    yield from (node.id for node in found if node.id not in inside)


def _value_now(name: str, kernel: Kernel, known: dict[Kernel, Kernel]) -> Any:
    """What a name means now. Raises KeyError if it means nothing."""
    try:
        value = kernel.namespace[name]
    except KernelRejected as refused:
        return Unusable(refused.findings[0].message, refused.findings[0].code)
    if isinstance(value, OwnModule):
        used = {node.attr for node in ast.walk(kernel.tree) if _is_of(node, name)}
        return OwnModule(
            value.name,
            {attr: _fixed(value.names[attr], known) for attr in used if attr in value.names},
        )
    return _fixed(value, known)


def _too_late(name: str, kernel: Kernel) -> Unusable:
    reason = say(
        "{name} has no value yet where {kernel} is defined, and because of its signature Numba "
        "compiles it right there.",
        name=name,
        kernel=kernel.name,
    )
    return Unusable(reason, "compile-error", "Define it above, or leave the signature out.")


def _is_of(node: ast.AST, module: str) -> TypeGuard[ast.Attribute]:
    if not isinstance(node, ast.Attribute):
        return False
    return isinstance(node.value, ast.Name) and node.value.id == module


def _fixed(value: Any, known: dict[Kernel, Kernel]) -> Any:
    if isinstance(value, Kernel):
        return known[value] if value in known else frozen(value, known)
    return value.copy() if isinstance(value, np.ndarray) else value
