"""Measurements of attention: what a file says, and what is said while there is none."""

from __future__ import annotations

import pytest

from course_lib import measurements
from course_lib.measurements import attention, files
from course_lib.measurements.attention import CUDNN, OURS, AttentionProblem, AttentionRun, Row

FULL = AttentionProblem(4, 16, 4096, 128)
CAUSAL = AttentionProblem(4, 16, 4096, 128, causal=True)
MADE = AttentionRun(
    "NVIDIA Made-up", "2026-01-02", {"torch": "2"},
    (
        Row(OURS, FULL, (1.0, 3.0, 2.0), 2e-3), Row(CUDNN, FULL, (1.0, 1.0, 1.0), 2e-3),
        Row(OURS, CAUSAL, why_not="did not end"),
    ),
)  # fmt: skip


def test_a_file_gives_back_what_was_stored() -> None:
    text = files.as_text(MADE.content())
    assert attention.parse(text) == MADE
    with pytest.raises(ValueError, match="schema 1"):
        attention.parse(text.replace('"schema": 1', '"schema": 2'))


def test_what_was_not_measured_is_refused() -> None:
    with pytest.raises(KeyError, match="was not measured on batch 4"):
        MADE.find(OURS, CAUSAL)
    with pytest.raises(KeyError, match="not measured on 'T4'"):
        attention.load("T4")


def test_the_table_has_every_row_and_its_reason() -> None:
    table = str(MADE)
    assert MADE.label in table and table.count(OURS) == 2 and "did not end" in table
    assert table.index(CUDNN) < table.index(OURS)  # the fastest first


def test_files_of_attention_are_none_of_benchs() -> None:
    for device in measurements.devices():
        assert measurements.load(device).entries
    for device in attention.devices():
        made = attention.load(device)
        assert made.rows and made.date and made.versions
