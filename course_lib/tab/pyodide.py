"""Pins the Pyodide that a tab runs: the one place that holds its version and its address."""

from __future__ import annotations

VERSION = "0.29.4"  # Python 3.13; npm's `pyodide` of this version is the same core
CDN = f"https://cdn.jsdelivr.net/pyodide/v{VERSION}/full/"
OWN = f"pyodide/v{VERSION}/"  # where a site that holds its own copy has it
CORE = (
    "pyodide.mjs",
    "pyodide.asm.js",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
# Bytes as they arrive, unpacked, for the bar that shows the loading: wasm, standard library and
# list of packages; NumPy's wheel.
BYTES = {"python": 11_193_713, "numpy": 3_644_060}
