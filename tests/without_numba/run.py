"""Run Python with these arguments as if Numba were not installed, and all that it starts."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def environment() -> dict[str, str]:
    """The environment of such a Python; ours, with the folder that hides Numba in front."""
    path = [str(HERE), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, path))}


if __name__ == "__main__":
    sys.exit(subprocess.call([sys.executable, *sys.argv[1:]], env=environment()))
