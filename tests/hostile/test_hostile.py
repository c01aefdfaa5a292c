"""Whatever is handed in earns no point by it, touches nothing, leaves nothing, and is told why."""

import json
import re
import shutil
import subprocess
import uuid
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from subprocess import PIPE

import pytest
from attack import MARK, RIGHT, RIGHT_BLOCKS, Attack, below, code, notebook, write_notebook
from attacks_by_files import archive
from catalogue import ATTACKS, EXERCISES
from outputs_checked import objections_to
from sandbox import REPOSITORY, Graded, fingerprint, grade, processes_of

from course_lib.curriculum import EXERCISES as CURRICULUM
from course_lib.grading.intake.submissions import each_submission

AT_LEAST = 290
FAMILIES_AT_LEAST = 19
MAX_REASON = 600
# Of each family one in three is tried by `--all`, and all by `--long`; of these, which take a third
# of a second and more each, one in six.
COSTLY_FAMILIES = ("flooding", "detecting", "dodging")
PAIRED_FAMILIES = ("names",)  # of which one needs another: names that differ in case alone
NEIGHBOURS = {
    "neighbour-right": {"mat_add": RIGHT, "blocks_per_sm": RIGHT_BLOCKS},
    "neighbour-wrong": {"mat_add": RIGHT.replace("+ B", "- B")},
    "neighbour-unfinished": {"blocks_per_sm": "def blocks_per_sm(device, threads, registers"},
    "neighbour-without-answer": {},
}
# Files that a tool would take for its own, where the command is started.
START_UP = "conftest.py sitecustomize.py usercustomize.py numpy.py json.py nbval.py pytest.ini"
START_UP += " tox.ini setup.cfg pyproject.toml jupyter_config.py ipython_config.py grading.toml"


def test_there_are_enough_of_all_families_each_with_its_own_name():
    families = Counter(each.family for each in ATTACKS)
    assert len(ATTACKS) >= AT_LEAST
    assert len(families) >= FAMILIES_AT_LEAST, families
    names = Counter(each.id for each in ATTACKS)
    assert [name for name, count in names.items() if count > 1] == []
    assert {each.family for each in _usual_attacks()} == {each.family for each in ATTACKS}


def test_harm_would_be_seen(tmp_path: Path) -> None:
    """What looks for harm below finds some where there is some."""
    before = fingerprint(tmp_path)
    (tmp_path / "page.html").write_text("<html><script>x()</script><p onclick=x></html>\x1b")
    (tmp_path / "table.csv").write_text("a,b\n=1+1,2\n")
    assert len(_changes(before, fingerprint(tmp_path))) == 2
    told = " ".join(objections_to(tmp_path))
    assert all(sign in told for sign in ("<script>", "onclick", "formula", "control characters"))
    token = uuid.uuid4().hex
    waits = ["sh", "-c", "echo ready; read line"]
    started = {"HOME": f"/somewhere/{token}"}
    with subprocess.Popen(waits, env=started, stdin=PIPE, stdout=PIPE) as left:
        # Only when it speaks, Linux surely shows the environment that it was given.
        assert left.stdout is not None and left.stdout.readline() == b"ready\n"
        assert processes_of(token) == (" ".join(waits) + " ",)


@pytest.mark.slow
def test_attacks(tmp_path: Path) -> None:
    _all_repelled(tmp_path, _usual_attacks())


@pytest.mark.long
def test_heavy_attacks(tmp_path: Path) -> None:
    usual = {each.id for each in _usual_attacks()}
    _all_repelled(tmp_path, [each for each in ATTACKS if each.id not in usual])


def _usual_attacks() -> list[Attack]:
    """Those of `--all`: some of each family."""
    families: dict[str, list[Attack]] = {}
    for attack in ATTACKS:
        if not attack.heavy:
            families.setdefault(attack.family, []).append(attack)
    steps = {**dict.fromkeys(COSTLY_FAMILIES, 6), **dict.fromkeys(PAIRED_FAMILIES, 1)}
    return [
        attack
        for family, attacks in families.items()
        for attack in attacks[:: steps.get(family, 3)]
    ]


def test_archive_of_a_class(tmp_path: Path) -> None:
    """The archive that an instructor downloads can be hostile, too: each entry for itself."""
    honest = json.dumps(notebook([code(f"# EXERCISE mat_add\n{RIGHT}")])).encode()
    link = zipfile.ZipInfo("link/answer.ipynb")
    link.external_attr = 0o120777 << 16
    entries = (
        ("honest/answer.ipynb", honest),
        (f"../../{MARK}/answer.ipynb", honest),
        (f"/tmp/{MARK}.ipynb", honest),
        ("..\\up/answer.ipynb", honest),
        (link, b"/etc/passwd"),
        ("bomb/answer.ipynb", b" " * 25_000_000),
        ("nested/work.zip", archive(("a.zip", archive(("b.ipynb", honest))))),
        ("\x1b[2J\u202e/answer.ipynb", honest),
    )
    (tmp_path / "class.zip").write_bytes(archive(*entries))
    before = fingerprint(tmp_path)
    found = {each.student: each for each in each_submission(tmp_path / "class.zip")}
    assert fingerprint(tmp_path) == before
    assert not list(tmp_path.parent.rglob(MARK))
    readable = {name for name, each in found.items() if any(file.cells for file in each.files)}
    assert readable == {"honest", "[2J"}
    assert len(found) == len(entries)
    for name, each in found.items():
        problems = [each.problem, *(file.problem for file in each.files)]
        assert name in readable or any(problems), name


