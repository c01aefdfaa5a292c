"""What `course.py bench` does once its options are read: measure parts on a GPU, or count.

Apart from `bench`, because it needs packages and `bench --help` must not.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from course_lib import measurements
from course_lib.bench import counts, held_back, parts, session, table, tuner
from course_lib.bench.contest import STOPPED
from course_lib.commands import progress
from course_lib.commands.places import HOME, NOTEBOOKS, REPOSITORY
from course_lib.devices import Device
from course_lib.host import runtime
from course_lib.kernels import RUNG_KERNELS
from course_lib.measurements import Measurements, tuning
from course_lib.wording.errors import PlainError

BENCHMARKS = REPOSITORY / "benchmarks"
STORED = measurements.FOLDER
LAST_RUNS = HOME / "executed" / "bench"
EMULATED_SIZE = 256
MOST_EMULATED = 512  # one more doubling takes a minute for each rung
PICTURED_SIZE = 4096  # as in the lessons
SUSTAINED = 2.0  # seconds, as lessons quote


def run(options: argparse.Namespace) -> int:
    """Do what was asked; 0 unless a rung was wrong or a part was left out."""
    try:
        chosen = session.choose(RUNG_KERNELS, options.rungs)
        wanted = _wanted(options)
        if options.json:
            if not runtime.on_gpu() or parts.LADDER not in wanted:
                why = (
                    "you did not ask for the ladder" if runtime.on_gpu() else "there is no GPU here"
                )
                print(f"--json writes measurements of the ladder, and {why}: leave it out.")
                return 2
            _check_writable(options.json)
        if runtime.on_gpu() or options.only or options.tune:
            return _measure_parts(wanted, chosen, options)
        return _count(chosen, options)
    except PlainError as problem:
        print(problem)
        return 1


def _wanted(asked: argparse.Namespace) -> tuple[str, ...]:
    """The parts to measure."""
    if asked.only or asked.tune:
        return parts.choose(asked.only or (parts.TUNING,))
    if asked.store and not (asked.rungs or asked.sizes):
        return parts.choose()
    return parts.choose((parts.LADDER, *((parts.COUNTERS,) if asked.ncu else ())))


def _measure_parts(
    wanted: Sequence[str], chosen: Mapping[str, Any], asked: argparse.Namespace
) -> int:
    """One part after the other; what cannot be measured is named at the end, with the reason."""
    before, status = _texts(STORED), 0
    left_out = dict.fromkeys(wanted, STOPPED)
    try:
        for part in wanted:
            try:
                status = max(status, _measure_part(part, chosen, asked))
                del left_out[part]
            except PlainError as problem:
                left_out[part] = str(problem)
            progress.clear()
    except KeyboardInterrupt:
        progress.clear()
    after = _texts(STORED)
    if replaced := [text for path, text in before.items() if text != after.get(path)]:
        print(_run_anew(set().union(*map(_labels, replaced))))
    for part, why in left_out.items():
        print(f"Left out: {part}. {why}")
    return 1 if left_out else status


def _measure_part(part: str, chosen: Mapping[str, Any], asked: argparse.Namespace) -> int:
    """Measure a part and keep it; 1 if something was wrong in it.

    Raises:
        PlainError: if it cannot be measured here.
        KeyboardInterrupt: on Ctrl-C, when what was measured is kept.
    """
    if part == parts.TUNING:
        return _tune(chosen, asked)
    parts.needs_a_gpu(part)
    if part == parts.LADDER:
        return _measure(chosen, asked)
    for script in parts.scripts()[part]:
        progress.show(f"Measuring {part} (benchmarks/{script})")
        said = parts.measure(BENCHMARKS / script, asked.store)
        progress.clear()
        print(f"\n{part}:\n{said}")
    return 0


# --- On a GPU ----------------------------------------------------------------------------------


def _measure(chosen: Mapping[str, Any], asked: argparse.Namespace) -> int:
    options = session.Options(
        sizes=asked.sizes or session.SIZES,
        rounds=asked.rounds,
        budget_seconds=asked.budget,
        twins=BENCHMARKS / "twins" if asked.nvcc or asked.store else None,
        sustain=asked.sustain or (SUSTAINED if asked.store else 0.0),
        commit=_commit(),
    )
    measured, notes = session.measure(chosen, options, _Line(), _keep)
    progress.clear()
    print(table.measured(measured))
    for row in held_back.table(measured):
        print(row)
    for note in notes:
        print(note)
    print(f"Written to {_shown(_keep(measured))}.")
    if asked.store:
        print(_store(measured))
    if asked.json:
        with _refusal_of(asked.json):
            asked.json.write_text(measured.as_json(), encoding="utf-8")
    for sentence in _draw(measured, LAST_RUNS):
        print(sentence)
    if STOPPED in notes:
        raise KeyboardInterrupt
    problems = [cell.problem for entry in measured.entries for cell in entry.cells]
    wrong = any(problem.startswith(("Wrong", "It failed")) for problem in problems)
    return 1 if wrong or not measured.sizes else 0


def _keep(measured: Measurements) -> Path:
    return measurements.store(measured, LAST_RUNS)


@contextlib.contextmanager
def _refusal_of(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        why = problem.strerror or problem
        raise PlainError(f"{path} can't be written ({why}): give --json another file.") from problem


def _check_writable(path: Path) -> None:
    """Before minutes of measuring: can the results be written there? It leaves no file behind."""
    with _refusal_of(path):
        was_there = path.exists()
        with path.open("a", encoding="utf-8"):
            pass
        if not was_there:
            path.unlink()


def _store(measured: Measurements) -> str:
    """Put the results where lessons find them, unless that would lose what was measured before."""
    name, folder = measured.short_name, STORED
    if not measured.sizes:
        return "Not stored: nothing was measured."
    if name in measurements.devices(folder):
        if not measured.complete:
            return f"Not stored: the run was stopped, and there are measurements of {name} already."
        file = _shown(folder / f"{name}.json")
        try:
            stored = measurements.load(name, folder)
        except measurements.UnreadableMeasurements as problem:
            return f"Not stored: {file} is {problem}; delete it first."
        lost = _cells(stored) - _cells(measured)
        if lost:
            who, kind, size = min(lost)
            return (
                f"Not stored: {file} contains {len(lost)} results that this run does not have, "
                f"such as {who} ({kind}) at {size}. Run again without --rungs and --sizes (and "
                "with nvcc installed, if the file contains C++ twins), or delete the file first."
            )
    return f"Stored in {_shown(measurements.store(measured, folder))}."


def _texts(folder: Path) -> dict[Path, str]:
    """The files of measurements."""
    return {path: path.read_text(encoding="utf-8") for path in folder.rglob("*.json")}


def _labels(text: str) -> set[str]:
    """Device and date of a file, as lessons show them."""
    dates = re.findall(r'"(?:date|timed|counted)": "([-\d]+)', text)
    return {
        f"{name}, {date}" for name in re.findall(r'"device": "([^"]+)"', text) for date in dates
    }


def _run_anew(labels: set[str], notebooks: Path = NOTEBOOKS) -> str:
    """Which lessons still show what was measured before, and the command that runs them."""
    shown = re.compile("|".join(f"{re.escape(label)}(?![-0-9])" for label in sorted(labels)))
    behind = [
        path for path in sorted(notebooks.glob("*.ipynb")) if shown.search(path.read_text("utf-8"))
    ]
    if not behind:
        return "No lesson shows the results that have been replaced."
    names = " ".join(_shown(path) for path in behind)
    return (
        "These lessons still show the old measurements. Run them again, and check that their text "
        f"is still true:\n  python3 course.py build --execute {names}"
    )


def _cells(measured: Measurements) -> set[tuple[str, str, int]]:
    """Who was measured, and at which sizes."""
    return {
        (entry.name, entry.kind, cell.size)
        for entry in measured.entries
        for cell in entry.cells
        if cell.samples_ms
    }


def _draw(measured: Measurements, folder: Path) -> Iterator[str]:
    """Draw the ladder and the roofline beside the results; says where they are, or why not."""
    sizes = measured.sizes
    size = PICTURED_SIZE if PICTURED_SIZE in sizes else max(sizes, default=0)
    speeds = measured.speeds(size)
    if not speeds.gflops:
        yield "No pictures were drawn: they show float32 rungs, and none was measured."
        return
    from course_lib import figures  # matplotlib takes a second, and only this needs it

    drawn = {}
    if speeds.of_cublas:
        drawn["ladder"] = figures.ladder(speeds=speeds)
    else:
        yield (
            "No picture of the ladder was drawn: it shows shares of cuBLAS, which was not measured."
        )
    try:
        drawn["roofline"] = figures.measured_roofline(measured, size)
    except ValueError as reason:  # no roofs: neither measured nor in the data sheet
        yield f"No picture of the roofline was drawn: {reason}"
    for what, picture in drawn.items():
        path = picture.save(folder / f"{measured.short_name}_{what}.png")
        yield f"The {what} at {size} is drawn in {_shown(path)}."


def _shown(path: Path) -> str:
    return str(path.relative_to(REPOSITORY) if path.is_relative_to(REPOSITORY) else path)


class _Line:
    """The line of progress: what is going on, a bar, and the time that is left."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def __call__(self, text: str, seconds_left: float | None) -> None:
        if seconds_left is None:
            progress.show(text)
            return
        passed = time.monotonic() - self._began
        bar = progress.bar(passed / max(passed + seconds_left, 1e-9))
        progress.show(f"{bar} about {progress.duration(seconds_left)} left · {text}")


