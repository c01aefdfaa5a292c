"""Draw the picture of an interactive figure as SVG whose parts have names.

Coordinates grow to the right and downwards; the picture scales to the width of the page. Colours
come from classes, never from values, so that light and dark themes both read well; player.css
lists them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby, product
from typing import Any

from course_lib.web import escape, read_beside

Value = str | int | float | bool | None
Changes = dict[str, dict[str, Any]]  # by the name of an element its new attributes
Box = tuple[float, float, float, float]  # left, top, width, height
PACKAGE = "course_lib.figures.interactive"

# What a state may change, beside "text", "class" and "hidden".
_CHANGEABLE = frozenset(
    "x y width height rx cx cy r x1 y1 x2 y2 d transform opacity text-anchor text class hidden "
    "aria-label".split()
)


@dataclass
class Element:
    """One part of the picture: a tag, its attributes, its words or its children."""

    tag: str
    attributes: dict[str, Value] = field(default_factory=dict)
    name: str | None = None
    label: str | None = None
    text: str | None = None
    children: list[Element] = field(default_factory=list)

    def markup(self, changes: Changes) -> str:
        """The element as SVG, with the changes that are meant for it and those inside it."""
        attributes = dict(self.attributes)
        text = self.text
        for key, value in changes.get(self.name or "", {}).items():
            if key == "text":
                text = str(value)
            else:
                attributes[key] = value
        if self.name is not None:
            attributes["data-name"] = self.name
        if self.label is not None:
            attributes.setdefault("aria-label", self.label)
        written = "".join(
            f' {key}="{escape(str(value))}"'
            for key, value in attributes.items()
            if value is not None and value != ""
        )
        inside = escape(text) if text is not None else ""
        if self.label is not None:
            inside = f"<title>{escape(self.label)}</title>" + inside
        inside += "".join(child.markup(changes) for child in self.children)
        return f"<{self.tag}{written}>{inside}</{self.tag}>"


class Scene:
    """A drawing surface; what gets a name can be changed by a layer."""

    def __init__(self, width: float = 720, height: float = 360) -> None:
        self.width, self.height = width, height
        self.elements: dict[str, Element] = {}
        self._root = Element("g")
        self._open = [self._root]

    def rect(
        self, x: float, y: float, w: float, h: float, css: str = "", name: str | None = None,
        label: str | None = None, rx: float = 0,
    ) -> None:  # fmt: skip
        """A rectangle from its upper left corner; `label` is what a pointer and a reader hear."""
        numbers: dict[str, Value] = {"x": x, "y": y, "width": w, "height": h}
        if rx:
            numbers["rx"] = rx
        self._add("rect", numbers, css, name, label)

    def circle(
        self, cx: float, cy: float, r: float, css: str = "", name: str | None = None
    ) -> None:
        """A disc around its centre."""
        self._add("circle", {"cx": cx, "cy": cy, "r": r}, css, name)

    def line(
        self, x1: float, y1: float, x2: float, y2: float, css: str = "", name: str | None = None
    ) -> None:
        """A straight line."""
        self._add("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2}, css, name)

    def path(
        self, d: str, css: str = "", name: str | None = None, label: str | None = None,
        opacity: float = 1,
    ) -> None:  # fmt: skip
        """Any outline, in SVG's path language ("M x y L x y …")."""
        thinned: dict[str, Value] = {"opacity": opacity} if opacity < 1 else {}
        self._add("path", {"d": d, **thinned}, css, name, label)

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """A straight arrow; its head is part of the path."""
        self._add("path", {"d": arrow_path(x1, y1, x2, y2)}, "arrow", None)

    def text(
        self, x: float, y: float, words: str, css: str = "", anchor: str = "start",
        name: str | None = None,
    ) -> None:  # fmt: skip
        """One line of words; y is its base line; anchor is start, middle or end."""
        attributes: dict[str, Value] = {"x": x, "y": y}
        if anchor != "start":
            attributes["text-anchor"] = anchor
        _one_line(words)
        self._add("text", attributes, css, name).text = words

    def lines(
        self, x: float, y: float, words: Iterable[str], css: str = "small", pitch: float = 19,
        anchor: str = "start",
    ) -> None:  # fmt: skip
        """Lines of words, one below the other."""
        for number, line in enumerate(words):
            self.text(x, y + pitch * number, line, css, anchor)

    def key(
        self, x: float, y: float, entries: Iterable[tuple[str, str]], *, across: bool = False
    ) -> tuple[float, float]:
        """Small squares and what they mean, one below the other or beside it; where it ends."""
        for css, words in entries:
            lines = words.split("\n")
            self.rect(x, y - 9, 17, 17, css)
            self.lines(x + 25, y + 4, lines, pitch=16)
            if across:
                x += 56 + 7.2 * max(map(len, lines))
            else:
                y += 28 + 12 * (len(lines) - 1)
        return x, y

    def cell(
        self, x: float, y: float, w: float, h: float, words: str, css: str = "cell",
        text_css: str = "small", name: str | None = None, label: str | None = None,
    ) -> None:  # fmt: skip
        """A rectangle with words in its middle, which are called as it is, after a t."""
        self.rect(x, y, w, h, css, name, label)
        text = None if name is None else f"t{name}"
        self.text(x + w / 2, y + h / 2 + 4.5, words, text_css, "middle", text)

    @contextmanager
    def group(self, name: str) -> Iterator[None]:
        """Parts that belong together: `with scene.group("warp0"): …`."""
        self._open.append(self._add("g", {}, "", name))
        try:
            yield
        finally:
            self._open.pop()

    def markup(self, changes: Changes) -> str:
        """Everything inside the <svg>, with these changes to the named elements."""
        return "\n".join(child.markup(changes) for child in self._root.children)

    def elements_drawn(self) -> Sequence[Element]:
        """The outermost parts, in the order in which they are drawn."""
        return self._root.children

    def all_elements(self) -> Iterator[Element]:
        """Every part, named or not."""
        waiting = list(self._root.children)
        while waiting:
            element = waiting.pop()
            waiting += element.children
            yield element

    def drawn(self, name: str, attribute: str) -> Value:
        """An attribute of a named element as the scene drew it; None where it drew none."""
        element = self.elements[name]
        return element.text if attribute == "text" else element.attributes.get(attribute)

    def _add(
        self, tag: str, attributes: dict[str, Value], css: str, name: str | None,
        label: str | None = None,
    ) -> Element:  # fmt: skip
        if css:
            attributes["class"] = css
        if name is not None and name in self.elements:
            raise ValueError(f"Two elements are called {name!r}.")
        tidy = {key: tidy_value(key, value) for key, value in attributes.items()}
        element = Element(tag, tidy, name, label)
        self._open[-1].children.append(element)
        if name is not None:
            self.elements[name] = element
        return element


