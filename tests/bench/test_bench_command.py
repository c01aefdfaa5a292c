"""`course.py bench`: what it prints and keeps, with a GPU that is made up and without one."""

import importlib.util
import shlex
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from canned import entry
from canned import measurements as canned

from course_lib import machine_code, measurements
from course_lib.bench import contestants, counts, libraries, matrices, parts, session
from course_lib.bench.contestants import Contestant, precision_of, rungs
from course_lib.commands import bench, bench_runs
from course_lib.devices import device
from course_lib.host import runtime
from course_lib.kernels import RUNG_KERNELS
from course_lib.measurements import Cell, Entry


@pytest.fixture
def gpu(monkeypatch, tmp_path):
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


def test_prints_a_table_and_keeps_a_file(gpu, capsys):
    given = ["--sizes", "4096,1024", "--rungs", "tiled,naive", "--rounds", "4"]
    assert bench.main([*given, "--json", str(gpu.folder / "all.json")]) == 0
    printed = capsys.readouterr().out
    chosen, options = gpu.asked
    assert chosen == ["naive", "tiled"] and options.sizes == (1024, 4096) and options.rounds == 4
    (tiled,) = [line for line in printed.splitlines() if line.startswith("  tiled  ")][:1]
    assert tiled.split()[:7] == ["tiled", "5", "(", "4.875", "5.25)", "429", "20.0%"]
    assert "53.7%" in tiled and "90.0%" in tiled and "1950" in tiled and "2.0e-06" in tiled
    assert "tiled in C++" in printed and "There is no nvcc here." in printed
    assert "NVIDIA Example 1: 10 SMs" in printed and "201 MB" in printed and "L2 50 MB" in printed
    text = (gpu.folder / "all.json").read_text(encoding="utf-8")
    assert text == (gpu.folder / "last" / "Example-1.json").read_text(encoding="utf-8")
    assert not (gpu.folder / "stored").exists()


def test_the_line_of_progress_shows_a_bar_and_the_time_left(gpu, monkeypatch):
    told: list[str] = []
    monkeypatch.setattr(bench_runs.progress, "show", told.append)
    line = bench_runs._Line()
    line("Checking tiled", None)
    line._began -= 30.0
    line("4096: round 3 of 20, tiled", 90.0)
    assert told[0] == "Checking tiled"
    assert told[1] == "[#####...............] about 2 min left · 4096: round 3 of 20, tiled"


def test_a_stopped_run_does_not_replace_a_complete_one(gpu, capsys):
    gpu.measured = replace(canned(), complete=False)
    bench.main(["--store"])
    assert measurements.devices(gpu.folder / "stored") == ("Example-1",)  # better than nothing
    gpu.measured = canned()
    bench.main(["--store"])
    gpu.measured = replace(canned(), complete=False, date="2026-12-24T00:00:00+00:00")
    bench.main(["--store"])
    assert "Not stored" in capsys.readouterr().out
    assert measurements.load("Example-1", gpu.folder / "stored").as_json() == canned().as_json()


def test_a_wrong_rung_is_named_and_fails_the_command(gpu, capsys):
    wrong = Entry("tiled", "rung", "float32", (Cell(1024, problem="Wrong: off by 0.5."),))
    gpu.measured = canned(entries=(wrong, entry("naive", "rung", 50.0)))
    assert bench.main([]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "tiled" in line]
    assert line.split(maxsplit=1) == ["tiled", "Wrong: off by 0.5."]


def test_an_unknown_rung_is_refused_with_those_that_there_are(gpu, capsys):
    assert bench.main(["--rungs", "tilde"]) == 1
    assert "no rung 'tilde'; there are: naive" in capsys.readouterr().out


@pytest.mark.parametrize(("option", "values", "sentence"), [
    ("--sizes", ("0", "abc", "", "64,", "1.5"), "sizes are positive whole numbers, separated"),
    ("--rounds", ("0", "-1", "x", "2.5", "", "9" * 5000), "of rounds is a whole number from 1"),
    ("--budget", ("0", "-1", "nan", "inf", "1e308", "x"), "a budget is a number of seconds"),
    ("--gpu", ("FOO", "T4,FOO", ""), "in the data sheet"),
])  # fmt: skip
def test_nonsense_is_refused_in_a_sentence_before_anything_runs(
    gpu, capsys, option, values, sentence
):
    for value in values:
        with pytest.raises(SystemExit) as refusal:
            bench.main([f"{option}={value}"])
        said = capsys.readouterr().err
        assert refusal.value.code == 2 and gpu.asked is None
        assert sentence in said and "invalid" not in said and "Traceback" not in said


