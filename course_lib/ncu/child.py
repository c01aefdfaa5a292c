"""Launch one kernel once, from files: the program that Nsight Compute runs.

    python -m course_lib.ncu.child FOLDER

`FOLDER` has the kernel (kernel.py), its name and launch (launch.json) and its arguments
(arguments.npz); what the arrays hold afterwards goes to results.npz.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def write(
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
        each.copy_to_host() if hasattr(each, "copy_to_host") else np.asarray(each) for each in given
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
