"""A catalogue of races and broken barriers, each with its repaired twin, by families."""

import importlib

from hazards.hazard import Hazard, faults_of, faults_of_twin

FAMILIES = (
    "barriers", "divergence", "buffers", "warps", "reductions", "tiles", "indirect", "blocks",
    "atomics",
)  # fmt: skip

CATALOGUE: dict[str, tuple[Hazard, ...]] = {
    family: importlib.import_module(f"hazards.{family}").HAZARDS for family in FAMILIES
}

__all__ = ["CATALOGUE", "Hazard", "faults_of", "faults_of_twin"]
