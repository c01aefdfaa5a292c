"""The workflow for GitHub Classroom takes data from students, and gives them nothing to act on."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).resolve().parents[1] / ".github" / "classroom"
WORKFLOW = FOLDER / "grade.yml"
pytestmark = pytest.mark.workshop
posix = pytest.mark.skipif(os.name == "nt", reason="the workflow runs on Linux")

# Stands in for GitHub's command line: what it is asked is written down, and answered from files.
FAKE_GH = """\
#!/bin/bash
echo "$@" >> asked.txt
case "$*" in
  *"${MISSING:-nothing}"*) echo "gh: Not Found (HTTP 404)" >&2; exit 1 ;;
  *"${FAILS:-nothing}"*)
    echo x >> failed.txt
    if (( $(wc -l < failed.txt) <= FAILURES )); then
      echo '{"message": "Server Error"}'; echo "gh: Server Error (HTTP 500)" >&2; exit 1
    fi
    printf '%s' '{"cells": "healed"}' ;;
  *--paginate*) printf '%s\\n' week-5-ada week-5-bo other-ada week-50-eve week-5-x.y_z ;;
  *week-5-bo/*) echo '{"message": "Not Found"}'; echo "gh: Not Found (HTTP 404)" >&2; exit 1 ;;
  *) printf '%s' '{"cells": "anything"}' ;;
esac
"""
FAKE_SLEEP = '#!/bin/bash\necho "$1" >> slept.txt\n'


def workflow() -> dict[str, Any]:
    return yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))


def steps() -> list[dict[str, Any]]:
    return [step for job in workflow()["jobs"].values() for step in job["steps"]]


def step(job: str, name: str) -> dict[str, Any]:
    found = workflow()["jobs"][job]["steps"]
    return next(each for each in found if each.get("name", "").startswith(name))


def bash(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A script as a runner starts it: the first command that fails ends it."""
    program = shutil.which("bash") or pytest.skip("there is no bash")
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", **variables}
    return subprocess.run(
        [program, "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_workflow_may_write_nothing_and_runs_nothing_of_a_student():
    assert workflow()["permissions"] == {}
    assert all("permissions" not in job for job in workflow()["jobs"].values())
    assert "secrets." not in json.dumps(workflow()["jobs"]["grade"])
    fetch = workflow()["jobs"]["fetch"]["steps"]
    assert ["secrets." in json.dumps(each) for each in fetch] == [True, False]
    text = WORKFLOW.read_text(encoding="utf-8")
    used = re.findall(r"uses: (.*)", text)
    assert len(used) == 5
    assert all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v[\d.]+", each) for each in used)
    (checkout,) = [each for each in steps() if "checkout" in each.get("uses", "")]
    assert checkout["with"]["repository"] == "${{ vars.GRADER_REPOSITORY }}"
    assert checkout["with"]["ref"] == "${{ vars.GRADER_COMMIT }}"
    assert checkout["with"]["persist-credentials"] is False
    fetched = step("fetch", "Fetch")["run"]
    assert "git clone" not in fetched and "git checkout" not in fetched
    assert not [each for each in steps() if "${{" in each.get("run", "")]


def test_the_readme_names_what_the_workflow_reads() -> None:
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    text = WORKFLOW.read_text(encoding="utf-8")
    for name in re.findall(r"(?:secrets|vars)\.(\w+)", text):
        assert f"`{name}`" in readme
    # YAML reads the key "on" as a yes.
    for name in workflow()[True]["workflow_dispatch"]["inputs"]:
        assert f"| {name} |" in readme


def fetch(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    for name, text in (("gh", FAKE_GH), ("sleep", FAKE_SLEEP)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return bash(
        step("fetch", "Fetch")["run"], folder,
        ORGANIZATION="org", ASSIGNMENT="week-5", NOTEBOOK="exercises/05.ipynb", **variables,
    )  # fmt: skip


@posix
def test_one_file_of_each_student_is_fetched(tmp_path: Path) -> None:
    done = fetch(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "3 repositories\n" and "bo: no such file" in done.stderr
    fetched = {path.parent.name: path for path in (tmp_path / "submissions").glob("*/*")}
    assert set(fetched) == {"ada", "bo", "x.y_z"}
    assert json.loads(fetched["ada"].read_text()) == {"cells": "anything"}
    assert json.loads(fetched["bo"].read_text())["cells"] == []
    asked = (tmp_path / "asked.txt").read_text()
    assert "repos/org/week-5-ada/contents/exercises/05.ipynb" in asked
    assert "week-50-eve/" not in asked and "other-ada/" not in asked
    assert not (tmp_path / "slept.txt").exists()  # a file that is not there is no outage


