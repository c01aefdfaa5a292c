"""Answers that are no kernels: blocks_per_sm, whose every idea shows, and pick_a_tile."""

import itertools
import random
from dataclasses import replace

import pytest
from every_case import every_case
from sampling import few

import course_lib
from course_lib.checking import CheckFailed
from course_lib.curriculum import EXERCISES, TASKS
from course_lib.devices import device, occupancy
from course_lib.diagnosis.functions import function_calls
from course_lib.diagnosis.functions.called_function import explanations
from course_lib.diagnosis.functions.words import Call
from course_lib.problems.resident_blocks import (
    EXAMPLES,
    blocks,
    launch_of,
    launches,
    resident_blocks,
    resident_ideas,
)
from course_lib.problems.tile_choice import GPU, INTENSITY, LEAST_BLOCKS, TileConfiguration
from course_lib.wording.sentences import facts_of

SEEDS = (0, 1, 7)


def possible(seed: int):
    return [launch_of(*each.arguments) for each in calls(seed)]


def calls(seed: int) -> list[Call]:
    """Calls of launches that no rule refuses, which come out right."""
    table = resident_blocks(EXERCISES["blocks_per_sm"], seed)
    made = [Call(table, each, table.reference(*each)) for each in table.calls]
    return [replace(each, value=each.wanted) for each in made if not each.refused]


def answers(ideas, cases):
    changes = {name: to for idea in ideas for name, to in idea.computes.keywords.items()}
    return [computed(changes, each.arguments) for each in cases]


def computed(changes, arguments):
    try:
        return blocks(*arguments, **changes)
    except ZeroDivisionError:
        return None


def explain(numbers, cases):
    """What is said of an answer with these numbers."""
    came = [replace(each, value=value) for each, value in zip(cases, numbers, strict=True)]
    found = next(explanations([each for each in came if each.value is not None], None))
    return [each.facts.get("says", each.kind) for each in found]


@pytest.mark.parametrize("seed", SEEDS)
def test_without_an_idea_the_formula_is_right(seed):
    cases = calls(seed)
    assert answers([], cases) == [each.wanted for each in cases]


@pytest.mark.parametrize("seed", few(SEEDS))
def test_every_idea_shows_and_is_recognised_by_its_numbers(seed):
    cases = calls(seed)
    right = [each.wanted for each in cases]
    for idea in resident_ideas():
        numbers = answers([idea], cases)
        assert numbers != right, idea.says
        assert explain(numbers, cases) == [idea.says]


LIMITS = {
    "threads": (64, 128, 256, 320, 512, 640),
    "registers": (32, 40, 64, 96, 100, 128, 160, 168),
    "shared_bytes": (1 << 10, 1 << 13, 1 << 14, 1 << 15, 48 << 10, 64 << 10, 96 << 10, 100_000),
}


@every_case("seed", SEEDS)
@every_case("what", LIMITS)
def test_an_answer_that_is_right_only_up_to_a_number_shows(what, seed):
    """Wherever one of many other launches tells it from a right one, one of these does."""

    def is_right_of(launch, limit):
        if launch.blocks == 0:  # what is refused is another rule
            return True
        sizes = {name: getattr(launch, name) for name in LIMITS}
        sizes[what] = min(sizes[what], limit)
        return occupancy(launch.sm.name, **sizes).blocks == launch.blocks

    others = [launch for other in range(100, 110) for launch in possible(other)]
    for limit in LIMITS[what]:
        assert not all(is_right_of(launch, limit) for launch in others)
        assert not all(is_right_of(launch, limit) for launch in possible(seed)), limit


def test_two_ideas_are_recognised_together():
    cases = calls(0)
    drawn = random.Random(4)
    pairs = [
        pair
        for pair in itertools.combinations(resident_ideas(), 2)
        if not pair[0].computes.keywords.keys() & pair[1].computes.keywords
    ]
    for pair in drawn.sample(pairs, 25):
        found = explain(answers(pair, cases), cases)
        assert set(found) == {idea.says for idea in pair} or len(found) == 1, pair


def test_the_same_seed_tries_the_same_launches():
    assert launches(3) == launches(3)
    assert launches(3) != launches(4)
    assert len(launches(3)) > len(EXAMPLES) + 200


ANSWER = """
def blocks_per_sm(device, threads, registers, shared_bytes):
    if threads > 1024 or registers > 255:
        return 0
    warps = -(-threads // 32)
    per_warp = -(-registers * 32 // 256) * 256
    shared = shared_bytes + device.shared_reserved_bytes
    shared = -(-shared // device.shared_unit_bytes) * device.shared_unit_bytes
    by_shared = device.shared_per_sm_bytes // shared if shared else 99
    by_registers = 16384 // per_warp * 4 // warps
    return min(device.warps_per_sm // warps, by_registers, by_shared, device.blocks_per_sm)
"""
ONE_FILE = ("16384 // per_warp * 4 // warps", "65536 // per_warp // warps")


