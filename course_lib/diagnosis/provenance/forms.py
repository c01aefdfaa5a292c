"""How the indices that were used follow from the right ones: exchanged, displaced, stuck, …"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray
SAME, FIXED, DISPLACED, MIRRORED, CLIPPED = "same", "fixed", "displaced", "mirrored", "clipped"
WRAPPED, SCALED, OTHER, MIXED = "wrapped", "scaled", "other axis", "mixed"
ROLLED = "rolled"
MOST_FACTOR = 1 << 12  # in an index made of others


@dataclass(frozen=True)
class AxisForm:
    """What was used as one index, in place of the right index i of this axis.

    kind and numbers: SAME; FIXED at numbers[0]; DISPLACED: i + numbers[0]; ROLLED: i + numbers[0]
    modulo numbers[1], the length; MIRRORED: numbers[0] - i; WRAPPED: i modulo numbers[0]; SCALED:
    numbers[0] * i + numbers[1]; CLIPPED: i + numbers[0], no less than numbers[1] and no more than
    numbers[2]; OTHER: the index of axis numbers[0], plus numbers[1]; MIXED: the sum of numbers[n]
    times the index of axis n, plus the last number.
    """

    kind: str
    numbers: tuple[int, ...] = ()


def form_of(right: Array, used: Array, axis: int, length: int) -> AxisForm | None:
    """The simplest form of an axis, from right and used indices row by row; None if none fits."""
    i, u = right[:, axis], used[:, axis]
    if (u == i).all():
        return AxisForm(SAME)
    if (u == u[0]).all():
        return AxisForm(FIXED, (int(u[0]),))
    if (u - i == u[0] - i[0]).all():
        return AxisForm(DISPLACED, (int(u[0] - i[0]),))
    for other in range(right.shape[1]):
        j = right[:, other]
        if other != axis and (u - j == u[0] - j[0]).all():
            return AxisForm(OTHER, (other, int(u[0] - j[0])))
    if ((u - i - (u[0] - i[0])) % length == 0).all():
        by = (int(u[0] - i[0]) + length // 2) % length - length // 2
        return AxisForm(ROLLED, (by, length))
    if (u + i == u[0] + i[0]).all():
        return AxisForm(MIRRORED, (int(u[0] + i[0]),))
    for size in range(max(2, int(u.max()) + 1), int(i.max()) + 1):
        if (u == i % size).all():
            return AxisForm(WRAPPED, (size,))
    low, high = int(u.min()), int(u.max())
    for by in sorted({int(each) for each in u - i}, key=abs):
        if (u == np.clip(i + by, low, high)).all():
            return AxisForm(CLIPPED, (by, low, high))
    return _scaled(i, u) or _mixed(right, u)


def _scaled(i: Array, u: Array) -> AxisForm | None:
    fit = _integer_fit(i[:, None], u)
    return AxisForm(SCALED, fit) if fit else None


def _mixed(right: Array, u: Array) -> AxisForm | None:
    fit = _integer_fit(right, u)
    return AxisForm(MIXED, fit) if fit else None


def _integer_fit(columns: Array, u: Array) -> tuple[int, ...] | None:
    """Whole factors for the columns, and what is added; None if that is not what `u` is."""
    known = np.column_stack([columns, np.ones(len(u))])
    if len(u) <= known.shape[1]:
        return None
    factors = np.rint(np.linalg.lstsq(known, u, rcond=None)[0]).astype(int)
    fits = bool((known @ factors == u).all()) and bool((np.abs(factors) < MOST_FACTOR).all())
    return tuple(map(int, factors)) if fits else None


def forms_of(right: Array, used: Array, shape: tuple[int, ...]) -> tuple[AxisForm, ...] | None:
    """The form of every axis, or one for the flat index if the axes have none; None if none fits.

    Where axes differ in number, only the right ones are known to say anything: each used axis is
    made of them.
    """
    if len(right) == 0:
        return None
    padded = right
    if right.shape[1] < used.shape[1]:
        padded = np.column_stack(
            [right, np.zeros((len(right), used.shape[1] - right.shape[1]), int)]
        )
    forms = [form_of(padded, used, axis, length) for axis, length in enumerate(shape)]
    return None if None in forms else tuple(forms)  # type: ignore[arg-type]
