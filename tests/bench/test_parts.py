"""What lessons quote, `bench --store` measures: which parts there are, and how they are run."""

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from by_path import module_at

import course_lib
from course_lib import measurements
from course_lib.bench import gpu, parts
from course_lib.building.notebook import code_cells, read, source
from course_lib.commands import bench, bench_runs
from course_lib.host import runtime
from course_lib.measurements import attention as attention_file
from course_lib.measurements import files

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


def test_every_stored_file_is_one_of_a_part_as_its_script_writes_it() -> None:
    for path in measurements.FOLDER.rglob("*.json"):
        folder = path.parent
        part = parts.LADDER if folder == measurements.FOLDER else folder.name
        assert part in parts.choose()
        text = path.read_text(encoding="utf-8")
        assert text == files.as_text(json.loads(text)), f"{path}: somebody has been at it by hand"


def test_the_page_names_every_part() -> None:
    page = (REPOSITORY / "docs" / "bench.md").read_text(encoding="utf-8")
    section = page.partition("## What lessons quote")[2].partition("\n## ")[0]
    assert tuple(sorted(re.findall(r"^\| `(\w+)`", section, re.MULTILINE))) == tuple(
        sorted(parts.choose())
    )


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


def attention(script: ModuleType, patch: pytest.MonkeyPatch) -> None:
    rows = {each.problem: each for each in attention_file.load().rows}
    torch = SimpleNamespace(
        backends=SimpleNamespace(cuda=SimpleNamespace(matmul=SimpleNamespace())),
        cuda=SimpleNamespace(empty_cache=lambda: None),
    )
    patch.setitem(sys.modules, "torch", torch)
    patch.setattr(script.importlib.util, "find_spec", lambda name: name)
    patch.setattr(script, "Nvml", lambda bus: SimpleNamespace(driver_version=lambda: "580"))
    patch.setattr(script.gpu, "EventClock", lambda nvml: None)
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
    patch.setattr(script.importlib.util, "find_spec", lambda name: name)
    patch.setattr(script, "Nvml", lambda bus: SimpleNamespace(driver_version=lambda: "580"))
    patch.setattr(script.gpu, "EventClock", lambda nvml: None)
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
    monkeypatch.setattr(
        parts, "scripts", lambda: {"banks": ("one.py", "two.py"), "ncu": ("three.py",)}
    )
    for name in ("_measure", "_tune"):
        monkeypatch.setattr(
            bench_runs, name, lambda chosen, asked, name=name: calls.open("a").write(name) and 0
        )
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


def test_a_part_that_there_is_not_is_refused(lent, capsys):
    assert bench.main(["--only", "bnaks"]) == 1
    assert "no part 'bnaks'; there are: ladder, tuning, banks, ncu" in capsys.readouterr().out
    assert bench.main(["--only", "ncu", "--json", "x.json"]) == 2
    assert "you did not ask for the ladder" in capsys.readouterr().out


def test_a_copy_without_benchmarks_says_so(lent, capsys, monkeypatch):
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
    assert told[-2:] == [
        f"Left out: {part}. Stopped by Ctrl-C; what was measured before is kept."
        for part in ("banks", "ncu")
    ]


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
    monkeypatch.setattr(
        parts, "scripts", lambda: {"banks": ("one.py",), parts.COMPILED: ("two.py",)}
    )
    assert bench.main(["--store", "--only", f"{parts.COMPILED},banks,ladder"]) == 1
    assert lent.calls() == "two.py --store"
    told = capsys.readouterr().out.splitlines()
    assert told[-2:] == [
        f"Left out: {part}. This can only be measured on a GPU, and there is none here."
        for part in ("ladder", "banks")
    ]
