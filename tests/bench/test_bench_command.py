"""`course.py bench`: its parts, what it prints and keeps, on a GPU of paper and without one."""

import ast
import importlib.util
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from by_path import module_at
from canned import entry
from canned import measurements as canned

import course_lib
from course_lib import machine_code, measurements
from course_lib.bench import contestants, counts, gpu, libraries, matrices, parts, session
from course_lib.bench.contestants import Contestant, precision_of, rungs
from course_lib.building.notebook import code_cells, read, source
from course_lib.commands import bench, bench_runs
from course_lib.devices import device
from course_lib.host import runtime
from course_lib.kernels import RUNG_KERNELS
from course_lib.measurements import Cell, Entry, files
from course_lib.measurements import attention as attention_file


@pytest.fixture
def a_gpu(monkeypatch, tmp_path):
    """A GPU on which one run has just ended."""
    run = SimpleNamespace(measured=canned(), notes=["There is no nvcc here."], asked=None)

    def measure(chosen, options, say, keep):
        run.asked = (list(chosen), options)
        say("4096: round 1 of 4, tiled", 61.0)
        return run.measured, run.notes

    monkeypatch.setattr(runtime, "on_gpu", lambda: True)
    monkeypatch.setattr(session, "measure", measure)
    monkeypatch.setattr(bench_runs, "LAST_RUNS", tmp_path / "last")
    monkeypatch.setattr(bench_runs, "STORED", tmp_path / "stored")
    monkeypatch.setattr(parts, "choose", lambda names=None: (parts.LADDER,))
    run.draw = bench_runs._draw
    monkeypatch.setattr(bench_runs, "_draw", lambda *given: run.draw(*given) if run.draws else ())
    run.folder, run.draws = tmp_path, False
    return run


def test_prints_a_table_and_keeps_a_file(a_gpu, capsys):
    given = ["--sizes", "4096,1024", "--rungs", "tiled,naive", "--rounds", "4"]
    assert bench.main([*given, "--json", str(a_gpu.folder / "all.json")]) == 0
    printed = capsys.readouterr().out
    chosen, options = a_gpu.asked
    assert chosen == ["naive", "tiled"] and options.sizes == (1024, 4096) and options.rounds == 4
    (tiled,) = [line for line in printed.splitlines() if line.startswith("  tiled  ")][:1]
    assert tiled.split()[:7] == ["tiled", "5", "(", "4.875", "5.25)", "429", "20.0%"]
    assert "53.7%" in tiled and "90.0%" in tiled and "1950" in tiled and "2.0e-06" in tiled
    assert "tiled in C++" in printed and "There is no nvcc here." in printed
    assert "NVIDIA Example 1: 10 SMs" in printed and "201 MB" in printed and "L2 50 MB" in printed
    text = (a_gpu.folder / "all.json").read_text(encoding="utf-8")
    assert text == (a_gpu.folder / "last" / "Example-1.json").read_text(encoding="utf-8")
    assert not (a_gpu.folder / "stored").exists()


def test_the_line_of_progress_shows_a_bar_and_the_time_left(a_gpu, monkeypatch):
    told: list[str] = []
    monkeypatch.setattr(bench_runs.progress, "show", told.append)
    line = bench_runs._Line()
    line("Checking tiled", None)
    line._began -= 30.0
    line("4096: round 3 of 20, tiled", 90.0)
    assert told[0] == "Checking tiled"
    assert told[1] == "[#####...............] about 2 min left · 4096: round 3 of 20, tiled"


def test_a_stopped_run_does_not_replace_a_complete_one(a_gpu, capsys):
    a_gpu.measured = replace(canned(), complete=False)
    bench.main(["--store"])
    assert measurements.devices(a_gpu.folder / "stored") == ("Example-1",)  # better than nothing
    a_gpu.measured = canned()
    bench.main(["--store"])
    a_gpu.measured = replace(canned(), complete=False, date="2026-12-24T00:00:00+00:00")
    bench.main(["--store"])
    assert "Not stored" in capsys.readouterr().out
    assert measurements.load("Example-1", a_gpu.folder / "stored").as_json() == canned().as_json()


