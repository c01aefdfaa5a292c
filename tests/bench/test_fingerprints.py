"""A fingerprint is of code alone; what is stored was measured with the kernels that are here."""

from pathlib import Path

import pytest

from course_lib import measurements
from course_lib.bench import fingerprints
from course_lib.kernels import RUNG_KERNELS

TWINS = Path(__file__).parents[2] / "benchmarks" / "twins"
PYTHON = '"""Why."""\n\n\ndef kernel(A, B):\n    """What."""\n    # how\n    A[0] = B[1] + 2\n'
CUDA_C = "// why\n#pragma unroll\nfor (int i = 0; i < 4; ++i) a[i] = b[i];  /* how */\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [("Why.", "Another reason."), ("    # how\n", ""), ("B[1] + 2", "(\n        B[1] + 2\n    )")],
)
def test_words_and_layout_do_not_count_in_python(old, new):
    assert fingerprints.of_python(PYTHON.replace(old, new)) == fingerprints.of_python(PYTHON)


@pytest.mark.parametrize(
    ("old", "new"), [("B[1]", "B[0]"), ("+ 2", "+ 2.0"), ("+", "-"), ("A[0] =", "A[0] +=")]
)
def test_code_counts_in_python(old, new):
    assert fingerprints.of_python(PYTHON.replace(old, new)) != fingerprints.of_python(PYTHON)


def test_code_alone_counts_in_cuda_c():
    same = CUDA_C.replace("// why\n", "").replace("/* how */", "// how").replace("; i", ";\n   i")
    assert fingerprints.of_cuda_c(same) == fingerprints.of_cuda_c(CUDA_C)
    for old, new in (("#pragma unroll", "#pragma unroll 2"), ("i < 4", "i < 5"), ("b[i]", "c[i]")):
        assert fingerprints.of_cuda_c(CUDA_C.replace(old, new)) != fingerprints.of_cuda_c(CUDA_C)


def test_a_fingerprint_does_not_follow_the_version_of_python():
    assert fingerprints.of_python(PYTHON) == "cf9702547398"


@pytest.mark.parametrize("device", measurements.devices())
def test_what_is_stored_was_measured_with_these_kernels(device):
    changed = set()
    for entry in measurements.load(device).entries:
        if entry.kind in ("rung", "tuned"):
            now = fingerprints.of_python(RUNG_KERNELS[entry.name].source)
        elif entry.kind == "twin":
            now = fingerprints.of_cuda_c((TWINS / f"{entry.name}.cu").read_text(encoding="utf-8"))
        else:
            continue
        if entry.source != now:
            changed.add(entry.name)
    assert not changed, "run `course.py bench --nvcc --store` on a GPU"