def test_a_right_answer_earns_everything():
    report = course_lib.examine_source("blocks_per_sm", ANSWER, debug=True)
    assert report.passed and report.points == report.max_points == 10
    assert report.held == (f"right for {len(launches(0))} of {len(launches(0))} calls",)


def test_a_wrong_answer_is_told_its_arithmetic():
    report = course_lib.examine_source("blocks_per_sm", ANSWER.replace(*ONE_FILE), debug=True)
    [found] = report.errors
    assert (found.code, found.line) == ("wrong-formula", 10)
    assert "(device=A100-40, threads=96, registers=40, shared_bytes=0) returns 17" in found.message
    assert "but should return 16" in found.message
    assert "⌊16384 / 1280⌋ = 12 warps per sub-partition" in found.message
    assert report.points == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_another_seed_comes_to_the_same_verdict(seed):
    assert course_lib.examine_source("blocks_per_sm", ANSWER, seed=seed).passed
    wrong = course_lib.examine_source("blocks_per_sm", ANSWER.replace(*ONE_FILE), seed=seed)
    assert [each.code for each in wrong.errors] == ["wrong-formula"]


def test_a_change_in_a_function_that_it_calls_is_told_there():
    helper = "def up(number, unit):\n    return number // unit + 1\n\n"
    text = helper + ANSWER.replace("-(-threads // 32)", "up(threads, 32)")
    [found] = course_lib.examine_source("blocks_per_sm", text, debug=True).errors
    assert (found.code, found.line) == ("wrong-formula", 2)
    assert "round `number // unit + 1` the other way" in found.message


@pytest.mark.slow
def test_without_refusals_the_rest_still_counts():
    text = ANSWER.replace("threads > 1024 or registers > 255", "threads < 1")
    report = course_lib.examine_source("blocks_per_sm", text, debug=True)
    assert [each.code for each in report.errors] == ["invalid-launch"] * 2
    assert report.earned == {"right": 8, "refusals": 0}


def blocks_per_sm(device, threads, registers, shared_bytes):
    """A live function, which is read and not called: a call would stop here."""
    if isinstance(device, object):
        raise AssertionError("this was executed")
    return 0


def never_called(device, threads, registers, shared_bytes):
    return 1


def test_a_live_function_is_read_and_not_called():
    report = course_lib.examine("blocks_per_sm", blocks_per_sm)
    assert [each.code for each in report.findings] == ["unsupported"]  # isinstance
    [found] = course_lib.examine("blocks_per_sm", never_called, debug=True).errors
    assert found.code == "hardcoded-answer"
    assert found.line == never_called.__code__.co_firstlineno + 1


@pytest.mark.parametrize("nonsense", [None, 3, "text", {}, len, type])
def test_what_is_no_function_is_reported(nonsense):
    report = course_lib.examine("blocks_per_sm", nonsense)
    assert not report.passed
    assert report.errors[0].code == "missing-answer"


HOSTILE = {
    "while True:\n        pass": "timeout",
    "return blocks_per_sm(device, threads, registers, shared_bytes)": "timeout",
    "return 10 ** 10 ** 10": "not-allowed",
    "return [0] * 10 ** 10": "not-allowed",
    "return device.__class__": "not-allowed",
    "device.warps_per_sm = 1\n    return 1": "not-allowed",
    "yield 1": "unsupported",
    "return device": "wrong-formula",
    "return float('nan')": "wrong-formula",
    "return [threads]": "wrong-formula",
    "return threads * 10 ** 70": "wrong-result",
}


def test_all_launches_share_one_budget(monkeypatch):
    """A loop that is just short enough for one launch would be long for three hundred."""
    monkeypatch.setattr(function_calls, "STEPS", 100_000)
    loop = "n = 0\n    for i in range(2000):\n        n += i % 7\n    return n"
    text = f"def blocks_per_sm(device, threads, registers, shared_bytes):\n    {loop}\n"
    [found] = course_lib.examine_source("blocks_per_sm", text, debug=True).errors
    assert (found.code, found.line) == ("timeout", 3)


@every_case("body", HOSTILE)
def test_no_answer_hangs_or_breaks_the_checker(body):
    text = f"def blocks_per_sm(device, threads, registers, shared_bytes):\n    {body}\n"
    report = course_lib.examine_source("blocks_per_sm", text, debug=True)
    assert report.errors[0].code == HOSTILE[body]
    assert report.points == 0
    assert len(str(report).splitlines()) <= 15


def test_a_refusal_by_a_fraction_is_not_called_accepted() -> None:
    """0.0 is no launch either; what is wrong with it is that it is no int."""
    text = (
        "def blocks_per_sm(device, threads, registers, shared_bytes):\n"
        "    if threads > 1024 or registers > 255:\n"
        "        return 0.0\n"
        "    return 1.0\n"
    )
    report = course_lib.examine_source("blocks_per_sm", text)
    assert not report.passed
    assert "invalid-launch" not in {each.code for each in report.findings}


