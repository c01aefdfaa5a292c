"""The figures offered beside a verdict: those that fit, drawn from the answer's own run."""

import json
from typing import Any

import pytest
from known_kernels import TILED
from sampling import few

from course_lib.curriculum import TASKS
from course_lib.figures.interactive import MAX_BYTES
from course_lib.tab.requests import answer

NAMED = "TILE = 16\n\n" + TILED
WRITTEN_OUT = TILED.replace("TILE", "16")
WITHOUT_A_BARRIER = NAMED.replace("        cuda.syncthreads()\n        for k", "        for k")
OUT_OF_STEP = NAMED.replace("sA[ty, k]", "sA[k, ty]")


def ask(do: str, name: str, text: str, **more: str) -> dict[str, Any]:
    return json.loads(answer(json.dumps({"do": do, "id": name, "text": text, **more})))


def offered(name: str, text: str) -> list[str]:
    return [each["id"] for each in ask("check", name, text)["figures"]]


@pytest.mark.parametrize(
    ("name", "text", "figures"),
    few(
        [
            ("matmul_tiled", NAMED, ["sectors", "banks", "owners", "step", "race"]),
            ("matmul_tiled", WITHOUT_A_BARRIER, ["sectors", "banks", "owners", "step", "race"]),
            ("matmul_tiled", OUT_OF_STEP, ["sectors", "banks", "owners", "step"]),
            ("matmul_tiled", WRITTEN_OUT, ["sectors", "banks", "owners"]),
            ("matmul_tiled", TILED.replace("(A, B, C)", "(A, B"), []),
            (
                "place_the_barriers",
                TASKS["place_the_barriers"].answer,
                ["sectors", "banks", "race"],
            ),
            ("sums_of_four", TASKS["sums_of_four"].answer, ["sectors", "banks"]),
            ("load_tile", TASKS["load_tile"].answer, ["sectors", "banks"]),
            ("naive_by_rows", TASKS["naive_by_rows"].answer, ["sectors", "owners"]),
            ("add_ten", TASKS["add_ten"].answer, ["sectors"]),
            ("add_ten", TASKS["add_ten"].given, []),
            ("bank_of", TASKS["bank_of"].answer, []),
        ],
        2,
    ),
)
def test_what_fits_is_offered(name: str, text: str, figures: list[str]) -> None:
    assert offered(name, text) == figures


@pytest.mark.parametrize("figure", few(["sectors", "banks", "owners", "step", "race"], 1))
def test_each_is_drawn_of_the_answers_own_run(figure: str) -> None:
    drawn = ask("figure", "matmul_tiled", WITHOUT_A_BARRIER, figure=figure)
    assert drawn["ok"], drawn
    assert 10_000 < len(drawn["html"].encode()) <= MAX_BYTES
    assert "matmul_tiled" in drawn["html"] and "http" not in drawn["html"].replace(
        "http://www.w3.org/", ""
    )


@pytest.mark.parametrize("name", ["load_tile", "one_tile_product"])
def test_lines_of_what_the_course_adds_are_left_out(name: str) -> None:
    html = ask("figure", name, TASKS[name].answer, figure="sectors")["html"]
    assert "line 1000" not in html and "line 1,000" not in html


@pytest.mark.slow
def test_a_kernel_without_an_end_is_told_in_a_sentence() -> None:
    text = TASKS["add_ten"].answer.rstrip() + "\n    while True:\n        out[0] = 1\n"
    refused = ask("figure", "add_ten", text, figure="sectors")
    assert not refused["ok"] and refused["said"] == (
        "add_ten does not end, so there is no run to draw."
    )
    assert offered("add_ten", text) == []


def test_what_does_not_fit_is_refused() -> None:
    refused = ask("figure", "matmul_tiled", WRITTEN_OUT, figure="step")
    assert not refused["ok"] and "no such figure" in refused["said"]
