"""What newer packages break is mended or named, and the lane that finds it keeps its word."""

import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

from course_lib.commands import environments, run_tests
from course_lib.host import newer_packages

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "upstream.md").read_text(encoding="utf-8")
NEW_NUMPY = "AttributeError: module 'numpy' has no attribute 'row_stack'"


@pytest.fixture
def new_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy as it is from 2.5 on."""
    monkeypatch.delitem(vars(np), "row_stack", raising=False)
    monkeypatch.setattr(np, "__getattr__", _missing)


def _missing(name: str) -> None:
    raise AttributeError(f"module 'numpy' has no attribute {name!r}")


def test_numba_cuda_alone_finds_what_numpy_no_longer_has(new_numpy):
    with newer_packages.numpy_of_numba_cuda():
        assert np.array_equal(np.row_stack(([1, 2], [3, 4])), [[1, 2], [3, 4]])
    assert not hasattr(np, "row_stack")
    with pytest.raises(ZeroDivisionError), newer_packages.numpy_of_numba_cuda():
        raise ZeroDivisionError
    assert not hasattr(np, "row_stack")


def test_a_breakage_is_known_by_its_sign() -> None:
    (found,) = newer_packages.named(f"E   {NEW_NUMPY}\n")
    assert "NumPy 2.5" in found.packages
    assert newer_packages.named("E   AttributeError: module 'numpy' has no attribute 'x'") == []


def test_the_page_says_what_the_table_says() -> None:
    rows = re.findall(
        r"^\| (numba-cuda|numba|NumPy)(.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE
    )
    for each in newer_packages.BREAKAGES:
        assert any(first + rest == each.packages for first, rest, _, _ in rows), each.packages
        assert each.sign in PAGE
    for module, name in re.findall(r"`(newer_packages)\.(\w+)`", PAGE):
        assert module and hasattr(newer_packages, name)


def test_nothing_is_held_back() -> None:
    lines = environments.requirements(PYPROJECT, [], pre=False).split()
    wanted = [Requirement(line) for line in lines]
    assert {spec.operator for each in wanted for spec in each.specifier} == {">="}
    names = {each.name for each in wanted}
    assert set(environments.WATCHED) | {"nbval", "nvidia-cuda-nvdisasm", "pytest"} <= names
    assert tomllib.loads(PYPROJECT)["project"]["name"] not in names
    assert {"nvcc"} in [each.extras for each in wanted]


def test_bounds_and_pre_releases_can_be_asked_for() -> None:
    lines = environments.requirements(PYPROJECT, ["numpy<2.5"], pre=True).splitlines()
    assert lines[0] == "--pre" and "numpy<2.5" in lines


def _lane(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str, status: int
) -> tuple[int, str]:
    """The lane with one step, which says this and ends so."""
    monkeypatch.setattr(environments, "make_newest", lambda bounds, pre: Path(sys.executable))
    monkeypatch.setattr(environments, "versions", lambda python: ["numpy 9.9"])
    code = f"print({said!r}); raise SystemExit({status})"
    step = run_tests.TestStep("newest: tests", [sys.executable, "-c", code])
    monkeypatch.setattr(run_tests, "upstream_steps", lambda python: [step])
    return run_tests.main(["--upstream"]), capsys.readouterr().out


def test_what_breaks_is_named_with_its_mend_or_said_to_be_new(monkeypatch, capsys):
    status, told = _lane(monkeypatch, capsys, NEW_NUMPY, 1)
    assert status == 1 and "numpy 9.9" in told
    assert f"Known: {newer_packages.BREAKAGES[0].packages}. " in told
    assert newer_packages.BREAKAGES[0].mend in told
    status, told = _lane(monkeypatch, capsys, "E   something else", 1)
    assert status == 1 and "Known:" not in told and "add a line for each" in told


def test_packages_that_do_not_go_together_are_told(monkeypatch, capsys):
    def refuse(bounds: list[str], pre: bool) -> Path:
        raise environments.CannotMake("ERROR: ResolutionImpossible")

    monkeypatch.setattr(environments, "make_newest", refuse)
    assert run_tests.main(["--upstream", "numpy<1"]) == 1
    assert (
        "could not be installed together:\nERROR: ResolutionImpossible" in capsys.readouterr().out
    )