def _all_repelled(place: Path, attacks: Sequence[Attack]) -> None:
    """Grade the neighbours alone and with the attackers, and compare."""
    peaceful = place / "peaceful"
    _hand_in_neighbours(peaceful)
    alone = grade(peaceful, place / "alone", EXERCISES, home=_home(place))
    assert alone.status == 0, alone.said
    submissions = place / "submissions"
    _hand_in_neighbours(submissions)
    for attack in attacks:
        attack.hand_in(submissions)
    _plant_start_up_files(submissions)
    shutil.copytree(REPOSITORY / "solutions", place / "course" / "solutions")
    watched = (submissions, place / "course", place / "alone", *_grader())
    before = fingerprint(*watched)
    attacked = grade(submissions, place / "out", EXERCISES, home=_home(place))
    after = fingerprint(*watched)
    objections = [objection_to(attack, attacked) for attack in attacks]
    objections += _changes(before, after)
    objections += _harm(place, alone, attacked)
    objections += objections_to(attacked.out)
    objections = [each for each in objections if each]
    assert not objections, f"{len(objections)}:\n" + "\n".join(objections) + "\n" + attacked.said


def _hand_in_neighbours(submissions: Path) -> None:
    for name, answers in NEIGHBOURS.items():
        cells = [code(f"# EXERCISE {exercise}\n{text}") for exercise, text in answers.items()]
        write_notebook(below(submissions, name) / "answer.ipynb", [code("import math"), *cells])


def _plant_start_up_files(submissions: Path) -> None:
    for name in START_UP.split():
        harm = f"open('{MARK}', 'w').write('x')\nraise SystemExit('{MARK}')\n"
        text = harm if name.endswith(".py") else "[pytest]\naddopts = --no-such-option\n"
        (submissions / name).write_text(text)


def _home(place: Path) -> Path:
    home = place / "home"
    home.mkdir(exist_ok=True)
    return home


def _grader() -> tuple[Path, ...]:
    return tuple(REPOSITORY / name for name in ("course_lib", "exercises", "solutions"))


def objection_to(attack: Attack, graded: Graded) -> str:
    """What is wrong with the outcome of an attack; empty if nothing is."""
    try:
        row = graded.row(attack.submission, attack.exercise)
    except AssertionError as error:
        return f"{attack.id}: {error}"
    reason, verdict, points = row["reason"], row["verdict"], row["points"]
    exercise = CURRICULUM[attack.exercise]
    told = f"{attack.id}: {points!r} points, {verdict}: {reason[:300]!r}"
    earned = {
        "nothing": verdict in ("failed", "missing") and points == "0",
        "part": verdict in ("failed", "partly")
        and float(points or "nan") <= exercise.max_points - exercise.points[attack.pretends],
        "all": verdict == "passed" and points == str(exercise.max_points),
        "review": verdict == "needs review" and points == "",
    }
    if not earned[attack.earns]:
        return f"{told} (it earns: {attack.earns})"
    if not re.search(attack.says, reason, re.IGNORECASE):
        return f"{told} (expected: {attack.says})"
    if not reason.strip() and attack.earns != "all":
        return f"{told} (no reason)"
    if len(reason) > MAX_REASON or not reason.isprintable():
        return f"{told} (a reason is one short line of text, not {len(reason)} characters)"
    return ""


def _changes(before: dict[str, str], after: dict[str, str]) -> list[str]:
    names = sorted(
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    )
    return [f"changed: {name}" for name in names]


def _harm(place: Path, alone: Graded, attacked: Graded) -> list[str]:
    """What the neighbours, the machine and the instructor's screen got of it."""
    found = [] if attacked.status == 0 else [f"the command ended with {attacked.status}"]
    found += [f"still running: {each}" for each in attacked.left_running]
    found += [f"left behind: {each}" for each in (*place.rglob(MARK), *Path("/tmp").glob(MARK))]
    if re.search(r"[^\n\r\x20-\x7e\u00a0-\uffff]", attacked.said):
        found.append(f"control characters on the screen: {attacked.said[-600:]!r}")
    for name in NEIGHBOURS:
        theirs = [row for row in attacked.rows if row["submission"] == name]
        if theirs != [row for row in alone.rows if row["submission"] == name] or not theirs:
            found.append(f"{name} has other rows beside the attackers: {theirs}")
        page = Path("feedback") / f"{name}.html"
        if (alone.out / page).read_bytes() != (attacked.out / page).read_bytes():
            found.append(f"{name} has another page beside the attackers")
    return found
