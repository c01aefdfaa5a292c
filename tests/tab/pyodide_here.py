"""Finds what Pyodide needs on this machine: its core, from npm, and NumPy's wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from course_lib.tab import pyodide

ROOT = Path(__file__).resolve().parents[2]
FROM_NPM = ROOT / "executed" / "npm"
_WHEEL = "numpy-*wasm32.whl"


def node() -> str:
    """Node's program; without it, the test is skipped."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not here")
    return found


def numpy_wheel() -> Path:
    """NumPy's wheel for Pyodide; without one, the test is skipped."""
    named = os.environ.get("MATMUL_LADDER_NUMPY_WHEEL")
    found = [Path(named)] if named else sorted((ROOT.parent / "shared" / "wasm").glob(_WHEEL))
    if not found:
        pytest.skip("NumPy's wheel for Pyodide is not here: MATMUL_LADDER_NUMPY_WHEEL names it")
    return found[0]


def core() -> Path:
    """The folder of Pyodide's core."""
    return from_npm("pyodide", pyodide.VERSION)


def from_npm(name: str, version: str) -> Path:
    """The folder of an npm package, fetched once; without npm or a network, the test is skipped."""
    folder = FROM_NPM / f"{name}-{version}"
    if not folder.exists():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip(f"npm is not here, which would fetch {name} {version}")
        FROM_NPM.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(
            [npm, "pack", "--silent", f"{name}@{version}"], cwd=FROM_NPM, capture_output=True
        )
        if packed.returncode:
            pytest.skip(f"npm cannot fetch {name} {version} here")
        with tarfile.open(FROM_NPM / f"{name}-{version}.tgz") as archive:
            archive.extractall(folder, filter="data")
    return folder / "package"
