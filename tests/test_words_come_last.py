"""Nothing reads a sentence back: where every sentence is gibberish, all else stays as it is."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "grading"))
sys.path.insert(0, str(Path(__file__).parent / "mutants"))

from expectations import Mutant, all_mutants, one_of_each
from rows_of_a_class import SETTINGS, submission
from sampling import marks

from course_lib import sentences
from course_lib.diagnosis.functions import resident_slips
from course_lib.diagnosis.slip import Slip, SlipLocation
from course_lib.findings import Finding
from course_lib.grading.gradebook.feedback import feedback_page
from course_lib.grading.gradebook.scoring import score
from course_lib.grading.judging import batches
from course_lib.grading.records import FoundAnswer

MUTANTS = all_mutants()
FAST_ONE_IN = 300
FEW = one_of_each(MUTANTS)
WITH_WORDS = (
    *((kind, ("message", "hint")) for kind in (Finding, Slip, SlipLocation)),
    (resident_slips.ResidentSlip, ("says", "hint")),
)
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
    found = tuple(
        (each.code, each.severity, each.line, bool(each.message), bool(each.hint))
        for each in judged.findings
    )
    row = score(submission("s01"), FoundAnswer(mutant.exercise, mutant.text), judged, SETTINGS)
    page = feedback_page([row], "s01", SETTINGS)
    return Bones(found, row.points, row.verdict, re.findall(r"<[^>]*>", page))


def speak_gibberish(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sentence of the library says the same from here on; one without words says nothing."""
    render = sentences.render
    monkeypatch.setattr(sentences, "render", lambda *asked: GIBBERISH if render(*asked) else "")
    for kind, fields in WITH_WORDS:
        monkeypatch.setattr(kind, "__init__", _then_silenced(kind.__init__, fields))


def _then_silenced(make, fields: tuple[str, ...]):
    def made(self, *args, **more) -> None:
        make(self, *args, **more)
        for field in fields:
            said = getattr(self, field)
            if said and not isinstance(said, sentences.Sentence):
                object.__setattr__(self, field, GIBBERISH)

    return made


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(each, id=name, marks=marks(number, fast=FAST_ONE_IN, slow=name in FEW))
        for number, each in enumerate(MUTANTS)
        for name in [f"{each.exercise}-{each.name}"]
    ],
)
def test_gibberish_changes_nothing_but_the_words(
    mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = 3
    spoken = bones(mutant, seed)
    speak_gibberish(monkeypatch)
    assert bones(mutant, seed) == spoken


def test_the_gibberish_is_spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    speak_gibberish(monkeypatch)
    mutant = next(each for each in MUTANTS if each.exercise == "matmul_tiled")
    judged = batches.judge(mutant.exercise, mutant.text, 0)
    assert {each.message for each in judged.findings} == {GIBBERISH}
