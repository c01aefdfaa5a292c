"""Stepping through K: every number comes from the run, and can be checked by hand."""

import numpy as np
import pytest
from every_case import every_case
from kernels_to_watch import EMPTY, ENDLESS, LITERAL, PLAIN, TILED, kernel

from course_lib.figures import step_through_k
from course_lib.figures.interactive import Interactive
from course_lib.figures.watch import NothingToDraw

TOY_A = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
TOY_B = np.array([[1, 2, 0, 1], [1, 0, 2, 3], [1, 2, 0, 1], [1, 0, 2, 3]], dtype=np.float32)


def text_of(figure: Interactive, name: str, at: int) -> object:
    return figure.state(at=at)[name]["text"]


def positions(figure: Interactive) -> range:
    return range(len(figure.controls[0].values))


def lit_chips(figure: Interactive) -> list[str]:
    chips = ("load", "barrier1", "multiply", "barrier2", "store")
    return [
        next(
            (chip for chip in chips if figure.state(at=at).get(chip, {}).get("class") == "lit"),
            "start",
        )
        for at in positions(figure)
    ]


def test_the_toy_of_lesson_04_number_by_number() -> None:
    figure = step_through_k(tile=(4, 4, 2), matrices=(TOY_A, TOY_B))
    one_tile = ["load", "barrier1", "multiply", "multiply", "barrier2"]
    assert lit_chips(figure) == ["start", *one_tile, *one_tile, "store"]
    totals = [text_of(figure, "tr0.0", at) for at in (4, 9, 11)]
    assert totals == ["3", "10", "10"]
    assert text_of(figure, "sum", 8) == "thread (0, 0), C[0, 0]: 3 + 3·1 = 6"
    assert [text_of(figure, f"ts0-0.{k}", 1) for k in (0, 1)] == ["1", "2"]
    assert [text_of(figure, f"ts0-0.{k}", 6) for k in (0, 1)] == ["3", "4"]  # overwritten
    assert text_of(figure, "tC0.0", 10) == "·" and text_of(figure, "tC0.0", 11) == "10"


def test_a_missing_barrier_is_seen_and_said() -> None:
    figure = step_through_k(kernel(TILED, ("cuda.syncthreads()  # second", "pass")))
    assert "barrier2" not in lit_chips(figure)
    drawn = figure.html()
    assert "no barrier" in drawn and "⚠ The emulator reports: race" in drawn
    assert "No barrier follows" in figure.sentence(at=4)


def test_wrong_totals_are_marked_where_they_are() -> None:
    forgetful = kernel(
        TILED,
        ("    total = float32(0)\n", ""),
        ("        sA[ty, tx]", "        total = float32(0)\n        sA[ty, tx]"),
    )
    figure = step_through_k(forgetful)
    last = positions(figure)[-1]
    assert str(text_of(figure, "tC0.0", last)).startswith("✗")
    assert "Not as in A @ B: 4 elements" in figure.sentence(at=last)
    assert "strip" not in figure.still.alt and "K" not in figure.still.alt.split(".")[0]


def test_tiles_past_the_edge_show_zeros_or_what_was_there() -> None:
    ours = step_through_k(shape=(3, 3, 3), block=(1, 1))
    assert text_of(ours, "ts0-0.1", 6) == "0"
    unguarded = step_through_k(kernel(), shape=(3, 3, 3), block=(1, 1))
    assert text_of(unguarded, "ts0-0.1", 6) == "?"
    assert "outside an array" in unguarded.html()


@every_case(
    ("given", "words"),
    [
        ({"kernel": kernel(EMPTY)}, "still empty"), ({"kernel": kernel(PLAIN)}, "no shared array"),
        ({"kernel": kernel(LITERAL)}, "TILE = 16"), ({"kernel": kernel(ENDLESS)}, "does not end"),
        ({"kernel": 3}, "not a kernel"), ({"kernel": kernel(), "tile": (4, 4, 2)}, "16 × 16"),
        ({"kernel": kernel(TILED, ("(A, B, C)", "(A, B, C, D)"))}, "4 arguments, but"),
        ({"shape": (40, 4, 4)}, "none above 16"), ({"shape": (4, 4)}, "three whole numbers"),
        ({"tile": (2, 2, 4)}, "several"), ({"tile": "T"}, "cannot be drawn"),
        ({"block": (2, 0)}, "no block"), ({"matrices": (TOY_A, TOY_B[:3])}, "no product"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_said_in_a_sentence(given: dict, words: str) -> None:
    with pytest.raises(NothingToDraw, match=words):
        step_through_k(**given)
