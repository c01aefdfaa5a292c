"""How public projects launch their kernels: `recipe.py` says what a recipe is."""

from __future__ import annotations

import importlib
from pathlib import Path

from recipes.recipe import Recipe

# Which table holds a project's recipes, where it has no table of its name.
TABLES = {
    "xarray-spatial": "xarray_spatial", "nemo_toolkit": "rnnt", "warprnnt_numba": "rnnt",
    "speechbrain": "rnnt", "stumpy": "series", "pysdtw": "series", "your": "series",
    "sgkit": "series", "pylops": "seismics", "pyproximal": "seismics", "abtem": "microscopy",
    "pyxem": "microscopy", "skopi": "microscopy", "mmdet3d": "microscopy",
}  # fmt: skip

__all__ = ["NoLaunch", "Recipe", "recipe_for"]


class NoLaunch(Exception):
    """Why a project never launches what is decorated as a kernel."""


def recipe_for(project: str, file: str, kernel: str) -> Recipe:
    """One kernel's recipe: that of its file's name and its own, or that of its own name.

    Raises `NoLaunch` for what is no launch of its own, and `StopIteration` when there is none.
    """
    module = "repositories" if "/" in project else TABLES.get(project, project)
    table = importlib.import_module(f"recipes.{module}")
    name = kernel.split(".")[-1]
    keys = (f"{Path(file).stem}::{kernel}", f"{Path(file).stem}::{name}", name)
    if name in getattr(table, "NO_LAUNCH", ()):
        raise NoLaunch(table.NO_LAUNCH[name])
    found = next(table.LAUNCHES[key] for key in keys if key in table.LAUNCHES)
    names = table.NAMES | found.names
    return Recipe(found.grid, found.block, names, table.AROUND | found.around, found.shared)
