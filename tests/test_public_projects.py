"""The measure on kernels of public projects: what is cut out, and that list and results agree."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("numba.cuda")

LANGUAGE = Path(__file__).parents[1] / "benchmarks" / "language"
sys.path.insert(0, str(LANGUAGE))

from cut_out import Missing, Style, cut_out, found_in  # noqa: E402
from recipes import NoLaunch, recipe_for  # noqa: E402

FILES = {
    "sums.py": """
import torch
from numba import cuda
from .helpers import doubled
from . import helpers as here
SIZE = 4
unused = torch.zeros(SIZE)

@cuda.jit("void(float32[:])")
def kernel(out: torch.Tensor):
    rows: torch.Tensor = out
    rows[0] = doubled(SIZE) + here.LIMIT

@cuda.jit
def of_a_device(x):
    return x

def made(n):
    @cuda.jit
    def inner(out):
        out[0] = n
    return inner
""",
    "helpers.py": """
from numba import cuda
LIMIT = 3

@cuda.jit(device=True)
def doubled(x):
    return 2 * x
""",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_kernels_are_found_and_cut_out_with_what_they_need(project: Path) -> None:
    first, second = found_in(FILES["sums.py"], "sums.py")
    assert (first.kernel, first.closes_over) == ("kernel", ())
    assert (second.kernel, second.closes_over) == ("made.inner", ("n",))
    text = cut_out(project, "sums.py", "kernel", first.sha, set(), Style.WRITTEN).text
    assert "def doubled" in text and "LIMIT = 3" in text and "SIZE = 4" in text
    assert "torch.zeros" not in text and "of_a_device" not in text
    compile(text, "cut", "exec")
    plain = cut_out(project, "sums.py", "kernel", first.sha, set(), Style.PLAIN).text
    assert "void(" not in plain


def test_a_name_that_nobody_explains(project: Path) -> None:
    inner = found_in(FILES["sums.py"], "sums.py")[1]
    (project / "sums.py").write_text(FILES["sums.py"].replace("def made(n)", "def made(other)"))
    with pytest.raises(Missing, match="n in"):
        cut_out(project, "sums.py", "made.inner", inner.sha, set(), Style.WRITTEN)


def test_the_list_the_results_and_the_recipes_agree() -> None:
    listed = json.loads((LANGUAGE / "kernels_of_public_projects.json").read_text())
    results = json.loads((LANGUAGE / "results_of_public_projects.json").read_text())
    measured = [each for each in listed["kernels"] if each["measured"]]
    assert Counter(each["sha"] for each in results) == Counter(each["sha"] for each in measured)
    assert {each["project"] for each in listed["kernels"]} == set(listed["projects"])
    for each in measured:
        try:
            recipe_for(each["project"], each["file"], each["kernel"])
        except NoLaunch as reason:
            assert str(reason)


def test_sixty_kernels_were_drawn_for_their_costs_and_every_finding_was_judged() -> None:
    kernels = json.loads((LANGUAGE / "costs_of_public_kernels.json").read_text())
    listed = json.loads((LANGUAGE / "kernels_of_public_projects.json").read_text())["kernels"]
    assert len(kernels) == 60
    assert {each["sha"] for each in kernels} <= {each["sha"] for each in listed}
    assert max(Counter(each["project"] for each in kernels).values()) <= 8
    assert all(each["launches"] for each in kernels)
    verdicts = Counter(found["read"] for each in kernels for found in each["findings"])
    assert verdicts == {"true": 190}
