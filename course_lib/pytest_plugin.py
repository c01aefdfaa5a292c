"""`pytest --cuda-emulate`: a project's GPU tests run on the emulator, as docs/own_kernels.md says.

pytest loads this module in every session, so it imports nothing before the option is given.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from course_lib.host.emulated import Launches

OPTION = "--cuda-emulate"
STEPS = "--cuda-emulate-steps"
WARN = "--cuda-emulate-warn"
PLUGIN = "cuda-emulate-session"
TITLE = "CUDA kernels on the emulator"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("cuda-emulate", "CUDA kernels without a GPU")
    group.addoption(
        OPTION,
        action="store_true",
        help="run numba.cuda's kernels on an emulator: a race or an access outside an array makes "
        "the test fail, and the end of the report lists launches that cost more than they need "
        "to",
    )
    group.addoption(
        WARN,
        action="append",
        default=[],
        metavar="CODE",
        help="a finding with this code is only a warning and does not make a test fail; the code "
        "is in brackets after each finding",
    )
    group.addoption(STEPS, type=int, default=0, help="how many steps a launch may take")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before any module of the project is imported: it may ask for a GPU at once."""
    _begin(early_config, early_config.known_args_namespace)


def pytest_configure(config: pytest.Config) -> None:
    """For a plugin that was named in a conftest.py, or by `-p` in a worker of pytest-xdist."""
    _begin(config, config.option)


def _begin(config: pytest.Config, options: Any) -> None:
    wanted = getattr(options, "cuda_emulate", False)
    if wanted and not config.pluginmanager.has_plugin(PLUGIN):
        session = Session(options.cuda_emulate_warn, options.cuda_emulate_steps)
        config.pluginmanager.register(session, PLUGIN)


class Session:
    """One session of pytest under `emulated()`; what is known of its launches."""

    def __init__(self, warn: Sequence[str], steps: int) -> None:
        # Imported late: nobody pays for the emulator who has not asked for it.
        from course_lib.host.emulated import STEPS as MOST_STEPS
        from course_lib.host.emulated import emulated
        from course_lib.wording.errors import PlainError

        self.undo = contextlib.ExitStack()
        more = f"pytest {OPTION} {STEPS}={{steps}}"
        context = emulated(warn=warn, steps=steps or MOST_STEPS, more_steps=more)
        try:
            self.launches: Launches = self.undo.enter_context(context)
        except PlainError as error:
            raise pytest.UsageError(f"{WARN}: {error}") from None
        self.count = self.failed = 0
        self.refused: dict[str, int] = {}
        self.warnings: dict[tuple[str, str], tuple[str, int]] = {}

    def pytest_report_header(self) -> str:
        """One line at the top."""
        return f"{OPTION}: numba.cuda's kernels run on an emulator, and no GPU is used"

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        """Fail a test that has caught what a launch of its own was found guilty of.

        No GPU would raise there, so whoever catches it, means something else; but an exception of
        the kernel's own is raised by a GPU, too, and a test may wait for it.
        """
        result = yield
        missed = [
            error for error in self.launches.errors if error.finding.code != "raised-exception"
        ]
        if missed:
            sentences = "\n".join(map(str, missed))
            pytest.fail(
                f"{sentences}\nThe test caught this exception and continued.", pytrace=False
            )
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Give a report what its launches came to: plain values, which a worker can send."""
        report = yield
        taken = self.launches.take()
        report.cuda_emulate = {  # type: ignore[attr-defined]
            "launches": taken.count,
            "failed": taken.failed,
            "refused": taken.refused,
            "warnings": [
                (warning.place, warning.finding.code, str(warning), warning.launches)
                for warning in taken.warnings
            ],
        }
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a report of this process, or of a worker."""
        came_to: dict[str, Any] = getattr(report, "cuda_emulate", {})
        self.count += came_to.get("launches", 0)
        self.failed += came_to.get("failed", 0)
        for sentence in came_to.get("refused", ()):
            self.refused[sentence] = self.refused.get(sentence, 0) + 1
        for place, code, sentence, launches in came_to.get("warnings", ()):
            first, before = self.warnings.get((place, code), (sentence, 0))
            self.warnings[place, code] = first, before + launches

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """How many launches there were; what was refused, and what could be better."""
        refused = sum(self.refused.values())
        terminalreporter.section(TITLE)
        terminalreporter.line(
            f"launches: {self.count:,}, with errors: {self.failed:,}, refused: {refused:,}; "
            f"warnings: {len(self.warnings):,}"
        )
        for sentence, times in self.refused.items():
            terminalreporter.line(f"refused ({_times(times)}): {sentence}")
        for sentence, times in self.warnings.values():
            terminalreporter.line(f"warning ({_times(times)}): {sentence}")

    def pytest_unconfigure(self) -> None:
        """Leave Numba as it was."""
        self.undo.close()


def _times(launches: int) -> str:
    return "1 launch" if launches == 1 else f"{launches:,} launches"