@dataclass(frozen=True)
class Panel:
    """A scene in one of its states, or a part of it, with lines of words above."""

    scene: Scene
    changes: Changes
    words: Sequence[str] = ()  # the first in bold
    part: Box | None = None

    @property
    def box(self) -> Box:
        return self.part or (0, 0, self.scene.width, self.scene.height)


def tidy_value(attribute: str, value: Value) -> Value:
    """A value as the page shall hold it: short numbers, one line, known classes."""
    if isinstance(value, float) or (hasattr(value, "item") and not isinstance(value, str)):
        number = float(value)  # type: ignore[arg-type]
        if not math.isfinite(number):
            raise ValueError(f"{attribute} is {number}: a picture needs a finite number.")
        rounded = round(number, 2 if attribute == "opacity" else 1)
        return int(rounded) if rounded == int(rounded) else rounded
    if attribute == "text":
        _one_line(str(value))
        return str(value)
    if attribute == "class":
        unknown = set(str(value or "").split()) - known_classes()
        if unknown:
            raise ValueError(
                f"player.css does not know the class {min(unknown)!r}; it knows "
                f"{', '.join(sorted(known_classes()))}."
            )
    return value


def check_changeable(name: str, attribute: str) -> None:
    """A state may move, colour, word and hide what is drawn, and nothing else."""
    if attribute not in _CHANGEABLE:
        raise ValueError(
            f"{name!r}: a state can change {', '.join(sorted(_CHANGEABLE))}, not {attribute!r}."
        )


@cache
def known_classes() -> frozenset[str]:
    """The classes that player.css has rules for."""
    names = re.findall(r"\.([a-z][a-z0-9-]*)", read_beside(PACKAGE, "player.css"))
    return frozenset(name for name in names if not name.startswith("ml-"))


def arrow_path(x1: float, y1: float, x2: float, y2: float) -> str:
    """The path of an arrow, for `Scene.path` and for states that change "d"."""
    head = 7.0
    length = math.hypot(x2 - x1, y2 - y1) or 1.0
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    left = (x2 - head * ux - head * 0.5 * uy, y2 - head * uy + head * 0.5 * ux)
    right = (x2 - head * ux + head * 0.5 * uy, y2 - head * uy - head * 0.5 * ux)
    points = ((x1, y1), (x2, y2), left, (x2, y2), right)
    words = [f"{tidy_value('d', float(x))} {tidy_value('d', float(y))}" for x, y in points]
    return "M{} L{} M{} L{} L{}".format(*words)


def _one_line(words: str) -> None:
    if "\n" in words:
        raise ValueError(f"One line of text per element, not {words!r}.")


# --- Matrices of cells, and their outlines in SVG's path language ---------------------------------


