"""Say what a reader can set: a slider, a choice, or steps to play through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from course_lib.web import escape

ControlKind = Literal["slider", "choice", "steps"]


@dataclass(frozen=True)
class Control:
    """Something to set.

    Attributes:
        key: how layers and clicks call it.
        label: how the reader knows it.
        values: what is shown for each position.
        start: the position at first.
        kind: "slider", "choice" (a list), or "steps" (a slider with back, play and step).
    """

    key: str
    label: str
    values: Sequence[str]
    start: int = 0
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
