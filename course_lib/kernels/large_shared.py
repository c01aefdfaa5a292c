"""More than 48 KB of shared memory for a block: a permission that a kernel needs before its launch.

CUDA C++ has `cudaFuncSetAttribute` for it. Numba has no name for it yet, but knows the compiled
function, so the driver can be asked directly. Without it the launch fails with "invalid argument".
"""

from __future__ import annotations

from typing import Any

from course_lib.host import successor
from course_lib.wording.errors import PlainError

WITHOUT_ASKING = 48 * 1024  # the CUDA Programming Guide's limit for kernels that don't ask


def allow(kernel: Any, arguments: tuple[Any, ...], nbytes: int) -> None:
    """Let a @cuda.jit kernel be launched with `nbytes` of dynamic shared memory on this GPU.

    Compiles the kernel for these arguments if need be. Does nothing for up to 48 KB.

    Raises:
        RuntimeError: if the driver refuses, as it does for more than the GPU has.
    """
    if nbytes <= WITHOUT_ASKING:
        return
    error = set_attribute(kernel, arguments, "MAX_DYNAMIC_SHARED_SIZE_BYTES", nbytes)
    if error:
        raise RuntimeError(f"No block gets {nbytes:,} bytes of shared memory here: {error}.")


def set_attribute(kernel: Any, arguments: tuple[Any, ...], name: str, value: int) -> str:
    """Set one of the driver's attributes of a compiled kernel (CU_FUNC_ATTRIBUTE_…).

    Compiles the kernel for these arguments if need be. Returns the driver's name for the error, ""
    if there was none.

    Raises:
        PlainError: for a kernel of numba-cuda-mlir.
    """
    if successor.made(kernel):
        raise PlainError(
            f"{kernel.py_func.__name__} needs numba-cuda to be launched: with {successor.NAME} the "
            "course does not set attributes of a compiled kernel."
        )
    from cuda.bindings import driver

    compiled = kernel.compile(tuple(kernel.typeof_pyval(argument) for argument in arguments))
    function = compiled._codelibrary.get_cufunc()
    attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name}")
    handle = int(getattr(function.handle, "value", function.handle))
    if hasattr(function, "kernel"):  # numba-cuda from 0.30 on: a kernel, not yet bound to a device
        device = driver.CUdevice(function.device.id)
        (error,) = driver.cuKernelSetAttribute(attribute, value, driver.CUkernel(handle), device)
    else:
        (error,) = driver.cuFuncSetAttribute(driver.CUfunction(handle), attribute, value)
    return "" if error == driver.CUresult.CUDA_SUCCESS else str(error.name)
