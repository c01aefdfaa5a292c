"""Many small cases in one test: all of them run, and each that fails is told by its name."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

Check = Callable[..., None]


def every_case(
    names: str | tuple[str, ...],
    cases: Iterable[Any],
    ids: Iterable[str] | Callable[[Any], str] | None = None,
) -> Callable[[Check], Check]:
    """A decorator as `pytest.mark.parametrize` is one, and yet one test: it runs all cases.

    For cases of which each takes a few milliseconds, and that leave nothing behind: what pytest
    does around a test takes as long, and the fixtures are the same for all of them.

    Args:
        names: of the parameters, as there.
        cases: the value of the parameter; or a tuple of values, where there are several names.
        ids: what the cases are called, or a function of a case's first value that tells it.

    Raises:
        ValueError: where there is no case.
    """
    parameters = names.replace(",", " ").split() if isinstance(names, str) else list(names)
    rows = [case if len(parameters) > 1 else (case,) for case in cases]
    if not rows:
        raise ValueError("a test without a case shows nothing")
    if ids is None:
        titles = [", ".join(map(repr, row)) for row in rows]
    else:
        titles = [ids(row[0]) for row in rows] if callable(ids) else [*ids]
    named = list(zip(titles, rows, strict=True))

    def decorated(check: Check) -> Check:
        @functools.wraps(check)
        def test(**fixtures: Any) -> None:
            failed = []
            for title, row in named:
                try:
                    check(**fixtures, **dict(zip(parameters, row, strict=True)))
                except Exception as problem:
                    failed.append(f"{title}: {type(problem).__name__}: {problem}")
            assert not failed, "\n\n".join([f"{len(failed)} of {len(named)} cases fail", *failed])

        signature = inspect.signature(check)
        others = [each for each in signature.parameters.values() if each.name not in parameters]
        test.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return test

    return decorated
