"""Finds the submissions in a folder or a ZIP archive: whose they are, and what can be read.

Everything in there but the outermost path is a student's or a platform's doing: names are only
text, links are not followed, nothing is unpacked onto the disk, and whatever cannot be read
becomes one sentence in the row of its owner.
"""

import io
import logging
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from course_lib.grading.intake import layout, listing
from course_lib.grading.intake.layout import (
    Owner,
    by_owner,
    displayed,
    is_archive,
    is_junk,
    is_notebook,
    is_script,
    natural,
    order_of,
    owner_of,
    passed_over,
    unwrapped,
    without_the_courses,
)
from course_lib.grading.intake.listing import FileEntry
from course_lib.grading.intake.reading import MAX_FILE_BYTES, NothingThere, Unreadable, read_cells
from course_lib.grading.records import CannotGrade, Submission, SubmittedFile

MAX_NOTEBOOKS = 60  # of one submission; the whole course has 21
MAX_ARCHIVES = 10
MAX_SUBMISSION_BYTES = 60_000_000  # read of one submission, all notebooks together
MAX_CHARACTERS = 600_000  # in the cells of all notebooks together; the whole course has 350,000
MAX_OTHER_FILES = 10  # links, archives in archives and the like that are spoken of
MAX_PASSED_OVER = 10  # named in the note on what is no submission
_LOG = logging.getLogger(__name__)


def each_submission(path: Path) -> Iterator[Submission]:
    """The submissions below a path, sorted by key and read one at a time.

    A file at the top is one student's, and so is a folder; the file names of Canvas, Moodle,
    Blackboard and Brightspace are understood. A single notebook or script is a submission, too.
    Raises CannotGrade if the path is none of these, or holds no submission.
    """
    with ExitStack() as stack:
        entries = unwrapped(_top(path, stack), path.is_file())
        _note_passed_over(passed_over(entries))
        groups = by_owner(entries)
        if not groups:
            raise CannotGrade(
                f"{path} contains no submissions. Give notebooks (.ipynb), one folder for each "
                "student, or the ZIP archive of a learning platform."
            )
        keys = layout.keys_of(list(groups))
        for key, owner in sorted(zip(keys, groups, strict=True), key=lambda pair: pair[0]):
            yield _submission(owner, key, groups[owner])


def _note_passed_over(names: list[str]) -> None:
    """Say once which files get no row: a student's may be among them, under a wrong name."""
    if not names:
        return
    some = [displayed(name) for name in names[:MAX_PASSED_OVER]]
    listed = ", ".join(some) + (", …" if len(names) > MAX_PASSED_OVER else "")
    what = "1 file was" if len(names) == 1 else f"{len(names):,} files were"
    _LOG.warning(
        "Note: %s ignored (not a notebook, and not in a student's folder): %s.",
        what,
        listed,
    )


def _archive(path: Path, stack: ExitStack) -> list[FileEntry]:
    file = stack.enter_context(path.open("rb"))
    return listing.entries_of_archive(file, listing.MOST_LISTED, listing.MAX_ARCHIVE_BYTES)


def _only_archive(path: Path, entries: list[FileEntry], stack: ExitStack) -> list[FileEntry] | None:
    """What is in a folder that holds nothing but the platform's archive."""
    kept = [entry for entry in entries if not is_junk(entry)]
    if len(kept) != 1 or kept[0].problem or not is_archive(kept[0]) or len(kept[0].parts) > 1:
        return None
    with suppress(Unreadable):
        inner = _archive(path / kept[0].name, stack)
        if any(owner_of(entry.parts[0], len(entry.parts) > 1).platform for entry in inner):
            return inner
    return None


@dataclass
class _Budget:
    """What may still be read of one submission."""

    notebooks: int = MAX_NOTEBOOKS
    archives: int = MAX_ARCHIVES
    size: int = MAX_SUBMISSION_BYTES
    characters: int = MAX_CHARACTERS

    def read(self, entry: FileEntry, most: int = MAX_FILE_BYTES) -> bytes:
        if entry.problem:
            raise Unreadable(entry.problem)
        if entry.size > most:
            raise Unreadable(listing.too_large(entry.size, most))
        if entry.size > self.size:
            raise Unreadable(
                f"The submission contains more than {MAX_SUBMISSION_BYTES:,} bytes of notebooks; "
                "this one was not read."
            )
        data = entry.read()
        self.size -= len(data)
        return data


def _top(path: Path, stack: ExitStack) -> list[FileEntry]:
    try:
        if path.is_dir():
            entries = list(listing.entries_of_folder(path))
            return _only_archive(path, entries, stack) or entries
        if path.is_file() and (path.suffix.lower() == ".zip" or zipfile.is_zipfile(path)):
            return _archive(path, stack)
        if path.is_file():
            alone = listing.entry_of(path)
            if is_notebook(alone) or is_script(alone):
                return [alone]
    except Unreadable as error:
        raise CannotGrade(f"{path} cannot be used. {error}") from None
    except (OSError, ValueError) as error:
        raise CannotGrade(f"{path} cannot be opened: {error}") from None
    what = "is not a folder, a ZIP archive or a notebook" if path.exists() else "does not exist"
    raise CannotGrade(
        f"{path} {what}: give a folder of notebooks, a folder with one folder for each student, "
        "the ZIP archive of a learning platform, or one student's notebook."
    )


def _submission(owner: Owner, key: str, entries: list[FileEntry]) -> Submission:
    files = tuple(_files(entries, _Budget()))
    if owner.platform:
        files = _below_the_platforms_folder(files)
    return Submission(
        student=owner.student,
        key=key,
        files=files,
        problem=_why_nothing(files, entries),
        platform=owner.platform,
        platform_id=owner.platform_id,
        is_late=owner.is_late,
    )