Cell = tuple[int, int]  # row and column


@dataclass(frozen=True)
class Grid:
    """A matrix of cells: its upper left corner, its shape, and how large its cells are."""

    x: float
    y: float
    shape: Cell  # (rows, columns)
    # wide, high: of a cell, which is square unless its height is given
    wide: float
    high: float = 0.0
    prefix: str = ""  # what the names of its cells begin with

    def __post_init__(self) -> None:
        object.__setattr__(self, "high", self.high or self.wide)

    @property
    def right(self) -> float:
        return self.x + self.shape[1] * self.wide

    @property
    def bottom(self) -> float:
        return self.y + self.shape[0] * self.high

    def name(self, cell: Sequence[int]) -> str:
        return f"{self.prefix}{cell[0]}.{cell[1]}"

    def corner(self, row: float, column: float) -> tuple[float, float]:
        """The upper left corner of a cell."""
        return self.x + column * self.wide, self.y + row * self.high

    def draw(self, scene: Scene, words: Callable[[Cell], str], css: str = "") -> None:
        """Every cell with its words; `css` is of the words, whose name begins with a t."""
        for cell in product(range(self.shape[0]), range(self.shape[1])):
            box = (*self.corner(*cell), self.wide, self.high)
            scene.cell(*box, words(cell), "cell", f"small {css}".strip(), self.name(cell))

    def number(self, scene: Scene) -> None:
        """Small indices beside the rows and above the columns."""
        for row in range(self.shape[0]):
            x, y = self.corner(row + 0.5, 0)
            scene.text(x - 8, y + 4.5, str(row), "small muted", "end")
        for column in range(self.shape[1]):
            x, y = self.corner(0, column + 0.5)
            scene.text(x, y - 6, str(column), "small muted", "middle")

    def box(self, row: int, column: int, rows: int = 1, columns: int = 1) -> str:
        """The outline of a rectangle of cells, as a path."""
        (x, y), wide = self.corner(row, column), columns * self.wide
        return f"M{_tidy(x)} {_tidy(y)}h{_tidy(wide)}v{_tidy(rows * self.high)}h{_tidy(-wide)}z"

    def lattice(self) -> str:
        """The lines between the cells."""
        rows, columns = self.shape
        right, low = _tidy(self.wide * columns), _tidy(self.high * rows)
        tops = [self.corner(0, column) for column in range(1, columns)]
        sides = [self.corner(row, 0) for row in range(1, rows)]
        down = [f"M{_tidy(x)} {_tidy(y)}v{low}" for x, y in tops]
        across = [f"M{_tidy(x)} {_tidy(y)}h{right}" for x, y in sides]
        return "".join([*down, *across])

    def outline(self) -> str:
        return self.box(0, 0, *self.shape)

    def squares(self, cells: Iterable[tuple[int, ...]]) -> str:
        """Some of its cells; neighbours in a row are one rectangle."""
        known = sorted(set(cells))
        if known and fills_its_box(known):
            return self.border(known)
        # Along a run of neighbours, the column and the place in the list grow alike.
        runs = groupby(
            enumerate(known), lambda numbered: (numbered[1][0], numbered[1][1] - numbered[0])
        )
        parts = [[cell for _, cell in run] for _, run in runs]
        return "".join(self.box(part[0][0], part[0][1], 1, len(part)) for part in parts)

    def border(self, cells: Iterable[tuple[int, ...]]) -> str:
        """The outline of some of its cells: every edge with a cell on one side only."""
        inside = set(cells)
        if inside and fills_its_box(inside):
            (row, column), (low, right) = min(inside), max(inside)
            return self.box(row, column, low - row + 1, right - column + 1)
        parts = []
        across, down = f"h{_tidy(self.wide)}", f"v{_tidy(self.high)}"
        for row, column in sorted(inside):
            for beside, start, edge in (
                ((row - 1, column), (row, column), across),
                ((row + 1, column), (row + 1, column), across),
                ((row, column - 1), (row, column), down),
                ((row, column + 1), (row, column + 1), down),
            ):
                if beside not in inside:
                    x, y = self.corner(*start)
                    parts.append(f"M{_tidy(x)} {_tidy(y)}{edge}")
        return "".join(parts)


def painted(name: str, css: str, text_css: str = "small", **text: Value) -> Changes:
    """A cell in another colour, with its words, which `text=…` changes."""
    return {name: {"class": css}, f"t{name}": {"class": text_css, **text}}


def fills_its_box(cells: Collection[tuple[int, ...]]) -> bool:
    """Do the cells make a rectangle without holes?"""
    rows, columns = {row for row, _ in cells}, {column for _, column in cells}
    return len(cells) == (max(rows) - min(rows) + 1) * (max(columns) - min(columns) + 1)


def _tidy(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
