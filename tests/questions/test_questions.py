"""Every quick check of every lesson: computed, proved, with a reason for each answer."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from every_case import every_case

from course_lib.curriculum import TASKS
from course_lib.questions import lessons, of_lesson
from course_lib.questions.judging import judge
from course_lib.questions.kinds import Choose, FillIn, Number, WhichLine, shown
from course_lib.questions.lesson_05 import gone_home_facts, luck_facts, next_turn_facts
from course_lib.questions.reveals import revealed, right_guess
from course_lib.questions.runs import run

EVERY = {name: question for number in lessons() for name, question in of_lesson(number).items()}
_LOWER_WORD = re.compile(r"(?!float|gcd|int)[a-z]{2}")  # a sentence may begin with x or float32
CODE = re.compile(r"`[^`]*`")
SIZES = {str(size) for size in range(33)}  # of a number, a sector, a warp
WRITTEN_NUMBER = re.compile(r"(?<![\w.])\d(?:[\d.,]*\d)?")
NUMBERS = [name for name, each in EVERY.items() if isinstance(each, Number)]

# Worked out apart from the course, so that a formula cannot vouch for itself.
ROW_1, COLUMN_1 = (5, 6, 7, 8), (2, 0, 2, 0)
MEASUREMENTS = Path(__file__).resolve().parents[2] / "course_lib" / "measurements"
BENCH = json.loads((MEASUREMENTS / "H200.json").read_text())
MEMORY = json.loads((MEASUREMENTS / "memory" / "H200.json").read_text())
BANKS = json.loads((MEASUREMENTS / "banks" / "H200.json").read_text())
ATTENTION = json.loads((MEASUREMENTS / "attention" / "H200.json").read_text())
SOFTMAX = json.loads((MEASUREMENTS / "row_softmax" / "H200.json").read_text())


def rung_ms(name):
    """Of a rung in Python, at 4096 x 4096."""
    entry = row_of(BENCH["entries"], name=name, kind="rung")
    return np.median(row_of(entry["cells"], size=4096)["samples_ms"])


def float32_ms(name):
    return np.median(row_of(ATTENTION["rows"], name=name)["samples_ms"])


def softmax_ms(name, size="4096 x 4096"):
    return np.median(SOFTMAX["rows"][size][name]["samples_ms"])


def row_of(rows, **what):
    return next(row for row in rows if row.items() >= what.items())


def most_in_a_bank(words):
    """Of different words, how many the busiest bank is asked for."""
    banks = [word % 32 for word in set(words)]
    return max(map(banks.count, banks))


def error_with_bits(bits):
    """Of a random product whose inputs keep so many significant bits, against float64."""
    random = np.random.default_rng(128)
    A, B = (random.uniform(-1, 1, size).astype(np.float32) for size in ((64, 128), (128, 64)))
    near = []
    for matrix in (A, B):
        fraction, exponent = np.frexp(matrix.astype(np.float64))
        near.append(np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits))
    exact = A.astype(np.float64) @ B.astype(np.float64)
    return np.linalg.norm(near[0] @ near[1] - exact) / np.linalg.norm(exact)


WORKED_OUT = {
    "00-same-line": 4,
    "00-my-number": np.arange(5 * 64).reshape(5, 64)[3, 10],
    "00-idle": 8 * 8 - 5 * 7,
    "00-bytes": 4 + 4 + 4,
    "01-latency": round(MEMORY["latency_ns"]["DRAM"]),
    "01-few-threads": row_of(MEMORY["speeds"], threads=1024)["gb_per_s"],
    "02-uses": 30,
    "02-reads": 64 * 96 * 2 * 32,
    "02-dram": row_of(MEMORY["levels"], kernel="naive", size=4096)["dram_gb"],
    "03-lane": np.tile(np.arange(32), 8).reshape(16, 16)[5, 3],
    "03-row-sums": len({4 * 64 * row // 32 for row in range(32)}),
    "03-step": 1 + len({4 * column // 32 for column in range(32)}),
    "03-faster": rung_ms("naive") / rung_ms("coalesced"),
    "04-second-output": ROW_1[0] * COLUMN_1[0] + ROW_1[1] * COLUMN_1[1],
    "04-strip": 32 * 4 * 4,
    "04-one-block": 16 * 64,
    "05-who-asks": 16,
    "05-loads": (64 // 16) ** 2 * 2 * 16 * 16,
    "05b-faster": rung_ms("coalesced") / rung_ms("tiled"),
    "05b-edge": next(edge for edge in range(1, 99) if edge / 4 >= 66_900 / 4800),
    "05c-rows": sum(np.arange(33) * 20 + 20 >= 33 * 20),
    "05c-warps": len([t for t in range(127) if t // 32 != (t + 1) // 32]),
    "07-turn-passes": sum((32 * row + 5) % 32 == 5 for row in range(32)),
    "07-three-bits": sum((32 * row + (5 ^ (row & 7))) % 32 == 5 for row in range(32)),
    "07-wide": 32 * 16 / 128,
    "07-seconds": BANKS["transpose"]["ms"]["tile"] / BANKS["transpose"]["ms"]["padded"],
    "07-neighbours": sum(32 * thread % 32 == 0 for thread in range(32)),
    "09-padding": most_in_a_bank([t % 2 * 4 * 136 + t // 2 for t in range(32)]),
    "09-strip": 4 * most_in_a_bank([8 * lane + word for lane in range(8) for word in range(4)]),
    "09-slack": 100 * 4 * (8 + 8) / (8 * 8),
    "09-faster": rung_ms("register_2d") / rung_ms("warp_tiled"),
    "09b-ticks": 3 + 3 * 3 + 2,
    "09b-warps": 65_536 // (256 * 32) // 8 * 8,
    "10-other-roof": 989.4 / 66.9,
    "10-which-lane": 4 * (11 - 8) + 6 // 2,
    "10-rows-of-128": 4 * 8,
    "10-warp-tile": (32 + 64) * 16 * 2 / 128 / (2 * 8),
    "10-bits": error_with_bits(8) / error_with_bits(11),
    "10b-passes": (64 + 256) * 16 * 2 / 128 / (4 * 32),
    "10b-stages": 12 // 3 + 1,
    "10b-band": 16,
    "10b-rounded": 256 * 256 * 2,
    "10b-shared-tile": (2 * (128 + 256) - (256 + 2 * 128)) * 64 * 2,
    "10c-least": 2 * 4096**2 * 4 / 4800e9 * 1e6,
    "10c-barriers": 2 * (7 + 1) + 1,
    "10c-once": softmax_ms("torch.softmax") / softmax_ms("softmax_once"),
    "11-bytes": 1 + 4096 / 32,
    "11-factor": np.exp(-2.0),
    "11b-causal": 100 * np.tri(32).sum() / 32**2,
    "11b-fused": float32_ms("exercise 11's solution") / float32_ms("PyTorch, unfused"),
    "11b-exponential": (1 / 16) * 2048 / (64 + 64),
}


def test_every_lesson_so_far_has_questions_of_several_kinds():
    assert {"00", "01", "02", "03", "04", "05", "05b"} <= set(lessons())
    for number in lessons():
        kinds = {type(question) for question in of_lesson(number).values()}
        assert len(of_lesson(number)) >= 4 and len(kinds) >= 2, number
        assert len(of_lesson(number)) == len(_written(number)), f"two of {number} share an id"


def _written(number):
    from importlib import import_module

    return import_module(f"course_lib.questions.lesson_{number}").QUESTIONS


@every_case("name", EVERY)
def test_a_question_is_whole(name):
    question = EVERY[name]
    assert re.fullmatch(r"\d\d[a-z]?(-[a-z0-9]+)+", name)
    rows = question.rows()
    if question.is_prediction:
        reasons = [why for _, _, why in rows if why] + [question.otherwise(), revealed(question)]
    else:
        reasons = reasons_of_a_quick_check(question)
    assert sum(right for _, right, _ in rows) == 1
    for text in (question.asks, *reasons):
        assert not text or (len(text) > 15 and text.count("`") % 2 == 0), text
        assert not text or not _LOWER_WORD.match(text), f"{text!r} stands after 'Right.'"
        assert "  " not in text and "{" not in text, text


def reasons_of_a_quick_check(question):
    """Every answer has one; a question that many answers fit has a hint, too."""
    reasons = [why for _, _, why in question.rows()]
    if isinstance(question, Choose):
        assert 3 <= len(reasons) <= 5 and len(set(reasons)) == len(reasons)
        return reasons
    assert question.hint and (question.otherwise() or isinstance(question, WhichLine))
    return [*reasons, question.otherwise(), question.hint]


@every_case("name", [name for name, each in EVERY.items() if each.is_prediction])
def test_a_prediction_is_whole(name):
    question = EVERY[name]
    assert isinstance(question, (Number, Choose)), "a guess is a number or a choice"
    asked = f"{question.asks} {question.code}"
    for number in WRITTEN_NUMBER.findall(CODE.sub("", question.reveal)):
        given = number in WRITTEN_NUMBER.findall(asked) or number in SIZES
        assert given, f"{number} is written down: use `facts`"
    assert judge(question, right_guess(question).strip('"')).right
    assert not question.hint, "the reveal comes after the first guess: nobody sees a hint"


@pytest.mark.parametrize(("reveal", "numbers"), [
    ("All {n} of the L1's float32, `x[3]` and 33.5 %.", ["33.5"]),
    ("1,024 and 8 lanes on an H200.", ["1,024", "8"]),
])  # fmt: skip
def test_a_number_that_is_written_down_is_seen(reveal, numbers):
    assert WRITTEN_NUMBER.findall(CODE.sub("", reveal)) == numbers


@every_case("name", NUMBERS)
def test_a_number_is_told_from_its_slips(name):
    question = EVERY[name]
    value = question.value()
    assert math.isfinite(value) and judge(question, float(value)).right
    assert judge(question, shown(value)).right, "as the reason prints it, it must count as right"
    for slip in question.slips:
        verdict = judge(question, float(slip.value()))
        assert not verdict.right and verdict.why == slip.why
    assert shown(value) not in re.findall(r"[\d.,]*\d", question.hint)


@every_case("name", WORKED_OUT)
def test_a_number_is_what_it_should_be(name):
    assert EVERY[name].value() == pytest.approx(WORKED_OUT[name])


def test_no_number_of_a_do_first_lesson_is_left_out():
    do_first = ("00", "01", "02", "03", "04", "05", "07", "09", "10", "11")
    assert {name for name in NUMBERS if name.startswith(do_first)} == set(WORKED_OUT)


@pytest.mark.parametrize("name", [n for n, q in EVERY.items() if isinstance(q, WhichLine)])
def test_the_emulator_names_the_wrong_line(name):
    question = EVERY[name]
    assert question.number_of(question.line) == str(question.proof())
    assert judge(question, question.proof()).right


@pytest.mark.parametrize("name", [n for n, q in EVERY.items() if isinstance(q, FillIn)])
def test_words_are_told_apart(name):
    question = EVERY[name]
    for spelling in question.accepts:
        assert judge(question, spelling.upper()).right, spelling
    for misread in question.misread:
        for spelling in misread.spellings:
            assert judge(question, spelling).why == misread.why, spelling
    assert judge(question, "something else").why == question.other


def test_what_lesson_05_says_of_missing_waits():
    """In step all is right, in turn half of it is not; who goes home early costs one sum."""
    assert luck_facts() == {"in_step": 0, "in_turn": 32}
    assert next_turn_facts() == {"wrong": 32, "nan": 0}
    assert gone_home_facts() == {"lost": "`y[99]`"}  # and the kernel ended


def test_no_count_of_the_emulator_tells_a_while_from_a_range() -> None:
    """What 05b-range asks, tried on both answers of its task."""
    task = TASKS["transposed_product"]
    matrices = [np.ones((32, 32), np.float32) for _ in range(3)]
    loops = [run(text, (2, 2), (16, 16), *matrices) for text in (task.answer, task.another)]
    counts = ("global_load_bytes", "global_load_requests", "global_load_sectors", "flops")
    ours, theirs = ([getattr(each, count) for count in counts] for each in loops)
    assert ours == theirs
