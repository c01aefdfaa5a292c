"""Reads the fields of a request; what is missing or of another kind is refused in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Fields = Mapping[str, Any]
LONGEST_TEXT = 200_000  # characters; the judge refuses far shorter ones in its own words


class Refused(Exception):
    """A request that cannot be answered; the sentence says why."""


def text(fields: Fields, name: str, default: str | None = None) -> str:
    """A field that holds text.

    Raises:
        Refused: if it is missing without a default, no text, or too long.
    """
    value = fields.get(name, default)
    if value is None and default is not None:
        value = default
    if not isinstance(value, str):
        raise Refused(f"The request has no text called {name}.")
    if len(value) > LONGEST_TEXT:
        raise Refused(f"This {name} is too long: it has {len(value):,} characters.")
    return value
