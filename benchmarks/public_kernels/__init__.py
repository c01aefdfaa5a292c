"""Thirty kernels of the kinds that public projects have, written by us after their shape."""

from __future__ import annotations

from public_kernels import elements, grids, rows, steps
from public_kernels.case import Case

CASES: dict[str, Case] = {**elements.CASES, **grids.CASES, **rows.CASES, **steps.CASES}
