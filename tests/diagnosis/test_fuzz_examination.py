"""Whatever the text, an examination ends, raises nothing, and says the same twice."""

import os
import random
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from counted_work import counted_calls
from hypothesis import given, settings
from hypothesis import strategies as st
from random_answers import PARAMETERS, TESTS, damaged, kernel, soup
from stored_answers import right_answers_to

from course_lib.checking import examine_source

# Half of them in the launches, half in the search for a change; a bug means far more, or no end.
MOST_CALLS = 40_000_000
QUICK = ("mat_add", "matmul_naive", "transpose_tiled", "block_scan", "blocks_per_sm")
FUZZED = ("mat_add", "matmul_naive", "block_scan", "blocks_per_sm", "pick_a_tile")
SEEDS = st.integers(0, 2**32 - 1)


def check(exercise: str, text: str, seed: int = 0) -> None:
    """With `debug`, a mistake of the checker's own is raised."""
    with counted_calls(MOST_CALLS):
        first = examine_source(exercise, text, seed=seed, debug=True)
    again = examine_source(exercise, text, seed=seed, debug=True)
    assert first == again
    assert first.findings or first.passed
    assert all(each.message.isprintable() for each in first.findings)
    lines = text.count("\n") + 2
    assert all(each.line is None or 1 <= each.line <= lines for each in first.findings)


@given(SEEDS, st.integers(1, 60), st.sampled_from(sorted(PARAMETERS)))
def test_soup_of_words(seed: int, words: int, exercise: str) -> None:
    check(exercise, soup(random.Random(seed), words))


@pytest.mark.slow
@settings(max_examples=2)
@given(SEEDS, st.sampled_from(QUICK))
def test_random_kernels(seed: int, exercise: str) -> None:
    check(exercise, kernel(random.Random(seed), exercise), seed)


@pytest.mark.slow
@settings(max_examples=4)
@given(SEEDS, st.sampled_from(QUICK))
def test_damaged_answers(seed: int, exercise: str) -> None:
    check(exercise, damaged(random.Random(seed), exercise), seed)


@pytest.mark.long
@settings(max_examples=1500)
@given(SEEDS, st.sampled_from(sorted(PARAMETERS)))
def test_many_random_kernels(seed: int, exercise: str) -> None:
    if exercise != "pick_a_tile":
        check(exercise, kernel(random.Random(seed), exercise), seed)


@pytest.mark.long
@settings(max_examples=600)
@given(SEEDS, st.sampled_from([*QUICK, "matmul_tiled", "matmul_1d", "matmul_2d", "attention"]))
def test_many_damaged_answers(seed: int, exercise: str) -> None:
    check(exercise, damaged(random.Random(seed), exercise), seed)


@pytest.mark.long
def test_coverage_guided_fuzzing(tmp_path: Path) -> None:
    """Atheris changes real answers for a minute, steered by what the checker's code does."""
    if find_spec("atheris") is None:
        pytest.skip("atheris is not installed here: pip install atheris (Linux)")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number, exercise in enumerate(FUZZED):
        for name, text in right_answers_to(exercise).items():
            (corpus / f"{exercise}-{name}").write_bytes(bytes([number]) + text.encode())
    target = Path(__file__).with_name("fuzz_answers.py")
    seconds = os.environ.get("FUZZ_SECONDS", "60")
    options = [f"-max_total_time={seconds}", "-timeout=60", "-rss_limit_mb=2500", "-max_len=4000"]
    done = subprocess.run(
        [sys.executable, str(target), str(corpus), *options],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(TESTS.parent)},
        capture_output=True,
        text=True,
        timeout=int(seconds) + 240,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "cov:" in done.stderr  # it did run, and saw the code
