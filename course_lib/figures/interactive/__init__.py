"""Build figures that a reader can play with: states computed in Python, shown by a small player."""

from course_lib.figures.interactive.layers import Control, Layer, layers_over
from course_lib.figures.interactive.player import MAX_BYTES, Examples, Interactive
from course_lib.figures.interactive.scene import Changes, Grid, Scene, arrow_path, painted

__all__ = [
    "MAX_BYTES", "Changes", "Control", "Examples", "Grid", "Interactive", "Layer", "Scene",
    "arrow_path", "layers_over", "painted",
]  # fmt: skip
