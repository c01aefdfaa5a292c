"""Controls of an interactive figure, and the tables of states that the player looks up."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, get_args

from course_lib.figures.interactive.scene import Scene, Value, check_changeable, tidy_value
from course_lib.web import escape

ControlKind = Literal["slider", "choice", "steps"]


@dataclass(frozen=True)
class Control:
    """Something that a reader sets: a slider, a choice, or steps to play through."""

    key: str  # how layers and clicks call it
    label: str  # how the reader knows it
    values: Sequence[str]  # what is shown for each position
    start: int = 0  # the position at first
    # "slider", "choice" (a list), or "steps" (a slider with back, play and step)
    kind: ControlKind = "slider"

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(str(value) for value in self.values))
        if self.kind not in get_args(ControlKind):
            raise ValueError(f"A control is a slider, a choice or steps, not {self.kind!r}.")
        if not self.values:
            raise ValueError(f"{self.key!r} has no values.")
        if not 0 <= self.start < len(self.values):
            raise ValueError(
                f"{self.key!r} starts at {self.start}, but has positions 0 to "
                f"{len(self.values) - 1}."
            )

    @property
    def is_free(self) -> bool:
        """Is there anything to set?"""
        return len(self.values) > 1

    def html(self) -> str:
        """The control as native HTML elements, which bring their keyboard with them."""
        return self._list() if self.kind == "choice" else self._slider()

    def _list(self) -> str:
        options = "".join(
            f"<option{' selected' if at == self.start else ''}>{escape(value)}</option>"
            for at, value in enumerate(self.values)
        )
        return (
            f'<label class="ml-control"{"" if self.is_free else " hidden"}>'
            f'<span class="ml-name">{escape(self.label)}</span>'
            f'<select autocomplete="off">{options}</select></label>'
        )

    def _slider(self) -> str:
        label, shown = escape(self.label), escape(self.values[self.start])
        slider = (
            f'<label class="ml-control ml-slider"><span class="ml-name">{label}</span>'
            f'<input type="range" min="0" max="{len(self.values) - 1}" step="1" '
            f'value="{self.start}" autocomplete="off" aria-label="{label}" '
            f'aria-valuetext="{shown}">'
            f'<span class="ml-value" aria-hidden="true">{shown}</span></label>'
        )
        return slider + (_BUTTONS if self.kind == "steps" else "")


_BUTTONS = (
    '<span class="ml-buttons">'
    '<button type="button" class="ml-back" aria-label="one step back">◀ back</button>'
    '<button type="button" class="ml-play" aria-pressed="false">play</button>'
    '<button type="button" class="ml-step" aria-label="one step on">step ▶</button></span>'
)


# --- Layers, and their tables for JavaScript ------------------------------------------------------
# A layer depends on a few controls and says, for each combination of their positions, how named
# elements look. What a state leaves unsaid looks as the scene drew it, so a state never depends on
# the one before. Each attribute of each element becomes one column: its distinct values, and one
# code for each combination, with stretches that repeat kept once. That keeps even tens of
# thousands of combinations small.


DIGITS = string.digits + string.ascii_letters + "-_"


@dataclass(frozen=True)
class Layer:
    """What a few controls decide."""

    controls: Sequence[str]  # their keys
    # for each tuple of positions (in that order) a patch {name: {attribute: value}}, or a sentence
    # where the layer is one of words; or a function of the positions
    states: Mapping[tuple[int, ...], Any] | Callable[..., Any]

    def all_states(self, controls: Mapping[str, Control]) -> dict[tuple[int, ...], Any]:
        """Every combination with its state; ValueError where one lacks or is too many."""
        for key in self.controls:
            if key not in controls:
                raise ValueError(f"A layer depends on {key!r}, which is no control.")
        wanted = list(product(*(range(len(controls[key].values)) for key in self.controls)))
        if callable(self.states):
            return {at: self.states(*at) for at in wanted}
        for at in wanted:
            if at not in self.states:
                raise ValueError(f"The layer over {tuple(self.controls)} has no state {at}.")
        unknown = set(self.states) - set(wanted)
        if unknown:
            raise ValueError(
                f"The layer over {tuple(self.controls)} has a state {min(unknown)}, but the "
                "controls have no such positions."
            )
        return {at: self.states[at] for at in wanted}


def layers_over(
    offered: Mapping[str, Sequence[Any]],
) -> Callable[[Sequence[str], Callable[..., Any]], Layer]:
    """A maker of layers whose states depend on the values on offer, not on their positions.

    `offered` has by the key of a control what stands at each of its positions.
    """

    def layer(keys: Sequence[str], state: Callable[..., Any]) -> Layer:
        """A layer over these controls; `state` takes what is offered where they stand."""
        values = [offered[key] for key in keys]
        return Layer(
            keys, lambda *at: state(*(value[n] for value, n in zip(values, at, strict=True)))
        )

    return layer


@dataclass(frozen=True)
class Column:
    """One attribute of one element: its value for each combination, in order."""

    name: str
    attribute: str
    values: tuple[Value, ...]

    def packed(self, page: int) -> list[Any]:
        """The column as JSON: name, attribute, distinct values, width of a code, codes.

        Where many stretches of `page` codes are alike, each is kept once, and a second column of
        codes says which stretch stands where.
        """
        codes, width, distinct = _codes(self.values)
        packed: list[Any] = [self.name, self.attribute, distinct, width, codes]
        length = page * width
        pages = [codes[at : at + length] for at in range(0, len(codes), length)]
        numbers, number_width, different = _codes(pages)
        if len(numbers) + page * width * len(different) + 40 < len(codes):
            packed[4] = "".join(different)
            packed += [page, number_width, numbers]
        return packed


@dataclass(frozen=True)
class Table:
    """A layer made ready: which controls, how many positions each, and the columns."""

    controls: tuple[str, ...]
    sizes: tuple[int, ...]
    columns: tuple[Column, ...]

    def packed(self) -> list[list[Any]]:
        """The columns as JSON."""
        page = self.sizes[-1] if self.sizes else 1
        return [column.packed(page) for column in self.columns]

    def changing(self) -> Table:
        """The table without columns that always say the same; the page holds those already."""
        columns = tuple(column for column in self.columns if len(set(column.values)) > 1)
        return Table(self.controls, self.sizes, columns)

    def row(self, positions: Mapping[str, int]) -> int:
        """The place of the combination in every column."""
        row = 0
        for key, size in zip(self.controls, self.sizes, strict=True):
            row = row * size + positions[key]
        return row


def table_of_patches(layer: Layer, controls: Mapping[str, Control], scene: Scene) -> Table:
    """The columns of a layer that changes the picture."""
    found = list(layer.all_states(controls).values())
    # A layer's function may hand out the same patch again and again: each is looked at once.
    tidied = {id(state): state for state in found}
    for number, state in tidied.items():
        tidied[number] = {name: _tidy(name, patch, scene) for name, patch in state.items()}
    states = [tidied[id(state)] for state in found]
    cells = dict.fromkeys(
        (name, attribute)
        for state in tidied.values()
        for name, patch in state.items()
        for attribute in patch
    )
    columns = tuple(
        Column(
            name,
            attribute,
            tuple(
                state.get(name, {}).get(attribute, scene.drawn(name, attribute)) for state in states
            ),
        )
        for name, attribute in cells
    )
    return Table(tuple(layer.controls), _sizes(layer, controls), columns)


def table_of_words(layer: Layer, controls: Mapping[str, Control], number: int) -> Table:
    """The one column of a layer that holds sentences."""
    sentences = tuple(str(state) for state in layer.all_states(controls).values())
    return Table(
        tuple(layer.controls),
        _sizes(layer, controls),
        (Column(f"words {number}", "text", sentences),),
    )


def _sizes(layer: Layer, controls: Mapping[str, Control]) -> tuple[int, ...]:
    return tuple(len(controls[key].values) for key in layer.controls)


def _tidy(name: str, patch: Mapping[str, Value], scene: Scene) -> dict[str, Value]:
    if name not in scene.elements:
        raise ValueError(f"A state changes {name!r}, but the scene has no such element.")
    tidy: dict[str, Value] = {}
    for attribute, value in patch.items():
        check_changeable(name, attribute)
        if attribute == "hidden":
            tidy["display"] = "none" if value else None
        else:
            if attribute == "text" and scene.elements[name].tag != "text":
                raise ValueError(f"{name!r} is no text, so it has no words to change.")
            tidy[attribute] = tidy_value(attribute, value)
    return tidy


def _codes(values: Sequence[Any]) -> tuple[str, int, list[Any]]:
    """One code for each value, the number of digits of a code, and the meaning of the codes."""
    distinct = list(dict.fromkeys(values))
    number = {value: at for at, value in enumerate(distinct)}
    width = 1
    while len(distinct) > len(DIGITS) ** width:
        width += 1
    return "".join(_code(number[value], width) for value in values), width, distinct


def _code(number: int, width: int) -> str:
    code = ""
    for _ in range(width):
        number, digit = divmod(number, len(DIGITS))
        code = DIGITS[digit] + code
    return code