def _below_the_platforms_folder(files: tuple[SubmittedFile, ...]) -> tuple[SubmittedFile, ...]:
    """The files under shorter labels, if these still tell them apart.

    A student knows nothing of the folder that the platform's export puts around each submission.
    """
    short = [_below_the_top(file.label) for file in files]
    if len(set(short)) < len(files):
        return files
    return tuple(replace(file, label=label) for file, label in zip(files, short, strict=True))


def _below_the_top(label: str) -> str:
    top, _, below = label.partition("/")
    is_platforms = owner_of(top, is_folder=True).platform is not None
    return below if is_platforms and below.strip("…") else label


def _files(entries: list[FileEntry], budget: _Budget) -> Iterator[SubmittedFile]:
    unpacked: list[FileEntry] = []
    for entry in entries:
        if not is_archive(entry):
            unpacked.append(entry)
            continue
        try:
            unpacked += _unpacked(entry, budget)
        except Unreadable as error:
            yield SubmittedFile(_label(entry), problem=str(error))
            if budget.archives == 0:
                break
    notebooks = [entry for entry in unpacked if is_notebook(entry)]
    scripts = [entry for entry in unpacked if is_script(entry)]
    read = list(_read_all(notebooks, budget))
    of_scripts = list(_read_all(without_the_courses(scripts), budget))
    if read:  # then a script in which nothing stands is nobody's answer
        of_scripts = [script for script in of_scripts if not script[1].left_out]
    # Of two answers the later one counts, and among those handed in together the notebook's.
    yield from (file for _, file in sorted(of_scripts + read, key=lambda pair: pair[0]))
    rest = [file for file in unpacked if not is_notebook(file) and not is_script(file)]
    others = [file for file in rest if file.problem or is_archive(file)]
    for entry in others[:MAX_OTHER_FILES]:
        problem = entry.problem or "A ZIP archive inside another one is not opened."
        yield SubmittedFile(_label(entry), problem=problem, left_out=entry.is_empty_folder)


def _unpacked(entry: FileEntry, budget: _Budget) -> Iterator[FileEntry]:
    """What is in a student's archive."""
    if budget.archives == 0:
        raise Unreadable(f"The submission contains more than {MAX_ARCHIVES} ZIP archives.")
    budget.archives -= 1
    data = budget.read(entry, listing.MAX_ARCHIVE_BYTES)
    for packed in listing.entries_of_archive(io.BytesIO(data), listing.MAX_STUDENT_ENTRIES):
        if not is_junk(packed) and not packed.is_empty_folder:
            yield replace(packed, parts=entry.parts + packed.parts)


def _read_all(
    chosen: list[FileEntry], budget: _Budget
) -> Iterator[tuple[tuple[object, ...], SubmittedFile]]:
    """These files in their order, each after its time of handing in, as far as the budget goes."""
    beside_solutions = any(_is_solution(entry) for entry in chosen) and not all(
        _is_solution(entry) for entry in chosen
    )
    for entry in sorted(chosen, key=_order):
        handed_in = order_of(entry.parts[0])
        if budget.notebooks == 0:
            problem = (
                f"The submission contains more than {MAX_NOTEBOOKS} notebooks; no more are read."
            )
            yield handed_in, SubmittedFile(_label(entry), problem=problem)
            return
        budget.notebooks -= 1
        if beside_solutions and _is_solution(entry):
            yield handed_in, SubmittedFile(_label(entry), problem=_SOLUTION, left_out=True)
        else:
            yield handed_in, _read(entry, budget)


def _is_solution(entry: FileEntry) -> bool:
    return "solutions" in map(str.lower, entry.parts[:-1])


_SOLUTION = "It is in a folder `solutions` beside the other notebooks, so it does not count."


def _read(entry: FileEntry, budget: _Budget) -> SubmittedFile:
    try:
        cells = read_cells(budget.read(entry))
    except Unreadable as error:
        # An empty notebook may have been cut off on its way; an empty script is none.
        is_nothing = isinstance(error, NothingThere) and not is_notebook(entry)
        return SubmittedFile(_label(entry), problem=str(error), left_out=is_nothing)
    characters = sum(len(cell.text) for cell in cells)
    if characters > budget.characters:
        problem = (
            f"The submission contains more than {MAX_CHARACTERS:,} characters; not all are read."
        )
        return SubmittedFile(_label(entry), problem=problem)
    budget.characters -= characters
    return SubmittedFile(_label(entry), cells)


def _order(entry: FileEntry) -> tuple[object, ...]:
    """Where an answer stands twice, the later file counts."""
    above = [natural(part) for part in entry.parts[:-1]]
    return (order_of(entry.parts[0]), above, natural(layout.stem_of(entry.name)), entry.name)


def _label(entry: FileEntry) -> str:
    return displayed("/".join(entry.parts), layout.MAX_LABEL)


def _why_nothing(files: Sequence[SubmittedFile], entries: list[FileEntry]) -> str | None:
    if any(file.problem is None for file in files):
        return None
    if len(files) == 1:
        return f"{files[0].label} cannot be read. {files[0].problem}"
    if files:
        return (
            f"None of {len(files)} files can be read; the first is {files[0].label}. "
            f"{files[0].problem}"
        )
    names = sorted({displayed(entry.name) for entry in entries if not entry.problem})
    there = f" (there is {', '.join(names[:3])}{', …' if len(names) > 3 else ''})" if names else ""
    return f"No notebook was handed in{there}: hand in the .ipynb file."
