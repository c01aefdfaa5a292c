"""Show a sentence in place of a figure where there is nothing to draw."""

from __future__ import annotations

import textwrap
from functools import partial

from course_lib.figures.interactive.layers import Layer
from course_lib.figures.interactive.player import Interactive
from course_lib.figures.interactive.scene import Scene
from course_lib.figures.picture import Picture


def note(title: str, sentence: str) -> Interactive:
    """A figure that says why there is nothing to play with, and what to do about it."""
    lines = textwrap.wrap(sentence, 92)
    scene = Scene(720, 16 + 20 * len(lines))
    for number, line in enumerate(lines):
        scene.text(8, 22 + 20 * number, line)
    words = Layer((), {(): sentence})
    return Interactive(title, scene, (), (), words, partial(_still, title, lines), sentence)


def _still(title: str, lines: list[str]) -> Picture:
    from course_lib.figures.explore.stills import lines_of_text  # late: it needs matplotlib

    return lines_of_text(title, lines)
