"""Figures to play with that show one small run of a kernel, moment by moment.

The story, one file a step: `kernels` chooses what is run and in which size, the emulator films it;
`walk` and `hazard` read out of the film what a figure tells; `stepping`, `ownership` and `race` are
the three figures, each with its scene.
"""

from course_lib.figures.watch.kernels import NothingToDraw

__all__ = ["NothingToDraw"]
