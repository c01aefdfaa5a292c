"""The playground: any kernel and launch, in every order of the warps, with lines and figures."""

import json
from html import unescape
from typing import Any

import pytest
from every_case import every_case
from kernels_to_play import MATRICES, NEIGHBOURS, TILED, VECTORS

from course_lib.tab.requests import answer


def play(text: str, grid: Any, block: Any, arrays: dict[str, str], **more: Any) -> dict[str, Any]:
    made = [{"name": name, "made": line} for name, line in arrays.items()]
    asked = {"do": "play", "text": text, "grid": grid, "block": block, "arrays": made, **more}
    return json.loads(answer(json.dumps(asked)))


def test_a_missing_barrier_is_found_marked_and_seen_in_the_numbers() -> None:
    found = play(NEIGHBOURS, 1, 64, VECTORS)
    errors = [each for each in found["marks"] if each["severity"] == "error"]
    assert [(each["line"], each["title"]) for each in errors] == [
        (14, "race: read perhaps before it was written")
    ]
    assert [each["line"] for each in found["marks"] if each["severity"] == "other"] == [13]
    x, y = found["outputs"]
    assert (x["changed"], y["changed"]) == (False, True) and x["shape"] == [64]
    assert x["same_in_every_order"] and not y["same_in_every_order"]
    assert "decides what is in y" in found["html"] and "1 error" in found["html"]


def test_a_product_has_the_figures_of_products() -> None:
    found = play(TILED, [2, 2], [8, 8], MATRICES)
    assert found["ok"] and "no findings" in found["html"]
    offered = [each["id"] for each in found["figures"]]
    assert offered == ["sectors", "banks", "owners", "step", "race"]
    drawn = play(TILED, [2, 2], [8, 8], MATRICES, figure="banks")
    assert drawn["ok"] and 10_000 < len(drawn["html"].encode()) < 300_000
    assert not play(NEIGHBOURS, 1, 64, VECTORS, figure="step")["ok"]


@every_case(
    ("text", "grid", "block", "said"),
    [
        ("x = (", 1, 1, "not valid Python"),
        (NEIGHBOURS, 1, 2048, "the most that a GPU allows"),
        (NEIGHBOURS, 0, 64, "whole numbers above zero"),
        (NEIGHBOURS, 1, [1, 1, 1, 1], "whole numbers above zero"),
        (NEIGHBOURS, "many", 64, "whole numbers above zero"),
        (NEIGHBOURS, None, 64, "whole numbers above zero"),
        (NEIGHBOURS.replace("x[t]", "open(x)"), 1, 64, "open"),
        (NEIGHBOURS.replace("s[t] = x[t]", "while True:\n        s[t] = x[t]"), 1, 64, "loop"),
    ],
)
def test_what_cannot_run_is_told_as_a_finding(text: str, grid: Any, block: Any, said: str) -> None:
    found = play(text, grid, block, VECTORS)
    assert found["ok"] and said in found["html"] and 'data-is="error"' in found["html"]


@pytest.mark.parametrize(
    ("text", "arrays", "said"),
    [
        ("N = 3\n", {}, "There is no kernel here"),
        (NEIGHBOURS, {"x": "np.zeros(64)"}, "neighbours takes y"),
        (NEIGHBOURS, {**VECTORS, "z": "3"}, "no parameter called z"),
        (NEIGHBOURS, {**VECTORS, "y": "np.load('y')"}, "y: "),
        ("@staticmethod\ndef f(x):\n    x[0] = 1\n", {"x": "np.zeros(1)"}, "decorator in line 1"),
    ],
)
def test_what_cannot_be_read_is_told_in_the_place_of_a_verdict(text, arrays, said):
    found = play(text, 1, 64, arrays)
    assert said in found["status"] and found["status"] in unescape(found["html"])
    assert 'data-said="wrong"' in found["html"] and not found["outputs"]