def test_a_wrong_rung_fails_the_command_and_an_unknown_one_is_refused(a_gpu, capsys):
    wrong = Entry("tiled", "rung", "float32", (Cell(1024, problem="Wrong: off by 0.5."),))
    a_gpu.measured = canned(entries=(wrong, entry("naive", "rung", 50.0)))
    assert bench.main([]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "tiled" in line]
    assert line.split(maxsplit=1) == ["tiled", "Wrong: off by 0.5."]
    assert bench.main(["--rungs", "tilde"]) == 1
    assert "no rung 'tilde'; there are: naive" in capsys.readouterr().out


@pytest.mark.parametrize(("option", "values", "sentence"), [
    ("--sizes", ("0", "abc", "", "64,", "1.5"), "sizes are positive whole numbers, separated"),
    ("--rounds", ("0", "-1", "x", "2.5", "", "9" * 5000), "of rounds is a whole number from 1"),
    ("--budget", ("0", "-1", "nan", "inf", "1e308", "x"), "a budget is a number of seconds"),
    ("--gpu", ("FOO", "T4,FOO", ""), "in the data sheet"),
])  # fmt: skip
def test_nonsense_is_refused_before_anything_runs(a_gpu, capsys, option, values, sentence):
    for value in values:
        with pytest.raises(SystemExit) as refusal:
            bench.main([f"{option}={value}"])
        said = capsys.readouterr().err
        assert refusal.value.code == 2 and a_gpu.asked is None
        assert sentence in said and "invalid" not in said and "Traceback" not in said


