"""Random bytes, random JSON and random changes of real notebooks: the reader says why, or reads."""

import copy
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notebook_texts import REPOSITORY, notebook_file, tasks

from course_lib.grading.answers.search import find_answers, recognised_exercises
from course_lib.grading.intake import reading
from course_lib.grading.intake.layout import Owner, displayed, keys_of, owner_of
from course_lib.grading.intake.reading import Unreadable, read_cells
from course_lib.grading.intake.submissions import each_submission
from course_lib.grading.records import CannotGrade, Submission, SubmittedFile, TextCell

SOLVED = [json.loads(notebook_file("solutions", n).read_bytes()) for n in ("05", "06", "08")]

any_text = st.text(st.characters(exclude_categories=()), max_size=200)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | any_text
some_keys = st.sampled_from("cells worksheets source input cell_type content".split()) | any_text
any_json = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(some_keys, inner, max_size=4),
    max_leaves=20,
)
code_texts = st.sampled_from([
    "# EXERCISE matmul_tiled\n", "# exercise pick_a_tile\n", "@cuda.jit\n", "TILE = 16\n",
    "def matmul_tiled(A, B, C):\n", "    C[0, 0] = TILE\n", "BM = BN = BK = TM = TN = 1",
    "\n%%time\n", "!ls\n", "```python\n", ">>> ", "    ", "(", '"""', "\\\n", "\ufeff", "\n",
    "import os\n", "from numba import cuda\n", "## Break it\n", "lambda: 0\n", "x?\n", "f'{",
    "class matmul_tiled: pass\n", "async def matmul_tiled(): pass\n", "global x\n", "x: int\n",
])  # fmt: skip
some_code = st.lists(code_texts | any_text, max_size=12).map("".join)


