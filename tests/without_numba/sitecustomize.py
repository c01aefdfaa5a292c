"""Python imports this as it starts, where this folder is on its path: Numba cannot be found."""

import sys


class NoNumba:
    """Finds neither Numba nor numba-cuda's part of it, nor what Numba compiles with."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, NoNumba())
