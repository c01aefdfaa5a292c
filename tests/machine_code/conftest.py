"""The compiler, where this machine has it; elsewhere these tests are skipped, with the mend."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

# The environments that `course.py test --all` makes have it: there nothing may be skipped.
REQUIRED = Path(sys.prefix).name in (".venv-compiler", ".venv-colab")


@pytest.fixture(scope="session")
def corpus() -> ModuleType:
    """The kernels of corpus.py, on a machine that can compile and disassemble them."""
    from course_lib.machine_code import compiler

    reason = compiler.missing()
    if not reason and compiler.find_tool("nvdisasm") is None:
        reason = f"nvdisasm is not here: {compiler.GET_DISASSEMBLER}"
    if reason and REQUIRED:
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    import machine_code_corpus

    return machine_code_corpus
