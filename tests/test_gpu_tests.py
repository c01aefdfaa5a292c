"""benchmarks/gpu_tests.py: what an outcome is called, and that list, results and page agree."""

import json
import sys
from pathlib import Path

from every_case import every_case

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import gpu_tests  # noqa: E402

STORED = ROOT / "benchmarks" / "gpu_tests.json"
PAGE = ROOT / "docs" / "own_kernels.md"

SAID = {
    "passed": "passed",
    "course_lib.wording.errors.LaunchRefused: f.py:3: k did not run. …": "refused",
    "course_lib.wording.errors.NoGpuHere: The PCI_BUS_ID of a device needs a GPU": "refused",
    "course_lib.wording.errors.LaunchFailed: f.py:3: in k: … [race-write-after-write]": "finding",
    "course_lib.wording.errors.LaunchFailed: f.py:3: in k: … [timeout]": "out of time",
    "Failed: Timeout (>120.0s) from pytest-timeout.": "out of time",
    "AssertionError: Arrays are not almost equal": "failed",
}


@every_case("said", SAID)
def test_what_an_outcome_is_called(said: str) -> None:
    assert gpu_tests.kind_of(said) == SAID[said]


def test_the_stored_run_is_of_the_list_and_on_the_page():
    runs = json.loads(STORED.read_text(encoding="utf-8"))
    listed = {project.name: project for project in gpu_tests.PROJECTS}
    assert runs.keys() == listed.keys()
    for name, run in runs.items():
        assert run["version"] == listed[name].version
        files = {row["test"].partition("::")[0] for row in run["tests"]}
        assert files <= set(listed[name].files)
    runs = json.loads(STORED.read_text(encoding="utf-8"))
    assert gpu_tests.table(runs) in PAGE.read_text(encoding="utf-8")
