"""The files around the code agree with each other and with the rules of the project."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from child import python
from every_case import every_case
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import course_lib
from course_lib.commands import run_tests

REPOSITORY = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.workshop

PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
LOCKS = sorted((REPOSITORY / "locks").glob("*.txt"))
WORKFLOWS = sorted((REPOSITORY / ".github/workflows").glob("*.yml"))
# In halves, so that this file does not find itself.
REGISTRIES = "py+pi.org python+hosted.org registry.+npmjs deb.+debian.org".replace("+", "").split()


def requirements(*extras: str) -> dict[str, Requirement]:
    """The direct requirements of the project with these extras, by name."""
    lines = list(PROJECT["dependencies"])
    for extra in extras:
        lines += PROJECT["optional-dependencies"][extra]
    found = map(Requirement, lines)
    return {each.name: each for each in found if each.name != PROJECT["name"]}


def pins(lock: Path) -> list[Requirement]:
    lines = re.findall(r"^[a-z0-9][^\\\n]*", lock.read_text(encoding="utf-8"), re.MULTILINE)
    return [Requirement(line) for line in lines]


def tracked() -> list[Path]:
    """The files that are, or would be, committed."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listing, cwd=REPOSITORY, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("this copy of the course is no git checkout")
    paths = (REPOSITORY / name for name in done.stdout.split("\0") if name)
    return [path for path in paths if path.is_file()]


def conda(file: str) -> tuple[dict[str, Requirement], list[str], str]:
    """Of an environment file: conda's packages, what pip installs, and the name."""
    found = yaml.safe_load((REPOSITORY / file).read_text(encoding="utf-8"))
    lines = [line for line in found["dependencies"] if isinstance(line, str)]
    (pip,) = [line["pip"] for line in found["dependencies"] if isinstance(line, dict)]
    assert "pip" in lines
    packages = {each.name: each for each in map(Requirement, lines) if each.name != "pip"}
    # conda-forge's name for it without Qt
    packages["matplotlib"] = packages.pop("matplotlib-base")
    return packages, pip, found["name"]


def bounds(packages: dict[str, Requirement]) -> dict[str, set[str]]:
    return {name: set(map(str, each.specifier)) for name, each in packages.items()}


def test_environments_have_the_bounds_of_pyproject():
    packages, pip, name = conda("environment.yml")
    assert str(packages.pop("python").specifier) == PROJECT["requires-python"]
    assert bounds(packages) == bounds(requirements("lab"))
    assert pip == ["-e ."] and name == PROJECT["name"]  # course_lib can be imported
    packages, (pip,), name = conda("environment-gpu.yml")
    extra = re.fullmatch(r"-e \.\[(gpu-cu\d+)\]", pip)
    assert extra and name == PROJECT["name"]
    gpu = map(Requirement, PROJECT["optional-dependencies"][extra.group(1)])
    theirs = {each.name: each for each in gpu}
    wanted = bounds(conda("environment.yml")[0])
    # What conda installs, pip must not replace: NumPy fits numba-cuda from the start.
    wanted["numpy"] |= set(map(str, theirs["numpy"].specifier))
    assert "numba-cuda" in theirs and bounds(packages) == wanted


@pytest.mark.parametrize("line", PROJECT["dependencies"])
def test_lower_bounds_are_met_by_colab(line: str) -> None:
    wanted = Requirement(line)
    colab = pins(REPOSITORY / "tests/colab/pins.txt")
    (theirs,) = [each for each in colab if each.name == wanted.name]
    version = str(theirs.specifier).removeprefix("==")
    assert version in wanted.specifier
    assert {spec.operator for spec in wanted.specifier} == {">="}


GROUPS = "lab grade book browser compiler fuzz gpu-cu12 gpu-cu13 tiles".split()
EXTRAS = {name: (name,) for name in GROUPS} | {"test": ("grade", "lab", "test")}
CONTAINED = ("lab", "grade")  # every package of these is in "test"; course.py counts on it


def test_a_lock_for_every_group() -> None:
    assert {lock.stem for lock in LOCKS} == {*EXTRAS, "colab"}


@every_case("lock", LOCKS, ids=lambda path: path.stem)
def test_every_pin_is_exact_and_hashed(lock: Path) -> None:
    entries = re.split(r"\n(?=[a-z0-9])", lock.read_text(encoding="utf-8"))[1:]
    assert len(entries) > 20
    for entry in entries:
        assert re.match(r"[a-z0-9][\w.-]*==\S+", entry), entry[:60]
        assert "--hash=sha256:" in entry, entry[:60]


@every_case("group", EXTRAS)
def test_lock_meets_every_bound(group: str) -> None:
    pinned = pins(REPOSITORY / "locks" / f"{group}.txt")
    for name, wanted in requirements(*EXTRAS[group]).items():
        found = [each for each in pinned if each.name == canonicalize_name(name)]
        assert found, f"{name} is not in locks/{group}.txt: run `python3 course.py lock`"
        for each in found:
            version = str(each.specifier).removeprefix("==")
            on_new_python = "python_full_version >=" in str(each.marker)
            if not (wanted.marker and on_new_python):
                assert version in wanted.specifier, f"{each} is outside {wanted}"


