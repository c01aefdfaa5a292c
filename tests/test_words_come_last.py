"""Nothing reads a sentence back: where every sentence is gibberish, all else stays as it is."""

import ast
import importlib
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "grading"))
sys.path.insert(0, str(Path(__file__).parent / "mutants"))

from expectations import Mutant, all_mutants, one_of_each
from rows_of_a_class import SETTINGS, submission
from sampling import marks
from stored_answers import CHEAP

from course_lib.grading.gradebook.feedback import feedback_page
from course_lib.grading.gradebook.scoring import score
from course_lib.grading.judging import batches
from course_lib.grading.records import FoundAnswer
from course_lib.wording import sentences
from course_lib.wording.findings import Finding
from course_lib.wording.tables import Wording

MUTANTS = all_mutants()
FAST_ONE_IN = 200  # of those that cost little
FEW = one_of_each(MUTANTS, exercises=False)  # a sentence goes with its code


def _marks(number: int, mutant: Mutant) -> list[pytest.MarkDecorator]:
    if mutant.exercise not in CHEAP:
        return [pytest.mark.long]
    return marks(number, fast=FAST_ONE_IN, slow=f"{mutant.exercise}-{mutant.name}" in FEW)


WITH_WORDS = (Finding,)
GIBBERISH = "Qwx vlth."


@dataclass(frozen=True)
class Bones:
    """What is left of a verdict and of a student's page without their words."""

    findings: tuple[object, ...]
    points: float | None
    verdict: str
    page: list[str]


def bones(mutant: Mutant, seed: int) -> Bones:
    judged = batches.judge(mutant.exercise, mutant.text, seed)
    found = tuple((each.code, each.severity, each.line, bool(each.message), bool(each.hint))
                  for each in judged.findings)  # fmt: skip
    row = score(submission("s01"), FoundAnswer(mutant.exercise, mutant.text), judged, SETTINGS)
    page = feedback_page([row], "s01", SETTINGS)
    return Bones(found, row.points, row.verdict, re.findall(r"<[^>]*>", page))


def speak_gibberish(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence of the library says the same from here on; one without words says nothing."""
    render = sentences.render
    monkeypatch.setattr(sentences, "render", lambda *asked: GIBBERISH if render(*asked) else "")
    for kind in WITH_WORDS:
        monkeypatch.setattr(kind, "__init__", _then_silenced(kind.__init__))


def _then_silenced(make):
    def made(self, *args, **more) -> None:
        make(self, *args, **more)
        for field in ("message", "hint"):
            said = getattr(self, field)
            if said and not isinstance(said, sentences.Sentence):
                object.__setattr__(self, field, GIBBERISH)

    return made


@pytest.mark.parametrize("mutant", [
    pytest.param(each, id=f"{each.exercise}-{each.name}", marks=_marks(number, each))
    for number, each in enumerate(MUTANTS)
])  # fmt: skip
def test_gibberish_changes_nothing_but_the_words(mutant, monkeypatch):
    seed = 3
    spoken = bones(mutant, seed)
    speak_gibberish(monkeypatch)
    assert bones(mutant, seed) == spoken


def test_the_gibberish_is_spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    speak_gibberish(monkeypatch)
    mutant = next(each for each in MUTANTS if each.exercise == "mat_add")
    judged = batches.judge(mutant.exercise, mutant.text, 0)
    assert {each.message for each in judged.findings} == {GIBBERISH}


DIAGNOSIS = Path(sentences.__file__).parents[1] / "diagnosis"
SAYING = {"say": (0,), "finding": (1, 3), "Finding": (2, 4)}
A_WORD = re.compile(r"[A-Za-z]{2}")


def modules_without_words() -> dict[str, ast.Module]:
    """The modules of the diagnosis that tell things, and leave the sentences to others."""
    return {
        path.relative_to(DIAGNOSIS).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(DIAGNOSIS.rglob("*.py"))
        if path.name != "words.py"
    }


def sentences_in(tree: ast.Module) -> Iterator[int]:
    """The lines of sentences and hints that are written where they are said."""
    for node in ast.walk(tree):
        name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
        if name not in SAYING and name != "replace":
            continue
        given = [node.args[place] for place in SAYING.get(name, ()) if place < len(node.args)]
        given += [each.value for each in node.keywords if each.arg in ("message", "hint")]
        for each in given:
            for part in (each.body, each.orelse) if isinstance(each, ast.IfExp) else (each,):
                text = part.value if isinstance(part, ast.Constant) else ""
                if isinstance(text, str) and A_WORD.search(re.sub(r"\{\w+\}", "", text)):
                    yield part.lineno


def test_sentences_lie_in_tables_of_words():
    found = {name: list(sentences_in(tree)) for name, tree in modules_without_words().items()}
    assert not {name: lines for name, lines in found.items() if lines}
    text = "say('{a} ends.')\nsay('{a}')\nfinding('timeout', 'Too long.')\nreplace(a, hint='Why?')"
    assert list(sentences_in(ast.parse(text))) == [1, 3, 4]


def test_every_row_is_told_and_every_kind_has_a_row() -> None:
    """Which a misspelt kind, or facts that lack one of a row's, would only show when it is told."""
    rows: dict[str, dict[str, Wording]] = defaultdict(dict)
    told: dict[str, set[str]] = defaultdict(set)
    for name, tree in modules_without_words().items():
        for words in [each.module for each in ast.walk(tree) if _imports_tell(each)]:
            rows[words] = importlib.import_module(words).tell.rows
            constants = [each.value for each in ast.walk(tree) if isinstance(each, ast.Constant)]
            told[words] |= {value for value in constants if value in rows[words]}
            for call in filter(_is_told, ast.walk(tree)):
                if _is_text(call.args[0]):
                    assert call.args[0].value in rows[words], (name, call.lineno)
    assert {words: set(table) for words, table in rows.items()} == told


def _imports_tell(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and "tell" in {each.name for each in node.names}


def _is_told(node: ast.AST) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(getattr(function, "value", function), "id", "") == "tell"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