@pytest.mark.parametrize("fewer", ["rung", "size", "samples"])
def test_a_smaller_run_does_not_replace_a_larger_one(a_gpu, capsys, fewer):
    bench.main(["--store"])
    everyone = canned().entries
    smaller = {
        "rung": everyone[1:],
        "size": tuple(replace(each, cells=each.cells[:1]) for each in everyone),
        "samples": (Entry("naive", "rung", "float32", (Cell(1024),)),),
    }[fewer]
    a_gpu.measured = canned(entries=smaller)
    capsys.readouterr()
    assert bench.main(["--store"]) == (fewer == "samples")
    (said,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Not")]
    assert ("nothing was measured" if fewer == "samples" else "without --rungs and --sizes") in said
    assert measurements.load("Example-1", a_gpu.folder / "stored").as_json() == canned().as_json()


def test_a_stored_file_that_cannot_be_read_is_left_alone(a_gpu, capsys):
    (a_gpu.folder / "stored").mkdir()
    file = a_gpu.folder / "stored" / "Example-1.json"
    file.write_text('{"schema": 2, "entries": []}', encoding="utf-8")
    bench.main(["--store"])
    assert "Example-1.json is no file of" in capsys.readouterr().out
    assert "schema" in file.read_text(encoding="utf-8") and "naive" not in file.read_text("utf-8")


def test_lessons_that_show_what_was_replaced_are_named(a_gpu, capsys, monkeypatch):
    lessons = a_gpu.folder / "notebooks"
    lessons.mkdir()
    (lessons / "05_old.ipynb").write_text(f'"on {a_gpu.measured.label}"', encoding="utf-8")
    (lessons / "06_none.ipynb").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(bench_runs._run_anew, "__defaults__", (lessons,))
    bench.main(["--store"])
    assert "build --execute" not in capsys.readouterr().out  # nothing was replaced
    a_gpu.measured = replace(a_gpu.measured, date="2026-12-24T00:00:00+00:00")
    bench.main(["--store"])
    assert f"build --execute {lessons / '05_old.ipynb'}\n" in capsys.readouterr().out
    a_gpu.measured = replace(a_gpu.measured, commit="1234567")
    bench.main(["--store"])
    assert "No lesson shows the results that have been replaced." in capsys.readouterr().out


def test_an_unwritable_json_is_refused_or_costs_nothing_at_the_end(a_gpu, capsys, monkeypatch):
    missing = a_gpu.folder / "nowhere" / "all.json"
    for path in (missing, a_gpu.folder):
        assert bench.main(["--json", str(path)]) == 1
        assert f"{path} can't be written" in capsys.readouterr().out and a_gpu.asked is None
    monkeypatch.setattr(bench_runs, "_check_writable", lambda path: None)
    assert bench.main(["--store", "--json", str(a_gpu.folder)]) == 1
    assert measurements.devices(a_gpu.folder / "stored") == ("Example-1",)
    assert "give --json another file" in capsys.readouterr().out


def test_the_ladder_and_the_roofline_are_drawn_beside_the_results(a_gpu, capsys):
    a_gpu.measured, a_gpu.draws = measurements.load("H200"), True
    assert bench.main([]) in (0, 1)  # 1 where a stored cell holds a problem
    printed = capsys.readouterr().out
    for what in ("ladder", "roofline"):
        path = a_gpu.folder / "last" / f"H200_{what}.png"
        assert path.read_bytes().startswith(b"\x89PNG")
        assert f"The {what} at 4096 is drawn in {path}." in printed


def test_what_cannot_be_drawn_is_said(a_gpu, capsys):
    naive = entry("naive", "rung", 50.0, tile=(32, 32, 1))
    a_gpu.measured, a_gpu.draws = replace(canned(entries=(naive,)), measured_roofs={}), True
    assert bench.main([]) == 0
    printed = capsys.readouterr().out
    assert "No picture of the ladder was drawn: it shows shares of cuBLAS" in printed
    assert "No picture of the roofline was drawn: No GPU 'Example-1'" in printed
    a_gpu.measured = canned(entries=(entry("cuBLAS float32", "cuBLAS", 1.0),))
    assert bench.main([]) == 0
    assert "No pictures" in capsys.readouterr().out


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(runtime, "on_gpu", lambda: False)
    monkeypatch.setattr(machine_code, "missing", lambda: "There is no compiler here.")


def test_without_a_gpu_there_are_counts_and_no_times(no_gpu, capsys):
    assert bench.main(["--rungs", "naive,tiled", "--sizes", "64,4096", "--store"]) == 0
    printed = capsys.readouterr().out
    naive, tiled = (line.split() for line in printed.splitlines() if "  64  " in line)
    # Two loads of 4 bytes for each of 64**3 steps, and a store for each of 64**2 elements.
    megabytes = (8 * 64**3 + 4 * 64**2) / 1e6
    assert naive[:3] == ["naive", "64", f"{megabytes:.1f}"]
    assert naive[6] == tiled[6] == f"{2 * 64**3:,}"
    assert tiled[4] == f"{2 * 64**3 // 32 // 8:,}"  # each element once for each tile, 8 in a sector
    assert "no compiler here" in printed and "Nothing was stored" in printed
    # A heading promises what stands below it.
    assert "can reach at most" not in printed
    assert "What it could reach at most is not known here:\n  No ceilings: " in printed
    assert "over 512 are left out" in printed
    here, _, measured = printed.partition("\nNot from this machine, but measured before and stored")
    for word in (" ms", "GFLOP/s", "cuBLAS", "second"):
        assert word not in here
    stored = measurements.latest()
    assert stored is not None and stored.label in measured.splitlines()[0]
    for name, line in zip(("naive", "tiled"), measured.splitlines()[1:], strict=False):
        entry = stored.entry(name)
        assert line.split()[:2] == [name, f"{entry.cell(4096).gflops:,.0f}"]
        reached = f"{stored.share_of_peak(entry, 4096):.1%} of the float32 peak"
        of_cublas = f"{stored.share_of_cublas(entry, 4096):.1%} of the speed of cuBLAS"
        bound = f"(at most {entry.ceiling:.1%}: {entry.binds})"
        assert line.endswith(f" {reached} {bound}; {of_cublas}"), "two shares of one peak"


@pytest.mark.slow
def test_tensor_core_rungs_are_counted_beyond_48_kb_of_shared_memory(no_gpu, capsys):
    assert bench.main(["--rungs", "wgmma,tma", "--sizes", "256"]) == 0
    printed = capsys.readouterr().out
    tiled, boxed = [line.split() for line in printed.splitlines() if "  256  " in line]
    assert tiled[6] == boxed[6] == f"{2 * 256**3:,}"
    # Each element once for each tile of 128 x 256, 16 in a sector: A once, B twice.
    assert tiled[4] == f"{3 * 256 * 256 // 16:,}"
    # Tiles of 128 x 64, so that as many SMs as can be have one: A four times, B twice.
    # Their list of tiles is read as well.
    boxes = 6 * 256 * 256 // 16
    assert 0 < int(boxed[4].replace(",", "")) - boxes < boxes / 100


def refusing(sentence: str, kind: type[Exception] = runtime.PlainError) -> Callable[..., None]:
    def refuse(*given: object, **more: object) -> None:
        raise kind(sentence)

    return refuse


def test_a_rung_that_the_emulator_refuses_is_named(no_gpu, capsys, monkeypatch):
    monkeypatch.setattr(counts, "count", refusing("line 7: no such thing"))
    assert bench.main(["--rungs", "naive", "--sizes", "64"]) == 1
    assert "naive at 64: line 7: no such thing" in capsys.readouterr().out


@pytest.fixture
def a_compiler(monkeypatch):
    monkeypatch.setattr(machine_code, "missing", lambda: "")
    monkeypatch.setattr(counts, "find_tool", lambda name: name)


@pytest.mark.parametrize("numba_cuda", [None, "here"])
def test_one_command_names_all_that_is_missing(a_compiler, monkeypatch, numba_cuda):
    monkeypatch.setattr(counts, "find_tool", lambda name: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: numba_cuda)
    found, (said,) = counts.ceilings(RUNG_KERNELS, device("T4"))
    packages = shlex.split(said.partition(" -m pip install ")[2].removesuffix("."))
    wanted = ["nvidia-cuda-nvdisasm"]
    assert found == {} and packages == (wanted if numba_cuda else ["numba-cuda[cu12]", *wanted])


def test_rungs_without_a_ceiling_are_one_line_with_the_reason(a_compiler, monkeypatch):
    report = SimpleNamespace(mix=None, note="The instruction mix needs nvdisasm.")
    monkeypatch.setattr(machine_code, "compile_report", lambda *given, **more: report)
    table = {name: RUNG_KERNELS[name] for name in ("naive", "tiled")}
    said = "No ceiling for naive, tiled on the T4: The instruction mix needs nvdisasm."
    assert counts.ceilings(table, device("T4")) == ({}, [said])
    monkeypatch.setattr(counts, "ceiling", refusing("Not today."))
    table = {name: RUNG_KERNELS[name] for name in ("naive", "cp_async", "wgmma")}
    newer = "Made for newer GPUs than the T4: cp_async, wgmma."
    said = [newer, "No ceiling for naive on the T4: Not today."]
    assert counts.ceilings(table, device("T4"))[1] == said


def test_numbas_own_cuda_part_is_named_as_what_is_missing(monkeypatch):
    said = "Numba's compiler refuses tiled: Signature mismatch: 2 argument types given"
    monkeypatch.setattr(machine_code, "compile_report", refusing(said, machine_code.CompileFailed))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    wanted = r"own CUDA part can't compile it: .* -m pip install"
    with pytest.raises(runtime.PlainError, match=wanted):
        counts.ceiling(RUNG_KERNELS["tiled"], device("T4"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    with pytest.raises(machine_code.CompileFailed, match="Signature mismatch"):
        counts.ceiling(RUNG_KERNELS["tiled"], device("T4"))


def test_lists_of_rungs_and_precisions_follow_the_gpu():
    found = list(rungs(RUNG_KERNELS, (7, 5)))
    names = [each.name for each in found if isinstance(each, Contestant)]
    assert "tiled" in names and "cp_async" not in names
    assert "cp_async needs compute capability 8.0; this GPU has 7.5." in found
    kinds = {"float32": "float32", "float16": "float16", "uint16": "bfloat16"}
    for dtype, precision in kinds.items():
        assert precision_of(SimpleNamespace(dtype=dtype, name="x")) == precision
    assert precision_of(SimpleNamespace(dtype="float32", name="tensor_core_tf32")) == "tf32"
    assert libraries.precisions((7, 5)) == ("float32", "float16")
    assert session.peaks(device("T4")) == {"float32": 8100.0, "float16": 65000.0}
    assert session.peaks(device("H200"))["bfloat16"] == 989_400 and session.peaks(None) == {}
    assert session.short_name("NVIDIA H200") == "H200"
    assert session.short_name("NVIDIA GeForce RTX 4070 Ti/x") == "GeForce-RTX-4070-Ti-x"


@pytest.mark.parametrize(("name", "result"), [("tma", "float32"), ("tma_bf16", "bfloat16")])
def test_a_rung_gets_a_result_of_its_own_format(name, result, monkeypatch):
    asked = []
    monkeypatch.setattr(type(RUNG_KERNELS[name]), "launch", lambda rung, A, B, C: asked.append(C))
    problem = SimpleNamespace(operands=lambda precision, stored: (precision, "B", stored))
    (found,) = rungs({name: RUNG_KERNELS[name]}, (9, 0))
    found.prepare(problem)()
    assert asked == [result] == [found.result] and found.precision == "bfloat16"
    assert found.shape_like((33, 65, 17)) == (33, 72, 24)
    assert (found.most_error > 1e-2) == (result == "bfloat16")  # it is rounded itself


def test_a_result_of_16_bits_takes_the_first_half_of_the_memory():
    c = np.zeros((3, 5), np.float32)
    halved = matrices._halved(c, "bfloat16")
    assert halved.shape == c.shape and halved.dtype == np.uint16 and halved.flags.c_contiguous
    halved[:] = 0x3F80
    # Two ones of bfloat16 in a float32, 15 numbers in seven and a half of them.
    assert (c.reshape(-1).view(np.uint16) == 0x3F80).tolist() == [True] * 15 + [False] * 15


def test_twins_say_why_they_are_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(contestants, "find_tool", lambda name: None)
    assert list(contestants.twins(RUNG_KERNELS, tmp_path, (9, 0))) == [
        "There is no nvcc here, so the C++ twins are left out."
    ]
    nvcc = tmp_path / "nvcc"
    nvcc.write_text("#!/bin/sh\necho 'x.cu(3): error: expected a \";\"' >&2\nexit 1\n")
    nvcc.chmod(0o755)
    (tmp_path / "tiled.cu").write_text("")
    with pytest.raises(contestants.CannotBuild, match='expected a ";"'):
        contestants.build(str(nvcc), tmp_path / "tiled.cu", (9, 0))
    assert (contestants.target((7, 5)), contestants.target((9, 0))) == ("sm_75", "sm_90a")


REPOSITORY = Path(__file__).resolve().parents[2]
BENCHMARKS = REPOSITORY / "benchmarks"
PACKAGE = "course_lib.measurements"


def quoted(text: str) -> set[str]:
    """The packages of measurements that a program imports, and the ladder's file."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
            found |= {each.name if is_package(each.name) else parts.LADDER for each in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}."):
            found.add(str(node.module).split(".")[2])
    return found


def is_package(name: str) -> bool:
    return (measurements.FOLDER / name / "__init__.py").exists()


def programs() -> Iterator[str]:
    """All that a reader gets to see: lessons, and what the library shows, asks and draws."""
    for path in sorted((REPOSITORY / "notebooks").glob("*.ipynb")):
        for cell in code_cells(read(path)):
            yield "\n".join(line for line in source(cell).splitlines() if line[:1] not in "!%")
    for path in sorted((REPOSITORY / "course_lib").rglob("*.py")):
        if "measurements" not in path.parts:
            yield path.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_command_writes_every_file_that_lessons_and_docs_quote() -> None:
    seen = set().union(*map(quoted, programs())) - {"files"}
    pages = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/*.md")]
    for page in pages:
        seen |= set(re.findall(r"measurements[/.](\w+)/", page.read_text(encoding="utf-8")))
    assert parts.LADDER in seen and len(seen) > 5
    assert seen <= set(parts.choose())


def test_every_stored_file_is_one_of_a_part_and_the_page_names_every_part() -> None:
    for path in measurements.FOLDER.rglob("*.json"):
        folder = path.parent
        part = parts.LADDER if folder == measurements.FOLDER else folder.name
        assert part in parts.choose()
        text = path.read_text(encoding="utf-8")
        assert text == files.as_text(json.loads(text)), f"{path}: somebody has been at it by hand"
    page = (REPOSITORY / "docs" / "bench.md").read_text(encoding="utf-8")
    section = page.partition("## What lessons quote")[2].partition("\n## ")[0]
    named = re.findall(r"^\| `(\w+)`", section, re.MULTILINE)
    assert sorted(named) == sorted(parts.choose())


HERE = "NVIDIA H200"


def stored(part: str, device: str = "H200") -> dict[str, Any]:
    """A copy of what a part's file holds now: what a stand-in for a GPU measures."""
    path = measurements.FOLDER / part / f"{device}.json"
    return dict(json.loads(path.read_text(encoding="utf-8")))


def fields(content: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: content[name] for name in names}


def bytes_in_flight(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    names = ("device", "timed", "array_bytes", "timed_with", "speeds", "latency_ns")
    patch.setattr(script, "measure", lambda: fields(stored("memory"), *names))


def loop_forms(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(script, "measure", lambda: fields(stored("memory"), "device", "loops"))


def cache_model(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    about = {"name": HERE, "sms": 132, "l2_bytes": 60 << 20} | dict.fromkeys(script.KERNELS, 2)
    levels = {"L1": 1e9, "L2": 1e8, "DRAM read": 1e7}
    patch.setattr(script, "build", lambda folder: "program")
    patch.setattr(script, "counted", lambda *of: levels)
    patch.setattr(script, "SIZES", (64, 96))
    patch.setattr(script.subprocess, "check_output", lambda *a, **more: json.dumps(about))


def tma_ablation(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    content = stored("ablation")
    row = content["rows"][0] | {"step": script.CUBLAS}
    patch.setattr(script, "measure", lambda: content | {"rows": [*content["rows"], row]})


def stored_machine_code(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(script, "content", lambda: stored("machine_code", "sm_75"))


def what_binds(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    values = dict.fromkeys(script.SHARES.values(), 50.0)
    values |= {metric: 2.0 * one for metric, one in script.SEEN.values()}
    values |= dict(zip(script.MMA, (12.0, 2.0), strict=True))
    launches = dict.fromkeys(stored("what_binds")["launches"], values)
    patch.setattr(script, "profile", lambda *of: "")
    patch.setattr(script, "by_contestant", lambda text: launches)


def ncu_reports(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    report = SimpleNamespace(
        note="", kernel="k", counted={"flops": 1.0}, seen={}, emulated={}, compiled={},
        show=lambda: None,
    )  # fmt: skip
    patch.setattr(course_lib, "ncu_report", lambda kernel: {(1, 1): lambda *arrays: report})
    patch.setattr(script, "launches", lambda: {"copy": (None, 1, 1, [])})
    patch.setattr(runtime, "device_name", lambda: HERE)


def bank_conflicts(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    names = [*script.TRANSPOSES, *(f"matmul-{t}{p}" for t in (16, 32) for p in ("", "-padded"))]
    printed = "".join(f"{name} {ms}\n" for ms in (2.5, 1.5, 3.5) for name in names) + "no error\n"
    counts = {"lds": 40, "ffma": 32}
    patch.setattr(script, "find_tool", lambda name: name)
    patch.setattr(script, "release", lambda tool: "nvcc 13.0")
    patch.setattr(script, "build", lambda nvcc, cc, target, *options: target)
    patch.setattr(script, "disassemble", lambda cubin, cc: ("code", ""))
    patch.setattr(script, "loads", lambda *of: counts)
    done = SimpleNamespace(stdout=printed)
    patch.setattr(script.subprocess, "run", lambda *a, **more: done)


def timed(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    """What a script that times PyTorch looks for, and its clock."""
    patch.setattr(script.importlib.util, "find_spec", lambda name: name)
    patch.setattr(script, "Nvml", lambda bus: SimpleNamespace(driver_version=lambda: "580"))
    patch.setattr(script.gpu, "EventClock", lambda nvml: None)


def attention(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    rows = {each.problem: each for each in attention_file.load().rows}
    timed(script, patch)
    torch = SimpleNamespace(
        backends=SimpleNamespace(cuda=SimpleNamespace(matmul=SimpleNamespace())),
        cuda=SimpleNamespace(empty_cache=lambda: None),
    )
    patch.setitem(sys.modules, "torch", torch)
    patch.setattr(script, "barred", lambda ablation: {})
    patch.setattr(script, "versions", dict)
    patch.setattr(script, "measure", lambda problem, *how: [rows[problem]])


def host_time(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    rows = iter(stored("host_time")["rows"].values())
    for kind in ("product", "attention"):
        patch.setattr(script, kind, lambda shape: shape)
    patch.setattr(script, "measured", lambda make: next(rows))


def tile_languages(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(script, "measured", lambda: stored("tile_languages")["rows"])


def counted_cost(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(script, "measure", lambda: stored("counted_cost"))


def sanitizer(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    """Its GPU's programs and the tool: a tool that finds the errors that are stored."""
    content = stored("sanitizer")
    rows = iter(content["rows"])

    def said(command: list[str]) -> str:
        if "--tool" not in command:
            return f"Version {content['version']}\nright: True"
        row = next(rows)
        lines = [*row["first"], "", f"ERROR SUMMARY: {row['errors']} errors"]
        return "\n".join(f"========= {line}" for line in lines)

    patch.setattr(script, "find_tool", lambda: "compute-sanitizer")
    patch.setattr(script, "run", said)
    patch.setattr(runtime, "device_name", lambda: HERE)


def row_softmax(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    rows = iter(stored("row_softmax")["rows"].values())
    timed(script, patch)
    patch.setattr(script, "kernels", dict)
    patch.setattr(script, "check", lambda found: None)
    patch.setattr(script, "measured", lambda *on: next(rows))


STAND_INS: dict[str, Callable[[ModuleType, pytest.MonkeyPatch], None]] = {
    f"{each.__name__}.py": each
    for each in (
        bytes_in_flight, cache_model, loop_forms, tma_ablation, stored_machine_code, what_binds,
        ncu_reports, bank_conflicts, attention, host_time, tile_languages, row_softmax,
        counted_cost, sanitizer,
    )
}  # fmt: skip


def run(script: str, patch: pytest.MonkeyPatch) -> list[tuple[Path, str, Any]]:
    """Run a script with --store on a GPU of paper; the files that it would write."""
    kept: list[tuple[Path, str, Any]] = []

    def keep(folder: Path, device: str, content: Any) -> Path:
        kept.append((folder, device, json.loads(files.as_text(content))))
        return folder / device

    module = module_at(BENCHMARKS / script)
    STAND_INS[script](module, patch)
    patch.setattr(gpu, "device", lambda: (HERE, (9, 0), "bus"))
    patch.setattr(files, "store", keep)
    patch.setattr(sys, "argv", [script, "--store"])
    module.main()
    return kept


@pytest.mark.parametrize(
    ("part", "script"), [(part, each) for part, some in parts.scripts().items() for each in some]
)
def test_a_script_keeps_all_that_its_parts_file_has(part, script, monkeypatch):
    ((folder, device, content),) = run(script, monkeypatch)
    assert folder == measurements.FOLDER / part and (folder / f"{device}.json").exists()
    before = stored(part, device)
    assert set(before) - set(content) <= {"compiled_with"}  # that one `--compiled` adds


def test_a_run_without_cublas_does_not_replace_one_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module_at(BENCHMARKS / "what_binds.py")
    with pytest.raises(SystemExit, match="the file has cuBLAS bfloat16, which this run lacks"):
        few = {n: {} for n in stored("what_binds")["launches"] if n != "cuBLAS bfloat16"}
        script.store(few, 4096, HERE)


def test_the_best_of_the_medians_counts_and_an_error_of_cuda_ends_it() -> None:
    script = module_at(BENCHMARKS / "bank_conflicts.py")
    assert script.best("a 2.0\nb 3.0\na 1.5\nb 4\nno error\n") == {"a": 1.5, "b": 3.0}
    with pytest.raises(SystemExit, match="out of memory"):
        script.best("a 2.0\nout of memory\n")


@pytest.mark.parametrize(
    "script", ["bank_conflicts.py", "cache_model.py", "attention.py", "row_softmax.py"]
)
def test_what_is_missing_is_said_in_a_sentence(script, monkeypatch):
    module = module_at(BENCHMARKS / script)
    monkeypatch.setattr(module, "find_tool", lambda name: None, raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", [script])
    with pytest.raises(SystemExit, match=r"There is no (nvcc|PyTorch) here"):
        module.main()


@pytest.fixture
def lent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """A GPU, and scripts of three parts that write down how they were called."""
    calls = tmp_path / "calls"
    folder = tmp_path / "benchmarks"
    folder.mkdir()

    def script(name: str, then: str = "") -> None:
        text = f"import sys\nopen({str(calls)!r}, 'a').write(' '.join(['{name}', *sys.argv[1:]]))\n"
        (folder / name).write_text(f"{text}print('{name} has measured')\n{then}\n")

    for name in ("one.py", "two.py", "three.py"):
        script(name)
    monkeypatch.setattr(runtime, "on_gpu", lambda: True)
    monkeypatch.setattr(bench_runs, "BENCHMARKS", folder)
    monkeypatch.setattr(bench_runs, "STORED", tmp_path / "stored")
    scripts = {"banks": ("one.py", "two.py"), "ncu": ("three.py",)}
    monkeypatch.setattr(parts, "scripts", lambda: scripts)
    for name in ("_measure", "_tune"):
        write = lambda *_, name=name: calls.open("a").write(name) and 0  # noqa: E731
        monkeypatch.setattr(bench_runs, name, write)
    return SimpleNamespace(script=script, calls=lambda: calls.read_text().replace("_", " _"))


@pytest.mark.parametrize(("given", "called"), [
    ([], " _measure"),
    (["--store", "--only", "ncu"], "three.py --store"),
    (["--only", "ncu,ladder"], " _measurethree.py"),
    (["--store", "--tune"], " _tune"),
    (["--store", "--rungs", "tiled"], " _measure"),
])  # fmt: skip
def test_parts_can_be_chosen(lent: SimpleNamespace, given: list[str], called: str) -> None:
    assert bench.main(given) == 0
    assert lent.calls() == called


def test_what_is_left_out_is_named_with_the_reason(lent, capsys):
    lent.script("one.py", "raise SystemExit('There is no nvcc here.')")
    assert bench.main(["--store", "--only", "banks,ncu"]) == 1
    assert "three.py" in lent.calls() and "two.py" not in lent.calls()
    assert capsys.readouterr().out.endswith("\nLeft out: banks. There is no nvcc here.\n")


def test_a_part_or_its_script_that_there_is_not_is_refused(lent, capsys, monkeypatch):
    assert bench.main(["--only", "bnaks"]) == 1
    assert "no part 'bnaks'; there are: ladder, tuning, banks, ncu" in capsys.readouterr().out
    assert bench.main(["--only", "ncu", "--json", "x.json"]) == 2
    assert "you did not ask for the ladder" in capsys.readouterr().out
    monkeypatch.setattr(bench_runs, "BENCHMARKS", Path("nowhere", "benchmarks"))
    assert bench.main(["--only", "ncu"]) == 1
    assert "This copy of the course has no benchmarks/three.py." in capsys.readouterr().out


def test_ctrl_c_keeps_what_is_finished_and_names_the_rest(lent, capsys, monkeypatch):
    def measure(script: Path, store: bool) -> str:
        if script.name == "two.py":
            raise KeyboardInterrupt
        return "done"

    monkeypatch.setattr(parts, "measure", measure)
    assert bench.main(["--store"]) == 1
    told = capsys.readouterr().out.splitlines()
    why = "Stopped by Ctrl-C; what was measured before is kept."
    assert told[-2:] == [f"Left out: {part}. {why}" for part in ("banks", "ncu")]


@pytest.mark.slow
def test_ctrl_c_ends_a_script_that_is_running(tmp_path: Path) -> None:
    """As a terminal does it: the signal goes to the whole group."""
    slow = tmp_path / "slow.py"
    slow.write_text("import time\nopen('began', 'w').close()\ntime.sleep(60)\n")
    program = (
        "import pathlib, sys; from course_lib.bench import parts; "
        f"parts.measure(pathlib.Path({str(slow)!r}), True)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(REPOSITORY)!r}); {program}"],
        cwd=tmp_path, start_new_session=True, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while not (tmp_path / "began").exists() and child.poll() is None:
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode != 0 and said.rstrip().endswith("KeyboardInterrupt")


def test_without_a_gpu_only_the_compiler_is_asked(lent, capsys, monkeypatch):
    monkeypatch.setattr(runtime, "on_gpu", lambda: False)
    scripts = {"banks": ("one.py",), parts.COMPILED: ("two.py",)}
    monkeypatch.setattr(parts, "scripts", lambda: scripts)
    assert bench.main(["--store", "--only", f"{parts.COMPILED},banks,ladder"]) == 1
    assert lent.calls() == "two.py --store"
    told = capsys.readouterr().out.splitlines()
    why = "This can only be measured on a GPU, and there is none here."
    assert told[-2:] == [f"Left out: {part}. {why}" for part in ("ladder", "banks")]
