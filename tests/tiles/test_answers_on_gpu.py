"""The right answers to tile tasks, compiled by the real languages and run on a GPU."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_languages import HEADS, answers, module_of

from course_lib.curriculum import Task
from course_lib.diagnosis.tiles.tile_launches import TileLauncher
from course_lib.problems.inputs import as_held, expected_of, make_inputs

torch = pytest.importorskip("torch", reason="torch is not installed here")
if not torch.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)


@pytest.mark.parametrize(("task", "text"), answers("ct", "tl"))
def test_an_answer_is_right_on_a_gpu(
    task: Task, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_F32_DEFAULT", "ieee")  # else `dot` rounds float32 to TF32
    pytest.importorskip("cuda.tile" if task.id.startswith("ct_") else "triton")
    kernel = getattr(module_of(HEADS[task.id[:2]] + text, tmp_path), task.id)
    launcher = TileLauncher(task, 0)
    for tried in launcher.cases():
        inputs = make_inputs(launcher.problem, tried.case, launcher.seed)
        expected, tolerance = expected_of(launcher.problem, tried.case, inputs)
        held = [torch.from_numpy(each.copy()).cuda() for each in as_held(launcher.problem, inputs)]
        output = torch.full(expected.shape, tried.case.poison, device="cuda", dtype=torch.float32)
        grid = task.launch(expected.shape, tried.constants).grid
        launch(kernel, grid, launcher.arguments(tried, held, output))
        found = output.cpu().numpy().astype(np.float64)
        assert (np.abs(found - expected) <= tolerance).all(), launcher.label(tried)


def launch(kernel: Any, grid: tuple[int, ...], arguments: tuple[Any, ...]) -> None:
    """Launch a kernel of either language, and wait for it."""
    if hasattr(kernel, "run"):  # Triton's
        kernel[grid](*arguments)
    else:
        import cuda.tile as ct

        ct.launch(torch.cuda.current_stream(), grid, kernel, arguments)
    torch.cuda.synchronize()
