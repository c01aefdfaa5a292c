"""The compiler, where this machine has it; elsewhere these tests are skipped, with the mend."""

import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

# The environments that `course.py test --all` makes have it: there nothing may be skipped.
REQUIRED = Path(sys.prefix).name in (".venv-compiler", ".venv-colab", ".venv-upstream")


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


@pytest.fixture(scope="session")
def nvcc() -> str:
    """NVIDIA's compiler for C++, on a machine that has one for the host's part, too."""
    from course_lib.machine_code import compiler

    found = compiler.find_tool("nvcc")
    if found is None and Path(sys.prefix).name == ".venv-compiler":
        pytest.fail("nvcc is not here: it comes with the `compiler` extra")
    if found is None:
        pytest.skip("nvcc is not here: the CUDA toolkit has it")
    if not any(map(shutil.which, ("gcc", "g++", "cl"))):
        pytest.skip("nvcc needs a C++ compiler for the host, which is not here")
    return found
