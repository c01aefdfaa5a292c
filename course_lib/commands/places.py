"""Where things stand in a checkout of the course."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
HOME_SWITCH = "MATMUL_LADDER_HOME"  # where to write; course.py sets it where this cannot be written
HOME = Path(os.environ.get(HOME_SWITCH) or REPOSITORY).expanduser().absolute()
NOTEBOOKS = REPOSITORY / "notebooks"
FIRST_LESSON = NOTEBOOKS / "00_start_here.ipynb"
