"""Runs notebooks with nbval, as a student or a grader would, and says which cells passed."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Nbval:
    """What nbval said: how it ended, which cells passed, which failed, and its words."""

    status: int
    passed: set[tuple[str, int]]
    failed: set[tuple[str, int]]
    text: str


def nbval(tmp_path: Path, *paths: Path) -> Nbval:
    """`pytest --nbval-lax` on notebooks, code cells counted from 0 as nbval does."""
    report = tmp_path / "junit.xml"
    options = ["--nbval-lax", "--nbval-cell-timeout=300", "-p", "no:cacheprovider", "-q"]
    options += ["-p", "course_lib.grading.judging.nbval_run", f"--junitxml={report}"]
    command = [sys.executable, "-m", "pytest", *options, *map(str, paths)]
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    ran = subprocess.run(
        command,
        cwd=ROOT,
        env=inherited | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
    passed, failed = set(), set()
    for case in ET.parse(report).iter("testcase"):
        stem = case.attrib["classname"].removesuffix(".ipynb").rsplit(".", 1)[-1]
        cell = (stem, int(case.attrib["name"].removeprefix("Cell ")))
        (failed if len(case) else passed).add(cell)
    return Nbval(ran.returncode, passed, failed, ran.stdout[-4000:])
