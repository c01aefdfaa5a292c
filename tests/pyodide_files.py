"""Finds what tests need of Pyodide: its core is npm's, NumPy's wheel lies beside the course.

MATMUL_LADDER_NUMPY_WHEEL names a wheel that lies elsewhere.
"""

import contextlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FROM_NPM = ROOT / "executed" / "npm"
_WHEEL = "numpy-*wasm32.whl"


class NotHere(Exception):
    """What a test needs and this machine lacks, as a sentence."""


def numpy_wheel() -> Path:
    """NumPy's wheel for Pyodide.

    Raises:
        NotHere: if there is none.
    """
    named = os.environ.get("MATMUL_LADDER_NUMPY_WHEEL")
    found = [Path(named)] if named else sorted((ROOT.parent / "shared" / "wasm").glob(_WHEEL))
    if not found:
        raise NotHere("NumPy's wheel for Pyodide is not here: MATMUL_LADDER_NUMPY_WHEEL names it")
    return found[0]


def from_npm(name: str, version: str) -> Path:
    """The folder of an npm package, fetched once; two tests may ask at the same time.

    Raises:
        NotHere: if there is no npm, or no network.
    """
    folder = FROM_NPM / f"{name}-{version}"
    if not folder.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise NotHere(f"npm is not here, which would fetch {name} {version}")
        FROM_NPM.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FROM_NPM) as made:
            command = [npm, "pack", "--silent", f"{name}@{version}"]
            if subprocess.run(command, cwd=made, capture_output=True).returncode:
                raise NotHere(f"npm cannot fetch {name} {version} here")
            with tarfile.open(Path(made, f"{name}-{version}.tgz")) as archive:
                archive.extractall(Path(made, "unpacked"), filter="data")
            with contextlib.suppress(OSError):  # another test was faster
                Path(made, "unpacked").rename(folder)
    return folder / "package"
