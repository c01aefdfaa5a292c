"""Show a rung's kernel as it stands in its file, with the lines marked that the last one has not.

The listing is plain HTML with no script; a sign stands before each marked line, so that nothing
hangs on its colour, and as text it is the same.
"""

from __future__ import annotations

import ast
import difflib
import html
from dataclasses import dataclass
from typing import Any, Protocol

# Half transparent, over whatever the page has: a dark theme works like a light one.
_MARK = "rgba(230,159,0,.22)"
_EDGE = "1px solid rgba(128,128,128,.45)"
_CELL = "padding:0 .5em;border:0;white-space:pre;text-align:left;font-family:monospace;"


class ShownRung(Protocol):
    """A rung of course_lib.kernels, as far as it is shown here."""

    @property
    def name(self) -> str: ...

    @property
    def source(self) -> str: ...

    @property
    def kernel(self) -> Any: ...


@dataclass(frozen=True)
class Listing:
    """A kernel's lines, and which of them are new."""

    name: str
    since: str
    lines: tuple[str, ...]
    is_new: tuple[bool, ...]

    @property
    def title(self) -> str:
        return f"{self.name}: {sum(self.is_new)} of {len(self.lines)} lines are not in {self.since}"

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": self.as_html(), "text/plain": repr(self)}

    def __repr__(self) -> str:
        rows = (
            f"{'+' if new else ' '} {line}".rstrip()
            for line, new in zip(self.lines, self.is_new, strict=True)
        )
        return "\n".join([f"{self.title} (marked with +)", *rows])

    def as_html(self) -> str:
        """A table that can be read on any background, and read aloud."""
        rows = "".join(map(self._row, self.lines, self.is_new))
        title = html.escape(self.title)
        return (
            f'<div role="region" tabindex="0" aria-label="{title}" style="overflow:auto;'
            f'max-height:34em;color:inherit;border:{_EDGE};">'
            '<table style="border-collapse:collapse;font-size:85%;color:inherit;margin:0;">'
            '<caption style="text-align:left;color:inherit;padding:.4em .6em;caption-side:top;">'
            f"<b>{title}</b> (marked)</caption><tbody>{rows}</tbody></table></div>"
        )

    @staticmethod
    def _row(line: str, is_new: bool) -> str:
        colour = _MARK if is_new else "none"
        sign = '<span title="new">+</span>' if is_new else ""
        return (
            f'<tr style="background:{colour};"><td style="{_CELL}">{sign}</td>'
            f'<td style="{_CELL}">{html.escape(line) or "&nbsp;"}</td></tr>'
        )


def changed_kernel(rung: ShownRung, since: ShownRung) -> Listing:
    """The kernel of a rung with the device functions that it calls, compared with another one.

    A line counts as the same where it says the same, however deep it is indented.

    Args:
        rung: one of course_lib.kernels, `RUNG_KERNELS["warp_tiled"]`.
        since: the one to compare it with.
    """
    new, old = lines_of(rung), lines_of(since)
    matcher = difflib.SequenceMatcher(None, _bare(old), _bare(new), autojunk=False)
    same = {
        line
        for match in matcher.get_matching_blocks()
        for line in range(match.b, match.b + match.size)
    }
    is_new = tuple(bool(line.strip()) and at not in same for at, line in enumerate(new))
    return Listing(rung.name, since.name, tuple(new), is_new)


def lines_of(rung: ShownRung) -> list[str]:
    """The constants of a rung's file, its kernel and the functions that this calls, as lines."""
    lines, body = rung.source.splitlines(), ast.parse(rung.source).body
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    kernel = functions[rung.kernel.py_func.__name__]
    called = {node.id for node in ast.walk(kernel) if isinstance(node, ast.Name)}
    shown = ["", *(lines[node.lineno - 1] for node in body if _is_constant(node))]
    for each in functions.values():
        if each is kernel or each.name in called:
            first = min([each.lineno, *(mark.lineno for mark in each.decorator_list)])
            shown += ["", *lines[first - 1 : each.end_lineno]]
    return shown[1:]


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call)


def _bare(lines: list[str]) -> list[str]:
    """What the lines say: no indentation, no comment."""
    return [line.split("  #")[0].strip() for line in lines]