@pytest.mark.parametrize("fewer", ["rung", "size", "samples"])
def test_a_smaller_run_does_not_replace_a_larger_one(gpu, capsys, fewer):
    bench.main(["--store"])
    everyone = canned().entries
    smaller = {
        "rung": everyone[1:],
        "size": tuple(replace(each, cells=each.cells[:1]) for each in everyone),
        "samples": (Entry("naive", "rung", "float32", (Cell(1024),)),),
    }[fewer]
    gpu.measured = canned(entries=smaller)
    capsys.readouterr()
    assert bench.main(["--store"]) == (fewer == "samples")
    (said,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Not")]
    assert ("nothing was measured" if fewer == "samples" else "without --rungs and --sizes") in said
    assert measurements.load("Example-1", gpu.folder / "stored").as_json() == canned().as_json()


def test_a_stored_file_that_cannot_be_read_is_left_alone(gpu, capsys):
    (gpu.folder / "stored").mkdir()
    file = gpu.folder / "stored" / "Example-1.json"
    file.write_text('{"schema": 2, "entries": []}', encoding="utf-8")
    bench.main(["--store"])
    assert "Example-1.json is no file of" in capsys.readouterr().out
    assert "schema" in file.read_text(encoding="utf-8") and "naive" not in file.read_text("utf-8")


def test_lessons_that_show_what_was_replaced_are_named(gpu, capsys, monkeypatch):
    lessons = gpu.folder / "notebooks"
    lessons.mkdir()
    (lessons / "05_old.ipynb").write_text(f'"on {gpu.measured.label}"', encoding="utf-8")
    (lessons / "06_none.ipynb").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(bench_runs._run_anew, "__defaults__", (lessons,))
    bench.main(["--store"])
    assert "build --execute" not in capsys.readouterr().out  # nothing was replaced
    gpu.measured = replace(gpu.measured, date="2026-12-24T00:00:00+00:00")
    bench.main(["--store"])
    assert f"build --execute {lessons / '05_old.ipynb'}\n" in capsys.readouterr().out
    gpu.measured = replace(gpu.measured, commit="1234567")
    bench.main(["--store"])
    assert "No lesson shows the results that have been replaced." in capsys.readouterr().out


def test_an_unwritable_json_is_refused_before_anything_runs(gpu, capsys):
    missing = gpu.folder / "nowhere" / "all.json"
    for path in (missing, gpu.folder):
        assert bench.main(["--json", str(path)]) == 1
        assert f"{path} can't be written" in capsys.readouterr().out and gpu.asked is None


def test_the_results_are_stored_even_if_json_fails_at_the_end(gpu, capsys, monkeypatch):
    monkeypatch.setattr(bench_runs, "_check_writable", lambda path: None)
    assert bench.main(["--store", "--json", str(gpu.folder)]) == 1
    assert measurements.devices(gpu.folder / "stored") == ("Example-1",)
    assert "give --json another file" in capsys.readouterr().out


def test_the_ladder_and_the_roofline_are_drawn_beside_the_results(gpu, capsys):
    gpu.measured, gpu.draws = measurements.load("H200"), True
    assert bench.main([]) in (0, 1)  # 1 where a stored cell holds a problem
    printed = capsys.readouterr().out
    for what in ("ladder", "roofline"):
        path = gpu.folder / "last" / f"H200_{what}.png"
        assert path.read_bytes().startswith(b"\x89PNG")
        assert f"The {what} at 4096 is drawn in {path}." in printed


def test_what_cannot_be_drawn_is_said(gpu, capsys):
    naive = entry("naive", "rung", 50.0, tile=(32, 32, 1))
    gpu.measured, gpu.draws = replace(canned(entries=(naive,)), measured_roofs={}), True
    assert bench.main([]) == 0
    printed = capsys.readouterr().out
    assert "No picture of the ladder was drawn: it shows shares of cuBLAS" in printed
    assert "No picture of the roofline was drawn: No GPU 'Example-1'" in printed
    gpu.measured = canned(entries=(entry("cuBLAS float32", "cuBLAS", 1.0),))
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


def test_a_rung_that_the_emulator_refuses_is_named(no_gpu, capsys, monkeypatch):
    def refuse(rung, size):
        raise runtime.PlainError("line 7: no such thing")

    monkeypatch.setattr(counts, "count", refuse)
    assert bench.main(["--rungs", "naive", "--sizes", "64"]) == 1
    assert "naive at 64: line 7: no such thing" in capsys.readouterr().out


@pytest.mark.parametrize("numba_cuda", [None, "here"])
def test_without_the_disassembler_one_command_names_all_that_is_missing(monkeypatch, numba_cuda):
    monkeypatch.setattr(machine_code, "missing", lambda: "")
    monkeypatch.setattr(counts, "find_tool", lambda name: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: numba_cuda)
    found, (said,) = counts.ceilings(RUNG_KERNELS, device("T4"))
    packages = shlex.split(said.partition(" -m pip install ")[2].removesuffix("."))
    wanted = ["nvidia-cuda-nvdisasm"]
    assert found == {} and packages == (wanted if numba_cuda else ["numba-cuda[cu12]", *wanted])


def test_rungs_that_a_gpu_is_too_old_for_are_one_line(monkeypatch):
    def refuse(rung, gpu):
        raise runtime.PlainError("Not today.")

    monkeypatch.setattr(machine_code, "missing", lambda: "")
    monkeypatch.setattr(counts, "find_tool", lambda name: name)
    monkeypatch.setattr(counts, "ceiling", refuse)
    table = {name: RUNG_KERNELS[name] for name in ("naive", "cp_async", "wgmma")}
    assert counts.ceilings(table, device("T4"))[1] == [
        "Made for newer GPUs than the T4: cp_async, wgmma.",
        "No ceiling for naive on the T4: Not today.",
    ]


def test_a_report_without_a_mix_is_no_ceiling_but_the_reason(monkeypatch):
    monkeypatch.setattr(counts, "find_tool", lambda name: name)
    report = SimpleNamespace(mix=None, note="The instruction mix needs nvdisasm.")
    monkeypatch.setattr(machine_code, "missing", lambda: "")
    monkeypatch.setattr(machine_code, "compile_report", lambda *given, **more: report)
    table = {name: RUNG_KERNELS[name] for name in ("naive", "tiled")}
    assert counts.ceilings(table, device("T4")) == (
        {},
        ["No ceiling for naive, tiled on the T4: The instruction mix needs nvdisasm."],
    )


def test_numbas_own_cuda_part_is_named_as_what_is_missing(monkeypatch):
    said = "Numba's compiler refuses tiled: Signature mismatch: 2 argument types given"

    def refuse(*given, **more):
        raise machine_code.CompileFailed(said)

    monkeypatch.setattr(machine_code, "compile_report", refuse)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        runtime.PlainError, match=r"own CUDA part can't compile it: .* -m pip install"
    ):
        counts.ceiling(RUNG_KERNELS["tiled"], device("T4"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    with pytest.raises(machine_code.CompileFailed, match="Signature mismatch"):
        counts.ceiling(RUNG_KERNELS["tiled"], device("T4"))


def test_old_gpus_are_spared_what_they_lack():
    found = list(rungs(RUNG_KERNELS, (7, 5)))
    names = [each.name for each in found if isinstance(each, Contestant)]
    assert "tiled" in names and "cp_async" not in names
    assert "cp_async needs compute capability 8.0; this GPU has 7.5." in found


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


def test_precisions_and_peaks():
    kinds = {"float32": "float32", "float16": "float16", "uint16": "bfloat16"}
    for dtype, precision in kinds.items():
        assert precision_of(SimpleNamespace(dtype=dtype, name="x")) == precision
    assert precision_of(SimpleNamespace(dtype="float32", name="tensor_core_tf32")) == "tf32"
    assert libraries.precisions((7, 5)) == ("float32", "float16")
    assert session.peaks(device("T4")) == {"float32": 8100.0, "float16": 65000.0}
    assert session.peaks(device("H200"))["bfloat16"] == 989_400 and session.peaks(None) == {}
    assert session.short_name("NVIDIA H200") == "H200"
    assert session.short_name("NVIDIA GeForce RTX 4070 Ti/x") == "GeForce-RTX-4070-Ti-x"


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