def check_cells(cells: tuple[TextCell, ...]) -> None:
    assert [cell.number for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        assert cell.kind in ("code", "markdown", "raw")
        assert type(cell.text) is str and cell.text == reading.clean(cell.text)
        cell.text.encode()  # no lone surrogates


def check_answers(cells: tuple[TextCell, ...]) -> None:
    """Whatever the cells hold, there is one answer for each exercise, in order and consistent."""
    submission = Submission("s", "s", (SubmittedFile("x.ipynb", cells),))
    ids = ["matmul_tiled", "pick_a_tile", "blocks_per_sm", "matmul_2d"]
    for given_tasks in (None, tasks()):
        answers = find_answers(submission, ids, given_tasks)
        assert [answer.exercise for answer in answers] == ids
        for answer in answers:
            assert (answer.problem is None) == bool(answer.text)
            if answer.text:
                assert 1 <= answer.first_line <= answer.text.count("\n") + 1
                assert any(cell.number == answer.cell for cell in cells)
    assert set(recognised_exercises(submission)) >= {
        name for name in ids for cell in cells if cell.text.startswith(f"# EXERCISE {name}\n")
    }


def check_bytes(data: bytes) -> None:
    """What every fuzzer here asks of the reader."""
    try:
        cells = read_cells(data)
    except Unreadable as reason:
        assert str(reason).endswith(".") and "\n" not in str(reason)
        return
    check_cells(cells)
    check_answers(cells)


@given(st.binary(max_size=400))
def test_random_bytes(data):
    check_bytes(data)


@given(any_json, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_random_json(value, encoding):
    check_bytes(json.dumps(value).encode(encoding))


@given(st.lists(st.tuples(st.sampled_from(["code", "markdown", "raw"]), some_code), max_size=8))
def test_random_cells(cells):
    cleaned = [(kind, reading.clean(text)) for kind, text in cells]
    check_answers(tuple(TextCell(*each, number) for number, each in enumerate(cleaned, start=1)))


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a JSON value, with each of its keys or indices."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        container = waiting.pop()
        keys = list(container) if isinstance(container, dict) else range(len(container))
        found += [(container, key) for key in keys]
        waiting += [container[key] for key in keys if isinstance(container[key], dict | list)]
    return found


@pytest.mark.slow
@given(st.sampled_from(SOLVED), st.randoms(use_true_random=False), any_json)
def test_real_notebooks_with_changes(notebook, chance, value):
    changed = copy.deepcopy(notebook)
    for _ in range(chance.randint(1, 5)):
        container, key = chance.choice(places_in(changed))
        if chance.random() < 0.5:
            container[key] = copy.deepcopy(value)  # a value within itself would have no end
        else:
            del container[key]
    data = bytearray(json.dumps(changed).encode())
    if chance.random() < 0.5:
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(data))
            data[place : place + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
    check_bytes(bytes(data))


@pytest.mark.slow
@given(st.sampled_from(SOLVED), st.randoms(use_true_random=False), any_json)
def test_answers_do_not_depend_on_ids_metadata_and_outputs(notebook, chance, value):
    changed = copy.deepcopy(notebook)
    changed["metadata"], changed["nbformat_minor"] = value, value
    for cell in changed["cells"]:
        for key in ("id", "metadata", "execution_count", "outputs", "attachments", "collapsed"):
            if chance.random() < 0.6:
                cell[key] = value
            else:
                cell.pop(key, None)
        if chance.random() < 0.5:
            cell["source"] = "".join(cell["source"])
        items = list(cell.items())
        chance.shuffle(items)
        cell.clear()
        cell.update(items)
    assert answers_in(changed) == answers_in(notebook)


@pytest.mark.slow
@given(st.sampled_from(SOLVED), st.randoms(use_true_random=False))
def test_the_order_of_cells_does_not_change_an_answer(notebook, chance):
    shuffled = copy.deepcopy(notebook)
    chance.shuffle(shuffled["cells"])
    assert [a.text for a in answers_in(shuffled)] == [a.text for a in answers_in(notebook)]


def answers_in(notebook: dict[str, Any]) -> tuple[Any, ...]:
    cells = read_cells(json.dumps(notebook).encode())
    submission = Submission("s", "s", (SubmittedFile("x.ipynb", cells),))
    ids = [each for each in tasks() if any(f"# EXERCISE {each}\n" in cell.text for cell in cells)]
    assert ids
    return find_answers(submission, ids, tasks())


@given(
    st.lists(st.text(st.characters(exclude_categories=()), min_size=1, max_size=40), unique=True)
)
def test_random_names(names):
    owners = {owner_of(name, is_folder=False): name for name in names}
    keys = keys_of(list(owners))
    assert len({key.casefold() for key in keys}) == len(owners)
    for key, owner in zip(keys, owners, strict=True):
        assert key.isascii() and key.replace("-", "a").replace(".", "a").replace("_", "a").isalnum()
        assert key[-1] not in "-._" and key[0] not in "-._"
        assert displayed(owner.student) == owner.student
        assert keys_of([Owner(owner.student, raw=key)])


def small_zip(chance: random.Random) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", chance.choice([0, 8])) as archive:
        for number in range(chance.randint(1, 4)):
            archive.writestr(f"s{number}/{chance.choice('ab')}.ipynb", '{"cells": []}')
            archive.writestr(f"s{number}/inner.zip", b"PK\x05\x06" + bytes(18))
    return file.getvalue()


@given(st.randoms(use_true_random=False))
def test_archives_with_changed_bytes(chance):
    data = bytearray(small_zip(chance))
    for _ in range(chance.randint(1, 8)):
        place = chance.randrange(len(data))
        data[place : place + chance.randint(0, 4)] = chance.randbytes(chance.randint(0, 4))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "all.zip")
        path.write_bytes(data)
        try:
            found = list(each_submission(path))
        except CannotGrade:
            found = []
        assert os.listdir(folder) == ["all.zip"]
    assert len({each.key.casefold() for each in found}) == len(found)
    assert all(each.problem or each.files for each in found)


@pytest.mark.long
def test_coverage_guided_fuzzing(tmp_path):
    """Atheris mutates real notebooks for a minute, steered by what the reader's code does."""
    if find_spec("atheris") is None:
        pytest.skip(
            "atheris is not installed here: pip install atheris (Linux, Python 3.11 to 3.13)"
        )
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for path in (REPOSITORY / "solutions").glob("*.ipynb"):
        cells = json.loads(path.read_bytes())["cells"]
        some = [{key: cell[key] for key in ("cell_type", "source")} for cell in cells[3:9]]
        (corpus / path.name).write_text(json.dumps({"cells": some}), encoding="utf-8")
        script = "\n\n".join("# %%\n" + "".join(cell["source"]) for cell in some)
        (corpus / f"{path.stem}.py").write_text(script, encoding="utf-8")
    target = Path(__file__).with_name("fuzz_reader.py")
    seconds = os.environ.get("FUZZ_SECONDS", "60")
    options = [f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=1500", "-max_len=20000"]
    paths = os.pathsep.join([str(REPOSITORY), str(Path(__file__).parent)])
    done = subprocess.run(
        [sys.executable, str(target), str(corpus), *options], cwd=tmp_path, text=True,
        env=os.environ | {"PYTHONPATH": paths}, capture_output=True, timeout=int(seconds) + 240,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "cov:" in done.stderr  # it did run, and saw the code
