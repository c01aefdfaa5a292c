"""Finds what a site needs to hold its own copy of Pyodide, so that it fetches nothing elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

from course_lib.building.notebook import BuildError
from course_lib.tab.pyodide import CORE, VERSION


def numpy_wheel(release: Path) -> Path:
    """NumPy's wheel in an unpacked release of Pyodide.

    Raises:
        BuildError: if the folder is no release, another one, or lacks a file that a tab needs.
    """
    missing = [name for name in CORE if not (release / name).is_file()]
    if missing:
        raise BuildError(f"{release} is no release of Pyodide: it lacks {', '.join(missing)}")
    if f'"{VERSION}"' not in (release / "pyodide.mjs").read_text(encoding="utf-8"):
        raise BuildError(f"{release} is not Pyodide {VERSION}, for which the live cells are made")
    lock = json.loads((release / "pyodide-lock.json").read_text(encoding="utf-8"))
    tag = "cp" + "".join(lock["info"]["python"].split(".")[:2])
    wheels = sorted(release.glob(f"numpy-*-{tag}-*_wasm32.whl"))
    if not wheels:
        raise BuildError(
            f"{release} lacks NumPy, a file numpy-…-{tag}-…_wasm32.whl: Pyodide's whole release "
            f"{VERSION} has it, and its core does not"
        )
    return wheels[-1]
