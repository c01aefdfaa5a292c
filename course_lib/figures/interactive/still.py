"""Draw states of a scene as one picture that stands alone: what SVG and player.css say, on a card.

A unit of a scene is a pixel of a page, 96 of them to the inch, where the picture is as wide as the
card; a smaller one leaves out the words that nobody could read.
"""

import re
import textwrap
from collections.abc import Iterable, Sequence
from functools import cache
from math import atan2, degrees, hypot
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Affine2D, Bbox, Transform, TransformedBbox

from course_lib.figures import style
from course_lib.figures.interactive.scene import Changes, Element, Panel, Scene
from course_lib.figures.picture import Picture
from course_lib.web import read_beside

_MARGIN, _GAP, _LINE = 0.08, 0.2, 0.19  # in inches; a line of words
_LETTER, _LARGE_LETTER, _NARROWEST = 0.07, 0.108, 4.0
_PER_INCH = 96
_SMALLEST_WORD, _SMALLEST_NUMBER = 8.6, 5.4  # points, before the number is made larger
_SIZES = {"tiny": 9, "small": 12, "large": 16, "huge": 24}


def draw_scene(scene: Scene, title: str, alt: str, subtitle: str = "", below: str = "") -> Picture:
    """A scene as it is drawn at first."""
    return draw_still(title, [Panel(scene, {})], alt, subtitle=subtitle, below=below)


@style.drawn
def draw_still(
    title: str, panels: Sequence[Panel], alt: str, *, across: int = 1, below: str = "",
    subtitle: str = "",
) -> Picture:  # fmt: skip
    """Panels in rows of so many, each as wide as the others; `below` is what stands under them.

    The card is as wide as they and their words need.
    """
    above = subtitle.split("\n") if subtitle else []
    natural = across * max(panel.box[2] / _PER_INCH for panel in panels)
    letters = max(map(len, (*above, below, *(line for panel in panels for line in panel.words))))
    least = max(natural, _LETTER * letters, _LARGE_LETTER * len(title), _NARROWEST)
    whole = min(least, style.WIDTH - 2 * _MARGIN)
    wide = (whole - _GAP * (across - 1)) / across
    rows = [panels[first : first + across] for first in range(0, len(panels), across)]
    heights = [max(_height(panel, wide) for panel in row) + 0.1 for row in rows]
    top = 0.44 + 0.18 * len(above)
    lines = textwrap.wrap(below, int((whole - 0.16) / _LETTER))
    height = top + sum(heights) + _LINE * len(lines) + 0.1
    figure = style.card(height, title, subtitle, whole + 2 * _MARGIN)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, whole + 2 * _MARGIN)
    axes.set_ylim(height, 0)
    for row, height in zip(rows, heights, strict=True):
        for number, panel in enumerate(row):
            _draw_panel(axes, (_MARGIN + number * (wide + _GAP), top), panel, wide)
        top += height
    for number, line in enumerate(lines):
        _write(axes, (0.16, top + _LINE * (number + 0.5)), line)
    return Picture(figure, alt)


def _write(axes: Axes, place: tuple[float, float], words: str, **looks: Any) -> None:
    axes.text(*place, words, va="center", fontsize=style.SMALL, parse_math=False, **looks)


def _unit(panel: Panel, wide: float) -> float:
    return min(1 / _PER_INCH, wide / panel.box[2])


def _height(panel: Panel, wide: float) -> float:
    return panel.box[3] * _unit(panel, wide) + _LINE * len(panel.words)


def _draw_panel(axes: Axes, corner: tuple[float, float], panel: Panel, wide: float) -> None:
    left, top = corner
    for number, words in enumerate(panel.words):
        looks = {"color": style.VERMILION} if "⚠" in words else {}
        weight = "normal" if number else "bold"
        _write(axes, (left + 0.06, top + _LINE * 0.5), words, fontweight=weight, **looks)
        top += _LINE
    x, y, _, height = panel.box
    unit = _unit(panel, wide)
    place = Affine2D().translate(-x, -y).scale(unit).translate(left, top)
    frame = TransformedBbox(Bbox.from_bounds(left, top, wide, unit * height), axes.transData)
    painter = _Painter(axes, panel.changes, frame)
    for element in panel.scene.elements_drawn():
        painter.paint(element, place)


