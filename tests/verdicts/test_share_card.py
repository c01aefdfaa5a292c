"""The card of a rung just passed: its words are what was counted, and it is a whole picture."""

import base64
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html import unescape

from course_lib.own_ladder import OwnRung, whole_ladder
from course_lib.verdicts import share_card


def passed(*names: str, gpu: str = "", of: str = "product") -> list[OwnRung]:
    """Rungs passed with the reference's counts, the last of them just now."""
    return [
        replace(rung, yours=rung.ours, passed=True, is_new=rung.title == names[-1],
                gpu=gpu, milliseconds=0.5 if gpu else None)
        for rung in whole_ladder(of=of)
        if rung.title in names
    ]  # fmt: skip


def drawn(rungs: list[OwnRung]) -> tuple[str, list[str]]:
    """The words that stand for the picture, and those within it."""
    image = share_card.image_of(rungs)
    data = re.search('base64,([^"]+)', image)
    alt = re.search('alt="([^"]*)"', image)
    assert data and alt
    tree = ElementTree.fromstring(base64.b64decode(data[1]))
    return unescape(alt[1]), [node.text or "" for node in tree.iter() if node.tag.endswith("text")]


def test_a_rung_just_passed_is_told_with_what_it_saves() -> None:
    alt, words = drawn(passed("naive_by_rows", "matmul_coalesced", "matmul_tiled"))
    assert alt == (
        "matmul_tiled: 3 of 11 rungs climbed. 16× fewer bytes loaded than matmul_coalesced"
    )
    assert {"matmul_tiled", "139,264", "32,768", "4,096"} <= set(words)
    assert "Judged on an emulated GPU, which counted a product of 64 x 64 matrices." in words


def test_the_first_rung_saves_nothing_and_a_time_is_told_where_there_is_one() -> None:
    alt, words = drawn(passed("softmax_naive", of="row softmax", gpu="<b>T4</b> & co"))
    assert alt == "softmax_naive: 1 of 4 rungs climbed. "
    assert "0.5 ms for 4096 x 4096 on <b>T4</b> & co" in words


def test_no_card_without_a_new_rung() -> None:
    rungs = [replace(rung, is_new=False) for rung in passed("naive_by_rows")]
    assert share_card.image_of(rungs) == "" and share_card.image_of([]) == ""


def test_a_rung_whose_counts_are_unknown_draws_no_bar() -> None:
    (rung,) = passed("naive_by_rows")
    _, words = drawn([replace(rung, yours={})])
    assert "139,264" not in words
