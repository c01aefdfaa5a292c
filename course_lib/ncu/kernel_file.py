"""Write a kernel into a file with all that it uses, and launch it from there in another process.

A profiler runs a program, and a kernel in a notebook is none. So its text, the functions that it
calls, its constants and its imports go into one file, which another process can load.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import inspect
import json
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from course_lib.wording.errors import PlainError


class NotToBeWritten(PlainError):
    """A kernel uses something that cannot be written into a file; the message names it."""


def kernel_file(kernel: Any) -> str:
    """The text of a Python file that defines this kernel under its own name.

    Args:
        kernel: a `@cuda.jit` kernel or a plain function.

    Raises:
        NotToBeWritten: if its source cannot be found, or a name in it stands for something that
            is no number, type, module or function.
    """
    definitions: dict[str, str] = {}
    _add_function(kernel, definitions)
    return "import numpy\n" + "\n".join(definitions.values())


def _add_function(kernel: Any, definitions: dict[str, str]) -> None:
    """Its text, below all that the text needs; what stands there already is left alone."""
    function = getattr(kernel, "py_func", kernel)
    function = getattr(function, "written_as", function)  # @unrolled keeps what was written
    name = function.__name__
    if name in definitions:
        return
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        why = "cannot be found; define the kernel in a notebook cell or in a file."
        raise NotToBeWritten(f"The source text of {name} {why}") from None
    definitions[name] = ""  # a function that calls itself is not written twice
    outside = _names_outside(function)
    used = (node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))
    for global_name in sorted({*used} & outside.keys() - {name}):
        _add(global_name, outside[global_name], name, definitions)
    del definitions[name]  # so that it comes after what it uses
    definitions[name] = f"\n\n{text}"


def _names_outside(function: FunctionType) -> dict[str, Any]:
    """What the names outside a function stand for."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}


def _add(name: str, value: Any, user: str, definitions: dict[str, str]) -> None:
    """The definition of one name that a function uses."""
    if name in definitions or getattr(builtins, name, None) is value:
        return
    if hasattr(value, "py_func"):
        _add_function(value, definitions)
        own = value.py_func.__name__
        if own != name:
            definitions[name] = f"{name} = {own}"
    elif isinstance(value, ModuleType):
        definitions[name] = f"import {value.__name__} as {name}"
    elif (number := _as_written(value)) is not None:
        definitions[name] = f"{name} = {number}"
    elif place := _importable(value):
        definitions[name] = f"from {place[0]} import {place[1]} as {name}"
    else:
        what = f"{user} uses {name}, which is of type {type(value).__name__}"
        raise NotToBeWritten(f"{what}: it cannot be written into a file. Pass it in.")


def _as_written(value: Any) -> str | None:
    """A number or a tuple of numbers as Python text; None for anything else."""
    if isinstance(value, np.generic):
        return f"numpy.{type(value).__name__}({_as_written(value.item())})"
    if isinstance(value, float):
        return f"float('{value!r}')"  # infinity, too
    if isinstance(value, bool | int | str):
        return repr(value)
    if isinstance(value, tuple):
        parts = [_as_written(child) for child in value]
        return None if None in parts else f"({''.join(f'{part}, ' for part in parts)})"
    return None


def _importable(value: Any) -> tuple[str, str] | None:
    """The module and the name under which something can be imported: a type, an intrinsic."""
    name = getattr(value, "__name__", None) or getattr(value, "name", None)
    homes = ("numba", "numpy", "math", "course_lib.intrinsics", getattr(value, "__module__", None))
    for home in filter(None, homes):
        module = sys.modules.get(home)
        if isinstance(name, str) and home != "__main__" and getattr(module, name, None) is value:
            return home, name
    return None


# --- One launch, put down in a folder: the program that Nsight Compute runs -----------------------
#     python -m course_lib.ncu.kernel_file FOLDER
#
# `FOLDER` has the kernel (kernel.py), its name and launch (launch.json) and its arguments
# (arguments.npz); what the arrays hold afterwards goes to results.npz.


def write_launch(
    folder: Path, text: str, name: str, launch: Sequence[Any], arguments: Sequence[Any]
) -> None:
    """Put down what `launch_from` needs.

    Args:
        folder: an empty one.
        text: of a file that defines the kernel.
        name: the kernel's.
        launch: grid and block, and if need be the stream and the bytes of dynamic shared memory.
        arguments: NumPy arrays and numbers.
    """
    (folder / "kernel.py").write_text(text, encoding="utf-8")
    (folder / "launch.json").write_text(json.dumps({"kernel": name, "launch": list(launch)}))
    np.savez(folder / "arguments.npz", *arguments)


def launch_from(folder: Path) -> None:
    """Launch the kernel, wait for it, and write down what its arrays hold then."""
    from numba import cuda

    told = json.loads((folder / "launch.json").read_text())
    kernel = getattr(_loaded(folder / "kernel.py"), told["kernel"])
    if not hasattr(kernel, "py_func"):
        kernel = cuda.jit(kernel)
    with np.load(folder / "arguments.npz") as stored:
        arguments = [stored[f"arr_{place}"] for place in range(len(stored.files))]
    given = [cuda.to_device(argument) if argument.ndim else argument[()] for argument in arguments]
    launch = (tuple(size) if isinstance(size, list) else size for size in told["launch"])
    kernel[tuple(launch)](*given)
    cuda.synchronize()
    results = (
        array.copy_to_host() if hasattr(array, "copy_to_host") else np.asarray(array)
        for array in given
    )
    np.savez(folder / "results.npz", *results)


def _loaded(path: Path) -> Any:
    """The file as a module, with a source that can be found."""
    spec = importlib.util.spec_from_file_location("profiled", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["profiled"] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    launch_from(Path(sys.argv[1]))
