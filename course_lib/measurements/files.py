"""Read and write files of measurements: one JSON file for each device, in a folder by kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


def devices(folder: Path) -> tuple[str, ...]:
    """The devices that a folder has a file of, by their short names."""
    return tuple(sorted(path.stem for path in folder.glob("*.json")))


def text_of(folder: Path, device: str, otherwise: str) -> str:
    """The text of a device's file.

    Args:
        otherwise: how the error begins where there is none, "nothing was tuned on".

    Raises:
        KeyError: if there is none; with the devices that there are.
    """
    if device not in devices(folder):
        there = ", ".join(devices(folder)) or "none"
        raise KeyError(f"{otherwise} {device!r}; there are: {there}")
    return (folder / f"{device}.json").read_text(encoding="utf-8")


@cache
def content_of(folder: Path, device: str, otherwise: str) -> dict[str, Any]:
    """What a device's file holds; see `text_of`."""
    return dict(json.loads(text_of(folder, device, otherwise)))


def store(folder: Path, device: str, content: Mapping[str, Any]) -> Path:
    """Write what was measured on a device, and forget what was read of it before."""
    path = replace_file(folder / f"{device}.json", as_text(content))
    content_of.cache_clear()
    return path


def add(folder: Path, device: str, content: Mapping[str, Any]) -> Path:
    """The same, where another script writes other fields of the file: those stay."""
    there = content_of(folder, device, "") if device in devices(folder) else {}
    return store(folder, device, {**there, **content})


def replace_file(path: Path, text: str) -> Path:
    """Write a file whole, or leave the one that is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    return unfinished.replace(path)


def as_text(content: Any) -> str:
    """The text of a file that holds this, its numbers rounded."""
    return json.dumps(_rounded(content), indent=1, ensure_ascii=False) + "\n"


def _rounded(value: Any) -> Any:
    """Five figures are more than a clock gives."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    return value
