"""What a report praises, all launches have shown: held against what the emulator found in each."""

import re

import pytest
from expectations import Mutant, all_mutants
from sampling import few, marks
from stored_answers import BY_COST, CHEAP, right_answers_to

import course_lib
from course_lib.curriculum import EXERCISES, TASKS
from course_lib.diagnosis.examination import Examination
from course_lib.diagnosis.launches.outcome import OUTSIDE, Trial
from course_lib.diagnosis.report import Report
from course_lib.emulator.profile.profile import Profile

JUDGED = {**TASKS, **EXERCISES}
MUTANTS = [each for each in all_mutants() if JUDGED[each.exercise].kind.name == "kernel"]
FAST_ONE_IN = 120
SLOW_ONE_IN = 70
DEAR = BY_COST[-7:]  # tried by `--long` alone


def _races(code: str) -> bool:
    return code.startswith("race-") or code == "barrier-divergence"


def _outside(code: str) -> bool:
    return code in OUTSIDE or code in ("wrong-index", "wrong-bounds-check")


# What no launch may have found where this is praised.
CONTRADICTED_BY = {
    "no races": _races,
    "no thread leaves an array": _outside,
    "float32 throughout": lambda code: code == "float64-arithmetic",
}


def _objection(held: str, trials: list[Trial], report: Report) -> str:
    """What speaks against a sentence; empty if nothing does."""
    codes = [each.code for trial in trials for each in trial.profile.findings]
    errors = {each.code for each in report.errors}
    exact = next((trial for trial in trials if trial.case.exact), None)
    right = [trial for trial in trials if trial.right]
    usual = [trial for trial in trials if trial.case.is_counted]
    if held in CONTRADICTED_BY:
        return next((code for code in codes if CONTRADICTED_BY[held](code)), "")
    if " on all " in held:
        return "" if len(right) == len(trials) else "a launch is wrong"
    if held.endswith("as long as the warps run in step"):
        in_step = [trial for trial in trials if trial.case.schedule == "lockstep"]
        return "" if all(trial.right for trial in in_step) else "a launch in step is wrong"
    if held == "right where the blocks divide all sizes":
        return "" if exact and exact.right else "it is not"
    if counted := re.fullmatch(r"right on (\d+) of (\d+) launches", held):
        told, of = map(int, counted.groups())
        is_so = told == sum(trial.right for trial in usual) and len(usual) <= of
        return "" if is_so else f"right on {len(right)} of {len(usual)}"
    if all_usual := re.fullmatch(r"right on all (\d+) usual launches", held):
        is_so = int(all_usual[1]) == sum(trial.right for trial in usual) == len(usual)
        return "" if is_so else f"right on {len(right)} of {len(usual)}"
    if exact is None or not exact.right:
        return "costs are praised of wrong numbers"
    return _objection_to_costs(held, exact.profile, errors)


def _objection_to_costs(held: str, profile: Profile, errors: set[str]) -> str:
    conflicts = profile.shared_load_bank_conflicts + profile.shared_store_bank_conflicts
    against = {
        "shared memory is used": not profile.shared_load_requests,
        "tensor cores make all products": 11 * profile.tensor_flops < 10 * profile.flops,
        "no bank conflicts": bool(conflicts),
        "each access moves 16 bytes": "not-used" in errors,
        "asynchronous copies fill shared memory": "not-used" in errors,
        "each tile travels while another one is multiplied": "serial-work" in errors,
        "each element is fetched once per tile": "excess-global-traffic" in errors,
        "global memory is accessed in neighbouring elements": any(
            code.startswith("uncoalesced") for code in errors
        ),
    }
    return f"{held}: it is not so" if against[held] else ""


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(
            mutant,
            id=f"{mutant.exercise}-{mutant.name}",
            marks=marks(
                number,
                fast=FAST_ONE_IN if mutant.exercise in CHEAP else 0,
                slow=0 if mutant.exercise in DEAR else SLOW_ONE_IN,
            ),
        )
        for number, mutant in enumerate(MUTANTS)
    ],
)
def test_every_praise_is_true(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    _hold(mutant.exercise, mutant.text, monkeypatch)


def _hold(exercise: str, text: str, monkeypatch: pytest.MonkeyPatch) -> Report:
    concluded: list[list[Trial]] = []
    conclude = Examination.conclude

    def keep(self: Examination, trials: list[Trial]) -> Report:
        concluded.append(trials)
        return conclude(self, trials)

    monkeypatch.setattr(Examination, "conclude", keep)
    report = course_lib.examine_source(exercise, text, debug=True)
    if not concluded:  # nothing was launched
        assert not report.held
        return report
    # Of several ways to launch, the report is of the one that passes, or of the nearest to it.
    tried = concluded[-1:] if report.passed else concluded
    objections = [
        {held: _objection(held, trials, report) for held in report.held} for trials in tried
    ]
    assert any(not any(each.values()) for each in objections), f"{objections}\n{report}"
    return report


@pytest.mark.parametrize("change", few(["barrier", "bound", "both"], 2))
def test_a_race_that_a_cause_explains_is_no_praise(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The causes named first swallow the race; what holds must not."""
    text = right_answers_to("matmul_tiled")["ternary_padding"]
    if change != "bound":
        first = text.index("        cuda.syncthreads()\n")
        text = text[:first] + text[first + len("        cuda.syncthreads()\n") :]
    if change != "barrier":
        assert "row < M and col < N" in text
        text = text.replace("row < M and col < N", "row <= M and col < N")
    report = _hold("matmul_tiled", text, monkeypatch)
    assert ("no races" in report.held) == (change == "bound"), str(report)
    assert ("no thread leaves an array" in report.held) == (change == "barrier"), str(report)


def test_one_thread_is_not_praised_for_racing_with_nobody() -> None:
    for task, several in (("put_seven", False), ("add_ten", True)):
        text = "from numba import cuda\n" + TASKS[task].answer
        assert ("no races" in course_lib.examine_source(task, text).held) == several


def test_where_only_the_numbers_differ_a_size_is_not_what_is_wrong() -> None:
    text = "import math\nfrom numba import cuda, float32\n@cuda.jit\ndef merge_parts(O, L, out):\n"
    text += "    x = cuda.threadIdx.x\n    top = bottom = float32(0)\n"
    text += "    for i in range(L.shape[0]):\n        w = math.exp(L[i])\n"
    text += "        top += w * O[i, x]\n        bottom += w\n    out[x] = top / bottom\n"
    held = course_lib.examine_source("merge_parts", text, debug=True).held
    assert not any("divide all sizes" in each for each in held)