class _Painter:
    """Draws elements one over the other, within a frame of the card."""

    def __init__(self, axes: Axes, changes: Changes, frame: TransformedBbox) -> None:
        self._axes, self._changes, self._frame = axes, changes, frame
        self._order = 1.0

    def paint(self, element: Element, place: Transform) -> None:
        """An element and what it holds; `place` leads from its units to the inches of the card."""
        text, found = element.text, dict(element.attributes)
        for key, value in self._changes.get(element.name or "", {}).items():
            if key == "text":
                text = str(value)
            else:
                found[key] = value
        if found.get("display") == "none" or found.get("hidden"):
            return
        self._order += 0.001
        place = _moved(str(found.get("transform") or "")) + place
        classes = str(found.get("class") or "").split()
        if element.tag == "g":
            for child in element.children:
                self.paint(child, place)
        elif element.tag == "text" and text:
            self._write(text, found, classes, place)
        elif element.tag != "text":
            shape = _shape(element.tag, found)
            shape.set(gid=element.name, label=element.name, alpha=found.get("opacity"))
            self._draw(shape, classes, place, element.tag == "line")

    def _draw(self, shape: Any, classes: list[str], place: Transform, is_line: bool) -> None:
        looks = _looks(classes, is_line)
        width = looks.pop("width") * self._points(place)
        if looks["linestyle"] != "solid":
            dash = looks["linestyle"]
            looks["linestyle"] = (0, tuple(length * self._points(place) / width for length in dash))
        shape.set(**looks, linewidth=width, zorder=self._order)
        shape.set_transform(place + self._axes.transData)
        self._axes.add_patch(shape)
        shape.set_clip_box(self._frame)

    def _points(self, place: Transform) -> float:
        return 72 * hypot(*place.get_matrix()[:2, 0])

    def _write(self, words: str, found: Any, classes: list[str], place: Transform) -> None:
        size = next((_SIZES[css] for css in classes if css in _SIZES), 13) * self._points(place)
        is_number = re.fullmatch(r"-?[\d.]+", words)
        if size < (_SMALLEST_NUMBER if is_number else _SMALLEST_WORD):
            return
        x, y = place.transform((found["x"], found["y"]))
        anchor = {"middle": "center", "end": "right"}.get(str(found.get("text-anchor")), "left")
        (a, _, _), (b, _, _), _ = place.get_matrix()
        written = self._axes.text(
            x, y, words, ha=anchor, va="baseline", parse_math=False, color=_ink(classes),
            fontsize=max(size, 6.5 if is_number else style.SMALL), rotation=-degrees(atan2(b, a)),
            rotation_mode="anchor", fontfamily=style.MONO if "mono" in classes else None,
            fontweight="bold" if {"bold", "lit", "trouble", *_ON} & {*classes} else "normal",
            alpha=0.35 if "dim" in classes else 1, zorder=self._order,
        )  # fmt: skip
        if "halo" in classes:
            written.set_path_effects([withStroke(linewidth=3, foreground=style.PAPER)])
        if not self._frame.padded(1).contains(*self._axes.transData.transform((x, y))):
            written.remove()


# --- SVG ------------------------------------------------------------------------------------------


def _moved(transform: str) -> Affine2D:
    """ "translate(3 4) scale(2) rotate(30)"; the last of them comes first."""
    moved = Affine2D()
    for what, given in reversed(re.findall(r"(\w+)\(([^)]*)\)", transform)):
        numbers = [float(number) for number in given.split()]
        if what == "translate":
            moved.translate(numbers[0], (*numbers, 0.0)[1])
        elif what == "scale":
            moved.scale(numbers[0])
        else:
            moved.rotate_deg(numbers[0])
    return moved


