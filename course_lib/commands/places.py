"""Where things stand in a checkout of the course."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
NOTEBOOKS = REPOSITORY / "notebooks"
FIRST_LESSON = NOTEBOOKS / "00_start_here.ipynb"