def _commit() -> str:
    """The commit of this checkout, with a plus if files differ from it; "" without Git."""
    try:
        head, changes = (
            subprocess.run(
                ["git", *words], cwd=REPOSITORY, capture_output=True, text=True, timeout=10,
                check=True,
            ).stdout.strip()
            for words in (["rev-parse", "HEAD"], ["status", "--porcelain", "--", "course_lib"])
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return head + ("+" if changes else "")


# --- Tuning: which tile is the fastest ---------------------------------------------------------


def _tune(chosen: Mapping[str, Any], asked: argparse.Namespace) -> int:
    """Time every tile of these rungs, and keep which was the fastest at which size."""
    names = [name for name in chosen if name in tuner.CANDIDATES]
    if not names:
        raise PlainError(
            "These rungs have only one tile. Rungs with several tiles are "
            f"{', '.join(tuner.CANDIDATES)}."
        )
    parts.needs_a_gpu(parts.TUNING)
    sizes = asked.sizes or session.SIZES
    found, notes = tuner.tune_here(names, sizes, asked.rounds, _Line())
    progress.clear()
    print(*tuner.table(found), *notes, sep="\n")
    print(f"Written to {_shown(tuning.store(found, LAST_RUNS / 'tuning'))}.")
    if asked.store:
        print(_store_tuning(found))
    if STOPPED in notes:
        raise KeyboardInterrupt
    return 1 if any("Wrong" in note or "failed" in note for note in notes) else 0


def _store_tuning(found: tuning.Tuning) -> str:
    """Put it where launches look, unless that would lose what was tried before."""
    folder = STORED / parts.TUNING
    if found.short_name in tuning.devices(folder):
        stored = tuning.load(found.short_name, folder)
        for rung in stored.tried:
            lost = set(stored.sizes(rung)) - set(found.sizes(rung))
            if lost:
                return (
                    f"Not stored: the stored file of {found.short_name} has {rung} at {min(lost)}, "
                    "and this run does not. Run again without --rungs and --sizes."
                )
    return f"Stored in {_shown(tuning.store(found, folder))}."


# --- Without a GPU -----------------------------------------------------------------------------


def _count(chosen: Mapping[str, Any], asked: argparse.Namespace) -> int:
    print(runtime.verdict().banner)
    print("There is nothing to time, so these are counts.")
    sizes = tuple(size for size in asked.sizes or (EMULATED_SIZE,) if size <= MOST_EMULATED)
    if asked.sizes and len(sizes) < len(asked.sizes):
        print(f"Sizes over {MOST_EMULATED} are left out: the emulator takes too long.")
    rows: list[counts.Counts] = []
    problems: list[str] = []
    try:
        for name, rung in chosen.items():
            for size in sizes:
                progress.show(f"Emulating {name} at {size}")
                try:
                    rows.append(counts.count(rung, size))
                except PlainError as reason:
                    problems.append(f"{name} at {size}: {reason}")
    except KeyboardInterrupt:
        problems.append("Stopped by Ctrl-C.")
    progress.clear()
    print(f"\nOne product on the emulator:\n{table.counted(rows, problems)}")
    _print_ceilings(chosen, asked.gpu)
    _print_stored(chosen)
    if asked.store:
        print("Nothing was stored, because only measurements on a GPU are stored.")
    return 0 if rows else 1


def _print_ceilings(chosen: Mapping[str, Any], gpus: Sequence[Device]) -> None:
    known: list[str] = []
    unknown: list[str] = []
    for gpu in gpus:
        progress.show(f"Compiling for the {gpu.name}")
        found, problems = counts.ceilings(chosen, gpu)
        progress.clear()
        known += table.ceilings(found)
        unknown += problems
        if not found:
            break
    if known:
        print("\nWhat a large product can reach at most:")
        print(*(f"  {line}" for line in known), sep="\n")
    if unknown:
        print("\nWhat it could reach at most is not known here:" if not known else "")
        print(*(f"  {line}" for line in unknown), sep="\n")


def _print_stored(chosen: Mapping[str, Any]) -> None:
    """What was measured where there was a GPU, with its label."""
    earlier = measurements.latest()
    if earlier is None or PICTURED_SIZE not in earlier.sizes:
        return
    rows = list(table.stored(earlier, chosen, PICTURED_SIZE))
    if rows:
        label = f"{earlier.label}, {PICTURED_SIZE} x {PICTURED_SIZE} x {PICTURED_SIZE}"
        print(f"\nNot from this machine, but measured before and stored with the course: {label}")
        print(*(f"  {row}" for row in rows), sep="\n")
