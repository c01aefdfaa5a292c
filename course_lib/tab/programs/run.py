"""Runs a program that was pasted, and keeps what came of each of its launches."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from course_lib.emulator import Kernel, KernelRejected, Profile, copies_of, names_around
from course_lib.emulator.language.parse import parse_text
from course_lib.host.arguments import HostArguments
from course_lib.tab.checks import IMPORTS
from course_lib.tab.launches import BUDGET, SCHEDULES, Played, Wanted, play
from course_lib.tab.programs.interpreter import NOT_KNOWN, HostInterpreter
from course_lib.tab.programs.names import LeftOut, NotRun
from course_lib.tab.programs.objects import Configured
from course_lib.wording.findings import Finding, by_importance, finding
from course_lib.wording.sentences import say

STEPS = len(SCHEDULES) * BUDGET.steps  # of all launches together, in all orders
STEPS_OF_A_RUN = 300  # at least: what a launch costs before its first statement
_COMMAND = re.compile(r"%%?[a-z]|!\s*\w")
IN_EVERY_ORDER = 3  # launches of one line; those after them run in one order


@dataclass
class LaunchSite:
    """The launches of one kernel in one line.

    Attributes:
        line: the line's number.
        played: the last of them.
        count: how many they are.
        found: what was found in them.
        orders: in how many orders of the warps the first ones ran.
        differing: the arrays that did not end the same in every order.
    """

    line: int
    played: Played
    count: int = 0
    found: dict[Any, Finding] = field(default_factory=dict)
    orders: int = 1
    differing: dict[str, None] = field(default_factory=dict)

    @property
    def findings(self) -> list[Finding]:
        """What was found in any of the launches."""
        return by_importance(self.found.values())

    def add(self, played: Played) -> None:
        """One more launch."""
        self.played, self.count = played, self.count + 1
        self.orders = max(self.orders, len(played.runs))
        for fault in played.findings:
            key = (fault.code, fault.line, fault.other_line, fault.cell.split("[")[0])
            self.found.setdefault(key, fault)
        self.differing |= dict.fromkeys(played.differing())


@dataclass
class ProgramRun:
    """What came of a program.

    Attributes:
        text: the program.
        sites: where something was launched, in the order of the first launches.
        last: the site of the last launch.
        printed: lines.
        left_out: what was not run, line by line.
        held: the lines of assertions that hold.
        stopped: why the program or a launch could not go on.
        kernels: how many kernels it defines.
    """

    text: str
    sites: list[LaunchSite] = field(default_factory=list)
    last: LaunchSite | None = None
    printed: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    stopped: list[Finding] = field(default_factory=list)
    kernels: int = 0

    @property
    def findings(self) -> list[Finding]:
        """Everything that was found."""
        launched = [finding for site in self.sites for finding in site.findings]
        kept = {
            (finding.code, finding.line, finding.other_line, finding.cell): finding
            for finding in launched
        }
        return [*self.stopped, *by_importance(kept.values())]

    def chosen(self, kernel: str) -> LaunchSite | None:
        """The site of the last launch of a kernel; of any, if it has no name."""
        named = [site for site in self.sites if site.played.wanted.kernel.name == kernel]
        return max(named, key=lambda site: site is self.last, default=self.last)


def launches_something(text: str) -> bool:
    """Does a launch stand in the text, `kernel[grid, block](…)` or `kernel.forall(n)(…)`?

    Raises:
        KernelRejected: if the text cannot be read.
    """
    waiting: list[ast.AST] = [_read(text)[0]]
    while waiting:
        match waiting.pop():
            case ast.FunctionDef(decorator_list=[_, *_]):
                continue  # a kernel, in which the same signs read an element
            case ast.Call(func=ast.Subscript() | ast.Call(func=ast.Attribute(attr="forall"))):
                return True
            case ast.Assign(value=ast.Subscript(value=ast.Name(), slice=ast.Tuple(elts=parts))) if (
                len(parts) > 1 and not any(isinstance(part, ast.Slice) for part in parts)
            ):
                return True
            case node:
                waiting += ast.iter_child_nodes(node)
    return False


def run_program(text: str) -> ProgramRun:
    """Run a program: its host part as text, its launches on the emulator.

    Raises:
        KernelRejected: if the text cannot be read at all.
    """
    tree, commands = _read(text)
    launcher = _Launcher(text)
    host = HostInterpreter(text, names_around(IMPORTS), launcher.launch)
    launcher.host, came = host, launcher.came
    why = "it is a notebook command."
    host.left_out |= {line: LeftOut(line, line, why) for line in commands}
    try:
        host.run_all(tree.body)
    except KernelRejected as rejected:
        came.stopped += rejected.findings
    came.printed, came.held = host.printed, host.held
    for line in sorted(host.left_out):
        if not came.left_out or line > came.left_out[-1].last:  # else it is a part of that one
            came.left_out.append(host.left_out[line])
    came.kernels = host.kernels
    return came


def _read(text: str) -> tuple[ast.Module, list[int]]:
    """The syntax tree, and the lines with commands of a notebook, such as `%matplotlib inline`."""
    lines = text.removeprefix("\ufeff").split("\n")
    commands = [at for at, line in enumerate(lines) if _COMMAND.match(line)]
    for at in commands:
        lines[at] = ""
    return parse_text("\n".join(lines), "<program>"), [at + 1 for at in commands]


class _Launcher:
    """Launches what the host part asks for, as long as there are steps left."""

    host: HostInterpreter

    def __init__(self, text: str) -> None:
        self.came = ProgramRun(text)
        self.left = STEPS
        self.sites: dict[tuple[int, Kernel], LaunchSite] = {}

    def launch(self, asked: Configured, handed: HostArguments, line: int) -> Profile | None:
        """One launch, in every order of the warps; the arrays are those of the first order.

        Raises:
            NotRun: if the emulator cannot run it.
            KernelRejected: if a GPU would not, either, or no steps are left.
        """
        if self.left <= 0:
            why = say("The launches have used up {steps} steps.", steps=STEPS)
            raise KernelRejected([finding("timeout", why, line, severity="error")])
        wanted = self._wanted(asked, copies_of(handed.values))
        site = self.sites.get((line, asked.kernel))
        try:
            played = self._played(wanted, site)
        except KernelRejected as rejected:
            self._refuse(rejected, line)
        for value, result in zip(handed.values, played.first.arguments.values(), strict=True):
            if isinstance(value, np.ndarray):
                np.copyto(value, result)
        handed.write_back()
        if site is None:
            site = self.sites[line, asked.kernel] = LaunchSite(line, played)
            self.came.sites.append(site)
        site.add(played)
        self.came.last = site
        for printed in played.first.profile.output:
            self.host.show(printed + "\n")
        if not played.first.profile.finished:
            self.host.lose(handed.values, line)
        return played.first.profile if asked.is_told else None

    def _wanted(self, asked: Configured, values: Sequence[Any]) -> Wanted:
        names = [*asked.kernel.parameters]
        names += [f"argument {place}" for place in range(len(names) + 1, len(values) + 1)]
        named = dict(zip(names, values, strict=False))
        return Wanted(
            self.came.text, asked.kernel, asked.grid, asked.block, named, asked.shared_bytes
        )

    def _played(self, wanted: Wanted, site: LaunchSite | None) -> Played:
        often = site is not None and site.count >= IN_EVERY_ORDER
        orders = SCHEDULES[:1] if often or self.left < STEPS // 2 else SCHEDULES
        budget = replace(BUDGET, steps=min(BUDGET.steps, self.left))
        played = play(wanted, budget, orders)
        self.left -= sum(max(run.profile.steps, STEPS_OF_A_RUN) for run in played.runs)
        self.left -= budget.steps * (len(played.runs) < len(orders) and played.is_finished)
        return played

    def _refuse(self, rejected: KernelRejected, line: int) -> None:
        """A launch that cannot be: without a line of its own it is about the line of the launch."""
        found = [
            finding if finding.line is not None else replace(finding, line=line)
            for finding in rejected.findings
        ]
        if found[0].code in NOT_KNOWN:
            self.came.stopped += [finding for finding in found if finding not in self.came.stopped]
            raise NotRun("the emulator cannot run this launch.")
        raise KernelRejected(found)