@posix
def test_an_outage_that_passes_costs_a_pause(tmp_path: Path) -> None:
    done = fetch(tmp_path, FAILS="week-5-ada/", FAILURES="3")
    assert done.returncode == 0, done.stderr
    fetched = (tmp_path / "submissions/ada/answer.ipynb").read_text()
    assert json.loads(fetched) == {"cells": "healed"}
    assert len((tmp_path / "slept.txt").read_text().split()) == 3
    assert "ada: no such file" not in done.stderr


@posix
@pytest.mark.parametrize("what", ["week-5-ada/", "orgs/org/repos"])
def test_an_outage_that_stays_ends_the_job(tmp_path: Path, what: str) -> None:
    """Nobody is graded, and nobody gets 0 points for what GitHub did."""
    done = fetch(tmp_path, FAILS=what, FAILURES="99")
    assert done.returncode == 1 and "repositories" not in done.stdout
    assert done.stderr.count("\n") == 1, done.stderr
    assert what in done.stderr and "(HTTP 500)" in done.stderr and "run it again" in done.stderr


@posix
def test_an_organization_that_there_is_not(tmp_path: Path) -> None:
    done = fetch(tmp_path, MISSING="orgs/org/repos")
    assert done.returncode == 1
    assert done.stderr == "There is no organization org that the token may read.\n"


@pytest.fixture
def python(tmp_path: Path) -> None:
    """A Python that notes how it is called."""
    (tmp_path / "python").write_text('#!/bin/bash\nprintf "%s\\n" "$@" > called.txt\n')
    (tmp_path / "python").chmod(0o755)


@posix
@pytest.mark.usefixtures("python")
@pytest.mark.parametrize("seed", ["", "12"])
def test_the_grader_is_called_as_it_wants(tmp_path: Path, seed: str) -> None:
    exercises = "matmul_tiled  07 $(touch broken)"
    given = {"EXERCISES": exercises, "SEED": seed, "COURSE": "", "OVERRIDES": ""}
    done = bash(step("grade", "Grade")["run"], tmp_path, **given)
    assert done.returncode == 0, done.stderr
    called = (tmp_path / "called.txt").read_text().splitlines()
    start = ["grader/course.py", "grade", "submissions", "--out", "grades", "--exercises"]
    ending = ["--seed", seed] if seed else []
    assert called == [*start, "matmul_tiled", "07", "$(touch", "broken)", *ending]
    assert not (tmp_path / "broken").exists()


@posix
@pytest.mark.usefixtures("python")
def test_the_instructors_two_files_are_text_in_variables(tmp_path: Path) -> None:
    """They are written down byte for byte, and nothing in them is run."""
    course = 'title = "$(touch broken) `touch broken` %s \\n"'
    overrides = "[ada.matmul_tiled]\npoints = 9"
    run = step("grade", "Grade")
    assert {"COURSE", "OVERRIDES"} <= set(run["env"])
    done = bash(run["run"], tmp_path, EXERCISES="07", SEED="", COURSE=course, OVERRIDES=overrides)
    assert done.returncode == 0, done.stderr
    called = (tmp_path / "called.txt").read_text().splitlines()
    assert called[-5:] == ["07", "--settings", "course.toml", "--overrides", "overrides.toml"]
    assert (tmp_path / "course.toml").read_text() == f"{course}\n"
    assert (tmp_path / "overrides.toml").read_text() == f"{overrides}\n"
    assert not (tmp_path / "broken").exists()


@posix
@pytest.mark.parametrize(("commit", "status"), [("v0.1.0", 1), ("", 1), ("a1" * 20, 0)])
def test_only_a_commit_pins_the_grader(tmp_path: Path, commit: str, status: int) -> None:
    assert bash(step("grade", "Insist")["run"], tmp_path, COMMIT=commit).returncode == status
