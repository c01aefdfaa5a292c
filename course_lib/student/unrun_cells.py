"""Says in one sentence what to do where a cell needs one above it that has not been run.

An IPython extension: kernels of the course's .venv load it when they begin (`commands/lab.py` sees
to that), any other session does with `course_lib.start()`. In a fresh session, on the second
evening too, a cell in the middle of a notebook finds none of the names of those above it.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection
from pathlib import Path
from types import TracebackType
from typing import Any

from course_lib.student import front_end

# What the first cells of the notebooks bind, beside the course itself.
FIRST_NAMES = frozenset(
    "course_lib np math cuda float32 float64 int32 figures intrinsics plt numba".split()
)
LETTERS = frozenset("abcdef")  # of a question's choices
CLOSE = 0.75  # how much of two names is alike, where one is mistyped for the other
_CONFIG = Path("etc/ipython/ipython_config.py")  # below a Python's prefix; IPython reads it there
_CONFIG_TEXT = f"""\
# Written by `python3 course.py lab`: a cell that is run before those above it says what to do.
from importlib.util import find_spec

if find_spec("course_lib"):
    get_config().InteractiveShellApp.extensions.append("{__name__}")
"""


def load_ipython_extension(shell: Any) -> None:
    """Take over how IPython shows a NameError, and let it note which cells stop with an error."""
    front_end.notice_errors(shell)
    shell.set_custom_exc((NameError,), _show)


def kernels_of(prefix: Path) -> None:
    """Let the kernels of the Python at this prefix begin with the extension.

    Raises:
        OSError: if nothing can be written there.
    """
    config = prefix / _CONFIG
    if not config.exists():
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(_CONFIG_TEXT, encoding="utf-8")


def what_to_do(name: str, bound: Collection[str]) -> str:
    """The sentence about a name that no cell has bound yet; "" where it may be a slip of the pen.

    `bound`: the names that cells have bound in this session.
    """
    from course_lib.curriculum import EXERCISES, TASKS  # most sessions never ask

    if name in TASKS or name in EXERCISES:
        return (
            f"{name} is not defined yet in this session: run the cell that defines it, or all "
            "above this one (Run ▸ Run All Above Selected Cell)."
        )
    first = name in FIRST_NAMES or "course_lib" not in bound
    if not first and difflib.get_close_matches(name, bound, n=1, cutoff=CLOSE):
        return ""
    choice = f'If {name} is your answer to a question, put it in quotes: "{name}". Otherwise, '
    missing = f"{name} is not defined yet in this session"
    run = "run the cells above first (Run ▸ Run All Above Selected Cell)."
    return f"{missing}. {choice}{run}" if name in LETTERS else f"{missing}: {run}"


def _show(
    shell: Any,
    kind: type[NameError],
    error: NameError,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    name = getattr(error, "name", None)
    said = what_to_do(name, list(shell.user_ns)) if name else ""
    if said:
        shell._showtraceback(kind, error, [said])
    else:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
