"""The two compilers from Python to PTX, driven without a GPU: Numba's CUDA part, numba-cuda-mlir.

They read the same kernels, each with its own types. Both ask for the GPU that is there, although
they are told a compute capability: Numba where a kernel calls a device function, numba-cuda-mlir
always. While we compile, that question is answered with the compute capability of the report.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
import warnings
from collections.abc import Iterator
from importlib import metadata
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from course_lib.host import probe, successor
from course_lib.wording.errors import PIP_INSTALL, PlainError

GET_COMPILER = f"{PIP_INSTALL} 'numba-cuda[cu12]'"
GET_SUCCESSOR = f"{PIP_INSTALL} '{successor.NAME}[cu13]'"

# Options of @cuda.jit that change the machine code, and that compile_ptx takes, too.
CODE_OPTIONS = ("fastmath", "opt", "debug", "launch_bounds")

HOPPER = (9, 0)
INTRINSICS = "course_lib.intrinsics"


class CompilerMissing(PlainError):
    """This machine lacks the compiler; the message names the packages."""


class CompileFailed(PlainError):
    """The compiler refused the kernel, or what we were given is no kernel."""


class NumbaFrontEnd:
    """Numba with a CUDA part: numba-cuda, or its own."""

    name = "Numba"
    get = GET_COMPILER
    needs = "numba-cuda with its CUDA libraries"
    sigutils = "numba.core.sigutils"
    types = "numba.core.types"
    typeof = "numba"
    numpy_support = "numba.np.numpy_support"

    def load(self) -> ModuleType:
        """The module numba.cuda, with the libraries loaded that its compiler needs."""
        try:
            cuda = self.load_cuda()
            self.load_libraries()
        except Exception as problem:
            reason = (str(problem).strip() or repr(problem)).splitlines()[0]
            raise CompilerMissing(
                f"Compiling a kernel needs {self.needs} ({reason[:90]}): "
                f"{self.get}, then restart the notebook's kernel."
            ) from None
        return cuda

    def load_cuda(self) -> ModuleType:
        return probe.ThisMachine().load_compiler()

    def load_libraries(self) -> None:
        """Whatever a compilation would fail without."""
        importlib.import_module("numba.cuda.cudadrv.nvvm").NVVM()
        nvrtc = importlib.import_module("numba.cuda.cudadrv.nvrtc")
        if hasattr(nvrtc, "get_supported_ccs"):  # numba-cuda asks NVRTC which GPUs there are
            nvrtc.get_supported_ccs()

    def version(self, cuda: ModuleType) -> str:
        """Who compiles: "numba 0.68.1 with numba-cuda 0.30.4"."""
        part = "its own CUDA part"
        if "numba_cuda" in str(cuda.__file__):
            part = f"numba-cuda {metadata.version('numba-cuda')}"
        return f"numba {metadata.version('numba')} with {part}"

    def argument_types(self, signature: Any) -> tuple[Any, ...]:
        """Types from "void(float32[:, ::1], int64)", a tuple of types, or example arguments."""
        types = importlib.import_module(self.types)
        if isinstance(signature, str) or hasattr(signature, "return_type"):
            try:
                read = importlib.import_module(self.sigutils).normalize_signature
                arguments, returned = read(signature)
            except Exception as problem:
                raise CompileFailed(
                    f"Numba can't read the signature {signature!r}: {problem}"
                ) from None
            if returned not in (None, types.void):
                raise CompileFailed(
                    f"A kernel returns nothing, but {signature!r} names {returned}."
                )
            return tuple(arguments)
        if isinstance(signature, np.ndarray) or not isinstance(signature, tuple | list):
            raise CompileFailed(
                "A signature is text such as 'void(float32[:, ::1])', or a tuple with a type or "
                "an example for each argument."
            )
        return tuple(self._type_of(argument_type) for argument_type in signature)

    def _type_of(self, value: Any) -> Any:
        types = importlib.import_module(self.types)
        if isinstance(value, types.Type):
            return value
        if hasattr(value, "__cuda_array_interface__") or hasattr(value, "copy_to_host"):
            value = _like_on_host(value)
        if not isinstance(value, np.ndarray):
            try:
                return importlib.import_module(self.typeof).typeof(value)
            except ValueError:
                raise CompileFailed(
                    f"{self.name} knows no type for {value!r}. Text such as 'void(float32[::1])' "
                    "is read by Numba and by its successor alike."
                ) from None
        flags = value.flags
        layout: Any = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        element = importlib.import_module(self.numpy_support).from_dtype(value.dtype)
        return types.Array(element, value.ndim, layout)

    def described(self, array: np.ndarray, address: int) -> tuple[int, ...]:
        """An array as kernels take it: owner, parent, size, address, shape and strides."""
        return (0, 0, array.size, array.itemsize, address, *array.shape, *array.strides)

    def to_ptx(
        self,
        cuda: ModuleType,
        function: FunctionType,
        arguments: tuple[Any, ...],
        cc: tuple[int, int],
        options: dict[str, Any],
        alone: bool = True,
    ) -> str:
        """The PTX for a compute capability; `alone` if it need not serve newer GPUs, too."""
        taken = inspect.signature(cuda.compile_ptx).parameters
        given = {name: options[name] for name in CODE_OPTIONS if options.get(name) is not None}
        given = {name: value for name, value in given.items() if name in taken}
        # Line numbers change no instruction, and tell which line an instruction belongs to.
        given |= {"device": False, "lineinfo": not given.get("debug")}
        try:
            with self.device_of(cc), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of a source that can't be found, say
                return self.compiled(cuda, function, arguments, cc, given, alone)
        except PlainError:
            raise
        except Exception as problem:
            raise CompileFailed(
                f"{self.name}'s compiler refuses {function.__name__}: {_gist(problem)}"
            ) from problem

    def compiled(
        self,
        cuda: ModuleType,
        function: FunctionType,
        arguments: tuple[Any, ...],
        cc: tuple[int, int],
        given: dict[str, Any],
        alone: bool,
    ) -> str:
        if alone and cc >= HOPPER:
            with contextlib.suppress(TypeError, ValueError):  # before numba-cuda 0.30
                ptx, _ = cuda.compile_ptx(function, arguments, cc=(*cc, "a"), **given)
                return str(ptx)
        ptx, _ = cuda.compile_ptx(function, arguments, cc=cc, **given)
        return str(ptx)

    @contextlib.contextmanager
    def device_of(self, cc: tuple[int, int]) -> Iterator[None]:
        """Let the compiler believe that a GPU of this compute capability is at hand."""
        dispatcher: Any = importlib.import_module("numba.cuda.dispatcher")
        before = dispatcher.get_current_device
        dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=cc)
        try:
            yield
        finally:
            dispatcher.get_current_device = before


class SuccessorFrontEnd(NumbaFrontEnd):
    """numba-cuda-mlir, which needs no Numba."""

    name = successor.NAME
    get = GET_SUCCESSOR
    needs = f"{successor.NAME} with its CUDA libraries"
    sigutils = f"{successor.PARTS}.core.sigutils"
    types = f"{successor.PARTS}.types"
    typeof = f"{successor.PARTS}.typing.typeof"
    numpy_support = f"{successor.PARTS}.np.numpy_support"

    def load_cuda(self) -> ModuleType:
        return successor.load()

    def load_libraries(self) -> None:
        importlib.import_module(f"{successor.PARTS}.cudadrv.nvvm").NVVM()
        # Without nvJitLink, the linker would be the driver's.
        importlib.import_module("cuda.bindings.nvjitlink").version()

    def version(self, cuda: ModuleType) -> str:
        return successor.label()

    def described(self, array: np.ndarray, address: int) -> tuple[int, ...]:
        """MLIR's descriptor: two addresses, an offset, then shape and strides in elements."""
        strides = (stride // array.itemsize for stride in array.strides)
        return (address, address, 0, *array.shape, *strides)

    def compiled(
        self,
        cuda: ModuleType,
        function: FunctionType,
        arguments: tuple[Any, ...],
        cc: tuple[int, int],
        given: dict[str, Any],
        alone: bool,
    ) -> str:
        outside = inspect.getclosurevars(function)
        for name, value in {**outside.globals, **outside.nonlocals}.items():
            if _is_numbas_intrinsic(value):
                raise CompileFailed(
                    f"{function.__name__} calls {name}, which needs numba-cuda: where Numba is "
                    f"installed, {INTRINSICS} is made for it, and not for {successor.NAME}."
                )
        chip = f"sm_{cc[0]}{cc[1]}" + ("a" if alone and cc >= HOPPER else "")
        ptx, _ = cuda.compile_ptx(cuda.jit(chip=chip)(function), arguments, **given)
        return str(ptx)

    @contextlib.contextmanager
    def device_of(self, cc: tuple[int, int]) -> Iterator[None]:
        tools: Any = importlib.import_module(f"{successor.PACKAGE}.tools")
        # Private, and all there is: where it keeps what the driver once answered.
        if not hasattr(tools, "_cached_cc"):
            raise CompilerMissing(
                f"{successor.label()} asks the driver for its GPU in a way that is not known here: "
                f"for reports without one, {GET_COMPILER}."
            )
        before = tools._cached_cc
        tools._cached_cc = cc
        try:
            yield
        finally:
            tools._cached_cc = before


NUMBA, SUCCESSOR = NumbaFrontEnd(), SuccessorFrontEnd()


def front_end(kernel: Any = None) -> NumbaFrontEnd:
    """The compiler that a kernel was declared for; of a plain function, the one that is here."""
    if successor.made(kernel):
        return SUCCESSOR
    with contextlib.suppress(Exception):  # what is broken, its `load` says
        if not hasattr(kernel, "py_func") and successor.made(probe.ThisMachine().load_cuda()):
            return SUCCESSOR
    return NUMBA


def _is_numbas_intrinsic(value: Any) -> bool:
    if getattr(value, "__module__", None) != INTRINSICS or isinstance(value, FunctionType):
        return False
    return not successor.made(value)


def _like_on_host(array: Any) -> np.ndarray:
    """An array on the host with a device array's dtype and layout; no element is copied."""
    described = getattr(array, "__cuda_array_interface__", None) or {
        "shape": array.shape,
        "typestr": np.dtype(array.dtype).str,
    }
    shape, strides = described["shape"], described.get("strides")
    empty = np.empty(0, np.dtype(described["typestr"]))
    if strides is None:
        return np.broadcast_to(empty[:0], (0,) * len(shape)).copy()
    extent = sum(step * (size - 1) for step, size in zip(strides, shape, strict=True))
    buffer = np.empty(extent // empty.itemsize + 1, empty.dtype)
    return np.lib.stride_tricks.as_strided(buffer, shape, strides)


def _gist(problem: Exception) -> str:
    """The lines of Numba's long messages that say what is wrong and where."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in str(problem).splitlines()]
    passing = ("Failed in", "During:", "There are", "No match", "^", "-")
    telling = [line for line in lines if line and not line.startswith(passing)]
    return " ".join(telling[:3]) or type(problem).__name__
