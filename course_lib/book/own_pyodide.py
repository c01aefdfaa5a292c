"""Copies Pyodide into the site, so that a browser fetches Python from nowhere else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from course_lib.building.notebook import BuildError

FOLDER = "pyodide"  # in the site
LOCK = "pyodide-lock.json"
CORE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", LOCK)


def copy(source: Path, site: Path, version: str) -> Path:
    """Copy what a tab needs of an unpacked release of Pyodide; returns NumPy's wheel in the site.

    Args:
        source: holds the files of `CORE` and a wheel of NumPy for the same Python.
        site: gets a folder `FOLDER`.
        version: the one release that the live cells are made for, such as "0.29.4".

    Raises:
        BuildError: if the folder is none of this release, or lacks a file.
    """
    missing = [name for name in CORE if not (source / name).is_file()]
    if missing:
        raise BuildError(f"{source} is no release of Pyodide: it lacks {', '.join(missing)}")
    if f'"{version}"' not in (source / "pyodide.mjs").read_text(encoding="utf-8"):
        raise BuildError(f"{source} is not Pyodide {version}, for which the live cells are made")
    python = json.loads((source / LOCK).read_text(encoding="utf-8"))["info"]["python"]
    tag = "cp" + "".join(python.split(".")[:2])
    wheels = sorted(source.glob(f"numpy-*-{tag}-*_wasm32.whl"))
    if not wheels:
        raise BuildError(
            f"{source} lacks NumPy for Pyodide, a file numpy-…-{tag}-…_wasm32.whl: it is part of "
            f"Pyodide's whole release {version}, and not of its core"
        )
    folder = site / FOLDER
    folder.mkdir()
    for each in (*(source / name for name in CORE), wheels[-1]):
        shutil.copyfile(each, folder / each.name)
    return folder / wheels[-1].name
