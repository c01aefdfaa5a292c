"""The answers to tile tasks as modules of the real languages, cuTile and Triton."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from by_path import module_at

from course_lib.curriculum import TASKS

HEADS = {
    "ct": "import math\n\nimport cuda.tile as ct\n\n\n",
    "tl": "import math\n\nimport triton\nimport triton.language as tl\n\n\n",
}


def require(*modules: str) -> None:
    """Skip a file of tests where a language is not installed; in .venv-tiles it has to be."""
    for module in modules:
        if Path(sys.prefix).name == ".venv-tiles":
            importlib.import_module(module)
        pytest.importorskip(module, reason=f"{module} is not installed here")


def answers(*languages: str) -> list[object]:
    """The right answers to the tasks in these languages, as parameters: task, text."""
    return [
        pytest.param(task, text, id=f"{task.id}-{name}")
        for task in TASKS.values()
        if task.id[:2] in languages and task.id[2:3] == "_"
        for name, text in (("answer", task.answer), ("another", task.another))
        if text
    ]


def module_of(text: str, folder: Path) -> ModuleType:
    """A module with this text; both languages read the source of a kernel from its file."""
    path = folder / "answer.py"
    path.write_text(text)
    return module_at(path)
