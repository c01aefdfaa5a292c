"""Kernels with a slip: a module of `course_lib.kernels` with one change in its text."""

from pathlib import Path
from types import ModuleType
from typing import Any

from by_path import module_at


def changed(module: ModuleType, old: str, new: str, folder: Path) -> Any:
    """The module made of a text in which `new` stands for the only `old`; a file in `folder`.

    Raises:
        AssertionError: if the text does not hold `old` once.
    """
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    assert source.count(old) == 1, source.count(old)
    path = folder / "changed.py"
    path.write_text(source.replace(old, new), encoding="utf-8")
    return module_at(path)


def is_named(findings: list, folder: Path, code: str, parts: list[str]) -> bool:
    """Whether one finding has one of these codes, split by "|", and all parts in its lines."""
    text = (folder / "changed.py").read_text(encoding="utf-8").splitlines()
    for found in findings:
        lines = [text[at - 1] for at in (found.line, found.other_line) if at]
        has_parts = all(any(part in line for line in lines) for part in parts)
        if found.code.startswith(tuple(code.split("|"))) and has_parts:
            return True
    return False
