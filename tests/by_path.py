"""Files of code that belong to no package, a benchmark or what a test has written, as modules."""

import importlib.util
import sys
from pathlib import Path
from typing import Any


def module_at(path: Path) -> Any:
    """A new module of a file, each time."""
    spec = importlib.util.spec_from_file_location(f"by_path_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