def _shape(tag: str, found: Any) -> Any:
    if tag == "circle":
        return Circle((found["cx"], found["cy"]), found["r"])
    if tag == "line":
        ends = [(found["x1"], found["y1"]), (found["x2"], found["y2"])]
        return PathPatch(Path(ends, [Path.MOVETO, Path.LINETO]))
    if tag == "path":
        return PathPatch(_outline(str(found.get("d") or "M0 0")))
    corner, wide, high = (found["x"], found["y"]), found["width"], found["height"]
    if found.get("rx"):
        round_style = f"round,pad=0,rounding_size={found['rx']}"
        return FancyBboxPatch(corner, wide, high, boxstyle=round_style)
    return Rectangle(corner, wide, high)


def _outline(d: str) -> Path:
    """A path of the commands that scenes use: M, L, H, V and z, and small ones from here on."""
    points: list[tuple[float, float]] = []
    codes: list[Any] = []
    x = y = 0.0
    for command, given in re.findall(r"([MLHVlhvz])([^MLHVlhvz]*)", d):
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", given)]
        if command == "z":
            points.append((x, y))
            codes.append(Path.CLOSEPOLY)
            continue
        from_x, from_y = (x, y) if command.islower() else (0.0, 0.0)
        if command in "Hh":
            x = from_x + numbers[0]
        elif command in "Vv":
            y = from_y + numbers[0]
        else:
            x, y = from_x + numbers[0], from_y + numbers[1]
        points.append((x, y))
        codes.append(Path.MOVETO if command == "M" else Path.LINETO)
    return Path(points, codes)


# --- player.css -----------------------------------------------------------------------------------


_NAMED = ("a", "b", "c", "d", "trouble", "ink")
_ON = {"on-a": "paper", "on-d": "paper", "on-b": "ink", "on-c": "ink", "on-trouble": "ink"}
_STROKED = ("outline", "arrow", "curve", "lattice", "stroke")
_WIDTHS = {"lit": 2.5, "outline": 2.5, "arrow": 1.8, "curve": 2.5, "lattice": 0.6, "thick": 3,
           "thin": 1}  # fmt: skip


@cache
def _colours() -> dict[str, str]:
    """The colours of the light theme, by their names."""
    theme = read_beside("course_lib.web", "theme.css")
    return dict(re.findall(r"--ml-([\w-]+): light-dark\((#\w+)", theme))


def _ink(classes: Iterable[str]) -> str:
    """The colour of words."""
    colours, found = _colours(), "ink"
    for css in classes:
        if css in _ON:
            found = _ON[css]
        elif css == "muted" or css in _NAMED:
            found = css if css in ("muted", "ink") else f"{css}-ink"
    return "#1b1f24" if found == "ink" else colours[found]


def _looks(classes: Sequence[str], is_line: bool) -> dict[str, Any]:
    """How a shape is filled and edged."""
    colours = _colours()
    face: str | tuple[float, float, float] = colours["paper"]
    edge, hatch = colours["muted"], None
    is_stroked = is_line or any(css in _STROKED for css in classes)
    for css in classes:
        name, _, form = css.partition("-")
        if css in ("cell", "wash", "faint", "lattice"):
            edge = colours["line"]
            face = colours["wash"] if css == "wash" else face
        elif name in ("hatch", "dots"):
            face, hatch = colours["wash"], "////" if name == "hatch" else "...."
            edge = colours[form or "muted"]
        elif form == "soft":
            face, edge = style.tint(colours[name], 0.25), colours[name]
        elif css in ("lit", "outline"):
            face, edge = colours["lit"], colours["ink"]
        elif css in _NAMED and is_stroked:
            edge = colours[css]
        elif css in _NAMED:
            face = colours[css]
    width = [1.0, *(_WIDTHS[css] for css in classes if css in _WIDTHS)][-1]
    dash = (6, 4) if "dashed" in classes else (2, 4) if "dotted" in classes else "solid"
    return {
        "facecolor": "none" if is_stroked else face, "edgecolor": edge, "hatch": hatch,
        "width": 0.0 if "bare" in classes else width, "linestyle": dash,
        **({"alpha": 0.35} if "dim" in classes else {}),
    }  # fmt: skip
