"""What a step from rung 11 to rung 12 changes is short, and what it counts was predicted."""

import pytest
from sampling import few

from course_lib.kernels.step_changes import changes, counts, run_of
from course_lib.kernels.tma_steps import STEPS
from course_lib.questions import predictions

MOST_LINES = 45
# Lines that a step's difference holds, with their signs.
HOLD = {
    "persistent": ("persistent: stays = True, was False", "  (no line of the kernel)"),
    "tma_store": ("- store_directly, all of it", "+                 tma_store(map_c, "),
    "bf16": ("bf16: result = bfloat16, was float32", "+                 words = ("),
    "overlap": ("overlap: overlap = True, was False", "  (no line of the kernel)"),
    "clusters": ("  load:", "+         tma_load_multicast(", "-                     stmatrix_x4("),
    "last_turn": ("last_turn: plan = tiles of 128 x 64 in clusters of 1",),
}


@pytest.mark.parametrize("name", few(HOLD))
def test_what_changes_is_told_in_few_lines(name: str) -> None:
    lines = changes(name).splitlines()
    assert len(lines) <= MOST_LINES
    for start in HOLD[name]:
        assert any(line.startswith(start) for line in lines), start


def test_the_first_step_has_none_before_it() -> None:
    with pytest.raises(ValueError, match="choose one of persistent, tma_store"):
        changes("tma")


@pytest.mark.slow
def test_every_number_that_is_predicted_comes_out() -> None:
    asked, runs = predictions("10b"), {name: run_of(name) for name in STEPS}
    assert runs["bf16"].stored == asked["10b-rounded"].value()
    assert runs["overlap"].loaded - runs["clusters"].loaded == asked["10b-shared-tile"].value()
    assert runs["tma_store"].stores < runs["persistent"].stores
    same = ("loaded", "stored", "blocks")
    assert all(getattr(runs["tma_store"], n) == getattr(runs["tma"], n) for n in same)
    assert runs["last_turn"].loaded > runs["clusters"].loaded
    assert (runs["clusters"].blocks, runs["last_turn"].blocks) == (2, 8)
    assert f"{runs['bf16'].stored:,}" in counts("bf16")
