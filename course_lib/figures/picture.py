"""Hold a finished picture with its words, and show both in a notebook.

Where the words go, and why. There is a key for them, `alt` in the metadata of `image/png`, and it
is set here; but JupyterLab 4.6 and nbconvert's page template ignore it, so a screen reader would
meet a nameless image. An HTML output with an `<img alt>` of its own would carry them, but whether
its picture is shown depends on what each front end strips, and a lost picture is worse. So the
words are shown as words: a closed fold "In words" under the picture, which everyone can open, and
which needs nothing but plain HTML. `text/plain` is the same text, so that a terminal and nbval see
the same words every time.
"""

from __future__ import annotations

import base64
import html
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = 128


@dataclass(frozen=True, eq=False)
class Picture:
    """A matplotlib figure and the text that says the same in words."""

    figure: Figure
    alt: str

    def png(self) -> bytes:
        """The picture as PNG; the same figure always gives the same bytes.

        The colours are thinned to a palette: nobody sees it, and a lesson with a dozen pictures
        shrinks to a third.
        """
        # Imported late: a figure to play with can be shown where neither is installed.
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from PIL import Image

        canvas: Any = FigureCanvasAgg(self.figure)  # its methods have no types
        canvas.draw()
        full = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
        few = full.quantize(COLOURS, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        buffer = io.BytesIO()
        few.save(buffer, "PNG", optimize=True)
        return buffer.getvalue()

    def save(self, path: str | Path) -> Path:
        """Write the PNG to a file."""
        target = Path(path)
        target.write_bytes(self.png())
        return target

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The picture alone, for whatever asks for its representation."""
        png = base64.b64encode(self.png()).decode("ascii")
        return {"image/png": png, "text/plain": self.alt}, {"image/png": {"alt": self.alt}}

    def _ipython_display_(self) -> None:
        """What a cell shows that ends in a picture: the picture, and the fold with its words."""
        from IPython.display import display

        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
        display({"text/html": self.fold(), "text/plain": ""}, raw=True)

    def fold(self) -> str:
        """The words as a closed fold in HTML."""
        words = html.escape(self.alt)
        return f"<details><summary><small>In words</small></summary>{words}</details>"

    def __repr__(self) -> str:
        return self.alt


class ShowsItself(Protocol):
    """What a cell shows that ends in it: a picture, or a figure to play with."""

    def _ipython_display_(self) -> None: ...


def show(picture: ShowsItself | Figure, alt: str | None = None) -> None:
    """Show a picture where it is not the last line of a cell, or a figure with words of its own."""
    if not hasattr(picture, "_ipython_display_"):
        if not alt:
            raise ValueError("A figure needs words: figures.show(figure, alt='...').")
        picture = Picture(picture, alt)
    picture._ipython_display_()