def test_locks_can_be_installed_on_top_of_each_other() -> None:
    versions: dict[tuple[str, str], str] = {}
    for group in ("test", *CONTAINED):
        for each in pins(REPOSITORY / "locks" / f"{group}.txt"):
            key = (each.name, str(each.marker))
            assert versions.setdefault(key, str(each.specifier)) == str(each.specifier), each
    test = {each.name for each in pins(REPOSITORY / "locks/test.txt")}
    for group in CONTAINED:
        assert {each.name for each in pins(REPOSITORY / f"locks/{group}.txt")} <= test
    for group in ("book", "browser", "compiler", "fuzz", "gpu-cu12", "gpu-cu13"):
        for each in pins(REPOSITORY / "locks" / f"{group}.txt"):
            ours = [spec for (name, _), spec in versions.items() if name == each.name]
            assert not ours or str(each.specifier) in ours, each


CHECK = ("-m", "check_jsonschema", "--builtin-schema")


@pytest.mark.slow
def test_workflows_are_valid() -> None:
    """All by one process: to start it takes three seconds."""
    classroom = REPOSITORY / ".github/classroom/grade.yml"
    python(*CHECK, "vendor.github-workflows", *WORKFLOWS, classroom)


def test_workflows_run_the_commands_that_there_are() -> None:
    from course_lib.commands.front_door import COMMANDS

    read = [yaml.safe_load(workflow.read_text(encoding="utf-8")) for workflow in WORKFLOWS]
    steps = [step for each in read for job in each["jobs"].values() for step in job["steps"]]
    lines = " ".join(step.get("run", "") for step in steps)
    named = re.findall(r"(?:course\.py|course_lib\.cli) ([\w-]+)", lines)
    assert len(WORKFLOWS) == 4 and set(named) <= set(COMMANDS) and "test" in named
    assert "bash .ci/run" in lines
    for step in steps:
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"])


def test_a_container_prepares_the_course_with_commands_that_there_are() -> None:
    from course_lib.commands.front_door import COMMANDS

    plain = json.loads((REPOSITORY / ".devcontainer/devcontainer.json").read_text())
    # Keys of the development containers' reference (containers.dev), for an image.
    assert set(plain) <= {"name", "image", "postCreateCommand", "postAttachCommand",
                          "customizations"}  # fmt: skip
    lines = plain["postCreateCommand"], plain["postAttachCommand"]
    named = [re.fullmatch(r"python3 course\.py (\w+)", line) for line in lines]
    assert all(name and name[1] in COMMANDS for name in named)
    version = re.fullmatch(r"python:(3\.\d+)", plain["image"])
    assert version and SpecifierSet(PROJECT["requires-python"]).contains(version[1])


def test_pre_commit_runs_the_ruff_of_the_lock() -> None:
    config = yaml.safe_load((REPOSITORY / ".pre-commit-config.yaml").read_text())
    (repository,) = config["repos"]
    assert repository["repo"] == "local"
    locked = re.search(r"^ruff==[\d.]+", (REPOSITORY / "locks/test.txt").read_text(), re.MULTILINE)
    assert locked
    needs = [hook["additional_dependencies"] for hook in repository["hooks"][:2]]
    assert needs == [[locked[0]]] * 2


@pytest.mark.long
def test_pre_commit_passes_on_the_repository(tmp_path: Path) -> None:
    """In an environment of its own, as a contributor has it."""
    subprocess.run(["git", "clone", "-q", REPOSITORY, tmp_path / "clone"], check=True)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", "pre-commit"], check=True)
    for command in (["validate-config"], ["run", "--all-files"]):
        command = [python, "-m", "pre_commit", *command]
        done = subprocess.run(command, cwd=tmp_path / "clone", capture_output=True)
        assert done.returncode == 0, done.stdout.decode()


@pytest.mark.slow
def test_citation_is_valid() -> None:
    python(*CHECK, "vendor.citation-file-format", REPOSITORY / "CITATION.cff")


def test_one_version_everywhere() -> None:
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\d+\.\d+\.\d+)", changes, re.MULTILINE)
    assert newest
    assert {PROJECT["version"], citation["version"], newest.group(1)} == {course_lib.__version__}


def test_ci_runs_the_readmes_command() -> None:
    script = (REPOSITORY / ".ci/run").read_text(encoding="utf-8")
    assert "course.py test --all" in script
    assert subprocess.run(["bash", "-n", REPOSITORY / ".ci/run"]).returncode == 0


def test_every_test_file_that_a_step_runs_is_there() -> None:
    """Those of rare steps too: a release would be the first to find one gone."""
    text = Path(run_tests.__file__).read_text(encoding="utf-8")
    named = {*re.findall(r"tests/[\w/]+\.py", text), *run_tests.ON_COLAB_TOO}
    named |= {f"tests/tiles/test_{name}.py" for name in ("against_triton", "compiled_tiles")}
    named |= {f"tests/browser/test_live_{kind}_in_browser.py" for kind in ("cells", "pages")}
    assert [path for path in sorted(named) if not (REPOSITORY / path).exists()] == []


def test_no_registry_is_named_and_no_file_is_large():
    for path in tracked():
        text = path.read_bytes()
        assert not [host for host in REGISTRIES if host.encode() in text], path
    assert [path for path in tracked() if path.stat().st_size > 2**20] == []


def test_every_file_of_the_library_is_installed_with_it() -> None:
    library = REPOSITORY / "course_lib"
    patterns = PYPROJECT["tool"]["setuptools"]["package-data"]["course_lib"]
    packed = {path for pattern in patterns for path in library.glob(pattern)}
    others = {path for path in tracked() if path.is_relative_to(library)} - packed
    assert [path for path in others if path.suffix != ".py"] == []