def test_where_it_stops_is_told_once() -> None:
    """It stops for launches that are possible, and for two kinds of those that are not."""
    text = """
def blocks_per_sm(device, threads, registers, shared_bytes):
    return min(2048 // threads, device.shared_per_sm_bytes // shared_bytes)
"""
    [found] = course_lib.examine_source("blocks_per_sm", text, debug=True).errors
    assert (found.code, found.line) == ("wrong-formula", 3)


def test_right_in_one_call_by_chance_is_no_rule() -> None:
    text = TASKS["ring_end"].answer.replace("max(empty + copy, before)", "empty + copy * before")
    found = course_lib.examine_source("ring_end", text, debug=True).errors[0]
    assert facts_of(found.message).keys() <= {"call", "value", "wanted", "compared", "worked"}


NAMES = EXERCISES["pick_a_tile"].parameters
CLASSIC = dict(zip(NAMES, (128, 128, 8, 8, 8), strict=True))


def codes(**numbers: object) -> list[str]:
    report = course_lib.examine("pick_a_tile", {**CLASSIC, **numbers}, debug=True)
    return [each.code for each in report.errors]


def test_the_numbers_asked_for_are_those_of_the_data_sheet():
    assert pytest.approx(device(GPU).ridge_fp32, abs=0.1) == INTENSITY == 20
    tile = TileConfiguration(**CLASSIC)
    assert (tile.threads, tile.shared_bytes, tile.registers) == (256, 8192, 112)
    assert tile.intensity == 32


def test_a_check_cell_passes_and_a_text_does(capsys):
    course_lib.check("pick_a_tile", CLASSIC)
    assert "passed (10 of 10 points)" in capsys.readouterr().out
    text = "\n".join(f"{name} = {value}" for name, value in CLASSIC.items())
    assert course_lib.examine_source("pick_a_tile", text).passed


def test_the_tile_of_lesson_05_is_not_enough(capsys):
    with pytest.raises(CheckFailed):
        course_lib.check("pick_a_tile", dict(zip(NAMES, (32, 32, 32, 1, 1), strict=True)))
    assert "8.0 FLOP per requested byte, but the exercise asks for 20" in capsys.readouterr().out


def test_the_verdict_is_that_of_the_conditions():
    """Every combination of usual sizes, judged by the conditions as the statement has them."""
    sides, steps, outputs = (32, 64, 96, 128, 256), (4, 8, 16, 64), (1, 4, 6, 8)
    seen = set()
    for BM, BN, BK, TM, TN in itertools.product(sides, sides, steps, outputs, outputs):
        fits = BM % TM == 0 and BN % TN == 0
        if fits:
            tile = TileConfiguration(BM, BN, BK, TM, TN)
            found = occupancy(GPU, tile.threads, tile.registers, tile.shared_bytes)
            fits = (
                tile.threads % 32 == 0
                and BM * BK % tile.threads == 0
                and BN * BK % tile.threads == 0
                and found.blocks >= LEAST_BLOCKS
                and tile.intensity >= INTENSITY
            )
        seen.add(fits)
        assert (codes(BM=BM, BN=BN, BK=BK, TM=TM, TN=TN) == []) == fits, (BM, BN, BK, TM, TN)
    assert seen == {True, False}


@every_case("numbers, expected", [
    ({"BM": True}, ["compile-error"]),
    ({"BM": "128"}, ["compile-error"]),
    ({"BM": 128.0}, ["compile-error"]),
    ({"BM": 0}, ["invalid-launch"]),
    ({"BM": -8}, ["invalid-launch"]),
    ({"BM": 10**30}, ["invalid-launch"]),
    ({"BM": None}, ["compile-error"]),
    ({"TM": 256}, ["incomplete-output"]),
])  # fmt: skip
def test_nonsense_is_a_finding(numbers, expected):
    assert codes(**numbers) == expected


@pytest.mark.parametrize("nonsense", [None, 3, "text", {}, [], len])
def test_what_are_no_numbers_is_reported(nonsense):
    report = course_lib.examine("pick_a_tile", nonsense)
    assert [each.code for each in report.errors] == ["missing-answer"]


def test_points_follow_the_conditions():
    def earned(**numbers: int) -> dict[str, int]:
        return course_lib.examine("pick_a_tile", {**CLASSIC, **numbers}).earned

    assert earned(TM=1, TN=1) == {"right": 0, "resident": 0, "intensity": 0}
    assert earned(BM=64, BN=64, TM=4, TN=4) == {"right": 4, "resident": 3, "intensity": 0}
    assert earned(BK=128) == {"right": 4, "resident": 0, "intensity": 3}


def test_numbers_of_numpy_are_whole_numbers_too():
    """`BM = np.int32(128)` is 128 wherever a kernel uses it."""
    text = "\n".join(f"{name} = np.int32({value})" for name, value in CLASSIC.items())
    report = course_lib.examine_source("pick_a_tile", f"import numpy as np\n{text}\n")
    assert report.passed
