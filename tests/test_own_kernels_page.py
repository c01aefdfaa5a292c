"""docs/own_kernels.md: its programs print what stands there, its tests fail with those words."""

import linecache
import re
import runpy
from pathlib import Path

import pytest
from child import python
from every_case import every_case

pytest.importorskip("numba.cuda")

from course_lib.host import runtime

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "own_kernels.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```\n\nIt prints:\n\n```\n(.*?)```", PAGE, re.DOTALL)
((TESTS, REPORT),) = re.findall(
    r"```python\n([^`]*?)```\n\nthe report has\n\n```\n(.*?)```", PAGE, re.DOTALL
)


@every_case("number", range(2))
def test_a_program_prints_what_stands_there(tmp_path, monkeypatch, capsys, number):
    code, printed = PROGRAMS[number]
    (tmp_path / "program.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    runtime.stop()  # another test may have left it started
    linecache.cache.pop("program.py", None)  # of the program before
    runpy.run_path("program.py")
    assert capsys.readouterr().out == printed


def test_every_program_is_run() -> None:
    assert len(PROGRAMS) + 1 == PAGE.count("```python")


@pytest.mark.slow
def test_the_report_of_a_test_suite(tmp_path: Path) -> None:
    (tmp_path / "test_blocks.py").write_text(TESTS, encoding="utf-8")
    options = ("-p", "no:cacheprovider", "-p", "course_lib.pytest_plugin", "--cuda-emulate")
    ran = python("-m", "pytest", *options, cwd=tmp_path, status=1, COLUMNS="400")
    assert REPORT in ran.stdout


def test_the_options_are_those_of_the_plugin() -> None:
    from course_lib import pytest_plugin

    named = set(re.findall(r"--cuda-emulate[a-z-]*", PAGE))
    assert named == {pytest_plugin.OPTION, pytest_plugin.STEPS, pytest_plugin.WARN}
