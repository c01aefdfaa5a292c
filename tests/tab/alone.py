"""Answers requests from what a tab unpacks, with NumPy and nothing else: python alone.py FOLDER.

Requests come as lines of JSON on standard input; the answers go out likewise.
"""

import sys
import threading


class OnlyNumPy:
    """Everything that is not Python's own, NumPy or ours is as good as not installed."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] not in {*sys.stdlib_module_names, "numpy", "course_lib"}:
            raise ModuleNotFoundError(f"{name} is not here", name=name)


def refuse(self: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


if __name__ == "__main__":
    sys.meta_path.insert(0, OnlyNumPy())  # type: ignore[arg-type]
    sys.path.insert(0, sys.argv[1])
    threading.Thread.start = refuse  # type: ignore[method-assign]
    from course_lib.tab import requests

    assert requests.__file__.startswith(sys.argv[1]), requests.__file__
    for line in sys.stdin:
        print(requests.answer(line), flush=True)
