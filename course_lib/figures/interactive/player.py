"""Show a figure that a reader can play with: a still, and beside it self-contained HTML."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import Any

from course_lib.figures.interactive.layers import (
    DIGITS,
    Control,
    Layer,
    Table,
    table_of_patches,
    table_of_words,
)
from course_lib.figures.interactive.scene import PACKAGE, Box, Changes, Panel, Scene
from course_lib.figures.picture import Picture
from course_lib.web import escape, fragment, read_beside

MAX_BYTES = 300_000  # DESIGN §6; a notebook holds several, and so does a page of the book

_LETTERS_PER_LINE = 92  # of the words, in a notebook's column
_PATTERNS = ("hatch", "hatch-a", "hatch-b", "hatch-c", "hatch-trouble", "dots")


@dataclass(frozen=True)
class Examples:
    """What the still of a figure shows: one state, or several with their names."""

    # by name the positions of the controls; those that are not named stand where they start
    states: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: {"": {}})
    # what stands below the name, with words of the picture: "{total} ticks"; in the text, too
    told: str = ""
    part: Callable[[str], Box] | None = None  # of the scene, if not all of it; by its name
    across: int = 1  # how many stand beside each other
    key: str = ""  # what stands below the title
    note: str = ""  # and below the pictures; in the text, too
    scene: Scene | None = None  # with more in it than the one to play with


@dataclass(frozen=True, eq=False)
class Interactive:
    """A figure to play with; a cell that ends in one shows the still, then the figure."""

    title: str  # what stands above the controls
    scene: Scene  # the picture, whose named elements the layers change
    controls: Sequence[Control]  # what the reader can set
    # how the picture depends on the controls; no two change the same attribute
    layers: Sequence[Layer]
    # the state in words, one layer or several, whose sentences are joined
    words: Layer | Sequence[Layer]
    alt: str  # what the interactive picture shows, for those who can't see it
    # the picture that stands alone, where HTML is not shown: what it shows, or what draws it
    shows: Examples = Examples()
    draw_still: Callable[[], Picture] | None = None
    # {name of an element: (key of a control, position)}: clicking it sets the control
    clicks: Mapping[str, tuple[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len({control.key for control in self.controls}) < len(self.controls):
            raise ValueError("Two controls have the same key.")
        if sum(control.kind == "steps" for control in self.controls) > 1:
            raise ValueError("A figure has one control of steps at most.")
        self._check_clicks()
        self._check_that_layers_keep_apart()
        if self.size_bytes > MAX_BYTES:
            raise ValueError(
                f"{self.title!r} takes {self.size_bytes:,} bytes, more than {MAX_BYTES:,}: split "
                "its layers over fewer controls, or offer fewer values."
            )

    @cached_property
    def still(self) -> Picture:
        """The picture that stands alone."""
        # Late: it needs matplotlib, which a browser has not.
        from course_lib.figures.interactive.still import draw_still

        if self.draw_still is not None:
            return self.draw_still()
        shows, panels, told = self.shows, [], []
        for name, at in shows.states.items():
            state = self.state(**at)
            texts = {part: patch["text"] for part, patch in state.items() if "text" in patch}
            words = [line for line in (name, shows.told.format_map(texts)) if line]
            part = shows.part(name) if shows.part else None
            panels.append(Panel(shows.scene or self.scene, state, words, part))
            told.append(": ".join(words if shows.told else [*words, self.sentence(**at)]))
        said = "; ".join(told) + "." if shows.told else " ".join(told)
        alt = " ".join(dict.fromkeys(text for text in (self.alt, said, shows.note) if text))
        below = shows.note if shows.part else self.sentence(**at)
        return draw_still(
            self.title, panels, alt, across=shows.across, subtitle=shows.key, below=below
        )

    @property
    def size_bytes(self) -> int:
        """How much the HTML adds to a notebook."""
        return len(self.html().encode("utf-8"))

    def state(self, **positions: int) -> Changes:
        """What the layers set at these positions: {name: {attribute: value}}; None = not set."""
        at = self._positions(positions)
        state: Changes = {}
        for table in self._tables:
            row = table.row(at)
            for column in table.columns:
                state.setdefault(column.name, {})[column.attribute] = column.values[row]
        return state

    def sentence(self, **positions: int) -> str:
        """What stands under the picture at these positions."""
        at = self._positions(positions)
        parts = (table.columns[0].values[table.row(at)] for table in self._word_tables)
        return " ".join(str(part) for part in parts if part)

    def html(self) -> str:
        """The figure as one piece of HTML, which needs no kernel and no network."""
        return self._html

    def save(self, path: str | Path) -> Path:
        """Write a page that shows the figure."""
        target = Path(path)
        head = f'<!doctype html>\n<meta charset="utf-8">\n<title>{escape(self.title)}</title>\n'
        target.write_text(head + self.html() + "\n", encoding="utf-8")
        return target

    def __repr__(self) -> str:
        names = "; ".join(control.label for control in self.controls if control.is_free)
        return f'Interactive figure "{self.title}". Controls: {names}.'

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/html": self.html(), "text/plain": repr(self)}

    def _ipython_display_(self) -> None:
        from IPython.display import display

        self.still._ipython_display_()
        display(self._repr_mimebundle_(), raw=True)

    # --- how it is put together -------------------------------------------------------------------

    @cached_property
    def _by_key(self) -> dict[str, Control]:
        return {control.key: control for control in self.controls}

    @cached_property
    def _tables(self) -> tuple[Table, ...]:
        return tuple(table_of_patches(layer, self._by_key, self.scene) for layer in self.layers)

    @cached_property
    def _word_tables(self) -> tuple[Table, ...]:
        words = (self.words,) if isinstance(self.words, Layer) else self.words
        return tuple(table_of_words(layer, self._by_key, at) for at, layer in enumerate(words))

    @cached_property
    def _html(self) -> str:
        controls = "\n".join(control.html() for control in self.controls)
        body = (
            f'<div class="ml-title">{escape(self.title)}</div>\n'
            f'<div class="ml-controls" hidden>\n{controls}\n</div>\n'
            f'<div class="ml-picture">{self._svg()}</div>\n'
            f'<p class="ml-words" aria-live="polite" style="--lines:{self._lines_of_words()}">'
            f"{escape(self.sentence())}</p>"
        )
        css = re.sub(r"/\*.*?\*/\n?", "", read_beside(PACKAGE, "player.css"), flags=re.DOTALL)
        return fragment("figure", css, body, read_beside(PACKAGE, "player.js"), self._data())

    def _lines_of_words(self) -> int:
        """Room for the longest sentences, so that the page does not jump from state to state."""
        longest = (max(len(str(value)) for value in table.columns[0].values) + 1
                   for table in self._word_tables)  # fmt: skip
        return max(2, ceil(sum(longest) / _LETTERS_PER_LINE))

    def _svg(self) -> str:
        width, height = self.scene.width, self.scene.height
        inside = self.scene.markup(self.state())
        # An id holds for a whole page, so it comes from what is drawn; player.js counts copies.
        own = f"ml-{sha256(inside.encode()).hexdigest()[:8]}"
        used = [pattern for pattern in _PATTERNS if pattern in self._classes_used()]
        patterns = "".join(
            f'<pattern id="{own}-{name}" data-pattern="{name}" width="8" height="8" '
            f'patternUnits="userSpaceOnUse">{_PATTERN_INSIDE[name == "dots"]}</pattern>'
            for name in used
        )
        style = ";".join(f"--{name}:url(#{own}-{name})" for name in used)
        role = "group" if self.clicks else "img"
        return (
            f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="{role}" '
            f'aria-label="{escape(self.alt)}" style="{style}">'
            f"<defs>{patterns}</defs>\n{inside}\n</svg>"
        )

    def _classes_used(self) -> set[str]:
        drawn = {str(element.attributes.get("class", "")) for element in self.scene.all_elements()}
        for table in self._tables:
            for column in table.columns:
                if column.attribute == "class":
                    drawn |= {str(value or "") for value in column.values}
        return {one for classes in drawn for one in classes.split()}

    def _data(self) -> dict[str, Any]:
        place = {control.key: at for at, control in enumerate(self.controls)}

        def as_json(table: Table) -> dict[str, Any]:
            return {"controls": [place[key] for key in table.controls], "columns": table.packed()}

        return {
            "digits": DIGITS,
            "controls": [
                {"label": control.label, "values": control.values, "start": control.start}
                for control in self.controls
            ],
            "layers": [as_json(table.changing()) for table in self._tables],
            "words": [as_json(table) for table in self._word_tables],
            "clicks": [[name, place[key], at] for name, (key, at) in self.clicks.items()],
        }

    def _positions(self, given: Mapping[str, int]) -> dict[str, int]:
        positions = {control.key: control.start for control in self.controls}
        for key, at in given.items():
            if key not in positions:
                raise ValueError(f"{key!r} is no control; there are {', '.join(positions)}.")
            if not 0 <= at < len(self._by_key[key].values):
                raise ValueError(f"{key!r} has no position {at}.")
            positions[key] = at
        return positions

    def _check_clicks(self) -> None:
        for name, (key, at) in self.clicks.items():
            if name not in self.scene.elements:
                raise ValueError(f"{name!r} is to be clicked, but the scene has no such element.")
            if key not in self._by_key or not 0 <= at < len(self._by_key[key].values):
                raise ValueError(f"A click on {name!r} sets {key!r} to {at}, which does not exist.")

    def _check_that_layers_keep_apart(self) -> None:
        seen: set[tuple[str, str]] = set()
        for table in self._tables:
            own = {(column.name, column.attribute) for column in table.columns}
            if own & seen:
                name, attribute = min(own & seen)
                raise ValueError(f"Two layers change {attribute!r} of {name!r}.")
            seen |= own


_PATTERN_INSIDE = (
    '<rect class="ml-ground" width="8" height="8"/><path d="M-2 2L2 -2M0 8L8 0M6 10L10 6"/>',
    '<rect class="ml-ground" width="8" height="8"/><circle cx="4" cy="4" r="1.6"/>',
)
