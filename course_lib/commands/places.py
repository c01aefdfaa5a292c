"""Where things stand in a checkout of the course."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# Where to write; course.py names another folder where this one cannot be written.
HOME = Path(os.environ.get("MATMUL_LADDER_HOME") or REPOSITORY).expanduser().absolute()
NOTEBOOKS = REPOSITORY / "notebooks"
FIRST_LESSON = NOTEBOOKS / "00_start_here.ipynb"
