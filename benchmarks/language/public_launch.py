"""In a process of its own: one kernel of a public project, cut out and launched from its recipe.

`run` needs Numba's simulator (NUMBA_ENABLE_CUDASIM=1): the emulator and the simulator, on the same
arrays. `compile` needs numba-cuda's compiler, and no GPU. Either prints what it found as JSON.
"""

from __future__ import annotations

import copy
import importlib.util
import inspect
import json
import os
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from cut_out import Missing, Style, cut_out
from recipes import NoLaunch, Recipe, recipe_for

SECONDS_FOR_THE_SIMULATOR = 120


def module_of(root: Path, file: str, kernel: str, sha: str, recipe: Recipe, style: Style) -> Any:
    """The kernel, out of a module that holds nothing else of its project."""
    cut = cut_out(root, file, kernel, sha, set(recipe.around), style)
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as written:
        written.write(cut.text + "\n")
    spec = importlib.util.spec_from_file_location(f"cut_{Path(written.name).stem}", written.name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    vars(module).update(recipe.around)
    spec.loader.exec_module(module)
    return vars(module)[cut.kernel]


def on_the_emulator(kernel: Any, recipe: Recipe, arguments: list[Any]) -> dict[str, Any]:
    from course_lib.emulator import Budget, KernelRejected, emulate

    launch = (recipe.grid, recipe.block, 0, recipe.shared)
    try:
        profile = emulate(kernel, budget=Budget(steps=300_000))[launch](*arguments)
    except KernelRejected as refused:
        first = refused.findings[0]
        return {"emulator": first.code, "said": first.message, "line": first.line}
    except Exception:
        said = traceback.format_exc().splitlines()
        return {"emulator": "crashed", "said": " / ".join(said[-4:])}
    errors = [each for each in profile.findings if each.severity == "error"]
    said = " ".join(each.message for each in errors)
    return {"emulator": "ran", "findings": [each.code for each in errors], "said": said}


def on_the_simulator(kernel: Any, recipe: Recipe, arguments: list[Any]) -> str:
    """What the simulator says; a launch that hangs is left behind."""
    said = ["out of time"]

    def launch() -> None:
        try:
            kernel[recipe.grid, recipe.block, 0, recipe.shared](*arguments)
            said[0] = "ran"
        except Exception as error:
            said[0] = f"{type(error).__name__}: {error}"[:300]

    thread = threading.Thread(target=launch, daemon=True)
    thread.start()
    thread.join(SECONDS_FOR_THE_SIMULATOR)
    return said[0]


def close(left: Any, right: Any) -> bool:
    if isinstance(left, tuple):
        return all(map(close, left, right))
    if not isinstance(left, np.ndarray):
        return True
    if left.dtype.names:
        return all(close(left[name], right[name]) for name in left.dtype.names)
    if left.dtype.kind in "fc":
        few = 1e-4 if left.dtype in (np.float32, np.complex64) else 1e-9
        largest = np.abs(left[np.isfinite(left)]).max(initial=0.0)
        return bool(np.allclose(left, right, rtol=few, atol=few * largest, equal_nan=True))
    return bool(np.array_equal(left, right))


def run(root: Path, file: str, kernel: str, sha: str, recipe: Recipe) -> dict[str, Any]:
    from numba.cuda.simulator import kernelapi

    # The simulator has no libdevice; what the kernels here call of it is NumPy's.
    kernelapi.FakeCUDAModule.libdevice = SimpleNamespace(sincosf=lambda x: (np.sin(x), np.cos(x)))
    function = module_of(root, file, kernel, sha, recipe, Style.WRITTEN)
    simple = module_of(root, file, kernel, sha, recipe, Style.SIMULATOR)
    ours = recipe.arguments(function.fn)
    theirs, before = copy.deepcopy(ours), copy.deepcopy(ours)
    note = on_the_emulator(function, recipe, ours)
    note["simulator"] = on_the_simulator(simple, recipe, theirs)
    if note["emulator"] == "ran" and note["simulator"] == "ran":
        note["equal"] = all(map(close, ours, theirs))
        note["changed"] = not all(map(close, before, ours))
        names = function.fn.__code__.co_varnames
        wrong = [name for name, a, b in zip(names, ours, theirs, strict=False) if not close(a, b)]
        note["other values"] = wrong
    return note


def compiled(root: Path, file: str, kernel: str, sha: str, recipe: Recipe) -> dict[str, Any]:
    from numba import cuda, typeof, types
    from numba.cuda import dispatcher

    # Device functions ask for the GPU's architecture, where there is none.
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(8, 0))
    function = module_of(root, file, kernel, sha, recipe, Style.PLAIN)
    given = [typeof(each) for each in recipe.arguments(function)]
    fixed = function.__code__.co_argcount
    if function.__code__.co_flags & inspect.CO_VARARGS:
        given[fixed:] = [types.StarArgTuple.from_types(given[fixed:])]
    try:
        cuda.compile_ptx(function, tuple(given), cc=(8, 0))
    except Exception as error:
        return {"compiler": f"{type(error).__name__}: {error}"[:600]}
    return {"compiler": "compiled"}


def main(what: str, root: str, kernels: str) -> None:
    """Print what is found of each kernel, as a line of JSON; a line that lacks is a crash."""
    for each in json.loads(kernels):
        place = each["file"], each["kernel"], each["sha"]
        try:
            recipe = recipe_for(each["project"], each["file"], each["kernel"])
            note = {"run": run, "compile": compiled}[what](Path(root), *place, recipe)
        except (Missing, NoLaunch) as missing:
            note = {"missing": str(missing)}
        except Exception:
            note = {"trouble": traceback.format_exc()[-800:]}
        print("\n" + json.dumps({"sha": each["sha"]} | note), flush=True)
    os._exit(0)  # a thread of the simulator that hangs does not keep the process


if __name__ == "__main__":
    main(*sys.argv[1:])
