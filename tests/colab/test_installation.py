"""Installing the course on Colab must change no package that Colab has."""

import json
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


def pip(*arguments: str) -> str:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def installed() -> dict[str, str]:
    return {each["name"]: each["version"] for each in json.loads(pip("list", "--format=json"))}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a tag's archive would hold of the library; pip would leave its build files in ours."""
    copy = tmp_path_factory.mktemp("archive") / "course"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "course_lib", copy / "course_lib", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT"):
        shutil.copy(REPOSITORY / name, copy)
    return copy


def test_colabs_versions_are_here() -> None:
    pins = (REPOSITORY / "tests/colab/pins.txt").read_text().splitlines()
    names = [line.partition("==")[0] for line in pins if "==" in line]
    assert {"numpy", "numba", "numba-cuda", "ipython"} <= set(names)
    assert all(version(name) for name in names)


def test_dependencies_are_met_by_what_colab_has(sources: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    pip("install", "--quiet", "--dry-run", "--report", str(report), str(sources))
    plan = json.loads(report.read_text())["install"]
    assert [each["metadata"]["name"] for each in plan] == ["matmul-ladder"]


def test_installing_as_the_setup_cell_does_changes_nothing(sources: Path, tmp_path: Path) -> None:
    before = installed()
    assert "matmul-ladder" not in before
    try:
        pip("install", "--quiet", "--no-deps", str(sources))
        after = installed()
        assert after.pop("matmul-ladder")
        assert after == before
        assert missing_modules(tmp_path) == []
    finally:
        pip("uninstall", "--yes", "--quiet", "matmul-ladder")
    assert installed() == before


def missing_modules(elsewhere: Path) -> list[str]:
    """Files of course_lib that did not come along."""
    ask = "import course_lib; print(course_lib.__path__[0])"
    environment = {"PATH": "", "MPLBACKEND": "Agg", "HOME": str(elsewhere)}
    command = [sys.executable, "-c", ask]
    done = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True)
    place = Path(done.stdout.strip())
    assert REPOSITORY not in place.parents or ".venv-colab" in place.parts
    ours = REPOSITORY / "course_lib"
    wanted = [*ours.rglob("*.py"), *ours.glob("measurements/*.json")]
    names = [path.relative_to(ours) for path in wanted]
    return [str(name) for name in names if not (place / name).exists()]
